"""What an impact does to the velocities of its contacts and to the energy. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import PAIR, WALL, contact_motion, place, twists
from urdf_gibbs.contact.surfaces import wall_velocity
from urdf_gibbs.engine.jit import block, call3, jit
from urdf_gibbs.simulation.layout import (
    GRADIENT,
    KINETIC_AFTER,
    KINETIC_BEFORE,
    NORMAL,
    NORMAL_PART,
    OK,
    POSITION,
    POTENTIAL,
    RATE,
    REPORT,
    TIME,
    VELOCITY_AFTER,
    VELOCITY_BEFORE,
    Record,
    System,
)
from urdf_gibbs.simulation.rows import load_state, mass_matrix, update_bodies

Array = Any


@jit
def write_contact(s: System, c: int, t: float, out: Array, at: int) -> None:
    """Write position, unit normal and, from column ``at``, velocity of contact c into out (16,); s.T, s.V are those of s.q, s.v."""
    contact_motion(s, c, t)
    kind = s.contacts.kind[c]
    for k in range(3):
        out[POSITION + k] = s.x[k]
        out[NORMAL + k] = s.out[4 + k]
        out[at + k] = s.x[3 + k]
    out[at + NORMAL_PART] = s.out[RATE] / s.out[GRADIENT]
    if kind == PAIR:
        for k in range(3):
            out[POSITION + k] -= s.contacts.radius[c] * 0.5 * s.out[4 + k]
            out[at + k] -= s.x[12 + k]
    elif kind == WALL:
        wall = wall_velocity(s.surfaces, s.contacts.surface[c], t)
        for k in range(3):
            out[POSITION + k] -= s.contacts.radius[c] * s.out[4 + k]
            out[at + k] -= wall[k]
    else:
        for k in range(3):
            out[POSITION + k] = np.nan
            out[NORMAL + k] = np.nan
            out[at + k] = np.nan


@jit
def kinetic_energy(s: System) -> float:
    """½ vᵀ M v of s.v and s.M."""
    v, energy = s.v, 0.0
    for i in range(v.shape[0]):
        for j in range(v.shape[0]):
            energy += 0.5 * v[i] * s.M[i, j] * v[j]
    return energy


@jit
def potential_energy(s: System) -> float:
    """Of s.q, with the strain of elastic links; s.T are the placements of the bodies."""
    if s.code.potential:
        call3(s.code.potential, s.q.ctypes.data, s.constants.ctypes.data, s.out.ctypes.data)
        return s.out[0]
    energy = 0.0
    for body in range(s.mass.shape[0]):
        place(s.T, body, s.com[body], s.x[:3])
        for m in range(3):
            energy -= s.mass[body] * s.constants[m] * s.x[m]
    return energy


@block(REPORT, System, Record, int, int, int, part="events")
def report_impact(s: System, r: Record, i: int, first: int, k: int) -> int:
    """Complete impact i of the record, whose k contacts begin at ``first``: energies, and position, normal and velocities of each contact.

    Velocities are relative to the wall or to the other point; joint limits have NaN for what they lack.
    """
    numbers = r.impact_numbers[i]
    load_state(s, r.impact_y[i])
    mass_matrix(s)
    update_bodies(s)
    for side in range(2):
        if side == 1:
            copy(r.impact_v[i], s.v)
            twists(s)  # the placements are unchanged
        for j in range(first, first + k):
            write_contact(s, r.contact[j], numbers[TIME], r.contact_numbers[j], VELOCITY_BEFORE if side == 0 else VELOCITY_AFTER)
        numbers[KINETIC_BEFORE if side == 0 else KINETIC_AFTER] = kinetic_energy(s)
    numbers[POTENTIAL] = potential_energy(s)
    return OK
