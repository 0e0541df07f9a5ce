"""The public functions: dynamics of a Robot for one state or a batch, by a formulation chosen by name.

q is (..., nq), v, a and tau are (..., nv); leading axes broadcast. All quantities are in SI units; gravity is
(0, 0, -9.81) in world axes unless given. ``external={link: (force, torque)}`` acts at the link's origin, in world axes:
tau + sum of Jᵀ f = M a + h. Joint damping and friction do not enter.

``method="compiled"`` runs the production formulation as machine code for this robot; "gibbs_appell" and "explicit" are the
papers' formulations in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.dynamics import explicit, gibbs_appell
from urdf_gibbs.dynamics.evaluate import evaluate
from urdf_gibbs.dynamics.kinematics import placements
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.scalar import Vector
from urdf_gibbs.engine.kernel import GRAVITY, QUATERNION_TOLERANCE, adaptive, kernel
from urdf_gibbs.errors import ArgumentError, SingularMassMatrixError, UnknownNameError
from urdf_gibbs.robot.manifold import quaternion_error
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of

Array = NDArray[np.float64]
External = Mapping[str, tuple[ArrayLike, ArrayLike]]

COMPILED = "compiled"
REFERENCES: dict[str, ModuleType] = {"gibbs_appell": gibbs_appell, "explicit": explicit}
METHODS = (COMPILED, *REFERENCES)


def mass_matrix(robot: Robot, q: ArrayLike, *, method: str = COMPILED, out: Array | None = None) -> Array:
    """Joint-space inertia matrix M (..., nv, nv), full and symmetric."""
    if method == COMPILED:
        code = robot._cache.get("mass_matrix") or _remembered(robot, "mass_matrix")
        return code(q) if out is None else code(q, out)
    formulation = _reference(method)
    return _delivered(evaluate(lambda q: formulation.mass_matrix(model_of(robot), q), [_q(robot, q)], (robot.nv, robot.nv)), out)


def bias(
    robot: Robot, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike = GRAVITY, method: str = COMPILED, out: Array | None = None
) -> Array:
    """Coriolis, centrifugal and gravity forces h (..., nv): tau = M a + h."""
    if method == COMPILED:
        code = robot._cache.get("bias") if gravity is GRAVITY else None
        code = code or _remembered(robot, "bias", gravity)
        return code(q, v) if out is None else code(q, v, out)
    formulation, g = _reference(method), _three(gravity, "gravity")
    states = _broadcast(q=_q(robot, q), v=_wide(v, robot.nv, "v"))
    return _delivered(evaluate(lambda q, v: formulation.bias(model_of(robot), q, v, g), states, (robot.nv,)), out)


def gravity_force(robot: Robot, q: ArrayLike, *, gravity: ArrayLike = GRAVITY, method: str = COMPILED, out: Array | None = None) -> Array:
    """The part of h that gravity makes (..., nv): the torque that holds the robot at rest."""
    if method == COMPILED:
        return adaptive(robot, "gravity_force", gravity=_three(gravity, "gravity"))(q, out=out)
    return bias(robot, q, np.zeros(robot.nv), gravity=gravity, method=method, out=out)


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
    if method == COMPILED:
        code = robot._cache.get("inverse_dynamics") if gravity is GRAVITY else None
        code = code or _remembered(robot, "inverse_dynamics", gravity)
        if external is None:
            return code(q, v, a) if out is None else code(q, v, a, out)
        return _delivered(_sum(tau=code(q, v, a), external=-_external_force(robot, q, external)), out)
    M = mass_matrix(robot, q, method=method)
    h = bias(robot, q, v, gravity=gravity, method=method)
    a = _wide(a, robot.nv, "a")
    _batch(q=M.shape[:-2], v=h.shape[:-1], a=a.shape[:-1])
    tau = _sum(tau=np.einsum("...ij,...j->...i", M, a) + h, external=-_external_force(robot, q, external))
    return _delivered(tau, out)


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
    if method == COMPILED:
        code = robot._cache.get("forward_dynamics") if gravity is GRAVITY else None
        code = code or _remembered(robot, "forward_dynamics", gravity)
        return code(q, v, tau) if out is None else code(q, v, tau, out)
    M = mass_matrix(robot, q, method=method)
    tau, h = _wide(tau, robot.nv, "tau"), bias(robot, q, v, gravity=gravity, method=method)
    shape = _batch(q=M.shape[:-2], v=h.shape[:-1], tau=tau.shape[:-1])
    if not robot.nv:
        return _delivered(np.zeros((*shape, 0)), out)
    _refuse_singular(robot, _q(robot, q), M, shape)
    # Scaling by the diagonal makes the solution independent of units: a gram-sized finger on a 100 kg base is well posed.
    size = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    size = np.where(size > 0.0, size, 1.0)
    scaled = M / (size[..., :, None] * size[..., None, :])
    scaled = np.broadcast_to(scaled, (*shape, robot.nv, robot.nv))
    right = np.broadcast_to((tau - h) / size, (*shape, robot.nv))
    return _delivered(np.linalg.solve(scaled, right[..., None])[..., 0] / size, out)


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike, *, method: str = COMPILED) -> Array:
    """T = vᵀ M v / 2 [J], shape (...)."""
    if method == COMPILED:
        return adaptive(robot, "kinetic_energy")(q, v)
    v, M = _wide(v, robot.nv, "v"), mass_matrix(robot, q, method=method)
    _batch(q=M.shape[:-2], v=v.shape[:-1])
    return np.asarray(0.5 * np.einsum("...i,...ij,...j->...", v, M, v))


def potential_energy(robot: Robot, q: ArrayLike, *, gravity: ArrayLike = GRAVITY, include_base: bool = False) -> Array:
    """-m g . c [J], shape (...), of the links that move; ``include_base`` adds those fixed to the world."""
    energy = adaptive(robot, "potential_energy", gravity=_three(gravity, "gravity"))(q)
    if include_base:
        base = robot.base_inertia
        energy = energy - base.mass * float(np.dot(_three(gravity, "gravity"), base.com))
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
    """(..., 6, nv), linear first, world axes: velocity of ``point`` (3,) (given in the frame of the link ``frame``) and of the link."""
    at = [0.0, 0.0, 0.0] if point is None else _three(point, "point")
    return adaptive(robot, "jacobian", frame=frame, point=at)(q, out=out)


def frame_placement(robot: Robot, q: ArrayLike, frame: str) -> Array:
    """4x4 placement (..., 4, 4) of the link ``frame`` in the world."""
    where = robot.frame(frame)

    def placed(q: Vector) -> list[Vector]:
        if where.body < 0:
            return np.eye(4).tolist()
        R, p = placements(model_of(robot), q)[where.body]
        return [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]]

    return evaluate(placed, [_q(robot, q)], (4, 4)) @ where.placement


# Arguments and batches ------------------------------------------------------------------------------


def _remembered(robot: Robot, name: str, gravity: ArrayLike = GRAVITY) -> Callable[..., Array]:
    """The kernel of a question, kept where the next call finds it first."""
    code = kernel(robot, name, gravity=gravity)
    if gravity is GRAVITY:
        robot._cache[name] = code
    return code


def _reference(method: str) -> ModuleType:
    if method not in REFERENCES:
        raise UnknownNameError("method", method, METHODS)
    return REFERENCES[method]


def _wide(values: ArrayLike, width: int, name: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != width:
        raise ArgumentError(f"{name} has shape {array.shape}, expected (..., {width})")
    return array


def _q(robot: Robot, q: ArrayLike) -> Array:
    array = _wide(q, robot.nq, "q")
    joint, error = quaternion_error(robot.joints, array)
    if error > QUATERNION_TOLERANCE:
        raise ArgumentError(f"the quaternion of joint {joint!r} in q has a norm off by {error:.3g}, expected 1 (order x y z w)")
    return array


def _three(values: ArrayLike, name: str) -> list[float]:
    array = np.asarray(values, dtype=float)
    if array.shape != (3,):
        raise ArgumentError(f"{name} has shape {array.shape}, expected (3,)")
    return array.tolist()  # type: ignore[no-any-return]


def _batch(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common leading axes of the named arguments."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ArgumentError(f"the leading axes do not broadcast: {listed}") from None


def _broadcast(**arrays: Array) -> list[Array]:
    batch = _batch(**{name: array.shape[:-1] for name, array in arrays.items()})
    return [np.broadcast_to(array, (*batch, array.shape[-1])) for array in arrays.values()]


def _sum(**forces: Array) -> Array:
    _batch(**{name: force.shape[:-1] for name, force in forces.items()})
    return np.asarray(sum(forces.values()))


def _delivered(result: Array, out: Array | None) -> Array:
    if out is None:
        return result
    if out.shape != result.shape:
        raise ArgumentError(f"out has shape {out.shape}, expected {result.shape}")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise ArgumentError(f"out has dtype {out.dtype}, expected a floating-point one")
    out[...] = result
    return out


def _external_force(robot: Robot, q: ArrayLike, external: External | None) -> Array:
    """sum of Jᵀ (force, torque), shape (..., nv)."""
    total = np.zeros(robot.nv)
    for link, pair in (external or {}).items():
        try:
            force, torque = pair
        except (TypeError, ValueError):
            raise ArgumentError(f"external[{link!r}] is {pair!r}, expected a pair (force (3,), torque (3,))") from None
        wrench = np.concatenate(np.broadcast_arrays(_wide(force, 3, f"force on {link}"), _wide(torque, 3, f"torque on {link}")), axis=-1)
        total = total + np.einsum("...ij,...i->...j", jacobian(robot, q, link), wrench)
    return total


def _refuse_singular(robot: Robot, q: Array, M: Array, shape: tuple[int, ...]) -> None:
    singular = np.zeros(M.shape[:-2], dtype=bool)
    positions = np.broadcast_to(q, (*M.shape[:-2], robot.nq))
    velocities: set[int] = set()
    for index in np.ndindex(M.shape[:-2]):
        idle = idle_velocities(robot, positions[index], M[index])
        singular[index] = bool(idle)
        velocities.update(idle)
    if singular.any():
        states = np.flatnonzero(np.broadcast_to(singular, shape)).tolist() if shape else []
        raise SingularMassMatrixError(joints_of(robot, sorted(velocities)), states)
