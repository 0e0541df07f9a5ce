"""The states of a comparison, and how far two answers are apart.

The error of a quantity is max|difference| over the array, divided by max|reference| (at least 1e-12). A difference
within round-off of the quantity's own scale (forces: those of a random acceleration; potential energy: m g times a
length) counts with that scale instead: the gravity torque of a vertical axis is 1e-17 here and 0 there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.oracle.report import Comparison
from urdf_gibbs.robot.model import Robot

TOLERANCE = 1e-9
FLOOR = 1e-12
ROUND_OFF = 1e-14  # a few dozen additions of numbers of the size of the scale
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class States:
    """Random states: q (n, nq), v, a and tau (n, nv)."""

    q: Array
    v: Array
    a: Array
    tau: Array


def random_states(robot: Robot, samples: int, seed: int) -> States:
    rng = np.random.default_rng(seed)
    q = robot.random(rng, samples)
    v, a, tau = rng.normal(size=(3, samples, robot.nv))
    return States(q, v, a, 10.0 * tau)


def allowed_by_condition(condition: float) -> float:
    """The relative error that round-off makes in a solution of M x = b."""
    return 100.0 * EPS * condition


def compared(method: str, quantity: str, ours: Array, reference: Sequence[Any] | Array, scales: Array) -> Comparison:
    """Ours (n, ...) beside the reference's n answers; ``scales`` (n,) are the quantity's own."""
    result = Comparison(method, quantity)
    for i, expected in enumerate(reference):
        difference = float(np.max(np.abs(ours[i] - expected), initial=0.0))
        size = max(float(np.max(np.abs(expected), initial=0.0)), FLOOR)
        if difference <= ROUND_OFF * scales[i]:
            size = max(size, float(scales[i]))
        error = difference / size if np.isfinite(difference) else np.inf
        result.errors.append(error)
        if error > result.error:
            result.error, result.state = error, i
    result.agrees = result.error <= TOLERANCE
    return result
