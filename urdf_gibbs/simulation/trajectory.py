"""What a simulation returns: states in time with their interpolant, impacts, contact phases, and one file to keep them.

States are (q, v) of the robot; points, normals and velocities of impacts are in the world's frame; SI units.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import numbers, path_of
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.names import PlotKind, Side, Theme, UpAxis
from urdf_gibbs.robot import manifold
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.impact_values import Impact, LazyImpacts
from urdf_gibbs.simulation.plain import plain, put_array, read_only, set_field
from urdf_gibbs.simulation.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from urdf_gibbs.sensitivity.values import Sensitivity
    from urdf_gibbs.simulation.description import Description
    from urdf_gibbs.view.show import View
    from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]

__all__ = ["Energies", "Impact", "LazyImpacts", "Phase", "Trajectory", "coordinate_names", "plain", "unchecked_trajectory"]

DENSE_TERMS = 7  # coefficients of the interpolant of DOP853 for each segment and coordinate
COORDINATE_SUFFIXES = {7: ("x", "y", "z", "qx", "qy", "qz", "qw"), 3: ("x", "y", "angle")}


class Energies(NamedTuple):
    """Kinetic, potential and total energy [J], each (N,)."""

    kinetic: Array
    potential: Array
    total: Array


@dataclass(frozen=True, eq=False)
class Phase:
    """Lasting contact of a point with a wall, or how a joint with dry friction moves.

    Attributes:
        point: Name of the contact point, or of the joint.
        wall: Name of the wall; "joint friction" for a joint.
        start: When it begins [s].
        end: When it ends [s], infinite where it still held when the run ended.
        accumulation: The time at which an infinite sequence of bounces ends [s], NaN where there was none.
        mode: "stick" or "slip" of a contact or joint with friction, "" without it.
    """

    point: str
    wall: str
    start: float
    end: float = np.inf
    accumulation: float = np.nan
    mode: str = ""


class PlainSettings(dict[str, Any]):
    """Settings that are plain values already."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion in N rows. Arrays are read-only and not copied. At an impact ``t`` holds its time twice: one row before, one after.

    Attributes:
        robot: What moves.
        gravity: (3,) in the world [m/s^2].
        t: Times (N,) [s].
        q: Coordinates (N, nq).
        v: Velocities (N, nv).
        contact_names: "point|wall" of each of nc contacts that could last.
        contact_forces: What lasting contacts carry along their normals (N, nc) [N].
        friction_forces: What they carry across (N, nc, 3), in the world [N].
        joint_friction: What the dry friction of the joints does (N, nv), generalised forces [N, N m].
        friction_work: Energy that friction in contacts and joints has taken away since the start (N,) [J], impacts apart: where no wall
            moves and no torque acts, it, what impacts have taken and the total energy have a constant sum.
        impacts: All impacts, in the order of time.
        phases: Lasting contacts, and how joints with dry friction move.
        status: "complete", "interrupted" or "failed: ...".
        settings: What was simulated, as plain values: tuples and arrays become lists.
        statistics: What the run took, as plain values.
        dense: Coefficients (N - 1, 7, nq + nv) of the DOP853 interpolant of each segment between rows. Without it, None, states between
            rows come from cubic Hermite polynomials of q, with an error of the fourth order in the segment's length for q and of the
            third for v.
        description: What was simulated, walls and functions included; not kept in files and pickles: None.
    """

    robot: Robot
    gravity: Array
    t: Array
    q: Array
    v: Array
    contact_names: tuple[str, ...] = ()
    contact_forces: Array = field(default_factory=lambda: np.zeros((0, 0)))
    friction_forces: Array = field(default_factory=lambda: np.zeros((0, 0, 3)))
    joint_friction: Array = field(default_factory=lambda: np.zeros((0, 0)))
    friction_work: Array = field(default_factory=lambda: np.zeros(0))
    impacts: Sequence[Impact] = ()
    phases: tuple[Phase, ...] = ()
    status: str = "complete"
    settings: dict[str, Any] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    dense: Array | None = None
    description: Description | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "description": None}  # it may contain functions, which cannot be pickled

    def __post_init__(self) -> None:
        n, nq, nv = np.size(self.t), self.robot.nq, self.robot.nv
        put_array(self, "gravity", (3,))
        put_array(self, "t", (n,))
        if n == 0 or not np.isfinite(self.t).all() or np.any(np.diff(self.t) < 0.0):
            raise ArgumentError("t must hold at least one time, all finite and none before the last")
        put_array(self, "q", (n, nq))
        put_array(self, "v", (n, nv))
        names = tuple(self.contact_names)
        set_field(self, "contact_names", names)
        if not names and np.size(self.contact_forces) == 0:
            set_field(self, "contact_forces", np.zeros((n, 0)))
        put_array(self, "contact_forces", (n, len(names)))
        if np.size(self.friction_forces) == 0:
            set_field(self, "friction_forces", np.zeros((n, len(names), 3)))
        put_array(self, "friction_forces", (n, len(names), 3))
        if not np.any(self.joint_friction):
            set_field(self, "joint_friction", np.zeros((n, nv)))
        put_array(self, "joint_friction", (n, nv))
        if not np.any(self.friction_work):
            set_field(self, "friction_work", np.zeros(n))
        put_array(self, "friction_work", (n,))
        if self.dense is not None:
            put_array(self, "dense", (n - 1, DENSE_TERMS, nq + nv))
        set_field(self, "phases", tuple(self.phases))
        if not isinstance(self.impacts, LazyImpacts):
            set_field(self, "impacts", tuple(self.impacts))
            for impact in self.impacts:
                if (impact.q.size, impact.v_before.size, impact.v_after.size) != (nq, nv, nv):
                    raise ArgumentError(f"{impact!r} is not of this robot, expected nq={nq}, nv={nv}")

        if not isinstance(self.settings, PlainSettings):
            set_field(self, "settings", plain(self.settings))
        set_field(self, "statistics", plain(self.statistics))

    # states between rows --------------------------------------------------------------------------

    def at(self, times: ArrayLike, side: Side = "right") -> tuple[Array, Array]:
        """States at any times of the run.

        Args:
            times: (...) [s], of the run.
            side: Of an impact: "right" is the state after it, "left" the one before.

        Returns:
            q (..., nq) and v (..., nv).

        Raises:
            ArgumentError: A time is none, or outside of the run, or there is no such side.
        """
        if side not in ("left", "right"):
            raise ArgumentError(f'side={side!r}, expected "left" or "right"')
        times = numbers(times, "of seconds (...)", "times")
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

    def __call__(self, times: ArrayLike, side: Side = "right") -> tuple[Array, Array]:
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
        manifold.normalise(self.robot.joints, q)
        return q, v

    def _hermite(self, k: NDArray[np.intp], times: Array) -> tuple[Array, Array]:
        """q and v strictly within segments k: the cubic through q and its rate at both ends, and its derivative."""
        joints, h = self.robot.joints, (self.t[k + 1] - self.t[k])[:, None]
        s = (times - self.t[k])[:, None] / h
        q0, q1 = self.q[k], self.q[k + 1]
        r0, r1 = h * manifold.rates(joints, q0, self.v[k]), h * manifold.rates(joints, q1, self.v[k + 1])
        step = q1 - q0
        a, b = 3.0 * step - 2.0 * r0 - r1, r0 + r1 - 2.0 * step
        q, rate = q0 + s * (r0 + s * (a + s * b)), (r0 + s * (2.0 * a + 3.0 * s * b)) / h
        manifold.normalise(joints, q, rate)
        return q, manifold.velocities(joints, self.robot.nv, q, rate)

    # energies and tables --------------------------------------------------------------------------

    @cached_property
    def energies(self) -> Energies:
        """Energies of all rows, computed when first asked for."""
        from urdf_gibbs.functions import kinetic_energy, potential_energy

        kinetic = np.asarray(kinetic_energy(self.robot, self.q, self.v))
        potential = np.asarray(potential_energy(self.robot, self.q, gravity=self.gravity))
        return Energies(*(read_only(energy) for energy in (kinetic, potential, kinetic + potential)))

    def sensitivity(self, wrt: str | Iterable[str] = "start", until: float | None = None) -> Sensitivity:
        """Derivatives of the states, through flight, impacts, held contacts and their release.

        Args:
            wrt: What to differentiate with respect to, one name or several: "start" ("q" and "v"), "q", "v", "parameters" (10 inertial
                parameters of each body), "restitution" (of each contact that strikes with more than 0) or "torque" (a constant torque).
            until: The last time [s]; None: that of the trajectory.

        Returns:
            d(q, v)/d(columns) at all rows.

        Raises:
            SensitivityError: The motion has no derivative, or none that is covered: where contacts that influence each other close
                together, where one grazes its wall, where bouncing accumulates, with friction, soil, controllers or time stepping. It
                tells the time and has with it what was computed before.
            ArgumentError: An argument is wrong, or the trajectory does not come from ``simulate`` in this process.
        """
        from urdf_gibbs.sensitivity.run import sensitivity

        return sensitivity(self, wrt, until)

    def to_dataframe(self) -> Any:
        """A pandas table of the rows.

        Returns:
            The table, with the columns t, q.<coordinate>, v.<velocity>, energy.<kind>, force.<contact> and, where there is some,
            energy.friction (``friction_work``), friction.<contact>.x, .y and .z in the world, and friction.<joint>.

        Raises:
            MissingExtraError: pandas is not installed; ``t``, ``q``, ``v`` and ``energies`` are arrays without it.
        """
        with extras_named():
            import pandas  # type: ignore[import-untyped, unused-ignore]
        columns: dict[str, Array] = {"t": self.t}
        columns |= {f"q.{name}": self.q[:, i] for i, name in enumerate(coordinate_names(self.robot))}
        columns |= {f"v.{name}": self.v[:, i] for i, name in enumerate(self.robot.velocity_names)}
        columns |= {f"energy.{kind}": values for kind, values in self.energies._asdict().items()}
        columns |= {"energy.friction": self.friction_work} if self.friction_work.any() else {}
        columns |= {f"force.{name}": self.contact_forces[:, i] for i, name in enumerate(self.contact_names)}
        for i, name in enumerate(self.contact_names):
            if self.friction_forces[:, i].any():
                columns |= {f"friction.{name}.{axis}": self.friction_forces[:, i, k] for k, axis in enumerate("xyz")}
        rubbing = zip(self.robot.velocity_names, self.joint_friction.T, strict=True)
        columns |= {f"friction.{name}": values for name, values in rubbing if values.any()}
        return pandas.DataFrame(columns)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        kinds: PlotKind | Iterable[PlotKind] | None = None,
        points: Iterable[str] | None = None,
        theme: Theme = "light",
        walls: Wall | Iterable[Wall] | None = None,
    ) -> Figure:
        """A Matplotlib figure, also written to a file where a path is given.

        Args:
            path: Of a file .png, .svg or .pdf; None: it is not written.
            kinds: Some of "positions" [m] and "velocities" [m/s] of points, "energies" [J], "impulses" [N s; N m s at limits of revolute
                joints], "snapshots" (configurations at the impacts), "coordinates" [deg, m, deg/s, m/s], "modes" (those of elastic
                links alone) and "forces" [N] of lasting contacts; None: those that tell something here.
            points: Names of contact points or links; None: the contact points of the run, of more than 12 first those that struck
                something, and of each body one before the second of another.
            theme: "light" or "dark".
            walls: Those to draw in snapshots, instead of those of the run; needed for walls that are Python functions only.

        Returns:
            The figure.

        Raises:
            ArgumentError: An argument has a wrong type or value.
            UnknownNameError: There is no such kind, point or theme.
            MissingExtraError: The extra ``plot`` is not installed.
        """
        with extras_named():
            from urdf_gibbs.view.plots import plot

            return plot(self, kinds, points=points, theme=theme, path=path, walls=walls)

    def animate(
        self,
        *,
        frames: int | None = None,
        trails: Sequence[str] | None = None,
        walls: Wall | Iterable[Wall] | None = None,
        package_dirs: Iterable[str | os.PathLike[str]] = (),
        theme: Theme | None = None,
        up_axis: UpAxis = "ignore",
        title: str = "",
    ) -> View:
        """A page that plays the motion in 3-D: ``.save("run.html")``, ``.open()`` in a browser; shown by notebooks.

        Args:
            frames: About how many states are kept (every impact is one, exactly; of more than 2,000 some, and the page says so); None: as
                many as the motion needs.
            trails: Names of contact points or links whose ways are drawn; None: the points that struck something.
            walls: Those to draw, instead of those of the run; needed for walls that are Python functions only.
            package_dirs: Folders of ``package://`` names in the URDF and of other meshes.
            theme: "light", "dark", or None: as the browser has it.
            up_axis: Of COLLADA meshes: "ignore", as RViz does, or "file": what the file calls up is turned to z.
            title: Of the page; "": the robot's name.

        Returns:
            The page.

        Raises:
            ArgumentError: An argument has a wrong type or value.
            UnknownNameError: There is no such point or link.
            MissingExtraError: The extra ``view`` is not installed.
        """
        with extras_named():
            from urdf_gibbs.view.show import animation

            return animation(
                self, frames=frames, trails=trails, walls=walls, package_dirs=package_dirs, theme=theme, up_axis=up_axis, title=title
            )

    def _repr_html_(self) -> str:
        return self.animate()._repr_html_()

    # files ------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything, the robot included, to one .npz file, which appears complete or not at all.

        Args:
            path: Of the file; the suffix is added where it is missing.

        Returns:
            The path written.

        Raises:
            ArgumentError: The path is none, or the robot has no source.
            OSError: The file cannot be written.
        """
        path = Path(path_of(path, "path"))
        path = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
        from urdf_gibbs.simulation.archive import arrays_of

        arrays = arrays_of(self)
        with whole_file(path) as file:
            np.savez(file, **arrays)
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read what ``save`` wrote; the robot comes back with the same fingerprint.

        Shapes and types are compared before memory is asked for. The file may come from anybody: nothing in it is run, and the package
        folders that it names are searched for meshes, but are not folders that you allow (give them to ``animate`` again).

        Args:
            path: Of the file, with or without its suffix.

        Returns:
            The trajectory.

        Raises:
            ArgumentError: The path is none, or the file is another or damaged.
            OSError: The file cannot be read.
        """
        from urdf_gibbs.simulation.archive import read_trajectory

        path = Path(path_of(path, "path"))
        if path.suffix != ".npz" and not path.exists():
            path = path.with_name(path.name + ".npz")
        with open(path, "rb") as file:
            try:
                return read_trajectory(file)
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


def unchecked_trajectory(**fields: Any) -> Trajectory:
    """A Trajectory from fields that are known to be valid and not shared: nothing is checked or copied."""
    trajectory = Trajectory.__new__(Trajectory)
    for name in ("gravity", "t", "q", "v", "contact_forces", "friction_forces", "joint_friction", "friction_work", "dense"):
        if fields[name] is not None:
            fields[name].flags.writeable = False
    trajectory.__dict__.update(fields)
    return trajectory


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """One name for each entry of q: the joint's, with ``.x`` ... ``.qw`` where it has several."""
    names: list[str] = []
    for joint in robot.joints:
        if not joint.is_mimic:
            names += joint.named(COORDINATE_SUFFIXES.get(joint.nq, ()))
    return tuple(names)
