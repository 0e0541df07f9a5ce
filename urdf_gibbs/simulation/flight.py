"""The flight phase: the equations of motion, free or with contacts that hold, and one step of DOP853 with its dense output. Compiled.

The state y (nq + nv,) is q and v. Quaternions are normalised in every stage and after every step, so the method integrates on the
manifold and keeps its order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact import complementarity, laws
from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import (
    PAIR,
    WALL,
    Contacts,
    Tree,
    contact_motion,
    contact_row,
    factorise,
    half_solve,
    normalise,
    place,
    screws,
    solve_factorised,
    twists,
    velocity_to_rate,
    wall_motion,
)
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.surfaces import Surfaces, wall_velocity
from urdf_gibbs.engine.jit import block, call2, call3, call4, jit
from urdf_gibbs.engine.struct import Float1, Float2, Int1, Int2, Struct, struct
from urdf_gibbs.simulation.dop853 import E3, E5, EXTENDED, POWERS, STAGES, A, C, D

Array = Any

# What can be the matter; the driver stops at all but OK.
OK, SINGULAR, CONTROLLER, NOT_FINITE, UNDERFLOW, BAD_WALL, JAMMED, CHATTER, NOT_LANDED, CRAWLING = range(10)

# In System.code.
FORWARD, CAREFUL, MASS, BIAS, PLACEMENTS, CONTROL, ELASTIC, POTENTIAL, SWITCHES, SIDES, OWN_STEP, OWN_DENSE, OWN_CONTACTS = range(13)

# Numbers of the blocks.
SOLVE, FACTORS, CONTACT_ROWS, FREE_ROWS, DERIVATIVE, STEP, DENSE, CONTACTS = range(8)
CLOSING, OPENING, IMPACT, SETTLE, PROJECT, STRIKE, LAND, ADVANCE, REPORT, VOUCHED = range(8, 18)

PRESENT, NEXT, WORK = range(3)  # states: y, new, work of State


@struct
class System(Struct):
    """A robot, what it can touch, and room to work in."""

    tree: Tree
    contacts: Contacts
    surfaces: Surfaces
    blocks: Int1
    code: Int1  # (13,) addresses of the robot's machine code, 0 where it has none
    in_stages: Int1  # (1,) whether the controller is called in each stage
    plain: Int1  # (2,) whether nothing but a constant torque acts, which s.tau holds, and whether dq/dt is v
    damping: Float1  # (nv,)
    torque: Float1  # (nv,)
    mass: Float1  # (nb,)
    com: Float2  # (nb, 3)
    gravity: Float1  # (3,)
    rest: Int2  # (k, 2) contacts that the robot's own kernel leaves to their walls, and their rows of moves
    # room to work in
    moves: Float2  # (points, 9)
    tau: Float1  # (nv,)
    b: Float1  # (nv,) accelerations for the second rates of gaps
    q: Float1  # (nq,)
    v: Float1  # (nv,)
    a: Float1  # (nv,)
    h: Float1  # (nv,) bias, or what is left to solve for
    M: Float2  # (nv, nv)
    T: Float2  # (nb, 12)
    S: Float2  # (columns, 6)
    E: Float1  # of elastic joints: their columns in world axes, and what rates alone contribute
    V: Float2  # (nb, 6)
    A: Float2  # (nb, 6)
    x: Float1  # (24,)
    out: Float1  # (7,)
    count: Int1  # (1,) evaluations of the dynamics
    least: Float1  # (1,) the least contact force seen
    time: Float1  # (1,)
    switches: Float1  # (switches,) of the controller: positive until one must be thrown
    # the contacts under consideration, k of them in rows 0 ... k - 1
    which: Int1
    J: Float2  # (contacts, nv)
    B: Float2  # (contacts, nv), B Bᵀ = J M^-1 Jᵀ
    gap: Float1  # [m]
    rate: Float1  # [m/s]
    rise: Float1  # [m/s^2]
    K: Float1  # (contacts^2,) Delassus matrix J M^-1 Jᵀ, k x k
    u: Float1  # right-hand side
    e: Float1  # restitution
    lam: Float1  # forces or impulses
    # for reports
    seen: Float2  # (contacts, 14)
    energies: Float1  # (3,)


@struct
class State(Struct):
    """Where the simulation is."""

    clock: Float1  # (6,) time, proposed step, next call of the controller, times of the last settling, impact and counting of impacts
    count: Int1  # (13,)
    limits: Float1  # (8,) rtol, atol, longest step, tie, zeno, end, rate of the controller, time of a cycle
    choice: Int1  # (2,) law, dense
    trial: Float1  # (2,) length of the last step and its error against the tolerance, -1: not known yet
    table: Int1  # (8,) addresses for the robot's own step
    y: Float1  # (n,)
    new: Float1  # (n,)
    work: Float1  # (n,)
    K: Float2  # (16, n)
    F: Float2  # (7, n)
    gaps: Float2  # (contacts, 5) of y
    after: Float2  # (contacts, 5) of new
    held: Int1  # (contacts,) 1: holds
    force: Float1  # (contacts,) of new
    spare: Float1  # (contacts,)
    how: Int1  # (contacts,)
    suspects: Int1  # (contacts,)
    closed: Int1  # (contacts,)
    ends: Float1  # (contacts,) when bouncing ends
    last: Float1  # (contacts,) when it was struck last
    taken: Float1  # (1,) kinetic energy [J] that ends of cycles and contacts coming to rest have taken
    turning: Float2  # (nb, 6) of bodies: how fast they turn and travel, lever, hub, distance of joints, entry of q of a slide (-1: none)
    extent: Float1  # (3,) the fastest turn and the longest lever of all bodies, the farthest point from its body's origin
    watch: Float1  # (2,) of a controller called in stages: since when, steps tried since


# in State.clock, State.count, State.limits, State.choice
TIME, STRIDE, CALL, SETTLED, STRUCK, COUNTED = range(6)
FRESH, ACCEPTED, REJECTED, IMPACTS, SUSPECTS, TARGET, ROUNDS, HOLDING, AGAIN, STALLS, REPEATS, CYCLE, CYCLES = range(13)
RTOL, ATOL, LONGEST, TIE, ZENO, END, RATE, CYCLE_TIME = range(8)
LAW_CHOSEN, DENSE_WANTED = range(2)


def _sparse(matrix: Array) -> tuple[Array, Array, Array]:
    """Rows that count, their weights and how many, row by row of a matrix, filled up with zeros to a multiple of four."""
    rows, weights = np.zeros((len(matrix), EXTENDED), np.int64), np.zeros((len(matrix), EXTENDED))
    counts = np.zeros(len(matrix), np.int64)
    for i, line in enumerate(matrix):
        own = np.flatnonzero(line)
        rows[i, : len(own)], weights[i, : len(own)], counts[i] = own, line[own], len(own)
    return rows, weights, counts


STAGE_ROWS, STAGE_WEIGHTS, STAGE_COUNTS = _sparse(A)
ERROR_ROWS, ERROR_WEIGHTS, ERROR_COUNTS = _sparse(np.array([E5, E3]))
DENSE_ROWS, DENSE_WEIGHTS, DENSE_COUNTS = _sparse(D)

LCP, LEAST_NORM, PRESS = range(len(LAWS), len(LAWS) + 3)  # asked of ``solve`` beside the impact laws


@block(SOLVE, System, int, int, returns=float)
def solve(s: System, problem: int, k: int) -> float:
    """lam from K and u: by an impact law (u velocities before, e restitutions), 0 <= lam ⟂ K lam + u >= 0, or the shortest K lam = u,
    which may be asked to push where that is possible."""
    K, u, lam = s.K[: k * k].reshape((k, k)), s.u[:k], s.lam[:k]
    if problem == LCP:
        return complementarity.solve(K, u, lam)
    if problem in (LEAST_NORM, PRESS):
        return complementarity.least_norm(K, u, lam, problem == PRESS)
    return laws.impulses(problem, K, u, s.e[:k], lam)


# contacts --------------------------------------------------------------------------------------------


@jit
def place_bodies(s: System) -> None:
    """Placements, screws and twists of all bodies at s.q, s.v and accelerations s.b."""
    call2(s.code[PLACEMENTS], s.q.ctypes.data, s.T.ctypes.data)
    if s.code[ELASTIC]:
        call3(s.code[ELASTIC], s.q.ctypes.data, s.v.ctypes.data, s.E.ctypes.data)
    screws(s)
    twists(s)


@block(FACTORS, System, int)
def mass_factors(s: System, unused: int) -> int:
    """M(s.q), factorised, in s.M."""
    status = call2(s.code[MASS], s.q.ctypes.data, s.M.ctypes.data)
    if status != 0 or not factorise(s.tree.above, s.M):
        return SINGULAR
    return OK


@block(CONTACT_ROWS, System, float, int)
def contact_rows(s: System, t: float, k: int) -> int:
    """Of the first k contacts of s.which at s.q, s.v: gap, rate, rise at zero acceleration, row J of the Jacobian.

    Then, with M factorised in s.M, B with B Bᵀ = J M^-1 Jᵀ = K.
    """
    J, B, K, out, b = s.J, s.B, s.K, s.out, s.b
    for m in range(b.shape[0]):
        b[m] = 0.0
    place_bodies(s)
    for i in range(k):
        contact_motion(s, s.which[i], t)
        contact_row(s, s.which[i], J[i])
        s.gap[i], s.rate[i], s.rise[i] = out[0] / out[3], out[1] / out[3], out[2] / out[3]
        copy(J[i], B[i])
        half_solve(s.tree.above, s.M, B[i])
    for i in range(k):
        for j in range(i + 1):
            value = 0.0
            for m in range(J.shape[1]):
                value += B[i, m] * B[j, m]
            K[i * k + j] = value
            K[j * k + i] = value
    return OK


@jit
def add_response(s: System, k: int, lam: Array, out: Array) -> None:
    """out (nv,) += M^-1 Jᵀ lam of the first k contacts under consideration: what forces or impulses do to the motion."""
    total = s.h
    for m in range(total.shape[0]):
        total[m] = 0.0
    for i in range(k):
        if lam[i] != 0.0:
            for m in range(total.shape[0]):
                total[m] += s.J[i, m] * lam[i]
    solve_factorised(s.tree.above, s.M, total)
    for m in range(total.shape[0]):
        out[m] += total[m]


@jit
def torques(s: System, t: float) -> int:
    """What acts on the joints at s.q, s.v, in s.tau: the torque that is given or asked for, less damping."""
    if s.plain[0]:
        return OK
    tau, torque, damping, v = s.tau, s.torque, s.damping, s.v
    copy(torque, tau)
    if s.in_stages[0]:
        s.time[0] = t
        if call4(s.code[CONTROL], s.time.ctypes.data, s.q.ctypes.data, v.ctypes.data, tau.ctypes.data) != 0:
            return CONTROLLER
    for i in range(tau.shape[0]):
        tau[i] -= damping[i] * v[i]
    return OK


@block(FREE_ROWS, System, float, int)
def free_rows(s: System, t: float, k: int) -> int:
    """contact_rows with M factorised here, and ``rise`` without contact forces; the acceleration for that in s.a."""
    status = torques(s, t)
    if status != OK:
        return status
    status = mass_factors(s, 0)
    if status != OK:
        return status
    call3(s.code[BIAS], s.q.ctypes.data, s.v.ctypes.data, s.h.ctypes.data)
    a, tau, h, J = s.a, s.tau, s.h, s.J
    for i in range(a.shape[0]):
        a[i] = tau[i] - h[i]
    solve_factorised(s.tree.above, s.M, a)
    contact_rows(s, t, k)
    for i in range(k):
        for m in range(a.shape[0]):
            s.rise[i] += J[i, m] * a[m]
    return OK


@jit
def take_state(s: System, y: Array) -> None:
    """s.q, s.v of a state."""
    nq = s.q.shape[0]
    copy(y, s.q)
    copy(y[nq:], s.v)


@jit
def write_gap(s: System, out: Array) -> bool:
    """out (5,) of see_contacts, after contact_motion; whether it is finite."""
    x, own = s.x, s.out
    for k in range(4):
        out[k] = own[k]
        if not np.isfinite(own[k]):
            return False
    out[4] = np.sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5])
    return True


@block(CONTACTS, System, State, float, int)
def see_contacts(s: System, st: State, t: float, after: int) -> int:
    """phi, its first and second rate, |grad phi| and the speed of the point, of all contacts: of y, or of new."""
    nq = s.q.shape[0]
    if after:
        y, a, out = st.new, st.K[STAGES, nq:], st.after
    else:
        y, a, out = st.y, st.K[0, nq:], st.gaps
    if s.code[OWN_CONTACTS]:
        if call4(s.code[OWN_CONTACTS], y.ctypes.data, a.ctypes.data, out.ctypes.data, s.moves.ctypes.data) != 0:
            return BAD_WALL
        for i in range(s.rest.shape[0]):
            c = s.rest[i, 0]
            copy(s.moves[s.rest[i, 1]], s.x[:9])
            wall_motion(s, c, t)
            if not write_gap(s, out[c]):
                return BAD_WALL
        return OK
    take_state(s, y)
    copy(a, s.b)
    place_bodies(s)
    for c in range(out.shape[0]):
        contact_motion(s, c, t)
        if not write_gap(s, out[c]):
            return BAD_WALL
    return OK


@jit
def holding(st: State, s: System) -> int:
    """The contacts that hold, in s.which; how many."""
    k = 0
    if st.count[HOLDING] == 0:
        return k
    for c in range(st.held.shape[0]):
        if st.held[c]:
            s.which[k] = c
            k += 1
    return k


# steps -----------------------------------------------------------------------------------------------


@block(DERIVATIVE, System, State, float, int, int)
def derivative(s: System, st: State, t: float, which: int, row: int) -> int:
    """K[row] = dy/dt of a state (PRESENT, NEXT, WORK), which is normalised. Held contacts stay closed, their forces go to st.force."""
    nq = s.q.shape[0]
    y = st.y
    if which == NEXT:
        y = st.new
    elif which == WORK:
        y = st.work
    q, v = y[:nq], y[nq:]
    rate = st.K[row]
    s.count[0] += 1
    if s.plain[1]:
        copy(v, rate[:nq])
    else:
        normalise(s.tree, q)
        velocity_to_rate(s.tree, q, v, rate[:nq])
    a = rate[nq:]
    k = holding(st, s)
    if k == 0 and s.plain[0] and call4(s.code[FORWARD], y.ctypes.data, v.ctypes.data, s.tau.ctypes.data, a.ctypes.data) == 0:
        return OK
    take_state(s, y)
    if k == 0:
        status = torques(s, t)
        if status != OK:
            return status
        target = a.ctypes.data
        if call4(s.code[FORWARD], s.q.ctypes.data, s.v.ctypes.data, s.tau.ctypes.data, target) != 0 and (
            call4(s.code[CAREFUL], s.q.ctypes.data, s.v.ctypes.data, s.tau.ctypes.data, target) != 0
        ):
            return SINGULAR
        return OK
    status = free_rows(s, t, k)
    if status != OK:
        return status
    for i in range(k):
        s.u[i] = -s.rise[i]
    solve(s, PRESS, k)
    copy(s.a, a)
    for i in range(k):
        lam = s.lam[i]
        st.force[s.which[i]] = lam
        s.least[0] = min(s.least[0], lam)
    add_response(s, k, s.lam, a)
    return OK


@jit
def combine(K: Array, rows: Array, weights: Array, count: int, h: float, out: Array) -> None:
    """out (n,) += h sum of weights times rows of K, up to eight at a time: starting a loop costs more than its few turns."""
    n = out.shape[0]
    for j in range(0, count, 8):
        k0, k1, k2, k3 = K[rows[j]], K[rows[j + 1]], K[rows[j + 2]], K[rows[j + 3]]
        w0, w1, w2, w3 = h * weights[j], h * weights[j + 1], h * weights[j + 2], h * weights[j + 3]
        if count - j <= 4:
            for m in range(n):
                out[m] += (w0 * k0[m] + w1 * k1[m]) + (w2 * k2[m] + w3 * k3[m])
            return
        k4, k5, k6, k7 = K[rows[j + 4]], K[rows[j + 5]], K[rows[j + 6]], K[rows[j + 7]]
        w4, w5, w6, w7 = h * weights[j + 4], h * weights[j + 5], h * weights[j + 6], h * weights[j + 7]
        for m in range(n):
            out[m] += ((w0 * k0[m] + w1 * k1[m]) + (w2 * k2[m] + w3 * k3[m])) + ((w4 * k4[m] + w5 * k5[m]) + (w6 * k6[m] + w7 * k7[m]))


@jit
def stages(s: System, st: State, h: float, first: int, last: int, which: int) -> int:
    """Stages first <= i < last of a step from y, in st.new or st.work: rows of st.K."""
    t = st.clock[TIME]
    work = st.new if which == NEXT else st.work
    for i in range(first, last):
        copy(st.y, work)
        combine(st.K, STAGE_ROWS[i], STAGE_WEIGHTS[i], STAGE_COUNTS[i], h, work)
        status = derivative(s, st, t + C[i] * h, which, i)
        if status != OK:
            return status
    return OK


@block(STEP, System, State, float)
def step(s: System, st: State, h: float) -> int:
    """One step from y (with K[0] its derivative) to new; K[12] becomes the derivative there, force the contact forces there."""
    st.trial[0], st.trial[1] = h, -1.0
    if s.code[OWN_STEP] and st.count[HOLDING] == 0 and call2(s.code[OWN_STEP], st.table.ctypes.data, st.trial.ctypes.data) == 0:
        s.count[0] += STAGES
        return OK
    return stages(s, st, h, 1, STAGES + 1, NEXT)


@jit
def error_norm(st: State, h: float) -> float:
    """The error of a step against its tolerance: 1 is just right. Uses st.work and the last rows of st.K."""
    if st.trial[1] >= 0.0:
        return st.trial[1]
    y, new, K, rtol, atol = st.y, st.new, st.K, st.limits[RTOL], st.limits[ATOL]
    e5, e3 = K[EXTENDED - 1], K[EXTENDED - 2]
    n = y.shape[0]
    for m in range(n):
        e5[m] = 0.0
        e3[m] = 0.0
    combine(K, ERROR_ROWS[0], ERROR_WEIGHTS[0], ERROR_COUNTS[0], 1.0, e5)
    combine(K, ERROR_ROWS[1], ERROR_WEIGHTS[1], ERROR_COUNTS[1], 1.0, e3)
    five, three = 0.0, 0.0
    for m in range(n):
        scale = 1.0 / (atol + rtol * max(abs(y[m]), abs(new[m])))
        five += (e5[m] * scale) ** 2
        three += (e3[m] * scale) ** 2
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(h) * five / np.sqrt((five + 0.01 * three) * n)


@block(DENSE, System, State, float)
def dense_coefficients(s: System, st: State, h: float) -> int:
    """F (7, n) of the step; three more evaluations."""
    st.trial[0] = h
    if s.code[OWN_DENSE] and st.count[HOLDING] == 0 and call2(s.code[OWN_DENSE], st.table.ctypes.data, st.trial.ctypes.data) == 0:
        s.count[0] += EXTENDED - STAGES - 1
        return OK
    for c in range(st.force.shape[0]):
        st.spare[c] = st.force[c]
    status = stages(s, st, h, STAGES + 1, EXTENDED, WORK)
    for c in range(st.force.shape[0]):
        st.force[c] = st.spare[c]
    if status != OK:
        return status
    y, new, K, F = st.y, st.new, st.K, st.F
    for m in range(y.shape[0]):
        change = new[m] - y[m]
        F[0, m] = change
        F[1, m] = h * K[0, m] - change
        F[2, m] = 2.0 * change - h * (K[STAGES, m] + K[0, m])
        for i in range(3, POWERS):
            F[i, m] = 0.0
    for i in range(POWERS - 3):
        combine(K, DENSE_ROWS[i], DENSE_WEIGHTS[i], DENSE_COUNTS[i], h, F[3 + i])
    return OK


@jit
def dense_state(s: System, st: State, where: float) -> None:
    """The state at the fraction ``where`` of the step, in st.work."""
    y, F, out = st.y, st.F, st.work
    for m in range(y.shape[0]):
        value = 0.0
        for i in range(POWERS):
            value += F[POWERS - 1 - i, m]
            value *= where if i % 2 == 0 else 1.0 - where
        out[m] = y[m] + value
    normalise(s.tree, out[: s.q.shape[0]])


# for reports -----------------------------------------------------------------------------------------


@block(REPORT, System, State, float, int)
def report(s: System, st: State, t: float, k: int) -> int:
    """An impact of the first k contacts of s.which from st.y to st.new: s.energies is kinetic before, kinetic after, potential [J].

    s.seen (contacts, 14) holds position and unit normal of each contact, velocity before relative to the wall or the other point, its
    normal part, and these two after.
    """
    out, energy, contacts = s.seen, s.energies, k
    for part in range(2):
        take_state(s, st.new if part else st.y)
        v = s.v
        place_bodies(s)
        for i in range(contacts):
            c, at = s.which[i], 6 + 4 * part
            contact_motion(s, c, t)
            kind = s.contacts.kind[c]
            for k in range(3):
                out[i, k] = s.x[k]
                out[i, 3 + k] = s.out[4 + k]
                out[i, at + k] = s.x[3 + k]
            out[i, at + 3] = s.out[1] / s.out[3]
            if kind == PAIR:
                for k in range(3):
                    out[i, k] -= s.contacts.radius[c] * 0.5 * s.out[4 + k]
                    out[i, at + k] -= s.x[12 + k]
            elif kind == WALL:
                wall = wall_velocity(s.surfaces, s.contacts.surface[c], t)
                for k in range(3):
                    out[i, k] -= s.contacts.radius[c] * s.out[4 + k]
                    out[i, at + k] -= wall[k]
            else:
                for k in range(at + 3):
                    if k < 6 or k >= at:
                        out[i, k] = np.nan
        call2(s.code[MASS], s.q.ctypes.data, s.M.ctypes.data)
        energy[part] = 0.0
        for i in range(v.shape[0]):
            for j in range(v.shape[0]):
                energy[part] += 0.5 * v[i] * s.M[i, j] * v[j]
    energy[2] = 0.0
    if s.code[POTENTIAL]:  # with the strain of elastic links
        call2(s.code[POTENTIAL], s.q.ctypes.data, energy.ctypes.data + 16)
        return OK
    for i in range(s.mass.shape[0]):
        place(s.T, i, s.com[i], s.x[:3])
        for k in range(3):
            energy[2] -= s.mass[i] * s.gravity[k] * s.x[k]
    return OK
