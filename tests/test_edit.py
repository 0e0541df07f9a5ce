"""Joint types and topology changed on the fly: each edited robot against Pinocchio's reading of the same URDF edited as XML."""

from __future__ import annotations

import math
import pickle
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import FOLDER
from numpy.typing import NDArray
from scene_data import Tree, link_path
from urdf_text import joint as joint_text
from urdf_text import link as link_text
from urdf_text import robot as robot_text

import urdf_gibbs as ug
from urdf_gibbs.oracle.compare import validate
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.robot.meshes import find_mesh
from urdf_gibbs.view.scene import robot_scene

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)
TOLERANCE = 1e-9  # relative to the largest entry
PANDA = FOLDER / "panda_description/urdf/panda.urdf"
GO2 = FOLDER / "go2_description/urdf/go2.urdf"
UR5 = FOLDER / "ur_description/urdf/ur5_robot.urdf"


# The same edits on XML -----------------------------------------------------------------------------------


def elements(path: Path) -> ET.Element:
    return ET.parse(path).getroot()


def text_of(root: ET.Element) -> str:
    return ET.tostring(root, encoding="unicode")


def joint_of(root: ET.Element, name: str) -> ET.Element:
    return next(joint for joint in root.findall("joint") if joint.get("name") == name)


def end(joint: ET.Element, tag: str) -> str:
    found = joint.find(tag)
    assert found is not None
    return found.get("link", "")


def retyped(root: ET.Element, name: str, kind: str, axis: str = "") -> str:
    joint = joint_of(root, name)
    joint.set("type", kind)
    for old in joint.findall("axis") if axis else []:
        joint.remove(old)
    if axis:
        ET.SubElement(joint, "axis", xyz=axis)
    return text_of(root)


def split(root: ET.Element, name: str) -> tuple[str, str]:
    """(without, only) what hangs below a joint."""
    cut = joint_of(root, name)
    gone = {end(cut, "child")}
    joints = [joint for joint in root.findall("joint") if joint is not cut]
    grown = True
    while grown:
        more = {end(joint, "child") for joint in joints if end(joint, "parent") in gone} - gone
        gone |= more
        grown = bool(more)
    parts = (ET.Element("robot", name="rest"), ET.Element("robot", name="part"))
    for link in root.findall("link"):
        parts[link.get("name") in gone].append(link)
    for joint in joints:
        parts[end(joint, "child") in gone].append(joint)
    return text_of(parts[0]), text_of(parts[1])


def origin(joint: ET.Element) -> tuple[list[float], list[float]]:
    found = joint.find("origin")
    given = {} if found is None else found.attrib
    xyz, rpy = ([float(x) for x in given.get(key, "0 0 0").split()] for key in ("xyz", "rpy"))
    return xyz, rpy


def joined(root: ET.Element, other: ET.Element, prefix: str, joint: str) -> str:
    """Both in one <robot>, the other's names with a prefix, and a joint between them."""
    for element in other.iter():
        if element.tag in ("link", "joint") and element.get("name") is not None:
            element.set("name", prefix + element.get("name", ""))
        if element.tag in ("parent", "child"):
            element.set("link", prefix + element.get("link", ""))
        if element.tag == "mimic":
            element.set("joint", prefix + element.get("joint", ""))
    root.extend([*other.findall("link"), *other.findall("joint"), ET.fromstring(joint)])
    return text_of(root)


def check(robot: ug.Robot, text: str, samples: int = 3) -> None:
    """M and bias by the papers' explicit formulation, the names of the coordinates and Jacobians, against Pinocchio."""
    oracle = Oracle(text, robot.base, robot.mimic, GRAVITY)
    assert tuple(oracle.joint_names) == robot.joint_names
    rng = np.random.default_rng(0)
    leaf = robot.joints[-1].child
    for _ in range(samples):
        q, v, zero = robot.random(rng), rng.normal(size=robot.nv), np.zeros(robot.nv)
        expected = oracle.answers(q, v, zero, zero, {leaf: np.zeros(3)})
        for ours, theirs in (
            (ug.mass_matrix(robot, q, method="explicit"), expected.mass_matrix),
            (ug.bias(robot, q, v, method="explicit"), expected.bias),
            (ug.jacobian(robot, q, leaf), expected.jacobians[leaf]),
        ):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * max(1.0, float(np.abs(theirs).max())))


