"""pinocchio.Model in and out: built by hand, at random, by its readers of URDF and MJCF; M and bias beside the model's own."""

from __future__ import annotations

import sys
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from ways_in_checks import EXACT, FILES, difference_from_engine, difference_from_model, ours, quiet, relative, states

import urdf_gibbs as ug
from urdf_gibbs.bundled import robot_path
from urdf_gibbs.oracle.engines import PinocchioModel

AXIS = np.array([0.6, 0.0, 0.8])


def place(rng: np.random.Generator) -> Any:
    quaternion = pin.Quaternion(rng.normal(size=4)).normalized()
    return pin.SE3(quaternion, rng.normal(size=3))


def body(rng: np.random.Generator) -> Any:
    A = rng.normal(size=(3, 3))
    spread = 0.01 * (A @ A.T + np.eye(3))  # the second moments of its mass: such a body exists
    return pin.Inertia(rng.uniform(0.2, 2.0), 0.1 * rng.normal(size=3), np.trace(spread) * np.eye(3) - spread)


def built(*joints: Any, seed: int = 0) -> Any:
    """A tree by hand: each joint below the last one or the one before that, with a body, a frame, and names against the order."""
    rng = np.random.default_rng(seed)
    model = pin.Model()
    model.name = "by hand"
    model.appendBodyToJoint(0, body(rng), place(rng))
    last = 0
    for k, joint in enumerate(joints):
        parent = last if k % 3 else max(last - 1, 0)
        last = model.addJoint(parent, joint, place(rng), f"{chr(122 - k)}_joint")
        model.appendBodyToJoint(last, body(rng), place(rng))
        model.addBodyFrame(f"{chr(122 - k)}_body", last, place(rng), 0)
    return model


def composite(*parts: Any, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    joint = pin.JointModelComposite(parts[0], place(rng))
    for part in parts[1:]:
        joint.addJoint(part, place(rng))
    return joint


MODELS = {
    "hinges and slides": lambda: built(pin.JointModelRX(), pin.JointModelPY(), pin.JointModelRZ(), pin.JointModelPX()),
    "unaligned": lambda: built(pin.JointModelRevoluteUnaligned(AXIS), pin.JointModelPrismaticUnaligned(-AXIS), pin.JointModelRUBZ()),
    "free flyer, planar, translation": lambda: built(pin.JointModelFreeFlyer(), pin.JointModelPlanar(), pin.JointModelTranslation()),
    "universal, ZYX, helical": lambda: built(
        pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]),
        pin.JointModelSphericalZYX(),
        pin.JointModelHX(0.3),
        pin.JointModelHelicalUnaligned(AXIS, -0.2),
    ),
    "composites": lambda: built(
        composite(pin.JointModelRX(), pin.JointModelPrismaticUnaligned(AXIS), pin.JointModelRUBY()),
        pin.JointModelRY(),
        composite(pin.JointModelTranslation(), composite(pin.JointModelPZ(), pin.JointModelRZ())),
    ),
    "Pinocchio's humanoid": pin.buildSampleModelHumanoidRandom,
    "Pinocchio's manipulator": pin.buildSampleModelManipulator,
    "panda, mimic": lambda: pin.buildModelFromUrdf(str(robot_path("panda")), mimic=True),
    "tiago, free": lambda: pin.buildModelFromUrdf(str(robot_path("tiago_dual")), pin.JointModelFreeFlyer()),
    "talos, planar": lambda: pin.buildModelFromUrdf(str(robot_path("talos")), pin.JointModelPlanar()),
    "MJCF": lambda: pin.buildModelFromMJCF(str(FILES / "mjcf/arm.xml")),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_in_with_its_dynamics_and_its_order(name: str) -> None:
    model = MODELS[name]()
    robot = quiet(model)
    assert (robot.q_to_pinocchio(robot.neutral()).size, robot.nv) == (model.nq, model.nv)
    assert difference_from_model(robot, model) < EXACT


