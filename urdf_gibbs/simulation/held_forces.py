"""The forces of held contacts: those that keep them as they are, and whether such forces exist. Compiled.

Contacts and joints that stick keep their velocity, those that slide stay closed, with friction against the direction in which they slide:
linear equations. Where they depend on each other, many forces solve them, and those that push and stay in their cones are asked for: of
all of these the shortest, which change steadily with the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.problem import shortest_impulses
from urdf_gibbs.contact.coulomb.shortest import CONE, HALF, SPAN, shortest_in_sets
from urdf_gibbs.contact.shortest import row_space, shortest_solution
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.friction import (
    SOLVED,
    add_rough_response,
    ask_coulomb,
    ask_softly,
    direction,
    fastest_change,
    free_rough_rows,
    guess_impulses,
    hand_back,
    velocity_direction,
)
from urdf_gibbs.simulation.friction_layout import KINETIC, SLIDES, STARTS, STATIC, STICKS
from urdf_gibbs.simulation.layout import KEEP_HELD, OK, ROUGH_FORCES, ROUGH_OPENING, State, System
from urdf_gibbs.simulation.rows import load_state, select_held

Array = Any
Indices = Any

OUTSIDE = 1e-11  # of the largest force: a force this far outside of its cone is outside


@jit
def least_margin(s: System, k: int) -> float:
    """How far inside of their cones the forces of the k held contacts are, of the largest force; negative: one is outside, or pulls."""
    f = s.friction
    largest, least = 1e-300, np.inf
    for i in range(f.at[k]):
        largest = max(largest, abs(f.p[i]))
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        normal = f.p[first]
        if c >= f.joints:
            least = min(least, s.contacts.reach[c] - abs(normal))
            continue
        least = min(least, normal)
        if f.mode[c] == STICKS:
            least = min(least, s.contacts.friction[c, STATIC] * normal - np.hypot(f.p[first + 1], f.p[first + 2]))
    return least / largest


@jit
def held_equations(s: System, k: int, own: Indices, at: Indices, S: Array, c: Array) -> int:
    """S x = c keeps the k held contacts as they are; gives the number of the unknowns x.

    Contact i has the unknowns at[i] ... at[i + 1], of the rows ``own``: all three of its force where it sticks, else one; where it slides
    friction goes with it.
    """
    f = s.friction
    n, m = f.at[k], 0
    ax, ay = np.zeros(n), np.zeros(n)  # of the friction that goes with an unknown
    for i in range(k):
        contact, first = s.selected[i], f.at[i]
        mode, rows = f.mode[contact], f.at[i + 1] - first
        at[i] = m
        if mode in (SLIDES, STARTS):
            x, y = direction(s, i)
            mu = s.contacts.friction[contact, KINETIC]
            ax[m], ay[m] = mu * x, mu * y
        for row in range(first, first + (rows if mode == STICKS else 1)):
            own[m] = row
            m += 1
    at[k] = m
    for a in range(m):
        row = own[a] * n
        scale = 1.0 / np.sqrt(f.K[row + own[a]]) if f.K[row + own[a]] > 0.0 else 1.0
        c[a] = -scale * f.W[own[a]]
        for b in range(m):
            value = f.K[row + own[b]]
            if ax[b] != 0.0 or ay[b] != 0.0:
                value -= ax[b] * f.K[row + own[b] + 1] + ay[b] * f.K[row + own[b] + 2]
            S[a, b] = scale * value
    return m


@jit
def spread(s: System, k: int, at: Indices, x: Array) -> None:
    """The unknowns x of held_equations to the forces s.friction.p of all rows."""
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        rows = f.at[i + 1] - first
        for j in range(rows):
            f.p[first + j] = x[at[i] + j] if at[i] + j < at[i + 1] else 0.0
        if f.mode[c] in (SLIDES, STARTS):
            ax, ay = direction(s, i)
            friction = s.contacts.friction[c, KINETIC] * x[at[i]]
            f.p[first + 1], f.p[first + 2] = -friction * ax, -friction * ay


@jit
def look_ahead(s: System, k: int) -> None:
    """The directions of those of the k held contacts that slide slowly or begin to, in s.friction.ahead.

    Friction opposes the velocity a moment later, by Coulomb's law with slightly soft walls: forces have a say in the directions and should
    be unique.
    """
    f, slow = s.friction, False
    copy(f.W, f.b)
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        f.member[i], f.trial[i] = 1, f.mode[c]
        if f.mode[c] == STARTS:
            slow = True
            f.b[first + 1] += f.U[first + 1] / f.lag[c]
            f.b[first + 2] += f.U[first + 2] / f.lag[c]
            f.ahead[c, 0], f.ahead[c, 1] = velocity_direction(s, i)
    if not slow:
        return
    for i in range(k):
        for row in range(f.at[i], f.at[i + 1]):
            f.p[row] = f.soft[s.selected[i], row - f.at[i]]
    if not ask_softly(s, k) < SOLVED:
        return
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        for row in range(first, f.at[i + 1]):
            f.soft[c, row - first] = f.p[row]
        if f.mode[c] == STARTS:
            x, y = f.p[first + 1], f.p[first + 2]
            size = np.sqrt(x * x + y * y)
            if size > 0.0:
                f.ahead[c, 0], f.ahead[c, 1] = -x / size, -y / size


@jit
def shortest_allowed(s: System, k: int, at: Indices, Q: Array, g: Array, x: Array) -> bool:
    """Of all x with Qᵀ x = g the shortest that push and stay in their cones, in x; whether there are any."""
    dual, form = s.friction.dual, np.empty((k, 4))
    y, z = np.empty(x.shape[0]), np.empty(x.shape[0])
    for i in range(k):
        c = s.selected[i]
        for j in range(at[i], at[i + 1]):
            z[j] = dual[c, j - at[i]]
        form[i, 0], form[i, 1], form[i, 2], form[i, 3] = HALF, 0.0, 0.0, 0.0
        if c >= s.friction.joints:
            form[i, 0], form[i, 1], form[i, 2] = SPAN, -s.contacts.reach[c], s.contacts.reach[c]
        elif at[i + 1] - at[i] == 3:
            form[i, 0], form[i, 1] = CONE, s.contacts.friction[c, STATIC]
    if not shortest_in_sets(Q, at[: k + 1], form, g, z, y):
        return False
    copy(y, x)
    for i in range(k):
        for j in range(at[i], at[i + 1]):
            dual[s.selected[i], j - at[i]] = z[j]
    return True


@jit
def any_slides(s: System, k: int) -> bool:
    """Whether one of the k held contacts slides."""
    slides = False
    for i in range(k):
        slides = slides or s.friction.mode[s.selected[i]] in (SLIDES, STARTS)
    return slides


@jit
def by_coulomb(s: System, force: Array, k: int) -> float:
    """Forces of the k held contacts by Coulomb's law, in s.friction.p, and how fast one of them changes, relative to what is calm."""
    f = s.friction
    copy(f.W, f.b)
    for i in range(k):
        mode = f.mode[s.selected[i]]
        f.member[i], f.trial[i] = 1, SLIDES if mode == STARTS else mode
    guess_impulses(s, force, k, 1.0)
    if not ask_coulomb(s, k) < SOLVED:
        return np.inf
    return fastest_change(s, k)