# Types ---------------------------------------------------------------------------------------------------

CHANGES = [
    ("panda revolute to prismatic", PANDA, "panda_joint4", "prismatic", ""),
    ("panda with another axis", PANDA, "panda_joint2", "revolute", "0 0.6 0.8"),
    ("panda revolute to fixed", PANDA, "panda_joint3", "fixed", ""),
    ("panda fixed to revolute", PANDA, "panda_hand_joint", "revolute", "0 0.6 0.8"),
    ("panda fixed to prismatic", PANDA, "panda_joint8", "prismatic", "1 0 0"),
    ("panda revolute to continuous", PANDA, "panda_joint7", "continuous", ""),
    ("panda revolute to planar", PANDA, "panda_joint1", "planar", ""),
    ("panda fixed to floating", PANDA, "panda_hand_joint", "floating", ""),
    ("panda master of a mimic joint fixed", PANDA, "panda_finger_joint1", "fixed", ""),
    ("panda master of a mimic joint turning", PANDA, "panda_finger_joint1", "continuous", ""),
    ("panda mimic joint turning", PANDA, "panda_finger_joint2", "revolute", ""),
    ("rocker arm revolute to prismatic", ug.model_path("rocker_arm"), "joint3", "prismatic", ""),
    ("branched12 prismatic to revolute", ug.model_path("branched12"), "X2", "revolute", ""),
    ("branched12 fixed to revolute where branches part", ug.model_path("branched12"), "end_of_link6", "revolute", "0 1 0"),
    ("branched12 revolute to fixed where branches part", ug.model_path("branched12"), "q6", "fixed", ""),
]


@pytest.mark.parametrize(
    ("path", "joint", "kind", "axis"), [case[1:] for case in CHANGES], ids=[case[0].replace(" ", "-") for case in CHANGES]
)
def test_changed_joint_agrees_with_pinocchio(path: Path, joint: str, kind: str, axis: str) -> None:
    before = ug.load(path)
    fingerprint = before.fingerprint
    edited = before.with_joint_type(joint, kind, [float(x) for x in axis.split()] or None)
    check(edited, retyped(elements(path), joint, kind, axis))
    assert before.fingerprint == fingerprint != edited.fingerprint


def test_the_compiled_formulation_takes_the_new_type() -> None:
    edited = ug.load(ug.model_path("rocker_arm")).with_joint_type("joint2", "prismatic")
    report = validate(edited, retyped(elements(ug.model_path("rocker_arm")), "joint2", "prismatic"), samples=3, derivatives=False)
    assert report.reference == "Pinocchio" and report.agrees, report.worst


@pytest.mark.parametrize("base", ["floating", "planar"])
def test_the_base_is_a_joint_too(base: str) -> None:
    path = ug.model_path("rocker_arm")
    freed = ug.load(path).with_joint_type("root_joint", base)
    assert freed.base == base
    check(freed, path.read_text())
    check(freed.with_joint_type("root_joint", "fixed"), path.read_text())


def test_changes_follow_each_other_and_go_back() -> None:
    robot = ug.load(PANDA)
    there = robot.with_joint_type("panda_joint2", "fixed").with_joint_type("panda_hand_joint", "continuous", (0, 0, 1))
    root = elements(PANDA)
    retyped(root, "panda_joint2", "fixed")
    check(there, retyped(root, "panda_hand_joint", "continuous", "0 0 1"))
    back = there.with_joint_type("panda_hand_joint", "fixed").with_joint_type("panda_joint2", "revolute", (0, 0, 1))
    assert back.fingerprint == robot.fingerprint


