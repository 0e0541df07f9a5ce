"""An interior-point method for Coulomb's law, in as many unknowns as S has rank. Compiled.

With q = (yₙ, yₜ / μ) and one more unknown ψ >= |sₜ| for each contact, Coulomb's law is (De Saxcé's velocity inside)

    yₙ sₙ = κ,    yₙ ψ + qₜ·sₜ = κ,    yₙ sₜ + ψ qₜ = 0    with κ -> 0, yₙ > |qₜ|, sₙ > 0, ψ > |sₜ|:

the second and third are the product of (yₙ, qₜ) and (ψ, sₜ) in the algebra of second-order cones. For dry friction of a joint the head of
the first cone is 1 and q = y / reach. Newton's method (predictor and corrector of Mehrotra) with S = L Lᵀ: what a contact's velocity does
to its impulse is dy = -G ds + w, so that dz = Lᵀ dy solves (1 + Lᵀ G L) dz = Lᵀ (w - G r), r = S y + b - s.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.elimination import back_substitute, eliminate
from urdf_gibbs.contact.coulomb.modes import polish
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, SLIDING, Array, Indices, motion, natural_map
from urdf_gibbs.contact.dense import copy, fill, pivoted
from urdf_gibbs.engine.jit import jit

TURNS = 80
DONE = 1e-12  # natural map
LAST = 1e-15  # of the parameter κ
SHORT = 0.2  # a step below this is short
PATIENCE = 12  # short steps in a row
Q, V, PSI = range(3)  # rows of the unknowns: (yₙ, yₜ / μ), s, and ψ in the first row of its contact


@jit
def _has_cone(kind: int, mu: float) -> bool:
    return (kind == FRICTION and mu > 0.0) or kind == JOINT


@jit
def low_rank(S: Array) -> Array:
    """L (n, rank) with S = L Lᵀ."""
    n = S.shape[0]
    order, weight, P = np.empty(n, np.int64), np.empty(n), np.empty((n, n))
    for i in range(n):
        order[i] = i
        weight[i] = 1.0
    rank = pivoted(S, weight, order, P)
    L = np.empty((n, rank))
    for a in range(n):
        for c in range(rank):
            L[order[a], c] = P[a, c] if c <= a else 0.0
    return L


@jit
def _block(kind: int, law: Array, i: int, a: int, X: Array, A: Array, G: Array) -> None:
    """Of one contact: A⁻¹ (3, 3) of A dq + B ds = c, and G = E A⁻¹ B (3, 3) with dy = E dq."""
    for r in range(3):
        for c in range(3):
            A[i, r, c] = 0.0
            G[i, r, c] = 0.0
    mu, x, u = law[i, 0], X[Q, a], X[V, a]
    if kind == JOINT:
        A[i, 0, 0] = 1.0 / (X[PSI, a] - x * u)
        G[i, 0, 0] = mu * A[i, 0, 0] * (1.0 - x * x)
        return
    A[i, 0, 0] = 1.0 / u
    G[i, 0, 0] = x / u
    if kind == SLIDING:
        G[i, 1, 0], G[i, 2, 0] = -mu * law[i, 1] * G[i, 0, 0], -mu * law[i, 2] * G[i, 0, 0]
        return
    if kind != FRICTION or mu == 0.0:
        return
    q1, q2, u1, u2, psi = X[Q, a + 1], X[Q, a + 2], X[V, a + 1], X[V, a + 2], X[PSI, a]
    det = psi * (psi - (q1 * u1 + q2 * u2) / x)
    A[i, 1, 1], A[i, 1, 2] = (psi - q2 * u2 / x) / det, q1 * u2 / x / det
    A[i, 2, 1], A[i, 2, 2] = q2 * u1 / x / det, (psi - q1 * u1 / x) / det
    h1, h2 = (u1 - q1 * psi / x) / u, (u2 - q2 * psi / x) / u
    B11, B12, B22 = x - q1 * q1 / x, -q1 * q2 / x, x - q2 * q2 / x
    for r in range(1, 3):
        A[i, r, 0] = -(A[i, r, 1] * h1 + A[i, r, 2] * h2)
        G[i, r, 0] = mu * A[i, r, 0] * x
        G[i, r, 1] = mu * (A[i, r, 1] * B11 + A[i, r, 2] * B12)
        G[i, r, 2] = mu * (A[i, r, 1] * B12 + A[i, r, 2] * B22)


@jit
def _right(kind: int, mu: float, a: int, X: Array, F: Array, second: float, target: float, c: Array) -> float:
    """c (3,) of A dq + B ds = c for κ = target, with ``second`` times the products of the steps F. Gives what the cone's head lacks."""
    x, u, psi = X[Q, a], X[V, a], X[PSI, a]
    dx, du, dpsi = second * F[Q, a], F[V, a], F[PSI, a]
    if kind == JOINT:
        e = target - psi - x * u - dx * du
        c[0] = -(u + psi * x) - dx * dpsi - x * e
        return e
    c[0], c[1], c[2] = target - x * u - dx * du, 0.0, 0.0
    if not _has_cone(kind, mu):
        return 0.0
    e = target - x * psi - dx * dpsi
    for r in range(1, 3):
        e -= X[Q, a + r] * X[V, a + r] + second * F[Q, a + r] * F[V, a + r]
    for r in range(1, 3):
        c[r] = -(x * X[V, a + r] + psi * X[Q, a + r]) - dx * F[V, a + r] - second * dpsi * F[Q, a + r] - X[Q, a + r] / x * e
    return e


