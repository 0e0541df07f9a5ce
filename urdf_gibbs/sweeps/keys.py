"""Keys of a scenario by their path in its file, ``walls[0].restitution``: found, and set to another value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.scenario.schema import TOP

PART = re.compile(r"""\s*(?:\[\s*(\d+)\s*\]|\.?\s*(?:"([^"]*)"|'([^']*)'|([^.\[\]"'\s]+)))\s*""")
BY_JOINT = ("start", "start_velocity", "torques")  # tables by the name of a joint
OF_CONTROLLER = ("kp", "kd", "pose")  # the same, in [controller]
FILES = ("file", "package_dirs")  # keys that name files: a sweep has one set of them


def path_of_key(key: str, content: dict[str, Any], robot: Robot) -> Keys:
    """The path of a key in the tables of a scenario's file. A wall or contact point may be named in the place of its number.

    Args:
        key: As the user writes it.
        content: The tables.
        robot: Whose joints and links may be named; names with dots need no quotes.

    Returns:
        Names and numbers; what is at the end need not be in the file.

    Raises:
        ArgumentError: The text is no key, or there is no such entry of a list.
    """
    parts = _parts(key)
    path: list[str | int] = []
    while parts:
        names = _names(path, robot)
        joined = next((k for k in range(len(parts), 0, -1) if ".".join(map(str, parts[:k])) in names), 1)
        part: str | int = ".".join(map(str, parts[:joined])) if joined > 1 else parts[0]
        container = value_at(content, path)
        if container is None and len(path) == 1 and path[0] in (TOP.keys or {}) and isinstance(part, int):
            container = (TOP.keys or {})[str(path[0])].default or None
        if isinstance(container, list | tuple):
            part = _place(key, path, container, part)
        elif isinstance(part, int):
            raise ArgumentError(f"over: {key}: {_told(path)} is no list in the file, expected a key that has an entry [{part}]")
        elif container is not None and not isinstance(container, dict):
            raise ArgumentError(f"over: {key}: {_told(path)} is {container!r} in the file, expected a table that could hold {part!r}")
        path.append(part)
        del parts[:joined]
    if path[-1] in FILES and path[0] in ("robot", "walls"):
        raise ArgumentError(f"over: {key} names files, expected a key of the motion: a sweep has one robot and one ground")
    return tuple(path)


def changed(content: dict[str, Any], path: Sequence[str | int], value: Any) -> dict[str, Any]:
    """The tables with one value changed; what is not on the way to it is shared with ``content``."""
    return _set(content, list(path), list(value) if isinstance(value, tuple) else value, top=True)  # type: ignore[no-any-return]


def value_at(content: Any, path: Sequence[str | int]) -> Any:
    """What is at a path; None where there is nothing."""
    for part in path:
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            return None
    return content


def _set(container: Any, path: list[str | int], value: Any, top: bool = False) -> Any:
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        entries = list(container)
        entries[part] = _set(entries[part], rest, value) if rest else value
        return entries
    table = dict(container or {})
    inner = table.get(part)
    if inner is None and top and rest and isinstance(rest[0], int):
        inner = list((TOP.keys or {})[part].default)
    table[part] = _set(inner, rest, value) if rest else value
    return table


def _parts(key: Any) -> list[str | int]:
    if not isinstance(key, str) or not key.strip():
        raise ArgumentError(f"over: {key!r} is no key, expected one of the scenario, start.q1 for instance")
    parts: list[str | int] = []
    at = 0
    while at < len(key):
        found = PART.match(key, at)
        if found is None or (at == 0 and found[1] is not None) or key[at:].startswith(".") is not bool(at and found[1] is None):
            raise ArgumentError(f"over: {key!r} is no key, expected names with dots, and numbers in brackets: walls[0].restitution")
        number, *names = found.groups()
        parts.append(int(number) if number is not None else next(name for name in names if name is not None))
        at = found.end()
    return parts


def _names(path: Sequence[str | int], robot: Robot) -> set[str]:
    """Names that may stand behind a path, if they are those of joints or links."""
    if len(path) == 1 and path[0] == "links":
        return set(robot.link_names)
    if (len(path) == 1 and path[0] in BY_JOINT) or (len(path) == 2 and path[0] == "controller" and path[1] in OF_CONTROLLER):
        return {*robot.joint_names, *(name for joint in robot.joints if joint.beam is not None for name in joint.named(()))}
    return set()


def _place(key: str, path: Sequence[str | int], entries: Sequence[Any], part: str | int) -> int:
    """The number of an entry of a list, which may be named."""
    if isinstance(part, int) or part.isdigit():
        if int(part) < len(entries):
            return int(part)
        raise ArgumentError(f"over: {key}: {_told(path)} has {len(entries)} entries, expected a number from 0 to {len(entries) - 1}")
    names = [str(entry.get("name", "")) if isinstance(entry, dict) else "" for entry in entries]
    if names.count(part) == 1:
        return names.index(part)
    near = difflib.get_close_matches(part, [name for name in names if name], 1, 0.6)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    listed = ", ".join(repr(name) for name in names if name) or "none has a name"
    raise ArgumentError(f"over: {key}: no entry of {_told(path)} is called {part!r}, expected its number or name ({listed}){hint}")


def _told(path: Sequence[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".") or "the file"
