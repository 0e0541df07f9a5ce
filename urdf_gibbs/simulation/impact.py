"""The impact phase: impulses of the closed contacts by the impact law, and which contacts are held afterwards. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact import laws
from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.events import SINK
from urdf_gibbs.simulation.held_forces import rough_opening_rate
from urdf_gibbs.simulation.layout import CHOOSE_HELD, IMPACT, LCP, LEAST_NORM, OK, OPENING_RATE, PROJECT, RESTING, State, System
from urdf_gibbs.simulation.rows import add_response, contact_rows, factorise_mass, free_rows, load_state, select_held, solve

Array = Any

REST = 1e-9  # m/s: a slower gap is at rest
CALM = 1e-9  # relative to the largest gap acceleration without contact forces: a gap that accelerates less does not open
BRIEF = 1e6  # times CALM, a thousandth of the accelerations: how fast a contact may open at the moment it is released
MAX_ROUNDS = 10_000  # of one impact, before restitution is set to zero; a light body between heavy ones bounces many times
ROUNDS_LIMIT = MAX_ROUNDS + 100
STUCK = 1e-3  # relative to the fastest approach: if more than this remains, the impact has no solution
CLOSED = 1e-14  # m: a gap smaller than this is closed exactly
NEAR = 1e-10  # m: a contact that joined an impact within the tie, but is farther away than this, closes before it is held
NEWTON, EQUALITY = laws.NEWTON, laws.NEWTON_EQUALITY


@jit
def solve_rounds(s: System, st: State, k: int, law: int, e: Array, total: Array) -> float:
    """Apply the law in rounds until no contact approaches; total (k,) are the summed impulses.

    Returns the worst certificate; infinity where no velocity satisfies all contacts.
    """
    fastest = 0.0
    for i in range(k):
        s.u[i], s.e[i] = s.rate[i], e[i]
        total[i] = 0.0
        fastest = max(fastest, -s.rate[i])
    worst, slowest = 0.0, 0.0
    for count in range(1, ROUNDS_LIMIT + 1):
        st.rounds = count
        if count > MAX_ROUNDS:
            for i in range(k):
                e[i] = 0.0
                s.e[i] = 0.0
        certificate = solve(s, law, k)
        if not np.isfinite(certificate):
            return certificate
        worst = max(worst, certificate)
        slowest = np.inf
        for i in range(k):
            total[i] += s.lam[i]
            for j in range(k):
                s.u[i] += s.K[i * k + j] * s.lam[j]
            slowest = min(slowest, s.u[i])
        if slowest > -REST or law == EQUALITY:  # the equality form is applied once, as printed
            return worst
        if certificate > STUCK and count > 1 and -slowest > STUCK * fastest:
            return np.inf  # opposing walls: whatever opens one closes the other
    return worst


@jit
def current_law(st: State) -> int:
    """The chosen law; ``newton`` at once after the equality form, which may pull contacts into a wall and then back, without end."""
    law = st.law
    return NEWTON if law == EQUALITY and st.last_impact == st.time else law


@jit
def end_short_bounces(s: System, st: State, k: int, e: Array, total: Array) -> int:
    """Set the restitution e to zero for those of the k contacts that would bounce for less than zeno with the impulses ``total`` (k,).

    s.v is the velocity after the impact. Returns how many there are, -1 where the accelerations cannot be computed.
    """
    t, zeno, count = st.time, st.zeno, 0
    if contact_accelerations(s, t, k) != OK:
        return -1
    for i in range(k):
        if not (e[i] > 0.0 and total[i] > 0.0 and s.rate[i] > 0.0 and s.accel[i] < 0.0):
            continue
        bounce = -2.0 * s.rate[i] / s.accel[i]
        # A resting contact that has sunk by rounding does not bounce either.
        sunk = st.mode[s.selected[i]] == RESTING and s.rate[i] * s.rate[i] <= -20.0 * SINK * s.accel[i]
        if bounce < zeno or sunk:
            st.bounce_ends[s.selected[i]] = t + bounce / (1.0 - e[i]) if e[i] < 1.0 and not sunk else t
            e[i] = 0.0
            count += 1
    return count


@block(IMPACT, System, State, int, part="events", returns=float)
def impact(s: System, st: State, k: int) -> float:
    """Apply the impact law to the k closed contacts in s.selected; changes the velocity in st.y.

    Returns the law's certificate, NaN on failure, infinity where no velocity satisfies all contacts. Impulses and restitutions are left
    in s.lam and s.e, the times at which bouncing ends in st.bounce_ends: a bounce shorter than zeno is the last and gets restitution
    zero, as do all contacts of an impact that ends a cycle (st.ends_cycle).
    """
    t, law, nq = st.time, current_law(st), s.q.shape[0]
    v = st.y[nq:]
    st.applied_law = law
    e, total, after = np.empty(k), np.empty(k), np.empty(v.shape[0])
    for i in range(k):
        e[i] = 0.0 if st.ends_cycle else s.contacts.restitution[s.selected[i]]
        st.bounce_ends[s.selected[i]] = np.nan
    certificate = 0.0
    for _ in range(k + 1):
        load_state(s, st.y)
        if factorise_mass(s, 0) != OK:
            return np.nan
        contact_rows(s, t, k)
        copy(v, after)
        certificate = solve_rounds(s, st, k, law, e, total)
        add_response(s, k, total, after)
        copy(after, s.v)
        if not np.isfinite(certificate):
            return certificate
        ended = end_short_bounces(s, st, k, e, total)
        if ended < 0:
            return np.nan
        if ended == 0:
            break
    copy(after, v)
    copy(total, s.lam[:k])
    copy(e, s.e[:k])
    return certificate


@jit
def at_rest(rate: float, accel: float, zeno: float) -> bool:
    """Whether a closed gap stands still, or opens and closes again within ``zeno`` [s]."""
    return abs(rate) <= REST or (rate > 0.0 and 2.0 * rate <= -zeno * accel)


@jit
def solve_resting(s: System, k: int, rows: Array, brief: Array) -> int:
    """Solve the complementarity problem of accelerations for those of the k contacts that are at rest; rows[j] are their rows.

    Returns how many are at rest. The forces of some may press others shut, so the set grows until it no longer changes. brief (k,) [s]:
    a contact that opens for less than this is at rest. On return s.K and s.u are those of the resting contacts, s.lam their forces, and
    s.accel of all k contacts includes these forces.
    """
    free, member, K = np.empty(k), np.empty(k, np.int64), np.empty((k, k))
    for i in range(k):
        free[i] = s.accel[i]
        member[i] = 0
        for j in range(k):
            K[i, j] = s.K[i * k + j]
    m = 0
    for _ in range(k + 1):
        grown = False
        for i in range(k):
            if member[i] == 0 and at_rest(s.rate[i], s.accel[i], brief[i]) and s.gap[i] <= NEAR:
                member[i] = 1
                grown = True
        if not grown:
            break
        m = 0
        for i in range(k):
            if member[i]:
                rows[m] = i
                m += 1
        for i in range(m):
            for j in range(m):
                s.K[i * m + j] = K[rows[i], rows[j]]
            s.u[i] = free[rows[i]]
        solve(s, LCP, m)
        for i in range(k):
            s.accel[i] = free[i]
            for j in range(m):
                s.accel[i] += K[i, rows[j]] * s.lam[j]
        if m == k:
            break
    return m


@jit
def contact_accelerations(s: System, t: float, k: int) -> int:
    """s.rate and s.accel of the k contacts at s.q, s.v, with the forces of those that rest."""
    status = free_rows(s, t, k)
    if status != OK:
        return status
    brief = np.empty(k)
    for i in range(k):
        brief[i] = 0.0
    solve_resting(s, k, np.empty(k, np.int64), brief)
    return OK


@block(CHOOSE_HELD, System, State, int, part="events")
def choose_held(s: System, st: State, k: int) -> int:
    """Choose which of the k closed contacts in s.selected are held (st.held): 0 <= force ⟂ gap acceleration >= 0.

    A contact that was held before (st.suspects) stays held if an impact elsewhere would lift it for less than the time of a cycle.
    """
    for c in range(st.held.shape[0]):
        st.held[c] = 0
    if k == 0:
        return OK
    load_state(s, st.y)
    status = free_rows(s, st.time, k)
    if status != OK:
        return status
    rows, brief = np.empty(k, np.int64), np.empty(k)
    for i in range(k):
        c = s.selected[i]
        stays = (st.ends_cycle or st.suspects[c]) and s.contacts.restitution[c] < 1.0
        brief[i] = max(st.zeno, st.cycle) if stays else st.zeno
    m = solve_resting(s, k, rows, brief)
    bound = calm_bound(s, m)
    for i in range(m):
        if row_acceleration(s, i, m) <= bound:
            st.held[s.selected[rows[i]]] = 1
    return OK


@jit
def row_acceleration(s: System, i: int, m: int) -> float:
    """Gap acceleration of row i of the solved problem of m contacts."""
    accel = s.u[i]
    for j in range(m):
        accel += s.K[i * m + j] * s.lam[j]
    return accel


@jit
def calm_bound(s: System, m: int) -> float:
    """Gap accelerations below this count as zero."""
    largest = 1.0
    for i in range(m):
        largest = max(largest, abs(s.u[i]))
    return CALM * largest


@block(OPENING_RATE, System, State, float, part="events", returns=float)
def opening_rate(s: System, st: State, t: float) -> float:
    """Largest gap acceleration of the held contacts in the state st.work, relative to ``calm_bound``: above 1 one has to be released.

    A negative result is minus an error status.
    """
    if s.friction.acts:
        return rough_opening_rate(s, st, t)
    k = select_held(st, s)
    load_state(s, st.work)
    status = free_rows(s, t, k)
    if status != OK:
        return -float(status)
    for i in range(k):
        s.u[i] = s.accel[i]
    solve(s, LCP, k)
    fastest = 0.0
    for i in range(k):
        fastest = max(fastest, row_acceleration(s, i, k))
    return fastest / calm_bound(s, k)


@jit
def use_pushing_forces(s: System, st: State) -> None:
    """Replace forces of held contacts that pull, as ``derivative`` finds them just before a release, by forces that only push.

    A contact is released once it opens faster than ``calm_bound``; until then the forces solve the complementarity problem.
    """
    k = select_held(st, s)
    lowest = 0.0
    for i in range(k):
        lowest = min(lowest, s.lam[i])
    if lowest == 0.0:
        return
    for i in range(k):
        s.u[i] = s.accel[i]
    solve(s, LCP, k)
    bound, fastest = BRIEF * calm_bound(s, k), 0.0
    for i in range(k):
        fastest = max(fastest, row_acceleration(s, i, k))
    if fastest <= bound:
        for i in range(k):
            st.force[s.selected[i]] = s.lam[i]


@block(PROJECT, System, State, int, part="events")
def project(s: System, st: State, rounds: int) -> int:
    """Project st.y to the nearest state, in the metric of M, with the held contacts closed and at rest to rounding."""
    t, nq, nv = st.time, s.q.shape[0], s.v.shape[0]
    q, v = st.y[:nq], st.y[nq:]
    move, rate = np.empty(nv), np.empty(nq)
    load_state(s, st.y)
    status = factorise_mass(s, 0)
    if status != OK:
        return status
    k = select_held(st, s)
    for count in range(rounds):
        load_state(s, st.y)
        contact_rows(s, t, k)
        widest = 0.0
        for i in range(k):
            widest = max(widest, abs(s.gap[i]))
        last = count == rounds - 1 or widest < CLOSED
        for i in range(k):
            s.u[i] = -s.rate[i] if last else -s.gap[i]
        solve(s, LEAST_NORM, k)
        for m in range(nv):
            move[m] = 0.0
        add_response(s, k, s.lam, move)
        if last:
            for m in range(nv):
                v[m] += move[m]
            for i in range(k):
                st.energy_at_rest += 0.5 * s.u[i] * s.lam[i]
            return OK
        velocity_to_rate(s.tree, q, move, rate)
        for m in range(nq):
            q[m] += rate[m]
        normalise(s.tree, q)
    return OK
