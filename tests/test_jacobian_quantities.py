"""Rates and derivatives of Jacobians: against Pinocchio's for rigid links, against complex steps for elastic ones."""

from __future__ import annotations

import numpy as np
import pytest
from complex_steps import complex_tangent
from derivative_oracle import jacobian_rate, oracle_of
from flexible_trees import random_flexible
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.dynamics import kinematics
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.flexible.sections import body_point

pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
BASES = ("fixed", "floating", "planar")
AGREEMENT = 1e-12  # of the largest entry: a chain of a few hundred roundings
POINT = np.array([0.1, -0.2, 0.3])


@pytest.mark.parametrize("seed", range(24))
def test_the_jacobian_of_rigid_links_changes_as_pinocchios(seed: int) -> None:
    """All joint types and bases, every second tree with mimic joints; derivatives are rates at unit velocities."""
    base, text = BASES[seed % 3], random_tree(seed, 2 + seed // 3, mimic=0.3 if seed % 2 else 0.0)
    robot, oracle = ug.load(text, base), oracle_of(text, base)
    if not robot.nv:
        return
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    link = robot.joints[int(rng.integers(len(robot.joints)))].child
    expected = jacobian_rate(oracle, q, v, link, POINT)
    found = ug.jacobian_rate(robot, q, v, link, POINT)
    assert np.max(np.abs(found - expected)) <= AGREEMENT * (1.0 + np.max(np.abs(expected)))
    columns = [jacobian_rate(oracle, q, unit, link, POINT) for unit in np.eye(robot.nv)]
    changes = ug.jacobian_derivatives(robot, q, link, POINT)
    assert changes.shape == (6, robot.nv, robot.nv)
    assert np.max(np.abs(changes - np.stack(columns, axis=-1))) <= AGREEMENT * (1.0 + np.max(np.abs(columns)))


@pytest.mark.parametrize("seed", range(8))
def test_the_jacobian_of_elastic_links_changes_as_its_complex_steps(seed: int) -> None:
    base, text = BASES[seed % 3], random_flexible(seed, 3)
    robot = ug.load(text, base)
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    link = robot.joints[-1].child
    body, point = body_point(robot, link, (0.0, 0.0, 0.0))
    expected = complex_tangent(robot, lambda q: kinematics.jacobian(model_of(robot), q, body, point.tolist()), q, v)
    found = ug.jacobian_rate(robot, q, v, link)
    assert np.max(np.abs(found - expected)) <= AGREEMENT * (1.0 + np.max(np.abs(expected)))
    np.testing.assert_allclose(ug.jacobian_derivatives(robot, q, link) @ v, found, rtol=0.0, atol=AGREEMENT * (1.0 + np.max(np.abs(found))))


def test_a_link_fixed_to_the_world_has_a_jacobian_that_stays() -> None:
    robot = ug.load(ug.model_path("planar3r"))
    assert not ug.jacobian_derivatives(robot, np.ones(3), robot.root_link).any()
    assert not ug.jacobian_rate(robot, np.ones((2, 3)), np.ones(3), robot.root_link).any()


def test_machine_code_is_the_plain_answer() -> None:
    """A batch, above the number of states that are computed in plain Python."""
    robot = ug.load(random_tree(7, 6), "floating")
    rng = np.random.default_rng(1)
    q, v = robot.random(rng, 200), rng.normal(size=(200, robot.nv))
    link = robot.joints[-1].child
    rate, changes = robot.kernel("jacobian_rate", frame=link, point=POINT), robot.kernel("jacobian_derivatives", frame=link, point=POINT)
    np.testing.assert_allclose(rate(q[0], v[0]), ug.jacobian_rate(robot, q[0], v[0], link, POINT), rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(changes(q[0]), ug.jacobian_derivatives(robot, q[0], link, POINT), rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(np.einsum("nrij,nj->nri", changes(q), v), rate(q, v), rtol=0.0, atol=1e-12)
