"""Contact points of a collision mesh: vertices of its convex hull, some of them where they are many."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.meshes import MeshFolders, inside, outside
from urdf_gibbs.robot.urdf import Geometry

Array = NDArray[np.float64]

MOST = 32  # points of one mesh
DIRECTIONS = 2000  # in which the hull is looked at


class NoPoints(Exception):
    """A mesh that gives none, and why."""


def mesh_points(geometry: Geometry, meshes: MeshFolders) -> Array:
    """At most MOST vertices (k, 3) [m] of the convex hull of a ``<mesh>``, in the frame of its shape; NoPoints where it cannot be read."""
    from urdf_gibbs.view.mesh_files import MeshError, load_mesh

    path = meshes.find(geometry.filename)
    if path is None:
        raise NoPoints(f"{geometry.filename}: no such file")
    folders = meshes.folders(geometry.filename, path)
    if not inside(path, folders):
        raise NoPoints(outside(path))
    try:
        solid = load_mesh(path, geometry.scale, folders)
    except MeshError as problem:
        raise NoPoints(str(problem)) from None
    return telling(hull_vertices(np.asarray(solid.vertices, dtype=np.float64)), MOST)


def hull_vertices(vertices: Array) -> Array:
    """Those of the vertices (n, 3) that are farthest in some direction, each once: vertices of the convex hull.

    None of the directions is across an axis, where a whole face would be farthest. A vertex as blunt as the hull between two directions,
    some 4 degrees, may be missed: its neighbours stand for it.
    """
    distinct = np.unique(vertices, axis=0)
    farthest: set[int] = set()
    for chunk in np.array_split(_directions(), 20):  # a mesh may have many vertices
        farthest.update(np.argmax(distinct @ chunk.T, axis=0).tolist())
    return np.asarray(distinct[sorted(farthest)])


def telling(points: Array, most: int) -> Array:
    """Of more than ``most`` points (n, 3) those whose hull is nearest to that of all: each is what sticks out of those before the most.

    So the shape can sink into a wall by no more than what sticks out at the end.
    """
    if len(points) <= most:
        return points
    reach = points @ _directions().T
    outermost, reached = reach.max(axis=0), np.full(reach.shape[1], -np.inf)
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    while len(chosen) < most:
        reached = np.maximum(reached, reach[chosen[-1]])
        chosen.append(int(np.argmax(reach[:, np.argmax(outermost - reached)])))
    return np.asarray(points[sorted(set(chosen))])


def _directions() -> Array:
    """(DIRECTIONS, 3) even over the sphere: a Fibonacci lattice."""
    k = np.arange(DIRECTIONS) + 0.5
    z, turn = 1.0 - 2.0 * k / DIRECTIONS, math.pi * (1.0 + math.sqrt(5.0)) * k
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])
