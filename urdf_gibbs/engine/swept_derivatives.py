"""Derivatives of the dynamics by sweeps over the traced inverse dynamics: for elastic links, which have no recursion for them.

One sweep along each velocity gives a column of ID_q and of ID_v; ID_a is the mass matrix, whose own recursion is cheaper than sweeps.
Reverse sweeps, one for each force, need a tenth to a half more operations on all robots that were tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.derivatives.tangent_space import coordinate_rates
from urdf_gibbs.dynamics import gibbs_appell_flexible as flexible
from urdf_gibbs.dynamics.matrices import Matrix
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.scalar import mul
from urdf_gibbs.engine.differentiate import TAPES, Played, Tape
from urdf_gibbs.engine.product_quantities import factorised_accelerations, played_force
from urdf_gibbs.engine.quantity import Options, Traced, pivot_checks
from urdf_gibbs.robot.model import Robot

Blocks = tuple[Matrix, Matrix, Matrix]  # with respect to q, v, and a or tau, nv x nv each


def swept_columns(robot: Robot, played: Played, q: list[Any], name: str) -> list[list[Any]]:
    """The changes of all outputs along each velocity (nv rows), of q in tangent space or of another input."""
    units = np.eye(robot.nv).tolist()
    return [played.tangents({name: coordinate_rates(robot.joints, q, unit) if name == "q" else unit}) for unit in units]


def inverse_blocks(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Blocks:
    """ID_q, ID_v and ID_a = M."""
    played = played_force(robot, options, q, v, a)
    by_q, by_v = (Matrix(swept_columns(robot, played, q, name)).T for name in ("q", "v"))
    return by_q, by_v, Matrix(flexible.mass_matrix(model_of(robot), q))


def forward_blocks(robot: Robot, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> tuple[Blocks, list[Any]]:
    """(FD_q, FD_v, FD_tau) = M^-1 (-ID_q, -ID_v, 1) at the acceleration, and the pivots of M."""
    found = factorised_accelerations(robot, list(options.gravity), q, v, tau)
    played = played_force(robot, options, q, v, found.a)
    by_q, by_v = ([found.solve([mul(-1.0, x) for x in column]) for column in swept_columns(robot, played, q, name)] for name in ("q", "v"))
    by_tau = [found.solve(unit) for unit in np.eye(robot.nv).tolist()]
    return (Matrix(by_q).T, Matrix(by_v).T, Matrix(by_tau).T), found.pivots


def unstrained_by_q(robot: Robot, q: list[Any], a: list[Any], gravity: tuple[Any, ...]) -> Matrix:
    """d(M a)/dq with the derivative of the forces of gravity, at rest; the strain does not count."""
    rest = [0.0] * robot.nv
    tape = TAPES.get(
        robot,
        ("unstrained",),
        lambda: Tape(
            lambda q, a, gravity: flexible.inverse_dynamics(model_of(robot), q, rest, a, gravity, strained=False),
            q=robot.nq,
            a=robot.nv,
            gravity=3,
        ),
    )
    return Matrix(swept_columns(robot, tape.played({"q": q, "a": a, "gravity": gravity}), q, "q")).T


def elastic_inverse(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    return _flat(*inverse_blocks(robot, options, q, v, a)), []


def elastic_forward(robot: Robot, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> Traced:
    blocks, pivots = forward_blocks(robot, options, q, v, tau)
    return _flat(*blocks), pivot_checks(robot, pivots)


def elastic_inertia_force(robot: Robot, options: Options, q: list[Any], a: list[Any]) -> Traced:
    return _flat(unstrained_by_q(robot, q, a, (0.0, 0.0, 0.0))), []


def elastic_gravity_force(robot: Robot, options: Options, q: list[Any]) -> Traced:
    return _flat(unstrained_by_q(robot, q, [0.0] * robot.nv, options.gravity)), []


def _flat(*blocks: Matrix) -> list[Any]:
    return [entry for block in blocks for row in block for entry in row]
