"""Progress of what takes long where there is no terminal for a bar: plain lines on standard error, now and then."""

from __future__ import annotations

import time

from urdf_gibbs.cli.console import err

REPORTED = 5.0  # s between two lines; what is over before gets none


class Lines:
    """Called with what there is to say at any time, it says some of it."""

    def __init__(self) -> None:
        self.said = time.monotonic()

    def __call__(self, text: str) -> None:
        if time.monotonic() - self.said >= REPORTED:
            self.said = time.monotonic()
            err.print(text, markup=False)
