"""Every robot of example-robot-data on both bases against Pinocchio: ``validate``, the kernels, and the formulations that the papers compare with.

One test for each robot and base asks everything of it, as compilation is the cost: the machine code that ``validate`` has made
is what the kernels of the same robot then find in the process.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_baselines import TOLERANCE, errors
from test_kernels import MAIN, against_pinocchio, mimic_choices
from test_validate import EMPTY, FILES, FOLDER, runner

from urdf_gibbs.cli import app
from urdf_gibbs.dynamics.registry import BASELINES, METHODS
from urdf_gibbs.names import Base

COMPARED = {"mass matrix", "bias", "gravity", "inverse dynamics", "forward dynamics", "kinetic energy", "momentum", "jacobians"}
BASES: dict[Base, int] = {"fixed": 2, "floating": 1}  # with the number of states at which the formulations of other papers are asked
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
    "tiago_description/robots/tiago_dual.urdf": "tiago_description/robots/tiago.urdf",
}


def robots() -> list[Any]:
    """All of them, the largest marked."""
    return [pytest.param(file, marks=[pytest.mark.nightly] if file in NIGHTLY else []) for file in FILES if file != EMPTY]


def validated(file: str, base: Base, report: Path) -> dict[str, Any]:
    """What ``urdf-gibbs validate`` writes, called as a person calls it."""
    result = runner.invoke(app, ["validate", str(FOLDER / file), "--base", base, "--samples", "5", "--json", str(report)])
    assert result.exit_code == 0, result.output
    assert len(re.findall(r"^OK ", result.output, re.M)) == 1
    (outcome,) = json.loads(report.read_text())
    assert isinstance(outcome, dict)
    return outcome


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("file", robots())
def test_every_robot_agrees_with_pinocchio(file: str, base: Base, tmp_path: Path) -> None:
    outcome = validated(file, base, tmp_path / "report.json")
    assert outcome["base"] == base and outcome["agrees"] and outcome["reference"] == "Pinocchio"
    assert {quantity["method"] for quantity in outcome["quantities"]} == {*METHODS, "kinematics"}
    assert {quantity["quantity"] for quantity in outcome["quantities"]} >= COMPARED
    assert [line for mimic in mimic_choices(file) for line in against_pinocchio(file, base, mimic, MAIN)] == []
    found = errors(FOLDER / file, base, BASES[base])
    assert len(found) == 3 * len(BASELINES) and all(error <= TOLERANCE for error in found.values()), found


def test_one_of_each_kind_is_in_every_run() -> None:
    assert {*NIGHTLY, *NIGHTLY.values()} <= {*FILES}
    assert not {*NIGHTLY} & {*NIGHTLY.values()}
