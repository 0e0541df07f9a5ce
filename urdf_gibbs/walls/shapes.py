"""Walls of simple shape: planes, circles and cylinders, spheres, ellipsoids, boxes and corridors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import FrictionLike
from urdf_gibbs.walls.arguments import as_length, as_lengths, as_rotation, as_unit, as_vector, put, sign_of
from urdf_gibbs.walls.wall import Motion, Surface, Wall, frame_along, rotation_matrix

Side = Literal["inside", "outside"]


@dataclass(frozen=True, init=False)
class Plane(Wall):
    """The plane through a point; the robot lives on the side that the normal points to, kept as the unit vector ``direction``.

    Args:
        normal: (3,) in the world, of any length.
        point: (3,) in the world [m].
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
    """

    direction: tuple[float, ...]
    point: tuple[float, ...]

    def __init__(
        self,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        point: ArrayLike = (0.0, 0.0, 0.0),
        *,
        restitution: float | None = None,
        friction: FrictionLike | None = None,
        motion: Motion | Callable[[float], ArrayLike] | None = None,
        name: str = "",
    ) -> None:
        # Written out since ``normal`` is a method of every wall and cannot be a field as well.
        put(self, "direction", as_unit("Plane", "normal", normal))
        put(self, "point", as_vector("Plane", "point", point))
        super().__init__(restitution=restitution, friction=friction, motion=motion, name=name)

    def surfaces(self) -> tuple[Surface, ...]:
        return (self._plane("", np.array(self.direction), np.array(self.point), np.inf),)


@dataclass(frozen=True)
class Circle(Wall):
    """A circle in the plane through its centre across an axis: the infinite cylinder about that axis.

    Args:
        radius: [m].
        centre: (3,) in the world [m].
        axis: (3,) in the world, of any length.
        side: Where the robot is: "inside" or "outside".
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
    """

    radius: float
    centre: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 0.0, 1.0)
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = type(self).__name__
        put(self, "radius", as_length(kind, "radius", self.radius))
        put(self, "centre", as_vector(kind, "centre", self.centre))
        put(self, "axis", as_unit(kind, "axis", self.axis))
        sign_of(kind, self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        sign = sign_of(type(self).__name__, self.side)
        room = self.radius if sign < 0.0 else np.inf
        return (
            self._surface(
                "cylinder", sign=sign, radius=self.radius, centre=np.array(self.centre), frame=frame_along(np.array(self.axis)), room=room
            ),
        )


@dataclass(frozen=True)
class Cylinder(Circle):
    """The infinite cylinder about the line through a point along an axis.

    Args:
        radius: [m].
        centre: (3,) in the world [m].
        axis: (3,) in the world, of any length.
        side: Where the robot is: "inside" or "outside".
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
    """


@dataclass(frozen=True)
class Sphere(Wall):
    """A sphere.

    Args:
        radius: [m].
        centre: (3,) in the world [m].
        side: Where the robot is: "inside" or "outside".
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
    """

    radius: float
    centre: ArrayLike = (0.0, 0.0, 0.0)
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, "radius", as_length("Sphere", "radius", self.radius))
        put(self, "centre", as_vector("Sphere", "centre", self.centre))
        sign_of("Sphere", self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        sign = sign_of("Sphere", self.side)
        room = self.radius if sign < 0.0 else np.inf
        return (self._surface("sphere", sign=sign, radius=self.radius, centre=np.array(self.centre), room=room),)


@dataclass(frozen=True)
class Ellipsoid(Wall):
    """An ellipsoid.

    Inside, a sphere of a radius above (least semi-axis)^2 / (greatest semi-axis) can touch two points at once; its gap has a kink there.

    Args:
        semi_axes: (3,) [m].
        centre: (3,) in the world [m].
        rotation: (3, 3), whose columns are the axes in the world; None: world axes.
        side: Where the robot is: "inside" or "outside".
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
    """

    semi_axes: ArrayLike
    centre: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, "semi_axes", as_lengths("Ellipsoid", "semi_axes", self.semi_axes))
        put(self, "centre", as_vector("Ellipsoid", "centre", self.centre))
        put(self, "rotation", as_rotation("Ellipsoid", self.rotation))
        sign_of("Ellipsoid", self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        sign, axes = sign_of("Ellipsoid", self.side), np.array(self.semi_axes)
        return (
            self._surface(
                "ellipsoid",
                sign=sign,
                centre=np.array(self.centre),
                frame=rotation_matrix(self.rotation).T,
                size=np.array([*axes, 0.0]),
                room=axes.min() if sign < 0.0 else np.inf,
            ),
        )


@dataclass(frozen=True)
class Box(Wall):
    """A box.

    Inside it is six planes, named after the face ("box.+x"); outside one surface, rounded at the edges for a sphere.

    Args:
        size: Edges (3,) [m].
        centre: (3,) in the world [m].
        rotation: (3, 3), whose columns are the axes in the world; None: world axes.
        side: Where the robot is: "inside" or "outside".
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
    """

    size: ArrayLike
    centre: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, "size", as_lengths("Box", "size", self.size))
        put(self, "centre", as_vector("Box", "centre", self.centre))
        put(self, "rotation", as_rotation("Box", self.rotation))
        sign_of("Box", self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        half, centre, rotation = np.array(self.size) / 2.0, np.array(self.centre), rotation_matrix(self.rotation)
        if self.side == "outside":
            return (self._surface("box", centre=centre, frame=rotation.T, size=np.array([*half, 0.0])),)
        return tuple(
            self._plane(("+" if way > 0.0 else "-") + axis, -way * rotation[:, k], centre + way * half[k] * rotation[:, k], half.min())
            for k, axis in enumerate("xyz")
            for way in (1.0, -1.0)
        )


@dataclass(frozen=True, init=False)
class Corridor(Wall):
    """The space between two parallel planes.

    Its surfaces are "corridor.+" (the one that the normal points to) and "corridor.-"; the unit normal is kept as ``direction``.

    Args:
        width: Between the planes [m].
        normal: (3,) in the world, of any length.
        centre: (3,) half-way between them, in the world [m].
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
    """

    width: float
    direction: tuple[float, ...]
    centre: tuple[float, ...]

    def __init__(
        self,
        width: float,
        normal: ArrayLike = (0.0, 1.0, 0.0),
        centre: ArrayLike = (0.0, 0.0, 0.0),
        *,
        restitution: float | None = None,
        friction: FrictionLike | None = None,
        motion: Motion | Callable[[float], ArrayLike] | None = None,
        name: str = "",
    ) -> None:
        put(self, "width", as_length("Corridor", "width", width))
        put(self, "direction", as_unit("Corridor", "normal", normal))
        put(self, "centre", as_vector("Corridor", "centre", centre))
        super().__init__(restitution=restitution, friction=friction, motion=motion, name=name)

    def surfaces(self) -> tuple[Surface, ...]:
        n, centre, half = np.array(self.direction), np.array(self.centre), self.width / 2.0
        return (self._plane("+", -n, centre + half * n, half), self._plane("-", n, centre - half * n, half))
