"""The [controller] of a scenario: PD to a pose or along a path, with compensation of gravity, or by computed torque; at a rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

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


class Reference(NamedTuple):
    """Where the joints should be at an instant: coordinates (nq,), and their rates and accelerations, which a pose that stands has not."""

    q: Array
    rate: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class JointController:
    """tau = kp (pose - q) - kd v + g(q) of the joints that turn or slide; a base, mimic joints and elastic links are not driven.

    By inertia (computed torque): tau = M (kp (pose - q) - kd v) + h, M and h being those of the driven joints with a base that does not
    accelerate. Of a robot on a fixed base each joint's error e obeys e'' + kd e' + kp e = 0. Along a path v is that against the path's, and
    by inertia the path's acceleration is added: then the same holds of the distance from the path.

    Attributes:
        robot: What is controlled.
        rate: Calls per second [1/s].
        pose: (nq,) to which the joints are driven, or where a path begins at t = 0.
        kp: (nv,) [N m/rad, N/m]; by inertia [1/s^2].
        kd: (nv,) [N m s/rad, N s/m]; by inertia [1/s].
        gravity: (3,) [m/s^2], against which g(q) holds the joints, and of h; None: g is left out.
        by_inertia: Whether kp and kd give accelerations.
        path: Times [s] and poses (nq,) to be reached then, from rest to rest as s^3 (10 - 15 s + 6 s^2) of the time between; the last is
            held. Empty: the pose stands.
    """

    robot: Robot
    rate: float
    pose: Array
    kp: Array
    kd: Array
    gravity: tuple[float, float, float] | None
    by_inertia: bool = False
    path: tuple[tuple[float, Array], ...] = ()

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The torques (nv,) [N m, N] in a state."""
        iq, iv = self._driven
        tau, wanted = np.zeros(self.robot.nv), self.reference(t)
        tau[iv] = self.kp[iv] * (wanted.q[iq] - q[iq]) + self.kd[iv] * (wanted.rate[iq] - v[iv])
        if self.by_inertia:
            tau[iv] = self._mass_matrix(q)[np.ix_(iv, iv)] @ (tau[iv] + wanted.acceleration[iq]) + self._bias(q, v)[iv]
        elif self.gravity is not None:
            tau[iv] += self._gravity_force(q)[iv]
        return tau

    def reference(self, t: float) -> Reference:
        """Where the joints should be at a time [s]; entries of a floating base mean nothing.

        Args:
            t: [s].

        Returns:
            Coordinates, rates and accelerations, (nq,) each.
        """
        before, start, zero = 0.0, self.pose, np.zeros(len(self.pose))
        for time, pose in self.path:
            if t < time:
                span, s = time - before, (t - before) / (time - before)
                way = pose - start
                shares = s**3 * (10.0 - 15.0 * s + 6.0 * s * s), 30.0 * s * s * (1.0 - s) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
                return Reference(start + shares[0] * way, shares[1] / span * way, shares[2] / span**2 * way)
            before, start = time, pose
        return Reference(start, zero, zero)

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
    path = _path(values, table["path"], robot, pose)
    if table["kind"] == "computed_torque":
        return JointController(robot, table["rate"], pose, kp, kd, gravity, True, path)
    return JointController(robot, table["rate"], pose, kp, kd, gravity if table["kind"] == "gravity_compensation" else None, False, path)


def _path(values: Values, given: Any, robot: Robot, pose: Array) -> tuple[tuple[float, Array], ...]:
    """Times and poses of a path; a joint that one does not name stays where it was in the one before."""
    at, made = 0.0, []
    for k, entry in enumerate(values.items(("controller", "path"), list(given), schema.Items(schema.Record(None), "")) or []):
        path = ("controller", "path", k)
        if entry is None:
            continue
        time = values.number((*path, "time"), entry.get("time", 0.0), schema.Number(above=at, meaning=f"a time after {at:g} s"))
        named = {name: value for name, value in entry.items() if name != "time"}
        pose = by_joint(values, "controller", named, robot, pose.copy(), position, "path")
        if time is not None:
            at = time
            made.append((time, pose))
    return tuple(made)


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
