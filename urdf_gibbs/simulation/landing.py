"""Steps that end where a gap closes or a held contact is released. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.events import allowed_depth, gradient_at_wall
from urdf_gibbs.simulation.flight import dense_state, derivative, step
from urdf_gibbs.simulation.impact import opening_rate
from urdf_gibbs.simulation.layout import GAP, GRADIENT, LAND, NEXT, NOT_LANDED, OK, RATE, State, System
from urdf_gibbs.simulation.rows import update_gaps

SAMPLES = 8  # points of a step at which contact forces and switches are checked
EXACT_LANDING = 3e-15  # m: a landing this close needs no refinement
HOVER = 1e-12  # m: a smaller gap that hardly moves counts as landed
GOOD_LANDING = 1e-10  # m: a landing farther off than this, beyond rounding, has failed
NUDGE = 1e-9  # relative to the step: a landing this near is shifted instead of stepped again, far below the interpolant's error
MAX_LANDINGS = 60  # step lengths tried for one landing
EPSILON = 2.0**-52


@jit
def first_release(s: System, st: State, h: float) -> float:
    """The fraction of the step at which a held contact has to be released; 2 where none has to, minus a status on an error."""
    t = st.time
    low, high = 0.0, 2.0
    bound = 1.0
    if st.settled_at == t:  # with nearly dependent rows settling may leave contacts opening: that is no reason to settle again
        copy(st.y, st.work)
        bound = max(1.0, 2.0 * opening_rate(s, st, t))
    i = 1
    while high > 1.0 or (high - low) * h > 1e-13:
        if high > 1.0 and i > SAMPLES:
            return 2.0
        middle = i / SAMPLES if high > 1.0 else 0.5 * (low + high)
        i += 1
        dense_state(s, st, middle)
        opens = opening_rate(s, st, t + h * middle)
        if opens < 0.0:
            return opens
        if opens > bound:
            high = middle
        else:
            low = middle
    return high


@jit
def gap_rounding(s: System, st: State, t: float, rate: float, gradient: float) -> float:
    """Uncertainty of the gap from the rounding of time and of the largest coordinate."""
    largest = 0.0
    for m in range(s.q.shape[0]):
        largest = max(largest, abs(st.new[m]))
    return 8.0 * EPSILON * (abs(rate) * t + largest * gradient)


@jit
def nudge(s: System, st: State, length: float, more: float) -> int:
    """Shift a landing by a time so short that the derivatives at its end suffice: second-order terms are below rounding."""
    for m in range(st.new.shape[0]):
        st.new[m] += more * st.K[STAGES, m]
    st.step_length = length + more
    status = derivative(s, st, st.time + length + more, NEXT, STAGES)
    return status if status != OK else update_gaps(s, st, st.time + length + more, 1)


@block(LAND, System, State, float, float, part="events")
def land(s: System, st: State, h: float, guess: float) -> int:
    """Step again to where the target's gap is zero, near the length ``guess``; st.step_length gets the length.

    Newton's method on the length, within a bracket once there is one; where the gap is still opening, moves of growing length lead to it.
    NOT_LANDED where no length ends on the wall.
    """
    t, target, length = st.time, st.target, guess
    low, high = -1.0, -1.0  # lengths at which the gap is open and closed, once they are known
    far, move = 0.1 * h, 1e-9 * h
    best, nearest = np.inf, guess
    tries = 0
    while tries < MAX_LANDINGS:
        tries += 1
        status = step(s, st, length)
        if status != OK:
            return status
        st.step_length = length
        status = update_gaps(s, st, t + length, 1)
        if status != OK or target < 0:
            return status
        phi, rate, gradient = st.new_gaps[target, GAP] + allowed_depth(st, target), st.new_gaps[target, RATE], st.new_gaps[target, GRADIENT]
        blur = gap_rounding(s, st, t + length, rate, gradient)
        if abs(phi) <= EXACT_LANDING * gradient:
            return OK
        if abs(phi) <= HOVER * gradient and abs(phi) > 0.1 * h * abs(rate):  # it follows the wall to rounding: any length will do
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
    if best > GOOD_LANDING * gradient_at_wall(s, st, target):
        return NOT_LANDED
    if st.step_length != nearest:
        status = step(s, st, nearest)
        if status != OK:
            return status
        st.step_length = nearest
        return update_gaps(s, st, t + nearest, 1)
    return OK


@jit
def penetrates(st: State) -> bool:
    """Whether the step ends with a free contact inside a wall: a landing must not skip another contact."""
    below = False
    for c in range(st.new_gaps.shape[0]):
        below = below or (not st.held[c] and st.new_gaps[c, GAP] < -allowed_depth(st, c) - GOOD_LANDING * st.new_gaps[c, GRADIENT])
    return below
