"""Controllers that a scenario can name: computed torque, and driving on steered wheels. Closed forms and Jacobians."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.contact.wheels import wheel_points
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.simulation.control_geometry import wheels_of
from urdf_gibbs.simulation.drive import CREEP, FIRM, Drive, Route
from urdf_gibbs.simulation.scenario import ScenarioError, parse_scenario
from urdf_gibbs.simulation.scenario.controller import JointController

NAMES = ("LF", "LM", "LR", "RF", "RM", "RR")
MOON = (0.0, 0.0, -1.62)
FLOOR = ug.walls.Plane((0.0, 0.0, 1.0))


@cache
def rover() -> ug.Robot:
    return ug.load(ug.model_path("rover"), base="floating")


def drive(**changed: Any) -> Drive:
    wheels = wheels_of(rover(), [f"{name}D" for name in NAMES], [f"{name}W" for name in NAMES])
    route = Route(angle=math.radians(5.0))
    made = Drive(rover(), 200.0, wheels, route, 0.3, 1.0, 4000.0, 120.0, 2.0, None)
    return replace(made, **changed)


def driven(controller: Drive, duration: float, place: tuple[float, float] = (5.0, 5.0), **options: Any) -> ug.Trajectory:
    robot = rover()
    q = robot.neutral()
    q[:3] = *place, 1.05
    return ug.simulate(
        robot, q, None, duration, controller=controller, controller_rate=controller.rate,
        **{"walls": FLOOR, "points": wheel_points(robot, 1), "friction": 0.6, "restitution": 0.0, "gravity": MOON,
           "scheme": "time_stepping", "step": 5e-3, **options},
    )  # fmt: skip


# computed torque --------------------------------------------------------------------------------------------


def test_errors_under_computed_torque_obey_a_linear_equation() -> None:
    """e'' + kd e' + kp e = 0 of each joint of an arm, whatever the others do: e0 e^(-a t) (cos(b t) + a/b sin(b t))."""
    arm = ug.load(ug.model_path("planar3r"))
    kp, kd = np.array([40.0, 25.0, 90.0]), np.array([5.0, 4.0, 9.0])
    pose, start = np.array([0.5, -0.8, 1.0]), np.array([-1.0, 0.3, 2.0])
    controller = JointController(arm, 1000.0, pose, kp, kd, (0.0, -9.81, 0.0), by_inertia=True)
    run = ug.simulate(arm, start, None, 1.5, controller=controller, gravity=(0.0, -9.81, 0.0))
    t = np.linspace(0.0, 1.5, 40)[:, None]
    a, b = 0.5 * kd, np.sqrt(kp - 0.25 * kd**2)
    expected = pose + (start - pose) * np.exp(-a * t) * (np.cos(b * t) + a / b * np.sin(b * t))
    np.testing.assert_allclose(run.at(t[:, 0])[0], expected, atol=1e-8)  # called in each stage: the integrator's tolerance


PATH = """duration = 2.5
gravity = [0, -9.81, 0]
[robot]
file = "planar3r.urdf"
[start]
{first} = 0.2
[controller]
kind = "computed_torque"
kp = 100
kd = 20
path = [{{time = 1.0, {first} = 0.8}}, {{time = 2.0, {first} = -0.2, {second} = "pi/3"}}]
"""


def test_an_arm_follows_a_path() -> None:
    """By computed torque it is never off: the path is s^3 (10 - 15 s + 6 s^2) between poses, and the last one is held."""
    first, second, _ = ug.load(ug.model_path("planar3r")).joint_names
    scenario = parse_scenario(PATH.format(first=first, second=second), str(ug.model_path("rover")))
    run = ug.simulate(**{**scenario.arguments(), "controller_rate": None})
    t = np.linspace(0.0, 2.5, 51)

    def share(s: Any) -> Any:
        s = np.clip(s, 0.0, 1.0)
        return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)

    q, _ = run.at(t)
    np.testing.assert_allclose(q[:, 0], 0.2 + 0.6 * share(t) - 1.0 * share(t - 1.0), atol=1e-8)
    np.testing.assert_allclose(q[:, 1], math.pi / 3 * share(t - 1.0), atol=1e-8)
    np.testing.assert_allclose(q[:, 2], 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("time = 2.0", "time = 0.5", "a time after 1 s"), ("time = 1.0, ", "", "a time after 0 s"), ("{second}", "elbow", "unknown joint")],
)
def test_mistakes_in_a_path_of_an_arm_are_told(old: str, new: str, message: str) -> None:
    first, second, _ = ug.load(ug.model_path("planar3r")).joint_names
    with pytest.raises(ScenarioError, match=message):
        parse_scenario(PATH.replace(old, new).format(first=first, second=second), str(ug.model_path("rover")))