def test_limits_stay_where_the_unit_does() -> None:
    robot = ug.load(PANDA)
    old = robot.joint("panda_joint4")
    assert math.isfinite(old.lower + old.velocity + old.effort) and old.damping > 0.0
    turned = robot.with_joint_type("panda_joint4", "revolute", (0, 1, 0)).joint("panda_joint4")
    assert (turned.lower, turned.upper, turned.effort, turned.damping) == (old.lower, old.upper, old.effort, old.damping)
    free = robot.with_joint_type("panda_joint4", "continuous")
    assert (free.joint("panda_joint4").lower, free.joint("panda_joint4").velocity) == (-math.inf, old.velocity)
    again = free.with_joint_type("panda_joint4", "revolute").joint("panda_joint4")  # limits that are gone do not come back as zeros
    assert (again.lower, again.upper, again.velocity) == (-math.inf, math.inf, old.velocity)
    slide = robot.with_joint_type("panda_joint4", "prismatic").joint("panda_joint4")
    assert (slide.lower, slide.upper, slide.velocity, slide.effort, slide.damping) == (-math.inf, math.inf, math.inf, math.inf, 0.0)


def test_changed_inertias_stay() -> None:
    root = elements(PANDA)
    mass = next(link for link in root.findall("link") if link.get("name") == "panda_link5").find("inertial/mass")
    assert mass is not None
    mass.set("value", "7.5")
    edited = ug.load(PANDA).with_inertia("panda_link5", mass=7.5).with_joint_type("panda_joint5", "prismatic")
    check(edited, retyped(root, "panda_joint5", "prismatic"))


# Topology ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "joint", "base"),
    [
        (ug.model_path("branched12"), "q6", "fixed"),
        (ug.model_path("branched12"), "end_of_link3", "planar"),
        (GO2, "FL_hip_joint", "floating"),
    ],
    ids=["arm-of-branched12", "fixed-joint-of-branched12", "leg-of-go2"],
)
def test_detached_parts_agree_with_pinocchio_and_attached_again_they_are_the_robot(path: Path, joint: str, base: str) -> None:
    robot = ug.load(path, base)
    rest, part = robot.detach(joint)
    texts = split(elements(path), joint)
    assert (rest.base, part.base, part.root_link) == (base, "floating", end(joint_of(elements(path), joint), "child"))
    check(rest, texts[0])
    check(part, texts[1])
    same_rest, held = robot.detach(part.root_link, base="fixed")  # by the link, and fixed to the world
    assert same_rest.fingerprint == rest.fingerprint
    check(held, texts[1])
    cut = joint_of(elements(path), joint)
    axis = cut.find("axis")
    given = {} if axis is None or cut.get("type") == "fixed" else {"axis": [float(x) for x in axis.get("xyz", "").split()]}
    whole = rest.attach(end(cut, "parent"), part, origin(cut), joint=cut.get("type", ""), name=joint, **given)
    check(whole, path.read_text())
    assert whole.fingerprint == robot.fingerprint


@pytest.mark.parametrize(("path", "link"), [(PANDA, "panda_link8"), (UR5, "ee_link")], ids=["panda", "ur5"])
@pytest.mark.parametrize("kind", ["fixed", "revolute", "planar"])
def test_attached_gripper_agrees_with_pinocchio(path: Path, link: str, kind: str) -> None:
    robot = ug.load(path)
    gripper = ug.load(ug.model_path("gripper")).detach("wrist")[1]
    palm = ET.fromstring(split(elements(ug.model_path("gripper")), "wrist")[1])
    holding = joint_text("hold", kind, link, "g/palm", xyz=(0.1, -0.2, 0.3), rpy=(0.4, 0.5, 0.6), axis=(0, 0.6, 0.8))
    text = joined(elements(path), palm, "g/", holding)
    edited = robot.attach(link, gripper, ((0.1, -0.2, 0.3), (0.4, 0.5, 0.6)), joint=kind, axis=(0, 1.2, 1.6), name="hold", prefix="g/")
    check(edited, text)
    oracle = Oracle(text, "fixed", True, GRAVITY)
    oracle.pin.framesForwardKinematics(oracle.model, oracle.data, oracle.configuration(edited.neutral()))
    placement = oracle.data.oMf[oracle.model.getFrameId("g/palm", oracle.pin.BODY)].homogeneous
    parent = ug.frame_placement(edited, edited.neutral(), link)
    by_matrix = robot.attach(link, gripper, np.linalg.solve(parent, placement), joint=kind, axis=(0, 1.2, 1.6), name="hold", prefix="g/")
    check(by_matrix, text, samples=1)


