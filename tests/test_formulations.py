"""The formulations themselves: terms that the papers leave out, scalar types, structure of M."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.dynamics import explicit, gibbs_appell, scalar
from urdf_gibbs.dynamics.matrices import Matrix
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import METHODS
from urdf_gibbs.oracle.compare import validate

GRAVITY = [0.0, 0.0, -9.81]
SPATIAL = random_tree(7, 6, ("revolute", "continuous", "prismatic"))


def worst_bias_error(method: str) -> float:
    robot = ug.load(SPATIAL)
    report = validate(robot, SPATIAL, samples=5, methods=(method,), derivatives=False)
    return next(c.error for c in report.comparisons if c.quantity == "bias")


def test_bias_needs_the_gyroscopic_term_that_s18_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst_bias_error("gibbs_appell") < 1e-12
    monkeypatch.setattr(gibbs_appell, "gyroscopic", no_moment)
    assert worst_bias_error("gibbs_appell") > 1e-4


def moment_of_inertia(second: NDArray[np.float64]) -> NDArray[np.float64]:
    """I = tr(S) 1 - S of second moments S (3, 3)."""
    return np.trace(second) * np.eye(3) - second


def no_moment(inertia: Any, omega: Any) -> list[float]:
    return [0.0, 0.0, 0.0]


def test_thin_bars_are_exact_as_s18_prints_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rod is in B1, whose trace holds its gyroscopic effect; nothing is left for B2."""
    monkeypatch.setattr(gibbs_appell, "gyroscopic", no_moment)
    path = ug.model_path("rocker_arm")
    report = validate(ug.load(path), path, samples=10, methods=("gibbs_appell",), derivatives=False)
    assert max(c.error for c in report.comparisons if c.quantity in ("mass matrix", "bias")) < 1e-14
    assert all(gibbs_appell.B2(body) == [[0.0] * 3] * 3 for body in model_of(ug.load(path)).bodies)


@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "icub_description/robots/icub.urdf"])
def test_with_all_second_moments_in_b1_nothing_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any body, also with an inertia that no mass can have (iCub): B2 is zero and S18's equations are complete as printed."""
    path = example_robots()[name]
    robot = ug.load(path)
    monkeypatch.setattr(gibbs_appell, "gyroscopic", no_moment)

    def error() -> float:
        report = validate(robot, path, samples=3, methods=("gibbs_appell",), derivatives=False)
        return next(c.error for c in report.comparisons if c.quantity == "bias")

    assert error() > 1e-6
    monkeypatch.setattr(gibbs_appell, "line_part", lambda body: 0.5 * body.inertia.trace() * Matrix.identity(3) - body.inertia)
    assert error() < 1e-12


def test_b1_and_b2_hold_the_inertia_of_the_urdf_and_the_line_is_the_largest_rod() -> None:
    """B1 is half the pseudo-inertia of the rod, so both together give the moment of inertia about the joint; what is left is a mass's, too."""
    robot = ug.load(example_robots()["panda_description/urdf/panda.urdf"])
    for i, body in enumerate(model_of(robot).bodies):
        if body.mass == 0.0:
            continue
        B1, B2 = np.array(gibbs_appell.B1(body)), np.array(gibbs_appell.B2(body))
        c, I_c = robot.centre_of_mass[i], robot.inertia[i]
        about_joint = I_c + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        np.testing.assert_allclose(moment_of_inertia(2.0 * B1[:3, :3]) + B2, about_joint, rtol=0, atol=1e-14 * np.abs(about_joint).max())
        np.testing.assert_allclose(2.0 * B1[3], body.mass * np.array([*c, 1.0]), rtol=1e-15)
        line = 2.0 * B1[:3, :3] - body.mass * np.outer(c, c)
        second = 0.5 * np.trace(I_c) * np.eye(3) - I_c
        values = np.linalg.eigvalsh(line)
        assert abs(values[2] - np.linalg.eigvalsh(second)[2]) < 1e-12 * values[2] and np.abs(values[:2]).max() < 1e-12 * values[2]


