"""Configurations of a robot at its impacts, in the manner of S18's Fig. 18: links, walls at that time, struck points, impulses.

What moves in a plane is drawn in that plane, the rest in space. Walls of every kind are found as where their gap vanishes, on
a grid: in the plane of the drawing, or in sections across the three axes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import contourpy
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle as Disc
from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Impact, Trajectory
from urdf_gibbs.view.branches import Skeleton, skeleton
from urdf_gibbs.view.contacts import Contact, impacts_told
from urdf_gibbs.view.elastic import OnAxis
from urdf_gibbs.view.motion import positions
from urdf_gibbs.view.themes import MEDIUM, SMALL, Theme, dress, legend, listed, shown
from urdf_gibbs.walls import Implicit, Wall

Array = NDArray[np.float64]

MOST = 12  # panels
COLUMNS = 6
GRID, COARSE = 160, 48  # steps of the grid for finding walls, in the plane and in sections
SECTIONS = 6  # across each axis
ARROW = 0.22  # longest arrow, of the size of the drawing
FAR = 3.0  # walls that close within this many sizes of the drawing are shown whole
MANY_BRANCHES = 12  # branches in a legend
SPOKES = 8  # of one body: more contact points than these are those of a shape, and drawn as dots


class Snapshot(NamedTuple):
    """A configuration to draw, with the impact that it is of, if any."""

    time: float
    q: Array
    impact: Impact | None
    title: str


class View(NamedTuple):
    """``axes`` of the world that are drawn, two or three, and the box ``low`` to ``high`` (3,) [m]: across the plane it is flat."""

    axes: tuple[int, ...]
    low: Array
    high: Array

    @property
    def size(self) -> float:
        return float((self.high - self.low)[list(self.axes)].max())


def chosen(trajectory: Trajectory, considered: Sequence[Impact], complete: bool) -> tuple[list[Snapshot], str]:
    """The impacts to draw in order of time, and what to say of the choice; without impacts, the first and the last state."""
    if not considered:
        t, q = trajectory.t, trajectory.q
        shots = [Snapshot(float(t[0]), q[0], None, f"start, t = {t[0]:.4g} s")]
        if t[-1] > t[0]:
            shots.append(Snapshot(float(t[-1]), q[-1], None, f"end, t = {t[-1]:.4g} s"))
        return shots, impacts_told(trajectory)
    largest = sorted(range(len(considered)), key=lambda i: -_strength(considered[i]))[:MOST]
    shots = []
    for impact in (considered[i] for i in sorted(largest)):
        shots.append(Snapshot(impact.time, impact.q, impact, f"t = {impact.time:.4f} s\n{listed(impact.points, 28)}"))
    total = len(trajectory.impacts)
    if len(shots) == total:
        return shots, ""
    return shots, f"the {len(shots)} largest of {total if complete else f'{len(considered)} considered of {total}'} impacts"


def _strength(impact: Impact) -> float:
    return float(np.abs(impact.impulses).max(initial=0.0))


def walls_of(trajectory: Trajectory) -> tuple[list[Wall], list[str]]:
    """The walls of the run that its settings hold, and what is to be said of the others."""
    if not trajectory.settings.get("walls"):
        return [], []
    from urdf_gibbs.view.wall_settings import restored

    walls, notes = restored(trajectory.settings)
    return [wall for wall in walls if wall is not None], notes


class Scene(NamedTuple):
    """What the panels share: x (panels, places, 3) [m] are the places of ``lines`` and behind them the contact points."""

    robot: Robot
    shots: list[Snapshot]
    contacts: list[Contact]
    walls: list[Wall]
    lines: Skeleton
    spokes: list[tuple[int, int]]
    x: Array
    view: View

    @property
    def rows(self) -> int:
        return -(-len(self.shots) // (COLUMNS if len(self.view.axes) == 2 else COLUMNS // 2 + 1))

    @property
    def columns(self) -> int:
        return -(-len(self.shots) // self.rows)

    def height(self, width: float) -> float:
        """Inches that the panels need in a figure of ``width`` inches."""
        panel = (width - 2.5) / max(self.columns, 2) - 0.1
        if len(self.view.axes) == 3:
            return 0.3 + self.rows * (panel + 0.6)
        across, up = (self.view.high - self.view.low)[list(self.view.axes)]
        return 0.3 + self.rows * (float(np.clip(panel * up / across, 1.2, 4.0)) + 1.0)


def scene(robot: Robot, shots: list[Snapshot], moving: tuple[int, ...], contacts: list[Contact], walls: list[Wall]) -> Scene:
    """``moving`` are the world's axes along which the robot moves."""
    lines = skeleton(robot, virtual=False)
    places = [*lines.places, *(contact.place for contact in contacts)]
    x = positions(robot, places, np.array([shot.q for shot in shots]).reshape(len(shots), robot.nq))
    return Scene(robot, shots, contacts, walls, lines, _spokes(lines, contacts), x, _view(x, moving, shots, contacts, walls))