# other robots on wheels ---------------------------------------------------------------------------------------


def buggy(steered: bool, flipped: bool = False) -> str:
    """Four wheels of 0.1 m, 0.6 m apart along x and 0.4 m along y; with ``steered`` the front ones turn about z."""
    box = '<inertial><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial>'
    text = f'<robot name="buggy"><link name="body">{box.format(5, 0.1, 0.2, 0.2)}</link>'
    for place, x, y in (("lf", 0.3, 0.2), ("rf", 0.3, -0.2), ("lr", -0.3, 0.2), ("rr", -0.3, -0.2)):
        parent, at = "body", f'<origin xyz="{x} {y} 0"/>'
        axis = "0 -1 0" if flipped and y < 0.0 else "0 1 0"
        if steered and x > 0.0:
            text += f'<link name="{place}_fork">{box.format(0.1, 1e-3, 1e-3, 1e-3)}</link>'
            text += f'<joint name="{place}_turn" type="continuous"><parent link="body"/><child link="{place}_fork"/>{at}'
            text += f'<axis xyz="0 0 {-1 if flipped else 1}"/></joint>'
            parent, at = f"{place}_fork", ""
        text += (
            f'<link name="{place}">{box.format(0.5, 1.5e-3, 2.5e-3, 1.5e-3)}<collision><origin rpy="-1.5707963267948966 0 0"/><geometry>'
        )
        text += '<cylinder radius="0.1" length="0.04"/></geometry></collision></link>'
        text += (
            f'<joint name="{place}_roll" type="continuous"><parent link="{parent}"/><child link="{place}"/>{at}<axis xyz="{axis}"/></joint>'
        )
    return text + "</robot>"


def buggy_run(tmp_path: Any, steered: bool, flipped: bool, route: str, duration: float) -> ug.Trajectory:
    (tmp_path / "buggy.urdf").write_text(buggy(steered, flipped))
    steering = 'steering = ["lf_turn", "rf_turn"]\n' if steered else ""
    text = f"""duration = {duration}
scheme = "time_stepping"
step = 2e-3
restitution = 0.0
friction = 0.3
[robot]
file = "buggy.urdf"
base = "floating"
[start]
root_joint = {{position = [0, 0, 0.1]}}
[contacts]
points = "collision"
rims = 1
[controller]
kind = "drive"
wheels = ["lf_roll", "rf_roll", "lr_roll", "rr_roll"]
{steering}speed = 0.5
{route}
gain = 2.0
rate = 500
[[walls]]
kind = "plane"
normal = [0, 0, 1]
"""
    return ug.simulate(**parse_scenario(text, str(tmp_path / "scenario.toml")).arguments())


@pytest.mark.parametrize("flipped", [False, True])
def test_a_car_turns_about_its_rear_axle(tmp_path: Any, flipped: bool) -> None:
    """Front wheels steered, rear ones not, axles and forks either way round: 0.6 / tan(angle) from the left front wheel's turn."""
    run = buggy_run(tmp_path, True, flipped, 'steer = "10 deg"', 6.0)
    places = run.q[run.t > 2.0, :2]
    fit = np.linalg.lstsq(np.column_stack([2.0 * places, np.ones(len(places))]), (places**2).sum(axis=1), rcond=None)[0]
    to_rear = 0.2 + 0.6 / math.tan(math.radians(10.0))  # of the middle of the rear axle; the body's origin is 0.3 m in front of it
    assert math.sqrt(fit[2] + fit[0] ** 2 + fit[1] ** 2) == pytest.approx(math.hypot(to_rear, 0.3), rel=0.01)
    assert fit[1] > 0.0 and np.hypot(*np.diff(run.q[[-2, -1], :2], axis=0)[0]) / 2e-3 == pytest.approx(0.5, rel=0.03)


@pytest.mark.parametrize("flipped", [False, True])
def test_a_robot_without_steering_skids_to_its_heading(tmp_path: Any, flipped: bool) -> None:
    """But for what friction holds: four wheels of 17 N, 0.3 m from the middle, against torques of gain times the speeds that are asked for."""
    run = buggy_run(tmp_path, False, flipped, "heading = 1.0\nlook_ahead = 0.5", 8.0)
    z, w = run.q[-1, 5:7]
    yaw, held = 2.0 * math.atan2(z, w), 4 * 0.3 * 17.2 * math.hypot(0.3, 0.2)
    most = held / (4 * 2.0 * (2.0 / 0.5 * 0.5 * 0.2 / 0.1) * 0.2 / 0.1)  # rad: where both moments are the same
    assert 0.0 < 1.0 - yaw < most < 0.15 and run.v[-1, 0] == pytest.approx(0.5, rel=0.05)


