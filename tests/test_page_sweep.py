"""The page of a sweep in a real browser: dots and cells by their pixels and numbers, ranges that keep runs, and a run played in 3-D."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HEIGHT, WIDTH, Opened, watched
from sweep_cases import ball, rows

import urdf_gibbs as ug
from urdf_gibbs.sweeps.results import Sweep
from urdf_gibbs.sweeps.sweep import sweep
from urdf_gibbs.view.sweep_page import MOST_SHOWN, sweep_page

Open = Callable[[Path], Opened]

VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """The lowest balls would begin inside the ground."""
    over = {"restitution": "0.2:0.6:3", "start.height": "uniform(-0.1, 1.5)", "duration": 5.0}
    return ball(tmp_path_factory.mktemp("page") / "runs", over=over, runs=240, quantities={"lost": "energy_start - energy_end"})


def shade(share: float) -> np.ndarray[Any, Any]:
    at = min(max(share, 0.0), 1.0) * 4
    k = min(3, int(at))
    low, high = np.array(VIRIDIS[k]), np.array(VIRIDIS[k + 1])
    return low + (high - low) * (at - k)


def choose(tab: Opened, **wanted: str) -> None:
    for name, label in wanted.items():
        tab.page.select_option(f"#{name}", label=label)
    tab.settled()


def place(tab: Opened, canvas: str, x: float, y: float) -> tuple[int, int]:
    """Column and row on the screen of values in a drawing."""
    script = """([id, number, x, y]) => { const box = document.getElementById(id).getBoundingClientRect();
        const frame = urdfGibbs.sweep.drawings[number].frame; return [box.left + frame.x(x), box.top + frame.y(y)]; }"""
    column, row = tab.run(script, [canvas, {"scatter": 0, "map": 1}[canvas], x, y])
    return round(column), round(row)


def test_dots_stand_at_their_values_in_the_colour_of_theirs(found: Sweep, tmp_path: Path, open_page: Open) -> None:
    tab = open_page(sweep_page(found).save(tmp_path / "page.html"))
    assert tab.complaints == [] and tab.outside == []
    choose(tab, x="start.height", y="lost", colour="energy_start")
    table = rows(found)
    picture, energies = tab.picture(), table["energy_start"]
    low, high = (end(value for value in energies if value is not None) for end in (min, max))
    looked = 0
    for run in range(0, 240, 17):
        if table["status"][run] != "complete":
            continue
        column, row = place(tab, "scatter", table["start.height"][run], table["lost"][run])
        assert np.abs(picture[row, column] - shade((energies[run] - low) / (high - low))).max() <= 12, run  # or a neighbour's above it
        looked += 1
    assert looked > 8


def test_cells_have_the_mean_of_their_runs(found: Sweep, tmp_path: Path, open_page: Open) -> None:
    tab = open_page(sweep_page(found).save(tmp_path / "page.html"))
    choose(tab, x="restitution", y="start.height", colour="rest")
    table = rows(found)
    cells, up = tab.run("[[...urdfGibbs.sweep.drawings[1].cells], urdfGibbs.sweep.drawings[1].up]")
    e, h = np.array(table["restitution"]), np.array(table["start.height"])
    rest = np.array([np.nan if value is None else value for value in table["rest"]])
    means = {}
    for i, level in enumerate(sorted(set(e))):
        for j in range(len(up) - 1):
            inside = (e == level) & (h >= up[j]) & ((h < up[j + 1]) | (j == len(up) - 2)) & ~np.isnan(rest)
            if inside.any():
                means[j * 4 + i] = (rest[inside].mean(), inside.sum())
    assert {key: pytest.approx(value, rel=1e-12) for key, value in means.items()} == {key: tuple(value) for key, value in cells}
    (key, (mean, count)) = next(iter(means.items()))
    column, row = place(tab, "map", 0.2 * (key % 4 + 1), (up[key // 4] + up[key // 4 + 1]) / 2)
    tab.page.mouse.move(column, row)
    tab.settled()
    assert f"mean {mean:.5g} of {count} runs, rest" in tab.run("document.getElementById('map-title').textContent")
    low, high = np.nanmin(rest), np.nanmax(rest)
    assert np.abs(tab.picture()[row, column] - shade((mean - low) / (high - low))).max() <= 3
    choose(tab, statistic="how many")
    assert sum(value for _, (value, _) in tab.run("[...urdfGibbs.sweep.drawings[1].cells]")) == sum(count for _, count in means.values())
    assert tab.complaints == []


def test_a_click_on_a_dot_tells_its_row_and_the_command_that_plays_it(found: Sweep, tmp_path: Path, open_page: Open) -> None:
    tab = open_page(sweep_page(found).save(tmp_path / "page.html"))
    choose(tab, x="start.height", y="restitution")
    row = found.row(101)
    tab.page.mouse.click(*place(tab, "scatter", row["start.height"], row["restitution"]))
    assert tab.run("urdfGibbs.sweep.data.runs.data[urdfGibbs.sweep.chosen]") == 101
    text = tab.run("document.getElementById('run').innerText")
    assert f"{row['start.height']:.8g}" in text and f"{row['lost']:.8g}" in text
    assert tab.run("document.getElementById('command').textContent") == f"urdf-gibbs sweep show {found.path} --run 101"
    assert tab.complaints == []


def test_a_range_of_an_axis_keeps_its_runs_until_it_is_clicked(found: Sweep, tmp_path: Path, open_page: Open) -> None:
    tab = open_page(sweep_page(found).save(tmp_path / "page.html"))
    names = tab.run("urdfGibbs.sweep.drawings[2].columns.map((one) => one.name)")
    assert {"restitution", "start.height", "lost"} <= set(names) and "duration" not in names and "run" not in names
    script = """(name) => { const lines = urdfGibbs.sweep.drawings[2]; lines.canvas.scrollIntoView({block: 'center'});
        const box = lines.canvas.getBoundingClientRect(); return [box.left + 40 + lines.step * lines.columns.findIndex((one) => one.name === name), box.top + 46, lines.tall]; }"""
    x, top, tall = tab.run(script, "restitution")
    tab.page.mouse.move(x, top + 0.75 * tall)
    tab.page.mouse.down()
    tab.page.mouse.move(x, top + 0.3 * tall, steps=3)
    tab.page.mouse.up()
    kept = tab.run("[...urdfGibbs.sweep.data.runs.data].filter((_, k) => urdfGibbs.sweep.kept[k])")
    assert kept == [run for run, e in enumerate(rows(found)["restitution"]) if e == 0.4]
    assert tab.run("document.getElementById('kept').textContent") == f"{len(kept)} of 240 runs kept"
    counts = tab.run("urdfGibbs.sweep.drawings[3].counts(urdfGibbs.sweep.columns.find((one) => one.name === 'restitution')).counts")
    assert counts == [0, len(kept), 0]
    tab.page.mouse.click(x, top + 0.5 * tall)
    assert tab.run("urdfGibbs.sweep.kept.every((one) => one)")


def test_histograms_count_all_runs(found: Sweep, tmp_path: Path, open_page: Open) -> None:
    tab = open_page(sweep_page(found).save(tmp_path / "page.html"))
    heights = np.array(rows(found)["start.height"])
    result = tab.run("urdfGibbs.sweep.drawings[3].counts(urdfGibbs.sweep.columns.find((one) => one.name === 'start.height'))")
    assert result["counts"] == np.histogram(heights, result["edges"])[0].tolist()


def test_failed_runs_are_listed_and_light_and_dark_differ(found: Sweep, tmp_path: Path, open_page: Open) -> None:
    tab = open_page(sweep_page(found, "dark").save(tmp_path / "dark.html"))
    table = rows(found)
    wrong = [run for run, status in enumerate(table["status"]) if status == "refused"]
    assert wrong
    listed = tab.run("[...document.querySelectorAll('#failures li')].map((one) => one.textContent)")
    assert listed == [f"{run}: {table['error'][run]}" for run in wrong]
    tab.page.click("#failures li")
    assert tab.run("document.querySelector('#run .error').textContent") == table["error"][wrong[0]]
    dark = tab.picture()
    assert dark[5, 5].max() < 60
    tab.page.click("#theme")
    assert tab.picture()[5, 5].min() > 240
    assert tab.complaints == []


def test_of_very_many_runs_some_are_drawn_and_the_page_says_so(found: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_SHOWN > 10_000
    monkeypatch.setattr("urdf_gibbs.view.sweep_page.MOST_SHOWN", 100)
    data = sweep_page(found).data
    assert data["runs"]["shape"] == [80] and data["notes"] == ["80 of 240 runs are drawn, evenly chosen; the files have all."]


@pytest.fixture
def online(browser: Any) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    yield watched(context.new_page())
    context.close()


def test_a_click_on_the_served_page_plays_the_run_in_3_d(found: Sweep, online: Opened) -> None:
    with sweep_page(ug.open_sweep(found.path)).open(browser=False) as live:
        online.page.goto(live.url)
        online.page.wait_for_function("document.body.dataset.state === 'ready'")
        online.run("urdfGibbs.sweep.choose(33)")
        frame = online.page.frame_locator("#run iframe")
        frame.locator("#clock").wait_for()
        inside = next(one for one in online.page.frames if one.url.endswith("/run/33"))
        inside.wait_for_function("document.body.dataset.state === 'ready'")
        row = found.row(33)
        assert inside.evaluate("urdfGibbs.data.motion.impacts.length") == row["impacts"]
        assert "Bouncing ball, run 33" in inside.inner_text("h1")
        wrong = rows(found)["status"].index("refused")
        online.page.goto(f"{live.url}run/{wrong}")
        assert f"run {wrong} could not begin" in online.page.inner_text("#problem")
        assert all(url.startswith((live.url, "data:", "blob:")) for url in online.requests)
    assert online.complaints == []


def test_words_and_lists_are_axes_too(tmp_path: Path, open_page: Open) -> None:
    found = sweep("bouncing_ball", {"gravity": "[0,0,-9.81],[0,0,-1.62]", "law": "newton,poisson"}, out=tmp_path / "runs")
    tab = open_page(sweep_page(found).save(tmp_path / "page.html"))
    assert tab.complaints == []
    choose(tab, x="law", y="gravity", colour="impacts")
    assert tab.run("urdfGibbs.sweep.x.ticks().map(([, word]) => word)") == ["newton", "poisson"]
    assert sorted(tab.run("[...urdfGibbs.sweep.drawings[1].cells.values()].map(([value]) => value)")) == sorted(rows(found)["impacts"])
