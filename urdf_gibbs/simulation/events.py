"""When does a gap close within a step? Compiled.

The Bernstein coefficients of a polynomial bound a gap along a step from below. First a quintic through the gap and its two derivatives
at both ends, with a generous margin for its error, rules out nearly all contacts. For the others the gap is sampled at Chebyshev nodes
of the step's dense output; where the polynomial through them has not converged, the interval is halved. Subdivision then finds the first
root, however many there are, down to a depth of DEPTH.

turning.py limits the step to a length for which its two ends suffice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import LIMIT, WALL, contact_gap, is_capsule
from urdf_gibbs.contact.surfaces import CYLINDER, ELLIPSOID, HEIGHT, IMPLICIT, PLANE, SIZE, SPHERE, STEEPEST
from urdf_gibbs.engine.jit import block, call2, jit, jit_inline
from urdf_gibbs.simulation.flight import dense_state
from urdf_gibbs.simulation.layout import ACCEL, APART, FIRST_CLOSING, GAP, GRADIENT, LEAVING, RATE, RESTING, SPEED, State, System
from urdf_gibbs.simulation.roots import DEGREE, NODES, ROUNDING, TO_BERNSTEIN, TO_CHEBYSHEV, divide_by_x, first_root
from urdf_gibbs.simulation.turning import MAX_TURN, turning_bounds

Array = Any

DEPTH = 1e-12  # m: a gap that never falls below -DEPTH does not close
TOUCH = 1e-11  # m: a gap below this is closed
SINK = 1e-12  # m: how far a contact that was just released may sink before it counts as closed again
SAFETY = 4.0  # factor on the quintic's error estimate
ROUGH = 0.02  # share of the change of acceleration added to the margin
TAIL = 1e-12  # m: the last Chebyshev coefficients of a converged fit
MAX_HALVINGS = 16  # of a step, for a smooth gap
MAX_HALVINGS_AT_KINK = 40  # and for a gap with kinks
THROUGH = 1e-14  # m: a smaller gap at the start of a step is a root that has already been handled
WIDEST = 0.16  # largest distance between two nodes
REMAINDER = 1.0 / 46080.0  # 1 / (6! 4^3): the largest error of quintic interpolation, of h^6 times the sixth derivative


@jit_inline
def may_close(start: Array, end: Array, h: float, mode: int, depth: float, smooth: bool, steep: float, remainder: float) -> bool:
    """Decide from phi and its derivatives at both ends: False only where the gap cannot close within the step.

    ``steep``: the greatest |grad phi|; ``remainder``: the error of the quintic because the body turns.
    """
    if not smooth:  # distance the point can travel in this time, there and back
        return not min(start[GAP], end[GAP]) > 2.0 * h * max(start[SPEED], end[SPEED]) * steep
    g0, d0, a0 = start[GAP], h * start[RATE], h * h * start[ACCEL]
    g1, d1, a1 = end[GAP], h * end[RATE], h * h * end[ACCEL]
    margin = SAFETY * abs((d0 - d1) / 32.0 + (a0 + a1) / 64.0) + ROUGH * abs(a1 - a0) + remainder
    margin += 1e-15 * (abs(g0) + abs(d0) + abs(a0) + abs(g1) + abs(d1) + abs(a1))
    b1 = g0 + 0.2 * d0  # products, as divisions would dominate the cost of a candidate
    b2 = g0 + 0.4 * d0 + 0.05 * a0
    b3 = g1 - 0.4 * d1 + 0.05 * a1
    b4 = g1 - 0.2 * d1
    if mode == APART:
        return not min(g0, b1, b2, b3, b4, g1) > margin
    if mode == RESTING:
        return not min(b1, b2, b3, b4, g1) > margin - depth
    return not min(d0, 2.5 * (b2 - g0), 5.0 / 3.0 * (b3 - g0), 1.25 * (b4 - g0), g1 - g0) > margin


@jit
def gap_at(s: System, st: State, h: float, c: int, fraction: float) -> float:
    """phi of contact c at a fraction of the step."""
    dense_state(s, st, fraction)
    copy(st.work, s.q)
    if s.contacts.kind[c] != LIMIT:
        call2(s.code.placements, s.q.ctypes.data, s.T.ctypes.data)
    return contact_gap(s, c, st.time + fraction * h)


@jit
def is_smooth(s: System, c: int) -> bool:
    """Whether the gap is as smooth as the motion, so that the two ends of a step suffice. Users' functions are assumed to be."""
    if s.contacts.rim[c, 3] > 0.0 or is_capsule(s.contacts, c):
        return False
    if s.contacts.kind[c] != WALL:
        return True
    kind = s.surfaces.kind[s.contacts.surface[c]]
    return kind in (PLANE, CYLINDER, SPHERE, IMPLICIT) or (kind == ELLIPSOID and s.contacts.radius[c] == 0.0)


