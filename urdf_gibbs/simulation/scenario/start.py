"""The tables of a scenario that name joints: start, start_velocity and torques."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.tree import ROOT_JOINT
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.scenario.problems import one_of
from urdf_gibbs.simulation.scenario.values import Values

Array = NDArray[np.float64]
Entries = tuple[int, list[float]]  # first index in q or v, and the entries from there


def by_joint(
    values: Values,
    key: str,
    table: dict[str, Any] | None,
    robot: Robot,
    array: Array,
    read: Callable[[Values, Keys, Any, Joint], Entries | None],
    inner: str = "",
) -> Array:
    """``array`` with the entries of the joints that the table ``key`` (or the table ``inner`` in it) names, read-only."""
    head = (key, inner) if inner else (key,)
    joints = {joint.name: joint for joint in robot.joints}
    elastic = {name: (joint, k) for joint in robot.joints if joint.beam is not None for k, name in enumerate(joint.named(()))}
    named: list[tuple[Keys, str, Any]] = [((*head, name), name, value) for name, value in (table or {}).items()]
    while named:
        path, name, value = named.pop(0)
        if isinstance(value, dict) and any(known.startswith(f"{name}.") for known in elastic):
            # Without quotes link1.elastic = 0.1 is a table in a table.
            named += [((*path, part), f"{name}.{part}", deeper) for part, deeper in value.items()]
        elif name in elastic:
            joint, k = elastic[name]
            number = values.number(path, value)
            if number is not None:
                array[(joint.iq if read is position else joint.iv) + k] = number
        elif name not in joints:
            known = one_of(name, (*robot.joint_names, *elastic))
            held = f'{known}; a base that is fixed has no {ROOT_JOINT}, base = "floating" frees it'
            values.wrong(path, "unknown joint", held if name == ROOT_JOINT and robot.base == "fixed" else known)
        elif joints[name].is_mimic:
            values.wrong(path, "a joint that follows another", f'its master "{joints[name].master}", or mimic = false in [robot]')
        else:
            placed = read(values, path, value, joints[name])
            if placed is not None:
                start, entries = placed
                array[start : start + len(entries)] = entries
    array.flags.writeable = False
    return array


def position(values: Values, path: Keys, value: Any, joint: Joint) -> Entries | None:
    """The entries of one joint in q."""
    entries = _pose(values, path, value) if joint.type == "floating" else _entries(values, path, value, joint, "[x, y, angle]")
    return None if entries is None else (joint.iq, entries)


def velocity(values: Values, path: Keys, value: Any, joint: Joint) -> Entries | None:
    """The entries of one joint in v; also used for generalised forces."""
    entries = _entries(values, path, value, joint, "[vx, vy, vz, wx, wy, wz]" if joint.nv == 6 else "[vx, vy, w]")
    return None if entries is None else (joint.iv, entries)


def _entries(values: Values, path: Keys, value: Any, joint: Joint, names: str) -> list[float] | None:
    if joint.nv == 1 and not (joint.beam is not None and isinstance(value, list)):
        number = values.number(path, value)
        return None if number is None else [number]
    if joint.beam is not None:
        names = f"[{', '.join(joint.beam.names)}]"
    expected = f"{joint.nv} numbers for {'an' if joint.beam else 'a'} {joint.type} joint, in the order {names}"
    return values.numbers(path, value, schema.Numbers(joint.nv, expected))


def _pose(values: Values, path: Keys, value: Any) -> list[float] | None:
    """x y z, qx qy qz qw of a floating joint."""
    before = len(values.problems)
    pose = values.record(path, value, schema.POSE)
    if pose is None or len(values.problems) > before:
        return None
    length = math.hypot(*pose["quaternion"])
    turn = _quaternion(*pose["rpy"]) if "rpy" in pose else [entry / length for entry in pose["quaternion"]]
    return [*pose["position"], *turn]


def _quaternion(roll: float, pitch: float, yaw: float) -> list[float]:
    """x y z w of Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(angle / 2.0), math.sin(angle / 2.0)) for angle in (roll, pitch, yaw))
    return [
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    ]
