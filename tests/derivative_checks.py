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


ROUND_OFF = 1e-12  # of the largest entry of all three: below it a matrix is zeros that the oracle does not recognise


def worst(found: Array, expected: Derivatives) -> float:
    """The largest error of the stack (3, nv, nv), each matrix by its own largest entry; one of round-off alone by that of all three."""
    errors = [0.0]
    matrices = (expected.q, expected.v, expected.third)
    largest = max(float(np.max(np.abs(matrix), initial=0.0)) for matrix in matrices)
    for one, other in zip(found, matrices, strict=True):
        error, size = float(np.max(np.abs(one - other), initial=0.0)), float(np.max(np.abs(other), initial=0.0))
        size = largest if size <= ROUND_OFF * largest else size
        if error != 0.0:  # not a number is an error too
            errors.append(error / size if size else np.inf)
    return float(np.max(errors))
