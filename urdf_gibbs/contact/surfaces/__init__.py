"""Walls for compiled code: packed into arrays (packing.py), and their gap functions (gaps.py), shape by shape."""

from urdf_gibbs.contact.surfaces.axes import wall_path, wall_velocity
from urdf_gibbs.contact.surfaces.callbacks import Callbacks
from urdf_gibbs.contact.surfaces.gaps import gap_motion, gap_value, hessian_motion, nearest
from urdf_gibbs.contact.surfaces.layout import (
    BOX,
    CENTRE,
    CYLINDER,
    DRIFT,
    ELLIPSOID,
    FRAME,
    FUNCTION,
    HEIGHT,
    IMPLICIT,
    MOTION,
    MOVES,
    PLANE,
    RADIUS,
    SIGN,
    SIZE,
    SPHERE,
    STEEPEST,
    STILL,
    VIBRATION,
    Places,
    Surfaces,
)
from urdf_gibbs.contact.surfaces.packing import check_radius, pack
from urdf_gibbs.contact.surfaces.path import Path

__all__ = [
    "BOX",
    "CENTRE",
    "CYLINDER",
    "DRIFT",
    "ELLIPSOID",
    "FRAME",
    "FUNCTION",
    "HEIGHT",
    "IMPLICIT",
    "MOTION",
    "MOVES",
    "PLANE",
    "RADIUS",
    "SIGN",
    "SIZE",
    "SPHERE",
    "STEEPEST",
    "STILL",
    "VIBRATION",
    "Callbacks",
    "Path",
    "Places",
    "Surfaces",
    "check_radius",
    "gap_motion",
    "gap_value",
    "hessian_motion",
    "nearest",
    "pack",
    "wall_path",
    "wall_velocity",
]
