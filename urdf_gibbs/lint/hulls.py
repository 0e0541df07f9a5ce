"""Convex hulls of shapes: how far they reach, their volume, and how a solid that fills them would spread its mass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.spatial import Pose

Array = NDArray[np.float64]
FLAT = 1e-9  # m: less is a plane


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex solid in the frame of its link [m].

    points: its corners, (n, 3). planes: (p, 4), outward normals n and offsets d, n x + d <= 0 inside. volume [m3], centre (3,) and
    spread (3, 3) [m2]: the mean of (x - centre)(x - centre)^T over the solid.
    """

    points: Array
    planes: Array
    volume: float
    centre: Array
    spread: Array

    def moved(self, pose: Pose) -> Hull:
        """The same solid at ``pose``."""
        turn, shift = np.reshape(pose[0], (3, 3)), np.array(pose[1])
        normals = self.planes[:, :3] @ turn.T
        planes = np.column_stack([normals, self.planes[:, 3] - normals @ shift])
        return Hull(self.points @ turn.T + shift, planes, self.volume, turn @ self.centre + shift, turn @ self.spread @ turn.T)

    @cached_property
    def size(self) -> float:
        """The longest edge of the box about it [m]."""
        return float(np.ptp(self.points, axis=0).max())

    @cached_property
    def box(self) -> Array:
        """The least and the greatest coordinates (2, 3) [m]."""
        return np.stack([self.points.min(axis=0), self.points.max(axis=0)])

    def box_at(self, pose: Pose) -> Array:
        """The least and the greatest coordinates (2, 3) [m] of the solid at ``pose``."""
        points = self.points @ np.reshape(pose[0], (3, 3)).T + np.array(pose[1])
        return np.stack([points.min(axis=0), points.max(axis=0)])

    def outside(self, point: Array) -> float:
        """How far a point (3,) is out of the solid [m], never more than the true distance; negative inside."""
        return float((self.planes[:, :3] @ point + self.planes[:, 3]).max())


def hull_of(points: Array) -> Hull | None:
    """The convex hull of points (n, 3); None where they have none: fewer than four, or all in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    if len(points) < 4 or not np.isfinite(points).all() or np.ptp(points, axis=0).min() < FLAT:
        return None
    try:
        found = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    corners = points[found.vertices]
    middle = corners.mean(axis=0)
    faces = points[found.simplices] - middle  # each with the middle a tetrahedron
    volumes = np.abs(np.linalg.det(faces)) / 6.0
    volume = float(volumes.sum())
    if not volume > 0.0:
        return None
    sums = faces.sum(axis=1)
    centre = volumes @ sums / (4.0 * volume)
    # The mean of x x^T over a tetrahedron with a corner at 0: (sum of the corners' own products and the product of their sum) / 20.
    second = (np.einsum("t,tki,tkj->ij", volumes, faces, faces) + np.einsum("t,ti,tj->ij", volumes, sums, sums)) / (20.0 * volume)
    return Hull(corners, found.equations.copy(), volume, centre + middle, second - np.outer(centre, centre))
