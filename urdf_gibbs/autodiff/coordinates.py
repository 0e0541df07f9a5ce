"""Coordinates q and the tangent space (nv) over arrays of JAX or PyTorch, whose last axis has the entries.

The derivatives of the kernels are along q (+) delta. JAX and PyTorch ask for one with respect to the nq entries of q. The four entries of a
quaternion are more than a rotation has: what a function is off the unit sphere is a choice, here that it does not change with the
quaternion's length. So with N(q) delta the rates of q along delta (derivatives/tangent_space.py), which has orthogonal columns,

    delta = N⁺ dq,     slope = N⁺ᵀ w,     N⁺ = D Nᵀ,     D = 4 for turning a floating joint, else 1

where w (nv) is a gradient in tangent space and slope (nq) the one returned, which has no part along the quaternion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.derivatives.tangent_space import coordinate_rates, pulled_back
from urdf_gibbs.dynamics.matrices import Scalar, Vector
from urdf_gibbs.dynamics.scalar import cos, sin
from urdf_gibbs.robot.model import Robot

# Squared angle below which a power series in it replaces a quotient of sines; TERMS of it are exact to the last digit there.
SMALL = 0.25
TERMS = 9


@dataclass(frozen=True)
class Library:
    """What of JAX or PyTorch is needed: ``stack`` arrays along a new last axis, ``where`` to choose between them, and ``sqrt``."""

    stack: Callable[[list[Any]], Any]
    where: Callable[[Any, Any, Any], Any]
    sqrt: Callable[[Any], Any]


def is_plain(robot: Robot) -> bool:
    """Whether a change of q is one of its entries: no floating and no planar joint."""
    return not any(joint.type in ("floating", "planar") for joint in robot.joints)


def to_tangent(robot: Robot, library: Library, q: Any, dq: Any) -> Any:
    """N⁺ dq (..., nv), for dq (..., nq)."""
    if is_plain(robot):
        return dq
    delta = pulled_back(robot.joints, robot.nv, _entries(q), _entries(dq))
    return library.stack(_turns_scaled(robot, delta))


def from_tangent(robot: Robot, library: Library, q: Any, w: Any) -> Any:
    """N⁺ᵀ w (..., nq), for w (..., nv)."""
    if is_plain(robot):
        return w
    return library.stack(coordinate_rates(robot.joints, _entries(q), _turns_scaled(robot, _entries(w))))


def moved(robot: Robot, library: Library, q: Any, v: Any) -> Any:
    """q (+) v (..., nq), as ``Robot.integrate``, by operations that have derivatives everywhere, also at v = 0."""
    if is_plain(robot):
        return q + v
    old, step = _entries(q), _entries(v)
    new: list[Scalar] = [0.0] * robot.nq
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        i, k = joint.iq, joint.iv
        if joint.type == "floating":
            new[i : i + 7] = _floating(library, old[i : i + 7], step[k : k + 6])
        elif joint.type == "planar":
            new[i : i + 3] = _planar(library, old[i : i + 3], step[k : k + 3])
        else:
            new[i : i + joint.nq] = [x + y for x, y in zip(old[i : i + joint.nq], step[k : k + joint.nv], strict=True)]
    return library.stack(new)


def _entries(x: Any) -> list[Scalar]:
    return [x[..., i] for i in range(x.shape[-1])]


def _turns_scaled(robot: Robot, delta: list[Scalar]) -> list[Scalar]:
    """D delta."""
    scaled = list(delta)
    for joint in robot.joints:
        if joint.type == "floating":
            for k in range(joint.iv + 3, joint.iv + 6):
                scaled[k] = 4.0 * delta[k]
    return scaled


def _planar(library: Library, q: list[Scalar], v: list[Scalar]) -> list[Scalar]:
    """exp of SE(2): the chord of an arc of angle v[2]."""
    c, s, (x, y, turn) = cos(q[2]), sin(q[2]), v
    along = _series_or(library, turn * turn, 1, lambda angle: sin(angle) / angle)
    aside = turn * _series_or(library, turn * turn, 2, lambda angle: (1.0 - cos(angle)) / (angle * angle))
    dx, dy = along * x - aside * y, aside * x + along * y
    return [q[0] + c * dx - s * dy, q[1] + s * dx + c * dy, q[2] + turn]


def _floating(library: Library, q: list[Scalar], v: list[Scalar]) -> list[Scalar]:
    """exp of SE(3), with the quaternion made unit before and after."""
    linear, w = Vector(v[:3]), Vector(v[3:])
    square = w @ w
    b = _series_or(library, square, 2, lambda angle: (1.0 - cos(angle)) / (angle * angle))
    c = _series_or(library, square, 3, lambda angle: (angle - sin(angle)) / (angle * angle * angle))
    turned = w.cross(linear)
    chord = linear + b * turned + c * w.cross(turned)
    half = 0.25 * square
    sine = 0.5 * _series_or(library, half, 1, lambda angle: sin(angle) / angle)
    cosine = 1.0 - half * _series_or(library, half, 2, lambda angle: (1.0 - cos(angle)) / (angle * angle))
    own = _unit(library, q[3:])
    vector, scalar = Vector(own[:3]), own[3]
    across = 2.0 * vector.cross(chord)
    position = Vector(q[:3]) + chord + scalar * across + vector.cross(across)
    by = sine * w
    new = [*scalar * by + cosine * vector + vector.cross(by), scalar * cosine - vector @ by]
    return [*position, *_unit(library, new)]


def _unit(library: Library, x: list[Scalar]) -> list[Scalar]:
    norm = library.sqrt(Vector(x) @ Vector(x))
    return [entry / norm for entry in x]


def _series_or(library: Library, square: Scalar, first: int, quotient: Callable[[Scalar], Scalar]) -> Scalar:
    """The sum of (-square)^n / (2n + first)!, which is ``quotient`` of the angle; never divided by a small angle, nor differentiated."""
    terms = [1.0]
    for k in range(1, first + 1):
        terms[0] /= k
    for n in range(1, TERMS):
        terms.append(-terms[-1] / ((2 * n + first - 1) * (2 * n + first)))
    total: Scalar = terms[-1]
    for term in reversed(terms[:-1]):
        total = total * square + term
    small = square < SMALL
    return library.where(small, total, quotient(library.sqrt(library.where(small, 1.0 + 0.0 * square, square))))
