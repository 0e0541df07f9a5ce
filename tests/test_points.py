"""Contact points: S18's set on the branched robot, Pinocchio's joint origins on real robots, chosen points, shapes and pairs."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import product
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from examples import FOLDER
from hypothesis import given, settings
from model_data import MODELS, branched12, planar_points
from numpy.typing import NDArray
from point_robots import BODY, ROBOTS, joint, link
from random_trees import bases, small_trees

from urdf_gibbs import ArgumentError, Robot, UnknownNameError, UrdfWarning, frame_placement, load
from urdf_gibbs.contact.points import ContactPoint, default_points, fixed_bodies, resolve_pairs, resolve_points

Array = NDArray[np.float64]

ROUND_OFF = 1e-12  # sums of a few dozen products of numbers of order one

NOTHING = '<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot_of(*parts: str, base: str = "fixed") -> Robot:
    return load(f'<robot name="r">{"".join(parts)}</robot>', base=base)  # type: ignore[arg-type]


def place(robot: Robot, q: Array, point: ContactPoint) -> Array:
    """Where the point is in the world at q, (3,) [m]."""
    x = np.array([*point.position, 1.0])
    if point.body >= 0:
        x = frame_placement(robot, q, robot.joints[point.body].child) @ x
    return x[:3]


def names(points: tuple[ContactPoint, ...]) -> list[str]:
    return [point.name for point in points]


@cache
def robot_named(name: str, base: str) -> Robot:
    return load(FOLDER / ROBOTS[name], base=base)  # type: ignore[arg-type]


# The default set ------------------------------------------------------------------------------------


def test_branched12_has_the_eleven_points_of_the_paper_in_order() -> None:
    assert names(default_points(branched12())) == [f"O{number}" for number in range(1, 12)]


@pytest.mark.parametrize("seed", range(5))
def test_branched12_points_follow_plane_trigonometry(seed: int) -> None:
    q = np.random.default_rng(seed).uniform(-pi, pi, 12)
    expected = planar_points(q)
    for number, point in enumerate(default_points(branched12()), start=1):
        np.testing.assert_allclose(place(branched12(), q, point), (*expected[number], 0.0), rtol=0.0, atol=ROUND_OFF, err_msg=point.name)


@pytest.mark.parametrize(("name", "base"), list(product(ROBOTS, ["fixed", "floating"])))
def test_every_joint_origin_of_pinocchio_that_moves_is_one_point(name: str, base: str) -> None:
    """Pinocchio's own reader and kinematics say where the joints are; what it finds at one place for several q never moves."""
    robot = robot_named(name, base)
    points = default_points(robot)
    roots = [pinocchio.JointModelFreeFlyer()] if base == "floating" else []
    model = pinocchio.buildModelFromUrdf(str(FOLDER / ROBOTS[name]), *roots, False)  # mimic joints as free ones
    data = model.createData()
    states = [robot.random(seed) for seed in range(3)]
    origins: dict[str, list[Array]] = {}
    for q in states:
        full = pinocchio.neutral(model)
        for one in robot.joints:
            own = q[one.iq : one.iq + one.nq]
            if one.nq == 1:
                angle = one.ratio * own[0] + one.offset
                own = np.array([cos(angle), sin(angle)]) if one.type == "continuous" else np.array([angle])
            start = model.joints[model.getJointId(one.name)].idx_q
            full[start : start + len(own)] = own
        pinocchio.forwardKinematics(model, data, full)
        for number in range(1, model.njoints):
            origins.setdefault(model.names[number], []).append(data.oMi[number].translation.copy())
    placed = np.array([[place(robot, q, point) for q in states] for point in points])  # (points, states, 3)
    for one, mass in zip(robot.joints, robot.mass, strict=True):
        found = np.array(origins[one.name])
        moves = np.ptp(found, axis=0).max() > 1e-6
        hits = int((np.abs(placed - found).max(axis=(1, 2)) < 1e-9).sum())
        assert hits == (1 if moves and mass > 0.0 else 0), one.name


@pytest.mark.parametrize(("name", "base"), list(product(ROBOTS, ["fixed", "floating"])))
def test_points_of_real_robots_are_distinct_and_move(name: str, base: str) -> None:
    robot = robot_named(name, base)
    points = default_points(robot)
    assert len(set(names(points))) == len(points) > 0
    states = [robot.random(seed) for seed in range(2)]
    placed = np.array([[place(robot, q, point) for point in points] for q in states])
    for at_q in placed:
        distance = np.linalg.norm(at_q[:, None] - at_q[None], axis=2) + np.eye(len(points))
        assert distance.min() > 1e-6
    assert np.linalg.norm(placed[0] - placed[1], axis=1).min() > 1e-6


