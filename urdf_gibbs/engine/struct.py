"""Structs of arrays for compiled code, passed by one pointer.

Numba takes a tuple of arrays apart, field by field, at every call: with dozens of arrays that costs minutes of compilation and most of
the run. A Struct is a table of addresses and shapes. In compiled code ``s.name`` is an array on the memory of the field,
without reference counting: the Python object keeps it alive. What Numba has to know of it stands in numba_types.py.

    @struct
    class Tree(Struct):
        parent: Int1
        axis: Float2
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

Int1 = NDArray[np.int64]
Int2 = NDArray[np.int64]
Float1 = NDArray[np.float64]
Float2 = NDArray[np.float64]
Float3 = NDArray[np.float64]
WORDS = 4  # of the table for each field: address, shape


class Field(NamedTuple):
    """An array in C order."""

    dtype: type
    ndim: int


KINDS = {
    "Int1": Field(np.int64, 1),
    "Int2": Field(np.int64, 2),
    "Float1": Field(np.float64, 1),
    "Float2": Field(np.float64, 2),
    "Float3": Field(np.float64, 3),
}


class Struct:
    """Made with one array for each field, by name; the arrays are shared, not copied."""

    _fields: dict[str, Any]  # a Field, or another Struct class
    kept: Any = None  # what has to live as long as this: the functions whose addresses stand in the arrays

    def __init__(self, **values: Any) -> None:
        table = np.zeros((len(self._fields), WORDS), np.int64)
        if values.keys() != self._fields.keys():
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}; got {', '.join(values)}")
        for row, (name, kind) in zip(table, self._fields.items(), strict=True):
            value = values[name]
            if not isinstance(kind, Field):
                row[0] = value._address
            elif value.dtype != kind.dtype or value.ndim != kind.ndim or not value.flags.c_contiguous:
                raise TypeError(f"{name} is {value.dtype} {value.shape}, expected {kind.dtype.__name__} in {kind.ndim} dimensions, C order")
            else:
                row[0], row[1 : 1 + kind.ndim] = value.ctypes.data, value.shape
            setattr(self, name, value)
        self._table = table
        self._address = table.ctypes.data

    def replaced(self, **values: Any) -> Any:
        """The same with some fields changed."""
        made = type(self)(**{**{name: getattr(self, name) for name in self._fields}, **values})
        made.kept = self.kept
        return made


S = TypeVar("S", bound=type[Struct])


def struct(made: S) -> S:
    """Read the fields of a Struct: they are annotated Int1, Int2, Float1, Float2, Float3 or with another Struct."""
    made._fields = {name: KINDS[kind] if kind in KINDS else get_type_hints(made)[name] for name, kind in made.__annotations__.items()}
    return made
