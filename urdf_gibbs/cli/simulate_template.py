"""``urdf-gibbs simulate --template``: writes the scene of a robot, from which a scenario of one's own begins."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from urdf_gibbs.bundled import model_names, model_path
from urdf_gibbs.cli.console import checked_base, load_quietly, resolve
from urdf_gibbs.errors import UrdfWarning
from urdf_gibbs.robot.load import load
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario.opening import base_of
from urdf_gibbs.simulation.scenario.template import template


def write_template(name: str, base: str | None, package_dirs: Sequence[str], changes: Mapping[str, Any]) -> None:
    """Write the scene to standard output; errors as of ``load``. ``base``: None: the one that suits the robot."""
    file = resolve(name)
    if base is None:
        base = base_of(load_quietly(file, "fixed"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        robot = load(file, checked_base(base), package_dirs=package_dirs)
    text = template(robot, _as_named(robot), [os.path.abspath(folder) for folder in package_dirs], changes)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())  # TOML is UTF-8, whatever the terminal is


def _as_named(robot: Robot) -> str:
    """The robot's file as the scene names it: bundled models by name, others by a path that holds where the scene will be."""
    path = Path(robot.file).resolve()
    if path.stem in model_names() and path == model_path(path.stem).resolve():
        return path.stem
    here = Path.cwd()
    if _written_here() and path.is_relative_to(here):
        return path.relative_to(here).as_posix()
    return str(path)


def _written_here() -> bool:
    """Whether standard output goes to a file in the present folder."""
    try:
        target = os.fstat(sys.stdout.fileno())
        return stat.S_ISREG(target.st_mode) and any(os.path.samestat(entry.stat(), target) for entry in os.scandir())
    except (OSError, ValueError):  # there is no such file
        return False
