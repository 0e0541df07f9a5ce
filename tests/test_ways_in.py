"""Each way into ``load``: names, open files, element trees, objects of other libraries; what helps where there is nothing to load."""

from __future__ import annotations

import io
import logging
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
import yourdfpy
from examples import EMPTY, FOLDER, runner
from lxml import etree
from ways_in_checks import EXACT, FILES, difference_from_model, ours, quiet, relative, states

import urdf_gibbs as ug
from urdf_gibbs import described
from urdf_gibbs.bundled import example_names, example_robots, model_names, robot_path
from urdf_gibbs.cli import app

PANDA = FOLDER / "panda_description/urdf/panda.urdf"
NAMES = {  # as people call them, and the file that is meant
    "panda": "panda_description/urdf/panda.urdf",
    "panda_description": "panda_description/urdf/panda.urdf",  # of robot_descriptions: the same repository
    "go2": "go2_description/urdf/go2.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "anymal_b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",  # the file ur3.urdf of that package is empty
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
}


# Names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_robot_of_its_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    robot = quiet(name, mimic=False)
    assert Path(robot.file) == FOLDER / NAMES[name]
    assert difference_from_model(robot, pin.buildModelFromUrdf(str(FOLDER / NAMES[name]))) < EXACT


@pytest.mark.parametrize("name", model_names())
def test_bundled_names_are_names_in_python_too(name: str) -> None:
    assert quiet(name).file == str(ug.model_path(name))


def test_every_robot_of_the_package_has_a_name() -> None:
    named = {path for paths in example_names().values() if len(paths) == 1 for path in paths}
    assert set(example_robots().values()) - named == {FOLDER / EMPTY}


def test_a_file_of_the_working_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ug.model_path("pendulum"), tmp_path / "panda")
    monkeypatch.chdir(tmp_path)
    assert (quiet("panda").name, quiet("panda").nv) == ("pendulum", 1)
    done = runner.invoke(app, ["info", "panda"])
    assert done.exit_code == 0 and "pendulum" in done.output


def test_a_folder_of_that_name_does_not_hide_a_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "go2").mkdir()
    (tmp_path / "mine").mkdir()
    assert quiet("go2").nv == 12 and runner.invoke(app, ["check", "go2"]).exit_code == 0
    with pytest.raises(ug.UrdfError, match="a folder"):
        ug.load("mine")


def test_the_end_of_a_path_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slip in one's own path must not load another robot."""
    monkeypatch.chdir(tmp_path)
    assert quiet("panda_description/urdf/panda.urdf").nv == 8
    for path in ("urdf/panda.urdf", "panda.urdf", "./panda"):
        with pytest.raises(ug.UrdfError, match="did you mean"):
            ug.load(path)


@pytest.mark.parametrize("command", ["info", "check", "view", "equations", "operations"])
def test_commands_take_names(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    more = {"view": ["--html", "a.html"], "equations": ["--format", "c"]}
    assert runner.invoke(app, [command, "pendulum" if command == "view" else "z1", *more.get(command, [])]).exit_code == 0
    done = runner.invoke(app, [command, "pendulun"])
    assert done.exit_code in (1, 2) and "did you mean pendulum" in " ".join(done.output.split())


def test_a_scenario_takes_names(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text('duration = 0.1\n[robot]\nfile = "z1"\n')
    assert ug.read_scenario(path).robot.nv == 7
    path.write_text('duration = 0.1\n[robot]\nfile = "pandaa"\n')
    with pytest.raises(ug.UrdfGibbsError, match=r"did you mean panda\b"):
        ug.read_scenario(path)


# robot_descriptions -----------------------------------------------------------------------------------


def test_a_description_is_read_from_the_cache_and_never_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path))
    with pytest.raises(ug.UrdfError, match="pull go2_description gets them; or load 'go2'"):
        ug.load("go2_description")
    place = next(path for path in described.paths_of("go2_description") if path.suffix == ".urdf")
    assert place.is_relative_to(tmp_path)
    place.parent.mkdir(parents=True)
    shutil.copy(FOLDER / "go2_description/urdf/go2.urdf", place)
    assert (quiet("go2_description").nv, quiet("go2_description").file) == (12, str(place))
    with pytest.raises(ug.UrdfError, match="from robot_descriptions import eve_r3_description"):
        ug.load("eve_r3_description")


