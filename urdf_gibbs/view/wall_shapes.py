"""Walls as triangles and lines: the piece of each wall near a robot.

Lengths in metres, world axes. What is drawn stands at d = 0; ``WallDrawing.displacement`` tells where it is at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.view.implicit_wall import draw_implicit
from urdf_gibbs.view.wall_drawing import CELLS, MARGIN, Pieces, WallDrawing, box_size, displacement, round_step
from urdf_gibbs.walls import Box, Circle, Surface, Wall, frame_along, rotation_matrix

Array = NDArray[np.float64]

TURN = 128  # segments of a full turn of a cylinder
ROWS, COLUMNS = 48, 96  # of a sphere: even, so that its great circles are mesh lines
FLAT = 0.1  # of the size of the bounds: thinner than this along the axis of a circle, and the robot is planar
BAND = 0.02  # of the radius: half the height of the band that a circle is drawn as
FAR = 8.0  # times the size of the bounds: a round wall whose centre is further away is drawn in part
FINE, COARSE = 64, 400  # samples of a height field along each side: at least, and at most


def drawing(wall: Wall, bounds: ArrayLike, times: ArrayLike | None = None, name: str = "") -> WallDrawing:
    """The piece of a wall that covers ``bounds`` (2, 3), the least and greatest coordinates of where the robot moves.

    With ``times`` [s] it covers them at all of these times, however far the wall moves. ``name``: by default the wall's.
    """
    box = np.array(bounds, dtype=float)
    if box.shape != (2, 3) or not np.isfinite(box).all() or not (box[0] <= box[1]).all():
        raise ArgumentError(f"bounds={bounds!r}, expected (2, 3): the least and the greatest coordinates")
    if times is not None and np.size(times):
        d = displacement(wall.motion, np.ravel(np.asarray(times, dtype=float)))
        box = np.stack([box[0] - d.max(axis=0), box[1] - d.min(axis=0)])
    pieces = Pieces()
    if isinstance(wall, Box):
        _box(pieces, wall)
    else:
        for surface in wall.surfaces():
            _DRAWN[surface.kind](pieces, surface, box, wall)
    return pieces.drawing(name or wall.name or type(wall).__name__.lower(), wall)


def _local(surface: Surface, box: Array) -> tuple[Array, Array, Array]:
    """Least and greatest coordinates of the bounds in the surface's own axes, and their middle."""
    corners = np.array(list(product(*box.T)))
    own = (corners - surface.centre) @ surface.frame.T
    return own.min(axis=0), own.max(axis=0), (box.mean(axis=0) - surface.centre) @ surface.frame.T


def _world(surface: Surface, own: Array) -> Array:
    return surface.centre + own @ surface.frame


