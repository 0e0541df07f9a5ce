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

from urdf_gibbs.dynamics.matrices import Matrix, Scalars, Tr, Vector
from urdf_gibbs.dynamics.model import Body, Model, add_column, add_element, column_sum, joint_motion, path
from urdf_gibbs.dynamics.scalar import mul
from urdf_gibbs.robot.branches import Branch

ROUND_OFF = 1e-15  # of a difference of moments of inertia, relative to the largest


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """The inertia matrix I_f of Eq. 25 (nv x nv): branches are cycled through and added (Sect. 3.1.3)."""
    M = Matrix.zeros(model.nv, model.nv)
    A = [joint_transform(body, q) for body in model.bodies]
    for branch in model.branches:
        _add_branch_inertia(M, model, branch, A)
    return M


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """Minus the right-hand side of Eq. 25 without torques (nv): Coriolis, centrifugal and gravity forces."""
    h = Vector.zeros(model.nv)
    A = [joint_transform(body, q) for body in model.bodies]
    g = Vector([*gravity, 0.0])
    for branch in model.branches:
        _add_branch_bias(h, model, branch, A, v, g)
    return h


def point_jacobian(model: Model, q: Scalars, body: int, point: Scalars) -> Matrix:
    """Eq. 43 (3 x nv): velocity of a point given in the frame of ``body``, in world axes; dT_j/dq_j times the point seen from link j."""
    J = Matrix.zeros(3, model.nv)
    links = [model.bodies[i] for i in path(model, body)]
    EA = [link.E @ joint_transform(link, q) for link in links]
    dT = transform_derivatives(links, EA)
    r = Vector([*point, 1.0])
    for j in range(len(links) - 1, -1, -1):
        for a, column in enumerate(links[j].columns):
            add_column(J, column, (dT[j][a] @ r)[:3])
        r = EA[j] @ r
    return J


# One branch -----------------------------------------------------------------------------------------


def _add_branch_inertia(M: Matrix, model: Model, branch: Branch, A: list[Matrix]) -> None:
    """Eqs. (I), (II) and 36-40, recursive: jF_k = (E_j A_j+1) j+1F_k, and the same for P with rotations."""
    links = [model.bodies[i] for i in branch.bodies]
    n = len(links)
    EA = [link.E @ A[i] for link, i in zip(links, branch.bodies, strict=True)]  # EA[j]: from link j-1 to j
    dT = transform_derivatives(links, EA)
    F = Matrix.zeros(4, 4)  # kF_k and kP_k: what links k..n weigh, seen from link k
    P = Matrix.zeros(3, 3)
    for k in range(n - 1, -1, -1):
        if k + 1 < n:
            R = EA[k + 1].rotation
            F = EA[k + 1] @ F @ EA[k + 1].T
            P = R @ P @ R.T
        if not branch.virtual[k]:
            F += B1(links[k])
            P += B2(links[k])
        jF_k, jP_k = F, P
        for j in range(k, -1, -1):
            if j < k:
                jF_k = EA[j + 1] @ jF_k
                jP_k = EA[j + 1].rotation @ jP_k
            _add_block(M, links, dT, j, k, jF_k, jP_k)


def _add_block(M: Matrix, links: list[Body], dT: list[list[Matrix]], j: int, k: int, jF_k: Matrix, jP_k: Matrix) -> None:
    """2 Tr{dT_j/dq_j jF_k (dT_k/dq_k)ᵀ} + x_jᵀ jP_k x_k for the columns of joints j and k, and its mirror image."""
    for b, column_k in enumerate(links[k].columns):
        FdT = jF_k @ dT[k][b].T
        Px = jP_k @ column_k.axis if column_k.kind == "R" else None
        for a, column_j in enumerate(links[j].columns):
            if j == k and a > b:
                continue
            value = 2.0 * Tr(dT[j][a], FdT)
            if Px is not None and column_j.kind == "R":
                value = value + column_j.axis @ Px
            add_element(M, column_j, column_k, value)


