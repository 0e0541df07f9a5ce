"""In what two URDF files differ: masses, inertias, origins, joints, in the files' own words and with the lines of both.

Values are compared as numbers (0.10 is 0.1), a missing one as what it stands for. Shapes, materials and the rest do not count.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.load import source_text
from urdf_gibbs.robot.xml import Element, parse

Key = tuple[str, str, str, str]  # "link" or "joint", its name, the element below it, the attribute

# Of each element below a link or joint the attributes that count, and what a missing one stands for ("": nothing).
INERTIAL = {
    "origin": {"xyz": "0 0 0", "rpy": "0 0 0"},
    "mass": {"value": "0"},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "0"),
}
JOINT = {
    "parent": {"link": ""},
    "child": {"link": ""},
    "origin": {"xyz": "0 0 0", "rpy": "0 0 0"},
    "axis": {"xyz": "1 0 0"},
    "limit": {"lower": "0", "upper": "0", "effort": "", "velocity": ""},
    "dynamics": {"damping": "0", "friction": "0"},
    "mimic": {"joint": "", "multiplier": "1", "offset": "0"},
}


class Value(NamedTuple):
    """What a file says: the text of an attribute, "" where it has none; its line; and what that stands for."""

    text: str
    line: int
    meaning: Any


class Difference(NamedTuple):
    """One thing that two files say differently. ``what`` names it as the files do; None: a file does not have it."""

    what: str
    value: str | None
    line: int
    other: str | None
    other_line: int

    def words(self, file: str, other: str) -> str:
        """As a line, with the names of both files."""
        return f"{self.what}: {_words(self.value, file, self.line)}, {_words(self.other, other, self.other_line)}"


def differences(source: Any, other: Any) -> list[Difference] | None:
    """Of two URDF files (paths or XML text); None where one of them cannot be read."""
    roots = [_root(source), _root(other)]
    if roots[0] is None or roots[1] is None:
        return None
    ours, theirs = _named(roots[0]), _named(roots[1])
    found = []
    for key in dict.fromkeys([*ours, *theirs]):
        a, b = ours.get(key), theirs.get(key)
        if a is None or b is None:
            here, there = (None if one is None else "there" for one in (a, b))
            found.append(Difference(f'{key[0]} "{key[1]}"', here, 0 if a is None else a.line, there, 0 if b is None else b.line))
        else:
            found += _of_elements(key, a, b)
    return found


def _root(source: Any) -> Element | None:
    text = source_text(os.fspath(source) if isinstance(source, os.PathLike) else source)
    return None if isinstance(text, OSError) else parse(text, Findings("differences"))


def _named(root: Element) -> dict[tuple[str, str], Element]:
    """Links and joints by tag and name; of two with one name the first."""
    named: dict[tuple[str, str], Element] = {}
    for element in root.children:
        if element.tag in ("link", "joint"):
            named.setdefault((element.tag, element.attributes.get("name", "")), element)
    return named


def _of_elements(key: tuple[str, str], a: Element, b: Element) -> list[Difference]:
    ours, theirs = (_link_values(one) if key[0] == "link" else _joint_values(one) for one in (a, b))
    name = f'{key[0]} "{key[1]}"'
    return [
        Difference(f"{name} {what}", ours[what].text, ours[what].line, theirs[what].text, theirs[what].line)
        for what in ours
        if ours[what].text != theirs[what].text and ours[what].meaning != theirs[what].meaning
    ]


def _link_values(link: Element) -> dict[str, Value]:
    inertial = next(iter(link.all("inertial")), None)
    given = Element("inertial", {}, link.line) if inertial is None else inertial
    values = {what.replace("<origin>", "<inertial> <origin>"): value for what, value in _values(given, INERTIAL).items()}
    return {"<inertial>": Value("none" if inertial is None else "one", given.line, inertial is not None)} | values


def _joint_values(joint: Element) -> dict[str, Value]:
    kind = joint.attributes.get("type", "")
    return {"type": Value(kind, joint.line, kind)} | _values(joint, JOINT)


def _values(element: Element, known: dict[str, dict[str, str]]) -> dict[str, Value]:
    values = {}
    for tag, attributes in known.items():
        child = next(iter(element.all(tag)), None)
        for attribute, default in attributes.items():
            text = "" if child is None else child.attributes.get(attribute, "")
            line = element.line if child is None else child.line
            values[f"<{tag}> {attribute}"] = Value(text, line, _meaning(text or default))
    return values


def _meaning(text: str) -> Any:
    """The numbers of a text, or the text where it has others."""
    try:
        return tuple(float(word) for word in text.split())
    except ValueError:
        return text


def _words(value: str | None, file: str, line: int) -> str:
    place = f"{file}:{line}" if line else file
    if value is None:
        return f"not in {file}"
    return f"in {place}" if value == "there" else f"{value or 'not given'} in {place}"
