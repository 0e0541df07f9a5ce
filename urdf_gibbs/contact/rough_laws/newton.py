"""Newton's law with Coulomb's cone: the normal velocity is reversed, e times; friction acts on the tangential velocity after the impact.

With w = (u_n⁺ + e u_n⁻, u_t⁺): p in the cone |p_t| <= mu p_n, w + mu |w_t| n in its dual cone, and the two complementary.

Energy: it can grow. Where an impact is oblique and the rows are coupled, the normal impulses that restitution needs may speed up the
tangential motion (Kane's double pendulum). ``Impact.energy_gain`` marks such impacts; Moreau's law has none.
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
    for i in range(at[problem.count]):
        problem.b[i], problem.p[i] = u[i], 0.0
    for i in range(problem.count):
        problem.b[at[i]] += e[i] * u[at[i]]
    return coulomb.impulses(problem)
