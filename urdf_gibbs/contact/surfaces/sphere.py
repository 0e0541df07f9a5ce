"""A sphere near a height field or an implicit surface: the least phi on it."""

from __future__ import annotations

import math

from urdf_gibbs.contact.surfaces.axes import hessian_times
from urdf_gibbs.contact.surfaces.height import height_at
from urdf_gibbs.contact.surfaces.layout import ALL, HEIGHT, KIND, NAN, Jet, Row
from urdf_gibbs.contact.surfaces.level import level_function, tangential
from urdf_gibbs.contact.surfaces.summit import higher_point
from urdf_gibbs.engine.jit import jit


@jit
def lowest_on_sphere(row: Row, x: float, y: float, z: float, radius: float) -> Jet:
    """The least phi on the sphere |m| = radius about a point: zero when the sphere touches, smooth while it touches at one point only.

    With T the plane across m and mu = -grad . m / radius^2 its gradient is grad phi(x + m), its Hessian
    H - H T (T'HT + mu)^-1 T'H.
    """
    f = level_function(row, x, y, z, ALL)
    size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
    a, b, g = -f[1] / size, -f[2] / size, -f[3] / size
    if size == 0.0:  # a centre of symmetry: any direction will do
        a, b, g = 0.48, 0.6, 0.64
    if row.integers[KIND] == HEIGHT:
        # Start at the lowest of 21 points of the lower half; then search for a point of the ground that reaches higher.
        best = math.inf
        for k in range(25):
            e, h = (k % 5 - 2) * 0.45, (k // 5 - 2) * 0.45
            if e * e + h * h < 1.0:
                low = math.sqrt(1.0 - e * e - h * h)
                height = -radius * low - height_at(row, x + radius * e, y + radius * h)[0]
                if height < best:
                    a, b, g, best = e, h, -low, height
        for _ in range(30):
            a, b, g, f = _descended(row, x, y, z, radius, a, b, g)
            height = height_at(row, x + radius * a, y + radius * b)[0] - radius * g
            e, h, is_higher = higher_point(row, x, y, radius, height)
            if not is_higher:
                break
            a, b, g = e, h, -math.sqrt(max(0.0, 1.0 - e * e - h * h))
    else:
        a, b, g, f = _descended(row, x, y, z, radius, a, b, g)
    mu = -(f[1] * a + f[2] * b + f[3] * g) / radius
    q, r, qq, qr, rr = tangential(f, a, b, g, 1.0)
    qq, rr = qq + mu, rr + mu
    det = qq * rr - qr * qr
    s, t = hessian_times(f, q[0], q[1], q[2]), hessian_times(f, r[0], r[1], r[2])
    qq, qr, rr = rr / det, -qr / det, qq / det
    return (
        f[0],
        f[1],
        f[2],
        f[3],
        f[4] - qq * s[0] * s[0] - 2.0 * qr * s[0] * t[0] - rr * t[0] * t[0],
        f[5] - qq * s[0] * s[1] - qr * (s[0] * t[1] + s[1] * t[0]) - rr * t[0] * t[1],
        f[6] - qq * s[0] * s[2] - qr * (s[0] * t[2] + s[2] * t[0]) - rr * t[0] * t[2],
        f[7] - qq * s[1] * s[1] - 2.0 * qr * s[1] * t[1] - rr * t[1] * t[1],
        f[8] - qq * s[1] * s[2] - qr * (s[1] * t[2] + s[2] * t[1]) - rr * t[1] * t[2],
        f[9] - qq * s[2] * s[2] - 2.0 * qr * s[2] * t[2] - rr * t[2] * t[2],
    )


@jit
def _descended(row: Row, x: float, y: float, z: float, radius: float, a: float, b: float, g: float) -> tuple[float, float, float, Jet]:
    """The unit vector to a least phi on the sphere about a point, downhill from the unit vector (a, b, g), and phi there."""
    best, one, two = math.inf, 1.0, 0.0
    a0, b0, g0, f = a, b, g, NAN
    q, r, qq, qr, rr = tangential(f, a, b, g, 1.0)
    for k in range(60):
        f = level_function(row, x + radius * a, y + radius * b, z + radius * g, ALL)
        size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
        if f[0] > best + 1e-12 * size * radius and k < 59:  # uphill: retry with a shorter step
            one, two = 0.25 * one, 0.25 * two
        else:
            best, a0, b0, g0 = f[0], a, b, g
            # Quadratic convergence, as in _foot; NaN ends it.
            if not one * one + two * two > 1e-18:
                break
            q, r, qq, qr, rr = tangential(f, a, b, g, 1.0)
            mu = -(f[1] * a + f[2] * b + f[3] * g) / radius
            qq, rr = qq + mu, rr + mu
            low = 0.5 * (qq + rr) - math.sqrt(0.25 * (qq - rr) ** 2 + qr * qr)
            shift = 0.0 if low > 1e-3 * size / radius else size / radius - low
            t1, t2 = f[1] * q[0] + f[2] * q[1] + f[3] * q[2], f[1] * r[0] + f[2] * r[1] + f[3] * r[2]
            det = ((qq + shift) * (rr + shift) - qr * qr) * radius
            one, two = (qr * t2 - (rr + shift) * t1) / det, (qr * t1 - (qq + shift) * t2) / det
            length = math.sqrt(one * one + two * two)
            if length > 0.5:
                one, two = 0.5 * one / length, 0.5 * two / length
        a, b, g = a0 + one * q[0] + two * r[0], b0 + one * q[1] + two * r[1], g0 + one * q[2] + two * r[2]
        length = math.sqrt(a * a + b * b + g * g)
        a, b, g = a / length, b / length, g / length
    return a0, b0, g0, f
