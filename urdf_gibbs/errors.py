"""Exceptions and warnings of the package: one base class, children that carry their data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from urdf_gibbs.robot.findings import Finding
    from urdf_gibbs.sensitivity.values import Sensitivity
    from urdf_gibbs.shooting.result import Shot
    from urdf_gibbs.simulation.trajectory import Trajectory


class UrdfGibbsError(Exception):
    """Base of every exception raised on purpose by urdf_gibbs."""


class UrdfError(UrdfGibbsError, ValueError):
    """A URDF that cannot be loaded; ``findings`` holds every error found, not just the first."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))


class ArgumentError(UrdfGibbsError, ValueError):
    """An argument of wrong type, shape or value; the message has its name, what was given and what was expected."""


class NotVariableError(ArgumentError):
    """``what`` cannot be part of many compiled runs, because it ``reason``; a Simulator of its own for each run can do it."""

    def __init__(self, what: str, reason: str) -> None:
        self.what, self.reason = what, reason
        super().__init__(f"{what} {reason}: many compiled runs cannot have it; expected a Simulator for each run")


class PairError(ArgumentError):
    """Two points ``names`` that cannot be a pair: ``found`` tells what they are, ``expected`` what a pair is."""

    def __init__(self, names: tuple[str, str], found: str, expected: str) -> None:
        self.names, self.expected = names, expected
        self.found = f"pair ({names[0]!r}, {names[1]!r}): {found}"
        super().__init__(f"{self.found}, expected {expected}")


class UnknownNameError(ArgumentError, KeyError):
    """A link, joint, method or model that does not exist; the message lists what does."""

    def __init__(self, kind: str, name: str, known: Sequence[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        listed = ", ".join(self.known[:20]) + (", ..." if len(self.known) > 20 else "")
        self.message = f"no {kind} named {name!r}; known: {listed or 'none'}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class SingularMassMatrixError(UrdfGibbsError, ArithmeticError):
    """Forward dynamics does not exist: some motion of ``joints`` carries no inertia.

    ``states`` are the indices (into the flattened batch) where it happens; () for a single state.
    """

    def __init__(self, joints: Sequence[str], states: Sequence[int] = ()) -> None:
        self.joints, self.states = tuple(joints), tuple(states)
        where = f" (states {', '.join(map(str, self.states[:10]))})" if self.states else ""
        super().__init__(
            f"the mass matrix is singular{where}: moving {', '.join(self.joints)} meets no inertia; "
            "give the links they carry a mass and an inertia, or make the joints fixed"
        )


class PenetrationError(UrdfGibbsError, ValueError):
    """A simulation would start inside a wall; ``contacts`` has (point, wall, depth [m]) for each contact that does."""

    def __init__(self, contacts: Sequence[tuple[str, str, float]]) -> None:
        self.contacts = tuple(contacts)
        listed = "; ".join(f"{point} is {depth:.6g} m inside {wall or 'each other'}" for point, wall, depth in self.contacts[:10])
        more = f"; and {len(self.contacts) - 10} more" if len(self.contacts) > 10 else ""
        super().__init__(f"the robot starts in contact that is too deep: {listed}{more}")


class SimulationError(UrdfGibbsError, RuntimeError):
    """A simulation that cannot go on, at ``time`` [s] in the state ``q`` (nq,), ``v`` (nv,); ``trajectory`` is what was computed."""

    def __init__(self, reason: str, time: float, q: NDArray[Any], v: NDArray[Any], trajectory: Trajectory) -> None:
        self.reason, self.time, self.q, self.v, self.trajectory = reason, time, q, v, trajectory
        super().__init__(f"the simulation stopped at t = {time:.9g} s: {reason} (q = {_short(q)}, v = {_short(v)})")


def _short(values: NDArray[Any]) -> str:
    listed = ", ".join(f"{value:.6g}" for value in values[:12])
    return f"[{listed}{', ...' if len(values) > 12 else ''}]"


class SensitivityError(UrdfGibbsError, ArithmeticError):
    """A motion has no derivative at ``time`` [s], or none that is covered: ``reason``, and the ``contacts`` ("point|wall") that matter.

    ``spread`` tells how far apart outcomes are that belong to motions as near as you like: of contacts that close together the largest
    difference of a velocity after the impact over the orders in which they may close [rad/s, m/s], of a contact that grazes the distance
    by which it would miss a wall farther away [m]; NaN where it does not matter. ``sensitivity`` is what was computed before that time,
    None where nothing was.
    """

    def __init__(self, reason: str, time: float, contacts: Sequence[str], spread: float, sensitivity: Sensitivity | None) -> None:
        self.reason, self.time, self.contacts, self.spread, self.sensitivity = reason, time, tuple(contacts), spread, sensitivity
        listed = f" ({', '.join(self.contacts[:12])}{', ...' if len(self.contacts) > 12 else ''})" if self.contacts else ""
        super().__init__(f"the motion has no derivative here from t = {time:.9g} s on: {reason}{listed}")


class ShootingError(UrdfGibbsError, ArithmeticError):
    """No start or torque was found with which an impact is as it should be: ``reason``; ``shot`` is what came nearest, which misses."""

    def __init__(self, reason: str, shot: Shot) -> None:
        self.reason, self.shot = reason, shot
        super().__init__(f"the shot misses by {shot.distance:.3g} after {len(shot.attempts) - 1} steps: {reason}")


class SweepError(UrdfGibbsError, RuntimeError):
    """A sweep that could not go on: ``reason``. ``done`` of ``chunks`` files are whole and kept; the same call does the rest."""

    def __init__(self, reason: str, done: int, chunks: int) -> None:
        self.reason, self.done, self.chunks = reason, done, chunks
        super().__init__(f"{reason}; {done} of {chunks} files of rows are whole and kept, the same sweep once more does the rest")


class MissingExtraError(UrdfGibbsError, ImportError):
    """Something needs ``package``, which the core does not bring; the ``extra`` of the distribution does."""

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        everything = "" if extra in ("dask", "jax", "mjcf", "sdf", "torch", "validation") else " (or 'urdf-gibbs[all]')"
        super().__init__(f"this needs {package}, which is not installed: pip install 'urdf-gibbs[{extra}]'{everything}")


class OracleMissingError(UrdfGibbsError, ImportError):
    """Pinocchio is asked for and not installed."""

    def __init__(self) -> None:
        super().__init__(
            "the oracle needs Pinocchio: pip install 'urdf-gibbs[oracle]' (Linux, macOS) or conda install pinocchio (all platforms); "
            "everything but validation works without it"
        )


class UrdfWarning(UserWarning):
    """A URDF that loads but deserves a look; ``urdf-gibbs check`` prints the findings one by one."""


class DriverError(UrdfGibbsError):
    """The compiled driver of simulations is not there and cannot be made."""
