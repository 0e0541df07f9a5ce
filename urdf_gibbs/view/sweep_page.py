"""A sweep as one offline page: dots, heat maps, lines and histograms; and served, with every run in 3-D at a click."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from urdf_gibbs.arguments import one_of, path_of
from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.scenario.reader import parsed
from urdf_gibbs.sweeps.results import Sweep
from urdf_gibbs.sweeps.rows import COMPLETE
from urdf_gibbs.view.html import packed, plain_page
from urdf_gibbs.view.show import View, animation

MOST_SHOWN = 50_000  # runs on a page: 8 bytes for each and column
MOST_ERRORS = 200
SCRIPTS = ("sweep_scales.js", "sweep_drawings.js", "sweep.js")
UNITS = {
    "time": "s",
    "largest_impulse": "N s",
    "energy_start": "J",
    "energy_end": "J",
    "deepest": "m",
    "last_impact": "s",
    "held_from": "s",
    "rest": "s",
}


@dataclass(frozen=True, eq=False)
class SweepPage:
    """A page about a sweep.

    Attributes:
        sweep: What it shows.
        data: What the page's own code is told, as plain values.
        title: Of the page.
        subtitle: Below it.
    """

    sweep: Sweep
    data: Mapping[str, Any]
    title: str
    subtitle: str

    def html(self, live: bool = False) -> str:
        """The page as one text that needs nothing else; ``live``: where it is served, runs are shown in it."""
        data = {**self.data, "live": live}
        return plain_page("sweep.html", "sweep.css", SCRIPTS, data, title=self.title, subtitle=self.subtitle)

    def open(self, browser: bool = True, port: int = 0) -> Any:
        """Serve the page on this machine, with every run in 3-D at a click; ``close()`` ends it."""
        from urdf_gibbs.view.sweep_live import LiveSweep

        return LiveSweep(self, browser, port)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file."""
        path = Path(path_of(path, "path"))
        path.write_text(self.html(), encoding="utf-8")
        return path


def sweep_page(sweep: Sweep, theme: str | None = None) -> SweepPage:
    """The page of a sweep.

    Args:
        sweep: Whose rows are shown; of more than MOST_SHOWN some, evenly.
        theme: "light", "dark" or None: as the browser has it.

    Returns:
        The page.

    Raises:
        UnknownNameError: There is no such theme.
    """
    if theme is not None:
        one_of(theme, ("light", "dark"), "theme")
    table, failures, errors = _rows(sweep)
    summary = sweep.metadata
    notes = []
    if len(table["run"]) < len(sweep):
        notes.append(f"{len(table['run'])} of {len(sweep)} runs are drawn, evenly chosen; the files have all.")
    if sweep.missing:
        notes.append(f"{sweep.missing} of {sweep.runs} runs are not done yet.")
    columns = [_column(name, table[name], name in sweep.parameters) for name in ("run", *sweep.parameters, *sweep.quantities)]
    data = {
        "columns": columns,
        "runs": packed(table["run"]),
        "failed": packed(np.array([status != COMPLETE for status in table["status"]], dtype=np.float64)),
        "failures": failures,
        "errors": errors,
        "command": f"urdf-gibbs sweep show {sweep.path} --run {{run}}",
        "theme": theme,
        "notes": notes,
    }
    title = _title(summary["scenario"]) or "Sweep"
    drawn = f", seed {summary['seed']}" if any("distribution" in values for values in summary["over"].values()) else ""
    subtitle = (
        f"{len(sweep)} runs over {', '.join(sweep.parameters)}{drawn}; {failures} not complete. {sweep.path.name}, {summary['hash'][:12]}"
    )
    return SweepPage(sweep, data, title, subtitle)


def run_view(sweep: Sweep, run: int, theme: str | None = None) -> View:
    """A page that plays one run, which is run again.

    Args:
        sweep: Of which.
        run: Its number.
        theme: "light", "dark" or None: as the browser has it.

    Returns:
        The page.

    Raises:
        ArgumentError: There is no such run, or it could not begin.
        UnknownNameError: There is no such theme.
    """
    trajectory = sweep.run(run)
    try:
        home = read_scenario(sweep.metadata["file"]).robot
    except (UrdfGibbsError, KeyError):  # it is elsewhere by now: without meshes that are only looked at
        home = trajectory.robot
    if home.name == trajectory.robot.name:
        changes: dict[str, Any] = {"file": home.file, "package_dirs": home.package_dirs, "_searched_dirs": home._searched_dirs}
        trajectory = replace(trajectory, robot=replace(trajectory.robot, **changes))
    return animation(trajectory, theme=theme, title=f"{_title(sweep.metadata['scenario']) or 'Sweep'}, run {run}")


def _rows(sweep: Sweep) -> tuple[dict[str, list[Any]], int, dict[int, str]]:
    """Columns of at most MOST_SHOWN rows, the number of failed runs, and the first errors by run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    stride = max(1, -(-len(sweep) // MOST_SHOWN))
    names = ["run", *sweep.parameters, "status", "error", *sweep.quantities]
    kept, failures, errors = [], 0, dict[int, str]()
    for batch in sweep.dataset.to_batches(columns=names):
        wrong = batch.filter(pc.not_equal(batch["status"], COMPLETE))
        failures += len(wrong)
        errors |= (
            dict(zip(wrong["run"].to_pylist()[:MOST_ERRORS], wrong["error"].to_pylist(), strict=False)) if len(errors) < MOST_ERRORS else {}
        )
        chosen = np.flatnonzero(batch["run"].to_numpy() % stride == 0)
        if len(chosen):
            kept.append(batch.take(pa.array(chosen)))
    schema = sweep.dataset.schema
    table = pa.Table.from_batches(kept, pa.schema([schema.field(name) for name in names]))
    return table.to_pydict(), failures, errors


def _column(name: str, values: list[Any], parameter: bool) -> dict[str, Any]:
    """Numbers as they are; words, truth values and lists by their number in a list of them."""
    column: dict[str, Any] = {"name": name, "unit": UNITS.get(name, ""), "parameter": parameter}
    if all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in values):
        return {**column, "values": packed([np.nan if value is None else value for value in values])}
    texts = [str(value) for value in values]
    words = {word: k for k, word in enumerate(dict.fromkeys(texts))}
    return {**column, "words": list(words), "values": packed([words[text] for text in texts])}


def _title(scenario: str) -> str:
    return str(parsed(scenario)[0].get("title", ""))
