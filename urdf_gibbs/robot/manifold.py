"""Configurations as points of a manifold: neutral, random, integrate, difference, rates of q and velocities.

All functions are vectorised over leading axes. Quaternions are (x y z w).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import wide

if TYPE_CHECKING:
    from urdf_gibbs.robot.joints import Joint

Array = NDArray[np.float64]
Joints = tuple["Joint", ...]

SAGGING = 0.05  # of its length: how far a random configuration bends a link


def neutral(joints: Joints, nq: int) -> Array:
    q = np.zeros(nq)
    for joint in _free(joints, "floating"):
        q[joint.iq + 6] = 1.0
    return q


def position_limits(joints: Joints, nq: int) -> tuple[Array, Array]:
    lower, upper = np.full(nq, -np.inf), np.full(nq, np.inf)
    for joint in joints:
        if not joint.is_mimic and joint.nq == 1:
            lower[joint.iq], upper[joint.iq] = sorted((joint.lower, joint.upper))
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def random(joints: Joints, nq: int, limits: tuple[Array, Array], rng: np.random.Generator, shape: int | tuple[int, ...]) -> Array:
    reach = np.ones(nq)  # half width of the sampled interval where the limits are wider
    for joint in _free(joints):
        if joint.type in ("revolute", "continuous"):
            reach[joint.iq] = np.pi
        elif joint.type == "planar":
            reach[joint.iq + 2] = np.pi
        elif joint.beam is not None:
            reach[joint.iq : joint.iq + joint.nq] = SAGGING * joint.beam.length
    centre = np.clip(np.zeros(nq), *limits)
    lower, upper = np.maximum(limits[0], centre - reach), np.minimum(limits[1], centre + reach)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    q = rng.uniform(lower, upper, size=(*shape, nq))
    for joint in _free(joints, "floating"):
        quaternion = rng.normal(size=(*shape, 4))
        q[..., joint.iq + 3 : joint.iq + 7] = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return q


def integrate(joints: Joints, nq: int, nv: int, q: ArrayLike, v: ArrayLike) -> Array:
    q, v = wide(q, nq, "q"), wide(v, nv, "v")
    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    q, v = np.broadcast_to(q, (*shape, nq)), np.broadcast_to(v, (*shape, nv))
    out = np.empty((*shape, nq))
    scalar_q, scalar_v = _scalar_indices(joints)
    out[..., scalar_q] = q[..., scalar_q] + v[..., scalar_v]
    for joint in _free(joints, "planar"):
        i, k = joint.iq, joint.iv
        angle, turn = q[..., i + 2], v[..., k + 2]
        # exp of SE(2): the chord of an arc of angle `turn`
        along, aside = np.sinc(turn / np.pi), _versine_over(turn)
        x = along * v[..., k] - aside * v[..., k + 1]
        y = aside * v[..., k] + along * v[..., k + 1]
        out[..., i] = q[..., i] + np.cos(angle) * x - np.sin(angle) * y
        out[..., i + 1] = q[..., i + 1] + np.sin(angle) * x + np.cos(angle) * y
        out[..., i + 2] = angle + turn
    for joint in _free(joints, "floating"):
        i, k = joint.iq, joint.iv
        quaternion, linear, angular = q[..., i + 3 : i + 7], v[..., k : k + 3], v[..., k + 3 : k + 6]
        out[..., i : i + 3] = q[..., i : i + 3] + _rotate(quaternion, _se3_translation(angular, linear))
        turned = _multiply(quaternion, _exp(angular))
        out[..., i + 3 : i + 7] = turned / np.linalg.norm(turned, axis=-1, keepdims=True)
    return out


def difference(joints: Joints, nq: int, nv: int, q0: ArrayLike, q1: ArrayLike) -> Array:
    q0, q1 = wide(q0, nq, "q0"), wide(q1, nq, "q1")
    shape = np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1])
    q0, q1 = np.broadcast_to(q0, (*shape, nq)), np.broadcast_to(q1, (*shape, nq))
    out = np.empty((*shape, nv))
    scalar_q, scalar_v = _scalar_indices(joints)
    out[..., scalar_v] = q1[..., scalar_q] - q0[..., scalar_q]
    for joint in _free(joints, "planar"):
        i, k = joint.iq, joint.iv
        step = q1[..., i : i + 3] - q0[..., i : i + 3]
        angle, turn = q0[..., i + 2], step[..., 2]
        x = np.cos(angle) * step[..., 0] + np.sin(angle) * step[..., 1]
        y = -np.sin(angle) * step[..., 0] + np.cos(angle) * step[..., 1]
        along, aside = np.sinc(turn / np.pi), _versine_over(turn)
        square = along**2 + aside**2
        out[..., k] = (along * x + aside * y) / square
        out[..., k + 1] = (-aside * x + along * y) / square
        out[..., k + 2] = turn
    for joint in _free(joints, "floating"):
        i, k = joint.iq, joint.iv
        inverse = q0[..., i + 3 : i + 7] * np.array([-1.0, -1.0, -1.0, 1.0])
        angular = _log(_multiply(inverse, q1[..., i + 3 : i + 7]))
        moved = _rotate(inverse, q1[..., i : i + 3] - q0[..., i : i + 3])
        out[..., k : k + 3] = _se3_translation_inverse(angular, moved)
        out[..., k + 3 : k + 6] = angular
    return out


def small_adjoint(joints: Joints, nv: int, v: Array) -> Array:
    """ad_v (nv, nv): a small displacement d of q (tangent, (nv,)) that moves along with the motion v changes by dv - ad_v d."""
    ad = np.zeros((nv, nv))
    for joint in _free(joints, "floating"):
        k = joint.iv
        x, y, z = v[k : k + 3]
        a, b, c = v[k + 3 : k + 6]
        linear, angular = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
        ad[k : k + 3, k : k + 3] = ad[k + 3 : k + 6, k + 3 : k + 6] = angular
        ad[k : k + 3, k + 3 : k + 6] = linear
    for joint in _free(joints, "planar"):
        k = joint.iv
        x, y, turn = v[k : k + 3]
        ad[k : k + 2, k : k + 3] = [[0.0, -turn, y], [turn, 0.0, -x]]
    return ad


def rates(joints: Joints, q: Array, v: Array) -> Array:
    """dq/dt (..., nq) of q (..., nq) that moves with v (..., nv)."""
    out = np.empty_like(q)
    for joint in _free(joints):
        i, k = joint.iq, joint.iv
        if joint.type == "floating":
            quaternion, spin = q[..., i + 3 : i + 7], v[..., k + 3 : k + 6]
            out[..., i : i + 3] = _rotate(quaternion, v[..., k : k + 3])
            out[..., i + 3 : i + 7] = 0.5 * _multiply(quaternion, np.concatenate([spin, np.zeros_like(spin[..., :1])], axis=-1))
        elif joint.type == "planar":
            c, s = np.cos(q[..., i + 2]), np.sin(q[..., i + 2])
            out[..., i] = c * v[..., k] - s * v[..., k + 1]
            out[..., i + 1] = s * v[..., k] + c * v[..., k + 1]
            out[..., i + 2] = v[..., k + 2]
        else:
            out[..., i : i + joint.nq] = v[..., k : k + joint.nv]
    return out


def velocities(joints: Joints, nv: int, q: Array, rate: Array) -> Array:
    """v (..., nv) of q (..., nq) that moves with dq/dt = rate: the inverse of ``rates``."""
    v = np.empty((*q.shape[:-1], nv))
    for joint in _free(joints):
        i, k = joint.iq, joint.iv
        if joint.type == "floating":
            inverse = q[..., i + 3 : i + 7] * np.array([-1.0, -1.0, -1.0, 1.0])
            v[..., k : k + 3] = _rotate(inverse, rate[..., i : i + 3])
            v[..., k + 3 : k + 6] = 2.0 * _multiply(inverse, rate[..., i + 3 : i + 7])[..., :3]
        elif joint.type == "planar":
            c, s = np.cos(q[..., i + 2]), np.sin(q[..., i + 2])
            v[..., k] = c * rate[..., i] + s * rate[..., i + 1]
            v[..., k + 1] = c * rate[..., i + 1] - s * rate[..., i]
            v[..., k + 2] = rate[..., i + 2]
        else:
            v[..., k : k + joint.nv] = rate[..., i : i + joint.nq]
    return v


def normalise(joints: Joints, q: Array, *rate: Array) -> None:
    """Make the quaternions in q unit, and scale the rates to match; ``velocities`` ignores the part along the quaternion."""
    for joint in joints:
        if joint.type == "floating":
            own = slice(joint.iq + 3, joint.iq + 7)
            norm = np.linalg.norm(q[..., own], axis=-1, keepdims=True)
            for array in (q, *rate):
                array[..., own] /= norm


def quaternion_error(joints: Joints, q: Array) -> tuple[str, float]:
    """(joint, |norm - 1|) of the worst quaternion in q; ("", 0) where there is none."""
    worst, name = 0.0, ""
    for joint in _free(joints, "floating"):
        quaternion = q[..., joint.iq + 3 : joint.iq + 7]
        error = np.abs(np.sqrt(np.einsum("...i,...i->...", quaternion, quaternion)) - 1.0)
        largest = float(np.max(error, initial=0.0, where=~np.isnan(error)))
        if largest > worst:
            worst, name = largest, joint.name
    return name, worst


def _free(joints: Joints, kind: str = "") -> Iterator[Joint]:
    return (joint for joint in joints if not joint.is_mimic and (not kind or joint.type == kind))


def _scalar_indices(joints: Joints) -> tuple[list[int], list[int]]:
    flat = [joint for joint in _free(joints) if joint.nq == 1 or joint.type == "elastic"]
    return [joint.iq + k for joint in flat for k in range(joint.nq)], [joint.iv + k for joint in flat for k in range(joint.nv)]


# rotations, vectorised ----------------------------------------------------------------------------


def _cross(a: Array, b: Array) -> Array:
    product: Array = np.cross(a, b)
    return product


def _multiply(p: Array, q: Array) -> Array:
    pv, pw, qv, qw = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = pw * qv + qw * pv + _cross(pv, qv)
    return np.concatenate([vector, pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)], axis=-1)


def _rotate(q: Array, v: Array) -> Array:
    t = 2.0 * _cross(q[..., :3], v)
    rotated: Array = v + q[..., 3:] * t + _cross(q[..., :3], t)
    return rotated


def _exp(w: Array) -> Array:
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate([0.5 * np.sinc(angle / (2.0 * np.pi)) * w, np.cos(0.5 * angle)], axis=-1)


def _log(q: Array) -> Array:
    q = np.where(q[..., 3:] < 0.0, -q, q)  # the shorter way round
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    half = np.arctan2(sine, q[..., 3:])
    small = sine < 1e-8
    return q[..., :3] * np.where(small, 2.0, 2.0 * half / np.where(small, 1.0, sine))


def _versine_over(x: Array) -> Array:
    """(1 - cos x) / x, accurate near zero."""
    half = 0.5 * x
    return np.sin(half) * np.sinc(half / np.pi)


def _se3_translation(w: Array, v: Array) -> Array:
    """V(w) v, with V the left Jacobian of SO(3): the translation of exp on SE(3)."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    half = np.sinc(angle / (2.0 * np.pi))
    b = 0.5 * half**2  # (1 - cos) / angle^2
    small = angle < 1e-2
    safe = np.where(small, 1.0, angle)
    c = np.where(small, 1.0 / 6.0 - angle**2 / 120.0 + angle**4 / 5040.0, (safe - np.sin(safe)) / safe**3)
    turned = _cross(w, v)
    return np.asarray(v + b * turned + c * _cross(w, turned))


def _se3_translation_inverse(w: Array, p: Array) -> Array:
    """V(w)^-1 p."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    small = angle < 1e-2
    safe = np.where(small, 1.0, angle)
    d = np.where(small, 1.0 / 12.0 + angle**2 / 720.0 + angle**4 / 30240.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    turned = _cross(w, p)
    return np.asarray(p - 0.5 * turned + d * _cross(w, turned))
