"""A drawing of the branch decomposition in the manner of S18's Fig. 1: each branch in its colour, virtual links dashed."""

from __future__ import annotations

from itertools import pairwise
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.view.elastic import axis_points
from urdf_gibbs.view.motion import Place, positions
from urdf_gibbs.view.palette import PALETTE
from urdf_gibbs.view.themes import shown

Array = NDArray[np.float64]


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


def draw(robot: Robot, q: Array, path: str | IO[bytes]) -> None:
    """Write the drawing at configuration q to ``path``, a name or an open file: flat where the robot lies in x-y, else in space."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = skeleton(robot)
    places = positions(robot, lines.places, q)
    origins = places[: len(robot.joints)]
    planar = not len(origins) or bool(np.ptp(places[:, 2]) < 1e-9)
    figure = Figure(figsize=(7, 5), layout="constrained")
    FigureCanvasAgg(figure)  # not pyplot, which keeps its figures and belongs to the main thread
    axes = figure.add_subplot(projection=None if planar else "3d")
    offsets = np.linspace(-1.0, 1.0, max(len(robot.branches), 1))
    size = max(float(np.ptp(origins, axis=0).max()), 0.1) if len(origins) else 1.0
    for run in _runs(lines.edges):
        number, virtual = run[0].branch, run[0].virtual
        shift = 0.006 * size * offsets[number]  # keeps virtual links visible beside the real ones
        segment = places[[run[0].a, *(edge.b for edge in run)]] + shift
        colour = PALETTE[number % len(PALETTE)]
        axes.plot(*segment.T[: 2 if planar else 3], color=colour, ls="--" if virtual else "-", lw=1.2 if virtual else 3.0)
    for number, branch in enumerate(robot.branches):
        axes.plot([], [], color=PALETTE[number % len(PALETTE)], lw=3.0, label=f"branch {number + 1}: {shown(branch.joint_names[-1])}")
    axes.plot(*origins.T[: 2 if planar else 3], "o", color="0.3", ms=4, ls="none", label="joints")
    axes.set_aspect("equal")
    count = len(robot.branches)
    what = f"{count} branches (dashed: virtual links)" if count != 1 else "1 branch"
    axes.set(xlabel="x [m]", ylabel="y [m]", title=f"{shown(robot.name)}: {what}")
    if not planar:
        axes.set_zlabel("z [m]")  # type: ignore[attr-defined]
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=150)
