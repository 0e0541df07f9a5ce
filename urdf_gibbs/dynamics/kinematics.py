"""Positions, velocities, Jacobians, centre of mass and momentum, over any scalar, in world axes (S18, Eqs. 3, 19, 43)."""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics import elastic
from urdf_gibbs.dynamics.elastic import Tip, inertia_of, mixed
from urdf_gibbs.dynamics.model import Body, Model, column_sum, joint_motion
from urdf_gibbs.dynamics.scalar import Matrix, Scalar, Vector, add, cross, dot, identity, matmul, matvec, mul, scale, transposed, vadd, vsub

Placement = tuple[Matrix, Vector]


def placements(model: Model, q: Vector) -> list[Placement]:
    """(R, p) of each body's frame in the world: T_i = T_parent E_i A_i."""
    result: list[Placement] = []
    for body in model.bodies:
        R, p = (identity(3), [0.0, 0.0, 0.0]) if body.parent < 0 else result[body.parent]
        R_joint, p_joint = elastic_motion(body, q) if body.beam is not None else joint_motion(body, q)
        E = [row[:3] for row in body.E[:3]]
        offset = [row[3] for row in body.E[:3]]
        result.append((matmul(R, matmul(E, R_joint)), vadd(p, matvec(R, vadd(offset, matvec(E, p_joint))))))
    return result


def jacobian(model: Model, q: Vector, body: int, point: Vector) -> Matrix:
    """6 x nv, linear first: velocity of the point (given in the body's axes, from its origin) and angular velocity, in world axes."""
    J: Matrix = [[0.0] * model.nv for _ in range(6)]
    if body < 0:
        return J
    pose = placements(model, q)
    R, p = pose[body]
    target = vadd(p, matvec(R, point))
    i = body
    while i >= 0:
        R, p = pose[i]
        tip = tip_of(model.bodies[i], q)
        for k, column in enumerate(model.bodies[i].columns):
            if tip is not None:
                above = model.bodies[i].parent
                R_above = identity(3) if above < 0 else pose[above][0]
                angular, linear = matvec(R_above, tip.angular[k]), matvec(R_above, tip.linear[k])
                entries = [*vadd(linear, cross(angular, vsub(target, p))), *angular]
            else:
                axis = scale(column.ratio, matvec(R, column.axis))
                entries = [*cross(axis, vsub(target, p)), *axis] if column.kind == "R" else [*axis, 0.0, 0.0, 0.0]
            for row, entry in enumerate(entries):
                J[row][column.iv] = add(J[row][column.iv], entry)
        i = model.bodies[i].parent
    return J


def elastic_screws(model: Model, q: Vector, v: Vector) -> Vector:
    """For each elastic joint, in world axes at the world's origin, angular first: its columns (6 each), and what rates alone contribute to
    the twist of its tip against its parent (6)."""
    found: Vector = []
    pose = placements(model, q)
    for body in model.bodies:
        if body.beam is None:
            continue
        rate = [v[column.iv] for column in body.columns]
        tip = elastic.tip_of(body.beam, list(q[body.iq : body.iq + body.beam.m]), rate)
        R, p = (identity(3), [0.0, 0.0, 0.0]) if body.parent < 0 else pose[body.parent]
        r = vadd([row[3] for row in body.E[:3]], tip.shift)
        for angular, linear in zip(tip.angular, tip.linear, strict=True):
            found += _at_the_origin(R, p, angular, vadd(linear, cross(r, angular)))
        spin, speed = mixed(rate, tip.angular), mixed(rate, tip.linear)
        found += _at_the_origin(R, p, tip.turning, vadd(tip.shifting, vadd(cross(speed, spin), cross(r, tip.turning))))
    return found


def _at_the_origin(R: Matrix, p: Vector, angular: Vector, linear: Vector) -> Vector:
    """A twist given in a frame (R, p), at the frame's origin, as one in world axes at the world's."""
    turned = matvec(R, angular)
    return [*turned, *vadd(matvec(R, linear), cross(p, turned))]


def first_moment(model: Model, q: Vector) -> tuple[Scalar, Vector]:
    """(mass, mass times centre of mass) of all moving bodies."""
    mass: Scalar = 0.0
    moment: Vector = [0.0, 0.0, 0.0]
    poses = placements(model, q)
    for body, (R, p) in zip(model.bodies, poses, strict=True):
        mass = add(mass, body.mass)
        moment = vadd(moment, scale(body.mass, vadd(p, matvec(R, body.com))))
        if body.beam is not None:
            R, p = poses[body.parent] if body.parent >= 0 else (identity(3), [0.0, 0.0, 0.0])
            own = inertia_of(body.beam, list(q[body.iq : body.iq + body.beam.m])).moment
            mass = add(mass, body.beam.mass)
            moment = vadd(moment, vadd(scale(body.beam.mass, p), matvec(R, own)))
    return mass, moment


