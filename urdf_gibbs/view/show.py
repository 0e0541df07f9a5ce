"""Pages of robots and motions: written to a file, served to a browser tab that follows Python, or shown in a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import counted, folders, one_of, path_of, whole
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.names import UpAxis
from urdf_gibbs.robot.load import XML_TEXT
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.templates import rendered
from urdf_gibbs.view.branches import skeleton
from urdf_gibbs.view.camera import camera
from urdf_gibbs.view.contacts import contacts_of, impacts_told
from urdf_gibbs.view.describe import contact_points, robot_data
from urdf_gibbs.view.elastic import moving_mass
from urdf_gibbs.view.html import packed, page
from urdf_gibbs.view.motion import positions
from urdf_gibbs.view.recording import drawn_impacts, frame_times, most_asked, recording
from urdf_gibbs.view.scene import Command, Scene, configuration, robot_scene
from urdf_gibbs.view.wall_drawing import WallDrawing
from urdf_gibbs.view.wall_settings import names, restored, wall_names
from urdf_gibbs.view.wall_shapes import drawing
from urdf_gibbs.walls import Wall
from urdf_gibbs.walls.arguments import wall_list

Array = NDArray[np.float64]

THEMES = ("light", "dark")
UP_AXES = get_args(UpAxis)
NOTEBOOK_HEIGHT = 560  # px


@dataclass(frozen=True, eq=False)
class View:
    """A page about a robot or a motion.

    Attributes:
        robot: What it shows.
        title: Of the page.
        subtitle: Below it.
        scene: Meshes and solids.
        data: What the page's own code is told, as plain values.
    """

    robot: Robot
    title: str
    subtitle: str
    scene: Scene = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)

    @property
    def commands(self) -> tuple[Command, ...]:
        """What meshcat's viewer is told: objects and transforms."""
        return self.scene.commands

    @property
    def missing(self) -> list[str]:
        """The visuals that are placeholders, and why."""
        return [str(missing) for missing in self.scene.missing]

    @property
    def notes(self) -> list[str]:
        """What else is not drawn."""
        return list(self.data.get("notes", []))

    def html(self, live: bool = False) -> str:
        """The page as one text that needs nothing else.

        Args:
            live: Whether it listens to the process that serves it.

        Returns:
            HTML.
        """
        return page(self.title, self.subtitle, {**self.data, "live": live}, self.commands, self.scene.collisions)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Args:
            path: Of the file.

        Returns:
            The path written.

        Raises:
            ArgumentError: The path is none.
            OSError: The file cannot be written.
        """
        path = Path(path_of(path, "path"))
        path.write_text(self.html(), encoding="utf-8")
        return path

    def open(self, browser: bool = True, port: int = 0) -> Any:
        """Serve the page on this machine.

        Args:
            browser: Whether a browser tab is opened.
            port: Of the server; 0: any that is free.

        Returns:
            What serves it, and moves the robot in it: ``live.show(q)``; until ``live.close()``.

        Raises:
            OSError: The port is taken.
        """
        from urdf_gibbs.view.live import Live

        return Live(self, browser, port)

    def _repr_html_(self) -> str:
        return framed(self.html(), self.title)


def framed(text: str, title: str, height: int = NOTEBOOK_HEIGHT) -> str:
    """A whole page inside a notebook's cell."""
    return rendered("view", "frame.html", title=title, page=text, height=height).rstrip("\n")


def view(
    robot: Robot,
    q: ArrayLike | None = None,
    walls: Wall | Iterable[Wall] = (),
    *,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    theme: str | None = None,
    up_axis: UpAxis = "ignore",
    extra: Mapping[str, Any] | None = None,
) -> View:
    """A page of the robot at q (nq,), None: the neutral one; ``theme`` "light", "dark" or None: as the browser has it."""
    q = configuration(robot, q)
    scene = robot_scene(robot, q, folders(package_dirs), _up_axis(up_axis))
    box = _box(scene.bounds, _joints(robot, q[None]))
    drawn = [drawing(wall, box, None, name) for wall, name in _named(walls)]
    data = {
        "robot": robot_data(robot, scene, q),
        "points": contact_points(contacts_of(robot)),
        "walls": [_wall(one) for one in drawn],
        "camera": camera(_with_walls(box, drawn), box, flat=None if scene.visible else _box(_joints(robot, q[None])), floors=drawn),
        "theme": _theme(theme),
        "notes": list(scene.notes),
        **(extra or {}),
    }
    kind = f"{counted(len(robot.links), 'link')}, {_freedom(robot)}, {robot.base} base, {moving_mass(robot):.4g} kg"
    file = "" if robot.file == XML_TEXT else f". {os.path.basename(robot.file)}"
    return View(robot, robot.name or "robot", kind + file, scene, data)


