"""The states of a comparison, and how far two answers are apart.

What is asked of an error is 1e-9, and of solutions with M what round-off makes of them at its condition, where that is more.

The error of a quantity is max|difference| over the array, divided by max|reference| (at least 1e-12). A difference
within round-off of the quantity's own scale (forces: those of a random acceleration; accelerations: that one; potential energy: m g
times a length) counts with that scale instead: the gravity torque of a vertical axis is 1e-17 here and 0 there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.oracle.report import TOLERANCE, Comparison
from urdf_gibbs.robot.model import Robot

FLOOR = 1e-12
ROUND_OFF = 1e-14  # a few dozen additions of numbers of the size of the scale
NO_DIGIT = 0.1  # a bound of a solution that says nothing of it: cond M is above 4e12
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


def solution_bound(condition: float) -> float:
    """What is asked of the relative error of a solution of M x = b: 1e-9, or what round-off makes of it at M's condition."""
    return max(TOLERANCE, 100.0 * EPS * condition)


def judged(
    method: str, quantity: str, errors: Sequence[float], bounds: Sequence[float] | float = TOLERANCE, remark: str = ""
) -> Comparison:
    """The outcome for errors (n,), NaN where there is nothing to compare, beside what was asked at each state."""
    result = Comparison(method, quantity, remark=remark, errors=[float(error) for error in errors])
    limits = np.broadcast_to(bounds, len(errors))
    ratios = np.where(np.isnan(result.errors), -1.0, np.asarray(result.errors) / limits)
    if len(ratios) and ratios.max() >= 0.0:
        result.state = int(np.argmax(ratios))
        result.error, result.bound = result.errors[result.state], float(limits[result.state])
        result.agrees = result.error <= result.bound
    return result


def compared(method: str, quantity: str, ours: Array, reference: Sequence[Any] | Array, scales: Array) -> Comparison:
    """Ours (n, ...) beside the reference's n answers; ``scales`` (n,) are the quantity's own."""
    errors: list[float] = []
    for i, expected in enumerate(reference):
        if not np.isfinite(expected).all():
            errors.append(np.nan)
            continue
        difference = float(np.max(np.abs(ours[i] - expected), initial=0.0))
        size = max(float(np.max(np.abs(expected), initial=0.0)), FLOOR)
        if difference <= ROUND_OFF * scales[i]:
            size = max(size, float(scales[i]))
        errors.append(difference / size if np.isfinite(difference) else np.inf)
    missing = int(np.isnan(errors).sum())
    remark = f"{quantity}: the reference's overflows at {missing} of {len(errors)} states, which are not compared" if missing else ""
    return judged(method, quantity, errors, remark=remark)
