"""Derivatives by complex steps: a formulation over complex numbers, with an imaginary part so small that its square vanishes."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs import Robot
from urdf_gibbs.dynamics.scalar import cos, sin
from urdf_gibbs.robot.manifold import rates

Array = NDArray[np.float64]
STEP = 1e-50

sin.register(complex, cmath.sin)
cos.register(complex, cmath.cos)


def complex_tangent(robot: Robot, function: Callable[..., Any], q: Array, dq: Array, *others: tuple[Array, Array]) -> Array:
    """The change of ``function(q, ...)`` along dq in tangent space; ``others``: further arguments, each with its change."""
    pairs = [(q, rates(robot.joints, q, dq)), *others]
    arguments = [[complex(x, STEP * dx) for x, dx in zip(value, change, strict=True)] for value, change in pairs]
    return np.imag(np.array(function(*arguments), dtype=complex)) / STEP
