"""Functions on [0, L] with their derivatives, of which the modes of a beam are made: waves, polynomials, splines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Shape:
    """A function on [0, length]; eta may be a number or an array of any shape."""

    length: float
    waves: float = 0.0  # largest wave number times the length: determines the panels of a quadrature
    breaks: tuple[float, ...] = ()  # eta inside (0, L) where pieces meet

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        """The derivative of that order with respect to eta [m^-order]; order 0 is the value."""
        raise NotImplementedError

    def value(self, eta: ArrayLike) -> Array:
        return self.derivative(eta, 0)

    def slope(self, eta: ArrayLike) -> Array:
        return self.derivative(eta, 1)

    def curvature(self, eta: ArrayLike) -> Array:
        return self.derivative(eta, 2)


class Wave(NamedTuple):
    """sin sin(number x) + cos cos(number x), x = eta / L."""

    number: float
    sin: float
    cos: float


class Decay(NamedTuple):
    """root exp(-number x) + tip exp(-number (1 - x)), x = eta / L."""

    number: float
    root: float
    tip: float


@dataclass(frozen=True, eq=False)
class Waves(Shape):
    """A sum of waves and decays."""

    length: float
    of: tuple[Wave | Decay, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "waves", max(part.number for part in self.of))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        x = np.asarray(eta, dtype=float) / self.length
        total = np.zeros_like(x)
        for part in self.of:
            if isinstance(part, Wave):
                number, sin, cos = part
                for _ in range(order % 4):
                    sin, cos = -cos, sin
                term = sin * np.sin(number * x) + cos * np.cos(number * x)
            else:
                number, root, tip = part
                term = (-1.0) ** order * root * np.exp(-number * x) + tip * np.exp(-number * (1.0 - x))
            total = total + (number / self.length) ** order * term
        return total

    def scaled(self, factor: float) -> Waves:
        parts = tuple(type(part)(part[0], part[1] * factor, part[2] * factor) for part in self.of)
        return Waves(self.length, parts)


@dataclass(frozen=True, eq=False)
class Power(Shape):
    """A polynomial in x = eta / L, lowest power first."""

    length: float
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "waves", float(len(self.coefficients)))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        x = np.asarray(eta, dtype=float) / self.length
        coefficients = np.array(self.coefficients)
        for _ in range(order):
            coefficients = coefficients[1:] * np.arange(1, coefficients.size) if coefficients.size > 1 else np.zeros(1)
        result = np.zeros_like(x)
        for coefficient in coefficients[::-1]:
            result = result * x + coefficient
        return result / self.length**order


@dataclass(frozen=True, eq=False)
class Derivative(Shape):
    """d(of)/d eta as a shape: the rotation of a section that stays normal to the axis."""

    of: Shape

    def __post_init__(self) -> None:
        for name in ("length", "waves", "breaks"):
            object.__setattr__(self, name, getattr(self.of, name))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        return self.of.derivative(eta, order + 1)


@dataclass(frozen=True, eq=False)
class Pieces(Shape):
    """A spline: polynomials in eta - knot, lowest power first, one row for each interval."""

    knots: Array  # (n,)
    coefficients: Array  # (n - 1, degree + 1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", float(self.knots[-1]))
        object.__setattr__(self, "breaks", tuple(self.knots[1:-1].tolist()))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        eta = np.asarray(eta, dtype=float)
        piece = np.clip(np.searchsorted(self.knots, eta, side="right") - 1, 0, len(self.knots) - 2)
        t = eta - self.knots[piece]
        result = np.zeros_like(t)
        for power in range(self.coefficients.shape[1] - 1, order - 1, -1):
            result = result * t + math.perm(power, order) * self.coefficients[piece, power]
        return result


class Bending(NamedTuple):
    """A bending mode: deflection w [1], rotation of the section psi [1/m] and shear w' - psi [1/m] (None: no shear)."""

    deflection: Shape
    rotation: Shape
    shear: Shape | None = None
