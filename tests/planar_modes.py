"""Whether a contact problem in a plane has a solution, by all modes one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROUNDING = 1e-9  # of the largest number of a problem whose numbers are of order one


def of_mode(K: Array, b: Array, mu: Array, i: int, mode: str | float) -> tuple[list[Array], list[float], list[Array], list[float]]:
    """What contact i asks for: A p = c, and D p <= e.

    Open: p = 0, uₙ >= 0. Stick: u = 0, |pₜ| <= μ pₙ. Slip to either side: uₙ = 0, pₜ = -+ μ pₙ.
    """
    n, t = 2 * i, 2 * i + 1
    unit = np.eye(len(b))
    if mode == "open":
        return [unit[n], unit[t]], [0.0, 0.0], [-K[n]], [b[n]]
    if mode == "stick":
        return [K[n], K[t]], [-b[n], -b[t]], [unit[t] - mu[i] * unit[n], -unit[t] - mu[i] * unit[n]], [0.0, 0.0]
    sign = float(mode)
    return [K[n], unit[t] + sign * mu[i] * unit[n]], [-b[n], 0.0], [-unit[n], -sign * K[t]], [0.0, sign * b[t]]


def has_solution(A: Array, c: Array, D: Array, e: Array) -> bool:
    """Whether some p has A p = c and D p <= e: what the equations determine is looked at, what they leave free is a linear program's."""
    p, _, rank, _ = np.linalg.lstsq(A, c, rcond=1e-12)
    size = max(1.0, float(np.abs(p).max()))
    if np.abs(A @ p - c).max() > ROUNDING * size:
        return False
    if rank == len(p):
        return bool((D @ p - e).max() <= ROUNDING * size)
    optimize = pytest.importorskip("scipy.optimize")
    return bool(optimize.linprog(np.zeros(len(p)), D, e, A, c, (None, None)).status == 0)


def by_modes(K: Array, b: Array, mu: Array) -> bool:
    """Whether a problem in a plane (rows normal and one tangent; the second never moves) has a solution: all modes, one by one."""
    plane = np.flatnonzero(np.arange(len(b)) % 3 != 2)
    K, b = K[np.ix_(plane, plane)], b[plane]
    for modes in itertools.product(("open", "stick", 1.0, -1.0), repeat=len(mu)):
        parts = [of_mode(K, b, mu, i, mode) for i, mode in enumerate(modes)]
        A, c, D, e = (np.array([row for part in parts for row in part[which]]) for which in range(4))
        if has_solution(A, c, D, e):
            return True
    return False
