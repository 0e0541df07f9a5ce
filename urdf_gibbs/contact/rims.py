"""Rims that roll, compiled: a circle on a body, or the torus about it, which touches a wall with whichever of its points is nearest.

A rim of radius R about c with the axis a has the points y(θ) = c + R d(θ); F(θ, t) = phi(y(θ), t), where θ counts from a direction that is
fixed to the body, and phi is that of a point, or for a torus that of a sphere with the radius of its tube (surfaces/gaps.py): a torus is
touched where one of its spheres is. The gap is g(t) = min F over θ. At the least point F_θ = 0, so that

    ġ = F_t,    g̈ = F_tt - F_θt² / F_θθ,    θ̇ = -F_θt / F_θθ,

F_t and F_tt being those of a point of the body, the one that is nearest now. The place of contact moves along the rim with y_θ θ̇, so the
material velocity there changes at the rate ÿ + ω × y_θ θ̇ (tangents.py adds the tube's share): rolling is exact, on walls of any curvature.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.surfaces import HEIGHT, PLANE, SIZE, SPHERE, STEEPEST, gap_motion, gap_value, hessian_motion, wall_path
from urdf_gibbs.engine.jit import jit

Array = Any

SAMPLES = 16  # of a rim, for its least point
CELL_SAMPLES = 4.0  # of a rim on a height field, for each cell of its grid
MOST_SAMPLES = 1024
MOST_STEPS = 60  # of Newton's method and bisection
SETTLED = 1e-14  # rad: a step that is shorter is the last
LEVEL = 1e-9  # |F_θθ| / (|grad phi| R): a rim flatter than this against the wall touches everywhere at once


@jit
def cross(a: Array, b: Array, out: Array) -> None:
    out[0], out[1], out[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@jit
def rim_axis(s: Any, c: int, out: Array) -> None:
    """out (3,): the axis of the rim of contact c in world axes; s.T are the placements of the bodies."""
    body, r = s.contacts.body[c, 0], s.contacts.rim[c]
    for k in range(3):
        out[k] = r[k]
        if body >= 0:
            out[k] = s.T[body, 3 * k] * r[0] + s.T[body, 3 * k + 1] * r[1] + s.T[body, 3 * k + 2] * r[2]


@jit
def along_rim(s: Any, c: int, t: float, arm: Array, axis: Array, centre: Array, out: Array) -> None:
    """out (6,): F, F_θ and F_θθ at the point centre + arm of a rim, then the gradient of phi: gap_motion with θ in the place of time."""
    d = wall_path(s.surfaces, s.contacts.surface[c], t)
    motion = np.empty(9)
    cross(axis, arm, motion[3:6])
    for k in range(3):
        motion[k] = centre[k] + arm[k]
        motion[3 + k] += d[k]
        motion[6 + k] = d[3 + k] - arm[k]
    gap_motion(s.surfaces, s.contacts.surface[c], t, motion, s.contacts.radius[c], out)


@jit
def downwards(s: Any, c: int, t: float, centre: Array, axis: Array, arm: Array) -> None:
    """arm (3,): from the centre along the wheel, the way in which phi falls most; any, where the rim lies flat."""
    out, motion, R = np.empty(6), np.zeros(9), s.contacts.rim[c, 3]
    for k in range(3):
        motion[k] = centre[k]
    gap_motion(s.surfaces, s.contacts.surface[c], t, motion, 0.0, out)
    along = out[3] * axis[0] + out[4] * axis[1] + out[5] * axis[2]
    size, whole = 0.0, 0.0
    for k in range(3):
        arm[k] = along * axis[k] - out[3 + k]
        size += arm[k] * arm[k]
        whole += out[3 + k] * out[3 + k]
    if not size > 1e-24 * whole:
        least = 0
        for k in range(1, 3):
            if abs(axis[k]) < abs(axis[least]):
                least = k
        for k in range(3):
            arm[k] = (1.0 if k == least else 0.0) - axis[least] * axis[k]
        size = 1.0 - axis[least] * axis[least]
    for k in range(3):
        arm[k] *= R / np.sqrt(size)


@jit
def rim_samples(s: Any, c: int) -> int:
    """At how many points of the rim phi is looked at; 1: the way down from the centre is exact."""
    i = s.contacts.surface[c]
    kind = s.surfaces.kind[i]
    if kind in (PLANE, SPHERE):
        return 1
    if kind != HEIGHT:
        return SAMPLES
    cell = min(s.surfaces.values[i, SIZE + 1], s.surfaces.values[i, SIZE + 3])
    return max(SAMPLES, int(min(MOST_SAMPLES, CELL_SAMPLES * 2.0 * np.pi * s.contacts.rim[c, 3] / cell)))


@jit
def turned(first: Array, second: Array, angle: float, out: Array) -> None:
    """out (3,): first cos + second sin of the angle."""
    x, y = np.cos(angle), np.sin(angle)
    for k in range(3):
        out[k] = x * first[k] + y * second[k]


@jit
def sampled(s: Any, c: int, t: float, centre: Array, first: Array, second: Array, values: Array) -> None:
    """values: phi at samples of the rim, equally far apart; infinite where it cannot be the least.

    A sphere's phi above a height field is costly. It lies between that of its centre less r and less r times the greatest |grad phi|: those
    spheres are left out that cannot be the lowest.
    """
    i, radius, x, count = s.contacts.surface[c], s.contacts.radius[c], np.empty(3), values.shape[0]
    step, lowest = 2.0 * np.pi / count, np.inf
    saves = radius > 0.0 and s.surfaces.kind[i] == HEIGHT
    for k in range(count):
        turned(first, second, k * step, x)
        for m in range(3):
            x[m] += centre[m]
        values[k] = gap_value(s.surfaces, i, t, x, 0.0 if saves else radius)
        lowest = min(lowest, values[k])
    if not saves:
        return
    steepest = s.surfaces.values[i, STEEPEST]
    lowest += radius * (steepest - 1.0) + 0.5 * step * s.contacts.rim[c, 3] * steepest  # within half a step it may fall by the last
    for k in range(count):
        if values[k] > lowest:
            values[k] = np.inf
            continue
        turned(first, second, k * step, x)
        for m in range(3):
            x[m] += centre[m]
        values[k] = gap_value(s.surfaces, i, t, x, radius)


@jit
def least_near(s: Any, c: int, t: float, centre: Array, axis: Array, frame: Array, angle: float, step: float, arm: Array) -> float:
    """phi at a local minimum within a step of the angle, by Newton's method between bounds; arm (3,) becomes the way there."""
    low, high, out = angle - step, angle + step, np.empty(6)
    for _ in range(MOST_STEPS):
        turned(frame[0], frame[1], angle, arm)
        along_rim(s, c, t, arm, axis, centre, out)
        if out[1] > 0.0:
            high = angle
        else:
            low = angle
        better = angle - out[1] / out[2] if out[2] > 0.0 else 0.5 * (low + high)
        if not low <= better <= high:
            better = 0.5 * (low + high)
        done = abs(better - angle) <= SETTLED
        angle = better
        if done:
            break
    turned(frame[0], frame[1], angle, arm)
    return out[0]


