"""Friction of scenes, walls, points, pairs and links of a URDF: which of them counts, what is read, and what is refused.

What counts is shown by motion: a block that slides on a level floor with friction mu slows down by mu g.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.contact.points import ContactPoint, resolve_pairs, resolve_points
from urdf_gibbs.errors import ArgumentError, UrdfError, UrdfWarning
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.walls import (
    Box,
    Circle,
    Corridor,
    Cylinder,
    Ellipsoid,
    HeightField,
    Implicit,
    Plane,
    Sphere,
    Wall,
    described,
    wall_from,
)

G = 9.81
CORNERS = [("block", (x, y, -0.05)) for x in (0.1, -0.1) for y in (0.05, -0.05)]


def slowdown(friction: object, wall: Wall, points: object = CORNERS, robot: Robot | None = None, **options: object) -> float:
    """Deceleration over g of a block that slides along x."""
    robot = robot or ug.load(ug.model_path("block"), base="floating")
    v0 = np.zeros(6)
    v0[0] = 3.0
    run = ug.simulate(robot, [0, 0, 0.05, 0, 0, 0, 1], v0, 0.1, wall, friction=friction, points=points, restitution=0.0, **options)  # type: ignore[arg-type]
    return float((3.0 - run.v[-1, 0]) / 0.1 / G)


ROUGH = [(*corner, 0.0, 0.1) for corner in CORNERS]


@pytest.mark.parametrize(
    ("scene", "wall", "points", "expected"),
    [
        (0.4, None, CORNERS, 0.4),
        (0.4, 0.3, CORNERS, 0.3),
        (0.4, (0.6, 0.2), CORNERS, 0.2),
        (0.4, 0.0, CORNERS, 0.0),
        (0.4, None, ROUGH, 0.1),
        (0.4, 0.3, ROUGH, 0.1),
        (0.0, None, ROUGH, 0.1),
        (0.4, 0.3, [(*corner, 0.0, (0.5, 0.25)) for corner in CORNERS], 0.25),
    ],
)
def test_point_comes_before_wall_and_wall_before_scene(scene: float, wall: object, points: object, expected: float) -> None:
    assert slowdown(scene, Plane(friction=wall), points) == pytest.approx(expected, abs=1e-9)  # type: ignore[arg-type]


def test_two_walls_keep_their_own() -> None:
    robot = ug.load(ug.model_path("block"), base="floating")
    walls = [Plane(friction=0.3), Corridor(2.0, (1.0, 0.0, 0.0), friction=(0.7, 0.5)), Plane((0.0, 1.0, 0.0), (0.0, -5.0, 0.0))]
    found = ug.Simulator(robot, walls=walls, points=[CORNERS[0]], friction=0.1).description.candidates()
    assert found.names == ("block|plane", "block|corridor.+", "block|corridor.-", "block|plane_2")
    assert found.contacts.friction.tolist() == [[0.3, 0.3], [0.7, 0.5], [0.7, 0.5], [0.1, 0.1]]


ALL_WALLS = [
    Plane(friction=0.5),
    Circle(1.0, friction=0.5),
    Cylinder(1.0, friction=0.5),
    Sphere(1.0, friction=0.5),
    Ellipsoid((1.0, 2.0, 3.0), friction=0.5),
    Box((1.0, 2.0, 3.0), friction=0.5),
    Corridor(1.0, friction=0.5),
    HeightField(np.zeros((3, 3)), (0.0, 1.0), (0.0, 1.0), friction=0.5),
    Implicit(lambda x: x[2], friction=0.5),
]


@pytest.mark.parametrize("wall", ALL_WALLS, ids=lambda wall: type(wall).__name__)
def test_every_wall_has_friction_of_its_own(wall: Wall) -> None:
    assert wall.friction == (0.5, 0.5)
    assert {surface.friction for surface in wall.surfaces()} == {(0.5, 0.5)}
    if not isinstance(wall, Implicit):
        assert wall_from(described(wall)).friction == (0.5, 0.5)


# pairs --------------------------------------------------------------------------------------------------

TWO_BALLS = """<robot name="two"><link name="floor"/>
  <joint name="x1" type="prismatic"><parent link="floor"/><child link="one"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
  <joint name="x2" type="prismatic"><parent link="floor"/><child link="two"/><axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
  <link name="one"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>{one}</link>
  <link name="two"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>{two}</link>
  {more}
