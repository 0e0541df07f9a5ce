"""The functions of the package over arrays of JAX: jit, vmap, and derivatives of both kinds (grad, vjp, jvp), by compiled kernels.

JAX calls the robot's machine code directly; there is no second copy of the mathematics. Arrays are float64 on a CPU, so JAX must be told
``jax.config.update("jax_enable_x64", True)``. The robot and gravity are constants of a traced function.

Derivatives with respect to q are with respect to its nq entries. For the quaternion of a floating joint a gradient has no part along the
quaternion, as if its length did not matter: it is the gradient in the tangent space of unit quaternions. Second derivatives are refused.

A state that has no answer (a quaternion that is not unit, a singular mass matrix) makes the whole call fail with a JaxRuntimeError, when
its result is first used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import shown
from urdf_gibbs.autodiff.coordinates import moved
from urdf_gibbs.autodiff.kernels import of_frame, under_gravity
from urdf_gibbs.engine.kernel_base import Kernel
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.jax.primitives import LIBRARY, kernel_p
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

with extras_named():
    import jax
    import jax.numpy as jnp

__all__ = ["bias", "forward_dynamics", "frame_placement", "gravity_force", "integrate", "inverse_dynamics", "jacobian", "mass_matrix"]


def mass_matrix(robot: Robot, q: Any) -> jax.Array:
    """Joint-space inertia matrix M, full and symmetric.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).

    Returns:
        M (..., nv, nv) [kg, kg m, kg m^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
    """
    return _call(*under_gravity(robot, "mass_matrix", EARTH_GRAVITY), q)


def bias(robot: Robot, q: Any, v: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> jax.Array:
    """Coriolis, centrifugal and gravity forces h: tau = M a + h.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        h (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
    """
    return _call(*under_gravity(robot, "bias", gravity), q, v)


def gravity_force(robot: Robot, q: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> jax.Array:
    """The part of h that gravity makes.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        Generalised forces (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
    """
    return _call(*under_gravity(robot, "gravity_force", gravity), q)


def inverse_dynamics(robot: Robot, q: Any, v: Any, a: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> jax.Array:
    """The generalised forces that make an acceleration: tau = M a + h.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        a: Accelerations (..., nv).
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        tau (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
    """
    return _call(*under_gravity(robot, "inverse_dynamics", gravity), q, v, a)


def forward_dynamics(robot: Robot, q: Any, v: Any, tau: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> jax.Array:
    """The acceleration that forces make: M a + h = tau.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        tau: Generalised forces (..., nv) [N m, N].
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        a (..., nv) [rad/s^2, m/s^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
    """
    return _call(*under_gravity(robot, "forward_dynamics", gravity), q, v, tau)


def jacobian(robot: Robot, q: Any, frame: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> jax.Array:
    """Jacobian of a point of a link, linear rows first, in world axes.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        frame: Name of the link.
        point: (3,) in the link's frame [m], a constant.

    Returns:
        J (..., 6, nv).

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
        UnknownNameError: There is no such link.
    """
    return _call(of_frame(robot, "jacobian", frame, point), (), q)


def frame_placement(robot: Robot, q: Any, frame: str) -> jax.Array:
    """Placement of a link in the world.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        frame: Name of the link.

    Returns:
        Homogeneous matrices (..., 4, 4).

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
        UnknownNameError: There is no such link.
    """
    return _call(of_frame(robot, "placement", frame), (), q)


def integrate(robot: Robot, q: Any, v: Any) -> jax.Array:
    """q (+) v, the configuration after a unit of time with constant velocities v; for a step of dt, ``integrate(robot, q, dt * v)``.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities times time (..., nv).

    Returns:
        New coordinates (..., nq), quaternions unit.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or JAX is not in 64 bits.
    """
    check_robot(robot)
    q, v = _together(_array(q, robot.nq, "q"), _array(v, robot.nv, "v"))
    result: jax.Array = moved(robot, LIBRARY, q, v)
    return result


def _call(kernel: Kernel, gravity: tuple[float, ...], *inputs: Any) -> jax.Array:
    named = zip(inputs, kernel.widths, kernel.letters, strict=False)
    arrays = [_array(x, width, letter) for x, width, letter in named]
    if gravity:
        arrays.append(jnp.array(gravity))
    result: jax.Array = kernel_p.bind(*_together(*arrays), kernel=kernel)
    return result


def _array(values: Any, width: int, name: str) -> jax.Array:
    """An array (..., width) of float64; whole numbers are converted, floats of fewer digits are a mistake."""
    if not jax.config.jax_enable_x64:
        raise ArgumentError('JAX makes float32 of all numbers, expected float64: jax.config.update("jax_enable_x64", True) at the start')
    try:
        array = jnp.asarray(values)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {shown(values)}, expected numbers (..., {width})") from None
    if array.ndim == 0 or array.shape[-1] != width:
        raise ArgumentError(f"{name} has shape {array.shape}, expected (..., {width})")
    if array.dtype != np.float64:
        if not jnp.issubdtype(array.dtype, jnp.integer):
            raise ArgumentError(f"{name} has dtype {array.dtype}, expected float64")
        array = array.astype(np.float64)
    return array


def _together(*arrays: jax.Array) -> list[jax.Array]:
    """With the same leading axes."""
    try:
        batch = jnp.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    except ValueError:
        raise ArgumentError(f"the leading axes do not broadcast: {', '.join(str(x.shape[:-1]) for x in arrays)}") from None
    return [x if x.shape[:-1] == batch else jnp.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays]
