"""Poisson's law with Coulomb's cone, as Glocker and Pfeiffer have it: compression, then restitution of e times its normal impulse.

Compression ends where nothing approaches. With p_c, u_c = u⁻ + K p_c: Coulomb's law for u_c, as in a plastic impact. Restitution, with
u⁺ = u_c + K p_r:

    p_r,n = e p_c,n + x,    0 <= x ⟂ u_n⁺ >= 0,    |p_r,t| <= mu p_r,n,    p_r,t = -mu p_r,n u_t⁺ / |u_t⁺| where it slips.

x is the further impulse that keeps contacts from closing again. Without friction the law is that of contact/laws/poisson.py. For one
contact x = 0 and, as long as slip does not reverse within a phase, it is Routh's construction; where slip does, this law sees only the
ends of the phases.

Energy: with one e <= 1 for all contacts it cannot grow. The energy E(p) is convex, u⁺ is its gradient at p_r, and e p_c is in the cones of
restitution: E(p_r) <= E(e p_c) + u⁺ᵀ(p_r - e p_c) <= E(e p_c), by Coulomb's law. So
ΔT <= (1 + e) p_cᵀu_c - ½ (1 - e²) p_cᵀK p_c with p_cᵀu_c = -Σ mu p_c,n |u_c,t| <= 0. With several e it cannot grow without friction
(take p_c in place of e p_c); with friction it can, in rare cases, which ``Impact.energy_gain`` marks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb import problem as coulomb
from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.dense import copy
from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

NOISE = 1e-13  # relative rounding error of a difference of equal numbers
WRONG = 1e-12  # of the largest impulse or velocity: a contact on the wrong side of x ⟂ u_n


@jit
def impulses(problem: Problem, u: Array, e: Array) -> float:
    """Fills problem.p (n,) [N s], u (n,) [m/s] being the velocities before, e (k,); gives the worse certificate of the two phases."""
    k = problem.count
    at, n = problem.at, problem.at[problem.count]
    for i in range(n):
        problem.b[i], problem.p[i] = u[i], 0.0
    worst = coulomb.impulses(problem)
    if not worst < np.inf:
        return worst
    K, first, after, back = np.empty(n * n), np.empty(n), np.empty(n), np.empty(k)
    copy(problem.K[: n * n], K)
    copy(problem.p[:n], first)
    for i in range(n):
        total, size = u[i], abs(u[i])
        for j in range(n):
            part = K[i * n + j] * first[j]
            total += part
            size += abs(part)
        after[i] = total if abs(total) > NOISE * size else 0.0
    for i in range(k):
        back[i] = max(e[i] * first[at[i]], 0.0)
    worst = max(worst, _restitution(problem, K, after, back))
    copy(K, problem.K[: n * n])
    for i in range(n):
        problem.p[i] += first[i]
    return worst


@jit
def _restitution(problem: Problem, K: Array, u: Array, back: Array) -> float:
    """problem.p (n,) of restitution, u (n,) being velocities after compression and ``back`` (k,) the normal impulses to be given back.

    Contacts with x = 0, ``given``, and those with u_n = 0 are guessed, solved for, and changed where the guess was wrong: all at once, then
    one at a time.
    """
    k = problem.count
    n = problem.at[k]
    given, best, found = np.empty(k, np.int64), np.empty(n), np.inf
    for i in range(k):
        given[i] = 1 if back[i] > 0.0 else 0
    for turn in range(10 + 6 * k):
        _pose(problem, K, u, back, given)
        certificate = coulomb.impulses(problem)
        wrong = max(certificate, _put_right(problem, K, u, back, given, turn > 4 + k))
        if wrong < found:
            found = wrong
            copy(problem.p[:n], best)
        if not wrong > WRONG or certificate == wrong:
            break
    copy(best, problem.p[:n])
    return found


@jit
def _pose(problem: Problem, K: Array, u: Array, back: Array, given: Indices) -> None:
    """The contact problem in which ``given`` contacts have the normal impulses ``back``: their rows are decoupled, K_nn p_n = K_nn back."""
    at, k = problem.at, problem.count
    n = at[k]
    for i in range(n):
        problem.b[i], problem.p[i] = u[i], 0.0
        for j in range(n):
            problem.K[i * n + j] = K[i * n + j]
    for i in range(k):
        if given[i]:
            a = at[i]
            for j in range(n):
                problem.b[j] += K[j * n + a] * back[i]
    for i in range(k):
        if given[i]:
            a = at[i]
            for j in range(n):
                if j != a:
                    problem.K[a * n + j], problem.K[j * n + a] = 0.0, 0.0
            if not K[a * n + a] > 0.0:
                problem.K[a * n + a] = 1.0
            problem.b[a], problem.p[a] = -problem.K[a * n + a] * back[i], back[i]


@jit
def _put_right(problem: Problem, K: Array, u: Array, back: Array, given: Indices, one: bool) -> float:
    """Switch ``given`` of all contacts on the wrong side, or (``one``) of the worst alone; returns the largest violation, without unit."""
    at, k = problem.at, problem.count
    n, fastest, strongest, worst, which = at[problem.count], 0.0, 0.0, 0.0, -1
    lack = np.empty(k)
    for i in range(k):
        root = np.sqrt(max(K[at[i] * n + at[i]], 1e-300))
        fastest = max(fastest, abs(u[at[i]]) / root, back[i] * root)
        strongest = max(strongest, problem.p[at[i]] * root, back[i] * root)
    for i in range(k):
        a = at[i]
        root = np.sqrt(max(K[a * n + a], 1e-300))
        if given[i]:
            speed = u[a]
            for j in range(n):
                speed += K[a * n + j] * problem.p[j]
            lack[i] = -speed / root / max(fastest, 1e-300)
        else:
            lack[i] = (back[i] - problem.p[a]) * root / max(strongest, 1e-300) if back[i] > 0.0 else 0.0
        if lack[i] > worst:
            worst, which = lack[i], i
    for i in range(k):
        if lack[i] > WRONG and (not one or i == which):
            given[i] = 1 - given[i]
    return worst
