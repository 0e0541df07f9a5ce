"""Sums of products of named constants, velocities, sines and cosines, always in one canonical form: a scalar for the formulations.

Angles about parallel axes form a group. Within a group products of sines and cosines are turned into sums, cos a cos b =
(cos(a - b) + cos(a + b)) / 2, so that only sines and cosines of whole combinations of its angles are left; a term has at most one of
them from each group. Such products are linearly independent: everything that cancels does, and two formulations give the same terms.
Coefficients are floats: halves and whole numbers are exact, and round-off of oblique axes is dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

Angle = tuple[tuple[str, float], ...]  # ((name, multiple), ...), sorted, the first multiple positive
Wave = tuple[str, Angle]  # "c" or "s" of an angle
Waves = tuple[tuple[int, Wave], ...]  # (group, wave) of a term
Monomial = tuple[tuple[str, int], ...]  # ((name, power), ...), sorted
Factors = tuple[Wave, ...]  # of a readable term, sorted, with repetitions

Keyed = dict[tuple[tuple[int, Factors], ...], float]  # (group, factors) of a readable term -> coefficient

DROPPED = 1e-13  # coefficients are products of entries of rotations: this is round-off
ONE: Wave = ("c", ())


class TooLong(Exception):
    """The limit of time or of terms is passed."""


class Algebra:
    """Names, their products, and what is known about them; the terms of its sums refer to its lists.

    ``groups``: angle -> number of its group. ``unit``: quadruples of names whose squares sum to 1. ``seconds``: of work allowed.
    """

    def __init__(self, groups: dict[str, int], unit: Sequence[tuple[str, ...]] = (), seconds: float = math.inf) -> None:
        self.groups = groups
        self.unit = {names[-1]: names[:-1] for names in unit}
        self.end = time.monotonic() + seconds
        self.monomials: list[Monomial] = [()]
        self.waves: list[Waves] = [()]
        self._monomial_ids: dict[Monomial, int] = {(): 0}
        self._wave_ids: dict[Waves, int] = {(): 0}
        self._monomial_products: dict[tuple[int, int], list[tuple[int, float]]] = {}
        self._wave_products: dict[tuple[int, int], list[tuple[int, float]]] = {}

    def symbol(self, name: str) -> Sum:
        return Sum(self, {(self._monomial(((name, 1),)), 0): 1.0})

    def constant(self, value: float) -> Sum:
        return Sum(self, {(0, 0): value})

    def wave(self, kind: str, angle: Angle, coefficient: float) -> dict[tuple[int, int], float]:
        """The term of coefficient times the sine or cosine of an angle."""
        wave, sign = _wave(kind, dict(angle))
        if wave is None:
            return {}
        group = self.groups[wave[1][0][0]] if wave[1] else 0
        return {(0, self._waves(((group, wave),) if wave[1] else ())): sign * coefficient}

    def _monomial(self, monomial: Monomial) -> int:
        number = self._monomial_ids.get(monomial)
        if number is None:
            number = self._monomial_ids[monomial] = len(self.monomials)
            self.monomials.append(monomial)
        return number

    def _waves(self, waves: Waves) -> int:
        number = self._wave_ids.get(waves)
        if number is None:
            number = self._wave_ids[waves] = len(self.waves)
            self.waves.append(waves)
        return number

    def monomial_product(self, a: int, b: int) -> list[tuple[int, float]]:
        """The product of two monomials; the last of a unit quadruple is left with power 0 or 1."""
        key = (a, b) if a < b else (b, a)
        known = self._monomial_products.get(key)
        if known is None:
            powers = dict(self.monomials[a])
            for name, power in self.monomials[b]:
                powers[name] = powers.get(name, 0) + power
            known = self._monomial_products[key] = [(self._monomial(m), factor) for m, factor in self._reduced(powers)]
        return known

    def _reduced(self, powers: dict[str, int]) -> list[tuple[Monomial, float]]:
        for name, others in self.unit.items():
            if powers.get(name, 0) >= 2:
                total: dict[Monomial, float] = {}
                for other, sign in [("", 1.0), *((other, -1.0) for other in others)]:
                    less = {**powers, name: powers[name] - 2}
                    if other:
                        less[other] = less.get(other, 0) + 2
                    for monomial, factor in self._reduced(less):
                        total[monomial] = total.get(monomial, 0.0) + sign * factor
                return [(monomial, factor) for monomial, factor in total.items() if factor]
        return [(tuple(sorted((name, power) for name, power in powers.items() if power)), 1.0)]

    def wave_product(self, a: int, b: int) -> list[tuple[int, float]]:
        """The product of the waves of two terms as a sum."""
        key = (a, b) if a < b else (b, a)
        known = self._wave_products.get(key)
        if known is None:
            first, second = dict(self.waves[a]), dict(self.waves[b])
            parts: list[list[tuple[tuple[tuple[int, Wave], ...], float]]] = []
            for group in sorted({*first, *second}):
                one, two = first.get(group), second.get(group)
                if one is None or two is None:
                    parts.append([(((group, one or two),), 1.0)])  # type: ignore[list-item]
                else:
                    summed = _product(one, two)
                    parts.append([(((group, wave),) if wave != ONE else (), factor) for wave, factor in summed.items()])
            known = []
            for chosen in product(*parts):
                waves = tuple(wave for part, _ in chosen for wave in part)
                known.append((self._waves(waves), math.prod(factor for _, factor in chosen)))
            self._wave_products[key] = known
        return known


class Sum:
    """A sum of terms: {(number of the monomial, number of the waves): coefficient}."""

    __slots__ = ("algebra", "terms")

    def __init__(self, algebra: Algebra, terms: dict[tuple[int, int], float]) -> None:
        self.algebra, self.terms = algebra, terms

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sum):
            return self if other == 0.0 else self + self.algebra.constant(float(other))
        large, small = (self, other) if len(self.terms) >= len(other.terms) else (other, self)
        terms = dict(large.terms)
        for key, value in small.terms.items():
            new = terms.get(key, 0.0) + value
            if abs(new) < DROPPED:
                terms.pop(key, None)
            else:
                terms[key] = new
        return Sum(self.algebra, terms) if terms else 0.0

    __radd__ = __add__

    def __neg__(self) -> Sum:
        return Sum(self.algebra, {key: -value for key, value in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, list):  # a vector or matrix, which multiplies its entries
            return NotImplemented
        if not isinstance(other, Sum):
            return 0.0 if other == 0.0 else Sum(self.algebra, {key: other * value for key, value in self.terms.items()})
        algebra = self.algebra
        if time.monotonic() > algebra.end:
            raise TooLong
        monomials, waves = algebra.monomial_product, algebra.wave_product
        terms: dict[tuple[int, int], float] = {}
        for (m1, w1), x1 in self.terms.items():
            for (m2, w2), x2 in other.terms.items():
                x = x1 * x2
                for m, fm in monomials(m1, m2):
                    for w, fw in waves(w1, w2):
                        terms[m, w] = terms.get((m, w), 0.0) + x * fm * fw
        terms = {key: value for key, value in terms.items() if abs(value) >= DROPPED}
        return Sum(algebra, terms) if terms else 0.0

    __rmul__ = __mul__

    def sin(self) -> Any:
        angle, offset = self._angle()
        return self._wave("s", angle, math.cos(offset)) + self._wave("c", angle, math.sin(offset))

    def cos(self) -> Any:
        angle, offset = self._angle()
        return self._wave("c", angle, math.cos(offset)) - self._wave("s", angle, math.sin(offset))

    def _wave(self, kind: str, angle: Angle, coefficient: float) -> Any:
        terms = self.algebra.wave(kind, angle, coefficient) if abs(coefficient) >= DROPPED else {}
        return Sum(self.algebra, terms) if terms else 0.0

    def _angle(self) -> tuple[Angle, float]:
        """(multiples of the angles, a constant) of what a sine or cosine is taken of: a linear sum."""
        angle: list[tuple[str, float]] = []
        offset = 0.0
        for (m, w), value in self.terms.items():
            monomial = self.algebra.monomials[m]
            assert w == 0 and len(monomial) <= 1, "angles are linear in the coordinates"
            if monomial:
                angle.append((monomial[0][0], value))
            else:
                offset = value
        return tuple(sorted(angle)), offset

    def listed(self) -> list[tuple[Monomial, Waves, float]]:
        """The terms in names."""
        return [(self.algebra.monomials[m], self.algebra.waves[w], value) for (m, w), value in self.terms.items()]


# Waves ----------------------------------------------------------------------------------------------


def _wave(kind: str, multiples: dict[str, float]) -> tuple[Wave | None, float]:
    """(canonical wave, sign): the first multiple positive; None for sin 0."""
    angle = tuple(sorted((name, k) for name, k in multiples.items() if k))
    if not angle:
        return (ONE, 1.0) if kind == "c" else (None, 0.0)
    if angle[0][1] > 0.0:
        return (kind, angle), 1.0
    return (kind, tuple((name, -k) for name, k in angle)), 1.0 if kind == "c" else -1.0


def _combined(a: Angle, b: Angle, sign: float, factor: float = 1.0) -> dict[str, float]:
    """factor (a + sign b)."""
    total = {name: factor * k for name, k in a}
    for name, k in b:
        total[name] = total.get(name, 0.0) + factor * sign * k
    return total


def _product(one: Wave, two: Wave) -> dict[Wave, float]:
    """The product of two waves of a group as a sum of waves."""
    (kind1, a), (kind2, b) = one, two
    if kind1 == "c" and kind2 == "s":
        (kind1, a), (kind2, b) = two, one
    kind = "c" if kind1 == kind2 else "s"
    plus = {"cc": 0.5, "ss": -0.5, "sc": 0.5}[kind1 + kind2]
    total: dict[Wave, float] = {}
    for sign, factor in ((-1.0, 0.5), (1.0, plus)):
        wave, turned = _wave(kind, _combined(a, b, sign))
        if wave is not None:
            total[wave] = total.get(wave, 0.0) + factor * turned
    return {wave: factor for wave, factor in total.items() if factor}


# The shortest way to write a sum of waves -----------------------------------------------------------

WAYS = ("merge", "cos", "sin")
COMBINATIONS = 40  # terms beyond which only one way is tried


def shortest(terms: dict[Waves, float]) -> list[tuple[Factors, float]]:
    """Terms as products of waves: 1/2 + cos(2 a)/2 as cos(a)^2 and the like, whichever makes the fewest terms and factors."""
    groups = sorted({group for waves in terms for group, _ in waves})
    start: Keyed = {tuple((group, (wave,)) for group, wave in waves): value for waves, value in terms.items()}
    even = {group for waves in terms for group, (_, angle) in waves if _is_even(angle)}
    ways = [WAYS if group in even and len(terms) <= COMBINATIONS else WAYS[:1] for group in groups]
    best: list[tuple[Factors, float]] = []
    least: tuple[int, ...] = ()
    for chosen in product(*ways):
        current = start
        for group, way in zip(groups, chosen, strict=True):
            current = _rewritten(current, group, way)
        products = [(tuple(sorted(w for _, factors in key for w in factors)), value) for key, value in current.items()]
        cost = (
            len(products),
            sum(len(factors) for factors, _ in products),
            sum(_size(angle) for factors, _ in products for _, angle in factors),
        )
        if not least or cost < least:
            best, least = products, cost
    return best


def _rewritten(terms: Keyed, group: int, way: str) -> Keyed:
    """The waves of one group written in one way."""
    buckets: dict[tuple[tuple[int, Factors], ...], dict[Factors, float]] = {}
    for key, value in terms.items():
        rest = tuple(part for part in key if part[0] != group)
        own = next((factors for g, factors in key if g == group), ())
        bucket = buckets.setdefault(rest, {})
        for factors, factor in _even_as_squares(own, way):
            bucket[factors] = bucket.get(factors, 0.0) + value * factor
    result: Keyed = {}
    for rest, bucket in buckets.items():
        for factors, value in _merged(bucket).items():
            if abs(value) >= DROPPED:
                key = tuple(sorted((*rest, (group, factors)))) if factors else rest
                result[key] = result.get(key, 0.0) + value
    return result


def _even_as_squares(factors: Factors, way: str) -> Iterable[tuple[Factors, float]]:
    """cos(2 a) as 2 cos(a)^2 - 1 (way "cos") or 1 - 2 sin(a)^2 ("sin")."""
    if way == "merge" or len(factors) != 1 or factors[0][0] != "c" or not _is_even(factors[0][1]):
        return [(factors, 1.0)]
    half = tuple((name, k / 2.0) for name, k in factors[0][1])
    return [((("c", half),) * 2, 2.0), ((), -1.0)] if way == "cos" else [((), 1.0), ((("s", half),) * 2, -2.0)]


def _merged(bucket: dict[Factors, float]) -> dict[Factors, float]:
    """Pairs of equal weight as products where that takes multiples of angles away: cos(2 a + b) + cos(b) = 2 cos(a + b) cos(a)."""
    left = dict(bucket)
    for factors in sorted(bucket, key=lambda factors: -max((abs(k) for _, angle in factors for _, k in angle), default=0.0)):
        if factors not in left or len(factors) != 1 or _largest(factors[0][1]) < 2.0:
            continue
        kind, a = factors[0]
        options: list[tuple[float, Factors, Factors, float]] = []
        for others, value in left.items():
            if others == factors or len(others) > 1 or abs(abs(value) - abs(left[factors])) > 1e-12 * abs(value):
                continue
            kind_b, b = others[0] if others else ONE
            if kind_b == kind:
                half = _halves(kind, a, b, left[factors], value)
                if half is not None:
                    options.append((_size(half[0][0][1]) + _size(half[0][1][1]), others, *half))
        if options:
            _, others, product, value = min(options, key=lambda one: (one[0], one[2]))
            del left[factors], left[others]
            left[product] = left.get(product, 0.0) + value
    return left


def _halves(kind: str, a: Angle, b: Angle, x: float, y: float) -> tuple[Factors, float] | None:
    """x wave(a) + y wave(b), |x| = |y|, as (two waves, coefficient), where half of a + b and of a - b are whole multiples."""
    added, taken = _combined(a, b, 1.0, 0.5), _combined(a, b, -1.0, 0.5)
    if any(k != round(k) for k in (*added.values(), *taken.values())):
        return None
    same = x * y > 0.0
    kinds = {("c", True): "cc", ("c", False): "ss", ("s", True): "sc", ("s", False): "cs"}[kind, same]
    first, sign1 = _wave(kinds[0], added)
    second, sign2 = _wave(kinds[1], taken)
    if first is None or second is None:
        return None
    value = 2.0 * x * sign1 * sign2 * (-1.0 if kinds == "ss" else 1.0)
    return tuple(sorted((first, second))), value


def _is_even(angle: Angle) -> bool:
    return bool(angle) and all(k % 2.0 == 0.0 for _, k in angle)


def _largest(angle: Angle) -> float:
    return max((abs(k) for _, k in angle), default=0.0)


def _size(angle: Angle) -> int:
    return int(sum(abs(k) for _, k in angle))
