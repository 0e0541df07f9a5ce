"""Friction in the event-driven simulation against closed forms: stick, slip, roll, rock, Painlevé's paradox; and a robot that lands.

Times and places are asked for to 1e-7, as the closed forms are; most agree to the integrator's tolerance of 1e-10. Sliding begins
once its acceleration is 1e-9 of those without contact forces, which is up to 1e-8 s late.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug

G = 9.81
FLOOR = ug.walls.Plane((0, 0, 1))
R = 0.1  # m, of balls
CLOSE = 1e-7


def body(name: str, inertia: tuple[float, float, float]) -> ug.Robot:
    """One free body of 1 kg."""
    xx, yy, zz = inertia
    values = f'ixx="{xx!r}" ixy="0" ixz="0" iyy="{yy!r}" iyz="0" izz="{zz!r}"'
    return ug.load(
        f'<robot name="{name}"><link name="{name}"><inertial><mass value="1"/><inertia {values}/></inertial></link></robot>',
        base="floating",
    )


BOX = body("box", (0.01, 0.01, 0.01))
CORNERS = [("box", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
ROD = body("rod", (1 / 12, 1 / 12, 1e-6))  # 1 m along z


def ball(inertia: float) -> ug.Robot:
    """``inertia`` times m R^2."""
    return body("ball", (inertia * R * R,) * 3)


SPHERE = ball(0.4)
CENTRE = [("ball", (0.0, 0.0, 0.0), R)]
ON_FLOOR = (0.0, 0.0, R, 0.0, 0.0, 0.0, 1.0)


def incline(angle: float) -> tuple[float, float, float]:
    """Gravity on an incline whose surface is the plane z = 0, x pointing down."""
    return G * math.sin(angle), 0.0, -G * math.cos(angle)


def run(robot: ug.Robot, q: Any, v: Any, duration: float, points: Any, mu: Any, **options: Any) -> ug.Trajectory:
    walls = options.pop("walls", FLOOR)
    trajectory = ug.simulate(robot, q, v, duration, walls=walls, points=points, friction=mu, **{"restitution": 0.0, **options})
    assert trajectory.status == "complete"
    assert trajectory.statistics["implicit_steps"] == 0, "closed forms are for the explicit steps, which are exact to the tolerances"
    check_forces(trajectory, mu)
    return trajectory


def check_forces(trajectory: ug.Trajectory, mu: Any) -> None:
    """No contact pulls, and all forces are in their cones, to rounding."""
    largest = max(1.0, np.abs(trajectory.contact_forces).max(initial=0.0))
    static = mu[0] if isinstance(mu, tuple) else mu
    tangential = np.linalg.norm(trajectory.friction_forces, axis=2)
    assert trajectory.contact_forces.min(initial=0.0) >= -1e-9 * largest
    assert (tangential - static * trajectory.contact_forces).max(initial=0.0) <= 1e-9 * largest


def first(trajectory: ug.Trajectory, mode: str) -> ug.Phase:
    return next(phase for phase in trajectory.phases if phase.mode == mode)


def world(q: Any, v: Any) -> tuple[Any, Any]:
    """Velocity of the centre of mass and angular velocity, in world axes."""
    turn = Rotation.from_quat(np.array(q[3:7]))
    return turn.apply(np.array(v[:3])), turn.apply(np.array(v[3:6]))


# sliding ------------------------------------------------------------------------------------------------


def test_a_block_slides_to_a_stop() -> None:
    trajectory = run(BOX, (0, 0, 0.05, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0), 1.0, CORNERS, 0.4)
    rest = first(trajectory, "stick")
    assert rest.start == pytest.approx(3 / (0.4 * G), abs=CLOSE)
    assert trajectory.q[-1, 0] == pytest.approx(9 / (2 * 0.4 * G), abs=CLOSE)
    friction = trajectory.friction_forces[:-2].sum(axis=1)
    moving = trajectory.t[:-2] < rest.start - 1e-6
    np.testing.assert_allclose(friction[moving], np.tile((-0.4 * G, 0, 0), (moving.sum(), 1)), atol=1e-9)


@pytest.mark.parametrize(("mu", "stays"), [(0.3, False), (0.7, True)])
def test_a_block_thrown_up_an_incline(mu: float, stays: bool) -> None:
    angle = math.pi / 6
    trajectory = run(BOX, (0, 0, 0.05, 0, 0, 0, 1), (-4, 0, 0, 0, 0, 0), 2.0, CORNERS, mu, gravity=incline(angle))
    up = G * (math.sin(angle) + mu * math.cos(angle))
    top, height = 4 / up, 16 / (2 * up)
    if stays:
        assert first(trajectory, "stick").start == pytest.approx(top, abs=CLOSE)
        assert trajectory.q[-1, 0] == pytest.approx(-height, abs=CLOSE)
        assert np.abs(trajectory.v[-1]).max() < 1e-12
        # Redundant contacts: in their cones, and the shortest. All corners share the friction that their normal forces allow.
        assert trajectory.friction_forces[-1].sum(axis=0) == pytest.approx((-G * math.sin(angle), 0, 0), abs=1e-9)
        assert trajectory.contact_forces[-1].sum() == pytest.approx(G * math.cos(angle), abs=1e-9)
    else:
        down = G * (math.sin(angle) - mu * math.cos(angle))
        back = top + math.sqrt(2 * height / down)
        q, v = trajectory.at(back)
        assert q[0] == pytest.approx(0.0, abs=CLOSE)
        assert v[0] == pytest.approx(math.sqrt(2 * height * down), abs=CLOSE)


def test_a_stronger_hold_at_rest_than_in_motion() -> None:
    """On an incline between the two angles of friction what rests stays, and what moves goes on."""
    angle, mu = 0.5, (0.6, 0.5)  # tan 0.5 = 0.546
    gravity = incline(angle)
    resting = run(BOX, (0, 0, 0.05, 0, 0, 0, 1), None, 1.0, CORNERS, mu, gravity=gravity)
    assert np.abs(resting.q[-1, :3] - (0, 0, 0.05)).max() < 1e-9
    moving = run(BOX, (0, 0, 0.05, 0, 0, 0, 1), (0.1, 0, 0, 0, 0, 0), 1.0, CORNERS, mu, gravity=gravity)
    gains = G * (math.sin(angle) - 0.5 * math.cos(angle))
    assert moving.q[-1, 0] == pytest.approx(0.1 + gains / 2, abs=CLOSE)


def test_dry_friction_stops_an_oscillator() -> None:
    def spring(t: float, q: Any, v: Any) -> list[float]:
        return [*Rotation.from_quat(np.array(q[3:7])).inv().apply((-100 * q[0], 0, 0)), 0, 0, 0]

    trajectory = run(BOX, (0.1, 0, 0.05, 0, 0, 0, 1), None, 1.8, CORNERS, 0.1, controller=spring)
    assert first(trajectory, "stick").start == pytest.approx(math.pi / 2, abs=CLOSE)  # five half periods
    assert trajectory.q[-1, 0] == pytest.approx(10 * 0.1 * G / 100 - 0.1, abs=CLOSE)


def test_the_direction_of_sliding_turns() -> None:
    """A body thrown across an incline: against SciPy's integration of a particle with friction against its velocity."""
    from scipy.integrate import solve_ivp

    angle, mu = 0.6, 0.4
    point = body("box", (1e3, 1e3, 1e3))  # hardly turns: a particle on one point
    trajectory = run(point, (0, 0, 0.0, 0, 0, 0, 1), (0, 2, 0, 0, 0, 0), 0.8, [("box", (0, 0, 0))], mu, gravity=incline(angle))

    def rates(t: float, y: Any) -> list[float]:
        v = y[2:]
        drag = mu * G * math.cos(angle) * v / np.linalg.norm(v)
        return [*v, G * math.sin(angle) - drag[0], -drag[1]]

    expected = solve_ivp(rates, (0, 0.8), (0, 0, 0, 2), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    velocity, _ = world(trajectory.q[-1], trajectory.v[-1])
    np.testing.assert_allclose((*trajectory.q[-1, :2], *velocity[:2]), expected, atol=1e-8)


# rolling --------------------------------------------------------------------------------------------------


def test_a_ball_with_backspin() -> None:
    trajectory = run(SPHERE, ON_FLOOR, (3, 0, 0, 0, -40, 0), 1.5, CENTRE, 0.25)
    assert first(trajectory, "stick").start == pytest.approx((3 + 40 * R) * 2 / (7 * 0.25 * G), abs=CLOSE)
    velocity, spin = world(trajectory.q[-1], trajectory.v[-1])
    np.testing.assert_allclose(velocity, (1, 0, 0), atol=1e-9)
    np.testing.assert_allclose(spin, (0, 10, 0), atol=1e-8)


@pytest.mark.parametrize(("inertia", "bound", "share"), [(0.4, 7 / 2, 5 / 7), (0.5, 3, 2 / 3), (1.0, 2, 1 / 2)])
@pytest.mark.parametrize("rolls", [True, False])
def test_round_bodies_on_an_incline(inertia: float, bound: float, share: float, rolls: bool) -> None:
    angle = 0.3
    mu = math.tan(angle) / bound * (1.01 if rolls else 0.99)
    trajectory = run(ball(inertia), ON_FLOOR, None, 1.0, CENTRE, mu, gravity=incline(angle))
    assert {phase.mode for phase in trajectory.phases} == {"stick" if rolls else "slip"}
    gains = share * G * math.sin(angle) if rolls else G * (math.sin(angle) - mu * math.cos(angle))
    assert trajectory.q[-1, 0] == pytest.approx(gains / 2, abs=CLOSE)


def test_a_ball_that_slips_on_a_steep_incline() -> None:
    trajectory = run(SPHERE, ON_FLOOR, None, 1.0, CENTRE, 0.15, gravity=incline(0.6))
    assert trajectory.q[-1, 0] == pytest.approx(2.16233065, abs=1e-8)


@pytest.mark.parametrize("outside", [False, True])
def test_rolling_on_a_curved_wall_conserves_energy(outside: bool) -> None:
    """Inside a hollow cylinder a ball oscillates with w^2 = 5 g / (7 (R - r)) for small angles; on a sphere it rolls off, without slip."""
    if outside:
        wall, start = ug.walls.Sphere(1.0, side="outside"), (math.sin(0.1) * 1.1, 0, math.cos(0.1) * 1.1, 0, 0, 0, 1)
    else:
        wall, start = ug.walls.Cylinder(1.0, axis=(0, 1, 0)), (0.9 * math.sin(1e-3), 0, -0.9 * math.cos(1e-3), 0, 0, 0, 1)
    trajectory = run(SPHERE, start, None, 0.6, CENTRE, 1.0, walls=wall)
    energy = trajectory.energies.total
    assert np.abs(energy - energy[0]).max() < 1e-10
    if not outside:
        omega = math.sqrt(5 * G / (7 * 0.9))
        angle = math.atan2(trajectory.q[-1, 0], -trajectory.q[-1, 2])
        assert angle == pytest.approx(1e-3 * math.cos(omega * 0.6), abs=1e-9)  # cubed angle: what is not small


@pytest.mark.parametrize("inertia", [0.4, 2 / 3])
def test_a_ball_that_rolls_round_in_an_upright_cylinder_comes_up_again(inertia: float) -> None:
    """Routh: as it sinks it gets a spin about the normal, which lifts it. With I = k m r^2 and the rate W of its round,
    z = -g / (k W^2) (1 - cos(W t sqrt(k / (1 + k)))), and W does not change."""
    W = 4.0
    wall, start = ug.walls.Cylinder(1.0 + R, axis=(0, 0, 1)), (1.0, 0, 0, 0, 0, 0, 1)
    trajectory = run(ball(inertia), start, [0, W, 0, 0, 0, -W / R], 2.0, CENTRE, 2.0, walls=wall)
    assert {phase.mode for phase in trajectory.phases} == {"stick"}
    t = trajectory.t
    height = -G / (inertia * W * W) * (1 - np.cos(W * t * math.sqrt(inertia / (1 + inertia))))
    np.testing.assert_allclose(trajectory.q[:, 2], height, rtol=0, atol=CLOSE)
    np.testing.assert_allclose(trajectory.q[:, :2], np.stack([np.cos(W * t), np.sin(W * t)], axis=1), rtol=0, atol=CLOSE)


def test_a_belt_takes_a_block_along() -> None:
    belt = ug.walls.Plane((0, 0, 1), motion=ug.walls.Drift((2.0, 0, 0)))
    trajectory = run(BOX, (0, 0, 0.05, 0, 0, 0, 1), None, 1.0, CORNERS, 0.5, walls=belt)
    assert first(trajectory, "stick").start == pytest.approx(2 / (0.5 * G), abs=CLOSE)
    assert trajectory.v[-1, 0] == pytest.approx(2.0, abs=1e-9)


def test_spheres_that_roll_on_each_other() -> None:
    """A ball on a slide above one on another: both turn, as the friction between them is the same."""
    xml = "".join(
        f'<link name="{n}"><inertial><mass value="1"/><inertia ixx="0.004" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.004"/></inertial></link>'
        for n in ("a", "b", "c")
    )
    joints = (
        '<joint name="spin_a" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint>'
        '<joint name="drop" type="prismatic"><parent link="base"/><child link="b"/><origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        '<joint name="spin_c" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint>'
    )
    pair = ug.load(f'<robot name="two"><link name="base"/>{xml}{joints}</robot>')
    names = pair.velocity_names
    v0 = np.zeros(3)
    v0[names.index("spin_a")] = 10.0
    trajectory = run(pair, np.zeros(3), v0, 1.0, [("a", (0, 0, 0), R), ("c", (0, 0, 0), R)], 0.3, walls=(), pairs=[("a", "c")])
    a, c = (trajectory.v[-1, names.index(name)] for name in ("spin_a", "spin_c"))
    assert a == pytest.approx(5.0, abs=1e-9) and c == pytest.approx(-5.0, abs=1e-9)
    assert first(trajectory, "stick").start == pytest.approx(5 * 0.004 / (0.3 * 2 * G * R), abs=CLOSE)


# tipping and slipping -----------------------------------------------------------------------------------


def test_a_rocking_block() -> None:
    """Housner's block: from 0.1 rad, plastic impacts on the other edge, sticking."""
    a, b = 0.2, 0.5
    block = body("box", ((b * b + 0.01) / 3, (a * a + b * b) / 3, (a * a + 0.01) / 3))
    turn = Rotation.from_euler("y", 0.1)
    start = (*-turn.apply((a, 0, -b)), *turn.as_quat())
    feet = [("box", (x, y, -b)) for x in (-a, a) for y in (-0.1, 0.1)]
    trajectory = run(block, start, None, 0.9, feet, 5.0)
    times = [impact.time for impact in trajectory.impacts]
    assert times == pytest.approx([0.22380421, 0.55097856, 0.79953140], abs=1e-8)
    for impact in trajectory.impacts:
        assert impact.v_after[4] / impact.v_before[4] == pytest.approx(0.79310345, abs=1e-8)


def test_a_rod_that_falls_over_slips() -> None:
    turn = Rotation.from_euler("y", 0.1)
    start = (*-turn.apply((0, 0, -0.5)), *turn.as_quat())
    trajectory = run(ROD, start, None, 0.6, [("rod", (0, 0, -0.5))], 0.3)
    slip = first(trajectory, "slip")
    assert slip.start == pytest.approx(0.55201548, abs=CLOSE)
    q, _ = trajectory.at(slip.start)
    assert Rotation.from_quat(np.array(q[3:7])).as_euler("yxz")[0] == pytest.approx(0.41954943, abs=CLOSE)


@pytest.mark.parametrize("stands", [True, False])
def test_a_ladder_stands_below_its_critical_angle(stands: bool) -> None:
    """Between a rough floor and a smooth wall: tan of the angle from the wall up to 2 mu."""
    mu = 0.3
    lean = math.atan(2 * mu) * (0.99 if stands else 1.01)
    turn = Rotation.from_euler("y", lean)
    foot = turn.apply((0, 0, -0.5))
    start = (0.5 * math.sin(lean), 0, -foot[2], *Rotation.from_euler("y", -lean).as_quat())
    wall = ug.walls.Plane((1, 0, 0), friction=0.0)
    trajectory = ug.simulate(
        ROD, start, None, 0.2, walls=(FLOOR, wall), points=[("rod", (0, 0, -0.5)), ("rod", (0, 0, 0.5))], friction=mu, restitution=0.0
    )
    moved = np.abs(trajectory.q[-1, :3] - start[:3]).max()
    assert moved < 1e-9 if stands else moved > 1e-4


# Painlevé ---------------------------------------------------------------------------------------------


def leaning_rod(slip: float) -> tuple[Any, Any]:
    """At 60 degrees from the floor; its foot slides at ``slip`` [m/s] towards the side to which it leans."""
    turn = Rotation.from_euler("y", math.pi / 6)
    return (*-turn.apply((0, 0, -0.5)), *turn.as_quat()), (*turn.inv().apply((-slip, 0, 0)), 0, 0, 0)


@pytest.mark.parametrize(("mu", "paradox"), [(1.3471, False), (1.3472, True), (1.5, True)])
def test_the_paradox_of_painleve_begins_where_it_must(mu: float, paradox: bool) -> None:
    """The first coefficient is (1 + 3 cos^2) / (3 sin cos) = 1.34715063 at 60 degrees."""
    trajectory = run(ROD, *leaning_rod(1.0), 0.01, [("rod", (0, 0, -0.5))], mu)
    assert [impact.law for impact in trajectory.impacts] == (["without-collision"] if paradox else [])


def test_an_impact_without_collision() -> None:
    trajectory = run(ROD, *leaning_rod(1.0), 0.01, [("rod", (0, 0, -0.5))], 1.5)
    (impact,) = trajectory.impacts
    assert impact.time == 0.0 and impact.energy_loss > 0.0
    assert impact.impulses == pytest.approx([0.32475953], abs=1e-8)
    np.testing.assert_allclose(impact.tangential_impulses, [(0.4375, 0, 0)], atol=1e-8)
    np.testing.assert_allclose(impact.velocities_after, 0.0, atol=1e-12)
    with pytest.raises(ug.SimulationError, match=r"Painlevé's paradox.*rod"):
        run(ROD, *leaning_rod(1.0), 0.01, [("rod", (0, 0, -0.5))], 1.5, paradox="stop")


# impacts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mu", "law", "after"),
    [
        (0.2, "newton", (0.18592163, -0.00879898, 1.8)),
        (0.2, "moreau", (0.18592163, -0.00879898, 1.8)),
        (0.3, "newton", (-1 / 7, -3 / 14, 1.8)),
        (0.3, "moreau", (-0.22111756, -0.26319847, 1.8)),
    ],
)
def test_a_sphere_bounces_with_spin(mu: float, law: Any, after: tuple[float, float, float]) -> None:
    simulator = ug.Simulator(SPHERE, walls=FLOOR, restitution=0.6, friction=mu, law=law, points=CENTRE)
    impact = simulator.impact(ON_FLOOR, (1, 0.5, -3, 20, -30, 10))
    assert impact is not None and impact.law == law and not impact.energy_gain
    np.testing.assert_allclose(impact.v_after[:3], after, atol=1e-8)
    np.testing.assert_allclose(impact.tangential_impulses[0, :2], np.subtract(after[:2], (1, 0.5)), atol=1e-8)


