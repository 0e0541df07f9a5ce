"""A formulation over numbers: floats for one state, arrays with one value for each state for a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CHUNK = 4096  # states at a time: keeps the intermediate arrays of a large batch small


def evaluate(function: Callable[..., Any], states: list[Array], shape: tuple[int, ...], at_once: int = CHUNK) -> Array:
    """``function(*states)`` for states of shape (..., width), whose leading axes agree, as an array (..., *shape)."""
    batch = states[0].shape[:-1]
    result = np.empty((*batch, *shape))
    if batch == ():
        result[...] = np.reshape(function(*(state.tolist() for state in states)), shape)
        return result
    rows = int(np.prod(batch))
    flat = [state.reshape(rows, state.shape[-1]) for state in states]
    target = result.reshape(rows, int(np.prod(shape)))
    for start in range(0, rows, at_once):
        chunk = slice(start, start + at_once)
        columns = ([np.ascontiguousarray(column) for column in state[chunk].T] for state in flat)
        for i, entry in enumerate(_entries(function(*columns))):
            target[chunk, i] = entry
    return result


def _entries(values: list[Any]) -> list[Any]:
    return [entry for row in values for entry in row] if values and isinstance(values[0], list) else values
