"""Impulses from the Delassus matrix: the linear complementarity problem, and the pseudo-inverse for the equality form.

K = J M⁻¹ Jᵀ (k, k) is symmetric positive semi-definite; rows may depend on each other (four corners of one block), and then the
impulses are not unique, though the velocities K λ are. Of all admissible impulses the shortest is given.

Everything is decided on the scaled matrix S = D K D with Dᵢᵢ = 1/√Kᵢᵢ and a unit diagonal: y = D⁻¹ λ and D (K λ + w) are both square
roots of an energy [√J], so no decision depends on whether a contact is counted in newtons or in newton-metres. Shortest means the
norm of λ itself.

The active set of Lawson and Hanson (Solving Least Squares Problems, ch. 23) on the normal equations does the work. Their reduction of
"least distance" to non-negative least squares brings w outside the range of K back to it. The shortest of many solutions is a problem
in as many unknowns as K has rank (``_non_negative``), so that hundreds of contacts of one body cost little more than their rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SOLVED = 1e-10  # a certificate below this: solved
RANK = 1e-11  # a pivot of S (diagonal 1) below this: the row depends on those before it
LAST_PIVOT = 1e-14  # with a violation that is no rounding error, pivots down to here are still used
REAL_VIOLATION = 1e-9  # what is no rounding error, in units of the largest approach
SLACK = 1e-12  # a slack above -SLACK, in the same units, is not negative
TOUCHING = 1e-11  # a slack below this is zero: the contact may carry an impulse
ROUNDING = 1e-11  # of the largest force, as a root of energy: less is none
NEWTON_TURNS = 60  # of the search for the shortest forces that push; a handful is usual
FEASIBLE = 1e-13  # least distance: below this nothing is within reach
IMMOVABLE = 1e-28  # Kᵢᵢ below this part of the largest: rounding error, the contact moves nothing


@jit
def fill(a: Array, value: float) -> None:
    """a[:] = value, as a loop: quicker to compile than the slice."""
    for i in range(a.shape[0]):
        a[i] = value


@jit
def copy(a: Array, to: Array) -> None:
    """to[:] = a[: len(to)], without the checks of the slices, which would be most of what is compiled."""
    for i in range(to.shape[0]):
        to[i] = a[i]


@jit
def finite(a: Array) -> bool:
    """No NaN and no infinity in the vector."""
    total = 0.0
    for i in range(a.shape[0]):
        total += 0.0 * a[i]
    return total == 0.0


@jit
def _finite_matrix(K: Array) -> bool:
    """The same for a matrix."""
    total = 0.0
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            total += 0.0 * K[i, j]
    return total == 0.0


@jit
def _scaling(K: Array, d: Array) -> None:
    """d (k,) = 1/√Kᵢᵢ; for a contact that moves nothing the same with the largest Kᵢᵢ, negated as a mark."""
    k = d.shape[0]
    largest = 0.0
    for i in range(k):
        largest = max(largest, K[i, i])
    for i in range(k):
        if K[i, i] > IMMOVABLE * largest:
            d[i] = 1.0 / np.sqrt(K[i, i])
        else:
            d[i] = -1.0 / np.sqrt(largest) if largest > 0.0 else -1.0


@jit
def _scale(K: Array, w: Array, d: Array, S: Array, b: Array) -> None:
    """S = D K D (k, k) with a unit diagonal, zero rows where d < 0; b = D w (k,)."""
    k = d.shape[0]
    for i in range(k):
        b[i] = abs(d[i]) * w[i]
        for j in range(k):
            S[i, j] = d[i] * K[i, j] * d[j] if d[i] > 0.0 and d[j] > 0.0 else 0.0


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
def _approach(b: Array) -> float:
    """The largest approach: the most negative entry, as a positive number; zero where nothing approaches."""
    worst = 0.0
    for value in b:
        worst = max(worst, -value)
    return worst


@jit
def _largest(s: Array) -> float:
    """max |sᵢ|."""
    worst = 0.0
    for value in s:
        worst = max(worst, abs(value))
    return worst


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
    """How far 0 <= lam ⟂ K lam + w >= 0 is from true: the largest |min(lamᵢ √Kᵢᵢ, slackᵢ / √Kᵢᵢ)|, both [√J], relative to the largest
    approach -referenceᵢ / √Kᵢᵢ. ``w`` itself is the reference for ``solve``."""
    k = w.shape[0]
    d, S, b, y, s = np.empty(k), np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    _scaling(K, d)
    _scale(K, reference, d, S, s)
    scale = _approach(s)
    _scale(K, w, d, S, b)
    for i in range(k):
        y[i] = lam[i] / abs(d[i])
    worst = _natural(S, b, y, s)
    return worst / scale if scale > 0.0 else worst


@jit
def _factor(S: Array, order: Indices, start: int, count: int, L: Array) -> float:
    """Rows start..count-1 of the Cholesky factor of S over ``order``; gives the last row's pivot, squared."""
    pivot = 1.0
    for a in range(start, count):
        i = order[a]
        for c in range(a):
            total = S[i, order[c]]
            for m in range(c):
                total -= L[a, m] * L[c, m]
            L[a, c] = total / L[c, c]
        pivot = S[i, i]
        for m in range(a):
            pivot -= L[a, m] * L[a, m]
        L[a, a] = np.sqrt(max(pivot, 1e-16))
    return pivot


