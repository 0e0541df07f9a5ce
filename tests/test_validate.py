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


SPINS = (
    '<robot name="r"><link name="a">{0}</link><link name="b">{0}</link><link name="c">{0}</link>'
    '<joint name="ab" type="{1}"><parent link="a"/><child link="b"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 0 1"/></joint>'
    '<joint name="bc" type="continuous"><parent link="b"/><child link="c"/><origin xyz="0.3 0.1 0.2"/><axis xyz="1 0 0"/>{2}</joint></robot>'
)
TENSOR = '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0.02" iyz="0.03"/>'


def agrees(text: str, file: Path) -> str:
    file.write_text(text)
    result = runner.invoke(app, ["validate", str(file), "--samples", "2", "--no-derivatives"])
    assert result.exit_code == 0 and result.output.count("\nOK ") == 1, result.output
    return result.output


def test_inertias_without_mass_have_a_momentum(tmp_path: Path) -> None:
    """Of spins alone; there is no centre of mass to be compared."""
    told = agrees(SPINS.format(f'<inertial><mass value="0"/>{TENSOR}</inertial>', "continuous", ""), tmp_path / "spins.urdf")
    assert "momentum" in told and "centre of mass" not in told


@pytest.mark.parametrize(("link", "held"), [("c", "bc"), ("b", "ab")])
def test_what_a_held_mimic_joint_fixes_to_the_world_is_the_worlds(link: str, held: str, tmp_path: Path) -> None:
    """A joint that follows a fixed one is locked: Pinocchio, to which it is free, would count what it carries among what moves."""
    fixed = '<link name="d"/><joint name="ad" type="fixed"><parent link="a"/><child link="d"/></joint></robot>'
    text = SPINS.format(f'<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>{TENSOR}</inertial>', "continuous", "")
    text = text.replace("</robot>", fixed).replace(
        f'<joint name="{held}" type="continuous">', f'<joint name="{held}" type="continuous"><mimic joint="ad"/>'
    )
    assert "centre of mass" in agrees(text, tmp_path / f"{link}.urdf")


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


def test_a_robot_without_mass_or_motion_is_nothing_to_compare(tmp_path: Path) -> None:
    """It is not OK: whatever we compute of it is zero, and so is what Pinocchio computes."""
    still, empty = tmp_path / "still.urdf", tmp_path / "empty.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    still.write_text(f'<robot name="still"><link name="block">{inertial}</link></robot>')
    joint = '<joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint>'
    empty.write_text(f'<robot name="empty"><link name="a">{inertial}</link><link name="b"/>{joint}</robot>')
    report = tmp_path / "report.json"
    result = runner.invoke(app, ["validate", str(still), str(empty), "planar3r", "--samples", "1", "--json", str(report)])
    assert result.exit_code == 3, result.output
    assert re.findall(r"^(OK|NONE|FAIL)", result.output, re.M) == ["NONE", "NONE", "OK"]
    assert "nothing to compare: nothing moves on a fixed base" in result.output
    assert "nothing to compare: no link that moves has a mass" in result.output
    assert "3 comparisons: 1 agreed, 2 had nothing to compare" in result.output
    assert [one["verdict"] for one in json.loads(report.read_text())] == ["nothing to compare", "nothing to compare", "agrees"]
    assert runner.invoke(app, ["validate", str(still), "--base", "floating", "--samples", "1"]).exit_code == 0


def test_the_worst_state_is_printed_where_it_is_asked_for() -> None:
    quiet, verbose = (runner.invoke(app, ["validate", "planar3r", "--samples", "1", *flag]) for flag in ((), ("--verbose",)))
    assert quiet.exit_code == verbose.exit_code == 0
    assert "import urdf_gibbs" not in quiet.output and "import urdf_gibbs" in verbose.output


def test_what_cond_m_allows_is_said_beside_the_figure(tmp_path: Path) -> None:
    """A pendulum of 1e7 kg m^2 that carries one of 1e-6: an acceleration is known to 100 eps cond M, which is more than 1e-9."""
    links = "".join(
        f'<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="{reach} 0 0"/>'
        f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name, mass, reach, inertia in (("a", 1.0, 0.1, 1.0), ("b", 1e4, 1.0, 1e4), ("c", 1e-3, 0.01, 1e-7))
    )
    joints = "".join(
        f'<joint name="{a}{b}" type="continuous"><parent link="{a}"/><child link="{b}"/><axis xyz="0 1 0"/><origin xyz="{x} 0 0"/></joint>'
        for a, b, x in (("a", "b", 0.0), ("b", "c", 1.0))
    )
    file, report = tmp_path / "light.urdf", tmp_path / "report.json"
    file.write_text(f'<robot name="light">{links}{joints}</robot>')
    result = runner.invoke(app, ["validate", str(file), "--samples", "3", "--json", str(report)])
    assert result.exit_code == 0, result.output
    (outcome,) = json.loads(report.read_text())
    forward = [one for one in outcome["quantities"] if one["quantity"] == "forward dynamics"]
    assert all(1e-9 < one["bound"] < 1e-2 and one["error"] <= one["bound"] for one in forward)
    assert all(one["bound"] == 1e-9 for one in outcome["quantities"] if one["quantity"] == "mass matrix")
    assert re.search(r"forward dynamics +│ +\d\.\de-\d\d.*\n.*< \d+e-\d\d", result.output)
    assert "that M's condition allows" in result.output


