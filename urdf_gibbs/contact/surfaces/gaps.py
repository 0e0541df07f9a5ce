"""Gap functions phi of walls, compiled: value, rates along a motion, gradient; and the signed distance.

phi > 0 where the robot may be, phi = 0 exactly on contact, smooth where the free region allows it, in metres near the wall only:
a robot's distance is phi / |grad phi| there. For a sphere of radius r it is that of the surface moved by r (plane, cylinder, sphere),
the distance less r (box, ellipsoid) or the least phi on the sphere (height field, implicit).
"""

from __future__ import annotations

import math

from urdf_gibbs.contact.surfaces.axes import hessian_times, own_axes, wall_motion, world_axes
from urdf_gibbs.contact.surfaces.curved import curved
from urdf_gibbs.contact.surfaces.layout import (
    ALL,
    BOX,
    CENTRE,
    CYLINDER,
    DISTANCE,
    ELLIPSOID,
    FRAME,
    FUNCTION,
    JET,
    LOWEST,
    MOVES,
    NAN,
    PATH,
    PLANE,
    RADIUS,
    SIGN,
    SPHERE,
    SPOT,
    STILL,
    VALUE,
    Array,
    Jet,
    Places,
    Surfaces,
)
from urdf_gibbs.engine.jit import entry, jit


@jit
def gap_value(s: Surfaces, i: int, t: float, x: Array, radius: float) -> float:
    """phi of surface i for a sphere of ``radius`` about x (3,) (0: a point). nan when a callback failed."""
    v = s.values
    d = wall_motion(v, s.integers, s.scratch, i, t)
    y = own_axes(v, i, x[0] - d[0] - v[i, CENTRE], x[1] - d[1] - v[i, CENTRE + 1], x[2] - d[2] - v[i, CENTRE + 2])
    return _gap_jet(s, i, y[0], y[1], y[2], radius, VALUE)[0]


@jit
def gap_motion(s: Surfaces, i: int, t: float, x: Array, radius: float, out: Array) -> None:
    """out (6,): phi, its rate, its second rate, its gradient (3) for a centre x (9,): position, velocity and acceleration.

    phi' = grad . (xd - d'), phi'' = grad . (xdd - d'') + (xd - d')' H (xd - d'). nan when a callback failed.
    """
    v = s.values
    if s.kind[i] <= SPHERE and s.integers[i, MOVES] == STILL:
        _quadric_motion(s, i, x, radius, out)
        return
    d = wall_motion(v, s.integers, s.scratch, i, t)
    y = own_axes(v, i, x[0] - d[0] - v[i, CENTRE], x[1] - d[1] - v[i, CENTRE + 1], x[2] - d[2] - v[i, CENTRE + 2])
    if s.integers[i, MOVES] == FUNCTION:
        s.max_step[i] = s.scratch[PATH + 9]
    w = own_axes(v, i, x[3] - d[3], x[4] - d[4], x[5] - d[5])
    a = own_axes(v, i, x[6] - d[6], x[7] - d[7], x[8] - d[8])
    f = _gap_jet(s, i, y[0], y[1], y[2], radius, ALL)
    out[0] = f[0]
    out[1] = f[1] * w[0] + f[2] * w[1] + f[3] * w[2]
    hw = hessian_times(f, w[0], w[1], w[2])
    out[2] = f[1] * a[0] + f[2] * a[1] + f[3] * a[2] + hw[0] * w[0] + hw[1] * w[1] + hw[2] * w[2]
    out[3], out[4], out[5] = world_axes(v, i, f[1], f[2], f[3])


@jit
def hessian_motion(s: Surfaces, i: int, t: float, x: Array, radius: float, out: Array) -> None:
    """out (3,): the Hessian of phi times the velocity against the wall, in world axes, for a centre x (9,) as in gap_motion."""
    v = s.values
    if s.kind[i] == PLANE:
        out[0], out[1], out[2] = 0.0, 0.0, 0.0
        return
    d = wall_motion(v, s.integers, s.scratch, i, t)
    y = own_axes(v, i, x[0] - d[0] - v[i, CENTRE], x[1] - d[1] - v[i, CENTRE + 1], x[2] - d[2] - v[i, CENTRE + 2])
    u = own_axes(v, i, x[3] - d[3], x[4] - d[4], x[5] - d[5])
    hw = hessian_times(_gap_jet(s, i, y[0], y[1], y[2], radius, ALL), u[0], u[1], u[2])
    out[0], out[1], out[2] = world_axes(v, i, hw[0], hw[1], hw[2])


