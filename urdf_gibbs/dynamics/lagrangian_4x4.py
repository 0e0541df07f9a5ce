"""Hollerbach's recursive Lagrangian with 4x4 matrices, branch by branch with virtual links as S18 extends it (its ref. [38], Table 1).

W_i is the 4x4 transformation of link i from the world, A_i (with the joint's fixed placement E in it) that from link i-1, J_i the
4x4 pseudo-inertia of link i about its frame's origin, c_i what gravity sees of links i..n. All forces are traces:

  M_jk = Tr{dW_j/dq_j jJ_k (dW_k/dq_k)ᵀ},  jJ_k = A_j+1 j+1J_k,  kJ_k = J_k + A_k+1 k+1J_k+1 A_k+1ᵀ
  h_j = Tr{dW_j/dq_j D_j} - gᵀ dW_j/dq_j c_j,  D_j = J_j W''_jᵀ + A_j+1 D_j+1,  c_j = m_j [r_j;1] + A_j+1 c_j+1

Against the original, which is for one chain of simple joints: a joint may have several quasi-velocities, with A' = A V and the velocity
part A V V of A'' (gibbs_appell.py). The traces are virtual powers, which hold for quasi-velocities where Lagrange's derivatives do not.
"""

from __future__ import annotations

from urdf_gibbs.dynamics.gibbs_appell import first_moment, joint_rate, joint_transform, transform_derivatives
from urdf_gibbs.dynamics.gibbs_appell import point_jacobian as point_jacobian  # dW_j/dq_j times the point seen from link j
from urdf_gibbs.dynamics.matrices import Matrix, Scalars, Tr, Vector
from urdf_gibbs.dynamics.model import Model, add_element
from urdf_gibbs.dynamics.transformations_flexible import rigid_mass
from urdf_gibbs.robot.branches import Branch


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv): the branches' matrices added."""
    M = Matrix.zeros(model.nv, model.nv)
    A = _transforms(model, q)
    for branch in model.branches:
        _add_branch_inertia(M, model, branch, A)
    return M


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv): Coriolis, centrifugal and gravity forces, the branches' added."""
    h = Vector.zeros(model.nv)
    A = _transforms(model, q)
    g = Vector([*gravity, 0.0])
    for branch in model.branches:
        _add_branch_bias(h, model, branch, A, v, g)
    return h


def _transforms(model: Model, q: Scalars) -> list[Matrix]:
    """A_i: from link i to its parent."""
    return [body.E @ joint_transform(body, q) for body in model.bodies]


def _add_branch_inertia(M: Matrix, model: Model, branch: Branch, transforms: list[Matrix]) -> None:
    """The pseudo-inertias inwards, jJ_k for each pair of joints."""
    links, A = [model.bodies[i] for i in branch.bodies], [transforms[i] for i in branch.bodies]
    dW = transform_derivatives(links, A)
    n = len(links)
    kJ_k = Matrix.zeros(4, 4)  # of links k..n, seen from link k
    for k in range(n - 1, -1, -1):
        if k + 1 < n:
            kJ_k = A[k + 1] @ kJ_k @ A[k + 1].T
        if not branch.virtual[k]:
            kJ_k += rigid_mass(links[k])
        jJ_k = kJ_k
        for j in range(k, -1, -1):
            if j < k:
                jJ_k = A[j + 1] @ jJ_k
            for b, column_k in enumerate(links[k].columns):
                JdW = jJ_k @ dW[k][b].T
                for a, column_j in enumerate(links[j].columns):
                    if j < k or a <= b:
                        add_element(M, column_j, column_k, Tr(dW[j][a], JdW))


def _add_branch_bias(h: Vector, model: Model, branch: Branch, transforms: list[Matrix], v: Scalars, g: Vector) -> None:
    """W, W' and W'' at q'' = 0 outwards, D and c inwards."""
    links, A = [model.bodies[i] for i in branch.bodies], [transforms[i] for i in branch.bodies]
    dW = transform_derivatives(links, A)
    W, W_dot, W_ddot = Matrix.identity(4), Matrix.zeros(4, 4), Matrix.zeros(4, 4)
    D: list[Matrix] = []
    c: list[Vector] = []
    for link, A_i, virtual in zip(links, A, branch.virtual, strict=True):
        V = joint_rate(link, v)
        A_dot = A_i @ V
        A_ddot = A_dot @ V
        W_ddot = W_ddot @ A_i + (2.0 * (W_dot @ A_dot) + W @ A_ddot)
        W_dot = W_dot @ A_i + W @ A_dot
        W = W @ A_i
        D.append(Matrix.zeros(4, 4) if virtual else rigid_mass(link) @ W_ddot.T)
        c.append(Vector.zeros(4) if virtual else first_moment(link))
    for j in range(len(links) - 1, -1, -1):
        if j + 1 < len(links):
            D[j] += A[j + 1] @ D[j + 1]
            c[j] += A[j + 1] @ c[j + 1]
        for dW_j, column in zip(dW[j], links[j].columns, strict=True):
            h[column.iv] += column.ratio * (Tr(dW_j, D[j]) - g @ (dW_j @ c[j]))
