"""Time stepping, the second scheme: one contact problem for each step of fixed length, and no events. Compiled.

Moreau and Jean's scheme on the manifold. With h the step, and q + h v the motion with a constant velocity:

    q_m = q + ½h v,    (M + ½h D) (v⁺ - v) = h (tau - bias - D v) + Rᵀ p,    q⁺ = q_m + ½h v⁺

M, the bias and the rows R of the contacts are those of q_m, and the bias is that of a velocity half a step ahead: without contacts the
scheme is of second order. A floating or planar joint goes straight ahead while it turns: its linear velocity is kept in the axes of the
body above, and so its equation of motion has ω × v besides.

The impulses p of a step obey Coulomb's law with the velocities u = R v before, u⁺ after, all contacts together (contact/coulomb):

- a contact that closes may come as near as its wall: u_n⁺ >= -max(gap, 0) / h, so that its gap at the next q_m is zero;
- one that bounces: u_n⁺ >= -e u_n, with Moreau's law -e u in its tangents as well. A bounce shorter than a step is none.

Energy: ½ pᵀ(u + u⁺) is what a contact gives. With e = 0 that is not positive, unless forces turn its velocity around within the step:
then a term of the order h² is left.

What sinks in, because gaps are not linear, comes back: where a gap at q_m is below -DEEP the least motion in the metric of M that closes
it is added to q⁺. Velocities stay as they are. So the depth at q_m is what one step can add, about ½h² times the acceleration of a gap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.problem import impulses
from urdf_gibbs.contact.kinematics import Tree, factorise, normalise, solve_factorised, velocity_to_rate
from urdf_gibbs.contact.names import MOREAU
from urdf_gibbs.engine.jit import block, call2, call3, call4, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.driver import NEGLIGIBLE, call_controller
from urdf_gibbs.simulation.dry_joints import select_joints
from urdf_gibbs.simulation.friction import add_rough_response, clear_friction, hand_back, rough_rows, take_part
from urdf_gibbs.simulation.friction_layout import FREE, SLIDES, SMOOTH, STARTS, STICKS
from urdf_gibbs.simulation.friction_work import add_impulse_work
from urdf_gibbs.simulation.layout import (
    ADVANCE_STEPS,
    CONTROLLER,
    FINISHED,
    GAP,
    GRADIENT,
    JAMMED,
    LCP,
    NOT_FINITE,
    OK,
    PAUSED,
    RATE,
    SINGULAR,
    Record,
    State,
    System,
)
from urdf_gibbs.simulation.record import has_room, write_row
from urdf_gibbs.simulation.resolve import select_closed
from urdf_gibbs.simulation.rows import load_state, solve, update_gaps

Array = Any

DEEP = 1e-8  # m: gaps below minus this are closed again
OVERLAP = 1e-12  # m: a contact that would overlap by less at the next q_m is left out
SOLVED = 1e-6  # certificates above this: once more from zero, then without restitution
USELESS = 1e-2  # certificates above this: there is no solution
MOST_ROUNDS = 10  # of adding contacts that the impulses of others close
STILL = 1e-8  # m/s: what slides slower sticks
REMAINDER = 1e-9  # of a step: a last step shorter than this is part of the one before


# on the manifold --------------------------------------------------------------------------------------


@jit
def turn(q: Array, k: int, x: float, y: float, z: float) -> None:
    """The unit quaternion q[k : k + 4] turned by the rotation vector (x, y, z) in the body's axes."""
    angle = np.sqrt(x * x + y * y + z * z)
    s = np.sin(0.5 * angle) / angle if angle > 1e-4 else 0.5 - angle * angle / 48.0
    c, x, y, z = np.cos(0.5 * angle), s * x, s * y, s * z
    a, b, d, w = q[k], q[k + 1], q[k + 2], q[k + 3]
    q[k] = w * x + a * c + b * z - d * y
    q[k + 1] = w * y - a * z + b * c + d * x
    q[k + 2] = w * z + a * y - b * x + d * c
    q[k + 3] = w * c - a * x - b * y - d * z


@jit
def rotate(q: Array, k: int, sign: float, v: Array, j: int) -> None:
    """v[j : j + 3] turned by the quaternion q[k : k + 4], or with the sign -1 turned back."""
    x, y, z, w = sign * q[k], sign * q[k + 1], sign * q[k + 2], q[k + 3]
    a, b, c = v[j], v[j + 1], v[j + 2]
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    v[j] = a + w * tx + y * tz - z * ty
    v[j + 1] = b + w * ty + z * tx - x * tz
    v[j + 2] = c + w * tz + x * ty - y * tx


