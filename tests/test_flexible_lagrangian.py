"""The oracle for elastic links (``flexible_lagrangian``) against what does not depend on it.

Pinocchio for rigid trees, closed forms by hand for one link, Lagrange's equations by finite differences of its energies, a
kinetic energy from finite differences of positions that are built here another way, and the laws of conservation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, cosh, pi, sin, sinh, sqrt
from typing import Any

import numpy as np
import pytest
from flexible_lagrangian import Jet, LagrangianRobot, exponential, points_of_inertia, skew, transform
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp
from scipy.linalg import eigh, expm
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

GRAVITY = np.array([0.6, -1.1, -9.7])
Z = (0.0, 0.0, 1.0)
# Central differences of order 8.
STENCIL = [(-4, 1 / 280), (-3, -4 / 105), (-2, 1 / 5), (-1, -4 / 5), (1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)]


def derivative(f: Callable[[float], Any], step: float = 0.02) -> Any:
    """f'(0)."""
    return sum(weight * f(k * step) for k, weight in STENCIL) / step


# Shapes ---------------------------------------------------------------------------------------------------------------


def bend(power: int, plane: str = "y") -> tuple[Callable[[float], Array], Callable[[float], Array]]:
    """Deflection eta^power along y or z, and its small rotation."""
    if plane == "y":
        return (lambda x: np.array([0.0, x**power, 0.0])), (lambda x: np.array([0.0, 0.0, power * x ** (power - 1)]))
    return (lambda x: np.array([0.0, 0.0, x**power])), (lambda x: np.array([0.0, -power * x ** (power - 1), 0.0]))


def torsion(length: float) -> tuple[Callable[[float], Array], Callable[[float], Array]]:
    return (lambda x: np.zeros(3)), (lambda x: np.array([sin(pi * x / (2 * length)), 0.0, 0.0]))


def stretch(length: float) -> tuple[Callable[[float], Array], Callable[[float], Array]]:
    return (lambda x: np.array([sin(pi * x / (2 * length)), 0.0, 0.0])), (lambda x: np.zeros(3))


def shortening(a: int, b: int) -> Callable[[float], float]:
    """Integral of the product of the slopes of eta^a and eta^b."""
    return lambda x: a * b * x ** (a + b - 1) / (a + b - 1)


def beam(shapes: Sequence[Any], stiffness: Any, length: float = 0.8, mu: Any = 1.3, **more: Any) -> dict[str, Any]:
    K = np.asarray(stiffness, float)
    return {
        "length": length, "mu": mu, "phi": [s[0] for s in shapes], "theta": [s[1] for s in shapes],
        "stiffness": np.diag(K) if K.ndim == 1 else K, **more,
    }  # fmt: skip


def physical(rng: np.random.Generator) -> dict[str, Any]:
    """Mass, centre and inertia of a random cloud."""
    cloud, masses = rng.normal(size=(5, 3)) * 0.3, rng.uniform(0.1, 0.5, 5)
    com = masses @ cloud / masses.sum()
    arms = cloud - com
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    return {"mass": masses.sum(), "com": com, "inertia": inertia}


def placement(rng: np.random.Generator) -> Array:
    return transform(Rotation.random(rng=rng).as_matrix(), rng.uniform(-0.5, 0.5, 3))


SECTION = np.array([[0.02, 0.001, 0.0], [0.001, 0.011, 0.0], [0.0, 0.0, 0.012]])


def first_beam(**more: Any) -> dict[str, Any]:
    """Bending in both planes and torsion, with foreshortening (also of a mixed pair) and a mass that varies along it."""
    psi = {(0, 0): shortening(2, 2), (0, 1): shortening(2, 3), (1, 1): shortening(3, 3), (2, 2): shortening(2, 2)}
    return beam(
        [bend(2), bend(3), bend(2, "z"), torsion(0.8)], [30.0, 60.0, 40.0, 20.0], mu=lambda x: 1.3 + 0.4 * x, psi=psi,
        root=(0.1, -0.05, 0.2), **more,
    )  # fmt: skip


