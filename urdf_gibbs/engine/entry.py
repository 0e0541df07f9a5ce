"""A Python function around a kernel in machine code, with as little overhead as is safe.

The function is a builtin whose body is the LLVM IR below, one body for all kernels: what differs from kernel to
kernel is a block of integers behind ``self``. It reads its arguments through the buffer protocol only; whatever is not plain
float64 memory of the right shape goes to a Python function.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from urdf_gibbs.engine.objects import load_code

MAX_INPUTS = 7  # three of a state, a change of each, and gravity
MAX_NDIM = 3
METH_FASTCALL_KEYWORDS = 0x80 | 0x02
OUT = sys.intern("out")  # a keyword written in Python source is this very object

# The functions of CPython that the body calls; all are in the stable ABI but the vectorcall, which is public.
API = (
    "PyBuffer_Release",
    "PyBytes_AsString",
    "PyErr_Clear",
    "PyObject_GetBuffer",
    "PyObject_Vectorcall",
    "PyTuple_GetItem",
    "PyTuple_Size",
    "Py_DecRef",
    "Py_IncRef",
)

IR = """
; Py_buffer: buf, obj, len, itemsize, readonly, ndim, format, shape, strides, suboffsets, internal
%view = type { ptr, ptr, i64, i64, i32, i32, ptr, ptr, ptr, ptr, ptr }
; kernel, fallback, the string "out", number of inputs, dimensions of the output, widths of the inputs, shape of the output,
; numpy.empty, the shape of the output as a tuple
%context = type { ptr, ptr, ptr, i64, i64, [INPUTS x i64], [NDIM x i64], ptr, ptr }

declare void @PyBuffer_Release(ptr)
declare ptr @PyBytes_AsString(ptr)
declare void @PyErr_Clear()
declare i32 @PyObject_GetBuffer(ptr, ptr, i32)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)

; Take the buffer of an object if it is aligned float64 memory of this shape. If not, nothing is held and no error is set.
define internal i1 @take(ptr %object, ptr %view, i32 %flags, i64 %ndim, ptr %shape) alwaysinline {
  %refused = call i32 @PyObject_GetBuffer(ptr %object, ptr %view, i32 %flags)
  %got = icmp eq i32 %refused, 0
  br i1 %got, label %dimensions, label %clear
dimensions:
  %ndim.at = getelementptr inbounds %view, ptr %view, i64 0, i32 5
  %ndim.is32 = load i32, ptr %ndim.at
  %ndim.is = sext i32 %ndim.is32 to i64
  %ndim.ok = icmp eq i64 %ndim.is, %ndim
  br i1 %ndim.ok, label %item, label %release
item:
  %itemsize.at = getelementptr inbounds %view, ptr %view, i64 0, i32 3
  %itemsize = load i64, ptr %itemsize.at
  %itemsize.ok = icmp eq i64 %itemsize, 8
  %start = load i64, ptr %view
  %low = and i64 %start, 7
  %aligned = icmp eq i64 %low, 0
  %format.at = getelementptr inbounds %view, ptr %view, i64 0, i32 6
  %format = load ptr, ptr %format.at
  %format.set = icmp ne ptr %format, null
  %item.1 = and i1 %itemsize.ok, %aligned
  %item.ok = and i1 %item.1, %format.set
  br i1 %item.ok, label %letter, label %release
letter:
  %first = load i8, ptr %format
  %first.ok = icmp eq i8 %first, 100                                   ; 'd'
  br i1 %first.ok, label %end, label %release
end:
  %second.at = getelementptr inbounds i8, ptr %format, i64 1
  %second = load i8, ptr %second.at
  %second.ok = icmp eq i8 %second, 0
  br i1 %second.ok, label %extents, label %release
extents:
  %extent.at = getelementptr inbounds %view, ptr %view, i64 0, i32 7
  %extent = load ptr, ptr %extent.at
  br label %axis
axis:
  %k = phi i64 [ 0, %extents ], [ %k.next, %same ]
  %left = icmp slt i64 %k, %ndim
  br i1 %left, label %compare, label %held
compare:
  %is.at = getelementptr inbounds i64, ptr %extent, i64 %k
  %is = load i64, ptr %is.at
  %want.at = getelementptr inbounds i64, ptr %shape, i64 %k
  %want = load i64, ptr %want.at
  %equal = icmp eq i64 %is, %want
  br i1 %equal, label %same, label %release
same:
  %k.next = add nuw nsw i64 %k, 1
  br label %axis
held:
  ret i1 true
release:
  call void @PyBuffer_Release(ptr %view)
  ret i1 false
clear:
  call void @PyErr_Clear()
  ret i1 false
}

define ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %names) {
  %views = alloca [VIEWS x %view]                                       ; the inputs, and the output after them
  %extents = alloca ptr
  %block = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %context = call ptr @PyBytes_AsString(ptr %block)
  %n.at = getelementptr inbounds %context, ptr %context, i64 0, i32 3
  %n = load i64, ptr %n.at
  %positional = icmp eq ptr %names, null
  br i1 %positional, label %count, label %keywords
count:
  %n.all = add i64 %n, 1
  %count.ok = icmp eq i64 %nargs, %n.all
  br i1 %count.ok, label %given, label %without
without:
  %without.ok = icmp eq i64 %nargs, %n
  br i1 %without.ok, label %new, label %fallback
keywords:
  %n.names = call i64 @PyTuple_Size(ptr %names)
  %names.ok = icmp eq i64 %n.names, 1
  %rest.ok = icmp eq i64 %nargs, %n
  %keywords.ok = and i1 %names.ok, %rest.ok
  br i1 %keywords.ok, label %name, label %fallback
name:
  %name.is = call ptr @PyTuple_GetItem(ptr %names, i64 0)
  %name.at = getelementptr inbounds %context, ptr %context, i64 0, i32 2
  %name.want = load ptr, ptr %name.at
  %name.ok = icmp eq ptr %name.is, %name.want
  br i1 %name.ok, label %given, label %fallback

given:                                                                  ; in both forms it follows the inputs in %args
  %given.at = getelementptr inbounds ptr, ptr %args, i64 %n
  %given.out = load ptr, ptr %given.at
  br label %output
new:
  %empty.at = getelementptr inbounds %context, ptr %context, i64 0, i32 7
  %empty = load ptr, ptr %empty.at
  %tuple.at = getelementptr inbounds %context, ptr %context, i64 0, i32 8
  %tuple = load ptr, ptr %tuple.at
  store ptr %tuple, ptr %extents
  %new.out = call ptr @PyObject_Vectorcall(ptr %empty, ptr %extents, i64 1, ptr null)
  %none = icmp eq ptr %new.out, null
  br i1 %none, label %no.memory, label %output
no.memory:                                                              ; and the exception is set
  ret ptr null

output:
  %out = phi ptr [ %given.out, %given ], [ %new.out, %new ]
  %own = phi i1 [ false, %given ], [ true, %new ]
  %out.view = getelementptr inbounds %view, ptr %views, i64 %n
  %out.ndim.at = getelementptr inbounds %context, ptr %context, i64 0, i32 4
  %out.ndim = load i64, ptr %out.ndim.at
  %out.shape = getelementptr inbounds %context, ptr %context, i64 0, i32 6
  ; C_CONTIGUOUS | FORMAT | WRITABLE
  %out.ok = call i1 @take(ptr %out, ptr %out.view, i32 61, i64 %out.ndim, ptr %out.shape)
  br i1 %out.ok, label %output.held, label %failed
output.held:
  %out.first = load i64, ptr %out.view
  %out.len.at = getelementptr inbounds %view, ptr %out.view, i64 0, i32 2
  %out.len = load i64, ptr %out.len.at
  %out.last = add i64 %out.first, %out.len
  br label %input
input:
  %i = phi i64 [ 0, %output.held ], [ %i.next, %apart ]
  %in.at = getelementptr inbounds ptr, ptr %args, i64 %i
  %in = load ptr, ptr %in.at
  %in.view = getelementptr inbounds %view, ptr %views, i64 %i
  %in.shape = getelementptr inbounds %context, ptr %context, i64 0, i32 5, i64 %i
  ; C_CONTIGUOUS | FORMAT
  %in.ok = call i1 @take(ptr %in, ptr %in.view, i32 60, i64 1, ptr %in.shape)
  br i1 %in.ok, label %input.held, label %done
input.held:
  %i.next = add nuw nsw i64 %i, 1
  %in.first = load i64, ptr %in.view
  %in.len.at = getelementptr inbounds %view, ptr %in.view, i64 0, i32 2
  %in.len = load i64, ptr %in.len.at
  %in.last = add i64 %in.first, %in.len
  %in.before = icmp ule i64 %in.last, %out.first
  %in.after = icmp uge i64 %in.first, %out.last
  %disjoint = or i1 %in.before, %in.after
  br i1 %disjoint, label %apart, label %done
apart:
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %input, label %run

RUN  %success = icmp eq i64 %status, 0
  br label %done

done:                                                                   ; release what is held, whatever happened
  %held = phi i64 [ %i, %input ], [ %i.next, %input.held ], [ %n, %ran ]
  %ok = phi i1 [ false, %input ], [ false, %input.held ], [ %success, %ran ]
  call void @PyBuffer_Release(ptr %out.view)
  br label %free
free:
  %j = phi i64 [ 0, %done ], [ %j.next, %free.one ]
  %j.left = icmp slt i64 %j, %held
  br i1 %j.left, label %free.one, label %freed
free.one:
  %j.view = getelementptr inbounds %view, ptr %views, i64 %j
  call void @PyBuffer_Release(ptr %j.view)
  %j.next = add nuw nsw i64 %j, 1
  br label %free
freed:
  br i1 %ok, label %return, label %failed
return:
  br i1 %own, label %handed, label %shared
shared:
  call void @Py_IncRef(ptr %out)
  br label %handed
handed:
  ret ptr %out

failed:
  br i1 %own, label %drop, label %fallback
drop:
  call void @Py_DecRef(ptr %out)
  br label %fallback
fallback:
  %g.at = getelementptr inbounds %context, ptr %context, i64 0, i32 1
  %g = load ptr, ptr %g.at
  %result = call ptr @PyObject_Vectorcall(ptr %g, ptr %args, i64 %nargs, ptr %names)
  ret ptr %result
}
"""


def _ir() -> str:
    """The body for up to MAX_INPUTS inputs: one call for each number of them."""
    cases = [f"i64 {n}, label %run{n}" for n in range(1, MAX_INPUTS)]
    run = ["run:", "  %f = load ptr, ptr %context", f"  switch i64 %n, label %run{MAX_INPUTS} [ {' '.join(cases)} ]"]
    for n in range(1, MAX_INPUTS + 1):
        run.append(f"run{n}:")
        for k in range(n + 1):
            run += [f"  %v{n}.{k} = getelementptr inbounds %view, ptr %views, i64 {k}", f"  %x{n}.{k} = load ptr, ptr %v{n}.{k}"]
        arguments = ", ".join(f"ptr %x{n}.{k}" for k in range(n + 1))
        run += [f"  %s{n} = call i64 %f({arguments})", "  br label %ran"]
    statuses = ", ".join(f"[ %s{n}, %run{n} ]" for n in range(1, MAX_INPUTS + 1))
    run += ["ran:", f"  %status = phi i64 {statuses}\n"]
    sizes = {"INPUTS": MAX_INPUTS, "NDIM": MAX_NDIM, "VIEWS": MAX_INPUTS + 1, "RUN": "\n".join(run)}
    text = IR
    for word, value in sizes.items():
        text = text.replace(word, str(value))
    return text


class MethodDef(ctypes.Structure):
    """PyMethodDef of CPython."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class Entry(NamedTuple):
    """The objects that an entry needs. As its ``self`` they live exactly as long as the entry."""

    context: bytes  # %context of the IR, which points at the four that follow
    fallback: Callable[..., Any]
    keyword: str
    empty: Callable[..., Any]
    shape: tuple[int, ...]
    definition: MethodDef


