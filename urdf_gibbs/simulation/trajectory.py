"""What a simulation returns: states in time with their interpolant, impacts, contact phases, and one file to keep them.

States are (q, v) of the robot; points, normals and velocities of impacts are in the world's frame; SI units.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot import manifold
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.write import pack, unpack
from urdf_gibbs.simulation.stored import Shape, check_numbers, check_points, check_shape, read_file, read_header, refuse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from urdf_gibbs.view.show import View
    from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]

DENSE_TERMS = 7  # coefficients of the interpolant of DOP853 for each segment and coordinate
FORMAT, VERSION = "urdf_gibbs trajectory", 1
COORDINATE_SUFFIXES = {7: ("x", "y", "z", "qx", "qy", "qz", "qw"), 3: ("x", "y", "angle")}


class Energies(NamedTuple):
    """Kinetic, potential and total energy [J], each (N,)."""

    kinetic: Array
    potential: Array
    total: Array


@dataclass(frozen=True, eq=False)
class Impact:
    """k contacts struck at one time and solved together. Arrays are read-only.

    ``points`` names each contact: the contact point, "a-b" for a pair of points, the joint for a limit; ``walls`` the wall,
    "" for a pair, "lower" or "upper" for a limit. ``positions`` (k, 3) [m] in the world, NaN for limits; ``normals`` (k, 3)
    point to the free side; ``angles_of_attack`` (k,) [rad] lie between the reversed velocity and the normal, 0 is head-on.
    Velocities (k, 3) [m/s] are those of the points relative to the wall, their normal parts (k,) [m/s, rad/s for a revolute
    limit] negative when approaching. ``impulses`` (k,) [N s, N m s for a revolute limit]; ``restitution`` (k,) is what each
    contact was solved with. Energies [J] are kinetic and potential together. ``rounds`` and ``certificate`` are what the
    solver of ``law`` reports of its work and its accuracy; ``energy_gain`` marks a gain that the law does not allow; ``cycle`` the
    inelastic end of a cycle, in which contacts hand each other blows too weak to matter (see ``zeno`` of ``simulate``).
    """

    time: float
    points: tuple[str, ...]
    walls: tuple[str, ...]
    positions: Array
    normals: Array
    angles_of_attack: Array
    velocities_before: Array
    velocities_after: Array
    normal_velocities_before: Array
    normal_velocities_after: Array
    impulses: Array
    restitution: Array
    energy_before: float
    energy_after: float
    q: Array
    v_before: Array
    v_after: Array
    law: str = ""
    rounds: int = 1
    certificate: float = 0.0
    energy_gain: bool = False
    cycle: bool = False

    def __post_init__(self) -> None:
        k = len(self.points)
        if len(self.walls) != k:
            raise ArgumentError(f"{len(self.walls)} walls for {k} points, expected one each")
        for name in VECTORS:
            _put(self, name, (k, 3))
        for name in SCALARS:
            _put(self, name, (k,))
        for name in STATES:
            _put(self, name, (np.size(getattr(self, name)),))
        _set(self, "points", tuple(self.points))
        _set(self, "walls", tuple(self.walls))
        for name in ("time", "energy_before", "energy_after", "certificate"):
            _set(self, name, float(getattr(self, name)))
        _set(self, "rounds", int(self.rounds))
        _set(self, "energy_gain", bool(self.energy_gain))
        _set(self, "cycle", bool(self.cycle))

    @property
    def k(self) -> int:
        """How many contacts were solved together."""
        return len(self.points)

    @property
    def energy_loss(self) -> float:
        """Energy that the impact took away [J]."""
        return self.energy_before - self.energy_after

    def __repr__(self) -> str:
        where = ", ".join(f"{point} on {wall}" if wall else point for point, wall in zip(self.points, self.walls, strict=True))
        return f"<Impact at {self.time:.9g} s: {where}, energy loss {self.energy_loss:.6g} J>"


# Fields of an impact by shape: (k, 3), (k,), one number, (nq,) or (nv,).
VECTORS = ("positions", "normals", "velocities_before", "velocities_after")
SCALARS = ("angles_of_attack", "normal_velocities_before", "normal_velocities_after", "impulses", "restitution")
NUMBERS = ("time", "energy_before", "energy_after", "rounds", "certificate", "energy_gain", "cycle")
STATES = ("q", "v_before", "v_after")
ARRAYS = (*VECTORS, *SCALARS, *STATES)


def made_impact(**fields: Any) -> Impact:
    """An Impact of fields that are known to be right: nothing is checked or copied."""
    impact = Impact.__new__(Impact)
    for name in ARRAYS:
        fields[name].flags.writeable = False
    impact.__dict__.update(fields)
    return impact


@dataclass(frozen=True, eq=False)
class Phase:
    """Lasting contact of a point with a wall from ``start`` to ``end`` [s]; an infinite end: still held when the run ended.

    ``accumulation`` is the time at which an infinite sequence of bounces ends, NaN where there was none.
    """

    point: str
    wall: str
    start: float
    end: float = np.inf
    accumulation: float = np.nan


class PlainSettings(dict[str, Any]):
    """Settings that are plain values already."""


class LazyImpacts(Sequence[Impact]):
    """Impacts that are worked out when they are looked at; behaves like a tuple, and is pickled as one."""

    def __init__(self, count: int, make: Callable[[int], Impact]) -> None:
        self._made: list[Impact | None] = [None] * count
        self._make = make

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> Impact: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Impact, ...]: ...
    def __getitem__(self, index: int | slice) -> Impact | tuple[Impact, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        made = self._made[index]
        if made is None:
            made = self._made[index] = self._make(range(len(self))[index])
        return made

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of ``robot`` in N rows: ``t`` (N,) [s], ``q`` (N, nq) and ``v`` (N, nv). Arrays are read-only and not copied.

    At an impact ``t`` holds its time twice: one row before, one after. ``contact_names`` (nc, "point|wall") and
    ``contact_forces`` (N, nc) [N] tell what lasting contacts carry. ``status`` is "complete", "interrupted" or "failed: ...".
    ``settings`` and ``statistics`` hold plain values: tuples and arrays become lists.

    ``dense`` (N - 1, 7, nq + nv) are the coefficients of the DOP853 interpolant of each segment between rows. Without it states
    between rows come from cubic Hermite polynomials of q, with an error of the fourth order in the segment's length for q
    and of the third for v.
    """

    robot: Robot
    gravity: Array
    t: Array
    q: Array
    v: Array
    contact_names: tuple[str, ...] = ()
    contact_forces: Array = field(default_factory=lambda: np.zeros((0, 0)))
    impacts: Sequence[Impact] = ()
    phases: tuple[Phase, ...] = ()
    status: str = "complete"
    settings: dict[str, Any] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    dense: Array | None = None

    def __post_init__(self) -> None:
        n, nq, nv = np.size(self.t), self.robot.nq, self.robot.nv
        _put(self, "gravity", (3,))
        _put(self, "t", (n,))
        if n == 0 or not np.isfinite(self.t).all() or np.any(np.diff(self.t) < 0.0):
            raise ArgumentError("t must hold at least one time, all finite and none before the last")
        _put(self, "q", (n, nq))
        _put(self, "v", (n, nv))
        names = tuple(self.contact_names)
        _set(self, "contact_names", names)
        if not names and np.size(self.contact_forces) == 0:
            _set(self, "contact_forces", np.zeros((n, 0)))
        _put(self, "contact_forces", (n, len(names)))
        if self.dense is not None:
            _put(self, "dense", (n - 1, DENSE_TERMS, nq + nv))
        _set(self, "phases", tuple(self.phases))
        if not isinstance(self.impacts, LazyImpacts):
            _set(self, "impacts", tuple(self.impacts))
            for impact in self.impacts:
                if (impact.q.size, impact.v_before.size, impact.v_after.size) != (nq, nv, nv):
                    raise ArgumentError(f"{impact!r} is not of this robot, expected nq={nq}, nv={nv}")

        if not isinstance(self.settings, PlainSettings):
            _set(self, "settings", plain(self.settings))
        _set(self, "statistics", plain(self.statistics))

    # states between rows --------------------------------------------------------------------------

    def at(self, times: ArrayLike, side: str = "right") -> tuple[Array, Array]:
        """q (..., nq) and v (..., nv) at times (...) [s]; at an impact "right" is the state after it, "left" the one before."""
        if side not in ("left", "right"):
            raise ArgumentError(f'side={side!r}, expected "left" or "right"')
        times = np.asarray(times, dtype=np.float64)
        first, last = self.t[0], self.t[-1]
        outside = ~((times >= first) & (times <= last))
        if outside.any():
            raise ArgumentError(f"time {times[outside].flat[0]:.9g} s is outside the trajectory, expected {first:.9g} to {last:.9g} s")
        flat = times.ravel()
        after = np.searchsorted(self.t, flat, side="right") - 1
        inside = self.t[after] != flat  # the rest are rows, taken as they stand
        row = after if side == "right" else np.where(inside, after, np.searchsorted(self.t, flat, side="left"))
        q, v = self.q[row], self.v[row]
        if inside.any():
            between = self._hermite if self.dense is None else self._dense
            q[inside], v[inside] = between(after[inside], flat[inside])
        return q.reshape(*times.shape, self.robot.nq), v.reshape(*times.shape, self.robot.nv)

    def __call__(self, times: ArrayLike, side: str = "right") -> tuple[Array, Array]:
        """The same as ``at``."""
        return self.at(times, side)

    def _dense(self, k: NDArray[np.intp], times: Array) -> tuple[Array, Array]:
        """q and v strictly within segments k, from the interpolant (Hairer, Norsett, Wanner: Solving ODEs I, Sect. II.10)."""
        assert self.dense is not None
        s = ((times - self.t[k]) / (self.t[k + 1] - self.t[k]))[:, None]
        y = np.zeros((times.size, self.robot.nq + self.robot.nv))
        for i in range(DENSE_TERMS):
            y += self.dense[k, DENSE_TERMS - 1 - i]
            y *= s if i % 2 == 0 else 1.0 - s
        q, v = y[:, : self.robot.nq] + self.q[k], y[:, self.robot.nq :] + self.v[k]
        _normalise(self.robot, q)
        return q, v

    def _hermite(self, k: NDArray[np.intp], times: Array) -> tuple[Array, Array]:
        """q and v strictly within segments k: the cubic through q and its rate at both ends, and its derivative."""
        h = (self.t[k + 1] - self.t[k])[:, None]
        s = (times - self.t[k])[:, None] / h
        q0, q1 = self.q[k], self.q[k + 1]
        r0, r1 = h * rates(self.robot, q0, self.v[k]), h * rates(self.robot, q1, self.v[k + 1])
        step = q1 - q0
        a, b = 3.0 * step - 2.0 * r0 - r1, r0 + r1 - 2.0 * step
        q, rate = q0 + s * (r0 + s * (a + s * b)), (r0 + s * (2.0 * a + 3.0 * s * b)) / h
        _normalise(self.robot, q, rate)
        return q, _velocities(self.robot, q, rate)

    # energies and tables --------------------------------------------------------------------------

    @cached_property
    def energies(self) -> Energies:
        """Energies of all rows, computed when first asked for."""
        from urdf_gibbs.functions import kinetic_energy, potential_energy

        kinetic = kinetic_energy(self.robot, self.q, self.v)
        potential = potential_energy(self.robot, self.q, gravity=self.gravity)
        return Energies(*(_frozen(energy) for energy in (kinetic, potential, kinetic + potential)))

    def to_dataframe(self) -> Any:
        """A pandas table of the rows: t, q.<coordinate>, v.<velocity>, energy.<kind> and force.<contact>."""
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError("to_dataframe needs pandas: pip install pandas; t, q, v and energies are arrays without it") from None
        columns: dict[str, Array] = {"t": self.t}
        columns |= {f"q.{name}": self.q[:, i] for i, name in enumerate(coordinate_names(self.robot))}
        columns |= {f"v.{name}": self.v[:, i] for i, name in enumerate(self.robot.velocity_names)}
        columns |= {f"energy.{kind}": values for kind, values in self.energies._asdict().items()}
        columns |= {f"force.{name}": self.contact_forces[:, i] for i, name in enumerate(self.contact_names)}
        return pandas.DataFrame(columns)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        kinds: str | Iterable[str] | None = None,
        points: Iterable[str] | None = None,
        theme: str = "light",
        walls: Wall | Iterable[Wall] | None = None,
    ) -> Figure:
        """A Matplotlib figure, also written to ``path`` (.png, .svg, .pdf) where one is given.

        kinds: some of "positions" [m] and "velocities" [m/s] of points, "energies" [J], "impulses" [N s; N m s at limits of revolute
        joints], "snapshots" (configurations at the impacts), "coordinates" [deg, m, deg/s, m/s], "modes" (those of elastic
        links alone) and "forces" [N] of lasting contacts;
        None: those that tell something here. points: names of contact points or links; None: the contact points of the run, the first
        12 that struck something where there are more. theme: "light" or "dark". walls: those to draw in snapshots, instead of those
        of the run; needed for walls that are Python functions only.
        """
        from urdf_gibbs.view.plots import plot

        return plot(self, kinds, points=points, theme=theme, path=path, walls=walls)

    def animate(
        self,
        *,
        frames: int | None = None,
        trails: Sequence[str] | None = None,
        walls: Wall | Iterable[Wall] | None = None,
        package_dirs: Iterable[str | os.PathLike[str]] = (),
        theme: str | None = None,
        title: str = "",
    ) -> View:
        """A page that plays the motion in 3-D: ``.save("run.html")``, ``.open()`` in a browser; shown by notebooks.

        frames: about how many states are kept (every impact is one, exactly; of more than 2,000 some, and the page says so); trails:
        contact points or links whose ways are drawn, None: the points that struck something; walls: as for ``plot``; package_dirs:
        folders of package:// names in the URDF and of other meshes.
        """
        from urdf_gibbs.view.show import animation

        return animation(self, frames=frames, trails=trails, walls=walls, package_dirs=package_dirs, theme=theme, title=title)

    def _repr_html_(self) -> str:
        return self.animate()._repr_html_()

    # files ------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything, the robot included, to one .npz file (the suffix is added where missing); the path written.

        The file appears complete or not at all.
        """
        path = Path(path)
        path = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
        arrays = _arrays(self)
        target = path.resolve()
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            with open(part, "xb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read what ``save`` wrote; the robot comes back with the same fingerprint. ArgumentError where the file is another or damaged.

        Shapes and types are compared before memory is asked for. The file may come from anybody: nothing in it is run, and the package
        folders that it names are searched for meshes, but are not folders that you allow (give them to ``animate`` again).
        """
        path = Path(path)
        if path.suffix != ".npz" and not path.exists():
            path = path.with_name(path.name + ".npz")
        with open(path, "rb") as file:
            try:
                return _trajectory(file)
            except ArgumentError as problem:
                raise ArgumentError(f"{path}: {problem}") from None
            except MemoryError:  # no entry is larger than the file: it is too large for this machine
                raise
            except Exception as problem:  # whatever the bytes of a damaged file make of the readers
                reason = str(problem) or type(problem).__name__
                raise ArgumentError(f"{path}: {reason}; expected a whole file written by Trajectory.save") from problem

    def __len__(self) -> int:
        return self.t.size

    def __repr__(self) -> str:
        span = f"{self.t[0]:.9g} to {self.t[-1]:.9g} s in {len(self)} rows"
        counts = f"{len(self.impacts)} impacts, {len(self.phases)} contact phases"
        return f"<Trajectory of {self.robot.name!r}: {span}, {counts}, {self.status}>"


