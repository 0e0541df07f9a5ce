"""Walls a robot may meet: where they stand, which side is free, and how they move.

A wall is described here and evaluated by compiled code (contact/surfaces), which is imported on the first evaluation only.
Lengths in metres, times in seconds, all vectors in world axes. A wall moves by a translation d(t) only; what the arguments give
is its place at d = 0.
"""

from urdf_gibbs.walls.descriptions import described, labels, wall_from
from urdf_gibbs.walls.fields import HeightField, Implicit
from urdf_gibbs.walls.shapes import Box, Circle, Corridor, Cylinder, Ellipsoid, Plane, Sphere
from urdf_gibbs.walls.terrain import Terrain, load_terrain, save_terrain
from urdf_gibbs.walls.wall import Drift, Motion, Surface, Vibration, Wall, frame_along, rotation_matrix

__all__ = [
    "Box",
    "Circle",
    "Corridor",
    "Cylinder",
    "Drift",
    "Ellipsoid",
    "HeightField",
    "Implicit",
    "Motion",
    "Plane",
    "Sphere",
    "Surface",
    "Terrain",
    "Vibration",
    "Wall",
    "described",
    "frame_along",
    "labels",
    "load_terrain",
    "rotation_matrix",
    "save_terrain",
    "wall_from",
]
