"""Contacts that slide: when they stop, and what is done while they are slow. Compiled.

A slow contact is stiff: the direction of its velocity u follows that of the forces at the rate mu lambda K / |u|, K being the inverse
inertia along the wall, which no explicit step could follow. So below a speed at which that happens within SLOW its friction opposes
u + lag a instead of u, where a is its acceleration with these very forces: the velocity a moment later. That bounds the rate by 1 / lag
and changes the direction by what it turns in the meantime. A contact that begins to slide, u = 0, has the direction of its acceleration.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.friction import STILL, acceleration, velocity_direction
from urdf_gibbs.simulation.friction_layout import KINETIC, SLIDES, STARTS
from urdf_gibbs.simulation.held_forces import by_coulomb, take_forces
from urdf_gibbs.simulation.layout import State, System
from urdf_gibbs.simulation.rows import select_held

SLOW = 2e-6  # s: a contact is slow whose direction follows the forces sooner
LAG = 1e-5  # s: the longest moment that the friction of a slow contact looks ahead
# Of the time until a slow contact stops: the moment that its friction looks ahead, and the step. It must still slide a moment after the
# step, 0.15 < 1 - 0.7, and the step must be stable with the rate of the moment, 0.7 / 0.15 < 5.
AHEAD, SLOW_STEP = 0.15, 0.7
HEADS = 0.1  # of the deceleration: a slow contact that is also accelerated to the side by more passes by its end
SOON = 1e-6  # s: a contact that stops sliding sooner stops at the end of the next step


@jit
def outruns_slowness(s: System, st: State) -> bool:
    """After a step: whether a contact that was slow is fast at its end, so that its direction is not known well enough in between."""
    f, k = s.friction, select_held(st, s)
    found = False
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        if f.mode[c] == STARTS:
            found = found or np.hypot(f.U[first + 1], f.U[first + 2]) > 4.0 * f.slow[c]
    return found


@jit
def slow_speed(s: System, i: int, n: int) -> float:
    """The speed below which contact i of those under consideration is slow [m/s]; its force is known, and there are n rows."""
    f, row = s.friction, s.friction.at[i] + 1
    mobility = max(f.K[row * n + row], f.K[(row + 1) * n + row + 1])
    return SLOW * s.contacts.friction[s.selected[i], KINETIC] * max(f.p[row - 1], 0.0) * mobility


@jit
def update_sliding(s: System, st: State) -> bool:
    """After the derivative of the present state: of each contact that slides whether it is slow, when it would stop, its direction, and
    whether one has stopped. Returns whether one has become slow or fast, which changes the derivative.
    """
    f, k = s.friction, select_held(st, s)
    n, changed = f.at[k], False
    f.stopping = 0
    for i in range(k):
        c, first = s.selected[i], f.at[i]
        f.stop[c] = np.inf
        if f.mode[c] not in (SLIDES, STARTS):
            continue
        x, y = f.U[first + 1], f.U[first + 2]
        speed = np.sqrt(x * x + y * y)
        f.slow[c] = slow_speed(s, i, n)
        mode = STARTS if speed < (2.0 if f.mode[c] == STARTS else 1.0) * f.slow[c] else SLIDES
        if mode != f.mode[c]:
            changed = True
            f.mode[c] = mode
        ax, ay = velocity_direction(s, i)
        bx, by = acceleration(s, first + 1, n), acceleration(s, first + 2, n)
        gains, turns = ax * bx + ay * by, ax * by - ay * bx
        f.lag[c] = LAG
        if speed > STILL:
            for m in range(3):
                f.way[c, m] = (x * f.D[first + 1, m] + y * f.D[first + 2, m]) / speed
        if gains < 0.0 and (mode == SLIDES or speed <= STILL or abs(turns) < -HEADS * gains):
            f.stop[c] = speed / -gains
            f.lag[c] = max(min(LAG, AHEAD * f.stop[c]), 1e-300)
            if speed <= STILL:
                f.stopping = 1
    return changed


@jit
def use_allowed_forces(s: System, st: State) -> None:
    """Where something is about to change, forces of the present state that Coulomb's law allows, or none."""
    f, k = s.friction, select_held(st, s)
    if s.least_force < 0.0:
        solved = by_coulomb(s, st.force, k) < np.inf
        for i in range(k):
            first = f.at[i]
            if not solved or (s.selected[i] < f.joints and f.p[first] < 0.0):  # zero, but for rounding
                for m in range(first, f.at[i + 1]):
                    f.p[m] = 0.0
        take_forces(s, st, k)


@jit
def up_to_stop(s: System, h: float) -> float:
    """The length h of a step, or a shorter one that ends before a contact stops sliding, or where it does if that is soon."""
    f = s.friction
    for c in range(min(f.joints, f.stop.shape[0])):
        if f.mode[c] == SLIDES and f.stop[c] < np.inf:
            h = min(h, f.stop[c] if f.stop[c] < SOON else 0.9 * f.stop[c])
        if f.mode[c] == STARTS and f.stop[c] < np.inf:
            h = min(h, SLOW_STEP * f.stop[c])
    return h
