"""Recursive Gibbs-Appell equations with 3x3 and 4x4 matrices combined, branch by branch (S18, Sects. 2 and 3).

Frames: link i of a branch has its frame at its joint; T_i is its 4x4 transformation from the world, and
a leading frame index j (``jT_i``, ``jF_k``) means seen from link j. Rotational terms are in link axes.

Against the paper, for a general URDF:
- E is the joint's fixed placement in the parent (the paper's is a shift by the link's length, Eq. 5), and a joint
  may have several quasi-velocities: A' = A V with V = sum of K v over its columns, so U1 = A K (Eq. 7) and the
  velocity part of A'' is A V V (the paper's U2 q'^2, Eq. 8). The base's X1 and X2 are prismatic joints like any other.
- The paper's links are rods: B1 (Eq. 15) is the integral along the line, B2 (Eq. 16) that of the sections' J'. Of any body the "line" is
  the largest thin rod in it, along the principal axis with the largest second moment; it goes into B1, what is left of I_c into B2.
- The Gibbs function of the paper leaves out w' . (w x B2 w), in space an error as large as B2: none for thin bars, small for slender ones.
  See ``rotational_bias``. With all of a body in B1 (``line_part`` = its second moments, B2 = 0) no term is missing for any body.
"""

from __future__ import annotations

from urdf_gibbs.dynamics.model import Body, Model, add_column, add_element, column_sum, joint_motion, path
from urdf_gibbs.dynamics.scalar import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    identity,
    madd,
    matmul,
    matmul_transposed,
    matvec,
    mscale,
    mul,
    scale,
    skew,
    trace_product,
    transposed,
    vadd,
    vsub,
    zeros,
)
from urdf_gibbs.robot.branches import Branch

ROUND_OFF = 1e-15  # of a difference of moments of inertia, relative to the largest


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """The inertia matrix I_f of Eq. 25 (nv x nv): branches are cycled through and added (Sect. 3.1.3)."""
    M = zeros(model.nv, model.nv)
    A = [joint_transform(body, q) for body in model.bodies]
    for branch in model.branches:
        _add_branch_inertia(M, model, branch, A)
    return M


def bias(model: Model, q: Vector, v: Vector, gravity: Vector) -> Vector:
    """Minus the right-hand side of Eq. 25 without torques (nv): Coriolis, centrifugal and gravity forces."""
    h: Vector = [0.0] * model.nv
    A = [joint_transform(body, q) for body in model.bodies]
    for branch in model.branches:
        _add_branch_bias(h, model, branch, A, v, gravity)
    return h


def point_jacobian(model: Model, q: Vector, body: int, point: Vector) -> Matrix:
    """Eq. 43 (3 x nv): velocity of a point given in the frame of ``body``, in world axes; dT_j/dq_j times the point seen from link j."""
    J = zeros(3, model.nv)
    links = [model.bodies[i] for i in path(model, body)]
    step = [matmul(link.E, joint_transform(link, q)) for link in links]
    D = transform_derivatives(links, step)
    r: Vector = [*point, 1.0]
    for j in range(len(links) - 1, -1, -1):
        for a, column in enumerate(links[j].columns):
            add_column(J, column, matvec(D[j][a], r)[:3])
        r = matvec(step[j], r)
    return J


# One branch -----------------------------------------------------------------------------------------


def _add_branch_inertia(M: Matrix, model: Model, branch: Branch, A: list[Matrix]) -> None:
    """Eqs. (I), (II) and 36-40, recursive: jF_k = (E_j A_j+1) j+1F_k, and the same for P with rotations."""
    links = [model.bodies[i] for i in branch.bodies]
    n = len(links)
    step = [matmul(link.E, A[i]) for link, i in zip(links, branch.bodies, strict=True)]  # step[j]: E A from link j-1 to j
    D = transform_derivatives(links, step)
    F: Matrix | None = None  # kF_k and kP_k: what links k..n weigh, seen from link k
    P: Matrix | None = None
    for k in range(n - 1, -1, -1):
        if F is not None and P is not None:
            F = matmul_transposed(matmul(step[k + 1], F), step[k + 1])
            P = matmul_transposed(matmul(_rotation(step[k + 1]), P), _rotation(step[k + 1]))
        if not branch.virtual[k]:
            F = B1(links[k]) if F is None else madd(F, B1(links[k]))
            P = B2(links[k]) if P is None else madd(P, B2(links[k]))
        assert F is not None and P is not None  # a leaf is always real
        jF_k, jP_k = F, P
        for j in range(k, -1, -1):
            if j < k:
                jF_k = matmul(step[j + 1], jF_k)
                jP_k = matmul(_rotation(step[j + 1]), jP_k)
            _add_block(M, links, D, j, k, jF_k, jP_k)


