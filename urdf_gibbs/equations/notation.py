"""Notation of formulas: the order of terms and factors, line breaks, and which equal entries are listed together.

Masses and inertias come first, then lengths, angles and velocities; gravity comes last. The same traversal serves text
and LaTeX, which differ in their alphabets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import sympy

from urdf_gibbs.equations.readable import QUANTITIES, Equations

NAME = re.compile(r"([a-zA-Z]+?)(\d*)((?:_\d+)?)([xyz]*)")  # l1_2x: letters, number, second number, axes
RANKS = {"I": 0, "m": 0, "g": 1, "l": 2, "lc": 2, "c": 2, "e": 2, "q": 3, "a": 8, "v": 9}
DEEPER = 2  # characters by which a line within brackets is moved in, for each of them
INERTIAS, LENGTHS, FUNCTION, SUM, RATES = 0.5, 3.5, 4, 5, 7


class Alphabet(Protocol):
    """How the parts of a formula are written."""

    plus: str
    minus: str
    leading_minus: str
    space: str

    def symbol(self, name: str) -> str: ...
    def power(self, base: str, exponent: str) -> str: ...
    def function(self, name: str, argument: str, exponent: str) -> str: ...
    def fraction(self, numerator: int, denominator: int) -> str: ...
    def root(self, radicand: str) -> str: ...
    def number(self, value: float) -> str: ...


@dataclass(frozen=True)
class Piece:
    """Part of a formula: what is written, its width in characters, and the depth of brackets at which a line may end before it (or -1)."""

    written: str
    width: int
    depth: int = -1


@dataclass(frozen=True)
class Line:
    """An equation: names of equal entries, and the expression, or None where they are zero for the reason given."""

    names: tuple[tuple[str, str], ...]  # (letter, indices)
    expression: sympy.Expr | None
    reason: str = ""


def split(name: str) -> tuple[str, str]:
    """A name as its letters and its indices: lc1 -> (lc, 1), l1_2x -> (l, 1,2x)."""
    match = NAME.fullmatch(name)
    if match is None:
        return name, ""
    letters, first, second, axes = match.groups()
    return letters, first + second.replace("_", ",") + axes


def title(equations: Equations, what: str) -> str:
    """What a quantity is, as a heading."""
    words = QUANTITIES[what][1].replace("{frame}", str(equations.frame))
    return words[0].upper() + words[1:]


def lines(equations: Equations, what: str) -> list[Line]:
    """The entries of a quantity, equal ones of a symmetric matrix together and zeros at the end."""
    matrix, letter = equations.expressions[what], QUANTITIES[what][0]
    rows, columns = matrix.shape
    if (rows, columns) == (1, 1) and what.endswith("energy"):
        return [Line(((letter, ""),), matrix[0, 0])]
    if columns == 1:
        marks = "xyz" if what == "placement" else [str(i + 1) for i in range(rows)]
        return [Line(((letter, marks[i]),), matrix[i, 0]) for i in range(rows)]
    comma = "," if max(rows, columns) > 9 else ""
    entries: list[Line] = []
    zeros: dict[str, list[tuple[str, str]]] = {}
    symmetric = what == "mass_matrix"
    for i in range(rows):
        for j in range(i + 1 if symmetric else columns):
            names = [(letter, f"{i + 1}{comma}{j + 1}")]
            if symmetric and i != j:
                names.append((letter, f"{j + 1}{comma}{i + 1}"))
            if matrix[i, j] == 0:
                reason = "different branches" if symmetric and (i, j) in equations.apart else ""
                zeros.setdefault(reason, []).extend(names)
            else:
                entries.append(Line(tuple(names), matrix[i, j]))
    return entries + [Line(tuple(names), None, reason) for reason, names in zeros.items()]


def pieces(expression: sympy.Expr, alphabet: Alphabet, depth: int = 0) -> list[Piece]:
    """The expression from left to right."""
    parts: list[Piece] = []
    for k, term in enumerate(_in_order(expression, depth)):
        coefficient, rest = term.as_coeff_Mul()
        negative = bool(coefficient < 0)
        if k:
            parts.append(Piece(alphabet.minus if negative else alphabet.plus, 3, depth))
        elif negative:
            parts.append(Piece(alphabet.leading_minus, 1))
        parts += _product(abs(coefficient), rest, alphabet, depth)
    return parts


def broken(parts: list[Piece], width: int) -> list[tuple[int, str]]:
    """(depth of brackets at its start, line) for lines of at most ``width`` characters, which end where brackets are fewest."""
    result: list[tuple[int, str]] = []
    start = 0
    while parts:
        ends: list[tuple[bool, int, int]] = []  # (in the first part of the line, depth, how far from its end)
        used = DEEPER * start
        for i, part in enumerate(parts):
            if i and part.depth >= 0 and (used <= width or not ends):
                ends.append((used < 0.3 * width, part.depth, -i))
            used += part.width
        end = -min(ends)[2] if ends and used > width else len(parts)
        result.append((start, "".join(part.written for part in parts[:end]).strip()))
        parts = parts[end:]
        start = parts[0].depth if parts else 0
    return result


def _product(coefficient: sympy.Expr, rest: sympy.Expr, alphabet: Alphabet, depth: int) -> list[Piece]:
    factors = sorted((f for f in sympy.Mul.make_args(rest) if f != 1), key=_factor_key)
    written: list[list[Piece]] = []
    if coefficient != 1 or not factors:
        number = _number(coefficient, alphabet)
        written.append([Piece(number, _visible(str(coefficient) if coefficient.is_Rational else alphabet.number(float(coefficient))))])
    for factor in factors:
        base, exponent = factor.as_base_exp()
        if base.is_Add:
            close = ")" if exponent == 1 else alphabet.power(")", str(exponent))
            written.append([Piece("(", 1), *pieces(base, alphabet, depth + 1), Piece(close, 1 if exponent == 1 else 2)])
        else:
            text = _atom(factor, alphabet)
            written.append([Piece(text, _visible(sympy.sstr(factor)))])
    product: list[Piece] = []
    for k, part in enumerate(written):
        if k:
            product.append(Piece(alphabet.space, 1))
        product += part
    return product


def _number(value: sympy.Expr, alphabet: Alphabet) -> str:
    if value.is_Integer:
        return str(value)
    if value.is_Rational:
        return alphabet.fraction(value.p, value.q)
    return alphabet.number(float(value))


def _atom(factor: sympy.Expr, alphabet: Alphabet) -> str:
    """A symbol, a number, a sine or cosine, or a power of one."""
    base, exponent = factor.as_base_exp()
    if exponent == sympy.Rational(1, 2):
        return alphabet.root(str(base))
    power = "" if exponent == 1 else str(exponent)
    if base.is_Function:
        return alphabet.function(base.func.__name__, _joined(base.args[0], alphabet), power)
    name = alphabet.symbol(base.name) if base.is_Symbol else _number(base, alphabet)
    return alphabet.power(name, power) if power else name


def _joined(expression: sympy.Expr, alphabet: Alphabet) -> str:
    return "".join(piece.written for piece in pieces(expression, alphabet))


def _visible(text: str) -> int:
    """About how many characters a factor takes."""
    return len(text.replace("**", "").replace("*", " "))


def _in_order(expression: sympy.Expr, depth: int) -> list[sympy.Expr]:
    """The terms of a sum in the order of a textbook; within brackets a positive one first, if there is one."""
    terms = sorted(sympy.Add.make_args(expression), key=_term_key)
    positive = [k for k, term in enumerate(terms) if not term.as_coeff_Mul()[0] < 0]
    moving = any(_letter(symbol.name) in ("v", "a") for symbol in terms[0].free_symbols)
    if positive and positive[0] and (depth or not moving):
        terms.insert(0, terms.pop(positive[0]))
    return terms


def _letter(name: str) -> str:
    return split(name)[0]


def _name_key(name: str) -> tuple[int, bool, tuple[int, ...], str, str]:
    letters, indices = split(name)
    numbers = tuple(int(x) for x in re.findall(r"\d+", indices))
    return RANKS.get(letters, 2), letters in ("lc", "c", "e"), numbers, letters, indices


def _factor_key(factor: sympy.Expr) -> tuple[object, ...]:
    base = factor.as_base_exp()[0]
    if base.is_number:
        return (-1, str(base))
    if base.is_Symbol:
        return _name_key(base.name)
    if base.is_Function:
        names = sorted(_name_key(symbol.name) for symbol in base.free_symbols)
        return (FUNCTION, names, sympy.sstr(base.args[0]), base.func.__name__)
    letters = {_letter(symbol.name) for symbol in base.free_symbols}
    if letters & {"v", "a"}:
        return (RATES, sympy.sstr(base))
    return (INERTIAS if letters <= {"I", "m"} else SUM if base.atoms(sympy.Function) else LENGTHS, sympy.sstr(base))


def _term_key(term: sympy.Expr) -> tuple[object, ...]:
    """What has no velocities last; then by velocities, by masses and inertias, what has no angle first, by lengths, by angles."""
    names = [symbol.name for symbol in term.free_symbols]
    outside = [f.as_base_exp() for f in sympy.Mul.make_args(term)]
    single = [(base.name, int(power)) for base, power in outside if base.is_Symbol]
    sums = [(min((s.name for s in base.free_symbols), key=_name_key), int(power)) for base, power in outside if base.is_Add]
    lengths = sorted(_name_key(name) for name, power in single + sums for _ in range(power) if RANKS.get(_letter(name), 2) in (2, 3))
    rates = sorted((_letter(name), _name_key(name)[2]) for name, power in single for _ in range(power) if _letter(name) in ("a", "v"))
    if not rates:
        rates = sorted((_letter(name), _name_key(name)[2]) for name in names if _letter(name) in ("a", "v"))
    inertial = min(((_letter(n) == "m", _name_key(n)[2], n) for n in names if _letter(n) in ("I", "m")), default=())
    angles = sorted(sorted(_name_key(s.name) for s in function.free_symbols) for function in term.atoms(sympy.Function))
    return not rates, rates, inertial, bool(angles), lengths, angles, sympy.sstr(term)
