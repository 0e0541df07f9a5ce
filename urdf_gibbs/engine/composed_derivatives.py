"""Derivatives of forward dynamics from other kernels: for large robots, and for states near a singular one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.dynamics.evaluate import CHUNK
from urdf_gibbs.engine.derivative_quantities import FORWARD, FORWARD_PACKED, INVERSE, entries_of
from urdf_gibbs.engine.quantity import Options
from urdf_gibbs.errors import SingularMassMatrixError
from urdf_gibbs.robot.model import Robot

Kernels = Callable[[str, Options], Callable[..., Array]]  # the kernel of a quantity of the robot
Answer = tuple[Array, SingularMassMatrixError | None]  # NaN in singular states, and their error
MATRICES = (FORWARD, FORWARD_PACKED)
NUMBERS = 4_000_000  # of matrices that are kept at a time: 32 MB, and some times as much in between


def matrices_at_once(robot: Robot) -> int:
    """States whose matrices are made together."""
    return max(1, min(CHUNK, NUMBERS // max(1, 3 * robot.nv**2)))


def forward_matrices(robot: Robot, name: str, options: Options, kernels: Kernels, flat: list[Array]) -> Answer:
    """-M^-1 dID/dq, -M^-1 dID/dv, M^-1 (rows, size) by LU, at the accelerations that forward dynamics finds with pivoting."""
    q, v, tau, *extra = flat  # extra: inertial parameters or gravity, if they are inputs
    a, error = answer_of(kernels("forward_dynamics", options), q, v, tau, *extra)
    found = kernels(INVERSE, options)(q, v, a, *extra)
    regular = np.isfinite(a).all(axis=1)
    result = np.full_like(found, np.nan)
    M = found[regular, 2]
    size = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))  # scaled, so that it does not depend on units
    size[size == 0.0] = 1.0
    inverse = np.linalg.inv(M / (size[:, :, None] * size[:, None, :])) / (size[:, :, None] * size[:, None, :])
    inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    result[regular, 0], result[regular, 1] = -inverse @ found[regular, 0], -inverse @ found[regular, 1]
    result[regular, 2] = inverse
    if name == FORWARD_PACKED:
        rows, columns = entries_of(robot, FORWARD)
        result = result[:, :, rows, columns]
    return result.reshape(len(q), -1), error


def answer_of(kernel: Callable[..., Array], *inputs: Array) -> Answer:
    """A kernel's result (rows, nv), and the error of its singular states."""
    out = np.empty_like(inputs[1])
    try:
        return kernel(*inputs, out), None
    except SingularMassMatrixError as error:
        return out, error
