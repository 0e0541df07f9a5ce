"""Where a sphere above a height field rests: the search for a point of the ground that reaches higher than what is known.

A sphere above a height field rests at the height F = max h(x + e) + sqrt(r^2 - e^2) over the disc |e| <= r. The search goes from blocks
of cells to cells to parts of cells, and leaves out whatever cannot be higher than what is known.
"""

from __future__ import annotations

import math

import numpy as np

from urdf_gibbs.contact.surfaces.height import height_at
from urdf_gibbs.contact.surfaces.layout import COUNT_X, COUNT_Y, OFFSET, SIZE, TABLE, Array, Integers
from urdf_gibbs.engine.jit import jit


def highest_points(coefficients: Array, dx: float, dy: float) -> tuple[Array, float]:
    """Of a bicubic B-spline (nx + 2, ny + 2): a bound of the height on each cell, on blocks of 2 x 2 cells, of 4 x 4, ... up to one
    block for all, table after table; and a bound of |grad (z - h)|.

    The cells (nx + 1, ny + 1) are those of the grid with the surroundings on all four sides, where there is no bound.
    """
    bezier = np.array([[1.0, 4.0, 1.0, 0.0], [0.0, 4.0, 2.0, 0.0], [0.0, 2.0, 4.0, 0.0], [0.0, 1.0, 4.0, 1.0]]) / 6.0
    nx, ny = coefficients.shape[0] - 3, coefficients.shape[1] - 3
    highest, steep_x, steep_y = np.full((nx, ny), -np.inf), 0.0, 0.0
    last: list[Array] = []
    for row in bezier:
        line = sum(row[k] * coefficients[k : k + nx] for k in range(4))
        b = [np.asarray(sum(weights[k] * line[:, k : k + ny] for k in range(4))) for weights in bezier]
        for j in range(4):
            np.maximum(highest, b[j], out=highest)  # a patch lies in the convex hull of its Bezier coefficients, as its slopes do
            steep_x = max(steep_x, float(np.abs(b[j] - last[j]).max()) if last else 0.0)
            steep_y = max(steep_y, float(np.abs(b[j] - b[j - 1]).max()) if j else 0.0)
        last = b
    table = np.pad(highest, 1, constant_values=np.inf)
    tables = [table.ravel()]
    while table.size > 1:
        even = np.pad(table, [(0, extent % 2) for extent in table.shape], constant_values=-np.inf)
        table = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2).max(axis=(1, 3))
        tables.append(table.ravel())
    return np.concatenate(tables), math.sqrt(1.0 + (3.0 * steep_x / dx) ** 2 + (3.0 * steep_y / dy) ** 2)


ROOM = 512  # of the stack of blocks and parts
PATIENCE = 4000  # parts looked at before the search is content with less
NOWHERE, FOUND, UNSURE = range(3)


@jit
def higher_point(p: Array, n: Integers, c: Array, u: Array, x: float, y: float, radius: float, known: float) -> tuple[float, float, bool]:
    """e / radius of a point of the disc where F is higher than ``known``, and whether there is one."""
    margin = 1e-13 * (abs(known) + radius)
    stack, patch, rows = np.empty((ROOM, 7)), np.empty((4, 4)), np.empty((2, 16))
    for _ in range(5):
        e, h, status = _search(p, n, c, u, x, y, radius, known + margin, stack, patch, rows)
        if status != UNSURE:
            return e / radius, h / radius, status == FOUND
        margin *= 1000.0  # ground that fits the sphere all over, or is steep at its rim: what is left out is no higher than this
    return 0.0, 0.0, False


