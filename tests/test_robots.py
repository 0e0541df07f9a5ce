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
from examples import EMPTY, FILES, FOLDER, NIGHTLY, runner
from kernel_checks import MAIN, against_pinocchio, mimic_choices
from pinocchio_errors import TOLERANCE, errors

from urdf_gibbs.cli import app
from urdf_gibbs.dynamics.registry import BASELINES, METHODS
from urdf_gibbs.names import Base

COMPARED = {"mass matrix", "bias", "gravity", "inverse dynamics", "forward dynamics", "kinetic energy", "momentum", "jacobians"}
DERIVATIVES = {"inverse dynamics derivatives", "forward dynamics derivatives", "torque regressor", "jacobian rates"}
BASES: dict[Base, int] = {"fixed": 2, "floating": 1}  # with the number of states at which the formulations of other papers are asked
# In every run each robot has one base, the other at night. Those that walk or fly float; some large ones, 3 to 6 s each, are fixed instead.
FLOATING = (
    "a1_", "alex_", "alexander_", "anymal_", "b1_", "bolt_", "borinot_", "go1_", "go2_", "hector_", "hextilt_", "hyq_", "iris_", "laikago_",
    "quadruped_", "solo_", "talos_data/robots/talos_reduced",
)  # fmt: skip
BOTH = (
    "a1_description/urdf/a1.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "iris_description/robots/iris.urdf",
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_gripper.urdf",
)  # small ones of each kind, with mimic joints and without

STILL = (
    "hector_description/robots/quadrotor_base.urdf",
    "iris_description/robots/iris_simple.urdf",
)  # one link: nothing to compare if fixed
DERIVED = BOTH[1:4]  # those whose derivatives compile in a moment


def in_every_run(file: str, base: Base) -> bool:
    return file not in NIGHTLY and (file in BOTH or base == ("floating" if file.startswith(FLOATING) else "fixed"))


def robots() -> list[Any]:
    """All of them on all bases, marked where they are left to the night."""
    return [
        pytest.param(file, base, marks=[] if in_every_run(file, base) else [pytest.mark.nightly])
        for file in FILES
        if file != EMPTY
        for base in BASES
        if file not in STILL or base == "floating"
    ]


def validated(file: str, base: Base, report: Path) -> dict[str, Any]:
    """What ``urdf-gibbs validate`` writes, called as a person calls it; derivatives of small robots alone, which compile in a moment."""
    derivatives = "--derivatives" if file in DERIVED else "--no-derivatives"  # of the others: test_derivatives_of_examples.py, at night
    result = runner.invoke(app, ["validate", str(FOLDER / file), "--base", base, "--samples", "3", "--json", str(report), derivatives])
    assert result.exit_code == 0, result.output
    assert len(re.findall(r"^OK ", result.output, re.M)) == 1
    (outcome,) = json.loads(report.read_text())
    assert isinstance(outcome, dict)
    return outcome


@pytest.mark.parametrize(("file", "base"), robots())
def test_every_robot_agrees_with_pinocchio(file: str, base: Base, tmp_path: Path) -> None:
    outcome = validated(file, base, tmp_path / "report.json")
    assert outcome["base"] == base and outcome["agrees"] and outcome["reference"] == "Pinocchio"
    assert {quantity["method"] for quantity in outcome["quantities"]} == {*METHODS, "kinematics"}
    assert {quantity["quantity"] for quantity in outcome["quantities"]} >= COMPARED | (DERIVATIVES if file in DERIVED else set())
    assert [line for mimic in mimic_choices(file) for line in against_pinocchio(file, base, mimic, MAIN)] == []
    found = errors(FOLDER / file, base, BASES[base])
    assert len(found) == 3 * len(BASELINES) and all(error <= TOLERANCE for error in found.values()), found


def test_one_of_each_kind_is_in_every_run() -> None:
    assert {*NIGHTLY, *NIGHTLY.values(), *BOTH} <= {*FILES}
    assert not {*NIGHTLY} & {*NIGHTLY.values(), *BOTH}
    assert all(any(file.startswith(kind) for file in FILES) for kind in FLOATING)
    for file in {*FILES} - {*NIGHTLY, EMPTY}:
        assert any(in_every_run(file, base) for base in BASES), file
