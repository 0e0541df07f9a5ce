"""Cross-validation: every formulation against the oracle at random states, quantity by quantity.

Elastic links are unknown to Pinocchio: there the formulations are compared with each other, momentum, centre of mass, potential energy
and Jacobians of the bent links with those of point masses (point_masses.py), and with Pinocchio what does not depend on the
links being elastic (rigid_limit.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs import functions
from urdf_gibbs.arguments import flag, listed, whole
from urdf_gibbs.dynamics.registry import COMPILED, REFERENCES, checked_method, methods_of
from urdf_gibbs.errors import ArgumentError, SingularMassMatrixError
from urdf_gibbs.names import Method
from urdf_gibbs.oracle.derivatives import CALLS, compare_derivatives
from urdf_gibbs.oracle.difference import FLOOR, NO_DIGIT, ROUND_OFF, States, compared, judged, random_states, solution_bound
from urdf_gibbs.oracle.pinocchio import Answers, Oracle, OracleRefusal
from urdf_gibbs.oracle.point_masses import Bent, PointMasses
from urdf_gibbs.oracle.report import RESIDUAL, Comparison, Matrices, Report
from urdf_gibbs.oracle.rigid_limit import RigidLimit
from urdf_gibbs.oracle.sources import Make, reference_of
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]
Progress = Callable[[str], None]

JACOBIANS = 6  # links whose Jacobians are compared, the leaves first
RIGID = " (rigid limit)"  # after a quantity's name: elastic coordinates at rest, rows and columns of the others alone
BENT = " (point masses)"  # after a quantity's name: of bent links


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what overflows is not compared, and said
def validate(
    robot: Robot,
    source: Any,
    *,
    mimic: bool = True,
    samples: int = 20,
    seed: int = 0,
    methods: Sequence[Method] | None = None,
    derivatives: bool = True,
    progress: Progress = lambda _: None,
) -> Report:
    """Compare a robot with what Pinocchio reads from its source, at random states and quantity by quantity.

    Args:
        robot: Made by ``load``.
        source: What it was loaded from: a path, a name or XML text, which Pinocchio reads by itself, or an object. Of what is no URDF
            Pinocchio reads the URDF that it becomes, and the engine that the format belongs to (MuJoCo, Drake, or Pinocchio for its own
            model) is compared as well, in M and bias.
        mimic: Whether mimic joints follow their masters, as the robot was loaded.
        samples: How many states.
        seed: Of the random states.
        methods: Formulations to compare; None: "compiled" and the papers' for this kind of robot.
        derivatives: Whether derivatives, products with them and regressors are compared as well, which takes a second or more to compile.
        progress: progress(what), called before each step.

    Returns:
        The report: ``agrees``, ``worst``, ``comparisons`` of each method and quantity, ``notes``.

    Raises:
        ArgumentError: An argument has a wrong type or value, or a method is not for this robot.
        UnknownNameError: There is no such method.
        OracleMissingError: Pinocchio is not installed.
        UrdfError: The source is none that can be loaded.
    """
    check_robot(robot)
    flag(mimic, "mimic")
    flag(derivatives, "derivatives")
    whole(samples, 1, "samples")
    whole(seed, 0, "seed")
    if not callable(progress):
        raise ArgumentError(f"progress={progress!r}, expected a function of the step's name")
    given = (
        [methods] if isinstance(methods, str) else listed(methods_of(robot) if methods is None else methods, "a list of names", "methods")
    )
    report = Report(robot.file, robot.base, robot.nq, robot.nv, samples, seed)
    states = random_states(robot, samples, seed)
    methods = tuple(checked_method(robot, method) for method in given)
    source, engine, report.notes[:0] = reference_of(robot, source, mimic)
    if robot.is_flexible:
        return _validate_flexible(robot, source, mimic, methods, states, report, progress)
    points = _points(robot, seed)
    progress("Pinocchio")
    try:
        oracle = Oracle(source, robot.base, mimic, EARTH_GRAVITY, order=robot.joint_names)
    except OracleRefusal as refusal:
        report.notes.append(f"{refusal}; the formulations are compared with each other")
        answers = [_own_answers(robot, methods[-1], states, i, points) for i in range(samples)]
        report.reference = methods[-1]
        methods = methods[:-1]
    else:
        report.notes += oracle.notes
        if tuple(oracle.joint_names) != robot.joint_names:
            names = f"{', '.join(robot.joint_names)}; Pinocchio: {', '.join(oracle.joint_names)}"
            report.comparisons.append(Comparison("all", "joint names", np.inf, 0, False, f"ours: {names}"))
            return report
        answers = [oracle.answers(states.q[i], states.v[i], states.a[i], states.tau[i], points) for i in range(samples)]
    report.nothing = _nothing(robot, answers)
    for method in methods if not report.nothing else ():
        progress(method)
        report.comparisons += _compare_dynamics(robot, method, states, answers)
    report.matrices = _matrices(robot, methods, states, answers, report.comparisons)
    progress("kinematics")
    kinematics = _compare_kinematics(robot, states, answers, points)
    report.comparisons += [c for c in kinematics if c.quantity == "jacobians" or not report.nothing]
    if engine is not None and not report.nothing:
        report.comparisons += _compare_engine(robot, engine, methods, states, report)
    if derivatives and robot.nv and not report.nothing and COMPILED in methods and report.reference == "Pinocchio":
        progress("derivatives")
        report.comparisons += compare_derivatives(robot, oracle, states, list(points))
    if report.comparisons:
        report.worst_call = _call(robot, mimic, report.worst, states)
    report.notes += sorted({c.remark for c in report.comparisons if c.remark and c.agrees})
    return report


def _validate_flexible(
    robot: Robot,
    source: str | bytes | os.PathLike[str],
    mimic: bool,
    methods: Sequence[Method],
    states: States,
    report: Report,
    progress: Progress,
) -> Report:
    """The formulations with one of them, and all with Pinocchio where the elastic coordinates rest."""
    # A single method is still compared with another one.
    reference = next(name for name in reversed(methods_of(robot)) if [name] != list(methods) and (name in methods or len(methods) == 1))
    report.reference = "each other"
    answers = [_own_answers(robot, reference, states, i, {}) for i in range(report.samples)]
    others = [method for method in methods if method != reference]
    for method in others:
        progress(method)
        report.comparisons += _compare_dynamics(robot, method, states, answers)
    report.matrices = _matrices(robot, [*others, reference], states, answers, report.comparisons)
    report.notes.append(f"elastic links, which Pinocchio does not know: {', '.join(others)} against {reference}")
    progress("point masses")
    try:
        cloud = PointMasses(robot, EARTH_GRAVITY)
    except OracleRefusal as refusal:
        report.notes.append(f"momentum and Jacobians of bent links were not compared with point masses: {refusal}")
    else:
        points = _points(robot, report.seed)
        bent = [cloud.answers(q, v, points) for q, v in zip(states.q, states.v, strict=True)]
        report.comparisons += [replace(c, quantity=c.quantity + BENT) for c in _compare_kinematics(robot, states, bent, points)]
    rest = States(states.q.copy(), states.v.copy(), states.a.copy(), states.tau)
    progress("rigid limit")
    try:
        limit = RigidLimit(robot, source, mimic, EARTH_GRAVITY)
    except OracleRefusal as refusal:
        report.notes.append(f"the rigid limit was not compared with Pinocchio: {refusal}")
    else:
        report.reference += "; rigid limit against Pinocchio"
        report.notes += limit.oracle.notes
        rest.q[:, limit.bent_q] = rest.v[:, limit.bent_v] = rest.a[:, limit.bent_v] = 0.0
        report.comparisons += _compare_rigid_limit(robot, limit, methods, rest, report)
    if report.comparisons:
        report.worst_call = _call(robot, mimic, report.worst, rest if report.worst.quantity.endswith(RIGID) else states)
    report.notes += sorted({c.remark for c in report.comparisons if c.remark and c.agrees})
    return report


def _compare_rigid_limit(robot: Robot, limit: RigidLimit, methods: Sequence[Method], rest: States, report: Report) -> list[Comparison]:
    """Pinocchio's rods against our rigid rows and columns, with the elastic coordinates and their rates and accelerations zero."""
    points = {link: point for link, point in _points(robot, report.seed).items() if link in limit.links}
    q, v = limit.q, limit.v
    answers = [limit.oracle.answers(rest.q[i, q], rest.v[i, v], rest.a[i, v], rest.tau[i, v], points) for i in range(report.samples)]
    scales = np.array([np.max(np.abs(answer.inverse), initial=0.0) for answer in answers])
    none = 0.0 * scales
    result: list[Comparison] = []
    for method in methods:
        M = functions.mass_matrix(robot, rest.q, method=method)[:, v][:, :, v]
        bias = functions.bias(robot, rest.q, rest.v, method=method)[:, v]
        inverse = functions.inverse_dynamics(robot, rest.q, rest.v, rest.a, method=method)[:, v]
        gravity = functions.gravity_force(robot, rest.q, method=method)[:, v]
        kinetic = np.asarray(functions.kinetic_energy(robot, rest.q, rest.v, method=method))
        result += [
            compared(method, "mass matrix", M, [answer.mass_matrix for answer in answers], none),
            compared(method, "bias", bias, [answer.bias for answer in answers], scales),
            compared(method, "gravity", gravity, [answer.gravity for answer in answers], scales),
            compared(method, "inverse dynamics", inverse, [answer.inverse for answer in answers], scales),
            compared(method, "kinetic energy", kinetic, [answer.kinetic for answer in answers], none),
        ]
    kinematics = _compare_kinematics(robot, rest, answers, points, v)
    if not limit.all_move:
        kinematics = [c for c in kinematics if c.quantity == "jacobians"]
        report.notes.append(
            "energy, momentum and centre of mass were not compared with Pinocchio: a beam is fixed to the world, where a rod does not count"
        )
    return [replace(c, quantity=c.quantity + RIGID) for c in [*result, *kinematics]]