@jit
def _search(
    p: Array, n: Integers, c: Array, u: Array, x: float, y: float, radius: float, known: float, stack: Array, patch: Array, rows: Array
) -> tuple[float, float, int]:
    """e of a point where F > known, and FOUND; or NOWHERE, or UNSURE."""
    dx, dy = p[SIZE + 1], p[SIZE + 3]
    centre_x, centre_y = (x - p[SIZE]) / dx, (y - p[SIZE + 2]) / dy  # in cells
    reach_x, reach_y = radius / dx, radius / dy
    # The coarsest table in which a block is no smaller than the disc.
    cells_x, cells_y = n[COUNT_X] + 1, n[COUNT_Y] + 1
    first = n[TABLE]
    level, wide, high = 0, cells_x, cells_y
    while wide * high > 1 and 2.0**level < 2.0 * max(reach_x, reach_y):
        first += wide * high
        level, wide, high = level + 1, (wide + 1) // 2, (high + 1) // 2
    top = 0
    for i in range(_block(centre_x - reach_x, n[COUNT_X], level), _block(centre_x + reach_x, n[COUNT_X], level) + 1):
        for j in range(_block(centre_y - reach_y, n[COUNT_Y], level), _block(centre_y + reach_y, n[COUNT_Y], level) + 1):
            stack[top, 0], stack[top, 1], stack[top, 2] = level, i, j
            top += 1
    parts = 0
    while top > 0:
        top -= 1
        level, i, j = int(stack[top, 0]), int(stack[top, 1]), int(stack[top, 2])
        if level >= 0:
            u0, u1 = _span(i, level, n[COUNT_X])
            v0, v1 = _span(j, level, n[COUNT_Y])
            u0, u1 = max(u0, centre_x - reach_x), min(u1, centre_x + reach_x)
            v0, v1 = max(v0, centre_y - reach_y), min(v1, centre_y + reach_y)
        else:
            u0, u1, v0, v1 = stack[top, 3], stack[top, 4], stack[top, 5], stack[top, 6]
        if not (u0 < u1 and v0 < v1):
            continue
        near_x, near_y = dx * (min(max(centre_x, u0), u1) - centre_x), dy * (min(max(centre_y, v0), v1) - centre_y)
        left = radius * radius - near_x * near_x - near_y * near_y
        if left <= 0.0:
            continue
        if level >= 0:
            # The place of this level's table, from the finest on.
            first, wide, high = n[TABLE], cells_x, cells_y
            for _ in range(level):
                first += wide * high
                wide, high = (wide + 1) // 2, (high + 1) // 2
            if c[first + i * high + j] + math.sqrt(left) <= known:
                continue
            if level > 0:
                below_x, below_y = cells_x, cells_y
                for _ in range(level - 1):
                    below_x, below_y = (below_x + 1) // 2, (below_y + 1) // 2
                if top + 4 > ROOM:
                    return 0.0, 0.0, UNSURE
                for k in range(4):
                    if 2 * i + k // 2 < below_x and 2 * j + k % 2 < below_y:
                        stack[top, 0], stack[top, 1], stack[top, 2] = level - 1, 2 * i + k // 2, 2 * j + k % 2
                        top += 1
                continue
        parts += 1
        if parts > PATIENCE or top + 4 > ROOM:
            return 0.0, 0.0, UNSURE
        _patch(n, c, i, j, u0, u1, v0, v1, rows, patch)
        e0, e1, f0, f1 = dx * (u0 - centre_x), dx * (u1 - centre_x), dy * (v0 - centre_y), dy * (v1 - centre_y)
        e, f = 0.5 * (e0 + e1), 0.5 * (f0 + f1)
        middle = radius * radius - e * e - f * f
        height = math.sqrt(max(0.0, middle))
        if middle > 0.0:
            value = 0.0
            for k in range(4):
                for m in range(4):
                    value += (0.125 if k % 3 == 0 else 0.375) * (0.125 if m % 3 == 0 else 0.375) * patch[k, m]
            if value + height > known:
                return e, f, FOUND
        # The root is concave: below its tangent at any point of the disc. That is the middle of the part, or its nearest point.
        if middle < 1e-3 * radius * radius:
            e, f, height = near_x, near_y, math.sqrt(left)
        highest = -math.inf
        for k in range(4):
            for m in range(4):
                along, across = e0 + k * (e1 - e0) / 3.0 - e, f0 + m * (f1 - f0) / 3.0 - f
                highest = max(highest, patch[k, m] + height - (e * along + f * across) / height)
        if highest <= known:
            continue
        if _concave(patch, e0, e1, f0, f1, radius):
            e, f, highest = _summit(p, n, c, u, x, y, radius, e0, e1, f0, f1)
            value = radius * radius - e * e - f * f
            if value > 0.0 and height_at(p, n, c, u, x + e, y + f)[0] + math.sqrt(value) > known:
                return e, f, FOUND
            if highest <= known:
                continue
        middle_u, middle_v = 0.5 * (u0 + u1), 0.5 * (v0 + v1)
        if not (u0 < middle_u < u1 and v0 < middle_v < v1):  # no part can be smaller
            continue
        for k in range(4):
            stack[top, 0], stack[top, 1], stack[top, 2] = -1, i, j
            stack[top, 3], stack[top, 4] = (middle_u, u1) if k // 2 else (u0, middle_u)
            stack[top, 5], stack[top, 6] = (middle_v, v1) if k % 2 else (v0, middle_v)
            top += 1
    return 0.0, 0.0, NOWHERE


