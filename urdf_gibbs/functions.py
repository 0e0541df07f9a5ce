"""The public functions: dynamics of a Robot for one state or a batch, by a formulation chosen by name.

q is (..., nq), v, a and tau are (..., nv); leading axes broadcast. All quantities are in SI units; gravity is
(0, 0, -9.81) in world axes unless given. ``external={link: (force, torque)}`` acts at the link's origin, in world axes:
tau + sum of Jᵀ f = M a + h. Joint damping and friction do not enter.

``method="compiled"`` runs the production formulation as machine code for this robot; "gibbs_appell" and "explicit" are the
papers' formulations in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.engine.kernel import COMPILED, GRAVITY, adaptive, kernel, triple
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.sections import beam_of, root_moves
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]
External = Mapping[str, tuple[ArrayLike, ArrayLike]]


def mass_matrix(robot: Robot, q: ArrayLike, *, method: str = COMPILED, out: Array | None = None) -> Array:
    """Joint-space inertia matrix M (..., nv, nv), full and symmetric."""
    code = robot._cache.get("mass_matrix") if method is COMPILED else None
    code = code or _remembered(robot, "mass_matrix", GRAVITY, method)
    return code(q) if out is None else code(q, out)


def bias(
    robot: Robot, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike = GRAVITY, method: str = COMPILED, out: Array | None = None
) -> Array:
    """Coriolis, centrifugal and gravity forces h (..., nv): tau = M a + h."""
    code = robot._cache.get("bias") if method is COMPILED and gravity is GRAVITY else None
    code = code or _remembered(robot, "bias", gravity, method)
    return code(q, v) if out is None else code(q, v, out)


def gravity_force(robot: Robot, q: ArrayLike, *, gravity: ArrayLike = GRAVITY, method: str = COMPILED, out: Array | None = None) -> Array:
    """The part of h that gravity makes (..., nv): what holds the robot at rest, but for the strain of elastic links."""
    if method == COMPILED:
        return adaptive(robot, "gravity_force", gravity=triple(gravity, "gravity"))(q, out=out)
    return kernel(robot, "gravity_force", gravity=gravity, method=method)(q, out=out)


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    gravity: ArrayLike = GRAVITY,
    external: External | None = None,
    method: str = COMPILED,
    out: Array | None = None,
) -> Array:
    """tau (..., nv) = M a + h - sum of Jᵀ f."""
    code = robot._cache.get("inverse_dynamics") if method is COMPILED and gravity is GRAVITY else None
    code = code or _remembered(robot, "inverse_dynamics", gravity, method)
    if external is None:
        return code(q, v, a) if out is None else code(q, v, a, out)
    tau = _sum(tau=code(q, v, a), external=-_external_force(robot, q, external))
    if out is None:
        return tau
    if out.shape != tau.shape:
        raise ArgumentError(f"out has shape {out.shape}, expected {tau.shape}")
    out[...] = tau
    return out


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    gravity: ArrayLike = GRAVITY,
    external: External | None = None,
    method: str = COMPILED,
    out: Array | None = None,
) -> Array:
    """a (..., nv) with M a + h = tau + sum of Jᵀ f. Raises SingularMassMatrixError where M has no inverse."""
    if external is not None:
        tau = _sum(tau=_wide(tau, robot.nv, "tau"), external=_external_force(robot, q, external))
    code = robot._cache.get("forward_dynamics") if method is COMPILED and gravity is GRAVITY else None
    code = code or _remembered(robot, "forward_dynamics", gravity, method)
    return code(q, v, tau) if out is None else code(q, v, tau, out)


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike, *, method: str = COMPILED) -> Array:
    """T = vᵀ M v / 2 [J], shape (...)."""
    return adaptive(robot, "kinetic_energy")(q, v) if method == COMPILED else kernel(robot, "kinetic_energy", method=method)(q, v)


def potential_energy(robot: Robot, q: ArrayLike, *, gravity: ArrayLike = GRAVITY, include_base: bool = False) -> Array:
    """-m g . c [J], shape (...), of the links that move; ``include_base`` adds those fixed to the world."""
    g = triple(gravity, "gravity")
    energy = adaptive(robot, "potential_energy", gravity=g)(q)
    if include_base:
        base = robot.base_inertia
        energy = energy - base.mass * float(np.dot(g, base.com))
    return energy


def centre_of_mass(robot: Robot, q: ArrayLike, *, include_base: bool = False) -> Array:
    """Centre of mass (..., 3) [m] in the world, of the links that move; ``include_base`` adds those fixed to the world."""
    moment = adaptive(robot, "first_moment")(q)
    if include_base:
        base = robot.base_inertia
        moment = moment + base.mass * np.array([1.0, *base.com])
    mass = moment[..., :1]
    if moment.size and not np.all(mass):
        raise ArgumentError(f"{robot.name or 'the robot'} has no mass that moves: its centre of mass does not exist")
    return np.asarray(moment[..., 1:] / mass)


def momentum(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """(..., 6): linear momentum, then angular momentum about the centre of mass, in world axes."""
    return adaptive(robot, "momentum")(q, v)


def jacobian(robot: Robot, q: ArrayLike, frame: str, point: ArrayLike | None = None, *, out: Array | None = None) -> Array:
    """(..., 6, nv), linear first, world axes: velocity of ``point`` (3,) (given in the frame of the link ``frame``) and of the link.

    A point of an elastic link, given where it is in the straight link, lies in the section at its root or at its tip and moves with it.
    """
    at = (0.0, 0.0, 0.0) if point is None else triple(point, "point")
    return adaptive(robot, "jacobian", frame=frame, point=at)(q, out=out)


def frame_placement(robot: Robot, q: ArrayLike, frame: str) -> Array:
    """4x4 placement (..., 4, 4) of the link ``frame`` in the world."""
    return adaptive(robot, "placement", frame=frame)(q)


# Arguments --------------------------------------------------------------------------------------------


def _remembered(robot: Robot, name: str, gravity: ArrayLike, method: str) -> Callable[..., Array]:
    """The kernel of a question, kept where the next call finds it first."""
    code = kernel(robot, name, gravity=gravity, method=method)
    if method == COMPILED and gravity is GRAVITY:
        robot._cache[name] = code
    return code


def _wide(values: ArrayLike, width: int, name: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != width:
        raise ArgumentError(f"{name} has shape {array.shape}, expected (..., {width})")
    return array


def _sum(**forces: Array) -> Array:
    try:
        return np.asarray(sum(forces.values()))
    except ValueError:
        listed = ", ".join(f"{name} {force.shape[:-1]}" for name, force in forces.items())
        raise ArgumentError(f"the leading axes do not broadcast: {listed}") from None


def _external_force(robot: Robot, q: ArrayLike, external: External) -> Array:
    """sum of Jᵀ (force, torque), shape (..., nv)."""
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
        wrench = np.concatenate(np.broadcast_arrays(_wide(force, 3, f"force on {link}"), _wide(torque, 3, f"torque on {link}")), axis=-1)
        total = total + np.einsum("...ij,...i->...j", jacobian(robot, q, link), wrench)
    return total
