"""From expanded sums to expressions as textbooks write them: velocity products outside, masses within, lengths and angles innermost."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import reduce
from itertools import combinations
from typing import Any

import sympy

from urdf_gibbs.equations.trigonometry import Factors, Monomial, Sum, Wave, Waves, shortest

Part = tuple[Monomial, Monomial, Factors]  # mass or inertia; lengths and strokes; sines and cosines


def collected(entry: Any, values: dict[str, float]) -> sympy.Expr:
    """A sum as an expression: products of velocities and g outside, those of proportional coefficients together.

    ``values`` replace constants of their names; without them the numbers of the sum are those of the geometry, and made exact.
    """
    named = not values
    if not isinstance(entry, Sum):
        return number(float(entry), named)
    together: dict[tuple[Any, ...], list[tuple[Monomial, float]]] = {}  # parts against the first of them -> (rate, weight)
    against: dict[tuple[Any, ...], dict[Part, float]] = {}  # the same parts, not rounded
    for rate, parts in _by_rate(entry, values).items():
        ordered = sorted(parts.items())
        weight = ordered[0][1] if rate else 1.0
        mark = tuple((part, float(f"{value / weight:.11g}")) for part, value in ordered)
        together.setdefault(mark, []).append((rate, weight))
        against[mark] = {part: value / weight for part, value in ordered}
    terms = []
    for mark, weights in together.items():
        inner = outer = 1.0
        if weights != [((), 1.0)]:
            inner = _content(list(against[mark].values())) if named else _majority(list(against[mark].values()))
            inner /= 1.0 if named else min(abs(weight) for _, weight in weights)
            scaled = [weight * inner for _, weight in weights]
            outer = _content(scaled) if named else _majority(scaled)
        rate_sum = sympy.Add(*(number(weight * inner / outer, named) * _power_product(rate) for rate, weight in weights))
        coefficient = _coefficient({part: value / inner for part, value in against[mark].items()}, named)
        terms.append(sympy.Mul(number(outer, named), rate_sum, coefficient))
    return sympy.Add(*terms)


def _by_rate(entry: Sum, values: dict[str, float]) -> dict[Monomial, dict[Part, float]]:
    """The terms by what they have of v, a and g, with their waves written in the shortest way."""
    grouped: dict[tuple[Monomial, Monomial, Monomial], dict[Waves, float]] = {}
    for monomial, waves, value in entry.listed():
        sorts: tuple[list[tuple[str, int]], ...] = ([], [], [])
        for name, power in monomial:
            if name in values:
                value *= values[name] ** power
            else:
                sorts[0 if name[0] in "vag" else 1 if name[0] in "mI" else 2].append((name, power))
        own = grouped.setdefault((tuple(sorts[0]), tuple(sorts[1]), tuple(sorts[2])), {})
        own[waves] = own.get(waves, 0.0) + value
    largest = max(abs(value) for own in grouped.values() for value in own.values())
    result: dict[Monomial, dict[Part, float]] = {}
    for (rate, inertial, rest), own in grouped.items():
        kept = {waves: value for waves, value in own.items() if abs(value) > 1e-15 * largest}
        # The robot's numbers may have any magnitude; normalise them, as anything small against 1 counts as round-off.
        unit = 2.0 ** math.frexp(max(map(abs, kept.values())))[1] if kept and values else 1.0
        for factors, value in shortest({waves: value / unit for waves, value in kept.items()}) if kept else []:
            result.setdefault(rate, {})[inertial, rest, factors] = value * unit
    return result


def _content(values: list[float]) -> float:
    """What to divide by so that fractions are whole numbers without a common factor, most of them positive."""
    fractions = [Fraction(abs(value)).limit_denominator(64) for value in values]
    if any(abs(float(fraction) - abs(value)) > 1e-12 for fraction, value in zip(fractions, values, strict=True)):
        return _majority(values)
    return _majority(values) * float(reduce(_common, fractions))


def _majority(values: list[float]) -> float:
    """The sign of the majority of the values, or of the first if tied."""
    balance = sum(math.copysign(1.0, value) for value in values)
    return math.copysign(1.0, balance or values[0])


def _common(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _coefficient(parts: dict[Part, float], named: bool) -> sympy.Expr:
    """Collected by masses and inertias, each times its sum over lengths and angles; inertias of the same sum stand together."""
    by_inertial: dict[Monomial, dict[tuple[Monomial, Factors], float]] = {}
    for (inertial, rest, factors), value in parts.items():
        by_inertial.setdefault(inertial, {})[rest, factors] = value
    together: dict[tuple[Any, ...], sympy.Expr] = {}
    sums: dict[tuple[Any, ...], dict[tuple[Monomial, Factors], float]] = {}
    for inertial, own in by_inertial.items():
        plain = [value for (_, factors), value in own.items() if not factors]
        sign = _majority(plain or list(own.values()))
        mark = tuple(sorted((part, float(f"{sign * value:.11g}")) for part, value in own.items()))
        together[mark] = together.get(mark, sympy.S.Zero) + int(sign) * _power_product(inertial)
        sums[mark] = {part: sign * value for part, value in own.items()}
    return sympy.Add(*(_times(factor, *_inner(sums[mark], named)) for mark, factor in together.items()))


def _times(factor: sympy.Expr, content: sympy.Expr, inner: sympy.Expr) -> sympy.Expr:
    """The product, without brackets around a sum that stands alone."""
    if inner.is_number:
        return sympy.Add(*(content * inner * term for term in sympy.Add.make_args(factor)))
    return sympy.Mul(content, factor, inner)


def _inner(terms: dict[tuple[Monomial, Factors], float], named: bool) -> tuple[sympy.Expr, sympy.Expr]:
    """(a number, the sum over lengths and angles that it multiplies).

    Common factors are taken out, unless one term is a plain product of lengths: m (l^2 + 2 l l' cos q) stays as it is.
    """
    added: dict[str, sympy.Expr] = {}
    if named:
        terms = _lengths_added(terms, added)
    powers = [Counter(dict(rest)) + Counter(factors) for rest, factors in terms]
    common: Counter[Any] = Counter()
    content = 1.0
    if len(terms) > 1 and all(factors for _, factors in terms):
        common = reduce(lambda a, b: a & b, powers)
        content = _content(list(terms.values())) if named else 1.0
    values = [number(value / content, named) for value in terms.values()]
    terms_made = [value * _expression(own - common, added) for own, value in zip(powers, values, strict=True)]
    return number(content, named), _expression(common, added) * sympy.Add(*terms_made)


def _lengths_added(terms: dict[tuple[Monomial, Factors], float], added: dict[str, sympy.Expr]) -> dict[tuple[Monomial, Factors], float]:
    """Two lengths a and b of which only a + b (or a - b) matters become one, of the name that ``added`` explains.

    That is so where the derivatives by a and by b are the same sum; then the terms without b tell all.
    """
    names = sorted({name for rest, _ in terms for name, _ in rest})
    for a, b in combinations(names, 2):
        first, second = _derivative(terms, a), _derivative(terms, b)
        if first.keys() != second.keys():
            continue
        for sign in (1, -1):
            if all(abs(value - sign * second[key]) < 1e-12 for key, value in first.items()):
                name = f"{a}{'+' if sign > 0 else '-'}{b}"
                added[name] = added.get(a, sympy.Symbol(a)) + sign * added.get(b, sympy.Symbol(b))
                left: dict[tuple[Monomial, Factors], float] = {}
                for (rest, factors), value in terms.items():
                    if not any(one == b for one, _ in rest):
                        left[tuple((name if one == a else one, power) for one, power in rest), factors] = value
                return _lengths_added(left, added)
    return terms


def _derivative(terms: dict[tuple[Monomial, Factors], float], by: str) -> dict[tuple[Monomial, Factors], float]:
    derivative: dict[tuple[Monomial, Factors], float] = {}
    for (rest, factors), value in terms.items():
        powers = dict(rest)
        if by in powers:
            less = {**powers, by: powers[by] - 1}
            derivative[tuple(sorted((name, power) for name, power in less.items() if power)), factors] = value * powers[by]
    return derivative


def _expression(powers: Counter[Any], added: dict[str, sympy.Expr]) -> sympy.Expr:
    """A product of lengths, which ``added`` may explain as sums, and waves."""
    factors = []
    for one, power in powers.items():
        factors.append((added.get(one, sympy.Symbol(one)) if isinstance(one, str) else _wave(one)) ** power)
    return sympy.Mul(*factors)


def _power_product(monomial: Monomial) -> sympy.Expr:
    return sympy.Mul(*(sympy.Symbol(name) ** power for name, power in monomial))


def _wave(wave: Wave) -> sympy.Expr:
    kind, angle = wave
    argument = sympy.Add(*(number(k, True) * sympy.Symbol(name) for name, k in angle))
    return sympy.cos(argument) if kind == "c" else sympy.sin(argument)


def number(value: float, named: bool) -> sympy.Expr:
    """A whole number, where constants are named also a fraction or one times a root of 2 or 3, else a float of 15 digits."""
    if abs(value - round(value)) < 1e-12 * (1.0 if named else abs(value)) or value == 0.0:
        return sympy.Integer(round(value))
    if named:
        for root in (1, 2, 3, 6):
            fraction = Fraction(value / math.sqrt(root)).limit_denominator(64)
            if abs(float(fraction) * math.sqrt(root) - value) < 1e-12:
                return sympy.Rational(fraction.numerator, fraction.denominator) * sympy.sqrt(root)
    return sympy.Float(float(f"{value:.15g}"))
