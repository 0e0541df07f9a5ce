"""Coefficients of friction as a user gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from urdf_gibbs.arguments import within
from urdf_gibbs.errors import ArgumentError

FrictionLike = float | Sequence[float]


class Coefficients(NamedTuple):
    """Of Coulomb friction: the tangential force is at most ``static`` times the normal force at rest, ``kinetic`` times it in motion."""

    static: float
    kinetic: float


def coefficients(friction: Any, name: str) -> Coefficients:
    """One number for both, or (static, kinetic); ArgumentError where one is negative or not finite, or kinetic is above static."""
    values = tuple(friction) if isinstance(friction, Sequence) and not isinstance(friction, str) else (friction, friction)
    if len(values) != 2:
        raise ArgumentError(f"{name}={friction!r}, expected one coefficient, or two: (static, kinetic)")
    static, kinetic = (within(value, 0.0, 1e308, name) for value in values)
    if kinetic > static:
        raise ArgumentError(f"{name}={friction!r}, expected a kinetic coefficient (the second) that is not above the static one")
    return Coefficients(static, kinetic)
