"""Wheels on soil: the integrals by SciPy, Bekker's closed forms of a wheel that only sinks in, limits, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.contact.soil import LIMITS, SOILS, Motion, Soil, soil_of, wheel_forces
from urdf_gibbs.contact.soil_forces import REST
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.simulation import rows
from urdf_gibbs.simulation.on_soil import OnSoil
from urdf_gibbs.simulation.scenario import ScenarioError, parse_scenario

R, B = np.array([0.25]), np.array([0.2])


def motion(z: float, v: float = 0.0, tread: float = 0.0, across: float = 0.0, sinking: float = 0.0) -> Motion:
    return Motion(*(np.array([value]) for value in (z, sinking, v, across, tread)))


def by_quadrature(soil: Soil, z: float, v: float, tread: float) -> tuple[float, float, float]:
    """Load, drawbar pull and torque by the formulas of Wong and Reece, for a wheel that drives: v <= tread, both above REST."""
    slip = 1.0 - v / tread
    first = math.acos(1.0 - z / R[0])
    largest = (soil.a0 + soil.a1 * slip) * first

    def sigma(theta: float) -> float:
        front = theta if theta > largest else first - theta / largest * (first - largest)
        return (soil.kc / B[0] + soil.kphi) * (R[0] * (math.cos(front) - math.cos(first))) ** soil.n

    def tau(theta: float) -> float:
        j = R[0] * ((first - theta) - (1.0 - slip) * (math.sin(first) - math.sin(theta)))
        return (soil.cohesion + sigma(theta) * math.tan(soil.friction_angle)) * (1.0 - math.exp(-j / soil.shear_modulus))

    def total(function: Any) -> float:
        return float(quad(function, 0.0, largest, epsabs=1e-12)[0] + quad(function, largest, first, epsabs=1e-12)[0])

    load = B[0] * R[0] * total(lambda a: sigma(a) * math.cos(a) + tau(a) * math.sin(a))
    pull = B[0] * R[0] * total(lambda a: tau(a) * math.cos(a) - sigma(a) * math.sin(a))
    return load, pull, B[0] * R[0] ** 2 * total(tau)


@pytest.mark.parametrize("name", SOILS)
@pytest.mark.parametrize(("z", "slip"), [(0.002, 0.05), (0.01, 0.2), (0.03, 0.6), (0.06, 1.0)])
def test_the_forces_of_a_driven_wheel_are_the_integrals_of_wong_and_reece(name: str, z: float, slip: float) -> None:
    soil = SOILS[name]
    for n in (1.0, 1.3):
        changed = replace(soil, n=n)
        load, pull, torque = by_quadrature(changed, z, 0.3 * (1.0 - slip), 0.3)
        found = wheel_forces(changed, R, B, motion(z, 0.3 * (1.0 - slip), 0.3))
        # The drag fades below REST; at a slip of 1 the wheel does not move at all.
        if slip < 0.8:
            assert found.forwards[0] == pytest.approx(pull, rel=1e-5, abs=1e-6)
        assert found.normal[0] == pytest.approx(load, rel=1e-5)  # Gauss of order 12 with a power at the end of the arc
        assert found.torque[0] == pytest.approx(-torque, rel=1e-5)
        assert found.across[0] == 0.0


def test_a_wheel_that_rolls_freely_sinks_as_bekker_says() -> None:
    """W = b k sqrt(D) z^(n + 1/2) (3 - n)/3 for small sinkages, and the resistance of compaction b k z^(n+1)/(n + 1)."""
    soil = Soil(1.0, 1400.0, 820e3, 0.0, math.radians(35.0), 0.0178, a0=0.0, a1=0.0)
    k = soil.kc / B[0] + soil.kphi
    for z in (2e-4, 1e-3):
        smooth = replace(soil, shear_modulus=0.2)  # so that next to nothing is left of the shear
        found = wheel_forces(smooth, R, B, motion(z, 0.3, 0.3))
        assert found.normal[0] == pytest.approx(B[0] * k * math.sqrt(2.0 * R[0]) * z**1.5 * 2.0 / 3.0, rel=0.03)
        assert -found.forwards[0] == pytest.approx(B[0] * k * z**2 / 2.0, rel=0.03)


def test_the_pull_grows_with_the_slip_up_to_what_the_soil_holds() -> None:
    soil, z = SOILS["lunar"], 0.01
    pulls = [wheel_forces(soil, R, B, motion(z, 0.3 * (1.0 - slip), 0.3)) for slip in np.linspace(0.0, 0.8, 17)]
    forwards = [float(one.forwards[0]) for one in pulls]
    assert (np.diff(forwards) > 0.0).all() and forwards[0] < 0.0 < forwards[-1]
    for one in pulls:
        assert abs(one.torque[0]) / R[0] < 1.2 * (one.normal[0] * math.tan(soil.friction_angle) + soil.cohesion * 0.2 * 0.08)


def test_directions() -> None:
    """Backwards is the mirror image; sideways the soil holds against the motion; above the ground there is nothing."""
    soil = SOILS["lunar"]
    ahead, back = (wheel_forces(soil, R, B, motion(0.01, way * 0.2, way * 0.3, 0.05)) for way in (1.0, -1.0))
    assert ahead.forwards[0] == pytest.approx(-back.forwards[0], rel=1e-13) and ahead.torque[0] == pytest.approx(-back.torque[0], rel=1e-13)
    assert ahead.across[0] == pytest.approx(back.across[0], rel=1e-13) and ahead.across[0] < 0.0
    free = wheel_forces(soil, R, B, motion(-0.01, 0.2, 0.3, 0.05))
    assert all(one[0] == 0.0 for one in free)
    assert wheel_forces(soil, R, B, motion(0.01, sinking=0.1)).normal[0] > wheel_forces(soil, R, B, motion(0.01)).normal[0]


@pytest.mark.parametrize("name", LIMITS)
def test_parameters_out_of_range_are_errors(name: str) -> None:
    least, most = LIMITS[name]
    for wrong in (least - 1.0, 1.1 * most + 1.0, math.nan, "soft"):
        with pytest.raises(ArgumentError, match=f"Soil: {name} is .*; expected a number from"):
            replace(SOILS["lunar"], **{name: wrong})


def test_soils_have_names() -> None:
    found = soil_of("fjs1")
    assert found is not None and found.cohesion == 800.0 and soil_of(found) is found and soil_of(None) is None
    with pytest.raises(UnknownNameError, match="no soil named 'mud'"):
        soil_of("mud")
    with pytest.raises(ArgumentError, match="soil=3, expected a Soil, its name or None"):
        soil_of(3)  # type: ignore[arg-type]


# compiled, under a robot ------------------------------------------------------------------------------------

WHEEL = """<robot name="wheel"><link name="tyre"><inertial><mass value="2"/>
<inertia ixx="0.05" ixy="0" ixz="0" iyy="0.06" iyz="0" izz="0.05"/></inertial><collision><origin rpy="-1.5707963267948966 0 0"/>
<geometry><cylinder radius="0.25" length="0.2"/></geometry></collision></link></robot>"""
SLOPE = 0.2
GROUND = ug.walls.Plane((-math.sin(SLOPE), 0.0, math.cos(SLOPE)), name="ground")


def cart() -> ug.Robot:
    """A wheel on a frame that floats."""
    return ug.load(
        '<robot name="cart"><link name="frame"><inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/>'
        '</inertial></link><joint name="axle" type="continuous"><parent link="frame"/><child link="tyre"/><axis xyz="0 1 0"/></joint>'
        + WHEEL[WHEEL.index("<link") :],
        base="floating",
    )


def wheel_on_soil(soil: Soil) -> OnSoil:
    return OnSoil(cart(), soil, GROUND)


@pytest.mark.parametrize("seed", range(4))
def test_the_compiled_forces_are_those_of_the_law(seed: int) -> None:
    """A wheel on a slope with any velocity: wrench about its middle in world axes, and the power of it by v."""
    rng = np.random.default_rng(seed)
    soil = replace(SOILS["fjs1"], n=1.2)
    law = wheel_on_soil(soil)
    yaw, z = rng.uniform(-1.0, 1.0), rng.uniform(0.002, 0.03)
    normal, ahead = np.array([-math.sin(SLOPE), 0.0, math.cos(SLOPE)]), np.array([math.cos(SLOPE), 0.0, math.sin(SLOPE)])
    along = math.cos(yaw) * ahead + math.sin(yaw) * np.array([0.0, 1.0, 0.0])
    side = np.cross(normal, along)
    q = law.robot.neutral()
    q[:3] = (R[0] - z) * normal
    turned = np.column_stack([along, side, normal])
    q[3:7] = Rotation.from_matrix(turned).as_quat()
    speeds, spin = rng.uniform(-0.5, 0.5, 3), rng.uniform(-2.0, 2.0)
    v = np.zeros(law.robot.nv)
    v[:3], v[6] = speeds, spin  # of the body, whose axes are along, side, normal
    given = Motion(*(np.array([one]) for one in (z, -speeds[2], speeds[0], speeds[1], R[0] * spin)))
    expected = wheel_forces(soil, R, B, given)
    force = expected.normal[0] * normal + expected.forwards[0] * along + expected.across[0] * side
    moment = expected.torque[0] * side + R[0] * expected.across[0] * along
    found = law.forces(0.0, q, v)
    np.testing.assert_allclose(found[:3], turned.T @ force, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[3:6], turned.T @ moment, rtol=1e-9, atol=1e-9)
    assert found[6] == pytest.approx(moment @ side, rel=1e-9)
    told = law.state(0.0, q, v)
    assert told["sinkage"][0] == pytest.approx(z, abs=1e-12) and told["load"][0] == pytest.approx(expected.normal[0], rel=1e-9)


@pytest.mark.parametrize("lean", [0.02, -0.05])
def test_a_wheel_that_leans_presses_with_its_lower_edge(lean: float) -> None:
    """Thin discs across the width, each of them sunk in by R - (distance of its middle) / cos(lean), by SciPy: force and moment."""
    soil, z = SOILS["lunar"], 0.012
    law = OnSoil(cart(), soil, ug.walls.Plane((0, 0, 1)))
    q = law.robot.neutral()
    q[2] = R[0] - z
    q[3:7] = Rotation.from_euler("x", lean).as_quat()
    law.forces(0.0, q, np.zeros(law.robot.nv))
    found, moment = law.state(0.0, q, np.zeros(law.robot.nv))["force"][0], law.forces(0.0, q, np.zeros(law.robot.nv))[3]

    def pressure(side: float) -> float:
        """Of a disc ``side`` to the left of the middle, per width [N/m]."""
        sinkage = R[0] - (q[2] + side * math.sin(lean)) / math.cos(lean)
        return float(wheel_forces(soil, R, B, motion(sinkage)).normal[0] / B[0])

    load = quad(pressure, -0.1, 0.1, epsabs=1e-9)[0]
    turned = quad(lambda side: side * pressure(side), -0.1, 0.1, epsabs=1e-9)[0]
    # Three nodes of Gauss are exact up to the fifth power of the width; the load grows with a power of 1.5 of the sinkage.
    np.testing.assert_allclose(found, [0.0, -load * math.sin(lean), load * math.cos(lean)], rtol=1e-3, atol=1e-9)
    assert moment == pytest.approx(turned, rel=1e-2) and moment * lean < 0.0  # it is pressed upright


def on_floor(text: str = "", scheme: str = "time_stepping", step: float = 2e-3, duration: float = 4.0) -> Any:
    """The scenario of the rover on a plane of lunar soil, straight ahead."""
    given = ug.scenario_path("rover").read_text(encoding="utf-8")
    given = given[: given.index("[[walls]]")].replace("step = 5e-3", f"step = {step}").replace("duration = 12.0", f"duration = {duration}")
    given = given.replace('"time_stepping"', f'"{scheme}"').replace('steer = "5 deg"', "steer = 0")
    given += '[soil]\nkind = "lunar"\n[[walls]]\nkind = "plane"\nnormal = [0, 0, 1]\n'
    return parse_scenario(given + text, str(ug.model_path("rover")))


def test_a_rover_on_soil_settles_and_drives() -> None:
    """By the scenario's own text: at rest the soil carries the weight; driving straight ahead, wheels slip by some per cent."""
    scenario = on_floor()
    law = OnSoil(scenario.robot, scenario.soil, scenario.walls)
    run = ug.simulate(**scenario.arguments())
    told = law.state(run.t[-1], run.q[-1], run.v[-1])
    assert told["load"].sum() == pytest.approx(1.62 * law.robot.mass.sum(), rel=1e-3)  # it still settles by some micrometres
    assert run.v[-1, 0] == pytest.approx(0.5, rel=0.2)  # less slip, and what the gain leaves
    assert ((told["slip"] > 0.0) & (told["slip"] < 0.2)).all() and ((told["sinkage"] > 1e-3) & (told["sinkage"] < 0.01)).all()
    still = ug.simulate(**{**scenario.arguments(), "controller": None, "controller_rate": None})
    rest = law.state(still.t[-1], still.q[-1], still.v[-1])
    assert rest["load"].sum() == pytest.approx(1.62 * law.robot.mass.sum(), rel=1e-6)
    np.testing.assert_allclose(rest["load"], rest["load"].mean(), rtol=1e-4)