def _add_block(M: Matrix, links: list[Body], D: list[list[Matrix]], j: int, k: int, jF_k: Matrix, jP_k: Matrix) -> None:
    """2 Tr{dT_j/dq_j jF_k (dT_k/dq_k)ᵀ} + x_jᵀ jP_k x_k for the columns of joints j and k, and its mirror image."""
    for b, column_k in enumerate(links[k].columns):
        FD = matmul_transposed(jF_k, D[k][b])
        Px = matvec(jP_k, column_k.axis) if column_k.kind == "R" else None
        for a, column_j in enumerate(links[j].columns):
            if j == k and a > b:
                continue
            value = mul(2.0, trace_product(D[j][a], FD))
            if Px is not None and column_j.kind == "R":
                value = add(value, dot(column_j.axis, Px))
            add_element(M, column_j, column_k, value)


def _add_branch_bias(h: Vector, model: Model, branch: Branch, A: list[Matrix], v: Vector, gravity: Vector) -> None:
    """Eqs. 41-42: outwards T''_v (Eq. 30) and w'_v (Eq. 32), then inwards the sums over links j..n."""
    links = [model.bodies[i] for i in branch.bodies]
    n = len(links)
    step = [matmul(link.E, A[i]) for link, i in zip(links, branch.bodies, strict=True)]
    D = transform_derivatives(links, step)
    T, T_dot, T_ddot_v = identity(4), zeros(4, 4), zeros(4, 4)
    omega: Vector = [0.0, 0.0, 0.0]
    omega_dot_v: Vector = [0.0, 0.0, 0.0]
    force: list[Matrix] = []  # 2 B1 T''_vᵀ - c gᵀ
    torque: list[Vector] = []
    for i, link in enumerate(links):
        A_i = A[branch.bodies[i]]
        V = joint_rate(link, v)
        A_dot = matmul(A_i, V)
        A_ddot_v = matmul(A_dot, V)
        T_hat, T_hat_dot = matmul(T, link.E), matmul(T_dot, link.E)
        T_ddot_v = madd(matmul(T_ddot_v, step[i]), madd(mscale(2.0, matmul(T_hat_dot, A_dot)), matmul(T_hat, A_ddot_v)))
        T_dot = madd(matmul(T_hat_dot, A_i), matmul(T_hat, A_dot))
        T = matmul(T_hat, A_i)
        inwards = transposed(_rotation(step[i]))
        rate = column_sum(link, v, "R")
        carried = matvec(inwards, omega)
        omega_dot_v = vadd(matvec(inwards, omega_dot_v), cross(carried, rate))
        omega = vadd(carried, rate)
        if branch.virtual[i]:
            force.append(zeros(4, 4))
            torque.append([0.0, 0.0, 0.0])
        else:
            weight = [[mul(c, g) for g in [*gravity, 0.0]] for c in first_moment(link)]
            inertial = mscale(2.0, matmul_transposed(B1(link), T_ddot_v))
            force.append([vsub(a, b) for a, b in zip(inertial, weight, strict=True)])
            torque.append(rotational_bias(B2(link), omega, omega_dot_v))
    for j in range(n - 1, -1, -1):
        if j + 1 < n:
            force[j] = madd(force[j], matmul(step[j + 1], force[j + 1]))
            torque[j] = vadd(torque[j], matvec(_rotation(step[j + 1]), torque[j + 1]))
        for a, column in enumerate(links[j].columns):
            value = trace_product(D[j][a], force[j])
            if column.kind == "R":
                value = add(value, dot(column.axis, torque[j]))
            h[column.iv] = add(h[column.iv], mul(column.ratio, value))


