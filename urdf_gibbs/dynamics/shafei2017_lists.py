"""Shafei 2017 (S17) as tables: terms 1-50 of its Exps. (I)-(III), and the case lists of its appendix that say which term stands where.

Links are 1 ... n, as printed; n + 1 and n + 2 are X1 and X2 of the base. ``j+`` and ``k+`` are the links beyond the tip of j or k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple


class Term(NamedTuple):
    """sign left^T middle(j, k) right, with ``left`` a vector of j, ``right`` one of k; ``first`` to ``last`` are the k of its sum.

    x is the axis x_{i,3}, theta and r the mode at the tip of its link, C1 and alpha those of Eqs. 17 and 25, X an axis of the reference
    frame. ``middle`` is a quantity of the appendix, R a rotation, or ``arm``, r~_{O_k/O_j} R.
    """

    sign: int
    left: str
    middle: str
    j: str
    k: str
    right: str
    first: Callable[[int], int]  # of j
    last: Callable[[int, int], int]  # of n and j


def _term(formula: str, first: Callable[[int], int] = lambda j: 1, last: Callable[[int, int], int] = lambda n, j: n) -> Term:
    sign, left, j, middle, k, right = formula.split()
    return Term(1 if sign == "+" else -1, left, middle, j, k, right, first, last)


def _before_last(n: int, j: int) -> int:
    return n - 1


def _two_before_last(n: int, j: int) -> int:
    return n - 2


TERMS = {
    # Exp. (I), of q_k'', delta_kt'' and X_k''
    1: _term("+ x j sigma k x"),
    2: _term("- x j psi k x"),
    3: _term("- x j U k x", last=_before_last),
    4: _term("+ x j sigma k+ theta", last=_before_last),
    5: _term("- x j psi k+ theta", last=_before_last),
    6: _term("+ x j xi k+ r", last=_before_last),
    7: _term("+ x j gamma k r", last=_before_last),
    8: _term("- x j U k+ theta", last=_two_before_last),
    9: _term("+ x j arm k C1", first=lambda j: j + 1),
    10: _term("+ x j R k alpha", first=lambda j: j),
    11: _term("+ x j xi k X"),
    12: _term("+ x j gamma k X"),
    # Exp. (II), of q_k'', delta_kt'' and X_k''
    15: _term("+ theta j+ sigma k x"),
    16: _term("- theta j+ psi k x"),
    17: _term("- theta j+ U k x", last=_before_last),
    18: _term("- r j+ xi k x"),
    19: _term("- r j V k x", last=_before_last),
    20: _term("- C1 j W k x", last=lambda n, j: j - 1),
    21: _term("+ alpha j R k x", last=lambda n, j: j),
    22: _term("+ theta j+ sigma k+ theta", last=_before_last),
    23: _term("- theta j+ psi k+ theta", last=_before_last),
    24: _term("- theta j+ U k+ theta", last=_two_before_last),
    25: _term("- r j V k+ theta", last=_two_before_last),
    26: _term("- r j+ xi k+ theta", last=_before_last),
    27: _term("- C1 j W k+ theta", last=lambda n, j: j - 2),
    28: _term("+ alpha j R k theta", last=lambda n, j: j - 1),
    # 29 is C3 of link j, a number
    30: _term("+ theta j+ gamma k r", last=_before_last),
    31: _term("+ theta j+ xi k+ r", last=_before_last),
    32: _term("+ r j lambda_ k r", last=_before_last),
    33: _term("+ C1 j R k r", last=lambda n, j: j - 1),
    34: _term("+ r j R k C1", first=lambda j: j + 1),
    35: _term("+ theta j+ arm k C1", first=lambda j: j + 2),
    36: _term("+ theta j R k alpha", first=lambda j: j + 1),
    37: _term("+ r j lambda_ k X"),
    38: _term("+ theta j+ gamma k X"),
    39: _term("+ theta j+ xi k X"),
    40: _term("+ C1 j R k X"),
    # Exp. (III), of q_k'' and delta_kt''; 50 is M_tot, a number
    44: _term("- X j V k x", last=_before_last),
    45: _term("- X j xi k x"),
    46: _term("+ X j lambda_ k r", last=_before_last),
    47: _term("+ X j R k C1"),
    48: _term("- X j V k+ theta", last=_two_before_last),
    49: _term("- X j xi k+ theta", last=_before_last),
}
C3, M_TOT = 29, 50  # the terms that are numbers

EXPRESSIONS = {  # the terms of each block of Figs. 2, 4 and 6: rows, columns
    ("q", "q"): range(1, 4),
    ("q", "delta"): range(4, 11),
    ("q", "X"): range(11, 13),
    ("delta", "q"): range(15, 22),
    ("delta", "delta"): range(22, 37),
    ("delta", "X"): range(37, 41),
    ("X", "q"): range(44, 46),
    ("X", "delta"): range(46, 50),
    ("X", "X"): range(M_TOT, M_TOT + 1),
}


class Cell(NamedTuple):
    """Rows of link j, columns of link k (n + 1 and n + 2: X1 and X2) and the terms whose sum stands there."""

    rows: str
    columns: str
    j: int
    k: int
    terms: tuple[int, ...]


def expression_cells(n: int) -> Iterator[Cell]:
    """Every cell of M by Exps. (I)-(III), each term where the limits of its sum have it."""
    ends = {"q": (1, n), "delta": (1, n), "X": (n + 1, n + 2)}
    for (rows, columns), labels in EXPRESSIONS.items():
        for j in through(*ends[rows]):
            for k in through(*ends[columns]):
                if rows == columns == "X":
                    here = tuple(labels) if j == k else ()
                else:
                    here = tuple(label for label in labels if (j == k if label == C3 else _in_sum(label, n, j, k)))
                yield Cell(rows, columns, j, k, here)


def _in_sum(label: int, n: int, j: int, k: int) -> bool:
    term = TERMS[label]
    return term.right == "X" or term.first(j) <= k <= term.last(n, j)


def listed_cells(n: int) -> Iterator[Cell]:
    """The cells of Fig. 8 that the appendix computes: those with k >= j. At k = j both q-delta and delta-q are listed."""
    base = (n + 1, n + 2)
    # q_k'' in the rotational equations
    yield from _case("q", "q", (1, n - 1), lambda j: (j, n - 1), "1 + 2 + 3")
    yield from _case("q", "q", (1, n - 1), lambda j: (n, n), "1 + 2")
    yield from _case("q", "q", (n, n), lambda j: (n, n), "1")
    # delta_kt'' in the rotational equations
    yield from _case("q", "delta", (1, n - 2), lambda j: (j, j), "4 + 5 + 6 + 7 + 8 + 10")
    yield from _case("q", "delta", (1, n - 3), lambda j: (j + 1, n - 2), "4 + 5 + 6 + 7 + 8 + 9 + 10")
    yield from _case("q", "delta", (1, n - 2), lambda j: (n - 1, n - 1), "4 + 5 + 6 + 7 + 9 + 10")
    yield from _case("q", "delta", (n - 1, n - 1), lambda j: (n - 1, n - 1), "4 + 5 + 6 + 7 + 10")
    yield from _case("q", "delta", (1, n - 1), lambda j: (n, n), "9 + 10")
    yield from _case("q", "delta", (n, n), lambda j: (n, n), "10")
    # X_k'' in the rotational equations
    yield from _case("q", "X", (1, n - 1), lambda j: base, "11 + 12")
    yield from _case("q", "X", (n, n), lambda j: base, "11")
    # q_k'' in the vibrational equations
    yield from _case("delta", "q", (1, n - 2), lambda j: (j, j), "15 + 16 + 17 + 18 + 19 + 21")
    yield from _case("delta", "q", (n - 1, n - 1), lambda j: (j, j), "15 + 17 + 18 + 19 + 21")
    yield from _case("delta", "q", (1, n - 2), lambda j: (j + 1, n - 1), "15 + 16 + 17 + 18 + 19")
    yield from _case("delta", "q", (1, n - 2), lambda j: (n, n), "15 + 16 + 18")
    yield from _case("delta", "q", (n - 1, n - 1), lambda j: (n, n), "15 + 18")
    yield from _case("delta", "q", (n, n), lambda j: (n, n), "21")
    # delta_kt'' in the vibrational equations
    carried = "22 + 23 + 24 + 25 + 26"
    yield from _case("delta", "delta", (1, n - 2), lambda j: (j, j), f"{carried} + 29 + 30 + 31 + 32")
    yield from _case("delta", "delta", (1, n - 3), lambda j: (j + 1, j + 1), f"{carried} + 30 + 31 + 32 + 34 + 36")
    yield from _case("delta", "delta", (1, n - 4), lambda j: (j + 2, n - 2), f"{carried} + 30 + 31 + 32 + 34 + 35 + 36")
    yield from _case("delta", "delta", (1, n - 3), lambda j: (n - 1, n - 1), "22 + 23 + 26 + 30 + 31 + 32 + 34 + 35 + 36")
    yield from _case("delta", "delta", (n - 2, n - 2), lambda j: (n - 1, n - 1), "22 + 23 + 26 + 30 + 31 + 32 + 34 + 36")
    yield from _case("delta", "delta", (n - 1, n - 1), lambda j: (n - 1, n - 1), "22 + 26 + 29 + 31 + 32")
    yield from _case("delta", "delta", (1, n - 2), lambda j: (n, n), "34 + 35 + 36")
    yield from _case("delta", "delta", (n - 1, n - 1), lambda j: (n, n), "34 + 36")
    yield from _case("delta", "delta", (n, n), lambda j: (n, n), "29")
    # X_k'' in the vibrational equations; printed without f = 1 : m
    yield from _case("delta", "X", (1, n - 2), lambda j: base, "37 + 38 + 39 + 40")
    yield from _case("delta", "X", (n - 1, n - 1), lambda j: base, "37 + 39 + 40")
    yield from _case("delta", "X", (n, n), lambda j: base, "40")
    # X_k'' in the translational equations
    yield from _case("X", "X", base, lambda j: (j, j), "50")


def _case(rows: str, columns: str, js: tuple[int, int], ks: Callable[[int], tuple[int, int]], terms: str) -> Iterator[Cell]:
    """for j = first : last; k = ... => terms. The lists are written for long chains: of a short one, links before the first drop out."""
    labels = tuple(int(label) for label in terms.split(" + "))
    for j in through(max(1, js[0]), js[1]):
        for k in through(*ks(j)):
            yield Cell(rows, columns, j, k, labels)


def through(first: int, last: int) -> range:
    """first : last, both included."""
    return range(first, last + 1)
