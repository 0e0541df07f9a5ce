"""A height field z = h(x, y): its bicubic spline, and the point of it nearest to a place."""

from __future__ import annotations

import math

from urdf_gibbs.contact.surfaces.layout import COUNT_X, COUNT_Y, OFFSET, SIZE, WEIGHTS, Array, Row
from urdf_gibbs.engine.jit import jit


@jit
def height_at(row: Row, x: float, y: float) -> tuple[float, float, float, float, float, float]:
    """h, h_x, h_y, h_xx, h_xy, h_yy of a height field."""
    p, n, c, u = row
    dx, dy, columns = p[SIZE + 1], p[SIZE + 3], n[COUNT_Y] + 2
    a, b = u[WEIGHTS : WEIGHTS + 12], u[WEIGHTS + 12 : WEIGHTS + 24]
    first = _weights((x - p[SIZE]) / dx, n[COUNT_X], a) * columns + _weights((y - p[SIZE + 2]) / dy, n[COUNT_Y], b) + n[OFFSET]
    h, hx, hy, hxx, hxy, hyy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        line, slope, bend = 0.0, 0.0, 0.0
        for j in range(4):
            e = c[first + k * columns + j]
            line += b[j] * e
            slope += b[4 + j] * e
            bend += b[8 + j] * e
        h += a[k] * line
        hx += a[4 + k] * line
        hxx += a[8 + k] * line
        hy += a[k] * slope
        hxy += a[4 + k] * slope
        hyy += a[k] * bend
    return h, hx / dx, hy / dy, hxx / (dx * dx), hxy / (dx * dy), hyy / (dy * dy)


@jit
def _weights(x: float, count: int, out: Array) -> int:
    """The cell of x in a grid of nodes 0, 1, ...; out (12,): weights of its four coefficients for value, slope and curvature."""
    cell = 0
    if x >= count - 1.0:
        cell = count - 2
    elif x > 0.0:
        cell = int(x)
    g = x - cell
    beyond = 0.0
    if g < 0.0:
        g, beyond = 0.0, g
    elif g > 1.0:
        g, beyond = 1.0, g - 1.0
    f = 1.0 - g
    out[4], out[5], out[6], out[7] = -0.5 * f * f, g * (1.5 * g - 2.0), 0.5 + g * (1.0 - 1.5 * g), 0.5 * g * g
    out[0] = f * f * f / 6.0 + beyond * out[4]
    out[1] = 2.0 / 3.0 + g * g * (0.5 * g - 1.0) + beyond * out[5]
    out[2] = 2.0 / 3.0 + f * f * (0.5 * f - 1.0) + beyond * out[6]
    out[3] = g * g * g / 6.0 + beyond * out[7]
    out[8], out[9], out[10], out[11] = f, 3.0 * g - 2.0, 1.0 - 3.0 * g, g
    return cell


@jit
def nearest_sample(row: Row, x: Array) -> None:
    """x (3,) becomes the nearest of many points of the height field, from the one below outwards."""
    px, py, pz, best, reach = x[0], x[1], x[2], math.inf, 0.0
    for k in range(-1, 41 * 41):
        a, b = px + (k % 41 - 20) * reach, py + (k // 41 - 20) * reach
        h = height_at(row, a, b)[0]
        d = math.sqrt((a - px) ** 2 + (b - py) ** 2 + (h - pz) ** 2)
        if d < best:
            x[0], x[1], x[2], best = a, b, h, d
        if k < 0:
            reach = 0.05 * d
