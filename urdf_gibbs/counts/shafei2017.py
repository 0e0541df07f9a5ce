"""S17's Table 2 beside our counts: n elastic links with m modes each, by 3x3 and by 4x4 matrices; and what the table seems to count."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from urdf_gibbs.counts.folded import folded
from urdf_gibbs.counts.formulations import answers
from urdf_gibbs.counts.literal import S18, Literal, literal
from urdf_gibbs.counts.polynomial import Polynomial, fitted
from urdf_gibbs.counts.printed import SHAFEI_2017, Formula
from urdf_gibbs.counts.robots import elastic_chain
from urdf_gibbs.counts.scalars import as_written
from urdf_gibbs.counts.tables import Pair, Row, Table, both, claims, fits, pair, value
from urdf_gibbs.dynamics.registry import REFERENCES
from urdf_gibbs.dynamics.shafei2017_lists import Cell, listed_cells

GRAVITY = (0.0, -9.81, 0.0)  # along -X2
PRINTED, COLLECTED, TRANSFORMATIONS = METHODS = ("shafei2017", "gibbs_appell_flexible", "transformations_flexible")
LABELS = {PRINTED: "3x3", COLLECTED: "3x3 collected", TRANSFORMATIONS: "4x4"}
SHAPES = {PRINTED: "3x3", COLLECTED: "3x3", TRANSFORMATIONS: "4x4"}  # the row of Table 2
ORDERS = ((PRINTED, TRANSFORMATIONS), (COLLECTED, TRANSFORMATIONS))
QUANTITIES = ("sigma", "psi", "U", "xi", "gamma", "V", "W", "lambda_")  # A.1-A.32
FOR_EACH = {"3x3": (3, 2), "4x4": (5, 4)}  # products and sums of Table 2 for each label of the lists: a scalar product of so many entries

POWERS = ((3, 0), *((i, j) for i in (2, 1, 0) for j in (2, 1, 0)))  # of n and m
SIZES = (*((n, m) for n in (2, 3, 4) for m in (1, 2, 3)), (5, 1))
CHECKS = ((5, 2), (3, 4), (6, 1))


# what Table 2 seems to count ----------------------------------------------------------------------------


def labels(n: int, m: int, *, every_mode: bool = False) -> dict[tuple[str, str], int]:
    """How many terms the case lists of the appendix name, by rows and columns ("q", "delta", "X"); one for each f and t of a list.

    The lists of delta-X are printed without f = 1 : m, and so counted once; ``every_mode``: m times, as they are meant.
    """
    return _counted(listed_cells(n), m, every_mode)


def _counted(cells: Iterable[Cell], m: int, every_mode: bool) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for cell in cells:
        block = cell.rows, cell.columns
        times = 1 if block == ("delta", "X") and not every_mode else m ** block.count("delta")
        counts[block] = counts.get(block, 0) + times * len(cell.terms)
    return counts


def drawn_cells(n: int) -> Iterable[Cell]:
    """The lists, with 20 + 21 at j = k = n, which is what Fig. 4 has in all of its last row, where the list has 21."""
    for cell in listed_cells(n):
        last = cell[:4] == ("delta", "q", n, n)
        yield cell._replace(terms=(20, 21)) if last else cell


@cache
def label_formula(*, drawn: bool = False) -> Polynomial:
    """The labels of all lists as a polynomial of n >= 2 and m, with Fig. 4's last cell where ``drawn``."""

    def count(n: int, m: int) -> int:
        return sum(_counted(drawn_cells(n) if drawn else listed_cells(n), m, every_mode=False).values())

    return fitted(("n", "m"), POWERS, count, SIZES, (*CHECKS, (10, 2), (7, 5)))


def remainder(shape: str = "3x3", *, drawn: bool = False) -> Formula:
    """What Table 2 prints less a scalar product for each label, by 3x3 or by 4x4."""
    printed, labels_formula = SHAFEI_2017[shape], label_formula(drawn=drawn)
    products, sums = FOR_EACH[shape]
    return Formula(printed.multiplications + labels_formula * -products, printed.additions + labels_formula * -sums)


# our counts ---------------------------------------------------------------------------------------------


def table_2(n: int = 10, m: int = 2) -> Table:
    """Table 2 at one size; printed products are exact here, halves included."""
    rows = tuple(_row(method, n, m) for method in METHODS)
    return Table(f"S17, Table 2 at n = {n}, m = {m}", rows, claims(rows, ORDERS))


@cache
def formula(method: str) -> Formula:
    """Our literal count of M and right-hand side as a polynomial of n >= 2 and m."""
    return fits(("n", "m"), POWERS, lambda n, m: sum_of(method, n, m), SIZES, CHECKS)


