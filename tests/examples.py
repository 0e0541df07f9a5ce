"""The robots of example-robot-data, for all tests, and the command line as a person calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urdf_gibbs.bundled import example_robots

EMPTY = "ur_description/urdf/ur3.urdf"  # the package ships one file without links
ROBOTS = example_robots()
FILES = list(ROBOTS)
FOLDER = ROBOTS[EMPTY].parents[len(Path(EMPTY).parts) - 1]
runner = CliRunner()

# Machine code grows with the robot: these take 5 to 25 s each, both bases together, and are left to make nightly. Beside each the one of
# its kind that is in every run: the same robot with fewer joints or other hands, or with other shapes and the same mechanism.
NIGHTLY = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "alex_description/urdf/alex_sake_hands.urdf",
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "icub_description/robots/icub.urdf": "icub_description/robots/icub_reduced.urdf",
    "romeo_description/urdf/romeo.urdf": "romeo_description/urdf/romeo_laas_small.urdf",
    "romeo_description/urdf/romeo_small.urdf": "romeo_description/urdf/romeo_laas_small.urdf",
    "simple_humanoid_description/urdf/simple_humanoid_classical.urdf": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "talos_data/robots/talos_full_v2.urdf": "talos_data/robots/talos_reduced.urdf",
    "talos_data/robots/talos_full_v2_box.urdf": "talos_data/robots/talos_reduced.urdf",
    "talos_data/robots/talos_reduced_box.urdf": "talos_data/robots/talos_reduced.urdf",
    "talos_data/robots/talos_reduced_corrected.urdf": "talos_data/robots/talos_reduced.urdf",
    "tiago_description/robots/tiago.urdf": "tiago_description/robots/tiago_no_hand.urdf",
    "tiago_description/robots/tiago_dual.urdf": "tiago_description/robots/tiago_no_hand.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf": "tiago_description/robots/tiago_no_hand.urdf",
    # Less each, but the same mechanism again, or two that are there alone.
    "alex_description/urdf/alex_nub_hands.urdf": "alex_description/urdf/alex_sake_hands.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "b1_description/urdf/b1-z1.urdf": "b1_description/urdf/b1.urdf",
    "panda_description/urdf/panda_collision.urdf": "panda_description/urdf/panda.urdf",
    "so_arm_description/urdf/so101.urdf": "so_arm_description/urdf/so100.urdf",
    "ur_description/urdf/ur10_robot.urdf": "ur_description/urdf/ur10_joint_limited_robot.urdf",
    "ur_description/urdf/ur3_gripper.urdf": "ur_description/urdf/ur5_gripper.urdf",
    "ur_description/urdf/ur3_joint_limited_robot.urdf": "ur_description/urdf/ur10_joint_limited_robot.urdf",
    "ur_description/urdf/ur3_robot.urdf": "ur_description/urdf/ur5_robot.urdf",
    "ur_description/urdf/ur5_joint_limited_robot.urdf": "ur_description/urdf/ur10_joint_limited_robot.urdf",
}


def files(*more: str) -> list[Any]:
    """Those that have links; the largest ones, and ``more``, are left to make nightly."""
    return [pytest.param(file, marks=[pytest.mark.nightly] if file in (*NIGHTLY, *more) else []) for file in FILES if file != EMPTY]
