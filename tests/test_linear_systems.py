"""Robots as linear systems: closed forms of the cart with a pole, the regulator against Riccati's equation by other means, and real runs."""

from __future__ import annotations

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.robot.manifold import small_adjoint

G = 9.81


@pytest.fixture(scope="module")
def cart_pole() -> ug.Robot:
    return ug.load(ug.model_path("cart_pole"))


def test_the_upright_cart_pole_is_its_textbook_system(cart_pole: ug.Robot) -> None:
    """(m_c + m_p) x'' + m_p l a'' = force, m_p l x'' + (I + m_p l^2) a'' = m_p g l a: the model's own comment."""
    m_c, m_p, length, inertia = 1.1, 0.3, 0.4, 0.0160075
    M = np.array([[m_c + m_p, m_p * length], [m_p * length, inertia + m_p * length**2]])
    system = ug.linearise(cart_pole, [0.0, 0.0], actuated=["slide"])
    np.testing.assert_allclose(system.A[:2], np.hstack([np.zeros((2, 2)), np.eye(2)]), atol=1e-15)
    np.testing.assert_allclose(system.A[2:, :2], np.linalg.solve(M, [[0.0, 0.0], [0.0, m_p * G * length]]), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(system.A[2:, 2:], 0.0, atol=1e-13)
    np.testing.assert_allclose(system.B[2:, 0], np.linalg.inv(M)[:, 0], rtol=1e-12)
    assert system.poles.real.max() > 4.0  # it falls


def test_a_moving_base_is_linear_as_differences_of_its_motion_are() -> None:
    """d/dt of (difference(q0(t), q(t)), v - v0) at t = 0 for small deviations of a spinning free body, by central differences."""
    robot = ug.load(ug.model_path("block"), base="floating")
    rng = np.random.default_rng(3)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    tau = rng.normal(size=robot.nv)
    system = ug.linearise(robot, q, v, tau, actuated=range(robot.nv))
    h, n = 1e-4, robot.nv

    def rate(x: np.ndarray) -> np.ndarray:
        """d/dt of the deviation x, along exact motions of both states for a short time each way."""
        moved = robot.integrate(q, x[:n])
        u = v + x[n:]
        a, a0 = ug.forward_dynamics(robot, moved, u, tau), ug.forward_dynamics(robot, q, v, tau)
        ahead, behind = (robot.difference(robot.integrate(q, t * v), robot.integrate(moved, t * u)) for t in (h, -h))
        return np.concatenate([(ahead - behind) / (2 * h), a - a0])

    for i, column in enumerate(np.eye(2 * n)):
        slope = (rate(h * column) - rate(-h * column)) / (2 * h)
        np.testing.assert_allclose(system.A[:, i], slope, atol=1e-6 * (1 + np.abs(system.A).max()))  # differences of second order: h^2


def test_the_adjoint_of_a_planar_base_is_that_of_a_floating_one_in_the_plane() -> None:
    text = '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    planar, floating = (ug.load(text, base=base) for base in ("planar", "floating"))
    v = np.array([0.3, -0.7, 1.1])
    in_space = small_adjoint(floating.joints, 6, np.array([0.3, -0.7, 0.0, 0.0, 0.0, 1.1]))
    np.testing.assert_array_equal(small_adjoint(planar.joints, 3, v), in_space[np.ix_([0, 1, 5], [0, 1, 5])])


def test_the_regulator_has_the_stable_half_of_the_poles_of_its_hamiltonian(cart_pole: ug.Robot) -> None:
    """Kalman: the closed loop's poles are the stable eigenvalues of [A, -B R^-1 B'; -Q, -A'], whatever solves Riccati's equation."""
    system = ug.linearise(cart_pole, [0.0, 0.0], actuated=["slide"])
    Q, R = np.diag([1.0, 10.0, 1.0, 1.0]), np.array([[0.3]])
    feedback = system.lqr(np.diag(Q), 0.3)
    H = np.block([[system.A, -system.B @ np.linalg.solve(R, system.B.T)], [-Q, -system.A.T]])
    stable = np.sort_complex([pole for pole in np.linalg.eigvals(H) if pole.real < 0.0])
    np.testing.assert_allclose(np.sort_complex(feedback.poles), stable, rtol=1e-8)  # eigenvalues of a Hamiltonian of size 8


def test_it_balances_the_pole_from_far_away(cart_pole: ug.Robot) -> None:
    feedback = ug.linearise(cart_pole, [0.0, 0.0], actuated=["slide"]).lqr([1.0, 10.0, 1.0, 1.0])
    run = ug.simulate(cart_pole, [0.5, 0.4], None, 12.0, controller=feedback)
    slowest = -feedback.poles.real.max()
    assert np.abs(run.q[-1]).max() < 20.0 * np.exp(-slowest * 12.0) + 1e-8  # what the slowest pole leaves
    falls = ug.simulate(cart_pole, [0.5, 0.4], None, 12.0)
    assert np.abs(falls.q[-1, 1]) > 1.0


def test_it_holds_the_panda() -> None:
    robot = ug.load(example_robots()["panda_description/urdf/panda.urdf"])
    q = np.array([0.3, -0.5, 0.1, -2.0, 0.2, 1.8, 0.6, 0.02])
    feedback = ug.linearise(robot, q).lqr([1e4] * robot.nv + [1.0] * robot.nv)
    rng = np.random.default_rng(1)
    run = ug.simulate(robot, q + 0.05 * rng.normal(size=robot.nq), None, 3.0, controller=feedback, rtol=1e-6, atol=1e-6)
    assert np.abs(run.q[-1] - q).max() < 1e-3
    assert run.status == "complete"


def test_samples_of_the_linear_motion_are_those_of_its_discrete_form(cart_pole: ug.Robot) -> None:
    """A prismatic joint alone under a constant force: x = F t^2 / (2 m), in closed form."""
    system = ug.linearise(cart_pole, [0.0, 0.0], actuated=["slide"])
    Ad, Bd = system.discrete(1e-3)
    np.testing.assert_allclose(Ad, np.eye(4) + 1e-3 * system.A + 5e-7 * system.A @ system.A, atol=1e-7)  # the next term: 1e-9 |A|^3 / 6
    np.testing.assert_allclose(Bd, 1e-3 * system.B + 5e-7 * system.A @ system.B, atol=1e-7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: ug.linearise(r, [0.0, 0.3], actuated=["slide"]), "hinge would need"),
        (lambda r: ug.linearise(r, [0.0]), "expected"),
        (lambda r: ug.linearise(r, [0.0, np.nan]), "not finite"),
        (lambda r: ug.linearise(r, [0.0, 0.0], actuated=["pole"]), "no joint or velocity"),
        (lambda r: ug.linearise(r, [0.0, 0.0], actuated=[]), "empty"),
        (lambda r: ug.linearise(r, [0.0, 0.0], actuated=[7]), "0 to 1"),
        (lambda r: ug.linearise(r, [0.0, 0.0], damping=1), "True or False"),
        (lambda r: ug.linearise("cart_pole", [0.0, 0.0]), "expected a Robot"),
        (lambda r: ug.linearise(r, [0.0, 0.0]).lqr([1.0, 1.0]), "expected finite numbers"),
        (lambda r: ug.linearise(r, [0.0, 0.0]).lqr(-1.0), "none below 0"),
        (lambda r: ug.linearise(r, [0.0, 0.0]).lqr(1.0, 0.0), "positive"),
        (lambda r: ug.linearise(r, [0.0, 0.0], [1.0, 0.0]).lqr(), "equilibrium"),
        (lambda r: ug.linearise(r, [0.0, 0.0], tau=[1.0, 0.0]).lqr(), "equilibrium"),
        (lambda r: ug.linearise(r, [0.0, 0.0]).discrete(-1.0), "positive number"),
    ],
)
def test_wrong_arguments_are_told(cart_pole: ug.Robot, call: object, words: str) -> None:
    with pytest.raises(ug.ArgumentError, match=words):
        call(cart_pole)  # type: ignore[operator]


def test_what_the_inputs_cannot_move_is_told() -> None:
    """Two pendulums side by side, the second without a motor, upright."""
    link = '<link name="{0}"><inertial><origin xyz="0 0 1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j{0}" type="continuous"><parent link="w"/><child link="{0}"/><axis xyz="1 0 0"/></joint>'
    robot = ug.load(f'<robot name="two"><link name="w"/>{"".join((link + joint).format(name) for name in "ab")}</robot>')
    with pytest.raises(ug.ArgumentError, match="cannot hold"):
        ug.linearise(robot, [0.0, 0.0], actuated=["ja"]).lqr()
