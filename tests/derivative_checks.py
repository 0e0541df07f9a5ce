"""What the tests of derivatives share: random states, and the comparison of matrices."""

from __future__ import annotations

import numpy as np
from derivative_oracle import Derivatives
from numpy.typing import NDArray

import urdf_gibbs as ug

Array = NDArray[np.float64]


def random_state(robot: ug.Robot, seed: int = 0) -> tuple[Array, Array, Array]:
    """q, v, and accelerations or forces."""
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.normal(size=(2, robot.nv))


def worst(found: Array, expected: Derivatives) -> float:
    """The largest error of the stack (3, nv, nv), each matrix by its own largest entry."""
    errors = [0.0]
    for one, other in zip(found, (expected.q, expected.v, expected.third), strict=True):
        error, size = float(np.max(np.abs(one - other), initial=0.0)), float(np.max(np.abs(other), initial=0.0))
        if error != 0.0:  # not a number is an error too
            errors.append(error / size if size else np.inf)
    return float(np.max(errors))
