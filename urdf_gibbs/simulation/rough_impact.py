"""Impacts with friction, which contacts hold afterwards and how, and the way back to the walls. Compiled; see impact.py for smooth ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact import rough_laws
from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.dense import IMMOVABLE
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.contact.least_norm import least_norm
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.dry_joints import release_or_hold, select_resting_joints
from urdf_gibbs.simulation.friction import (
    SOLVED,
    STILL,
    acceleration,
    add_rough_response,
    ask_coulomb,
    ask_softly,
    clear_impulses,
    free_rough_rows,
    guess_impulses,
    rough_calm,
    rough_rows,
    take_part,
)
from urdf_gibbs.simulation.friction_layout import FREE, KINETIC, SLIDES, SMOOTH, STARTS, STATIC, STICKS
from urdf_gibbs.simulation.impact import CLOSED, NEAR, REST, STUCK, at_rest, end_short_bounces
from urdf_gibbs.simulation.layout import OK, PARADOX, ROUGH_CHOOSE, ROUGH_IMPACT, ROUGH_PARADOX, ROUGH_PROJECT, State, System
from urdf_gibbs.simulation.rows import factorise_mass, load_state, select_held
from urdf_gibbs.simulation.sliding import LAG

Array = Any

SLOWEST = 1e-4  # m/s: contacts that slide slower may be brought to rest at once where there are no forces else
MOST_ROUNDS = 100  # of an impact; half of them with restitution


# impacts ----------------------------------------------------------------------------------------------


@jit
def drop_idle(problem: Problem, n: int) -> None:
    """No impulses in directions in which nothing can move, such as across the plane of a planar robot: any would do."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, problem.K[i * n + i])
    for i in range(n):
        if problem.K[i * n + i] <= IMMOVABLE * largest:
            problem.p[i] = 0.0


@jit
def rough_rounds(s: System, st: State, k: int, e: Array, total: Array) -> float:
    """Rounds of the law until nothing approaches: total (n,) impulses; gives the worst certificate, infinity where there are none."""
    f, problem = s.friction, s.friction.problem
    n, fastest, worst = f.at[k], 0.0, 0.0
    u = f.b
    for i in range(n):
        u[i] = f.U[i]
        total[i] = 0.0
    for i in range(k):
        f.member[i], f.trial[i] = 1, STARTS  # in any direction, by the coefficient in motion
        fastest = max(fastest, -u[f.at[i]])
    clear_impulses(s, k)
    take_part(s, k)
    st.applied_law = st.law
    for turn in range(1, MOST_ROUNDS + 1):
        st.rounds = turn
        law, certificate = rough_laws.impulses(st.law, problem, u, e)
        if law != st.law:
            st.applied_law = law
        if not certificate < np.inf:
            return certificate
        worst = max(worst, certificate)
        slowest = np.inf
        drop_idle(problem, n)
        for i in range(n):
            total[i] += problem.p[i]
            for j in range(n):
                u[i] += problem.K[i * n + j] * problem.p[j]
        for i in range(k):
            slowest = min(slowest, u[f.at[i]])
        if slowest > -REST:
            return worst
        if turn == MOST_ROUNDS // 2:
            for i in range(k):
                e[i] = 0.0
        if certificate > STUCK and turn > 1 and -slowest > STUCK * fastest:
            return np.inf
    return worst