@jit
def gradient_at_wall(s: System, st: State, c: int) -> float:
    """The least |grad phi| where contact c is closed: it converts phi to metres there, whatever phi is far away."""
    if s.contacts.kind[c] != WALL:
        return 1.0
    i = s.contacts.surface[c]
    kind = s.surfaces.kind[i]
    if kind == IMPLICIT:
        return min(st.gaps[c, GRADIENT], st.new_gaps[c, GRADIENT])
    if kind == ELLIPSOID and s.contacts.radius[c] == 0.0:
        axes = s.surfaces.values[i, SIZE : SIZE + 3]
        return min(axes[0], axes[1], axes[2]) / max(axes[0], axes[1], axes[2])
    return 1.0


@jit
def steepness(s: System, st: State, c: int) -> float:
    """The greatest |grad phi| near contact c."""
    steep = max(st.gaps[c, GRADIENT], st.new_gaps[c, GRADIENT])
    if s.contacts.kind[c] == WALL and s.surfaces.kind[s.contacts.surface[c]] == HEIGHT:
        return max(steep, s.surfaces.values[s.contacts.surface[c], STEEPEST])
    return steep


@jit
def allowed_depth(st: State, c: int) -> float:
    """How deep (in units of phi) a contact may be within this step before it counts as closed: its initial depth, or SINK more."""
    if st.mode[c] == RESTING:
        return SINK * st.gaps[c, GRADIENT] + max(0.0, -st.gaps[c, GAP])
    return max(0.0, -st.gaps[c, GAP]) if st.mode[c] == LEAVING else 0.0


@jit
def sample_gap(s: System, st: State, h: float, c: int, start: float, width: float, values: Array) -> tuple[float, float, float]:
    """Sample the gap at the nodes of a part of the step, into values (11,).

    Returns the largest magnitude, the least value (NaN where one is not finite), and the size of the last Chebyshev coefficients.
    """
    largest, least = 0.0, np.inf
    for i in range(DEGREE + 1):
        values[i] = gap_at(s, st, h, c, start + width * NODES[i])
        largest, least = max(largest, abs(values[i])), min(least, values[i])
        if not np.isfinite(values[i]):
            return largest, np.nan, 0.0
    tail = 0.0
    for j in range(DEGREE - 1, DEGREE + 1):
        coefficient = 0.0
        for i in range(DEGREE + 1):
            coefficient += TO_CHEBYSHEV[j, i] * values[i]
        tail = max(tail, abs(coefficient))
    return largest, least, tail


@jit
def to_bernstein(values: Array, b: Array) -> None:
    """b (11,): the Bernstein coefficients of the polynomial through values (11,) at the nodes."""
    for j in range(DEGREE + 1):
        b[j] = 0.0
        for i in range(DEGREE + 1):
            b[j] += TO_BERNSTEIN[j, i] * values[i]
    b[0], b[DEGREE] = values[0], values[DEGREE]


@jit
def closing_root(st: State, c: int, b: Array, leaves: bool, slope: float, gradient: float) -> float:
    """Where in a part of the step contact c closes, -1 if it does not; b (11,) may be changed.

    ``leaves``: the part begins where the contact has just opened, with this slope.
    """
    if leaves:
        zero = b[0]
        for j in range(DEGREE + 1):
            b[j] -= zero
        divide_by_x(b, slope)
        return first_root(b[:DEGREE], DEPTH * gradient)
    if st.mode[c] == RESTING:
        for j in range(DEGREE + 1):
            b[j] += allowed_depth(st, c)
        return first_root(b, SINK * gradient)
    return first_root(b, DEPTH * gradient)