def spatial(base: str = "floating", **rotary: Any) -> LagrangianRobot:
    """A tree in space: two beams in a row on one side, a rigid arm on the first tip, a third beam on the base itself."""
    rng = np.random.default_rng(4)
    K = np.array([[50.0, 8.0, 0.0], [8.0, 70.0, 0.0], [0.0, 0.0, 300.0]])
    axis = {} if base in ("floating", "fixed") else {"axis": (1.0, 2.0, -0.5)}
    return LagrangianRobot(
        [
            {"parent": -1, "joint": base, "placement": placement(rng), **axis, **physical(rng)},
            {"parent": 0, "joint": "elastic", "beam": first_beam(**rotary), **physical(rng)},
            {"parent": 1, "joint": "revolute", "axis": (0.3, -1.0, 0.4), "placement": placement(rng), **physical(rng)},
            {"parent": 2, "joint": "elastic", "beam": beam([bend(2), bend(3, "z"), stretch(0.6)], K, 0.6, **rotary)},
            {"parent": 1, "joint": "prismatic", "axis": (1.0, 1.0, 0.2), "placement": placement(rng), **physical(rng)},
            {"parent": 3, "joint": "fixed", "placement": placement(rng), **physical(rng)},
            {"parent": 0, "joint": "elastic", "beam": beam([bend(2, "z")], [25.0], 0.5, direction=(0.0, 1.0, 0.0))},
        ]
    )


ROTARIES: list[dict[str, Any]] = [{}, {"section": SECTION}, {"section": SECTION, "elastic_rotary": True}]


