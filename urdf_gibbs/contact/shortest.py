"""The shortest solution of a small square system that may be singular and need not be symmetric. Compiled.

Matrices are stored row by row, so inner loops go along rows, from zero on: then they become vector instructions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

RANK = 1e-11  # of the first pivot: a column that has less left depends on those before it
CANCELLED = 1e-6  # of a squared length: what is left after this much was subtracted is computed anew, to ten digits


@jit
def _reflect(A: Array, j: int, w: Array) -> None:
    """A Householder reflection of the rows from j on that takes column j of A to its first entry; its vector, led by 1, stays below."""
    rows = A.shape[0]
    norm = 0.0
    for i in range(j, rows):
        norm += A[i, j] * A[i, j]
    norm = np.sqrt(norm)
    if norm == 0.0:
        return
    lead = A[j, j] + norm if A[j, j] >= 0.0 else A[j, j] - norm
    square = 1.0
    for i in range(j + 1, rows):
        A[i, j] /= lead
        square += A[i, j] * A[i, j]
    A[j, j] = -norm if lead > 0.0 else norm
    _apply(A, j, 2.0 / square, A, j + 1, w)


@jit
def _apply(V: Array, j: int, scale: float, A: Array, first: int, w: Array) -> None:
    """The reflection whose vector is in column j of V, scale being 2 over its square, on the columns of A from ``first`` on.

    w (columns,) is room.
    """
    rows, top = A.shape[0], A[j, first:]
    count = top.shape[0]
    for c in range(count):
        w[c] = top[c]
    for i in range(j + 1, rows):
        factor, row = V[i, j], A[i, first:]
        for c in range(count):
            w[c] += factor * row[c]
    for c in range(count):
        w[c] *= scale
        top[c] -= w[c]
    for i in range(j + 1, rows):
        factor, row = V[i, j], A[i, first:]
        for c in range(count):
            row[c] -= factor * w[c]


@jit
def _reflect_back(A: Array, y: Array) -> None:
    """The reflections of all columns of A on y (rows,), the last one first: y becomes Q y."""
    n = y.shape[0]
    for j in range(A.shape[1] - 1, -1, -1):
        square, dot = 1.0, y[j]
        for i in range(j + 1, n):
            square += A[i, j] * A[i, j]
            dot += A[i, j] * y[i]
        dot *= 2.0 / square
        y[j] -= dot
        for i in range(j + 1, n):
            y[i] -= dot * A[i, j]


@jit
def _lead(A: Array, j: int, order: Indices, left: Array, whole: Array) -> float:
    """Brings the longest of the first n columns, counted from row j, to place j; its length. See _decompose for left and whole (n,)."""
    n = order.shape[0]
    best = j
    for c in range(j, n):
        if left[c] <= CANCELLED * whole[c]:
            left[c] = 0.0
            for i in range(j, n):
                left[c] += A[i, c] * A[i, c]
            whole[c] = left[c]
        if left[c] > left[best]:
            best = c
    if best != j:
        order[j], order[best] = order[best], order[j]
        left[j], left[best] = left[best], left[j]
        whole[j], whole[best] = whole[best], whole[j]
        for i in range(n):
            A[i, j], A[i, best] = A[i, best], A[i, j]
    return np.sqrt(left[j])


@jit
def _decompose(A: Array, order: Indices) -> int:
    """The first n columns of A (n, n + 1) become R of their QR decomposition with pivots, over the vectors of its reflections.

    The last one becomes Qᵀ times itself. order (n,): where the columns come from. Gives the rank. Squared lengths of what is left of the
    columns are followed (``left``) from where they were last computed (``whole``).
    """
    n, first = A.shape[0], 0.0
    left, whole, w = np.empty(n), np.empty(n), np.empty(n + 1)
    for j in range(n):
        order[j], left[j] = j, 0.0
    for i in range(n):
        row = A[i]
        for c in range(n):
            left[c] += row[c] * row[c]
    for c in range(n):
        whole[c] = left[c]
    for j in range(n):
        length = _lead(A, j, order, left, whole)
        if j == 0:
            first = length
        if not length > RANK * first:
            return j
        _reflect(A, j, w)
        top, after = A[j, j + 1 : n], left[j + 1 :]
        for c in range(top.shape[0]):
            after[c] -= top[c] * top[c]
    return n


@jit
def shortest_solution(S: Array, c: Array, x: Array, g: Array, order: Indices) -> Array:
    """x (n,): the shortest of those for which |S x - c| is least, S (n, n).

    Twice a QR decomposition: with pivots, S P = Q (R1 R2; 0 0), then (R1 R2)ᵀ = Q' T, so x = P Q' T^-ᵀ (Qᵀ c). Returns the second one,
    (n, rank of S), empty where S is regular or zero: ``row_space`` makes P Q' of it, with the ``order`` of the columns in P, and g (n,)
    begins with x in that basis.
    """
    n = c.shape[0]
    A = np.empty((n, n + 1))
    for i in range(n):
        to, row = A[i], S[i]
        for j in range(n):
            to[j] = row[j]
        to[n] = c[i]
        x[i] = 0.0
    rank = _decompose(A, order)
    y = np.zeros(n)
    if rank == n:
        for i in range(n - 1, -1, -1):
            total = A[i, n]
            for j in range(i + 1, n):
                total -= A[i, j] * y[j]
            y[i] = total / A[i, i]
        for i in range(n):
            x[order[i]] = y[i]
        return np.empty((n, 0))
    W, w = np.empty((n, rank)), np.empty(rank)
    for i in range(rank):
        for j in range(n):
            W[j, i] = A[i, j] if j >= i else 0.0
    for j in range(rank):
        _reflect(W, j, w)
    for i in range(rank):  # Tᵀ y = Qᵀ c, forwards
        total = A[i, n]
        for j in range(i):
            total -= W[j, i] * y[j]
        y[i] = total / W[i, i]
        g[i] = y[i]
    _reflect_back(W, y)
    for i in range(n):
        x[order[i]] = y[i]
    return W


@jit
def row_space(W: Array, order: Indices) -> Array:
    """An orthonormal basis (n, rank) of the rows of the S from which ``shortest_solution`` has made W and order."""
    n, rank = W.shape
    A, Q, w = np.empty((n, rank)), np.empty((n, rank)), np.empty(rank)
    for i in range(n):
        for c in range(rank):
            A[i, c] = 1.0 if i == c else 0.0
    for j in range(rank - 1, -1, -1):  # columns before j are still those of the unit matrix, which reflection j leaves alone
        square = 1.0
        for i in range(j + 1, n):
            square += W[i, j] * W[i, j]
        _apply(W, j, 2.0 / square, A, j, w)
    for i in range(n):
        to, row = Q[order[i]], A[i]
        for c in range(rank):
            to[c] = row[c]
    return Q
