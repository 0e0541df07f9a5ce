"""Derivatives of the dynamics of robots with elastic links, against complex steps of a formulation of its own (4x4 transformations)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from complex_steps import complex_tangent
from flexible_trees import random_flexible, state
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.dynamics import transformations_flexible as reference
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.engine import quantities
from urdf_gibbs.engine.quantities import Options, compute
from urdf_gibbs.engine.swept_derivatives import forward_blocks, inverse_blocks, unstrained_by_q
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

Array = NDArray[np.float64]
BASES = ("fixed", "floating", "planar")
AGREEMENT = 1e-11  # of the largest entry: two formulations of a few thousand operations, and the cancellation of strain
CONDITION = 1e-14  # times the condition of M
SEEDS = range(6)


def reference_force(robot: ug.Robot, q: list[complex], v: list[complex], a: list[complex]) -> list[complex]:
    model = model_of(robot)
    M, h = reference.mass_matrix(model, q), reference.bias(model, q, v, list(EARTH_GRAVITY))
    return [sum((x * y for x, y in zip(row, a, strict=True)), start=0.0) + force for row, force in zip(M, h, strict=True)]


def reference_blocks(robot: ug.Robot, q: Array, v: Array, a: Array) -> Array:
    """(3, nv, nv): ID_q, ID_v, ID_a by complex steps."""
    zero = np.zeros(robot.nv)

    def along(dq: Array, dv: Array, da: Array) -> Array:
        return complex_tangent(robot, lambda q, v, a: reference_force(robot, q, v, a), q, dq, (v, dv), (a, da))

    units = np.eye(robot.nv)
    columns = [[along(unit, zero, zero), along(zero, unit, zero), along(zero, zero, unit)] for unit in units]
    return np.moveaxis(np.array(columns), 0, -1)


@cache
def case(seed: int) -> tuple[ug.Robot, Array, Array, Array, Array]:
    """A random tree of rigid and elastic links with some mimic joints, at a state; and its derivatives (3, nv, nv)."""
    robot = ug.load(random_flexible(seed, 1 + seed % 3), BASES[seed % 3])
    q, v = state(robot, seed)
    a = np.random.default_rng(seed).normal(size=robot.nv)
    return robot, q, v, a, reference_blocks(robot, q, v, a)


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_and_products_of_elastic_links_are_those_of_complex_steps(seed: int) -> None:
    robot, q, v, a, inverse = case(seed)
    size = np.max(np.abs(inverse), axis=(1, 2))
    found = np.array(inverse_blocks(robot, Options(), q.tolist(), v.tolist(), a.tolist()))
    assert np.all(np.max(np.abs(found - inverse), axis=(1, 2)) <= AGREEMENT * size)
    rng = np.random.default_rng(5)
    dq, dv, third, w = rng.normal(size=(4, robot.nv))
    weighted = np.array([w @ block for block in inverse])
    along = sum(block @ x for block, x in zip(inverse, (dq, dv, third), strict=True))
    product = compute(robot, "inverse_dynamics_jvp", Options(), *(x.tolist() for x in (q, v, a, dq, dv, third)))
    assert np.max(np.abs(product - along)) <= robot.nv * AGREEMENT * float(size.sum())
    product = np.reshape(compute(robot, "inverse_dynamics_vjp", Options(), *(x.tolist() for x in (q, v, a, w))), (3, robot.nv))
    assert np.all(np.max(np.abs(product - weighted), axis=1) <= robot.nv * AGREEMENT * size)


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_and_products_of_forward_dynamics_follow(seed: int) -> None:
    """FD_q = -M^-1 ID_q at the acceleration that the forces make."""
    robot, q, v, a, inverse = case(seed)
    M = inverse[2]
    tau = np.array(reference_force(robot, q.tolist(), v.tolist(), a.tolist()))
    forward = np.array([-np.linalg.solve(M, inverse[0]), -np.linalg.solve(M, inverse[1]), np.linalg.inv(M)])
    slack = (AGREEMENT + CONDITION * np.linalg.cond(M)) * np.max(np.abs(forward), axis=(1, 2))
    found = np.array(forward_blocks(robot, Options(), q.tolist(), v.tolist(), tau.tolist())[0])
    assert np.all(np.max(np.abs(found - forward), axis=(1, 2)) <= slack)
    dq, dv, third, w = np.random.default_rng(5).normal(size=(4, robot.nv))
    product = compute(robot, "forward_dynamics_jvp", Options(), *(x.tolist() for x in (q, v, tau, dq, dv, third)))
    along = sum(block @ x for block, x in zip(forward, (dq, dv, third), strict=True))
    assert np.max(np.abs(product - along)) <= robot.nv * 3.0 * float(slack.sum())
    product = np.reshape(compute(robot, "forward_dynamics_vjp", Options(), *(x.tolist() for x in (q, v, tau, w))), (3, robot.nv))
    assert np.all(np.max(np.abs(product - [w @ block for block in forward]), axis=1) <= robot.nv * 3.0 * slack)


@pytest.mark.parametrize("seed", SEEDS)
def test_inertia_and_gravity_forces_change_without_the_strain(seed: int) -> None:
    robot, q, _, a, _ = case(seed)
    dq, model = np.random.default_rng(100 + seed).normal(size=robot.nv), model_of(robot)
    inertial = complex_tangent(
        robot, lambda q: [sum((x * y for x, y in zip(row, a, strict=True)), start=0.0) for row in reference.mass_matrix(model, q)], q, dq
    )
    weight = complex_tangent(robot, lambda q: reference.gravity_force(model, q, list(EARTH_GRAVITY)), q, dq)
    still = [0.0] * robot.nv
    found = np.array(unstrained_by_q(robot, q.tolist(), a.tolist(), (0.0, 0.0, 0.0)), dtype=float) @ dq
    assert np.max(np.abs(found - inertial)) <= AGREEMENT * (1.0 + np.max(np.abs(inertial)))
    found = np.array(unstrained_by_q(robot, q.tolist(), still, EARTH_GRAVITY), dtype=float) @ dq
    assert np.max(np.abs(found - weight)) <= AGREEMENT * (1.0 + np.max(np.abs(weight)))


def test_products_of_large_robots_with_elastic_links_are_composed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where straight-line code would be too long. The strain is no part of M^-1 b."""
    monkeypatch.setattr(quantities, "ELASTIC", 0)
    robot, q, v, a, inverse = case(1)
    tau = np.array(reference_force(robot, q.tolist(), v.tolist(), a.tolist()))
    forward = np.array([-np.linalg.solve(inverse[2], inverse[0]), -np.linalg.solve(inverse[2], inverse[1]), np.linalg.inv(inverse[2])])
    dq, dv, third, w = np.random.default_rng(5).normal(size=(4, robot.nv))
    slack = robot.nv * 10.0 * (AGREEMENT + CONDITION * np.linalg.cond(inverse[2])) * np.max(np.abs(forward), axis=(1, 2))
    found = robot.kernel("forward_dynamics_jvp")(*(np.stack([x, x]) for x in (q, v, tau, dq, dv, third)))
    along = sum(block @ x for block, x in zip(forward, (dq, dv, third), strict=True))
    assert np.max(np.abs(found - along)) <= float(slack.sum())
    found = robot.kernel("forward_dynamics_vjp")(q, v, tau, w)
    assert np.all(np.max(np.abs(found - [w @ block for block in forward]), axis=1) <= slack)


