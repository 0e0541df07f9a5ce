"""When does a gap close within a step? Compiled.

A gap along a step is bounded from below by the Bernstein coefficients of a polynomial. First a quintic from the gap and its two rates
at both ends, with a generous margin for its error: nearly all contacts are ruled out by it. For the others the gap is sampled on the
step's dense output at Chebyshev nodes; where the polynomial through them has not converged the interval is halved. Subdivision
then finds the first root, however many there are, and however shallow down to DEPTH.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import LIMIT, WALL, contact_gap
from urdf_gibbs.contact.surfaces import CYLINDER, ELLIPSOID, IMPLICIT, PLANE, SPHERE
from urdf_gibbs.engine.jit import block, call2, jit
from urdf_gibbs.simulation.flight import CLOSING, PLACEMENTS, SUSPECTS, TARGET, TIME, State, System, dense_state

Array = Any

DEPTH = 1e-12  # m: a gap that does not fall below minus this does not close
TOUCH = 1e-11  # m: a gap below this is closed
SINK = 1e-12  # m: how far a contact that has just been released may sink before it is taken up again
SAFETY = 4.0  # of the quintic's error estimate
ROUGH = 0.02
TAIL = 1e-12  # m: the last Chebyshev coefficients of a converged fit
HALVINGS = 12  # of a step, for a gap that is smooth
KINKS = 40  # and for one that is not
THROUGH = 1e-14  # m: a gap below this at the start of a step is a root that has been dealt with
WIDEST = 0.16  # between two nodes

DEGREE = 10
NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
_bernstein = np.array([[comb(DEGREE, j) * x**j * (1.0 - x) ** (DEGREE - j) for j in range(DEGREE + 1)] for x in NODES])
TO_BERNSTEIN = np.linalg.inv(_bernstein)
TO_CHEBYSHEV = np.linalg.inv(np.cos(np.outer(np.arccos(np.clip(1.0 - 2.0 * NODES, -1.0, 1.0)), np.arange(DEGREE + 1))))

APART, LEAVING, RESTING = 0, 1, 2  # how a contact starts a step


@jit
def halved(b: Array, left: Array, right: Array) -> None:
    """de Casteljau: the coefficients of both halves. right may be b."""
    n = b.shape[0]
    for i in range(n):
        right[i] = b[i]
    for i in range(n):
        left[i] = right[0]
        for j in range(n - 1 - i):
            right[j] = 0.5 * (right[j] + right[j + 1])


@jit
def value_at(b: Array, x: float, work: Array) -> float:
    """The polynomial with Bernstein coefficients b at x in [0, 1]."""
    n = b.shape[0]
    for i in range(n):
        work[i] = b[i]
    for i in range(1, n):
        for j in range(n - i):
            work[j] += x * (work[j + 1] - work[j])
    return work[0]


@jit
def crossing(b: Array, work: Array) -> float:
    """The one root in [0, 1] of a polynomial that is positive at 0 and negative at 1: regula falsi after Illinois."""
    low, high = 0.0, 1.0
    above, below = b[0], b[b.shape[0] - 1]
    side = 0
    for _ in range(100):
        x = low + (high - low) * above / (above - below)
        value = value_at(b, x, work)
        if value > 0.0:
            low, above = x, value
            if side == 1:
                below *= 0.5
            side = 1
        else:
            high, below = x, value
            if side == -1:
                above *= 0.5
            side = -1
        if high - low < 1e-15 or value == 0.0 or abs(value) < 1e-15 * b[0]:
            return x
    return 0.5 * (low + high)


@jit
def first_root(b: Array, depth: float) -> float:
    """Where in [0, 1] the polynomial first falls through zero to below -depth; -1 where it does not."""
    n = b.shape[0]
    room = 64
    stack, low, size = np.empty((room, n)), np.empty(room), np.empty(room)
    copy(b, stack[0])
    low[0], size[0] = 0.0, 1.0
    top = 1
    one, other = np.empty(n), np.empty(n)
    while top > 0:
        top -= 1
        copy(stack[top], one)
        start, width = low[top], size[top]
        lowest = one[0]
        for i in range(n):
            lowest = min(lowest, one[i])
        if lowest >= -depth:
            continue
        if one[0] < -depth or width < 1e-15:
            return start
        if one[0] > 0.0 and one[n - 1] < 0.0:
            changes = 0
            for i in range(1, n):
                if (one[i] < 0.0) != (one[i - 1] < 0.0):
                    changes += 1
            if changes == 1:  # one root, by Descartes
                return start + width * crossing(one, other)
        if top + 2 > room:
            return start
        halved(one, stack[top + 1], stack[top])  # the left half is looked at first
        low[top], size[top] = start + 0.5 * width, 0.5 * width
        low[top + 1], size[top + 1] = start, 0.5 * width
        top += 2
    return -1.0


@jit
def without_zero(b: Array, slope: float) -> None:
    """In place, all but the last: the coefficients of p(x) / x for a polynomial with p(0) = 0 and p'(0) = slope."""
    n = b.shape[0] - 1
    for j in range(n):
        b[j] = n / (j + 1.0) * b[j + 1]
    b[0] = slope