def test_the_driver_adds_what_the_law_says() -> None:
    """Forces by the driver's own columns against Jᵀ of each wheel, in states of any kind, over a mimic joint too."""
    scenario = on_floor()
    options = {name: value for name, value in scenario.arguments().items() if name not in ("robot", "q0", "v0", "duration")}
    system = ug.Simulator(scenario.robot, **options)._program.system
    law, rng = OnSoil(scenario.robot, scenario.soil, scenario.walls), np.random.default_rng(2)
    for _ in range(5):
        q, v = scenario.q0.copy(), rng.normal(size=scenario.robot.nv)
        q[2] -= 0.01
        q[7:] += 0.05 * rng.normal(size=len(q) - 7)
        expected = law.forces(0.0, q, v)
        system.q[:], system.v[:] = q, v
        rows.soil_torques(system, 0.0)
        np.testing.assert_allclose(system.soil.tau, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    assert len(system.contacts.kind) == 0  # rims touch nothing besides


def test_by_events_the_soil_takes_what_the_motion_loses() -> None:
    """The energy of a rover that rolls out, by Gauss's rule over the power of the soil in each step."""
    scenario = on_floor(scheme="events", duration=0.6)
    v0 = np.zeros(scenario.robot.nv)
    v0[0] = 0.4
    v0[[scenario.robot.joint(f"{place}W").iv for place in ("LF", "LM", "LR", "RF", "RM", "RR")]] = 1.6
    options = {**scenario.arguments(), "controller": None, "controller_rate": None, "v0": v0, "rtol": 1e-9, "atol": 1e-9}
    run = ug.simulate(**options)
    law = OnSoil(scenario.robot, scenario.soil, scenario.walls)
    nodes, weights = np.polynomial.legendre.leggauss(5)
    work = 0.0
    for a, b in pairwise(run.t):
        times = 0.5 * (a + b) + 0.5 * (b - a) * nodes
        for t, weight, q, v in zip(times, weights, *run.at(times), strict=True):
            work += 0.5 * (b - a) * weight * float(law.forces(t, q, v) @ v)
    energy = run.energies.total
    assert energy[0] - energy[-1] > 0.5  # of 4 J
    assert energy[-1] - energy[0] == pytest.approx(work, abs=1e-6)


def test_time_steps_converge_to_the_motion_by_events() -> None:
    """And are stable where wheels stand nearly still, which settle in a fifth of a millisecond."""
    scenario = on_floor(duration=0.5)
    exact = ug.simulate(**{**scenario.arguments(), "scheme": "events", "rtol": 1e-8, "atol": 1e-8})
    off = []
    for step in (5e-3, 2.5e-3, 1.25e-3, 6.25e-4):
        run = ug.simulate(**{**scenario.arguments(), "step": step})
        off.append(float(np.abs(run.q[-1] - exact.q[-1]).max()))
    assert off[0] < 2e-3 and off[-1] < 5e-5 and off[-1] < 0.1 * off[0]  # the pressure that damps has a kink where sinking ends


def test_a_wheel_sinks_in_until_the_soil_carries_it() -> None:
    """Dropped without spin: in the end the sinkage at which Bekker's pressure is the weight, by SciPy's quadrature of it."""
    soil = replace(SOILS["lunar"], cohesion=0.0)
    robot = cart()
    q = robot.neutral()
    q[2] = R[0] + 0.01
    run = ug.simulate(robot, q, None, 3.0, walls=ug.walls.Plane((0, 0, 1)), soil=soil, gravity=(0.0, 0.0, -1.62), rtol=1e-7, atol=1e-7)
    z = brentq(lambda sinkage: wheel_load(soil, sinkage) - 3.0 * 1.62, 1e-5, 0.1)
    assert R[0] - run.q[-1, 2] == pytest.approx(z, rel=1e-3)


def wheel_load(soil: Soil, z: float) -> float:
    """Of a wheel that stands: Bekker's pressure over its arc."""
    first = math.acos(1.0 - z / R[0])
    largest = soil.a0 * first

    def pressure(theta: float) -> float:
        front = theta if theta > largest else first - theta / largest * (first - largest)
        return (soil.kc / B[0] + soil.kphi) * (R[0] * (math.cos(front) - math.cos(first))) ** soil.n * math.cos(theta)

    return float(B[0] * R[0] * (quad(pressure, 0.0, largest)[0] + quad(pressure, largest, first)[0]))


def test_a_parked_rover_creeps_slower_than_rest() -> None:
    """With wheels that are held on a slope of 15 degrees: the shear that holds it is that of a slow motion, below REST, as the law has no memory."""
    scenario, angle = on_floor(duration=2.0), math.radians(15.0)
    ahead, normal = np.array([math.cos(angle), 0.0, math.sin(angle)]), np.array([-math.sin(angle), 0.0, math.cos(angle)])
    q = scenario.q0.copy()
    q[:3], q[3:7] = 1.05 * normal, Rotation.from_euler("y", -angle).as_quat()

    options = {**scenario.arguments(), "q0": q, "controller": replace(scenario.controller, speed=0.0)}
    run = ug.simulate(**{**options, "walls": ug.walls.Plane(tuple(normal))})
    late = run.t > 1.0
    speed = np.diff(run.q[late, :3] @ ahead)[[0, -1]] / np.diff(run.t[late])[0]
    assert (speed < 0.0).all() and (speed > -REST).all()


def test_what_soil_cannot_be_is_told() -> None:
    robot, floor = cart(), ug.walls.Plane((0, 0, 1))
    q = robot.neutral()
    q[2] = 0.12
    with pytest.raises(ug.PenetrationError, match=r"tyre is 0\.13 m inside the soil"):
        ug.simulate(robot, q, None, 0.1, walls=floor, soil="lunar")
    q[2] = 0.25
    with pytest.raises(ArgumentError, match="soil without a wall"):
        ug.simulate(robot, q, None, 0.1, soil="lunar")
    with pytest.raises(ArgumentError, match="has no wheels"):
        ug.simulate(ug.load(ug.model_path("free_ball"), base="floating"), [0, 0, 1, 0, 0, 0, 1], None, 0.1, walls=floor, soil="lunar")
    coarse = ug.walls.Terrain(seed=0, spacing=0.6, roughness=0.01, wavelengths=(3.0, 9.0))
    with pytest.raises(ArgumentError, match="too coarse for wheel 'tyre'"):
        ug.simulate(robot, q, None, 0.1, walls=coarse, soil="lunar")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("cohesion = 170", "cohesion = -5"), "from 0 to 100000"),
        (("cohesion = 170", 'friction_angle = "80 deg"'), "from 0.0872665 to 1.0472"),
        (('kind = "lunar"', 'kind = "mud"'), "lunar"),
        (('"rover.urdf"', '"free_ball.urdf"'), "given for a robot without wheels"),
    ],
)
def test_mistakes_in_a_soil_are_told(change: tuple[str, str], message: str) -> None:
    text = (
        'duration = 1\nscheme = "time_stepping"\n[robot]\nfile = "rover.urdf"\nbase = "floating"\n[soil]\nkind = "lunar"\ncohesion = 170\n'
        '[[walls]]\nkind = "plane"\nnormal = [0, 0, 1]\n'
    )
    assert parse_scenario(text, str(ug.model_path("rover"))).soil == SOILS["lunar"]
    with pytest.raises(ScenarioError, match=message):
        parse_scenario(text.replace(*change), str(ug.model_path("rover")))
