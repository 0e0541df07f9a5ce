"""How the scene of a template begins: a pose within the limits, what can touch, and a floor under it. World axes, SI units."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.points import ContactPoint, resolve_points
from urdf_gibbs.dynamics.kinematics import first_moment, placements
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.errors import UrdfWarning
from urdf_gibbs.names import Base
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of

Array = NDArray[np.float64]
Given = str | tuple[tuple[str, tuple[float, float, float]], ...] | None  # points as a scenario has them

FALL = 0.1  # m between a free robot and the floor
ROOM = 0.5  # m between a robot that hangs and the floor below it
MARGIN = 1e-3  # of the range of a joint: how far from its limits it starts at least
LEANING = 0.5  # rad or m by which joints are moved where nothing would fall
STEP = 1e-4  # rad or m, for differences of the height of the mass centre
FLAT = 1e-9  # m per rad: a slope below this is rounding
AT_REST = 1e-6  # m per rad: joints whose slopes are all below this stay where they are
SHARE = 1e-3  # of the largest moment of inertia of a link, that is added about all axes
LEAST_INERTIA = 1e-4  # kg m^2, of a link that has none at all
WORLD_LINKS = ("world", "map", "odom")


@dataclass(frozen=True)
class Opening:
    """A start from which something falls.

    Attributes:
        q0: (nq,).
        points: What can touch, as a scenario has it: "collision", None (joint origins and tips), or links with places (3,) [m] in their
            frames.
        up: Axis against gravity, 2 (z), or 1 (y) of a mechanism that can only move across z.
        floor: Place of the floor along this axis [m].
        wheels: Names of the joints that carry wheels.
        heavier: Inertias (3, 3) [kg m^2] by links, that the robot needs for a mass matrix that is regular.
    """

    q0: Array
    points: Given
    up: int
    floor: float
    wheels: tuple[str, ...]
    heavier: dict[str, Array]


def base_of(robot: Robot) -> Base:
    """What suits a robot that was loaded with a fixed base: floating where its root has a mass and nothing ties it to the world."""
    return "floating" if robot.base_inertia.mass > 0.0 and robot.root_link not in WORLD_LINKS else "fixed"


def opening(robot: Robot) -> Opening:
    """Where and how the robot starts, with the lowest of its points above a floor."""
    q, bounds, up = robot.neutral(), _limits(robot), 2
    for i, lower, upper in _joints(robot, bounds):
        q[i] = _inside(lower, upper)
    if robot.base != "floating":
        up = 2 if np.abs(_slopes(robot, robot.random(0))[:, 2]).max(initial=0.0) > FLAT else 1
        if up == 1 or np.abs(_slopes(robot, q)[:, up]).max(initial=0.0) < AT_REST:
            for i, lower, upper in _joints(robot, bounds):
                q[i] = _leaning(q[i], lower, upper)
    given, points = _points(robot)
    heights = _heights(robot, points, q, up)
    lowest = float(heights.min()) if len(heights) else 0.0
    floor = 0.0
    if robot.base == "floating":
        q[2] += FALL - lowest
    elif lowest <= 0.0:
        floor = math.floor(10.0 * (lowest - ROOM)) / 10.0
    round_links = {point.link for point in points if point.rim > 0.0}
    wheels = tuple(joint.name for joint in robot.joints if joint.child in round_links)
    return Opening(q, given, up, floor, wheels, _heavier(robot, q))


def _limits(robot: Robot) -> tuple[Array, Array]:
    """(nq,) each, narrowed by what mimic joints allow where that leaves anything."""
    lower, upper = (bounds.copy() for bounds in robot.position_limits)
    for joint in robot.joints:
        if joint.is_mimic and joint.ratio != 0.0 and joint.type in ("revolute", "prismatic"):
            low, high = sorted((bound - joint.offset) / joint.ratio for bound in (joint.lower, joint.upper))
            if max(low, lower[joint.iq]) < min(high, upper[joint.iq]):
                lower[joint.iq], upper[joint.iq] = max(low, lower[joint.iq]), min(high, upper[joint.iq])
    return lower, upper


def _joints(robot: Robot, bounds: tuple[Array, Array]) -> Iterator[tuple[int, float, float]]:
    """(index in q, lower, upper) of the joints that turn or slide."""
    for joint in robot.joints:
        if joint.nq == 1 and not joint.is_mimic and joint.beam is None:
            yield joint.iq, float(bounds[0][joint.iq]), float(bounds[1][joint.iq])


def _inside(lower: float, upper: float) -> float:
    """Zero, or where the limits leave it out the middle between them."""
    room = MARGIN * (upper - lower) if math.isfinite(upper - lower) else 0.0
    if lower + room <= 0.0 <= upper - room:
        return 0.0
    return 0.5 * (lower + upper) if math.isfinite(lower + upper) else min(max(0.0, lower), upper)


def _points(robot: Robot) -> tuple[Given, tuple[ContactPoint, ...]]:
    """What can touch, as a scenario has it, and as points: shapes, else joint origins and tips, else centres of mass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # of meshes without a file: whoever runs the scene gets them
        shapes = resolve_points(robot, "collision")
        points = shapes or resolve_points(robot)
    if points:
        return ("collision" if shapes else None), points
    heavy = [link for link in robot.links if link.inertial is not None and link.inertial.mass > 0.0 and robot.frame(link.name).body >= 0]
    given = tuple((link.name, link.inertial.centre_of_mass) for link in heavy if link.inertial is not None)
    return given or None, resolve_points(robot, given)


