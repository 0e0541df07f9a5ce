"""Switches of the controller: where in a step one is thrown. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.engine.jit import call4, jit
from urdf_gibbs.simulation.flight import dense_state
from urdf_gibbs.simulation.landing import EPSILON, LOOKS
from urdf_gibbs.simulation.layout import CONTROLLER, OK, State, System
from urdf_gibbs.simulation.rows import take_state

Array = Any

WATCHED_STEPS = 300  # steps tried with a controller that is called in stages
CRAWL = 5e-8  # s: where they are shorter than this on the average the controller is not continuous
SLACK = 1e-12  # how far below zero the value of a switch is not rounding


@jit
def ask(s: System, t: float, y: Array, function: int) -> int:
    """A function of the controller, by its address, at a state; the answer goes to s.switches."""
    take_state(s, y)
    s.time[0] = t
    if call4(function, s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.switches.ctypes.data) != 0:
        return CONTROLLER
    return OK


@jit
def thrown(s: System, st: State, h: float, where: float) -> float:
    """The least value of a switch at a fraction of the step; NaN where its function fails."""
    dense_state(s, st, where)
    if ask(s, st.time + where * h, st.work, s.code.switches) != OK:
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
    while (high - low) * h > 0.5 * EPSILON * max(st.time, h):
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
    st.watched_steps += 1
    if st.watched_steps < WATCHED_STEPS:
        return False
    slow = st.time - st.watched_since < WATCHED_STEPS * CRAWL
    st.watched_since, st.watched_steps = st.time, 0
    return slow
