"""From the smooth law to Coulomb's: the solutions for all κ are a curve, which is followed to κ = 0, through turning points. Compiled.

It starts where all is known: impulses and velocities of size 1, κ = 1, and velocities s = S y + b + κ ρ with ρ to fit. Coulomb's law is not
monotone, and κ may rise for a while; where it falls and where it rises is told by the sign of det(1 + Lᵀ G L), which never lets the curve
run back. It cannot end in between (Sard): it leads to a solution, or to infinity. Where it leads to infinity a curve with another ρ, from
normal impulses of other sizes, may lead to a solution. Each turn evaluates one point: if it is near the curve, the next step goes on along
the tangent; if not, it is corrected across it; if it is far off, the last step was too long.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.central import V, Y, change, distances, low_rank, matrix, moved, rates
from urdf_gibbs.contact.coulomb.elimination import eliminate
from urdf_gibbs.contact.coulomb.modes import polish
from urdf_gibbs.contact.coulomb.scaled import JOINT, NORMAL, Array, Indices
from urdf_gibbs.contact.dense import copy, fill, largest_of
from urdf_gibbs.engine.jit import jit

TURNS = 600
CORRECTIONS = 6  # of one step
NEAR = 0.5  # a correction below this is near the curve: impulses and velocities change by half of their size
NEAREST = 1e-4  # the same after steps that have failed, for a while
CLOSER, SHORTER = 0.3, 0.3  # of that and of the step, each time a step fails
LOST = 4.0  # above this it is not to be trusted
LEAP = 2.0  # the largest logarithm of a change of κ, of an impulse or a velocity in one step
SHORTEST = 1e-7
DONE = 1e-12  # natural map
TRY, AGAIN = 1e-3, 3e-2  # κ at which Newton's method is tried first, and again
GROWTH = 3.0  # of steps that need no correction
LAST = 1e-14  # of κ
SPREAD = 4.0  # the largest logarithm of an impulse where another curve begins
PERIOD = 2**31  # of a linear congruential generator (Knuth, vol. 2): other beginnings are the same on all machines
FAR = 1e6  # impulses above this, where velocities are 1, go to infinity; beyond, velocities are rounding errors
KAPPA, TANGENT, BASE = range(3)  # of the room k (3,): κ, its part of the tangent, κ where the tangent was drawn
RHO, REST = range(2)  # of the room R (2, n): ρ, and what velocities lack


@jit
def _lack(L: Array, b: Array, Z: Array, kappa: float, R: Array) -> None:
    """R[REST] = L Lᵀ y + b + κ ρ - s."""
    rank = L.shape[1]
    z = np.empty(rank)
    fill(z, 0.0)
    for j in range(b.shape[0]):
        for c in range(rank):
            z[c] += L[j, c] * Z[Y, j]
    for j in range(b.shape[0]):
        total = b[j] + kappa * R[RHO, j] - Z[V, j]
        for c in range(rank):
            total += L[j, c] * z[c]
        R[REST, j] = total


@jit
def _newton(L: Array, b: Array, kind: Indices, at: Indices, law: Array, Z: Array, kappa: float, R: Array, C: Array, E: Array) -> float:
    """C = dZ/dκ along the curve, E the correction of Z for this κ; gives the sign of the determinant."""
    k, n, rank = kind.shape[0], L.shape[0], L.shape[1]
    G, w, H, order = np.empty((k, 3, 3)), np.empty(n), np.empty((rank, rank)), np.empty(rank, np.int64)
    for i in range(k):
        rates(kind[i], law, i, at[i], Z, kappa, G, w)
    matrix(L, at, G, H)
    sign = eliminate(H, rank, order)
    if sign != 0.0:
        _lack(L, b, Z, kappa, R)
        change(L, at, G, w, 0.0, R[REST], H, order, E)
        change(L, at, G, w, 1.0, R[RHO], H, order, C)
    return sign


@jit
def _inner(M: Array, A: Array, B: Array) -> float:
    total = 0.0
    for row in range(2):
        for j in range(M.shape[1]):
            total += M[row, j] * A[row, j] * B[row, j]
    return total


@jit
def _largest(at: Indices, M: Array, D: Array) -> float:
    """The largest relative change of a contact."""
    worst = 0.0
    for i in range(at.shape[0] - 1):
        total = 0.0
        for j in range(at[i], at[i + 1]):
            total += M[Y, j] * D[Y, j] * D[Y, j] + M[V, j] * D[V, j] * D[V, j]
        worst = max(worst, total)
    return np.sqrt(worst)


@jit
def _combine(A: Array, t: float, B: Array, D: Array) -> None:
    """D = A + t B."""
    for row in range(2):
        for j in range(A.shape[1]):
            D[row, j] = A[row, j] + t * B[row, j]


@jit
def begin(L: Array, b: Array, kind: Indices, at: Indices, law: Array, Z: Array, R: Array, number: int) -> None:
    """Impulses 1 along normals and 0 else, velocities the same; ρ to fit κ = 1. ``number`` above 0: normal impulses of other sizes."""
    for j in range(b.shape[0]):
        Z[Y, j], Z[V, j], R[RHO, j] = 0.0, 0.0, 0.0
    drawn = number
    for i in range(kind.shape[0]):
        if kind[i] != JOINT:
            drawn = (1103515245 * drawn + 12345) % PERIOD
            x = np.exp(SPREAD * (2.0 * drawn / PERIOD - 1.0)) if number > 0 else 1.0
            Z[Y, at[i]], Z[V, at[i]] = x, 1.0 / x
    for i in range(kind.shape[0]):
        if kind[i] != NORMAL and kind[i] != JOINT:
            for r in range(1, 3):
                Z[Y, at[i] + r] = -law[i, 0] * law[i, r] * Z[Y, at[i]]  # none but of a contact that slides
    _lack(L, b, Z, 0.0, R)
    for j in range(b.shape[0]):
        R[RHO, j] = -R[REST, j]


@jit
def _ahead(at: Indices, C: Array, sign: float, length: float, k: Array, T: Array, M: Array, leap: float) -> float:
    """The tangent T, k[TANGENT] of length 1, along which det > 0 has κ fall; gives how far to go."""
    size = np.sqrt(_inner(M, C, C) + 1.0 / (k[KAPPA] * k[KAPPA]))
    size = -size if sign > 0.0 else size
    _combine(C, 1.0 / size - 1.0, C, T)
    k[TANGENT], k[BASE] = 1.0 / size, k[KAPPA]
    return min(length, leap / max(_largest(at, M, T), abs(k[TANGENT]) / k[KAPPA]))


@jit
def _across(k: Array, T: Array, M: Array, C: Array, E: Array) -> float:
    """E becomes the correction across the tangent T, M that of its base; gives that of κ."""
    along = _inner(M, T, C) + k[TANGENT] / (k[BASE] * k[BASE])
    turn = -_inner(M, T, E) / along if along != 0.0 else 0.0
    _combine(E, turn, C, E)
    return turn


@jit
def follow(S: Array, b: Array, kind: Indices, at: Indices, law: Array, y: Array, care: float, number: int = 0) -> float:
    """y becomes the best that was found; gives its natural map. ``care`` (1, or more) makes steps shorter and corrections closer.

    ``number``: which curve, see ``begin``.

    Where the curve goes to infinity y is a point far out on it, and the natural map is given as 1e300.
    """
    n = b.shape[0]
    L = low_rank(S)
    Z, B, T, C, E = np.empty((2, n)), np.empty((2, n)), np.empty((2, n)), np.empty((2, n)), np.empty((2, n))
    M, N, R, k, z = np.empty((2, n)), np.empty((2, n)), np.empty((2, n)), np.empty(3), np.empty(n)
    begin(L, b, kind, at, law, Z, R, number)
    _combine(Z, 0.0, Z, B)
    k[KAPPA] = 1.0
    best, tried, near, t, length, corrections = 1e300, TRY, NEAR / care, 0.0, 1.0, 0
    for turn in range(TURNS):
        sign = _newton(L, b, kind, at, law, Z, k[KAPPA], R, C, E)
        across = _across(k, T, M, C, E) if turn > 0 else 0.0
        distances(kind, at, law, Z, k[KAPPA], N)
        size = np.sqrt(_inner(N, E, E) + (across / k[KAPPA]) ** 2)
        lost = sign == 0.0 or not (size < LOST)
        if not lost and size > near and corrections < CORRECTIONS:
            corrections += 1
            k[KAPPA] *= np.exp(across / k[KAPPA])
            moved(kind, at, law, Z, E, 1.0, k[KAPPA], N, Z)
            continue
        if lost or size > near:
            if turn == 0 or t < SHORTEST:
                break
            near, length = max(NEAREST, CLOSER * near), SHORTER * t
        else:
            k[KAPPA] *= np.exp(across / k[KAPPA])
            moved(kind, at, law, Z, E, 1.0, k[KAPPA], N, B)
            if k[KAPPA] < tried:
                tried = k[KAPPA] * AGAIN
                for j in range(n):
                    z[j] = B[Y, j] - k[KAPPA] * C[Y, j]  # where the tangent meets κ = 0
                now = polish(S, b, kind, at, law, z, 8)
                if now < best:
                    best = now
                    copy(z, y)
            if best <= DONE * max(1.0, largest_of(y)) or k[KAPPA] < LAST or largest_of(B[Y]) > FAR:
                break
            length = t * GROWTH if corrections <= 1 else t if corrections <= 3 else 0.5 * t
            near = min(NEAR / care, 3.0 * near)
            distances(kind, at, law, B, k[KAPPA], M)
            length = _ahead(at, C, sign, 100.0 if turn == 0 else length, k, T, M, LEAP / care)
        t = length
        corrections = 0
        k[KAPPA] = k[BASE] * np.exp(t * k[TANGENT] / k[BASE])
        moved(kind, at, law, B, T, t, k[KAPPA], M, Z)
    if not largest_of(B[Y]) <= FAR:
        copy(B[Y], y)
        return 1e300
    return best
