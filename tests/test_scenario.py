"""Scenario files: what good ones mean, what is said about bad ones and on which line, formulas and the line finder."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from contextlib import suppress
from inspect import signature
from math import cos, inf, pi, sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_data import MODELS, START
from point_robots import BODY, joint, link

import urdf_gibbs as ug
from urdf_gibbs import UnknownNameError, UrdfError, frame_placement, walls
from urdf_gibbs.bundled import scenario_names, scenario_path
from urdf_gibbs.simulation.scenario import ReferenceImpact, Scenario, ScenarioError, parse_scenario, read_scenario
from urdf_gibbs.simulation.scenario.expression import evaluate
from urdf_gibbs.simulation.scenario.lines import key_lines, line_of
from urdf_gibbs.simulation.scenario.schema import ARGUMENTS, KINDS, MOTIONS, Instance, arguments_of
from urdf_gibbs.simulation.scenario.values import Values

HEAD = 'duration = 1.0\n[robot]\nfile = "branched12"\n'  # three lines; tables may follow
ROBOT = '[robot]\nfile = "branched12"\n'


def scenario(text: str) -> Scenario:
    return parse_scenario(text, "test.toml")


# Good files -----------------------------------------------------------------------------------------


def test_the_bundled_scenarios_are_found_by_name() -> None:
    assert {"branched12", "bouncing_ball"} <= set(scenario_names())
    assert scenario_path("branched12") == MODELS / "branched12.toml"
    with pytest.raises(UnknownNameError, match="no bundled scenario named 'nonsense'"):
        scenario_path("nonsense")
    for name in scenario_names():
        assert read_scenario(name).file == str(scenario_path(name))
        assert read_scenario(scenario_path(name)).title


def test_branched12_is_the_case_of_the_paper() -> None:
    found = read_scenario(MODELS / "branched12.toml")
    np.testing.assert_array_equal(found.q0, START)
    np.testing.assert_array_equal(found.v0, np.zeros(12))
    assert found.robot.name == "branched12"
    assert (found.duration, found.gravity, found.law, found.restitution) == (1.5, (0.0, -9.81, 0.0), "newton", 1.0)
    assert found.walls == (walls.Circle(2.5),)
    assert found.points is None and found.pairs == ()
    assert dict(found.tolerances) == {"rtol": 1e-12, "atol": 1e-12}


def test_bouncing_ball_falls_from_a_free_height_of_one_metre() -> None:
    found = read_scenario("bouncing_ball")
    assert found.points is not None
    (ball,) = found.points
    assert found.q0[0] - ball.radius == pytest.approx(1.0, abs=1e-15)
    assert found.restitution == 0.8
    assert found.walls == (walls.Plane((0, 0, 1), name="ground"),)
    t1, e = sqrt(2 / 9.81), found.restitution
    assert f"{t1:.4f} s" in Path(found.file).read_text() and f"{t1 * (1 + e) / (1 - e):.4f} s" in Path(found.file).read_text()


def test_what_is_not_given_has_its_default() -> None:
    found = scenario(HEAD)
    assert (found.title, found.gravity, found.law, found.restitution, found.walls) == ("", (0.0, 0.0, -9.81), "newton", 1.0, ())
    assert (found.points, found.pairs, found.joint_limits, found.damping, dict(found.tolerances)) == (None, (), False, False, {})
    np.testing.assert_array_equal(found.q0, found.robot.neutral())
    np.testing.assert_array_equal(found.torque, np.zeros(12))
    assert not found.q0.flags.writeable and not found.v0.flags.writeable and not found.torque.flags.writeable


def test_arguments_are_those_of_simulate() -> None:
    found = scenario(HEAD + "[tolerances]\nrtol = 1e-9\nmax_step = 0.1\ntie = 1e-8\nzeno = 1e-6\nresolution = 1e-3\natol = 1e-11\n")
    always = {
        "robot",
        "q0",
        "v0",
        "duration",
        "walls",
        "scheme",
        "step",
        "law",
        "restitution",
        "friction",
        "paradox",
        "gravity",
        "torque",
        "points",
        "pairs",
        "joint_friction",
        "joint_limits",
        "damping",
    }
    assert set(found.arguments()) == always | {"rtol", "atol", "max_step", "tie", "zeno", "resolution"}
    assert found.arguments()["rtol"] == 1e-9 and found.arguments()["robot"] is found.robot


def test_velocities_torques_points_and_pairs() -> None:
    found = scenario(
        HEAD
        + """
[start_velocity]
q1 = "30 deg"
[torques]
q10 = -2
[contacts]
points = ["O1", {link = "link2", position = [0.5, 0, "1/4"], radius = 0.1, name = "middle"}]
pairs = [["O5", "middle"], ["O5", "O8", "2*0.1"]]
joint_limits = true
damping = true
"""
    )
    assert found.v0[2] == pytest.approx(pi / 6) and np.count_nonzero(found.v0) == 1
    assert found.torque[11] == -2.0 and np.count_nonzero(found.torque) == 1
    assert found.points is not None
    assert [(point.name, point.radius) for point in found.points] == [("O1", 0.0), ("middle", 0.1)]
    assert found.points[1].position == (0.5, 0.0, 0.25)
    assert found.pairs == (("O5", "middle"), ("O5", "O8", 0.2))
    assert found.joint_limits and found.damping


def test_walls_of_every_kind_with_motion() -> None:
    found = scenario(
        HEAD
        + """