def test_frames_limits_and_what_is_fixed_come_in() -> None:
    model = built(pin.JointModelRX(), pin.JointModelPZ())
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = [-1.0, -0.2], [2.0, 0.3]
    model.damping[:], model.friction[:] = [0.4, 0.5], [0.1, 0.2]
    robot = quiet(model)
    assert np.array_equal(robot.position_limits, [[-1.0, -0.2], [2.0, 0.3]])
    assert [(joint.damping, joint.friction) for joint in robot.joints] == [(0.4, 0.1), (0.5, 0.2)]
    assert robot.base_inertia.mass == pytest.approx(model.inertias[0].mass)
    q = robot.random(0)
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for frame in ("z_body", "y_body"):
        expected = data.oMf[model.getFrameId(frame)].homogeneous
        assert np.allclose(ug.frame_placement(robot, q, frame), expected, atol=1e-14)  # a few products


def test_a_follower_comes_in() -> None:
    model = built(pin.JointModelRX(), pin.JointModelPY())
    own, leader = pin.JointModel(pin.JointModelRevoluteUnaligned(AXIS)), model.joints[1]
    own.setIndexes(leader.id, leader.idx_q, leader.idx_v, leader.idx_vExtended)
    rng = np.random.default_rng(3)
    follower = model.addJoint(2, pin.JointModelMimic(own, -1.7, 0.4), place(rng), "follower")
    model.appendBodyToJoint(follower, body(rng), place(rng))
    robot = quiet(model)
    assert robot.nv == 2 and robot.joint("follower").ratio == -1.7
    assert difference_from_model(robot, model) < EXACT
    assert quiet(model, mimic=False).nv == 3


def test_armature_is_carried_by_rotors_that_mimic_false_does_not_free() -> None:
    model = built(pin.JointModelRX(), pin.JointModelPY(), composite(pin.JointModelRX(), pin.JointModelRZ()))
    model.armature[:] = [0.3, 0.0, 0.7, 1.1]
    for mimic in (True, False):
        assert difference_from_model(quiet(model, mimic=mimic), model) < EXACT
    bare = model.copy()
    bare.armature[:] = 0.0
    assert difference_from_model(quiet(bare), model) > 1e-3  # the armature is seen
    free = built(pin.JointModelFreeFlyer())
    free.armature[:] = 1.0
    with pytest.warns(ug.UrdfWarning, match=r'joint "z_joint": found armature 1 of a joint with several degrees'):
        ug.load(free)


def test_a_ball_is_three_hinges_and_says_so() -> None:
    model = built(pin.JointModelFreeFlyer(), pin.JointModelSpherical(), composite(pin.JointModelRX(), pin.JointModelSpherical()))
    with pytest.warns(ug.UrdfWarning, match=r'joint "y_joint": found a ball joint, .* hinges y_joint.x, y_joint.y, y_joint.z'):
        robot = ug.load(model)
    assert difference_from_engine(robot, PinocchioModel(robot, model)) < EXACT


def test_another_order_is_said_and_the_dynamics_are_the_same() -> None:
    rng = np.random.default_rng(5)
    model = pin.Model()
    first, second = (model.addJoint(0, pin.JointModelRX(), place(rng), name) for name in ("a", "b"))
    third = model.addJoint(first, pin.JointModelPY(), place(rng), "c")
    for j in (first, second, third):
        model.appendBodyToJoint(j, body(rng), place(rng))
    with pytest.warns(ug.UrdfWarning, match="joints depth first"):
        robot = ug.load(model)
    assert robot.joint_names == ("a", "c", "b")
    assert difference_from_engine(robot, PinocchioModel(robot, model)) < EXACT


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (lambda: built(pin.JointModelEllipsoid(1.0, 2.0, 3.0)), {}, "JointModelEllipsoid"),
        (lambda: built(pin.JointModelFreeFlyer()), {"base": "floating"}, 'base="fixed": the model itself'),
    ],
)
def test_what_cannot_be_carried_is_an_error_with_its_name(make: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ug.UrdfError, match=words):
        ug.load(make(), **options)


