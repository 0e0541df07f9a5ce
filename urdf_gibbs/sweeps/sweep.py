"""``sweep``: a scenario run many times, its results in a folder; ``Sweep``: what is in such a folder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from urdf_gibbs.arguments import flag, path_of, whole
from urdf_gibbs.errors import ArgumentError, SweepError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.sweeps.cluster import by_cluster, client_of
from urdf_gibbs.sweeps.execute import Done, Task, WorkerLost, by_processes, by_threads
from urdf_gibbs.sweeps.question import Question, chunk_of, differences, question, versions
from urdf_gibbs.sweeps.results import Sweep
from urdf_gibbs.sweeps.rows import Quantity
from urdf_gibbs.sweeps.scene import Folder
from urdf_gibbs.sweeps.store import Store, write_motions
from urdf_gibbs.sweeps.worker import Worker, work_of

Progress = Callable[[int, int, int], None]


def sweep(
    scenario: str | os.PathLike[str],
    over: Mapping[str, Any],
    *,
    runs: int | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    quantities: Mapping[str, Quantity] | None = None,
    sampling: str = "random",
    trajectories: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    processes: bool = False,
    client: Any = None,
    dask: str | None = None,
    chunk: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> Sweep:
    """Run a scenario many times with other values of its keys; every run is a row of a table.

    The rows go to Parquet files in ``out``. If a sweep is there that asks the same, only what is missing is done: after Ctrl-C, a process
    that was killed or a full disk the same call goes on, and the table is the one that an undisturbed sweep gives, bit by bit, whatever
    computes it (on processors of one kind).

    Args:
        scenario: Path of a scenario's file, or the name of a bundled one.
        over: What each key of the scenario takes: a grid "0:1:21" (from, to, count), a list, a number, or a distribution:
            "uniform(low, high)", "loguniform(low, high)", "normal(mean, deviation)", "choice(a, b, ...)" or one of scipy.stats with its
            arguments. Keys are written as "restitution", "start.q3", "gravity[2]", "walls.ground.friction", "links.link2.mass",
            "controller.kp". Lists are crossed with each other, distributions are sampled.
        runs: How many; None: as many as the lists have points.
        seed: Of what is drawn. Parameters depend on it and on the run's number alone.
        out: The folder; None: one that goes with the returned object.
        quantities: More columns: formulas of the other columns and of the state at the end, such as "energy_start - energy_end" or
            "max(q.q3, v.q3)", or functions of the Trajectory that return a number.
        sampling: "random": each run draws its own values. "latin_hypercube", "sobol": points of these kinds, crossed with the lists.
        trajectories: Folder to which the motion of every run is saved, as by ``Trajectory.save``; None: motions are not kept.
        workers: Threads, or processes, that compute; None: one for each processor that this process may use.
        processes: Whether processes compute instead of threads: a script then needs ``if __name__ == "__main__":``.
        client: A Client of dask.distributed, whose cluster computes.
        dask: The address of a scheduler of Dask, in the place of a client.
        chunk: Runs of each file; None: a 64th of small sweeps, 250, or a 256th of large ones.
        resume: Whether a sweep that is in the folder and asks the same goes on; False: a folder that is not empty is an error.
        progress: progress(done, failed, runs), called when a chunk is written.

    Returns:
        The results.

    Raises:
        ArgumentError: A key, value or other argument is wrong, said before anything runs; or another sweep is in the folder.
        ScenarioError: The scenario's file cannot be used.
        SweepError: The disk is full, or the cluster is gone: what is done is kept.
        MissingExtraError: The extra ``sweep``, or ``dask``, is not installed.
    """
    with extras_named():
        import pyarrow  # noqa: F401
        import scipy.stats  # noqa: F401
    if client is not None and dask is not None:
        raise ArgumentError("client and dask are both given, expected one of them")
    count = processors() if workers is None else whole(workers, 1, "workers")
    motions = None if trajectories is None else Path(path_of(trajectories, "trajectories"))
    asked, original = question(scenario, over, runs, seed, sampling, quantities, motions is not None)
    temporary = Folder() if out is None else None
    store = Store(Path(path_of(out, "out")) if temporary is None else temporary.path)
    begun = store.begun()
    if begun and not flag(resume, "resume"):
        raise ArgumentError(f"out={str(store.path)!r} holds a sweep, expected a new folder, or resume=True")
    metadata = _resumed(store, asked, chunk) if begun else asked.metadata(chunk_of(asked.design.runs, chunk))
    metadata["file"] = os.path.abspath(original.file)  # where meshes to look at may be found
    with client_of(client, dask) as connected:
        worker = Worker(asked, metadata)
        worker.scene.check(original)
        worker.prepare()
        tasks = tasks_of(asked.design.runs, metadata["chunk"])
        try:
            if not begun:
                store.begin(worker.schema, metadata, asked.bundle)
            with store.alone(len(tasks)):
                store.tidy()
                there = store.whole_parts()
                missing = [task for task in tasks if task.number not in there]
                done = _computed(worker, metadata, missing, count, processes, connected)
                _write(store, motions, done, tasks, missing, progress)
        except WorkerLost as lost:
            raise SweepError(str(lost), len(store.parts()), len(tasks)) from None
        except OSError as problem:
            raise SweepError(f"{store.path} cannot be written: {problem.strerror or problem}", len(store.parts()), len(tasks)) from None
    return Sweep(store.path, worker, temporary)


def _computed(worker: Worker, metadata: Mapping[str, Any], tasks: list[Task], workers: int, processes: bool, client: Any) -> Iterator[Done]:
    if client is not None:
        return by_cluster(client, work_of(worker.question, metadata), worker.question.hash[:16], tasks)
    if processes:
        return by_processes(work_of(worker.question, metadata), tasks, min(workers, max(len(tasks), 1)))
    return by_threads(worker, tasks, workers)


def _write(
    store: Store, motions: Path | None, computed: Iterator[Done], tasks: list[Task], missing: list[Task], progress: Progress | None
) -> None:
    """Write chunks as they come; what was begun is ended where that fails."""
    runs = sum(task.runs for task in tasks)
    done, failed = runs - sum(task.runs for task in missing), 0
    try:
        if progress is not None:
            progress(done, failed, runs)
        for task, chunk in computed:
            if motions is not None:
                write_motions(motions, chunk.motions)
            store.write(task.number, chunk.data)
            done, failed = done + task.runs, failed + chunk.failures
            if progress is not None:
                progress(done, failed, runs)
    finally:
        computed.close()  # type: ignore[attr-defined]


def _resumed(store: Store, asked: Question, chunk: int | None) -> dict[str, Any]:
    """The metadata for what is missing in a folder. ArgumentError where it holds another sweep, and says what differs."""
    there, _ = store.question()
    if there["hash"] != asked.hash:
        found = "; ".join(differences(asked.plain, there)) or "the format"
        raise ArgumentError(
            f"out={str(store.path)!r} holds another sweep, expected a new folder or the same question; it differs in: {found}"
        )
    if chunk is not None and chunk != there["chunk"]:
        raise ArgumentError(f"chunk={chunk}, expected {there['chunk']}, as the files that are there have, or None")
    ours = versions()
    changed = [
        f"{name} {version} (now {ours.get(name, 'none')})" for name, version in there["versions"].items() if ours.get(name) != version
    ]
    if changed:
        warnings.warn(f"{store.path} was begun by {', '.join(changed)}: last digits may differ between rows", stacklevel=3)
    return asked.metadata(there["chunk"])


def tasks_of(runs: int, chunk: int) -> list[Task]:
    """All chunks."""
    return [Task(number, first, min(chunk, runs - first)) for number, first in enumerate(range(0, runs, chunk))]


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
