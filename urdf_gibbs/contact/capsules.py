"""Pairs of capsules, compiled: segments with a radius, which touch where they are nearest to each other.

Points a = c_a + λ h_a and b = c_b + μ h_b of two segments, -1 <= λ, μ <= 1; F = (|a - b|² - D²) / (2 D), D being the sum of the radii. The
gap is the least F over p = (λ, μ). With F_p = 0 for those of λ, μ that are not at their ends

    ġ = F_t,    g̈ = F_tt - F_ptᵀ F_pp⁻¹ F_pt,    ṗ = -F_pp⁻¹ F_pt,

F_t and F_tt being those of the points of the two bodies that are nearest now. A sphere is a segment of no length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.engine.jit import jit

Array = Any

PARALLEL = 1e-12  # 1 - cos² of the angle between two segments: less is parallel, and one of them stays where it is


@jit
def half_axis(s: Any, c: int, second: int, out: Array) -> None:
    """out (3,): half of the first or second segment of contact c, in world axes; s.T are the placements of the bodies."""
    body, r = s.contacts.body[c, second], s.contacts.half[c, 3 * second : 3 * second + 3]
    for k in range(3):
        out[k] = r[k]
        if body >= 0:
            out[k] = s.T[body, 3 * k] * r[0] + s.T[body, 3 * k + 1] * r[1] + s.T[body, 3 * k + 2] * r[2]


@jit
def dot(a: Array, b: Array) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def limited(x: float) -> float:
    return min(1.0, max(-1.0, x))


@jit
def nearest_places(d: Array, a: Array, b: Array) -> tuple[float, float]:
    """λ and μ of the nearest points of segments whose centres differ by d (3,) and whose halves are a and b (3,)."""
    A, B, C, D, E = dot(a, a), dot(b, b), dot(a, b), dot(a, d), dot(b, d)
    if A == 0.0 and B == 0.0:
        return 0.0, 0.0
    if A == 0.0:
        return 0.0, limited(E / B)
    if B == 0.0:
        return limited(-D / A), 0.0
    apart = A * B - C * C
    first = limited((C * E - B * D) / apart) if apart > PARALLEL * A * B else 0.0
    second = (C * first + E) / B
    if abs(second) > 1.0:
        second = limited(second)
        first = limited((C * second - D) / A)
    return first, second


@jit
def capsule_gap(s: Any, c: int, x: Array) -> float:
    """phi of a pair whose centres are x[0:3] and x[3:6]."""
    a, b, d = np.empty(3), np.empty(3), np.empty(3)
    half_axis(s, c, 0, a)
    half_axis(s, c, 1, b)
    for k in range(3):
        d[k] = x[k] - x[3 + k]
    first, second = nearest_places(d, a, b)
    square, reach = 0.0, s.contacts.radius[c]
    for k in range(3):
        square += (d[k] + first * a[k] - second * b[k]) ** 2
    return (square - reach * reach) / (2.0 * reach)


@jit
def shift(s: Any, body: int, x: Array, r: Array) -> float:
    """The motion x (9,) of a point of a body becomes that of the point r (3,) away from it; gives |ω|."""
    if body < 0:
        for k in range(3):
            x[k] += r[k]
        return 0.0
    V, A, u = s.V[body], s.A[body], np.empty(3)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        u[k] = V[i] * r[j] - V[j] * r[i]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        x[6 + k] += A[i] * r[j] - A[j] * r[i] + V[i] * u[j] - V[j] * u[i]
    for k in range(3):
        x[k] += r[k]
        x[3 + k] += u[k]
    return float(np.sqrt(V[0] * V[0] + V[1] * V[1] + V[2] * V[2]))


@jit
def mixed_rate(s: Any, body: int, d: Array, rate: Array, half: Array) -> float:
    """d(d·half)/dt (3,) of a half that turns with its body, d changing with ``rate``."""
    value = dot(rate, half)
    if body >= 0:
        V = s.V[body]
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            value += d[k] * (V[i] * half[j] - V[j] * half[i])
    return value


@jit
def to_nearest(s: Any, c: int) -> None:
    """s.x[0:9] and s.x[9:18], the motions of the centres of a pair, become those of the nearest points of its segments.

    s.x[18:21] and s.x[21:24] are then how fast these move along the segments; s.x[24] is a bound of how fast the two approach [m/s], and
    s.x[25] what their motion adds to D times the second rate of the gap.
    """
    x, body = s.x, s.contacts.body[c]
    a, b, d, rate, turn = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    half_axis(s, c, 0, a)
    half_axis(s, c, 1, b)
    for k in range(3):
        d[k], rate[k] = x[k] - x[9 + k], x[3 + k] - x[12 + k]
    bound = np.sqrt(dot(rate, rate))
    first, second = nearest_places(d, a, b)
    for k in range(3):
        turn[k] = first * a[k]
    bound += shift(s, body[0], x[0:9], turn) * np.sqrt(dot(a, a))
    for k in range(3):
        turn[k] = second * b[k]
    bound += shift(s, body[1], x[9:18], turn) * np.sqrt(dot(b, b))
    for k in range(3):
        d[k], rate[k] = x[k] - x[9 + k], x[3 + k] - x[12 + k]
    A, B, C = dot(a, a), dot(b, b), dot(a, b)
    p, q = mixed_rate(s, body[0], d, rate, a), -mixed_rate(s, body[1], d, rate, b)
    moves, turns = abs(first) < 1.0 and A > 0.0, abs(second) < 1.0 and B > 0.0
    if moves and turns and A * B - C * C <= PARALLEL * A * B:
        moves = False
    faster, other = 0.0, 0.0
    if moves and turns:  # F_pp = [[A, -C], [-C, B]] / D
        faster, other = -(B * p + C * q) / (A * B - C * C), -(C * p + A * q) / (A * B - C * C)
    elif moves:
        faster = -p / A
    elif turns:
        other = -q / B
    for k in range(3):
        x[18 + k], x[21 + k] = faster * a[k], other * b[k]
    x[24], x[25] = bound, p * faster + q * other
