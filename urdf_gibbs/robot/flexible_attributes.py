"""Reads the attributes of one ``<flexible>`` element and reports everything that is wrong with them."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass

import numpy as np

from urdf_gibbs.flexible.beam import Array
from urdf_gibbs.flexible.build import DIRECTIONS, STIFFNESS, TABLE, THEORIES
from urdf_gibbs.flexible.modes import FAMILIES, MOST
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import Vec3
from urdf_gibbs.robot.urdf import Reader
from urdf_gibbs.robot.xml import Element

POSITIVE = ("length", "mass_per_length", "EI_y", "EI_z", "EA", "GJ", "kGA")
ATTRIBUTES = (
    *("link", "direction", "J", "modes", "theory", "damping", "foreshortening", "elastic_rotary", "table", "override"),
    *POSITIVE,
)  # fmt: skip
UNIT_SLACK = 1e-4  # a unit vector printed with four digits is accepted silently
MONOMIALS = 8  # with more powers of eta the mass matrix is too ill-conditioned
ROWS, LEAST_ROWS, FILE_SIZE = 2000, 5, 4_000_000  # of a table
PATTERN = re.compile(r"(?:(?P<direction>[^=:\s]+)=)?(?P<family>[^=:\s]+):(?P<count>[^=:\s]+)")
TRUTH = {"true": True, "1": True, "false": False, "0": False}

Modes = tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Flexible:
    """A ``<flexible>`` element by itself: None where it leaves something to the link and its joints."""

    link: str
    numbers: dict[str, float]  # of POSITIVE, those that are given
    direction: Vec3 | None
    rotary: Vec3 | None
    modes: Modes
    theory: str
    damping: tuple[float, ...]
    foreshortening: bool
    elastic_rotary: bool
    tables: dict[str, tuple[Array, ...]]
    line: int

    @property
    def what(self) -> str:
        return f'<flexible link="{self.link}">'


class Attributes:
    """Reads one <flexible>; problems go to the findings."""

    def __init__(self, element: Element, findings: Findings) -> None:
        self.element, self.findings, self.given = element, findings, element.attributes
        self.reader = Reader(findings, {})
        self.link = self.given.get("link", "")
        self.what = f'link "{self.link}"'

    def error(self, code: str, value: str, expected: str) -> None:
        self.findings.error(code, self.element.line, f'<flexible link="{self.link}">', value, expected)

    def read(self) -> Flexible | None:
        before = len(self.findings.errors)
        for name in self.given:
            if name not in ATTRIBUTES:
                self.findings.warning(
                    "unknown-attribute", self.element.line, f'<flexible link="{self.link}">', name, f"one of {', '.join(ATTRIBUTES)}"
                )
        if not self.link:
            self.findings.error("missing", self.element.line, "<flexible>", "no link", 'link="the name of a link"')
            self.what = "<flexible>"
        numbers = {name: self.positive(name) for name in POSITIVE if name in self.given}
        direction, rotary = self.direction(), self.rotary()
        theory = self.theory()
        foreshortening, elastic_rotary = self.flag("foreshortening"), self.flag("elastic_rotary")
        self.flag("override")
        if elastic_rotary and "J" not in self.given:
            self.error("missing", "elastic_rotary without J", "J=\"J'x J'y J'z\" [kg m], the inertia of the sections")
        modes = self.modes()
        tables = self.tables(modes)
        damping = self.damping()
        if len(self.findings.errors) > before:
            return None
        return Flexible(
            self.link, numbers, direction, rotary, modes, theory, damping, foreshortening, elastic_rotary, tables, self.element.line
        )

    # numbers ------------------------------------------------------------------------------------

    def positive(self, name: str) -> float:
        before = len(self.findings.errors)
        value = self.reader.number(self.element, self.what, name)
        if len(self.findings.errors) == before and not value > 0.0:
            self.error("not-positive", f'{name}="{self.given[name]}"', "a positive number")
        return value

    def numbers(self, name: str, counts: tuple[int, ...], expected: str) -> tuple[float, ...] | None:
        """So many finite numbers of zero or more, separated by blanks; None where there are none."""
        text = self.given.get(name)
        if text is None:
            return None
        try:
            values = tuple(map(float, text.split()))
        except ValueError:
            values = ()
        if len(values) not in counts or "_" in text or not all(math.isfinite(value) for value in values):
            self.error("bad-number", f'{name}="{text}"', expected)
            return None
        if min(values) < 0.0:
            self.error("negative", f'{name}="{text}"', expected)
            return None
        return values

    def rotary(self) -> Vec3 | None:
        values = self.numbers("J", (3,), "three numbers of zero or more: J'x J'y J'z [kg m]")
        return None if values is None else (values[0], values[1], values[2])

    def damping(self) -> tuple[float, ...]:
        expected = "one number of zero or more (the damping ratio of every mode), or two (alpha and beta of alpha M + beta K)"
        return self.numbers("damping", (1, 2), expected) or ()

    def direction(self) -> Vec3 | None:
        if "direction" not in self.given:
            return None
        x, y, z = self.reader.vector(self.element, self.what, "direction", (1.0, 0.0, 0.0))
        norm = math.hypot(x, y, z)
        if abs(norm - 1.0) > UNIT_SLACK:
            self.error("direction-length", f'direction="{self.given["direction"]}", length {norm:.6g}', "a unit vector in the link's frame")
            return None
        return x / norm, y / norm, z / norm

    # words --------------------------------------------------------------------------------------

    def flag(self, name: str) -> bool:
        text = self.given.get(name, "false")
        if text not in TRUTH:
            self.error("bad-flag", f'{name}="{text}"', "true or false")
        return TRUTH.get(text, False)

    def theory(self) -> str:
        theory = self.given.get("theory", THEORIES[0])
        if theory not in THEORIES:
            self.error("beam-theory", f'theory="{theory}"', " or ".join(THEORIES))
        elif theory == "timoshenko" and "kGA" not in self.given:
            self.error("missing", "a Timoshenko beam without kGA", 'kGA="the shear stiffness" [N]')
        elif theory != "timoshenko" and "kGA" in self.given:
            self.findings.warning(
                "unused", self.element.line, f'<flexible link="{self.link}">', "kGA", 'theory="timoshenko"; kGA is not used'
            )
        return theory

    def modes(self) -> Modes:
        text = self.given.get("modes", "")
        if not text.split():
            self.error("missing", "no modes", 'modes="clamped-free:2", or "y=clamped-free:2 torsion=clamped-free:1"')
            return ()
        named: dict[str, tuple[str, int]] = {}
        plain: tuple[str, int] | None = None
        for token in text.split():
            match = PATTERN.fullmatch(token)
            if match is None:
                self.error(
                    "modes", f'modes="{text}", where "{token}"', 'FAMILY:COUNT or DIRECTION=FAMILY:COUNT, such as "y=clamped-free:2"'
                )
                continue
            direction, family = match["direction"], match["family"]
            kind = (family, self.count(match["count"], token))
            if family not in (*FAMILIES, TABLE):
                self.error("mode-family", f'"{family}" in modes="{text}"', f"one of {', '.join((*FAMILIES, TABLE))}")
            elif family == "polynomial" and kind[1] > MONOMIALS:
                self.findings.warning(
                    "modes",
                    self.element.line,
                    f'<flexible link="{self.link}">',
                    token,
                    f"at most {MONOMIALS} polynomials: with more the mass matrix is nearly singular",
                )
            if direction is None and plain is None:
                plain = kind
            elif direction is None or direction in named:
                self.error("modes", f'modes="{text}", where "{token}" is a second one', "at most one for each direction")
            elif direction not in DIRECTIONS:
                self.error("modes", f'modes="{text}", where "{token}"', f"a direction of {', '.join(DIRECTIONS)}")
            else:
                named[direction] = kind
                if STIFFNESS[direction] not in self.given:
                    self.error(
                        "no-stiffness", f"modes in direction {direction} without {STIFFNESS[direction]}", f'{STIFFNESS[direction]}="..."'
                    )
        if plain is not None:
            planes = [direction for direction in ("y", "z") if STIFFNESS[direction] in self.given and direction not in named]
            if not planes:
                self.error("no-stiffness", f'modes="{text}" without EI_y or EI_z', 'EI_z="..." for bending along y, EI_y="..." along z')
            named.update(dict.fromkeys(planes, plain))
        return tuple((direction, *named[direction]) for direction in DIRECTIONS if direction in named)

    def count(self, text: str, token: str) -> int:
        if text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= MOST:
            return int(text)
        self.error("mode-count", f'"{token}"', f"a number of modes from 1 to {MOST}")
        return 1

    # tables -------------------------------------------------------------------------------------

    def tables(self, modes: Modes) -> dict[str, tuple[Array, ...]]:
        """FILE;FILE... for all directions of the family "table", or DIRECTION=FILE;..., one file for each mode in their order."""
        wanted = {direction: count for direction, family, count in modes if family == TABLE}
        text = self.given.get("table")
        if text is None:
            if wanted:
                self.error("missing", "modes of the family table without table", 'table="FILE"')
            return {}
        files: dict[str, list[str]] = {direction: [] for direction in wanted}
        for entry in filter(None, (part.strip() for part in text.split(";"))):
            direction, equals, name = entry.partition("=")
            chosen = [direction.strip()] if equals and direction.strip() in DIRECTIONS else list(wanted)
            for one in chosen:
                files.setdefault(one, []).append(name.strip() if equals and direction.strip() in DIRECTIONS else entry)
        result: dict[str, tuple[Array, ...]] = {}
        for direction, names in files.items():
            if len(names) != wanted.get(direction, 0):
                self.error(
                    "table", f"{len(names)} files for {wanted.get(direction, 0)} modes of direction {direction}", "one file for each mode"
                )
                continue
            read = [self.table(name) for name in names]
            result[direction] = tuple(table for table in read if table is not None)
        if not wanted:
            self.error("table", f'table="{text}" without modes of that family', 'modes="y=table:1"')
        return result

    def table(self, name: str) -> Array | None:
        """eta, value and perhaps slope; a first line of words and lines that start with # are skipped."""
        folder = os.path.dirname(self.findings.file) if not self.findings.file.startswith("<") else ""
        path = os.path.join(folder, name)
        try:
            if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe would block
                raise OSError(None, "not a file")
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(FILE_SIZE + 1)
        except (OSError, ValueError) as problem:
            self.error("unreadable", f'table="{name}": {getattr(problem, "strerror", None) or problem}', "a readable file")
            return None
        rows: list[list[float]] = []
        begun = False
        for number, line in enumerate(text.splitlines(), 1):
            words = line.replace(",", " ").replace(";", " ").split()
            if not words or words[0].startswith("#"):
                continue
            try:
                row = [] if "," in line and ";" in line else [float(word) for word in words]  # 0;0,5 may be two numbers or three
            except ValueError:
                row = []
            first, begun = not begun, True
            if not row and first:
                continue  # the names of the columns
            if len(row) not in (2, 3) or (rows and len(row) != len(rows[0])) or not all(map(math.isfinite, row)):
                # Without the line itself: a URDF from somebody else may name any file as its table.
                self.error("table", f"{name}:{number}: another line", "eta, value and perhaps slope: finite numbers, as many in every row")
                return None
            rows.append(row)
        if len(text) > FILE_SIZE or not LEAST_ROWS <= len(rows) <= ROWS:
            self.error("table", f"{name}: {len(rows)} rows", f"{LEAST_ROWS} to {ROWS} rows")
            return None
        table = np.array(rows)
        size = float(np.abs(table[:, 1]).max())
        if table[0, 0] != 0.0 or not (np.diff(table[:, 0]) > 0.0).all():
            self.error("table", f"{name}: eta from {table[0, 0]:g}, not ascending from 0", "eta that ascends from 0 to the length")
        elif size == 0.0:
            self.error("table", f"{name}: all values zero", "a shape")
        elif abs(table[0, 1]) > 1e-9 * size:
            self.error("table", f"{name}: {table[0, 1]:g} at the root", "zero there: the root sits in the link's frame")
        else:
            table.flags.writeable = False
            return table
        return None
