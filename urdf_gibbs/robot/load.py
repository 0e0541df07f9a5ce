"""Loads any description of a robot into a Robot; an error lists all problems at once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from urdf_gibbs.arguments import flag, folders, shown
from urdf_gibbs.errors import ArgumentError, UrdfError, UrdfWarning
from urdf_gibbs.names import Base
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.assemble import assemble
from urdf_gibbs.robot.findings import Finding, Findings
from urdf_gibbs.robot.garbage import garbage_collection_paused
from urdf_gibbs.robot.inertias import report_inertias
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spelling import check_spelling
from urdf_gibbs.robot.tree import build
from urdf_gibbs.robot.urdf import Urdf, read

BASES: tuple[Base, ...] = get_args(Base)
XML_TEXT = "<text>"
EXTENSION = "urdf_gibbs"  # the element below <robot> that makes links elastic
SIBLINGS, AS_LISTED = "siblings", "as listed"  # its attribute, of a robot whose coordinates have the order of another format
XACRO = ".xacro"


def load(
    source: Any,
    base: Base = "fixed",
    mimic: bool = True,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    xacro_args: Mapping[str, Any] | None = None,
) -> Robot:
    """Read a robot, from a URDF or another description of one; warns once (UrdfWarning) where it is questionable.

    Args:
        source: Path of a URDF, xacro, MJCF or SDF file; the name of a robot that is installed ("panda", "go2", "branched12"); XML text
            (str or bytes that starts with "<"); an open file; an ElementTree or element of xml.etree or lxml; an object of urchin,
            urdfpy or yourdfpy; a pinocchio.Model or mujoco.MjModel; a file of that name in the working folder comes before a name.
        base: What the root link may do: "fixed" to the world, "floating" (6 DOF) or "planar" (3 DOF, x-y plane).
        mimic: Whether mimic joints follow their masters; False frees them.
        package_dirs: Folders that hold the packages of ``package://`` mesh names and of ``$(find ...)`` (kept as ``robot.package_dirs``).
            Meshes are read from there and from the robot's own folders only.
        xacro_args: Arguments of a xacro, by name.

    Returns:
        The robot.

    Raises:
        ArgumentError: An argument has a wrong type or value.
        MissingExtraError: The format needs a library that is not installed.
        UrdfError: The file cannot be loaded; all of its errors are with it.
    """
    if base not in BASES:
        raise ArgumentError(f"base={base!r}, expected one of {', '.join(BASES)}")
    flag(mimic, "mimic")
    reading = reading_of(package_dirs, xacro_args)
    with garbage_collection_paused():
        robot = _assemble(*_read(source, reading), base, mimic, reading.package_dirs)
    _warn(robot.findings)
    return robot


def load_elastic(
    path: str | os.PathLike[str],
    entries: Iterable[Mapping[str, str]],
    base: Base = "fixed",
    mimic: bool = True,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    xacro_args: Mapping[str, Any] | None = None,
) -> Robot:
    """``load`` with a <flexible> of these attributes for each entry beside the file's own; the robot's source has them too."""
    from urdf_gibbs.robot.flexible import with_elements

    reading = reading_of(package_dirs, xacro_args)
    with garbage_collection_paused():
        urdf, text = read_as_urdf(path, reading)
        if not urdf.findings.errors:
            own = text == source_text(path)
            text = with_elements(text, entries)
            urdf = read_text(text, urdf.file) if own else _read_again(text, urdf)
        robot = _assemble(urdf, text, base, mimic, reading.package_dirs)
    _warn(robot.findings)
    return robot


class Reading(NamedTuple):
    """What else a reader may need: folders of packages, and arguments of a xacro."""

    package_dirs: tuple[str, ...] = ()
    xacro_args: Mapping[str, str] = MappingProxyType({})


def reading_of(package_dirs: Any, xacro_args: Any) -> Reading:
    """The two, checked."""
    given = {} if xacro_args is None else xacro_args
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentError(f"xacro_args={shown(given)}, expected values by the names of the xacro's arguments")
    return Reading(tuple(folders(package_dirs)), {name: _argument(value) for name, value in given.items()})


def _argument(value: Any) -> str:
    """As it would stand in a xacro."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _assemble(urdf: Urdf, text: str | bytes, base: Base, mimic: bool, package_dirs: tuple[str, ...]) -> Robot:
    """The robot from links and joints, and the text that they were read from, if any."""
    if urdf.own_base and base != "fixed" and not urdf.findings.errors:
        urdf.findings.error("own-base", 0, "base", f'base="{base}"', f'base="fixed": {urdf.own_base}')
    tree = build(urdf, base, mimic)
    if tree is None:
        raise UrdfError(urdf.findings.errors)
    return assemble(urdf, tree, base, package_dirs, text or None, mimic)


