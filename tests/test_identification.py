"""Identification: base parameters in closed form, estimates within their standard deviations, and robots that can exist."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from examples import ROBOTS
from identify_panda import changed, fourier_motion
from model_data import MODELS
from random_trees import random_tree
from urdf_text import inertial, joint, link, robot

import urdf_gibbs as ug
from urdf_gibbs.identification.feasible import pseudo_inertia
from urdf_gibbs.robot.inertial import with_parameters

PANDA = "panda_description/urdf/panda.urdf"
LENGTH = 0.7  # of the first arm of the planar robot


def loaded(*parts: str) -> ug.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ug.load(robot(*parts))


def pendulum() -> ug.Robot:
    return loaded(
        link("ground"), link("bob", inertial(2.0, (0.1, 0.2, -0.5))), joint("hinge", "continuous", "ground", "bob", axis=(0, 1, 0))
    )


def planar_2r() -> ug.Robot:
    """Two arms in the plane x, y."""
    return loaded(
        link("ground"),
        link("upper", inertial(2.0, (0.3, 0.02, 0.1))),
        link("lower", inertial(1.0, (0.2, -0.03, 0.05))),
        joint("first", "continuous", "ground", "upper", axis=(0, 0, 1)),
        joint("second", "continuous", "upper", "lower", xyz=(LENGTH, 0, 0), axis=(0, 0, 1)),
    )


@cache
def panda() -> ug.Robot:
    return ug.load(ROBOTS[PANDA], mimic=False)


@cache
def measured(noise: float) -> tuple[ug.Robot, tuple[Any, ...], Any, Any]:
    """(true robot, 2,000 states, measured forces, standard deviations of their noise); ``noise`` of a force over its rms."""
    rng = np.random.default_rng(1)
    truth = changed(panda(), rng)
    states = fourier_motion(panda(), 2000, rng)
    tau = ug.inverse_dynamics(truth, *states)
    size = noise * np.sqrt(np.mean(tau**2, axis=0))
    return truth, states, tau + size * rng.standard_normal(tau.shape), size


# Base parameters ----------------------------------------------------------------------------------------


def test_base_parameters_of_a_pendulum() -> None:
    """tau = Iyy a + g (mx cos q ... ): the moment about the axis, and both first moments across it."""
    assert ug.base_parameters(pendulum()).names == ("bob.mx", "bob.mz", "bob.Iyy")
    assert ug.base_parameters(pendulum(), gravity=(0, 3, 0)).names == ("bob.Iyy",)


def test_base_parameters_of_the_planar_arm() -> None:
    """As in every textbook: the second mass acts at the end of the first arm (Khalil and Dombre, 2002)."""
    upright = ug.base_parameters(planar_2r(), gravity=(0, -9.81, 0))
    assert upright.names == (
        "upper.mx + 0.7 lower.m",
        "upper.my",
        "upper.Izz + 0.49 lower.m",
        "lower.mx",
        "lower.my",
        "lower.Izz",
    )
    level = ug.base_parameters(planar_2r())  # gravity along the axes
    assert level.names == ("upper.Izz + 0.49 lower.m", "lower.mx", "lower.my", "lower.Izz")
    assert "upper.mx" in level.without_effect and "lower.m" not in level.without_effect
    np.testing.assert_allclose(level.values, [0.1 + 2.0 * (0.3**2 + 0.02**2) + LENGTH**2, 0.2, -0.03, 0.1 + 0.2**2 + 0.03**2], rtol=1e-12)


@pytest.mark.parametrize(("mimic", "count"), [(False, 51), (True, 48)])
def test_base_parameters_of_the_panda(mimic: bool, count: int) -> None:
    """As many as the rank of Pinocchio's regressors of random states, where it has them (without mimic joints)."""
    chosen = ug.load(ROBOTS[PANDA], mimic=mimic)
    assert chosen.parameters.size == 90
    assert len(ug.base_parameters(chosen)) == count
    if mimic:
        return
    model = pin.buildModelFromUrdf(str(ROBOTS[PANDA]))
    data, rng = model.createData(), np.random.default_rng(5)
    W = np.vstack([pin.computeJointTorqueRegressor(model, data, *rng.normal(size=(3, 9))).copy() for _ in range(60)])
    lengths = np.linalg.norm(W, axis=0)
    assert np.linalg.matrix_rank(W[:, lengths > 1e-9] / lengths[lengths > 1e-9], tol=1e-8) == count


