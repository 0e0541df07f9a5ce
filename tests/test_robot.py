"""The robot: order, names and coordinates as Pinocchio has them, merged and mimic joints without loss, immutability, long chains."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import urchin
from numpy.typing import NDArray
from urdf_text import (
    XML,
    inertial,
    joint,
    link,
    numbers,
    pinocchio_mass_matrix,
    pinocchio_model,
    random_joint,
    random_link,
    random_tree,
    robot,
)

from urdf_gibbs import ArgumentError, Robot, UnknownNameError, UrdfWarning, bias, frame_placement, jacobian, load, mass_matrix, model_path

Array = NDArray[np.float64]
ROUND_OFF = 1e-12  # a few hundred operations on numbers of order one, eps = 2e-16
BASES = ("fixed", "floating", "planar")


def quiet(source: Any, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load(source, **options)


def assert_same_dynamics(text: str, base: str = "fixed", states: int = 3) -> None:
    """M and h equal those of Pinocchio's own reading of the text."""
    robot_, model = quiet(text, base=base), pinocchio_model(text, base)
    data = model.createData()
    rng = np.random.default_rng(1)
    assert (robot_.nv, robot_.q_to_pinocchio(robot_.neutral()).size) == (model.nv, model.nq)
    for _ in range(states):
        q, v = robot_.random(rng), rng.normal(size=robot_.nv)
        np.testing.assert_allclose(mass_matrix(robot_, q), pinocchio_mass_matrix(model, robot_.q_to_pinocchio(q)), atol=10 * ROUND_OFF)
        np.testing.assert_allclose(bias(robot_, q, v), pin.nonLinearEffects(model, data, robot_.q_to_pinocchio(q), v), atol=100 * ROUND_OFF)


# Order -----------------------------------------------------------------------------------------------

# Upper case before lower, "j10" before "j2", accents last: the order of bytes, not that of a dictionary or of numbers.
SIBLINGS = ("é", "j2", "a", "j10", "B", "_", "Z", "j1", "ß", "joint 3", "-", "機")


@pytest.mark.parametrize("base", BASES)
def test_siblings_come_in_the_byte_order_of_their_names(base: str) -> None:
    text = random_tree([(name, "revolute", "root", f"l{i}") for i, name in enumerate(SIBLINGS)])
    robot_, model = quiet(text, base=base), pinocchio_model(text, base)
    assert robot_.joint_names == tuple(model.names)[1:]
    assert robot_.joint_names[-len(SIBLINGS) :] == tuple(sorted(SIBLINGS, key=lambda name: name.encode()))
    assert_same_dynamics(text, base)


def test_tree_comes_depth_first_whatever_the_order_in_the_file() -> None:
    joints = [
        ("z", "revolute", "b", "d"),
        ("m", "revolute", "a", "c"),
        ("B", "prismatic", "c", "e"),
        ("a", "continuous", "c", "f"),
        ("k", "revolute", "a", "b"),
        ("A", "revolute", "f", "g"),
        ("y", "revolute", "b", "h"),
    ]
    text = random_tree(joints)
    assert quiet(text).joint_names == tuple(pinocchio_model(text).names)[1:] == ("k", "y", "z", "m", "B", "a", "A")
    assert quiet(text).link_names == ("a", "b", "h", "d", "c", "e", "f", "g")
    assert_same_dynamics(text)
    assert_same_dynamics(random_tree(joints[::-1]))


@pytest.mark.parametrize("seed", range(5))
def test_order_counts_fixed_joints_before_they_are_merged(seed: int) -> None:
    """A fixed joint "m" between "a" and "z" brings its own subtree there, although its joints sort elsewhere by name."""
    rng = np.random.default_rng(seed)
    joints, names = [], ["l0"]
    for i, number in enumerate(rng.permutation(14)):
        kind = rng.choice(["fixed", "fixed", "revolute", "prismatic", "continuous"])
        joints.append((f"j{number}", str(kind), names[rng.integers(len(names))], f"l{i + 1}"))
        names.append(f"l{i + 1}")
    text = random_tree(joints, seed)
    assert quiet(text).joint_names == tuple(pinocchio_model(text).names)[1:]
    assert_same_dynamics(text)


# Fixed joints ----------------------------------------------------------------------------------------

ARM = random_tree(
    [
        ("foot", "fixed", "ground", "base"),
        ("shoulder", "revolute", "base", "upper"),
        ("bracket", "fixed", "upper", "cover"),
        ("screw", "fixed", "cover", "logo"),
        ("elbow", "continuous", "cover", "lower"),
        ("slide", "prismatic", "lower", "hand"),
        ("flange", "fixed", "hand", "tool"),
        ("tip", "fixed", "tool", "tip"),
        ("camera", "fixed", "base", "camera"),
    ],
    seed=7,
)


@pytest.mark.parametrize("base", BASES)
def test_merging_fixed_joints_loses_no_inertia(base: str) -> None:
    assert_same_dynamics(ARM, base)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ["ground", "base", "camera", "upper", "cover", "logo", "lower", "hand", "tool", "tip"])
def test_every_link_is_addressable_after_merging(base: str, name: str) -> None:
    robot_, model = quiet(ARM, base=base), pinocchio_model(ARM, base)
    data = model.createData()
    frame = model.getFrameId(name, pin.FrameType.BODY)
    for q in robot_.random(3, 3):
        there = robot_.q_to_pinocchio(q)
        pin.computeJointJacobians(model, data, there)
        pin.updateFramePlacements(model, data)
        J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(frame_placement(robot_, q, name), data.oMf[frame].homogeneous, atol=ROUND_OFF)
        np.testing.assert_allclose(jacobian(robot_, q, name), J, atol=ROUND_OFF)


