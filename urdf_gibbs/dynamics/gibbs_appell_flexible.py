"""Gibbs-Appell with 3x3 matrices for robots with elastic links (Shafei 2017, S17), over any scalar; for trees, all joints, all bases.

This is another algorithm than the paper's, for the same equations; the paper's own, sum by sum, is shafei2017.py. Everything stands in the
axes of its own body. The sums of Exp. (I)-(III) over the links beyond a joint are collected from the leaves inwards: B0, B3 and B9 + B10 of
all that a joint carries (sigma, psi, xi, gamma, lambda, U and V of Eqs. A.1-A.33 are these three, seen from joint j and turned), so that
each of the terms 1-50 is counted once:

  q-q, terms 1-3         axis . (moment of all beyond, for a unit acceleration of the other joint)
  q-delta, terms 4-10    4-8 what the tip carries, 9 and 10 the beam itself: C1 and alpha
  delta-q, 15-21         15-19 what the tip carries, 20 and 21 the beam itself
  q-X, terms 11, 12      and X-q, 44, 45; delta-X, 37-40; X-delta, 46-49; X-X, 50: the same with the axes of the base
  delta-delta, 22-36     22-26 and 30-32 what both tips carry, 29 C3 of the beam, 27, 28 and 33-36 a beam that the other's tip carries

The right-hand side is that of Eqs. 52-57: S (53) and T (54) of each body at zero accelerations, Q (56) of each coordinate, terms 13, 14,
41-43 and 51 by one sweep inwards. Beyond the paper: the gyroscopic term w x (B10 w), which vanishes in the plane only; the exact rotation
of the tip; elastic rotary inertia and foreshortening where the beam has them; rigid bodies; damping.
"""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics import elastic
from urdf_gibbs.dynamics.elastic import Tip, mixed
from urdf_gibbs.dynamics.model import Body, Model, column_sum, joint_motion
from urdf_gibbs.dynamics.scalar import (
    Matrix,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    madd,
    matmul,
    matvec,
    mul,
    reciprocal,
    scale,
    transposed,
    vadd,
    vsub,
    zeros,
)
from urdf_gibbs.flexible.beam import Beam

REST: Vector = [0.0, 0.0, 0.0]


@dataclass(frozen=True, slots=True)
class Placed:
    """A body against its parent: R turns its axes to the parent's, r is its origin in the parent's axes; ``tip`` of an elastic joint."""

    body: Body
    R: Matrix
    r: Vector
    tip: Tip | None = None

    def up(self, x: Vector) -> Vector:
        return matvec(self.R, x)

    def down(self, x: Vector) -> Vector:
        return matvec(transposed(self.R), x)


def place(model: Model, q: Vector, v: Vector | None = None) -> list[Placed]:
    placed = []
    for body in model.bodies:
        E, offset = [row[:3] for row in body.E[:3]], [row[3] for row in body.E[:3]]
        if body.beam is not None:
            tip = elastic.tip_of(body.beam, own(body, q), None if v is None else rates(body, v))
            placed.append(Placed(body, tip.turn, vadd(offset, tip.shift), tip))
            continue
        R, p = joint_motion(body, q)
        placed.append(Placed(body, matmul(E, R), vadd(offset, matvec(E, p))))
    return placed


def own(body: Body, q: Vector) -> Vector:
    """delta of an elastic joint."""
    assert body.beam is not None
    return list(q[body.iq : body.iq + body.beam.m])


def rates(body: Body, v: Vector) -> Vector:
    """delta' (or delta'') of an elastic joint."""
    return [v[column.iv] for column in body.columns]


# inverse dynamics -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Motion:
    """Of a body, in its axes: angular velocity, angular acceleration, acceleration of the origin (Eqs. 41-46)."""

    omega: Vector
    alpha: Vector
    a: Vector


def bias(model: Model, q: Vector, v: Vector, gravity: Vector) -> Vector:
    """h (nv) of M a + h = tau: minus the right-hand side of Eq. 38."""
    return inverse_dynamics(model, q, v, [0.0] * model.nv, gravity)


def gravity_force(model: Model, q: Vector, gravity: Vector) -> Vector:
    """The part of h that gravity makes: without strain."""
    return inverse_dynamics(model, q, [0.0] * model.nv, [0.0] * model.nv, gravity, strained=False)