def made_trajectory(**fields: Any) -> Trajectory:
    """A Trajectory of fields that are known to be right and belong to nobody else: nothing is checked or copied."""
    made = Trajectory.__new__(Trajectory)
    for name in ("gravity", "t", "q", "v", "contact_forces", "dense"):
        if fields[name] is not None:
            fields[name].flags.writeable = False
    made.__dict__.update(fields)
    return made


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """One name for each entry of q: the joint's, with ``.x`` ... ``.qw`` where it has several."""
    names: list[str] = []
    for joint in robot.joints:
        if not joint.is_mimic:
            names += joint.named(COORDINATE_SUFFIXES.get(joint.nq, ()))
    return tuple(names)


def rates(robot: Robot, q: Array, v: Array) -> Array:
    """dq/dt (..., nq) of q (..., nq) that moves with v (..., nv)."""
    out = np.empty_like(q)
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        i, k = joint.iq, joint.iv
        if joint.type == "floating":
            quaternion, spin = q[..., i + 3 : i + 7], v[..., k + 3 : k + 6]
            out[..., i : i + 3] = manifold._rotate(quaternion, v[..., k : k + 3])
            out[..., i + 3 : i + 7] = 0.5 * manifold._multiply(quaternion, np.concatenate([spin, np.zeros_like(spin[..., :1])], axis=-1))
        elif joint.type == "planar":
            c, s = np.cos(q[..., i + 2]), np.sin(q[..., i + 2])
            out[..., i] = c * v[..., k] - s * v[..., k + 1]
            out[..., i + 1] = s * v[..., k] + c * v[..., k + 1]
            out[..., i + 2] = v[..., k + 2]
        else:
            out[..., i : i + joint.nq] = v[..., k : k + joint.nv]
    return out


