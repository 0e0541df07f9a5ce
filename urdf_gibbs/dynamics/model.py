"""The constants that every formulation reads, as plain floats, and the motion of a joint, over any scalar."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, cos, mul, sin
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.robot.branches import Branches
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Column:
    """One velocity of a joint: "R" rotation about or "P" translation along ``axis`` (unit, body frame).

    "E": a coordinate of an elastic joint, whose twist depends on where it is (dynamics/elastic.py).
    It adds ``ratio`` times entry ``iv`` of v (a ratio other than 1 only for mimic joints).
    """

    kind: str
    axis: Vector
    iv: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Body:
    """A moving body and its joint. E (4x4) places the joint in the parent body; mass, com and inertia (about the com) in body axes.

    ``line``: unit vector along the principal axis with the largest second moment of mass about the com, the axis of a bar; zero where
    none is positive.
    """

    type: str
    parent: int
    E: Matrix
    axis: Vector
    columns: list[Column]
    iq: int
    ratio: float
    offset: float
    mass: Scalar
    com: Vector
    inertia: Matrix
    line: Vector
    beam: Beam | None = None  # between the parent body and this one, its tip


@dataclass(frozen=True, slots=True)
class Model:
    """A robot as the formulations see it; bodies are in depth-first order."""

    nq: int
    nv: int
    bodies: list[Body]
    branches: Branches
    subtree: list[range]  # the bodies that joint i carries, itself first


MODELS: Shelf[tuple[()], Model] = Shelf()


def model_of(robot: Robot) -> Model:
    """The robot's constants, made once."""
    return MODELS.get(robot, (), lambda: _build(robot))


def with_model(robot: Robot, model: Model) -> Robot:
    """The same robot with other constants, such as symbols in place of numbers."""
    copy = replace(robot)
    MODELS.of(copy)[()] = model
    return copy


def _build(robot: Robot) -> Model:
    bodies = []
    arrays = (robot.placement, robot.mass, robot.centre_of_mass, robot.inertia, _lines(robot.inertia))
    for joint, parent, E, mass, com, inertia, line in zip(robot.joints, robot.parent, *(array.tolist() for array in arrays), strict=True):
        columns = [Column(kind, Vector(axis), joint.iv + k, joint.ratio) for k, (kind, axis) in enumerate(joint.columns)]
        motion = (Vector(joint.axis), columns, joint.iq, joint.ratio, joint.offset)
        bodies.append(Body(joint.type, parent, Matrix(E), *motion, mass, Vector(com), Matrix(inertia), Vector(line), joint.beam))
    end = list(range(1, len(bodies) + 1))
    for i in range(len(bodies) - 1, -1, -1):
        if bodies[i].parent >= 0:
            end[bodies[i].parent] = max(end[bodies[i].parent], end[i])
    subtree = [range(i, last) for i, last in enumerate(end)]
    return Model(robot.nq, robot.nv, bodies, robot.branches, subtree)


def _lines(inertia: NDArray[np.float64]) -> NDArray[np.float64]:
    """``Body.line`` of each inertia, (n, 3) of (n, 3, 3)."""
    second = 0.5 * np.trace(inertia, axis1=1, axis2=2)[:, None, None] * np.eye(3) - inertia
    values, axes = np.linalg.eigh(second)
    return np.where(values[:, 2:] > 0.0, axes[:, :, 2], 0.0)


def joint_motion(body: Body, q: Scalars) -> tuple[Matrix, Vector]:
    """(R, p): rotation and translation of the body's frame against the joint's, at the positions q of the robot."""
    if body.type == "floating":
        return quaternion_matrix(*q[body.iq + 3 : body.iq + 7]), Vector(q[body.iq : body.iq + 3])
    if body.type == "planar":
        x, y, angle = q[body.iq : body.iq + 3]
        ex, ey = body.columns[0].axis, body.columns[1].axis
        return _axis_rotation(body.axis, angle), x * ex + y * ey
    position = q[body.iq] if body.ratio == 1.0 else body.ratio * q[body.iq]
    position = add(position, body.offset)
    if body.type == "prismatic":
        return Matrix([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), position * body.axis
    return _axis_rotation(body.axis, position), Vector.zeros(3)


def column_sum(body: Body, v: Scalars, kind: str) -> Vector:
    """The rotational ("R") or translational ("P") velocity that the joint adds, in the body's axes."""
    total = Vector.zeros(3)
    for column in body.columns:
        if column.kind == kind:
            rate = v[column.iv] if column.ratio == 1.0 else column.ratio * v[column.iv]
            total += rate * column.axis
    return total


def path(model: Model, body: int) -> list[int]:
    """The bodies from the root to ``body``, itself last; none for -1, the world."""
    bodies: list[int] = []
    while body >= 0:
        bodies.append(body)
        body = model.bodies[body].parent
    return bodies[::-1]


def add_element(M: list[list[Scalar]], one: Column, other: Column, value: Scalar) -> None:
    """Add to M what two columns have in common, and its mirror image, which a mimic joint and its master have in the same place."""
    value = mul(one.ratio * other.ratio, value)
    M[one.iv][other.iv] = add(M[one.iv][other.iv], value)  # not +=, which would change an array that is also the mirror image
    if one is not other:
        M[other.iv][one.iv] = add(M[other.iv][one.iv], value)


def add_column(J: list[list[Scalar]], column: Column, entries: Scalars) -> None:
    """Add a column's part to the column of J that its velocity has."""
    for row, entry in zip(J, entries, strict=True):
        row[column.iv] = add(row[column.iv], mul(column.ratio, entry))


def _axis_rotation(axis: Vector, angle: Scalar) -> Matrix:
    """R = a aᵀ + cos (1 - a aᵀ) + sin ã, so that zeros and ones of an aligned axis come out as constants."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis
    a_skew = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    R: Matrix = Matrix()
    for i in range(3):
        row: list[Scalar] = []
        for j in range(3):
            outer = axis[i] * axis[j]
            rest = (1.0 if i == j else 0.0) - outer
            row.append(add(add(outer, mul(c, rest)), mul(s, a_skew[i][j])))
        R.append(row)
    return R


def quaternion_matrix(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Matrix:
    """Rotation of a unit quaternion, in nine products."""
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz, wx, wy, wz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2, w * x2, w * y2, w * z2
    return Matrix(
        [
            [1.0 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1.0 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1.0 - (xx + yy)],
        ]
    )
