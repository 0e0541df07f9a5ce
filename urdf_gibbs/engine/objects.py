"""Machine code from LLVM IR text: compiled for this CPU, kept as an object file on disk, mapped for the life of the process.

The object cache is only ever an optimisation: a folder that cannot be read or written and a file that is
damaged or not ours mean that the code is compiled again, never an error.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

CACHE_BYTES = 256 * 2**20  # the folder is pruned to this size
MAGIC = b"urdf_gibbs object 1\n"
OWN_FILE = re.compile(r"[0-9a-f]{64}(\.obj|\..*\.tmp)")  # never prune what somebody else keeps in the folder

# On Linux x86-64 the code and its constants are placed in one block, so constants can be addressed relative to the code:
# kernels run 15-25 % faster than with the 64-bit addresses that 'jitdefault' puts into every access.
COMPACT = sys.platform == "linux" and platform.machine() == "x86_64"
# That block has room for a table of external addresses, but not for the stubs through which LLVM calls by default,
# and running out of room aborts the process.
CALL_BY_TABLE = '!llvm.module.flags = !{!0}\n!0 = !{i32 7, !"RtLibUseGOT", i32 1}'  # the functions LLVM itself calls
EXTERNAL = re.compile(r"^declare (?!.*@llvm\.).*\)", re.MULTILINE)  # those of the text: they become nonlazybind


class Code:
    """Machine code in memory. It is never unmapped, so an address stays valid for the life of the process."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        # One reference too many on purpose: LLVM frees the code with the engine, and addresses may outlive every Python object.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))

    def address(self, symbol: str) -> int:
        """Address of a function or global variable of the code."""
        address: int = self._engine.get_function_address(symbol)
        if not address:
            raise KeyError(f"no symbol {symbol!r} in this machine code")
        return address


_codes: dict[str, Code] = {}
_lock = threading.Lock()


_held_locks: list[Any] = []  # LLVM's lock, during a fork


def _acquire_llvm() -> None:
    """Before a fork: LLVM's locks are copied as they are, so no other thread may hold one at that moment."""
    lock = getattr(getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None), "_lock", None)
    if lock is not None:
        lock.__enter__()
        _held_locks.append(lock)


def _release_llvm() -> None:
    while _held_locks:
        _held_locks.pop().__exit__()


def _after_fork_in_child() -> None:
    """In the child: our lock may be held by a thread that does not exist here."""
    global _lock
    _lock = threading.Lock()
    _release_llvm()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire_llvm, after_in_parent=_release_llvm, after_in_child=_after_fork_in_child)


def load_code(ir: str, opt: int = 2, symbols: Mapping[str, int] | None = None, portable: bool = False, vectorised: bool = True) -> Code:
    """Load the machine code of LLVM IR text, from the cache on disk or else compiled.

    The same text gives the same ``Code``, so the code must not keep state.

    Parameters
    ----------
    ir : the text of one module; it may call ``sin`` and ``cos`` of the C library.
    opt : optimisation level of code generation, 0 to 3.
    symbols : addresses of further external functions, by name.
    portable : the text is optimised as far as possible without knowing the CPU, and not yet vectorised.
    vectorised : the loops of portable text become vectors of this CPU, which takes as much time again.
    """
    import llvmlite
    import llvmlite.binding as llvm

    from urdf_gibbs import __version__

    with _lock:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        cpu, features = _host(llvm)
        target = llvm.Target.from_default_triple()
        compact = COMPACT and opt > 0  # at level 0 LLVM always makes stubs
        model = {"reloc": "pic", "codemodel": "default"} if compact else {"reloc": "default", "codemodel": "jitdefault"}
        machine = target.create_target_machine(cpu=cpu, features=features, opt=opt, **model)
        how = (*model.values(), llvmlite.__version__, __version__, str(opt), str(portable), str(vectorised))
        parts = (machine.triple, cpu, features, *how, ir)
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        if key not in _codes:
            payload = read_cached(key)
            if payload is None:
                payload = _compile(llvm, machine, ir, compact, portable, vectorised)
                write_cached(key, payload)
            _codes[key] = _load(llvm, machine, payload, compact, symbols or {})
        return _codes[key]


def _host(llvm: Any) -> tuple[str, str]:
    """Name and features of this CPU; both empty, which is the generic CPU, where LLVM cannot tell."""
    try:
        return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        return "", ""