def test_bias_needs_the_velocity_products_that_wj_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst_bias_error("explicit") < 1e-12
    monkeypatch.setattr(explicit, "angular_velocity_product", lambda omega_parent, joint_rate: [0.0, 0.0, 0.0])
    assert worst_bias_error("explicit") > 1e-4


class Counting:
    """A scalar that counts its operations."""

    operations = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def _made(self, value: float) -> Counting:
        Counting.operations += 1
        return Counting(value)

    @staticmethod
    def _of(other: Any) -> float:
        return other.value if isinstance(other, Counting) else other

    def __add__(self, other: Any) -> Counting:
        return self._made(self.value + self._of(other))

    def __sub__(self, other: Any) -> Counting:
        return self._made(self.value - self._of(other))

    def __rsub__(self, other: Any) -> Counting:
        return self._made(self._of(other) - self.value)

    def __mul__(self, other: Any) -> Counting:
        if isinstance(other, list):  # a vector or matrix multiplies its entries
            return NotImplemented
        return self._made(self.value * self._of(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Counting:
        return Counting(-self.value)

    def sin(self) -> Counting:
        return Counting(float(np.sin(self.value)))

    def cos(self) -> Counting:
        return Counting(float(np.cos(self.value)))


@pytest.mark.parametrize("formulation", [gibbs_appell, explicit])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_counting_scalars_run_through_the_same_source(formulation: Any, base: str) -> None:
    robot = ug.load(SPATIAL, base)
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    Counting.operations = 0
    M = formulation.mass_matrix(model_of(robot), [Counting(x) for x in q])
    h = formulation.bias(model_of(robot), [Counting(x) for x in q], [Counting(x) for x in v], GRAVITY)
    assert Counting.operations > 100
    method = formulation.__name__.rsplit(".", 1)[-1]
    values = np.array([[Counting._of(entry) for entry in row] for row in M])
    assert np.allclose(values, ug.mass_matrix(robot, q, method=method), rtol=1e-15, atol=1e-15)  # the same operations on the same numbers
    assert np.allclose([Counting._of(entry) for entry in h], ug.bias(robot, q, v, method=method), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("formulation", [gibbs_appell, explicit])
def test_sympy_symbols_give_the_pendulum_its_textbook_equation(formulation: Any) -> None:
    scalar.sin.register(sympy.Basic, sympy.sin)
    scalar.cos.register(sympy.Basic, sympy.cos)
    text = (
        '<robot name="p"><link name="b"/><link name="l"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>'
        '<inertia ixx="0.5" iyy="0.25" izz="0.125" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="b"/><child link="l"/><axis xyz="1 0 0"/></joint></robot>'
    )
    model = model_of(ug.load(text))
    angle, rate = sympy.symbols("angle rate", real=True)
    M = sympy.simplify(formulation.mass_matrix(model, [angle])[0][0])
    h = sympy.simplify(formulation.bias(model, [angle], [rate], GRAVITY)[0])
    assert sympy.simplify(M - 1.0) == 0  # Ixx + m l^2 = 0.5 + 2 * 0.25
    assert abs(float(sympy.lambdify(angle, h - 9.81 * sympy.sin(angle))(0.7))) < 1e-14  # m g l sin


@pytest.mark.parametrize("method", list(METHODS))
def test_mass_matrix_is_symmetric_to_the_bit_and_zero_across_branches(method: str) -> None:
    robot = ug.load(ug.model_path("branched12"))
    M = ug.mass_matrix(robot, robot.random(1), method=method)
    assert np.array_equal(M, M.T)
    index = {name: i for i, name in enumerate(robot.joint_names)}
    for one, other in (("q3", "q5"), ("q4", "q8"), ("q6", "q8"), ("q7", "q10"), ("q8", "q9")):
        assert M[index[one], index[other]] == 0.0
