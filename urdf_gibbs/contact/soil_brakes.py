"""How the soil brakes wheels, linearised, for time steps that are implicit in their velocities. Compiled.

Against the velocity of the tread, along and across, and against sinking, a wheel's forces grow by so many N s/m (DRAG and PRESS of
soil_forces.py): D = Σ c rᵀ r with rows r of the Jacobian. The wheels' speeds settle within a millisecond where they stand nearly still,
far less than a step. D need not be exact: a step takes it as the first guess of how forces change, and then the forces themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.kinematics import Tree, add_row
from urdf_gibbs.contact.soil_forces import DRAG, LOAD, PRESS, UP, SoilWheels
from urdf_gibbs.engine.jit import jit

Array = Any


@jit
def brake_rows(w: SoilWheels, tree: Tree, S: Array) -> None:
    """w.rows and w.brake after soil_forces: of each wheel its tread along and across, and its middle upwards."""
    tread, along = np.empty(3), np.empty(3)
    for k in range(w.body.shape[0]):
        out, a, load = w.out[k], w.axle[k], w.out[k, LOAD]
        up = out[UP : UP + 3]
        for r in range(3):
            w.brake[3 * k + r] = 0.0
            for m in range(w.tau.shape[0]):
                w.rows[3 * k + r, m] = 0.0
        if not load > 0.0:
            continue
        for m in range(3):
            n, p = (m + 1) % 3, (m + 2) % 3
            tread[m] = w.middle[k, m] - w.size[k, 0] * up[m] / load
            along[m] = (a[n] * up[p] - a[p] * up[n]) / load
        add_row(tree, S, w.body[k], tread, along[0], along[1], along[2], w.rows[3 * k])
        add_row(tree, S, w.body[k], tread, a[0], a[1], a[2], w.rows[3 * k + 1])
        add_row(tree, S, w.body[k], w.middle[k], up[0] / load, up[1] / load, up[2] / load, w.rows[3 * k + 2])
        w.brake[3 * k], w.brake[3 * k + 1], w.brake[3 * k + 2] = out[DRAG], out[DRAG], out[PRESS]


@jit
def add_brakes(w: SoilWheels, share: float, M: Array) -> None:
    """The lower triangle of M (nv, nv) += share D. Rows reach along one branch only, as M does."""
    for r in range(w.brake.shape[0]):
        row, c = w.rows[r], share * w.brake[r]
        for i in range(row.shape[0] if c > 0.0 else 0):
            if row[i] != 0.0:
                for j in range(i + 1):
                    M[i, j] += c * row[i] * row[j]


@jit
def add_braked(w: SoilWheels, share: float, a: Array, out: Array) -> None:
    """out (nv,) += share D a."""
    for r in range(w.brake.shape[0]):
        row, total = w.rows[r], 0.0
        for i in range(row.shape[0]):
            total += row[i] * a[i]
        for i in range(row.shape[0]):
            out[i] += share * w.brake[r] * total * row[i]
