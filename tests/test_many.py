"""Many runs in compiled code: each is the run of a Simulator, whatever varies, in any order, on any thread; closed forms for what comes out."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.simulation import many

Array = NDArray[np.float64]

G = 9.81
COUNT = 8  # runs of a comparison with a Simulator for each
BRANCHED = [-(1 + 3**0.5) / 2] * 2 + [np.pi / 6, np.pi / 6, -2 * np.pi / 3, np.pi / 6, np.pi / 6, -2 * np.pi / 3, np.pi / 3, 0]
BRANCHED += [2 * np.pi / 3, -np.pi / 3]
IN_CIRCLE: dict[str, Any] = {"walls": ug.walls.Circle(2.5), "gravity": (0.0, -G, 0.0)}
BLOCK = (
    '<robot name="block"><link name="block"><inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" '
    'ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)
CORNERS = [("block", (x, y, -0.1)) for x in (0.1, -0.1) for y in (0.1, -0.1)]
ON_PLANE: dict[str, Any] = {"walls": ug.walls.Plane(), "points": [("ball", (0, 0, 0), 0.1)]}


@pytest.fixture(autouse=True)
def in_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few runs share lanes too, though that does not pay: single simulations do not."""
    monkeypatch.setattr(many, "IN_LANES_FROM", 1)


@cache
def model(name: str, base: Any = "fixed") -> ug.Robot:
    return ug.load(ug.model_path(name), base=base)


def ball(**options: Any) -> ug.Simulator:
    """Of the model "ball", whose only coordinate is its height, above a plane that it touches at q = 0.05 m."""
    return ug.Simulator(model("ball"), walls=ug.walls.Plane(name="ground"), points=[("ball", (0, 0, 0), 0.05)], **options)


def thrown(count: int, seed: int = 0) -> tuple[Array, Array]:
    """Starts of the free ball, at the plane and above, turning."""
    rng = np.random.default_rng(seed)
    q, v = np.zeros((count, 7)), rng.normal(size=(count, 6))
    q[:, 2], q[:, 6] = 0.1 + np.maximum(0.0, rng.uniform(-0.2, 0.4, count)), 1.0
    v[:, 3:] *= 20.0
    return q, v


def same(out: ug.Outcomes, i: int, motion: ug.Trajectory) -> bool:
    """Whether run i is this motion, bit by bit."""
    times = np.array([impact.time for impact in motion.impacts][: out.first_times.shape[1]])
    kept = out.first_times[i][~np.isnan(out.first_times[i])]
    return bool(
        out.status[i] == "complete"
        and np.array_equal(out.q[i], motion.q[-1])
        and np.array_equal(out.v[i], motion.v[-1])
        and out.time[i] == motion.t[-1]
        and (out.impacts[i], out.steps[i]) == (len(motion.impacts), motion.statistics["steps"])
        and np.array_equal(kept, times)
    )


# the runs of a Simulator --------------------------------------------------------------------------------


def varied(name: str) -> tuple[ug.Runs, tuple[str, ...], ug.Robot, dict[str, Any], Callable[[int], dict[str, Any]]]:
    """Runs, what varies in them, robot and options, and the options that run i has of its own."""
    rng = np.random.default_rng(1)
    e, mu = rng.uniform(0.0, 1.0, COUNT), rng.uniform(0.0, 0.8, COUNT)
    mu[::3] = 0.0
    if name == "start, restitution, gravity and torque":
        q, g = np.array(BRANCHED) + 0.01 * rng.standard_normal((COUNT, 12)), rng.normal((0.0, -9.0, 0.0), (3.0, 1.0, 0.0), (COUNT, 3))
        tau = rng.normal(0.0, 5.0, (COUNT, 12))
        runs = ug.Runs(q, duration=rng.uniform(0.3, 0.6, COUNT), restitution=e, gravity=g, torque=tau)
        return (
            runs,
            ("restitution", "gravity", "torque"),
            model("branched12"),
            IN_CIRCLE,
            lambda i: {"restitution": e[i], "gravity": g[i], "torque": tau[i]},
        )
    robot, (q, v) = model("free_ball", "floating"), thrown(COUNT)
    if name == "restitution and gravity":
        g = rng.normal((0.0, 0.0, -9.0), 1.0, (COUNT, 3))
        runs = ug.Runs(q, v, duration=0.8, restitution=e, gravity=g)
        return runs, ("restitution", "gravity"), robot, {**ON_PLANE, "friction": 0.3}, lambda i: {"restitution": e[i], "gravity": g[i]}
    own = np.column_stack([mu, 0.7 * mu])
    options = {**ON_PLANE, "scheme": "time_stepping"} if name == "friction, by time stepping" else ON_PLANE
    runs = ug.Runs(q, v, duration=0.8, restitution=e, friction=own)
    return runs, ("friction", "restitution"), robot, options, lambda i: {"restitution": e[i], "friction": tuple(own[i])}


