"""Operation counts as claims: S18's Table 1 and Figs. 12 and 13, S17's Table 2, WJ's Table 1 and Fig. 3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.counts import shafei2017, shafei2018, tables, wang_ju
from urdf_gibbs.counts.printed import WANG_JU
from urdf_gibbs.counts.tables import WAYS, Pair, Row, Table
from urdf_gibbs.reproduce.claims import Agreement, Claim, Figure, Grid, Picture, Progress, Section, agreement, all_near, number
from urdf_gibbs.reproduce.pictures import Line, of_lines

BOTH = ("multiplications", "additions")
CLOSE = 10.0  # per cent: the spread of two careful counts of the same algorithm
EXACT = 0.5  # units of the last digit: printed counts are whole numbers and not rounded
JOINTS = 6  # of WJ's table
NO_STEPS = (
    "The paper prints no steps for this method: it extends that of its reference to trees and to impacts, and counts flight and impact "
    "together."
)
NO_LAGRANGIAN = "The steps of the Lagrangian formulation are not printed, and without them the order cannot be settled."
NO_4X4 = "The paper prints no steps for its form with 4×4 matrices, which is that of its ref. [37]. Ours collects from the leaves inwards."
COLLECTED_BOTH = (
    "Counted on our forms of both, collected from the leaves inwards, every product in full: the paper prints no steps with 4×4."
)
TABLE_2 = "Table 2, n = 10, m = 2"
SIZE = (10, 2)  # n and m of it
APPENDIX = "Steps 1 to 7 of the Appendix by its own rule; T''_v, which step 4 needs, stands in no step and is not counted. "
REASONS = "The reasons are below."


def shafei2018_counts(progress: Progress) -> Section:
    section = Section("S18: operation counts")
    progress("Table 1")
    table, links, branches = shafei2018.table_1(), shafei2018.fig_12(), shafei2018.fig_13()
    key, place = "s18.table1", "Table 1, n_m = n_b = 4"
    for row in table.rows:
        section.claims.append(
            _by_steps(key, place, row, row.steps, note=APPENDIX + REASONS) if row.steps else _by_source(key, place, row, NO_STEPS, links)
        )
    for i, methods in enumerate(shafei2018.ORDERS, 1):
        order = _Order(methods, (links, branches), "literal", BOTH)
        section.claims.append(order.claim(f"s18.order{i}", "Figs. 12, 13", NO_LAGRANGIAN if "lagrangian_4x4" in methods else ""))
    section.grids += [_grid(table), _formulas(table)]
    progress("Figs. 12 and 13")
    section.pictures += [_picture("Fig. 12", links), _picture("Fig. 13", branches)]
    return section


def shafei2017_counts(progress: Progress) -> Section:
    section = Section("S17: operation counts")
    progress("Table 2")
    table = shafei2017.table_2(*SIZE)
    by_name = {row.method: row for row in table.rows}
    section.claims += _of_shafei2017(by_name[shafei2017.PRINTED])
    section.claims.append(_by_source("s17.table2", TABLE_2, by_name[shafei2017.TRANSFORMATIONS], NO_4X4))
    order = _Order((shafei2017.COLLECTED, shafei2017.TRANSFORMATIONS), (_one_size(table),), "literal", BOTH)
    section.claims.append(order.claim("s17.order1", "Table 2", note=COLLECTED_BOTH))
    section.grids.append(_grid(table))
    return section


def wang_ju_counts(progress: Progress) -> Section:
    section = Section("WJ: operation counts")
    progress("Table 1")
    table, larger = wang_ju.table_1(JOINTS), wang_ju.fig_3()
    section.claims += [_of_wang_ju(row) for row in table.rows]
    section.claims += [_order_of_wang_ju(i, methods, larger) for i, methods in enumerate(wang_ju.ORDERS, 1)]
    section.grids += [_grid(table), _formulas(table)]
    progress("Fig. 3")
    section.pictures.append(_picture("Fig. 3", larger, ("equivalent",)))
    return section


# rows of tables -----------------------------------------------------------------------------------------


def _by_steps(
    key: str, place: str, row: Row, steps: Pair, slips: Pair = Pair(0.0, 0.0), correction: str = "", note: str = REASONS
) -> Claim:
    """A row whose steps are printed: the total is theirs as counted right; after the correction, if it lacks ``slips`` to it."""
    wrong = [right - slip for right, slip in zip(steps.both, slips.both, strict=True)]
    return Claim(
        f"{key}.{row.method}",
        place,
        f"Multiplications and additions of {row.label}.",
        _figures(row),
        f"{_pair(steps)} by the paper's own steps; our source: {_ours(row)}",
        lambda *texts: agreement(all_near(texts, steps.both, EXACT), any(slips.both) and all_near(texts, wrong, EXACT)),
        _told(steps.against(row.printed)),
        otherwise=tuple(_texts(steps)),
        correction=correction,
        note=note,
        details=row.why,
    )


def _of_wang_ju(row: Row) -> Claim:
    """The slips are those of the steps that are counted wrong."""
    method = WANG_JU[row.method]
    steps, added = (tables.value(formula, JOINTS) for formula in (method.own, method.printed_steps))
    slips = Pair(*(right - wrong for right, wrong in zip(steps.both, added.both, strict=True)))
    correction = f"The total has the slips of its steps. {'; '.join(method.slips)}. Put right it is {_pair(steps)}."
    return _by_steps("wj.table1", f"Table 1, n = {JOINTS}", row, steps, slips, correction)


def _of_shafei2017(row: Row) -> list[Claim]:
    """Products and sums of the recursion as printed. Corrected: a scalar product for each label of the case lists, as Fig. 4 has them."""
    labels = shafei2017.label_formula(drawn=True)(*SIZE)
    rest = shafei2017.remainder(drawn=True)
    claims = []
    for what, each, printed, literal, left in (
        ("products", 3, row.printed.multiplications, row.literal.multiplications, rest.multiplications),
        ("sums", 2, row.printed.additions, row.literal.additions, rest.additions),
    ):
        read = float(each * labels)
        claims.append(
            Claim(
                f"s17.table2.{what}",
                TABLE_2,
                f"{what.capitalize()} for M and right-hand side of elastic links by 3×3 matrices.",
                (Figure(f"{printed:.0f}"),),
                f"{literal:.0f} by the recursion as printed, every product in full; {read:.0f} as {each} for each label of the case lists",
                lambda text, literal=literal, read=read: agreement(all_near((text,), (literal,), EXACT), all_near((text,), (read,), EXACT)),
                f"{100.0 * (literal - printed) / printed:+.0f} %",
                otherwise=(f"{literal:.0f}",),
                correction=f"Read as the last scalar product of each term of M alone, {each} for each label of the case lists (with "
                "Fig. 4's last cell, δ-X once), the formula is exact at all sizes; it counts neither A.1-A.33 nor the right-hand side.",
                note=f"{REASONS}" if not left.terms else f"As {each} for each label, {left} remain, which are open. {REASONS}",
                details=row.why if what == "products" else "",
            )
        )
    return claims


def _by_source(key: str, place: str, row: Row, missing: str = "", larger: tables.Figure | None = None) -> Claim:
    """A row whose steps are not printed, beside the literal count of our source; told also at the largest size of a figure."""
    told = _told(row.difference)
    if larger is not None:
        printed, literal = (Pair(*(float(larger.curves[row.method, way][kind][-1]) for kind in BOTH)) for way in ("printed", "literal"))
        told += f"; at {larger.x_label} = {larger.x[-1]:.0f}: {_told(literal.against(printed))}"

    def judge(*texts: str) -> Agreement:
        pairs = zip(map(number, texts), row.literal.both, strict=True)
        return agreement(all(100.0 * abs(ours - printed) <= CLOSE * abs(printed) for printed, ours in pairs))

    return Claim(
        f"{key}.{row.method}",
        place,
        f"Multiplications and additions of {row.label}.",
        _figures(row),
        _ours(row),
        judge,
        told,
        otherwise=tuple(_texts(row.literal)),
        missing=missing,
        note=f"Within {CLOSE:.0f} % it would be reproduced. {REASONS}",
        details=row.why,
    )


def _figures(row: Row) -> tuple[Figure, ...]:
    return tuple(Figure(text) for text in _texts(row.printed))


def _ours(row: Row) -> str:
    return f"{_pair(row.literal)} with all products in full, {_pair(row.folded)} after folding"


def _told(difference: Pair) -> str:
    return f"{difference.multiplications:+.1f} %, {difference.additions:+.1f} %"


# orders -------------------------------------------------------------------------------------------------


class _Order:
    """That one method needs less than another in all ``kinds`` of operations, at all sizes of figures, counted in one ``way``."""

    def __init__(self, methods: tuple[str, str], figures: Sequence[tables.Figure], way: str, kinds: Sequence[str]) -> None:
        self.figures, self.way, self.kinds = figures, way, kinds
        self.labels = figures[0].labels
        self.text, self.reverse = (" < ".join(self.labels[method] for method in order) for order in (methods, methods[::-1]))
        self.holds = bool(self.at_sizes(self.text).all())

    def at_sizes(self, text: str, way: str = "") -> NDArray[np.bool_]:
        """Whether an order holds, at each size; at none where the text is not one."""
        names = {label: method for method, label in self.labels.items()}
        less, _, more = text.partition(" < ")
        holds = [
            less in names and more in names and all(_less(figure, names[less], names[more], way or self.way, self.kinds, i))
            for figure in self.figures
            for i in range(len(figure.x))
        ]
        return np.array(holds, dtype=bool)

    def claim(self, key: str, place: str, missing: str = "", note: str = "By our sources with all products in full.") -> Claim:
        shares = {way: self.at_sizes(self.text, way) for way in ("printed", self.way)}
        return Claim(
            key,
            place,
            "Fewer multiplications and fewer additions, at all sizes that are drawn or printed.",
            (Figure(self.text),),
            "; ".join(f"{way}: at {holds.sum()} of {len(holds)} sizes" for way, holds in shares.items()),
            lambda text: agreement(bool(self.at_sizes(text).all())),
            otherwise=() if self.holds else (self.reverse,),
            missing=missing,
            note=note + ("" if self.holds else " There the order is reversed, for the reasons below."),
        )


def _less(figure: tables.Figure, less: str, more: str, way: str, kinds: Sequence[str], i: int) -> list[bool]:
    return [bool(figure.curves[less, way][kind][i] < figure.curves[more, way][kind][i]) for kind in kinds]


def _one_size(table: Table) -> tables.Figure:
    """A table's size as a figure of one point."""
    curves = {
        (row.method, way): {kind: np.array([getattr(getattr(row, way), kind)]) for kind in BOTH}
        for row in table.rows
        for way in ("printed", "literal")
    }
    return tables.Figure(table.title, "", np.zeros(1), curves, {row.method: row.label for row in table.rows})