def velocities(model: Model, q: Vector, v: Vector, pose: list[Placement]) -> tuple[list[Vector], list[Vector]]:
    """Angular velocities of the bodies and velocities of their origins, in world axes; ``pose`` are their placements at q."""
    omega: list[Vector] = []
    velocity: list[Vector] = []
    for body, (R, p) in zip(model.bodies, pose, strict=True):
        w, d = matvec(R, column_sum(body, v, "R")), matvec(R, column_sum(body, v, "P"))
        tip = tip_of(body, q)
        if tip is not None:  # its columns are in the parent's axes
            frame = identity(3) if body.parent < 0 else pose[body.parent][0]
            rate = [v[column.iv] for column in body.columns]
            w, d = matvec(frame, mixed(rate, tip.angular)), matvec(frame, mixed(rate, tip.linear))
        if body.parent >= 0:
            above = omega[body.parent]
            d = vadd(d, vadd(velocity[body.parent], cross(above, vsub(p, pose[body.parent][1]))))
            w = vadd(w, above)
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

    def point(self, r: Vector) -> tuple[Vector, Vector, Vector]:
        """Position, velocity and acceleration of the point at r in the body's frame."""
        lever = matvec(self.R, r)
        speed = cross(self.omega, lever)
        turned = vadd(cross(self.alpha, lever), cross(self.omega, speed))
        return vadd(self.p, lever), vadd(self.velocity, speed), vadd(self.acceleration, turned)


def motions(model: Model, q: Vector, v: Vector, a: Vector) -> list[BodyMotion]:
    """How all bodies move at positions q, velocities v and accelerations a."""
    zero: Vector = [0.0, 0.0, 0.0]
    world = BodyMotion(identity(3), zero, zero, zero, zero, zero)
    found: list[BodyMotion] = []
    for body, (R, p) in zip(model.bodies, placements(model, q), strict=True):
        above = world if body.parent < 0 else found[body.parent]
        r = vsub(p, above.p)
        if body.beam is not None:  # its columns are in the parent's axes, and change
            rate, rise = ([x[column.iv] for column in body.columns] for x in (v, a))
            tip = elastic.tip_of(body.beam, list(q[body.iq : body.iq + body.beam.m]), rate)
            spin, slide = matvec(above.R, mixed(rate, tip.angular)), matvec(above.R, mixed(rate, tip.linear))
            turning = matvec(above.R, vadd(mixed(rise, tip.angular), tip.turning))
            sliding = vadd(matvec(above.R, vadd(mixed(rise, tip.linear), tip.shifting)), cross(above.omega, slide))
        else:  # they are constant in the body's own
            spin, slide = matvec(R, column_sum(body, v, "R")), matvec(R, column_sum(body, v, "P"))
            turning = matvec(R, column_sum(body, a, "R"))
            sliding = vadd(matvec(R, column_sum(body, a, "P")), cross(vadd(above.omega, spin), slide))
        carried = cross(above.omega, r)
        omega = vadd(above.omega, spin)
        velocity = vadd(above.velocity, vadd(carried, slide))
        alpha = vadd(above.alpha, vadd(turning, cross(above.omega, spin)))
        pulled = vadd(cross(above.alpha, r), cross(above.omega, vadd(carried, slide)))
        found.append(BodyMotion(R, p, omega, velocity, alpha, vadd(above.acceleration, vadd(pulled, sliding))))
    return found


def momentum(model: Model, q: Vector, v: Vector, about: Vector) -> Vector:
    """Linear momentum, and angular momentum about a point of the world (6)."""
    pose = placements(model, q)
    omega, velocity = velocities(model, q, v, pose)
    linear: Vector = [0.0, 0.0, 0.0]
    angular: Vector = [0.0, 0.0, 0.0]
    for i, (body, (R, p)) in enumerate(zip(model.bodies, pose, strict=True)):
        lever = matvec(R, body.com)
        impulse = scale(body.mass, vadd(velocity[i], cross(omega[i], lever)))
        spin = matvec(R, matvec(body.inertia, matvec(transposed(R), omega[i])))
        linear = vadd(linear, impulse)
        angular = vadd(angular, vadd(spin, cross(vsub(vadd(p, lever), about), impulse)))
        if body.beam is None:
            continue
        zero: Vector = [0.0, 0.0, 0.0]
        frame, origin = (identity(3), zero) if body.parent < 0 else pose[body.parent]
        turn, speed = (zero, zero) if body.parent < 0 else (omega[body.parent], velocity[body.parent])
        turn, speed = matvec(transposed(frame), turn), matvec(transposed(frame), speed)
        rate, own = [v[column.iv] for column in body.columns], inertia_of(body.beam, list(q[body.iq : body.iq + body.beam.m]))
        flow = vadd(scale(body.beam.mass, speed), vadd(cross(turn, own.moment), mixed(rate, own.linear)))
        about_root = vadd(cross(own.moment, speed), vadd(matvec(own.inertia, turn), mixed(rate, own.angular)))
        flow, about_root = matvec(frame, flow), matvec(frame, about_root)
        linear = vadd(linear, flow)
        angular = vadd(angular, vadd(about_root, cross(vsub(origin, about), flow)))
    return [*linear, *angular]


def tip_of(body: Body, q: Vector) -> Tip | None:
    """The tip that an elastic joint leads to."""
    return None if body.beam is None else elastic.tip_of(body.beam, list(q[body.iq : body.iq + body.beam.m]))


def elastic_motion(body: Body, q: Vector) -> Placement:
    tip = tip_of(body, q)
    assert tip is not None
    return tip.turn, tip.shift


def potential_energy(moment: Vector, gravity: Vector) -> Scalar:
    """Eq. 19: - g . (m c)."""
    return mul(-1.0, dot(gravity, moment))
