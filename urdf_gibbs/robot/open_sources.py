"""Open files, element trees and objects of other libraries, each to its reader."""

from __future__ import annotations

import os
import sys
from typing import Any

from urdf_gibbs.arguments import shown
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.load import Reading, read_named
from urdf_gibbs.robot.urdf import Urdf

ACCEPTED = (
    "a path, the name of an installed robot, XML text, an open file, an ElementTree or element, an object of urchin, urdfpy or yourdfpy, "
    "or a pinocchio.Model"
)


def read_open(source: Any, reading: Reading) -> tuple[Urdf, str | bytes]:
    """Links and joints of a source that is neither a path nor text, and as the text of a URDF; empty where there was none."""
    package = type(source).__module__.partition(".")[0]
    if package in ("pinocchio", "libpinocchio") and hasattr(source, "jointPlacements"):
        from urdf_gibbs.robot.pinocchio_model import read_pinocchio

        return read_pinocchio(source)
    if package == "mujoco" and type(source).__name__ == "MjSpec":
        source = source.compile()
    if package == "mujoco" and hasattr(source, "body_parentid"):
        from urdf_gibbs.robot.mjcf import read_compiled

        return read_compiled(source, Findings("<mujoco object>"))
    if callable(getattr(source, "read", None)):
        return read_named(*_file(source), reading)
    text = _element_text(source)
    if text is not None:
        return read_named(text, f"<{package} {'ElementTree' if package == 'xml' else 'object'}>", reading)
    if package == "yourdfpy" and hasattr(source, "robot"):
        source = source.robot
    if all(hasattr(source, name) for name in ("links", "joints", "name")):
        from urdf_gibbs.robot.objects import read_object

        return read_object(source), ""
    raise ArgumentError(f"source={shown(source)}, cannot load a {type(source).__name__}, expected {ACCEPTED}")


def _file(source: Any) -> tuple[str | bytes, str]:
    """What is left to read of an open file, and its name."""
    name = getattr(source, "name", "")
    file = os.fsdecode(name) if isinstance(name, str | bytes) and name else "<file>"
    try:
        text = source.read()
    except (OSError, ValueError, UnicodeDecodeError) as problem:
        raise ArgumentError(f"source={shown(source)} cannot be read ({problem}), expected a file open for reading") from None
    if not text and callable(getattr(source, "tell", None)) and source.tell():
        raise ArgumentError(f"source={shown(source)}: nothing is left to read, expected a file at its start")
    if not isinstance(text, str | bytes):
        raise ArgumentError(f"source={shown(source)} reads {type(text).__name__}, expected a file of text or bytes")
    return text, file


def _element_text(source: Any) -> str | None:
    """The XML of an ElementTree or an element of xml.etree or lxml; None where it is neither."""
    element = source.getroot() if callable(getattr(source, "getroot", None)) else source
    if not (hasattr(element, "tag") and hasattr(element, "attrib")):
        return None
    if type(element).__module__.partition(".")[0] == "lxml":
        etree: Any = sys.modules["lxml.etree"]
        return str(etree.tostring(element, encoding="unicode", with_tail=False))
    from xml.etree import ElementTree

    return ElementTree.tostring(element, encoding="unicode")
