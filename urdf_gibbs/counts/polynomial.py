"""Counts as polynomials with exact coefficients: the papers' as printed, ours by solving at a few sizes and checking at others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from urdf_gibbs.errors import ArgumentError

Powers = tuple[int, ...]


@dataclass(frozen=True)
class Polynomial:
    """Sum of coefficient times variables to their powers; terms in the order of writing, none of them zero."""

    variables: tuple[str, ...]
    terms: tuple[tuple[Fraction, Powers], ...]

    def __call__(self, *values: int) -> Fraction:
        total = Fraction(0)
        for coefficient, powers in self.terms:
            term = coefficient
            for value, power in zip(values, powers, strict=True):
                term *= value**power
            total += term
        return total

    def coefficient(self, *powers: int) -> Fraction:
        """That of one term, zero where there is none."""
        return next((coefficient for coefficient, own_powers in self.terms if own_powers == powers), Fraction(0))

    def __add__(self, other: Polynomial) -> Polynomial:
        sums: dict[Powers, Fraction] = {}
        for coefficient, powers in self.terms + other.terms:
            sums[powers] = sums.get(powers, Fraction(0)) + coefficient
        return polynomial(self.variables, sums)

    def __mul__(self, factor: int | Fraction) -> Polynomial:
        return polynomial(self.variables, {powers: coefficient * factor for coefficient, powers in self.terms})

    def __str__(self) -> str:
        written = "".join(
            f" {'-' if coefficient < 0 else '+'} {_term(abs(coefficient), self.variables, powers)}" for coefficient, powers in self.terms
        )
        return written.removeprefix(" + ").replace(" - ", "-", 1 if written.startswith(" - ") else 0) or "0"


def polynomial(variables: Sequence[str], terms: dict[Powers, Fraction]) -> Polynomial:
    """The highest powers first, without terms that vanish."""
    kept = sorted(((coefficient, powers) for powers, coefficient in terms.items() if coefficient), key=lambda term: term[1], reverse=True)
    return Polynomial(tuple(variables), tuple((Fraction(coefficient), powers) for coefficient, powers in kept))


def fitted(
    variables: Sequence[str], powers: Sequence[Powers], count: Callable[..., int], sizes: Sequence[Powers], checks: Sequence[Powers]
) -> Polynomial:
    """The polynomial with these powers that takes the values of ``count`` at the sizes, as many as powers, and at all of ``checks``.

    Raises ArgumentError where the count is no such polynomial.
    """
    rows = [[_power(size, one) for one in powers] + [Fraction(count(*size))] for size in sizes]
    solution = _solved(rows)
    fit = polynomial(variables, dict(zip(powers, solution, strict=True)))
    for size in checks:
        if fit(*size) != count(*size):
            raise ArgumentError(f"the count at {size} is {count(*size)}, and {fit} gives {fit(*size)}: it has other powers")
    return fit


def _power(size: Powers, powers: Powers) -> Fraction:
    result = Fraction(1)
    for value, power in zip(size, powers, strict=True):
        result *= Fraction(value) ** power
    return result


def _solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Gauss and Jordan, exactly; rows are [A | b]."""
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            raise ArgumentError("the sizes do not determine the polynomial")
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def _term(coefficient: Fraction, variables: Sequence[str], powers: Powers) -> str:
    letters = [
        name + ("" if power == 1 else str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")))
        for name, power in zip(variables, powers, strict=True)
        if power
    ]
    number = f"({coefficient})" if coefficient.denominator > 1 and letters else str(coefficient)
    return " ".join(letters) if letters and coefficient == 1 else " ".join([number, *letters])
