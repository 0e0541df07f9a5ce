"""How the Jacobian of a point of a body changes: with each coordinate, and along a motion. Rigid links, over any scalar, in world axes.

Column k of J is a screw: the velocity l_k of the point and the angular velocity w_k. Moving a joint j turns everything behind it,

    dJ_k/dq_j = (w_j x l_k, w_j x w_k)    where j carries k, or belongs to the same joint
    dJ_k/dq_j = (w_k x l_j, 0)            where k carries j: only the point moves

and summed with v_j: J'_k = (w_i x l_k + w_k x s_i, w_i x w_k), with w_i the angular velocity of the body behind k's joint and s_i the
velocity that the joints behind it give the point.
"""

from __future__ import annotations

from urdf_gibbs.dynamics.kinematics import PointColumn, point_columns
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Model
from urdf_gibbs.dynamics.scalar import add


def jacobian_derivatives(model: Model, q: Scalars, body: int, point: Scalars) -> list[Matrix]:
    """(6, nv, nv): entry [r][k][j] is the change of J[r][k] along velocity j. The point is given in the body's axes, from its origin."""
    changes = [Matrix.zeros(model.nv, model.nv) for _ in range(6)]
    joints = point_columns(model, q, body, point)[::-1]  # from the root
    for first, carrier in enumerate(joints):
        for later, carried in enumerate(joints[first:]):
            for one in carrier:
                for other in carried:
                    turned = one.angular.cross(other.linear)
                    _add(changes, other.iv, one.iv, [*turned, *one.angular.cross(other.angular)])
                    if later:
                        _add(changes, one.iv, other.iv, [*turned, 0.0, 0.0, 0.0])
    return changes


def jacobian_rate(model: Model, q: Scalars, v: Scalars, body: int, point: Scalars) -> Matrix:
    """J' (6, nv) of a motion with velocities v."""
    rate = Matrix.zeros(6, model.nv)
    joints = point_columns(model, q, body, point)[::-1]
    behind = [Vector.zeros(3)]  # the velocity that the joints behind give the point, from the last joint
    for columns in reversed(joints):
        behind.append(behind[-1] + _mixed(columns, v, "linear"))
    omega = Vector.zeros(3)
    for columns, own in zip(joints, behind[-2::-1], strict=True):
        omega += _mixed(columns, v, "angular")
        for column in columns:
            linear = omega.cross(column.linear) + column.angular.cross(own)
            for row, entry in zip(rate, [*linear, *omega.cross(column.angular)], strict=True):
                row[column.iv] = add(row[column.iv], entry)
    return rate


def _mixed(columns: list[PointColumn], v: Scalars, part: str) -> Vector:
    total = Vector.zeros(3)
    for column in columns:
        total += v[column.iv] * (column.linear if part == "linear" else column.angular)
    return total


def _add(changes: list[Matrix], k: int, j: int, entries: list[Scalar]) -> None:
    for matrix, entry in zip(changes, entries, strict=True):
        matrix[k][j] = add(matrix[k][j], entry)
