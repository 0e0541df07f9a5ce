"""Dry friction of joints as a user gives it: the URDF's, one bound for all, bounds by name or by velocity."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import LARGEST_FRICTION, shown, vector, within
from urdf_gibbs.contact.coefficients import URDF
from urdf_gibbs.errors import ArgumentError, UnknownNameError, UrdfWarning
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot

RUBBING = ("revolute", "continuous", "prismatic")  # joints of one coordinate, whose friction has one direction
JointFrictionLike = float | str | Mapping[str, float] | ArrayLike
Bounds = dict[tuple[int, int, str], float]  # by entries of q and v and the name of the joint: the largest force [N, N m]


def joint_friction(robot: Robot, given: Any) -> Bounds:
    """What an argument ``joint_friction`` says; joints without friction are left out.

    A mimic joint rubs when the joint that it follows moves: its bound, times its ratio, is part of that joint's.
    """
    if isinstance(given, str) and given != URDF:
        raise ArgumentError(f"joint_friction={shown(given)}, expected {URDF!r}, a force, forces by joint, or ({robot.nv},) forces")
    if isinstance(given, str):
        return _together(robot, _of_urdf(robot))
    if isinstance(given, Mapping):
        return _together(robot, _by_name(robot, given))
    if np.ndim(given) == 0:
        most = within(given, 0.0, LARGEST_FRICTION, "joint_friction")
        return _together(robot, {joint.name: most for joint in robot.joints if joint.type in RUBBING and not joint.is_mimic})
    return _by_velocity(robot, vector(given, robot.nv, "joint_friction"))


def _of_urdf(robot: Robot) -> dict[str, float]:
    bounds = {}
    for joint in robot.joints:
        if joint.type in RUBBING:
            bounds[joint.name] = within(joint.friction, 0.0, LARGEST_FRICTION, f"friction of joint {joint.name!r} in the URDF")
        elif joint.friction:
            warnings.warn(f"friction of joint {joint.name!r} does not act: {joint.type} joints have none", UrdfWarning, stacklevel=5)
    return bounds


def _by_name(robot: Robot, given: Mapping[str, float]) -> dict[str, float]:
    joints = {joint.name: joint for joint in robot.joints}
    for name in given:
        if name not in joints:
            raise UnknownNameError("joint", str(name), tuple(joints))
        if joints[name].type not in RUBBING:
            raise ArgumentError(f"joint_friction of {name!r}, a {joints[name].type} joint; expected joints of type {', '.join(RUBBING)}")
    return {name: within(most, 0.0, LARGEST_FRICTION, f"joint_friction of {name!r}") for name, most in given.items()}


def _by_velocity(robot: Robot, given: Any) -> Bounds:
    owners = {joint.iv: joint for joint in robot.joints if joint.type in RUBBING and not joint.is_mimic}
    for iv, most in enumerate(given.tolist()):
        within(most, 0.0, LARGEST_FRICTION, f"joint_friction[{iv}]")
        if most and iv not in owners:
            name = robot.velocity_names[iv]
            raise ArgumentError(f"joint_friction[{iv}]={most:g} of {name!r}, expected 0: only {', '.join(RUBBING)} joints have friction")
    return {_key(joint): float(given[iv]) for iv, joint in sorted(owners.items()) if given[iv]}


def _together(robot: Robot, bounds: Mapping[str, float]) -> Bounds:
    """By the joint that is followed, those of its mimic joints added."""
    masters = {joint.iv: joint for joint in robot.joints if not joint.is_mimic}
    total: Bounds = {}
    for joint in robot.joints:
        most = bounds.get(joint.name, 0.0) * abs(joint.ratio)
        if most:
            key = _key(masters[joint.iv])
            total[key] = total.get(key, 0.0) + most
    return total


def _key(joint: Joint) -> tuple[int, int, str]:
    return joint.iq, joint.iv, joint.name
