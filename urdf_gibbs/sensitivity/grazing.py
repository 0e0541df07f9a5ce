"""Contacts that come as near to a wall as rounding, and strike nothing: any change of the motion decides whether they do.

Gaps between two rows follow from the quintic polynomial through value, rate and acceleration at both; where its Bernstein coefficients do
not exclude a minimum near zero, the minimum of the gap itself is found on the trajectory's interpolant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.sensitivity.machine import Machine
from urdf_gibbs.sensitivity.refusal import Refusal
from urdf_gibbs.sensitivity.saltation import REACH
from urdf_gibbs.simulation.trajectory import Trajectory

Array = NDArray[np.float64]

NEAR = 1e-5  # m: what the polynomial leaves above this stays away from the wall
GONE = 1e-8  # m: a contact that was struck or released has left its wall
NEWTON_STEPS = 6
GAP, RATE, ACCEL = range(3)


def check_grazing(machine: Machine, trajectory: Trajectory, i: int, held: list[int], near: set[int]) -> None:
    """Refusal where a contact touches its wall from inside of a flight: between rows i and i + 1, or at row i + 1.

    ``held`` contacts are none, nor are those ``near`` their walls because they have just been struck or released, or strike at row i + 1;
    those that have left are taken from that set.
    """
    if not machine.candidates.touching:
        return
    t = trajectory.t
    ends = [machine.gaps(float(t[j]), trajectory.q[j], trajectory.v[j], held) for j in (i, i + 1)]
    free = np.array([c not in held for c in range(len(ends[0]))])
    gap, rate, accel = ends[1].T
    touching = free & (np.abs(gap) <= REACH) & (rate * rate <= 2.0 * REACH * accel) & (accel > 0.0)
    for c in np.flatnonzero(touching):
        if c not in near:
            _refuse(machine, float(t[i + 1]), int(c), float(gap[c]))
    h = float(t[i + 1] - t[i])
    for c in np.flatnonzero(free & (_inner_coefficients(ends[0], ends[1], h).min(axis=1) < NEAR)):
        if c not in near:
            _check_between(machine, trajectory, i, int(c), held, ends[0][c], ends[1][c])
    near.difference_update(np.flatnonzero(gap > GONE).tolist())


def _inner_coefficients(start: Array, end: Array, h: float) -> Array:
    """(contacts, 4): the Bernstein coefficients of the quintic polynomials between their ends."""
    g0, d0, a0 = start[:, GAP], h * start[:, RATE], h * h * start[:, ACCEL]
    g1, d1, a1 = end[:, GAP], h * end[:, RATE], h * h * end[:, ACCEL]
    return np.stack([g0 + 0.2 * d0, g0 + 0.4 * d0 + 0.05 * a0, g1 - 0.4 * d1 + 0.05 * a1, g1 - 0.2 * d1], axis=1)


def _check_between(machine: Machine, trajectory: Trajectory, i: int, c: int, held: list[int], start: Array, end: Array) -> None:
    """Refusal where the gap of contact c has a minimum near zero strictly between rows i and i + 1."""
    t0, t1 = float(trajectory.t[i]), float(trajectory.t[i + 1])
    if not (start[RATE] < 0.0 < end[RATE]):  # with one minimum at most, as steps are short
        return
    time = t0 - (t1 - t0) * start[RATE] / (end[RATE] - start[RATE])
    for _ in range(NEWTON_STEPS):
        q, v = trajectory.at(time)
        gap, rate, accel = machine.gaps(time, q, v, held)[c]
        if accel <= 0.0 or not t0 < time - rate / accel < t1:
            return
        time -= rate / accel
    if abs(gap) <= REACH:
        _refuse(machine, time, c, float(gap))


def _refuse(machine: Machine, time: float, c: int, gap: float) -> None:
    reason = f"a contact grazes its wall: it comes as near as {gap:.3g} m without striking it"
    raise Refusal(reason, time, machine.names([c]), abs(gap))
