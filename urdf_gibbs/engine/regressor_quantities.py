"""Regressors as quantities of the engine: torques and energies in the ten inertial parameters of each body."""

from __future__ import annotations

from typing import Any

from urdf_gibbs.derivatives import regressors
from urdf_gibbs.engine.quantity import Options, Quantity, Traced
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot


def _width(robot: Robot) -> int:
    return regressors.PARAMETERS * len(robot.joints)


def _torque(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    Y = regressors.torque_regressor(robot, q, v, a, list(options.gravity))
    return [entry for row in Y for entry in row], []


def _packed(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    blocks = regressors.torque_blocks(robot, q, v, a, list(options.gravity))
    return [entry for block in blocks for entry in block], []


def _packed_shape(robot: Robot) -> tuple[int, ...]:
    return (len(regressors.blocks(robot)), regressors.PARAMETERS)


def _kinetic(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    return regressors.kinetic_energy_regressor(robot, q, v), []


def _potential(robot: Robot, options: Options, q: list[Any]) -> Traced:
    return regressors.potential_energy_regressor(robot, q, list(options.gravity)), []


def _rigid_only(robot: Robot, options: Options, *inputs: list[Any]) -> Traced:
    raise ArgumentError(f"{robot.name or 'the robot'} has elastic links: regressors are for robots with rigid links")


REGRESSORS: dict[str, Quantity] = {
    "torque_regressor": Quantity(
        ("q", "v", "a"), lambda robot: (robot.nv, _width(robot)), _torque, local=False, gravity=True, elastic=_rigid_only, as_made=True
    ),
    "torque_regressor_packed": Quantity(
        ("q", "v", "a"), _packed_shape, _packed, local=False, gravity=True, elastic=_rigid_only, as_made=True
    ),
    "kinetic_energy_regressor": Quantity(("q", "v"), lambda robot: (_width(robot),), _kinetic, local=False, elastic=_rigid_only),
    "potential_energy_regressor": Quantity(
        ("q",), lambda robot: (_width(robot),), _potential, local=False, gravity=True, elastic=_rigid_only
    ),
}
