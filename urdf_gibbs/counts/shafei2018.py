"""S18's Table 1 and Figs. 12 and 13 beside our counts: three methods for planar trees of n_b branches with n_m links each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from urdf_gibbs.counts.folded import folded
from urdf_gibbs.counts.formulations import answers
from urdf_gibbs.counts.literal import S18, Literal, literal
from urdf_gibbs.counts.polynomial import Polynomial, polynomial
from urdf_gibbs.counts.printed import SHAFEI_2018, Formula
from urdf_gibbs.counts.robots import planar_tree
from urdf_gibbs.counts.scalars import as_written
from urdf_gibbs.counts.tables import Figure, Pair, Row, Table, both, claims, curves, fits, fits_by_kind, pair, parts, value
from urdf_gibbs.dynamics.registry import REFERENCES

LABELS = {"lagrangian_4x4": "Lagrangian 4x4", "gibbs_appell_3x3": "Gibbs-Appell 3x3", "gibbs_appell": "Gibbs-Appell 3x3 and 4x4"}
GRAVITY = (0.0, -9.81, 0.0)  # along -X2
ORDERS = (("gibbs_appell_3x3", "gibbs_appell"), ("gibbs_appell", "lagrangian_4x4"), ("gibbs_appell_3x3", "lagrangian_4x4"))
POWERS = ((2, 1), (1, 1), (0, 1), (2, 0), (1, 0), (0, 0))  # of n_m and n_b
SIZES, CHECKS = ((2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 2)), ((5, 1), (3, 3), (6, 2), (5, 4))


def table_1(n_m: int = 4, n_b: int = 4) -> Table:
    """Table 1 at one size: M and right-hand side by the three methods."""
    rows = tuple(_row(method, n_m, n_b) for method in SHAFEI_2018)
    return Table(f"S18, Table 1 at n_m = {n_m}, n_b = {n_b}", rows, claims(rows, ORDERS))


def fig_12(n_m: Sequence[int] = range(2, 21), n_b: int = 4) -> Figure:
    """Operations over the number of links in a branch."""
    return _figure("S18, Fig. 12: the same number of branches", "n_m", n_m, [(one, n_b) for one in n_m])


def fig_13(n_b: Sequence[int] = range(1, 21), n_m: int = 4) -> Figure:
    """Operations over the number of branches."""
    return _figure("S18, Fig. 13: the same number of links", "n_b", n_b, [(n_m, one) for one in n_b])


def _figure(title: str, x_label: str, x: Sequence[int], sizes: Sequence[tuple[int, int]]) -> Figure:
    formulas = {(method, "printed"): SHAFEI_2018[method] for method in LABELS} | {(method, "literal"): formula(method) for method in LABELS}
    return Figure(title, x_label, np.array(x, dtype=float), curves(formulas, sizes), LABELS)


@cache
def _literal(method: str, n_m: int, n_b: int) -> Literal:
    """Without the gyroscopic term of the sections, which the paper leaves out and which is zero in the plane."""
    robot, module = planar_tree(n_m, n_b), REFERENCES[method]
    counted = literal(robot, module, "mass_matrix", S18) + literal(robot, module, "bias", S18, GRAVITY)
    return counted.without("gyroscopic")


@cache
def formula(method: str) -> Formula:
    """Our literal count as a polynomial of n_m >= 2 and n_b."""
    return fits(("n_m", "n_b"), POWERS, lambda n_m, n_b: _literal(method, n_m, n_b), SIZES, CHECKS)


@cache
def kinds(method: str) -> dict[str, Formula]:
    """Its parts by kind of product."""
    return fits_by_kind(("n_m", "n_b"), POWERS, lambda n_m, n_b: _literal(method, n_m, n_b), SIZES, CHECKS)


def _row(method: str, n_m: int, n_b: int) -> Row:
    robot, counted = planar_tree(n_m, n_b), _literal(method, n_m, n_b)
    equations = answers(REFERENCES[method], robot, GRAVITY)["equations"]
    written, rest = as_written(robot, equations), folded(robot, equations)
    printed = SHAFEI_2018[method]
    ours = (Pair(counted.multiplications, counted.additions), pair(written), pair(rest))
    row = Row(method, LABELS[method], value(printed, n_m, n_b), *ours, printed, formula(method), kinds(method), _why(method))
    return replace(row, steps=value(appendix_total(), n_m, n_b), steps_formula=appendix_total()) if method == "gibbs_appell" else row


# why they differ ----------------------------------------------------------------------------------------


def appendix() -> dict[str, Formula]:
    """Steps 1-7 of S18's Appendix by its own rule; E_i A_i+1 and T^_j-1 U_1j are formed once.

    T''_v, which step 4 needs, stands in no step: it is not counted here.
    """
    n, nn, one = (polynomial(("n_m", "n_b"), {(power, 1): Fraction(1)}) for power in (1, 2, 0))  # for each branch
    pairs, inner = (nn + n) * Fraction(1, 2), (nn + n * -1) * Fraction(1, 2)  # j <= k; j < k
    fewer = n + one * -1

    def times(number: Polynomial, multiplications: int, additions: int) -> Formula:
        return Formula(number * multiplications, number * additions)

    product = (64, 48)
    return {
        "1: T_j E A, two products": times(inner, 128, 96),
        "1: E T": times(pairs, *product),
        "1: T_0 T, T E": times(n, 128, 96),
        "2: R R": times(inner + fewer * -1, 27, 18),
        "3: w, w'_v": times(fewer, 39, 30),
        "4: E A": times(fewer, *product),
        "4: p": times(fewer, 16, 16),
        "4: Q": times(n, *product) + times(fewer, 64, 64),
        "4: t, chi": times(n, 9, 6) + times(fewer, 9, 9),
        "5: right-hand side": times(n, 64 + 16 + 4 + 16 + 1 + 3, 48 + 12 + 3 + 15 + 2 + 3) + times(one, 2 * 101, 2 * 79),
        "6: F": times(inner, *product) + times(fewer, 64, 64) + times(n + one, *product),
        "6: P": times(inner, 27, 18) + times(fewer, 27, 27),
        "7: q-q": times(pairs, 64 + 16 + 1 + 12, 48 + 15 + 8 + 1),
        "7: q-X, X-X": times(n * 2 + one * 3, 64 + 16 + 1, 48 + 15),
    }


def appendix_total() -> Formula:
    """The Appendix as it stands."""
    steps = list(appendix().values())
    total = steps[0]
    for step in steps[1:]:
        total = total + step
    return total


def _why(method: str) -> str:
    ours, theirs = formula(method), SHAFEI_2018[method]
    lines = [
        f"n_m² n_b, the pairs of joints: ours {both(ours, 2, 1)}, printed {both(theirs, 2, 1)} (multiplications and additions). "
        f"Ours consists of {parts(kinds(method), 2, 1)}.",
        f"n_m n_b, the links: ours {both(ours, 1, 1)}, printed {both(theirs, 1, 1)}. Ours consists of {parts(kinds(method), 1, 1)}.",
        "Ours has a term without n_b, which the printed shape cannot have: the link that the branches share has mass in one of them only.",
        "M and bias are two functions here, and both form what they share (the transformations, and the derivatives of the 4x4 forms); "
        f"in the functions that both call this is {both(_shared(method), 1, 1)} of the n_m n_b term. A paper's count would have it once.",
        *WHY[method],
    ]
    return "\n".join(lines)


@cache
def _shared(method: str) -> Formula:
    """What bias counts inside the functions that prepare M as well."""

    @cache
    def count(n_m: int, n_b: int) -> Literal:
        counts = literal(planar_tree(n_m, n_b), REFERENCES[method], "bias", S18, GRAVITY)
        return counts.inside("transform_derivatives", "_transforms", "place")

    return fits(("n_m", "n_b"), POWERS, count, SIZES, CHECKS)


WHY = {
    "lagrangian_4x4": (
        "A pair of joints takes two products of 4x4 here (A jJ_k, and that by the derivative of W_k) and a trace; the printed term is "
        "that of more than ten products. The paper gives no steps for this method, so which they are is open.",
        "One 4x4 pseudo-inertia holds all of a link's inertia here. So this form needs less than the combined one, which carries B2 by "
        "3x3 matrices beside B1 by 4x4 ones: with all products in full, the paper's order of the two is reversed.",
    ),
    "gibbs_appell_3x3": (
        "A pair of joints takes three products of 3x3 here (R force, R moment, r~ force) and 12 multiplications for the element; the "
        "printed term is that of more than thirteen products. The paper gives no steps for this method, so which they are is open.",
        "The term of the links is larger than printed: what a joint carries is turned and shifted once for each link here.",
    ),
    "gibbs_appell": (
        "A pair of joints takes two products of 4x4 (E A jF_k, and that by the derivative of T_k), one of 3x3 and a trace here. The "
        "Appendix forms all jT_i and jR_k beside, which its own recursions for F and P make superfluous: by its steps the term has "
        f"{both(appendix_total(), 2, 1)}, and the links {both(appendix_total(), 1, 1)}, without T''_v, which is in no step. The printed "
        "additions are nearly these (1 % at n_m = n_b = 4), the printed multiplications more.",
        "The printed 146 n_m² n_b additions are exactly those of the steps where x'ᵀ P x' costs nothing, as (0, 0, 1) picks an entry; "
        "the printed multiplications have 116 for each pair of joints more than that reading, which no step explains.",
        "Printed, the n_m² n_b terms have 146/253.5 = 0.58 additions for a multiplication. A product of 4x4 has 0.75 and one of 3x3 0.67, "
        "and sums raise that: no set of full products makes the printed ratio.",
        "Our links take more than printed because T, T' and T''_v are formed by ten products for each link. The term w x B2 w, which the "
        "paper leaves out, is not counted.",
    ),
}
