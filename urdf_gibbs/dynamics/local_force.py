"""Inverse dynamics and bias by the acceleration matrix U = alpha~ + w~w~ in local frames (docs/pages/formulations/production.md, step 2).

U is built once for each body and serves three times: the acceleration of a child's origin is a + U p, the force is
f = U h + m a, the moment n = vee(U Sigma - Sigma Uᵀ) + h x a. It is the block of T⁻¹T'' of S18, and the reason why
Gibbs-Appell needs fewer products than Newton and Euler's I alpha + w x I w.
"""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics.local import Axis, Body, LocalModel, Moments, Placed, place
from urdf_gibbs.dynamics.matrices import Matrix, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, mul, sub


@dataclass(frozen=True, slots=True)
class Motion:
    """Of a body, in its axes: angular velocity, angular acceleration, acceleration of the origin, and U."""

    omega: Vector
    alpha: Vector
    a: Vector
    U: Matrix


REST = Vector.zeros(3)


def bias(model: LocalModel, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv): the forces at zero acceleration."""
    return inverse_dynamics(model, q, v, [0.0] * model.nv, gravity)


def inverse_dynamics(model: LocalModel, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> Vector:
    """tau = M a + h (nv), outwards with the motions and inwards with the forces."""
    bodies = place(model, q)
    motions: list[Motion] = []
    for placed in bodies:
        parent = placed.body.parent
        motions.append(child_motion(placed, ground(gravity) if parent < 0 else motions[parent], v, a))
    n: list[Vector] = []
    f: list[Vector] = []
    for placed, motion in zip(bodies, motions, strict=True):
        moment, force = load(placed.J, motion)
        n.append(moment)
        f.append(force)
    tau = Vector.zeros(model.nv)
    for i in range(len(bodies) - 1, -1, -1):
        placed = bodies[i]
        for axis in placed.body.axes:
            tau[axis.iv] = add(tau[axis.iv], mul(axis.ratio, add(axis.angular @ n[i], axis.linear @ f[i])))
        parent = placed.body.parent
        if parent >= 0:
            force = placed.up(f[i])
            f[parent] += force
            n[parent] += placed.up(n[i]) + placed.p.cross(force)
    return tau


def ground(gravity: Scalars) -> Motion:
    """The world accelerates against gravity, so that weights are inertial forces."""
    return Motion(REST, REST, -1.0 * Vector(gravity), Matrix.zeros(3, 3))


def child_motion(placed: Placed, parent: Motion, v: Scalars, a: Scalars) -> Motion:
    """The motion of a body from its parent's and its joint's rates."""
    omega, alpha = placed.down(parent.omega), placed.down(parent.alpha)
    origin = placed.down(parent.a + parent.U @ placed.p)
    w, w_dot = joint_rate(placed.body, v, "angular"), joint_rate(placed.body, a, "angular")
    d, d_dot = joint_rate(placed.body, v, "linear"), joint_rate(placed.body, a, "linear")
    # 2 w_parent x d + w x d: Coriolis, and the turning of the axes that a joint of several degrees of freedom moves along
    coriolis = (2.0 * omega + w).cross(d)
    alpha = alpha + omega.cross(w) + w_dot
    origin = origin + coriolis + d_dot
    omega = omega + w
    if placed.body.kind == "prismatic" and not placed.body.fixed:
        return Motion(omega, alpha, origin, parent.U)
    return Motion(omega, alpha, origin, acceleration_matrix(omega, alpha))


def acceleration_matrix(omega: Vector, alpha: Vector) -> Matrix:
    """U = alpha~ + w~ w~ = alpha~ + w wᵀ - (w . w) 1."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = mul(x, x), mul(y, y), mul(z, z), mul(x, y), mul(x, z), mul(y, z)
    return Matrix(
        [
            [mul(-1.0, add(yy, zz)), sub(xy, alpha[2]), add(xz, alpha[1])],
            [add(xy, alpha[2]), mul(-1.0, add(xx, zz)), sub(yz, alpha[0])],
            [sub(xz, alpha[1]), add(yz, alpha[0]), mul(-1.0, add(xx, yy))],
        ]
    )


def load(J: Moments, motion: Motion) -> tuple[Vector, Vector]:
    """(n, f) about the body's origin: what its own mass needs to move so."""
    U, S = motion.U, J.Sigma
    f = U @ J.h + J.m * motion.a
    n = Vector()
    for i in range(3):
        y, z = (i + 1) % 3, (i + 2) % 3
        # (U Sigma)_zy - (U Sigma)_yz, with the symmetry of Sigma used
        value = sub(mul(U[z][i], S[i][y]), mul(U[y][i], S[i][z]))
        value = add(value, sub(mul(U[z][y], S[y][y]), mul(U[y][z], S[z][z])))
        w_y, w_z = motion.omega[y], motion.omega[z]  # U_zz - U_yy = w_z^2 - w_y^2
        n.append(add(value, mul(sub(mul(w_z, w_z), mul(w_y, w_y)), S[y][z])))
    return n + J.h.cross(motion.a), f


def joint_rate(body: Body, values: Scalars, part: str) -> Vector:
    """What a joint adds to the "angular" or "linear" velocity, in body axes, at the rates ``values`` (nv)."""
    total = Vector.zeros(3)
    for axis in body.axes:
        direction = _part(axis, part)
        if any(x != 0.0 for x in direction):
            total += mul(axis.ratio, values[axis.iv]) * direction
    return total


def _part(axis: Axis, part: str) -> Vector:
    return axis.angular if part == "angular" else axis.linear
