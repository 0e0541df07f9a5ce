"""Whether contacts can be in given modes at all: a linear program that holds all solutions, or a proof that there are none. Compiled.

A node (k, 3) tells for each contact a mode and, where it slips, the angles between which the direction of friction is:

    ANY     sₙ >= 0, y in its cone               CLOSED   sₙ = 0, y in its cone
    OPEN    sₙ >= 0, y = 0                       STICK    s = 0, y in its cone
    SLIP    sₙ = 0, y = yₙ (1, μ t), sₜ = -σ t with σ >= 0 and t between two angles

Cones and arcs are enlarged to polygons, y = G w with w >= 0, and t of y and t of s need not be the same: what is left is linear in w,
σ and s = S y + c. To this comes what all solutions obey, y·s <= 0 (friction never drives), a convex function of y: wherever the program
leads to a y₀ with y₀·s₀ > 0, the plane that touches it there is added, (2 s₀ - c)·y <= y₀·S y₀.

The dual simplex method ends with a y, or with a row that no y can satisfy. From that row: z on velocities and ζ >= 0 on planes with z·s
>= 0 for all velocities that the node admits, and g·y <= 0 for all y that it admits, g = S z - Σ ζ (2 s₀ - c), while z·c + Σ ζ y₀·S y₀ < 0:
a contradiction (Farkas). That is checked with round cones, apart from the method, with a margin for rounding: a solution would need
impulses or velocities LARGE times those of the problem.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.infeasible import LARGE
from urdf_gibbs.contact.coulomb.scaled import FRICTION, SLIDING, Array, Indices, motion
from urdf_gibbs.contact.dense import fill, length_of
from urdf_gibbs.engine.jit import jit

ANY, OPEN, CLOSED, STICK, SLIP = range(5)
MODE, LOW, HIGH = range(3)  # of a node
SIDES = 12  # of the polygon around a cone
PLANES = 10  # at most
PIVOTS = 1000  # at most
FEASIBLE, UNDECIDED = 0.0, -1.0
RESIDUE = 1e-9  # of velocities
DEGENERATE = 1e-3  # reduced costs of this size count as equal: of those the largest pivot is taken
IMPULSE, VELOCITY = range(2)  # what a column stands for


@jit
def relaxed(
    S: Array, c: Array, kind: Indices, at: Indices, law: Array, node: Array, smallest: float, y: Array, z: Array, g: Array
) -> float:
    """FEASIBLE: y (n,) is what the node admits. Above: the proof that it admits nothing, z (n,) and g (n,). UNDECIDED: neither.

    ``smallest``: of pivots. No contact may be a JOINT.
    """
    n, k = c.shape[0], kind.shape[0]
    G, owner = np.empty((k * SIDES + 1, 4)), np.empty(k * SIDES + 1, np.int64)
    row, equal = np.empty(n + PLANES + 1, np.int64), np.empty(n + PLANES + 1, np.int64)
    many = _columns(kind, law, node, G, owner)
    m = _rows(kind, at, node, row, equal)
    T, plane = np.empty((m + PLANES + 1, many + 1)), np.empty((PLANES, n + 1))
    basic, other = np.empty(m + PLANES + 1, np.int64), np.empty(many + 1, np.int64)
    _tableau(S, c, at, G, owner, row, m, T)
    for a in range(1, m + PLANES + 1):
        basic[a] = -a  # rows have negative numbers
    for j in range(many + 1):
        other[j] = j
    s, zeta, planes = np.empty(n), np.empty(PLANES), 0
    for _ in range(PIVOTS):
        r = _leaving(T, basic, equal, m)
        if r == 0:
            _point(at, G, owner, basic, T, m, y)
            motion(S, c, y, s)
            if planes == PLANES or not _touching(c, y, s, plane[planes]):
                return FEASIBLE
            planes += 1
            m += 1
            row[m], equal[m] = n + planes - 1, 0
            _appended(at, G, owner, plane[planes - 1], basic, other, T, m)
            continue
        sign = -1.0 if T[r, 0] > 0.0 else 1.0
        e = _entering(T, other, equal, r, sign, smallest)
        if e == 0:
            _multipliers(T, basic, other, row, equal, r, sign, z, zeta)
            return _power(S, c, kind, at, law, node, plane, zeta, z, g)
        _exchange(T, m, r, e)
        basic[r], other[e] = other[e], basic[r]
    return UNDECIDED


@jit
def _columns(kind: Indices, law: Array, node: Array, G: Array, owner: Indices) -> int:
    """G[1:] (., 4): the three parts of an impulse, or of a velocity, and which of both; gives how many."""
    m = 0
    for i in range(kind.shape[0]):
        mu, mode = law[i, 0], int(node[i, MODE])
        if mode == OPEN:
            continue
        low, half = node[i, LOW], 0.5 * (node[i, HIGH] - node[i, LOW])
        count = 1 if kind[i] != FRICTION else 6 if mode == SLIP else SIDES
        for q in range(count):
            m += 1
            owner[m], G[m, 0], G[m, 3] = i, 1.0, IMPULSE
            if kind[i] != FRICTION:
                for r in range(1, 3):
                    G[m, r] = -mu * law[i, r] if kind[i] == SLIDING else 0.0
                continue
            angle, radius = (q + 0.5) * (2.0 * np.pi / SIDES), mu / np.cos(np.pi / SIDES)
            if mode == SLIP and q < 4:  # an arc: its ends and where tangents meet
                angle = low + half * (2.0, 0.0, 0.5, 1.5)[q]
                radius = mu if q < 2 else mu / np.cos(0.5 * half)
            elif mode == SLIP:
                angle, radius, G[m, 0], G[m, 3] = low + half * (2.0 if q == 4 else 0.0), 1.0, 0.0, VELOCITY
            G[m, 1], G[m, 2] = radius * np.cos(angle), radius * np.sin(angle)
    return m


@jit
def _rows(kind: Indices, at: Indices, node: Array, row: Indices, equal: Indices) -> int:
    """row[1:]: the rows of S on which the node puts a condition, and whether it is an equation; gives how many."""
    m = 0
    for i in range(kind.shape[0]):
        mode = int(node[i, MODE])
        m += 1
        row[m], equal[m] = at[i], 0 if mode in (ANY, OPEN) else 1
        if mode in (STICK, SLIP):
            for r in range(1, 3):
                m += 1
                row[m], equal[m] = at[i] + r, 1
    return m


@jit
def _tableau(S: Array, c: Array, at: Indices, G: Array, owner: Indices, row: Indices, m: int, T: Array) -> None:
    """Rows of T: s (and σ t where a contact slips) by w; column 0: c. Row 0: the sum of all yₙ, which is to be small."""
    T[0, 0] = 0.0
    for j in range(1, T.shape[1]):
        T[0, j] = 1.0 if G[j, 3] == IMPULSE else 0.0
    for a in range(1, m + 1):
        T[a, 0] = c[row[a]]
        for j in range(1, T.shape[1]):
            first = at[owner[j]]
            total = 0.0
            for r in range(at[owner[j] + 1] - first):
                if G[j, 3] == IMPULSE:
                    total += S[row[a], first + r] * G[j, r]
                elif row[a] == first + r:
                    total += G[j, r]
            T[a, j] = total


@jit
def _leaving(T: Array, basic: Indices, equal: Indices, m: int) -> int:
    """The row that is violated most; 0 where none is."""
    worst, found = RESIDUE, 0
    for a in range(1, m + 1):
        lack = abs(T[a, 0]) if basic[a] < 0 and equal[-basic[a]] == 1 else -T[a, 0]
        if lack > worst:
            worst, found = lack, a
    return found


@jit
def _entering(T: Array, other: Indices, equal: Indices, r: int, sign: float, smallest: float) -> int:
    """The column that keeps reduced costs from falling below zero, all but; 0 where no column helps."""
    least, best, found = 1e300, 0.0, 0
    for j in range(1, T.shape[1]):
        pivot = sign * T[r, j]
        if pivot > smallest and not (other[j] < 0 and equal[-other[j]] == 1):
            least = min(least, (max(T[0, j], 0.0) + DEGENERATE) / pivot)
    for j in range(1, T.shape[1]):
        pivot = sign * T[r, j]
        if pivot > max(best, smallest) and not (other[j] < 0 and equal[-other[j]] == 1) and max(T[0, j], 0.0) <= least * pivot:
            best, found = pivot, j
    return found


@jit
def _exchange(T: Array, m: int, r: int, e: int) -> None:
    """What stands for row r and column e change places."""
    inverse = 1.0 / T[r, e]
    for j in range(T.shape[1]):
        T[r, j] = -T[r, j] * inverse
    T[r, e] = inverse
    for a in range(m + 1):
        if a != r and T[a, e] != 0.0:
            factor = T[a, e]
            T[a, e] = 0.0
            for j in range(T.shape[1]):
                T[a, j] += factor * T[r, j]


@jit
def _point(at: Indices, G: Array, owner: Indices, basic: Indices, T: Array, m: int, y: Array) -> None:
    fill(y, 0.0)
    for a in range(1, m + 1):
        j = basic[a]
        if j > 0 and G[j, 3] == IMPULSE:
            first = at[owner[j]]
            for r in range(at[owner[j] + 1] - first):
                y[first + r] += G[j, r] * T[a, 0]


@jit
def _touching(c: Array, y: Array, s: Array, plane: Array) -> bool:
    """plane (n + 1,): -(2 s - c), y·S y, to a size of 1; whether y·s is above zero at all."""
    total, size, energy = 0.0, 0.0, 0.0
    for i in range(c.shape[0]):
        total += y[i] * s[i]
        size += abs(y[i] * s[i])
        energy += y[i] * (s[i] - c[i])
    for i in range(c.shape[0]):
        plane[i] = (c[i] - 2.0 * s[i]) / (1.0 + energy)
    plane[c.shape[0]] = energy / (1.0 + energy)
    return total > 1e-3 * size and total > 1e-7


@jit
def _appended(at: Indices, G: Array, owner: Indices, plane: Array, basic: Indices, other: Indices, T: Array, m: int) -> None:
    """Row m of T: a plane by what stands for columns now."""
    T[m, 0] = plane[plane.shape[0] - 1]
    for j in range(1, T.shape[1]):
        T[m, j] = _along(at, G, owner, plane, other[j])
    for a in range(1, m):
        factor = _along(at, G, owner, plane, basic[a])
        if factor != 0.0:
            for j in range(T.shape[1]):
                T[m, j] += factor * T[a, j]


@jit
def _along(at: Indices, G: Array, owner: Indices, plane: Array, j: int) -> float:
    total = 0.0
    if j > 0 and G[j, 3] == IMPULSE:
        first = at[owner[j]]
        for r in range(at[owner[j] + 1] - first):
            total += plane[first + r] * G[j, r]
    return total


@jit
def _multipliers(
    T: Array, basic: Indices, other: Indices, row: Indices, equal: Indices, r: int, sign: float, z: Array, zeta: Array
) -> None:
    """z (n,) and ζ (PLANES,), by which row r is the sum of rows as they were at first."""
    n = z.shape[0]
    fill(z, 0.0)
    fill(zeta, 0.0)
    for j in range(T.shape[1]):
        a = -(basic[r] if j == 0 else other[j])
        if a <= 0:
            continue
        value = sign if j == 0 else -sign * T[r, j]
        if equal[a] == 0:
            value = max(value, 0.0)
        if row[a] < n:
            z[row[a]] = value
        else:
            zeta[row[a] - n] = value


@jit
def _power(S: Array, c: Array, kind: Indices, at: Indices, law: Array, node: Array, plane: Array, zeta: Array, z: Array, g: Array) -> float:
    """How far below zero all that the node admits is, where z and ζ prove that it admits nothing; else UNDECIDED. Fills g."""
    n = c.shape[0]
    motion(S, c, z, g)
    power = 0.0
    for i in range(n):
        g[i] -= c[i]
        power -= z[i] * c[i]
    for q in range(PLANES):
        if zeta[q] > 0.0:
            power -= zeta[q] * plane[q, n]
            for i in range(n):
                g[i] += zeta[q] * plane[q, i]
    if not power > 0.0:
        return UNDECIDED
    for i in range(kind.shape[0]):
        if not refuted(kind[i], at[i], law[i], node[i], z, g, power / LARGE):
            return UNDECIDED
    return power


@jit
def refuted(kind: int, a: int, law: Array, node: Array, z: Array, g: Array, margin: float) -> bool:
    """Whether z·s >= 0 and g·y <= 0 for all s and y that the node (3,) of one contact with law (3,) admits, but for ``margin`` for each of
    their size."""
    mode, low, high = int(node[MODE]), node[LOW], node[HIGH]
    if (mode in (ANY, OPEN)) and z[a] < 0.0:
        return False
    if mode == OPEN:
        return kind != FRICTION or (z[a + 1] == 0.0 and z[a + 2] == 0.0)
    most = g[a]
    if kind == SLIDING:
        most -= law[0] * (g[a + 1] * law[1] + g[a + 2] * law[2])
    elif kind == FRICTION:
        if (mode in (ANY, CLOSED)) and not (z[a + 1] == 0.0 and z[a + 2] == 0.0):
            return False
        apart = 0.0
        if mode == SLIP:
            along = max(z[a + 1] * np.cos(low) + z[a + 2] * np.sin(low), z[a + 1] * np.cos(high) + z[a + 2] * np.sin(high))
            if along > margin:  # sₜ = -σ t
                return False
            apart = np.arctan2(g[a + 2], g[a + 1]) - 0.5 * (low + high)
            apart = abs(apart - 2.0 * np.pi * np.floor(apart / (2.0 * np.pi) + 0.5))
            apart = max(0.0, apart - 0.5 * (high - low))
        most += law[0] * length_of(g[a + 1], g[a + 2]) * np.cos(apart)
    return most <= margin
