"""The machine code of the compiled driver: portable modules that come with the package, compiled for this machine on first use.

    sources --build_driver.py (Numba, a minute)--> driver.ll.xz --LLVM (a second)--> objects in the user's cache --> memory

The file carries a hash of the sources it was built from. If they have changed since, as in a developer's clone, it is built again
and kept in the cache. Its modules are the driver's parts (driver_parts.py): only those that are asked for become machine code.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import lzma
import os
import re
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

from urdf_gibbs.engine.driver_parts import parts_of
from urdf_gibbs.engine.objects import Code, load_code, read_cached, write_cached
from urdf_gibbs.errors import DriverError

PACKAGE = Path(__file__).parents[1]
SHIPPED = Path(__file__).with_name("driver.ll.xz")
DECORATED = re.compile(rb"^@(jit|jit_inline|entry|block|struct)\b", re.MULTILINE)
# Files that affect the module although they contain no decorated function: tables of constants, and the compiler itself.
ALSO_COMPILED = ("jit.py", "struct.py", "numba_types.py", "build_driver.py", "driver_parts.py", "dop853.py", "names.py")
MEMORY = ("PyMem_RawMalloc", "PyMem_RawFree")  # Python's raw allocator, which needs no lock
# Functions of the C library that compiled code may call, or that LLVM substitutes for its own operations.
LIBRARY = (
    *("acos", "asin", "atan", "atan2", "cos", "cosh", "sin", "sincos", "sinh", "tan", "tanh"),
    *("cbrt", "exp", "exp2", "expm1", "hypot", "ldexp", "log", "log10", "log1p", "log2", "pow", "sqrt"),
    *("ceil", "copysign", "fabs", "floor", "fmod", "nearbyint", "rint", "round", "trunc"),
    *("memcmp", "memcpy", "memmove", "memset"),
)
EXTERNAL = frozenset(MEMORY + LIBRARY)  # all functions that the module may call
# Parts with long loops over numbers, which gain by being vectorised for this CPU. Elsewhere that takes more time than it saves.
VECTORISED = frozenset({"contact_problem", "contact_search", "flight", "held", "rows", "variation"})
BUILDING = "the driver's sources have changed since it was compiled: Numba compiles them, which takes about a minute (make driver keeps it)"


def sources() -> list[Path]:
    """All files that are compiled into the driver."""
    files = sorted(path for room in ("contact", "engine", "sensitivity", "simulation") for path in (PACKAGE / room).glob("**/*.py"))
    return [path for path in files if path.name in ALSO_COMPILED or DECORATED.search(path.read_bytes())]


def stamp() -> str:
    """Hash of the sources: names and contents, independent of line endings."""
    digest = hashlib.sha256()
    for path in sources():
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.relative_to(PACKAGE).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def packed(stamp: str, made_by: str, text: str) -> bytes:
    """The text of the modules in the form of their file."""
    return lzma.compress(f"; sources {stamp}\n; {made_by}\n{text}".encode(), preset=9)


def unpacked(data: bytes, stamp: str) -> str | None:
    """The text of the modules; None if it is damaged or was built from other sources than those of the stamp."""
    try:
        text = lzma.decompress(data).decode()
    except (lzma.LZMAError, EOFError, UnicodeDecodeError):
        return None
    return text if text.startswith(f"; sources {stamp}\n") else None


def module() -> str:
    """The text for the present sources: the one that comes with the package, else from the cache, else newly built."""
    wanted = stamp()
    try:
        text = unpacked(SHIPPED.read_bytes(), wanted)
    except OSError:
        text = None
    if text is not None:
        return text
    key = hashlib.sha256(f"driver {wanted}".encode()).hexdigest()
    text = unpacked(read_cached(key) or b"", wanted)
    if text is None:
        data, text = _build(wanted)
        write_cached(key, data)
    return text


def _build(wanted: str) -> tuple[bytes, str]:
    """Build the module with Numba, in a separate process."""
    if importlib.util.find_spec("numba") is None:
        raise DriverError(
            f"{SHIPPED} is missing, damaged or was made from other sources than those in {PACKAGE}, and Numba, which compiles them, "
            "is not installed; expected the package as it was installed, or in a clone Numba (pip install numba) or make driver"
        )
    warnings.warn(BUILDING, stacklevel=2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / SHIPPED.name
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))}
        command = [sys.executable, "-m", "urdf_gibbs.engine.build_driver", str(path)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        data = path.read_bytes() if path.exists() else b""
    text = unpacked(data, wanted)
    if done.returncode or text is None:
        raise DriverError(f"the driver's sources do not compile:\n{done.stdout.strip()}")
    return data, text


@cache
def address(name: str) -> int:
    """Address of the machine code of an entry."""
    return driver().address(name)


@cache
def driver() -> Driver:
    """The driver of the present sources."""
    return Driver(module())


class Driver:
    """The machine code of the modules of a text, each compiled when a function of it is asked for."""

    def __init__(self, text: str) -> None:
        self._parts = parts_of(text)
        self._homes = {name: number for number, part in enumerate(self._parts) for name in part.defines}
        self._codes: dict[int, Code] = {}

    def load(self) -> None:
        """Compile all modules, or take them from the cache."""
        for number in range(len(self._parts)):
            self._code(number)

    def address(self, name: str) -> int:
        """Address of an entry, or of a function that modules have in common."""
        return self._code(self._homes[name]).address(name)

    def _code(self, number: int) -> Code:
        if number not in self._codes:
            part = self._parts[number]
            symbols = {**_symbols(), **{name: self.address(name) for name in part.needs}}
            self._codes[number] = load_code(part.text, symbols=symbols, portable=True, vectorised=not part.uses.isdisjoint(VECTORISED))
        return self._codes[number]


@cache
def _symbols() -> dict[str, int]:
    """Addresses of the functions that the module calls."""
    symbols = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in MEMORY}
    for name in (None, "libm.so.6", "ucrtbase", "vcruntime140"):
        try:
            library = ctypes.CDLL(name)
        except (OSError, TypeError):  # TypeError: Windows has no library None
            continue
        for one in LIBRARY:
            if one not in symbols and hasattr(library, one):
                symbols[one] = ctypes.cast(library[one], ctypes.c_void_p).value or 0
    return symbols
