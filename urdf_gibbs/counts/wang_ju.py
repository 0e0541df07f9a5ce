"""WJ's Table 1 and Fig. 3 beside our counts: the inertia matrix of n revolute joints by three explicit methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from urdf_gibbs.counts.folded import folded
from urdf_gibbs.counts.formulations import answers
from urdf_gibbs.counts.literal import WJ, Literal, literal
from urdf_gibbs.counts.printed import WANG_JU, Formula
from urdf_gibbs.counts.robots import chain
from urdf_gibbs.counts.scalars import as_written
from urdf_gibbs.counts.tables import Figure, Row, Table, both, claims, curves, fits, fits_by_kind, pair, parts, value
from urdf_gibbs.dynamics.registry import REFERENCES

LABELS = {"generalised_momentum": "generalised momentum", "pseudo_inertia": "pseudo-inertia", "explicit": "proposed"}
ORDERS = (("explicit", "generalised_momentum"), ("generalised_momentum", "pseudo_inertia"), ("explicit", "pseudo_inertia"))
# "The process of establishing coordinate system and determining parameters" is not in WJ's table, nor are the derivatives U.
OUTSIDE = {"generalised_momentum": ("poses",), "pseudo_inertia": ("_transforms", "_seen", "_derivatives"), "explicit": ("poses",)}
POWERS = ((3,), (2,), (1,), (0,))
WHOLE_UP_TO = 12  # joints: beyond, M as a whole is not counted, which takes time that grows with the cube
SIZES, CHECKS = ((1,), (2,), (3,), (4,)), ((5,), (7,), (12,))


def table_1(n: int = 6) -> Table:
    """Table 1 at one size: M. ``as_written`` and ``folded`` are of M as a whole, with the kinematics; the other counts are without it."""
    rows = tuple(_row(method, n) for method in WANG_JU)
    return Table(f"WJ, Table 1 at n = {n}", rows, claims(rows, ORDERS))


def fig_3(n: Sequence[int] = range(1, 51)) -> Figure:
    """Equivalent additions over the number of joints."""
    formulas = {(method, "printed"): WANG_JU[method].total for method in LABELS}
    formulas |= {(method, "steps"): WANG_JU[method].own for method in LABELS}
    formulas |= {(method, "literal"): formula(method) for method in LABELS}
    return Figure("WJ, Fig. 3: equivalent additions", "n", np.array(n, dtype=float), curves(formulas, [(one,) for one in n]), LABELS)


@cache
def _literal(method: str, n: int) -> Literal:
    return literal(chain(n), REFERENCES[method], "mass_matrix", WJ)


@cache
def formula(method: str) -> Formula:
    """Our literal count as a polynomial of n."""
    return fits(("n",), POWERS, lambda n: _literal(method, n).without(*OUTSIDE[method]), SIZES, CHECKS)


@cache
def kinds(method: str) -> dict[str, Formula]:
    """Its parts by kind of product."""
    return fits_by_kind(("n",), POWERS, lambda n: _literal(method, n).without(*OUTSIDE[method]), SIZES, CHECKS)


def _row(method: str, n: int) -> Row:
    printed, whole = WANG_JU[method], formula(method)
    written = rest = None
    if n <= WHOLE_UP_TO:
        robot = chain(n)
        M = answers(REFERENCES[method], robot)["mass_matrix"]
        written, rest = pair(as_written(robot, M)), pair(folded(robot, M))
    ours, steps = value(whole, n), value(printed.own, n)
    row = Row(method, LABELS[method], value(printed.total, n), ours, written, rest, printed.total, whole, kinds(method), _why(method))
    return replace(row, steps=steps, steps_formula=printed.own, left_out=value(_outside(method), n))


@cache
def _outside(method: str) -> Formula:
    """What the literal count leaves out: poses, transformations and their derivatives."""
    return fits(("n",), POWERS, lambda n: _literal(method, n).inside(*OUTSIDE[method]), SIZES, CHECKS)


def _why(method: str) -> str:
    ours, theirs, outside = formula(method), WANG_JU[method], _outside(method)
    lines = [
        f"n³: ours {both(ours, 3)}, printed {both(theirs.total, 3)}, by the paper's own steps {both(theirs.own, 3)} (multiplications and "
        f"additions). Ours consists of {parts(kinds(method), 3)}.",
        f"n²: ours {both(ours, 2)}, printed {both(theirs.total, 2)}, by the steps {both(theirs.own, 2)}. "
        f"Ours consists of {parts(kinds(method), 2)}.",
        f"Left out, as in the paper: {outside.multiplications} multiplications and {outside.additions} additions for "
        f"{'the derivatives U and ' if method == 'pseudo_inertia' else ''}the kinematics.",
        *WHY[method],
        *theirs.misprints,
    ]
    return "\n".join(lines)


WHY = {
    "generalised_momentum": (
        "Our source takes the lower triangle of M, and of the Jacobians only the columns of joints that move the body: (n³+3n²+2n)/6 "
        "elements of seven multiplications, where the paper takes all n³. The elements themselves cost the same. With this economy, which "
        "the paper grants its own method, the momentum method needs a third of the proposed one's n³ multiplications: the order of the "
        "two is reversed.",
    ),
    "pseudo_inertia": (
        "The basic elements are the paper's: 128 multiplications and 99 additions, (n³+3n²+2n)/6 times. The pseudo-inertias are constants "
        "of the URDF and free here (24n and 12n in the paper).",
    ),
    "explicit": (
        "The multiplications are those of the paper's steps, counted right. The additions have six more for each basic element: the "
        "vectors r_ul and r_kl, which the paper takes as given.",
    ),
}
