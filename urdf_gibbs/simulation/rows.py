"""Of contacts: their gaps with rates, the rows of their Jacobian and the Delassus matrix J M^-1 J^T. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact import complementarity, laws
from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import contact_motion, contact_row, factorise, half_solve, screws, solve_factorised, twists, wall_motion
from urdf_gibbs.engine.jit import block, call2, call3, call4, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.layout import (
    BAD_WALL,
    CONTACT_ROWS,
    CONTACTS,
    CONTROLLER,
    FACTORS,
    FREE_ROWS,
    LCP,
    LEAST_NORM,
    OK,
    PRESS,
    SINGULAR,
    SOLVE,
    State,
    System,
)

Array = Any


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


@jit
def place_bodies(s: System) -> None:
    """Placements, screws and twists of all bodies at s.q, s.v and accelerations s.b."""
    call2(s.code.placements, s.q.ctypes.data, s.T.ctypes.data)
    if s.code.elastic:
        call3(s.code.elastic, s.q.ctypes.data, s.v.ctypes.data, s.E.ctypes.data)
    screws(s)
    twists(s)


@block(FACTORS, System, int)
def mass_factors(s: System, unused: int) -> int:
    """M(s.q), factorised, in s.M."""
    status = call2(s.code.mass, s.q.ctypes.data, s.M.ctypes.data)
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
    if s.alone:
        return OK
    tau, torque, damping, v = s.tau, s.torque, s.damping, s.v
    copy(torque, tau)
    if s.in_stages:
        s.time[0] = t
        if call4(s.code.control, s.time.ctypes.data, s.q.ctypes.data, v.ctypes.data, tau.ctypes.data) != 0:
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
    call3(s.code.bias, s.q.ctypes.data, s.v.ctypes.data, s.h.ctypes.data)
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
    if s.code.contacts:
        if call4(s.code.contacts, y.ctypes.data, a.ctypes.data, out.ctypes.data, s.moves.ctypes.data) != 0:
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
    if st.holding == 0:
        return k
    for c in range(st.held.shape[0]):
        if st.held[c]:
            s.which[k] = c
            k += 1
    return k
