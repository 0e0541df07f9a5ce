"""Motions without inertia: which joints make a mass matrix singular, judged against the round-off of its own sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.articulated import EPS, NOISE
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]


def inertia_scale(robot: Robot, q: Array) -> Array:
    """For each velocity, the sum of the magnitudes that make up its diagonal entry of M at q, the robot stretched out (nv,).

    A diagonal entry far below it, at round-off, is zero: a point mass on its own axis has M = 1e-18 rather than 0.
    """
    norm = np.linalg.norm
    reach = norm(robot.centre_of_mass, axis=1)
    total = np.abs(robot.mass).tolist()
    first = (np.abs(robot.mass) * reach).tolist()
    second = (np.abs(robot.mass) * reach**2 + norm(robot.inertia, axis=(1, 2))).tolist()
    distance = norm(robot.placement[:, :3, 3], axis=1).tolist()
    scale = np.zeros(robot.nv)
    for i in range(len(robot.joints) - 1, -1, -1):
        joint = robot.joints[i]
        if joint.beam is not None:  # its own coordinates: of the beam, and of what the tip carries
            beam = joint.beam
            turn, shift = norm(beam.tip_rotation, axis=1), norm(beam.tip[: beam.m], axis=1)
            carried = shift**2 * total[i] + 2.0 * shift * turn * first[i] + turn**2 * second[i]
            scale[joint.iv : joint.iv + joint.nv] += np.trace(beam.G, axis1=2, axis2=3).diagonal()[: beam.m] + carried
        for k, (kind, _) in enumerate(joint.columns if joint.beam is None else ()):
            scale[joint.iv + k] += joint.ratio**2 * (second[i] if kind == "R" else total[i])
        parent = robot.parent[i]
        if parent >= 0:  # shift by d: m d^2 + 2 d (m r) + m r^2
            d = distance[i] + _travel(joint, q)
            second[parent] += second[i] + 2.0 * d * first[i] + d * d * total[i]
            first[parent] += first[i] + d * total[i]
            total[parent] += total[i]
            if joint.beam is not None:
                total[parent] += joint.beam.mass
                first[parent] += joint.beam.mass * d
                second[parent] += joint.beam.mass * d * d + float(norm(joint.beam.rotary))
    return scale


def _travel(joint: Joint, q: Array) -> float:
    """How far the joint has moved its body's origin."""
    if joint.type == "prismatic":
        return abs(joint.ratio * float(q[joint.iq]) + joint.offset)
    if joint.type in ("floating", "planar"):
        return float(np.linalg.norm(q[joint.iq : joint.iq + (3 if joint.type == "floating" else 2)]))
    return 0.0


def idle_velocities(robot: Robot, q: Array, M: Array, among: list[int] | None = None) -> list[int]:
    """Indices of the velocities that take part in a motion without inertia at q; [] where M (nv, nv) is regular.

    among: those that may take part, where that is known; the rest of M is then ignored.
    """
    if among is not None:
        return [among[i] for i in _idle(M[np.ix_(among, among)], inertia_scale(robot, q)[among])]
    return _idle(M, inertia_scale(robot, q))


def _idle(M: Array, scale: Array) -> list[int]:
    if not len(M) or not np.isfinite(M).all():
        return []
    size = np.sqrt(np.maximum(np.abs(np.diag(M)), NOISE * scale))
    blank = size == 0.0
    size[blank] = 1.0
    _, values, motions = np.linalg.svd(M / np.outer(size, size))
    # the round-off of M along each motion x: at most NOISE * (sum of |x_i| sqrt(scale_i))^2
    noise = NOISE * (np.abs(motions) @ (np.sqrt(scale) / size)) ** 2
    idle = values <= np.maximum(noise, len(M) * 4.0 * EPS * values[0])
    involved = np.abs(motions[idle]) > 1e-3
    return [int(i) for i in np.flatnonzero(involved.any(axis=0) | blank)]


def joints_of(robot: Robot, velocities: list[int]) -> tuple[str, ...]:
    """Names of the joints that own these velocities."""
    wanted = set(velocities)
    return tuple(
        dict.fromkeys(
            joint.name for joint in robot.joints if not joint.is_mimic and not wanted.isdisjoint(range(joint.iv, joint.iv + joint.nv))
        )
    )
