"""Bodies in local frames, as the production formulation sees them: rotations, axes, moments, and where each body is at q.

W_i is the frame at joint i's origin before its motion, in the axes behind the fixed rotation. J = (m, h, Sigma) are mass,
first and second moments about the body's origin (Sigma: 3x3, so that the inertia is tr(Sigma) 1 - Sigma).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import quaternion_matrix
from urdf_gibbs.dynamics.scalar import add, cos, is_zero, mul, sin, sub

# Rotations ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plane:
    """Rotation about coordinate axis k by the angle of cosine c and sine s."""

    k: int
    c: Scalar
    s: Scalar


@dataclass(frozen=True, slots=True)
class Full:
    """Any rotation, as a matrix."""

    R: Matrix


Rotation = Plane | Full


def turned(r: Rotation, x: Vector) -> Vector:
    """R x."""
    if isinstance(r, Full):
        return r.R @ x
    u, w = (r.k + 1) % 3, (r.k + 2) % 3
    y = Vector(x)
    y[u], y[w] = sub(mul(r.c, x[u]), mul(r.s, x[w])), add(mul(r.s, x[u]), mul(r.c, x[w]))
    return y


def turned_back(r: Rotation, x: Vector) -> Vector:
    """Rᵀ x."""
    if isinstance(r, Full):
        return r.R.T @ x
    return turned(Plane(r.k, r.c, mul(-1.0, r.s)), x)


def turned_symmetric(r: Rotation, S: Matrix) -> Matrix:
    """R S Rᵀ for a symmetric S; a plane rotation takes four products for the plane and four for the rest."""
    if isinstance(r, Full):
        RS = r.R @ S
        return symmetric(lambda i, j: _dot3(RS[i], r.R[j]))
    k, u, w = r.k, (r.k + 1) % 3, (r.k + 2) % 3
    t = add(mul(r.s, sub(S[u][u], S[w][w])), mul(add(r.c, r.c), S[u][w]))
    st = mul(r.s, t)
    side = turned(Plane(2, r.c, r.s), Vector([S[u][k], S[w][k], 0.0]))
    T = Matrix.zeros(3, 3)
    T[k][k] = S[k][k]
    T[u][u], T[w][w] = sub(S[u][u], st), add(S[w][w], st)
    T[u][w] = T[w][u] = sub(mul(r.c, t), S[u][w])
    T[u][k] = T[k][u] = side[0]
    T[w][k] = T[k][w] = side[1]
    return T


def turned_general(r: Rotation, H: Matrix) -> Matrix:
    """R H Rᵀ for any H: the symmetric part of the plane block turns as above, its antisymmetric part not at all."""
    if isinstance(r, Full):
        return r.R @ H @ r.R.T
    k, u, w = r.k, (r.k + 1) % 3, (r.k + 2) % 3
    t = add(mul(r.s, sub(H[u][u], H[w][w])), mul(r.c, add(H[u][w], H[w][u])))
    st, ct = mul(r.s, t), mul(r.c, t)
    column = turned(Plane(2, r.c, r.s), Vector([H[u][k], H[w][k], 0.0]))
    row = turned(Plane(2, r.c, r.s), Vector([H[k][u], H[k][w], 0.0]))
    T = Matrix.zeros(3, 3)
    T[k][k] = H[k][k]
    T[u][u], T[w][w] = sub(H[u][u], st), add(H[w][w], st)
    T[u][w], T[w][u] = sub(ct, H[w][u]), sub(ct, H[u][w])
    T[u][k], T[w][k] = column[0], column[1]
    T[k][u], T[k][w] = row[0], row[1]
    return T


def symmetric(entry: Callable[[int, int], Scalar]) -> Matrix:
    """The 3x3 matrix of entry(i, j), each pair computed once."""
    T = Matrix.zeros(3, 3)
    for i in range(3):
        for j in range(i, 3):
            T[i][j] = T[j][i] = entry(i, j)
    return T


def _dot3(a: Scalars, b: Scalars) -> Scalar:
    return add(add(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2]))


# Bodies ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Moments:
    """J: mass, first moments h (3) and second moments Sigma (3x3 symmetric) about the body's origin, in its axes."""

    m: Scalar
    h: Vector
    Sigma: Matrix


