"""Rows of contacts and how they change with q, v and time: central differences of the simulation's own rows. Compiled.

Walls, wheels, capsules and limits have one form here: phi(q, t) and its rows, as the simulation computes them. Differences of the fourth
order, (4 d(s) - d(2 s)) / 3 with d(s) = (f(s) - f(-s)) / (2 s), have an error of about s^4 from the step s = 1e-3 and 1e-13 from rounding.
``mismatch`` is the difference of d(s) and d(2 s), in s^2: where it is large, a kink or a small radius is near, and the caller takes a
smaller step.
"""

from __future__ import annotations

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import normalise, velocity_to_rate
from urdf_gibbs.engine.jit import entry, jit
from urdf_gibbs.sensitivity.layout import Variation
from urdf_gibbs.simulation.layout import OK, System
from urdf_gibbs.simulation.rows import contact_rows, factorise_mass

SWING = 1.0  # rad/s, m/s: the acceleration of a gap is quadratic in v, so that any step gives its derivative


@jit
def displace(s: System, w: Variation, j: int, step: float) -> None:
    """s.q = w.q moved by ``step`` along the j-th tangent, to first order and odd in the step beyond it."""
    for m in range(w.move.shape[0]):
        w.move[m] = 0.0
    w.move[j] = step
    velocity_to_rate(s.tree, w.q, w.move, w.turn)
    for m in range(w.q.shape[0]):
        s.q[m] = w.q[m] + w.turn[m]
    normalise(s.tree, s.q)


@jit
def add_sample(s: System, w: Variation, k: int, j: int, near: bool, weight: float) -> None:
    """Add weight times the present rows to column j of the differences: those of one spacing (near), or of two."""
    nv = w.v.shape[0]
    for c in range(k):
        if near:
            for i in range(nv):
                w.DJ[c, i, j] += weight * s.J[c, i]
            w.Dr[c, j] += weight * s.rate[c]
            w.Da[c, j] += weight * s.accel[c]
        else:
            for i in range(nv):
                w.far[c, i] += weight * s.J[c, i]
            w.far[c, nv] += weight * s.rate[c]
            w.far[c, nv + 1] += weight * s.accel[c]


@jit
def extrapolate(w: Variation, k: int, j: int) -> None:
    """Column j of the differences from those of one and two spacings; notes how much they disagree."""
    nv = w.v.shape[0]
    for c in range(k):
        for i in range(nv):
            off = w.DJ[c, i, j] - w.far[c, i]
            w.mismatch = max(w.mismatch, abs(off) / max(1.0, abs(w.DJ[c, i, j])))
            w.DJ[c, i, j] += off / 3.0
        w.Dr[c, j] += (w.Dr[c, j] - w.far[c, nv]) / 3.0
        w.Da[c, j] += (w.Da[c, j] - w.far[c, nv + 1]) / 3.0


@jit
def differences_along_q(s: System, w: Variation, t: float, k: int) -> None:
    """w.DJ, w.Dr, w.Da of the k selected contacts at w.q, w.v."""
    nv, step = w.v.shape[0], w.spacing
    copy(w.v, s.v)
    for j in range(nv):
        for c in range(k):
            for i in range(nv):
                w.DJ[c, i, j] = 0.0
            w.Dr[c, j], w.Da[c, j] = 0.0, 0.0
            for i in range(nv + 2):
                w.far[c, i] = 0.0
        for sample in range(4):
            near, sign = sample < 2, 1.0 - 2.0 * (sample % 2)
            far = 1.0 if near else 2.0
            displace(s, w, j, sign * far * step)
            contact_rows(s, t, k)
            add_sample(s, w, k, j, near, sign / (2.0 * far * step))
        extrapolate(w, k, j)
    copy(w.q, s.q)


@jit
def differences_along_v(s: System, w: Variation, t: float, k: int) -> None:
    """w.Dv of the k selected contacts at w.q, w.v."""
    copy(w.q, s.q)
    for j in range(w.v.shape[0]):
        for c in range(k):
            w.Dv[c, j] = 0.0
        for sample in range(2):
            sign = 1.0 - 2.0 * sample
            copy(w.v, s.v)
            s.v[j] += sign * SWING
            contact_rows(s, t, k)
            for c in range(k):
                w.Dv[c, j] += sign * s.accel[c] / (2.0 * SWING)
    copy(w.v, s.v)


@jit
def differences_along_time(s: System, w: Variation, t: float, k: int) -> None:
    """w.Jt, w.rt of the k selected contacts at w.q, w.v."""
    step = w.time_spacing
    copy(w.q, s.q)
    copy(w.v, s.v)
    for c in range(k):
        w.rt[c] = 0.0
        for i in range(w.v.shape[0]):
            w.Jt[c, i] = 0.0
    for sample in range(4):
        near, sign = sample < 2, 1.0 - 2.0 * (sample % 2)
        weight = 4.0 / 3.0 / (2.0 * step) if near else -1.0 / 3.0 / (4.0 * step)
        contact_rows(s, t + sign * step * (1.0 if near else 2.0), k)
        for c in range(k):
            w.rt[c] += sign * weight * s.rate[c]
            for i in range(w.v.shape[0]):
                w.Jt[c, i] += sign * weight * s.J[c, i]


@jit
def keep_rows(s: System, w: Variation, k: int) -> None:
    """Copy rows, rates and accelerations of the k selected contacts."""
    for c in range(k):
        copy(s.J[c], w.J[c])
        w.rate[c], w.accel[c] = s.rate[c], s.accel[c]


@entry(System, Variation, float, int, part="variation")
def differentiate_rows(s: System, w: Variation, t: float, k: int) -> int:
    """All rows and differences of the k selected contacts at w.q, w.v; returns a status."""
    copy(w.q, s.q)
    copy(w.v, s.v)
    status = factorise_mass(s, 0)
    if status != OK:
        return status
    w.mismatch = 0.0
    differences_along_q(s, w, t, k)
    differences_along_v(s, w, t, k)
    differences_along_time(s, w, t, k)
    copy(w.q, s.q)
    copy(w.v, s.v)
    contact_rows(s, t, k)
    keep_rows(s, w, k)
    return OK
