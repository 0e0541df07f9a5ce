"""Newton's law as an equality, S18 Eqs. 44-47: every closed contact leaves at e times the velocity it came with.

As printed it holds at ALL closed contacts, so one that is separating is pulled back: its impulse is negative.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.least_norm import least_norm
from urdf_gibbs.engine.jit import jit_inline

Array = NDArray[np.float64]


@jit_inline
def impulses(K: Array, u: Array, e: Array, lam: Array) -> float:
    """K lam = -(1 + e) u: K (k, k) [1/kg], u (k,) [m/s] before, fills lam (k,) [N s], the shortest where rows depend on each other.

    Returns the relative residual, see ``least_norm``: large where dependent rows require different velocities.
    """
    c = np.empty(u.shape[0])
    for i in range(u.shape[0]):
        c[i] = -(1.0 + e[i]) * u[i]
    return least_norm(K, c, lam, False)
