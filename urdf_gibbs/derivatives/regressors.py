"""Regressors: torques and energies as linear functions of the inertial parameters, in local frames.

tau = Y(q, v, a) pi, T = y_T(q, v) . pi and V = y_V(q) . pi, where pi stacks ten numbers for each body, as ``Robot.parameters`` has them:
mass m, first moments m c (3) and the inertia about the origin of the URDF's body frame (xx, xy, yy, xz, yz, zz), in its axes.

Y has a block of ten columns for each body and each velocity that moves it. With the spatial axis (s, d) of that velocity (angular and
linear, at the body's origin) and the moments N (3x10) and forces F (3x4) that a body needs whose parameters are one unit each,

    block = sᵀ N + dᵀ F.

F has the columns of m and m c only: moments of inertia need no force. With the acceleration a of the origin (against gravity) and
U = alpha~ + w~w~ (local_force.py) they are F = [a, U] and N = [0, -a~, I alpha + w x I w for each unit I]. Both are made in the axes of the
URDF's body, where the parameters are, and then seen from the local frame, in which the axes (s, d) travel from the root to the leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.dynamics.local import Placed, place
from urdf_gibbs.dynamics.local_force import Motion, child_motion, ground, joint_rate
from urdf_gibbs.dynamics.local_frames import ROUND_OFF, bare_model
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, is_zero, mul, sub
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]
PARAMETERS = 10  # of a body
FORCED = 4  # the first of them, m and m c, need a force


@dataclass(frozen=True, slots=True)
class UnitLoads:
    """Moments N (3x10) and forces F (3x4) of unit parameters of a body, about the origin of its local frame and in its axes."""

    N: Matrix
    F: Matrix


@dataclass(frozen=True, slots=True)
class MovedBy:
    """Velocity ``iv`` moves ``body``: spatial axis (s, d) at the body's local frame. s is a constant zero where it only translates."""

    body: int
    iv: int
    s: Vector
    d: Vector

    @property
    def turns(self) -> bool:
        return not all(is_zero(x) for x in self.s)


