"""Checks of wall arguments: an ArgumentError names the wall, the value and what is expected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import finite, listed, wide
from urdf_gibbs.errors import ArgumentError

Array = NDArray[np.float64]


def put(wall: object, name: str, value: object) -> None:
    object.__setattr__(wall, name, value)


def shown(value: object) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def as_number(kind: str, what: str, value: Any) -> float:
    number = finite(value, ())
    if number is None:
        raise ArgumentError(f"{kind}: {what} is {value!r}; expected a finite number")
    return float(number)


def as_length(kind: str, what: str, value: Any) -> float:
    number = as_number(kind, what, value)
    if number <= 0.0:
        raise ArgumentError(f"{kind}: {what} is {value!r}; expected a positive number of metres")
    return number


def as_vector(kind: str, what: str, value: Any, count: int = 3) -> tuple[float, ...]:
    array = finite(value, (count,))
    if array is None:
        raise ArgumentError(f"{kind}: {what} is {shown(value)}; expected {count} finite numbers")
    return tuple(array.tolist())


def as_lengths(kind: str, what: str, value: Any) -> tuple[float, ...]:
    vector = as_vector(kind, what, value)
    if min(vector) <= 0.0:
        raise ArgumentError(f"{kind}: {what} is {shown(value)}; expected 3 positive numbers of metres")
    return vector


def as_unit(kind: str, what: str, value: Any) -> tuple[float, ...]:
    vector = np.array(as_vector(kind, what, value))
    largest = np.abs(vector).max()
    if largest == 0.0:
        raise ArgumentError(f"{kind}: {what} is {shown(value)}; expected a vector that is not zero")
    vector /= largest  # so that no square over- or underflows
    return tuple((vector / np.linalg.norm(vector)).tolist())


def as_rotation(kind: str, value: Any) -> tuple[tuple[float, ...], ...] | None:
    if value is None:
        return None
    matrix = finite(value, (3, 3))
    if matrix is None or not np.allclose(matrix @ matrix.T, np.eye(3), rtol=0.0, atol=1e-9) or np.linalg.det(matrix) < 0.0:
        raise ArgumentError(f"{kind}: rotation is {shown(value)}; expected a rotation matrix (3, 3), or None")
    return tuple(tuple(row) for row in matrix.tolist())


def sign_of(kind: str, side: Any) -> float:
    """+1 outside, -1 inside."""
    if side == "inside":
        return -1.0
    if side == "outside":
        return 1.0
    raise ArgumentError(f"{kind}: side is {side!r}; expected 'inside' or 'outside'")


def as_points(kind: str, what: str, value: ArrayLike) -> Array:
    return wide(value, 3, f"{kind}: {what}")


def wall_list(walls: Any) -> list[Any]:
    """The walls that an argument ``walls`` holds, one or several."""
    from urdf_gibbs.walls.wall import Wall

    given = [walls] if isinstance(walls, Wall) else listed(walls, "a wall, or a list of walls", "walls")
    for i, wall in enumerate(given):
        if not isinstance(wall, Wall):
            raise ArgumentError(f"walls[{i}] is {wall!r}, expected Plane, Circle, Box, ... of urdf_gibbs.walls")
    return given
