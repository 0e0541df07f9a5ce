"""Robots with elastic links by 4x4 transformation matrices: the form that S17 compares its 3x3 one with (its ref. [37], Table 2).

A point of body i is T_i rho in the world, rho = [x, y, z, 1], T_i = T_parent A_i: A_i is E_i times the joint's motion, or root to tip of a
beam. All dynamics are traces over the mass,

  M_cd = sum Tr(dT/dc H dT/dd^T),  h_c = sum Tr((T'' H + ...) dT/dc^T),  H = integral of mu rho rho^T,

with T'' at zero accelerations. T never has to be multiplied out: in the axes of body i every sum over what lies beyond is a 4x4 matrix that
A_i (.) A_i^T takes to the parent (Book's recursion), and the trace of columns without a fourth component does not see a rotation.

- H of a rigid body holds tr(I) / 2 - I, I about the origin; that of a beam changes with its amplitudes, and B10 is in it likewise.
- A coordinate delta_a moves points of its beam by [phi_a; 0], hence D_a = integral of mu [phi_a; 0] rho^T beside dA/d delta_a at the tip.
- A couple n is skew(n) / 2 there, for its product with a velocity skew(w) is n . w; so the momentum of turning sections joins D_a.
"""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics import elastic
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Body, Column, Model, column_sum, joint_motion
from urdf_gibbs.dynamics.scalar import add, dot, is_zero, mul
from urdf_gibbs.flexible.beam import Beam


@dataclass(frozen=True, slots=True)
class Motion:
    """A_i of a joint, from the body's axes to its parent's, dA_i for each column, and with rates A_i' and A_i'' at zero accelerations."""

    body: Body
    A: Matrix
    steps: list[Matrix]
    first: Matrix
    second: Matrix


def motions(model: Model, q: Scalars, v: Scalars | None = None) -> list[Motion]:
    return [_joint(body, q, v) if body.beam is None else _tip(body, body.beam, q, v) for body in model.bodies]


def _joint(body: Body, q: Scalars, v: Scalars | None) -> Motion:
    """A = E [R, p; 0, 1]; dA = A K, K the unit twist in the body's axes, A' = A K v and A'' = A (K v)^2, also of quasi-velocities."""
    A = body.E @ Matrix.bordered(*joint_motion(body, q), 1.0)
    steps = [A @ _twist(column) for column in body.columns]
    if v is None:
        return Motion(body, A, steps, Matrix.zeros(4, 4), Matrix.zeros(4, 4))
    K = Matrix.bordered(column_sum(body, v, "R").tilde, column_sum(body, v, "P"), 0.0)
    first = A @ K
    return Motion(body, A, steps, first, first @ K)


def _tip(body: Body, beam: Beam, q: Scalars, v: Scalars | None) -> Motion:
    """A = [exp(theta~), E + sum p phi(L); 0, 1]; dA = [(T theta_j)~ R, sum_a P_aj phi_a(L); 0, 0]."""
    delta, rate = _delta(body, q), None if v is None else _rates(body, v)
    tip = elastic.tip_of(beam, delta, rate)
    A = Matrix.bordered(tip.turn, body.E.translation + tip.shift, 1.0)
    steps = [Matrix.bordered(w.tilde @ tip.turn, u, 0.0) for w, u in zip(tip.angular, tip.linear, strict=True)]
    if rate is None:
        return Motion(body, A, steps, Matrix.zeros(4, 4), Matrix.zeros(4, 4))
    first = _combined(rate, steps)
    # R'' = (w~ w~ + w'~) R with w' of the rates alone
    turned = elastic.mixed(rate, tip.angular).tilde @ first.rotation
    if not all(is_zero(x) for x in tip.turning):
        turned += tip.turning.tilde @ tip.turn
    return Motion(body, A, steps, first, Matrix.bordered(turned, tip.shifting, 0.0))


# the mass -----------------------------------------------------------------------------------------------


def rigid_mass(body: Body) -> Matrix:
    """H of a rigid body: [tr(I_c) / 2 - I_c + m c c^T, m c; m c^T, m]."""
    moment: Vector = body.mass * body.com
    return _symmetric(_second_of(body.inertia) + moment.outer(body.com), moment, body.mass)


def beam_mass(beam: Beam, p: Vector) -> Matrix:
    """H of a beam at the amplitudes p, about the origin of the body that holds its root: integral of mu rho rho^T, and B10."""
    second = Matrix(beam.second.tolist()) + _second_of(Matrix(beam.rotary.tolist()))
    moment = Vector(beam.first.tolist())
    for a, factor in enumerate(p):
        moment += factor * Vector(beam.C1[a].tolist())
        second += factor * Matrix((beam.G0[a] + beam.G0[a].T).tolist())
        for b in range(a + 1):
            both = beam.G[a, b] + beam.G[b, a] if a != b else beam.G[a, a]
            second += mul(factor, p[b]) * Matrix(both.tolist())
    return _symmetric(second, moment, beam.mass)


