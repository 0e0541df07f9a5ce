"""Of all impulses that give the same motion and obey Coulomb's law, the shortest. Compiled.

Velocities are the same, so each contact keeps its mode, and its impulses stay in a convex set C: zero where it opens; a ray where it slips;
its cone where it sticks; for a joint an interval. K = B Bᵀ, B = Q R, and Q has as many orthonormal columns as K has rank: Qᵀ p = Qᵀ p₀ is
what the motion asks for. The shortest such p is the projection of Q w onto C, for the w that makes w·g - ½|proj(Q w)|² largest (g = Qᵀ p₀):
Newton's method on that concave function, in as many unknowns as K has rank.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.certificate import SOLVED, certificate
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL, Array, Indices, row_scaling
from urdf_gibbs.contact.dense import cholesky, copy, fill, largest_of, onto, orthonormal, pivoted, scaling, substitute, unit_diagonal
from urdf_gibbs.engine.jit import jit

STILL = 1e-9  # of the largest velocity of the problem: a contact that moves less does not move
TURNS = 60
EXACT = 1e-14  # of the largest impulse
REGULAR = 1e-12
FAR = 1e9  # of the largest of g: where w goes this far there is no such x
ZERO, RAY, CONE, SPAN, HALF = range(5)  # sets: nothing, multiples >= 0 of a vector, a friction cone, an interval, numbers >= 0


@jit
def _sets(K: Array, b: Array, kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, p: Array, form: Array) -> None:
    """form (k, 4): the set of each contact; of a ray its vector, of a cone μ, of an interval both ends."""
    n = b.shape[0]
    d, u = np.empty(n), np.empty(n)
    row_scaling(K, kind, at, d)
    size = 0.0
    for i in range(n):
        u[i] = b[i]
        for j in range(n):
            u[i] += K[i, j] * p[j]
        u[i] *= d[i]
        size = max(size, abs(d[i] * b[i]))
    for i in range(kind.shape[0]):
        a = at[i]
        form[i, 0], form[i, 1], form[i, 2], form[i, 3] = ZERO, 0.0, 0.0, 0.0
        if kind[i] == JOINT:
            moving = abs(u[a]) > STILL * size
            form[i, 0] = SPAN
            form[i, 1] = -reach[i] if not moving or u[a] > 0.0 else reach[i]
            form[i, 2] = reach[i] if not moving or u[a] < 0.0 else -reach[i]
        elif u[a] > STILL * size:
            continue
        elif kind[i] == NORMAL:
            form[i, 0] = HALF
        elif kind[i] == FRICTION and np.hypot(u[a + 1], u[a + 2]) <= STILL * size:
            form[i, 0], form[i, 1] = CONE, mu[i]
        else:
            speed = np.hypot(u[a + 1], u[a + 2])
            t1 = u[a + 1] / speed if kind[i] == FRICTION else slide[i, 0]
            t2 = u[a + 2] / speed if kind[i] == FRICTION else slide[i, 1]
            form[i, 0], form[i, 1], form[i, 2], form[i, 3] = RAY, 1.0, -mu[i] * t1, -mu[i] * t2


@jit
def _project(form: Array, i: int, x: Array, a: int, P: Array) -> None:
    """x[a ...] onto the set of contact i, and the derivative P (3, 3) of that."""
    for r in range(3):
        for c in range(3):
            P[r, c] = 0.0
    if form[i, 0] == SPAN:
        P[0, 0] = 1.0 if form[i, 1] < x[a] < form[i, 2] else 0.0
        x[a] = min(max(x[a], form[i, 1]), form[i, 2])
    elif form[i, 0] == HALF:
        P[0, 0] = 1.0 if x[a] > 0.0 else 0.0
        x[a] = max(x[a], 0.0)
    elif form[i, 0] == RAY:
        square = form[i, 1] ** 2 + form[i, 2] ** 2 + form[i, 3] ** 2
        length = (form[i, 1] * x[a] + form[i, 2] * x[a + 1] + form[i, 3] * x[a + 2]) / square
        for r in range(3):
            for c in range(3):
                P[r, c] = form[i, 1 + r] * form[i, 1 + c] / square if length > 0.0 else 0.0
            x[a + r] = max(length, 0.0) * form[i, 1 + r]
    elif form[i, 0] == CONE:
        _onto_cone(form[i, 1], x, a, P)


@jit
def _onto_cone(mu: float, x: Array, a: int, P: Array) -> None:
    """x onto |xₜ| <= μ xₙ, and the derivative."""
    t = np.hypot(x[a + 1], x[a + 2])
    if t <= mu * x[a]:
        P[0, 0], P[1, 1], P[2, 2] = 1.0, 1.0, 1.0
        return
    if mu * t <= -x[a]:
        x[a], x[a + 1], x[a + 2] = 0.0, 0.0, 0.0
        return
    share = 1.0 / (1.0 + mu * mu)
    normal = (x[a] + mu * t) * share
    e1, e2 = x[a + 1] / t, x[a + 2] / t
    ratio = mu * normal / t
    P[0, 0], P[0, 1], P[0, 2] = share, mu * share * e1, mu * share * e2
    P[1, 0], P[2, 0] = P[0, 1], P[0, 2]
    along = mu * mu * share
    P[1, 1], P[2, 2] = along * e1 * e1 + ratio * e2 * e2, along * e2 * e2 + ratio * e1 * e1
    P[1, 2] = (along - ratio) * e1 * e2
    P[2, 1] = P[1, 2]
    x[a], x[a + 1], x[a + 2] = normal, mu * normal * e1, mu * normal * e2


@jit
def _value(Q: Array, transposed: Array, at: Indices, form: Array, g: Array, w: Array, z: Array, x: Array, F: Array) -> float:
    """w·g - ½|x|² with z = Q w, x = proj(z), and F = g - Qᵀ x, its gradient."""
    n, rank = Q.shape
    P = np.empty((3, 3))
    fill(z, 0.0)
    for c in range(rank):
        own, factor = transposed[c], w[c]
        for j in range(n):
            z[j] += factor * own[j]
    copy(z, x)
    value = 0.0
    for i in range(form.shape[0]):
        if form[i, 0] == ZERO:
            for j in range(at[i], at[i + 1]):
                x[j] = 0.0
        # w·g - ½|proj|² is exact for cones; for an interval the support is -½|x - proj|² + ½|x|²
        if form[i, 0] == SPAN:
            before = x[at[i]]
            _project(form, i, x, at[i], P)
            value -= before * x[at[i]] - 0.5 * x[at[i]] * x[at[i]]
            continue
        _project(form, i, x, at[i], P)
        for j in range(at[i], at[i + 1]):
            value -= 0.5 * x[j] * x[j]
    onto(Q, rank, x, F)
    for c in range(rank):
        value += w[c] * g[c]
        F[c] = g[c] - F[c]
    return value


@jit
def _curvature(Q: Array, at: Indices, form: Array, z: Array, H: Array) -> None:
    """H (rank, rank) = Qᵀ P Q, its lower half, regularised; P is the derivative of the projection of z."""
    n, rank = Q.shape
    P, x, T = np.empty((3, 3)), np.empty(n), np.empty(rank)
    for c in range(rank):
        for m in range(rank):
            H[c, m] = REGULAR if c == m else 0.0
    copy(z, x)
    for i in range(form.shape[0]):
        if form[i, 0] == ZERO:
            continue
        a = at[i]
        rows = at[i + 1] - a
        _project(form, i, x, a, P)
        for r in range(rows):
            fill(T, 0.0)
            for m in range(rows):
                factor, own = P[r, m], Q[a + m]
                if factor != 0.0:
                    for c in range(rank):
                        T[c] += factor * own[c]
            own = Q[a + r]
            for c in range(rank):
                factor, to = own[c], H[c]
                for m in range(c + 1):
                    to[m] += factor * T[m]


@jit
def shortest_in_sets(Q: Array, at: Indices, form: Array, g: Array, z: Array, x: Array) -> bool:
    """x (n,): the shortest in its sets with Qᵀ x = g, Q (n, rank) with orthonormal columns; whether it was found.

    It is the projection of z (n,). The search starts at the better one of the z that is given and of Q g.
    """
    n, rank = Q.shape
    w, F, move, next_w, H = np.empty(rank), np.empty(rank), np.empty(rank), np.empty(rank), np.empty((rank, rank))
    transposed = np.empty((rank, n))
    for j in range(n):
        for c in range(rank):
            transposed[c, j] = Q[j, c]
    size = largest_of(g)
    onto(Q, rank, z, next_w)
    guessed = _value(Q, transposed, at, form, g, next_w, z, x, F)
    copy(g, w)
    value = _value(Q, transposed, at, form, g, w, z, x, F)
    if guessed > value and largest_of(next_w) <= FAR * size:
        copy(next_w, w)
        value = _value(Q, transposed, at, form, g, w, z, x, F)
    for _ in range(TURNS):
        if largest_of(F) <= EXACT * size:
            return True
        _curvature(Q, at, form, z, H)
        if not cholesky(H):
            return False
        copy(F, move)
        substitute(H, rank, move)
        slope = 0.0
        for c in range(rank):
            slope += F[c] * move[c]
        t = 1.0
        for _ in range(40):
            for c in range(rank):
                next_w[c] = w[c] + t * move[c]
            ahead = _value(Q, transposed, at, form, g, next_w, z, x, F)
            if ahead >= value + 1e-4 * t * slope - 1e-15 * abs(value):
                break
            t *= 0.5
        value = ahead
        copy(next_w, w)
        if largest_of(w) > FAR * size:
            return False
    return largest_of(F) <= 1e3 * EXACT * size


@jit
def shortest(K: Array, b: Array, kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, p: Array) -> None:
    """p (n,), a solution, becomes the shortest with the same motion; it stays as it is where that is not found, or is a worse solution."""
    n = b.shape[0]
    d, S, c, L, form = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((n, n)), np.empty((kind.shape[0], 4))
    order, weight, x, q, z = np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    scaling(K, d)
    unit_diagonal(K, b, d, S, c)
    for i in range(n):
        order[i] = i
        weight[i] = 1.0 / (d[i] * d[i])
    rank = pivoted(S, weight, order, L)
    if rank == n or rank == 0 or largest_of(p) == 0.0:
        return
    T, R, Q, g = np.empty((n, rank)), np.empty((rank, rank)), np.empty((n, rank)), np.empty(rank)
    orthonormal(d, order, L, rank, T, R)
    for a in range(n):
        for m in range(rank):
            Q[order[a], m] = T[a, m]
    _sets(K, b, kind, at, mu, reach, slide, p, form)
    onto(Q, rank, p, g)
    copy(p, z)
    if not shortest_in_sets(Q, at, form, g, z, x):
        return
    before = certificate(K, b, kind, at, mu, reach, slide, p)
    copy(p, q)
    copy(x, p)
    if not certificate(K, b, kind, at, mu, reach, slide, p) <= max(before, SOLVED):
        copy(q, p)