def state(robot: LagrangianRobot, seed: int = 0, size: float = 0.25) -> tuple[Array, Array]:
    """Deflections as large as the other coordinates: the oracle is not for small ones only."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-size, size, robot.nq), rng.normal(size=robot.nv)
    for body in robot.bodies:
        if body.joint == "floating":
            q[body.q] = np.concatenate([rng.normal(size=3), Rotation.random(rng=rng).as_quat()])
        elif body.joint == "revolute":
            q[body.q] = rng.uniform(-3, 3)
    return q, v


# Rigid ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_rigid_trees_match_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    model, bodies = pin.Model(), []
    model.gravity.linear = GRAVITY
    for i in range(9):
        # Pinocchio's algorithms want joints depth first: the parent is the last body or one of its ancestors.
        parent = i - 1
        while parent > -1 and rng.random() < 0.4:
            parent = bodies[parent]["parent"]
        kind = str(rng.choice(["revolute", "continuous", "prismatic", "floating"])) if i else "floating"
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        E, body = placement(rng), physical(rng)
        joint = {
            "floating": pin.JointModelFreeFlyer(), "prismatic": pin.JointModelPrismaticUnaligned(axis)
        }.get(kind, pin.JointModelRevoluteUnaligned(axis))  # fmt: skip
        number = model.addJoint(parent + 1, joint, pin.SE3(E[:3, :3], E[:3, 3]), f"j{i}")
        assert number == i + 1
        model.appendBodyToJoint(number, pin.Inertia(body["mass"], body["com"], body["inertia"]), pin.SE3.Identity())
        bodies.append({"parent": parent, "joint": kind, "axis": axis, "placement": E, **body})
    robot, data = LagrangianRobot(bodies), model.createData()
    assert (robot.nq, robot.nv) == (model.nq, model.nv)
    q, v = state(robot, seed)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.nonLinearEffects(model, data, q, v)
    assert np.allclose(robot.mass_matrix(q), M, rtol=0, atol=1e-13 * np.max(np.abs(M)))
    assert np.allclose(robot.bias(q, v, GRAVITY), h, rtol=0, atol=1e-13 * np.max(np.abs(h)))
    assert robot.energy(q, v, GRAVITY) == pytest.approx(pin.computeMechanicalEnergy(model, data, q, v), rel=1e-13)
    pin.ccrba(model, data, q, v)
    linear, angular = robot.momentum(q, v)
    assert np.allclose(linear, data.hg.linear, atol=1e-12)
    assert np.allclose(angular, data.hg.angular + np.cross(data.com[0], data.hg.linear), atol=1e-12)
    assert np.allclose(robot.centre(q), data.com[0], atol=1e-13)
    pin.forwardKinematics(model, data, q)
    point = rng.normal(size=3)
    shifted = model.addFrame(pin.Frame("p", 9, 0, pin.SE3(np.eye(3), point), pin.OP_FRAME))
    data = model.createData()
    J = pin.computeFrameJacobian(model, data, q, shifted, pin.LOCAL_WORLD_ALIGNED)
    assert np.allclose(robot.jacobian(q, 8, point), J, atol=1e-13)
    assert np.allclose(robot.frame(q, 8), data.oMi[9].homogeneous, atol=1e-13)


def test_points_of_inertia() -> None:
    rng = np.random.default_rng(1)
    com, inertia = rng.normal(size=3), rng.normal(size=(3, 3))
    inertia = inertia + inertia.T  # not even a physical one
    m, x = points_of_inertia(0.7, com, inertia)
    arms = x - com
    assert m.sum() == pytest.approx(0.7)
    assert np.allclose(m @ x, 0.7 * com)
    assert np.allclose(np.einsum("g,gx,gx->", m, arms, arms) * np.eye(3) - np.einsum("g,gx,gy->xy", m, arms, arms), inertia)


# One link -------------------------------------------------------------------------------------------------------------


def test_cantilever_frequency() -> None:
    EI, mu, length = 12.0, 0.7, 1.7
    beta = brentq(lambda x: cos(x) * cosh(x) + 1, 1.8, 1.9, xtol=1e-15)
    sigma = (cosh(beta) + cos(beta)) / (sinh(beta) + sin(beta))

    b = beta / length

    def w(x: float) -> float:
        return cosh(b * x) - cos(b * x) - sigma * (sinh(b * x) - sin(b * x))

    def slope(x: float) -> float:
        return b * (sinh(b * x) + sin(b * x) - sigma * (cosh(b * x) - cos(b * x)))

    def bending(x: float) -> float:
        return b**2 * (cosh(b * x) + cos(b * x) - sigma * (sinh(b * x) + sin(b * x)))

    K = EI * quad(lambda x: bending(x) ** 2, 0, length, epsabs=1e-13, epsrel=1e-13)[0]
    mode = (lambda x: np.array([0.0, w(x), 0.0])), (lambda x: np.array([0.0, 0.0, slope(x)]))
    robot = LagrangianRobot([{"parent": -1, "joint": "elastic", "beam": beam([mode], [K], length, mu)}])
    M = robot.mass_matrix([0.0])
    stiffness = robot.bias([1.0], [0.0])  # linear, on the fixed world
    assert sqrt(stiffness[0] / M[0, 0]) == pytest.approx(beta**2 * sqrt(EI / (mu * length**4)), rel=1e-12)


@pytest.mark.parametrize(
    ("links", "condition", "bracket"), [(1, lambda x: cos(x) * cosh(x) - 1, (4.7, 4.8)), (2, lambda x: np.tan(x) - np.tanh(x), (3.9, 3.95))]
)
def test_frequencies_in_flight(links: int, condition: Callable[[float], float], bracket: tuple[float, float]) -> None:
    """A free beam, and a hinged pair whose hinge stays in place, by a Ritz basis of eta^2 .. eta^9 on clamped frames."""
    powers = range(2, 10)
    K = [[1000.0 * a * b * (a - 1) * (b - 1) / (a + b - 3) for b in powers] for a in powers]
    tree: list[dict[str, Any]] = [
        {"parent": -1, "joint": "prismatic", "axis": (1, 0, 0)},
        {"parent": 0, "joint": "prismatic", "axis": (0, 1, 0)},
    ]
    for _ in range(links):
        tree.append({"parent": len(tree) - 1, "joint": "revolute", "axis": Z})
        tree.append({"parent": len(tree) - 1, "joint": "elastic", "beam": beam([bend(p) for p in powers], K, 1.0, 1.0)})
    robot = LagrangianRobot(tree)
    rest = np.zeros(robot.nv)
    stiffness = np.array([robot.bias(e, rest) for e in np.eye(robot.nv)]).T  # without velocities the bias is strain alone
    squares = np.sort(eigh(stiffness, robot.mass_matrix(rest), eigvals_only=True))
    lowest = sqrt(squares[2 + links])
    assert lowest == pytest.approx(brentq(condition, *bracket, xtol=1e-14) ** 2 * sqrt(1000.0), rel=1e-6)


@pytest.mark.parametrize("rotary", ["none", "frame", "elastic"])
def test_one_planar_link_by_hand(rotary: str) -> None:
    """X1, X2, q, delta of the paper's planar link, phi = eta^2, with the mass matrix and bias written out."""
    mu, length, K, J, tip = 1.3, 0.8, 25.0, 0.031, 0.45
    more = {"none": {}, "frame": {"section": np.diag([0, 0, J])}, "elastic": {"section": np.diag([0, 0, J]), "elastic_rotary": True}}
    robot = LagrangianRobot(
        [
            {"parent": -1, "joint": "prismatic", "axis": (1, 0, 0)},
            {"parent": 0, "joint": "prismatic", "axis": (0, 1, 0)},
            {"parent": 1, "joint": "revolute", "axis": Z},
            {"parent": 2, "joint": "elastic", "mass": tip, "beam": beam([bend(2)], [K], length, mu, **more[rotary])},
        ]
    )
    q, d = 0.7, 0.13
    dq, dd = -1.9, 0.8
    # Sums over the link and the tip mass: 1, eta, eta^2; phi, eta phi, phi^2.
    m, s, i = mu * length + tip, mu * length**2 / 2 + tip * length, mu * length**3 / 3 + tip * length**2
    a, b, c = mu * length**3 / 3 + tip * length**2, mu * length**4 / 4 + tip * length**3, mu * length**5 / 5 + tip * length**4
    theta, theta2 = J * length**2, J * 4 * length**3 / 3  # integrals of J phi' and J phi'^2
    if rotary != "elastic":
        theta = theta2 = 0.0
    spin = 0.0 if rotary == "none" else J * length
    M = np.array(
        [
            [m, 0, -s * sin(q) - a * d * cos(q), -a * sin(q)],
            [0, m, s * cos(q) - a * d * sin(q), a * cos(q)],
            [0, 0, i + c * d**2 + spin, b + theta],
            [0, 0, 0, c + theta2],
        ]
    )
    M = M + np.triu(M, 1).T
    g = 9.81
    h = np.array(
        [
            -(s * cos(q) - a * d * sin(q)) * dq**2 - 2 * a * cos(q) * dq * dd,
            -(s * sin(q) + a * d * cos(q)) * dq**2 - 2 * a * sin(q) * dq * dd + m * g,
            2 * c * d * dq * dd + g * (s * cos(q) - a * d * sin(q)),
            -c * d * dq**2 + K * d + g * a * cos(q),
        ]
    )
    at, rates = [0.2, -0.4, q, d], [0.5, 1.1, dq, dd]
    assert np.allclose(robot.mass_matrix(at), M, rtol=0, atol=1e-14)
    assert np.allclose(robot.bias(at, rates, (0, -g, 0)), h, rtol=0, atol=1e-13)


