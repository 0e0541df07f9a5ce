"""``urdf-gibbs sweep`` and ``sweep show`` as a person calls them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examples import runner
from sweep_cases import OVER, rows

import urdf_gibbs as ug
from urdf_gibbs.cli import app, progress
from urdf_gibbs.cli.sweep import told
from urdf_gibbs.sweeps.sweep import sweep

BALL = ["sweep", "bouncing_ball", "--over", "restitution=0.2:0.6:3", "--over", "start.height=uniform(0.5, 1.5)", "--seed", "7"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli") / "runs"


def test_the_command_makes_the_rows_of_the_function_and_sums_them_up(folder: Path, tmp_path: Path) -> None:
    command = [*BALL, "--runs", "30", "--out", str(folder), "--quantity", "lost=energy_start-energy_end", "--workers", "1"]
    result = runner.invoke(app, command)
    assert result.exit_code == 0, result.output
    same = sweep("bouncing_ball", OVER, runs=30, seed=7, out=tmp_path / "runs", quantities={"lost": "energy_start-energy_end"})
    assert rows(ug.open_sweep(folder)) == rows(same)
    assert "30 runs: 30 complete" in result.output and f"urdf-gibbs sweep show {folder}" in result.output
    least, most = same.summary().extremes["lost"]
    line = next(line for line in result.output.splitlines() if " lost " in line)
    assert [cell.strip() for cell in line.split("│")[2:6]] == [f"{least[0]:.6g}", str(least[1]), f"{most[0]:.6g}", str(most[1])]
    assert least[0] == min(rows(same)["lost"]) and rows(same)["lost"][most[1]] == most[0]
    assert runner.invoke(app, [*command, "--quiet"]).output == ""  # nothing is left to do


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--over", "restitutoin=0:1:3"], 2, 'did you mean "restitution"'),
        (["--over", "restitution"], 2, "is no KEY=VALUES"),
        (["--over", "restitution=1", "--over", "restitution=0"], 2, "is given twice"),
        (["--over", "restitution=0.5", "--quantity", "a=b"], 2, "b is not known"),
        (["--over", "restitution=0.5", "--sampling", "halton"], 2, "no sampling named 'halton'"),
        (["--over", "restitution=uniform(0,1)"], 2, "expected how many runs"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], code: int, said: str, tmp_path: Path) -> None:
    result = runner.invoke(app, ["sweep", "bouncing_ball", "--out", str(tmp_path / "runs"), *arguments], env={"COLUMNS": "300"})
    assert result.exit_code == code and said in result.output
    assert not (tmp_path / "runs").exists()


def test_another_question_in_the_folder_has_exit_code_2(folder: Path) -> None:
    result = runner.invoke(app, [*BALL, "--runs", "31", "--out", str(folder), "--quantity", "lost=energy_start-energy_end"])
    assert result.exit_code == 2 and "runs (30 there, 31 here)" in result.output


def test_show_writes_pages_of_the_sweep_and_of_a_run(folder: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["sweep", "show", str(folder), "--html", str(tmp_path / "sweep.html")])
    assert result.exit_code == 0, result.output
    assert "Bouncing ball" in (tmp_path / "sweep.html").read_text() and "30 complete" in result.output
    result = runner.invoke(app, ["sweep", "show", str(folder), "--run", "4", "--html", str(tmp_path / "run.html")])
    assert result.exit_code == 0, result.output
    assert "Bouncing ball, run 4" in (tmp_path / "run.html").read_text()
    assert f"start.height: {ug.open_sweep(folder).row(4)['start.height']}" in result.output
    assert runner.invoke(app, ["sweep", "show", str(folder), "--run", "30", "--html", str(tmp_path / "no.html")]).exit_code == 2
    result = runner.invoke(app, ["sweep", "show", str(tmp_path)])
    assert result.exit_code == 2 and "holds no sweep" in result.output


def test_the_rate_and_the_time_left_follow_from_what_is_done() -> None:
    assert told(2.0, 100, 350, 0) == "50 runs/s, 0:00:07 left"
    assert told(10.0, 1, 800, 3) == "0.1 runs/s, 2:13:20 left, 3 failed"
    assert told(0.0, 0, 10, 0) == ""


def test_progress_is_told_in_lines_without_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REPORTED", 0.0)
    words = [*BALL, "--runs", "12", "--workers", "1", "--out"]
    told = re.findall(r"^(\d+) of 12 runs", runner.invoke(app, [*words, str(tmp_path / "told")]).stderr, re.M)
    assert told and [int(done) for done in told] == sorted(int(done) for done in told) and int(told[-1]) <= 12
    assert "of 12 runs" not in runner.invoke(app, [*words, str(tmp_path / "quiet"), "--quiet"]).stderr