def test_two_mobile_robots_become_one() -> None:
    """What the other's base may do is what the new joint says, and its mimic joints still follow."""
    base, other = ug.load(GO2, "floating"), ug.load(ug.model_path("gripper"), "planar")
    text = joined(
        elements(GO2), elements(ug.model_path("gripper")), "arm_", joint_text("arm_pedestal_joint", "fixed", "base", "arm_pedestal")
    )
    check(base.attach("base", other, prefix="arm_"), text)


# Everything else a robot can do --------------------------------------------------------------------------


def test_edited_robot_is_simulated_saved_and_restored(tmp_path: Path) -> None:
    """The pendulum with a vertical slide falls freely: z = -g t^2 / 2."""
    edited = ug.load(ug.model_path("pendulum")).with_joint_type("pivot", "prismatic", (0, 0, 1))
    run = ug.simulate(edited, [0.0], [0.0], 0.4)
    np.testing.assert_allclose(run.q[:, 0], -0.5 * 9.81 * run.t**2, atol=1e-9)
    restored = ug.Trajectory.load(run.save(tmp_path / "run")).robot
    assert restored.fingerprint == edited.fingerprint and restored.joints == edited.joints
    turned = restored.with_joint_type("pivot", "revolute", (0, 1, 0))
    assert turned.fingerprint == ug.load(ug.model_path("pendulum")).fingerprint


@pytest.mark.parametrize("edit", ["type", "attach", "detach"])
def test_edited_robots_are_pickled_and_written(edit: str, tmp_path: Path) -> None:
    robot = ug.load(PANDA)
    rest, hand = robot.detach("panda_hand_joint", base="fixed")
    edited = {
        "type": robot.with_joint_type("panda_joint4", "continuous").with_joint_type("panda_joint4", "revolute"),
        "attach": rest.attach("panda_link8", hand, joint="planar", name="slip"),
        "detach": hand,
    }[edit]
    again = pickle.loads(pickle.dumps(edited))
    assert again.fingerprint == edited.fingerprint and again.source == edited.source
    q = edited.random(0, 2)
    run = ug.Trajectory(edited, GRAVITY, np.array([0.0, 1.0]), q, np.zeros((2, edited.nv)))
    restored = ug.Trajectory.load(run.save(tmp_path / "run")).robot
    assert restored.fingerprint == edited.fingerprint
    freed = restored.with_joint_type("root_joint", "floating")
    assert [joint.velocity for joint in freed.joints[1:]] == [joint.velocity for joint in edited.joints if joint.name != "root_joint"]
    text = edited.source if isinstance(edited.source, str) else edited.source.decode()
    check(ug.load(text, edited.base), text, samples=1)
    np.testing.assert_allclose(ug.mass_matrix(ug.load(text), q[0]), ug.mass_matrix(edited, q[0]), rtol=0, atol=1e-12)
    assert ug.load(text).position_limits[0].tolist() == edited.position_limits[0].tolist()


