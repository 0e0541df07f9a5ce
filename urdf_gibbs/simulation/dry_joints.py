"""Dry friction of joints: |force| <= bound, against the velocity where the joint slides. Compiled.

A joint that sticks is a held contact of one row, whose force keeps its velocity at zero. The force of one that slides is known: it is
part of the joint torques, with the sign of the velocity at the beginning of a step, so that the motion is smooth up to the place where
the velocity vanishes. There the step ends, and the accelerations of all contacts and joints together decide what comes next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.friction_layout import FREE, SLIDES, STICKS
from urdf_gibbs.simulation.layout import State, System

Array = Any

STILL = 1e-9  # m/s, rad/s: a slower joint does not slide


@jit
def joint_row(s: System, i: int, n: int) -> None:
    """Row n is the velocity of the joint whose dry friction is contact i of those under consideration."""
    f, at = s.friction, s.contacts.index[s.selected[i], 1]
    for m in range(f.R.shape[1]):
        f.R[n, m] = 0.0
    f.R[n, at], f.U[n], f.W[n] = 1.0, s.v[at], 0.0
    f.D[n, 0], f.D[n, 1], f.D[n, 2] = 0.0, 0.0, 0.0
    s.gap[i], s.rate[i], s.accel[i] = 0.0, 0.0, 0.0


@jit
def add_dry_torques(s: System) -> None:
    """The forces of joints that slide, to s.tau."""
    f, contacts = s.friction, s.contacts
    for c in range(f.joints, contacts.kind.shape[0]):
        if f.mode[c] == SLIDES:
            s.tau[contacts.index[c, 1]] -= f.way[c, 0] * contacts.reach[c]


@jit
def keep_dry_forces(s: System, st: State) -> None:
    """The forces of joints that slide, to st.force."""
    f = s.friction
    for c in range(f.joints, st.force.shape[0]):
        if f.mode[c] == SLIDES:
            st.force[c] = -f.way[c, 0] * s.contacts.reach[c]


@jit
def select_joints(s: System, k: int) -> int:
    """Append all joints with dry friction to the k contacts in s.selected; returns the number of both."""
    for c in range(s.friction.joints, s.contacts.kind.shape[0]):
        s.selected[k] = c
        k += 1
    return k


@jit
def select_resting_joints(s: System, st: State, k: int) -> int:
    """Append joints at rest to the k contacts in s.selected; those that move slide along their velocity. Returns the number of both."""
    f, nq = s.friction, s.q.shape[0]
    for c in range(f.joints, st.force.shape[0]):
        v = st.y[nq + s.contacts.index[c, 1]]
        if abs(v) > STILL:
            f.mode[c] = SLIDES
            f.way[c, 0] = 1.0 if v > 0.0 else -1.0
        else:
            f.mode[c] = STICKS
            s.selected[k] = c
            k += 1
    return k


@jit
def release_or_hold(s: System, st: State, c: int, acceleration: float, calm: float) -> None:
    """A joint at rest sticks or, where friction cannot prevent its acceleration, begins to slide in that direction."""
    f = s.friction
    if abs(acceleration) <= calm:
        st.held[c] = 1
        f.mode[c] = STICKS
    else:
        f.mode[c] = SLIDES
        f.way[c, 0] = 1.0 if acceleration > 0.0 else -1.0


@jit
def joint_stops(s: System, st: State) -> bool:
    """Whether a joint has stopped sliding in the state st.y, or is not yet known to slide or to stick."""
    f, nq, found = s.friction, s.q.shape[0], False
    for c in range(f.joints, st.force.shape[0]):
        v = st.y[nq + s.contacts.index[c, 1]]
        found = found or f.mode[c] == FREE or (f.mode[c] == SLIDES and v * f.way[c, 0] <= STILL)
    return found


@jit
def least_slide(s: System, y: Array) -> float:
    """The smallest velocity of a sliding joint in the state y, each in its direction of sliding."""
    f, nq, least = s.friction, s.q.shape[0], np.inf
    for c in range(f.joints, f.mode.shape[0]):
        if f.mode[c] == SLIDES:
            least = min(least, f.way[c, 0] * y[nq + s.contacts.index[c, 1]])
    return least
