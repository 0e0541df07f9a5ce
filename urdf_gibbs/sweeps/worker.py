"""Computes chunks: runs first, first + 1, ... as the bytes of one Parquet file; the same for threads, processes and clusters."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from urdf_gibbs.errors import ArgumentError, NotVariableError, SimulationError, UrdfGibbsError
from urdf_gibbs.simulation.archive import arrays_of
from urdf_gibbs.simulation.scenario.expression import Formula
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.sweeps.bundle import Bundle
from urdf_gibbs.sweeps.compiled import Compiled
from urdf_gibbs.sweeps.general import General, Stop, Stopped
from urdf_gibbs.sweeps.question import Question, read_question
from urdf_gibbs.sweeps.rows import COMPLETE, FUNCTION, column, schema
from urdf_gibbs.sweeps.scene import Scene

__all__ = ["Chunk", "Stop", "Stopped", "Work", "Worker", "work_of"]


class Work(NamedTuple):
    """What is sent to other processes: the metadata of the sweep, its scenario with files, and functions of the user's (pickled)."""

    metadata: str
    bundle: bytes
    functions: bytes

    def worker(self) -> Worker:
        """A worker for it, made anew."""
        metadata, bundle = json.loads(self.metadata), Bundle.unpacked(self.bundle)
        worker = Worker(read_question(metadata, bundle, pickle.loads(self.functions)), metadata)
        worker.prepare()
        return worker


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

    Attributes:
        question: The same.
        scene: Its scenario.
        compiled: Its runs in compiled code; None where each run has a Simulator. That depends on the question alone.
        reason: Why they are not in compiled code.
        schema: Of the files.
    """

    def __init__(self, question: Question, metadata: Mapping[str, Any]) -> None:
        self.question, self.scene = question, Scene(question)
        self.schema = schema(question.design.over, question.quantities, metadata)
        self._seed = str(metadata["seed"]) if metadata["seed"] >= 2**63 else metadata["seed"]
        self._functions = any(text.startswith(FUNCTION) for text in metadata["quantities"].values())
        self.compiled: Compiled | None = None
        self.reason = ""
        self._general = General(self.scene)

    def prepare(self) -> None:
        """Choose between compiled runs and a Simulator for each, and compile."""
        if self.question.trajectories or self._functions:
            self.reason = "motions are kept" if self.question.trajectories else "quantities are functions"
            return
        try:
            self.compiled = Compiled(self.scene)
        except NotVariableError as problem:
            self.reason = f"{problem.what}: {problem.reason}"
        except UrdfGibbsError as problem:  # the first run cannot begin: others may
            self.reason = str(problem)

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
        motions: dict[int, bytes] = {}
        if self.compiled is not None:
            columns = self.compiled.columns(first, parameters, stop)
        else:
            rows = self._general.rows(first, parameters, stop)
            columns = {name: [row[name] for row, _ in rows] for name in rows[0][0]}
            if self.question.trajectories:
                motions = {first + k: saved(motion) for k, (_, motion) in enumerate(rows) if motion is not None}
        columns |= {"run": np.arange(first, first + count), "seed": [self._seed] * count}
        columns |= {key: column(self.question.design.over[key], entries) for key, entries in parameters.items()}
        arrays = [pa.array(columns[field.name], field.type, from_pandas=True) for field in self.schema]
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(arrays, schema=self.schema), stream, compression="zstd")
        return Chunk(stream.getvalue(), sum(status != COMPLETE for status in columns["status"]), motions)

    def again(self, run: int) -> tuple[dict[str, Any], Trajectory | None]:
        """One run once more.

        Args:
            run: Its number.

        Returns:
            Its row by columns, and its motion; None where it could not begin.
        """
        import pyarrow.parquet as pq

        parameters = self.question.design.columns(run, 1)
        row: dict[str, Any] = pq.read_table(io.BytesIO(self.chunk(run, 1).data)).to_pylist()[0]
        if self.compiled is None:
            ((_, trajectory),) = self._general.rows(run, parameters, lambda: False)
            return row, trajectory
        try:
            return row, self.compiled.trajectory(parameters)
        except SimulationError as problem:
            return row, problem.trajectory
        except UrdfGibbsError:
            return row, None


def saved(trajectory: Trajectory) -> bytes:
    """The file that ``Trajectory.save`` writes."""
    stream = io.BytesIO()
    np.savez(stream, **arrays_of(trajectory))
    return stream.getvalue()


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
