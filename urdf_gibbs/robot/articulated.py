"""Motions without inertia in a tree of rigid bodies, at a cost that grows linearly with the number of bodies.

The articulated-body recursion (Featherstone) eliminates the joints from the leaves to the root: the pivot D of a joint is the inertia
that it meets while all joints beyond it are free. The mass matrix of bodies with positive inertias is singular exactly where a pivot
vanishes, and the motions without inertia follow from the root to the leaves. Twists are (angular, linear) in a body's own frame.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot import manifold
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import plane_rotation

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
NOISE = 64.0 * EPS  # round-off of a sum of a few dozen terms, relative to the sum of their magnitudes
MOVES = 1e-5  # of a motion of size one: a body that stands still does so up to round-off


def is_positive(robot: Robot) -> bool:
    """Whether every body is rigid with an inertia of no negative principal moment, beyond round-off."""
    if robot.is_flexible or not len(robot.mass):
        return not robot.is_flexible
    moments = np.linalg.eigvalsh(robot.inertia)
    return bool((robot.mass >= 0.0).all() and (moments[:, 0] >= -NOISE * moments[:, 2]).all())


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # masses of 1e200 are a mistake to be named, not to be warned of
def moving_joints(robot: Robot, Q: Array) -> list[set[int]]:
    """For each state of Q (s, nq), the velocities whose joints take part in a motion without inertia; needs ``is_positive``.

    Every joint counts as free, mimic joints too: with mimic joints the sets contain all velocities of such motions, and perhaps more.
    """
    X, reach = _transforms(robot, Q)
    steps = _eliminate(robot, X, reach)
    length = float(max(np.max(reach, initial=0.0), np.max(np.linalg.norm(robot.centre_of_mass, axis=1), initial=0.0))) or 1.0
    return [_idle_velocities(robot, X[:, k], [(G[:, k], zero[:, k]) for G, zero in steps], length) for k in range(len(Q))]


def _columns(robot: Robot, i: int) -> Array:
    """The twists (m, 6) of a joint's velocities in its body's frame."""
    columns = np.zeros((robot.joints[i].nv, 6))
    for k, (kind, axis) in enumerate(robot.joints[i].columns):
        columns[k, slice(0, 3) if kind == "R" else slice(3, 6)] = axis
    return columns


def _transforms(robot: Robot, Q: Array) -> tuple[Array, Array]:
    """(nb, s, 6, 6): twists of the parents as those of the bodies, at the states Q; (nb, s): distances between their origins."""
    nb, s = len(robot.joints), len(Q)
    R = np.repeat(robot.placement[:, None, :3, :3], s, axis=1)
    p = np.repeat(robot.placement[:, None, :3, 3], s, axis=1)
    angles, axes = np.zeros((nb, s)), np.array([joint.axis for joint in robot.joints]).reshape(nb, 3)
    for i, joint in enumerate(robot.joints):
        own = Q[:, joint.iq : joint.iq + joint.nq]
        if joint.type == "floating":
            p[i] += own[:, :3] @ robot.placement[i, :3, :3].T
            turned = manifold._rotate(own[:, None, 3:], np.eye(3)[None])  # rows: the images of the axes
            R[i] = robot.placement[i, :3, :3] @ turned.transpose(0, 2, 1)
        elif joint.type == "planar":
            plane = np.reshape(plane_rotation(joint.axis), (3, 3))
            p[i] += own[:, :2] @ (robot.placement[i, :3, :3] @ plane[:, :2]).T
            angles[i] = own[:, 2]
        elif joint.type == "prismatic":
            p[i] += np.outer(joint.ratio * own[:, 0] + joint.offset, robot.placement[i, :3, :3] @ axes[i])
        else:
            angles[i] = joint.ratio * own[:, 0] + joint.offset
    K = _cross(axes)[:, None]
    R = R @ (np.eye(3) + np.sin(angles)[..., None, None] * K + (1.0 - np.cos(angles))[..., None, None] * (K @ K))
    back = R.swapaxes(2, 3)
    X = np.zeros((nb, s, 6, 6))
    X[..., :3, :3] = X[..., 3:, 3:] = back
    X[..., 3:, :3] = -back @ _cross(p)
    return X, np.linalg.norm(p, axis=2)


def _cross(v: Array) -> Array:
    """(..., 3) -> (..., 3, 3) with _cross(v) @ w = v x w."""
    matrix = np.zeros((*v.shape, 3))
    matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return matrix - matrix.swapaxes(-1, -2)


def _eliminate(robot: Robot, X: Array, reach: Array) -> list[tuple[Array, Array]]:
    """For each body (m, s, 6): the rate of each velocity is minus this times the body's twist; (m, s): whether the pivot vanishes.

    A bound of the round-off accompanies the articulated inertia: at each body it grows by the magnitudes that are summed there, and it is
    transformed like the inertia by the elimination and by the step to the parent.
    """
    nb, s = X.shape[:2]
    m, c = robot.mass[:, None, None], _cross(robot.centre_of_mass)
    own = np.zeros((nb, 6, 6))
    own[:, :3, :3] = robot.inertia + m * (c @ c.swapaxes(1, 2))
    own[:, :3, 3:], own[:, 3:, :3] = m * c, -m * c
    own[:, 3:, 3:] = m * np.eye(3)
    inertia = np.repeat(own[:, None], s, axis=1)
    bound = np.zeros((nb, s, 6, 6))
    turning = np.repeat(
        (np.linalg.norm(robot.inertia, axis=(1, 2)) + robot.mass * (robot.centre_of_mass**2).sum(axis=1))[:, None], s, axis=1
    )
    shifting = np.repeat(robot.mass[:, None], s, axis=1)
    diagonal = np.arange(6)
    steps: list[tuple[Array, Array]] = [(np.zeros(0), np.zeros(0))] * nb
    for i in range(nb - 1, -1, -1):
        A, N = inertia[i], bound[i]
        summed = np.zeros((s, 6, 6))
        summed[:, diagonal[:3], diagonal[:3]] = NOISE * turning[i][:, None]
        summed[:, diagonal[3:], diagonal[3:]] = NOISE * shifting[i][:, None]
        N += summed
        columns = _columns(robot, i)
        gains, vanishing = np.zeros((len(columns), s, 6)), np.zeros((len(columns), s), dtype=bool)
        for k, S in enumerate(columns):
            U = A @ S
            D = U @ S
            zero = np.abs(D) <= (N @ S) @ S
            G = U / np.where(zero, np.inf, D)[:, None]
            A = A - U[:, :, None] * G[:, None, :]
            P = np.eye(6) - S[:, None] * G[:, None, :]
            N = P.swapaxes(1, 2) @ N @ P
            gains[k], vanishing[k] = G, zero
        N = N + summed  # the elimination cancels the sum and leaves its round-off
        steps[i] = gains, vanishing
        parent = robot.parent[i]
        if parent >= 0:
            back = X[i].swapaxes(1, 2)
            inertia[parent] += back @ A @ X[i]
            bound[parent] += back @ N @ X[i]
            sizes = np.maximum(A[:, diagonal, diagonal].reshape(s, 2, 3).sum(axis=2), 0.0)
            turning[parent] += (np.sqrt(sizes[:, 0]) + reach[i] * np.sqrt(sizes[:, 1])) ** 2
            shifting[parent] += sizes[:, 1]
    return steps


def _idle_velocities(robot: Robot, X: Array, steps: list[tuple[Array, Array]], length: float) -> set[int]:
    """The velocities in motions without inertia at one state: X (nb, 6, 6), and gains (m, 6) and vanishing pivots (m,) of each body.

    All twists that such motions give a body are a space of at most six dimensions; ``length`` [m] makes turns and shifts comparable.
    """
    moving: set[int] = set()
    if not any(zero.any() for _, zero in steps):
        return moving
    units = np.array([1.0, 1.0, 1.0, 1.0 / length, 1.0 / length, 1.0 / length])
    still = np.zeros((6, 0))
    spaces: list[Array] = []
    for i, (gains, vanishing) in enumerate(steps):
        parent, joint = robot.parent[i], robot.joints[i]
        space = X[i] @ spaces[parent] if parent >= 0 and spaces[parent].size else still
        if not space.size and not vanishing.any():
            spaces.append(still)
            continue
        columns = _columns(robot, i)
        for k in range(len(columns) - 1, -1, -1):  # the last one eliminated is known first
            if vanishing[k]:
                moving.add(joint.iv + k)
                space = np.column_stack([space, columns[k]])
            elif space.size:
                rates = -gains[k] @ space
                if np.abs(rates).max() * np.linalg.norm(columns[k] * units) > MOVES:
                    moving.add(joint.iv + k)
                space = space + np.outer(columns[k], rates)
        basis, sizes, _ = np.linalg.svd(space * units[:, None], full_matrices=False)
        spaces.append(basis[:, sizes > MOVES] / units[:, None])
    return moving
