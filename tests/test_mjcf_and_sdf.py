"""MJCF and SDF files, beside MuJoCo, Drake and Pinocchio, each of which reads the file itself; and MJCF as a way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import trimesh
from examples import runner
from ways_in_checks import EXACT, FILES, difference_from_engine, difference_from_model, quiet, states

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.oracle.engines import Drake, MuJoCo, PinocchioModel
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.sdf import parsed, remarks

MJCF, SDF = FILES / "mjcf", FILES / "sdf"
SCENES = ["arm.xml", "walker.xml", "gripper.xml", "included.xml"]


def plant(file: Path) -> Any:
    with remarks(Findings("")):
        return parsed("", str(file))


# MJCF ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mimic", [True, False])
@pytest.mark.parametrize("file", SCENES)
def test_mujoco_agrees(file: str, mimic: bool) -> None:
    robot = quiet(MJCF / file, mimic=mimic)
    assert difference_from_engine(robot, MuJoCo(robot, mujoco.MjModel.from_xml_path(str(MJCF / file)))) < EXACT


@pytest.mark.parametrize("file", SCENES[:3])  # its reader leaves out what is included inside of a body
def test_pinocchios_own_reader_of_mjcf_agrees(file: str) -> None:
    robot = quiet(MJCF / file, mimic=False)  # an equality is no mimic joint there
    model = pin.buildModelFromMJCF(str(MJCF / file))
    model.gravity.linear = PinocchioModel(robot, model, in_order=True).gravity
    assert difference_from_engine(robot, PinocchioModel(robot, model, in_order=True)) < EXACT


def test_names_limits_frames_and_shapes_come_in() -> None:
    robot = quiet(MJCF / "arm.xml")
    assert robot.joint_names == ("shoulder", "elbow", "twist", "reach", "z_open", "a_open")  # as in the file, not by name
    shoulder, wrist = robot.joint("shoulder"), robot.joint("z_open")
    assert np.allclose([shoulder.lower, shoulder.upper], np.radians([-120.0, 120.0])) and shoulder.damping == 0.4
    assert (wrist.lower, wrist.upper, wrist.friction) == (0.0, 0.04, 0.1)
    shapes = {link.name: [shape.geometry.kind for shape in link.visuals] for link in robot.links}
    assert shapes["base"] == ["cylinder"] and shapes["upper"] == ["capsule"] and shapes["lower"] == ["box"]
    model = mujoco.MjModel.from_xml_path(str(MJCF / "arm.xml"))
    data = mujoco.MjData(model)
    q = robot.random(0)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    ours = ug.frame_placement(robot, q, "tool")
    assert np.allclose(ours[:3, 3], data.site("tool").xpos, atol=1e-14)
    assert np.allclose(ours[:3, :3].ravel(), data.site("tool").xmat, atol=1e-14)  # products of five rotations


def test_the_files_order_stays_in_text_in_edits_and_in_saved_motions(tmp_path: Path) -> None:
    robot = quiet(MJCF / "arm.xml")
    fall = ug.simulate(robot, robot.neutral(), None, 0.01)
    fall.save(tmp_path / "fall.npz")
    saved = ug.Trajectory.load(tmp_path / "fall.npz").robot
    assert saved.fingerprint == robot.fingerprint
    for other in (saved, quiet(robot.to_urdf()), robot.with_joint_type("elbow", "continuous")):
        assert other.joint_names == robot.joint_names


def test_a_mesh_is_found_and_stands_where_its_file_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo moves meshes to their centres of mass."""
    (tmp_path / "assets").mkdir()
    trimesh.creation.box((0.1, 0.2, 0.3)).apply_translation([0.3, 0.0, 0.0]).export(tmp_path / "assets/box.stl")
    (tmp_path / "r.xml").write_text(
        "<mujoco><compiler meshdir='assets'/><asset><mesh file='box.stl' scale='2 1 1'/></asset><worldbody>"
        "<body><joint/><geom type='mesh' mesh='box' pos='0 0 1'/></body></worldbody></mujoco>"
    )
    monkeypatch.chdir(tmp_path.parent)
    robot = quiet(Path(tmp_path.name, "r.xml"))
    (shape,) = robot.links[-1].visuals
    assert Path(shape.geometry.filename) == tmp_path / "assets/box.stl" and shape.geometry.scale == (2.0, 1.0, 1.0)
    assert np.allclose(shape.pose[1], [0.0, 0.0, 1.0]) and np.allclose(np.reshape(shape.pose[0], (3, 3)), np.eye(3))
    assert not [finding for finding in ug.check(tmp_path / "r.xml") if finding.code.startswith("mesh")]


