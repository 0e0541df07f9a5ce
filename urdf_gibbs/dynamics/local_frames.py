"""Constants of the production formulation, made once for each robot: frames chosen to minimise the remaining computation.

For each joint (docs/pages/formulations/production.md, step 0):
- the body's frame is turned so that a revolute axis is a coordinate axis k and the fixed rotation before the joint is the
  identity where the axis is a coordinate axis of the parent, else one or two plane rotations;
- its origin slides along the axis so that the offset p from the parent has no component along it; a prismatic body keeps its
  parent's axes and its origin starts at the parent's, so p = b q;
- what does not affect a joint moves to the parent: mass on a revolute axis (m, h_k, Sigma_kk), the second moments Sigma of a
  prismatic body.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.dynamics.local import Axis, Body, Full, LocalModel, Moments, Plane, Rotation, symmetric
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Vector
from urdf_gibbs.dynamics.scalar import add, mul
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import plane_rotation

Array = NDArray[np.float64]
LOCAL_MODELS: Shelf[tuple[()], LocalModel] = Shelf()
ROUND_OFF = 1e-14  # of a direction cosine or, relative to the robot's size, of a length: what rounded angles leave


def local_model(robot: Robot) -> LocalModel:
    """The robot's constants in local frames, made once."""
    return LOCAL_MODELS.get(robot, (), lambda: _build(robot))


def parametric_model(robot: Robot, parameters: list[Scalar]) -> LocalModel:
    """The same with the inertial parameters (10 for each body, as ``Robot.parameters`` has them) as scalars."""
    bodies, turn, slide = _frames(robot)
    # Everything done to the moments is linear: do it to unit parameters once, and combine.
    units = np.zeros((len(bodies), 10 * len(bodies), 4, 4))
    for i in range(len(bodies)):
        units[i, 10 * i : 10 * i + 10] = _in_frame(_unit_moments(), turn[i], slide[i])
    moments = _regrouped(bodies, list(units))
    return LocalModel(robot.nq, robot.nv, [replace(body, J=_combined(J, parameters)) for body, J in zip(bodies, moments, strict=True)])


def bare_model(robot: Robot) -> tuple[LocalModel, list[Array], list[Array]]:
    """The bodies in local frames without moments, the axes (3x3) of these frames in the URDF's body frames, and their origins there.

    No body counts as a leaf, of which ``place`` would turn the moments and leave the axes.
    """
    bodies, turn, slide = _frames(robot)
    return LocalModel(robot.nq, robot.nv, [replace(body, leaf=False) for body in bodies]), turn, slide


def _combined(units: Array, parameters: list[Scalar]) -> Moments:
    def entry(i: int, j: int) -> Scalar:
        total: Scalar = 0.0
        for p in np.flatnonzero(np.abs(units[:, i, j]) > ROUND_OFF * np.abs(units[:, i, j]).max()):
            total = add(total, mul(float(units[p, i, j]), parameters[p]))
        return total

    return Moments(entry(3, 3), Vector([entry(i, 3) for i in range(3)]), symmetric(entry))


