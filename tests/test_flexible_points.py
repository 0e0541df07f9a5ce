"""Elastic links where a wrong number would pass unnoticed: points along them, loose roots, names that are taken, tips that turn far."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from elastic_arm import INERTIAL, arm

import urdf_gibbs as ug
from urdf_gibbs.contact.points import resolve_points
from urdf_gibbs.dynamics import elastic
from urdf_gibbs.errors import ArgumentError, UrdfError, UrdfWarning
from urdf_gibbs.robot.load import read_text

pytestmark = pytest.mark.filterwarnings("ignore:.*no <inertial>:urdf_gibbs.errors.UrdfWarning")


def loose(family: str = "free-free") -> ug.Robot:
    beam = f'<flexible link="beam" length="1" mass_per_length="1" EI_z="10" modes="y={family}:1"/>'
    return ug.load(f'<robot name="loose"><link name="beam">{INERTIAL}</link><urdf_gibbs>{beam}</urdf_gibbs></robot>', base="planar")


# points -----------------------------------------------------------------------------------------------


def test_a_jacobian_at_the_tip_is_the_tips() -> None:
    robot = ug.load(arm())
    q = np.array([0.3, 0.1, 0.2, 0.3])
    for aside in (np.zeros(3), np.array([0.0, 0.1, -0.2])):
        J = ug.jacobian(robot, q, "arm", np.array([1.0, 0.0, 0.0]) + aside)
        np.testing.assert_array_equal(J, ug.jacobian(robot, q, "arm.tip", aside))
        np.testing.assert_allclose(robot.kernel("jacobian", frame="arm", point=np.array([1.0, 0.0, 0.0]) + aside)(q), J, atol=1e-14)
    assert abs(J[:3, 1:]).max() > 0.1


def test_a_jacobian_between_the_ends_is_refused_as_a_contact_point_is() -> None:
    robot = ug.load(arm())
    for x in (0.5, -0.1, 1.2):
        with pytest.raises(ArgumentError, match="along the elastic link 'arm'"):
            ug.jacobian(robot, robot.neutral(), "arm", (x, 0, 0))
        with pytest.raises(ArgumentError, match="along the elastic link 'arm'"):
            robot.kernel("jacobian", frame="arm", point=(x, 0, 0))
    assert ug.jacobian(robot, robot.neutral(), "arm", (0, 0.1, 0)).shape == (6, 4)  # of the root's section


# a root that moves against the link's frame ------------------------------------------------------------


def test_the_root_of_a_free_free_beam_is_no_contact_point_of_the_frame() -> None:
    """One unit of the mode moves both ends by 1 m: a point that stays in the link's frame is not the beam's end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = loose()
    beam = robot.joints[-1].beam
    assert beam is not None and beam.shapes is not None and abs(beam.shapes[0]).max() == pytest.approx(1.0)
    with pytest.warns(UrdfWarning, match="no contact point at the root of beam"):
        points = resolve_points(robot)
    assert [point.name for point in points] == ["beam.tip"]
    with pytest.raises(ArgumentError, match="at the root of the elastic link 'beam'"):
        resolve_points(robot, ["beam"])
    with pytest.raises(ArgumentError, match=r"expected a force on 'beam\.tip'"):
        ug.forward_dynamics(robot, robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv), external={"beam": ((0, 1, 0), (0, 0, 0))})


def test_a_pinned_root_turns_what_stands_out_of_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pinned, clamped = loose("pinned-pinned"), loose("clamped-clamped")
    assert [point.name for point in resolve_points(pinned)] == ["beam", "beam.tip"]
    assert len(resolve_points(pinned, [("beam", (0, 0, 0), 0.1)])) == 1
    with pytest.raises(ArgumentError, match="at the root of the elastic link 'beam'"):
        resolve_points(pinned, [("beam", (0, 0.1, 0))])
    assert len(resolve_points(clamped, [("beam", (0, 0.1, 0))])) == 1


