"""The robots in models/: each loads without a remark, and the branched one is the robot of Shafei 2018."""

from __future__ import annotations

import warnings
from math import cos, pi, sin, sqrt
from pathlib import Path

import numpy as np
import pytest
from model_data import LINKS, MODELS, START, Array, branched12, planar_points

from urdf_gibbs import forward_dynamics, frame_placement, kinetic_energy, load, potential_energy

NAMES = ("branched12", "cart_pole", "flexible_link", "flexible_two_links", "gripper", "pendulum", "planar3r", "rigid_link", "rocker_arm")
ROUND_OFF = 1e-13  # a handful of sums of numbers of order one
DOWN_Y = (0.0, -9.81, 0.0)  # the paper's gravity, along -X2


def test_the_folder_holds_the_expected_models() -> None:
    assert set(NAMES) <= {path.stem for path in MODELS.glob("*.urdf")}


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.urdf")), ids=lambda path: path.stem)
def test_every_model_loads_without_findings(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = load(path)
    assert robot.findings == ()
    assert robot.name == path.stem


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.urdf")), ids=lambda path: path.stem)
def test_every_joint_has_effort_and_velocity_limits(path: Path) -> None:
    for joint in load(path).joints:
        if joint.beam is not None:  # an elastic link's own, which the file does not have as a joint
            continue
        assert 0.0 < joint.effort < np.inf, joint.name
        assert 0.0 < joint.velocity < np.inf, joint.name


def test_gripper_keeps_mimic_damping_and_friction() -> None:
    robot = load(MODELS / "gripper.urdf")
    assert robot.joint_names == ("shoulder", "elbow", "finger_left")
    follower = robot.joint("finger_right")
    assert (follower.master, follower.ratio, follower.offset) == ("finger_left", -1.0, 0.0)
    assert [(joint.damping, joint.friction) for joint in robot.joints] == [(0.2, 0.1), (0.1, 0.05), (2.0, 0.5), (2.0, 0.5)]


# The branched robot ---------------------------------------------------------------------------------


def test_branched12_has_twelve_coordinates_in_the_order_of_the_paper() -> None:
    robot = branched12()
    assert robot.joint_names == ("X1", "X2", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10")
    assert (robot.nq, robot.nv) == (12, 12)


def test_branched12_has_the_four_branches_of_the_paper() -> None:
    """Sect. 3.1.3: links 1 2 3 4; (1 2) 5 6 7; (1 2 5) 8; (1 2 5) 9 10, massless ones in parentheses."""
    expected = [
        ("X1 X2 q1 q2 q3 q4", ""),
        ("X1 X2 q1 q2 q5 q6 q7", "X1 X2 q1 q2"),
        ("X1 X2 q1 q2 q5 q8", "X1 X2 q1 q2 q5"),
        ("X1 X2 q1 q2 q5 q9 q10", "X1 X2 q1 q2 q5"),
    ]
    found = []
    for branch in branched12().branches:
        virtual = [name for name, is_virtual in zip(branch.joint_names, branch.virtual, strict=True) if is_virtual]
        found.append((" ".join(branch.joint_names), " ".join(virtual)))
    assert found == expected


def test_branched12_points_at_zero_lie_on_the_x_axis() -> None:
    """Distances from O1 in whole links, counted on the paper's tree."""
    distance = {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 3, 7: 4, 8: 5, 9: 4, 10: 4, 11: 5}
    for number, x in distance.items():
        np.testing.assert_array_equal(frame_placement(branched12(), np.zeros(12), f"O{number}")[:3, 3], (x, 0.0, 0.0), err_msg=f"O{number}")


@pytest.mark.parametrize("seed", range(5))
def test_branched12_points_follow_plane_trigonometry(seed: int) -> None:
    q = np.random.default_rng(seed).uniform(-pi, pi, 12)
    for number, (x, y) in planar_points(q).items():
        found = frame_placement(branched12(), q, f"O{number}")[:3, 3]
        np.testing.assert_allclose(found, (x, y, 0.0), rtol=0.0, atol=10 * ROUND_OFF, err_msg=f"O{number}")


def test_branched12_starts_symmetric_about_the_line_x1_zero() -> None:
    """Sect. 6 and Table 3: O1 and O5, O2 and O4, O8 and O11 meet the wall together; O3 does so alone, on the line of symmetry."""
    point = {number: frame_placement(branched12(), START, f"O{number}")[:3, 3] for number in range(1, 12)}
    mirror = np.array([-1.0, 1.0, 1.0])
    for left, right in ((1, 5), (2, 4), (11, 8), (10, 7), (3, 3), (6, 6), (9, 9)):
        np.testing.assert_allclose(point[left], mirror * point[right], rtol=0.0, atol=10 * ROUND_OFF, err_msg=f"O{left} and O{right}")


def test_branched12_starts_with_the_energy_of_the_paper() -> None:
    """Printed as 18.66 J. At rest, potential energy zero at the origin; the ten mass centres' heights sum to (9 - 3 sqrt 3) / 2 m."""
    robot = branched12()
    energy = kinetic_energy(robot, START, np.zeros(12)) + potential_energy(robot, START, gravity=DOWN_Y)
    assert energy == pytest.approx(18.657872, abs=1e-6)  # as many digits as the reference has
    assert energy == pytest.approx(9.81 * (9 - 3 * sqrt(3)) / 2, abs=100 * ROUND_OFF)


@pytest.mark.parametrize("method", ["gibbs_appell", "explicit"])
def test_branched12_has_the_kinetic_energy_of_ten_rods(method: str) -> None:
    """Rods of 1 kg: m/6 (|a|^2 + a.b + |b|^2) from the velocities a, b of the two ends, and J' l w^2 / 2 of the cross-section."""
    rng = np.random.default_rng(7)
    q, v = rng.uniform(-pi, pi, 12), rng.uniform(-3.0, 3.0, 12)
    angle, rate = {0: 0.0}, {0: 0.0}
    velocity: dict[int, Array] = {1: v[:2]}
    expected = 0.0
    for link, (parent, start, end) in LINKS.items():
        angle[link], rate[link] = angle[parent] + q[1 + link], rate[parent] + v[1 + link]
        a = velocity[start]
        b = velocity[end] = a + rate[link] * np.array([-sin(angle[link]), cos(angle[link])])
        expected += float(a @ a + a @ b + b @ b) / 6 + 2.94e-5 * rate[link] ** 2 / 2
    assert kinetic_energy(branched12(), q, v, method=method) == pytest.approx(expected, rel=ROUND_OFF)


@pytest.mark.parametrize("method", ["gibbs_appell", "explicit"])
def test_branched12_released_at_rest_falls_as_one_piece(method: str) -> None:
    """No wall, no torque: uniform gravity moves every point alike. The mass matrix is regular although the slides are massless."""
    free_fall = np.array([0.0, -9.81, *[0.0] * 10])
    for q in (START, np.random.default_rng(8).uniform(-pi, pi, 12)):
        acceleration = forward_dynamics(branched12(), q, np.zeros(12), np.zeros(12), gravity=DOWN_Y, method=method)
        np.testing.assert_allclose(
            acceleration, free_fall, rtol=0.0, atol=1e-10
        )  # round-off times a condition number of 1e4 times 10 kg of weight
