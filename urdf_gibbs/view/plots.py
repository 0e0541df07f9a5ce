"""Plots of a trajectory in the manner of S18's Figs. 14 to 19, and of its impulses, coordinates and contact forces.

Made with Matplotlib's Figure alone, without pyplot: nothing of the process is changed, so notebooks and threads may plot.
"""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from urdf_gibbs.arguments import listed, one_of
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.functions import kinetic_energy, potential_energy
from urdf_gibbs.names import PlotKind
from urdf_gibbs.simulation.trajectory import Impact, Trajectory, coordinate_names
from urdf_gibbs.view.branches import skeleton
from urdf_gibbs.view.contacts import MANY_POINTS, chosen_points, contacts_of, impacts_told
from urdf_gibbs.view.elastic import strain_energy, units
from urdf_gibbs.view.figures import CHARACTERS, NARROW, PANEL, WIDE, checked_path, mark_impacts, new_figure, wrapped_title, written
from urdf_gibbs.view.force_panel import carrying, key_of_friction
from urdf_gibbs.view.force_panel import lines as force_lines
from urdf_gibbs.view.motion import Samples, moved, moving_axes, samples, spread
from urdf_gibbs.view.snapshots import chosen, draw_scene, scene, walls_of
from urdf_gibbs.view.themes import MARKERS, MEDIUM, Theme, dress, legend, shown, theme_named
from urdf_gibbs.walls import Wall
from urdf_gibbs.walls.arguments import wall_list

Array = NDArray[np.float64]

KINDS = get_args(PlotKind)
MANY_FORCES = 10  # contacts of the panel of forces, whose legend tells of friction as well
MANY_LINES = 24  # of one panel: as many as line styles can tell apart
MANY_IMPACTS = 20_000  # struck contacts; of more only SOME impacts are looked at: each takes time to construct
SOME_IMPACTS = 2_000


class Shape(NamedTuple):
    """Part of a figure: its height [in], how many panels are side by side, and what draws it into a subfigure."""

    height: float
    columns: int
    draw: Callable[[Any], None]


def plot(
    trajectory: Trajectory,
    kinds: str | Iterable[str] | None = None,
    *,
    points: Iterable[str] | None = None,
    theme: str = "light",
    path: str | os.PathLike[str] | None = None,
    walls: Wall | Iterable[Wall] | None = None,
) -> Figure:
    """A figure of the trajectory, also written to ``path`` (.png, .svg, .pdf) where one is given.

    kinds: some of KINDS; None: those that tell something about this trajectory. Positions [m] and velocities [m/s] are those of
    ``points`` along the world's axes in which they move; energies in J, impulses in N s (N m s at limits of revolute joints),
    coordinates in deg, m, deg/s and m/s, contact forces in N. modes: the coordinates of elastic links alone. snapshots: the
    configurations at the impacts, the largest 12 of many; without impacts, at start and end. points: names of contact points of the
    run or of links; None: the contact points, of more than 12 first those that struck something, of all bodies. theme: "light" or "dark".
    walls: those to draw, instead of those that the trajectory holds: it does not hold walls that are Python functions.
    """
    look = theme_named(theme)
    wanted = _kinds(kinds)
    target = checked_path(path)
    plotter = _Plotter(trajectory, points, look, walls)
    if wanted is None:
        wanted = plotter.telling()
    figure = plotter.figure(wanted)
    return written(figure, target)


