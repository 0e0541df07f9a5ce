"""Mass matrix and bias force of small robots against closed forms that owe nothing to the package.

Two kinds of reference: Lagrange's equations derived here by SymPy from the kinetic and potential energy, and textbook
formulas written out by hand. The parameters are typed from the papers (and from the comments of the model files), never
read through the package. World axes; SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from numpy.typing import NDArray

from urdf_gibbs import Robot, SingularMassMatrixError, bias, forward_dynamics, load, mass_matrix

Array = NDArray[np.float64]
Dynamics = Callable[[Array, Array], tuple[Array, Array]]
Triple = tuple[float, float, float]

MODELS = Path(__file__).parents[1] / "models"
STATES = 8
ROUND_OFF = 1e-12  # some thousand operations in double precision, against the largest entry
G = 9.81  # m/s^2
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
both_methods = pytest.mark.parametrize("method", ["gibbs_appell", "explicit"])


@cache
def model(name: str) -> Robot:
    return load(MODELS / f"{name}.urdf")


def states(seed: int, width: int) -> list[tuple[Array, Array]]:
    """Random (q, v): angles all around [rad], rates of a few rad/s."""
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-np.pi, np.pi, width), rng.uniform(-3.0, 3.0, width)) for _ in range(STATES)]


def assert_same(quantity: str, ours: Array, reference: Array) -> None:
    np.testing.assert_allclose(ours, reference, rtol=0.0, atol=ROUND_OFF * np.abs(reference).max(), err_msg=quantity)


# Lagrange's equations -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Body:
    """A body on joint ``kind`` ("R", "P" or "fixed") about ``axis`` at ``offset`` [m] from its parent's joint; position = sign * q[coordinate].

    ``com`` [m] from the joint, ``inertia`` the diagonal about the mass centre [kg m^2], both in the body's axes.
    """

    parent: int
    kind: str
    axis: Triple
    offset: Triple
    mass: float
    com: Triple
    inertia: Triple
    coordinate: int = 0
    sign: int = 1


def exact(values: Sequence[float]) -> sp.Matrix:
    """A column of the decimal fractions as they are typed, so that SymPy drops zeros and adds without rounding."""
    return sp.Matrix([sp.Rational(str(value)) for value in values])


def rotation(axis: Triple, angle: sp.Expr) -> sp.Matrix:
    """Rotation about a coordinate axis, as matrices of the textbook."""
    c, s = sp.cos(angle), sp.sin(angle)
    if axis == X:
        return sp.Matrix([[1, 0, 0], [0, c, -s], [0, s, c]])
    if axis == Y:
        return sp.Matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return sp.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def lagrange(bodies: Sequence[Body], nv: int, gravity: Triple) -> Dynamics:
    """(q, v) -> (M, h) from d/dt dL/dq' - dL/dq = M q'' + h."""
    q, v = sp.symbols(f"q:{nv}"), sp.symbols(f"v:{nv}")
    frames: list[tuple[sp.Matrix, sp.Matrix]] = []
    kinetic = potential = sp.Integer(0)
    for body in bodies:
        R, p = frames[body.parent] if body.parent >= 0 else (sp.eye(3), sp.zeros(3, 1))
        p = p + R * exact(body.offset)
        if body.kind == "P":
            p = p + R * sp.Matrix(body.axis) * body.sign * q[body.coordinate]
        elif body.kind == "R":
            R = R * rotation(body.axis, body.sign * q[body.coordinate])
        frames.append((R, p))
        mass = sp.Rational(str(body.mass))
        centre = p + R * exact(body.com)
        velocity = centre.jacobian(q) * sp.Matrix(v)
        omega_skew = R.T * sum((R.diff(qi) * vi for qi, vi in zip(q, v, strict=True)), sp.zeros(3, 3))
        omega = sp.Matrix([omega_skew[2, 1], omega_skew[0, 2], omega_skew[1, 0]])  # in the body's axes
        kinetic += mass * velocity.dot(velocity) / 2 + omega.dot(sp.diag(*exact(body.inertia)) * omega) / 2
        potential -= mass * exact(gravity).dot(centre)
    momentum = sp.Matrix([kinetic.diff(vi) for vi in v])
    M = momentum.jacobian(v)
    h = momentum.jacobian(q) * sp.Matrix(v) - sp.Matrix([(kinetic - potential).diff(qi) for qi in q])
    function = sp.lambdify([q, v], [M, h], cse=True)

    def evaluate(q: Array, v: Array) -> tuple[Array, Array]:
        M, h = function(q, v)
        return np.asarray(M, dtype=float), np.asarray(h, dtype=float)[:, 0]

    return evaluate