@jit
def _block(place: float, count: int, level: int) -> int:
    """The block of a level that holds a place on an axis with ``count`` nodes: cell 0 is all before the first, cell count all beyond."""
    cell = 0 if place < 0.0 else (count if place >= count - 1.0 else int(place) + 1)
    return cell >> level


@jit
def _span(block: int, level: int, count: int) -> tuple[float, float]:
    """Where a block begins and ends, in cells."""
    first, last = block << level, ((block + 1) << level) - 1
    return (-math.inf if first == 0 else first - 1.0), (math.inf if last >= count else float(last))


@jit
def _patch(n: Integers, c: Array, i: int, j: int, u0: float, u1: float, v0: float, v1: float, rows: Array, patch: Array) -> None:
    """The Bezier coefficients (4, 4) of h on a part of the cell (i, j)."""
    a = _bezier(u0, u1, i, n[COUNT_X], rows[0])
    b = _bezier(v0, v1, j, n[COUNT_Y], rows[1])
    columns = n[COUNT_Y] + 2
    first = n[OFFSET] + a * columns + b
    for k in range(4):
        for m in range(4):
            patch[k, m] = 0.0
    for one in range(4):
        for m in range(4):
            value = 0.0
            for other in range(4):
                value += rows[1, 4 * m + other] * c[first + one * columns + other]
            for k in range(4):
                patch[k, m] += rows[0, 4 * k + one] * value


@jit
def _bezier(x0: float, x1: float, cell: int, count: int, out: Array) -> int:
    """out (4 x 4,): the Bezier coefficients on [x0, x1] of a cell from its four coefficients, the first of which is returned."""
    first = min(max(cell - 1, 0), count - 2)
    g0, g1 = x0 - first, x1 - first
    reach = (x1 - x0) / 3.0
    for end in range(2):
        g = g1 if end else g0
        inside = min(max(g, 0.0), 1.0)
        f, beyond = 1.0 - inside, g - inside
        for k in range(4):
            if k == 0:
                value, slope = f * f * f / 6.0, -0.5 * f * f
            elif k == 1:
                value, slope = 2.0 / 3.0 + inside * inside * (0.5 * inside - 1.0), inside * (1.5 * inside - 2.0)
            elif k == 2:
                value, slope = 2.0 / 3.0 + f * f * (0.5 * f - 1.0), 0.5 + inside * (1.0 - 1.5 * inside)
            else:
                value, slope = inside * inside * inside / 6.0, 0.5 * inside * inside
            value += beyond * slope
            if end:
                out[12 + k], out[8 + k] = value, value - reach * slope
            else:
                out[k], out[4 + k] = value, value + reach * slope
    return first


