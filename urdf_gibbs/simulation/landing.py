"""Steps that end where a gap closes or a held contact is let go. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.events import allowed, unit_at_wall
from urdf_gibbs.simulation.flight import dense_state, derivative, step
from urdf_gibbs.simulation.impact import opening
from urdf_gibbs.simulation.layout import GAP, LAND, NEXT, NOT_LANDED, OK, RATE, UNIT, State, System
from urdf_gibbs.simulation.rows import see_contacts

LOOKS = 8  # places in a step at which contact forces are looked at
LANDED = 3e-15  # m: a landing that is better than this need not be
HOVER = 1e-12  # m: a gap below this that hardly moves
NEAR_ENOUGH = 1e-10  # m: one that is worse, beyond rounding, is none
NUDGE = 1e-9  # of a step: a landing this near is moved instead of stepped again; the interpolant does not notice
LANDINGS = 60  # steps tried for one landing
EPSILON = 2.0**-52


@jit
def release(s: System, st: State, h: float) -> float:
    """The fraction of the step at which a held contact must be let go; 2 where none must, minus a status where something is the matter."""
    t = st.time
    low, high = 0.0, 2.0
    bound = 1.0
    if st.settled == t:  # what settling has left open, where rows nearly depend on each other, is no reason to settle again
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
    st.stride = length + more
    status = derivative(s, st, st.time + length + more, NEXT, STAGES)
    return status if status != OK else see_contacts(s, st, st.time + length + more, 1)


@block(LAND, System, State, float, float)
def land(s: System, st: State, h: float, guess: float) -> int:
    """Step again to where the target's gap is zero, near the length ``guess``; the length of the step goes to st.stride.

    Newton on the length, within bounds as soon as there are some; where the gap opens before it closes, ever larger moves towards it.
    NOT_LANDED where no length ends on the wall.
    """
    t, target, length = st.time, st.target, guess
    low, high = -1.0, -1.0  # lengths at which the gap is open and closed, once they are known
    far, move = 0.1 * h, 1e-9 * h
    best, nearest = np.inf, guess
    tries = 0
    while tries < LANDINGS:
        tries += 1
        status = step(s, st, length)
        if status != OK:
            return status
        st.stride = length
        status = see_contacts(s, st, t + length, 1)
        if status != OK or target < 0:
            return status
        phi, rate, unit = st.after[target, GAP] + allowed(st, target), st.after[target, RATE], st.after[target, UNIT]
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
    if st.stride != nearest:
        status = step(s, st, nearest)
        if status != OK:
            return status
        st.stride = nearest
        return see_contacts(s, st, t + nearest, 1)
    return OK


@jit
def passed(st: State) -> bool:
    """Whether the step goes through a wall: a landing must not leave another contact behind."""
    found = False
    for c in range(st.after.shape[0]):
        found = found or (not st.held[c] and st.after[c, GAP] < -allowed(st, c) - NEAR_ENOUGH * st.after[c, UNIT])
    return found
