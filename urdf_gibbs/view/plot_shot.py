"""The attempts of a shot: the ways of what strikes, the place or the time asked for, and by how much each attempt misses."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.shooting.result import Attempt, Shot
from urdf_gibbs.simulation.trajectory import Trajectory, coordinate_names
from urdf_gibbs.view.contacts import Contact, contacts_of
from urdf_gibbs.view.figures import WIDE, checked_path, new_figure, wrapped_title, written
from urdf_gibbs.view.motion import positions
from urdf_gibbs.view.snapshots import walls_of
from urdf_gibbs.view.themes import MEDIUM, Theme, dress, legend, shown, theme_named

Array = NDArray[np.float64]

FEW = 6  # attempts that are drawn, the first and the last ones
SAMPLES = 400  # of a way
GRID = 240  # of the picture of walls
HIGH = 4.2  # inches
FLAT = 1e-6  # of the largest extent: what moves less stands still


def plot_shot(shot: Shot, path: str | os.PathLike[str] | None, theme: str) -> Figure:
    """Ways on the left, misses on the right; also written to ``path``."""
    look, target = theme_named(theme), checked_path(path)
    state = "hits" if shot.converged else f"misses by {shot.distance:.3g}"
    wanted = ", ".join(f"{name} = {value:.6g}" for name, value in zip(shot.goals, shot.wanted.tolist(), strict=True))
    count = len(shot.attempts) - 1
    title = f"{shown(shot.contact, 40)}: {wanted}; {state} after {count} {'step' if count == 1 else 'steps'}"
    figure = new_figure(WIDE, HIGH, wrapped_title(title, WIDE), look)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for axes in (left, right):
        dress(axes, look)
    plane = _draw_ways(left, shot, look)
    _draw_misses(right, shot, look)
    if plane is not None:
        _draw_walls(left, shot, plane, look)
    return written(figure, target)


def _draw_misses(axes: Any, shot: Shot, theme: Theme) -> None:
    """By how much each attempt misses, a line for each goal; what is exactly right is not seen on a logarithmic scale."""
    axes.set_title("misses", fontsize=MEDIUM, color=theme.text, loc="left")
    axes.set_xlabel("attempt", fontsize=MEDIUM)
    axes.set_ylabel("|miss| [s, m, m/s]", fontsize=MEDIUM)
    axes.set_yscale("log")
    misses = np.abs([attempt.miss for attempt in shot.attempts])
    numbers = np.arange(len(misses))
    made = []
    for k, name in enumerate(shot.goals):
        values = np.where(misses[:, k] > 0.0, misses[:, k], np.nan)
        made += axes.plot(numbers, values, marker="o", ms=4, lw=1.3, gid=f"miss {name}", **theme.line(k))
    axes.set_xlim(-0.4, max(1, len(misses) - 1) + 0.4)
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend(axes, made, shot.goals, theme)


def _draw_ways(axes: Any, shot: Shot, theme: Theme) -> tuple[int, int] | None:
    """The ways up to the impact, in the plane of two axes of the world, or, None, over time where the last is straight."""
    chosen = [*shot.attempts[:1], *shot.attempts[1:][-FEW + 1 :]]
    point = _point(shot)
    ways = [_way(one, point) for one in chosen]
    extents = np.ptp(ways[-1], axis=0)[1:]
    limited = [joint.iq for joint in shot.trajectory.robot.joints if joint.name == shot.contact.rpartition("|")[0]]
    if limited and point is None:
        extents[np.arange(len(extents)) != limited[0]] = 0.0
    moving = [int(i) for i in np.argsort(-extents, kind="stable")[:2] if extents[i] > FLAT * max(1e-12, extents.max())]
    flat = point is not None and len(moving) == 2
    x, y = (sorted(moving)[0] + 1, sorted(moving)[1] + 1) if flat else (0, moving[0] + 1 if moving else 1)
    names = ("time [s]", *((f"{axis} [m]" for axis in "xyz") if point is not None else _coordinates(shot.trajectory.robot)))
    axes.set_xlabel(shown(names[x]), fontsize=MEDIUM)
    axes.set_ylabel(shown(names[y]), fontsize=MEDIUM)
    what = names[y].partition(" [")[0] if point is None else point.name
    axes.set_title(f"ways of {shown(what)}", fontsize=MEDIUM, color=theme.text, loc="left")
    made, labels = [], []
    for k, (attempt, way) in enumerate(zip(chosen, ways, strict=True)):
        last = attempt is shot.attempts[-1]
        look = {"color": theme.text, "lw": 2.2, "zorder": 3.0} if last else {"lw": 1.1, **theme.line(k)}
        made += axes.plot(way[:, x], way[:, y], gid=f"way {k}", **look)
        number = shot.attempts.index(attempt)
        labels.append("first guess" if not number else f"attempt {number}")
        if flat:
            place = attempt.trajectory.impacts[attempt.impact].positions[_entry(attempt, shot.contact)]
            axes.plot(place[x - 1], place[y - 1], marker="o", ms=5, color=look["color"], zorder=3.2, gid=f"struck {k}")
    _draw_target(axes, shot, (x, y), theme)
    if flat:
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.08)
    legend(axes, made, labels, theme)
    return (x - 1, y - 1) if flat else None


def _draw_target(axes: Any, shot: Shot, which: tuple[int, int], theme: Theme) -> None:
    """A cross where both axes of the picture are asked for, a line where one is."""
    own = ("time", "place.x", "place.y", "place.z")
    asked = [shot.wanted[shot.goals.index(own[i])] if own[i] in shot.goals else None for i in which]
    look = {"color": theme.struck, "zorder": 4.0}
    if asked[0] is not None and asked[1] is not None:
        axes.plot(*asked, marker="x", ms=11, mew=2.0, ls="none", gid="target", **look)
    elif asked[0] is not None:
        axes.axvline(asked[0], lw=1.2, ls=(0, (4, 2)), gid="target", **look)
    elif asked[1] is not None:
        axes.axhline(asked[1], lw=1.2, ls=(0, (4, 2)), gid="target", **look)


def _draw_walls(axes: Any, shot: Shot, which: tuple[int, int], theme: Theme) -> None:
    """What is behind walls, in the plane of the picture through the place that was struck, at the time of the impact."""
    attempt = shot.attempts[-1]
    impact = attempt.trajectory.impacts[attempt.impact]
    axes.figure.canvas.draw()  # the limits that equal scales make, from here on fixed
    limits = axes.get_xlim(), axes.get_ylim()
    axes.set_aspect("auto")
    axes.set(xlim=limits[0], ylim=limits[1])
    x, y = (np.linspace(low, high, GRID) for low, high in limits)
    places = np.tile(impact.positions[_entry(attempt, shot.contact)], (GRID, GRID, 1))
    places[..., which[0]], places[..., which[1]] = np.meshgrid(x, y)
    for wall in walls_of(attempt.trajectory)[0]:
        gap = np.nan_to_num(wall.gap(places, impact.time), nan=1.0)
        if gap.min() < 0.0:
            axes.contourf(x, y, gap, levels=[-np.inf, 0.0], colors=[theme.solid], zorder=0.4)
        if gap.min() < 0.0 < gap.max():
            axes.contour(x, y, gap, levels=[0.0], colors=[theme.wall], linewidths=1.0, zorder=0.6)


def _entry(attempt: Attempt, contact: str) -> int:
    impact = attempt.trajectory.impacts[attempt.impact]
    names = [f"{point}|{wall}" if wall else point for point, wall in zip(impact.points, impact.walls, strict=True)]
    return names.index(contact) if contact in names else 0


def _point(shot: Shot) -> Contact | None:
    """The point of the robot that strikes, None for limits and pairs."""
    name = shot.contact.rpartition("|")[0]
    return next((one for one in contacts_of(shot.trajectory.robot, shot.trajectory.settings) if one.name == name), None)


def _way(attempt: Attempt, point: Contact | None) -> Array:
    """(n, 1 + 3): times up to the impact, and places of the point; without one the coordinates (n, 1 + nq)."""
    run: Trajectory = attempt.trajectory
    end = run.impacts[attempt.impact].time
    times = np.union1d(np.linspace(run.t[0], end, SAMPLES), run.t[run.t <= end])
    q = run.at(times, "left")[0]
    return np.column_stack([times, q if point is None else positions(run.robot, [point.place], q)[:, 0]])


def _coordinates(robot: Robot) -> list[str]:
    """Names of the coordinates; with their units those of joints that have limits."""
    units = {joint.iq: {"prismatic": " [m]", "revolute": " [rad]"}.get(joint.type, "") for joint in robot.joints}
    return [f"{name}{units.get(i, '')}" for i, name in enumerate(coordinate_names(robot))]