def draw_scene(figure: Any, scene: Scene, theme: Theme) -> None:
    """Draw into a (sub)figure, one panel for each snapshot."""
    view, space = scene.view, len(scene.view.axes) == 3
    longest = max((_strength(shot.impact) for shot in scene.shots if shot.impact is not None), default=0.0)
    static: dict[int, Cut] = {}
    for k, shot in enumerate(scene.shots):
        axes = figure.add_subplot(scene.rows, scene.columns, k + 1, projection="3d" if space else None)
        dress(axes, theme)
        axes.set_title(shot.title, fontsize=MEDIUM, color=theme.text)
        for number, wall in enumerate(scene.walls):
            cut = static.get(number)
            if cut is None:
                cut = (wall_sections if space else wall_curves)(wall, view, shot.time)
                if wall.motion is None:
                    static[number] = cut
            _draw_wall(axes, view, theme, cut)
        _draw_robot(axes, scene, theme, scene.x[k])
        if shot.impact is not None:
            _draw_impacts(axes, scene, theme, shot.impact, scene.x[k], longest)
        _frame(axes, view, k, scene.columns)
    _legend(figure, scene, theme)


# what is seen -------------------------------------------------------------------------------------


def _view(x: Array, moving: tuple[int, ...], shots: list[Snapshot], contacts: list[Contact], walls: list[Wall]) -> View:
    """The plane in which the robot moves, or space, and a box around all that is drawn."""
    struck = [shot.impact.positions for shot in shots if shot.impact is not None]
    points = np.concatenate([x.reshape(-1, 3), *struck, np.zeros((0, 3))])
    points = points[np.isfinite(points).all(axis=1)]
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
    radius = max((contact.radius for contact in contacts), default=0.0)
    low, high = low - radius, high + radius
    axes = list(moving)
    spare = sorted((axis for axis in (0, 1, 2) if axis not in axes), key=lambda axis: (-(high - low)[axis].round(9), axis))
    axes = sorted(axes + spare[: max(0, 2 - len(axes))])
    size = max(float((high - low)[axes].max()), 1e-3)
    centre = (low + high) / 2.0
    # A flat robot in a flat picture needs some margin above and below.
    half = np.maximum((high - low) / 2.0, 0.35 * size) + 0.12 * size
    across = [axis for axis in (0, 1, 2) if axis not in axes]
    half[across] = 0.0
    view = View(tuple(axes), centre - half, centre + half)
    for wall in walls if len(axes) == 2 else []:
        far = View(view.axes, centre - FAR / 2.0 * size * (half > 0.0), centre + FAR / 2.0 * size * (half > 0.0))
        for curve in wall_curves(wall, far, shots[0].time, COARSE).curves:
            if len(curve) > 3 and np.array_equal(curve[0], curve[-1]):
                margin = 0.04 * size * (half > 0.0)
                view = View(view.axes, np.minimum(view.low, curve.min(axis=0) - margin), np.maximum(view.high, curve.max(axis=0) + margin))
    return view


class Cut(NamedTuple):
    """Curves (n, 3) [m] of a wall, and in a plane its gap on a grid."""

    curves: list[Array]
    grid: tuple[Array, Array, Array] | None = None


def wall_curves(wall: Wall, view: View, time: float, steps: int = GRID) -> Cut:
    """Where the wall cuts the plane of the drawing."""
    i, j = view.axes
    return _cut(wall, view, i, j, (view.low + view.high) / 2.0, time, steps)


def wall_sections(wall: Wall, view: View, time: float) -> Cut:
    """Where the wall cuts planes across the three axes: together they look like a net."""
    curves: list[Array] = []
    for axis in range(3):
        i, j = (other for other in range(3) if other != axis)
        for place in np.linspace(view.low[axis], view.high[axis], SECTIONS + 2)[1:-1]:
            at = np.zeros(3)
            at[axis] = place
            curves += _cut(wall, view, i, j, at, time, COARSE).curves
    return Cut(curves)