@dataclass(frozen=True, slots=True)
class Axis:
    """One velocity of a joint: spatial axis (angular, linear), constants in body axes; adds ratio * v[iv]."""

    angular: Vector
    linear: Vector
    iv: int
    ratio: float

    @property
    def turns(self) -> bool:
        return not all(is_zero(x) for x in self.angular)

    @property
    def angular_index(self) -> int:
        """k where the axis turns about +e_k or -e_k, else -1."""
        return _unit_index(self.angular)

    @property
    def linear_index(self) -> int:
        """k where the axis slides along +e_k or -e_k, else -1."""
        return _unit_index(self.linear)


def _unit_index(x: Vector) -> int:
    entries = [i for i in range(3) if x[i] != 0.0]
    return entries[0] if len(entries) == 1 and abs(x[entries[0]]) == 1.0 else -1


@dataclass(frozen=True, slots=True)
class Body:
    """A body in its local frame. ``fixed``: rotations between W and the parent's axes, outermost first; ``offset``: p at q = 0."""

    kind: str
    parent: int
    k: int
    fixed: list[Rotation]
    offset: Vector
    b: Vector
    axes: list[Axis]
    iq: int
    ratio: float
    shift: float
    J: Moments
    leaf: bool


@dataclass(frozen=True, slots=True)
class LocalModel:
    nq: int
    nv: int
    bodies: list[Body]

    @property
    def common_axis(self) -> int:
        """k where all revolute axes are parallel to e_k and nothing else turns (a planar robot), else -1."""
        simple = all(body.kind in ("revolute", "prismatic") and not body.fixed for body in self.bodies)
        axes = {body.k for body in self.bodies if body.kind == "revolute"}
        return axes.pop() if simple and len(axes) == 1 else -1


@dataclass(frozen=True, slots=True)
class Placed:
    """A body at a configuration: the joint's rotation still to be applied (None: already in J), fixed rotations, p, and J."""

    body: Body
    joint: Rotation | None
    p: Vector
    J: Moments

    def up(self, x: Vector) -> Vector:
        """From body axes to the parent's."""
        if self.joint is not None:
            x = turned(self.joint, x)
        for r in reversed(self.body.fixed):
            x = turned(r, x)
        return x

    def down(self, x: Vector) -> Vector:
        """From the parent's axes to the body's."""
        for r in self.body.fixed:
            x = turned_back(r, x)
        return x if self.joint is None else turned_back(self.joint, x)


def place(model: LocalModel, q: Scalars) -> list[Placed]:
    """All bodies at q. A leaf turns its constants into W once, instead of every motion and force through its joint."""
    return [_placed(body, q) for body in model.bodies]


def _placed(body: Body, q: Scalars) -> Placed:
    if body.kind == "floating":
        x, y, z, w = q[body.iq + 3 : body.iq + 7]
        p = body.offset + _through(body.fixed, Vector(q[body.iq : body.iq + 3]))
        return Placed(body, Full(quaternion_matrix(x, y, z, w)), p, body.J)
    if body.kind == "planar":
        x, y, angle = q[body.iq : body.iq + 3]
        p = body.offset + _through(body.fixed, Vector([x, y, 0.0]))
        return Placed(body, Plane(2, cos(angle), sin(angle)), p, body.J)
    position = add(q[body.iq] if body.ratio == 1.0 else mul(body.ratio, q[body.iq]), body.shift)
    if body.kind == "prismatic":
        return Placed(body, None, body.offset + position * body.b, body.J)
    joint = Plane(body.k, cos(position), sin(position))
    return Placed(body, None, body.offset, turned_moments(joint, body.J)) if body.leaf else Placed(body, joint, body.offset, body.J)


def place_symbolic(kind: str, F: Matrix, offset: Vector, b: Vector, position: Scalar, q: Scalars) -> tuple[Matrix, Vector]:
    """(R, p) of a joint with the fixed rotation F as one full rotation; ``position`` of a one-DOF joint, else its entries q."""
    if kind == "prismatic":
        return F, offset + position * b
    if kind == "floating":
        return F @ quaternion_matrix(*q[3:7]), offset + F @ Vector(q[:3])
    planar = kind == "planar"
    angle = q[2] if planar else position
    joint = Plane(2 if planar else int(kind[-1]), cos(angle), sin(angle))
    R = Matrix([turned(joint, Vector(unit)) for unit in Matrix.identity(3)]).T
    return F @ R, offset + F @ Vector([q[0], q[1], 0.0]) if planar else offset


def turned_moments(r: Rotation, J: Moments) -> Moments:
    return Moments(J.m, turned(r, J.h), turned_symmetric(r, J.Sigma))


def _through(rotations: list[Rotation], x: Vector) -> Vector:
    for r in reversed(rotations):
        x = turned(r, x)
    return x