[[walls]]
kind = "plane"
normal = [0, 1, 0]
point = [0, -1, 0]
restitution = 0.5
name = "floor"
[walls.motion]
kind = "vibration"
amplitude = [0, 0.1, 0]
omega = "2*pi"
phase = "90 deg"
[[walls]]
kind = "circle"
radius = 2
[[walls]]
kind = "cylinder"
radius = 2
axis = [1, 0, 0]
side = "outside"
motion = {kind = "drift", velocity = [0, 0, 1]}
[[walls]]
kind = "sphere"
radius = "sqrt(4)"
centre = [1, 2, 3]
[[walls]]
kind = "ellipsoid"
semi_axes = [1, 2, 3]
rpy = [0, 0, "90 deg"]
[[walls]]
kind = "box"
size = [1, 2, 3]
rotation = [
  [0, -1, 0],
  [1, 0, 0],
  [0, 0, 1],
]
[[walls]]
kind = "corridor"
width = 3
[[walls]]
kind = "heightfield"
heights = [[0, 0.1], [0.2, 0]]
x = [0, 1]
y = [0, 2]
[[walls]]
kind = "terrain"
seed = 3
x = [0, 5]
y = [0, 5]
roughness = 0.02
slope = "15 deg"
"""
    )
    assert (found.walls[8].heights == walls.Terrain(seed=3, x=(0, 5), y=(0, 5), roughness=0.02, slope=pi / 12).heights).all()  # type: ignore[attr-defined]
    assert found.walls[:4] == (
        walls.Plane((0, 1, 0), (0, -1, 0), restitution=0.5, name="floor", motion=walls.Vibration((0, 0.1, 0), 2 * pi, pi / 2)),
        walls.Circle(2.0),
        walls.Cylinder(2.0, axis=(1, 0, 0), side="outside", motion=walls.Drift((0, 0, 1))),
        walls.Sphere(2.0, (1, 2, 3)),
    )
    assert [type(wall) for wall in found.walls] == list(KINDS.values())
    turn = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    assert isinstance(found.walls[4], walls.Ellipsoid) and isinstance(found.walls[5], walls.Box)
    assert found.walls[4].rotation is not None and found.walls[5].rotation is not None
    np.testing.assert_allclose(np.array(found.walls[4].rotation), turn, rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(np.array(found.walls[5].rotation), turn)


def test_every_argument_of_a_wall_can_be_written() -> None:
    """The reader asks the classes which arguments they have; it must know how each is written."""
    for kind in [*KINDS.values(), *MOTIONS.values()]:
        assert set(signature(kind).parameters) <= set(ARGUMENTS), kind


def test_a_floating_base_starts_from_rpy_or_quaternion() -> None:
    head = 'duration = 1\n[robot]\nfile = "pendulum"\nbase = "floating"\n[start]\n'
    found = scenario(
        head
        + 'root_joint = {position = [1, 2, 3], rpy = [0.3, "20 deg", -0.5]}\npivot = 0.1\n[start_velocity]\nroot_joint = [1, 2, 3, 4, 5, 6]\n'
    )
    np.testing.assert_array_equal(found.v0, [1, 2, 3, 4, 5, 6, 0])
    r, p, y = 0.3, pi / 9, -0.5
    x_turn = np.array([[1, 0, 0], [0, cos(r), -sin(r)], [0, sin(r), cos(r)]])
    y_turn = np.array([[cos(p), 0, sin(p)], [0, 1, 0], [-sin(p), 0, cos(p)]])
    z_turn = np.array([[cos(y), -sin(y), 0], [sin(y), cos(y), 0], [0, 0, 1]])
    placement = frame_placement(found.robot, found.q0, "ceiling")
    np.testing.assert_allclose(placement[:3, :3], z_turn @ y_turn @ x_turn, rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(placement[:3, 3], [1, 2, 3])
    assert found.q0[7] == 0.1
    found = scenario(head + "root_joint = {quaternion = [0, 0, 3, 4]}\n")
    np.testing.assert_allclose(found.q0[:7], [0, 0, 0, 0, 0, 0.6, 0.8], rtol=0.0, atol=1e-15)


def test_a_planar_base_starts_from_x_y_and_angle() -> None:
    found = scenario(
        'duration = 1\n[robot]\nfile = "pendulum"\nbase = "planar"\n[start]\nroot_joint = [1, 2, "90 deg"]\n[torques]\nroot_joint = [1, 2, 3]\n'
    )
    np.testing.assert_array_equal(found.q0, [1, 2, pi / 2, 0])
    np.testing.assert_array_equal(found.torque, [1, 2, 3, 0])


def test_the_robot_is_looked_up_beside_the_file_first(tmp_path: Path) -> None:
    (tmp_path / "ball.urdf").write_text(f'<robot name="mine">{link("a")}{link("b")}{joint("z", "prismatic", "a", "b")}</robot>')
    (tmp_path / "one.toml").write_text('duration = 1\n[robot]\nfile = "ball.urdf"\npackage_dirs = ["meshes"]\n')
    found = read_scenario(tmp_path / "one.toml")
    assert found.robot.name == "mine"
    assert found.robot.package_dirs == (str(tmp_path / "meshes"),)
    (tmp_path / "ball.urdf").unlink()
    assert read_scenario(tmp_path / "one.toml").robot.name == "ball"


def test_names_with_dots_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{link("a")}{link("b")}{joint("j.1", "prismatic", "a", "b")}</robot>')
    (tmp_path / "s.toml").write_bytes(b'\xef\xbb\xbfduration = 1\r\n[robot]\r\nfile = "r.urdf"\r\n[start]\r\n"j.1" = 2\r\n')
    assert read_scenario(tmp_path / "s.toml").q0[0] == 2.0


def test_reading_a_scenario_does_not_wait_for_numba() -> None:
    code = "import sys; from urdf_gibbs.simulation.scenario import read_scenario; read_scenario('branched12'); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=MODELS.parent, check=False).returncode == 0


# Bad files ------------------------------------------------------------------------------------------

MALFORMED = [
    # text, line, key, part of the message
    ("duration = \n", 1, "syntax", "Invalid value"),
    (HEAD + "\n\n[start\nq1 = 1\n", 6, "syntax", "expected TOML"),
    (HEAD + "a = [1, 2\n", 4, "syntax", "Unclosed array"),
    (HEAD + "base = 'fixed'\nbase = 'fixed'\n", 5, "syntax", "Cannot overwrite"),
    (ROBOT, 1, "duration", "missing, expected it at the top of the file"),
    ("duration = 1\n", 1, "robot", "missing, expected it at the top of the file"),
    ("duration = 1\n\n[robot]\nbase = 'fixed'\n", 3, "robot.file", "missing, expected it in robot"),
    ("duration = 1\nrobot = 'branched12'\n", 2, "robot", '"branched12", expected a table: [robot]'),
    ("duration = -1\n" + ROBOT, 1, "duration", "-1, expected a number above 0"),
    ("duration = inf\n" + ROBOT, 1, "duration", "inf, expected a finite number"),
    ("duration = true\n" + ROBOT, 1, "duration", "true, expected a number"),
    ("duration = 1e999\n" + ROBOT, 1, "duration", "inf, expected a finite number"),
    ("\nduration = 0x" + "f" * 9999 + "\n" + ROBOT, 2, "duration", "an integer of 39996 bits, expected a finite number"),
    ("duration = 1979-05-27\n" + ROBOT, 1, "duration", "1979-05-27, expected a number"),
    ("durations = 1\nduration = 1\n" + ROBOT, 1, "durations", 'did you mean "duration"?'),
    ("title = 3\nduration = 1\n" + ROBOT, 1, "title", "3, expected a text in quotes"),
    ("duration = 1\ngravity = -9.81\n" + ROBOT, 2, "gravity", "-9.81, expected a list of 3 numbers"),
    ("duration = 1\ngravity = [0, 0]\n" + ROBOT, 2, "gravity", "[0, 0], expected a list of 3 numbers"),
    ("duration = 1\ngravity = [\n  0,\n  0,\n  'g',\n]\n" + ROBOT, 5, "gravity[2]", '"g" (g is not known), expected a number, or a formula'),
    ("duration = 1\nlaw = 'newtons'\n" + ROBOT, 2, "law", '"newtons", expected one of newton, newton_equality, poisson, moreau, energetic; did you mean "newton'),
    ("duration = 1\nlaw = 1\n" + ROBOT, 2, "law", "1, expected one of newton"),
    ("duration = 1\nrestitution = 1.5\n" + ROBOT, 2, "restitution", "1.5, expected a number from 0 to 1"),
    ("duration = 1\n[robot]\n\nfile = 'none.urdf'\n", 4, "robot.file", '"none.urdf": no such file, expected a URDF file, relative to this file, or a bundled model: ball, '),
    ("duration = 1\n[robot]\nfile = 3\n", 3, "robot.file", "3, expected a text in quotes"),
    (HEAD + "base = 'floaty'\n", 4, "robot.base", 'did you mean "floating"?'),
    (HEAD + "mimic = 1\n", 4, "robot.mimic", "1, expected true or false"),
    (HEAD + "package_dirs = 'a'\n", 4, "robot.package_dirs", '"a", expected a list of folders'),
    (HEAD + "package_dirs = [\n'a',\n2]\n", 6, "robot.package_dirs[1]", "2, expected a text in quotes"),
    (HEAD + "fil = 1\n", 4, "robot.fil", 'unknown key, expected one of file, base, mimic, package_dirs, xacro_args; did you mean "file"?'),
    (HEAD + "[start]\nq1 = 0\nq11 = 1\n", 6, "start.q11", "unknown joint, expected one of X1, X2, q1"),
    (HEAD + "[start]\nq1 = '1 +'\n", 5, "start.q1", '"1 +" (not a formula)'),
    (HEAD + "[start]\nq1 = 'sqrt(-1)'\n", 5, "start.q1", "(not a real number)"),
    (HEAD + "[start]\nq1 = '1/0'\n", 5, "start.q1", "(not a finite number)"),
    (HEAD + "[start]\nq1 = '__import__(\"os\")'\n", 5, "start.q1", "(__import__ is not known)"),
    (HEAD + "[start]\nq1 = [1]\n", 5, "start.q1", "[1], expected a number"),
    (HEAD + "[start]\nq1 = {a = 1}\n", 5, "start.q1", "a table, expected a number"),
    ("duration = 1\nstart = 3\n" + ROBOT, 2, "start", "3, expected a table: [start]"),
    (HEAD + "[start_velocity]\nq1 = nan\n", 5, "start_velocity.q1", "nan, expected a finite number"),
    (HEAD + "[torques]\nroot_joint = 1\n", 5, "torques.root_joint", 'a base that is fixed has no root_joint, base = "floating" frees it'),
    ("duration = 1\nfriction = 'rough'\n" + ROBOT, 2, "friction", '"rough", expected a number, [static, kinetic], "urdf", or ["urdf", number]'),
    (HEAD + "[contacts]\njoint_friction = 'on'\n", 5, "contacts.joint_friction", '"on", expected "urdf", a number, or a table of numbers by joint'),
    ("<robot/>", 1, "file", "XML, as robots have it, expected a scenario; urdf-gibbs simulate --template test.toml > scene.toml writes one"),
    ("duration = 1\n[robot]\nfile = 'gripper'\n[start]\nfinger_right = 0.1\n", 5, "start.finger_right", 'its master "finger_left", or mimic = false'),
    (HEAD + "base = 'floating'\n[start]\nroot_joint = [0, 0, 0]\n", 6, "start.root_joint", "expected {position = [x, y, z], rpy"),
    (HEAD + "base = 'floating'\n[start.root_joint]\nposition = [0, 0]\n", 6, "start.root_joint.position", "expected a list of 3 numbers"),
    (HEAD + "base = 'floating'\n[start.root_joint]\nrpy = [0, 0, 0]\nquaternion = [0, 0, 0, 1]\n", 7, "start.root_joint.quaternion", "given beside rpy, expected one of the two"),
    (HEAD + "base = 'floating'\n[start.root_joint]\nquaternion = [0, 0, 0, 0]\n", 6, "start.root_joint.quaternion", "of non-zero length"),
    (HEAD + "base = 'floating'\n[start.root_joint]\nxyz = [0, 0, 0]\n", 6, "start.root_joint.xyz", "unknown key, expected one of position, rpy, quaternion"),
    (HEAD + "base = 'floating'\n[start_velocity]\nroot_joint = [0, 0, 0]\n", 6, "start_velocity.root_joint", "6 numbers for a floating joint, in the order [vx, vy, vz, wx, wy, wz]"),
    (HEAD + "base = 'planar'\n[start]\nroot_joint = 1\n", 6, "start.root_joint", "3 numbers for a planar joint, in the order [x, y, angle]"),
    (HEAD + "[tolerances]\nrtol = 0\n", 5, "tolerances.rtol", "0, expected a number above 0"),
    (HEAD + "[tolerances]\ntie = 1\n", 5, "tolerances.tie", "1, expected a number from 0 to 0.001"),
    (HEAD + "[tolerances]\nrtoll = 1\n", 5, "tolerances.rtoll", 'did you mean "rtol"?'),
    (HEAD + "[contacts]\npoints = 'collisions'\n", 5, "contacts.points", '"collisions", expected "collision", or a list'),
    (HEAD + "[contacts]\npoints = [\n'O1',\n'O12']\n", 7, "contacts.points[1].link", '"O12", expected one of ground'),
    (HEAD + "[contacts]\npoints = [3]\n", 5, "contacts.points[0]", "3, expected a link, or {link"),
    (HEAD + "[contacts]\npoints = [{position = [0, 0, 0]}]\n", 5, "contacts.points[0].link", "missing, expected it in contacts.points[0]"),
    (HEAD + "[[contacts.points]]\nlink = 'O1'\n\nradius = -1\n", 7, "contacts.points[0].radius", "-1, expected a number of 0 or more"),
    (HEAD + "[contacts]\ndamping = 'yes'\n", 5, "contacts.damping", '"yes", expected true or false'),
    (HEAD + "[contacts]\npairs = [['O1']]\n", 5, "contacts.pairs[0]", '["O1"], expected [name, name], [name, name, distance] or'),
    (HEAD + "[contacts]\npairs = [['O1', 'O5']]\n", 5, "contacts.pairs[0]", "contact distance 0, expected a positive one"),
    (HEAD + "[contacts]\npairs = [\n\n['O1', 'O2', 1]]\n", 7, "contacts.pairs[0]", "both points are fixed to the body of joint 'q1', expected points that move apart"),
    (HEAD + "[contacts]\npairs = [['O1', 'O5', 1],\n['O1',\n'P5', 1]]\n", 7, "contacts.pairs[1][1]", '"P5", expected a point or link: O1'),
    (HEAD + "[contacts]\npairs = [['O1', 'O5', 0]]\n", 5, "contacts.pairs[0][2]", "0, expected a number above 0"),
    (HEAD + "[walls]\nkind = 'plane'\n", 4, "walls", "a table, expected [[walls]]"),
    ("walls = [1]\nduration = 1\n" + ROBOT, 1, "walls[0]", "1, expected a table with the wall's kind"),
    (HEAD + "[[walls]]\nkind = 'plane'\n[[walls]]\nradius = 1\n", 6, "walls[1].kind", "missing, expected it in walls[1]"),
    (HEAD + "[[walls]]\nkind = 'cirle'\n", 5, "walls[0].kind", 'did you mean "circle"?'),
    (HEAD + "[[walls]]\nkind = 'circle'\n", 4, "walls[0].radius", "missing, expected it in walls[0]"),
    (HEAD + "[[walls]]\nkind = 'circle'\n# wide\nradius = -2.5\n", 7, "walls[0].radius", "-2.5, expected a positive number of metres"),
    (HEAD + "[[walls]]\nkind = 'circle'\nradius = 1\nside = 'in'\n", 7, "walls[0].side", '"in", expected one of inside, outside'),
    (HEAD + "[[walls]]\nkind = 'plane'\nradius = 1\n", 6, "walls[0].radius", "unknown key, expected one of kind, normal, point"),
    (HEAD + "[[walls]]\nkind = 'plane'\nnormal = [0, 0, 0]\n", 6, "walls[0].normal", "[0, 0, 0], expected a vector that is not zero"),
    (HEAD + "[[walls]]\nkind = 'plane'\nrestitution = 2\n", 6, "walls[0].restitution", "2, expected a number from 0 to 1"),
    (HEAD + "[[walls]]\nkind = 'box'\nsize = [1, 1, 1]\nrotation = [[1, 0], [0, 1]]\n", 7, "walls[0].rotation", "three lists of three numbers"),
    (HEAD + "[[walls]]\nkind = 'box'\nsize = [1, 1, 1]\nrotation = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]\n", 7, "walls[0].rotation", "a rotation matrix"),
    (HEAD + "[[walls]]\nkind = 'heightfield'\nx = [0, 1]\ny = [1, 0]\nheights = [[0, 0], [0, 0]]\n", 7, "walls[0].y", "[1, 0], expected (first, last) with first < last"),
    (HEAD + "[[walls]]\nkind = 'heightfield'\nx = [0, 1]\ny = [0, 1]\nheights = [[0, 0], [0]]\n", 8, "walls[0].heights", "equally long lists"),
    (HEAD + "[[walls]]\nkind = 'heightfield'\nx = [0, 1]\ny = [0, 1]\nheights = [[0]]\n", 8, "walls[0].heights", "expected (nx, ny) with nx, ny >= 2"),
    (HEAD + "[[walls]]\nkind = 'plane'\nmotion = 1\n", 6, "walls[0].motion", "1, expected {kind = ..., ...}"),
    (HEAD + "[[walls]]\nkind = 'plane'\nmotion = {kind = 'shake'}\n", 6, "walls[0].motion.kind", '"shake", expected one of vibration, drift'),
    (HEAD + "[[walls]]\nkind = 'plane'\n[walls.motion]\nkind = 'drift'\nvelocity = [0, 0]\n", 8, "walls[0].motion.velocity", "expected a list of 3 numbers"),
    (HEAD + "[[walls]]\nkind = 'plane'\n[walls.motion]\nkind = 'vibration'\nomega = 1\n", 6, "walls[0].motion.amplitude", "missing, expected it in walls[0].motion"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "part"), MALFORMED, ids=range(len(MALFORMED)))
def test_a_bad_file_is_refused_with_its_line(text: str, line: int, key: str, part: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (line, key)
    assert str(caught.value).startswith(f"test.toml:{line}: {key}: ")
    assert part in str(caught.value)


def test_all_problems_are_reported_at_once_in_the_order_of_lines() -> None:
    text = 'law = "newtn"\n[robot]\nfile = "pendulum"\nbse = 1\n[start]\npivto = 1\n[[walls]]\nkind = "circle"\nradius = 0\n[contacts]\npairs = 1\n'
    with pytest.raises(ScenarioError) as caught:
        scenario(text)
    assert [(problem.line, problem.key) for problem in caught.value.problems] == [
        (1, "duration"),
        (1, "law"),
        (4, "robot.bse"),
        (6, "start.pivto"),
        (9, "walls[0].radius"),
        (11, "contacts.pairs"),
    ]
    assert len(str(caught.value).splitlines()) == 6


def test_errors_of_the_robot_file_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(f'<robot name="r">\n{link("a")}\n{link("b")}\n</robot>')
    (tmp_path / "s.toml").write_text('duration = 1\n[robot]\nfile = "r.urdf"\n')
    with pytest.raises(UrdfError, match=r"r\.urdf:3: error: "):
        read_scenario(tmp_path / "s.toml")
    (tmp_path / "s.toml").write_text('duration = 0\n[robot]\nfile = "r.urdf"\n')
    with pytest.raises(
        ScenarioError, match=r'(?s)s\.toml:1: duration: .*s\.toml:3: robot\.file: "r\.urdf" does not load \(.*r\.urdf:3: error'
    ):
        read_scenario(tmp_path / "s.toml")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ScenarioError,
        match=r"none\.toml:0: file: No such file or directory, expected a readable TOML file, or a bundled scenario: backspin, block_on_incline",
    ):
        read_scenario(tmp_path / "none.toml")
    with pytest.raises(ScenarioError, match="expected a readable TOML file"):
        read_scenario("a\0b")
    with pytest.raises(ScenarioError, match="did you mean bouncing_ball"):
        read_scenario("bouncing_bal")
    with pytest.raises(
        ScenarioError, match="pendulum:0: file: the name of a robot, expected a scenario; urdf-gibbs simulate --template pendulum >"
    ):
        read_scenario("pendulum")
    (tmp_path / "r.urdf").write_text("<robot/>")
    with pytest.raises(ScenarioError, match=r"r\.urdf:1: file: XML, .* --template \S*r\.urdf > scene\.toml"):
        read_scenario(tmp_path / "r.urdf")
    (tmp_path / "s.toml").write_bytes(b"duration = 1\n# \xff\n")
    with pytest.raises(ScenarioError, match=r"s\.toml:2: syntax: byte 0xff, expected UTF-8"):
        read_scenario(tmp_path / "s.toml")
    with pytest.raises(ScenarioError, match="nested too deeply"):
        scenario("a = " + "[" * 5000 + "]" * 5000)


def test_a_scenario_error_is_a_value_error_of_the_package() -> None:
    assert issubclass(ScenarioError, ug.UrdfGibbsError) and issubclass(ScenarioError, ValueError)


# Formulas -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0), ("-1.5e-3", -1.5e-3), (" 2 ", 2.0), ("+3", 3.0), ("-(1 + sqrt(3))/2", -(1 + sqrt(3)) / 2), ("-2*pi/3", -2 * pi / 3),
        ("30 deg", 30 * pi / 180), ("30deg", 30 * pi / 180), ("-90. deg", -pi / 2), ("(45 + 45) deg", pi / 2), ("30 * deg", pi / 6),
        ("1 + 180 deg", 1 + pi), ("sin(30 deg)", sin(pi / 6)), ("cos(pi/3)", cos(pi / 3)), ("atan(1) * 4", pi), ("2**-1", 0.5), ("2**3**2", 512.0),
        ("-2**2", -4.0), ("asin(1) + acos(1)", pi / 2), ("tan(0)", 0.0), ("1_000", 1000.0),
    ],
)  # fmt: skip
def test_formulas_have_their_value(text: str, value: float) -> None:
    assert evaluate(text) == pytest.approx(value, rel=1e-15, abs=1e-300)


@pytest.mark.parametrize(
    "text",
    ["", " ", "1 +", "x", "deg deg", "30 degrees", "1, 2", "[1]", "'1'", "True", "1j", "pi()", "sin", "sin(1, 2)", "sin()", "sin(*(1))", "sin(x=1)",
     "1 if 1 else 2", "lambda: 1", "(1).real", "__import__('os')", "1 < 2", "not 1", "~1", "1 % 2", "1 // 2", "1 @ 2", "1; 2", "a := 1",
     "1/0", "0**-1", "(-8)**(1/3)", "sqrt(-1)", "9**9**9**9", "1e999", "1e308*10", "asin(2)", "(" * 150 + ")" * 40, "1" + "+1" * 200, "\0", "1\n2", "9" * 190 + "9" * 300],
)  # fmt: skip
def test_what_is_not_a_formula_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        evaluate(text)


@given(st.text(alphabet="0123456789.+-*/() epidgsqrtn_x'\"\\,jJ[]", max_size=30) | st.text(max_size=20))
@settings(max_examples=300, deadline=None)
def test_any_text_has_a_finite_value_or_is_refused(text: str) -> None:
    with suppress(ValueError):
        assert -inf < evaluate(text) < inf


# Lines ----------------------------------------------------------------------------------------------

LAYOUT = '''# a comment with [brackets] and key = "value"
top = 1
"quoted key" = 2; 'single.dotted' = 3
a.b."c d" = 4
text = """
fake = 1
[fake]
"""
other = \'\'\'
fake = "2"""\'\'\'
array = [ # comment ]
  1, [2,
  3], """
]""",
  {x = 1, y = {z = 5}},
]
empty = []
inline = {one = 1, "two" = [1, 2], t.u = 3}
[ table . sub ]
key = "esc \\" ] # = }"
[[list]]
n = 1
[list.inside]
m = 1979-05-27 07:32:00
[[list]]
[[list.deep]]
k = """""five""" # and a comment
[[list.deep]]
k = 7
[table]
"\\u00e9" = 1
'''.replace("2; ", "2\n")

EXPECTED: dict[tuple[str | int, ...], int] = {
    ("top",): 2, ("quoted key",): 3, ("single.dotted",): 4, ("a",): 5, ("a", "b"): 5, ("a", "b", "c d"): 5, ("text",): 6, ("other",): 10,
    ("array",): 12, ("array", 0): 13, ("array", 1): 13, ("array", 1, 0): 13, ("array", 1, 1): 14, ("array", 2): 14,
    ("array", 3): 16, ("array", 3, "x"): 16, ("array", 3, "y"): 16, ("array", 3, "y", "z"): 16, ("empty",): 18,
    ("inline",): 19, ("inline", "one"): 19, ("inline", "two"): 19, ("inline", "two", 0): 19, ("inline", "two", 1): 19, ("inline", "t"): 19, ("inline", "t", "u"): 19,
    ("table", "sub"): 20, ("table", "sub", "key"): 21, ("list",): 22, ("list", 0): 22, ("list", 0, "n"): 23, ("list", 0, "inside"): 24, ("list", 0, "inside", "m"): 25,
    ("list", 1): 26, ("list", 1, "deep"): 27, ("list", 1, "deep", 0): 27, ("list", 1, "deep", 0, "k"): 28, ("list", 1, "deep", 1): 29, ("list", 1, "deep", 1, "k"): 30,
    ("table",): 31, ("table", "é"): 32,
}  # fmt: skip


def paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """All paths of a parsed TOML value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = {path} - {()}
    for key, entry in inside:
        found |= paths(entry, (*path, key))
    return found


def test_every_key_is_found_on_its_line() -> None:
    assert key_lines(LAYOUT) == EXPECTED
    assert paths(tomllib.loads(LAYOUT)) == set(EXPECTED)
    assert line_of(EXPECTED, ("list", 1, "nothing", 3)) == 26
    assert line_of(EXPECTED, ("nothing",)) == 1


KEYS = st.sampled_from(["a", "b", "walls", '"q k"', "'.'", '"\\t="'])
STRINGS = st.sampled_from(['"x"', "'#'", '"""\n]"""', "'''\nk = 1\n'''", '"\\""', '""', '""""""', '"""a"""""', "''''a''''"])
SCALARS = STRINGS | st.sampled_from(["1", "-2.5e3", "true", "1979-05-27 07:32:00", "inf", "0xff"])
GAPS = st.sampled_from(["", " ", "\n", " # ]\n", "\r\n\t"])


def arrays(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(GAPS, inside, GAPS), max_size=3).map(lambda parts: "[" + ",".join(a + b + c for a, b, c in parts) + "]")


def inline_tables(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(KEYS, inside), max_size=2, unique_by=lambda pair: pair[0])
    return pairs.map(lambda pairs: "{ " + ", ".join(f"{key} = {value}" for key, value in pairs) + "}")


VALUES = st.recursive(SCALARS, lambda inside: arrays(inside) | inline_tables(inside), max_leaves=6)
NAMES = st.lists(KEYS, min_size=1, max_size=3).map(" . ".join)
LINES = st.one_of(
    st.builds("{} = {}".format, NAMES, VALUES), NAMES.map("[{}]".format), NAMES.map("[[{}]]".format), st.just(""), st.just("# [a]")
)


@given(st.lists(LINES, max_size=8).map("\n".join))
@settings(max_examples=500, deadline=None)
def test_the_line_finder_sees_what_tomllib_sees(text: str) -> None:
    try:
        content = tomllib.loads(text)
    except ValueError:
        return
    text = text.replace("\r\n", "\n")
    lines = key_lines(text)
    assert set(lines) == paths(content)
    rows = text.split("\n")
    for path, line in lines.items():
        name = path[-1]
        if isinstance(name, str):  # the key, as it is or quoted and escaped, stands on its line
            assert name.replace("\t", "\\t") in rows[line - 1], path


# Fuzz -----------------------------------------------------------------------------------------------

GOOD = (MODELS / "branched12.toml").read_text() + '[contacts]\npoints = ["O1", {link = "O2", radius = 0.1}]\npairs = [["O2", "O5"]]\n'
PIECES = st.sampled_from(
    ["=", "[", "]", "[[", "]]", "{", "}", '"', "'", '"""', ",", ".", "\n", "#", "\\", "\0", "0", "-", "1e400", "nan", "true", "[]", "{}", "[[]]", '""',
     '"pi"', '"1/0"', '"O1"', "kind", "walls", "start", "robot", "q1", "link", "radius", "\nradius = 1\n", "\n[robot]\n", "\n[[walls]]\n", '"floating"', '"planar"',
     '"ball"', '"/"', '"."', "1979-05-27", "0x" + "f" * 400, "é", "\ud7ff"]
)  # fmt: skip


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """A good file with some pieces replaced."""
    text = GOOD
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(PIECES | st.text(max_size=3)) + text[stop:]
    return text


@st.composite
def other_values(draw: st.DrawFn) -> str:
    """A good file with a value replaced by any other."""
    rows = GOOD.split("\n")
    places = [k for k, row in enumerate(rows) if " = " in row and not row.startswith("#")]
    for _ in range(draw(st.integers(1, 3))):
        k = draw(st.sampled_from(places))
        rows[k] = rows[k].split(" = ")[0] + " = " + draw(VALUES)
    return "\n".join(rows)


@given(st.text() | spoiled() | other_values() | st.lists(LINES, max_size=8).map("\n".join))
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_scenario_or_refused(text: str) -> None:
    refusal = None
    try:
        found = scenario(text)
    except (ScenarioError, UrdfError) as error:
        refusal = error
    if refusal is None:
        assert isinstance(found, Scenario) and np.isfinite(found.q0).all()
    elif isinstance(refusal, ScenarioError):
        assert refusal.problems and all(1 <= problem.line <= text.count("\n") + 1 for problem in refusal.problems)
        assert len(str(refusal).split("\n")) == len(refusal.problems)


@given(st.binary(max_size=60))
@settings(max_examples=50, deadline=None)
def test_any_bytes_are_a_scenario_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    with pytest.raises(ScenarioError):
        read_scenario(path)


def test_a_mesh_in_the_collision_set_warns(tmp_path: Path) -> None:
    mesh = '<collision><geometry><mesh filename="a.stl"/></geometry></collision>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{link("a")}{link("b", BODY + mesh)}{joint("z", "prismatic", "a", "b")}</robot>')
    (tmp_path / "s.toml").write_text('duration = 1\n[robot]\nfile = "r.urdf"\n[contacts]\npoints = "collision"\n')
    with pytest.warns(ug.UrdfWarning, match="collisions of b"):
        assert read_scenario(tmp_path / "s.toml").points == ()


# Reference ------------------------------------------------------------------------------------------


def test_a_reference_is_read_and_changes_nothing() -> None:
    found = read_scenario("branched12").reference
    assert found is not None
    assert found.source == "Shafei 2018, Table 3"
    assert [impact.points for impact in found.impacts] == [("O1", "O5"), ("O2", "O4"), ("O8", "O11"), ("O3",), ("O1", "O5")]
    assert found.impacts[0] == ReferenceImpact(0.3851, ("O1", "O5"), 33.12, 6.32, 5.26)
    assert "reference" not in read_scenario("branched12").arguments()
    assert scenario(HEAD).reference is None
    part = scenario(HEAD + '[[reference.impacts]]\ntime = 1\npoints = ["O1"]\nimpulse = 2\n').reference
    assert part is not None and part.source == ""
    assert (part.impacts[0].time, part.impacts[0].impulse) == (1.0, 2.0) and np.isnan(
        [part.impacts[0].angle, part.impacts[0].velocity]
    ).all()


@pytest.mark.parametrize(
    ("text", "line", "key", "part"),
    [
        ("[reference]\nauthor = 1\n", 5, "reference.author", "unknown key"),
        ("[reference]\nsource = 1\n", 5, "reference.source", "a text in quotes"),
        ("[reference]\nimpacts = 1\n", 5, "reference.impacts", "[[reference.impacts]]"),
        ("[reference]\nimpacts = [1]\n", 5, "reference.impacts[0]", "time and points"),
        ('[[reference.impacts]]\npoints = ["O1"]\n', 4, "reference.impacts[0].time", "missing"),
        ("[[reference.impacts]]\ntime = 1\n", 4, "reference.impacts[0].points", "missing"),
        ('[[reference.impacts]]\ntime = 1\npoints = "O1"\n', 6, "reference.impacts[0].points", "a list of points"),
        ("[[reference.impacts]]\ntime = 1\npoints = [1]\n", 6, "reference.impacts[0].points[0]", "a text in quotes"),
        ('[[reference.impacts]]\ntime = 1\npoints = []\nangle = "steep"\n', 7, "reference.impacts[0].angle", "a number"),
        ("[[reference.impacts]]\ntime = 1\npoints = []\nforce = 1\n", 7, "reference.impacts[0].force", "impulse"),
    ],
)
def test_a_bad_reference_is_refused_with_its_line(text: str, line: int, key: str, part: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(HEAD + text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (line, key)
    assert part in str(problem)


def test_a_problem_is_data() -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario('duration = 1\n[robot]\nfile = "nothing"\nbase = "floaty"\n[[walls]]\nkind = "box"\nsize = [1, -1, 1]\n')
    assert [(problem.file, problem.line, problem.key, problem.value) for problem in caught.value.problems] == [
        ("test.toml", 3, "robot.file", '"nothing": no such file'),
        ("test.toml", 4, "robot.base", '"floaty"'),
        ("test.toml", 7, "walls[0].size", "[1, -1, 1]"),
    ]
    assert caught.value.problems[2].expected == "3 positive numbers of metres"


@pytest.mark.parametrize("kind", [*KINDS.values(), *MOTIONS.values()], ids=lambda kind: kind.__name__)
def test_what_the_schema_accepts_of_a_wall_its_class_accepts(kind: type) -> None:
    """The schema's limits are those of the classes: each value that one refuses the other refuses too."""
    good: dict[str, Any] = {
        "radius": 1.0,
        "width": 1.0,
        "semi_axes": [1, 2, 3],
        "size": [1, 2, 3],
        "heights": [[0, 0], [0, 0]],
        "x": [0, 1],
        "y": [0, 1],
        "amplitude": [0, 0, 1],
        "omega": 1.0,
        "velocity": [0, 0, 1],
        "normal": [0, 0, 1],
        "axis": [0, 0, 1],
        "side": "inside",
        "restitution": 0.5,
        "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "name": "a",
        "phase": 0.0,
    }
    tried: list[Any] = [0.0, -1.0, 2.0, "inside", "x", [0, 0, 0], [1, 1, 1], [1, 0, 1], [-1, 2, 1], [0, 1], [1, 0], [1, 1], [[1]], [[1, 2]]]
    tried += [[[1, 0, 0], [0, 1, 0], [0, 0, -1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[1, 0, 0], [0, 1, 0], [0, 0, 1.00001]]]
    made = Instance({"one": kind}, "")
    for key in arguments_of(made, "one").keys or {}:
        if key not in good:
            continue
        for value in tried:
            table = {name: entry for name, entry in good.items() if name in signature(kind).parameters} | {key: value}
            try:
                kind(**table)
                accepted = True
            except ug.ArgumentError:
                accepted = False
            values = Values("test.toml", {})
            assert (values.read((), {"kind": "one", **table}, made) is not None) == accepted, (key, value)
            assert accepted or values.problems[0].key.startswith(key), (key, value)