@pytest.mark.parametrize(
    "name", ["start, restitution, gravity and torque", "restitution and gravity", "friction", "friction, by time stepping"]
)
def test_each_run_is_bit_by_bit_that_of_a_simulator(name: str) -> None:
    runs, vary, robot, options, own = varied(name)
    found = ug.Many(ug.Simulator(robot, **options), vary).run(runs, first_impacts=4)
    for i in range(COUNT):
        simulator = ug.Simulator(robot, **{**options, **own(i)}, dense=False)
        v = None if runs.v is None else np.asarray(runs.v)[i]
        assert same(found, i, simulator.run(np.asarray(runs.q)[i], v, float(np.broadcast_to(runs.duration, COUNT)[i]))), i
    assert found.impacts.any() or found.bounces.any()


def test_what_does_not_vary_is_as_in_the_simulation() -> None:
    """Walls that move, limits, damping, dry joints and a torque, and coefficients that walls and points have."""
    pendulum = model("stopped_pendulum")
    rubbing = {"joint_limits": True, "damping": True, "joint_friction": 0.02, "torque": [0.1], "restitution": 0.6}
    shaken = ug.walls.Plane(restitution=0.7, friction=0.2, motion=ug.walls.Vibration((0, 0, 0.01), 30.0))
    q, v = thrown(3, 4)
    q[:, 2] += 0.1
    for robot, options, starts in (
        (pendulum, rubbing, (np.array([[0.4], [0.9], [0.1]]), np.array([[1.0], [0.0], [-2.0]]))),
        (model("free_ball", "floating"), {**ON_PLANE, "walls": shaken}, (q, v)),
    ):
        simulator = ug.Simulator(robot, **options, dense=False)
        found = ug.Many(simulator, ("restitution", "friction")).run(ug.Runs(starts[0], starts[1], duration=0.7), first_impacts=3)
        assert all(same(found, i, simulator.run(starts[0][i], starts[1][i], 0.7)) for i in range(3))


def test_coefficients_belong_to_the_scene_a_wall_or_a_contact() -> None:
    robot = model("branched12")
    own = ug.walls.Plane((1, 0, 0), (-4, 0, 0), name="left", restitution=0.3, friction=0.1)
    options = {**IN_CIRCLE, "walls": [ug.walls.Circle(2.5), own], "points": ["O9", ("O11", (0, 0, 0), 0.0, 0.6)]}
    many = ug.Many(ug.Simulator(robot, **options), ("restitution", "friction"))
    assert many.wall_names == ("circle", "left")
    names, base = many.contact_names, many.description.candidates().contacts
    rows = many._varied.rows(
        ug.Runs([BRANCHED], duration=1.0, restitution={names[3]: 0.9, "left": [0.5], "": 0.2}, friction={"left": 0.4, "": [[0.8, 0.7]]})
    )
    made = many._varied.inputs(rows, np.array([0]), np.zeros(3))
    walls = np.array([name.partition("|")[2] for name in names])
    expected = np.where(walls == "left", 0.5, 0.2)
    expected[3] = 0.9
    np.testing.assert_array_equal(made["restitution"][0], expected)
    friction = np.array([[0.6, 0.6] if "O11" in name else [0.4, 0.4] if "left" in name else [0.8, 0.7] for name in names])
    np.testing.assert_array_equal(made["friction"].reshape(-1, 2), friction)
    assert base.restitution[3] == 0.3  # the description stays as it is


