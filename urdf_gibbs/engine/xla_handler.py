"""Kernels as handlers of XLA's foreign function interface, in LLVM IR: JAX calls machine code of one robot without Python.

A handler reads the call frame that XLA gives it by the offsets of ``xla/ffi/api/c_api.h``, which are fixed for a major version of the
interface (0). XLA asks a handler for its version before the first call and refuses one of another. What a frame holds is checked all the
same: float64 buffers with the widths of the kernel and the same number of states. A state that the machine code reports (a quaternion
that is not unit, a mass matrix that may be singular) goes through Python, as in a call from Python, and comes back as a result or an error.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from urdf_gibbs.engine.kernel import Compiled
from urdf_gibbs.engine.kernel_base import Kernel
from urdf_gibbs.engine.objects import load_code
from urdf_gibbs.locks import Lock

API_MAJOR, API_MINOR = 0, 1  # the oldest version of the interface in which a frame has these fields
BATCH_ROWS = 16  # from here on the code for batches: what is traced by JAX runs more than once

# Offsets [bytes]. XLA_FFI_CallFrame: size, extension 8, api 16, ctx 24, stage 32, args 40, rets 80, attrs 120; in args and rets: count 16,
# types 24, pointers 32. XLA_FFI_Buffer: dtype 16, data 24, rank 32, dims 40. XLA_FFI_Extension_Base: type 8; metadata 24.
# XLA_FFI_Metadata: version 8 (major 16 and minor 20 in it), traits 32. XLA_FFI_Api: Error_Create 48, after size, extension and version.
FRAME = """
%errorargs = type { i64, ptr, ptr, i32 }
@unfit = private constant [UNFITSIZE x i8] c"UNFIT\\00"

; The number of states in a buffer of float64 (12) whose last axes have this size and are this many; -1 if it is none.
define internal i64 @states(ptr %buffer, i64 %size, i64 %axes) alwaysinline {
  %dtype.at = getelementptr i8, ptr %buffer, i64 16
  %dtype = load i32, ptr %dtype.at
  %dtype.ok = icmp eq i32 %dtype, 12
  %rank.at = getelementptr i8, ptr %buffer, i64 32
  %rank = load i64, ptr %rank.at
  %lead = sub i64 %rank, %axes
  %lead.ok = icmp sge i64 %lead, 0
  %ok = and i1 %dtype.ok, %lead.ok
  br i1 %ok, label %start, label %none
start:
  %dims.at = getelementptr i8, ptr %buffer, i64 40
  %dims = load ptr, ptr %dims.at
  br label %axis
axis:
  %k = phi i64 [ 0, %start ], [ %k.next, %one ]
  %states = phi i64 [ 1, %start ], [ %states.next, %one ]
  %own = phi i64 [ 1, %start ], [ %own.next, %one ]
  %left = icmp slt i64 %k, %rank
  br i1 %left, label %one, label %end
one:
  %dim.at = getelementptr i64, ptr %dims, i64 %k
  %dim = load i64, ptr %dim.at
  %is.lead = icmp slt i64 %k, %lead
  %lead.dim = select i1 %is.lead, i64 %dim, i64 1
  %own.dim = select i1 %is.lead, i64 1, i64 %dim
  %states.next = mul i64 %states, %lead.dim
  %own.next = mul i64 %own, %own.dim
  %k.next = add i64 %k, 1
  br label %axis
end:
  %size.ok = icmp eq i64 %own, %size
  %result = select i1 %size.ok, i64 %states, i64 -1
  ret i64 %result
none:
  ret i64 -1
}

define internal ptr @error(ptr %frame, ptr %message) noinline {
  %args = alloca %errorargs
  %size.at = getelementptr %errorargs, ptr %args, i64 0, i32 0
  store i64 28, ptr %size.at
  %extension.at = getelementptr %errorargs, ptr %args, i64 0, i32 1
  store ptr null, ptr %extension.at
  %message.at = getelementptr %errorargs, ptr %args, i64 0, i32 2
  store ptr %message, ptr %message.at
  %code.at = getelementptr %errorargs, ptr %args, i64 0, i32 3
  store i32 3, ptr %code.at                                             ; INVALID_ARGUMENT
  %api.at = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %api.at
  %create.at = getelementptr i8, ptr %api, i64 48
  %create = load ptr, ptr %create.at
  %error = call ptr %create(ptr %args)
  ret ptr %error
}

