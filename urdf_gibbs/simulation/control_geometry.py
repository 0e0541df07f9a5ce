"""Steered wheels on a floating base: where they are, and Ackermann's geometry: the angles and speeds with which none of them slips.

Axes of the body that the floating base moves: x forwards, y to the left, z up, at q = 0 with all joints at zero. The body turns with the
curvature κ [1/m] (to the left where κ > 0) about the point (x_c, 1/κ), x_c being that of the wheels that are not steered on the way: a
point (x, y) of the body moves with v (1 - κ y, κ (x - x_c)), v being the speed at (x_c, 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]

ALONG = 1e-6  # how far from z an axis of steering may be, and an axle from y


@dataclass(frozen=True, eq=False)
class Wheels:
    """n steered wheels in the body's axes, with the entries of their joints in q and v.

    Attributes:
        pivot: (n, 2) where the axes of steering stand [m].
        offset: (n,) of the wheels' middles from these, to the left [m].
        radius: (n,) [m].
        steering: (n, 2) entries of the direction joints in q and v.
        spin: (n, 2) entries of the wheels' joints in q and v.
        middle: x_c [m].
    """

    pivot: Array
    offset: Array
    radius: Array
    steering: NDArray[np.int64]
    spin: NDArray[np.int64]
    middle: float

    def angles(self, curvature: float) -> Array:
        """(n,) [rad]: each wheel across to its line from the centre of the turn."""
        x, y = self.pivot.T
        return np.arctan2(curvature * (x - self.middle), 1.0 - curvature * y)

    def curvature(self, wheel: int, angle: float) -> float:
        """κ [1/m] of the turn for which one wheel has this angle [rad]."""
        x, y = self.pivot[wheel]
        return float(np.tan(angle) / (x - self.middle + y * np.tan(angle)))

    def rolling(self, velocity: Array, angle: Array, rate: Array) -> Array:
        """(n,) [m/s]: how fast the wheels' middles move along their headings.

        velocity: (3,) of the body: at its origin along x and y [m/s], and about z [rad/s]. angle, rate: (n,) of steering [rad, rad/s].
        """
        vx, vy, turn = velocity
        sine, cosine, across = np.sin(angle), np.cos(angle), self.offset
        x = self.pivot[:, 0] - across * sine
        y = self.pivot[:, 1] + across * cosine
        return np.asarray((vx - turn * y) * cosine + (vy + turn * x) * sine - rate * across)


def wheels_of(robot: Robot, steering: Sequence[str], spin: Sequence[str]) -> Wheels:
    """The wheels of pairs of joints, direction and spin; ArgumentError where they are none."""
    if not robot.joints or robot.joints[0].type != "floating":
        raise ArgumentError("the controller drives a robot on wheels; expected base = 'floating'")
    if len(steering) != len(spin) or len(steering) < 2:
        raise ArgumentError(f"{len(steering)} joints of steering and {len(spin)} of wheels; expected pairs of them, two or more")
    bodies = {joint.name: body for body, joint in enumerate(robot.joints) if not joint.is_mimic}
    placed = np.asarray(kernel(robot, "placements")(robot.neutral())).reshape(-1, 12)
    pivot, offset, radius = [], [], []
    for direction, wheel in zip(steering, spin, strict=True):
        for name, axis in ((direction, 2), (wheel, 1)):
            if name not in bodies:
                raise ArgumentError(f"there is no joint {name!r}; known: {', '.join(bodies)}")
            turned = placed[bodies[name], :9].reshape(3, 3) @ np.array(robot.joints[bodies[name]].axis)
            if abs(turned[axis] - 1.0) > ALONG:
                raise ArgumentError(f"the axis of {name!r} is {turned.round(6).tolist()} at q = 0; expected {'xyz'[axis]}")
        radius_, place = _tyre(robot, wheel, bodies[wheel], placed)
        pivot.append(placed[bodies[direction], 9:11])
        offset.append(place[1] - placed[bodies[direction], 10])
        radius.append(radius_)
    at = np.array(pivot)
    entries = [[(robot.joint(name).iq, robot.joint(name).iv) for name in names] for names in (steering, spin)]
    order = np.sort(np.unique(at[:, 0].round(9)))
    middle = float(order[len(order) // 2]) if len(order) % 2 else float(order.mean())
    return Wheels(at, np.array(offset), np.array(radius), np.array(entries[0]), np.array(entries[1]), middle)


def _tyre(robot: Robot, name: str, body: int, placed: Array) -> tuple[float, Array]:
    """Radius and middle (3,) in the axes of the body at q = 0 of the collision cylinder that a joint carries."""
    for link in robot.links:
        frame = robot.frame(link.name)
        for shape in link.collisions if frame.body == body else ():
            if shape.geometry.kind == "cylinder":
                middle = frame.placement[:3, :3] @ np.array(shape.pose[1]) + frame.placement[:3, 3]
                return shape.geometry.size[0], placed[body, :9].reshape(3, 3) @ middle + placed[body, 9:]
    raise ArgumentError(f"joint {name!r} carries no wheel; expected a <collision> cylinder")