def test_a_run_again_has_the_walls_and_coefficients_of_its_run() -> None:
    many = ug.Many(ug.Simulator(model("free_ball", "floating"), **ON_PLANE), ("friction", "restitution", "walls"))
    q, v = thrown(4, 8)
    q[:, 2] += 0.2
    runs = ug.Runs(
        q,
        v,
        duration=0.6,
        friction={"ball|plane": [0.0, 0.3, 0.0, 0.5]},
        restitution={"plane": [0.1, 0.2, 0.3, 0.4]},
        walls={"plane": {"point": [[0, 0, 0.01 * i] for i in range(4)], "normal": [[0.01 * i, 0, 1] for i in range(4)]}},
    )
    found = many.run(runs, first_impacts=4)
    for i in range(4):
        motion = many.trajectory(runs, i)
        assert same(found, i, motion) and motion.impacts
        (wall,) = motion.description.walls if motion.description else ()
        assert isinstance(wall, ug.walls.Plane)
        assert (wall.point, wall.restitution) == ((0.0, 0.0, 0.01 * i), [0.1, 0.2, 0.3, 0.4][i])
        plane = ug.walls.Plane((0.01 * i, 0, 1), (0, 0, 0.01 * i), restitution=[0.1, 0.2, 0.3, 0.4][i])
        other = ug.simulate(model("free_ball", "floating"), q[i], v[i], 0.6, **{**ON_PLANE, "walls": plane}, friction=[0, 0.3, 0, 0.5][i])
        np.testing.assert_allclose(found.q[i], other.q[-1], rtol=0.0, atol=1e-10)  # round-off


# in any order, on any thread ----------------------------------------------------------------------------


def all_varied(count: int) -> tuple[ug.Many, ug.Runs]:
    """Of the free ball everything varies, and some runs cannot start."""
    rng = np.random.default_rng(5)
    robot, (q, v) = model("free_ball", "floating"), thrown(count, 6)
    q[::7, 2] = 0.0
    runs = ug.Runs(
        q,
        v,
        duration=rng.uniform(0.2, 0.5, count),
        restitution=rng.uniform(-0.05, 1.0, count),
        friction=rng.uniform(0.0, 0.5, count),
        gravity=rng.normal((0, 0, -9), 1.0, (count, 3)),
        torque=rng.normal(0.0, 0.1, (count, 6)),
        parameters=robot.parameters[None] * rng.uniform(0.5, 2.0, (count, 1, 1)),
        walls={"plane": {"point": rng.normal(0.0, 0.02, (count, 3))}},
    )
    vary = ("restitution", "friction", "gravity", "torque", "parameters", "walls")
    return ug.Many(ug.Simulator(robot, **ON_PLANE), vary), runs


def chosen(runs: ug.Runs, which: Any) -> ug.Runs:
    """Some of the runs."""
    rows: dict[str, Any] = {one.name: getattr(runs, one.name) for one in fields(runs)}
    walls = {"plane": {"point": rows.pop("walls")["plane"]["point"][which]}}
    return ug.Runs(**{name: x[which] for name, x in rows.items()}, walls=walls)


def assert_equal(found: ug.Outcomes, expected: ug.Outcomes, which: Any) -> None:
    for one in fields(found):
        if one.name != "reasons":
            np.testing.assert_array_equal(getattr(found, one.name), getattr(expected, one.name)[which], err_msg=one.name)
    assert found.status == [expected.status[i] for i in which]


def test_order_division_and_threads_do_not_change_a_bit() -> None:
    count = 90
    many, runs = all_varied(count)
    once = many.run(runs, first_impacts=2)
    assert 0 < len(once.reasons) < count and once.impacts.any()
    mixed = np.random.default_rng(7).permutation(count)
    assert_equal(many.run(chosen(runs, mixed), first_impacts=2, threads=2), once, mixed)
    for start in range(0, count, 31):
        part = np.arange(start, min(start + 31, count))
        assert_equal(many.run(chosen(runs, part), first_impacts=2), once, part)


