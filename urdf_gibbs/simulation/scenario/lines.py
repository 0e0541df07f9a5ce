"""The line of each key of a TOML text; ``tomllib`` reads the values but does not keep the lines.

``tomllib`` has already accepted the text, so the scanner only has to tell tables, keys and values apart.
"""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")  # also between the entries of an array
BLANK_IN_LINE = re.compile(r"[ \t]*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
SCALAR = re.compile(r"[^,\]}\n#]*")
QUOTED = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")'  # a closing run may hold up to two quotes of the text
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.S,
)


def key_lines(text: str) -> dict[Path, int]:
    """Path of each key, table and array entry -> its line, counted from 1. Array entries are numbered: ("walls", 0, "radius")."""
    return _Scanner(text).lines


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of a path, or of what encloses it where it is not written; 1 for the whole file."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[Path, int] = {}
        self.entries: dict[Path, int] = {}  # how many tables an array of tables has so far
        self.counted = (0, 1)  # the last position and its line
        self.document()

    def document(self) -> None:
        table: Path = ()
        self.skip(BLANK)
        while self.position < len(self.text):
            if self.take("[["):
                table = self.header(is_array=True)
            elif self.take("["):
                table = self.header(is_array=False)
            else:
                self.pair(table)
            self.skip(BLANK)

    def header(self, is_array: bool) -> Path:
        """The path of ``[a.b]`` or ``[[a.b]]``: a name on the way that is an array of tables stands for its last table."""
        line = self.line()
        keys = self.keys()
        self.position += 2 if is_array else 1
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            self.lines.setdefault(path, line)
            is_last = number == len(keys) - 1
            if is_last and is_array:
                self.entries[path] = self.entries.get(path, 0) + 1
            if path in self.entries:
                path = (*path, self.entries[path] - 1)
        self.lines[path] = line
        return path

    def pair(self, table: Path) -> None:
        """``key = value`` below ``table``."""
        line = self.line()
        for key in self.keys():
            table = (*table, key)
            self.lines.setdefault(table, line)
        self.take("=")
        self.value(table)

    def keys(self) -> list[str]:
        """A dotted key; the cursor ends behind it and its blanks."""
        keys = []
        while True:
            self.skip(BLANK_IN_LINE)
            quoted = QUOTED.match(self.text, self.position)
            bare = BARE_KEY.match(self.text, self.position)
            if quoted:
                keys.append(tomllib.loads(f"key = {quoted[0]}")["key"])
                self.position = quoted.end()
            elif bare:
                keys.append(bare[0])
                self.position = bare.end()
            else:
                raise ValueError(f"no key at line {self.line()}")
            self.skip(BLANK_IN_LINE)
            if not self.take("."):
                return keys

    def value(self, path: Path) -> None:
        self.skip(BLANK_IN_LINE)
        if self.take("["):
            self.skip(BLANK)
            number = 0
            while not self.take("]"):
                self.lines[(*path, number)] = self.line()
                self.value((*path, number))
                number += 1
                self.separator()
        elif self.take("{"):
            self.skip(BLANK)
            while not self.take("}"):
                self.pair(path)
                self.separator()
        elif quoted := QUOTED.match(self.text, self.position):
            self.position = quoted.end()
        else:
            self.skip(SCALAR)

    def separator(self) -> None:
        self.skip(BLANK)
        self.take(",")
        self.skip(BLANK)
        if self.position == len(self.text):
            raise ValueError("the text ends inside a value")

    def skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def take(self, token: str) -> bool:
        if self.text.startswith(token, self.position):
            self.position += len(token)
            return True
        return False

    def line(self) -> int:
        position, line = self.counted
        self.counted = (self.position, line + self.text.count("\n", position, self.position))
        return self.counted[1]
