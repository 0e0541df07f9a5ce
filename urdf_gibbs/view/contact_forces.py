"""Forces of lasting contacts at the frames of a page: where they act, how large they are, and whether the contact sticks or slips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.contacts import Contact, contacts_of
from urdf_gibbs.view.html import packed
from urdf_gibbs.view.motion import positions
from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]

MOST_CONTACTS = 12  # the strongest of a run
MODES = ("free", "held", "stick", "slip")  # their numbers in a record; held: without friction


def _to_rim(robot: Robot, contact: Contact, q: Array, centre: Array, normal: Array) -> Array:
    """From the centres (n, 3) of a rim to its points that look at the wall, whose normals (n, 3) are those nearest to the centres."""
    if contact.rim == 0.0:
        return np.zeros_like(centre)
    body, place = contact.place
    axis = positions(robot, [(body, tuple(np.add(place, contact.axis)))], q)[:, 0] - centre
    arm = np.einsum("ij,ij->i", normal, axis)[:, None] * axis - normal
    return np.asarray(contact.rim * arm / np.maximum(np.linalg.norm(arm, axis=1), 1e-12)[:, None])


def lasting_forces(trajectory: Trajectory, times: Array, q: Array, walls: Mapping[str, Wall]) -> list[dict[str, Any]]:
    """The forces of the contacts of points with these walls that carry most, at the times (n,) with coordinates q (n, nq).

    Of each: its name, the place (n, 3) [m] where it touches, the force (n, 3) [N] on the robot, normal and tangential, and its mode (n,),
    a number in MODES. A wall's surfaces ("box.+x") go by the name of the wall.
    """
    known = {contact.name: contact for contact in contacts_of(trajectory.robot, trajectory.settings)}
    largest = np.nan_to_num(trajectory.contact_forces).max(axis=0, initial=0.0)
    made: list[dict[str, Any]] = []
    for k in np.argsort(-largest, kind="stable"):
        point, _, surface = trajectory.contact_names[k].partition("|")
        wall = walls.get(surface) or walls.get(surface.rpartition(".")[0])
        if not largest[k] > 0.0 or wall is None or point not in known or len(made) == MOST_CONTACTS:
            continue
        mode = np.zeros(len(times))
        for phase in trajectory.phases:
            if (phase.point, phase.wall) == (point, surface):
                mode[(times >= phase.start) & (times < phase.end)] = MODES.index(phase.mode or "held")
        centre = positions(trajectory.robot, [known[point].place], q)[:, 0]
        normal = np.nan_to_num(wall.normal(centre, times))
        across = np.array([np.interp(times, trajectory.t, trajectory.friction_forces[:, k, i]) for i in range(3)]).T
        force = np.interp(times, trajectory.t, trajectory.contact_forces[:, k])[:, None] * normal + across
        force[mode == 0] = 0.0
        place = centre - known[point].radius * normal + _to_rim(trajectory.robot, known[point], q, centre, normal)
        made.append({"name": trajectory.contact_names[k], "place": packed(place), "force": packed(force), "mode": packed(mode)})
    return made
