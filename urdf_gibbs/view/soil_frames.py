"""Wheels on soil that yields, for the page: their tracks and the forces on them at its frames, computed again from the states of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.soil import Soil
from urdf_gibbs.simulation.on_soil import OnSoil, Wheel
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.contact_forces import MODES
from urdf_gibbs.view.html import packed
from urdf_gibbs.view.tracks import LIFT
from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]


class SoilFrames:
    """What the soil does to n wheels at the times of m frames, (m, n, ...) by the names of ``OnSoil.state``; no wheels without a soil."""

    def __init__(self, trajectory: Trajectory, times: Array, walls: Mapping[str, Wall]) -> None:
        given = trajectory.settings.get("soil")
        self.wheels: tuple[Wheel, ...] = ()
        self.states: dict[str, Array] = {}
        if given is None or not walls:
            return
        self.wheels = tuple(Wheel(**one) for one in trajectory.settings["wheels"])
        law = OnSoil(trajectory.robot, Soil(**given), list(walls.values()), self.wheels)
        q, v = trajectory.at(times)
        rows = [law.state(float(t), *state) for t, *state in zip(times, q, v, strict=True)]
        self.states = {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def tracks(self) -> list[dict[str, Any]]:
        """As ``tracks``: on the ground as it was before the wheel."""
        made = []
        for k, wheel in enumerate(self.wheels):
            s = {name: values[:, k] for name, values in self.states.items()}
            touches = s["load"] > 0.0
            if not touches.any():
                continue
            place = s["middle"] - ((1.0 - LIFT) * wheel.radius - s["sinkage"])[:, None] * s["up"]
            edges = np.stack([place + side * 0.5 * wheel.width * s["axle"] for side in (-1.0, 1.0)], axis=1)
            made.append({"name": wheel.link, "edges": packed(edges), "touches": packed(touches), "slip": packed(s["slip"])})
        return made

    def forces(self) -> list[dict[str, Any]]:
        """As ``lasting_forces``, at the lowest places of the treads."""
        made = []
        for k, wheel in enumerate(self.wheels):
            s = {name: values[:, k] for name, values in self.states.items()}
            mode = np.where(s["load"] > 0.0, float(MODES.index("held")), 0.0)
            place = s["middle"] - wheel.radius * s["up"]
            made.append({"name": f"{wheel.link}|soil", "place": packed(place), "force": packed(s["force"]), "mode": packed(mode)})
        return made
