"""What has sunk in comes back, before the contact problem of a time step. Compiled.

A step sees gaps as linear. What they are not is a depth at the next q_m; there the place moves until no gap of any contact, whether it
takes part in this step or not, is below -DEEP: Newton's method, each time by the least motion in the metric of M that opens the gaps as
they are linear at the place reached. Contacts that such a motion closes take part in the next one.

The lift is paid for: a gap that was closed at the last q_m, with u⁺ = 0, and closes with u < 0 at this one, is d = -½h u deep. The impulse
p that stops it, and carries a load f during the step, does the work ½ p u <= ½ h f u = -f d, and lifting that load takes f d.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.coulomb.islands import solve_island
from urdf_gibbs.contact.coulomb.scaled import JOINT
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.layout import GAP, GRADIENT, OK, State, System
from urdf_gibbs.simulation.rows import load_state, update_gaps
from urdf_gibbs.simulation.stepping_motion import add_motion
from urdf_gibbs.simulation.stepping_rows import make_rows, select_by_island

Array = Any

DEEP = 1e-8  # m, rad: gaps below minus this are closed again
SOLVED = 1e-6  # certificates above this are no motion that closes gaps
MOST_ROUNDS = 20


@jit
def find_gaps(s: System, st: State, t: float, v: Array) -> int:
    """st.new_gaps of all contacts at q_m in st.work, with the velocity v (nv,)."""
    nq = s.q.shape[0]
    copy(st.work, st.new)
    copy(v, st.new[nq:])
    return update_gaps(s, st, t, 1)


@jit
def depth(st: State) -> float:
    """Of all contacts in st.new_gaps the deepest [m], 0 where none has sunk in."""
    deepest = 0.0
    for c in range(st.closed.shape[0]):
        deepest = max(deepest, -st.new_gaps[c, GAP] / st.new_gaps[c, GRADIENT])
    return deepest


@jit
def find_shift(s: System, k: int, shift: Array) -> bool:
    """shift (nv,): the least motion in the metric of M that closes the gaps of the k selected contacts, whose rows are those of their
    normals alone; False where there is none."""
    g, e = s.stepping, s.stepping.rows
    for i in range(k):
        if e.kind[i] == JOINT:
            e.law[i, 0] = 0.0  # takes no part
        e.b[i], e.y[i] = g.scale[i] * s.gap[i], 0.0
    for m in range(shift.shape[0]):
        e.z[m], shift[m] = 0.0, 0.0
    for island in range(g.islands):
        if not solve_island(e, g.island[island], g.island[island + 1]) < SOLVED:
            return False
    add_motion(s, e.z, shift)
    return True


@jit
def bring_back(s: System, st: State, t: float, free: Array) -> int:
    """q_m, in st.work, moves until no gap is below -DEEP; st.new_gaps are those of the place reached, for the velocity free (nv,)."""
    nq = s.q.shape[0]
    shift, rate = np.empty(s.v.shape[0]), np.empty(nq)
    for _ in range(MOST_ROUNDS):
        deepest = depth(st)
        if deepest <= DEEP:
            break
        for c in range(st.closed.shape[0]):
            if st.new_gaps[c, GAP] < deepest * st.new_gaps[c, GRADIENT]:
                st.closed[c] = 1
        k = select_by_island(s, st)
        load_state(s, st.work)
        make_rows(s, t, k, False)
        if not find_shift(s, k, shift):
            break
        velocity_to_rate(s.tree, st.work[:nq], shift, rate)
        for m in range(nq):
            st.work[m] += rate[m]
        normalise(s.tree, st.work[:nq])
        status = find_gaps(s, st, t, free)
        if status != OK:
            return status
    for c in range(st.closed.shape[0]):
        st.closed[c] = 0
    return OK
