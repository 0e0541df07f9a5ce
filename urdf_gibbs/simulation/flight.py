"""The flight phase: the equations of motion, free or with held contacts, and one step of DOP853 with its dense output. Compiled.

The state y (nq + nv,) is q and v. Quaternions are normalised in every stage and after every step, so the method integrates on the
manifold and keeps its order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import block, call2, call5, jit
from urdf_gibbs.simulation.dop853 import E3, E5, EXTENDED, POWERS, STAGES, A, C, D
from urdf_gibbs.simulation.friction_work import friction_power
from urdf_gibbs.simulation.held_forces import rough_forces
from urdf_gibbs.simulation.layout import (
    ATOL,
    DENSE,
    DERIVATIVE,
    ERROR,
    LEAST_NORM_PUSH,
    LENGTH,
    NEXT,
    OK,
    PRESENT,
    RTOL,
    SINGULAR,
    STEP,
    WORK,
    State,
    System,
)
from urdf_gibbs.simulation.rows import add_response, free_rows, joint_torques, load_state, select_held, solve

Array = Any


def _sparse(matrix: Array) -> tuple[Array, Array, Array]:
    """For each row of a matrix: the columns of its nonzero entries, these entries, and how many; padded with zeros."""
    rows, weights = np.zeros((len(matrix), EXTENDED), np.int64), np.zeros((len(matrix), EXTENDED))
    counts = np.zeros(len(matrix), np.int64)
    for i, line in enumerate(matrix):
        own = np.flatnonzero(line)
        rows[i, : len(own)], weights[i, : len(own)], counts[i] = own, line[own], len(own)
    return rows, weights, counts


STAGE_ROWS, STAGE_WEIGHTS, STAGE_COUNTS = _sparse(A)
ERROR_ROWS, ERROR_WEIGHTS, ERROR_COUNTS = _sparse(np.array([E5, E3]))
DENSE_ROWS, DENSE_WEIGHTS, DENSE_COUNTS = _sparse(D)


@block(DERIVATIVE, System, State, float, int, int, part="flight")
def derivative(s: System, st: State, t: float, which: int, row: int) -> int:
    """K[row] = dy/dt of a state (PRESENT, NEXT, WORK), which is normalised. Held contacts stay closed; st.force gets their forces."""
    nq = s.q.shape[0]
    y = st.y
    if which == NEXT:
        y = st.new
    elif which == WORK:
        y = st.work
    q, v = y[:nq], y[nq:]
    rate = st.K[row]
    s.evaluations += 1
    if s.q_rate_is_v:
        copy(v, rate[:nq])
    else:
        normalise(s.tree, q)
        velocity_to_rate(s.tree, q, v, rate[:nq])
    a = rate[nq:]
    k = select_held(st, s)
    tau, constants, target = s.tau.ctypes.data, s.constants.ctypes.data, a.ctypes.data
    if k == 0 and s.constant_torque and call5(s.code.forward, y.ctypes.data, v.ctypes.data, tau, constants, target) == 0:
        return OK
    load_state(s, y)
    if k == 0:
        status = joint_torques(s, t)
        if status != OK:
            return status
        if call5(s.code.forward, s.q.ctypes.data, s.v.ctypes.data, tau, constants, target) != 0 and (
            call5(s.code.careful, s.q.ctypes.data, s.v.ctypes.data, tau, constants, target) != 0
        ):
            return SINGULAR
        return OK
    if s.friction.acts:
        s.friction.in_stage = which != PRESENT
        status = rough_forces(s, st, t, k)
        s.friction.in_stage = 0
        copy(s.a, a)
        return status
    status = free_rows(s, t, k)
    if status != OK:
        return status
    for i in range(k):
        s.u[i] = -s.accel[i]
    solve(s, LEAST_NORM_PUSH, k)
    copy(s.a, a)
    for i in range(k):
        lam = s.lam[i]
        st.force[s.selected[i]] = lam
        s.least_force = min(s.least_force, lam)
    add_response(s, k, s.lam, a)
    return OK


@jit
def combine(K: Array, rows: Array, weights: Array, count: int, h: float, out: Array) -> None:
    """out (n,) += h sum of weights times rows of K, eight rows at a time: a loop over so few rows costs more than it does."""
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
    t = st.time
    work = st.new if which == NEXT else st.work
    for i in range(first, last):
        copy(st.y, work)
        combine(st.K, STAGE_ROWS[i], STAGE_WEIGHTS[i], STAGE_COUNTS[i], h, work)
        status = derivative(s, st, t + C[i] * h, which, i)
        if status != OK:
            return status
        st.power[i] = friction_power(s, st)
    return OK


@block(STEP, System, State, float, part="flight")
def step(s: System, st: State, h: float) -> int:
    """One step from y (with K[0] its derivative) to new; K[12] becomes the derivative there, force the contact forces there."""
    st.trial[LENGTH], st.trial[ERROR] = h, -1.0
    if s.code.step and st.held_count == 0 and call2(s.code.step, st.table.ctypes.data, st.trial.ctypes.data) == 0:
        s.evaluations += STAGES
        return OK
    return stages(s, st, h, 1, STAGES + 1, NEXT)


@jit
def error_norm(st: State, h: float) -> float:
    """The error of a step relative to the tolerance (1: just acceptable). Overwrites the last rows of st.K."""
    if st.trial[ERROR] >= 0.0:
        return st.trial[ERROR]
    y, new, K, rtol, atol = st.y, st.new, st.K, st.tolerance[RTOL], st.tolerance[ATOL]
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


@block(DENSE, System, State, float, part="flight")
def dense_coefficients(s: System, st: State, h: float) -> int:
    """Coefficients F (7, n) of the step's interpolant; takes three more evaluations."""
    st.trial[LENGTH] = h
    if s.code.dense and st.held_count == 0 and call2(s.code.dense, st.table.ctypes.data, st.trial.ctypes.data) == 0:
        s.evaluations += EXTENDED - STAGES - 1
        return OK
    status = stages(s, st, h, STAGES + 1, EXTENDED, WORK)  # of held contacts it leaves forces of a stage; ``refresh`` follows every step
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
def dense_state(s: System, st: State, fraction: float) -> None:
    """The interpolated state at this fraction of the step, in st.work."""
    y, F, out = st.y, st.F, st.work
    for m in range(y.shape[0]):
        value = 0.0
        for i in range(POWERS):
            value += F[POWERS - 1 - i, m]
            value *= fraction if i % 2 == 0 else 1.0 - fraction
        out[m] = y[m] + value
    normalise(s.tree, out[: s.q.shape[0]])
