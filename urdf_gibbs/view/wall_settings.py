"""Walls out of the settings of a trajectory, and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls import Wall, labels, wall_from

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


def restored(settings: Mapping[str, Any]) -> tuple[list[Wall | None], list[str]]:
    """The walls of a trajectory's settings, and notes about what could not be restored.

    None stands for a wall that is a Python function or that is not understood. A wall of a known shape that a function moves is
    restored at rest. ``names`` gives the names in the same order.
    """
    descriptions = settings.get("walls") or []
    if not isinstance(descriptions, Sequence) or isinstance(descriptions, str):
        return [], ["the walls of the trajectory are not a list: they are not drawn"]
    walls: list[Wall | None] = []
    notes: list[str] = []
    for name, entry in zip(names(settings), descriptions, strict=True):
        wall = None
        if not isinstance(entry, Mapping):
            notes.append(f'wall "{name}" is not described in a way that is known: it is not drawn')
        elif entry.get("kind") == "implicit":
            notes.append(f'wall "{name}" is a Python function that a trajectory does not hold: pass walls= to draw it')
        else:
            function = _is_function(entry.get("motion"))
            try:
                wall = wall_from({**entry, "motion": None} if function else entry)
            except (ArgumentError, TypeError, ValueError) as problem:
                notes.append(f'wall "{name}" is not drawn: {problem}')
            else:
                if function:
                    notes.append(f'wall "{name}" moves by a Python function that a trajectory does not hold: pass walls= to see it move')
        walls.append(wall)
    return walls, notes


def names(settings: Mapping[str, Any]) -> list[str]:
    """The names of the walls of a trajectory's settings, as impacts and contacts have them."""
    entries = settings.get("walls") or []
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        return []
    known = [entry if isinstance(entry, Mapping) else {} for entry in entries]
    return labels([(str(entry.get("name") or ""), str(entry.get("kind") or "wall")) for entry in known])


def wall_names(walls: Iterable[Wall]) -> list[str]:
    """The names of walls, as impacts and contacts of a simulation with them have them."""
    return labels([(wall.name, type(wall).__name__.lower()) for wall in walls])


def _is_function(motion: Any) -> bool:
    """Whether a described motion was a function: its name in <>, or an object of a kind that is not ours."""
    if isinstance(motion, Mapping):
        return motion.get("kind") not in ("vibration", "drift")
    return isinstance(motion, str) and motion.startswith("<") and motion.endswith(">")
