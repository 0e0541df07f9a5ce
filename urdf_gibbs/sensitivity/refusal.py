"""Why a derivative does not exist, where it was found; the sensitivity's own loop adds what was computed before (run.py)."""

from __future__ import annotations

import numpy as np


class Refusal(Exception):
    """``reason``, the time [s], the contacts that matter, and the spread: how far outcomes that are all near are apart, NaN: no matter."""

    def __init__(self, reason: str, time: float, contacts: tuple[str, ...] = (), spread: float = np.nan) -> None:
        super().__init__(reason)
        self.reason, self.time, self.contacts, self.spread = reason, time, contacts, spread