@block(ROUGH_IMPACT, System, State, int, part="friction", returns=float)
def rough_impact(s: System, st: State, k: int) -> float:
    """``impact`` with friction: impulses of all rows stay in s.friction.p, normal ones in s.lam as well."""
    f, nq = s.friction, s.q.shape[0]
    v = st.y[nq:]
    e, normal, after = np.empty(k), np.empty(k), np.empty(v.shape[0])
    for i in range(k):
        e[i] = 0.0 if st.ends_cycle else s.contacts.restitution[s.selected[i]]
        st.bounce_ends[s.selected[i]] = np.nan
    certificate = 0.0
    for _ in range(k + 1):
        load_state(s, st.y)
        if factorise_mass(s, 0) != OK:
            return np.nan
        n = rough_rows(s, st.time, k)
        total = np.empty(n)
        copy(v, after)
        certificate = rough_rounds(s, st, k, e, total)
        if not np.isfinite(certificate):
            return certificate
        add_rough_response(s, n, total, after)
        copy(after, s.v)
        for i in range(k):
            normal[i] = total[f.at[i]]
        copy(total, f.p[:n])
        again = end_short_bounces(s, st, k, e, normal)
        if again < 0:
            return np.nan
        if again == 0:
            break
    copy(after, v)
    for i in range(k):
        s.lam[i] = normal[i]
        s.e[i] = e[i]
    return certificate


@jit
def stuck_rows(s: System, k: int, own: Array) -> int:
    """The rows of those of the k selected contacts that have an impulse and stick; how many, -1 where one has an impulse and slides."""
    f, m = s.friction, 0
    for i in range(k):
        first, last = f.at[i], f.at[i + 1]
        if not f.p[first] > 0.0:
            continue
        most = s.contacts.friction[s.selected[i], KINETIC] * f.p[first]
        if last - first == 3 and np.hypot(f.p[first + 1], f.p[first + 2]) > (1.0 - 1e-6) * most:
            return -1
        for row in range(first, last):
            own[m] = row
            m += 1
    return m


@block(ROUGH_PARADOX, System, State, int, float, part="friction", returns=float)
def impact_without_collision(s: System, st: State, k: int, approach: float) -> float:
    """The impact that resolves Painlevé's paradox among the k selected contacts; changes the velocity in st.y. Returns its certificate.

    Contacts slide whose forces would have to grow beyond all bounds: they stop at once. The impulses are those of an impact in the
    limit of no approach. What a short time without forces would make of the velocities shows which contacts stick; if all of them do,
    their velocities vanish exactly. That time is as long as a change of velocities by ``approach`` of the fastest takes.
    """
    f, nq = s.friction, s.q.shape[0]
    load_state(s, st.y)
    if free_rough_rows(s, st.time, k) != OK:
        return np.nan
    n, fastest, strongest = f.at[k], 0.0, 1e-300
    for i in range(n):
        fastest, strongest = max(fastest, abs(f.U[i])), max(strongest, abs(f.W[i]))
    moment = approach * fastest / strongest  # s: how long they would approach without forces
    for i in range(n):
        f.b[i] = f.U[i] + moment * f.W[i]
    for i in range(k):
        f.member[i] = 1 if abs(s.rate[i]) <= REST and s.gap[i] <= NEAR else 0
        f.trial[i] = STARTS
    clear_impulses(s, k)
    certificate = ask_coulomb(s, k)
    if not certificate < SOLVED:
        return np.inf
    own = np.empty(n, np.int64)
    m = stuck_rows(s, k, own)
    if m == 0:
        return np.inf
    if m > 0:
        solve_rows(s, n, own[:m], f.U, f.p)
    add_rough_response(s, n, f.p, st.y[nq:])
    for i in range(k):
        s.lam[i] = f.p[f.at[i]]
        s.e[i] = 0.0
    return certificate


# what holds -------------------------------------------------------------------------------------------


@jit
def look_at_sliding(s: System, k: int, slow: float) -> None:
    """s.friction.trial of the k contacts, and the way of those that slide, by their velocities. Below the speed ``slow`` they may stop."""
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        f.trial[i] = STICKS if c >= f.joints else SMOOTH
        if f.at[i + 1] - first == 1:
            continue
        x, y = f.U[first + 1], f.U[first + 2]
        speed = np.sqrt(x * x + y * y)
        f.trial[i] = (SLIDES if speed > slow else STARTS) if speed > STILL else STICKS
        if speed > STILL:
            for m in range(3):
                f.way[c, m] = (x * f.D[first + 1, m] + y * f.D[first + 2, m]) / speed


