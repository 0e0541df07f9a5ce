"""The contact problem free of units, and how far impulses are from solving it. Compiled.

u = K p + b. With D diagonal, S = D K D has a unit diagonal (one factor for both tangents of a contact, whose cone stays round), s = D u
and y = D⁻¹ p are roots of an energy [√J], and b is divided by its largest entry: no decision depends on units. Coulomb's law keeps its
form with the coefficient μ Dₙ / Dₜ.

What a contact asks for stands in ``kind`` (k,) and ``law`` (k, 3); it owns the rows at[i] ... at[i + 1] - 1:

- FRICTION, rows normal and two tangents; law (μ, -, -): 0 <= pₙ ⟂ uₙ >= 0; |pₜ| <= μ pₙ; pₜ = -μ pₙ uₜ / |uₜ| where uₜ is not zero;
- NORMAL, one row: 0 <= p ⟂ u >= 0;
- JOINT, one row; law (reach, -, -): |p| <= reach; p = -reach sign(u) where u is not zero;
- SLIDING, rows as FRICTION; law (μ, direction): 0 <= pₙ ⟂ uₙ >= 0; pₜ = -μ pₙ direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.dense import IMMOVABLE, length_of
from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FRICTION, NORMAL, JOINT, SLIDING = range(4)


@jit
def row_scaling(K: Array, kind: Indices, at: Indices, d: Array) -> None:
    """d (n,): 1/√Kᵢᵢ, for two tangents of the mean of both; of rows that nothing moves, that of the row that moves most."""
    largest = 0.0
    for i in range(d.shape[0]):
        largest = max(largest, K[i, i])
    if not largest > 0.0:
        largest = 1.0
    for i in range(kind.shape[0]):
        a = at[i]
        size = K[a, a]
        d[a] = 1.0 / np.sqrt(size if size > IMMOVABLE * largest else largest)
        if kind[i] == FRICTION or kind[i] == SLIDING:
            size = 0.5 * (K[a + 1, a + 1] + K[a + 2, a + 2])
            d[a + 1] = 1.0 / np.sqrt(size if size > IMMOVABLE * largest else largest)
            d[a + 2] = d[a + 1]


@jit
def scaled_law(kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, d: Array, size: float, law: Array) -> None:
    """law (k, 3) for S, where ``size`` is the largest |Dᵢ bᵢ|."""
    for i in range(kind.shape[0]):
        a = at[i]
        law[i, 0], law[i, 1], law[i, 2] = 0.0, 0.0, 0.0
        if kind[i] == FRICTION:
            law[i, 0] = mu[i] * (d[a] / d[a + 1])
        elif kind[i] == SLIDING:
            law[i, 0] = mu[i] * (d[a] / d[a + 1])
            law[i, 1], law[i, 2] = slide[i, 0], slide[i, 1]
        elif kind[i] == JOINT:
            law[i, 0] = reach[i] / d[a] / size


@jit
def scaled_problem(K: Array, b: Array, d: Array, S: Array, c: Array) -> float:
    """S = D K D, made symmetric, and c = D b in units of its largest entry, which is given; zero where b is."""
    n = b.shape[0]
    size = 0.0
    for i in range(n):
        size = max(size, abs(d[i] * b[i]))
    if size > 0.0:
        for i in range(n):
            c[i] = d[i] * b[i] / size
            for j in range(n):
                S[i, j] = d[i] * 0.5 * (K[i, j] + K[j, i]) * d[j]
    return size


@jit
def motion(S: Array, b: Array, y: Array, s: Array) -> None:
    """s = S y + b, for a symmetric S."""
    n = b.shape[0]
    for i in range(n):
        s[i] = b[i]
    for j in range(n):
        value = y[j]
        if value != 0.0:
            for i in range(n):
                s[i] += S[j, i] * value


@jit
def natural_map(kind: Indices, at: Indices, law: Array, y: Array, s: Array) -> float:
    """The largest part of y - proj(y - s): y onto yₙ >= 0 and the disk of radius μ yₙ. Zero if and only if the laws hold."""
    worst = 0.0
    for i in range(kind.shape[0]):
        a = at[i]
        if kind[i] == JOINT:
            x = y[a] - s[a]
            worst = max(worst, abs(y[a] - min(max(x, -law[i, 0]), law[i, 0])))
            continue
        worst = max(worst, abs(min(y[a], s[a])))
        if kind[i] == NORMAL:
            continue
        radius = law[i, 0] * max(y[a], 0.0)
        if kind[i] == SLIDING:
            worst = max(worst, abs(y[a + 1] + radius * law[i, 1]), abs(y[a + 2] + radius * law[i, 2]))
            continue
        t1, t2 = y[a + 1] - s[a + 1], y[a + 2] - s[a + 2]
        length = length_of(t1, t2)
        if length > radius:
            t1, t2 = t1 * (radius / length), t2 * (radius / length)
        worst = max(worst, abs(y[a + 1] - t1), abs(y[a + 2] - t2))
    return worst
