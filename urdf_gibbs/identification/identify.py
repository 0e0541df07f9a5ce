"""``identify``: from measured states and forces to base parameters, and to a robot that has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, flag, numbers
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.identification.base_parameters import BaseParameters, base_parameters
from urdf_gibbs.identification.feasible import Objective, feasible_parameters
from urdf_gibbs.identification.least_squares import Data, Estimate, Triangle, residuals, solve, triangle
from urdf_gibbs.identification.result import Identification
from urdf_gibbs.identification.sizes import parameter_sizes
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

NOISE_FREE = 1e-12  # of a joint's force: its noise is taken to be at least that, or a joint without noise would outweigh all others


def identify(
    robot: Robot,
    Q: ArrayLike,
    V: ArrayLike,
    A: ArrayLike,
    tau: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    feasible: bool = False,
    friction: bool = False,
    prior: ArrayLike | None = None,
    gravity: ArrayLike = EARTH_GRAVITY,
) -> Identification:
    """Inertial parameters from measured motions and forces, by weighted least squares for the base parameters.

    The data decide the base parameters, as far as they excite them. What they leave open (combinations that no motion shows, and those that
    these motions do not) stays as near to the prior as possible, distances measured in natural sizes: the body's mass m, m L and m L^2.

    Args:
        robot: Made by ``load``; its kinematics are taken as they are, and its links are rigid.
        Q: Measured coordinates (n, nq).
        V: Velocities (n, nv).
        A: Accelerations (n, nv).
        tau: Measured forces of the joints (n, nv) [N m, N].
        weights: (nv,) or (n, nv), not negative: the inverse variance of each force, up to a common factor; 0 leaves one out. None: each
            joint by its own noise, which is estimated from a first fit with equal weights.
        feasible: Whether each body must have a positive definite pseudo-inertia: parameters that a distribution of mass can have. It needs
            the extra ``identify``.
        friction: Whether each velocity has viscous and Coulomb friction, tau = Y pi + f_v v + f_c sign(v), which are estimated too.
        prior: (nb, 10) parameters, shaped as ``robot.parameters``; None: the robot's own.
        gravity: (3,) in the world [m/s^2].

    Returns:
        The result: print it for a table.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, there are too few states, nothing moves, or links are elastic.
        MissingExtraError: ``feasible`` without the extra ``identify``.
    """
    base = base_parameters(robot, gravity=gravity)
    data = _checked_data(robot, Q, V, A, tau, flag(friction, "friction"))
    start = _checked_prior(robot, prior)
    physical = flag(feasible, "feasible")
    given = None if weights is None else _checked_weights(weights, data)
    _check_enough(base, data, given)
    sizes = parameter_sizes(start)
    base_sizes = np.abs(base.K) @ sizes.ravel()
    first, of_friction = np.concatenate([base.K @ start.ravel(), np.zeros(2 * data.nv if data.friction else 0)]), _friction_sizes(data)
    all_sizes = np.concatenate([base_sizes, of_friction])
    used = np.ones_like(data.tau) if given is None else given
    system = triangle(base, data, used)
    estimate = solve(system, first, all_sizes)
    if given is None:
        used = np.broadcast_to(1.0 / _noise(base, data, estimate) ** 2, data.tau.shape)
        system = triangle(base, data, used)
        estimate = solve(system, first, all_sizes)
    if physical:
        parameters, columns = feasible_parameters(Objective(system, base.K, start, _variance(system, estimate)))
    else:
        parameters = _nearest(base, start, sizes, estimate.x[: len(base)])
        columns = estimate.x[len(base) :]
    x = np.concatenate([base.K @ parameters.ravel(), columns])
    rest = residuals(base, data, x)
    return Identification(
        base=base,
        values=x[: len(base)],
        deviations=estimate.deviations[: len(base)],
        prior=start,
        parameters=parameters,
        friction=columns.reshape(2, -1).T if data.friction else None,
        friction_deviations=estimate.deviations[len(base) :].reshape(2, -1).T if data.friction else None,
        free=estimate.free * all_sizes,
        condition=estimate.condition,
        residual_rms=_rms(rest, used),
        force_rms=_rms(data.tau, used),
        states=len(data),
        feasible=physical,
    )


def _nearest(base: BaseParameters, prior: Array, sizes: Array, values: Array) -> Array:
    """The parameters with these base parameters that are nearest to the prior, in natural sizes."""
    scaled = base.K * sizes.ravel()
    change = np.linalg.lstsq(scaled, values - base.K @ prior.ravel(), rcond=None)[0]
    return np.asarray(prior + sizes * change.reshape(prior.shape))


def _variance(system: Triangle, estimate: Estimate) -> float:
    """Of the scaled forces about the estimate."""
    squares = float(np.sum((system.R @ estimate.x - system.z) ** 2)) + system.rest
    told = len(estimate.singular) - len(estimate.free)
    floor = NOISE_FREE**2 * (float(np.sum(system.z**2)) + system.rest) / system.rows
    return max(squares / max(1, system.rows - told), floor, np.finfo(float).tiny)


def _noise(base: BaseParameters, data: Data, estimate: Estimate) -> Array:
    """The standard deviation (nv,) of each force about the estimate."""
    rest = residuals(base, data, estimate.x)
    size = np.sqrt(np.mean(data.tau**2, axis=0))
    noise = np.sqrt(np.mean(rest**2, axis=0))
    return np.asarray(np.maximum(noise, NOISE_FREE * np.maximum(size, float(size.max()) or 1.0)))


def _friction_sizes(data: Data) -> Array:
    """Of viscous and Coulomb friction: what would make a tenth of the force."""
    if not data.friction:
        return np.empty(0)
    force = np.sqrt(np.mean(data.tau**2, axis=0))
    force = 0.1 * np.maximum(force, 1e-3 * (float(force.max()) or 1.0))
    speed = np.sqrt(np.mean(data.V**2, axis=0))
    return np.concatenate([force / np.where(speed > 0.0, speed, 1.0), force])


def _rms(values: Array, weights: Array) -> Array:
    """(nv,) of those that count."""
    counted = weights > 0.0
    return np.asarray(np.sqrt(np.sum(np.where(counted, values, 0.0) ** 2, axis=0) / np.maximum(1, counted.sum(axis=0))))


# Arguments ----------------------------------------------------------------------------------------------


def _checked_data(robot: Robot, Q: ArrayLike, V: ArrayLike, A: ArrayLike, tau: ArrayLike, friction: bool) -> Data:
    arrays = {"Q": (Q, robot.nq), "V": (V, robot.nv), "A": (A, robot.nv), "tau": (tau, robot.nv)}
    checked = {name: _finite_rows(value, width, name) for name, (value, width) in arrays.items()}
    lengths = {name: len(array) for name, array in checked.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ArgumentError(f"the arrays have different numbers of states ({told}), expected one row for each state in all of them")
    data = Data(**checked, friction=friction)
    if len(data) > 1 and all(np.ptp(array, axis=0).max(initial=0.0) == 0.0 for array in (data.Q, data.V, data.A)):
        raise ArgumentError(f"all {len(data)} states in Q, V and A are the same, expected a motion")
    return data


def _finite_rows(values: ArrayLike, width: int, name: str) -> Array:
    array = numbers(values, f"(n, {width})", name)
    if array.ndim != 2 or array.shape[1] != width:
        raise ArgumentError(f"{name} has shape {array.shape}, expected (n, {width})")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ArgumentError(f"{name}[{row}, {column}] is {array[row, column]}, expected finite numbers")
    return np.ascontiguousarray(array)


def _checked_weights(weights: ArrayLike, data: Data) -> Array:
    n, nv = data.tau.shape
    array = numbers(weights, f"({nv},) or ({n}, {nv})", "weights")
    if array.shape not in ((nv,), (n, nv)):
        raise ArgumentError(f"weights has shape {array.shape}, expected ({nv},) or ({n}, {nv})")
    wrong = np.argwhere(~(np.isfinite(array) & (array >= 0.0)))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise ArgumentError(f"weights[{', '.join(map(str, place))}] is {array[place]}, expected finite numbers, 0 or more")
    if not array.any():
        raise ArgumentError("weights are all 0, expected some above: no measurement would count")
    return np.broadcast_to(array, (n, nv))


def _checked_prior(robot: Robot, prior: ArrayLike | None) -> Array:
    shape = robot.parameters.shape
    if prior is None:
        return np.array(robot.parameters)
    array = numbers(prior, f"{shape}", "prior")
    if array.shape != shape:
        raise ArgumentError(f"prior has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        body, number = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ArgumentError(f"prior[{body}, {number}] is {array[body, number]}, expected finite numbers")
    return np.array(array)


def _check_enough(base: BaseParameters, data: Data, weights: Array | None) -> None:
    unknown = len(base) + (2 * data.nv if data.friction else 0)
    equations = data.tau.size if weights is None else int(np.count_nonzero(weights))
    if equations <= unknown:
        raise ArgumentError(
            f"{len(data)} states give {equations} equations, expected more than the {unknown} unknowns "
            f"(at least {unknown // data.nv + 1} states, and for good figures many times that)"
        )