@jit
def least_arm(s: Any, c: int, t: float, centre: Array, axis: Array, arm: Array) -> None:
    """arm (3,): from the centre of the rim of contact c to its point with the least phi.

    Above uneven ground phi has several local minima along the rim, and the least of the samples need not be beside the least of them: each
    sample that is below its neighbours is followed to its minimum, unless slopes are too small for that to be the least.
    """
    downwards(s, c, t, centre, axis, arm)
    count = rim_samples(s, c)
    if count == 1:
        return
    frame, way, values = np.empty((2, 3)), np.empty(3), np.empty(count)
    for k in range(3):
        frame[0, k] = arm[k]
    cross(axis, frame[0], frame[1])
    sampled(s, c, t, centre, frame[0], frame[1], values)
    step, least, lowest = 2.0 * np.pi / count, np.inf, np.inf
    for k in range(count):
        lowest = min(lowest, values[k])
    reach = np.inf
    if s.surfaces.kind[s.contacts.surface[c]] == HEIGHT:
        reach = lowest + 0.5 * step * s.contacts.rim[c, 3] * s.surfaces.values[s.contacts.surface[c], STEEPEST]
    for k in range(count):
        here = values[k]
        if here <= reach and here <= values[k - 1] and here < values[(k + 1) % count]:
            found = least_near(s, c, t, centre, axis, frame, k * step, step, way)
            if found < least:
                least = found
                for m in range(3):
                    arm[m] = way[m]


@jit
def rim_gap(s: Any, c: int, t: float, centre: Array) -> float:
    """phi at the nearest point of the rim of contact c about the centre (3,)."""
    axis, arm, x = np.empty(3), np.empty(3), np.empty(3)
    rim_axis(s, c, axis)
    least_arm(s, c, t, centre, axis, arm)
    for k in range(3):
        x[k] = centre[k] + arm[k]
    return gap_value(s.surfaces, s.contacts.surface[c], t, x, s.contacts.radius[c])


@jit
def rim_motion(s: Any, c: int, t: float) -> None:
    """contact_motion of a rim, the motion of whose centre is in s.x[0:9] already: that becomes the motion of the body at the contact.

    s.x[9:12] is how fast the contact moves along the rim, s.x[24] a bound of how fast the nearest point approaches a wall [m/s].
    """
    contacts, x, out, body = s.contacts, s.x, s.out, s.contacts.body[c, 0]
    axis, arm, turn, faster, more, tangent = np.empty(3), np.empty(3), np.zeros(3), np.zeros(3), np.empty(3), np.empty(3)
    rim_axis(s, c, axis)
    least_arm(s, c, t, x[:3], axis, arm)
    if body >= 0:
        for k in range(3):
            turn[k], faster[k] = s.V[body, k], s.A[body, k]
    spin = turn[0] * axis[0] + turn[1] * axis[1] + turn[2] * axis[2]
    across = 0.0
    for k in range(3):
        across += (turn[k] - spin * axis[k]) ** 2
    bound = np.sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5]) + contacts.rim[c, 3] * np.sqrt(across)
    curve, bend, mixed = np.empty(6), np.empty(3), np.empty(3)
    along_rim(s, c, t, arm, axis, x[:3], curve)
    cross(turn, arm, more)
    for k in range(3):
        x[k] += arm[k]
        x[3 + k] += more[k]
    cross(turn, more, bend)
    cross(faster, arm, more)
    for k in range(3):
        x[6 + k] += more[k] + bend[k]
    gap_motion(s.surfaces, contacts.surface[c], t, x, contacts.radius[c], x[18:24])
    cross(axis, arm, tangent)
    cross(turn, tangent, mixed)
    hessian_motion(s.surfaces, contacts.surface[c], t, x, contacts.radius[c], bend)
    both = 0.0  # F_θt
    for k in range(3):
        both += x[21 + k] * mixed[k] + bend[k] * tangent[k]
    size = np.sqrt(x[21] * x[21] + x[22] * x[22] + x[23] * x[23])
    pace = -both / curve[2] if curve[2] > LEVEL * size * contacts.rim[c, 3] else 0.0
    out[0], out[1], out[2], out[3] = x[18], x[19], x[20] + both * pace, size
    for k in range(3):
        out[4 + k] = x[21 + k] / size
        x[9 + k] = pace * tangent[k]
    x[24] = bound
