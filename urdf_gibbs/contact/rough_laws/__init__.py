"""Impact laws with friction: impulses at the closed contacts, normal and tangential, in Coulomb's cones.

Each law is a file with its equations and what it says of the energy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.names import ENERGETIC, MOREAU, NEWTON, POISSON
from urdf_gibbs.contact.rough_laws import energetic, moreau, newton, poisson
from urdf_gibbs.engine.jit import entry, jit_inline
from urdf_gibbs.engine.struct import Float1, Int, Struct, struct

__all__ = ["RoughImpact", "impulses", "solve"]

Array = NDArray[np.float64]

_energetic, _moreau, _newton, _poisson = energetic.impulses, moreau.impulses, newton.impulses, poisson.impulses


@jit_inline
def impulses(law: int, problem: Problem, u: Array, e: Array) -> tuple[int, float]:
    """The impulses problem.p (n,) [N s] by the law of this code; gives the code of the law that was applied and its certificate.

    That is another one where several contacts strike and "energetic" is asked for. NaN for a code that has no friction.
    u (n,) [m/s] are the velocities before, row by row of the problem; e (k,) the coefficients of restitution. Velocities after: u + K p.
    """
    applied, certificate = law, np.nan
    if law == ENERGETIC:
        certificate = _energetic(problem, u, e)
        if certificate < 0.0:
            applied = MOREAU
    if applied == NEWTON:
        certificate = _newton(problem, u, e)
    if applied == MOREAU:
        certificate = _moreau(problem, u, e)
    if applied == POISSON:
        certificate = _poisson(problem, u, e)
    return applied, certificate


@struct
class RoughImpact(Struct):
    """An impact to be solved by itself."""

    law: Int  # the code of the law, then of the one that was applied
    problem: Problem
    u: Float1  # (n,) velocities before [m/s]
    e: Float1  # (count,) coefficients of restitution


@entry(RoughImpact, part="contact_problem", returns=float)
def solve(s: RoughImpact) -> float:
    """Fill s.problem.p; gives the certificate of the law."""
    s.law, certificate = impulses(s.law, s.problem, s.u, s.e)
    return certificate