def _plane(pieces: Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """A square of whole cells; their lines go through the point that the wall was given by, and stand a round number apart."""
    low, high, _ = _local(surface, box)
    margin = MARGIN * box_size(box)
    step = round_step(((high - low)[:2].max() + 2.0 * margin) / CELLS)
    first, last = np.floor((low[:2] - margin) / step), np.ceil((high[:2] + margin) / step)
    count = int((last - first).max())
    first -= np.floor((count - (last - first)) / 2.0)
    u, v = (step * (start + np.arange(count + 1)) for start in first)
    grid = _world(surface, np.stack([*np.meshgrid(u, v, indexing="ij"), np.zeros((count + 1, count + 1))], axis=-1))
    pieces.sheet(grid[:: count or 1, :: count or 1], surface.frame[2])
    # Whole lines: nothing lies between their ends that is not on them.
    pieces.line(grid[:, [0, -1]])
    pieces.line(grid.swapaxes(0, 1)[:, [0, -1]])


def _part(centre: Array, radius: float, size: float) -> tuple[float, float]:
    """Direction and half the angle of the arc about the origin that faces a robot of that size at ``centre`` (2,)."""
    away = float(np.hypot(*centre))
    if min(radius, away) <= FAR * size:
        return 0.0, np.pi
    return float(np.arctan2(centre[1], centre[0])), 2.0 * size / away


def _cylinder(pieces: Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """The height of the bounds, with rings and lines along the axis; a circle about a planar robot is a ring with a narrow band."""
    low, high, middle = _local(surface, box)
    size = box_size(box)
    direction, half = _part(middle[:2], surface.radius, size)
    angle = direction + np.linspace(-half, half, TURN + 1)
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros(TURN + 1)], axis=-1)
    if type(wall) is Circle and high[2] - low[2] <= FLAT * size:
        reach = (high[2] - low[2]) / 2.0 + BAND * min(surface.radius, FAR * size)
        heights = middle[2] + reach * np.array([-1.0, 0.0, 1.0])
        ringed, posts = [1], 0
    else:
        margin = MARGIN * size
        heights = np.linspace(low[2] - margin, high[2] + margin, 5)
        ringed, posts = [0, 1, 2, 3, 4], 16
    rings = _world(surface, surface.radius * out + heights[:, None, None] * np.array([0.0, 0.0, 1.0]))
    pieces.sheet(rings, surface.sign * out @ surface.frame)
    pieces.line(rings[ringed])
    if posts:
        pieces.line(rings[[0, -1]][:, :: TURN // posts].swapaxes(0, 1))


def _ellipsoid(pieces: Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """The whole, with three great circles; of one much larger than the robot and far from its centre the cap next to the robot."""
    axes = np.full(3, surface.radius) if surface.kind == "sphere" else surface.size[:3]
    _, _, middle = _local(surface, box)
    size, away = box_size(box), float(np.linalg.norm(middle))
    cap = min(axes.min(), away) > FAR * size
    place = middle / axes
    reach = min(np.pi, 2.0 * size / axes.min() / float(np.linalg.norm(place))) if cap else np.pi
    turned = frame_along(place / np.linalg.norm(place)) if cap else np.eye(3)
    down, around = np.linspace(0.0, reach, ROWS + 1)[:, None], np.linspace(0.0, 2.0 * np.pi, COLUMNS + 1)
    unit = np.stack(np.broadcast_arrays(np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)), axis=-1) @ turned
    normal = surface.sign * unit / axes
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    grid = _world(surface, unit * axes)
    pieces.sheet(grid, normal @ surface.frame)
    pieces.line(grid[[ROWS // 2, ROWS] if cap else [ROWS // 2]])
    pieces.line(grid[:, : COLUMNS : COLUMNS // 4].swapaxes(0, 1))


def _box(pieces: Pieces, wall: Box) -> None:
    """Six faces and twelve edges; inside the six planes end where they meet."""
    half, centre, rotation = np.array(wall.size) / 2.0, np.array(wall.centre), rotation_matrix(wall.rotation)
    sign = 1.0 if wall.side == "outside" else -1.0
    square = np.array([[[-1.0, -1.0], [-1.0, 1.0]], [[1.0, -1.0], [1.0, 1.0]]])
    for k in range(3):
        for way in (1.0, -1.0):
            own = np.insert(square, k, way, axis=-1) * half
            pieces.sheet(centre + own @ rotation.T, sign * way * rotation[:, k])
        edges = np.array([np.insert([a, b], k, end) for a, b in product((-1.0, 1.0), repeat=2) for end in (-1.0, 1.0)])
        pieces.line((centre + edges * half @ rotation.T).reshape(4, 2, 3))


def _height(pieces: Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """The field and what of its straight continuation the bounds reach, or the bounds alone where the field is much larger.

    Sampled at all of its nodes and between them, at every few nodes beyond COARSE.
    """
    assert surface.data is not None
    pieces.ground = True
    margin = MARGIN * box_size(box)
    own, slopes, places, drawn = [], [], [], []
    for k in range(2):
        count = surface.data.shape[k] - 2
        origin, step = surface.size[2 * k], surface.size[2 * k + 1]
        low, high = (box[:, k] - origin) / step
        index = _samples(count, low, high, margin / step)
        value, slope = _weights(index, count)
        own.append(value)
        slopes.append(slope / step)
        places.append(origin + step * index)
        whole = np.flatnonzero(np.abs(index - np.round(index)) < 1e-9)
        drawn.append(np.union1d(whole[:: max(1, len(whole) // 24)], [0, len(index) - 1]))
    height, along, across = (a @ surface.data @ b.T for a, b in ((own[0], own[1]), (slopes[0], own[1]), (own[0], slopes[1])))
    grid = np.stack([*np.meshgrid(*places, indexing="ij"), height], axis=-1)
    normal = np.stack([-along, -across, np.ones_like(height)], axis=-1)
    pieces.sheet(grid, normal / np.linalg.norm(normal, axis=-1, keepdims=True))
    pieces.line(grid[drawn[0]])
    pieces.line(grid.swapaxes(0, 1)[drawn[1]])


def _samples(count: int, low: float, high: float, margin: float) -> Array:
    """Where to sample a height field along one side, in steps of its grid; low, high: what must be covered."""
    last = count - 1
    first, end = 0, last
    if high - low + 2.0 * margin < 0.25 * last and high > 0.0 and low < last:
        first, end = max(0, int(np.floor(low - margin))), min(last, int(np.ceil(high + margin)))
    cells = end - first
    if cells > COARSE:
        inside = np.unique(np.round(np.linspace(first, end, COARSE + 1)))
    else:
        inside = np.linspace(first, end, cells * int(np.ceil(FINE / cells)) + 1)
    parts = [inside]
    # Straight beyond the edge, so that a few samples are as good as many; no margin, since steep edges lead far up or down.
    if low < first:
        parts.insert(0, np.linspace(low, first, 5)[:-1])
    if high > end:
        parts.append(np.linspace(end, high, 5)[1:])
    return np.concatenate(parts)


def _weights(index: Array, count: int) -> tuple[Array, Array]:
    """(m, count + 2) each: what the coefficients of a cubic B-spline are multiplied with for its value and its slope at ``index`` (m,)."""
    inside = np.clip(index, 0.0, count - 1.0)
    cell = np.minimum(inside.astype(int), count - 2)
    s = inside - cell
    value = np.stack([(1.0 - s) ** 3, 3.0 * s**3 - 6.0 * s**2 + 4.0, -3.0 * s**3 + 3.0 * s**2 + 3.0 * s + 1.0, s**3])
    slope = np.stack([-((1.0 - s) ** 2), 3.0 * s**2 - 4.0 * s, -3.0 * s**2 + 2.0 * s + 1.0, s**2])
    rows, columns = np.arange(len(index))[:, None], cell[:, None] + np.arange(4)
    values, slopes = np.zeros((len(index), count + 2)), np.zeros((len(index), count + 2))
    values[rows, columns] = (value / 6.0 + (index - inside) * slope / 2.0).T
    slopes[rows, columns] = slope.T / 2.0
    return values, slopes


_DRAWN: dict[str, Callable[[Pieces, Surface, Array, Wall], None]] = {
    "plane": _plane,
    "cylinder": _cylinder,
    "sphere": _ellipsoid,
    "ellipsoid": _ellipsoid,
    "height": _height,
    "implicit": draw_implicit,
}