@jit
def _substitute(L: Array, count: int, x: Array) -> None:
    """x[:count] <- (L Lᵀ)⁻¹ x[:count]."""
    for a in range(count):
        total = x[a]
        for m in range(a):
            total -= L[a, m] * x[m]
        x[a] = total / L[a, a]
    for a in range(count - 1, -1, -1):
        total = x[a]
        for m in range(a + 1, count):
            total -= L[m, a] * x[m]
        x[a] = total / L[a, a]


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
    scale = _approach(b)
    for _ in range(10 * k + 20):
        _slack(S, b, y, s)
        add, worst = -1, -SLACK * scale
        for i in range(k):
            if state[i] == 0 and s[i] < worst:
                add, worst = i, s[i]
        if add < 0:
            break
        order[count] = add
        pivot = _factor(S, order, count, count + 1, L)
        if not (pivot > RANK or (pivot > LAST_PIVOT and worst < -REAL_VIOLATION * scale)):
            state[add] = 2
            continue
        state[add] = 1
        count += 1
        while count > 0:
            for a in range(count):
                z[a] = -b[order[a]]
            _substitute(L, count, z)
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
            state[gone] = 2 if gone == add and step == 0.0 else 0
            count -= 1
            for a in range(leave, count):
                order[a] = order[a + 1]
            _factor(S, order, leave, count, L)
        if state[add] != 2:
            for i in range(k):
                if state[i] == 2:
                    state[i] = 0
    _slack(S, b, y, s)  # one step of refinement
    for a in range(count):
        z[a] = -s[order[a]]
    _substitute(L, count, z)
    for a in range(count):
        y[order[a]] = max(0.0, y[order[a]] + z[a])


@jit
def _pivoted(S: Array, weight: Array, order: Indices, L: Array) -> int:
    """Pivoted Cholesky of S (unit or zero diagonal) over the rows in ``order``, which is permuted; gives the rank.

    Row a of L (n, n) belongs to order[a]. Whether a pivot counts is decided on S; of those that count the one with the largest weight
    times pivot comes first.
    """
    n = len(order)
    rest = np.empty(n)
    for a in range(n):
        rest[a] = S[order[a], order[a]]
    for r in range(n):
        best = -1
        for a in range(r, n):
            if rest[a] > RANK and (best < 0 or rest[a] * weight[order[a]] > rest[best] * weight[order[best]]):
                best = a
        if best < 0:
            return r
        if best != r:
            order[r], order[best] = order[best], order[r]
            rest[r], rest[best] = rest[best], rest[r]
            for m in range(r):
                L[r, m], L[best, m] = L[best, m], L[r, m]
        L[r, r] = np.sqrt(rest[r])
        for a in range(r + 1, n):
            total = S[order[a], order[r]]
            for m in range(r):
                total -= L[a, m] * L[r, m]
            L[a, r] = total / L[r, r]
            rest[a] -= L[a, r] * L[a, r]
    return n


@jit
def _orthonormal(d: Array, order: Indices, L: Array, rank: int, Q: Array, R: Array) -> None:
    """K over ``order`` is B Bᵀ with B = D⁻¹ L (n, rank), from the factor of ``_pivoted``: B = Q R, by Gram and Schmidt, twice."""
    n = order.shape[0]
    for c in range(rank):
        for m in range(rank):
            R[m, c] = 0.0
        for a in range(n):
            Q[a, c] = L[a, c] / abs(d[order[a]]) if a >= c else 0.0
        for _ in range(2):
            for m in range(c):
                dot = 0.0
                for a in range(n):
                    dot += Q[a, m] * Q[a, c]
                R[m, c] += dot
                for a in range(n):
                    Q[a, c] -= dot * Q[a, m]
        norm = 0.0
        for a in range(n):
            norm += Q[a, c] * Q[a, c]
        R[c, c] = np.sqrt(norm)
        for a in range(n):
            Q[a, c] /= R[c, c]


@jit
def _onto(Q: Array, rank: int, x: Array, g: Array) -> None:
    """g (rank,) = Qᵀ x."""
    for c in range(rank):
        g[c] = 0.0
        for a in range(x.shape[0]):
            g[c] += Q[a, c] * x[a]


