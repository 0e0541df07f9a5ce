"""Runs of one description after another, without Python in between: their inputs, one row each, and what comes out of them. Compiled.

Nothing is kept of a motion but some numbers. A run does exactly what the same run of a Simulator does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.engine.jit import entry, jit
from urdf_gibbs.engine.struct import Float1, Float2, Int, Int1, Int2, Struct, struct
from urdf_gibbs.simulation.driver import advance
from urdf_gibbs.simulation.friction_layout import FREE, STATIC
from urdf_gibbs.simulation.layout import FINISHED, GAP, GRADIENT, HUB, IMPULSE, OK, PAUSED, STRUCK, TIME, Record, State, System
from urdf_gibbs.simulation.report import kinetic_energy, potential_energy
from urdf_gibbs.simulation.rows import load_state, mass_matrix, update_columns, update_gaps
from urdf_gibbs.simulation.stepping import advance_steps

Array = Any

TOO_DEEP = 100  # a status besides those of layout.py: the run would start inside a wall
ALLOWED_DEPTH = 1e-9  # m: penetration at the start that counts as rounding
AT_REST = 1e-9  # m/s, rad/s: a robot whose velocities are all below is at rest
# Columns of Batch.measured.
REACHED, LAST_IMPACT, LARGEST_IMPULSE, DEEPEST, HELD_FROM, REST, FRICTION_WORK, ENERGY_AT_REST = range(8)
KINETIC, POTENTIAL, MEASURED = 8, 10, 12  # each twice: at the start and at the end
# Columns of Batch.counted.
STATUS, IMPACTS, STEPS, REJECTED, EVALUATIONS, BOUNCES, COUNTED = range(7)


@struct
class Batch(Struct):
    """n runs. An input with no rows has the value that it has in System for all of them."""

    at: Int  # the run that goes on, or is next
    running: Int  # 1: it has begun
    in_time: Int  # 1: time stepping
    # inputs
    start: Float2  # (n, nq + nv) q and v
    duration: Float1  # (n,) [s]
    restitution: Float2  # (n, contacts)
    friction: Float2  # (n, 2 contacts)
    torque: Float2  # (n, nv)
    constants: Float2  # (n, 3) or (n, 3 + 10 nb) System.constants
    masses: Float2  # (n, 4 nb) mass and centre of mass of each body
    walls: Float2  # (n, WIDTH surfaces) Surfaces.values
    # the fields of System, State and Record that are numbers: where they are, and what they are at the beginning of a run
    system: Int1
    state: Int1
    record: Int1
    system_before: Int1
    state_before: Int1
    record_before: Int1
    since: Float1  # (contacts,) from when on each is held as it is [s], NaN: it is not
    # results
    counted: Int2  # (n, COUNTED)
    measured: Float2  # (n, MEASURED)
    end: Float2  # (n, nq + nv) q and v
    first_times: Float2  # (n, K) of the first impacts [s]
    first_impulses: Float2  # (n, K) the largest of each [N s, N m s]
    first_contacts: Int2  # (n, K) which contact had it


@jit
def copy_matrix(row: Array, to: Array) -> None:
    """The entries of a matrix from one row."""
    columns = to.shape[1]
    for i in range(to.shape[0]):
        for j in range(columns):
            to[i, j] = row[i * columns + j]


@jit
def restore(before: Array, to: Array) -> None:
    for i in range(before.shape[0]):
        to[i] = before[i]


@jit
def set_inputs(s: System, b: Batch) -> None:
    """What the run has of its own, besides its start."""
    i = b.at
    if b.restitution.shape[0] > 0:
        copy(b.restitution[i], s.contacts.restitution)
    if b.friction.shape[0] > 0:
        copy_matrix(b.friction[i], s.contacts.friction)
        rough = 0
        for c in range(s.contacts.friction.shape[0]):
            if s.contacts.friction[c, STATIC] > 0.0:
                rough = 1
        s.friction.rough = rough
        s.friction.acts = 1 if rough or s.friction.joints < s.contacts.kind.shape[0] else 0
    if b.torque.shape[0] > 0:
        copy(b.torque[i], s.torque)
    copy(s.torque, s.tau)
    if b.constants.shape[0] > 0:
        copy(b.constants[i], s.constants)
    if b.masses.shape[0] > 0:
        masses = b.masses[i]
        for body in range(s.mass.shape[0]):
            s.mass[body] = masses[4 * body]
            for k in range(3):
                s.com[body, k] = masses[4 * body + 1 + k]
    if b.walls.shape[0] > 0:
        copy_matrix(b.walls[i], s.surfaces.values)


@jit
def clear(s: System, st: State, r: Record, b: Batch) -> None:
    """Forget the run before."""
    restore(b.system_before, b.system)
    restore(b.state_before, b.state)
    restore(b.record_before, b.record)
    for m in range(st.K.shape[1]):
        st.K[0, m] = 0.0
    for i in range(st.turning.shape[0]):
        for m in range(HUB + 1):
            st.turning[i, m] = 0.0
    f = s.friction
    for c in range(st.held.shape[0]):
        st.held[c], st.force[c], st.last_struck[c] = 0, 0.0, -np.inf
        r.mode[c] = FREE
        b.since[c] = np.nan
    for c in range(f.mode.shape[0]):
        f.mode[c] = FREE
        for m in range(3):
            f.force[c, m], f.soft[c, m], f.dual[c, m] = 0.0, 0.0, 0.0


@jit
def deepest(st: State) -> float:
    """The depth of the contact that is deepest in its wall [m]; 0 where none is."""
    depth = 0.0
    for c in range(st.gaps.shape[0]):
        gap, gradient = st.gaps[c, GAP], st.gaps[c, GRADIENT]
        if gap < -depth * gradient:
            depth = -gap / gradient
    return depth


@jit
def note_energies(s: System, y: Array, measured: Array, end: int) -> None:
    """Kinetic and potential energy of the state y, at the start (0) or at the end (1)."""
    load_state(s, y)
    mass_matrix(s)
    update_columns(s)
    measured[KINETIC + end], measured[POTENTIAL + end] = kinetic_energy(s), potential_energy(s)


@jit
def begin(s: System, st: State, r: Record, b: Batch) -> int:
    """The beginning of the run b.at: OK, TOO_DEEP, or what is wrong with a wall."""
    i = b.at
    clear(s, st, r, b)
    set_inputs(s, b)
    copy(b.start[i], st.y)
    st.end = b.duration[i]
    measured = b.measured[i]
    for m in range(MEASURED):
        measured[m] = 0.0
    measured[LAST_IMPACT], measured[HELD_FROM], measured[REST] = np.nan, np.nan, np.nan
    for k in range(b.first_times.shape[1]):
        b.first_times[i, k], b.first_impulses[i, k], b.first_contacts[i, k] = np.nan, np.nan, -1
    note_energies(s, st.y, measured, 0)
    if st.gaps.shape[0] > 0:
        status = update_gaps(s, st, 0.0, 0)
        if status != OK:
            return status
        if deepest(st) > ALLOWED_DEPTH:
            measured[DEEPEST] = deepest(st)
            return TOO_DEEP
    return OK


@jit
def note_impacts(r: Record, b: Batch, count: int) -> None:
    """Impacts in the record, before which there have been ``count``."""
    i, first = b.at, 0
    measured = b.measured[i]
    for j in range(r.impacts):
        largest, contact = 0.0, -1
        for c in range(first, first + r.impact_counts[j, STRUCK]):
            if r.contact_numbers[c, IMPULSE] > largest:
                largest, contact = r.contact_numbers[c, IMPULSE], r.contact[c]
        first += r.impact_counts[j, STRUCK]
        measured[LAST_IMPACT] = r.impact_numbers[j, TIME]
        measured[LARGEST_IMPULSE] = max(measured[LARGEST_IMPULSE], largest)
        k = count + j
        if k < b.first_times.shape[1]:
            b.first_times[i, k], b.first_impulses[i, k], b.first_contacts[i, k] = measured[LAST_IMPACT], largest, contact


@jit
def note(st: State, r: Record, b: Batch, count: int) -> None:
    """Take from the record what is kept of it, and empty it. ``count``: impacts before those in the record."""
    measured = b.measured[b.at]
    note_impacts(r, b, count)
    for j in range(r.phase_changes):
        ends = r.change_accumulation[j]
        since = r.change_time[j] if np.isnan(ends) else ends
        b.since[r.change_contact[j]] = np.nan if r.change_mode[j] == FREE else since
    if r.rows > 0:
        copy(r.y[r.rows - 1], b.end[b.at])
    r.rows, r.impacts, r.impact_contacts, r.phase_changes = 0, 0, 0, 0
    measured[DEEPEST] = max(measured[DEEPEST], st.deepest if b.in_time else deepest(st))


@jit
def finish(s: System, st: State, b: Batch, status: int) -> None:
    """The results of the run b.at, which ends here."""
    i, nq = b.at, s.q.shape[0]
    counted, measured = b.counted[i], b.measured[i]
    counted[STATUS], counted[IMPACTS], counted[STEPS] = status, st.impacts, st.accepted
    counted[REJECTED], counted[EVALUATIONS], counted[BOUNCES] = st.rejected, s.evaluations, st.bounces
    measured[REACHED], measured[FRICTION_WORK], measured[ENERGY_AT_REST] = st.time, st.friction_work, st.energy_at_rest
    if status != FINISHED:
        copy(st.y, b.end[i])
    note_energies(s, b.end[i], measured, 1)
    for c in range(b.since.shape[0]):
        if not np.isnan(b.since[c]):
            measured[HELD_FROM] = b.since[c] if np.isnan(measured[HELD_FROM]) else max(measured[HELD_FROM], b.since[c])
    moves = False
    for m in range(nq, b.end.shape[1]):
        moves = moves or not abs(b.end[i, m]) <= AT_REST
    if not moves:
        measured[REST] = measured[HELD_FROM]


@jit
def advance_one(s: System, st: State, r: Record, b: Batch) -> int:
    """One more step, or an attempt at one."""
    return advance_steps(s, st, r, 1) if b.in_time else advance(s, st, r, 1)


@jit
def go_on_with_run(s: System, st: State, r: Record, b: Batch) -> int:
    """Begin the run b.at, or one more step of it: PAUSED where it goes on, else its end, FINISHED or a status; b.at is then the next."""
    status = PAUSED
    if not b.running:
        found = begin(s, st, r, b)
        status = PAUSED if found == OK else found
        b.running = 1
    else:
        impacts = st.impacts
        status = advance_one(s, st, r, b)
        note(st, r, b, impacts)
    if status != PAUSED:
        finish(s, st, b, status)
        b.at += 1
        b.running = 0
    return status


@entry(System, State, Record, Batch, int, part="runs")
def go_on(s: System, st: State, r: Record, b: Batch, steps: int) -> int:
    """Go on with the runs: FINISHED after the last, PAUSED after ``steps`` steps, else the status of run b.at - 1, which has failed."""
    left = steps
    while b.at < b.duration.shape[0]:
        if left <= 0:
            return PAUSED
        left -= 1
        status = go_on_with_run(s, st, r, b)
        if status not in (PAUSED, FINISHED):
            return status
    return FINISHED
