"""How the motion of a subtree changes with the joint that carries it (docs/pages/formulations/derivatives.md).

D_j is the frame at the origin of body j that is attached to the parent: in the axes W_j before the motion of a one-axis joint, in those
of the body for the others. A displacement of joint j is a rigid one of its subtree, constant in D_j; seen from the displaced frame, the
subtree moves as before and D_j moves otherwise. A velocity of joint j turns the body's frame. Either way all points of the subtree get

    d_a + beta x r + 2 d_omega x r'        r, r': position and velocity relative to the body's origin,

with three vectors (d_omega, beta, d_a), of which d_omega and beta = d_alpha + omega x d_omega are the same for all bodies of the subtree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from urdf_gibbs.dynamics.local import Axis, Body, LocalModel, Moments, Placed, Rotation, place, turned, turned_back
from urdf_gibbs.dynamics.local_force import Motion, acceleration_matrix, ground
from urdf_gibbs.dynamics.matrices import Scalars, Vector
from urdf_gibbs.dynamics.scalar import mul


class Change(NamedTuple):
    """Of the motion of a subtree, in the axes of D: ``omega``, ``beta`` = d_alpha + omega x d_omega, and ``a`` of the body's origin."""

    omega: Vector
    beta: Vector
    a: Vector


@dataclass(frozen=True, slots=True)
class Carried:
    """A body, how its frame lies, and how D and the body move.

    Attributes:
        body: Its constants.
        p: Origin of the body from that of the parent, in the parent's axes.
        inner: Rotation from the body's axes to those of D; None: they are the same.
        outer: Rotations from the axes of D to the parent's, innermost first.
        J: Moments of the body, in its axes.
        frame: Angular velocity and acceleration of D, and acceleration of the point of D at the body's origin.
        w: Angular velocity of the body relative to D, in the axes of D.
        d: Velocity of its origin relative to D, in the axes of D.
        motion: That of the body, in its axes.
        by_q: What a displacement along each axis of the joint changes.
        by_v: What a velocity along each axis changes.
    """

    body: Body
    p: Vector
    inner: Rotation | None
    outer: list[Rotation]
    J: Moments
    frame: Motion
    w: Vector
    d: Vector
    motion: Motion
    by_q: list[Change]
    by_v: list[Change]

    def up(self, x: Vector) -> Vector:
        """From the axes of D to the parent's."""
        for r in self.outer:
            x = turned(r, x)
        return x

    def to_frame(self, x: Vector) -> Vector:
        """From the body's axes to those of D."""
        return x if self.inner is None else turned(self.inner, x)


def carried_bodies(model: LocalModel, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> list[Carried]:
    """All bodies of the model, parents first."""
    bodies: list[Carried] = []
    for placed in place(model, q):
        parent = placed.body.parent
        bodies.append(_carried(placed, ground(gravity) if parent < 0 else bodies[parent].motion, v, a))
    return bodies


def _carried(placed: Placed, parent: Motion, v: Scalars, a: Scalars) -> Carried:
    body = placed.body
    inner, outer = placed.joint, list(reversed(body.fixed))
    if body.kind != "revolute" and placed.joint is not None:  # a joint of several axes, which are the body's
        inner, outer = None, [placed.joint, *outer]
    omega, alpha, origin = parent.omega, parent.alpha, parent.a + parent.U @ placed.p
    for r in reversed(outer):
        omega, alpha, origin = turned_back(r, omega), turned_back(r, alpha), turned_back(r, origin)
    frame = Motion(omega, alpha, origin, parent.U if not outer else acceleration_matrix(omega, alpha))
    w, d = rate(body.axes, v, "angular"), rate(body.axes, v, "linear")
    w_dot, d_dot = rate(body.axes, a, "angular"), rate(body.axes, a, "linear")
    across = 2.0 * omega + w
    by_q = [displaced(axis, frame, d) for axis in body.axes]
    by_v = [Change(axis.angular, across.cross(axis.angular), across.cross(axis.linear) + axis.angular.cross(d)) for axis in body.axes]
    motion = _moved(inner, omega + w, alpha + omega.cross(w) + w_dot, origin + across.cross(d) + d_dot)
    if body.kind == "prismatic":
        motion = Motion(motion.omega, motion.alpha, motion.a, frame.U)
    return Carried(body, placed.p, inner, outer, placed.J, frame, w, d, motion, by_q, by_v)


def displaced(axis: Axis, frame: Motion, d: Vector) -> Change:
    """What a displacement (s, l) changes: omega x s, U s, a x s + U l + 2 (omega x s) x d, with U = alpha~ + omega~ omega~ of D."""
    s, line = axis.angular, axis.linear
    omega = frame.omega.cross(s)
    return Change(omega, frame.U @ s, frame.a.cross(s) + frame.U @ line + (2.0 * omega).cross(d))


def rate(axes: list[Axis], values: Scalars, part: str) -> Vector:
    """The joint's angular or linear rate: the sum of its axes, each by its value."""
    total = Vector.zeros(3)
    for axis in axes:
        total += mul(axis.ratio, values[axis.iv]) * (axis.angular if part == "angular" else axis.linear)
    return total


def _moved(inner: Rotation | None, omega: Vector, alpha: Vector, a: Vector) -> Motion:
    """A motion in the axes of D as the body's axes show it."""
    if inner is not None:
        omega, alpha, a = turned_back(inner, omega), turned_back(inner, alpha), turned_back(inner, a)
    return Motion(omega, alpha, a, acceleration_matrix(omega, alpha))
