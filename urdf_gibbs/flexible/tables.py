"""Shape functions from tables: splines through values, and through values and slopes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.shape import Pieces

Array = NDArray[np.float64]


def spline(eta: Sequence[float] | Array, values: Sequence[float] | Array, root_slope: float | None = 0.0) -> Pieces:
    """The cubic spline, twice continuously differentiable: this slope at the root (None: not a knot), not a knot at the tip."""
    x, y = np.asarray(eta, dtype=float), np.asarray(values, dtype=float)
    n = x.size
    _check_knots(x, 4)
    h, slope = np.diff(x), np.diff(y) / np.diff(x)
    A, right = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):  # second derivatives that make the slopes meet
        A[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        right[i] = 6.0 * (slope[i] - slope[i - 1])
    if root_slope is None:
        A[0, :3] = -h[1], h[0] + h[1], -h[0]
    else:
        A[0, :2] = 2.0 * h[0], h[0]
        right[0] = 6.0 * (slope[0] - root_slope)
    A[-1, -3:] = -h[-1], h[-1] + h[-2], -h[-2]
    second = np.linalg.solve(A, right)
    linear = slope - h * (2.0 * second[:-1] + second[1:]) / 6.0
    return Pieces(x, np.stack([y[:-1], linear, 0.5 * second[:-1], np.diff(second) / (6.0 * h)], axis=1))


def hermite_spline(eta: Sequence[float] | Array, values: Sequence[float] | Array, slopes: Sequence[float] | Array) -> Pieces:
    """The quintic spline (three times continuously differentiable) through values and slopes.

    The curvature at either end is that of the quintic through the three knots nearest to it.
    """
    x, y, v = (np.asarray(one, dtype=float) for one in (eta, values, slopes))
    n = x.size
    _check_knots(x, 3)
    h, rise = np.diff(x), np.diff(y)
    A, right = np.zeros((n, n)), np.zeros(n)
    A[0, 0] = A[-1, -1] = 1.0
    right[0], right[-1] = _end_curvature(x[:3], y[:3], v[:3]), _end_curvature(x[:-4:-1], y[:-4:-1], v[:-4:-1])
    for i in range(1, n - 1):  # curvatures that make the third derivatives meet
        a, b = h[i - 1], h[i]
        A[i, i - 1 : i + 2] = -3.0 / a, 9.0 / a + 9.0 / b, -3.0 / b
        right[i] = 60.0 * (rise[i] / b**3 - rise[i - 1] / a**3)
        right[i] -= (36.0 * v[i] + 24.0 * v[i + 1]) / b**2 - (24.0 * v[i - 1] + 36.0 * v[i]) / a**2
    c = np.linalg.solve(A, right)
    rest, slope, bend = rise - h * v[:-1] - 0.5 * h**2 * c[:-1], (np.diff(v) - h * c[:-1]) * h, np.diff(c) * h**2
    cubic = (10.0 * rest - 4.0 * slope + 0.5 * bend) / h**3
    quartic = (-15.0 * rest + 7.0 * slope - bend) / h**4
    quintic = (6.0 * rest - 3.0 * slope + 0.5 * bend) / h**5
    return Pieces(x, np.stack([y[:-1], v[:-1], 0.5 * c[:-1], cubic, quartic, quintic], axis=1))


def _end_curvature(x: Array, y: Array, v: Array) -> float:
    unit = float(x[-1] - x[0])
    t = (x - x[0]) / unit
    powers = np.arange(6)
    A = np.concatenate([t[:, None] ** powers, powers * t[:, None] ** np.maximum(powers - 1, 0)])
    return 2.0 * float(np.linalg.solve(A, np.concatenate([y, v * unit]))[2]) / unit**2


def _check_knots(x: Array, least: int) -> None:
    if x.size < least or x[0] != 0.0 or not (np.diff(x) > 0.0).all():
        raise ArgumentError(f"a table needs at least {least} rows with eta from 0 upwards")
