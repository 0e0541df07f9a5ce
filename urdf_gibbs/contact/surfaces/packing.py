"""Packs walls into rows of ``Surfaces``, each with a unique name."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from urdf_gibbs.contact.surfaces.callbacks import Callbacks, address_of, implicit_function
from urdf_gibbs.contact.surfaces.layout import (
    CENTRE,
    COUNT_X,
    COUNT_Y,
    DRIFT,
    FRAME,
    FUNCTION,
    INTEGERS,
    KIND,
    KINDS,
    MOTION,
    MOTION_CALL,
    MOVES,
    OFFSET,
    RADIUS,
    SCRATCH,
    SHAPE_CALL,
    SIGN,
    SIZE,
    STEEPEST,
    TABLE,
    VIBRATION,
    WIDTH,
    Array,
    Surfaces,
)
from urdf_gibbs.contact.surfaces.path import Path
from urdf_gibbs.contact.surfaces.summit import highest_points
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls import Drift, Surface, Vibration, Wall, labels


def pack(walls: Iterable[Wall], resolution: float = 1e-3) -> tuple[Surfaces, list[str], list[Surface], Callbacks]:
    """The surfaces of the walls, their names and what they were made from, and the users' functions in them.

    The surfaces keep these functions alive, as every Struct does that is made from them by ``replaced``.

    ``resolution`` [s]: how finely a motion given as a Python function is sampled.
    A wall without a name that repeats gets a number ("plane", "plane_2"); two walls given the same name are an error.
    """
    records = _records(walls)
    keep = Callbacks()
    count = len(records)
    kind, values, integers = np.zeros(count, np.int64), np.zeros((count, WIDTH)), np.zeros((count, INTEGERS), np.int64)
    data: list[Array] = []
    addresses: dict[int, int] = {}  # a motion that several surfaces share is one callback
    for i, (name, record) in enumerate(records):
        kind[i] = integers[i, KIND] = KINDS[record.kind]
        values[i, SIGN], values[i, RADIUS] = record.sign, record.radius
        values[i, CENTRE : CENTRE + 3] = record.centre
        values[i, FRAME : FRAME + 9] = record.frame.ravel()
        values[i, SIZE : SIZE + 4] = record.size
        if isinstance(record.motion, Vibration):
            integers[i, MOVES] = VIBRATION
            values[i, MOTION : MOTION + 5] = (*np.asarray(record.motion.amplitude), record.motion.omega, record.motion.phase)
        elif isinstance(record.motion, Drift):
            integers[i, MOVES] = DRIFT
            values[i, MOTION : MOTION + 3] = record.motion.velocity
        elif record.motion is not None:
            integers[i, MOVES] = FUNCTION
            if id(record.motion) not in addresses:
                addresses[id(record.motion)] = address_of(Path(record.motion, name, resolution), 1, 10, keep)
            integers[i, MOTION_CALL] = addresses[id(record.motion)]
        if record.callback is not None:
            integers[i, SHAPE_CALL] = address_of(implicit_function(record.callback, name), 4, 10, keep)
        if record.data is not None:
            highest, values[i, STEEPEST] = highest_points(record.data, record.size[1], record.size[3])
            integers[i, OFFSET] = sum(part.size for part in data)
            integers[i, TABLE] = integers[i, OFFSET] + record.data.size
            integers[i, COUNT_X], integers[i, COUNT_Y] = record.data.shape[0] - 2, record.data.shape[1] - 2
            data += [record.data.ravel(), highest]
    packed = Surfaces(
        kind=kind,
        values=values,
        integers=integers,
        data=np.concatenate([*data, np.zeros(1)]),
        max_step=np.full(count, np.inf),
        scratch=np.zeros(SCRATCH),
    )
    packed.kept = keep
    return packed, [name for name, _ in records], [record for _, record in records], keep


def check_radius(walls: Iterable[Wall], radius: float) -> None:
    """Raise ArgumentError where a sphere of that radius [m] does not fit inside a wall."""
    if not (math.isfinite(radius) and radius >= 0.0):
        raise ArgumentError(f"the radius of a contact sphere is {radius!r}; expected a finite number of metres, 0 or more")
    for name, record in _records(walls):
        if radius >= record.room:
            raise ArgumentError(f"a sphere of radius {radius} m does not fit wall {name!r}: expected a radius below {record.room} m")


def _records(walls: Iterable[Wall]) -> list[tuple[str, Surface]]:
    """Unique names and the records."""
    records: list[tuple[str, Surface]] = []
    given: set[str] = set()
    walls = tuple(walls)
    for wall in walls:
        if not isinstance(wall, Wall):
            raise ArgumentError(f"walls holds {wall!r}; expected Plane, Circle, Box, ... of urdf_gibbs.walls")
        if wall.name and wall.name in given:
            raise ArgumentError(f"two walls are named {wall.name!r}; expected names that differ")
        given.add(wall.name)
    kinds = [type(wall).__name__.lower() for wall in walls]
    names = labels((wall.name, kind) for wall, kind in zip(walls, kinds, strict=True))
    for wall, kind, label in zip(walls, kinds, names, strict=True):
        for record in wall.surfaces():
            part = record.name[len(wall.name or kind) :]
            records.append((label + part, record))
    return records