@pytest.mark.parametrize("base", ["fixed", "floating", "planar"])
@pytest.mark.parametrize("seed", range(3))
def test_base_parameters_carry_all_forces(seed: int, base: str) -> None:
    """Y = Y_independent K for states that were not used to find them, and no fewer parameters would do."""
    tree = ug.load(random_tree(seed, 6, mimic=0.3), base)
    found = ug.base_parameters(tree)
    rng = np.random.default_rng(seed)
    count = 2 * tree.parameters.size // tree.nv + 5
    Y = ug.torque_regressor(tree, tree.random(rng, count), *rng.normal(size=(2, count, tree.nv))).reshape(-1, tree.parameters.size)
    W = Y[:, found.independent]
    np.testing.assert_allclose(W @ found.K, Y, rtol=0, atol=1e-9 * np.abs(Y).max())
    singular = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
    assert singular[-1] > 1e-6 * singular[0]


# Estimates ----------------------------------------------------------------------------------------------


def test_exact_data_give_the_exact_base_parameters() -> None:
    truth, states, tau, _ = measured(0.0)
    result = ug.identify(panda(), *states, tau)
    sizes = np.abs(result.base.K) @ np.abs(truth.parameters).ravel()
    assert np.all(np.abs(result.values - result.base.K @ truth.parameters.ravel()) <= 1e-9 * sizes + 1e-15)
    np.testing.assert_allclose(result.predict(*states), tau, rtol=0, atol=1e-9 * np.abs(tau).max())


def test_noisy_data_give_parameters_within_their_standard_deviations() -> None:
    """51 standardised errors: five standard deviations are passed once in 30,000 such tests, and an rms of 0.5 or 1.5 as seldom, had they
    been independent; they are not quite, and the seed is fixed."""
    truth, states, tau, noise = measured(0.02)
    result = ug.identify(panda(), *states, tau)
    errors = (result.values - result.base.K @ truth.parameters.ravel()) / result.deviations
    assert np.abs(errors).max() < 5.0
    assert 0.5 < np.sqrt(np.mean(errors**2)) < 1.5
    assert set(result.told) <= {"known", "weak"}
    # The rms of 2,000 errors has a relative standard deviation of 1 / sqrt(4000): five of them, and what 51 parameters fit of the noise.
    np.testing.assert_allclose(result.residual_rms, noise, rtol=5.0 / np.sqrt(4000.0) + 51.0 / 9.0 / 2000.0)


def test_standard_deviations_are_those_of_repeated_measurements() -> None:
    """200 times the same motion with other noise: the mean of squared standardised errors is 1, with a standard deviation of at most
    sqrt(2 / 200) = 0.1, were the six of one time all the same. Five of them are allowed."""
    arm, gravity = planar_2r(), (0.0, -9.81, 0.0)
    rng = np.random.default_rng(4)
    Q, V, A = rng.normal(size=(3, 50, 2))
    tau = ug.inverse_dynamics(arm, Q, V, A, gravity=gravity)
    true = ug.base_parameters(arm, gravity=gravity).values
    squares = []
    for _ in range(200):
        result = ug.identify(arm, Q, V, A, tau + [0.1, 0.02] * rng.normal(size=tau.shape), gravity=gravity)
        squares.append(np.mean(((result.values - true) / result.deviations) ** 2))
    assert 0.5 < np.mean(squares) < 1.5


@pytest.mark.parametrize("feasible", [False, True])
def test_unseen_forces_are_predicted_to_the_noise(feasible: bool) -> None:
    """What 51 parameters from 18,000 equations leave is sqrt(51 / 18000) of the noise, 5 % of it, in the mean; thrice that is allowed."""
    truth, states, tau, noise = measured(0.02)
    result = ug.identify(panda(), *states, tau, feasible=feasible)
    unseen = fourier_motion(panda(), 500, np.random.default_rng(7))
    expected = ug.inverse_dynamics(truth, *unseen)
    error = np.sqrt(np.mean((result.predict(*unseen) - expected) ** 2, axis=0))
    assert np.all(error < 0.16 * noise), error / noise
    before = np.sqrt(np.mean((ug.inverse_dynamics(panda(), *unseen) - expected) ** 2, axis=0))
    assert np.all(before > noise)  # the URDF did not know them


