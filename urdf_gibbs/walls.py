"""Walls a robot may meet: where they stand, which side is free, and how they move.

A wall is described here and evaluated by compiled code (contact/surfaces.py), which is imported on the first evaluation only.
Lengths in metres, times in seconds, all vectors in world axes. A wall moves by a translation d(t) only; what the arguments give
is its place at d = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import finite, wide
from urdf_gibbs.errors import ArgumentError

Array = NDArray[np.float64]
Side = Literal["inside", "outside"]

# motions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vibration:
    """d(t) = amplitude sin(omega t + phase), amplitude (3,) [m], omega [rad/s], phase [rad]."""

    amplitude: ArrayLike
    omega: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        _put(self, "amplitude", _vector("Vibration", "amplitude", self.amplitude))
        _put(self, "omega", _number("Vibration", "omega", self.omega))
        _put(self, "phase", _number("Vibration", "phase", self.phase))


@dataclass(frozen=True)
class Drift:
    """d(t) = velocity t, velocity (3,) [m/s]."""

    velocity: ArrayLike

    def __post_init__(self) -> None:
        _put(self, "velocity", _vector("Drift", "velocity", self.velocity))


Motion: TypeAlias = Vibration | Drift


class Surface(NamedTuple):
    """One smooth piece of a wall, as contact/surfaces.py packs it.

    Local coordinates are ``frame`` (x - centre - d(t)), the rows of ``frame`` being the local axes. ``sign`` is +1 when the robot
    is outside; ``room`` is the radius from which on a sphere no longer fits.
    """

    name: str
    kind: str
    sign: float
    radius: float
    centre: Array
    frame: Array
    size: Array
    restitution: float | None
    motion: Motion | Callable[[float], ArrayLike] | None
    callback: Implicit | None
    data: Array | None
    room: float


# walls --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Wall:
    """What all walls share.

    ``restitution`` in [0, 1] (None: the simulation's), ``motion`` a Vibration, a Drift or a function of t that returns d (3,) [m]
    (made into polynomials piece by piece, exact to rounding: it is evaluated up to 8 ms ahead), ``name`` for reports (empty: the kind
    of the wall).
    """

    restitution: float | None = None
    motion: Motion | Callable[[float], ArrayLike] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if self.restitution is not None:
            value = _number(kind, "restitution", self.restitution)
            if not 0.0 <= value <= 1.0:
                raise ArgumentError(f"{kind}: restitution is {self.restitution!r}; expected a number in [0, 1], or None")
            _put(self, "restitution", value)
        if self.motion is not None and not isinstance(self.motion, Vibration | Drift) and not callable(self.motion):
            raise ArgumentError(f"{kind}: motion is {self.motion!r}; expected a Vibration, a Drift, a function of t, or None")
        if not isinstance(self.name, str):
            raise ArgumentError(f"{kind}: name is {self.name!r}; expected a string")

    def surfaces(self) -> tuple[Surface, ...]:
        """The smooth pieces of the wall."""
        raise NotImplementedError

    def gap(self, x: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Signed distance (...) [m] of the points x (..., 3) at t: positive on the free side; of several surfaces the least."""
        return self._nearest(x, None, t)[..., 0]

    def normal(self, x: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Unit normal (..., 3) at the point of the wall nearest to x (..., 3), pointing to the free side; nan where it is undefined."""
        return self._nearest(x, None, t)[..., 2:5]

    def gap_rate(self, x: ArrayLike, velocity: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Rate of the gap (...) [m/s] for points that move with ``velocity`` (..., 3)."""
        return self._nearest(x, velocity, t)[..., 1]

    def normal_rate(self, x: ArrayLike, velocity: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Rate of the normal (..., 3) [1/s] for points that move with ``velocity`` (..., 3)."""
        return self._nearest(x, velocity, t)[..., 5:8]

    @cached_property
    def _packed(self) -> Any:
        from urdf_gibbs.contact.surfaces import pack

        surfaces, _, _, keep = pack([self])
        return surfaces, keep

    def _nearest(self, x: ArrayLike, velocity: ArrayLike | None, t: ArrayLike) -> Array:
        """(..., 8): gap, its rate, normal (3), its rate (3), of the nearest surface."""
        from urdf_gibbs.contact.surfaces import Places, nearest

        kind = type(self).__name__
        points = _points(kind, "x", x)
        speeds = np.zeros(3) if velocity is None else _points(kind, "velocity", velocity)
        times = np.asarray(t, dtype=float)
        try:
            batch = np.broadcast_shapes(points.shape[:-1], speeds.shape[:-1], times.shape)
        except ValueError:
            raise ArgumentError(
                f"{kind}: x {points.shape}, velocity {speeds.shape} and t {times.shape} do not broadcast to one shape of points"
            ) from None
        points, speeds = (np.broadcast_to(array, (*batch, 3)).reshape(-1, 3).copy() for array in (points, speeds))
        instants = np.broadcast_to(times, batch).reshape(-1).copy()
        surfaces, keep = self._packed
        out = np.empty((len(instants), 8))
        # Scratch of its own for each call: two threads may ask the same wall.
        own = surfaces.replaced(scratch=np.zeros_like(surfaces.scratch))
        nearest(own, Places(t=instants, x=points, xd=speeds, out=out))
        keep.raise_error()
        return out.reshape(*batch, 8)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_packed"}

    def _surface(self, kind: str, part: str = "", **fields: Any) -> Surface:
        base: dict[str, Any] = {
            "sign": 1.0,
            "radius": 0.0,
            "centre": np.zeros(3),
            "frame": np.eye(3),
            "size": np.zeros(4),
            "callback": None,
            "data": None,
            "room": np.inf,
        }
        name = self.name or type(self).__name__.lower()
        return Surface(
            name=f"{name}.{part}" if part else name, kind=kind, restitution=self.restitution, motion=self.motion, **{**base, **fields}
        )

    def _plane(self, part: str, normal: Array, point: Array, room: float) -> Surface:
        return self._surface("plane", part, centre=point, frame=_frame(normal), room=room)


@dataclass(frozen=True, init=False)
class Plane(Wall):
    """The plane through ``point`` (3,); the robot lives on the side ``normal`` (3,) points to, kept as the unit vector ``direction``."""

    direction: tuple[float, ...]
    point: tuple[float, ...]

    def __init__(
        self,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        point: ArrayLike = (0.0, 0.0, 0.0),
        *,
        restitution: float | None = None,
        motion: Motion | Callable[[float], ArrayLike] | None = None,
        name: str = "",
    ) -> None:
        # Written out since ``normal`` is a method of every wall and cannot be a field as well.
        _put(self, "direction", _unit("Plane", "normal", normal))
        _put(self, "point", _vector("Plane", "point", point))
        super().__init__(restitution=restitution, motion=motion, name=name)

    def surfaces(self) -> tuple[Surface, ...]:
        return (self._plane("", np.array(self.direction), np.array(self.point), np.inf),)


@dataclass(frozen=True)
class Circle(Wall):
    """A circle of ``radius`` in the plane through ``centre`` across ``axis``: the infinite cylinder about that axis."""

    radius: float
    centre: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 0.0, 1.0)
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = type(self).__name__
        _put(self, "radius", _length(kind, "radius", self.radius))
        _put(self, "centre", _vector(kind, "centre", self.centre))
        _put(self, "axis", _unit(kind, "axis", self.axis))
        _sign(kind, self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        sign = _sign(type(self).__name__, self.side)
        room = self.radius if sign < 0.0 else np.inf
        return (
            self._surface(
                "cylinder", sign=sign, radius=self.radius, centre=np.array(self.centre), frame=_frame(np.array(self.axis)), room=room
            ),
        )


@dataclass(frozen=True)
class Cylinder(Circle):
    """The infinite cylinder of ``radius`` about the line through ``centre`` along ``axis``."""


@dataclass(frozen=True)
class Sphere(Wall):
    """The sphere of ``radius`` about ``centre`` (3,)."""

    radius: float
    centre: ArrayLike = (0.0, 0.0, 0.0)
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        _put(self, "radius", _length("Sphere", "radius", self.radius))
        _put(self, "centre", _vector("Sphere", "centre", self.centre))
        _sign("Sphere", self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        sign = _sign("Sphere", self.side)
        room = self.radius if sign < 0.0 else np.inf
        return (self._surface("sphere", sign=sign, radius=self.radius, centre=np.array(self.centre), room=room),)


@dataclass(frozen=True)
class Ellipsoid(Wall):
    """The ellipsoid of ``semi_axes`` (3,) [m] about ``centre``, along the columns of ``rotation`` (3, 3) (None: world axes).

    Inside, a sphere of a radius above (least semi-axis)^2 / (greatest semi-axis) can touch two points at once; its gap has a kink there.
    """

    semi_axes: ArrayLike
    centre: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        _put(self, "semi_axes", _lengths("Ellipsoid", "semi_axes", self.semi_axes))
        _put(self, "centre", _vector("Ellipsoid", "centre", self.centre))
        _put(self, "rotation", _rotation("Ellipsoid", self.rotation))
        _sign("Ellipsoid", self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        sign, axes = _sign("Ellipsoid", self.side), np.array(self.semi_axes)
        return (
            self._surface(
                "ellipsoid",
                sign=sign,
                centre=np.array(self.centre),
                frame=_turned(self.rotation).T,
                size=np.array([*axes, 0.0]),
                room=axes.min() if sign < 0.0 else np.inf,
            ),
        )


@dataclass(frozen=True)
class Box(Wall):
    """The box with edges ``size`` (3,) [m] about ``centre``, along the columns of ``rotation`` (3, 3) (None: world axes).

    Inside it is six planes, named after the face ("box.+x"); outside one surface, rounded at the edges for a sphere.
    """

    size: ArrayLike
    centre: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None
    side: Side = "inside"

    def __post_init__(self) -> None:
        super().__post_init__()
        _put(self, "size", _lengths("Box", "size", self.size))
        _put(self, "centre", _vector("Box", "centre", self.centre))
        _put(self, "rotation", _rotation("Box", self.rotation))
        _sign("Box", self.side)

    def surfaces(self) -> tuple[Surface, ...]:
        half, centre, rotation = np.array(self.size) / 2.0, np.array(self.centre), _turned(self.rotation)
        if self.side == "outside":
            return (self._surface("box", centre=centre, frame=rotation.T, size=np.array([*half, 0.0])),)
        return tuple(
            self._plane(("+" if way > 0.0 else "-") + axis, -way * rotation[:, k], centre + way * half[k] * rotation[:, k], half.min())
            for k, axis in enumerate("xyz")
            for way in (1.0, -1.0)
        )


@dataclass(frozen=True, init=False)
class Corridor(Wall):
    """The space between two parallel planes, ``width`` [m] apart, across ``normal`` (3,), half-way at ``centre`` (3,).

    Its surfaces are "corridor.+" (the one ``normal`` points to) and "corridor.-"; the unit normal is kept as ``direction``.
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
        motion: Motion | Callable[[float], ArrayLike] | None = None,
        name: str = "",
    ) -> None:
        _put(self, "width", _length("Corridor", "width", width))
        _put(self, "direction", _unit("Corridor", "normal", normal))
        _put(self, "centre", _vector("Corridor", "centre", centre))
        super().__init__(restitution=restitution, motion=motion, name=name)

    def surfaces(self) -> tuple[Surface, ...]:
        n, centre, half = np.array(self.direction), np.array(self.centre), self.width / 2.0
        return (self._plane("+", -n, centre + half * n, half), self._plane("-", n, centre - half * n, half))


@dataclass(frozen=True, eq=False)
class HeightField(Wall):
    """Ground z = h(x, y) below the robot, a twice differentiable bicubic spline through ``heights`` (nx, ny) [m].

    heights[i, j] stands at the i-th of nx even steps over ``x`` = (x0, x1) and the j-th of ny over ``y`` = (y0, y1). The spline has no
    curvature across its edges (a natural spline) and goes on straight beyond them, with the slope of the edge. The gap of a sphere is
    smooth where it can touch the ground at one point only: while its radius is below that of the valleys.
    """

    heights: ArrayLike = field(repr=False)
    x: ArrayLike
    y: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            heights = np.array(self.heights, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(f"HeightField: heights is {self.heights!r}; expected an array (nx, ny) of metres") from None
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ArgumentError(f"HeightField: heights has shape {heights.shape}; expected (nx, ny) with nx, ny >= 2")
        if not np.isfinite(heights).all():
            at = tuple(int(k) for k in np.argwhere(~np.isfinite(heights))[0])
            raise ArgumentError(f"HeightField: heights{list(at)} is {heights[at]}; expected finite metres")
        heights.flags.writeable = False
        _put(self, "heights", heights)
        for what, span in (("x", self.x), ("y", self.y)):
            first, last = _vector("HeightField", what, span, 2)
            if not first < last:
                raise ArgumentError(f"HeightField: {what} is {span!r}; expected (first, last) with first < last")
            _put(self, what, (first, last))

    def surfaces(self) -> tuple[Surface, ...]:
        heights = np.asarray(self.heights, dtype=float)
        (x0, x1), (y0, y1) = np.asarray(self.x, dtype=float), np.asarray(self.y, dtype=float)
        nx, ny = heights.shape
        coefficients = _spline(_spline(heights).T).T
        size = np.array([x0, (x1 - x0) / (nx - 1), y0, (y1 - y0) / (ny - 1)])
        return (self._surface("height", size=size, data=np.ascontiguousarray(coefficients)),)


@dataclass(frozen=True)
class Implicit(Wall):
    """The surface phi(x) = 0 of any smooth ``function`` of x (3,) [m], positive where the robot may be.

    ``gradient`` returns (3,); without it, and for second derivatives, differences over ``scale`` / 1024 [m] are taken: ``scale`` is a
    length over which phi is well approximated by a polynomial of low degree.
    """

    function: Callable[[Array], float]
    gradient: Callable[[Array], ArrayLike] | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise ArgumentError(f"Implicit: function is {self.function!r}; expected a function of x (3,) that returns phi")
        if self.gradient is not None and not callable(self.gradient):
            raise ArgumentError(f"Implicit: gradient is {self.gradient!r}; expected a function of x (3,) that returns (3,), or None")
        _put(self, "scale", _length("Implicit", "scale", self.scale))

    def surfaces(self) -> tuple[Surface, ...]:
        return (self._surface("implicit", callback=self, radius=self.scale),)


# descriptions -------------------------------------------------------------------------------------


def described(value: Any) -> Any:
    """A wall or its motion as plain values; functions by their names, which do not lead back to them."""
    if hasattr(value, "__dataclass_fields__"):
        return {"kind": type(value).__name__.lower(), **{entry.name: described(getattr(value, entry.name)) for entry in fields(value)}}
    return f"<{getattr(value, '__name__', type(value).__name__)}>" if callable(value) else value


def labels(walls: Iterable[tuple[str, str]]) -> list[str]:
    """Names for (name, kind): the name, or the kind, with a number where that is taken."""
    listed = list(walls)
    taken = {name for name, _ in listed if name}
    found = []
    for name, kind in listed:
        number = 1
        while not name:
            candidate = kind if number == 1 else f"{kind}_{number}"
            if candidate not in taken:
                taken.add(name := candidate)
            number += 1
        found.append(name)
    return found


def wall_from(description: Mapping[str, Any]) -> Wall:
    """The wall of a description, equal to the last digit; ArgumentError where it holds a function or is none of a wall."""
    arguments = dict(description)
    if isinstance(arguments.get("motion"), Mapping):
        arguments["motion"] = _from(arguments["motion"], (Vibration, Drift))
    wall: Wall = _from(arguments, (Plane, Circle, Cylinder, Sphere, Ellipsoid, Box, Corridor, HeightField, Implicit))
    # A unit vector that is scaled to length 1 again may change in its last digit.
    for name in ("direction", "axis"):
        if name in arguments and np.allclose(exact := np.array(arguments[name], dtype=float), getattr(wall, name), rtol=0.0, atol=1e-15):
            _put(wall, name, tuple(exact.tolist()))
    return wall


def _from(description: Mapping[str, Any], known: tuple[type, ...]) -> Any:
    kinds = {kind.__name__.lower(): kind for kind in known}
    kind = description.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ArgumentError(f"the kind is {kind!r}; expected one of {', '.join(kinds)}")
    # The unit normal is kept under another name than the argument has.
    arguments = {"normal" if key == "direction" else key: value for key, value in description.items() if key != "kind"}
    try:
        return kinds[kind](**arguments)
    except TypeError as problem:
        raise ArgumentError(f"{kinds[kind].__name__}: {problem}") from None


# geometry -----------------------------------------------------------------------------------------


def _frame(axis: Array) -> Array:
    """Rows: two unit vectors across the unit vector ``axis``, then ``axis``; the identity for z."""
    first = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = first - axis * (axis @ first)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis, first), axis])


