"""The contacts of a time step: those that close, sorted by island, and their rows of the Jacobian without zeros. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL
from urdf_gibbs.contact.dense import IMMOVABLE
from urdf_gibbs.contact.kinematics import DRY, LIMIT, PAIR, WALL, contact_motion
from urdf_gibbs.contact.surfaces import MOVES, STILL, wall_path
from urdf_gibbs.contact.tangents import tangents
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.friction_layout import STATIC
from urdf_gibbs.simulation.layout import GAP, GRADIENT, RATE, State, System
from urdf_gibbs.simulation.rows import update_columns

Array = Any

OVERLAP = 1e-12  # m: a contact that would overlap by less at the next q_m is left out


@jit
def add_closing(st: State, horizon: float) -> int:
    """Those contacts join st.closed that would be closed after the horizon [s] with the velocity of st.new_gaps; how many."""
    added = 0
    for c in range(st.closed.shape[0]):
        gap = st.new_gaps[c]
        if st.closed[c] == 0 and gap[GAP] + horizon * gap[RATE] < -OVERLAP * gap[GRADIENT]:
            st.closed[c] = 1
            added += 1
    return added


@jit
def add_pushing(s: System, st: State) -> int:
    """Those contacts join st.closed that pushed in the last step; how many.

    The law lets a contact stay open, so the motion is the same with them. But in a pile, which falls as a whole without impulses, they
    would join layer by layer, and the search would never begin at the last impulses. They are marked by 2: only what closes bounces.
    """
    added = 0
    for c in range(s.friction.joints):
        if st.closed[c] == 0 and s.stepping.push[c] > 0.0:
            st.closed[c] = 2
            added += 1
    return added


# islands ----------------------------------------------------------------------------------------------


@jit
def last_of(group: Array, tree: int) -> int:
    """The tree that stands for the island of this one."""
    while group[tree] != tree:
        group[tree] = group[group[tree]]
        tree = group[tree]
    return tree


@jit
def select_by_island(s: System, st: State) -> int:
    """Select the closed contacts and the dry friction of joints (s.selected), island after island; returns how many.

    g.group tells the island of a tree, by last_of, and g.island the first contact of each.
    """
    g = s.stepping
    group, k = g.group, 0
    for j in range(group.shape[0]):
        group[j] = j
    for c in range(st.closed.shape[0]):
        if st.closed[c] or c >= s.friction.joints:
            g.sorted[k] = c
            k += 1
            group[last_of(group, g.tree[c, 0])] = last_of(group, g.tree[c, 1])
    number, count = g.number, g.many
    for j in range(group.shape[0]):
        number[j] = -1
    g.islands = 0
    for i in range(k):
        last = last_of(group, g.tree[g.sorted[i], 0])
        if number[last] < 0:
            number[last], count[g.islands] = g.islands, 0
            g.islands += 1
        count[number[last]] += 1
    g.island[0] = 0
    for i in range(g.islands):
        g.island[i + 1] = g.island[i] + count[i]
        count[i] = g.island[i]
    for i in range(k):
        c = g.sorted[i]
        own = number[last_of(group, g.tree[c, 0])]
        s.selected[count[own]] = c
        count[own] += 1
    return k


# rows -------------------------------------------------------------------------------------------------


@jit
def add_rows(s: System, body: int, x: Array, sign: float, first: int, rows: int) -> None:
    """g.row (nv, 3) += sign n . dx/dv, for the point x (3,) of the body and the directions n in the rows of g.D from ``first`` on."""
    tree, S, D, row = s.tree, s.S, s.stepping.D, s.stepping.row
    while body >= 0:
        for j in range(tree.start[body], tree.start[body + 1]):
            a, b, c, ratio, own = S[j, 0], S[j, 1], S[j, 2], sign * tree.ratio[j], row[tree.iv[j]]
            vx = ratio * (S[j, 3] + b * x[2] - c * x[1])
            vy = ratio * (S[j, 4] + c * x[0] - a * x[2])
            vz = ratio * (S[j, 5] + a * x[1] - b * x[0])
            for r in range(rows):
                own[r] += D[first + r, 0] * vx + D[first + r, 1] * vy + D[first + r, 2] * vz
        body = tree.parent[body]


@jit
def pack_rows(s: System, i: int, row: int, base: int, rows: int) -> None:
    """The rows in g.row, which become zero again, as rows of contact i, from g.R[base] on, with their velocities R v in g.U; and their half
    solutions in g.rows.B."""
    g, e, M = s.stepping, s.stepping.rows, s.M
    first, w, moved, higher = e.column_at[i], e.width[i], g.moved, g.higher
    R, B, half, x, y, z = g.R, e.B, g.half, 0.0, 0.0, 0.0
    for m in range(w):
        own = g.row[moved[first + m]]
        for r in range(rows):
            R[base + r * w + m] = own[r]
        speed = s.v[moved[first + m]]
        x, y, z = x + own[0] * speed, y + own[1] * speed, z + own[2] * speed
        for r in range(3):
            half[m, r], own[r] = own[r], 0.0
    for r in range(rows):
        g.U[row + r] = x if r == 0 else y if r == 1 else z
    x, y, z = 0.0, 0.0, 0.0
    for m in range(w):
        a, b, c, j = half[m, 0], half[m, 1], half[m, 2], moved[first + m]
        up = higher[first + m]
        while up >= 0:
            L, above = M[j, moved[up]], half[up - first]
            above[0] -= L * a
            above[1] -= L * b
            above[2] -= L * c
            up = higher[up]
        inverse = g.root_inverse[j]
        a, b, c = inverse * a, inverse * b, inverse * c
        half[m, 0], half[m, 1], half[m, 2] = a, b, c
        x, y, z = x + a * a, y + b * b, z + c * c
    for r in range(rows):
        g.scale[row + r] = x if r == 0 else y if r == 1 else z
        for m in range(w):
            B[base + r * w + m] = half[m, r]


@jit
def contact_rows(s: System, i: int, c: int, t: float, row: int, base: int, rows: int) -> None:
    """After contact_motion: gap of contact c, directions and rows of its normal and, with three rows, its tangents, and the velocities
    along them, R v without that of the wall.

    Of dry friction its joint's velocity and row.
    """
    g, out, contacts, x, place = s.stepping, s.out, s.contacts, s.x, s.stepping.place
    s.gap[i] = out[0] / out[3]
    g.D[row, 0], g.D[row, 1], g.D[row, 2] = out[4], out[5], out[6]
    if contacts.kind[c] == DRY:
        s.gap[i] = 0.0
        g.D[row, 0], g.D[row, 1], g.D[row, 2] = 0.0, 0.0, 0.0
        g.row[contacts.index[c, 1], 0] = 1.0
    elif contacts.kind[c] == LIMIT:
        g.row[contacts.index[c, 1], 0] = contacts.limit[c, 0]
    else:
        for m in range(3):  # moving it along the normal changes no row of the normal
            place[m] = x[m] - contacts.share[c] * out[4 + m]
        if rows == 3:
            tangents(out[4], out[5], out[6], g.D[row + 1 : row + 3])
        add_rows(s, contacts.body[c, 0], place, 1.0, row, rows)
        if contacts.kind[c] == PAIR:
            add_rows(s, contacts.body[c, 1], place, -1.0, row, rows)
    pack_rows(s, i, row, base, rows)
    if contacts.kind[c] == WALL and s.surfaces.integers[contacts.surface[c], MOVES] != STILL:
        d = wall_path(s.surfaces, contacts.surface[c], t)
        for r in range(row, row + rows):
            g.U[r] -= g.D[r, 0] * d[0] + g.D[r, 1] * d[1] + g.D[r, 2] * d[2]


@jit
def make_rows(s: System, t: float, k: int, rough: bool) -> int:
    """Of the k selected contacts at s.q, s.v, with M factorised in s.M: gaps in s.gap, and in s.stepping their rows; how many rows.

    Those of the normals alone where friction does not matter (``rough`` is False).
    """
    g, e, n, base = s.stepping, s.stepping.rows, 0, 0
    update_columns(s)
    for i in range(k):
        c = s.selected[i]
        e.at[i], e.start[i], e.column_at[i], e.width[i] = n, base, g.first[c], g.first[c + 1] - g.first[c]
        e.kind[i] = JOINT if s.contacts.kind[c] == DRY else NORMAL
        rows = 1
        if rough and s.contacts.friction[c, STATIC] > 0.0:
            e.kind[i], rows = FRICTION, 3
        contact_motion(s, c, t)  # for the place: what it says of velocities is of other states
        contact_rows(s, i, c, t, n, base, rows)
        n += rows
        base += rows * e.width[i]
    e.at[k] = n
    scale_rows(s, k)
    return n


@jit
def scale_rows(s: System, k: int) -> None:
    """Rows of B to length 1, one factor for both tangents; those that nothing moves by the factor of the row that moves most."""
    g, e, largest = s.stepping, s.stepping.rows, 0.0
    scale, B = g.scale, e.B
    for row in range(e.at[k]):
        largest = max(largest, scale[row])
    if not largest > 0.0:
        largest = 1.0
    for i in range(k):
        a, w, base = e.at[i], e.width[i], e.start[i]
        rows = e.at[i + 1] - a
        scale[a] = 1.0 / np.sqrt(scale[a] if scale[a] > IMMOVABLE * largest else largest)
        if rows == 3:
            mean = 0.5 * (scale[a + 1] + scale[a + 2])
            scale[a + 1] = 1.0 / np.sqrt(mean if mean > IMMOVABLE * largest else largest)
            scale[a + 2] = scale[a + 1]
        for r in range(rows):
            for m in range(base + r * w, base + (r + 1) * w):
                B[m] *= scale[a + r]