def _order_of_wang_ju(i: int, methods: tuple[str, str], figure: tables.Figure) -> Claim:
    """By the paper's own steps, counted right; as printed at all sizes, or from the size on from which its own formulas have it."""
    order = _Order(methods, (figure,), "steps", ("equivalent",))
    first = _from(order.at_sizes(order.text, "printed"))

    def judge(text: str) -> Agreement:
        holds = order.at_sizes(text)
        start = _from(order.at_sizes(text, "printed"))
        return agreement(bool(holds.all()), start < len(holds) and bool(holds[start:].all()))

    steps, literal = (order.at_sizes(order.text, way) for way in ("steps", "literal"))
    reversed_ = order.at_sizes(order.reverse, "literal")
    economy = (
        "The paper takes all n³ products for the momentum method, and for its own the lower triangle and the subtrees alone. With the same "
        f"economy for both, as in our sources, the order is reversed at {reversed_.sum()} of {len(reversed_)} sizes."
    )
    return Claim(
        f"wj.order{i}",
        "Fig. 3",
        "Fewer equivalent additions, for 1 to 50 joints.",
        (Figure(order.text),),
        f"by the paper's own steps, counted right, at {steps.sum()} of {len(steps)} sizes; our sources with all products in full: "
        f"at {literal.sum()} of {len(literal)}",
        judge,
        correction=f"From n = {figure.x[first]:.0f} on; below, the paper's own formulas have the other order as well.",
        note=economy if reversed_.any() else "",
    )


