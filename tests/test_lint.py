"""The whole lint: meshes, motions without inertia, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_validate import FOLDER, runner

import urdf_gibbs as ug
from urdf_gibbs.cli import app

HEAVY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def singular_joints(source: object) -> dict[str, str]:
    found = [finding for finding in ug.check(source) if finding.code == "singular"]
    return {finding.element.split('"')[1]: finding.value for finding in found}


def test_icubs_point_mass_head_is_found_by_physics() -> None:
    """Every link of the neck has mass; still, at q = 0 roll and yaw turn about one line, and a point has no inertia to tell them apart."""
    found = singular_joints(FOLDER / "icub_description/robots/icub.urdf")
    assert found.keys() == {"neck_roll", "neck_yaw"}
    assert all("q = 0" in value for value in found.values())


def test_romeos_massless_hands_are_found() -> None:
    found = singular_joints(FOLDER / "romeo_description/urdf/romeo_laas_small.urdf")
    assert found.keys() == {"l_gripper_joint", "r_gripper_joint"}
    assert all("every q" in value for value in found.values())


@pytest.mark.parametrize("axis", ["0 0 1", "0.48 0.6 0.64"])
def test_a_point_mass_on_its_own_axis_is_found(axis: str) -> None:
    x, y, z = (float(v) * 3.7 for v in axis.split())
    point = f'<inertial><origin xyz="{x} {y} {z}"/><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = (
        f'<robot name="r"><link name="a"/><link name="b">{point}</link>'
        f'<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="{axis}"/>{LIMIT}</joint></robot>'
    )
    assert singular_joints(text).keys() == {"j"}
    assert singular_joints(text.replace('ixx="0"', 'ixx="1e-9"').replace('iyy="0"', 'iyy="1e-9"').replace('izz="0"', 'izz="1e-9"')) == {}


def test_a_massless_link_that_carries_mass_is_fine() -> None:
    text = (
        f'<robot name="r"><link name="a"/><link name="b"/><link name="c">{HEAVY}</link>'
        f'<joint name="j" type="prismatic"><parent link="a"/><child link="b"/>{LIMIT}</joint>'
        f'<joint name="k" type="revolute"><parent link="b"/><child link="c"/>{LIMIT}</joint></robot>'
    )
    assert singular_joints(text) == {}


def test_meshes_are_looked_for_where_ros_keeps_them(tmp_path: Path) -> None:
    package = tmp_path / "robot_description"
    (package / "urdf").mkdir(parents=True)
    (package / "meshes").mkdir()
    (package / "meshes" / "here.stl").write_bytes(b"solid")
    names = [
        "package://robot_description/meshes/here.stl",
        "../meshes/here.stl",
        "package://robot_description/meshes/gone.stl",
        "gone.stl",
        "",
    ]
    visuals = "\n".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names)
    file = package / "urdf" / "robot.urdf"
    file.write_text(f'<robot name="r"><link name="a">{HEAVY}\n{visuals}\n</link></robot>')
    missing = [(finding.line, finding.value) for finding in ug.check(file) if finding.code == "mesh-missing"]
    assert missing == [(4, 'filename="package://robot_description/meshes/gone.stl"'), (5, 'filename="gone.stl"'), (6, 'filename=""')]


def test_all_meshes_of_the_collection_are_found() -> None:
    for file in ("panda_description/urdf/panda.urdf", "talos_data/robots/talos_reduced.urdf"):
        assert not [finding for finding in ug.check(FOLDER / file) if finding.code == "mesh-missing"]


def test_the_command_prints_one_line_a_finding_and_sets_the_exit_code(tmp_path: Path) -> None:
    bad = tmp_path / "bad.urdf"
    bad.write_text('<robot name="r">\n<link name="a"/>\n<link name="a"/>\n</robot>\n')
    result = runner.invoke(app, ["check", str(bad)])
    assert result.exit_code == 1
    assert (
        f'{bad}:3: error: link "a": found a second one, the first is at line 2, expected unique link names [duplicate]'
        in result.output.splitlines()
    )
    questionable = tmp_path / "questionable.urdf"
    questionable.write_text('<robot name="r">\n<link name="a"/>\n</robot>\n')
    assert runner.invoke(app, ["check", str(questionable)]).exit_code == 0
    assert runner.invoke(app, ["check", "--strict", str(questionable)]).exit_code == 1
    report = tmp_path / "report.json"
    runner.invoke(app, ["check", str(bad), str(questionable), "--json", str(report)])
    assert [entry["error"] for entry in json.loads(report.read_text())] == [1, 0]


def test_bundled_models_are_clean_but_for_the_rocker_arm_as_printed() -> None:
    """WJ's Table 3 gives links 3 and 5 no inertia about their own axes."""
    for name in ug.model_names():
        found = [finding for finding in ug.check(ug.model_path(name)) if finding.severity != "note"]
        assert {finding.code for finding in found} == ({"singular"} if name == "rocker_arm" else set())
    assert singular_joints(ug.model_path("rocker_arm")).keys() == {"joint3", "joint5"}