# The planar 3R manipulator of Wang and Ju, Fig. 4 ---------------------------------------------------

DOWN_Y = (0.0, -G, 0.0)
LENGTH = (0.70, 0.55, 0.35)  # l_k
CENTRE = (0.31, 0.28, 0.13)  # l_kI
MASS = (3.1, 1.9, 0.8)  # m_k
INERTIA = (0.140, 0.055, 0.009)  # I_k about z


@cache
def planar3r_lagrange() -> Dynamics:
    return lagrange(
        [
            Body(-1, "R", Z, (0, 0, 0), MASS[0], (CENTRE[0], 0, 0), (0, 0, INERTIA[0]), 0),
            Body(0, "R", Z, (LENGTH[0], 0, 0), MASS[1], (CENTRE[1], 0, 0), (0, 0, INERTIA[1]), 1),
            Body(1, "R", Z, (LENGTH[1], 0, 0), MASS[2], (CENTRE[2], 0, 0), (0, 0, INERTIA[2]), 2),
        ],
        3,
        DOWN_Y,
    )


def planar3r_mass_matrix(q: Array) -> Array:
    """The paper's example with its lost factors and indices put back (cosines of the joint angles, full sums)."""
    (l1, l2, _), (c1, c2, c3), (m1, m2, m3), (I1, I2, I3) = LENGTH, CENTRE, MASS, INERTIA
    C2, C3, C23 = cos(q[1]), cos(q[2]), cos(q[1] + q[2])
    M33 = I3 + m3 * c3**2
    M23 = M33 + m3 * l2 * c3 * C3
    M13 = M23 + m3 * l1 * c3 * C23
    M22 = I2 + I3 + m2 * c2**2 + m3 * (l2**2 + c3**2 + 2 * l2 * c3 * C3)
    M12 = M22 + m2 * l1 * c2 * C2 + m3 * (l1 * l2 * C2 + l1 * c3 * C23)
    M11 = (
        I1 + I2 + I3 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * C2)
        + m3 * (l1**2 + l2**2 + c3**2 + 2 * l1 * l2 * C2 + 2 * l1 * c3 * C23 + 2 * l2 * c3 * C3)
    )  # fmt: skip
    return np.array([[M11, M12, M13], [M12, M22, M23], [M13, M23, M33]])


def planar3r_gravity(q: Array) -> Array:
    """Holding torques under gravity along -y: weights times their horizontal lever arms."""
    (l1, l2, _), (c1, c2, c3), (m1, m2, m3) = LENGTH, CENTRE, MASS
    C1, C12, C123 = cos(q[0]), cos(q[0] + q[1]), cos(q[0] + q[1] + q[2])
    g3 = m3 * c3 * C123
    g2 = g3 + (m2 * c2 + m3 * l2) * C12
    g1 = g2 + (m1 * c1 + (m2 + m3) * l1) * C1
    return G * np.array([g1, g2, g3])


@both_methods
def test_planar3r_agrees_with_lagrange(method: str) -> None:
    for q, v in states(1, 3):
        M, h = planar3r_lagrange()(q, v)
        assert_same("M", mass_matrix(model("planar3r"), q, method=method), M)
        assert_same("h", bias(model("planar3r"), q, v, gravity=DOWN_Y, method=method), h)


@both_methods
def test_planar3r_agrees_with_the_textbook_cosines(method: str) -> None:
    for q, _ in states(2, 3):
        assert_same("M", mass_matrix(model("planar3r"), q, method=method), planar3r_mass_matrix(q))
        assert_same("h at rest", bias(model("planar3r"), q, np.zeros(3), gravity=DOWN_Y, method=method), planar3r_gravity(q))


# The rocker arm of Wang and Ju, Table 3 -------------------------------------------------------------

DOWN_Z = (0.0, 0.0, -G)


@cache
def rocker_arm_lagrange() -> Dynamics:
    bar_x, bar_z, wheel = (0, 0.0833, 0.0833), (0.0427, 0.0427, 0), (0, 0.018, 0.018)
    return lagrange(
        [
            Body(-1, "R", X, (0, 0, 0), 1.0, (0.05, 0, 0), bar_x, 0),
            Body(0, "R", Z, (0.1, -0.05, 0), 0.8, (0, 0, -0.04), bar_z, 1),
            Body(1, "R", X, (0.01, 0, -0.08), 0.6, (0.03, 0, 0), wheel, 2),
            Body(0, "R", Z, (0.1, 0.05, 0), 0.8, (0, 0, -0.04), bar_z, 3),
            Body(3, "R", X, (0.01, 0, -0.08), 0.6, (0.03, 0, 0), wheel, 4),
        ],
        5,
        DOWN_Z,
    )


