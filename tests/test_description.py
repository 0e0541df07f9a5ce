"""What is simulated is checked before anything is compiled, and never changes; what a run returns are values."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from urdf_text import joint, link, robot

from urdf_gibbs import ArgumentError, Impact, Robot, Simulator, Trajectory, UnknownNameError, load, simulate, walls
from urdf_gibbs.engine import objects
from urdf_gibbs.simulation.impact_values import ARRAYS, NUMBERS

BALL = robot(link("w", ""), link("ball"), joint("z", "prismatic", "w", "ball", axis=(0, 0, 1)))
BLOCK = robot(link("block"))
FLOOR = walls.Plane()
AT_REST = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
LONG = 60  # s: what takes longer has not happened


class CompiledError(Exception):
    """Something was compiled."""


@pytest.fixture
def nothing_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine code can be made or loaded, whoever asks for it."""
    original = objects.load_code

    def refused(*arguments: Any, **options: Any) -> Any:
        raise CompiledError

    holders = [module for module in list(sys.modules.values()) if getattr(module, "load_code", None) is original]
    assert len(holders) > 2
    for module in holders:
        monkeypatch.setattr(module, "load_code", refused)


def nothing(t: float, q: Any, v: Any) -> Any:
    return [0.0]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"duration": -1.0}, "duration=-1.0, expected a number, 0 or more"),
    ({"duration": np.inf}, "duration=inf, expected a finite number of seconds"),
    ({"duration": "long"}, "duration='long', expected"),
    ({"q0": [1.0, 2.0]}, r"q0 has shape \(2,\), expected \(1,\)"),
    ({"q0": [np.nan]}, r"q0 has entries that are not finite: \[0\]"),
    ({"q0": "high"}, r"q0 is 'high', expected numbers \(1,\)"),
    ({"v0": [[0.0]]}, r"v0 has shape \(1, 1\), expected \(1,\)"),
    ({"walls": [1]}, r"walls\[0\] is 1, expected Plane, Circle"),
    ({"walls": 1}, "walls=1, expected a wall, or a list of walls"),
    ({"walls": [walls.Plane(name="a"), walls.Circle(1.0, name="a")]}, "two walls are named 'a'"),
    ({"walls": walls.Sphere(1.0), "points": [("ball", (0, 0, 0), 2.0)]}, "does not fit wall 'sphere'"),
    ({"law": "newtons"}, "no law named 'newtons'"),
    ({"restitution": 1.5}, "restitution=1.5, expected a number from 0 to 1"),
    ({"gravity": [0, 0]}, r"gravity has shape \(2,\), expected \(3,\)"),
    ({"gravity": [0, 0, np.nan]}, r"gravity has entries that are not finite: \[2\]"),
    ({"points": ["moon"]}, "no link named 'moon'"),
    ({"points": [("ball", (0, 0, 0), -1.0)]}, "radius -1.0, expected zero or more"),
    ({"pairs": [("ball", "w")]}, "contact distance 0, expected a positive one"),
    ({"pairs": [("ball", "ball", 1.0)]}, "both points are fixed to"),
    ({"torque": [1.0, 2.0]}, r"torque has shape \(2,\), expected \(1,\)"),
    *(({name: 0.0}, f"{name}=0.0, expected more than 0") for name in ("rtol", "atol", "max_step", "zeno", "resolution", "memory")),
    ({"rtol": "small"}, "rtol='small', expected a number, 0 or more"),
    ({"tie": 1.0}, "tie=1.0, expected a number from 0 to 0.001"),
    ({"cycle": -1.0}, "cycle=-1.0, expected a number, 0 or more"),
    ({"controller": 3}, "controller=3, expected a function"),
    ({"controller": nothing, "torque": [1.0]}, "torque and controller are both given"),
    ({"controller": nothing, "controller_rate": 0.0}, "controller_rate=0.0, expected calls per second"),
    ({"switches": nothing}, "switches=.*, expected a function"),
    ({"controller": nothing, "switches": lambda t, q, v: 1.0}, r"switches returned shape \(\), expected \(k,\)"),
]


@pytest.mark.usefixtures("nothing_compiles")
@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[f"{k}-{'-'.join(wrong)}" for k, (wrong, _) in enumerate(WRONG)])
def test_a_wrong_argument_is_refused_before_anything_is_compiled(wrong: dict[str, Any], message: str) -> None:
    arguments = {"q0": [1.0], "v0": None, "duration": 1.0, "walls": FLOOR, **wrong}
    with pytest.raises((ArgumentError, UnknownNameError), match=message):
        simulate(load(BALL), **arguments)


@pytest.mark.usefixtures("nothing_compiles")
def test_a_start_of_no_unit_quaternion_is_refused_before_anything_is_compiled() -> None:
    with pytest.raises(ArgumentError, match=r"the quaternion of joint 'root_joint' in q0 has a norm off by 1"):
        simulate(load(BLOCK, base="floating"), [*AT_REST[:6], 2.0], None, 1.0)


