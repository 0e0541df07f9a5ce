"""Rotors: bodies at the world that carry the armature of a joint (conversion.py), seen in a robot."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.robot.model import Robot


def is_rotor(robot: Robot, i: int) -> bool:
    """Whether body i is one: without mass, at the world, and always following a joint."""
    joint = robot.joints[i]
    if not joint.is_mimic or robot.parent[i] >= 0 or robot.mass[i] or joint.type != "continuous":
        return False
    return any(own.name == joint.name and own.mimic is not None and own.mimic.always for own in robot._urdf_joints)


def armatures(robot: Robot) -> Array:
    """Of each velocity (nv,) [kg m^2, kg]: what the rotors add to the diagonal of M."""
    result = np.zeros(robot.nv)
    for i, joint in enumerate(robot.joints):
        if is_rotor(robot, i):
            axis = np.array(joint.axis)
            result[joint.iv] += joint.ratio**2 * axis @ robot.inertia[i] @ axis
    return result