@jit
def begin_to_slide(s: System, k: int) -> bool:
    """Those of the members at rest that their forces do not keep there begin to slide.

    Whether one does whose coefficient becomes another by that.
    """
    f = s.friction
    n, bound, changed = f.at[k], rough_calm(s, f.at[k]), False
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        if f.member[i] == 0 or f.trial[i] != STICKS or c >= f.joints:
            continue
        x, y = acceleration(s, first + 1, n), acceleration(s, first + 2, n)
        size = np.sqrt(x * x + y * y)
        if size > bound:
            f.trial[i] = STARTS
            for m in range(3):
                f.way[c, m] = (x * f.D[first + 1, m] + y * f.D[first + 2, m]) / size
            changed = changed or s.contacts.friction[c, STATIC] != s.contacts.friction[c, KINETIC]
    return changed


@jit
def stop_slow(s: System, k: int) -> None:
    """Slow members that a moment brings to rest stick from now on; their forces are inside of their cones."""
    f = s.friction
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        if f.member[i] and f.trial[i] == STARTS:
            most = s.contacts.friction[c, KINETIC] * f.p[first]
            if np.hypot(f.p[first + 1], f.p[first + 2]) < (1.0 - 1e-9) * most:
                f.trial[i] = STICKS


@jit
def solve_rough_resting(s: System, st: State, k: int, brief: Array) -> float:
    """Coulomb's law for the accelerations of those of the k contacts that are at rest, which become members; gives the certificate.

    As in ``resting`` the set grows until it stays. s.accel of all k is then with these forces.
    """
    f = s.friction
    n, certificate = f.at[k], 0.0
    guess_impulses(s, st.force, k, 1.0)
    for i in range(k):
        f.member[i] = 0
    copy(f.W, f.b)
    for i in range(k):
        if f.trial[i] == STARTS:
            f.b[f.at[i] + 1] += f.U[f.at[i] + 1] / LAG
            f.b[f.at[i] + 2] += f.U[f.at[i] + 2] / LAG
    for _ in range(k + 1):
        grown = False
        for i in range(k):
            resting = s.selected[i] >= f.joints or (at_rest(s.rate[i], s.accel[i], brief[i]) and s.gap[i] <= NEAR)
            if f.member[i] == 0 and resting:
                f.member[i] = 1
                grown = True
        if not grown:
            break
        certificate = ask_coulomb(s, k)
        if not certificate < SOLVED:  # perhaps because rows depend on each other
            clear_impulses(s, k)
            certificate = ask_softly(s, k)
        if not certificate < SOLVED:
            return certificate
        for i in range(k):
            s.accel[i] = acceleration(s, f.at[i], n)
    if begin_to_slide(s, k):
        certificate = ask_coulomb(s, k)
    stop_slow(s, k)
    return certificate


@block(ROUGH_CHOOSE, System, State, int, part="friction")
def choose_rough(s: System, st: State, k: int) -> int:
    """Which of the k closed contacts of s.selected hold, in st.held, and how, in s.friction.mode; and which joints stick or slide.

    PARADOX where no forces would do.
    """
    f = s.friction
    for c in range(st.held.shape[0]):
        st.held[c] = 0
        f.mode[c] = FREE
    k = select_resting_joints(s, st, k)
    if k == 0:
        return OK
    load_state(s, st.y)
    status = free_rough_rows(s, st.time, k)
    if status != OK:
        return status
    brief = np.empty(k)
    for i in range(k):
        c = s.selected[i]
        stays = (st.ends_cycle or st.suspects[c]) and s.contacts.restitution[c] < 1.0
        brief[i] = max(st.zeno, st.cycle) if stays else st.zeno
    look_at_sliding(s, k, STILL)
    free = np.empty(k)
    copy(s.accel, free)
    if not solve_rough_resting(s, st, k, brief) < SOLVED:  # perhaps slow ones stop soon
        copy(free, s.accel[:k])
        look_at_sliding(s, k, SLOWEST)
        if not solve_rough_resting(s, st, k, brief) < SOLVED:  # perhaps without those that are lifted, however briefly
            for i in range(k):
                brief[i] = 0.0
                s.accel[i] = free[i]
            look_at_sliding(s, k, SLOWEST)
            if not solve_rough_resting(s, st, k, brief) < SOLVED:
                return PARADOX
    n = f.at[k]
    bound = rough_calm(s, n)
    for i in range(k):
        if s.selected[i] >= f.joints:
            release_or_hold(s, st, s.selected[i], acceleration(s, f.at[i], n), bound)
        elif f.member[i] and acceleration(s, f.at[i], n) <= bound:
            st.held[s.selected[i]] = 1
            f.mode[s.selected[i]] = f.trial[i]
            f.lag[s.selected[i]] = LAG
    return OK


