"""A long simulation for tests of pages and plots."""

from __future__ import annotations

from typing import Any

import numpy as np

import urdf_gibbs as ug
from urdf_gibbs.simulation.impact_values import SCALARS, VECTORS, Impact, LazyImpacts
from urdf_gibbs.simulation.trajectory import Phase


def long_run(count: int, contacts: int = 1, rows: int = 0, phases: int = 0, robot: ug.Robot | None = None) -> ug.Trajectory:
    """A motion of ten seconds with so many impacts, half of them within a tenth of a millisecond at 5 s, each worked out when looked at."""
    robot = robot or ug.load(ug.model_path("branched12"))
    rng = np.random.default_rng(0)
    times = np.sort(np.concatenate([rng.uniform(0.0, 10.0, count - count // 2), 5.0 + 1e-4 * rng.random(count // 2)]))
    t = np.sort(np.concatenate([[0.0, 10.0], np.linspace(0.001, 9.99, rows), times, times]))
    q, v = np.zeros((len(t), robot.nq)), np.zeros((len(t), robot.nv))
    q[:, -1], v[:, -1] = np.sin(t), np.cos(t)

    def made(i: int) -> Impact:
        own = np.random.default_rng(i)
        fields: dict[str, Any] = {name: own.normal(size=(contacts, 3)) for name in VECTORS}
        fields |= {name: own.normal(size=contacts) for name in SCALARS}
        row = int(np.searchsorted(t, times[i]))
        names = tuple(f"p{j}" for j in range(contacts))
        state = {"q": q[row], "v_before": v[row], "v_after": v[row]}
        return Impact(time=times[i], points=names, walls=("floor",) * contacts, energy_before=1.0, energy_after=0.5, **fields, **state)

    held = tuple(Phase("p0", "floor", start, start + 1e-4) for start in np.linspace(0.0, 9.9, phases))
    return ug.Trajectory(robot, np.array([0.0, 0.0, -9.81]), t, q, v, impacts=LazyImpacts(count, made), phases=held)