def test_what_is_no_part_of_a_tree_is_named() -> None:
    findings = [str(finding) for finding in ug.check(MJCF / "gripper.xml")]
    for words in (
        'joint "neck": found a ball joint',
        'equality "chain"',
        'tendon "cable": found a tendon with stiffness',
        "gravity=(0, 0, -3.7)",
    ):
        assert any(words in finding for finding in findings), words
    others = [str(finding) for finding in ug.check(MJCF / "included.xml")]
    assert any("a spring of stiffness 4" in finding for finding in others) and any("gravcomp 1" in finding for finding in others)


def test_remarks_of_mujoco_are_notes_and_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """<mujoco><compiler settotalmass="3"/><worldbody><body><joint/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"""
    robot = quiet(text)
    found = [finding.value for finding in robot.findings]
    assert any("settotalmass" in value for value in found) and "an ellipsoid" in found
    assert ug.validate(robot, text, samples=1, methods=["gibbs_appell"], derivatives=False).agrees
    assert list(tmp_path.iterdir()) == [] and mujoco.get_mju_user_warning() is None


def test_an_equality_of_joints_is_a_mimic_joint() -> None:
    robot = quiet(MJCF / "gripper.xml")
    finger = robot.joint("right_finger")
    assert (finger.master, finger.ratio, finger.offset) == ("left_finger", -4.0, 0.1)
    assert quiet(MJCF / "gripper.xml", mimic=False).nv == robot.nv + 1


def test_a_compiled_model_and_text_come_in() -> None:
    model = mujoco.MjModel.from_xml_path(str(MJCF / "walker.xml"))
    for robot in (quiet(model), quiet((MJCF / "walker.xml").read_text()), quiet((MJCF / "walker.xml").read_bytes())):
        assert difference_from_engine(robot, MuJoCo(robot, model)) < EXACT


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", {}, "mass and inertia of moving bodies"),
        ("<mujoco>\n<worldbody>\n<boddy/></worldbody></mujoco>", {}, ":3: error"),
        ((MJCF / "walker.xml").read_text(), {"base": "floating"}, 'base="fixed": the file itself'),
        ("<mujoco><asset><mesh file='no.stl'/></asset><worldbody/></mujoco>", {}, "no.stl.*where the compiler's meshdir says"),
    ],
)
def test_what_mujoco_refuses_is_an_error(text: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ug.UrdfError, match=words):
        ug.load(text, **options)


@pytest.mark.parametrize(
    ("source", "base"),
    [
        ("panda", "fixed"),
        ("go2", "floating"),
        ("talos", "floating"),
        ("ur5", "fixed"),
        ("branched12", "fixed"),  # joints at one place
        (MJCF / "arm.xml", "fixed"),
        (MJCF / "walker.xml", "fixed"),
        (SDF / "arm.sdf", "fixed"),
    ],
)
def test_mjcf_as_a_way_out_is_read_back_by_mujoco_and_pinocchio(source: Any, base: str, tmp_path: Path) -> None:
    robot, path = quiet(source, base=base), tmp_path / "robot.xml"
    text = robot.to_mjcf(path)
    assert path.read_text(encoding="utf-8") == text
    compiled = mujoco.MjModel.from_xml_path(str(path))
    assert [compiled.joint(j).name for j in range(compiled.njnt)] == [one.name for one in robot.joints if not one.name.endswith(".rotor")]
    assert difference_from_engine(robot, MuJoCo(robot, compiled)) < EXACT
    free = quiet(source, base=base, mimic=False)
    assert difference_from_engine(free, PinocchioModel(free, pin.buildModelFromMJCF(str(path)), in_order=True)) < EXACT


@pytest.mark.parametrize(
    ("source", "base", "words"),
    [
        ("panda", "planar", 'the planar joint "root_joint"'),
        ("branched12", "floating", 'the moving body of joint "root_joint" with mass 0'),
        ("flexible_link", "fixed", 'the elastic link "link1"'),
        ("icub", "floating", 'moving body of joint "r_hip_pitch"'),
    ],
)
def test_what_mjcf_cannot_have_is_named(source: str, base: str, words: str) -> None:
    with pytest.raises(ug.ArgumentError, match=words):
        quiet(source, base=base).to_mjcf()


# SDF -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "base", "nv"),
    [
        ("arm.sdf", "fixed", 3),
        ("press.sdf", "fixed", 4),
        ("rover.sdf", "fixed", 4),
        ("rover.sdf", "floating", 10),
        ("two_arms.sdf", "fixed", 2),
    ],
)
def test_drake_and_pinocchio_agree(file: str, base: str, nv: int) -> None:
    robot = quiet(SDF / file, base=base)
    assert robot.nv == nv
    assert difference_from_engine(robot, Drake(robot, plant(SDF / file))) < EXACT
    assert difference_from_model(robot, robot.to_pinocchio()) < EXACT
    report = ug.validate(robot, SDF / file, samples=2, methods=["gibbs_appell"], derivatives=False)  # Pinocchio reads what it becomes
    assert report.agrees and {"mass matrix", "bias", "mass matrix (Drake)", "bias (Drake)"} <= {c.quantity for c in report.comparisons}