@jit
def _weights(kind: Indices, at: Indices, law: Array, X: Array, F: Array, second: float, target: float, A: Array, W: Array) -> None:
    """W (2, n): of each contact A⁻¹ c, and in the first of its rows of W[1] the residual of the cone's head."""
    c = np.empty(3)
    for i in range(kind.shape[0]):
        a = at[i]
        W[1, a] = _right(kind[i], law[i, 0], a, X, F, second, target, c)
        for r in range(at[i + 1] - a):
            W[0, a + r] = A[i, r, 0] * c[0]
            if r > 0:
                W[0, a + r] += A[i, r, 1] * c[1] + A[i, r, 2] * c[2]


@jit
def _spread(kind: int, law: Array, i: int, r: int, w0: float, wr: float) -> float:
    """Row r of dy = E dq, from the first entry of dq and its own."""
    if kind == JOINT:
        return law[i, 0] * w0
    if r == 0:
        return w0
    if kind == SLIDING:
        return -law[i, 0] * law[i, r] * w0
    return law[i, 0] * wr


@jit
def _matrix(L: Array, rank: int, at: Indices, G: Array, H: Array) -> None:
    """H (rank, rank) = 1 + Lᵀ G L."""
    for i in range(rank):
        for j in range(rank):
            H[i, j] = 1.0 if i == j else 0.0
    T = np.empty(rank)
    for i in range(G.shape[0]):
        a = at[i]
        rows = at[i + 1] - a
        for r in range(rows):
            for j in range(rank):
                T[j] = G[i, r, 0] * L[a, j]
            if r > 0:
                for c in range(1, rows):
                    for j in range(rank):
                        T[j] += G[i, r, c] * L[a + c, j]
            for k in range(rank):
                value = L[a + r, k]
                if value != 0.0:
                    for j in range(rank):
                        H[k, j] += value * T[j]


