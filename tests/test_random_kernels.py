"""Traced programs on random trees against Pinocchio, and the simplification of expressions against exact fractions.

A program is evaluated in plain Python over floats, which takes the formulation, the tracing and the simplification to the
oracle without the cost of a compiler; a part of the trees goes through the machine code as well.
"""

from __future__ import annotations

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

import urdf_gibbs as ug
from urdf_gibbs import Robot
from urdf_gibbs.dynamics.scalar import cos, sin
from urdf_gibbs.engine.graph import Graph, Node, needed, simplified
from urdf_gibbs.engine.kernel import GRAVITY
from urdf_gibbs.engine.questions import Options, trace
from urdf_gibbs.oracle.pinocchio import Answers, Oracle

Array = NDArray[np.float64]

BASES = ("fixed", "floating", "planar")
AGREEMENT = 1e-10  # of the largest entry: some thousand roundings of 1e-16, and the cancellation of a dozen joints
ROUND_OFF = 1e-14  # of the forces that a random acceleration needs: what is left where the entries of h cancel to zero
RESIDUAL = 1e-12  # of |M||a| + |h| + |tau|: backward error of a solution, whatever the condition of M
QUESTIONS = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")


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
    oracle = Oracle(text, base, True, GRAVITY)
    assert tuple(oracle.joint_names) == robot.joint_names
    return Case(robot, q, v, a, tau, oracle.answers(q, v, a, tau, {}))


