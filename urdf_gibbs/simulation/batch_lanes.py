"""Runs of one description in LANES places side by side: their steps in flight are computed together (lane_step.py). Compiled.

Everything else, impacts and held contacts, events and landing, each run does for itself, as in batch.py. A step that has been computed
in advance is the one that ``advance`` asks for next, bit by bit, so a run does exactly what it does alone.
"""

from __future__ import annotations

from typing import Any

from urdf_gibbs.engine.jit import call4, entry, jit
from urdf_gibbs.engine.struct import Float1, Int, Int1, Struct, struct
from urdf_gibbs.simulation.batch import Batch, go_on_with_run
from urdf_gibbs.simulation.driver import next_own_step
from urdf_gibbs.simulation.layout import COMPUTED_LENGTH, FINISHED, OK, PAUSED, Record, State, System

Array = Any

FEWEST = 3  # runs whose steps are computed together: two take as long as one after the other


@struct
class Place(Struct):
    """The memory of one place, and its share of the runs."""

    system: System
    state: State
    record: Record
    batch: Batch


@struct
class Lanes(Struct):
    """What the places share."""

    step: Int  # address of the code of lane_step.py
    forward: Int  # and of the forward dynamics for LANES states
    failed: Int  # the place of the run that has failed
    tables: Int1  # (LANES,) addresses of the runs' tables; 0 where a run does something else
    trials: Int1  # (LANES,) and of their trials
    rows: Float1  # working memory


@jit
def offer(p: Place, lanes: Lanes, number: int) -> int:
    """1 where the next thing that this place does is a step in flight, 0 otherwise."""
    st = p.state
    lanes.tables[number] = 0
    st.trial[COMPUTED_LENGTH] = next_own_step(p.system, st) if p.batch.running else 0.0
    if st.trial[COMPUTED_LENGTH] == 0.0:
        return 0
    lanes.tables[number], lanes.trials[number] = st.table.ctypes.data, st.trial.ctypes.data
    return 1


@jit
def compute_together(lanes: Lanes) -> bool:
    """Compute the steps of all places that have offered one; instead of the others, one of these is computed again."""
    some = 0
    for number in range(lanes.tables.shape[0]):
        if lanes.tables[number] != 0:
            some = number
    for number in range(lanes.tables.shape[0]):
        if lanes.tables[number] == 0:
            lanes.tables[number], lanes.trials[number] = lanes.tables[some], lanes.trials[some]
    return call4(lanes.step, lanes.tables.ctypes.data, lanes.trials.ctypes.data, lanes.rows.ctypes.data, lanes.forward) == OK


@jit
def go_on_in_place(p: Place, lanes: Lanes, number: int, computed: bool) -> int:
    """``go_on_with_run``; PAUSED while there are more runs. ``computed``: whether the step that was offered has been computed."""
    b, st = p.batch, p.state
    if not computed:
        st.trial[COMPUTED_LENGTH] = 0.0
    if b.at >= b.duration.shape[0]:
        return FINISHED
    status = go_on_with_run(p.system, st, p.record, b)
    st.trial[COMPUTED_LENGTH] = 0.0
    if status not in (PAUSED, FINISHED):
        lanes.failed = number
        return status
    return PAUSED if b.at < b.duration.shape[0] else FINISHED


@entry(Place, Place, Place, Place, Lanes, int, part="lanes")
def go_on_in_lanes(p0: Place, p1: Place, p2: Place, p3: Place, lanes: Lanes, steps: int) -> int:
    """Go on with the runs of all places: FINISHED after the last, PAUSED after ``steps`` steps of each, else the status of a run that has
    failed, batch.at - 1 of the place ``lanes.failed``; those in the places behind it are then a step behind.
    """
    for _ in range(steps):
        offered = offer(p0, lanes, 0) + offer(p1, lanes, 1) + offer(p2, lanes, 2) + offer(p3, lanes, 3)
        computed = offered >= FEWEST and compute_together(lanes)
        status0 = go_on_in_place(p0, lanes, 0, computed)
        if status0 not in (PAUSED, FINISHED):
            return status0
        status1 = go_on_in_place(p1, lanes, 1, computed)
        if status1 not in (PAUSED, FINISHED):
            return status1
        status2 = go_on_in_place(p2, lanes, 2, computed)
        if status2 not in (PAUSED, FINISHED):
            return status2
        status3 = go_on_in_place(p3, lanes, 3, computed)
        if status3 not in (PAUSED, FINISHED):
            return status3
        if status0 == FINISHED and status1 == FINISHED and status2 == FINISHED and status3 == FINISHED:
            return FINISHED
    return PAUSED
