"""Coulomb's law written once more, for contacts of three rows: what impulses lack of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def lacks(K: Array, b: Array, mu: Array, p: Array) -> float:
    """Of velocities K p + b in units of the largest of b, of impulses in those of the largest, of their products in those of both."""
    u = K @ p + b
    slip, friction = np.hypot(u[1::3], u[2::3]), np.hypot(p[1::3], p[2::3])
    U, P = np.abs(b).max(), np.abs(p).max()
    power = p[1::3] * u[1::3] + p[2::3] * u[2::3] + mu * p[::3] * slip
    worst = (-u[::3] / U, -p[::3] / P, np.abs(p[::3] * u[::3]) / (U * P), (friction - mu * p[::3]) / P, np.abs(power) / (U * P))
    return float(np.max(worst))