def test_a_body_that_carries_others_has_no_tips() -> None:
    """Talos: 24 joint origins and tips, not the 43 places where one of its links has its frame; counted on Pinocchio's own tree."""
    robot = robot_named("talos", "floating")
    model = pinocchio.buildModelFromUrdf(str(FOLDER / ROBOTS["talos"]), pinocchio.JointModelFreeFlyer(), False)
    data = model.createData()
    q = robot.random(3)
    pinocchio.framesForwardKinematics(model, data, robot.q_to_pinocchio(q))
    carriers = {int(parent) for parent in model.parents}
    leaves = [frame for frame in range(model.nframes) if model.frames[frame].parentJoint not in carriers]
    origins = [data.oMi[number].translation for number in range(1, model.njoints)] + [data.oMf[frame].translation for frame in leaves]
    points = default_points(robot)
    assert len(points) == 24
    for point in points:
        assert min(np.linalg.norm(place(robot, q, point) - origin) for origin in origins) < 1e-9, point.name


@given(small_trees, bases)
@settings(max_examples=40, deadline=None)
def test_points_of_random_trees_are_distinct_and_sit_at_their_link(text: str, base: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load(text, base=base)  # type: ignore[arg-type]
    points = default_points(robot)
    q = robot.random(1)
    placed = [place(robot, q, point) for point in points]
    for point, x in zip(points, placed, strict=True):
        np.testing.assert_allclose(x, frame_placement(robot, q, point.link)[:3, 3], rtol=0.0, atol=1e-9, err_msg=point.name)
    for i, x in enumerate(placed):
        assert all(np.linalg.norm(x - y) > 1e-9 for y in placed[:i])


def test_three_axes_through_one_point_are_one_point() -> None:
    """A spherical wrist: both massless and massive links between its axes leave one point, named by the link before it."""
    for middle in (BODY, NOTHING):
        robot = robot_of(
            link("base"),
            link("arm"),
            link("a", middle),
            link("b", middle),
            link("hand"),
            link("tip"),
            joint("slide", "prismatic", "base", "arm"),
            joint("j1", "revolute", "arm", "a", "1 0 0", "1 0 0"),
            joint("j2", "revolute", "a", "b", "0 0 0", "0 1 0"),
            joint("j3", "continuous", "b", "hand", "0 0 0", "0 0 1"),
            joint("end", "fixed", "hand", "tip", "0.2 0 0"),
        )
        assert names(default_points(robot)) == ["arm", "a" if middle == BODY else "hand", "tip"]
        wrist = default_points(robot)[1]
        assert (wrist.body, wrist.position) == (0, (1.0, 0.0, 0.0))
        assert fixed_bodies(robot, 3, (0.0, 0.0, 0.0)) == {0, 1, 2, 3}


def test_points_of_a_fixed_base_that_never_move_are_left_out() -> None:
    robot = robot_of(
        link("base"), link("arm"), link("on_axis"), joint("j", "revolute", "base", "arm"), joint("f", "fixed", "arm", "on_axis", "0 0 1")
    )
    assert default_points(robot) == ()


def test_massless_slides_have_no_points() -> None:
    assert names(default_points(load(MODELS / "branched12.urdf")))[0] == "O1"
    robot = robot_of(
        link("base"),
        link("slide", NOTHING),
        link("ball"),
        joint("x", "prismatic", "base", "slide"),
        joint("y", "prismatic", "slide", "ball"),
    )
    assert names(default_points(robot)) == ["ball"]


def test_a_massless_link_hinged_to_a_body_with_mass_leaves_the_hinge_a_point() -> None:
    """The hinge is a place of the arm, whatever the link beyond it weighs; the link's own slide is nowhere."""
    robot = robot_of(
        link("base"),
        link("arm"),
        link("fork", NOTHING),
        link("wheel"),
        joint("slide", "prismatic", "base", "arm"),
        joint("turn", "revolute", "arm", "fork", "1 0 0", "0 1 0"),
        joint("roll", "revolute", "fork", "wheel", "0.3 0 0.2", "0 0 1"),
    )
    points = default_points(robot)
    assert names(points) == ["arm", "fork", "wheel"]
    assert points[1].body == 0 and points[1].position == (1.0, 0.0, 0.0)


# Chosen points --------------------------------------------------------------------------------------


def test_points_may_be_links_places_or_contact_points() -> None:
    robot = branched12()
    own = ContactPoint("mine", 3, (0.5, 0.0, 0.0), 0.1)
    points = resolve_points(robot, ["O5", ("link3", (0.5, 0.1, 0.0)), ("link4", [0.5, 0, 0], 0.05), own])
    assert names(points) == ["O5", "link3", "link4", "mine"]
    assert [point.radius for point in points] == [0.0, 0.0, 0.05, 0.1]
    assert points[0].position == (1.0, 0.0, 0.0) and points[1].position == (0.5, 0.1, 0.0) and points[3] == own
    assert resolve_points(robot, None) == default_points(robot)
    assert resolve_points(robot, default_points(robot)) == default_points(robot)


def test_chosen_points_that_coincide_are_one_and_names_are_unique() -> None:
    points = resolve_points(branched12(), ["O2", "link2", "O2", ("O2", (0, 0, 0), 0.1), ("link2", (0.5, 0, 0)), ("link2", (0.6, 0, 0))])
    assert names(points) == ["O2", "O2#2", "link2", "link2#2"]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ("corners", "points='corners', expected None, 'collision' or a sequence"),
        ([3], "point 3, expected a link name"),
        ([("O1",)], "expected a link name"),
        ([("O1", (0, 0))], "point 'O1': position (0, 0), expected three finite numbers"),
        ([("O1", (0, 0, np.nan))], "expected three finite numbers"),
        ([("O1", "abc")], "expected three finite numbers"),
        ([("O1", (0, 0, 0), -1.0)], "point 'O1': radius -1.0, expected zero or more"),
        ([("O1", (0, 0, 0), "wide")], "radius 'wide', expected zero or more"),
        ([ContactPoint("p", 12, (0.0, 0.0, 0.0))], "point 'p': body 12, expected -1 (the world) to 11"),
        ([ContactPoint("p", 1, (0.0, 0.0, np.inf))], "expected three finite numbers"),
    ],
)
def test_bad_points_are_refused(points: object, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        resolve_points(branched12(), points)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_unknown_links_are_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="no link named 'O99'"):
        resolve_points(branched12(), ["O99"])


