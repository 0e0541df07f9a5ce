"""Derivatives of the inverse dynamics by one recursion in local frames (docs/pages/formulations/derivatives.md).

tau_i depends on joint j where one of them carries the other:
- j carries i: the points of subtree i get d_a + beta x r + 2 d_omega x r' (motion.py). Axis i = (s, l) weighs them with s x r + l, which
  leaves d_a . F + beta . N + d_omega . Q with F = sum m (s x r + l), N = sum m r x (s x r + l), Q = 2 sum m r' x (s x r + l).
- i carries j: the wrench (n, f) of subtree j changes by that of these accelerations and, where j is displaced, by being displaced itself,
  (s x n + l x f, s x f).
F, N, Q and the changes of the wrench walk from joint to joint towards the root: 21 numbers, whatever the size of the subtree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from urdf_gibbs.derivatives.motion import Carried, Change, carried_bodies
from urdf_gibbs.derivatives.subtree import (
    Subtree,
    alone,
    by_inertia,
    by_rates,
    lifted,
    relative_to_frame,
    together,
    turned_subtree,
)
from urdf_gibbs.dynamics.local import Axis, LocalModel
from urdf_gibbs.dynamics.local_inertia import polar
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, is_zero, mul


class Derivatives(NamedTuple):
    """Of tau = M a + h (nv), each nv x nv: by the configuration (in tangent space), by v, by a; and tau itself."""

    q: Matrix
    v: Matrix
    a: Matrix
    tau: Vector


@dataclass(slots=True)
class Walker:
    """One axis on its way to the root: its weights N, F, Q, and the wrenches that its displacement and its velocity change."""

    axis: Axis
    N: Vector
    F: Vector
    Q: Vector
    by_q: tuple[Vector, Vector]
    by_v: tuple[Vector, Vector]


def inverse_dynamics_derivatives(model: LocalModel, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> Derivatives:
    """The derivatives of tau (nv) at a state, over any scalar. Mimic joints: the entries of all pairs of bodies are added."""
    nv = model.nv
    result = Derivatives(Matrix.zeros(nv, nv), Matrix.zeros(nv, nv), Matrix.zeros(nv, nv), Vector.zeros(nv))
    bodies = carried_bodies(model, q, v, a, gravity)
    doubled = doubled_velocities(bodies)
    for i, walkers in starting_walkers(result, bodies):
        for walker in walkers:
            _walk(result, bodies, doubled, i, walker)
    return result


def doubled_velocities(bodies: list[Carried]) -> list[Vector]:
    """Of each body's origin relative to its parent's, times 2, in the parent's axes: d + omega x p."""
    return [2.0 * (carried.up(carried.d) + _parent_omega(bodies, carried).cross(carried.p)) for carried in bodies]


def starting_walkers(result: Derivatives, bodies: list[Carried]) -> Iterator[tuple[int, list[Walker]]]:
    """Leaf to root, the walkers of each body's axes at its own joint; tau and the entries between these axes go to ``result``."""
    subtrees = [alone(carried) for carried in bodies]
    for i in range(len(bodies) - 1, -1, -1):
        carried, subtree = bodies[i], subtrees[i]
        several = carried.body.kind in ("floating", "planar")
        k, about = -1, 0.0
        if carried.body.kind == "revolute":  # the moment of inertia about the axis does not turn; a leaf's is a constant
            k = carried.body.k
            about = polar((carried.body.J if carried.body.leaf else subtree.J).Sigma, k)
        if carried.inner is not None:
            subtree = turned_subtree(carried.inner, subtree)
        if not several:  # an axis that is fixed in D: there its velocity has the simplest effect
            subtree = relative_to_frame(carried, subtree)
        for axis in carried.body.axes:
            result.tau[axis.iv] = add(result.tau[axis.iv], mul(axis.ratio, add(axis.angular @ subtree.n, axis.linear @ subtree.f)))
        yield i, [_start(result, carried, c, subtree, k, about) for c in range(len(carried.body.axes))]
        if carried.body.parent >= 0:
            if several:
                subtree = relative_to_frame(carried, subtree)
            subtrees[carried.body.parent] = together(subtrees[carried.body.parent], lifted(carried, subtree))


def _parent_omega(bodies: list[Carried], carried: Carried) -> Vector:
    return Vector.zeros(3) if carried.body.parent < 0 else bodies[carried.body.parent].motion.omega


