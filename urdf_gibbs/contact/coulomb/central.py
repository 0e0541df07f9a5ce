"""Coulomb's law made smooth by one number κ: impulses as functions of velocities, and their rates. Compiled.

    yₙ sₙ = κ,    yₜ = -μ yₙ sₜ / ψ,    ψ = a + h,    h = √(a² + |sₜ|²),    a = κ / (2 yₙ)

tends to Coulomb's law as κ -> 0. It is the central path of the second-order cones of impulses and of De Saxcé's velocities: with
qₜ = yₜ / μ, (yₙ, qₜ) ∘ (ψ, sₜ) = (κ, 0), and 1 - |qₜ|² / yₙ² = κ / (yₙ ψ). For dry friction of a joint y = -reach s / ψ with a = κ / 2.
A small change is

    dy = -G ds + w dκ,

with G (3, 3) of each contact. Where S = L Lᵀ and r is what velocities lack, ds = S dy + r leads to (1 + Lᵀ G L) dz = Lᵀ (w dκ - G r),
dz = Lᵀ dy: as many unknowns as S has rank.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.elimination import back_substitute
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, SLIDING, Array, Indices
from urdf_gibbs.contact.dense import fill, pivoted
from urdf_gibbs.engine.jit import jit

Y, V = 0, 1  # rows of a state Z (2, n) and of its changes: impulses y and velocities s
INSIDE = 0.8  # |yₜ| below this part of μ yₙ: the impulse tells where the state is, else the velocity


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
def rates(kind: int, law: Array, i: int, a: int, Z: Array, kappa: float, G: Array, w: Array) -> None:
    """G[i] (3, 3) and w[a : a + rows] of one contact."""
    mu, x, u = law[i, 0], Z[Y, a], Z[V, a]
    for r in range(3):
        for c in range(3):
            G[i, r, c] = 0.0
    if kind == JOINT:
        half = 0.5 * kappa
        h = np.hypot(half, u)
        psi = half + h
        G[i, 0, 0], w[a] = mu * half / (psi * h), 0.5 * mu * u / (psi * h)
        return
    G[i, 0, 0], w[a] = x / u, 1.0 / u
    if kind == SLIDING:
        for r in range(1, 3):
            G[i, r, 0], w[a + r] = -mu * law[i, r] * G[i, 0, 0], -mu * law[i, r] * w[a]
    elif kind == FRICTION:
        u1, u2 = Z[V, a + 1], Z[V, a + 2]
        half = 0.5 * kappa / x
        h = np.sqrt(half * half + u1 * u1 + u2 * u2)
        psi = half + h
        share = 1.0 / (h * psi)  # (1 - a / h) û ûᵀ = sₜ sₜᵀ / (h ψ)
        scale = mu * x / psi
        G[i, 1, 1], G[i, 1, 2] = scale * (half + u2 * u2 / psi) / h, -scale * u1 * u2 * share
        G[i, 2, 1], G[i, 2, 2] = G[i, 1, 2], scale * (half + u1 * u1 / psi) / h
        for r in range(1, 3):
            rate = -mu * Z[V, a + r] / psi * (1.0 + half / h)
            G[i, r, 0] = rate * G[i, 0, 0]
            w[a + r] = rate * w[a] + 0.5 * mu * Z[V, a + r] * share


@jit
def matrix(L: Array, at: Indices, G: Array, H: Array) -> None:
    """H (rank, rank) = 1 + Lᵀ G L."""
    rank = L.shape[1]
    for i in range(rank):
        for j in range(rank):
            H[i, j] = 1.0 if i == j else 0.0
    T = np.empty((3, rank))
    for i in range(G.shape[0]):
        a = at[i]
        if at[i + 1] - a == 1:
            for k in range(rank):
                value = G[i, 0, 0] * L[a, k]
                if value != 0.0:
                    for j in range(rank):
                        H[k, j] += value * L[a, j]
            continue
        for j in range(rank):
            T[0, j] = G[i, 0, 0] * L[a, j]
            T[1, j] = G[i, 1, 0] * L[a, j] + G[i, 1, 1] * L[a + 1, j] + G[i, 1, 2] * L[a + 2, j]
            T[2, j] = G[i, 2, 0] * L[a, j] + G[i, 2, 1] * L[a + 1, j] + G[i, 2, 2] * L[a + 2, j]
        for k in range(rank):
            x, y, z = L[a, k], L[a + 1, k], L[a + 2, k]
            for j in range(rank):
                H[k, j] += x * T[0, j] + y * T[1, j] + z * T[2, j]


@jit
def change(L: Array, at: Indices, G: Array, w: Array, part: float, r: Array, H: Array, order: Indices, D: Array) -> None:
    """D (2, n): what r (n,) and ``part`` of w do to impulses and velocities, with H factorised."""
    n, rank = L.shape
    z = np.empty(rank)
    fill(z, 0.0)
    _answer(at, G, w, part, r, D[Y])
    for j in range(n):
        for k in range(rank):
            z[k] += L[j, k] * D[Y, j]
    back_substitute(H, rank, order, z)
    for j in range(n):
        total = r[j]
        for k in range(rank):
            total += L[j, k] * z[k]
        D[V, j] = total
    _answer(at, G, w, part, D[V], D[Y])


@jit
def _answer(at: Indices, G: Array, w: Array, part: float, u: Array, y: Array) -> None:
    """y = part w - G u."""
    for i in range(G.shape[0]):
        a = at[i]
        rows = at[i + 1] - a
        for r in range(rows):
            total = part * w[a + r] - G[i, r, 0] * u[a]
            if r > 0:
                for c in range(1, rows):
                    total -= G[i, r, c] * u[a + c]
            y[a + r] = total


@jit
def distances(kind: Indices, at: Indices, law: Array, Z: Array, kappa: float, M: Array) -> None:
    """M (2, n): squares of inverse sizes, by which changes are measured: of yₙ, and of yₜ inside of the cone or of sₜ at its side."""
    for j in range(Z.shape[1]):
        M[Y, j], M[V, j] = 0.0, 0.0
    for i in range(kind.shape[0]):
        a = at[i]
        mu, x = law[i, 0], Z[Y, a]
        if kind[i] == JOINT:
            psi = 0.5 * kappa + np.hypot(0.5 * kappa, Z[V, a])
            if abs(Z[Y, a]) < INSIDE * mu:
                M[Y, a] = 1.0 / (mu * mu)
            else:
                M[V, a] = 1.0 / (psi * psi)
            continue
        M[Y, a] = 1.0 / (x * x)
        if kind[i] == FRICTION and mu > 0.0:
            half = 0.5 * kappa / x
            psi = half + np.sqrt(half * half + Z[V, a + 1] * Z[V, a + 1] + Z[V, a + 2] * Z[V, a + 2])
            inside = np.hypot(Z[Y, a + 1], Z[Y, a + 2]) < INSIDE * mu * x
            for r in range(1, 3):
                if inside:
                    M[Y, a + r] = 1.0 / (mu * x * mu * x)
                else:
                    M[V, a + r] = 1.0 / (psi * psi)


@jit
def moved(kind: Indices, at: Indices, law: Array, Z: Array, D: Array, t: float, kappa: float, M: Array, N: Array) -> None:
    """N: the state of κ that lies at Z + t D, as far as M measures it."""
    for i in range(kind.shape[0]):
        a = at[i]
        if kind[i] == JOINT:
            _joint(law[i, 0], Z[Y, a] + t * D[Y, a], Z[V, a] + t * D[V, a], kappa, M[Y, a] > 0.0, a, N)
            continue
        x = Z[Y, a] * np.exp(min(max(t * D[Y, a] / Z[Y, a], -5.0), 5.0))
        N[Y, a], N[V, a] = x, kappa / x
        if kind[i] == FRICTION:
            _friction(law[i, 0], a, Z, D, t, kappa, M[Y, a + 1] > 0.0, N)
        elif kind[i] == SLIDING:
            for r in range(1, 3):
                N[Y, a + r], N[V, a + r] = -law[i, 0] * law[i, r] * x, Z[V, a + r] + t * D[V, a + r]


@jit
def _joint(reach: float, y: float, u: float, kappa: float, inside: bool, a: int, N: Array) -> None:
    """y = -reach s / ψ, from y where that is well inside, else from s."""
    half = 0.5 * kappa
    if inside and abs(y) < 0.95 * reach:
        q = y / reach
        N[Y, a], N[V, a] = y, -q * kappa / (1.0 - q * q)
    else:
        N[Y, a], N[V, a] = -reach * u / (half + np.hypot(half, u)), u


@jit
def _friction(mu: float, a: int, Z: Array, D: Array, t: float, kappa: float, inside: bool, N: Array) -> None:
    """The same for yₜ = -μ yₙ sₜ / ψ, with yₙ in N."""
    x = N[Y, a]
    y1, y2 = Z[Y, a + 1] + t * D[Y, a + 1], Z[Y, a + 2] + t * D[Y, a + 2]
    if inside and np.hypot(y1, y2) < 0.95 * mu * x:
        part = (y1 * y1 + y2 * y2) / (mu * x * mu * x)
        ratio = -kappa / (x * (1.0 - part)) / (mu * x)  # -ψ / (μ yₙ)
        N[Y, a + 1], N[Y, a + 2], N[V, a + 1], N[V, a + 2] = y1, y2, ratio * y1, ratio * y2
        return
    u1, u2 = Z[V, a + 1] + t * D[V, a + 1], Z[V, a + 2] + t * D[V, a + 2]
    half = 0.5 * kappa / x
    ratio = -mu * x / (half + np.sqrt(half * half + u1 * u1 + u2 * u2))
    N[Y, a + 1], N[Y, a + 2], N[V, a + 1], N[V, a + 2] = ratio * u1, ratio * u2, u1, u2
