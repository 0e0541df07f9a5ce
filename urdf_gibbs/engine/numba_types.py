"""Teaches Numba the driver's types: Structs, entries, calls of C functions by address. Needs Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global
from numba.extending import (
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_jitable,
    register_model,
)
from numba.np.arrayobj import populate_array

from urdf_gibbs.engine import jit
from urdf_gibbs.engine.jit import Entry
from urdf_gibbs.engine.struct import WORDS, Field, Struct

WORD = ir.IntType(64)
NUMBERS = (types.int64, types.float64)
OPTIONS = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class StructType(types.Type):
    """Numba's type of a Struct."""

    def __init__(self, cls: type[Struct]) -> None:
        super().__init__(f"{cls.__module__}.{cls.__name__}")
        self.fields = {name: kind_of(kind) for name, kind in cls._fields.items()}


def kind_of(kind: Any) -> Any:
    """Numba's type of a Struct class, a Field, int or float."""
    if isinstance(kind, Field):
        number = types.int64 if kind.dtype is np.int64 else types.float64
        return types.Array(number, kind.ndim, "C") if kind.ndim else number
    return {int: types.int64, float: types.float64}.get(kind) or StructType(kind)


register_model(StructType)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = StructType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.fields.get(name)


@lower_getattr_generic(StructType)
def _field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    result = kind.fields[name]
    if result in NUMBERS:
        return builder.load(_number(context, builder, kind, value, name))
    word = _words(builder, kind, value, name)
    if isinstance(result, StructType):
        return builder.inttoptr(word[0], context.get_value_type(result))
    array = context.make_array(result)(context, builder)
    shape = word[1:]
    size = WORD(8)
    strides = [size]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    data = builder.inttoptr(word[0], context.get_data_type(result.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


@lower_setattr_generic(StructType)
def _put_field(context: Any, builder: Any, signature: Any, values: Any, name: str) -> None:
    record, value = values
    builder.store(value, _number(context, builder, signature.args[0], record, name))


def _number(context: Any, builder: Any, kind: StructType, value: Any, name: str) -> Any:
    """Pointer to a field that is a single number."""
    table = builder.bitcast(value, context.get_value_type(kind.fields[name]).as_pointer())
    return builder.gep(table, [WORD(WORDS * list(kind.fields).index(name))])


def _words(builder: Any, kind: StructType, value: Any, name: str) -> list[Any]:
    """Address and shape of a field."""
    table = builder.bitcast(value, WORD.as_pointer())
    first = WORDS * list(kind.fields).index(name)
    return [builder.load(builder.gep(table, [WORD(first + i)])) for i in range(1 + getattr(kind.fields[name], "ndim", 0))]


def register() -> None:
    """Register all decorated functions with Numba."""
    for noted in jit.functions:
        register_jitable(**OPTIONS, inline="always" if noted.inline else "never")(noted.function)
    for entry in jit.entries.values():
        _register_entry(entry)
    for count, function in ((2, jit.call2), (3, jit.call3), (4, jit.call4), (5, jit.call5)):
        _register_call(function, count)


def _register_signature(called: Any, signature: Any) -> None:
    """Give a callable its only signature."""

    @infer_global(called)
    class _Template(AbstractTemplate):  # type: ignore[misc]
        key = called

        def generic(self, arguments: Any, keywords: Any) -> Any:
            return signature if len(arguments) == len(signature.args) and not keywords else None


def _register_entry(entry: Entry) -> None:
    arguments, returned = [kind_of(kind) for kind in entry.kinds], kind_of(entry.returns)
    _register_signature(entry, returned(*arguments))

    @lower_builtin(entry, *arguments)
    def lowered(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = ir.FunctionType(context.get_value_type(returned), [context.get_value_type(one) for one in arguments])
        if entry.number is None:
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, entry.name), values)
        blocks = builder.inttoptr(_words(builder, arguments[0], values[0], "blocks")[0], WORD.as_pointer())
        address = builder.load(builder.gep(blocks, [WORD(entry.number)]))
        return builder.call(builder.inttoptr(address, kind.as_pointer()), values)


def _register_call(function: Any, count: int) -> None:
    kinds = [types.int64] * (1 + count)
    _register_signature(function, types.int64(*kinds))

    @lower_builtin(function, *kinds)
    def lowered(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        target = builder.inttoptr(values[0], ir.FunctionType(WORD, [pointer] * count).as_pointer())
        return builder.call(target, [builder.inttoptr(value, pointer) for value in values[1:]])
