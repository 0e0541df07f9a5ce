"""The [controller] of kind "drive" of a scenario."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.control_geometry import wheels_of
from urdf_gibbs.simulation.drive import Drive, Route
from urdf_gibbs.simulation.scenario.values import Values

ROUTES = ("steer", "heading", "path")
SAME = 1e-9  # m: points of a path that are nearer to each other are one


def read_drive(values: Values, table: dict[str, Any], robot: Robot, gravity: tuple[float, float, float]) -> Drive | None:
    """The controller of the table; None where something is wrong with it."""
    given = [key for key in ROUTES if key in table]
    if len(given) != 1:
        found = f"{' and '.join(given)} are given" if given else "none of them is given"
        values.wrong(("controller", given[-1] if given else "steer"), found, f"one of {', '.join(ROUTES)}")
        return None
    path = np.array(table["path"]) if "path" in table else None
    if path is not None and np.linalg.norm(np.diff(path, axis=0), axis=1).min() < SAME:
        values.wrong(("controller", "path"), "a point that repeats", "points that differ from the ones before")
        return None
    try:
        wheels = wheels_of(robot, table["steering"], table["wheels"])
    except ArgumentError as problem:
        values.wrong(("controller", "wheels"), str(problem))
        return None
    if "steer" in table and wheels.leading < 0:
        values.wrong(("controller", "steer"), "given without a wheel that is steered", "heading or path, or steering")
        return None
    route = Route(table.get("steer"), table.get("heading"), path, table["look_ahead"])
    numbers = {key: table[key] for key in ("rate", "speed", "ramp", "kp", "kd", "gain")}
    return Drive(robot=robot, wheels=wheels, route=route, slip=table.get("slip"), gravity=gravity, **numbers)
