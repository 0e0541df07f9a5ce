"""Newton's method on the equations of open, sticking and slipping contacts, with modes that follow the impulses. Compiled.

The semismooth Newton method of Alart and Curnier, reduced to what is unknown: an open contact has y = 0; a sticking one three
unknowns and s = 0; a slipping one y = yₙ (1, μ t) with t a unit vector, and two unknowns, dyₙ and w = μ yₙ dθ along t⊥:

    sₙ = 0,    t⊥·(S dy)ₜ + |sₜ| / (μ yₙ) w = -t⊥·sₜ.

Modes come from x = y - s: xₙ <= 0 open, |xₜ| <= μ xₙ stick, else slip along xₜ. Rows may depend on each other: a small multiple of the
unit matrix is added, which makes a step the shortest one as steps go on (the proximal point method).
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.elimination import back_substitute, eliminate
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, SLIDING, Array, Indices, motion, natural_map
from urdf_gibbs.contact.dense import copy, largest_of, length_of
from urdf_gibbs.engine.jit import jit

PROXIMAL = 1e-9  # of the unit diagonal
EXACT = 1e-14  # natural map, of the largest impulse: no better is to be had
HUGE = 1e5  # impulses above this, where velocities are 1, solve nothing: what they leave of velocities is rounding
STALE = 4  # steps without progress after which to stop
OPEN, STICK, SLIP, FIXED = range(4)


@jit
def find_modes(kind: Indices, at: Indices, law: Array, y: Array, s: Array, mode: Indices, t: Array) -> bool:
    """Modes of all contacts and directions t (k, 2) of those that slip; y is put onto what its mode asks for. Whether y has changed."""
    changed = False
    for i in range(kind.shape[0]):
        a = at[i]
        x = y[a] - s[a]
        if kind[i] == JOINT:
            mode[i] = STICK if abs(x) <= law[i, 0] else FIXED
            if mode[i] == FIXED:
                y[a] = law[i, 0] if x > 0.0 else -law[i, 0]
                changed = True
            continue
        mode[i] = OPEN if x <= 0.0 else STICK
        if mode[i] == OPEN:
            for r in range(at[i + 1] - a):
                changed = changed or y[a + r] != 0.0
                y[a + r] = 0.0
            continue
        if kind[i] == SLIDING:
            mode[i], changed = SLIP, True
            t[i, 0], t[i, 1] = -law[i, 1], -law[i, 2]
            y[a + 1], y[a + 2] = law[i, 0] * y[a] * t[i, 0], law[i, 0] * y[a] * t[i, 1]
        elif kind[i] == FRICTION:
            x1, x2 = y[a + 1] - s[a + 1], y[a + 2] - s[a + 2]
            length = length_of(x1, x2)
            if length > law[i, 0] * x:
                mode[i], changed = SLIP, True
                t[i, 0], t[i, 1] = x1 / length, x2 / length
                radius = law[i, 0] * max(y[a], 0.0)
                y[a + 1], y[a + 2] = radius * t[i, 0], radius * t[i, 1]
    return changed


@jit
def unknowns(kind: Indices, at: Indices, law: Array, mode: Indices, t: Array, col: Array, row: Array, owner: Indices) -> int:
    """What each unknown does to y (m, 3) and which combination of s each equation holds (m, 3), in the rows of their contact."""
    m = 0
    for i in range(kind.shape[0]):
        if mode[i] == OPEN or mode[i] == FIXED:
            continue
        count = 1
        if kind[i] == FRICTION:
            count = 3 if mode[i] == STICK else 2 if law[i, 0] > 0.0 else 1
        for r in range(count):
            owner[m] = i
            for c in range(3):
                col[m, c] = 1.0 if c == r else 0.0
                row[m, c] = col[m, c]
            if mode[i] == SLIP:
                if r == 0:
                    col[m, 1], col[m, 2] = law[i, 0] * t[i, 0], law[i, 0] * t[i, 1]
                else:
                    col[m, 1], col[m, 2] = -t[i, 1], t[i, 0]
                    row[m, 1], row[m, 2] = -t[i, 1], t[i, 0]
            m += 1
    return m


@jit
def _equations(S: Array, at: Indices, col: Array, row: Array, owner: Indices, m: int, A: Array, T: Array) -> None:
    """A (m, m): row · S · column. T (n,): room."""
    n = S.shape[0]
    for j in range(m):
        a = at[owner[j]]
        rows = at[owner[j] + 1] - a
        for k in range(n):
            T[k] = col[j, 0] * S[a, k]
        for r in range(1, rows):
            if col[j, r] != 0.0:
                for k in range(n):
                    T[k] += col[j, r] * S[a + r, k]
        for i in range(m):
            a = at[owner[i]]
            total = row[i, 0] * T[a]
            for r in range(1, at[owner[i] + 1] - a):
                total += row[i, r] * T[a + r]
            A[i, j] = total


@jit
def turn_slip(at: Indices, law: Array, y: Array, t: Array, i: int, dx: float, w: float) -> None:
    """A slipping contact: yₙ + dx, its direction turned by w along t⊥, and back on the cone."""
    a = at[i]
    before = law[i, 0] * max(y[a], 0.0)
    y[a] += dx
    x1, x2 = before * t[i, 0] - w * t[i, 1], before * t[i, 1] + w * t[i, 0]
    length = length_of(x1, x2)
    if not length > 0.0:
        x1, x2, length = t[i, 0], t[i, 1], 1.0
    radius = law[i, 0] * max(y[a], 0.0)
    y[a + 1], y[a + 2] = radius * x1 / length, radius * x2 / length


@jit
def _step(S: Array, kind: Indices, at: Indices, law: Array, mode: Indices, t: Array, y: Array, s: Array) -> bool:
    """One step of Newton's with the modes as they are."""
    n = y.shape[0]
    col, row, owner = np.empty((n, 3)), np.empty((n, 3)), np.empty(n, np.int64)
    m = unknowns(kind, at, law, mode, t, col, row, owner)
    A, x, order = np.empty((m, m)), np.empty(max(m, n)), np.empty(m, np.int64)
    _equations(S, at, col, row, owner, m, A, x)
    for j in range(m):
        i = owner[j]
        a = at[i]
        x[j] = 0.0
        for r in range(at[i + 1] - a):
            x[j] -= row[j, r] * s[a + r]
        A[j, j] += PROXIMAL
        if mode[i] == SLIP and j > 0 and owner[j - 1] == i:  # its second unknown
            speed = -(t[i, 0] * s[a + 1] + t[i, 1] * s[a + 2])
            A[j, j] += max(speed, 0.0) / max(law[i, 0] * y[a], 1e-12)
    if eliminate(A, m, order) == 0.0:
        return False
    back_substitute(A, m, order, x)
    j = 0
    while j < m:
        i = owner[j]
        a = at[i]
        if mode[i] == SLIP:
            two = j + 1 < m and owner[j + 1] == i
            turn_slip(at, law, y, t, i, x[j], x[j + 1] if two else 0.0)
            j += 2 if two else 1
            continue
        while j < m and owner[j] == i:
            for r in range(at[i + 1] - a):
                y[a + r] += col[j, r] * x[j]
            j += 1
    return True


@jit
def polish(S: Array, b: Array, kind: Indices, at: Indices, law: Array, y: Array, steps: int, enough: float = EXACT) -> float:
    """Up to ``steps`` of Newton's from y, which becomes the best that was found; gives its natural map.

    ``enough`` is the natural map, relative to the largest impulse, at which to stop.
    """
    n, k = b.shape[0], kind.shape[0]
    s, z, t, mode = np.empty(n), np.empty(n), np.empty((k, 2)), np.empty(k, np.int64)
    copy(y, z)
    motion(S, b, z, s)
    best = natural_map(kind, at, law, z, s) if largest_of(z) <= HUGE else 1e300
    stale = 0
    for _ in range(steps):
        if best <= enough * max(1.0, largest_of(y)):
            break
        if find_modes(kind, at, law, z, s, mode, t):
            motion(S, b, z, s)
        if not _step(S, kind, at, law, mode, t, z, s):
            break
        motion(S, b, z, s)
        now = natural_map(kind, at, law, z, s) if largest_of(z) <= HUGE else 1e300
        stale += 1
        if now < best:
            if now < 0.5 * best:
                stale = 0
            best = now
            copy(z, y)
        elif not largest_of(z) < 1e100:
            break
        if stale >= STALE:
            break
    return best
