"""Moreau's law: the whole relative velocity is reversed, e times, as far as Coulomb's cone allows.

With w = u⁺ + e u⁻: p in the cone |p_t| <= mu p_n, w + mu |w_t| n in its dual cone, and the two complementary.

Energy: with one e <= 1 for all contacts it cannot grow. 2 ΔT = pᵀ(u⁺ + u⁻) and (1 + e)(u⁺ + u⁻) = 2 w - (1 - e) K p, so
(1 + e) ΔT = pᵀw - ½ (1 - e) pᵀK p, where pᵀw = -Σ mu p_n |w_t| <= 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb import solve
from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@jit
def impulses(K: Array, u: Array, kind: Indices, at: Indices, mu: Array, e: Array, p: Array) -> float:
    """Fills p (n,) [N s]; gives the certificate."""
    k, n = e.shape[0], u.shape[0]
    b, reach, slide = np.empty(n), np.empty(k), np.empty((k, 2))
    for i in range(k):
        reach[i], slide[i, 0], slide[i, 1] = 0.0, 0.0, 0.0
        for j in range(at[i], at[i + 1]):
            b[j] = (1.0 + e[i]) * u[j]
            p[j] = 0.0
    return solve(K, b, kind, at[: k + 1], mu, reach, slide, p)
