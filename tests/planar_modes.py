"""Whether a contact problem in a plane has a solution, by all modes one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]


def by_modes(K: Array, b: Array, mu: Array) -> bool:
    """Whether a problem in a plane (rows normal and one tangent; the second never moves) has a solution: all modes, by linear programming.

    Open: p = 0, uₙ >= 0. Stick: u = 0, |pₜ| <= μ pₙ. Slip to either side: uₙ = 0, pₜ = -+ μ pₙ.
    """
    optimize = pytest.importorskip("scipy.optimize")
    k = len(mu)
    for modes in itertools.product(("open", "stick", 1.0, -1.0), repeat=k):
        equal, right, less, bound = [], [], [], []
        for i, mode in enumerate(modes):
            n, t = 3 * i, 3 * i + 1
            unit = np.eye(3 * k)
            equal.append(unit[t + 1])
            right.append(0.0)
            if mode == "open":
                equal += [unit[n], unit[t]]
                right += [0.0, 0.0]
                less.append(-K[n])
                bound.append(b[n])
            elif mode == "stick":
                equal += [K[n], K[t]]
                right += [-b[n], -b[t]]
                less += [unit[t] - mu[i] * unit[n], -unit[t] - mu[i] * unit[n]]
                bound += [0.0, 0.0]
            else:
                equal += [K[n], unit[t] + float(mode) * mu[i] * unit[n]]
                right += [-b[n], 0.0]
                less += [-unit[n], -float(mode) * K[t]]
                bound += [0.0, float(mode) * b[t]]
        found = optimize.linprog(
            np.zeros(3 * k),
            np.array(less) if less else None,
            bound or None,
            np.array(equal),
            right,
            (None, None),
            options={"presolve": True},
        )
        if found.status == 0:
            return True
    return False
