"""The thread pool for large batches."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from urdf_gibbs.arguments import whole
from urdf_gibbs.locks import Lock

_threads = max(1, os.cpu_count() or 1)
_pool: ThreadPoolExecutor | None = None
_lock = Lock()


def _after_fork() -> None:
    """A forked process has none of its parent's threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def set_threads(count: int) -> None:
    """Say how many threads a large batch may use; at first it is one for each core.

    Args:
        count: At least 1.

    Raises:
        ArgumentError: It is no whole number of at least 1.
    """
    global _threads, _pool
    count = whole(count, 1, "count")
    with _lock:
        _threads, _pool = count, None


def get_threads() -> int:
    """How many threads a large batch may use.

    Returns:
        The number of threads.
    """
    return _threads


def run_on_threads(pieces: list[Any], action: Callable[..., Any], threads: int) -> list[Any]:
    """``action(*piece)`` for all pieces, in this thread and ``threads`` - 1 others; results in no particular order.

    Each thread takes the next piece when it is free: one that wakes up late does fewer, and one that wakes up too late is cancelled.
    """
    left = iter(pieces)

    def work() -> list[Any]:
        return [action(*piece) for piece in left]  # next() of a list iterator is atomic

    running = [_executor().submit(work) for _ in range(threads - 1)]
    results = work()
    for job in running:
        if not job.cancel():
            results += job.result()
    return results


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(_threads, thread_name_prefix="urdf_gibbs")
        return _pool
