"""What a quantity is to the engine: its inputs, the shape of its result, its formulation; and the options of its kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.dynamics.references import ALIGNED
from urdf_gibbs.engine.emit import SINGULAR, Check
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import inertia_scale

SMALL = 24  # up to this many velocities the factorised mass matrix may be cheaper than elimination
# A pivot this small relative to the sum it comes from is checked again in Python. It is above the square root of the round-off, because a
# small pivot magnifies the round-off of the next one.
SUSPECT = 1e-7


@dataclass(frozen=True, slots=True)
class Options:
    """What a kernel is compiled for besides the robot."""

    gravity: tuple[float, float, float] = EARTH_GRAVITY
    frame: str = ""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    parametric: bool = False  # inertial parameters are the last input
    pairs: tuple[tuple[int, int], ...] = ()  # (row, column) of the wanted elements of M
    free_gravity: bool = False  # gravity is the last input instead of a constant
    reference: str = ALIGNED  # of a Jacobian


Traced = tuple[list[Any], list[Check]]


@dataclass(frozen=True, slots=True)
class Quantity:
    """``trace`` computes it over any scalar, from a LocalModel where ``local`` is set; ``elastic`` for robots with elastic links."""

    inputs: tuple[str, ...]
    shape: Callable[[Robot], tuple[int, ...]]
    trace: Callable[..., Traced]
    local: bool = True
    gravity: bool = False  # it depends on gravity
    elastic: Callable[..., Traced] | None = None  # None: ``trace`` is for all robots
    as_made: bool = False  # compiled in the order in which the formulation makes its outputs, not in that of the result


def square(robot: Robot) -> tuple[int, ...]:
    return (robot.nv, robot.nv)


def triangle(robot: Robot) -> tuple[int, ...]:
    return (robot.nv * (robot.nv + 1) // 2,)


def vector(robot: Robot) -> tuple[int, ...]:
    return (robot.nv,)


def pivot_checks(robot: Robot, pivots: Sequence[Any]) -> list[Check]:
    """Checks that no pivot of the mass matrix is suspiciously small."""
    scale = inertia_scale(robot, robot.neutral())
    return [Check(pivot, SUSPECT * float(size), True, SINGULAR) for pivot, size in zip(pivots, scale, strict=True)]
