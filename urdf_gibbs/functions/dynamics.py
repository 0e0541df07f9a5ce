"""Inertia and forces: M, its elements, the bias, gravity, inverse and forward dynamics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, shown, whole, wide
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.adaptive import entry, with_gravity
from urdf_gibbs.engine.elements import grouped_elements
from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.engine.quantities import ELEMENTS
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.sections import beam_of, root_moves
from urdf_gibbs.functions.arguments import filled
from urdf_gibbs.functions.kinematics import jacobian
from urdf_gibbs.names import Method
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

External = Mapping[str, tuple[ArrayLike, ArrayLike]]


def mass_matrix(robot: Robot, q: ArrayLike, *, method: Method = COMPILED, out: Array | None = None) -> Array:
    """Joint-space inertia matrix M, full and symmetric.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        method: The formulation.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        M (..., nv, nv) [kg, kg m, kg m^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the method is not for this robot.
        UnknownNameError: There is no such method.
    """
    try:
        if method is COMPILED:
            code = robot._derived.entries.get("mass_matrix") or entry(robot, "mass_matrix")
        else:
            code = kernel(robot, "mass_matrix", method=method)
    except AttributeError:
        check_robot(robot)
        raise
    return code(q) if out is None else code(q, out)


def mass_matrix_elements(
    robot: Robot,
    q: ArrayLike,
    pairs: Iterable[Sequence[int | str]],
    *,
    method: Method = COMPILED,
    threads: int = 1,
    out: Array | None = None,
) -> Array:
    """Entries of M alone.

    "compiled" makes machine code for this set of entries, "explicit" evaluates each by its own formula (WJ).

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        pairs: (row, column) of each entry, indices from 0 or velocity names.
        method: The formulation.
        threads: The pairs are divided into this many groups, in the order given, each with code of its own, and each group has a thread (at
            most ``get_threads()``). It pays for batches of long chains; for one state it does not, and many states of a small robot are
            better left to ``set_threads``.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        The entries (..., len(pairs)) [kg, kg m, kg m^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the method is not for this robot.
        UnknownNameError: There is no such method or velocity.
    """
    check_robot(robot)
    whole(threads, 1, "threads")
    if threads > 1 and method != COMPILED:
        raise ArgumentError(f"threads={threads} for method={method!r}, which is plain Python; expected 1, or method={COMPILED!r}")
    code = kernel(robot, ELEMENTS, pairs=pairs, method=method) if threads == 1 else grouped_elements(robot, pairs, threads)
    return code(q) if out is None else code(q, out)


def bias(
    robot: Robot, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, method: Method = COMPILED, out: Array | None = None
) -> Array:
    """Coriolis, centrifugal and gravity forces h: tau = M a + h.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        gravity: (3,) in the world [m/s^2].
        method: The formulation.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        h (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the method is not for this robot.
        UnknownNameError: There is no such method.
    """
    try:
        if gravity is EARTH_GRAVITY and method is COMPILED:
            code = robot._derived.entries.get("bias") or entry(robot, "bias")
        else:
            code, g = with_gravity(robot, "bias", gravity, method)
            if g is not None:
                return code(q, v, g) if out is None else code(q, v, g, out)
    except AttributeError:
        check_robot(robot)
        raise
    return code(q, v) if out is None else code(q, v, out)


def gravity_force(
    robot: Robot, q: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, method: Method = COMPILED, out: Array | None = None
) -> Array:
    """The part of h that gravity makes: what holds the robot at rest, but for the strain of elastic links.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        gravity: (3,) in the world [m/s^2].
        method: The formulation.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        Generalised forces (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the method is not for this robot.
        UnknownNameError: There is no such method.
    """
    try:
        if gravity is EARTH_GRAVITY and method is COMPILED:
            code = robot._derived.entries.get("gravity_force") or entry(robot, "gravity_force")
        else:
            code, g = with_gravity(robot, "gravity_force", gravity, method)
            if g is not None:
                return code(q, g) if out is None else code(q, g, out)
    except AttributeError:
        check_robot(robot)
        raise
    return code(q) if out is None else code(q, out)


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    external: External | None = None,
    method: Method = COMPILED,
    out: Array | None = None,
) -> Array:
    """The generalised forces that make an acceleration: tau = M a + h - sum of Jᵀ f.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        a: Accelerations (..., nv).
        gravity: (3,) in the world [m/s^2].
        external: For a link's name (force (..., 3) [N], torque (..., 3) [N m]) that act on it at the origin of its frame, in world axes.
        method: The formulation.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        tau (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the method is not for this robot.
        UnknownNameError: There is no such method or link.
    """
    if external is not None:
        own = inverse_dynamics(robot, q, v, a, gravity=gravity, method=method)
        return filled(_sum(tau=own, external=-_external_force(robot, q, external)), out)
    try:
        if gravity is EARTH_GRAVITY and method is COMPILED:
            code = robot._derived.entries.get("inverse_dynamics") or entry(robot, "inverse_dynamics")
        else:
            code, g = with_gravity(robot, "inverse_dynamics", gravity, method)
            if g is not None:
                return code(q, v, a, g) if out is None else code(q, v, a, g, out)
    except AttributeError:
        check_robot(robot)
        raise
    return code(q, v, a) if out is None else code(q, v, a, out)


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    external: External | None = None,
    method: Method = COMPILED,
    out: Array | None = None,
) -> Array:
    """The acceleration that forces make: M a + h = tau + sum of Jᵀ f.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        tau: Generalised forces (..., nv) [N m, N].
        gravity: (3,) in the world [m/s^2].
        external: For a link's name (force (..., 3) [N], torque (..., 3) [N m]) that act on it at the origin of its frame, in world axes.
        method: The formulation.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        a (..., nv) [rad/s^2, m/s^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the method is not for this robot.
        UnknownNameError: There is no such method or link.
        SingularMassMatrixError: M has no inverse; in a batch the other states are filled.
    """
    if external is not None:
        check_robot(robot)
        tau = _sum(tau=wide(tau, robot.nv, "tau"), external=_external_force(robot, q, external))
    try:
        if gravity is EARTH_GRAVITY and method is COMPILED:
            code = robot._derived.entries.get("forward_dynamics") or entry(robot, "forward_dynamics")
        else:
            code, g = with_gravity(robot, "forward_dynamics", gravity, method)
            if g is not None:
                return code(q, v, tau, g) if out is None else code(q, v, tau, g, out)
    except AttributeError:
        check_robot(robot)
        raise
    return code(q, v, tau) if out is None else code(q, v, tau, out)


def _sum(**forces: Array) -> Array:
    try:
        return np.asarray(sum(forces.values()))
    except ValueError:
        listed = ", ".join(f"{name} {force.shape[:-1]}" for name, force in forces.items())
        raise ArgumentError(f"the leading axes do not broadcast: {listed}") from None


def _external_force(robot: Robot, q: ArrayLike, external: External) -> Array:
    """sum of Jᵀ (force, torque), shape (..., nv)."""
    if not isinstance(external, Mapping):
        raise ArgumentError(f"external={shown(external)}, expected a dict of (force (3,), torque (3,)) by the names of links")
    total = np.zeros(robot.nv)
    for link, pair in external.items():
        try:
            force, torque = pair
        except (TypeError, ValueError):
            raise ArgumentError(f"external[{link!r}] is {pair!r}, expected a pair (force (3,), torque (3,))") from None
        elastic = beam_of(robot, link)
        if elastic is not None and root_moves(elastic[1]):
            raise ArgumentError(
                f"external[{link!r}]: the root of this elastic link moves against the link's frame in these modes, "
                f"expected a force on {link + '.tip'!r}, or modes with a root at rest"
            )
        parts = wide(force, 3, f"external force on {link}"), wide(torque, 3, f"external torque on {link}")
        wrench = np.concatenate(np.broadcast_arrays(*parts), axis=-1)
        total = total + np.einsum("...ij,...i->...j", jacobian(robot, q, link), wrench)
    return total
