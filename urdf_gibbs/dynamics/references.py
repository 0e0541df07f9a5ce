"""The references of a Jacobian, over any scalar: which point of the link its linear rows are of, and in whose axes all rows are.

With (l, w) the velocity of a point of the link and the angular velocity, in world axes, p the place of the point in the world, and R the
link's axes:

    world_aligned   (l, w)                the point, in world axes
    world           (l + p x w, w)        what moves with the link at the world's origin, in world axes: a spatial velocity
    local           (R^T l, R^T w)        the point, in the link's axes: a body's velocity

Along a motion in which the point moves with p' and the link turns with u, they change by

    world           (dl + p' x w + p x dw, dw)
    local           (R^T (dl - u x l), R^T (dw - u x w))
"""

from __future__ import annotations

from typing import Final, NamedTuple

from urdf_gibbs.dynamics.kinematics import placements
from urdf_gibbs.dynamics.matrices import Matrix, Scalars, Vector
from urdf_gibbs.dynamics.model import Model

ALIGNED: Final = "world_aligned"
WORLD: Final = "world"
LOCAL: Final = "local"


class Place(NamedTuple):
    """Axes (3, 3) of a link and place (3) of one of its points, in the world."""

    R: Matrix
    p: Vector


def place_of(model: Model, q: Scalars, body: int, point: Scalars, axes: Matrix) -> Place:
    """Of a point in a body's axes, from its origin; ``axes`` are the link's in those of the body, -1: the world."""
    if body < 0:
        return Place(axes, Vector(point))
    R, p = placements(model, q)[body]
    return Place(R @ axes, p + R @ Vector(point))


def referred(J: Matrix, place: Place, reference: str) -> Matrix:
    """A Jacobian (6 x nv, of the point, in world axes) in a reference."""
    return Matrix.zeros(6, 0) if not J[0] else _columns([_referred(linear, w, place, reference) for linear, w in _split(J)])


def referred_change(change: Matrix, J: Matrix, move: Vector, turn: Vector, place: Place, reference: str) -> Matrix:
    """How that Jacobian changes, from its change in world axes, while the point moves with ``move`` and the link turns with ``turn``."""
    if reference == ALIGNED or not J[0]:
        return change
    columns = []
    for (dl, dw), (linear, w) in zip(_split(change), _split(J), strict=True):
        if reference == WORLD:
            columns.append((dl + move.cross(w) + place.p.cross(dw), dw))
        else:
            columns.append((place.R.T @ (dl - turn.cross(linear)), place.R.T @ (dw - turn.cross(w))))
    return _columns(columns)


def _referred(linear: Vector, w: Vector, place: Place, reference: str) -> tuple[Vector, Vector]:
    if reference == LOCAL:
        return place.R.T @ linear, place.R.T @ w
    return (linear + place.p.cross(w), w) if reference == WORLD else (linear, w)


def _split(J: Matrix) -> list[tuple[Vector, Vector]]:
    return [(Vector(column[:3]), Vector(column[3:])) for column in zip(*J, strict=True)]


def _columns(columns: list[tuple[Vector, Vector]]) -> Matrix:
    return Matrix([list(row) for row in zip(*([*linear, *angular] for linear, angular in columns), strict=True)])
