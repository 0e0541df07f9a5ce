"""Derivatives of the dynamics of every robot of example-robot-data against Pinocchio's, fixed and floating."""

from __future__ import annotations

import numpy as np
import pytest
from derivative_checks import random_state, worst
from derivative_oracle import forward_derivatives, inverse_derivatives, oracle_of
from examples import EMPTY, FILES, FOLDER

import urdf_gibbs as ug
from urdf_gibbs.errors import UrdfError

pytest.importorskip("pinocchio")

INVERSE = 1e-12  # of the largest entry: some thousand roundings of 1e-16
FORWARD = 1e-9  # the same times a condition of M of up to WELL_POSED
WELL_POSED = 1e6
QUICK = ("ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf", "solo_description/robots/solo12.urdf")


def derivatives_differ(file: str, base: str, mimic: bool) -> tuple[float, float | None, float]:
    """Errors of inverse and forward dynamics (None: M is worse than WELL_POSED), and the condition of M."""
    robot, oracle = ug.load(FOLDER / file, base, mimic=mimic), oracle_of(FOLDER / file, base, mimic)
    q, v, a = random_state(robot)
    expected = inverse_derivatives(oracle, q, v, a)
    inverse = worst(np.array(ug.inverse_dynamics_derivatives(robot, q, v, a)), expected)
    condition = float(np.linalg.cond(expected.third)) if robot.nv else 1.0
    if not condition <= WELL_POSED:
        return inverse, None, condition
    tau = 10.0 * a
    answer = forward_derivatives(oracle, q, v, tau, ug.forward_dynamics(robot, q, v, tau))
    return inverse, worst(np.array(ug.forward_dynamics_derivatives(robot, q, v, tau)), answer), condition


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("file", [pytest.param(x, marks=[] if x in QUICK else [pytest.mark.nightly]) for x in FILES if x != EMPTY])
def test_derivatives_are_pinocchios(file: str, base: str) -> None:
    try:
        tied = any(joint.is_mimic for joint in ug.load(FOLDER / file).joints)
    except UrdfError:  # a master that does not exist
        tied = False
    for mimic in (False, True) if tied else (False,):
        inverse, forward, condition = derivatives_differ(file, base, mimic)
        assert inverse <= INVERSE, f"inverse dynamics off by {inverse:.2e}, mimic {mimic}"
        assert forward is None or forward <= FORWARD, f"forward dynamics off by {forward:.2e}, condition {condition:.1e}, mimic {mimic}"
