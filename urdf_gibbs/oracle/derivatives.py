"""Derivatives and regressors of ours beside Pinocchio's, at the same random states as everything else.

Mimic joints are tied in Pinocchio's free model by v_free = G v, so a matrix of derivatives of forces becomes Gᵀ D G. Derivatives of the
acceleration of a tied model are -M⁻¹ of those of the forces at that acceleration, as Pinocchio's algorithm for them knows no ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from urdf_gibbs import functions
from urdf_gibbs.arguments import Array
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.errors import SingularMassMatrixError
from urdf_gibbs.oracle.difference import FLOOR, NO_DIGIT, States, compared, judged, solution_bound
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.oracle.report import Comparison
from urdf_gibbs.robot.model import Robot

INVERSE, FORWARD = "inverse dynamics derivatives", "forward dynamics derivatives"
CALLS = {  # of each quantity: the function, and the letters of its arguments
    INVERSE: ("inverse_dynamics_derivatives", "qva"),
    FORWARD: ("forward_dynamics_derivatives", "qvt"),
    "products with inverse dynamics derivatives": ("inverse_dynamics_vjp", "qvat"),
    "products with forward dynamics derivatives": ("forward_dynamics_vjp", "qvta"),
    "gravity derivatives": ("gravity_force_derivatives", "q"),
    "torque regressor": ("torque_regressor", "qva"),
    "jacobian rates": ("jacobian_rate", "qv"),
}


class Slopes(NamedTuple):
    """Pinocchio's derivatives at one state, each (nv, nv), and its regressor (nv, 10 nb); ``forward`` is None where M is singular."""

    inverse: Array  # (3, nv, nv): by q, v and a
    forward: Array | None  # (3, nv, nv): by q, v and tau
    gravity: Array
    regressor: Array
    condition: float


def slopes(oracle: Oracle, q: Array, v: Array, a: Array, tau: Array) -> Slopes:
    """Derivatives of the forces at acceleration a, and of the acceleration at forces tau."""
    pin, model, data, G = oracle.pin, oracle.model, oracle.data, oracle.G
    x = oracle.configuration(q)

    def matrix(rows: Any) -> Array:
        """That of a single row comes without its first axis."""
        return np.reshape(np.array(rows), (model.nv, -1))

    def forces(acceleration: Array) -> Array:
        dq, dv, upper = pin.computeRNEADerivatives(model, data, x, G @ v, G @ acceleration)
        M = np.triu(upper) + np.triu(upper, 1).T
        return np.array([G.T @ np.array(D) @ G for D in (dq, dv, M)])

    inverse = forces(a)
    gravity = G.T @ np.array(pin.computeGeneralizedGravityDerivatives(model, data, x)) @ G
    regressor = G.T @ matrix(pin.computeJointTorqueRegressor(model, data, x, G @ v, G @ a))
    condition = float(np.linalg.cond(inverse[2])) if oracle.nv else 1.0
    if not oracle.nv or condition > 1.0 / np.finfo(float).eps:
        return Slopes(inverse, None, gravity, regressor, condition)
    if oracle.tied:
        bias = G.T @ pin.nonLinearEffects(model, data, x, G @ v)
        at = forces(np.linalg.solve(inverse[2], tau - bias))
        inverse_matrix = np.linalg.inv(at[2])
        return Slopes(inverse, np.array([-inverse_matrix @ at[0], -inverse_matrix @ at[1], inverse_matrix]), gravity, regressor, condition)
    pin.computeABADerivatives(model, data, x, v, tau)
    upper = np.triu(data.Minv)
    forward = np.array([data.ddq_dq, data.ddq_dv, upper + np.triu(upper, 1).T])
    return Slopes(inverse, forward if np.isfinite(forward).all() else None, gravity, regressor, condition)