# Collision shapes -----------------------------------------------------------------------------------


def shaped(shape: str, origin: str = "") -> Robot:
    collision = f"<collision>{origin}<geometry>{shape}</geometry></collision>"
    return robot_of(link("base", BODY + collision), link("ball", BODY + collision), joint("z", "prismatic", "base", "ball"))


def test_a_box_gives_its_corners_and_what_is_fixed_gives_nothing() -> None:
    points = resolve_points(shaped('<box size="2 4 6"/>', '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'), "collision")
    assert len(points) == 8
    found = {point.name: point.position for point in points}
    for x, y, z in product((1, -1), repeat=3):
        name = "ball.box0." + "".join("+" if s > 0 else "-" for s in (x, y, z))
        np.testing.assert_allclose(found[name], (1 - 2 * y, x, 3 * z), rtol=0.0, atol=ROUND_OFF, err_msg=name)


def test_sphere_and_capsule_give_centres_with_radius() -> None:
    assert resolve_points(shaped('<sphere radius="0.3"/>'), "collision") == (ContactPoint("ball.sphere0", 0, (0.0, 0.0, 0.0), 0.3, "ball"),)
    ends = resolve_points(shaped('<capsule radius="0.3" length="2"/>'), "collision")
    assert ends == (
        ContactPoint("ball.capsule0.+", 0, (0.0, 0.0, 1.0), 0.3, "ball"),
        ContactPoint("ball.capsule0.-", 0, (0.0, 0.0, -1.0), 0.3, "ball"),
    )


def test_a_cylinder_gives_end_centres_and_rims() -> None:
    points = {point.name: point for point in resolve_points(shaped('<cylinder radius="0.5" length="2"/>'), "collision")}
    assert len(points) == 18
    for end, z in (("+", 1.0), ("-", -1.0)):
        assert points[f"ball.cylinder0.{end}"].position == (0.0, 0.0, z)
        for k in range(8):
            expected = (0.5 * cos(k * pi / 4), 0.5 * sin(k * pi / 4), z)
            np.testing.assert_allclose(points[f"ball.cylinder0.{end}{k}"].position, expected, rtol=0.0, atol=ROUND_OFF)


