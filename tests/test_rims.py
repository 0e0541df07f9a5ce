"""Wheels: cylinders that roll with their rims, on planes, curved walls and height fields.

Times and places are asked for to 1e-7, as the closed forms are; rates of gaps to what finite differences give.
"""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.contact.points import ContactPoint, resolve_points
from urdf_gibbs.robot import manifold
from urdf_gibbs.simulation.layout import ACCEL, GAP, PRESENT, RATE
from urdf_gibbs.view.contact_forces import lasting_forces

G = 9.81
R = 0.1  # m
FLOOR = ug.walls.Plane((0, 0, 1))
CLOSE = 1e-7


def inertial(mass: float, xx: float, yy: float, zz: float) -> str:
    return f'<inertial><mass value="{mass}"/><inertia ixx="{xx!r}" ixy="0" ixz="0" iyy="{yy!r}" iyz="0" izz="{zz!r}"/></inertial>'


def cylinder(radius: float = R, length: float = 0.04) -> str:
    """About y."""
    return f'<collision><origin rpy="{math.pi / 2!r} 0 0"/><geometry><cylinder radius="{radius}" length="{length}"/></geometry></collision>'


def joint(name: str, kind: str, parent: str, child: str, axis: str, at: str = "0 0 0") -> str:
    limit = '<limit lower="-99" upper="99" effort="1" velocity="1"/>' if kind in ("prismatic", "revolute") else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{limit}</joint>'


def planar_wheel(share: float, length: float = 0.04) -> ug.Robot:
    """1 kg on slides along x and z and a hinge about y, ``share`` m R^2 about that."""
    light = inertial(1e-9, 1e-12, 1e-12, 1e-12)
    links = f'<link name="base"/><link name="cart">{light}</link><link name="lift">{light}</link>'
    wheel = f'<link name="wheel">{inertial(1.0, 0.01, share * R * R, 0.01)}{cylinder(length=length)}</link>'
    joints = joint("x", "prismatic", "base", "cart", "1 0 0") + joint("z", "prismatic", "cart", "lift", "0 0 1")
    return ug.load(f'<robot name="r">{links}{wheel}{joints}{joint("spin", "continuous", "lift", "wheel", "0 1 0")}</robot>')


def free_wheel(length: float = 0.04) -> ug.Robot:
    """A free disc of 1 kg about y."""
    body = inertial(1.0, 0.25 * R * R, 0.5 * R * R, 0.25 * R * R)
    return ug.load(f'<robot name="r"><link name="wheel">{body}{cylinder(length=length)}</link></robot>', base="floating")


def order(robot: ug.Robot, **values: float) -> Any:
    return [values.get(name, 0.0) for name in robot.velocity_names]


def incline(angle: float) -> tuple[float, float, float]:
    return G * math.sin(angle), 0.0, -G * math.cos(angle)


# which cylinders roll ---------------------------------------------------------------------------------------


def test_wheels_roll_and_others_stand() -> None:
    wheel = planar_wheel(0.5)
    rims = resolve_points(wheel, "collision")
    assert [point.rim for point in rims] == [R, R] and {round(point.position[1], 12) for point in rims} == {0.02, -0.02}
    assert all(abs(abs(point.axis[1]) - 1.0) < 1e-12 and wheel.joints[point.body].name == "spin" for point in rims)
    assert all(point.rim == 0.0 for point in resolve_points(wheel, "collision", "stand"))
    assert len(resolve_points(wheel, "collision", "stand")) == 18
    free = free_wheel()
    assert all(point.rim == 0.0 for point in resolve_points(free, "collision"))
    assert [point.rim for point in resolve_points(free, "collision", "roll")] == [R, R]


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (ContactPoint("p", 0, (0, 0, 0), rim=-1.0), "rim -1.0"),
        (ContactPoint("p", 0, (0, 0, 0), rim=1.0, axis=(0, 0, 0)), "axis"),
        (ContactPoint("p", 0, (0, 0, 0), radius=-0.1, rim=1.0), "radius -0.1"),
    ],
)
def test_wrong_rims_are_named(point: ContactPoint, message: str) -> None:
    with pytest.raises(ug.ArgumentError, match=message):
        ug.simulate(free_wheel(), (0, 0, 1, 0, 0, 0, 1), None, 0.1, walls=FLOOR, points=[point])
    with pytest.raises(ug.UnknownNameError, match="slide"):
        ug.simulate(free_wheel(), (0, 0, 1, 0, 0, 0, 1), None, 0.1, walls=FLOOR, points="collision", cylinders="slide")  # type: ignore[arg-type]


