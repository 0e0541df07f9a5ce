"""A search through all modes that contacts can be in, which ends with a solution or with the proof that there is none. Compiled.

Where a linear program (relaxed.py) admits something, Newton's method starts from it; if that leads to no solution, the contact that is
furthest from its law is told to be open or closed, then to stick or to slip into one of four quarters, then into which half of that. Where
all that follows admits nothing, there is no solution.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.modes import polish
from urdf_gibbs.contact.coulomb.relaxed import ANY, CLOSED, FEASIBLE, HIGH, LOW, MODE, OPEN, SLIP, STICK, UNDECIDED, relaxed
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, Array, Indices, motion
from urdf_gibbs.contact.dense import copy, largest_of, length_of
from urdf_gibbs.engine.jit import jit

FOUND, NONE, UNKNOWN = range(3)
DEPTH = 400
STEPS = 12  # of Newton's method
GOOD = 1e-12  # natural map
NARROW = 1e-4  # arcs are not divided further where the program decides nothing
LAW = 1e-9  # what a contact may lack of its law


@jit
def searched(S: Array, c: Array, kind: Indices, at: Indices, law: Array, limit: int, y: Array) -> int:
    """FOUND with a solution y (n,), all but for rounding; NONE where it is proved that there is none; UNKNOWN after ``limit`` programs."""
    n, k = c.shape[0], kind.shape[0]
    for i in range(k):
        if kind[i] == JOINT:
            return UNKNOWN
    node, x, s, z, g = np.zeros((k, 3)), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    which, child, before = np.empty(DEPTH, np.int64), np.empty(DEPTH, np.int64), np.empty((DEPTH, 3))
    depth = 0
    for _ in range(limit):
        found = UNDECIDED
        for smallest in (1e-9, 1e-7, 1e-11, 1e-6):
            if found == UNDECIDED:
                found = relaxed(S, c, kind, at, law, node, smallest, x, z, g)
        if found <= FEASIBLE:
            chosen = -1
            if found == FEASIBLE:
                motion(S, c, x, s)
                chosen = _furthest(kind, at, law, node, x, s)
                if polish(S, c, kind, at, law, x, STEPS) <= GOOD * max(1.0, largest_of(x)) or chosen < 0:
                    copy(x, y)
                    return FOUND
            else:
                chosen = _widest(kind, node)
            if chosen < 0 or depth == DEPTH:
                return UNKNOWN
            which[depth], child[depth] = chosen, 0
            for r in range(3):
                before[depth, r] = node[chosen, r]
            enter(node[chosen], before[depth], 0)
            depth += 1
            continue
        while depth > 0:
            chosen = which[depth - 1]
            child[depth - 1] += 1
            if enter(node[chosen], before[depth - 1], child[depth - 1]):
                break
            for r in range(3):
                node[chosen, r] = before[depth - 1, r]
            depth -= 1
        if depth == 0:
            return NONE
    return UNKNOWN


@jit
def enter(node: Array, before: Array, child: int) -> bool:
    """node (3,) becomes one of those that ``before`` (3,) is divided into; False after the last."""
    mode, middle = int(before[MODE]), 0.5 * (before[LOW] + before[HIGH])
    if mode == ANY:
        node[MODE] = OPEN if child == 0 else CLOSED
        return child < 2
    if mode == CLOSED:
        node[MODE] = STICK if child == 0 else SLIP
        node[LOW], node[HIGH] = 0.5 * np.pi * (child - 1), 0.5 * np.pi * child
        return child < 5
    node[MODE] = SLIP
    node[LOW], node[HIGH] = before[LOW] if child == 0 else middle, middle if child == 0 else before[HIGH]
    return child < 2


@jit
def _divisible(kind: int, mode: int) -> bool:
    return mode == ANY or (kind == FRICTION and (mode in (CLOSED, SLIP)))


@jit
def _furthest(kind: Indices, at: Indices, law: Array, node: Array, y: Array, s: Array) -> int:
    """The contact that lacks most of its law, impulses and velocities times what friction fails to take; -1 where none does."""
    best, found = -1.0, -1
    for i in range(kind.shape[0]):
        a = at[i]
        if not _divisible(kind[i], int(node[i, MODE])):
            continue
        lack, work = abs(min(y[a], s[a])), abs(y[a] * s[a])
        if kind[i] == FRICTION:
            radius = law[i, 0] * max(y[a], 0.0)
            t1, t2 = y[a + 1] - s[a + 1], y[a + 2] - s[a + 2]
            shrink = min(1.0, radius / max(length_of(t1, t2), 1e-300))
            lack += length_of(y[a + 1] - shrink * t1, y[a + 2] - shrink * t2)
            work += radius * length_of(s[a + 1], s[a + 2]) + y[a + 1] * s[a + 1] + y[a + 2] * s[a + 2]
        if lack > LAW and lack * work > best:
            best, found = lack * work, i
    return found


@jit
def _widest(kind: Indices, node: Array) -> int:
    """The contact of which least is told; -1 where nothing is left to tell."""
    best, found = NARROW, -1
    for i in range(kind.shape[0]):
        mode = int(node[i, MODE])
        if _divisible(kind[i], mode):
            width = 10.0 if mode == ANY else 9.0 if mode == CLOSED else node[i, HIGH] - node[i, LOW]
            if width > best:
                best, found = width, i
    return found