def test_the_written_robot_passes_check_and_moves_as_predicted(tmp_path: Path) -> None:
    _, states, tau, _ = measured(0.02)
    result = ug.identify(panda(), *states, tau, feasible=True)
    assert np.linalg.eigvalsh(pseudo_inertia(result.parameters)).min() > 0.0
    result.save(tmp_path / "panda.urdf")
    found = [one for one in ug.check(tmp_path / "panda.urdf") if one.code != "mesh-missing"]
    assert [one for one in found if "finger" not in one.element or one.code != "unlike-mass"] == []  # noise tells the fingers apart
    again = ug.load(tmp_path / "panda.urdf", mimic=False)
    np.testing.assert_allclose(again.parameters, result.parameters, rtol=0, atol=1e-12)
    forces = result.predict(*states)
    np.testing.assert_allclose(ug.inverse_dynamics(again, *states), forces, rtol=0, atol=1e-9 * np.abs(forces).max())


def test_what_no_motion_shows_stays_as_it_was() -> None:
    """The estimate differs from the prior along rows of K only, in natural sizes: no other change is orthogonal to what forces ignore."""
    truth, states, tau, _ = measured(0.0)
    same = ug.identify(panda(), *states, ug.inverse_dynamics(panda(), *states))
    np.testing.assert_allclose(same.parameters, panda().parameters, rtol=0, atol=1e-8)
    moved = ug.identify(panda(), *states, tau, prior=truth.parameters)
    np.testing.assert_allclose(moved.parameters, truth.parameters, rtol=0, atol=1e-8)


@pytest.mark.parametrize("feasible", [False, True])
def test_bodies_without_mass_in_the_prior_get_some_only_where_it_helps(feasible: bool) -> None:
    arm = planar_2r()
    light = with_parameters(arm, np.array([arm.parameters[0], np.zeros(10)]))
    rng = np.random.default_rng(3)
    Q, V, A = rng.normal(size=(3, 200, 2))
    gravity = (0.0, -9.81, 0.0)
    tau = ug.inverse_dynamics(arm, Q, V, A, gravity=gravity)
    result = ug.identify(light, Q, V, A, tau + 1e-3 * rng.normal(size=tau.shape), gravity=gravity, feasible=feasible)
    if feasible:
        assert result.robot.mass[1] > 0.0
        np.testing.assert_allclose(result.predict(Q, V, A), tau, rtol=0, atol=1e-2)
    else:
        with pytest.raises(ug.ArgumentError, match=r"no distribution of mass .* lower.*feasible=True"):
            _ = result.robot


def test_what_the_data_do_not_excite_is_told_and_stays() -> None:
    """Only the last joint moves: forces of gravity and of one axis remain."""
    states = [np.array(x) for x in measured(0.0)[1]]
    for x in states:
        x[:, :6] = 0.0
        x[:, 7:] = 0.0
    states[0][:, :6] = 0.3
    tau = ug.inverse_dynamics(measured(0.0)[0], *states)
    result = ug.identify(panda(), *states, tau + 1e-3 * np.random.default_rng(0).normal(size=tau.shape))
    free = np.isinf(result.deviations)
    assert free.sum() > 30 and len(result.free) > 30
    assert result.told.count("free") == free.sum()
    # Moved along a free combination, the forces stay.
    x = result.values + 100.0 * result.free[0]
    W = ug.torque_regressor(panda(), *states)[..., result.base.independent]
    np.testing.assert_allclose(W @ x, result.predict(*states), rtol=0, atol=1e-5 * np.abs(tau).max())
    assert "these data do not" in result.table()


def test_weights_decide_what_counts() -> None:
    _, states, tau, _ = measured(0.0)
    wrong = tau.copy()
    wrong[::3] += 100.0
    weights = np.ones_like(tau)
    weights[::3] = 0.0
    result = ug.identify(panda(), *states, wrong, weights=weights)
    np.testing.assert_allclose(result.predict(*states), tau, rtol=0, atol=1e-8 * np.abs(tau).max())
    assert result.residual_rms.max() < 1e-8  # of what counts


def test_friction_is_told_from_inertia() -> None:
    arm = planar_2r()
    rng = np.random.default_rng(2)
    Q, V, A = rng.normal(size=(3, 300, 2))
    friction = np.array([[0.4, 1.5], [0.1, 0.3]])  # viscous and Coulomb
    tau = ug.inverse_dynamics(arm, Q, V, A) + friction[:, 0] * V + friction[:, 1] * np.sign(V)
    result = ug.identify(arm, Q, V, A, tau, friction=True)
    assert result.friction is not None
    np.testing.assert_allclose(result.friction, friction, rtol=1e-9)
    np.testing.assert_allclose(result.predict(Q[0], V[0], A[0]), tau[0], rtol=1e-9)
    np.testing.assert_allclose(result.parameters, arm.parameters, rtol=0, atol=1e-9)
    both = ug.identify(arm, Q, V, A, tau + 1e-3 * rng.normal(size=tau.shape), friction=True, feasible=True)
    assert both.friction is not None
    np.testing.assert_allclose(both.friction, friction, rtol=0, atol=1e-3)
    assert "Coulomb" in both.table()