def test_sliding_contacts_do_not_remember_the_run_before() -> None:
    """Forces of contacts that slide are found from those of the moment before."""
    rng = np.random.default_rng(0)
    q, v = np.tile([0, 0, 0.1, 0, 0, 0, 1.0], (6, 1)), np.zeros((6, 6))
    v[:, :2], v[:, 5] = rng.normal(0.0, 0.5, (6, 2)), rng.normal(0.0, 3.0, 6)
    simulator = ug.Simulator(ug.load(BLOCK, base="floating"), walls=ug.walls.Plane(), points=CORNERS, friction=0.3)
    many = ug.Many(simulator)
    together = many.run(ug.Runs(q, v, duration=0.5))
    assert_equal(ug.Many(simulator).run(ug.Runs(q[3:4], v[3:4], duration=0.5)), together, [3])
    assert_equal(many.run(ug.Runs(q[::-1], v[::-1], duration=0.5)), together, np.arange(6)[::-1])


def test_a_run_again_is_the_same_bit_by_bit() -> None:
    many, runs = all_varied(12)
    found = many.run(runs, first_impacts=2)
    for i in range(12):
        if found.status[i] == "complete":
            motion = many.trajectory(runs, i)
            assert same(found, i, motion)
            # the energies of the motion are computed by other code
            assert abs(motion.energies.kinetic[-1] - found.kinetic[i, 1]) < 1e-12 * found.kinetic[i, 1]
            assert abs(motion.energies.potential[0] - found.potential[i, 0]) < 1e-13 * max(1.0, abs(found.potential[i, 0]))


def test_several_threads_may_run_the_same_object_at_once() -> None:
    many, runs = all_varied(60)
    once = many.run(runs, first_impacts=1)
    parts = [np.arange(start, start + 10) for start in range(0, 60, 10)]
    with ThreadPoolExecutor(4) as pool:
        for part, found in zip(parts, pool.map(lambda part: many.run(chosen(runs, part), first_impacts=1), parts), strict=True):
            assert_equal(found, once, part)


def test_progress_is_told_of_every_run() -> None:
    many, runs = all_varied(40)
    ended: list[int] = []
    found = many.run(runs, threads=2, progress=ended.append)
    assert sum(ended) == 40 - sum(reason.startswith("refused: restitution") for reason in found.reasons.values())


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_long_run_and_the_next_is_right() -> None:
    many = ug.Many(ug.Simulator(model("pendulum")))
    expected = many.run(ug.Runs([[0.3]], duration=1.0))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it
    try:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            many.run(ug.Runs(np.full((5, 1), 0.3), duration=1e6), threads=2)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert np.array_equal(many.run(ug.Runs([[0.3]], duration=1.0)).q, expected.q)


# inertial parameters and walls --------------------------------------------------------------------------


def test_parameters_are_those_of_an_edited_robot() -> None:
    robot, rng = model("branched12"), np.random.default_rng(3)
    edited = [robot.with_inertia("link8", mass=m) for m in (0.3, 1.0, 4.0)]
    many = ug.Many(ug.Simulator(robot, **IN_CIRCLE), ("parameters", "gravity"))
    g = rng.normal((0, -9, 0), 1.0, (3, 3)) * (1, 1, 0)
    runs = ug.Runs([BRANCHED] * 3, duration=0.8, parameters=np.array([one.parameters for one in edited]), gravity=g)
    found = many.run(runs)
    for i, one in enumerate(edited):
        motion = ug.Simulator(one, **{**IN_CIRCLE, "gravity": g[i]}).run(BRANCHED, None, 0.8)
        assert found.impacts[i] == len(motion.impacts) > 0
        # round-off, which each impact magnifies
        np.testing.assert_allclose(np.hstack([found.q[i], found.v[i]]), np.hstack([motion.q[-1], motion.v[-1]]), rtol=0.0, atol=1e-9)
        energies = [motion.energies.kinetic[[0, -1]], motion.energies.potential[[0, -1]]]
        np.testing.assert_allclose([found.kinetic[i], found.potential[i]], energies, rtol=0.0, atol=1e-9)
        again = many.trajectory(runs, i)
        assert same(found, i, again)
        np.testing.assert_allclose(
            again.energies.total, motion.energies.total[0], rtol=0.0, atol=1e-8
        )  # of the robot with these parameters
    assert abs(found.q[0] - found.q[1]).max() > 1e-3


