"""Equations K x = c with rows that may depend on each other: the shortest x, and the shortest x >= 0.

K = B Bᵀ, where B has as many columns as K has rank: the shortest x is a problem in that many unknowns, however many contacts there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.dense import (
    cholesky,
    copy,
    fill,
    finite,
    finite_matrix,
    largest_of,
    onto,
    orthonormal,
    pivoted,
    scaling,
    substitute,
    unit_diagonal,
)
from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]

ROUNDING = 1e-11  # relative to the largest force, both as roots of energy: a smaller force counts as zero
MAX_NEWTON_STEPS = 60  # of the search for the shortest x >= 0; a handful is usual


@jit
def non_negative(Q: Array, rank: int, g: Array, lam: Array) -> bool:
    """The shortest lam (n,) >= 0 with Qᵀ lam = g (rank,), Q with orthonormal columns; False where there is none, or none is found.

    It is the positive part of Q w for the w that makes wᵀg - ½|max(0, Q w)|² largest: Newton's method on that piecewise quadratic
    function, each step of which costs n rank². Starts with w = g, for which Q w is the shortest lam of either sign.
    """
    n = lam.shape[0]
    w, move, F, H = np.empty(rank), np.empty(rank), np.empty(rank), np.empty((rank, rank))
    ahead = np.empty(n)
    size = largest_of(g)
    copy(g, w)
    for a in range(n):
        lam[a] = 0.0
        for c in range(rank):
            lam[a] += Q[a, c] * w[c]
    for _ in range(MAX_NEWTON_STEPS):
        for c in range(rank):
            F[c] = g[c]
            for m in range(rank):
                H[c, m] = 1e-12 if m == c else 0.0
        for a in range(n):
            if lam[a] > 0.0:
                for c in range(rank):
                    F[c] -= Q[a, c] * lam[a]
                    for m in range(c + 1):
                        H[c, m] += Q[a, c] * Q[a, m]
        if largest_of(F) <= 1e-14 * size:
            for a in range(n):
                lam[a] = max(0.0, lam[a])
            return True
        if not cholesky(H):
            return False
        copy(F, move)
        substitute(H, rank, move)
        slope = 0.0
        for c in range(rank):
            slope += F[c] * move[c]
        for a in range(n):
            ahead[a] = 0.0
            for c in range(rank):
                ahead[a] += Q[a, c] * move[c]
        length = _ascent(lam, ahead, g, move, slope)
        for c in range(rank):
            w[c] += length * move[c]
        for a in range(n):
            lam[a] += length * ahead[a]
    return False


@jit
def _ascent(lam: Array, ahead: Array, g: Array, move: Array, slope: float) -> float:
    """The length of a Newton step, at most 1: where the slope along it, which only falls, has nearly vanished."""
    linear = 0.0
    for c in range(g.shape[0]):
        linear += g[c] * move[c]
    low, high, length = 0.0, 1.0, 1.0
    for _ in range(60):
        here = linear
        for a in range(lam.shape[0]):
            here -= max(0.0, lam[a] + length * ahead[a]) * ahead[a]
        if abs(here) <= 0.1 * slope or (here > 0.0 and length == 1.0):
            break
        if here > 0.0:
            low = length
        else:
            high = length
        length = 0.5 * (low + high)
    return length


@jit
def _pseudo_inverse(Q: Array, R: Array, c: Array, g: Array, x: Array) -> None:
    """x (n,) += K⁺ c with K = Q R Rᵀ Qᵀ."""
    rank = R.shape[0]
    onto(Q, rank, c, g)
    for i in range(rank - 1, -1, -1):
        for m in range(i + 1, rank):
            g[i] -= R[i, m] * g[m]
        g[i] /= R[i, i]
    for i in range(rank):
        for m in range(i):
            g[i] -= R[m, i] * g[m]
        g[i] /= R[i, i]
    for a in range(x.shape[0]):
        for i in range(rank):
            x[a] += Q[a, i] * g[i]


@jit
def least_norm(K: Array, c: Array, x: Array, push: bool) -> float:
    """x = K⁺ c (k,): the shortest of the x for which |K x - c| is least, by pivoted Cholesky.

    ``push``: if that has negative entries and some x >= 0 is a solution too, the shortest of those. Returns the residual, the largest
    |K x - c|ᵢ / √Kᵢᵢ relative to the largest |cᵢ| / √Kᵢᵢ: it is large where dependent rows contradict each other.
    NaN for input that is not finite.
    """
    k = c.shape[0]
    if not (finite_matrix(K) and finite(c)):
        fill(x, np.nan)
        return np.nan
    fill(x, 0.0)
    d, S, b = np.empty(k), np.empty((k, k)), np.empty(k)
    scaling(K, d)
    unit_diagonal(K, c, d, S, b)
    scale = largest_of(b)
    if scale == 0.0:
        return 0.0
    order, weight, L = np.empty(k, np.int64), np.empty(k), np.empty((k, k))
    for i in range(k):
        order[i] = i
        weight[i] = 1.0 / (d[i] * d[i])
    rank = pivoted(S, weight, order, L)
    Q, R, g, rest, lam = np.empty((k, rank)), np.empty((rank, rank)), np.empty(rank), np.empty(k), np.empty(k)
    orthonormal(d, order, L, rank, Q, R)
    fill(lam, 0.0)
    worst = 0.0
    for turn in range(3):  # one refinement, then the residual
        worst = 0.0
        for a in range(k):
            i = order[a]
            rest[a] = c[i]
            if turn > 0 and d[i] > 0.0:
                for m in range(k):
                    rest[a] -= K[i, order[m]] * lam[m]
            worst = max(worst, abs(d[i] * rest[a]))
        if turn < 2:
            _pseudo_inverse(Q, R, rest, g, lam)
    lowest, largest = 0.0, 0.0
    for a in range(k):
        energy = lam[a] / abs(d[order[a]])  # square root of an energy
        lowest, largest = min(lowest, energy), max(largest, energy)
    if push and -ROUNDING * largest <= lowest < 0.0:
        for a in range(k):
            lam[a] = max(0.0, lam[a])
    elif push and lowest < 0.0 and rank < k:
        onto(Q, rank, lam, g)
        copy(lam, rest)
        if not non_negative(Q, rank, g, lam):
            copy(rest, lam)
    for a in range(k):
        x[order[a]] = lam[a]
    return worst / scale
