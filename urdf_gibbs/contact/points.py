"""Which points of a robot can touch something: joint origins and tips (Shafei 2018, Sect. 2), chosen points, or collision shapes.

A point is fixed in the frame of a moving body. One that lies on the axis of its body's revolute joint is fixed in the parent
body as well; the body highest up that holds it, and its place there, are the point's canonical form. Two points are one
for every q when their canonical forms agree. (That mimic joints could make two points coincide is not looked for.)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import Coefficients, FrictionLike, coefficients, finite
from urdf_gibbs.contact.hull import NoPoints, mesh_points
from urdf_gibbs.errors import ArgumentError, PairError, UnknownNameError, UrdfWarning
from urdf_gibbs.flexible.sections import beam_of, body_point, root_moves
from urdf_gibbs.names import Cylinders
from urdf_gibbs.robot.meshes import MeshFolders, mesh_folders
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.urdf import Geometry

Array = NDArray[np.float64]
Vec3 = tuple[float, float, float]

WORLD = -1
SAME = 1e-9  # m: points closer than this coincide
RIM = 8  # points on each rim of a cylinder


@dataclass(frozen=True, slots=True)
class ContactPoint:
    """A sphere of ``radius`` [m] (0: a point) about ``position`` [m] in the frame of moving body ``body`` (-1: the world).

    Or, with ``rim`` [m] above 0, a circle of that radius about ``position``, around ``axis`` (a unit vector): a wheel's edge, which touches
    with the nearest of its points and rolls; with a ``radius`` as well a torus, a tyre whose tube has that radius. In a pair ``half`` [m]
    makes it a capsule: a sphere about each point of the segment from ``position`` - ``half`` to ``position`` + ``half``. ``link`` is the
    URDF link it came from; that link may be merged into the body, or hinged to it at this very point. ``friction`` is its coefficient of
    Coulomb friction, or (static, kinetic), on any wall; None: the wall's, or else the simulation's.
    """

    name: str
    body: int
    position: Vec3
    radius: float = 0.0
    link: str = ""
    friction: FrictionLike | None = None
    rim: float = 0.0
    axis: Vec3 = (0.0, 0.0, 1.0)
    half: Vec3 = (0.0, 0.0, 0.0)


PointLike = (
    str | ContactPoint | tuple[str, Sequence[float]] | tuple[str, Sequence[float], float] | tuple[str, Sequence[float], float, FrictionLike]
)
AUTO = "auto"
PairLike = tuple[str, str] | tuple[str, str, float] | tuple[str, str, float | None, FrictionLike]


class Pair(NamedTuple):
    """Two points that may touch each other: at this distance of their centres [m], with this friction (None: that of the points)."""

    one: ContactPoint
    other: ContactPoint
    distance: float
    friction: Coefficients | None = None


# canonical form -------------------------------------------------------------------------------------


def canonical(robot: Robot, body: int, position: Sequence[float] | Array) -> tuple[int, Array]:
    """The highest body (-1: the world) in which this point is fixed for every q, and its place (3,) [m] there."""
    x = np.array(position, dtype=float)
    while body != WORLD and _on_axis(robot, body, x):
        placement = robot.placement[body]
        x = placement[:3, :3] @ x + placement[:3, 3]
        body = robot.parent[body]
    return body, x


def fixed_bodies(robot: Robot, body: int, position: Sequence[float] | Array) -> set[int]:
    """All bodies (-1: the world) in which this point is fixed: its canonical body and those hinged to it at this point."""
    pending = [canonical(robot, body, position)]
    bodies = set()
    while pending:
        top, x = pending.pop()
        bodies.add(top)
        for child, parent in enumerate(robot.parent):
            if parent == top:
                placement = robot.placement[child]
                in_child = placement[:3, :3].T @ (x - placement[:3, 3])
                if _on_axis(robot, child, in_child):
                    pending.append((child, in_child))
    return bodies


def _on_axis(robot: Robot, body: int, x: Array) -> bool:
    """x (3,), in the body's frame, lies on the axis of the body's revolute joint."""
    joint = robot.joints[body]
    return joint.type in ("revolute", "continuous") and math.dist(x, np.dot(x, joint.axis) * np.array(joint.axis)) < SAME


class _Collection:
    """Distinct points in the order of their addition, each with a unique name, those without a radius in canonical form."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.points: list[ContactPoint] = []
        self.names: set[str] = set()

    def add(self, point: ContactPoint) -> None:
        """Add the point unless it is already there (same place for every q, same radius).

        A sphere or a rim stays on its own body: one about the axis of its joint, a wheel, rolls with that body and not with the parent.
        """
        body, x = point.body, np.array(point.position)
        if point.radius == 0.0 and point.rim == 0.0:
            body, x = canonical(self.robot, body, x)
        for other in self.points:
            shape = (other.body, other.radius, other.rim, other.axis)
            if shape == (body, point.radius, point.rim, point.axis) and math.dist(other.position, x) < SAME:
                return
        name, number = point.name, 1
        while name in self.names:
            number += 1
            name = f"{point.name}#{number}"
        self.names.add(name)
        self.points.append(replace(point, name=name, body=body, position=vec3(x)))


