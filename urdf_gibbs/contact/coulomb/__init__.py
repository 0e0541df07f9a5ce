"""PROVISIONAL"""
from __future__ import annotations
import numpy as np
from urdf_gibbs.engine.jit import jit
FRICTION, NORMAL, JOINT, SLIDING = range(4)

@jit
def _g(th, K, i, bn, b1, b2, mu):
    c, s = np.cos(th), np.sin(th)
    D = K[i, i] + mu * (K[i, i + 1] * c + K[i, i + 2] * s)
    pn = -bn / D
    u1 = b1 + pn * (K[i + 1, i] + mu * (K[i + 1, i + 1] * c + K[i + 1, i + 2] * s))
    u2 = b2 + pn * (K[i + 2, i] + mu * (K[i + 2, i + 1] * c + K[i + 2, i + 2] * s))
    return -s * u1 + c * u2, c * u1 + s * u2, D

@jit
def solve(K, b, kind, at, mu, reach, slide, p):
    k = kind.shape[0]
    n = b.shape[0]
    for sweep in range(3000):
        change, size = 0.0, 1e-300
        for i in range(k):
            a = at[i]
            bn = b[a]
            for j in range(n):
                bn += K[a, j] * p[j]
            if kind[i] == NORMAL:
                new = max(0.0, p[a] - bn / K[a, a])
                change = max(change, abs(new - p[a])); size = max(size, abs(new))
                p[a] = new
                continue
            b1, b2 = b[a + 1], b[a + 2]
            for j in range(n):
                b1 += K[a + 1, j] * p[j]
                b2 += K[a + 2, j] * p[j]
            for j in range(3):
                bn -= K[a, a + j] * p[a + j]
                b1 -= K[a + 1, a + j] * p[a + j]
                b2 -= K[a + 2, a + j] * p[a + j]
            x = y = z = 0.0
            if bn < 0.0 and kind[i] == SLIDING:
                D = K[a, a] - mu[i] * (K[a, a + 1] * slide[i, 0] + K[a, a + 2] * slide[i, 1])
                x = -bn / D
                if D <= 0.0:
                    return 1.0
                y, z = -mu[i] * x * slide[i, 0], -mu[i] * x * slide[i, 1]
            elif bn < 0.0:
                A, d, e, f, g, h = K[a, a], K[a, a + 1], K[a, a + 2], K[a + 1, a + 1], K[a + 1, a + 2], K[a + 2, a + 2]
                c00, c01, c02 = f * h - g * g, e * g - d * h, d * g - e * f
                det = A * c00 + d * c01 + e * c02
                c11, c12, c22 = A * h - e * e, d * e - A * g, A * f - d * d
                if det > 1e-14 * A * f * h:
                    x = -(c00 * bn + c01 * b1 + c02 * b2) / det
                    y = -(c01 * bn + c11 * b1 + c12 * b2) / det
                    z = -(c02 * bn + c12 * b1 + c22 * b2) / det
                if not (x > 0.0 and np.hypot(y, z) <= mu[i] * x):
                    best = 0.0
                    found = False
                    th0 = np.arctan2(-b2, -b1)
                    N = 32
                    for q in range(N):
                        lo, hi = th0 + 2 * np.pi * (q - 0.5) / N, th0 + 2 * np.pi * (q + 0.5) / N
                        Fl, _, _ = _g(lo, K, a, bn, b1, b2, mu[i])
                        Fh, _, _ = _g(hi, K, a, bn, b1, b2, mu[i])
                        if Fl * Fh <= 0.0:
                            for _ in range(60):
                                mid = 0.5 * (lo + hi)
                                Fm, _, _ = _g(mid, K, a, bn, b1, b2, mu[i])
                                if Fl * Fm <= 0.0:
                                    hi = mid
                                else:
                                    lo, Fl = mid, Fm
                            F, dot, D = _g(lo, K, a, bn, b1, b2, mu[i])
                            if D > 0.0 and dot <= 0.0:
                                best = lo
                                found = True
                                break
                    if not found:
                        return 1.0
                    F, dot, D = _g(best, K, a, bn, b1, b2, mu[i])
                    x = -bn / D
                    y, z = mu[i] * x * np.cos(best), mu[i] * x * np.sin(best)
            change = max(change, abs(x - p[a]), abs(y - p[a + 1]), abs(z - p[a + 2]))
            size = max(size, abs(x), abs(y), abs(z))
            p[a], p[a + 1], p[a + 2] = x, y, z
        if change <= 1e-14 * size:
            return 0.0
    return change / size

@jit
def shortest(K, b, kind, at, mu, reach, slide, p):
    return None
