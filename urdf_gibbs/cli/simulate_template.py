"""``urdf-gibbs simulate --template``: writes the scene of a robot, from which a scenario of one's own begins."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from urdf_gibbs.cli.console import checked_base, load_quietly, resolve
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario.opening import base_of
from urdf_gibbs.simulation.scenario.template import template


def write_template(name: str, base: str | None, package_dirs: Sequence[str], changes: Mapping[str, Any]) -> None:
    """Write the scene to standard output; errors as of ``load``. ``base``: None: the one that suits the robot."""
    file, folders = resolve(name), [os.path.abspath(folder) for folder in package_dirs]
    robot = load_quietly(file, "fixed" if base is None else checked_base(base))
    if base is None and base_of(robot) != "fixed":
        robot = load_quietly(file, base_of(robot))
    robot = replace(robot, package_dirs=tuple(folders))
    text = template(robot, name if file != name else _path(robot), folders, changes)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())  # TOML is UTF-8, whatever the terminal is


def _path(robot: Robot) -> str:
    """The robot's file as the scene names it: so that it is found from where the scene will be."""
    path, here = Path(robot.file).resolve(), Path.cwd()
    return path.relative_to(here).as_posix() if _written_here() and path.is_relative_to(here) else str(path)


def _written_here() -> bool:
    """Whether standard output goes to a file in the present folder."""
    try:
        target = os.fstat(sys.stdout.fileno())
        return stat.S_ISREG(target.st_mode) and any(os.path.samestat(entry.stat(), target) for entry in os.scandir())
    except (OSError, ValueError):  # there is no such file
        return False