def _compare_engine(robot: Robot, make: Make, methods: Sequence[Method], states: States, report: Report) -> list[Comparison]:
    """M and bias beside those of the engine that the source belongs to."""
    try:
        engine = make(robot)
    except OracleRefusal as refusal:
        report.notes.append(f"not compared with the source's own engine: {refusal}")
        return []
    matrices, biases = engine.compared(states)
    gravity: Any = engine.gravity
    scales = np.array([np.max(np.abs(M), initial=0.0) for M in matrices]) + [np.max(np.abs(bias), initial=0.0) for bias in biases]
    result = []
    for method in methods:
        M = functions.mass_matrix(robot, states.q, method=method)
        bias = functions.bias(robot, states.q, states.v, method=method, gravity=gravity)
        result += [compared(method, f"mass matrix ({engine.name})", M, matrices, 0.0 * scales)]
        result += [compared(method, f"bias ({engine.name})", bias, biases, scales)]
    return result


def _compare_dynamics(robot: Robot, method: Method, states: States, answers: list[Answers]) -> list[Comparison]:
    M = functions.mass_matrix(robot, states.q, method=method)
    bias = functions.bias(robot, states.q, states.v, method=method)
    scales = np.array([np.max(np.abs(answer.inverse), initial=0.0) for answer in answers])
    wanted: dict[str, tuple[Array, list[Any], Array]] = {
        "mass matrix": (M, [answer.mass_matrix for answer in answers], 0.0 * scales),
        "bias": (bias, [answer.bias for answer in answers], scales),
        "gravity": (functions.gravity_force(robot, states.q, method=method), [answer.gravity for answer in answers], scales),
        "inverse dynamics": (
            functions.inverse_dynamics(robot, states.q, states.v, states.a, method=method),
            [answer.inverse for answer in answers],
            scales,
        ),
        "kinetic energy": (
            np.asarray(functions.kinetic_energy(robot, states.q, states.v, method=method)),
            [answer.kinetic for answer in answers],
            0.0 * scales,
        ),
    }
    comparisons = [compared(method, quantity, *pair) for quantity, pair in wanted.items()]
    return [*comparisons, *_compare_forward(robot, method, states, answers)]


