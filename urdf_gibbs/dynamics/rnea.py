"""The recursive Newton-Euler algorithm in local frames: a reference for operation counts, not used by the public functions.

In its most economical textbook form (Khalil and Kleinfinger 1987): outwards the motion of each body's origin, with
U = alpha~ + w~w~ for the accelerations a + U p and the forces f = m a + U h; moments by Euler, n = I alpha + w x I w + h x a;
inwards their sums. It reads the same local frames and regrouped constants as the production formulation (local_force.py), so
what differs is the moment alone.
"""

from __future__ import annotations

from urdf_gibbs.dynamics.local import Body, LocalModel, Moments, Placed, place, symmetric
from urdf_gibbs.dynamics.local_force import acceleration_matrix
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, mul

Motion = tuple[Vector, Vector, Vector]  # w, alpha and the acceleration of the origin, in body axes


def bias(model: LocalModel, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv): the forces at zero acceleration."""
    return inverse_dynamics(model, q, v, [0.0] * model.nv, gravity)


def inverse_dynamics(model: LocalModel, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> Vector:
    """tau = M a + h (nv)."""
    bodies = place(model, q)
    world: Motion = (Vector.zeros(3), Vector.zeros(3), -1.0 * Vector(gravity))  # accelerates against gravity: weights are inertial forces
    motions: list[Motion] = []
    n: list[Vector] = []
    f: list[Vector] = []
    for placed in bodies:
        parent = placed.body.parent
        motions.append(_outwards(placed, world if parent < 0 else motions[parent], v, a))
        moment, force = _newton_euler(placed.J, *motions[-1])
        n.append(moment)
        f.append(force)
    tau = Vector.zeros(model.nv)
    for i in range(len(bodies) - 1, -1, -1):
        placed, parent = bodies[i], bodies[i].body.parent
        for axis in placed.body.axes:
            tau[axis.iv] = add(tau[axis.iv], mul(axis.ratio, add(axis.angular @ n[i], axis.linear @ f[i])))
        if parent >= 0:
            force = placed.up(f[i])
            f[parent] += force
            n[parent] += placed.up(n[i]) + placed.p.cross(force)
    return tau


def _outwards(placed: Placed, parent: Motion, v: Scalars, a: Scalars) -> Motion:
    """A body's motion from its parent's: a + U p, and what the joint adds."""
    omega, alpha, origin = parent
    at_joint = origin + acceleration_matrix(omega, alpha) @ placed.p
    omega, alpha, origin = placed.down(omega), placed.down(alpha), placed.down(at_joint)
    w, d = _rates(placed.body, v)
    w_dot, d_dot = _rates(placed.body, a)
    # 2 w_parent x d + w x d: Coriolis, and the turning of the axes that a joint of several degrees of freedom moves along
    origin = origin + (2.0 * omega + w).cross(d) + d_dot
    alpha = alpha + omega.cross(w) + w_dot
    return omega + w, alpha, origin


def _newton_euler(J: Moments, omega: Vector, alpha: Vector, a: Vector) -> tuple[Vector, Vector]:
    """(n, f) about the body's origin."""
    I = rotational_inertia(J.Sigma)  # noqa: E741 - its usual name
    f = J.m * a + acceleration_matrix(omega, alpha) @ J.h
    n = I @ alpha + omega.cross(I @ omega) + J.h.cross(a)
    return n, f


def rotational_inertia(Sigma: Matrix) -> Matrix:
    """I = tr(Sigma) 1 - Sigma, from the second moments about the same origin."""

    def entry(i: int, j: int) -> Scalar:
        if i == j:
            return add(Sigma[(i + 1) % 3][(i + 1) % 3], Sigma[(i + 2) % 3][(i + 2) % 3])
        return mul(-1.0, Sigma[i][j])

    return symmetric(entry)


def _rates(body: Body, values: Scalars) -> tuple[Vector, Vector]:
    """The angular and linear rate that the joint adds, in body axes."""
    angular = linear = Vector.zeros(3)
    for axis in body.axes:
        rate = mul(axis.ratio, values[axis.iv])
        angular += rate * axis.angular
        linear += rate * axis.linear
    return angular, linear