def inverse_dynamics(model: Model, q: Vector, v: Vector, a: Vector, gravity: Vector, strained: bool = True) -> Vector:
    """tau = M a + h (nv): Eqs. 35-37, outwards with the motions, inwards with the forces."""
    bodies = place(model, q, v)
    ground = Motion(REST, REST, [-g if type(g) is not float or g != 0.0 else 0.0 for g in gravity])
    motions: list[Motion] = []
    for placed in bodies:
        parent = placed.body.parent
        motions.append(_outwards(placed, ground if parent < 0 else motions[parent], v, a))
    forces: list[tuple[Vector, Vector]] = [_load(placed.body, motion) for placed, motion in zip(bodies, motions, strict=True)]
    tau: Vector = [0.0] * model.nv
    for i in range(len(bodies) - 1, -1, -1):
        placed = bodies[i]
        body, (f, n) = placed.body, forces[i]
        f_up, n_up = placed.up(f), placed.up(n)
        if body.beam is None or placed.tip is None:
            for column in body.columns:
                value = dot(column.axis, n if column.kind == "R" else f)  # 13 and 14, 51 of the base
                tau[column.iv] = add(tau[column.iv], mul(column.ratio, value))
        else:
            motion = ground if body.parent < 0 else motions[body.parent]
            delta, rate, rise = own(body, q), rates(body, v), rates(body, a)
            beam_f, beam_n, Q = _beam_load(body.beam, motion, delta, rate, rise, strained)
            for j, column in enumerate(body.columns):
                value = add(dot(placed.tip.linear[j], f_up), dot(placed.tip.angular[j], n_up))  # 42 and 43
                tau[column.iv] = add(tau[column.iv], add(value, Q[j]))  # 41
        n_up = vadd(n_up, cross(placed.r, f_up))
        if body.beam is not None:
            f_up, n_up = vadd(f_up, beam_f), vadd(n_up, beam_n)
        if body.parent >= 0:
            below = forces[body.parent]
            forces[body.parent] = vadd(below[0], f_up), vadd(below[1], n_up)
    return tau


def _outwards(placed: Placed, above: Motion, v: Vector, a: Vector) -> Motion:
    """Eqs. 43-46: the motion of a body from its parent's."""
    body, r, w = placed.body, placed.r, above.omega
    carried = vadd(above.a, vadd(cross(above.alpha, r), cross(w, cross(w, r))))
    if placed.tip is not None:
        tip, rate, rise = placed.tip, rates(body, v), rates(body, a)
        spin, speed = mixed(rate, tip.angular), mixed(rate, tip.linear)
        spin_up, speed_up = vadd(mixed(rise, tip.angular), tip.turning), vadd(mixed(rise, tip.linear), tip.shifting)
        omega = placed.down(vadd(w, spin))
        alpha = placed.down(vadd(above.alpha, vadd(cross(w, spin), spin_up)))
        return Motion(omega, alpha, placed.down(vadd(carried, vadd(scale(2.0, cross(w, speed)), speed_up))))
    w = placed.down(w)
    spin, speed = column_sum(body, v, "R"), column_sum(body, v, "P")
    alpha = vadd(placed.down(above.alpha), vadd(cross(w, spin), column_sum(body, a, "R")))
    linear = vadd(placed.down(carried), column_sum(body, a, "P"))
    return Motion(vadd(w, spin), alpha, vadd(linear, cross(vadd(scale(2.0, w), spin), speed)))


def _load(body: Body, motion: Motion) -> tuple[Vector, Vector]:
    """Force and moment about the origin that a rigid body's own mass needs."""
    if type(body.mass) is float and body.mass == 0.0 and not any(any(row) for row in body.inertia):
        return list(REST), list(REST)
    w, c = motion.omega, body.com
    f = scale(body.mass, vadd(motion.a, vadd(cross(motion.alpha, c), cross(w, cross(w, c)))))
    n = vadd(matvec(body.inertia, motion.alpha), cross(w, matvec(body.inertia, w)))
    return f, vadd(n, cross(c, f))