# against another file ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<robot name="r"><xacro:arg name="x"/><link name="a"/></robot>', "unexpanded xacro"),
        ('<robot name="r"><link name="a"/><link name="b"/></robot>', "a second root"),
    ],
)
def test_a_source_that_is_no_robot_is_an_error(text: str, words: str) -> None:
    """Pinocchio refuses it as well, and formulations that agree with each other say nothing about it."""
    with pytest.raises(ug.UrdfError, match=words):
        ug.validate(ug.load("z1"), text, samples=1, methods=["gibbs_appell"], derivatives=False)


def test_against_names_what_the_files_say_differently(tmp_path: Path) -> None:
    changed, report = tmp_path / "changed.urdf", tmp_path / "report.json"
    text = ug.model_path("rocker_arm").read_text().replace('ixx="0.0427"', 'ixx="0.0428"', 1)
    text = re.sub(r'<joint name="(\w+)" type="revolute">', r'<joint name="\1" type="continuous">', text, count=1)
    changed.write_text(text.replace('<link name="', '<!-- a line more -->\n<link name="', 1))
    result = runner.invoke(app, ["validate", str(changed), "--against", "rocker_arm", "--samples", "1", "--json", str(report)])
    assert result.exit_code == 1, result.output
    line = next(i for i, row in enumerate(changed.read_text().splitlines(), 1) if 'ixx="0.0428"' in row)
    assert re.search(rf'differs: link "\w+" <inertia> ixx: 0.0428 in changed.urdf:{line}, 0.0427 in rocker_arm:{line - 1}', result.output)
    listed = json.loads(report.read_text())[0]["differences"]
    assert [one["what"].split(" ", 2)[2] for one in listed if "ixx" in one["what"]] == ["<inertia> ixx"]
    assert result.output.index("differs:") < result.output.index(", asked 1e-09")


def test_against_tells_an_origin_of_an_inertial_from_that_of_a_joint(tmp_path: Path) -> None:
    moved = tmp_path / "moved.urdf"
    text = ug.model_path("rocker_arm").read_text()
    bare = re.sub(r"<inertial>.*?</inertial>", "", text, count=1, flags=re.DOTALL)
    moved.write_text(re.sub(r'<origin xyz="', '<origin xyz="1', text))
    result = runner.invoke(app, ["validate", str(moved), "--against", "rocker_arm", "--samples", "1", "--no-derivatives"])
    assert re.search(r'differs: link "\w+" <inertial> <origin> xyz: ', result.output)
    assert re.search(r'differs: joint "\w+" <origin> xyz: ', result.output)
    moved.write_text(bare)
    result = runner.invoke(app, ["validate", str(moved), "--against", "rocker_arm", "--samples", "1", "--no-derivatives"])
    assert re.search(r'differs: link "\w+" <inertial>: none in ', result.output)


def test_against_lists_differences_that_change_no_dynamics(tmp_path: Path) -> None:
    limited = tmp_path / "limited.urdf"
    text = ug.model_path("gripper").read_text()
    assert 'upper="0.05"' in text
    limited.write_text(text.replace('upper="0.05"', 'upper="0.06"', 1).replace('value="', 'value="0', 1))  # a number with a zero more
    result = runner.invoke(app, ["validate", str(limited), "--against", "gripper", "--samples", "1", "--no-derivatives"])
    assert result.exit_code == 0, result.output
    assert len(re.findall("differs: ", result.output)) == 1
    assert re.search(r'differs: joint "\w+" <limit> upper: 0.06 in limited.urdf:\d+, 0.05 in gripper:\d+', result.output)


def test_a_reference_that_cannot_be_read_is_no_comparison(tmp_path: Path) -> None:
    assert runner.invoke(app, ["validate", "gripper", "--against", str(tmp_path / "none.urdf")]).exit_code == 2
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot>")
    result = runner.invoke(app, ["validate", "gripper", "--against", str(broken)])
    assert result.exit_code == 2 and "broken.urdf" in result.output


def test_what_pinocchio_loses_is_repaired_and_said(tmp_path: Path) -> None:
    """Its reader drops a whole <inertial> over a missing ixy, refuses a revolute joint without limit, and ignores a planar axis."""
    inertial = '<inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    file = tmp_path / "odd.urdf"
    file.write_text(
        f'<robot name="odd"><link name="a"/><link name="b">{inertial}</link><link name="c">{inertial}</link>'
        '<joint name="one" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 1"/></joint>'
        '<joint name="two" type="planar"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>'
        f'<link name="d">{inertial.replace("2", " 2 ", 1)}</link>'
        '<joint name="three" type="continuous"><parent link="c"/><child link="d"/><axis/></joint></robot>'
    )
    result = runner.invoke(app, ["validate", str(file)])
    assert result.exit_code == 0, result.output
    assert 'mass of link "d" because a number has blanks' in result.output and 'does not move joint "three"' in result.output
    for remark in ("because ixy, ixz, iyz is missing", "without a complete <limit>", 'x-y plane for planar joint "two"'):
        assert remark in result.output


def test_a_robot_too_large_for_pinocchio_is_compared_between_formulations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urdf_gibbs.oracle.pinocchio.MAX_NV", 5)
    result = runner.invoke(app, ["validate", "branched12", "--samples", "2"])
    assert result.exit_code == 0
    assert "against explicit" in result.output and "compared with each other" in result.output
