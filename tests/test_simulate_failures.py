"""What a simulation says when it cannot begin or go on, what it keeps then, and controllers and damping against closed forms."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from random_trees import random_tree
from urdf_text import inertial, joint, link, massless, robot

from urdf_gibbs import (
    ArgumentError,
    PenetrationError,
    Robot,
    SimulationError,
    Simulator,
    SingularMassMatrixError,
    Trajectory,
    UnknownNameError,
    UrdfGibbsError,
    frame_placement,
    load,
    simulate,
    walls,
)
from urdf_gibbs.contact.points import default_points

Array = NDArray[np.float64]

G = 9.81
WEIGHTLESS = (0.0, 0.0, 0.0)
ROUND_OFF = 1e-12  # a few hundred operations on numbers of order one, eps = 2e-16; polynomials are integrated to that
FLIGHT = 1e-8  # what the integrator's 1e-10 in each of some tens of steps adds up to

BALL = robot(link("w", ""), link("ball"), joint("z", "prismatic", "w", "ball", axis=(0, 0, 1)))
DAMPED = BALL.replace("</joint>", '<dynamics damping="0.7"/></joint>')
BLOCK = robot(link("block", inertial(2.0, moments=(0.2, 0.3, 0.4))))
CORNERS = [("block", (x, y, -0.2)) for x in (0.5, -0.5) for y in (0.5, -0.5)]
PAIR = robot(link("w", ""), *(link(f"b{k}") + joint(f"j{k}", "prismatic", "w", f"b{k}", axis=(1, 0, 0)) for k in range(2)))


@cache
def made(text: str, base: Any = "fixed") -> Robot:
    return load(text, base=base)


def ball(duration: float = 1.0, **options: Any) -> Trajectory:
    """A ball without weight that starts at 1 m with 0.5 m/s."""
    return simulate(made(BALL), [1.0], [0.5], duration, **{"gravity": WEIGHTLESS, **options})


# penetration ------------------------------------------------------------------------------------------


def test_a_start_inside_a_wall_names_point_wall_and_depth() -> None:
    with pytest.raises(PenetrationError, match=r"ball is 0\.1 m inside floor") as caught:
        simulate(made(BALL), [-0.1], None, 1.0, walls.Plane(name="floor"))
    ((point, wall, depth),) = caught.value.contacts
    assert (point, wall) == ("ball", "floor") and abs(depth - 0.1) < ROUND_OFF


def test_all_that_is_inside_is_named_the_deepest_first() -> None:
    q = np.array([0, 0, 0.15, 0, np.sin(0.05), 0, np.cos(0.05)])  # turned by 0.1 rad about y: +x is lower
    with pytest.raises(PenetrationError) as caught:
        simulate(made(BLOCK, "floating"), q, None, 1.0, walls.Plane(), points=CORNERS)
    depths = [depth for *_, depth in caught.value.contacts]
    low = 0.2 * np.cos(0.1) + 0.5 * np.sin(0.1) - 0.15
    assert [point for point, *_ in caught.value.contacts] == ["block", "block#2"]
    assert np.abs(np.array(depths) - low).max() < ROUND_OFF


def test_pairs_and_limits_can_be_too_deep() -> None:
    with pytest.raises(PenetrationError, match="inside each other") as caught:
        simulate(made(PAIR), [0, 0.9], None, 1.0, points=[("b0", (0, 0, 0), 0.5), ("b1", (0, 0, 0), 0.5)], pairs=[("b0", "b1")])
    # The gap of a pair is a quadratic of the distance, (d^2 - 1) / 2 over its slope d.
    assert caught.value.contacts[0][:2] == ("b0-b1", "") and abs(caught.value.contacts[0][2] - 0.1) < 1e-2
    with pytest.raises(PenetrationError) as caught:
        simulate(made(BALL), [1.25], None, 1.0, joint_limits=True)
    assert caught.value.contacts == (("z", "upper", 0.25),)


def test_a_landing_leaves_no_other_contact_behind() -> None:
    """A tree whose contacts close one just after the other, in steps so coarse that the interpolant confuses their order: a point would
    be left 86 mm below the plane."""
    rng = np.random.default_rng(383)
    tree = load(random_tree(23, 4, ("revolute", "continuous", "prismatic")), base="floating")
    q = tree.random(rng)
    q[:3] = 0.0, 0.0, rng.uniform(1.5, 3.0)
    v = rng.normal(size=tree.nv) * rng.uniform(0.1, 10.0)
    tolerance = 10.0 ** rng.uniform(-9, -2)  # 2.6e-4
    ground, ceiling = walls.Plane(), walls.Plane((0.0, 0.0, -1.0), (0.0, 0.0, 4.0))
    found = simulate(tree, q, v, 1.0, [ground, ceiling], restitution=0.0, rtol=tolerance, atol=tolerance)
    assert len(found.impacts) > 2
    for point in default_points(tree):
        for place in (frame_placement(tree, row, point.link)[:3, 3] for row in found.q):
            assert ground.gap(place) > -1e-9 and ceiling.gap(place) > -1e-9, point.name


def test_rounding_is_no_penetration() -> None:
    assert simulate(made(BALL), [-1e-10], None, 0.1, walls.Plane()).status == "complete"


# controllers that fail --------------------------------------------------------------------------------


def wrong_after(moment: float, answer: Any) -> Any:
    """A controller that pushes with 1 N, and after some time does ``answer``."""

    def controller(t: float, q: Array, v: Array) -> Any:
        if t <= moment:
            return [1.0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return controller


WRONG = [
    ([np.nan], "not finite: z nan", ArgumentError),
    ([np.inf], "not finite: z inf", ArgumentError),
    ([1.0, 2.0, 3.0], r"shape \(3,\), expected \(1,\)", ArgumentError),
    ([[1.0]], r"shape \(1, 1\), expected \(1,\)", ArgumentError),
    (1.0, r"shape \(\), expected \(1,\)", ArgumentError),
    (None, r"expected \(1,\)", ArgumentError),
    ("left", "left", ValueError),
    (ZeroDivisionError("by nothing"), "ZeroDivisionError: by nothing", ZeroDivisionError),
]


@pytest.mark.parametrize("rate", [None, 100.0])
@pytest.mark.parametrize(("answer", "message", "cause"), WRONG)
def test_a_controller_that_fails_leaves_the_good_part(rate: float | None, answer: Any, message: str, cause: type) -> None:
    with pytest.raises(SimulationError, match=message) as caught:
        ball(controller=wrong_after(0.505, answer), controller_rate=rate)
    error = caught.value
    assert isinstance(error.__cause__, cause)
    good = error.trajectory
    assert 0.0 < error.time <= 0.505 if rate is None else abs(error.time - 0.51) < ROUND_OFF  # the first call after that
    assert good.t[-1] == error.time and good.status.startswith("failed: the controller failed")
    assert np.array_equal(good.q[-1], error.q) and np.array_equal(good.v[-1], error.v)
    assert np.abs(good.q[:, 0] - (1 + 0.5 * good.t + 0.5 * good.t**2)).max() < ROUND_OFF
    assert np.abs(good.v[:, 0] - (0.5 + good.t)).max() < ROUND_OFF
    assert f"t = {error.time:.9g} s" in str(error)


@pytest.mark.parametrize("rate", [None, 100.0])
def test_a_controller_that_fails_at_once_leaves_the_start(rate: float | None) -> None:
    with pytest.raises(SimulationError) as caught:
        ball(controller=wrong_after(-1.0, [np.nan]), controller_rate=rate)
    assert caught.value.time == 0.0 and caught.value.trajectory.t.tolist() == [0.0]
    assert caught.value.q.tolist() == [1.0] and caught.value.v.tolist() == [0.5]


def test_the_good_part_can_be_kept(tmp_path: Path) -> None:
    with pytest.raises(SimulationError) as caught:
        simulate(made(BALL), [0.1], None, 5.0, walls.Plane(), restitution=0.9, controller=wrong_after(1.0, [np.nan]))
    good = caught.value.trajectory
    again = Trajectory.load(good.save(tmp_path / "good"))
    assert again.status == good.status and np.array_equal(again.q, good.q) and len(again.impacts) == len(good.impacts) >= 3


def test_a_simulator_works_again_after_a_failure() -> None:
    bad = [True]

    def controller(t: float, q: Array, v: Array) -> Array:
        if bad[0] and t > 0.5:
            raise ZeroDivisionError
        return -q

    simulator = Simulator(made(BALL), gravity=WEIGHTLESS, controller=controller)
    with pytest.raises(SimulationError):
        simulator.run([1.0], [0.5], 1.0)
    bad[0] = False
    found = simulator.run([1.0], [0.5], 1.0)
    assert found.status == "complete" and abs(found.q[-1, 0] - np.cos(1) - 0.5 * np.sin(1)) < FLIGHT


# motion that cannot go on -----------------------------------------------------------------------------


def test_a_massless_link_stops_with_the_name_of_its_joint() -> None:
    text = robot(
        link("w", ""),
        link("arm"),
        massless("tip"),
        joint("shoulder", "revolute", "w", "arm", axis=(0, 1, 0)),
        joint("wrist", "revolute", "arm", "tip", axis=(0, 1, 0), xyz=(1, 0, 0)),
    )
    with pytest.raises(SimulationError, match="wrist") as caught:
        simulate(load(text), [0.1, 0.2], None, 1.0)
    assert "shoulder" not in str(caught.value) and "singular" in str(caught.value)
    assert isinstance(caught.value.__cause__, SingularMassMatrixError) and caught.value.time == 0.0


def test_a_motion_that_diverges_stops_before_it_overflows() -> None:
    with pytest.raises(SimulationError, match=r"step has become too small|not finite") as caught:
        ball(2.0, controller=lambda t, q, v: 2 * v**2)  # from 1/2: v = 1 / (2 (1 - t))
    good = caught.value.trajectory
    assert 1 - 1e-6 < caught.value.time <= 1 + 1e-6
    early = good.t < 0.99
    assert early.sum() > 5 and np.allclose(good.v[early, 0], 0.5 / (1 - good.t[early]), rtol=1e-7, atol=0)


def test_a_force_that_is_nowhere_continuous_stops_the_run() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(SimulationError, match="the step has become too small") as caught:
        ball(controller=lambda t, q, v: 1e10 * rng.normal(size=1))
    assert 0.0 <= caught.value.time < 1e-3 and np.isfinite(caught.value.q).all()


# walls that fail --------------------------------------------------------------------------------------


def failing(below: float, what: Any) -> Any:
    def phi(x: Array) -> float:
        if x[2] < below:
            if isinstance(what, Exception):
                raise what
            return float(what)
        return float(x[2])

    return phi


@pytest.mark.parametrize(("what", "message"), [(KeyError("no map here"), "no map here"), (np.nan, "gap is not finite")])
def test_a_wall_that_fails_stops_the_run(what: Any, message: str) -> None:
    with pytest.raises(SimulationError, match=message) as caught:
        simulate(made(BALL), [1.0], None, 1.0, walls.Implicit(failing(0.5, what)))
    error = caught.value
    assert 0.1 < error.time <= np.sqrt(1 / G) + 1e-3 and error.q[0] >= 0.5 - 1e-2
    assert np.abs(error.trajectory.q[:, 0] - (1 - 0.5 * G * error.trajectory.t**2)).max() < ROUND_OFF
    if isinstance(what, Exception):
        assert error.__cause__ is what or repr(what) in repr(error.__cause__)


def test_a_wall_that_fails_at_the_start_says_so() -> None:
    with pytest.raises((KeyError, UrdfGibbsError), match="no map here"):
        simulate(made(BALL), [1.0], None, 1.0, walls.Implicit(failing(5.0, KeyError("no map here"))))


def test_a_motion_of_a_wall_that_fails_stops_the_run() -> None:
    def moves(t: float) -> tuple[float, float, float]:
        if t > 0.2:
            raise KeyError("derailed")
        return 0.0, 0.0, 0.0

    with pytest.raises(SimulationError, match="derailed") as caught:
        simulate(made(BALL), [1.0], None, 1.0, walls.Plane(motion=moves))
    assert 0.1 < caught.value.time <= 0.2


# Ctrl-C -----------------------------------------------------------------------------------------------

LONG = {
    "bounces": "walls=walls.Plane(), restitution=1.0",
    "slow controller": "controller=lambda t, q, v: (time.sleep(0.02), [np.sin(1e3 * t)])[1]",
    "slow controller at a rate": "controller=lambda t, q, v: (time.sleep(0.005), [0.0])[1], controller_rate=1e3",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("case", LONG)
def test_ctrl_c_returns_what_there_is(case: str, tmp_path: Path) -> None:
    script = f"""
        import signal
        import time
        import numpy as np
        from urdf_gibbs import load, simulate, walls
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it
        ball = load({BALL!r})
        simulate(ball, [1.0], [0.0], 1e-3, {LONG[case]})
        print("ready", flush=True)
        found = simulate(ball, [1.0], [0.0], 1e6, {LONG[case]})
        print(found.status, flush=True)
        print(found.save({str(tmp_path / "found")!r}))
    """
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)  # what is computed meanwhile has to be kept and read again
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.stdout.readline().startswith(str(tmp_path))
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    found = Trajectory.load(tmp_path / "found")
    assert found.status == "interrupted" and 0.0 <= found.t[-1] < 1e6
    if case == "bounces":
        assert abs(0.5 * found.v[-1, 0] ** 2 + G * found.q[-1, 0] - G) < 1e-6 and len(found.impacts) > 100


def test_an_interrupt_within_the_controller_is_one() -> None:
    def controller(t: float, q: Array, v: Array) -> list[float]:
        if t > 0.5:
            raise KeyboardInterrupt
        return [0.0]

    found = ball(controller=controller)
    assert found.status == "interrupted" and 0.0 < found.t[-1] <= 0.5


# controllers and damping against closed forms ---------------------------------------------------------


def test_a_controller_at_a_rate_holds_its_torque() -> None:
    rate, called = 10.0, []
    forces = np.random.default_rng(1).normal(size=10)

    def controller(t: float, q: Array, v: Array) -> list[float]:
        called.append((t, q[0], v[0]))
        return [forces[len(called) - 1]]

    found = ball(controller=controller, controller_rate=rate)
    x, w, expected = 1.0, 0.5, []
    for k, force in enumerate(forces):
        expected.append((k / rate, x, w))
        x, w = x + w / rate + 0.5 * force / rate**2, w + force / rate
    assert len(called) == 10  # and none at the end
    assert np.abs(np.array(called) - expected).max() < ROUND_OFF
    assert abs(found.q[-1, 0] - x) < ROUND_OFF and abs(found.v[-1, 0] - w) < ROUND_OFF


@pytest.mark.parametrize("rate", [1000.0, 300.0])
def test_calls_at_a_rate_do_not_drift(rate: float) -> None:
    called: list[float] = []
    ball(20.0, controller=lambda t, q, v: called.append(t) or [0.0], controller_rate=rate)
    assert len(called) == 20 * rate
    late = np.array(called) - np.arange(len(called)) / rate
    assert np.abs(late).max() < 1e-14  # a few units of the last digit of 20 s


def test_impacts_do_not_disturb_a_controller_at_a_rate() -> None:
    called: list[float] = []
    simulate(
        made(BALL),
        [0.1],
        None,
        1.0,
        walls.Plane(),
        restitution=0.9,
        controller=lambda t, q, v: called.append(t) or [0.0],
        controller_rate=50.0,
    )
    assert np.abs(np.array(called) - np.arange(50) / 50).max() < ROUND_OFF


def test_a_controller_in_each_stage_is_part_of_the_equations() -> None:
    stiffness, damper = 30.0, 1.6
    found = ball(3.0, controller=lambda t, q, v: -stiffness * q - damper * v)
    decay = damper / 2
    omega = np.sqrt(stiffness - decay**2)
    at = np.linspace(0, 3, 50)
    exact = np.exp(-decay * at) * (np.cos(omega * at) + (0.5 + decay) / omega * np.sin(omega * at))
    assert np.abs(found.at(at)[0][:, 0] - exact).max() < FLIGHT


def test_a_controller_sees_time() -> None:
    found = ball(2.0, controller=lambda t, q, v: [np.cos(3 * t)])
    assert np.abs(found.v[:, 0] - 0.5 - np.sin(3 * found.t) / 3).max() < FLIGHT


def test_damping_of_the_urdf_acts_when_asked() -> None:
    options: dict[str, Any] = {"gravity": WEIGHTLESS}
    found = simulate(made(DAMPED), [0.0], [2.0], 3.0, damping=True, **options)
    assert np.abs(found.v[:, 0] - 2 * np.exp(-0.7 * found.t)).max() < FLIGHT
    assert np.abs(found.q[:, 0] - 2 / 0.7 * (1 - np.exp(-0.7 * found.t))).max() < FLIGHT
    assert np.abs(simulate(made(DAMPED), [0.0], [2.0], 3.0, **options).v - 2).max() < ROUND_OFF


def test_a_torque_is_constant() -> None:
    assert abs(ball(1.0, torque=[3.0]).v[-1, 0] - 3.5) < ROUND_OFF


# arguments --------------------------------------------------------------------------------------------

ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"q0": [1.0, 2.0]}, r"q0 has shape \(2,\), expected \(1,\)"),
    ({"q0": 1.0}, r"q0 has shape \(\), expected \(1,\)"),
    ({"q0": [np.nan]}, "q0 .*not finite"),
    ({"v0": [[1.0]]}, r"v0 has shape \(1, 1\), expected \(1,\)"),
    ({"v0": [np.inf]}, "v0 .*not finite"),
    ({"duration": -1.0}, "duration=-1.0, expected .*0 or more"),
    ({"duration": np.nan}, "duration=nan, expected"),
    ({"duration": np.inf}, "duration=inf, expected"),
    ({"duration": "long"}, "duration='long', expected"),
    ({"restitution": 2}, "restitution=2, expected a number from 0 to 1"),
    ({"restitution": -0.1}, "restitution=-0.1, expected"),
    ({"restitution": np.nan}, "restitution=nan, expected"),
    ({"restitution": "high"}, "restitution='high', expected"),
    ({"law": "foo"}, "'foo'.*newton, newton_equality, poisson"),
    ({"rtol": 0.0}, "rtol=0.0, expected more than 0"),
    ({"atol": -1.0}, "atol=-1.0, expected"),
    ({"max_step": 0.0}, "max_step=0.0, expected"),
    ({"zeno": 0.0}, "zeno=0.0, expected"),
    ({"tie": 1.0}, "tie=1.0, expected a number from 0 to 0.001"),
    ({"resolution": 0.0}, "resolution=0.0, expected"),
    ({"controller_rate": 0.0}, "controller_rate=0.0, expected"),
    ({"controller_rate": -5.0, "controller": lambda t, q, v: [0.0]}, "controller_rate=-5.0, expected"),
    ({"controller": 3.0}, "controller=3.0, expected"),
    ({"torque": [1.0, 2.0]}, r"torque has shape \(2,\), expected \(1,\)"),
    ({"gravity": (0, 0)}, "gravity"),
    ({"points": ["bal"]}, "bal.*ball"),
    ({"points": "shapes"}, "points='shapes', expected"),
    ({"pairs": [("ball", "bat")]}, "bat.*ball"),
    ({"walls": 3.0}, "3.0.*expected|expected.*3.0"),
    ({"walls": [walls.Plane(), "floor"]}, "'floor'.*expected|expected.*'floor'"),
]


def named(wrong: dict[str, Any]) -> str:
    return next(f"{name}={value}" for name, value in wrong.items())


CASES = [pytest.param(*case, id=named(case[0])) for case in ARGUMENTS]


@pytest.mark.parametrize(("wrong", "message"), CASES)
def test_a_wrong_argument_is_named_with_what_is_expected(wrong: dict[str, Any], message: str) -> None:
    arguments = {"q0": [1.0], "v0": None, "duration": 1.0, **wrong}
    with pytest.raises((ArgumentError, UnknownNameError), match=message):
        simulate(made(BALL), **arguments)


def test_an_invalid_quaternion_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"quaternion.*expected 1"):
        simulate(made(BLOCK, "floating"), [0, 0, 0, 0, 0, 0, 2], None, 1.0)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="restitutoin"):
        simulate(made(BALL), [1.0], None, 1.0, restitutoin=0.5)


def test_no_time_is_one_row() -> None:
    for q, options in (([1.0], {}), ([0.0], {"walls": walls.Plane()})):
        found = simulate(made(BALL), q, [-1.0], 0.0, **options)
        assert found.status == "complete" and found.t.tolist() == [0.0] and found.q.tolist() == [q] and found.v.tolist() == [[-1.0]]
        assert not found.impacts and not found.phases
        assert found.at(0.0)[0].tolist() == q


def test_without_walls_there_is_flight_alone() -> None:
    found = simulate(made(BALL), [1.0], [2.0], 3.0)
    assert np.abs(found.q[:, 0] - (1 + 2 * found.t - 0.5 * G * found.t**2)).max() < ROUND_OFF * 10  # of 40 m
    assert found.contact_names == () and found.contact_forces.shape == (len(found), 0) and not found.impacts


def test_a_robot_that_cannot_move_is_refused() -> None:
    for text in (robot(link("stone")), robot(link("a"), link("b"), joint("f", "fixed", "a", "b"))):
        with pytest.raises(ArgumentError, match="nothing to simulate"):
            simulate(load(text), [], [], 1.0)
