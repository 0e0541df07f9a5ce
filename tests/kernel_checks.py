"""Comparisons of compiled kernels with Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from examples import FOLDER
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs import Robot, SingularMassMatrixError, UrdfError
from urdf_gibbs.oracle.pinocchio import Answers, Oracle
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

Array = NDArray[np.float64]
Call = Callable[..., Any]
AGREEMENT = 1e-10  # of the largest entry: some ten thousand roundings of 1e-16, and the cancellation along a humanoid's arm
ROUND_OFF = 1e-14  # of the weight, or of the forces of a random acceleration: what is left where the entries of h cancel to zero
RESIDUAL = 1e-12  # of |M||a| + |h| + |tau|: backward error of a solution, whatever the condition of M
SAME = 1e-13  # single and batch do the same operations, but the compiler may fuse other pairs of them
EPS = float(np.finfo(float).eps)
LETTERS = {
    "mass_matrix": ("q",), "mass_matrix_packed": ("q",), "bias": ("q", "v"), "gravity_force": ("q",), "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"), "kinetic_energy": ("q", "v"), "potential_energy": ("q",), "momentum": ("q", "v"),
    "jacobian": ("q",),
}  # fmt: skip


@dataclass(frozen=True)
class States:
    """Random states of a robot, one after the other."""

    q: Array
    v: Array
    a: Array
    tau: Array

    @staticmethod
    def of(robot: Robot, shape: int | tuple[int, ...], seed: int = 0) -> States:
        rng = np.random.default_rng(seed)
        leading = (shape,) if isinstance(shape, int) else shape
        q = robot.random(rng, shape)
        v, a, tau = rng.normal(size=(3, *leading, robot.nv))
        return States(q, v, a, 10.0 * tau)

    def arguments(self, name: str) -> list[Array]:
        """What a kernel takes."""
        return [getattr(self, letter) for letter in LETTERS[name]]


def largest(x: Any) -> float:
    return float(np.max(np.abs(x), initial=0.0))


def differs(name: str, found: Array, expected: Any, floor: float = 0.0) -> list[str]:
    """[] where the answer is the expected one, else what is wrong with it. ``floor``: an absolute error that is no error."""
    expected = np.asarray(expected)
    if found.shape != expected.shape:
        return [f"{name}: shape {found.shape}, expected {expected.shape}"]
    if not np.isfinite(found).all():
        return [f"{name} is not finite"]
    error, allowed = largest(found - expected), max(AGREEMENT * largest(expected), floor)
    return [f"{name}: off by {error:.2e}, allowed {allowed:.2e}"] if error > allowed else []


def against_pinocchio(file: str, base: str, mimic: bool, names: tuple[str, ...], count: int = 2) -> list[str]:
    """What the kernels of one robot say other than Pinocchio, at a few states."""
    robot = ug.load(FOLDER / file, base, mimic=mimic)
    oracle = Oracle(FOLDER / file, base, mimic, EARTH_GRAVITY)
    assert tuple(oracle.joint_names) == robot.joint_names
    leaf = robot.joints[robot.branches.leaves[0]].child if robot.joints else robot.root_link
    point = np.array([0.1, -0.2, 0.3])
    states = States.of(robot, count)
    wrong = []
    for i in range(count):
        at = States(states.q[i], states.v[i], states.a[i], states.tau[i])
        expected = oracle.answers(at.q, at.v, at.a, at.tau, {leaf: point})
        weight = 9.81 * float(np.abs(robot.mass).sum())
        floor = ROUND_OFF * (largest(expected.inverse) + weight)
        for name in names:
            options: dict[str, Any] = {"frame": leaf, "point": point} if name == "jacobian" else {}
            kernel = robot.kernel(name, **options)
            if name == "forward_dynamics":
                wrong += forward_differs(kernel, at, expected)
                continue
            wanted, slack = {
                "mass_matrix": (expected.mass_matrix, 0.0),
                "mass_matrix_packed": (expected.mass_matrix[np.tril_indices(robot.nv)], 0.0),
                "bias": (expected.bias, floor),
                "gravity_force": (expected.gravity, floor),
                "inverse_dynamics": (expected.inverse, floor),
                "kinetic_energy": (expected.kinetic, 0.0),
                "potential_energy": (expected.potential, ROUND_OFF * weight),
                "momentum": (expected.momentum, 0.0),
                "jacobian": (expected.jacobians[leaf], 0.0),
            }[name]
            wrong += differs(f"{name}, base {base}, mimic {mimic}, state {i}", kernel(*at.arguments(name)), wanted, slack)
    return wrong


def forward_differs(kernel: Call, at: States, expected: Answers) -> list[str]:
    """By its residual in Pinocchio's equation of motion; a singular mass matrix has to be singular for NumPy too."""
    M, h, norm = expected.mass_matrix, expected.bias, np.linalg.norm
    try:
        a = kernel(at.q, at.v, at.tau)
    except SingularMassMatrixError:
        size = np.sqrt(np.abs(np.diag(M)))
        regular = size.all() and np.linalg.cond(M / np.outer(size, size)) < 1e13
        return ["forward_dynamics calls a regular mass matrix singular"] if regular else []
    residual = float(norm(M @ a + h - at.tau)) if a.size else 0.0
    allowed = RESIDUAL * float(norm(M) * norm(a) + norm(h) + norm(at.tau))
    return [] if residual <= allowed else [f"forward_dynamics: residual {residual:.2e}, allowed {allowed:.2e}"]


def mimic_choices(file: str) -> list[bool]:
    """False, and True where some joint follows another (and its master exists)."""
    try:
        tied = ug.load(FOLDER / file)
    except UrdfError:
        return [False]
    return [False, True] if any(joint.is_mimic for joint in tied.joints) else [False]


MAIN = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")


def allowed(robot: Robot, name: str, q: Array) -> float | Array:
    """Solving amplifies the last digit by the condition of M."""
    return EPS * np.linalg.cond(robot.kernel("mass_matrix")(q)) + SAME if name == "forward_dynamics" and len(q) else SAME
