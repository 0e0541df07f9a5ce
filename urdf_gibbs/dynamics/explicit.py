"""Explicit, decoupled elements of the joint-space inertia matrix, and the bias force made complete (WJ, Sects. 3 and 4).

Everything is in the inertial frame i. For joint u: n_u is its axis, r_ul the vector from its origin to the mass
centre of body l, uL the subtree it carries. A joint of several degrees of freedom is composed of simple ones
("R" and "P") with a common origin, as the paper allows.

The bias of Eqs. 13-14 is completed by the velocity products w_parent x (n phi') that stand inside Eqs. 11-12 and are
dropped at Eqs. 15-19: the angular acceleration alpha_v they make enters I_l alpha_v and, through alpha_v x r, the
acceleration of every mass centre beyond. See ``angular_velocity_product``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Model, add_column, add_element, column_sum, joint_motion, path


@dataclass(slots=True)
class Pose:
    """A body in the inertial frame: rotation, origin of its joint, mass centre, inertia, axes of its joint's columns."""

    R: Matrix
    origin: Vector
    centre: Vector
    I: Matrix  # noqa: E741 - the paper's name
    n: list[Vector]


NOWHERE = Pose(Matrix(), Vector(), Vector(), Matrix(), [])
Cores = dict[tuple[int, int, str, str], Scalar | Matrix]


def poses(model: Model, q: Scalars, bodies: Collection[int] | None = None) -> list[Pose]:
    """Forward kinematics (Eqs. 4-5) of all bodies, or of some, each with those between it and the world; the others are nowhere."""
    result: list[Pose] = []
    world = Pose(Matrix.identity(3), Vector.zeros(3), Vector.zeros(3), Matrix.zeros(3, 3), [])
    for i, body in enumerate(model.bodies):
        if bodies is not None and i not in bodies:
            result.append(NOWHERE)
            continue
        above = world if body.parent < 0 else result[body.parent]
        R_joint, p = joint_motion(body, q)
        R_fixed, offset = body.E.rotation, body.E.translation
        R = above.R @ (R_fixed @ R_joint)
        origin = above.origin + above.R @ (offset + R_fixed @ p)
        centre = origin + R @ body.com
        result.append(Pose(R, origin, centre, R @ body.inertia @ R.T, [R @ column.axis for column in body.columns]))
    return result


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv), each element by its case (Eqs. 30-37)."""
    M = Matrix.zeros(model.nv, model.nv)
    pose = poses(model, q)
    for u, body in enumerate(model.bodies):
        k = u
        while k >= 0:  # k runs over u and its ancestors, so uL is the subtree of the deeper joint
            _add_elements(M, model, pose, u, k)
            k = body.parent if k == u else model.bodies[k].parent
    return M


def _add_elements(M: Matrix, model: Model, pose: list[Pose], u: int, k: int) -> None:
    cores: Cores = {}
    for a, column_u in enumerate(model.bodies[u].columns):
        for b, column_k in enumerate(model.bodies[k].columns):
            if u == k and b > a:
                continue
            add_element(M, column_u, column_k, element(model, pose, u, a, k, b, cores))


def elements(model: Model, q: Scalars, pairs: Iterable[tuple[int, int]]) -> Vector:
    """Entries (row, column) of M, each by its case alone, from the poses of the subtree of its deeper joint and the path to the root."""
    columns: list[list[tuple[int, int]]] = [[] for _ in range(model.nv)]  # (body, its column) of each velocity; several with mimic joints
    for i, body in enumerate(model.bodies):
        for a, column in enumerate(body.columns):
            columns[column.iv].append((i, a))
    terms = [[_ordered(model, one, other) for one in columns[i] for other in columns[j]] for i, j in pairs]
    deeper = {term[0] for entry in terms for term in entry if term is not None}
    needed = {i for u in deeper for i in (*path(model, u), *model.subtree[u])}
    pose, cores = poses(model, q, needed), Cores()
    result = Vector()
    for entry in terms:
        total: Scalar = 0.0
        for term in entry:
            if term is not None:
                u, a, k, b = term
                ratio = model.bodies[u].columns[a].ratio * model.bodies[k].columns[b].ratio
                total = total + ratio * element(model, pose, u, a, k, b, cores)
        result.append(total)
    return result


def _ordered(model: Model, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """(u, a, k, b) with u in the subtree of k; None for joints of different branches, whose element is zero."""
    (u, a), (k, b) = one, other
    if u in model.subtree[k]:
        return u, a, k, b
    return (k, b, u, a) if k in model.subtree[u] else None


def element(model: Model, pose: list[Pose], u: int, a: int, k: int, b: int, cores: Cores) -> Scalar:
    """Between column a of joint u and column b of joint k, at or above u: one case of Eqs. 30-37; ``cores`` keeps the sums over uL."""
    kinds = model.bodies[u].columns[a].kind, model.bodies[k].columns[b].kind
    key = (u, k, *kinds)
    if key not in cores:
        cores[key] = _core(model, pose, u, k, kinds)
    core, n_u, n_k = cores[key], pose[u].n[a], pose[k].n[b]
    return n_u @ (core @ n_k) if isinstance(core, Matrix) else core * (n_u @ n_k)


def _core(model: Model, pose: list[Pose], u: int, k: int, kinds: tuple[str, str]) -> Scalar | Matrix:
    """The sum over l in uL between n_uᵀ and n_k: 3x3, or the mass alone where both joints are prismatic."""
    masses = [(model.bodies[i].mass, pose[i]) for i in model.subtree[u]]
    if kinds == ("P", "P"):  # cases 6 and 8
        return sum((m for m, _ in masses), 0.0)
    core = Matrix.zeros(3, 3)
    for m, body in masses:
        r_ul, r_kl = body.centre - pose[u].origin, body.centre - pose[k].origin
        if kinds == ("R", "R"):  # cases 1 and 3
            core += body.I - m * (r_ul.tilde @ r_kl.tilde)
        elif kinds == ("R", "P"):  # cases 2 and 4
            core += m * r_ul.tilde
        else:  # cases 5 and 7
            core += -m * r_kl.tilde
    return core


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv): Eqs. 13-14 with the velocity products restored."""
    pose = poses(model, q)
    force, torque = _inertial_loads(model, pose, v, gravity)
    h = Vector.zeros(model.nv)
    for u, body in enumerate(model.bodies):
        for n_u, column in zip(pose[u].n, body.columns, strict=True):
            total = Vector.zeros(3)
            for i in model.subtree[u]:
                if column.kind == "R":
                    r_ui = pose[i].centre - pose[u].origin
                    total += torque[i] + r_ui.cross(force[i])
                else:
                    total += force[i]
            h[column.iv] += column.ratio * (n_u @ total)
    return h


