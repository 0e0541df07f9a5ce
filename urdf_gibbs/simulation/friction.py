"""Contacts with friction that last: their rows, the forces that keep them, and who sticks or slides. Compiled.

A held contact slides, and its force is p_n (n - mu d), d being the direction of its motion, or it sticks, and its force is whatever
keeps it. Where one of them stops sliding, lets go or is torn off, the accelerations of all contacts together decide what comes next:
Coulomb's law with accelerations in the place of velocities (contact/coulomb).

A contact that begins to slide has no direction yet but that of its acceleration, and while it is slow the direction of its velocity
follows that at a rate that no explicit step could: the slower, the stiffer. So up to START its direction is found with the forces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.problem import impulses, shortest_impulses
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL, SLIDING
from urdf_gibbs.contact.dense import nonzero_range
from urdf_gibbs.contact.kinematics import DRY, contact_motion, contact_row, half_solve, solve_factorised
from urdf_gibbs.contact.shortest import shortest_solution
from urdf_gibbs.contact.tangents import tangent_rows
from urdf_gibbs.engine.jit import block, call3, jit
from urdf_gibbs.simulation.dry_joints import joint_row
from urdf_gibbs.simulation.friction_layout import KINETIC, SLIDES, STARTS, STATIC, STICKS
from urdf_gibbs.simulation.layout import OK, ROUGH_FORCES, ROUGH_OPENING, ROUGH_ROWS, ROUGH_SOLVE, State, System
from urdf_gibbs.simulation.rows import factorise_mass, joint_torques, load_state, select_held, update_bodies

Array = Any

STILL = 1e-9  # m/s: what slides slower does not slide
CREEP = 1e-11  # m/s: below this the direction of a velocity is rounding
OUTSIDE = 1e-11  # of the largest force: a force this far outside of its cone is outside
SOLVED = 1e-7  # certificates of contact problems below this are taken
START = 1e-5  # m/s: what has begun to slide has the direction of its velocity from here on
SOON = 1e-6  # s: a contact that stops sliding sooner stops at the end of the next step


# rows -------------------------------------------------------------------------------------------------


@block(ROUGH_ROWS, System, float, int)
def rough_rows(s: System, t: float, k: int) -> int:
    """Of the first k contacts of s.selected at s.q, s.v: gap, and in s.friction their rows with velocities and rates at zero acceleration.

    Then, with M factorised in s.M, B and K. Gives the number of rows.
    """
    f, out, b = s.friction, s.out, s.b
    for m in range(b.shape[0]):
        b[m] = 0.0
    update_bodies(s)
    n = 0
    for i in range(k):
        c = s.selected[i]
        f.at[i] = n
        if s.contacts.kind[c] == DRY:
            joint_row(s, i, n)
            n += 1
            continue
        contact_motion(s, c, t)
        contact_row(s, c, f.R[n])
        s.gap[i], s.rate[i], s.accel[i] = out[0] / out[3], out[1] / out[3], out[2] / out[3]
        f.U[n], f.W[n] = s.rate[i], s.accel[i]
        f.D[n, 0], f.D[n, 1], f.D[n, 2] = out[4], out[5], out[6]
        n += 1
        if s.contacts.friction[c, STATIC] > 0.0:
            tangent_rows(s, f, c, t, n)
            n += 2
    f.at[k] = n
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        copy(f.R[i], f.B[i])
        half_solve(s.tree.above, s.M, f.B[i])
        low[i], high[i] = nonzero_range(f.B[i])
    for i in range(n):
        for j in range(i + 1):
            value = 0.0
            for m in range(max(low[i], low[j]), min(high[i], high[j])):
                value += f.B[i, m] * f.B[j, m]
            f.K[i * n + j] = value
            f.K[j * n + i] = value
    return n


@jit
def free_rough_rows(s: System, t: float, k: int) -> int:
    """rough_rows with M factorised here, and rates of velocities as they are without contact forces, whose acceleration is in s.a."""
    status = joint_torques(s, t)
    if status != OK:
        return status
    status = factorise_mass(s, 0)
    if status != OK:
        return status
    call3(s.code.bias, s.q.ctypes.data, s.v.ctypes.data, s.h.ctypes.data)
    a, tau, h, f = s.a, s.tau, s.h, s.friction
    for i in range(a.shape[0]):
        a[i] = tau[i] - h[i]
    solve_factorised(s.tree.above, s.M, a)
    n = rough_rows(s, t, k)
    for i in range(n):
        for m in range(a.shape[0]):
            f.W[i] += f.R[i, m] * a[m]
    for i in range(k):
        s.accel[i] = f.W[f.at[i]]
    return OK


@jit
def add_rough_response(s: System, n: int, p: Array, out: Array) -> None:
    """out (nv,) += M^-1 Rᵀ p of the first n rows: what forces or impulses do to the motion."""
    total, R = s.h, s.friction.R
    for m in range(total.shape[0]):
        total[m] = 0.0
    for i in range(n):
        if p[i] != 0.0:
            for m in range(total.shape[0]):
                total[m] += R[i, m] * p[i]
    solve_factorised(s.tree.above, s.M, total)
    for m in range(total.shape[0]):
        out[m] += total[m]


@jit
def direction(s: System, i: int) -> tuple[float, float]:
    """The direction in which contact i of those under consideration slides, in its tangents: that of its velocity.

    Where there is hardly any, or where a stage of a step looks beyond the end of sliding, the direction at the beginning of the step.
    """
    f, c, n = s.friction, s.selected[i], s.friction.at[i]
    x, y = f.U[n + 1], f.U[n + 2]
    a = f.way[c, 0] * f.D[n + 1, 0] + f.way[c, 1] * f.D[n + 1, 1] + f.way[c, 2] * f.D[n + 1, 2]
    b = f.way[c, 0] * f.D[n + 2, 0] + f.way[c, 1] * f.D[n + 2, 1] + f.way[c, 2] * f.D[n + 2, 2]
    speed, size = np.sqrt(x * x + y * y), np.sqrt(a * a + b * b)
    if size == 0.0 or (speed > CREEP and x * a + y * b >= 0.0):
        return (x / speed, y / speed) if speed > 0.0 else (1.0, 0.0)
    return a / size, b / size


# the contact problem over some of the contacts ----------------------------------------------------------


@jit
def take_part(s: System, k: int) -> int:
    """The contact problem of those of the k contacts that are members, in s.friction.problem, all impulses zero; the number of its rows."""
    f, problem = s.friction, s.friction.problem
    n, count, r = f.at[k], 0, 0
    for i in range(k):
        if f.member[i] == 0:
            continue
        c, first, last = s.selected[i], f.at[i], f.at[i + 1]
        rough, j = last - first == 3, count
        problem.at[j] = r
        problem.mu[j] = s.contacts.friction[c, STATIC if f.trial[i] == STICKS else KINETIC]
        problem.kind[j] = FRICTION if rough else JOINT if c >= f.joints else NORMAL
        problem.reach[j] = s.contacts.reach[c] * f.span
        problem.slide[j, 0], problem.slide[j, 1] = 0.0, 0.0
        if rough and f.trial[i] == SLIDES:
            problem.kind[j] = SLIDING
            problem.slide[j, 0], problem.slide[j, 1] = direction(s, i)
        for m in range(first, last):
            f.own[r] = m
            problem.b[r], problem.p[r] = f.b[m], 0.0
            r += 1
        count += 1
    problem.at[count], problem.count = r, count
    for a in range(r):
        for c in range(r):
            problem.K[a * r + c] = f.K[f.own[a] * n + f.own[c]]
    return r


@jit
def hand_back(s: System, k: int, rows: int) -> None:
    """The impulses of the problem to s.friction.p, zero for contacts that take no part."""
    f = s.friction
    for m in range(f.at[k]):
        f.p[m] = 0.0
    for a in range(rows):
        f.p[f.own[a]] = f.problem.p[a]


@block(ROUGH_SOLVE, System, int, returns=float)
def ask_coulomb(s: System, k: int) -> float:
    """Coulomb's law among the k contacts under consideration: forces or impulses in s.friction.p, zero for those that are no members.

    s.friction.trial (k,): SLIDES for one whose direction is given; STICKS for one that is at rest and may slide in any, by its
    coefficient at rest; STARTS for the same with the coefficient in motion. s.friction.b (n,): velocities or accelerations without
    the contacts. Gives the certificate.
    """
    rows = take_part(s, k)
    certificate = impulses(s.friction.problem)
    hand_back(s, k, rows)
    return certificate


@jit
def acceleration(s: System, row: int, n: int) -> float:
    """Of a row, with the forces of all n rows."""
    f = s.friction
    value = f.W[row]
    for j in range(n):
        value += f.K[row * n + j] * f.p[j]
    return value


@jit
def rough_calm(s: System, n: int) -> float:
    """Accelerations below this are zero."""
    largest = 1.0
    for i in range(n):
        largest = max(largest, abs(s.friction.W[i]))
    return 1e-9 * largest


@jit
def fastest_change(s: System, k: int) -> float:
    """How fast the k held contacts, whose forces are known, open or begin to slide, relative to what is calm."""
    f = s.friction
    n, fastest = f.at[k], 0.0
    for i in range(k):
        first = f.at[i]
        if s.selected[i] >= f.joints:
            fastest = max(fastest, abs(acceleration(s, first, n)))
            continue
        fastest = max(fastest, acceleration(s, first, n))
        if f.mode[s.selected[i]] == STICKS:
            fastest = max(fastest, np.hypot(acceleration(s, first + 1, n), acceleration(s, first + 2, n)))
    return fastest / rough_calm(s, n)


# flight with held contacts ------------------------------------------------------------------------------


@jit
def keep_held(s: System, k: int) -> bool:
    """The forces that keep the k held contacts as they are, closed, and at rest where they stick, in s.friction.p: the shortest.

    Whether rows depend on each other, so that other forces would do the same.
    """
    f = s.friction
    n, m = f.at[k], 0
    own, slides, ax, ay, mu = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(k), np.empty(k), np.empty(k)
    for i in range(k):
        mode, first = f.mode[s.selected[i]], f.at[i]
        own[m], slides[m] = first, -1
        if mode == SLIDES:
            slides[m] = i
            ax[i], ay[i] = direction(s, i)
            mu[i] = s.contacts.friction[s.selected[i], KINETIC]
        m += 1
        if mode == STICKS and f.at[i + 1] - first == 3:
            own[m], own[m + 1], slides[m], slides[m + 1] = first + 1, first + 2, -1, -1
            m += 2
    S, c, x = np.empty((m, m)), np.empty(m), np.empty(m)
    for a in range(m):
        row = own[a] * n
        scale = 1.0 / np.sqrt(f.K[row + own[a]]) if f.K[row + own[a]] > 0.0 else 1.0
        c[a] = -scale * f.W[own[a]]
        for b in range(m):
            value, i = f.K[row + own[b]], slides[b]
            if i >= 0:
                value -= mu[i] * (ax[i] * f.K[row + own[b] + 1] + ay[i] * f.K[row + own[b] + 2])
            S[a, b] = scale * value
    rank = shortest_solution(S, c, x)
    for a in range(n):
        f.p[a] = 0.0
    for a in range(m):
        f.p[own[a]] = x[a]
        i = slides[a]
        if i >= 0:
            f.p[own[a] + 1], f.p[own[a] + 2] = -mu[i] * ax[i] * x[a], -mu[i] * ay[i] * x[a]
    return rank < m


@jit
def find_starts(s: System, k: int) -> bool:
    """Whether one of the k held contacts has just begun to slide."""
    found = False
    for i in range(k):
        found = found or s.friction.mode[s.selected[i]] == STARTS
    return found


@jit
def least_margin(s: System, k: int) -> float:
    """How far inside of their cones the forces of the k held contacts are, of the largest force; negative: one is outside, or pulls."""
    f = s.friction
    largest, least = 1e-300, np.inf
    for i in range(f.at[k]):
        largest = max(largest, abs(f.p[i]))
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        normal = f.p[first]
        if c >= f.joints:
            least = min(least, s.contacts.reach[c] - abs(normal))
            continue
        least = min(least, normal)
        if f.mode[c] == STICKS:
            least = min(least, s.contacts.friction[c, STATIC] * normal - np.hypot(f.p[first + 1], f.p[first + 2]))
    return least / largest


@block(ROUGH_FORCES, System, State, float, int)
def rough_forces(s: System, st: State, t: float, k: int) -> int:
    """Accelerations of s.q, s.v with the k held contacts of s.selected, in s.a, and their forces: st.force and s.friction.force.

    Where the shortest forces would have to pull, or leave their cones, others that do the same are asked for; where there are none,
    something must change, and s.least_force becomes negative.
    """
    f = s.friction
    status = free_rough_rows(s, t, k)
    if status != OK:
        return status
    n = f.at[k]
    starts = find_starts(s, k)
    dependent = True if starts else keep_held(s, k)
    margin = -1.0 if starts else least_margin(s, k)
    if starts and by_coulomb(s, k) < np.inf:
        margin = 0.0 if fastest_change(s, k) <= 1.0 else -1.0
    elif dependent and margin < -OUTSIDE:
        kept = np.empty(n)
        copy(f.p, kept)
        if by_coulomb(s, k) <= 1.0:
            margin = 0.0
            shortest_impulses(f.problem)
            hand_back(s, k, f.problem.at[f.problem.count])
        else:
            copy(kept, f.p[:n])
    if margin < -OUTSIDE:
        s.least_force = min(s.least_force, margin)
    add_rough_response(s, n, f.p, s.a)
    take_forces(s, st, k)
    return OK


@jit
def take_forces(s: System, st: State, k: int) -> None:
    """The forces of the k selected contacts, from s.friction.p to st.force and s.friction.force."""
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        st.force[c] = f.p[first]
        for m in range(3):
            f.force[c, m] = 0.0
            for j in range(first + 1, f.at[i + 1]):
                f.force[c, m] += f.p[j] * f.D[j, m]


@jit
def by_coulomb(s: System, k: int) -> float:
    """Forces of the k held contacts by Coulomb's law, in s.friction.p, and how fast one of them changes, relative to what is calm."""
    f = s.friction
    for i in range(k):
        f.member[i] = 1
        f.trial[i] = f.mode[s.selected[i]]
    copy(f.W, f.b)
    if not ask_coulomb(s, k) < SOLVED:
        return np.inf
    return fastest_change(s, k)


