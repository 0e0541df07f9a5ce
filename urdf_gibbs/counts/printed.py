"""The papers' formulas for operation counts, as printed, with exact fractions, and their inconsistencies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from urdf_gibbs.counts.polynomial import Polynomial, Powers, polynomial
from urdf_gibbs.errors import UnknownNameError

ADDITIONS_PER_MULTIPLICATION = 1.1  # WJ, Sect. 6


@dataclass(frozen=True)
class Formula:
    """Multiplications and additions as polynomials."""

    multiplications: Polynomial
    additions: Polynomial

    def __add__(self, other: Formula) -> Formula:
        return Formula(self.multiplications + other.multiplications, self.additions + other.additions)


def equivalent_additions(multiplications: float, additions: float) -> float:
    """WJ's measure of both together."""
    return ADDITIONS_PER_MULTIPLICATION * multiplications + additions


def _tree(multiplications: tuple[str, str, str], additions: tuple[str, str, str]) -> Formula:
    """Coefficients of n_m² n_b, n_m n_b and n_b."""
    powers: tuple[Powers, ...] = ((2, 1), (1, 1), (0, 1))
    both = [dict(zip(powers, map(Fraction, row), strict=True)) for row in (multiplications, additions)]
    return Formula(*(polynomial(("n_m", "n_b"), row) for row in both))


def _of_n(multiplications: str, additions: str) -> Formula:
    """Coefficients of n³, n², n and 1."""
    rows: list[dict[Powers, Fraction]] = [
        {(3 - i,): Fraction(x) for i, x in enumerate(row.split())} for row in (multiplications, additions)
    ]
    return Formula(*(polynomial(("n",), row) for row in rows))


# S18 ----------------------------------------------------------------------------------------------------

SHAFEI_2018 = {  # Table 1, for n_b branches of n_m links each; M and right-hand side
    "lagrangian_4x4": _tree(("340", "1296", "504"), ("463/2", "2111/2", "350")),
    "gibbs_appell_3x3": _tree(("186", "57", "-162"), ("148", "145", "-215")),
    "gibbs_appell": _tree(("507/2", "1631/2", "297"), ("146", "643", "165")),
}


# WJ -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A row of WJ's Table 1; ``own`` is what the paper's four classes of products and the times that it names give for the row.

    ``counted``: the row is a part of the total; the cost of one basic element, or of one body, is not.
    """

    what: str
    printed: Formula
    own: Formula
    counted: bool = True


@dataclass(frozen=True)
class Method:
    """A method of WJ's Table 1 with its total; ``own`` is the total of the steps as they are counted right."""

    steps: tuple[Step, ...]
    total: Formula
    misprints: tuple[str, ...]

    @property
    def own(self) -> Formula:
        return _sum(step.own for step in self.steps if step.counted)

    @property
    def printed_steps(self) -> Formula:
        """What the printed rows add up to."""
        return _sum(step.printed for step in self.steps if step.counted)

    @property
    def slips(self) -> tuple[str, ...]:
        """The counted steps that are wrong: what they take, and what the paper has for them."""
        return tuple(
            f"{step.what}: {right} {kind}, counted as {wrong}"
            for step in self.steps
            for kind in ("multiplications", "additions")
            if step.counted and (right := getattr(step.own, kind)) != (wrong := getattr(step.printed, kind))
        )


def _sum(formulas: Iterable[Formula]) -> Formula:
    total = _of_n("0", "0")
    for formula in formulas:
        total = total + formula
    return total


def _step(what: str, multiplications: str, additions: str, own: tuple[str, str] | None = None, counted: bool = True) -> Step:
    """Coefficients of n³, n², n and 1; ``own`` where it differs."""
    printed = _of_n(multiplications, additions)
    return Step(what, printed, printed if own is None else _of_n(*own), counted)