def _velocities(robot: Robot, q: Array, rate: Array) -> Array:
    """v (..., nv) of q (..., nq) that moves with dq/dt = rate: the inverse of ``rates``."""
    v = np.empty((*q.shape[:-1], robot.nv))
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        i, k = joint.iq, joint.iv
        if joint.type == "floating":
            inverse = q[..., i + 3 : i + 7] * np.array([-1.0, -1.0, -1.0, 1.0])
            v[..., k : k + 3] = manifold._rotate(inverse, rate[..., i : i + 3])
            v[..., k + 3 : k + 6] = 2.0 * manifold._multiply(inverse, rate[..., i + 3 : i + 7])[..., :3]
        elif joint.type == "planar":
            c, s = np.cos(q[..., i + 2]), np.sin(q[..., i + 2])
            v[..., k] = c * rate[..., i] + s * rate[..., i + 1]
            v[..., k + 1] = c * rate[..., i + 1] - s * rate[..., i]
            v[..., k + 2] = rate[..., i + 2]
        else:
            v[..., k : k + joint.nv] = rate[..., i : i + joint.nq]
    return v


def _normalise(robot: Robot, q: Array, *rate: Array) -> None:
    """Make the quaternions in q unit, and the rates fit: what changes only their length is left out by ``_velocities``."""
    for joint in robot.joints:
        if joint.type == "floating":
            own = slice(joint.iq + 3, joint.iq + 7)
            norm = np.linalg.norm(q[..., own], axis=-1, keepdims=True)
            for array in (q, *rate):
                array[..., own] /= norm


