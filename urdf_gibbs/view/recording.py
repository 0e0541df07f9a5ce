"""A trajectory as frames for the page: fewer states than the integrator took, every impact exactly, energies, trails, moving walls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.functions import kinetic_energy, potential_energy
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Impact, Trajectory
from urdf_gibbs.view.contacts import chosen_points, contacts_of, struck_points
from urdf_gibbs.view.elastic import strain_energy
from urdf_gibbs.view.html import packed
from urdf_gibbs.view.motion import positions

Array = NDArray[np.float64]

RATE = 120.0  # frames for a second of motion,
FLEXIBLE_RATE = 2000.0  # where links are elastic: they swing some hundred times in a second
FEWEST, MOST = 600, 4000  # both within these
LOOKED_AT = 1000  # impacts, for points that have trails


def frame_times(trajectory: Trajectory, frames: int | None = None) -> Array:
    """Even times, and those of all impacts and of the ends of lasting contacts."""
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if frames is None:
        rate = FLEXIBLE_RATE if trajectory.robot.is_flexible else RATE
        frames = int(np.clip(rate * (last - first), FEWEST, MOST))
    marks = [impact.time for impact in trajectory.impacts]
    marks += [time for phase in trajectory.phases for time in (phase.start, phase.end) if np.isfinite(time)]
    even = np.linspace(first, last, max(frames, 2))
    return np.unique(np.clip(np.concatenate([even, marks]), first, last))


def recording(trajectory: Trajectory, times: Array, trails: Sequence[str] | None = None) -> dict[str, Any]:
    """The motion at these times, for the page. ``trails`` names contact points or links; None: the points that struck something."""
    robot = trajectory.robot
    q, v = trajectory.at(times)
    contacts = contacts_of(robot, trajectory.settings)
    struck = trajectory.impacts[:LOOKED_AT]
    points = struck_points(contacts, struck) if trails is None else chosen_points(robot, contacts, trails, ())[0]
    ways = positions(robot, [point.place for point in points], q)
    return {
        "t": packed(times),
        "q": packed(q),
        "impacts": [_impact(robot, impact) for impact in trajectory.impacts],
        "energies": _energies(trajectory, times, q, v),
        "trails": [{"name": point.name, "positions": packed(ways[:, i])} for i, point in enumerate(points)],
        "status": trajectory.status,
    }


def _energies(trajectory: Trajectory, times: Array, q: Array, v: Array) -> dict[str, Any]:
    """Energies at the frames, with both sides of each impact."""
    at_impacts = np.unique([impact.time for impact in trajectory.impacts])
    q_before, v_before = trajectory.at(at_impacts, side="left")
    t = np.concatenate([at_impacts, times])
    order = np.argsort(t, kind="stable")  # the side before comes first
    q, v = np.concatenate([q_before, q])[order], np.concatenate([v_before, v])[order]
    kinetic = kinetic_energy(trajectory.robot, q, v)
    potential = potential_energy(trajectory.robot, q, gravity=trajectory.gravity)
    series = {"t": t[order], "kinetic": kinetic, "potential": potential, "total": kinetic + potential}
    if trajectory.robot.is_flexible:
        strain = strain_energy(trajectory.robot, q)
        series |= {"gravity": potential - strain, "strain": strain}
    return {name: packed(values) for name, values in series.items()}


def _impact(robot: Robot, impact: Impact) -> dict[str, Any]:
    """An impact; a limit has no position."""
    known = [bool(np.isfinite(x).all()) for x in impact.positions]
    return {
        "t": impact.time,
        "points": list(impact.points),
        "walls": list(impact.walls),
        "positions": [x if ok else None for x, ok in zip(impact.positions.tolist(), known, strict=True)],
        "normals": [x if ok else None for x, ok in zip(np.nan_to_num(impact.normals).tolist(), known, strict=True)],
        "impulses": np.nan_to_num(impact.impulses).tolist(),
        "units": [_unit(robot, point, ok) for point, ok in zip(impact.points, known, strict=True)],
    }


def _unit(robot: Robot, point: str, placed: bool) -> str:
    """Of an impulse: a contact's, or that of the limit of a joint."""
    turns = not placed and any(joint.name == point and joint.type != "prismatic" for joint in robot.joints)
    return "N m s" if turns else "N s"
