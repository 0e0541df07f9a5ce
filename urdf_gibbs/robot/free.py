"""A robot with its mimic joints freed: the same bodies with every joint independent, and the map to the robot's own coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]
Freed = tuple[Robot, Array, Callable[[Array], Array]]

FREED: Shelf[tuple[()], Freed] = Shelf()


def freed(robot: Robot) -> Freed:
    """(free robot, G with v_free = G v, function from q (..., nq) to q_free)."""
    return FREED.get(robot, (), lambda: _free_mimic_joints(robot))


def _free_mimic_joints(robot: Robot) -> Freed:
    joints = []
    iq = iv = 0
    for joint in robot.joints:
        joints.append(replace(joint, iq=iq, iv=iv, ratio=1.0, offset=0.0, master=""))
        iq, iv = iq + joint.nq, iv + joint.nv
    free = replace(robot, joints=tuple(joints), nq=iq, nv=iv)
    G = np.zeros((iv, robot.nv))
    X = np.zeros((iq, robot.nq))
    offset = np.zeros(iq)
    for joint, own in zip(robot.joints, joints, strict=True):
        G[own.iv : own.iv + own.nv, joint.iv : joint.iv + joint.nv] = joint.ratio * np.eye(own.nv)
        X[own.iq : own.iq + own.nq, joint.iq : joint.iq + joint.nq] = joint.ratio * np.eye(own.nq)
        offset[own.iq] = joint.offset

    def positions(q: Array) -> Array:
        return np.asarray(q @ X.T + offset)

    return free, G, positions