@pytest.mark.usefixtures("nothing_compiles")
def test_what_is_right_is_compiled() -> None:
    """The tests above prove something: without their mistake it comes to a compilation."""
    with pytest.raises(CompiledError):
        simulate(load(BALL), [1.0], None, 1.0, FLOOR)
    with pytest.raises(CompiledError):
        simulate(load(BLOCK, base="floating"), AT_REST, None, 1.0)


def test_a_description_does_not_change() -> None:
    gravity, torque = np.array([0.0, 0.0, -1.0]), np.array([0.5])
    description = Simulator(load(BALL), walls=[FLOOR], gravity=gravity, torque=torque).description
    gravity[2] = torque[0] = 7.0
    assert description.gravity.tolist() == [0.0, 0.0, -1.0] and description.torque.tolist() == [0.5]
    with pytest.raises(dataclasses.FrozenInstanceError):
        description.law = "poisson"  # type: ignore[misc]
    for array in (description.gravity, description.torque, description.resistance):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


# values -----------------------------------------------------------------------------------------------

HEIGHT, G, DURATION = 1.0, 9.81, 1.4


def bouncing(made: Robot, **options: Any) -> Simulator:
    return Simulator(made, walls=FLOOR, restitution=0.5, **options)


def is_the_bouncing_ball(found: Trajectory) -> bool:
    """Its first impacts by the closed form: t1 = sqrt(2 h / g), then the times between halve; speeds halve."""
    first, speed = np.sqrt(2.0 * HEIGHT / G), np.sqrt(2.0 * G * HEIGHT)
    for k, impact in enumerate(found.impacts[:4]):
        time = first + sum(2.0 * first * 0.5**i for i in range(1, k + 1))
        expected = [time, -speed * 0.5**k, speed * 0.5 ** (k + 1)]
        # 1e-9: what the integrator's 1e-10 in each of a few steps adds up to
        got = [impact.time, impact.normal_velocities_before[0], impact.normal_velocities_after[0]]
        np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(impact.energy_before, 0.5 * expected[1] ** 2, rtol=1e-9)
        assert impact.points == ("ball",) and impact.walls == ("plane",)
    return len(found.impacts) > 4


def same(one: Impact, other: Impact) -> bool:
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in ARRAYS)
    return arrays and all(getattr(one, name) == getattr(other, name) for name in (*NUMBERS, "points", "walls", "law"))


def test_a_trajectory_is_pickled_and_copied() -> None:
    found = bouncing(load(BALL)).run([HEIGHT], None, DURATION)
    copies = [pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)]  # before an impact has been looked at
    for one in copies:
        assert is_the_bouncing_ball(one)
        assert len(one.impacts) == len(found.impacts) and all(map(same, one.impacts, found.impacts))
        assert np.array_equal(one.q, found.q) and one.settings == found.settings and one.robot.fingerprint == found.robot.fingerprint


def test_a_trajectory_outlives_its_simulator() -> None:
    simulator = bouncing(load(BALL))
    found, gone = simulator.run([HEIGHT], None, DURATION), weakref.ref(simulator)
    record = weakref.ref(simulator._program)
    del simulator
    gc.collect()
    assert gone() is None and record() is None
    assert is_the_bouncing_ball(found)


def test_a_trajectory_keeps_its_values_when_the_simulator_runs_again() -> None:
    simulator = bouncing(load(BALL))
    found = simulator.run([HEIGHT], None, DURATION)
    simulator.run([3.0], [-2.0], 2.0)
    assert simulator.impact([0.0], [-7.0]) is not None
    assert is_the_bouncing_ball(found)


def test_impacts_can_be_read_while_the_simulator_is_running() -> None:
    inside, go_on = threading.Event(), threading.Event()
    waits = False

    def controller(t: float, q: Any, v: Any) -> list[float]:
        if waits:
            inside.set()
            assert go_on.wait(LONG)
        return [0.0]

    simulator = bouncing(load(BALL), controller=controller, controller_rate=100.0)
    found = simulator.run([HEIGHT], None, DURATION)
    waits = True
    worker = threading.Thread(target=lambda: simulator.run([HEIGHT], None, 0.1))
    worker.start()
    try:
        assert inside.wait(LONG)
        seen: list[bool] = []
        reader = threading.Thread(target=lambda: seen.append(is_the_bouncing_ball(found)))
        reader.start()
        reader.join(LONG / 2)  # one that waits for the other run would never come back
        assert seen == [True]
    finally:
        waits = False
        go_on.set()
        worker.join(LONG)
    assert not worker.is_alive()


def test_a_controller_can_read_impacts_of_its_own_simulator() -> None:
    found: list[Trajectory] = []
    looked: list[int] = []

    def controller(t: float, q: Any, v: Any) -> list[float]:
        looked.extend(len(one.impacts[0].points) for one in found)
        return [0.0]

    simulator = bouncing(load(BALL), controller=controller, controller_rate=10.0)
    found.append(simulator.run([HEIGHT], None, DURATION))
    assert simulator.run([HEIGHT], None, 0.2).status == "complete"
    assert looked and set(looked) == {1}


def test_an_impact_of_a_trajectory_cannot_be_changed() -> None:
    impact = bouncing(load(BALL)).run([HEIGHT], None, DURATION).impacts[0]
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(impact, name)[...] = 0.0