</robot>"""


def two_balls(one: str = "", two: str = "", more: str = "") -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # the floor has no inertia
        return ug.load(TWO_BALLS.format(one=one, two=two, more=more))


def pair_friction(scene: object, pair: tuple[object, ...], points: list[object], robot: Robot | None = None) -> list[float]:
    description = ug.Simulator(robot or two_balls(), points=points, pairs=[pair], friction=scene).description  # type: ignore[arg-type, list-item]
    return description.candidates().contacts.friction[-1].tolist()


PLAIN = [("one", (0, 0, 0), 0.1), ("two", (0, 0, 0), 0.1)]
HALF_ROUGH = [("one", (0, 0, 0), 0.1, 0.5), ("two", (0, 0, 0), 0.1)]
BOTH_ROUGH = [("one", (0, 0, 0), 0.1, (0.5, 0.2)), ("two", (0, 0, 0), 0.1, (0.4, 0.3))]


@pytest.mark.parametrize(
    ("pair", "points", "expected"),
    [
        (("one", "two"), PLAIN, [0.9, 0.9]),
        (("one", "two"), HALF_ROUGH, [0.5, 0.5]),
        (("one", "two"), BOTH_ROUGH, [0.4, 0.2]),
        (("one", "two", 0.3, 0.7), BOTH_ROUGH, [0.7, 0.7]),
        (("one", "two", None, (0.7, 0.6)), BOTH_ROUGH, [0.7, 0.6]),
        (("one", "two", None, 0.0), BOTH_ROUGH, [0.0, 0.0]),
    ],
)
def test_pair_comes_before_its_points_and_the_lower_of_two_points_counts(
    pair: tuple[object, ...], points: list[object], expected: list[float]
) -> None:
    assert pair_friction(0.9, pair, points) == expected


def test_a_distance_of_none_is_the_sum_of_the_radii() -> None:
    robot = two_balls()
    points = resolve_points(robot, PLAIN)  # type: ignore[arg-type]
    assert resolve_pairs(robot, points, [("one", "two", None, 0.7)])[0][2:] == (0.2, (0.7, 0.7))


def test_joint_limits_have_no_friction() -> None:
    found = ug.Simulator(two_balls(), joint_limits=True, friction=0.9).description.candidates()
    assert found.contacts.friction.tolist() == [[0.0, 0.0]] * 4


# from the URDF ------------------------------------------------------------------------------------------

BULLET = '<contact><lateral_friction value="0.8"/><rolling_friction value="0.1"/></contact>'
SOLID = '<geometry><sphere radius="0.1"/></geometry>'
DRAKE = f'<collision>{SOLID}<drake:proximity_properties><drake:mu_static value="0.6"/><drake:mu_dynamic value="0.5"/></drake:proximity_properties></collision>'
GAZEBO = '<gazebo reference="two"><material>Gazebo/Red</material><mu1>0.7</mu1>\n<mu2> 0.7 </mu2></gazebo>'


@pytest.mark.parametrize(
    ("one", "two", "more", "expected"),
    [
        (BULLET, DRAKE, "", {"one": (0.8, 0.8), "two": (0.6, 0.5)}),
        ("", "", GAZEBO, {"two": (0.7, 0.7)}),
        ("", "", '<gazebo reference="one"><mu1 value="0.3"/></gazebo><gazebo><mu1>9</mu1></gazebo>', {"one": (0.3, 0.3)}),
        (DRAKE.replace('<drake:mu_static value="0.6"/>', ""), "", "", {"one": (0.5, 0.5)}),
        (DRAKE.replace('<drake:mu_dynamic value="0.5"/>', ""), "", "", {"one": (0.6, 0.6)}),
    ],
)
def test_the_elements_of_other_tools_are_read(one: str, two: str, more: str, expected: dict[str, tuple[float, float]]) -> None:
    robot = two_balls(one, two, more)
    found = ug.Simulator(robot, friction=("urdf", 0.9)).description.friction
    assert found.links == expected
    assert found.default == (0.9, 0.9)


def test_the_links_friction_is_the_scenes(tmp_path: Path) -> None:
    text = ug.model_path("block").read_text().replace("</link>", BULLET + "</link>")
    robot = ug.load(text, base="floating")
    assert slowdown("urdf", Plane(), robot=robot) == pytest.approx(0.8, abs=1e-9)
    assert slowdown("urdf", Plane(friction=0.3), robot=robot) == pytest.approx(0.3, abs=1e-9)
    assert slowdown("urdf", Plane(friction=0.3), ROUGH, robot=robot) == pytest.approx(0.1, abs=1e-9)


def test_of_two_links_the_lower_counts() -> None:
    points: list[object] = list(PLAIN)
    assert pair_friction("urdf", ("one", "two"), points, two_balls(BULLET, DRAKE)) == [0.6, 0.5]
    assert pair_friction(("urdf", 0.2), ("one", "two"), points, two_balls(BULLET)) == [0.2, 0.2]
    assert pair_friction(("urdf", (0.9, 0.1)), ("one", "two"), points, two_balls(BULLET)) == [0.8, 0.1]


def test_links_without_friction_are_named_once_and_have_none() -> None:
    robot = two_balls(BULLET)
    with pytest.warns(UrdfWarning, match=r"no friction in the URDF for two: 0 there; friction=\('urdf', 0\.5\) gives them another"):
        assert pair_friction("urdf", ("one", "two"), list(PLAIN), robot) == [0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a default, or a friction of its own, is an answer
        assert pair_friction(("urdf", 0.2), ("one", "two"), list(PLAIN), robot) == [0.2, 0.2]
        assert pair_friction("urdf", ("one", "two", None, 0.4), [*PLAIN[:1], (*PLAIN[1], 0.4)], robot) == [0.4, 0.4]


def test_elements_that_contradict_each_other_are_told() -> None:
    gazebo = '<gazebo reference="one"><mu1>0.7</mu1><mu2>0.2</mu2></gazebo>'
    with pytest.warns(UrdfWarning, match=r'link "one" <mu2>: found 0\.2 after 0\.7 of <mu1> in line 6, expected one friction'):
        found = ug.Simulator(two_balls(more=gazebo), friction=("urdf", 0.0)).description.friction
    assert found.links == {"one": (0.7, 0.7)}


# bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [-0.1, float("nan"), float("inf"), "rough", None, True, (0.3, 0.4), (0.1, 0.2, 0.3), (0.5, -0.1), (0.5, "x")]
)
def test_a_friction_that_is_none_is_refused_everywhere(value: object) -> None:
    robot = two_balls()
    for where, make in {
        "friction": lambda: ug.Simulator(robot, friction=value),  # type: ignore[arg-type]
        "Plane: friction": lambda: Plane(friction=value),  # type: ignore[arg-type]
        "Sphere: friction": lambda: Sphere(1.0, friction=value),  # type: ignore[arg-type]
        "point 'one': friction": lambda: ug.Simulator(robot, points=[("one", (0, 0, 0), 0.1, value)]),  # type: ignore[list-item]
        "point 'p': friction": lambda: ug.Simulator(robot, points=[ContactPoint("p", 0, (0.0, 0.0, 0.0), friction=value)]),  # type: ignore[arg-type]
        "pair ('one', 'two'): friction": lambda: ug.Simulator(robot, pairs=[("one", "two", 0.1, value)]),  # type: ignore[list-item]
    }.items():
        if value is None and where in ("Plane: friction", "Sphere: friction", "point 'p': friction"):
            continue  # there None means: that of the wall, or of the scene
        with pytest.raises(ArgumentError) as caught:
            make()
        assert str(caught.value).startswith(f"{where}=") and "expected" in str(caught.value)


@pytest.mark.parametrize(("value", "what"), [(("urdf", -1.0), "friction=-1.0"), ("sdf", "friction='sdf'"), (("urdf", "x"), "friction='x'")])
def test_a_wrong_word_for_the_urdf(value: object, what: str) -> None:
    with pytest.raises(ArgumentError, match=what):
        ug.Simulator(two_balls(), friction=value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("element", "complaint"),
    [
        (
            '<contact><lateral_friction value="-1"/></contact>',
            'link "one" <lateral_friction>: found "-1", expected a finite number, 0 or more',
        ),
        ('<contact><lateral_friction value="nan"/></contact>', 'link "one" <lateral_friction>: found "nan"'),
        ("<contact><lateral_friction/></contact>", 'link "one" <lateral_friction>: found ""'),
        (DRAKE.replace("0.6", "rough"), 'link "one" <drake:mu_static>: found "rough"'),
        (DRAKE.replace("0.5", "0.7"), 'link "one" <drake:mu_dynamic>: found 0.7, expected not more than <drake:mu_static>, 0.6'),
        (DRAKE.replace("0.5", "1_0"), 'link "one" <drake:mu_dynamic>: found "1_0"'),
    ],
)
def test_wrong_values_of_a_urdf_are_named_with_file_and_line(tmp_path: Path, element: str, complaint: str) -> None:
    file = tmp_path / "two.urdf"
    file.write_text(TWO_BALLS.format(one=element, two="", more="<gazebo reference='two'>\n<mu1>much</mu1></gazebo>"))
    robot = ug.load(file)  # the values are read where friction is asked for
    with pytest.raises(UrdfError) as caught:
        ug.Simulator(robot, friction="urdf")
    first, second = caught.value.findings
    assert str(first).startswith(f"{file}:4: error: {complaint}")
    assert str(second) == f'{file}:7: error: link "two" <mu1>: found "much", expected a finite number, 0 or more [friction]'


@pytest.mark.parametrize("where", ["scene", "wall", "point", "pair", "urdf"])
def test_the_papers_law_refuses_friction_wherever_it_comes_from(where: str) -> None:
    options = {
        "scene": {"friction": 0.5},
        "wall": {"walls": Plane(friction=0.5), "points": ["one"]},
        "point": {"points": [("one", (0, 0, 0), 0.0, 0.5)]},
        "pair": {"points": PLAIN, "pairs": [("one", "two", None, 0.5)]},
        "urdf": {"friction": ("urdf", 0.0)},
    }[where]
    with pytest.raises(ArgumentError, match="newton_equality"):
        ug.Simulator(two_balls(BULLET), law="newton_equality", **options)  # type: ignore[arg-type]
    ug.Simulator(two_balls(BULLET), law="newton", **options)  # type: ignore[arg-type]


def test_friction_of_points_and_walls_is_kept_with_a_run(tmp_path: Path) -> None:
    robot = ug.load(ug.model_path("block"), base="floating")
    run = ug.simulate(robot, [0, 0, 1, 0, 0, 0, 1], None, 0.1, Plane(friction=0.3), points=ROUGH, friction=(0.5, 0.4))  # type: ignore[arg-type]
    again = ug.Trajectory.load(run.save(tmp_path / "run"))
    assert again.settings["friction"] == [0.5, 0.4]
    assert again.settings["walls"][0]["friction"] == [0.3, 0.3]
    assert [point["friction"] for point in again.settings["points"]] == [[0.1, 0.1]] * 4
