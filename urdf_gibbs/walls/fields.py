"""Walls of any shape: a grid of heights, and the zeros of a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls.arguments import as_length, as_vector, put
from urdf_gibbs.walls.wall import Surface, Wall

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeightField(Wall):
    """Ground z = h(x, y) below the robot, a twice differentiable bicubic spline through heights on a grid.

    heights[i, j] stands at the i-th of nx even steps along x and the j-th of ny along y. The spline has no curvature across its edges (a
    natural spline) and goes on straight beyond them, with the slope of the edge. The gap of a sphere is smooth where it can touch the
    ground at one point only: while its radius is below that of the valleys.

    Args:
        heights: (nx, ny) [m].
        x: (first, last) [m].
        y: (first, last) [m].
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
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
        put(self, "heights", heights)
        for what, span in (("x", self.x), ("y", self.y)):
            first, last = as_vector("HeightField", what, span, 2)
            if not first < last:
                raise ArgumentError(f"HeightField: {what} is {span!r}; expected (first, last) with first < last")
            put(self, what, (first, last))

    def surfaces(self) -> tuple[Surface, ...]:
        heights = np.asarray(self.heights, dtype=float)
        (x0, x1), (y0, y1) = np.asarray(self.x, dtype=float), np.asarray(self.y, dtype=float)
        nx, ny = heights.shape
        coefficients = _spline(_spline(heights).T).T
        size = np.array([x0, (x1 - x0) / (nx - 1), y0, (y1 - y0) / (ny - 1)])
        return (self._surface("height", size=size, data=np.ascontiguousarray(coefficients)),)


@dataclass(frozen=True)
class Implicit(Wall):
    """The surface phi(x) = 0 of any smooth function, positive where the robot may be.

    Args:
        function: function(x (3,) [m]) -> phi.
        gradient: gradient(x (3,) [m]) -> (3,); without it, and for second derivatives, differences over ``scale`` / 1024 are taken.
        scale: A length over which phi is well approximated by a polynomial of low degree [m].
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or shape, or is not finite or not positive.
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
        put(self, "scale", as_length("Implicit", "scale", self.scale))

    def surfaces(self) -> tuple[Surface, ...]:
        return (self._surface("implicit", callback=self, radius=self.scale),)


def _spline(heights: Array) -> Array:
    """Coefficients (n + 2, m) of the uniform cubic B-spline along the first axis of ``heights`` (n, m), straight at both ends."""
    n = len(heights)
    system = np.eye(n)
    for k in range(1, n - 1):
        system[k, k - 1 : k + 2] = np.array([1.0, 4.0, 1.0]) / 6.0
    inner = np.linalg.solve(system, heights)
    return np.vstack([2.0 * inner[0] - inner[1], inner, 2.0 * inner[-1] - inner[-2]])
