"""Structs of arrays for compiled code, passed by one pointer.

Numba takes a tuple of arrays apart, field by field, at every call: with dozens of arrays that costs minutes of compilation and most of
the run. A Struct is a table of addresses and shapes. In compiled code ``s.name`` is an array on the memory of the field,
without reference counting: the Python object keeps it alive.

    @struct
    class Tree(Struct):
        parent: Int1
        axis: Float2
"""

from __future__ import annotations

from typing import Any, TypeVar, get_type_hints

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

Int1 = NDArray[np.int64]
Int2 = NDArray[np.int64]
Float1 = NDArray[np.float64]
Float2 = NDArray[np.float64]
Float3 = NDArray[np.float64]
KINDS = {
    "Int1": types.Array(types.int64, 1, "C"),
    "Int2": types.Array(types.int64, 2, "C"),
    "Float1": types.Array(types.float64, 1, "C"),
    "Float2": types.Array(types.float64, 2, "C"),
    "Float3": types.Array(types.float64, 3, "C"),
}
DTYPES = {types.int64: np.dtype(np.int64).char, types.float64: np.dtype(np.float64).char}
WORDS = 4  # of the table for each field: address, shape
WORD = ir.IntType(64)


class Struct:
    """Made with one array for each field, by name; the arrays are shared, not copied."""

    _fields: dict[str, Any]

    def __init__(self, **values: Any) -> None:
        table = np.zeros((len(self._fields), WORDS), np.int64)
        if values.keys() != self._fields.keys():
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}; got {', '.join(values)}")
        for row, (name, kind) in zip(table, self._fields.items(), strict=True):
            value = values[name]
            if isinstance(kind, StructType):
                row[0] = value._address
            elif value.dtype.char != DTYPES[kind.dtype] or value.ndim != kind.ndim or not value.flags.c_contiguous:
                raise TypeError(f"{name} is {value.dtype} {value.shape}, expected {kind}")
            else:
                row[0], row[1 : 1 + kind.ndim] = value.ctypes.data, value.shape
            setattr(self, name, value)
        self._table = table
        self._address = table.ctypes.data

    def replaced(self, **values: Any) -> Any:
        """The same with some fields changed."""
        return type(self)(**{**{name: getattr(self, name) for name in self._fields}, **values})


class StructType(types.Type):
    """What the compiler knows of a Struct: its name. The fields are found by it."""

    fields: dict[str, dict[str, Any]] = {}  # noqa: RUF012


S = TypeVar("S", bound=type[Struct])


def struct(made: S) -> S:
    """Tell the compiler about a Struct. Fields are annotated Int1, Int2, Float1, Float2, Float3 or with another Struct."""
    one = StructType(f"{made.__module__}.{made.__name__}")
    made._type = one  # type: ignore[attr-defined]
    hints = made.__annotations__
    made._fields = {name: KINDS[kind] if kind in KINDS else get_type_hints(made)[name]._type for name, kind in hints.items()}
    StructType.fields[one.name] = made._fields
    typeof_impl.register(made)(lambda value, context: one)
    return made


register_model(StructType)(models.OpaqueModel)


@unbox(StructType)
def _unboxed(kind: Any, value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(value, "_address")
    number = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(number, cgutils.voidptr_t), is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = StructType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return StructType.fields[kind.name].get(name)


@lower_getattr_generic(StructType)
def _field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    fields = StructType.fields[kind.name]
    result = fields[name]
    table = builder.bitcast(value, WORD.as_pointer())
    first = WORDS * list(fields).index(name)
    word = [builder.load(builder.gep(table, [WORD(first + i)])) for i in range(1 + getattr(result, "ndim", 0))]
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
