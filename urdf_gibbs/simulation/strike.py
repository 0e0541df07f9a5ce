"""An impact of all that is closed, and what holds afterwards. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.events import TOUCH
from urdf_gibbs.simulation.impact import REST, impact, project, settle
from urdf_gibbs.simulation.layout import (
    CHATTER,
    GAP,
    JAMMED,
    NOT_FINITE,
    OK,
    PARTS,
    RATE,
    RISE,
    SINGULAR,
    STRIKE,
    UNIT,
    Record,
    State,
    System,
)
from urdf_gibbs.simulation.record import write_impact, write_row
from urdf_gibbs.simulation.report import report
from urdf_gibbs.simulation.rough_impact import rough_impact, rough_project, rough_settle
from urdf_gibbs.simulation.rows import mass_factors, see_contacts

PROJECTIONS = 4  # rounds of bringing held contacts back to their walls
SETTLINGS = 12  # rounds of asking which contacts hold
MOST_REPEATS = 10  # settlings at one time that are counted
MOST_STALLS = 1000  # steps and impacts, one after the other, that hardly move time
COUNTED_BLOWS = 1000  # in less than as many times ``zeno``: the motion does not get anywhere


@jit
def closed_contacts(s: System, st: State, target: int) -> tuple[int, bool]:
    """In st.closed those that hold, touch, or would touch within the tie, and the target; how many, and whether one approaches."""
    count, approaching = 0, False
    tie = st.tie
    for c in range(st.gaps.shape[0]):
        gap, rate = st.gaps[c, GAP] / st.gaps[c, UNIT], st.gaps[c, RATE] / st.gaps[c, UNIT]
        if c == target or gap <= TOUCH or gap <= -rate * tie or st.held[c]:
            st.closed[c] = 1
            approaching = approaching or rate < -REST
        count += st.closed[c]
    return count, approaching


@jit
def choose_closed(s: System, st: State) -> int:
    """The closed contacts in s.which; how many."""
    k = 0
    for c in range(st.closed.shape[0]):
        if st.closed[c]:
            s.which[k] = c
            k += 1
    return k


@jit
def in_cycle(s: System, st: State) -> bool:
    """Whether contacts hand weak blows to each other: all that strike now would bounce for less than the time of a cycle, and within that
    time others were struck. Remembers which strike now."""
    t, long = st.time, st.cycle
    weak, others = True, False
    for c in range(st.closed.shape[0]):
        rate, rise = st.gaps[c, RATE] / st.gaps[c, UNIT], st.gaps[c, RISE] / st.gaps[c, UNIT]
        if st.closed[c] and rate < -REST:
            weak = weak and 2.0 * rate >= long * rise and s.contacts.restitution[c] < 1.0
            st.last[c] = t
        elif t - st.last[c] <= long:
            others = True
    return weak and others


@jit
def kinetic_change(s: System, st: State, k: int) -> float:
    """½ λᵀu of the k contacts in s.which with impulses s.lam; before and after an impact the two add up to the change of energy [J]."""
    change = 0.0
    for i in range(k):
        c = s.which[i]
        change += 0.5 * s.lam[i] * st.gaps[c, RATE] / st.gaps[c, UNIT]
    return change


@jit
def blow(s: System, st: State, r: Record, target: int, k: int) -> int:
    """The impact of the k closed contacts, written down."""
    before = r.blow_y[r.blows]
    copy(st.y, before)
    st.ends_cycle = in_cycle(s, st)
    while True:  # the impact itself may close further gaps within the tie
        copy(before, st.y)
        choose_closed(s, st)
        certificate = rough_impact(s, st, k) if s.friction.acts else impact(s, st, k)
        if not np.isfinite(certificate):
            if certificate > 0.0:
                return JAMMED
            return SINGULAR if mass_factors(s, 0) != OK else NOT_FINITE
        choose_closed(s, st)
        write_impact(s, st, r, k, certificate)
        taken = -kinetic_change(s, st, k)
        status = see_contacts(s, st, st.time, 0)
        if status != OK:
            return status
        taken -= kinetic_change(s, st, k)
        more = closed_contacts(s, st, target)[0]
        if more == k:
            break
        k = more
        r.blows -= 1
        r.parts -= r.blow_counts[r.blows, PARTS]
    report(s, r, r.blows - 1, r.parts - k, k)
    st.impacts += 1
    if st.ends_cycle:
        st.cycles += 1
        st.taken += taken
    st.struck = st.time
    if st.impacts % COUNTED_BLOWS == 0:
        long = st.time - st.counted > COUNTED_BLOWS * st.zeno
        st.counted = st.time
        if not long:
            return CHATTER
    return OK


@jit
def hold(s: System, st: State, k: int) -> int:
    """Which of the k closed contacts hold, and the state with them closed and at rest.

    What is held takes its last velocity from the others. That may press some of those shut, which are then held too, and leave more of
    them at rest: settled again, until the set stays.
    """
    held = st.held
    still = np.empty(held.shape[0], np.int64)
    for c in range(held.shape[0]):
        still[c] = 0
    for _ in range(SETTLINGS):
        choose_closed(s, st)
        status = rough_settle(s, st, k) if s.friction.acts else settle(s, st, k)
        if status != OK:
            return status
        same, count = True, 0
        for c in range(held.shape[0]):
            same = same and held[c] == still[c]
            count += held[c]
        st.holding = count
        if same:
            break
        grown = True
        while grown:
            status = rough_project(s, st, PROJECTIONS) if s.friction.acts else project(s, st, PROJECTIONS)
            if status == OK:
                status = see_contacts(s, st, st.time, 0)
            if status != OK:
                return status
            grown = False
            for c in range(held.shape[0]):
                if st.closed[c] and not held[c] and st.gaps[c, RATE] / st.gaps[c, UNIT] < -REST:
                    held[c] = 1
                    st.holding += 1
                    grown = True
        for c in range(held.shape[0]):
            still[c] = held[c]
    return OK


@block(STRIKE, System, State, Record, int)
def strike(s: System, st: State, r: Record, target: int) -> int:
    """An impact of whatever is closed, if something approaches; then what holds."""
    for c in range(st.closed.shape[0]):
        st.closed[c] = 0
        st.ends[c] = np.nan
        st.suspects[c] = st.held[c]
    st.ends_cycle = 0
    k, approaching = closed_contacts(s, st, target)
    if approaching:
        status = blow(s, st, r, target, k)
        if status != OK:
            return status
        k = closed_contacts(s, st, target)[0]
    status = hold(s, st, k)
    if status != OK:
        return status
    for c in range(st.held.shape[0]):
        if st.held[c] != st.suspects[c]:
            i = r.turns
            r.turn_contact[i], r.turn_begins[i] = c, st.held[c]
            r.turn_t[i], r.turn_ends[i] = st.time, st.ends[c]
            r.turns = i + 1
    st.repeats = min(st.repeats + 1, MOST_REPEATS) if st.settled == st.time else 0
    st.settled = st.time
    st.fresh = 0
    st.stalls += 1
    if approaching:
        write_row(s, r, st, False)
    return CHATTER if st.stalls > MOST_STALLS else OK
