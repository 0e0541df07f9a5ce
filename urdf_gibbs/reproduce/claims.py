"""A claim of a paper, what is measured here, and the verdict, which follows from the comparison and is never written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

REPRODUCED = "reproduced"
CORRECTED = "reproduced with a correction"
DIFFERS = "measured otherwise"
IMPOSSIBLE = "not reproducible"
VERDICTS = (REPRODUCED, CORRECTED, DIFFERS, IMPOSSIBLE)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. ``key`` names it in the summary; ``place`` is where the paper makes it.

    ``ours`` is what was measured, ``holds`` whether that is the paper's within the tolerance that ``difference`` speaks of.
    ``correction`` says what had to be put right first, ``missing`` why nothing can be measured, ``details`` what is too long for a
    table. ``timed`` marks figures that depend on the machine.
    """

    key: str
    place: str
    statement: str
    printed: str
    ours: str
    difference: str = ""
    holds: bool = True
    correction: str = ""
    missing: str = ""
    note: str = ""
    details: str = ""
    timed: bool = False

    @property
    def verdict(self) -> str:
        if self.missing:
            return IMPOSSIBLE
        if not self.holds:
            return DIFFERS
        return CORRECTED if self.correction else REPRODUCED

    @property
    def reason(self) -> str:
        """What belongs behind the verdict."""
        return " ".join(part for part in (self.missing, self.correction, self.note) if part)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a paper drawn again: ``draw(theme)`` gives a Matplotlib figure."""

    place: str
    caption: str
    draw: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: heads and rows of text."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Animation:
    """A motion in 3-D: ``html()`` makes the page that is written as ``name``.html beside the report."""

    name: str
    caption: str
    html: Callable[[], str]


@dataclass(slots=True)
class Section:
    """One part of the report."""

    title: str
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    animations: list[Animation] = field(default_factory=list)


def relative(printed: float, ours: float) -> str:
    """The difference in per cent of what is printed; absolute where that is zero."""
    if printed == 0.0:
        return f"{ours:+.2g}"
    return f"{100.0 * (ours - printed) / printed:+.2f} %"


def rounding(printed: str) -> float:
    """Half a unit of the last digit that is printed, with the round-off of reading it."""
    digits = len(printed.partition(".")[2])
    return 0.5 * 10.0**-digits * (1.0 + 1e-9)
