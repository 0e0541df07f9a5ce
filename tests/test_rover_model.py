"""models/rover.urdf and rover_printed.urdf: the rear arms are those of Wang and Ju's Table 3, and six wheels share the weight."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from model_data import MODELS

import urdf_gibbs as ug

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))
import make_rover

ROVERS = ("rover", "rover_printed")
SCALE = {"rover": 10.0, "rover_printed": 1.0}
RADIUS = {"rover": 0.25, "rover_printed": 0.025}
MOON = (0.0, 0.0, -1.62)


@pytest.mark.parametrize("size", make_rover.SIZES, ids=lambda size: size.file)
def test_the_files_are_what_the_script_writes(size: make_rover.Size) -> None:
    assert (MODELS / f"{size.file}.urdf").read_text(encoding="utf-8") == make_rover.text(size)


def table_3(times: float, radius: float) -> ug.Robot:
    """The rocker arm of the paper, written by hand in models/, with longer links and wheels that have an inertia about their axles."""
    text = (MODELS / "rocker_arm.urdf").read_text(encoding="utf-8")
    scaled = re.sub(r'xyz="([^"]*)"/>(?!\s*<limit)', lambda found: f'xyz="{scale(found[1], times)}"/>', text)
    spun = f'<inertia ixx="{0.3 * radius**2}" ixy="0" ixz="0" iyy="0.018"'
    return ug.load(scaled.replace('<inertia ixx="0" ixy="0" ixz="0" iyy="0.018"', spun))


def scale(numbers: str, times: float) -> str:
    return " ".join(str(times * float(number)) for number in numbers.split())


@pytest.mark.parametrize("name", ROVERS)
@pytest.mark.parametrize("side", ["l", "r"])
def test_a_rear_arm_is_that_of_table_3(name: str, side: str) -> None:
    """M of the five joints of an arm, the body held, against M of the arm alone; the right one is its mirror image."""
    rover, arm = ug.load(MODELS / f"{name}.urdf"), table_3(SCALE[name], RADIUS[name])
    names = (f"{side}_arm", f"{side}MD".upper(), f"{side}MW".upper(), f"{side}RD".upper(), f"{side}RW".upper())
    own = [rover.velocity_names.index(joint) for joint in names]
    rng = np.random.default_rng(0)
    for _ in range(5):
        angles = rng.uniform(-1.0, 1.0, 5)
        q = rover.neutral()
        q[own] = angles
        # The table's x points outwards and its y backwards: of the left arm its first wheel is the middle one. The mirror image of the
        # right arm is a left one that is steered the other way.
        mirrored = angles * (1.0 if side == "l" else np.array([1.0, -1.0, 1.0, -1.0, 1.0]))
        theirs = ug.mass_matrix(arm, mirrored)
        signs = np.ones(5) if side == "l" else np.array([1.0, -1.0, 1.0, -1.0, 1.0])
        ours = ug.mass_matrix(rover, q)[np.ix_(own, own)]
        np.testing.assert_allclose(ours, signs[:, None] * theirs * signs, atol=1e-13 * np.abs(theirs).max())


@pytest.mark.parametrize("name", ROVERS)
def test_the_right_rocker_turns_against_the_left_one(name: str) -> None:
    rover = ug.load(MODELS / f"{name}.urdf", base="floating")
    follower = rover.joint("r_rocker")
    assert (follower.master, follower.ratio, follower.offset) == ("l_rocker", -1.0, 0.0)
    assert rover.nv == 6 + 1 + 2 + 6 + 6


@pytest.mark.parametrize("name", ROVERS)
def test_six_wheels_share_the_weight_on_level_ground(name: str) -> None:
    """At rest the forces of each wheel's two rims are a sixth of the weight, and all together the weight."""
    rover = ug.load(MODELS / f"{name}.urdf", base="floating")
    q = rover.neutral()
    q[2] = 0.08 * SCALE[name] + RADIUS[name]
    run = ug.simulate(
        rover, q, None, 1.0, walls=ug.walls.Plane((0, 0, 1)), points="collision", friction=0.6, restitution=0.0, gravity=MOON,
        scheme="time_stepping", step=2e-3,
    )  # fmt: skip
    weight = 1.62 * float(rover.mass.sum())
    forces = run.contact_forces[-1]
    assert forces.sum() == pytest.approx(weight, rel=1e-6)
    np.testing.assert_allclose(forces.reshape(6, 2).sum(axis=1), weight / 6.0, rtol=1e-3)  # the certificate of a step allows 2e-4
