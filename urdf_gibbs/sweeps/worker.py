"""Computes chunks: runs first, first + 1, ... as the bytes of one Parquet file; the same for threads, processes and clusters."""

from __future__ import annotations

import io
import json
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from urdf_gibbs.errors import ArgumentError, SimulationError, UrdfGibbsError
from urdf_gibbs.simulation.archive import arrays_of
from urdf_gibbs.simulation.scenario import Scenario
from urdf_gibbs.simulation.scenario.expression import Formula
from urdf_gibbs.simulation.simulator import Simulator
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.sweeps.bundle import Bundle
from urdf_gibbs.sweeps.question import Question, read_question
from urdf_gibbs.sweeps.rows import asked, column, failed, refused, results_of, schema, short, state_of
from urdf_gibbs.sweeps.scene import STARTS, Scene, simulator_of, total_energy

SIMULATORS = 16  # kept by each thread

Stop = Callable[[], bool]


class Stopped(Exception):
    """The sweep was ended from outside while a chunk was computed."""


class Work(NamedTuple):
    """What is sent to other processes: the metadata of the sweep, its scenario with files, and functions of the user's (pickled)."""

    metadata: str
    bundle: bytes
    functions: bytes

    def worker(self) -> Worker:
        """A worker for it, made anew."""
        metadata, bundle = json.loads(self.metadata), Bundle.unpacked(self.bundle)
        return Worker(read_question(metadata, bundle, pickle.loads(self.functions)), metadata)


class Chunk(NamedTuple):
    """What a worker sends: the bytes of a Parquet file, how many of its runs failed, and motions (.npz) by run where they are wanted."""

    data: bytes
    failures: int
    motions: dict[int, bytes]


class Worker:
    """Computes the rows of a question; all methods may be called by several threads at once.

    Args:
        question: What is asked.
        metadata: Goes into every file.
    """

    def __init__(self, question: Question, metadata: Mapping[str, Any]) -> None:
        self.question, self.scene = question, Scene(question)
        self.schema = schema(question.design.over, question.quantities, metadata)
        self._seed = str(metadata["seed"]) if metadata["seed"] >= 2**63 else metadata["seed"]
        self._own = threading.local()

    def chunk(self, first: int, count: int, stop: Stop = lambda: False) -> Chunk:
        """Rows of the runs first, first + 1, ...

        Args:
            first: Number of the first run.
            count: How many.
            stop: Asked between runs and now and then in long ones.

        Returns:
            The chunk.

        Raises:
            Stopped: ``stop`` said so.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        parameters = self.question.design.columns(first, count)
        rows, motions = [], {}
        for k in range(count):
            if stop():
                raise Stopped
            values = {key: entries[k] for key, entries in parameters.items()}
            row, trajectory = self.row(first + k, values, stop)
            rows.append(row)
            if trajectory is not None and self.question.trajectories:
                motions[first + k] = saved(trajectory)
        columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in self.schema.names}
        for key, entries in parameters.items():
            columns[key] = column(self.question.design.over[key], entries)
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pydict(columns, schema=self.schema), stream, compression="zstd")
        return Chunk(stream.getvalue(), sum(map(failed, rows)), motions)

    def row(self, run: int, values: Mapping[str, Any], stop: Stop = lambda: False) -> tuple[dict[str, Any], Trajectory | None]:
        """The row of one run, and its motion; None where it could not begin.

        Args:
            run: Its number.
            values: Of the parameters, by key.
            stop: Asked now and then.

        Returns:
            The row by columns, and the motion.

        Raises:
            Stopped: ``stop`` said so.
        """
        row: dict[str, Any] = {"run": run, **values, "seed": self._seed}
        quantities = self.question.quantities
        trajectory, error = None, None
        try:
            scenario = self.scene.scenario(values)
            trajectory = self._simulator(scenario, values).run(scenario.q0, scenario.v0, scenario.duration, _watching(stop))
        except SimulationError as problem:
            trajectory, error = problem.trajectory, short(problem)
        except (Stopped, MemoryError):
            raise
        except Exception as problem:
            error = short(problem) if isinstance(problem, UrdfGibbsError) else f"{type(problem).__name__}: {short(problem)}"
            return row | refused(error) | dict.fromkeys(quantities), None
        if trajectory.status == "interrupted":
            raise Stopped
        row |= results_of(trajectory, error, self._energies(trajectory))
        try:
            row |= asked(quantities, row, state_of(trajectory.robot, trajectory.q[-1], trajectory.v[-1]), trajectory)
        except Exception as problem:
            row |= dict.fromkeys(quantities) | refused_quantity(row, problem)
        return row, trajectory

    def _simulator(self, scenario: Scenario, values: Mapping[str, Any]) -> Simulator:
        """The one for these parameters: each thread keeps its own, as a simulator runs one simulation at a time."""
        kept: OrderedDict[Any, Simulator] = self._own.__dict__.setdefault("simulators", OrderedDict())
        controlled = self.scene.base.controller is not None  # the pose that it holds may be the start
        paths = self.question.paths
        key = tuple(repr(value) for name, value in values.items() if paths[name][0] not in STARTS[controlled:])
        if key not in kept:
            kept[key] = simulator_of(scenario)
            if len(kept) > SIMULATORS:
                kept.popitem(last=False)
        kept.move_to_end(key)
        return kept[key]

    def _energies(self, trajectory: Trajectory) -> tuple[float, float]:
        """At the start and at the end [J]."""
        return tuple(total_energy(self.scene, trajectory.robot, trajectory.gravity, trajectory.q[k], trajectory.v[k]) for k in (0, -1))  # type: ignore[return-value]


def refused_quantity(row: Mapping[str, Any], problem: Exception) -> dict[str, Any]:
    """Status and error of a run that was computed, where a function of the user's raised."""
    told = f"a quantity: {type(problem).__name__}: {short(problem)}"
    return {"status": "failed", "error": told if row["error"] is None else f"{row['error']}; {told}"}


def saved(trajectory: Trajectory) -> bytes:
    """The file that ``Trajectory.save`` writes."""
    stream = io.BytesIO()
    np.savez(stream, **arrays_of(trajectory))
    return stream.getvalue()


def _watching(stop: Stop) -> Callable[[float, int], None]:
    def progress(time: float, impacts: int) -> None:
        if stop():
            raise Stopped

    return progress


def work_of(question: Question, metadata: Mapping[str, Any]) -> Work:
    """What other processes need. ArgumentError where a function of the user's cannot be sent."""
    functions = {name: quantity for name, quantity in question.quantities.items() if not isinstance(quantity, Formula)}
    try:
        try:
            import cloudpickle
        except ImportError:
            sent = pickle.dumps(functions)
        else:
            sent = cloudpickle.dumps(functions)
    except Exception as problem:
        raise ArgumentError(f"quantities: {problem}; expected functions that can be sent to other processes") from None
    return Work(json.dumps(metadata), question.bundle.packed(), sent)
