"""The scenario of a question, unpacked on this machine, and that of each of its runs."""

from __future__ import annotations

import shutil
import tempfile
import warnings
import weakref
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import shown
from urdf_gibbs.engine.kernel import Plain, kernel
from urdf_gibbs.engine.quantities import Options, checked_options
from urdf_gibbs.errors import ArgumentError, UrdfWarning
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.hashed import hashable
from urdf_gibbs.simulation.scenario import Scenario, ScenarioError
from urdf_gibbs.simulation.scenario.problems import dotted
from urdf_gibbs.simulation.scenario.reader import scenario_of
from urdf_gibbs.simulation.simulator import Simulator
from urdf_gibbs.sweeps.bundle import SCENE
from urdf_gibbs.sweeps.question import Question

Array = NDArray[np.float64]

STARTS = ("start", "start_velocity", "duration")  # keys that leave the simulator as it is
NUMBERS = ("placement", "mass", "centre_of_mass", "inertia")
ROUND_OFF = 1e-12
MOST_TRIED = 500  # values of a list that are tried before anything runs: the first, the last and others between


class Scene:
    """A question's scenario with its files in a folder of its own, which goes when the object does."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._folder = Folder()
        question.bundle.unpack(self._folder.path)
        self._file = str(self._folder.path / SCENE)
        self._content = question.bundle.content()

    @cached_property
    def base(self) -> Scenario:
        """As the file has it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UrdfWarning)  # the user has seen it when the file was read
            return scenario_of(self._content, {}, self._file)

    @cached_property
    def _robot(self) -> Robot | None:
        """The robot before [links] changes it; None where the parameters need it to be read again."""
        if self.reads_robots:
            return None
        if "links" not in self._content:
            return self.base.robot
        return scenario_of({key: value for key, value in self._content.items() if key != "links"}, {}, self._file).robot

    @cached_property
    def first(self) -> Scenario:
        """With the values of the first run."""
        return self.scenario(self.question.first)

    @cached_property
    def first_simulator(self) -> Simulator:
        """Of the first run: what check tries is what compiled runs go on with."""
        return simulator_of(self.first)

    @property
    def reads_robots(self) -> bool:
        """Whether every run has a robot of its own, beyond the inertias of links."""
        return self.question.varies("robot", "flexible")

    def scenario(self, values: Mapping[str, Any]) -> Scenario:
        """The scenario with these values of the parameters.

        Args:
            values: By key.

        Returns:
            The scenario.

        Raises:
            ScenarioError: The values cannot be used.
        """
        content = self.question.content(values, self._content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UrdfWarning)
            return scenario_of(content, {}, self._file, self._robot)

    def check(self, original: Scenario) -> None:
        """Refuse, before anything runs, values that cannot be used: every value of the lists, and the ends of what is drawn.

        Args:
            original: The scenario at its own place, which the bundle must be equal to.

        Raises:
            ArgumentError: A value cannot be used; its key is named.
            ScenarioError: Values cannot be used together.
        """
        if not _same(original, self.base):
            raise ArgumentError(f"{original.file} names files that a sweep cannot carry along, expected files beside it or in packages")
        first = self.question.first
        self._blaming(first, tuple(first))
        for key, values in self.question.design.extremes().items():
            step = max(1, -(-len(values) // MOST_TRIED))
            for value in [*values[::step], values[-1]]:
                self._blaming(first | {key: value}, (key,))
        _ = self.first_simulator

    def _blaming(self, values: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        """Read the scenario of these values; what is wrong with one of the keys is said of it."""
        try:
            self.scenario(values)
        except ScenarioError as refusal:
            for problem in refusal.problems:
                for key in keys:
                    path = dotted(self.question.paths[key])
                    if problem.key == path or problem.key.startswith((f"{path}.", f"{path}[")):
                        expected = f", expected {problem.expected}" if problem.expected else ""
                        whole = problem.key == path and problem.expected.startswith("a list of")
                        entry = f"; one of its entries is {key}[0]" if whole else ""
                        raise ArgumentError(f"over: {key}: {problem.value}{expected}{entry}") from None
            if len(keys) == 1:
                problem = refusal.problems[0]
                expected = f", expected {problem.expected}" if problem.expected else ""
                raise ArgumentError(f"over: {keys[0]}={shown(values[keys[0]])}: {problem.key}: {problem.value}{expected}") from None
            raise


def simulator_of(scenario: Scenario) -> Simulator:
    """A new simulator of a scenario."""
    arguments = scenario.arguments()
    for name in ("q0", "v0", "duration"):
        del arguments[name]
    return Simulator(**arguments)


def total_energy(scene: Scene, robot: Robot, gravity: Array, q: Array, v: Array) -> float:
    """Kinetic and potential energy [J] of one state, always by the same code: the public functions use plain Python at first, and batches
    are added up in another order, which differs in the last digit.

    Args:
        scene: Whose robot the code is made for, where only inertias differ.
        robot: In the state.
        gravity: (3,) [m/s^2].
        q: (nq,).
        v: (nv,).

    Returns:
        The energy.
    """
    if not scene.question.varies("links") or robot.is_flexible:
        kinetic, potential = kernel(robot, "kinetic_energy")(q, v), kernel(robot, "potential_energy", gravity=None)(q, gravity)
        return float(kinetic) + float(potential)
    kinetic = kernel(scene.base.robot, "kinetic_energy", parameters=True)(q, v, robot.parameters.ravel())
    # In plain Python: nothing is compiled for a robot of one run.
    options = checked_options(robot, "potential_energy", Options(free_gravity=True))
    return float(kinetic) + float(Plain(robot, "potential_energy", options).general(q, gravity))


class Folder:
    """A new folder for temporary files, which goes when the object does."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="urdf_gibbs_sweep_"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _same(one: Scenario, other: Scenario) -> bool:
    """Whether two readings of a scenario mean the same motion, as far as files could make them differ."""
    equal = one.robot.fingerprint == other.robot.fingerprint and one.points == other.points
    equal = equal or (_joints(one.robot) == _joints(other.robot) and _points(one) == _points(other) and _near(one, other))
    return equal and np.array_equal(one.q0, other.q0) and hashable(one.walls) == hashable(other.walls)


def _joints(robot: Robot) -> list[tuple[object, ...]]:
    names = ("name", "type", "child", "iq", "iv", "axis", "ratio", "offset", "master")
    return [(parent, *(getattr(joint, name) for name in names)) for joint, parent in zip(robot.joints, robot.parent, strict=True)]


def _points(scenario: Scenario) -> list[tuple[str, int]] | None:
    return None if scenario.points is None else [(point.name, point.body) for point in scenario.points]


def _near(one: Scenario, other: Scenario) -> bool:
    """Equal but for the round-off of angles: what comes from another format is carried as a URDF, with roll, pitch and yaw."""
    pairs = [(getattr(one.robot, key), getattr(other.robot, key)) for key in NUMBERS]
    pairs.append(tuple(np.array([point.position for point in scenario.points or ()]) for scenario in (one, other)))  # type: ignore[arg-type]
    return all(np.allclose(mine, theirs, rtol=ROUND_OFF, atol=ROUND_OFF) for mine, theirs in pairs)
