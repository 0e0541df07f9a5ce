"""Robots for the tests of JAX and PyTorch, one of each kind of coordinates, with states; and differences along q (+) delta."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from elastic_arm import arm
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug

Array = NDArray[np.float64]
STEP = 1e-5
AGREEMENT = 1e-8  # of the largest entry: the differences' truncation (STEP squared) and round-off (1e-16 / STEP), with some room

ROBOTS = ("chain", "floating", "planar", "mimic", "elastic")
# name: the arguments after q
FUNCTIONS = {
    "mass_matrix": 0,
    "bias": 1,
    "gravity_force": 0,
    "inverse_dynamics": 2,
    "forward_dynamics": 2,
    "jacobian": 0,
    "frame_placement": 0,
}


@cache
def robot_of(name: str) -> ug.Robot:
    if name == "elastic":
        return ug.load(arm())
    one = ("revolute", "prismatic")
    return {
        "chain": lambda: ug.load(random_tree(3, 3, one, branching=1)),
        "floating": lambda: ug.load(random_tree(4, 2, one), base="floating"),
        "planar": lambda: ug.load(random_tree(5, 2, one), base="planar"),
        "mimic": lambda: ug.load(random_tree(6, 4, one, mimic=0.6)),
    }[name]()


def state_of(robot: ug.Robot, others: int, batch: tuple[int, ...] = ()) -> list[Array]:
    rng = np.random.default_rng(7)
    return [robot.random(rng, batch), *(rng.normal(size=(*batch, robot.nv)) for _ in range(others))]


def call(library: Any, name: str, robot: ug.Robot) -> Callable[..., Any]:
    """The function of (q, ...) in a library, with names alike in all of them."""
    frame = (robot.links[-1].name,) if name in ("jacobian", "frame_placement") else ()
    return lambda *state: getattr(library, name)(robot, *state, *frame)


def difference(robot: ug.Robot, function: Callable[..., Any], state: list[Array], changes: list[Array]) -> Array:
    """The change of a function over NumPy along changes of its arguments, that of q in tangent space."""

    def at(step: float) -> Array:
        q = robot.integrate(state[0], step * changes[0])
        return np.asarray(function(q, *(x + step * dx for x, dx in zip(state[1:], changes[1:], strict=True))))

    return (at(STEP) - at(-STEP)) / (2.0 * STEP)


def coordinate_change(robot: ug.Robot, q: Array, delta: Array) -> Array:
    """The entries of dq (nq) along delta (nv), by differences."""
    return np.asarray((robot.integrate(q, STEP * delta) - robot.integrate(q, -STEP * delta)) / (2.0 * STEP))
