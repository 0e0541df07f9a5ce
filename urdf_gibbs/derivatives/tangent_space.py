"""Tangent space: how coordinates q change along velocities, and the transposed map, over any scalar.

A derivative with respect to q is taken along q (+) delta, as ``Robot.integrate`` moves it: delta (nv) is a twist in body axes for a
floating joint, (x, y, angle) in the moved axes for a planar one, and a plain difference for all others.
"""

from __future__ import annotations

from collections.abc import Iterable

from urdf_gibbs.dynamics.matrices import Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import quaternion_matrix
from urdf_gibbs.dynamics.scalar import cos, sin
from urdf_gibbs.robot.joints import Joint


def coordinate_rates(joints: Iterable[Joint], q: Scalars, delta: Scalars) -> list[Scalar]:
    """dq (nq) along delta (nv): N(q) delta, where q' = N(q) v."""
    rates: list[Scalar] = [0.0] * len(q)
    for joint in joints:
        if joint.is_mimic:
            continue
        i, k = joint.iq, joint.iv
        if joint.type == "floating":
            linear, angular, half = Vector(delta[k : k + 3]), Vector(delta[k + 3 : k + 6]), 0.5 * Vector(q[i + 3 : i + 7])
            vector, w = Vector(half[:3]), half[3]
            turned = w * angular + vector.cross(angular)  # the quaternion times (angular, 0) / 2
            rates[i : i + 7] = [*quaternion_matrix(*q[i + 3 : i + 7]) @ linear, *turned, -1.0 * (vector @ angular)]
        elif joint.type == "planar":
            (x, y), c, s = Vector(delta[k : k + 2]), cos(q[i + 2]), sin(q[i + 2])
            rates[i : i + 3] = [c * x - s * y, s * x + c * y, delta[k + 2]]
        else:
            rates[i : i + joint.nq] = delta[k : k + joint.nv]
    return rates


def pulled_back(joints: Iterable[Joint], nv: int, q: Scalars, slope: Scalars) -> list[Scalar]:
    """N(q)ᵀ slope (nv), where slope (nq) are the partial derivatives of a scalar with respect to the entries of q."""
    result: list[Scalar] = [0.0] * nv
    for joint in joints:
        if joint.is_mimic:
            continue
        i, k = joint.iq, joint.iv
        if joint.type == "floating":
            linear, own, half = Vector(slope[i : i + 3]), Vector(slope[i + 3 : i + 6]), 0.5 * Vector(q[i + 3 : i + 7])
            vector, w = Vector(half[:3]), half[3]
            angular = w * own + own.cross(vector) - slope[i + 6] * vector
            result[k : k + 6] = [*quaternion_matrix(*q[i + 3 : i + 7]).T @ linear, *angular]
        elif joint.type == "planar":
            (x, y), c, s = Vector(slope[i : i + 2]), cos(q[i + 2]), sin(q[i + 2])
            result[k : k + 3] = [c * x + s * y, c * y - s * x, slope[i + 2]]
        else:
            result[k : k + joint.nv] = slope[i : i + joint.nq]
    return result
