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
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Body, Column, Model, add_column, add_element, column_sum, path
from urdf_gibbs.dynamics.scalar import add
from urdf_gibbs.robot.branches import Branch


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv): the branches' matrices added."""
    M = Matrix.zeros(model.nv, model.nv)
    placed = place(model, q)
    for branch in model.branches:
        _add_branch_inertia(M, [placed[i] for i in branch.bodies], branch)
    return M


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv): Coriolis, centrifugal and gravity forces, the branches' added."""
    h = Vector.zeros(model.nv)
    placed = place(model, q)
    for branch in model.branches:
        _add_branch_bias(h, [placed[i] for i in branch.bodies], branch, v, gravity)
    return h


def point_jacobian(model: Model, q: Scalars, body: int, point: Scalars) -> Matrix:
    """S17 Eq. 58 (3 x nv): velocity of a point given in the frame of ``body``, in world axes; refR_j (x_j x r), r from O_j to the point."""
    J = Matrix.zeros(3, model.nv)
    placed = place(model, q)
    links = [placed[i] for i in path(model, body)]
    R = [Matrix.identity(3)]
    for link in links:
        R.append(R[-1] @ link.R)
    r = Vector(point)
    for j in range(len(links) - 1, -1, -1):
        for column in links[j].body.columns:
            add_column(J, column, R[j + 1] @ (column.axis.cross(r) if column.kind == "R" else column.axis))
        r = links[j].r + links[j].R @ r
    return J


# the inertia matrix -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Carried:
    """B0, B3 and B9 + B10 of links k..n about O_k, in link k's axes."""

    B0: Scalar
    B3: Matrix
    B9: Matrix


def _own(body: Body) -> Carried:
    c = body.com
    B3: Matrix = body.mass * c.tilde
    return Carried(body.mass, B3, body.inertia + B3 @ c.tilde.T)


def _to_parent(carried: Carried, link: Placed) -> Carried:
    """The same about the parent's origin: turned by R, then shifted by r."""
    R, r = link.R, link.r.tilde
    B3 = R @ carried.B3 @ R.T
    B9 = R @ carried.B9 @ R.T
    heavy: Matrix = carried.B0 * r
    crossed = r @ B3.T  # and its transpose B3 r~ᵀ
    return Carried(carried.B0, B3 + heavy, B9 + (crossed + crossed.T + heavy @ r.T))


def _add_branch_inertia(M: Matrix, links: list[Placed], branch: Branch) -> None:
    carried = Carried(0.0, Matrix.zeros(3, 3), Matrix.zeros(3, 3))
    for k in range(len(links) - 1, -1, -1):
        if k + 1 < len(links):
            carried = _to_parent(carried, links[k + 1])
        if not branch.virtual[k]:
            own = _own(links[k].body)
            carried = Carried(add(carried.B0, own.B0), carried.B3 + own.B3, carried.B9 + own.B9)
        columns = links[k].body.columns
        turning = [column for column in columns if column.kind == "R"]
        sliding = [column for column in columns if column.kind == "P"]
        if turning:  # force xi, moment sigma
            _add_columns(M, links, k, turning, carried.B3.T, carried.B9)
        if sliding:  # force lambda, moment gamma
            _add_columns(M, links, k, sliding, carried.B0 * Matrix.identity(3), carried.B3)


def _add_columns(M: Matrix, links: list[Placed], k: int, columns: list[Column], force: Matrix, moment: Matrix) -> None:
    """Inwards from link k: force = R force, moment = R moment + r~ force, and the elements with the columns of every link j on the way."""
    for j in range(k, -1, -1):
        if j < k:
            R, r = links[j + 1].R, links[j + 1].r
            force = R @ force
            moment = R @ moment + r.tilde @ force
        for column_k in columns:
            f = n = None
            for column_j in links[j].body.columns:
                if j == k and column_j.iv > column_k.iv:  # the mirror image of another one
                    continue
                if column_j.kind == "R":
                    n = moment @ column_k.axis if n is None else n
                    value = column_j.axis @ n
                else:
                    f = force @ column_k.axis if f is None else f
                    value = column_j.axis @ f
                add_element(M, column_j, column_k, value)


# the right-hand side ------------------------------------------------------------------------------------


def _add_branch_bias(h: Vector, links: list[Placed], branch: Branch, v: Scalars, gravity: Scalars) -> None:
    """Outwards w, w'_v and r''_v (Eqs. 44, 46; gravity as an acceleration of the ground), inwards S and T (Eq. 52)."""
    w = w_dot = Vector.zeros(3)
    r_ddot = -1.0 * Vector(gravity)
    S: list[Vector] = []
    T: list[Vector] = []
    for link, virtual in zip(links, branch.virtual, strict=True):
        R_T, r = link.R.T, link.r
        r_ddot = R_T @ (r_ddot + (w_dot.cross(r) + w.cross(w.cross(r))))
        carried = R_T @ w
        spin, slide = column_sum(link.body, v, "R"), column_sum(link.body, v, "P")
        # 2 w x r' of the parent's rotation; spin x slide is the turning of the axes that a joint of several quasi-velocities moves along
        r_ddot += (2.0 * carried + spin).cross(slide)
        w_dot = R_T @ w_dot + carried.cross(spin)
        w = carried + spin
        force, moment = (Vector.zeros(3), Vector.zeros(3)) if virtual else _loads(link.body, w, w_dot, r_ddot)
        S.append(force)
        T.append(moment)
    for j in range(len(links) - 1, -1, -1):
        if j + 1 < len(links):
            R, r = links[j + 1].R, links[j + 1].r
            force = R @ S[j + 1]
            S[j] += force
            T[j] += R @ T[j + 1] + r.cross(force)
        for column in links[j].body.columns:
            h[column.iv] += column.ratio * (column.axis @ (T[j] if column.kind == "R" else S[j]))


def _loads(body: Body, w: Vector, w_dot: Vector, r_ddot: Vector) -> tuple[Vector, Vector]:
    """S = B0 r'' - B3 w' - w~ B3 w and T = B3 r'' + (B9 + B10) w' + w~ (B9 + B10) w (Eqs. 53, 54)."""
    own = _own(body)
    B0, B3, B9 = own.B0, own.B3, own.B9
    S = B0 * r_ddot + -1.0 * (B3 @ w_dot + w.cross(B3 @ w))
    T = B3 @ r_ddot + (B9 @ w_dot + w.cross(B9 @ w))
    return S, T
