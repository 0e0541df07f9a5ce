"""Products with the derivatives of inverse and forward dynamics: against Pinocchio, and against differences for elastic links."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from derivative_oracle import forward_derivatives, inverse_derivatives, oracle_of
from examples import FOLDER
from numpy.typing import NDArray
from random_trees import random_tree
from urdf_text import inertial, joint, link
from urdf_text import robot as robot_text

import urdf_gibbs as ug
from urdf_gibbs.engine import quantities
from urdf_gibbs.engine.quantities import Options, compute

pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
BASES = ("fixed", "floating", "planar")
AGREEMENT = 1e-12  # of the largest entry: some thousand roundings of 1e-16
CONDITION = 1e-15  # times the condition of M: what the solution of a linear system loses, here and in Pinocchio


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URDF_GIBBS_CACHE", "")
        yield


def expected_products(source: object, robot: ug.Robot, base: str, inputs: dict[str, Array]) -> dict[str, tuple[list[Array], Array, float]]:
    """By quantity: arguments, Pinocchio's answer, and the error that is allowed."""
    oracle = oracle_of(source, base)
    q, v, a, tau, dq, dv, third, w = inputs.values()
    inverse = inverse_derivatives(oracle, q, v, a)
    forward = forward_derivatives(oracle, q, v, tau, ug.forward_dynamics(robot, q, v, tau))
    scale = np.sqrt(np.diag(inverse.third))
    condition = CONDITION * float(np.linalg.cond(inverse.third / np.outer(scale, scale)))
    answers = {
        "inverse_dynamics_jvp": ([q, v, a, dq, dv, third], inverse.along(dq, dv, third), 0.0),
        "inverse_dynamics_vjp": ([q, v, a, w], inverse.weighted(w), 0.0),
        "forward_dynamics_jvp": ([q, v, tau, dq, dv, third], forward.along(dq, dv, third), condition),
        "forward_dynamics_vjp": ([q, v, tau, w], forward.weighted(w), condition),
    }
    weight = 9.81 * float(robot.mass.sum())
    return {
        name: (arguments, answer, (AGREEMENT + slack) * (float(np.max(np.abs(answer))) + weight * ("inverse" in name)))
        for name, (arguments, answer, slack) in answers.items()
    }