def test_a_mesh_that_cannot_be_read_is_skipped_with_a_warning_that_names_the_link() -> None:
    robot = shaped('<mesh filename="a.stl"/>')
    with pytest.warns(UrdfWarning, match=r"collisions of ball \(a\.stl: no such file\);"):
        assert resolve_points(robot, "collision") == ()


def stl(path: Path, triangles: Array) -> None:
    """Triangles (n, 3, 3) as an STL file in text."""
    facets = (
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in one) + "endloop\nendfacet\n"
        for one in triangles
    )
    path.write_text("solid mesh\n" + "".join(facets) + "endsolid mesh\n")


def test_a_mesh_gives_the_corners_of_its_hull_and_nothing_inside(tmp_path: Path) -> None:
    # A pyramid on four corners whose base is dented inwards: the vertex of the dent is none of the hull.
    corners, top, dent = [(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0)], (0, 0, 2), (0, 0, 0.5)
    sides = [(corners[k], corners[(k + 1) % 4], tip) for k in range(4) for tip in (top, dent)]
    stl(tmp_path / "pyramid.stl", np.array(sides, dtype=float))
    shape = '<collision><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><geometry><mesh filename="pyramid.stl" scale="0.5 1 1"/></geometry></collision>'
    file = tmp_path / "robot.urdf"
    file.write_text(f'<robot name="r">{link("base", BODY)}{link("ball", BODY + shape)}{joint("z", "prismatic", "base", "ball")}</robot>')
    points = resolve_points(load(file), "collision")
    expected = [(-y, 0.5 * x, 1 + z) for x, y, z in sorted([*corners, top])]
    assert names(points) == [f"ball.mesh0.{k}" for k in range(5)]
    np.testing.assert_allclose([point.position for point in points], expected, rtol=0.0, atol=1e-7)  # meshes are single precision
    assert {point.radius for point in points} == {0.0}


def test_a_flat_box_has_four_corners() -> None:
    assert names(resolve_points(shaped('<box size="1 1 0"/>'), "collision")) == [
        "ball.box0.+++",
        "ball.box0.+-+",
        "ball.box0.-++",
        "ball.box0.--+",
    ]


# Pairs ----------------------------------------------------------------------------------------------


def test_pairs_take_names_of_points_or_links_and_a_distance() -> None:
    robot = branched12()
    points = resolve_points(robot, [("O5", (0, 0, 0), 0.1), ("O8", (0, 0, 0), 0.2)])
    pairs = resolve_pairs(robot, points, [("O5", "O8"), ["O5", "O11"], ("O9", "O11", 0.4)])
    assert [(a.name, b.name) for a, b, *_ in pairs] == [("O5", "O8"), ("O5", "O11"), ("O9", "O11")]
    np.testing.assert_allclose([pair.distance for pair in pairs], [0.3, 0.1, 0.4], rtol=1e-15)
    assert pairs[0][0] is points[0] and pairs[2][0].radius == 0.0
    assert resolve_pairs(robot, points) == ()


def test_a_link_with_one_point_stands_for_that_point() -> None:
    points = resolve_points(shaped('<sphere radius="0.3"/>'), "collision")
    ((ball, base, distance, _),) = resolve_pairs(shaped('<sphere radius="0.3"/>'), points, [("ball", "base")])
    assert (ball.name, base.body, distance) == ("ball.sphere0", -1, 0.3)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("O5", "O8"), "pair ('O5', 'O8'): contact distance 0, expected a positive one"),
        (("O5", "O8", 0.0), "contact distance 0"),
        (("O5", "O8", -1.0), "radius -1.0, expected zero or more"),
        (("O4", "O5", 0.1), "both points are fixed to the body of joint 'q4'"),
        (("O1", "link1", 0.1), "both points are fixed to the body of joint 'X2'"),
        (("ground", "ground", 0.1), "both points are fixed to the world"),
        (("O1",), "expected (name, name), (name, name, distance) or"),
        ("ab", "expected (name, name), (name, name, distance) or"),
    ],
)
def test_bad_pairs_are_refused(pair: object, message: str) -> None:
    robot = branched12()
    with pytest.raises(ArgumentError) as caught:
        resolve_pairs(robot, default_points(robot), [pair])  # type: ignore[list-item]
    assert message in str(caught.value)


def test_pairs_of_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="no point or link named 'O12'"):
        resolve_pairs(branched12(), default_points(branched12()), [("O1", "O12")])
