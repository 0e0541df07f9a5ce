"""Energies, momentum, the centre of mass, and where links are and how they move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, flag, one_of, triple
from urdf_gibbs.dynamics.references import ALIGNED, LOCAL, WORLD
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.engine.adaptive import Code, entry, with_gravity
from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.functions.arguments import check_frame, filled
from urdf_gibbs.names import Method, Reference
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike, *, method: Method = COMPILED, out: Array | None = None) -> float | Array:
    """Kinetic energy T = vᵀ M v / 2.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        method: The formulation.
        out: Array of the result's shape, () for one state, that is filled and returned; None: a new one.

    Returns:
        T [J]: a float for one state, (...) for a batch.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the method is not for this robot.
        UnknownNameError: There is no such method.
    """
    try:
        if method is COMPILED:
            code = robot._derived.entries.get("kinetic_energy") or entry(robot, "kinetic_energy")
        else:
            code = kernel(robot, "kinetic_energy", method=method)
    except AttributeError:
        check_robot(robot)
        raise
    if out is not None:
        return code(q, v, out)
    energy = code(q, v)
    return energy if energy.ndim else energy.item()


def potential_energy(
    robot: Robot, q: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, include_base: bool = False, out: Array | None = None
) -> float | Array:
    """Potential energy -m g . c of the links that move, with the strain energy of elastic ones; zero at the world's origin.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        gravity: g (3,) in the world [m/s^2].
        include_base: Whether the links fixed to the world count.
        out: Array of the result's shape, () for one state, that is filled and returned; None: a new one.

    Returns:
        The energy [J]: a float for one state, (...) for a batch.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    try:
        if gravity is EARTH_GRAVITY:
            g, code = None, robot._derived.entries.get("potential_energy") or entry(robot, "potential_energy")
        else:
            code, g = with_gravity(robot, "potential_energy", gravity, COMPILED)
    except AttributeError:
        check_robot(robot)
        raise
    if include_base is not False and flag(include_base, "include_base"):
        base = robot.base_inertia
        fixed = base.mass * float(np.dot(triple(gravity, "gravity"), base.centre_of_mass))
        energy = np.asarray((code(q) if g is None else code(q, g)) - fixed)
        return filled(energy, out) if out is not None or energy.ndim else float(energy)
    if out is not None:
        return code(q, out) if g is None else code(q, g, out)
    energy = code(q) if g is None else code(q, g)
    return energy if energy.ndim else energy.item()


def centre_of_mass(robot: Robot, q: ArrayLike, *, include_base: bool = False, out: Array | None = None) -> Array:
    """Centre of mass of the links that move.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        include_base: Whether the links fixed to the world count.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        (..., 3) in the world [m].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the robot has no mass.
    """
    try:
        if include_base is False:
            code = robot._derived.entries.get("centre_of_mass") or entry(robot, "centre_of_mass")
            return code(q) if out is None else code(q, out)
    except AttributeError:
        check_robot(robot)
        raise
    check_robot(robot)
    if not flag(include_base, "include_base"):
        return centre_of_mass(robot, q, out=out)
    base = robot.base_inertia
    moment = entry(robot, "first_moment")(q) + base.mass * np.array([1.0, *base.centre_of_mass])
    mass = moment[..., :1]
    if moment.size and not np.all(mass):
        raise ArgumentError(f"{robot.name or 'the robot'} has no mass: its centre of mass does not exist")
    return filled(np.asarray(moment[..., 1:] / mass), out)


