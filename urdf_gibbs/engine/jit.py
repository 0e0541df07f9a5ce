"""Decorators for the compiled driver: steps, events and impacts, which are the same for all robots, written in Python for Numba.

Code for one robot is generated without Numba (emit.py). Numba runs when the package is built (build_driver.py), and users load the result
(driver_code.py). So the decorators only register functions:

- ``jit``: compiled into the functions that call it. Called from Python it runs as plain Python, slowly.
- ``entry``: a separate C function, which Python can call as well.
- ``block``: an entry that compiled code calls by its address, which is in the field ``blocks`` of its first argument.

Numba optimises a function together with everything that it calls, again for each caller. Entries and blocks prevent that. Each says by
``part`` what it is for: machine code is made only of the parts that a simulation asks for (driver_parts.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from urdf_gibbs.engine import driver_code
from urdf_gibbs.engine.struct import Struct

F = TypeVar("F", bound=Callable[..., Any])

BLOCKS = 32  # maximum number
OUT_OF_MEMORY = -100  # returned by an entry that cannot allocate its working memory; NaN if it returns a float


class Registered(NamedTuple):
    function: Callable[..., Any]
    inline: bool  # copied into each caller before types are known


functions: list[Registered] = []
entries: dict[str, Entry] = {}


class Entry:
    """A separately compiled function of Structs, ints and floats; ``number`` of a block, else None."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[type, ...], returns: type, part: str, number: int | None) -> None:
        self.function, self.kinds, self.returns, self.part, self.number = function, kinds, returns, part, number
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.__name__, self.__module__, self.__doc__ = function.__name__, function.__module__, function.__doc__
        self._called: Callable[..., Any] | None = None

    @property
    def address(self) -> int:
        """Address of the machine code."""
        return driver_code.address(self.name)

    def __call__(self, *arguments: Any) -> Any:
        if self._called is None:
            kinds: dict[type, Any] = {int: ctypes.c_int64, float: ctypes.c_double}
            types = [kinds.get(kind, ctypes.c_void_p) for kind in (self.returns, *self.kinds)]
            self._called = ctypes.CFUNCTYPE(*types)(self.address)
        return self._called(*[one._address if isinstance(one, Struct) else one for one in arguments])


def jit(function: F) -> F:
    """Register a function that is compiled into its callers. Division by zero gives inf there, as in NumPy."""
    functions.append(Registered(function, False))
    return function


def jit_inline(function: F) -> F:
    """Register a function that is inlined into each caller before types are inferred."""
    functions.append(Registered(function, True))
    return function


def entry(*kinds: type, part: str, returns: type = int) -> Callable[[Callable[..., Any]], Entry]:
    """Register a separately compiled function (Structs, ints or floats ...) -> int or float."""
    return lambda function: _register(Entry(function, kinds, returns, part, None))


def block(number: int, *kinds: type, part: str, returns: type = int) -> Callable[[Callable[..., Any]], Entry]:
    """Register a separately compiled function (Struct with ``blocks``, Structs, ints or floats ...) -> int or float, called by address."""
    return lambda function: _register(Entry(function, kinds, returns, part, number))


def _register(entry: Entry) -> Entry:
    entries[entry.name] = entry
    return entry


def block_addresses(*parts: str) -> list[int]:
    """Addresses of the blocks of these parts by number; 0 for all others, which must not be called."""
    addresses = {entry.number: entry.address for entry in entries.values() if entry.number is not None and entry.part in parts}
    return [addresses.get(number, 0) for number in range(BLOCKS)]


def call2(address: int, a: int, b: int) -> int:
    """Call the C function ``int64_t f(void *, ...)`` at an address, with pointers given as integers."""
    return _call(address, a, b)


def call3(address: int, a: int, b: int, c: int) -> int:
    return _call(address, a, b, c)


def call4(address: int, a: int, b: int, c: int, d: int) -> int:
    return _call(address, a, b, c, d)


def call5(address: int, a: int, b: int, c: int, d: int, e: int) -> int:
    return _call(address, a, b, c, d, e)


def _call(address: int, *pointers: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(pointers))(int(address))(*map(int, pointers)))
