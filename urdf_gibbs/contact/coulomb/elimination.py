"""Linear equations by elimination with row exchanges, compiled; rows are combined as wholes, which vectorises."""

from __future__ import annotations

from urdf_gibbs.contact.coulomb.scaled import Array, Indices
from urdf_gibbs.engine.jit import jit


@jit
def eliminate(A: Array, m: int, order: Indices) -> float:
    """A[:m, :m] becomes its factors, rows exchanged as ``order`` (m,) tells; gives the sign of its determinant."""
    sign = 1.0
    for c in range(m):
        best, at = abs(A[c, c]), c
        for r in range(c + 1, m):
            if abs(A[r, c]) > best:
                best, at = abs(A[r, c]), r
        if not best > 0.0:
            return 0.0
        order[c] = at
        if at != c:
            sign = -sign
            for j in range(m):
                A[c, j], A[at, j] = A[at, j], A[c, j]
        inverse = 1.0 / A[c, c]
        if inverse < 0.0:
            sign = -sign
        for r in range(c + 1, m):
            if A[r, c] != 0.0:
                factor = A[r, c] * inverse
                A[r, c] = factor
                for j in range(c + 1, m):
                    A[r, j] -= factor * A[c, j]
    return sign


@jit
def back_substitute(A: Array, m: int, order: Indices, x: Array) -> None:
    """x[:m] <- A⁻¹ x[:m] by the factors."""
    for c in range(m):
        at = order[c]
        if at != c:
            x[c], x[at] = x[at], x[c]
    for r in range(m):
        total = x[r]
        for j in range(r):
            total -= A[r, j] * x[j]
        x[r] = total
    for r in range(m - 1, -1, -1):
        total = x[r]
        for j in range(r + 1, m):
            total -= A[r, j] * x[j]
        x[r] = total / A[r, r]
