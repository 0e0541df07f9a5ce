"""Contacts with friction: their rows, and Coulomb's law among some of them. Compiled.

A held contact slides, and its force is p_n (n - mu d), d being the direction of its motion, or it sticks, and its force is whatever
keeps it (held_forces.py). Where one of them stops sliding, lets go or is torn off, the accelerations of all contacts together decide what
comes next: Coulomb's law with accelerations in the place of velocities (contact/coulomb).

A contact that begins to slide has no direction yet but that of its acceleration. Its direction, and that of all slow contacts, is found
with the forces (sliding.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.problem import Problem, impulses
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL, SLIDING
from urdf_gibbs.contact.kinematics import DRY, contact_motion, contact_row, half_solve, solve_factorised
from urdf_gibbs.contact.tangents import tangent_rows
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.dry_joints import joint_row
from urdf_gibbs.simulation.friction_layout import KINETIC, SLIDES, STARTS, STATIC, STICKS
from urdf_gibbs.simulation.layout import OK, ROUGH_ROWS, ROUGH_SOLVE, System
from urdf_gibbs.simulation.rows import free_acceleration, update_bodies

Array = Any

STILL = 1e-9  # m/s: what slides slower does not slide
CREEP = 1e-11  # m/s: below this the direction of a velocity is rounding
SOFT = 1e-6  # of the normal mobility of a contact: how soft walls are taken to be
SOLVED = 1e-7  # certificates of contact problems below this are taken


# rows -------------------------------------------------------------------------------------------------


@block(ROUGH_ROWS, System, float, int, part="held")
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
    mobility(s, n)
    return n


@jit
def mobility(s: System, n: int) -> None:
    """B and K = B Bᵀ of the first n rows, with M factorised in s.M."""
    f = s.friction
    columns = np.empty((s.v.shape[0], n))  # of B, as rows: inner loops go along them
    for i in range(n):
        copy(f.R[i], f.B[i])
        half_solve(s.tree.above, s.M, f.B[i])
        for m in range(columns.shape[0]):
            columns[m, i] = f.B[i, m]
    for i in range(n):
        own = f.K[i * n : i * n + i + 1]
        for j in range(i + 1):
            own[j] = 0.0
        for m in range(columns.shape[0]):
            factor, column = f.B[i, m], columns[m]
            if factor != 0.0:
                for j in range(i + 1):
                    own[j] += factor * column[j]
        for j in range(i):
            f.K[j * n + i] = own[j]


@jit
def free_rough_rows(s: System, t: float, k: int) -> int:
    """rough_rows with M factorised here, and rates of velocities as they are without contact forces, whose acceleration is in s.a."""
    status = free_acceleration(s, t)
    if status != OK:
        return status
    a, f = s.a, s.friction
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
def clear_impulses(s: System, k: int) -> None:
    """The k contacts under consideration have no impulses."""
    for m in range(s.friction.at[k]):
        s.friction.p[m] = 0.0


@jit
def guess_impulses(s: System, force: Array, k: int, h: float) -> None:
    """s.friction.p of the k contacts: their impulses over h with forces as they were, normal ones in force (contacts,)."""
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        f.p[first] = h * force[c]
        for row in range(first + 1, f.at[i + 1]):
            f.p[row] = h * (f.force[c, 0] * f.D[row, 0] + f.force[c, 1] * f.D[row, 1] + f.force[c, 2] * f.D[row, 2])


@jit
def take_part(s: System, k: int) -> int:
    """The contact problem of those of the k contacts that are members, in s.friction.problem; gives the number of its rows.

    It starts at the impulses s.friction.p.
    """
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
            problem.b[r], problem.p[r] = f.b[m], f.p[m]
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


@block(ROUGH_SOLVE, System, int, part="friction", returns=float)
def ask_coulomb(s: System, k: int) -> float:
    """Coulomb's law among the k contacts under consideration: forces or impulses in s.friction.p, zero for those that are no members.

    s.friction.trial (k,): SLIDES for one whose direction is known; STICKS for one that may slide in any, by its coefficient at rest;
    STARTS for the same with the coefficient in motion. s.friction.b (n,): velocities or accelerations without
    the contacts. The search starts at the p that are given. Gives the certificate.
    """
    rows = take_part(s, k)
    certificate = impulses(s.friction.problem)
    hand_back(s, k, rows)
    return certificate


@jit
def ask_softly(s: System, k: int) -> float:
    """``ask_coulomb`` with walls that are slightly soft, in all directions: where forces are not unique, that chooses short ones.

    Soft walls are hard to solve from afar: if Newton's method does not do it from the start that is given, walls are hard, if they can be.
    """
    rows, problem = take_part(s, k), s.friction.problem
    soften(problem, rows, 1.0 + SOFT)
    problem.nearby = 1
    certificate = impulses(problem)
    problem.nearby = 0
    if not certificate < SOLVED:
        soften(problem, rows, 1.0 / (1.0 + SOFT))
        certificate = impulses(problem)
    if not certificate < SOLVED:
        soften(problem, rows, 1.0 + SOFT)
        certificate = impulses(problem)
    hand_back(s, k, rows)
    return certificate


@jit
def soften(problem: Problem, rows: int, factor: float) -> None:
    """The mobility of all rows, each alone, becomes larger by a factor."""
    for m in range(rows):
        problem.K[m * (rows + 1)] *= factor


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


@jit
def clear_friction(s: System) -> None:
    """No contact has a tangential force."""
    force = s.friction.force
    for c in range(force.shape[0]):
        for m in range(3):
            force[c, m] = 0.0
