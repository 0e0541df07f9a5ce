"""Newton's method of modes.py in the space of motions, for islands with more rows than velocities. Compiled.

Its equations are (P Qᵀ + Λ) x = r: Q (m, n) is what each of the m unknowns does to z, P (m, n) what each equation reads of z, and Λ is
diagonal, PROXIMAL and, for the direction of slip, |sₜ| / (μ yₙ). For w = Qᵀ x, the change of z, that is

    (I + Qᵀ Λ⁻¹ P) w = Qᵀ Λ⁻¹ r,    x = Λ⁻¹ (r - P w),

with as many equations as velocities, however many contacts there are and however they depend on each other. Two velocities are
coupled only where a contact moves both. x loses half of the digits, which the next step brings back.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.modes import HUGE, SLIP, STALE, find_modes, turn_slip, unknowns
from urdf_gibbs.contact.coulomb.scaled import Array, Indices, natural_map
from urdf_gibbs.contact.coulomb.sparse import Sparse, gather_motion, velocities
from urdf_gibbs.contact.dense import copy, fill
from urdf_gibbs.engine.jit import jit

PROXIMAL = 1e-8  # of the unit diagonal
LEAST_PIVOT = 1e-14


@jit
def combined(g: Sparse, i: int, weights: Array, out: Array) -> None:
    """out (width,): the rows of contact i times their weights (3,)."""
    w, base = g.width[i], g.start[i]
    for m in range(w):
        out[m] = weights[0] * g.B[base + m]
    for r in range(1, g.at[i + 1] - g.at[i]):
        if weights[r] != 0.0:
            for m in range(w):
                out[m] += weights[r] * g.B[base + r * w + m]


@jit
def spans(g: Sparse, low: int, high: int, reach: Indices) -> None:
    """reach (n,): the last velocity that each is coupled with."""
    for j in range(reach.shape[0]):
        reach[j] = j
    for i in range(low, high):
        first, last = g.column_at[i], 0
        for m in range(first, first + g.width[i]):
            last = max(last, g.place[g.columns[m]])
        for m in range(first, first + g.width[i]):
            j = g.place[g.columns[m]]
            reach[j] = max(reach[j], last)


@jit
def eliminate_spans(H: Array, reach: Indices, w: Array) -> bool:
    """w <- H⁻¹ w, without exchanges of rows, within the spans, which grow. False where a pivot is none."""
    n = w.shape[0]
    for c in range(n):
        pivot, last = H[c, c], reach[c]
        if not abs(pivot) > LEAST_PIVOT:
            return False
        for r in range(c + 1, last + 1):
            reach[r] = max(reach[r], last)
            if H[r, c] != 0.0:
                factor = H[r, c] / pivot
                for j in range(c + 1, last + 1):
                    H[r, j] -= factor * H[c, j]
                w[r] -= factor * w[c]
    for c in range(n - 1, -1, -1):
        total = w[c]
        for j in range(c + 1, reach[c] + 1):
            total -= H[c, j] * w[j]
        w[c] = total / H[c, c]
    return True


@jit
def _step(g: Sparse, low: int, high: int, count: int, mode: Indices, t: Array) -> bool:
    """One step of Newton's with the modes as they are: new impulses y, for which z and s are not yet known."""
    n = g.at[high] - g.at[low]
    kind, at, law, y, s = g.kind[low:high], g.at[low : high + 1], g.law[low:high], g.y, g.s
    col, row, owner = np.empty((n, 3)), np.empty((n, 3)), np.empty(n, np.int64)
    many = unknowns(kind, at, law, mode, t, col, row, owner)
    H, w, reach = np.empty((count, count)), np.empty(count), np.empty(count, np.int64)
    x, weight, q, p, own = np.empty(n), np.empty(n), np.empty(count), np.empty(count), np.empty(count, np.int64)
    spans(g, low, high, reach)
    fill(w, 0.0)
    for i in range(count):
        fill(H[i], 0.0)
        H[i, i] = PROXIMAL
    for j in range(many):
        i = owner[j]
        a, first = at[i], g.column_at[low + i]
        x[j], weight[j] = 0.0, 1.0
        for r in range(at[i + 1] - a):
            x[j] -= row[j, r] * s[a + r]
        if mode[i] == SLIP and j > 0 and owner[j - 1] == i:  # its second unknown
            speed = -(t[i, 0] * s[a + 1] + t[i, 1] * s[a + 2])
            weight[j] = PROXIMAL / (PROXIMAL + max(speed, 0.0) / max(law[i, 0] * y[a], 1e-12))
        width = g.width[low + i]
        combined(g, low + i, row[j], p)
        if mode[i] == SLIP:
            combined(g, low + i, col[j], q)
        else:
            copy(p, q[:width])
        for m in range(width):
            own[m] = g.place[g.columns[first + m]]
        for m in range(width):
            share, line = weight[j] * q[m], H[own[m]]
            w[own[m]] += share * x[j]
            for a in range(width):
                line[own[a]] += share * p[a]
    if not eliminate_spans(H, reach, w):
        return False
    for j in range(many):
        i, first = low + owner[j], g.column_at[low + owner[j]]
        combined(g, i, row[j], p)
        for m in range(g.width[i]):
            x[j] -= p[m] * w[g.place[g.columns[first + m]]]
        x[j] *= weight[j] / PROXIMAL
    apply(at, law, mode, t, owner, col, x, y, many)
    return True


