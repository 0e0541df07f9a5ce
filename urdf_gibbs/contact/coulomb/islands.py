"""One island of a sparse contact problem: by Newton's method from a warm start, with Gauss-Seidel in between. Compiled.

An island with no more rows than velocities becomes a dense problem, for ``solve``. So does a small one for which nothing else works: then
there is a solution, or a proof that there is none.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.certificate import SOLVED, judged
from urdf_gibbs.contact.coulomb.infeasible import admissible
from urdf_gibbs.contact.coulomb.modes import polish
from urdf_gibbs.contact.coulomb.problem import MANY, impulses
from urdf_gibbs.contact.coulomb.scaled import JOINT, Array
from urdf_gibbs.contact.coulomb.sparse import Sparse, count_columns, forget_columns, gather_motion, own_blocks, sweep_sparse, velocities
from urdf_gibbs.contact.coulomb.sparse_newton import largest_impulse, polish_sparse
from urdf_gibbs.contact.coulomb.sticking import stick
from urdf_gibbs.contact.dense import largest_of
from urdf_gibbs.engine.jit import entry, jit

GOOD = 1e-11  # natural map, of the largest impulse: nothing more to look for
ENOUGH = 1e-12  # the same, at which Newton's method stops
STEPS = 8  # of Newton's method
FEW_STEPS = 4  # of it, from a start that should be near
SWEEPS = 4000  # of an island that is too large for a dense problem
FEWER_SWEEPS = 60  # of others


@jit
def scale_island(g: Sparse, low: int, high: int, factor: float) -> None:
    """b, y and what dry friction can do, times a factor."""
    for i in range(low, high):
        if g.kind[i] == JOINT:
            g.law[i, 0] *= factor
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
def rough_block(g: Sparse, j: int, spread: Array, block: Array) -> None:
    """block (3, 3): the rows of a contact, which stand in spread (count, 3) by the places of their columns, times those of contact j,
    which has three of them."""
    B, columns, place, w, first, base = g.B, g.columns, g.place, g.width[j], g.column_at[j], g.start[j]
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for m in range(w):
        own = spread[place[columns[first + m]]]
        x, y, z = own[0], own[1], own[2]
        a, b, c = B[base + m], B[base + w + m], B[base + 2 * w + m]
        xx, xy, xz = xx + x * a, xy + x * b, xz + x * c
        yx, yy, yz = yx + y * a, yy + y * b, yz + y * c
        zx, zy, zz = zx + z * a, zy + z * b, zz + z * c
    block[0, 0], block[0, 1], block[0, 2] = xx, xy, xz
    block[1, 0], block[1, 1], block[1, 2] = yx, yy, yz
    block[2, 0], block[2, 1], block[2, 2] = zx, zy, zz


@jit
def single_block(g: Sparse, j: int, spread: Array, block: Array) -> None:
    """The same for a contact j with one row: the first column of block."""
    x, y, z, first, base = 0.0, 0.0, 0.0, g.column_at[j], g.start[j]
    for m in range(g.width[j]):
        own, value = spread[g.place[g.columns[first + m]]], g.B[base + m]
        x, y, z = x + own[0] * value, y + own[1] * value, z + own[2] * value
    block[0, 0], block[1, 0], block[2, 0] = x, y, z


@jit
def make_dense(g: Sparse, low: int, high: int, count: int) -> None:
    """The island as a dense problem, with y as the start; its columns have their place in g.place."""
    problem, B, columns, place = g.dense, g.B, g.columns, g.place
    first, n = g.at[low], g.at[high] - g.at[low]
    K, spread, block = problem.K, np.zeros((count, 3)), np.empty((3, 3))  # the rows of a contact; what two do to each other
    for i in range(low, high):
        c, a, w, at = i - low, g.at[i] - first, g.width[i], g.column_at[i]
        rows = g.at[i + 1] - g.at[i]
        problem.kind[c], problem.at[c], problem.mu[c], problem.reach[c] = g.kind[i], a, g.law[i, 0], g.law[i, 0]
        problem.slide[c, 0], problem.slide[c, 1] = 0.0, 0.0
        for r in range(rows):
            problem.b[a + r], problem.p[a + r] = g.b[first + a + r], g.y[first + a + r]
            for m in range(w):
                spread[place[columns[at + m]], r] = B[g.start[i] + r * w + m]
        for j in range(low, i + 1):
            other, many = g.at[j] - first, g.at[j + 1] - g.at[j]
            if many == 3:
                rough_block(g, j, spread, block)
            else:
                single_block(g, j, spread, block)
            for r in range(rows):
                for e in range(many):
                    K[(a + r) * n + other + e] = block[r, e]
                    K[(other + e) * n + a + r] = block[r, e]
        for m in range(at, at + w):
            own = spread[place[columns[m]]]
            own[0], own[1], own[2] = 0.0, 0.0, 0.0
    problem.at[high - low], problem.count = n, high - low


@jit
def ask_dense(g: Sparse, low: int, high: int, count: int) -> float:
    """y and z by the dense problem; gives the certificate, inf where it is proved that there is no solution."""
    make_dense(g, low, high, count)
    k, n, certificate = high - low, g.at[high] - g.at[low], 0.0
    S, p, kind, at = g.dense.K[: n * n].reshape((n, n)), g.dense.p[:n], g.kind[low:high], g.dense.at[: k + 1]
    certificate = stick(S, g.dense.b[:n], kind, at, g.law[low:high], p, GOOD)
    if not certificate <= GOOD:
        certificate = polish(S, g.dense.b[:n], kind, at, g.law[low:high], p, FEW_STEPS, ENOUGH) / max(1.0, largest_of(p))
    if not certificate <= GOOD:
        certificate = impulses(g.dense)
    first = g.at[low]
    for r in range(n):
        g.y[first + r] = p[r]
    gather_motion(g, low, high)
    return certificate


@jit
def search(g: Sparse, low: int, high: int, count: int, sweeps: int) -> float:
    """Newton's method, from where y is and after more and more sweeps; y, z and s become the best that was found. Gives its natural map."""
    first, n = g.at[low], g.at[high] - g.at[low]
    swept, kept = np.empty(n), np.empty(n)
    for r in range(n):
        swept[r] = g.y[first + r]
    best, turns, done = polish_sparse(g, low, high, count, STEPS, ENOUGH), 3, 0
    if best <= GOOD * largest_impulse(g, low, high):
        return best
    own_blocks(g, low, high)
    while done < sweeps:
        for r in range(n):
            kept[r], g.y[first + r] = g.y[first + r], swept[r]
        gather_motion(g, low, high)
        for _ in range(turns):
            sweep_sparse(g, low, high)
        for r in range(n):
            swept[r] = g.y[first + r]
        now = polish_sparse(g, low, high, count, STEPS, ENOUGH)
        if not now < best:
            for r in range(n):
                g.y[first + r] = kept[r]
        best = min(now, best)
        if best <= GOOD * largest_impulse(g, low, high):
            return best
        done, turns = done + turns, min(2 * turns, 100)
    gather_motion(g, low, high)
    velocities(g, low, high)
    return best


