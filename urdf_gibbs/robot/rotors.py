"""Rotors and screws, seen in a robot: bodies at the world that carry the armature of a joint, and hinges with a slide that follows them.

conversion.py makes them of what a URDF has no word for.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.robot.model import Robot


def is_rotor(robot: Robot, i: int) -> bool:
    """Whether body i is one: without mass, at the world, and always following a joint."""
    joint = robot.joints[i]
    if not joint.is_mimic or robot.parent[i] >= 0 or robot.mass[i] or joint.type != "continuous":
        return False
    return _always(robot, joint.name)


def _always(robot: Robot, name: str) -> bool:
    """Whether a joint follows even where mimic joints are free."""
    return any(own.name == name and own.mimic is not None and own.mimic.always for own in robot._urdf_joints)


def screws(robot: Robot) -> dict[int, int]:
    """The slide of each screw, by its hinge: all that the hinge carries, at its place and along its axis."""
    children: dict[int, list[int]] = {}
    for k, parent in enumerate(robot.parent):
        children.setdefault(parent, []).append(k)
    result = {}
    for i, ((k,), hinge) in ((i, (below, robot.joints[i])) for i, below in children.items() if i >= 0 and len(below) == 1):
        slide = robot.joints[k]
        at_one_place = slide.axis == hinge.axis and np.array_equal(robot.placement[k], np.eye(4))
        tied = slide.type == "prismatic" and slide.master == hinge.name and not slide.offset and hinge.type == "revolute"
        if tied and at_one_place and not robot.mass[i] and not np.any(robot.inertia[i]) and _always(robot, slide.name):
            result[i] = k
    return result


def armatures(robot: Robot) -> Array:
    """Of each velocity (nv,) [kg m^2, kg]: what the rotors add to the diagonal of M."""
    result = np.zeros(robot.nv)
    for i, joint in enumerate(robot.joints):
        if is_rotor(robot, i):
            axis = np.array(joint.axis)
            result[joint.iv] += joint.ratio**2 * axis @ robot.inertia[i] @ axis
    return result
