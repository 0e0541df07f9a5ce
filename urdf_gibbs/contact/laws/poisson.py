"""Poisson's law: compression stops the approach, restitution gives back e times its impulse and more where contacts would close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.complementarity import solve, violation
from urdf_gibbs.contact.dense import fill, finite
from urdf_gibbs.engine.jit import jit_inline

Array = NDArray[np.float64]

NOISE = 1e-13  # relative rounding error of a difference of equal numbers


@jit_inline
def impulses(K: Array, u: Array, e: Array, lam: Array) -> float:
    """K (k, k) [1/kg], u (k,) [m/s] before, fills lam = lc + lr (k,) [N s]; returns the worse of the two certificates, relative to u.

    compression   0 <= lc ⟂ u + K lc >= 0
    restitution   0 <= lr - e lc ⟂ u + K (lc + lr) >= 0
    """
    k = u.shape[0]
    if not finite(e):
        fill(lam, np.nan)
        return np.nan
    lc, more, w = np.empty(k), np.empty(k), np.empty(k)
    worst = solve(K, u, lc)
    if not worst >= 0.0:
        fill(lam, np.nan)
        return np.nan
    for i in range(k):
        total, size = u[i], abs(u[i])
        for j in range(k):
            part = K[i, j] * (1.0 + e[j]) * lc[j]
            total += part
            size += abs(part)
        w[i] = total if abs(total) > NOISE * size else 0.0
    solve(K, w, more)
    for i in range(k):
        lam[i] = (1.0 + e[i]) * lc[i] + more[i]
    return max(worst, violation(K, w, more, u))