def compare_derivatives(robot: Robot, oracle: Oracle, states: States, links: Sequence[str]) -> list[Comparison]:
    """Of all derivatives and regressors; Jacobians' rates of the ``links``."""
    q, v, a, tau = states.q, states.v, states.a, states.tau
    answers = [slopes(oracle, *state) for state in zip(q, v, a, tau, strict=True)]
    inverse = np.array([answer.inverse for answer in answers]).reshape(-1, 3, robot.nv, robot.nv)
    none = np.zeros(len(answers))
    ours = np.stack(functions.inverse_dynamics_derivatives(robot, q, v, a), axis=1)
    pushed = np.stack(functions.inverse_dynamics_vjp(robot, q, v, a, tau), axis=1)
    pulled = functions.inverse_dynamics_jvp(robot, q, v, a, v, a, tau)
    expected = [
        np.concatenate([*np.einsum("kij,i->kj", D, t), D[0] @ w + D[1] @ b + D[2] @ t])
        for D, w, b, t in zip(inverse, v, a, tau, strict=True)
    ]
    return [
        compared(COMPILED, INVERSE, ours, inverse, none),
        compared(
            COMPILED,
            "products with inverse dynamics derivatives",
            np.concatenate([pushed.reshape(len(q), -1), pulled], axis=1),
            expected,
            none,
        ),
        compared(
            COMPILED,
            "gravity derivatives",
            functions.gravity_force_derivatives(robot, q),
            [x.gravity for x in answers],
            np.abs(inverse).max((1, 2, 3), initial=0.0),
        ),
        *_compare_forward(robot, states, answers),
        _compare_regressor(robot, oracle, states, answers),
        _compare_rates(robot, oracle, states, links),
    ]


def _compare_forward(robot: Robot, states: States, answers: Sequence[Slopes]) -> list[Comparison]:
    """Up to what the condition of M allows, state by state; and the products with vectors."""
    names = (FORWARD, "products with forward dynamics derivatives")
    errors: dict[str, list[float]] = {name: [] for name in names}
    remark = ""
    for i, answer in enumerate(answers):
        q, v, a, tau = states.q[i], states.v[i], states.a[i], states.tau[i]
        try:
            ours = np.array(functions.forward_dynamics_derivatives(robot, q, v, tau))
            products = np.concatenate(
                [*functions.forward_dynamics_vjp(robot, q, v, tau, a), functions.forward_dynamics_jvp(robot, q, v, tau, v, a, tau)]
            )
        except SingularMassMatrixError as singular:
            for name in names:
                errors[name].append(np.nan)
            remark = f"{FORWARD} do not exist: M is singular ({', '.join(singular.joints)})"
            continue
        D = answer.forward if solution_bound(answer.condition) < NO_DIGIT else None
        pairs: list[tuple[Array, Any]] = [
            (ours, D),
            (products, None if D is None else np.concatenate([*(a @ D), D[0] @ v + D[1] @ a + D[2] @ tau])),
        ]
        for name, (found, expected) in zip(names, pairs, strict=True):
            error = np.nan if expected is None else float(np.abs(found - expected).max() / max(float(np.abs(expected).max()), FLOOR))
            errors[name].append(error if expected is None or np.isfinite(error) else np.inf)
    bounds = [solution_bound(answer.condition) for answer in answers]
    return [judged(COMPILED, name, errors[name], bounds, remark) for name in names]


def _compare_regressor(robot: Robot, oracle: Oracle, states: States, answers: Sequence[Slopes]) -> Comparison:
    """Column by column, or only the forces where Pinocchio's bodies have other axes than ours (planar joints)."""
    Y = functions.torque_regressor(robot, states.q, states.v, states.a)
    expected: list[Any] = [answer.regressor for answer in answers]
    if any(joint.type == "planar" for joint in robot.joints):
        parameters = np.concatenate([inertia.toDynamicParameters() for inertia in list(oracle.model.inertias)[1:]])
        Y, expected = Y @ robot.parameters.ravel(), [y @ parameters for y in expected]
    return compared(COMPILED, "torque regressor", Y, expected, np.zeros(len(answers)))


def _compare_rates(robot: Robot, oracle: Oracle, states: States, links: Sequence[str]) -> Comparison:
    """The rates of the Jacobians of links' origins, in the axes of the world."""
    pin, model, data, G = oracle.pin, oracle.model, oracle.data, oracle.G
    worst = Comparison(COMPILED, "jacobian rates")
    for link in links:
        frame = model.getFrameId(link, pin.BODY)
        expected = []
        for q, v in zip(states.q, states.v, strict=True):
            x = oracle.configuration(q)
            pin.computeJointJacobiansTimeVariation(model, data, x, G @ v)
            pin.updateFramePlacements(model, data)
            expected.append(np.reshape(pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL_WORLD_ALIGNED), (6, model.nv)) @ G)
        one = compared(
            COMPILED, "jacobian rates", functions.jacobian_rate(robot, states.q, states.v, link), expected, np.linalg.norm(states.v, axis=1)
        )
        if one.error >= worst.error:
            worst, worst.link = one, link
    return worst
