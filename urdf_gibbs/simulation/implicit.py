"""An implicit step over a moment, where contacts slide so slowly or change so often that no explicit step makes progress. Compiled.

The impulses of all near contacts over the step obey Coulomb's law with the velocities after it, as in time stepping: what comes to rest or
arrives slowly within the step is at rest after it, without restitution. What arrives fast ends the step with an impact. Where contacts
change, and where friction turns, the step is of the first order, else of the second. Positions follow the mean velocity; what is inside
of a wall after that, because it arrived in the first half of the step or by what is left of higher order, is pushed out by the least
motion. Steps follow each other in series, each starting at the impulses of the last, and held contacts are chosen again after the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.events import TOUCH
from urdf_gibbs.simulation.friction import SOLVED, STILL, add_rough_response, ask_softly, clear_friction, free_rough_rows, guess_impulses
from urdf_gibbs.simulation.friction_layout import FREE, KINETIC, SLIDES, SMOOTH, STARTS, STATIC, STICKS
from urdf_gibbs.simulation.implicit_walls import DEEPEST, bring_back
from urdf_gibbs.simulation.layout import GAP, GRADIENT, IMPLICIT, OK, RATE, UNDERFLOW, Record, State, System
from urdf_gibbs.simulation.record import write_row
from urdf_gibbs.simulation.resolve import follow_implicitly, resolve_contacts, write_modes
from urdf_gibbs.simulation.rows import load_state, update_gaps

Array = Any

CRAWL = 1e-7  # s: shorter steps are very short
MOST_CRAWLS = 24  # very short steps in a row before an implicit one; a contact that stops takes about ten
COUNTED, SLOWLY = 64, 5e-6  # this many explicit steps, each shorter than this on average [s]: implicit steps are cheaper
SHORTEST, LONGEST = 1e-6, 5e-5  # s: implicit steps
LONGER = 1.5  # of one to the next
TURN = 1e-3  # rad, at most in an implicit step: what it leaves of the second order is 1e-7 of the motion
FAST = 1e-3  # m/s: what closes faster is an impact, at its time
SWIFT = 100.0  # m/s²: an acceleration that is thought of when near contacts are looked for; others join where they are missed
BETWEEN = 5e-9  # m: the same in the middle of the step
HALVINGS = 90
MOST_ROUNDS = 3  # of adding contacts before a step is halved
PULLS = 1e-9  # of the largest force


@jit
def advances_slowly(st: State) -> bool:
    """Whether the last explicit steps, counted now and then, were short."""
    steps = st.accepted + st.rejected
    if st.last_implicit > st.slow_since:
        st.slow_since, st.slow_steps = st.time, steps
    if steps - st.slow_steps < COUNTED:
        return False
    slowly = st.time - st.slow_since < SLOWLY * (steps - st.slow_steps)
    st.slow_since, st.slow_steps = st.time, steps
    return slowly


@jit
def makes_no_progress(s: System, st: State, h: float) -> bool:
    """Whether it is time for an implicit step instead of one of length h: contacts slide, and there were only short steps.

    Or no forces keep the contacts as they have just been chosen.
    """
    f = s.friction
    st.crawls = st.crawls + 1 if h < CRAWL else 0
    slowly = advances_slowly(st)
    if st.crawls <= MOST_CRAWLS and not slowly and not (st.settled_at == st.time and not st.retrying and s.least_force < -PULLS):
        return False
    slides = False
    for c in range(f.joints):
        slides = slides or (st.held[c] == 1 and f.mode[c] in (SLIDES, STARTS))
    if not slides:
        return False
    if slowly or st.time - st.last_implicit < 20.0 * st.brief:
        follow_implicitly(st, SLOWLY if slowly else min(2.0 * st.brief, LONGEST))
    else:
        st.in_a_row, st.brief = 1, SHORTEST
    st.crawls = 0
    return True


@jit
def closing_time(s: System, st: State, h: float) -> float:
    """When the first free contact that approaches fast closes, if it does within h, else h."""
    first = h
    for c in range(s.friction.joints):
        gap, rate = st.gaps[c, GAP] / st.gaps[c, GRADIENT], st.gaps[c, RATE] / st.gaps[c, GRADIENT]
        if not st.held[c] and rate < -FAST and gap > TOUCH:
            first = min(first, -gap / rate)
    return first


@jit
def find_near(s: System, st: State, h: float) -> None:
    """st.closed: contacts that are closed or may close slowly within h."""
    for c in range(s.friction.joints):
        gap, rate = st.gaps[c, GAP] / st.gaps[c, GRADIENT], st.gaps[c, RATE] / st.gaps[c, GRADIENT]
        st.closed[c] = st.held[c] or gap <= TOUCH or (rate >= -FAST and gap <= h * (abs(rate) + h * SWIFT))
        if not st.held[c]:
            s.friction.mode[c] = FREE


@jit
def select_near(s: System, st: State) -> int:
    """Near contacts and all joints with dry friction, in s.selected; how many. The problem of the step decides whether the joints slide."""
    k = 0
    for c in range(st.closed.shape[0]):
        if c >= s.friction.joints:
            st.closed[c] = 0
            s.friction.mode[c] = STICKS
        if st.closed[c] or c >= s.friction.joints:
            s.selected[k] = c
            k += 1
    return k


@jit
def put_into_cones(s: System, k: int) -> None:
    """The impulses of the k selected contacts, which may leave their cones by what the problem was not solved to, into them."""
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        if c >= f.joints:
            continue
        f.p[first] = max(f.p[first], 0.0)
        if f.at[i + 1] - first == 3:
            most = s.contacts.friction[c, STATIC if f.trial[i] == STICKS else KINETIC] * f.p[first]
            size = np.hypot(f.p[first + 1], f.p[first + 2])
            for row in range(first + 1, first + 3):
                f.p[row] *= most / size if size > most else 1.0


@jit
def implicit_velocity(s: System, st: State, k: int, h: float, guess: bool) -> int:
    """The velocity after the step, in st.new, with the impulses of the k selected contacts in s.friction.p.

    Rows and free accelerations are those of s.q, s.v, in the middle of the step; s.friction.U become the velocities before the step along
    these rows, and s.friction.W what the turning of a row adds from the middle to the end. Coulomb's law holds at the end: then contacts
    that stay have no velocity at either end, and impulses do no work on their mean. A gap may close: after the step it is its present
    value plus h times the mean velocity, and where that would leave it open there is no impulse. The search begins at the forces as
    they were (``guess``), or at s.friction.p.
    """
    f, nq, nv = s.friction, s.q.shape[0], s.v.shape[0]
    status = free_rough_rows(s, st.time + 0.5 * h, k)
    if status != OK:
        return status
    n, before = f.at[k], st.y[nq:]
    for row in range(n):
        free = 0.0
        for m in range(nv):
            f.U[row] += f.R[row, m] * (before[m] - s.v[m])
            free += f.R[row, m] * s.a[m]
        f.W[row] = 0.5 * h * (f.W[row] - free)
        f.b[row] = f.U[row] + h * free + f.W[row]
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        f.member[i] = 1
        f.trial[i] = STICKS if f.mode[c] == STICKS else STARTS
        if c < f.joints:
            gap = max(st.gaps[c, GAP] / st.gaps[c, GRADIENT], 0.0)
            f.b[first] += max(f.U[first] + 2.0 * gap / h - f.W[first], 0.0)
    if guess:
        guess_impulses(s, st.force, k, h)
    f.span = h
    certificate = ask_softly(s, k)
    f.span = 1.0
    if not certificate < SOLVED:
        return UNDERFLOW
    put_into_cones(s, k)
    v = st.new[nq:]
    for m in range(nv):
        v[m] = before[m] + h * s.a[m]
    add_rough_response(s, n, f.p, v)
    return OK


@jit
def move(s: System, st: State, v: Array, h: float, out: Array) -> None:
    """out (nq,): the positions of st.y after h with the constant velocity v; the rates of positions are those of s.q."""
    nq = s.q.shape[0]
    rate = np.empty(nq)
    velocity_to_rate(s.tree, s.q, v, rate)
    for m in range(nq):
        out[m] = st.y[m] + h * rate[m]
    normalise(s.tree, out)


@jit
def middle_of(s: System, st: State, h: float, share: float) -> None:
    """s.q, s.v in the middle of the step, if the velocity changes in it by ``share`` of what st.F[0] holds."""
    nq = s.q.shape[0]
    load_state(s, st.y)
    for m in range(s.v.shape[0]):
        s.v[m] += 0.5 * share * st.F[0, nq + m]
    move(s, st, s.v, 0.5 * h, s.q)


@jit
def implicit_state(s: System, st: State, k: int, h: float, known: bool) -> int:
    """The state after the step, in st.new, with rows and accelerations of its middle.

    Where the middle will be is told by the last implicit step, if that has just been taken (``known``), else by a first attempt
    with the rows of the beginning.
    """
    nq, nv = s.q.shape[0], s.v.shape[0]
    mean = np.empty(nv)
    if known:
        middle_of(s, st, h, h / st.step_length)
    else:
        load_state(s, st.y)
        status = implicit_velocity(s, st, k, h, True)
        if status != OK:
            return status
        for m in range(nv):
            st.F[0, nq + m] = st.new[nq + m] - st.y[nq + m]
        middle_of(s, st, h, 1.0)
    status = implicit_velocity(s, st, k, h, known)
    if status != OK:
        return status
    for m in range(nv):
        mean[m] = 0.5 * (st.y[nq + m] + st.new[nq + m])
    move(s, st, mean, h, st.new[:nq])
    return OK


@jit
def write_interpolant(s: System, st: State, begin: Array, end: Array, h: float) -> None:
    """st.F between two states: velocities change evenly, and positions follow them."""
    nq = s.q.shape[0]
    first, last = np.empty(nq), np.empty(nq)
    velocity_to_rate(s.tree, begin[:nq], begin[nq:], first)
    velocity_to_rate(s.tree, end[:nq], end[nq:], last)
    for m in range(st.F.shape[1]):
        change = end[m] - begin[m]
        st.F[0, m] = change
        for j in range(1, st.F.shape[0]):
            st.F[j, m] = 0.0
        if m < nq:
            st.F[1, m] = h * first[m] - change
            st.F[2, m] = 2.0 * change - h * (first[m] + last[m])


@jit
def change(s: System, st: State, row: int) -> float:
    """What the step changes of the velocity along a row as it is in the middle."""
    R, nq, total = s.friction.R, s.q.shape[0], 0.0
    for m in range(s.v.shape[0]):
        total += R[row, m] * (st.new[nq + m] - st.y[nq + m])
    return total


@jit
def after(s: System, st: State, row: int) -> float:
    """Velocity of a row after the step."""
    return s.friction.U[row] + change(s, st, row) + s.friction.W[row]


@jit
def hold_closed(s: System, st: State, k: int, h: float) -> None:
    """Of the k selected contacts those hold that push or are at rest after the step; how, by their velocities after it.

    Their mean forces over the step are kept.
    """
    f = s.friction
    clear_friction(s)
    for c in range(st.held.shape[0]):
        st.held[c], st.force[c] = 0, 0.0
        f.mode[c] = FREE
    st.held_count = 0
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        st.force[c] = f.p[first] / h
        if c >= f.joints:
            hold_joint(s, st, c)
        elif f.p[first] > 0.0 or (after(s, st, first) <= STILL and st.gaps[c, GAP] <= TOUCH * st.gaps[c, GRADIENT]):
            st.held[c] = 1
            f.mode[c] = SMOOTH
            if f.at[i + 1] - first == 3:
                f.mode[c] = STICKS if np.hypot(after(s, st, first + 1), after(s, st, first + 2)) <= STILL else SLIDES
                for m in range(3):
                    f.force[c, m] = (f.p[first + 1] * f.D[first + 1, m] + f.p[first + 2] * f.D[first + 2, m]) / h
        st.held_count += st.held[c]


@jit
def hold_joint(s: System, st: State, c: int) -> None:
    """Whether the joint with dry friction c slides after the step, or is held."""
    f, v = s.friction, st.new[s.q.shape[0] + s.contacts.index[c, 1]]
    if abs(v) <= STILL:
        st.held[c] = 1
        f.mode[c] = STICKS
    else:
        f.mode[c] = SLIDES
        f.way[c, 0] = 1.0 if v > 0.0 else -1.0


@jit
def add_friction_work(s: System, st: State, k: int) -> None:
    """The work of the impulses along the walls and of joints, to st.friction_work: minus impulse times mean velocity."""
    f = s.friction
    for i in range(k):
        for row in range(f.at[i] + (1 if s.selected[i] < f.joints else 0), f.at[i + 1]):
            st.friction_work -= f.p[row] * (f.U[row] + 0.5 * change(s, st, row))


@jit
def must_stop(s: System, st: State) -> bool:
    """Whether a free contact has closed fast, so that there is an impact."""
    strikes = False
    for c in range(s.friction.joints):
        gap, rate = st.gaps[c, GAP] / st.gaps[c, GRADIENT], st.gaps[c, RATE] / st.gaps[c, GRADIENT]
        strikes = strikes or (not st.held[c] and rate < -FAST and (gap <= TOUCH or gap <= -rate * st.tie))
    return strikes


@jit
def add_below(st: State, joints: int) -> bool:
    """Add contacts that would be below the ground after the step to st.closed; whether there are any."""
    more = False
    for c in range(joints):
        if st.closed[c] == 0 and st.new_gaps[c, GAP] < -DEEPEST * st.new_gaps[c, GRADIENT]:
            more = True
            if st.gaps[c, RATE] >= -FAST * st.gaps[c, GRADIENT]:
                st.closed[c] = 1
    return more


@jit
def sinks_between(s: System, st: State, h: float) -> bool:
    """Whether a contact is below the ground in the middle of the step, between two states that are not. Writes the interpolant."""
    write_interpolant(s, st, st.y, st.new, h)
    F, deep = st.F, False
    for m in range(st.y.shape[0]):
        st.work[m] = st.new[m]
        st.new[m] = st.y[m] + 0.5 * (F[0, m] + 0.5 * (F[1, m] + 0.5 * F[2, m]))
    status = update_gaps(s, st, st.time + 0.5 * h, 1)
    for c in range(s.friction.joints):
        deep = deep or st.new_gaps[c, GAP] < -BETWEEN * st.new_gaps[c, GRADIENT]
    copy(st.work, st.new)
    return deep or status != OK


@jit
def try_implicit(s: System, st: State, h: float) -> tuple[int, int, float]:
    """The state after a step of length h or shorter, in st.new; gives a status, how many contacts took part, and the length."""
    k, status = 0, OK
    for m in range(st.K.shape[1]):
        st.K[STAGES, m] = 0.0  # what a step that failed has left; accelerations of gaps are not needed here
    known = st.last_implicit == st.time
    for turn in range(HALVINGS):
        if turn % MOST_ROUNDS == 0 or status != OK:
            h *= 1.0 if turn == 0 else 0.5
            h = closing_time(s, st, h)
            find_near(s, st, h)
        k = select_near(s, st)
        status = implicit_state(s, st, k, h, known)
        if status == OK:
            status = update_gaps(s, st, st.time + h, 1)
        if status not in (OK, UNDERFLOW):
            break
        if status == OK and not add_below(st, s.friction.joints):
            if h <= SHORTEST or not sinks_between(s, st, h):
                break
            status = UNDERFLOW
    return status, k, h


@jit
def next_length(s: System, st: State, h: float) -> float:
    """The length of the next implicit step, after one of length h."""
    fastest = 0.0
    for m in range(s.v.shape[0]):
        fastest = max(fastest, abs(st.y[s.q.shape[0] + m]))
    return max(SHORTEST, min(LONGER * h, LONGEST, TURN / max(fastest, 1.0)))


@block(IMPLICIT, System, State, Record, float, part="friction")
def implicit_step(s: System, st: State, r: Record, most: float) -> int:
    """One implicit step of at most this length; the choice of held contacts after it, if it is the last one or if something strikes."""
    h = min(most, st.end - st.time)
    if st.controller_rate > 0.0:
        h = min(h, st.next_call - st.time)
    status, k, h = try_implicit(s, st, h)
    if status != OK:
        return status
    hold_closed(s, st, k, h)
    add_friction_work(s, st, k)
    copy(st.y, st.work)
    copy(st.new, st.y)
    st.time += h
    st.accepted += 1
    st.stalls = 0
    st.last_implicit = st.time
    st.implicit_steps += 1
    st.implicit_time += h
    st.brief = next_length(s, st, h)
    last = st.together == 0 or st.end - st.time <= 0.0
    status = bring_back(s, st, last)
    if status != OK:
        return status
    write_interpolant(s, st, st.work, st.y, h)
    write_row(s, r, st, True)
    st.fresh = 0
    st.step_length = h
    if last or must_stop(s, st):
        return resolve_contacts(s, st, r, -1)
    write_modes(s, st, r)
    return OK
