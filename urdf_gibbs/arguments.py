"""The checks of arguments: numbers of the right shape, in the right range, or an ArgumentError that says what was expected.

``name`` is what the argument is called in the message.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError

Array = NDArray[np.float64]
Vec3 = tuple[float, float, float]

NUMBERS = frozenset((float, int, np.float64))
SEQUENCES = (tuple, list)


def wide(values: ArrayLike, width: int, name: str) -> Array:
    """An array (..., width)."""
    array = _numbers(values, f"(..., {width})", name)
    if array.ndim == 0 or array.shape[-1] != width:
        raise ArgumentError(f"{name} has shape {array.shape}, expected (..., {width})")
    return array


def vector(values: ArrayLike, width: int, name: str) -> Array:
    """An array (width,) of its own, of finite numbers."""
    array = np.array(_numbers(values, f"({width},)", name))
    if array.shape != (width,):
        raise ArgumentError(f"{name} has shape {array.shape}, expected ({width},)")
    if not math.isfinite(sum(array.tolist())) and not np.isfinite(array).all():  # the first alone is quick, but may overflow
        wrong = np.flatnonzero(~np.isfinite(array)).tolist()
        raise ArgumentError(f"{name} has entries that are not finite: {wrong}, expected ({width},) finite numbers")
    return array


def triple(values: ArrayLike, name: str) -> Vec3:
    """Three floats."""
    if isinstance(values, SEQUENCES) and len(values) == 3:  # the quick way, for the forms that are written most
        x, y, z = values
        if type(x) in NUMBERS and type(y) in NUMBERS and type(z) in NUMBERS:
            return float(x), float(y), float(z)
    array = _numbers(values, "(3,)", name)
    if array.shape != (3,):
        raise ArgumentError(f"{name} has shape {array.shape}, expected (3,)")
    x, y, z = array.tolist()
    return x, y, z


def within(value: Any, low: float, high: float, name: str) -> float:
    """A number from low to high."""
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        expected = f"a number from {low:g} to {high:g}" if high < np.inf else f"a number, {low:g} or more"
        raise ArgumentError(f"{name}={value!r}, expected {expected}")
    return number


def finite(value: Any, shape: tuple[int, ...]) -> Array | None:
    """The value as an array of its own of this shape, None where it is none of finite numbers: the caller says what was expected."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.shape == shape and np.isfinite(array).all() else None


def _numbers(values: ArrayLike, expected: str, name: str) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {values!r}, expected numbers {expected}") from None
