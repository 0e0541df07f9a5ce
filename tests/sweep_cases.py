"""Small sweeps that several tests run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from urdf_gibbs.sweeps.results import Sweep
from urdf_gibbs.sweeps.sweep import sweep

G = 9.81
OVER = {"restitution": "0.2:0.6:3", "start.height": "uniform(0.5, 1.5)"}


def ball(folder: Path, runs: int = 60, **options: Any) -> Sweep:
    """The bouncing ball with three restitutions and heights that are drawn."""
    given: dict[str, Any] = {"over": OVER, "seed": 7, "chunk": 10, "workers": 2, **options}
    return sweep("bouncing_ball", runs=runs, out=folder, **given)


def rows(found: Sweep) -> dict[str, list[Any]]:
    """All of the table, None where there is nothing, so that two can be compared bit by bit."""
    table: dict[str, list[Any]] = found.table.to_pydict()
    return table


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """When which file of rows was written, and which file it is: what is written again has another one."""
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.glob("part-*.parquet")}
