"""Products with the derivatives of inverse and forward dynamics: against Pinocchio, and against differences for elastic links."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from derivative_oracle import forward_derivatives, inverse_derivatives, oracle_of
from examples import FOLDER
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
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
    robot = ug.load(text, base)
    if not robot.nv:
        return
    for name, (arguments, answer, allowed) in expected_products(text, robot, base, random_inputs(robot, seed)).items():
        found = np.reshape(compute(robot, name, Options(), *(x.tolist() for x in arguments)), answer.shape)
        assert np.max(np.abs(found - answer)) <= allowed, (name, np.max(np.abs(found - answer)), allowed)


FILES = (("panda_description/urdf/panda.urdf", "fixed"), ("solo_description/robots/solo12.urdf", "floating"))


@pytest.mark.parametrize(("file", "base"), FILES)
def test_machine_code_of_products_is_pinocchios(file: str, base: str) -> None:
    """One state, a batch, ``out=`` and gravity as an input."""
    robot = ug.load(FOLDER / file, base)
    for name, (arguments, answer, allowed) in expected_products(FOLDER / file, robot, base, random_inputs(robot, 1)).items():
        kernel, out = robot.kernel(name), np.empty(answer.shape)
        assert kernel(*arguments, out=out) is out and np.max(np.abs(out - answer)) <= allowed, name
        batch = kernel(*(np.repeat(x[None], 300, axis=0) for x in arguments))
        assert batch.shape == (300, *answer.shape) and np.max(np.abs(batch - answer)) <= allowed, name
        free = robot.kernel(name, gravity=None)(*arguments, np.array([0.0, 0.0, -9.81]))
        assert np.max(np.abs(free - answer)) <= allowed, name
