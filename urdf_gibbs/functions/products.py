"""Derivatives of inverse and forward dynamics times a vector, without the matrices: along a change (JVP), or weighted (VJP).

Derivatives with respect to q are in tangent space: along q (+) dq as ``Robot.integrate`` moves it, so that dq has nv entries. For a
floating base they are a linear and an angular displacement in its own axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.adaptive import entry, with_gravity
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot


class InverseGradient(NamedTuple):
    """wᵀ dtau/dq, wᵀ dtau/dv and wᵀ dtau/da, (..., nv) each."""

    dq: Array
    dv: Array
    da: Array


class ForwardGradient(NamedTuple):
    """wᵀ da/dq, wᵀ da/dv and wᵀ da/dtau, (..., nv) each."""

    dq: Array
    dv: Array
    dtau: Array


def inverse_dynamics_jvp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    da: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    out: Array | None = None,
) -> Array:
    """How the forces of ``inverse_dynamics`` change along (dq, dv, da): dtau/dq dq + dtau/dv dv + M da.

    It costs about two and a half times as much as ``inverse_dynamics``.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        a: Accelerations (..., nv).
        dq: Change of q (..., nv), in tangent space.
        dv: Change of v (..., nv).
        da: Change of a (..., nv).
        gravity: (3,) in the world [m/s^2].
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        The change of tau (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    return _product(robot, "inverse_dynamics_jvp", (q, v, a, dq, dv, da), gravity, out)


def inverse_dynamics_vjp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    w: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    out: Array | None = None,
) -> InverseGradient:
    """The gradient of w . tau, tau that of ``inverse_dynamics``, with respect to q, v and a.

    It costs about two and a half times as much as ``inverse_dynamics``.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        a: Accelerations (..., nv).
        w: Weights of the forces (..., nv).
        gravity: (3,) in the world [m/s^2].
        out: Array (..., 3, nv) that is filled, and of which the returned arrays are parts; None: a new one.

    Returns:
        (dq, dv, da): wᵀ dtau/dq in tangent space, wᵀ dtau/dv and wᵀ dtau/da = M w, (..., nv) each.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    return InverseGradient(*_rows(_product(robot, "inverse_dynamics_vjp", (q, v, a, w), gravity, out)))


def forward_dynamics_jvp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    out: Array | None = None,
) -> Array:
    """How the accelerations of ``forward_dynamics`` change along (dq, dv, dtau): da/dq dq + da/dv dv + M^-1 dtau.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        tau: Generalised forces (..., nv) [N m, N].
        dq: Change of q (..., nv), in tangent space.
        dv: Change of v (..., nv).
        dtau: Change of tau (..., nv).
        gravity: (3,) in the world [m/s^2].
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        The change of a (..., nv) [rad/s^2, m/s^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
        SingularMassMatrixError: M has no inverse; in a batch the other states are filled.
    """
    return _product(robot, "forward_dynamics_jvp", (q, v, tau, dq, dv, dtau), gravity, out)


def forward_dynamics_vjp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    w: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    out: Array | None = None,
) -> ForwardGradient:
    """The gradient of w . a, a that of ``forward_dynamics``, with respect to q, v and tau.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        tau: Generalised forces (..., nv) [N m, N].
        w: Weights of the accelerations (..., nv).
        gravity: (3,) in the world [m/s^2].
        out: Array (..., 3, nv) that is filled, and of which the returned arrays are parts; None: a new one.

    Returns:
        (dq, dv, dtau): wᵀ da/dq in tangent space, wᵀ da/dv and wᵀ da/dtau = M^-1 w, (..., nv) each.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
        SingularMassMatrixError: M has no inverse; in a batch the other states are filled.
    """
    return ForwardGradient(*_rows(_product(robot, "forward_dynamics_vjp", (q, v, tau, w), gravity, out)))


def _product(robot: Robot, name: str, inputs: tuple[ArrayLike, ...], gravity: ArrayLike, out: Array | None) -> Array:
    try:
        if gravity is EARTH_GRAVITY:
            code = robot._derived.entries.get(name) or entry(robot, name)
        else:
            code, g = with_gravity(robot, name, gravity, COMPILED)
            inputs = inputs if g is None else (*inputs, g)
    except AttributeError:
        check_robot(robot)
        raise
    return code(*inputs) if out is None else code(*inputs, out)


def _rows(stacked: Array) -> tuple[Array, Array, Array]:
    """The three rows of (..., 3, nv)."""
    first, second, third = np.moveaxis(stacked, -2, 0)
    return first, second, third
