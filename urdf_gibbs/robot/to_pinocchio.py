"""A robot as a pinocchio.Model, joint by joint: the same order, axes, limits and inertias."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.errors import ArgumentError, OracleMissingError
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.rotors import armatures, is_rotor, screws
from urdf_gibbs.robot.spatial import plane_rotation

LETTERS = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}
UNLIMITED = 1.01  # of cosines, sines and quaternions: what Pinocchio's own reader gives them
TWO_LINKS = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
<axis xyz="{} {} {}"/></joint></robot>"""


def to_pinocchio(robot: Robot) -> Any:
    """See Robot.to_pinocchio."""
    try:
        import pinocchio as pin
    except ImportError as problem:
        raise OracleMissingError from problem
    if robot.is_flexible:
        raise ArgumentError(f"{robot!r} has elastic links, which Pinocchio does not know, expected rigid links")
    model = pin.Model()
    model.name = robot.name
    numbers: dict[int, int] = {-1: 0}  # of bodies in the model
    behind = {-1: pin.SE3.Identity()}  # a body's frame in that of its joint in the model
    slides = screws(robot)
    hinges = {slide: hinge for hinge, slide in slides.items()}
    for i in range(len(robot.joints)):
        if is_rotor(robot, i) or i in slides:
            continue
        first = hinges.get(i, i)  # a screw is one joint there, with the body of its slide
        joint, turn = robot.joints[first], pin.SE3.Identity()
        if joint.type == "planar":  # Pinocchio's moves in the x-y plane
            turn = pin.SE3(np.reshape(plane_rotation(joint.axis), (3, 3)), np.zeros(3))
        parent = robot.parent[first]
        place = behind[parent] * pin.SE3(robot.placement[first][:3, :3], robot.placement[first][:3, 3]) * turn
        made = _joint(pin, model, robot, joint, numbers) if first == i else _screw(pin, joint, robot.joints[i].ratio)
        j = numbers[i] = numbers[first] = model.addJoint(numbers[parent], made, place, joint.name, *_limits(joint))
        if not joint.is_mimic:
            own = slice(model.joints[j].idx_v, model.joints[j].idx_v + joint.nv)
            model.friction[own], model.damping[own] = joint.friction, joint.damping
        behind[i] = turn.inverse()
        model.addJointFrame(j, -1)
        model.appendBodyToJoint(j, _body(pin, float(robot.mass[i]), robot.centre_of_mass[i], robot.inertia[i]), behind[i])
    fixed = robot.base_inertia
    model.inertias[0] = _body(pin, fixed.mass, np.array(fixed.centre_of_mass), np.reshape(fixed.inertia, (3, 3)))
    for link, (body, (rotation, translation)) in robot._frames.items():
        if body in numbers and body not in slides:
            model.addBodyFrame(link, numbers[body], behind[body] * pin.SE3(np.reshape(rotation, (3, 3)), np.array(translation)), -1)
    model.armature = armatures(robot)
    return model


def _joint(pin: Any, model: Any, robot: Robot, joint: Joint, numbers: dict[int, int]) -> Any:
    if joint.is_mimic:
        master = next(k for k, other in enumerate(robot.joints) if other.name == joint.master)
        what = f'joint "{joint.name}" follows "{joint.master}"'
        if master not in numbers:
            raise ArgumentError(f"{what}, which comes after it: Pinocchio cannot have that, expected a robot loaded with mimic=False")
        turns = robot.joints[master].type == "continuous"  # cosine and sine there, which another continuous joint alone can follow
        if turns and joint.type == "prismatic":
            raise ArgumentError(
                f"{what}, a continuous joint, which no slide follows in Pinocchio, expected a robot loaded with mimic=False, or "
                f'robot.with_joint_type("{joint.master}", "revolute")'
            )
        leader = model.joints[numbers[master]]
        kind = "prismatic" if joint.type == "prismatic" else "continuous" if turns else "revolute"
        own = pin.JointModel(_plain(pin, joint, kind))
        own.setIndexes(leader.id, leader.idx_q, leader.idx_v, leader.idx_vExtended)
        return pin.JointModelMimic(own, joint.ratio, joint.offset)
    return _plain(pin, joint, joint.type)


def _screw(pin: Any, joint: Joint, pitch: float) -> Any:
    letter = LETTERS.get(joint.axis)
    return getattr(pin, f"JointModelH{letter}")(pitch) if letter else pin.JointModelHelicalUnaligned(np.array(joint.axis), pitch)


def _plain(pin: Any, joint: Joint, kind: str) -> Any:
    """A joint that follows no other."""
    if kind == "floating":
        return pin.JointModelFreeFlyer()
    if kind == "planar":
        return pin.JointModelPlanar()
    letter, axis = LETTERS.get(joint.axis), np.array(joint.axis)
    if kind == "revolute":
        return getattr(pin, f"JointModelR{letter}")() if letter else pin.JointModelRevoluteUnaligned(axis)
    if kind == "prismatic":
        return getattr(pin, f"JointModelP{letter}")() if letter else pin.JointModelPrismaticUnaligned(axis)
    if letter:
        return getattr(pin, f"JointModelRUB{letter}")()
    # From Python that class takes no axis: one with it comes from Pinocchio's reader.
    return pin.buildModelFromXML(TWO_LINKS.format(*map(repr, joint.axis))).joints[1].extract()


def _limits(joint: Joint) -> list[Any]:
    """Effort, velocity, lower and upper positions, as addJoint takes them; none for mimic joints."""
    if joint.is_mimic:
        return []
    ones = np.ones(joint.nv)
    if joint.type in ("revolute", "prismatic"):
        lower, upper = np.array([joint.lower]), np.array([joint.upper])
    else:
        free = {"continuous": [UNLIMITED] * 2, "planar": [math.inf, math.inf, UNLIMITED, UNLIMITED]}
        upper = np.array(free.get(joint.type, [math.inf] * 3 + [UNLIMITED] * 4))
        lower = -upper
    return [joint.effort * ones, joint.velocity * ones, lower, upper]


def _body(pin: Any, mass: float, centre: Array, inertia: Array) -> Any:
    """An inertia; number by number, since the constructor refuses those that no body can have, which files have all the same."""
    body = pin.Inertia.Zero()
    body.mass, body.lever, body.inertia = mass, centre, 0.5 * inertia + 0.5 * inertia.T
    return body