def test_edited_robot_is_drawn_where_pinocchio_has_its_links() -> None:
    robot = ug.load(PANDA).with_joint_type("panda_joint4", "prismatic")
    robot = robot.attach("panda_link8", ug.load(UR5), ((0.0, 0.0, 0.2), (0.0, 0.0, 0.0)), name="bolt", prefix="second_")
    root = elements(PANDA)
    retyped(root, "panda_joint4", "prismatic")
    holding = joint_text("bolt", "fixed", "panda_link8", "second_world", xyz=(0, 0, 0.2))
    oracle = Oracle(joined(root, elements(UR5), "second_", holding), "fixed", True, GRAVITY)
    q = robot.random(1)
    oracle.pin.framesForwardKinematics(oracle.model, oracle.data, oracle.configuration(q))
    scene = robot_scene(robot, q)
    assert not scene.missing  # meshes of both packages are found
    tree = Tree(scene.commands)
    for link in ("panda_link5", "second_wrist_3_link"):
        expected = oracle.data.oMf[oracle.model.getFrameId(link, oracle.pin.BODY)].homogeneous
        np.testing.assert_allclose(tree.world(*link_path(link)), expected, atol=1e-9)
    assert "second_wrist_3_link" in robot.view().html()


def test_meshes_beside_another_file_are_found(tmp_path: Path) -> None:
    visual = '<visual><geometry><mesh filename="part.stl"/></geometry></visual>'
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.stl").write_text("solid")
        (tmp_path / name / "robot.urdf").write_text(robot_text(link_text(name, visual)))
    both = ug.load(tmp_path / "a/robot.urdf").attach("a", ug.load(tmp_path / "b/robot.urdf"))
    found = {link.name: find_mesh(link.visuals[0].geometry.filename, both.file) for link in both.links}
    assert found == {name: tmp_path / name / "part.stl" for name in ("a", "b")}


def test_elastic_links_are_kept() -> None:
    path = ug.model_path("flexible_two_links")
    robot = ug.load(path)
    text = retyped(elements(path), "X1", "revolute")
    report = validate(robot.with_joint_type("X1", "revolute"), text, samples=2)  # the rigid limit against Pinocchio
    assert "Pinocchio" in report.reference and report.agrees, report.worst
    joint = joint_of(elements(path), "q2")
    rest, part = robot.detach("q2")
    assert [one.is_flexible for one in (rest, part)] == [True, True]
    axis = [float(x) for x in joint.find("axis").get("xyz").split()]  # type: ignore[union-attr]
    whole = rest.attach(end(joint, "parent"), part, origin(joint), joint="revolute", axis=axis, name="q2")
    assert whole.fingerprint == robot.fingerprint
    assert pickle.loads(pickle.dumps(whole)).fingerprint == ug.load(whole.source).fingerprint
    assert robot.attach("ground", part, prefix="p_").velocity_names[-1].startswith("p_link2.elastic")


def test_an_elastic_link_keeps_the_length_that_a_detached_joint_gave_it() -> None:
    root = elements(ug.model_path("flexible_two_links"))
    for entry in root.iter("flexible"):
        entry.attrib.pop("length", None)
        entry.attrib.pop("direction", None)
    robot = ug.load(text_of(root))
    tip = next(joint.get("name", "") for joint in root.findall("joint") if end(joint, "parent") == "link1")
    rest, _ = robot.detach(tip)
    before, after = (one.joint("link1.elastic").beam for one in (robot, rest))
    assert before is not None and after is not None
    assert after.length == before.length == math.hypot(*origin(joint_of(root, tip))[0])
    np.testing.assert_allclose(after.axis, before.axis, atol=1e-15)


# Refusals ------------------------------------------------------------------------------------------------


def gripper() -> ug.Robot:
    return ug.load(ug.model_path("gripper"))


