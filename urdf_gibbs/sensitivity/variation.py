"""The variational equation in flight, free or with held contacts, integrated along the motion by DOP853. Compiled.

With X_q, X_v the upper and lower half of X and tau - C v the generalised forces, C being the joints' damping,

    dX_q/dt = X_v - ad_v X_q                              (ad_v: of floating and planar joints, whose v is a twist in their own frame)
    dX_v/dt = a_q X_q + (a_v - M^-1 C) X_v + M^-1 (dtau - Y dpi)

a_q, a_v and M^-1 are the robot's compiled derivatives of forward dynamics, Y(q, v, a) is its torque regressor. Held contacts with rows J
and forces lam keep J a + accel(q, v, t) = 0. Differentiated, with W = M^-1 J^T (J M^-1 J^T)^+ and a_q at the forces tau + J^T lam,

    a_q <- a_q + M^-1 (dJ^T lam),  then   a_x <- a_x - W (J a_x + d(J a + accel)/dx),  x = q, v,   M^-1 <- M^-1 - W J M^-1

so that the same equation holds. q and v are integrated with X, by steps no longer than those of the simulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import call4, call5, entry, jit
from urdf_gibbs.sensitivity.differences import differences_along_q, differences_along_v, keep_rows
from urdf_gibbs.sensitivity.layout import Variation
from urdf_gibbs.simulation.dop853 import STAGES, C
from urdf_gibbs.simulation.flight import ERROR_COUNTS, ERROR_ROWS, ERROR_WEIGHTS, STAGE_COUNTS, STAGE_ROWS, STAGE_WEIGHTS, combine
from urdf_gibbs.simulation.layout import LEAST_NORM, LEAST_NORM_PUSH, NOT_FINITE, OK, SINGULAR, UNDERFLOW, System
from urdf_gibbs.simulation.rows import add_response, free_rows, load_state, solve

Array = Any

SHORTEST = 1e-14  # relative to the time, or to one second: a shorter step makes no progress
SAFETY = 0.9
SMALL = 1e-4  # an entry below which a column counts as zero: of forces that only press held contacts nothing but rounding is left


@jit
def free_motion(s: System, w: Variation) -> int:
    """w.a, w.tau at s.q, s.v without held contacts."""
    for i in range(w.tau.shape[0]):
        w.tau[i] = s.torque[i] - s.damping[i] * s.v[i]
    tau, constants, target = w.tau.ctypes.data, s.constants.ctypes.data, w.a.ctypes.data
    if call5(s.code.forward, s.q.ctypes.data, s.v.ctypes.data, tau, constants, target) != 0 and (
        call5(s.code.careful, s.q.ctypes.data, s.v.ctypes.data, tau, constants, target) != 0
    ):
        return SINGULAR
    return OK


@jit
def held_motion(s: System, w: Variation, t: float, k: int) -> int:
    """w.a, w.tau, w.lam, w.J and w.P = (J M^-1 J^T)^+ at s.q, s.v with the k selected contacts held."""
    status = free_rows(s, t, k)
    if status != OK:
        return status
    keep_rows(s, w, k)
    nv = w.tau.shape[0]
    K = s.K[: k * k].copy()
    for i in range(k):
        s.u[i] = -s.accel[i]
    solve(s, LEAST_NORM_PUSH, k)
    copy(s.lam[:k], w.lam[:k])
    copy(s.a, w.a)
    add_response(s, k, w.lam, w.a)
    for m in range(nv):
        w.tau[m] = s.torque[m] - s.damping[m] * s.v[m]
        for i in range(k):
            w.tau[m] += w.J[i, m] * w.lam[i]
    for j in range(k):
        for i in range(k * k):
            s.K[i] = K[i]
        for i in range(k):
            s.u[i] = 1.0 if i == j else 0.0
        solve(s, LEAST_NORM, k)
        for i in range(k):
            w.P[i, j] = s.lam[i]
    return OK


@jit
def multiply_add(A: Array, B: Array, factor: float, out: Array) -> None:
    """out (n, m) += factor A (n, k) B (k, m)."""
    for i in range(A.shape[0]):
        line = out[i]
        for j in range(B.shape[0]):
            share = factor * A[i, j]
            if share != 0.0:
                row = B[j]
                for c in range(row.shape[0]):
                    line[c] += share * row[c]


@jit
def fill(A: Array, value: float) -> None:
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = value


@jit
def hold(s: System, w: Variation, t: float, k: int) -> None:
    """Change w.D so that the k selected contacts stay closed: of the free acceleration into that with their forces."""
    nv = w.a.shape[0]
    Dq, Dv, Dt = w.D[0], w.D[1], w.D[2]
    copy(s.q, w.q)
    copy(s.v, w.v)
    differences_along_q(s, w, t, k)
    differences_along_v(s, w, t, k)
    for a in range(nv):
        for b in range(nv):
            w.G[a, b] = 0.0
            for i in range(k):
                w.G[a, b] += w.lam[i] * w.DJ[i, a, b]
    multiply_add(Dt, w.G, 1.0, Dq)
    for m in range(nv):  # W = M^-1 J^T P
        for j in range(k):
            w.W[m, j] = 0.0
            for i in range(k):
                share = 0.0
                for b in range(nv):
                    share += Dt[m, b] * w.J[i, b]
                w.W[m, j] += share * w.P[i, j]
    E = np.empty((k, nv))
    for i in range(k):
        for b in range(nv):
            E[i, b] = w.Da[i, b]
            for m in range(nv):
                E[i, b] += w.DJ[i, m, b] * w.a[m]
    multiply_add(w.J[:k], Dq, 1.0, E)
    multiply_add(w.W[:, :k].copy(), E, -1.0, Dq)
    for i in range(k):
        copy(w.Dv[i], E[i])
    multiply_add(w.J[:k], Dv, 1.0, E)
    multiply_add(w.W[:, :k].copy(), E, -1.0, Dv)
    fill(E, 0.0)
    multiply_add(w.J[:k], Dt, 1.0, E)
    multiply_add(w.W[:, :k].copy(), E, -1.0, Dt)


@jit
def turn_tangents(s: System, v: Array, X: Array, dX: Array) -> None:
    """dX_q -= ad_v X_q of the floating and planar joints."""
    tree = s.tree
    for i in range(tree.floating.shape[0]):
        j = tree.floating[i, 1]
        ux, uy, uz, wx, wy, wz = v[j], v[j + 1], v[j + 2], v[j + 3], v[j + 4], v[j + 5]
        for c in range(X.shape[1]):
            lx, ly, lz, ax, ay, az = X[j, c], X[j + 1, c], X[j + 2, c], X[j + 3, c], X[j + 4, c], X[j + 5, c]
            dX[j, c] -= wy * lz - wz * ly + uy * az - uz * ay
            dX[j + 1, c] -= wz * lx - wx * lz + uz * ax - ux * az
            dX[j + 2, c] -= wx * ly - wy * lx + ux * ay - uy * ax
            dX[j + 3, c] -= wy * az - wz * ay
            dX[j + 4, c] -= wz * ax - wx * az
            dX[j + 5, c] -= wx * ay - wy * ax
    for i in range(tree.planar.shape[0]):
        j = tree.planar[i, 1]
        ux, uy, turn = v[j], v[j + 1], v[j + 2]
        for c in range(X.shape[1]):
            lx, ly, angle = X[j, c], X[j + 1, c], X[j + 2, c]
            dX[j, c] += turn * ly - uy * angle
            dX[j + 1, c] -= turn * lx - ux * angle


@jit
def add_sources(w: Variation, dX: Array) -> None:
    """Add what torques and inertial parameters do to the acceleration to dX (nv, m), that of v."""
    nv, Dt = w.a.shape[0], w.D[2]
    if w.torque_column >= 0:
        for i in range(nv):
            for j in range(nv):
                dX[i, w.torque_column + j] += Dt[i, j]
    if w.parameter_column >= 0:
        for i in range(nv):
            for j in range(nv):
                share = Dt[i, j]
                if share != 0.0:
                    for c in range(w.Y.shape[1]):
                        dX[i, w.parameter_column + c] -= share * w.Y[j, c]


@jit
def vary(s: System, w: Variation, t: float, z: Array, rate: Array, k: int) -> int:
    """rate (n + 2 nv m,): dz/dt of z, whose quaternions are normalised, with the k selected contacts held."""
    nq, nv, m = s.q.shape[0], s.v.shape[0], w.columns
    n = nq + nv
    q, v = z[:nq], z[nq:n]
    normalise(s.tree, q)
    velocity_to_rate(s.tree, q, v, rate[:nq])
    load_state(s, z[:n])
    status = free_motion(s, w) if k == 0 else held_motion(s, w, t, k)
    if status != OK:
        return status
    copy(w.a, rate[nq:n])
    if call4(w.derivatives, q.ctypes.data, v.ctypes.data, w.tau.ctypes.data, w.D.ctypes.data) != 0:
        return SINGULAR
    if w.parameter_column >= 0 and call4(w.regressor, q.ctypes.data, v.ctypes.data, w.a.ctypes.data, w.Y.ctypes.data) != 0:
        return SINGULAR
    Dq, Dv, Dt = w.D[0], w.D[1], w.D[2]
    for i in range(nv):
        for j in range(nv):
            Dv[i, j] -= Dt[i, j] * s.damping[j]
    if k > 0:
        hold(s, w, t, k)
    X, dX = z[n:].reshape((2 * nv, m)), rate[n:].reshape((2 * nv, m))
    for i in range(nv):
        copy(X[nv + i], dX[i])
        for c in range(m):
            dX[nv + i, c] = 0.0
    turn_tangents(s, v, X, dX)
    multiply_add(Dq, X[:nv], 1.0, dX[nv:])
    multiply_add(Dv, X[nv:], 1.0, dX[nv:])
    add_sources(w, dX[nv:])
    return OK


@jit
def column_scales(w: Variation, n: int) -> None:
    """w.scale (m,): the largest entry of each column, at either end of the step; at least SMALL."""
    m = w.columns
    for c in range(m):
        w.scale[c] = SMALL
    for i in range(n, w.z.shape[0]):
        c = (i - n) % m
        w.scale[c] = max(w.scale[c], max(abs(w.z[i]), abs(w.new[i])))


@jit
def step_error(w: Variation, h: float, n: int) -> float:
    """The error of a step from w.z to w.new relative to the tolerances: the larger of those of the state and of X."""
    five, three = np.zeros(w.z.shape[0]), np.zeros(w.z.shape[0])
    combine(w.K, ERROR_ROWS[0], ERROR_WEIGHTS[0], ERROR_COUNTS[0], 1.0, five)
    combine(w.K, ERROR_ROWS[1], ERROR_WEIGHTS[1], ERROR_COUNTS[1], 1.0, three)
    column_scales(w, n)
    worst = 0.0
    for half in range(2):
        first, last = (0, n) if half == 0 else (n, w.z.shape[0])
        squares, thirds = 0.0, 0.0
        for i in range(first, last):
            size = w.atol + w.rtol * max(abs(w.z[i]), abs(w.new[i])) if half == 0 else w.tolerance * w.scale[(i - n) % w.columns]
            if size > 0.0:
                squares += (five[i] / size) ** 2
                thirds += (three[i] / size) ** 2
        if squares > 0.0 or thirds > 0.0:
            error = abs(h) * squares / np.sqrt((squares + 0.01 * thirds) * (last - first))
            if not error <= worst:
                worst = error
    return worst


@entry(System, Variation, float, float, int, part="variation")
def cross(s: System, w: Variation, t: float, h: float, k: int) -> int:
    """w.z from time t to t + h, with the k selected contacts held; returns a status."""
    n, done = s.q.shape[0] + s.v.shape[0], 0.0
    status = vary(s, w, t, w.z, w.K[0], k)
    while status == OK and done < h:
        left = h - done
        length = min(w.length, left)
        last = length >= left * (1.0 - 1e-12)
        for i in range(1, STAGES + 1):
            copy(w.z, w.new)
            combine(w.K, STAGE_ROWS[i], STAGE_WEIGHTS[i], STAGE_COUNTS[i], length, w.new)
            status = vary(s, w, t + done + C[i] * length, w.new, w.K[i], k)
            if status != OK:
                break
        error = step_error(w, length, n) if status == OK else np.inf
        factor = SAFETY / np.sqrt(np.sqrt(np.sqrt(max(error, 1e-12)))) if np.isfinite(error) else 0.1
        if error <= 1.0:
            done = h if last else done + length
            copy(w.new, w.z)
            copy(w.K[STAGES], w.K[0])
            if not last or factor < 1.0:
                w.length = length * min(10.0, factor)
            else:
                w.length = max(w.length, length * min(10.0, factor))
            continue
        w.length = length * max(0.1, min(0.9, factor))
        if w.length < SHORTEST * max(1.0, abs(t)):
            return status if status != OK else UNDERFLOW
        status = OK
    for i in range(w.z.shape[0]):
        if not np.isfinite(w.z[i]):
            return NOT_FINITE
    return status


@entry(System, Variation, float, int, part="variation")
def accelerate(s: System, w: Variation, t: float, k: int) -> int:
    """w.a and w.lam at w.q, w.v with the k selected contacts held; returns a status."""
    copy(w.q, s.q)
    copy(w.v, s.v)
    return free_motion(s, w) if k == 0 else held_motion(s, w, t, k)
