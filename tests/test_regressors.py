"""Regressors: entry by entry Pinocchio's, and for what it has not (axes of planar joints, mimic joints) linear in the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from examples import ROBOTS
from model_data import MODELS
from random_trees import random_tree
from urdf_text import pinocchio_model

import urdf_gibbs as ug
from urdf_gibbs.engine.scatter import STREAMED
from urdf_gibbs.robot.inertial import with_parameters

ROUND_OFF = 1e-12  # of the largest entry: sums of some dozen products along a path to the root
LETTERS = {"torque_regressor": 3, "kinetic_energy_regressor": 2, "potential_energy_regressor": 1}  # inputs among q, v, a
THEIRS = {
    "torque_regressor": pin.computeJointTorqueRegressor,
    "kinetic_energy_regressor": pin.computeKineticEnergyRegressor,
    "potential_energy_regressor": pin.computePotentialEnergyRegressor,
}


def states(robot: ug.Robot, seed: int, count: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [robot.random(rng, count), *rng.normal(size=(2, count, robot.nv))]


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = ug.get_threads()
    ug.set_threads(1)
    yield
    ug.set_threads(before)


def agree(robot: ug.Robot, model: Any, seed: int, count: int = 2) -> None:
    data = model.createData()
    for name, inputs in LETTERS.items():
        for q, *rest in zip(*states(robot, seed, count), strict=True):
            ours = getattr(ug, name)(robot, q, *rest[: inputs - 1])
            expected = THEIRS[name](model, data, robot.q_to_pinocchio(q), *rest[: inputs - 1])
            assert np.abs(ours - expected).max() <= ROUND_OFF * np.abs(expected).max(), name


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("seed", range(6))
def test_regressors_of_random_trees_are_pinocchios(seed: int, base: str) -> None:
    text = random_tree(seed, 9, ("revolute", "continuous", "prismatic", "floating", "fixed"))
    agree(ug.load(text, base), pinocchio_model(text, base), seed)


@pytest.mark.parametrize(
    ("file", "base"),
    [
        ("panda_description/urdf/panda.urdf", "fixed"),
        ("go2_description/urdf/go2.urdf", "floating"),
        ("talos_data/robots/talos_reduced.urdf", "floating"),
        ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    ],
)
def test_regressors_of_example_robots_are_pinocchios(file: str, base: str) -> None:
    root = [pin.JointModelFreeFlyer()] if base == "floating" else []
    model = pin.buildModelFromUrdf(str(ROBOTS[file]), *root)
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    agree(ug.load(ROBOTS[file], base, mimic=False), model, 0)


@pytest.mark.parametrize("base", ["fixed", "planar"])
@pytest.mark.parametrize("seed", range(4))
def test_torques_of_other_inertias_are_the_regressor_times_them(seed: int, base: str) -> None:
    """By the papers' recursion, which shares nothing with it: all joint types, mimic joints, of which some follow one on their own path."""
    robot = ug.load(random_tree(seed, 10, mimic=0.6, branching=2), base)
    assert any(joint.is_mimic for joint in robot.joints)
    other = ug.load(random_tree(seed + 100, 40, ("revolute",), branching=40))
    changed = with_parameters(robot, other.parameters[: len(robot.joints)])
    q, v, a = states(robot, seed, 2)
    gravity = (1.0, -2.0, 3.0)
    pi = changed.parameters.ravel()
    tau = ug.inverse_dynamics(changed, q, v, a, gravity=gravity, method="gibbs_appell")
    np.testing.assert_allclose(ug.torque_regressor(robot, q, v, a, gravity=gravity) @ pi, tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    T, V = ug.kinetic_energy(changed, q, v, method="explicit"), ug.potential_energy(changed, q, gravity=gravity)
    np.testing.assert_allclose(ug.kinetic_energy_regressor(robot, q, v) @ pi, T, rtol=1e-12)
    size = np.abs(ug.potential_energy_regressor(robot, q, gravity=gravity)) @ np.abs(pi)
    assert np.all(np.abs(ug.potential_energy_regressor(robot, q, gravity=gravity) @ pi - V) <= 1e-14 * size)


@pytest.mark.parametrize("name", LETTERS)
def test_kernels_compute_one_state_and_batches(name: str) -> None:
    """Of each other they differ by contracted products alone."""
    robot = ug.load(MODELS / "gripper.urdf", "floating")
    inputs = states(robot, 1, 300)[: LETTERS[name]]
    kernel = robot.kernel(name)  # type: ignore[arg-type]
    plain = getattr(ug, name)(robot, *(x[:5] for x in inputs))
    batch = kernel(*inputs)
    np.testing.assert_allclose(batch[:5], plain, rtol=0, atol=1e-13 * np.abs(plain).max())
    one = np.full(batch.shape[1:], np.nan)
    assert kernel(*(x[7] for x in inputs), out=one) is one
    np.testing.assert_allclose(one, batch[7], rtol=0, atol=1e-13 * np.abs(plain).max())
    shaped = kernel(*(x.reshape(2, 3, 50, -1) for x in inputs))
    np.testing.assert_array_equal(shaped.reshape(batch.shape), batch)
    filled = getattr(ug, name)(robot, *inputs, out=np.full(batch.shape, np.nan))
    np.testing.assert_allclose(filled, batch, rtol=0, atol=1e-13 * np.abs(plain).max())


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_packed_blocks_are_all_that_is_not_zero(base: str) -> None:
    robot = ug.load(random_tree(7, 8, mimic=0.5, branching=2), base)
    inputs = states(robot, 6, 3)
    velocities, bodies = ug.torque_regressor_blocks(robot)
    unpacked = np.zeros((3, robot.nv, len(robot.joints), 10))
    unpacked[:, velocities, bodies] = robot.kernel("torque_regressor_packed", gravity=(1, 2, 3))(*inputs)
    Y = ug.torque_regressor(robot, *inputs, gravity=(1, 2, 3))
    np.testing.assert_allclose(unpacked.reshape(Y.shape), Y, rtol=0, atol=1e-13 * np.abs(Y).max())
    assert len({*zip(velocities.tolist(), bodies.tolist(), strict=True)}) == len(bodies)
    with pytest.raises(ug.ArgumentError, match="rigid links"):
        ug.torque_regressor_blocks(ug.load(MODELS / "flexible_link.urdf"))


def test_a_large_batch_goes_past_the_caches_unchanged(one_thread: None) -> None:
    """Streamed into memory with 16-byte alignment, not streamed with 8: the same numbers, and nothing beside them. On one thread, or each
    would have a part that is too small for it."""
    robot = ug.load(ROBOTS["panda_description/urdf/panda.urdf"], mimic=False)
    kernel = robot.kernel("torque_regressor")
    size = robot.nv * robot.parameters.size
    count = STREAMED // (8 * size) + 3
    inputs = states(robot, 2, count)
    memory = np.full(count * size + 6, np.nan)
    even = 2 if memory.ctypes.data % 16 == 0 else 3
    streamed = memory[even : even + count * size].reshape(count, robot.nv, -1)
    assert streamed.ctypes.data % 16 == 0
    kernel(*inputs, out=streamed)
    first = streamed.copy()
    assert np.isnan(memory[:even]).all() and np.isnan(memory[even + count * size :]).all()
    cached = memory[even + 1 : even + 1 + count * size].reshape(count, robot.nv, -1)
    kernel(*inputs, out=cached)
    np.testing.assert_array_equal(cached, first)
    some = np.s_[:: count // 5]
    pi = robot.parameters.ravel()
    tau = ug.inverse_dynamics(robot, *(x[some] for x in inputs))
    np.testing.assert_allclose(first[some] @ pi, tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_a_robot_too_large_for_straight_code_has_regressors() -> None:
    robot = ug.load(random_tree(3, 70, ("revolute", "prismatic"), branching=1))
    q, v, a = states(robot, 3, 2)
    tau = ug.inverse_dynamics(robot, q, v, 0.1 * a)
    Y = robot.kernel("torque_regressor")(q, v, 0.1 * a)
    np.testing.assert_allclose(Y @ robot.parameters.ravel(), tau, rtol=0, atol=1e-11 * np.abs(tau).max())


def test_a_column_is_zero_where_nothing_moves_the_body() -> None:
    robot = ug.load(MODELS / "branched12.urdf")
    Y = ug.torque_regressor(robot, *(x[0] for x in states(robot, 4, 1))).reshape(robot.nv, -1, 10)
    for i, joint in enumerate(robot.joints):
        above = {i}
        while robot.parent[min(above)] >= 0:
            above.add(robot.parent[min(above)])
        moving = {robot.joints[k].iv for k in above}
        assert not Y[[iv for iv in range(robot.nv) if iv not in moving], i].any(), joint.name


def test_a_quaternion_must_have_unit_length() -> None:
    robot = ug.load(MODELS / "free_ball.urdf", "floating")
    with pytest.raises(ug.ArgumentError, match="norm off by"):
        robot.kernel("torque_regressor")(2.0 * robot.neutral(), np.zeros(6), np.zeros(6))


@pytest.mark.parametrize("name", LETTERS)
def test_regressors_are_for_rigid_links(name: str) -> None:
    robot = ug.load(MODELS / "flexible_link.urdf")
    inputs = [x[0] for x in states(robot, 5, 1)][: LETTERS[name]]
    with pytest.raises(ug.ArgumentError, match="has elastic links: regressors are for robots with rigid links"):
        getattr(ug, name)(robot, *inputs)
    with pytest.raises(ug.ArgumentError, match="rigid links"):
        robot.kernel(name)  # type: ignore[arg-type]


def test_wrong_arguments_are_named() -> None:
    robot = ug.load(MODELS / "pendulum.urdf")
    with pytest.raises(ug.ArgumentError, match=r"v has shape \(2,\), expected \(..., 1\)"):
        ug.torque_regressor(robot, [0.1], [0.0, 0.0], [0.0])
    with pytest.raises(ug.ArgumentError, match="gravity"):
        ug.potential_energy_regressor(robot, [0.1], gravity=(0.0, 1.0))
    with pytest.raises(ug.ArgumentError, match="expected"):
        ug.kinetic_energy_regressor("pendulum", [0.1], [0.0])  # type: ignore[arg-type]
    with pytest.raises(ug.ArgumentError, match="out has shape"):
        ug.torque_regressor(robot, [0.1], [0.0], [0.0], out=np.empty((1, 9)))
