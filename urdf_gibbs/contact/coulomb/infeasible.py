"""Proofs that a contact problem has no solution. Compiled.

Whatever the impulses, velocities s = S y + b of contacts must not approach: sₙ >= 0. If for some z >= 0 on those rows, zero on all others,
no admissible y makes z·S y positive, while z·b < 0, then z·s < 0 for all of them, and there is no solution (Farkas). Two ways to such a z:

- contacts that press against each other, S z = 0: impulses of the problem without friction, which grow without bound;
- contacts that slide already, which friction presses on more than it can bear (Painlevé): what is left of the approach, z = max(0, -sₙ),
  where the impulses leave as little as they can.

Numbers are rounded, so the proof has a margin: a solution would need impulses or velocities that are LARGE times those of the problem.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.path import follow
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL, SLIDING, Array, Indices, motion
from urdf_gibbs.contact.dense import fill, largest_of
from urdf_gibbs.contact.least_norm import least_norm
from urdf_gibbs.engine.jit import jit

LARGE = 1e6
SMALL = 1e-4  # part of the largest impulse: the others press against each other without it
TURNS = 4000  # of the projected gradient


@jit
def infeasible(S: Array, b: Array, kind: Indices, at: Indices, law: Array) -> bool:
    """Whether it is proved that there is no solution; False where nothing is known."""
    z = np.empty(b.shape[0])
    fill(z, 0.0)
    sliding = False
    for i in range(kind.shape[0]):
        sliding = sliding or kind[i] == SLIDING
    _pressed(S, b, kind, at, z)
    if _refutes(S, b, kind, at, law, z):
        return True
    if not sliding:
        return False
    _left(S, b, kind, at, law, z)
    return _refutes(S, b, kind, at, law, z)


@jit
def _refutes(S: Array, b: Array, kind: Indices, at: Indices, law: Array, z: Array) -> bool:
    """Whether z >= 0 refutes all y: the largest z·S y over admissible y of size 1, and over joints, is well below -z·b."""
    g = np.empty(b.shape[0])
    zero = np.empty(b.shape[0])
    fill(zero, 0.0)
    motion(S, zero, z, g)
    power, most = 0.0, 0.0
    for i in range(kind.shape[0]):
        a = at[i]
        if kind[i] == JOINT:
            power += law[i, 0] * abs(g[a])
            continue
        power += z[a] * b[a]
        gain = g[a]
        if kind[i] == FRICTION:
            gain += law[i, 0] * np.hypot(g[a + 1], g[a + 2])
        elif kind[i] == SLIDING:
            gain -= law[i, 0] * (g[a + 1] * law[i, 1] + g[a + 2] * law[i, 2])
        most += max(gain, 0.0)
    return power < 0.0 and LARGE * most < -power


@jit
def _pressed(S: Array, b: Array, kind: Indices, at: Indices, z: Array) -> None:
    """z: impulses along the normals alone that grow without bound, as far as they were followed, of length 1; else zero."""
    m = 0
    rows = np.empty(b.shape[0], np.int64)
    for i in range(kind.shape[0]):
        if kind[i] != JOINT:
            rows[m] = at[i]
            m += 1
    if m == 0:
        return
    A, c, y, law = np.empty((m, m)), np.empty(m), np.empty(m), np.empty((m, 3))
    alone, where = np.empty(m, np.int64), np.empty(m + 1, np.int64)
    for i in range(m):
        alone[i], where[i], c[i], y[i] = NORMAL, i, b[rows[i]], 0.0
        law[i, 0], law[i, 1], law[i, 2] = 0.0, 0.0, 0.0
        for j in range(m):
            A[i, j] = S[rows[i], rows[j]]
    where[m] = m
    if follow(A, c, alone, where, law, y, 1.0) < 1e300:
        return
    _balance(A, y)
    for i in range(m):
        z[rows[i]] = y[i]


@jit
def _balance(A: Array, y: Array) -> None:
    """y, of which A y is small, becomes one of length 1 with A y = 0, where the large ones can do that alone."""
    m, size = 0, largest_of(y)
    rows = np.empty(y.shape[0], np.int64)
    for i in range(y.shape[0]):
        y[i] = max(0.0, y[i]) / size
        if y[i] > SMALL:
            rows[m] = i
            m += 1
    B, left, change = np.empty((m, m)), np.empty(m), np.empty(m)
    for i in range(m):
        left[i] = 0.0
        for j in range(m):
            B[i, j] = A[rows[i], rows[j]]
            left[i] += B[i, j] * y[rows[j]]
    least_norm(B, left, change, False)
    for i in range(m):
        change[i] = max(0.0, y[rows[i]] - change[i])
    fill(y, 0.0)
    for i in range(m):
        y[rows[i]] = change[i]


@jit
def admissible(kind: Indices, at: Indices, law: Array, y: Array) -> None:
    """y becomes the nearest impulses that are admissible, whatever the velocities."""
    for i in range(kind.shape[0]):
        a, mu = at[i], law[i, 0]
        if kind[i] == JOINT:
            y[a] = min(max(y[a], -mu), mu)
        elif kind[i] == NORMAL:
            y[a] = max(y[a], 0.0)
        elif kind[i] == SLIDING:
            x = max(0.0, (y[a] - mu * (law[i, 1] * y[a + 1] + law[i, 2] * y[a + 2])) / (1.0 + mu * mu))
            y[a], y[a + 1], y[a + 2] = x, -mu * law[i, 1] * x, -mu * law[i, 2] * x
        else:
            t = np.hypot(y[a + 1], y[a + 2])
            if t > mu * y[a]:
                x = max(0.0, (y[a] + mu * t) / (1.0 + mu * mu))
                shrink = mu * x / t if t > 0.0 else 0.0  # straight below its cone: 0
                y[a], y[a + 1], y[a + 2] = x, shrink * y[a + 1], shrink * y[a + 2]


@jit
def _left(S: Array, b: Array, kind: Indices, at: Indices, law: Array, z: Array) -> None:
    """z = max(0, -sₙ) for the admissible y with the least |z|, by Nesterov's gradient method with restarts."""
    n = b.shape[0]
    y, last, s, move = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    zero = np.empty(n)
    fill(y, 0.0)
    fill(last, 0.0)
    fill(z, 0.0)
    fill(zero, 0.0)
    bound = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += abs(S[i, j])
        bound = max(bound, total)
    inertia = 1.0
    for _ in range(TURNS):
        motion(S, b, y, s)
        for i in range(kind.shape[0]):
            z[at[i]] = 0.0 if kind[i] == JOINT else max(0.0, -s[at[i]])
        motion(S, zero, z, move)
        back = 0.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * inertia * inertia))
        for j in range(n):
            move[j] = y[j] + move[j] / (bound * bound)
        admissible(kind, at, law, move)
        for j in range(n):
            back += (y[j] - move[j]) * (move[j] - last[j])
        for j in range(n):
            y[j] = move[j] + ((inertia - 1.0) / following * (move[j] - last[j]) if back <= 0.0 else 0.0)
            last[j] = move[j]
        inertia = following if back <= 0.0 else 1.0