def _unit_moments() -> Array:
    """Pseudo-inertias (10, 4, 4) of m, m c (3) and the inertia about the origin (xx, xy, yy, xz, yz, zz), one at a time."""
    units = np.zeros((10, 4, 4))
    units[0, 3, 3] = 1.0
    for i in range(3):
        units[1 + i, i, 3] = units[1 + i, 3, i] = 1.0
    for number, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        inertia = np.zeros((3, 3))
        inertia[i, j] = inertia[j, i] = 1.0
        units[4 + number, :3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    return units


def _build(robot: Robot) -> LocalModel:
    bodies, turn, slide = _frames(robot)
    moments = [_in_frame(_moments(robot, i), turn[i], slide[i]) for i in range(len(bodies))]
    moments = _regrouped(bodies, moments)
    return LocalModel(robot.nq, robot.nv, [replace(body, J=_constant(J)) for body, J in zip(bodies, moments, strict=True)])


def _frames(robot: Robot) -> tuple[list[Body], list[Array], list[Array]]:
    """Bodies without moments; the axes of their local frames in those of the URDF's body frames, and their origins."""
    n = len(robot.joints)
    turn, slide = [np.eye(3)] * n, [np.zeros(3)] * n
    has_child = set(robot.parent)
    length = float(np.abs(robot.placement[:, :3, 3]).max(initial=0.0))
    nothing = Moments(0.0, Vector.zeros(3), Matrix.zeros(3, 3))
    bodies: list[Body] = []
    for i, joint in enumerate(robot.joints):
        parent = robot.parent[i]
        C_p, o_p = (np.eye(3), np.zeros(3)) if parent < 0 else (turn[parent], slide[parent])
        R0 = _orthonormal(C_p.T @ robot.placement[i, :3, :3])  # or round-off would grow along a chain
        p0 = C_p.T @ (robot.placement[i, :3, 3] - o_p)
        axis = np.array(joint.axis)
        k, sign, b = 2, 1.0, np.zeros(3)
        fixed: list[Rotation] = []
        if joint.type in ("revolute", "continuous"):
            b = _without_round_off(R0 @ axis)
            b = b / np.linalg.norm(b)
            k, rotations, sign = _align(b)
            fixed = list(rotations)
            turn[i] = R0.T @ plane_matrix(rotations)
            slide[i] = -(p0 @ b) * axis
            offset = p0 - (p0 @ b) * b
            axes = [Axis(Vector((sign * np.eye(3)[k]).tolist()), Vector.zeros(3), joint.iv, joint.ratio)]
        elif joint.type == "prismatic":
            turn[i] = R0.T
            b = _without_round_off(R0 @ axis)
            offset = np.zeros(3)
            if i not in has_child and robot.mass[i] > 0.0:  # a leaf's first moments vanish about its centre of mass
                centre = p0 + R0 @ robot.centre_of_mass[i]
                offset = centre - (centre @ b) * b
            slide[i] = R0.T @ (offset - p0)
            axes = [Axis(Vector.zeros(3), Vector(b.tolist()), joint.iv, joint.ratio)]
        else:
            turn[i] = np.reshape(plane_rotation(joint.axis), (3, 3)) if joint.type == "planar" else np.eye(3)
            F = _without_round_off(R0 @ turn[i])
            fixed = [] if np.array_equal(F, np.eye(3)) else [Full(Matrix(F.tolist()))]
            offset = p0
            axes = _several(joint.type, joint.iv)
        # An axis along -e_k turns the other way: the angle changes its sign, not the frame.
        tie = (sign * joint.ratio, sign * joint.offset)
        kind = "revolute" if joint.type == "continuous" else joint.type
        clean = np.where(np.abs(offset) <= ROUND_OFF * length, 0.0, offset)
        place = (Vector(clean.tolist()), Vector(b.tolist()))
        bodies.append(Body(kind, parent, k, fixed, *place, axes, joint.iq, *tie, nothing, i not in has_child))
    return bodies, turn, slide


def _several(kind: str, iv: int) -> list[Axis]:
    """The axes of a planar or floating joint."""
    unit, zero = [Vector(row) for row in Matrix.identity(3)], Vector.zeros(3)
    if kind == "planar":
        pairs = [(zero, unit[0]), (zero, unit[1]), (unit[2], zero)]
    else:
        pairs = [(zero, x) for x in unit] + [(x, zero) for x in unit]
    return [Axis(angular, linear, iv + c, 1.0) for c, (angular, linear) in enumerate(pairs)]


def _moments(robot: Robot, i: int) -> Array:
    """Pseudo-inertia (4x4): [Sigma h; hᵀ m] about the URDF's body frame."""
    m, c, I = robot.mass[i], robot.centre_of_mass[i], robot.inertia[i]  # noqa: E741
    J = np.empty((4, 4))
    J[:3, :3] = 0.5 * np.trace(I) * np.eye(3) - I + m * np.outer(c, c)
    J[:3, 3] = J[3, :3] = m * c
    J[3, 3] = m
    return J


def _in_frame(J: Array, C: Array, o: Array) -> Array:
    """The pseudo-inertia seen from a frame with axes C and origin o."""
    X = np.eye(4)
    X[:3, :3] = C.T
    X[:3, 3] = -C.T @ o
    return X @ J @ X.T


def _regrouped(bodies: list[Body], moments: list[Array]) -> list[Array]:
    """Leaf to root, each joint passes to its parent the moments that do not affect it; moments are (..., 4, 4)."""
    moments = list(moments)
    for i in range(len(bodies) - 1, -1, -1):
        body, J = bodies[i], moments[i]
        unseen = np.zeros_like(J)
        X = np.eye(4)
        if body.kind == "revolute":
            for row in (body.k, 3):
                for column in (body.k, 3):
                    unseen[..., row, column] = J[..., row, column]
            X[:3, :3] = plane_matrix([r for r in body.fixed if isinstance(r, Plane)])
            X[:3, 3] = body.offset
        elif body.kind == "prismatic":
            unseen[..., :3, :3] = J[..., :3, :3]  # the axes are parallel, and a Sigma without mass does not see the offset
        moments[i] = J - unseen
        if body.parent >= 0:
            moments[body.parent] = moments[body.parent] + X @ unseen @ X.T
    return moments


def _constant(J: Array) -> Moments:
    """Plain floats, with the round-off of the rotations set to zero."""
    clean = 0.5 * (J + J.T)
    for block in (np.s_[:3, :3], np.s_[:3, 3]):  # each in its own unit
        part = clean[block]
        part[np.abs(part) <= 1e-15 * np.abs(part).max()] = 0.0
    return Moments(float(clean[3, 3]), Vector(clean[:3, 3].tolist()), Matrix(clean[:3, :3].tolist()))


def _align(b: Array) -> tuple[int, list[Plane], float]:
    """(k, plane rotations F, sign) with F e_k = sign * b: none where b is a coordinate axis, one where it lies in a plane, else two."""
    zero = [i for i in range(3) if b[i] == 0.0]
    if len(zero) == 2:
        k = next(i for i in range(3) if b[i] != 0.0)
        return k, [], float(np.sign(b[k]))
    if len(zero) == 1:
        m = zero[0]  # rotation about m within the plane (u, w) takes e_u to b
        u, w = (m + 1) % 3, (m + 2) % 3
        return u, [Plane(m, float(b[u]), float(b[w]))], 1.0
    # b = Rz(angle) Ry(-elevation) e_x
    flat = math.hypot(b[0], b[1])
    return 0, [Plane(2, float(b[0] / flat), float(b[1] / flat)), Plane(1, float(flat), float(-b[2]))], 1.0


def plane_matrix(rotations: list[Plane]) -> Array:
    """The 3x3 matrix of constant plane rotations, outermost first."""
    R = np.eye(3)
    for r in rotations:
        u, w = (r.k + 1) % 3, (r.k + 2) % 3
        P = np.eye(3)
        P[u, u] = P[w, w] = r.c
        P[u, w], P[w, u] = -r.s, r.s
        R = R @ P
    return R


def _orthonormal(R: Array) -> Array:
    """The rotation next to R: one step of Newton's iteration for the polar decomposition."""
    return 0.5 * R @ (3.0 * np.eye(3) - R.T @ R)


def _without_round_off(x: Array) -> Array:
    clean = np.where(np.abs(x) <= ROUND_OFF, 0.0, x)
    return np.where(np.abs(np.abs(clean) - 1.0) <= ROUND_OFF, np.sign(clean), clean)
