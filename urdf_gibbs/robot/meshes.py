"""Where a mesh name of a URDF points to on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlparse


def find_mesh(filename: str, urdf_file: str, package_dirs: Iterable[str] = ()) -> Path | None:
    """The file behind ``package://``, ``model://``, ``file://``, an absolute or a relative name; None where there is none.

    A package is looked for in ``package_dirs``, in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, and in the folders above the URDF.
    """
    above = list(Path(urdf_file).absolute().parents) if os.path.exists(urdf_file) else []
    url = urlparse(filename)
    if url.scheme in ("package", "model"):
        package, path = url.netloc, unquote(url.path).lstrip("/")
        folders = [Path(folder) for folder in package_dirs] + _ros_folders() + above
        candidates = [folder / package / path for folder in folders] + [folder / path for folder in folders if folder.name == package]
    elif url.scheme == "file":
        candidates = [Path(unquote(url.netloc + url.path))]
    elif filename:
        candidates = [above[0] / filename] if above else [Path(filename)]
    else:
        candidates = []
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _ros_folders() -> list[Path]:
    ros = [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
    ament = [Path(folder) / "share" for folder in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if folder]
    return ros + ament
