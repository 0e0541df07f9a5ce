"""Newton's law with complementarity (Moreau): no contact pulls, and one that leaves faster than e requires gets no impulse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.complementarity import SOLVED, solve
from urdf_gibbs.contact.dense import copy
from urdf_gibbs.engine.jit import jit_inline

Array = NDArray[np.float64]


@jit_inline
def impulses(K: Array, u: Array, e: Array, lam: Array) -> float:
    """0 <= lam ⟂ u⁺ + e u >= 0, u⁺ = u + K lam: K (k, k) [1/kg], u (k,) [m/s], fills lam (k,) [N s]; returns ``solve``'s certificate.

    With one e for all contacts a solution exists for every u = J v, and the kinetic energy never grows. With several it can grow, and
    between opposing walls there may be no solution at all: then the smallest e of the set is used for all of its contacts.

    A closed contact that was opening, u > 0, and is pressed shut by its neighbours ends at u⁺ = -e u, not at zero: the caller must check
    u⁺ again. ΔT = ½ Σ lamᵢ (1 - eᵢ) uᵢ, so it is only there that several e can add energy.
    """
    k = u.shape[0]
    w, trial = np.empty(k), np.empty(k)
    low, high = np.inf, -np.inf
    for i in range(k):
        low, high = min(low, e[i]), max(high, e[i])
    worst = np.inf
    for attempt in range(2):
        for i in range(k):
            w[i] = (1.0 + (e[i] if attempt == 0 else low)) * u[i]
        certificate = solve(K, w, trial)
        if not certificate >= worst:
            worst = certificate
            copy(trial, lam)
        if not (worst > SOLVED and low < high):
            break
    return worst
