"""Derivatives of inverse dynamics against Pinocchio's, entry by entry, and those of its parts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from derivative_checks import random_state, worst
from derivative_oracle import Derivatives, inverse_derivatives, oracle_of
from examples import FOLDER
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.engine.derivative_quantities import DERIVATIVES
from urdf_gibbs.engine.quantities import Options, compute

pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
INVERSE = "inverse_dynamics_derivatives"
BASES = ("fixed", "floating", "planar")
AGREEMENT = 1e-12  # of the largest entry: some thousand roundings of 1e-16
GO2, UR5 = FOLDER / "go2_description/urdf/go2.urdf", FOLDER / "ur_description/urdf/ur5_robot.urdf"


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URDF_GIBBS_CACHE", "")
        yield


def assert_same(found: Array, expected: Derivatives) -> None:
    assert worst(found, expected) <= AGREEMENT


@pytest.mark.parametrize("seed", range(60))
def test_random_trees_are_pinocchios(seed: int) -> None:
    """In plain Python: all joint types anywhere, all bases, every second tree with mimic joints, which G ties in Pinocchio's model."""
    base, text = BASES[seed % 3], random_tree(seed, 1 + seed // 6 % 10, mimic=0.4 if seed % 2 else 0.0)
    robot = ug.load(text, base)
    if not robot.nv:
        return
    q, v, a = random_state(robot, seed)
    flat = compute(robot, "inverse_dynamics_derivatives", Options(), q.tolist(), v.tolist(), a.tolist())
    assert_same(np.reshape(flat, (3, robot.nv, robot.nv)), inverse_derivatives(oracle_of(text, base), q, v, a))


def test_the_function_gives_named_views_of_machine_code() -> None:
    robot = ug.load(GO2, "floating")
    q, v, a = random_state(robot)
    expected = inverse_derivatives(oracle_of(GO2, "floating"), q, v, a)
    out = np.empty((3, robot.nv, robot.nv))
    by_q, by_v, by_a = ug.inverse_dynamics_derivatives(robot, q, v, a, out=out)
    assert_same(np.array([by_q, by_v, by_a]), expected)
    assert all(np.shares_memory(out, part) for part in (by_q, by_v, by_a))
    assert np.array_equal(by_a, by_a.T)


def test_a_batch_is_its_states() -> None:
    robot = ug.load(GO2, "floating")
    states = [np.array(x) for x in zip(*(random_state(robot, seed) for seed in range(300)), strict=True)]
    batch = ug.inverse_dynamics_derivatives(robot, *(x.reshape(3, 100, -1) for x in states))
    assert batch.q.shape == batch.v.shape == batch.a.shape == (3, 100, robot.nv, robot.nv)
    oracle = oracle_of(GO2, "floating")
    for i in (0, 101, 299):
        row, column = divmod(i, 100)
        assert_same(np.array([x[row, column] for x in batch]), inverse_derivatives(oracle, *(x[i] for x in states)))


def test_gravity_is_an_input_or_a_constant() -> None:
    robot = ug.load(UR5)
    q, v, a = random_state(robot)
    gravity = np.array([1.0, -2.0, 3.0])
    oracle = oracle_of(UR5, "fixed")
    oracle.model.gravity.linear = gravity
    expected = inverse_derivatives(oracle, q, v, a)
    assert_same(np.array(ug.inverse_dynamics_derivatives(robot, q, v, a, gravity=gravity)), expected)
    assert_same(robot.kernel("inverse_dynamics_derivatives", gravity=gravity)(q, v, a), expected)


def test_packed_entries_are_all_that_are_not_zero() -> None:
    robot = ug.load(GO2, "floating")
    state = random_state(robot)
    rows, columns = ug.derivative_entries(robot, "inverse_dynamics_derivatives")
    unpacked = np.zeros((3, robot.nv, robot.nv))
    unpacked[:, rows, columns] = robot.kernel("inverse_dynamics_derivatives_packed")(*state)
    assert np.array_equal(unpacked, robot.kernel("inverse_dynamics_derivatives")(*state))
    assert len(rows) == 18 * 18 - 2 * 6 * 9  # legs of three joints do not see each other


@pytest.mark.parametrize("base", BASES[:2])
def test_forces_of_inertia_and_gravity_are_parts(base: str) -> None:
    """d(M a)/dq and dg/dq are Pinocchio's at rest, without gravity and without acceleration."""
    robot = ug.load(UR5, base)
    q, _, a = random_state(robot)
    rest, oracle = np.zeros(robot.nv), oracle_of(UR5, base)
    weight = inverse_derivatives(oracle, q, rest, rest).q
    oracle.model.gravity.linear = np.zeros(3)
    inertia = inverse_derivatives(oracle, q, rest, a).q
    assert np.allclose(ug.inertia_force_derivatives(robot, q, a), inertia, rtol=0.0, atol=AGREEMENT * np.max(np.abs(inertia)))
    assert np.allclose(ug.gravity_force_derivatives(robot, q), weight, rtol=0.0, atol=AGREEMENT * np.max(np.abs(weight)))


@pytest.mark.parametrize(("seed", "mimic"), [(5, 0.0), (6, 0.5)])  # one of the mimic joints carries others
def test_large_robots_need_no_code_of_their_own(seed: int, mimic: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too long for straight-line code walks side by side in Python: one state and several, gravity as an input, all parts."""
    text = random_tree(seed, 8, mimic=mimic)
    monkeypatch.setattr("urdf_gibbs.engine.quantities.STRAIGHT", dict.fromkeys(DERIVATIVES, 200))
    monkeypatch.setattr("urdf_gibbs.engine.composed_derivatives.NUMBERS", 1)  # one state at a time
    robot, oracle = ug.load(text, "floating"), oracle_of(text, "floating")
    q, v, a = random_state(robot)
    expected, rest = inverse_derivatives(oracle, q, v, a), np.zeros(robot.nv)
    assert_same(np.array(ug.inverse_dynamics_derivatives(robot, q, v, a)), expected)
    assert_same(robot.kernel("inverse_dynamics_derivatives", gravity=None)(q, [v, v], a, [0.0, 0.0, -9.81])[1], expected)
    packed = robot.kernel("inverse_dynamics_derivatives_packed")(q, v, a)
    assert np.array_equal(packed[1], ug.inverse_dynamics_derivatives(robot, q, v, a).v[ug.derivative_entries(robot, INVERSE)])
    weight = inverse_derivatives(oracle, q, rest, rest).q
    assert np.allclose(ug.gravity_force_derivatives(robot, q), weight, rtol=0.0, atol=AGREEMENT * np.max(np.abs(weight)))
    whole = inverse_derivatives(oracle, q, rest, a).q
    assert np.allclose(ug.inertia_force_derivatives(robot, q, a), whole - weight, rtol=0.0, atol=AGREEMENT * np.max(np.abs(whole)))