@jit
def move(tree: Tree, q: Array, v: Array, h: float) -> None:
    """q (nq,) moves on for h seconds, and v (nv,) comes along: linear velocities stay the same in the axes of the body above."""
    for i in range(tree.single.shape[0]):
        q[tree.single[i, 0]] += h * v[tree.single[i, 1]]
    for i in range(tree.planar.shape[0]):
        k, j = tree.planar[i, 0], tree.planar[i, 1]
        c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
        x, y = c * v[j] - s * v[j + 1], s * v[j] + c * v[j + 1]
        q[k] += h * x
        q[k + 1] += h * y
        q[k + 2] += h * v[j + 2]
        c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
        v[j], v[j + 1] = c * x + s * y, c * y - s * x
    for i in range(tree.floating.shape[0]):
        k, j = tree.floating[i, 0], tree.floating[i, 1]
        rotate(q, k + 3, 1.0, v, j)
        for m in range(3):
            q[k + m] += h * v[j + m]
        turn(q, k + 3, h * v[j + 3], h * v[j + 4], h * v[j + 5])
        rotate(q, k + 3, -1.0, v, j)
    normalise(tree, q)


@jit
def add_turning(tree: Tree, v: Array, a: Array) -> None:
    """a (nv,) += ω × v of the joints whose linear velocity stays the same in the axes of the body above."""
    for i in range(tree.planar.shape[0]):
        j = tree.planar[i, 1]
        a[j] -= v[j + 2] * v[j + 1]
        a[j + 1] += v[j + 2] * v[j]
    for i in range(tree.floating.shape[0]):
        j = tree.floating[i, 1]
        x, y, z = v[j], v[j + 1], v[j + 2]
        a[j] += v[j + 4] * z - v[j + 5] * y
        a[j + 1] += v[j + 5] * x - v[j + 3] * z
        a[j + 2] += v[j + 3] * y - v[j + 4] * x


# a step without contacts ------------------------------------------------------------------------------


@jit
def factorise_damped(s: System, h: float) -> int:
    """M + ½h D of s.q, factorised in s.M."""
    status = call2(s.code.mass, s.q.ctypes.data, s.M.ctypes.data)
    for i in range(s.damping.shape[0]):
        s.M[i, i] += 0.5 * h * s.damping[i]
    return OK if status == 0 and factorise(s.tree.above, s.M) else SINGULAR


@jit
def free_velocity(s: System, h: float, free: Array) -> int:
    """free (nv,): the velocity at the end of the step without contacts; s.q, s.v are those of the middle, with the velocity before."""
    status = factorise_damped(s, h)
    if status != OK:
        return status
    nv, a = s.v.shape[0], s.a
    before = np.empty(nv)
    copy(s.v, before)
    for turns in range(2):  # with the velocity before, then half a step ahead
        for m in range(nv if turns == 1 else 0):
            s.v[m] = before[m] + 0.5 * h * a[m]
        call3(s.code.bias, s.q.ctypes.data, s.v.ctypes.data, s.h.ctypes.data)
        for m in range(nv):
            a[m] = s.torque[m] - s.damping[m] * before[m] - s.h[m]
        solve_factorised(s.tree.above, s.M, a)
        add_turning(s.tree, s.v, a)
    finite = True
    for m in range(nv):
        free[m] = before[m] + h * a[m]
        finite = finite and np.isfinite(free[m])
    copy(before, s.v)
    return OK if finite else NOT_FINITE


# contacts ---------------------------------------------------------------------------------------------


@jit
def add_closing(s: System, st: State, t: float, h: float, v: Array) -> int:
    """Those contacts join st.closed that would be closed at the next q_m with the velocity v (nv,); how many, or minus a status.

    st.new_gaps are those of q_m in st.work.
    """
    nq = s.q.shape[0]
    copy(st.work[:nq], st.new)
    copy(v, st.new[nq:])
    status = update_gaps(s, st, t, 1)
    if status != OK:
        return -status
    added = 0
    for c in range(st.closed.shape[0]):
        gap = st.new_gaps[c]
        if st.closed[c] == 0 and gap[GAP] + h * gap[RATE] < -OVERLAP * gap[GRADIENT]:
            st.closed[c] = 1
            added += 1
    return added