def _from(holds: NDArray[np.bool_]) -> int:
    """The first index from which on all hold."""
    return int(np.flatnonzero(~holds)[-1]) + 1 if not holds.all() else 0


# tables and figures -------------------------------------------------------------------------------------


def _grid(table: Table) -> Grid:
    rows = [[row.label, *(_pair(getattr(row, way)) for way in WAYS)] for row in table.rows]
    return Grid(f"{table.title}: multiplications, additions", ["", *(way.replace("_", " ") for way in WAYS)], rows)


def _formulas(table: Table) -> Grid:
    rows = []
    for row in table.rows:
        for part in BOTH:
            ours = str(getattr(row.formula, part)) if row.formula is not None else "-"
            rows.append((row.label, part, str(getattr(row.printed_formula, part)), ours))
    return Grid("The same as formulas", ("", "", "printed", "our literal count"), rows)


def _picture(place: str, figure: tables.Figure, kinds: Sequence[str] = BOTH) -> Picture:
    panels = []
    for kind in kinds:
        lines: list[Line] = [(f"{figure.labels[method]}, {way}", figure.x, curve[kind]) for (method, way), curve in figure.curves.items()]
        panels.append((kind if kind != "equivalent" else "equivalent additions", figure.x_label, "operations", lines))
    caption = f"{figure.title.partition(': ')[2]}, over {figure.x_label}, as printed and as counted on our sources"
    return of_lines(place, caption, panels, width=6.4)


def _pair(pair: Pair | None) -> str:
    return "-" if pair is None else ", ".join(_texts(pair))


def _texts(pair: Pair) -> list[str]:
    return [f"{one:.10g}" for one in pair.both]
