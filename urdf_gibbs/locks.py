"""A lock that a forked process finds free: the thread that perhaps held it stayed with the parent."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet


class Lock:
    """``with lock:`` by one thread at a time, which may do so again inside."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _made.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *problem: object) -> None:
        self._lock.release()


_made: WeakSet[Lock] = WeakSet()


def _begin_child() -> None:
    for lock in _made:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)
