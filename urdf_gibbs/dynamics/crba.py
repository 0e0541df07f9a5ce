"""The composite-rigid-body algorithm in local frames: a reference for operation counts, not used by the public functions.

Leaf to root (Featherstone 2008, Sect. 6.2), a body's composite inertia is its own and its children's, each rotated and
translated as (m, h, I) with I the 3x3 inertia about the origin; the force that a unit acceleration of a joint needs is read from
it and is passed up the tree. Forward dynamics: with RNEA's bias and the sparse factorisation M = Lᵀ D L (ibid., Sect. 6.5).

It has the economies of the production formulation (local_inertia.py) that do not depend on it: local frames, regrouped
constants, and columns read after the joint's rotation, which does not move its axis. What differs is I in place of Sigma.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from urdf_gibbs.dynamics import rnea
from urdf_gibbs.dynamics.local import Axis, LocalModel, Placed, place, symmetric, turned, turned_symmetric
from urdf_gibbs.dynamics.local_forward import solved
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, mul, sub


@dataclass(frozen=True, slots=True)
class Composite:
    """Spatial inertia of a subtree about a body's origin, in its axes: mass, first moments, inertia."""

    m: Scalar
    h: Vector
    I: Matrix  # noqa: E741 - its usual name


def mass_matrix(model: LocalModel, q: Scalars) -> Matrix:
    """M (nv x nv), full and symmetric."""
    M = Matrix.zeros(model.nv, model.nv)
    bodies = _placed(model, q)
    composites = [Composite(placed.J.m, placed.J.h, rnea.rotational_inertia(placed.J.Sigma)) for placed in bodies]
    for i in range(len(bodies) - 1, -1, -1):
        body, behind = bodies[i].body, bodies[i]
        if body.kind == "revolute":
            composites[i], behind = _turned(composites[i], bodies[i])
        for c, axis in enumerate(body.axes):
            n, f = _force(composites[i], axis)
            for other in body.axes[: c + 1]:
                _enter(M, other, axis, n, f, diagonal=other is axis)
            placed = behind
            while placed.body.parent >= 0:
                f = placed.up(f)
                n = placed.up(n) + placed.p.cross(f)
                placed = bodies[placed.body.parent]
                for other in placed.body.axes:
                    _enter(M, other, axis, n, f, diagonal=False)
        if body.parent >= 0:
            composites[body.parent] = _joined(composites[body.parent], _moved(behind, composites[i]))
    return M


def _placed(model: LocalModel, q: Scalars) -> list[Placed]:
    """All bodies at q. No leaf is turned in advance: as I, a constant about the axis stays one when the composite is turned."""
    return place(replace(model, bodies=[replace(body, leaf=False) for body in model.bodies]), q)


def _turned(body: Composite, placed: Placed) -> tuple[Composite, Placed]:
    """The composite behind the joint's rotation, and the body with that rotation done."""
    assert placed.joint is not None  # a revolute joint has one
    turned_body = Composite(body.m, turned(placed.joint, body.h), turned_symmetric(placed.joint, body.I))
    return turned_body, replace(placed, joint=None)


def _force(body: Composite, axis: Axis) -> tuple[Vector, Vector]:
    """(n, f) about the body's origin for a unit acceleration along ``axis``: n = I a + h x d, f = m d + a x h."""
    a, d = axis.angular, axis.linear
    return body.I @ a + body.h.cross(d), body.m * d + a.cross(body.h)


def _enter(M: Matrix, row: Axis, column: Axis, n: Vector, f: Vector, diagonal: bool) -> None:
    value = mul(row.ratio * column.ratio, add(row.angular @ n, row.linear @ f))
    M[row.iv][column.iv] = add(M[row.iv][column.iv], value)
    if not diagonal:  # a mimic joint and its master share a velocity: their entry counts twice
        M[column.iv][row.iv] = add(M[column.iv][row.iv], value) if row.iv == column.iv else M[row.iv][column.iv]


def _moved(placed: Placed, body: Composite) -> Composite:
    """The inertia in the parent's axes about the parent's origin: I + 2 (p . g) 1 - p gᵀ - g pᵀ with g = h + m p / 2."""
    h, I = body.h, body.I  # noqa: E741
    for r in ([] if placed.joint is None else [placed.joint]) + list(reversed(placed.body.fixed)):
        h, I = turned(r, h), turned_symmetric(r, I)  # noqa: E741
    p = placed.p
    g: Vector = h + mul(0.5, body.m) * p
    double = [mul(add(p[i], p[i]), g[i]) for i in range(3)]

    def entry(i: int, j: int) -> Scalar:
        if i == j:
            return add(I[i][i], add(double[(i + 1) % 3], double[(i + 2) % 3]))
        return sub(I[i][j], add(mul(p[i], g[j]), mul(p[j], g[i])))

    return Composite(body.m, h + body.m * p, symmetric(entry))


def _joined(one: Composite, other: Composite) -> Composite:
    return Composite(add(one.m, other.m), one.h + other.h, symmetric(lambda i, j: add(one.I[i][j], other.I[i][j])))


# Forward dynamics -----------------------------------------------------------------------------------


def forward_dynamics(model: LocalModel, q: Scalars, v: Scalars, tau: Scalars, gravity: Scalars) -> list[Scalar]:
    """q'' (nv) by CRBA, RNEA and LᵀDL."""
    return solved(mass_matrix(model, q), Vector(tau) - rnea.bias(model, q, v, gravity))[0]
