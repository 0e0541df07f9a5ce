"""Time stepping against closed forms and against the event-driven scheme, to which it converges as the step becomes short."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import FOLDER
from numpy.typing import NDArray
from typer.testing import CliRunner

import urdf_gibbs as ug
from urdf_gibbs import load, simulate, walls
from urdf_gibbs.cli import app
from urdf_gibbs.contact.coulomb import contact_impulses
from urdf_gibbs.contact.points import ContactPoint
from urdf_gibbs.errors import ArgumentError, SimulationError

Array = NDArray[np.float64]

G = 9.81
FLOOR = walls.Plane(normal=(0, 0, 1), point=(0, 0, 0))
ROUND_OFF = 1e-11  # a thousand steps of numbers of order one


def body(mass: float, moments: tuple[float, float, float]) -> ug.Robot:
    """A free body with its centre of mass at its origin."""
    x, y, z = moments
    inertia = f'<mass value="{mass}"/><inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/>'
    return load(f'<robot name="one"><link name="body"><inertial>{inertia}</inertial></link></robot>', base="floating")


def stepped(robot: ug.Robot, q: Any, v: Any, duration: float, step: float, **options: Any) -> ug.Trajectory:
    return simulate(robot, q, v, duration, scheme="time_stepping", step=step, **options)


CUBE = body(2.0, (0.04, 0.04, 0.04))
CORNERS = [("body", (x, y, -0.1)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
ON_FLOOR = [0, 0, 0.1, 0, 0, 0, 1]
BALL = body(1.0, (0.004, 0.004, 0.004))  # a full sphere of radius 0.1
SPHERE = [("body", (0, 0, 0), 0.1)]


def rocking() -> tuple[ug.Robot, Array, dict[str, Any]]:
    """A block of half sizes 0.2 and 0.5 that stands on one corner, 0.1 rad from upright."""
    a, b, angle = 0.2, 0.5, 0.1
    c, s = np.cos(angle), np.sin(angle)
    q = np.array([a - (c * a - s * b), 0.0, s * a + c * b, 0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)])
    options = {"walls": FLOOR, "points": [("body", (x, 0, -b)) for x in (-a, a)], "friction": 5.0, "restitution": 0.0}
    return body(1.0, ((b * b + 0.01) / 3, (a * a + b * b) / 3, (a * a + 0.01) / 3)), q, options


# convergence ------------------------------------------------------------------------------------------


def test_flight_is_of_second_order() -> None:
    """A tumbling body of three different moments of inertia."""
    robot, q, v = body(1.0, (0.01, 0.02, 0.025)), [0, 0, 1, 0, 0, 0, 1], [1, 2, 3, 4, 5, 6]
    exact = simulate(robot, q, v, 1.0)
    errors = [np.abs(stepped(robot, q, v, 1.0, h).v[-1] - exact.v[-1]).max() for h in (4e-3, 2e-3, 1e-3)]
    assert errors[2] < 1e-3
    ratios = np.divide(errors[:-1], errors[1:])
    assert ratios == pytest.approx([4.0, 4.0], rel=0.05)  # the next term of the error is of third order, h times 6 rad/s


def test_planar_joints_turn_as_they_go() -> None:
    robot = load('<robot name="r"><link name="a"><inertial><mass value="1"/><origin xyz=".1 0 0"/>'
                 '<inertia ixx=".01" iyy=".01" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>', base="planar")  # fmt: skip
    exact = simulate(robot, [0, 0, 0], [1, 2, 3], 1.0, gravity=(0, 0, 0))
    errors = [np.abs(stepped(robot, [0, 0, 0], [1, 2, 3], 1.0, h, gravity=(0, 0, 0)).q[-1] - exact.q[-1]).max() for h in (8e-3, 4e-3, 2e-3)]
    assert errors[2] < 1e-4
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx([4.0, 4.0], rel=0.05)


@pytest.mark.parametrize("step", [8e-3, 4e-3, 2e-3, 1e-3, 5e-4])
def test_a_block_slides_to_a_stop(step: float) -> None:
    """From 3 m/s with 0.4: after 0.76452599 s and 1.14678899 m. All is linear but the step in which it stops, v = rest mu g h.

    There it goes ½ v h instead of v² / (2 mu g): too far by mu g h² rest (1 - rest) / 2, an eighth of mu g h² at most.
    """
    run = stepped(CUBE, ON_FLOOR, [3, 0, 0, 0, 0, 0], 1.0, step, walls=FLOOR, points=CORNERS, friction=0.4, restitution=0.0)
    moving = run.t[np.abs(run.v[:, 0]) > 1e-9]
    assert moving[-1] < 0.76452599 < moving[-1] + step + 1e-8
    rest = (0.76452599 - moving[-1]) / step
    assert run.q[-1, 0] - 1.14678899 == pytest.approx(0.4 * G * step**2 * rest * (1.0 - rest) / 2.0, abs=1e-8)
    assert {phase.mode for phase in run.phases if phase.end == np.inf} == {"stick"}
    assert run.contact_forces[1:].sum(axis=1) == pytest.approx(2.0 * G)
    assert run.friction_forces[1 : len(moving)].sum(axis=1)[:, 0] == pytest.approx(-0.4 * 2.0 * G)
    assert run.statistics["deepest"] < ROUND_OFF and run.statistics["worst_certificate"] < 1e-10


def test_a_ball_with_backspin_begins_to_roll() -> None:
    """Radius 0.1, 3 m/s, 40 rad/s backwards, 0.25: rolls from 0.81549439 s, with 1 m/s."""
    q, v = [0, 0, 0.1, 0, 0, 0, 1], [3, 0, 0, 0, -40, 0]
    options: dict[str, Any] = {"walls": FLOOR, "points": SPHERE, "friction": 0.25, "restitution": 0.0}
    exact = simulate(BALL, q, v, 1.2, **options)
    for step in (4e-3, 2e-3, 1e-3):
        run = stepped(BALL, q, v, 1.2, step, **options)
        slip, stick = run.phases
        assert (slip.mode, stick.mode) == ("slip", "stick")
        assert stick.start <= 0.81549439 <= stick.start + step  # the step in which it begins to roll
        assert np.hypot(run.v[-1, 0], run.v[-1, 2]) == pytest.approx(1.0, abs=ROUND_OFF)
        assert 0.0 <= run.q[-1, 0] - exact.q[-1, 0] < 0.25 * G * step**2 / 8.0  # as for the block


def order_of(error: Callable[[float], float], groups: list[Array]) -> tuple[float, float]:
    """The order of convergence from three groups of steps, each shorter than the one before by the same factor, and its standard error.

    Where in a step an impact falls, or a foot begins to slip, is as good as random: error / step is a random number, which the steps of a
    group sample, and its scatter within the groups is the uncertainty. With error = C h (1 + D h) the order between two groups differs
    from 1 by a number that is proportional to h: from two pairs that is extrapolated away, as Richardson does.
    """
    logs = [np.array([np.log(error(float(h)) / h) for h in steps]) for steps in groups]
    means, variances = [log.mean() for log in logs], [log.var(ddof=1) / len(log) for log in logs]
    span = np.log(groups[0]).mean() - np.log(groups[1]).mean()
    more = 1.0 / (np.exp(span) - 1.0)
    weights = np.array([-more, 1.0 + 2.0 * more, -1.0 - more]) / span  # of the means in the extrapolated order
    return 1.0 + float(weights @ means), float(np.sqrt(weights**2 @ variances))


def test_a_rocking_block_converges_with_the_first_order() -> None:
    """Impacts at 0.22380421, 0.55097856 s."""
    robot, q, options = rocking()
    exact = simulate(robot, q, None, 0.7, **options)
    assert [impact.time for impact in exact.impacts] == pytest.approx([0.22380421, 0.55097856], abs=1e-7)
    times = np.array([0.3, 0.4, 0.5, 0.6, 0.7])

    def error(step: float) -> float:
        run = stepped(robot, q, None, 0.7, step, **options)
        assert run.statistics["deepest"] < 1e-8
        found = float(np.abs(run.at(times)[0] - exact.at(times)[0]).max())
        assert found < 10.0 * step  # rad/s: some times the 1 rad/s of the motion
        return found

    order, uncertainty = order_of(error, [np.linspace(0.5, 1.0, 16) * h for h in (9e-3, 3e-3, 1e-3)])
    assert uncertainty < 0.15  # half an order would be more than three of it
    assert abs(order - 1.0) < 3.0 * uncertainty


def test_a_quadruped_converges_with_the_first_order() -> None:
    """Go2 on bent legs lands sliding, on four feet at once, and is caught by a PD controller: its feet slip, stick and slip again, and no
    order of impacts decides. The controller is called at ends of steps of both schemes, 125 times per second."""
    robot = load(FOLDER / "go2_description/urdf/go2.urdf", base="floating")
    q, v = np.zeros(robot.nq), np.zeros(robot.nv)
    q[6], v[0], v[1] = 1.0, 0.5, 0.2
    for joint in robot.joints[1:]:
        q[joint.iq] = 0.0 if "hip" in joint.name else 0.8 if "thigh" in joint.name else -1.6
    feet = [(f"{leg}_foot", (0.0, 0.0, 0.0), 0.022) for leg in ("FL", "FR", "RL", "RR")]
    q[2] = 0.022 - min(ug.frame_placement(robot, q, foot)[2, 3] for foot, _, _ in feet)
    held = q[7:].copy()

    def controller(t: float, q: Array, v: Array) -> Array:
        return np.concatenate([np.zeros(6), 60.0 * (held - q[7:]) - 1.0 * v[6:]])

    options: dict[str, Any] = {"walls": FLOOR, "points": feet, "friction": 0.4, "restitution": 0.0}
    options |= {"controller": controller, "controller_rate": 125.0}
    exact, times = simulate(robot, q, v, 0.4, **options), np.linspace(0.04, 0.4, 10)

    def error(step: float) -> float:
        return float(np.abs(stepped(robot, q, v, 0.4, step, **options).at(times)[0] - exact.at(times)[0]).max())

    order, uncertainty = order_of(error, [8e-3 / np.arange(n, 2 * n + 1, n // 4) for n in (4, 12, 36)])
    assert uncertainty < 0.15
    assert abs(order - 1.0) < 3.0 * uncertainty
    assert error(2.5e-4) < 1.0 * 2.5e-4  # m/s, rad/s: the speed of the motion


# energy -----------------------------------------------------------------------------------------------


def test_elastic_bounces_keep_their_energy() -> None:
    run = stepped(BALL, [0, 0, 0.6, 0, 0, 0, 1], None, 3.0, 1e-3, walls=FLOOR, points=SPHERE, restitution=1.0)
    energy = run.energies.total
    assert run.statistics["bounces"] >= 4 and not run.impacts and not run.phases
    assert np.abs(energy - energy[0]).max() < 1e-9


def test_bounces_end() -> None:
    """Half of the speed at each bounce: at rest after t1 (1 + e) / (1 - e) = 3 t1, up to what the steps leave open."""
    run = stepped(BALL, [0, 0, 0.6, 0, 0, 0, 1], None, 2.0, 1e-3, walls=FLOOR, points=SPHERE, restitution=0.5)
    (phase,) = [phase for phase in run.phases if phase.end == np.inf]
    assert phase.start == pytest.approx(3.0 * np.sqrt(2.0 * 0.5 / G), abs=0.02)  # a bounce is late or early by a step, and then longer
    assert abs(run.q[-1, 2] - 0.1) < 1e-9 and abs(run.v[-1, 2]) < ROUND_OFF


@pytest.mark.parametrize("law", ["newton", "moreau"])
def test_tossed_boxes_lose_energy(law: Any) -> None:
    """Without restitution, from many poses. Rows are at ends of steps, half a step from where the gaps are kept: what turns with ω about
    a corner at r is higher there by up to r (ω h)² / 8, and that times the weight is what the energy may waver."""
    rng = np.random.default_rng(3)
    corners = [("body", (x, y, z)) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    for _ in range(5):
        q = np.concatenate([[0, 0, 0.5], rng.normal(size=4)])
        q[3:] /= np.linalg.norm(q[3:])
        v = rng.normal(size=6) * [1, 1, 1, 5, 5, 5]
        run = stepped(CUBE, q, v, 1.5, 1e-3, walls=FLOOR, points=corners, friction=0.5, restitution=0.0, law=law)
        energy, spin = run.energies.total, np.linalg.norm(run.v[:, 3:], axis=1).max()
        waver = 2.0 * G * 0.18 * (spin * 1e-3) ** 2
        assert np.diff(energy).max() < waver
        assert np.maximum.accumulate(energy[::-1])[::-1][1:].max() < energy[0] + waver
        assert run.statistics["worst_certificate"] < 1e-8


# robots -----------------------------------------------------------------------------------------------


def test_a_dropped_quadruped() -> None:
    robot = load(FOLDER / "go2_description/urdf/go2.urdf", base="floating")
    q = np.zeros(robot.nq)
    q[2], q[6] = 0.5, 1.0
    for joint in robot.joints:
        if joint.nq == 1:
            q[joint.iq] = np.clip(0.0, joint.lower + 0.1, joint.upper - 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = stepped(robot, q, None, 1.0, 1e-3, walls=FLOOR, friction=0.7, restitution=0.0, joint_limits=True)
    assert run.status == "complete" and run.t[-1] == 1.0
    assert run.statistics["worst_certificate"] < 1e-6
    # Gaps that turn with ω = 20 rad/s at 0.3 m accelerate by 120 m/s², and ½h² of that is what one step can add.
    assert run.statistics["deepest"] < 1e-4
    normal, friction = run.contact_forces, np.linalg.norm(run.friction_forces, axis=2)
    assert normal.min() >= 0.0 and (normal > 0.0).sum(axis=1).max() >= 4
    assert (friction - 0.7 * normal).max() < 1e-6 * normal.max()
    energy = run.energies.total
    assert energy[-1] < energy[0]


# controllers, damping, walls ----------------------------------------------------------------------------


def test_a_controller_is_called_at_its_rate_or_in_each_step() -> None:
    calls: list[float] = []

    def controller(t: float, q: Array, v: Array) -> Array:
        calls.append(t)
        return np.array([0.0, 0.0, 2.0 * G, 0.0, 0.0, 0.0])

    run = stepped(CUBE, [0, 0, 1, 0, 0, 0, 1], None, 0.1, 1e-3, controller=controller, controller_rate=100.0)
    assert calls == pytest.approx(np.arange(10) / 100.0)
    assert np.abs(run.v).max() < ROUND_OFF
    calls.clear()
    stepped(CUBE, [0, 0, 1, 0, 0, 0, 1], None, 0.1, 1e-3, controller=controller)
    assert calls == pytest.approx(np.arange(100) / 1000.0)


def test_damping_of_joints_is_of_second_order_and_stable() -> None:
    """v = exp(-d t / m); with steps much longer than m / d it still decays."""
    text = (
        '<robot name="r"><link name="w"/><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="j" type="prismatic"><parent link="w"/><child link="a"/><axis xyz="1 0 0"/>'
        '<limit lower="-9" upper="9" effort="1" velocity="1"/><dynamics damping="{}"/></joint></robot>'
    )
    robot = load(text.format(3.0))
    errors = [abs(stepped(robot, [0], [1], 1.0, h, damping=True).v[-1, 0] - np.exp(-1.5)) for h in (0.02, 0.01)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.01)
    assert abs(stepped(load(text.format(1e4)), [0], [1], 1.0, 0.01, damping=True).v[-1, 0]) < 0.1


def test_joint_limits_stop() -> None:
    robot = load(
        '<robot name="r"><link name="w"/><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="j" type="prismatic"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/>'
        '<limit lower="-0.3" upper="9" effort="1" velocity="1"/></joint></robot>'
    )
    run = stepped(robot, [0], None, 1.0, 1e-3, joint_limits=True, restitution=0.0)
    assert run.q.min() > -0.3 - 1e-12 and run.q[-1, 0] == pytest.approx(-0.3, abs=1e-12)
    assert run.contact_forces[-1].max() == pytest.approx(2.0 * G)


def test_a_lift_carries_a_block() -> None:
    lift = walls.Plane(normal=(0, 0, 1), point=(0, 0, 0), motion=walls.Vibration(amplitude=(0, 0, 0.1), omega=3.0))
    run = stepped(CUBE, ON_FLOOR, [0, 0, 0.3, 0, 0, 0], 2.0, 1e-3, walls=lift, points=CORNERS, friction=0.5, restitution=0.0)
    exact = simulate(CUBE, ON_FLOOR, [0, 0, 0.3, 0, 0, 0], 2.0, walls=lift, points=CORNERS, friction=0.5, restitution=0.0)
    assert abs(run.q[-1, 2] - exact.q[-1, 2]) < 1e-5  # the wall accelerates by 0.9 m/s², an eighth of h² of which is 1e-7


# what is asked for --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"law": "poisson"}, "law='poisson' with scheme='time_stepping'"),
        ({"step": 0.0}, "step=0.0, expected more than 0"),
        ({"step": np.inf}, "step=inf"),
        ({"scheme": "euler"}, "euler"),
        ({"controller": lambda t, q, v, sides: np.zeros(6), "switches": lambda t, q, v: v[:1]}, "switches with scheme"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        simulate(CUBE, ON_FLOOR, None, 0.1, **{"scheme": "time_stepping", **options})


def test_the_last_step_ends_with_the_run() -> None:
    run = stepped(CUBE, [0, 0, 1, 0, 0, 0, 1], None, 0.0105, 1e-3)
    assert run.t == pytest.approx([*np.arange(11) / 1000.0, 0.0105]) and run.t[-1] == 0.0105
    assert run.q[-1, 2] == pytest.approx(1.0 - 0.5 * G * 0.0105**2)
    assert run.dense is None and run.settings["scheme"] == "time_stepping" and run.settings["step"] == 1e-3


def test_walls_that_close_in_have_no_solution() -> None:
    floor = walls.Plane(normal=(0, 0, 1), point=(0, 0, 0), name="floor", motion=walls.Vibration(amplitude=(0, 0, 0.2), omega=2.0))
    ceiling = walls.Plane(normal=(0, 0, -1), point=(0, 0, 0.25), name="ceiling")
    with pytest.raises(SimulationError, match="no motion exists"):
        stepped(BALL, [0, 0, 0.11, 0, 0, 0, 1], [0, 0, 0.4, 0, 0, 0], 1.0, 1e-3, walls=[floor, ceiling], points=SPHERE, restitution=0.0)


def test_many_contacts() -> None:
    """Thirty boxes on four corners each: more contacts than are solved by following a curve, and each box stops as if alone."""
    inertia = '<mass value="2"/><inertia ixx=".04" iyy=".04" izz=".04" ixy="0" ixz="0" iyz="0"/>'
    boxes = "".join(
        f'<link name="b{i}"><inertial>{inertia}</inertial></link>'
        f'<joint name="j{i}" type="floating"><parent link="w"/><child link="b{i}"/></joint>'
        for i in range(30)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the world has no mass
        robot = load(f'<robot name="boxes"><link name="w"/>{boxes}</robot>')
    points = [(f"b{i}", place) for i in range(30) for _, place in CORNERS]
    speeds = 0.5 + 0.1 * np.arange(30)
    v = np.concatenate([[speed, 0, 0, 0, 0, 0] for speed in speeds])
    run = stepped(robot, np.tile(ON_FLOOR, 30), v, 1.0, 4e-3, walls=FLOOR, points=points, friction=0.4, restitution=0.0)
    assert (run.contact_forces[1] > 0.0).sum() >= 100
    assert run.statistics["worst_certificate"] < 1e-8 and run.statistics["deepest"] < 1e-9
    assert run.q[-1, ::7] == pytest.approx(speeds**2 / (2.0 * 0.4 * G), abs=0.4 * G * 4e-3**2)  # the last step of each, as above


def test_towers_of_boxes() -> None:
    """Ten towers of five boxes, whose corners are balls: 200 contacts, 160 of them between boxes, and ten islands of twenty.

    They stand: each level carries all that is above it, to rounding.
    """
    inertia = '<mass value="1"/><inertia ixx=".0067" iyy=".0067" izz=".0067" ixy="0" ixz="0" iyz="0"/>'
    names = [f"b{tower}{level}" for tower in range(10) for level in range(5)]
    boxes = "".join(
        f'<link name="{name}"><inertial>{inertia}</inertial></link>'
        f'<joint name="j{name}" type="floating"><parent link="w"/><child link="{name}"/></joint>'
        for name in names
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the world has no mass
        robot = load(f'<robot name="boxes"><link name="w"/>{boxes}</robot>')
    sides = [(x, y, z) for x in (-0.08, 0.08) for y in (-0.08, 0.08) for z in (-0.08, 0.08)]
    points = [ContactPoint(f"{name}.{i}", body, place, 0.02) for body, name in enumerate(names) for i, place in enumerate(sides)]
    pairs = [(f"b{t}{n}.{i}", f"b{t}{n + 1}.{i - 1}") for t in range(10) for n in range(4) for i in (1, 3, 5, 7)]
    q = np.concatenate([[0.5 * t, 0.0, 0.1 + 0.2 * n, 0, 0, 0, 1] for t in range(10) for n in range(5)])
    run = stepped(robot, q, None, 0.05, 1e-3, walls=FLOOR, points=points, pairs=pairs, friction=0.7, restitution=0.0)
    forces = run.contact_forces[-1]
    assert (forces > 0.0).sum() == 200 and run.statistics["worst_certificate"] < 1e-8
    assert forces.sum() == pytest.approx(10 * (5 + 4 + 3 + 2 + 1) * G, rel=1e-9)
    assert np.abs(run.q[-1] - q).max() < 1e-9 and np.abs(run.v[-1]).max() < 1e-9


def test_impulses_below_their_cones_are_no_bad_start() -> None:
    """A start straight below a cone has no direction."""
    K, b = np.eye(300), np.tile([-1.0, 0.5, 0.0], 100)
    found = contact_impulses(K, b, 0.3, start=np.tile([-1.0, 0.0, 0.0], 100))
    assert found.certificate < 1e-10
    assert found.impulses == pytest.approx(np.tile([1.0, -0.3, 0.0], 100))


def test_what_brings_depths_back_puts_no_energy_in() -> None:
    """A body that slides inside a smooth cylinder of radius 1 sinks by ½h² v²/r in each step, as it goes straight ahead.

    Bringing it back lifts it, which its kinetic energy pays for. What is left is of second order: rows are half a step from where the
    gap is closed, so that heights waver by r (h v / r)² / 8, with v below 4.5 m/s and r = 0.9 m. If nobody paid, all lifts together would
    be a hundred times as much and more.
    """
    bowl = walls.Cylinder(1.0, axis=(0, 1, 0))
    for step in (4e-3, 2e-3, 1e-3):
        run = stepped(BALL, [0, 0, -0.9, 0, 0, 0, 1], [4, 0, 0, 0, 0, 0], 3.0, step, walls=bowl, points=SPHERE, restitution=0.0)
        energy, speeds = run.energies.total, (run.v[:, :3] ** 2).sum(axis=1)
        waver = G * step**2 * speeds.max() / 0.9 / 8.0
        assert energy.max() - energy[0] < waver and energy[-1] < energy[0] + waver
        assert 0.0 < run.statistics["deepest"] < 0.5 * step**2 * speeds.max() / 0.9 + 1e-8
        lifts = 0.5 * step**2 * speeds / 0.9 * -run.q[:, 2] / 0.9
        assert G * lifts.sum() > 100.0 * waver


def test_limits_hold_while_depths_are_brought_back() -> None:
    """A double pendulum thrown on hills: what lifts it must not bend it beyond its limits, which are linear and so hold to 1e-8 rad."""
    robot = load(FOLDER / "double_pendulum_description/urdf/double_pendulum.urdf", base="floating")
    rng = np.random.default_rng([0, zlib.crc32(b"double_pendulum/double_pendulum"), 0])
    q = robot.random(rng)
    q[:3] = 0.0
    q[2] = 0.1 + rng.uniform(0.2, 1.0) - min(ug.frame_placement(robot, q, joint.child)[2, 3] for joint in robot.joints)
    hills = walls.HeightField(rng.uniform(-0.1, 0.1, (17, 17)), x=(-4.0, 4.0), y=(-4.0, 4.0))
    run = stepped(robot, q, None, 3.0, 1e-3, walls=hills, friction=0.7, restitution=0.0, joint_limits=True)
    angles = [joint.iq for joint in robot.joints if joint.nq == 1]
    low, high = ([getattr(robot.joints[i + 1], end) for i in range(len(angles))] for end in ("lower", "upper"))
    assert (run.q[:, angles] - high).max() < 1e-8 and (low - run.q[:, angles]).max() < 1e-8
    assert run.statistics["deepest"] > 1e-6  # there was something to bring back


def test_a_step_is_divided_where_something_turns_fast() -> None:
    """From 300 rad/s: no step turns by more than 0.1 rad, all multiples of the step are there, and energy is kept to (0.1)² and less."""
    robot = body(1.0, (0.01, 0.02, 0.025))
    run = stepped(robot, [0, 0, 1, 0, 0, 0, 1], [0, 0, 0, 30, 300, 10], 0.1, 1e-3, gravity=(0, 0, 0))
    assert (np.diff(run.t) * np.abs(run.v[1:, 3:]).max(axis=1)).max() < 0.1 + 1e-9
    assert np.abs(run.t[:, None] - np.arange(101) * 1e-3).min(axis=0).max() < 1e-15
    energy = run.energies.total
    assert np.abs(energy / energy[0] - 1.0).max() < 0.01 and run.statistics["steps"] > 300
    slow = stepped(robot, [0, 0, 1, 0, 0, 0, 1], [0, 0, 0, 3, 30, 1], 0.1, 1e-3, gravity=(0, 0, 0))
    assert slow.statistics["steps"] == 100


def test_divided_steps_sink_no_deeper() -> None:
    """A ball with a spin that decays as it slides: steps become longer as it becomes slower, and its gap stays closed."""
    run = stepped(
        BALL, [0, 0, 0.101, 0, 0, 0, 1], [0, 0, -1, 0, 300, 0], 1.0, 1e-3, walls=FLOOR, points=SPHERE, friction=2.0, restitution=0.0
    )
    lengths = np.diff(run.t)
    assert lengths.min() < 3e-4 and lengths[-1] == pytest.approx(1e-3)
    assert run.statistics["deepest"] < 1e-9 and run.q[:, 2].min() > 0.1 - 1e-9
    assert np.diff(run.energies.total).max() < 1e-9 * run.energies.total[0]


def test_what_lands_as_steps_become_longer_does_not_sink_in() -> None:
    """A slide falls at 1 m/s, with a rotor on it whose spin decays: steps double now and then, at one of these heights as it lands."""
    inertias = [f'<inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/>' for i in (1, 0.001)]
    robot = load(
        '<robot name="r"><link name="w"/>'
        + "".join(
            f'<link name="{n}"><inertial><mass value="1"/>{i}</inertial></link>' for n, i in zip(("m", "rotor"), inertias, strict=True)
        )
        + '<joint name="z" type="prismatic"><parent link="w"/><child link="m"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint><joint name="spin" type="continuous"><parent link="m"/>'
        '<child link="rotor"/><axis xyz="0 0 1"/><dynamics damping="0.05"/></joint></robot>'
    )
    landed = set()
    for height in np.linspace(0.005, 0.045, 161):
        run = stepped(robot, [height, 0], [-1, 300], 0.06, 1e-3, walls=FLOOR, points=[("m", (0, 0, 0))], restitution=0.0, damping=True)
        assert run.statistics["deepest"] < 1e-12
        last = int(np.argmax(run.q[:, 0] < 1e-9))
        landed.add(round(float((run.t[last + 1] - run.t[last]) / (run.t[last] - run.t[last - 1]))))
    assert 2 in landed


def test_bounces_that_would_give_energy_do_not() -> None:
    """Kane and Levinson's double pendulum, whose tip strikes a rough floor: by Newton's law with a cone it gains 59 % of its energy."""
    rod = f'<inertial><origin xyz="0 0 -.5"/><mass value="1"/><inertia ixx="1" iyy="{1 / 12}" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    hinge = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 {3}"/><axis xyz="0 -1 0"/></joint>'
    text = f'<link name="w"/><link name="a">{rod}</link><link name="b">{rod}</link>'
    text += hinge.format("j", "w", "a", 0) + hinge.format("k", "a", "b", -1)
    robot, q, v = load(f'<robot name="kane">{text}</robot>'), np.radians([20.0, 10.0]), np.array([-1.0, -1.0])
    floor = walls.Plane(normal=(0, 0, 1), point=(0, 0, -np.cos(q[0]) - np.cos(q.sum()) - 1e-4))
    options: dict[str, Any] = {"walls": floor, "points": [("b", (0, 0, -1.0))], "friction": 0.5, "restitution": 0.5, "law": "newton"}
    (impact,) = simulate(robot, q, v, 0.01, **options).impacts
    assert impact.energy_gain and impact.energy_after > 1.5 * impact.energy_before
    energy = stepped(robot, q, v, 0.01, 1e-3, **options).energies
    assert np.diff(energy.total).max() < (1e-3 * 2.0) ** 2 * energy.kinetic.max()  # (h ω)²


# a run from outside -------------------------------------------------------------------------------------


def test_progress_and_thinning() -> None:
    seen: list[tuple[float, int]] = []
    options: dict[str, Any] = {
        "walls": FLOOR,
        "points": CORNERS,
        "friction": 0.4,
        "restitution": 0.0,
        "scheme": "time_stepping",
        "step": 1e-3,
    }
    simulator = ug.Simulator(CUBE, memory=1e5, **options)
    run = simulator.run(ON_FLOOR, [3, 0, 0, 0, 0, 0], 2.0, lambda t, impacts: seen.append((t, impacts)))
    whole = ug.Simulator(CUBE, **options).run(ON_FLOOR, [3, 0, 0, 0, 0, 0], 2.0)
    assert seen[-1] == (2.0, 0) and np.all(np.diff([t for t, _ in seen]) >= 0.0)
    assert run.statistics["thinned"] > 0 and len(run.t) < len(whole.t) == 2001
    assert run.t[0] == 0.0 and run.t[-1] == 2.0 and np.array_equal(run.q[-1], whole.q[-1])


def test_ctrl_c_returns_what_there_is() -> None:
    def controller(t: float, q: Array, v: Array) -> Array:
        if t > 0.05:
            raise KeyboardInterrupt
        return np.zeros(6)

    run = stepped(CUBE, [0, 0, 1, 0, 0, 0, 1], None, 1.0, 1e-3, controller=controller)
    assert run.status == "interrupted" and run.t[-1] == pytest.approx(0.051, abs=1.1e-3)


@pytest.mark.parametrize("name", ["time_stepping", "time-stepping"])
def test_scenarios_know_the_scheme(name: str, tmp_path: Path) -> None:
    text = f'duration = 0.1\nscheme = "{name}"\nstep = 2e-3\n[robot]\nfile = "pendulum"\n'
    (tmp_path / "a.toml").write_text(text)
    run = simulate(**ug.read_scenario(tmp_path / "a.toml").arguments())
    assert run.settings["scheme"] == "time_stepping" and len(run.t) == 51


def test_the_command_takes_scheme_and_step() -> None:
    result = CliRunner().invoke(app, ["simulate", "backspin", "--scheme", "time-stepping", "--step", "2e-3"])
    assert result.exit_code == 0 and "in 750 steps" in result.output, result.output
    for wrong in (["--scheme", "euler"], ["--step", "0"]):
        assert CliRunner().invoke(app, ["simulate", "backspin", *wrong]).exit_code == 2
