"""Positions, velocities, Jacobians, centre of mass and momentum, over any scalar, in world axes (S18, Eqs. 3, 19, 43)."""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics import elastic
from urdf_gibbs.dynamics.elastic import Tip, inertia_of, mixed
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Body, Model, column_sum, joint_motion
from urdf_gibbs.dynamics.scalar import add, mul

Placement = tuple[Matrix, Vector]


def placements(model: Model, q: Scalars) -> list[Placement]:
    """(R, p) of each body's frame in the world: T_i = T_parent E_i A_i."""
    result: list[Placement] = []
    for body in model.bodies:
        R, p = _parent(body, result)
        R_joint, p_joint = elastic_motion(body, q) if body.beam is not None else joint_motion(body, q)
        E, offset = body.E.rotation, body.E.translation
        result.append((R @ (E @ R_joint), p + R @ (offset + E @ p_joint)))
    return result


def _parent(body: Body, pose: list[Placement]) -> Placement:
    """(R, p) of the body that holds the joint, or of the world."""
    return (Matrix.identity(3), Vector.zeros(3)) if body.parent < 0 else pose[body.parent]


def jacobian(model: Model, q: Scalars, body: int, point: Scalars) -> Matrix:
    """6 x nv, linear first: velocity of the point (given in the body's axes, from its origin) and angular velocity, in world axes."""
    J = Matrix.zeros(6, model.nv)
    for columns in point_columns(model, q, body, point):
        for column in columns:
            for row, entry in zip(J, [*column.linear, *column.angular], strict=True):
                row[column.iv] = add(row[column.iv], entry)
    return J


@dataclass(frozen=True, slots=True)
class PointColumn:
    """What a unit of velocity ``iv`` of one joint gives a point of a body: its velocity, and the body's angular velocity, in world axes."""

    iv: int
    linear: Vector
    angular: Vector


def point_columns(model: Model, q: Scalars, body: int, point: Scalars) -> list[list[PointColumn]]:
    """For each joint from the body's own to the root, its columns; none for the world (-1)."""
    if body < 0:
        return []
    pose = placements(model, q)
    R, p = pose[body]
    target = p + R @ Vector(point)
    joints: list[list[PointColumn]] = []
    i = body
    while i >= 0:
        R, p = pose[i]
        tip = tip_of(model.bodies[i], q)
        columns = []
        for k, column in enumerate(model.bodies[i].columns):
            if tip is not None:
                R_above, _ = _parent(model.bodies[i], pose)
                angular, linear = R_above @ tip.angular[k], R_above @ tip.linear[k]
                columns.append(PointColumn(column.iv, linear + angular.cross(target - p), angular))
            else:
                axis = column.ratio * (R @ column.axis)
                turns = column.kind == "R"
                columns.append(PointColumn(column.iv, axis.cross(target - p) if turns else axis, axis if turns else Vector.zeros(3)))
        joints.append(columns)
        i = model.bodies[i].parent
    return joints


def elastic_screws(model: Model, q: Scalars, v: Scalars) -> Vector:
    """For each elastic joint, in world axes at the world's origin, angular first: its columns (6 each), and what rates alone contribute to
    the twist of its tip against its parent (6)."""
    screws: list[Scalar] = []
    pose = placements(model, q)
    for body in model.bodies:
        if body.beam is None:
            continue
        rate = [v[column.iv] for column in body.columns]
        tip = elastic.tip_of(body.beam, q[body.iq : body.iq + body.beam.m], rate)
        R, p = _parent(body, pose)
        r = body.E.translation + tip.shift
        for angular, linear in zip(tip.angular, tip.linear, strict=True):
            screws += _at_the_origin(R, p, angular, linear + r.cross(angular))
        spin, speed = mixed(rate, tip.angular), mixed(rate, tip.linear)
        screws += _at_the_origin(R, p, tip.turning, tip.shifting + (speed.cross(spin) + r.cross(tip.turning)))
    return Vector(screws)


def _at_the_origin(R: Matrix, p: Vector, angular: Vector, linear: Vector) -> list[Scalar]:
    """A twist given in a frame (R, p), at the frame's origin, as one in world axes at the world's."""
    turned = R @ angular
    return [*turned, *R @ linear + p.cross(turned)]


def first_moment(model: Model, q: Scalars) -> tuple[Scalar, Vector]:
    """(mass, mass times centre of mass) of all moving bodies."""
    mass: Scalar = 0.0
    moment = Vector.zeros(3)
    poses = placements(model, q)
    for body, (R, p) in zip(model.bodies, poses, strict=True):
        mass = add(mass, body.mass)
        moment += body.mass * (p + R @ body.com)
        if body.beam is not None:
            R, p = _parent(body, poses)
            own = inertia_of(body.beam, q[body.iq : body.iq + body.beam.m]).moment
            mass = add(mass, body.beam.mass)
            moment += body.beam.mass * p + R @ own
    return mass, moment