_new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)


@functools.cache
def _body() -> int:
    """Address of the body that all entries share."""
    symbols = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in API}
    return load_code(_ir(), symbols=symbols).address("entry")


def make_entry(
    name: str,
    address: int,
    inputs: Sequence[int],
    output: tuple[int, ...],
    fallback: Callable[..., Any],
    doc: str = "",
) -> Callable[..., Any]:
    """Return a builtin function ``f(x0, ..., out)`` that runs a kernel and returns ``out``, or without it a new array.

    The kernel runs if every input is a one-dimensional and the output, if given, a writable C-contiguous aligned float64 buffer
    of exactly the given shape, and the output shares no memory with an input. In every other case, and if the kernel
    reports a failure, the result is that of ``fallback`` with the same arguments.

    Parameters
    ----------
    name : name of the function.
    address : address of the kernel, ``int64 kernel(double *x0, ..., double *out)``, 0 for success; it must stay valid.
    inputs : widths of the inputs, one to MAX_INPUTS.
    output : shape of the output, of at most MAX_NDIM dimensions.
    fallback : the same function for any arguments.
    doc : its docstring.
    """
    if not 1 <= len(inputs) <= MAX_INPUTS or len(output) > MAX_NDIM or min(*inputs, *output, 0) < 0:
        raise ValueError(f"kernel {name!r}: inputs {tuple(inputs)} and output {output}, allowed are 1 to {MAX_INPUTS} and {MAX_NDIM} axes")
    widths = [*inputs, *[0] * (MAX_INPUTS - len(inputs))]
    shape = [*output, *[0] * (MAX_NDIM - len(output))]
    empty, axes = np.empty, tuple(output)
    words = (address, id(fallback), id(OUT), len(inputs), len(axes), *widths, *shape, id(empty), id(axes))
    context = struct.pack(f"={len(words)}q", *words)
    definition = MethodDef(name.encode(), _body(), METH_FASTCALL_KEYWORDS, doc.encode())
    entry: Callable[..., Any] = _new_function(
        ctypes.addressof(definition), Entry(context, fallback, OUT, empty, axes, definition), __name__
    )
    return entry
