"""The impact phase (S18, Sect. 4, Eqs. 44-47), over any scalar and by any formulation that has a mass matrix and point Jacobians.

It is the papers' equality form: every contact leaves with -e times its normal velocity before, so that one which is already
separating gets an impulse that pulls. The laws that only push are in contact/laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from urdf_gibbs.dynamics.local_forward import solved
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Model
from urdf_gibbs.dynamics.scalar import mul

Contact = tuple[int, Scalars, Scalars]  # body, point in its frame, unit normal in the world


def impact(
    formulation: ModuleType, model: Model, q: Scalars, v: Scalars, contacts: Sequence[Contact], restitution: Scalar
) -> tuple[Vector, Vector]:
    """(v after (nv), impulses (k) along the normals) for the velocity v before."""
    return solve_impact(formulation.mass_matrix(model, q), normal_rows(formulation, model, q, contacts), v, restitution)


def normal_rows(formulation: ModuleType, model: Model, q: Scalars, contacts: Sequence[Contact]) -> Matrix:
    """J_n (k x nv): n_jᵀ jJ of each contact (Eq. 46)."""
    return Matrix([formulation.point_jacobian(model, q, body, point).T @ Vector(normal) for body, point, normal in contacts])


def solve_impact(M: list[list[Scalar]], Jn: list[list[Scalar]], v: Scalars, restitution: Scalar) -> tuple[Vector, Vector]:
    """Eq. 47 solved: [M, -J_nᵀ; J_n, 0] {v+; f} = [M v; -e J_n v].

    With -f in place of f and the contacts' rows first the matrix is symmetric, and M = Lᵀ D L is factorised first, from its last row up:
    what then remains of the contacts' rows is the Schur complement -J_n M^-1 J_nᵀ, regular for contacts that do not depend on each other.
    """
    k = len(Jn)
    saddle = [[0.0] * k + list(row) for row in Jn] + [[*column, *row] for column, row in zip(_columns(Jn, len(M)), M, strict=True)]
    before = Vector(v)
    leaving = mul(-1.0, restitution) * (Matrix(Jn) @ before)
    solution, _ = solved(saddle, [*leaving, *Matrix(M) @ before])
    return Vector(solution[k:]), -1.0 * Vector(solution[:k])


def _columns(Jn: list[list[Scalar]], nv: int) -> Matrix:
    """J_nᵀ (nv x k), also without contacts."""
    return Matrix(Jn).T if Jn else Matrix([] for _ in range(nv))