def test_machine_code_of_derivatives_of_elastic_links() -> None:
    """The public functions, one state and a batch, and the packed entries: all that is left out is zero."""
    robot, q, v, a, inverse = case(1)
    tau = ug.inverse_dynamics(robot, q, v, a)
    expected = ug.forward_dynamics_derivatives(robot, q, v, tau)
    slack = AGREEMENT + CONDITION * np.linalg.cond(inverse[2])
    for block, wanted in zip(ug.inverse_dynamics_derivatives(robot, q, v, a), inverse, strict=True):
        assert np.max(np.abs(block - wanted)) <= AGREEMENT * np.max(np.abs(wanted))
    for block, wanted in zip(expected[:2], inverse[:2], strict=True):
        solution = -np.linalg.solve(inverse[2], wanted)
        assert np.max(np.abs(block - solution)) <= slack * np.max(np.abs(solution))
    assert np.max(np.abs(expected.tau @ inverse[2] - np.eye(robot.nv))) <= slack * np.linalg.cond(inverse[2])
    many = ug.inverse_dynamics_derivatives(robot, np.stack([q, q]), v, a)
    assert many.q.shape == (2, robot.nv, robot.nv) and np.max(np.abs(many.q - inverse[0])) <= AGREEMENT * np.max(np.abs(inverse[0]))
    for name, third, blocks in (("inverse_dynamics_derivatives", a, inverse), ("forward_dynamics_derivatives", tau, np.array(expected))):
        entries = ug.derivative_entries(robot, name)
        whole = np.zeros((3, robot.nv, robot.nv))
        whole[:, entries[0], entries[1]] = robot.kernel(f"{name}_packed")(q, v, third)
        assert np.all(np.max(np.abs(whole - blocks), axis=(1, 2)) <= 10.0 * slack * np.max(np.abs(blocks), axis=(1, 2))), name
