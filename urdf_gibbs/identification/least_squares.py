"""Weighted least squares for base parameters: the data are read in chunks and kept as one triangle.

With rows scaled by the square roots of their weights, QR of [W, tau] gives R and z with |W x - tau|^2 = |R x - z|^2 + rest: everything
about the estimate follows from this triangle, however many states there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.functions.regressors import torque_regressor
from urdf_gibbs.identification.base_parameters import CHUNK_ROWS, BaseParameters, upper_triangle

UNEXCITED = 1e-8  # of the largest singular value: the data say nothing about a combination below


@dataclass(frozen=True, slots=True)
class Data:
    """Measured states and forces: Q (n, nq), V, A and tau (n, nv); ``friction``: whether each force has two columns of its own."""

    Q: Array
    V: Array
    A: Array
    tau: Array
    friction: bool

    def __len__(self) -> int:
        return len(self.Q)

    @property
    def nv(self) -> int:
        return int(self.V.shape[1])


@dataclass(frozen=True, slots=True)
class Triangle:
    """R (columns x columns) and z of a stacked system of ``rows`` equations, and the sum of squares that no estimate can remove."""

    R: Array
    z: Array
    rest: float
    rows: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """x, its standard deviations (infinite where the data say nothing), the singular values, and the directions left free (k, columns)."""

    x: Array
    deviations: Array
    singular: Array
    free: Array

    @property
    def condition(self) -> float:
        """Of the combinations that the data tell something about."""
        told = self.singular[: len(self.singular) - len(self.free)]
        return float(told[0] / told[-1]) if len(told) else np.inf


def columns(base: BaseParameters, Q: Array, V: Array, A: Array, friction: bool) -> Array:
    """W (n, nv, count): the regressor's independent columns, and those of viscous and Coulomb friction of each velocity."""
    W = torque_regressor(base.robot, Q, V, A, gravity=base.gravity)[..., base.independent]
    if not friction:
        return W
    unit = np.eye(V.shape[-1])
    return np.concatenate([W, V[..., None] * unit, np.sign(V)[..., None] * unit], axis=-1)


def chunks(base: BaseParameters, data: Data) -> Iterator[tuple[slice, Array]]:
    """Parts of the data, and W of them."""
    step = max(1, CHUNK_ROWS // data.nv)
    for start in range(0, len(data), step):
        part = np.s_[start : start + step]
        yield part, columns(base, data.Q[part], data.V[part], data.A[part], data.friction)


def triangle(base: BaseParameters, data: Data, weights: Array) -> Triangle:
    """The data with weights (n, nv)."""
    count = len(base) + (2 * data.nv if data.friction else 0)
    R = np.zeros((0, count + 1))
    for part, W in chunks(base, data):
        root = np.sqrt(weights[part])
        rows = np.concatenate([root[..., None] * W, (root * data.tau[part])[..., None]], axis=-1)
        R = upper_triangle(np.vstack([R, rows.reshape(-1, count + 1)]))
    square = np.zeros((count + 1, count + 1))
    square[: len(R)] = R
    return Triangle(square[:count, :count], square[:count, count], float(square[count, count] ** 2), int(np.count_nonzero(weights)))


def solve(system: Triangle, start: Array, sizes: Array) -> Estimate:
    """The estimate that fits best and, among those, is nearest to ``start``, distances measured in ``sizes``."""
    U, singular, Vt = np.linalg.svd(system.R * sizes)
    told = singular > UNEXCITED * singular[0]
    step = (U.T @ (system.z - system.R @ start))[told] / singular[told]
    x = start + sizes * (Vt[told].T @ step)
    variance = (float(np.sum((system.R @ x - system.z) ** 2)) + system.rest) / max(1, system.rows - int(told.sum()))
    deviations = sizes * np.sqrt(variance * np.sum((Vt[told] / singular[told, None]) ** 2, axis=0))
    free = Vt[~told]
    deviations[np.sum(free**2, axis=0) > UNEXCITED] = np.inf
    return Estimate(x, deviations, singular, free)


def residuals(base: BaseParameters, data: Data, x: Array) -> Array:
    """tau - W x (n, nv)."""
    result = data.tau.copy()
    for part, W in chunks(base, data):
        result[part] -= W @ x
    return result