def test_jacobian_of_a_point_is_that_of_a_link_fixed_there() -> None:
    point = (0.3, -0.2, 0.5)
    with_tip = ARM.replace(
        "</robot>", link("probe", inertial(0.0, moments=(0, 0, 0))) + joint("p", "fixed", "tool", "probe", xyz=point) + "</robot>"
    )
    robot_, model = quiet(ARM), pinocchio_model(with_tip)
    data = model.createData()
    q = robot_.random(5)
    J = pin.computeFrameJacobian(model, data, robot_.q_to_pinocchio(q), model.getFrameId("probe"), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    np.testing.assert_allclose(jacobian(robot_, q, "tool", point), J, atol=ROUND_OFF)


def test_what_is_fixed_to_the_world_is_kept_as_base_inertia() -> None:
    """Pinocchio puts it into the inertia of its universe."""
    ours, theirs = quiet(ARM).base_inertia, pinocchio_model(ARM).inertias[0]
    assert ours.mass == pytest.approx(theirs.mass, rel=1e-14)
    np.testing.assert_allclose(ours.centre_of_mass, theirs.lever, atol=ROUND_OFF)
    np.testing.assert_allclose(np.reshape(ours.inertia, (3, 3)), theirs.inertia, atol=ROUND_OFF)


def test_robot_of_fixed_joints_has_no_coordinates() -> None:
    robot_ = quiet(random_tree([("j", "fixed", "a", "b"), ("k", "fixed", "b", "c")]))
    assert (robot_.nq, robot_.nv, robot_.joint_names, len(robot_.branches)) == (0, 0, (), 0)
    assert mass_matrix(robot_, np.zeros(0)).shape == (0, 0)
    assert frame_placement(robot_, np.zeros(0), "c").shape == (4, 4)


# Immutability ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["name", "nq", "nv", "joints", "mass", "placement", "base", "findings", "links", "anything"])
def test_field_of_a_robot_cannot_be_set(field: str) -> None:
    robot_ = quiet(ARM)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(robot_, field, 1)


@pytest.mark.parametrize(
    "record",
    [lambda r: r.joints[0], lambda r: r.links[0], lambda r: r.frame("tip"), lambda r: r.branches[0]],
    ids=["joint", "link", "frame", "branch"],
)
def test_record_of_a_robot_cannot_be_changed(record: Callable[[Robot], Any]) -> None:
    found = record(quiet(ARM))
    for field in dataclasses.fields(found):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(found, field.name, 1)


@pytest.mark.parametrize("name", ["placement", "mass", "centre_of_mass", "inertia"])
def test_array_of_a_robot_is_read_only(name: str) -> None:
    array = getattr(quiet(ARM), name)
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0.0


def test_position_limits_cannot_be_changed_through_what_is_returned() -> None:
    robot_ = quiet(ARM)
    before = robot_.random(0, 5)
    for array in robot_.position_limits:
        try:
            array[...] = 0.0
        except ValueError:
            continue  # read-only is one way to keep the promise, a copy is the other
    np.testing.assert_array_equal(robot_.random(0, 5), before)


def test_returned_arrays_are_independent_copies() -> None:
    robot_ = quiet(ARM)
    for make in (
        robot_.neutral,
        lambda: robot_.random(0),
        lambda: robot_.frame("tip").placement,
        lambda: mass_matrix(robot_, robot_.neutral()),
    ):
        first = make().copy()
        returned = make()
        if returned.flags.writeable:
            returned[...] = 17.0
        np.testing.assert_array_equal(make(), first)


# Coordinates and names -------------------------------------------------------------------------------

SIX = ("vx", "vy", "vz", "wx", "wy", "wz")
MIXED = random_tree(
    [
        ("a", "revolute", "l0", "l1"),
        ("b", "floating", "l1", "l2"),
        ("c", "continuous", "l2", "l3"),
        ("d", "planar", "l3", "l4"),
        ("e", "prismatic", "l4", "l5"),
        ("f", "fixed", "l5", "l6"),
    ],
    seed=3,
)


@pytest.mark.parametrize(("base", "nq", "nv"), [("fixed", 0, 0), ("floating", 7, 6), ("planar", 3, 3)])
def test_coordinates_of_the_base_come_first(base: str, nq: int, nv: int) -> None:
    robot_ = quiet(MIXED, base=base)
    root = {"fixed": (), "floating": tuple(f"root_joint.{s}" for s in SIX), "planar": tuple(f"root_joint.{s}" for s in ("vx", "vy", "w"))}[
        base
    ]
    assert robot_.velocity_names == (*root, "a", *(f"b.{s}" for s in SIX), "c", "d.vx", "d.vy", "d.w", "e")
    assert robot_.joint_names == (("root_joint",) if root else ()) + ("a", "b", "c", "d", "e")
    assert (robot_.nq, robot_.nv) == (nq + 1 + 7 + 1 + 3 + 1, nv + 1 + 6 + 1 + 3 + 1)
    assert (robot_.nv, len(robot_.velocity_names)) == (pinocchio_model(MIXED, base).nv,) * 2
    assert robot_.root_link == "l0"


def test_indices_of_the_joints_follow_each_other() -> None:
    robot_ = quiet(MIXED, base="floating")
    assert [(j.iq, j.iv, j.nq, j.nv) for j in robot_.joints] == [
        (0, 0, 7, 6),
        (7, 6, 1, 1),
        (8, 7, 7, 6),
        (15, 13, 1, 1),
        (16, 14, 3, 3),
        (19, 17, 1, 1),
    ]


@pytest.mark.parametrize("base", BASES)
def test_floating_joint_in_the_middle_of_a_tree_moves_as_pinocchios(base: str) -> None:
    assert_same_dynamics(MIXED.replace('type="planar"', 'type="continuous"'), base)


@pytest.mark.parametrize("base", BASES)
def test_planar_joint_in_the_middle_of_a_tree_moves_as_pinocchios(base: str) -> None:
    joints = [("a", "revolute", "l0", "l1"), ("c", "continuous", "l2", "l3"), ("d", "prismatic", "l2", "l4")]
    rng = np.random.default_rng(0)
    links = [random_link(f"l{i}", rng) for i in range(5)]
    planar = joint("p", "planar", "l1", "l2", axis=(0, 0, 1), xyz=(0.1, 0.2, 0.3), rpy=(0.3, 0.2, 0.1))
    assert_same_dynamics(robot(*links, planar, *(random_joint(*entry, rng) for entry in joints)), base)


def test_unknown_base_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match="fixed, floating, planar"):
        load(ARM, base="flying")  # type: ignore[arg-type]


def test_unknown_names_lists_the_known_ones() -> None:
    robot_ = quiet(ARM)
    with pytest.raises(UnknownNameError, match=r"no link named 'nobody'.*ground.*tip"):
        robot_.frame("nobody")
    with pytest.raises(UnknownNameError, match=r"no moving joint named 'flange'.*shoulder.*elbow.*slide"):
        robot_.joint("flange")
    assert robot_.joint("elbow").child == "lower"


