"""Derivatives of inverse and forward dynamics as matrices.

Derivatives with respect to q are in tangent space: column j is the change along q (+) e_j as ``Robot.integrate`` moves it, so that they
have nv columns. For a floating base the first six are linear and angular displacements in its own axes, as in Pinocchio.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import Array, one_of
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.adaptive import entry, with_gravity
from urdf_gibbs.engine.derivative_quantities import FORWARD, INVERSE, entries_of
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot


class InverseDerivatives(NamedTuple):
    """dtau/dq, dtau/dv and dtau/da = M, (..., nv, nv) each: entry [i, j] is the change of tau_i with coordinate j."""

    q: Array
    v: Array
    a: Array


class ForwardDerivatives(NamedTuple):
    """da/dq, da/dv and da/dtau = M^-1, (..., nv, nv) each: entry [i, j] is the change of a_i with coordinate j."""

    q: Array
    v: Array
    tau: Array


def inverse_dynamics_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, out: Array | None = None
) -> InverseDerivatives:
    """How the forces tau = M a + h of ``inverse_dynamics`` change with the configuration, the velocities and the accelerations.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        a: Accelerations (..., nv).
        gravity: (3,) in the world [m/s^2].
        out: Array (..., 3, nv, nv) that is filled, and of which the result is views; None: a new one.

    Returns:
        dtau/dq (in tangent space), dtau/dv and dtau/da = M, (..., nv, nv) each.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    try:
        if gravity is EARTH_GRAVITY:
            code = robot._derived.entries.get(INVERSE) or entry(robot, INVERSE)
            found = code(q, v, a) if out is None else code(q, v, a, out)
        else:
            code, g = with_gravity(robot, INVERSE, gravity, COMPILED)
            last = () if g is None else (g,)
            found = code(q, v, a, *last) if out is None else code(q, v, a, *last, out)
    except AttributeError:
        check_robot(robot)
        raise
    if found.ndim == 3:
        return InverseDerivatives(found[0], found[1], found[2])
    return InverseDerivatives(found[..., 0, :, :], found[..., 1, :, :], found[..., 2, :, :])


def forward_dynamics_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, out: Array | None = None
) -> ForwardDerivatives:
    """How the accelerations of ``forward_dynamics`` change with the configuration, the velocities and the forces.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        tau: Generalised forces (..., nv) [N m, N].
        gravity: (3,) in the world [m/s^2].
        out: Array (..., 3, nv, nv) that is filled, and of which the result is views; None: a new one.

    Returns:
        da/dq (in tangent space), da/dv and da/dtau = M^-1, (..., nv, nv) each.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
        SingularMassMatrixError: M has no inverse; in a batch the other states are filled.
    """
    try:
        if gravity is EARTH_GRAVITY:
            code = robot._derived.entries.get(FORWARD) or entry(robot, FORWARD)
            found = code(q, v, tau) if out is None else code(q, v, tau, out)
        else:
            code, g = with_gravity(robot, FORWARD, gravity, COMPILED)
            last = () if g is None else (g,)
            found = code(q, v, tau, *last) if out is None else code(q, v, tau, *last, out)
    except AttributeError:
        check_robot(robot)
        raise
    if found.ndim == 3:
        return ForwardDerivatives(found[0], found[1], found[2])
    return ForwardDerivatives(found[..., 0, :, :], found[..., 1, :, :], found[..., 2, :, :])


def inertia_force_derivatives(robot: Robot, q: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
    """How the inertial forces M(q) a change with the configuration, a being held.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        a: Accelerations, or any vector that M multiplies (..., nv).
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        d(M a)/dq (..., nv, nv), in tangent space.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    check_robot(robot)
    code = entry(robot, "inertia_force_derivatives")
    return code(q, a) if out is None else code(q, a, out)


def gravity_force_derivatives(robot: Robot, q: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, out: Array | None = None) -> Array:
    """How the forces of ``gravity_force`` change with the configuration.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        gravity: (3,) in the world [m/s^2].
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        dg/dq (..., nv, nv), in tangent space.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    check_robot(robot)
    code, g = with_gravity(robot, "gravity_force_derivatives", gravity, COMPILED)
    last = () if g is None else (g,)
    return code(q, *last) if out is None else code(q, *last, out)


def derivative_entries(robot: Robot, quantity: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which entries of the matrices a packed kernel holds: those that the tree of joints does not make zero.

    ``robot.kernel("inverse_dynamics_derivatives_packed")`` returns (..., 3, n), and its entry [..., k, e] is entry
    [..., k, rows[e], columns[e]] of ``robot.kernel("inverse_dynamics_derivatives")``; the same for forward dynamics.

    Args:
        robot: Made by ``load``.
        quantity: "inverse_dynamics_derivatives" or "forward_dynamics_derivatives".

    Returns:
        rows (n,) and columns (n,).

    Raises:
        ArgumentError: The robot is none.
        UnknownNameError: There is no such quantity.
    """
    check_robot(robot)
    rows, columns = entries_of(robot, one_of(quantity, (INVERSE, FORWARD), "quantity"))
    return rows.copy(), columns.copy()
