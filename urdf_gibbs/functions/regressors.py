"""Regressors: torques and energies as linear functions of the inertial parameters, which is what identification starts from.

The parameters pi are those of ``robot.parameters.ravel()``, ten for each moving body in the order of ``robot.joints``: mass, mass times
centre of mass (3), and the inertia about the origin of the body's frame (xx, xy, yy, xz, yz, zz), all in the body's axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import Array
from urdf_gibbs.derivatives.regressors import blocks
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.adaptive import entry, with_gravity
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot


def torque_regressor(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, out: Array | None = None
) -> Array:
    """Joint torque regressor Y: tau = Y pi is the force of inverse dynamics, for any parameters pi of the bodies.

    Args:
        robot: Made by ``load``; its links are rigid.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        a: Accelerations (..., nv).
        gravity: (3,) in the world [m/s^2].
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        Y (..., nv, 10 nb), ten columns for each moving body in the order of ``robot.parameters``.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the robot has elastic links.
    """
    try:
        if gravity is EARTH_GRAVITY:
            code = robot._derived.entries.get("torque_regressor") or entry(robot, "torque_regressor")
        else:
            code, g = with_gravity(robot, "torque_regressor", gravity, COMPILED)
            if g is not None:
                return code(q, v, a, g) if out is None else code(q, v, a, g, out)
    except AttributeError:
        check_robot(robot)
        raise
    return code(q, v, a) if out is None else code(q, v, a, out)


def torque_regressor_blocks(robot: Robot) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the torque regressor is not always zero: a body's ten columns have entries in the rows of velocities that move it.

    ``robot.kernel("torque_regressor_packed")`` computes these blocks alone (..., n, 10), a small part of Y for a large robot:
    ``Y.reshape(..., nv, nb, 10)[..., velocities, bodies, :]``.

    Args:
        robot: Made by ``load``; its links are rigid.

    Returns:
        (velocities (n,), bodies (n,)) of the blocks: indices into v and into ``robot.joints``.

    Raises:
        ArgumentError: This is no robot, or it has elastic links.
    """
    check_robot(robot)
    if robot.is_flexible:
        raise ArgumentError(f"{robot.name or 'the robot'} has elastic links: regressors are for robots with rigid links")
    velocities, bodies = np.array(blocks(robot), dtype=np.intp).reshape(-1, 2).T
    return velocities, bodies


def kinetic_energy_regressor(robot: Robot, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Kinetic energy regressor y: T = y . pi for any parameters pi of the bodies.

    Args:
        robot: Made by ``load``; its links are rigid.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        y (..., 10 nb), ten entries for each moving body in the order of ``robot.parameters``.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the robot has elastic links.
    """
    try:
        code = robot._derived.entries.get("kinetic_energy_regressor") or entry(robot, "kinetic_energy_regressor")
    except AttributeError:
        check_robot(robot)
        raise
    return code(q, v) if out is None else code(q, v, out)


def potential_energy_regressor(robot: Robot, q: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, out: Array | None = None) -> Array:
    """Potential energy regressor y: V = y . pi for any parameters pi of the bodies, zero at the world's origin.

    Args:
        robot: Made by ``load``; its links are rigid.
        q: Coordinates (..., nq).
        gravity: (3,) in the world [m/s^2].
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        y (..., 10 nb), ten entries for each moving body in the order of ``robot.parameters``.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the robot has elastic links.
    """
    try:
        if gravity is EARTH_GRAVITY:
            code = robot._derived.entries.get("potential_energy_regressor") or entry(robot, "potential_energy_regressor")
        else:
            code, g = with_gravity(robot, "potential_energy_regressor", gravity, COMPILED)
            if g is not None:
                return code(q, g) if out is None else code(q, g, out)
    except AttributeError:
        check_robot(robot)
        raise
    return code(q) if out is None else code(q, out)