def _kinds(kinds: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if kinds is None:
        return None
    given = [kinds] if isinstance(kinds, str) else listed(kinds, f"some of {', '.join(KINDS)}", "kinds")
    chosen = tuple(dict.fromkeys(one_of(kind, KINDS, "kind of plot") for kind in given))
    if not chosen:
        raise ArgumentError(f"no kinds, expected some of {', '.join(KINDS)}, or None")
    return chosen


class _Plotter:
    """A trajectory with data that several panels share, computed once."""

    def __init__(self, trajectory: Trajectory, points: Iterable[str] | None, theme: Theme, walls: Wall | Iterable[Wall] | None) -> None:
        self.trajectory, self.robot, self.theme = trajectory, trajectory.robot, theme
        self.walls = None if walls is None else wall_list(walls)
        self.states = samples(trajectory)
        total = len(trajectory.impacts)
        self.impacts: list[Impact] = [trajectory.impacts[i] for i in _spread(total, SOME_IMPACTS)]
        contacts = sum(impact.k for impact in self.impacts) / max(len(self.impacts), 1)
        self.complete = total * max(contacts, 1.0) <= MANY_IMPACTS
        if self.complete:
            self.impacts = list(trajectory.impacts)
        elif contacts > 1.0:
            self.impacts = self.impacts[:: math.ceil(len(self.impacts) * contacts / MANY_IMPACTS)]
        self.contacts = contacts_of(trajectory.robot, trajectory.settings)
        self.points, self.left_out = chosen_points(self.robot, self.contacts, points, self.impacts)
        self.x, self.u = moved(self.robot, [point.place for point in self.points], self.states)
        self.axes = moving_axes(self.x)

    def telling(self) -> tuple[str, ...]:
        """The kinds that tell something about this trajectory."""
        limits = any(np.isnan(impact.positions).any() for impact in self.impacts)
        kinds = {
            "positions": bool(self.points),
            "velocities": bool(self.points),
            "coordinates": self.robot.nv > 0 and (not self.points or limits),
            "modes": self.robot.is_flexible,
            "energies": True,
            "impulses": bool(self.impacts),
            "forces": bool(carrying(self.trajectory)),
            "snapshots": bool(self.robot.joints),
        }
        return tuple(kind for kind, tells in kinds.items() if tells)

    # the whole --------------------------------------------------------------------------------------

    def figure(self, kinds: Sequence[str]) -> Figure:
        parts = []
        motion = [kind for kind in ("positions", "velocities") if kind in kinds]
        if motion:
            parts.append(Shape(0.3 + PANEL * max(1, len(self.axes)), len(motion), lambda sub: self._motion(sub, motion)))
        if "coordinates" in kinds:
            parts.append(self._coordinates("coordinates"))
        if "modes" in kinds:
            parts.append(self._coordinates("modes"))
        panels = {"energies": self._energies, "impulses": self._impulses, "forces": self._contact_forces}
        single = [draw for kind, draw in panels.items() if kind in kinds]
        for pair in (single[:2], single[2:]):
            if pair:
                parts.append(Shape(0.3 + PANEL, len(pair), partial(self._row, pair)))
        if "snapshots" in kinds:
            parts.append(self._snapshots())
        width = WIDE if any(part.columns > 1 for part in parts) else NARROW
        title = self._title(width)
        height = sum(part.height for part in parts) + 0.3 + 0.2 * title.count("\n")
        figure = new_figure(width, height, title, self.theme)
        rows = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=[part.height for part in parts])
        self.clock: Any = None  # the axes whose time all others share
        for part, sub in zip(parts, rows[:, 0], strict=True):
            sub.set_facecolor(self.theme.background)
            part.draw(sub)
        return figure

    def _title(self, width: float) -> str:
        t, impacts = self.trajectory.t, impacts_told(self.trajectory)
        text = f"{shown(self.robot.name or 'robot', 60)}: {t[0]:.6g} to {t[-1]:.6g} s, {impacts}, {shown(self.trajectory.status, 2000)}"
        return wrapped_title(text, width)

    def _time_axes(self, sub: Any, rows: int, columns: int, number: int, title: str, unit: str) -> Any:
        """Axes over time with lines at the impacts."""
        axes = sub.add_subplot(rows, columns, number + 1, sharex=self.clock)
        if self.clock is None:  # once only: a change of shared limits draws all figures that share them
            self.clock = axes
            start, end = float(self.trajectory.t[0]), float(self.trajectory.t[-1])
            margin = 0.01 * (end - start) or 0.5
            axes.set_xlim(start - margin, end + margin)
        dress(axes, self.theme)
        axes.set_title(title, fontsize=MEDIUM, color=self.theme.text, loc="left")
        axes.set_ylabel(unit, fontsize=MEDIUM)
        if number // columns == rows - 1:
            axes.set_xlabel("time [s]", fontsize=MEDIUM)
        else:
            axes.tick_params(labelbottom=False)
        mark_impacts(axes, self.states.jumps, self.theme)
        return axes

    def _line(self, axes: Any, t: Array, y: Array, number: int, name: str, **options: Any) -> Any:
        """A line; where single samples stand alone they are dots."""
        alone = self.states.broken or np.count_nonzero(np.isfinite(t)) < 3
        dots = {"marker": ".", "ms": 2 if self.states.broken else 6} if alone else {}
        options = {**self.theme.line(number), "lw": 1.3, "gid": name, **dots, **options}
        return axes.plot(t, y, rasterized=self.states.broken, **options)[0]

    def _nothing(self, axes: Any, text: str) -> None:
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=self.theme.text, fontsize=MEDIUM)
        axes.set_yticks([])

    # panels -----------------------------------------------------------------------------------------

    def _motion(self, sub: Any, kinds: Sequence[str]) -> None:
        """Figs. 14 to 17: a row for each axis of the world, a column for each kind."""
        values = {"positions": (self.x, "[m]"), "velocities": (self.u, "[m/s]")}
        rows = self.axes or (0,)
        handles: list[Any] = []
        for row, axis in enumerate(rows):
            for column, kind in enumerate(kinds):
                array, unit = values[kind]
                name = "xyz"[axis]
                label = f"{name} {unit}" if kind == "positions" else f"d{name}/dt {unit}"
                axes = self._time_axes(sub, len(rows), len(kinds), row * len(kinds) + column, f"{kind} in {name}", label)
                handles = [
                    self._line(axes, self.states.t, array[:, k, axis], k, f"{kind} {name} {point.name}")
                    for k, point in enumerate(self.points)
                ]
                if not handles:
                    self._nothing(axes, "no points")
        title = f"{self.left_out} more points" if self.left_out else None
        if handles:
            legend(sub, handles, [shown(point.name) for point in self.points], self.theme, loc="outside right upper", title=title)

    def _coordinate_rows(self, elastic: bool = False) -> list[tuple[str, list[int], list[int]]]:
        """(unit, entries of q, entries of v) for each unit that there is, of all joints or of elastic ones."""
        q: dict[str, list[int]] = {"deg": [], "m": [], "1": []}
        v: dict[str, list[int]] = {"deg": [], "m": [], "1": []}
        for joint in self.robot.joints:
            if joint.is_mimic or (elastic and joint.beam is None):
                continue
            if joint.beam is not None:
                for i, own in enumerate(units(joint.beam)):
                    unit = "deg" if own == "rad" else own
                    q[unit].append(joint.iq + i)
                    v[unit].append(joint.iv + i)
                continue
            q_units = {"floating": ["m"] * 3 + ["1"] * 4, "planar": ["m", "m", "deg"], "prismatic": ["m"]}.get(joint.type, ["deg"])
            v_units = {"floating": ["m"] * 3 + ["deg"] * 3, "planar": ["m", "m", "deg"], "prismatic": ["m"]}.get(joint.type, ["deg"])
            for i, unit in enumerate(q_units):
                q[unit].append(joint.iq + i)
            for i, unit in enumerate(v_units):
                v[unit].append(joint.iv + i)
        return [(unit, q[unit], v[unit]) for unit in q if q[unit] or v[unit]]

    def _coordinates(self, kind: str) -> Shape:
        """Coordinates and their rates, a row for each unit."""
        rows = self._coordinate_rows()
        if kind == "modes":
            rows = self._coordinate_rows(elastic=True)[::-1]  # bending first, then torsion
        rows = rows or [("deg", [], [])]
        return Shape(0.3 + PANEL * len(rows), 2, partial(self._draw_coordinates, rows, kind))

    def _draw_coordinates(self, rows: list[tuple[str, list[int], list[int]]], kind: str, sub: Any) -> None:
        modal = kind == "modes"
        what = {"deg": "torsion", "m": "modal coordinates"} if modal else {"deg": "angles", "m": "lengths", "1": "quaternions"}
        names, rate_names = coordinate_names(self.robot), self.robot.velocity_names
        for row, (unit, *entries) in enumerate(rows):
            columns = zip(("q", "v"), (names, rate_names), (self.states.q, self.states.v), entries, strict=True)
            for column, (letter, labels, values, own) in enumerate(columns):
                if not own and any(entries):
                    continue  # quaternions have no rates of their own
                units = f"[{unit}]" if letter == "q" else f"[{unit}/s]"
                letter = {"q": "δ", "v": "dδ/dt"}[letter] if modal else letter
                title = f"{letter}, {what[unit]}" + (f", the first {MANY_LINES} of {len(own)}" if len(own) > MANY_LINES else "")
                axes = self._time_axes(sub, len(rows), 2, row * 2 + column, title, f"{letter} {units}")
                axes.tick_params(labelbottom=True)
                factor = 180.0 / np.pi if unit == "deg" else 1.0
                handles = [
                    self._line(axes, self.states.t, factor * values[:, i], k, f"{kind} {letter} {labels[i]}")
                    for k, i in enumerate(own[:MANY_LINES])
                ]
                if handles:
                    legend(
                        axes,
                        handles,
                        [shown(labels[i]) for i in own[:MANY_LINES]],
                        self.theme,
                        ncols=1 if len(handles) <= MANY_POINTS else 2,
                    )
                else:
                    self._nothing(axes, "no elastic links" if modal else "nothing moves")

    def _row(self, panels: Sequence[Callable[[Any, int, int], None]], sub: Any) -> None:
        for number, draw in enumerate(panels):
            draw(sub, len(panels), number)

    def _energies(self, sub: Any, columns: int, number: int) -> None:
        """Fig. 19."""
        axes = self._time_axes(sub, 1, columns, number, "energies", "energy [J]")
        real = ~self.states.gaps
        kinetic, potential = np.full((2, len(real)), np.nan)
        q, v = self.states.q[real], self.states.v[real]
        kinetic[real] = kinetic_energy(self.robot, q, v)
        potential[real] = potential_energy(self.robot, q, gravity=self.trajectory.gravity)
        total = kinetic + potential
        values = {"kinetic": kinetic, "potential": potential, "total": total}
        if self.robot.is_flexible:
            strain = np.full(len(real), np.nan)
            strain[real] = strain_energy(self.robot, q)
            values = {"kinetic": kinetic, "gravity": potential - strain, "strain": strain, "total": total}
        if self.trajectory.friction_work.any():
            values["lost by friction"] = np.interp(self.states.t, self.trajectory.t, self.trajectory.friction_work)
        looks = {"kinetic": 0, "potential": 1, "gravity": 1, "total": 2, "strain": 3, "lost by friction": 4}
        handles = [self._line(axes, self.states.t, energy, looks[name], f"energies {name}") for name, energy in values.items()]
        labels = [self._balance(total, kinetic) if name == "total" else name for name in values]
        legend(axes, handles, labels, self.theme)

    def _balance(self, total: Array, kinetic: Array) -> str:
        """What became of the total energy, in lines of a legend."""
        finite = total[np.isfinite(total)]
        if not finite.size:
            return "total"
        start, change = float(finite[0]), float(finite[-1] - finite[0])
        rubbed = float(self.trajectory.friction_work[-1])
        text = f"total {start:.6g} J"
        breaks = np.flatnonzero(np.isnan(total[1:-1])) + 1
        if self.states.broken:
            return f"{text} at start,\n{'lost' if change <= 0.0 else 'gained'} {abs(change):.3g} J"
        lost = float((total[breaks - 1] - total[breaks + 1]).sum())
        scale = max(float(np.nanmax(kinetic)), 1e-300)
        drift = change + lost + rubbed
        if abs(lost) > 1e-6 * scale:
            text += f" at start,\nlost in impacts {lost:.4g} J"
        if abs(drift) <= 1e-6 * scale:
            return f"{text},\ndrift {drift:+.2g} J"
        return f"{text},\n{'lost' if drift < 0.0 else 'gained'} otherwise {abs(drift):.2g} J"

    def _impulses(self, sub: Any, columns: int, number: int) -> None:
        """One stem for each struck contact."""
        total = len(self.trajectory.impacts)
        title = "impulses" if self.complete else f"impulses of {len(self.impacts)} of {total} impacts"
        revolute = {joint.name for joint in self.robot.joints if joint.type in ("revolute", "continuous")}
        turning = [_is_limit(impact, i) and impact.points[i] in revolute for impact in self.impacts for i in range(impact.k)]
        unit = "N m s" if turning and all(turning) else "N s; N m s at limits" if any(turning) else "N s"
        axes = self._time_axes(sub, 1, columns, number, title, f"impulse [{unit}]")
        stems: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for impact in self.impacts:
            for point, wall, impulse in zip(impact.points, impact.walls, impact.impulses.tolist(), strict=True):
                stems.setdefault((point, wall), []).append((impact.time, impulse))
        if not stems:
            self._nothing(axes, "no impacts")
            return
        strongest = sorted(stems, key=lambda key: -max(abs(value) for _, value in stems[key]))[:MANY_POINTS]
        several = len({wall for _, wall in stems if wall}) > 1
        many = sum(map(len, stems.values())) > SOME_IMPACTS
        handles, labels = [], []
        rest = [key for key in stems if key not in strongest]
        groups: list[tuple[str, list[tuple[float, float]], str, str, float]] = []
        if rest:
            name = f"{len(rest)} other contacts"
            groups.append((name, [stem for key in rest for stem in stems[key]], self.theme.faint, "_", 6.0))
        for k, (point, wall) in enumerate(key for key in stems if key in strongest):
            name = f"{point} on {wall}" if several and wall else f"{point} {wall}" if wall in ("lower", "upper") else point
            groups.append((name, stems[point, wall], self.theme.colour(k), MARKERS[k % len(MARKERS)], 5.0 + 2.0 * (k % 3)))
        for name, stems_, colour, marker, size in groups:
            at, height = np.array(stems_).T
            axes.vlines(at, 0.0, height, colors=colour, lw=0.5 if many else 1.3, gid=f"stems {name}", rasterized=many)
            # Open markers of several sizes: equal impulses at one time are all seen.
            style = {"marker": marker, "ms": 2 if many else size, "mfc": "none", "mew": 1.3, "color": colour, "ls": "none"}
            handles += axes.plot(at, height, gid=f"impulses {name}", rasterized=many, **style)
            labels.append(shown(name))
        axes.axhline(0.0, color=self.theme.text, lw=0.6)
        legend(axes, handles, labels, self.theme, handlelength=1.2)

    def _contact_forces(self, sub: Any, columns: int, number: int) -> None:
        axes = self._time_axes(sub, 1, columns, number, "forces of lasting contacts", "force [N]")
        which = carrying(self.trajectory)
        if not which:
            self._nothing(axes, "no lasting contacts")
            return
        made = force_lines(self.trajectory, sorted(which[:MANY_FORCES]), self.theme)
        drawn = [self._line(axes, line.t, line.force, 0, line.gid, **line.look) for line in made]
        labelled = [(handle, line.label) for handle, line in zip(drawn, made, strict=True) if line.label]
        labelled += [(Line2D([], [], **look), label) for look, label in key_of_friction(made, self.theme)]
        title = f"{len(which) - MANY_FORCES} more contacts" if len(which) > MANY_FORCES else None
        legend(axes, [handle for handle, _ in labelled], [label for _, label in labelled], self.theme, title=title)

    def _snapshots(self) -> Shape:
        """Fig. 18."""
        shots, choice = chosen(self.trajectory, self.impacts, self.complete)
        walls, notes = (self.walls, []) if self.walls is not None else walls_of(self.trajectory)
        parts = ["configurations at the impacts" if self.impacts else "configurations", choice, *(shown(note, 110) for note in notes)]
        text = "; ".join(part for part in parts if part)
        text = "\n".join(textwrap.wrap(text, int(1.2 * CHARACTERS * NARROW)))
        whole = scene(self.robot, shots, self._moving(), self.contacts, walls)

        def draw(sub: Any) -> None:
            sub.suptitle(text, fontsize=MEDIUM, color=self.theme.text)
            draw_scene(sub, whole, self.theme)

        return Shape(whole.height(WIDE if whole.columns > 1 else NARROW) + 0.18 * text.count("\n"), whole.columns, draw)

    def _moving(self) -> tuple[int, ...]:
        """The axes along which any part of the robot moves."""
        places = [*skeleton(self.robot, virtual=False).places, *(contact.place for contact in self.contacts)]
        real = np.flatnonzero(~self.states.gaps)
        rows = real[np.linspace(0, len(real) - 1, min(len(real), 200)).round().astype(np.intp)]
        few = Samples(self.states.t[rows], self.states.q[rows], self.states.v[rows], self.states.jumps, False)
        return moving_axes(moved(self.robot, places, few)[0])


def _spread(total: int, count: int) -> list[int]:
    return [int(i) for i in spread(np.arange(total, dtype=np.float64), count)]


def _is_limit(impact: Impact, i: int) -> bool:
    return bool(np.isnan(impact.positions[i]).any())
