"""Which spheres and capsules of a robot can touch each other, found by themselves: ``pairs="auto"``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.points import WORLD, ContactPoint, Pair, fixed_bodies, on_link, vec3
from urdf_gibbs.dynamics.kinematics import placements
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.errors import UrdfWarning
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]

SHOWN = 5  # pairs that a warning names


def round_shapes(robot: Robot, points: Sequence[ContactPoint] = ()) -> tuple[ContactPoint, ...]:
    """The spheres and capsules of ``<collision>``, those of what never moves too, and the spheres among the points."""
    made = {point.name: point for point in points if point.radius > 0.0 and point.rim == 0.0}
    elastic = {joint.beam.link for joint in robot.joints if joint.beam is not None}
    for link in robot.links:
        for number, shape in enumerate(link.collisions if link.name not in elastic and link.name in robot.link_names else ()):
            geometry, (rotation, translation) = shape.geometry, shape.pose
            if geometry.kind not in ("sphere", "capsule"):
                continue
            name, turn = f"{link.name}.{geometry.kind}{number}", np.reshape(rotation, (3, 3))
            centre = on_link(robot, name, link.name, translation, geometry.size[0])
            if geometry.kind == "capsule":
                end = on_link(robot, name, link.name, turn @ (0.0, 0.0, 0.5 * geometry.size[1]) + np.array(translation), 0.0)
                centre = replace(centre, half=vec3(np.subtract(end.position, centre.position)))
                for side in "+-":
                    made.pop(f"{name}.{side}", None)
            made[name] = centre
    return tuple(made.values())


def find_pairs(robot: Robot, points: Sequence[ContactPoint]) -> tuple[Pair, ...]:
    """All pairs of ``round_shapes`` on different bodies that no joint joins, nor a common place, and that are apart at the neutral pose.

    A UrdfWarning names those that overlap there, and says where nothing is left.
    """
    shapes = round_shapes(robot, points)
    place = {WORLD: np.eye(4), **{i: _matrix(one) for i, one in enumerate(placements(model_of(robot), list(robot.neutral())))}}
    found, overlapping = [], []
    for one, other in combinations(shapes, 2):
        if one.body == other.body or _joined(robot, one.body, other.body):
            continue
        if fixed_bodies(robot, one.body, one.position) & fixed_bodies(robot, other.body, other.position):
            continue
        reach = one.radius + other.radius
        if _distance(place[one.body], one, place[other.body], other) < reach:
            overlapping.append(f"{one.name} and {other.name}")
        else:
            found.append(Pair(one, other, reach))
    if overlapping:
        more = f" and {len(overlapping) - SHOWN} more" if len(overlapping) > SHOWN else ""
        listed = f"{', '.join(overlapping[:SHOWN])}{more}"
        warnings.warn(f"pairs='auto' leaves out what overlaps at the neutral pose: {listed}", UrdfWarning, stacklevel=5)
    if not found:
        warnings.warn(f"pairs='auto' found no two of {len(shapes)} spheres and capsules that could touch", UrdfWarning, stacklevel=5)
    return tuple(found)


def _joined(robot: Robot, one: int, other: int) -> bool:
    """Whether one joint joins two bodies."""
    return (one != WORLD and robot.parent[one] == other) or (other != WORLD and robot.parent[other] == one)


def _matrix(placement: Any) -> Array:
    rotation, position = placement
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = np.array(rotation, dtype=float), np.array(position, dtype=float)
    return matrix


def _distance(one: Array, a: ContactPoint, other: Array, b: ContactPoint) -> float:
    """Of two segments [m]: the least of a grid of one, each place projected onto the other, refined."""
    ends = [[at[:3, :3] @ np.add(p.position, side * np.array(p.half)) + at[:3, 3] for side in (-1, 1)] for at, p in ((one, a), (other, b))]
    (p0, p1), (q0, q1) = ends
    low, high = 0.0, 1.0
    least = np.inf
    for _ in range(12):  # the distance to a segment is convex along a line
        s = np.linspace(low, high, 11)
        points = p0 + s[:, None] * (p1 - p0)
        length = max(float((q1 - q0) @ (q1 - q0)), 1e-300)
        u = np.clip((points - q0) @ (q1 - q0) / length, 0.0, 1.0)
        away = np.linalg.norm(points - q0 - u[:, None] * (q1 - q0), axis=1)
        k = int(away.argmin())
        least, low, high = float(away[k]), s[max(0, k - 1)], s[min(10, k + 1)]
    return least