def test_validate_compares_the_model_itself() -> None:
    model = MODELS["composites"]()
    report = ug.validate(quiet(model), model, samples=3, methods=["gibbs_appell"], derivatives=False)
    assert report.agrees and {"mass matrix (Pinocchio's model)", "bias"} <= {c.quantity for c in report.comparisons}
    model.inertias[2] = body(np.random.default_rng(9))
    other = ug.validate(quiet(MODELS["composites"]()), model, samples=3, methods=["gibbs_appell"], derivatives=False)
    assert not other.agrees


# Out -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "base", "mimic"),
    [
        ("panda", "fixed", True),
        ("panda", "planar", False),
        ("go2", "floating", True),
        ("talos", "planar", True),
        ("icub", "floating", True),  # inertias that no body can have
        ("ur5", "fixed", True),
        ("branched12", "floating", True),
        (FILES / "mjcf/walker.xml", "fixed", True),
        (FILES / "sdf/press.sdf", "fixed", True),
    ],
)
def test_the_way_out_has_the_same_order_and_dynamics(source: Any, base: str, mimic: bool) -> None:
    robot = quiet(source, base=base, mimic=mimic)
    model = robot.to_pinocchio()
    assert tuple(model.names[j] for j in range(1, model.njoints) if model.joints[j].nv) == robot.joint_names
    assert difference_from_model(robot, model) < EXACT
    assert difference_from_model(quiet(model), model) < EXACT  # and in again


def test_the_way_out_is_what_its_own_reader_makes_of_the_file() -> None:
    """Independent of our reader: limits, frames and coordinates of Pinocchio's model of the same URDF."""
    path = robot_path("talos")
    model, expected = quiet(path, base="floating").to_pinocchio(), pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert list(model.names) == list(expected.names) and (model.nq, model.nv) == (expected.nq, expected.nv)
    for name in ("lowerPositionLimit", "upperPositionLimit", "velocityLimit", "effortLimit", "damping"):
        assert np.array_equal(getattr(model, name)[7:], getattr(expected, name)[7:]), name
    q = pin.neutral(expected)
    pin.framesForwardKinematics(model, mine := model.createData(), q)
    pin.framesForwardKinematics(expected, theirs := expected.createData(), q)
    for frame in ("torso_2_link", "gripper_left_base_link", "head_2_link"):
        one, other = mine.oMf[model.getFrameId(frame)], theirs.oMf[expected.getFrameId(frame)]
        assert np.allclose(one.homogeneous, other.homogeneous, atol=1e-12)  # a dozen products


def test_edited_robots_go_out_with_their_numbers() -> None:
    robot = quiet("go2", base="floating").with_inertia("base", mass=20.0).with_joint_type("FL_calf_joint", "fixed")
    model = robot.to_pinocchio()
    assert difference_from_model(robot, model) < EXACT
    (q, v), *_ = states(robot)
    assert relative(ours(robot, q, v), ours(quiet(robot.to_urdf(), base="floating"), q, v)) < EXACT


def test_planes_that_are_tilted_and_offsets_of_followers_go_out() -> None:
    """A planar joint about any axis with joints below it, and a follower with ratio and offset."""
    tilted = quiet("z1").with_joint_type("joint2", "planar", axis=[0.6, 0.0, 0.8])
    assert difference_from_model(tilted, tilted.to_pinocchio()) < EXACT
    tied = quiet(FILES / "xacro/gripper_description/urdf/gripper.urdf.xacro", mimic=True)
    assert tied.joint("right_joint").offset == 0.001
    assert difference_from_model(tied, tied.to_pinocchio()) < EXACT


LINK = """<link name="{}"><inertial><origin xyz="0.1 0.2 0.05"/><mass value="1.3"/>
<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="0"/></inertial></link>"""
JOINTS = """<joint name="lead" type="continuous"><parent link="a"/><child link="b"/><axis xyz="{axis}"/></joint>
<joint name="follow" type="{kind}"><parent link="b"/><child link="c"/><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="{axis}"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/><mimic joint="lead" multiplier="0.7" offset="0.3"/></joint>
<joint name="last" type="revolute"><parent link="c"/><child link="d"/><origin xyz="0 0.2 0.3" rpy="1 0.2 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>"""


