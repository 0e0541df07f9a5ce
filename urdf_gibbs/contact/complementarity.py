"""Impulses from the Delassus matrix: the linear complementarity problem, and the pseudo-inverse for the equality form.

K = J M⁻¹ Jᵀ (k, k) is symmetric positive semi-definite; rows may depend on each other (four corners of one block), and then the
impulses are not unique, though the velocities K λ are. Of all admissible impulses the shortest is given.

Everything is decided on the scaled matrix S = D K D with Dᵢᵢ = 1/√Kᵢᵢ and a unit diagonal: y = D⁻¹ λ and D (K λ + w) are both square
roots of an energy [√J], so no decision depends on whether a contact is counted in newtons or in newton-metres. Shortest means the
norm of λ itself.

The active set of Lawson and Hanson (Solving Least Squares Problems, ch. 23) on the normal equations does the work. Their reduction of
"least distance" to non-negative least squares brings w outside the range of K back to it. The shortest of many solutions is a problem
in as many unknowns as K has rank (``non_negative``), so that hundreds of contacts of one body cost little more than their rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.dense import (
    RANK,
    Indices,
    approach,
    copy,
    factor,
    fill,
    finite,
    finite_matrix,
    first_of,
    largest_of,
    onto,
    orthonormal,
    pivoted,
    scaling,
    substitute,
    unit_diagonal,
)
from urdf_gibbs.contact.least_norm import least_norm, non_negative
from urdf_gibbs.engine.jit import jit

__all__ = ["SOLVED", "copy", "least_norm", "solve", "violation"]

Array = NDArray[np.float64]

SOLVED = 1e-10  # a problem whose certificate is below this is solved
LAST_PIVOT = 1e-14  # where a violation is not just rounding, pivots down to this are still used
REAL_VIOLATION = 1e-9  # more than rounding, relative to the largest approach
SLACK = 1e-12  # a slack above -SLACK, in the same units, counts as non-negative
TOUCHING = 1e-11  # a slack below this is zero: the contact may carry an impulse
FEASIBLE = 1e-13  # of least distance: below this there is no feasible point
ROUNDING = 2.3e-16  # of impulses, relative
HIDDEN = 1e-6  # relative to the largest approach: impulses whose rounding error is larger hide the velocities that they leave


@jit
def _slack(S: Array, b: Array, y: Array, s: Array) -> None:
    """s = S y + b."""
    k = b.shape[0]
    for i in range(k):
        total = b[i]
        for j in range(k):
            total += S[i, j] * y[j]
        s[i] = total


@jit
def _natural(S: Array, b: Array, y: Array, s: Array) -> float:
    """max |min(yᵢ, sᵢ)| with s = S y + b, which is left in ``s``: zero if and only if 0 <= y ⟂ s >= 0."""
    _slack(S, b, y, s)
    worst = 0.0
    for i in range(b.shape[0]):
        worst = max(worst, abs(min(y[i], s[i])))
    return worst


@jit
def violation(K: Array, w: Array, lam: Array, reference: Array) -> float:
    """How far 0 <= lam ⟂ K lam + w >= 0 is violated: the largest |min(lamᵢ √Kᵢᵢ, slackᵢ / √Kᵢᵢ)|, both [√J], relative to the largest
    approach -referenceᵢ / √Kᵢᵢ. ``w`` itself is the reference for ``solve``."""
    k = w.shape[0]
    d, S, b, y, s = np.empty(k), np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    scaling(K, d)
    unit_diagonal(K, reference, d, S, s)
    scale = approach(s)
    unit_diagonal(K, w, d, S, b)
    for i in range(k):
        y[i] = lam[i] / abs(d[i])
    worst = _natural(S, b, y, s)
    return worst / scale if scale > 0.0 else worst


@jit
def _active_set(S: Array, b: Array, y: Array) -> None:
    """0 <= y ⟂ S y + b >= 0 for S with a unit diagonal and b in its range (Lawson and Hanson 23.10, normal equations).

    The passive set, where y > 0 and the slack is zero, takes in the most negative slack. With b in the range of S a column of nonzero
    slack is independent of those with zero slack, so the factor exists; a contact whose pivot vanishes all the same is passed over
    until the set changes. Ends after 10 k + 20 changes at the latest.
    """
    k = b.shape[0]
    s, z, L = np.empty(k), np.empty(k), np.empty((k, k))
    order = np.empty(k, np.int64)
    state = np.empty(k, np.int64)  # 1 passive, 2 passed over
    for i in range(k):
        state[i] = 0
    fill(y, 0.0)
    count = 0
    scale = approach(b)
    for _ in range(10 * k + 20):
        _slack(S, b, y, s)
        add, worst = -1, -SLACK * scale
        for i in range(k):
            if state[i] == 0 and s[i] < worst:
                add, worst = i, s[i]
        if add < 0:
            break
        order[count] = add
        pivot = factor(S, order, count, count + 1, L)
        if not (pivot > RANK or (pivot > LAST_PIVOT and worst < -REAL_VIOLATION * scale)):
            state[add] = 2
            continue
        state[add] = 1
        count += 1
        while count > 0:
            for a in range(count):
                z[a] = -b[order[a]]
            substitute(L, count, z)
            step, leave = 1.0, -1
            for a in range(count):
                now = y[order[a]]
                if z[a] <= 0.0 and (leave < 0 or now < step * (now - z[a])):
                    step, leave = now / (now - z[a]) if now > 0.0 else 0.0, a
            if leave < 0:
                for a in range(count):
                    y[order[a]] = z[a]
                break
            for a in range(count):
                y[order[a]] += step * (z[a] - y[order[a]])
            gone = order[leave]
            y[gone] = 0.0
            state[gone] = 0
            count -= 1
            for a in range(leave, count):
                order[a] = order[a + 1]
            factor(S, order, leave, count, L)
        if state[add] != 2:
            for i in range(k):
                if state[i] == 2:
                    state[i] = 0
    _slack(S, b, y, s)  # one step of refinement
    _correct(L, order, count, s, y, z)


@jit
def _correct(L: Array, order: Indices, count: int, s: Array, y: Array, z: Array) -> None:
    """y less (L Lᵀ)⁻¹ s over the first ``count`` of ``order``, not below zero, which makes the slack ``s`` zero there. ``z`` is scratch."""
    for a in range(count):
        z[a] = -s[order[a]]
    substitute(L, count, z)
    for a in range(count):
        y[order[a]] = max(0.0, y[order[a]] + z[a])


@jit
def _refine(S: Array, b: Array, y: Array, s: Array) -> None:
    """One correction that makes the slack zero where y > 0. ``s`` holds S y + b."""
    k = b.shape[0]
    n = 0
    order = np.empty(k, np.int64)
    for i in range(k):
        if y[i] > 0.0:
            order[n] = i
            n += 1
    order = first_of(order, n)
    L, z = np.empty((n, n)), np.empty(n)
    weight = np.empty(k)
    fill(weight, 1.0)
    rank = pivoted(S, weight, order, L)
    _correct(L, order, rank, s, y, z)


@jit
def _least_distance(S: Array, b: Array, y: Array) -> bool:
    """0 <= y ⟂ S y + b >= 0 for any b: False where no y >= 0 gives S y + b >= 0.

    With S = B Bᵀ the problem is min ½|v|² subject to B v + b >= 0, v = Bᵀ y. Lawson and Hanson 23.27 solve it by non-negative least
    squares with [Bᵀ; -bᵀ], that is by the active set on S + b bᵀ, whose range holds b: y' there, y = y' / (1 + b·y').
    """
    k = b.shape[0]
    A, d, T, c = np.empty((k, k)), np.empty(k), np.empty((k, k)), np.empty(k)
    size = largest_of(b)
    for i in range(k):
        for j in range(k):
            A[i, j] = S[i, j] + b[i] / size * (b[j] / size)
    scaling(A, d)
    unit_diagonal(A, b, d, T, c)
    for i in range(k):
        c[i] /= size
    _active_set(T, c, y)
    distance = 1.0
    for i in range(k):
        y[i] *= abs(d[i])
        distance += b[i] / size * y[i]
    if not distance > FEASIBLE:
        return False
    for i in range(k):
        y[i] *= size / distance
    return True


@jit
def _shortest(S: Array, b: Array, d: Array, y: Array, s: Array, scale: float) -> None:
    """Of all y' >= 0 with S y' = S y, the one with the least |D y'|. ``s`` holds S y + b.

    K = B Bᵀ with as many columns as its rank, so S y' = S y is Bᵀ λ' = Bᵀ λ: a problem of that many unknowns, however many contacts.
    """
    k = b.shape[0]
    n, carrying = 0, 0
    order = np.empty(k, np.int64)
    for i in range(k):
        if d[i] > 0.0 and s[i] <= TOUCHING * scale:
            order[n] = i
            n += 1
        if y[i] > 0.0:
            carrying += 1
    if n == carrying:  # the active set is independent: the solution is unique
        return
    order = first_of(order, n)
    L, weight = np.empty((n, n)), np.empty(k)
    for i in range(k):
        weight[i] = 1.0 / (d[i] * d[i])
    rank = pivoted(S, weight, order, L)
    if rank == n:
        return
    Q, R, g, lam = np.empty((n, rank)), np.empty((rank, rank)), np.empty(rank), np.empty(n)
    orthonormal(d, order, L, rank, Q, R)
    for a in range(n):
        lam[a] = d[order[a]] * y[order[a]]
    onto(Q, rank, lam, g)
    if not non_negative(Q, rank, g, lam):
        return
    fill(y, 0.0)
    for a in range(n):
        y[order[a]] = lam[a] / d[order[a]]


@jit
def solve(K: Array, w: Array, lam: Array) -> float:
    """The shortest solution lam (k,) [N s] of 0 <= lam ⟂ K lam + w >= 0, for K (k, k) [1/kg] and w (k,) [m/s].

    Returns the certificate, see ``violation``: below SOLVED the impulses are correct. A large certificate means that there is no solution,
    as w lies outside the range of K; lam is then the best approximation that was found. Where that grows without bound, w may be lost
    in its rounding error, which is then the certificate. NaN for input that is not finite.
    """
    k = w.shape[0]
    if not (finite_matrix(K) and finite(w)):
        fill(lam, np.nan)
        return np.nan
    fill(lam, 0.0)
    if not approach(w) > 0.0:
        return 0.0
    if k == 1 and K[0, 0] > 0.0:
        lam[0] = -w[0] / K[0, 0]
        return 0.0
    d, S, b, y, s = np.empty(k), np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    scaling(K, d)
    unit_diagonal(K, w, d, S, b)
    scale = approach(b)
    _active_set(S, b, y)
    worst = _natural(S, b, y, s)
    other = np.empty(k)
    if worst > SOLVED * scale and _least_distance(S, b, other):
        trial = _natural(S, b, other, s)
        for _ in range(3):
            if trial < worst:
                worst = trial
                copy(other, y)
            _refine(S, b, other, s)
            trial = _natural(S, b, other, s)
    _slack(S, b, y, s)
    copy(y, other)
    _shortest(S, b, d, other, s, scale)
    trial = _natural(S, b, other, s)
    for _ in range(3):
        if trial <= 1e-13 * scale:  # no more than needed: where rows nearly depend, a correction costs length
            break
        _refine(S, b, other, s)
        trial = _natural(S, b, other, s)
    if trial <= max(worst, SOLVED * scale):
        worst = trial
        copy(other, y)
    rounded = ROUNDING * largest_of(y)
    if rounded > HIDDEN * scale:
        worst = max(worst, rounded)
    for i in range(k):
        lam[i] = max(0.0, d[i]) * y[i]
    return worst / scale