def _matrices(
    robot: Robot, methods: Sequence[Method], states: States, answers: list[Answers], comparisons: list[Comparison]
) -> Matrices | None:
    """M at the state where it differs most (the first if nowhere), computed again: keeping all of them would take too much memory."""
    if not answers:
        return None
    of_mass_matrix = [c for c in comparisons if c.quantity == "mass matrix"]
    state = max(of_mass_matrix, key=lambda c: c.error).state if of_mass_matrix else 0
    ours = {method: functions.mass_matrix(robot, states.q[state : state + 1], method=method)[0] for method in methods}
    return Matrices(state, states.q[state].copy(), ours, answers[state].mass_matrix)


def _compare_forward(robot: Robot, method: Method, states: States, answers: list[Answers]) -> list[Comparison]:
    """By |difference| up to what the condition of M allows, and by the residual with the oracle's M and h, whatever the condition."""
    errors, bounds, residuals = [], [], []
    remark = ""
    together: Array | None = None
    with suppress(SingularMassMatrixError):  # then state by state, to find which
        together = functions.forward_dynamics(robot, states.q, states.v, states.tau, method=method)
    for i, answer in enumerate(answers):
        condition = _condition(answer.mass_matrix)
        bounds.append(solution_bound(condition))
        try:
            one = (states.q[i], states.v[i], states.tau[i])
            a = together[i] if together is not None else functions.forward_dynamics(robot, *one, method=method)
        except SingularMassMatrixError as singular:
            wrong = answer.acceleration is not None and solution_bound(condition) < NO_DIGIT
            errors.append(np.inf if wrong else np.nan)
            residuals.append(np.nan)
            if not remark.startswith("ours"):
                remark = f"ours: {singular}" if wrong else f"forward dynamics does not exist: M is singular ({', '.join(singular.joints)})"
            continue
        residual = np.linalg.norm(answer.mass_matrix @ a + answer.bias - states.tau[i])
        size = np.linalg.norm(answer.mass_matrix) * np.linalg.norm(a) + np.linalg.norm(answer.bias) + np.linalg.norm(states.tau[i])
        residuals.append(_error(residual, size, np.max(np.abs(answer.inverse), initial=0.0)) if np.isfinite(a).all() else np.inf)
        if answer.acceleration is None or bounds[-1] >= NO_DIGIT:
            errors.append(np.nan)
            remark = (
                remark or f"forward dynamics: at cond M = {condition:.0e} no digit of an acceleration is sure; its residual is compared"
            )
        else:
            difference, size = np.linalg.norm(a - answer.acceleration), np.linalg.norm(answer.acceleration)
            errors.append(_error(difference, size, np.max(np.abs(states.a[i]))) if np.isfinite(a).all() else np.inf)
    return [
        judged(method, "forward dynamics", errors, bounds, remark),
        judged(method, "forward dynamics residual", residuals, RESIDUAL),
    ]


