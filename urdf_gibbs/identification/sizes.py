"""What is large and what is small: natural sizes of the inertial parameters of a robot, in which estimates are compared with its own."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.arguments import Array

SMALLEST = 1e-2  # of the mean mass and of the mean length: sizes of smaller bodies
NOTHING = 1e-9  # of the mean: a body with less has no size of its own, and the mean stands for it


def natural_sizes(parameters: Array) -> tuple[Array, Array]:
    """Masses (nb,) and lengths (nb,) of bodies with these parameters (nb, 10): from mass, and from the second moments about the origin."""
    mass = np.abs(parameters[:, 0])
    spread = np.abs(parameters[:, [4, 6, 9]]).sum(axis=1) / 2.0  # tr I / 2 = integral of r . r dm
    length = np.sqrt(spread / np.where(mass > 0.0, mass, 1.0)) * (mass > 0.0)
    return _filled(mass), _filled(length)


def _filled(sizes: Array) -> Array:
    mean = float(sizes[sizes > 0.0].mean()) if sizes.any() else 1.0
    return np.where(sizes > NOTHING * mean, np.maximum(sizes, SMALLEST * mean), mean)


def parameter_sizes(parameters: Array) -> Array:
    """(nb, 10): m, m L and m L^2 of each body."""
    mass, length = natural_sizes(parameters)
    return np.asarray(mass[:, None] * length[:, None] ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2]))
