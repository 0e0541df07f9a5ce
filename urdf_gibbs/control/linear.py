"""A robot near a state as a linear system, and the linear-quadratic regulator that holds it there.

The state is x = (d, v - v0), 2 nv numbers, with d the tangent vector from q0 to q (``robot.difference``); u are the deviations of the
forces that are actuated. With f the forward dynamics, D the joint damping and ad the small adjoint of v0 (zero at rest):

    x' = A x + B u,    A = [-ad_v0,  1; df/dq,  df/dv - M^-1 D],    B = [0; M^-1 of the actuated columns]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import Array, flag, listed, numbers, shown, triple, vector
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.functions import forward_dynamics, forward_dynamics_derivatives, inverse_dynamics
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.joints import joint_damping
from urdf_gibbs.robot.manifold import small_adjoint
from urdf_gibbs.robot.model import Robot

FEW = 6  # inputs that are named
BALANCED = 1e-8  # of the largest force: what a passive joint may lack and still be balanced, above the round-off of forces that cancel


@dataclass(frozen=True, eq=False)
class StateFeedback:
    """A controller for ``simulate``: forces tau0 - K x at the actuated velocities, tau0 at the others.

    Attributes:
        robot: What is controlled.
        q: Where it is held (nq,).
        v: Its velocities there (nv,).
        tau: Generalised forces there (nv,) [N m, N].
        actuated: Indices of the actuated velocities (nu,).
        K: Gains (nu, 2 nv).
        poles: Eigenvalues of A - B K (2 nv,) [1/s].
    """

    robot: Robot
    q: Array
    v: Array
    tau: Array
    actuated: NDArray[np.intp]
    K: Array
    poles: NDArray[np.complex128]

    def __repr__(self) -> str:
        slowest = float(np.max(self.poles.real, initial=-np.inf))
        return f"<StateFeedback of {self.robot.name!r}: K {self.K.shape}, slowest pole {slowest:.4g} 1/s>"

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces (nv,) [N m, N] at a state; the time is not used."""
        force = self.tau.copy()
        force[self.actuated] -= self.K @ np.concatenate([self.robot.difference(self.q, q), v - self.v])
        return force


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """x' = rate + A x + B u near a state; x is (tangent vector from q to where the robot is, velocities less v).

    Attributes:
        robot: What moves.
        q: Coordinates of the state (nq,).
        v: Its velocities (nv,).
        tau: Generalised forces in it (nv,) [N m, N].
        actuated: Indices of the velocities whose forces are inputs (nu,).
        A: (2 nv, 2 nv).
        B: (2 nv, nu).
        acceleration: Accelerations in the state (nv,); zero in an equilibrium.
    """

    robot: Robot
    q: Array
    v: Array
    tau: Array
    actuated: NDArray[np.intp]
    A: Array
    B: Array
    acceleration: Array

    def __repr__(self) -> str:
        inputs = ", ".join(self.robot.velocity_names[i] for i in self.actuated[:FEW]) + (", ..." if len(self.actuated) > FEW else "")
        return f"<LinearSystem of {self.robot.name!r}: {len(self.A)} states, inputs: {inputs or 'none'}>"

    @property
    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues of A (2 nv,) [1/s]."""
        return np.asarray(np.linalg.eigvals(self.A), dtype=np.complex128)

    def discrete(self, period: float) -> tuple[Array, Array]:
        """The system between samples, with inputs that are held: x[k + 1] = Ad x[k] + Bd u[k].

        Args:
            period: Time between samples [s].

        Returns:
            Ad (2 nv, 2 nv) and Bd (2 nv, nu).

        Raises:
            ArgumentError: The period is no positive number.
            MissingExtraError: The extra ``control`` is not installed.
        """
        step = numbers(period, "()", "period")
        if step.ndim or not 0.0 < step < np.inf:
            raise ArgumentError(f"period={shown(period)}, expected a positive number of seconds")
        with extras_named():
            from scipy.linalg import expm
        n, m = self.B.shape
        both = np.zeros((n + m, n + m))
        both[:n, :n], both[:n, n:] = self.A, self.B
        moved = np.asarray(expm(float(step) * both))
        return moved[:n, :n], moved[:n, n:]

    def lqr(self, Q: ArrayLike = 1.0, R: ArrayLike = 1.0) -> StateFeedback:
        """The linear-quadratic regulator: of all controllers the one with the least integral of xᵀ Q x + uᵀ R u.

        Args:
            Q: Weights of the state: one number, 2 nv numbers (a diagonal) or a positive semidefinite matrix (2 nv, 2 nv).
            R: Weights of the inputs: one number, nu numbers or a positive definite matrix (nu, nu).

        Returns:
            The controller, for ``simulate(..., controller=...)``.

        Raises:
            ArgumentError: The state is no equilibrium, the inputs cannot stabilise it, or a weight has a wrong shape or sign.
            MissingExtraError: The extra ``control`` is not installed.
        """
        largest = float(np.max(np.abs(self.acceleration), initial=0.0))
        if np.any(self.v) or largest > BALANCED * (1.0 + np.max(np.abs(self.tau), initial=0.0)):
            moving = f"v is {shown(self.v.tolist())}, and " if np.any(self.v) else ""
            raise ArgumentError(f"a regulator holds an equilibrium; here {moving}accelerations reach {largest:.3g}")
        if not len(self.actuated):
            raise ArgumentError("the system has no inputs that could hold it, expected linearise(..., actuated=)")
        n, m = self.B.shape
        weights = _weights(Q, n, "Q", 0.0), _weights(R, m, "R", np.finfo(float).tiny)
        with extras_named():
            from scipy.linalg import LinAlgError, solve_continuous_are
        try:
            S = solve_continuous_are(self.A, self.B, *weights)
        except LinAlgError:
            S = None
        K = np.zeros((m, n)) if S is None else np.linalg.solve(weights[1], self.B.T @ S)
        poles = np.linalg.eigvals(self.A - self.B @ K)
        if S is None or np.max(poles.real, initial=-1.0) >= 0.0:
            names = ", ".join(self.robot.velocity_names[i] for i in self.actuated)
            raise ArgumentError(
                f"forces at {names} cannot hold the robot here (or Q weighs too little); expected other ``actuated`` joints"
            )
        return StateFeedback(self.robot, self.q, self.v, self.tau, self.actuated, K, poles.astype(np.complex128))


def linearise(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    actuated: str | Iterable[str | int] | None = None,
    damping: bool = False,
    gravity: ArrayLike = EARTH_GRAVITY,
) -> LinearSystem:
    """A robot near a state as a linear system.

    Args:
        robot: Made by ``load``.
        q: Coordinates (nq,).
        v: Velocities (nv,); None: at rest.
        tau: Generalised forces (nv,) [N m, N]; None: those that keep the velocities, which passive joints must not need.
        actuated: Name of a joint or velocity, or several, or indices of velocities, whose forces are inputs; None: all joints but a
            floating or planar base.
        damping: Whether the URDF's joint damping acts.
        gravity: (3,) in the world [m/s^2].

    Returns:
        A, B and the state they are for; ``lqr`` makes a controller of them.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or a passive joint would need a force.
        UnknownNameError: There is no such joint or velocity.
        SingularMassMatrixError: M has no inverse.
    """
    check_robot(robot)
    at = vector(q, robot.nq, "q")
    speed = np.zeros(robot.nv) if v is None else vector(v, robot.nv, "v")
    down = triple(gravity, "gravity")
    driven = _actuated(robot, actuated)
    resistance = joint_damping(robot.joints, robot.nv) if flag(damping, "damping") else np.zeros(robot.nv)
    if tau is None:
        force = inverse_dynamics(robot, at, speed, np.zeros(robot.nv), gravity=down) + resistance * speed
        force = _without_passive(robot, force, driven)
    else:
        force = vector(tau, robot.nv, "tau")
    net = force - resistance * speed
    slopes = forward_dynamics_derivatives(robot, at, speed, net, gravity=down)
    n = robot.nv
    A = np.zeros((2 * n, 2 * n))
    A[:n, :n], A[:n, n:] = -small_adjoint(robot.joints, n, speed), np.eye(n)
    A[n:, :n], A[n:, n:] = slopes.q, slopes.v - slopes.tau * resistance
    B = np.zeros((2 * n, len(driven)))
    B[n:] = slopes.tau[:, driven]
    return LinearSystem(robot, at, speed, force, driven, A, B, forward_dynamics(robot, at, speed, net, gravity=down))


def _actuated(robot: Robot, given: str | Iterable[str | int] | None) -> NDArray[np.intp]:
    """Indices of velocities, each once, in the order given."""
    if given is None:
        return np.array([joint.iv for joint in robot.joints if joint.nv == 1 and not joint.is_mimic], dtype=np.intp)
    chosen: list[int] = []
    of_joint = {joint.name: range(joint.iv, joint.iv + joint.nv) for joint in robot.joints if not joint.is_mimic}
    for one in [given] if isinstance(given, str) else listed(given, "a list of names", "actuated"):
        if isinstance(one, str):
            if one not in of_joint and one not in robot.velocity_names:
                raise UnknownNameError("joint or velocity", one, [*of_joint])
            chosen += of_joint.get(one) or [robot.velocity_names.index(one)]
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < robot.nv:
            chosen.append(int(one))
        else:
            raise ArgumentError(f"{one!r} in actuated, expected a name or an index from 0 to {robot.nv - 1}")
    if not chosen:
        raise ArgumentError("actuated is empty, expected at least one joint")
    return np.array(list(dict.fromkeys(chosen)), dtype=np.intp)


def _without_passive(robot: Robot, force: Array, driven: NDArray[np.intp]) -> Array:
    """The forces with zeros at passive joints, which must be there already but for round-off."""
    passive = np.setdiff1d(np.arange(robot.nv), driven)
    needed = np.abs(force[passive])
    size = float(np.max(np.abs(force), initial=1.0))
    if np.max(needed, initial=0.0) > BALANCED * size:
        worst = int(passive[np.argmax(needed)])
        free = robot.joints[0].nv > 1 and worst < robot.joints[0].nv
        raise ArgumentError(
            f"{robot.velocity_names[worst]} would need {force[worst]:.4g} to stay, but is not actuated; expected "
            + ("no gravity (contacts, which could carry a free base, are no part of this)" if free else "an equilibrium")
            + ", tau= or actuated="
        )
    force[passive] = 0.0
    return force


def _weights(given: Any, size: int, name: str, least: float) -> Array:
    """A symmetric matrix from one number, a diagonal or a matrix; its eigenvalues are at least ``least``."""
    values = numbers(given, f"(), ({size},) or ({size}, {size})", name)
    if values.shape not in ((), (size,), (size, size)) or not np.isfinite(values).all():
        raise ArgumentError(f"{name} has shape {values.shape}, expected finite numbers (), ({size},) or ({size}, {size})")
    W = np.array(values) if values.ndim == 2 else np.diag(np.broadcast_to(values, (size,)))
    if not np.allclose(W, W.T, rtol=1e-12, atol=0.0):
        raise ArgumentError(f"{name} is not symmetric, expected a symmetric matrix")
    lowest = float(np.linalg.eigvalsh(W)[0])
    if lowest < least - 1e-12 * float(np.abs(W).max()):
        raise ArgumentError(f"{name} has the eigenvalue {lowest:.3g}, expected {'positive ones' if least else 'none below 0'}")
    return W