def _error(difference: Any, size: Any, scale: Any) -> float:
    """Relative to the size, or to the quantity's own scale where round-off of that is all; NaN where it is too large for a number."""
    if not np.isfinite(size) or not np.isfinite(difference):
        return np.nan
    return float(difference / max(float(size), FLOOR, float(scale) if difference <= ROUND_OFF * scale else 0.0))


def _compare_kinematics(
    robot: Robot, states: States, answers: Sequence[Answers | Bent], points: dict[str, Array], columns: Any = slice(None)
) -> list[Comparison]:
    """``columns``: of the Jacobians, those that the answers have."""
    beams = sum(joint.beam.mass for joint in robot.joints if joint.beam is not None)
    length = 9.81 * (float(np.abs(robot.mass).sum()) + beams)
    scales = np.full(len(answers), length)
    none = 0.0 * scales
    potential = np.asarray(functions.potential_energy(robot, states.q))
    comparisons = [
        compared("kinematics", "potential energy", potential, [answer.potential for answer in answers], scales),
        compared("kinematics", "momentum", functions.momentum(robot, states.q, states.v), [answer.momentum for answer in answers], none),
    ]
    if answers and answers[0].centre_of_mass is not None:
        comparisons.append(
            compared(
                "kinematics",
                "centre of mass",
                functions.centre_of_mass(robot, states.q),
                [answer.centre_of_mass for answer in answers],
                none,
            )
        )
    worst = Comparison("kinematics", "jacobians")
    largest = np.full(len(answers), np.nan)
    for link, point in points.items():
        one = compared(
            "kinematics",
            "jacobians",
            functions.jacobian(robot, states.q, link, point)[:, :, columns],
            [x.jacobians[link] for x in answers],
            none,
        )
        largest = np.fmax(largest, one.errors)
        if one.error >= worst.error:
            worst, worst.link = one, link
    worst.errors = largest.tolist()
    return [*comparisons, worst]


