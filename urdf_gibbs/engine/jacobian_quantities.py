"""The Jacobian of a point in a reference, and how it changes: in closed form for rigid links, by forward sweeps over its graph for elastic
ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.derivatives import jacobians
from urdf_gibbs.derivatives.tangent_space import coordinate_rates
from urdf_gibbs.dynamics import kinematics
from urdf_gibbs.dynamics.matrices import Matrix, Vector
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.references import ALIGNED, Place, place_of, referred, referred_change
from urdf_gibbs.engine.differentiate import TAPES, Played, Tape
from urdf_gibbs.engine.quantity import Options, Quantity, Traced
from urdf_gibbs.flexible.sections import body_point
from urdf_gibbs.robot.model import Robot


def _jacobian(robot: Robot, options: Options, q: list[Any]) -> Traced:
    body, point = body_point(robot, options.frame, options.point)
    J = kinematics.jacobian(model_of(robot), q, body, point.tolist())
    if options.reference != ALIGNED:
        J = referred(J, _place(robot, options, q), options.reference)
    return _flat(J), []


def _rate(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    model = model_of(robot)
    body, point = body_point(robot, options.frame, options.point)
    rate = jacobians.jacobian_rate(model, q, v, body, point.tolist())
    if options.reference != ALIGNED:
        J = kinematics.jacobian(model, q, body, point.tolist())
        twist = J @ Vector(v)
        rate = referred_change(rate, J, Vector(twist[:3]), Vector(twist[3:]), _place(robot, options, q), options.reference)
    return _flat(rate), []


def _derivatives(robot: Robot, options: Options, q: list[Any]) -> Traced:
    model = model_of(robot)
    body, point = body_point(robot, options.frame, options.point)
    changes = jacobians.jacobian_derivatives(model, q, body, point.tolist())
    if options.reference != ALIGNED:
        J = kinematics.jacobian(model, q, body, point.tolist())
        place = _place(robot, options, q)
        along = []
        for j in range(robot.nv):
            column = J.column(j)
            change = Matrix([changes[r].column(j) for r in range(6)])
            along.append(referred_change(change, J, Vector(column[:3]), Vector(column[3:]), place, options.reference))
        return [along[j][r][k] for r in range(6) for k in range(robot.nv) for j in range(robot.nv)], []
    return [entry for matrix in changes for entry in _flat(matrix)], []


def _place(robot: Robot, options: Options, q: list[Any]) -> Place:
    """Of the point in the world, with the axes of the link; in those of the section that the point is in where the link is elastic."""
    body, point = body_point(robot, options.frame, options.point)
    axes = Matrix(robot.frame(options.frame).placement[:3, :3].tolist())
    return place_of(model_of(robot), q, body, point.tolist(), axes)


def _flat(matrix: Matrix) -> list[Any]:
    return [entry for row in matrix for entry in row]


def _played(robot: Robot, options: Options, q: list[Any]) -> Played:
    """The Jacobian's entries, row by row."""
    key = ("jacobian", options.frame, options.point, options.reference)
    return TAPES.get(robot, key, lambda: Tape(lambda q: _jacobian(robot, options, q)[0], q=robot.nq)).played({"q": q})


def _elastic_rate(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    return _played(robot, options, q).tangents({"q": coordinate_rates(robot.joints, q, v)}), []


def _elastic_derivatives(robot: Robot, options: Options, q: list[Any]) -> Traced:
    played = _played(robot, options, q)
    along = [played.tangents({"q": coordinate_rates(robot.joints, q, unit)}) for unit in np.eye(robot.nv).tolist()]
    return [change for entry in zip(*along, strict=True) for change in entry], []


JACOBIANS: dict[str, Quantity] = {
    "jacobian": Quantity(("q",), lambda robot: (6, robot.nv), _jacobian, local=False),
    "jacobian_rate": Quantity(("q", "v"), lambda robot: (6, robot.nv), _rate, local=False, elastic=_elastic_rate),
    "jacobian_derivatives": Quantity(
        ("q",), lambda robot: (6, robot.nv, robot.nv), _derivatives, local=False, elastic=_elastic_derivatives
    ),
}