define ptr @handler(ptr %frame) {
  %extension.at = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %extension.at
  %extended = icmp ne ptr %extension, null
  br i1 %extended, label %asked, label %counted
asked:                                                                  ; for the version, before the first call
  %type.at = getelementptr i8, ptr %extension, i64 8
  %type = load i32, ptr %type.at
  %is.metadata = icmp eq i32 %type, 1
  br i1 %is.metadata, label %answer, label %counted
answer:
  %metadata.at = getelementptr i8, ptr %extension, i64 24
  %metadata = load ptr, ptr %metadata.at
  %major.at = getelementptr i8, ptr %metadata, i64 24
  store i32 MAJOR, ptr %major.at
  %minor.at = getelementptr i8, ptr %metadata, i64 28
  store i32 MINOR, ptr %minor.at
  %traits.at = getelementptr i8, ptr %metadata, i64 32
  store i32 0, ptr %traits.at
  ret ptr null
counted:
  %count.at = getelementptr i8, ptr %frame, i64 56
  %count = load i64, ptr %count.at
  %count.ok = icmp eq i64 %count, INPUTS
  %results.at = getelementptr i8, ptr %frame, i64 96
  %results = load i64, ptr %results.at
  %results.ok = icmp eq i64 %results, 1
  %counts.ok = and i1 %count.ok, %results.ok
  br i1 %counts.ok, label %take, label %wrong
take:
  %args.at = getelementptr i8, ptr %frame, i64 72
  %args = load ptr, ptr %args.at
  %rets.at = getelementptr i8, ptr %frame, i64 112
  %rets = load ptr, ptr %rets.at
  %out.buffer = load ptr, ptr %rets
  %out.at = getelementptr i8, ptr %out.buffer, i64 24
  %out = load ptr, ptr %out.at
  %rows = call i64 @states(ptr %out.buffer, i64 SIZE, i64 AXES)
  %fit.out = icmp sge i64 %rows, 0
TAKE
  br i1 %fit, label %run, label %wrong
run:
RUN
python:
  %message = call ptr @PYTHON(POINTERS, ptr %out, i64 %rows)
  %solved = icmp eq ptr %message, null
  br i1 %solved, label %done, label %failed
done:
  ret ptr null
failed:
  %error = call ptr @error(ptr %frame, ptr %message)
  ret ptr %error
wrong:
  %unfit = call ptr @error(ptr %frame, ptr @unfit)
  ret ptr %unfit
}
"""

LOOP = """  br label %next
next:
  %r = phi i64 [ 0, %run ], [ %r.next, %state ]
  %status = phi i64 [ 0, %run ], [ %status.next, %state ]
  %more = icmp slt i64 %r, %rows
  br i1 %more, label %state, label %ended
state:
PLACES
  %one = call i64 @CODE(PLACED, ptr %out.placed)
  %status.next = or i64 %status, %one
  %r.next = add i64 %r, 1
  br label %next
