"""Traced programs on random trees against Pinocchio, and the simplification of expressions against exact fractions.

A program is evaluated in plain Python over floats, which takes the formulation, the tracing and the simplification to the
oracle without the cost of a compiler; a part of the trees goes through the machine code as well.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_trees import random_tree
from urdf_text import inertial, joint, link
from urdf_text import robot as robot_text

import urdf_gibbs as ug
from urdf_gibbs import Robot
from urdf_gibbs.dynamics.scalar import cos, sin
from urdf_gibbs.engine.emit import Program, batch_ir, single_ir
from urdf_gibbs.engine.graph import Graph, Node, needed, simplified
from urdf_gibbs.engine.objects import load_code
from urdf_gibbs.engine.quantities import Options, trace
from urdf_gibbs.oracle.pinocchio import Answers, Oracle
from urdf_gibbs.robot.garbage import garbage_collection_paused
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

Array = NDArray[np.float64]

BASES = ("fixed", "floating", "planar")
AGREEMENT = 1e-10  # of the largest entry: some thousand roundings of 1e-16, and the cancellation of a dozen joints
ROUND_OFF = 1e-14  # of the weight and of the forces of a random acceleration: what is left where the entries of h cancel to zero
RESIDUAL = 1e-12  # of |M||a| + |h| + |tau|: backward error of a solution, whatever the condition of M
QUANTITIES = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URDF_GIBBS_CACHE", "")
        yield


def evaluated(outputs: Sequence[Any], inputs: dict[str, Sequence[float]]) -> list[float]:
    """The outputs of a graph in plain floats, node by node."""
    values: dict[int, float] = {}

    def of(x: Any) -> float:
        return values[x.index] if isinstance(x, Node) else float(x)

    for node in needed(list(outputs)):
        op, args = node.op, node.args
        if op == "mul":
            value = of(args[0]) * of(args[1])
        elif op == "add":
            value = of(args[0]) + of(args[1])
        elif op == "sub":
            value = of(args[0]) - of(args[1])
        elif op == "neg":
            value = -of(args[0])
        elif op == "div":
            value = of(args[0]) / of(args[1])
        elif op == "input":
            value = float(inputs[args[0]][args[1]])
        elif op == "sin":
            value = math.sin(of(args[0]))
        else:
            assert op == "cos", op
            value = math.cos(of(args[0]))
        values[node.index] = value
    return [of(output) for output in outputs]


# Random trees ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A robot at one state, and what Pinocchio says there."""

    robot: Robot
    q: Array
    v: Array
    a: Array
    tau: Array
    expected: Answers

    def inputs(self) -> dict[str, list[float]]:
        return {"q": self.q.tolist(), "v": self.v.tolist(), "a": self.a.tolist(), "tau": self.tau.tolist()}


def case(text: str, base: str, seed: int) -> Case:
    robot = ug.load(text, base)
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    v, a, tau = rng.normal(size=(3, robot.nv))
    oracle = Oracle(text, base, True, EARTH_GRAVITY)
    assert tuple(oracle.joint_names) == robot.joint_names
    return Case(robot, q, v, a, tau, oracle.answers(q, v, a, tau, {}))


