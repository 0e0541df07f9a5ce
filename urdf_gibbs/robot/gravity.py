"""Gravity [m/s^2] in world axes: what it is unless somebody says otherwise."""

from __future__ import annotations

from urdf_gibbs.arguments import Vec3

EARTH_GRAVITY: Vec3 = (0.0, 0.0, -9.81)
