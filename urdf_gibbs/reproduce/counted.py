"""Operation counts as claims: S18's Table 1 and Figs. 12 and 13, S17's Table 2, WJ's Table 1 and Fig. 3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.counts import shafei2017, shafei2018, wang_ju
from urdf_gibbs.counts.tables import WAYS, Figure, Pair, Table
from urdf_gibbs.reproduce.claims import Claim, Grid, Picture, Progress, Section
from urdf_gibbs.reproduce.pictures import Line, of_lines

CLOSE = 10.0  # per cent: as near as two people come who count the same algorithm, one with a trace and one with a product more


def shafei2018_counts(progress: Progress) -> Section:
    section = Section("S18: operation counts")
    progress("Table 1")
    table, links, branches = shafei2018.table_1(), shafei2018.fig_12(), shafei2018.fig_13()
    section.claims += _rows("s18.table1", "Table 1, n_m = n_b = 4", table, links)
    section.claims += _orders("s18", "Figs. 12, 13", table, shafei2018.ORDERS, (links, branches))
    section.grids += [_grid(table), _formulas(table)]
    progress("Figs. 12 and 13")
    section.pictures += [_picture("Fig. 12", links), _picture("Fig. 13", branches)]
    return section


def shafei2017_counts(progress: Progress) -> Section:
    section = Section("S17: operation counts")
    progress("Table 2")
    table = shafei2017.table_2()
    section.claims += _rows("s17.table2", "Table 2, n = 10, m = 2", table) + _orders("s17", "Table 2", table, shafei2017.ORDERS)
    section.grids.append(_grid(table))
    return section


def wang_ju_counts(progress: Progress) -> Section:
    section = Section("WJ: operation counts")
    progress("Table 1")
    table, larger = wang_ju.table_1(), wang_ju.fig_3()
    section.claims += _rows("wj.table1", "Table 1, n = 6", table, larger)
    section.claims += _orders("wj", "Fig. 3", table, wang_ju.ORDERS, (larger,), ("equivalent",))
    section.grids += [_grid(table), _formulas(table)]
    progress("Fig. 3")
    section.pictures.append(_picture("Fig. 3", larger, ("equivalent",)))
    return section


def _rows(key: str, place: str, table: Table, larger: Figure | None = None) -> list[Claim]:
    """A claim for each method: the counts at the table's size, and where there is a figure also at its largest size."""
    found = []
    for row in table.rows:
        differences = [row.difference]
        if larger is not None:
            ends = {way: larger.curves[row.method, way] for way in ("printed", "literal")}
            printed, literal = (Pair(*(float(curve[kind][-1]) for kind in ("multiplications", "additions"))) for curve in ends.values())
            differences.append(literal.against(printed))
        told = [f"{one.multiplications:+.1f} %, {one.additions:+.1f} %" for one in differences]
        at = f"; at {larger.x_label} = {larger.x[-1]:.0f}: " if larger is not None else ""
        found.append(
            Claim(
                f"{key}.{row.method}",
                place,
                f"Multiplications and additions of {row.label}.",
                _pair(row.printed),
                f"{_pair(row.literal)} counted alike; {_pair(row.folded)} after folding"
                + (f"; {_pair(row.steps)} by the paper's own steps" if row.steps is not None else ""),
                at.join(told),
                all(max(abs(one.multiplications), abs(one.additions)) <= CLOSE for one in differences),
                note="The reasons are below.",
                details=row.why,
            )
        )
    return found


def _orders(
    key: str,
    place: str,
    table: Table,
    orders: Sequence[tuple[str, str]],
    figures: Sequence[Figure] = (),
    kinds: Sequence[str] = ("multiplications", "additions"),
) -> list[Claim]:
    """A claim for each order: at the table's size, and at every size of the figures in all ``kinds``."""
    found = []
    for number, (order, methods) in enumerate(zip(table.claims, orders, strict=True), 1):
        ours = ", ".join(f"{way.replace('_', ' ')}: {'yes' if holds else 'no'}" for way, holds in order.holds.items() if way != "printed")
        printed, literal = (_everywhere(figures, methods, way, kinds) for way in ("printed", "literal"))
        holds = order.holds["literal"] and bool(literal.all())
        found.append(
            Claim(
                f"{key}.order{number}",
                place,
                f"Fewer operations: {order.statement}.",
                ("yes" if order.holds["printed"] else "not in its own formulas") + _share(printed),
                ours + _share(literal),
                "",
                holds,
                note="" if holds else "Counted alike the order is reversed, for the reasons below.",
            )
        )
    return found


def _everywhere(figures: Sequence[Figure], methods: tuple[str, str], way: str, kinds: Sequence[str]) -> NDArray[np.bool_]:
    """Whether the first method needs less than the second, at each size of the figures."""
    less, more = methods
    return np.array(
        [
            all(figure.curves[less, way][kind][i] < figure.curves[more, way][kind][i] for kind in kinds)
            for figure in figures
            for i in range(len(figure.x))
        ],
        dtype=bool,
    )


def _share(holds: NDArray[np.bool_]) -> str:
    return f"; drawn: at {holds.sum()} of {len(holds)} sizes" if len(holds) else ""


def _grid(table: Table) -> Grid:
    rows = [[row.label, *(_pair(getattr(row, way)) for way in WAYS)] for row in table.rows]
    return Grid(f"{table.title}: multiplications, additions", ["", *(way.replace("_", " ") for way in WAYS)], rows)


def _formulas(table: Table) -> Grid:
    rows = []
    for row in table.rows:
        for part in ("multiplications", "additions"):
            ours = str(getattr(row.formula, part)) if row.formula is not None else "-"
            rows.append((row.label, part, str(getattr(row.printed_formula, part)), ours))
    return Grid("The same as formulas", ("", "", "printed", "our literal count"), rows)


def _picture(place: str, figure: Figure, kinds: Sequence[str] = ("multiplications", "additions")) -> Picture:
    panels = []
    for kind in kinds:
        lines: list[Line] = [(f"{figure.labels[method]}, {way}", figure.x, found[kind]) for (method, way), found in figure.curves.items()]
        panels.append((kind if kind != "equivalent" else "equivalent additions", figure.x_label, "operations", lines))
    caption = f"{figure.title.partition(': ')[2]}, over {figure.x_label}, as printed and as counted on our sources"
    return of_lines(place, caption, panels, width=6.4)


def _pair(pair: Pair | None) -> str:
    if pair is None:
        return "-"
    return f"{pair.multiplications:.10g}, {pair.additions:.10g}"
