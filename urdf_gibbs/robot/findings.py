"""Findings of the URDF checks: one line each, with file, line, element, value and expectation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark on a URDF.

    Attributes:
        severity: "error", "warning" or "note".
        code: What kind of remark it is, in a word.
        file: Path of the URDF or of the xacro that it comes from, "<text>" for XML text.
        line: In the file, from 1; 0 where the source has no lines (a loaded object).
        element: What the remark is about.
        value: What is there.
        expected: What should be there.
    """

    severity: Severity
    code: str
    file: str
    line: int
    element: str
    value: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.element}: found {self.value}, expected {self.expected} [{self.code}]"

    def as_dict(self) -> dict[str, Any]:
        """As plain values, for JSON.

        Returns:
            The attributes by name.
        """
        return asdict(self)


class Place(int):
    """A line of another file than the one that is read: an element of a xacro, which may come from any of the files it includes."""

    file: str

    def __new__(cls, line: int, file: str) -> Place:
        place = super().__new__(cls, line)
        place.file = file
        return place


class Findings:
    """Collects the findings of one source."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.items: list[Finding] = []
        self.mistakes = 0  # number of errors so far

    def error(self, code: str, line: int, element: str, value: object, expected: str) -> None:
        self.mistakes += 1
        self._add("error", code, line, element, value, expected)

    def warning(self, code: str, line: int, element: str, value: object, expected: str) -> None:
        self._add("warning", code, line, element, value, expected)

    def note(self, code: str, line: int, element: str, value: object, expected: str) -> None:
        self._add("note", code, line, element, value, expected)

    @property
    def errors(self) -> list[Finding]:
        return [item for item in self.items if item.severity == "error"]

    def _add(self, severity: Severity, code: str, line: int, element: str, value: object, expected: str) -> None:
        file = line.file if isinstance(line, Place) else self.file
        self.items.append(Finding(severity, code, file, int(line), one_line(element), one_line(value), one_line(expected, 400)))


def one_line(value: object, limit: int = 160) -> str:
    """Text that stays on one line of a terminal, whatever the file held."""
    text = " ".join(str(value).split())
    if not text.isprintable():
        text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return text if len(text) <= limit else text[: limit - 3] + "..."
