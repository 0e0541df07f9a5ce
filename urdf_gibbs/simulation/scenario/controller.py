"""The [controller] of a scenario: PD to a pose, with compensation of gravity, or by computed torque; at a rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.urdf import ONE_DOF
from urdf_gibbs.simulation.drive import Drive
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.drive import read_drive
from urdf_gibbs.simulation.scenario.problems import one_of, shown
from urdf_gibbs.simulation.scenario.start import by_joint, position
from urdf_gibbs.simulation.scenario.values import Values

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointController:
    """tau = kp (pose - q) - kd v + g(q) of the joints that turn or slide; a base, mimic joints and elastic links are not driven.

    By inertia (computed torque): tau = M (kp (pose - q) - kd v) + h, M and h being those of the driven joints with a base that does not
    accelerate. Of a robot on a fixed base each joint's error e obeys e'' + kd e' + kp e = 0.

    Attributes:
        robot: What is controlled.
        rate: Calls per second [1/s].
        pose: (nq,) to which the joints are driven.
        kp: (nv,) [N m/rad, N/m]; by inertia [1/s^2].
        kd: (nv,) [N m s/rad, N s/m]; by inertia [1/s].
        gravity: (3,) [m/s^2], against which g(q) holds the joints, and of h; None: g is left out.
        by_inertia: Whether kp and kd give accelerations.
    """

    robot: Robot
    rate: float
    pose: Array
    kp: Array
    kd: Array
    gravity: tuple[float, float, float] | None
    by_inertia: bool = False

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The torques (nv,) [N m, N] in a state."""
        iq, iv = self._driven
        tau = np.zeros(self.robot.nv)
        tau[iv] = self.kp[iv] * (self.pose[iq] - q[iq]) - self.kd[iv] * v[iv]
        if self.by_inertia:
            tau[iv] = self._mass_matrix(q)[np.ix_(iv, iv)] @ tau[iv] + self._bias(q, v)[iv]
        elif self.gravity is not None:
            tau[iv] += self._gravity_force(q)[iv]
        return tau

    @cached_property
    def _driven(self) -> tuple[list[int], list[int]]:
        joints = driven(self.robot)
        return [joint.iq for joint in joints], [joint.iv for joint in joints]

    @cached_property
    def _gravity_force(self) -> Any:
        return kernel(self.robot, "gravity_force", gravity=self.gravity)

    @cached_property
    def _mass_matrix(self) -> Any:
        return kernel(self.robot, "mass_matrix")

    @cached_property
    def _bias(self) -> Any:
        return kernel(self.robot, "bias", gravity=self.gravity)


def driven(robot: Robot) -> list[Joint]:
    """The joints that a controller drives."""
    return [joint for joint in robot.joints if joint.type in ONE_DOF and not joint.is_mimic and joint.beam is None]


Driver = JointController | Drive


def read_controller(values: Values, given: Any, robot: Robot, q0: Array, gravity: tuple[float, float, float]) -> Driver | None:
    """The controller of the table; None where there is none or something is wrong with it."""
    table = _table(values, given)
    if table is None or None in table.values():
        return None
    if table["kind"] == "drive":
        return read_drive(values, table, robot, gravity)
    pose = by_joint(values, "controller", table["pose"], robot, q0.copy(), position, "pose")
    kp, kd = (_gains(values, name, table[name], robot) for name in ("kp", "kd"))
    if table["kind"] == "computed_torque":
        return JointController(robot, table["rate"], pose, kp, kd, gravity, by_inertia=True)
    return JointController(robot, table["rate"], pose, kp, kd, gravity if table["kind"] == "gravity_compensation" else None)


def _table(values: Values, given: Any) -> dict[str, Any] | None:
    """The table with its defaults, whose keys depend on its kind."""
    if given is None:
        return None
    path = ("controller",)
    kind = given.get("kind") if isinstance(given, dict) else None
    if isinstance(kind, str):
        kind = values.read((*path, "kind"), kind, schema.Choice(tuple(schema.CONTROLLERS)))
        return None if kind is None else values.record(path, {**given, "kind": kind}, schema.controller(kind))
    return values.record(path, given, schema.controller("pd"))


def _gains(values: Values, key: str, given: Any, robot: Robot) -> Array:
    """(nv,): one number for all joints, or a table with one for each."""
    path, gains = ("controller", key), np.zeros(robot.nv)
    joints = {joint.name: joint for joint in driven(robot)}
    if not isinstance(given, dict):
        value = values.number(path, given, schema.NOT_NEGATIVE)
        gains[[joint.iv for joint in joints.values()]] = 0.0 if value is None else value
        return gains
    for name, entry in given.items():
        value = values.number((*path, name), entry, schema.NOT_NEGATIVE)
        if name not in joints:
            values.wrong((*path, name), shown(name), one_of(name, joints, "a joint that turns or slides: "))
        elif value is not None:
            gains[joints[name].iv] = value
    return gains
