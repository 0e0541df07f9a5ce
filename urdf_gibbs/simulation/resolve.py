"""Resolves closed contacts: an impact if something approaches, then the choice of held contacts. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.events import TOUCH
from urdf_gibbs.simulation.friction_layout import FREE, SLIDES, SMOOTH, STARTS
from urdf_gibbs.simulation.impact import REST, choose_held, impact, project
from urdf_gibbs.simulation.layout import (
    ACCEL,
    CHATTER,
    GAP,
    GRADIENT,
    JAMMED,
    LAW,
    NOT_FINITE,
    OK,
    PARADOX,
    RATE,
    RESOLVE_CONTACTS,
    SINGULAR,
    STRUCK,
    UNDERFLOW,
    Record,
    State,
    System,
)
from urdf_gibbs.simulation.record import write_impact, write_row
from urdf_gibbs.simulation.report import report_impact
from urdf_gibbs.simulation.rough_impact import choose_rough, impact_without_collision, project_rough, rough_impact
from urdf_gibbs.simulation.rows import factorise_mass, update_gaps

APPROACH = 1e-6  # relative to the fastest velocity: of the first impact without collision
MAX_PARADOXES = 6  # at one time, each with ten times the approach
JAM_STEP = 1e-6  # s: the first step after a jam
MAX_PROJECTIONS = 4  # rounds of projecting held contacts back to their walls
MAX_SETTLINGS = 12  # rounds of choosing the held contacts
MAX_REPEATS = 10  # State.repeats stops counting here
MAX_STALLS = 1000  # consecutive steps and impacts that hardly advance time
HURRIED_IMPACTS, HURRIED_TIME = 10, 2e-3  # with friction in several contacts, this many in less than this time [s] ...
HURRIED_GROUPS = 5  # ... this many times, so much faster, or once ...
AGAIN = 2e-2  # s ... this soon after implicit steps: such steps follow
IMPLICIT_STEP = 1e-5  # s, the first of these
FIRST_ROW, LONGEST_ROW = 16, 512  # implicit steps that follow each other: twice as many each time, while they are needed soon again
COUNTED_IMPACTS = 1000  # in less than this many times ``zeno``: the motion chatters


@jit
def find_closed(s: System, st: State, target: int) -> tuple[int, bool]:
    """Add contacts that are held, touch, or would touch within the tie, and the target, to st.closed.

    Returns how many are closed, and whether one of them approaches.
    """
    count, approaching = 0, False
    tie = st.tie
    for c in range(st.gaps.shape[0]):
        gap, rate = st.gaps[c, GAP] / st.gaps[c, GRADIENT], st.gaps[c, RATE] / st.gaps[c, GRADIENT]
        if c == target or gap <= TOUCH or gap <= -rate * tie or (st.held[c] and c < s.friction.joints):
            st.closed[c] = 1
            approaching = approaching or rate < -REST
        count += st.closed[c]
    return count, approaching


@jit
def select_closed(s: System, st: State) -> int:
    """Select the closed contacts (s.selected); returns how many."""
    k = 0
    for c in range(st.closed.shape[0]):
        if st.closed[c]:
            s.selected[k] = c
            k += 1
    return k


@jit
def in_cycle(s: System, st: State) -> bool:
    """Whether this impact belongs to a cycle of weak impacts that contacts pass back and forth.

    All contacts that strike now would bounce for less than the time of a cycle, and others were struck within that time. Notes the time
    for those that strike now.
    """
    t, long = st.time, st.cycle
    weak, others = True, False
    for c in range(st.closed.shape[0]):
        rate, accel = st.gaps[c, RATE] / st.gaps[c, GRADIENT], st.gaps[c, ACCEL] / st.gaps[c, GRADIENT]
        if st.closed[c] and rate < -REST:
            weak = weak and 2.0 * rate >= long * accel and s.contacts.restitution[c] < 1.0
            st.last_struck[c] = t
        elif t - st.last_struck[c] <= long:
            others = True
    return weak and others


@jit
def kinetic_change(s: System, st: State, k: int) -> float:
    """½ λᵀu of the k selected contacts with impulses s.lam; its values before and after an impact add up to the change of energy [J]."""
    change = 0.0
    for i in range(k):
        c = s.selected[i]
        change += 0.5 * s.lam[i] * st.gaps[c, RATE] / st.gaps[c, GRADIENT]
    return change


@jit
def follow_implicitly(st: State, length: float) -> None:
    """Implicit steps of this length follow (implicit.py)."""
    recent = st.time - st.last_implicit <= st.in_a_row * st.brief
    st.in_a_row = min(2 * st.in_a_row, LONGEST_ROW) if recent and st.in_a_row > 0 else FIRST_ROW
    st.together, st.brief = st.in_a_row, length


@jit
def is_hurried(st: State) -> bool:
    """Whether impacts follow each other so fast, or do so again soon after implicit steps, that such steps are better."""
    span = st.time - st.hurried_at
    st.hurried = st.hurried + 1 if span < HURRIED_TIME / HURRIED_GROUPS else 0
    return st.hurried >= HURRIED_GROUPS or (span < HURRIED_TIME and st.time - st.last_implicit < AGAIN)


@jit
def apply_impact(s: System, st: State, r: Record, target: int, k: int) -> int:
    """Apply and record the impact of the k closed contacts."""
    before = r.impact_y[r.impacts]
    copy(st.y, before)
    st.ends_cycle = in_cycle(s, st)
    while True:  # the impact may bring further gaps within the tie
        copy(before, st.y)
        select_closed(s, st)
        certificate = rough_impact(s, st, k) if s.friction.rough else impact(s, st, k)
        if not np.isfinite(certificate):
            if certificate > 0.0:
                return JAMMED
            return SINGULAR if factorise_mass(s, 0) != OK else NOT_FINITE
        select_closed(s, st)
        write_impact(s, st, r, k, certificate)
        taken = -kinetic_change(s, st, k)
        status = update_gaps(s, st, st.time, 0)
        if status != OK:
            return status
        taken -= kinetic_change(s, st, k)
        more = find_closed(s, st, target)[0]
        if more == k:
            break
        k = more
        r.impacts -= 1
        r.impact_contacts -= r.impact_counts[r.impacts, STRUCK]
    report_impact(s, r, r.impacts - 1, r.impact_contacts - k, k)
    st.impacts += 1
    if st.ends_cycle:
        st.cycles += 1
        st.energy_at_rest += taken
    st.last_impact = st.time
    if s.friction.rough and st.impacts % HURRIED_IMPACTS == 0:
        if is_hurried(st) and st.held_count > 1:
            follow_implicitly(st, IMPLICIT_STEP)
        st.hurried_at = st.time
    if st.impacts % COUNTED_IMPACTS == 0:
        long = st.time - st.counted_at > COUNTED_IMPACTS * st.zeno
        st.counted_at = st.time
        if not long:
            return CHATTER
    return OK


@jit
def how_held(s: System, st: State, c: int) -> int:
    """The mode of contact c (friction_layout.py); one that begins to slide slides."""
    if not st.held[c] and c < s.friction.joints:
        return FREE
    if not s.friction.acts:
        return SMOOTH
    mode = s.friction.mode[c]
    return SLIDES if mode == STARTS else mode


@jit
def write_modes(s: System, st: State, r: Record) -> None:
    """Write contacts that are held in another way than before into the record."""
    for c in range(st.held.shape[0]):
        mode = how_held(s, st, c)
        if mode != r.mode[c]:
            r.mode[c] = mode
            i = r.phase_changes
            r.change_contact[i], r.change_mode[i] = c, mode
            r.change_time[i], r.change_accumulation[i] = st.time, st.bounce_ends[c]
            r.phase_changes = i + 1


@jit
def settle_contacts(s: System, st: State, k: int) -> int:
    """Choose which of the k closed contacts are held, and project the state so that they are closed and at rest.

    The projection removes the last velocity of the held contacts. That may press others shut, which are then held too, or bring more of
    them to rest: repeated until the set no longer changes.
    """
    held = st.held
    before = np.empty(held.shape[0], np.int64)
    for c in range(held.shape[0]):
        before[c] = FREE
    for _ in range(MAX_SETTLINGS):
        select_closed(s, st)
        status = choose_rough(s, st, k) if s.friction.acts else choose_held(s, st, k)
        if status != OK:
            return status
        same, count = True, 0
        for c in range(held.shape[0]):
            same = same and how_held(s, st, c) == before[c]
            count += held[c]
        st.held_count = count
        if same:
            break
        grown = True
        while grown:
            status = project_rough(s, st, MAX_PROJECTIONS) if s.friction.acts else project(s, st, MAX_PROJECTIONS)
            if status == OK:
                status = update_gaps(s, st, st.time, 0)
            if status != OK:
                return status
            grown = False
            for c in range(held.shape[0]):
                if st.closed[c] and not held[c] and st.gaps[c, RATE] / st.gaps[c, GRADIENT] < -REST:
                    held[c] = 1
                    st.held_count += 1
                    grown = True
        for c in range(held.shape[0]):
            before[c] = how_held(s, st, c)
    return OK


@jit
def resolve_paradox(s: System, st: State, r: Record, k: int, approach: float) -> int:
    """An impact without collision of the k closed contacts, whose forces do not exist; recorded."""
    if not st.impact_in_paradox or r.impacts + 1 >= r.impact_numbers.shape[0]:
        return PARADOX
    copy(st.y, r.impact_y[r.impacts])
    select_closed(s, st)
    certificate = impact_without_collision(s, st, k, approach)
    if not np.isfinite(certificate):
        return PARADOX
    select_closed(s, st)
    write_impact(s, st, r, k, certificate)
    r.impact_counts[r.impacts - 1, LAW] = len(LAWS)
    report_impact(s, r, r.impacts - 1, r.impact_contacts - k, k)
    st.impacts += 1
    st.last_impact = st.time
    return update_gaps(s, st, st.time, 0)


@block(RESOLVE_CONTACTS, System, State, Record, int, part="events")
def resolve_contacts(s: System, st: State, r: Record, target: int) -> int:
    """Apply an impact to all closed contacts if one approaches, then choose the held contacts."""
    for c in range(st.closed.shape[0]):
        st.closed[c] = 0
        st.bounce_ends[c] = np.nan
        st.suspects[c] = st.held[c]
    st.ends_cycle = 0
    k, approaching = find_closed(s, st, target)
    if approaching:
        status = apply_impact(s, st, r, target, k)
        if status != OK:
            return status
        k = find_closed(s, st, target)[0]
    status = settle_contacts(s, st, k)
    approach = APPROACH
    for _ in range(MAX_PARADOXES):
        if status != PARADOX:
            break
        status = resolve_paradox(s, st, r, k, approach)
        approaching = True
        approach *= 10.0
        if status == OK:
            k = find_closed(s, st, target)[0]
            status = settle_contacts(s, st, k)
    if status == PARADOX and st.impact_in_paradox and st.together == 0:  # forces do not exist, impulses over a moment do
        follow_implicitly(st, IMPLICIT_STEP)
        status = OK
    if status != OK:
        return status
    write_modes(s, st, r)
    st.repeats = min(st.repeats + 1, MAX_REPEATS) if st.settled_at == st.time else 0
    st.settled_at = st.time
    st.fresh = 0
    st.stalls += 1
    if approaching:
        write_row(s, r, st, False)
    return CHATTER if st.stalls > MAX_STALLS else OK


@jit
def resolve_jam(s: System, st: State, r: Record) -> int:
    """Sliding contacts whose forces grow beyond all bounds, so that no step is short enough: an impact without collision ends that.

    UNDERFLOW where this is not what makes the steps short, or has been tried here before.
    """
    slides = False
    for c in range(s.friction.mode.shape[0]):
        slides = slides or (st.held[c] == 1 and c < s.friction.joints and s.friction.mode[c] in (SLIDES, STARTS))
    if not slides or st.last_impact == st.time:
        return UNDERFLOW
    k = 0
    for c in range(st.closed.shape[0]):
        st.closed[c] = st.held[c] if c < s.friction.joints else 0
        st.suspects[c] = st.held[c]
        k += st.closed[c]
    status = resolve_paradox(s, st, r, k, APPROACH)
    if status != OK:
        return UNDERFLOW
    st.fresh = 0
    st.stalls = 0
    st.step_length = JAM_STEP
    write_row(s, r, st, False)
    return resolve_contacts(s, st, r, -1)
