"""A simulation described in a TOML file: robot, start, walls, laws and tolerances, checked before anything moves.

All problems of a file are reported at once, each with its line. SI units and world axes; a number may be written as a formula
in quotes ("pi/6", "30 deg", "-(1 + sqrt(3))/2"). ``read_scenario`` describes the layout, schema.py holds it as data.
"""

from __future__ import annotations

import os
import re
import tomllib
from types import MappingProxyType
from typing import Any

import numpy as np

from urdf_gibbs.bundled import scenario_names, scenario_path
from urdf_gibbs.robot.findings import one_line
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.contacts import read_pairs, read_points
from urdf_gibbs.simulation.scenario.lines import key_lines
from urdf_gibbs.simulation.scenario.model import Reference, ReferenceImpact, Scenario
from urdf_gibbs.simulation.scenario.problems import Problem, ScenarioError
from urdf_gibbs.simulation.scenario.robot import read_robot
from urdf_gibbs.simulation.scenario.start import by_joint, position, velocity
from urdf_gibbs.simulation.scenario.values import Values

# The last words of tomllib's messages: the only place where it tells the line before Python 3.14.
AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_scenario(path: str | os.PathLike[str]) -> Scenario:
    """Read a scenario file, or a bundled one by its name.

    ::

        title = "..."
        duration = 1.5                  # s; required
        gravity = [0.0, 0.0, -9.81]     # m/s^2
        law = "newton"                  # newton, newton-equality, poisson
        restitution = 1.0               # of walls and pairs that have none of their own

        [robot]
        file = "branched12.urdf"        # from the folder of this file, or the name of a bundled model; required
        base = "fixed"                  # fixed, floating, planar
        mimic = true
        package_dirs = []

        [[flexible]]                    # an elastic link; what it does not give is as the URDF's own <flexible> of that link has it
        link = "link1"
        modes = "y=clamped-free:2"      # and length, direction, mass_per_length, EI_y, EI_z, EA, GJ, kGA, J = [J'x, J'y, J'z],
        EI_z = 1000.0                   # damping = zeta or [alpha, beta], theory, foreshortening, elastic_rotary

        [start]                         # by joint; what is not named is at zero
        q1 = "pi/6"                     # planar joint: [x, y, angle]
        "link1.elastic" = [0.01, 0.0]   # of an elastic link; or "link1.elastic.y1" = 0.01
        root_joint = {position = [0, 0, 1], rpy = [0, 0, 0]}      # floating; or quaternion = [x, y, z, w]

        [start_velocity]                # by joint; floating: [vx, vy, vz, wx, wy, wz] in the moved frame, planar: [vx, vy, w]
        q1 = 0.5

        [torques]                       # constant, N m or N; as the velocities
        q1 = 2.0

        [tolerances]                    # rtol, atol, max_step, tie, zeno, cycle, resolution
        rtol = 1e-10

        [contacts]
        points = ["O1", {link = "link2", position = [0.5, 0, 0], radius = 0.1, name = "middle"}]      # or "collision"
        pairs = [["O1", "middle"], ["O1", "O5", 0.2]]             # the number is the distance of the centres at contact [m]
        joint_limits = false
        damping = false

        [[walls]]                       # plane, circle, cylinder, sphere, ellipsoid, box, corridor, heightfield
        kind = "circle"                 # the other keys are the arguments of that class of urdf_gibbs.walls
        radius = 2.5
        motion = {kind = "vibration", amplitude = [0, 0.1, 0], omega = 6.0, phase = 0.0}          # or drift, velocity

        [reference]                     # results to compare with; they change nothing
        source = "Shafei 2018, Table 3"

        [[reference.impacts]]           # time and points are required
        time = 0.3851                   # s
        points = ["O1", "O5"]
        angle = 33.12                   # of attack, degrees
        velocity = 6.32                 # change of the normal velocity of each point, m/s
        impulse = 5.26                  # on each point, N s

    ``rpy = [...]`` may stand for a wall's ``rotation``. Raises ScenarioError with all problems of the file, UrdfError where
    only the robot's file is at fault.
    """
    file = os.fspath(path)
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except (OSError, ValueError) as problem:  # ValueError: a NUL byte in the name
        if file in scenario_names():
            return read_scenario(scenario_path(file))
        reason = getattr(problem, "strerror", None) or str(problem)
        expected = f"a readable TOML file, or a bundled scenario: {', '.join(scenario_names())}"
        raise ScenarioError([Problem(one_line(file), 0, "file", reason, expected)]) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise ScenarioError([Problem(file, line, "syntax", f"byte 0x{data[problem.start]:02x}", "UTF-8")]) from None
    return parse_scenario(text, file)


def parse_scenario(text: str, file: str = "<text>") -> Scenario:
    """The scenario in a TOML text; relative names are looked up in the folder of ``file``."""
    try:
        content = tomllib.loads(text)
        lines = key_lines(text.replace("\r\n", "\n"))
    except RecursionError:
        raise ScenarioError([Problem(file, 1, "syntax", "values nested too deeply", "TOML")]) from None
    except ValueError as problem:
        raise ScenarioError([_syntax(problem, text, file)]) from None
    values = Values(file, lines)
    scenario = _scenario(values, content)
    if scenario is None:
        raise values.error()
    return scenario


def _syntax(problem: ValueError, text: str, file: str) -> Problem:
    """What tomllib complains of, on its line."""
    message = str(problem)
    at = AT.search(message)
    line = int(at[1]) if at and at[1] else text.rstrip("\n").count("\n") + 1 if at else 1
    return Problem(file, line, "syntax", one_line(message[: at.start()] if at else message), "TOML")


def _scenario(values: Values, content: dict[str, Any]) -> Scenario | None:
    """The scenario of a file's content; None where something is wrong with it."""
    top = values.record((), content, schema.TOP)
    assert top is not None  # a file is a table
    robot = read_robot(values, top["robot"], top["flexible"])
    if robot is None:
        return None
    q0 = by_joint(values, "start", top["start"], robot, robot.neutral(), position)
    v0 = by_joint(values, "start_velocity", top["start_velocity"], robot, np.zeros(robot.nv), velocity)
    torque = by_joint(values, "torques", top["torques"], robot, np.zeros(robot.nv), velocity)
    contacts = top["contacts"] or {}
    points = read_points(values, contacts.get("points"), robot)
    pairs = read_pairs(values, contacts.get("pairs", ()), robot, points)
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
        law=top["law"],
        restitution=top["restitution"],
        walls=tuple(top["walls"]),
        torque=torque,
        points=points,
        pairs=pairs,
        joint_limits=contacts["joint_limits"],
        damping=contacts["damping"],
        tolerances=MappingProxyType(top["tolerances"]),
        reference=_reference(top["reference"]) if "reference" in top else None,
    )


def _reference(table: dict[str, Any]) -> Reference:
    impacts = (ReferenceImpact(**{**impact, "points": tuple(impact["points"])}) for impact in table["impacts"])
    return Reference(table["source"], tuple(impacts))
