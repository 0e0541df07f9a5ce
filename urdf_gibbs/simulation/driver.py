"""The driver of the hybrid simulation: flight, landing, impact, rest. Compiled; Python sees it again when its record is full."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.surfaces import FUNCTION, MOVES
from urdf_gibbs.engine.jit import block, call4, jit
from urdf_gibbs.engine.struct import Float1, Float2, Float3, Int1, Int2, Struct, struct
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.events import (
    APART,
    LEAVING,
    RESTING,
    TOUCH,
    TURN,
    allowed,
    find_suspects,
    first_closing,
    see_turning,
    unit_at_wall,
    vouched,
)
from urdf_gibbs.simulation.flight import (
    ACCEPTED,
    ADVANCE,
    AGAIN,
    BAD_WALL,
    CALL,
    CHATTER,
    CONTROL,
    CONTROLLER,
    COUNTED,
    CRAWLING,
    CYCLE,
    CYCLE_TIME,
    CYCLES,
    DENSE_WANTED,
    END,
    FRESH,
    HOLDING,
    IMPACTS,
    JAMMED,
    LAND,
    LONGEST,
    NEXT,
    NOT_FINITE,
    NOT_LANDED,
    OK,
    PRESENT,
    RATE,
    REJECTED,
    REPEATS,
    ROUNDS,
    SETTLED,
    SIDES,
    SINGULAR,
    STALLS,
    STRIDE,
    STRIKE,
    STRUCK,
    SWITCHES,
    TARGET,
    TIE,
    TIME,
    UNDERFLOW,
    ZENO,
    State,
    System,
    dense_coefficients,
    dense_state,
    derivative,
    error_norm,
    mass_factors,
    see_contacts,
    step,
    take_state,
)
from urdf_gibbs.simulation.impact import CALM, REST, at_rest, impact, law_now, opening, project, pushing, settle

Array = Any

FINISHED, PAUSED = -1, -2
ROWS, BLOWS, PARTS, TURNS = range(4)  # in Record.filled
LOOKS = 8  # places in a step at which contact forces are looked at
SAFETY = 0.87  # of the next step
NEGLIGIBLE = 1e-15  # of the time: shorter steps do not exist
SHORT = 1e-9  # s: what goes wrong in steps as short as this does not go wrong because they are too long
PROJECTIONS = 4
SETTLINGS = 12
MOST_REPEATS = 10
STALL = 1e-11  # of the time, at least of a second: steps as short as this do not get anywhere
MOST_STALLS = 1000  # of them, one after the other
COUNTED_BLOWS = 1000  # in less than as many times ``zeno``: the motion does not get anywhere
LANDED = 3e-15  # m: a landing that is better than this need not be
HOVER = 1e-12  # m: a gap below this that hardly moves
NEAR_ENOUGH = 1e-10  # m: one that is worse, beyond rounding, is none
NUDGE = 1e-9  # of a step: a landing this near is moved instead of stepped again; the interpolant does not notice
LANDINGS = 60  # steps tried for one landing
EPSILON = 2.0**-52
PATIENCE = 300  # steps tried with a controller that is called in stages
CRAWL = 5e-8  # s: where they are shorter than this on the average the controller is not continuous
SLACK = 1e-12  # how far below zero the value of a switch is not rounding


@struct
class Record(Struct):
    """What has happened since Python last looked."""

    filled: Int1  # (4,) rows, impacts, contacts of impacts, turns
    t: Float1  # (rows,)
    y: Float2  # (rows, n)
    F: Float3  # (rows, 7, n) of the step that ends here; (0, 7, n) where it is not wanted
    force: Float2  # (rows, contacts)
    blow_t: Float1
    blow_y: Float2  # (impacts, n) before
    blow_v: Float2  # (impacts, nv) after
    blow_size: Int2  # (impacts, 4) contacts, rounds, law, whether it ends a cycle
    blow_certificate: Float1
    part: Int1  # contact
    part_impulse: Float1
    part_restitution: Float1
    turn: Int2  # (turns, 2) contact, 1: begins to hold, 0: is let go
    turn_t: Float2  # (turns, 2) time, end of its bouncing


@jit
def write_row(r: Record, st: State, stepped: bool) -> None:
    i = r.filled[ROWS]
    r.t[i] = st.clock[TIME]
    copy(st.y, r.y[i])
    copy(st.force, r.force[i])
    if r.F.shape[0] > 0:
        F, kept = st.F, r.F[i]
        for j in range(F.shape[0]):
            for m in range(F.shape[1]):
                kept[j, m] = F[j, m] if stepped else 0.0
    r.filled[ROWS] = i + 1


@jit
def write_impact(s: System, st: State, r: Record, k: int, certificate: float) -> None:
    i, first, nq = r.filled[BLOWS], r.filled[PARTS], s.q.shape[0]
    r.blow_t[i] = st.clock[TIME]
    copy(st.y[nq:], r.blow_v[i])
    r.blow_size[i, 0], r.blow_size[i, 1], r.blow_size[i, 2] = k, st.count[ROUNDS], law_now(st)
    r.blow_size[i, 3] = st.count[CYCLE]
    r.blow_certificate[i] = certificate
    for j in range(k):
        r.part[first + j] = s.which[j]
        r.part_impulse[first + j] = s.lam[j]
        r.part_restitution[first + j] = s.e[j]
    r.filled[BLOWS], r.filled[PARTS] = i + 1, first + k


@jit
def closed_contacts(s: System, st: State, target: int) -> tuple[int, bool]:
    """In st.closed those that hold, touch, or would touch within the tie, and the target; how many, and whether one approaches."""
    count, approaching = 0, False
    tie = st.limits[TIE]
    for c in range(st.gaps.shape[0]):
        gap, rate = st.gaps[c, 0] / st.gaps[c, 3], st.gaps[c, 1] / st.gaps[c, 3]
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
    t, long = st.clock[TIME], st.limits[CYCLE_TIME]
    weak, others = True, False
    for c in range(st.closed.shape[0]):
        rate, rise = st.gaps[c, 1] / st.gaps[c, 3], st.gaps[c, 2] / st.gaps[c, 3]
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
        change += 0.5 * s.lam[i] * st.gaps[c, 1] / st.gaps[c, 3]
    return change


@jit
def blow(s: System, st: State, r: Record, target: int, k: int) -> int:
    """The impact of the k closed contacts, written down."""
    before = r.blow_y[r.filled[BLOWS]]
    copy(st.y, before)
    st.count[CYCLE] = in_cycle(s, st)
    while True:  # the impact itself may close further gaps within the tie
        copy(before, st.y)
        choose_closed(s, st)
        certificate = impact(s, st, k)
        if not np.isfinite(certificate):
            if certificate > 0.0:
                return JAMMED
            return SINGULAR if mass_factors(s, 0) != OK else NOT_FINITE
        choose_closed(s, st)
        write_impact(s, st, r, k, certificate)
        taken = -kinetic_change(s, st, k)
        status = see_contacts(s, st, st.clock[TIME], 0)
        if status != OK:
            return status
        taken -= kinetic_change(s, st, k)
        more = closed_contacts(s, st, target)[0]
        if more == k:
            break
        k = more
        r.filled[BLOWS] -= 1
        r.filled[PARTS] -= r.blow_size[r.filled[BLOWS], 0]
    st.count[IMPACTS] += 1
    if st.count[CYCLE]:
        st.count[CYCLES] += 1
        st.taken[0] += taken
    st.clock[STRUCK] = st.clock[TIME]
    if st.count[IMPACTS] % COUNTED_BLOWS == 0:
        long = st.clock[TIME] - st.clock[COUNTED] > COUNTED_BLOWS * st.limits[ZENO]
        st.clock[COUNTED] = st.clock[TIME]
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
        status = settle(s, st, k)
        if status != OK:
            return status
        same, count = True, 0
        for c in range(held.shape[0]):
            same = same and held[c] == still[c]
            count += held[c]
        st.count[HOLDING] = count
        if same:
            break
        grown = True
        while grown:
            status = project(s, st, PROJECTIONS)
            if status == OK:
                status = see_contacts(s, st, st.clock[TIME], 0)
            if status != OK:
                return status
            grown = False
            for c in range(held.shape[0]):
                if st.closed[c] and not held[c] and st.gaps[c, 1] / st.gaps[c, 3] < -REST:
                    held[c] = 1
                    st.count[HOLDING] += 1
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
    st.count[CYCLE] = 0
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
            i = r.filled[TURNS]
            r.turn[i, 0], r.turn[i, 1] = c, st.held[c]
            r.turn_t[i, 0], r.turn_t[i, 1] = st.clock[TIME], st.ends[c]
            r.filled[TURNS] = i + 1
    st.count[REPEATS] = min(st.count[REPEATS] + 1, MOST_REPEATS) if st.clock[SETTLED] == st.clock[TIME] else 0
    st.clock[SETTLED] = st.clock[TIME]
    st.count[FRESH] = 0
    st.count[STALLS] += 1
    if approaching:
        write_row(r, st, False)
    return CHATTER if st.count[STALLS] > MOST_STALLS else OK


@jit
def release(s: System, st: State, h: float) -> float:
    """The fraction of the step at which a held contact must be let go; 2 where none must, minus a status where something is the matter."""
    t = st.clock[TIME]
    low, high = 0.0, 2.0
    bound = 1.0
    if st.clock[SETTLED] == t:  # what settling has left open, where rows nearly depend on each other, is no reason to settle again
        copy(st.y, st.work)
        bound = max(1.0, 2.0 * opening(s, st, t))
    i = 1
    while high > 1.0 or (high - low) * h > 1e-13:
        if high > 1.0 and i > LOOKS:
            return 2.0
        middle = i / LOOKS if high > 1.0 else 0.5 * (low + high)
        i += 1
        dense_state(s, st, middle)
        opens = opening(s, st, t + h * middle)
        if opens < 0.0:
            return opens
        if opens > bound:
            high = middle
        else:
            low = middle
    return high


@jit
def rounding(s: System, st: State, t: float, rate: float, unit: float) -> float:
    """What the gap of a state cannot be told from zero by: rounding of time and of the largest coordinate."""
    largest = 0.0
    for m in range(s.q.shape[0]):
        largest = max(largest, abs(st.new[m]))
    return 8.0 * EPSILON * (abs(rate) * t + largest * unit)


@jit
def nudge(s: System, st: State, length: float, more: float) -> int:
    """A landing moved by a time so short that the rates at its end tell all: its square is beyond rounding."""
    for m in range(st.new.shape[0]):
        st.new[m] += more * st.K[STAGES, m]
    st.clock[STRIDE] = length + more
    status = derivative(s, st, st.clock[TIME] + length + more, NEXT, STAGES)
    return status if status != OK else see_contacts(s, st, st.clock[TIME] + length + more, 1)


@block(LAND, System, State, float, float)
def land(s: System, st: State, h: float, guess: float) -> int:
    """Step again to where the target's gap is zero, near the length ``guess``; the length of the step goes to st.clock[STRIDE].

    Newton on the length, within bounds as soon as there are some; where the gap opens before it closes, ever larger moves towards it.
    NOT_LANDED where no length ends on the wall.
    """
    t, target, length = st.clock[TIME], st.count[TARGET], guess
    low, high = -1.0, -1.0  # lengths at which the gap is open and closed, once they are known
    far, move = 0.1 * h, 1e-9 * h
    best, nearest = np.inf, guess
    tries = 0
    while tries < LANDINGS:
        tries += 1
        status = step(s, st, length)
        if status != OK:
            return status
        st.clock[STRIDE] = length
        status = see_contacts(s, st, t + length, 1)
        if status != OK or target < 0:
            return status
        phi, rate, unit = st.after[target, 0] + allowed(st, target), st.after[target, 1], st.after[target, 3]
        blur = rounding(s, st, t + length, rate, unit)
        if abs(phi) <= LANDED * unit:
            return OK
        if abs(phi) <= HOVER * unit and abs(phi) > 0.1 * h * abs(rate):  # it keeps to the wall by rounding: as good here as anywhere
            return OK
        if rate < 0.0 and abs(phi) <= NUDGE * h * -rate:
            return nudge(s, st, length, -phi / rate)
        if abs(phi) - blur < best:
            best, nearest = abs(phi) - blur, length
        if phi > 0.0:
            low = length
        else:
            high = length
        if rate < 0.0:
            longer = length - min(max(phi / rate, -far), far)
        else:
            longer = length + (move if phi > 0.0 else -move)
            move *= 4.0
        far *= 2.0
        if low >= 0.0 and high >= 0.0:
            inside = min(low, high) < longer < max(low, high)
            if not inside or tries % 8 == 7:
                longer = 0.5 * (low + high)
        else:
            longer = min(longer, 1.1 * h) if longer > 0.0 else 0.5 * length
        if abs(longer - length) <= 0.5 * EPSILON * max(t + length, length):
            break
        length = longer
    if best > NEAR_ENOUGH * unit_at_wall(s, st, target):
        return NOT_LANDED
    if st.clock[STRIDE] != nearest:
        status = step(s, st, nearest)
        if status != OK:
            return status
        st.clock[STRIDE] = nearest
        return see_contacts(s, st, t + nearest, 1)
    return OK


@jit
def passed(st: State) -> bool:
    """Whether the step goes through a wall: a landing must not leave another contact behind."""
    found = False
    for c in range(st.after.shape[0]):
        found = found or (not st.held[c] and st.after[c, 0] < -allowed(st, c) - NEAR_ENOUGH * st.after[c, 3])
    return found


# switches of the controller -------------------------------------------------------------------------


@jit
def ask(s: System, t: float, y: Array, question: int) -> int:
    """One of the functions of the controller at a state; the answer goes to s.switches."""
    take_state(s, y)
    s.time[0] = t
    if call4(s.code[question], s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.switches.ctypes.data) != 0:
        return CONTROLLER
    return OK


@jit
def thrown(s: System, st: State, h: float, where: float) -> float:
    """The least value of a switch at a fraction of the step; NaN where its function fails."""
    dense_state(s, st, where)
    if ask(s, st.clock[TIME] + where * h, st.work, SWITCHES) != OK:
        return np.nan
    least = np.inf
    for k in range(s.switches.shape[0]):
        least = min(least, s.switches[k])
    return least


@jit
def first_switch(s: System, st: State, h: float, until: float) -> float:
    """The fraction of the step, up to ``until``, at which a switch must first be thrown; 2 where none must, NaN where one fails."""
    low, high, least = 0.0, 2.0, 0.0
    for i in range(LOOKS + 1):
        middle = until * i / LOOKS
        value = thrown(s, st, h, middle)
        if np.isnan(value):
            return value
        if value < -SLACK and i > 0:
            high = middle
            break
        low = middle
        least = 0.0 if value > 0.0 else -SLACK  # a step that starts on a switch may leave it from below, by rounding
    if high > 1.0:
        return 2.0
    while (high - low) * h > 0.5 * EPSILON * max(st.clock[TIME], h):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        value = thrown(s, st, h, middle)
        if np.isnan(value):
            return value
        if value < least:
            high = middle
        else:
            low = middle
    return high


@jit
def crawls(st: State) -> bool:
    """Count a step that was tried with a controller that is called in stages: whether it has stopped getting anywhere."""
    watch = st.watch
    watch[1] += 1.0
    if watch[1] < PATIENCE:
        return False
    slow = st.clock[TIME] - watch[0] < PATIENCE * CRAWL
    watch[0], watch[1] = st.clock[TIME], 0.0
    return slow


@jit
def look(st: State) -> tuple[bool, bool]:
    """How each free contact starts a step; whether one strikes at once, and whether one comes to rest."""
    strikes, rests = False, False
    # Where rows nearly depend on each other, impact and projection can hand a last approach back and forth: each time it counts less.
    slow = REST * 4.0 ** st.count[REPEATS] if st.clock[SETTLED] == st.clock[TIME] else REST
    for c in range(st.gaps.shape[0]):
        st.how[c] = APART
        unit = st.gaps[c, 3]
        if st.gaps[c, 0] > TOUCH * unit or st.held[c]:
            continue
        rate, rise = st.gaps[c, 1] / unit, st.gaps[c, 2] / unit
        if rate < -slow:
            strikes = True
        elif rate > 0.0 and not at_rest(rate, rise, st.limits[ZENO]):
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
    s.least[0] = 0.0
    status = derivative(s, st, st.clock[TIME], PRESENT, 0)
    if status != OK:
        return status
    for m in range(st.K.shape[1]):
        if not np.isfinite(st.K[0, m]):
            return NOT_FINITE
    if st.count[HOLDING] > 0:
        pushing(s, st)
    if r.filled[ROWS] > 0:
        copy(st.force, r.force[r.filled[ROWS] - 1])
    st.count[FRESH] = 1
    return see_contacts(s, st, st.clock[TIME], 0)


@jit
def next_length(error: float) -> float:
    """Of a step whose error is just right, after one of this error, which is of order 8: by roots, a power costs as much as a stage."""
    return SAFETY / np.sqrt(np.sqrt(np.sqrt(error)))


@jit
def pulled(s: System, st: State) -> bool:
    """Whether a held contact must be let go at once: a force that is switched on pulls at it."""
    if st.count[HOLDING] == 0 or s.least[0] >= 0.0:
        return False
    copy(st.y, st.work)
    return opening(s, st, st.clock[TIME]) > 1.0


@jit
def room_left(r: Record, contacts: int) -> bool:
    """Whether the record can take one more step and impact."""
    return (
        r.filled[ROWS] + 2 < r.t.shape[0]
        and r.filled[BLOWS] + 1 < r.blow_t.shape[0]
        and r.filled[PARTS] + contacts < r.part.shape[0]
        and r.filled[TURNS] + contacts < r.turn.shape[0]
    )


@jit
def first_event(s: System, st: State, h: float) -> tuple[int, float]:
    """A status, and the fraction of the step at which something happens first, 2 where nothing does.

    A contact closes, which is then st.count[TARGET], a held contact is let go, or a switch of the controller is thrown.
    """
    suspects = find_suspects(s, st, h)
    pulls = st.count[HOLDING] > 0 and s.least[0] < 0.0
    switched = s.switches.shape[0] > 0
    where = 2.0
    st.count[TARGET] = -1
    if suspects > 0 or pulls or switched or st.choice[DENSE_WANTED]:
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
            st.count[TARGET] = -1
    if switched:
        turns = first_switch(s, st, h, min(where, 1.0))
        if np.isnan(turns):
            return CONTROLLER, where
        if turns < where:
            where = turns
            st.count[TARGET] = -1
    return OK, where


@block(ADVANCE, System, State, Record, int)
def advance(s: System, st: State, r: Record, steps: int) -> int:
    """Go on until the end, until the record is full or ``steps`` have been tried, or until something is the matter."""
    end, rate = st.limits[END], st.limits[RATE]
    by_function = False  # whether a Python function moves a wall
    for i in range(s.surfaces.whole.shape[0]):
        by_function = by_function or s.surfaces.whole[i, MOVES] == FUNCTION
    if r.filled[ROWS] == 0 and st.count[ACCEPTED] == 0 and st.count[IMPACTS] == 0:
        write_row(r, st, False)
        if s.switches.shape[0] > 0 and ask(s, st.clock[TIME], st.y, SIDES) != OK:
            return CONTROLLER
    for _ in range(steps):
        t = st.clock[TIME]
        tiny = NEGLIGIBLE * max(1.0, abs(t))
        if end - t <= tiny:
            return FINISHED
        if not room_left(r, st.gaps.shape[0]):
            return PAUSED
        if rate > 0.0 and t >= st.clock[CALL] - tiny:
            take_state(s, st.y)
            s.time[0] = t
            if call4(s.code[CONTROL], s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.torque.ctypes.data) != 0:
                return CONTROLLER
            st.clock[CALL] = np.floor(st.clock[CALL] * rate + 1.5) / rate
            st.count[FRESH] = 0
        if st.count[FRESH] == 0:
            status = refresh(s, st, r)
            if status != OK:
                return status
        strikes, rests = look(st)
        if strikes or (st.clock[SETTLED] != t and (rests or pulled(s, st))):
            status = strike(s, st, r, -1)
            if status == OK and s.switches.shape[0] > 0:
                status = ask(s, t, st.y, SIDES)
            if status != OK:
                return status
            continue

        # a step
        h = min(st.clock[STRIDE], st.limits[LONGEST], end - t)
        if by_function or 2.0 * h * st.extent[0] > TURN:
            h = vouched(s, st, h)
        if rate > 0.0:
            h = min(h, st.clock[CALL] - t)
        if h <= tiny:
            if st.clock[STRIDE] <= tiny:
                return UNDERFLOW
            h = min(2.0 * tiny, end - t)
        s.least[0] = 0.0
        status = step(s, st, h)
        if status == CONTROLLER:
            return status
        error = error_norm(st, h) if status == OK else np.inf
        if error <= 1.0:
            status = see_contacts(s, st, t + h, 1)
        if not error <= 1.0 or status != OK:
            if status != OK and h < SHORT:
                return status
            st.clock[STRIDE] = h * (max(0.2, next_length(error)) if status == OK and np.isfinite(error) else 0.2)
            st.count[REJECTED] += 1
            st.count[AGAIN] = 1
            if s.in_stages[0] and crawls(st):
                return CRAWLING
            continue
        see_turning(s, st)
        most = vouched(s, st, h) if by_function or 2.0 * h * st.extent[0] > TURN else h
        if h > 1.1 * most and h > SHORT:
            st.clock[STRIDE] = most
            st.count[REJECTED] += 1
            continue
        if s.in_stages[0] and crawls(st):
            return CRAWLING
        grown = h * (min(1.0 if st.count[AGAIN] else 10.0, next_length(error)) if error > 0.0 else 10.0)
        st.count[AGAIN] = 0

        status, where = first_event(s, st, h)
        length = h
        event = where <= 1.0
        if status == OK and event:
            status = land(s, st, h, max(where * h, tiny))
            length = st.clock[STRIDE]
            if status == OK and passed(st):
                status = NOT_LANDED
            if status == OK and st.choice[DENSE_WANTED]:
                status = dense_coefficients(s, st, length)
        if status != OK:  # the motion between is not known well enough: again, in shorter steps
            shorter = min(where, 1.0) * h
            if status == CONTROLLER or shorter < SHORT:
                return status
            st.clock[STRIDE] = 0.25 * shorter
            st.count[REJECTED] += 1
            st.count[AGAIN] = 1
            continue
        st.count[STALLS] = st.count[STALLS] + 1 if length <= STALL * max(1.0, abs(t)) else 0
        if st.count[STALLS] > MOST_STALLS:
            return UNDERFLOW
        st.clock[TIME] = end if end - t - length <= tiny else t + length
        if rate > 0.0 and abs(st.clock[CALL] - t - length) <= tiny:
            st.clock[TIME] = st.clock[CALL]
        st.clock[STRIDE] = h if event else grown
        copy(st.new, st.y)
        copy(st.K[STAGES], st.K[0])
        for c in range(st.gaps.shape[0]):
            copy(st.after[c], st.gaps[c])
        st.count[ACCEPTED] += 1
        write_row(r, st, True)
        if st.count[HOLDING] > 0:
            status = project(s, st, PROJECTIONS)
            if status == OK:
                copy(st.y, r.y[r.filled[ROWS] - 1])
                status = refresh(s, st, r)
            if status != OK:
                return status
        if event:
            if s.switches.shape[0] > 0:  # before: what is held may be let go; after: an impact may throw a switch as well
                status = ask(s, st.clock[TIME], st.y, SIDES)
                if status != OK:
                    return status
            status = strike(s, st, r, st.count[TARGET])
            if status == OK and s.switches.shape[0] > 0:
                status = ask(s, st.clock[TIME], st.y, SIDES)
            if status != OK:
                return status
    return PAUSED