@jit
def set_goals(s: System, st: State, h: float, k: int, bounces: bool) -> None:
    """From s.friction.b, the velocities of the rows without impulses, to those of the contact problem: what u_n⁺ >= ... asks for.

    st.suspects marks the contacts that bounce.
    """
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        before, e = f.U[first], s.contacts.restitution[c]
        st.suspects[c] = 1 if bounces and e > 0.0 and before < 0.0 and -2.0 * e * before > before - f.b[first] else 0
        if st.suspects[c]:
            for row in range(first, f.at[i + 1] if st.law == MOREAU else first + 1):
                f.b[row] += e * f.U[row]
        else:
            f.b[first] += max(s.gap[i], 0.0) / h


@jit
def start_from_last(s: System, st: State, h: float, k: int) -> None:
    """The contact problem starts from the forces of the last step."""
    f, p = s.friction, s.friction.problem.p
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        p[first] = h * st.force[c]
        for row in range(first + 1, f.at[i + 1]):
            p[row] = h * (f.D[row, 0] * f.force[c, 0] + f.D[row, 1] * f.force[c, 1] + f.D[row, 2] * f.force[c, 2])


@jit
def ask(s: System, st: State, r: Record, h: float, k: int, free: Array, bounces: bool, warm: bool) -> float:
    """The impulses s.friction.p of the k selected contacts, whose rows are known; gives the certificate.

    The search starts from the forces of the last step where it is ``warm``, otherwise from zero.
    """
    f, nq = s.friction, s.q.shape[0]
    before = st.work[nq:]
    for row in range(f.at[k]):
        f.b[row] = f.U[row]
        for m in range(free.shape[0]):
            f.b[row] += f.R[row, m] * (free[m] - before[m])
    set_goals(s, st, h, k, bounces)
    for i in range(k):
        f.member[i] = 1
        f.trial[i] = STICKS if r.mode[s.selected[i]] == STICKS else STARTS
    rows = take_part(s, k)
    if warm:
        start_from_last(s, st, h, k)
    certificate = impulses(f.problem)
    hand_back(s, k, rows)
    return certificate


@jit
def solve_contacts(s: System, st: State, r: Record, t: float, h: float, free: Array, v: Array) -> int:
    """v (nv,): the velocity after the step, with the impulses of all contacts that close; minus a status, or how many they are."""
    k = 0
    certificate = 0.0
    s.friction.span = h
    copy(free, v)
    for c in range(st.closed.shape[0]):
        st.closed[c] = 0
        st.suspects[c] = 0
    for turns in range(MOST_ROUNDS):
        added = add_closing(s, st, t, h, v)
        if added < 0:
            return added
        if turns == 0:
            for c in range(st.closed.shape[0]):
                st.deepest = max(st.deepest, -st.new_gaps[c, GAP] / st.new_gaps[c, GRADIENT])
        if added == 0 and (turns > 0 or s.friction.joints == st.closed.shape[0]):
            break
        k = select_joints(s, select_closed(s, st))
        load_state(s, st.work)
        n = rough_rows(s, t, k)
        certificate = ask(s, st, r, h, k, free, True, True)
        if not certificate < SOLVED:
            certificate = ask(s, st, r, h, k, free, True, False)
        if not certificate < SOLVED:
            certificate = ask(s, st, r, h, k, free, False, False)
        if not certificate < USELESS:
            return -NOT_FINITE if np.isnan(certificate) else -JAMMED
        copy(free, v)
        add_rough_response(s, n, s.friction.p, v)
    st.worst_certificate = max(st.worst_certificate, certificate)
    return k


@jit
def close_again(s: System, q: Array, k: int) -> None:
    """q (nq,) moves so that the gaps of the k selected contacts, as they are at q_m, are closed where they are below -DEEP."""
    f, nv = s.friction, s.v.shape[0]
    n, least = f.at[k], 0.0
    while k > 0 and s.selected[k - 1] >= f.joints:
        k -= 1
    for i in range(k):
        least = min(least, s.gap[i])
    if least > -DEEP:
        return
    for i in range(k):
        s.u[i] = s.gap[i]
        for j in range(k):
            s.K[i * k + j] = f.K[f.at[i] * n + f.at[j]]
    if not solve(s, LCP, k) < SOLVED:
        return
    push, shift, rate = np.zeros(n), np.zeros(nv), np.empty(q.shape[0])
    for i in range(k):
        push[f.at[i]] = s.lam[i]
    add_rough_response(s, n, push, shift)
    velocity_to_rate(s.tree, q, shift, rate)
    for m in range(q.shape[0]):
        q[m] += rate[m]
    normalise(s.tree, q)


# the record -------------------------------------------------------------------------------------------


