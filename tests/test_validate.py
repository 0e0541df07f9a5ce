"""``urdf-gibbs validate``: what it says of odd robots, and its negative controls. On every URDF of example-robot-data: test_robots.py."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from examples import EMPTY, FILES, FOLDER, runner

import urdf_gibbs as ug
from urdf_gibbs.cli import app


def test_the_collection_is_whole() -> None:
    assert len(FILES) >= 69
    assert EMPTY in FILES


def test_bases_are_compared_in_the_order_of_the_call(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = runner.invoke(app, ["validate", "gripper", "--base", "fixed", "--base", "floating", "--samples", "1", "--json", str(report)])
    assert result.exit_code == 0, result.output
    assert [outcome["base"] for outcome in json.loads(report.read_text())] == ["fixed", "floating"]
    assert len(re.findall(r"^OK ", result.output, re.M)) == 2


def test_a_file_without_links_is_refused_with_exit_code_2() -> None:
    result = runner.invoke(app, ["validate", str(FOLDER / EMPTY)])
    assert result.exit_code == 2
    assert "no <link>" in result.output


def test_singular_robots_say_that_forward_dynamics_does_not_exist() -> None:
    result = runner.invoke(
        app, ["validate", str(FOLDER / "romeo_description/urdf/romeo_laas_small.urdf"), "--samples", "2", "--no-derivatives"]
    )
    assert result.exit_code == 0
    assert "forward dynamics does not exist: M is singular (l_gripper_joint, r_gripper_joint)" in result.output


def test_missing_mimic_masters_are_freed_and_said(tmp_path: Path) -> None:
    """As in alex_psyonic_hands.urdf, on a smaller robot."""
    text = Path(ug.model_path("gripper")).read_text(encoding="utf-8")
    assert text.count("<mimic joint=") == 1
    file = tmp_path / "gripper.urdf"
    file.write_text(re.sub(r'<mimic joint="[^"]*"', '<mimic joint="nobody"', text), encoding="utf-8")
    result = runner.invoke(app, ["validate", str(file), "--samples", "1"])
    assert result.exit_code == 0
    assert "mimic joints are free here" in result.output


# negative controls ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('ixx="0.0427"', 'ixx="0.0428"'),
        ('<mass value="0.6"/>', '<mass value="0.6001"/>'),
        ('xyz="0.1 -0.05 0"', 'xyz="0.1 -0.0501 0"'),
    ],
)
def test_one_perturbed_number_is_found(old: str, new: str, tmp_path: Path) -> None:
    original = ug.model_path("rocker_arm")
    text = original.read_text()
    assert old in text
    changed = tmp_path / "changed.urdf"
    changed.write_text(text.replace(old, new, 1))
    same = runner.invoke(app, ["validate", str(original), "--against", str(original), "--samples", "3"])
    assert same.exit_code == 0
    result = runner.invoke(app, ["validate", str(changed), "--against", str(original), "--samples", "3"])
    assert result.exit_code == 1
    assert "FAIL" in result.output
    line = re.search(r"the worst state: (import urdf_gibbs; .*)", result.output)
    assert "seed 0" in result.output and line is not None
    exec(line[1], {})  # the line can be pasted


def test_a_robot_without_degrees_of_freedom_validates(tmp_path: Path) -> None:
    file = tmp_path / "block.urdf"
    file.write_text('<robot name="block"><link name="block"/></robot>')
    result = runner.invoke(app, ["validate", str(file)])
    assert result.exit_code == 0, result.output


def test_what_pinocchio_loses_is_repaired_and_said(tmp_path: Path) -> None:
    """Its reader drops a whole <inertial> over a missing ixy, refuses a revolute joint without limit, and ignores a planar axis."""
    inertial = '<inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    file = tmp_path / "odd.urdf"
    file.write_text(
        f'<robot name="odd"><link name="a"/><link name="b">{inertial}</link><link name="c">{inertial}</link>'
        '<joint name="one" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 1"/></joint>'
        '<joint name="two" type="planar"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint></robot>'
    )
    result = runner.invoke(app, ["validate", str(file)])
    assert result.exit_code == 0, result.output
    for remark in ("because ixy, ixz, iyz is missing", "without a complete <limit>", 'x-y plane for planar joint "two"'):
        assert remark in result.output


def test_a_robot_too_large_for_pinocchio_is_compared_between_formulations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urdf_gibbs.oracle.pinocchio.MAX_NV", 5)
    result = runner.invoke(app, ["validate", "branched12", "--samples", "2"])
    assert result.exit_code == 0
    assert "against explicit" in result.output and "compared with each other" in result.output