def torque_regressor(robot: Robot, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> Matrix:
    """Y (nv x 10 nb) with tau = Y pi."""
    Y = Matrix.zeros(robot.nv, PARAMETERS * len(robot.joints))
    for (iv, body), block in zip(blocks(robot), torque_blocks(robot, q, v, a, gravity), strict=True):
        Y[iv][PARAMETERS * body : PARAMETERS * (body + 1)] = block
    return Y


def torque_blocks(robot: Robot, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> Matrix:
    """The blocks of Y that are not always zero (blocks x 10), in the order of ``blocks``."""
    loads, moved = factors(robot, q, v, a, gravity)
    result = Matrix()
    for one in moved:
        N, F = loads[one.body].N, loads[one.body].F
        forced = [add(one.s @ N.column(c), one.d @ F.column(c)) for c in range(FORCED)]
        result.append(forced + [one.s @ N.column(c) for c in range(FORCED, PARAMETERS)])
    return result


def blocks(robot: Robot) -> list[tuple[int, int]]:
    """(velocity, body) of each block of Y that is not always zero: body by body, the velocities that move it from the root on."""
    above: list[list[int]] = []
    for joint, parent in zip(robot.joints, robot.parent, strict=True):
        own = range(joint.iv, joint.iv + joint.nv)
        above.append(list(dict.fromkeys([*(above[parent] if parent >= 0 else []), *own])))
    return [(iv, body) for body, velocities in enumerate(above) for iv in velocities]


def factors(robot: Robot, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> tuple[list[UnitLoads], list[MovedBy]]:
    """The factors of all blocks of Y that are not zero: the loads of each body, and by which velocities each body is moved."""
    model, turn, slide = bare_model(robot)
    loads: list[UnitLoads] = []
    motions: list[Motion] = []
    carried: list[list[MovedBy]] = []
    for i, placed in enumerate(place(model, q)):
        parent = placed.body.parent
        motions.append(child_motion(placed, ground(gravity) if parent < 0 else motions[parent], v, a))
        loads.append(_unit_loads(motions[i], *_clean(turn[i], slide[i])))
        carried.append(_axes_at(i, placed, carried[parent] if parent >= 0 else []))
    return loads, [one for axes in carried for one in axes]


def _axes_at(body: int, placed: Placed, above: list[MovedBy]) -> list[MovedBy]:
    """The axes that move a body: those of its parent seen from here, and its joint's own."""
    axes = {one.iv: (placed.down(one.s), placed.down(one.d + one.s.cross(placed.p))) for one in above}
    for axis in placed.body.axes:
        s, d = axis.ratio * axis.angular, axis.ratio * axis.linear
        if axis.iv in axes:  # a mimic joint below its master
            s, d = s + axes[axis.iv][0], d + axes[axis.iv][1]
        axes[axis.iv] = s, d
    return [MovedBy(body, iv, s, d) for iv, (s, d) in axes.items()]


def _clean(C: Array, o: Array) -> tuple[Matrix, Vector]:
    """Axes C (local ones in those of the URDF's body) without round-off, and the URDF's origin from the local one, in local axes."""
    C = np.where(np.abs(C) <= ROUND_OFF, 0.0, C)
    C = np.where(np.abs(np.abs(C) - 1.0) <= ROUND_OFF, np.sign(C), C)
    return Matrix(C.tolist()), Vector((-C.T @ o + 0.0).tolist())


def _unit_loads(motion: Motion, C: Matrix, r: Vector) -> UnitLoads:
    """N and F of a body from its motion in the local frame; C and r lead to the URDF's body frame."""
    a = motion.a + motion.U @ r
    units = [Vector(row) for row in C]  # the URDF's axes in local ones
    F = Matrix([[x, *row] for x, row in zip(a, motion.U @ C.T, strict=True)])
    turned = [unit.cross(a) for unit in units]
    inertial = C.T @ _inertia_moments(C @ motion.omega, C @ motion.alpha)
    N = Matrix([[0.0, *(turned[x][i] for x in range(3)), *inertial[i]] for i in range(3)])
    for c in range(FORCED):
        shift = r.cross(F.column(c))
        for i in range(3):
            N[i][c] = add(N[i][c], shift[i])
    return UnitLoads(N, F)


def _inertia_moments(w: Vector, alpha: Vector) -> Matrix:
    """I alpha + w x I w (3x6) for a unit of each entry of I: xx, xy, yy, xz, yz, zz."""
    xx, yy, zz = mul(w[0], w[0]), mul(w[1], w[1]), mul(w[2], w[2])
    xy, xz, yz = mul(w[0], w[1]), mul(w[0], w[2]), mul(w[1], w[2])
    return Matrix(
        [
            [alpha[0], sub(alpha[1], xz), mul(-1.0, yz), add(alpha[2], xy), sub(yy, zz), yz],
            [xz, add(alpha[0], yz), alpha[1], sub(zz, xx), sub(alpha[2], xy), mul(-1.0, xz)],
            [mul(-1.0, xy), sub(xx, yy), xy, sub(alpha[0], yz), add(alpha[1], xz), alpha[2]],
        ]
    )


# Energies -----------------------------------------------------------------------------------------------


def kinetic_energy_regressor(robot: Robot, q: Scalars, v: Scalars) -> Vector:
    """y_T (10 nb) with T = y_T . pi: of a body m u.u / 2 + m c . (u x w) + w . I w / 2, u the velocity of its origin."""
    model, turn, slide = bare_model(robot)
    twists: list[tuple[Vector, Vector]] = []
    columns: list[Scalar] = []
    for i, placed in enumerate(place(model, q)):
        parent = placed.body.parent
        w, u = twists[parent] if parent >= 0 else (Vector.zeros(3), Vector.zeros(3))
        u = placed.down(u + w.cross(placed.p)) + joint_rate(placed.body, v, "linear")
        w = placed.down(w) + joint_rate(placed.body, v, "angular")
        twists.append((w, u))
        C, r = _clean(turn[i], slide[i])
        u, w = C @ (u + w.cross(r)), C @ w
        columns += [mul(0.5, u @ u), *u.cross(w), *_inertia_energies(w)]
    return Vector(columns)


def _inertia_energies(w: Vector) -> list[Scalar]:
    """w . I w / 2 for a unit of each entry of I: xx, xy, yy, xz, yz, zz."""
    x, y, z = w
    return [mul(0.5, mul(x, x)), mul(x, y), mul(0.5, mul(y, y)), mul(x, z), mul(y, z), mul(0.5, mul(z, z))]


def potential_energy_regressor(robot: Robot, q: Scalars, gravity: Scalars) -> Vector:
    """y_V (10 nb) with V = y_V . pi = - sum of g . (m p + R m c), from the world's origin; gravity g travels in the bodies' axes."""
    model, turn, slide = bare_model(robot)
    at: list[tuple[Vector, Scalar]] = []
    columns: list[Scalar] = []
    for i, placed in enumerate(place(model, q)):
        parent = placed.body.parent
        g, height = at[parent] if parent >= 0 else (Vector(gravity), 0.0)
        height = sub(height, g @ placed.p)
        g = placed.down(g)
        at.append((g, height))
        C, r = _clean(turn[i], slide[i])
        columns += [sub(height, g @ r), *(-(C @ g)), *[0.0] * 6]
    return Vector(columns)