def vec3(x: Array) -> Vec3:
    a, b, c = (float(entry) + 0.0 for entry in x)  # + 0.0: minus zero is zero
    return a, b, c


# joint origins and tips -----------------------------------------------------------------------------


def default_points(robot: Robot) -> tuple[ContactPoint, ...]:
    """The distinct joint origins and the tips, depth first; a body's tips follow its origin.

    A tip is a link's frame on a body that carries no further moving body. Points that never move are left out, and so are
    those of massless bodies (slides of a gantry), unless a body with mass has one at the same place. A point has the name of
    the first link whose frame is there: for a joint origin the parent link, else the child link. At the tip of an elastic link the
    file's own links come before the one made for the tip. The root of an elastic link that moves against the link's frame (free-free
    modes) is left out with a UrdfWarning.
    """
    weight = robot.mass.copy()
    for i, joint in enumerate(robot.joints):
        if joint.beam is not None:  # its root's body and its tip have their share
            weight[[i] if robot.parent[i] == WORLD else [i, robot.parent[i]]] += joint.beam.mass
    massless = {joint.child for joint, mass in zip(robot.joints, weight, strict=True) if mass == 0.0}
    frames = []  # (link, body that holds it, its canonical form)
    for link in robot.link_names:
        frame = robot.frame(link)
        frames.append((link, frame.body, *canonical(robot, frame.body, frame.placement[:3, 3])))
    carriers = set(robot.parent)
    tips = {joint.child for joint in robot.joints if joint.beam is not None}
    loose = {joint.beam.link for joint in robot.joints if joint.beam is not None and root_moves(joint.beam)}
    left_out: dict[str, None] = {}
    collection = _Collection(robot)

    def take(body: int, x: Array, fallback: str) -> None:
        if body == WORLD:
            return
        here = [link for link, _, other, y in frames if link not in massless and other == body and math.dist(x, y) < SAME]
        if here and loose.issuperset(here) and all(robot.frame(link).body == body for link in here):
            left_out.update(dict.fromkeys(here))
            return
        here = [link for link in here if link not in loose] or here
        name = next((link for link in here if link not in tips), here[0] if here else fallback)
        collection.add(ContactPoint(name, body, vec3(x), 0.0, name))

    for i, joint in enumerate(robot.joints):
        body, x = canonical(robot, i, (0.0, 0.0, 0.0))
        if weight[i] > 0.0 or (body != WORLD and weight[body] > 0.0):
            take(body, x, joint.child)
        if i not in carriers:
            for link, owner, top, y in frames:
                if owner == i and top != WORLD and (weight[i] > 0.0 or weight[top] > 0.0):
                    take(top, y, link)
    if left_out:
        listed = ", ".join(left_out)
        warnings.warn(
            f"no contact point at the root of {listed}, which moves against the link's frame in these modes", UrdfWarning, stacklevel=3
        )
    return tuple(collection.points)


# chosen points --------------------------------------------------------------------------------------


def resolve_points(
    robot: Robot, points: str | Iterable[PointLike] | None = None, cylinders: Cylinders = "auto"
) -> tuple[ContactPoint, ...]:
    """The contact points that ``points`` asks for, each once, in canonical form, with unique names.

    points: None (joint origins and tips), "collision" (the shapes of ``<collision>``), or a sequence of link names (the origin
    of the link's frame), ``(link, (x, y, z))``, ``(link, (x, y, z), radius)`` and ``(link, (x, y, z), radius, friction)`` in the
    link's frame [m], and ContactPoint.

    "collision": a box gives its 8 corners, a sphere its centre with its radius, a capsule the centres of both half spheres
    with its radius (its length is the distance between them). A cylinder whose axis is that of the joint that carries it, a wheel,
    gives its two rims, which roll; any other the centres of both ends and 8 points on each rim, which stand. ``cylinders``: "roll" or
    "stand" for all of them ("auto": as said). A rim that lies flat on a wall touches it with one of its points only.
    A mesh gives vertices of its convex hull, at most 32, those that stick out the most: what is hollow in it is filled. One that cannot be
    read is skipped with a UrdfWarning that names its link, shapes that never move without one.
    """
    if points is None:
        return default_points(robot)
    if isinstance(points, str):
        if points != "collision":
            raise ArgumentError(f"points={points!r}, expected None, 'collision' or a sequence of link names and points")
        return _collision_points(robot, cylinders)
    collection = _Collection(robot)
    for point in points:
        collection.add(_resolve_point(robot, point))
    return tuple(collection.points)


