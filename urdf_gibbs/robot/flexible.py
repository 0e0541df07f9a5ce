"""Elastic links in a URDF: ``<urdf_gibbs><flexible link="..." .../></urdf_gibbs>`` below ``<robot>``, which other tools ignore.

The beam's root is the origin of the link's frame, its x points along ``direction`` (towards the farthest child joint unless given), and
its y and z are the link's, turned with x by the smallest rotation that takes the link's x there. Child joints sit at the root or at the
tip. The beam replaces the link's <inertial>. A second element for a link must say ``override="true"``: it then keeps the attributes of
the first that it does not give itself.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.beam import Array
from urdf_gibbs.flexible.build import DIRECTIONS, STIFFNESS, TABLE, THEORIES, Specification, make_beam
from urdf_gibbs.flexible.modes import FAMILIES, MOST, TIP
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import Vec3
from urdf_gibbs.robot.urdf import Link, Urdf, UrdfJoint, _Reader
from urdf_gibbs.robot.xml import Element

ELEMENT = "urdf_gibbs"
POSITIVE = ("length", "mass_per_length", "EI_y", "EI_z", "EA", "GJ", "kGA")
ATTRIBUTES = (
    *("link", "direction", "J", "modes", "theory", "damping", "foreshortening", "elastic_rotary", "table", "override"),
    *POSITIVE,
)  # fmt: skip
MASS_SLACK = 1e-6  # relative: files carry about six digits
ROD_SLACK = 0.05  # of the length, of an even rod's inertia: so far a link's own <inertial> may be off without a word
UNIT_SLACK = 1e-4  # four printed digits of a unit vector are no news
MONOMIALS = 8  # more powers of eta make a mass matrix whose condition eats the digits
ROWS, LEAST_ROWS, FILE_SIZE = 2000, 5, 4_000_000  # of a table
PATTERN = re.compile(r"(?:(?P<direction>[^=:\s]+)=)?(?P<family>[^=:\s]+):(?P<count>[^=:\s]+)")
BOM = b"\xef\xbb\xbf"
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


# the elements by themselves -------------------------------------------------------------------


def read_flexible(root: Element, findings: Findings) -> list[Flexible]:
    """All <flexible> elements of a <robot>; those with errors are left out, the errors are in ``findings``."""
    found = (_Attributes(element, findings).read() for element in _elements(root, findings))
    return [one for one in found if one is not None]


def _elements(root: Element, findings: Findings) -> list[Element]:
    """One element for each link, those that override merged into the first."""
    found: list[Element] = []
    first: dict[str, int] = {}  # link -> its place in ``found``
    for holder in root.all(ELEMENT):
        for element in holder.children:
            if element.tag != "flexible":
                findings.warning("unknown-element", element.line, f"<{ELEMENT}>", f"<{element.tag}>", "<flexible>; it is ignored")
                continue
            name = element.attributes.get("link", "")
            if name not in first or not name:
                first[name] = len(found)
                found.append(element)
            elif TRUTH.get(element.attributes.get("override", ""), False):
                found[first[name]] = Element("flexible", found[first[name]].attributes | element.attributes, element.line)
            else:
                findings.error(
                    "duplicate",
                    element.line,
                    f'<flexible link="{name}">',
                    f"a second one, the first is at line {found[first[name]].line}",
                    'one <flexible> for each link, or override="true"',
                )
    return found


def checked_entry(urdf: Urdf, root: Element, attributes: Mapping[str, str], findings: Findings, line: int) -> None:
    """Report what is wrong with a <flexible> of these attributes that comes after those of the file; ``line`` is where it stands."""
    own = {element.attributes.get("link", ""): element.attributes for element in _elements(root, Findings(""))}
    element = Element("flexible", {**own.get(attributes["link"], {}), **attributes}, line)
    one = _Attributes(element, findings).read()
    if one is not None:
        check_flexible(replace(urdf, findings=findings), [one])


def with_elements(text: str | bytes, entries: Iterable[Mapping[str, str]]) -> str:
    """XML that ``xml.parse`` accepts, with a <flexible> for each entry before </robot>, on its line: no other line moves."""
    data = (_decoded(text) if isinstance(text, bytes) else text).encode("utf-8", "surrogatepass")
    blank = len(data) - len(data.removeprefix(BOM).lstrip(b" \t\r\n"))
    parser = expat.ParserCreate("utf-8")
    place = 0

    def ended(tag: str) -> None:
        nonlocal place
        place = blank + parser.CurrentByteIndex  # that of the root comes last

    parser.EndElementHandler = ended
    parser.Parse(data[blank:], True)
    added = "".join(
        f'<flexible{"".join(f" {key}={quoteattr(value)}" for key, value in entry.items())} override="true"/>' for entry in entries
    )
    inserted = f"<{ELEMENT}>{added}</{ELEMENT}>".encode("utf-8", "surrogatepass")
    return (data[:place] + inserted + data[place:]).decode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    if b"\0" in data[:2]:
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le")
    declared = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([A-Za-z0-9._-]+)", data.removeprefix(BOM))
    return data.removeprefix(BOM).decode(declared[1].decode() if declared else "utf-8")


class _Attributes:
    """Reads one <flexible>; every complaint goes to the findings."""

    def __init__(self, element: Element, findings: Findings) -> None:
        self.element, self.findings, self.given = element, findings, element.attributes
        self.reader = _Reader(findings, {})
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
            if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
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


# against links and joints ---------------------------------------------------------------------


def check_flexible(urdf: Urdf, elements: list[Flexible]) -> dict[str, Specification]:
    """Elastic links by name, with what the links and joints say filled in; those with errors are left out."""
    findings = urdf.findings
    links = {link.name: link for link in reversed(urdf.links)}
    result: dict[str, Specification] = {}
    taken = {f'link "{link.name}"': link.line for link in urdf.links} | {f'joint "{joint.name}"': joint.line for joint in urdf.joints}
    below: dict[str, list[UrdfJoint]] = {}
    for joint in urdf.joints:
        below.setdefault(joint.parent, []).append(joint)
    held = {joint.child for joint in urdf.joints}
    for one in elements:
        before = findings.mistakes
        for own in (f'link "{one.link}.tip"', f'joint "{one.link}.elastic"'):
            if own in taken:
                findings.error("duplicate", taken[own], own, "the name that an elastic link gives to its own", f"another name ({one.what})")
        link = links.get(one.link)
        if link is None:
            findings.error("unknown-link", one.line, one.what, f'link="{one.link}"', "the name of a link in this file")
            continue
        children = below.get(one.link, [])
        specification = _specification(one, link, children, findings)
        if specification is None:
            continue
        _check_places(specification, one, children, one.link in held, findings)
        _check_mass(specification, one, link, findings)
        _check_torsion(specification, one, children, findings)
        if findings.mistakes == before:
            try:
                make_beam(specification, np.zeros(3), specification.frame)
            except ArgumentError as problem:
                findings.error("flexible", one.line, one.what, str(problem), "a beam that can be computed")
                continue
            result[one.link] = specification
    return result


def _specification(one: Flexible, link: Link, children: list[UrdfJoint], findings: Findings) -> Specification | None:
    farthest = max((joint.pose[1] for joint in children), key=lambda place: math.hypot(*place), default=(0.0, 0.0, 0.0))
    reach = math.hypot(*farthest)
    length = one.numbers.get("length", reach)
    if length == 0.0:
        findings.error("missing", one.line, one.what, "no length, and no child joint away from the link's origin", 'length="..." [m]')
        return None
    for axis, tables in one.tables.items():
        for table in tables:
            if abs(table[-1, 0] - length) > 1e-6 * length:
                findings.error(
                    "table", one.line, one.what, f"a table of direction {axis} up to eta = {table[-1, 0]:g}", f"the length {length:g}"
                )
                return None
    density = one.numbers.get("mass_per_length")
    if density is None:
        if link.inertial is None or not link.inertial.mass > 0.0:
            findings.error("missing", one.line, one.what, "no mass_per_length, and no mass of the link", 'mass_per_length="..." [kg/m]')
            return None
        density = link.inertial.mass / length
    x, y, z = farthest
    direction = one.direction or ((x / reach, y / reach, z / reach) if reach > 1e-9 * length else (1.0, 0.0, 0.0))
    return Specification(
        link=one.link,
        length=length,
        mass_per_length=density,
        EI_y=one.numbers.get("EI_y"),
        EI_z=one.numbers.get("EI_z"),
        EA=one.numbers.get("EA"),
        GJ=one.numbers.get("GJ"),
        rotary=one.rotary,
        modes=one.modes,
        theory=one.theory,
        kGA=one.numbers.get("kGA"),
        damping=one.damping,
        foreshortening=one.foreshortening,
        elastic_rotary=one.elastic_rotary,
        direction=direction,
        tables=one.tables,
        line=one.line,
        file=findings.file,
    )


def _check_places(spec: Specification, one: Flexible, children: list[UrdfJoint], is_child: bool, findings: Findings) -> None:
    tip = " ".join(f"{spec.length * d:.9g}" for d in spec.direction)
    at_root = is_child
    for joint in children:
        place = joint.pose[1]
        if spec.holds_at_root(place):
            at_root = True
        elif not spec.holds_at_tip(place):
            findings.error(
                "not-at-tip",
                joint.line,
                f'joint "{joint.name}" on the elastic link "{spec.link}"',
                f"origin {' '.join(f'{x:.9g}' for x in place)}",
                f"the beam's root 0 0 0 or its tip {tip} (<flexible> at line {one.line})",
            )
    loose = [direction for direction, family, _ in spec.modes if family == "free-free"]
    if loose and at_root:
        findings.warning(
            "free-root",
            one.line,
            one.what,
            f"free-free modes ({', '.join(loose)}) on a link that a joint holds at its root",
            "a root that rests in the link's frame, such as clamped-free",
        )


def _check_mass(spec: Specification, one: Flexible, link: Link, findings: Findings) -> None:
    if link.inertial is not None and abs(link.inertial.mass - spec.mass) > MASS_SLACK * spec.mass:
        findings.warning(
            "beam-mass",
            one.line,
            one.what,
            f"mass_per_length times length {spec.mass:.9g} kg, <inertial> {link.inertial.mass:.9g} kg",
            "the same mass; the beam's is used",
        )
        return
    if link.inertial is None:
        return
    x, rest = np.array(spec.direction), spec.mass * spec.length**2 / 12.0
    rod = spec.frame @ np.diag(np.array([0.0, rest, rest]) + spec.length * np.array(spec.rotary or (0.0, 0.0, 0.0))) @ spec.frame.T
    given = np.reshape(link.inertial.inertia, (3, 3))
    com = float(np.linalg.norm(np.array(link.inertial.com) - 0.5 * spec.length * x)) / spec.length
    across = float(np.abs(given - rod).max()) / rest
    about, own = float(x @ given @ x), float(x @ rod @ x)  # about the beam's axis, where a slender beam has little
    if com > ROD_SLACK or across > ROD_SLACK or abs(about - own) > max(ROD_SLACK * max(about, own), 1e-4 * rest):
        middle = " ".join(f"{c:.6g}" for c in link.inertial.com)
        findings.warning(
            "beam-inertia",
            one.line,
            one.what,
            f"<inertial> at {middle}, with {about:.6g} kg m^2 about the beam's axis where the beam has {own:.6g}",
            "that of an even rod (with J for its axis); the beam's is used",
        )


def _check_torsion(spec: Specification, one: Flexible, children: list[UrdfJoint], findings: Findings) -> None:
    """Torsion that meets no inertia has no equation of motion."""
    for direction, family, count in spec.modes:
        if direction != "torsion" or (spec.elastic_rotary and spec.rotary is not None and spec.rotary[0] > 0.0):
            continue
        carries = any(spec.holds_at_tip(joint.pose[1]) for joint in children)
        if not (count == 1 and carries and family in (*TIP, TABLE)):
            findings.error(
                "no-inertia", one.line, one.what, "torsion that meets no inertia", 'J="..." with J\'x > 0 and elastic_rotary="true"'
            )
