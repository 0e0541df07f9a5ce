"""The contact problem of a time step, island by island, and the correction of depths. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.certificate import judged
from urdf_gibbs.contact.coulomb.islands import solve_island
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.contact.names import MOREAU
from urdf_gibbs.engine.jit import call3, jit
from urdf_gibbs.simulation.friction_layout import KINETIC, STATIC, STICKS
from urdf_gibbs.simulation.layout import GAP, GRADIENT, JAMMED, NOT_FINITE, Record, State, System
from urdf_gibbs.simulation.rows import load_state
from urdf_gibbs.simulation.stepping_motion import add_motion
from urdf_gibbs.simulation.stepping_rows import add_closing, last_of, make_rows, select_by_island

Array = Any

DEEP = 1e-8  # m: gaps below minus this are closed again
SOLVED = 1e-6  # certificates above this: once more from zero, then without restitution
USELESS = 1e-2  # certificates above this: there is no solution
MOST_ROUNDS = 10  # of adding contacts that the impulses of others close


# what is asked for ------------------------------------------------------------------------------------


@jit
def row_velocity(s: System, i: int, row: int, change: Array) -> float:
    """Of a row of contact i at q_m, for a velocity that differs by ``change`` (nv,) from that before."""
    g, e = s.stepping, s.stepping.rows
    value, base = g.U[row], e.start[i] + (row - e.at[i]) * e.width[i]
    first = e.column_at[i]
    for m in range(e.width[i]):
        value += g.R[base + m] * change[g.moved[first + m]]
    return value


@jit
def set_goals(s: System, st: State, h: float, low: int, high: int, bounces: bool) -> None:
    """g.goal: what is added to velocities so that u_n⁺ >= ... becomes >= 0; st.suspects marks the contacts that bounce.

    g.rows.b holds the velocities without impulses.
    """
    g, e = s.stepping, s.stepping.rows
    for i in range(low, high):
        c, first = s.selected[i], e.at[i]
        before, restitution, without = g.U[first], s.contacts.restitution[c], g.free[first]
        st.suspects[c] = 1 if bounces and restitution > 0.0 and before < 0.0 and -2.0 * restitution * before > before - without else 0
        for row in range(first, e.at[i + 1]):
            g.goal[row] = restitution * g.U[row] if st.suspects[c] and (row == first or st.law == MOREAU) else 0.0
        if not st.suspects[c]:
            g.goal[first] = max(s.gap[i], 0.0) / h
        for row in range(first, e.at[i + 1]):
            e.b[row] = g.scale[row] * (g.free[row] + g.goal[row])


@jit
def start_from(s: System, low: int, high: int, warm: bool) -> None:
    """The search starts from the last impulses of each contact, or from zero."""
    g, e = s.stepping, s.stepping.rows
    for i in range(low, high):
        c, first = s.selected[i], e.at[i]
        e.y[first] = g.push[c] / g.scale[first] if warm else 0.0
        for row in range(first + 1, e.at[i + 1]):
            D, drag = g.D[row], g.drag[c]
            e.y[row] = (D[0] * drag[0] + D[1] * drag[1] + D[2] * drag[2]) / g.scale[row] if warm else 0.0


@jit
def ask(s: System, st: State, h: float, low: int, high: int) -> float:
    """The impulses of an island; gives the certificate.

    From the last impulses, if that fails from zero, and then without restitution.
    """
    certificate = np.nan
    for attempt in range(3):
        if attempt != 1:
            set_goals(s, st, h, low, high, attempt == 0)
        start_from(s, low, high, attempt == 0)
        certificate = solve_island(s.stepping.rows, low, high)
        if certificate < SOLVED:
            break
    return certificate


@jit
def keep_impulses(s: System, k: int) -> None:
    """g.push and g.drag of the k selected contacts; zero for all others."""
    g, e = s.stepping, s.stepping.rows
    for c in range(g.push.shape[0]):
        g.push[c], g.drag[c, 0], g.drag[c, 1], g.drag[c, 2] = 0.0, 0.0, 0.0, 0.0
    for i in range(k):
        c, first = s.selected[i], e.at[i]
        g.push[c] = g.scale[first] * e.y[first]
        for row in range(first + 1, e.at[i + 1]):
            for m in range(3):
                g.drag[c, m] += g.scale[row] * e.y[row] * g.D[row, m]


@jit
def judge(s: System, k: int, change: Array) -> float:
    """The worst certificate of all islands, from the rows of the Jacobian and the ``change`` (nv,) of the velocity that came out."""
    g, e, worst = s.stepping, s.stepping.rows, 0.0
    for island in range(g.islands):
        low, high, U = g.island[island], g.island[island + 1], 0.0
        for i in range(low, high):
            for row in range(e.at[i], e.at[i + 1]):
                e.s[row] = g.scale[row] * (row_velocity(s, i, row, change) + g.goal[row])
                U = max(U, abs(e.b[row]))
        worst = max(worst, judged(e.kind[low:high], e.at[low : high + 1], e.law[low:high], e.y, e.s, U))
    return worst


@jit
def solve_islands(s: System, st: State, r: Record, h: float, k: int, change: Array) -> float:
    """Impulses of the k selected contacts, whose rows are known; change (nv,), of the velocity: without them, then with them.

    Gives the worst certificate.
    """
    g, e, worst = s.stepping, s.stepping.rows, 0.0
    for i in range(k):
        first, c = e.at[i], s.selected[i]
        for row in range(first, e.at[i + 1]):
            g.free[row] = row_velocity(s, i, row, change)
        if e.kind[i] == JOINT:
            e.law[i, 0] = s.contacts.reach[c] * h / g.scale[first]
        elif e.kind[i] == FRICTION:
            mu = s.contacts.friction[c, STATIC if r.mode[c] == STICKS else KINETIC]
            e.law[i, 0] = mu * (g.scale[first] / g.scale[first + 1])
    for m in range(e.z.shape[0]):
        e.z[m] = 0.0
    for island in range(g.islands):
        certificate = ask(s, st, h, g.island[island], g.island[island + 1])
        if not certificate <= worst:
            worst = certificate
        if not worst < USELESS:
            return worst
    keep_impulses(s, k)
    add_motion(s, e.z, change)
    return judge(s, k, change)


@jit
def solve_contacts(s: System, st: State, r: Record, t: float, h: float, free: Array, v: Array) -> int:
    """v (nv,): the velocity after the step, with the impulses of all contacts that close; minus a status, or how many they are."""
    nq, k, certificate = s.q.shape[0], 0, 0.0
    before, change = st.work[nq:], np.empty(v.shape[0])
    copy(free, v)
    for c in range(st.closed.shape[0]):
        st.closed[c] = 0
        st.suspects[c] = 0
    for turns in range(MOST_ROUNDS):
        added = add_closing(s, st, t, h, v)
        if added < 0:
            return added
        if turns == 0:
            for c in range(st.closed.shape[0]):
                st.deepest = max(st.deepest, -st.new_gaps[c, GAP] / st.new_gaps[c, GRADIENT])
        if added == 0 and (turns > 0 or s.friction.joints == st.closed.shape[0]):
            break
        k = select_by_island(s, st)
        load_state(s, st.work)
        make_rows(s, t, k)
        for m in range(change.shape[0]):
            change[m] = free[m] - before[m]
        certificate = solve_islands(s, st, r, h, k, change)
        if not certificate < USELESS:
            return -NOT_FINITE if np.isnan(certificate) else -JAMMED
        for m in range(change.shape[0]):
            v[m] = before[m] + change[m]
    st.worst_certificate = max(st.worst_certificate, certificate)
    if k == 0:
        keep_impulses(s, 0)
    return k


# depths -----------------------------------------------------------------------------------------------


@jit
def find_shift(s: System, k: int, shift: Array) -> bool:
    """shift (nv,): the least motion in the metric of M that closes the gaps of the k selected contacts, in the islands where one of them
    is below -DEEP; whether there is one. The rows of the tangents are forgotten."""
    g, e, found = s.stepping, s.stepping.rows, False
    for i in range(k):
        first = e.at[i]
        e.at[i], g.scale[i] = i, g.scale[first]
        if e.kind[i] == JOINT:
            e.law[i, 0] = 0.0  # takes no part
        else:
            e.kind[i] = NORMAL
        e.b[i], e.y[i] = g.scale[i] * s.gap[i], 0.0
    e.at[k] = k
    for m in range(shift.shape[0]):
        e.z[m], shift[m] = 0.0, 0.0
    for island in range(g.islands):
        low, high, least = g.island[island], g.island[island + 1], 0.0
        for i in range(low, high):
            least = min(least, s.gap[i])
        if least > -DEEP:
            continue
        if solve_island(e, low, high) < SOLVED:
            found = True
        else:
            for i in range(low, high):
                for m in range(e.column_at[i], e.column_at[i] + e.width[i]):
                    e.z[e.columns[m]] = 0.0
    add_motion(s, e.z, shift)
    return found


@jit
def pay(s: System, h: float, shift: Array, v: Array) -> None:
    """What the shift adds to the potential energy is taken from the kinetic energy, island by island: v (nv,) becomes slower.

    Where there is not that much, the shift becomes shorter. Needs M factorised in s.M, and s.q.
    """
    nv, g, above = v.shape[0], s.stepping, s.tree.above
    work, energy = np.empty(nv), np.empty(nv)
    for j in range(nv):
        s.v[j], work[j], energy[j] = 0.0, 0.0, 0.0
    call3(s.code.bias, s.q.ctypes.data, s.v.ctypes.data, s.h.ctypes.data)
    for i in range(nv):
        total, j, last = v[i], above[i], last_of(g.group, g.root[i])
        while j >= 0:
            total += s.M[i, j] * v[j]
            j = above[j]
        work[last] += s.h[i] * shift[i]
        energy[last] += 0.5 * s.M[i, i] * total * total - 0.25 * h * s.damping[i] * v[i] * v[i]
    for i in range(nv):
        last = last_of(g.group, g.root[i])
        if work[last] > 0.0:
            share = max(energy[last], 0.0) / work[last]
            shift[i] *= min(share, 1.0)
            v[i] *= np.sqrt(1.0 - 1.0 / share) if share > 1.0 else 0.0


@jit
def close_again(s: System, h: float, q: Array, v: Array, k: int) -> None:
    """q (nq,) moves so that the gaps of the k selected contacts, as they are at q_m, are closed where they are below -DEEP.

    That puts no energy in: v (nv,) pays for it, unless walls move, which do work anyway.
    """
    least = 0.0
    for i in range(k):
        least = min(least, s.gap[i])
    if least > -DEEP:
        return
    shift, rate = np.empty(v.shape[0]), np.empty(q.shape[0])
    if not find_shift(s, k, shift):
        return
    if s.stepping.still:
        pay(s, h, shift, v)
    velocity_to_rate(s.tree, q, shift, rate)
    for m in range(q.shape[0]):
        q[m] += rate[m]
    normalise(s.tree, q)
