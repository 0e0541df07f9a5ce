"""Recursive Gibbs-Appell with 3x3 rotation matrices alone (Mata et al., ref. [39] of S18, Table 1), branch by branch with virtual links.

Everything stands in the axes of its own link; a leading index j means seen from link j. The notation is that of S17 without elastic
coordinates: B0 = m, B3 = m c~, B9 + B10 = I about the link's origin, S and T the force and the moment about it (Eqs. 53, 54).
For a unit acceleration of joint k, links k..n need at link j, by an axis x_k in link k's axes,

  a rotation     force jxi_k x_k (terms 44, 45),  moment about O_j jsigma_k x_k (terms 1-3)
  a translation  force jlambda_k x_k (term 50),   moment about O_j jgamma_k x_k (terms 11, 12)

and the element of M is x_jᵀ times the moment for a rotation j, times the force for a translation. Beyond the original: joints of all
types, also of several quasi-velocities (axes fixed in the link that they move).
"""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics.gibbs_appell_flexible import Placed, place
from urdf_gibbs.dynamics.model import Body, Column, Model, add_column, add_element, column_sum, path
from urdf_gibbs.dynamics.scalar import (
    Matrix,
    Scalar,
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
    transposed,
    vadd,
    zeros,
)
from urdf_gibbs.robot.branches import Branch


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """M (nv x nv): the branches' matrices added."""
    M = zeros(model.nv, model.nv)
    placed = place(model, q)
    for branch in model.branches:
        _add_branch_inertia(M, [placed[i] for i in branch.bodies], branch)
    return M


def bias(model: Model, q: Vector, v: Vector, gravity: Vector) -> Vector:
    """h (nv): Coriolis, centrifugal and gravity forces, the branches' added."""
    h: Vector = [0.0] * model.nv
    placed = place(model, q)
    for branch in model.branches:
        _add_branch_bias(h, [placed[i] for i in branch.bodies], branch, v, gravity)
    return h


def point_jacobian(model: Model, q: Vector, body: int, point: Vector) -> Matrix:
    """S17 Eq. 58 (3 x nv): velocity of a point given in the frame of ``body``, in world axes; refR_j (x_j x r), r from O_j to the point."""
    J = zeros(3, model.nv)
    placed = place(model, q)
    links = [placed[i] for i in path(model, body)]
    R = [identity(3)]
    for link in links:
        R.append(matmul(R[-1], link.R))
    r = list(point)
    for j in range(len(links) - 1, -1, -1):
        for column in links[j].body.columns:
            add_column(J, column, matvec(R[j + 1], cross(column.axis, r) if column.kind == "R" else column.axis))
        r = vadd(links[j].r, links[j].up(r))
    return J


# the inertia matrix -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Carried:
    """B0, B3 and B9 + B10 of links k..n about O_k, in link k's axes."""

    B0: Scalar
    B3: Matrix
    B9: Matrix


def _own(body: Body) -> Carried:
    c = skew(body.com)
    B3 = mscale(body.mass, c)
    return Carried(body.mass, B3, madd(body.inertia, matmul_transposed(B3, c)))


def _to_parent(carried: Carried, link: Placed) -> Carried:
    """The same about the parent's origin: turned by R, then shifted by r."""
    r = skew(link.r)
    B3 = matmul_transposed(matmul(link.R, carried.B3), link.R)
    B9 = matmul_transposed(matmul(link.R, carried.B9), link.R)
    heavy = mscale(carried.B0, r)
    crossed = matmul_transposed(r, B3)  # r~ B3ᵀ, and its transpose B3 r~ᵀ
    B9 = madd(B9, madd(madd(crossed, transposed(crossed)), matmul_transposed(heavy, r)))
    return Carried(carried.B0, madd(B3, heavy), B9)


