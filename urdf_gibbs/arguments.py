"""Checks of arguments: numbers of the right shape and range, or an ArgumentError that says what was expected.

``name`` is the argument's name in the message.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError, UnknownNameError

Array = NDArray[np.float64]
Vec3 = tuple[float, float, float]
FrictionLike = float | Sequence[float]

NUMBERS = frozenset((float, int, np.float64))
SEQUENCES = (tuple, list)
FLOAT64 = np.dtype(np.float64)
LARGEST_FRICTION = 1e308
LONGEST_SHOWN = 80  # characters of a wrong value in a message


def wide(values: ArrayLike, width: int, name: str) -> Array:
    """An array (..., width)."""
    array = numbers(values, f"(..., {width})", name)
    if array.ndim == 0 or array.shape[-1] != width:
        raise ArgumentError(f"{name} has shape {array.shape}, expected (..., {width})")
    return array


def vector(values: ArrayLike, width: int, name: str) -> Array:
    """A new array (width,) of finite numbers."""
    array = np.array(numbers(values, f"({width},)", name))
    if array.shape != (width,):
        raise ArgumentError(f"{name} has shape {array.shape}, expected ({width},)")
    if not math.isfinite(sum(array.tolist())) and not np.isfinite(array).all():  # the sum alone is fast, but may overflow
        wrong = np.flatnonzero(~np.isfinite(array)).tolist()
        raise ArgumentError(f"{name} has entries that are not finite: {wrong}, expected ({width},) finite numbers")
    return array


def triple(values: ArrayLike, name: str) -> Vec3:
    """Three finite floats."""
    if isinstance(values, SEQUENCES) and len(values) == 3:  # a fast path for the most common forms
        x, y, z = values
        if type(x) in NUMBERS and type(y) in NUMBERS and type(z) in NUMBERS and math.isfinite(x + y + z):
            return float(x), float(y), float(z)
    x, y, z = vector(values, 3, name).tolist()
    return x, y, z


def within(value: Any, low: float, high: float, name: str) -> float:
    """A number from low to high."""
    try:
        number = math.nan if isinstance(value, str | bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        expected = f"a number from {low:g} to {high:g}" if high < np.inf else f"a number, {low:g} or more"
        raise ArgumentError(f"{name}={shown(value)}, expected {expected}")
    return number


class Coefficients(NamedTuple):
    """Of Coulomb friction: the tangential force is at most ``static`` times the normal force at rest, ``kinetic`` times it in motion."""

    static: float
    kinetic: float


def coefficients(friction: Any, name: str) -> Coefficients:
    """One number for both, or (static, kinetic); ArgumentError where one is negative or not finite, or kinetic is above static."""
    values = tuple(friction) if isinstance(friction, Sequence) and not isinstance(friction, str) else (friction, friction)
    if len(values) != 2:
        raise ArgumentError(f"{name}={shown(friction)}, expected one coefficient, or two: (static, kinetic)")
    static, kinetic = (within(value, 0.0, LARGEST_FRICTION, name) for value in values)
    if kinetic > static:
        raise ArgumentError(f"{name}={shown(friction)}, expected a kinetic coefficient (the second) that is not above the static one")
    return Coefficients(static, kinetic)


def finite(value: Any, shape: tuple[int, ...]) -> Array | None:
    """The value as a new array of this shape; None unless it has finite numbers only. The caller reports what was expected."""
    try:
        array = np.array(numbers(value, "", ""))
    except ArgumentError:
        return None
    return array if array.shape == shape and np.isfinite(array).all() else None


def numbers(values: ArrayLike, expected: str, name: str) -> Array:
    """An array of real numbers; text, truth values and None are none, though NumPy would convert them."""
    if type(values) is np.ndarray and values.dtype is FLOAT64:
        return values
    try:
        given = np.asarray(values)
        if given.dtype.kind in "iuf" or (given.dtype.kind == "O" and not any(isinstance(x, str | bool | None) for x in given.flat)):
            return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise ArgumentError(f"{name} is {shown(values)}, expected numbers {expected}")


def check_out(out: Any, shape: tuple[int, ...]) -> None:
    """Raise where it is no array of this shape that takes floats."""
    if not isinstance(out, np.ndarray) or out.shape != shape:
        found = f"has shape {out.shape}" if isinstance(out, np.ndarray) else f"is a {type(out).__name__}, {shown(out)}"
        raise ArgumentError(f"out {found}, expected {shape}")
    if not np.can_cast(np.float64, out.dtype, "same_kind"):
        raise ArgumentError(f"out has dtype {out.dtype}, expected a floating-point one")
    if not out.flags.writeable:
        raise ArgumentError("out is read-only, expected an array that can be written")


def one_of(value: Any, known: Sequence[str], name: str) -> str:
    """One of the names, which may be given with dashes in the place of underscores."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}={shown(value)}, expected one of {', '.join(known)}")
    found = value if value in known else value.replace("-", "_")
    if found not in known:
        raise UnknownNameError(name, value, known)
    return found


def text(value: Any, expected: str, name: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}={shown(value)}, expected {expected}")
    return value


def flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}={shown(value)}, expected True or False")
    return bool(value)


def whole(value: Any, low: int, name: str) -> int:
    """A whole number from ``low`` on."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < low:
        raise ArgumentError(f"{name}={shown(value)}, expected a whole number of at least {low}")
    return int(value)


def path_of(value: Any, name: str) -> str:
    """A path of the file system, as text."""
    if not isinstance(value, str | os.PathLike):
        raise ArgumentError(f"{name}={shown(value)}, expected a path")
    return os.fsdecode(value)


def listed(value: Any, expected: str, name: str) -> list[Any]:
    """What an iterable holds, which is neither text nor a path."""
    if isinstance(value, str | bytes | os.PathLike) or not isinstance(value, Iterable):
        raise ArgumentError(f"{name}={shown(value)}, expected {expected}")
    return list(value)


def folders(value: Any, name: str = "package_dirs") -> list[str]:
    """Paths of folders."""
    return [path_of(one, name) for one in listed(value, "a list of folders", name)]


def counted(count: int, noun: str) -> str:
    """A number with its noun, "1 link" or "2 links"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def shown(value: Any) -> str:
    """A value in a message: its repr, cut where it is long."""
    try:
        words = repr(value)
    except Exception:
        words = f"a {type(value).__name__}"
    return words if len(words) <= LONGEST_SHOWN else f"{words[:LONGEST_SHOWN]}..."