def _resolve_point(robot: Robot, point: Any) -> ContactPoint:
    if isinstance(point, ContactPoint):
        if not isinstance(point.body, int | np.integer) or not WORLD <= point.body < len(robot.joints):
            raise ArgumentError(f"point {point.name!r}: body {point.body!r}, expected -1 (the world) to {len(robot.joints) - 1}")
        friction = None if point.friction is None else coefficients(point.friction, f"point {point.name!r}: friction")
        sizes = {"radius": _radius(point.name, point.radius), "rim": _radius(point.name, point.rim, "rim"), "axis": _axis(point)}
        return replace(point, position=_position(point.name, point.position), friction=friction, **sizes)  # type: ignore[arg-type]
    if isinstance(point, str):
        return on_link(robot, point, point, (0.0, 0.0, 0.0), 0.0)
    if isinstance(point, tuple | list) and len(point) in (2, 3, 4) and isinstance(point[0], str):
        radius = _radius(point[0], point[2]) if len(point) > 2 else 0.0
        placed = on_link(robot, point[0], point[0], _position(point[0], point[1]), radius)
        return replace(placed, friction=coefficients(point[3], f"point {point[0]!r}: friction")) if len(point) == 4 else placed
    raise ArgumentError(
        f"point {point!r}, expected a link name, (link, (x, y, z)), (link, (x, y, z), radius), (link, (x, y, z), radius, friction) "
        "or a ContactPoint"
    )


def _position(name: str, value: Any) -> Vec3:
    x = finite(value, (3,))
    if x is None:
        raise ArgumentError(f"point {name!r}: position {value!r}, expected three finite numbers [m]")
    return vec3(x)


def _axis(point: ContactPoint) -> Vec3:
    axis = finite(point.axis, (3,))
    if axis is None or not np.linalg.norm(axis) > 0.0:
        raise ArgumentError(f"point {point.name!r}: axis {point.axis!r}, expected a vector of three finite numbers that is not zero")
    return vec3(axis / np.linalg.norm(axis))


def _radius(name: str, value: Any, what: str = "radius") -> float:
    try:
        radius = float(value)
    except (TypeError, ValueError):
        radius = math.nan
    if not 0.0 <= radius < math.inf:
        raise ArgumentError(f"point {name!r}: {what} {value!r}, expected zero or more [m]")
    return radius


def on_link(robot: Robot, name: str, link: str, position: Sequence[float] | Array, radius: float) -> ContactPoint:
    """The point at ``position`` (3,) [m] in a link's frame; on an elastic link it belongs to the section at the root or at the tip."""
    body, x = body_point(robot, link, position, name)
    beam = beam_of(robot, link)
    if beam is not None and body != beam[0] and root_moves(beam[1], math.dist(x, beam[1].root)):
        raise ArgumentError(
            f"point {name!r} is at the root of the elastic link {link!r}, which moves against the link's frame in these modes; "
            "expected a point at the tip, or modes with a root at rest, such as clamped-free"
        )
    return ContactPoint(name, body, vec3(x), radius, link)


# collision shapes -----------------------------------------------------------------------------------


def _collision_points(robot: Robot, cylinders: Cylinders) -> tuple[ContactPoint, ...]:
    shapes = {link.name: link.collisions for link in robot.links}
    collection = _Collection(robot)
    folders, unread = mesh_folders(robot), {}
    elastic = {joint.beam.link for joint in robot.joints if joint.beam is not None}
    bent = [link for link in robot.link_names if link in elastic and shapes[link]]
    if bent:
        warnings.warn(f"no contact points from the shapes of {', '.join(bent)}, which bend; name their ends", UrdfWarning, stacklevel=3)
    for link in robot.link_names:
        if robot.frame(link).body == WORLD or link in elastic:
            continue
        for number, shape in enumerate(shapes[link]):
            geometry, (rotation, translation) = shape.geometry, shape.pose
            try:
                places = _shape_points(geometry) if geometry.kind != "mesh" else _mesh_points(geometry, folders)
            except NoPoints as reason:
                unread[link] = str(reason)
                continue
            turn, made = np.reshape(rotation, (3, 3)), []
            for suffix, x, radius in places:
                made.append(on_link(robot, f"{link}.{geometry.kind}{number}{suffix}", link, turn @ np.array(x) + translation, radius))
            for point in _rims(robot, geometry, made, cylinders) if geometry.kind == "cylinder" else made:
                collection.add(point)
    if unread:
        listed = f"{', '.join(unread)} ({next(iter(unread.values()))})"
        warnings.warn(f"no contact points from collisions of {listed}; name points of these links", UrdfWarning, stacklevel=3)
    return tuple(point for point in collection.points if point.body != WORLD)


