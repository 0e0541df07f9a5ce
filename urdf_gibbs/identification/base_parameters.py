"""Base parameters: the combinations of inertial parameters that forces depend on, found from the regressor's columns.

Some columns of Y vanish (a joint about a fixed vertical axis does not see its link's mass), others depend linearly on columns before them
(the mass of a link acts like first and second moments of its parent). With W the regressors of random states stacked, an independent column
is kept, and W_dependent = W_independent B. Then tau = W_independent beta with the base parameters beta = K pi = pi_independent +
B pi_dependent. Columns are taken body by body from the root, so that parameters are added to those of a parent, as Gautier and Khalil do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import Array, triple
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.functions.regressors import torque_regressor
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

LETTERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
DEPENDENT = 1e-8  # of a column's length: what is left of a dependent one is round-off, of an independent one far more
CHUNK_ROWS = 20_000  # of a stacked regressor at a time


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The base parameters of a robot: ``values = K @ robot.parameters.ravel()``.

    Attributes:
        robot: The robot.
        gravity: (3,) under which they are these [m/s^2]: without gravity, fewer may matter.
        independent: Which of the 10 nb parameters represent them, (count,) indices into ``robot.parameters.ravel()``.
        K: (count, 10 nb); tau = Y[:, independent] K pi.
    """

    robot: Robot
    gravity: tuple[float, float, float]
    independent: NDArray[np.intp] = field(repr=False)
    K: Array = field(repr=False)

    def __len__(self) -> int:
        return len(self.independent)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """All 10 nb parameters as link.letter: m, mx, my, mz (mass times centre of mass), Ixx ... Izz about the link frame's origin."""
        return tuple(f"{joint.child}.{letter}" for joint in self.robot.joints for letter in LETTERS)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each base parameter as a sum, such as "arm.mx + 0.32 hand.m"; lengths are in metres."""
        return tuple(combination(row, self.parameter_names, first) for row, first in zip(self.K, self.independent, strict=True))

    @cached_property
    def without_effect(self) -> tuple[str, ...]:
        """The parameters that no force depends on."""
        return tuple(name for name, used in zip(self.parameter_names, np.abs(self.K).sum(axis=0), strict=True) if not used)

    @cached_property
    def values(self) -> Array:
        """(count,) of the robot as it is."""
        return np.asarray(self.K @ self.robot.parameters.ravel())


def base_parameters(robot: Robot, *, gravity: ArrayLike = EARTH_GRAVITY) -> BaseParameters:
    """The combinations of inertial parameters that the joint forces of a robot depend on.

    Args:
        robot: Made by ``load``; its links are rigid.
        gravity: (3,) in the world [m/s^2].

    Returns:
        The base parameters, with their names.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the robot has elastic links or no joint that moves.
    """
    check_robot(robot)
    g = triple(gravity, "gravity")
    if not robot.nv:
        raise ArgumentError(f"{robot.name or 'the robot'} has no joint that moves, expected one whose forces depend on its parameters")
    R = _triangle_of_random_states(robot, g)
    lengths = np.linalg.norm(R, axis=0)
    seen = lengths > DEPENDENT * lengths.max(initial=0.0)
    directions = np.empty((0, len(R)))
    independent = []
    for column in np.flatnonzero(seen):
        rest = R[:, column] / lengths[column]
        for _ in range(2):  # twice is enough (Kahan), or the round-off of nearly dependent columns would stay
            rest = rest - directions.T @ (directions @ rest)
        size = float(np.linalg.norm(rest))
        if size > DEPENDENT:
            independent.append(column)
            directions = np.vstack([directions, rest / size])
    kept = np.array(independent, dtype=np.intp)
    K = np.asarray(np.linalg.lstsq(R[:, kept], R, rcond=None)[0], dtype=np.float64)
    K[:, ~seen] = 0.0
    K[:, kept] = np.eye(len(kept))
    K[np.abs(K) < 1e-9] = 0.0  # round-off: lengths and their products are far larger
    return BaseParameters(robot, g, kept, K)


def _triangle_of_random_states(robot: Robot, gravity: tuple[float, float, float]) -> Array:
    """R of the QR decomposition of the regressors of random states; of angles all values are taken, whatever the limits."""
    rng = np.random.default_rng(0)
    width = robot.parameters.size
    count = 3 * width // robot.nv + 20
    q = robot.random(rng, count)
    for joint in robot.joints:
        if joint.nq == 1 and not joint.is_mimic:
            q[:, joint.iq] = rng.uniform(-np.pi, np.pi, count) if joint.type != "prismatic" else rng.uniform(-1.0, 1.0, count)
    v, a = 3.0 * rng.standard_normal((2, count, robot.nv))
    R = np.empty((0, width))
    step = max(1, CHUNK_ROWS // robot.nv)
    for start in range(0, count, step):
        part = np.s_[start : start + step]
        Y = torque_regressor(robot, q[part], v[part], a[part], gravity=gravity)
        R = upper_triangle(np.vstack([R, Y.reshape(-1, width)]))
    return R


def upper_triangle(rows: Array) -> Array:
    """R of the QR decomposition."""
    R: Array = np.linalg.qr(rows, mode="r")  # type: ignore[assignment]
    return R


def combination(weights: Array, names: tuple[str, ...], first: int | None = None, least: float = 0.0) -> str:
    """A sum of names with weights, ``first`` before the others; without those whose weight is at most ``least``."""
    order = [i for i in np.flatnonzero(np.abs(weights) > least) if i != first]
    text = "" if first is None else names[first]
    for i in order:
        size = f"{abs(weights[i]):.4g} "
        sign = ("-" if weights[i] < 0.0 else "") if not text else (" - " if weights[i] < 0.0 else " + ")
        text += f"{sign}{'' if size == '1 ' else size}{names[i]}"
    return text
