"""Where a sphere above a height field rests: the search for a point of the ground that reaches higher than what is known.

A sphere above a height field rests at the height F = max h(x + e) + sqrt(r^2 - e^2) over the disc |e| <= r. The search goes from blocks
of cells to cells to parts of cells, skipping whatever cannot be higher than what is known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from urdf_gibbs.contact.surfaces.height import height_at
from urdf_gibbs.contact.surfaces.layout import COUNT_X, COUNT_Y, OFFSET, SIZE, TABLE, Array, Integers, Row
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


STACK_SIZE = 512  # of the stack of blocks and parts
MAX_PARTS = 4000  # parts examined before the search is repeated with a larger margin
NOWHERE, FOUND, UNSURE = range(3)


@jit
def higher_point(row: Row, x: float, y: float, radius: float, known: float) -> tuple[float, float, bool]:
    """e / radius of a point of the disc where F is higher than ``known``, and whether there is one."""
    margin, disc = 1e-13 * (abs(known) + radius), _disc(row.values, x, y, radius)
    stack, patch, rows = np.empty((STACK_SIZE, 7)), np.empty((4, 4)), np.empty((2, 16))
    for _ in range(5):
        e, h, status = _search(row, disc, known + margin, stack, patch, rows)
        if status != UNSURE:
            return e / radius, h / radius, status == FOUND
        margin *= 1000.0  # the ground fits the sphere closely, or is steep at its rim: accept an error of this margin
    return 0.0, 0.0, False


class Disc(NamedTuple):
    """What a sphere covers of the ground: its centre and radius [m], the edges of a cell [m], and the centre and reach in cells."""

    x: float
    y: float
    radius: float
    dx: float
    dy: float
    centre_x: float
    centre_y: float
    reach_x: float
    reach_y: float


@jit
def _disc(p: Array, x: float, y: float, radius: float) -> Disc:
    dx, dy = p[SIZE + 1], p[SIZE + 3]
    return Disc(x, y, radius, dx, dy, (x - p[SIZE]) / dx, (y - p[SIZE + 2]) / dy, radius / dx, radius / dy)


@jit
def _search(row: Row, disc: Disc, known: float, stack: Array, patch: Array, rows: Array) -> tuple[float, float, int]:
    """e of a point where F > known, and FOUND; or NOWHERE, or UNSURE."""
    n, c = row.integers, row.data
    top, parts = _coarsest(n, disc, stack), 0
    while top > 0:
        top -= 1
        level, i, j = int(stack[top, 0]), int(stack[top, 1]), int(stack[top, 2])
        if level >= 0:
            u0, u1, v0, v1 = _within(n, disc, level, i, j)
        else:
            u0, u1, v0, v1 = stack[top, 3], stack[top, 4], stack[top, 5], stack[top, 6]
        if not (u0 < u1 and v0 < v1):
            continue
        near_x, near_y = _near(disc, u0, u1, v0, v1)
        left = disc.radius * disc.radius - near_x * near_x - near_y * near_y
        if left <= 0.0:
            continue
        if level >= 0:
            first, _, high = _table(n, level)
            if c[first + i * high + j] + math.sqrt(left) <= known:
                continue
            if level > 0:
                if top + 4 > STACK_SIZE:
                    return 0.0, 0.0, UNSURE
                top = _blocks_below(n, level, i, j, stack, top)
                continue
        parts += 1
        if parts > MAX_PARTS or top + 4 > STACK_SIZE:
            return 0.0, 0.0, UNSURE
        _patch(n, c, i, j, u0, u1, v0, v1, rows, patch)
        e, f, status = _part(row, disc, known, patch, u0, u1, v0, v1)
        if status == FOUND:
            return e, f, FOUND
        if status == UNSURE:
            top = _quarters(i, j, u0, u1, v0, v1, stack, top)
    return 0.0, 0.0, NOWHERE


@jit
def _part(row: Row, disc: Disc, known: float, patch: Array, u0: float, u1: float, v0: float, v1: float) -> tuple[float, float, int]:
    """The same for a part of a cell with Bezier coefficients ``patch``, without cutting it: UNSURE where it has to be cut."""
    radius = disc.radius
    e0, e1 = disc.dx * (u0 - disc.centre_x), disc.dx * (u1 - disc.centre_x)
    f0, f1 = disc.dy * (v0 - disc.centre_y), disc.dy * (v1 - disc.centre_y)
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
        e, f = _near(disc, u0, u1, v0, v1)
        height = math.sqrt(radius * radius - e * e - f * f)
    highest = -math.inf
    for k in range(4):
        for m in range(4):
            along, across = e0 + k * (e1 - e0) / 3.0 - e, f0 + m * (f1 - f0) / 3.0 - f
            highest = max(highest, patch[k, m] + height - (e * along + f * across) / height)
    if highest <= known:
        return 0.0, 0.0, NOWHERE
    if _concave(patch, e0, e1, f0, f1, radius):
        e, f, highest = _summit(row, disc, e0, e1, f0, f1)
        value = radius * radius - e * e - f * f
        if value > 0.0 and height_at(row, disc.x + e, disc.y + f)[0] + math.sqrt(value) > known:
            return e, f, FOUND
        if highest <= known:
            return 0.0, 0.0, NOWHERE
    return 0.0, 0.0, UNSURE


@jit
def _near(disc: Disc, u0: float, u1: float, v0: float, v1: float) -> tuple[float, float]:
    """From the centre to the nearest point of a part [m]."""
    return (
        disc.dx * (min(max(disc.centre_x, u0), u1) - disc.centre_x),
        disc.dy * (min(max(disc.centre_y, v0), v1) - disc.centre_y),
    )


# the stack: blocks (level, i, j), and parts of cells (-1, i, j, u0, u1, v0, v1) ---------------------


@jit
def _coarsest(n: Integers, disc: Disc, stack: Array) -> int:
    """Put the blocks that the disc reaches on the empty stack, of the coarsest table in which none is smaller than the disc."""
    level, wide, high = 0, n[COUNT_X] + 1, n[COUNT_Y] + 1
    while wide * high > 1 and 2.0**level < 2.0 * max(disc.reach_x, disc.reach_y):
        level, wide, high = level + 1, (wide + 1) // 2, (high + 1) // 2
    x0, x1 = disc.centre_x - disc.reach_x, disc.centre_x + disc.reach_x
    y0, y1 = disc.centre_y - disc.reach_y, disc.centre_y + disc.reach_y
    top = 0
    for i in range(_block(x0, n[COUNT_X], level), _block(x1, n[COUNT_X], level) + 1):
        for j in range(_block(y0, n[COUNT_Y], level), _block(y1, n[COUNT_Y], level) + 1):
            stack[top, 0], stack[top, 1], stack[top, 2] = level, i, j
            top += 1
    return top


@jit
def _within(n: Integers, disc: Disc, level: int, i: int, j: int) -> tuple[float, float, float, float]:
    """Where a block begins and ends in the square about the disc, in cells."""
    u0, u1 = _span(i, level, n[COUNT_X])
    v0, v1 = _span(j, level, n[COUNT_Y])
    return (
        max(u0, disc.centre_x - disc.reach_x),
        min(u1, disc.centre_x + disc.reach_x),
        max(v0, disc.centre_y - disc.reach_y),
        min(v1, disc.centre_y + disc.reach_y),
    )


@jit
def _table(n: Integers, level: int) -> tuple[int, int, int]:
    """Where the table of a level begins, and how many blocks it has along x and y."""
    first, wide, high = n[TABLE], n[COUNT_X] + 1, n[COUNT_Y] + 1
    for _ in range(level):
        first += wide * high
        wide, high = (wide + 1) // 2, (high + 1) // 2
    return first, wide, high


@jit
def _blocks_below(n: Integers, level: int, i: int, j: int, stack: Array, top: int) -> int:
    """Put the four blocks that a block is made of on the stack; fewer at the edge."""
    _, wide, high = _table(n, level - 1)
    for k in range(4):
        if 2 * i + k // 2 < wide and 2 * j + k % 2 < high:
            stack[top, 0], stack[top, 1], stack[top, 2] = level - 1, 2 * i + k // 2, 2 * j + k % 2
            top += 1
    return top


@jit
def _quarters(i: int, j: int, u0: float, u1: float, v0: float, v1: float, stack: Array, top: int) -> int:
    """Put the four quarters of a part of the cell (i, j) on the stack; none where no part can be smaller."""
    middle_u, middle_v = 0.5 * (u0 + u1), 0.5 * (v0 + v1)
    if not (u0 < middle_u < u1 and v0 < middle_v < v1):
        return top
    for k in range(4):
        stack[top, 0], stack[top, 1], stack[top, 2] = -1, i, j
        stack[top, 3], stack[top, 4] = (middle_u, u1) if k // 2 else (u0, middle_u)
        stack[top, 5], stack[top, 6] = (middle_v, v1) if k % 2 else (v0, middle_v)
        top += 1
    return top


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
def _summit(row: Row, disc: Disc, e0: float, e1: float, f0: float, f1: float) -> tuple[float, float, float]:
    """Where F is highest on a part on which it is concave, by Newton within it, and a bound of F there from the tangent at that place."""
    radius = disc.radius
    e, f = 0.5 * (e0 + e1), 0.5 * (f0 + f1)
    bound = math.inf
    for _ in range(8):
        h = height_at(row, disc.x + e, disc.y + f)
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
