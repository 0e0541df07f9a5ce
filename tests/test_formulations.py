"""The formulations themselves: terms that the papers leave out, scalar types, structure of M."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.dynamics import explicit, gibbs_appell, scalar
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.engine.kernel import METHODS
from urdf_gibbs.oracle.compare import validate

GRAVITY = [0.0, 0.0, -9.81]
SPATIAL = random_tree(7, 6, ("revolute", "continuous", "prismatic"))


def worst_bias_error(method: str) -> float:
    robot = ug.load(SPATIAL)
    report = validate(robot, SPATIAL, samples=5, methods=(method,))
    return next(c.error for c in report.comparisons if c.quantity == "bias")


def test_bias_needs_the_gyroscopic_term_that_s18_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst_bias_error("gibbs_appell") < 1e-12
    monkeypatch.setattr(gibbs_appell, "gyroscopic", lambda inertia, omega: [0.0, 0.0, 0.0])
    assert worst_bias_error("gibbs_appell") > 1e-4


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
