"""After an implicit step: out of the walls by the least motion, and, after the last step of a series, held contacts at rest. Compiled.

Only what is inside of a wall is moved, and only outwards: contacts that lie nearly in a plane but not quite cannot all be closed, and
closing as many as possible would push others in.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.events import TOUCH
from urdf_gibbs.simulation.friction_layout import FREE, SMOOTH
from urdf_gibbs.simulation.impact import CLOSED, NEAR, REST
from urdf_gibbs.simulation.layout import GAP, GRADIENT, LCP, OK, PRESENT, RATE, State, System
from urdf_gibbs.simulation.resolve import MAX_PROJECTIONS
from urdf_gibbs.simulation.rough_impact import displace, project_rough
from urdf_gibbs.simulation.rows import add_response, contact_rows, factorise_mass, load_state, solve, update_gaps

DEEPEST = 1e-10  # m: no contact must be deeper inside of a wall after the step
MOST_PUSHES = 8  # rounds of the least motion, which is right to first order
MOST_HOLDS = 8  # rounds of holding contacts that approach after the last step


@jit
def push_out(s: System, st: State) -> int:
    """Contacts that are inside of their walls join st.closed; the least motion, in the metric of M, after which none of these is, to first
    order. Its velocities stay as they are."""
    k, deepest = 0, 0.0
    for c in range(s.friction.joints):
        gap = st.gaps[c, GAP] / st.gaps[c, GRADIENT]
        deepest = min(deepest, gap)
        if gap < -DEEPEST:
            st.closed[c] = 1
        if st.closed[c]:
            s.selected[k] = c
            k += 1
    if deepest >= -CLOSED:
        return OK
    load_state(s, st.y)
    status = factorise_mass(s, 0)
    if status != OK:
        return status
    contact_rows(s, st.time, k)
    move = np.empty(s.v.shape[0])
    for m in range(move.shape[0]):
        move[m] = 0.0
    for i in range(k):
        s.u[i] = s.gap[i]
    solve(s, LCP, k)
    add_response(s, k, s.lam, move)
    displace(s, st, move)
    return update_gaps(s, st, st.time, PRESENT)


@jit
def is_inside(s: System, st: State) -> bool:
    """Whether a contact is inside of a wall."""
    inside = False
    for c in range(s.friction.joints):
        inside = inside or st.gaps[c, GAP] < -DEEPEST * st.gaps[c, GRADIENT]
    return inside


@jit
def release_open(s: System, st: State) -> None:
    """Contacts that have opened are not held."""
    for c in range(s.friction.joints):
        if st.held[c] and st.gaps[c, GAP] > NEAR * st.gaps[c, GRADIENT]:
            st.held[c] = 0
            st.held_count -= 1
            s.friction.mode[c] = FREE


@jit
def stop_held(s: System, st: State) -> int:
    """Close held contacts and bring them to rest; others that this lets approach are held as well."""
    for _ in range(MOST_HOLDS):
        status = project_rough(s, st, MAX_PROJECTIONS)
        if status == OK:
            status = update_gaps(s, st, st.time, PRESENT)
        if status != OK:
            return status
        more = False
        for c in range(s.friction.joints):
            gap, rate = st.gaps[c, GAP] / st.gaps[c, GRADIENT], st.gaps[c, RATE] / st.gaps[c, GRADIENT]
            if not st.held[c] and st.closed[c] and (gap < -DEEPEST or (gap <= TOUCH and rate < -REST)):
                st.held[c] = 1
                st.held_count += 1
                s.friction.mode[c] = SMOOTH
                more = True
        if not more:
            break
    return OK


@jit
def bring_back(s: System, st: State, last: bool) -> int:
    """Push out what is inside of a wall; after the ``last`` step held contacts are brought to rest as well."""
    status = update_gaps(s, st, st.time, PRESENT)
    for _ in range(MOST_PUSHES):
        if status == OK:
            status = push_out(s, st)
        if status != OK:
            return status
        if not is_inside(s, st):
            break
    release_open(s, st)
    return stop_held(s, st) if last else OK
