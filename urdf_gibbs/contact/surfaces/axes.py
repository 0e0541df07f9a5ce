"""The axes of a surface, and how it moves, compiled."""

from __future__ import annotations

import math

from urdf_gibbs.contact.surfaces.layout import (
    DRIFT,
    FRAME,
    FUNCTION,
    MOTION,
    MOTION_CALL,
    MOVES,
    PATH,
    TIME,
    VIBRATION,
    Array,
    Integers,
    Jet,
    Surfaces,
)
from urdf_gibbs.engine.jit import call2, jit


@jit
def wall_velocity(s: Surfaces, i: int, t: float) -> tuple[float, float, float]:
    """How fast surface i moves, in world axes [m/s]."""
    v = s.values
    d = wall_motion(v, s.integers, s.scratch, i, t)
    return d[3], d[4], d[5]


@jit
def wall_path(s: Surfaces, i: int, t: float) -> tuple[float, float, float, float, float, float]:
    """Velocity [m/s] and acceleration [m/s^2] of surface i, in world axes."""
    d = wall_motion(s.values, s.integers, s.scratch, i, t)
    return d[3], d[4], d[5], d[6], d[7], d[8]


@jit
def own_axes(v: Array, i: int, a: float, b: float, c: float) -> tuple[float, float, float]:
    """A vector in world axes, in the surface's axes."""
    return (
        v[i, FRAME] * a + v[i, FRAME + 1] * b + v[i, FRAME + 2] * c,
        v[i, FRAME + 3] * a + v[i, FRAME + 4] * b + v[i, FRAME + 5] * c,
        v[i, FRAME + 6] * a + v[i, FRAME + 7] * b + v[i, FRAME + 8] * c,
    )


@jit
def world_axes(v: Array, i: int, a: float, b: float, c: float) -> tuple[float, float, float]:
    """The inverse of own_axes."""
    return (
        v[i, FRAME] * a + v[i, FRAME + 3] * b + v[i, FRAME + 6] * c,
        v[i, FRAME + 1] * a + v[i, FRAME + 4] * b + v[i, FRAME + 7] * c,
        v[i, FRAME + 2] * a + v[i, FRAME + 5] * b + v[i, FRAME + 8] * c,
    )


@jit
def hessian_times(f: Jet, a: float, b: float, c: float) -> tuple[float, float, float]:
    """The Hessian of a jet times a vector."""
    return f[4] * a + f[5] * b + f[6] * c, f[5] * a + f[7] * b + f[8] * c, f[6] * a + f[8] * b + f[9] * c


@jit
def wall_motion(
    v: Array, integers: Integers, u: Array, i: int, t: float
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Displacement of the wall with its first and second derivative (3 each), in world axes."""
    moves = integers[i, MOVES]
    if moves == VIBRATION:
        a, b, c, omega = v[i, MOTION], v[i, MOTION + 1], v[i, MOTION + 2], v[i, MOTION + 3]
        angle = omega * t + v[i, MOTION + 4]
        p, q = math.sin(angle), omega * math.cos(angle)
        r = -omega * omega * p
        return a * p, b * p, c * p, a * q, b * q, c * q, a * r, b * r, c * r
    if moves == DRIFT:
        a, b, c = v[i, MOTION], v[i, MOTION + 1], v[i, MOTION + 2]
        return a * t, b * t, c * t, a, b, c, 0.0, 0.0, 0.0
    if moves == FUNCTION:
        u[TIME] = t
        if call2(integers[i, MOTION_CALL], u.ctypes.data + 8 * TIME, u.ctypes.data + 8 * PATH) != 0:
            return math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan
        p = PATH
        return u[p], u[p + 1], u[p + 2], u[p + 3], u[p + 4], u[p + 5], u[p + 6], u[p + 7], u[p + 8]
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