@jit
def how_touched(s: System, st: State, i: int, change: Array) -> int:
    """The mode of contact i of those selected in this step, ``change`` (nv,) being that of the velocity; what bounces is free."""
    f, first = s.friction, s.friction.at[i]
    if s.selected[i] >= f.joints:
        at = s.contacts.index[s.selected[i], 1]
        return SLIDES if abs(s.v[at] + change[at]) > STILL else STICKS
    if not f.p[first] > 0.0 or st.suspects[s.selected[i]]:
        return FREE
    if f.at[i + 1] - first == 1:
        return SMOOTH
    x, y = f.U[first + 1], f.U[first + 2]
    for m in range(change.shape[0]):
        x += f.R[first + 1, m] * change[m]
        y += f.R[first + 2, m] * change[m]
    return SLIDES if np.hypot(x, y) > STILL else STICKS


@jit
def keep_forces(s: System, st: State, r: Record, h: float, k: int, change: Array) -> None:
    """Forces of the step, impulses divided by its length, and changes of mode, which count from its start; see how_touched."""
    f = s.friction
    mode = np.zeros(st.force.shape[0], np.int64)
    clear_friction(s)
    for c in range(st.force.shape[0]):
        st.force[c] = 0.0
        mode[c] = FREE
    bounced = 0
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        st.force[c] = f.p[first] / h
        mode[c] = how_touched(s, st, i, change)
        bounced += 1 if st.suspects[c] and f.p[first] > 0.0 else 0
        for row in range(first + 1, f.at[i + 1]):
            for m in range(3):
                f.force[c, m] += f.p[row] * f.D[row, m] / h
    st.bounces += bounced
    for c in range(st.force.shape[0]):
        if mode[c] != r.mode[c]:
            i = r.phase_changes
            r.mode[c], r.change_contact[i], r.change_mode[i] = mode[c], c, mode[c]
            r.change_time[i], r.change_accumulation[i] = st.time, np.nan
            r.phase_changes = i + 1


@jit
def start_stepping(s: System, st: State, r: Record) -> None:
    """The first row of a run."""
    clear_friction(s)
    rates = st.K[STAGES]
    for m in range(rates.shape[0]):
        rates[m] = 0.0
    write_row(s, r, st, False)


# the run ----------------------------------------------------------------------------------------------


@jit
def ask_controller(s: System, st: State, tiny: float) -> int:
    """The torques of the next step, in s.torque: of a controller with a rate if it is due, of one without in each step."""
    if not s.in_stages:
        return call_controller(s, st, tiny)
    load_state(s, st.y)
    s.time[0] = st.time
    done = call4(s.code.control, s.time.ctypes.data, s.q.ctypes.data, s.v.ctypes.data, s.torque.ctypes.data) == 0
    return OK if done else CONTROLLER


@jit
def one_step(s: System, st: State, r: Record, until: float) -> int:
    """From st.time to ``until``."""
    nq, nv, h = s.q.shape[0], s.v.shape[0], until - st.time
    middle = st.time + 0.5 * h
    free, v = np.empty(nv), np.empty(nv)
    copy(st.y, st.work)
    move(s.tree, st.work[:nq], st.work[nq:], 0.5 * h)
    load_state(s, st.work)
    status = free_velocity(s, h, free)
    if status != OK:
        return status
    k = solve_contacts(s, st, r, middle, h, free, v)
    if k < 0:
        return -k
    for m in range(nv):
        free[m] = v[m] - st.work[nq + m]
    keep_forces(s, st, r, h, k, free)
    add_impulse_work(s, st, k, free)
    copy(st.work[:nq], st.y)
    copy(v, st.y[nq:])
    move(s.tree, st.y[:nq], st.y[nq:], 0.5 * h)
    if k > 0:
        close_again(s, st.y[:nq], k)
    st.time = until
    st.accepted += 1
    write_row(s, r, st, False)
    return OK


@block(ADVANCE_STEPS, System, State, Record, int)
def advance_steps(s: System, st: State, r: Record, steps: int) -> int:
    """Continue until the end of the run, until the record is full or ``steps`` steps have been taken, or until an error."""
    if r.rows == 0 and st.accepted == 0:
        start_stepping(s, st, r)
    length = st.step_length
    for _ in range(steps):
        tiny = NEGLIGIBLE * max(1.0, abs(st.time))
        if st.end - st.time <= tiny:
            return FINISHED
        if not has_room(r, st.gaps.shape[0]):
            return PAUSED
        until = (st.accepted + 1) * length
        status = ask_controller(s, st, REMAINDER * length)
        if status == OK:
            status = one_step(s, st, r, st.end if st.end - until <= REMAINDER * length else until)
        if status != OK:
            return status
    return PAUSED
