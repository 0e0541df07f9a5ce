"""A drawing of the branch decomposition in the manner of S18's Fig. 1: each branch in its colour, virtual links dashed."""

from __future__ import annotations

from itertools import pairwise
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.view.elastic import axis_points
from urdf_gibbs.view.motion import Place, positions
from urdf_gibbs.view.palette import PALETTE
from urdf_gibbs.view.telling import telling
from urdf_gibbs.view.themes import shown

Array = NDArray[np.float64]

MOST_LABELS = 60  # names of branches beside a drawing, and branches whose virtual links are drawn
LONGEST = 60  # letters of such a name
DRAWING = (4.5, 3.6)  # inches, without the names beside it
LINE, LETTER = 0.18, 0.09  # inches, of a name in 8 points


class Edge(NamedTuple):
    """A line of a drawing between two places, in the colour of a branch (from 0); ``virtual`` where an earlier branch has the mass."""

    branch: int
    virtual: bool
    a: int
    b: int
    body: int  # that it belongs to, -1: the world
    elastic: bool = False  # part of an elastic link


class Skeleton(NamedTuple):
    """A robot as lines: ``places`` are the origins of its joints, in their order, and behind them its tips and the axes of its beams."""

    places: list[Place]
    edges: list[Edge]


def skeleton(robot: Robot, virtual: bool = True) -> Skeleton:
    """Lines from joint to joint and on to the tips; without the virtual ones each line is there once."""
    places: list[Place] = [(body, (0.0, 0.0, 0.0)) for body in range(len(robot.joints))]
    tips: dict[int, list[int]] = {}
    for leaf, own in _tips(robot).items():
        tips[leaf] = list(range(len(places), len(places) + len(own)))
        places += [(leaf, tip.tolist()) for tip in own]
    beams: dict[int, list[int]] = {}  # joint -> places on the beam's axis, from its root on
    for i, joint in enumerate(robot.joints):
        if joint.beam is not None:
            points = axis_points(i, joint.beam)
            beams[i] = list(range(len(places), len(places) + len(points)))
            places += points
    edges: list[Edge] = []
    for number, branch in enumerate(robot.branches):
        first = 0 if virtual else max(branch.first_real - 1, 0)  # the body that the branch grows from has a line of its own to it
        for i in range(first, len(branch)):
            body = branch.bodies[i]
            later = i < branch.first_real
            if i == 0 and body in beams and (virtual or not later):
                edges += _bent(number, later, beams[body], body, -1)
            for end in branch.bodies[i + 1 : i + 2] or tips[body]:
                if end not in beams:
                    edges.append(Edge(number, later, body, end, body))
                    continue
                beam = robot.joints[end].beam
                if beam is not None and beam.root.any():
                    edges.append(Edge(number, later, body, beams[end][0], body))
                edges += _bent(number, later, beams[end], end, body)
    return Skeleton(places, edges)


def _bent(branch: int, virtual: bool, points: list[int], tip: int, body: int) -> list[Edge]:
    """The lines of an elastic link, from its root to its tip."""
    ends = [*points, tip]
    return [Edge(branch, virtual, a, b, body, True) for a, b in pairwise(ends)]


def _runs(edges: list[Edge]) -> list[list[Edge]]:
    """The edges, those of an elastic link together: dashes of a line need its length."""
    runs: list[list[Edge]] = []
    for edge in edges:
        if edge.elastic and runs and runs[-1][-1].elastic and runs[-1][-1].b == edge.a and runs[-1][-1].branch == edge.branch:
            runs[-1].append(edge)
        else:
            runs.append([edge])
    return runs


def _tips(robot: Robot) -> dict[int, list[Array]]:
    """For each leaf body, the frames fixed to it (its tips), or its centre of mass where there are none, in its own frame."""
    tips: dict[int, list[Array]] = {leaf: [] for leaf in robot.branches.leaves}
    for link in robot.link_names:
        frame = robot.frame(link)
        if frame.body in tips and link != robot.joints[frame.body].child:
            tips[frame.body].append(frame.placement[:3, 3])
    return {leaf: own or [robot.centre_of_mass[leaf]] for leaf, own in tips.items()}


