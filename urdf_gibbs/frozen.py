"""Read-only arrays, which stay so when the object that holds them is copied or unpickled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a copied or unpickled object with its arrays read-only again; NumPy makes copies writable."""
    for value in state.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return state


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same array, read-only from now on."""
    array.flags.writeable = False
    return array
