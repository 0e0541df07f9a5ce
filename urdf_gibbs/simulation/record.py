"""Writes rows and impacts into the record that Python reads. Compiled."""

from __future__ import annotations

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.layout import (
    CERTIFICATE,
    CYCLE,
    IMPULSE,
    LAW,
    RESTITUTION,
    ROUNDS,
    STRUCK,
    TANGENTIAL,
    TIME,
    Record,
    State,
    System,
)

MOST_IMPACTS = 8  # at the end of a step


@jit
def write_row(s: System, r: Record, st: State, stepped: bool) -> None:
    i = r.rows
    r.t[i] = st.time
    copy(st.y, r.y[i])
    copy(st.force, r.force[i])
    r.work[i] = st.friction_work
    write_friction(s, r, i)
    if r.F.shape[0] > 0:
        F, kept = st.F, r.F[i]
        for j in range(F.shape[0]):
            for m in range(F.shape[1]):
                kept[j, m] = F[j, m] if stepped else 0.0
    r.rows = i + 1


@jit
def write_friction(s: System, r: Record, i: int) -> None:
    """Write the tangential forces into row i."""
    if r.friction.shape[1] > 0:
        force = s.friction.force
        for c in range(force.shape[0]):
            for m in range(3):
                r.friction[i, 3 * c + m] = force[c, m]


@jit
def write_impact(s: System, st: State, r: Record, k: int, certificate: float) -> None:
    i, first, nq = r.impacts, r.impact_contacts, s.q.shape[0]
    copy(st.y[nq:], r.impact_v[i])
    counts, numbers = r.impact_counts[i], r.impact_numbers[i]
    counts[STRUCK], counts[ROUNDS], counts[LAW], counts[CYCLE] = k, st.rounds, st.applied_law, st.ends_cycle
    numbers[TIME], numbers[CERTIFICATE] = st.time, certificate
    for j in range(k):
        r.contact[first + j] = s.selected[j]
        r.contact_numbers[first + j, IMPULSE] = s.lam[j]
        r.contact_numbers[first + j, RESTITUTION] = s.e[j]
        f = s.friction
        for m in range(3):
            r.contact_numbers[first + j, TANGENTIAL + m] = 0.0
            if f.rough:
                for row in range(f.at[j] + 1, f.at[j + 1]):
                    r.contact_numbers[first + j, TANGENTIAL + m] += f.p[row] * f.D[row, m]
    r.impacts, r.impact_contacts = i + 1, first + k


@jit
def has_room(r: Record, contacts: int) -> bool:
    """Whether the record has room for one more step and its impacts: one, or several where there is a paradox."""
    return (
        r.rows + 2 < r.t.shape[0]
        and r.impacts + MOST_IMPACTS < r.impact_numbers.shape[0]
        and r.impact_contacts + MOST_IMPACTS * contacts < r.contact.shape[0]
        and r.phase_changes + contacts < r.change_time.shape[0]
    )
