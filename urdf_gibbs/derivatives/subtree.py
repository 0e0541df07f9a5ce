"""What a subtree is to the derivatives: moments J = (m, h, Sigma), their rates, and the forces it needs.

Rates are taken relative to a frame, for which the velocities of the points are rho: g = 2 sum m rho and P = 2 sum m r rhoᵀ. The factor 2 is
that of the Coriolis acceleration. Relative to a body's own frame its own points rest, so that g and P come from the bodies behind it alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.derivatives.motion import Carried
from urdf_gibbs.dynamics.local import Moments, Rotation, symmetric, turned, turned_general, turned_moments
from urdf_gibbs.dynamics.local_force import load
from urdf_gibbs.dynamics.local_inertia import polar, sum_of_moments
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Vector
from urdf_gibbs.dynamics.scalar import add, is_zero, mul, sub


@dataclass(frozen=True, slots=True)
class Subtree:
    """About the origin of its first body: moments, doubled rates g (3) and P (3x3), moment n and force f that it needs to move."""

    J: Moments
    g: Vector
    P: Matrix
    n: Vector
    f: Vector


def alone(carried: Carried) -> Subtree:
    """A body without those behind it, in its axes, rates relative to itself."""
    n, f = load(carried.J, carried.motion)
    return Subtree(carried.J, Vector.zeros(3), Matrix.zeros(3, 3), n, f)


def together(one: Subtree, other: Subtree) -> Subtree:
    return Subtree(sum_of_moments(one.J, other.J), one.g + other.g, one.P + other.P, one.n + other.n, one.f + other.f)


def turned_subtree(r: Rotation, x: Subtree) -> Subtree:
    return Subtree(turned_moments(r, x.J), turned(r, x.g), turned_general(r, x.P), turned(r, x.n), turned(r, x.f))


def relative_to_frame(carried: Carried, x: Subtree) -> Subtree:
    """The rates relative to the turning frame D instead of the body: rho + w x r. That the origin moves is left to ``lifted``."""
    if all(is_zero(y) for y in carried.w):
        return x
    w = 2.0 * carried.w
    P = x.P + Matrix([w.cross(Vector(row)) for row in x.J.Sigma])  # sum m r (w x r)ᵀ
    return Subtree(x.J, x.g + w.cross(x.J.h), P, x.n, x.f)


def lifted(carried: Carried, x: Subtree) -> Subtree:
    """From D to the parent's axes and origin: r + p, rho + d."""
    for r in carried.outer:
        x = turned_subtree(r, x)
    p, d = carried.p, 2.0 * carried.up(carried.d)
    m, h, S = x.J.m, x.J.h, x.J.Sigma
    half: Vector = h + mul(0.5, m) * p

    def moved(i: int, j: int) -> Scalar:
        if i == j:
            return add(S[i][i], mul(add(p[i], p[i]), half[i]))
        return add(S[i][j], add(mul(p[i], half[j]), mul(p[j], half[i])))

    first: Vector = h + m * p
    P = x.P + (first.outer(d) + p.outer(x.g))
    return Subtree(Moments(m, first, symmetric(moved)), x.g + m * d, P, x.n + p.cross(x.f), x.f)


def by_inertia(S: Matrix, x: Vector, k: int, about: Scalar) -> Vector:
    """(tr Sigma 1 - Sigma) x; ``about`` is the moment of inertia about axis k (k < 0: about none it is known)."""
    result = Vector()
    for i in range(3):
        y, z = (i + 1) % 3, (i + 2) % 3
        own = mul(about if i == k else polar(S, i), x[i])
        result.append(sub(own, add(mul(S[i][y], x[y]), mul(S[i][z], x[z]))))
    return result


def by_rates(P: Matrix, x: Vector) -> Vector:
    """(tr P 1 - P) x."""
    result = Vector()
    for i in range(3):
        y, z = (i + 1) % 3, (i + 2) % 3
        own = mul(add(P[y][y], P[z][z]), x[i])
        result.append(sub(own, add(mul(P[i][y], x[y]), mul(P[i][z], x[z]))))
    return result
