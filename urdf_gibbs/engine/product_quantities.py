"""Derivatives of the dynamics times a vector, from either side, by sweeps over the traced inverse dynamics.

With ID(q, v, a) = M a + h, along a change (dq, dv, da), dq in tangent space:

    forward sweep (JVP)    dtau = ID_q dq + ID_v dv + ID_a da
    reverse sweep (VJP)    wᵀ ID_q, wᵀ ID_v, wᵀ ID_a

Forward dynamics a = FD(q, v, tau) is defined by ID(q, v, a) = tau, so that its own elimination need not be differentiated:

    JVP    M da = dtau - ID_q dq - ID_v dv
    VJP    M y = w:   -yᵀ ID_q, -yᵀ ID_v, yᵀ
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.derivatives.tangent_space import coordinate_rates, pulled_back
from urdf_gibbs.dynamics import gibbs_appell_flexible as flexible
from urdf_gibbs.dynamics import local_force, local_forward, local_inertia
from urdf_gibbs.dynamics.evaluate import CHUNK
from urdf_gibbs.dynamics.local_frames import local_model
from urdf_gibbs.dynamics.matrices import Vector
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.scalar import mul, sub
from urdf_gibbs.engine.differentiate import Played, Tape
from urdf_gibbs.engine.graph import Node, arithmetic
from urdf_gibbs.engine.quantity import SMALL, Options, Quantity, Traced, pivot_checks, vector
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot

NUMBERS = 10_000_000  # kept at a time by a sweep in plain Python: 80 MB, and as much again for tangents or adjoints
TAPES: Shelf[str, Tape] = Shelf()


def force_tape(robot: Robot) -> Tape:
    """Inverse dynamics of q, v, a and gravity, made once."""
    widths = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "gravity": 3}
    return TAPES.get(robot, "inverse_dynamics", lambda: Tape(_force_of(robot), **widths))


def rows_at_once(robot: Robot) -> int:
    """States to sweep over together in plain Python, where the values of all nodes are kept."""
    return max(1, min(CHUNK, NUMBERS // max(1, len(force_tape(robot).order))))


def _force_of(robot: Robot) -> Callable[..., list[Any]]:
    if robot.is_flexible:
        return lambda q, v, a, gravity: flexible.inverse_dynamics(model_of(robot), q, v, a, gravity)
    return lambda q, v, a, gravity: local_force.inverse_dynamics(local_model(robot), q, v, a, gravity)


def played_force(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Played:
    return force_tape(robot).played({"q": q, "v": v, "a": a, "gravity": options.gravity})


def _tangents(robot: Robot, played: Played, q: list[Any], dq: list[Any], dv: list[Any], da: list[Any]) -> list[Any]:
    return played.tangents({"q": coordinate_rates(robot.joints, q, dq), "v": dv, "a": da})


def force_adjoints(robot: Robot, played: Played, q: list[Any], w: list[Any]) -> list[list[Any]]:
    """[wᵀ ID_q, wᵀ ID_v, wᵀ ID_a], nv each."""
    slope, v, a = played.adjoints(w, q=robot.nq, v=robot.nv, a=robot.nv)
    return [pulled_back(robot.joints, robot.nv, q, slope), v, a]


def _inverse_jvp(robot: Robot, options: Options, *inputs: list[Any]) -> Traced:
    q, v, a, dq, dv, da = inputs
    return _tangents(robot, played_force(robot, options, q, v, a), q, dq, dv, da), []


def _inverse_vjp(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any], w: list[Any]) -> Traced:
    return [x for row in force_adjoints(robot, played_force(robot, options, q, v, a), q, w) for x in row], []


# forward dynamics ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Solved:
    """a (nv) of forward dynamics with the pivots of M, and ``solve``, which takes b (nv) to x with M x = b."""

    a: list[Any]
    pivots: list[Any]
    solve: Callable[[list[Any]], list[Any]]


def cheapest(robot: Robot, options: Options, inputs: Sequence[list[Any]], finish: Callable[[Solved], list[Any]]) -> Traced:
    """What ``finish`` makes of the accelerations, which are found by elimination or from the factorised mass matrix: the cheaper of both
    by operation count. Mimic joints couple branches and, like elastic links, need the second."""
    q, gravity = inputs[0], list(options.gravity)
    if robot.is_flexible or any(joint.is_mimic for joint in robot.joints):
        found = _factorised(robot, gravity, *inputs)
        return finish(found), pivot_checks(robot, found.pivots)
    found = _eliminated(robot, gravity, *inputs)
    outputs = finish(found)
    if 0 < robot.nv <= SMALL and isinstance(q[0], Node):
        other = _factorised(robot, gravity, *inputs)
        others = finish(other)
        if arithmetic(others) < arithmetic(outputs):
            found, outputs = other, others
    return outputs, pivot_checks(robot, found.pivots)


def _eliminated(robot: Robot, gravity: list[Any], q: list[Any], v: list[Any], tau: list[Any]) -> Solved:
    """At rest without gravity forces make accelerations M^-1 b: over nodes the elimination of the first answer serves again."""
    model, rest = local_model(robot), [0.0] * robot.nv
    a, pivots = local_forward.forward_dynamics(model, q, v, tau, gravity)
    return Solved(a, pivots, lambda b: local_forward.forward_dynamics(model, q, rest, b, [0.0] * 3)[0])


def _factorised(robot: Robot, gravity: list[Any], q: list[Any], v: list[Any], tau: list[Any]) -> Solved:
    M: list[list[Any]]
    if robot.is_flexible:
        M, h = flexible.mass_matrix(model_of(robot), q), flexible.bias(model_of(robot), q, v, gravity)
    else:
        M, h = local_inertia.mass_matrix(local_model(robot), q), local_force.bias(local_model(robot), q, v, gravity)
    a, pivots = local_forward.solved(M, Vector(tau) - h)
    return Solved(a, pivots, lambda b: local_forward.solved(M, b)[0])


def _forward_jvp(robot: Robot, options: Options, *inputs: list[Any]) -> Traced:
    q, v, tau, dq, dv, dtau = inputs

    def finish(found: Solved) -> list[Any]:
        change = _tangents(robot, played_force(robot, options, q, v, found.a), q, dq, dv, [0.0] * robot.nv)
        return found.solve([sub(x, y) for x, y in zip(dtau, change, strict=True)])

    return cheapest(robot, options, (q, v, tau), finish)


def _forward_vjp(robot: Robot, options: Options, q: list[Any], v: list[Any], tau: list[Any], w: list[Any]) -> Traced:
    def finish(found: Solved) -> list[Any]:
        y = found.solve(w)
        by_q, by_v, _ = force_adjoints(robot, played_force(robot, options, q, v, found.a), q, y)
        return [*(mul(-1.0, x) for x in (*by_q, *by_v)), *y]

    return cheapest(robot, options, (q, v, tau), finish)


def _three(robot: Robot) -> tuple[int, ...]:
    return (3, robot.nv)


PRODUCTS: dict[str, Quantity] = {
    "inverse_dynamics_jvp": Quantity(("q", "v", "a", "dq", "dv", "da"), vector, _inverse_jvp, local=False, gravity=True),
    "inverse_dynamics_vjp": Quantity(("q", "v", "a", "w"), _three, _inverse_vjp, local=False, gravity=True),
    "forward_dynamics_jvp": Quantity(("q", "v", "tau", "dq", "dv", "dtau"), vector, _forward_jvp, local=False, gravity=True),
    "forward_dynamics_vjp": Quantity(("q", "v", "tau", "w"), _three, _forward_vjp, local=False, gravity=True),
}
