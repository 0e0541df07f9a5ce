"""The driver of a changed tree, quickly: only the entries that can reach a changed function are compiled again.

    python validation/mutant_driver.py FOLDER keep               compile all entries and keep the text of each in the folder
    python validation/mutant_driver.py FOLDER build NAME ...     driver.ll.xz of the tree, with the functions of these names changed

NAME is ``module.function``, or * for everything. What is compiled for an entry depends on the functions that it calls, and on what they
call, but not on other entries, which are called by their address or name. So the texts of all others can be used as they were kept: each
is optimised alone, and they are only put together. They are kept by the stamp of the sources, for later runs as well. The entries that
are concerned are also written as a module of their own: tests take the machine code of all others from the driver without the error.
"""

from __future__ import annotations

import importlib
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import own_tree  # noqa: F401

from urdf_gibbs.engine import build_driver, driver_code, driver_parts, jit

PART = "mutant_part.json"  # beside this file: the entries that are concerned, for mutant_profile.py

for source in driver_code.sources():  # their decorators register all functions
    if source.name != "numba_types.py":  # which imports Numba
        name = ".".join(("urdf_gibbs", *source.relative_to(driver_code.PACKAGE).with_suffix("").parts))
        importlib.import_module(name.removesuffix(".__init__"))


def called(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """The functions, of those that become part of their callers, that a function names."""
    parts = {noted.function for noted in jit.functions}
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        homes = [getattr(value, other, None) for other in names] if isinstance(value, ModuleType) else [value]
        yield from (one for one in homes if callable(one) and not isinstance(one, jit.Entry) and one in parts)


def reached(entry: jit.Entry) -> set[str]:
    """``module.function`` of all that is compiled into an entry."""
    return {f"{function.__module__}.{function.__name__}" for function in _compiled_into(entry)}


def _compiled_into(entry: jit.Entry) -> list[Callable[..., Any]]:
    found: list[Callable[..., Any]] = []
    waiting: list[Callable[..., Any]] = [entry.function]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found.append(function)
            waiting += called(function)
    return found


def linked_to(entry: jit.Entry) -> set[str]:
    """The other entries that an entry calls by their names, not by their addresses in ``blocks``."""
    found = set()
    for function in _compiled_into(entry):
        values = [function.__globals__.get(name) for name in function.__code__.co_names]
        values += [
            getattr(module, name, None) for module in values if isinstance(module, ModuleType) for name in function.__code__.co_names
        ]
        found |= {value.name for value in values if isinstance(value, jit.Entry) and value.number is None}
    return found


def concerned(changed: list[str]) -> list[str]:
    """Entries that have changed, that call such by name, again and again, and all that these call by name: a module of its own."""
    links = {name: linked_to(entry) for name, entry in jit.entries.items()}
    found, before = set(changed), -1
    while len(found) > before:
        before = len(found)
        found |= {name for name, others in links.items() if others & found}
    before = -1
    while len(found) > before:
        before = len(found)
        found |= {other for name in found for other in links[name]}
    return [name for name in jit.entries if name in found]


def compiled(names: list[str]) -> list[str]:
    """The modules of these entries, as Numba leaves them."""
    with only(names):
        return build_driver.compile_entries()


@contextmanager
def only(names: list[str]) -> Iterator[None]:
    """As if there were no other entries."""
    build_driver.jit = SimpleNamespace(  # type: ignore[assignment]
        entries={name: jit.entries[name] for name in names}, OUT_OF_MEMORY=jit.OUT_OF_MEMORY
    )
    try:
        yield
    finally:
        build_driver.jit = jit


def optimised(names: list[str], texts: list[str]) -> str:
    """The modules of these entries as one, optimised."""
    with only(names):
        return build_driver.link(texts)


def together(texts: list[str]) -> str:
    """One module of modules that are optimised: their own functions are internal, and get other names where those are taken."""
    import llvmlite.binding as llvm

    context = llvm.create_context()
    first, *others = (llvm.parse_assembly(text, context) for text in texts)
    for module in others:
        first.link_in(module)
    return str(first)


def portable(names: list[str], texts: list[str]) -> str:
    """Optimised modules of these entries in parts for driver_code."""
    with only(names):
        one = build_driver.without_attributes(build_driver.shorten_names(build_driver.without_target(together(texts))))
        return driver_parts.split(build_driver.check(one), {name: jit.entries[name].part for name in names})


def keep(folder: Path) -> None:
    """The texts of all entries, each optimised alone, written to the folder, unless they are there."""
    if folder.exists():
        return
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    for name, text in zip(jit.entries, compiled(list(jit.entries)), strict=True):
        (unfinished / f"{name}.ll").write_text(optimised([name], [text]))
    unfinished.rename(folder)


def main(folder: Path, task: str, changed: list[str]) -> None:
    if task == "keep":
        keep(folder)
        return
    everything = changed == ["*"]
    again = [name for name, entry in jit.entries.items() if everything or not reached(entry).isdisjoint(changed)]
    new = [optimised(again, compiled(again))] if again else []  # together, as they have much in common
    kept = {name: (folder / f"{name}.ll").read_text() for name in jit.entries if name not in again}
    head = f"; sources {driver_code.stamp()}\n; with an error planted\n"
    text = portable(list(jit.entries), [*new, *kept.values()])
    driver_code.SHIPPED.write_bytes(lzma.compress((head + text).encode(), preset=0))
    chosen = concerned(again)
    part = portable(chosen, [*new, *(kept[name] for name in chosen if name not in again)]) if chosen else ""
    (Path(__file__).parent / PART).write_text(json.dumps({"entries": chosen, "text": part}))
    print(f"compiled again: {', '.join(again) or 'nothing'}")


if __name__ == "__main__":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | build_driver.ENVIRONMENT
    if environment != dict(os.environ):
        raise SystemExit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
