"""Users' Python functions for the motion or the shape of a wall, as C functions that compiled code can call."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from urdf_gibbs.contact.surfaces.layout import STEP, Array
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls import Implicit


class Callbacks:
    """Keeps the users' functions alive while compiled code holds their addresses, and the first exception one of them raised."""

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self.error: BaseException | None = None

    def raise_error(self) -> None:
        """Raise the exception that was kept, once."""
        error, self.error = self.error, None
        if error is not None:
            raise error


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def address_of(function: Callable[[Any, Any], None], read: int, written: int, keep: Callbacks) -> int:
    """The address of a C function that passes ``read`` doubles to ``function`` and takes ``written`` back; it returns 1 on an exception."""
    given, taken = ctypes.c_double * read, ctypes.c_double * written

    def guarded(source: int, target: int) -> int:
        try:
            function(given.from_address(source), taken.from_address(target))
        except BaseException as error:
            keep.error = keep.error or error
            return 1
        return 0

    callback = CALLBACK(guarded)
    keep.functions.append(callback)
    return int(ctypes.cast(callback, ctypes.c_void_p).value or 0)


def implicit_function(wall: Implicit, name: str) -> Callable[[Any, Any], None]:
    """Reads x and the order wanted; writes phi, its gradient (3) and Hessian (xx, xy, xz, yy, yz, zz) by five-point differences."""
    h = wall.scale * STEP
    user_gradient = wall.gradient

    def value(x: Array) -> float:
        phi = float(wall.function(x.copy()))
        if not math.isfinite(phi):
            raise ArgumentError(f"the function of wall {name!r} gave {phi} at x = {x.tolist()}; expected a finite number")
        return phi

    def slope(x: Array) -> Array:
        assert user_gradient is not None
        g = np.asarray(user_gradient(x.copy()), dtype=float)
        if g.shape != (3,) or not np.isfinite(g).all():
            raise ArgumentError(f"the gradient of wall {name!r} gave {g.tolist()!r} at x = {x.tolist()}; expected 3 finite numbers")
        return g

    def along(x: Array, step: Array, phi: float) -> tuple[float, float]:
        """First and second derivative of s -> phi(x + s step) over s = h."""
        a, b, e, f = (value(x + k * h * step) for k in (-2, -1, 1, 2))
        return (8.0 * (e - b) - (f - a)) / (12.0 * h), (16.0 * (e + b) - (f + a) - 30.0 * phi) / (12.0 * h * h)

    def evaluate(given: Any, out: Any) -> None:
        x, order = np.array(given[0:3]), given[3]
        phi = value(x)
        out[0] = phi
        if order == 0.0:
            return
        axes = np.eye(3)
        if user_gradient is not None:
            out[1:4] = slope(x)
            H = np.array([(8.0 * (slope(x + h * e) - slope(x - h * e)) - slope(x + 2 * h * e) + slope(x - 2 * h * e)) for e in axes])
            H = (H + H.T) / (24.0 * h)
        else:
            own = [along(x, e, phi) for e in axes]
            out[1:4] = [first for first, _ in own]
            H = np.diag([second for _, second in own])
            for i, j in ((0, 1), (0, 2), (1, 2)):
                H[i, j] = (along(x, axes[i] + axes[j], phi)[1] - H[i, i] - H[j, j]) / 2.0
        out[4:10] = H[np.triu_indices(3)]

    return evaluate
