"""A scenario with all the files that its motion depends on, as one thing that can be hashed, sent and unpacked elsewhere.

The text of the scenario stays as it is; its tables are changed to name the files where they lie in the bundle. The folders are those that
the reader searches anyway, so that nothing outside of the bundle is read.
"""

from __future__ import annotations

import hashlib
import io
import os
import posixpath
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse
from xml.sax.saxutils import quoteattr

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.build import DIRECTIONS
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.load import read_as_urdf, reading_of
from urdf_gibbs.robot.meshes import inside, mesh_folders
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario import Scenario
from urdf_gibbs.simulation.scenario.reader import parsed, scenario_of, scenario_text
from urdf_gibbs.sweeps.keys import changed

SCENE, ROBOT, PACKAGES, TABLES = "scene.toml", "robot/description/urdf", "packages", "tables"  # ../meshes of a robot are in it, too
FLEXIBLE, TABLE = "flexible", "table"  # the element of a URDF with an attribute that names files


@dataclass(frozen=True)
class Bundle:
    """The text of a scenario and the files that it needs, by their names in the bundle."""

    text: str
    files: Mapping[str, bytes]

    def hashes(self) -> dict[str, str]:
        """SHA-256 of each file."""
        return {name: hashlib.sha256(data).hexdigest() for name, data in sorted(self.files.items())}

    def content(self) -> dict[str, Any]:
        """The tables of the scenario, with the names that files have in the bundle."""
        content, _ = parsed(self.text, SCENE)
        robot = next(name for name in self.files if name.rpartition("/")[0] == ROBOT and name.endswith(MARK))
        content = changed(content, ("robot", "file"), robot)
        content = changed(content, ("robot", "xacro_args"), {})  # it is expanded
        content = changed(
            content, ("robot", "package_dirs"), [PACKAGES] if any(name.startswith(f"{PACKAGES}/") for name in self.files) else []
        )
        for name in self.files:
            folder, _, rest = name.partition("/")
            if folder == TABLES:
                content = changed(content, ("walls", int(rest.partition("-")[0]), "file"), name)
        return content

    def unpack(self, folder: Path) -> None:
        """Write all files below a folder."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def packed(self) -> bytes:
        """One text of bytes, the same for the same content."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in [(SCENE, self.text.encode()), *sorted(self.files.items())]:
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        return stream.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> Bundle:
        """What ``packed`` wrote. ArgumentError where a name leaves the bundle."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        for name in files:
            if _leaves(name):
                raise ArgumentError(f"the sweep holds a file called {name!r}, expected names inside of its bundle")
        text = files.pop(SCENE).decode()
        return cls(text, files)


MARK = ".urdf"  # all robots in bundles end so


def bundle_of(scenario: Any) -> tuple[Bundle, Scenario]:
    """A scenario's file with all that it needs, and the scenario.

    Args:
        scenario: Path of the file, or the name of a bundled scenario.

    Returns:
        The bundle, and the scenario as it is without a sweep.

    Raises:
        ArgumentError: It is no path, or a file that it names cannot be carried along.
        ScenarioError: The file cannot be used.
    """
    if isinstance(scenario, Scenario):
        raise ArgumentError("scenario is a Scenario, expected the path of its file: a sweep keeps and sends the text")
    text, file = scenario_text(scenario)
    content, lines = parsed(text, file)
    read = scenario_of(content, lines, file)
    robot, files = read.robot, {}
    source = Path(robot.file)
    description = _as_urdf(robot, content)
    for name in _table_names(robot):
        files[_beside(name, robot.file)] = _read(source.parent / name)
    if (content.get("contacts") or {}).get("points") == "collision":
        meshes, moved = _meshes(robot)
        files |= meshes
        description = _renamed(description, moved, robot.file)
    files[f"{ROBOT}/{source.stem}{MARK}"] = description
    for k, wall in enumerate(content.get("walls", ())):
        if isinstance(wall, dict) and "file" in wall:
            files[f"{TABLES}/{k}-{PurePosixPath(wall['file']).name}"] = _read(Path(file).parent / wall["file"])
    return Bundle(text, files), read


def _as_urdf(robot: Robot, content: dict[str, Any]) -> bytes:
    """The robot's file, or the URDF that a file in another format becomes: without the elastic links of the scenario, which come again."""
    text = read_as_urdf(robot.file, reading_of(robot.package_dirs, content["robot"].get("xacro_args")))[1]
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _meshes(robot: Robot) -> tuple[dict[str, bytes], dict[str, str]]:
    """Meshes of collision shapes, whose vertices can touch, where the reader looks for them; and new names for those with full paths."""
    folders, files, moved = mesh_folders(robot), {}, {}
    names = {shape.geometry.filename for link in robot.links for shape in link.collisions if shape.geometry.kind == "mesh"}
    for k, name in enumerate(sorted(names)):
        path = folders.find(name)
        if path is None or not inside(path, folders.folders(name, path)):
            continue  # said by the reader, which goes on without it, here as there
        url = urlparse(name)
        if url.scheme in ("package", "model"):
            target = f"{PACKAGES}/{url.netloc}/{unquote(url.path).lstrip('/')}"
            files[f"{PACKAGES}/{url.netloc}/package.xml"] = b"<package/>"  # without it the folder is no package
        elif url.scheme == "file" or os.path.isabs(name):
            moved[name] = f"../meshes/{k}-{path.name}"
            target = _beside(moved[name], robot.file)
        else:
            target = _beside(name, robot.file)
        if _leaves(target):
            raise ArgumentError(f"{robot.file}: mesh {name!r}, expected names inside of a package: a sweep carries its meshes along")
        files[target] = _read(path)
    return files, moved


def _renamed(description: bytes, moved: Mapping[str, str], file: str) -> bytes:
    """The URDF with other names of meshes."""
    for name, target in moved.items():
        before = quoteattr(name).encode()
        if before not in description:
            raise ArgumentError(f"{file}: {name!r}, expected a name near the robot's file: a sweep carries its files along")
        description = description.replace(before, quoteattr(target).encode())
    return description


def _table_names(robot: Robot) -> list[str]:
    """Files with the shapes of elastic links, which the URDF names."""
    if not robot.is_flexible:
        return []
    root = xml.parse(robot.source, Findings(robot.file))
    names: dict[str, None] = {}
    elements = [] if root is None else [root]
    while elements:
        element = elements.pop()
        elements += element.children
        if element.tag == FLEXIBLE:
            for part in filter(None, (part.strip() for part in element.attributes.get(TABLE, "").split(";"))):
                direction, equals, name = part.partition("=")
                names[name.strip() if equals and direction.strip() in DIRECTIONS else part] = None
    return list(names)


def _beside(name: str, file: str) -> str:
    """The name in the bundle of a file that a robot names from its folder; ArgumentError where that is far away."""
    target = posixpath.normpath(f"{ROBOT}/{name}")
    if urlparse(name).scheme or posixpath.isabs(name) or not target.startswith(f"{ROBOT.partition('/')[0]}/"):
        raise ArgumentError(f"{file}: {name!r}, expected a name near the robot's file: a sweep carries its files along")
    return target


def _leaves(name: str) -> bool:
    path = PurePosixPath(name.replace(os.sep, "/"))
    return path.is_absolute() or ".." in path.parts or ":" in name


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ArgumentError(f"{path}: {problem.strerror or problem}, expected a readable file") from None
