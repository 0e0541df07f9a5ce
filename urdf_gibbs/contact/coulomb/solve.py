"""Impulses of contacts with Coulomb's friction: u = K p + b with the laws of scaled.py. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.branching import FOUND, NONE, searched
from urdf_gibbs.contact.coulomb.certificate import SOLVED, certificate
from urdf_gibbs.contact.coulomb.gauss_seidel import sweep
from urdf_gibbs.contact.coulomb.infeasible import infeasible
from urdf_gibbs.contact.coulomb.modes import HUGE, polish
from urdf_gibbs.contact.coulomb.path import follow
from urdf_gibbs.contact.coulomb.proximal import proximal
from urdf_gibbs.contact.coulomb.scaled import SLIDING, Array, Indices, motion, row_scaling, scaled_law, scaled_problem
from urdf_gibbs.contact.dense import copy, fill, finite, finite_matrix, largest_of
from urdf_gibbs.engine.jit import jit

REAL = 1e-8  # a violation above this is no rounding error
GOOD = 1e-12  # natural map: nothing more to look for
FINE = 3e-12  # the same after many turns: what is left is rounding
NEARLY = 1e-4  # below this the modes are all but known
CLOSE = 1e-3  # certificates below this are worth hundreds of easier problems
STEPS = 12  # of Newton's method


@jit
def solve(K: Array, b: Array, kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, p: Array, nearby: int = 0) -> float:
    """p (n,) with all that is asked for, see scaled.py; starts at the p that is given, with Newton's method alone if ``nearby``.

    K (n, n) [1/kg] symmetric and positive semi-definite, b (n,) [m/s], kind (k,), at (k + 1,), mu (k,), reach (k,) [N s], slide (k, 2).
    Gives the certificate: below SOLVED the impulses are right; inf where it is proved that there is no solution; else p is the best that
    was found. NaN for input that is not finite.
    """
    n, k = b.shape[0], kind.shape[0]
    if not (finite_matrix(K) and finite(b)):
        fill(p, np.nan)
        return np.nan
    d, S, c, law, y = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((k, 3)), np.empty(n)
    row_scaling(K, kind, at, d)
    size = scaled_problem(K, b, d, S, c)
    if size == 0.0:
        fill(p, 0.0)
        return 0.0
    scaled_law(kind, at, mu, reach, slide, d, size, law)
    for i in range(n):
        y[i] = p[i] / d[i] / size
    if not (finite(y) and largest_of(y) <= HUGE):  # no guess, or one of another problem
        fill(y, 0.0)
    _search(S, c, kind, at, law, y, nearby)
    for i in range(n):
        p[i] = y[i] * d[i] * size
    worst = certificate(K, b, kind, at, mu, reach, slide, p)
    if nearby:
        return worst
    if SOLVED < worst < CLOSE:
        worst = draw(K, b, kind, at, mu, reach, slide, p, 0)
    return np.inf if worst > REAL and infeasible(S, c, kind, at, law) else worst


@jit
def draw(K: Array, b: Array, kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, p: Array, curves: int) -> float:
    """As ``solve``, for what that has left open: p by the proximal point method, from p and from zero, where that is better, then at the
    end of one of so many ``curves`` with other beginnings.

    Gives the certificate.
    """
    n, k = b.shape[0], kind.shape[0]
    worst = certificate(K, b, kind, at, mu, reach, slide, p)
    d, S, c, law, x, y = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((k, 3)), np.empty(n), np.empty(n)
    row_scaling(K, kind, at, d)
    size = scaled_problem(K, b, d, S, c)
    if not worst > SOLVED or size == 0.0:
        return worst
    scaled_law(kind, at, mu, reach, slide, d, size, law)
    for i in range(n):
        x[i] = p[i] / d[i] / size
    for turn in range(2 + curves):
        for i in range(n):
            y[i] = x[i] if turn == 0 else 0.0
        if turn < 2:
            proximal(S, c, kind, at, law, y)
        else:
            follow(S, c, kind, at, law, y, 1.0, turn - 1)
        for i in range(n):
            y[i] *= d[i] * size
        now = certificate(K, b, kind, at, mu, reach, slide, y)
        if now < worst:
            copy(y, p)
            worst = now
        if worst <= SOLVED:
            break
    return worst


@jit
def decide(K: Array, b: Array, kind: Indices, at: Indices, mu: Array, reach: Array, slide: Array, p: Array, limit: int) -> float:
    """As ``solve``, for what that has left open: p from a search through all modes, of up to ``limit`` linear programs, see branching.py.

    Gives the certificate of the better one of both p, or inf.
    """
    n, k = b.shape[0], kind.shape[0]
    worst = certificate(K, b, kind, at, mu, reach, slide, p)
    d, S, c, law, y = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((k, 3)), np.empty(n)
    row_scaling(K, kind, at, d)
    size = scaled_problem(K, b, d, S, c)
    if not worst > REAL or size == 0.0:
        return worst
    scaled_law(kind, at, mu, reach, slide, d, size, law)
    found = searched(S, c, kind, at, law, limit, y)
    if found == NONE:
        return np.inf
    if found == FOUND:
        for i in range(n):
            y[i] *= d[i] * size
        now = certificate(K, b, kind, at, mu, reach, slide, y)
        if now < worst:
            copy(y, p)
            worst = now
    return worst


@jit
def _search(S: Array, b: Array, kind: Indices, at: Indices, law: Array, y: Array, nearby: int) -> None:
    """The methods in turn, until one has found the solution; only the first if ``nearby``."""
    n = b.shape[0]
    z, best = np.empty(n), np.empty(1)
    for i in range(kind.shape[0]):
        if kind[i] == SLIDING:
            for r in range(1, 3):
                y[at[i] + r] = -law[i, 0] * y[at[i]] * law[i, r]
    copy(y, z)
    best[0] = 1e300
    if largest_of(y) > 0.0 and _swept(S, b, kind, at, law, 0, z, y, best):  # a guess may have the modes of the solution
        return
    if nearby:
        return
    for turns in (3, 6, 12, 24):
        if _swept(S, b, kind, at, law, turns, z, y, best):
            return
    if best[0] <= FINE * max(1.0, largest_of(y)):
        return
    for care in (1.0, 8.0):
        now = follow(S, b, kind, at, law, z, care)
        if now < best[0]:
            best[0] = now
            copy(z, y)
        if now <= GOOD * max(1.0, largest_of(y)):
            return
        if now < NEARLY:
            for _ in range(5):
                if _swept(S, b, kind, at, law, 50, z, y, best):
                    return


@jit
def _swept(S: Array, b: Array, kind: Indices, at: Indices, law: Array, turns: int, z: Array, y: Array, best: Array) -> bool:
    """Gauss-Seidel from z, then Newton's method; y and ``best`` (1,), its natural map, where that is better. Whether it is good."""
    n = b.shape[0]
    s, x = np.empty(n), np.empty(n)
    motion(S, b, z, s)
    for _ in range(turns):
        sweep(S, kind, at, law, z, s)
    copy(z, x)
    now = polish(S, b, kind, at, law, x, STEPS)
    if now < best[0]:
        best[0] = now
        copy(x, y)
    return best[0] <= GOOD * max(1.0, largest_of(y))
