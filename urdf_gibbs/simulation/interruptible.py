"""Ctrl-C while compiled code is running."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Interruptible:
    """Context manager: Ctrl-C appends to the list instead of raising; a second one raises. Only where Python's own handler is installed."""

    def __enter__(self) -> list[int]:
        self._caught: list[int] = []
        main = threading.get_ident() == threading.main_thread().ident
        self._mine = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._mine:
            signal.signal(signal.SIGINT, self._note)
        return self._caught

    def __exit__(self, *problem: object) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: Any) -> None:
        if self._caught:
            raise KeyboardInterrupt
        self._caught.append(number)
