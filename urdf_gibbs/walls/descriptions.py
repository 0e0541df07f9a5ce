"""Walls as plain values, which a file can hold, their names, and back again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls.arguments import put
from urdf_gibbs.walls.fields import HeightField, Implicit
from urdf_gibbs.walls.shapes import Box, Circle, Corridor, Cylinder, Ellipsoid, Plane, Sphere
from urdf_gibbs.walls.terrain import Terrain
from urdf_gibbs.walls.wall import Drift, Vibration, Wall


def described(value: Any) -> Any:
    """A wall or its motion as plain values; functions by their names, which do not lead back to them."""
    if hasattr(value, "__dataclass_fields__"):
        return {"kind": type(value).__name__.lower(), **{entry.name: described(getattr(value, entry.name)) for entry in fields(value)}}
    return f"<{getattr(value, '__name__', type(value).__name__)}>" if callable(value) else value


def labels(walls: Iterable[tuple[str, str]]) -> list[str]:
    """Names for (name, kind): the name, or the kind, with a number where that is taken."""
    listed = list(walls)
    taken = {name for name, _ in listed if name}
    names = []
    for name, kind in listed:
        number = 1
        while not name:
            candidate = kind if number == 1 else f"{kind}_{number}"
            if candidate not in taken:
                taken.add(name := candidate)
            number += 1
        names.append(name)
    return names


def wall_from(description: Mapping[str, Any]) -> Wall:
    """The wall of a description, equal to the last digit; ArgumentError where it holds a function or is none of a wall."""
    arguments = dict(description)
    if isinstance(arguments.get("motion"), Mapping):
        arguments["motion"] = _from(arguments["motion"], (Vibration, Drift))
    wall: Wall = _from(arguments, (Plane, Circle, Cylinder, Sphere, Ellipsoid, Box, Corridor, HeightField, Implicit, Terrain))
    # A unit vector that is scaled to length 1 again may change in its last digit.
    for name in ("direction", "axis"):
        if name in arguments and np.allclose(exact := np.array(arguments[name], dtype=float), getattr(wall, name), rtol=0.0, atol=1e-15):
            put(wall, name, tuple(exact.tolist()))
    return wall


def _from(description: Mapping[str, Any], known: tuple[type, ...]) -> Any:
    kinds = {kind.__name__.lower(): kind for kind in known}
    kind = description.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ArgumentError(f"the kind is {kind!r}; expected one of {', '.join(kinds)}")
    # The unit normal is kept under another name than the argument has.
    arguments = {"normal" if key == "direction" else key: value for key, value in description.items() if key != "kind"}
    try:
        return kinds[kind](**arguments)
    except TypeError as problem:
        raise ArgumentError(f"{kinds[kind].__name__}: {problem}") from None
