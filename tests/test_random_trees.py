"""Property tests on random trees of 1-30 joints of all types: agreement with Pinocchio, and the laws of mechanics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_trees import bases, small_trees, trees

import urdf_gibbs as ug
from urdf_gibbs.oracle.compare import validate

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
METHODS = ("gibbs_appell", "explicit")


@pytest.mark.nightly
@settings(SLOW, max_examples=60)
@given(trees, bases, st.integers(0, 10**6))
def test_formulations_of_large_trees_agree_with_pinocchio(text: str, base: str, seed: int) -> None:
    agrees_with_pinocchio(text, base, seed)


@pytest.mark.nightly
@settings(SLOW, max_examples=120)
@given(small_trees, bases, st.integers(0, 10**6))
def test_formulations_of_many_trees_agree_with_pinocchio(text: str, base: str, seed: int) -> None:
    agrees_with_pinocchio(text, base, seed)


@settings(SLOW, max_examples=12)
@given(small_trees, bases, st.integers(0, 10**6))
def test_formulations_agree_with_pinocchio(text: str, base: str, seed: int) -> None:
    agrees_with_pinocchio(text, base, seed)


def agrees_with_pinocchio(text: str, base: str, seed: int) -> None:
    robot = ug.load(text, base)
    report = validate(robot, text, samples=2, seed=seed, derivatives=False)
    assert report.reference == "Pinocchio"
    assert report.agrees, [(c.method, c.quantity, c.error, c.remark) for c in report.comparisons if not c.agrees]


@settings(SLOW, max_examples=25)
@given(small_trees, bases, st.integers(0, 10**6))
@pytest.mark.parametrize("method", METHODS)
def test_momentum_is_the_gradient_of_kinetic_energy(method: str, text: str, base: str, seed: int) -> None:
    """dT/dv = M v; central differences are exact for a quadratic, so the step may be large and only round-off remains."""
    robot = ug.load(text, base)
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    shifts = np.eye(robot.nv)
    gradient = (ug.kinetic_energy(robot, q, v + shifts, method=method) - ug.kinetic_energy(robot, q, v - shifts, method=method)) / 2.0
    M = ug.mass_matrix(robot, q, method=method)
    assert np.allclose(gradient, M @ v, rtol=0, atol=1e-11 * max(1.0, float(np.abs(M).max(initial=0.0))))


@settings(SLOW, max_examples=25)
@given(small_trees, bases, st.integers(0, 10**6))
@pytest.mark.parametrize("method", METHODS)
def test_power_equals_the_rate_of_energy(method: str, text: str, base: str, seed: int) -> None:
    """v . tau = d(T + V)/dt along q' = v, v' = a for any a: the energy form of "M' - 2C is skew".

    Differences of fourth order with step 1e-3: truncation 1e-12 times fifth derivatives, round-off 1e-13.
    """
    robot = ug.load(text, base)
    rng = np.random.default_rng(seed)
    q, v, a = robot.random(rng), 0.5 * rng.normal(size=robot.nv), 0.5 * rng.normal(size=robot.nv)

    def energy(t: float) -> float:
        # integrate moves by a constant body velocity; the midpoint v + a t/2 is exact to the order that is differenced once
        steps = 8
        x = q
        for i in range(steps):
            x = robot.integrate(x, (v + a * t * (i + 0.5) / steps) * t / steps)
        return float(ug.kinetic_energy(robot, x, v + a * t, method=method) + ug.potential_energy(robot, x))

    h = 1e-3
    rate = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h)
    power = float(v @ ug.inverse_dynamics(robot, q, v, a, method=method))
    scale = max(1.0, abs(power), abs(energy(0.0)))
    assert rate == pytest.approx(power, abs=1e-7 * scale)


@settings(SLOW, max_examples=60)
@given(trees, bases, st.integers(0, 10**6))
def test_integrate_and_difference_undo_each_other(text: str, base: str, seed: int) -> None:
    robot = ug.load(text, base)
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    v = rng.uniform(-1.5, 1.5, robot.nv)  # rotations below pi, where the logarithm is unique
    assert np.allclose(robot.difference(q, robot.integrate(q, v)), v, atol=1e-12)
    other = robot.random(rng)
    back = robot.integrate(q, robot.difference(q, other))
    for joint in robot.joints:
        if joint.type == "floating":  # q and -q are one rotation
            part = slice(joint.iq + 3, joint.iq + 7)
            back[part] *= np.sign(back[part] @ other[part])
    assert np.allclose(back, other, atol=1e-10)
    assert np.allclose(robot.q_to_pinocchio(robot.q_from_pinocchio(robot.q_to_pinocchio(q))), robot.q_to_pinocchio(q), atol=1e-15)


@settings(SLOW, max_examples=15)
@given(small_trees, bases, st.integers(0, 10**6))
def test_forward_dynamics_undoes_inverse_dynamics(text: str, base: str, seed: int) -> None:
    robot = ug.load(text, base)
    assume(robot.nv > 0)
    rng = np.random.default_rng(seed)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    tau = ug.inverse_dynamics(robot, q, v, a, method="explicit")
    # the other formulation on the way back, so that a common mistake of one of them cannot cancel
    condition = float(np.linalg.cond(ug.mass_matrix(robot, q)))
    assert np.allclose(ug.forward_dynamics(robot, q, v, tau, method="gibbs_appell"), a, atol=1e-13 * max(condition, 1e3))