@block(KEEP_HELD, System, State, int, part="held", returns=float)
def keep_held(s: System, st: State, k: int) -> float:
    """The forces that keep the k held contacts as they are, in s.friction.p: the shortest that are allowed.

    Gives how far inside of their cones they are, of the largest force; negative where no allowed ones do. In the stages of a step it is
    negative where the shortest ones are not allowed: others are looked for only if contacts slide, since else all give the same motion.
    """
    f = s.friction
    n = f.at[k]
    own, at, S, c = np.empty(n, np.int64), np.empty(k + 1, np.int64), np.empty((n, n)), np.empty(n)
    look_ahead(s, k)
    m = held_equations(s, k, own, at, S, c)
    x, g, order = np.empty(m), np.empty(m), np.empty(m, np.int64)
    W = shortest_solution(S, c[:m], x, g, order)
    rank = W.shape[1]
    spread(s, k, at, x)
    margin = least_margin(s, k)
    if rank == 0 or margin >= -OUTSIDE:
        return margin
    if (not f.in_stage or any_slides(s, k)) and shortest_allowed(s, k, at, row_space(W, order), g[:rank], x):
        margin = 0.0
    elif not f.in_stage and by_coulomb(s, st.force, k) <= 1.0:  # allowed ones at the rim of what is possible
        shortest_impulses(f.problem)
        hand_back(s, k, f.problem.at[f.problem.count])
        return min(least_margin(s, k), 0.0)
    spread(s, k, at, x)
    return margin


@block(ROUGH_FORCES, System, State, float, int, part="friction")
def rough_forces(s: System, st: State, t: float, k: int) -> int:
    """Accelerations of s.q, s.v with the k held contacts of s.selected, in s.a, and their forces: st.force and s.friction.force.

    Where no allowed forces keep them, something must change, and s.least_force becomes negative.
    """
    f = s.friction
    status = free_rough_rows(s, t, k)
    if status != OK:
        return status
    n = f.at[k]
    margin = keep_held(s, st, k)
    if margin < -OUTSIDE:
        s.least_force = min(s.least_force, margin)
    add_rough_response(s, n, f.p, s.a)
    take_forces(s, st, k)
    return OK


@jit
def take_forces(s: System, st: State, k: int) -> None:
    """The forces of the k selected contacts, from s.friction.p to st.force and s.friction.force."""
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        st.force[c] = f.p[first]
        for m in range(3):
            f.force[c, m] = 0.0
            for j in range(first + 1, f.at[i + 1]):
                f.force[c, m] += f.p[j] * f.D[j, m]


@block(ROUGH_OPENING, System, State, float, part="friction", returns=float)
def rough_opening_rate(s: System, st: State, t: float) -> float:
    """How fast held contacts open or begin to slide in the state st.work, relative to what is calm: above 1 something must change.

    Minus a status where the state has no accelerations.
    """
    k = select_held(st, s)
    load_state(s, st.work)
    status = free_rough_rows(s, t, k)
    if status != OK:
        return -float(status)
    return 0.0 if keep_held(s, st, k) >= 0.0 else by_coulomb(s, st.force, k)
