"""Gaps of contacts with their derivatives, rows of the contact Jacobian, and the Delassus matrix J M^-1 J^T. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact import complementarity, laws
from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import (
    contact_motion,
    contact_row,
    factorise,
    half_solve,
    is_capsule,
    screws,
    solve_factorised,
    twists,
    wall_motion,
)
from urdf_gibbs.contact.soil_forces import add_wrenches, move_wheels, soil_forces
from urdf_gibbs.engine.jit import block, call2, call3, call4, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.dry_joints import add_dry_torques
from urdf_gibbs.simulation.layout import (
    BAD_WALL,
    CONTACT_ROWS,
    CONTROLLER,
    FACTORISE_MASS,
    FREE_ROWS,
    LCP,
    LEAST_NORM,
    LEAST_NORM_PUSH,
    OK,
    PARAMETERS,
    SINGULAR,
    SOIL,
    SOLVE,
    UPDATE_GAPS,
    State,
    System,
)

Array = Any


@block(SOLVE, System, int, int, part="rows", returns=float)
def solve(s: System, problem: int, k: int) -> float:
    """s.lam from s.K and s.u; returns the solver's certificate.

    An impact law: u are the velocities before, e the restitutions. LCP: 0 <= lam ⟂ K lam + u >= 0. LEAST_NORM: the shortest solution of
    K lam = u; LEAST_NORM_PUSH: the shortest with lam >= 0 where there is one.
    """
    K, u, lam = s.K[: k * k].reshape((k, k)), s.u[:k], s.lam[:k]
    if problem == LCP:
        return complementarity.solve(K, u, lam)
    if problem in (LEAST_NORM, LEAST_NORM_PUSH):
        return complementarity.least_norm(K, u, lam, problem == LEAST_NORM_PUSH)
    return laws.impulses(problem, K, u, s.e[:k], lam)


@jit
def update_columns(s: System) -> None:
    """Update placements and screws of all bodies for s.q."""
    call2(s.code.placements, s.q.ctypes.data, s.T.ctypes.data)
    if s.code.elastic:
        call3(s.code.elastic, s.q.ctypes.data, s.v.ctypes.data, s.E.ctypes.data)
    screws(s)


@jit
def update_bodies(s: System) -> None:
    """Update placements, screws and twists of all bodies for s.q, s.v and joint accelerations s.b."""
    update_columns(s)
    twists(s)


@block(SOIL, System, float, part="soil")
def soil_torques(s: System, t: float) -> int:
    """s.soil.tau: the generalised forces of the soil under the wheels at s.q, s.v."""
    w = s.soil
    update_bodies(s)
    move_wheels(w, s.T, s.V)
    w.t[0] = t
    soil_forces(w)
    for m in range(w.tau.shape[0]):
        w.tau[m] = 0.0
    add_wrenches(w, s.tree, s.S)
    return OK


@jit
def mass_matrix(s: System) -> int:
    """s.M: the mass matrix at s.q; returns the status of the robot's code."""
    if s.has_parameters:
        return call3(s.code.mass, s.q.ctypes.data, s.constants.ctypes.data + 8 * PARAMETERS, s.M.ctypes.data)
    return call2(s.code.mass, s.q.ctypes.data, s.M.ctypes.data)


@jit
def bias_force(s: System) -> int:
    """s.h: the bias force at s.q, s.v; returns the status of the robot's code."""
    return call4(s.code.bias, s.q.ctypes.data, s.v.ctypes.data, s.constants.ctypes.data, s.h.ctypes.data)


@block(FACTORISE_MASS, System, int, part="rows")
def factorise_mass(s: System, unused: int) -> int:
    """Factorise M(s.q) into s.M."""
    status = mass_matrix(s)
    if status != 0 or not factorise(s.tree.above, s.M):
        return SINGULAR
    return OK