def _heavier(robot: Robot, q: Array) -> dict[str, Array]:
    """Inertias of the links whose joints turn without any: a share of what the link has, the same about all axes, is added."""
    from urdf_gibbs.functions import mass_matrix

    if not robot.nv:
        return {}
    M = mass_matrix(robot, q) if robot.is_flexible else mass_matrix(robot, q, method="explicit")  # which has nothing to compile
    idle = joints_of(robot, idle_velocities(robot, q, M))
    own = {link.name: link.inertial for link in robot.links}
    found = {}
    for joint in robot.joints:
        if joint.name in idle and joint.beam is None and joint.child in own:
            inertial = own[joint.child]
            inertia = np.zeros((3, 3)) if inertial is None else np.reshape(inertial.inertia, (3, 3))
            found[joint.child] = inertia + (SHARE * float(inertia.max()) or LEAST_INERTIA) * np.eye(3)
    return found


def _leaning(at: float, lower: float, upper: float) -> float:
    """A coordinate moved by LEANING, as far as its limits allow, to the side where there is more room."""
    up, down = (min(LEANING, 0.5 * abs(end - at)) for end in (upper, lower))
    return at + up if up >= down else at - down


def _heights(robot: Robot, points: tuple[ContactPoint, ...], q: Array, up: int) -> Array:
    """(n,) of the lowest places of spheres, points and rims [m]."""
    poses = placements(model_of(robot), q.tolist())
    found = []
    for point in points:
        turn, place = poses[point.body]
        R, p = np.array([list(row) for row in turn], dtype=float), np.array(list(place), dtype=float)
        tilt = float((R @ point.axis)[up])
        found.append(float((p + R @ point.position)[up]) - point.radius - point.rim * np.sqrt(max(0.0, 1.0 - tilt * tilt)))
    return np.array(found)


def _slopes(robot: Robot, q: Array) -> Array:
    """(coordinates, 3): how the mass centre moves with each joint [m/rad], by differences."""
    own = [joint.iq for joint in robot.joints if joint.nq == 1 and not joint.is_mimic]
    around = np.concatenate([q + side * STEP * np.eye(robot.nq)[own] for side in (1.0, -1.0)])
    mass, moment = first_moment(model_of(robot), [np.ascontiguousarray(column) for column in around.T])
    centre = np.array([np.broadcast_to(entry, len(around)) / mass for entry in moment])
    return (centre[:, : len(own)] - centre[:, len(own) :]).T / (2.0 * STEP)
