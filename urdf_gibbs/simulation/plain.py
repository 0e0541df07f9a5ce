"""Fields of frozen records, and values as plain JSON types."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import ArgumentError

Array = NDArray[np.float64]


def set_field(record: Any, name: str, value: Any) -> None:
    """Set a field of a frozen record during its construction."""
    object.__setattr__(record, name, value)


def put_array(record: Any, name: str, shape: tuple[int, ...]) -> None:
    """Replace the field by a read-only float64 array of this shape."""
    array = np.asarray(getattr(record, name), dtype=np.float64)
    if array.shape != shape:
        raise ArgumentError(f"{type(record).__name__.lower()}.{name} has shape {array.shape}, expected {shape}")
    set_field(record, name, read_only(array))


def read_only(array: Array) -> Array:
    """A view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def plain(value: Any) -> Any:
    """The value as plain JSON types; anything else becomes its repr."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else repr(value)
