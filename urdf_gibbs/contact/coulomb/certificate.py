"""How well impulses solve a contact problem, worked out from the problem as it is given and from nothing that a solver holds. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, SLIDING, Array, Indices, row_scaling, scaled_law
from urdf_gibbs.contact.dense import finite, finite_matrix, length_of
from urdf_gibbs.engine.jit import jit

SOLVED = 1e-10  # a certificate below this: solved
ROUNDING = 1.1e-16  # of each product


@jit
def certificate(K: Array, b: Array, kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, p: Array) -> float:
    """The worst violation of all that is asked for (see scaled.py), as a number without unit; see ``judged``.

    What the rounding of s may hide counts relative to U: impulses on their way to infinity solve nothing. NaN for what is not finite.
    """
    n = b.shape[0]
    if not (finite_matrix(K) and finite(b) and finite(p)):
        return np.nan
    d, y, s, law = np.empty(n), np.empty(n), np.empty(n), np.empty((kind.shape[0], 3))
    row_scaling(K, kind, at, d)
    scaled_law(kind, at, mu, reach, slide, d, 1.0, law)
    U, summed = 0.0, 0.0
    for i in range(n):
        U = max(U, abs(d[i] * b[i]))
        y[i] = p[i] / d[i]
        s[i] = b[i]
        size = 0.0
        for j in range(n):
            s[i] += K[i, j] * p[j]
            size += abs(K[i, j] * p[j])
        s[i] *= d[i]
        summed = max(summed, d[i] * size)
    worst = judged(kind, at, law, y, s, U)
    return max(worst, ROUNDING * summed / U) if U > 0.0 else worst


@jit
def judged(kind: Indices, at: Indices, law: Array, y: Array, s: Array, U: float) -> float:
    """The worst violation by y = D⁻¹ p and s = D (K p + b), where U = max |D b|.

    With P = max(U, max |y|): impulses out of their cones and the natural map count relative to P, velocities of approach relative to U,
    products of impulse and velocity relative to U P.
    """
    P = U
    for i in range(at[0], at[kind.shape[0]]):
        P = max(P, abs(y[i]))
    if P == 0.0:
        return 0.0
    if U == 0.0:
        U = P
    worst = 0.0
    for i in range(kind.shape[0]):
        a = at[i]
        if kind[i] == JOINT:
            worst = max(worst, _dry(law[i, 0], y[a], s[a], U, P))
            continue
        worst = max(worst, -y[a] / P, -s[a] / U, abs(y[a] * s[a]) / (U * P), abs(min(y[a], s[a])) / P)
        if kind[i] == FRICTION:
            worst = max(worst, _coulomb(law[i, 0], y, s, a, U, P))
        elif kind[i] == SLIDING:
            radius = law[i, 0] * y[a]
            worst = max(worst, abs(y[a + 1] + radius * law[i, 1]) / P, abs(y[a + 2] + radius * law[i, 2]) / P)
    return worst


@jit
def _dry(reach: float, y: float, s: float, U: float, P: float) -> float:
    """|y| <= reach, y = -reach sign(s)."""
    work = abs(y * s + reach * abs(s)) / (U * max(P, reach))
    return max((abs(y) - reach) / P, work, abs(y - min(max(y - s, -reach), reach)) / P)


@jit
def _coulomb(mu: float, y: Array, s: Array, a: int, U: float, P: float) -> float:
    """The tangential part: cone, work of friction against -μ yₙ |sₜ|, natural map of the disk."""
    friction, speed = length_of(y[a + 1], y[a + 2]), length_of(s[a + 1], s[a + 2])
    cone = (friction - mu * y[a]) / np.sqrt(1.0 + mu * mu) / P
    work = abs(y[a + 1] * s[a + 1] + y[a + 2] * s[a + 2] + mu * y[a] * speed) / (max(1.0, mu) * U * P)
    radius = mu * max(y[a], 0.0)
    t1, t2 = y[a + 1] - s[a + 1], y[a + 2] - s[a + 2]
    shrink = min(1.0, radius / max(length_of(t1, t2), 1e-300))
    return max(cone, work, abs(y[a + 1] - shrink * t1) / P, abs(y[a + 2] - shrink * t2) / P)
