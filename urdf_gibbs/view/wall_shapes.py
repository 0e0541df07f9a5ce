"""Walls as triangles and lines: the piece of each wall near a robot, and walls out of the settings of a trajectory.

Lengths in metres, world axes. What is drawn stands at d = 0; ``WallDrawing.displacement`` tells where it is at a time.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.view.solids import Solid
from urdf_gibbs.walls import Box, Circle, Drift, Implicit, Motion, Surface, Vibration, Wall, _frame, _turned, labels, wall_from

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

MARGIN = 0.25  # of the size of the bounds, beyond them on each side
TURN = 128  # segments of a full turn of a cylinder
ROWS, COLUMNS = 48, 96  # of a sphere: even, so that its great circles are mesh lines
FLAT = 0.1  # of the size of the bounds: thinner than this along the axis of a circle, and the robot is planar
BAND = 0.02  # of the radius: half the height of the band that a circle is drawn as
FAR = 8.0  # times the size of the bounds: a round wall whose centre is further away is drawn in part
CELLS = 12  # squares along a plane, about
FINE, COARSE = 64, 400  # samples of a height field along each side: at least, and at most
FEWEST, MOST = 20, 48  # cells along the longest side of the grid of an implicit wall
GRID_SECONDS = 1.0  # for the values of an implicit wall on its grid


@dataclass(frozen=True, eq=False)
class WallDrawing:
    """A wall at d = 0: ``surface`` (normals to the free side), ``lines`` (k, 2, 3) and ``points`` (p, 3), all of them on the wall."""

    name: str
    surface: Solid | None
    lines: Floats
    points: Floats
    motion: Motion | Callable[[float], ArrayLike] | None = None

    def displacement(self, times: ArrayLike) -> Array:
        """d (n, 3) [m] at times (n,) [s], to be added to everything drawn."""
        return displacement(self.motion, np.atleast_1d(np.asarray(times, dtype=float)))


# out of a trajectory ------------------------------------------------------------------------------


def restored(settings: Mapping[str, Any]) -> tuple[list[Wall | None], list[str]]:
    """The walls of a trajectory's settings, and notes about what could not be restored.

    None stands for a wall that is a Python function or that is not understood. A wall of a known shape that a function moves is
    restored at rest. ``names`` gives the names in the same order.
    """
    descriptions = settings.get("walls") or []
    if not isinstance(descriptions, Sequence) or isinstance(descriptions, str):
        return [], ["the walls of the trajectory are not a list: they are not drawn"]
    found: list[Wall | None] = []
    notes: list[str] = []
    for name, entry in zip(names(settings), descriptions, strict=True):
        wall = None
        if not isinstance(entry, Mapping):
            notes.append(f'wall "{name}" is not described in a way that is known: it is not drawn')
        elif entry.get("kind") == "implicit":
            notes.append(f'wall "{name}" is a Python function that a trajectory does not hold: pass walls= to draw it')
        else:
            function = _is_function(entry.get("motion"))
            try:
                wall = wall_from({**entry, "motion": None} if function else entry)
            except (ArgumentError, TypeError, ValueError) as problem:
                notes.append(f'wall "{name}" is not drawn: {problem}')
            else:
                if function:
                    notes.append(f'wall "{name}" moves by a Python function that a trajectory does not hold: pass walls= to see it move')
        found.append(wall)
    return found, notes


def names(settings: Mapping[str, Any]) -> list[str]:
    """The names of the walls of a trajectory's settings, as impacts and contacts have them."""
    entries = settings.get("walls") or []
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        return []
    known = [entry if isinstance(entry, Mapping) else {} for entry in entries]
    return labels([(str(entry.get("name") or ""), str(entry.get("kind") or "wall")) for entry in known])


def wall_names(walls: Iterable[Wall]) -> list[str]:
    """The names of walls, as impacts and contacts of a simulation with them have them."""
    return labels([(wall.name, type(wall).__name__.lower()) for wall in walls])


def _is_function(motion: Any) -> bool:
    """Whether a described motion was a function: its name in <>, or an object of a kind that is not ours."""
    if isinstance(motion, Mapping):
        return motion.get("kind") not in ("vibration", "drift")
    return isinstance(motion, str) and motion.startswith("<") and motion.endswith(">")


