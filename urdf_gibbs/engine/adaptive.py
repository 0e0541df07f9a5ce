"""How the public functions find code at once: by the question as it comes, before anything about it is checked again.

The questions that everybody asks are compiled when first asked. The others are answered in plain Python first, and compiled when there are
more: nobody waits for the compiler to see one Jacobian. Gravity other than the Earth's is data for one kernel, whatever its value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, Vec3, triple
from urdf_gibbs.dynamics.gravity import EARTH_GRAVITY
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.kernel import Plain, kernel, kernel_of
from urdf_gibbs.engine.questions import Options, checked_options
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot

Code = Callable[..., Array]
Found = str | tuple[str, str] | tuple[str, str, Vec3]  # a question; with its frame; with its frame and a point

ENTRIES: Shelf[Found, Code] = Shelf()  # under the Earth's gravity
WEIGHED: Shelf[str, Code] = Shelf()  # gravity is the last input
COMPILED_AT_ONCE = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")
STATES_BEFORE_COMPILING = 100  # answered in plain Python before a compilation is worth its time
ORIGIN = (0.0, 0.0, 0.0)
EARTH = list(EARTH_GRAVITY)


def entry(robot: Robot, question: str, frame: str = "", point: Vec3 | None = None) -> Code:
    """The code of a question; of a ``point`` (3,) of the link ``frame``."""
    found: Found = question if not frame else (question, frame) if point is None else (question, frame, point)
    options = Options(frame=frame, point=ORIGIN if point is None else point)
    return ENTRIES.get(robot, found, lambda: _first(robot, question, options, ENTRIES, found))


def weighed(robot: Robot, question: str, gravity: ArrayLike, method: str) -> tuple[Code, tuple[ArrayLike, ...]]:
    """The code of a question that gravity matters for, and what it takes after its other inputs: nothing, or gravity (3,)."""
    if method != COMPILED:
        return kernel(robot, question, gravity=gravity, method=method), ()
    last: tuple[ArrayLike, ...]
    if type(gravity) is np.ndarray and gravity.shape == (3,):  # as it is: whoever turns gravity in a loop has it so
        last = () if gravity.tolist() == EARTH else (gravity,)
    else:
        last = _weight(triple(gravity, "gravity"))
    if not last:
        return ENTRIES.of(robot).get(question) or entry(robot, question), ()
    code = WEIGHED.of(robot).get(question)
    if code is None:
        code = WEIGHED.get(robot, question, lambda: _first(robot, question, Options(free_gravity=True), WEIGHED, question))
    return code, last


@lru_cache(maxsize=256)
def _weight(gravity: Vec3) -> tuple[Array, ...]:
    return () if gravity == EARTH_GRAVITY else (np.array(gravity),)


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
        self._asked += max(1, np.size(arguments[0]) // max(1, plain.widths[0]))
        if self._asked <= STATES_BEFORE_COMPILING:
            return plain.general(*arguments)
        code = kernel_of(plain.robot, plain.name, plain.options).entry
        self._settle(code)
        return code(*arguments)
