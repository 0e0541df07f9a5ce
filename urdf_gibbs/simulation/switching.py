"""Switches of the controller and stops of joints that slide: where in a step one comes. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.engine.jit import call4, jit
from urdf_gibbs.simulation.dry_joints import least_slide
from urdf_gibbs.simulation.flight import dense_state
from urdf_gibbs.simulation.landing import EPSILON, SAMPLES
from urdf_gibbs.simulation.layout import CONTROLLER, OK, State, System
from urdf_gibbs.simulation.rows import load_state

Array = Any

WATCHED_STEPS = 300  # steps tried, with a controller that is called in each stage
CRAWL = 5e-8  # s: if they are shorter than this on average, the controller is not continuous
SLACK = 1e-12  # a value of a switch below -SLACK is negative beyond rounding


@jit
def call_switches(s: System, t: float, y: Array, function: int) -> int:
    """Call a switch function of the controller by its address at a state; s.switches gets the result."""
    load_state(s, y)
    s.time[0] = t
    if call4(function, s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.switches.ctypes.data) != 0:
        return CONTROLLER
    return OK


@jit
def least_switch(s: System, st: State, h: float, fraction: float) -> float:
    """The least value of a switch at a fraction of the step; NaN where its function fails."""
    dense_state(s, st, fraction)
    if call_switches(s, st.time + fraction * h, st.work, s.code.switches) != OK:
        return np.nan
    least = np.inf
    for k in range(s.switches.shape[0]):
        least = min(least, s.switches[k])
    return least


@jit
def first_switch(s: System, st: State, h: float, until: float) -> float:
    """The fraction of the step, up to ``until``, at which a switch first has to be thrown; 2 where none has to, NaN where one fails."""
    low, high, least = 0.0, 2.0, 0.0
    for i in range(SAMPLES + 1):
        middle = until * i / SAMPLES
        value = least_switch(s, st, h, middle)
        if np.isnan(value):
            return value
        if value < -SLACK and i > 0:
            high = middle
            break
        low = middle
        least = 0.0 if value > 0.0 else -SLACK  # rounding may put the start of a step just below the switch that it leaves
    if high > 1.0:
        return 2.0
    while (high - low) * h > 0.5 * EPSILON * max(st.time, h):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        value = least_switch(s, st, h, middle)
        if np.isnan(value):
            return value
        if value < least:
            high = middle
        else:
            low = middle
    return high


@jit
def first_stop(s: System, st: State, h: float, until: float) -> float:
    """The fraction of the step, up to ``until``, at which a joint with dry friction stops sliding; 2 where none does."""
    low, high = 0.0, 2.0
    for i in range(1, SAMPLES + 1):
        dense_state(s, st, until * i / SAMPLES)
        if least_slide(s, st.work) < 0.0:
            high = until * i / SAMPLES
            break
        low = until * i / SAMPLES
    if high > 1.0:
        return 2.0
    while (high - low) * h > 0.5 * EPSILON * max(st.time, h):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        dense_state(s, st, middle)
        if least_slide(s, st.work) < 0.0:
            high = middle
        else:
            low = middle
    return high


@jit
def is_crawling(st: State) -> bool:
    """Count a step tried with a controller that is called in stages; returns whether the run has stopped making progress."""
    st.watched_steps += 1
    if st.watched_steps < WATCHED_STEPS:
        return False
    slow = st.time - st.watched_since < WATCHED_STEPS * CRAWL
    st.watched_since, st.watched_steps = st.time, 0
    return slow