def _add_branch_bias(h: Vector, model: Model, branch: Branch, A: list[Matrix], v: Scalars, g: Vector) -> None:
    """Eqs. 41-42: outwards T''_v (Eq. 30) and w'_v (Eq. 32), then inwards Q_j and t_j, the sums over links j..n (appendix, step 4)."""
    links = [model.bodies[i] for i in branch.bodies]
    n = len(links)
    EA = [link.E @ A[i] for link, i in zip(links, branch.bodies, strict=True)]
    dT = transform_derivatives(links, EA)
    T, T_dot, T_ddot_v = Matrix.identity(4), Matrix.zeros(4, 4), Matrix.zeros(4, 4)
    omega = omega_dot_v = Vector.zeros(3)
    Q = [Matrix.zeros(4, 4) for _ in links]
    t = [Vector.zeros(3) for _ in links]
    for i, link in enumerate(links):
        A_i = A[branch.bodies[i]]
        V = joint_rate(link, v)
        A_dot = A_i @ V
        A_ddot_v = A_dot @ V
        T_hat, T_hat_dot = T @ link.E, T_dot @ link.E
        T_ddot_v = T_ddot_v @ EA[i] + (2.0 * (T_hat_dot @ A_dot) + T_hat @ A_ddot_v)
        T_dot = T_hat_dot @ A_i + T_hat @ A_dot
        T = T_hat @ A_i
        R, rate = EA[i].rotation, column_sum(link, v, "R")
        carried = R.T @ omega
        omega_dot_v = R.T @ omega_dot_v + carried.cross(rate)
        omega = carried + rate
        if not branch.virtual[i]:
            Q[i] = 2.0 * (B1(link) @ T_ddot_v.T) - first_moment(link).outer(g)
            t[i] = rotational_bias(B2(link), omega, omega_dot_v)
    for j in range(n - 1, -1, -1):
        if j + 1 < n:
            Q[j] += EA[j + 1] @ Q[j + 1]
            t[j] += EA[j + 1].rotation @ t[j + 1]
        for a, column in enumerate(links[j].columns):
            value = Tr(dT[j][a], Q[j])
            if column.kind == "R":
                value = value + column.axis @ t[j]
            h[column.iv] += column.ratio * value


# The matrices of the paper --------------------------------------------------------------------------


def joint_transform(body: Body, q: Scalars) -> Matrix:
    """A_i (Eq. 4): the motion of the joint."""
    return Matrix.bordered(*joint_motion(body, q), 1.0)


def generator(kind: str, axis: Vector) -> Matrix:
    """K with U1 = A K: skew(axis) for a rotation, the axis in the last column for a translation."""
    zero = Vector.zeros(3)
    return Matrix.bordered(zero.tilde, axis, 0.0) if kind == "P" else Matrix.bordered(axis.tilde, zero, 0.0)


def joint_rate(body: Body, v: Scalars) -> Matrix:
    """V with A' = A V (Eq. 7): the joint's generators times its velocities."""
    return Matrix.bordered(column_sum(body, v, "R").tilde, column_sum(body, v, "P"), 0.0)


def B1(body: Body) -> Matrix:
    """Eq. 15: half the integral of [r;1][r;1]ᵀ over the line, as if all mass were on it: m [c;1][c;1]ᵀ and the line's second moments."""
    r = Vector([*body.com, 1.0])
    centre: Matrix = body.mass * r.outer(r)
    return 0.5 * (centre + Matrix.bordered(line_part(body), Vector.zeros(3), 0.0))


def B2(body: Body) -> Matrix:
    """Eq. 16: what the line leaves of the inertia about the mass centre; a part below round-off of the inertia is none."""
    line = line_part(body)
    rest = body.inertia - (line.trace() * Matrix.identity(3) - line)
    least = ROUND_OFF * max((abs(x) for row in body.inertia for x in row if type(x) is float), default=0.0)
    return Matrix([[0.0 if type(x) is float and abs(x) <= least else x for x in row] for row in rest])


def line_part(body: Body) -> Matrix:
    """Second moments (3x3) about the mass centre of the largest thin rod in the body: s u uᵀ, u its direction, s = uᵀ(tr I/2 - I)u."""
    u = body.line
    s = mul(mul(0.5, body.inertia.trace()), u @ u) - u @ (body.inertia @ u)
    su: Vector = s * u
    return su.outer(u)


def first_moment(body: Body) -> Vector:
    """c_i of Eq. 20: mass times [c;1]."""
    c: Vector = body.mass * Vector([*body.com, 1.0])
    return c


def rotational_bias(inertia: Matrix, omega: Vector, omega_dot_v: Vector) -> Vector:
    """t_i = B2 w'_v + w x B2 w (Eq. 41, appendix step 4), where the second term is the one that the paper's Gibbs function leaves out."""
    return inertia @ omega_dot_v + gyroscopic(inertia, omega)


def gyroscopic(inertia: Matrix, omega: Vector) -> Vector:
    """w x B2 w."""
    return omega.cross(inertia @ omega)


def transform_derivatives(links: list[Body], EA: list[Matrix]) -> list[list[Matrix]]:
    """dT_j/dq_j = T^_j-1 U1_j = T_j K (Eq. 33), for each column of each joint."""
    dT = []
    T = Matrix.identity(4)
    for link, EA_j in zip(links, EA, strict=True):
        T = T @ EA_j
        dT.append([T @ generator(column.kind, column.axis) for column in link.columns])
    return dT