@cache
def literal_parts(method: str, n: int, m: int) -> tuple[Literal, Literal]:
    """Our literal counts of M and of the right-hand side."""
    robot, module = elastic_chain(n, m), REFERENCES[method]
    return literal(robot, module, "mass_matrix", S18), literal(robot, module, "bias", S18, GRAVITY)


def sum_of(method: str, n: int, m: int) -> Literal:
    M, right = literal_parts(method, n, m)
    return M + right


def _row(method: str, n: int, m: int) -> Row:
    robot, counted, printed = elastic_chain(n, m), sum_of(method, n, m), SHAFEI_2017[SHAPES[method]]
    equations = answers(REFERENCES[method], robot, GRAVITY)["equations"]
    ours = (Pair(counted.multiplications, counted.additions), pair(as_written(robot, equations)), pair(folded(robot, equations)))
    why = "\n".join([_coefficients(method), *_WHY[method](n, m)])
    steps = None
    if method == PRINTED:
        listed, (products, sums) = sum(labels(n, m).values()), FOR_EACH["3x3"]
        steps = Pair(products * listed, sums * listed)
    return Row(method, LABELS[method], value(printed, n, m), *ours, printed, formula(method), {}, why, steps)


# reasons ------------------------------------------------------------------------------------------------


def _coefficients(method: str) -> str:
    ours, theirs = formula(method), SHAFEI_2017[SHAPES[method]]
    shown = ((3, 0), "n³"), ((2, 2), "n² m², the pairs of elastic coordinates"), ((2, 1), "n² m"), ((1, 0), "n")
    told = "; ".join(f"{name}: ours {both(ours, *powers)}, printed {both(theirs, *powers)}" for powers, name in shown)
    return f"Multiplications and additions of {told}."


def _why_printed(n: int, m: int) -> list[str]:
    M, right = literal_parts(PRINTED, n, m)
    products, sums = FOR_EACH["3x3"]
    listed, every = sum(labels(n, m).values()), sum(labels(n, m, every_mode=True).values())
    left, drawn = remainder(), remainder(drawn=True)
    terms = M.inside("term").without(*QUANTITIES, "arm")
    return [
        f"Counted is the recursion as printed: σ, ψ, U, ξ, γ, V and λ of A.1-A.32, each sum in full, {_both(M.inside(*QUANTITIES))}; "
        f"the terms 1-50, each a matrix by a vector and a scalar product, {_both(terms)}; the right-hand side, Eqs. 44-57, {_both(right)}; "
        "the rest are rotations, places and the links' integrals. The sums make it cubic in n.",
        f"Table 2 holds much less. The case lists of the appendix name {listed} terms, where delta-X, printed without f = 1 ... m, "
        f"counts once ({every} with it). A scalar product of three entries for each, {products} and {sums}, makes {products * listed} and "
        f"{sums * listed} here, and at all n >= 2 and m the printed formulas but for {left.multiplications} and {left.additions}.",
        "So the table seems to count the last scalar product of each term of M alone: neither A.1-A.33, nor the matrix by vector in each "
        "term, nor the right-hand side; 29 and 50, which are numbers, count like the others.",
        f"Fig. 4 has 20 + 21 in its last row where the list has 21; with this label more at j = k = n, or one in another cell that "
        f"occurs m times, the printed products are exact, and {drawn.additions} of the sums remain, which are open.",
    ]


def _why_collected(n: int, m: int) -> list[str]:
    return [
        "Our production algorithm for the same equations, not the paper's: what a joint carries is collected once, from the leaves "
        "inwards, so that a pair of elastic coordinates costs a scalar product or two and nothing is cubic.",
        _named(COLLECTED, n, m),
    ]


def _why_transformations(n: int, m: int) -> list[str]:
    products, sums = FOR_EACH["4x4"]
    left = remainder("4x4", drawn=True)
    return [
        "Counted is our form with 4x4 matrices, collected inwards: the paper prints no steps for its own, which is that of its ref. [37].",
        _named(TRANSFORMATIONS, n, m),
        f"The printed row has {products} products for each label of the 3x3 lists in its terms n² m², n m², n m, n² and n, not in the "
        f"others: {left.multiplications} remain, and with {sums} sums for each {left.additions}. What these are is open.",
    ]


_WHY = {PRINTED: _why_printed, COLLECTED: _why_collected, TRANSFORMATIONS: _why_transformations}


def _named(method: str, n: int, m: int) -> str:
    kinds = sum_of(method, n, m).by_kind()
    shown = ", ".join(f"{kind} {one.times} times" for kind, one in kinds.items())
    sums = sum(one.times for kind, one in kinds.items() if kind.startswith("sum"))
    products = sum(one.times for kind, one in kinds.items() if not kind.startswith(("sum", "scalars")))
    return f"At this size it names {shown}: {products} products and {sums} sums of matrices and vectors."


def _both(count: Literal) -> str:
    return f"{count.multiplications} and {count.additions}"
