"""Chunks computed by threads or processes of this machine; ``cluster.py`` has Dask's. Results come as they are ready, in any order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import Any, NamedTuple

from urdf_gibbs.sweeps.worker import Chunk, Stop, Work, Worker

AHEAD = 2  # chunks that wait for each worker: results do not pile up, and nobody waits for the next


class Task(NamedTuple):
    """A chunk to be computed: its number, its first run and how many runs it has."""

    number: int
    first: int
    runs: int


Done = tuple[Task, Chunk]


class WorkerLost(Exception):
    """A process that computed chunks has ended."""


def by_threads(worker: Worker, tasks: Iterable[Task], workers: int) -> Iterator[Done]:
    """By threads of this process. Whoever ends the iteration early ends the chunks that are being computed."""
    ended = threading.Event()
    with ThreadPoolExecutor(workers, thread_name_prefix="urdf_gibbs sweep") as pool:
        yield from _as_ready(pool, lambda task: pool.submit(worker.chunk, task.first, task.runs, ended.is_set), tasks, workers, ended.set)


def by_processes(work: Work, tasks: Iterable[Task], workers: int) -> Iterator[Done]:
    """By new processes, which end with the iteration. WorkerLost where one of them ends before."""
    context = get_context("spawn")  # a fork would copy threads of NumPy's and locks
    ended = context.Event()
    pool = ProcessPoolExecutor(workers, context, _begin, (work, ended))
    try:
        yield from _as_ready(pool, lambda task: pool.submit(_chunk, task), tasks, workers, ended.set)
    except BrokenProcessPool:
        raise WorkerLost("a process that computed runs has ended") from None
    finally:
        ended.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _as_ready(
    pool: Executor, submit: Callable[[Task], Future[Chunk]], tasks: Iterable[Task], workers: int, end: Callable[[], None]
) -> Iterator[Done]:
    waiting, running = iter(tasks), dict[Future[Chunk], Task]()
    try:
        while True:
            for task in islice(waiting, AHEAD * workers - len(running)):
                running[submit(task)] = task
            if not running:
                return
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                yield running.pop(future), future.result()
    finally:
        end()
        for future in running:
            future.cancel()


# in a process of the pool ---------------------------------------------------------------------------------

_here: list[tuple[Worker, Stop]] = []


def _begin(work: Work, ended: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal: the first one tells the others
    _here[:] = [(work.worker(), ended.is_set)]


def _chunk(task: Task) -> Chunk:
    worker, stop = _here[0]
    return worker.chunk(task.first, task.runs, stop)
