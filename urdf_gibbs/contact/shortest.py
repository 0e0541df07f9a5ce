"""The shortest solution of a small square system that may be singular and need not be symmetric. Compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

RANK = 1e-11  # of the first pivot: a column that has less left depends on those before it


@jit
def _reflect(A: Array, j: int, rows: int, columns: int) -> None:
    """A Householder reflection of rows j ... rows - 1 that takes column j to its first entry; its vector, led by 1, stays below."""
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
    for c in range(j + 1, columns):
        dot = A[j, c]
        for i in range(j + 1, rows):
            dot += A[i, j] * A[i, c]
        dot *= 2.0 / square
        A[j, c] -= dot
        for i in range(j + 1, rows):
            A[i, c] -= dot * A[i, j]


@jit
def _reflect_back(A: Array, count: int, y: Array) -> None:
    """The first ``count`` reflections of A on y (n,), the last one first: y becomes Q y."""
    n = y.shape[0]
    for j in range(count - 1, -1, -1):
        square, dot = 1.0, y[j]
        for i in range(j + 1, n):
            square += A[i, j] * A[i, j]
            dot += A[i, j] * y[i]
        dot *= 2.0 / square
        y[j] -= dot
        for i in range(j + 1, n):
            y[i] -= dot * A[i, j]


@jit
def _lead(A: Array, j: int, order: Indices, columns: int) -> float:
    """Brings the longest of the columns j ... columns - 1, counted from row j, to place j; its length."""
    n = A.shape[0]
    best, longest = j, -1.0
    for c in range(j, columns):
        square = 0.0
        for i in range(j, n):
            square += A[i, c] * A[i, c]
        if square > longest:
            best, longest = c, square
    if best != j:
        order[j], order[best] = order[best], order[j]
        for i in range(n):
            A[i, j], A[i, best] = A[i, best], A[i, j]
    return np.sqrt(longest)


@jit
def _decompose(A: Array, order: Indices) -> int:
    """The first n columns of A (n, n or more) become R of their QR decomposition with pivots, over the vectors of its reflections.

    Further columns become Qᵀ times themselves. order (n,): where the columns come from. Gives the rank.
    """
    n, first = A.shape[0], 0.0
    for j in range(n):
        order[j] = j
    for j in range(n):
        length = _lead(A, j, order, n)
        if j == 0:
            first = length
        if not length > RANK * first:
            return j
        _reflect(A, j, n, A.shape[1])
    return n


@jit
def shortest_solution(S: Array, c: Array, x: Array) -> int:
    """x (n,): the shortest of those for which |S x - c| is least, S (n, n); gives the rank of S.

    Twice a QR decomposition: with pivots, S P = Q (R1 R2; 0 0), then (R1 R2)ᵀ = Q' T, so x = P Q' T^-ᵀ (Qᵀ c).
    """
    n = c.shape[0]
    A, order = np.empty((n, n + 1)), np.empty(n, np.int64)
    for i in range(n):
        for j in range(n):
            A[i, j] = S[i, j]
        A[i, n] = c[i]
        x[i] = 0.0
    rank = _decompose(A, order)
    y = np.empty(n)
    if rank == n:
        for i in range(n - 1, -1, -1):
            total = A[i, n]
            for j in range(i + 1, n):
                total -= A[i, j] * y[j]
            y[i] = total / A[i, i]
    elif rank > 0:
        W = np.empty((n, rank))
        for i in range(rank):
            for j in range(n):
                W[j, i] = A[i, j] if j >= i else 0.0
        for j in range(rank):
            _reflect(W, j, n, rank)
        for i in range(n):  # Tᵀ z = Qᵀ c, forwards
            y[i] = 0.0
        for i in range(rank):
            total = A[i, n]
            for j in range(i):
                total -= W[j, i] * y[j]
            y[i] = total / W[i, i]
        _reflect_back(W, rank, y)
    for i in range(n if rank > 0 else 0):
        x[order[i]] = y[i]
    return rank


@jit
def row_space(S: Array, Q: Array) -> int:
    """The first columns of Q (n, n): an orthonormal basis of the rows of S (n, n); gives their number, the rank of S."""
    n = S.shape[0]
    A, order = np.empty((n, n)), np.empty(n, np.int64)
    for i in range(n):
        for j in range(n):
            A[i, j] = S[j, i]
    rank = _decompose(A, order)
    for c in range(rank):
        for i in range(n):
            Q[i, c] = 1.0 if i == c else 0.0
        _reflect_back(A, rank, Q[:, c])
    return rank