@jit
def apply(at: Indices, law: Array, mode: Indices, t: Array, owner: Indices, col: Array, x: Array, y: Array, many: int) -> None:
    """y follows the unknowns x."""
    j = 0
    while j < many:
        i = owner[j]
        if mode[i] == SLIP:
            two = j + 1 < many and owner[j + 1] == i
            turn_slip(at, law, y, t, i, x[j], x[j + 1] if two else 0.0)
            j += 2 if two else 1
            continue
        for r in range(at[i + 1] - at[i]):
            y[at[i] + r] += col[j, r] * x[j]
        j += 1


@jit
def largest_impulse(g: Sparse, low: int, high: int) -> float:
    """max |y| of the island, at least 1."""
    largest = 1.0
    for r in range(g.at[low], g.at[high]):
        largest = max(largest, abs(g.y[r]))
    return largest


@jit
def polish_sparse(g: Sparse, low: int, high: int, count: int, steps: int, enough: float) -> float:
    """Up to ``steps`` of Newton's from y, which becomes the best that was found, with its z and s; gives its natural map.

    ``count`` velocities of the island have their place in g.place; ``enough`` is the natural map at which to stop, of the largest impulse.
    """
    kind, at, law = g.kind[low:high], g.at[low : high + 1], g.law[low:high]
    first, n = g.at[low], g.at[high] - g.at[low]
    kept, t, mode = np.empty(n), np.empty((high - low, 2)), np.empty(high - low, np.int64)
    for r in range(n):
        kept[r] = g.y[first + r]
    gather_motion(g, low, high)
    velocities(g, low, high)
    best = natural_map(kind, at, law, g.y, g.s) if largest_impulse(g, low, high) <= HUGE else 1e300
    stale, last = 0, best
    for _ in range(steps):
        if best <= enough * largest_impulse(g, low, high):
            break
        if find_modes(kind, at, law, g.y, g.s, mode, t):
            gather_motion(g, low, high)
            velocities(g, low, high)
        if not _step(g, low, high, count, mode, t):
            last = np.inf
            break
        gather_motion(g, low, high)
        velocities(g, low, high)
        now = natural_map(kind, at, law, g.y, g.s) if largest_impulse(g, low, high) <= HUGE else 1e300
        last = now
        stale += 1
        if now < best:
            if now < 0.5 * best:
                stale = 0
            best = now
            for r in range(n):
                kept[r] = g.y[first + r]
        elif not largest_impulse(g, low, high) < 1e100:
            break
        if stale >= STALE:
            break
    if last != best:
        for r in range(n):
            g.y[first + r] = kept[r]
        gather_motion(g, low, high)
        velocities(g, low, high)
    return best
