"""S17's Table 2 beside our counts: M and right-hand side of n elastic links with m modes each, by 3x3 and by 4x4 matrices."""

from __future__ import annotations

from functools import cache

from urdf_gibbs.counts.folded import folded
from urdf_gibbs.counts.formulations import FLEXIBLE_LABELS, answers
from urdf_gibbs.counts.literal import S18, Literal, literal
from urdf_gibbs.counts.printed import SHAFEI_2017, Formula
from urdf_gibbs.counts.robots import elastic_chain
from urdf_gibbs.counts.scalars import as_written
from urdf_gibbs.counts.tables import Pair, Row, Table, both, claims, fits, pair, value
from urdf_gibbs.engine.kernel import REFERENCES

GRAVITY = (0.0, -9.81, 0.0)  # along -X2
ORDERS = (("gibbs_appell_flexible", "transformations_flexible"),)
POWERS = tuple((i, j) for i in (2, 1, 0) for j in (2, 1, 0))  # of n and m
SIZES, CHECKS = tuple((n, m) for n in (2, 3, 4) for m in (1, 2, 3)), ((5, 2), (3, 4), (6, 1))


def table_2(n: int = 10, m: int = 2) -> Table:
    """Table 2 at one size; printed products are exact here, halves included."""
    rows = tuple(_row(method, n, m) for method in FLEXIBLE_LABELS)
    return Table(f"S17, Table 2 at n = {n}, m = {m}", rows, claims(rows, ORDERS))


@cache
def formula(method: str) -> Formula:
    """Our literal count as a polynomial of n >= 2 and m."""
    return fits(("n", "m"), POWERS, lambda n, m: _literal(method, n, m), SIZES, CHECKS)


@cache
def _literal(method: str, n: int, m: int) -> Literal:
    robot, module = elastic_chain(n, m), REFERENCES[method]
    return literal(robot, module, "mass_matrix", S18) + literal(robot, module, "bias", S18, GRAVITY)


def _row(method: str, n: int, m: int) -> Row:
    robot, counted, printed = elastic_chain(n, m), _literal(method, n, m), SHAFEI_2017[FLEXIBLE_LABELS[method]]
    equations = answers(REFERENCES[method], robot, GRAVITY)["equations"]
    ours = (Pair(counted.multiplications, counted.additions), pair(as_written(robot, equations)), pair(folded(robot, equations)))
    return Row(method, FLEXIBLE_LABELS[method], value(printed, n, m), *ours, printed, formula(method), {}, _why(method, counted))


def _why(method: str, counted: Literal) -> str:
    ours, theirs = formula(method), SHAFEI_2017[FLEXIBLE_LABELS[method]]
    kinds = counted.by_kind()
    shown = ", ".join(f"{kind} {one.times} times" for kind, one in kinds.items())
    sums = sum(one.times for kind, one in kinds.items() if kind.startswith("sum"))
    products = sum(one.times for kind, one in kinds.items() if not kind.startswith(("sum", "scalars")))
    lines = [
        f"n² m², the pairs of elastic coordinates: ours {both(ours, 2, 2)}, printed {both(theirs, 2, 2)} (multiplications and additions); "
        f"n² m: ours {both(ours, 2, 1)}, printed {both(theirs, 2, 1)}; n: ours {both(ours, 1, 0)}, printed {both(theirs, 1, 0)}.",
        f"At this size our source names {shown}: {products} products and {sums} sums of matrices and vectors.",
        "The printed numbers cannot be scalar operations of full products: one link with one mode would take "
        f"{theirs.multiplications(1, 1)} products and {theirs.additions(1, 1)} sums in all, less than a single product of the matrices. "
        "They may be counts of matrix operations; the paper does not say.",
        "Printed, pairs of elastic coordinates cost most. Our recursion collects what a joint carries once, so that such a pair costs a "
        "scalar product or two, and the links cost most.",
    ]
    return "\n".join(lines)
