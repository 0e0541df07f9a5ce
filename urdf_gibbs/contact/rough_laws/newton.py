"""Newton's law with Coulomb's cone: the normal velocity is reversed, e times; friction acts on the tangential velocity after the impact.

With w = (u_n⁺ + e u_n⁻, u_t⁺): p in the cone |p_t| <= mu p_n, w + mu |w_t| n in its dual cone, and the two complementary.

Energy: it can grow. Where an impact is oblique and rows are coupled, normal impulses that restitution asks for may drive the
tangential motion (Kane's double pendulum). Such impacts are marked, ``Impact.energy_gain``; Moreau's law cannot do that.
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
    for i in range(n):
        b[i] = u[i]
        p[i] = 0.0
    for i in range(k):
        reach[i], slide[i, 0], slide[i, 1] = 0.0, 0.0, 0.0
        b[at[i]] += e[i] * u[at[i]]
    return solve(K, b, kind, at[: k + 1], mu, reach, slide, p)
