"""When does a gap close within a step? Compiled.

A gap along a step is bounded from below by the Bernstein coefficients of a polynomial. First a quintic from the gap and its two rates
at both ends, with a generous margin for its error: nearly all contacts are ruled out by it. For the others the gap is sampled on the
step's dense output at Chebyshev nodes; where the polynomial through them has not converged the interval is halved. Subdivision
then finds the first root, however many there are, and however shallow down to DEPTH.

Two ends tell nothing of a body that turns many times between them, which may cost the integrator no error at all. So a step is only as
long as the bodies near a wall turn by TURN in it: then the quintic is off by less than lever TURN^6 / 46080.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import LIMIT, PAIR, WALL, contact_gap, place
from urdf_gibbs.contact.surfaces import (
    CYLINDER,
    DRIFT,
    ELLIPSOID,
    FUNCTION,
    HEIGHT,
    IMPLICIT,
    MOTION,
    MOVES,
    PLANE,
    SIZE,
    SPHERE,
    STEEPEST,
    VIBRATION,
    gap_motion,
)
from urdf_gibbs.engine.jit import block, call2, jit, jit_inline
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.flight import CLOSING, PLACEMENTS, SUSPECTS, TARGET, TIME, VOUCHED, State, System, dense_state

Array = Any

DEPTH = 1e-12  # m: a gap that does not fall below minus this does not close
TOUCH = 1e-11  # m: a gap below this is closed
SINK = 1e-12  # m: how far a contact that has just been released may sink before it is taken up again
SAFETY = 4.0  # of the quintic's error estimate
ROUGH = 0.02
TAIL = 1e-12  # m: the last Chebyshev coefficients of a converged fit
HALVINGS = 16  # of a step, for a gap that is smooth
KINKS = 40  # and for one that is not
THROUGH = 1e-14  # m: a gap below this at the start of a step is a root that has been dealt with
WIDEST = 0.16  # between two nodes
TURN = 2.0  # rad: how far a body near a wall may turn in a step
REMAINDER = 1.0 / 46080.0  # 1 / (6! 4^3): the largest error of quintic interpolation, of h^6 times the sixth derivative

DEGREE = 10
NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
_bernstein = np.array([[comb(DEGREE, j) * x**j * (1.0 - x) ** (DEGREE - j) for j in range(DEGREE + 1)] for x in NODES])
TO_BERNSTEIN = np.linalg.inv(_bernstein)
ROUNDING = 2e-16 * np.abs(TO_BERNSTEIN).sum(axis=1).max()  # of the largest value at a node, in a Bernstein coefficient
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


@jit_inline
def may_close(start: Array, end: Array, h: float, how: int, depth: float, smooth: bool, steep: float, remainder: float) -> bool:
    """From phi and its rates at both ends: False only where the gap cannot close within the step.

    ``steep``: the greatest |grad phi|; ``remainder``: how far the quintic may be off because the body turns.
    """
    if not smooth:  # how far the point can come in that time, and back
        return not min(start[0], end[0]) > 2.0 * h * max(start[4], end[4]) * steep
    g0, d0, a0 = start[0], h * start[1], h * h * start[2]
    g1, d1, a1 = end[0], h * end[1], h * h * end[2]
    margin = SAFETY * abs((d0 - d1) / 32.0 + (a0 + a1) / 64.0) + ROUGH * abs(a1 - a0) + remainder
    margin += 1e-15 * (abs(g0) + abs(d0) + abs(a0) + abs(g1) + abs(d1) + abs(a1))
    b1 = g0 + 0.2 * d0  # products: divisions would be most of what a candidate costs
    b2 = g0 + 0.4 * d0 + 0.05 * a0
    b3 = g1 - 0.4 * d1 + 0.05 * a1
    b4 = g1 - 0.2 * d1
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
def unit_at_wall(s: System, st: State, c: int) -> float:
    """The least |grad phi| where contact c is closed: phi is in metres there, whatever it is far away."""
    if s.contacts.kind[c] != WALL:
        return 1.0
    i = s.contacts.surface[c]
    kind = s.surfaces.kind[i]
    if kind == IMPLICIT:
        return min(st.gaps[c, 3], st.after[c, 3])
    if kind == ELLIPSOID and s.contacts.radius[c] == 0.0:
        axes = s.surfaces.values[i, SIZE : SIZE + 3]
        return min(axes[0], axes[1], axes[2]) / max(axes[0], axes[1], axes[2])
    return 1.0


@jit
def steepness(s: System, st: State, c: int) -> float:
    """The greatest |grad phi| near contact c."""
    steep = max(st.gaps[c, 3], st.after[c, 3])
    if s.contacts.kind[c] == WALL and s.surfaces.kind[s.contacts.surface[c]] == HEIGHT:
        return max(steep, s.surfaces.values[s.contacts.surface[c], STEEPEST])
    return steep


# turning -------------------------------------------------------------------------------------------


@jit
def see_turning(s: System, st: State) -> None:
    """st.turning of the bodies, at most, in the step from st.y to st.new.

    The rates of all joints on the way to a body are added up, so that no product of their rotations is faster. The first body that
    turns is the hub; the lever is how far from its origin the body's own can be.
    """
    tree, nq, turning = s.tree, s.q.shape[0], st.turning
    y, new, first, last = st.y[nq:], st.new[nq:], st.K[0, nq:], st.K[STAGES, nq:]
    fastest, longest = 0.0, 0.0
    for i in range(turning.shape[0]):
        above = tree.parent[i]
        turn, travel, lever, hub = 0.0, 0.0, 0.0, float(i)
        if above >= 0:
            turn, travel = turning[above, 0], turning[above, 1]
        if turn > 0.0:
            lever, hub = turning[above, 2] + turning[i, 4], turning[above, 3]
            slot = int(turning[i, 5])
            if slot >= 0:
                lever += max(abs(st.y[slot]), abs(st.new[slot]))
        spin, slide, sharp, axes = 0.0, 0.0, 0.0, 0
        for j in range(tree.start[i], tree.start[i + 1]):
            k = tree.iv[j]
            speed = abs(tree.ratio[j]) * max(abs(y[k]), abs(new[k]))
            if tree.turns[j] != 0:
                spin += speed * speed
                sharp += max(abs(first[k]), abs(last[k])) ** 2
                axes += 1
            if tree.turns[j] != 1:
                slide += speed * speed
        turning[i, 0] = turn + np.sqrt(spin)
        if axes > 1:  # the axis itself turns
            turning[i, 0] += np.sqrt(np.sqrt(sharp))
        turning[i, 1] = travel + np.sqrt(slide)
        turning[i, 2] = lever
        turning[i, 3] = hub
        fastest, longest = max(fastest, turning[i, 0]), max(longest, lever)
    st.extent[0], st.extent[1] = fastest, longest


@jit
def turning_of(s: System, st: State, c: int) -> tuple[float, float, float]:
    """How fast the points of contact c turn [rad/s] and their hubs travel [m/s], at most, and their levers [m]."""
    turn, travel, arm = 0.0, 0.0, 0.0
    for k in range(2 if s.contacts.kind[c] == PAIR else 1):
        body = s.contacts.body[c, k]
        if body >= 0:
            turn += st.turning[body, 0]
            travel += st.turning[body, 1]
            r = s.contacts.place[c, 3 * k : 3 * k + 3]
            if st.turning[body, 0] > 0.0:
                arm += st.turning[body, 2] + np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    return turn, travel, arm


@jit
def hub_of(s: System, st: State, c: int, k: int, x: Array) -> None:
    """x (3,): where the hub of a contact's point is; where nothing turns, the point."""
    body = s.contacts.body[c, k]
    if body >= 0 and st.turning[body, 0] > 0.0:
        hub = int(st.turning[body, 3])
        x[0], x[1], x[2] = s.T[hub, 9], s.T[hub, 10], s.T[hub, 11]
    else:
        place(s.T, body, s.contacts.place[c, 3 * k : 3 * k + 3], x)


