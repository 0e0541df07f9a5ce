"""What a time step may not add to the energy is taken from the velocities, island by island. Compiled.

Impulses in a step whose forces are those of the motion before them would add some (``settle``). With T the kinetic energy, b the bias and
w = ω × v as in stepping_motion.py, moving on with v changes T at the rate

    φ(v) = vᵀ b(v) - vᵀ M w(v)

beyond what gravity does, as T is constant where no other force acts. A step moves on for ½h with v, then for ½h with v⁺, while its forces
do the work -h v_mᵀ (b - M w) of a velocity half a step ahead, with v_m = ½ (v + v⁺). The difference

    h (½ φ(v) + ½ φ(v⁺) - v_mᵀ (b - M w))

is of third order in h where v⁺ differs from v by forces alone, and of first order where impulses change it. Gravity cancels out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.layout import System
from urdf_gibbs.simulation.rows import bias_force
from urdf_gibbs.simulation.stepping_motion import add_turning
from urdf_gibbs.simulation.stepping_rows import last_of

Array = Any

# rad: where nothing turns farther in a step, by its velocities before and after, that difference is below this part of the kinetic energy,
# or of third order in h, and is left.
SLOW = 1e-3


@jit
def along(s: System, x: Array, out: Array) -> None:
    """out (nv,) = L x, with M = Lᵀ D L in s.M."""
    for i in range(x.shape[0]):
        total, j = x[i], s.tree.above[i]
        while j >= 0:
            total += s.M[i, j] * x[j]
            j = s.tree.above[j]
        out[i] = total


@jit
def slow_down(s: System, h: float, work: Array, v: Array) -> None:
    """The kinetic energy of v (nv,) loses work (nv,) [J], which stands where the island's last tree has its first velocity."""
    nv, g = v.shape[0], s.stepping
    energy, part = np.empty(nv), np.empty(nv)
    along(s, v, part)
    for i in range(nv):
        energy[i] = 0.0
    for i in range(nv):
        energy[last_of(g.group, g.root[i])] += 0.5 * s.M[i, i] * part[i] * part[i] - 0.25 * h * s.damping[i] * v[i] * v[i]
    for i in range(nv):
        last = last_of(g.group, g.root[i])
        if work[last] > 0.0:
            v[i] *= np.sqrt(1.0 - work[last] / energy[last]) if energy[last] > work[last] else 0.0


@jit
def settle(s: System, h: float, k: int, before: Array, v: Array) -> None:
    """v (nv,), after the step, loses what the step would add to the energy in islands where one of the k contacts pushes. Needs s.q of the
    middle; g.bias and g.ahead are of free_velocity."""
    nv, g, e = v.shape[0], s.stepping, s.stepping.rows
    work, part, turned, other = np.zeros(nv), np.empty(nv), np.empty(nv), np.empty(nv)
    copy(v, s.v)
    bias_force(s)
    for i in range(nv):
        mean = 0.5 * (before[i] + v[i])
        work[last_of(g.group, g.root[i])] += h * (0.5 * v[i] * s.h[i] + 0.5 * before[i] * g.bias[0, i] - mean * g.bias[1, i])
    if s.tree.floating.shape[0] + s.tree.planar.shape[0] > 0:
        for which in range(3):
            share = 1.0 if which == 2 else -0.5
            x = v if which == 0 else before if which == 1 else g.ahead
            for i in range(nv):
                other[i] = 0.0
            add_turning(s.tree, x, other)
            along(s, other, turned)
            for i in range(nv):
                other[i] = 0.5 * (v[i] + before[i]) if which == 2 else x[i]
            along(s, other, part)
            for i in range(nv):
                work[last_of(g.group, g.root[i])] += share * h * s.M[i, i] * part[i] * turned[i]
    for i in range(nv):
        turned[i] = 0.0
    for i in range(k):
        if e.y[e.at[i]] > 0.0:
            turned[last_of(g.group, g.tree[s.selected[i], 0])] = 1.0
    for i in range(nv):
        work[i] = work[i] if turned[i] > 0.0 else 0.0
    slow_down(s, h, work, v)