# back to the walls --------------------------------------------------------------------------------------


@jit
def solve_rows(s: System, n: int, own: Array, b: Array, p: Array) -> float:
    """The shortest impulses p (n,) of the rows ``own`` that take away their velocities b; zero in the others. Returns -½ pᵀb."""
    f, m = s.friction, own.shape[0]
    K, c, x = np.empty((m, m)), np.empty(m), np.empty(m)
    for i in range(m):
        c[i] = -b[own[i]]
        for j in range(m):
            K[i, j] = f.K[own[i] * n + own[j]]
    least_norm(K, c, x, False)
    energy = 0.0
    for i in range(n):
        p[i] = 0.0
    for i in range(m):
        p[own[i]] = x[i]
        energy += 0.5 * x[i] * c[i]
    return energy


@jit
def nearest_motion(s: System, k: int, last: bool, move: Array) -> float:
    """The least motion ``move`` (nv,), in the metric of M, that closes the gaps of the k held contacts, or, where it is the ``last``, stops
    them: their normal velocities, and all where they stick. Returns the kinetic energy that this takes [J]."""
    f = s.friction
    n, m = f.at[k], 0
    own = np.empty(n, np.int64)
    for i in range(k):
        if s.selected[i] >= f.joints and not last:
            continue
        own[m] = f.at[i]
        m += 1
        if last and f.mode[s.selected[i]] == STICKS and f.at[i + 1] - f.at[i] == 3:
            own[m], own[m + 1] = f.at[i] + 1, f.at[i] + 2
            m += 2
    if last:
        copy(f.U, f.b)
    else:
        for i in range(k):
            f.b[f.at[i]] = s.gap[i]
    energy = solve_rows(s, n, own[:m], f.b, f.p)
    for a in range(move.shape[0]):
        move[a] = 0.0
    add_rough_response(s, n, f.p, move)
    return energy


@jit
def displace(s: System, st: State, move: Array) -> None:
    """Displace the positions in st.y by move (nv,)."""
    nq = s.q.shape[0]
    q, rate = st.y[:nq], np.empty(nq)
    velocity_to_rate(s.tree, q, move, rate)
    for m in range(nq):
        q[m] += rate[m]
    normalise(s.tree, q)


@block(ROUGH_PROJECT, System, State, int, part="friction")
def project_rough(s: System, st: State, turns: int) -> int:
    """``project`` with friction: contacts that stick are brought to rest along the wall as well."""
    nq, nv = s.q.shape[0], s.v.shape[0]
    v, move = st.y[nq:], np.empty(nv)
    load_state(s, st.y)
    status = factorise_mass(s, 0)
    if status != OK:
        return status
    k = select_held(st, s)
    for turn in range(turns):
        load_state(s, st.y)
        rough_rows(s, st.time, k)
        widest = 0.0
        for i in range(k):
            widest = max(widest, abs(s.gap[i]))
        last = turn == turns - 1 or widest < CLOSED
        energy = nearest_motion(s, k, last, move)
        if last:
            for m in range(nv):
                v[m] += move[m]
            st.energy_at_rest += energy
            return OK
        displace(s, st, move)
    return OK
