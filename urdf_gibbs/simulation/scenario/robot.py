"""The robot of a scenario: its file, and the elastic links that the scenario adds."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from urdf_gibbs.bundled import SeveralRobotsError, model_names, model_path, robot_path, similar
from urdf_gibbs.errors import ArgumentError, UnknownNameError, UrdfError
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Finding, Findings
from urdf_gibbs.robot.flexible import checked_entry
from urdf_gibbs.robot.load import Reading, load, load_elastic, read_as_urdf, reading_of
from urdf_gibbs.robot.meshes import inside, too_wide
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import NO_INERTIA
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.scenario.lines import line_of
from urdf_gibbs.simulation.scenario.problems import one_of, shown
from urdf_gibbs.simulation.scenario.values import Values

# The key of [[flexible]] that a finding with this code refers to; numbers and flags have been read by then.
KEY_OF = {
    "direction-length": "direction",
    "beam-theory": "theory",
    "modes": "modes",
    "mode-family": "modes",
    "mode-count": "modes",
    "no-stiffness": "modes",
    "unknown-link": "link",
}
ELSEWHERE = ("duplicate", "not-at-tip")  # codes of findings about another element than the elastic link


def read_robot(values: Values, table: dict[str, Any] | None, flexible: Any) -> Robot | None:
    """The robot of the table [robot] with the entries of [[flexible]]; UrdfError where only its own file is at fault."""
    source = _file(values, table["file"]) if table is not None and table["file"] is not None else None
    if table is None or source is None or None in table.values():
        return None
    before = len(values.problems)
    folder = Path(values.file).parent
    dirs = [folder / name for name in table["package_dirs"]]
    elastic = _elastic(values, flexible, source, reading_of(dirs, table["xacro_args"])) if flexible else []
    if len(values.problems) > before:
        return None
    # A scenario may come from anybody: it may open its own folder and packages, but no other folder (robot/meshes.py).
    here = [folder.resolve()]
    elsewhere = tuple(os.fspath(one) for one in dirs if too_wide(one) or not inside(one, here))
    try:
        if elastic:
            robot = load_elastic(source, elastic, table["base"], table["mimic"], dirs, table["xacro_args"])
        else:
            robot = load(source, table["base"], table["mimic"], dirs, table["xacro_args"])
    except UrdfError as problem:
        if not values.problems:
            raise
        values.wrong(("robot", "file"), f"{shown(table['file'])} does not load ({problem.findings[0]})", "a URDF without errors")
        return None
    return replace(robot, _searched_dirs=elsewhere)


def _file(values: Values, name: str) -> Path | None:
    """The robot's file beside the scenario, else the robot of that name that is installed."""
    path = os.path.join(Path(values.file).parent, name)
    if os.path.isfile(path):
        return Path(path)
    if name.removesuffix(".urdf") in model_names():
        return model_path(name.removesuffix(".urdf"))
    try:
        return robot_path(name)
    except SeveralRobotsError as several:
        values.wrong(("robot", "file"), shown(name), f"one of {', '.join(several.known)}")
    except UnknownNameError as unknown:
        near = similar(Path(name).stem, [*unknown.known])
        meant = f" (did you mean {' or '.join(near)}?)" if near else ""
        bundled = ", ".join(model_names())
        expected = f"a URDF file, relative to this file, or a bundled model{meant}: {bundled}"
        values.wrong(("robot", "file"), f"{shown(name)}: no such file", expected)
    return None


def with_links(values: Values, given: dict[str, Any] | None, robot: Robot) -> Robot:
    """The robot with the inertias of the tables [links.NAME]."""
    for name, entry in (given or {}).items():
        path, before = ("links", name), len(values.problems)
        table = values.record(path, entry, schema.LINK)
        if name not in robot.link_names:
            values.wrong(path, "unknown link", one_of(name, robot.link_names))
        elif table is not None and "scale" in table and len(table) > 1:
            values.wrong((*path, "scale"), "given beside others", "scale, or mass, centre_of_mass and inertia")
        elif table and len(values.problems) == before:
            try:
                robot = _with_inertia(robot, name, table)
            except ArgumentError as problem:  # it is elastic
                values.wrong(path, str(problem))
    return robot


def _with_inertia(robot: Robot, name: str, table: dict[str, Any]) -> Robot:
    if "scale" in table:
        own = next((link.inertial for link in robot.links if link.name == name), None) or NO_INERTIA
        scale = table["scale"]
        return robot.with_inertia(name, scale * own.mass, inertia=scale * np.reshape(own.inertia, (3, 3)))
    tensor = None
    if "inertia" in table:
        xx, xy, xz, yy, yz, zz = table["inertia"]
        tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return robot.with_inertia(name, table.get("mass"), table.get("centre_of_mass"), tensor)


# elastic links ----------------------------------------------------------------------------------------


def _elastic(values: Values, given: Any, source: Path, reading: Reading) -> list[dict[str, str]]:
    """The attributes of a <flexible> element for each entry, checked as if they were part of the URDF."""
    entries = values.items(("flexible",), given, schema.Items(schema.Deferred(), "[[flexible]], one for each elastic link")) or []
    by_link: dict[str, dict[str, str]] = {}
    urdf, text = read_as_urdf(source, reading) if entries else (None, "")
    root = xml.parse(text, Findings(str(source))) if text else None
    for k, entry in enumerate(entries):
        path = ("flexible", k)
        before = len(values.problems)
        table = values.record(path, entry, schema.FLEXIBLE)
        if table is None or len(values.problems) > before:
            continue
        link = table["link"]
        attributes = {key: _attribute(value) for key, value in table.items()}
        if link in by_link:
            values.wrong((*path, "link"), f"a second one for {shown(link)}", "one [[flexible]] for each link")
        elif urdf is not None and root is not None:
            findings = Findings(values.file)
            checked_entry(urdf, root, attributes, findings, line_of(values.lines, path))
            for error in findings.errors:
                _report(values, path, table, error)
        by_link[link] = attributes
    return list(by_link.values())


def _report(values: Values, path: Keys, table: dict[str, Any], error: Finding) -> None:
    key = KEY_OF.get(error.code)
    where = f"{error.element}: " if error.code in ELSEWHERE else ""
    values.wrong((*path, key) if key in table else path, where + error.value, error.expected)


def _attribute(value: Any) -> str:
    """A value as an XML attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return " ".join(repr(number) for number in (value if isinstance(value, list) else [value]))
