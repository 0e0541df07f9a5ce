"""Motions without inertia: which joints make a mass matrix singular, judged against the round-off of its own sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
NOISE = 64.0 * EPS  # round-off of a sum of a few dozen terms, relative to the sum of their magnitudes


def inertia_scale(robot: Robot) -> Array:
    """For each velocity, the sum of the magnitudes that make up its diagonal entry of M, at the robot's full reach (nv,).

    A diagonal entry far below it, at round-off, is zero: a point mass on its own axis has M = 1e-18 rather than 0.
    """
    cached = robot._cache.get("inertia_scale")
    if cached is not None:
        return cached  # type: ignore[no-any-return]
    n = len(robot.joints)
    norm = np.linalg.norm
    first = np.abs(robot.mass) * norm(robot.com, axis=1)
    total = np.abs(robot.mass).tolist()
    moments = [first.tolist(), (first * norm(robot.com, axis=1) + norm(robot.inertia, axis=(1, 2))).tolist()]
    distance = norm(robot.placement[:, :3, 3], axis=1).tolist()
    scale = np.zeros(robot.nv)
    for i in range(n - 1, -1, -1):
        joint = robot.joints[i]
        for k, (kind, _) in enumerate(joint.columns):
            scale[joint.iv + k] += joint.ratio**2 * (moments[1][i] if kind == "R" else total[i])
        parent = robot.parent[i]
        if parent >= 0:  # shift by d: m d^2 + 2 d (m r) + m r^2
            d = distance[i]
            moments[1][parent] += moments[1][i] + 2.0 * d * moments[0][i] + d * d * total[i]
            moments[0][parent] += moments[0][i] + d * total[i]
            total[parent] += total[i]
    robot._cache["inertia_scale"] = scale
    return scale


def idle_velocities(robot: Robot, M: Array) -> list[int]:
    """Indices of the velocities that take part in a motion without inertia; [] where M (nv, nv) is regular."""
    if not len(M) or not np.isfinite(M).all():
        return []
    floor = NOISE * inertia_scale(robot)
    size = np.sqrt(np.maximum(np.abs(np.diag(M)), floor))
    blank = size == 0.0
    size[blank] = 1.0
    _, values, motions = np.linalg.svd(M / np.outer(size, size))
    idle = values <= len(M) * 4.0 * EPS * max(values[0], 1.0)
    # A diagonal entry at its noise floor means that the motion has no inertia, however it was scaled.
    idle |= np.any((np.abs(motions) > 0.9) & (np.abs(np.diag(M)) <= floor), axis=1)
    involved = np.abs(motions[idle]) > 1e-3
    return [int(i) for i in np.flatnonzero(involved.any(axis=0) | blank)]


def joints_of(robot: Robot, velocities: list[int]) -> tuple[str, ...]:
    """Names of the joints that own these velocities."""
    return tuple(
        dict.fromkeys(joint.name for joint in robot.joints if not joint.is_mimic for i in velocities if joint.iv <= i < joint.iv + joint.nv)
    )