# The matrices of the paper --------------------------------------------------------------------------


def joint_transform(body: Body, q: Vector) -> Matrix:
    """A_i (Eq. 4): the motion of the joint."""
    R, p = joint_motion(body, q)
    return [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]]


def generator(kind: str, axis: Vector) -> Matrix:
    """K with U1 = A K: skew(axis) for a rotation, the axis in the last column for a translation."""
    if kind == "P":
        return [[0.0, 0.0, 0.0, axis[0]], [0.0, 0.0, 0.0, axis[1]], [0.0, 0.0, 0.0, axis[2]], [0.0] * 4]
    return [[*row, 0.0] for row in skew(axis)] + [[0.0] * 4]


def joint_rate(body: Body, v: Vector) -> Matrix:
    """V with A' = A V (Eq. 7): the joint's generators times its velocities."""
    w, d = column_sum(body, v, "R"), column_sum(body, v, "P")
    W = skew(w)
    return [[*W[0], d[0]], [*W[1], d[1]], [*W[2], d[2]], [0.0] * 4]


def B1(body: Body) -> Matrix:
    """Eq. 15: half the integral of [r;1][r;1]ᵀ over the line, as if all mass were on it: m [c;1][c;1]ᵀ and the line's second moments."""
    line, r = line_part(body), [*body.com, 1.0]
    whole = [[mul(body.mass, mul(a, b)) for b in r] for a in r]
    return [[mul(0.5, add(x, line[i][j]) if i < 3 and j < 3 else x) for j, x in enumerate(row)] for i, row in enumerate(whole)]


def B2(body: Body) -> Matrix:
    """Eq. 16: what the line leaves of the inertia about the mass centre; a part below round-off of the inertia is none."""
    line = line_part(body)
    trace = add(add(line[0][0], line[1][1]), line[2][2])
    across = [vsub([trace if i == j else 0.0 for j in range(3)], row) for i, row in enumerate(line)]
    rest = [vsub(own, row) for own, row in zip(body.inertia, across, strict=True)]
    least = ROUND_OFF * max((abs(x) for row in body.inertia for x in row if type(x) is float), default=0.0)
    return [[0.0 if type(x) is float and abs(x) <= least else x for x in row] for row in rest]


def line_part(body: Body) -> Matrix:
    """Second moments (3x3) about the mass centre of the largest thin rod in the body: s u uᵀ, u its direction, s = uᵀ(tr I/2 - I)u."""
    u = body.line
    half = mul(0.5, add(add(body.inertia[0][0], body.inertia[1][1]), body.inertia[2][2]))
    s = vsub([mul(half, dot(u, u))], [dot(u, matvec(body.inertia, u))])[0]
    return [scale(mul(s, x), u) for x in u]


def first_moment(body: Body) -> Vector:
    """c_i of Eq. 20: mass times [c;1]."""
    return [body.mass * x for x in [*body.com, 1.0]]


def rotational_bias(inertia: Matrix, omega: Vector, omega_dot_v: Vector) -> Vector:
    """t_i = B2 w'_v + w x B2 w (Eq. 41, appendix step 4), where the second term is the one that the paper's Gibbs function leaves out."""
    return vadd(matvec(inertia, omega_dot_v), gyroscopic(inertia, omega))


def gyroscopic(inertia: Matrix, omega: Vector) -> Vector:
    """w x B2 w."""
    return cross(omega, matvec(inertia, omega))


def transform_derivatives(links: list[Body], step: list[Matrix]) -> list[list[Matrix]]:
    """dT_j/dq_j = T^_j-1 U1_j = T_j K (Eq. 33), for each column of each joint."""
    D = []
    T = identity(4)
    for link, EA in zip(links, step, strict=True):
        T = matmul(T, EA)
        D.append([matmul(T, generator(column.kind, column.axis)) for column in link.columns])
    return D


def _rotation(T: Matrix) -> Matrix:
    return [row[:3] for row in T[:3]]
