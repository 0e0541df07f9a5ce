"""The proximal point method, for contacts that share a load which no velocity tells how to share. Compiled.

Where many contacts of one body stick, impulses are not unique, Newton's method has singular equations, and modes change back and forth
between impulses that are all but the same. So impulses are drawn to the last ones, y': s = (S + ε) y + b - ε y' obeys the law, an easier
problem, and its y becomes the next y'. What the law lacks then is ε (y - y'), which tends to zero where y does not run away.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.gauss_seidel import sweep
from urdf_gibbs.contact.coulomb.modes import polish
from urdf_gibbs.contact.coulomb.scaled import Array, Indices, motion, natural_map
from urdf_gibbs.contact.dense import copy, largest_of
from urdf_gibbs.engine.jit import jit

TURNS = 100  # with each ε
STEPS = 12  # of Newton's method
ROUNDS, SWEEPS = 6, 30  # of Gauss-Seidel, where Newton's method alone fails
ENOUGH = 1e-9  # natural map of an easier problem, of the largest impulse
DONE = 1e-13  # the same of the problem itself


@jit
def proximal(S: Array, b: Array, kind: Indices, at: Indices, law: Array, y: Array) -> float:
    """y (n,) becomes the best that was found on the way from it; gives its natural map."""
    n = b.shape[0]
    A, c, s, x, last = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    copy(y, last)
    motion(S, b, y, s)
    best = natural_map(kind, at, law, y, s)
    for epsilon in (1e-2, 1e-3, 1e-4, 1e-5):
        for i in range(n):
            copy(S[i], A[i])
            A[i, i] += epsilon
        for _ in range(TURNS):
            if best <= DONE * max(1.0, largest_of(y)):
                return best
            for i in range(n):
                c[i] = b[i] - epsilon * last[i]
            copy(last, x)
            _easier(A, c, kind, at, law, x)
            copy(x, last)
            motion(S, b, x, s)
            now = natural_map(kind, at, law, x, s)
            if now < best:
                best = now
                copy(x, y)
    return best


@jit
def _easier(A: Array, c: Array, kind: Indices, at: Indices, law: Array, x: Array) -> None:
    """x (n,) becomes the solution of A x + c, from x."""
    s = np.empty(c.shape[0])
    for _ in range(ROUNDS):
        if polish(A, c, kind, at, law, x, STEPS) <= ENOUGH * max(1.0, largest_of(x)):
            return
        motion(A, c, x, s)
        for _ in range(SWEEPS):
            sweep(A, kind, at, law, x, s)
