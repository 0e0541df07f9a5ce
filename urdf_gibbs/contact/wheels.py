"""Wheels with a width on uneven ground: as many rims as the grid of the ground needs, and whether the grid is fine enough for them.

A wheel is a cylinder on the axis of its joint. Each of its rims touches with its deepest point (rims.py), found among samples that are
half a cell apart; where the rims are no further apart than the cells as well, no bump of the ground passes between them.

URDF has no torus. A tyre is a cylinder whose edges are round with a radius r: its rims are tori with tubes of this radius, inside of the
cylinder. With half of the width as r there is one of them, in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from urdf_gibbs.arguments import within
from urdf_gibbs.contact.points import SAME, ContactPoint, resolve_points, vec3
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.names import Cylinders
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.walls import Surface, Wall

MOST_RIMS = 64  # of one wheel
STRAIGHT = 1e-12  # of the largest height: second differences below this are rounding


Tyres = float | Mapping[str, float]


def wheel_points(
    robot: Robot,
    rims: float | None = None,
    crown: float = 0.0,
    walls: Sequence[Wall] = (),
    cylinders: Cylinders = "auto",
    tyres: Tyres = 0.0,
) -> tuple[ContactPoint, ...]:
    """The contact points of all collision shapes, with a choice of rims for each wheel.

    Args:
        robot: Made by ``load``.
        rims: Of each wheel, evenly over its width, from 1, in its middle; None: 2, or more where cells of a height field are narrower.
        crown: How much smaller the radius is at the sides of a wheel than in its middle [m]: the tread is an arc.
        walls: Among which height fields are looked for.
        cylinders: Which cylinders roll, as in ``simulate``.
        tyres: Radius with which the edges of wheels are round [m], at most half of their width; of all wheels, or by the names of links.

    Returns:
        For ``points=`` of ``simulate``.

    Raises:
        ArgumentError: rims, crown or tyres is out of its range.
        UnknownNameError: A link in tyres has no wheel.
    """
    if rims is not None and not (1 <= rims <= MOST_RIMS and rims == int(rims)):
        raise ArgumentError(f"rims={rims!r}, expected a whole number from 1 to {MOST_RIMS}")
    points = resolve_points(robot, "collision", cylinders)
    cell = min((edge for _, edges in _grids(walls) for edge in edges if edge > 0.0), default=math.inf)
    tubes = _tubes(points, tyres)
    chosen: list[ContactPoint] = []
    for point in points:
        if not point.rim:
            chosen.append(point)
        elif point.name.endswith("+"):
            other = next(one for one in points if one.name == f"{point.name[:-1]}-")
            one, other, width = _inside(point, other, tubes[point.link])
            count = int(rims) if rims is not None else min(MOST_RIMS, max(2, 1 + math.ceil(width / cell - 1e-9)))
            chosen += _tread(one, other, count if width > SAME else 1, crown)
    return tuple(chosen)


def _tubes(points: Sequence[ContactPoint], tyres: Tyres) -> dict[str, float]:
    """The radii of the tubes by links with wheels [m]."""
    wheels = dict.fromkeys(point.link for point in points if point.rim)
    if not isinstance(tyres, Mapping):
        given = within(tyres, 0.0, math.inf, "tyres")
        if given > 0.0 and not wheels:
            raise ArgumentError(f"tyres={tyres!r} of a robot without wheels; expected collision cylinders about the axes of their joints")
        return dict.fromkeys(wheels, given)
    for link in tyres:
        if link not in wheels:
            raise UnknownNameError("wheel", str(link), tuple(wheels))
    return {link: within(tyres.get(link, 0.0), 0.0, math.inf, f"tyres[{link!r}]") for link in wheels}


def _inside(one: ContactPoint, other: ContactPoint, tube: float) -> tuple[ContactPoint, ContactPoint, float]:
    """The outermost rims of a tyre whose edges are round with a radius, and how far apart they are [m]."""
    width = math.dist(one.position, other.position)
    most = min(0.5 * width, one.rim)
    if tube > most + SAME:
        raise ArgumentError(
            f"tyres: {tube:g} m on {one.link!r}, expected at most half of the width of the wheel and its radius, {most:g} m"
        )
    inwards = tube / width * np.subtract(other.position, one.position)
    rim = max(one.rim - tube, SAME)
    near = replace(one, position=vec3(one.position + inwards), radius=tube, rim=rim)
    return near, replace(other, position=vec3(other.position - inwards), radius=tube, rim=rim), max(0.0, width - 2.0 * tube)


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


def check_grids(walls: Sequence[Wall], wheels: Sequence[tuple[str, float]]) -> None:
    """Raise ArgumentError where a cell of a height field is larger than a wheel: the ground that the wheel would feel is not in it.

    wheels: their names and diameters [m].
    """
    if not wheels:
        return
    least, diameter = min(wheels, key=lambda wheel: wheel[1])
    for name, cell in _grids(walls):
        if max(cell) > diameter:
            raise ArgumentError(
                f"the grid of wall {name!r} is too coarse for wheel {least!r}: cells of {max(cell):g} m under a diameter of "
                f"{diameter:g} m; expected cells no larger than the wheel"
            )
