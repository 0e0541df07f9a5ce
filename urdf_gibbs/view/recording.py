"""A trajectory as frames for the page: fewer states than the integrator took, every impact exactly, energies, trails, moving walls.

What a page holds is bounded, however long the run: about MOST frames, one for each of at most MOST_IMPACTS impacts and of the ends of
MOST_PHASES lasting contacts, and fewer where the robot has so many coordinates that all frames would hold more than MOST_NUMBERS
(32 MB of doubles before they are deflated). Each impact has at most MOST_CONTACTS contacts, so that all take 8 MB. A page of some
dozen coordinates stays below 10 MB, meshes apart. ``drawn_impacts`` chooses, and the page says how many of how many it shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.functions import kinetic_energy, potential_energy
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Impact, Trajectory
from urdf_gibbs.view.contact_forces import lasting_forces
from urdf_gibbs.view.contacts import chosen_points, contacts_of, struck_points
from urdf_gibbs.view.elastic import strain_energy
from urdf_gibbs.view.html import packed
from urdf_gibbs.view.motion import positions as places_of
from urdf_gibbs.view.motion import spread
from urdf_gibbs.view.soil_frames import SoilFrames
from urdf_gibbs.view.tracks import tracks
from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]

RATE = 120.0  # frames for a second of motion,
FLEXIBLE_RATE = 2000.0  # where links are elastic: they swing some hundred times in a second
FEWEST, MOST = 600, 4000  # both within these
MOST_ASKED = 50_000  # frames that a user may ask for
MOST_IMPACTS = 2000  # that a page shows,
MOST_CONTACTS = 20  # the strongest of each
MOST_PHASES = 500  # lasting contacts whose ends are frames
MOST_NUMBERS = 4_000_000  # coordinates in all frames
STILL = 1e-6  # of the fastest contact of an impact: a slower one touched before
LOOKED_AT = 1000  # impacts, for points that have trails


def drawn_impacts(trajectory: Trajectory) -> list[int]:
    """The numbers of the impacts that a page shows: all, or of many the first, the last, and others even in order and in time."""
    count, most = len(trajectory.impacts), _most_frames(trajectory.robot, MOST_IMPACTS)
    if count <= most:
        return list(range(count))
    chosen = [spread(np.arange(count, dtype=np.float64), most // 2).astype(np.intp)]
    # A run that chatters has nearly all of its impacts in one place. Each has a time that stands twice, so none has to be constructed.
    times = trajectory.t[1:][np.diff(trajectory.t) == 0.0]
    if len(times) == count:
        even = np.linspace(times[0], times[-1], most - most // 2)
        chosen.append(np.minimum(np.searchsorted(times, even), count - 1))
    kept = np.unique(np.concatenate(chosen))
    rest = np.setdiff1d(np.arange(count), kept)
    return [int(i) for i in np.union1d(kept, spread(rest.astype(np.float64), most - len(kept)))]


def _most_frames(robot: Robot, most: int) -> int:
    """``most``, or fewer of a robot with very many coordinates."""
    return max(min(most, MOST_NUMBERS // (3 * max(robot.nq, 1))), 2)


def most_asked(robot: Robot) -> int:
    """How many frames a user may ask for."""
    return max(min(MOST_ASKED, MOST_NUMBERS // max(robot.nq, 1)), 2)


def frame_times(trajectory: Trajectory, frames: int | None = None, drawn: Sequence[int] | None = None) -> Array:
    """Even times, and those of the impacts ``drawn`` (None: drawn_impacts) and of the ends of lasting contacts."""
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if frames is None:
        rate = FLEXIBLE_RATE if trajectory.robot.is_flexible else RATE
        frames = _most_frames(trajectory.robot, int(np.clip(rate * (last - first), FEWEST, MOST)))
    marks = [trajectory.impacts[i].time for i in (drawn_impacts(trajectory) if drawn is None else drawn)]
    phases = spread(np.arange(len(trajectory.phases), dtype=np.float64), _most_frames(trajectory.robot, MOST_PHASES)).astype(np.intp)
    held = [trajectory.phases[i] for i in phases]
    marks += [time for phase in held for time in (phase.start, phase.end) if np.isfinite(time)]
    even = np.linspace(first, last, max(frames, 2))
    return np.unique(np.clip(np.concatenate([even, marks]), first, last))


def recording(
    trajectory: Trajectory,
    times: Array,
    trails: Sequence[str] | None = None,
    drawn: Sequence[int] | None = None,
    walls: Mapping[str, Wall] | None = None,
) -> dict[str, Any]:
    """The motion at these times, for the page. ``trails`` names contact points or links; None: the points that struck something.

    drawn: the numbers of the impacts that it shows; None: drawn_impacts. walls: by name; forces of lasting contacts with others, and all
    where it is None, are left out.
    """
    robot = trajectory.robot
    turning = {joint.name for joint in robot.joints if joint.type != "prismatic"}
    shown = [trajectory.impacts[i] for i in (drawn_impacts(trajectory) if drawn is None else drawn)]
    q, v = trajectory.at(times)
    contacts = contacts_of(robot, trajectory.settings)
    struck = trajectory.impacts[:LOOKED_AT]
    points = struck_points(contacts, struck) if trails is None else chosen_points(robot, contacts, trails, ())[0]
    ways = places_of(robot, [point.place for point in points], q)
    soil = SoilFrames(trajectory, times, walls or {})
    return {
        "t": packed(times),
        "q": packed(q),
        "impacts": [_impact(impact, turning) for impact in shown],
        "all_impacts": len(trajectory.impacts),
        "energies": _energies(trajectory, times, q, v, shown),
        "forces": lasting_forces(trajectory, times, q, walls or {}) + soil.forces(),
        "tracks": tracks(trajectory, times, walls or {}) + soil.tracks(),
        "trails": [{"name": point.name, "positions": packed(ways[:, i])} for i, point in enumerate(points)],
        "status": trajectory.status,
    }


def _energies(trajectory: Trajectory, times: Array, q: Array, v: Array, impacts: Sequence[Impact]) -> dict[str, Any]:
    """Energies at the frames, with both sides of each of these impacts."""
    at_impacts = np.unique([impact.time for impact in impacts])
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


def _impact(impact: Impact, turning: set[str]) -> dict[str, Any]:
    """An impact, of many contacts the strongest; a limit has no position. ``turning`` are joints whose limits give N m s.

    A contact is held if it does not approach: what lasts takes part in every impact.
    """
    impulses, speeds = np.nan_to_num(impact.impulses), np.nan_to_num(impact.normal_velocities_before)
    held = speeds > -STILL * np.abs(speeds).max(initial=0.0)
    own = np.sort(np.lexsort((-np.abs(impulses), held))[:MOST_CONTACTS])
    points = [impact.points[i] for i in own]
    positions = impact.positions[own]
    known = [bool(np.isfinite(x).all()) for x in positions]
    return {
        "t": impact.time,
        "points": points,
        "walls": [impact.walls[i] for i in own],
        "positions": [x if ok else None for x, ok in zip(positions.tolist(), known, strict=True)],
        "normals": [x if ok else None for x, ok in zip(np.nan_to_num(impact.normals[own]).tolist(), known, strict=True)],
        "impulses": impulses[own].tolist(),
        "tangential": np.nan_to_num(impact.tangential_impulses[own]).tolist() if impact.tangential_impulses.any() else None,
        "units": ["N s" if ok or point not in turning else "N m s" for point, ok in zip(points, known, strict=True)],
        "held": held[own].tolist(),
        "speeds": speeds[own].tolist(),
        "left_out": impact.k - len(own),
    }
