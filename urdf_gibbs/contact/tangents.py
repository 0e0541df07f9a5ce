"""The tangential motion of a contact, compiled: two rows of the Jacobian, the relative velocity, and its rate without accelerations.

What slides is the material of the two bodies where they touch. A sphere of radius r about x touches at x - r n, which moves
along its surface as n turns: there the velocity is ẋ + ω × (-r n), and its rate is ẍ + α × (-r n) + ω × (-r ṅ), not the
acceleration of a particle. So rolling is exact on walls of any curvature.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.kinematics import PAIR, add_row, is_capsule
from urdf_gibbs.contact.surfaces import hessian_motion, wall_path
from urdf_gibbs.engine.jit import jit

Array = Any  # numba sees float64 arrays


@jit
def tangents(nx: float, ny: float, nz: float, out: Array) -> None:
    """out (2, 3): two unit vectors that complete the unit normal n to a right-handed frame (n, t1, t2).

    The first is normal to n and to the axis from which n is farthest.
    """
    ax, ay, az = abs(nx), abs(ny), abs(nz)
    if ax <= ay and ax <= az:
        size = np.sqrt(ny * ny + nz * nz)
        out[0, 0], out[0, 1], out[0, 2] = 0.0, nz / size, -ny / size
    elif ay <= az:
        size = np.sqrt(nx * nx + nz * nz)
        out[0, 0], out[0, 1], out[0, 2] = -nz / size, 0.0, nx / size
    else:
        size = np.sqrt(nx * nx + ny * ny)
        out[0, 0], out[0, 1], out[0, 2] = ny / size, -nx / size, 0.0
    out[1, 0] = ny * out[0, 2] - nz * out[0, 1]
    out[1, 1] = nz * out[0, 0] - nx * out[0, 2]
    out[1, 2] = nx * out[0, 1] - ny * out[0, 0]


@jit
def add_side(s: Any, body: int, at: int, arm: float, rate: Array, sign: float, motion: Array) -> None:
    """motion (6,) += sign times velocity and rate of velocity of the body where it is touched, its centre's motion being s.x[at : at + 9].

    The place is ``arm`` times the normal away from the centre; rate (3,) is that of the normal.
    """
    x, n = s.x, s.out[4:7]
    for k in range(6):
        motion[k] += sign * x[at + 3 + k]
    if body < 0 or arm == 0.0:
        return
    V, A = s.V[body], s.A[body]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        motion[k] += sign * arm * (V[i] * n[j] - V[j] * n[i])
        motion[3 + k] += sign * arm * (A[i] * n[j] - A[j] * n[i] + V[i] * rate[j] - V[j] * rate[i])


@jit
def normal_rate(s: Any, c: int, t: float, out: Array) -> None:
    """out (3,): how fast the unit normal of contact c turns, after contact_motion."""
    contacts, x, n = s.contacts, s.x, s.out[4:7]
    if contacts.kind[c] == PAIR:
        size = np.sqrt((x[0] - x[9]) ** 2 + (x[1] - x[10]) ** 2 + (x[2] - x[11]) ** 2)
        slides = is_capsule(contacts, c)
        for k in range(3):
            out[k] = (x[3 + k] - x[12 + k] + (x[18 + k] - x[21 + k] if slides else 0.0)) / size
    else:
        place = np.empty(9)
        for k in range(9):
            place[k] = x[k]
        for k in range(3 if contacts.rim[c, 3] > 0.0 else 0):  # the place of contact moves along the rim
            place[3 + k] += x[9 + k]
        hessian_motion(s.surfaces, contacts.surface[c], t, place, contacts.radius[c], out)
        for k in range(3):
            out[k] /= s.out[3]
    along = n[0] * out[0] + n[1] * out[1] + n[2] * out[2]
    for k in range(3):
        out[k] -= along * n[k]


@jit
def add_rolling(s: Any, body: int, at: int, sign: float, motion: Array) -> None:
    """motion[3:6] += sign times how the velocity changes because the contact moves over the body with s.x[at : at + 3] (rims.py,
    capsules.py)."""
    if body < 0:
        return
    V, x = s.V[body], s.x
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        motion[3 + k] += sign * (V[i] * x[at + j] - V[j] * x[at + i])


@jit
def relative_motion(s: Any, c: int, t: float, motion: Array) -> None:
    """motion (6,): velocity of the material of contact c against the wall or the other body, and its rate, after contact_motion.

    World axes; the rate is for the accelerations s.b.
    """
    contacts = s.contacts
    rate = np.empty(3)
    arm = contacts.share[c]
    for k in range(3):
        rate[k] = 0.0
    for k in range(6):
        motion[k] = 0.0
    pair = contacts.kind[c] == PAIR
    if arm != 0.0 or pair:
        normal_rate(s, c, t, rate)
    add_side(s, contacts.body[c, 0], 0, -arm, rate, 1.0, motion)
    if pair:
        add_side(s, contacts.body[c, 1], 9, contacts.radius[c] - arm, rate, -1.0, motion)
        if is_capsule(contacts, c):
            add_rolling(s, contacts.body[c, 0], 18, 1.0, motion)
            add_rolling(s, contacts.body[c, 1], 21, -1.0, motion)
    else:
        d = wall_path(s.surfaces, contacts.surface[c], t)
        for k in range(6):
            motion[k] -= d[k]
        if contacts.rim[c, 3] > 0.0:
            add_rolling(s, contacts.body[c, 0], 9, 1.0, motion)


@jit
def tangent_rows(s: Any, f: Any, c: int, t: float, n: int) -> None:
    """Rows n and n + 1 of f for contact c of the system s, after contact_motion with s.b zero: the two tangents.

    Their directions (world axes) in f.D, of the Jacobian in f.R, relative velocities in f.U and their rates in f.W.
    """
    contacts, x, out = s.contacts, s.x, s.out
    motion, place = np.empty(6), np.empty(3)
    frame = f.D[n : n + 2]
    tangents(out[4], out[5], out[6], frame)
    relative_motion(s, c, t, motion)
    for k in range(3):
        place[k] = x[k] - contacts.share[c] * out[4 + k]
    for i in range(2):
        dx, dy, dz = frame[i, 0], frame[i, 1], frame[i, 2]
        row = f.R[n + i]
        for m in range(row.shape[0]):
            row[m] = 0.0
        add_row(s.tree, s.S, contacts.body[c, 0], place, dx, dy, dz, row)
        if contacts.kind[c] == PAIR:
            add_row(s.tree, s.S, contacts.body[c, 1], place, -dx, -dy, -dz, row)
        f.U[n + i] = dx * motion[0] + dy * motion[1] + dz * motion[2]
        f.W[n + i] = dx * motion[3] + dy * motion[4] + dz * motion[5]
