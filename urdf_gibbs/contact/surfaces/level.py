"""Ellipsoid, height field and implicit surface as functions that are zero on them, with their curvature."""

from __future__ import annotations

import math

from urdf_gibbs.contact.surfaces.axes import hessian_times
from urdf_gibbs.contact.surfaces.height import height_at
from urdf_gibbs.contact.surfaces.layout import ELLIPSOID, HEIGHT, JET, KIND, NAN, POINT, SHAPE_CALL, SIGN, SIZE, Jet, Row
from urdf_gibbs.engine.jit import call2, jit


@jit
def level_function(row: Row, x: float, y: float, z: float, order: int) -> Jet:
    """Ellipsoid, height field and implicit surface as a function that is zero on them, as a jet of ``order``."""
    p, n, u = row.values, row.integers, row.scratch
    if n[KIND] == ELLIPSOID:
        # sign (sum (x / a)^2 - 1) a_min / 2
        m = p[SIGN] * min(p[SIZE], p[SIZE + 1], p[SIZE + 2])
        a, b, e = m / p[SIZE] ** 2, m / p[SIZE + 1] ** 2, m / p[SIZE + 2] ** 2
        return 0.5 * (a * x * x + b * y * y + e * z * z - m), a * x, b * y, e * z, a, 0.0, 0.0, b, 0.0, e
    if n[KIND] == HEIGHT:
        h = height_at(row, x, y)
        return z - h[0], -h[1], -h[2], 1.0, -h[3], -h[4], 0.0, -h[5], 0.0, 0.0
    u[POINT], u[POINT + 1], u[POINT + 2], u[POINT + 3] = x, y, z, order
    # A failed motion has already reported its error: its NaN is not passed to another function.
    if not math.isfinite(x + y + z) or call2(n[SHAPE_CALL], u.ctypes.data + 8 * POINT, u.ctypes.data + 8 * JET) != 0:
        return NAN
    j = JET
    return u[j], u[j + 1], u[j + 2], u[j + 3], u[j + 4], u[j + 5], u[j + 6], u[j + 7], u[j + 8], u[j + 9]


@jit
def tangential(
    f: Jet, a: float, b: float, c: float, size: float
) -> tuple[tuple[float, float, float], tuple[float, float, float], float, float, float]:
    """Two unit vectors q, r across the unit normal (Duff et al. 2017), and q'Hq, q'Hr, r'Hr over |grad|."""
    sign = math.copysign(1.0, c)
    k = -1.0 / (sign + c)
    q, r = (1.0 + sign * a * a * k, sign * a * b * k, -sign * a), (a * b * k, sign + b * b * k, -b)
    hq, hr = hessian_times(f, q[0], q[1], q[2]), hessian_times(f, r[0], r[1], r[2])
    qq = (q[0] * hq[0] + q[1] * hq[1] + q[2] * hq[2]) / size
    qr = (q[0] * hr[0] + q[1] * hr[1] + q[2] * hr[2]) / size
    rr = (r[0] * hr[0] + r[1] * hr[1] + r[2] * hr[2]) / size
    return q, r, qq, qr, rr
