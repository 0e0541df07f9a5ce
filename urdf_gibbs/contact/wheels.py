"""Wheels with a width on uneven ground: as many rims as the grid of the ground needs, and whether the grid is fine enough for them.

A wheel is a cylinder on the axis of its joint. Each of its rims touches with its deepest point (rims.py), found among samples that are
half a cell apart; where the rims are no further apart than the cells as well, no bump of the ground passes between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from urdf_gibbs.contact.points import ContactPoint, resolve_points, vec3
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.names import Cylinders
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.walls import Surface, Wall

MOST_RIMS = 64  # of one wheel
STRAIGHT = 1e-12  # of the largest height: second differences below this are rounding


def wheel_points(
    robot: Robot, rims: float | None = None, crown: float = 0.0, walls: Sequence[Wall] = (), cylinders: Cylinders = "auto"
) -> tuple[ContactPoint, ...]:
    """The contact points of all collision shapes, with a choice of rims for each wheel.

    Args:
        robot: Made by ``load``.
        rims: Of each wheel, evenly over its width, from 1, in its middle; None: 2, or more where cells of a height field are narrower.
        crown: How much smaller the radius is at the sides of a wheel than in its middle [m]: the tread is an arc.
        walls: Among which height fields are looked for.
        cylinders: Which cylinders roll, as in ``simulate``.

    Returns:
        For ``points=`` of ``simulate``.

    Raises:
        ArgumentError: rims or crown is out of its range.
    """
    if rims is not None and not (1 <= rims <= MOST_RIMS and rims == int(rims)):
        raise ArgumentError(f"rims={rims!r}, expected a whole number from 1 to {MOST_RIMS}")
    points = resolve_points(robot, "collision", cylinders)
    cell = min((edge for _, edges in _grids(walls) for edge in edges if edge > 0.0), default=math.inf)
    chosen: list[ContactPoint] = []
    for point in points:
        if not point.rim:
            chosen.append(point)
        elif point.name.endswith("+"):
            other = next(one for one in points if one.name == f"{point.name[:-1]}-")
            width = math.dist(point.position, other.position)
            count = int(rims) if rims is not None else min(MOST_RIMS, max(2, 1 + math.ceil(width / cell - 1e-9)))
            chosen += _tread(point, other, count, crown)
    return tuple(chosen)


def _tread(one: ContactPoint, other: ContactPoint, count: int, crown: float) -> list[ContactPoint]:
    """So many rims from one side of a wheel to the other."""
    if not 0.0 <= crown < one.rim:
        raise ArgumentError(f"crown={crown!r}, expected 0 or more and less than the radius of a wheel, {one.rim:g} m")
    made = []
    for number in range(count):
        side = 1.0 - 2.0 * number / (count - 1) if count > 1 else 0.0
        place = 0.5 * ((1.0 + side) * np.array(one.position) + (1.0 - side) * np.array(other.position))
        made.append(replace(one, name=f"{one.name[:-1]}{number}", position=vec3(place), rim=one.rim - crown * side * side))
    return made if crown or count != 2 else [one, other]


def _grids(walls: Sequence[Wall]) -> list[tuple[str, tuple[float, float]]]:
    """Names and edges of the cells of all height fields [m]."""
    surfaces = [surface for wall in walls for surface in wall.surfaces() if surface.kind == "height"]
    return [(surface.name, (_cell(surface, 0), _cell(surface, 1))) for surface in surfaces]


def _cell(surface: Surface, axis: int) -> float:
    """Edge of the cells along an axis [m]; 0 where the ground is straight along it, and any grid would do."""
    assert surface.data is not None
    bends = np.abs(np.diff(surface.data, 2, axis=axis)).max() > STRAIGHT * np.abs(surface.data).max()
    return float(surface.size[2 * axis + 1]) if bends else 0.0


def check_grids(walls: Sequence[Wall], points: Sequence[ContactPoint]) -> None:
    """Raise ArgumentError where a cell of a height field is larger than a wheel: the ground that the wheel would feel is not in it."""
    wheels = [point for point in points if point.rim > 0.0]
    if not wheels:
        return
    least = min(wheels, key=lambda point: point.rim)
    for name, cell in _grids(walls):
        if max(cell) > 2.0 * least.rim:
            raise ArgumentError(
                f"the grid of wall {name!r} is too coarse for wheel {least.name!r}: cells of {max(cell):g} m under a diameter of "
                f"{2.0 * least.rim:g} m; expected cells no larger than the wheel"
            )
