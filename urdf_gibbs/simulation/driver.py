"""The driver of the hybrid simulation: flight, landing, impact, rest. Compiled; returns to Python when its record is full."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.surfaces import FUNCTION, MOVES
from urdf_gibbs.engine.jit import block, call4, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.dry_joints import joint_stops, keep_dry_forces, least_slide
from urdf_gibbs.simulation.events import TOUCH, find_suspects, first_closing
from urdf_gibbs.simulation.flight import dense_coefficients, derivative, error_norm, step
from urdf_gibbs.simulation.friction_work import add_step_work, friction_power
from urdf_gibbs.simulation.impact import CALM, REST, at_rest, opening_rate, project, use_pushing_forces
from urdf_gibbs.simulation.implicit import implicit_step, makes_no_progress
from urdf_gibbs.simulation.landing import first_release, land, penetrates
from urdf_gibbs.simulation.layout import (
    ACCEL,
    ADVANCE,
    APART,
    BAD_WALL,
    CONTROLLER,
    CRAWLING,
    FINISHED,
    GAP,
    GRADIENT,
    LEAVING,
    NOT_FINITE,
    NOT_LANDED,
    OK,
    PAUSED,
    PRESENT,
    RATE,
    RESTING,
    RETRY,
    UNDERFLOW,
    Record,
    State,
    System,
)
from urdf_gibbs.simulation.record import has_room, write_friction, write_row
from urdf_gibbs.simulation.resolve import MAX_PROJECTIONS, MAX_STALLS, resolve_contacts, resolve_jam
from urdf_gibbs.simulation.rough_impact import project_rough
from urdf_gibbs.simulation.rows import load_state, update_gaps
from urdf_gibbs.simulation.sliding import outruns_slowness, up_to_stop, update_sliding, use_allowed_forces
from urdf_gibbs.simulation.switching import call_switches, first_stop, first_switch, is_crawling
from urdf_gibbs.simulation.turning import MAX_TURN, bound_turning, longest_safe_step

SAFETY = 0.87  # factor on the length of the next step
NEGLIGIBLE = 1e-15  # relative to the time: shorter steps are lost in rounding
SHORT = 1e-9  # s: a failure in a step this short is not cured by a shorter one
STALL = 1e-11  # relative to the time, or to one second: steps this short make no progress


@jit
def classify_contacts(st: State) -> tuple[bool, bool]:
    """Set the mode of each free contact at the start of a step; returns whether one strikes at once, and whether one comes to rest."""
    strikes, rests = False, False
    # With nearly dependent rows, impact and projection can pass a small approach back and forth: raise the threshold each time.
    slow = REST * 4.0**st.repeats if st.settled_at == st.time else REST
    for c in range(st.gaps.shape[0]):
        st.mode[c] = APART
        gradient = st.gaps[c, GRADIENT]
        if st.gaps[c, GAP] > TOUCH * gradient or st.held[c]:
            continue
        rate, accel = st.gaps[c, RATE] / gradient, st.gaps[c, ACCEL] / gradient
        if rate < -slow:
            strikes = True
        elif rate > 0.0 and not at_rest(rate, accel, st.zeno):
            st.mode[c] = LEAVING
        else:
            st.mode[c] = RESTING
            rests = rests or accel < -CALM * max(1.0, abs(accel))
    return strikes, rests


@jit
def clear_free_forces(s: System, st: State) -> None:
    """Contacts that are not held have no forces; those of the others tell where to look for them."""
    for c in range(st.force.shape[0]):
        if not st.held[c]:
            st.force[c] = 0.0
            if s.friction.acts:
                for m in range(3):
                    s.friction.force[c, m] = 0.0


@jit
def refresh(s: System, st: State, r: Record) -> int:
    """Compute derivative, contact forces and gaps of the present state."""
    clear_free_forces(s, st)
    s.least_force = 0.0
    status = derivative(s, st, st.time, PRESENT, 0)
    if status != OK:
        return status
    st.power[0] = friction_power(s, st)
    for m in range(st.K.shape[1]):
        if not np.isfinite(st.K[0, m]):
            return NOT_FINITE
    s.friction.stopping = 0
    if st.held_count > 0 and s.friction.acts:
        if update_sliding(s, st):
            s.least_force = 0.0
            status = derivative(s, st, st.time, PRESENT, 0)
            if status != OK:
                return status
            st.power[0] = friction_power(s, st)
        use_allowed_forces(s, st)
    elif st.held_count > 0:
        use_pushing_forces(s, st)
    keep_dry_forces(s, st)
    if r.rows > 0:
        copy(st.force, r.force[r.rows - 1])
        write_friction(s, r, r.rows - 1)
    st.fresh = 1
    return update_gaps(s, st, st.time, 0)


@jit
def step_factor(error: float) -> float:
    """Factor from the length of a step to that of the next, error^(-1/8) with a margin; three square roots are cheaper than a power."""
    return SAFETY / np.sqrt(np.sqrt(np.sqrt(error)))


@jit
def must_release(s: System, st: State) -> bool:
    """Whether a held contact has to be released at once, because a force that has just been switched on pulls at it."""
    if st.held_count == 0 or s.least_force >= 0.0:
        return False
    copy(st.y, st.work)
    return opening_rate(s, st, st.time) > 1.0


@jit
def first_event(s: System, st: State, h: float) -> tuple[int, float]:
    """A status, and the fraction of the step at which the first event happens, 2 where there is none.

    An event: a contact closes (then it is st.target), a held contact is released, a joint stops sliding, or a switch of the controller
    is thrown.
    """
    suspects = find_suspects(s, st, h)
    pulls = st.held_count > 0 and s.least_force < 0.0
    has_switches = s.switches.shape[0] > 0
    slides = least_slide(s, st.new) < np.inf
    fraction = 2.0
    st.target = -1
    if suspects > 0 or pulls or slides or has_switches or st.dense:
        status = dense_coefficients(s, st, h)
        if status != OK:
            return status, fraction
    if suspects > 0:
        fraction = first_closing(s, st, h)
        if np.isnan(fraction):
            return BAD_WALL, 2.0
    if pulls:
        released = first_release(s, st, h)
        if released < 0.0:
            return int(-released), fraction
        if released < fraction:
            fraction = released
            st.target = -1
    if slides:
        stopped = first_stop(s, st, h, min(fraction, 1.0))
        if stopped < fraction:
            fraction = stopped
            st.target = -1
    if has_switches:
        thrown = first_switch(s, st, h, min(fraction, 1.0))
        if np.isnan(thrown):
            return CONTROLLER, fraction
        if thrown < fraction:
            fraction = thrown
            st.target = -1
    return OK, fraction


@jit
def update_sides(s: System, st: State) -> int:
    """Determine on which sides of its switches the controller is from here on."""
    return call_switches(s, st.time, st.y, s.code.sides) if s.switches.shape[0] > 0 else OK


@jit
def write_first_row(s: System, st: State, r: Record) -> int:
    """Write the first row of a run."""
    if r.rows > 0 or st.accepted > 0 or st.impacts > 0:
        return OK
    write_row(s, r, st, False)
    return update_sides(s, st)


@jit
def call_controller(s: System, st: State, tiny: float) -> int:
    """Call a controller that has a rate, if it is due."""
    if not (st.controller_rate > 0.0 and st.time >= st.next_call - tiny):
        return OK
    load_state(s, st.y)
    s.time[0] = st.time
    if call4(s.code.control, s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.torque.ctypes.data) != 0:
        return CONTROLLER
    st.next_call = np.floor(st.next_call * st.controller_rate + 1.5) / st.controller_rate
    st.fresh = 0
    return OK


@jit
def must_resolve(s: System, st: State) -> bool:
    """Whether a contact strikes, comes to rest or has to be released before the next step."""
    strikes, rests = classify_contacts(st)
    return strikes or (st.settled_at != st.time and (rests or s.friction.stopping > 0 or joint_stops(s, st) or must_release(s, st)))


@jit
def resolve_here(s: System, st: State, r: Record, target: int) -> int:
    """Resolve the contacts at the present time; an impact may throw a switch as well."""
    status = resolve_contacts(s, st, r, target)
    return update_sides(s, st) if status == OK else status


@jit
def implicit_here(s: System, st: State, r: Record) -> int:
    """An implicit step, which may throw a switch."""
    status = implicit_step(s, st, r, st.brief)
    return update_sides(s, st) if status == OK else status


@jit
def any_wall_function(s: System) -> bool:
    """Whether a Python function moves one of the walls."""
    any_function = False
    for i in range(s.surfaces.integers.shape[0]):
        any_function = any_function or s.surfaces.integers[i, MOVES] == FUNCTION
    return any_function


@jit
def bounded_step(s: System, st: State, h: float, by_function: bool) -> float:
    """The length h, or a shorter one for which the two ends of the step suffice to bound the gaps between them."""
    return longest_safe_step(s, st, h) if by_function or 2.0 * h * st.fastest_turn > MAX_TURN else h


@jit
def propose_step(s: System, st: State, tiny: float, by_function: bool) -> float:
    """The length of the next step; 0 where it would vanish."""
    left = st.end - st.time
    h = bounded_step(s, st, min(st.step_length, st.max_step, left), by_function)
    if st.held_count > 0 and s.friction.acts:
        h = up_to_stop(s, h)
    if st.controller_rate > 0.0:
        h = min(h, st.next_call - st.time)
    if h > tiny:
        return h
    return 0.0 if st.step_length <= tiny else min(2.0 * tiny, left)


@jit
def next_own_step(s: System, st: State) -> float:
    """The length of the step that ``advance`` tries next by the robot's own code, in flight; 0 where it does something else."""
    if s.code.step == 0 or st.fresh == 0 or st.together > 0 or st.held_count > 0 or st.controller_rate > 0.0:
        return 0.0
    tiny = NEGLIGIBLE * max(1.0, abs(st.time))
    if st.end - st.time <= tiny or must_resolve(s, st):
        return 0.0
    return propose_step(s, st, tiny, any_wall_function(s))


