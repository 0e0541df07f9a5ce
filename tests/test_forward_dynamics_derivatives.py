"""Derivatives of forward dynamics against Pinocchio's, entry by entry; singular and nearly singular mass matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from derivative_checks import random_state, worst
from derivative_oracle import forward_derivatives, oracle_of
from examples import FOLDER
from numpy.typing import NDArray
from random_trees import random_tree
from urdf_text import inertial, joint, link, massless
from urdf_text import robot as robot_text

import urdf_gibbs as ug
from urdf_gibbs.engine.derivative_quantities import DERIVATIVES
from urdf_gibbs.engine.quantities import Options, compute

pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
BASES = ("fixed", "floating", "planar")
AGREEMENT = 1e-12  # of the largest entry: some thousand roundings of 1e-16
CONDITION = 1e-15  # times the condition of M: what the solution of a linear system loses, here and in Pinocchio
LEVER = (
    1e-7  # Pinocchio's inertias are about the world's origin: 1e-6 kg m^2 there for 2e-14 about the joint, which costs it 8 of 16 digits
)
GO2 = FOLDER / "go2_description/urdf/go2.urdf"


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URDF_GIBBS_CACHE", "")
        yield


def allowed(robot: ug.Robot, q: Array) -> float:
    return AGREEMENT + CONDITION * float(np.linalg.cond(ug.mass_matrix(robot, q)))


def expected_of(source: object, robot: ug.Robot, base: str, state: tuple[Array, Array, Array]) -> object:
    return forward_derivatives(oracle_of(source, base), *state, ug.forward_dynamics(robot, *state))


@pytest.mark.parametrize("seed", range(36))
def test_random_trees_are_pinocchios(seed: int) -> None:
    """In plain Python: all joint types anywhere, all bases, every second tree with mimic joints."""
    base, text = BASES[seed % 3], random_tree(seed, 1 + seed // 6 % 7, mimic=0.4 if seed % 2 else 0.0)
    robot = ug.load(text, base)
    if not robot.nv:
        return
    state = random_state(robot, seed)
    flat = compute(robot, "forward_dynamics_derivatives", Options(), *(x.tolist() for x in state))
    found = np.reshape(flat, (3, robot.nv, robot.nv))
    assert worst(found, expected_of(text, robot, base, state)) <= allowed(robot, state[0])


@pytest.mark.parametrize("seed", range(4))
def test_machine_code_solves_by_the_branches(seed: int) -> None:
    """Trees with several roots and with mimic joints that couple them: groups of columns with every pattern of zeros, one state and four."""
    text = random_tree(seed, 7, ("revolute", "prismatic", "planar"), mimic=0.0 if seed == 0 else 0.4)
    robot = ug.load(text, "fixed")
    state = random_state(robot, seed)
    expected, limit = expected_of(text, robot, "fixed", state), allowed(robot, state[0])
    kernel = robot.kernel("forward_dynamics_derivatives")
    found = kernel(*state)
    assert worst(found, expected) <= limit
    assert np.array_equal(found[2], found[2].T)
    many = kernel(*(np.repeat(x[None], 301, axis=0) for x in state))
    assert all(worst(one, expected) <= limit for one in many[[0, 150, 300]])
    rows, columns = ug.derivative_entries(robot, "forward_dynamics_derivatives")
    unpacked = np.zeros_like(found)
    unpacked[:, rows, columns] = robot.kernel("forward_dynamics_derivatives_packed")(*state)
    assert np.array_equal(unpacked, found)


def test_the_function_gives_named_views() -> None:
    robot = ug.load(GO2, "floating")
    state = random_state(robot)
    out = np.empty((3, robot.nv, robot.nv))
    by_q, by_v, by_tau = ug.forward_dynamics_derivatives(robot, *state, out=out)
    assert worst(np.array([by_q, by_v, by_tau]), expected_of(GO2, robot, "floating", state)) <= allowed(robot, state[0])
    assert all(np.shares_memory(out, part) for part in (by_q, by_v, by_tau))
    weightless = ug.forward_dynamics_derivatives(robot, *state, gravity=np.zeros(3))
    assert not np.allclose(weightless.q, by_q) and np.allclose(weightless.tau, by_tau)


def test_large_robots_are_solved_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    text = random_tree(5, 8)
    monkeypatch.setattr("urdf_gibbs.engine.quantities.STRAIGHT", dict.fromkeys(DERIVATIVES, 200))
    robot = ug.load(text, "floating")
    state = random_state(robot)
    expected, limit = expected_of(text, robot, "floating", state), allowed(robot, state[0])
    found = np.array(ug.forward_dynamics_derivatives(robot, *state))
    assert worst(found, expected) <= limit
    packed = robot.kernel("forward_dynamics_derivatives_packed")(*state)
    assert np.array_equal(packed, found[:, *ug.derivative_entries(robot, "forward_dynamics_derivatives")])


ARM = (link("base"), link("arm", inertial(1.0, (0.5, 0.0, 0.0))), joint("first", "continuous", "base", "arm", axis=(0, 0, 1)))


def test_a_singular_state_is_reported() -> None:
    """A massless link at the end: its joint moves without inertia."""
    robot = ug.load(robot_text(*ARM, massless("end"), joint("last", "continuous", "arm", "end", axis=(0, 1, 0))))
    with pytest.raises(ug.SingularMassMatrixError) as raised:
        ug.forward_dynamics_derivatives(robot, np.zeros(2), np.zeros(2), np.zeros(2))
    assert raised.value.joints == ("last",)
    out = np.zeros((5, 3, 2, 2))
    with pytest.raises(ug.SingularMassMatrixError) as raised:
        ug.forward_dynamics_derivatives(robot, np.zeros((5, 2)), np.zeros(2), np.zeros(2), out=out)
    assert raised.value.states == (0, 1, 2, 3, 4) and np.isnan(out).all()


def test_a_nearly_singular_state_is_solved_with_pivoting() -> None:
    """A speck of dust at the end of an arm: its pivot is 1e-14 of the scale, yet the state is regular."""
    dust = inertial(1e-6, (1e-4, 0.0, 0.0), moments=(1e-14, 1e-14, 1e-14))
    text = robot_text(*ARM, link("end", dust), joint("last", "continuous", "arm", "end", axis=(0, 0, 1), xyz=(1, 0, 0)))
    robot = ug.load(text)
    state = np.array([0.3, 0.4]), np.array([0.5, -0.6]), np.array([0.7, 1e-9])
    expected = expected_of(text, robot, "fixed", state)
    assert worst(np.array(ug.forward_dynamics_derivatives(robot, *state)), expected) <= LEVER