def draw(robot: Robot, q: Array | None, path: str | IO[bytes]) -> None:
    """Write the drawing at configuration q (None: a telling one) to ``path``, a name or an open file: straight lines, seen from far away.

    Beside it stands the last joint of each branch, joined to its tip by a thin line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    count = len(robot.branches)
    lines = skeleton(robot, virtual=count <= MOST_LABELS)
    q, view = telling(robot, lines.places, q)
    root = (robot.frame(robot.root_link).body, robot.frame(robot.root_link).placement[:3, 3].tolist())
    points = positions(robot, [*lines.places, root], q) @ view.T
    places, base = points[:-1, :2], points[-1, :2]
    names = [f"{k + 1}: {shown(branch.joint_names[-1], LONGEST)}" for k, branch in enumerate(robot.branches[:MOST_LABELS])]
    unnamed = f", {count - len(names)} without a name here" if len(names) < count else ""
    dashed = " (dashed: as an earlier branch)" if 1 < count <= MOST_LABELS else ""
    title = f"{shown(robot.name)}: {count} {'branch' if count == 1 else 'branches'}{dashed}{unnamed}"
    sheet = Sheet.of(points[:, :2], _leaf_ends(robot, lines, places), names, title)
    figure = Figure(figsize=(sheet.scale * np.ptp(sheet.x), sheet.scale * np.ptp(sheet.y)))
    FigureCanvasAgg(figure)  # not pyplot, which keeps its figures and belongs to the main thread
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=sheet.x, ylim=sheet.y)
    axes.axis("off")
    axes.text(0.5, 1.0 - 0.1 / (sheet.scale * np.ptp(sheet.y)), title, ha="center", va="top", fontsize=11, transform=axes.transAxes)
    for body, parent in enumerate(robot.parent):
        if parent < 0:
            axes.plot(*np.array([base, places[body]]).T, color="0.75", lw=4.0, solid_capstyle="round", zorder=1)
    _draw_branches(axes, robot, lines, places, sheet.size)
    axes.plot(*places[: len(robot.joints)].T, "o", color="0.25", ms=4, ls="none", zorder=4)
    axes.plot(*base, "s", color="0.5", ms=7, zorder=1.5)
    for one in sheet.labels:
        axes.plot(*np.array([one.tip, one.place]).T, color=PALETTE[one.branch % len(PALETTE)], lw=0.7, alpha=0.6, zorder=1)
        x, y = one.place.tolist()
        axes.text(x, y, f" {names[one.branch]} ", ha="right" if one.left else "left", va="center", fontsize=8)
    _draw_scale(axes, points[:, :2].min(axis=0), view, sheet)
    figure.savefig(path, dpi=150)


class Label(NamedTuple):
    """The name of a branch beside the drawing: ``tip`` is where the branch ends, ``place`` where the name starts, or ends on the left."""

    branch: int
    left: bool
    tip: Array
    place: Array


def _leaf_ends(robot: Robot, lines: Skeleton, places: Array) -> list[Array]:
    """Where each branch ends in the picture: the last of its lines, or its joint where there are none."""
    ends = [places[leaf] for leaf in robot.branches.leaves]
    for edge in lines.edges:
        if edge.body == robot.branches.leaves[edge.branch]:
            ends[edge.branch] = places[edge.b]
    return ends


class Sheet(NamedTuple):
    """How the drawing lies on its sheet: limits (2,) of both axes, inches to a metre, the drawing's size [m], and the names beside it."""

    x: Array
    y: Array
    scale: float
    size: float
    labels: list[Label]

    @staticmethod
    def of(points: Array, tips: list[Array], names: list[str], title: str) -> Sheet:
        """As large as its names need it: each has a line, and the longest of either side its width."""
        low, high = points.min(axis=0), points.max(axis=0)
        size = max(float((high - low).max()), 1e-6)
        margin = 0.12 * size
        wide, high_up = high - low + 2.0 * margin
        scale = min(DRAWING[0] / wide, DRAWING[1] / high_up)
        columns = _columns(tips[: len(names)])
        ends = (low[0] - margin, high[0] + margin)
        labels = [
            Label(k, left, tips[k], np.array([ends[0] if left else ends[1], height]))
            for left, ranked in zip((True, False), columns, strict=True)
            for k, height in zip(ranked, _heights([float(tips[k][1]) for k in ranked], LINE / scale, low[1], high[1]), strict=True)
        ]
        letters = [max((len(names[k]) for k in ranked), default=0) for ranked in columns]
        x = np.array([ends[0] - (0.2 + LETTER * letters[0]) / scale, ends[1] + (0.2 + LETTER * letters[1]) / scale])
        x += np.array([-0.5, 0.5]) * max(1.5 * LETTER * len(title) / scale - np.ptp(x), 0.0)
        heights = [float(one.place[1]) for one in labels]
        y = np.array([min([low[1] - 0.9 / scale, *(h - 0.9 / scale for h in heights)]), max([high[1], *heights]) + 0.5 / scale])
        return Sheet(x, y, scale, size, labels)


