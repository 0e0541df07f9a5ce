"""Positions, velocities, Jacobians, centre of mass and momentum, over any scalar, in world axes (S18, Eqs. 3, 19, 43)."""

from __future__ import annotations

from urdf_gibbs.dynamics.model import Model, column_sum, joint_motion
from urdf_gibbs.dynamics.scalar import Matrix, Scalar, Vector, add, cross, dot, identity, matmul, matvec, mul, scale, transposed, vadd, vsub

Placement = tuple[Matrix, Vector]


def placements(model: Model, q: Vector) -> list[Placement]:
    """(R, p) of each body's frame in the world: T_i = T_parent E_i A_i."""
    result: list[Placement] = []
    for body in model.bodies:
        R, p = (identity(3), [0.0, 0.0, 0.0]) if body.parent < 0 else result[body.parent]
        R_joint, p_joint = joint_motion(body, q)
        E = [row[:3] for row in body.E[:3]]
        offset = [row[3] for row in body.E[:3]]
        result.append((matmul(R, matmul(E, R_joint)), vadd(p, matvec(R, vadd(offset, matvec(E, p_joint))))))
    return result


def jacobian(model: Model, q: Vector, body: int, point: Vector) -> Matrix:
    """6 x nv, linear first: velocity of the point (given in the body's axes, from its origin) and angular velocity, in world axes."""
    J: Matrix = [[0.0] * model.nv for _ in range(6)]
    if body < 0:
        return J
    pose = placements(model, q)
    R, p = pose[body]
    target = vadd(p, matvec(R, point))
    i = body
    while i >= 0:
        R, p = pose[i]
        for column in model.bodies[i].columns:
            axis = scale(column.ratio, matvec(R, column.axis))
            entries = [*cross(axis, vsub(target, p)), *axis] if column.kind == "R" else [*axis, 0.0, 0.0, 0.0]
            for row, entry in enumerate(entries):
                J[row][column.iv] = add(J[row][column.iv], entry)
        i = model.bodies[i].parent
    return J


def first_moment(model: Model, q: Vector) -> tuple[Scalar, Vector]:
    """(mass, mass times centre of mass) of all moving bodies."""
    mass: Scalar = 0.0
    moment: Vector = [0.0, 0.0, 0.0]
    for body, (R, p) in zip(model.bodies, placements(model, q), strict=True):
        mass = add(mass, body.mass)
        moment = vadd(moment, scale(body.mass, vadd(p, matvec(R, body.com))))
    return mass, moment


def momentum(model: Model, q: Vector, v: Vector, about: Vector) -> Vector:
    """Linear momentum, and angular momentum about a point of the world (6)."""
    pose = placements(model, q)
    omega: list[Vector] = []
    velocity: list[Vector] = []  # of the body origins
    linear: Vector = [0.0, 0.0, 0.0]
    angular: Vector = [0.0, 0.0, 0.0]
    for body, (R, p) in zip(model.bodies, pose, strict=True):
        w, d = matvec(R, column_sum(body, v, "R")), matvec(R, column_sum(body, v, "P"))
        if body.parent >= 0:
            w_p = omega[body.parent]
            d = vadd(d, vadd(velocity[body.parent], cross(w_p, vsub(p, pose[body.parent][1]))))
            w = vadd(w, w_p)
        omega.append(w)
        velocity.append(d)
        lever = matvec(R, body.com)
        impulse = scale(body.mass, vadd(d, cross(w, lever)))
        spin = matvec(R, matvec(body.inertia, matvec(transposed(R), w)))
        linear = vadd(linear, impulse)
        angular = vadd(angular, vadd(spin, cross(vsub(vadd(p, lever), about), impulse)))
    return [*linear, *angular]


def potential_energy(moment: Vector, gravity: Vector) -> Scalar:
    """Eq. 19: - g . (m c)."""
    return mul(-1.0, dot(gravity, moment))