def read_source(source: Any, package_dirs: Iterable[str | os.PathLike[str]] = (), xacro_args: Mapping[str, Any] | None = None) -> Urdf:
    """Links and joints of any accepted source, with the findings so far."""
    return _read(source, reading_of(package_dirs, xacro_args))[0]


def _read_again(text: str | bytes, before: Urdf) -> Urdf:
    """Links and joints of the URDF that a file in another format became, with what was found in the file: that has other lines."""
    urdf = read_text(text, before.file)
    known = {(finding.code, finding.element) for finding in before.findings.items}
    new = [replace(finding, line=0) for finding in urdf.findings.items if (finding.code, finding.element) not in known]
    urdf.findings.items, urdf.own_base = before.findings.items + new, before.own_base
    return urdf


def read_as_urdf(source: Any, reading: Reading) -> tuple[Urdf, str | bytes]:
    """Links and joints of any accepted source, and the text of a URDF that has them: its own, or what it becomes."""
    urdf, text = _read(source, reading)
    if text or urdf.findings.errors:
        return urdf, text
    from urdf_gibbs.robot.write import urdf_text

    return urdf, urdf_text(urdf)


def _read(source: Any, reading: Reading) -> tuple[Urdf, str | bytes]:
    """Links and joints, and the XML they were read from; empty for objects."""
    if isinstance(source, Urdf):
        return source, ""
    if not isinstance(source, str | bytes | os.PathLike):
        from urdf_gibbs.robot.open_sources import read_open

        return read_open(source, reading)
    text = source_text(source)
    if not isinstance(text, OSError):
        return read_named(text, source_name(source), reading)
    from urdf_gibbs.robot.elsewhere import find

    found = find(source, text, reading.package_dirs)
    if isinstance(found, Findings):
        return Urdf("", found.file, found), ""
    return _read(found.path, reading._replace(xacro_args={**found.xacro_args, **reading.xacro_args}))


def read_named(text: str | bytes, file: str, reading: Reading) -> tuple[Urdf, str | bytes]:
    """Links and joints of text in any format, and as the text of a URDF; findings call it ``file``."""
    if file.endswith(XACRO):
        from urdf_gibbs.robot.xacro_files import read_xacro

        return read_xacro(text, file, reading)
    findings = Findings(file)
    if reading.xacro_args:
        names = ", ".join(reading.xacro_args)
        findings.warning("xacro-arg", 0, "file", f"arguments {names} for a file that is no xacro", "a file name that ends in .xacro")
    root = xml.parse(text, findings)
    if root is not None and root.tag == "robot":
        urdf = read_root(root, findings)
        if urdf.links or findings.mistakes:
            return urdf, text
    from urdf_gibbs.robot.formats import read_other

    return read_other(text, root, findings, reading)


def read_text(text: str | bytes, file: str) -> Urdf:
    """Links and joints of XML; findings call it ``file``."""
    findings = Findings(file)
    root = xml.parse(text, findings)
    return Urdf("", file, findings) if root is None else read_root(root, findings)


def read_root(root: xml.Element, findings: Findings) -> Urdf:
    """Links and joints of a parsed <robot>."""
    urdf = read(root, findings)
    extensions = root.all(EXTENSION)
    if extensions:
        urdf.as_listed = any(element.attributes.get(SIBLINGS) == AS_LISTED for element in extensions)
        from urdf_gibbs.robot.flexible import check_flexible, read_flexible

        urdf.flexible = check_flexible(urdf, read_flexible(root, findings))
    report_inertias(urdf, urdf.doubts)
    check_spelling(root, findings)
    return urdf


def source_name(source: Any) -> str:
    """The name of the source in findings: the path, or ``<text>``."""
    if not isinstance(source, str | bytes | os.PathLike):
        return f"<{type(source).__module__.split('.')[0]} object>"
    return XML_TEXT if is_text(source) else os.fsdecode(source)


def source_text(source: str | bytes | os.PathLike[str]) -> str | bytes | OSError:
    """The XML, or the reason why there is none."""
    if isinstance(source, str | bytes) and is_text(source):
        return source
    try:
        with open(source, "rb") as file:
            return file.read()
    except OSError as problem:
        return problem
    except ValueError as problem:  # a NUL byte in the name
        return OSError(None, str(problem))


def is_text(source: Any) -> bool:
    """XML text rather than a path: its first character is "<" (UTF-16 included)."""
    if isinstance(source, str):
        return source.lstrip("\ufeff \t\r\n").startswith("<") or "\n" in source
    if isinstance(source, bytes):
        return source.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or source[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\n" in source
    return False


def _warn(findings: tuple[Finding, ...]) -> None:
    questionable = [finding for finding in findings if finding.severity == "warning"]
    if questionable:
        more = f" (and {len(questionable) - 1} more in robot.findings)" if len(questionable) > 1 else ""
        warnings.warn(f"{questionable[0]}{more}", UrdfWarning, stacklevel=3)
