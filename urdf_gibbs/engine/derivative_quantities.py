"""The derivatives of the dynamics as quantities: whole matrices, or their entries that the tree does not make zero (packed)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.derivatives.forward_dynamics import forward_dynamics_derivatives
from urdf_gibbs.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from urdf_gibbs.dynamics.local import LocalModel
from urdf_gibbs.engine.quantity import Options, Quantity, Traced, pivot_checks, square
from urdf_gibbs.engine.swept_derivatives import elastic_forward, elastic_gravity_force, elastic_inertia_force, elastic_inverse
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot

INVERSE, FORWARD = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"
INERTIA_FORCE, GRAVITY_FORCE = "inertia_force_derivatives", "gravity_force_derivatives"
INVERSE_PACKED, FORWARD_PACKED = f"{INVERSE}_packed", f"{FORWARD}_packed"
# Operations up to which straight-line code, in several functions, compiles in bearable time: some fifteen seconds. Forward dynamics have
# the solutions besides, of as many operations again for each column; beyond this they are composed of the inverse ones and LAPACK's.
STRAIGHT_INVERSE, STRAIGHT_FORWARD = 100_000, 60_000

Indices = tuple[NDArray[np.intp], NDArray[np.intp]]
PATTERNS: Shelf[str, Indices] = Shelf()


def entries_of(robot: Robot, name: str) -> Indices:
    """(rows, columns) of the entries of each matrix of a packed quantity, row by row.

    Inverse dynamics: pairs of velocities of which one carries the other. Forward dynamics: also those related over others.
    """
    return PATTERNS.get(robot, name.removesuffix("_packed"), lambda: _pattern(robot, name.startswith(FORWARD)))


def _pattern(robot: Robot, solved: bool) -> Indices:
    related = np.zeros((robot.nv, robot.nv), dtype=bool)
    paths: list[list[int]] = []
    for joint, parent in zip(robot.joints, robot.parent, strict=True):
        own = list(range(joint.iv, joint.iv + joint.nv))
        path = [*(paths[parent] if parent >= 0 else []), *own]
        paths.append(path)
        related[np.ix_(own, path)] = related[np.ix_(path, own)] = True
    while solved:  # the inverse of M fills the blocks of all that is related over others
        more = related @ related
        if np.array_equal(more, related):
            break
        related = more
    rows, columns = np.nonzero(related)
    return rows, columns


def _three(robot: Robot) -> tuple[int, ...]:
    return (3, robot.nv, robot.nv)


def _packed(name: str) -> Callable[[Robot], tuple[int, ...]]:
    return lambda robot: (3, len(entries_of(robot, name)[0]))


def _inverse(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    found = inverse_dynamics_derivatives(model, q, v, a, list(options.gravity))
    return [x for A in (found.q, found.v, found.a) for row in A for x in row], []


def _forward(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> Traced:
    found, pivots = forward_dynamics_derivatives(model, q, v, tau, list(options.gravity))
    return [x for A in found for row in A for x in row], pivot_checks(robot, pivots)


def _inverse_packed(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    found = inverse_dynamics_derivatives(model, q, v, a, list(options.gravity))
    entries = list(zip(*entries_of(robot, INVERSE), strict=True))
    return [A[i][j] for A in (found.q, found.v, found.a) for i, j in entries], []


def _forward_packed(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> Traced:
    found, pivots = forward_dynamics_derivatives(model, q, v, tau, list(options.gravity))
    entries = list(zip(*entries_of(robot, FORWARD), strict=True))
    return [A[i][j] for A in found for i, j in entries], pivot_checks(robot, pivots)


def _inertia_force(robot: Robot, model: LocalModel, options: Options, q: list[Any], a: list[Any]) -> Traced:
    """d(M a)/dq: at rest without gravity the forces are M a."""
    found = inverse_dynamics_derivatives(model, q, [0.0] * robot.nv, a, [0.0] * 3)
    return [x for row in found.q for x in row], []


def _gravity_force(robot: Robot, model: LocalModel, options: Options, q: list[Any]) -> Traced:
    rest = [0.0] * robot.nv
    found = inverse_dynamics_derivatives(model, q, rest, rest, list(options.gravity))
    return [x for row in found.q for x in row], []


def _packed_trace(whole: Callable[..., Traced], name: str) -> Callable[..., Traced]:
    """The entries of a quantity of robots with elastic links, picked from the whole matrices."""

    def trace(robot: Robot, options: Options, *inputs: list[Any]) -> Traced:
        outputs, checks = whole(robot, options, *inputs)
        blocks = np.arange(3 * robot.nv**2).reshape(3, robot.nv, robot.nv)
        rows, columns = entries_of(robot, name)
        return [outputs[i] for i in blocks[:, rows, columns].ravel()], checks

    return trace


DERIVATIVES: dict[str, Quantity] = {
    INVERSE: Quantity(("q", "v", "a"), _three, _inverse, gravity=True, elastic=elastic_inverse),
    FORWARD: Quantity(("q", "v", "tau"), _three, _forward, gravity=True, elastic=elastic_forward),
    INVERSE_PACKED: Quantity(
        ("q", "v", "a"), _packed(INVERSE), _inverse_packed, gravity=True, elastic=_packed_trace(elastic_inverse, INVERSE)
    ),
    FORWARD_PACKED: Quantity(
        ("q", "v", "tau"), _packed(FORWARD), _forward_packed, gravity=True, elastic=_packed_trace(elastic_forward, FORWARD)
    ),
    INERTIA_FORCE: Quantity(("q", "a"), square, _inertia_force, elastic=elastic_inertia_force),
    GRAVITY_FORCE: Quantity(("q",), square, _gravity_force, gravity=True, elastic=elastic_gravity_force),
}
