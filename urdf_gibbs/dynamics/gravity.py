"""Gravity [m/s^2] in world axes: what it is unless somebody says otherwise."""

from __future__ import annotations

from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Vec3, finite
from urdf_gibbs.errors import ArgumentError

EARTH_GRAVITY: Vec3 = (0.0, 0.0, -9.81)


def finite_gravity(gravity: ArrayLike) -> Vec3:
    """For text, which has no way to write what is not a number."""
    array = finite(gravity, (3,))
    if array is None:
        raise ArgumentError(f"gravity {gravity!r}: expected three finite numbers [m/s^2]")
    x, y, z = array.tolist()
    return x, y, z