def _rims(robot: Robot, geometry: Geometry, points: list[ContactPoint], cylinders: Cylinders) -> list[ContactPoint]:
    """The two rims of a cylinder that is to roll, else its points."""
    ends = [point for point in points if point.name[-1] in "+-"]
    axis = np.subtract(ends[0].position, ends[1].position) / geometry.size[1]
    body = ends[0].body
    on_axis = all(_on_axis(robot, body, np.array(end.position)) for end in ends)
    if cylinders == "stand" or (cylinders == "auto" and not on_axis):
        return points
    return [replace(end, rim=geometry.size[0], axis=vec3(axis)) for end in ends]


def _mesh_points(geometry: Geometry, folders: MeshFolders) -> list[tuple[str, Vec3, float]]:
    return [(f".{k}", vec3(x), 0.0) for k, x in enumerate(mesh_points(geometry, folders))]


def _shape_points(geometry: Geometry) -> list[tuple[str, Vec3, float]]:
    """(suffix of the name, place in the shape's frame [m], radius [m]) of each point of a shape other than a mesh; NoPoints where
    the file gives it wrongly."""
    if geometry.kind == "unread":
        raise NoPoints(f"{geometry.filename}: {geometry.problem}")
    if geometry.kind == "sphere":
        return [("", (0.0, 0.0, 0.0), geometry.size[0])]
    if geometry.kind == "box":
        x, y, z = (0.5 * side for side in geometry.size)
        signs = [(a, b, c) for a in (1, -1) for b in (1, -1) for c in (1, -1)]
        return [("." + "".join("+" if s > 0 else "-" for s in sign), (sign[0] * x, sign[1] * y, sign[2] * z), 0.0) for sign in signs]
    radius, half = geometry.size[0], 0.5 * geometry.size[1]
    if geometry.kind == "capsule":
        return [(".+", (0.0, 0.0, half), radius), (".-", (0.0, 0.0, -half), radius)]
    points: list[tuple[str, Vec3, float]] = []
    for end, z in (("+", half), ("-", -half)):
        points.append((f".{end}", (0.0, 0.0, z), 0.0))
        for k in range(RIM):
            angle = 2.0 * math.pi * k / RIM
            points.append((f".{end}{k}", (radius * math.cos(angle), radius * math.sin(angle), z), 0.0))
    return points


# pairs ----------------------------------------------------------------------------------------------


def resolve_pairs(robot: Robot, points: Sequence[ContactPoint], pairs: Iterable[PairLike] = ()) -> tuple[Pair, ...]:
    """Points that may touch each other: gap = distance of the centres - ``distance`` [m].

    pairs: (name_a, name_b), (name_a, name_b, distance) or (name_a, name_b, distance, friction); without a distance, or None, it is the
    sum of the radii, without a friction None. A name is that of one of ``points``, else of a link: its only point among ``points``, or
    else the origin of its frame.
    """
    return tuple(_pair(robot, points, pair) for pair in pairs)


def _pair(robot: Robot, points: Sequence[ContactPoint], pair: Any) -> Pair:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) not in (2, 3, 4):
        raise ArgumentError(f"pair {pair!r}, expected (name, name), (name, name, distance) or (name, name, distance, friction)")
    a, b = (_named(robot, points, name) for name in pair[:2])
    if a.rim or b.rim:
        raise PairError((a.name, b.name), f"{(a if a.rim else b).name!r} is a wheel's rim", "points or spheres: rims touch walls alone")
    shared = fixed_bodies(robot, a.body, a.position) & fixed_bodies(robot, b.body, b.position)
    if shared:
        body = min(shared)
        where = "the world" if body == WORLD else f"the body of joint {robot.joints[body].name!r}"
        raise PairError((a.name, b.name), f"both points are fixed to {where}", "points that move apart")
    distance = a.radius + b.radius
    if len(pair) > 2 and pair[2] is not None:
        distance = _radius(f"{a.name}, {b.name}", pair[2])
    if not distance > 0.0:
        expected = "a positive one: give a point a radius or the pair a distance; two points without size have no sides"
        raise PairError((a.name, b.name), "contact distance 0", expected)
    friction = coefficients(pair[3], f"pair ({a.name!r}, {b.name!r}): friction") if len(pair) == 4 else None
    return Pair(a, b, distance, friction)


def _named(robot: Robot, points: Sequence[ContactPoint], name: Any) -> ContactPoint:
    for point in points:
        if point.name == name:
            return point
    if not isinstance(name, str) or name not in robot.link_names:
        known = dict.fromkeys([*(point.name for point in points), *robot.link_names])
        raise UnknownNameError("point or link", str(name), tuple(known))
    own = [point for point in points if point.link == name]
    if len(own) == 1:
        return own[0]
    return on_link(robot, name, name, (0.0, 0.0, 0.0), 0.0)