@jit
def _direction(L: Array, kind: Indices, at: Indices, law: Array, X: Array, W: Array, G: Array, H: Array, order: Indices, D: Array) -> None:
    """D (3, n), steps of q, s and ψ, from H factorised, W and r = W[2]."""
    n, rank = L.shape[0], H.shape[0]
    z = np.empty(rank)
    fill(z, 0.0)
    for i in range(kind.shape[0]):
        a = at[i]
        rows = at[i + 1] - a
        for r in range(rows):
            value = _spread(kind[i], law, i, r, W[0, a], W[0, a + r])
            for c in range(rows if r > 0 else 1):
                value -= G[i, r, c] * W[2, a + c]
            for k in range(rank):
                z[k] += L[a + r, k] * value
    back_substitute(H, rank, order, z)
    for j in range(n):
        D[V, j] = W[2, j]
        for k in range(rank):
            D[V, j] += L[j, k] * z[k]
    for i in range(kind.shape[0]):
        a = at[i]
        rows = at[i + 1] - a
        D[Q, a] = W[0, a]
        share = law[i, 0] if kind[i] == JOINT else 1.0
        if share > 0.0:
            D[Q, a] -= G[i, 0, 0] * D[V, a] / share
        D[PSI, a] = 0.0
        if kind[i] == JOINT:
            D[PSI, a] = W[1, a] - X[V, a] * D[Q, a] - X[Q, a] * D[V, a]
        if not (kind[i] == FRICTION and law[i, 0] > 0.0):
            for r in range(1, rows):
                D[Q, a + r] = 0.0
            continue
        head = W[1, a] - X[PSI, a] * D[Q, a]
        for r in range(1, rows):
            D[Q, a + r] = W[0, a + r]
            for c in range(3):
                D[Q, a + r] -= G[i, r, c] / law[i, 0] * D[V, a + c]
        for r in range(1, rows):
            head -= X[V, a + r] * D[Q, a + r] + X[Q, a + r] * D[V, a + r]
        D[PSI, a] = head / X[Q, a]


@jit
def _to_cone(x: float, y1: float, y2: float, dx: float, d1: float, d2: float) -> float:
    """The largest t for which (x, y) + t (dx, d) is in the cone x >= |y|, from inside."""
    a = dx * dx - d1 * d1 - d2 * d2
    h = x * dx - y1 * d1 - y2 * d2
    c = max(x * x - y1 * y1 - y2 * y2, 0.0)
    if a >= 0.0 and h >= 0.0:
        return 1e300 if dx >= 0.0 else -x / dx
    under = h * h - a * c
    if under < 0.0:
        return 1e300
    root = -h + np.sqrt(under)  # c / root is the smaller positive root of a t² + 2 h t + c = 0
    return c / root if root > 0.0 else 1e300


@jit
def _room(kind: Indices, at: Indices, law: Array, X: Array, D: Array) -> float:
    """How far the step may go before something leaves its cone."""
    t = 1e300
    for i in range(kind.shape[0]):
        a = at[i]
        if kind[i] == JOINT:
            t = min(t, _to_cone(1.0, X[Q, a], 0.0, 0.0, D[Q, a], 0.0))
            t = min(t, _to_cone(X[PSI, a], X[V, a], 0.0, D[PSI, a], D[V, a], 0.0))
            continue
        for row in (Q, V):
            if D[row, a] < 0.0:
                t = min(t, -X[row, a] / D[row, a])
        if _has_cone(kind[i], law[i, 0]):
            t = min(t, _to_cone(X[Q, a], X[Q, a + 1], X[Q, a + 2], D[Q, a], D[Q, a + 1], D[Q, a + 2]))
            t = min(t, _to_cone(X[PSI, a], X[V, a + 1], X[V, a + 2], D[PSI, a], D[V, a + 1], D[V, a + 2]))
    return t


@jit
def _products(kind: Indices, at: Indices, law: Array, X: Array, D: Array, t: float) -> float:
    """The mean of all products after a step of length t: κ of the central path."""
    total, count = 0.0, 0
    for i in range(kind.shape[0]):
        a = at[i]
        cone = _has_cone(kind[i], law[i, 0])
        x, u, psi = X[Q, a] + t * D[Q, a], X[V, a] + t * D[V, a], X[PSI, a] + t * D[PSI, a]
        if kind[i] == JOINT:
            total += psi + x * u
            count += 1
            continue
        total += x * u
        count += 1
        if cone:
            count += 1
            total += x * psi
            for r in range(1, 3):
                total += (X[Q, a + r] + t * D[Q, a + r]) * (X[V, a + r] + t * D[V, a + r])
    return total / count