def momenta(beam: Beam, p: Vector) -> list[Matrix]:
    """D_a = integral of mu [phi_a; 0] rho^T = [G0_a^T + sum_b p_b G_ab, C1_a; 0, 0] for each amplitude."""
    result = []
    for a in range(len(p)):
        block = Matrix(beam.G0[a].T.tolist())
        for b, factor in enumerate(p):
            block += factor * Matrix(beam.G[a, b].tolist())
        result.append(Matrix.bordered(block, Vector(beam.C1[a].tolist()), 0.0))
    return result


def of_coordinates(beam: Beam, P: Matrix, D: list[Matrix]) -> list[Matrix]:
    """sum_a P_aj D_a for each coordinate, and skew(spin_j) / 2 of the sections that turn."""
    result = []
    for j in range(beam.m):
        total = Matrix.bordered(0.5 * Vector(beam.spin[j].tolist()).tilde, Vector.zeros(3), 0.0)
        for P_aj, own in zip(P.column(j), D, strict=True):
            total += P_aj * own
        result.append(total)
    return result


# the inertia matrix -------------------------------------------------------------------------------------


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv), full and symmetric."""
    joints = motions(model, q)
    H = [rigid_mass(joint.body) for joint in joints]
    M = Matrix.zeros(model.nv, model.nv)
    for i in range(len(joints) - 1, -1, -1):
        joint = joints[i]
        body, beam = joint.body, joint.body.beam
        beyond = H[i] @ joint.A.T
        flows = [step @ beyond for step in joint.steps]  # dA H A^T: of all beyond, for a unit rate, in the parent's axes
        halves = [step @ H[i] for step in joint.steps]
        coupling = Matrix.zeros(len(flows), len(flows))
        if beam is not None:
            p, P = elastic.amplitudes(beam, _delta(body, q)), elastic.slopes(beam, _delta(body, q))
            flows = [flow + own for flow, own in zip(flows, of_coordinates(beam, P, momenta(beam, p)), strict=True)]
            coupling = _coupling(beam, P)
        for j, one in enumerate(body.columns):
            for k, other in enumerate(body.columns[: j + 1]):
                value = add(_product(halves[j], joint.steps[k]), coupling[j][k])  # Tr(dA_j H dA_k^T)
                _put(M, one, other, value, same=j == k)
            _inwards(joints, body.parent, one, flows[j], M)
        if body.parent >= 0:
            H[body.parent] += joint.A @ beyond  # A H A^T
            if beam is not None:
                H[body.parent] += beam_mass(beam, p)
    return M


def _inwards(joints: list[Motion], i: int, column: Column, flow: Matrix, M: Matrix) -> None:
    """Tr(dT/dc H dT/dd^T) for the columns d of body i and below; ``flow`` = integral of mu (drho/dc) rho^T in its axes."""
    while i >= 0:
        joint = joints[i]
        turned = joint.A @ flow  # the velocities in the parent's axes
        for step, other in zip(joint.steps, joint.body.columns, strict=True):
            _put(M, column, other, _product(turned, step), same=False)
        i = joint.body.parent
        if i >= 0:
            flow = turned @ joint.A.T  # the places as well


def _put(M: Matrix, one: Column, other: Column, value: Scalar, same: bool) -> None:
    value = mul(one.ratio * other.ratio, value)
    M[one.iv][other.iv] = add(M[one.iv][other.iv], value)
    if one.iv != other.iv:
        M[other.iv][one.iv] = M[one.iv][other.iv]
    elif not same:  # joints tied by mimic: both orders of the pair are on the diagonal
        M[one.iv][one.iv] = add(M[one.iv][one.iv], value)


def _coupling(beam: Beam, P: Matrix) -> Matrix:
    """Of the beam itself: Tr of the integral of mu [phi_j; 0] [phi_k; 0]^T, and the sections' turning."""
    result = Matrix(beam.spins.tolist())
    for a, row in enumerate(P):
        for b, other in enumerate(P):
            C3 = float(beam.G[a, b].trace())
            for j in range(beam.m):
                for k in range(beam.m):
                    result[j][k] = add(result[j][k], mul(mul(row[j], other[k]), C3))
    return result


