"""The signed distance to a curved surface: its nearest point, and the jet of the distance there."""

from __future__ import annotations

import math

from urdf_gibbs.contact.surfaces.axes import hessian_times
from urdf_gibbs.contact.surfaces.height import nearest_sample
from urdf_gibbs.contact.surfaces.layout import ALL, BOX, ELLIPSOID, FOOT, HEIGHT, KIND, RADIUS, SIZE, Array, Jet, Row
from urdf_gibbs.contact.surfaces.level import level_function, tangential
from urdf_gibbs.engine.jit import jit


@jit
def signed_distance(row: Row, x: float, y: float, z: float) -> Jet:
    """Signed distance, unit normal (3) and Hessian (6) of the distance, in the surface's axes."""
    p, kind = row.values, row.integers[KIND]
    if kind == BOX:
        return box_distance(p, x, y, z)
    foot = row.scratch[FOOT : FOOT + 3]
    foot[0], foot[1], foot[2] = x, y, z
    if kind == ELLIPSOID:
        ellipsoid_foot(p[SIZE : SIZE + 3], foot)
    else:
        _foot(row, foot)
    # With S = P H P / |grad| at the foot, the distance d has the Hessian S (I + d S)^-1.
    here, f = level_function(row, x, y, z, ALL), level_function(row, foot[0], foot[1], foot[2], ALL)
    away = f[1] * (x - foot[0]) + f[2] * (y - foot[1]) + f[3] * (z - foot[2])
    if here[0] * away < 0.0:
        # Far from a wall the nearest point may lie behind another part of it; then first order is the better answer.
        f, away = here, here[0]
    size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
    a, b, g, d = f[1] / size, f[2] / size, f[3] / size, away / size
    q, r, k, m, e = tangential(f, a, b, g, size)
    det = (1.0 + d * k) * (1.0 + d * e) - d * d * m * m
    k, m, e = (k * (1.0 + d * e) - d * m * m) / det, m / det, (e * (1.0 + d * k) - d * m * m) / det
    return (
        d,
        a,
        b,
        g,
        k * q[0] * q[0] + 2.0 * m * q[0] * r[0] + e * r[0] * r[0],
        k * q[0] * q[1] + m * (q[0] * r[1] + q[1] * r[0]) + e * r[0] * r[1],
        k * q[0] * q[2] + m * (q[0] * r[2] + q[2] * r[0]) + e * r[0] * r[2],
        k * q[1] * q[1] + 2.0 * m * q[1] * r[1] + e * r[1] * r[1],
        k * q[1] * q[2] + m * (q[1] * r[2] + q[2] * r[1]) + e * r[1] * r[2],
        k * q[2] * q[2] + 2.0 * m * q[2] * r[2] + e * r[2] * r[2],
    )


@jit
def box_distance(p: Array, x: float, y: float, z: float) -> Jet:
    """Signed distance to a box from outside: faces flat, edges and corners round."""
    a, b, c = abs(x) - p[SIZE], abs(y) - p[SIZE + 1], abs(z) - p[SIZE + 2]
    e, f, g = math.copysign(1.0, x), math.copysign(1.0, y), math.copysign(1.0, z)
    if a <= 0.0 and b <= 0.0 and c <= 0.0:
        if a >= b and a >= c:
            return a, e, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if b >= c:
            return b, 0.0, f, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        return c, 0.0, 0.0, g, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # Only the axes along which the nearest point is an edge or corner bend the distance.
    i, j, k = 0.0 if a <= 0.0 else 1.0, 0.0 if b <= 0.0 else 1.0, 0.0 if c <= 0.0 else 1.0
    a, b, c = e * i * a, f * j * b, g * k * c
    d = math.sqrt(a * a + b * b + c * c)
    a, b, c = a / d, b / d, c / d
    return d, a, b, c, (i - a * a) / d, -a * b / d, -a * c / d, (j - b * b) / d, -b * c / d, (k - c * c) / d


