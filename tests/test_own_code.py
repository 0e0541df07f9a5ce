"""A robot's own step and contact kernel against SciPy's coefficients with Pinocchio's dynamics, and Pinocchio's motion of frames."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from elastic_arm import arm
from examples import FOLDER
from numpy.typing import NDArray
from point_robots import ROBOTS
from random_trees import random_tree
from scipy.integrate._ivp import dop853_coefficients as scipy_dop853
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.contact.own_contacts import FEW
from urdf_gibbs.contact.points import fixed_bodies
from urdf_gibbs.engine.kernel import c_function
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.simulation.layout import PRESENT
from urdf_gibbs.simulation.own_step import TABLE, WRITTEN_OUT, own_step

Array = NDArray[np.float64]

GRAVITY = (0.3, -0.7, -9.81)
# (source, base): fixed, planar and floating bases, trees with planar, floating and mimic joints inside, one and many coordinates
CASES: dict[str, tuple[Any, str]] = {
    "panda": (FOLDER / ROBOTS["panda"], "fixed"),
    "go2 floating": (FOLDER / ROBOTS["go2"], "floating"),
    "go2 planar": (FOLDER / ROBOTS["go2"], "planar"),
    "talos floating": (FOLDER / ROBOTS["talos"], "floating"),
    "pendulum": (ug.model_path("pendulum"), "fixed"),
    "slider": (random_tree(3, 1, ("prismatic",)), "fixed"),
    **{f"tree {seed} {base}": (random_tree(seed, 9, mimic=0.4), base) for seed, base in ((1, "fixed"), (2, "floating"), (5, "planar"))},
}


@cache
def robot_of(name: str) -> ug.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ug.load(CASES[name][0], base=CASES[name][1])  # type: ignore[arg-type]


@cache
def oracle_of(name: str) -> Oracle:
    return Oracle(*CASES[name], mimic=True, gravity=GRAVITY)


def random_state(robot: ug.Robot, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return robot.random(seed), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


# the step --------------------------------------------------------------------------------------------


def unit_quaternions(robot: ug.Robot, y: Array) -> Array:
    result = y.copy()
    for joint in robot.joints:
        if joint.type == "floating":
            own = slice(joint.iq + 3, joint.iq + 7)
            result[own] /= np.linalg.norm(result[own])
    return result


def position_rate(robot: ug.Robot, q: Array, v: Array) -> Array:
    """dq/dt by rotations of SciPy."""
    rate = np.zeros(robot.nq)
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        k, j = joint.iq, joint.iv
        if joint.type == "floating":
            rate[k : k + 3] = Rotation.from_quat(q[k + 3 : k + 7]).apply(v[j : j + 3])
            (x, y, z, w), omega = q[k + 3 : k + 7], v[j + 3 : j + 6]
            rate[k + 3 : k + 6] = 0.5 * (w * omega + np.cross([x, y, z], omega))
            rate[k + 6] = -0.5 * np.dot([x, y, z], omega)
        elif joint.type == "planar":
            rate[k : k + 3] = Rotation.from_rotvec([0.0, 0.0, q[k + 2]]).apply([v[j], v[j + 1], 0.0])
            rate[k + 2] += v[j + 2]
        else:
            rate[k : k + joint.nv] = v[j : j + joint.nv]
    return rate


def by_pinocchio(name: str, tau: Array) -> Callable[[Array], Array]:
    """dy/dt at a state whose quaternions may be off."""
    robot, oracle = robot_of(name), oracle_of(name)

    def derivative(y: Array) -> Array:
        y = unit_quaternions(robot, y)
        q, v = y[: robot.nq], y[robot.nq :]
        x, G = oracle.configuration(q), oracle.G
        if oracle.tied:
            M = pin.crba(oracle.model, oracle.data, x)
            M = np.triu(M) + np.triu(M, 1).T
            a = np.linalg.solve(G.T @ M @ G, tau - G.T @ pin.nonLinearEffects(oracle.model, oracle.data, x, G @ v))
        else:
            a = pin.aba(oracle.model, oracle.data, x, v, tau)
        return np.concatenate([position_rate(robot, q, v), a])

    return derivative


def by_the_papers(robot: ug.Robot, tau: Array) -> Callable[[Array], Array]:
    """The same for elastic links, which Pinocchio does not know, in plain Python."""

    def derivative(y: Array) -> Array:
        q, v = y[: robot.nq], y[robot.nq :]
        M = ug.mass_matrix(robot, q, method="gibbs_appell_flexible")
        h = ug.bias(robot, q, v, gravity=GRAVITY, method="gibbs_appell_flexible")
        return np.concatenate([position_rate(robot, q, v), np.linalg.solve(M, tau - h)])

    return derivative


def expected_step(robot: ug.Robot, derivative: Callable[[Array], Array], y: Array, h: float, tolerance: float) -> tuple[Array, ...]:
    """K (16, n), the new state, its error and F (7, n), with SciPy's coefficients."""
    c = scipy_dop853
    K = np.zeros((c.N_STAGES_EXTENDED, len(y)))
    K[0] = derivative(y)
    for i in range(1, c.N_STAGES):
        K[i] = derivative(y + h * c.A[i, :i] @ K[:i])
    new = unit_quaternions(robot, y + h * c.B @ K[: c.N_STAGES])
    K[c.N_STAGES] = derivative(new)
    for i in range(c.N_STAGES + 1, c.N_STAGES_EXTENDED):
        K[i] = derivative(y + h * c.A[i, :i] @ K[:i])
    scale = tolerance + tolerance * np.maximum(np.abs(y), np.abs(new))
    five, three = (np.sum((row @ K[: c.N_STAGES + 1] / scale) ** 2) for row in (c.E5, c.E3))
    error = np.array(h * five / np.sqrt((five + 0.01 * three) * len(y)))
    F = np.array([new - y, h * K[0] - (new - y), 2.0 * (new - y) - h * (K[c.N_STAGES] + K[0]), *(h * c.D @ K)])
    return K, new, error, F


