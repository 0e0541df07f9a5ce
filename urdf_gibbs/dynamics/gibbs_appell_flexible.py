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
from urdf_gibbs.dynamics.elastic import Tip, combined, mixed
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Body, Column, Model, column_sum, joint_motion
from urdf_gibbs.dynamics.scalar import add, dot, is_zero, mul, reciprocal, scale, sub
from urdf_gibbs.flexible.beam import Beam

REST = Vector.zeros(3)


@dataclass(frozen=True, slots=True)
class Placed:
    """A body against its parent: R turns its axes to the parent's, r is its origin in the parent's axes; ``tip`` of an elastic joint."""

    body: Body
    R: Matrix
    r: Vector
    tip: Tip | None = None


def place(model: Model, q: Scalars, v: Scalars | None = None) -> list[Placed]:
    placed = []
    for body in model.bodies:
        E, offset = body.E.rotation, body.E.translation
        if body.beam is not None:
            tip = elastic.tip_of(body.beam, own(body, q), None if v is None else rates(body, v))
            placed.append(Placed(body, tip.turn, offset + tip.shift, tip))
            continue
        R, p = joint_motion(body, q)
        placed.append(Placed(body, E @ R, offset + E @ p))
    return placed


def own(body: Body, q: Scalars) -> Vector:
    """delta of an elastic joint."""
    assert body.beam is not None
    return Vector(q[body.iq : body.iq + body.beam.m])


def rates(body: Body, v: Scalars) -> Vector:
    """delta' (or delta'') of an elastic joint."""
    return Vector([v[column.iv] for column in body.columns])


# inverse dynamics -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Motion:
    """Of a body, in its axes: angular velocity, angular acceleration, acceleration of the origin (Eqs. 41-46)."""

    omega: Vector
    alpha: Vector
    a: Vector


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv) of M a + h = tau: minus the right-hand side of Eq. 38."""
    return inverse_dynamics(model, q, v, [0.0] * model.nv, gravity)


def gravity_force(model: Model, q: Scalars, gravity: Scalars) -> Vector:
    """The part of h that gravity makes: without strain."""
    return inverse_dynamics(model, q, [0.0] * model.nv, [0.0] * model.nv, gravity, strained=False)


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars, strained: bool = True) -> Vector:
    """tau = M a + h (nv): Eqs. 35-37, outwards with the motions, inwards with the forces."""
    bodies = place(model, q, v)
    ground = Motion(REST, REST, -Vector(gravity))
    motions: list[Motion] = []
    for placed in bodies:
        parent = placed.body.parent
        motions.append(_outwards(placed, ground if parent < 0 else motions[parent], v, a))
    S, T = (list(loads) for loads in zip(*map(_load, bodies, motions), strict=True)) if bodies else ([], [])
    tau = Vector.zeros(model.nv)
    for i in range(len(bodies) - 1, -1, -1):
        placed = bodies[i]
        body, tip = placed.body, placed.tip
        f, n = placed.R @ S[i], placed.R @ T[i]
        if body.beam is None or tip is None:
            for column in body.columns:
                tau[column.iv] += column.ratio * (column.axis @ (T[i] if column.kind == "R" else S[i]))  # 13 and 14, 51 of the base
            n += placed.r.cross(f)
        else:
            motion = ground if body.parent < 0 else motions[body.parent]
            beam_f, beam_n, Q = _beam_load(body.beam, motion, own(body, q), rates(body, v), rates(body, a), strained)
            for j, column in enumerate(body.columns):
                tau[column.iv] += (tip.linear[j] @ f + tip.angular[j] @ n) + Q[j]  # 42 and 43, 41
            n += placed.r.cross(f)
            f, n = f + beam_f, n + beam_n
        if body.parent >= 0:
            S[body.parent] += f
            T[body.parent] += n
    return tau


def _outwards(placed: Placed, above: Motion, v: Scalars, a: Scalars) -> Motion:
    """Eqs. 43-46: the motion of a body from its parent's."""
    body, tip, R_T, r, w = placed.body, placed.tip, placed.R.T, placed.r, above.omega
    carried = above.a + (above.alpha.cross(r) + w.cross(w.cross(r)))
    if tip is not None:
        rate, rise = rates(body, v), rates(body, a)
        spin, speed = mixed(rate, tip.angular), mixed(rate, tip.linear)
        spin_up, speed_up = mixed(rise, tip.angular) + tip.turning, mixed(rise, tip.linear) + tip.shifting
        omega = R_T @ (w + spin)
        alpha = R_T @ (above.alpha + (w.cross(spin) + spin_up))
        return Motion(omega, alpha, R_T @ (carried + (2.0 * w.cross(speed) + speed_up)))
    w = R_T @ w
    spin, speed = column_sum(body, v, "R"), column_sum(body, v, "P")
    alpha = R_T @ above.alpha + (w.cross(spin) + column_sum(body, a, "R"))
    linear = R_T @ carried + column_sum(body, a, "P")
    return Motion(w + spin, alpha, linear + (2.0 * w + spin).cross(speed))