def test_something_that_is_no_robot_is_refused() -> None:
    with pytest.raises(ArgumentError, match="cannot load a int"):
        load(3)


def test_text_path_and_bytes_load_the_same_robot(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(ARM)
    sources = (ARM, ARM.encode(), path, str(path), str(path).encode(), ARM.encode("utf-16"))
    assert len({quiet(source).fingerprint for source in sources}) == 1
    assert quiet(path).file == str(path)


def test_limits_damping_and_friction_are_kept() -> None:
    text = robot(
        *(link(f"l{i}") for i in range(4)),
        joint(
            "a",
            "revolute",
            "l0",
            "l1",
            '<dynamics damping="0.5" friction="0.25"/>',
            limit='<limit lower="-1.5" upper="2" effort="30" velocity="4"/>',
        ),
        joint("b", "continuous", "l1", "l2", '<dynamics damping="3"/>', limit='<limit lower="-1" upper="1" effort="7" velocity="8"/>'),
        joint("c", "prismatic", "l2", "l3", limit='<limit effort="1" velocity="2"/>'),
    )
    robot_ = quiet(text)
    a, b, c = robot_.joints
    assert (a.lower, a.upper, a.effort, a.velocity, a.damping, a.friction) == (-1.5, 2.0, 30.0, 4.0, 0.5, 0.25)
    assert (b.lower, b.upper, b.effort, b.velocity, b.damping, b.friction) == (-np.inf, np.inf, 7.0, 8.0, 3.0, 0.0)
    assert (c.lower, c.upper, c.effort, c.velocity, c.damping, c.friction) == (0.0, 0.0, 1.0, 2.0, 0.0, 0.0)
    lower, upper = robot_.position_limits
    assert (lower.tolist(), upper.tolist()) == ([-1.5, -np.inf, 0.0], [2.0, np.inf, 0.0])


def test_visuals_and_collisions_are_kept() -> None:
    shapes = (
        '<visual name="v"><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>'
        '<visual><geometry><mesh filename="package://p/m.stl" scale="1 1 -2"/></geometry>'
        '<material name="own"><color rgba="0 1 0 0.5"/><texture filename="t.png"/></material></visual>'
        '<collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>'
        '<collision><geometry><sphere radius="0.25"/></geometry></collision>'
        '<collision><geometry><capsule radius="0.1" length="3"/></geometry></collision>'
    )
    robot_ = quiet(robot('<material name="red"><color rgba="1 0 0 1"/></material>\n', link("a", inertial() + shapes)))
    (a,) = robot_.links
    box, mesh = a.visuals
    assert (box.name, box.material, box.rgba, box.geometry.kind, box.geometry.size) == (
        "v",
        "red",
        (1.0, 0.0, 0.0, 1.0),
        "box",
        (1.0, 2.0, 3.0),
    )
    assert box.pose == ((0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0), (1.0, 2.0, 3.0))
    assert (mesh.geometry.filename, mesh.geometry.scale, mesh.rgba, mesh.texture) == (
        "package://p/m.stl",
        (1.0, 1.0, -2.0),
        (0.0, 1.0, 0.0, 0.5),
        "t.png",
    )
    assert [(s.geometry.kind, s.geometry.size) for s in a.collisions] == [
        ("cylinder", (0.5, 2.0)),
        ("sphere", (0.25,)),
        ("capsule", (0.1, 3.0)),
    ]


# Mimic joints ----------------------------------------------------------------------------------------

FOLLOW = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
MIMICS: dict[str, list[Any]] = {
    "of an earlier joint": [("a", "revolute", "l0", "l1"), ("b", "revolute", "l1", "l2", FOLLOW.format("a", -2, 0.3))],
    "of a later joint": [
        ("a", "revolute", "l0", "l1", FOLLOW.format("b", 0.5, -0.1)),
        ("b", "revolute", "l1", "l2"),
        ("c", "revolute", "l2", "l3"),
    ],
    "between siblings": [
        ("a", "revolute", "l0", "l1"),
        ("b", "prismatic", "l1", "l2"),
        ("c", "prismatic", "l1", "l3", FOLLOW.format("b", -1, 0)),
    ],
    "chain of three": [
        ("a", "revolute", "l0", "l1", FOLLOW.format("c", 2, 0.1)),
        ("b", "revolute", "l1", "l2"),
        ("c", "prismatic", "l2", "l3", FOLLOW.format("d", -0.5, 0.2)),
        ("d", "continuous", "l1", "l4", FOLLOW.format("b", 3, -0.3)),
    ],
    "several of one": [
        ("a", "continuous", "l0", "l1"),
        ("b", "revolute", "l1", "l2", FOLLOW.format("a", 1, 0)),
        ("c", "revolute", "l2", "l3", FOLLOW.format("a", 1, 0)),
        ("d", "prismatic", "l0", "l4", FOLLOW.format("a", 0.1, 1)),
    ],
    "multiplier zero": [("a", "revolute", "l0", "l1"), ("b", "revolute", "l1", "l2", FOLLOW.format("a", 0, 0.7))],
    "defaults": [("a", "revolute", "l0", "l1"), ("b", "revolute", "l1", "l2", '<mimic joint="a"/>')],
}
IMPLIED: dict[str, dict[str, tuple[str, float, float]]] = {  # by hand: joint -> (free joint, ratio, offset)
    "of an earlier joint": {"b": ("a", -2, 0.3)},
    "of a later joint": {"a": ("b", 0.5, -0.1)},
    "between siblings": {"c": ("b", -1, 0)},
    "chain of three": {"d": ("b", 3, -0.3), "c": ("b", -1.5, 0.35), "a": ("b", -3, 0.8)},
    "several of one": {"b": ("a", 1, 0), "c": ("a", 1, 0), "d": ("a", 0.1, 1)},
    "multiplier zero": {"b": ("a", 0, 0.7)},
    "defaults": {"b": ("a", 1, 0)},
}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", MIMICS, ids=lambda name: name.replace(" ", "-"))
def test_mimic_robot_is_the_free_one_driven_at_the_implied_positions(name: str, base: str) -> None:
    """q_free = G q + g; M = Gᵀ M_free G, h = Gᵀ h_free (G is constant), the Jacobian J_free G, with Pinocchio's free model."""
    text = random_tree(MIMICS[name], seed=11)
    robot_, free, model = quiet(text, base=base), quiet(text, base=base, mimic=False), pinocchio_model(text, base)
    assert free.joint_names == tuple(model.names)[1:]
    assert robot_.joint_names == tuple(j for j in free.joint_names if j not in IMPLIED[name])
    G, g = np.zeros((free.nv, robot_.nv)), np.zeros(free.nq)
    for j in free.joints:
        master, ratio, offset = IMPLIED[name].get(j.name, (j.name, 1.0, 0.0))
        G[j.iv : j.iv + j.nv, robot_.joint(master).iv : robot_.joint(master).iv + j.nv] = ratio * np.eye(j.nv)
        g[j.iq : j.iq + j.nq] = offset
    data = model.createData()
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v = robot_.random(rng), rng.normal(size=robot_.nv)
        driven = g.copy()
        for j in free.joints:
            master, ratio, _ = IMPLIED[name].get(j.name, (j.name, 1.0, 0.0))
            driven[j.iq : j.iq + j.nq] += ratio * q[robot_.joint(master).iq : robot_.joint(master).iq + j.nq]
        there = free.q_to_pinocchio(driven)
        np.testing.assert_allclose(mass_matrix(robot_, q), G.T @ pinocchio_mass_matrix(model, there) @ G, atol=100 * ROUND_OFF)
        np.testing.assert_allclose(bias(robot_, q, v), G.T @ pin.nonLinearEffects(model, data, there, G @ v), atol=1000 * ROUND_OFF)
        pin.computeJointJacobians(model, data, there)
        pin.updateFramePlacements(model, data)
        for link_name in robot_.link_names:
            frame = model.getFrameId(link_name, pin.FrameType.BODY)
            J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            np.testing.assert_allclose(frame_placement(robot_, q, link_name), data.oMf[frame].homogeneous, atol=10 * ROUND_OFF)
            np.testing.assert_allclose(jacobian(robot_, q, link_name), J @ G, atol=100 * ROUND_OFF)


def test_freed_mimic_joint_is_a_joint_like_any_other() -> None:
    text = random_tree(MIMICS["chain of three"])
    free = quiet(text, mimic=False)
    assert not any(j.is_mimic for j in free.joints)
    assert free.joint_names == ("a", "b", "c", "d")
    following = quiet(text)
    assert [(j.name, j.master) for j in following.joints] == [("a", "b"), ("b", ""), ("c", "b"), ("d", "b")]
    assert (following.nq, following.nv, following.velocity_names) == (1, 1, ("b",))


# The manifold ----------------------------------------------------------------------------------------

FLOATING = random_tree([("a", "floating", "l0", "l1"), ("b", "continuous", "l1", "l2"), ("c", "revolute", "l2", "l3")])
PLANAR = robot(
    *(link(f"l{i}") for i in range(3)), joint("p", "planar", "l0", "l1", axis=(0, 0, 1)), joint("q", "planar", "l1", "l2", axis=(0, 0, 1))
)
# Generic angles, those around the switch to a series, tiny ones, and nearly half a turn.
TINY = (0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-7, 1e-4, 1e-3)
PLAIN = (0.0099, 0.0101, 0.5, 2.0, 3.0)
NEARLY_PI = (np.pi - 1e-3, np.pi - 1e-5, np.pi - 1e-7)


def step_of(robot_: Robot, angle: float, rng: np.random.Generator) -> Array:
    """A random v in which every floating and planar joint turns by the angle."""
    v = rng.normal(size=robot_.nv)
    for j in robot_.joints:
        if j.type == "floating":
            w = rng.normal(size=3)
            v[j.iv + 3 : j.iv + 6] = angle * w / np.linalg.norm(w)
        elif j.type == "planar":
            v[j.iv + 2] = angle
    return v


def on_one_side(robot_: Robot, q: Array, other: Array) -> Array:
    """Pinocchio's q with its quaternions on the side of those of the other: q and -q are one rotation."""
    q, i = q.copy(), 0
    for j in robot_.joints:
        if j.type == "floating":
            q[i + 3 : i + 7] *= np.sign(q[i + 3 : i + 7] @ other[i + 3 : i + 7])
        i += j.nq + (j.type in ("continuous", "planar"))
    return q


@pytest.mark.parametrize("angle", TINY + PLAIN + NEARLY_PI)
def test_floating_joint_integrates_and_differs_as_in_pinocchio(angle: float) -> None:
    robot_, model = quiet(FLOATING, base="floating"), pinocchio_model(FLOATING, "floating")
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v = robot_.random(rng), step_of(robot_, angle, rng)
        q[robot_.joint("b").iq] = 0.1  # a continuous joint does not wrap here, and does in Pinocchio
        there, moved = robot_.q_to_pinocchio(q), robot_.integrate(q, v)
        theirs = pin.integrate(model, there, v)
        np.testing.assert_allclose(on_one_side(robot_, robot_.q_to_pinocchio(moved), theirs), theirs, atol=ROUND_OFF)
        np.testing.assert_allclose(robot_.difference(q, moved), pin.difference(model, there, theirs), atol=ROUND_OFF)
        np.testing.assert_allclose(robot_.difference(q, moved), v, atol=ROUND_OFF)


@pytest.mark.parametrize("angle", [*PLAIN, *(-x for x in PLAIN), *NEARLY_PI])
def test_planar_joint_integrates_and_differs_as_in_pinocchio(angle: float) -> None:
    robot_, model = quiet(PLANAR, base="planar"), pinocchio_model(PLANAR, "planar")
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v = robot_.random(rng), step_of(robot_, angle, rng)
        there, moved = robot_.q_to_pinocchio(q), robot_.integrate(q, v)
        theirs = pin.integrate(model, there, v)
        np.testing.assert_allclose(robot_.q_to_pinocchio(moved), theirs, atol=ROUND_OFF)
        # Pinocchio takes the angle from the arccosine, which loses eps / (pi - angle) near half a turn and eps / angle^2 near none.
        slack = 1e-12 + 1e-14 / (np.pi - abs(angle)) + 1e-15 / angle**2
        np.testing.assert_allclose(robot_.difference(q, moved), pin.difference(model, there, theirs), atol=slack)


def exponential(twist: Array) -> Array:
    """The Taylor series of a matrix of norm below ten."""
    total = term = np.eye(len(twist))
    for k in range(1, 80):
        term = term @ twist / k
        total = total + term
    return total


def se2(x: float, y: float, w: float) -> Array:
    return np.array([[0, -w, x], [w, 0, y], [0, 0, 0]])


@pytest.mark.parametrize("angle", [*TINY, *(-x for x in TINY), *PLAIN, *NEARLY_PI, np.pi, 4.0, -5.0, 2 * np.pi - 0.1])
def test_planar_joint_integrates_the_exponential_of_se2(angle: float) -> None:
    robot_ = quiet(robot(link("a")), base="planar")
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v = robot_.random(rng), step_of(robot_, angle, rng)
        c, s = np.cos(q[2]), np.sin(q[2])
        expected = np.array([[c, -s, q[0]], [s, c, q[1]], [0, 0, 1]]) @ exponential(se2(*v))
        x, y, turned = robot_.integrate(q, v)
        np.testing.assert_allclose(
            [x, y, np.cos(turned), np.sin(turned)], [expected[0, 2], expected[1, 2], expected[0, 0], expected[1, 0]], atol=1e-13
        )
        # one turn less a tenth leaves sin(0.05) of the chord: a loss of twenty
        np.testing.assert_allclose(robot_.difference(q, robot_.integrate(q, v)), v, atol=1e-12)


@pytest.mark.parametrize("angle", TINY + PLAIN + NEARLY_PI)
def test_floating_joint_integrates_the_exponential_of_se3(angle: float) -> None:
    robot_ = quiet(robot(link("a")), base="floating")
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v = robot_.random(rng), step_of(robot_, angle, rng)
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = np.cross(np.eye(3), v[3:]), v[:3]
        expected = frame_placement(robot_, q, "a") @ exponential(twist)
        np.testing.assert_allclose(frame_placement(robot_, robot_.integrate(q, v), "a"), expected, atol=1e-13)


@pytest.mark.parametrize("text", [FLOATING, PLANAR, MIXED], ids=["floating", "planar", "mixed"])
@pytest.mark.parametrize("base", BASES)
def test_difference_and_integrate_undo_each_other_between_random_states(text: str, base: str) -> None:
    robot_ = quiet(text, base=base)
    one, other = robot_.random(1, 50), robot_.random(2, 50)
    moved = robot_.integrate(one, robot_.difference(one, other))
    # Two random planar angles are up to a whole turn apart, where the logarithm divides by the vanishing chord.
    for a, b in zip(robot_.q_to_pinocchio(moved), robot_.q_to_pinocchio(other), strict=True):
        np.testing.assert_allclose(on_one_side(robot_, a, b), b, atol=1e-10)


def test_half_a_turn_is_undone_up_to_the_choice_of_its_sense() -> None:
    robot_ = quiet(robot(link("a")), base="floating")
    for axis in np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(0).normal(size=(5, 3))]):
        turned = robot_.integrate(robot_.neutral(), np.r_[1, 2, 3, np.pi * axis / np.linalg.norm(axis)])
        v = robot_.difference(robot_.neutral(), turned)
        assert np.linalg.norm(v[3:]) == pytest.approx(np.pi, abs=ROUND_OFF)
        np.testing.assert_allclose(
            frame_placement(robot_, robot_.integrate(robot_.neutral(), v), "a"), frame_placement(robot_, turned, "a"), atol=ROUND_OFF
        )


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (0,), (2, 0)])
def test_configurations_come_in_any_batch_shape(shape: tuple[int, ...]) -> None:
    robot_ = quiet(MIXED, base="floating")
    rng = np.random.default_rng(0)
    q, v = robot_.random(rng, shape), rng.normal(size=(*shape, robot_.nv))
    assert q.shape == (*shape, robot_.nq)
    moved = robot_.integrate(q, v)
    assert moved.shape == q.shape
    assert robot_.difference(q, moved).shape == v.shape
    assert robot_.q_from_pinocchio(robot_.q_to_pinocchio(q)).shape == q.shape
    for index in np.ndindex(shape):
        np.testing.assert_array_equal(robot_.integrate(q[index], v[index]), moved[index])
        np.testing.assert_array_equal(robot_.difference(q[index], moved[index]), robot_.difference(q, moved)[index])
        np.testing.assert_array_equal(robot_.q_to_pinocchio(q[index]), robot_.q_to_pinocchio(q)[index])