def test_links_frames_and_shapes_of_an_sdf() -> None:
    robot = quiet(SDF / "arm.sdf")
    assert {"world", "base", "upper", "rod", "wheel", "tool"} <= set(robot.link_names)
    (box,) = next(link for link in robot.links if link.name == "base").visuals
    assert box.geometry.size == (0.2, 0.2, 0.2) and box.pose[1] == (0.0, 0.0, 0.1)
    assert (robot.joint("shoulder").lower, robot.joint("shoulder").damping) == (-2.0, 0.3)
    drakes = plant(SDF / "arm.sdf")
    engine = Drake(robot, drakes)
    q = robot.random(0)
    engine.dynamics(engine.coordinates(q, np.zeros(3))[0], np.zeros(3))
    expected = drakes.GetFrameByName("tool").CalcPoseInWorld(engine.context).GetAsMatrix4()
    assert np.allclose(ug.frame_placement(robot, q, "tool"), expected, atol=1e-14)  # products of five poses


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("<sdf version='1.7'><model name='m'><link name='a'/><link name='b'/></model></sdf>", {}, "2 links that stand for themselves"),
        ((SDF / "arm.sdf").read_text(), {"base": "floating"}, 'base="fixed": the file itself'),
        ("<sdf version='1.7'><model name='m'><joint name='j' type='fixed'/></model></sdf>", {}, "conversion"),
    ],
)
def test_what_is_no_single_tree_is_an_error(text: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ug.UrdfError, match=words):
        ug.load(text, **options)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_screw_is_one_joint_of_pinocchio_again(base: str) -> None:
    """Also on a robot that stands for itself, whose plant has a quaternion; and with forward dynamics, which no mimic joint has."""
    floor = '<joint name="floor" type="fixed"><parent>world</parent><child>frame</child></joint>'
    text = (SDF / "press.sdf").read_text()
    assert floor in text
    robot = quiet(text.replace(floor, ""), base=base)
    model = robot.to_pinocchio()
    assert model.joints[model.getJointId("thread")].shortname() == "JointModelHZ" and model.nv == robot.nv
    assert difference_from_engine(robot, Drake(robot, parsed(text.replace(floor, ""), ""))) < EXACT
    assert difference_from_model(robot, model) < EXACT
    for q, v in states(robot, 1):
        tau = np.ones(robot.nv)
        expected = pin.aba(model, model.createData(), robot.q_to_pinocchio(q), v, tau)
        found = ug.forward_dynamics(robot, q, v, tau, method="gibbs_appell")
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_names_that_several_models_have_are_told_apart_by_the_models() -> None:
    robot = quiet(SDF / "two_arms.sdf")
    assert robot.joint_names == ("left::turn", "right::turn") and robot.joint("right::turn").upper == 2.0
    assert {"stand", "left::base", "right::arm", "left::tool", "right::tool"} <= set(robot.link_names)
    sizes = {link.name: [shape.geometry.size for shape in link.visuals] for link in robot.links if link.visuals}
    assert sizes == {"left::arm": [(0.05, 0.4)], "right::arm": [(0.07, 0.4)]}
    assert any("<ellipsoid>" in finding.value for finding in robot.findings)
    q, drakes = robot.random(0), plant(SDF / "two_arms.sdf")
    engine = Drake(robot, drakes)
    engine.dynamics(engine.coordinates(q, np.zeros(2))[0], np.zeros(2))
    for path in ("left", "right"):
        frame = drakes.GetFrameByName("tool", drakes.GetModelInstanceByName(f"duo::{path}"))
        expected = frame.CalcPoseInWorld(engine.context).GetAsMatrix4()
        assert np.allclose(ug.frame_placement(robot, q, f"{path}::tool"), expected, atol=1e-14)  # a few poses


def test_models_are_included_as_gazebo_has_it(tmp_path: Path) -> None:
    """model://NAME, for a folder with a model.config."""
    folder = tmp_path / "models/rover"
    folder.mkdir(parents=True)
    (folder / "model.sdf").write_text((SDF / "rover.sdf").read_text())
    (folder / "model.config").write_text('<model><name>rover</name><sdf version="1.7">model.sdf</sdf></model>')
    text = "<sdf version='1.9'><model name='m'><include>\n<uri>model://rover</uri><name>r</name></include></model></sdf>"
    (tmp_path / "m.sdf").write_text(text)
    for source in (text, tmp_path / "m.sdf"):
        robot = quiet(source, package_dirs=[tmp_path / "models"])
        assert robot.nv == 4 and any("included model" in finding.value for finding in robot.findings)
    with pytest.raises(ug.UrdfError, match="model://rover/ beside the file, or the folder that holds"):
        ug.load(text)


