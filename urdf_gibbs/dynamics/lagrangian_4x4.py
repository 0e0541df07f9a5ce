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
from urdf_gibbs.dynamics.model import Model, add_element
from urdf_gibbs.dynamics.scalar import (
    Matrix,
    Vector,
    add,
    dot,
    identity,
    madd,
    matmul,
    matmul_transposed,
    matvec,
    mscale,
    mul,
    trace_product,
    vadd,
    vsub,
    zeros,
)
from urdf_gibbs.dynamics.transformations_flexible import rigid_mass
from urdf_gibbs.robot.branches import Branch


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """M (nv x nv): the branches' matrices added."""
    M = zeros(model.nv, model.nv)
    A = _transforms(model, q)
    for branch in model.branches:
        _add_branch_inertia(M, model, branch, A)
    return M


def bias(model: Model, q: Vector, v: Vector, gravity: Vector) -> Vector:
    """h (nv): Coriolis, centrifugal and gravity forces, the branches' added."""
    h: Vector = [0.0] * model.nv
    A = _transforms(model, q)
    for branch in model.branches:
        _add_branch_bias(h, model, branch, A, v, gravity)
    return h


def _transforms(model: Model, q: Vector) -> list[Matrix]:
    """A_i: from link i to its parent."""
    return [matmul(body.E, joint_transform(body, q)) for body in model.bodies]


def _add_branch_inertia(M: Matrix, model: Model, branch: Branch, transforms: list[Matrix]) -> None:
    """The pseudo-inertias inwards, jJ_k for each pair of joints."""
    links, A = [model.bodies[i] for i in branch.bodies], [transforms[i] for i in branch.bodies]
    dW = transform_derivatives(links, A)
    n = len(links)
    kJ_k = zeros(4, 4)  # of links k..n, seen from link k
    for k in range(n - 1, -1, -1):
        if k + 1 < n:
            kJ_k = matmul_transposed(matmul(A[k + 1], kJ_k), A[k + 1])
        if not branch.virtual[k]:
            kJ_k = madd(kJ_k, rigid_mass(links[k]))
        jJ_k = kJ_k
        for j in range(k, -1, -1):
            if j < k:
                jJ_k = matmul(A[j + 1], jJ_k)
            for b, column_k in enumerate(links[k].columns):
                right = matmul_transposed(jJ_k, dW[k][b])
                for a, column_j in enumerate(links[j].columns):
                    if j < k or a <= b:
                        add_element(M, column_j, column_k, trace_product(dW[j][a], right))


def _add_branch_bias(h: Vector, model: Model, branch: Branch, transforms: list[Matrix], v: Vector, gravity: Vector) -> None:
    """W, W' and W'' at q'' = 0 outwards, D and c inwards."""
    links, A = [model.bodies[i] for i in branch.bodies], [transforms[i] for i in branch.bodies]
    dW = transform_derivatives(links, A)
    W, W_dot, W_ddot = identity(4), zeros(4, 4), zeros(4, 4)
    D: list[Matrix] = []
    c: list[Vector] = []
    for link, A_i, virtual in zip(links, A, branch.virtual, strict=True):
        V = joint_rate(link, v)
        A_dot = matmul(A_i, V)
        A_ddot = matmul(A_dot, V)
        W_ddot = madd(matmul(W_ddot, A_i), madd(mscale(2.0, matmul(W_dot, A_dot)), matmul(W, A_ddot)))
        W_dot = madd(matmul(W_dot, A_i), matmul(W, A_dot))
        W = matmul(W, A_i)
        D.append(zeros(4, 4) if virtual else matmul_transposed(rigid_mass(link), W_ddot))
        c.append([0.0] * 4 if virtual else first_moment(link))
    for j in range(len(links) - 1, -1, -1):
        if j + 1 < len(links):
            D[j] = madd(D[j], matmul(A[j + 1], D[j + 1]))
            c[j] = vadd(c[j], matvec(A[j + 1], c[j + 1]))
        for a, column in enumerate(links[j].columns):
            weight = dot([*gravity, 0.0], matvec(dW[j][a], c[j]))
            (value,) = vsub([trace_product(dW[j][a], D[j])], [weight])
            h[column.iv] = add(h[column.iv], mul(column.ratio, value))