def _columns(tips: list[Array]) -> tuple[list[int], list[int]]:
    """The branches named on the left and on the right, each from the lowest tip up."""
    order = sorted(range(len(tips)), key=lambda k: float(tips[k][0]))
    left, right = order[: len(order) // 2], order[len(order) // 2 :]
    return sorted(left, key=lambda k: float(tips[k][1])), sorted(right, key=lambda k: float(tips[k][1]))


def _heights(wanted: list[float], step: float, low: float, high: float) -> list[float]:
    """Near those that are wanted (ascending), a line apart, as far as there is room between the drawing's bottom and top."""
    missing = max(step * (len(wanted) - 1) - (high - low), 0.0)
    low, high = low - 0.5 * missing, high + 0.5 * missing
    heights: list[float] = []
    for height in wanted:
        heights.append(max(height, heights[-1] + step if heights else low))
    ceiling = high
    for k in reversed(range(len(heights))):
        heights[k] = min(heights[k], ceiling)
        ceiling = heights[k] - step
    return heights


def _draw_branches(axes: Any, robot: Robot, lines: Skeleton, places: Array, size: float) -> None:
    offsets = np.linspace(-1.0, 1.0, max(len(robot.branches), 1))
    for run in _runs(lines.edges):
        number, virtual = run[0].branch, run[0].virtual
        shift = 0.008 * size * offsets[number]  # keeps virtual links visible beside the real ones
        segment = places[[run[0].a, *(edge.b for edge in run)]] + (shift if virtual else 0.0)
        style = {"ls": "--", "lw": 1.2, "zorder": 2} if virtual else {"lw": 3.0, "zorder": 3, "solid_capstyle": "round"}
        axes.plot(*segment.T, color=PALETTE[number % len(PALETTE)], **style)


def _draw_scale(axes: Any, corner: Array, view: Array, sheet: Sheet) -> None:
    """Below the drawing: a bar of a round length, and the world's axes as they are seen."""
    inch = 1.0 / sheet.scale
    longest = 0.4 * sheet.size
    exponent = np.floor(np.log10(longest))
    length = float(max(step for step in (1.0, 2.0, 5.0) if step * 10.0**exponent <= longest) * 10.0**exponent)
    origin = np.array([max(float(corner[0]) - 0.45 * inch, float(sheet.x[0]) + 0.45 * inch), float(sheet.y[0]) + 0.4 * inch])
    x, y = (origin + np.array([0.55 * inch, 0.0])).tolist()
    axes.plot([x, x + length], [y, y], color="0.3", lw=2.0, solid_capstyle="butt")
    axes.text(x + 0.5 * length, y + 0.05 * inch, f"{length:g} m", ha="center", va="bottom", fontsize=8)
    for k, name in enumerate("xyz"):
        arrow = 0.25 * inch * view[:2, k]
        if np.linalg.norm(arrow) > 0.03 * inch:
            axes.plot(*np.array([origin, origin + arrow]).T, color="0.3", lw=1.2)
            x_name, y_name = (origin + arrow + 0.1 * inch * arrow / np.linalg.norm(arrow)).tolist()
            axes.text(x_name, y_name, name, ha="center", va="center", fontsize=8)