def _nothing(robot: Robot, answers: Sequence[Answers]) -> str:
    """Why the dynamics are nothing that could agree; "" where they are something."""
    if not robot.nv:
        return f"nothing moves on a {robot.base} base"
    largest = max((float(np.max(np.abs(answer.mass_matrix), initial=0.0)) for answer in answers), default=0.0)
    if largest == 0.0:
        return "no link that moves has a mass or an inertia"
    return f"the largest entry of M is {largest:.0e}, too small for a mass or an inertia" if largest < FLOOR else ""


def _own_answers(robot: Robot, method: Method, states: States, i: int, points: dict[str, Array]) -> Answers:
    """The same quantities by one of our methods, where Pinocchio refuses."""
    q, v = states.q[i], states.v[i]
    M, bias = functions.mass_matrix(robot, q, method=method), functions.bias(robot, q, v, method=method)
    try:
        acceleration = functions.forward_dynamics(robot, q, v, states.tau[i], method=method)
    except SingularMassMatrixError:
        acceleration = None
    return Answers(
        M,
        bias,
        functions.gravity_force(robot, q, method=method),
        M @ states.a[i] + bias,
        acceleration,
        float(0.5 * v @ M @ v),
        float(functions.potential_energy(robot, q)),
        functions.momentum(robot, q, v),
        functions.centre_of_mass(robot, q) if robot.mass.sum() > 0.0 or robot.is_flexible else None,
        {link: functions.jacobian(robot, q, link, point) for link, point in points.items()},
    )


def _points(robot: Robot, seed: int) -> dict[str, Array]:
    """Links for the Jacobians, leaves first, each with a random point of its frame."""
    rng = np.random.default_rng(seed)
    leaves = [robot.joints[body].child for body in robot.branches.leaves[:JACOBIANS]]
    others = [link for link in robot.link_names if link not in leaves]
    extra = rng.permutation(len(others))[: max(0, JACOBIANS - len(leaves))]
    points = {link: rng.uniform(-0.5, 0.5, 3) for link in [*leaves, *(others[i] for i in extra)]}
    for joint in robot.joints:
        if joint.beam is not None and joint.beam.link in points:  # of the section at its root
            x = robot.frame(joint.beam.link).placement[:3, :3].T @ joint.beam.axis
            points[joint.beam.link] -= (points[joint.beam.link] @ x) * x
    return points


def _condition(M: Array) -> float:
    if not M.size:
        return 1.0
    return float(np.linalg.cond(M)) if np.isfinite(M).all() else np.inf


def _call(robot: Robot, mimic: bool, worst: Comparison, states: States) -> str:
    """The worst state as a line of Python."""
    i = worst.state
    names = {
        "mass matrix": ("mass_matrix", "q"),
        "bias": ("bias", "qv"),
        "gravity": ("gravity_force", "q"),
        "inverse dynamics": ("inverse_dynamics", "qva"),
        "forward dynamics": ("forward_dynamics", "qvt"),
        "forward dynamics residual": ("forward_dynamics", "qvt"),
        "kinetic energy": ("kinetic_energy", "qv"),
        "potential energy": ("potential_energy", "q"),
        "momentum": ("momentum", "qv"),
        "centre of mass": ("centre_of_mass", "q"),
        "jacobians": ("jacobian", "q"),
        **CALLS,
    }
    function, letters = names[worst.quantity if worst.quantity in names else worst.quantity.partition(" (")[0]]
    values = {"q": states.q, "v": states.v, "a": states.a, "t": states.tau}
    arguments = [f"urdf_gibbs.load({robot.file!r}, base={robot.base!r}, mimic={mimic})"]
    arguments += [repr(values[letter][i].tolist()) for letter in letters]
    if function.startswith("jacobian"):
        arguments.append(repr(worst.link))
    if worst.method in (COMPILED, *REFERENCES) and worst.quantity not in CALLS:
        arguments.append(f"method={worst.method!r}")
    return f"import urdf_gibbs; print(urdf_gibbs.{function}({', '.join(arguments)}))"