def _start(result: Derivatives, carried: Carried, c: int, subtree: Subtree, k: int, about: Scalar) -> Walker:
    """The weights and wrenches of axis c at its own joint, with the entries between the axes of the joint."""
    axis = carried.body.axes[c]
    s, line = axis.angular, axis.linear
    J, P = subtree.J, subtree.P
    revolute = carried.body.kind == "revolute"
    omega = carried.frame.omega if carried.body.kind in ("revolute", "prismatic") else carried.frame.omega + carried.w
    twice = 2.0 * omega
    G = subtree.g + twice.cross(J.h)  # 2 sum m r'
    N = by_inertia(J.Sigma, s, k, about) + J.h.cross(line)
    F = J.m * line + s.cross(J.h)
    turning = J.Sigma @ twice.cross(s)
    Q = by_rates(P, s) + turning + G.cross(line)
    by_q = _wrench(
        subtree, G, carried.by_q[c], k, about, omega.cross(turning) if revolute else twice.cross(J.Sigma @ carried.by_q[c].omega)
    )
    by_q = (by_q[0] + s.cross(subtree.n) + line.cross(subtree.f), by_q[1] + s.cross(subtree.f))
    if revolute:  # beta x r + 2 s x r' = 2 omega x (s x r) + 2 s x rho
        A = Matrix([s.cross(Vector(row)) for row in J.Sigma])  # sum m r (s x r)ᵀ
        by_v = (by_rates(A.T, twice) + by_rates(P.T, s), twice.cross(F) + s.cross(subtree.g))
    else:
        by_v = _wrench(subtree, G, carried.by_v[c], k, about, twice.cross(J.Sigma @ s))
    walker = Walker(axis, N, F, Q, by_q, by_v)
    own = _add_row(result, walker, carried)
    if revolute:  # the axis' own entries are the moments about it
        by_q[0][k], by_v[0][k] = mul(s[k], own[0]), mul(s[k], own[1])
    return walker


def _wrench(subtree: Subtree, G: Vector, change: Change, k: int, about: Scalar, turning: Vector) -> tuple[Vector, Vector]:
    """(n, f) of d_a + beta x r + 2 d_omega x r' over the subtree; ``turning``: 2 omega x (Sigma d_omega), omega of the rates' frame."""
    J = subtree.J
    n = J.h.cross(change.a) + by_inertia(J.Sigma, change.beta, k, about) + (by_rates(subtree.P.T, change.omega) - turning)
    f = J.m * change.a + change.beta.cross(J.h) + change.omega.cross(G)
    return n, f


def _walk(result: Derivatives, bodies: list[Carried], doubled: list[Vector], i: int, walker: Walker) -> None:
    """To the root, with the entries between the walker's axis and all that carry it."""
    while (parent := bodies[i].body.parent) >= 0:
        cross_joint(walker, bodies[i], doubled[i], bodies[parent])
        _add_row(result, walker, bodies[parent])
        for other in bodies[parent].body.axes:
            by_q, by_v, by_a = column_entries(walker, other)
            _add(result.q, other, walker.axis, by_q)
            _add(result.v, other, walker.axis, by_v)
            _add(result.a, other, walker.axis, by_a)
        i = parent


def cross_joint(walker: Walker, carried: Carried, double: Vector, above: Carried) -> None:
    """From D of a body to D of the one above it; ``double``: twice the velocity of the body's origin relative to the other's."""
    F = carried.up(walker.F)
    walker.N, walker.F, walker.Q = carried.up(walker.N) + carried.p.cross(F), F, carried.up(walker.Q) + double.cross(F)
    walker.by_q, walker.by_v = _wrench_above(carried, walker.by_q), _wrench_above(carried, walker.by_v)
    if above.inner is not None:
        walker.N, walker.F, walker.Q = above.to_frame(walker.N), above.to_frame(walker.F), above.to_frame(walker.Q)
        walker.by_q = above.to_frame(walker.by_q[0]), above.to_frame(walker.by_q[1])
        walker.by_v = above.to_frame(walker.by_v[0]), above.to_frame(walker.by_v[1])


def column_entries(walker: Walker, other: Axis) -> tuple[Scalar, Scalar, Scalar]:
    """The entries (by q, by v, by a) of the row of an axis above in the column of the walker's."""
    s, line = other.angular, other.linear
    return (
        add(s @ walker.by_q[0], line @ walker.by_q[1]),
        add(s @ walker.by_v[0], line @ walker.by_v[1]),
        add(s @ walker.N, line @ walker.F),
    )


def row_entries(walker: Walker, dq: Change, dv: Change) -> tuple[Scalar, Scalar]:
    """The entries (by q, by v) of the row of the walker's axis in the column of one at or above it; that by a is symmetric."""
    N, F, Q = walker.N, walker.F, walker.Q
    return add(add(N @ dq.beta, F @ dq.a), Q @ dq.omega), add(add(N @ dv.beta, F @ dv.a), Q @ dv.omega)


def _wrench_above(carried: Carried, wrench: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
    n, f = carried.up(wrench[0]), carried.up(wrench[1])
    return n + carried.p.cross(f), f


def _add_row(result: Derivatives, walker: Walker, carried: Carried) -> tuple[Scalar, Scalar]:
    """Entries of the row of the walker's axis in the columns of a joint at or above it; returns the last one's (by q, by v)."""
    entries: tuple[Scalar, Scalar] = (0.0, 0.0)
    for axis, dq, dv in zip(carried.body.axes, carried.by_q, carried.by_v, strict=True):
        entries = row_entries(walker, dq, dv)
        _add(result.q, walker.axis, axis, entries[0])
        _add(result.v, walker.axis, axis, entries[1])
        _add(result.a, walker.axis, axis, add(axis.angular @ walker.N, axis.linear @ walker.F))
    return entries


def _add(A: Matrix, row: Axis, column: Axis, value: Scalar) -> None:
    if not is_zero(value):
        A[row.iv][column.iv] = add(A[row.iv][column.iv], mul(row.ratio * column.ratio, value))