@jit
def _non_negative(Q: Array, rank: int, g: Array, lam: Array) -> bool:
    """The shortest lam (n,) >= 0 with Qᵀ lam = g (rank,), Q with orthonormal columns; False where there is none, or none is found.

    It is the positive part of Q w for the w that makes wᵀg - ½|max(0, Q w)|² largest: Newton's method on that piecewise quadratic
    function, each turn of which costs n rank². Starts with w = g, for which Q w is the shortest lam of either sign.
    """
    n = lam.shape[0]
    w, move, F, H = np.empty(rank), np.empty(rank), np.empty(rank), np.empty((rank, rank))
    ahead = np.empty(n)
    size = _largest(g)
    copy(g, w)
    for a in range(n):
        lam[a] = 0.0
        for c in range(rank):
            lam[a] += Q[a, c] * w[c]
    for _ in range(NEWTON_TURNS):
        for c in range(rank):
            F[c] = g[c]
            for m in range(rank):
                H[c, m] = 1e-12 if m == c else 0.0
        for a in range(n):
            if lam[a] > 0.0:
                for c in range(rank):
                    F[c] -= Q[a, c] * lam[a]
                    for m in range(c + 1):
                        H[c, m] += Q[a, c] * Q[a, m]
        if _largest(F) <= 1e-14 * size:
            for a in range(n):
                lam[a] = max(0.0, lam[a])
            return True
        if not _cholesky(H):
            return False
        copy(F, move)
        _substitute(H, rank, move)
        slope = 0.0
        for c in range(rank):
            slope += F[c] * move[c]
        for a in range(n):
            ahead[a] = 0.0
            for c in range(rank):
                ahead[a] += Q[a, c] * move[c]
        length = _ascent(lam, ahead, g, move, slope)
        for c in range(rank):
            w[c] += length * move[c]
        for a in range(n):
            lam[a] += length * ahead[a]
    return False


@jit
def _ascent(lam: Array, ahead: Array, g: Array, move: Array, slope: float) -> float:
    """How far to go along a direction of Newton's, at most 1: where the slope, which only falls, has all but vanished."""
    rise = 0.0
    for c in range(g.shape[0]):
        rise += g[c] * move[c]
    low, high, length = 0.0, 1.0, 1.0
    for _ in range(60):
        here = rise
        for a in range(lam.shape[0]):
            here -= max(0.0, lam[a] + length * ahead[a]) * ahead[a]
        if abs(here) <= 0.1 * slope or (here > 0.0 and length == 1.0):
            break
        if here > 0.0:
            low = length
        else:
            high = length
        length = 0.5 * (low + high)
    return length


@jit
def _cholesky(H: Array) -> bool:
    """In place, lower half; False where H is not positive definite."""
    for i in range(H.shape[0]):
        for j in range(i + 1):
            total = H[i, j]
            for m in range(j):
                total -= H[i, m] * H[j, m]
            if i > j:
                H[i, j] = total / H[j, j]
            elif total > 0.0:
                H[i, i] = np.sqrt(total)
            else:
                return False
    return True


@jit
def _first(order: Indices, n: int) -> Indices:
    """The first n, as an array of their own."""
    part = np.empty(n, np.int64)
    for a in range(n):
        part[a] = order[a]
    return part


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
    order = _first(order, n)
    L, z = np.empty((n, n)), np.empty(n)
    weight = np.empty(k)
    fill(weight, 1.0)
    rank = _pivoted(S, weight, order, L)
    for a in range(rank):
        z[a] = -s[order[a]]
    _substitute(L, rank, z)
    for a in range(rank):
        y[order[a]] = max(0.0, y[order[a]] + z[a])


@jit
def _least_distance(S: Array, b: Array, y: Array) -> bool:
    """0 <= y ⟂ S y + b >= 0 for any b: False where no y >= 0 gives S y + b >= 0.

    With S = B Bᵀ the problem is min ½|v|² subject to B v + b >= 0, v = Bᵀ y. Lawson and Hanson 23.27 solve it by non-negative least
    squares with [Bᵀ; -bᵀ], that is by the active set on S + b bᵀ, whose range holds b: y' there, y = y' / (1 + b·y').
    """
    k = b.shape[0]
    A, d, T, c = np.empty((k, k)), np.empty(k), np.empty((k, k)), np.empty(k)
    size = _largest(b)
    for i in range(k):
        for j in range(k):
            A[i, j] = S[i, j] + b[i] / size * (b[j] / size)
    _scaling(A, d)
    _scale(A, b, d, T, c)
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
    if n == carrying:  # the active set is independent: nothing to choose
        return
    order = _first(order, n)
    L, weight = np.empty((n, n)), np.empty(k)
    for i in range(k):
        weight[i] = 1.0 / (d[i] * d[i])
    rank = _pivoted(S, weight, order, L)
    if rank == n:
        return
    Q, R, g, lam = np.empty((n, rank)), np.empty((rank, rank)), np.empty(rank), np.empty(n)
    _orthonormal(d, order, L, rank, Q, R)
    for a in range(n):
        lam[a] = d[order[a]] * y[order[a]]
    _onto(Q, rank, lam, g)
    if not _non_negative(Q, rank, g, lam):
        return
    fill(y, 0.0)
    for a in range(n):
        y[order[a]] = lam[a] / d[order[a]]