def test_parameters_count_in_contacts_that_hold() -> None:
    """A block that lands on its corners, slides and stops, and a gripper with a mimic joint at its limits."""
    block, gripper = ug.load(BLOCK, base="floating"), model("gripper")
    moments = np.diag([0.03, 0.02, 0.04])
    cases: tuple[tuple[ug.Robot, ug.Robot, dict[str, Any], Any, Any], ...] = (
        (
            block,
            block.with_inertia("block", 5.0, (0.02, 0.0, 0.01), moments),
            {"walls": ug.walls.Plane(), "points": CORNERS, "friction": 0.4, "restitution": 0.2},
            [0, 0, 0.11, 0, 0, 0, 1.0],
            [0.8, 0, 0, 0, 0, 0.5],
        ),
        (
            gripper,
            gripper.with_inertia(gripper.joints[-1].child, mass=0.7),
            {"joint_limits": True, "restitution": 0.3, "torque": np.full(3, 5.0)},
            gripper.neutral(),
            np.full(3, 0.3),
        ),
    )
    for robot, edited, options, q, v in cases:
        found = ug.Many(ug.Simulator(robot, **options), ("parameters",)).run(ug.Runs([q], v, duration=0.4, parameters=edited.parameters))
        motion, other = (ug.Simulator(one, **options).run(q, v, 0.4) for one in (edited, robot))
        assert found.complete[0] and found.impacts[0] == len(motion.impacts) > 0
        np.testing.assert_allclose(np.hstack([found.q[0], found.v[0]]), np.hstack([motion.q[-1], motion.v[-1]]), rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(found.kinetic[0], motion.energies.kinetic[[0, -1]], rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(found.potential[0], motion.energies.potential[[0, -1]], rtol=0.0, atol=1e-9)
        impulses = [largest for impact in motion.impacts for largest in impact.impulses]
        assert abs(found.largest_impulse[0] - max(impulses)) < 1e-5  # round-off, magnified where four corners share one impact
        assert abs(motion.energies.total - other.energies.total[0]).max() > 1e-3  # with other parameters


def test_walls_are_those_of_a_simulator_with_other_walls() -> None:
    robot, rng = model("branched12"), np.random.default_rng(4)
    radius, centre = rng.uniform(2.4, 2.6, 4), rng.normal(0.0, 0.02, (4, 3))
    radius[3] = -1.0
    many = ug.Many(ug.Simulator(robot, **IN_CIRCLE), ("walls",))
    found = many.run(ug.Runs([BRANCHED] * 4, duration=0.6, walls={"circle": {"radius": radius, "centre": centre}}))
    for i in range(3):
        motion = ug.Simulator(robot, **{**IN_CIRCLE, "walls": ug.walls.Circle(radius[i], centre[i])}).run(BRANCHED, None, 0.6)
        assert found.impacts[i] == len(motion.impacts) > 0
        np.testing.assert_allclose(found.q[i], motion.q[-1], rtol=0.0, atol=1e-10)  # round-off
    assert found.status[3] == "refused: Circle: radius is -1.0; expected a positive number of metres"


# what comes out, in closed form -------------------------------------------------------------------------


def test_the_time_of_rest_of_a_bouncing_ball() -> None:
    """Impacts at t, t + 2 e t, t + 2 e t + 2 e^2 t, ... end at t (1 + e) / (1 - e)."""
    e, height = np.linspace(0.0, 1.0, 400, endpoint=False), 1.0
    t = np.sqrt(2.0 * height / G)
    expected = t * (1.0 + e) / (1.0 - e)
    found = ug.Many(ball(), ("restitution",)).run(ug.Runs(np.full((400, 1), height + 0.05), duration=1.1 * expected, restitution=e))
    assert found.complete.all()
    # each of some 14 / (1 - e) bounces adds its round-off; the last, of microseconds, land within 1e-9 s
    assert (abs(found.rest - expected) <= 1e-12 * expected / (1.0 - e) + 1e-9).all()
    np.testing.assert_array_equal(found.rest, found.held_from)
    assert np.isnan(ug.Many(ball()).run(ug.Runs([[1.05]], duration=3.0)).rest).all()  # with e = 1 it never rests


def test_numbers_of_a_falling_ball() -> None:
    m, height, e = 1.0, np.array([0.5, 1.0, 2.0]), 0.6
    g = np.array([[0.0, 0.0, -1.62], [0.0, 0.0, -9.81], [0.0, 0.0, -3.7]])
    t, speed = np.sqrt(2.0 * height / -g[:, 2]), np.sqrt(2.0 * height * -g[:, 2])
    runs = ug.Runs(height[:, None] + 0.05, duration=1.5 * t, gravity=g)
    many = ug.Many(ball(restitution=e), ("gravity",))
    found = many.run(runs, first_impacts=2)
    up = e * speed + g[:, 2] * 0.5 * t
    end = 0.05 + e * speed * 0.5 * t + 0.125 * g[:, 2] * t**2
    expected = {
        "time": 1.5 * t,
        "last_impact": t,
        "largest_impulse": m * (1.0 + e) * speed,
        "first_times": np.column_stack([t, np.full(3, np.nan)]),
        "first_impulses": np.column_stack([m * (1.0 + e) * speed, np.full(3, np.nan)]),
        "kinetic": 0.5 * m * np.column_stack([np.zeros(3), up**2]),
        "potential": m * -g[:, 2:] * np.column_stack([height + 0.05, end]),
        "q": end[:, None],
        "v": up[:, None],
    }
    for name, value in expected.items():  # polynomials are integrated up to round-off
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-12, atol=1e-13, err_msg=name)
    assert found.impacts.tolist() == [1, 1, 1] and many.contact_names == ("ball|ground",)
    assert found.first_contacts.tolist() == [[0, -1]] * 3
    assert np.isnan(found.rest).all() and np.isnan(found.held_from).all()


def test_a_sliding_ball_is_held_and_comes_to_rest_only_where_nothing_moves() -> None:
    """A block that slides with v stops at v / (mu g); on a smooth plane it is held from the start and goes on."""
    block = ug.load(BLOCK, base="floating")
    many = ug.Many(ug.Simulator(block, walls=ug.walls.Plane(), points=CORNERS, restitution=0.0), ("friction",))
    q, v, mu = [0, 0, 0.1, 0, 0, 0, 1.0], [0.8, 0, 0, 0, 0, 0.0], np.array([0.3, 0.0])
    found = many.run(ug.Runs([q, q], v, duration=0.5, friction=mu))
    stop = 0.8 / (0.3 * G)
    np.testing.assert_allclose(found.rest, [stop, np.nan], atol=1e-9)  # the tolerance of the integrator
    np.testing.assert_allclose(found.held_from, [stop, 0.0], atol=1e-9)
    np.testing.assert_allclose(found.friction_work, [0.5 * 2.0 * 0.8**2, 0.0], atol=1e-8)


def test_the_deepest_penetration_is_that_of_the_rows() -> None:
    many = ug.Many(ball(restitution=0.9))
    runs = ug.Runs([[1.05]], duration=9.0)
    found, motion = many.run(runs), many.trajectory(runs, 0)
    assert 0.0 < found.deepest[0] <= 1e-9
    assert abs(found.deepest[0] - (0.05 - motion.q[:, 0]).max()) < 1e-16


# runs that fail -----------------------------------------------------------------------------------------


def closing(**options: Any) -> ug.Simulator:
    """A ball below a ceiling that comes down until nothing is left."""
    ceiling = ug.walls.Plane((0, 0, -1), (0, 0, 1), motion=ug.walls.Drift((0, 0, -1)), name="ceiling")
    floor = ug.walls.Plane(name="floor")
    return ug.Simulator(model("ball"), walls=[floor, ceiling], points=["ball"], gravity=(0, 0, 0), **options)


def test_a_run_that_fails_is_a_row_with_the_simulators_reason() -> None:
    e, q = np.array([1.0, 0.5, 0.9, 1.0]), np.array([[0.5], [0.5], [0.2], [0.9]])
    v, duration = np.array([[3.0], [1.0], [-4.0], [0.5]]), np.array([2.0, 2.0, 2.0, 0.05])
    found = ug.Many(closing(), ("restitution",)).run(ug.Runs(q, v, duration=duration, restitution=e))
    for i in range(3):
        with pytest.raises(ug.SimulationError) as caught:
            closing(restitution=e[i], dense=False).run(q[i], v[i], duration[i])
        error = caught.value
        assert found.status[i] == f"failed: {error.reason}"
        assert (found.time[i], *found.q[i], *found.v[i]) == (error.time, *error.q, *error.v)
    assert found.status[3] == "complete" and found.complete.tolist() == [False, False, False, True]
    assert len({reason[:30] for reason in found.reasons.values()}) >= 1 and any("ceiling" in reason for reason in found.reasons.values())


def test_a_run_that_cannot_start_is_a_row_with_what_is_wrong() -> None:
    many = ug.Many(ball(), ("restitution", "gravity"))
    q = np.array([[1.0], [-0.1], [np.nan], [1.0], [1.0], [1.0]])
    duration, g = np.array([0.1, 0.1, 0.1, -1.0, 0.1, 0.1]), np.zeros((6, 3))
    g[5, 1] = np.inf
    found = many.run(ug.Runs(q, duration=duration, restitution=[0.5, 0.5, 0.5, 0.5, 1.2, 0.5], gravity=g), first_impacts=1)
    assert found.status[0] == "complete" and list(found.reasons) == [1, 2, 3, 4, 5]
    with pytest.raises(ug.PenetrationError) as deep:
        ball().run([-0.1], None, 0.1)
    assert found.reasons[1] == f"refused: {deep.value}"
    for i, told in enumerate(("q0 has entries that are not finite", "duration=-1", "restitution=1.2", "gravity has entries"), 2):
        assert found.reasons[i].startswith(f"refused: {told}"), found.reasons[i]
    assert np.isnan(found.q[2:]).all() and np.isnan(found.rest[2:]).all() and (found.first_contacts == -1).all()
    nothing = many.run(ug.Runs(np.zeros((0, 1)), duration=1.0))
    assert len(nothing) == 0 and nothing.status == []


def controlled() -> ug.Simulator:
    return ug.Simulator(model("ball"), controller=lambda t, q, v: [0.0])


def moved_wall() -> ug.Simulator:
    return ug.Simulator(model("ball"), walls=ug.walls.Plane(motion=lambda t: (0, 0, np.sin(t))), points=["ball"])


@pytest.mark.parametrize(
    ("made", "vary", "told"),
    [
        (controlled, (), "a controller"),
        (moved_wall, (), "a wall whose shape or motion is a function"),
        (lambda: ug.Simulator(model("flexible_link")), ("parameters",), "elastic links"),
        (lambda: ug.Simulator(model("ball"), law="newton_equality"), ("friction",), "newton_equality"),
    ],
)
def test_what_compiled_runs_cannot_do_is_refused(made: Any, vary: tuple[str, ...], told: str) -> None:
    with pytest.raises(ug.NotVariableError, match=told):
        ug.Many(made(), vary)


def test_parameters_of_a_robot_without_straight_code_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urdf_gibbs.engine.quantities.STRAIGHT_DEFAULT", 10)  # as if it were too large
    robot = ug.load(ug.model_path("planar3r"))
    with pytest.raises(ug.NotVariableError, match="this large"):
        ug.Many(ug.Simulator(robot), ("parameters",))
    assert ug.Many(ug.Simulator(robot), ("gravity",)).run(ug.Runs([robot.neutral()], duration=0.1)).complete.all()


def test_wrong_arguments_are_told() -> None:
    many = ug.Many(ball(), ("restitution", "walls"))
    start = np.ones((3, 1))
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"q": [1.0]}, r"q has shape \(1,\), expected \(n, 1\)"),
        ({"duration": [1.0, 2.0]}, r"duration has shape \(2,\), expected \(n,\) with n = 3"),
        ({"gravity": (0, 0, 1)}, r"gravity is given and does not vary"),
        ({"restitution": "all"}, "restitution is 'all'"),
        ({"restitution": {"roof": 0.5}}, "no wall or contact named 'roof'"),
        ({"walls": {"ground": {"radius": 1.0}}}, "no number of a Plane named 'radius'"),
        ({"walls": {"roof": {"point": (0, 0, 0)}}}, "no wall named 'roof'"),
    )
    for wrong, told in cases:
        with pytest.raises(ug.ArgumentError, match=told):
            many.run(ug.Runs(**{"q": start, "duration": 1.0, **wrong}))
    with pytest.raises(ug.UnknownNameError, match="mass"):
        ug.Many(ball(), ("mass",))
    with pytest.raises(ug.ArgumentError, match="expected a Simulator"):
        ug.Many(model("ball"))  # type: ignore[arg-type]
    with pytest.raises(ug.ArgumentError, match="run=3, expected 0 to 2"):
        many.trajectory(ug.Runs(start, duration=1.0), 3)
