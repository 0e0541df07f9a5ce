"""Interleaved timing: contenders take turns, so that load on the machine affects all of them alike and ratios are meaningful."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import median
from timeit import Timer

CHUNK = 2e-3  # seconds of calls timed together: far above the resolution of the clock and the cost of an interrupt


def interleaved(contenders: Mapping[str, Timer | Callable[[], object]], rounds: int = 7, *, chunks: bool = True) -> dict[str, float]:
    """Median seconds of a call of each contender.

    Calls are timed in chunks as long as the slowest contender's: on a busy machine a long chunk is more likely to be interrupted than a
    short one. ``chunks=False``: one call in each round.
    """
    timers = {name: contender if isinstance(contender, Timer) else Timer(contender) for name, contender in contenders.items()}
    calls = dict.fromkeys(timers, 1)
    if chunks:
        chunk = max(CHUNK, *(timer.timeit(1) for timer in timers.values()))
        calls = {name: _calls(timer, chunk) for name, timer in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(rounds):
        for name, timer in timers.items():
            seconds[name].append(timer.timeit(calls[name]) / calls[name])
    return {name: median(times) for name, times in seconds.items()}


def _calls(timer: Timer, chunk: float) -> int:
    """How many calls fill a chunk."""
    calls = 1
    while (spent := timer.timeit(calls)) < 0.5 * chunk:
        calls *= 2
    return math.ceil(calls * chunk / spent)
