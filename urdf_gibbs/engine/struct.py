"""Structs of arrays and numbers for compiled code, passed by one pointer.

Numba unpacks a tuple of arrays, field by field, at every call: with dozens of arrays that costs minutes of compilation and most of
the run. A Struct is a table of addresses and shapes. In compiled code ``s.name`` is an array that shares the memory of the field,
without reference counting: the Python object keeps it alive. A single number is stored in the table itself: ``s.name`` reads
it and ``s.name = ...`` writes it, in compiled code and in Python. numba_types.py describes it to Numba.

    @struct
    class Tree(Struct):
        parent: Int1
        axis: Float2
        depth: Int
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

Int = int
Float = float
Int1 = NDArray[np.int64]
Int2 = NDArray[np.int64]
Float1 = NDArray[np.float64]
Float2 = NDArray[np.float64]
Float3 = NDArray[np.float64]
WORDS = 4  # per field of the table: address and shape, or a number


class Field(NamedTuple):
    """An array in C order; a number where it has no dimensions."""

    dtype: type
    ndim: int


KINDS = {
    "Int": Field(np.int64, 0),
    "Float": Field(np.float64, 0),
    "Int1": Field(np.int64, 1),
    "Int2": Field(np.int64, 2),
    "Float1": Field(np.float64, 1),
    "Float2": Field(np.float64, 2),
    "Float3": Field(np.float64, 3),
}


class Struct:
    """Constructed with one array or number for each field, by name. Arrays are shared, not copied; missing numbers are 0."""

    _fields: dict[str, Any]  # a Field, or another Struct class
    kept: Any = None  # objects to keep alive: the functions whose addresses are in the arrays

    def __init__(self, **values: Any) -> None:
        self._table = table = np.zeros((len(self._fields), WORDS), np.int64)
        self._address = table.ctypes.data
        self._integers = table.reshape(-1)
        self._floats = self._integers.view(np.float64)
        values = {name: 0 for name, kind in self._fields.items() if isinstance(kind, Field) and kind.ndim == 0} | values
        if values.keys() != self._fields.keys():
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}; got {', '.join(values)}")
        for row, (name, kind) in zip(table, self._fields.items(), strict=True):
            value = values[name]
            if not isinstance(kind, Field):
                row[0] = value._address
            elif kind.ndim == 0:
                pass  # written by its property
            elif value.dtype != kind.dtype or value.ndim != kind.ndim or not value.flags.c_contiguous:
                raise TypeError(f"{name} is {value.dtype} {value.shape}, expected {kind.dtype.__name__} in {kind.ndim} dimensions, C order")
            else:
                row[0], row[1 : 1 + kind.ndim] = value.ctypes.data, value.shape
            setattr(self, name, value)

    def numbers(self) -> NDArray[np.int64]:
        """A copy of all fields that are numbers, for ``restore``."""
        return self._table.copy()

    def restore(self, numbers: NDArray[np.int64]) -> None:
        """Restore the numbers; arrays are not changed."""
        self._table[:] = numbers

    def replaced(self, **values: Any) -> Any:
        """A copy with some fields replaced."""
        copy = type(self)(**{**{name: getattr(self, name) for name in self._fields}, **values})
        copy.kept = self.kept
        return copy


S = TypeVar("S", bound=type[Struct])


def struct(cls: S) -> S:
    """Read the fields of a Struct: they are annotated Int, Int1, Int2, Float, Float1, Float2, Float3 or with another Struct."""
    cls._fields = {name: KINDS[kind] if kind in KINDS else get_type_hints(cls)[name] for name, kind in cls.__annotations__.items()}
    for row, (name, kind) in enumerate(cls._fields.items()):
        if isinstance(kind, Field) and kind.ndim == 0:
            setattr(cls, name, _number(row, kind.dtype))
    return cls


def _number(row: int, dtype: type) -> property:
    """The property of a field that is a single number."""
    place = WORDS * row

    def integer(self: Struct) -> int:
        return self._integers.item(place)

    def put_integer(self: Struct, value: int) -> None:
        self._integers[place] = value

    def real(self: Struct) -> float:
        return self._floats.item(place)

    def put_real(self: Struct, value: float) -> None:
        self._floats[place] = value

    return property(integer, put_integer) if dtype is np.int64 else property(real, put_real)