def velocities(model: Model, q: Scalars, v: Scalars, pose: list[Placement]) -> tuple[list[Vector], list[Vector]]:
    """Angular velocities of the bodies and velocities of their origins, in world axes; ``pose`` are their placements at q."""
    omega: list[Vector] = []
    velocity: list[Vector] = []
    for body, (R, p) in zip(model.bodies, pose, strict=True):
        w, d = R @ column_sum(body, v, "R"), R @ column_sum(body, v, "P")
        tip = tip_of(body, q)
        if tip is not None:  # its columns are in the parent's axes
            frame, _ = _parent(body, pose)
            rate = [v[column.iv] for column in body.columns]
            w, d = frame @ mixed(rate, tip.angular), frame @ mixed(rate, tip.linear)
        if body.parent >= 0:
            above = omega[body.parent]
            d += velocity[body.parent] + above.cross(p - pose[body.parent][1])
            w += above
        omega.append(w)
        velocity.append(d)
    return omega, velocity


@dataclass(frozen=True, slots=True)
class BodyMotion:
    """Of a body's frame, in world axes: rotation, origin, angular velocity and acceleration, velocity and acceleration of the origin."""

    R: Matrix
    p: Vector
    omega: Vector
    velocity: Vector
    alpha: Vector
    acceleration: Vector

    def point(self, r: Scalars) -> tuple[Vector, Vector, Vector]:
        """Position, velocity and acceleration of the point at r in the body's frame."""
        lever = self.R @ Vector(r)
        speed = self.omega.cross(lever)
        turned = self.alpha.cross(lever) + self.omega.cross(speed)
        return self.p + lever, self.velocity + speed, self.acceleration + turned


def motions(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[BodyMotion]:
    """How all bodies move at positions q, velocities v and accelerations a."""
    zero = Vector.zeros(3)
    world = BodyMotion(Matrix.identity(3), zero, zero, zero, zero, zero)
    bodies: list[BodyMotion] = []
    for body, (R, p) in zip(model.bodies, placements(model, q), strict=True):
        above = world if body.parent < 0 else bodies[body.parent]
        r = p - above.p
        if body.beam is not None:  # its columns are in the parent's axes, and change
            rate, rise = ([x[column.iv] for column in body.columns] for x in (v, a))
            tip = elastic.tip_of(body.beam, q[body.iq : body.iq + body.beam.m], rate)
            spin, slide = above.R @ mixed(rate, tip.angular), above.R @ mixed(rate, tip.linear)
            turning = above.R @ (mixed(rise, tip.angular) + tip.turning)
            sliding = above.R @ (mixed(rise, tip.linear) + tip.shifting) + above.omega.cross(slide)
        else:  # they are constant in the body's own
            spin, slide = R @ column_sum(body, v, "R"), R @ column_sum(body, v, "P")
            turning = R @ column_sum(body, a, "R")
            sliding = R @ column_sum(body, a, "P") + (above.omega + spin).cross(slide)
        carried = above.omega.cross(r)
        omega = above.omega + spin
        velocity = above.velocity + (carried + slide)
        alpha = above.alpha + (turning + above.omega.cross(spin))
        pulled = above.alpha.cross(r) + above.omega.cross(carried + slide)
        bodies.append(BodyMotion(R, p, omega, velocity, alpha, above.acceleration + (pulled + sliding)))
    return bodies


def momentum(model: Model, q: Scalars, v: Scalars, about: Scalars) -> Vector:
    """Linear momentum, and angular momentum about a point of the world (6)."""
    pose = placements(model, q)
    omega, velocity = velocities(model, q, v, pose)
    linear = angular = Vector.zeros(3)
    for i, (body, (R, p)) in enumerate(zip(model.bodies, pose, strict=True)):
        lever = R @ body.com
        impulse = body.mass * (velocity[i] + omega[i].cross(lever))
        spin = R @ (body.inertia @ (R.T @ omega[i]))
        linear += impulse
        angular += spin + (p + lever - about).cross(impulse)
        if body.beam is None:
            continue
        frame, origin = _parent(body, pose)
        turn = speed = Vector.zeros(3)
        if body.parent >= 0:
            turn, speed = frame.T @ omega[body.parent], frame.T @ velocity[body.parent]
        rate, own = [v[column.iv] for column in body.columns], inertia_of(body.beam, q[body.iq : body.iq + body.beam.m])
        flow = body.beam.mass * speed + (turn.cross(own.moment) + mixed(rate, own.linear))
        about_root = own.moment.cross(speed) + (own.inertia @ turn + mixed(rate, own.angular))
        flow, about_root = frame @ flow, frame @ about_root
        linear += flow
        angular += about_root + (origin - about).cross(flow)
    return Vector([*linear, *angular])


def tip_of(body: Body, q: Scalars) -> Tip | None:
    """The tip that an elastic joint leads to."""
    return None if body.beam is None else elastic.tip_of(body.beam, q[body.iq : body.iq + body.beam.m])


def elastic_motion(body: Body, q: Scalars) -> Placement:
    tip = tip_of(body, q)
    assert tip is not None
    return tip.turn, tip.shift


def potential_energy(moment: Vector, gravity: Scalars) -> Scalar:
    """Eq. 19: - g . (m c)."""
    return mul(-1.0, Vector(gravity) @ moment)
