"""Impact laws: impulses at the closed contacts from the Delassus matrix, the velocities before and the coefficients of restitution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.dense import fill
from urdf_gibbs.contact.laws import newton, newton_equality, poisson
from urdf_gibbs.contact.names import ENERGETIC, LAWS, MOREAU, NEWTON, NEWTON_EQUALITY, POISSON
from urdf_gibbs.engine.jit import jit_inline

__all__ = ["LAWS", "NEWTON", "NEWTON_EQUALITY", "POISSON", "impulses"]

Array = NDArray[np.float64]

_newton, _newton_equality, _poisson = newton.impulses, newton_equality.impulses, poisson.impulses


@jit_inline
def impulses(law: int, K: Array, u: Array, e: Array, lam: Array) -> float:
    """The impulses lam (k,) by the law with this code; returns its certificate, NaN for an unknown code.

    K (k, k) = J M⁻¹ Jᵀ [1/kg], u (k,) [m/s] negative where approaching, e (k,), lam (k,) [N s] is filled. Velocities after: u + K lam.
    """
    if law in (NEWTON, MOREAU, ENERGETIC):  # which are the same where there is no friction
        return _newton(K, u, e, lam)
    if law == NEWTON_EQUALITY:
        return _newton_equality(K, u, e, lam)
    if law == POISSON:
        return _poisson(K, u, e, lam)
    fill(lam, np.nan)
    return np.nan