def test_one_velocity_moves_a_batch_of_configurations() -> None:
    robot_ = quiet(MIXED, base="planar")
    q, v = robot_.random(0, (4, 1)), np.random.default_rng(0).normal(size=(3, robot_.nv))
    moved = robot_.integrate(q, v)
    assert moved.shape == (4, 3, robot_.nq)
    np.testing.assert_array_equal(moved[2, 1], robot_.integrate(q[2, 0], v[1]))


@pytest.mark.parametrize("base", BASES)
def test_configuration_survives_the_way_to_pinocchio_and_back(base: str) -> None:
    robot_, model = quiet(MIXED, base=base), pinocchio_model(MIXED, base)
    q = robot_.random(0, 20)
    there = robot_.q_to_pinocchio(q)
    assert there.shape == (20, model.nq)
    assert all(pin.isNormalized(model, row, 1e-12) for row in there)
    np.testing.assert_allclose(robot_.q_from_pinocchio(there), q, atol=ROUND_OFF)
    np.testing.assert_array_equal(robot_.q_to_pinocchio(robot_.neutral()), pin.neutral(model))
    np.testing.assert_array_equal(robot_.q_from_pinocchio(pin.neutral(model)), robot_.neutral())


def test_continuous_joint_does_not_wrap_here_and_does_in_pinocchio() -> None:
    robot_ = quiet(robot(link("a"), link("b"), joint("j", "continuous", "a", "b", axis=(0, 0, 1))))
    assert robot_.difference([0.0], [7.0]).tolist() == [7.0]
    assert robot_.integrate([3.0], [4.0]).tolist() == [7.0]
    np.testing.assert_allclose(robot_.q_from_pinocchio(robot_.q_to_pinocchio([7.0])), [7.0 - 2 * np.pi], atol=1e-15)