def _beam_load(beam: Beam, motion: Motion, delta: Vector, rate: Vector, rise: Vector, strained: bool) -> tuple[Vector, Vector, Vector]:
    """Force and moment (S and T of Eqs. 53, 54, with accelerations) that a beam needs at its body's origin, and Q of each coordinate."""
    w, alpha, a = motion.omega, motion.alpha, motion.a
    p, P = elastic.amplitudes(beam, delta), elastic.slopes(beam, delta)
    moment, inertia = elastic.moments_of(beam, p)
    speed = [dot(row, rate) for row in P]  # p'
    bend = elastic.bends(beam, rate)
    rises = vadd([dot(row, rise) for row in P], bend)  # p''
    C1, G0, G = beam.C1, beam.G0, beam.G
    B1, flow = elastic.combined(rises, C1), elastic.combined(speed, C1)
    # S: B0 r'' + B1 + 2 w x (B2) + w' x moment + w x (w x moment)
    turned = vadd(cross(alpha, moment), cross(w, cross(w, moment)))
    S = vadd(scale(beam.mass, a), vadd(B1, vadd(scale(2.0, cross(w, flow)), turned)))
    # T: moment x r'' + alpha_a p'' + 2 B8 w + (B9 + B10) w' + w x (B9 + B10) w
    alphas = [elastic.vex_of(beam, p, k) for k in range(len(p))]
    T = cross(moment, a)
    for factor, own_alpha in zip(rises, alphas, strict=True):
        T = vadd(T, scale(factor, own_alpha))
    # beta_a (3x3): integral of rho~^T phi_a~ = (rho . phi_a) 1 - phi_a rho^T
    betas = []
    for k in range(len(p)):
        product = G0[k].tolist()
        for b, factor in enumerate(p):
            product = madd(product, [scale(factor, row) for row in G[b, k].tolist()])
        trace = add(add(product[0][0], product[1][1]), product[2][2])
        betas.append([[vsub([trace if i == j else 0.0], [product[j][i]])[0] for j in range(3)] for i in range(3)])
    coriolis: Vector = list(REST)
    for factor, beta in zip(speed, betas, strict=True):
        coriolis = vadd(coriolis, scale(factor, matvec(beta, w)))
    T = vadd(T, vadd(scale(2.0, coriolis), vadd(matvec(inertia, alpha), cross(w, matvec(inertia, w)))))
    spin, spin_up = elastic.combined(rate, beam.spin), elastic.combined(rise, beam.spin)
    T = vadd(T, vadd(spin_up, cross(w, spin)))
    # Q of each amplitude: C1 . r'' + alpha . w' + C3 p'' - 2 w . C4 p' - w . beta w
    C4 = [[elastic.vex(G[k, b]) for b in range(len(p))] for k in range(len(p))]
    C3 = [[float(G[k, b].trace()) for b in range(len(p))] for k in range(len(p))]
    each: Vector = []
    for k in range(len(p)):
        value = add(dot(C1[k].tolist(), a), dot(alphas[k], alpha))
        flow_k: Vector = list(REST)
        for b in range(len(p)):
            value = add(value, mul(C3[k][b], rises[b]))
            flow_k = vadd(flow_k, scale(speed[b], C4[k][b]))
        value = add(value, mul(-2.0, dot(w, flow_k)))
        each.append(add(value, mul(-1.0, dot(w, matvec(betas[k], w)))))
    Q: Vector = []
    for j in range(beam.m):
        value = dot([row[j] for row in P], each)
        value = add(value, dot(beam.spin[j].tolist(), alpha))
        value = add(value, dot(beam.spins[j].tolist(), rise))
        value = add(value, dot(beam.damping[j].tolist(), rate))
        if strained:
            value = add(value, dot(beam.stiffness[j].tolist(), delta))
        Q.append(value)
    return S, T, Q


# the inertia matrix -----------------------------------------------------------------------------------


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """M (nv x nv), full and symmetric: Fig. 8, by what each joint carries."""
    bodies = place(model, q)
    mass: list[Scalar] = [placed.body.mass for placed in bodies]
    moment: list[Vector] = [scale(placed.body.mass, placed.body.com) for placed in bodies]
    inertia: list[Matrix] = [_about_origin(placed.body) for placed in bodies]
    M = zeros(model.nv, model.nv)
    for i in range(len(bodies) - 1, -1, -1):
        placed = bodies[i]
        body = placed.body
        # all beyond, turned to the parent's axes, still about the body's own origin
        h, J = placed.up(moment[i]), _turned(placed.R, inertia[i])
        columns: list[tuple[int, Scalar, Vector, Vector, Vector, Vector]] = []  # iv, ratio, twist, force and moment, in parent axes
        for j, column in enumerate(body.columns):
            if placed.tip is not None:
                angular, linear = placed.tip.angular[j], placed.tip.linear[j]
            elif column.kind == "R":
                angular, linear = placed.up(column.axis), list(REST)
            else:
                angular, linear = list(REST), placed.up(column.axis)
            f = vadd(scale(mass[i], linear), cross(angular, h))
            n = vadd(cross(h, linear), matvec(J, angular))
            columns.append((column.iv, column.ratio, angular, linear, f, n))
        own_beam = elastic.inertia_of(body.beam, own(body, q)) if body.beam is not None else None
        for j, (row, ratio, _, _, f, n) in enumerate(columns):
            for k, (other, other_ratio, angular, linear, _, _) in enumerate(columns[: j + 1]):
                value = add(dot(angular, n), dot(linear, f))  # 1-3 of a joint, 50 of the base, 22-26 and 30-32 of a tip
                if own_beam is not None:
                    value = add(value, own_beam.coupling[j][k])  # 29
                value = mul(mul(ratio, other_ratio), value)
                M[row][other] = add(M[row][other], value)
                if row != other:
                    M[other][row] = add(M[other][row], value)
        for j, (row, ratio, _, _, f, n) in enumerate(columns):
            n = vadd(n, cross(placed.r, f))
            if own_beam is not None:
                f, n = vadd(f, own_beam.linear[j]), vadd(n, own_beam.angular[j])  # C1 and alpha: 9, 10, 34-36, 40, 47
            _to_the_root(bodies, body.parent, row, ratio, f, n, M)
        if body.parent >= 0:
            above = body.parent
            moved_h = vadd(h, scale(mass[i], placed.r))
            shift = _outer_shift(h, placed.r, mass[i])
            mass[above] = add(mass[above], mass[i])
            moment[above] = vadd(moment[above], moved_h)
            inertia[above] = madd(inertia[above], madd(J, shift))
            if own_beam is not None and body.beam is not None:
                mass[above] = add(mass[above], body.beam.mass)
                moment[above] = vadd(moment[above], own_beam.moment)
                inertia[above] = madd(inertia[above], own_beam.inertia)
    return M