@cache
def has_fma() -> bool:
    """Whether this CPU multiplies and adds with one rounding."""
    import llvmlite.binding as llvm

    return platform.machine().lower() in ("aarch64", "arm64") or "+fma," in f"{_host(llvm)[1]},"


def _compile(llvm: Any, machine: Any, ir: str, compact: bool, portable: bool, vectorised: bool) -> bytes:
    """Object file of the IR text. Unless it is portable it is already vectorised: the vectoriser would only cost time."""
    text = EXTERNAL.sub(r"\g<0> nonlazybind", ir) if compact else ir
    # Closed in this order: a context takes its modules along, and an exception could leave the order to the garbage collector.
    with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        if compact:
            module.link_in(llvm.parse_assembly(CALL_BY_TABLE, context))
        module.verify()
        tuning = llvm.create_pipeline_tuning_options(speed_level=2 if portable else 1)
        tuning.slp_vectorization = False
        tuning.loop_vectorization = portable
        if portable:  # loops and calls are optimised already, with a memory layout common to all 64-bit systems
            module.data_layout = str(machine.target_data)
            tuning.loop_unrolling = tuning.loop_interleaving = False
            tuning.inlining_threshold = 0
        if vectorised or not portable:
            passes = llvm.create_pass_builder(machine, tuning)
            passes.getModulePassManager().run(module, passes)
        payload: bytes = machine.emit_object(module)
        return payload


def _load(llvm: Any, machine: Any, payload: bytes, compact: bool, symbols: Mapping[str, int]) -> Code:
    """Map an object file into memory, linked to libm and to the given symbols."""
    # A symbol left unresolved would abort the process, and LLVM sees only libraries with global symbols.
    for name, address in {**_libm(), **symbols}.items():
        llvm.add_symbol(name, address)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True if compact else None)
    engine.add_object_file(llvm.ObjectFileRef.from_data(payload))
    engine.finalize_object()
    return Code(engine)


def _libm() -> dict[str, int]:
    """Addresses of the functions of the C library that LLVM makes out of sines and cosines."""
    for name in (None, "libm.so.6", "ucrtbase"):
        with suppress(OSError, TypeError):  # TypeError: Windows has no library None
            library = ctypes.CDLL(name)
            names = [n for n in ("sin", "cos", "sincos") if hasattr(library, n)]
            if "sin" in names and "cos" in names:
                return {n: ctypes.cast(library[n], ctypes.c_void_p).value or 0 for n in names}
    return {}


def cache_folder() -> Path | None:
    """Folder of the object cache, which may not exist yet; None if there is none or it is turned off."""
    chosen = os.environ.get("URDF_GIBBS_CACHE")
    if chosen == "":
        return None
    try:
        if chosen is not None:
            return Path(chosen).expanduser()
        xdg = os.environ.get("XDG_CACHE_HOME", "")
        if os.path.isabs(xdg):  # the XDG specification says to ignore a relative path
            base = Path(xdg)
        elif sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path.home() / ".cache"
    except RuntimeError:  # no home folder
        return None
    return base / "urdf_gibbs"


def read_cached(key: str) -> bytes | None:
    """Object file for a key; None if it is missing or damaged."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        data = (folder / f"{key}.obj").read_bytes()
    except (OSError, ValueError):  # ValueError: a path that no system call takes
        return None
    start = len(MAGIC) + hashlib.sha256().digest_size
    head, payload = data[:start], data[start:]
    return payload if head == MAGIC + hashlib.sha256(payload).digest() else None


def write_cached(key: str, payload: bytes) -> None:
    """Store an object file. Readers and other writers see the old file, the new one or none, never a part."""
    folder = cache_folder()
    if folder is None:
        return
    with suppress(OSError, ValueError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{key}.", suffix=".tmp", dir=folder)
        try:
            with open(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(payload).digest() + payload)
            os.replace(name, folder / f"{key}.obj")
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        _prune(folder)


def _prune(folder: Path) -> None:
    """Drop the oldest files of the cache until it fits."""
    files = []
    for entry in list(os.scandir(folder)):
        with suppress(OSError):  # another process pruned it first
            if OWN_FILE.fullmatch(entry.name):
                stat = entry.stat()
                files.append((stat.st_mtime, stat.st_size, entry.path))
    excess = sum(size for _, size, _ in files) - CACHE_BYTES
    for _, size, path in sorted(files):
        if excess <= 0:
            break
        with suppress(OSError):
            os.unlink(path)
            excess -= size