def of_seed(seed: int) -> Case:
    """Tree number ``seed``: 1 to 12 joints of all types, every second one with mimic joints, the bases in turn."""
    return case(random_tree(seed, 1 + seed // 6 % 12, mimic=0.3 if seed % 2 else 0.0), BASES[seed % 3], seed)


def aligned_tree(seed: int, joints: int) -> str:
    """URDF text of a tree in right angles and round numbers, where most of the products of the formulation fold away."""
    rng = np.random.default_rng(seed)

    def inertial() -> str:
        x, y, z = rng.choice([0.0, 0.0, 0.0, 1.0, -0.5, 0.3], 3)
        roll, pitch, yaw = rng.choice([0, 0, 1, -1, 2], 3) * np.pi / 2
        ixx, iyy, izz = [(1.0, 1.0, 1.0), (0.1, 0.2, 0.25), (2.0, 1.0, 1.5), (0.5, 0.5, 0.1)][rng.integers(4)]
        return (
            f'<inertial><origin xyz="{x} {y} {z}" rpy="{roll!r} {pitch!r} {yaw!r}"/><mass value="{rng.choice([1.0, 2.0, 0.5])}"/>'
            f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>'
        )

    lines = ['<robot name="aligned">', f'<link name="l0">{inertial()}</link>']
    one_dof: list[str] = []
    for i in range(1, joints + 1):
        kind = str(rng.choice(["revolute", "continuous", "prismatic", "prismatic", "planar", "floating", "fixed"]))
        x, y, z = rng.choice([0.0, 0.0, 0.0, 1.0, -0.5, 0.3], 3)
        roll, pitch, yaw = rng.choice([0, 0, 0, 1, -1, 2], 3) * np.pi / 2
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        body = f'<parent link="l{rng.integers(max(0, i - 3), i)}"/><child link="l{i}"/>'
        body += f'<origin xyz="{x} {y} {z}" rpy="{roll!r} {pitch!r} {yaw!r}"/>'
        if kind not in ("fixed", "floating"):
            body += f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
        if kind in ("revolute", "prismatic"):
            body += '<limit lower="-2" upper="2" effort="10" velocity="10"/>'
        if kind in ("revolute", "continuous", "prismatic"):
            if one_dof and rng.random() < 0.2:
                body += (
                    f'<mimic joint="{rng.choice(one_dof)}" multiplier="{rng.choice([1.0, -1.0, 2.0])}" offset="{rng.choice([0.0, 0.5])}"/>'
                )
            one_dof.append(f"j{i}")
        lines += [f'<link name="l{i}">{inertial()}</link>', f'<joint name="j{i}" type="{kind}">{body}</joint>']
    return "\n".join([*lines, "</robot>"])


def aligned_of_seed(seed: int) -> Case:
    return case(aligned_tree(seed, 1 + seed // 6 % 8), BASES[seed % 3], seed)


def disagreement(case: Case, name: str, found: Array) -> str:
    """ "" where the answer to a question is Pinocchio's, else what is wrong."""
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
    force = float(np.max(np.abs(expected.inverse), initial=0.0))
    allowed = max(AGREEMENT * float(np.max(np.abs(reference), initial=0.0)), 0.0 if name == "mass_matrix" else ROUND_OFF * force)
    error = float(np.max(np.abs(found.reshape(reference.shape) - reference), initial=0.0))
    return f"{name}: off by {error:.2e}, allowed {allowed:.2e}" if error > allowed else ""


def disagreements_of_the_program(case: Case) -> list[str]:
    """All that the traced programs of the four questions say other than Pinocchio, in plain Python."""
    wrong = []
    for name in QUESTIONS:
        program = trace(case.robot, name, Options(GRAVITY))
        values = evaluated([*program.outputs, *(check.value for check in program.checks)], case.inputs())
        count = len(program.outputs)
        wrong.append(disagreement(case, name, np.array(values[:count])))
        for check, value in zip(program.checks, values[count:], strict=True):
            if (abs(value) <= check.bound) == check.below:
                wrong.append(f"{name}: a check of bit {check.bit} fails at a regular state")
    return [text for text in wrong if text]


@pytest.mark.parametrize("first", range(0, 1000, 50))
def test_programs_of_random_trees_agree_with_pinocchio(first: int) -> None:
    wrong = {seed: found for seed in range(first, first + 50) if (found := disagreements_of_the_program(of_seed(seed)))}
    assert not wrong


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_programs_of_trees_in_right_angles_agree_with_pinocchio(first: int) -> None:
    wrong = {seed: found for seed in range(first, first + 50) if (found := disagreements_of_the_program(aligned_of_seed(seed)))}
    assert not wrong


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_kernels_of_random_trees_agree_with_pinocchio(first: int) -> None:
    """Every seventeenth of the trees: all bases, sizes and both parities of the seed come up."""
    wrong: dict[int, list[str]] = {}
    for seed in range(17 * first, 17 * (first + 10), 17):
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
OPERATIONS = ("add", "sub", "mul", "neg", "self_difference", "put_and_take", "twice", "common_factor", "opposite", "multiples", "nested")
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


def apply(op: str, a: Any, b: Any, c: Any) -> Any:
    """One step on anything that adds and multiplies."""
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
    assert op == "nested", op
    return a - (b - (c - a))


def run(steps: Sequence[Step], inputs: Sequence[float]) -> tuple[list[Any], list[Exact]]:
    """The values of all steps, as nodes of a graph and exactly."""
    graph = Graph()
    x = [graph.input("x", i) for i in range(INPUTS)]
    nodes: list[Any] = [*x, sin(x[0]), cos(x[0]), sin(-x[0]), cos(-x[1]), *CONSTANTS]
    turned = [math.sin(inputs[0]), math.cos(inputs[0]), -math.sin(inputs[0]), math.cos(inputs[1])]
    exact = [*(Exact.of(y, 1) for y in [*inputs, *turned]), *(Exact.of(c) for c in CONSTANTS)]
    for op, *places in steps:
        i, j, k = (place % len(nodes) for place in places)
        if op == "div" and not exact[j].divides_well:
            op = "sub"
        if op == "div" and not isinstance(nodes[j], Node) and not isinstance(nodes[i], Node):
            op = "add"
        result = apply(op, exact[i], exact[j], exact[k])
        if result.degree > MAX_DEGREE:
            op = "nested"
            result = apply(op, exact[i], exact[j], exact[k])
        nodes.append(apply(op, nodes[i], nodes[j], nodes[k]))
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
quotients = st.lists(st.tuples(st.sampled_from((*OPERATIONS, "div", "div")), places, places, places), min_size=1, max_size=15)
FUZZ = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(FUZZ, max_examples=3000)
@given(polynomials, values, st.integers(1, 6))
def test_simplification_of_a_polynomial_keeps_its_value(steps: list[Step], inputs: list[float], count: int) -> None:
    nodes, exact = run(steps, inputs)
    outputs, expected = nodes[-count:], exact[-count:]
    assert not wrong_values(outputs, expected, inputs), "as traced"
    simple = simplified(outputs, Graph())
    assert not wrong_values(simple, expected, inputs), "simplified"
    assert not wrong_values(simplified(simple, Graph()), expected, inputs), "simplified again"


@settings(FUZZ, max_examples=1000)
@given(quotients, values, st.integers(1, 4))
def test_simplification_of_a_quotient_keeps_its_value(steps: list[Step], inputs: list[float], count: int) -> None:
    nodes, exact = run(steps, inputs)
    outputs, expected = nodes[-count:], exact[-count:]
    assert not wrong_values(outputs, expected, inputs), "as traced"
    assert not wrong_values(simplified(outputs, Graph()), expected, inputs), "simplified"
