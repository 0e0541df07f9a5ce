"""Roots of polynomials by their Bernstein coefficients, which bound them from below. Compiled."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.engine.jit import jit

Array = Any

DEGREE = 10
NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
_bernstein = np.array([[comb(DEGREE, j) * x**j * (1.0 - x) ** (DEGREE - j) for j in range(DEGREE + 1)] for x in NODES])
TO_BERNSTEIN = np.linalg.inv(_bernstein)
ROUNDING = 2e-16 * np.abs(TO_BERNSTEIN).sum(axis=1).max()  # error of a Bernstein coefficient, relative to the largest value at a node
TO_CHEBYSHEV = np.linalg.inv(np.cos(np.outer(np.arccos(np.clip(1.0 - 2.0 * NODES, -1.0, 1.0)), np.arange(DEGREE + 1))))


@jit
def halve(b: Array, left: Array, right: Array) -> None:
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
def single_root(b: Array, work: Array) -> float:
    """The single root in [0, 1] of a polynomial that is positive at 0 and negative at 1, by the Illinois method."""
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
            if changes == 1:  # one root, by Descartes' rule of signs
                return start + width * single_root(one, other)
        if top + 2 > room:
            return start
        halve(one, stack[top + 1], stack[top])  # the left half is on top of the stack
        low[top], size[top] = start + 0.5 * width, 0.5 * width
        low[top + 1], size[top + 1] = start, 0.5 * width
        top += 2
    return -1.0


@jit
def divide_by_x(b: Array, slope: float) -> None:
    """Replace all but the last coefficient by those of p(x) / x, for a polynomial with p(0) = 0 and p'(0) = slope."""
    n = b.shape[0] - 1
    for j in range(n):
        b[j] = n / (j + 1.0) * b[j + 1]
    b[0] = slope
