"""An implicit wall phi(x) = 0 as triangles: surface nets on a grid, moved onto the zeros of phi."""

from __future__ import annotations

import time as clock
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.view.wall_drawing import CELLS, MARGIN, Pieces, box_size, round_step
from urdf_gibbs.walls import Implicit, Surface, Wall

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWEST, MOST = 20, 48  # cells along the longest side of the grid of an implicit wall
GRID_SECONDS = 1.0  # for the values of an implicit wall on its grid


def draw_implicit(pieces: Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """Surface nets on a grid over the bounds, or over a larger box where the wall does not pass near them.

    The function takes one point at a time: the slower it is, the coarser the grid.
    """
    assert isinstance(wall, Implicit)
    phi = _Function(wall)
    size = box_size(box)
    middle, half = box.mean(axis=0), (box[1] - box[0]) / 2.0
    for margin in (MARGIN, 4.0 * MARGIN, 16.0 * MARGIN):
        reach = half + margin * size
        start = clock.perf_counter()
        low, cell, values = _gridded(phi, middle, reach, FEWEST)
        if (values > 0.0).any() and (values <= 0.0).any():
            break
    else:
        return
    share = (clock.perf_counter() - start) / values.size
    # Of a box with unequal sides the number of cells is what counts; about as many values again refine the vertices.
    cells = int(min(MOST, (GRID_SECONDS / share * (reach.max() ** 3 / reach.prod())) ** (1.0 / 3.0)))
    if cells > FEWEST:
        low, cell, values = _gridded(phi, middle, reach, cells)
    vertices, faces = _net(values)
    vertices, good = _refined(phi, low + cell * vertices, _gradients(values, vertices) / cell, cell)
    slopes = phi.slopes(vertices)
    good &= np.isfinite(slopes).all(axis=1) & (slopes != 0.0).any(axis=1)
    faces = faces[good[faces].all(axis=1)]
    if not len(faces):
        pieces.points.append(vertices[good])
        return
    used, faces = np.unique(faces, return_inverse=True)
    vertices, slopes, faces = vertices[used], slopes[used], faces.reshape(-1, 3)
    pieces.sheet(vertices, slopes / np.linalg.norm(slopes, axis=1, keepdims=True), faces)
    ends, slopes, segments = _sections(vertices, slopes, faces, round_step(2.0 * reach.max() / CELLS))
    ends, good = _refined(phi, ends, slopes, cell)
    pieces.lines.append(ends[segments[good[segments].all(axis=1)]])


class _Function:
    """phi of an implicit wall at many points; nan where it fails."""

    def __init__(self, wall: Implicit) -> None:
        self.wall = wall

    def __call__(self, points: Array) -> Array:
        return np.array([self._value(x) for x in points], dtype=float)

    def _value(self, x: Array) -> float:
        # The box may extend to points where the function is undefined; near the robot the simulation has evaluated it.
        try:
            return float(self.wall.function(x.copy()))
        except Exception:
            return np.nan

    def slopes(self, points: Array) -> Array:
        """Gradients (n, 3)."""
        if self.wall.gradient is not None:
            return np.array([self._slope(x) for x in points], dtype=float).reshape(-1, 3)
        h = self.wall.scale / 1024.0
        return np.stack([self(points + h * axis) - self(points - h * axis) for axis in np.eye(3)], axis=-1) / (2.0 * h)

    def _slope(self, x: Array) -> Array:
        assert self.wall.gradient is not None
        try:
            slope = np.asarray(self.wall.gradient(x.copy()), dtype=float)
        except Exception:
            return np.full(3, np.nan)
        return slope if slope.shape == (3,) else np.full(3, np.nan)


def _gridded(phi: _Function, middle: Array, reach: Array, cells: int) -> tuple[Array, float, Array]:
    """Lowest corner, size of the cubic cells and phi at their corners, of a box with ``cells`` along its longest side."""
    cell = 2.0 * float(reach.max()) / cells
    counts = np.maximum(1, np.ceil(2.0 * reach / cell - 1e-9)).astype(int)
    low = middle - 0.5 * cell * counts
    index = np.stack(np.meshgrid(*(np.arange(count + 1) for count in counts), indexing="ij"), axis=-1)
    values = phi((low + cell * index).reshape(-1, 3)).reshape(index.shape[:3])
    return low, cell, np.where(np.isfinite(values), values, np.nan)


def _net(values: Array) -> tuple[Array, Integers]:
    """Surface nets: a vertex in each cell that phi = 0 passes through, a quadrilateral about each edge of the grid that it crosses.

    Vertices (n, 3) in cells of the grid, and triangles (m, 3).
    """
    shape = np.array(values.shape) - 1
    corners = np.array(list(product((0, 1), repeat=3)))
    around = np.stack([values[tuple(slice(c, c + n) for c, n in zip(corner, shape, strict=True))] for corner in corners], axis=-1)
    with np.errstate(invalid="ignore"):
        passed = np.isfinite(around).all(axis=-1) & (around > 0.0).any(axis=-1) & (around <= 0.0).any(axis=-1)
    own = around[passed]
    sums, counts = np.zeros((len(own), 3)), np.zeros((len(own), 1))
    for i, j in combinations(range(8), 2):
        if np.abs(corners[i] - corners[j]).sum() != 1:
            continue
        crossed = (own[:, i] > 0.0) != (own[:, j] > 0.0)
        share = own[crossed, i] / (own[crossed, i] - own[crossed, j])
        sums[crossed] += corners[i] + share[:, None] * (corners[j] - corners[i])
        counts[crossed] += 1.0
    vertices = np.argwhere(passed) + sums / np.maximum(counts, 1.0)
    number = np.full(tuple(shape + 2), -1)  # a layer of no cells all around
    number[1:-1, 1:-1, 1:-1][passed] = np.arange(len(own))
    faces: list[Integers] = []
    for k in range(3):
        ahead = np.moveaxis(values, k, 0)
        crossed = (ahead[1:] > 0.0) != (ahead[:-1] > 0.0)
        cells = np.moveaxis(number, k, 0)[1:-1]
        quad = np.stack([cells[:, :-1, :-1], cells[:, 1:, :-1], cells[:, 1:, 1:], cells[:, :-1, 1:]], axis=-1)[crossed]
        quad = quad[(quad >= 0).all(axis=1)]
        faces += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return vertices, np.concatenate(faces)


def _sections(vertices: Array, slopes: Array, faces: Integers, step: float) -> tuple[Array, Array, Integers]:
    """Where planes across the axes, ``step`` apart, cut the triangles: points (n, 3), slopes (n, 3) there, segments (m, 2) of points."""
    normals = slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
    ends, end_slopes, segments, count = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 2), dtype=np.int64)], 0
    for k in range(3):
        place = vertices[:, k] / step
        # Not where the wall runs along the plane: there rounding decides.
        steep = faces[np.abs(normals[faces, k]).min(axis=1) < 0.98]
        for level in np.arange(np.ceil(place.min()), np.floor(place.max()) + 1.0):
            above = (place > level)[steep]
            cut = above.any(axis=1) & ~above.all(axis=1)
            above, own = above[cut], steep[cut]
            if not len(own):
                continue
            alone = np.argmax(above != (above.sum(axis=1) >= 2)[:, None], axis=1)
            a, b, c = np.take_along_axis(own, (alone[:, None] + np.arange(3)) % 3, axis=1).T
            pairs = np.sort(np.stack([np.concatenate([a, a]), np.concatenate([b, c])], axis=1), axis=1)
            pairs, number = np.unique(pairs, axis=0, return_inverse=True)
            first, second = pairs.T
            share = ((level - place[first]) / (place[second] - place[first]))[:, None]
            ends.append((1.0 - share) * vertices[first] + share * vertices[second])
            end_slopes.append((1.0 - share) * slopes[first] + share * slopes[second])
            segments.append(number.reshape(2, -1).T + count)
            count += len(pairs)
    return np.concatenate(ends), np.concatenate(end_slopes), np.concatenate(segments)