@block(ROUGH_OPENING, System, State, float, returns=float)
def rough_opening_rate(s: System, st: State, t: float) -> float:
    """How fast held contacts open or begin to slide in the state st.work, relative to what is calm: above 1 something must change.

    Minus a status where the state has no accelerations.
    """
    k = select_held(st, s)
    load_state(s, st.work)
    status = free_rough_rows(s, t, k)
    if status != OK:
        return -float(status)
    if not find_starts(s, k):
        keep_held(s, k)
        if least_margin(s, k) >= 0.0:
            return 0.0
    return by_coulomb(s, k)


@jit
def outruns_start(s: System, st: State) -> bool:
    """After a step: whether a contact that had just begun to slide is fast at its end, so that its direction is not known in between."""
    f, k = s.friction, select_held(st, s)
    found = False
    for i in range(k):
        first = f.at[i]
        if f.mode[s.selected[i]] == STARTS:
            found = found or np.hypot(f.U[first + 1], f.U[first + 2]) > 4.0 * START
    return found


@jit
def clear_friction(s: System) -> None:
    """No contact has a tangential force."""
    force = s.friction.force
    for c in range(force.shape[0]):
        for m in range(3):
            force[c, m] = 0.0


@jit
def update_sliding(s: System, st: State) -> None:
    """After the derivative of the present state: when each contact that slides would stop, its direction, and whether one has stopped."""
    f, k = s.friction, select_held(st, s)
    n = f.at[k]
    f.stopping = 0
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        f.stop[c] = np.inf
        if f.mode[c] not in (SLIDES, STARTS):
            continue
        x, y = f.U[first + 1], f.U[first + 2]
        speed = np.sqrt(x * x + y * y)
        if f.mode[c] == STARTS:
            ax, ay = acceleration(s, first + 1, n), acceleration(s, first + 2, n)
            if speed <= START and np.sqrt(ax * ax + ay * ay) > rough_calm(s, n):
                continue
            f.mode[c] = SLIDES
        ax, ay = direction(s, i)
        gains = ax * acceleration(s, first + 1, n) + ay * acceleration(s, first + 2, n)
        if speed > STILL:
            for m in range(3):
                f.way[c, m] = (x * f.D[first + 1, m] + y * f.D[first + 2, m]) / speed
        if gains < 0.0:
            f.stop[c] = speed / -gains
            if speed <= STILL:
                f.stopping = 1
    if s.least_force < 0.0:  # something is about to change: the forces are those that Coulomb's law allows
        if not by_coulomb(s, k) < np.inf:
            for m in range(n):
                f.p[m] = 0.0
        take_forces(s, st, k)


@jit
def up_to_stop(s: System, h: float) -> float:
    """The length h of a step, or a shorter one that ends before a contact stops sliding, or where it does if that is soon."""
    f = s.friction
    for c in range(min(f.joints, f.stop.shape[0])):
        if f.mode[c] == SLIDES and f.stop[c] < np.inf:
            h = min(h, f.stop[c] if f.stop[c] < SOON else 0.9 * f.stop[c])
    return h
