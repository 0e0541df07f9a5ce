"""Runs of a question in compiled code, where all of its parameters can vary there: they become arrays with one row for each run."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import NotVariableError
from urdf_gibbs.robot.urdf import ONE_DOF
from urdf_gibbs.simulation.many import Many
from urdf_gibbs.simulation.runs import Outcomes, Runs
from urdf_gibbs.simulation.scenario import Scenario
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.sweeps.general import Stop, Stopped
from urdf_gibbs.sweeps.rows import RESULTS, asked, columns_of, state_of
from urdf_gibbs.sweeps.scene import Scene
from urdf_gibbs.sweeps.values import Listed, Values
from urdf_gibbs.walls import labels

Array = NDArray[np.float64]
Columns = Mapping[str, Sequence[Any]]

POLL_INTERVAL = 0.2  # s between two looks whether the sweep is ended
FIRST_RUNS, MOST_RUNS = 16, 4096  # of one call of compiled code
WHOLE = {"duration": "duration", "gravity": "gravity", "start": "q", "start_velocity": "v", "torques": "torque", "links": "parameters"}
COEFFICIENTS = ("restitution", "friction")
SHAPES = ("radius", "centre", "point", "normal", "axis", "size", "semi_axes", "width")  # numbers of walls that are as they are written


class Compiled:
    """The compiled runs of a scene.

    Raises:
        NotVariableError: A parameter, or the scenario itself, is not for compiled runs.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        first = self._base = scene.first
        over = scene.question.design.over
        # What has one value is part of the simulation.
        self._paths = {key: path for key, path in scene.question.paths.items() if not _is_one(over[key])}
        simulator = scene.first_simulator
        self._walls = labels((wall.name, type(wall).__name__.lower()) for wall in first.walls)
        vary = {name for key, path in self._paths.items() if (name := self._varies(key, path))}
        self._many = Many(simulator, tuple(sorted(vary)))
        self.run(scene.question.design.columns(0, 1))  # what cannot vary is said when it is given

    def columns(self, first: int, parameters: Columns, stop: Stop) -> dict[str, Any]:
        """What came of runs.

        Args:
            first: Number of the first.
            parameters: Values by key.
            stop: Asked now and then, not within one run.

        Returns:
            Results by column: lists, and arrays in which NaN is what there is not.

        Raises:
            Stopped: ``stop`` said so.
        """
        count, at, size, parts = len(next(iter(parameters.values()))), 0, FIRST_RUNS, []
        while at < count:
            if stop():
                raise Stopped
            begun = clock.perf_counter()
            part = {key: values[at : at + size] for key, values in parameters.items()}
            outcomes = self.run(part)
            parts.append(columns_of(outcomes) | self._asked(first + at, part, outcomes))
            at += size
            size = int(min(MOST_RUNS, max(1, min(4 * size, size * POLL_INTERVAL / max(clock.perf_counter() - begun, 1e-9)))))
        return {name: _joined([part[name] for part in parts]) for name in parts[0]}

    def _asked(self, first: int, parameters: Columns, outcomes: Outcomes) -> dict[str, list[Any]]:
        """The user's quantities, which are formulas here."""
        quantities, robot, seed = self.scene.question.quantities, self._base.robot, self.scene.question.design.seed
        found: dict[str, list[Any]] = {name: [] for name in quantities}
        if not quantities:
            return found
        results = {name: values.tolist() for name, values in columns_of(outcomes).items() if name in RESULTS}
        for k in range(len(outcomes)):
            row = {"run": first + k, "seed": seed, **{key: values[k] for key, values in parameters.items()}}
            row |= {name: None if values[k] != values[k] else values[k] for name, values in results.items()}  # NaN: there is none
            for name, value in asked(quantities, row, state_of(robot, outcomes.q[k], outcomes.v[k]), None).items():
                found[name].append(value)
        return found

    def run(self, columns: Columns) -> Outcomes:
        """The results of runs.

        Args:
            columns: Values of each parameter, by key.

        Returns:
            One row for each run.
        """
        return self._many.run(self.runs(columns))

    def trajectory(self, columns: Columns) -> Trajectory:
        """The motion of the first of some runs; errors as of ``Many.trajectory``."""
        return self._many.trajectory(self.runs({key: values[:1] for key, values in columns.items()}), 0)

    def runs(self, columns: Columns) -> Runs:
        """The parameters as arrays."""
        base, n = self._base, len(next(iter(columns.values())))
        given: dict[str, Any] = {"q": np.tile(base.q0, (n, 1)), "v": np.tile(base.v0, (n, 1)), "duration": np.full(n, base.duration)}
        read: list[str] = []
        for key, path in self._paths.items():
            if not self._place(given, path, columns[key], n):
                read.append(WHOLE[str(path[0])])
        if read:  # what is written in several numbers is read as in the file, run by run
            scenarios = [self.scene.scenario({key: values[k] for key, values in columns.items()}) for k in range(n)]
            for name in set(read):
                given[name] = np.array([READERS[name](scenario) for scenario in scenarios])
        return Runs(**given)

    def _varies(self, key: str, path: Keys) -> str | None:
        """The name for ``Many`` of what a parameter changes; None: the start or the duration."""
        head = path[0]
        if head in ("duration", "start", "start_velocity"):
            return None
        if head in ("gravity", "torques", "links"):
            return {"torques": "torque", "links": "parameters"}.get(str(head), str(head))
        if head in COEFFICIENTS and len(path) == 1:
            return str(head)
        if head == "walls" and len(path) >= 3 and path[2] in (*COEFFICIENTS, *SHAPES):
            return str(path[2]) if path[2] in COEFFICIENTS else "walls"
        raise NotVariableError(key, "it is no number that compiled runs take")

    def _place(self, given: dict[str, Any], path: Keys, values: Sequence[Any], n: int) -> bool:
        """Put the values of a parameter into the arrays; False where they have to be read."""
        head = path[0]
        if head == "duration":
            given["duration"] = _numbers(values, path)
        elif head == "gravity":
            given.setdefault("gravity", np.tile(np.array(self._base.gravity), (n, 1)))[:, path[1] if len(path) > 1 else slice(None)] = (
                _numbers(values, path)
            )
        elif head in COEFFICIENTS:
            given.setdefault(head, {})[""] = _numbers(values, path)
        elif head == "walls":
            self._place_wall(given, path, values, n)
        elif head in ("start", "start_velocity", "torques") and len(path) == 2 and not any(isinstance(value, tuple) for value in values):
            index = self._index(str(path[1]), head == "start")
            if index is None:
                return False
            array = given.setdefault("torque", np.tile(self._base.torque, (n, 1))) if head == "torques" else given[WHOLE[str(head)]]
            array[:, index] = _numbers(values, path)
        else:
            return False
        return True

    def _place_wall(self, given: dict[str, Any], path: Keys, values: Sequence[Any], n: int) -> None:
        number, name = int(path[1]), str(path[2])
        wall, numbers = self._walls[number], _numbers(values, path)
        if name in COEFFICIENTS:
            given.setdefault(name, {})[wall] = numbers
            return
        if len(path) > 3:
            whole = given.setdefault("walls", {}).setdefault(wall, {})
            own = np.asarray(getattr(self._base.walls[number], name), dtype=np.float64)
            whole.setdefault(name, np.tile(own, (n, 1)))[:, path[3]] = numbers
        else:
            given.setdefault("walls", {}).setdefault(wall, {})[name] = numbers

    def _index(self, name: str, of_q: bool) -> int | None:
        """Where the number of a joint, or of a mode of an elastic link, is in q or v; None where it has several."""
        for joint in self._base.robot.joints:
            first = joint.iq if of_q else joint.iv
            if joint.beam is not None:
                if name in joint.named(()):
                    return first + list(joint.named(())).index(name)
            elif joint.name == name:
                return first if joint.type in ONE_DOF and not joint.is_mimic else None
        return None


READERS: dict[str, Callable[[Scenario], Any]] = {
    "q": lambda scenario: scenario.q0,
    "v": lambda scenario: scenario.v0,
    "torque": lambda scenario: scenario.torque,
    "parameters": lambda scenario: scenario.robot.parameters,
}


def _numbers(values: Sequence[Any], path: Keys) -> Array:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):  # "urdf", or of several kinds
        raise NotVariableError(str(path[-1]), "its values are no numbers") from None


def _is_one(values: Values) -> bool:
    return isinstance(values, Listed) and len(values.values) == 1


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [entry for part in parts for entry in part]
