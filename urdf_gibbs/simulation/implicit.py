"""An implicit step over a moment, where contacts slide so slowly or change so often that no explicit step makes progress. Compiled.

The impulses of all closed contacts over the step obey Coulomb's law with the velocities after it, as in time stepping: what comes to rest
within the step is at rest after it. It is of first order where contacts change, else of second, and contacts take energy only. There is no
restitution in it.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.friction import SOLVED, STILL, add_rough_response, ask_coulomb, free_rough_rows
from urdf_gibbs.simulation.friction_layout import FREE, SLIDES, SMOOTH, STARTS, STICKS
from urdf_gibbs.simulation.impact import REST
from urdf_gibbs.simulation.layout import GAP, GRADIENT, OK, PRESENT, RATE, UNDERFLOW, Record, State, System
from urdf_gibbs.simulation.record import write_row
from urdf_gibbs.simulation.resolve import MAX_PROJECTIONS, find_closed, follow_implicitly, resolve_contacts, select_closed
from urdf_gibbs.simulation.rough_impact import project_rough
from urdf_gibbs.simulation.rows import load_state, update_gaps

CRAWL = 1e-7  # s: shorter steps are very short
MOST_CRAWLS = 24  # very short steps in a row before an implicit one; a contact that stops takes about ten
SHORTEST, LONGEST = 1e-6, 1e-5  # s: implicit steps
DEEPEST = 1e-10  # m: a free contact must not be deeper inside of a wall after the step
HALVINGS = 30
PULLS = 1e-9  # of the largest force
MOST_HOLDS = 8  # rounds of holding contacts that approach after the step


@jit
def makes_no_progress(s: System, st: State, h: float) -> bool:
    """Whether it is time for an implicit step instead of one of length h: contacts slide, and there were only very short steps.

    Or no forces keep the contacts as they have just been chosen.
    """
    f = s.friction
    if st.together > 0:
        st.together -= 1
        return True
    st.crawls = st.crawls + 1 if h < CRAWL else 0
    if st.crawls <= MOST_CRAWLS and not (st.settled_at == st.time and s.least_force < -PULLS):
        return False
    slides = False
    for c in range(f.joints):
        slides = slides or (st.held[c] == 1 and f.mode[c] in (SLIDES, STARTS))
    if not slides:
        return False
    recent = st.time - st.last_implicit < 20.0 * st.brief
    if recent:
        follow_implicitly(st, min(2.0 * st.brief, LONGEST))
    else:
        st.in_a_row, st.brief = 1, SHORTEST
    st.crawls = 0
    return True


@jit
def select_touching(s: System, st: State) -> int:
    """Closed contacts and joints at rest, in s.selected; how many."""
    for c in range(st.closed.shape[0]):
        st.closed[c] = 0
        st.suspects[c] = st.held[c]
    find_closed(s, st, -1)
    k = select_closed(s, st)
    for c in range(s.friction.joints, st.held.shape[0]):
        if st.held[c] == 1:
            s.selected[k] = c
            k += 1
    return k


@jit
def implicit_velocity(s: System, st: State, k: int, h: float) -> int:
    """The velocity after the step, in st.new, with the impulses of the k selected contacts in s.friction.p.

    Rows and free accelerations are those of s.q, s.v; s.friction.U become the velocities before the step.
    """
    f, nq, nv = s.friction, s.q.shape[0], s.v.shape[0]
    status = free_rough_rows(s, st.time + 0.5 * h, k)
    if status != OK:
        return status
    n, before = f.at[k], st.y[nq:]
    for row in range(n):
        for m in range(nv):
            f.U[row] += f.R[row, m] * (before[m] - s.v[m])
        f.b[row] = f.U[row] + h * f.W[row]
    for i in range(k):
        f.member[i] = 1
        f.trial[i] = STICKS if f.mode[s.selected[i]] == STICKS else STARTS
    f.span = h
    certificate = ask_coulomb(s, k)
    f.span = 1.0
    if not certificate < SOLVED:
        return UNDERFLOW
    v = st.new[nq:]
    for m in range(nv):
        v[m] = before[m] + h * s.a[m]
    add_rough_response(s, n, f.p, v)
    return OK


@jit
def implicit_state(s: System, st: State, k: int, h: float) -> int:
    """The state after the step, in st.new: first with rows and accelerations of its beginning, then with those of its middle."""
    nq, nv = s.q.shape[0], s.v.shape[0]
    middle, rate = np.empty(nv), np.empty(nq)
    load_state(s, st.y)
    for half in range(2):
        status = implicit_velocity(s, st, k, h)
        if status != OK:
            return status
        for m in range(nv):
            middle[m] = 0.5 * (st.y[nq + m] + st.new[nq + m])
        if half == 0:
            velocity_to_rate(s.tree, st.y[:nq], middle, rate)
            for m in range(nq):
                s.q[m] = st.y[m] + 0.5 * h * rate[m]
            normalise(s.tree, s.q)
            copy(middle, s.v)
    velocity_to_rate(s.tree, s.q, middle, rate)
    for m in range(nq):
        st.new[m] = st.y[m] + h * rate[m]
    normalise(s.tree, st.new[:nq])
    return OK


@jit
def after(s: System, st: State, row: int) -> float:
    """Velocity of a row after the step."""
    f, nq = s.friction, s.q.shape[0]
    u = f.U[row]
    for m in range(s.v.shape[0]):
        u += f.R[row, m] * (st.new[nq + m] - st.y[nq + m])
    return u


@jit
def hold_closed(s: System, st: State, k: int) -> None:
    """Of the k selected contacts those hold that are closed after the step; how, by their velocities after it."""
    f = s.friction
    for c in range(f.joints):
        st.held[c] = 0
        f.mode[c] = FREE
    st.held_count = 0
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        if c >= f.joints:
            st.held_count += 1
            continue
        if after(s, st, first) > STILL:
            continue
        st.held[c] = 1
        st.held_count += 1
        f.mode[c] = SMOOTH
        if f.at[i + 1] - first == 3:
            f.mode[c] = STICKS if np.hypot(after(s, st, first + 1), after(s, st, first + 2)) <= STILL else SLIDES


@jit
def add_friction_work(s: System, st: State, k: int) -> None:
    """The work of the impulses along the walls and of joints, to st.friction_work: minus impulse times mean velocity."""
    f = s.friction
    for i in range(k):
        for row in range(f.at[i] + (1 if s.selected[i] < f.joints else 0), f.at[i + 1]):
            st.friction_work -= 0.5 * f.p[row] * (f.U[row] + after(s, st, row))


@jit
def bring_to_rest(s: System, st: State) -> int:
    """Close held contacts and stop them where they stick; others that were closed and approach by that are held as well."""
    for _ in range(MOST_HOLDS):
        status = project_rough(s, st, MAX_PROJECTIONS)
        if status == OK:
            status = update_gaps(s, st, st.time, PRESENT)
        if status != OK:
            return status
        more = False
        for c in range(s.friction.joints):
            if st.closed[c] and not st.held[c] and st.gaps[c, RATE] < -REST * st.gaps[c, GRADIENT]:
                st.held[c] = 1
                st.held_count += 1
                s.friction.mode[c] = SMOOTH
                more = True
        if not more:
            break
    return OK


@jit
def implicit_step(s: System, st: State, r: Record) -> int:
    """One implicit step, and the choice of held contacts after it."""
    h = min(st.brief, st.end - st.time)
    if st.controller_rate > 0.0:
        h = min(h, st.next_call - st.time)
    k = select_touching(s, st)
    begin = st.time
    for _ in range(HALVINGS):
        status = implicit_state(s, st, k, h)
        if status == OK:
            status = update_gaps(s, st, begin + h, 1)
        if status != OK:
            return status
        below = False
        for c in range(st.new_gaps.shape[0]):
            below = below or (st.closed[c] == 0 and st.new_gaps[c, GAP] < -DEEPEST * st.new_gaps[c, GRADIENT])
        if not below:
            break
        h *= 0.5
    hold_closed(s, st, k)
    add_friction_work(s, st, k)
    for j in range(st.F.shape[0]):
        for m in range(st.F.shape[1]):
            st.F[j, m] = st.new[m] - st.y[m] if j == 0 else 0.0
    copy(st.new, st.y)
    st.time = begin + h
    st.accepted += 1
    st.stalls = 0
    st.last_implicit = st.time
    st.implicit_steps += 1
    st.implicit_time += h
    status = bring_to_rest(s, st)
    if status != OK:
        return status
    write_row(s, r, st, True)
    st.fresh = 0
    st.step_length = h
    return resolve_contacts(s, st, r, -1)