# names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("names", "told"), [({"hand": "arm.tip"}, 'link "arm.tip"'), ({"first": "arm.elastic"}, 'joint "arm.elastic"')])
def test_names_that_an_elastic_link_makes_are_taken(names: dict[str, str], told: str) -> None:
    """Two frames of one name would answer for each other, and a mimic joint would follow the other joint."""
    with pytest.raises(UrdfError, match="the name that an elastic link gives") as error:
        ug.load(arm(**names))
    assert told in str(error.value)


# tables -----------------------------------------------------------------------------------------------


def test_a_decimal_comma_in_a_table_is_refused(tmp_path: Path) -> None:
    """0;0,5 read as three numbers is a value of 0 and a slope of 5."""
    rows = [f"{k};{k * k // 10},{k * k % 10}" for k in range(6)]
    (tmp_path / "shape.csv").write_text("\n".join(rows))
    text = arm(beam='length="5" direction="1 0 0" EI_z="10" modes="y=table:1" table="shape.csv"').replace(
        'xyz="1 0 0"/></joint>', 'xyz="5 0 0"/></joint>'
    )
    findings = read_text(text, str(tmp_path / "robot.urdf")).findings
    assert any(error.code == "table" for error in findings.errors)


# large rotations ----------------------------------------------------------------------------------------


def test_a_tip_may_turn_several_times() -> None:
    """Torsion of a long shaft; beside bending, its rotation is not about one axis."""
    robot = ug.load(arm())
    for turn in (1.0, 4.0, 9.0, 15.0, 30.0):
        for bent in (0.0, 0.2):
            q = np.array([0.4, bent, -bent, turn])
            R = ug.frame_placement(robot, q, "arm.tip")[:3, :3]
            np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-13)
            beam = robot.joints[1].beam
            assert beam is not None
            theta = q[1:] @ beam.tip_rotation
            size = np.linalg.norm(theta)
            x, y, z = theta / size
            tilde = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            exact = np.eye(3) + np.sin(size) * tilde + (1.0 - np.cos(size)) * tilde @ tilde
            np.testing.assert_allclose(ug.frame_placement(robot, q, "arm")[:3, :3].T @ R, exact, atol=1e-13)


def test_coefficients_of_rotations() -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for angle in (1e-9, 1e-4, 0.01, 0.3, 1.0, 3.0, 7.0, 15.0, 30.0, 38.0):
            x = mpmath.mpf(angle * angle)
            size = mpmath.sqrt(x)
            a, b, c = mpmath.sin(size) / size, (1 - mpmath.cos(size)) / x, (size - mpmath.sin(size)) / size**3
            exact = (a, b, c, (a / 2 - b) / x, ((b - c) / 2 - c) / x)
            weights = (1.0, *(max(1.0, angle) ** power for power in (1, 2, 3, 4)))  # what they are multiplied with
            for ours, theirs, weight in zip(elastic._rodrigues(angle * angle), exact, weights, strict=True):
                assert abs(ours - theirs) * weight < 1e-14


# an <inertial> that the beam does not have -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("com", "moments", "told"),
    [
        ("0.5 0 0", ("0", "0.1667", "0.1667"), False),
        ("0.5 0 0", ("0.01", "0.1767", "0.1767"), True),  # about its axis: the beam has nothing there without J
        ("0.1 0.2 0", ("0", "0.1667", "0.1667"), True),
        ("0.5 0 0", ("0", "0.9", "0.9"), True),
    ],
)
def test_an_inertial_that_the_beam_replaces_by_another_is_reported(com: str, moments: tuple[str, str, str], told: bool) -> None:
    entries = " ".join(f'{name}="{value}"' for name, value in zip(("ixx", "iyy", "izz"), moments, strict=True))
    own = f'<inertial><origin xyz="{com}"/><mass value="2"/><inertia {entries} ixy="0" ixz="0" iyz="0"/></inertial>'
    text = arm(beam='EI_z="10" modes="y=clamped-free:1"').replace('<link name="arm"/>', f'<link name="arm">{own}</link>')
    codes = [finding.code for finding in read_text(text.replace(' mass_per_length="1"', ""), "robot.urdf").findings.items]
    assert ("beam-inertia" in codes) == told