def test_a_joint_that_may_have_no_torque_cannot_be_driven(tmp_path: Any) -> None:
    weak = buggy(False).replace('<axis xyz="0 1 0"/></joint>', '<axis xyz="0 1 0"/><limit effort="0" velocity="1"/></joint>', 1)
    with pytest.raises(ArgumentError, match="'lf_roll' has an effort of 0"):
        wheels_of(ug.load(weak, base="floating"), (), ("lf_roll", "rf_roll"))
    bare = re.sub("<collision>.*?</collision>", "", buggy(False), count=1)
    with pytest.raises(ArgumentError, match="'lf_roll' carries no wheel; expected a <collision> cylinder or sphere"):
        wheels_of(ug.load(bare, base="floating"), (), ("lf_roll", "rf_roll"))


# geometry ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [-20.0, -5.0, 5.0, 20.0])
def test_all_axles_point_to_the_centre_of_the_turn(angle: float) -> None:
    wheels = drive().wheels
    curvature = wheels.curvature(math.radians(angle))
    angles = wheels.angles(curvature)
    assert angles[0] == pytest.approx(math.radians(angle), abs=1e-14) and angles[1] == angles[4] == 0.0
    np.testing.assert_allclose(angles[[2, 5]], -angles[[0, 3]], atol=1e-14)
    to_centre = np.array([wheels.middle, 1.0 / curvature]) - wheels.pivot
    heading = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    np.testing.assert_allclose((heading * to_centre).sum(axis=1), 0.0, atol=1e-12)


def test_the_wheels_middles_move_as_the_jacobian_says() -> None:
    """The motion along the heading, for any motion of the body in its plane and any steering, by the Jacobians of the tyres."""
    robot, wheels, rng = rover(), drive().wheels, np.random.default_rng(1)
    tyres = [f"{name.lower()}_wheel" for name in NAMES]
    q, v = robot.neutral(), np.zeros(robot.nv)
    angle, rate = rng.uniform(-0.5, 0.5, 6), rng.normal(size=6)
    q[wheels.steering[:, 0]], v[wheels.steering[:, 1]] = angle, rate
    v[[0, 1, 5]] = rng.normal(size=3)
    found = wheels.rolling(v[[0, 1, 5]], angle, rate)
    for number, tyre in enumerate(tyres):
        J = ug.jacobian(robot, q, tyre, (0.0, math.copysign(0.3, wheels.offset[number]), 0.0))
        heading = ug.frame_placement(robot, q, tyre)[:3, 0]
        assert (J @ v)[:3] @ heading == pytest.approx(found[number], abs=1e-13)
    np.testing.assert_allclose(wheels.radius, 0.25)


# driving ----------------------------------------------------------------------------------------------------


def test_the_radius_on_flat_ground_is_the_geometric_one_and_steering_settles() -> None:
    """5, 0 and -5 degrees on the left: 12.53 m about the centre that the axles point to, and no wheel slips in the end."""
    controller = drive()
    run = driven(controller, 8.0)
    wheels = controller.wheels
    targets = wheels.angles(controller.curvature(run.q[0]))
    angles = run.q[:, wheels.steering[:, 0]]
    assert np.degrees(targets[:3]) == pytest.approx([5.0, 0.0, -5.0], abs=1e-12)
    assert np.abs(angles[run.t > 2.0] - targets).max() < math.radians(0.1)
    assert ((angles * np.sign(targets)).max(axis=0) <= 1.05 * np.abs(targets)).all()
    places = run.q[run.t > 2.0, :2]
    centre = np.linalg.lstsq(np.column_stack([2.0 * places, np.ones(len(places))]), (places**2).sum(axis=1), rcond=None)[0]
    radius = math.sqrt(centre[2] + centre[0] ** 2 + centre[1] ** 2)
    assert radius == pytest.approx(1.1 + 1.0 / math.tan(math.radians(5.0)), rel=1e-4)  # required: 5 %
    assert run.contact_forces[-1].sum() == pytest.approx(1.62 * rover().mass.sum(), rel=1e-6)