def _arrays(trajectory: Trajectory) -> dict[str, Any]:
    """The arrays of a file; "header" is JSON, impacts lie one behind the other."""
    robot, robot_arrays = pack(trajectory.robot)
    impacts, phases = trajectory.impacts, trajectory.phases
    header = {
        "format": FORMAT,
        "version": VERSION,
        "robot": robot,
        "contact_names": trajectory.contact_names,
        "status": trajectory.status,
        "settings": trajectory.settings,
        "statistics": trajectory.statistics,
        "impacts": [[impact.points, impact.walls, impact.law] for impact in impacts],
        "phases": [[phase.point, phase.wall] for phase in phases],
    }
    arrays = {name: getattr(trajectory, name) for name in ("gravity", "t", "q", "v", "contact_forces")}
    if trajectory.dense is not None:
        arrays["dense"] = trajectory.dense
    for name in (*VECTORS, *SCALARS):
        empty = np.zeros((0, 3) if name in VECTORS else 0)
        arrays[f"impacts.{name}"] = np.concatenate([empty, *(getattr(impact, name) for impact in impacts)])
    for name in STATES:
        width = trajectory.robot.nq if name == "q" else trajectory.robot.nv
        arrays[f"impacts.{name}"] = np.reshape([getattr(impact, name) for impact in impacts], (len(impacts), width))
    for name in NUMBERS:
        arrays[f"impacts.{name}"] = np.array([getattr(impact, name) for impact in impacts], dtype=np.float64)
    times = [(phase.start, phase.end, phase.accumulation) for phase in phases]
    arrays["phases.times"] = np.reshape(np.array(times, dtype=np.float64), (len(phases), 3))
    arrays |= {f"robot.{name}": array for name, array in robot_arrays.items()}
    return {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays}


