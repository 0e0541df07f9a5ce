"""Text that is no URDF: other descriptions of robots go to their readers, and a sentence tells what else it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.load import XML_TEXT, Reading, read_root
from urdf_gibbs.robot.urdf import Urdf

START = 4096  # bytes in which a file shows what it is
MESH = "a mesh: load the URDF that names it in <mesh filename=...>"
BINARY = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive: unpack it, and load the URDF in it",
    b"\x1f\x8b": "a gzip archive: unpack it, and load the URDF in it",
    b"7z\xbc\xaf": "a 7z archive: unpack it, and load the URDF in it",
    b"glTF": MESH,
    b"solid ": MESH,
    b"PXR-USDC": "a USD file, for which there is no reader here: export a URDF or MJCF from the tool that made it",
    b"#usda": "a USD file, for which there is no reader here: export a URDF or MJCF from the tool that made it",
    b"MJB": "a compiled MuJoCo model: load the MJCF that it was made from",
    b"\x7fELF": "a program",
    b"\x80\x04": "a pickle, or other binary data",
    b"\x93NUMPY": "an array of NumPy",
}
# By the name of the root element.
ROOTS = {
    "package": "the package.xml of a ROS package: load a URDF in that package's folder",
    "COLLADA": MESH,
    "launch": "a launch file of ROS, which starts programs: load the URDF or xacro that it names",
    "html": "an HTML page: download the raw file instead of the page about it",
    "HTML": "an HTML page: download the raw file instead of the page about it",
    "svg": "an SVG picture",
    "model": "a model.config of Gazebo, which names an SDF file: load that file",
    "gazebo": "SDF of before version 1.3, or a fragment for Gazebo: convert it with 'gz sdf --print FILE'",
    "mujocoinclude": "a part that an MJCF file includes: load the file that includes it",
    "xacro": "a xacro without <robot>",
}
SUFFIXES = {
    ".stl": MESH,
    ".obj": MESH,
    ".dae": MESH,
    ".glb": MESH,
    ".ply": MESH,
    ".yaml": "YAML: load the URDF that it belongs to",
    ".yml": "YAML: load the URDF that it belongs to",
    ".toml": "TOML: a scenario is run by 'urdf-gibbs simulate' and read by read_scenario",
    ".usd": BINARY[b"#usda"],
    ".step": "a CAD model: export a URDF from the CAD program",
    ".stp": "a CAD model: export a URDF from the CAD program",
    ".py": "a Python program",
    ".proto": "a PROTO file of Webots: convert it with 'pip install proto2urdf', or export a URDF from Webots",
    ".lua": "a Lua model of RBDL: write it as a URDF",
}
SRDF = ("group", "disable_collisions", "group_state", "end_effector", "virtual_joint")
A_ROBOT = "a URDF, xacro, MJCF or SDF file"


def read_other(text: str | bytes, root: xml.Element | None, findings: Findings, reading: Reading) -> tuple[Urdf, str | bytes]:
    """Links and joints of text whose root is no <robot> with links, and the text of the URDF that they make."""
    reader = None if root is None else READERS.get(root.tag)
    if reader is not None and not findings.mistakes:
        return reader(text, findings, reading)
    if root is not None and root.tag == "robot":
        if not findings.mistakes and any(root.all(tag) for tag in SRDF):
            expected = "a URDF with links and joints: an SRDF only names groups of them; the URDF of the same robot stands beside it"
            findings.error("not-urdf", root.line, "<robot>", "an SRDF", expected)
        return _again(text, root, findings)
    what = _kind(text, root, findings.file)
    if what:
        line = findings.items[-1].line if findings.mistakes else 1 if root is None else root.line
        findings.items = []
        found, _, expected = what.partition(": ")
        code = "not-xml" if root is None else "not-urdf"
        findings.error(code, line, "file", found, f"{A_ROBOT}; {expected}" if expected else A_ROBOT)
    elif root is not None:
        return _again(text, root, findings)
    return Urdf("", findings.file, findings), ""


def _again(text: str | bytes, root: xml.Element, findings: Findings) -> tuple[Urdf, str | bytes]:
    """What the reader of URDFs says of it."""
    if findings.mistakes:
        return Urdf(root.attributes.get("name", ""), findings.file, findings), ""
    findings.items = []
    return read_root(root, findings), text


def _kind(text: str | bytes, root: xml.Element | None, file: str) -> str:
    """What the text is, after a colon what to do; "" where nothing is known."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    suffix = Path(file).suffix.lower()
    if not data.strip():
        return "no text" if file == XML_TEXT else "an empty file"
    if root is not None:
        return ROOTS.get(root.tag, "")
    start = data[:START].lstrip()
    for mark, what in BINARY.items():
        if start.startswith(mark):
            return what
    if start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return ROOTS["html"]
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if start.startswith((b"{", b"[")) and _is_json(data):
        return "JSON: load the URDF that it belongs to"
    if start.startswith(b"version https://git-lfs"):
        return "a pointer of Git LFS in the place of a file: fetch the file itself with 'git lfs pull'"
    if not start.startswith(b"<") and b"\0" in start:
        return "binary data"
    return "" if start.startswith(b"<") else "text that is no XML"


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def _mjcf(text: str | bytes, findings: Findings, _: Reading) -> tuple[Urdf, str | bytes]:
    from urdf_gibbs.robot.mjcf import read_mjcf

    return read_mjcf(text, findings)


def _sdf(text: str | bytes, findings: Findings, reading: Reading) -> tuple[Urdf, str | bytes]:
    from urdf_gibbs.robot.sdf import read_sdf

    return read_sdf(text, findings, reading.package_dirs)


READERS: dict[str, Callable[[str | bytes, Findings, Reading], tuple[Urdf, str | bytes]]] = {"mujoco": _mjcf, "sdf": _sdf}