@jit
def reject(st: State, length: float) -> int:
    """Reject the step; it is tried again with this length."""
    st.step_length = length
    st.rejected += 1
    st.retrying = 1
    return RETRY


@jit
def try_step(s: System, st: State, h: float, by_function: bool) -> tuple[int, float]:
    """A step from y to new. Returns OK, RETRY where it was rejected, or an error status; and its error relative to the tolerance."""
    s.least_force = 0.0
    status = step(s, st, h)
    if status == CONTROLLER:
        return status, np.inf
    error = error_norm(st, h) if status == OK else np.inf
    if error <= 1.0:
        status = update_gaps(s, st, st.time + h, 1)
    if not error <= 1.0 or status != OK:
        if status != OK and h < SHORT:
            return status, error
        reject(st, h * (max(0.2, step_factor(error)) if status == OK and np.isfinite(error) else 0.2))
        return CRAWLING if s.in_stages and is_crawling(st) else RETRY, error
    if st.held_count > 0 and s.friction.acts and h > SHORT and outruns_slowness(s, st):
        return reject(st, 0.5 * h), error
    bound_turning(s, st)
    most = bounded_step(s, st, h, by_function)
    if h > 1.1 * most and h > SHORT:
        st.step_length = most
        st.rejected += 1
        return RETRY, error
    return CRAWLING if s.in_stages and is_crawling(st) else OK, error


