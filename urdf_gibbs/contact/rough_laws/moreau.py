"""Moreau's law: the whole relative velocity is reversed, e times, as far as Coulomb's cone allows.

With w = u⁺ + e u⁻: p in the cone |p_t| <= mu p_n, w + mu |w_t| n in its dual cone, and the two complementary.

Energy: with one e <= 1 for all contacts it cannot grow. 2 ΔT = pᵀ(u⁺ + u⁻) and (1 + e)(u⁺ + u⁻) = 2 w - (1 - e) K p, so
(1 + e) ΔT = pᵀw - ½ (1 - e) pᵀK p, where pᵀw = -Σ mu p_n |w_t| <= 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb import problem as coulomb
from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]


@jit
def impulses(problem: Problem, u: Array, e: Array) -> float:
    """Fills problem.p (n,) [N s], u (n,) [m/s] being the velocities before, e (k,); gives the certificate."""
    at = problem.at
    for i in range(problem.count):
        for j in range(at[i], at[i + 1]):
            problem.b[j], problem.p[j] = (1.0 + e[i]) * u[j], 0.0
    return coulomb.impulses(problem)
