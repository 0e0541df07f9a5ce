"""Contact problems of which a contact moves little: u = B Bᵀ p + b with few numbers in each row of B. Compiled.

B = R L⁻¹ D^-½ with M = Lᵀ D L along the branches: a row has numbers only for the velocities between its bodies and their roots. B Bᵀ is
never formed: with z = Bᵀ p, which is a motion, a contact reads u = B z + b and writes to z, and both cost what its own rows have.

All is free of units already, as in scaled.py: rows of B are scaled to length 1, with one factor for both tangents of a contact. Contacts
that share no tree of bodies, not even through others, do not know of each other: each such island has a problem of its own.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.one_contact import one_contact
from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.engine.struct import Float1, Float2, Float3, Int1, Struct, struct


@struct
class Sparse(Struct):
    """Contact i, FRICTION, NORMAL or JOINT, owns the rows at[i] ... at[i + 1] - 1; islands are ranges of contacts.

    Each of its rows has width[i] numbers, which stand one after the other from B[start[i]] on, row after row, and belong to the entries
    columns[column_at[i]] ... of z.
    """

    kind: Int1  # (contacts,)
    at: Int1  # (contacts + 1,)
    start: Int1  # (contacts,)
    column_at: Int1  # (contacts,)
    width: Int1  # (contacts,)
    columns: Int1
    law: Float2  # (contacts, 3) coefficients of friction, or of joints the largest impulse, in the first column, as scaled.py has them
    B: Float1
    b: Float1  # (rows,) velocities without impulses
    y: Float1  # (rows,) impulses: where to start, then the solution
    # working memory
    s: Float1  # (rows,) velocities
    z: Float1  # (columns,) Bᵀ y
    blocks: Float3  # (contacts, 3, 3) of B Bᵀ
    place: Int1  # (columns,) of a column among those of its island, -1 elsewhere
    dense: Problem  # room for an island as a dense problem


@jit
def count_columns(g: Sparse, low: int, high: int) -> int:
    """How many entries of z the contacts low ... high - 1 move, numbered in g.place as they come; see forget_columns."""
    count, place, columns = 0, g.place, g.columns
    for i in range(low, high):
        first = g.column_at[i]
        for m in range(first, first + g.width[i]):
            if place[columns[m]] < 0:
                place[columns[m]] = count
                count += 1
    return count


@jit
def forget_columns(g: Sparse, low: int, high: int, factor: float) -> None:
    """g.place is -1 again, and z of the island is multiplied by a factor."""
    for i in range(low, high):
        first = g.column_at[i]
        for m in range(first, first + g.width[i]):
            j = g.columns[m]
            if g.place[j] >= 0:
                g.place[j] = -1
                g.z[j] *= factor


@jit
def gather_motion(g: Sparse, low: int, high: int) -> None:
    """z = Bᵀ y of the island."""
    B, z, columns = g.B, g.z, g.columns
    for i in range(low, high):
        for m in range(g.column_at[i], g.column_at[i] + g.width[i]):
            z[columns[m]] = 0.0
    for i in range(low, high):
        first, w, base = g.column_at[i], g.width[i], g.start[i]
        for r in range(g.at[i], g.at[i + 1]):
            value = g.y[r]
            if value != 0.0:
                for m in range(w):
                    z[columns[first + m]] += value * B[base + m]
            base += w


@jit
def velocities(g: Sparse, low: int, high: int) -> None:
    """s = B z + b of the island."""
    B, z, columns = g.B, g.z, g.columns
    for i in range(low, high):
        first, w, base = g.column_at[i], g.width[i], g.start[i]
        for r in range(g.at[i], g.at[i + 1]):
            total = g.b[r]
            for m in range(w):
                total += B[base + m] * z[columns[first + m]]
            g.s[r] = total
            base += w


@jit
def own_blocks(g: Sparse, low: int, high: int) -> None:
    """g.blocks: what each contact does to itself."""
    B = g.B
    for i in range(low, high):
        w, base, rows, block = g.width[i], g.start[i], g.at[i + 1] - g.at[i], g.blocks[i]
        for a in range(rows):
            for c in range(a + 1):
                total = 0.0
                for m in range(w):
                    total += B[base + a * w + m] * B[base + c * w + m]
                block[a, c] = total
                block[c, a] = total


@jit
def sweep_sparse(g: Sparse, low: int, high: int) -> None:
    """Block Gauss-Seidel: each contact of the island in turn, exactly, with the impulses of all others as they are; z follows."""
    B, z, y, b, columns = g.B, g.z, g.y, g.b, g.columns
    c, old = np.empty(3), np.empty(3)
    for i in range(low, high):
        a, w, first, base, block = g.at[i], g.width[i], g.column_at[i], g.start[i], g.blocks[i]
        rows = g.at[i + 1] - a
        for r in range(rows):
            total = b[a + r]
            for m in range(w):
                total += B[base + r * w + m] * z[columns[first + m]]
            c[r], old[r] = total, y[a + r]
        if g.kind[i] == FRICTION:
            for r in range(3):
                for m in range(3):
                    c[r] -= block[r, m] * old[m]
            if c[0] < 0.0 or old[0] != 0.0:
                one_contact(block, 0, c, g.law[i, 0], y[a : a + 3])
        elif block[0, 0] > 0.0:
            y[a] = max(-g.law[i, 0] if g.kind[i] == JOINT else 0.0, y[a] - c[0] / block[0, 0])
            if g.kind[i] == JOINT:
                y[a] = min(y[a], g.law[i, 0])
        for r in range(rows):
            change = y[a + r] - old[r]
            if change != 0.0:
                for m in range(w):
                    z[columns[first + m]] += change * B[base + r * w + m]