def test_foreshortening_stiffens_a_spinning_link() -> None:
    """K_eff = K - Omega^2 (int mu phi^2 - int mu eta psi): without foreshortening the link softens."""
    mu, length, K, spin = 1.3, 0.8, 25.0, 3.0
    for psi, stiffer in (({}, 0.0), ({(0, 0): shortening(2, 2)}, 4 / 3 * mu * length**5 / 5)):
        tree = [{"parent": -1, "joint": "revolute", "axis": Z}]
        robot = LagrangianRobot([*tree, {"parent": 0, "joint": "elastic", "beam": beam([bend(2)], [K], length, mu, psi=psi)}])
        effective = derivative(lambda x, robot=robot: robot.bias([0.4, x], [spin, 0.0])[1])
        assert effective == pytest.approx(K - spin**2 * (mu * length**5 / 5 - stiffer), rel=1e-10)


# Many links -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rotary", ROTARIES)
@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_is_that_of_the_energy(rotary: dict[str, Any], seed: int) -> None:
    robot = spatial(**rotary)
    q, v = state(robot, seed)
    M = robot.mass_matrix(q)
    assert np.allclose(M, M.T, rtol=0, atol=1e-13 * np.max(M))
    assert np.linalg.eigvalsh(M)[0] > 1e-6
    assert 0.5 * v @ M @ v == pytest.approx(robot.energies(q, v)[0], rel=1e-13)


@pytest.mark.parametrize("rotary", ROTARIES)
@pytest.mark.parametrize("base", ["fixed", "revolute", "prismatic"])
def test_lagrange_by_finite_differences(base: str, rotary: dict[str, Any]) -> None:
    """d/dt dT/dv - dT/dq + dV/dq along a motion with some acceleration, from the energies alone."""
    robot = spatial(base, **rotary)
    q, v = state(robot, 5)
    a = np.random.default_rng(6).normal(size=robot.nv)

    def impulse(t: float) -> Array:
        x, y = q + t * v + t * t / 2 * a, v + t * a
        # T is quadratic in the velocities: central differences with step 1 are exact.
        return np.array([robot.energies(x, y + e)[0] - robot.energies(x, y - e)[0] for e in np.eye(robot.nv)]) / 2

    def slope(e: Array) -> float:
        def lagrangian(t: float) -> float:
            kinetic, potential = robot.energies(q + t * e, v, GRAVITY)
            return kinetic - potential

        return derivative(lagrangian)

    expected = derivative(impulse) - np.array([slope(e) for e in np.eye(robot.nv)])
    M, h = robot.equations(q, v, GRAVITY)
    assert np.allclose(M @ a + h, expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))


