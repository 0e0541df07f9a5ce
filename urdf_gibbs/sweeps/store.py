"""The folder of a sweep: Parquet files and nothing else, so that any reader takes it as one table.

``question.parquet`` has no rows; its metadata hold the question and the scenario with its files. ``part-000012.parquet`` holds the runs of
one chunk. Every file is written beside, under a name that begins with "_", and renamed when it is on the disk.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from urdf_gibbs.errors import ArgumentError, SweepError
from urdf_gibbs.simulation.whole_file import ENDING, whole_file
from urdf_gibbs.sweeps.bundle import Bundle
from urdf_gibbs.sweeps.question import FORMAT, VERSION

if TYPE_CHECKING:
    import pyarrow as pa

QUESTION, MARK = "question.parquet", "_"
PART = re.compile(r"part-(\d{6,})\.parquet")
MOTION = "run-{:07d}.npz"
MAGIC = b"PAR1"  # the first and last bytes of a Parquet file
BUNDLE = b"urdf_gibbs_files"


class Store:
    """A folder of results."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # the question -----------------------------------------------------------------------------------

    def begun(self) -> bool:
        """Whether there is a sweep in the folder. ArgumentError where there is something else."""
        if (self.path / QUESTION).is_file():
            return True
        if self.path.exists() and (not self.path.is_dir() or any(not _unfinished(one.name) for one in self.path.iterdir())):
            raise ArgumentError(f"out={str(self.path)!r} holds something else, expected a new folder, or one of a sweep")
        return False

    def begin(self, schema: pa.Schema, told: Mapping[str, Any], bundle: Bundle) -> None:
        """Make the folder and write the question: ``told`` and the scenario with its files as metadata of a table without rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path.mkdir(parents=True, exist_ok=True)
        metadata = {b"urdf_gibbs": json.dumps(told), BUNDLE: base64.b64encode(bundle.packed())}
        with whole_file(self.path / QUESTION, MARK) as file:
            pq.write_table(schema.with_metadata(metadata).empty_table(), pa.PythonFile(file, mode="w"))

    def question(self) -> tuple[dict[str, Any], Bundle]:
        """The metadata of the sweep and the scenario with its files. ArgumentError where the folder holds no sweep."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            found = pq.read_schema(self.path / QUESTION).metadata
            metadata = json.loads(found[b"urdf_gibbs"])
            bundle = Bundle.unpacked(base64.b64decode(found[BUNDLE]))
        except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise ArgumentError(f"{self.path} holds no sweep ({reason}), expected a folder that a sweep has written") from None
        if metadata.get("format") != FORMAT or metadata.get("version", 0) > VERSION:
            raise ArgumentError(f"{self.path}: format {metadata.get('version')} is newer than {VERSION}, the newest that is read here")
        return metadata, bundle

    # chunks -----------------------------------------------------------------------------------------

    def parts(self) -> dict[int, Path]:
        """The chunks that are there, by their number."""
        found = {}
        for path in self.path.iterdir() if self.path.is_dir() else ():
            name = PART.fullmatch(path.name)
            if name:
                found[int(name[1])] = path
        return dict(sorted(found.items()))

    def whole_parts(self) -> set[int]:
        """Numbers of the chunks that are there; files that were cut off, by a disk that broke for instance, are removed."""
        numbers = set()
        for number, path in self.parts().items():
            with open(path, "rb") as file:
                whole = file.read(4) == MAGIC and file.seek(-4, os.SEEK_END) and file.read(4) == MAGIC
            if whole:
                numbers.add(number)
            else:
                path.unlink()
        return numbers

    def tidy(self) -> None:
        """Remove what a process that was killed left unfinished."""
        for path in self.path.iterdir():
            if _unfinished(path.name):
                path.unlink(missing_ok=True)

    def write(self, number: int, data: bytes) -> None:
        """One chunk."""
        with whole_file(self.path / f"part-{number:06d}.parquet", MARK) as file:
            file.write(data)

    @contextmanager
    def alone(self, chunks: int) -> Iterator[None]:
        """Hold the folder: SweepError where another process works in it. Where the system has no locks of this kind there is none."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        with open(self.path / QUESTION, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SweepError(f"another process is working in {self.path}", len(self.parts()), chunks) from None
            except OSError:  # a file system without locks
                pass
            yield


def write_motions(folder: Path, motions: Mapping[int, bytes]) -> None:
    """Motions as files of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    for run, data in motions.items():
        with whole_file(folder / MOTION.format(run), MARK) as file:
            file.write(data)


def _unfinished(name: str) -> bool:
    return name.startswith(MARK) and name.endswith(ENDING)
