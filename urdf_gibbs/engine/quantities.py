"""The quantities that can be computed for a robot: inputs, shape of the result, and the formulation behind each of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from urdf_gibbs.arguments import listed
from urdf_gibbs.dynamics import gibbs_appell_flexible as flexible
from urdf_gibbs.dynamics import kinematics, local_force, local_forward, local_inertia
from urdf_gibbs.dynamics.local import LocalModel
from urdf_gibbs.dynamics.local_frames import local_model, parametric_model
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.scalar import dot, matmul
from urdf_gibbs.engine.derivative_quantities import DERIVATIVES, FORWARD, FORWARD_PACKED, STRAIGHT_FORWARD, STRAIGHT_INVERSE
from urdf_gibbs.engine.emit import BAD_QUATERNION, Check, Program
from urdf_gibbs.engine.graph import Graph, Node, TooLarge, arithmetic, simplified
from urdf_gibbs.engine.jacobian_quantities import JACOBIANS
from urdf_gibbs.engine.product_quantities import PRODUCTS
from urdf_gibbs.engine.quantity import SMALL, Quantity, Traced, pivot_checks, square, triangle, vector
from urdf_gibbs.engine.quantity import SUSPECT as SUSPECT
from urdf_gibbs.engine.quantity import Options as Options
from urdf_gibbs.engine.regressor_quantities import REGRESSORS
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.flexible.sections import body_point
from urdf_gibbs.robot.model import Robot

ELEMENTS = "mass_matrix_elements"
CONSTANTS = "constants"  # gravity (3,), then the inertial parameters of all bodies
QUATERNION_TOLERANCE = 1e-6  # allowed drift of a quaternion's norm; beyond it the matrix is noticeably no rotation
# Up to this many operations straight-line code pays (measured); beyond, code in loops compiles ten times faster and, for M, runs faster.
STRAIGHT = {
    **dict.fromkeys(("mass_matrix", "mass_matrix_packed", ELEMENTS), 10_000),
    **dict.fromkeys(DERIVATIVES, STRAIGHT_INVERSE),
    **dict.fromkeys((FORWARD, FORWARD_PACKED), STRAIGHT_FORWARD),
}
STRAIGHT_DEFAULT = 20_000
ELASTIC = 60_000  # for robots with elastic links, which have no code in loops
RAW = 3  # operations before simplification for each one after it: there are hardly twice as many
ELASTIC_RAW = 2_000_000


def inputs_of(name: str, options: Options) -> tuple[str, ...]:
    """The inputs of a kernel; the last holds gravity and, after it, inertial parameters where both are inputs."""
    both = options.parametric and options.free_gravity
    last = (CONSTANTS,) if both else ("parameters",) if options.parametric else ("gravity",) if options.free_gravity else ()
    return (*QUANTITIES[name].inputs, *last)


def width_of(robot: Robot, letter: str) -> int:
    parameters = 10 * len(robot.joints)
    return {"q": robot.nq, "parameters": parameters, "gravity": 3, CONSTANTS: 3 + parameters}.get(letter, robot.nv)


def shape_of(robot: Robot, name: str, options: Options) -> tuple[int, ...]:
    return (len(options.pairs),) if name == ELEMENTS else QUANTITIES[name].shape(robot)


def compute(robot: Robot, name: str, options: Options, *inputs: list[Any]) -> list[Any]:
    """The quantity over any scalar, as a flat list."""
    return _compute(robot, name, options, *inputs)[0]


def _compute(robot: Robot, name: str, options: Options, *inputs: list[Any]) -> Traced:
    return _computed(robot, QUANTITIES[name], options, *inputs)


def _computed(robot: Robot, quantity: Quantity, options: Options, *inputs: list[Any]) -> Traced:
    if options.free_gravity:
        x, y, z = inputs[-1][:3]
        rest = (inputs[-1][3:],) if options.parametric else ()
        inputs, options = (*inputs[:-1], *rest), replace(options, gravity=(x, y, z))
    if robot.is_flexible and quantity.elastic is not None:
        return quantity.elastic(robot, options, *inputs)
    if not quantity.local:
        return quantity.trace(robot, options, *inputs)
    model = parametric_model(robot, inputs[-1]) if options.parametric else local_model(robot)
    return quantity.trace(robot, model, options, *(inputs[:-1] if options.parametric else inputs))


def trace(robot: Robot, name: str, options: Options, limit: int | None = None, instead: Callable[..., Traced] | None = None) -> Program:
    """The program of a quantity; raises TooLarge above ``limit`` operations (None: where straight-line code would not pay).

    instead: computes something else of the same inputs, from which the quantity follows.
    """
    pays = ELASTIC if robot.is_flexible else STRAIGHT.get(name, STRAIGHT_DEFAULT)
    graph = Graph(ELASTIC_RAW if robot.is_flexible or limit is not None else RAW * pays)
    letters = [(letter, width_of(robot, letter)) for letter in inputs_of(name, options)]
    inputs = [[graph.input(letter, i) for i in range(width)] for letter, width in letters]
    quantity = QUANTITIES[name] if instead is None else replace(QUANTITIES[name], trace=instead)
    outputs, checks = _computed(robot, quantity, options, *inputs)
    checks = [*quaternion_checks(robot, inputs[0]), *checks]
    as_made = QUANTITIES[name].as_made
    values = _simplified([*outputs, *(check.value for check in checks)], as_made)
    count = len(outputs)
    checks = [Check(value, check.bound, check.below, check.bit) for check, value in zip(checks, values[count:], strict=True)]
    program = Program(tuple(letters), values[:count], checks, as_made)
    if program.work > (pays if limit is None else limit):
        raise TooLarge
    return program


def _simplified(outputs: list[Any], as_made: bool) -> list[Any]:
    """Rebuilt in their order, or in that in which they were made."""
    order = list(range(len(outputs)))
    if as_made:
        order.sort(key=lambda i: outputs[i].index if isinstance(outputs[i], Node) else -1)
    rebuilt = simplified([outputs[i] for i in order], Graph())
    return [value for _, value in sorted(zip(order, rebuilt, strict=True), key=lambda pair: pair[0])]


def quaternion_checks(robot: Robot, q: list[Any]) -> list[Check]:
    """Checks that the quaternions in q (nq) have unit length."""
    checks = []
    for joint in robot.joints:
        if joint.type == "floating":
            x, y, z, w = q[joint.iq + 3 : joint.iq + 7]
            checks.append(Check(x * x + y * y + z * z + w * w - 1.0, 2.0 * QUATERNION_TOLERANCE, False, BAD_QUATERNION))
    return checks


def _mass_matrix(robot: Robot, model: LocalModel, options: Options, q: list[Any]) -> Traced:
    M = local_inertia.mass_matrix(model, q)
    return [entry for row in M for entry in row], []


def _mass_matrix_packed(robot: Robot, model: LocalModel, options: Options, q: list[Any]) -> Traced:
    M = local_inertia.mass_matrix(model, q)
    return [M[i][j] for i in range(robot.nv) for j in range(i + 1)], []


def _mass_matrix_elements(robot: Robot, model: LocalModel, options: Options, q: list[Any]) -> Traced:
    M = local_inertia.mass_matrix(model, q, frozenset(options.pairs))
    return [M[i][j] for i, j in options.pairs], []


def _bias(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any]) -> Traced:
    return local_force.bias(model, q, v, list(options.gravity)), []


def _gravity_force(robot: Robot, model: LocalModel, options: Options, q: list[Any]) -> Traced:
    return local_force.bias(model, q, [0.0] * robot.nv, list(options.gravity)), []


def _inverse_dynamics(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    return local_force.inverse_dynamics(model, q, v, a, list(options.gravity)), []


def _forward_dynamics(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> Traced:
    """The cheaper of elimination and factorisation, by operation count; mimic joints couple branches and need the second."""
    gravity = list(options.gravity)
    coupled = any(joint.is_mimic for joint in robot.joints)
    method = local_forward.forward_dynamics_factorised if coupled else local_forward.forward_dynamics
    acceleration, pivots = method(model, q, v, tau, gravity)
    if not coupled and 0 < robot.nv <= SMALL and isinstance(q[0], Node):
        other = local_forward.forward_dynamics_factorised(model, q, v, tau, gravity)
        if arithmetic(other[0]) < arithmetic(acceleration):
            acceleration, pivots = other
    return acceleration, pivot_checks(robot, pivots)


def _kinetic_energy(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any]) -> Traced:
    """T = v . (M v) / 2, where M v is the force of an acceleration v at rest without gravity."""
    force = local_force.inverse_dynamics(model, q, [0.0] * robot.nv, v, [0.0] * 3)
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


def _centre_of_mass(robot: Robot, options: Options, q: list[Any]) -> Traced:
    mass, moment = kinematics.first_moment(model_of(robot), q)
    if mass == 0.0:
        raise ArgumentError(f"{robot.name or 'the robot'} has no mass that moves: its centre of mass does not exist")
    return [x / mass for x in moment], []


def _momentum(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    model = model_of(robot)
    mass, moment = kinematics.first_moment(model, q)
    about = moment if mass == 0.0 else [x / mass for x in moment]
    return kinematics.momentum(model, q, v, about), []


def _placement(robot: Robot, options: Options, q: list[Any]) -> Traced:
    where = robot.frame(options.frame)
    local = where.placement.tolist()
    T = local
    if where.body >= 0:
        R, p = kinematics.placements(model_of(robot), q)[where.body]
        T = matmul([[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]], local)
    return [entry for row in T for entry in row], []


def _elastic(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    return kinematics.elastic_screws(model_of(robot), q, v), []


def _screw_count(robot: Robot) -> tuple[int, ...]:
    return (sum(6 * (joint.nv + 1) for joint in robot.joints if joint.beam is not None),)


def _placements(robot: Robot, options: Options, q: list[Any]) -> Traced:
    return [entry for R, p in kinematics.placements(model_of(robot), q) for row in (*R, p) for entry in row], []


# robots with elastic links ------------------------------------------------------------------------------


def _elastic_mass_matrix(robot: Robot, options: Options, q: list[Any]) -> Traced:
    M = flexible.mass_matrix(model_of(robot), q)
    return [entry for row in M for entry in row], []


def _elastic_packed(robot: Robot, options: Options, q: list[Any]) -> Traced:
    M = flexible.mass_matrix(model_of(robot), q)
    return [M[i][j] for i in range(robot.nv) for j in range(i + 1)], []


def _elastic_elements(robot: Robot, options: Options, q: list[Any]) -> Traced:
    M = flexible.mass_matrix(model_of(robot), q)
    return [M[i][j] for i, j in options.pairs], []


def _elastic_bias(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    return flexible.bias(model_of(robot), q, v, list(options.gravity)), []


def _elastic_gravity(robot: Robot, options: Options, q: list[Any]) -> Traced:
    return flexible.gravity_force(model_of(robot), q, list(options.gravity)), []


def _elastic_inverse(robot: Robot, options: Options, q: list[Any], v: list[Any], a: list[Any]) -> Traced:
    return flexible.inverse_dynamics(model_of(robot), q, v, a, list(options.gravity)), []


def _elastic_forward(robot: Robot, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> Traced:
    acceleration, pivots = flexible.forward_dynamics(model_of(robot), q, v, tau, list(options.gravity))
    return acceleration, pivot_checks(robot, pivots)


def _elastic_kinetic(robot: Robot, options: Options, q: list[Any], v: list[Any]) -> Traced:
    M = flexible.mass_matrix(model_of(robot), q)
    return [0.5 * dot(v, [dot(row, v) for row in M])], []


def _elastic_potential(robot: Robot, options: Options, q: list[Any]) -> Traced:
    height, _ = _potential_energy(robot, options, q)
    return [height[0] + flexible.strain_energy(model_of(robot), q)], []


QUANTITIES: dict[str, Quantity] = {
    "mass_matrix": Quantity(("q",), square, _mass_matrix, elastic=_elastic_mass_matrix),
    "mass_matrix_packed": Quantity(("q",), triangle, _mass_matrix_packed, elastic=_elastic_packed),
    ELEMENTS: Quantity(("q",), lambda robot: (), _mass_matrix_elements, elastic=_elastic_elements),  # its shape: shape_of
    "bias": Quantity(("q", "v"), vector, _bias, gravity=True, elastic=_elastic_bias),
    "gravity_force": Quantity(("q",), vector, _gravity_force, gravity=True, elastic=_elastic_gravity),
    "inverse_dynamics": Quantity(("q", "v", "a"), vector, _inverse_dynamics, gravity=True, elastic=_elastic_inverse),
    "forward_dynamics": Quantity(("q", "v", "tau"), vector, _forward_dynamics, gravity=True, elastic=_elastic_forward),
    "kinetic_energy": Quantity(("q", "v"), lambda robot: (), _kinetic_energy, elastic=_elastic_kinetic),
    "potential_energy": Quantity(("q",), lambda robot: (), _potential_energy, local=False, gravity=True, elastic=_elastic_potential),
    "first_moment": Quantity(("q",), lambda robot: (4,), _first_moment, local=False),
    "centre_of_mass": Quantity(("q",), lambda robot: (3,), _centre_of_mass, local=False),
    "momentum": Quantity(("q", "v"), lambda robot: (6,), _momentum, local=False),
    **JACOBIANS,
    "placement": Quantity(("q",), lambda robot: (4, 4), _placement, local=False),
    "placements": Quantity(("q",), lambda robot: (len(robot.joints), 12), _placements, local=False),
    "elastic": Quantity(("q", "v"), _screw_count, _elastic, local=False),
    **PRODUCTS,
    **DERIVATIVES,
    **REGRESSORS,
}


def checked_options(robot: Robot, name: str, options: Options) -> Options:
    """The options that matter for the quantity, so that equal kernels are shared."""
    free = options.free_gravity and QUANTITIES[name].gravity
    gravity = options.gravity if QUANTITIES[name].gravity and not free else (0.0, 0.0, 0.0)
    if options.parametric and robot.is_flexible:
        raise ArgumentError(f"{robot.name or 'the robot'} has elastic links: inertial parameters as an input are for rigid links")
    if options.parametric and not QUANTITIES[name].local:
        known = ", ".join(other for other, quantity in QUANTITIES.items() if quantity.local)
        raise ArgumentError(f"{name} has no form with parameters, expected one of {known}")
    if name in ("placement", *JACOBIANS):
        if not options.frame:
            raise ArgumentError(f"frame={options.frame!r}, expected the name of a link: a {name} kernel needs frame=")
        robot.frame(options.frame)
        if name == "placement":
            return Options(gravity, options.frame)
        body_point(robot, options.frame, options.point)
        return Options(gravity, options.frame, options.point, reference=options.reference)
    pairs: tuple[tuple[int, int], ...] = ()
    if name == ELEMENTS:
        if not options.pairs:
            raise ArgumentError("no pairs, expected (row, column) of at least one element of M")
        pairs = tuple((max(pair), min(pair)) for pair in options.pairs)  # M is symmetric
    return Options(gravity, parametric=options.parametric, pairs=pairs, free_gravity=free)


def velocity_pairs(robot: Robot, pairs: Iterable[Sequence[int | str]]) -> tuple[tuple[int, int], ...]:
    """Rows and columns of M given as indices from 0 or as velocity names."""
    return tuple(_pair(robot, pair) for pair in listed(pairs, "a list of (row, column)", "pairs"))


def _pair(robot: Robot, pair: Sequence[int | str]) -> tuple[int, int]:
    try:
        row, column = pair
    except (TypeError, ValueError):
        raise ArgumentError(f"{pair!r} in pairs, expected (row, column)") from None
    return _velocity(robot, row), _velocity(robot, column)


def _velocity(robot: Robot, which: int | str) -> int:
    if isinstance(which, str):
        if which not in robot.velocity_names:
            raise UnknownNameError("velocity", which, robot.velocity_names)
        return robot.velocity_names.index(which)
    try:
        index = operator.index(which)
    except TypeError:
        index = -1
    if not 0 <= index < robot.nv:
        raise ArgumentError(f"{which!r} in pairs, expected an index from 0 to {robot.nv - 1} or a velocity name")
    return index
