"""Runs of a question by a Simulator each: with controllers, soil, functions of the user's, or motions that are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from urdf_gibbs.errors import SimulationError, UrdfGibbsError
from urdf_gibbs.simulation.scenario import Scenario
from urdf_gibbs.simulation.simulator import Simulator
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.sweeps.rows import FAILED, RESULTS, asked, refused, results_of, short, state_of
from urdf_gibbs.sweeps.scene import STARTS, Scene, simulator_of, total_energy

SIMULATORS = 16  # kept by each thread

Stop = Callable[[], bool]


class Stopped(Exception):
    """The sweep was ended from outside while a chunk was computed."""


class General:
    """A scene's runs, one after another; several threads may call at once."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._own = threading.local()

    def rows(self, first: int, parameters: Mapping[str, Sequence[Any]], stop: Stop) -> list[tuple[dict[str, Any], Trajectory | None]]:
        """What came of runs.

        Args:
            first: Number of the first.
            parameters: Values by key.
            stop: Asked between runs and now and then in long ones.

        Returns:
            Results by column, and motions; None of those that could not begin.

        Raises:
            Stopped: ``stop`` said so.
        """
        found = []
        for k in range(len(next(iter(parameters.values())))):
            if stop():
                raise Stopped
            found.append(self._row(first + k, {key: entries[k] for key, entries in parameters.items()}, stop))
        return found

    def _row(self, run: int, values: Mapping[str, Any], stop: Stop) -> tuple[dict[str, Any], Trajectory | None]:
        quantities, seed = self.scene.question.quantities, self.scene.question.design.seed
        error = None
        try:
            scenario = self.scene.scenario(values)
            trajectory = self._simulator(scenario, values).run(scenario.q0, scenario.v0, scenario.duration, _watching(stop))
        except SimulationError as problem:
            trajectory, error = problem.trajectory, problem.reason
        except (Stopped, MemoryError):
            raise
        except Exception as problem:
            told = short(problem) if isinstance(problem, UrdfGibbsError) else f"{type(problem).__name__}: {short(problem)}"
            return {**refused(told), **dict.fromkeys(quantities)}, None
        if trajectory.status == "interrupted":
            raise Stopped
        energies = [total_energy(self.scene, trajectory.robot, trajectory.gravity, trajectory.q[k], trajectory.v[k]) for k in (0, -1)]
        row = results_of(trajectory, error, energies)
        named = {"run": run, "seed": seed, **values, **{name: row[name] for name in RESULTS}}
        try:
            row |= asked(quantities, named, state_of(trajectory.robot, trajectory.q[-1], trajectory.v[-1]), trajectory)
        except Exception as problem:  # of a function of the user's
            told = f"a quantity: {type(problem).__name__}: {short(problem)}"
            row |= {**dict.fromkeys(quantities), "status": FAILED, "error": told if error is None else f"{error}; {told}"}
        return row, trajectory

    def _simulator(self, scenario: Scenario, values: Mapping[str, Any]) -> Simulator:
        """The one for these parameters: each thread keeps its own, as a simulator runs one simulation at a time."""
        kept: OrderedDict[Any, Simulator] = self._own.__dict__.setdefault("simulators", OrderedDict())
        controlled = self.scene.base.controller is not None  # the pose that it holds may be the start
        paths = self.scene.question.paths
        key = tuple(repr(value) for name, value in values.items() if paths[name][0] not in STARTS[controlled:])
        if key not in kept:
            kept[key] = simulator_of(scenario)
            if len(kept) > SIMULATORS:
                kept.popitem(last=False)
        kept.move_to_end(key)
        return kept[key]


def _watching(stop: Stop) -> Callable[[float, int], None]:
    def progress(time: float, impacts: int) -> None:
        if stop():
            raise Stopped

    return progress
