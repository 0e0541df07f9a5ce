"""Fast lookup of the code behind the public functions.

The most common quantities are compiled on their first call. The others are computed in plain Python at first and compiled only after many
calls: a single Jacobian should not have to wait for the compiler. Gravity other than the Earth's is an input of one kernel, whatever its
value.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import FLOAT64, Array, Vec3, triple
from urdf_gibbs.dynamics.references import ALIGNED
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.derivative_quantities import DERIVATIVES
from urdf_gibbs.engine.kernel import Plain, kernel, kernel_of
from urdf_gibbs.engine.product_quantities import PRODUCTS
from urdf_gibbs.engine.quantities import Options, checked_options
from urdf_gibbs.robot.derived import Derivable, Shelf
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

Code = Callable[..., Array]
EntryKey = str | tuple[str, str] | tuple[str, str, Vec3] | tuple[str, str, Vec3 | None, str]  # quantity, frame, point, reference

WITH_GRAVITY: Shelf[str, Code] = Shelf()  # kernels with gravity as their last input
COMPILED_AT_ONCE = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics", *PRODUCTS, *DERIVATIVES)
STATES_BEFORE_COMPILING = 100  # computed in plain Python before compilation pays
ORIGIN = (0.0, 0.0, 0.0)
EARTH = list(EARTH_GRAVITY)
MAX_VECTORS = 256  # gravity vectors that are kept as arrays

_vectors: dict[tuple[float, ...], Array | None] = {}  # None: the Earth's, which is a constant of its kernel


class Entries(Shelf[EntryKey, Code]):
    """The shelf that the public functions look into first."""

    def of(self, robot: Derivable) -> dict[EntryKey, Code]:
        return robot._derived.entries


ENTRIES = Entries()  # under the Earth's gravity


def entry(robot: Robot, quantity: str, frame: str = "", point: Vec3 | None = None, reference: str = ALIGNED) -> Code:
    """The code for a quantity, where it applies of a ``point`` (3,) of the link ``frame``, and in a reference."""
    key: EntryKey = quantity if not frame else (quantity, frame) if point is None else (quantity, frame, point)
    if reference != ALIGNED:
        key = (quantity, frame, point, reference)
    options = Options(frame=frame, point=ORIGIN if point is None else point, reference=reference)
    return ENTRIES.get(robot, key, lambda: _first_entry(robot, quantity, options, ENTRIES, key))


def with_gravity(robot: Robot, quantity: str, gravity: Any, method: str) -> tuple[Code, Array | None]:
    """The code for a quantity that depends on gravity, and gravity (3,) if that is its last input, else None."""
    if method != COMPILED:
        return kernel(robot, quantity, gravity=gravity, method=method), None
    kind = type(gravity)
    if kind is ndarray:  # used without a copy: the fast path for gravity that changes in a loop
        values = gravity.tolist()
        if gravity.dtype is FLOAT64 and gravity.shape == (3,) and isfinite(values[0] + values[1] + values[2]):
            vector = None if values == EARTH else gravity
        else:
            vector = _gravity_vector(gravity)
    else:
        try:
            vector = _vectors[gravity if kind is tuple else tuple(gravity)]
        except (KeyError, TypeError):
            vector = _gravity_vector(gravity)
    if vector is None:
        return robot._derived.entries.get(quantity) or entry(robot, quantity), None
    return robot._derived[WITH_GRAVITY].get(quantity) or _new_with_gravity(robot, quantity), vector


def _new_with_gravity(robot: Robot, quantity: str) -> Code:
    return WITH_GRAVITY.get(robot, quantity, lambda: _first_entry(robot, quantity, Options(free_gravity=True), WITH_GRAVITY, quantity))


def _gravity_vector(gravity: ArrayLike) -> Array | None:
    values = triple(gravity, "gravity")
    if len(_vectors) >= MAX_VECTORS:
        _vectors.clear()
    return _vectors.setdefault(values, None if values == EARTH_GRAVITY else np.array(values))


def _first_entry(robot: Robot, quantity: str, options: Options, shelf: Shelf[Any, Code], key: EntryKey) -> Code:
    if quantity in COMPILED_AT_ONCE:
        return kernel_of(robot, quantity, options).entry
    return Adaptive(robot, quantity, options, lambda code: shelf.of(robot).__setitem__(key, code))


class Adaptive:
    """A quantity that is compiled after STATES_BEFORE_COMPILING states; ``on_compiled`` is then called with the code."""

    def __init__(self, robot: Robot, quantity: str, options: Options, on_compiled: Callable[[Code], None]) -> None:
        self._plain = Plain(robot, quantity, checked_options(robot, quantity, options))
        self._on_compiled, self._states = on_compiled, 0

    def __call__(self, *arguments: Any) -> Array:
        plain = self._plain
        self._states += max(1, getattr(arguments[0], "size", 1) // max(1, plain.widths[0]))  # a list is seldom long
        if self._states <= STATES_BEFORE_COMPILING:
            return plain.general(*arguments)
        code = kernel_of(plain.robot, plain.name, plain.options).entry
        self._on_compiled(code)
        return code(*arguments)
