"""One island of a sparse contact problem: by Newton's method from a warm start, with Gauss-Seidel in between. Compiled.

An island with few rows for its velocities becomes a dense problem, for ``solve``. So does a small one for which nothing else works: then
there is a solution, or a proof that there is none.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.certificate import SOLVED, judged
from urdf_gibbs.contact.coulomb.infeasible import admissible
from urdf_gibbs.contact.coulomb.problem import MANY, impulses
from urdf_gibbs.contact.coulomb.scaled import natural_map
from urdf_gibbs.contact.coulomb.sparse import Sparse, count_columns, forget_columns, gather_motion, own_blocks, sweep_sparse, velocities
from urdf_gibbs.contact.coulomb.sparse_newton import largest_impulse, polish_sparse
from urdf_gibbs.engine.jit import entry, jit

GOOD = 1e-11  # natural map, of the largest impulse: nothing more to look for
STEPS = 8  # of Newton's method
SWEEPS = 4000  # of an island that is too large for a dense problem
FEWER_SWEEPS = 60  # of others
DENSE = 1.0  # rows for each velocity: up to this the dense problem is the smaller one


@jit
def scale_island(g: Sparse, low: int, high: int, factor: float) -> None:
    """b and y times a factor."""
    for r in range(g.at[low], g.at[high]):
        g.b[r] *= factor
        g.y[r] *= factor


@jit
def largest_velocity(g: Sparse, low: int, high: int) -> float:
    """max |b| of the island; NaN where b or y is not finite."""
    largest, total = 0.0, 0.0
    for r in range(g.at[low], g.at[high]):
        largest = max(largest, abs(g.b[r]))
        total += 0.0 * g.b[r] + 0.0 * g.y[r]
    return largest if total == 0.0 else np.nan


@jit
def make_dense(g: Sparse, low: int, high: int, count: int) -> None:
    """The island as a dense problem, with y as the start; its columns have their place in g.place."""
    problem, B, columns, place = g.dense, g.B, g.columns, g.place
    first, n = g.at[low], g.at[high] - g.at[low]
    K, spread = problem.K, np.empty((3, count))
    for i in range(low, high):
        c, a, w, at = i - low, g.at[i] - first, g.width[i], g.column_at[i]
        rows = g.at[i + 1] - g.at[i]
        problem.kind[c], problem.at[c], problem.mu[c], problem.reach[c] = g.kind[i], a, g.law[i, 0], 0.0
        problem.slide[c, 0], problem.slide[c, 1] = 0.0, 0.0
        for r in range(rows):
            problem.b[a + r], problem.p[a + r] = g.b[first + a + r], g.y[first + a + r]
            for m in range(count):
                spread[r, m] = 0.0
            for m in range(w):
                spread[r, place[columns[at + m]]] = B[g.start[i] + r * w + m]
        for j in range(low, i + 1):
            w, at = g.width[j], g.column_at[j]
            for e in range(g.at[j + 1] - g.at[j]):
                base, other = g.start[j] + e * w, g.at[j] - first + e
                for r in range(rows):
                    total = 0.0
                    for m in range(w):
                        total += spread[r, place[columns[at + m]]] * B[base + m]
                    K[(a + r) * n + other] = total
                    K[other * n + a + r] = total
    problem.at[high - low], problem.count = n, high - low


@jit
def ask_dense(g: Sparse, low: int, high: int, count: int) -> float:
    """y by the dense problem; gives its certificate."""
    make_dense(g, low, high, count)
    certificate = impulses(g.dense)
    first = g.at[low]
    for r in range(g.at[high] - first):
        g.y[first + r] = g.dense.p[r]
    gather_motion(g, low, high)
    velocities(g, low, high)
    return certificate


@jit
def search(g: Sparse, low: int, high: int, count: int, sweeps: int) -> bool:
    """Newton's method, from where y is and after more and more sweeps; y becomes the best that was found. Whether it is good."""
    kind, at, law = g.kind[low:high], g.at[low : high + 1], g.law[low:high]
    first, n = g.at[low], g.at[high] - g.at[low]
    swept, kept = np.empty(n), np.empty(n)
    for r in range(n):
        swept[r] = g.y[first + r]
    best, turns, done = polish_sparse(g, low, high, count, STEPS), 3, 0
    if best <= GOOD * largest_impulse(g, low, high):
        return True
    own_blocks(g, low, high)
    while done < sweeps:
        for r in range(n):
            kept[r], g.y[first + r] = g.y[first + r], swept[r]
        gather_motion(g, low, high)
        for _ in range(turns):
            sweep_sparse(g, low, high)
        for r in range(n):
            swept[r] = g.y[first + r]
        now = polish_sparse(g, low, high, count, STEPS)
        if not now < best:
            for r in range(n):
                g.y[first + r] = kept[r]
        best = min(now, best)
        if best <= GOOD * largest_impulse(g, low, high):
            return True
        done, turns = done + turns, min(2 * turns, 100)
    gather_motion(g, low, high)
    velocities(g, low, high)
    return natural_map(kind, at, law, g.y, g.s) <= GOOD * largest_impulse(g, low, high)


@entry(Sparse, int, int, returns=float)
def solve_island(g: Sparse, low: int, high: int) -> float:
    """y, z and s of the contacts low ... high - 1, from the y that is given; gives the certificate.

    NaN where b or y is not finite; inf where it is proved that there is no solution.
    """
    size = largest_velocity(g, low, high)
    if size == 0.0 or np.isnan(size):
        for r in range(g.at[low], g.at[high]):
            g.y[r], g.s[r] = 0.0, 0.0
        gather_motion(g, low, high)
        return size
    kind, at, law = g.kind[low:high], g.at[low : high + 1], g.law[low:high]
    scale_island(g, low, high, 1.0 / size)
    admissible(kind, at, law, g.y)
    count, rows, certificate = count_columns(g, low, high), g.at[high] - g.at[low], 0.0
    if high - low < MANY and rows <= DENSE * count:
        certificate = ask_dense(g, low, high, count)
    else:
        good = search(g, low, high, count, FEWER_SWEEPS if high - low < MANY else SWEEPS)
        certificate = judged(kind, at, law, g.y, g.s, 1.0)
        if not good and not certificate <= SOLVED and high - low < MANY:
            certificate = ask_dense(g, low, high, count)
    forget_columns(g, low, high)
    if certificate < np.inf:
        certificate = judged(kind, at, law, g.y, g.s, 1.0)
    scale_island(g, low, high, size)
    gather_motion(g, low, high)
    velocities(g, low, high)
    return certificate
