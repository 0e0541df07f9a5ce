"""The public functions: dynamics of a Robot for one state or a batch, by a formulation chosen by name.

q is (..., nq), v, a and tau are (..., nv); leading axes broadcast. All quantities are in SI units; gravity is
(0, 0, -9.81) in world axes unless given. ``external={link: (force, torque)}`` acts at the link's origin, in world axes:
tau + sum of Jᵀ f = M a + h. Joint damping and friction do not enter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.dynamics import explicit, gibbs_appell, kinematics
from urdf_gibbs.dynamics.model import Model, model_of
from urdf_gibbs.dynamics.scalar import Vector
from urdf_gibbs.errors import ArgumentError, SingularMassMatrixError, UnknownNameError
from urdf_gibbs.robot.manifold import quaternion_error
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of

Array = NDArray[np.float64]
External = Mapping[str, tuple[ArrayLike, ArrayLike]]

GRAVITY = (0.0, 0.0, -9.81)
METHODS: dict[str, ModuleType] = {"gibbs_appell": gibbs_appell, "explicit": explicit}
DEFAULT_METHOD = "gibbs_appell"
CHUNK = 4096  # states evaluated at a time: keeps the intermediate arrays of a large batch small
QUATERNION_TOLERANCE = 1e-6  # what an integrator's drift may reach before the rotation is visibly no rotation


def mass_matrix(robot: Robot, q: ArrayLike, *, method: str = DEFAULT_METHOD, out: Array | None = None) -> Array:
    """Joint-space inertia matrix M (..., nv, nv), full and symmetric."""
    formulation = _formulation(method)
    return _evaluate(robot, lambda model, q: formulation.mass_matrix(model, q), [_q(robot, q)], (robot.nv, robot.nv), out)


def bias(
    robot: Robot, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike = GRAVITY, method: str = DEFAULT_METHOD, out: Array | None = None
) -> Array:
    """Coriolis, centrifugal and gravity forces h (..., nv): tau = M a + h."""
    formulation, g = _formulation(method), _gravity(gravity)
    states = [_q(robot, q), _wide(v, robot.nv, "v")]
    return _evaluate(robot, lambda model, q, v: formulation.bias(model, q, v, g), states, (robot.nv,), out)


def gravity_force(
    robot: Robot, q: ArrayLike, *, gravity: ArrayLike = GRAVITY, method: str = DEFAULT_METHOD, out: Array | None = None
) -> Array:
    """The part of h that gravity makes (..., nv): the torque that holds the robot at rest."""
    return bias(robot, q, np.zeros(robot.nv), gravity=gravity, method=method, out=out)


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    gravity: ArrayLike = GRAVITY,
    external: External | None = None,
    method: str = DEFAULT_METHOD,
    out: Array | None = None,
) -> Array:
    """tau (..., nv) = M a + h - sum of Jᵀ f."""
    M = mass_matrix(robot, q, method=method)
    h = bias(robot, q, v, gravity=gravity, method=method)
    a = _wide(a, robot.nv, "a")
    extra = _external_force(robot, q, external)
    _batch(q=M.shape[:-2], v=h.shape[:-1], a=a.shape[:-1], external=extra.shape[:-1])
    tau = np.einsum("...ij,...j->...i", M, a) + h - extra
    return _delivered(tau, out)


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    gravity: ArrayLike = GRAVITY,
    external: External | None = None,
    method: str = DEFAULT_METHOD,
    out: Array | None = None,
) -> Array:
    """a (..., nv) with M a + h = tau + sum of Jᵀ f. Raises SingularMassMatrixError where M has no inverse."""
    M = mass_matrix(robot, q, method=method)
    tau, h, extra = _wide(tau, robot.nv, "tau"), bias(robot, q, v, gravity=gravity, method=method), _external_force(robot, q, external)
    _batch(q=M.shape[:-2], v=h.shape[:-1], tau=tau.shape[:-1], external=extra.shape[:-1])
    force = tau - h + extra
    shape = _batch(q=M.shape[:-2], force=force.shape[:-1])
    if not robot.nv:
        return _delivered(np.zeros((*shape, 0)), out)
    _refuse_singular(robot, _q(robot, q), M, shape)
    # Scaling by the diagonal makes the solution independent of units: a gram-sized finger on a 100 kg base is well posed.
    size = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    size = np.where(size > 0.0, size, 1.0)
    scaled = M / (size[..., :, None] * size[..., None, :])
    scaled = np.broadcast_to(scaled, (*shape, robot.nv, robot.nv))
    right = np.broadcast_to(force / size, (*shape, robot.nv))
    return _delivered(np.linalg.solve(scaled, right[..., None])[..., 0] / size, out)


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike, *, method: str = DEFAULT_METHOD) -> Array:
    """T = vᵀ M v / 2 [J], shape (...)."""
    v, M = _wide(v, robot.nv, "v"), mass_matrix(robot, q, method=method)
    _batch(q=M.shape[:-2], v=v.shape[:-1])
    return np.asarray(0.5 * np.einsum("...i,...ij,...j->...", v, M, v))


def potential_energy(robot: Robot, q: ArrayLike, *, gravity: ArrayLike = GRAVITY, include_base: bool = False) -> Array:
    """-m g . c [J], shape (...), of the links that move; ``include_base`` adds those fixed to the world."""
    moment = _first_moment(robot, q, include_base)[..., 1:]
    return np.asarray(-np.einsum("i,...i->...", np.asarray(_gravity(gravity)), moment))


def centre_of_mass(robot: Robot, q: ArrayLike, *, include_base: bool = False) -> Array:
    """Centre of mass (..., 3) [m] in the world, of the links that move; ``include_base`` adds those fixed to the world."""
    moment = _first_moment(robot, q, include_base)
    mass = moment[..., :1]
    if moment.size and not np.all(mass):
        raise ArgumentError(f"{robot.name or 'the robot'} has no mass that moves: its centre of mass does not exist")
    return moment[..., 1:] / mass


def momentum(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """(..., 6): linear momentum, then angular momentum about the centre of mass, in world axes."""

    def evaluate(model: Model, q: Vector, v: Vector) -> Vector:
        mass, moment = kinematics.first_moment(model, q)
        about = moment if isinstance(mass, float) and mass == 0.0 else [x / mass for x in moment]
        return kinematics.momentum(model, q, v, about)

    return _evaluate(robot, evaluate, [_q(robot, q), _wide(v, robot.nv, "v")], (6,), None)


def jacobian(robot: Robot, q: ArrayLike, frame: str, point: ArrayLike | None = None, *, out: Array | None = None) -> Array:
    """(..., 6, nv), linear first, world axes: velocity of ``point`` (3,) (given in the frame of the link ``frame``) and of the link."""
    where = robot.frame(frame)
    local = np.zeros(3) if point is None else np.asarray(point, dtype=float)
    if local.shape != (3,):
        raise ArgumentError(f"point has shape {local.shape}, expected (3,)")
    in_body = (where.placement[:3, :3] @ local + where.placement[:3, 3]).tolist()
    return _evaluate(robot, lambda model, q: kinematics.jacobian(model, q, where.body, in_body), [_q(robot, q)], (6, robot.nv), out)


def frame_placement(robot: Robot, q: ArrayLike, frame: str) -> Array:
    """4x4 placement (..., 4, 4) of the link ``frame`` in the world."""
    where = robot.frame(frame)

    def evaluate(model: Model, q: Vector) -> list[Vector]:
        if where.body < 0:
            return np.eye(4).tolist()
        R, p = kinematics.placements(model, q)[where.body]
        return [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]]

    return _evaluate(robot, evaluate, [_q(robot, q)], (4, 4), None) @ where.placement


# Arguments and batches ------------------------------------------------------------------------------


def _formulation(method: str) -> ModuleType:
    if method not in METHODS:
        raise UnknownNameError("method", method, list(METHODS))
    return METHODS[method]


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


def _gravity(gravity: ArrayLike) -> list[float]:
    array = np.asarray(gravity, dtype=float)
    if array.shape != (3,):
        raise ArgumentError(f"gravity has shape {array.shape}, expected (3,)")
    return array.tolist()  # type: ignore[no-any-return]


def _evaluate(robot: Robot, function: Callable[..., Any], states: list[Array], shape: tuple[int, ...], out: Array | None) -> Array:
    """``function(model, *states)`` over floats for one state, over arrays with one value for each state for a batch."""
    model = model_of(robot)
    batch = _batch(**{name: state.shape[:-1] for name, state in zip(("q", "v"), states, strict=False)})
    result = np.empty((*batch, *shape))
    if batch == ():
        result[...] = np.reshape(function(model, *(state.tolist() for state in states)), shape)
        return _delivered(result, out)
    rows = int(np.prod(batch))
    flat = [np.broadcast_to(state, (*batch, state.shape[-1])).reshape(rows, state.shape[-1]) for state in states]
    target = result.reshape(rows, int(np.prod(shape)))
    for start in range(0, rows, CHUNK):
        chunk = slice(start, start + CHUNK)
        columns = ([np.ascontiguousarray(column) for column in state[chunk].T] for state in flat)
        for i, entry in enumerate(_entries(function(model, *columns))):
            target[chunk, i] = entry
    return _delivered(result, out)


def _batch(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common leading axes of the named arguments."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ArgumentError(f"the leading axes do not broadcast: {listed}") from None


def _entries(values: list[Any]) -> list[Any]:
    return [entry for row in values for entry in row] if values and isinstance(values[0], list) else values


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


def _first_moment(robot: Robot, q: ArrayLike, include_base: bool) -> Array:
    """(..., 4): mass, mass times centre of mass."""

    def evaluate(model: Model, q: Vector) -> Vector:
        mass, moment = kinematics.first_moment(model, q)
        return [mass, *moment]

    moment = _evaluate(robot, evaluate, [_q(robot, q)], (4,), None)
    if include_base:
        base = robot.base_inertia
        moment += base.mass * np.array([1.0, *base.com])
    return moment


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
