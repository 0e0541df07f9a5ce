"""What the tables and figures of the three papers have in common: counts side by side, their differences, curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.counts.literal import Item, Literal
from urdf_gibbs.counts.polynomial import Powers, fitted
from urdf_gibbs.counts.printed import Formula, equivalent_additions


@dataclass(frozen=True)
class Pair:
    """Multiplications and additions; halves remain where a printed formula has them."""

    multiplications: float
    additions: float

    @property
    def both(self) -> tuple[float, float]:
        return self.multiplications, self.additions

    @property
    def total(self) -> float:
        return self.multiplications + self.additions

    @property
    def equivalent(self) -> float:
        """WJ's equivalent additions."""
        return equivalent_additions(self.multiplications, self.additions)

    def against(self, other: Pair) -> Pair:
        """How much more than ``other`` this is, in per cent of it."""
        pairs = ((self.multiplications, other.multiplications), (self.additions, other.additions))
        return Pair(*(100.0 * (mine - theirs) / theirs for mine, theirs in pairs))


@dataclass(frozen=True)
class Row:
    """One method of a table: what the paper prints and our counts of our source, and why they differ.

    ``formula`` is the literal count as a polynomial, ``kinds`` its parts by kind of product; ``difference`` is literal against printed,
    in per cent. ``steps``: the steps that the paper writes down, counted by its own rule, where it writes them; ``left_out``: what
    ``literal`` leaves out because the paper does.
    """

    method: str  # the module in dynamics/
    label: str
    printed: Pair
    literal: Pair
    as_written: Pair | None  # None: too large to be counted in reasonable time
    folded: Pair | None
    printed_formula: Formula
    formula: Formula
    kinds: dict[str, Formula]
    why: str
    steps: Pair | None = None
    steps_formula: Formula | None = None
    left_out: Pair | None = None

    @property
    def difference(self) -> Pair:
        return self.literal.against(self.printed)


@dataclass(frozen=True)
class Claim:
    """An order that a paper states, and whether its formulas and our counts have it (in multiplications and in additions).

    The keys are "printed", "literal", "steps", "as_written" and "folded", as far as both methods are counted so.
    """

    statement: str
    holds: dict[str, bool]


@dataclass(frozen=True)
class Table:
    """A table at one size, its rows in the paper's order."""

    title: str
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Figure:
    """Curves over ``x``: (method, "printed", "literal" or "steps") to arrays as long as x.

    The arrays are "multiplications", "additions" and "equivalent" (WJ's equivalent additions).
    """

    title: str
    x_label: str
    x: NDArray[np.float64]
    curves: dict[tuple[str, str], dict[str, NDArray[np.float64]]]
    labels: dict[str, str]  # of the methods


WAYS = ("printed", "steps", "literal", "as_written", "folded")


def pair(counts: Mapping[str, int]) -> Pair:
    """Of counts as ``as_written`` and ``folded`` return them."""
    return Pair(counts["multiplications"], counts["additions"])


def value(formula: Formula, *sizes: int) -> Pair:
    """A formula at one size."""
    return Pair(float(formula.multiplications(*sizes)), float(formula.additions(*sizes)))


def claims(rows: Sequence[Row], orders: Sequence[tuple[str, str]]) -> tuple[Claim, ...]:
    """For each pair of methods, whether the first needs fewer multiplications and fewer additions than the second."""
    by_name = {row.method: row for row in rows}
    listed = []
    for less, more in orders:
        one, other = by_name[less], by_name[more]
        holds = {way: _below(getattr(one, way), getattr(other, way)) for way in WAYS if getattr(one, way) and getattr(other, way)}
        listed.append(Claim(f"{one.label} < {other.label}", holds))
    return tuple(listed)


def _below(one: Pair, other: Pair) -> bool:
    return one.multiplications < other.multiplications and one.additions < other.additions


def fits(
    variables: Sequence[str], powers: Sequence[Powers], count: Callable[..., Literal], sizes: Sequence[Powers], checks: Sequence[Powers]
) -> Formula:
    """The polynomials of a literal count, exact at all sizes and checks."""
    return _formula(variables, powers, lambda *size: _sum_of(count(*size)), sizes, checks)


def fits_by_kind(
    variables: Sequence[str], powers: Sequence[Powers], count: Callable[..., Literal], sizes: Sequence[Powers], checks: Sequence[Powers]
) -> dict[str, Formula]:
    """The same for each kind of product."""
    fits_of_kind: dict[str, Formula] = {}
    for kind in count(*checks[-1]).by_kind():
        fits_of_kind[kind] = _formula(variables, powers, lambda *size, kind=kind: _one_kind(count(*size), kind), sizes, checks)
    return fits_of_kind


def _formula(
    variables: Sequence[str], powers: Sequence[Powers], count: Callable[..., Item], sizes: Sequence[Powers], checks: Sequence[Powers]
) -> Formula:
    names = ("multiplications", "additions")
    both = (fitted(variables, powers, lambda *size, name=name: getattr(count(*size), name), sizes, checks) for name in names)
    return Formula(*both)


def _sum_of(literal: Literal) -> Item:
    return Item((), "all", 1, literal.multiplications, literal.additions)


def _one_kind(literal: Literal, kind: str) -> Item:
    return literal.by_kind().get(kind, Item((), kind, 0, 0, 0))


def both(formula: Formula, *powers: int) -> str:
    """The coefficients of one term, multiplications first."""
    return f"{formula.multiplications.coefficient(*powers)} and {formula.additions.coefficient(*powers)}"


def parts(kinds: Mapping[str, Formula], *powers: int) -> str:
    """The kinds of products that make the coefficients of one term."""
    shown = [(kind, one) for kind, one in kinds.items() if any(p.coefficient(*powers) for p in (one.multiplications, one.additions))]
    shown.sort(key=lambda item: -abs(item[1].multiplications.coefficient(*powers)))
    return ", ".join(f"{kind} {both(one, *powers)}" for kind, one in shown)


def curves(formulas: Mapping[tuple[str, str], Formula], sizes: Sequence[Powers]) -> dict[tuple[str, str], dict[str, NDArray[np.float64]]]:
    """Each formula at all sizes."""
    by_method = {}
    for key, formula in formulas.items():
        pairs = [value(formula, *size) for size in sizes]
        names = ("multiplications", "additions", "equivalent")
        by_method[key] = {name: np.array([getattr(one, name) for one in pairs]) for name in names}
    return by_method