# Shapes of the entries of a file as far as they are known before it is read; () where an entry may be left out.
ROBOT_SHAPES: dict[str, Shape] = {
    "source": (None,),
    "joints": (None, None),
    "placement": (None, 4, 4),
    "mass": (None,),
    "com": (None, 3),
    "inertia": (None, 3, 3),
    "links": (None, 13),
    "base_inertia": (13,),
    "frames": (None, 12),
}
SHAPES: dict[str, Shape] = {
    "header": (None,),
    "gravity": (3,),
    "t": (None,),
    "q": (None, None),
    "v": (None, None),
    "contact_forces": (None, None),
    "dense": (),
    **{f"impacts.{name}": (None, 3) for name in VECTORS},
    **{f"impacts.{name}": (None,) for name in (*SCALARS, *NUMBERS)},
    **{f"impacts.{name}": (None, None) for name in STATES},
    "phases.times": (None, 3),
    **{f"robot.{name}": shape for name, shape in ROBOT_SHAPES.items()},
}


def _trajectory(file: BinaryIO) -> Trajectory:
    """The trajectory of an open file."""
    stored = read_file(file, SHAPES)
    header = read_header(stored["header"], FORMAT, VERSION)
    robot = _robot(header["robot"], stored)
    _check_arrays(stored, header, robot)
    check_points(header["settings"].get("points"), len(robot.joints))
    columns = {name: stored[f"impacts.{name}"] for name in (*VECTORS, *SCALARS, *STATES, *NUMBERS)}
    impacts, start = [], 0
    for i, (points, walls, law) in enumerate(header["impacts"]):
        end = start + len(points)
        own = {name: columns[name][start:end] for name in (*VECTORS, *SCALARS)} | {name: columns[name][i] for name in (*STATES, *NUMBERS)}
        impacts.append(Impact(points=tuple(points), walls=tuple(walls), law=law, **own))
        start = end
    times = stored["phases.times"].tolist()
    return Trajectory(
        robot=robot,
        **{name: stored[name] for name in ("gravity", "t", "q", "v", "contact_forces")},
        contact_names=tuple(header["contact_names"]),
        impacts=tuple(impacts),
        phases=tuple(Phase(*names, *own) for names, own in zip(header["phases"], times, strict=True)),
        status=header["status"],
        settings=header["settings"],
        statistics=header["statistics"],
        dense=stored.get("dense"),
    )


