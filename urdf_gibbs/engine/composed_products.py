"""Products of the derivatives of forward dynamics, composed of other kernels: for large robots, and for states near a singular one.

The other kernels solve ill-conditioned states with pivoting and report singular ones; what depends on those is NaN here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import Array
from urdf_gibbs.dynamics.evaluate import CHUNK
from urdf_gibbs.engine.quantity import Options
from urdf_gibbs.errors import SingularMassMatrixError
from urdf_gibbs.robot.model import Robot

Kernels = Callable[[str, Options], Callable[..., Array]]  # the kernel of a quantity of the robot
Answer = tuple[Array, SingularMassMatrixError | None]  # NaN in singular states, and their error
COMPOSED = ("forward_dynamics_jvp", "forward_dynamics_vjp")
WEIGHTLESS = Options((0.0, 0.0, 0.0))


def fill_product(
    robot: Robot, name: str, options: Options, kernels: Kernels, flat: list[Array], result: Array, rows: NDArray[np.intp]
) -> SingularMassMatrixError | None:
    """Fill some rows of ``result`` (rows, size) from the same rows of the inputs (rows, width); the error of those that are singular."""
    joints: dict[str, None] = {}
    states: list[int] = []
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        values, error = _product(robot, name, options, kernels, [x[part] for x in flat])
        result[part] = values
        if error is not None:
            joints |= dict.fromkeys(error.joints)
            states += [int(part[i]) for i in error.states]
    return SingularMassMatrixError(tuple(joints), states) if states else None


def _product(robot: Robot, name: str, options: Options, kernels: Kernels, flat: list[Array]) -> Answer:
    count = 6 if name == "forward_dynamics_jvp" else 4
    (q, v, tau, *rest), extra = flat[:count], flat[count:]  # extra: gravity, if it is an input
    a, error = _answer(kernels("forward_dynamics", options), q, v, tau, *extra)

    def solve(b: Array) -> Array:
        """M^-1 b: the accelerations at rest without gravity, with the strain of elastic links held."""
        still = np.zeros_like(v)
        if robot.is_flexible:
            b = b + kernels("bias", WEIGHTLESS)(q, still)
        return _answer(kernels("forward_dynamics", WEIGHTLESS), q, still, b)[0]

    if name == "forward_dynamics_jvp":
        dq, dv, dtau = rest
        change = kernels("inverse_dynamics_jvp", options)(q, v, a, dq, dv, np.zeros_like(dv), *extra)
        return solve(dtau - change), error
    y = solve(rest[0])
    found = -kernels("inverse_dynamics_vjp", options)(q, v, a, y, *extra)
    found[:, 2] = y
    return found.reshape(len(q), -1), error


def _answer(kernel: Callable[..., Array], *inputs: Array) -> Answer:
    out = np.empty_like(inputs[1])
    try:
        return kernel(*inputs, out), None
    except SingularMassMatrixError as error:
        return out, error
