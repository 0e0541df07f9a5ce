"""What can be asked of a robot, traced: each question names its inputs, the shape of its answer, and the formulation behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.dynamics import kinematics, local_force, local_forward, local_inertia
from urdf_gibbs.dynamics.local import local_model
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.engine.emit import BAD_QUATERNION, SINGULAR, Check, Program
from urdf_gibbs.engine.graph import Graph, arithmetic, simplified
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import NOISE, inertia_scale

QUATERNION_TOLERANCE = 1e-6  # what an integrator's drift may reach before the rotation is visibly no rotation
SUSPECT = 1e3 * NOISE  # a pivot this small against the sum it comes from is looked at again, in Python


@dataclass(frozen=True, slots=True)
class Options:
    """What is baked into a kernel beside the robot."""

    gravity: tuple[float, float, float]
    frame: str = ""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Question:
    inputs: tuple[str, ...]
    shape: Callable[[Robot], tuple[int, ...]]
    trace: Callable[..., tuple[list[Any], list[Check]]]


def trace(robot: Robot, name: str, options: Options, limit: int | None = None) -> Program:
    """The program of a question; raises TooLarge where it has more than ``limit`` operations."""
    question = QUESTIONS[name]
    graph = Graph(limit)
    width = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}
    inputs = [[graph.input(letter, i) for i in range(width[letter])] for letter in question.inputs]
    outputs, checks = question.trace(robot, options, *inputs)
    checks = [*_quaternion_checks(robot, inputs[0]), *checks]
    values = simplified([*outputs, *(check.value for check in checks)], Graph())
    count = len(outputs)
    checks = [Check(value, check.bound, check.below, check.bit) for check, value in zip(checks, values[count:], strict=True)]
    return Program(tuple((letter, width[letter]) for letter in question.inputs), values[:count], checks)


def _quaternion_checks(robot: Robot, q: list[Any]) -> list[Check]:
    checks = []
    for joint in robot.joints:
        if joint.type == "floating":
            x, y, z, w = q[joint.iq + 3 : joint.iq + 7]
            checks.append(Check(x * x + y * y + z * z + w * w - 1.0, 2.0 * QUATERNION_TOLERANCE, False, BAD_QUATERNION))
    return checks


Traced = tuple[list[Any], list[Check]]


def _mass_matrix(robot: Robot, options: Options, q: list[Any]) -> Traced:
    M = local_inertia.mass_matrix(local_model(robot), q)
    return [entry for row in M for entry in row], []


def _mass_matrix_packed(robot: Robot, options: Options, q: list[Any]) -> Traced:
    M = local_inertia.mass_matrix(local_model(robot), q)
    return [M[i][j] for i in range(robot.nv) for j in range(i + 1)], []


def _bias(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    return local_force.bias(local_model(robot), q, v, list(options.gravity)), []


def _gravity_force(robot: Robot, options: Options, q: list[Any]) -> Traced:
    return local_force.bias(local_model(robot), q, [0.0] * robot.nv, list(options.gravity)), []


def _inverse_dynamics(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    return local_force.inverse_dynamics(local_model(robot), q, v, a, list(options.gravity)), []


def _forward_dynamics(robot: Robot, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> Traced:
    """The cheaper of elimination and factorisation, by operation count; mimic joints couple branches and need the second."""
    model, gravity = local_model(robot), list(options.gravity)
    ways = [local_forward.forward_dynamics_factorised(model, q, v, tau, gravity)]
    if not any(joint.is_mimic for joint in robot.joints):
        ways.append(local_forward.forward_dynamics(model, q, v, tau, gravity))
    acceleration, pivots = min(ways, key=lambda way: arithmetic(way[0]))
    scale = inertia_scale(robot, robot.neutral())
    checks = [Check(pivot, SUSPECT * float(size), True, SINGULAR) for pivot, size in zip(pivots, scale, strict=True)]
    return acceleration, checks


def _kinetic_energy(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    """T = v . (M v) / 2, where M v is the force of an acceleration v at rest without gravity."""
    force = local_force.inverse_dynamics(local_model(robot), q, [0.0] * robot.nv, v, [0.0] * 3)
    total: Any = 0.0
    for x, y in zip(v, force, strict=True):
        total = total + x * y
    return [0.5 * total], []


def _potential_energy(robot: Robot, options: Options, q: list[Any]) -> Traced:
    _, moment = kinematics.first_moment(model_of(robot), q)
    return [kinematics.potential_energy(moment, list(options.gravity))], []


def _first_moment(robot: Robot, options: Options, q: list[Any]) -> Traced:
    mass, moment = kinematics.first_moment(model_of(robot), q)
    return [mass, *moment], []


def _momentum(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    model = model_of(robot)
    mass, moment = kinematics.first_moment(model, q)
    about = moment if mass == 0.0 else [x / mass for x in moment]
    return kinematics.momentum(model, q, v, about), []


def _jacobian(robot: Robot, options: Options, q: list[Any]) -> Traced:
    where = robot.frame(options.frame)
    point = where.placement[:3, :3] @ options.point + where.placement[:3, 3]
    J = kinematics.jacobian(model_of(robot), q, where.body, point.tolist())
    return [entry for row in J for entry in row], []


def _square(robot: Robot) -> tuple[int, ...]:
    return (robot.nv, robot.nv)


def _triangle(robot: Robot) -> tuple[int, ...]:
    return (robot.nv * (robot.nv + 1) // 2,)


def _vector(robot: Robot) -> tuple[int, ...]:
    return (robot.nv,)


QUESTIONS: dict[str, Question] = {
    "mass_matrix": Question(("q",), _square, _mass_matrix),
    "mass_matrix_packed": Question(("q",), _triangle, _mass_matrix_packed),
    "bias": Question(("q", "v"), _vector, _bias),
    "gravity_force": Question(("q",), _vector, _gravity_force),
    "inverse_dynamics": Question(("q", "v", "a"), _vector, _inverse_dynamics),
    "forward_dynamics": Question(("q", "v", "tau"), _vector, _forward_dynamics),
    "kinetic_energy": Question(("q", "v"), lambda robot: (), _kinetic_energy),
    "potential_energy": Question(("q",), lambda robot: (), _potential_energy),
    "first_moment": Question(("q",), lambda robot: (4,), _first_moment),
    "momentum": Question(("q", "v"), lambda robot: (6,), _momentum),
    "jacobian": Question(("q",), lambda robot: (6, robot.nv), _jacobian),
}


def checked_options(robot: Robot, name: str, options: Options) -> Options:
    """The options that matter for the question, so that equal kernels are one."""
    gravity = (
        options.gravity
        if name in ("bias", "gravity_force", "inverse_dynamics", "forward_dynamics", "potential_energy")
        else (0.0, 0.0, 0.0)
    )
    if name == "jacobian":
        if not options.frame:
            raise ArgumentError("a jacobian kernel needs frame=, the name of a link")
        robot.frame(options.frame)
        return Options(gravity, options.frame, options.point)
    return Options(gravity)