@pytest.mark.parametrize("rotary", ROTARIES[::2])
def test_floating_base_matches_six_joints(rotary: dict[str, Any]) -> None:
    """Quasi-velocities against coordinates: three slides and three hinges in place of the floating joint."""
    bodies = [
        {"parent": -1, "joint": "floating", **physical(np.random.default_rng(2))},
        {"parent": 0, "joint": "elastic", "beam": first_beam(**rotary), **physical(np.random.default_rng(3))},
    ]
    axes = np.vstack([np.eye(3), np.eye(3)[::-1]])
    joints: list[dict[str, Any]] = [
        {"parent": k - 1, "joint": "prismatic" if k < 3 else "revolute", "axis": axis} for k, axis in enumerate(axes)
    ]
    joints[-1].update(physical(np.random.default_rng(2)))
    floating, jointed = LagrangianRobot(bodies), LagrangianRobot([*joints, {**bodies[1], "parent": 5}])
    q, v = state(jointed, 8)

    def turned(q: Array) -> Array:
        """v of the floating robot = B(q) v of the jointed one."""
        B = np.eye(jointed.nv)
        R, J = jointed.frame(q, 5)[:3, :3], jointed.jacobian(q, 5)
        B[:6] = np.vstack([R.T @ J[:3], R.T @ J[3:]])
        return B

    B = turned(q)
    drift = derivative(lambda t: turned(q + t * v) @ v)
    T = jointed.frame(q, 5)
    at = np.concatenate([T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_quat(), q[6:]])
    M, h = floating.equations(at, B @ v, GRAVITY)
    assert np.allclose(jointed.mass_matrix(q), B.T @ M @ B, atol=1e-12)
    assert np.allclose(jointed.bias(q, v, GRAVITY), B.T @ (h + M @ drift), rtol=0, atol=1e-10 * np.max(np.abs(h)))


def test_kinetic_energy_from_positions_built_another_way() -> None:
    """Two elastic links in space: positions by matrix exponentials here, velocities by finite differences, integrals by QUADPACK."""
    rng = np.random.default_rng(9)
    E, tip, axis = placement(rng), physical(rng), np.array([0.0, 0.6, 0.8])
    powers = [(2, "y"), (3, "z"), (2, "z")]
    psi = {(0, 0): shortening(2, 2), (1, 2): shortening(3, 2), (1, 1): shortening(3, 3)}
    link = beam([bend(*p) for p in powers], [10.0, 20.0, 30.0], psi=psi)
    robot = LagrangianRobot(
        [
            {"parent": -1, "joint": "revolute", "axis": Z, "placement": E},
            {"parent": 0, "joint": "elastic", "beam": link},
            {"parent": 1, "joint": "continuous", "axis": axis},
            {"parent": 2, "joint": "elastic", "beam": link, **tip},
        ]
    )
    q, v = state(robot, 10)

    def cross(a: Array) -> Array:
        return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    def rho(d: Array, x: float) -> Array:
        short = 4 * x**3 / 3 * d[0] ** 2 / 2 + 6 * x**4 / 4 * d[1] * d[2] + 9 * x**5 / 5 * d[1] ** 2 / 2
        return np.array([x - short, d[0] * x**2, d[1] * x**3 + d[2] * x**2])

    def frames(q: Array) -> tuple[Array, Array, Array, Array]:
        def elastic(d: Array) -> Array:
            turn = np.array([0.0, -(3 * d[1] * 0.8**2 + 2 * d[2] * 0.8), 2 * d[0] * 0.8])
            return transform(expm(cross(turn)), rho(d, 0.8))

        first = E @ transform(expm(q[0] * cross(np.array(Z))))
        second = first @ elastic(q[1:4])
        third = second @ transform(expm(q[4] * cross(axis)))
        return first, second, third, third @ elastic(q[5:8])

    path = [(q + k * 0.02 * v, weight / 0.02) for k, weight in STENCIL]
    along = [(x, weight, frames(x)) for x, weight in path]

    def density(x: float, body: int, d: slice) -> float:
        velocity = sum(weight * (T[body] @ np.append(rho(y[d], x), 1.0))[:3] for y, weight, T in along)
        return 0.5 * 1.3 * velocity @ velocity

    T = frames(q)
    rate = sum(weight * x[3] for _, weight, x in along)
    W = T[3][:3, :3].T @ rate[:3, :3]
    w = np.array([W[2, 1], W[0, 2], W[1, 0]])
    centre = rate @ np.append(tip["com"], 1.0)
    kinetic = 0.5 * (tip["mass"] * centre @ centre + w @ tip["inertia"] @ w)
    kinetic += quad(density, 0, 0.8, args=(0, slice(1, 4)))[0] + quad(density, 0, 0.8, args=(2, slice(5, 8)))[0]
    for body in range(4):
        assert np.allclose(robot.frame(q, body), T[body], atol=1e-13)
    assert robot.energies(q, v)[0] == pytest.approx(kinetic, rel=1e-10)
    assert np.allclose(robot.beam_point(q, 3, 0.5)[0], (T[2] @ np.append(rho(q[5:8], 0.5), 1.0))[:3], atol=1e-13)


