"""A robot's dynamics as self-contained source code: Python, C99 or SymPy.

With numbers written in, the code is the production formulation's, traced and folded; with ``method=`` or named parameters it is that of
one of the papers' formulations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from urdf_gibbs.arguments import triple
from urdf_gibbs.dynamics.local_forward import solved
from urdf_gibbs.dynamics.model import model_of, with_model
from urdf_gibbs.dynamics.registry import COMPILED, REFERENCES, checked_method
from urdf_gibbs.dynamics.scalar import dot, matvec, vadd, vsub
from urdf_gibbs.engine.emit import SINGULAR, Check, Program
from urdf_gibbs.engine.graph import Graph, Node, TooLarge, arithmetic, simplified
from urdf_gibbs.engine.quantities import QUANTITIES as TRACEABLE
from urdf_gibbs.engine.quantities import SUSPECT, Options, checked_options, compute, quaternion_checks, trace, width_of
from urdf_gibbs.equations import c_code, graph_sympy, python_code
from urdf_gibbs.equations.assignments import function
from urdf_gibbs.equations.parameters import Parameter, named_model
from urdf_gibbs.equations.selftest import cases
from urdf_gibbs.equations.source import Source
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.robot.garbage import garbage_collection_paused
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import inertia_scale

LANGUAGES = {"python": python_code.written, "c": c_code.written, "sympy": graph_sympy.written}
OPERATIONS = 200_000  # of one function: a file of 10 MB
STEPS = 3_000_000  # of a formulation before folding
NAMED = "explicit"  # the default formulation for named parameters
QUANTITIES = {  # the letter of the result, and what it is
    "mass_matrix": ("M", "joint-space inertia matrix M (nv x nv)"),
    "bias": ("h", "Coriolis, centrifugal and gravity forces h (nv)"),
    "gravity_force": ("g", "the part of h that gravity makes (nv)"),
    "inverse_dynamics": ("tau", "the force tau = M a + h (nv)"),
    "forward_dynamics": ("a", "the acceleration a (nv) that tau makes"),
    "kinetic_energy": ("T", "kinetic energy [J]"),
    "potential_energy": ("V", "potential energy of the moving links [J]"),
    "jacobian": ("J", "Jacobian (6 x nv) of the origin of {frame}, linear first, world axes"),
    "placement": ("X", "placement (4 x 4) of {frame} in the world"),
}


def generate(
    robot: Robot,
    what: Sequence[str] = ("mass_matrix", "bias"),
    language: str = "python",
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    named: bool = False,
    method: str = COMPILED,
    frame: str = "",
) -> str:
    """Text of a source file with a function for each quantity; the same robot gives the same bytes.

    Args:
        robot: Made by ``load``.
        what: Names of quantities.
        language: "python", "c" or "sympy".
        gravity: (3,) in the world [m/s^2].
        named: Whether masses, mass centres, inertias and lengths are parameters, with the URDF's values as defaults.
        method: The formulation behind it.
        frame: The link whose Jacobian or placement is asked for.

    Returns:
        The text.

    Raises:
        ArgumentError: An argument has a wrong type or value, or the robot has no equations of motion.
        UnknownNameError: There is no such quantity, language, method or link.
    """
    if language not in LANGUAGES:
        raise UnknownNameError("language", language, list(LANGUAGES))
    return LANGUAGES[language](source(robot, what, gravity=gravity, named=named, method=method, frame=frame, symbols=language == "sympy"))


def source(
    robot: Robot,
    what: Sequence[str],
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    named: bool = False,
    method: str = COMPILED,
    frame: str = "",
    symbols: bool = False,
) -> Source:
    """Everything that a source file is written from; for ``symbols`` there is no self-test, and indices in names start at 1."""
    names = quantities(what)
    method = checked_method(robot, method)
    if not robot.nv:
        raise ArgumentError(f"{robot.name or 'the robot'} has no moving joint: there are no equations of motion")
    chosen = NAMED if named and method == COMPILED else method
    wanted = Options(triple(gravity, "gravity"), frame)
    kept = {name: checked_options(robot, name, wanted) for name in names}
    tested = [] if symbols else cases(robot, names, wanted, chosen)  # first, because it reports the joints of a singular mass matrix
    functions = []
    parameters: list[Parameter] = []
    with garbage_collection_paused():
        for name, options in kept.items():
            program, parameters = traced(robot, name, options, chosen, named)
            letter, meaning = QUANTITIES[name]
            functions.append(function(name, letter, meaning.format(frame=frame), TRACEABLE[name].shape(robot), program, int(symbols)))
    formulation = "of urdf-gibbs, in local frames" if chosen == COMPILED else chosen
    return Source(robot, functions, parameters, tested, wanted.gravity, formulation)


def quantities(what: Sequence[str]) -> list[str]:
    """Names of QUANTITIES, each once."""
    names = list(dict.fromkeys(name.strip().replace("-", "_") for name in what))
    for name in names:
        if name not in QUANTITIES:
            raise UnknownNameError("quantity", name, list(QUANTITIES))
    if not names:
        raise ArgumentError(f"nothing is asked for; expected some of {', '.join(QUANTITIES)}")
    return names


def traced(robot: Robot, name: str, options: Options, method: str, named: bool) -> tuple[Program, list[Parameter]]:
    """The program of a quantity, and the parameters that are its input "parameters" ([]: there is none)."""
    parameters: list[Parameter] = []
    try:
        if method == COMPILED:
            program = trace(robot, name, options, OPERATIONS)
        else:
            program, parameters = _by_formulation(robot, name, options, method, named)
            if arithmetic(program.outputs) > OPERATIONS:
                raise TooLarge
    except TooLarge:
        raise ArgumentError(
            f"{name} of {robot.name or 'the robot'} (nv {robot.nv}) takes more than {OPERATIONS} operations: too many without loops"
        ) from None
    for check in program.checks:
        if check.below and not isinstance(check.value, Node) and abs(check.value) <= check.bound:
            raise ArgumentError(f"{name} of {robot.name or 'the robot'} needs pivoting, which code has not: a pivot is {check.value}")
    return program, parameters


def _by_formulation(robot: Robot, name: str, options: Options, method: str, named: bool) -> tuple[Program, list[Parameter]]:
    graph = Graph(STEPS)
    letters = [(letter, width_of(robot, letter)) for letter in TRACEABLE[name].inputs]
    inputs = [[graph.input(letter, i) for i in range(width)] for letter, width in letters]
    model = model_of(robot)
    parameters: list[Parameter] = []
    pivots: list[Any] = []
    if named:
        numbers: dict[str, int] = {}
        model, parameters = named_model(robot, lambda label, value: graph.input("parameters", numbers.setdefault(label, len(numbers))))
        letters.append(("parameters", len(parameters)))
    if name in ("potential_energy", "jacobian", "placement"):
        outputs = compute(with_model(robot, model), name, options, *inputs)
    else:
        outputs, pivots = _answered(REFERENCES[method], model, name, list(options.gravity), *inputs)
    scale = inertia_scale(robot, robot.neutral())
    checks = quaternion_checks(robot, inputs[0])
    checks += [Check(pivot, SUSPECT * float(size), True, SINGULAR) for pivot, size in zip(pivots, scale[: len(pivots)], strict=True)]
    values = simplified([*outputs, *(check.value for check in checks)], Graph())
    count = len(outputs)
    checks = [replace(check, value=value) for check, value in zip(checks, values[count:], strict=True)]
    return Program(tuple(letters), values[:count], checks), parameters


def _answered(paper: Any, model: Any, name: str, gravity: list[float], q: list[Any], *rest: list[Any]) -> tuple[list[Any], list[Any]]:
    """(outputs, pivots) from a formulation's M and h."""
    if name == "gravity_force":
        # strain is no part of it
        own = getattr(paper, "gravity_force", None)
        return (own(model, q, gravity) if own is not None else paper.bias(model, q, [0.0] * model.nv, gravity)), []
    if name == "bias":
        return paper.bias(model, q, rest[0], gravity), []
    M = paper.mass_matrix(model, q)
    if name == "mass_matrix":
        return [entry for row in M for entry in row], []
    if name == "kinetic_energy":
        return [0.5 * dot(rest[0], matvec(M, rest[0]))], []
    h = paper.bias(model, q, rest[0], gravity)
    if name == "inverse_dynamics":
        return vadd(matvec(M, rest[1]), h), []
    return solved(M, vsub(rest[1], h))