# Files and trees -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        str,
        Path.read_text,
        Path.read_bytes,
        lambda path: f"file://{path}",
        lambda path: path.open(encoding="utf-8"),
        lambda path: path.open("rb"),
        lambda path: io.StringIO(path.read_text()),
        lambda path: io.BytesIO(path.read_bytes()),
        ElementTree.parse,
        lambda path: ElementTree.parse(path).getroot(),
        lambda path: etree.parse(str(path)),
        lambda path: etree.parse(str(path)).getroot(),
        lambda path: quiet(path).to_urdf(),
    ],
)
def test_a_urdf_comes_in_by_any_way(make: Any) -> None:
    robot, expected = quiet(make(PANDA)), quiet(PANDA)
    assert robot.joint_names == expected.joint_names and robot.link_names == expected.link_names
    for q, v in states(expected, 1):
        assert relative(ours(robot, q, v), ours(expected, q, v)) < 1e-14  # round-off of angles written out


def test_a_package_name_is_looked_for_in_the_folders() -> None:
    name = "package://panda_description/urdf/panda.urdf"
    assert quiet(name, package_dirs=[FOLDER]).nv == 8
    with pytest.raises(ug.UrdfError, match="--package-dir"):
        ug.load(name)


def test_an_open_file_keeps_its_name_and_meshes() -> None:
    with PANDA.open("rb") as file:
        assert quiet(file).file == str(PANDA)
    with PANDA.open("rb") as file:
        file.read()
        with pytest.raises(ug.ArgumentError, match="nothing is left to read"):
            ug.load(file)
    with pytest.raises(ug.ArgumentError, match="cannot be read"):
        ug.load(file)  # closed


@pytest.mark.parametrize("file", ["panda_description/urdf/panda.urdf", "tiago_description/robots/tiago.urdf"])
def test_an_object_of_yourdfpy_has_the_dynamics_limits_and_shapes_of_its_file(file: str) -> None:
    logging.disable(logging.CRITICAL)
    try:
        loaded = yourdfpy.URDF.load(str(FOLDER / file), load_meshes=False, build_scene_graph=False)
    finally:
        logging.disable(logging.NOTSET)
    robot = quiet(loaded, mimic=False)
    assert difference_from_model(robot, pin.buildModelFromUrdf(str(FOLDER / file))) < EXACT
    expected = quiet(FOLDER / file)
    tied = quiet(loaded)
    assert tied.nv == expected.nv and np.array_equal(tied.position_limits, expected.position_limits)
    assert [len(link.visuals) for link in tied.links] == [len(link.visuals) for link in expected.links]
    assert [joint.effort for joint in tied.joints] == [joint.effort for joint in expected.joints]


def test_a_follower_of_yourdfpy_keeps_ratio_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "gripper.urdf"
    expected = quiet(FILES / "xacro/gripper_description/urdf/gripper.urdf.xacro")
    expected.to_urdf(path)
    robot = quiet(yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=False))
    assert [(joint.ratio, joint.offset) for joint in robot.joints] == [(joint.ratio, joint.offset) for joint in expected.joints]


# What cannot be loaded ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.urdf", b"", "an empty file"),
        ("a.urdf", b" \n", "an empty file"),
        ("a.xacro", b"", "an empty file"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        ("a.zip", b"PK\x03\x04abc", "unpack it"),
        ("a.urdf.gz", b"\x1f\x8b\x08", "gzip"),
        ("a.stl", b"solid a\nfacet normal", "a mesh"),
        ("b.stl", bytes(84), "a mesh"),
        ("a.dae", b"<COLLADA/>", "a mesh"),
        ("a.yaml", b"a: 1\n", "YAML"),
        ("a.json", b'{"links": []}', "JSON"),
        ("a.toml", b"duration = 1", "urdf-gibbs simulate"),
        ("package.xml", b"<package><name>a</name></package>", "a URDF in that package's folder"),
        ("a.srdf", b'<robot name="a"><group name="g"/></robot>', "an SRDF"),
        ("a.urdf", b"<!DOCTYPE html><html><head></head></html>", "download the raw file"),
        ("a.urdf", b"<!doctype html>\n<html><br></html>", "download the raw file"),
        ("a.urdf", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("a.launch", b"<launch/>", "a launch file"),
        ("a.usd", b"PXR-USDC\0\0", "USD"),
        ("a.mjb", b"MJB\0\0", "the MJCF that it was made from"),
        ("a.txt", b"a robot", "text that is no XML"),
        ("a.xml", b"<mujocoinclude/>", "the file that includes it"),
    ],
)
def test_a_file_of_another_kind_gets_a_sentence(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ug.UrdfError) as refusal:
        ug.load(tmp_path / name)
    (finding,) = refusal.value.findings
    assert words in f"{finding.value} {finding.expected}" and finding.file == str(tmp_path / name)
    assert runner.invoke(app, ["check", str(tmp_path / name)]).exit_code == 1


@pytest.mark.parametrize("source", ["https://example.org/panda.urdf", "git@example.org:a/b.git", "s3://a/b.urdf"])
def test_a_url_is_not_fetched(source: str) -> None:
    with pytest.raises(ug.UrdfError, match="nothing is downloaded"):
        ug.load(source)