@jit
def ellipsoid_foot(a: Array, x: Array) -> None:
    """x (3,) becomes the nearest point of the ellipsoid with semi-axes a: a_i^2 x_i / (t + a_i^2 - a_min^2).

    t >= 0 is the root of sum (a_i x_i / (t + a_i^2 - a_min^2))^2 = 1.
    """
    # Where t starts one term alone is 1; the sum is convex and falls from there on, so that Newton never passes the root.
    least = min(a[0], a[1], a[2])
    t, rest = 0.0, 1.0
    for k in range(3):
        t = max(t, a[k] * abs(x[k]) - (a[k] - least) * (a[k] + least))
    for _ in range(100):
        total, slope = -1.0, 0.0
        for k in range(3):
            if x[k] != 0.0:
                e = t + (a[k] - least) * (a[k] + least)
                total += (a[k] * x[k] / e) ** 2
                slope += 2.0 * (a[k] * x[k] / e) ** 2 / e
        if not total > 1e-16 * slope * t:
            break
        t += total / slope
    for k in range(3):
        if x[k] != 0.0:
            e = a[k] * x[k] / (t + (a[k] - least) * (a[k] + least))
            x[k] = a[k] * e
            rest -= e * e
    # On the symmetry plane two points are equally near: take the positive one.
    for k in range(3):
        if a[k] == least and x[k] == 0.0 and rest > 1e-14:
            x[k] = least * math.sqrt(rest)
            rest = 0.0


@jit
def _foot(row: Row, x: Array) -> None:
    """x (3,) becomes a point of the surface nearest to it: Newton for x = foot + lambda grad(foot), phi(foot) = 0.

    lambda is the least-squares one at each iterate; where the tangential Hessian is not positive the step is a projected gradient's,
    so that it ends in a minimum of the distance: the global one near the wall, not always far from it.
    """
    px, py, pz = x[0], x[1], x[2]
    if row.integers[KIND] == HEIGHT:
        nearest_sample(row, x)
    for k in range(60):
        f = level_function(row, x[0], x[1], x[2], ALL)
        size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
        if size == 0.0:  # a centre of symmetry: any direction will do
            step = 0.01 * row.values[RADIUS]
            x[0], x[1], x[2] = x[0] + 0.48 * step, x[1] + 0.6 * step, x[2] + 0.64 * step
            continue
        a, b, e = f[1] / size, f[2] / size, f[3] / size
        dx, dy, dz = px - x[0], py - x[1], pz - x[2]
        down, away = -f[0] / size, a * dx + b * dy + e * dz
        q, r, qq, qr, rr = tangential(f, a, b, e, size)
        qq, qr, rr = 1.0 + away * qq, away * qr, 1.0 + away * rr
        low = 0.5 * (qq + rr) - math.sqrt(0.25 * (qq - rr) ** 2 + qr * qr)
        if low < 1e-3:
            qq += 1.0 - low
            rr += 1.0 - low
        hn = hessian_times(f, a, b, e)
        shift = down * away / size
        one = q[0] * (dx - shift * hn[0]) + q[1] * (dy - shift * hn[1]) + q[2] * (dz - shift * hn[2])
        two = r[0] * (dx - shift * hn[0]) + r[1] * (dy - shift * hn[1]) + r[2] * (dz - shift * hn[2])
        det = qq * rr - qr * qr
        one, two = (rr * one - qr * two) / det, (qq * two - qr * one) / det
        # Move no farther along the surface than the point is away from it; less if the iteration goes in circles.
        length, square = math.sqrt(one * one + two * two), dx * dx + dy * dy + dz * dz
        allowed = (math.sqrt(square) + abs(down)) * (1.0 if k < 20 else 0.1)
        if length > allowed:
            one, two = one * allowed / length, two * allowed / length
        x[0] += down * a + one * q[0] + two * r[0]
        x[1] += down * b + one * q[1] + two * r[1]
        x[2] += down * e + one * q[2] + two * r[2]
        # Convergence is quadratic: after a step of 1e-9 nothing remains. Written so that NaN ends the loop.
        if not down * down + one * one + two * two > 1e-18 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + square):
            break