@jit
def room_of_hub(s: System, st: State, c: int) -> float:
    """How far the hub of contact c is from the wall, or from the other's hub, at least; s.T are the placements of st.y."""
    x, out = s.x, s.x[18:24]
    hub_of(s, st, c, 0, x[:3])
    if s.contacts.kind[c] == PAIR:
        hub_of(s, st, c, 1, x[3:6])
        return np.sqrt((x[0] - x[3]) ** 2 + (x[1] - x[4]) ** 2 + (x[2] - x[5]) ** 2) - s.contacts.radius[c]
    i = s.contacts.surface[c]
    moves, kind, v = s.surfaces.whole[i, MOVES], s.surfaces.kind[i], s.surfaces.values[i]
    if kind == IMPLICIT or moves == FUNCTION:
        return 0.0
    for k in range(3, 9):
        x[k] = 0.0
    gap_motion(s.surfaces, i, st.clock[TIME], x, s.contacts.radius[c], out)
    if kind == HEIGHT:
        room = out[0] / v[STEEPEST]
    else:  # phi is convex outside and concave inside, with |grad phi| <= 1
        room = min(out[0], out[0] / np.sqrt(out[3] * out[3] + out[4] * out[4] + out[5] * out[5]))
    if moves == VIBRATION:
        room -= 2.0 * np.sqrt(v[MOTION] ** 2 + v[MOTION + 1] ** 2 + v[MOTION + 2] ** 2)
    return room


