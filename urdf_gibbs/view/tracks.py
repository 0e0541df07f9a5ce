"""Tracks that wheels leave on the ground, for the page, and the slip of the wheels.

The slip of a rim that touches is (w - u) / max(|w|, |u|): u is how fast its middle moves along the ground, w how fast its tread goes the
other way, R ω, both counted in the direction of the faster one; 0: it rolls, 1: it spins on the spot, -1: it is dragged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.contacts import Contact, contacts_of
from urdf_gibbs.view.html import packed
from urdf_gibbs.view.motion import moved_points
from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]

AT_REST = 1e-3  # m/s: slower, the slip says nothing and is 0
NARROW = 0.15  # of the radius: half the width of the track of a wheel with one rim
ROUND = 0.7  # of the radius with which a tyre's edges are round: what it presses into the ground at each side
LIFT = 0.01  # of the radius, above the ground


def wheels_of_run(trajectory: Trajectory) -> dict[int, list[Contact]]:
    """The rims of a run by the bodies that carry them."""
    wheels: dict[int, list[Contact]] = {}
    for contact in contacts_of(trajectory.robot, trajectory.settings):
        if contact.rim > 0.0:
            wheels.setdefault(contact.place[0], []).append(contact)
    return wheels


class WheelMotion:
    """Of one wheel, of which the first of several rims that is as large as any counts, at times (n,).

    ``centre`` (n, 3) [m], ``axle`` (n, 3), ``normal`` (n, 3) of the wall, ``down`` (n, 3) from the centre to the tread,
    ``slip`` (n,).
    """

    def __init__(self, trajectory: Trajectory, rims: list[Contact], wall: Wall, times: Array) -> None:
        middle = np.mean([rim.place[1] for rim in rims], axis=0)
        self.radius = max(rim.rim + rim.radius for rim in rims)
        body, axis = rims[0].place[0], np.array(rims[0].axis)
        q, v = trajectory.at(times)
        x, u = moved_points(trajectory.robot, [(body, tuple(middle)), (body, tuple(middle + axis))], q, v)
        self.centre, self.axle = x[:, 0], x[:, 1] - x[:, 0]
        self.normal = np.nan_to_num(wall.normal(self.centre, times))
        along = np.cross(self.axle, self.normal)  # the way in which the wheel rolls
        along /= np.maximum(np.linalg.norm(along, axis=1), 1e-12)[:, None]
        self.down = np.cross(self.axle, along)
        spin = _spin(trajectory, body, axis, q, v)
        rolled, moved = self.radius * spin, np.einsum("ij,ij->i", u[:, 0], along)
        faster, way = np.maximum(np.abs(rolled), np.abs(moved)), np.sign(np.where(np.abs(rolled) > np.abs(moved), rolled, moved))
        self.slip = np.where(faster > AT_REST, way * (rolled - moved) / np.maximum(faster, AT_REST), 0.0)
        apart = 0.5 * float(np.ptp([np.dot(rim.place[1], axis) for rim in rims]))
        self.width = max(NARROW * self.radius, apart + ROUND * max(rim.radius for rim in rims))


def _spin(trajectory: Trajectory, body: int, axis: Array, q: Array, v: Array) -> Array:
    """The angular velocity (n,) of a body about an axis that is fixed to it: of a point of its rim, across to the axis."""
    first = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first -= axis * (axis @ first)
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    x, u = moved_points(trajectory.robot, [(body, (0.0, 0.0, 0.0)), (body, tuple(first)), (body, tuple(second))], q, v)
    return np.asarray(np.einsum("ij,ij->i", u[:, 1] - u[:, 0], x[:, 2] - x[:, 0]))


def slips(trajectory: Trajectory, wall: Wall, times: Array) -> dict[str, Array]:
    """The slip (n,) at times (n,) of each wheel on a wall, by the name of the wheel's link, whether it touches or not."""
    links = {joint.child: body for body, joint in enumerate(trajectory.robot.joints)}
    bodies = {body: link for link, body in links.items()}
    return {bodies[body]: WheelMotion(trajectory, rims, wall, times).slip for body, rims in wheels_of_run(trajectory).items()}


def tracks(trajectory: Trajectory, times: Array, walls: Mapping[str, Wall]) -> list[dict[str, Any]]:
    """For each wheel that touches a wall: both edges (n, 2, 3) [m] of its track at the times (n,), where it touches (n,), its slip (n,)."""
    made: list[dict[str, Any]] = []
    names = list(trajectory.contact_names)
    for rims in wheels_of_run(trajectory).values():
        own = {rim.name for rim in rims}
        for surface, wall in walls.items():
            columns = [k for k, contact in enumerate(names) if contact.partition("|")[0] in own and contact.partition("|")[2] == surface]
            if not columns:
                continue
            force = trajectory.contact_forces[:, columns].sum(axis=1)
            touches = np.interp(times, trajectory.t, np.nan_to_num(force)) > 0.0
            if not touches.any():
                continue
            wheel = WheelMotion(trajectory, rims, wall, times)
            place = wheel.centre + wheel.radius * wheel.down + LIFT * wheel.radius * wheel.normal
            edges = np.stack([place + side * wheel.width * wheel.axle for side in (-1.0, 1.0)], axis=1)
            made.append(
                {"name": rims[0].name.partition(".")[0], "edges": packed(edges), "touches": packed(touches), "slip": packed(wheel.slip)}
            )
    return made