@pytest.mark.parametrize("method", ["integrate", "difference", "q_to_pinocchio", "q_from_pinocchio"])
def test_configuration_of_wrong_width_is_refused(method: str) -> None:
    robot_ = quiet(ARM)
    arguments = [np.zeros(99)] * (2 if method in ("integrate", "difference") else 1)
    with pytest.raises(ArgumentError, match=r"q.*\(99,\), expected \(\.\.\., "):
        getattr(robot_, method)(*arguments)


# Random configurations -------------------------------------------------------------------------------


def test_random_configurations_lie_within_limits_and_fill_them() -> None:
    narrow = '<limit lower="-0.3" upper="0.1" effort="1" velocity="1"/>'
    far = '<limit lower="2" upper="2.5" effort="1" velocity="1"/>'
    wide = '<limit lower="-100" upper="100" effort="1" velocity="1"/>'
    text = robot(
        *(link(f"l{i}") for i in range(6)),
        joint("a", "revolute", "l0", "l1", limit=narrow),
        joint("b", "prismatic", "l1", "l2", limit=far),
        joint("c", "revolute", "l2", "l3", limit=wide),
        joint("d", "continuous", "l3", "l4"),
        joint("e", "prismatic", "l4", "l5", limit=wide),
    )
    q = quiet(text).random(0, 4000)
    lower, upper = np.array([-0.3, 2.0, -np.pi, -np.pi, -1.0]), np.array([0.1, 2.5, np.pi, np.pi, 1.0])
    assert (q >= lower).all() and (q <= upper).all()
    margin = 0.01 * (upper - lower)  # of 4000 samples, some forty are expected in each hundredth
    assert (q.min(axis=0) < lower + margin).all() and (q.max(axis=0) > upper - margin).all()


