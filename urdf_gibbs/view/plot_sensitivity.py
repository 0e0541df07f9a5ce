"""The columns of a sensitivity over time: what one unit of a change at the start, of a parameter or of a torque does to the motion."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from urdf_gibbs.arguments import listed
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.sensitivity.values import Sensitivity
from urdf_gibbs.view.figures import PANEL, WIDE, checked_path, mark_impacts, new_figure, wrapped_title, written
from urdf_gibbs.view.themes import MEDIUM, Theme, dress, legend, shown, theme_named

Array = NDArray[np.float64]

MANY_COLUMNS = 6  # drawn unless they are named
MANY_LINES = 8  # in one panel
SMOOTH = 300  # times, at least, between which lines are straight
NAME = 40  # characters of a name in a title


def plot_sensitivity(
    sensitivity: Sensitivity, path: str | os.PathLike[str] | None, columns: str | Iterable[str] | None, theme: str
) -> Figure:
    """A figure of columns, one below the other: rows of q on the left, of v on the right; also written to ``path``."""
    look, target = theme_named(theme), checked_path(path)
    which = _chosen(sensitivity, columns)
    t, values = _samples(sensitivity)
    left_out = len(sensitivity.columns) - len(which) if columns is None else 0
    more = f", {len(which)} of {len(sensitivity.columns)} columns" if left_out else ""
    count = len(sensitivity.saltations)
    impacts = "1 impact" if count == 1 else f"{count} impacts" if count else "no impacts"
    title = wrapped_title(f"sensitivity, {sensitivity.t[0]:.6g} to {sensitivity.t[-1]:.6g} s, {impacts}{more}", WIDE)
    figure = new_figure(WIDE, 0.6 + PANEL * len(which), title, look)
    panels = figure.subplots(len(which), 2, squeeze=False, sharex=True)
    for number, column in enumerate(which):
        _draw_row(panels[number], sensitivity, column, t, values[:, :, column], look)
    for axes in panels[-1]:
        axes.set_xlabel("time [s]", fontsize=MEDIUM)
    return written(figure, target)


def _draw_row(panels: Any, sensitivity: Sensitivity, column: int, t: Array, values: Array, theme: Theme) -> None:
    """One column: its entries of q and of v that are not zero, the largest where they are many."""
    nv = values.shape[1] // 2
    times = np.unique([one.time for one in sensitivity.saltations])
    for axes, rows, letter in zip(panels, (range(nv), range(nv, 2 * nv)), "qv", strict=True):
        dress(axes, theme)
        axes.set_title(f"d{letter} / d {shown(sensitivity.columns[column], NAME)}", fontsize=MEDIUM, color=theme.text, loc="left")
        axes.set_ylabel("per unit", fontsize=MEDIUM)
        sizes = {row: float(np.nanmax(np.abs(values[:, row]))) for row in rows}
        largest = sorted((row for row in rows if sizes[row] > 0.0), key=lambda row: -sizes[row])
        drawn = sorted(largest[:MANY_LINES])
        made = [axes.plot(t, values[:, row], lw=1.3, gid=f"{column} {row}", **theme.line(row % nv))[0] for row in drawn]
        mark_impacts(axes, times, theme)
        if not made:
            axes.text(0.5, 0.5, "zero", transform=axes.transAxes, ha="center", va="center", color=theme.text, fontsize=MEDIUM)
            axes.set_yticks([])
            continue
        more = f"without {len(largest) - len(drawn)} smaller" if len(largest) > len(drawn) else None
        legend(axes, made, [shown(sensitivity.rows[row]) for row in drawn], theme, title=more)


def _chosen(sensitivity: Sensitivity, columns: str | Iterable[str] | None) -> list[int]:
    """Indices of columns."""
    names, groups = sensitivity.columns, sensitivity.groups
    if columns is None:
        order = np.argsort(-np.abs(sensitivity.values[-1]).max(axis=0), kind="stable")[:MANY_COLUMNS]
        return [int(i) for i in np.sort(order)]
    chosen: list[int] = []
    for name in [columns] if isinstance(columns, str) else listed(columns, "names of columns", "columns"):
        if name not in names and name not in groups:
            raise UnknownNameError("column", str(name), (*groups, *names))
        chosen += range(len(names))[groups[name]] if name in groups else [names.index(name)]
    if not chosen:
        raise ArgumentError("no columns to draw, expected at least one, or None")
    return list(dict.fromkeys(chosen))


def _samples(sensitivity: Sensitivity) -> tuple[Array, Array]:
    """Times and values, between rows as well where they are few; a row of NaN where the motion jumps, so that lines break there."""
    t, values = sensitivity.t, sensitivity.values
    if 1 < len(t) < SMOOTH:
        grid = np.setdiff1d(np.linspace(t[0], t[-1], SMOOTH), t)
        t = np.concatenate([t, grid])
        values = np.concatenate([values, [sensitivity.at(float(time)) for time in grid]])
        order = np.argsort(t, kind="stable")
        t, values = t[order], values[order]
    jumps = np.flatnonzero(np.diff(t) == 0.0) + 1
    return np.insert(t, jumps, np.nan), np.insert(values, jumps, np.nan, axis=0)
