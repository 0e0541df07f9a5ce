"""What a notebook shows of a robot: its figures, a picture of its branches, and its joints."""

from __future__ import annotations

import base64
from html import escape
from io import BytesIO

import numpy as np

from urdf_gibbs.robot.model import Robot
from urdf_gibbs.view.branches import draw
from urdf_gibbs.view.elastic import moving_mass

SHOWN = 12  # joints listed before the rest is only counted


def summary(robot: Robot) -> str:
    """The robot as HTML, with the picture inside."""
    joints = [joint for joint in robot.joints if not joint.is_mimic]
    rows = "".join(
        f"<tr><td>{escape(joint.name)}</td><td>{joint.type}</td><td>{_limits(joint.type, joint.lower, joint.upper)}</td></tr>"
        for joint in joints[:SHOWN]
    )
    more = f"<tr><td colspan=3>and {len(joints) - SHOWN} more</td></tr>" if len(joints) > SHOWN else ""
    warnings = sum(finding.severity == "warning" for finding in robot.findings)
    facts = f"{len(robot.links)} links, {len(robot.joints)} moving bodies, nq {robot.nq}, nv {robot.nv}, {robot.base} base, "
    facts += f"{moving_mass(robot):.6g} kg moving, {len(robot.branches)} branches"
    facts += f", {warnings} warning{'s' if warnings > 1 else ''}: urdf_gibbs.check(robot.file)" if warnings else ""
    return (
        f'<div style="display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start">'
        f"<div><b>{escape(robot.name)}</b><br>{escape(facts)}<table><tr><th>joint</th><th>type</th><th>limits</th></tr>{rows}{more}</table></div>{_picture(robot)}</div>"
    )


def _picture(robot: Robot) -> str:
    if not robot.joints:
        return ""
    buffer = BytesIO()
    draw(robot, robot.neutral(), buffer)
    source = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="branches of {escape(robot.name, quote=True)}" style="max-width: 480px" src="data:image/png;base64,{source}">'


def _limits(kind: str, lower: float, upper: float) -> str:
    if not np.isfinite([lower, upper]).all() or kind not in ("revolute", "prismatic"):
        return ""
    scale, unit = (1.0, "m") if kind == "prismatic" else (180.0 / np.pi, "°")
    return f"{lower * scale:.4g} … {upper * scale:.4g} {unit}"
