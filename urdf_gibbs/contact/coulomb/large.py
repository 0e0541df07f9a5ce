"""Many contacts: block Gauss-Seidel with exact solutions of single contacts, from a warm start, finished by Newton's method. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.certificate import certificate
from urdf_gibbs.contact.coulomb.gauss_seidel import sweep
from urdf_gibbs.contact.coulomb.infeasible import admissible
from urdf_gibbs.contact.coulomb.modes import polish
from urdf_gibbs.contact.coulomb.scaled import Array, Indices, motion, natural_map, row_scaling, scaled_law, scaled_problem
from urdf_gibbs.contact.dense import copy, fill, finite, finite_matrix, largest_of
from urdf_gibbs.engine.jit import jit

WELL = 1e-10  # natural map, of the largest impulse
SWEEPS = 6000
BETWEEN = 10  # sweeps between two looks at the natural map
PROGRESS = 0.1  # Newton's method is tried each time the natural map has fallen to this part
STEPS = 8  # of Newton's method


@jit
def solve_large(K: Array, b: Array, kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, p: Array) -> float:
    """As ``solve``, for hundreds of contacts: no curve is followed and nothing is proved. Gives the certificate."""
    n, k = b.shape[0], kind.shape[0]
    if not (finite_matrix(K) and finite(b) and finite(p)):
        fill(p, np.nan)
        return np.nan
    d, S, c, law, y, z, s = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((k, 3)), np.empty(n), np.empty(n), np.empty(n)
    row_scaling(K, kind, at, d)
    size = scaled_problem(K, b, d, S, c)
    if size == 0.0:
        fill(p, 0.0)
        return 0.0
    scaled_law(kind, at, mu, reach, slide, d, size, law)
    for i in range(n):
        y[i] = p[i] / d[i] / size
    admissible(kind, at, law, y)
    motion(S, c, y, s)
    tried = PROGRESS
    for turn in range(SWEEPS // BETWEEN):
        for _ in range(BETWEEN):
            sweep(S, kind, at, law, y, s)
        if turn % 10 == 9:
            motion(S, c, y, s)  # rounding errors of many small changes
        now = natural_map(kind, at, law, y, s)
        if now <= WELL * max(1.0, largest_of(y)):
            break
        if now < tried:
            tried = PROGRESS * now
            copy(y, z)
            if polish(S, c, kind, at, law, z, STEPS) <= WELL * max(1.0, largest_of(z)):
                copy(z, y)
                break
    for i in range(n):
        p[i] = y[i] * d[i] * size
    return certificate(K, b, kind, at, mu, reach, slide, p)