def _turned(rotation: ArrayLike | None) -> Array:
    return np.eye(3) if rotation is None else np.array(rotation, dtype=float)


def _spline(heights: Array) -> Array:
    """Coefficients (n + 2, m) of the uniform cubic B-spline along the first axis of ``heights`` (n, m), straight at both ends."""
    n = len(heights)
    system = np.eye(n)
    for k in range(1, n - 1):
        system[k, k - 1 : k + 2] = np.array([1.0, 4.0, 1.0]) / 6.0
    inner = np.linalg.solve(system, heights)
    return np.vstack([2.0 * inner[0] - inner[1], inner, 2.0 * inner[-1] - inner[-2]])


# arguments ----------------------------------------------------------------------------------------


def _put(wall: object, name: str, value: object) -> None:
    object.__setattr__(wall, name, value)


def _shown(value: object) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _number(kind: str, what: str, value: Any) -> float:
    number = finite(value, ())
    if number is None:
        raise ArgumentError(f"{kind}: {what} is {value!r}; expected a finite number")
    return float(number)


def _length(kind: str, what: str, value: Any) -> float:
    number = _number(kind, what, value)
    if number <= 0.0:
        raise ArgumentError(f"{kind}: {what} is {value!r}; expected a positive number of metres")
    return number


def _vector(kind: str, what: str, value: Any, count: int = 3) -> tuple[float, ...]:
    array = finite(value, (count,))
    if array is None:
        raise ArgumentError(f"{kind}: {what} is {_shown(value)}; expected {count} finite numbers")
    return tuple(array.tolist())