def led(kind: str, axis: str = "0 0 1") -> str:
    """A URDF with a joint that follows a continuous one."""
    return f'<robot name="r">{"".join(map(LINK.format, "abcd"))}{JOINTS.format(kind=kind, axis=axis)}</robot>'


@pytest.mark.parametrize("axis", ["0 0 1", "0.6 0 0.8"])
@pytest.mark.parametrize("kind", ["continuous", "revolute"])
def test_what_follows_a_continuous_joint_goes_out(kind: str, axis: str) -> None:
    """The position is a cosine and a sine there, of which the follower has to make an angle again."""
    robot = quiet(led(kind, axis))
    assert difference_from_model(robot, robot.to_pinocchio()) < EXACT
    if kind == "continuous":  # all that Pinocchio's own reader can read
        own = pin.buildModelFromXML(led(kind, axis), mimic=True)
        assert difference_from_model(robot, own) < EXACT and difference_from_model(quiet(own), own) < EXACT


def test_a_slide_that_follows_a_continuous_joint_is_an_error_out() -> None:
    robot = quiet(led("prismatic"))
    with pytest.raises(ug.ArgumentError, match='"follow" follows "lead", a continuous joint'):
        robot.to_pinocchio()
    bounded = robot.with_joint_type("lead", "revolute")  # as the error says
    assert difference_from_model(bounded, bounded.to_pinocchio()) < EXACT


def test_limits_on_one_side_come_in_and_go_out() -> None:
    model = pin.Model()
    for k, (lower, upper) in enumerate([(-1.0, np.inf), (-np.inf, 2.0), (-np.inf, np.inf), (-1.0, 2.0)]):
        bounds = [np.array([value]) for value in (5.0, 6.0, lower, upper)]
        j = model.addJoint(k, pin.JointModelPX(), pin.SE3.Identity(), f"j{k}", *bounds)
        model.appendBodyToJoint(j, body(np.random.default_rng(k)), pin.SE3.Identity())
    robot = quiet(model)
    for other in (robot, quiet(robot.to_urdf())):
        assert np.array_equal(other.position_limits, [model.lowerPositionLimit, model.upperPositionLimit])
        assert [(joint.effort, joint.velocity) for joint in other.joints] == [(5.0, 6.0)] * 4
    again = robot.to_pinocchio()
    assert np.array_equal(again.lowerPositionLimit, model.lowerPositionLimit) and np.array_equal(again.effortLimit, model.effortLimit)
    compiled = mujoco.MjModel.from_xml_string(robot.to_mjcf())
    assert compiled.jnt_limited.tolist() == [1, 1, 0, 1] and np.array_equal(compiled.jnt_range[0], [-1.0, 1e10])


def test_what_pinocchio_cannot_have_is_an_error() -> None:
    late = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
    <joint name="first" type="continuous"><parent link="a"/><child link="b"/><mimic joint="second"/></joint>
    <joint name="second" type="continuous"><parent link="a"/><child link="c"/></joint></robot>"""
    with pytest.raises(ug.ArgumentError, match='"first" follows "second", which comes after it'):
        quiet(late).to_pinocchio()
    assert quiet(late, mimic=False).to_pinocchio().nv == 2
    with pytest.raises(ug.ArgumentError, match="elastic links"):
        quiet(ug.model_path("flexible_link")).to_pinocchio()


def test_loading_a_urdf_does_not_import_other_libraries() -> None:
    """As long as nothing else was asked for; in a process of its own."""
    import subprocess

    code = "import sys, urdf_gibbs as ug; ug.load('pendulum'); print([m for m in ('pinocchio', 'mujoco', 'pydrake', 'xacro', 'lxml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