@jit
def solve(K: Array, w: Array, lam: Array) -> float:
    """0 <= lam ⟂ K lam + w >= 0: K (k, k) [1/kg], w (k,) [m/s], fills lam (k,) [N s] with the shortest solution.

    Gives the certificate, see ``violation``: below SOLVED the impulses are right. A large one means that there is no solution, w lying
    outside the range of K; the impulses are then the best that was found. NaN for input that is not finite.
    """
    k = w.shape[0]
    if not (_finite_matrix(K) and finite(w)):
        fill(lam, np.nan)
        return np.nan
    fill(lam, 0.0)
    if not _approach(w) > 0.0:
        return 0.0
    if k == 1 and K[0, 0] > 0.0:
        lam[0] = -w[0] / K[0, 0]
        return 0.0
    d, S, b, y, s = np.empty(k), np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    _scaling(K, d)
    _scale(K, w, d, S, b)
    scale = _approach(b)
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
    for i in range(k):
        lam[i] = max(0.0, d[i]) * y[i]
    return worst / scale


@jit
def _pseudo_inverse(Q: Array, R: Array, c: Array, g: Array, x: Array) -> None:
    """x (n,) += K⁺ c with K = Q R Rᵀ Qᵀ."""
    rank = R.shape[0]
    _onto(Q, rank, c, g)
    for i in range(rank - 1, -1, -1):
        for m in range(i + 1, rank):
            g[i] -= R[i, m] * g[m]
        g[i] /= R[i, i]
    for i in range(rank):
        for m in range(i):
            g[i] -= R[m, i] * g[m]
        g[i] /= R[i, i]
    for a in range(x.shape[0]):
        for i in range(rank):
            x[a] += Q[a, i] * g[i]


@jit
def least_norm(K: Array, c: Array, x: Array, push: bool) -> float:
    """x = K⁺ c (k,): the shortest of the x for which |K x - c| is least, by pivoted Cholesky.

    ``push``: where that has negative entries and another x >= 0 does the same, the shortest of those. Gives the residual, the largest
    |K x - c|ᵢ / √Kᵢᵢ relative to the largest |cᵢ| / √Kᵢᵢ: rows that depend on each other and ask for different things show here.
    NaN for input that is not finite.
    """
    k = c.shape[0]
    if not (_finite_matrix(K) and finite(c)):
        fill(x, np.nan)
        return np.nan
    fill(x, 0.0)
    d, S, b = np.empty(k), np.empty((k, k)), np.empty(k)
    _scaling(K, d)
    _scale(K, c, d, S, b)
    scale = _largest(b)
    if scale == 0.0:
        return 0.0
    order, weight, L = np.empty(k, np.int64), np.empty(k), np.empty((k, k))
    for i in range(k):
        order[i] = i
        weight[i] = 1.0 / (d[i] * d[i])
    rank = _pivoted(S, weight, order, L)
    Q, R, g, rest, lam = np.empty((k, rank)), np.empty((rank, rank)), np.empty(rank), np.empty(k), np.empty(k)
    _orthonormal(d, order, L, rank, Q, R)
    fill(lam, 0.0)
    worst = 0.0
    for turn in range(3):  # twice for rounding, then what is left
        worst = 0.0
        for a in range(k):
            i = order[a]
            rest[a] = c[i]
            if turn > 0 and d[i] > 0.0:
                for m in range(k):
                    rest[a] -= K[i, order[m]] * lam[m]
            worst = max(worst, abs(d[i] * rest[a]))
        if turn < 2:
            _pseudo_inverse(Q, R, rest, g, lam)
    lowest, largest = 0.0, 0.0
    for a in range(k):
        energy = lam[a] / abs(d[order[a]])  # its square root
        lowest, largest = min(lowest, energy), max(largest, energy)
    if push and -ROUNDING * largest <= lowest < 0.0:
        for a in range(k):
            lam[a] = max(0.0, lam[a])
    elif push and lowest < 0.0 and rank < k:
        _onto(Q, rank, lam, g)
        copy(lam, rest)
        if not _non_negative(Q, rank, g, lam):
            copy(rest, lam)
    for a in range(k):
        x[order[a]] = lam[a]
    return worst / scale
