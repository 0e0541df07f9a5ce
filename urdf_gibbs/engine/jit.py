"""Compiled control flow: what is the same for all robots, steps, events, impacts, written in Python and compiled by Numba.

What belongs to one robot is straight-line code of our own (emit.py). Numba is at work when the package is made (build_driver.py):
users load what came out of it (driver_code.py). So the decorators only take notes:

- ``jit``: becomes part of compiled functions that call it. Called from Python it runs as Python, slowly.
- ``entry``: a C function of its own, which Python can call as well.
- ``block``: an entry that compiled code calls by its address, which stands in the field ``blocks`` of its first argument.

Numba optimises a function together with everything that it calls, again for each caller. Entries and blocks end that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from urdf_gibbs.engine import driver_code
from urdf_gibbs.engine.struct import Struct

F = TypeVar("F", bound=Callable[..., Any])

BLOCKS = 32  # at most
OUT_OF_MEMORY = -100  # what an entry returns where the memory for its work cannot be had; NaN where it returns a float


class Noted(NamedTuple):
    function: Callable[..., Any]
    inline: bool  # copied into each caller before types are known


functions: list[Noted] = []
entries: dict[str, Entry] = {}


class Entry:
    """A function of Structs, ints and floats that is compiled apart; ``number``: of a block, else None."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[type, ...], returns: type, number: int | None) -> None:
        self.function, self.kinds, self.returns, self.number = function, kinds, returns, number
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.__name__, self.__module__, self.__doc__ = function.__name__, function.__module__, function.__doc__
        self._called: Callable[..., Any] | None = None

    @property
    def address(self) -> int:
        """Of the machine code."""
        return driver_code.address(self.name)

    def __call__(self, *arguments: Any) -> Any:
        if self._called is None:
            kinds: dict[type, Any] = {int: ctypes.c_int64, float: ctypes.c_double}
            types = [kinds.get(kind, ctypes.c_void_p) for kind in (self.returns, *self.kinds)]
            self._called = ctypes.CFUNCTYPE(*types)(self.address)
        return self._called(*[one._address if isinstance(one, Struct) else one for one in arguments])


def jit(function: F) -> F:
    """To be compiled into its callers. Division by zero gives inf there, as in NumPy."""
    functions.append(Noted(function, False))
    return function


def jit_inline(function: F) -> F:
    """Becomes part of each caller instead of being compiled by itself."""
    functions.append(Noted(function, True))
    return function


def entry(*kinds: type, returns: type = int) -> Callable[[Callable[..., Any]], Entry]:
    """A function (Structs, ints or floats ...) -> int or float that is compiled apart."""
    return lambda function: _entered(Entry(function, kinds, returns, None))


def block(number: int, *kinds: type, returns: type = int) -> Callable[[Callable[..., Any]], Entry]:
    """A function (Struct with ``blocks``, Structs, ints or floats ...) -> int or float that is compiled apart and called by address."""
    return lambda function: _entered(Entry(function, kinds, returns, number))


def _entered(made: Entry) -> Entry:
    entries[made.name] = made
    return made


def block_addresses() -> list[int]:
    """Of all blocks by their numbers, 0 where there is none."""
    addresses = {made.number: made.address for made in entries.values() if made.number is not None}
    return [addresses.get(number, 0) for number in range(BLOCKS)]


def call2(address: int, a: int, b: int) -> int:
    """The C function ``int64_t f(void *, ...)`` at an address, with pointers given as integers."""
    return _call(address, a, b)


def call3(address: int, a: int, b: int, c: int) -> int:
    return _call(address, a, b, c)


def call4(address: int, a: int, b: int, c: int, d: int) -> int:
    return _call(address, a, b, c, d)


def _call(address: int, *pointers: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(pointers))(int(address))(*map(int, pointers)))