# the right-hand side ------------------------------------------------------------------------------------


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv) of M a + h = tau."""
    return _forces(model, q, v, gravity, strained=True)


def gravity_force(model: Model, q: Scalars, gravity: Scalars) -> Vector:
    """The part of h that gravity makes: without strain."""
    return _forces(model, q, [0.0] * model.nv, gravity, strained=False)


def _forces(model: Model, q: Scalars, v: Scalars, gravity: Scalars, strained: bool) -> Vector:
    joints = motions(model, q, v)
    # V = T^-1 T' and G = T^-1 T'', the ground falling upwards: G_i = A^-1 (G_p A + 2 V_p A' + A'')
    ground = Matrix.zeros(4, 4), Matrix.bordered(Matrix.zeros(3, 3), -Vector(gravity), 0.0)
    rates: list[tuple[Matrix, Matrix]] = []
    for joint in joints:
        V, G = ground if joint.body.parent < 0 else rates[joint.body.parent]
        back = _inverse(joint.A)
        speed = V @ joint.A + joint.first
        rise = G @ joint.A + 2.0 * (V @ joint.first) + joint.second
        rates.append((back @ speed, back @ rise))
    Z = [G @ rigid_mass(joint.body) for joint, (_, G) in zip(joints, rates, strict=True)]
    h = Vector.zeros(model.nv)
    for i in range(len(joints) - 1, -1, -1):
        joint = joints[i]
        body, beam = joint.body, joint.body.beam
        turned = joint.A @ Z[i]
        for step, column in zip(joint.steps, body.columns, strict=True):
            h[column.iv] += column.ratio * _product(turned, step)
        if body.parent >= 0:
            Z[body.parent] += turned @ joint.A.T
        if beam is None:
            continue
        V, G = ground if body.parent < 0 else rates[body.parent]
        own, each = _beam_forces(beam, V, G, _delta(body, q), _rates(body, v), strained)
        for column, value in zip(body.columns, each, strict=True):
            h[column.iv] += value
        if body.parent >= 0:
            Z[body.parent] += own
    return h


def _beam_forces(beam: Beam, V: Matrix, G: Matrix, delta: Vector, rate: Vector, strained: bool) -> tuple[Matrix, Vector]:
    """Z of a beam, the integral of mu (G rho + 2 V rho' + rho'') rho^T, and the force of each of its coordinates."""
    p, P = elastic.amplitudes(beam, delta), elastic.slopes(beam, delta)
    speed, bend = P @ rate, elastic.bends(beam, rate)
    D = momenta(beam, p)
    own = of_coordinates(beam, P, D)
    Z = G @ beam_mass(beam, p) + 2.0 * (V @ _combined(rate, own)) + _combined(bend, D)
    each = Vector()  # of the amplitudes, without G: Tr of the integral of mu (2 V rho' + rho'') [phi_a; 0]^T
    for a in range(len(p)):
        value: Scalar = 0.0
        across = Matrix.zeros(3, 3)
        for b in range(len(p)):
            across += speed[b] * Matrix(beam.G[a, b].tolist())
            value = add(value, mul(bend[b], float(beam.G[a, b].trace())))
        each.append(add(value, 2.0 * _product(V.rotation, across)))
    forces = Vector()
    for j in range(beam.m):
        value = _product(G, own[j]) + P.column(j) @ each
        value = value + Vector(beam.damping[j].tolist()) @ rate
        forces.append(value + Vector(beam.stiffness[j].tolist()) @ delta if strained else value)
    return Z, forces


# small pieces -------------------------------------------------------------------------------------------


def _delta(body: Body, q: Scalars) -> Vector:
    return Vector(q[body.iq : body.iq + len(body.columns)])


def _rates(body: Body, v: Scalars) -> Vector:
    return Vector([v[column.iv] for column in body.columns])


def _combined(factors: Vector, terms: list[Matrix]) -> Matrix:
    """sum_a factors_a terms_a (4x4)."""
    total = Matrix.zeros(4, 4)
    for factor, term in zip(factors, terms, strict=True):
        total += factor * term
    return total


def _symmetric(block: Matrix, column: Vector, last: Scalar) -> Matrix:
    """[block, column; column^T, last]."""
    return Matrix([*([*row, x] for row, x in zip(block, column, strict=True)), [*column, last]])


def _twist(column: Column) -> Matrix:
    if column.kind == "R":
        return Matrix.bordered(column.axis.tilde, Vector.zeros(3), 0.0)
    return Matrix.bordered(Matrix.zeros(3, 3), column.axis, 0.0)


def _second_of(inertia: Matrix) -> Matrix:
    """The second moments of an inertia: tr(I) / 2 - I."""
    half = mul(0.5, inertia.trace())
    return Matrix([[half if i == j else 0.0 for j in range(3)] for i in range(3)]) - inertia


def _inverse(A: Matrix) -> Matrix:
    """[R^T, -R^T r; 0, 1]."""
    R_T = A.rotation.T
    return Matrix.bordered(R_T, -(R_T @ A.translation), 1.0)


def _product(X: Matrix, Y: Matrix) -> Scalar:
    """Tr(X Y^T)."""
    total: Scalar = 0.0
    for x, y in zip(X, Y, strict=True):
        total = add(total, dot(x, y))
    return total