@jit
def _concave(b: Array, e0: float, e1: float, f0: float, f1: float, radius: float) -> bool:
    """Whether h + sqrt(r^2 - e^2) is concave on a part [e0, e1] x [f0, f1] of a cell with Bezier coefficients b, for sure."""
    far_x, far_y = max(abs(e0), abs(e1)), max(abs(f0), abs(f1))
    near_x, near_y = (0.0 if e0 * e1 <= 0.0 else min(abs(e0), abs(e1))), (0.0 if f0 * f1 <= 0.0 else min(abs(f0), abs(f1)))
    square = radius * radius
    low, high = square - far_x * far_x - far_y * far_y, square - near_x * near_x - near_y * near_y
    if low <= 0.0:
        return False
    low, high = low**-1.5, high**-1.5
    xx, yy, least, most = -math.inf, -math.inf, math.inf, -math.inf
    for k in range(4):
        for m in range(4):
            if k < 2:
                xx = max(xx, b[k + 2, m] - 2.0 * b[k + 1, m] + b[k, m])
            if m < 2:
                yy = max(yy, b[k, m + 2] - 2.0 * b[k, m + 1] + b[k, m])
            if k < 3 and m < 3:
                twist = b[k + 1, m + 1] - b[k + 1, m] - b[k, m + 1] + b[k, m]
                least, most = min(least, twist), max(most, twist)
    wide, deep = e1 - e0, f1 - f0
    xx = 6.0 * xx / (wide * wide) - (square - far_y * far_y) * high
    yy = 6.0 * yy / (deep * deep) - (square - far_x * far_x) * high
    if xx >= 0.0 or yy >= 0.0:
        return False
    # -e f / root^3, from its four corners
    down, up = math.inf, -math.inf
    for k in range(4):
        product = -(e1 if k // 2 else e0) * (f1 if k % 2 else f0)
        down, up = min(down, product * low, product * high), max(up, product * low, product * high)
    twist = max(abs(9.0 * least / (wide * deep) + down), abs(9.0 * most / (wide * deep) + up))
    return twist * twist < xx * yy


@jit
def _summit(
    p: Array, n: Integers, c: Array, u: Array, x: float, y: float, radius: float, e0: float, e1: float, f0: float, f1: float
) -> tuple[float, float, float]:
    """Where F is highest on a part on which it is concave, by Newton within it, and a bound of F there from the tangent at that place."""
    e, f = 0.5 * (e0 + e1), 0.5 * (f0 + f1)
    bound = math.inf
    for _ in range(8):
        h = height_at(p, n, c, u, x + e, y + f)
        root = math.sqrt(radius * radius - e * e - f * f)
        one, two = h[1] - e / root, h[2] - f / root
        bound = min(
            bound, h[0] + root + (one * (e1 - e) if one > 0.0 else one * (e0 - e)) + (two * (f1 - f) if two > 0.0 else two * (f0 - f))
        )
        cube = root * root * root
        xx, yy = h[3] - (radius * radius - f * f) / cube, h[5] - (radius * radius - e * e) / cube
        xy = h[4] - e * f / cube
        # On an edge, along it.
        if (e == e0 and one < 0.0) or (e == e1 and one > 0.0):
            a, b = e, min(max(f - two / yy, f0), f1)
        elif (f == f0 and two < 0.0) or (f == f1 and two > 0.0):
            a, b = min(max(e - one / xx, e0), e1), f
        else:
            det = xx * yy - xy * xy
            a, b = min(max(e - (yy * one - xy * two) / det, e0), e1), min(max(f - (xx * two - xy * one) / det, f0), f1)
        if abs(a - e) + abs(b - f) <= 1e-15 * radius:
            break
        e, f = a, b
    return e, f, bound
