"""How the Jacobian of a point changes: in closed form for rigid links, by forward sweeps over its graph for elastic ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.derivatives import jacobians
from urdf_gibbs.derivatives.tangent_space import coordinate_rates
from urdf_gibbs.dynamics import kinematics
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.engine.differentiate import TAPES, Played, Tape
from urdf_gibbs.engine.quantity import Options, Quantity, Traced
from urdf_gibbs.flexible.sections import body_point
from urdf_gibbs.robot.model import Robot


def _rate(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    body, point = body_point(robot, options.frame, options.point)
    return [entry for row in jacobians.jacobian_rate(model_of(robot), q, v, body, point.tolist()) for entry in row], []


def _derivatives(robot: Robot, options: Options, q: list[Any]) -> Traced:
    body, point = body_point(robot, options.frame, options.point)
    changes = jacobians.jacobian_derivatives(model_of(robot), q, body, point.tolist())
    return [entry for matrix in changes for row in matrix for entry in row], []


def _played(robot: Robot, options: Options, q: list[Any]) -> Played:
    """The Jacobian's entries, row by row."""
    body, point = body_point(robot, options.frame, options.point)

    def entries(q: list[Any]) -> list[Any]:
        return [entry for row in kinematics.jacobian(model_of(robot), q, body, point.tolist()) for entry in row]

    return TAPES.get(robot, ("jacobian", options.frame, options.point), lambda: Tape(entries, q=robot.nq)).played({"q": q})


def _elastic_rate(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    return _played(robot, options, q).tangents({"q": coordinate_rates(robot.joints, q, v)}), []


def _elastic_derivatives(robot: Robot, options: Options, q: list[Any]) -> Traced:
    played = _played(robot, options, q)
    along = [played.tangents({"q": coordinate_rates(robot.joints, q, unit)}) for unit in np.eye(robot.nv).tolist()]
    return [change for entry in zip(*along, strict=True) for change in entry], []


JACOBIANS: dict[str, Quantity] = {
    "jacobian_rate": Quantity(("q", "v"), lambda robot: (6, robot.nv), _rate, local=False, elastic=_elastic_rate),
    "jacobian_derivatives": Quantity(
        ("q",), lambda robot: (6, robot.nv, robot.nv), _derivatives, local=False, elastic=_elastic_derivatives
    ),
}
