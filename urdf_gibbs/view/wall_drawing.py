"""What is drawn of a wall: triangles, lines and points, and where they are at a time. Lengths in metres, world axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.view.solids import Solid
from urdf_gibbs.walls import Drift, Motion, Vibration, Wall

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

MARGIN = 0.25  # of the size of the bounds, beyond them on each side
CELLS = 12  # squares along a plane, about


@dataclass(frozen=True, eq=False)
class WallDrawing:
    """A wall at d = 0: ``surface`` (normals to the free side), ``lines`` (k, 2, 3) and ``points`` (p, 3), all of them on the wall."""

    name: str
    surface: Solid | None
    lines: Floats
    points: Floats
    motion: Motion | Callable[[float], ArrayLike] | None = None
    ground: bool = False  # to be drawn as ground, which hides what is below it

    def displacement(self, times: ArrayLike) -> Array:
        """d (n, 3) [m] at times (n,) [s], to be added to everything drawn."""
        return displacement(self.motion, np.atleast_1d(np.asarray(times, dtype=float)))


def displacement(motion: Motion | Callable[[float], ArrayLike] | None, times: Array) -> Array:
    if motion is None:
        return np.zeros((len(times), 3))
    if isinstance(motion, Vibration):
        return np.outer(np.sin(motion.omega * times + motion.phase), np.asarray(motion.amplitude, dtype=float))
    if isinstance(motion, Drift):
        return np.outer(times, np.asarray(motion.velocity, dtype=float))
    return np.array([motion(float(t)) for t in times], dtype=float).reshape(len(times), 3)


@dataclass
class Pieces:
    """What has been drawn of a wall so far, in world axes."""

    vertices: list[Array] = field(default_factory=list)
    normals: list[Array] = field(default_factory=list)
    faces: list[Integers] = field(default_factory=list)
    lines: list[Array] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)
    ground: bool = False

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
        return WallDrawing(name, surface, lines, points, wall.motion, self.ground)


def box_size(box: Array) -> float:
    """The diagonal of the bounds; 1 m for a robot that is a point."""
    return float(np.linalg.norm(box[1] - box[0])) or 1.0


def round_step(length: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten that is not below ``length``."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= length * (1.0 - 1e-9)))