def test_a_planar_robot_has_no_impulses_across_its_plane() -> None:
    """Nothing moves there: an impulse in that direction would be arbitrary."""
    xml = '<robot name="p"><link name="p"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="0.08"/></inertial></link></robot>'
    corners = [("p", (x, y, 0)) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    planar = ug.load(xml, base="planar")
    floor = ug.walls.Plane((0, 1, 0))
    trajectory = run(planar, (0, 0.5, 0.3), (1, 0, 2), 2.0, corners, 0.5, walls=floor, gravity=(0, -G, 0), restitution=0.2)
    assert len(trajectory.impacts) > 10
    assert max(np.abs(impact.tangential_impulses[:, 2]).max() for impact in trajectory.impacts) < 1e-12
    assert np.abs(trajectory.friction_forces[:, :, 2]).max() < 1e-12
    assert sorted(trajectory.contact_forces[-1]) == pytest.approx([0, 0, G / 2, G / 2], abs=1e-9)


# a robot ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.0, pytest.param(0.5, marks=[pytest.mark.nightly])])  # the second: six times as long
def test_a_quadruped_lands_with_its_joint_limits_and_comes_to_rest(restitution: float) -> None:
    from urdf_gibbs.bundled import example_robots

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = ug.load(example_robots()["go2_description/urdf/go2.urdf"], base="floating")
        q = np.zeros(robot.nq)
        q[2], q[6] = 0.7, 1.0
        for joint in robot.joints:
            q[joint.iq] = {"thigh": 0.8, "calf": -1.5}.get(joint.name.split("_")[1] if "_" in joint.name else "", q[joint.iq])
        trajectory = ug.simulate(
            robot, q, None, 2.0, walls=FLOOR, restitution=restitution, friction=0.7, joint_limits=True, damping=True, dense=False
        )
    assert trajectory.status == "complete" and len(trajectory.impacts) > 5
    check_forces(trajectory, 0.7)
    energy = trajectory.energies
    assert np.diff(energy.total).max() < 1e-8 * energy.total[0]
    assert energy.kinetic[-1] < 1e-9
    weight = robot.mass.sum() * G
    floor = [i for i, name in enumerate(trajectory.contact_names) if name.endswith("|plane")]
    assert trajectory.contact_forces[-1, floor].sum() == pytest.approx(weight, rel=1e-6)
    assert np.abs(trajectory.friction_forces[-1].sum(axis=0)).max() < 1e-6 * weight


# bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [-0.1, math.nan, math.inf, "0.5x", (0.5,), (0.4, 0.5), (0.5, 0.4, 0.3), None])
def test_a_wrong_coefficient_is_refused(friction: Any) -> None:
    with pytest.raises(ug.ArgumentError, match="friction"):
        ug.simulate(SPHERE, ON_FLOOR, None, 0.1, walls=FLOOR, points=CENTRE, friction=friction)


def test_the_law_of_equality_has_no_friction() -> None:
    with pytest.raises(ug.ArgumentError, match="newton_equality"):
        ug.simulate(SPHERE, ON_FLOOR, None, 0.1, walls=FLOOR, points=CENTRE, friction=0.3, law="newton_equality")