# the gap and its rates ----------------------------------------------------------------------------------------


def hills() -> ug.walls.HeightField:
    x = np.linspace(-1.5, 1.5, 31)
    return ug.walls.HeightField(0.05 * np.sin(4 * x)[:, None] * np.cos(3 * x)[None, :] - 1.0, (-1.5, 1.5), (-1.5, 1.5))


WALLS = {
    "plane": ug.walls.Plane((0.2, -0.1, 1.0), point=(0, 0, -1)),
    "sphere": ug.walls.Sphere(2.0),
    "cylinder": ug.walls.Cylinder(2.0, axis=(0.3, 1.0, 0.2)),
    "ellipsoid": ug.walls.Ellipsoid((2.0, 2.5, 1.5)),
    "hills": hills(),
    "drift": ug.walls.Plane((0.2, -0.1, 1.0), point=(0, 0, -1), motion=ug.walls.Drift((0.1, 0.2, 0.3))),
}


def gaps(simulator: ug.Simulator, q: Any, v: Any, a: Any, time: float) -> Any:
    """(contacts, 5) of the compiled code."""
    program, nq = simulator._program, simulator.robot.nq
    program.state.y[:nq], program.state.y[nq:], program.state.K[0, nq:] = q, v, a
    assert program.update_gaps(time, PRESENT) == 0
    return program.state.gaps.copy()


