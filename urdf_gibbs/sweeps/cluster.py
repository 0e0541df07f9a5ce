"""Chunks computed by a cluster of dask.distributed. Text and bytes are sent there, the bytes of a Parquet file come back."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, cast

from urdf_gibbs.arguments import shown
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.sweeps.execute import AHEAD, Done, Task, WorkerLost
from urdf_gibbs.sweeps.worker import Chunk, Work, Worker

ASKED_AGAIN = 2.0  # s after which the cluster is asked again how many threads it has
KEPT = 2  # workers that a process of the cluster keeps for the next chunk


def by_cluster(client: Any, work: Work, name: str, tasks: Iterable[Task]) -> Iterator[Done]:
    """By the workers of a client. What a worker had that ended is computed again by another, as Dask does it.

    Args:
        client: Of dask.distributed.
        work: What the workers need.
        name: Of the question: its hash.
        tasks: The chunks.

    Yields:
        Chunks as they are ready.

    Raises:
        WorkerLost: The cluster is gone, or a chunk has ended several workers.
    """
    with extras_named():
        from distributed import CancelledError, KilledWorker, as_completed
        from distributed.comm.core import CommClosedError

        completed: Any = as_completed

    waiting, running = iter(tasks), dict[Any, Task]()
    held = client.submit(_held, work, key=f"urdf_gibbs-sweep-{name}", pure=True)  # computed again where its worker ends
    try:
        ready: Any = completed()
        threads, asked = 1, -ASKED_AGAIN
        while True:
            if clock.monotonic() - asked > ASKED_AGAIN:  # workers come and go
                threads, asked = max(1, sum(client.nthreads().values())), clock.monotonic()
            room = AHEAD * threads - len(running)
            for task in islice(waiting, max(0, room)):
                future = client.submit(_chunk, held, name, task, key=f"urdf_gibbs-sweep-{name}-{task.number}", pure=False)
                running[future] = task
                ready.add(future)
            if not running:
                return
            future = next(ready)
            task = running.pop(future)
            yield task, Chunk(*future.result())
    except (KilledWorker, CancelledError, CommClosedError, OSError) as problem:
        raise WorkerLost(f"the cluster gave a chunk up: {problem or type(problem).__name__}") from None
    finally:
        client.cancel([held, *running], force=False)


@contextmanager
def client_of(client: Any, address: str | None) -> Iterator[Any]:
    """The client that is given, or one for an address that is closed in the end; None where neither is given."""
    if address is None:
        if client is not None and not all(hasattr(client, name) for name in ("submit", "nthreads", "cancel")):
            raise ArgumentError(f"client={shown(client)}, expected a Client of dask.distributed")
        yield client
        return
    with extras_named():
        import distributed
    try:
        own: Any = cast(Any, distributed).Client(address, timeout="20s")
    except (OSError, ValueError) as problem:
        raise ArgumentError(f"dask={address!r}: {problem}; expected the address of a scheduler, tcp://HOST:8786 for instance") from None
    try:
        yield own
    finally:
        own.close()


# in a process of the cluster ------------------------------------------------------------------------------

_workers: dict[str, Worker] = {}
_lock = threading.Lock()


def _held(work: Work) -> Work:
    return work


def _chunk(work: Work, name: str, task: Task) -> tuple[Any, ...]:
    with _lock:
        if name not in _workers:
            while len(_workers) >= KEPT:
                del _workers[next(iter(_workers))]
            _workers[name] = Work(*work).worker()
        worker = _workers[name]
    return tuple(worker.chunk(task.first, task.runs))