def displacement(motion: Motion | Callable[[float], ArrayLike] | None, times: Array) -> Array:
    if motion is None:
        return np.zeros((len(times), 3))
    if isinstance(motion, Vibration):
        return np.outer(np.sin(motion.omega * times + motion.phase), np.asarray(motion.amplitude, dtype=float))
    if isinstance(motion, Drift):
        return np.outer(times, np.asarray(motion.velocity, dtype=float))
    return np.array([motion(float(t)) for t in times], dtype=float).reshape(len(times), 3)


# drawings -----------------------------------------------------------------------------------------


@dataclass
class _Pieces:
    """What has been drawn of a wall so far, in world axes."""

    vertices: list[Array] = field(default_factory=list)
    normals: list[Array] = field(default_factory=list)
    faces: list[Integers] = field(default_factory=list)
    lines: list[Array] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)

    def sheet(self, vertices: Array, normals: Array, faces: Integers | None = None) -> None:
        """Triangles of vertices (n, 3), or of a grid of them (rows, columns, 3)."""
        if faces is None:
            rows, columns = vertices.shape[:2]
            corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
            quads = corner[:, None] + np.array([0, 1, columns + 1, columns])
            faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
        vertices, normals = vertices.reshape(-1, 3), np.broadcast_to(normals, vertices.shape).reshape(-1, 3)
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        # Counter-clockwise as seen from the free side; at the pole of a sphere a triangle is a line.
        faces = np.where((np.einsum("ij,ij->i", across, normals[faces].sum(axis=1)) < 0.0)[:, None], faces[:, ::-1], faces)
        sides = np.stack([b - a, c - b, a - c])
        faces = faces[(np.abs(sides).max(axis=2) > 1e-9 * np.abs(sides).max(initial=0.0)).all(axis=0)]
        self.faces.append(faces + sum(len(part) for part in self.vertices))
        self.vertices.append(vertices)
        self.normals.append(normals)

    def line(self, points: Array) -> None:
        """Through points (..., n, 3), one after the other."""
        self.lines.append(np.stack([points[..., :-1, :], points[..., 1:, :]], axis=-2).reshape(-1, 2, 3))

    def drawing(self, name: str, wall: Wall) -> WallDrawing:
        surface = None
        if self.faces:
            surface = Solid(
                vertices=np.concatenate(self.vertices).astype(np.float32),
                faces=np.concatenate(self.faces).astype(np.uint32),
                normals=np.concatenate(self.normals).astype(np.float32),
                colours=None,
            )
        lines = np.concatenate([np.zeros((0, 2, 3)), *self.lines]).astype(np.float32)
        points = np.concatenate([np.zeros((0, 3)), *self.points]).astype(np.float32)
        return WallDrawing(name, surface, lines, points, wall.motion)


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
    pieces = _Pieces()
    if isinstance(wall, Box):
        _box(pieces, wall)
    else:
        for surface in wall.surfaces():
            _DRAWN[surface.kind](pieces, surface, box, wall)
    return pieces.drawing(name or wall.name or type(wall).__name__.lower(), wall)


def _size(box: Array) -> float:
    """The diagonal of the bounds; 1 m for a robot that is a point."""
    return float(np.linalg.norm(box[1] - box[0])) or 1.0


def _local(surface: Surface, box: Array) -> tuple[Array, Array, Array]:
    """Least and greatest coordinates of the bounds in the surface's own axes, and their middle."""
    corners = np.array(list(product(*box.T)))
    own = (corners - surface.centre) @ surface.frame.T
    return own.min(axis=0), own.max(axis=0), (box.mean(axis=0) - surface.centre) @ surface.frame.T


def _world(surface: Surface, own: Array) -> Array:
    return surface.centre + own @ surface.frame


