"""Tyres: wheels whose edges are round, down to a torus, by closed forms, by SciPy and by many points of their surfaces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.contact.points import ContactPoint
from urdf_gibbs.contact.wheels import wheel_points
from urdf_gibbs.errors import ArgumentError, PairError, UnknownNameError
from urdf_gibbs.simulation.layout import ACCEL, GAP, PRESENT, RATE
from urdf_gibbs.simulation.scenario import ScenarioError, parse_scenario

G, R, TUBE = 9.81, 0.1, 0.03  # R: of the circle in the middle of the tube [m]
ABOUT, ALONG = 0.013, 0.007  # kg m^2, of 1 kg: about the axle, and about the diameters
FLOOR = ug.walls.Plane((0, 0, 1))
TORUS = [ContactPoint("tyre", 0, (0, 0, 0), radius=TUBE, rim=R, axis=(0, 1, 0))]


def free_torus() -> ug.Robot:
    inertia = f'<inertia ixx="{ALONG}" ixy="0" ixz="0" iyy="{ABOUT}" iyz="0" izz="{ALONG}"/>'
    return ug.load(f'<robot name="r"><link name="tyre"><inertial><mass value="1"/>{inertia}</inertial></link></robot>', base="floating")


def gaps(simulator: ug.Simulator, q: Any, v: Any = 0.0, a: Any = 0.0) -> Any:
    program, nq = simulator._program, simulator.robot.nq
    program.state.y[:nq], program.state.y[nq:], program.state.K[0, nq:] = q, v, a
    assert program.update_gaps(0.0, PRESENT) == 0
    return program.state.gaps.copy()


def surface(count: int = 400, around: int = 100) -> Any:
    """(n, 3) points of the torus about y."""
    angle, tube = np.meshgrid(np.linspace(0, 2 * math.pi, count, endpoint=False), np.linspace(0, 2 * math.pi, around, endpoint=False))
    far = R + TUBE * np.cos(tube)
    return np.stack([far * np.cos(angle), TUBE * np.sin(tube), far * np.sin(angle)], axis=-1).reshape(-1, 3)


# the gap ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lean", [0.0, 0.4, -1.1, 1.5])
def test_a_torus_on_a_plane_is_as_high_as_its_circle_leans_and_its_tube(lean: float) -> None:
    """R cos(lean) + r, whichever way it has turned and rolled."""
    simulator, rng = ug.Simulator(free_torus(), walls=FLOOR, points=TORUS), np.random.default_rng(0)
    for _ in range(5):
        yaw, roll = rng.uniform(-3, 3, 2)
        turned = Rotation.from_euler("z", yaw) * Rotation.from_euler("x", lean) * Rotation.from_euler("y", roll)
        found = gaps(simulator, [*rng.normal(size=2), 0.5, *turned.as_quat()])[0, GAP]
        assert found == pytest.approx(0.5 - R * math.cos(lean) - TUBE, abs=1e-15)


def hills(spacing: float = 0.04) -> ug.walls.HeightField:
    """Bumps narrower than the torus, on a grid finer than it."""
    rng = np.random.default_rng(5)
    count = round(1.2 / spacing) + 1
    return ug.walls.HeightField(rng.uniform(-0.03, 0.03, (count, count)), (-0.6, 0.6), (-0.6, 0.6))


WALLS: dict[str, ug.walls.Wall] = {
    "plane": ug.walls.Plane((0.1, -0.2, 1.0)),
    "sphere": ug.walls.Sphere(0.5, (0.0, 0.0, -1.2), side="outside"),
    "bowl": ug.walls.Sphere(1.0, (0.0, 0.0, 0.0)),
    "cylinder": ug.walls.Cylinder(0.6, (0.0, 0.0, -1.3), (0.2, 1.0, 0.0), side="outside"),
    "hills": hills(),
}


def posed(rng: np.random.Generator, height: float) -> Any:
    q = np.array([*rng.uniform(-0.2, 0.2, 2), height, *rng.normal(size=4)])
    q[3:] /= np.linalg.norm(q[3:])
    return q


def test_above_hills_the_gap_is_the_least_of_all_local_ones() -> None:
    """phi, the height above the ground, against that of 40,000 points: in one of ten poses the least is not beside the lowest sample."""
    rng, places = np.random.default_rng(3), surface()
    simulator = ug.Simulator(free_torus(), walls=WALLS["hills"], points=TORUS)
    for _ in range(60):
        q = posed(rng, rng.uniform(0.2, 0.3))
        x = q[:3] + Rotation.from_quat(q[3:]).apply(places)
        off = gaps(simulator, q)[0, GAP] - (x[:, 2] - heights(WALLS["hills"], x)).min()
        assert -1.5e-4 < off <= 1e-9  # (half a distance between points)^2 / 2, by the curvatures of the torus and the ground


@pytest.mark.parametrize("name", WALLS)
def test_the_gap_is_the_least_on_the_torus_and_its_rates_are_its_derivatives(name: str) -> None:
    """A tumbling torus near walls: phi against 40,000 points of its surface, rates against differences along the motion."""
    wall, robot, rng = WALLS[name], free_torus(), np.random.default_rng(3)
    h = 1e-5 if name == "hills" else 1e-4  # s: bumps are small, and so is the time in which rates change
    simulator, places = ug.Simulator(robot, walls=wall, points=TORUS), surface()
    for _ in range(8):
        q = posed(rng, rng.uniform(0.2, 0.3) if name == "hills" else -0.55)
        v, a = rng.normal(size=6), rng.normal(size=6)
        now = gaps(simulator, q, v, a)[0]
        if name != "hills":  # whose gap is another function: above
            least = (wall.gap(q[:3] + Rotation.from_quat(q[3:]).apply(places))).min()
            assert -5e-5 < phi_to_distance(name, now[GAP]) - least <= 1e-9  # (half a distance between points)^2 / 2 by the curvatures

        def moved(t: float, q: Any = q, v: Any = v, a: Any = a) -> Any:
            y = q
            for _ in range(20):  # the mean velocity of each part, and rotations exactly
                y = robot.integrate(y, (v + a * (t / 20) * (_ + 0.5)) * t / 20)
            return gaps(simulator, y, v + a * t, a)[0]

        before, after = moved(-h), moved(h)
        assert (after[GAP] - before[GAP]) / (2 * h) == pytest.approx(now[RATE], abs=1e-5)
        assert (after[RATE] - before[RATE]) / (2 * h) == pytest.approx(now[ACCEL], rel=1e-3, abs=1e-3)


def phi_to_distance(name: str, phi: float) -> float:
    """phi of a sphere of radius r is (ρ² - R²) / (2 R) with R that of the wall moved by r."""
    radius = {"sphere": 0.5 + TUBE, "bowl": 1.0 - TUBE, "cylinder": 0.6 + TUBE}.get(name)
    if radius is None:
        return phi
    sign = -1.0 if name == "bowl" else 1.0
    return sign * (math.sqrt(radius * radius + 2.0 * radius * sign * phi) - radius)


def heights(wall: Any, x: Any) -> Any:
    """Of the natural bicubic spline by SciPy at points (n, 2 or more), linear over a raster of 2 mm."""
    from scipy.interpolate import CubicSpline

    nodes = np.linspace(-0.6, 0.6, wall.heights.shape[0])
    raster = np.linspace(-0.5, 0.5, 501)
    table = CubicSpline(nodes, CubicSpline(nodes, wall.heights, bc_type="natural")(raster), axis=1, bc_type="natural")(raster)
    i, j = (x[:, 0] + 0.5) / 0.002, (x[:, 1] + 0.5) / 0.002
    a, b = i.astype(int), j.astype(int)
    s, t = i - a, j - b
    return (1 - s) * ((1 - t) * table[a, b] + t * table[a, b + 1]) + s * ((1 - t) * table[a + 1, b] + t * table[a + 1, b + 1])


# rolling ----------------------------------------------------------------------------------------------------


def test_a_torus_rolls_in_a_circle() -> None:
    """Steadily, leaning inwards: moments about its centre give the precession, as for a disc, with the tube between circle and ground.

    The contact is at the origin and moves along x, the middle of its circle is at y = radius. The torus turns with Ω about z and with
    s = Ω radius / (R + r cos(lean)) about its axis n, so that it rolls; dL/dt + (r z + R up) × (a - g) = 0 is quadratic in Ω.
    """
    lean, radius = 0.3, 0.5
    rho, n, up = radius - R * math.sin(lean), np.array([0, math.cos(lean), -math.sin(lean)]), np.array([0, math.sin(lean), math.cos(lean)])
    arm = R * up + np.array([0.0, 0.0, TUBE])

    def turning(omega: float) -> Any:
        return np.array([0.0, 0.0, omega]) + omega * radius / (R + TUBE * math.cos(lean)) * n

    def moment(omega: float) -> float:
        along = turning(omega) @ n
        L = ALONG * (turning(omega) - along * n) + ABOUT * along * n
        return float((np.cross([0, 0, omega], L) + np.cross(arm, [0, omega * omega * rho, G]))[0])

    omega = math.sqrt(moment(0.0) / (moment(0.0) - moment(1.0)))
    turn, spin = Rotation.from_euler("x", -lean), turning(omega)
    velocity = np.cross(spin, arm)
    start = (*turn.inv().apply(velocity), *turn.inv().apply(spin))
    run = ug.simulate(free_torus(), (*arm, *turn.as_quat()), start, 1.0, walls=FLOOR, points=TORUS, friction=5.0, restitution=0.0)
    assert {phase.mode for phase in run.phases} == {"stick"} and velocity[0] == pytest.approx(omega * rho)
    # Steady, but for what the tolerance of the integrator, 1e-10 in each step, grows to in most of a turn.
    assert np.abs(run.q[:, 2] - R * math.cos(lean) - TUBE).max() < 1e-7
    assert np.abs(np.hypot(run.q[:, 0], run.q[:, 1] - radius) - rho).max() < 1e-7
    assert np.ptp(run.energies.total) < 1e-9


def rolling(t: float, y: Any) -> Any:
    """Rates of centre (3,), rotation (9,) and angular velocity (3,) of a torus that rolls: v = ω × ρ with ρ = r z + R up."""
    turned, w = y[3:12].reshape(3, 3), y[12:]
    n, z = turned[:, 1], np.array([0.0, 0.0, 1.0])
    c, dn = n[2], np.cross(w, n)
    d = math.sqrt(1.0 - c * c)
    arm = TUBE * z + R * (z - c * n) / d
    moves = R * ((-dn[2] * n - c * dn) / d + (z - c * n) * c * dn[2] / d**3)
    inertia = turned @ np.diag([ALONG, ABOUT, ALONG]) @ turned.T
    hat = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    # I α + ω × I ω = -ρ × (α × ρ + ω × ρ' - g), of 1 kg
    right = -np.cross(w, inertia @ w) - np.cross(arm, np.cross(w, moves) + G * z)
    alpha = np.linalg.solve(inertia + hat.T @ hat, right)
    return np.concatenate([np.cross(w, arm), np.cross(w, turned.T).T.ravel(), alpha])


def test_a_torus_rolls_and_wobbles_like_a_coin() -> None:
    """Thrown aside while it rolls: the equations of Newton and Euler with the constraint of rolling, integrated by SciPy."""
    turn, spin = Rotation.from_euler("zx", [0.2, -0.4]), np.array([0.6, 7.0, 1.5])
    n = turn.apply([0, 1, 0])
    arm = np.array([0, 0, TUBE]) + R * (np.array([0, 0, 1]) - n[2] * n) / math.hypot(n[0], n[1])
    velocity = np.cross(spin, arm)
    start = (*turn.inv().apply(velocity), *turn.inv().apply(spin))
    run = ug.simulate(free_torus(), (0, 0, arm[2], *turn.as_quat()), start, 1.0, walls=FLOOR, points=TORUS, friction=9.0, restitution=0.0)
    assert {phase.mode for phase in run.phases} == {"stick"}
    y0 = np.concatenate([[0, 0, arm[2]], turn.as_matrix().ravel(), spin])
    times = np.linspace(0.1, 1.0, 10)
    other = solve_ivp(rolling, (0.0, 1.0), y0, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y
    q, _ = run.at(times)
    assert np.ptp(q[:, 2]) > 0.01  # it wobbles
    np.testing.assert_allclose(q[:, :3].T, other[:3], atol=1e-7)
    np.testing.assert_allclose(Rotation.from_quat(q[:, 3:]).as_matrix().reshape(10, 9).T, other[3:12], atol=1e-7)


def test_a_torus_rolls_in_a_bowl() -> None:
    """In the middle plane of a sphere of radius S it swings like a pendulum of S - R - r, heavier by 1 + I / (m (R + r)^2)."""
    S, start, time = 1.0, 0.4, 1.5
    arm = S - R - TUBE
    share = ABOUT / (R + TUBE) ** 2
    q0 = (arm * math.sin(start), 0.0, -arm * math.cos(start), 0, 0, 0, 1)
    run = ug.simulate(free_torus(), q0, None, time, walls=ug.walls.Sphere(S), points=TORUS, friction=2.0, restitution=0.0)

    def rates(_: float, y: Any) -> Any:
        return y[1], -G / (arm * (1 + share)) * math.sin(y[0])

    angle = solve_ivp(rates, (0, time), (start, 0.0), method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    assert run.q[-1, 0] == pytest.approx(arm * math.sin(angle), abs=1e-7)
    assert {phase.mode for phase in run.phases} == {"stick"}


@pytest.mark.parametrize("scheme", ["events", "time_stepping"])
def test_a_torus_rolls_down_an_incline(scheme: Any) -> None:
    """a = g sin θ / (1 + I / (m (R + r)^2))."""
    angle = 0.3
    gravity = (G * math.sin(angle), 0.0, -G * math.cos(angle))
    options: dict[str, Any] = {"walls": FLOOR, "points": TORUS, "friction": 1.0, "restitution": 0.0, "scheme": scheme, "gravity": gravity}
    run = ug.simulate(free_torus(), (0, 0, R + TUBE, 0, 0, 0, 1), None, 0.5, **options)
    expected = 0.5 * G * math.sin(angle) / (1 + ABOUT / (R + TUBE) ** 2) * 0.25
    assert run.q[-1, 0] == pytest.approx(expected, abs=1e-7 if scheme == "events" else 1e-5)  # steps of 1 ms, of second order


# how a user says it -----------------------------------------------------------------------------------------

RADIUS, WIDTH = 0.25, 0.2
CART = f"""<robot name="cart"><link name="frame"><inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/>
</inertial></link>{
    "".join(
        f'''<joint name="turn{k}" type="continuous"><parent link="frame"/><child link="tyre{k}"/><origin xyz="0 {y} 0"/>
<axis xyz="0 1 0"/></joint><link name="tyre{k}"><inertial><mass value="1"/><inertia ixx=".02" ixy="0" ixz="0" iyy=".03" iyz="0" izz=".02"/>
</inertial><collision><origin rpy="-1.5707963267948966 0 0"/><geometry><cylinder radius="{RADIUS}" length="{WIDTH}"/></geometry></collision>
</link>'''
        for k, y in ((1, 0.5), (2, -0.5))
    )
}</robot>"""


def test_a_torus_that_leans_and_rolls_in_a_bowl_keeps_its_energy() -> None:
    """Let go out of the middle plane it falls over while it rolls: friction that only holds does no work."""
    robot, bowl = free_torus(), ug.walls.Sphere(1.0)
    simulator = ug.Simulator(robot, walls=bowl, points=TORUS, friction=5.0, restitution=0.0)
    lean = Rotation.from_euler("xz", [0.25, 0.5]).as_quat()

    def start(z: float) -> Any:
        return np.array([0.25, 0.2, z, *lean])

    z = brentq(lambda z: float(gaps(simulator, start(z), np.zeros(6), np.zeros(6))[0][GAP]), -0.95, -0.2, xtol=1e-15)
    run = simulator.run(start(z), None, 0.4)
    assert {phase.mode for phase in run.phases} == {"stick"}
    assert abs(run.v[-1, 3:]).min() > 0.1  # it turns about all axes
    total = run.energies[2]
    assert np.abs(total - total[0]).max() < 1e-8 * run.energies[0].max()  # the tolerance of the integrator is 1e-10


def test_a_tyre_lies_inside_of_its_cylinder() -> None:
    cart = ug.load(CART, base="floating")
    torus = wheel_points(cart, tyres=0.1)
    assert len(torus) == 2 and {(round(one.rim, 12), one.radius) for one in torus} == {(0.15, 0.1)}
    np.testing.assert_allclose([one.position for one in torus], 0.0, atol=1e-15)
    shoulders = wheel_points(cart, tyres={"tyre1": 0.03})
    np.testing.assert_allclose(sorted(one.position[1] for one in shoulders if one.link == "tyre1"), [-0.07, 0.07], atol=1e-15)
    assert {(one.link, round(one.rim, 12), one.radius) for one in shoulders} == {("tyre1", 0.22, 0.03), ("tyre2", 0.25, 0.0)}
    run = ug.simulate(cart, [0, 0, RADIUS, 0, 0, 0, 1, 0, 0], None, 0.1, walls=FLOOR, points="collision", tyres=0.1, restitution=0.0)
    assert run.contact_forces[-1].sum() == pytest.approx(3 * G, rel=1e-9) and run.contact_names == (
        "tyre1.cylinder0.0|plane",
        "tyre2.cylinder0.0|plane",
    )


@pytest.mark.parametrize(
    ("tyres", "message"),
    [
        (0.11, "0.11 m on 'tyre1', expected at most half of the width of the wheel and its radius, 0.1 m"),
        (-0.1, "tyres"),
        ("wide", "tyres"),
    ],
)
def test_wrong_tyres_are_told(tyres: Any, message: str) -> None:
    cart = ug.load(CART, base="floating")
    with pytest.raises(ArgumentError, match=message):
        wheel_points(cart, tyres=tyres)
    with pytest.raises(UnknownNameError, match="no wheel named 'frame'"):
        wheel_points(cart, tyres={"frame": 0.1})
    with pytest.raises(ArgumentError, match="expected points='collision'"):
        ug.simulate(cart, [0, 0, 1, 0, 0, 0, 1, 0, 0], None, 0.1, walls=FLOOR, tyres=0.1)
    with pytest.raises(PairError, match="a wheel's rim"):
        ug.simulate(cart, [0, 0, 1, 0, 0, 0, 1, 0, 0], None, 0.1, points="collision", pairs=[("tyre1.cylinder0.+", "frame", 0.1)])


SCENARIO = """duration = 1
[robot]
file = "rover.urdf"
base = "floating"
[contacts]
points = "collision"
tyres = 0.1
"""


def test_a_scenario_has_tyres() -> None:
    folder = str(ug.model_path("rover"))
    points = parse_scenario(SCENARIO, folder).points
    assert points is not None and len(points) == 6 and {(round(one.rim, 12), one.radius) for one in points} == {(0.15, 0.1)}
    one = parse_scenario(SCENARIO.replace("0.1", "{lf_wheel = 0.05}"), folder).points
    assert one is not None and sorted(point.radius for point in one) == [0.0] * 10 + [0.05] * 2
    for wrong, message in (("0.2", "at most half of the width"), ("{body = 0.1}", "a link with a wheel"), ('"soft"', "tyres")):
        with pytest.raises(ScenarioError, match=message):
            parse_scenario(SCENARIO.replace("0.1", wrong), folder)
    with pytest.raises(ScenarioError, match='points = "collision"'):
        parse_scenario(SCENARIO.replace('"collision"', '["body"]'), folder)