def _gradients(values: Array, places: Array) -> Array:
    """Gradient (n, 3) of phi within the cells of ``places`` (n, 3), per cell: the mean of the four differences along each axis."""
    cell = places.astype(int)
    cell = np.minimum(cell, np.array(values.shape) - 2)
    slope = np.zeros_like(places)
    for corner in product((0, 1), repeat=3):
        at = values[tuple((cell + corner).T)]
        slope += 0.25 * at[:, None] * (2.0 * np.array(corner) - 1.0)
    return slope


def _refined(phi: _Function, points: Array, slopes: Array, cell: float) -> tuple[Array, NDArray[np.bool_]]:
    """Points (n, 3) moved along the slope (n, 3) onto phi = 0 by secants, and where that led to the wall."""
    length = np.linalg.norm(slopes, axis=1)
    way = slopes / np.where(length > 0.0, length, 1.0)[:, None]
    before, value = np.zeros(len(points)), phi(points)
    with np.errstate(all="ignore"):
        at = np.clip(-value / length, -cell, cell)
        busy = np.flatnonzero(at != 0.0)
        for _ in range(8):
            now = phi(points[busy] + at[busy, None] * way[busy])
            step = np.where(now == 0.0, 0.0, np.clip(-now * (at[busy] - before[busy]) / (now - value[busy]), -cell, cell))
            before[busy], value[busy] = at[busy], now
            at[busy] += step
            # The steps shrink rapidly: what remains after this one is negligible.
            busy = busy[np.abs(step) > 1e-8 * cell]
            if not len(busy):
                break
    good = np.isfinite(at) & (np.abs(at) <= 2.0 * cell) & (np.abs(at - before) <= 1e-6 * cell)
    return points + np.where(good, at, 0.0)[:, None] * way, good