@jit
def shorten_to_event(s: System, st: State, h: float, tiny: float) -> tuple[int, float, bool]:
    """Shorten the step to its first event. Returns a status or RETRY, the length, and whether the step ends with an event."""
    status, fraction = first_event(s, st, h)
    length = h
    event = fraction <= 1.0
    if status == OK and event:
        status = land(s, st, h, max(fraction * h, tiny))
        length = st.step_length
        if status == OK and penetrates(st):
            status = NOT_LANDED
        if status == OK and st.dense:
            status = dense_coefficients(s, st, length)
    if status != OK:  # the interpolant was not accurate enough: retry with a shorter step
        shorter = min(fraction, 1.0) * h
        if status != CONTROLLER and shorter >= SHORT:
            status = reject(st, 0.25 * shorter)
    return status, length, event


@jit
def accept(s: System, st: State, r: Record, length: float, tiny: float) -> int:
    """Accept the step: the new state becomes the present one and a row of the record; held contacts are projected back."""
    t = st.time
    st.stalls = st.stalls + 1 if length <= STALL * max(1.0, abs(t)) else 0
    if st.stalls > MAX_STALLS:
        return UNDERFLOW
    st.time = st.end if st.end - t - length <= tiny else t + length
    if st.controller_rate > 0.0 and abs(st.next_call - t - length) <= tiny:
        st.time = st.next_call
    add_step_work(s, st, length)
    copy(st.new, st.y)
    copy(st.K[STAGES], st.K[0])
    for c in range(st.gaps.shape[0]):
        copy(st.new_gaps[c], st.gaps[c])
    st.accepted += 1
    write_row(s, r, st, True)
    if st.held_count == 0:
        return OK
    status = project_rough(s, st, MAX_PROJECTIONS) if s.friction.acts else project(s, st, MAX_PROJECTIONS)
    if status != OK:
        return status
    copy(st.y, r.y[r.rows - 1])
    return refresh(s, st, r)