def _load(placed: Placed, motion: Motion) -> tuple[Vector, Vector]:
    """Force and moment about the origin that a rigid body's own mass needs."""
    body = placed.body
    if is_zero(body.mass) and not any(any(row) for row in body.inertia):
        return REST, REST
    w, alpha, c, I = motion.omega, motion.alpha, body.com, body.inertia  # noqa: E741 - its usual name
    f = body.mass * (motion.a + (alpha.cross(c) + w.cross(w.cross(c))))
    n = I @ alpha + w.cross(I @ w)
    return f, n + c.cross(f)


def _beam_load(beam: Beam, motion: Motion, delta: Vector, rate: Vector, rise: Vector, strained: bool) -> tuple[Vector, Vector, Vector]:
    """Force and moment (S and T of Eqs. 53, 54, with accelerations) that a beam needs at its body's origin, and Q of each coordinate."""
    w, alpha, a = motion.omega, motion.alpha, motion.a
    p, P = elastic.amplitudes(beam, delta), elastic.slopes(beam, delta)
    moment, B9 = elastic.moments_of(beam, p)  # B9 + B10
    speed = P @ rate  # p'
    rises = P @ rise + elastic.bends(beam, rate)  # p''
    # S: B0 r'' + B1 + 2 w x (B2) + w' x moment + w x (w x moment)
    B1, flow = combined(rises, beam.C1), combined(speed, beam.C1)
    turned = alpha.cross(moment) + w.cross(w.cross(moment))
    S = beam.mass * a + (B1 + (2.0 * w.cross(flow) + turned))
    # T: moment x r'' + alpha_a p'' + 2 B8 w + (B9 + B10) w' + w x (B9 + B10) w
    alphas = [elastic.vex_of(beam, p, k) for k in range(len(p))]
    T = moment.cross(a)
    for p_ddot, alpha_k in zip(rises, alphas, strict=True):
        T += p_ddot * alpha_k
    betas = [_beta(beam, p, k) for k in range(len(p))]
    coriolis = REST  # B8 w
    for p_dot, beta_k in zip(speed, betas, strict=True):
        coriolis += p_dot * (beta_k @ w)
    T += 2.0 * coriolis + (B9 @ alpha + w.cross(B9 @ w))
    T += combined(rise, beam.spin) + w.cross(combined(rate, beam.spin))  # of the sections that turn
    # Q of each amplitude: C1 . r'' + alpha . w' + C3 p'' - 2 w . C4 p' - w . beta w
    each = Vector()
    for k in range(len(p)):
        value = Vector(beam.C1[k].tolist()) @ a + alphas[k] @ alpha
        C4 = REST
        for b in range(len(p)):
            C3 = float(beam.G[k, b].trace())
            value = add(value, mul(C3, rises[b]))
            C4 += speed[b] * elastic.vex(beam.G[k, b])
        each.append(value - 2.0 * (w @ C4) - w @ (betas[k] @ w))
    Q = Vector()
    for j in range(beam.m):
        value = P.column(j) @ each + dot(beam.spin[j].tolist(), alpha) + dot(beam.spins[j].tolist(), rise)
        value = value + dot(beam.damping[j].tolist(), rate)
        Q.append(value + dot(beam.stiffness[j].tolist(), delta) if strained else value)
    return S, T, Q


