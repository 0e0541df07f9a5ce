"""What varies from run to run, checked, and as rows for compiled code (batch.py)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import LARGEST_FRICTION, coefficients, numbers, within
from urdf_gibbs.contact.candidates import Candidates
from urdf_gibbs.contact.coefficients import SceneFriction
from urdf_gibbs.contact.kinematics import LIMIT, PAIR, WALL
from urdf_gibbs.contact.surfaces import CENTRE, FUNCTION, HEIGHT, IMPLICIT, MOVES, RADIUS, check_radius, pack
from urdf_gibbs.engine.kernel import Compiled, kernel_of
from urdf_gibbs.engine.quantity import Options
from urdf_gibbs.errors import ArgumentError, NotVariableError, UnknownNameError, UrdfGibbsError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.description import Description, checked_start
from urdf_gibbs.simulation.layout import PARAMETERS
from urdf_gibbs.simulation.runs import Runs
from urdf_gibbs.walls import Wall, described, labels, wall_from
from urdf_gibbs.walls.arguments import put

Array = NDArray[np.float64]
Check = Callable[[Any], Any]

VARIED = ("restitution", "friction", "gravity", "torque", "parameters", "walls")
NOT_SHAPES = ("restitution", "friction", "motion", "name", "side")  # fields of walls that are no numbers of their shape
COLUMNS = {"radius": RADIUS, "centre": CENTRE, "point": CENTRE}  # of Surfaces.values, from arguments of walls with one surface
SCENE = ""  # whose coefficients count where nothing has its own


class Part(NamedTuple):
    """Coefficients by name: of which contacts, values (n,) or (n, 2) of each run, and the most that each of these contacts takes over."""

    name: str
    contacts: NDArray[np.intp]
    values: Array
    most: Array | float


@dataclass(frozen=True, eq=False)
class Rows:
    """n runs as arrays; ``refused``: what is wrong with a run. An array that is None has the value of the description."""

    q: Array
    v: Array
    duration: Array
    restitution: list[Part]  # the later count
    friction: list[Part]
    gravity: Array | None
    torque: Array | None
    parameters: Array | None
    walls: Array | None  # (n, surfaces WIDTH)
    shapes: dict[str, dict[str, Array]]  # by wall and argument
    refused: dict[int, str]

    def __len__(self) -> int:
        return len(self.q)


class Varied:
    """What varies in the runs of a description: its contacts and walls by name."""

    def __init__(self, description: Description, candidates: Candidates, vary: Iterable[str]) -> None:
        self.description, self.candidates = description, candidates
        self.names = tuple(vary)
        for name in self.names:
            if name not in VARIED:
                raise UnknownNameError("quantity that varies", str(name), VARIED)
        self.wall_names = labels((wall.name, type(wall).__name__.lower()) for wall in description.walls)
        counts = [len(wall.surfaces()) for wall in description.walls]
        self._wall_of = np.repeat(np.arange(len(counts)), counts)  # of each surface
        self._radii = {point.radius for point in description.points}
        if "friction" in self.names:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # said when the description was made
                self._smooth, self._rough = (self._friction_of(mu) for mu in (0.0, LARGEST_FRICTION))

    def _friction_of(self, mu: float) -> Array:
        """(contacts, 2) where the scene's coefficients are these."""
        scene = SceneFriction(coefficients(mu, "friction"), self.description.friction.links)
        return np.array(replace(self.description, friction=scene).candidates().contacts.friction)

    # what of the contacts a name means -----------------------------------------------------------------

    def _of_wall(self, name: str) -> NDArray[np.bool_]:
        contacts = self.candidates.contacts
        on = np.zeros(len(contacts.kind), dtype=bool)
        walls = contacts.kind == WALL
        on[walls] = self._wall_of[contacts.surface[walls]] == self.wall_names.index(name)
        return on

    def _named(self, name: str, of_scene: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The contacts that a key of a mapping means."""
        if name == SCENE:
            return np.flatnonzero(of_scene)
        if name in self.wall_names:
            return np.flatnonzero(self._of_wall(name))
        touching = self.candidates.names[: self.candidates.touching]
        if name not in touching:
            raise UnknownNameError("wall or contact", str(name), (SCENE, *self.wall_names, *touching))
        return np.array([touching.index(name)])

    def _ordered(self, given: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The scene first, then walls, then contacts."""
        rank = {SCENE: 0, **dict.fromkeys(self.wall_names, 1)}
        return sorted(given.items(), key=lambda entry: rank.get(entry[0], 2))

    # the arrays ---------------------------------------------------------------------------------------

    def rows(self, runs: Runs) -> Rows:
        """The runs, checked. A value that is out of its range refuses its run; a wrong shape or type is an ArgumentError."""
        robot = self.description.robot
        for name in VARIED:
            if getattr(runs, name) is not None and name not in self.names:
                raise ArgumentError(f"{name} is given and does not vary; expected Many(..., vary=({name!r}, ...))")
        q = np.ascontiguousarray(numbers(runs.q, f"(n, {robot.nq})", "q"))
        if q.ndim != 2 or q.shape[1] != robot.nq:
            raise ArgumentError(f"q has shape {q.shape}, expected (n, {robot.nq})")
        n = len(q)
        v = _rows(np.zeros(robot.nv) if runs.v is None else runs.v, n, (robot.nv,), "v")
        duration = _rows(runs.duration, n, (), "duration")
        given = {
            "gravity": None if runs.gravity is None else _rows(runs.gravity, n, (3,), "gravity"),
            "torque": None if runs.torque is None else _rows(runs.torque, n, (robot.nv,), "torque"),
            "parameters": None if runs.parameters is None else _rows(runs.parameters, n, (len(robot.joints), 10), "parameters"),
        }
        refused: dict[int, str] = {}
        _refuse_starts(robot, q, v, duration, refused)
        for name, values in given.items():
            if values is not None:
                _refuse_infinite(values, name, refused)
        masses = given["parameters"]
        if masses is not None:
            _refuse(masses[:, :, 0].min(axis=1, initial=0.0), lambda m: m >= 0.0, _mass, refused)
        shapes = {name: self._shape(name, changes, n) for name, changes in (runs.walls or {}).items()}
        return Rows(
            q=q,
            v=v,
            duration=duration,
            **given,
            restitution=self._restitution(runs.restitution, n, refused),
            friction=self._friction(runs.friction, n, refused),
            walls=None if runs.walls is None else self._walls(shapes, n, refused),
            shapes=shapes,
            refused=refused,
        )

    def inputs(self, rows: Rows, which: NDArray[np.int64], constants: Array) -> dict[str, Array]:
        """The inputs of Batch for some of the runs; ``constants`` are those of the description. What does not vary has no rows."""
        contacts, k = self.candidates.contacts, len(which)
        nothing = np.zeros((0, 0))
        made = dict.fromkeys(("restitution", "friction", "torque", "constants", "masses", "walls"), nothing)
        if "restitution" in self.names:
            made["restitution"] = np.repeat(contacts.restitution[None], k, axis=0)
            for part in rows.restitution:
                made["restitution"][:, part.contacts] = part.values[which, None]
        if "friction" in self.names:
            friction = np.repeat(contacts.friction[None], k, axis=0)
            for part in rows.friction:
                friction[:, part.contacts] = np.minimum(part.values[which, None], part.most)
            made["friction"] = friction.reshape(k, -1)
        if "torque" in self.names:
            made["torque"] = np.repeat(self.description.torque[None], k, axis=0) if rows.torque is None else rows.torque[which]
        if "gravity" in self.names or "parameters" in self.names:
            made["constants"] = np.repeat(constants[None], k, axis=0)
            if rows.gravity is not None:
                made["constants"][:, :PARAMETERS] = rows.gravity[which]
            if rows.parameters is not None:
                made["constants"][:, PARAMETERS:] = rows.parameters[which].reshape(k, -1)
        if "parameters" in self.names:
            made["masses"] = masses_of(made["constants"][:, PARAMETERS:].reshape(k, -1, 10)).reshape(k, -1)
        if "walls" in self.names:
            values = self.candidates.surfaces.values
            made["walls"] = np.repeat(values.reshape(1, -1), k, axis=0) if rows.walls is None else rows.walls[which]
        return made

    def description_of(self, rows: Rows, run: int) -> Description:
        """The description of one of the runs; coefficients that it has by the name of a contact are not in it."""
        changes: dict[str, Any] = {}
        if rows.gravity is not None:
            changes["gravity"] = rows.gravity[run]
        if rows.torque is not None:
            changes["torque"] = rows.torque[run]
        for on_scene in [part for part in rows.restitution if part.name == SCENE]:
            changes["restitution"] = float(on_scene.values[run])
        for on_scene in [part for part in rows.friction if part.name == SCENE]:
            static, kinetic = on_scene.values[run].tolist()
            changes["friction"] = self.description.friction._replace(default=coefficients((static, kinetic), "friction"))
        if rows.parameters is not None:
            changes["robot"] = robot_with(self.description.robot, rows.parameters[run])
        walls = [self._wall_of_run(rows, run, name) for name in self.wall_names]
        return replace(self.description, walls=tuple(walls), **changes)

    def _wall_of_run(self, rows: Rows, run: int, name: str) -> Wall:
        wall = self.description.walls[self.wall_names.index(name)]
        shape = {key: values[run].tolist() for key, values in rows.shapes.get(name, {}).items()}
        wall = copy(_changed(wall, shape) if shape else wall)
        for kind, parts in (("restitution", rows.restitution), ("friction", rows.friction)):
            for part in parts:
                if part.name == name:
                    value = part.values[run].tolist()
                    put(wall, kind, tuple(value) if isinstance(value, list) else value)
        return wall

    def _restitution(self, given: Any, n: int, refused: dict[int, str]) -> list[Part]:
        if given is None:
            return []
        contacts = self.candidates.contacts
        own = [surface.restitution is not None for wall in self.description.walls for surface in wall.surfaces()]
        of_scene = np.isin(contacts.kind, (PAIR, LIMIT))
        walls = contacts.kind == WALL
        of_scene[walls] = ~np.array(own, dtype=bool)[contacts.surface[walls]]
        parts = []
        for name, value in self._ordered(given if isinstance(given, Mapping) else {SCENE: given}):
            values = _rows(value, n, (), "restitution")
            _refuse(values, lambda e: (e >= 0.0) & (e <= 1.0), lambda e: within(float(e), 0.0, 1.0, "restitution"), refused)
            parts.append(Part(name, self._named(name, of_scene), values, np.inf))
        return parts

    def _friction(self, given: Any, n: int, refused: dict[int, str]) -> list[Part]:
        if given is None:
            return []
        of_scene = (self._smooth != self._rough).any(axis=1)
        pointed = np.array([point.friction is not None for point in self.description.points for _ in self._wall_of], dtype=bool)
        parts = []
        for name, value in self._ordered(given if isinstance(given, Mapping) else {SCENE: given}):
            values = _coefficients(value, n)
            _refuse(values, _are_coefficients, lambda mu: coefficients(mu.tolist(), "friction"), refused)
            which = self._named(name, of_scene)
            if name in self.wall_names:  # a point with coefficients of its own keeps them
                which = which[~pointed[which]]
            parts.append(Part(name, which, values, self._rough[which] if name == SCENE else np.inf))
        return parts

    def _shape(self, name: str, changes: Mapping[str, Any], n: int) -> dict[str, Array]:
        """The numbers of a wall, checked, with one row for each run."""
        if name not in self.wall_names:
            raise UnknownNameError("wall", str(name), self.wall_names)
        number = self.wall_names.index(name)
        if np.isin(self.candidates.surfaces.kind[self._wall_of == number], (HEIGHT, IMPLICIT)).any():
            raise NotVariableError(f"the shape of wall {name!r}", "is a height field or a function, not a few numbers")
        return {key: _wall_rows(self.description.walls[number], key, value, n) for key, value in changes.items()}

    def _walls(self, shapes: dict[str, dict[str, Array]], n: int, refused: dict[int, str]) -> Array:
        values = self.candidates.surfaces.values
        rows = np.repeat(values[None], n, axis=0)
        for name, arrays in shapes.items():
            number = self.wall_names.index(name)
            wall, on = self.description.walls[number], np.flatnonzero(self._wall_of == number)
            left = self._put_columns(wall, arrays, rows, on)
            made: dict[bytes, Array | str] = {}
            for i in left.tolist():
                key = b"".join(array[i].tobytes() for array in arrays.values())
                if key not in made:
                    made[key] = self._packed(wall, {field: array[i].tolist() for field, array in arrays.items()})
                found = made[key]
                if isinstance(found, str):
                    refused.setdefault(i, found)
                else:
                    rows[i, on] = found
        return rows.reshape(n, -1)

    def _put_columns(self, wall: Wall, arrays: dict[str, Array], rows: Array, on: NDArray[np.intp]) -> NDArray[np.intp]:
        """Write what is a column of Surfaces.values to the ``rows``; gives the runs whose numbers are left to ``_packed``."""
        n = len(rows)
        if len(on) != 1 or not arrays.keys() <= COLUMNS.keys():
            return np.arange(n)
        right = np.ones(n, dtype=bool)
        for name, values in arrays.items():
            flat = values.reshape(n, -1)
            right &= np.isfinite(flat).all(axis=1)
            if name == "radius":
                right &= values > max(self._radii, default=0.0)
            rows[:, on[0], COLUMNS[name] : COLUMNS[name] + flat.shape[1]] = flat
        return np.flatnonzero(~right)

    def _packed(self, wall: Wall, changes: dict[str, Any]) -> Array | str:
        """The rows of Surfaces.values of the wall with these numbers, or what is wrong with them."""
        try:
            changed = _changed(wall, changes)
            check_radius([changed], max(self._radii, default=0.0))
            return np.array(pack([changed])[0].values)
        except UrdfGibbsError as problem:
            return str(problem)


def _changed(wall: Wall, changes: dict[str, Any]) -> Wall:
    """The wall with other values of some of its arguments."""
    return wall_from({**described(wall), **{"direction" if key == "normal" else key: value for key, value in changes.items()}})


def check_variable(description: Description, candidates: Candidates, names: Iterable[str]) -> None:
    """NotVariableError for what compiled runs cannot do."""
    if description.controller is not None:
        raise NotVariableError("a controller", "is a function of Python")
    if description.soil is not None:
        raise NotVariableError("soil under wheels", "is checked by Python at each start")
    surfaces = candidates.surfaces
    if (surfaces.kind == IMPLICIT).any() or (surfaces.integers[:, MOVES] == FUNCTION).any():
        raise NotVariableError("a wall whose shape or motion is a function", "is a function of Python")
    if "parameters" in names and description.robot.is_flexible:
        raise NotVariableError("parameters of a robot with elastic links", "is part of the machine code")
    if "parameters" in names and not isinstance(_parametric(description.robot), Compiled):
        raise NotVariableError("parameters of a robot this large", "has dynamics in loops over its bodies, with numbers that are fixed")
    if "friction" in names and description.law == "newton_equality":
        raise NotVariableError("friction with law='newton_equality'", "has no form with friction")


# inertial parameters ---------------------------------------------------------------------------------


def masses_of(parameters: Array) -> Array:
    """(..., nb, 4) mass and centre of mass of each body, from its parameters (..., nb, 10)."""
    m, moment = parameters[..., :1], parameters[..., 1:4]
    return np.concatenate([m, np.divide(moment, m, out=np.zeros_like(moment), where=m != 0.0)], axis=-1)


def robot_with(robot: Robot, parameters: Array) -> Robot:
    """The robot with these inertial parameters (nb, 10) of its bodies; its links keep what the URDF says of them."""
    found = masses_of(parameters)
    m, c = found[:, 0], found[:, 1:]
    about_origin = parameters[:, 4:][:, [[0, 1, 3], [1, 2, 4], [3, 4, 5]]]
    steiner = (c * c).sum(axis=1)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    return replace(robot, mass=m, centre_of_mass=c, inertia=about_origin - m[:, None, None] * steiner)


def _parametric(robot: Robot) -> Any:
    """The kernel of the dynamics with gravity and inertial parameters as an input."""
    return kernel_of(robot, "forward_dynamics", Options((0.0, 0.0, 0.0), parametric=True, free_gravity=True))


# rows of one quantity --------------------------------------------------------------------------------


def _rows(value: Any, n: int, shape: tuple[int, ...], name: str) -> Array:
    """(n, *shape), from that or from one row for all."""
    expected = f"({', '.join(map(str, ('n', *shape)))}{',' if not shape else ''})"
    array = numbers(value, expected, name)
    if array.shape == shape:
        array = np.broadcast_to(array, (n, *shape))
    if array.shape != (n, *shape):
        raise ArgumentError(f"{name} has shape {array.shape}, expected {expected} with n = {n}, or {shape}")
    return np.ascontiguousarray(array)


def _coefficients(value: Any, n: int) -> Array:
    """(n, 2) static and kinetic coefficients, from (n, 2), (n,) or one number."""
    array = numbers(value, "(n,) or (n, 2)", "friction")
    if array.ndim < 2:
        return np.repeat(_rows(array, n, (), "friction")[:, None], 2, axis=1)
    return _rows(array, n, (2,), "friction")


def _wall_rows(wall: Wall, name: str, value: Any, n: int) -> Array:
    """(n, ...) values of a field of the wall, under the name of its argument."""
    known = {"normal" if one.name == "direction" else one.name for one in fields(wall)} - set(NOT_SHAPES)
    if name not in known:
        raise UnknownNameError(f"number of a {type(wall).__name__}", str(name), sorted(known))
    now = getattr(wall, "direction" if name == "normal" else name)
    return _rows(value, n, (3, 3) if name == "rotation" else np.shape(now), f"{name} of a wall")


# runs that cannot start ------------------------------------------------------------------------------


def _refuse(values: Array, right: Callable[[Array], Any], check: Check, refused: dict[int, str]) -> None:
    """Note what ``check`` says of the rows that are not right."""
    good = np.asarray(right(values))
    for i in np.flatnonzero(~good).tolist():
        try:
            check(values[i])
        except UrdfGibbsError as problem:
            refused.setdefault(i, str(problem))


def _refuse_infinite(values: Array, name: str, refused: dict[int, str]) -> None:
    flat = values.reshape(len(values), -1)
    for i in np.flatnonzero(~np.isfinite(flat).all(axis=1)).tolist():
        wrong = np.flatnonzero(~np.isfinite(flat[i])).tolist()
        refused.setdefault(i, f"{name} has entries that are not finite: {wrong}, expected finite numbers")


def _refuse_starts(robot: Robot, q: Array, v: Array, duration: Array, refused: dict[int, str]) -> None:
    right = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1) & np.isfinite(duration) & (duration >= 0.0)
    for joint in robot.joints if robot.nq != robot.nv else ():
        if joint.type == "floating" and not joint.is_mimic:
            right &= np.abs(np.linalg.norm(q[:, joint.iq + 3 : joint.iq + 7], axis=1) - 1.0) < 1e-7
    for i in np.flatnonzero(~right).tolist():
        try:
            checked_start(robot, q[i], v[i], float(duration[i]))
        except UrdfGibbsError as problem:
            refused.setdefault(i, str(problem))


def _mass(least: Any) -> None:
    raise ArgumentError(f"a mass of {float(least):g} kg in parameters, expected zero or more")


def _are_coefficients(mu: Array) -> Any:
    return (mu >= 0.0).all(axis=1) & (mu <= LARGEST_FRICTION).all(axis=1) & (mu[:, 1] <= mu[:, 0])
