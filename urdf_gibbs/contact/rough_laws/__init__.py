"""Impact laws with friction: impulses at the closed contacts, normal and tangential, in Coulomb's cones.

Each law is a file with its equations and what it says of the energy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb import FRICTION, NORMAL
from urdf_gibbs.contact.names import ENERGETIC, MOREAU, NEWTON, POISSON
from urdf_gibbs.contact.rough_laws import moreau, newton
from urdf_gibbs.engine.jit import jit, jit_inline

__all__ = ["impulses", "kind_of"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_moreau, _newton = moreau.impulses, newton.impulses


@jit
def kind_of(rows: int) -> int:
    """The kind of a contact with so many rows."""
    return FRICTION if rows == 3 else NORMAL


@jit_inline
def impulses(law: int, K: Array, u: Array, kind: Indices, at: Indices, mu: Array, e: Array, p: Array) -> float:
    """The impulses p (n,) [N s] by the law of this code; gives its certificate, NaN for a code that has no friction.

    K (n, n) = J M⁻¹ Jᵀ [1/kg] and u (n,) [m/s] of the rows; contact i has rows at[i] ... at[i + 1], one (normal) or three; mu, e (k,).
    Velocities after: u + K p.
    """
    if law == NEWTON:
        return _newton(K, u, kind, at, mu, e, p)
    if law == MOREAU:
        return _moreau(K, u, kind, at, mu, e, p)
    return np.nan
