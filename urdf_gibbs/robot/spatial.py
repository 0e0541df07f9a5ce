"""Rotations, poses and rigid-body inertias on plain tuples: what merging fixed joints needs.

A rotation is nine numbers row by row, a pose is (rotation, translation). Plain floats are faster than
small arrays here: a robot has some hundred poses, each used once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from urdf_gibbs.arguments import Vec3 as Vec3

Mat3 = tuple[float, float, float, float, float, float, float, float, float]
Pose = tuple[Mat3, Vec3]

ZERO3: Vec3 = (0.0, 0.0, 0.0)
EYE3: Mat3 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZERO33: Mat3 = (0.0,) * 9
IDENTITY: Pose = (EYE3, ZERO3)

ROUND_OFF = 1e-15  # cos(pi/2) is 6e-17; a rotation entry below this is a zero that was written as a rounded angle


class Inertia(NamedTuple):
    """Mass [kg], centre of mass [m] and inertia about it [kg m^2], in the axes of one frame."""

    mass: float
    centre_of_mass: Vec3
    inertia: Mat3


NO_INERTIA = Inertia(0.0, ZERO3, ZERO33)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Mat3:
    """Fixed-axis roll, pitch, yaw [rad], as URDF has it: Rz(yaw) Ry(pitch) Rx(roll)."""
    if roll == pitch == yaw == 0.0:
        return EYE3
    cr, sr, cp, sp, cy, sy = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch), math.cos(yaw), math.sin(yaw)
    return _without_round_off(
        (
            cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,
            sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,
            -sp, cp * sr, cp * cr,
        )
    )  # fmt: skip


def rotation_about(axis: Vec3, angle: float) -> Mat3:
    """Rotation by ``angle`` [rad] about the unit vector ``axis``."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    t = 1.0 - c
    return _without_round_off(
        (
            t * x * x + c, t * x * y - s * z, t * x * z + s * y,
            t * x * y + s * z, t * y * y + c, t * y * z - s * x,
            t * x * z - s * y, t * y * z + s * x, t * z * z + c,
        )
    )  # fmt: skip


def plane_rotation(axis: Vec3) -> Mat3:
    """The smallest rotation that takes z to the unit vector ``axis`` (pi about x for -z): a planar joint's x, y and normal."""
    x, y, z = axis
    aside = x * x + y * y
    if z < 0.0 and aside < 1e-24:
        return (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)
    k = (1.0 - z) / aside if z < 0.0 else 1.0 / (1.0 + z)  # the same number, without cancellation
    return (1.0 - k * x * x, -k * x * y, x, -k * x * y, 1.0 - k * y * y, y, -x, -y, z)


def _without_round_off(rotation: Mat3) -> Mat3:
    return tuple(0.0 if -ROUND_OFF < r < ROUND_OFF else r for r in rotation)  # type: ignore[return-value]


def rotate(R: Mat3, v: Vec3) -> Vec3:
    x, y, z = v
    return (R[0] * x + R[1] * y + R[2] * z, R[3] * x + R[4] * y + R[5] * z, R[6] * x + R[7] * y + R[8] * z)


def multiply(A: Mat3, B: Mat3) -> Mat3:
    if A is EYE3:
        return B
    if B is EYE3:
        return A
    a, b, c, d, e, f, g, h, i = A
    j, k, l, m, n, o, p, q, r = B  # noqa: E741 - nine entries in a row
    return (
        a * j + b * m + c * p, a * k + b * n + c * q, a * l + b * o + c * r,
        d * j + e * m + f * p, d * k + e * n + f * q, d * l + e * o + f * r,
        g * j + h * m + i * p, g * k + h * n + i * q, g * l + h * o + i * r,
    )  # fmt: skip


def transpose(R: Mat3) -> Mat3:
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


def compose(outer: Pose, inner: Pose) -> Pose:
    """The pose ``inner``, given in the frame of ``outer``, seen from where ``outer`` is given."""
    if outer is IDENTITY:
        return inner
    R, p = outer
    S, r = inner
    x, y, z = r if R is EYE3 else rotate(R, r)
    return multiply(R, S), (p[0] + x, p[1] + y, p[2] + z)


def moved(pose: Pose, body: Inertia) -> Inertia:
    """``body`` given in the frame at ``pose``, expressed where ``pose`` is given."""
    if pose is IDENTITY:
        return body
    R, p = pose
    x, y, z = rotate(R, body.centre_of_mass)
    inertia = body.inertia if R is EYE3 else multiply(multiply(R, body.inertia), transpose(R))
    return Inertia(body.mass, (p[0] + x, p[1] + y, p[2] + z), inertia)


def joined(one: Inertia, other: Inertia) -> Inertia:
    """Two bodies fixed to each other, by the parallel-axis theorem about the common centre (no cancellation)."""
    if one is NO_INERTIA:
        return other
    total = one.mass + other.mass
    inertia = tuple(a + b for a, b in zip(one.inertia, other.inertia, strict=True))
    if total == 0.0:
        return Inertia(0.0, ZERO3, inertia)  # type: ignore[arg-type]
    (ax, ay, az), (bx, by, bz) = one.centre_of_mass, other.centre_of_mass
    s, t = one.mass / total, other.mass / total
    com = (s * ax + t * bx, s * ay + t * by, s * az + t * bz)
    x, y, z = ax - bx, ay - by, az - bz
    k = s * other.mass  # reduced mass
    shift = (y * y + z * z, -x * y, -x * z, -x * y, x * x + z * z, -y * z, -x * z, -y * z, x * x + y * y)
    return Inertia(total, com, tuple(i + k * d for i, d in zip(inertia, shift, strict=True)))  # type: ignore[arg-type]