def _robot(values: dict[str, Any], stored: Mapping[str, NDArray[Any]]) -> Robot:
    bodies = len(values["joints"])
    for name in ("joints", "placement", "mass", "com", "inertia"):
        shape = ROBOT_SHAPES[name]
        check_shape(f"robot.{name}", stored[f"robot.{name}"].shape, (bodies, *shape[1:]))
        check_numbers(f"robot.{name}", stored[f"robot.{name}"], "not NaN" if name == "joints" else "finite")
    for name in ("base_inertia", "frames"):
        check_numbers(f"robot.{name}", stored[f"robot.{name}"])
    return unpack(values, {name: stored[f"robot.{name}"] for name in ROBOT_SHAPES})


def _check_arrays(stored: Mapping[str, NDArray[Any]], header: Mapping[str, Any], robot: Robot) -> None:
    """Refuse arrays that do not fit each other, the header or the robot, and times that are none."""
    rows, count, touched = stored["t"].size, len(header["impacts"]), sum(len(points) for points, _, _ in header["impacts"])
    widths = {"q": robot.nq, "v_before": robot.nv, "v_after": robot.nv}
    expected: dict[str, Shape] = {
        "q": (rows, robot.nq),
        "v": (rows, robot.nv),
        "contact_forces": (rows, len(header["contact_names"])),
        **{f"impacts.{name}": (touched, 3) for name in VECTORS},
        **{f"impacts.{name}": (touched,) for name in SCALARS},
        **{f"impacts.{name}": (count, width) for name, width in widths.items()},
        **{f"impacts.{name}": (count,) for name in NUMBERS},
        "phases.times": (len(header["phases"]), 3),
    }
    if "dense" in stored:
        expected["dense"] = (rows - 1, DENSE_TERMS, robot.nq + robot.nv)
    for name, shape in expected.items():
        check_shape(name, stored[name].shape, shape)
    for name in ("gravity", "t", "impacts.time", "impacts.rounds"):
        check_numbers(name, stored[name])
    check_numbers("phases.times", stored["phases.times"][:, 0])
    check_numbers("phases.times", stored["phases.times"][:, 1], "not NaN")
    if not rows:
        refuse("t", "empty", "at least one time")
    for name in ("t", "impacts.time"):
        back = np.flatnonzero(np.diff(stored[name]) < 0.0)
        if back.size:
            i = int(back[0]) + 1
            refuse(f"{name}[{i}]", f"{stored[name][i]} s after {stored[name][i - 1]} s", "times that do not go back")
    within = (stored["impacts.time"] >= stored["t"][0]) & (stored["impacts.time"] <= stored["t"][-1])
    if not within.all():
        i = int(np.flatnonzero(~within)[0])
        refuse(f"impacts.time[{i}]", f"{stored['impacts.time'][i]} s", f"a time of the run, {stored['t'][0]} to {stored['t'][-1]} s")


def _set(record: Any, name: str, value: Any) -> None:
    object.__setattr__(record, name, value)


def _put(record: Any, name: str, shape: tuple[int, ...]) -> None:
    """The field as a read-only array of float64 of this shape."""
    array = np.asarray(getattr(record, name), dtype=np.float64)
    if array.shape != shape:
        raise ArgumentError(f"{type(record).__name__.lower()}.{name} has shape {array.shape}, expected {shape}")
    _set(record, name, _frozen(array))


def _frozen(array: Array) -> Array:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def plain(value: Any) -> Any:
    """The value as JSON has it; what JSON does not know becomes its repr."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else repr(value)