WANG_JU = {  # Table 1, M of n revolute joints
    "generalised_momentum": Method(
        (
            _step("Jacobians J_p and J_o, all bodies", "0 3 3 0", "0 3 3 0"),
            _step("m J_pᵀ J_p of one body", "0 4 0 0", "0 2 0 0", counted=False),
            _step("J_oᵀ I J_o of one body", "0 3 9 0", "0 2 6 0", counted=False),
            _step("sum of the two of one body", "0 0 0 0", "0 1 0 0", counted=False),
            _step("steps 2-4 for n bodies", "7 9 0 0", "5 6 0 0"),
            _step("sum over the bodies", "0 0 0 0", "0 1 -1 0", ("0 0 0 0", "1 -1 0 0")),
        ),
        _of_n("7 12 3 0", "5 10 2 0"),
        (
            "The total prints 5n³+10n²+2n additions. Steps 2-4 taken n times and step 1 once give 5n³+9n²+3n, so n²-n are left for the sum "
            "of n matrices of n x n, which takes (n-1)n²: the total should be 6n³+8n²+3n.",
            "Steps 2-5 use neither the symmetry of M nor the zero columns of the Jacobians; the proposed method is counted with the "
            "symmetry, and with the subtree of each joint alone.",
        ),
    ),
    "pseudo_inertia": Method(
        (
            _step("pseudo-inertias", "0 0 24 0", "0 0 12 0"),
            _step("a basic element Tr(U I Uᵀ)", "0 0 0 128", "0 0 0 99", counted=False),
            _step("basic elements, (n³+3n²+2n)/6 times", "21 63 42 0", "33/2 99/2 33 0", ("64/3 64 128/3 0", "33/2 99/2 33 0")),
            _step("sum of the basic elements", "0 0 0 0", "3/2 0 -3/2 0", ("0 0 0 0", "1/6 0 -1/6 0")),
        ),
        _of_n("21 63 66 0", "18 99/2 87/2 0"),
        (
            "Step 3 prints 21n³+63n²+42n multiplications, which is 126 for a basic element; step 2 has 128: 64/3 n³ + 64n² + 128/3 n.",
            "Step 4 prints (3/2)(n³-n) additions, nine for each, as for 3x3 matrices; traces are scalars, (n³-n)/6 additions do.",
            "The derivatives U (64 to 128 multiplications each, about n²/2 of them) are in no step.",
        ),
    ),
    "explicit": Method(
        (
            _step("a basic element I - m r~ r~", "0 0 0 21", "0 0 0 12", counted=False),
            _step("basic elements, (n³+3n²+2n)/6 times", "7/2 21/2 7 0", "2 6 4 0"),
            _step("nᵀ (.) n, (n²+n)/2 times", "0 11/2 11/2 0", "0 4 4 0", ("0 6 6 0", "0 4 4 0")),
            _step("sum of the basic elements", "0 0 0 0", "3/2 0 -3/2 0"),
        ),
        _of_n("7/2 16 25/2 0", "7/2 10 13/2 0"),
        (
            "Step 3 prints 11/2 (n²+n) multiplications, 11 each; a matrix by a vector (9) and a scalar product (3) are 12: 6n²+6n.",
            "The vectors r (three additions each, two for a basic element) are in no step.",
        ),
    ),
}

# S17 ----------------------------------------------------------------------------------------------------

# Powers of n and m in the order of printing.
_S17_POWERS: tuple[Powers, ...] = (
    (0, 0),
    (1, 0),
    (0, 1),
    (2, 1),
    (1, 1),
    (2, 2),
    (1, 2),
    (0, 2),
    (2, 0),
)  # of n and m, in the order of printing


def _elastic(products: str, sums: str) -> Formula:
    both = [dict(zip(_S17_POWERS, map(Fraction, row.split()), strict=True)) for row in (products, sums)]
    return Formula(*(polynomial(("n", "m"), row) for row in both))


SHAFEI_2017 = {  # Table 2, to obtain the governing equations of n elastic links with m modes each
    "3x3": _elastic("-27 75/2 -9 18 -6 33/2 -45/2 3 9/2", "-18 26 -6 13 -4 11 -15 3 5"),
    "4x4": _elastic("-41 125/2 -13 27 -10 55/2 -75/2 6 15/2", "-33 48 -10 25 -9 20 -28 6 4"),
}


def table_2(shape: str, n: int, m: int) -> tuple[int, int]:
    """Sums and products of S17's Table 2, "3x3" or "4x4"; products rounded up where they are half."""
    if shape not in SHAFEI_2017:
        raise UnknownNameError("shape", shape, tuple(SHAFEI_2017))
    formula = SHAFEI_2017[shape]
    return int(formula.additions(n, m)), math.ceil(formula.multiplications(n, m))
