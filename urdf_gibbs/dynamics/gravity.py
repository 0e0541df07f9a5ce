"""Gravity [m/s^2] in world axes: what it is unless somebody says otherwise."""

from __future__ import annotations

EARTH_GRAVITY: tuple[float, float, float] = (0.0, 0.0, -9.81)