def momentum(robot: Robot, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Linear momentum, then angular momentum about the centre of mass, of the links that move.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        (..., 6) in world axes [N s, N m s].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    try:
        code = robot._derived.entries.get("momentum") or entry(robot, "momentum")
    except AttributeError:
        check_robot(robot)
        raise
    return code(q, v) if out is None else code(q, v, out)


def jacobian(
    robot: Robot,
    q: ArrayLike,
    frame: str,
    point: ArrayLike | None = None,
    *,
    reference: Reference = ALIGNED,
    out: Array | None = None,
) -> Array:
    """Jacobian of a link: velocity of one of its points, then its angular velocity, from v.

    A point of an elastic link, given where it is in the straight link, lies in the section at its root or at its tip and moves with it.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        frame: Name of the link.
        point: (3,) in the link's frame [m]; None: its origin.
        reference: "world_aligned": the point's velocity, in world axes; "world": that of what moves with the link at the world's origin;
            "local": the point's velocity, in the link's axes.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        J (..., 6, nv), linear rows first.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the point lies in no section of an elastic link that is known.
        UnknownNameError: There is no such link or reference.
    """
    try:
        if point is None and reference is ALIGNED:
            code: Code = robot._derived.entries["jacobian", frame]
        else:
            code = _of_point(robot, "jacobian", frame, point, reference)
    except (AttributeError, KeyError, TypeError):
        code = _of_point(robot, "jacobian", frame, point, reference)
    return code(q) if out is None else code(q, out)


def jacobian_rate(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    point: ArrayLike | None = None,
    *,
    reference: Reference = ALIGNED,
    out: Array | None = None,
) -> Array:
    """Rate of the Jacobian of a link, J', while the robot moves with v: J a + J' v is the rate of J v.

    In the reference "world_aligned" that is the point's acceleration.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        frame: Name of the link.
        point: (3,) in the link's frame [m]; None: its origin.
        reference: "world_aligned": the point's velocity, in world axes; "world": that of what moves with the link at the world's origin;
            "local": the point's velocity, in the link's axes.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        J' (..., 6, nv), the derivative of J in time, linear rows first.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the point lies in no section of an elastic link that is known.
        UnknownNameError: There is no such link or reference.
    """
    code = _of_point(robot, "jacobian_rate", frame, point, reference)
    return code(q, v) if out is None else code(q, v, out)


def jacobian_derivatives(
    robot: Robot,
    q: ArrayLike,
    frame: str,
    point: ArrayLike | None = None,
    *,
    reference: Reference = ALIGNED,
    out: Array | None = None,
) -> Array:
    """Derivatives of the Jacobian of a link with respect to q, in tangent space.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        frame: Name of the link.
        point: (3,) in the link's frame [m]; None: its origin.
        reference: "world_aligned": the point's velocity, in world axes; "world": that of what moves with the link at the world's origin;
            "local": the point's velocity, in the link's axes.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        (..., 6, nv, nv): entry [r, i, j] is the change of J[r, i] along velocity j; linear rows first.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the point lies in no section of an elastic link that is known.
        UnknownNameError: There is no such link or reference.
    """
    code = _of_point(robot, "jacobian_derivatives", frame, point, reference)
    return code(q) if out is None else code(q, out)


def _of_point(robot: Robot, quantity: str, frame: str, point: ArrayLike | None, reference: str) -> Code:
    try:
        entries = robot._derived.entries
        if point is None and reference is ALIGNED:
            return entries.get((quantity, frame)) or entry(robot, quantity, frame)
        at = None if point is None else triple(point, "point")
        if reference is ALIGNED:
            return entries.get((quantity, frame, at)) or entry(robot, quantity, frame, at)
        code = entries.get((quantity, frame, at, reference))
        return code or entry(robot, quantity, frame, at, one_of(reference, (ALIGNED, WORLD, LOCAL), "reference"))
    except (AttributeError, TypeError):
        check_frame(robot, frame)
        one_of(reference, (ALIGNED, WORLD, LOCAL), "reference")
        raise


def frame_placement(robot: Robot, q: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
    """Where a link's frame is.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        frame: Name of the link.
        out: Array of the result's shape that is filled and returned; None: a new one.

    Returns:
        Homogeneous transformations (..., 4, 4) from the link's frame to the world [m].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
        UnknownNameError: There is no such link.
    """
    try:
        code = robot._derived.entries.get(("placement", frame)) or entry(robot, "placement", frame)
    except (AttributeError, TypeError):
        check_frame(robot, frame)
        raise
    return code(q) if out is None else code(q, out)
