"""Uicker's Lagrangian equations with 4x4 pseudo-inertia matrices, in Li's form (the second method in Table 1 of WJ, its refs. [26-28]).

U_lj = dT_l/dq_j = T_j K_j jT_l with the generator K_j of a joint's column in place of a derivative, I_l the pseudo-inertia of body l:

  M_uk = sum over l of Tr(U_lk I_l U_luᵀ),  l beyond u and k
  h_u = sum over l of Tr(U_lu I_l (sum over j, k of U_ljk v_j v_k)ᵀ) - m_l gᵀ U_lu [c_l;1]

Nothing is recursive: every element is a sum of its own. The second derivatives are U_ljk = T_j K_j jT_k K_k kT_l for j before k. They are
summed over the pairs j, k once for each body, not once for each u, which is the same sum in another order.

Columns of one joint count in both orders, K_j K_k and K_k K_j: that is the velocity part T V V of T'', also for quasi-velocities.
"""

from __future__ import annotations

from urdf_gibbs.dynamics.gibbs_appell import first_moment, generator, joint_transform
from urdf_gibbs.dynamics.matrices import Matrix, Scalars, Tr, Vector
from urdf_gibbs.dynamics.model import Column, Model, add_column, add_element, path
from urdf_gibbs.dynamics.transformations_flexible import rigid_mass

Seen = list[tuple[int, Matrix]]  # j and jT_l, from the root to body l


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv), full and symmetric: 128 multiplications and 99 additions for a basic element, as Table 1 counts them."""
    M = Matrix.zeros(model.nv, model.nv)
    A, T = _transforms(model, q)
    for i, body in enumerate(model.bodies):
        I = rigid_mass(body)  # noqa: E741 - the paper's name
        U = _derivatives(model, T, _seen(model, A, i))
        for u, (_, column_u, U_lu) in enumerate(U):
            for _, column_k, U_lk in U[: u + 1]:
                add_element(M, column_u, column_k, (U_lk @ I @ U_lu.T).trace())
    return M


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv): Coriolis, centrifugal and gravity forces."""
    h = Vector.zeros(model.nv)
    g = Vector([*gravity, 0.0])
    A, T = _transforms(model, q)
    seen = [_seen(model, A, i) for i in range(len(model.bodies))]
    U = [_derivatives(model, T, chain) for chain in seen]
    for i, body in enumerate(model.bodies):
        load = rigid_mass(body) @ _velocity_part(model, U, seen[i], v).T - first_moment(body).outer(g)
        for _, column, U_lu in U[i]:
            h[column.iv] += column.ratio * Tr(U_lu, load)
    return h


def point_jacobian(model: Model, q: Scalars, body: int, point: Scalars) -> Matrix:
    """3 x nv: velocity of a point given in the frame of ``body``, in world axes; the columns are U_lj [point;1]."""
    J = Matrix.zeros(3, model.nv)
    A, T = _transforms(model, q)
    r = Vector([*point, 1.0])
    for _, column, U_lj in _derivatives(model, T, _seen(model, A, body)):
        add_column(J, column, (U_lj @ r)[:3])
    return J


def _transforms(model: Model, q: Scalars) -> tuple[list[Matrix], list[Matrix]]:
    """A_j from body j to its parent, the joint's placement in it, and T_j to the world."""
    A = [body.E @ joint_transform(body, q) for body in model.bodies]
    T: list[Matrix] = []
    for body, A_j in zip(model.bodies, A, strict=True):
        T.append(A_j if body.parent < 0 else T[body.parent] @ A_j)
    return A, T


def _seen(model: Model, A: list[Matrix], i: int) -> Seen:
    """jT_l for the bodies j from the root to body l = i."""
    jT_l = Matrix.identity(4)
    seen: Seen = []
    for j in reversed(path(model, i)):
        seen.append((j, jT_l))
        jT_l = A[j] @ jT_l
    return seen[::-1]


def _derivatives(model: Model, T: list[Matrix], seen: Seen) -> list[tuple[int, Column, Matrix]]:
    """(j, column, U_lj) for all columns from the root to body l."""
    return [(j, column, T[j] @ generator(column.kind, column.axis) @ jT_l) for j, jT_l in seen for column in model.bodies[j].columns]


def _velocity_part(model: Model, U: list[list[tuple[int, Column, Matrix]]], seen: Seen, v: Scalars) -> Matrix:
    """T''_l at zero accelerations: the sum of U_ljk v_j v_k over all pairs."""
    total = Matrix.zeros(4, 4)
    for k, kT_l in seen:
        for column_k in model.bodies[k].columns:
            K_k = generator(column_k.kind, column_k.axis)
            for j, column_j, U_kj in U[k]:
                U_ljk = U_kj @ K_k @ kT_l
                orders = 1.0 if j == k else 2.0  # U_ljk = U_lkj, and both are in the sum
                rates = (column_j.ratio * v[column_j.iv]) * (column_k.ratio * v[column_k.iv])
                total += (orders * rates) * U_ljk
    return total