def animation(
    trajectory: Trajectory,
    *,
    frames: int | None = None,
    trails: Sequence[str] | None = None,
    walls: Wall | Iterable[Wall] | None = None,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    theme: str | None = None,
    up_axis: UpAxis = "ignore",
    title: str = "",
) -> View:
    """A page that plays a trajectory. ``frames``: about how many (every impact is one of them; of more than 2,000, some); ``trails``:
    contact points or links whose ways are drawn; ``walls``: needed where the run's are Python functions, which a trajectory does not
    hold. The page is bounded, however long the run (view/recording.py); what is left out stands in ``notes``."""
    most = most_asked(trajectory.robot)
    if frames is not None and not 2 <= whole(frames, 2, "frames") <= most:
        raise ArgumentError(f"frames={frames}, expected 2 to {most}")
    robot = trajectory.robot
    start = trajectory.q[0]
    scene = robot_scene(robot, start, folders(package_dirs), _up_axis(up_axis))
    notes: list[str] = []
    if walls is None:
        kept, notes = restored(trajectory.settings)
        named = [(wall, name) for wall, name in zip(kept, names(trajectory.settings), strict=True) if wall is not None]
    else:
        named = _named(walls)
    rows = np.unique(np.linspace(0, len(trajectory) - 1, 200).astype(int))
    ways = _joints(robot, trajectory.q[rows])
    box = _box(scene.bounds, ways)
    impacts = drawn_impacts(trajectory)
    if len(impacts) < len(trajectory.impacts):
        notes.append(
            f"{len(impacts)} of {len(trajectory.impacts)} impacts are shown: the first, the last, and others even in order and in time"
        )
    times = frame_times(trajectory, frames, impacts)
    drawn = [drawing(wall, box, times, name) for wall, name in named]
    data = {
        "robot": robot_data(robot, scene, start),
        "points": contact_points(contacts_of(robot, trajectory.settings)),
        "walls": [_wall(one, times) for one in drawn],
        "motion": recording(trajectory, times, trails, impacts, {name: wall for wall, name in named}),
        "notes": [*notes, *scene.notes],
        "camera": camera(
            _with_walls(box, drawn),
            scene.bounds if scene.visible else _box(_joints(robot, start[None])),
            trajectory.gravity,
            _box(ways),
            ways,
            drawn,
        ),
        "theme": _theme(theme),
    }
    what = f"{trajectory.t[-1] - trajectory.t[0]:.4g} s, {impacts_told(trajectory)}"
    kind = f"{_freedom(robot)}, law {trajectory.settings.get('law', 'none')}"
    status = "" if trajectory.status == "complete" else f" Status: {trajectory.status}."
    return View(robot, title or robot.name or "motion", f"{what}; {kind}.{status}", scene, data)


def _freedom(robot: Robot) -> str:
    return f"{counted(robot.nv, 'degree')} of freedom"


def _theme(theme: str | None) -> str | None:
    if theme is not None and theme not in THEMES:
        raise ArgumentError(f"theme={theme!r}, expected one of {', '.join(THEMES)}, or None: as the browser has it")
    return theme


def _up_axis(up_axis: str) -> UpAxis:
    return cast(UpAxis, one_of(up_axis, UP_AXES, "up_axis"))


def _named(walls: Wall | Iterable[Wall]) -> list[tuple[Wall, str]]:
    given = wall_list(walls)
    return list(zip(given, wall_names(given), strict=True))


def _wall(drawn: WallDrawing, times: Array | None = None) -> dict[str, Any]:
    """A wall for the page; one that moves has its displacement at the frames."""
    shape: dict[str, Any] = {"name": drawn.name, "ground": drawn.ground}
    if drawn.surface is not None:
        solid = drawn.surface
        shape["surface"] = {"vertices": packed(solid.vertices), "normals": packed(solid.normals), "faces": packed(solid.faces)}
    for name in ("lines", "points"):
        if getattr(drawn, name).size:
            shape[name] = packed(getattr(drawn, name))
    if drawn.motion is not None:
        shape["displacement"] = packed(drawn.displacement(np.zeros(1) if times is None else times))
    return shape


def _joints(robot: Robot, q: Array) -> Array:
    """Origins of all bodies and tips of the leaves, in the world: q (n, nq) -> (m, 3)."""
    places = skeleton(robot, virtual=False).places
    return positions(robot, places, q).reshape(-1, 3) if places else np.zeros((0, 3))


def _box(*points: NDArray[Any]) -> Array:
    """The least and greatest coordinates (2, 3)."""
    together = np.concatenate(points).astype(np.float64)
    return np.stack([together.min(axis=0), together.max(axis=0)]) if len(together) else np.zeros((2, 3))


def _with_walls(box: Array, drawn: list[WallDrawing]) -> Array:
    """The box with the walls, as far as they do not dwarf it."""
    reach = float(np.linalg.norm(box[1] - box[0]))
    for wall in drawn:
        corners = [wall.lines.reshape(-1, 3), wall.points]
        outer = _box(*corners, *([] if wall.surface is None else [wall.surface.vertices]))
        if np.linalg.norm(outer[1] - outer[0]) < 6.0 * max(reach, 1e-3):
            box = _box(box, outer)
    return box
