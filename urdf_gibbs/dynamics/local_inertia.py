"""The mass matrix by the tree-wise Gibbs-Appell recursion in local frames, projected (docs/pages/formulations/production.md, step 1).

Leaf to root, each body passes J = (m, h, Sigma) of its subtree to its parent; the wrench (n, f) that a unit acceleration of a
joint needs is computed from J once and passed up the tree: six numbers, never a 4x4 matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from urdf_gibbs.dynamics.local import Axis, LocalModel, Moments, Placed, place, symmetric, turned_moments
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, mul

Wrench = tuple[Vector, Vector]
Wanted = Collection[tuple[int, int]] | None  # entries (row, column <= row) of M; None: all


def mass_matrix(model: LocalModel, q: Scalars, wanted: Wanted = None) -> Matrix:
    """M (nv x nv), full and symmetric; zeros beside the entries ``wanted``."""
    M = Matrix.zeros(model.nv, model.nv)
    bodies = place(model, q)
    J = [placed.J for placed in bodies]
    common = model.common_axis
    about = [polar(body.J.Sigma, max(common, 0)) for body in model.bodies]  # moments of the subtrees about the common axis
    for i in range(len(bodies) - 1, -1, -1):
        placed = bodies[i]
        in_W, behind = turned_into_joint_frame(placed, J[i])
        for c, axis in enumerate(placed.body.axes):
            wrench = axis_wrench(axis, in_W)
            if placed.body.kind == "revolute":  # the moment of inertia about the axis does not turn; a leaf's is a constant
                k = placed.body.k
                S = placed.body.J.Sigma if placed.body.leaf else J[i].Sigma
                wrench[0][k] = mul(axis.angular[k], about[i] if common >= 0 else polar(S, k))
            _add_column(M, bodies, i, c, wrench, behind, wanted)
        if placed.body.parent >= 0:
            if common >= 0:  # in the plane one moment does: the second moments themselves need never be turned
                about[placed.body.parent] = add(about[placed.body.parent], add(about[i], _shift(in_W, placed.p, common)))
            J[placed.body.parent] = sum_of_moments(J[placed.body.parent], moments_at_parent(behind, in_W))
    return M


def polar(S: Matrix, k: int) -> Scalar:
    """Moment of inertia about coordinate axis k."""
    return add(S[(k + 1) % 3][(k + 1) % 3], S[(k + 2) % 3][(k + 2) % 3])


def _shift(J: Moments, p: Vector, k: int) -> Scalar:
    """What a shift by p adds to the moment about k: 2 p . g in the plane, g = h + m p / 2."""
    total: Scalar = 0.0
    for i in ((k + 1) % 3, (k + 2) % 3):
        total = add(total, mul(add(p[i], p[i]), add(J.h[i], mul(mul(0.5, J.m), p[i]))))
    return total


def turned_into_joint_frame(placed: Placed, J: Moments) -> tuple[Moments, Placed]:
    """A revolute body's J rotated into W, which has the same joint axis, and the body with that rotation applied; others unchanged."""
    if placed.joint is None or placed.body.kind != "revolute":
        return J, placed
    return turned_moments(placed.joint, J), Placed(placed.body, None, placed.p, J)


def axis_wrench(axis: Axis, J: Moments) -> Wrench:
    """(n, f) about the body's origin that a unit acceleration along ``axis`` needs: n = I a + h x d, f = m d + a x h."""
    a, d = axis.angular, axis.linear
    S = J.Sigma
    if axis.turns:
        trace = add(add(S[0][0], S[1][1]), S[2][2])
        k = axis.angular_index
        if k >= 0:  # a coordinate axis: (tr Sigma - Sigma_kk) leaves two entries
            u, w = (k + 1) % 3, (k + 2) % 3
            n = Vector.zeros(3)
            n[u], n[w], n[k] = mul(-a[k], S[u][k]), mul(-a[k], S[w][k]), mul(a[k], polar(S, k))
        else:
            n = trace * a - S @ a
        return n + J.h.cross(d), J.m * d + a.cross(J.h)
    return J.h.cross(d), J.m * d


def wrench_at_parent(placed: Placed, wrench: Wrench) -> Wrench:
    """(n, f) at the body's origin as the parent's origin and axes see it: n + p x f."""
    n, f = placed.up(wrench[0]), placed.up(wrench[1])
    return n + placed.p.cross(f), f


def _add_column(M: Matrix, bodies: list[Placed], i: int, c: int, wrench: Wrench, behind: Placed, wanted: Wanted) -> None:
    """Entries of M between axis c of body i and the axes at or above it; the wrench is passed up no further than the last axis wanted."""
    axis = bodies[i].body.axes[c]
    for other in _wanted_axes(axis, bodies[i].body.axes[: c + 1], wanted):
        _add_entry(M, other, axis, wrench, diagonal=other is axis)
    above = []
    while (i := bodies[i].body.parent) >= 0:
        above.append(_wanted_axes(axis, bodies[i].body.axes, wanted))
    while above and not above[-1]:
        above.pop()
    placed = behind
    for axes in above:
        wrench = wrench_at_parent(placed, wrench)
        placed = bodies[placed.body.parent]
        for other in axes:
            _add_entry(M, other, axis, wrench, diagonal=False)


def _wanted_axes(axis: Axis, others: Sequence[Axis], wanted: Wanted) -> Sequence[Axis]:
    """The axes whose entry with ``axis`` is wanted."""
    if wanted is None:
        return others
    return [other for other in others if (max(axis.iv, other.iv), min(axis.iv, other.iv)) in wanted]


def _add_entry(M: Matrix, row: Axis, column: Axis, wrench: Wrench, diagonal: bool) -> None:
    n, f = wrench
    value = mul(row.ratio * column.ratio, add(row.angular @ n, row.linear @ f))
    M[row.iv][column.iv] = add(M[row.iv][column.iv], value)
    if not diagonal:
        M[column.iv][row.iv] = add(M[column.iv][row.iv], value) if row.iv == column.iv else M[row.iv][column.iv]


def moments_at_parent(placed: Placed, J: Moments) -> Moments:
    """J in the parent's axes about the parent's origin: Sigma + p gᵀ + g pᵀ with g = h + m p / 2."""
    h, S = J.h, J.Sigma
    rotations = list(reversed(placed.body.fixed))
    if placed.joint is not None:
        rotations.insert(0, placed.joint)
    if rotations:
        for r in rotations:
            turned_J = turned_moments(r, Moments(J.m, h, S))
            h, S = turned_J.h, turned_J.Sigma
    p = placed.p
    g: Vector = h + mul(0.5, J.m) * p

    def moved(i: int, j: int) -> Scalar:
        if i == j:
            return add(S[i][i], mul(add(p[i], p[i]), g[i]))
        return add(S[i][j], add(mul(p[i], g[j]), mul(p[j], g[i])))

    Sigma = symmetric(moved)
    return Moments(J.m, h + J.m * p, Sigma)


def sum_of_moments(one: Moments, other: Moments) -> Moments:
    return Moments(add(one.m, other.m), one.h + other.h, symmetric(lambda i, j: add(one.Sigma[i][j], other.Sigma[i][j])))
