"""The impact phase: what the law makes of the closed contacts, and which of them hold afterwards. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact import laws
from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import block, jit
from urdf_gibbs.simulation.events import SINK
from urdf_gibbs.simulation.friction import rough_opening
from urdf_gibbs.simulation.layout import IMPACT, LCP, LEAST_NORM, OK, OPENING, PROJECT, RESTING, SETTLE, State, System
from urdf_gibbs.simulation.rows import add_response, contact_rows, free_rows, holding, mass_factors, solve, take_state

Array = Any

REST = 1e-9  # m/s: slower is at rest
CALM = 1e-9  # of the largest acceleration of a gap without contact forces: below this it does not open
BRIEF = 1e6  # times what is calm, a thousandth of the accelerations: as fast as contacts open where one is just being let go
MOST_ROUNDS = 10_000  # rounds of an impact before restitution is taken to be zero; a light body between heavy ones bounces often
TOO_MANY = MOST_ROUNDS + 100
STUCK = 1e-3  # of the fastest approach: where this much is left of it, the impact has no solution
CLOSED = 1e-14  # m
NEAR = 1e-10  # m: what a tie has taken from further away falls the rest of the way before it is held
NEWTON, EQUALITY = laws.NEWTON, laws.NEWTON_EQUALITY


@jit
def rounds_of(s: System, st: State, k: int, law: int, e: Array, total: Array) -> float:
    """Rounds of the law until nothing approaches: total (k,) impulses; gives the worst certificate, infinity where no velocity would do."""
    fastest = 0.0
    for i in range(k):
        s.u[i], s.e[i] = s.rate[i], e[i]
        total[i] = 0.0
        fastest = max(fastest, -s.rate[i])
    worst, slowest = 0.0, 0.0
    for turn in range(1, TOO_MANY + 1):
        st.rounds = turn
        if turn > MOST_ROUNDS:
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
        if slowest > -REST or law == EQUALITY:  # which is applied as it is printed, whatever it leaves
            return worst
        if certificate > STUCK and turn > 1 and -slowest > STUCK * fastest:  # opposing walls: nothing that opens one leaves the other alone
            return np.inf
    return worst


@jit
def law_now(st: State) -> int:
    """The law that was chosen. What the equality form has pulled into a wall it would pull back and forth for ever: then ``newton``."""
    law = st.law
    return NEWTON if law == EQUALITY and st.struck == st.time else law


@jit
def last_bounces(s: System, st: State, k: int, e: Array, total: Array) -> int:
    """Takes their restitution from those of the k contacts that would bounce for less than zeno with the impulses ``total`` (k,).

    s.v is the velocity after the impact. Gives how many there are, -1 where the accelerations cannot be had.
    """
    t, zeno, count = st.time, st.zeno, 0
    if rises(s, t, k) != OK:
        return -1
    for i in range(k):
        if not (e[i] > 0.0 and total[i] > 0.0 and s.rate[i] > 0.0 and s.rise[i] < 0.0):
            continue
        bounce = -2.0 * s.rate[i] / s.rise[i]
        # One that was at rest and has sunk by a hair is no bounce either.
        sunk = st.how[s.which[i]] == RESTING and s.rate[i] * s.rate[i] <= -20.0 * SINK * s.rise[i]
        if bounce < zeno or sunk:
            st.ends[s.which[i]] = t + bounce / (1.0 - e[i]) if e[i] < 1.0 and not sunk else t
            e[i] = 0.0
            count += 1
    return count


@block(IMPACT, System, State, int, returns=float)
def impact(s: System, st: State, k: int) -> float:
    """The law at the first k contacts of s.which, all closed; gives its certificate, NaN where there is none, infinity where no velocity
    would do.

    Changes the velocity of st.y. Impulses and restitutions stay in s.lam and s.e, times at which bouncing ends in st.ends: a bounce
    that would be shorter than zeno is the last, its restitution is zero. So it is in a cycle of blows (st.ends_cycle).
    """
    t, law, nq = st.time, law_now(st), s.q.shape[0]
    v = st.y[nq:]
    e, total, after = np.empty(k), np.empty(k), np.empty(v.shape[0])
    for i in range(k):
        e[i] = 0.0 if st.ends_cycle else s.contacts.restitution[s.which[i]]
        st.ends[s.which[i]] = np.nan
    certificate = 0.0
    for _ in range(k + 1):
        take_state(s, st.y)
        if mass_factors(s, 0) != OK:
            return np.nan
        contact_rows(s, t, k)
        copy(v, after)
        certificate = rounds_of(s, st, k, law, e, total)
        add_response(s, k, total, after)
        copy(after, s.v)
        if not np.isfinite(certificate):
            return certificate
        again = last_bounces(s, st, k, e, total)
        if again < 0:
            return np.nan
        if again == 0:
            break
    copy(after, v)
    copy(total, s.lam[:k])
    copy(e, s.e[:k])
    return certificate


@jit
def at_rest(rate: float, rise: float, zeno: float) -> bool:
    """Whether a closed gap does not move, or opens and closes again within ``zeno`` [s]."""
    return abs(rate) <= REST or (rate > 0.0 and 2.0 * rate <= -zeno * rise)


@jit
def resting(s: System, k: int, rows: Array, brief: Array) -> int:
    """The complementarity problem of accelerations for those of the k contacts that are at rest (rows[j] their rows); how many.

    Which ones are at rest is asked of all together: the forces of some may press others shut, and so the set grows until it stays.
    brief (k,) [s]: one that opens for less than this is at rest. s.K and s.u become theirs; forces in s.lam; s.rise of all k is then
    with these forces.
    """
    free, member, K = np.empty(k), np.empty(k, np.int64), np.empty((k, k))
    for i in range(k):
        free[i] = s.rise[i]
        member[i] = 0
        for j in range(k):
            K[i, j] = s.K[i * k + j]
    m = 0
    for _ in range(k + 1):
        grown = False
        for i in range(k):
            if member[i] == 0 and at_rest(s.rate[i], s.rise[i], brief[i]) and s.gap[i] <= NEAR:
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
            s.rise[i] = free[i]
            for j in range(m):
                s.rise[i] += K[i, rows[j]] * s.lam[j]
        if m == k:
            break
    return m


@jit
def rises(s: System, t: float, k: int) -> int:
    """s.rate and s.rise of the k contacts at s.q, s.v, with those at rest held where they press."""
    status = free_rows(s, t, k)
    if status != OK:
        return status
    brief = np.empty(k)
    for i in range(k):
        brief[i] = 0.0
    resting(s, k, np.empty(k, np.int64), brief)
    return OK


@block(SETTLE, System, State, int)
def settle(s: System, st: State, k: int) -> int:
    """Which of the k closed contacts of s.which hold, in st.held: 0 <= force ⟂ second rate of the gap >= 0.

    Those that have been held (st.suspects) stay so where a blow elsewhere would lift them for less than the time of a cycle.
    """
    for c in range(st.held.shape[0]):
        st.held[c] = 0
    if k == 0:
        return OK
    take_state(s, st.y)
    status = free_rows(s, st.time, k)
    if status != OK:
        return status
    rows, brief = np.empty(k, np.int64), np.empty(k)
    for i in range(k):
        c = s.which[i]
        stays = (st.ends_cycle or st.suspects[c]) and s.contacts.restitution[c] < 1.0
        brief[i] = max(st.zeno, st.cycle) if stays else st.zeno
    m = resting(s, k, rows, brief)
    bound = calm(s, m)
    for i in range(m):
        if opened(s, i, m) <= bound:
            st.held[s.which[rows[i]]] = 1
    return OK


@jit
def opened(s: System, i: int, m: int) -> float:
    """Second rate of the gap of row i of the solved problem of m contacts."""
    rise = s.u[i]
    for j in range(m):
        rise += s.K[i * m + j] * s.lam[j]
    return rise


@jit
def calm(s: System, m: int) -> float:
    """Second rates of gaps below this are zero."""
    largest = 1.0
    for i in range(m):
        largest = max(largest, abs(s.u[i]))
    return CALM * largest


@block(OPENING, System, State, float, returns=float)
def opening(s: System, st: State, t: float) -> float:
    """How fast the held contacts open in the state st.work, relative to what is calm: one must be let go where this is above 1.

    Minus a status where something is the matter.
    """
    if s.friction.acts:
        return rough_opening(s, st, t)
    k = holding(st, s)
    take_state(s, st.work)
    status = free_rows(s, t, k)
    if status != OK:
        return -float(status)
    for i in range(k):
        s.u[i] = s.rise[i]
    solve(s, LCP, k)
    fastest = 0.0
    for i in range(k):
        fastest = max(fastest, opened(s, i, k))
    return fastest / calm(s, k)


@jit
def pushing(s: System, st: State) -> None:
    """Forces of the held contacts where ``derivative`` has just found that some would have to pull: the moment at which one is let go.

    It is let go once it would open by more than what is calm; up to there the forces are those of the contacts that press.
    """
    k = holding(st, s)
    lowest = 0.0
    for i in range(k):
        lowest = min(lowest, s.lam[i])
    if lowest == 0.0:
        return
    for i in range(k):
        s.u[i] = s.rise[i]
    solve(s, LCP, k)
    bound, fastest = BRIEF * calm(s, k), 0.0
    for i in range(k):
        fastest = max(fastest, opened(s, i, k))
    if fastest <= bound:
        for i in range(k):
            st.force[s.which[i]] = s.lam[i]


@block(PROJECT, System, State, int)
def project(s: System, st: State, turns: int) -> int:
    """st.y with the held contacts closed and at rest again, to rounding: the nearest state in the metric of M."""
    t, nq, nv = st.time, s.q.shape[0], s.v.shape[0]
    q, v = st.y[:nq], st.y[nq:]
    move, rate = np.empty(nv), np.empty(nq)
    take_state(s, st.y)
    status = mass_factors(s, 0)
    if status != OK:
        return status
    k = holding(st, s)
    for turn in range(turns):
        take_state(s, st.y)
        contact_rows(s, t, k)
        widest = 0.0
        for i in range(k):
            widest = max(widest, abs(s.gap[i]))
        last = turn == turns - 1 or widest < CLOSED
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
                st.taken += 0.5 * s.u[i] * s.lam[i]
            return OK
        velocity_to_rate(s.tree, q, move, rate)
        for m in range(nq):
            q[m] += rate[m]
        normalise(s.tree, q)
    return OK