@jit
def shifted_root(b: Array, shift: float, work: Array) -> float:
    """The first root of the polynomial raised by ``shift``."""
    for j in range(b.shape[0]):
        work[j] = b[j] + shift
    return first_root(work, 0.0)


@jit
def closing_fraction(s: System, st: State, h: float, c: int) -> float:
    """The fraction of the step at which contact c closes first, -1 if it does not, NaN where a wall fails."""
    mode, slope, gradient = st.mode[c], st.gaps[c, RATE], gradient_at_wall(s, st, c)
    reach = 0.0 if is_smooth(s, c) else 2.0 * WIDEST * h * max(st.gaps[c, SPEED], st.new_gaps[c, SPEED]) * steepness(s, st, c)
    narrowest = 0.5**MAX_HALVINGS if reach == 0.0 else 0.5**MAX_HALVINGS_AT_KINK
    noise = 0.0  # of phi, from the rounding of coordinates, such as an angle after thousands of turns
    for m in range(s.q.shape[0]):
        noise = max(noise, 1e-15 * abs(st.new[m]) * steepness(s, st, c))
    low, size = np.empty(MAX_HALVINGS_AT_KINK + 2), np.empty(MAX_HALVINGS_AT_KINK + 2)
    low[0], size[0] = 0.0, 1.0
    top = 1
    values, b = np.empty(DEGREE + 1), np.empty(DEGREE + 1)
    while top > 0:
        top -= 1
        start, width = low[top], size[top]
        largest, least, tail = sample_gap(s, st, h, c, start, width, values)
        if np.isnan(least):
            return np.nan
        root, halve = -1.0, False
        if tail > max(TAIL * gradient, 1e-14 * largest, noise) and width > narrowest:
            halve = not (reach > 0.0 and least > reach * width)  # otherwise too far away to close and open between two nodes
        else:
            to_bernstein(values, b)
            leaves = start == 0.0 and mode == LEAVING and values[0] <= THROUGH * gradient
            root = closing_root(st, c, b, leaves, slope * h * width, gradient)
            # Far from a small wall phi is large and its rounding hides shallow contacts: halve where there may be one.
            blurred = ROUNDING * largest
            if blurred > DEPTH * gradient and width > narrowest and (mode == APART or start > 0.0):
                if shifted_root(b, -blurred, values) < 0.0:
                    continue
                halve = shifted_root(b, blurred, values) < 0.0
        if halve:
            low[top], size[top] = start + 0.5 * width, 0.5 * width
            low[top + 1], size[top + 1] = start, 0.5 * width
            top += 2
        elif root >= 0.0:
            return start + width * root
    return -1.0


@block(FIRST_CLOSING, System, State, float, part="events", returns=float)
def first_closing(s: System, st: State, h: float) -> float:
    """The fraction of the step at which the first suspect closes, which becomes st.target; 2 where none does."""
    best = 2.0
    st.target = -1
    for i in range(st.suspect_count):
        c = st.suspects[i]
        fraction = closing_fraction(s, st, h, c)
        if np.isnan(fraction):
            return fraction
        if 0.0 <= fraction < best:
            best = fraction
            st.target = c
    return best


@jit
def find_suspects(s: System, st: State, h: float) -> int:
    """Store the free contacts that may close within the step in st.suspects; returns how many."""
    count = 0
    # Factor 2: both points of a pair may turn.
    largest = 2.0 * h * st.fastest_turn
    off = REMAINDER * 2.0 * (st.longest_lever + st.farthest_point) * largest**6
    for c in range(st.gaps.shape[0]):
        if st.held[c]:
            continue
        remainder, steep = 0.0, steepness(s, st, c)
        if s.contacts.kind[c] != LIMIT:
            remainder = off * steep
            if largest > 0.5 * MAX_TURN:  # the global bound is too coarse: use the contact's own
                turn, _, arm = turning_bounds(s, st, c)
                if h * turn > 1.2 * MAX_TURN:  # out of reach, see longest_safe_step
                    continue
                remainder = REMAINDER * arm * steep * (h * turn) ** 6
        if may_close(st.gaps[c], st.new_gaps[c], h, st.mode[c], allowed_depth(st, c), is_smooth(s, c), steep, remainder):
            st.suspects[count] = c
            count += 1
    st.suspect_count = count
    return count
