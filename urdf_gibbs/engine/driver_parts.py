"""The driver's module in parts, each a module of its own: a simulation takes only those that it needs, as compiling takes time.

Entries say what they are for (``part`` of jit.entry and jit.block). A function goes with all others that are reached from entries of the
same parts: what only friction needs into one module, what friction and time stepping need into another, and so on. So no function is
compiled twice, and a module calls only functions of modules that are needed wherever it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

# The first line of each module, and the names that it gives to others and takes from others.
HEAD = re.compile(r"^; part (.*)\n; defines (.*)\n; needs (.*)\n", re.MULTILINE)
FUNCTION = re.compile(r"^define .*?@([\w.$]+)\(.*?^}\n", re.MULTILINE | re.DOTALL)
DEFINED = re.compile(r"^@([\w.$]+) = .*|^(![\w.]+) = .*|^declare .*?@([\w.$]+)\(.*", re.MULTILINE)  # constants, metadata, what is outside
NAME = re.compile(r"(?<=@)[\w.$]+|!\d+")


class Part(NamedTuple):
    """One module: what it is for, the functions that others may call, those of other modules that it calls, and its text."""

    uses: frozenset[str]
    defines: tuple[str, ...]
    needs: tuple[str, ...]
    text: str


def split(text: str, entries: Mapping[str, str]) -> str:
    """The text of a module as that of several. ``entries``: what each entry is for, by its name."""
    functions = {match[1]: match[0] for match in FUNCTION.finditer(text)}
    others = {next(filter(None, match.groups())): match[0] for match in DEFINED.finditer(FUNCTION.sub("", text))}
    called = {name: set(NAME.findall(body)) - {name} for name, body in {**others, **functions}.items()}
    inside_entries = {entry: reached([entry], called) for entry in entries}
    uses = {name: frozenset(part for entry, part in entries.items() if name in inside_entries[entry]) for name in functions}
    homes: dict[frozenset[str], list[str]] = {}
    for name in functions:
        homes.setdefault(uses[name], []).append(name)
    shared = {other for name in functions for other in called[name] & functions.keys() if uses[other] != uses[name]}
    parts = []
    for part, own in homes.items():
        # Not through functions of other parts, which are only declared.
        inside = reached(own, {name: called[name] for name in (*own, *others)})
        needs = [name for name in functions if name in inside and name not in own]
        lines = [f"; part {' '.join(sorted(part))}"]
        lines.append(f"; defines {' '.join(name for name in own if name in shared or name in entries)}")
        lines.append(f"; needs {' '.join(needs)}")
        lines += [body for name, body in others.items() if name in inside and not name.startswith("!")]
        lines += [_declaration(functions[name]) for name in needs]
        lines += [functions[name].replace("define internal ", "define ", 1) if name in shared else functions[name] for name in own]
        lines += [body for name, body in others.items() if name in inside and name.startswith("!")]
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def reached(names: Iterable[str], called: Mapping[str, set[str]]) -> set[str]:
    """These names, and all that they call directly or indirectly."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += called.get(name, ())
    return found


def _declaration(function: str) -> str:
    """That a function is defined in another module."""
    head = function.split("\n", 1)[0].removesuffix(" {")
    return re.sub(r" (unnamed_addr|nounwind)\b", "", re.sub(r"^define (internal )?", "declare ", head))


def parts_of(text: str) -> list[Part]:
    """The modules of a text that ``split`` has made."""
    heads = list(HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        Part(frozenset(head[1].split()), tuple(head[2].split()), tuple(head[3].split()), text[head.end() : end])
        for head, end in zip(heads, ends, strict=True)
    ]