@both_methods
def test_rocker_arm_agrees_with_lagrange(method: str) -> None:
    for q, v in states(3, 5):
        M, h = rocker_arm_lagrange()(q, v)
        assert_same("M", mass_matrix(model("rocker_arm"), q, method=method), M)
        assert_same("h", bias(model("rocker_arm"), q, v, gravity=DOWN_Z, method=method), h)


@both_methods
def test_rocker_arm_branches_do_not_couple(method: str) -> None:
    """Wang and Ju, below Table 3: M24, M25, M34, M35 are zero because of the branched structure."""
    for q, _ in states(4, 5):
        M = mass_matrix(model("rocker_arm"), q, method=method)
        assert not M[1:3, 3:5].any()  # exact zeros: nothing is summed there
        assert not M[3:5, 1:3].any()


@both_methods
def test_rocker_arm_as_printed_has_no_inertia_about_its_wheel_axes(method: str) -> None:
    """Links 3 and 5 have Ixx = 0 and their mass centre on the x axis they turn about."""
    q, v = states(5, 5)[0]
    M, _ = rocker_arm_lagrange()(q, v)
    assert np.abs(M[[2, 4]]).max() < ROUND_OFF * np.abs(M).max()
    with pytest.raises(SingularMassMatrixError) as caught:
        forward_dynamics(model("rocker_arm"), q, v, np.zeros(5), method=method)
    assert caught.value.joints == ("joint3", "joint5")


# Teaching models ------------------------------------------------------------------------------------


@both_methods
def test_pendulum_agrees_with_the_textbook(method: str) -> None:
    m, length, inertia = 1.2, 0.45, 0.001728
    for q, v in states(6, 1):
        assert_same("M", mass_matrix(model("pendulum"), q, method=method), np.array([[inertia + m * length**2]]))
        assert_same("h", bias(model("pendulum"), q, v, gravity=DOWN_Z, method=method), np.array([m * G * length * sin(q[0])]))


@both_methods
def test_cart_pole_agrees_with_the_textbook(method: str) -> None:
    cart, pole, length, inertia = 1.1, 0.3, 0.4, 0.0160075  # length: from the hinge to the pole's mass centre
    for q, v in states(7, 2):
        c, s = cos(q[1]), sin(q[1])
        M = np.array([[cart + pole, pole * length * c], [pole * length * c, inertia + pole * length**2]])
        h = np.array([-pole * length * v[1] ** 2 * s, -pole * G * length * s])
        assert_same("M", mass_matrix(model("cart_pole"), q, method=method), M)
        assert_same("h", bias(model("cart_pole"), q, v, gravity=DOWN_Z, method=method), h)


@cache
def gripper_lagrange() -> Dynamics:
    finger = (2.08333e-6, 1.541667e-5, 1.666667e-5)
    return lagrange(
        [
            Body(-1, "R", Y, (0, 0, 0.4), 1.0, (0.15, 0, 0), (0.0006, 0.0078, 0.0078), 0),
            Body(0, "R", Y, (0.30, 0, 0), 0.7, (0.125, 0, 0), (0.00029167, 0.00379167, 0.00379167), 1),
            Body(1, "fixed", Z, (0.25, 0, 0), 0.2, (0.03, 0, 0), (0.00026667, 0.0003, 8.667e-5)),
            Body(2, "P", Z, (0.06, 0, 0.005), 0.05, (0.03, 0, 0), finger, 2),
            Body(2, "P", Z, (0.06, 0, -0.005), 0.05, (0.03, 0, 0), finger, 2, sign=-1),
        ],
        3,
        DOWN_Z,
    )


@both_methods
def test_gripper_with_its_mimic_finger_agrees_with_lagrange(method: str) -> None:
    """One coordinate moves both fingers; damping and friction of the file do not enter."""
    for q, v in states(8, 3):
        M, h = gripper_lagrange()(q, v)
        assert_same("M", mass_matrix(model("gripper"), q, method=method), M)
        assert_same("h", bias(model("gripper"), q, v, gravity=DOWN_Z, method=method), h)