def test_a_heading_and_a_path_are_followed() -> None:
    run = driven(drive(route=Route(heading=0.4, ahead=1.5)), 14.0)
    z, w = run.q[-1, 5:7]
    assert 2.0 * math.atan2(z, w) == pytest.approx(0.4, abs=0.01)
    path = np.array([[5.0, 5.0], [6.5, 5.0], [8.0, 5.5]])
    run = driven(drive(route=Route(path=path, ahead=0.8)), 14.0)
    legs = np.diff(path, axis=0)
    share = np.clip(((run.q[:, None, :2] - path[:-1]) * legs).sum(axis=2) / (legs**2).sum(axis=1), 0.0, 1.0)
    off = np.linalg.norm(path[:-1] + share[:, :, None] * legs - run.q[:, None, :2], axis=2).min(axis=1)
    assert off.max() < 0.1  # the corner is cut
    assert np.linalg.norm(run.q[-1, :2] - path[-1]) < 0.1 and np.abs(run.v[-1]).max() < 0.05  # and there it stops


def test_the_limiter_allows_its_slip_and_a_creep() -> None:
    """A wheel that turns as fast as it may gets what is asked for, as one that is slower; a faster one gets less."""
    controller = drive(slip=0.2)
    moved = np.array([0.4, 0.2, 0.0, -0.2, 0.2, 0.2])
    most = np.array([0.5, 0.25, CREEP, -0.25, 0.25, 0.25]) / 0.25
    wanted, asked = np.array([0.3, 0.3, 0.3, -0.3, 0.3, 0.3]), np.array([1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
    found = controller._limited(asked, wanted, moved, most + np.array([0.0, 0.0, 0.0, 0.0, 0.1, -0.5]))
    np.testing.assert_allclose(found, [1.0, 1.0, 1.0, -1.0, 1.0 - 0.1 * FIRM * 2.0, 1.0], atol=1e-13)


# scenarios --------------------------------------------------------------------------------------------------

HEAD = """duration = 1.0
[robot]
file = "rover.urdf"
base = "floating"
"""
DRIVE = """[controller]
kind = "drive"
steering = ["LFD", "LRD"]
wheels = ["LFW", "LRW"]
speed = 0.3
"""


def test_a_scenario_names_them() -> None:
    found = parse_scenario(HEAD + DRIVE + 'steer = "5 deg"\nslip = 0.3\nrate = 50', str(ug.model_path("rover"))).controller
    assert isinstance(found, Drive) and (found.rate, found.slip, found.speed) == (50.0, 0.3, 0.3)
    assert found.route.angle == pytest.approx(math.radians(5.0))
    arm = parse_scenario(
        'duration = 1\n[robot]\nfile = "planar3r.urdf"\n[controller]\nkind = "computed_torque"\nkp = 9\nkd = 6', str(ug.model_path("rover"))
    ).controller
    assert isinstance(arm, JointController) and arm.by_inertia and (arm.kp == 9.0).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DRIVE, "none of them is given"),
        (DRIVE + "steer = 0.1\nheading = 0.2", "steer and heading are given"),
        (DRIVE + "steer = 2", "from -1 to 1 rad"),
        (DRIVE + "path = [[0, 0], [0, 0]]", "a point that repeats"),
        (DRIVE + "path = [[0, 0]]", "two points or more"),
        (DRIVE + "steer = 0.1\nslip = 1.0", "from 0 to 0.99"),
        (DRIVE + "steer = 0.1\npose = {}", "unknown key"),
        (DRIVE.replace('"LRW"', '"LRX"') + "steer = 0.1", "there is no joint 'LRX'"),
        (DRIVE.replace('"LRW"', '"LMD"') + "steer = 0.1", "the axis of 'LMD' is"),
        (DRIVE.replace('"LFD"', '"RFD"') + "steer = 0.1", "direction joint 'RFD' carries none of the wheels LFW, LRW"),
        (DRIVE.replace('"LFW", ', "") + "steer = 0.1", "expected two wheels or more, each once"),
        (DRIVE.replace('"LRW"', '"LFW"') + "steer = 0.1", "expected two wheels or more, each once"),
        (DRIVE.replace('steering = ["LFD", "LRD"]\n', "") + "steer = 0.1", "given without a wheel that is steered"),
        ('[controller]\nkind = "drift"', "drive"),
    ],
)
def test_mistakes_in_a_drive_are_told(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        parse_scenario(HEAD + text, str(ug.model_path("rover")))


def test_a_rover_that_starts_inside_the_ground_is_an_error() -> None:
    text = ug.scenario_path("rover").read_text(encoding="utf-8").replace('"0.8 + 0.25"', "0.9")
    scenario = parse_scenario(text, str(ug.model_path("rover")))
    with pytest.raises(ug.PenetrationError, match=r"_wheel.cylinder0.1 is 0.15 m inside ground"):
        ug.simulate(**scenario.arguments())