@block(VOUCHED, System, State, float, returns=float)
def vouched(s: System, st: State, h: float) -> float:
    """The longest step from st.y, up to h, in which two ends tell what happens to the gaps.

    No body that may reach a wall turns by more than TURN, and no wall that is a function moves too much.
    """
    longest, placed = h, False
    for i in range(s.surfaces.pace.shape[0]):
        longest = min(longest, s.surfaces.pace[i])
    if 2.0 * longest * st.extent[0] <= TURN:  # no body, and no pair of them, turns far: there is no need to look at the contacts
        return longest
    for c in range(st.gaps.shape[0]):
        if s.contacts.kind[c] == LIMIT or st.held[c]:
            continue
        turn, travel, arm = turning_of(s, st, c)
        if longest * turn <= TURN:
            continue
        if not placed:
            copy(st.y, s.q)
            call2(s.code[PLACEMENTS], s.q.ctypes.data, s.T.ctypes.data)
            placed = True
        room = room_of_hub(s, st, c) - arm
        if s.contacts.kind[c] == WALL and s.surfaces.whole[s.contacts.surface[c], MOVES] == DRIFT:
            v = s.surfaces.values[s.contacts.surface[c]]
            travel += np.sqrt(v[MOTION] ** 2 + v[MOTION + 1] ** 2 + v[MOTION + 2] ** 2)
        most = TURN / turn
        if room > 0.0:
            if longest * travel <= 0.9 * room:
                continue
            most = max(most, 0.8 * room / travel)
        longest = min(longest, most)
    return longest


# closing -------------------------------------------------------------------------------------------


@jit
def allowed(st: State, c: int) -> float:
    """How deep (in units of phi) a contact may be within this step before it counts as closed: where it started, or SINK more."""
    if st.how[c] == RESTING:
        return SINK * st.gaps[c, 3] + max(0.0, -st.gaps[c, 0])
    return max(0.0, -st.gaps[c, 0]) if st.how[c] == LEAVING else 0.0


@jit
def closing(s: System, st: State, h: float, c: int) -> float:
    """The fraction of the step at which contact c closes first, -1 if it does not, NaN where a wall fails."""
    how, slope, unit = st.how[c], st.gaps[c, 1], unit_at_wall(s, st, c)
    reach = 0.0 if is_smooth(s, c) else 2.0 * WIDEST * h * max(st.gaps[c, 4], st.after[c, 4]) * steepness(s, st, c)
    narrowest = 0.5**HALVINGS if reach == 0.0 else 0.5**KINKS
    noise = 0.0  # of phi, from the rounding of coordinates: that of an angle after thousands of turns
    for m in range(s.q.shape[0]):
        noise = max(noise, 1e-15 * abs(st.new[m]) * steepness(s, st, c))
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
        if tail > max(TAIL * unit, 1e-14 * largest, noise) and width > narrowest:
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
        # Far from a small wall phi is large, and its rounding hides what is shallow: look closer where that may be.
        blurred = ROUNDING * largest
        if blurred > DEPTH * unit and width > narrowest and (how == APART or start > 0.0):
            for j in range(DEGREE + 1):
                values[j] = b[j] - blurred
            if first_root(values, 0.0) < 0.0:
                continue
            for j in range(DEGREE + 1):
                values[j] = b[j] + blurred
            if first_root(values, 0.0) < 0.0:
                low[top], size[top] = start + 0.5 * width, 0.5 * width
                low[top + 1], size[top + 1] = start, 0.5 * width
                top += 2
                continue
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
    # Of a pair both points turn.
    largest = 2.0 * h * st.extent[0]
    off = REMAINDER * 2.0 * (st.extent[1] + st.extent[2]) * largest**6
    for c in range(st.gaps.shape[0]):
        if st.held[c]:
            continue
        remainder, steep = 0.0, steepness(s, st, c)
        if s.contacts.kind[c] != LIMIT:
            remainder = off * steep
            if largest > 0.5 * TURN:  # not by the largest of all, then
                turn, _, arm = turning_of(s, st, c)
                if h * turn > 1.2 * TURN:  # out of reach: see vouched
                    continue
                remainder = REMAINDER * arm * steep * (h * turn) ** 6
        if may_close(st.gaps[c], st.after[c], h, st.how[c], allowed(st, c), is_smooth(s, c), steep, remainder):
            st.suspects[count] = c
            count += 1
    st.count[SUSPECTS] = count
    return count
