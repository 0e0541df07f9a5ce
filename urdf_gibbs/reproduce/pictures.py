"""The papers' figures drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from urdf_gibbs.reproduce.claims import Picture
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.plots import plot
from urdf_gibbs.view.themes import Theme, dress, legend, theme_named

Line = tuple[str, ArrayLike, ArrayLike]  # name, x, y


def of_trajectory(place: str, caption: str, trajectory: Trajectory, kinds: Sequence[str], **options: Any) -> Picture:
    return Picture(place, caption, lambda theme: plot(trajectory, kinds, theme=theme, **options))


def of_lines(
    place: str, caption: str, panels: Sequence[tuple[str, str, str, Sequence[Line]]], *, log: bool = False, width: float = 5.4
) -> Picture:
    """Panels side by side: (title, label of x, label of y, lines)."""

    def draw(theme: str) -> Figure:
        look = theme_named(theme)
        figure = Figure(figsize=(width * len(panels), 3.4), layout="constrained", facecolor=look.background)
        FigureCanvasAgg(figure)
        for number, (title, x, y, lines) in enumerate(panels, 1):
            axes = figure.add_subplot(1, len(panels), number)
            _draw(axes, look, lines)
            axes.set(xlabel=x, ylabel=y, title=title)
            if log:
                axes.set_yscale("log")
            dress(axes, look)
            legend(axes, *axes.get_legend_handles_labels(), look, loc="best")
        return figure

    return Picture(place, caption, draw)


def _draw(axes: Any, look: Theme, lines: Sequence[Line]) -> None:
    for number, (name, x, y) in enumerate(lines):
        few = np.size(x) < 30
        axes.plot(x, y, label=name, lw=1.4, marker="o" if few else None, ms=3.5, **look.line(number))
