"""How time, place and velocity of one contact at an impact change with the start and the torque: whatever the impact does afterwards.

With X = d(q, v) just before, at a fixed time, the contact closes dt earlier or later, and the state is then X + (v, a) dt:

    dt = -J X_q / u,     d(place, velocity) = g_q (X_q + v dt) + g_v (X_v + a dt) + g_t dt

J and u are row and rate of its gap, g(q, v, t) is what the simulation tells of a contact, its derivatives differences of the fourth order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.sensitivity.columns import columns_of
from urdf_gibbs.sensitivity.machine import Machine
from urdf_gibbs.sensitivity.run import Run, covered
from urdf_gibbs.sensitivity.saltation import Event, closing_of
from urdf_gibbs.simulation.trajectory import Trajectory

Array = NDArray[np.float64]

SPACING = 1e-3  # rad, m, rad/s, m/s: differences of the fourth order have an error of 1e-12 from it


@dataclass(frozen=True, eq=False)
class Arrival:
    """Derivatives with respect to m columns, whose names are those of a Sensitivity; NaN for places and velocities of joint limits.

    ``time`` (m,) of the impact [s], ``place`` (3, m) of the contact in the world [m], ``velocity`` (3, m) of it before the impact, relative
    to what it touches [m/s]; ``start`` (2 nv, m) of the state at the start: where contacts are held there, it is not that of the columns.
    """

    columns: tuple[str, ...]
    time: Array
    place: Array
    velocity: Array
    start: Array


def arrival(trajectory: Trajectory, wrt: tuple[str, ...], number: int, contact: str) -> Arrival:
    """Of a contact ("point|wall") in the impact with this number; SensitivityError where the derivative does not exist."""
    columns = columns_of(trajectory, wrt)
    run = Run(trajectory, covered(trajectory), columns, trajectory.impacts[number].time, number)
    with run.refusing(), run.machine:
        event, start, X = run.until_impact()
        closing = closing_of(run.machine, event, run.index[contact])
        time = closing.shift @ X
        moved = np.concatenate([X + np.outer(closing.flow, time), time[None]])
        slopes = _slopes(run.machine, event, run.index[contact]) @ moved
    return Arrival(columns.names, time, slopes[:3], slopes[3:], start.copy())


def _slopes(machine: Machine, event: Event, contact: int) -> Array:
    """(6, 2 nv + 1): derivatives of place and velocity of the contact along q, v and time."""
    impact, nv = event.impact, machine.nv
    steps = np.full(2 * nv + 1, SPACING)
    steps[-1] = machine.variation.time_spacing

    def told(x: Array) -> Array:
        return machine.touch(event.time + x[-1], machine.robot.integrate(impact.q, x[:nv]), impact.v_before + x[nv:-1], contact)

    columns = [8.0 * (told(x) - told(-x)) - (told(2.0 * x) - told(-2.0 * x)) for x in np.diag(steps)]
    return np.array(columns).T / (12.0 * steps)
