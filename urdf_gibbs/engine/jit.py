"""Compiled control flow: a typed ``jit``, blocks that are compiled apart, and calls of C functions by address.

What belongs to one robot is straight-line code of our own (emit.py). What is the same for all robots, steps, events, impacts, is
written in Python and compiled once by Numba; its results stay in a cache on disk.

Numba optimises a function together with everything that it calls, again for each caller. A ``block`` ends that: it is called by
its address, which stands in the field ``blocks`` of its first argument.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

BLOCKS = 24  # at most
_blocks: dict[int, tuple[Callable[..., Any], Any]] = {}
_compiled: dict[int, Any] = {}


def _stamp() -> str:
    """Of all sources that are compiled: Numba's cache looks at one file only, and would miss a change in another."""
    digest = hashlib.sha256()
    here = Path(__file__).parents[1]
    for path in sorted(path for room in ("contact", "engine", "simulation") for path in here.glob(f"{room}/**/*.py")):
        text = path.read_bytes()
        if b"\n@jit" in text or b"\n@block" in text or path.name in ("jit.py", "struct.py", "dop853.py", "names.py"):
            digest.update(text)
    return digest.hexdigest()


STAMP = _stamp()


def _stamped(compiled: Any) -> Any:
    compiled._cache._cache_file._source_stamp = STAMP
    return compiled


def jit(function: F) -> F:
    """Compiled on its first call, kept on disk. Division by zero gives inf, as in NumPy."""
    return cast(F, _stamped(numba.njit(cache=True, error_model="numpy")(function)))


def jit_inline(function: F) -> F:
    """Becomes part of each caller instead of being compiled by itself."""
    return cast(F, _stamped(numba.njit(cache=True, error_model="numpy", inline="always")(function)))


def block(number: int, *kinds: Any, returns: type = int) -> Callable[[F], F]:
    """A function (Struct with ``blocks``, Structs, int64 or float64 ...) -> int64 or float64 that is compiled apart."""

    def decorated(function: F) -> F:
        arguments = [_type(kind) for kind in kinds]
        _blocks[number] = function, _type(returns)(*arguments)
        if len(arguments) == 2:

            def stub(s: Any, a: Any) -> Any:
                return invoke(s.blocks[number], (s, a), result)

        elif len(arguments) == 3:

            def stub(s: Any, a: Any, b: Any) -> Any:  # type: ignore[misc]
                return invoke(s.blocks[number], (s, a, b), result)

        elif len(arguments) == 4:

            def stub(s: Any, a: Any, b: Any, c: Any) -> Any:  # type: ignore[misc]
                return invoke(s.blocks[number], (s, a, b, c), result)

        else:

            def stub(s: Any, a: Any, b: Any, c: Any, d: Any) -> Any:  # type: ignore[misc]
                return invoke(s.blocks[number], (s, a, b, c, d), result)

        result = 0.0 if returns is float else 0
        return cast(F, jit(stub))

    return decorated


def block_addresses() -> list[int]:
    """Of all blocks by their numbers; compiles those that are not."""
    for number, (function, signature) in _blocks.items():
        if number not in _compiled:
            made = CFunc(function, (signature.args, signature.return_type), locals={}, options={"error_model": "numpy"})
            made.enable_caching()
            _stamped(made).compile()
            _compiled[number] = made
    return [_compiled[i].address if i in _compiled else 0 for i in range(BLOCKS)]


def _type(kind: Any) -> Any:
    return {int: types.int64, float: types.float64}.get(kind) or kind._type


@intrinsic
def invoke(typingctx: Any, address: Any, arguments: Any, result: Any) -> Any:
    """The C function at that address; what it returns is of the type of ``result``."""
    returned = types.float64 if isinstance(result, types.Float) else types.int64

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        passed = [context.get_value_type(kind) for kind in signature.args[1].types]
        function = ir.FunctionType(context.get_value_type(returned), passed).as_pointer()
        return builder.call(builder.inttoptr(values[0], function), cgutils.unpack_tuple(builder, values[1]))

    return returned(types.int64, arguments, result), generate


def _caller(count: int) -> Any:
    """call(address, pointer...) -> int64: the C function ``int64_t f(void *, ...)`` with ``count`` pointers, given as integers."""

    def typed(typingctx: Any, address: Any, *pointers: Any) -> Any:
        signature = types.int64(types.int64, *[types.intp] * count)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = ir.IntType(8).as_pointer()
            function = ir.FunctionType(ir.IntType(64), [pointer] * count).as_pointer()
            target = builder.inttoptr(arguments[0], function)
            return builder.call(target, [builder.inttoptr(argument, pointer) for argument in arguments[1:]])

        return signature, generate

    return typed


@intrinsic
def call2(typingctx: Any, address: Any, a: Any, b: Any) -> Any:
    return _caller(2)(typingctx, address, a, b)


@intrinsic
def call3(typingctx: Any, address: Any, a: Any, b: Any, c: Any) -> Any:
    return _caller(3)(typingctx, address, a, b, c)


@intrinsic
def call4(typingctx: Any, address: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return _caller(4)(typingctx, address, a, b, c, d)