def _round_step(length: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten that is not below ``length``."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= length * (1.0 - 1e-9)))


def _plane(pieces: _Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """A square of whole cells; their lines go through the point that the wall was given by, and stand a round number apart."""
    low, high, _ = _local(surface, box)
    margin = MARGIN * _size(box)
    step = _round_step(((high - low)[:2].max() + 2.0 * margin) / CELLS)
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


def _cylinder(pieces: _Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """The height of the bounds, with rings and lines along the axis; a circle about a planar robot is a ring with a narrow band."""
    low, high, middle = _local(surface, box)
    size = _size(box)
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


def _ellipsoid(pieces: _Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """The whole, with three great circles; of one much larger than the robot and far from its centre the cap next to the robot."""
    axes = np.full(3, surface.radius) if surface.kind == "sphere" else surface.size[:3]
    _, _, middle = _local(surface, box)
    size, away = _size(box), float(np.linalg.norm(middle))
    cap = min(axes.min(), away) > FAR * size
    place = middle / axes
    reach = min(np.pi, 2.0 * size / axes.min() / float(np.linalg.norm(place))) if cap else np.pi
    turned = _frame(place / np.linalg.norm(place)) if cap else np.eye(3)
    down, around = np.linspace(0.0, reach, ROWS + 1)[:, None], np.linspace(0.0, 2.0 * np.pi, COLUMNS + 1)
    unit = np.stack(np.broadcast_arrays(np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)), axis=-1) @ turned
    normal = surface.sign * unit / axes
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    grid = _world(surface, unit * axes)
    pieces.sheet(grid, normal @ surface.frame)
    pieces.line(grid[[ROWS // 2, ROWS] if cap else [ROWS // 2]])
    pieces.line(grid[:, : COLUMNS : COLUMNS // 4].swapaxes(0, 1))


def _box(pieces: _Pieces, wall: Box) -> None:
    """Six faces and twelve edges; inside the six planes end where they meet."""
    half, centre, rotation = np.array(wall.size) / 2.0, np.array(wall.centre), _turned(wall.rotation)
    sign = 1.0 if wall.side == "outside" else -1.0
    square = np.array([[[-1.0, -1.0], [-1.0, 1.0]], [[1.0, -1.0], [1.0, 1.0]]])
    for k in range(3):
        for way in (1.0, -1.0):
            own = np.insert(square, k, way, axis=-1) * half
            pieces.sheet(centre + own @ rotation.T, sign * way * rotation[:, k])
        edges = np.array([np.insert([a, b], k, end) for a, b in product((-1.0, 1.0), repeat=2) for end in (-1.0, 1.0)])
        pieces.line((centre + edges * half @ rotation.T).reshape(4, 2, 3))


def _height(pieces: _Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """The field and what of its straight continuation the bounds reach, or the bounds alone where the field is much larger.

    Sampled at all of its nodes and between them, at every few nodes beyond COARSE.
    """
    assert surface.data is not None
    margin = MARGIN * _size(box)
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


# implicit walls -----------------------------------------------------------------------------------


def _implicit(pieces: _Pieces, surface: Surface, box: Array, wall: Wall) -> None:
    """Surface nets on a grid over the bounds, or over a larger box where the wall does not pass near them.

    The function takes one point at a time: the slower it is, the coarser the grid.
    """
    assert isinstance(wall, Implicit)
    phi = _Function(wall)
    size = _size(box)
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
    ends, slopes, segments = _sections(vertices, slopes, faces, _round_step(2.0 * reach.max() / CELLS))
    ends, good = _refined(phi, ends, slopes, cell)
    pieces.lines.append(ends[segments[good[segments].all(axis=1)]])


class _Function:
    """phi of an implicit wall at many points; nan where it fails."""

    def __init__(self, wall: Implicit) -> None:
        self.wall = wall

    def __call__(self, points: Array) -> Array:
        return np.array([self._value(x) for x in points], dtype=float)

    def _value(self, x: Array) -> float:
        # The box may reach where the function is not meant to be asked; where the robot is the simulation has asked it.
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
    ends, found, segments, count = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 2), dtype=np.int64)], 0
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
            found.append((1.0 - share) * slopes[first] + share * slopes[second])
            segments.append(number.reshape(2, -1).T + count)
            count += len(pairs)
    return np.concatenate(ends), np.concatenate(found), np.concatenate(segments)


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
            # Each step is shorter by far than the one before: what is left after this one is nothing.
            busy = busy[np.abs(step) > 1e-8 * cell]
            if not len(busy):
                break
    good = np.isfinite(at) & (np.abs(at) <= 2.0 * cell) & (np.abs(at - before) <= 1e-6 * cell)
    return points + np.where(good, at, 0.0)[:, None] * way, good


_DRAWN: dict[str, Callable[[_Pieces, Surface, Array, Wall], None]] = {
    "plane": _plane,
    "cylinder": _cylinder,
    "sphere": _ellipsoid,
    "ellipsoid": _ellipsoid,
    "height": _height,
    "implicit": _implicit,
}