@block(CONTACT_ROWS, System, float, int, part="rows")
def contact_rows(s: System, t: float, k: int) -> int:
    """For the k contacts in s.selected at s.q, s.v: gap, rate, accel at zero joint acceleration, and the row J of the Jacobian.

    With M factorised in s.M, also B with B Bᵀ = J M^-1 Jᵀ = K.
    """
    J, B, K, out, b = s.J, s.B, s.K, s.out, s.b
    for m in range(b.shape[0]):
        b[m] = 0.0
    update_bodies(s)
    for i in range(k):
        contact_motion(s, s.selected[i], t)
        contact_row(s, s.selected[i], J[i])
        s.gap[i], s.rate[i], s.accel[i] = out[0] / out[3], out[1] / out[3], out[2] / out[3]
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
    """out (nv,) += M^-1 Jᵀ lam of the k selected contacts: the effect of forces or impulses on the motion."""
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
def joint_torques(s: System, t: float) -> int:
    """Joint torques at s.q, s.v, in s.tau: the constant torque or the controller's, what soil does to wheels, minus damping and friction
    of joints that slide."""
    if s.constant_torque:
        return OK
    tau, torque, damping, v = s.tau, s.torque, s.damping, s.v
    copy(torque, tau)
    if s.in_stages:
        s.time[0] = t
        if call4(s.code.control, s.time.ctypes.data, s.q.ctypes.data, v.ctypes.data, tau.ctypes.data) != 0:
            return CONTROLLER
    for i in range(tau.shape[0]):
        tau[i] -= damping[i] * v[i]
    if s.soil.body.shape[0] > 0:
        soil_torques(s, t)
        for i in range(tau.shape[0]):
            tau[i] += s.soil.tau[i]
    add_dry_torques(s)
    return OK


@jit
def free_acceleration(s: System, t: float) -> int:
    """s.a: the acceleration without contact forces, M^-1 (τ - h) of s.q, s.v; M is factorised in s.M."""
    status = joint_torques(s, t)
    if status != OK:
        return status
    status = factorise_mass(s, 0)
    if status != OK:
        return status
    bias_force(s)
    a, tau, h = s.a, s.tau, s.h
    for i in range(a.shape[0]):
        a[i] = tau[i] - h[i]
    solve_factorised(s.tree.above, s.M, a)
    return OK


@block(FREE_ROWS, System, float, int, part="rows")
def free_rows(s: System, t: float, k: int) -> int:
    """contact_rows at the free motion: M is factorised, s.a is the acceleration without contact forces, and s.accel includes it."""
    status = free_acceleration(s, t)
    if status != OK:
        return status
    a, J = s.a, s.J
    contact_rows(s, t, k)
    for i in range(k):
        for m in range(a.shape[0]):
            s.accel[i] += J[i, m] * a[m]
    return OK


@jit
def load_state(s: System, y: Array) -> None:
    """Copy a state y into s.q, s.v."""
    nq = s.q.shape[0]
    copy(y, s.q)
    copy(y[nq:], s.v)


@jit
def write_gap(s: System, c: int, out: Array) -> bool:
    """Write the five columns of State.gaps of contact c after contact_motion; returns whether they are finite."""
    x, own = s.x, s.out
    for k in range(4):
        out[k] = own[k]
        if not np.isfinite(own[k]):
            return False
    out[4] = x[24] if s.contacts.rim[c, 3] > 0.0 or is_capsule(s.contacts, c) else np.sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5])
    return True


@block(UPDATE_GAPS, System, State, float, int, part="rows")
def update_gaps(s: System, st: State, t: float, after: int) -> int:
    """Compute st.gaps of all contacts from st.y, or with ``after`` st.new_gaps from st.new."""
    nq = s.q.shape[0]
    if after:
        y, a, out = st.new, st.K[STAGES, nq:], st.new_gaps
    else:
        y, a, out = st.y, st.K[0, nq:], st.gaps
    if s.code.contacts:
        if call4(s.code.contacts, y.ctypes.data, a.ctypes.data, out.ctypes.data, s.moves.ctypes.data) != 0:
            return BAD_WALL
        for i in range(s.remaining.shape[0]):
            c = s.remaining[i, 0]
            copy(s.moves[s.remaining[i, 1]], s.x[:9])
            wall_motion(s, c, t)
            if not write_gap(s, c, out[c]):
                return BAD_WALL
        return OK
    load_state(s, y)
    copy(a, s.b)
    update_bodies(s)
    for c in range(out.shape[0]):
        contact_motion(s, c, t)
        if not write_gap(s, c, out[c]):
            return BAD_WALL
    return OK


@jit
def select_held(st: State, s: System) -> int:
    """Select the held contacts (s.selected); returns how many."""
    k = 0
    if st.held_count == 0:
        return k
    for c in range(st.held.shape[0]):
        if st.held[c]:
            s.selected[k] = c
            k += 1
    return k