def test_length_stays_within_a_metre_when_an_angle_follows_it() -> None:
    follower = joint("k", "continuous", "b", "c", '<mimic joint="j" multiplier="10"/>', axis=(0, 0, 1))
    robot_ = quiet(robot(*map(link, "abc"), joint("j", "prismatic", "a", "b", limit=""), follower))
    assert np.abs(robot_.random(0, 1000)).max() <= 1.0


def test_random_configurations_repeat_with_their_seed_and_differ_without() -> None:
    robot_ = quiet(MIXED, base="floating")
    np.testing.assert_array_equal(robot_.random(5, 3), robot_.random(np.random.default_rng(5), 3))
    assert not np.array_equal(robot_.random(), robot_.random())


def test_random_orientations_are_unit_quaternions_without_preference() -> None:
    quaternions = quiet(robot(link("a")), base="floating").random(0, 4000)[:, 3:]
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-15)
    # The second moment of uniform quaternions is 1/4; 4000 samples have a standard error of 0.003.
    np.testing.assert_allclose(quaternions.T @ quaternions / 4000, np.eye(4) / 4, atol=0.02)


def test_neutral_configuration_is_zero_with_unit_quaternions() -> None:
    q = quiet(MIXED, base="floating").neutral()
    assert np.flatnonzero(q).tolist() == [6, 14]
    assert q[[6, 14]].tolist() == [1.0, 1.0]


# Fingerprint -----------------------------------------------------------------------------------------

HAND = robot(
    link("palm", inertial(1.0, (0, 0, 0.1))),
    link("thumb", inertial(0.5, (0.1, 0, 0))),
    link("nail", inertial(0.1, (0, 0.1, 0))),
    joint("a", "revolute", "palm", "thumb", xyz=(0.1, 0.2, 0.3), axis=(0, 0, 1)),
    joint("b", "revolute", "thumb", "nail", '<mimic joint="a" multiplier="0.5" offset="0.1"/>', axis=(0, 1, 0)),
)


def test_fingerprint_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "hand.urdf"
    path.write_text(HAND)
    assert quiet(path).fingerprint == quiet(path).fingerprint == quiet(HAND).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"thumb"', '"pollex"'),
        lambda text: text.replace('"a"', '"c"').replace('"b"', '"d"'),
        lambda text: text.replace('<robot name="r">', '<robot name="hand">'),
        lambda text: text.replace("</inertial>", '</inertial><visual><geometry><sphere radius="1"/></geometry></visual>'),
        lambda text: text.replace('lower="-1"', 'lower="-2"'),
        lambda text: text.replace("<robot", "\n<!-- a comment --><robot"),
        lambda text: text.replace('xyz="0.0 0.0 1.0"', 'xyz="-0.0 -0 1e0"'),
    ],
    ids=["link-name", "joint-names", "robot-name", "visuals", "limits", "comment", "spelling-of-numbers"],
)
def test_fingerprint_ignores_what_does_not_enter_the_dynamics(change: Callable[[str], str]) -> None:
    assert change(HAND) != HAND
    assert quiet(change(HAND)).fingerprint == quiet(HAND).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('mass value="0.5"', 'mass value="0.5000000000000001"'),
        lambda text: text.replace('xyz="0.1 0.2 0.3"', 'xyz="0.1 0.2 0.30000000000000004"'),
        lambda text: text.replace('rpy="0.0 0.0 0.0"/><axis', 'rpy="0.0 0.0 1e-9"/><axis'),
        lambda text: text.replace('axis xyz="0.0 0.0 1.0"', 'axis xyz="0.0 0.0 -1.0"'),
        lambda text: text.replace('type="revolute"', 'type="prismatic"', 1),
        lambda text: text.replace('xyz="0.1 0.0 0.0"', 'xyz="0.1 0.0 1e-12"'),
        lambda text: text.replace('ixx="0.1"', 'ixx="0.11"'),
        lambda text: text.replace('multiplier="0.5"', 'multiplier="0.6"'),
        lambda text: text.replace('offset="0.1"', 'offset="0.2"'),
        lambda text: text.replace('parent link="thumb"', 'parent link="palm"'),
    ],
    ids=["mass", "origin-xyz", "origin-rpy", "axis", "type", "com", "inertia", "multiplier", "offset", "parent"],
)
def test_fingerprint_sees_what_enters_the_dynamics(change: Callable[[str], str]) -> None:
    assert change(HAND) != HAND
    assert quiet(change(HAND)).fingerprint != quiet(HAND).fingerprint


def test_fingerprint_sees_base_and_mimic() -> None:
    variants = [quiet(HAND, base=base, mimic=mimic).fingerprint for base in BASES for mimic in (True, False)]
    assert len(set(variants)) == 6


# Objects of urchin -----------------------------------------------------------------------------------