ended:
  %fine = icmp eq i64 %status, 0
  br i1 %fine, label %done, label %python"""

AT_ONCE = """  %status = call i64 @CODE(POINTERS, ptr %out, i64 %rows)
  %fine = icmp eq i64 %status, 0
  br i1 %fine, label %done, label %python"""


class Target(NamedTuple):
    """A handler and its name, which tells what it computes: the same in every process, as XLA may keep compiled functions on disk."""

    name: str
    address: int


_targets: dict[str, Target] = {}
_kept: list[Any] = []  # what handlers call, for the life of the process, as compiled functions of JAX may live as long
_message = threading.local()
_lock = Lock()


def xla_target(kernel: Kernel, rows: int) -> Target:
    """The handler for a kernel and so many states, made once."""
    batch = isinstance(kernel, Compiled) and rows >= BATCH_ROWS
    name = _name(kernel, batch)
    with _lock:
        if name not in _targets:
            _targets[name] = _new_target(kernel, batch, name)
        return _targets[name]


def _name(kernel: Kernel, batch: bool) -> str:
    from urdf_gibbs import __version__

    robot, options = kernel.robot, kernel.options
    named = repr([joint.name for joint in robot.joints])  # in messages
    parts = [__version__, robot.fingerprint, named, kernel.name, repr(options), str(batch), type(kernel).__name__]
    if options.frame:
        frame = robot.frame(options.frame)
        parts += [str(frame.body), frame.placement.tobytes().hex()]
    return f"urdf_gibbs_{kernel.name}_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"


def _new_target(kernel: Kernel, batch: bool, name: str) -> Target:
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * (len(kernel.widths) + 1), ctypes.c_int64)(_in_python(kernel))
    _kept.append(function)
    symbols = {f"{name}_python": ctypes.cast(function, ctypes.c_void_p).value or 0}
    if isinstance(kernel, Compiled):
        symbols[f"{name}_code"] = kernel.batch_address() if batch else kernel.single_address
    return Target(name, load_code(_text(kernel, batch, name), symbols=symbols).address("handler"))


def _text(kernel: Kernel, batch: bool, name: str) -> str:
    numbers = range(len(kernel.widths))
    pointers = ", ".join(f"ptr %x{i}" for i in numbers)
    take = []
    for i, width in enumerate(kernel.widths):
        take += [f"  %b{i}.at = getelementptr ptr, ptr %args, i64 {i}", f"  %b{i} = load ptr, ptr %b{i}.at"]
        take += [f"  %x{i}.at = getelementptr i8, ptr %b{i}, i64 24", f"  %x{i} = load ptr, ptr %x{i}.at"]
        take += [f"  %n{i} = call i64 @states(ptr %b{i}, i64 {width}, i64 1)", f"  %same{i} = icmp eq i64 %n{i}, %rows"]
        take.append(f"  %fit{i} = and i1 %same{i}, %fit{i - 1 if i else '.out'}")
    take[-1] = take[-1].replace(f"%fit{numbers[-1]} =", "%fit =")
    places = []
    for place, width in [*((f"%x{i}", width) for i, width in enumerate(kernel.widths)), ("%out", kernel.size)]:
        places += [f"  {place}.by = mul i64 %r, {width}", f"  {place}.placed = getelementptr double, ptr {place}, i64 {place}.by"]
    run = "  br label %python" if not isinstance(kernel, Compiled) else AT_ONCE if batch else LOOP
    listed = ", ".join(f"{letter} (..., {width})" for letter, width in zip(kernel.letters, kernel.widths, strict=True))
    unfit = f"{kernel.name} of urdf_gibbs: buffers that do not fit, expected float64 {listed}"
    parts = {
        "RUN": run,
        "TAKE": "\n".join(take),
        "PLACES": "\n".join(places),
        "PLACED": ", ".join(f"ptr %x{i}.placed" for i in numbers),
        "POINTERS": pointers,
        "CODE": f"{name}_code",
        "PYTHON": f"{name}_python",
        "UNFITSIZE": str(len(unfit) + 1),
        "UNFIT": unfit,
        "MAJOR": str(API_MAJOR),
        "MINOR": str(API_MINOR),
        "INPUTS": str(len(kernel.widths)),
        "SIZE": str(kernel.size),
        "AXES": str(len(kernel.shape)),
    }
    text = FRAME
    for word, part in parts.items():
        text = text.replace(word, part)
    types = ", ".join(["ptr"] * (len(kernel.widths) + 1))
    external = f"declare ptr @{name}_python({types}, i64)\n"
    if isinstance(kernel, Compiled):
        external += f"declare i64 @{name}_code({types}{', i64' if batch else ''})\n"
    return external + text


def _in_python(kernel: Kernel) -> Callable[..., int]:
    """The kernel for arrays by their addresses; the address of a message if that is an error, else 0."""

    def call(*places: int) -> int:
        *addresses, rows = places
        try:
            if rows:
                sizes = [(rows, width) for width in kernel.widths] + [(rows, *kernel.shape)]
                kernel.general(*(_array(address, shape) for address, shape in zip(addresses, sizes, strict=True)))
        except BaseException as problem:
            _message.text = ctypes.create_string_buffer(f"{type(problem).__name__}: {problem}".encode())
            return ctypes.addressof(_message.text)
        return 0

    return call


def _array(address: int, shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape))
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(address)).reshape(shape) if count else np.empty(shape)