def _cut(wall: Wall, view: View, i: int, j: int, at: Array, time: float, steps: int) -> Cut:
    """The curve gap = 0 in the plane along axes i and j through ``at``, from a grid over the view and then two steps of Newton's."""
    a, b = (np.linspace(view.low[axis], view.high[axis], steps + 1) for axis in (i, j))
    x = np.broadcast_to(at, (steps + 1, steps + 1, 3)).copy()
    x[..., i], x[..., j] = a, b[:, None]
    gap = _level(wall, x, time)
    size = float(max(np.ptp(a), np.ptp(b)))
    if not (np.nanmin(gap) < -1e-9 * size and np.nanmax(gap) > 1e-9 * size):  # not cut, or seen flat
        return Cut([], (a, b, gap))
    curves = []
    for line in contourpy.contour_generator(a, b, gap).lines(0.0):
        curve = np.broadcast_to(at, (len(line), 3)).copy()
        curve[:, [i, j]] = line
        curves.append(_onto(wall, curve, [i, j], time, size / steps))
    return Cut(curves, (a, b, gap))


def _level(wall: Wall, x: Array, time: float) -> Array:
    """A function of x (..., 3) that vanishes on the wall and is positive on its free side: the gap, or what costs less."""
    if not isinstance(wall, Implicit):
        return wall.gap(x, time)
    from urdf_gibbs.view.wall_drawing import displacement

    # The gap of such a wall takes derivatives of phi by differences: dozens of calls of a Python function for each point.
    rest = (x - displacement(wall.motion, np.array([time]))[0]).reshape(-1, 3)
    return np.array([float(wall.function(point)) for point in rest]).reshape(x.shape[:-1])


def _onto(wall: Wall, curve: Array, plane: list[int], time: float, step: float) -> Array:
    """Points near a wall moved onto it within the plane; those that would go farther than a step of the grid stay."""
    shift = 1e-3 * step
    for _ in range(2):
        value = _level(wall, curve, time)
        slopes = []
        for axis in plane:
            aside = shift * np.eye(3)[axis]
            slopes.append((_level(wall, curve + aside, time) - _level(wall, curve - aside, time)) / (2.0 * shift))
        slope = np.stack(slopes, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            move = -slope * (value / (slope**2).sum(axis=1))[:, None]
        near = np.isfinite(move).all(axis=1) & (np.abs(move).max(axis=1) < step)
        curve[np.ix_(near, plane)] += move[near]
    return curve


# panels -------------------------------------------------------------------------------------------


def _spokes(lines: Skeleton, contacts: list[Contact]) -> list[tuple[int, int]]:
    """Thin lines from the origin of a body to its contact points that are on no other line, where they are few."""
    crowded = _crowded(contacts)
    taken = {(place[0], tuple(np.round(place[1], 9))) for place in lines.places if not isinstance(place, OnAxis)}
    ends = enumerate(contacts, len(lines.places))
    return [
        (contact.place[0], k)
        for k, contact in ends
        if contact.place[0] >= 0
        and contact.place[0] not in crowded
        and (contact.place[0], tuple(np.round(contact.place[1], 9))) not in taken
    ]


def _crowded(contacts: list[Contact]) -> set[int]:
    """Bodies with many contact points."""
    return {body for body, count in Counter(contact.place[0] for contact in contacts).items() if count > SPOKES}


def _draw_wall(axes: Any, view: View, theme: Theme, drawing: Cut) -> None:
    if len(view.axes) == 3:
        axes.add_collection3d(Line3DCollection(drawing.curves, colors=theme.wall, linewidths=0.6, alpha=0.45, gid="wall"), autolim=False)
        return
    if not drawing.curves:
        return
    if drawing.grid is not None:
        a, b, gap = drawing.grid
        axes.contourf(a, b, gap, levels=[min(float(np.nanmin(gap)), -1e-300), 0.0], colors=[theme.solid], zorder=0.5)
    flat = [curve[:, list(view.axes)] for curve in drawing.curves]
    axes.add_collection(LineCollection(flat, colors=theme.wall, linewidths=1.2, zorder=1.5, gid="wall"), autolim=False)


def _draw_robot(axes: Any, scene: Scene, theme: Theme, x: Array) -> None:
    view, lines = scene.view, scene.lines
    space, drawn = len(view.axes) == 3, x[:, list(view.axes)]
    edges = [drawn[[edge.a, edge.b]] for edge in lines.edges]
    colours = [theme.colour(edge.branch) for edge in lines.edges]
    add, kind = (axes.add_collection3d, Line3DCollection) if space else (axes.add_collection, LineCollection)
    if scene.spokes:
        thin = [drawn[list(spoke)] for spoke in scene.spokes]
        add(kind(thin, colors=theme.text, linewidths=0.8, alpha=0.6, gid="spokes"), autolim=False)
    if edges:
        # Bodies without mass, such as the slides that carry S18's robot, are there for the coordinates only.
        heavy = [edge.elastic or (edge.body >= 0 and scene.robot.mass[edge.body] > 0.0) for edge in lines.edges]
        widths = [2.4 if one else 0.7 for one in heavy]
        add(kind(edges, colors=colours, linewidths=widths, capstyle="round", gid="links"), autolim=False)
    axes.plot(*drawn[: len(scene.robot.joints)].T, "o", color=theme.text, ms=2.6, ls="none", gid="joints")
    crowded = _crowded(scene.contacts)
    dots = [contact.place[0] in crowded for contact in scene.contacts]
    if any(dots):
        axes.plot(*drawn[len(lines.places) :][dots].T, ".", color=theme.text, ms=1.6, alpha=0.6, ls="none", gid="shapes")
    for contact, centre in zip(scene.contacts, drawn[len(lines.places) :], strict=True):
        if contact.radius > 0.0 and not space:
            axes.add_patch(Disc(tuple(centre), contact.radius, fill=False, ec=theme.text, lw=1.0, gid="contact"))


def _draw_impacts(axes: Any, scene: Scene, theme: Theme, impact: Impact, x: Array, longest: float) -> None:
    """Struck points with an arrow along the normal; a joint at its limit has a diamond."""
    view, space, keep = scene.view, len(scene.view.axes) == 3, list(scene.view.axes)
    numbers = {joint.name: i for i, joint in enumerate(scene.robot.joints)}
    limits = [numbers[name] for name, at in zip(impact.points, impact.positions, strict=True) if np.isnan(at).any() and name in numbers]
    ring = {"mfc": "none", "mec": theme.struck, "mew": 1.6, "ls": "none", "zorder": 4}
    if limits:
        axes.plot(*x[limits][:, keep].T, "D", ms=9, gid="limits", **ring)
    real = np.isfinite(impact.positions).all(axis=1)
    if not real.any():
        return
    at = impact.positions[real][:, keep]
    length = np.abs(impact.impulses[real]) / longest if longest > 0.0 else np.zeros(real.sum())
    arrows = (ARROW * view.size * length)[:, None] * impact.normals[real][:, keep]
    axes.plot(*at.T, "o", ms=7, gid="struck", **ring)
    if space:
        axes.quiver(*at.T, *arrows.T, color=theme.struck, lw=1.4, arrow_length_ratio=0.25)
    else:
        shape = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "units": "inches", "width": 0.02, "headwidth": 4.0, "headlength": 5.0}
        axes.quiver(*at.T, *arrows.T, color=theme.struck, zorder=4, gid="impulses", minlength=0.1, **shape)


