"""A lock that is free in a forked process, even if a thread of the parent held it."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet


class Lock:
    """A reentrant lock: ``with lock:``."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *problem: object) -> None:
        self._lock.release()


_locks: WeakSet[Lock] = WeakSet()


def _after_fork() -> None:
    for lock in _locks:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
