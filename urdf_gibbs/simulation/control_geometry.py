"""Wheels on a floating base, steered or not: where they are, and Ackermann's geometry: angles and speeds with which none of them slips.

Axes of the body that the floating base moves: x forwards, y to the left, z up, at q = 0 with all joints at zero. The body turns with the
curvature κ [1/m] (to the left where κ > 0) about the point (x_c, 1/κ), x_c being that of the wheels that are not steered, or in the middle
where all are: a point (x, y) of the body moves with v (1 - κ y, κ (x - x_c)), v being the speed at (x_c, 0). Wheels that are not steered
roll along x, and slip aside unless they are at x_c: skid steering.
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
Integers = NDArray[np.int64]

ALONG = 1e-6  # how far from z or -z an axis of steering may be, and an axle from y or -y
SAME = 1e-9  # m: axles nearer to each other are in line
WHEEL_SHAPES = ("cylinder", "sphere")


@dataclass(frozen=True, eq=False)
class Wheels:
    """n wheels, k of them steered, in the body's axes, with the entries of their joints in q and v.

    Attributes:
        pivot: (n, 2) where the axes of steering stand [m]; of a wheel that is not steered its middle.
        offset: (n,) of the wheels' middles from these, to the left [m].
        radius: (n,) [m].
        steered: (k,) which wheels are steered.
        steering: (k, 2) entries of the direction joints in q and v.
        spin: (n, 2) entries of the wheels' joints in q and v.
        middle: x_c [m].
        turned: (k,) 1.0, or -1.0 where the axis of the direction joint points down.
        spun: (n,) 1.0, or -1.0 where the axis of the wheel points to the right.
    """

    pivot: Array
    offset: Array
    radius: Array
    steered: Integers
    steering: Integers
    spin: Integers
    middle: float
    turned: Array
    spun: Array

    def angles(self, curvature: float) -> Array:
        """(n,) [rad]: each steered wheel across to its line from the centre of the turn."""
        x, y = self.pivot[self.steered].T
        angle = np.zeros(len(self.radius))
        angle[self.steered] = np.arctan2(curvature * (x - self.middle), 1.0 - curvature * y)
        return angle

    def curvature(self, angle: float) -> float:
        """κ [1/m] of the turn for which the first steered wheel that is not at x_c has this angle [rad]."""
        x, y = self.pivot[self.leading]
        return float(np.tan(angle) / (x - self.middle + y * np.tan(angle)))

    @property
    def leading(self) -> int:
        """The first steered wheel that is not at x_c; -1: there is none."""
        return next((int(wheel) for wheel in self.steered if abs(self.pivot[wheel, 0] - self.middle) > SAME), -1)

    def sharpest(self, angle: float) -> float:
        """κ [1/m] of the sharpest turn: with the first steered wheel at this angle, or with the inner wheels at rest."""
        if self.leading >= 0:
            return min(abs(self.curvature(angle)), abs(self.curvature(-angle)))
        return 1.0 / max(float(np.abs(self.pivot[:, 1] + self.offset).max()), SAME)

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
    """The wheels of these joints; a wheel is steered by the direction joint that carries it. ArgumentError where they are none."""
    if not robot.joints or robot.joints[0].type != "floating":
        raise ArgumentError("the controller drives a robot on wheels; expected base = 'floating'")
    if len(spin) < 2 or len({*steering, *spin}) < len(steering) + len(spin):
        raise ArgumentError(
            f"wheels {', '.join(spin)} and steering {', '.join(steering) or 'none'}; expected two wheels or more, each once"
        )
    bodies = {joint.name: body for body, joint in enumerate(robot.joints) if not joint.is_mimic}
    placed = np.asarray(kernel(robot, "placements")(robot.neutral())).reshape(-1, 12)
    signs = {name: _sign(robot, name, axis, bodies, placed) for names, axis in ((steering, 2), (spin, 1)) for name in names}
    carried = {name: _carrier(robot, bodies[name], {bodies[one]: one for one in steering}) for name in spin}
    idle = [name for name in steering if name not in carried.values()]
    if idle:
        raise ArgumentError(f"direction joint {idle[0]!r} carries none of the wheels {', '.join(spin)}; expected one that does")
    tyres = [_tyre(robot, name, bodies[name], placed) for name in spin]
    middles = np.array([middle for _, middle in tyres])
    steered = np.array([k for k, name in enumerate(spin) if carried[name]], dtype=np.int64)
    pivot = middles[:, :2].copy()
    directions = [carried[spin[k]] for k in steered]
    pivot[steered] = placed[[bodies[name] for name in directions], 9:11] if directions else pivot[steered]
    return Wheels(
        pivot,
        middles[:, 1] - pivot[:, 1],
        np.array([radius for radius, _ in tyres]),
        steered,
        _entries(robot, directions),
        _entries(robot, spin),
        _middle(pivot[:, 0], steered),
        np.array([signs[name] for name in directions]),
        np.array([signs[name] for name in spin]),
    )


def _entries(robot: Robot, names: Sequence[str]) -> Integers:
    return np.array([(robot.joint(name).iq, robot.joint(name).iv) for name in names], dtype=np.int64).reshape(-1, 2)


def _sign(robot: Robot, name: str, axis: int, bodies: dict[str, int], placed: Array) -> float:
    """1.0 where the axis of a joint points along an axis of the body at q = 0, -1.0 where it points against it."""
    if name not in bodies:
        raise ArgumentError(f"there is no joint {name!r}; known: {', '.join(bodies)}")
    joint = robot.joints[bodies[name]]
    if joint.type not in ("revolute", "continuous"):
        raise ArgumentError(f"joint {name!r} is {joint.type}; expected one that turns")
    if joint.effort == 0.0:
        raise ArgumentError(f"joint {name!r} has an effort of 0 in its <limit>; expected one that can be driven")
    turned = placed[bodies[name], :9].reshape(3, 3) @ np.array(joint.axis)
    if abs(abs(turned[axis]) - 1.0) > ALONG:
        raise ArgumentError(f"the axis of {name!r} is {turned.round(6).tolist()} at q = 0; expected {'xyz'[axis]} or -{'xyz'[axis]}")
    return float(np.sign(turned[axis]))


def _carrier(robot: Robot, body: int, directions: dict[int, str]) -> str:
    """The direction joint above a body; "" where there is none."""
    while body >= 0:
        if body in directions:
            return directions[body]
        body = robot.parent[body]
    return ""


def _middle(x: Array, steered: Integers) -> float:
    """x_c of wheels at x (n,): the mean of those that are not steered, else the middle axle, or between the two in the middle."""
    fixed = np.delete(x, steered)
    if len(fixed):
        return float(fixed.mean())
    order = np.unique(x.round(9))
    return float(order[len(order) // 2]) if len(order) % 2 else float(order.mean())


def _tyre(robot: Robot, name: str, body: int, placed: Array) -> tuple[float, Array]:
    """Radius and middle (3,) in the axes of the body at q = 0 of the collision cylinder or sphere that a joint carries."""
    for link in robot.links:
        frame = robot.frame(link.name)
        for shape in link.collisions if frame.body == body else ():
            if shape.geometry.kind in WHEEL_SHAPES:
                middle = frame.placement[:3, :3] @ np.array(shape.pose[1]) + frame.placement[:3, 3]
                return shape.geometry.size[0], placed[body, :9].reshape(3, 3) @ middle + placed[body, 9:]
    raise ArgumentError(f"joint {name!r} carries no wheel; expected a <collision> {' or '.join(WHEEL_SHAPES)}")
