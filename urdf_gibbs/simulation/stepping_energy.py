"""What a time step may not add to the energy is taken from the velocities, island by island. Compiled.

Two things would add some: bringing back what has sunk in (``pay``), and impulses in a step whose forces are those of the motion before
them (``settle``). With T the kinetic energy, b the bias and w = ω × v as in stepping_motion.py, moving on with v changes T at the rate

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
from urdf_gibbs.engine.jit import call3, jit
from urdf_gibbs.simulation.layout import System
from urdf_gibbs.simulation.stepping_motion import add_turning
from urdf_gibbs.simulation.stepping_rows import last_of

Array = Any

SLOW = 1e-3  # rad: in steps in which nothing turns farther that difference is below this part of the kinetic energy, and is left


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
def slow_down(s: System, h: float, work: Array, v: Array, free: Array) -> None:
    """The kinetic energy of v (nv,) loses work (nv,) [J], which stands where the island's last tree has its first velocity; free (nv,)
    changes by as much as v. What there is not is left in ``work``, which else becomes zero."""
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
            slower = np.sqrt(1.0 - work[last] / energy[last]) if energy[last] > work[last] else 0.0
            free[i] -= (1.0 - slower) * v[i]
            v[i] *= slower
    for i in range(nv):
        work[i] = max(work[i] - max(energy[i], 0.0), 0.0)


@jit
def pay(s: System, h: float, shift: Array, v: Array, free: Array) -> None:
    """What the shift (nv,) adds to the potential energy is taken from the velocity before, v, and ``free`` (nv,), the one without impulses,
    follows. What there is not is owed, and taken in later steps. Needs M factorised in s.M, and s.q."""
    nv, g = v.shape[0], s.stepping
    for j in range(nv):
        s.v[j], g.debt[j] = 0.0, 0.0
    call3(s.code.bias, s.q.ctypes.data, s.v.ctypes.data, s.h.ctypes.data)
    for i in range(nv):
        g.debt[last_of(g.group, g.root[i])] += s.h[i] * shift[i] + g.owed[i]
    slow_down(s, h, g.debt, v, free)
    for i in range(nv):
        if g.debt[i] > 0.0:
            g.due = 1


@jit
def keep_debts(s: System) -> None:
    """The step is taken: what was owed before it is paid, or is a debt of its own."""
    g = s.stepping
    if g.owes or g.due:
        if g.due:
            copy(g.debt, g.owed)
        g.owes = g.due


@jit
def settle(s: System, h: float, k: int, before: Array, v: Array) -> None:
    """v (nv,), after the step, loses what the step would add to the energy in islands where one of the k contacts pushes. Needs s.q of the
    middle; g.bias and g.ahead are of free_velocity."""
    nv, g, e = v.shape[0], s.stepping, s.stepping.rows
    work, part, turned, other = np.zeros(nv), np.empty(nv), np.empty(nv), np.empty(nv)
    copy(v, s.v)
    call3(s.code.bias, s.q.ctypes.data, s.v.ctypes.data, s.h.ctypes.data)
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
    slow_down(s, h, work, v, other)
