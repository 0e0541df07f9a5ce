"""How the public functions find code at once: by the question as it comes, before anything about it is checked again.

The questions that everybody asks are compiled when first asked. The others are answered in plain Python first, and compiled when there are
more: nobody waits for the compiler to see one Jacobian. Gravity other than the Earth's is data for one kernel, whatever its value.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import FLOAT64, Array, Vec3, triple
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.kernel import Plain, kernel, kernel_of
from urdf_gibbs.engine.questions import Options, checked_options
from urdf_gibbs.robot.derived import Derivable, Shelf
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

Code = Callable[..., Array]
Found = str | tuple[str, str] | tuple[str, str, Vec3]  # a question; with its frame; with its frame and a point

WEIGHED: Shelf[str, Code] = Shelf()  # gravity is the last input
COMPILED_AT_ONCE = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")
STATES_BEFORE_COMPILING = 100  # answered in plain Python before a compilation is worth its time
ORIGIN = (0.0, 0.0, 0.0)
EARTH = list(EARTH_GRAVITY)
VECTORS = 256  # gravities that are kept as arrays

_vectors: dict[tuple[float, ...], Array | None] = {}  # None: the Earth's, which is baked in


class Entries(Shelf[Found, Code]):
    """Where the public functions look first."""

    def of(self, robot: Derivable) -> dict[Found, Code]:
        return robot._derived.entries


ENTRIES = Entries()  # under the Earth's gravity


def entry(robot: Robot, question: str, frame: str = "", point: Vec3 | None = None) -> Code:
    """The code of a question; of a ``point`` (3,) of the link ``frame``."""
    found: Found = question if not frame else (question, frame) if point is None else (question, frame, point)
    options = Options(frame=frame, point=ORIGIN if point is None else point)
    return ENTRIES.get(robot, found, lambda: _first(robot, question, options, ENTRIES, found))


def weighed(robot: Robot, question: str, gravity: Any, method: str) -> tuple[Code, Array | None]:
    """The code of a question that gravity matters for, and gravity (3,) where that is its last input, else None."""
    if method != COMPILED:
        return kernel(robot, question, gravity=gravity, method=method), None
    kind = type(gravity)
    if kind is ndarray:  # taken as it is: whoever turns gravity in a loop has it so
        values = gravity.tolist()
        if gravity.dtype is FLOAT64 and gravity.shape == (3,) and isfinite(values[0] + values[1] + values[2]):
            vector = None if values == EARTH else gravity
        else:
            vector = _new_vector(gravity)
    else:
        try:
            vector = _vectors[gravity if kind is tuple else tuple(gravity)]
        except (KeyError, TypeError):
            vector = _new_vector(gravity)
    if vector is None:
        return robot._derived.entries.get(question) or entry(robot, question), None
    return robot._derived[WEIGHED].get(question) or _new_weighed(robot, question), vector


def _new_weighed(robot: Robot, question: str) -> Code:
    return WEIGHED.get(robot, question, lambda: _first(robot, question, Options(free_gravity=True), WEIGHED, question))


def _new_vector(gravity: ArrayLike) -> Array | None:
    values = triple(gravity, "gravity")
    if len(_vectors) >= VECTORS:
        _vectors.clear()
    return _vectors.setdefault(values, None if values == EARTH_GRAVITY else np.array(values))


def _first(robot: Robot, question: str, options: Options, shelf: Shelf[Any, Code], found: Found) -> Code:
    if question in COMPILED_AT_ONCE:
        return kernel_of(robot, question, options).entry
    return Adaptive(robot, question, options, lambda code: shelf.of(robot).__setitem__(found, code))


class Adaptive:
    """A question that is compiled once it has been asked for STATES_BEFORE_COMPILING states; ``settle`` is called with the code then."""

    def __init__(self, robot: Robot, question: str, options: Options, settle: Callable[[Code], None]) -> None:
        self._plain = Plain(robot, question, checked_options(robot, question, options))
        self._settle, self._asked = settle, 0

    def __call__(self, *arguments: Any) -> Array:
        plain = self._plain
        self._asked += max(1, getattr(arguments[0], "size", 1) // max(1, plain.widths[0]))  # a list is seldom long
        if self._asked <= STATES_BEFORE_COMPILING:
            return plain.general(*arguments)
        code = kernel_of(plain.robot, plain.name, plain.options).entry
        self._settle(code)
        return code(*arguments)
