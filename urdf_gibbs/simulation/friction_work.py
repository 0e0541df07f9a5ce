"""How much energy friction has taken away, in contacts and in joints. Compiled.

A step integrates the power of friction as it integrates the motion: with the weights of DOP853 at its own stages, to the same order.
"""

from __future__ import annotations

from urdf_gibbs.contact.coulomb.scaled import JOINT
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.dop853 import STAGES, A
from urdf_gibbs.simulation.friction_layout import SLIDES
from urdf_gibbs.simulation.layout import State, System

WEIGHTS = A[STAGES][:STAGES].copy()  # of a whole step


@jit
def friction_power(s: System, st: State) -> float:
    """Power [W] that friction takes away in the state whose derivative was computed last: minus force times sliding velocity."""
    f, power = s.friction, 0.0
    if not f.acts:
        return power
    for i in range(st.held_count):
        for row in range(f.at[i] + 1, f.at[i + 1]):
            power -= f.p[row] * f.U[row]
    for c in range(f.joints, f.mode.shape[0]):
        if f.mode[c] == SLIDES:
            power += s.contacts.reach[c] * f.way[c, 0] * s.v[s.contacts.index[c, 1]]
    return power


@jit
def add_step_work(s: System, st: State, length: float) -> None:
    """Add the work of the step that has just been taken to st.friction_work."""
    f = s.friction
    if f.acts and (st.held_count > 0 or f.joints < f.mode.shape[0]):
        for i in range(STAGES):
            st.friction_work += length * WEIGHTS[i] * st.power[i]
        st.power[0] = st.power[STAGES]


@jit
def add_impulse_work(s: System, st: State, k: int) -> None:
    """Add the work of the k contacts in a step of time stepping to st.friction_work: minus impulse times mean velocity."""
    g, e = s.stepping, s.stepping.rows
    for i in range(k):
        for row in range(e.at[i] if e.kind[i] == JOINT else e.at[i] + 1, e.at[i + 1]):
            mean = 0.5 * (g.U[row] + g.after[row])
            st.friction_work -= g.scale[row] * e.y[row] * mean
