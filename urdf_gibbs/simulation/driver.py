"""The driver of the hybrid simulation: flight, landing, impact, rest. Compiled; Python sees it again when its record is full."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.surfaces import FUNCTION, MOVES
from urdf_gibbs.engine.jit import block, call4, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.events import TOUCH, find_suspects, first_closing
from urdf_gibbs.simulation.flight import dense_coefficients, derivative, error_norm, step
from urdf_gibbs.simulation.friction import forget_friction, outruns_its_start, see_sliding, sliding_bound
from urdf_gibbs.simulation.impact import CALM, REST, at_rest, opening, project, pushing
from urdf_gibbs.simulation.landing import land, passed, release
from urdf_gibbs.simulation.layout import (
    ADVANCE,
    AGAIN,
    APART,
    BAD_WALL,
    CONTROLLER,
    CRAWLING,
    FINISHED,
    GAP,
    LEAVING,
    NOT_FINITE,
    NOT_LANDED,
    OK,
    PAUSED,
    PRESENT,
    RATE,
    RESTING,
    RISE,
    UNDERFLOW,
    UNIT,
    Record,
    State,
    System,
)
from urdf_gibbs.simulation.record import room_left, write_friction, write_row
from urdf_gibbs.simulation.rough_impact import rough_project
from urdf_gibbs.simulation.rows import see_contacts, take_state
from urdf_gibbs.simulation.strike import MOST_STALLS, PROJECTIONS, strike
from urdf_gibbs.simulation.switching import ask, crawls, first_switch
from urdf_gibbs.simulation.turning import TURN, see_turning, vouched

SAFETY = 0.87  # of the next step
NEGLIGIBLE = 1e-15  # of the time: shorter steps do not exist
SHORT = 1e-9  # s: what goes wrong in steps as short as this does not go wrong because they are too long
STALL = 1e-11  # of the time, at least of a second: steps as short as this do not get anywhere


@jit
def look(st: State) -> tuple[bool, bool]:
    """How each free contact starts a step; whether one strikes at once, and whether one comes to rest."""
    strikes, rests = False, False
    # Where rows nearly depend on each other, impact and projection can hand a last approach back and forth: each time it counts less.
    slow = REST * 4.0**st.repeats if st.settled == st.time else REST
    for c in range(st.gaps.shape[0]):
        st.how[c] = APART
        unit = st.gaps[c, UNIT]
        if st.gaps[c, GAP] > TOUCH * unit or st.held[c]:
            continue
        rate, rise = st.gaps[c, RATE] / unit, st.gaps[c, RISE] / unit
        if rate < -slow:
            strikes = True
        elif rate > 0.0 and not at_rest(rate, rise, st.zeno):
            st.how[c] = LEAVING
        else:
            st.how[c] = RESTING
            rests = rests or rise < -CALM * max(1.0, abs(rise))
    return strikes, rests


@jit
def refresh(s: System, st: State, r: Record) -> int:
    """Derivative, contact forces and gaps of the present state."""
    for c in range(st.force.shape[0]):
        st.force[c] = 0.0
    forget_friction(s)
    s.least = 0.0
    status = derivative(s, st, st.time, PRESENT, 0)
    if status != OK:
        return status
    for m in range(st.K.shape[1]):
        if not np.isfinite(st.K[0, m]):
            return NOT_FINITE
    s.friction.stopping = 0
    if st.holding > 0 and s.friction.acts:
        see_sliding(s, st)
    elif st.holding > 0:
        pushing(s, st)
    if r.rows > 0:
        copy(st.force, r.force[r.rows - 1])
        write_friction(s, r, r.rows - 1)
    st.fresh = 1
    return see_contacts(s, st, st.time, 0)


@jit
def next_length(error: float) -> float:
    """Of a step whose error is just right, after one of this error, which is of order 8: by roots, a power costs as much as a stage."""
    return SAFETY / np.sqrt(np.sqrt(np.sqrt(error)))


@jit
def pulled(s: System, st: State) -> bool:
    """Whether a held contact must be let go at once: a force that is switched on pulls at it."""
    if st.holding == 0 or s.least >= 0.0:
        return False
    copy(st.y, st.work)
    return opening(s, st, st.time) > 1.0


@jit
def first_event(s: System, st: State, h: float) -> tuple[int, float]:
    """A status, and the fraction of the step at which something happens first, 2 where nothing does.

    A contact closes, which is then st.target, a held contact is let go, or a switch of the controller is thrown.
    """
    suspects = find_suspects(s, st, h)
    pulls = st.holding > 0 and s.least < 0.0
    switched = s.switches.shape[0] > 0
    where = 2.0
    st.target = -1
    if suspects > 0 or pulls or switched or st.dense:
        status = dense_coefficients(s, st, h)
        if status != OK:
            return status, where
    if suspects > 0:
        where = first_closing(s, st, h)
        if np.isnan(where):
            return BAD_WALL, 2.0
    if pulls:
        lets = release(s, st, h)
        if lets < 0.0:
            return int(-lets), where
        if lets < where:
            where = lets
            st.target = -1
    if switched:
        turns = first_switch(s, st, h, min(where, 1.0))
        if np.isnan(turns):
            return CONTROLLER, where
        if turns < where:
            where = turns
            st.target = -1
    return OK, where


@jit
def choose_sides(s: System, st: State) -> int:
    """On which side of its switches the controller is from here on."""
    return ask(s, st.time, st.y, s.code.sides) if s.switches.shape[0] > 0 else OK


@jit
def begin(s: System, st: State, r: Record) -> int:
    """The first row of a run."""
    if r.rows > 0 or st.accepted > 0 or st.impacts > 0:
        return OK
    write_row(s, r, st, False)
    return choose_sides(s, st)


@jit
def call_controller(s: System, st: State, tiny: float) -> int:
    """Where it has a rate and its time has come."""
    if not (st.rate > 0.0 and st.time >= st.call - tiny):
        return OK
    take_state(s, st.y)
    s.time[0] = st.time
    if call4(s.code.control, s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.torque.ctypes.data) != 0:
        return CONTROLLER
    st.call = np.floor(st.call * st.rate + 1.5) / st.rate
    st.fresh = 0
    return OK


@jit
def must_strike(s: System, st: State) -> bool:
    """Whether something strikes, comes to rest or must be let go before the next step."""
    strikes, rests = look(st)
    return strikes or (st.settled != st.time and (rests or s.friction.stopping > 0 or pulled(s, st)))


@jit
def strike_here(s: System, st: State, r: Record, target: int) -> int:
    """An impact may throw a switch as well."""
    status = strike(s, st, r, target)
    return choose_sides(s, st) if status == OK else status


@jit
def moved_by_function(s: System) -> bool:
    """Whether a Python function moves a wall."""
    found = False
    for i in range(s.surfaces.whole.shape[0]):
        found = found or s.surfaces.whole[i, MOVES] == FUNCTION
    return found


@jit
def bounded(s: System, st: State, h: float, by_function: bool) -> float:
    """The length h, or a shorter one whose two ends tell what happens between."""
    return vouched(s, st, h) if by_function or 2.0 * h * st.fastest > TURN else h


@jit
def proposed(s: System, st: State, tiny: float, by_function: bool) -> float:
    """The length of the next step; 0 where it would be none."""
    left = st.end - st.time
    h = bounded(s, st, min(st.stride, st.longest, left), by_function)
    if st.holding > 0 and s.friction.acts:
        h = sliding_bound(s, h)
    if st.rate > 0.0:
        h = min(h, st.call - st.time)
    if h > tiny:
        return h
    return 0.0 if st.stride <= tiny else min(2.0 * tiny, left)


@jit
def refuse(st: State, length: float) -> int:
    """The step is tried again, with this length."""
    st.stride = length
    st.rejected += 1
    st.again = 1
    return AGAIN


@jit
def attempt(s: System, st: State, h: float, by_function: bool) -> tuple[int, float]:
    """A step from y to new: OK, AGAIN where it was refused, or what is the matter; and its error against the tolerance."""
    s.least = 0.0
    status = step(s, st, h)
    if status == CONTROLLER:
        return status, np.inf
    error = error_norm(st, h) if status == OK else np.inf
    if error <= 1.0:
        status = see_contacts(s, st, st.time + h, 1)
    if not error <= 1.0 or status != OK:
        if status != OK and h < SHORT:
            return status, error
        refuse(st, h * (max(0.2, next_length(error)) if status == OK and np.isfinite(error) else 0.2))
        return CRAWLING if s.in_stages and crawls(st) else AGAIN, error
    if st.holding > 0 and s.friction.acts and h > SHORT and outruns_its_start(s, st):
        return refuse(st, 0.5 * h), error
    see_turning(s, st)
    most = bounded(s, st, h, by_function)
    if h > 1.1 * most and h > SHORT:
        st.stride = most
        st.rejected += 1
        return AGAIN, error
    return CRAWLING if s.in_stages and crawls(st) else OK, error


@jit
def to_first_event(s: System, st: State, h: float, tiny: float) -> tuple[int, float, bool]:
    """The step shortened to what happens first in it: a status or AGAIN, its length, and whether something happens at its end."""
    status, where = first_event(s, st, h)
    length = h
    event = where <= 1.0
    if status == OK and event:
        status = land(s, st, h, max(where * h, tiny))
        length = st.stride
        if status == OK and passed(st):
            status = NOT_LANDED
        if status == OK and st.dense:
            status = dense_coefficients(s, st, length)
    if status != OK:  # the motion between is not known well enough: again, in shorter steps
        shorter = min(where, 1.0) * h
        if status != CONTROLLER and shorter >= SHORT:
            status = refuse(st, 0.25 * shorter)
    return status, length, event


@jit
def accept(s: System, st: State, r: Record, length: float, tiny: float) -> int:
    """The new state is the present one, and a row of the record; what holds is kept closed."""
    t = st.time
    st.stalls = st.stalls + 1 if length <= STALL * max(1.0, abs(t)) else 0
    if st.stalls > MOST_STALLS:
        return UNDERFLOW
    st.time = st.end if st.end - t - length <= tiny else t + length
    if st.rate > 0.0 and abs(st.call - t - length) <= tiny:
        st.time = st.call
    copy(st.new, st.y)
    copy(st.K[STAGES], st.K[0])
    for c in range(st.gaps.shape[0]):
        copy(st.after[c], st.gaps[c])
    st.accepted += 1
    write_row(s, r, st, True)
    if st.holding == 0:
        return OK
    status = rough_project(s, st, PROJECTIONS) if s.friction.acts else project(s, st, PROJECTIONS)
    if status != OK:
        return status
    copy(st.y, r.y[r.rows - 1])
    return refresh(s, st, r)


@jit
def go_on(s: System, st: State, r: Record, tiny: float, by_function: bool) -> int:
    """One step, to the first event in it, and what happens there; AGAIN where it was refused."""
    h = proposed(s, st, tiny, by_function)
    if h == 0.0:
        return UNDERFLOW
    status, error = attempt(s, st, h, by_function)
    if status != OK:
        return status
    grown = h * (min(1.0 if st.again else 10.0, next_length(error)) if error > 0.0 else 10.0)
    st.again = 0
    status, length, event = to_first_event(s, st, h, tiny)
    if status != OK:
        return status
    st.stride = h if event else grown
    status = accept(s, st, r, length, tiny)
    if status != OK or not event:
        return status
    status = choose_sides(s, st)  # before: what is held may be let go
    return strike_here(s, st, r, st.target) if status == OK else status


@block(ADVANCE, System, State, Record, int)
def advance(s: System, st: State, r: Record, steps: int) -> int:
    """Go on until the end, until the record is full or ``steps`` have been tried, or until something is the matter."""
    by_function = moved_by_function(s)
    status = begin(s, st, r)
    if status != OK:
        return status
    for _ in range(steps):
        tiny = NEGLIGIBLE * max(1.0, abs(st.time))
        if st.end - st.time <= tiny:
            return FINISHED
        if not room_left(r, st.gaps.shape[0]):
            return PAUSED
        status = call_controller(s, st, tiny)
        if status == OK and st.fresh == 0:
            status = refresh(s, st, r)
        if status == OK:
            status = strike_here(s, st, r, -1) if must_strike(s, st) else go_on(s, st, r, tiny, by_function)
        if status not in (OK, AGAIN):
            return status
    return PAUSED
