"""The contact problem of a time step, island by island. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.certificate import judged
from urdf_gibbs.contact.coulomb.islands import solve_island
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT
from urdf_gibbs.contact.names import MOREAU
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.friction_layout import KINETIC, STATIC, STICKS
from urdf_gibbs.simulation.layout import JAMMED, NOT_FINITE, OK, Record, State, System
from urdf_gibbs.simulation.rows import load_state
from urdf_gibbs.simulation.stepping_depths import DEEP, bring_back, depth, find_gaps, find_shift
from urdf_gibbs.simulation.stepping_motion import add_motion
from urdf_gibbs.simulation.stepping_rows import add_closing, add_pushing, make_rows, select_by_island

Array = Any

STILL = 1e-8  # m/s: what slides slower sticks, what approaches slower rests
SOLVED = 1e-6  # certificates above this: once more from zero, then without restitution
GAIN = 1e-9  # of the energies that impulses exchange: a gain beyond rounding
USELESS = 1e-2  # certificates above this: there is no solution
EXACT = 1e-9  # certificates above this leave velocities of approach that count


# what is asked for ------------------------------------------------------------------------------------


@jit
def row_velocities(s: System, k: int, change: Array, out: Array) -> None:
    """out (rows,): of the rows of the k contacts at q_m, for a velocity that differs by ``change`` (nv,) from that before."""
    g, e = s.stepping, s.stepping.rows
    R, moved = g.R, g.moved
    for i in range(k):
        w, first, base = e.width[i], e.column_at[i], e.start[i]
        for row in range(e.at[i], e.at[i + 1]):
            value = g.U[row]
            for m in range(w):
                value += R[base + m] * change[moved[first + m]]
            out[row] = value
            base += w


@jit
def set_goals(s: System, st: State, low: int, high: int, bounces: bool) -> None:
    """g.goal: what is added to velocities so that u_n⁺ >= ... becomes >= 0; st.suspects marks the contacts that bounce.

    g.rows.b holds the velocities without impulses.
    """
    g, e = s.stepping, s.stepping.rows
    for i in range(low, high):
        c, first = s.selected[i], e.at[i]
        before, restitution, without = g.U[first], s.contacts.restitution[c], g.free[first]
        closes = bounces and st.closed[c] == 1 and before < -STILL
        st.suspects[c] = 1 if closes and restitution > 0.0 and -2.0 * restitution * before > before - without else 0
        for row in range(first, e.at[i + 1]):
            g.goal[row] = restitution * g.U[row] if st.suspects[c] and (row == first or st.law == MOREAU) else 0.0
        if not st.suspects[c]:
            g.goal[first] = max(s.gap[i], 0.0) / g.horizon
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
def gains(s: System, st: State, low: int, high: int) -> bool:
    """Whether the impulses of an island in which a contact bounces give energy: Σ ½ p (u + u⁺) > 0."""
    g, e, energy, size, bounces = s.stepping, s.stepping.rows, 0.0, 0.0, False
    for i in range(low, high):
        if st.suspects[s.selected[i]]:
            bounces = True
    if not bounces:
        return False
    for i in range(low, high):
        w, first, base = e.width[i], e.column_at[i], e.start[i]
        for row in range(e.at[i], e.at[i + 1]):
            after = g.scale[row] * (g.free[row] + g.U[row])
            for m in range(w):
                after += e.B[base + m] * e.z[e.columns[first + m]]
            energy += 0.5 * e.y[row] * after
            size += abs(e.y[row] * g.scale[row] * g.U[row])
            base += w
    return energy > GAIN * size


@jit
def ask(s: System, st: State, low: int, high: int) -> float:
    """The impulses of an island; gives the certificate.

    From the last impulses, and if that fails from zero; without restitution if that fails, or if Newton's law would give energy.
    """
    certificate = np.nan
    for attempt in range(3):
        if attempt != 1:
            set_goals(s, st, low, high, attempt == 0)
        start_from(s, low, high, attempt == 0)
        certificate = solve_island(s.stepping.rows, low, high)
        if certificate < SOLVED and not (attempt < 2 and gains(s, st, low, high)):
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
def judge(s: System) -> float:
    """The worst certificate of all islands, from the velocities g.after that came out."""
    g, e, worst = s.stepping, s.stepping.rows, 0.0
    for island in range(g.islands):
        low, high, U = g.island[island], g.island[island + 1], 0.0
        for i in range(low, high):
            for row in range(e.at[i], e.at[i + 1]):
                e.s[row] = g.scale[row] * (g.after[row] + g.goal[row])
                U = max(U, abs(e.b[row]))
        worst = max(worst, judged(e.kind[low:high], e.at[low : high + 1], e.law[low:high], e.y, e.s, U))
    return worst


@jit
def solve_islands(s: System, st: State, r: Record, h: float, k: int, change: Array) -> float:
    """Impulses of the k selected contacts, whose rows are known; change (nv,), of the velocity: without them, then with them, which
    g.after tells of the rows.

    Gives the worst certificate.
    """
    g, e, worst = s.stepping, s.stepping.rows, 0.0
    row_velocities(s, k, change, g.free)
    for i in range(k):
        first, c = e.at[i], s.selected[i]
        if e.kind[i] == JOINT:
            e.law[i, 0] = s.contacts.reach[c] * h / g.scale[first]
        elif e.kind[i] == FRICTION:
            x, y = g.U[first + 1], g.U[first + 2]
            still = r.mode[c] == STICKS or x * x + y * y <= STILL * STILL  # at the beginning of the step
            mu = s.contacts.friction[c, STATIC if still else KINETIC]
            e.law[i, 0] = mu * (g.scale[first] / g.scale[first + 1])
    for m in range(e.z.shape[0]):
        e.z[m] = 0.0
    for island in range(g.islands):
        certificate = ask(s, st, g.island[island], g.island[island + 1])
        if not certificate <= worst:
            worst = certificate
        if not worst < USELESS:
            return worst
    keep_impulses(s, k)
    add_motion(s, e.z, change)
    row_velocities(s, k, change, g.after)
    return judge(s)


@jit
def push_out(s: System, st: State, t: float, k: int, v: Array) -> None:
    """What the solver has left of velocities of approach is taken away, by the least further impulses along the normals of the k contacts.

    They leave no cone and belong to g.push; v (nv,) and g.after follow.
    """
    g, e, change = s.stepping, s.stepping.rows, s.stepping.change
    for i in range(k):
        s.rate[i] = g.after[e.at[i]] + g.goal[e.at[i]]
    load_state(s, st.work)
    make_rows(s, t, k, False)
    for i in range(k):
        s.gap[i] = s.rate[i]
    if find_shift(s, k, change):
        for i in range(k):
            if e.kind[i] != JOINT:
                g.push[s.selected[i]] += g.scale[i] * e.y[i]
        for m in range(v.shape[0]):
            v[m] += change[m]
    make_rows(s, t, k, True)
    start_from(s, 0, k, True)
    for m in range(v.shape[0]):
        change[m] = v[m] - st.work[s.q.shape[0] + m]
    row_velocities(s, k, change, g.after)


@jit
def solve_contacts(s: System, st: State, r: Record, t: float, h: float, free: Array, v: Array) -> int:
    """v (nv,): the velocity after the step, with the impulses of all contacts that close; minus a status, or how many they are.

    ``free`` (nv,) is the one without impulses. q_m, in st.work, may be corrected, see stepping_depths.py.
    """
    nq, k, certificate, count = s.q.shape[0], 0, 0.0, st.closed.shape[0]
    before, change = st.work[nq:], s.stepping.change
    for c in range(count):
        st.closed[c] = 0
        st.suspects[c] = 0
    status = find_gaps(s, st, t, free)
    g = s.stepping
    g.depth = depth(st)
    if status == OK and g.depth > DEEP:
        status = bring_back(s, st, t, free)
    copy(free, v)
    closing = 0
    for turns in range(count + 1):  # in each a contact joins that the impulses of others close
        if turns > 0 and closing < s.friction.joints:
            status = find_gaps(s, st, t, v)
        if status != OK:
            return -status
        added = add_closing(st, g.horizon) if closing < s.friction.joints else 0
        if turns == 0:
            added += add_pushing(s, st)
        closing += added
        if added == 0 and (turns > 0 or s.friction.joints == count):
            break
        k = select_by_island(s, st)
        load_state(s, st.work)
        make_rows(s, t, k, True)
        for m in range(change.shape[0]):
            change[m] = free[m] - before[m]
        certificate = solve_islands(s, st, r, h, k, change)
        if not certificate < USELESS:
            return -NOT_FINITE if np.isnan(certificate) else -JAMMED
        for m in range(change.shape[0]):
            v[m] = before[m] + change[m]
    g.certificate = certificate
    if certificate > EXACT:
        push_out(s, st, t, k, v)
    if k == 0:
        keep_impulses(s, 0)
    return k
