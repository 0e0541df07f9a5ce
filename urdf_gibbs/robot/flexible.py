"""Elastic links in a URDF: ``<urdf_gibbs><flexible link="..." .../></urdf_gibbs>`` below ``<robot>``, which other tools ignore.

The beam's root is the origin of the link's frame, its x points along ``direction`` (towards the farthest child joint unless given), and
its y and z are the link's, turned with x by the smallest rotation that takes the link's x there. Child joints sit at the root or at the
tip. The beam replaces the link's <inertial>. A second element for a link must say ``override="true"``: it then keeps the attributes of
the first that it does not give itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.flexible_attributes import POSITIVE, TRUTH, Attributes, Flexible
from urdf_gibbs.robot.flexible_checks import check_flexible
from urdf_gibbs.robot.urdf import Urdf
from urdf_gibbs.robot.xml import Element

__all__ = ["POSITIVE", "check_flexible", "checked_entry", "merged_elements", "read_flexible", "with_elements"]

ELEMENT = "urdf_gibbs"
BOM = b"\xef\xbb\xbf"


def read_flexible(root: Element, findings: Findings) -> list[Flexible]:
    """All <flexible> elements of a <robot>; those with errors are left out, the errors are in ``findings``."""
    read = (Attributes(element, findings).read() for element in merged_elements(root, findings))
    return [one for one in read if one is not None]


def merged_elements(root: Element, findings: Findings) -> list[Element]:
    """One element for each link, those that override merged into the first."""
    merged: list[Element] = []
    first: dict[str, int] = {}  # link -> its place in ``found``
    for holder in root.all(ELEMENT):
        for element in holder.children:
            if element.tag != "flexible":
                findings.warning("unknown-element", element.line, f"<{ELEMENT}>", f"<{element.tag}>", "<flexible>; it is ignored")
                continue
            name = element.attributes.get("link", "")
            if name not in first or not name:
                first[name] = len(merged)
                merged.append(element)
            elif TRUTH.get(element.attributes.get("override", ""), False):
                merged[first[name]] = Element("flexible", merged[first[name]].attributes | element.attributes, element.line)
            else:
                findings.error(
                    "duplicate",
                    element.line,
                    f'<flexible link="{name}">',
                    f"a second one, the first is at line {merged[first[name]].line}",
                    'one <flexible> for each link, or override="true"',
                )
    return merged


def checked_entry(urdf: Urdf, root: Element, attributes: Mapping[str, str], findings: Findings, line: int) -> None:
    """Report what is wrong with a <flexible> of these attributes that comes after those of the file; ``line`` is its line."""
    own = {element.attributes.get("link", ""): element.attributes for element in merged_elements(root, Findings(""))}
    element = Element("flexible", {**own.get(attributes["link"], {}), **attributes}, line)
    one = Attributes(element, findings).read()
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
