"""Derivatives of the forward dynamics from those of the inverse.

a = FD(q, v, tau) solves ID(q, v, a) = tau. Differentiated at its solution, with M = dID/da:

    da/dq = -M⁻¹ dID/dq,    da/dv = -M⁻¹ dID/dv,    da/dtau = M⁻¹.

M = Lᵀ D L keeps the zeros between branches (dynamics/branch_factors.py), and every column is solved for by the same factors.
"""

from __future__ import annotations

from typing import NamedTuple

from urdf_gibbs.derivatives.inverse_dynamics import Derivatives, inverse_dynamics_derivatives
from urdf_gibbs.dynamics.branch_factors import Factors, factorised
from urdf_gibbs.dynamics.local import LocalModel
from urdf_gibbs.dynamics.local_force import bias
from urdf_gibbs.dynamics.local_inertia import mass_matrix
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import mul


class Front(NamedTuple):
    """What the solutions need: the factors of M, the acceleration (nv), and the derivatives of the inverse dynamics at it."""

    factors: Factors
    a: list[Scalar]
    inverse: Derivatives


class ForwardDerivatives(NamedTuple):
    """Of a = FD(q, v, tau) (nv), each nv x nv: by the configuration (in tangent space), by v, by tau."""

    q: Matrix
    v: Matrix
    tau: Matrix


def front(model: LocalModel, q: Scalars, v: Scalars, tau: Scalars, gravity: Scalars) -> Front:
    """All that comes before the solutions, over any scalar."""
    factors = factorised(mass_matrix(model, q))
    a = factors.solve(Vector(tau) - bias(model, q, v, gravity))
    return Front(factors, a, inverse_dynamics_derivatives(model, q, v, a, gravity))


def forward_dynamics_derivatives(
    model: LocalModel, q: Scalars, v: Scalars, tau: Scalars, gravity: Scalars
) -> tuple[ForwardDerivatives, list[Scalar]]:
    """The derivatives of a (nv) at a state, over any scalar, and the pivots of M (nv)."""
    before = front(model, q, v, tau, gravity)
    factors = before.factors

    def solved(B: Matrix) -> Matrix:
        return Matrix([factors.solve([mul(-1.0, x) for x in column]) for column in B.T]).T

    return ForwardDerivatives(solved(before.inverse.q), solved(before.inverse.v), factors.inverse_matrix()), factors.pivots
