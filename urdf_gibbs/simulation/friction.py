"""Contacts with friction that last: their rows, the forces that keep them, and who sticks or slides. Compiled.

A held contact slides, and its force is p_n (n - mu d), d being the direction of its motion, or it sticks, and its force is whatever
keeps it. Where one of them stops sliding, lets go or is torn off, the accelerations of all contacts together decide what comes next:
Coulomb's law with accelerations in the place of velocities (contact/coulomb).

A contact that begins to slide has no direction yet but that of its acceleration. Its direction, and that of all slow contacts, is found
with the forces (sliding.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.problem import impulses, shortest_impulses
from urdf_gibbs.contact.coulomb.scaled import FRICTION, NORMAL, SLIDING
from urdf_gibbs.contact.kinematics import contact_motion, contact_row, half_solve, solve_factorised
from urdf_gibbs.contact.shortest import shortest_solution
from urdf_gibbs.contact.tangents import tangent_rows
from urdf_gibbs.engine.jit import block, call3, jit
from urdf_gibbs.simulation.friction_layout import KINETIC, SLIDES, STARTS, STATIC, STICKS
from urdf_gibbs.simulation.layout import OK, ROUGH_FORCES, ROUGH_OPENING, ROUGH_ROWS, ROUGH_SOLVE, State, System
from urdf_gibbs.simulation.rows import factorise_mass, joint_torques, load_state, select_held, update_bodies

Array = Any

STILL = 1e-9  # m/s: what slides slower does not slide
CREEP = 1e-11  # m/s: below this the direction of a velocity is rounding
OUTSIDE = 1e-11  # of the largest force: a force this far outside of its cone is outside
SOFT = 1e-6  # of the normal mobility of a contact: how soft walls are taken to be for the directions of slow contacts
SOLVED = 1e-7  # certificates of contact problems below this are taken


# rows -------------------------------------------------------------------------------------------------


@jit
def nonzero_range(x: Array) -> tuple[int, int]:
    """Where the entries of x that are not zero begin and end."""
    low, high = 0, x.shape[0]
    while low < high and x[low] == 0.0:
        low += 1
    while high > low and x[high - 1] == 0.0:
        high -= 1
    return low, high


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
        contact_motion(s, c, t)
        contact_row(s, c, f.R[n])
        s.gap[i], s.rate[i], s.accel[i] = out[0] / out[3], out[1] / out[3], out[2] / out[3]
        f.at[i] = n
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
    """The direction in which contact i of those under consideration slides, in its tangents."""
    ahead, c = s.friction.ahead, s.selected[i]
    return (ahead[c, 0], ahead[c, 1]) if s.friction.mode[c] == STARTS else velocity_direction(s, i)


@jit
def velocity_direction(s: System, i: int) -> tuple[float, float]:
    """The direction of the velocity of contact i of those under consideration, in its tangents.

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
        problem.kind[j] = FRICTION if rough else NORMAL
        problem.reach[j], problem.slide[j, 0], problem.slide[j, 1] = 0.0, 0.0, 0.0
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

    s.friction.trial (k,): SLIDES for one whose direction is known; STICKS for one that may slide in any, by its coefficient at rest;
    STARTS for the same with the coefficient in motion. s.friction.b (n,): velocities or accelerations without
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
        if mode in (SLIDES, STARTS):
            slides[m] = i
            ax[i], ay[i] = direction(s, i)
            mu[i] = s.contacts.friction[s.selected[i], KINETIC]
        m += 1
        if mode == STICKS:
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
def look_ahead(s: System, k: int) -> None:
    """The directions of those of the k held contacts that slide slowly or begin to, in s.friction.ahead.

    Friction opposes the velocity a moment later. Coulomb's law with slightly soft walls: where forces are not unique, which have a say
    in the directions, it chooses short ones that change steadily from one state to the next.
    """
    f, problem = s.friction, s.friction.problem
    slow = False
    copy(f.W, f.b)
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        f.member[i], f.trial[i] = 1, f.mode[c]
        if f.mode[c] == STARTS:
            slow = True
            f.b[first + 1] += f.U[first + 1] / f.lag[c]
            f.b[first + 2] += f.U[first + 2] / f.lag[c]
            f.ahead[c, 0], f.ahead[c, 1] = velocity_direction(s, i)
    if not slow:
        return
    rows = take_part(s, k)
    for j in range(problem.count):
        problem.K[problem.at[j] * (rows + 1)] *= 1.0 + SOFT
    if not impulses(problem) < SOLVED:
        return
    for i in range(k):  # all take part, with all their rows
        c, first = s.selected[i], f.at[i]
        if f.mode[c] == STARTS:
            x, y = problem.p[first + 1], problem.p[first + 2]
            size = np.sqrt(x * x + y * y)
            if size > 0.0:
                f.ahead[c, 0], f.ahead[c, 1] = -x / size, -y / size


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
    look_ahead(s, k)
    dependent = keep_held(s, k)
    margin = least_margin(s, k)
    if dependent and margin < -OUTSIDE:
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
    copy(f.W, f.b)
    for i in range(k):
        mode = f.mode[s.selected[i]]
        f.member[i], f.trial[i] = 1, SLIDES if mode == STARTS else mode
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
    look_ahead(s, k)
    keep_held(s, k)
    return 0.0 if least_margin(s, k) >= 0.0 else by_coulomb(s, k)


@jit
def clear_friction(s: System) -> None:
    """No contact has a tangential force."""
    force = s.friction.force
    for c in range(force.shape[0]):
        for m in range(3):
            force[c, m] = 0.0
