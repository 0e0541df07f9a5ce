"""The panel of contact forces of a plot: normal and tangential parts of lasting contacts, and where they slip."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.motion import spread
from urdf_gibbs.view.themes import Theme, shown

Array = NDArray[np.float64]

MANY_ROWS = 4_000


def carrying(trajectory: Trajectory) -> list[int]:
    """Lasting contacts that carry something, the strongest first."""
    forces = np.abs(np.nan_to_num(trajectory.contact_forces)).max(axis=0, initial=0.0)
    return [int(k) for k in np.argsort(-forces, kind="stable") if forces[k] > 0.0]


class Line(NamedTuple):
    """A line of the panel: what Matplotlib calls it, its look, and its label in the legend, "" for none."""

    gid: str
    t: Array
    force: Array
    look: dict[str, Any]
    label: str


def lines(trajectory: Trajectory, which: list[int], theme: Theme) -> list[Line]:
    """Of each contact the normal force; with friction the tangential force, thinner, and thick and pale where it slips."""
    rows = spread(np.arange(len(trajectory), dtype=np.float64), MANY_ROWS).astype(np.intp)
    t = trajectory.t[rows]
    breaks = np.flatnonzero(np.diff(t) == 0.0) + 1
    gaps = np.insert(t, breaks, np.nan)
    made: list[Line] = []
    for k, contact in enumerate(which):
        name = trajectory.contact_names[contact]
        point, _, wall = name.partition("|")
        normal = np.insert(trajectory.contact_forces[rows, contact], breaks, np.nan)
        made.append(Line(f"forces {name}", gaps, normal, theme.line(k), shown(f"{point} on {wall}" if wall else point)))
        across = np.insert(np.linalg.norm(trajectory.friction_forces[rows, contact], axis=1), breaks, np.nan)
        if not np.nanmax(across, initial=0.0) > 0.0:
            continue
        made.append(Line(f"friction {name}", gaps, across, {**theme.line(k), "lw": 0.8}, ""))
        slips = np.zeros(len(gaps), bool)
        for phase in trajectory.phases:
            if (phase.point, phase.wall) == (point, wall) and phase.mode == "slip":
                slips |= (gaps >= phase.start) & (gaps <= phase.end)
        if slips.any():
            pale = {"color": theme.colour(k), "ls": "-", "lw": 5.0, "alpha": 0.3, "solid_capstyle": "butt"}
            made.append(Line(f"slip {name}", gaps, np.where(slips, across, np.nan), pale, ""))
    return made


def key_of_friction(made: list[Line], theme: Theme) -> list[tuple[dict[str, Any], str]]:
    """Looks and labels that explain thin and pale lines, where there are some."""
    keys = [("friction ", {"lw": 0.8}, "thin: tangential"), ("slip ", {"lw": 5.0, "alpha": 0.3}, "thick: slips")]
    return [({"color": theme.text, **look}, label) for head, look, label in keys if any(line.gid.startswith(head) for line in made)]
