"""What is kept with a robot: it goes with the robot, and no copy of any kind finds what was made from another one."""

from __future__ import annotations

import copy
import dataclasses
import gc
import os
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.dynamics.local_frames import LOCAL_MODELS
from urdf_gibbs.dynamics.model import MODELS, model_of
from urdf_gibbs.engine.adaptive import ENTRIES, WITH_GRAVITY
from urdf_gibbs.engine.kernel import KERNELS
from urdf_gibbs.locks import Lock
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.simulation.simulate import SIMULATORS

MASS = 2.0
SLIDE = f"""<robot name="slide"><link name="rail"/><link name="block"><inertial><mass value="{MASS}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="prismatic"><parent link="rail"/><child link="block"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda robot: pickle.loads(pickle.dumps(robot)),
    "replace": dataclasses.replace,
}


def used() -> ug.Robot:
    """A robot with everything on its shelves."""
    robot = ug.load(SLIDE)
    q, v = np.zeros(1), np.ones(1)
    ug.mass_matrix(robot, q)
    ug.bias(robot, q, v, gravity=(0.0, 0.0, -1.0))
    ug.jacobian(robot, q, "block")
    ug.mass_matrix(robot, q, method="explicit")
    ug.simulate(robot, q, v, 0.01)
    for shelf in (MODELS, LOCAL_MODELS, ENTRIES, WITH_GRAVITY, KERNELS, SIMULATORS):
        assert shelf.of(robot), shelf
    return robot


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_starts_with_nothing_and_works(way: str) -> None:
    robot = used()
    other = COPIES[way](robot)
    assert other is not robot and not other._derived and not ENTRIES.of(other)
    assert robot._derived and ENTRIES.of(robot)  # which keeps its own
    assert ug.mass_matrix(other, np.zeros(1)) == [[MASS]]
    assert ug.bias(other, np.zeros(1), np.zeros(1)) == [MASS * 9.81]
    assert ug.simulate(other, np.zeros(1), np.zeros(1), 0.1).q[-1] == pytest.approx(-0.5 * 9.81 * 0.1**2, rel=1e-9)
    assert not any(one is two for one in KERNELS.of(robot).values() for two in KERNELS.of(other).values())
    assert all(made.robot is other for made in KERNELS.of(other).values())


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("model", ["branched12", "flexible_link"])
def test_a_copy_is_as_immutable_as_its_robot(way: str, model: str) -> None:
    robot = COPIES[way](ug.load(ug.model_path(model)))
    arrays = [robot.mass, robot.centre_of_mass, robot.inertia, robot.placement, robot.parameters]
    arrays += [x for joint in robot.joints if joint.beam is not None for x in vars(joint.beam).values() if isinstance(x, np.ndarray)]
    assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(dataclasses.FrozenInstanceError):
        robot.name = "another"


def test_a_changed_robot_does_not_find_what_was_made_before() -> None:
    robot = used()
    heavier = dataclasses.replace(robot, mass=robot.mass * 3.0)
    assert ug.mass_matrix(heavier, np.zeros(1)) == [[3.0 * MASS]]
    assert ug.mass_matrix(robot, np.zeros(1)) == [[MASS]]


def test_the_fields_are_data_alone() -> None:
    robot = used()
    names = {field.name for field in dataclasses.fields(robot)}
    assert "_derived" not in names and set(robot.__getstate__()) == names
    assert len(pickle.dumps(robot)) == len(pickle.dumps(ug.load(SLIDE)))


def test_a_robot_that_is_gone_takes_everything_with_it() -> None:
    robot = used()
    made = [*KERNELS.of(robot).values(), *SIMULATORS.of(robot).values(), robot]
    gone = [weakref.ref(thing) for thing in made]
    assert len(gone) > 4
    del made, robot
    gc.collect()
    assert [reference() for reference in gone] == [None] * len(gone)


def test_a_kernel_keeps_its_robot() -> None:
    code = ug.load(SLIDE).kernel("mass_matrix")
    gc.collect()
    assert code(np.zeros(1)) == [[MASS]] and code([[0.0], [0.0]]).shape == (2, 1, 1)
    with pytest.raises(ug.ArgumentError, match="q has shape"):
        code(np.zeros(2))


def test_threads_make_a_thing_once() -> None:
    robot, shelf, made = ug.load(SLIDE), Shelf[int, object](), []

    def make() -> object:
        time.sleep(0.02)
        made.append(object())
        return made[-1]

    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(shelf.get(robot, 1, make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and found == made * 8


def test_a_thing_may_need_another_one() -> None:
    robot, outer, inner = ug.load(SLIDE), Shelf[tuple[()], list[int]](), Shelf[str, int]()
    assert outer.get(robot, (), lambda: [inner.get(robot, "one", lambda: 1)]) == [1]
    assert inner.of(robot) == {"one": 1}


def test_what_could_not_be_made_is_tried_again() -> None:
    robot, shelf = ug.load(SLIDE), Shelf[int, int]()
    with pytest.raises(ZeroDivisionError):
        shelf.get(robot, 1, lambda: 1 // 0)
    assert shelf.get(robot, 1, lambda: 7) == 7


def test_a_short_shelf_keeps_the_most_recently_used() -> None:
    robot, shelf = ug.load(SLIDE), Shelf[int, str](most=2)
    for key in (1, 2, 1, 3):
        assert shelf.get(robot, key, lambda key=key: f"thing {key}") == f"thing {key}"
    assert list(shelf.of(robot)) == [1, 3]


def test_shelves_and_robots_do_not_mix() -> None:
    one, other = ug.load(SLIDE), ug.load(SLIDE)
    first, second = Shelf[int, str](), Shelf[int, str]()
    assert [shelf.get(robot, 1, lambda: "made") for shelf in (first, second) for robot in (one, other)] == ["made"] * 4
    first.of(one)[1] = "changed"
    assert (first.of(other), second.of(one)) == ({1: "made"}, {1: "made"})
    assert model_of(one) is not model_of(other)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_finds_locks_free() -> None:
    lock, held, done = Lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait(30.0)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30.0)
    child = os.fork()
    if not child:
        signal.alarm(10)  # which ends a process that waits for the lock
        with lock, lock:
            os._exit(7)
    done.set()
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
