"""A simulation described in a TOML file: robot, start, walls, laws and tolerances, checked before anything moves.

All problems of a file are reported at once, each with its line. SI units and world axes; a number may be written as a formula
in quotes ("pi/6", "30 deg", "-(1 + sqrt(3))/2"). schema.py says what a file may hold.
"""

from __future__ import annotations

import os
import re
import tomllib
from types import MappingProxyType
from typing import Any

import numpy as np

from urdf_gibbs.arguments import path_of
from urdf_gibbs.bundled import robot_path, scenario_names, scenario_path, similar
from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.robot.findings import one_line
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.contacts import read_friction, read_joint_friction, read_pairs, read_points, read_soil
from urdf_gibbs.simulation.scenario.controller import read_controller
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.scenario.lines import key_lines
from urdf_gibbs.simulation.scenario.model import Reference, ReferenceImpact, Scenario
from urdf_gibbs.simulation.scenario.problems import Problem, ScenarioError
from urdf_gibbs.simulation.scenario.robot import read_robot, with_links
from urdf_gibbs.simulation.scenario.start import by_joint, position, velocity
from urdf_gibbs.simulation.scenario.values import Values

# The end of tomllib's messages: before Python 3.14 the only place that gives the line.
AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

WRITTEN = "a scenario; urdf-gibbs simulate --template {} > scene.toml writes one of a robot"


def read_scenario(path: str | os.PathLike[str]) -> Scenario:
    """Read a scenario file, or a bundled one by its name; ``urdf_gibbs.simulation.scenario`` describes the layout of a file.

    Args:
        path: Of the TOML file, or a name of ``scenario_names()``.

    Returns:
        The scenario: ``simulate(**scenario.arguments())``.

    Raises:
        ArgumentError: The path is none.
        ScenarioError: The file cannot be used; all of its problems are with it.
        UrdfError: The file of the robot alone is at fault.
    """
    return parse_scenario(*scenario_text(path))


def scenario_text(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The TOML of a file, or of a bundled scenario by its name, and the file's path; errors as of ``read_scenario``."""
    file = path_of(path, "path")
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except (OSError, ValueError) as problem:  # ValueError: a NUL byte in the name
        if file in scenario_names():
            return scenario_text(scenario_path(file))
        if _is_robot(file):
            raise ScenarioError([Problem(file, 0, "file", "the name of a robot", WRITTEN.format(file))]) from None
        reason = getattr(problem, "strerror", None) or str(problem)
        near = similar(file, scenario_names())
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        expected = f"a readable TOML file, or a bundled scenario: {', '.join(scenario_names())}{meant}"
        raise ScenarioError([Problem(one_line(file), 0, "file", reason, expected)]) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise ScenarioError([Problem(file, line, "syntax", f"byte 0x{data[problem.start]:02x}", "UTF-8")]) from None
    return text, file


def parse_scenario(text: str, file: str = "<text>") -> Scenario:
    """The scenario in a TOML text; relative names are looked up in the folder of ``file``."""
    return scenario_of(*parsed(text, file), file)


def parsed(text: str, file: str = "<text>") -> tuple[dict[str, Any], dict[Keys, int]]:
    """The tables of a TOML text, and the line of each key."""
    try:
        content = tomllib.loads(text)
        lines = key_lines(text.replace("\r\n", "\n"))
    except RecursionError:
        raise ScenarioError([Problem(file, 1, "syntax", "values nested too deeply", "TOML")]) from None
    except ValueError as problem:
        if text.lstrip().startswith("<"):
            robot = "ROBOT" if file.startswith("<") else file
            raise ScenarioError([Problem(file, 1, "file", "XML, as robots have it", WRITTEN.format(robot))]) from None
        raise ScenarioError([_syntax(problem, text, file)]) from None
    return content, lines


def scenario_of(content: dict[str, Any], lines: dict[Keys, int], file: str = "<text>", robot: Robot | None = None) -> Scenario:
    """The scenario in the tables of a file, which are not changed; ``robot``: of [robot] and [[flexible]], if read before."""
    values = Values(file, lines)
    scenario = _scenario(values, content, robot)
    if scenario is None:
        raise values.error()
    return scenario


def _is_robot(name: str) -> bool:
    try:
        return robot_path(name).is_file()
    except UnknownNameError:
        return False


def _syntax(problem: ValueError, text: str, file: str) -> Problem:
    """The problem that tomllib reports, with its line."""
    message = str(problem)
    at = AT.search(message)
    line = int(at[1]) if at and at[1] else text.rstrip("\n").count("\n") + 1 if at else 1
    return Problem(file, line, "syntax", one_line(message[: at.start()] if at else message), "TOML")


def _scenario(values: Values, content: dict[str, Any], robot: Robot | None) -> Scenario | None:
    """The scenario of a file's content; None where something is wrong with it."""
    top = values.record((), content, schema.TOP)
    assert top is not None  # a file is a table
    robot = read_robot(values, top["robot"], top["flexible"]) if robot is None else robot
    if robot is None:
        return None
    robot = with_links(values, top["links"], robot)
    q0 = by_joint(values, "start", top["start"], robot, robot.neutral(), position)
    v0 = by_joint(values, "start_velocity", top["start_velocity"], robot, np.zeros(robot.nv), velocity)
    torque = by_joint(values, "torques", top["torques"], robot, np.zeros(robot.nv), velocity)
    contacts = top["contacts"] or {}
    friction = read_friction(values, top["friction"])
    controller = read_controller(values, top.get("controller"), robot, q0, tuple(top["gravity"] or ()))
    if "controller" in top and top["torques"]:
        values.wrong(("torques",), "given beside controller", "one of the two")
    points = read_points(values, contacts, robot, [wall for wall in top["walls"] or () if wall is not None])
    joint_friction = read_joint_friction(values, contacts.get("joint_friction", 0.0), robot)
    pairs = read_pairs(values, contacts.get("pairs", ()), robot, points)
    soil = read_soil(values, top, robot)
    if values.problems:
        return None
    return Scenario(
        file=values.file,
        title=top["title"],
        robot=robot,
        q0=q0,
        v0=v0,
        duration=top["duration"],
        gravity=tuple(top["gravity"]),
        scheme=top["scheme"],
        step=top["step"],
        law=top["law"],
        restitution=top["restitution"],
        friction=friction,
        paradox=top["paradox"],
        walls=tuple(top["walls"]),
        torque=torque,
        controller=controller,
        points=points,
        pairs=pairs,
        joint_limits=contacts["joint_limits"],
        damping=contacts["damping"],
        joint_friction=joint_friction,
        tolerances=MappingProxyType(top["tolerances"]),
        reference=_reference(top["reference"]) if "reference" in top else None,
        soil=soil,
    )


def _reference(table: dict[str, Any]) -> Reference:
    impacts = (ReferenceImpact(**{**impact, "points": tuple(impact["points"])}) for impact in table["impacts"])
    return Reference(table["source"], tuple(impacts))
