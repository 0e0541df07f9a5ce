"""Claims of the papers, what is measured here, and verdicts, which are functions of the printed figures.

Each verdict has one definition (``MEANING``), applied alike to all claims; papers both round and cut off, hence a unit of the last digit.
What a paper shows without a figure, a word or an equation that could be compared is no claim but a ``Gap``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

REPRODUCED = "reproduced"
CORRECTED = "reproduced with a correction"
DIFFERS = "measured otherwise"
IMPOSSIBLE = "not reproducible"
MACHINE = "depends on the machine"
VERDICTS = (REPRODUCED, CORRECTED, DIFFERS, IMPOSSIBLE, MACHINE)
MEANING = {
    REPRODUCED: "what is measured is what is printed, within a unit of the last digit, or to round-off where the claim is an equation",
    CORRECTED: "not as printed, but after a correction that is named: a term, a mark or a reading",
    DIFFERS: "not as printed, and no correction is known that makes it so",
    IMPOSSIBLE: "not as printed, and the paper does not give what would tell why: steps, a program, a measure",
    MACHINE: "a comparison of times that differ by less than a margin",
}

MARGIN = 3.0  # times that differ by a smaller factor decide nothing: this is how much they vary between runs, programs and machines
NONSENSE = "nonsense"

Progress = Callable[[str], None]


class Agreement(Enum):
    """What a comparison with printed figures gives."""

    AS_PRINTED = "as printed"
    AFTER_CORRECTION = "after a correction"
    NONE = "none"
    UNDECIDED = "undecided"


Judge = Callable[..., Agreement]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure or a word as the paper prints it, with its unit. ``digit``: the last one that counts, where it is not the last printed."""

    text: str
    unit: str = ""
    digit: float | None = None

    def __str__(self) -> str:
        return f"{self.text} {self.unit}".strip()

    def changed(self) -> tuple[str, ...]:
        """Ten units of the last digit up and down, written alike; nonsense for a word. With these the verdict must be another."""
        if math.isnan(number(self.text)):
            return (NONSENSE,)
        numerator, slash, denominator = self.text.partition("/")
        mantissa, e, exponent = numerator.lower().partition("e")
        steps = 10.0 if self.digit is None else 10.0 * self.digit / last_digit(self.text)
        decimals = len(mantissa.partition(".")[2])
        values = (float(mantissa) + sign * steps * 10.0**-decimals for sign in (1.0, -1.0))
        return tuple(f"{value:.{decimals}f}{e}{exponent}{slash}{denominator}" for value in values)


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. ``key`` names it in the summary; ``place`` is where the paper makes it.

    ``judge`` takes the texts of the printed figures, in their order, and compares them with what was measured, which ``ours`` and
    ``difference`` tell. ``otherwise``: figures with which a claim that does not hold would hold; ``correction`` says what had to be put
    right, ``missing`` what the paper does not give, ``details`` what is too long for a table. ``timed`` marks figures that depend on the
    machine.
    """

    key: str
    place: str
    statement: str
    figures: tuple[Figure, ...]
    ours: str
    judge: Judge
    difference: str = ""
    otherwise: tuple[str, ...] = ()
    correction: str = ""
    missing: str = ""
    note: str = ""
    details: str = ""
    timed: bool = False

    @property
    def printed(self) -> str:
        return ", ".join(map(str, self.figures))

    @property
    def verdict(self) -> str:
        return self.verdict_on(*(figure.text for figure in self.figures))

    def verdict_on(self, *texts: str) -> str:
        """The verdict if the paper printed these figures."""
        agreement = self.judge(*texts)
        if agreement is Agreement.NONE:
            return IMPOSSIBLE if self.missing else DIFFERS
        return {Agreement.AS_PRINTED: REPRODUCED, Agreement.AFTER_CORRECTION: CORRECTED, Agreement.UNDECIDED: MACHINE}[agreement]

    @property
    def reason(self) -> str:
        """The explanation of the verdict."""
        verdict = self.verdict
        correction = self.correction if verdict == CORRECTED else ""
        missing = self.missing if verdict == IMPOSSIBLE else ""
        return " ".join(part for part in (missing, correction, self.note) if part)


@dataclass(frozen=True, slots=True)
class Gap:
    """What a paper shows and nothing can be compared with: what is missing, and what is shown here instead."""

    key: str
    place: str
    statement: str
    missing: str
    instead: str = "-"


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
    gaps: list[Gap] = field(default_factory=list)


# figures ------------------------------------------------------------------------------------------------


def number(text: str) -> float:
    """The number that a text is, fractions such as 507/2 included; NaN where it is none."""
    try:
        return float(text) if "/" not in text else float(Fraction(text))
    except ValueError:
        return math.nan


def last_digit(text: str) -> float:
    """A unit of the last digit of a number as printed: 0.0001 of 0.3851, 1e-18 of 1e-18, 1/2 of 507/2."""
    mantissa, _, exponent = text.lower().partition("e")
    if "/" in mantissa:
        return 1.0 / float(mantissa.partition("/")[2])
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def near(text: str, value: float, units: float = 1.0, digit: float | None = None) -> bool:
    """Whether a value is within so many units of the last digit of a printed number; False for text that is not a number."""
    printed = number(text)
    if math.isnan(printed):
        return False
    return abs(value - printed) <= units * (digit or last_digit(text)) * (1.0 + 1e-9)  # and the round-off of reading it


def all_near(texts: Sequence[str], values: Sequence[float], units: float = 1.0) -> bool:
    return all(near(text, value, units) for text, value in zip(texts, values, strict=True))


def relative(printed: float, ours: float) -> str:
    """The difference in per cent of what is printed; absolute where that is zero."""
    if printed == 0.0:
        return f"{ours:+.2g}"
    return f"{100.0 * (ours - printed) / printed:+.2f} %"


# judging ------------------------------------------------------------------------------------------------


def agreement(as_printed: bool, corrected: bool = False) -> Agreement:
    """From whether it holds as printed, and whether it holds after the correction."""
    if as_printed:
        return Agreement.AS_PRINTED
    return Agreement.AFTER_CORRECTION if corrected else Agreement.NONE


def same(*ours: str) -> Judge:
    """Holds where the printed words are ours."""
    return lambda *texts: agreement(texts == ours)


def numbers(*ours: float, units: float = 1.0) -> Judge:
    """Holds where all printed numbers are near to ours."""
    return lambda *texts: agreement(all_near(texts, ours, units))


def faster(word: str, ratios: Sequence[float], other: str = NONSENSE) -> Judge:
    """Of a comparison of times: ``word`` is what is printed if it is the faster one, ``ratios`` how many times faster it was.

    Undecided unless all ratios are on one side of the margin; with ``other`` printed, the name of the slower one, the reverse holds.
    """

    def judge(text: str) -> Agreement:
        if all(ratio > MARGIN for ratio in ratios):
            return agreement(text == word)
        if all(ratio < 1.0 / MARGIN for ratio in ratios):
            return agreement(text == other)
        return Agreement.UNDECIDED

    return judge
