"""Loads a path, XML text or a loaded urchin or urdfpy object into a Robot; an error lists all problems at once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from urdf_gibbs.arguments import flag, folders
from urdf_gibbs.errors import ArgumentError, UrdfError, UrdfWarning
from urdf_gibbs.names import Base
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.assemble import assemble
from urdf_gibbs.robot.findings import Finding, Findings
from urdf_gibbs.robot.garbage import garbage_collection_paused
from urdf_gibbs.robot.inertias import report_inertias
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.tree import build
from urdf_gibbs.robot.urdf import Urdf, read

BASES: tuple[Base, ...] = get_args(Base)
XML_TEXT = "<text>"
EXTENSION = "urdf_gibbs"  # the element below <robot> that makes links elastic


def load(source: Any, base: Base = "fixed", mimic: bool = True, package_dirs: Iterable[str | os.PathLike[str]] = ()) -> Robot:
    """Read a URDF into a Robot; warns once (UrdfWarning) where the file is questionable.

    Args:
        source: Path, XML text (str or bytes that starts with "<"), or a loaded urchin or urdfpy object.
        base: What the root link may do: "fixed" to the world, "floating" (6 DOF) or "planar" (3 DOF, x-y plane).
        mimic: Whether mimic joints follow their masters; False frees them.
        package_dirs: Folders that hold the packages of ``package://`` mesh names (kept as ``robot.package_dirs``). Meshes are read from
            there and from the robot's own folders only.

    Returns:
        The robot.

    Raises:
        ArgumentError: An argument has a wrong type or value.
        UrdfError: The file cannot be loaded; all of its errors are with it.
    """
    if base not in BASES:
        raise ArgumentError(f"base={base!r}, expected one of {', '.join(BASES)}")
    flag(mimic, "mimic")
    given = folders(package_dirs)
    with garbage_collection_paused():
        robot = _assemble(*_read(source), base, mimic, given)
    _warn(robot.findings)
    return robot


def load_elastic(
    path: str | os.PathLike[str],
    entries: Iterable[Mapping[str, str]],
    base: Base = "fixed",
    mimic: bool = True,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
) -> Robot:
    """``load`` with a <flexible> of these attributes for each entry beside the file's own; the robot's source has them too."""
    from urdf_gibbs.robot.flexible import with_elements

    with garbage_collection_paused():
        urdf, text = _read(path)
        if not urdf.findings.errors:
            text = with_elements(text, entries)
            urdf = read_text(text, source_name(path))
        robot = _assemble(urdf, text, base, mimic, package_dirs)
    _warn(robot.findings)
    return robot


def _assemble(urdf: Urdf, text: str | bytes, base: Base, mimic: bool, package_dirs: Iterable[str | os.PathLike[str]]) -> Robot:
    """The robot from links and joints, and the text that they were read from, if any."""
    tree = build(urdf, base, mimic)
    if tree is None:
        raise UrdfError(urdf.findings.errors)
    return assemble(urdf, tree, base, tuple(os.fspath(folder) for folder in package_dirs), text or None, mimic)


def read_source(source: Any) -> Urdf:
    """Links and joints of any accepted source, with the findings so far."""
    return _read(source)[0]


def _read(source: Any) -> tuple[Urdf, str | bytes]:
    """Links and joints, and the XML they were read from; empty for objects."""
    if isinstance(source, Urdf):
        return source, ""
    if not isinstance(source, str | bytes | os.PathLike):
        from urdf_gibbs.robot.objects import read_object

        return read_object(source), ""
    text = source_text(source)
    if isinstance(text, OSError):
        findings = Findings(source_name(source))
        findings.error("unreadable", 0, "file", text.strerror or str(text), "a readable URDF file, or XML text that starts with '<'")
        return Urdf("", findings.file, findings), ""
    return read_text(text, source_name(source)), text


def read_text(text: str | bytes, file: str) -> Urdf:
    """Links and joints of XML; findings call it ``file``."""
    findings = Findings(file)
    root = xml.parse(text, findings)
    return Urdf("", file, findings) if root is None else read_root(root, findings)


def read_root(root: xml.Element, findings: Findings) -> Urdf:
    """Links and joints of a parsed <robot>."""
    urdf = read(root, findings)
    if root.all(EXTENSION):
        from urdf_gibbs.robot.flexible import check_flexible, read_flexible

        urdf.flexible = check_flexible(urdf, read_flexible(root, findings))
    report_inertias(urdf, urdf.doubts)
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