def test_a_folder_says_what_is_in_it(tmp_path: Path) -> None:
    with pytest.raises(ug.UrdfError, match="no URDF, xacro, SDF or MJCF file is in this folder"):
        ug.load(tmp_path)
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf/arm.urdf").touch()
    (tmp_path / "hand.xacro").touch()
    with pytest.raises(ug.UrdfError, match=r"one of the files in it: hand.xacro, urdf/arm.urdf"):
        ug.load(str(tmp_path))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("pandaa", "did you mean panda?"),
        ("Branched12", "did you mean branched12"),
        ("anymal", "the name of 2 robots, expected one of anymal_b, anymal_c"),
        ("spot", "did you mean spot_mj_description"),
        ("iiwa", "did you mean iiwa14_description or iiwa14_mj_description or iiwa7_description?"),
        ("ur5e", "did you mean ur5e_description or ur5"),
        ("nothing_like_it_at_all", "the name of an installed robot"),
        ("panda.urd", "did you mean"),
        ("", "a readable URDF file"),
        ("a\0b", "a readable URDF file"),
    ],
)
def test_a_name_that_is_none_says_what_could_be_meant(source: str, words: str) -> None:
    with pytest.raises(ug.UrdfError) as refusal:
        ug.load(source)
    assert words in str(refusal.value)


def test_a_file_with_nearly_that_name_is_named(tmp_path: Path) -> None:
    (tmp_path / "my_robot.urdf").touch()
    with pytest.raises(ug.UrdfError, match=r"did you mean .*my_robot\.urdf"):
        ug.load(tmp_path / "my_robto.urdf")


def test_names_without_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urdf_gibbs.robot.elsewhere.example_names", dict)
    monkeypatch.setattr("urdf_gibbs.bundled.example_names", dict)
    monkeypatch.setattr("urdf_gibbs.robot.elsewhere.described_names", tuple)
    with pytest.raises(ug.UrdfError, match="pip install example-robot-data"):
        ug.load("panda")
    with pytest.raises(ug.UnknownNameError):
        robot_path("panda")


@pytest.mark.parametrize("source", [3, None, object(), [1, 2], {"a": 1}])
def test_what_is_no_source_is_an_argument_error(source: Any) -> None:
    with pytest.raises(ug.ArgumentError, match="expected a path, the name of an installed robot"):
        ug.load(source)


# Back out as a URDF --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "base"), [("panda", "fixed"), ("go2", "floating"), ("icub", "planar")])
def test_an_edited_robot_is_the_same_for_pinocchio(name: str, base: str) -> None:
    robot = quiet(name, mimic=False)
    link = robot.joints[-1].child
    robot = robot.with_inertia(link, mass=3.3, centre_of_mass=[0.1, 0.2, 0.3])
    assert difference_from_model(robot, pin.buildModelFromXML(robot.to_urdf())) < EXACT


def test_an_elastic_robot_keeps_its_beams() -> None:
    robot = quiet("flexible_two_links")
    again = quiet(robot.to_urdf())
    assert again.is_flexible and again.velocity_names == robot.velocity_names
    q, v = robot.random(0), np.ones(robot.nv)
    for one in ("mass_matrix", "bias"):
        found, expected = (
            getattr(ug, one)(r, *((q,) if one == "mass_matrix" else (q, v)), method="gibbs_appell_flexible") for r in (again, robot)
        )
        assert np.allclose(found, expected, rtol=1e-12)  # its section is integrated again


def test_meshes_are_found_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes/a.stl").write_bytes(bytes(84))
    (tmp_path / "meshes/a.png").write_bytes(b"\x89PNG")
    text = '<robot name="r"><link name="a"><visual><geometry><mesh filename="meshes/a.stl"/></geometry>{}</visual></link></robot>'
    text = text.replace("{}", '<material name="m"><texture filename="meshes/a.png"/></material>')
    (tmp_path / "a.urdf").write_text(text)
    robot = quiet(tmp_path / "a.urdf")
    (tmp_path / "below").mkdir()
    assert str(tmp_path / "meshes/a.png") in robot.to_urdf(tmp_path / "below/b.urdf")
    assert str(tmp_path / "meshes/a.stl") in robot.to_urdf(tmp_path / "below/b.urdf") == (tmp_path / "below/b.urdf").read_text()
    assert 'filename="meshes/a.stl"' in robot.to_urdf(tmp_path / "c.urdf") and 'filename="meshes/a.stl"' in robot.to_urdf()
    with pytest.raises(ug.ArgumentError, match="expected a path"):
        robot.to_urdf(3)  # type: ignore[arg-type]


def test_a_robot_with_free_mimic_joints_stays_free() -> None:
    assert quiet(quiet("panda", mimic=False).to_urdf()).nv == 9 and quiet(quiet("panda").to_urdf()).nv == 8