def own(
    robot: ug.Robot, y: Array, tau: Array, h: float, tolerance: float, start: Array, forward: Any = None, gravity: Any = GRAVITY
) -> tuple[Any, ...]:
    """K, the new state, the error and F by the robot's own code, from dy/dt at the start."""
    n, code = len(y), own_step(robot)
    address = ctypes.cast(forward or c_function(robot, "forward_dynamics", None), ctypes.c_void_p).value
    K, F, new, work, limits = np.zeros((16, n)), np.zeros((7, n)), np.zeros(n), np.zeros(n), np.array([tolerance, tolerance])
    K[0] = start
    arrays = {"y": y, "tau": tau, "constants": np.array(gravity), "K": K, "new": new, "tolerance": limits, "work": work, "F": F}
    table = np.array([address if name == "forward" else arrays[name].ctypes.data for name in TABLE])
    trial = np.array([h, -1.0, 0.0, 0.0])
    step, dense = (ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(code.address(name)) for name in ("step", "dense"))
    statuses = [function(table.ctypes.data, trial.ctypes.data) for function in (step, dense)]
    return K, new, trial[1], F, max(statuses)


@pytest.mark.parametrize("name", CASES)
def test_a_step_is_dop853_with_pinocchios_dynamics(name: str) -> None:
    robot = robot_of(name)
    q, v, tau = random_state(robot, 7)
    y, h, tolerance = np.concatenate([q, v]), 0.02, 1e-9
    K, new, error, F = expected_step(robot, by_pinocchio(name, tau), y, h, tolerance)
    got_K, got, got_error, got_F, status = own(robot, y, tau, h, tolerance, K[0])
    size = np.abs(K).max()
    # Round-off of both dynamics (1e-12 of the largest acceleration), which weights up to 400 (dense output) or 43 (stages) magnify.
    assert status == 0
    np.testing.assert_allclose(got_K, K, rtol=0.0, atol=1e-9 * size)
    np.testing.assert_allclose(got, new, rtol=1e-13, atol=1e-12 * h * size)
    np.testing.assert_allclose(got_F, F, rtol=0.0, atol=1e-9 * h * size)
    # in units of the tolerance: the same round-off once more
    assert got_error == pytest.approx(float(error), rel=1e-3, abs=1e-11 * h * size / tolerance)


