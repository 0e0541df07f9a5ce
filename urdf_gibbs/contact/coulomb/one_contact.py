"""Coulomb's law at one contact, exactly: u = S y + c with S (3, 3), by stick, slip or opening. Compiled.

Slipping, y = yₙ (1, μ t) with t a unit vector, sₙ = 0 gives yₙ = -cₙ / D, D = Sₙₙ + μ w·t with w = Sₜₙ. The velocity is sₜ = g / D,
g = D cₜ - cₙ (w + μ A t) with A = Sₜₜ, and has to be opposite to t: t⊥·g = 0, t·g < 0. Newton's method on the angle of t.
"""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.scaled import Array
from urdf_gibbs.contact.dense import length_of
from urdf_gibbs.engine.jit import jit

ANGLES = 64  # of the search where Newton's method finds nothing
TURNS = 8  # of Newton's method


@jit
def one_contact(S: Array, a: int, c: Array, mu: float, y: Array) -> None:
    """y[a : a + 3] for the rows and columns a, a + 1, a + 2 of S and the velocity c (3,) without it. Starts at the direction in y."""
    if c[0] >= 0.0:
        y[a], y[a + 1], y[a + 2] = 0.0, 0.0, 0.0
        return
    if mu == 0.0:
        y[a], y[a + 1], y[a + 2] = max(0.0, -c[0] / S[a, a]), 0.0, 0.0
        return
    if _stick(S, a, c, mu, y):
        return
    t0, t1 = y[a + 1], y[a + 2]
    length = length_of(t0, t1)
    if not length > 0.0:
        t0, t1 = -c[1], -c[2]
        length = length_of(t0, t1)
    if length > 0.0:
        t0, t1 = t0 / length, t1 / length
    else:
        t0, t1 = 1.0, 0.0
    t0, t1, found = _newton(S, a, c, mu, t0, t1)
    if not found:
        t0, t1, found = _search(S, a, c, mu)
    D = S[a, a] + mu * (S[a + 1, a] * t0 + S[a + 2, a] * t1)
    if found and D > 0.0:
        y[a] = -c[0] / D
        y[a + 1], y[a + 2] = mu * y[a] * t0, mu * y[a] * t1


@jit
def _stick(S: Array, a: int, c: Array, mu: float, y: Array) -> bool:
    """s = 0, if y is then inside its cone."""
    k, w0, w1 = S[a, a], S[a + 1, a], S[a + 2, a]
    A00, A01, A11 = S[a + 1, a + 1], S[a + 1, a + 2], S[a + 2, a + 2]
    m00, m01, m02 = A00 * A11 - A01 * A01, w1 * A01 - w0 * A11, w0 * A01 - w1 * A00
    det = k * m00 + w0 * m01 + w1 * m02
    if not det > 1e-12:
        return False
    m11, m12, m22 = k * A11 - w1 * w1, w0 * w1 - k * A01, k * A00 - w0 * w0
    x = -(m00 * c[0] + m01 * c[1] + m02 * c[2]) / det
    t0 = -(m01 * c[0] + m11 * c[1] + m12 * c[2]) / det
    t1 = -(m02 * c[0] + m12 * c[1] + m22 * c[2]) / det
    if not (x >= 0.0 and t0 * t0 + t1 * t1 <= mu * x * mu * x):
        return False
    y[a], y[a + 1], y[a + 2] = x, t0, t1
    return True


@jit
def _turned(S: Array, a: int, c: Array, mu: float, t0: float, t1: float) -> tuple[float, float, float]:
    """t⊥·g, t·g and the derivative of the first along the angle."""
    w0, w1, A00, A01, A11 = S[a + 1, a], S[a + 2, a], S[a + 1, a + 1], S[a + 1, a + 2], S[a + 2, a + 2]
    D = S[a, a] + mu * (w0 * t0 + w1 * t1)
    g0 = c[1] * D - c[0] * (w0 + mu * (A00 * t0 + A01 * t1))
    g1 = c[2] * D - c[0] * (w1 + mu * (A01 * t0 + A11 * t1))
    rate = mu * (w1 * t0 - w0 * t1)
    h0 = c[1] * rate - c[0] * mu * (A01 * t0 - A00 * t1)
    h1 = c[2] * rate - c[0] * mu * (A11 * t0 - A01 * t1)
    along = t0 * g0 + t1 * g1
    return t0 * g1 - t1 * g0, along, t0 * h1 - t1 * h0 - along


@jit
def _newton(S: Array, a: int, c: Array, mu: float, t0: float, t1: float) -> tuple[float, float, bool]:
    """The direction, and whether it is one of slip."""
    size = S[a, a] * (abs(c[0]) + abs(c[1]) + abs(c[2])) * (1.0 + mu)
    for _ in range(TURNS):
        F, along, slope = _turned(S, a, c, mu, t0, t1)
        if abs(F) <= 1e-13 * size:
            return t0, t1, along <= 0.0 and S[a, a] + mu * (S[a + 1, a] * t0 + S[a + 2, a] * t1) > 0.0
        if slope == 0.0:
            break
        step = min(max(-F / slope, -0.5), 0.5)
        length = np.sqrt(1.0 + step * step)
        t0, t1 = (t0 - step * t1) / length, (t1 + step * t0) / length
    F, along, slope = _turned(S, a, c, mu, t0, t1)
    good = abs(F) <= 1e-7 * size and along <= 0.0 and S[a, a] + mu * (S[a + 1, a] * t0 + S[a + 2, a] * t1) > 0.0
    return t0, t1, good


@jit
def _search(S: Array, a: int, c: Array, mu: float) -> tuple[float, float, bool]:
    """The same around the circle: of all directions of slip that with the least impulse."""
    best0, best1, best = 1.0, 0.0, 0.0
    before, last0, last1 = _turned(S, a, c, mu, 1.0, 0.0)[0], 1.0, 0.0
    for m in range(1, ANGLES + 1):
        angle = 2.0 * np.pi * m / ANGLES
        t0, t1 = np.cos(angle), np.sin(angle)
        F = _turned(S, a, c, mu, t0, t1)[0]
        if before * F <= 0.0:
            low0, low1, high0, high1, left = last0, last1, t0, t1, before
            for _ in range(50):
                x0, x1 = low0 + high0, low1 + high1
                length = length_of(x0, x1)
                x0, x1 = x0 / length, x1 / length
                middle = _turned(S, a, c, mu, x0, x1)[0]
                if left * middle <= 0.0:
                    high0, high1 = x0, x1
                else:
                    low0, low1, left = x0, x1, middle
            D = S[a, a] + mu * (S[a + 1, a] * low0 + S[a + 2, a] * low1)
            if best < D and _turned(S, a, c, mu, low0, low1)[1] <= 0.0:
                best0, best1, best = low0, low1, D
        before, last0, last1 = F, t0, t1
    return best0, best1, best > 0.0
