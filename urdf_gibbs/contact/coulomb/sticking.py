"""A contact problem in which no contact slips: one linear system, S y = -b over the rows of those that are closed. Compiled.

Newton's method of modes.py solves the same system with a multiple of the unit matrix added, so that its rows may depend on each other,
and needs further steps for the rest. Rows that do not depend on each other need neither: S is positive definite, and its factors give y
at once.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.modes import FIXED, OPEN, SLIP, find_modes
from urdf_gibbs.contact.coulomb.scaled import Array, Indices, motion, natural_map
from urdf_gibbs.contact.dense import copy, largest_of
from urdf_gibbs.engine.jit import jit

INDEPENDENT = 1e-6  # pivots below this, of the unit diagonal: left to the proximal point method


@jit
def factor_rows(A: Array, m: int) -> bool:
    """A[:m, :m], symmetric, becomes D Lᵀ with a unit L in its upper half, and x[:m] = A[:m, m] becomes L⁻¹ x; False where a pivot is small.

    Rows are combined as wholes, with the right side as their last entry.
    """
    for c in range(m):
        if not A[c, c] > INDEPENDENT:
            return False
        inverse = 1.0 / A[c, c]
        for r in range(c + 1, m):
            share = A[c, r] * inverse
            if share != 0.0:
                for j in range(r, m + 1):
                    A[r, j] -= share * A[c, j]
    return True


@jit
def stick(S: Array, b: Array, kind: Indices, at: Indices, law: Array, y: Array, enough: float) -> float:
    """From the modes of y: where no contact slips, y becomes the solution with these modes, if it is one; else y stays as it is.

    Gives the natural map of y, relative to its largest impulse or 1, or inf where y is no solution to ``enough``.
    """
    n, k, m = b.shape[0], kind.shape[0], 0
    A, room = np.empty((n, n + 1)), np.empty((2, n))
    mode, rows, t = np.empty(k, np.int64), np.empty(n, np.int64), np.empty((k, 2))
    z, s = room[0], room[1]
    copy(y, z)
    motion(S, b, z, s)
    find_modes(kind, at, law, z, s, mode, t)
    for i in range(k):
        if mode[i] == SLIP:
            return np.inf
        for r in range(at[i], at[i + 1]):
            if mode[i] != OPEN and mode[i] != FIXED:
                rows[m], z[r] = r, 0.0
                m += 1
    motion(S, b, z, s)
    for a in range(m):
        line = S[rows[a]]
        for c in range(a, m):
            A[a, c] = line[rows[c]]
        A[a, m] = -s[rows[a]]
    if not factor_rows(A, m):
        return np.inf
    for a in range(m - 1, -1, -1):
        total = A[a, m]
        for c in range(a + 1, m):
            total -= A[a, c] * z[rows[c]]
        z[rows[a]] = total / A[a, a]
    motion(S, b, z, s)
    found = natural_map(kind, at, law, z, s) / max(1.0, largest_of(z))
    if not found <= enough:
        return np.inf
    copy(z, y)
    return found
