"""Converts a trajectory to the arrays of one file and back. stored.py checks a file's bytes before they are used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.write import pack, unpack
from urdf_gibbs.simulation.impact_values import NUMBERS, SCALARS, STATES, VECTORS, Impact
from urdf_gibbs.simulation.stored import Shape, check_numbers, check_points, check_shape, read_file, read_header, refuse
from urdf_gibbs.simulation.trajectory import DENSE_TERMS, Phase, Trajectory

FORMAT, VERSION = "urdf_gibbs trajectory", 2
ROWS = ("gravity", "t", "q", "v", "contact_forces", "friction_forces", "joint_friction", "friction_work")


def arrays_of(trajectory: Trajectory) -> dict[str, Any]:
    """The arrays of a file; "header" is JSON, impacts follow each other."""
    robot, robot_arrays = pack(trajectory.robot)
    impacts, phases = trajectory.impacts, trajectory.phases
    header = {
        "format": FORMAT,
        "version": VERSION,
        "robot": robot,
        "contact_names": trajectory.contact_names,
        "status": trajectory.status,
        "settings": trajectory.settings,
        "statistics": trajectory.statistics,
        "impacts": [[impact.points, impact.walls, impact.law] for impact in impacts],
        "phases": [[phase.point, phase.wall, phase.mode] for phase in phases],
    }
    arrays = {name: getattr(trajectory, name) for name in ROWS}
    if trajectory.dense is not None:
        arrays["dense"] = trajectory.dense
    for name in (*VECTORS, *SCALARS):
        empty = np.zeros((0, 3) if name in VECTORS else 0)
        arrays[f"impacts.{name}"] = np.concatenate([empty, *(getattr(impact, name) for impact in impacts)])
    for name in STATES:
        width = trajectory.robot.nq if name == "q" else trajectory.robot.nv
        arrays[f"impacts.{name}"] = np.reshape([getattr(impact, name) for impact in impacts], (len(impacts), width))
    for name in NUMBERS:
        arrays[f"impacts.{name}"] = np.array([getattr(impact, name) for impact in impacts], dtype=np.float64)
    times = [(phase.start, phase.end, phase.accumulation) for phase in phases]
    arrays["phases.times"] = np.reshape(np.array(times, dtype=np.float64), (len(phases), 3))
    arrays |= {f"robot.{name}": array for name, array in robot_arrays.items()}
    return {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays}


# Shapes of a file's entries as far as they are known before it is read; (): the entry is optional.
ROBOT_SHAPES: dict[str, Shape] = {
    "source": (None,),
    "joints": (None, None),
    "placement": (None, 4, 4),
    "mass": (None,),
    "centre_of_mass": (None, 3),
    "inertia": (None, 3, 3),
    "links": (None, 13),
    "base_inertia": (13,),
    "frames": (None, 12),
}
SHAPES: dict[str, Shape] = {
    "header": (None,),
    "gravity": (3,),
    "t": (None,),
    "q": (None, None),
    "v": (None, None),
    "contact_forces": (None, None),
    "friction_forces": (None, None, 3),
    "joint_friction": (None, None),
    "friction_work": (None,),
    "dense": (),
    **{f"impacts.{name}": (None, 3) for name in VECTORS},
    **{f"impacts.{name}": (None,) for name in (*SCALARS, *NUMBERS)},
    **{f"impacts.{name}": (None, None) for name in STATES},
    "phases.times": (None, 3),
    **{f"robot.{name}": shape for name, shape in ROBOT_SHAPES.items()},
}


def read_trajectory(file: BinaryIO) -> Trajectory:
    """The trajectory of an open file."""
    stored = read_file(file, SHAPES)
    header = read_header(stored["header"], FORMAT, VERSION)
    robot = _robot(header["robot"], stored)
    _check_arrays(stored, header, robot)
    check_points(header["settings"].get("points"), len(robot.joints))
    columns = {name: stored[f"impacts.{name}"] for name in (*VECTORS, *SCALARS, *STATES, *NUMBERS)}
    impacts, start = [], 0
    for i, (points, walls, law) in enumerate(header["impacts"]):
        end = start + len(points)
        own = {name: columns[name][start:end] for name in (*VECTORS, *SCALARS)} | {name: columns[name][i] for name in (*STATES, *NUMBERS)}
        impacts.append(Impact(points=tuple(points), walls=tuple(walls), law=law, **own))
        start = end
    times = stored["phases.times"].tolist()
    return Trajectory(
        robot=robot,
        **{name: stored[name] for name in ROWS},
        contact_names=tuple(header["contact_names"]),
        impacts=tuple(impacts),
        phases=tuple(Phase(*names[:2], *own, *names[2:]) for names, own in zip(header["phases"], times, strict=True)),
        status=header["status"],
        settings=header["settings"],
        statistics=header["statistics"],
        dense=stored.get("dense"),
        description=None,
    )


def _robot(values: dict[str, Any], stored: Mapping[str, NDArray[Any]]) -> Robot:
    bodies = len(values["joints"])
    for name in ("joints", "placement", "mass", "centre_of_mass", "inertia"):
        shape = ROBOT_SHAPES[name]
        check_shape(f"robot.{name}", stored[f"robot.{name}"].shape, (bodies, *shape[1:]))
        check_numbers(f"robot.{name}", stored[f"robot.{name}"], "not NaN" if name == "joints" else "finite")
    for name in ("base_inertia", "frames"):
        check_numbers(f"robot.{name}", stored[f"robot.{name}"])
    return unpack(values, {name: stored[f"robot.{name}"] for name in ROBOT_SHAPES})


def _check_arrays(stored: Mapping[str, NDArray[Any]], header: Mapping[str, Any], robot: Robot) -> None:
    """Refuse arrays that do not fit each other, the header or the robot, and invalid times."""
    rows, count, touched = stored["t"].size, len(header["impacts"]), sum(len(points) for points, _, _ in header["impacts"])
    widths = {"q": robot.nq, "v_before": robot.nv, "v_after": robot.nv}
    expected: dict[str, Shape] = {
        "q": (rows, robot.nq),
        "v": (rows, robot.nv),
        "contact_forces": (rows, len(header["contact_names"])),
        "friction_forces": (rows, len(header["contact_names"]), 3),
        "joint_friction": (rows, robot.nv),
        "friction_work": (rows,),
        **{f"impacts.{name}": (touched, 3) for name in VECTORS},
        **{f"impacts.{name}": (touched,) for name in SCALARS},
        **{f"impacts.{name}": (count, width) for name, width in widths.items()},
        **{f"impacts.{name}": (count,) for name in NUMBERS},
        "phases.times": (len(header["phases"]), 3),
    }
    if "dense" in stored:
        expected["dense"] = (rows - 1, DENSE_TERMS, robot.nq + robot.nv)
    for name, shape in expected.items():
        check_shape(name, stored[name].shape, shape)
    for name in ("gravity", "t", "impacts.time", "impacts.rounds"):
        check_numbers(name, stored[name])
    check_numbers("phases.times", stored["phases.times"][:, 0])
    check_numbers("phases.times", stored["phases.times"][:, 1], "not NaN")
    if not rows:
        refuse("t", "empty", "at least one time")
    for name in ("t", "impacts.time"):
        back = np.flatnonzero(np.diff(stored[name]) < 0.0)
        if back.size:
            i = int(back[0]) + 1
            refuse(f"{name}[{i}]", f"{stored[name][i]} s after {stored[name][i - 1]} s", "times that do not go back")
    within = (stored["impacts.time"] >= stored["t"][0]) & (stored["impacts.time"] <= stored["t"][-1])
    if not within.all():
        i = int(np.flatnonzero(~within)[0])
        refuse(f"impacts.time[{i}]", f"{stored['impacts.time'][i]} s", f"a time of the run, {stored['t'][0]} to {stored['t'][-1]} s")