@entry(Sparse, int, int, part="contact_problem", returns=float)
def solve_island(g: Sparse, low: int, high: int) -> float:
    """y and z of the contacts low ... high - 1, from the y that is given; gives the certificate, or the natural map of the solver.

    NaN where b or y is not finite; inf where it is proved that there is no solution.
    """
    size, certificate = largest_velocity(g, low, high), 0.0
    if size == 0.0 or np.isnan(size):
        for r in range(g.at[low], g.at[high]):
            g.y[r] = 0.0
        gather_motion(g, low, high)
        return size
    kind, at, law = g.kind[low:high], g.at[low : high + 1], g.law[low:high]
    scale_island(g, low, high, 1.0 / size)
    admissible(kind, at, law, g.y)
    count, small = count_columns(g, low, high), high - low < MANY
    if small and g.at[high] - g.at[low] <= count:
        certificate = ask_dense(g, low, high, count)
    else:
        found = search(g, low, high, count, FEWER_SWEEPS if small else SWEEPS)
        certificate = judged(kind, at, law, g.y, g.s, 1.0)
        if small and not found <= GOOD * largest_impulse(g, low, high) and not certificate <= SOLVED:
            certificate = ask_dense(g, low, high, count)
    if not certificate <= GOOD:  # whatever is left is left to the velocities, not to the cones
        admissible(kind, at, law, g.y)
        gather_motion(g, low, high)
    forget_columns(g, low, high, size)
    scale_island(g, low, high, size)
    return certificate