def _lengths(kind: str, what: str, value: Any) -> tuple[float, ...]:
    vector = _vector(kind, what, value)
    if min(vector) <= 0.0:
        raise ArgumentError(f"{kind}: {what} is {_shown(value)}; expected 3 positive numbers of metres")
    return vector


def _unit(kind: str, what: str, value: Any) -> tuple[float, ...]:
    vector = np.array(_vector(kind, what, value))
    largest = np.abs(vector).max()
    if largest == 0.0:
        raise ArgumentError(f"{kind}: {what} is {_shown(value)}; expected a vector that is not zero")
    vector /= largest  # so that no square over- or underflows
    return tuple((vector / np.linalg.norm(vector)).tolist())


def _rotation(kind: str, value: Any) -> tuple[tuple[float, ...], ...] | None:
    if value is None:
        return None
    matrix = finite(value, (3, 3))
    if matrix is None or not np.allclose(matrix @ matrix.T, np.eye(3), rtol=0.0, atol=1e-9) or np.linalg.det(matrix) < 0.0:
        raise ArgumentError(f"{kind}: rotation is {_shown(value)}; expected a rotation matrix (3, 3), or None")
    return tuple(tuple(row) for row in matrix.tolist())


def _sign(kind: str, side: Any) -> float:
    """+1 outside, -1 inside."""
    if side == "inside":
        return -1.0
    if side == "outside":
        return 1.0
    raise ArgumentError(f"{kind}: side is {side!r}; expected 'inside' or 'outside'")


def _points(kind: str, what: str, value: ArrayLike) -> Array:
    return wide(value, 3, f"{kind}: {what}")
