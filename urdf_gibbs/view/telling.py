"""A pose and a view that tell most of a robot: few of its joints and tips stand before each other in the picture.

A picture is judged by the pairs of places that it keeps apart and by how much of it they fill. The neutral pose, within the limits, is
taken unless another one tells clearly more; a robot that moves in a plane alone is seen straight on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.view.motion import Place, positions

Array = NDArray[np.float64]

APART = 0.04  # of the picture's size: places that far apart are told apart
FILLED = 0.12  # what a full picture counts, where all pairs count 1
ENOUGH = 0.93  # of the best picture's worth, with which an earlier pose is taken
MOST_PLACES = 120  # that are judged
FLAT = 1e-9  # of the size
AZIMUTHS, ELEVATIONS = np.radians([-55.0, -35.0, -20.0, -70.0, 20.0, 35.0, 55.0, 70.0, 110.0, 125.0, 145.0]), np.radians([18.0, 28.0, 40.0])
FRONT = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
NORMALS = (2, 1, 0)  # of the planes in FRONT


def telling(robot: Robot, places: Sequence[Place], q: Array | None) -> tuple[Array, Array]:
    """A pose q (nq,), that which is given if one is, and a view of it: (3, 3), its right, its up and the way towards the reader."""
    poses = _poses(robot) if q is None else np.asarray(q, dtype=float)[None]
    if not len(places):
        return poses[0], _upright(FRONT[0])
    chosen = np.linspace(0, len(places) - 1, min(len(places), MOST_PLACES)).astype(int)
    x = positions(robot, [places[k] for k in chosen], np.concatenate([poses, _some(robot, 3)]))
    views = _flat_view(x)
    if views is None:
        views = np.array([_view(azimuth, elevation) for azimuth in AZIMUTHS for elevation in ELEVATIONS])
    size = max(float(np.ptp(points, axis=0).max()) for points in x) or 1.0
    between = np.linalg.norm(x[:, :, None] - x[:, None], axis=3).max(axis=0)
    pairs = np.argwhere(np.triu(between > 0.2 * APART * size))  # those that some pose keeps apart
    worth = np.array([[_worth(points, view, pairs) for view in views] for points in x[: len(poses)]])
    best = worth.max(axis=1)
    pose = int(np.argmax(best >= ENOUGH * best.max()))
    return poses[pose], _upright(views[int(np.argmax(worth[pose]))])


def _poses(robot: Robot) -> Array:
    """From the plainest: the neutral one, the middle of the limits, and these two moved aside more and more."""
    lower, upper = robot.position_limits
    neutral = np.clip(robot.neutral(), lower, upper)
    middle = np.where(np.isfinite(lower) & np.isfinite(upper), 0.5 * (np.where(np.isfinite(lower), lower, 0.0) + upper), neutral)
    poses = [neutral, middle, 0.5 * (neutral + middle)]
    for part in (0.2, 0.35):
        poses += [_held(robot, neutral, (1.0 - part) * neutral + part * aside) for aside in _some(robot, 3)]
    return np.array([_held(robot, neutral, q) for q in poses])


def _some(robot: Robot, count: int) -> Array:
    return np.array([_held(robot, robot.neutral(), q) for q in robot.random(0, count)]).reshape(count, robot.nq)


def _held(robot: Robot, neutral: Array, q: Array) -> Array:
    """With bases, balls in space and elastic links as they are in the neutral pose."""
    result = np.array(q)
    for joint in robot.joints:
        if joint.type in ("floating", "planar", "elastic"):
            result[joint.iq : joint.iq + joint.nq] = neutral[joint.iq : joint.iq + joint.nq]
    return result


def _view(azimuth: float, elevation: float) -> Array:
    """(2, 3): right and up of a reader who looks from there."""
    right = [-np.sin(azimuth), np.cos(azimuth), 0.0]
    up = [-np.sin(elevation) * np.cos(azimuth), -np.sin(elevation) * np.sin(azimuth), np.cos(elevation)]
    return np.array([right, up])


def _upright(view: Array) -> Array:
    """With the way towards the reader as its third row."""
    return np.array([*view, np.cross(*view)])


def _flat_view(x: Array) -> Array | None:
    """(1, 2, 3) where in all poses all places (poses, n, 3) lie in one plane of the world's axes; None: they do not."""
    size = max(float(np.ptp(x, axis=(0, 1)).max()), 1e-12)
    for view, normal in zip(FRONT, NORMALS, strict=True):
        if np.ptp(x[..., normal]) <= FLAT * size:
            return np.array([view])
    return None


def _worth(points: Array, view: Array, pairs: NDArray[np.intp]) -> float:
    """Of the pairs of places those that the picture keeps apart, and a little for how much of it they fill."""
    size = max(float(np.ptp(points, axis=0).max()), 1e-12)
    flat = points @ view.T
    seen = np.linalg.norm(flat[pairs[:, 0]] - flat[pairs[:, 1]], axis=1) / size
    told = float(np.minimum(seen / APART, 1.0).mean()) if len(pairs) else 1.0
    width, height = np.ptp(flat, axis=0) / size
    return told + FILLED * float(min(width, 1.0) * min(height, 1.0))
