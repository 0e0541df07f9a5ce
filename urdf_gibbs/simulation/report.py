"""What an impact has done to its points, and to the energy. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import PAIR, WALL, contact_motion, place, twists
from urdf_gibbs.contact.surfaces import wall_velocity
from urdf_gibbs.engine.jit import block, call2, jit
from urdf_gibbs.simulation.layout import (
    AFTER,
    BEFORE,
    KINETIC,
    LEFT,
    MOMENT,
    NORMAL,
    NORMAL_PART,
    OK,
    PLACE,
    POTENTIAL,
    RATE,
    REPORT,
    UNIT,
    Record,
    System,
)
from urdf_gibbs.simulation.rows import place_bodies, take_state

Array = Any


@jit
def see_part(s: System, c: int, t: float, out: Array, at: int) -> None:
    """Into out (16,), of contact c at s.q, s.v with its bodies placed: position, unit normal, and from column ``at`` its velocity."""
    contact_motion(s, c, t)
    kind = s.contacts.kind[c]
    for k in range(3):
        out[PLACE + k] = s.x[k]
        out[NORMAL + k] = s.out[4 + k]
        out[at + k] = s.x[3 + k]
    out[at + NORMAL_PART] = s.out[RATE] / s.out[UNIT]
    if kind == PAIR:
        for k in range(3):
            out[PLACE + k] -= s.contacts.radius[c] * 0.5 * s.out[4 + k]
            out[at + k] -= s.x[12 + k]
    elif kind == WALL:
        wall = wall_velocity(s.surfaces, s.contacts.surface[c], t)
        for k in range(3):
            out[PLACE + k] -= s.contacts.radius[c] * s.out[4 + k]
            out[at + k] -= wall[k]
    else:
        for k in range(3):
            out[PLACE + k] = np.nan
            out[NORMAL + k] = np.nan
            out[at + k] = np.nan


@jit
def kinetic(s: System) -> float:
    """½ vᵀ M v of s.v and s.M."""
    v, energy = s.v, 0.0
    for i in range(v.shape[0]):
        for j in range(v.shape[0]):
            energy += 0.5 * v[i] * s.M[i, j] * v[j]
    return energy


@block(REPORT, System, Record, int, int, int)
def report(s: System, r: Record, i: int, first: int, k: int) -> int:
    """The i-th impact of the record, whose k contacts begin at ``first``: its energies, and of each contact where it is and how it moves.

    Velocities are relative to the wall or the other point; what a joint limit does not have is NaN.
    """
    numbers = r.blow_numbers[i]
    take_state(s, r.blow_y[i])
    call2(s.code.mass, s.q.ctypes.data, s.M.ctypes.data)
    place_bodies(s)
    for part in range(2):
        if part == 1:
            copy(r.blow_v[i], s.v)
            twists(s)  # the bodies are where they were
        for j in range(first, first + k):
            see_part(s, r.part[j], numbers[MOMENT], r.part_numbers[j], BEFORE if part == 0 else AFTER)
        numbers[KINETIC if part == 0 else LEFT] = kinetic(s)
    numbers[POTENTIAL] = 0.0
    if s.code.potential:  # with the strain of elastic links
        call2(s.code.potential, s.q.ctypes.data, numbers.ctypes.data + 8 * POTENTIAL)
        return OK
    for body in range(s.mass.shape[0]):
        place(s.T, body, s.com[body], s.x[:3])
        for m in range(3):
            numbers[POTENTIAL] -= s.mass[body] * s.gravity[m] * s.x[m]
    return OK
