"""Stronge's energetic restitution at one contact with friction in space, by the equations of Darboux and Keller.

The impact is a process in the normal impulse p_n, in which friction obeys Coulomb's law at each moment:

    du / dp_n = K (1, f),    f = -mu u_t / |u_t| while it slips,    f = -K_tt⁻¹ K_tn while it sticks, possible where |f| <= mu.

Where slip stops but sticking is impossible, it continues in the one direction d with K_tn - mu K_tt d = g d, g > 0. With W = ∫ u_n dp_n,
compression is where u_n < 0, restitution where u_n > 0, and the impact ends when W_r = -e² W_c.

With d = u_t / |u_t| and dp_n = |u_t| dτ the equations are polynomial, and smooth in τ up to the end of slip, however fast it turns:

    d|u_t|/dτ = |u_t| d·w,    dd/dτ = (d × w) d⊥,    w = K_tn - mu K_tt d;

a step is a Taylor series, and events are zeros of it. Where d × w = 0 the direction does not change, as in the plane, and slip has a
closed form; so has stick.

Energy: it cannot grow. Normal impulses do the work -(1 - e²) |W_c| <= 0, those of friction -mu ∫ |u_t| dp_n <= 0 or, at stick, none.

Where several contacts are struck at once the result would depend on their order and overlap, which a model of rigid bodies does not
determine: then Moreau's law is applied.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.dense import fill
from urdf_gibbs.engine.jit import jit

Array = NDArray[np.float64]

SEVERAL = -1.0  # in place of a certificate: more than one contact is struck
AT_REST = 1e-10  # of the approach: velocities at which other contacts do not strike
STOPPED = 1e-15  # of the largest velocity
STRAIGHT = 1e-14  # of K: a slip velocity that turns less keeps its direction
ORDER = 20  # of the series
CUT = 1e-18  # the largest that the last terms of a series may be
STEPS = 2000
UN, SPEED, D1, D2, PN, P1, P2, WORK = range(8)  # u_n, |u_t|, direction of slip, impulses, W since the beginning of a step


@jit
def impulses(problem: Problem, u: Array, e: Array) -> float:
    """Fills problem.p (n,) [N s], u (n,) [m/s] being the velocities before, e (k,).

    Returns how well the result agrees with K and with W_r = -e² W_c, or SEVERAL where more than one contact would get an impulse.
    """
    at, k = problem.at, problem.count
    n, struck = at[k], 0
    for i in range(n):
        problem.p[i] = 0.0
    for i in range(k):
        if u[at[i]] < u[at[struck]]:
            struck = i
    a, rows = at[struck], at[struck + 1] - at[struck]
    if not u[a] < 0.0:
        return 0.0
    residual = _alone(problem, u, e[struck], struck)
    for i in range(k):
        after = u[at[i]]
        for r in range(rows):
            after += problem.K[at[i] * n + a + r] * problem.p[a + r]
        if i != struck and not (u[at[i]] > AT_REST * u[a] and after > AT_REST * u[a]):
            return SEVERAL
    return residual


@jit
def _alone(problem: Problem, u: Array, e: float, i: int) -> float:
    """The impulses of contact i, in units of its largest velocity and of its largest K."""
    a, n = problem.at[i], problem.at[problem.count]
    rows = problem.at[i + 1] - a
    if rows == 1 or problem.mu[i] == 0.0:
        problem.p[a] = -(1.0 + e) * u[a] / problem.K[a * n + a]
        return 0.0 if problem.p[a] < np.inf else np.inf
    K, before, p = np.empty((3, 3)), np.empty(3), np.empty(3)
    speed, size = 0.0, 0.0
    for r in range(3):
        speed = max(speed, abs(u[a + r]))
        size = max(size, problem.K[(a + r) * n + a + r])
    if not size > 0.0:
        return np.inf
    for r in range(3):
        before[r] = u[a + r] / speed
        for c in range(3):
            K[r, c] = problem.K[(a + r) * n + a + c] / size
    residual = process(K, before, problem.mu[i], e, p)
    for r in range(3):
        problem.p[a + r] = p[r] * speed / size
    return residual


@jit
def process(K: Array, u: Array, mu: float, e: float, p: Array) -> float:
    """The impact of one contact: K (3, 3) and u (3,), both of order one, fill p (3,). Gives the residual; inf where it does not end."""
    z, T, rate, work = np.empty(8), np.empty((8, ORDER + 1)), np.empty(4), np.empty(2)
    fill(z, 0.0)
    fill(work, 0.0)
    z[UN] = u[0]
    _set_slip(z, u[1], u[2])
    restart = z[SPEED] == 0.0
    for _ in range(STEPS):
        straight = True
        if restart:
            _from_rest(K, mu, z, rate)
        else:
            straight = _slips(K, mu, z, rate)
        compresses = z[UN] < 0.0 or (z[UN] == 0.0 and rate[0] < 0.0)
        need = e * e * work[0] - work[1]
        if not compresses and not need > 0.0:
            break
        z[WORK] = 0.0
        if straight:
            if not _straight(z, rate, compresses, need):
                return np.inf
        else:
            _curved(K, mu, z, T, compresses, need)
        if compresses:
            work[0] -= z[WORK]
        else:
            work[1] += z[WORK]
        restart = z[SPEED] < STOPPED
        if restart:
            z[SPEED] = 0.0
    for r in range(3):
        p[r] = z[PN + r]
    return _residual(K, u, mu, z, abs(work[1] - e * e * work[0]) / max(work[0], 1e-300))


@jit
def _residual(K: Array, u: Array, mu: float, z: Array, work: float) -> float:
    """The largest of three errors: of the integrated velocities against those by K, of the impulse outside its cone, and of ``work``."""
    worst = max(work, np.hypot(z[P1], z[P2]) - mu * z[PN], -z[PN])
    for r in range(3):
        velocity = z[UN] if r == 0 else z[SPEED] * z[D1 + r - 1]
        worst = max(worst, abs(u[r] + K[r, 0] * z[PN] + K[r, 1] * z[P1] + K[r, 2] * z[P2] - velocity))
    return worst


@jit
def _set_slip(z: Array, x: float, y: float) -> None:
    """Speed and direction of slip from the tangential velocity."""
    speed = np.hypot(x, y)
    z[SPEED] = speed if speed > STOPPED else 0.0
    z[D1], z[D2] = (x / speed, y / speed) if speed > STOPPED else (1.0, 0.0)


# phases in which the force keeps its direction ---------------------------------------------------------


@jit
def _rates(K: Array, f1: float, f2: float, speed: float, rate: Array) -> None:
    """rate (4,) in p_n: of u_n, of |u_t|, and f."""
    rate[0] = K[0, 0] + K[0, 1] * f1 + K[0, 2] * f2
    rate[1], rate[2], rate[3] = speed, f1, f2


@jit
def _slips(K: Array, mu: float, z: Array, rate: Array) -> bool:
    """The rates of slip in the direction of z; whether it keeps this direction."""
    x, y = z[D1], z[D2]
    w1, w2 = K[1, 0] - mu * (K[1, 1] * x + K[1, 2] * y), K[2, 0] - mu * (K[2, 1] * x + K[2, 2] * y)
    _rates(K, -mu * x, -mu * y, x * w1 + y * w2, rate)
    return abs(x * w2 - y * w1) <= STRAIGHT * (1.0 + mu)


@jit
def _from_rest(K: Array, mu: float, z: Array, rate: Array) -> None:
    """The rates from u_t = 0: of stick where that is possible, else of slip in the d with (mu K_tt + g) d = K_tn, which z is given."""
    k1, k2, a, b, c = K[1, 0], K[2, 0], K[1, 1], K[1, 2], K[2, 2]
    det, trace = a * c - b * b, a + c
    if det > 1e-14 * trace * trace:
        f1, f2 = (b * k2 - c * k1) / det, (b * k1 - a * k2) / det
    elif trace > 0.0:  # of rank one: the inverse is K_tt / trace²
        f1, f2 = -(a * k1 + b * k2) / (trace * trace), -(b * k1 + c * k2) / (trace * trace)
    else:
        f1, f2 = 0.0, 0.0
    if np.hypot(f1, f2) <= mu:
        _rates(K, f1, f2, 0.0, rate)
        return
    low, high, x, y = 0.0, np.hypot(k1, k2), 1.0, 0.0
    for _ in range(100):  # |d| falls as g grows
        g = 0.5 * (low + high)
        det = (mu * a + g) * (mu * c + g) - mu * b * mu * b
        x, y = ((mu * c + g) * k1 - mu * b * k2) / det, ((mu * a + g) * k2 - mu * b * k1) / det
        if np.hypot(x, y) > 1.0:
            low = g
        else:
            high = g
    length = np.hypot(x, y)
    z[D1], z[D2] = x / length, y / length
    _slips(K, mu, z, rate)


@jit
def _straight(z: Array, rate: Array, compresses: bool, need: float) -> bool:
    """Follow constant rates to the end of slip, of compression or of the impact; False where there is none. W = u_n p + ½ du_n p²."""
    c, g = rate[0], rate[1]
    stop = -z[SPEED] / g if z[SPEED] > 0.0 and g < 0.0 else np.inf
    turn = -z[UN] / c if z[UN] * c < 0.0 else np.inf
    end = np.inf
    if not compresses:
        under = z[UN] * z[UN] + 2.0 * c * need
        if under >= 0.0:
            root = z[UN] + np.sqrt(under)
            end = 2.0 * need / root if root > 0.0 else np.inf
    p = min(stop, turn, end)
    if not p < np.inf:
        return False
    z[WORK] = (z[UN] + 0.5 * c * p) * p
    z[UN] = 0.0 if p == turn else z[UN] + c * p
    z[SPEED] = 0.0 if p == stop else z[SPEED] + g * p
    z[PN] += p
    z[P1] += rate[2] * p
    z[P2] += rate[3] * p
    return True


# slip that turns ---------------------------------------------------------------------------------------


@jit
def _curved(K: Array, mu: float, z: Array, T: Array, compresses: bool, need: float) -> None:
    """One step of slip in τ, to the end of compression or of the impact at most."""
    _series(K, mu, z, T)
    length = _length(T)
    row, level, rises = WORK, need, True
    if compresses:
        row, level = UN, 0.0
    elif _value(T[UN], length) < 0.0 and _value(T[WORK], length) < need:  # compression once more
        row, level, rises = UN, 0.0, False
    ends = (_value(T[row], length) < level) != rises
    if ends:
        length = _crossing(T[row], level, rises, length)
    for r in range(8):
        z[r] = _value(T[r], length)
    if ends and row == UN:
        z[UN] = 0.0
    if ends and row == WORK:
        z[WORK] = need
    size = np.hypot(z[D1], z[D2])
    z[D1], z[D2] = z[D1] / size, z[D2] / size


@jit
def _series(K: Array, mu: float, z: Array, T: Array) -> None:
    """T (8, ORDER + 1): the coefficients of all eight quantities in powers of τ."""
    w1, w2, h, g = np.empty(ORDER), np.empty(ORDER), np.empty(ORDER), np.empty(ORDER)
    x, y, s = T[D1], T[D2], T[SPEED]
    for r in range(8):
        T[r, 0] = z[r]
    for m in range(ORDER):
        w1[m] = (K[1, 0] if m == 0 else 0.0) - mu * (K[1, 1] * x[m] + K[1, 2] * y[m])
        w2[m] = (K[2, 0] if m == 0 else 0.0) - mu * (K[2, 1] * x[m] + K[2, 2] * y[m])
        h[m], g[m] = 0.0, 0.0
        for j in range(m + 1):
            h[m] += x[j] * w2[m - j] - y[j] * w1[m - j]
            g[m] += x[j] * w1[m - j] + y[j] * w2[m - j]
        dx, dy, ds, f1, f2, work = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(m + 1):
            dx -= y[j] * h[m - j]
            dy += x[j] * h[m - j]
            ds += s[j] * g[m - j]
            f1 -= mu * s[j] * x[m - j]
            f2 -= mu * s[j] * y[m - j]
            work += T[UN, j] * s[m - j]
        x[m + 1], y[m + 1], s[m + 1] = dx / (m + 1), dy / (m + 1), ds / (m + 1)
        T[PN, m + 1], T[P1, m + 1], T[P2, m + 1], T[WORK, m + 1] = s[m] / (m + 1), f1 / (m + 1), f2 / (m + 1), work / (m + 1)
        T[UN, m + 1] = K[0, 0] * T[PN, m + 1] + K[0, 1] * T[P1, m + 1] + K[0, 2] * T[P2, m + 1]


@jit
def _length(T: Array) -> float:
    """How far the series reach: their last two terms are small, beside |u_t| in that of |u_t|."""
    length = 1e3
    for r in range(8):
        allowed = CUT * T[SPEED, 0] if r == SPEED else CUT
        for m in range(ORDER - 1, ORDER + 1):
            if abs(T[r, m]) > 0.0:
                length = min(length, (allowed / abs(T[r, m])) ** (1.0 / m))
    return length


@jit
def _value(coefficients: Array, x: float) -> float:
    """The polynomial at x."""
    value = 0.0
    for m in range(ORDER, -1, -1):
        value = value * x + coefficients[m]
    return value


@jit
def _crossing(coefficients: Array, level: float, rises: bool, length: float) -> float:
    """Where in (0, length] the polynomial passes through the level, by bisection."""
    low, high = 0.0, length
    for _ in range(60):
        middle = 0.5 * (low + high)
        if (_value(coefficients, middle) < level) == rises:
            low = middle
        else:
            high = middle
    return high
