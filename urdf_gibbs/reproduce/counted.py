"""Operation counts as claims: S18's Table 1 and Figs. 12 and 13, S17's Table 2, WJ's Table 1 and Fig. 3."""

from __future__ import annotations

from collections.abc import Sequence

from urdf_gibbs.counts import shafei2017, shafei2018, wang_ju
from urdf_gibbs.counts.tables import WAYS, Figure, Pair, Table
from urdf_gibbs.reproduce.claims import Claim, Grid, Picture, Progress, Section
from urdf_gibbs.reproduce.pictures import Line, of_lines

CLOSE = 10.0  # per cent: as near as two people come who count the same algorithm, one with a trace and one with a product more


def shafei2018_counts(progress: Progress) -> Section:
    section = Section("S18: operation counts")
    progress("Table 1")
    table, larger = shafei2018.table_1(), shafei2018.fig_12()
    section.claims += _rows("s18.table1", "Table 1, n_m = n_b = 4", table, larger) + _orders("s18", "Figs. 12, 13", table)
    section.grids += [_grid(table), _formulas(table)]
    progress("Figs. 12 and 13")
    section.pictures += [_picture("Fig. 12", larger), _picture("Fig. 13", shafei2018.fig_13())]
    return section


def shafei2017_counts(progress: Progress) -> Section:
    section = Section("S17: operation counts")
    progress("Table 2")
    table = shafei2017.table_2()
    section.claims += _rows("s17.table2", "Table 2, n = 10, m = 2", table) + _orders("s17", "Table 2", table)
    section.grids.append(_grid(table))
    return section


def wang_ju_counts(progress: Progress) -> Section:
    section = Section("WJ: operation counts")
    progress("Table 1")
    table, larger = wang_ju.table_1(), wang_ju.fig_3()
    section.claims += _rows("wj.table1", "Table 1, n = 6", table, larger) + _orders("wj", "Fig. 3", table)
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


def _orders(key: str, place: str, table: Table) -> list[Claim]:
    found = []
    for number, order in enumerate(table.claims, 1):
        ours = ", ".join(f"{way.replace('_', ' ')}: {'yes' if holds else 'no'}" for way, holds in order.holds.items() if way != "printed")
        found.append(
            Claim(
                f"{key}.order{number}",
                place,
                f"Fewer operations: {order.statement}.",
                "yes" if order.holds["printed"] else "not in its own formulas",
                ours,
                "",
                order.holds["literal"],
                note="" if order.holds["literal"] else "Counted alike the order is reversed, for the reasons below.",
            )
        )
    return found


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
    return of_lines(place, figure.title, panels, width=6.4)


def _pair(pair: Pair | None) -> str:
    if pair is None:
        return "-"
    return f"{pair.multiplications:.10g}, {pair.additions:.10g}"
