"""Nothing is lost and nothing done twice: killed processes, Ctrl-C, full disks, other questions; and what reads the folder."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sweep_cases import OVER, ball, rows, stamps

import urdf_gibbs as ug
from urdf_gibbs.simulation import whole_file
from urdf_gibbs.sweeps.question import chunk_of
from urdf_gibbs.sweeps.store import Store

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return rows(ball(tmp_path_factory.mktemp("undisturbed") / "runs", workers=1, chunk=60))


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from sweep_cases import ball
writes, wrote = 0, os.fsync
def fsync(number):
    global writes
    writes += os.readlink(f"/proc/self/fd/{{number}}").endswith(".part")
    if writes == 4:  # the question and two chunks are there, the third is being written
        os.kill(os.getpid(), signal.SIGKILL)
    wrote(number)
os.fsync = fsync
ball(Path({folder!r}))
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files, as Linux tells them")
def test_a_process_that_is_killed_while_it_writes_is_gone_on_with(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    tests, folder = Path(__file__).parent, tmp_path / "runs"
    code = KILLED.format(tests=str(tests), root=str(tests.parent), folder=str(folder))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == -signal.SIGKILL, done.stderr
    before = stamps(folder)
    assert len(before) == 2 and len([path for path in folder.iterdir() if path.name.startswith("_part-")]) == 1
    found = ball(folder, workers=3)
    assert rows(found) == undisturbed
    whole = ball(tmp_path / "whole", workers=1)
    assert all(path.read_bytes() == (whole.path / path.name).read_bytes() for path in folder.glob("part-*.parquet"))
    assert {name: stamp for name, stamp in stamps(folder).items() if name in before} == before  # not done again
    assert not [path for path in folder.iterdir() if path.name.startswith("_")]


def test_ctrl_c_keeps_what_is_done(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    def pressed(done: int, failed: int, runs: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ball(tmp_path / "runs", progress=pressed)
    part = ug.open_sweep(tmp_path / "runs")
    assert part.missing == 40 and len(part) == len(part.table) == 20
    assert repr(part).endswith(f"20 of 60 runs in '{part.path}'>")
    before, told = stamps(part.path), list[tuple[int, int, int]]()
    found = ball(part.path, progress=lambda *counts: told.append(counts))
    assert rows(found) == undisturbed and found.missing == 0
    assert told[0] == (20, 0, 60) and told[-1] == (60, 0, 60) and len(told) == 5
    assert before.items() <= stamps(part.path).items()
    ball(part.path, progress=lambda *counts: told.append(counts))
    assert told[5:] == [(60, 0, 60)]  # nothing is left to do
    with pytest.raises(ug.ArgumentError, match="holds a sweep, expected a new folder"):
        ball(part.path, resume=False)


@POSIX
def test_a_file_that_may_not_grow_ends_the_sweep_with_an_error_that_says_so(tmp_path: Path) -> None:
    """The kernel refuses the write half way, as it does on a full disk."""
    import resource

    options: dict[str, Any] = {"runs": 4000, "chunk": 1000, "quantities": {f"k{k}": f"{k} * energy_start" for k in range(1, 9)}}
    whole = ball(tmp_path / "whole", **options)
    sizes = [path.stat().st_size for path in whole.path.glob("part-*.parquet")]
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(sizes) // 2, limit[1]))
    try:
        with pytest.raises(ug.SweepError, match="cannot be written: File too large; 0 of 4 files of rows are whole and kept"):
            ball(tmp_path / "runs", **options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["question.parquet"]
    assert rows(ball(tmp_path / "runs", **options)) == rows(whole)


def test_a_full_disk_keeps_what_is_done(tmp_path: Path, undisturbed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    written, fsync = [], os.fsync

    def full(number: int) -> None:
        written.append(number)
        if len(written) > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(number)

    monkeypatch.setattr(whole_file.os, "fsync", full)
    with pytest.raises(ug.SweepError, match=r"No space left on device; . of 6 files") as refusal:
        ball(tmp_path / "runs")
    monkeypatch.undo()
    before = stamps(tmp_path / "runs")
    assert 0 < len(before) < 6 and refusal.value.done == len(before)
    assert not [path for path in (tmp_path / "runs").iterdir() if path.name.startswith("_")]
    assert rows(ball(tmp_path / "runs")) == undisturbed and before.items() <= stamps(tmp_path / "runs").items()


def test_a_file_that_was_cut_off_is_made_again(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    found = ball(tmp_path / "runs")
    part = found.path / "part-000002.parquet"
    part.write_bytes(part.read_bytes()[:-7])
    assert rows(ball(tmp_path / "runs")) == undisturbed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 8}, r"seed \(7 there, 8 here\)"),
        ({"runs": 61}, r"runs \(60 there, 61 here\)"),
        ({"over": {**OVER, "restitution": "0.2:0.7:3"}}, "the parameter restitution"),
        ({"over": {**OVER, "duration": 4.0}}, r"the parameter duration \(not there\)"),
        ({"over": dict(reversed(OVER.items()))}, "the order of the parameters"),
        ({"quantities": {"lost": "energy_start"}}, r"the quantity lost \(not there\)"),
        ({"sampling": "sobol"}, "sampling"),
        ({"chunk": 20}, "chunk=20, expected 10"),
    ],
)
def test_another_question_in_the_same_folder_is_refused(
    change: dict[str, Any], said: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "same_folder"
    before = stamps(ball(folder).path)
    with pytest.raises(ug.ArgumentError, match=said):
        ball(folder, **change)
    assert stamps(folder) == before


def test_long_lists_are_in_the_question_and_not_in_every_file(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    found = ug.sweep("bouncing_ball", {"restitution": "0:0.5:2001"}, out=tmp_path / "runs", chunk=1000, workers=1)
    assert len(pq.read_schema(found.path / "part-000001.parquet").metadata[b"urdf_gibbs"]) < 5000
    assert ug.open_sweep(found.path).run(2000).settings["restitution"] == 0.5 and found.row(2000)["restitution"] == 0.5


def test_files_are_neither_too_many_nor_too_large() -> None:
    sizes = {runs: chunk_of(runs, None) for runs in (1, 64, 65, 1000, 10_000, 100_000, 1_000_000, 10_000_000)}
    assert sizes == {1: 1, 64: 1, 65: 2, 1000: 16, 10_000: 157, 100_000: 391, 1_000_000: 3907, 10_000_000: 5000}
    assert chunk_of(1000, 7) == 7


def test_a_function_that_was_changed_is_another_question(tmp_path: Path) -> None:
    ball(tmp_path / "runs", runs=6, quantities={"n": lambda motion: float(len(motion.impacts))})
    with pytest.raises(ug.ArgumentError, match="the quantity n"):
        ball(tmp_path / "runs", runs=6, quantities={"n": lambda motion: float(len(motion.phases))})


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ug.SweepError, match=r"file/runs cannot be written: Not a directory; 0 of 6"):
        ball(tmp_path / "file" / "runs")


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ug.ArgumentError, match="holds something else"):
        ball(tmp_path)
    with pytest.raises(ug.ArgumentError, match="holds no sweep"):
        ug.open_sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@POSIX
def test_two_processes_do_not_work_in_one_folder(tmp_path: Path) -> None:
    found = ball(tmp_path / "runs")
    with Store(found.path).alone(6), pytest.raises(ug.SweepError, match="another process is working in"):
        ball(tmp_path / "runs")


def test_other_versions_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ball(tmp_path / "runs")
    monkeypatch.setattr("urdf_gibbs.sweeps.question.__version__", "99")
    with pytest.warns(UserWarning, match=r"begun by urdf_gibbs .* \(now 99\)"):
        ball(tmp_path / "runs")


def test_processes_find_the_same_rows_as_threads(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    assert rows(ball(tmp_path / "runs", processes=True, chunk=20)) == undisturbed


def test_pandas_polars_and_pyarrow_read_the_folder_as_it_is(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    import json

    import pandas
    import polars
    import pyarrow.parquet as pq

    found = ball(tmp_path / "runs")
    assert pandas.read_parquet(found.path).equals(found.to_pandas())
    assert polars.read_parquet(found.path).sort("run").to_dict(as_series=False) == undisturbed
    assert pq.read_table(found.path).sort_by("run").to_pydict() == undisturbed
    told = json.loads(pq.read_schema(found.path / "part-000003.parquet").metadata[b"urdf_gibbs"])
    assert told["scenario"] == ug.scenario_path("bouncing_ball").read_text() and told["seed"] == 7
    assert told["hash"] == found.metadata["hash"] and told["versions"]["urdf_gibbs"] == ug.__version__