def _to_the_root(bodies: list[Placed], i: int, row: int, ratio: Scalar, f: Vector, n: Vector, M: Matrix) -> None:
    """What a force f and a moment n about body i's origin, for a unit acceleration of coordinate ``row``, ask of all joints below it.

    Terms 4-12, 15-21, 27, 28, 33 and 37-49: those between a joint, a tip or the base and what lies further in.
    """
    while i >= 0:
        placed = bodies[i]
        f_up, n_up = placed.up(f), placed.up(n)
        for j, column in enumerate(placed.body.columns):
            if placed.tip is not None:
                value = add(dot(placed.tip.linear[j], f_up), dot(placed.tip.angular[j], n_up))
            else:
                value = dot(column.axis, n if column.kind == "R" else f)
            value = mul(mul(ratio, column.ratio), value)
            M[row][column.iv] = add(M[row][column.iv], value)
            M[column.iv][row] = M[row][column.iv] if row != column.iv else add(M[row][row], value)
        i = placed.body.parent
        if i >= 0:
            f, n = f_up, vadd(n_up, cross(placed.r, f_up))


def _about_origin(body: Body) -> Matrix:
    return madd(body.inertia, _outer_shift(list(REST), body.com, body.mass))


def _outer_shift(h: Vector, r: Vector, mass: Scalar) -> Matrix:
    """What the inertia gains by a shift r of the mass with first moment h: m (r.r 1 - r r^T) + (2 h.r 1 - h r^T - r h^T)."""
    shift = zeros(3, 3)
    heavy = scale(mass, r)
    middle = add(dot(heavy, r), mul(2.0, dot(h, r)))
    for i in range(3):
        for j in range(i + 1):
            product = add(mul(add(heavy[i], h[i]), r[j]), mul(r[i], h[j]))
            shift[i][j] = shift[j][i] = vsub([middle if i == j else 0.0], [product])[0]
    return shift


def _turned(R: Matrix, inertia: Matrix) -> Matrix:
    """R I R^T of a symmetric I: each entry is made once."""
    half = matmul(R, inertia)
    result = zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            result[i][j] = result[j][i] = dot(half[i], R[j])
    return result


# forward dynamics, energies ------------------------------------------------------------------------------


def forward_dynamics(model: Model, q: Vector, v: Vector, tau: Vector, gravity: Vector) -> tuple[Vector, Vector]:
    """The accelerations (nv) by M = L D L^T, and the pivots D."""
    M, h = mass_matrix(model, q), bias(model, q, v, gravity)
    return solved(M, vsub(tau, h))


def solved(M: Matrix, right: Vector) -> tuple[Vector, Vector]:
    """x of M x = right, and the pivots of M = L^T D L from the last row up, which keeps the zeros between branches."""
    n = len(right)
    A = [list(row) for row in M]
    x = list(right)
    inverse: Vector = [0.0] * n
    for k in range(n - 1, -1, -1):
        inverse[k] = reciprocal(A[k][k])
        row = list(A[k])
        for i in range(k):
            share = mul(row[i], inverse[k])
            if type(share) is float and share == 0.0:
                continue
            for j in range(i + 1):
                A[i][j] = vsub([A[i][j]], [mul(share, row[j])])[0]
            x[i] = vsub([x[i]], [mul(share, x[k])])[0]
            A[k][i] = share
    for k in range(n):
        x[k] = mul(x[k], inverse[k])
        for i in range(k):
            x[k] = vsub([x[k]], [mul(A[k][i], x[i])])[0]
    return x, [A[k][k] for k in range(n)]


def strain_energy(model: Model, q: Vector) -> Scalar:
    """Eq. 30."""
    total: Scalar = 0.0
    for body in model.bodies:
        if body.beam is not None:
            delta = own(body, q)
            total = add(total, mul(0.5, dot(delta, [dot(row, delta) for row in body.beam.stiffness.tolist()])))
    return total
