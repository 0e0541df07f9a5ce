"""Bounds of how fast bodies turn, and the longest step whose two ends suffice to detect contacts. Compiled.

A body may turn many times within a step without any integration error, and then the two ends say nothing about the motion between them.
So bodies near a wall may turn by at most MAX_TURN in a step: then the quintic of events.py is off by less than lever MAX_TURN^6 / 46080.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import LIMIT, PAIR, WALL, place
from urdf_gibbs.contact.surfaces import DRIFT, FUNCTION, HEIGHT, IMPLICIT, MOTION, MOVES, STEEPEST, VIBRATION, gap_motion
from urdf_gibbs.engine.jit import block, call2, jit
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.layout import DISTANCE, HUB, LEVER, SAFE_STEP, SLIDE, SPIN, TRAVEL, State, System

Array = Any

MAX_TURN = 2.0  # rad: how far a body near a wall may turn in a step


@jit
def bound_turning(s: System, st: State) -> None:
    """Upper bounds st.turning of the bodies' rotation in the step from st.y to st.new.

    The rates of all joints from the root to a body are added up: no product of their rotations is faster. The hub is the first body on
    the way that turns; the lever bounds the distance of the body's origin from the hub's.
    """
    tree, nq, turning = s.tree, s.q.shape[0], st.turning
    y, new, first, last = st.y[nq:], st.new[nq:], st.K[0, nq:], st.K[STAGES, nq:]
    fastest, longest = 0.0, 0.0
    for i in range(turning.shape[0]):
        above = tree.parent[i]
        turn, travel, lever, hub = 0.0, 0.0, 0.0, float(i)
        if above >= 0:
            turn, travel = turning[above, SPIN], turning[above, TRAVEL]
        if turn > 0.0:
            lever, hub = turning[above, LEVER] + turning[i, DISTANCE], turning[above, HUB]
            slot = int(turning[i, SLIDE])
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
        turning[i, SPIN] = turn + np.sqrt(spin)
        if axes > 1:  # the rotation axis itself turns
            turning[i, SPIN] += np.sqrt(np.sqrt(sharp))
        turning[i, TRAVEL] = travel + np.sqrt(slide)
        turning[i, LEVER] = lever
        turning[i, HUB] = hub
        fastest, longest = max(fastest, turning[i, SPIN]), max(longest, lever)
    st.fastest_turn, st.longest_lever = fastest, longest


@jit
def turning_bounds(s: System, st: State, c: int) -> tuple[float, float, float]:
    """Upper bounds for contact c: rotation of its points [rad/s], speed of their hubs [m/s], and their levers [m]."""
    turn, travel, arm = 0.0, 0.0, 0.0
    for k in range(2 if s.contacts.kind[c] == PAIR else 1):
        body = s.contacts.body[c, k]
        if body >= 0:
            turn += st.turning[body, SPIN]
            travel += st.turning[body, TRAVEL]
            r, half = s.contacts.place[c, 3 * k : 3 * k + 3], s.contacts.half[c, 3 * k : 3 * k + 3]
            if st.turning[body, SPIN] > 0.0:
                arm += st.turning[body, LEVER] + np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) + s.contacts.rim[c, 3]
                arm += np.sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])
    return turn, travel, arm


@jit
def hub_position(s: System, st: State, c: int, k: int, x: Array) -> None:
    """x (3,): position of the hub of a contact's point; of the point itself where nothing turns."""
    body = s.contacts.body[c, k]
    if body >= 0 and st.turning[body, SPIN] > 0.0:
        hub = int(st.turning[body, HUB])
        x[0], x[1], x[2] = s.T[hub, 9], s.T[hub, 10], s.T[hub, 11]
    else:
        place(s.T, body, s.contacts.place[c, 3 * k : 3 * k + 3], x)


@jit
def hub_clearance(s: System, st: State, c: int) -> float:
    """Lower bound of the distance of contact c's hub from the wall or from the other hub; s.T are the placements of st.y."""
    x, out = s.x, s.x[18:24]
    hub_position(s, st, c, 0, x[:3])
    if s.contacts.kind[c] == PAIR:
        hub_position(s, st, c, 1, x[3:6])
        return np.sqrt((x[0] - x[3]) ** 2 + (x[1] - x[4]) ** 2 + (x[2] - x[5]) ** 2) - s.contacts.radius[c]
    i = s.contacts.surface[c]
    moves, kind, v = s.surfaces.integers[i, MOVES], s.surfaces.kind[i], s.surfaces.values[i]
    if kind == IMPLICIT or moves == FUNCTION:
        return 0.0
    for k in range(3, 9):
        x[k] = 0.0
    gap_motion(s.surfaces, i, st.time, x, s.contacts.radius[c], out)
    if kind == HEIGHT:
        room = out[0] / v[STEEPEST]
    else:  # phi is convex outside and concave inside, with |grad phi| <= 1
        room = min(out[0], out[0] / np.sqrt(out[3] * out[3] + out[4] * out[4] + out[5] * out[5]))
    if moves == VIBRATION:
        room -= 2.0 * np.sqrt(v[MOTION] ** 2 + v[MOTION + 1] ** 2 + v[MOTION + 2] ** 2)
    return room


@block(SAFE_STEP, System, State, float, part="events", returns=float)
def longest_safe_step(s: System, st: State, h: float) -> float:
    """The longest step from st.y, up to h, for which the two ends suffice to detect contacts.

    No body that can reach a wall turns by more than MAX_TURN, and no wall moved by a function moves too far.
    """
    longest, placed = h, False
    for i in range(s.surfaces.max_step.shape[0]):
        longest = min(longest, s.surfaces.max_step[i])
    if 2.0 * longest * st.fastest_turn <= MAX_TURN:  # no body, and no pair of bodies, turns too far: no need to check the contacts
        return longest
    for c in range(st.gaps.shape[0]):
        if s.contacts.kind[c] == LIMIT or st.held[c]:
            continue
        turn, travel, arm = turning_bounds(s, st, c)
        if longest * turn <= MAX_TURN:
            continue
        if not placed:
            copy(st.y, s.q)
            call2(s.code.placements, s.q.ctypes.data, s.T.ctypes.data)
            placed = True
        room = hub_clearance(s, st, c) - arm
        if s.contacts.kind[c] == WALL and s.surfaces.integers[s.contacts.surface[c], MOVES] == DRIFT:
            v = s.surfaces.values[s.contacts.surface[c]]
            travel += np.sqrt(v[MOTION] ** 2 + v[MOTION + 1] ** 2 + v[MOTION + 2] ** 2)
        most = MAX_TURN / turn
        if room > 0.0:
            if longest * travel <= 0.9 * room:
                continue
            most = max(most, 0.8 * room / travel)
        longest = min(longest, most)
    return longest