def _frame(axes: Any, view: View, number: int, columns: int) -> None:
    """Limits, the same for all panels, and labels."""
    space = len(view.axes) == 3
    for own, axis in zip("xyz", view.axes, strict=False):
        getattr(axes, f"set_{own}lim")(view.low[axis], view.high[axis])
        if own != "y" or number % columns == 0 or space:
            getattr(axes, f"set_{own}label")(f"{'xyz'[axis]} [m]", fontsize=SMALL, labelpad=-5.0 if space else None)
    axes.locator_params(nbins=4)
    if space:
        axes.tick_params(labelsize=SMALL - 2, pad=-2)
        axes.patch.set_visible(False)  # or it hides the labels of its neighbour
    else:
        axes.tick_params(labelleft=number % columns == 0)
    axes.set_aspect("equal")


def _legend(figure: Any, scene: Scene, theme: Theme) -> None:
    handles, labels = [], []
    branches = scene.robot.branches
    if len(branches) > 1:
        for number, branch in enumerate(branches[:MANY_BRANCHES]):
            handles.append(Line2D([], [], color=theme.colour(number), lw=2.4))
            labels.append(shown(f"branch {number + 1}: {branch.joint_names[-1]}"))
        if len(branches) > MANY_BRANCHES:
            handles.append(Line2D([], [], ls="none"))
            labels.append(f"{len(branches) - MANY_BRANCHES} more branches")
    handles.append(Line2D([], [], ls="none", marker="o", ms=3, color=theme.text))
    labels.append("joints")
    if _crowded(scene.contacts):
        handles.append(Line2D([], [], ls="none", marker=".", ms=1.6, color=theme.text, alpha=0.6))
        labels.append("points that can touch")
    if scene.walls:
        handles.append(Line2D([], [], color=theme.wall, lw=1.2))
        labels.append("walls")
    struck = [at for shot in scene.shots if shot.impact is not None for at in shot.impact.positions]
    ring: dict[str, Any] = {"mfc": "none", "mec": theme.struck, "mew": 1.6}
    if any(np.isfinite(at).all() for at in struck):
        handles.append(Line2D([], [], color=theme.struck, marker="o", ms=7, lw=1.4, **ring))
        labels.append("struck, arrow: impulse")
    if any(np.isnan(at).any() for at in struck):
        handles.append(Line2D([], [], ls="none", marker="D", ms=8, **ring))
        labels.append("joint at its limit")
    legend(figure, handles, labels, theme, loc="outside right upper")
