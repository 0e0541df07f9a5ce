"""What all walls share: how a wall moves, the smooth surfaces it consists of, and the distance to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import FrictionLike, coefficients, numbers
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls.arguments import as_number, as_points, as_vector, put

if TYPE_CHECKING:
    from urdf_gibbs.walls.fields import Implicit

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Vibration:
    """The motion d(t) = amplitude sin(omega t + phase) of a wall.

    Args:
        amplitude: (3,) in the world [m].
        omega: [rad/s].
        phase: [rad].
    """

    amplitude: ArrayLike
    omega: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        put(self, "amplitude", as_vector("Vibration", "amplitude", self.amplitude))
        put(self, "omega", as_number("Vibration", "omega", self.omega))
        put(self, "phase", as_number("Vibration", "phase", self.phase))


@dataclass(frozen=True)
class Drift:
    """The motion d(t) = velocity t of a wall.

    Args:
        velocity: (3,) in the world [m/s].
    """

    velocity: ArrayLike

    def __post_init__(self) -> None:
        put(self, "velocity", as_vector("Drift", "velocity", self.velocity))


Motion: TypeAlias = Vibration | Drift


class Surface(NamedTuple):
    """One smooth piece of a wall, as contact/surfaces/packing.py packs it.

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
    friction: FrictionLike | None
    motion: Motion | Callable[[float], ArrayLike] | None
    callback: Implicit | None
    data: Array | None
    room: float


@dataclass(frozen=True, kw_only=True)
class Wall:
    """What all walls share.

    Args:
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic), of points without their own; None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m] (made into polynomials piece by piece, exact to
            rounding: it is evaluated up to 8 ms ahead); None: it stands.
        name: For reports; "": the kind of the wall.
    """

    restitution: float | None = None
    friction: FrictionLike | None = None
    motion: Motion | Callable[[float], ArrayLike] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if self.restitution is not None:
            value = as_number(kind, "restitution", self.restitution)
            if not 0.0 <= value <= 1.0:
                raise ArgumentError(f"{kind}: restitution is {self.restitution!r}; expected a number in [0, 1], or None")
            put(self, "restitution", value)
        if self.friction is not None:
            put(self, "friction", tuple(coefficients(self.friction, f"{kind}: friction")))
        if self.motion is not None and not isinstance(self.motion, Vibration | Drift) and not callable(self.motion):
            raise ArgumentError(f"{kind}: motion is {self.motion!r}; expected a Vibration, a Drift, a function of t, or None")
        if not isinstance(self.name, str):
            raise ArgumentError(f"{kind}: name is {self.name!r}; expected a string")

    def surfaces(self) -> tuple[Surface, ...]:
        """The smooth pieces of the wall.

        Returns:
            At least one.

        Raises:
            NotImplementedError: Of the base class, which has none.
        """
        raise NotImplementedError

    def gap(self, x: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Signed distance of points, of several surfaces the least.

        Args:
            x: Points (..., 3) in the world [m].
            t: Times (...) [s].

        Returns:
            (...) [m], positive on the free side.

        Raises:
            ArgumentError: An array has a wrong type or shape.
        """
        return self._nearest(x, None, t)[..., 0]

    def normal(self, x: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Unit normal at the point of the wall nearest to a point.

        Args:
            x: Points (..., 3) in the world [m].
            t: Times (...) [s].

        Returns:
            (..., 3), pointing to the free side; NaN where it is undefined.

        Raises:
            ArgumentError: An array has a wrong type or shape.
        """
        return self._nearest(x, None, t)[..., 2:5]

    def gap_rate(self, x: ArrayLike, velocity: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Rate of the gap for points that move.

        Args:
            x: Points (..., 3) in the world [m].
            velocity: (..., 3) of the points [m/s].
            t: Times (...) [s].

        Returns:
            (...) [m/s].

        Raises:
            ArgumentError: An array has a wrong type or shape.
        """
        return self._nearest(x, velocity, t)[..., 1]

    def normal_rate(self, x: ArrayLike, velocity: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """Rate of the normal for points that move.

        Args:
            x: Points (..., 3) in the world [m].
            velocity: (..., 3) of the points [m/s].
            t: Times (...) [s].

        Returns:
            (..., 3) [1/s].

        Raises:
            ArgumentError: An array has a wrong type or shape.
        """
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
        points = as_points(kind, "x", x)
        speeds = np.zeros(3) if velocity is None else as_points(kind, "velocity", velocity)
        times = numbers(t, "(...) of seconds", f"{kind}: t")
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
            name=f"{name}.{part}" if part else name,
            kind=kind,
            restitution=self.restitution,
            friction=self.friction,
            motion=self.motion,
            **{**base, **fields},
        )

    def _plane(self, part: str, normal: Array, point: Array, room: float) -> Surface:
        return self._surface("plane", part, centre=point, frame=frame_along(normal), room=room)


def frame_along(axis: Array) -> Array:
    """Rows: two unit vectors across the unit vector ``axis``, then ``axis``; the identity for z."""
    first = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = first - axis * (axis @ first)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis, first), axis])


def rotation_matrix(rotation: ArrayLike | None) -> Array:
    return np.eye(3) if rotation is None else np.array(rotation, dtype=float)
