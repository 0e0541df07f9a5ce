"""Time stepping, the second scheme: one contact problem for each step of fixed length, and no events. Compiled.

Moreau and Jean's scheme on the manifold. With h the step, and q + h v the motion with a constant velocity:

    q_m = q + ½h v,    (M + ½h D) (v⁺ - v) = h (tau - bias - D v) + Rᵀ p,    q⁺ = q_m + ½h v⁺

M, the bias and the rows R of the contacts are those of q_m, and the bias is that of a velocity half a step ahead: without contacts the
scheme is of second order. A floating or planar joint goes straight ahead while it turns: its linear velocity is kept in the axes of the
body above, and so its equation of motion has ω × v besides.

The impulses p of a step obey Coulomb's law with the velocities u = R v before, u⁺ after, all contacts together (contact/coulomb):

- a contact that closes may come as near as its wall: u_n⁺ >= -max(gap, 0) / τ, so that its gap at the next q_m is zero or more;
- one that bounces: u_n⁺ >= -e u_n, with Moreau's law -e u in its tangents as well. A bounce shorter than a step is none.

τ = ½ (h + the longest next step). A step in which something turns by more than TURN is halved until it does not; the next one is at most
twice as long.

Energy: ½ pᵀ(u + u⁺) is what a contact gives. With e = 0 that is not positive, unless forces turn its velocity around within the step:
then a term of the order h² is left. See stepping_energy.py for what else could be given, and is not.

Gaps are not linear: at the next q_m a contact may have sunk in by ½τ² times the acceleration at which its gap closes. Before the next
problem that is brought back, see stepping_depths.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.scaled import JOINT
from urdf_gibbs.engine.jit import block, call4, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.driver import NEGLIGIBLE, call_controller
from urdf_gibbs.simulation.friction import clear_friction
from urdf_gibbs.simulation.friction_layout import FREE, SLIDES, SMOOTH, STICKS
from urdf_gibbs.simulation.friction_work import add_impulse_work
from urdf_gibbs.simulation.layout import ADVANCE_STEPS, CONTROLLER, FINISHED, OK, PAUSED, Record, State, System
from urdf_gibbs.simulation.record import has_room, write_row
from urdf_gibbs.simulation.rows import load_state
from urdf_gibbs.simulation.stepping_contacts import STILL, keep_impulses, row_velocities, solve_contacts
from urdf_gibbs.simulation.stepping_energy import SLOW, settle
from urdf_gibbs.simulation.stepping_motion import free_velocity, move

Array = Any

REMAINDER = 1e-9  # of a step: a last step shorter than this is part of the one before
TURN = 0.1  # rad: steps in which something turns farther are divided
MOST_HALVINGS = 10
AGAIN = -1000000  # no status


# the record -------------------------------------------------------------------------------------------


@jit
def how_touched(s: System, st: State, i: int) -> int:
    """The mode of contact i of those selected in this step; what bounces is free."""
    e, first, after = s.stepping.rows, s.stepping.rows.at[i], s.stepping.after
    if e.kind[i] == JOINT:
        return SLIDES if abs(after[first]) > STILL else STICKS
    if not e.y[first] > 0.0 or st.suspects[s.selected[i]]:
        return FREE
    if e.at[i + 1] - first == 1:
        return SMOOTH
    x, y = after[first + 1], after[first + 2]
    return SLIDES if x * x + y * y > STILL * STILL else STICKS


@jit
def keep_forces(s: System, st: State, r: Record, h: float, k: int) -> None:
    """Forces of the step, impulses divided by its length, and changes of mode, which count from its start; see how_touched."""
    g, drag, mode = s.stepping, s.friction.force, st.mode
    for c in range(st.force.shape[0]):
        st.force[c], mode[c] = g.push[c] / h, FREE
        for m in range(3):
            drag[c, m] = g.drag[c, m] / h
    for i in range(k):
        c = s.selected[i]
        mode[c] = how_touched(s, st, i)
        st.bounces += 1 if st.suspects[c] and g.push[c] > 0.0 else 0
    for c in range(st.force.shape[0]):
        if mode[c] != r.mode[c]:
            i = r.phase_changes
            r.mode[c], r.change_contact[i], r.change_mode[i] = mode[c], c, mode[c]
            r.change_time[i], r.change_accumulation[i] = st.time, np.nan
            r.phase_changes = i + 1


@jit
def start_stepping(s: System, st: State, r: Record) -> None:
    """The first row of a run."""
    clear_friction(s)
    keep_impulses(s, 0)
    s.stepping.longest = st.step_length
    rates = st.K[STAGES]
    for m in range(rates.shape[0]):
        rates[m] = 0.0
    write_row(s, r, st, False)


# the run ----------------------------------------------------------------------------------------------


@jit
def ask_controller(s: System, st: State, tiny: float) -> int:
    """The torques of the next step, in s.torque: of a controller with a rate if it is due, of one without in each step."""
    if not s.in_stages:
        return call_controller(s, st, tiny)
    load_state(s, st.y)
    s.time[0] = st.time
    done = call4(s.code.control, s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.torque.ctypes.data) == 0
    return OK if done else CONTROLLER


@jit
def spin(s: System, v: Array) -> float:
    """How fast a joint or a free body turns with the velocity v (nv,) [rad/s]."""
    spins, fastest = s.stepping.spins, 0.0
    for m in range(v.shape[0]):
        fastest = max(fastest, spins[m] * abs(v[m]))
    return fastest


@jit
def try_step(s: System, st: State, r: Record, h: float, most: float, v: Array) -> int:
    """st.work: q_m and the velocity before, with h the length of the step; v (nv,): the velocity after it.

    Gives how many contacts take part, minus a status, or AGAIN where something turns by more than ``most`` [rad].
    """
    nq, free, start = s.q.shape[0], s.stepping.without, st.work[s.q.shape[0] :]
    copy(st.y, st.work)
    move(s.tree, st.work[:nq], start, 0.5 * h)
    load_state(s, st.work)
    s.soil.t[0] = st.time + 0.5 * h
    status = free_velocity(s, h, start, free)
    if status != OK:
        return -status
    before, horizon = spin(s, start), s.stepping.horizon
    if horizon * max(before, spin(s, free)) > most:
        return AGAIN
    k = solve_contacts(s, st, r, st.time + 0.5 * h, h, free, v)
    if k <= 0:
        return k
    after = spin(s, v)
    if horizon * after > most:
        return AGAIN
    if s.stepping.still and h * max(before, after) > SLOW:
        load_state(s, st.work)
        settle(s, h, k, start, v)
        for m in range(v.shape[0]):
            s.stepping.change[m] = v[m] - start[m]
        row_velocities(s, k, s.stepping.change, s.stepping.after)
    return k


@jit
def one_step(s: System, st: State, r: Record, until: float) -> int:
    """From st.time to ``until``, or to a time before where something would turn too far."""
    g, nq, h = s.stepping, s.q.shape[0], until - st.time
    v, k, whole = g.next, AGAIN, True
    if h > g.longest * (1.0 + REMAINDER):
        h, whole = g.longest, False
    for halvings in range(MOST_HALVINGS + 1):
        g.horizon = 0.5 * (h + min(2.0 * h, st.step_length))
        k = try_step(s, st, r, h, TURN if halvings < MOST_HALVINGS else np.inf, v)
        if k != AGAIN:
            break
        h, whole = 0.5 * h, False
    if k < 0:
        return -k
    keep_forces(s, st, r, h, k)
    add_impulse_work(s, st, k)
    st.deepest, st.worst_certificate = max(st.deepest, g.depth), max(st.worst_certificate, g.certificate)
    copy(st.work, st.y)
    copy(v, st.y[nq:])
    move(s.tree, st.y[:nq], st.y[nq:], 0.5 * h)
    st.time = until if whole else st.time + h
    g.longest = min(2.0 * h, st.step_length)
    st.accepted += 1
    write_row(s, r, st, False)
    return OK


@block(ADVANCE_STEPS, System, State, Record, int, part="stepping")
def advance_steps(s: System, st: State, r: Record, steps: int) -> int:
    """Continue until the end of the run, until the record is full or ``steps`` steps have been taken, or until an error."""
    if r.rows == 0 and st.accepted == 0:
        start_stepping(s, st, r)
    length = st.step_length
    for _ in range(steps):
        tiny = NEGLIGIBLE * max(1.0, abs(st.time))
        if st.end - st.time <= tiny:
            return FINISHED
        if not has_room(r, st.gaps.shape[0]):
            return PAUSED
        until = (np.floor(st.time / length + REMAINDER) + 1.0) * length
        status = ask_controller(s, st, REMAINDER * length)
        if status == OK:
            status = one_step(s, st, r, st.end if st.end - until <= REMAINDER * length else until)
        if status != OK:
            return status
    return PAUSED