def moved(robot: LagrangianRobot, q: Array, e: Array) -> Array:
    """q after unit time with the constant velocities e: finite differences across a quaternion."""
    x = q + robot.rates(q, e)
    for body in robot.bodies:
        if body.joint == "floating":
            R = Rotation.from_quat(q[body.q][3:])
            twist = np.zeros((4, 4))
            w, u = e[body.v][3:], e[body.v][:3]
            twist[:3] = np.array([[0, -w[2], w[1], u[0]], [w[2], 0, -w[0], u[1]], [-w[1], w[0], 0, u[2]]])
            T = transform(R.as_matrix(), q[body.q][:3]) @ expm(twist)
            x[body.q] = np.concatenate([T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_quat()])
    return x


def test_jacobians_by_finite_differences() -> None:
    robot = spatial()
    q, _ = state(robot, 11)
    point = np.array([0.2, -0.1, 0.3])
    for body in (4, 5, 6):  # the leaves; all others lie on the way
        J, R = robot.jacobian(q, body, point), robot.frame(q, body)[:3, :3]
        for k, e in enumerate(np.eye(robot.nv)):
            rate = derivative(lambda t, e=e, body=body: robot.frame(moved(robot, q, t * e), body), 0.01)
            W = rate[:3, :3] @ R.T
            assert np.allclose(J[:3, k], rate @ np.append(point, 1.0) @ np.eye(4)[:, :3], atol=1e-10)
            assert np.allclose(J[3:, k], [W[2, 1], W[0, 2], W[1, 0]], atol=1e-10)
    tip, J = robot.beam_point(q, 3, 0.6)
    assert np.allclose(tip, robot.frame(q, 3)[:3, 3], atol=1e-14)
    assert np.allclose(J, robot.jacobian(q, 3)[:3], atol=1e-14)


def test_exponential_of_any_size() -> None:
    """Value and both derivatives of a rotation, at rest, small, on both sides of the series' end, and of several turns."""
    rng = np.random.default_rng(14)
    for size in (0.0, 1e-9, 1e-3, 1.0, 1.999999, 2.000001, 3.0, 20.0):
        axis, rate = rng.normal(size=3), rng.normal(size=3)
        theta = size * axis / np.linalg.norm(axis)
        jet = exponential(Jet(theta[None], rate[None], np.zeros((1, 3))))

        # The top right blocks of exp of a nested matrix are the coefficients along theta + t rate.
        W, V, o = skew(theta), skew(rate), np.zeros((3, 3))
        expected = expm(np.block([[W, V, o], [o, W, V], [o, o, W]]))[:3]
        for k in range(3):
            assert np.allclose(jet.c[k][0], expected[:, 3 * k : 3 * k + 3], rtol=0, atol=1e-13)


# Motion ---------------------------------------------------------------------------------------------------------------


