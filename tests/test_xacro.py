"""Xacros with includes, macros and arguments, beside Pinocchio on what the library expands with packages found by its own rules."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import xacro
from examples import runner
from ways_in_checks import EXACT, FILES, difference_from_model, quiet, read_by_pinocchio

import urdf_gibbs as ug
from urdf_gibbs.cli import app

XACROS = FILES / "xacro"
ARM = XACROS / "arm_description/robots/arm.urdf.xacro"
DOG = XACROS / "dog_description/xacro/dog.urdf.xacro"
CASES: list[tuple[str, dict[str, Any], int]] = [  # file, arguments, nv
    ("arm_description/robots/arm.urdf.xacro", {}, 3),
    ("arm_description/robots/arm.urdf.xacro", {"n": 5, "hand": True}, 5),
    ("cell_description/urdf/cell.xacro", {"second": "true"}, 2),
    ("dog_description/xacro/dog.urdf.xacro", {"payload": 2.5}, 12),
    ("gripper_description/urdf/gripper.urdf.xacro", {"prefix": "left_", "length": 0.2}, 3),
    ("rover_description/urdf/rover.urdf.xacro", {"mast": False}, 3),
    ("rover_description/urdf/rover.urdf.xacro", {}, 4),
]


@pytest.fixture
def ros(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function of ROS that finds packages: the library's own way to $(find ...)."""
    packages = ModuleType("ament_index_python.packages")
    packages.get_package_share_directory = lambda name: str(XACROS / name)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ament_index_python", ModuleType("ament_index_python"))
    monkeypatch.setitem(sys.modules, "ament_index_python.packages", packages)


@pytest.mark.parametrize(("file", "arguments", "nv"), CASES)
def test_dynamics_are_those_of_what_the_library_expands(ros: None, file: str, arguments: dict[str, Any], nv: int) -> None:
    path = XACROS / file
    words = {name: str(value).lower() for name, value in arguments.items()}
    expanded = xacro.process_file(str(path), mappings=words).toxml()
    robot = quiet(path, mimic=False, xacro_args=arguments)
    assert robot.nv == nv and robot.file == str(path)
    assert difference_from_model(robot, read_by_pinocchio(expanded)) < EXACT


def test_arguments_change_the_robot_and_an_unknown_one_is_named() -> None:
    light, heavy = quiet(DOG), quiet(DOG, xacro_args={"payload": 4})
    assert heavy.base_inertia.mass - light.base_inertia.mass == pytest.approx(4.0)
    with pytest.warns(ug.UrdfWarning, match=r'argument "paylod", which it does not have, expected one of legs, payload'):
        ug.load(DOG, xacro_args={"paylod": 4})
    with pytest.warns(ug.UrdfWarning, match="arguments n for a file that is no xacro"):
        ug.load("pendulum", xacro_args={"n": 1})
    with pytest.raises(ug.ArgumentError, match="xacro_args"):
        ug.load(DOG, xacro_args=["payload"])  # type: ignore[arg-type]


def test_text_and_open_files_expand_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ARM.parent)
    with open(ARM, "rb") as file:
        assert quiet(file).nv == 3
    named = io.StringIO(ARM.read_text(encoding="utf-8"))
    named.name = ARM.name
    assert quiet(named, xacro_args={"n": 2}).nv == 2


def test_findings_name_file_and_line_of_the_part_that_is_included(tmp_path: Path) -> None:
    (tmp_path / "part.xacro").write_text(
        '<robot xmlns:xacro="x">\n<xacro:macro name="part" params="n">\n<link name="${n}">\n<inertial><mass value="1"/>\n'
        '<inertia ixx="9" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>\n</xacro:macro></robot>'
    )
    (tmp_path / "whole.xacro").write_text(
        '<robot name="r" xmlns:xacro="x">\n<xacro:include filename="part.xacro"/>\n\n<xacro:part n="a"/>\n<link name="b"/>\n'
        '<joint name="j" type="fixed">\n<parent link="a"/><child link="c"/></joint>\n</robot>'
    )
    findings = {(finding.code, os.path.basename(finding.file), finding.line) for finding in ug.check(tmp_path / "whole.xacro")}
    assert {("triangle-inequality", "part.xacro", 5), ("no-inertial", "whole.xacro", 5), ("unknown-child", "whole.xacro", 6)} <= findings


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ('<link name="${nope}"/>', 3, "'nope' is not defined"),
        ('<xacro:include filename="$(find nowhere)/a.xacro"/>', 3, r"\$\(find nowhere\), expected the folder of that package"),
        ('<link name="$(arg who)"/>', 3, "--xacro-arg who=VALUE"),
        ('<xacro:include filename="missing.xacro"/>', 3, "No such file or directory"),
        ("<xacro:unknown/>", 3, "unknown macro name: xacro:unknown"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', 3, "a macro or file that contains itself"),
        ("<link>", 4, "mismatched tag"),
        ('<xacro:macro name="m"/>', 1, "load the xacro that includes this one"),
        ('<link name="${open(1)}"/>', 3, "open"),
    ],
)
def test_what_cannot_be_expanded_is_an_error_with_its_place(body: str, line: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.xacro"
    path.write_text(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n\n{body}\n</robot>')
    before = xacro.parse, xacro.filestack, xacro.macrostack
    with pytest.raises(ug.UrdfError, match=words) as refusal:
        ug.load(path)
    assert [(finding.file, finding.line) for finding in refusal.value.findings] == [(str(path), line)]
    assert (xacro.parse, xacro.filestack, xacro.macrostack) == before  # the library is left as it was


def test_packages_are_found_where_meshes_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ARM.read_text(encoding="utf-8").replace("../urdf/link.xacro", "$(find arm_description)/urdf/link.xacro")
    lonely = tmp_path / "arm.xacro"
    lonely.write_text(text)
    with pytest.raises(ug.UrdfError, match="find hand_description"):
        ug.load(lonely)
    assert quiet(lonely, package_dirs=[XACROS]).nv == 3
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(XACROS))
    assert quiet(lonely).nv == 3


@pytest.mark.parametrize("command", ["info", "check", "validate", "operations", "equations", "view"])
def test_each_command_takes_arguments_and_packages(command: str, tmp_path: Path) -> None:
    lonely = tmp_path / "arm.urdf.xacro"
    lonely.write_text(ARM.read_text(encoding="utf-8").replace("../urdf/link.xacro", "$(find arm_description)/urdf/link.xacro"))
    more = {
        "equations": ["--format", "python"],
        "validate": ["--samples", "1", "--no-derivatives", "--method", "gibbs_appell"],
        "view": ["--html", str(tmp_path / "a.html")],
    }
    options = ["--xacro-arg", "n=1", "--package-dir", str(XACROS), *more.get(command, [])]
    done = runner.invoke(app, [command, str(lonely), *options])
    assert done.exit_code == 0, done.output
    assert runner.invoke(app, [command, str(lonely)]).exit_code in (1, 2)  # nothing is left of the options
    assert runner.invoke(app, [command, str(lonely), "--xacro-arg", "n"]).exit_code == 2


def test_a_scenario_has_them_too(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(f'duration = 0.1\n[robot]\nfile = "{ARM}"\nxacro_args = {{n = 2, hand = true}}\n')
    assert ug.read_scenario(path).robot.nv == 2 and "palm" in ug.read_scenario(path).robot.link_names