@jit
def may_close(start: Array, end: Array, h: float, how: int, depth: float, smooth: bool) -> bool:
    """From phi and its rates at both ends: False only where the gap cannot close within the step."""
    if not smooth:  # how far the point can come in that time, and back
        return not min(start[0], end[0]) > 2.0 * h * max(start[4] * start[3], end[4] * end[3])
    g0, d0, a0 = start[0], h * start[1], h * h * start[2]
    g1, d1, a1 = end[0], h * end[1], h * h * end[2]
    margin = SAFETY * abs((d0 - d1) / 32.0 + (a0 + a1) / 64.0) + ROUGH * abs(a1 - a0)
    b1 = g0 + d0 / 5.0
    b2 = g0 + 2.0 * d0 / 5.0 + a0 / 20.0
    b3 = g1 - 2.0 * d1 / 5.0 + a1 / 20.0
    b4 = g1 - d1 / 5.0
    if how == APART:
        return not min(g0, b1, b2, b3, b4, g1) > margin
    if how == RESTING:
        return not min(b1, b2, b3, b4, g1) > margin - depth
    return not min(d0, 2.5 * (b2 - g0), 5.0 / 3.0 * (b3 - g0), 1.25 * (b4 - g0), g1 - g0) > margin


@jit
def gap_at(s: System, st: State, h: float, c: int, where: float) -> float:
    """phi of contact c at a fraction of the step."""
    dense_state(s, st, where)
    copy(st.work, s.q)
    if s.contacts.kind[c] != LIMIT:
        call2(s.code[PLACEMENTS], s.q.ctypes.data, s.T.ctypes.data)
    return contact_gap(s, c, st.clock[TIME] + where * h)


@jit
def is_smooth(s: System, c: int) -> bool:
    """Whether the gap is as smooth as the motion, so that two ends tell what happens between. Users' functions are taken to be."""
    if s.contacts.kind[c] != WALL:
        return True
    kind = s.surfaces.kind[s.contacts.surface[c]]
    return kind in (PLANE, CYLINDER, SPHERE, IMPLICIT) or (kind == ELLIPSOID and s.contacts.radius[c] == 0.0)


@jit
def allowed(st: State, c: int) -> float:
    """How deep (in units of phi) a contact may be within this step before it counts as closed: where it started, or SINK more."""
    if st.how[c] == RESTING:
        return SINK * st.gaps[c, 3] + max(0.0, -st.gaps[c, 0])
    return max(0.0, -st.gaps[c, 0]) if st.how[c] == LEAVING else 0.0


@jit
def closing(s: System, st: State, h: float, c: int) -> float:
    """The fraction of the step at which contact c closes first, -1 if it does not, NaN where a wall fails."""
    how, slope, unit = st.how[c], st.gaps[c, 1], max(st.gaps[c, 3], st.after[c, 3])
    reach = 0.0 if is_smooth(s, c) else 2.0 * WIDEST * h * max(st.gaps[c, 4], st.after[c, 4]) * unit
    narrowest = 0.5**HALVINGS if reach == 0.0 else 0.5**KINKS
    low, size = np.empty(KINKS + 2), np.empty(KINKS + 2)
    low[0], size[0] = 0.0, 1.0
    top = 1
    values, b = np.empty(DEGREE + 1), np.empty(DEGREE + 1)
    while top > 0:
        top -= 1
        start, width = low[top], size[top]
        largest, least = 0.0, np.inf
        for i in range(DEGREE + 1):
            values[i] = gap_at(s, st, h, c, start + width * NODES[i])
            largest, least = max(largest, abs(values[i])), min(least, values[i])
            if not np.isfinite(values[i]):
                return np.nan
        tail = 0.0
        for j in range(DEGREE - 1, DEGREE + 1):
            coefficient = 0.0
            for i in range(DEGREE + 1):
                coefficient += TO_CHEBYSHEV[j, i] * values[i]
            tail = max(tail, abs(coefficient))
        if tail > max(TAIL * unit, 1e-14 * largest) and width > narrowest:
            if reach > 0.0 and least > reach * width:  # too far away to come and go between two nodes
                continue
            low[top], size[top] = start + 0.5 * width, 0.5 * width
            low[top + 1], size[top + 1] = start, 0.5 * width
            top += 2
            continue
        for j in range(DEGREE + 1):
            b[j] = 0.0
            for i in range(DEGREE + 1):
                b[j] += TO_BERNSTEIN[j, i] * values[i]
        b[0], b[DEGREE] = values[0], values[DEGREE]
        if start == 0.0 and how == LEAVING and values[0] <= THROUGH * unit:
            for j in range(DEGREE + 1):
                b[j] -= values[0]
            without_zero(b, slope * h * width)
            root = first_root(b[:DEGREE], DEPTH * unit)
        elif how == RESTING:
            for j in range(DEGREE + 1):
                b[j] += allowed(st, c)
            root = first_root(b, SINK * unit)
        else:
            root = first_root(b, DEPTH * unit)
        if root >= 0.0:
            return start + width * root
    return -1.0


@block(CLOSING, System, State, float, returns=float)
def first_closing(s: System, st: State, h: float) -> float:
    """The fraction of the step at which the first of the suspects closes, and the contact in st.count[TARGET]; 2 where none does."""
    best = 2.0
    st.count[TARGET] = -1
    for i in range(st.count[SUSPECTS]):
        c = st.suspects[i]
        where = closing(s, st, h, c)
        if np.isnan(where):
            return where
        if 0.0 <= where < best:
            best = where
            st.count[TARGET] = c
    return best


@jit
def find_suspects(s: System, st: State, h: float) -> int:
    """The free contacts that may close within the step, in st.suspects; how many."""
    count = 0
    for c in range(st.gaps.shape[0]):
        if not st.held[c] and may_close(st.gaps[c], st.after[c], h, st.how[c], allowed(st, c), is_smooth(s, c)):
            st.suspects[count] = c
            count += 1
    st.count[SUSPECTS] = count
    return count
