"""What a notebook shows of a robot: its figures, a picture of its branches, and its joints."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.templates import rendered
from urdf_gibbs.view.branches import draw
from urdf_gibbs.view.elastic import moving_mass

SHOWN = 12  # joints listed before the rest is only counted


def summary(robot: Robot) -> str:
    """The robot as HTML, with the picture inside."""
    joints = [joint for joint in robot.joints if not joint.is_mimic]
    warnings = sum(finding.severity == "warning" for finding in robot.findings)
    facts = f"{len(robot.links)} links, {len(robot.joints)} moving bodies, nq {robot.nq}, nv {robot.nv}, {robot.base} base, "
    facts += f"{moving_mass(robot):.6g} kg moving, {len(robot.branches)} branches"
    facts += f", {warnings} warning{'s' if warnings > 1 else ''}: urdf_gibbs.check(robot.file)" if warnings else ""
    shown = [(joint.name, joint.type, _limits(joint.type, joint.lower, joint.upper)) for joint in joints[:SHOWN]]
    more = max(0, len(joints) - SHOWN)
    return rendered("view", "notebook.html", name=robot.name, facts=facts, joints=shown, more=more, picture=_picture(robot)).rstrip("\n")


def _picture(robot: Robot) -> str:
    """The branches as a PNG, in base 64; "" where nothing moves."""
    if not robot.joints:
        return ""
    buffer = BytesIO()
    draw(robot, robot.neutral(), buffer)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _limits(kind: str, lower: float, upper: float) -> str:
    if not np.isfinite([lower, upper]).all() or kind not in ("revolute", "prismatic"):
        return ""
    scale, unit = (1.0, "m") if kind == "prismatic" else (180.0 / np.pi, "°")
    return f"{lower * scale:.4g} … {upper * scale:.4g} {unit}"
