"""What the oracle reads of a source that is no URDF: the URDF that it becomes, and the engine that reads the source itself."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from urdf_gibbs.errors import UrdfWarning
from urdf_gibbs.oracle.engines import Drake, Engine, MuJoCo, PinocchioModel
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.load import XACRO, load, source_name, source_text
from urdf_gibbs.robot.model import Robot

Make = Callable[[Robot], Engine]


class Reference(NamedTuple):
    """What Pinocchio reads, the engine of the source itself (None: there is none), and what is to be said about both."""

    source: str | bytes | os.PathLike[str]
    engine: Make | None = None
    notes: tuple[str, ...] = ()


def reference_of(robot: Robot, source: Any, mimic: bool) -> Reference:
    """Of the robot's own source, or of another one that it is to be compared with."""
    if isinstance(source, str | bytes | os.PathLike):
        text = source_text(source)
        if not isinstance(text, OSError):
            return _of_text(robot, source, text, mimic)
        other = _loaded(robot, source, mimic)  # a name
        return reference_of(robot, Path(other.file), mimic)
    what = type(source).__module__.partition(".")[0]
    if hasattr(source, "jointPlacements"):
        said = "Pinocchio's model is compared as it is, and as the URDF that it becomes"
        return Reference(_loaded(robot, source, mimic).source, lambda own: PinocchioModel(own, source), (said,))
    if hasattr(source, "body_parentid"):
        said = "MuJoCo's model is compared as it is, and Pinocchio read the URDF that it becomes"
        return Reference(_loaded(robot, source, mimic).source, lambda own: MuJoCo(own, source), (said,))
    if callable(getattr(source, "read", None)):  # read by load, and empty now
        return reference_of(robot, Path(robot.file), mimic) if os.path.isfile(robot.file) else Reference(robot.source)
    return Reference(_loaded(robot, source, mimic).source, None, (f"Pinocchio read the URDF that the {what} object becomes",))


def _of_text(robot: Robot, source: Any, text: str | bytes, mimic: bool) -> Reference:
    file = source_name(source)
    if file.endswith(XACRO):
        return Reference(_loaded(robot, source, mimic).source, None, ("Pinocchio read the URDF that the xacro expands to",))
    root = xml.parse(text, Findings(file))
    tag = "" if root is None else root.tag
    if tag == "mujoco":
        from urdf_gibbs.robot.mjcf import compiled

        said = "an MJCF file: MuJoCo read it itself, and Pinocchio read the URDF that it becomes"
        return Reference(_loaded(robot, source, mimic).source, lambda own: MuJoCo(own, compiled(text, Findings(file))), (said,))
    if tag == "sdf":
        from urdf_gibbs.robot.sdf import parsed, remarks

        def planted(own: Robot) -> Engine:
            with remarks(Findings(file)):
                return Drake(own, parsed(text, file, own.package_dirs))

        said = "an SDF file: Drake read it itself, and Pinocchio read the URDF that it becomes"
        return Reference(_loaded(robot, source, mimic).source, planted, (said,))
    if text != robot.source:
        _loaded(robot, source, mimic)  # UrdfError for what is no robot: nothing would be compared
    return Reference(source)


def _loaded(robot: Robot, source: Any, mimic: bool) -> Robot:
    """The robot itself where it is from that file: then the arguments of its xacro are those that it was loaded with."""
    if isinstance(source, str | bytes | os.PathLike) and source_name(source) == robot.file and os.path.isfile(robot.file):
        return robot
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load(source, robot.base, mimic, robot.package_dirs)
