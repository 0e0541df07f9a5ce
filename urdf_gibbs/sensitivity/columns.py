"""What a motion is differentiated with respect to: the columns of a sensitivity and their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Trajectory

START, Q, V, PARAMETERS, RESTITUTION, TORQUE = WRT = ("start", "q", "v", "parameters", "restitution", "torque")
PARAMETER_NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")  # order of the regressors


@dataclass(frozen=True)
class Columns:
    """The names of all columns, and which of them belong to "q", "v", "parameters", "restitution" and "torque".

    ``struck`` are the contacts ("point|wall") of the columns of restitution.
    """

    names: tuple[str, ...]
    places: dict[str, slice]
    struck: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.names)

    def first(self, group: str) -> int:
        """The first column of a group, -1 where there is none."""
        return self.places[group].start if group in self.places else -1


def columns_of(trajectory: Trajectory, wrt: str | Iterable[str]) -> Columns:
    """The columns for ``wrt``; ArgumentError where it names nothing, or something twice."""
    robot, struck = trajectory.robot, _struck(trajectory)
    groups = _groups(wrt)
    places: dict[str, slice] = {}
    names: list[str] = []
    for group in groups:
        own = _names(robot, struck, group)
        places[group] = slice(len(names), len(names) + len(own))
        names += own
    return Columns(tuple(names), places, struck)


def _groups(wrt: str | Iterable[str]) -> list[str]:
    asked = [wrt] if isinstance(wrt, str) else list(wrt)
    groups: list[str] = []
    for one in asked:
        if one not in WRT:
            raise UnknownNameError("quantity to differentiate with respect to", str(one), WRT)
        groups += [Q, V] if one == START else [one]
    if not groups or len(set(groups)) != len(groups):
        raise ArgumentError(f"wrt={wrt!r}, expected each of {', '.join(WRT)} at most once, and at least one; start is q and v")
    return groups


def _struck(trajectory: Trajectory) -> tuple[str, ...]:
    """The contacts of all impacts that had restitution, in the order of ``contact_names``: without any it can only grow."""
    found = {
        contact_name(point, wall)
        for impact in trajectory.impacts
        for point, wall, e in zip(impact.points, impact.walls, impact.restitution, strict=True)
        if e > 0.0
    }
    return tuple(name for name in trajectory.contact_names if name in found)


def contact_name(point: str, wall: str) -> str:
    """As in ``Trajectory.contact_names``."""
    return f"{point}|{wall}" if wall else point


def _names(robot: Robot, struck: tuple[str, ...], group: str) -> list[str]:
    if group == RESTITUTION:
        return [f"restitution.{name}" for name in struck]
    if group == PARAMETERS:
        return [f"{name}.{joint.name}" for joint in robot.joints for name in PARAMETER_NAMES]
    return [f"{group}.{name}" for name in robot.velocity_names]
