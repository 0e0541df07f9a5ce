"""Friction of links as other tools have it in a URDF: Bullet's, Gazebo's and Drake's elements, which have no part in the mechanics.

<link name="foot"><contact><lateral_friction value="0.8"/></contact></link>                               Bullet
<gazebo reference="foot"><mu1>0.8</mu1><mu2>0.8</mu2></gazebo>                                            Gazebo
<collision><drake:proximity_properties>                                                                   Drake
    <drake:mu_static value="0.9"/><drake:mu_dynamic value="0.8"/></drake:proximity_properties></collision>
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

from urdf_gibbs.arguments import LARGEST_FRICTION, Coefficients
from urdf_gibbs.errors import UrdfError, UrdfWarning
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.model import Robot


class _Given(NamedTuple):
    """What one element says of a link."""

    link: str
    element: str
    line: int
    friction: Coefficients


def link_friction(robot: Robot) -> dict[str, Coefficients]:
    """Coefficients by link, of those that have some, from the robot's source.

    Where several elements of a link differ the first in the file counts, with a UrdfWarning; Gazebo's ``mu2`` is compared with its
    ``mu1``, since friction is the same in all directions here. UrdfError where a value is none, with its line.
    """
    findings = Findings(robot.file)
    root = xml.parse(robot.source, findings, whole=True)
    found: dict[str, _Given] = {}
    for given in sorted(_elements(root, findings), key=lambda given: given.line) if root is not None else ():
        first = found.setdefault(given.link, given)
        if first.friction != given.friction:
            values = f"{_shown(given.friction)} after {_shown(first.friction)} of {first.element} in line {first.line}"
            findings.warning("friction", given.line, f'link "{given.link}" {given.element}', values, "one friction; the first is used")
    if findings.errors:
        raise UrdfError(findings.errors)
    for finding in findings.items:
        if finding.code == "friction":
            warnings.warn(str(finding), UrdfWarning, stacklevel=2)
    names = {link.name for link in robot.links}
    return {link: given.friction for link, given in found.items() if link in names}


def _shown(friction: Coefficients) -> str:
    return f"{friction.static:g}" if friction.static == friction.kinetic else f"{friction.static:g}, {friction.kinetic:g}"


def _elements(root: xml.Element, findings: Findings) -> Iterator[_Given]:
    for top in root.children:
        if top.tag == "link":
            link = top.attributes.get("name", "")
            for contact in top.all("contact"):
                for element in contact.all("lateral_friction"):
                    yield from _one(element, link, findings)
            for collision in top.all("collision"):
                for properties in collision.all("drake:proximity_properties"):
                    yield from _drake(properties, link, findings)
        elif top.tag == "gazebo":
            for tag in ("mu1", "mu2"):
                for element in top.all(tag):
                    yield from _one(element, top.attributes.get("reference", ""), findings)


def _one(element: xml.Element, link: str, findings: Findings) -> Iterator[_Given]:
    value = _number(element, link, findings)
    if value is not None:
        yield _Given(link, f"<{element.tag}>", element.line, Coefficients(value, value))


def _drake(properties: xml.Element, link: str, findings: Findings) -> Iterator[_Given]:
    """One of the two stands for both."""
    values = {}
    for tag in ("drake:mu_static", "drake:mu_dynamic"):
        for element in properties.all(tag)[:1]:
            values[tag] = _number(element, link, findings)
    if not values or None in values.values():
        return
    static, kinetic = (values.get(tag, next(iter(values.values()))) for tag in ("drake:mu_static", "drake:mu_dynamic"))
    assert static is not None and kinetic is not None
    if kinetic > static:
        what = f'link "{link}" <drake:mu_dynamic>'
        findings.error("friction", properties.line, what, f"{kinetic:g}", f"not more than <drake:mu_static>, {static:g}")
        return
    yield _Given(link, f"<{properties.tag}>", properties.line, Coefficients(static, kinetic))


def _number(element: xml.Element, link: str, findings: Findings) -> float | None:
    """The value, an attribute or, as Gazebo has it, the text of the element."""
    text = element.attributes.get("value", element.text.strip())
    try:
        value = float(text) if "_" not in text else -1.0
    except ValueError:
        value = -1.0
    if 0.0 <= value <= LARGEST_FRICTION:
        return value
    findings.error("friction", element.line, f'link "{link}" <{element.tag}>', f'"{text}"', "a finite number, 0 or more")
    return None
