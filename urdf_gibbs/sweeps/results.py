"""What a folder of a sweep holds: its table, its summary, and any of its runs once more."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from urdf_gibbs.arguments import path_of, whole
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.sweeps.question import read_question
from urdf_gibbs.sweeps.rows import COMPLETE, RESULTS
from urdf_gibbs.sweeps.scene import Folder
from urdf_gibbs.sweeps.store import QUESTION, Store
from urdf_gibbs.sweeps.worker import Worker

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

LISTED = 5  # errors in a summary


class Sweep:
    """The results of a sweep, in a folder of Parquet files that pandas, Polars and others read as it is.

    Made by ``sweep`` and ``open_sweep``.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: Path, _worker: Worker | None = None, _temporary: Folder | None = None) -> None:
        self.path = path
        self._store = Store(path)
        self._made = _worker
        self._temporary = _temporary  # goes with this object

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The question: scenario, parameters, seed, hashes of files; and versions of what computed."""
        return self._store.question()[0]

    @property
    def runs(self) -> int:
        """How many runs there are when all is done."""
        return int(self.metadata["runs"])

    @property
    def parameters(self) -> tuple[str, ...]:
        """The keys that differ between runs."""
        return tuple(self.metadata["over"])

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the columns with numbers that came of the runs."""
        return (*RESULTS, *self.metadata["quantities"])

    @property
    def missing(self) -> int:
        """How many runs are not done yet."""
        chunk = int(self.metadata["chunk"])
        return self.runs - sum(min(chunk, self.runs - number * chunk) for number in self._store.parts())

    @property
    def dataset(self) -> ds.Dataset:
        """The files as a dataset of pyarrow, which reads only what is asked for."""
        import pyarrow.dataset as ds

        return ds.dataset([*map(str, self._store.parts().values()), str(self.path / QUESTION)], format="parquet")

    @property
    def table(self) -> pa.Table:
        """All rows that are there, in the order of runs."""
        return self.dataset.to_table()

    def to_pandas(self) -> Any:
        """All rows that are there as a pandas table.

        Returns:
            The table.

        Raises:
            MissingExtraError: pandas is not installed; ``table`` is one of pyarrow without it.
        """
        with extras_named():
            return self.table.to_pandas()

    def row(self, run: int) -> dict[str, Any]:
        """One row.

        Args:
            run: Number of the run.

        Returns:
            Its values by column.

        Raises:
            ArgumentError: There is no such run, or it is not done yet.
        """
        import pyarrow.parquet as pq

        run = self._number(run)
        chunk = self.metadata["chunk"]
        path = self._store.parts().get(run // chunk)
        if path is None:
            raise ArgumentError(f"run {run} is not done yet, expected one of those in {self.path}")
        found: dict[str, Any] = pq.read_table(path).slice(run % chunk, 1).to_pylist()[0]
        return found

    def run(self, run: int) -> Trajectory:
        """One run once more, bit by bit.

        Args:
            run: Its number.

        Returns:
            Its motion; of a run that failed, until it did. A warning says where it is not that of the table, as happens on another kind of
            processor or with other versions.

        Raises:
            ArgumentError: There is no such run, or it could not begin; the reason is with it.
        """
        number = self._number(run)
        row, trajectory = self._worker.again(number)
        if trajectory is None:
            raise ArgumentError(f"run {number} could not begin: {row['error']}")
        if number // self.metadata["chunk"] in self._store.parts():
            there = self.row(number)
            other = [name for name, value in row.items() if not _equal(value, there[name])]
            if other:
                warnings.warn(f"run {number} differs from its row in {', '.join(other)}: other versions or another processor", stacklevel=2)
        return trajectory

    def summary(self) -> Summary:
        """What came of all runs that are there; files are read one by one.

        Returns:
            Counts of statuses, errors, and the extremes of all quantities.
        """
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        statuses: dict[str, int] = {}
        errors: list[tuple[int, str]] = []
        least: dict[str, tuple[float, int]] = {}
        most: dict[str, tuple[float, int]] = {}
        for path in self._store.parts().values():
            table = pq.read_table(path, columns=["run", "status", "error", *self.quantities])
            for status, count in zip(*pc.value_counts(table["status"]).flatten(), strict=True):
                statuses[status.as_py()] = statuses.get(status.as_py(), 0) + count.as_py()
            if len(errors) < LISTED and {*statuses} - {COMPLETE}:
                wrong = table.filter(pc.not_equal(table["status"], COMPLETE)).slice(0, LISTED - len(errors))
                errors += zip(wrong["run"].to_pylist(), wrong["error"].to_pylist(), strict=True)
            for name in self.quantities:
                ends = pc.min_max(table[name]).as_py()
                for kept, value, better in ((least, ends["min"], min), (most, ends["max"], max)):
                    if value is not None and (name not in kept or better(value, kept[name][0]) != kept[name][0]):
                        kept[name] = (value, table["run"][pc.index(table[name], value).as_py()].as_py())
        extremes = {name: (least[name], most[name]) for name in self.quantities if name in least}
        return Summary(self.runs, self.missing, statuses, errors, extremes)

    def __len__(self) -> int:
        return self.runs - self.missing

    def __repr__(self) -> str:
        return f"<Sweep over {', '.join(self.parameters)}: {len(self)} of {self.runs} runs in {str(self.path)!r}>"

    @cached_property
    def _worker(self) -> Worker:
        if self._made is not None:
            return self._made
        metadata, bundle = self._store.question()
        worker = Worker(read_question(metadata, bundle, {}), metadata)
        worker.prepare()
        return worker

    def _number(self, run: int) -> int:
        if whole(run, 0, "run") >= self.runs:
            raise ArgumentError(f"run={run}, expected a number from 0 to {self.runs - 1}")
        return int(run)


@dataclass(frozen=True)
class Summary:
    """What came of a sweep.

    Attributes:
        runs: How many there are when all is done.
        missing: How many are not done yet.
        statuses: How many runs have each status.
        errors: The first few that are not complete: run and reason.
        extremes: Of each quantity the least and the greatest value, each with the first run that has it.
    """

    runs: int
    missing: int
    statuses: Mapping[str, int]
    errors: list[tuple[int, str]]
    extremes: Mapping[str, tuple[tuple[float, int], tuple[float, int]]]


def open_sweep(path: str | os.PathLike[str]) -> Sweep:
    """The results in a folder that ``sweep`` has written, or is writing.

    Args:
        path: The folder.

    Returns:
        The results.

    Raises:
        ArgumentError: There is no sweep.
        MissingExtraError: The extra ``sweep`` is not installed.
    """
    with extras_named():
        import pyarrow  # noqa: F401
    found = Sweep(Path(path_of(path, "path")))
    assert found.metadata
    return found


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool((list(one) if isinstance(one, tuple) else one) == other)