def _add_branch_inertia(M: Matrix, links: list[Placed], branch: Branch) -> None:
    carried = Carried(0.0, zeros(3, 3), zeros(3, 3))
    for k in range(len(links) - 1, -1, -1):
        if k + 1 < len(links):
            carried = _to_parent(carried, links[k + 1])
        if not branch.virtual[k]:
            own = _own(links[k].body)
            carried = Carried(add(carried.B0, own.B0), madd(carried.B3, own.B3), madd(carried.B9, own.B9))
        columns = links[k].body.columns
        turning = [column for column in columns if column.kind == "R"]
        sliding = [column for column in columns if column.kind == "P"]
        if turning:  # force xi, moment sigma
            _add_columns(M, links, k, turning, transposed(carried.B3), carried.B9)
        if sliding:  # force lambda, moment gamma
            _add_columns(M, links, k, sliding, mscale(carried.B0, identity(3)), carried.B3)


def _add_columns(M: Matrix, links: list[Placed], k: int, columns: list[Column], force: Matrix, moment: Matrix) -> None:
    """Inwards from link k: force = R force, moment = R moment + r~ force, and the elements with the columns of every link j on the way."""
    for j in range(k, -1, -1):
        if j < k:
            force = matmul(links[j + 1].R, force)
            moment = madd(matmul(links[j + 1].R, moment), matmul(skew(links[j + 1].r), force))
        for column_k in columns:
            f = n = None
            for column_j in links[j].body.columns:
                if j == k and column_j.iv > column_k.iv:  # the mirror image of another one
                    continue
                if column_j.kind == "R":
                    n = matvec(moment, column_k.axis) if n is None else n
                    value = dot(column_j.axis, n)
                else:
                    f = matvec(force, column_k.axis) if f is None else f
                    value = dot(column_j.axis, f)
                add_element(M, column_j, column_k, value)


# the right-hand side ------------------------------------------------------------------------------------


def _add_branch_bias(h: Vector, links: list[Placed], branch: Branch, v: Vector, gravity: Vector) -> None:
    """Outwards w, w'_v and r''_v (Eqs. 44, 46; gravity as an acceleration of the ground), inwards S and T (Eq. 52)."""
    w: Vector = [0.0, 0.0, 0.0]
    w_dot: Vector = [0.0, 0.0, 0.0]
    r_ddot = scale(-1.0, gravity)
    S: list[Vector] = []
    T: list[Vector] = []
    for link, virtual in zip(links, branch.virtual, strict=True):
        r_ddot = link.down(vadd(r_ddot, vadd(cross(w_dot, link.r), cross(w, cross(w, link.r)))))
        carried = link.down(w)
        spin, slide = column_sum(link.body, v, "R"), column_sum(link.body, v, "P")
        # 2 w x r' of the parent's rotation; spin x slide is the turning of the axes that a joint of several quasi-velocities moves along
        r_ddot = vadd(r_ddot, cross(vadd(scale(2.0, carried), spin), slide))
        w_dot = vadd(link.down(w_dot), cross(carried, spin))
        w = vadd(carried, spin)
        force, moment = ([0.0] * 3, [0.0] * 3) if virtual else _loads(link.body, w, w_dot, r_ddot)
        S.append(force)
        T.append(moment)
    for j in range(len(links) - 1, -1, -1):
        if j + 1 < len(links):
            force = links[j + 1].up(S[j + 1])
            S[j] = vadd(S[j], force)
            T[j] = vadd(T[j], vadd(links[j + 1].up(T[j + 1]), cross(links[j + 1].r, force)))
        for column in links[j].body.columns:
            value = dot(column.axis, T[j] if column.kind == "R" else S[j])
            h[column.iv] = add(h[column.iv], mul(column.ratio, value))


def _loads(body: Body, w: Vector, w_dot: Vector, r_ddot: Vector) -> tuple[Vector, Vector]:
    """S = B0 r'' - B3 w' - w~ B3 w and T = B3 r'' + (B9 + B10) w' + w~ (B9 + B10) w (Eqs. 53, 54)."""
    own = _own(body)
    B3_w_dot, B3_w = matvec(own.B3, w_dot), matvec(own.B3, w)
    S = vadd(scale(own.B0, r_ddot), scale(-1.0, vadd(B3_w_dot, cross(w, B3_w))))
    T = vadd(matvec(own.B3, r_ddot), vadd(matvec(own.B9, w_dot), cross(w, matvec(own.B9, w))))
    return S, T