SHAPED = (
    '<visual><origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><geometry><box size="0.1 0.2 0.3"/></geometry>'
    '<material name="red"><color rgba="1 0 0 1"/></material></visual>'
    '<collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision>'
    '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
)
OBJECT = random_tree(
    [
        ("a", "revolute", "l0", "l1", '<dynamics damping="0.5" friction="0.25"/>'),
        ("b", "continuous", "l1", "l2"),
        ("c", "fixed", "l2", "l3"),
        ("d", "prismatic", "l3", "l4"),
        ("e", "revolute", "l1", "l5", '<mimic joint="a" multiplier="-2" offset="0.3"/>'),
        ("f", "floating", "l5", "l6"),
        ("g", "planar", "l6", "l7"),
    ],
    seed=5,
).replace("</inertial>", "</inertial>" + SHAPED)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mimic", [True, False])
def test_urchin_object_has_the_dynamics_of_its_file(base: str, mimic: bool, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(OBJECT)
    ours, theirs = quiet(path, base=base, mimic=mimic), quiet(urchin.URDF.load(str(path)), base=base, mimic=mimic)
    assert (theirs.joint_names, theirs.link_names, theirs.nq, theirs.nv) == (ours.joint_names, ours.link_names, ours.nq, ours.nv)
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v = ours.random(rng), rng.normal(size=ours.nv)
        # urchin keeps all digits of the text, but its rotations come from other products of sines and cosines
        np.testing.assert_allclose(mass_matrix(theirs, q), mass_matrix(ours, q), atol=10 * ROUND_OFF)
        np.testing.assert_allclose(bias(theirs, q, v), bias(ours, q, v), atol=100 * ROUND_OFF)


def test_urchin_object_keeps_limits_damping_and_shapes(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(OBJECT)
    ours, theirs = quiet(path), quiet(urchin.URDF.load(str(path)))
    for one, other in zip(ours.joints, theirs.joints, strict=True):
        assert (one.name, one.lower, one.upper, one.damping, one.friction) == (
            other.name,
            other.lower,
            other.upper,
            other.damping,
            other.friction,
        )
    for one, other in zip(ours.links, theirs.links, strict=True):
        for mine, its in zip(one.visuals + one.collisions, other.visuals + other.collisions, strict=True):
            assert (mine.geometry, mine.rgba) == (its.geometry, its.rgba)
            np.testing.assert_allclose(np.hstack(mine.pose), np.hstack(its.pose), atol=ROUND_OFF)


# Planar joints with an axis --------------------------------------------------------------------------

NORMALS = [
    (0, 0, 1),
    (0, 0, -1),
    (1, 0, 0),
    (0, -1, 0),
    (0.6, 0, 0.8),
    (1, 2, 3),
    (-1, 0.5, -0.3),
    (1e-2, 0, -1),
    (1e-4, 1e-4, -1),
    (0, 1e-6, -1),
]
Z = np.array([0.0, 0.0, 1.0])


def plane_of(normal: tuple[float, float, float]) -> Array:
    """The smallest rotation from z to the normal, by Rodrigues' formula; half a turn about x for -z."""
    n = np.array(normal) / np.linalg.norm(normal)
    turn = np.cross(Z, n)
    sine, cosine = np.linalg.norm(turn), n[2]
    if sine == 0.0:
        return np.diag([1.0, np.sign(cosine), np.sign(cosine)])
    k = np.cross(np.eye(3), turn / sine)
    return np.eye(3) + sine * k + (1.0 - cosine) * k @ k


def planar_robot(planar: str, links: str = "") -> str:
    rng = np.random.default_rng(4)
    fixed = [random_link("l0", rng), random_link("l1", rng), random_link("l2", rng), random_link("l3", rng)]
    arms = [random_joint("a", "revolute", "l0", "l1", rng), random_joint("z", "revolute", "l2", "l3", rng)]
    return robot(*fixed, links, planar, *arms)


PLACE: dict[str, Any] = {"xyz": (0.3, -0.2, 0.1), "rpy": (0.4, -0.5, 0.6)}


@pytest.mark.parametrize("normal", NORMALS, ids=numbers)
def test_planar_joint_moves_in_the_plane_of_its_axis(normal: tuple[float, float, float]) -> None:
    """Pinocchio's planar joint knows x and y only: the turn to the plane stands before it, and the turn back behind."""
    Q = plane_of(normal)
    there, back = pin.rpy.matrixToRpy(Q), pin.rpy.matrixToRpy(Q.T)
    turned = (
        joint("o", "fixed", "l1", "m0", **PLACE)
        + joint("p0", "fixed", "m0", "m1", rpy=there)
        + joint("p", "planar", "m1", "m2", axis=(0, 0, 1))
        + joint("p2", "fixed", "m2", "l2", rpy=back)
    )
    robot_ = quiet(planar_robot(joint("p", "planar", "l1", "l2", axis=np.array(normal) / np.linalg.norm(normal), **PLACE)))
    model = pinocchio_model(planar_robot(turned, '<link name="m0"/><link name="m1"/><link name="m2"/>\n'))
    assert robot_.joint_names == tuple(model.names)[1:] == ("a", "p", "z")
    data = model.createData()
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v = robot_.random(rng), rng.normal(size=robot_.nv)
        there_q = robot_.q_to_pinocchio(q)
        # An axis along x makes the pitch a right angle, where its arcsine keeps half of the digits.
        np.testing.assert_allclose(mass_matrix(robot_, q), pinocchio_mass_matrix(model, there_q), atol=1e-9)
        np.testing.assert_allclose(bias(robot_, q, v), pin.nonLinearEffects(model, data, there_q, v), atol=1e-8)
        pin.framesForwardKinematics(model, data, there_q)
        np.testing.assert_allclose(frame_placement(robot_, q, "l3"), data.oMf[model.getFrameId("l3")].homogeneous, atol=1e-9)


@pytest.mark.parametrize("normal", NORMALS, ids=numbers)
def test_planar_joint_is_two_slides_and_a_hinge(normal: tuple[float, float, float]) -> None:
    """The slides' velocities are in the axes of the plane, the planar joint's in the moved ones: x' = R(angle) v."""
    Q = plane_of(normal)
    chain = (
        joint("p1", "prismatic", "l1", "m1", axis=Q[:, 0], **PLACE)
        + joint("p2", "prismatic", "m1", "m2", axis=Q[:, 1])
        + joint("p3", "continuous", "m2", "l2", axis=Q[:, 2])
    )
    model = pinocchio_model(planar_robot(chain, '<link name="m1"/><link name="m2"/>\n'))
    robot_ = quiet(planar_robot(joint("p", "planar", "l1", "l2", axis=np.array(normal) / np.linalg.norm(normal), **PLACE)))
    for q in robot_.random(0, 3):
        a, x, y, angle, z = q
        G = np.eye(5)
        G[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        M = pinocchio_mass_matrix(model, np.array([a, x, y, np.cos(angle), np.sin(angle), z]))
        np.testing.assert_allclose(mass_matrix(robot_, q), G.T @ M @ G, atol=10 * ROUND_OFF)


# Size ------------------------------------------------------------------------------------------------


def long_chain(links: int, kinds: tuple[str, ...]) -> str:
    parts = [f'{XML}<robot name="chain">\n']
    parts += [link(f"l{i}") for i in range(links)]
    parts += [
        f'<joint name="j{i}" type="{kinds[i % len(kinds)]}"><parent link="l{i}"/><child link="l{i + 1}"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/></joint>\n'
        for i in range(links - 1)
    ]
    return "".join(parts) + "</robot>\n"


@pytest.mark.parametrize(
    ("links", "kinds"),
    [
        (10_000, ("continuous",)),
        (10_000, ("continuous", "fixed")),
        (10_000, ("fixed",)),
        pytest.param(100_000, ("continuous",), marks=[pytest.mark.nightly]),
    ],
    ids=["moving", "alternating", "fixed", "longest"],
)
def test_long_chain_loads_without_recursion(links: int, kinds: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "chain.urdf"
    times = []
    for count in (links // 10, links):
        path.write_text(long_chain(count, kinds))
        start = time.process_time()
        robot_ = load(path)
        times.append(time.process_time() - start)
    assert times[1] < 40.0 * times[0]  # ten times the links; with their square it would be a hundred times
    moving = sum(kinds[i % len(kinds)] != "fixed" for i in range(links - 1))
    assert (robot_.nv, len(robot_.link_names)) == (moving, links)
    assert len(robot_.branches) == (1 if moving else 0)
    if moving:
        assert len(robot_.branches[0]) == moving
    assert robot_.mass.sum() + robot_.base_inertia.mass == pytest.approx(links, rel=1e-12)
    assert robot_.frame(f"l{links - 1}").body == moving - 1


def test_chain_of_mimics_of_mimics_resolves_without_recursion() -> None:
    """Each joint follows the next at minus its angle; the last is free."""
    links = 5_000
    names = [f"j{i:05d}" for i in range(links)]
    parts = [link(f"l{i}") for i in range(links + 1)]
    parts += [
        joint(
            name,
            "continuous",
            f"l{i}",
            f"l{i + 1}",
            f'<mimic joint="{names[i + 1]}" multiplier="-1"/>' if i + 1 < links else "",
            axis=(0, 0, 1),
        )
        for i, name in enumerate(names)
    ]
    robot_ = quiet(robot(*parts))
    assert (robot_.nv, robot_.joint_names) == (1, (names[-1],))
    assert [j.ratio for j in robot_.joints] == [(-1.0) ** (links - 1 - i) for i in range(links)]


def comb(teeth: int) -> str:
    """A spine of ``teeth`` links, each with a tooth."""
    parts = [link("s0")]
    for i in range(teeth):
        parts += [link(f"t{i}"), joint(f"a{i}", "continuous", f"s{i}", f"t{i}", axis=(0, 0, 1))]
        if i + 1 < teeth:
            parts += [link(f"s{i + 1}"), joint(f"b{i}", "continuous", f"s{i}", f"s{i + 1}", axis=(0, 1, 0))]
    return robot(*parts)


def test_comb_has_a_branch_for_each_tooth_made_on_demand() -> None:
    teeth = 2000
    robot_ = quiet(comb(teeth))
    start = time.process_time()
    assert len(robot_.branches) == teeth
    last = robot_.branches[-1]
    one = time.process_time()
    # All branches together have two million members.
    assert sum(len(branch) for branch in quiet(comb(teeth)).branches) == teeth * (teeth + 1) // 2
    assert one - start < 0.2 * (time.process_time() - one)
    assert last.joint_names == (*(f"b{i}" for i in range(teeth - 1)), f"a{teeth - 1}")
    assert robot_.branches[0].joint_names == ("a0",)
    assert robot_.branches[3].joint_names == ("b0", "b1", "b2", "a3")


def test_every_body_is_real_in_exactly_one_branch() -> None:
    robot_ = quiet(random_tree([(f"j{i}", "revolute", f"l{(i * 7) // 10}", f"l{i + 1}") for i in range(30)]))
    real = [body for branch in robot_.branches for body, virtual in zip(branch.bodies, branch.virtual, strict=True) if not virtual]
    assert sorted(real) == list(range(30))
    for branch in robot_.branches:
        assert [robot_.parent[body] for body in branch.bodies] == [-1, *branch.bodies[:-1]]
        assert robot_.parent.count(branch.bodies[-1]) == 0
        assert not branch.virtual[-1]


# Imports ---------------------------------------------------------------------------------------------


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_dynamics_run_without_pinocchio() -> None:
    code = f"""
import sys
sys.modules["pinocchio"] = None
import numpy as np, urdf_gibbs as u
robot = u.load({ARM!r}, base="floating")
q, v = robot.random(0), np.ones(robot.nv)
a = u.forward_dynamics(robot, q, v, v)
print(abs(u.inverse_dynamics(robot, q, v, a) - v).max() < 1e-9, robot.nv)
"""
    assert run(code).split() == ["True", "9"]


def test_import_is_light() -> None:
    heavy = ("pinocchio", "meshcat", "matplotlib", "typer", "rich", "urchin", "urdfpy")
    assert run(f"import sys, urdf_gibbs; print([name for name in {heavy!r} if name in sys.modules])").strip() == "[]"


def test_a_robot_is_pickled_without_its_machine_code() -> None:
    robot = load(model_path("planar3r"))
    q = robot.random(0)
    M = mass_matrix(robot, q)
    other = pickle.loads(pickle.dumps(robot))
    assert other.fingerprint == robot.fingerprint
    np.testing.assert_array_equal(mass_matrix(other, q), M)
