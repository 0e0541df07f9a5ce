"""What is wrong with a scenario file: a problem is data (file, line, key, value, expectation), and one line of text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.robot.findings import one_line
from urdf_gibbs.simulation.scenario.lines import Path as Keys

LISTED = 20  # names in an expectation
LISTED_ENTRIES = 10  # of a list in a value
BITS = 200  # an integer with more is not shown in full


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a scenario file. ``line`` 0: the file as a whole; ``expected`` may be empty."""

    file: str
    line: int
    key: str
    value: str
    expected: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: {self.key}: {self.value}"
        return f"{where}, expected {self.expected}" if self.expected else where


class ScenarioError(UrdfGibbsError, ValueError):
    """A scenario file that cannot be used; ``problems`` holds everything found, in the order of the lines."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def dotted(path: Keys) -> str:
    """("walls", 0, "radius") -> walls[0].radius"""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key or '""'
    return one_line(text)


def one_of(value: Any, known: Iterable[str], what: str = "one of ") -> str:
    """The known names, and a suggestion."""
    known = tuple(known)
    near = difflib.get_close_matches(value, known, 1, 0.6) if isinstance(value, str) else []
    listed = ", ".join(known[:LISTED]) + (", ..." if len(known) > LISTED else "")
    return f"{what}{listed or 'none'}" + (f'; did you mean "{near[0]}"?' if near else "")


def shown(value: Any, depth: int = 0) -> str:
    """A TOML value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{one_line(value)}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        if depth > 2:
            return "[...]"
        listed = ", ".join(shown(entry, depth + 1) for entry in value[:LISTED_ENTRIES])
        return f"[{listed}{', ...' if len(value) > LISTED_ENTRIES else ''}]"
    if isinstance(value, int) and value.bit_length() > BITS:
        return f"an integer of {value.bit_length()} bits"
    return str(value)