def of_seed(seed: int) -> Case:
    """Tree number ``seed``: 1 to 9 joints of all types, every second one with mimic joints, the bases in turn."""
    return case(random_tree(seed, 1 + seed // 6 % 9, mimic=0.3 if seed % 2 else 0.0), BASES[seed % 3], seed)


def aligned_tree(seed: int, joints: int) -> str:
    """URDF text of a tree in right angles and round numbers, where most of the products of the formulation fold away."""
    rng = np.random.default_rng(seed)

    def place() -> dict[str, Array]:
        return {"xyz": rng.choice([0.0, 0.0, 0.0, 1.0, -0.5, 0.3], 3), "rpy": rng.choice([0, 0, 0, 1, -1, 2], 3) * np.pi / 2}

    def body(name: str) -> str:
        where = place()
        moments = [(1.0, 1.0, 1.0), (0.1, 0.2, 0.25), (2.0, 1.0, 1.5), (0.5, 0.5, 0.1)][rng.integers(4)]
        return link(name, inertial(rng.choice([1.0, 2.0, 0.5]), where["xyz"], where["rpy"], moments))

    parts = [body("l0")]
    one_dof: list[str] = []
    for i in range(1, joints + 1):
        kind = str(rng.choice(["revolute", "continuous", "prismatic", "prismatic", "planar", "floating", "fixed"]))
        follow = ""
        if kind in ("revolute", "continuous", "prismatic"):
            if one_dof and rng.random() < 0.2:
                follow = (
                    f'<mimic joint="{rng.choice(one_dof)}" multiplier="{rng.choice([1.0, -1.0, 2.0])}" offset="{rng.choice([0.0, 0.5])}"/>'
                )
            one_dof.append(f"j{i}")
        axis = None if kind in ("fixed", "floating") else np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        parent = f"l{rng.integers(max(0, i - 3), i)}"
        parts += [body(f"l{i}"), joint(f"j{i}", kind, parent, f"l{i}", follow, axis=axis, **place())]
    return robot_text(*parts)


def aligned_of_seed(seed: int) -> Case:
    return case(aligned_tree(seed, 1 + seed // 6 % 8), BASES[seed % 3], seed)


def disagreement(case: Case, name: str, found: Array) -> str:
    """An empty text where the answer to a question is Pinocchio's, else what is wrong."""
    expected = case.expected
    if not np.isfinite(found).all():
        return f"{name} is not finite"
    if name == "forward_dynamics":
        M, h, tau = expected.mass_matrix, expected.bias, case.tau
        norm = np.linalg.norm
        residual = float(norm(M @ found + h - tau))
        allowed = RESIDUAL * float(norm(M) * norm(found) + norm(h) + norm(tau))
        return f"{name}: residual {residual:.2e}, allowed {allowed:.2e}" if residual > allowed else ""
    reference = {"mass_matrix": expected.mass_matrix, "bias": expected.bias, "inverse_dynamics": expected.inverse}[name]
    force = float(np.max(np.abs(expected.inverse), initial=0.0)) + 9.81 * float(case.robot.mass.sum())
    allowed = max(AGREEMENT * float(np.max(np.abs(reference), initial=0.0)), 0.0 if name == "mass_matrix" else ROUND_OFF * force)
    error = float(np.max(np.abs(found.reshape(reference.shape) - reference), initial=0.0))
    return f"{name}: off by {error:.2e}, allowed {allowed:.2e}" if error > allowed else ""


def disagreements_of_the_program(case: Case) -> list[str]:
    """All that the traced programs of the four questions say other than Pinocchio, in plain Python."""
    wrong = []
    for name in QUANTITIES:
        with garbage_collection_paused():  # as in a kernel
            program = trace(case.robot, name, Options(EARTH_GRAVITY))
        values = evaluated([*program.outputs, *(check.value for check in program.checks)], case.inputs())
        count = len(program.outputs)
        wrong.append(disagreement(case, name, np.array(values[:count])))
        for check, value in zip(program.checks, values[count:], strict=True):
            if (abs(value) <= check.bound) == check.below:
                wrong.append(f"{name}: a check of bit {check.bit} fails at a regular state")
    return [text for text in wrong if text]


def portions(end: int, step: int, daily: int) -> list[Any]:
    """The first numbers of portions; those from ``daily`` on are left to make nightly."""
    return [pytest.param(first, marks=[pytest.mark.nightly] if first >= daily else []) for first in range(0, end, step)]


@pytest.mark.parametrize("first", portions(300, 50, daily=50))
def test_programs_of_random_trees_agree_with_pinocchio(first: int) -> None:
    wrong = {seed: found for seed in range(first, first + 50) if (found := disagreements_of_the_program(of_seed(seed)))}
    assert not wrong


@pytest.mark.parametrize("first", portions(150, 50, daily=50))
def test_programs_of_trees_in_right_angles_agree_with_pinocchio(first: int) -> None:
    wrong = {seed: found for seed in range(first, first + 50) if (found := disagreements_of_the_program(aligned_of_seed(seed)))}
    assert not wrong


@pytest.mark.parametrize("first", portions(60, 10, daily=10))
def test_kernels_of_random_trees_agree_with_pinocchio(first: int) -> None:
    """Sixty trees, ten of all sizes and bases in each portion, with mimic joints and without."""
    wrong: dict[int, list[str]] = {}
    for seed in (1000 * i // 60 for i in range(first // 10, 60, 6)):
        one = of_seed(seed)
        states = {"q": one.q, "v": one.v, "a": one.a, "tau": one.tau}
        for name, letters in {"mass_matrix": "q", "bias": "qv", "inverse_dynamics": "qva", "forward_dynamics": "qvt"}.items():
            arguments = [states["tau" if letter == "t" else letter] for letter in letters]
            found = disagreement(one, name, one.robot.kernel(name)(*arguments))
            if found:
                wrong.setdefault(seed, []).append(found)
    assert not wrong


# Expressions -----------------------------------------------------------------------------------------

# An expression is a list of steps (operation, three earlier values), so that values are shared as they are in a formulation.
OPERATIONS = (
    "add", "sub", "mul", "neg", "self_difference", "put_and_take", "twice", "common_factor", "opposite", "multiples", "shifted", "nested",
)  # fmt: skip
DIVISIONS = ("div", "div", "collapsing_divisor")
CONSTANTS = (0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 3.0, 0.1)
INPUTS = 4
MAX_DEGREE = 10  # of a polynomial: exact fractions grow with it
RELATIVE = 1e-12  # of the sum of the magnitudes of all terms: a few hundred roundings

Step = tuple[str, int, int, int]


@dataclass(frozen=True)
class Exact:
    """A value without rounding, the sum of the magnitudes of the terms it comes from, and its degree in the inputs."""

    value: Fraction
    size: Fraction
    degree: int

    @staticmethod
    def of(x: float, degree: int = 0) -> Exact:
        return Exact(Fraction(x), abs(Fraction(x)), degree)

    def __add__(self, other: Exact) -> Exact:
        return Exact(self.value + other.value, self.size + other.size, max(self.degree, other.degree))

    def __sub__(self, other: Exact) -> Exact:
        return Exact(self.value - other.value, self.size + other.size, max(self.degree, other.degree))

    def __mul__(self, other: Exact) -> Exact:
        return Exact(self.value * other.value, self.size * other.size, self.degree + other.degree)

    def __neg__(self) -> Exact:
        return Exact(-self.value, self.size, self.degree)

    def __truediv__(self, other: Exact) -> Exact:
        """A relative error e of the divisor is e of the quotient: its size counts with size/|value| of the divisor."""
        return Exact(self.value / other.value, self.size * other.size / other.value**2, self.degree + 2 * other.degree)

    @property
    def divides_well(self) -> bool:
        """Far enough from zero that rounding does not decide about the quotient."""
        return self.value != 0 and self.size <= 1000 * abs(self.value)


def apply(op: str, a: Any, b: Any, c: Any, two: Any) -> Any:
    """One step on anything that adds and multiplies; ``two`` is a constant of its kind."""
    if op == "add":
        return a + b
    if op == "sub":
        return a - b
    if op == "mul":
        return a * b
    if op == "neg":
        return -a
    if op == "div":
        return a / b
    if op == "collapsing_divisor":
        return c / (((a + two) + b) - a - b)
    if op == "self_difference":
        return a - a
    if op == "put_and_take":
        return (a + b) - a
    if op == "twice":
        return (a + b) + a
    if op == "common_factor":
        return a * b - a * c
    if op == "opposite":
        return (a * b + c) - b * a
    if op == "multiples":
        return (a * b - b) + (b * a + b)
    if op == "shifted":
        return (a + two) * c - a * c
    assert op == "nested", op
    return a - (b - (c - a))


def run(steps: Sequence[Step], inputs: Sequence[float]) -> tuple[list[Any], list[Exact]]:
    """The values of all steps, as nodes of a graph and exactly."""
    graph = Graph()
    x = [graph.input("x", i) for i in range(INPUTS)]
    nodes: list[Any] = [*x, sin(x[0]), cos(x[0]), sin(-x[0]), cos(-x[1]), *CONSTANTS]
    turned = [math.sin(inputs[0]), math.cos(inputs[0]), -math.sin(inputs[0]), math.cos(inputs[1])]
    two = Exact.of(2.0)
    exact = [*(Exact.of(y, 1) for y in [*inputs, *turned]), *(Exact.of(c) for c in CONSTANTS)]
    for op, *places in steps:
        i, j, k = (place % len(nodes) for place in places)
        divisor = {"div": exact[j], "collapsing_divisor": ((exact[i] + two) + exact[j]) - exact[i] - exact[j]}.get(op)
        if divisor is not None and not divisor.divides_well:
            op = "sub"
        result = apply(op, exact[i], exact[j], exact[k], two)
        if result.degree > MAX_DEGREE:
            op = "nested"
            result = apply(op, exact[i], exact[j], exact[k], two)
        nodes.append(apply(op, nodes[i], nodes[j], nodes[k], 2.0))
        exact.append(result)
    return nodes, exact


def wrong_values(outputs: Sequence[Any], exact: Sequence[Exact], inputs: Sequence[float]) -> list[tuple[int, float, float]]:
    """(index, found, expected) of the outputs that are off by more than rounding."""
    found = evaluated(outputs, {"x": inputs})
    return [
        (i, x, float(y.value))
        for i, (x, y) in enumerate(zip(found, exact, strict=True))
        if not math.isfinite(x) or abs(Fraction(x) - y.value) > Fraction(RELATIVE) * y.size
    ]


place = st.integers(0, 63)  # taken modulo the number of values so far
# Half of the operands are among the latest values, so that sums of sums and products of products come up.
places = st.one_of(place, st.integers(-4, -1))
values = st.lists(st.integers(-4000, 4000).map(lambda n: n / 1000), min_size=INPUTS, max_size=INPUTS)
polynomials = st.lists(st.tuples(st.sampled_from(OPERATIONS), places, places, places), min_size=1, max_size=25)
quotients = st.lists(st.tuples(st.sampled_from((*OPERATIONS, *DIVISIONS)), places, places, places), min_size=1, max_size=15)
FUZZ = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(FUZZ, max_examples=600)
@given(polynomials, values, st.integers(1, 6))
def test_simplification_of_a_polynomial_keeps_its_value(steps: list[Step], inputs: list[float], count: int) -> None:
    polynomial_keeps_its_value(steps, inputs, count)


@pytest.mark.nightly
@settings(FUZZ, max_examples=5000)
@given(polynomials, values, st.integers(1, 6))
def test_simplification_of_many_polynomials_keeps_their_value(steps: list[Step], inputs: list[float], count: int) -> None:
    polynomial_keeps_its_value(steps, inputs, count)


def polynomial_keeps_its_value(steps: Sequence[Step], inputs: Sequence[float], count: int) -> None:
    nodes, exact = run(steps, inputs)
    outputs, expected = nodes[-count:], exact[-count:]
    assert not wrong_values(outputs, expected, inputs), "as traced"
    simple = simplified(outputs, Graph())
    assert not wrong_values(simple, expected, inputs), "simplified"
    assert not wrong_values(simplified(simple, Graph()), expected, inputs), "simplified again"


@settings(FUZZ, max_examples=400)
@given(quotients, values, st.integers(1, 4))
def test_simplification_of_a_quotient_keeps_its_value(steps: list[Step], inputs: list[float], count: int) -> None:
    quotient_keeps_its_value(steps, inputs, count)


@pytest.mark.nightly
@settings(FUZZ, max_examples=3000)
@given(quotients, values, st.integers(1, 4))
def test_simplification_of_many_quotients_keeps_their_value(steps: list[Step], inputs: list[float], count: int) -> None:
    quotient_keeps_its_value(steps, inputs, count)


def quotient_keeps_its_value(steps: Sequence[Step], inputs: Sequence[float], count: int) -> None:
    nodes, exact = run(steps, inputs)
    outputs, expected = nodes[-count:], exact[-count:]
    assert not wrong_values(outputs, expected, inputs), "as traced"
    assert not wrong_values(simplified(outputs, Graph()), expected, inputs), "simplified"


def compiled(program: Program, inputs: Sequence[float], rows: int) -> tuple[Array, Array]:
    """The outputs of a program in machine code: for one state, and for a batch of the same state."""
    count = len(program.outputs)
    x = np.array([inputs] * rows)
    single, batch = np.full(count, np.nan), np.full((rows, count), np.nan)
    pointer = ctypes.c_void_p
    one = ctypes.CFUNCTYPE(ctypes.c_int64, pointer, pointer)(load_code(single_ir(program)).address("single"))
    many = ctypes.CFUNCTYPE(ctypes.c_int64, pointer, pointer, ctypes.c_int64)(load_code(batch_ir(program)).address("batch"))
    assert one(x.ctypes.data, single.ctypes.data) == 0
    assert many(x.ctypes.data, batch.ctypes.data, rows) == 0
    return single, batch


@settings(FUZZ, max_examples=60)
@given(polynomials, values, st.lists(st.integers(0, 63), min_size=1, max_size=11), st.integers(4, 9))
def test_machine_code_of_a_polynomial_has_its_value(steps: list[Step], inputs: list[float], chosen: list[int], rows: int) -> None:
    """Outputs that are inputs, constants, negations, equal to each other, or any number that is no multiple of four."""
    nodes, exact = run(steps, inputs)
    outputs = [nodes[i % len(nodes)] for i in chosen]
    expected = [exact[i % len(nodes)] for i in chosen]
    single, batch = compiled(Program((("x", INPUTS),), simplified(outputs, Graph())), inputs, rows)
    for found in (single, *batch):
        for x, y in zip(found.tolist(), expected, strict=True):
            assert abs(Fraction(x) - y.value) <= Fraction(RELATIVE) * y.size


def test_the_work_of_a_program_is_the_operations_in_its_text() -> None:
    program = trace(ug.load(ug.model_path("branched12")), "bias", Options())
    text = single_ir(program).split("@single(", 1)[1]
    fused = 2 * text.count("@llvm.fma.")  # a product and a sum; none where the machine has no such instruction
    assert program.work == fused + sum(text.count(f"= {word} nsz") for word in ("fadd", "fsub", "fmul", "fdiv")) > 0
