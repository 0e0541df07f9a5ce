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


class Grazing:
    """Looks at one flight after the other; ``near`` are the contacts close to their walls because they strike, leave or are released."""

    def __init__(self, machine: Machine, trajectory: Trajectory, held: list[int]) -> None:
        self._machine, self._trajectory, self._row = machine, trajectory, 0
        self._gaps = self._at(0, held)
        self.near = set(np.flatnonzero(self._gaps[:, GAP] <= GONE).tolist())

    def _at(self, row: int, held: list[int]) -> Array:
        trajectory = self._trajectory
        return self._machine.gaps(float(trajectory.t[row]), trajectory.q[row], trajectory.v[row], held)

    def check(self, i: int, held: list[int], again: bool) -> None:
        """Refusal where a free contact touches its wall without striking it, between rows i and i + 1 or at row i + 1.

        ``again``: velocities or held contacts have changed at row i since it was looked at.
        """
        if not self._machine.touching:
            return
        t = self._trajectory.t
        start = self._gaps if self._row == i and not again else self._at(i, held)
        end = self._gaps = self._at(i + 1, held)
        self._row = i + 1
        free = np.ones(len(end), dtype=bool)
        free[[*held, *self.near]] = False
        gap, rate, accel = end.T
        for c in np.flatnonzero(free & (np.abs(gap) <= REACH) & (rate * rate <= 2.0 * REACH * accel) & (accel > 0.0)):
            _refuse(self._machine, float(t[i + 1]), int(c), float(gap[c]))
        close = _inner_coefficients(start, end, float(t[i + 1] - t[i])).min(axis=0) < NEAR
        for c in np.flatnonzero(free & close & (start[:, RATE] < 0.0) & (rate > 0.0)):
            self._check_between(i, int(c), held, start[c], end[c])
        self.near = {c for c in self.near if gap[c] <= GONE}

    def _check_between(self, i: int, c: int, held: list[int], start: Array, end: Array) -> None:
        """Refusal where the gap of contact c has a minimum near zero strictly between rows i and i + 1; steps are short, there is one."""
        t0, t1 = float(self._trajectory.t[i]), float(self._trajectory.t[i + 1])
        time = t0 - (t1 - t0) * start[RATE] / (end[RATE] - start[RATE])
        for _ in range(NEWTON_STEPS):
            gap, rate, accel = self._machine.gaps(time, *self._trajectory.at(time), held)[c]
            if accel <= 0.0 or not t0 < time - rate / accel < t1:
                return
            time -= rate / accel
        if abs(gap) <= REACH:
            _refuse(self._machine, time, c, float(gap))


def _inner_coefficients(start: Array, end: Array, h: float) -> Array:
    """(4, contacts): the Bernstein coefficients of the quintic polynomials between their ends."""
    g0, d0, a0 = start[:, GAP], h * start[:, RATE], h * h * start[:, ACCEL]
    g1, d1, a1 = end[:, GAP], h * end[:, RATE], h * h * end[:, ACCEL]
    return np.array([g0 + 0.2 * d0, g0 + 0.4 * d0 + 0.05 * a0, g1 - 0.4 * d1 + 0.05 * a1, g1 - 0.2 * d1])


def _refuse(machine: Machine, time: float, c: int, gap: float) -> None:
    reason = f"a contact grazes its wall: it comes as near as {gap:.3g} m without striking it"
    raise Refusal(reason, time, machine.names([c]), abs(gap))