def test_the_table_is_narrow_and_names_every_parameter() -> None:
    _, states, tau, _ = measured(0.02)
    result = ug.identify(panda(), *states, tau, friction=True)
    lines = str(result).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "panda: 51 base parameters of 90, from 2000 states"
    for index in result.base.independent:
        assert any(line.startswith(result.base.parameter_names[index]) for line in lines)
    assert all(any(line.startswith(name) for line in lines) for name in panda().velocity_names)


# Fixed links --------------------------------------------------------------------------------------------


def test_the_moved_link_carries_its_body() -> None:
    tool = loaded(
        link("ground"),
        link("arm", inertial(2.0, (0.3, 0, 0))),
        link("tool", inertial(1.0, (0, 0.1, 0))),
        joint("hinge", "continuous", "ground", "arm", axis=(0, 0, 1)),
        joint("grip", "fixed", "arm", "tool", xyz=(0.5, 0, 0)),
    )
    same = with_parameters(tool, tool.parameters)
    np.testing.assert_allclose(same.parameters, tool.parameters, rtol=1e-15, atol=1e-15)
    masses = {one.name: one.inertial.mass for one in same.links if one.inertial is not None}
    assert masses["arm"] == 3.0 and masses["tool"] == 0.0
    np.testing.assert_allclose(ug.mass_matrix(same, [0.3]), ug.mass_matrix(tool, [0.3]), rtol=1e-14)
    with pytest.raises(ug.ArgumentError, match=r"parameters\[0, 0\] is -1, expected 0 or more"):
        with_parameters(tool, -tool.parameters / 3.0)


# Wrong arguments ----------------------------------------------------------------------------------------


def arguments(**changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    Q, V, A, tau = rng.normal(size=(4, 20, 2))
    return {"Q": Q, "V": V, "A": A, "tau": tau, **changes}


HOLE = np.ones((20, 2))
HOLE[3, 1] = np.nan


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Q": np.ones((20, 3))}, r"Q has shape \(20, 3\), expected \(n, 2\)"),
        ({"V": np.ones(2)}, r"V has shape \(2,\), expected \(n, 2\)"),
        ({"A": HOLE}, r"A\[3, 1\] is nan, expected finite numbers"),
        ({"tau": "much"}, r"tau is 'much', expected numbers"),
        ({"tau": np.ones((19, 2))}, r"different numbers of states \(Q 20, V 20, A 20, tau 19\)"),
        (
            {key: np.ones((2, 2)) + np.arange(2)[:, None] for key in ("Q", "V", "A", "tau")},
            "2 states give 4 equations, expected more than the 4",
        ),
        ({key: np.zeros((20, 2)) for key in ("Q", "V", "A")}, "all 20 states in Q, V and A are the same, expected a motion"),
        ({"weights": [1.0, -2.0]}, r"weights\[1\] is -2.0, expected finite numbers, 0 or more"),
        ({"weights": [1.0, 2.0, 3.0]}, r"weights has shape \(3,\), expected \(2,\) or \(20, 2\)"),
        ({"weights": [0.0, 0.0]}, "weights are all 0"),
        ({"prior": np.ones((2, 9))}, r"prior has shape \(2, 9\), expected \(2, 10\)"),
        ({"feasible": 1}, "feasible=1, expected True or False"),
        ({"gravity": (0.0, 1.0)}, "gravity"),
    ],
)
def test_wrong_data_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ug.ArgumentError, match=message):
        ug.identify(planar_2r(), **arguments(**changes))


def test_robots_that_cannot_be_identified() -> None:
    with pytest.raises(ug.ArgumentError, match="elastic links"):
        ug.base_parameters(ug.load(MODELS / "flexible_link.urdf"))
    with pytest.raises(ug.ArgumentError, match="no joint that moves"):
        ug.base_parameters(loaded(link("only")))
    with pytest.raises(ug.ArgumentError, match="expected"):
        ug.identify("panda", [], [], [], [])  # type: ignore[arg-type]