def random_inputs(robot: ug.Robot, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {"q": robot.random(rng), **dict(zip(("v", "a", "tau", "dq", "dv", "third", "w"), rng.normal(size=(7, robot.nv)), strict=True))}


@pytest.mark.parametrize("seed", range(36))
def test_products_on_random_trees_are_pinocchios(seed: int) -> None:
    """In plain Python, all joint types and bases; every second tree with mimic joints."""
    base, text = BASES[seed % 3], random_tree(seed, 1 + seed // 6 % 9, mimic=0.3 if seed % 2 else 0.0)
    check_plain_products(text, base, seed)


@pytest.mark.parametrize(
    ("file", "base"), [("solo_description/robots/solo12.urdf", "floating"), ("talos_data/robots/talos_reduced.urdf", "floating")]
)
def test_products_of_example_robots_are_pinocchios(file: str, base: str) -> None:
    check_plain_products(FOLDER / file, base, 1)


def check_plain_products(source: Any, base: str, seed: int) -> None:
    robot = ug.load(source, base)
    if not robot.nv:
        return
    for name, (arguments, answer, allowed) in expected_products(source, robot, base, random_inputs(robot, seed)).items():
        found = np.reshape(compute(robot, name, Options(), *(x.tolist() for x in arguments)), answer.shape)
        assert np.max(np.abs(found - answer)) <= allowed, (name, np.max(np.abs(found - answer)), allowed)


@pytest.mark.parametrize(("source", "base"), [(FOLDER / "panda_description/urdf/panda.urdf", "fixed"), (random_tree(3, 3), "floating")])
def test_machine_code_of_products_is_pinocchios(source: Any, base: str) -> None:
    """One state, a batch, ``out=`` and gravity as an input."""
    robot = ug.load(source, base)
    for name, (arguments, answer, allowed) in expected_products(source, robot, base, random_inputs(robot, 1)).items():
        kernel, out = robot.kernel(name), np.empty(answer.shape)
        assert kernel(*arguments, out=out) is out and np.max(np.abs(out - answer)) <= allowed, name
        batch = kernel(*(np.repeat(x[None], 300, axis=0) for x in arguments))
        assert batch.shape == (300, *answer.shape) and np.max(np.abs(batch - answer)) <= allowed, name
        free = robot.kernel(name, gravity=None)(*arguments, np.array([0.0, 0.0, -9.81]))
        assert np.max(np.abs(free - answer)) <= allowed, name


def test_functions_are_the_kernels_under_any_gravity() -> None:
    """One state and a batch, with and without ``out=``; the parts of a VJP by name."""
    robot, same = ug.load(ug.model_path("planar3r")), partial(np.testing.assert_allclose, rtol=0.0, atol=1e-12)
    q, v, a, tau, dq, dv, third, w = (np.stack([x, x]) for x in random_inputs(robot, 4).values())
    for options in ({}, {"gravity": (1.0, 2.0, 3.0)}):
        kernels = {name: robot.kernel(name, **options) for name in quantities.PRODUCTS}
        found = ug.inverse_dynamics_jvp(robot, q, v, a, dq, dv, third, **options)
        same(found, kernels["inverse_dynamics_jvp"](q, v, a, dq, dv, third))
        found = ug.forward_dynamics_jvp(robot, q, v, tau, dq, dv, third, **options, out=np.empty((2, robot.nv)))
        same(found, kernels["forward_dynamics_jvp"](q, v, tau, dq, dv, third))
        inverse = ug.inverse_dynamics_vjp(robot, q, v, a, w, **options)
        same(np.stack(inverse, axis=1), kernels["inverse_dynamics_vjp"](q, v, a, w))
        assert inverse.a is inverse[2] and inverse.q.shape == (2, robot.nv)
        out = np.empty((3, robot.nv))
        forward = ug.forward_dynamics_vjp(robot, q[0], v[0], tau[0], w[0], **options, out=out)
        same(out, kernels["forward_dynamics_vjp"](q[0], v[0], tau[0], w[0]))
        same(forward.tau, out[2])
    assert not np.allclose(ug.inverse_dynamics_vjp(robot, q, v, a, w).q, inverse.q)


def test_large_robots_are_composed_of_other_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where straight-line code would be too long: rigid with and without mimic joints."""
    monkeypatch.setitem(quantities.STRAIGHT, "forward_dynamics_jvp", 0)
    monkeypatch.setitem(quantities.STRAIGHT, "forward_dynamics_vjp", 0)
    for seed, mimic in ((5, 0.0), (8, 0.5)):
        base, text = "floating", random_tree(seed, 6, mimic=mimic)
        robot = ug.load(text, base)
        for name, (arguments, answer, allowed) in expected_products(text, robot, base, random_inputs(robot, seed)).items():
            kernel = robot.kernel(name)
            batch = kernel(*(np.stack([x, x]) for x in arguments))
            assert np.max(np.abs(batch - answer)) <= 10.0 * allowed, name  # three solutions one after the other


def two_masses(second: float) -> str:
    """A link behind another, of this inertia about its axis."""
    heavy, light = inertial(1.0, (0, 0, 0), (0, 0, 0), (1.0, 1.0, 1.0)), inertial(second, (0, 0, 0), (0, 0, 0), (second, second, second))
    parts = (link("a", ""), link("b", heavy), link("c", light))
    return robot_text(*parts, joint("j", "continuous", "a", "b", axis=(0, 0, 1)), joint("k", "continuous", "b", "c", axis=(0, 0, 1)))


@pytest.mark.parametrize(("name", "count"), [("forward_dynamics_jvp", 6), ("forward_dynamics_vjp", 4)])
def test_a_singular_mass_matrix_is_reported_and_a_bad_one_solved(name: str, count: int) -> None:
    singular = ug.load(two_masses(0.0)).kernel(name)
    with pytest.raises(ug.SingularMassMatrixError, match="moving k meets no inertia") as caught:
        singular(*[np.ones(2)] * count)
    assert caught.value.states == ()
    with pytest.raises(ug.SingularMassMatrixError) as caught:
        singular(*[np.ones((3, 2))] * count)
    assert caught.value.states == (0, 1, 2)
    bad = ug.load(two_masses(1e-9))  # M^-1 = [[1, -1], [-1, 1 + 1e9]]
    result = bad.kernel(name)(*[np.array([0.0, 1.0])] * count)
    np.testing.assert_allclose(result if count == 6 else result[2], [-1.0, 1.0 + 1e9], rtol=1e-6)  # ten digits of M are lost