def point_jacobian(model: Model, q: Scalars, body: int, point: Scalars) -> Matrix:
    """3 x nv: velocity of a point given in the frame of ``body``, in world axes."""
    if body < 0:
        return Matrix.zeros(3, model.nv)
    pose = poses(model, q, path(model, body))
    return linear_jacobian(model, pose, body, pose[body].origin + pose[body].R @ Vector(point))


def linear_jacobian(model: Model, pose: list[Pose], body: int, place: Vector) -> Matrix:
    """3 x nv: n_u x r for a revolute joint, n_u for a prismatic one, r from its origin to ``place``, a point of ``body``, in the world."""
    J = Matrix.zeros(3, model.nv)
    for u in path(model, body):
        for n_u, column in zip(pose[u].n, model.bodies[u].columns, strict=True):
            add_column(J, column, n_u.cross(place - pose[u].origin) if column.kind == "R" else n_u)
    return J


def _inertial_loads(model: Model, pose: list[Pose], v: Scalars, gravity: Scalars) -> tuple[list[Vector], list[Vector]]:
    """m_l (a_v,l - g) at each mass centre and I_l alpha_v,l + w_l x I_l w_l: what remains of d'Alembert's loads at q'' = 0."""
    omega: list[Vector] = []
    alpha: list[Vector] = []
    accel: list[Vector] = []  # of the joint origins
    force, torque = [], []
    for i, body in enumerate(model.bodies):
        w_p = alpha_p = a_p = arm = Vector.zeros(3)
        if body.parent >= 0:
            w_p, alpha_p, a_p = omega[body.parent], alpha[body.parent], accel[body.parent]
            arm = pose[i].origin - pose[body.parent].origin
        w = pose[i].R @ column_sum(body, v, "R")  # what the joint adds: n phi' and n r'
        d = pose[i].R @ column_sum(body, v, "P")
        omega.append(w_p + w)
        alpha.append(alpha_p + angular_velocity_product(w_p, w))
        # Eq. 7: w~w~ r + 2 w~ r'; w x d is the turning of the axes that a joint of several degrees of freedom moves along
        coriolis = 2.0 * w_p.cross(d) + w.cross(d)
        accel.append(a_p + _rigid(w_p, alpha_p, arm) + coriolis)
        a_centre = accel[i] + _rigid(omega[i], alpha[i], pose[i].centre - pose[i].origin)
        force.append(body.mass * (a_centre - gravity))
        torque.append(pose[i].I @ alpha[i] + omega[i].cross(pose[i].I @ omega[i]))
    return force, torque


def angular_velocity_product(omega_parent: Vector, joint_rate: Vector) -> Vector:
    """w_parent x (n phi'): the term of Eqs. 3 and 11-12 that the paper's h drops."""
    return omega_parent.cross(joint_rate)


def _rigid(omega: Vector, alpha: Vector, r: Vector) -> Vector:
    """alpha x r + w x (w x r)."""
    return alpha.cross(r) + omega.cross(omega.cross(r))