@jit
def _quadric_motion(s: Surfaces, i: int, x: Array, radius: float, out: Array) -> None:
    """gap_motion of a plane, cylinder or sphere that stands still, in world axes: a shortcut for the most common walls."""
    v = s.values
    ax, ay, az = v[i, FRAME + 6], v[i, FRAME + 7], v[i, FRAME + 8]  # normal of the plane, axis of the cylinder
    px, py, pz = x[0] - v[i, CENTRE], x[1] - v[i, CENTRE + 1], x[2] - v[i, CENTRE + 2]
    along, fast = ax * px + ay * py + az * pz, ax * x[3] + ay * x[4] + az * x[5]
    if s.kind[i] == PLANE:
        out[0], out[1], out[2] = along - radius, fast, ax * x[6] + ay * x[7] + az * x[8]
        out[3], out[4], out[5] = ax, ay, az
        return
    ux, uy, uz = x[3], x[4], x[5]
    if s.kind[i] == CYLINDER:
        px, py, pz = px - along * ax, py - along * ay, pz - along * az
        ux, uy, uz = ux - fast * ax, uy - fast * ay, uz - fast * az
    sign = v[i, SIGN]
    R = v[i, RADIUS] + sign * radius
    c = sign / R if R > 0.0 else math.nan
    out[0] = 0.5 * (c * (px * px + py * py + pz * pz) - sign * R)
    out[1] = c * (px * ux + py * uy + pz * uz)
    out[2] = c * (px * x[6] + py * x[7] + pz * x[8] + ux * ux + uy * uy + uz * uz)
    out[3], out[4], out[5] = c * px, c * py, c * pz


@entry(Surfaces, Places, part="walls")
def nearest(s: Surfaces, places: Places) -> int:
    """Compute ``out`` of the places: the nearest surface of all."""
    t, x, xd, out, v = places.t, places.x, places.xd, places.out, s.values
    for k in range(len(t)):
        out[k, :] = math.nan
        for i in range(len(s.kind)):
            d = wall_motion(v, s.integers, s.scratch, i, t[k])
            y = own_axes(v, i, x[k, 0] - d[0] - v[i, CENTRE], x[k, 1] - d[1] - v[i, CENTRE + 1], x[k, 2] - d[2] - v[i, CENTRE + 2])
            w = own_axes(v, i, xd[k, 0] - d[3], xd[k, 1] - d[4], xd[k, 2] - d[5])
            f = _distance_jet(s, i, y[0], y[1], y[2])
            if f[0] != f[0]:
                out[k, :] = math.nan
                break
            if not out[k, 0] <= f[0]:
                out[k, 0] = f[0]
                out[k, 1] = f[1] * w[0] + f[2] * w[1] + f[3] * w[2]
                out[k, 2], out[k, 3], out[k, 4] = world_axes(v, i, f[1], f[2], f[3])
                hw = hessian_times(f, w[0], w[1], w[2])
                out[k, 5], out[k, 6], out[k, 7] = world_axes(v, i, hw[0], hw[1], hw[2])
    return 0


@jit
def _gap_jet(s: Surfaces, i: int, x: float, y: float, z: float, radius: float, order: int) -> Jet:
    """phi, its gradient (3) and Hessian (xx, xy, xz, yy, yz, zz) in the surface's axes; with ``order`` 0 only phi is computed for sure."""
    kind = s.kind[i]
    if kind == PLANE:
        return z - radius, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == CYLINDER or kind == SPHERE:  # noqa: SIM109
        # (rho^2 - R^2) / (2 R): a polynomial, with unit gradient where it is zero.
        sign = s.values[i, SIGN]
        R = s.values[i, RADIUS] + sign * radius
        if R <= 0.0:
            return NAN
        c = sign / R
        e = c if kind == SPHERE else 0.0
        return 0.5 * (c * (x * x + y * y) + e * z * z - sign * R), c * x, c * y, e * z, c, 0.0, 0.0, c, 0.0, e
    if kind == BOX or (kind == ELLIPSOID and radius > 0.0):
        f = _curved_jet(s, i, x, y, z, DISTANCE, 0.0)
        return f[0] - radius, f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9]
    return _curved_jet(s, i, x, y, z, LOWEST if radius > 0.0 else order, radius)


@jit
def _distance_jet(s: Surfaces, i: int, x: float, y: float, z: float) -> Jet:
    """Signed distance, unit normal (3) and Hessian (6) of the distance, in the surface's axes."""
    kind = s.kind[i]
    if kind == PLANE:
        return z, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == CYLINDER or kind == SPHERE:  # noqa: SIM109
        sign, e = s.values[i, SIGN], 1.0 if kind == SPHERE else 0.0
        rho = math.sqrt(x * x + y * y + e * z * z)
        k = sign / rho
        a, b, c = k * x, k * y, k * e * z
        d = sign * (rho - s.values[i, RADIUS])
        return d, a, b, c, k * (1.0 - a * a), -k * a * b, -k * a * c, k * (1.0 - b * b), -k * b * c, k * (e - c * c)
    return _curved_jet(s, i, x, y, z, DISTANCE, 0.0)


@jit
def _curved_jet(s: Surfaces, i: int, x: float, y: float, z: float, question: int, radius: float) -> Jet:
    """The jet from ``curved``, which is compiled once instead of into every caller."""
    u = s.scratch
    u[SPOT], u[SPOT + 1], u[SPOT + 2], u[SPOT + 3], u[SPOT + 4] = x, y, z, question, radius
    curved(s, i)
    j = JET
    return u[j], u[j + 1], u[j + 2], u[j + 3], u[j + 4], u[j + 5], u[j + 6], u[j + 7], u[j + 8], u[j + 9]
