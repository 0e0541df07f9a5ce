"""Options of a simulation in hashable form, so that the same options find the same simulator."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from urdf_gibbs.walls import Drift, Vibration, Wall

PLAIN = frozenset((int, float, str, type(None)))


def hashable(value: Any) -> Any:
    """What a value is, in hashable form; TypeError for functions, which may answer differently the next time."""
    kind: Any = type(value)
    if kind in PLAIN:
        return value
    if kind is bool:  # which is equal to 0 or 1, but not meant so
        return bool, value
    if kind is tuple or kind is list:
        return tuple([entry if type(entry) in PLAIN else hashable(entry) for entry in value])
    if callable(value):
        raise TypeError
    if isinstance(value, Wall | Vibration | Drift):
        return kind, tuple([hashable(getattr(value, name)) for name in _field_names(kind)])
    if isinstance(value, dict):
        return dict, tuple(sorted((name, hashable(entry)) for name, entry in value.items()))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return tuple([hashable(entry) for entry in value]) if isinstance(value, list | tuple) else value


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
