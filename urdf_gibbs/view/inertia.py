"""Shapes for inertias: the uniform ellipsoid and the uniform box of the same mass and moments, and whether such a body exists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.spatial import Inertia

Array = NDArray[np.float64]

SLACK = 1e-6  # of the largest moment: files have about six digits
THIN = 1e-3  # of the largest half-axis: what is drawn for one that is zero or imaginary


@dataclass(frozen=True, eq=False)
class Equivalent:
    """A body's ellipsoid and box: ``axes`` (3, 3) with the principal directions as columns, ``moments`` (3,) about them [kg m²],
    ``semi`` (3,) half-axes of the ellipsoid and ``edges`` (3,) of the box [m]. ``problem`` says why no such body can exist, "" where
    it can."""

    axes: Array
    moments: Array
    semi: Array
    edges: Array
    problem: str


def equivalent(body: Inertia) -> Equivalent | None:
    """The equivalent bodies of an inertia; None where there is nothing to draw (neither mass nor moments).

    With principal moments I, the second moments of the mass are s_i = (I_j + I_k - I_i)/2: m a_i^2/5 for an ellipsoid of
    half-axes a, m e_i^2/12 for a box of edges e. A negative one belongs to no body.
    """
    tensor = np.reshape(body.inertia, (3, 3))
    moments, axes = np.linalg.eigh(0.5 * tensor + 0.5 * tensor.T)
    if body.mass == 0.0 and not moments.any():
        return None
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    second = 0.5 * moments.sum() - moments
    slack = SLACK * float(np.max(np.abs(moments)))
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    problem = ""
    if body.mass <= 0.0:
        problem = f"moments {shown} kg m² with mass {body.mass:g} kg"
    elif moments[0] < -slack:
        problem = f"a negative principal moment: {shown} kg m²"
    elif second.min() < -slack:
        problem = f"a principal moment above the sum of the other two: {shown} kg m²"
    mass = body.mass if body.mass > 0.0 else 1.0
    size = np.sqrt(np.maximum(second, 0.0) / mass)
    size = np.maximum(size, THIN * max(float(size.max()), 1e-9))
    return Equivalent(axes, moments, np.sqrt(5.0) * size, np.sqrt(12.0) * size, problem)