@jit
def take_step(s: System, st: State, r: Record, tiny: float, by_function: bool) -> int:
    """Take one step up to its first event and handle that event; RETRY where the step was rejected."""
    h = propose_step(s, st, tiny, by_function)
    if h == 0.0:
        return UNDERFLOW
    if s.friction.rough and st.held_count > 0 and makes_no_progress(s, st, h):
        return implicit_here(s, st, r)
    status, error = try_step(s, st, h, by_function)
    if status != OK:
        return status
    grown = h * (min(1.0 if st.retrying else 10.0, step_factor(error)) if error > 0.0 else 10.0)
    st.retrying = 0
    status, length, event = shorten_to_event(s, st, h, tiny)
    if status != OK:
        return status
    st.step_length = h if event else grown
    status = accept(s, st, r, length, tiny)
    if status != OK or not event:
        return status
    status = update_sides(s, st)  # first, because the new sides may release a held contact
    return resolve_here(s, st, r, st.target) if status == OK else status


@block(ADVANCE, System, State, Record, int, part="events")
def advance(s: System, st: State, r: Record, steps: int) -> int:
    """Continue until the end of the run, until the record is full or ``steps`` steps have been tried, or until an error."""
    by_function = any_wall_function(s)
    status = write_first_row(s, st, r)
    if status != OK:
        return status
    for _ in range(steps):
        tiny = NEGLIGIBLE * max(1.0, abs(st.time))
        if st.end - st.time <= tiny:
            return FINISHED
        if not has_room(r, st.gaps.shape[0]):
            return PAUSED
        status = call_controller(s, st, tiny)
        together = st.together > 0
        if status == OK and st.fresh == 0 and not together:
            status = refresh(s, st, r)
        if status == OK and together:
            st.together -= 1
            status = implicit_here(s, st, r)
        elif status == OK:
            status = resolve_here(s, st, r, -1) if must_resolve(s, st) else take_step(s, st, r, tiny, by_function)
        if status == UNDERFLOW and s.friction.acts:
            status = resolve_jam(s, st, r)
        if status not in (OK, RETRY):
            return status
    return PAUSED