def test_the_cases_are_of_all_kinds() -> None:
    kinds = {joint.type for name in CASES for joint in robot_of(name).joints}
    sizes = {robot_of(name).nq + robot_of(name).nv for name in CASES}
    assert {"revolute", "continuous", "prismatic", "planar", "floating"} <= kinds
    assert any(joint.is_mimic for name in CASES for joint in robot_of(name).joints)
    assert min(sizes) == 2 and max(sizes) > WRITTEN_OUT and {size % 4 for size in sizes} == {0, 1, 2, 3}


def test_a_step_with_elastic_links_is_dop853_with_the_papers_dynamics() -> None:
    robot = ug.load(arm())
    y, tau = np.array([0.3, 0.05, -0.04, 0.1, 0.7, -0.2, 0.3, 0.4]), np.array([0.5, 0.0, 0.0, 0.0])
    K, new, _, F = expected_step(robot, by_the_papers(robot, tau), y, 1e-3, 1e-9)
    got_K, got, _, got_F, status = own(robot, y, tau, 1e-3, 1e-9, K[0])
    size = np.abs(K).max()
    assert status == 0
    np.testing.assert_allclose(got_K, K, rtol=0.0, atol=1e-9 * size)
    np.testing.assert_allclose(got, new, rtol=1e-13, atol=1e-15 * size)
    np.testing.assert_allclose(got_F, F, rtol=0.0, atol=1e-12 * size)


def test_a_step_is_refused_where_the_forward_dynamics_refuse() -> None:
    robot = robot_of("pendulum")
    calls = []

    def forward(*pointers: int) -> int:
        calls.append(1)
        return int(len(calls) > 3)

    refusing = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)(forward)
    _, _, error, _, status = own(robot, np.array([0.1, 0.2]), np.zeros(1), 0.01, 1e-9, np.zeros(2), refusing)
    assert error == -1.0 and status == 1 and len(calls) == 5  # it does not go on after the first refusal


def test_a_step_of_no_error_has_the_error_zero() -> None:
    robot = robot_of("slider")
    still = (0.0, 0.0, 0.0)
    *_, error, _, _ = own(robot, np.zeros(2), np.zeros(1), 0.01, 1e-9, np.zeros(2), gravity=still)
    assert error == 0.0


# contacts --------------------------------------------------------------------------------------------

NORMAL, POINT, CENTRE, AXIS = (
    np.array([0.6, 0.0, 0.8]),
    np.array([0.1, 0.2, -3.0]),
    np.array([0.3, -0.2, 0.1]),
    np.array([2.0, -1.0, 2.0]) / 3,
)
SPEED, MOMENT = np.array([0.3, 0.1, -0.2]), 0.7
WALLS = (
    ug.walls.Plane(NORMAL, POINT),
    ug.walls.Circle(9.0, CENTRE, AXIS),
    ug.walls.Plane(NORMAL, POINT, motion=ug.walls.Drift(SPEED)),
    ug.walls.Sphere(0.5, CENTRE, "outside"),
    ug.walls.Ellipsoid((9.0, 9.0, 9.0), CENTRE),
)


def expected_contacts(x: Array, u: Array, a: Array, radius: float) -> Array:
    """Of one point on all WALLS: gap function and its rates, the size of its gradient, the speed of the point."""
    speed = np.linalg.norm(u)
    plane = [NORMAL @ (x - POINT) - radius, NORMAL @ u, NORMAL @ a, 1.0, speed]
    moved = [NORMAL @ (x - POINT - MOMENT * SPEED) - radius, NORMAL @ (u - SPEED), NORMAL @ a, 1.0, speed]

    def round_wall(R: float, sign: float, across: Array) -> list[float]:
        """sign (rho^2 - R^2) / (2 R)"""
        p, w = across @ (x - CENTRE), across @ u
        return [sign * (p @ p - R * R) / (2 * R), sign * p @ w / R, sign * (p @ a + w @ w) / R, np.linalg.norm(p) / R, speed]

    p = x - CENTRE
    rho = np.linalg.norm(p)
    if radius > 0.0:  # the distance
        rate = p @ u / rho
        ball = [9.0 - rho - radius, -rate, -(p @ a + u @ u - rate**2) / rho, 1.0, speed]
    else:
        ball = round_wall(9.0, -1.0, np.eye(3))
    circle = round_wall(9.0 - radius, -1.0, np.eye(3) - np.outer(AXIS, AXIS))
    return np.array([plane, circle, moved, round_wall(0.5 + radius, 1.0, np.eye(3)), ball])