def _beta(beam: Beam, p: Vector, k: int) -> Matrix:
    """beta_k (3x3): integral of mu rho~^T phi_k~ = (rho . phi_k) 1 - phi_k rho^T."""
    product = Matrix(beam.G0[k].tolist())
    for b, factor in enumerate(p):
        product += [scale(factor, row) for row in beam.G[b, k].tolist()]
    trace = product.trace()
    return Matrix([[sub(trace if i == j else 0.0, product[j][i]) for j in range(3)] for i in range(3)])


# the inertia matrix -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit acceleration of a coordinate: its twist, and the force and moment that all beyond needs for it, in the parent's axes."""

    column: Column
    angular: Vector
    linear: Vector
    f: Vector
    n: Vector


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv), full and symmetric: Fig. 8, by what each joint carries."""
    bodies = place(model, q)
    mass: list[Scalar] = [placed.body.mass for placed in bodies]
    moment: list[Vector] = [placed.body.mass * placed.body.com for placed in bodies]
    inertia = [_about_origin(placed.body) for placed in bodies]
    M = Matrix.zeros(model.nv, model.nv)
    for i in range(len(bodies) - 1, -1, -1):
        placed = bodies[i]
        body, above, r = placed.body, placed.body.parent, placed.r
        # all beyond, turned to the parent's axes, still about the body's own origin
        h, J = placed.R @ moment[i], _turned(placed.R, inertia[i])
        units = [_unit(placed, j, mass[i], h, J) for j in range(len(body.columns))]
        own_beam = elastic.inertia_of(body.beam, own(body, q)) if body.beam is not None else None
        for j, one in enumerate(units):
            for k, other in enumerate(units[: j + 1]):
                value = other.angular @ one.n + other.linear @ one.f  # 1-3 of a joint, 50 of the base, 22-26 and 30-32 of a tip
                if own_beam is not None:
                    value = value + own_beam.coupling[j][k]  # 29
                _put(M, one.column, other.column, value)
        for j, one in enumerate(units):
            f, n = one.f, one.n + r.cross(one.f)
            if own_beam is not None:
                f, n = f + own_beam.linear[j], n + own_beam.angular[j]  # C1 and alpha: 9, 10, 34-36, 40, 47
            _to_the_root(bodies, above, one.column, f, n, M)
        if above >= 0:
            mass[above] = add(mass[above], mass[i])
            moment[above] += h + mass[i] * r
            inertia[above] += J + _outer_shift(h, r, mass[i])
            if own_beam is not None and body.beam is not None:
                mass[above] = add(mass[above], body.beam.mass)
                moment[above] += own_beam.moment
                inertia[above] += own_beam.inertia
    return M


def _unit(placed: Placed, j: int, mass: Scalar, h: Vector, J: Matrix) -> Unit:
    """Of column j of a joint that carries ``mass``, first moments h and inertia J."""
    column = placed.body.columns[j]
    if placed.tip is not None:
        angular, linear = placed.tip.angular[j], placed.tip.linear[j]
    elif column.kind == "R":
        angular, linear = placed.R @ column.axis, REST
    else:
        angular, linear = REST, placed.R @ column.axis
    return Unit(column, angular, linear, mass * linear + angular.cross(h), h.cross(linear) + J @ angular)


def _put(M: Matrix, one: Column, other: Column, value: Scalar) -> None:
    value = mul(mul(one.ratio, other.ratio), value)
    M[one.iv][other.iv] = add(M[one.iv][other.iv], value)
    if one.iv != other.iv:
        M[other.iv][one.iv] = add(M[other.iv][one.iv], value)


def _to_the_root(bodies: list[Placed], i: int, one: Column, f: Vector, n: Vector, M: Matrix) -> None:
    """What a force f and a moment n about body i's origin, for a unit acceleration of column ``one``, ask of all joints below it.

    Terms 4-12, 15-21, 27, 28, 33 and 37-49: those between a joint, a tip or the base and what lies further in.
    """
    while i >= 0:
        placed = bodies[i]
        tip = placed.tip
        f_up, n_up = placed.R @ f, placed.R @ n
        for j, other in enumerate(placed.body.columns):
            if tip is not None:
                value = tip.linear[j] @ f_up + tip.angular[j] @ n_up
            else:
                value = other.axis @ (n if other.kind == "R" else f)
            value = mul(mul(one.ratio, other.ratio), value)
            M[one.iv][other.iv] = add(M[one.iv][other.iv], value)
            M[other.iv][one.iv] = M[one.iv][other.iv] if one.iv != other.iv else add(M[one.iv][one.iv], value)
        i = placed.body.parent
        if i >= 0:
            f, n = f_up, n_up + placed.r.cross(f_up)


def _about_origin(body: Body) -> Matrix:
    return body.inertia + _outer_shift(REST, body.com, body.mass)


def _outer_shift(h: Vector, r: Vector, mass: Scalar) -> Matrix:
    """What the inertia gains by a shift r of the mass with first moment h: m (r.r 1 - r r^T) + (2 h.r 1 - h r^T - r h^T)."""
    shift = Matrix.zeros(3, 3)
    heavy: Vector = mass * r
    middle = heavy @ r + 2.0 * (h @ r)
    for i in range(3):
        for j in range(i + 1):
            product = add(mul(add(heavy[i], h[i]), r[j]), mul(r[i], h[j]))
            shift[i][j] = shift[j][i] = sub(middle if i == j else 0.0, product)
    return shift


def _turned(R: Matrix, inertia: Matrix) -> Matrix:
    """R I R^T of a symmetric I: each entry is made once."""
    half = R @ inertia
    result = Matrix.zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            result[i][j] = result[j][i] = dot(half[i], R[j])
    return result


# forward dynamics, energies ------------------------------------------------------------------------------


def forward_dynamics(model: Model, q: Scalars, v: Scalars, tau: Scalars, gravity: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The accelerations (nv) by M = L D L^T, and the pivots D."""
    M, h = mass_matrix(model, q), bias(model, q, v, gravity)
    return solved(M, Vector(tau) - h)


def solved(M: list[list[Scalar]], right: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """x of M x = right, and the pivots of M = L^T D L from the last row up, which keeps the zeros between branches."""
    n = len(right)
    A = [list(row) for row in M]
    x = list(right)
    inverse: list[Scalar] = [0.0] * n
    for k in range(n - 1, -1, -1):
        inverse[k] = reciprocal(A[k][k])
        row = list(A[k])
        for i in range(k):
            share = mul(row[i], inverse[k])
            if is_zero(share):
                continue
            for j in range(i + 1):
                A[i][j] = sub(A[i][j], mul(share, row[j]))
            x[i] = sub(x[i], mul(share, x[k]))
            A[k][i] = share
    for k in range(n):
        x[k] = mul(x[k], inverse[k])
        for i in range(k):
            x[k] = sub(x[k], mul(A[k][i], x[i]))
    return x, [A[k][k] for k in range(n)]


def strain_energy(model: Model, q: Scalars) -> Scalar:
    """Eq. 30."""
    total: Scalar = 0.0
    for body in model.bodies:
        if body.beam is not None:
            delta = own(body, q)
            total = add(total, mul(0.5, delta @ (Matrix(body.beam.stiffness.tolist()) @ delta)))
    return total
