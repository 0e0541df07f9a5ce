"""The papers' figures drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

import urdf_gibbs as ug
from urdf_gibbs.reproduce.claims import Picture
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.branches import Edge, skeleton
from urdf_gibbs.view.motion import positions
from urdf_gibbs.view.plots import plot
from urdf_gibbs.view.themes import SMALL, Theme, dress, legend, theme_named

MANY = 5  # lines: with more, a legend inside the axes would cover some
Line = tuple[str, ArrayLike, ArrayLike]  # name, x, y


def of_trajectory(place: str, caption: str, trajectory: Trajectory, kinds: Sequence[str], **options: Any) -> Picture:
    return Picture(place, caption, lambda theme: plot(trajectory, kinds, theme=theme, **options))


def of_lines(
    place: str,
    caption: str,
    panels: Sequence[tuple[str, str, str, Sequence[Line]]],
    *,
    log: bool = False,
    log_x: bool = False,
    width: float = 5.4,
) -> Picture:
    """Panels side by side: (title, label of x, label of y, lines); ``log``: y is logarithmic, ``log_x``: x too."""

    def draw(theme: str) -> Figure:
        look = theme_named(theme)
        figure = Figure(figsize=(width * len(panels), 3.4), layout="constrained", facecolor=look.background)
        FigureCanvasAgg(figure)
        for number, (title, x, y, lines) in enumerate(panels, 1):
            axes = figure.add_subplot(1, len(panels), number)
            _draw(axes, look, lines)
            axes.set(xlabel=x, ylabel=y, title=title)
            if np.array_equal(np.unique(np.diff(lines[0][1])), [1.0]):
                axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # numbers of joints and branches
            if log:
                axes.set_yscale("log")
            if log_x:
                axes.set_xscale("log")
            dress(axes, look)
            if len(lines) > MANY and number == len(panels):  # one legend for all panels, outside the axes
                legend(axes, *axes.get_legend_handles_labels(), look)
            elif 1 < len(lines) <= MANY:
                legend(axes, *axes.get_legend_handles_labels(), look, loc="best")
        return figure

    return Picture(place, caption, draw)


def of_branches(place: str, caption: str, robot: Robot, q: NDArray[np.float64]) -> Picture:
    """A column for each branch and one for all: links of a planar robot at q, virtual ones thin, above the entries of M that they fill."""
    names, count = robot.velocity_names, len(robot.branches)
    M = np.abs(ug.mass_matrix(robot, robot.random(0, 8), method="gibbs_appell")).max(axis=0)

    def entries(number: int) -> NDArray[np.bool_]:
        if number == count:
            return np.asarray(1e-12 * M.max() < M)
        own = [names.index(name) for name in robot.branches[number].joint_names]
        return np.isin(np.arange(robot.nv), own)[:, None] & np.isin(np.arange(robot.nv), own)

    def shows(number: int, edge: Edge) -> bool:
        return robot.joints[edge.body].type != "prismatic" and (edge.branch == number or (number == count and not edge.virtual))

    def draw(theme: str) -> Figure:
        look = theme_named(theme)
        lines = skeleton(robot)
        places = positions(robot, lines.places, q)
        figure = Figure(figsize=(2.3 * (count + 1), 4.9), layout="constrained", facecolor=look.background)
        FigureCanvasAgg(figure)
        axes = figure.subplots(2, count + 1, sharex="row", sharey="row")
        for number in range(count + 1):
            above, below = axes[:, number]
            for edge in (edge for edge in lines.edges if shows(number, edge)):
                style, width = ("--", 1.2) if edge.virtual else ("-", 3.0)
                above.plot(*places[[edge.a, edge.b], :2].T, color=look.colour(edge.branch), ls=style, lw=width)
            above.set(aspect="equal", title=f"branch {number + 1}" if number < count else "all")
            colour = look.colour(number) if number < count else look.wall
            below.imshow(np.ma.masked_equal(entries(number), False), cmap=ListedColormap([colour]))
            below.set(xticks=range(robot.nv), yticks=range(robot.nv), xticklabels=names, yticklabels=names)
            dress(above, look)
            dress(below, look)
            below.tick_params(labelsize=SMALL - 2)
            below.tick_params(axis="x", rotation=90)
        return figure

    return Picture(place, caption, draw)


def _draw(axes: Any, look: Theme, lines: Sequence[Line]) -> None:
    for number, (name, x, y) in enumerate(lines):
        few = np.size(x) < 30
        axes.plot(x, y, label=name, lw=1.4, marker="o" if few else None, ms=3.5, **look.line(number))
