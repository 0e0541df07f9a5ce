"""The generalised momentum method: the inertia matrix by Jacobians written out (the first method in Table 1 of WJ, its ref. [31]).

For body l, J_p (3 x nv) gives the velocity of its mass centre and J_o (3 x nv) its angular velocity, in the inertial frame:

  M = sum over l of m_l J_pᵀ J_p + J_oᵀ I_l J_o

WJ gives no bias for it; that which the same Jacobians and their rates J' make is

  h = sum over l of m_l J_pᵀ (J_p' v - g) + J_oᵀ (I_l J_o' v + w_l x I_l w_l),  w_l = J_o v

Nothing is recursive but the poses (explicit.py). Axes are fixed in the body that a joint moves, n' = w x n, so that joints of several
quasi-velocities need nothing of their own.
"""

from __future__ import annotations

from urdf_gibbs.dynamics.explicit import Pose, linear_jacobian, poses
from urdf_gibbs.dynamics.explicit import point_jacobian as point_jacobian  # J_p of any point of a body
from urdf_gibbs.dynamics.matrices import Matrix, Scalars, Vector
from urdf_gibbs.dynamics.model import Model, add_column, path
from urdf_gibbs.dynamics.scalar import add, mul


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv), full and symmetric: steps 1-5 of Table 1, for the lower triangle."""
    M = Matrix.zeros(model.nv, model.nv)
    pose = poses(model, q)
    for i, body in enumerate(model.bodies):
        J_p, J_o = _jacobians(model, pose, i)  # step 1
        moving = sorted({column.iv for u in path(model, i) for column in model.bodies[u].columns})
        p, o = ({k: J.column(k) for k in moving} for J in (J_p, J_o))
        for k in moving:
            I_o = pose[i].I @ o[k]
            for u in moving:
                if u < k:
                    continue
                translation = mul(body.mass, p[u] @ p[k])  # step 2
                rotation = o[u] @ I_o  # step 3
                M[u][k] = M[k][u] = add(M[u][k], add(translation, rotation))  # steps 4 and 5
    return M


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv): Coriolis, centrifugal and gravity forces."""
    pose = poses(model, q)
    rate = Vector(v)
    jacobians = [_jacobians(model, pose, i) for i in range(len(model.bodies))]
    omega = [J_o @ rate for _, J_o in jacobians]
    speed = [J_p @ rate for J_p, _ in jacobians]  # of the mass centres
    h = Vector.zeros(model.nv)
    for i, body in enumerate(model.bodies):
        J_p, J_o = jacobians[i]
        J_p_dot, J_o_dot = _jacobian_rates(model, pose, i, omega, speed)
        force = body.mass * (J_p_dot @ rate - gravity)
        torque = pose[i].I @ (J_o_dot @ rate) + gyroscopic(pose[i].I, omega[i])
        h += J_p.T @ force + J_o.T @ torque
    return h


def gyroscopic(I: Matrix, omega: Vector) -> Vector:  # noqa: E741 - the paper's name
    """w x I w: what the rate of I_l in the inertial frame adds."""
    return omega.cross(I @ omega)


def _jacobians(model: Model, pose: list[Pose], i: int) -> tuple[Matrix, Matrix]:
    """J_p and J_o (3 x nv) of body i: n_u x r_ul and n_u for a revolute joint u, n_u and 0 for a prismatic one."""
    J_o = Matrix.zeros(3, model.nv)
    for u in path(model, i):
        for n, column in zip(pose[u].n, model.bodies[u].columns, strict=True):
            if column.kind == "R":
                add_column(J_o, column, n)
    return linear_jacobian(model, pose, i, pose[i].centre), J_o


def _jacobian_rates(model: Model, pose: list[Pose], i: int, omega: list[Vector], speed: list[Vector]) -> tuple[Matrix, Matrix]:
    """J_p' and J_o' (3 x nv): n' x r + n x r' and n' for a revolute joint, n' and 0 for a prismatic one."""
    J_p, J_o = Matrix.zeros(3, model.nv), Matrix.zeros(3, model.nv)
    for u in path(model, i):
        r = pose[i].centre - pose[u].origin
        origin_speed = speed[u] - omega[u].cross(pose[u].centre - pose[u].origin)
        r_dot = speed[i] - origin_speed
        for n, column in zip(pose[u].n, model.bodies[u].columns, strict=True):
            n_dot = omega[u].cross(n)
            if column.kind == "R":
                add_column(J_p, column, n_dot.cross(r) + n.cross(r_dot))
                add_column(J_o, column, n_dot)
            else:
                add_column(J_p, column, n_dot)
    return J_p, J_o