def run(robot: LagrangianRobot, q: Array, v: Array, time: float, gravity: Any = (0, 0, 0)) -> tuple[Array, Array]:
    def rhs(_: float, y: Array) -> Array:
        x, u = y[: robot.nq], y[robot.nq :]
        return np.concatenate([robot.rates(x, u), robot.acceleration(x, u, gravity)])

    solution = solve_ivp(rhs, (0, time), np.concatenate([q, v]), "DOP853", rtol=1e-12, atol=1e-12)
    assert solution.success
    return solution.y[: robot.nq, -1], solution.y[robot.nq :, -1]


@pytest.mark.parametrize("rotary", ROTARIES)
def test_free_flight_in_space(rotary: dict[str, Any]) -> None:
    robot = spatial(**rotary)
    q, v = state(robot, 12, 0.1)
    before, (linear, angular) = robot.energy(q, v), robot.momentum(q, v)
    x, y = run(robot, q, v, 0.15)
    assert np.max(np.abs(x - q)) > 0.1  # it moved
    assert robot.energy(x, y) == pytest.approx(before, rel=1e-10)
    after = robot.momentum(x, y)
    assert np.allclose(after[0], linear, rtol=0, atol=1e-10)
    assert np.allclose(after[1], angular, rtol=0, atol=1e-10)


def test_fall_in_space() -> None:
    """Energy with gravity; momentum grows by its weight, and the centre falls as a stone."""
    robot, time = spatial(**ROTARIES[2]), 0.15
    q, v = state(robot, 12, 0.1)
    linear = robot.momentum(q, v)[0]
    x, y = run(robot, q, v, time, GRAVITY)
    assert robot.energy(x, y, GRAVITY) == pytest.approx(robot.energy(q, v, GRAVITY), rel=1e-10)
    assert np.allclose(robot.momentum(x, y)[0], linear + robot.total_mass * time * GRAVITY, rtol=0, atol=1e-10)
    centre = robot.centre(q) + time * linear / robot.total_mass + time**2 / 2 * GRAVITY
    assert np.allclose(robot.centre(x), centre, rtol=0, atol=1e-10)


@pytest.mark.parametrize("foreshortened", [False, True])
def test_free_flight_of_two_links_in_the_plane(foreshortened: bool) -> None:
    psi = {(0, 0): shortening(2, 2), (0, 1): shortening(2, 3), (1, 1): shortening(3, 3)} if foreshortened else {}
    link = beam([bend(2), bend(3)], [1.0, 2.0], psi=psi, section=SECTION)
    robot = LagrangianRobot(
        [
            {"parent": -1, "joint": "prismatic", "axis": (1, 0, 0)},
            {"parent": 0, "joint": "prismatic", "axis": (0, 1, 0)},
            {"parent": 1, "joint": "revolute", "axis": Z},
            {"parent": 2, "joint": "elastic", "beam": link},
            {"parent": 3, "joint": "revolute", "axis": Z},
            {"parent": 4, "joint": "elastic", "beam": {**link, "elastic_rotary": True}},
        ]
    )
    q, v = state(robot, 13, 0.1)
    v *= 0.4
    before, (linear, angular) = robot.energy(q, v), robot.momentum(q, v)
    x, y = run(robot, q, v, 0.15)
    assert np.max(np.abs(x - q)) > 0.05  # it moved
    after = robot.momentum(x, y)
    assert robot.energy(x, y) == pytest.approx(before, rel=1e-10)
    assert np.allclose(after[0], linear, rtol=0, atol=1e-10)
    assert np.allclose(after[1], angular, rtol=0, atol=1e-10)


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"parent": 0, "joint": "fixed"}, "parents"),
        ({"parent": -1, "joint": "planar"}, "unknown joint"),
        ({"parent": -1, "joint": "fixed", "beam": {}}, "belongs"),
        ({"parent": -1, "joint": "fixed", "inertias": 1}, "inertias"),
        ({"parent": -1, "joint": "elastic", "beam": beam([bend(2)], [1.0], shape=1)}, "shape"),
        ({"parent": -1, "joint": "elastic", "beam": beam([bend(2)], [1.0], psi={(1, 0): abs})}, "psi"),
        ({"parent": -1, "joint": "elastic", "beam": beam([bend(2)], [1.0], elastic_rotary=True)}, "rotary"),
        ({"parent": -1, "joint": "elastic", "beam": beam([bend(2)], [1.0]), "placement": np.diag([-1.0, -1, 1, 1])}, "axes"),
    ],
)
def test_refuses(body: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        LagrangianRobot([body])
