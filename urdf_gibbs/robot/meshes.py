"""Resolves mesh names of a URDF to files, and limits the folders that a robot's meshes may be read from.

A URDF may come from anybody, and pages made from it are passed on: without a limit, a mesh or a file that a mesh names (a buffer, a
material, a texture) could be any file of this machine. Meshes are therefore read from the robot's own folders, which are

- what the user gives: ``package_dirs``, and the folders of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH;
- the package of the URDF: the nearest folder above it with a package.xml; without one the URDF's folder, the folders of meshes
  beside it or one above it (MESH_FOLDERS), and a folder with the package's name of a ``package://`` name, at most NEAR folders above;
- packages (with a package.xml) that stand in a folder above the URDF, as in a workspace.

The home folder and the folders above it never count as a robot's folder. Symbolic links are resolved before the check.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import ParseResult, unquote, urlparse

if TYPE_CHECKING:
    from urdf_gibbs.robot.model import Robot

MARKS = ("package.xml", "manifest.xml", "model.config")  # files by which ROS and Gazebo recognise a package
MESH_FOLDERS = ("meshes", "mesh", "assets", "visual", "collision", "textures", "materials", "media")
NEAR = 3
ALLOW = "allow more by package_dirs= or --package-dir"


class MeshFolders:
    """Where the meshes of one URDF are looked for and may be read from.

    package_dirs: folders that the user gives; all inside them may be read. searched_dirs: folders that some file names; only packages
    in them are read. own: False where ``urdf_file`` comes from a file as well, so that its folder is not trusted.
    """

    def __init__(self, urdf_file: str, package_dirs: Iterable[str] = (), searched_dirs: Iterable[str] = (), own: bool = True) -> None:
        self._above = list(Path(urdf_file).absolute().parents) if os.path.exists(urdf_file) else []
        self._own = own
        self._file = Path(urdf_file)
        self._given = [Path(folder) for folder in package_dirs]
        self._searched = [Path(folder) for folder in searched_dirs]

    def find(self, filename: str) -> Path | None:
        """The file behind ``package://``, ``model://``, ``file://``, an absolute or a relative name; None where there is none.

        A package is looked for in the given and searched folders, in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, and in the folders above
        the URDF; of several files one that may be read is taken. It may be outside of the robot's folders: ``folders`` tells them.
        """
        url = _url(filename)
        if url.scheme in ("package", "model"):
            package, path = url.netloc, unquote(url.path).lstrip("/")
            folders = [*self._given, *_ros_folders(), *self._above, *self._searched]
            candidates = [folder / package / path for folder in folders] + [folder / path for folder in folders if folder.name == package]
        elif url.scheme == "file":
            candidates = [Path(unquote(url.netloc + url.path))]
        elif filename:
            candidates = [self._above[0] / filename] if self._above else [Path(filename)]
        else:
            candidates = []
        there = [candidate for candidate in candidates if _is_file(candidate)]
        return next((one for one in there if inside(one, self.folders(filename, one))), there[0] if there else None)

    def folders(self, filename: str, path: Path) -> tuple[Path, ...]:
        """The folders that the mesh of this name, found at ``path``, and the files that it names may be read from; links are resolved."""
        folders = list(self._always)
        url = _url(filename)
        package = url.netloc if url.scheme in ("package", "model") else ""
        if package and self._own:
            folders += [folder.resolve() for folder in self._above[:NEAR] if folder.name == package and not too_wide(folder)]
        if package:
            for folder in _ros_folders():  # colcon --symlink-install: every file of the installed package is a link to its source
                mark = (folder / package / MARKS[0]).resolve()
                if mark.name == MARKS[0] and mark.is_file():
                    folders.append(mark.parent)
        around = _package_of(path.resolve())
        if around is not None and around.parent in self._beside:
            folders.append(around)
        return tuple(dict.fromkeys(folders))

    @cached_property
    def _beside(self) -> set[Path]:
        """Folders whose packages may be read."""
        return {folder.resolve() for folder in (self._above if self._own else []) + self._searched}

    @cached_property
    def _always(self) -> list[Path]:
        folders = [folder.resolve() for folder in (*self._given, *_ros_folders())]
        if not self._own:
            return folders
        file = self._file if self._above else Path("text")  # XML text has its names from the working folder
        for place in (file.absolute(), file.resolve()):
            package = _package_of(place)
            if package is not None:
                folders.append(package.resolve())
                continue
            near = list(place.parents)[:NEAR]
            folders += [folder.resolve() for folder in near[:1] if not too_wide(folder)]
            for folder in near:
                meshes = (folder / name for name in MESH_FOLDERS)
                folders += [one.resolve() for one in meshes if one.is_dir() and not one.is_symlink()]
        return folders


def mesh_folders(robot: Robot, package_dirs: Iterable[str] = ()) -> MeshFolders:
    """Those of a robot; package_dirs: given by the user beside those of ``load``."""
    given = [folder for folder in robot.package_dirs if folder not in robot._searched_dirs]
    return MeshFolders(robot.file, [*package_dirs, *given], robot._searched_dirs, robot._own_file)


def find_mesh(filename: str, urdf_file: str, package_dirs: Iterable[str] = ()) -> Path | None:
    """``MeshFolders.find`` of one name."""
    return MeshFolders(urdf_file, package_dirs).find(filename)


def find_package(name: str, files: Iterable[str], package_dirs: Iterable[str] = ()) -> Path | None:
    """The folder of a package: looked for where ``package://`` is, and around the files, which may be part of it."""
    given, above = [Path(folder) for folder in package_dirs], [folder for file in files for folder in Path(file).absolute().parents]
    for folder in [*given, *_ros_folders(), *above]:
        for candidate in (folder / name, folder):
            if candidate.name == name and candidate.is_dir():
                return candidate
        mark = folder / MARKS[0]
        if mark.is_file() and re.search(rf"<name>\s*{re.escape(name)}\s*</name>", mark.read_text(encoding="utf-8", errors="replace")):
            return folder
    return None


def inside(path: Path, folders: Iterable[Path]) -> bool:
    """Whether the file that a path leads to, links followed, is in one of the folders (which are resolved)."""
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError):  # circular links
        return False
    return any(resolved.is_relative_to(folder) for folder in folders)


def outside(path: Path) -> str:
    """The message that refuses a file."""
    return f"{path} is not in a folder of the robot; {ALLOW}"


def _url(filename: str) -> ParseResult:
    try:
        return urlparse(filename)
    except ValueError:  # "//[": a broken host
        return urlparse("")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an impossible file name
        return False


def _package_of(path: Path) -> Path | None:
    """The nearest folder above that is a package."""
    for folder in path.parents:
        if too_wide(folder):
            return None
        if any((folder / mark).is_file() for mark in MARKS):
            return folder
    return None


def too_wide(folder: Path) -> bool:
    """Whether a folder is too general to belong to a robot: the home folder, the root, and everything between."""
    resolved = folder.resolve()
    return resolved == resolved.parent or Path(os.path.expanduser("~")).resolve().is_relative_to(resolved)


def _ros_folders() -> list[Path]:
    ros = [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
    ament = [Path(folder) / "share" for folder in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if folder]
    return ros + ament
