"""Small dense matrices of contacts, compiled: scaling, Cholesky factors, an orthonormal basis.

K = J M⁻¹ Jᵀ (k, k) is symmetric positive semi-definite. S = D K D with Dᵢᵢ = 1/√Kᵢᵢ has a unit diagonal, so that no decision depends
on whether a contact is counted in newtons or in newton-metres.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

RANK = 1e-11  # a row of S (diagonal 1) with a smaller pivot depends on the rows before it
IMMOVABLE = 1e-28  # relative to the largest Kᵢᵢ: a smaller one is rounding error, the contact moves nothing


@jit
def fill(a: Array, value: float) -> None:
    """a[:] = value, as a loop, which compiles faster than the slice."""
    for i in range(a.shape[0]):
        a[i] = value


@jit
def copy(a: Array, to: Array) -> None:
    """to[:] = a[: len(to)], as a loop: the checks of a slice would be most of the compiled code."""
    for i in range(to.shape[0]):
        to[i] = a[i]


@jit
def length_of(x: float, y: float) -> float:
    """Of the vector (x, y); for numbers of moderate size, four times faster than np.hypot."""
    return np.sqrt(x * x + y * y)


@jit
def finite(a: Array) -> bool:
    """Whether the vector has neither NaN nor infinity."""
    total = 0.0
    for i in range(a.shape[0]):
        total += 0.0 * a[i]
    return total == 0.0


@jit
def finite_matrix(K: Array) -> bool:
    """Whether the matrix has neither NaN nor infinity."""
    total = 0.0
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            total += 0.0 * K[i, j]
    return total == 0.0


@jit
def scaling(K: Array, d: Array) -> None:
    """d (k,) = 1/√Kᵢᵢ. A contact that moves nothing gets -1/√(largest Kᵢᵢ); the sign marks it."""
    k = d.shape[0]
    largest = 0.0
    for i in range(k):
        largest = max(largest, K[i, i])
    for i in range(k):
        if K[i, i] > IMMOVABLE * largest:
            d[i] = 1.0 / np.sqrt(K[i, i])
        else:
            d[i] = -1.0 / np.sqrt(largest) if largest > 0.0 else -1.0


@jit
def unit_diagonal(K: Array, w: Array, d: Array, S: Array, b: Array) -> None:
    """S = D K D (k, k) with a unit diagonal, zero rows where d < 0; b = D w (k,)."""
    k = d.shape[0]
    for i in range(k):
        b[i] = abs(d[i]) * w[i]
        for j in range(k):
            S[i, j] = d[i] * K[i, j] * d[j] if d[i] > 0.0 and d[j] > 0.0 else 0.0


@jit
def approach(b: Array) -> float:
    """The largest approach: the most negative entry, as a positive number; zero where nothing approaches."""
    worst = 0.0
    for value in b:
        worst = max(worst, -value)
    return worst


@jit
def largest_of(s: Array) -> float:
    """max |sᵢ|."""
    worst = 0.0
    for value in s:
        worst = max(worst, abs(value))
    return worst


@jit
def factor(S: Array, order: Indices, start: int, count: int, L: Array) -> float:
    """Rows start..count-1 of the Cholesky factor of S over ``order``; returns the squared pivot of the last row."""
    pivot = 1.0
    for a in range(start, count):
        i = order[a]
        for c in range(a):
            total = S[i, order[c]]
            for m in range(c):
                total -= L[a, m] * L[c, m]
            L[a, c] = total / L[c, c]
        pivot = S[i, i]
        for m in range(a):
            pivot -= L[a, m] * L[a, m]
        L[a, a] = np.sqrt(max(pivot, 1e-16))
    return pivot


@jit
def substitute(L: Array, count: int, x: Array) -> None:
    """x[:count] <- (L Lᵀ)⁻¹ x[:count]."""
    for a in range(count):
        total = x[a]
        for m in range(a):
            total -= L[a, m] * x[m]
        x[a] = total / L[a, a]
    for a in range(count - 1, -1, -1):
        total = x[a]
        for m in range(a + 1, count):
            total -= L[m, a] * x[m]
        x[a] = total / L[a, a]


@jit
def pivoted(S: Array, weight: Array, order: Indices, L: Array) -> int:
    """Pivoted Cholesky of S (unit or zero diagonal) over the rows in ``order``, which is permuted; returns the rank.

    Row a of L (n, n) belongs to order[a]. Whether a pivot counts is decided on S; of those that count the one with the largest weight
    times pivot comes first.
    """
    n = len(order)
    rest = np.empty(n)
    for a in range(n):
        rest[a] = S[order[a], order[a]]
    for r in range(n):
        best = -1
        for a in range(r, n):
            if rest[a] > RANK and (best < 0 or rest[a] * weight[order[a]] > rest[best] * weight[order[best]]):
                best = a
        if best < 0:
            return r
        if best != r:
            order[r], order[best] = order[best], order[r]
            rest[r], rest[best] = rest[best], rest[r]
            for m in range(r):
                L[r, m], L[best, m] = L[best, m], L[r, m]
        L[r, r] = np.sqrt(rest[r])
        for a in range(r + 1, n):
            total = S[order[a], order[r]]
            for m in range(r):
                total -= L[a, m] * L[r, m]
            L[a, r] = total / L[r, r]
            rest[a] -= L[a, r] * L[a, r]
    return n


@jit
def orthonormal(d: Array, order: Indices, L: Array, rank: int, Q: Array, R: Array) -> None:
    """K over ``order`` is B Bᵀ with B = D⁻¹ L (n, rank), from the factor of ``pivoted``: B = Q R, by Gram-Schmidt done twice."""
    n = order.shape[0]
    for c in range(rank):
        for m in range(rank):
            R[m, c] = 0.0
        for a in range(n):
            Q[a, c] = L[a, c] / abs(d[order[a]]) if a >= c else 0.0
        for _ in range(2):
            for m in range(c):
                dot = 0.0
                for a in range(n):
                    dot += Q[a, m] * Q[a, c]
                R[m, c] += dot
                for a in range(n):
                    Q[a, c] -= dot * Q[a, m]
        norm = 0.0
        for a in range(n):
            norm += Q[a, c] * Q[a, c]
        R[c, c] = np.sqrt(norm)
        for a in range(n):
            Q[a, c] /= R[c, c]


@jit
def onto(Q: Array, rank: int, x: Array, g: Array) -> None:
    """g (rank,) = Qᵀ x."""
    for c in range(rank):
        g[c] = 0.0
    for a in range(x.shape[0]):
        factor, row = x[a], Q[a]
        for c in range(rank):
            g[c] += factor * row[c]


@jit
def cholesky(H: Array) -> bool:
    """In place, lower half; False where H is not positive definite."""
    for i in range(H.shape[0]):
        for j in range(i + 1):
            total = H[i, j]
            for m in range(j):
                total -= H[i, m] * H[j, m]
            if i > j:
                H[i, j] = total / H[j, j]
            elif total > 0.0:
                H[i, i] = np.sqrt(total)
            else:
                return False
    return True


@jit
def first_of(order: Indices, n: int) -> Indices:
    """A copy of the first n entries."""
    part = np.empty(n, np.int64)
    for a in range(n):
        part[a] = order[a]
    return part