@pytest.mark.parametrize("name", WALLS)
def test_the_gap_is_the_least_of_the_rim_and_its_rates_are_its_derivatives(name: str) -> None:
    """A tumbling wheel near each kind of wall: phi against 1,000 points of the rim, rates against differences along the motion."""
    wall, robot, rng, h = WALLS[name], free_wheel(), np.random.default_rng(3), 1e-4
    rim = ug.Simulator(robot, walls=wall, points=[ContactPoint("rim", 0, (0.02, 0.01, -0.03), rim=R, axis=(0, 1, 0))])
    angles = np.linspace(0, 2 * math.pi, 1000, endpoint=False)
    places = np.array([0.02, 0.01, -0.03]) + R * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    many = ug.Simulator(robot, walls=wall, points=[("wheel", place) for place in places])
    for _ in range(8):
        q = np.array([*rng.uniform(-0.3, 0.3, 2), rng.uniform(-0.7, -0.5), *rng.normal(size=4)])
        q[3:] /= np.linalg.norm(q[3:])
        v, a = rng.normal(size=6), rng.normal(size=6)
        now = gaps(rim, q, v, a, 0.0)[0]
        least = gaps(many, q, v, a, 0.0)[:, GAP].min()
        assert -2e-6 < now[GAP] - least <= 1e-12  # R (pi / 1000)^2 / 2 is 5e-7, times slopes and curvatures

        def moved(t: float, q: Any = q, v: Any = v, a: Any = a) -> Any:
            y = solve_ivp(lambda s, y: rates(robot, y, v + a * s), (0.0, t), q, rtol=1e-12, atol=1e-13).y[:, -1]
            return gaps(rim, y, v + a * t, a, t)[0]

        before, after = moved(-h), moved(h)
        assert (after[GAP] - before[GAP]) / (2 * h) == pytest.approx(now[RATE], abs=1e-5)
        assert (after[RATE] - before[RATE]) / (2 * h) == pytest.approx(now[ACCEL], rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("lean", [0.0, 0.05])
@pytest.mark.parametrize("turn", [0.7, 2.0, 4.0])
def test_a_rim_that_lies_over_a_hill_is_nearest_there(turn: float, lean: float) -> None:
    """A wheel on its side, level or leaning, and a hill below one place of its rim: not where it goes down from the centre."""
    x, robot = np.linspace(-0.5, 0.5, 41), free_wheel()
    squares = (x[:, None] - R * math.cos(turn)) ** 2 + (x[None, :] - R * math.sin(turn)) ** 2
    hill = ug.walls.HeightField(0.05 * np.exp(-squares / (0.3 * R) ** 2), (-0.5, 0.5), (-0.5, 0.5))
    angles = np.linspace(0, 2 * math.pi, 1000, endpoint=False)
    places = R * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    rim = ug.Simulator(robot, walls=hill, points=[ContactPoint("rim", 0, (0, 0, 0), rim=R, axis=(0, 1, 0))])
    many = ug.Simulator(robot, walls=hill, points=[("wheel", place) for place in places])
    half = 0.25 * math.pi + 0.5 * lean
    state = np.array([0, 0, 0.1, math.sin(half), 0, 0, math.cos(half)]), np.zeros(6), np.zeros(6), 0.0
    now, least = gaps(rim, *state)[0, GAP], gaps(many, *state)[:, GAP].min()
    assert -1e-5 < now - least <= 1e-12  # half a distance between points is R pi / 1000, the hill's curvature 0.1 / (0.3 R)^2: 5e-6


def rates(robot: ug.Robot, q: Any, v: Any) -> Any:
    return manifold.rates(robot.joints, np.array(q)[None], np.array(v)[None])[0]


# rolling ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "most"), [(0.5, 3.0), (1.0, 2.0)])
@pytest.mark.parametrize("rolls", [True, False])
def test_cylinder_and_hoop_on_an_incline(share: float, most: float, rolls: bool) -> None:
    """Rolls for tan θ <= (1 + m R^2 / I) μ: a = g sin θ / (1 + I / (m R^2)); beyond that it slides with g (sin θ - μ cos θ)."""
    angle, wheel = 0.5, planar_wheel(share)
    mu = math.tan(angle) / most * (1.001 if rolls else 0.95)
    trajectory = ug.simulate(
        wheel, order(wheel, z=R), None, 1.0, walls=FLOOR, points="collision", friction=mu, gravity=incline(angle), restitution=0.0
    )
    a = G * math.sin(angle) / (1 + share) if rolls else G * (math.sin(angle) - mu * math.cos(angle))
    x, z, spin = (wheel.velocity_names.index(name) for name in ("x", "z", "spin"))
    assert trajectory.q[-1, x] == pytest.approx(0.5 * a, abs=CLOSE) and np.abs(trajectory.q[:, z] - R).max() < 1e-10
    turns = a / R if rolls else mu * G * math.cos(angle) * R / (share * R * R)
    assert trajectory.v[-1, spin] == pytest.approx(turns, abs=1e-6)
    assert {phase.mode for phase in trajectory.phases} == {"stick" if rolls else "slip"}
    assert trajectory.statistics["steps"] < 200


def test_a_wheel_that_slides_begins_to_roll() -> None:
    """Thrown without spin: v = v0 - μ g t, ω = 2 μ g t / R: rolls from v0 / (3 μ g) on, with 2/3 v0."""
    wheel, v0, mu = planar_wheel(0.5), 3.0, 0.25
    trajectory = ug.simulate(
        wheel, order(wheel, z=R), order(wheel, x=v0), 1.0, walls=FLOOR, points="collision", friction=mu, restitution=0.0
    )
    rolls = next(phase for phase in trajectory.phases if phase.mode == "stick")
    assert rolls.start == pytest.approx(v0 / (3 * mu * G), abs=CLOSE)
    assert trajectory.v[-1, wheel.velocity_names.index("x")] == pytest.approx(2 * v0 / 3, abs=CLOSE)


def test_time_stepping_rolls_as_well() -> None:
    angle, wheel = 0.5, planar_wheel(0.5)
    trajectory = ug.simulate(
        wheel, order(wheel, z=R), None, 1.0, walls=FLOOR, points="collision", friction=0.5, gravity=incline(angle), restitution=0.0,
        scheme="time_stepping", step=1e-3,
    )  # fmt: skip
    assert trajectory.q[-1, wheel.velocity_names.index("x")] == pytest.approx(G * math.sin(angle) / 3, abs=1e-6)


def test_a_hoop_rolls_in_a_bowl() -> None:
    """In a sphere of radius S a wheel in the middle plane swings like a pendulum of S - R, heavier by 1 + I / (m R^2)."""
    S, share = 1.0, 1.0
    wheel = planar_wheel(share, length=1e-9)
    start, arm = 0.4, S - R
    q0 = order(wheel, x=arm * math.sin(start), z=-arm * math.cos(start))
    trajectory = ug.simulate(wheel, q0, None, 2.0, walls=ug.walls.Sphere(S), points="collision", friction=2.0, restitution=0.0)

    def rates(_: float, y: Any) -> Any:
        return y[1], -G / (arm * (1 + share)) * math.sin(y[0])

    angle = solve_ivp(rates, (0, 2.0), (start, 0.0), method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    assert trajectory.q[-1, wheel.velocity_names.index("x")] == pytest.approx(arm * math.sin(angle), abs=CLOSE)
    assert {phase.mode for phase in trajectory.phases} == {"stick"}


def test_a_disc_rolls_in_a_circle() -> None:
    """A thin disc that leans inwards and rolls about a circle, steadily: moments about its centre give the precession.

    The contact is at the origin and moves along x, the middle of its circle is at y = radius. The disc turns with Ω about z and with
    s = Ω radius / R about its axis n, so that it rolls; dL/dt + R up × (a - g) = 0 is a quadratic equation for Ω.
    """
    lean, radius = 0.3, 0.5  # rad from the vertical; of the contact's circle [m]
    rho, n, up = radius - R * math.sin(lean), np.array([0, math.cos(lean), -math.sin(lean)]), np.array([0, math.sin(lean), math.cos(lean)])

    def turning(omega: float) -> Any:
        return np.array([0.0, 0.0, omega]) + omega * radius / R * n

    def moment(omega: float) -> float:
        along = turning(omega) @ n
        L = 0.25 * R * R * (turning(omega) - along * n) + 0.5 * R * R * along * n
        return float((np.cross([0, 0, omega], L) + np.cross(R * up, [0, omega * omega * rho, G]))[0])

    omega = math.sqrt(moment(0.0) / (moment(0.0) - moment(1.0)))  # moment(Ω) = moment(0) + Ω² (moment(1) - moment(0))
    turn, spin = Rotation.from_euler("x", -lean), turning(omega)
    velocity = np.cross(spin, R * up)
    start = (*turn.inv().apply(velocity), *turn.inv().apply(spin))
    point = [ContactPoint("rim", 0, (0, 0, 0), rim=R, axis=(0, 1, 0))]
    trajectory = ug.simulate(free_wheel(), (*R * up, *turn.as_quat()), start, 1.0, walls=FLOOR, points=point, friction=5.0, restitution=0.0)
    assert {phase.mode for phase in trajectory.phases} == {"stick"} and velocity[0] == pytest.approx(omega * rho)
    # Steady, but for what the tolerance of the integrator, 1e-10 in each step, grows to in most of a turn.
    assert np.abs(trajectory.q[:, 2] - R * math.cos(lean)).max() < CLOSE
    assert np.abs(np.hypot(trajectory.q[:, 0], trajectory.q[:, 1] - radius) - rho).max() < CLOSE
    assert np.ptp(trajectory.energies.total) < 1e-9


def test_a_steered_wheel_drives_a_circle() -> None:
    """A thin wheel at the end of a boom about a vertical axis: it rolls without slip, ω R = Ω times the boom."""
    light = inertial(1.0, 0.01, 0.01, 0.01)
    links = f'<link name="base"/><link name="boom">{light}</link><link name="lift">{inertial(1e-6, 1e-9, 1e-9, 1e-9)}</link>'
    wheel = f'<link name="wheel">{inertial(1.0, 0.0025, 0.005, 0.0025)}{cylinder(length=1e-9)}</link>'
    joints = (
        joint("turn", "continuous", "base", "boom", "0 0 1")
        + joint("z", "prismatic", "boom", "lift", "0 0 1", at="0 0.5 0")
        + joint("spin", "continuous", "lift", "wheel", "0 1 0")
    )
    robot = ug.load(f'<robot name="r">{links}{wheel}{joints}</robot>')
    rim = resolve_points(robot, "collision")[:1]
    options: dict[str, Any] = {"walls": FLOOR, "points": rim, "friction": 1.0, "restitution": 0.0}
    trajectory = ug.simulate(robot, order(robot, z=R), order(robot, turn=-2.0, spin=10.0), 1.0, **options)
    turn, spin = (robot.velocity_names.index(name) for name in ("turn", "spin"))
    # boom along y: the wheel's centre moves along x with -0.5 Ω, which is R ω: it rolls all the time, and keeps both velocities
    np.testing.assert_allclose(trajectory.v[:, turn], -2.0, atol=1e-9)
    np.testing.assert_allclose(trajectory.v[:, spin], 10.0, atol=1e-8)
    assert {phase.mode for phase in trajectory.phases} == {"stick"}
    driven = ug.simulate(robot, order(robot, z=R), None, 1.0, torque=order(robot, spin=0.1), **options)
    # one degree of freedom: Ω = -R / 0.5 ω
    ratio = R / 0.5
    inertia = 0.005 + ratio**2 * (0.01 + 0.0025 + 1.0 * 0.25 + 1e-9 + 1e-6 * 0.25)
    assert driven.v[-1, spin] == pytest.approx(0.1 / inertia, rel=1e-7)
    assert driven.v[-1, turn] == pytest.approx(-ratio * 0.1 / inertia, rel=1e-7)


def test_a_wheel_rolls_over_hills() -> None:
    """Along a height field the motion has one degree of freedom: contact, rolling (the centre moves with R ω) and energy tell all of it."""
    x = np.linspace(-3, 3, 121)
    wall = ug.walls.HeightField(np.repeat(0.05 * np.cos(2 * x)[:, None], 5, axis=1), (-3, 3), (-1, 1))
    wheel = planar_wheel(0.5, length=1e-9)
    along, up, spin = (wheel.velocity_names.index(name) for name in ("x", "z", "spin"))
    crest = 0.0 - float(wall.gap((0, 0, 0))) + R
    trajectory = ug.simulate(
        wheel, order(wheel, z=crest), order(wheel, x=0.5, spin=5.0), 1.5, walls=wall, points="collision", friction=2.0, restitution=0.0
    )
    assert {phase.mode for phase in trajectory.phases} == {"stick"} and trajectory.q[-1, along] > 1.0
    np.testing.assert_allclose(np.hypot(trajectory.v[:, along], trajectory.v[:, up]), R * trajectory.v[:, spin], atol=1e-9)
    energy = trajectory.energies.total
    assert np.abs(energy - energy[0]).max() < 1e-8
    angles = np.linspace(-1.0, 1.0, 2001)
    for row in range(0, len(trajectory), 5):
        rim = np.stack([R * np.sin(angles), 0 * angles, -R * np.cos(angles)], axis=1)
        rim += np.array([trajectory.q[row, along], 0.0, trajectory.q[row, up]])
        assert wall.gap(rim).min() == pytest.approx(0.0, abs=2e-8)  # R (1 / 2000)^2 / 2


def test_a_page_draws_the_force_at_the_rim(tmp_path: Any) -> None:
    """After a file was written and read: the force of a wheel at rest acts R below its centre."""
    wheel = planar_wheel(0.5)
    run = ug.simulate(wheel, order(wheel, z=R, spin=1.0), None, 0.2, walls=FLOOR, points="collision", friction=0.5, restitution=0.0)
    read = ug.Trajectory.load(run.save(tmp_path / "run"))
    times = np.array([0.05, 0.15])
    for one in lasting_forces(read, times, read.at(times)[0], {"plane": FLOOR}):
        place = np.frombuffer(zlib.decompress(base64.b64decode(one["place"]["deflated"])), "<f8").reshape(-1, 3)
        np.testing.assert_allclose(np.abs(place), [[0.0, 0.02, 0.0]] * 2, atol=1e-6)