@jit
def _impulses(kind: Indices, at: Indices, law: Array, X: Array, y: Array) -> None:
    for i in range(kind.shape[0]):
        a = at[i]
        for r in range(at[i + 1] - a):
            y[a + r] = _spread(kind[i], law, i, r, X[Q, a], X[Q, a + r])


@jit
def _start(kind: Indices, at: Indices, start: float, X: Array) -> None:
    """All products start², or start for joints."""
    for j in range(X.shape[1]):
        X[Q, j], X[V, j], X[PSI, j] = 0.0, 0.0, 0.0
    for i in range(kind.shape[0]):
        X[PSI, at[i]] = start
        if kind[i] != JOINT:
            X[Q, at[i]], X[V, at[i]] = start, start


@jit
def _advance(L: Array, kind: Indices, at: Indices, law: Array, X: Array, W: Array, kappa: float, short: int) -> float:
    """One step of X, predictor and corrector, with r = W[2]; gives its length, 0 where there is none."""
    n, rank, k = L.shape[0], L.shape[1], kind.shape[0]
    A, G, H, order = np.empty((k, 3, 3)), np.empty((k, 3, 3)), np.empty((rank, rank)), np.empty(rank, np.int64)
    F, D = np.empty((3, n)), np.empty((3, n))
    for j in range(n):
        F[Q, j], F[V, j], F[PSI, j] = 0.0, 0.0, 0.0
    for i in range(k):
        _block(kind[i], law, i, at[i], X, A, G)
    _matrix(L, rank, at, G, H)
    if not eliminate(H, rank, order):
        return 0.0
    _weights(kind, at, law, X, F, 0.0, 0.0, A, W)
    _direction(L, kind, at, law, X, W, G, H, order, F)
    t = min(1.0, _room(kind, at, law, X, F))
    ahead = max(_products(kind, at, law, X, F, t), 0.0) / kappa
    sigma = min(1.0, max(1e-6, ahead * ahead * ahead))
    if short > 0:
        sigma = min(1.0, 0.5 + 0.25 * short)
    _weights(kind, at, law, X, F, 0.0 if short > 0 else 1.0, sigma * kappa, A, W)
    _direction(L, kind, at, law, X, W, G, H, order, D)
    t = min(1.0, min(max(0.9, 1.0 - kappa), 0.9999) * _room(kind, at, law, X, D))
    for j in range(n):
        for row in range(3):
            X[row, j] += t * D[row, j]
    return t


@jit
def interior(S: Array, b: Array, kind: Indices, at: Indices, law: Array, y: Array, start: float) -> float:
    """From the point where all products are start²; y becomes the best that was found. Gives its natural map."""
    n = b.shape[0]
    L = low_rank(S)
    X, W, z, s = np.empty((3, n)), np.empty((3, n)), np.empty(n), np.empty(n)
    _start(kind, at, start, X)
    best, tried, short = 1e300, 1.0, 0
    for turn in range(TURNS):
        kappa = _products(kind, at, law, X, X, 0.0)
        _impulses(kind, at, law, X, z)
        motion(S, b, z, s)
        for j in range(n):
            W[2, j] = s[j] - X[V, j]
        if turn > 0:
            if kappa < 1e-3 * tried:
                tried = kappa
                now = polish(S, b, kind, at, law, z, 6)
            else:
                now = natural_map(kind, at, law, z, s)
            if now < best:
                best = now
                copy(z, y)
            if best <= DONE or kappa < LAST or not kappa < 1e100:
                break
        t = _advance(L, kind, at, law, X, W, kappa, short)
        short = short + 1 if t < SHORT else 0
        if short > PATIENCE or not t > 0.0:
            break
    return best