def test_what_drake_cannot_integrate_over_is_an_error(tmp_path: Path) -> None:
    """It runs out of memory where the mesh of which it is to take the inertia is not there."""
    text = "<sdf version='1.11'><model name='m'><link name='a'><inertial auto='true'/><collision name='c'><geometry><mesh><uri>no.dae</uri></mesh>"
    (tmp_path / "m.sdf").write_text(f"{text}</geometry></collision></link></model></sdf>")
    with pytest.raises(ug.UrdfError, match="Drake can read"):
        ug.load(tmp_path / "m.sdf")


def test_rotors_of_an_sdf_turn_in_the_world() -> None:
    text = """<sdf version="1.9" xmlns:drake="drake.mit.edu"><model name="m"><link name="a"/><link name="b"/>
    <joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz><limit><effort>10</effort></limit></axis>
    <drake:rotor_inertia>0.001</drake:rotor_inertia><drake:gear_ratio>100</drake:gear_ratio></joint></model></sdf>"""
    robot = quiet(text)
    assert np.isclose(ug.mass_matrix(robot, [0.0], method="gibbs_appell")[0, 0], 1.0 + 0.001 * 100.0**2)
    assert difference_from_engine(robot, Drake(robot, parsed(text, ""))) < EXACT
    with pytest.raises(ug.UrdfError, match="rotor inertias of its actuators"):
        ug.load(text, base="floating")


def test_parts_of_an_sdf_are_found_in_packages(tmp_path: Path) -> None:
    folder = tmp_path / "packages/rover_parts"
    folder.mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>rover_parts</name></package>")
    (folder / "rover.sdf").write_text((SDF / "rover.sdf").read_text())
    text = """<sdf version='1.9'><model name='whole'><include merge='true'><uri>package://rover_parts/rover.sdf</uri></include></model></sdf>"""
    (tmp_path / "whole.sdf").write_text(text)
    with pytest.raises(ug.UrdfError, match="rover_parts"):
        ug.load(tmp_path / "whole.sdf")
    assert quiet(tmp_path / "whole.sdf", package_dirs=[tmp_path / "packages"]).nv == 4


def test_a_closed_loop_of_a_real_robot_is_an_error() -> None:
    from urdf_gibbs.bundled import example_robots

    cassie = next(iter(example_robots().values())).parents[2] / "cassie_description/robots/cassie_v2.sdf"
    with pytest.raises(ug.UrdfError, match="loops"):
        ug.load(cassie)


# Validation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "engine"), [(MJCF / "walker.xml", "MuJoCo"), (SDF / "rover.sdf", "Drake")])
def test_validate_asks_the_engine_of_the_format_too(file: Path, engine: str) -> None:
    done = runner.invoke(app, ["validate", str(file), "--samples", "2", "--method", "gibbs_appell", "--no-derivatives"])
    assert done.exit_code == 0, done.output
    assert f"mass matrix ({engine})" in done.output and "Pinocchio read the URDF that it becomes" in done.output


def test_validate_notices_another_file(tmp_path: Path) -> None:
    text = (MJCF / "walker.xml").read_text().replace('mass="5"', 'mass="5.001"')
    (tmp_path / "other.xml").write_text(text)
    report = ug.validate(quiet(MJCF / "walker.xml"), tmp_path / "other.xml", samples=2, methods=["gibbs_appell"], derivatives=False)
    wrong = {c.quantity for c in report.comparisons if not c.agrees}
    assert {"mass matrix", "mass matrix (MuJoCo)", "bias (MuJoCo)"} <= wrong


def test_derivatives_and_regressors_are_compared_in_the_files_own_order() -> None:
    """Small enough to compile: joints z before a, an armature, a wheel."""
    text = """<mujoco><worldbody><body name="b"><joint name="z" axis="0 1 0" armature="0.2"/><geom size="0.1" pos="0.3 0 0"/>
    <body name="c" pos="0.3 0 0"><joint name="y" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0.1"/></body>
    <body name="d" pos="0.3 0 0"><joint name="a" type="slide" axis="0 0 1"/><geom size="0.1" pos="0 0.1 0"/></body></body></worldbody></mujoco>"""
    robot = quiet(text)
    assert robot.joint_names == ("z", "y", "a")
    assert ug.validate(robot, text, samples=2).agrees