REFUSED: list[tuple[str, type[Exception], str, Any]] = [
    ("unknown joint", ug.UnknownNameError, "no joint named 'x'", lambda: gripper().with_joint_type("x", "fixed")),
    ("unknown type", ug.ArgumentError, "'ball', expected one of revolute", lambda: gripper().with_joint_type("elbow", "ball")),
    ("no axis", ug.ArgumentError, '"wrist" is fixed and has no axis', lambda: gripper().with_joint_type("wrist", "revolute")),
    ("zero axis", ug.ArgumentError, "not all zero", lambda: gripper().with_joint_type("elbow", "revolute", (0, 0, 0))),
    ("axis of four", ug.ArgumentError, "three finite numbers", lambda: gripper().with_joint_type("elbow", "revolute", (0, 0, 0, 1))),
    ("axis of words", ug.ArgumentError, "three finite numbers", lambda: gripper().with_joint_type("elbow", "revolute", "z")),
    (
        "axis for nothing",
        ug.ArgumentError,
        "for a fixed joint, expected none",
        lambda: gripper().with_joint_type("elbow", "fixed", (0, 0, 1)),
    ),
    (
        "master with six",
        ug.ArgumentError,
        "finger_right.*one degree of freedom",
        lambda: gripper().with_joint_type("finger_left", "floating"),
    ),
    ("base of one", ug.ArgumentError, "base cannot be 'revolute'", lambda: gripper().with_joint_type("root_joint", "revolute")),
    ("name of a base", ug.ArgumentError, "free base", lambda: gripper().attach("palm", gripper(), name="root_joint", prefix="p_")),
    ("elastic", ug.ArgumentError, "elastic", lambda: ug.load(ug.model_path("flexible_link")).with_joint_type("link1.elastic", "fixed")),
    ("clashes", ug.ArgumentError, 'link "pedestal", .*joint "elbow".*prefix=', lambda: gripper().attach("palm", gripper())),
    ("name taken", ug.ArgumentError, 'joint "elbow"', lambda: gripper().attach("palm", gripper(), prefix="b_", name="elbow")),
    ("no robot", ug.ArgumentError, "expected a Robot", lambda: gripper().attach("palm", "robot.urdf")),  # type: ignore[arg-type]
    ("unknown link", ug.UnknownNameError, "no link named 'x'", lambda: gripper().attach("x", gripper(), prefix="b_")),
    ("no placement", ug.ArgumentError, "expected a 4x4", lambda: gripper().attach("palm", gripper(), (1, 2, 3), prefix="b_")),
    ("no rotation", ug.ArgumentError, "no rigid motion", lambda: gripper().attach("palm", gripper(), 2.0 * np.eye(4), prefix="b_")),
    ("a mirror", ug.ArgumentError, "no rigid motion", lambda: gripper().attach("palm", gripper(), np.diag([1.0, 1, -1, 1]), prefix="b_")),
    (
        "mimic or not",
        ug.ArgumentError,
        "mimic=True and False",
        lambda: gripper().attach("palm", ug.load(ug.model_path("gripper"), mimic=False), prefix="b_"),
    ),
    ("root", ug.ArgumentError, "'pedestal' is the root link", lambda: gripper().detach("pedestal")),
    ("nothing there", ug.UnknownNameError, "no link or joint named 'x'", lambda: gripper().detach("x")),
    ("across a mimic", ug.ArgumentError, '"finger_right" follows "finger_left" across', lambda: gripper().detach("finger_left")),
    ("base of detach", ug.ArgumentError, "base='ball', expected one of fixed", lambda: gripper().detach("elbow", base="ball")),
]


@pytest.mark.parametrize(
    ("error", "message", "action"), [case[1:] for case in REFUSED], ids=[case[0].replace(" ", "-") for case in REFUSED]
)
def test_what_makes_no_robot_is_refused_by_name(error: type[Exception], message: str, action: Any) -> None:
    with pytest.raises(error, match=message):
        action()


def test_a_name_of_a_link_and_of_a_joint_elsewhere_is_refused() -> None:
    text = robot_text(
        *(link_text(name) for name in ("a", "b", "c")),
        joint_text("b", "revolute", "b", "c", axis=(0, 0, 1)),
        joint_text("j", "revolute", "a", "b", axis=(0, 0, 1)),
    )
    with pytest.raises(ug.ArgumentError, match="'b' is a link and, elsewhere, a joint"):
        ug.load(text).detach("b")
    assert ug.load(text).detach("j")[1].root_link == "b"
