"""Impact laws with friction: impulses at the closed contacts, normal and tangential, in Coulomb's cones.

Each law is a file with its equations and what it says of the energy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.names import MOREAU, NEWTON
from urdf_gibbs.contact.rough_laws import moreau, newton
from urdf_gibbs.engine.jit import jit_inline

__all__ = ["impulses"]

Array = NDArray[np.float64]

_moreau, _newton = moreau.impulses, newton.impulses


@jit_inline
def impulses(law: int, problem: Problem, u: Array, e: Array) -> float:
    """The impulses problem.p (n,) [N s] by the law of this code; gives its certificate, NaN for a code that has no friction.

    u (n,) [m/s] are the velocities before, row by row of the problem; e (k,) the coefficients of restitution. Velocities after: u + K p.
    """
    if law == NEWTON:
        return _newton(problem, u, e)
    if law == MOREAU:
        return _moreau(problem, u, e)
    return np.nan