def seen(simulator: ug.Simulator, q: Array, v: Array, a: Array) -> Array:
    """What the driver sees of the contacts, (contacts, 5)."""
    state = simulator._program.state
    state.y[:] = [*q, *v]
    state.K[0, len(q) :] = a
    assert simulator._program.update_gaps(MOMENT, PRESENT) == 0
    return state.gaps.copy()


def points_on(robot: ug.Robot, seed: int) -> list[tuple[str, tuple[float, float, float], float]]:
    """One point on many links, and more than are written out on two; balls and points."""
    rng = np.random.default_rng(seed)
    links = [name for name in robot.link_names if robot.frame(name).body >= 0]
    chosen = [links[i] for i in rng.permutation(len(links))[:12]] + [links[-1]] * (FEW + 3) + [links[0]] * (FEW + 8)
    return [(name, tuple(rng.uniform(-0.3, 0.3, 3).tolist()), float(rng.choice([0.0, 0.05]))) for name in chosen]  # type: ignore[misc]


@pytest.mark.parametrize("name", CASES)
def test_contacts_move_as_pinocchios_frames_do(name: str) -> None:
    robot, oracle = robot_of(name), oracle_of(name)
    points = points_on(robot, 3)
    named, reach = ug.Simulator(robot, walls=WALLS, points=points).points, 0.2
    apart = [
        (i, j)
        for i in range(len(points))
        for j in range(i)
        if not fixed_bodies(robot, named[i].body, named[i].position) & fixed_bodies(robot, named[j].body, named[j].position)
    ]
    pairs = apart[::5][:7]
    assert pairs or len(robot.joints) == 1
    chosen = [(named[i].name, named[j].name, reach) for i, j in pairs]
    simulator = ug.Simulator(robot, walls=WALLS, points=points, pairs=chosen, joint_limits=True, gravity=GRAVITY)
    code = simulator._program.system.code
    assert code.step and code.dense and code.contacts
    for seed in range(3):
        q, v, a = random_state(robot, seed)
        got = seen(simulator, q, v, a)
        model, data = oracle.model, oracle.data
        pin.forwardKinematics(model, data, oracle.configuration(q), oracle.G @ v, oracle.G @ a)
        pin.updateFramePlacements(model, data)
        motion = []
        for link, place, _ in points:
            frame = model.getFrameId(link, pin.FrameType.BODY)
            twist = pin.getFrameVelocity(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            rise = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            r = data.oMf[frame].rotation @ np.array(place)
            turned = np.cross(twist.angular, r)
            acceleration = rise.linear + np.cross(rise.angular, r) + np.cross(twist.angular, turned)
            motion.append((data.oMf[frame].translation + r, twist.linear + turned, acceleration))
        expected = np.concatenate([expected_contacts(*moved, radius) for moved, (*_, radius) in zip(motion, points, strict=True)])
        # Round-off of sums of products, of the largest acceleration.
        bound = 1e-12 * max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(got[: len(expected)], expected, rtol=1e-11, atol=bound)
        for row, (i, j) in zip(got[len(expected) :], pairs, strict=False):
            d, w, b = (np.array(one) - other for one, other in zip(motion[i], motion[j], strict=True))
            pair = [(d @ d - reach**2) / (2 * reach), d @ w / reach, (d @ b + w @ w) / reach, np.linalg.norm(d) / reach]
            np.testing.assert_allclose(row[:4], pair, rtol=1e-11, atol=bound / reach)
        limits = got[len(expected) + len(pairs) :]
        at = 0
        for joint in robot.joints:
            if f"{joint.name}|lower" in simulator._candidates.names or f"{joint.name}|upper" in simulator._candidates.names:
                for bound_, sign in ((joint.lower, 1.0), (joint.upper, -1.0)):
                    if np.isfinite(bound_):
                        where = joint.ratio * q[joint.iq] + joint.offset
                        row = [sign * (where - bound_), sign * joint.ratio * v[joint.iv], sign * joint.ratio * a[joint.iv], 1.0]
                        np.testing.assert_allclose(limits[at][:4], row, rtol=1e-14, atol=1e-14)
                        at += 1
        assert at == len(limits)


def test_contacts_on_elastic_links_move_as_differences_of_their_places() -> None:
    robot = ug.load(arm())
    points = [("hand", (0.1, 0.2, -0.1)), ("arm.tip", (0.0, 0.0, 0.0)), *(("hand", (0.05 * i, 0.0, 0.1)) for i in range(FEW + 2))]
    simulator = ug.Simulator(robot, walls=WALLS[:2], points=points)
    assert simulator._program.system.code.contacts
    q, v, a = np.array([0.3, 0.05, -0.04, 0.1]), np.array([0.7, -0.2, 0.3, 0.4]), np.array([1.0, 0.3, -0.6, 0.2])
    got = seen(simulator, q, v, a)
    h = 2.0**-8

    def gaps(t: float) -> Array:
        """From the placements alone."""
        values = []
        for point in simulator.points:
            T = ug.frame_placement(robot, q + v * t + 0.5 * a * t * t, robot.joints[point.body].child)
            x = T[:3, :3] @ np.array(point.position) + T[:3, 3]
            values.append(expected_contacts(x, np.zeros(3), np.zeros(3), 0.0)[:2, 0])
        return np.concatenate(values)

    g = {k: gaps(k * h) for k in range(-3, 4)}
    first = (45 * (g[1] - g[-1]) - 9 * (g[2] - g[-2]) + (g[3] - g[-3])) / (60 * h)
    second = (270 * (g[1] + g[-1]) - 27 * (g[2] + g[-2]) + 2 * (g[3] + g[-3]) - 490 * g[0]) / (180 * h * h)
    np.testing.assert_allclose(got[:, 0], g[0], rtol=1e-13, atol=1e-13)
    # Differences of the sixth order over 2^-8 s: h^6 = 4e-15 times the motion's derivatives, 1e-16 / h^2 = 1e-11 of round-off.
    np.testing.assert_allclose(got[:, 1], first, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(got[:, 2], second, rtol=0.0, atol=1e-9)


def test_a_gap_that_is_not_finite_is_noticed() -> None:
    simulator = ug.Simulator(ug.load(ug.model_path("branched12")), walls=ug.walls.Circle(2.5), joint_limits=True)
    state = simulator._program.state
    assert simulator._program.system.code.contacts
    for entry in (0, 5, simulator.robot.nq + 2):
        state.y[:] = 0.1
        assert simulator._program.update_gaps(0.0, PRESENT) == 0
        state.y[entry] = np.inf if entry != 5 else np.nan
        assert simulator._program.update_gaps(0.0, PRESENT) != 0


def test_motion_is_the_same_with_the_general_code() -> None:
    """The general step and contacts, which held contacts, controllers and odd walls need, and the robot's own give one motion."""
    robot = ug.load(ug.model_path("branched12"))
    q0 = [-(1 + 3**0.5) / 2] * 2 + [np.pi / 6, np.pi / 6, -2 * np.pi / 3, np.pi / 6, np.pi / 6, -2 * np.pi / 3, np.pi / 3, 0, 2 * np.pi / 3]
    runs = []
    for general in (False, True):
        simulator = ug.Simulator(robot, walls=ug.walls.Circle(2.5), gravity=(0, -9.81, 0))
        if general:
            code = simulator._program.system.code
            code.step = code.dense = code.contacts = 0
        runs.append(simulator.run([*q0, -np.pi / 3], None, 1.5))
    mine, theirs = runs
    assert len(mine.impacts) == len(theirs.impacts) == 5
    # round-off, which five impacts magnify
    np.testing.assert_allclose([impact.time for impact in mine.impacts], [impact.time for impact in theirs.impacts], rtol=0.0, atol=1e-10)
    times = np.linspace(0.0, 1.5, 50)
    np.testing.assert_allclose(np.hstack(mine.at(times)), np.hstack(theirs.at(times)), rtol=0.0, atol=1e-8)
