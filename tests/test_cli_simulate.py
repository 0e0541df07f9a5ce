"""``urdf-gibbs simulate`` as a person meets it: bundled scenarios against their closed forms, overrides, files, errors, Ctrl-C."""

from __future__ import annotations

import importlib.util
import json
import re
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from math import cos, pi, radians, sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import runner

import urdf_gibbs as ug
from urdf_gibbs.cli import app, progress, simulate_report, simulate_tables
from urdf_gibbs.simulation import impact_values
from urdf_gibbs.simulation.scenario import read_scenario

G = 9.81
PRECISE = 1e-8  # what an integrator with rtol 1e-10 leaves after a few seconds
SHORT = ["--duration", "0.5"]
MASSLESS = """<robot name="massless"><link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial></link><joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint>
<link name="tip"/></robot>"""


def call(*arguments: str) -> Any:
    return runner.invoke(app, ["simulate", *arguments])


def report(tmp_path: Path, *arguments: str) -> Any:
    result = call(*arguments, "--json", str(tmp_path / "report.json"))
    assert result.exit_code == 0, result.output
    return json.loads((tmp_path / "report.json").read_text())


def elliptic(k: float) -> float:
    """K(k), by the arithmetic-geometric mean."""
    a, b = 1.0, sqrt(1.0 - k * k)
    for _ in range(20):
        a, b = (a + b) / 2.0, sqrt(a * b)
    return pi / (2.0 * a)


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def balance(output: str) -> float:
    """start - lost + gained - end [J], of the energies as they are printed, in their digits."""
    table = output[output.index(" at the start") :]
    rows = dict(re.findall(r"^ (\S[^\n]*?)  +(-?[\d.e+-]+) *$", table[: table.index("at the end") + 80], re.M))
    lost = sum(float(value) for name, value in rows.items() if name.startswith("lost"))
    gained = sum(float(value) for name, value in rows.items() if name.startswith("gained"))
    return float(rows["at the start"]) - lost + gained - float(rows["at the end"])


# Bundled scenarios ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ug.scenario_names())
def test_every_bundled_scenario_runs_and_reports_its_results(name: str) -> None:
    scenario = read_scenario(name)
    result = call(name)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert words.startswith(scenario.title) and f"{scenario.robot.name}, nv" in words and f"law {scenario.law}" in words
    steps = scenario.scheme == "time_stepping"
    for text in ("impacts", "at the start", "impacts" if steps else "lost in impacts", "at the end", "times real time"):
        assert text in words, text
    assert ("contact laws within" if steps else "evaluations") in words
    assert max(len(line.rstrip()) for line in result.stdout.splitlines()) <= 80
    assert not re.search(r"\bnan\b|\binf\b|\d[eE]-(1[6-9]|[2-9]\d)", words, re.I), words
    assert balance(result.stdout) == pytest.approx(0.0, abs=1e-4)
    drift = re.search(r"drift of the integrator.*? (\S+) *$", result.stdout, re.M)
    assert drift is None or abs(float(drift[1])) < 1e-6
    assert "energy gain" not in result.output and "have a flag" not in result.output
    assert "Traceback" not in result.output


def test_branched12_is_printed_next_to_the_table_of_the_paper(tmp_path: Path) -> None:
    result = call("branched12")
    assert "Shafei 2018, Table 3" in result.output
    found = report(tmp_path, "branched12")
    assert [impact["points"] for impact in found["impacts"]] == [["O1", "O5"], ["O2", "O4"], ["O8", "O11"], ["O3"], ["O1", "O5"]]
    for row in found["reference"]["impacts"]:
        for name in ("time", "angle", "velocity", "impulse"):
            if row[name]["published"]:
                assert abs(row[name]["difference_percent"]) < 1.5, (row["points"], name)
                expected = 100.0 * (row[name]["ours"] / row[name]["published"] - 1.0)
                assert row[name]["difference_percent"] == pytest.approx(expected, abs=1e-9)
            else:
                assert row[name]["difference_percent"] is None and row[name]["ours"] == pytest.approx(0.0, abs=1e-4)
    assert found["energy"]["start"] == pytest.approx(G * (9 - 3 * sqrt(3)) / 2, abs=1e-10)
    assert found["energy"]["rest_is"] == [] and abs(found["energy"]["rest"]) < 1e-8


def test_what_is_missing_of_a_reference_is_named() -> None:
    result = call("branched12", *SHORT, "--restitution", "0.9")
    assert re.search(r"time \[s\] +0\.5698 +none +$", result.output, re.M)
    assert "need not agree" in " ".join(result.output.split())


def test_the_bouncing_ball_piles_up_and_rests(tmp_path: Path) -> None:
    found = report(tmp_path, "bouncing_ball")
    t1, e = sqrt(2 / G), 0.8
    assert found["impacts"][0]["time"] == pytest.approx(t1, abs=PRECISE)
    assert found["impacts"][0]["velocity_changes"] == pytest.approx([(1 + e) * G * t1], abs=PRECISE)
    (phase,) = found["phases"]
    assert phase["end"] is None and phase["end_of_bouncing"] == pytest.approx(t1 * (1 + e) / (1 - e), abs=1e-6)
    assert found["energy"]["lost_in_impacts"] == pytest.approx(G, abs=PRECISE)


def test_the_cradle_passes_the_impact_on(tmp_path: Path) -> None:
    found = report(tmp_path, "cradle")
    pairs = [impact["points"] for impact in found["impacts"]]
    assert pairs == [["ball1-ball2"], ["ball2-ball3"], ["ball2-ball3"], ["ball1-ball2"], ["ball1-ball2"], ["ball2-ball3"]]
    swing = sqrt(1.001 / G) * elliptic(sin(radians(15)))
    speed = 2 * sqrt(G / 1.001) * sin(radians(15))
    assert found["impacts"][0]["time"] == pytest.approx(swing + 1e-3 / speed, abs=1e-5)
    assert found["impacts"][0]["velocity_changes"] == pytest.approx([2 * speed], rel=1e-5)
    assert abs(found["energy"]["lost_in_impacts"]) < PRECISE


def test_the_block_bounces_on_four_corners_and_slides(tmp_path: Path) -> None:
    found = report(tmp_path, "sliding_block", "--out", str(tmp_path / "run"))
    slope = radians(20)
    t1 = sqrt(2 * 0.05 / (G * cos(slope)))
    for n, impact in enumerate(found["impacts"][:8]):
        assert impact["points"] == ["A", "B", "C", "D"]
        assert impact["time"] == pytest.approx(t1 * (1 + 2 * sum(0.5**k for k in range(1, n + 1))), abs=PRECISE)
        assert impact["impulses"] == pytest.approx([2.0 / 4 * 1.5 * G * cos(slope) * t1 * 0.5**n] * 4, abs=PRECISE)
    assert [phase["point"] for phase in found["phases"]] == ["A", "B", "C", "D"]
    assert all(phase["end_of_bouncing"] == pytest.approx(3 * t1, abs=1e-6) for phase in found["phases"])
    end = ug.Trajectory.load(tmp_path / "run").q[-1]
    along = end[0] * cos(slope) - end[2] * sin(slope)
    assert along == pytest.approx(G * sin(slope) / 2, abs=PRECISE)
    assert end[3:] == pytest.approx([0.0, sin(slope / 2), 0.0, cos(slope / 2)], abs=PRECISE)


def test_the_ball_finds_the_steady_bounce_on_the_table(tmp_path: Path) -> None:
    found = report(tmp_path, "vibrating_table")
    for n, impact in enumerate(found["impacts"][-10:], len(found["impacts"]) - 10):
        assert impact["time"] == pytest.approx(0.05 + 0.1 * n, abs=PRECISE)
        assert impact["velocity_changes"] == pytest.approx([0.981], abs=PRECISE)
    assert found["energy"]["walls_move"]


def test_the_pendulum_comes_back_to_its_stop(tmp_path: Path) -> None:
    found = report(tmp_path, "pendulum_stop")
    root, e, t = sqrt(0.502 / G), 0.7, 0.0
    start = G * 0.5 * (1 - cos(pi / 3))
    for n, impact in enumerate(found["impacts"]):
        t += root * elliptic(0.5 * e**n) * (1 if n == 0 else 2)
        assert impact["time"] == pytest.approx(t, abs=PRECISE)
        assert impact["walls"] == ["lower"]
        assert impact["energy_after"] + G * 0.5 == pytest.approx(start * e ** (2 * n + 2), abs=PRECISE)
    assert "rad/s" in call("pendulum_stop").output


# Options --------------------------------------------------------------------------------------------


def test_options_override_the_file(tmp_path: Path) -> None:
    options = ["--duration", "1.5", "--law", "poisson", "--restitution", "0.5", "--rtol", "1e-7"]
    found = report(tmp_path, "bouncing_ball", *options)
    assert {name: found["settings"][name] for name in ("duration", "law", "restitution", "rtol")} == {
        "duration": 1.5,
        "law": "poisson",
        "restitution": 0.5,
        "rtol": 1e-7,
    }
    assert found["simulated"] == 1.5
    assert found["energy"]["lost_in_impacts"] > G * 0.75 - PRECISE


def test_a_wall_keeps_its_own_restitution(tmp_path: Path) -> None:
    text = (
        'duration = 0.6\n[robot]\nfile = "ball"\n[start]\nheight = 1.0\n[[walls]]\nkind = "plane"\nnormal = [0, 0, 1]\nrestitution = 0.25\n'
    )
    result = call(write(tmp_path / "own.toml", text), "--restitution", "0.5")
    assert result.exit_code == 0
    assert "restitution of their own: plane 0.25" in result.output


def test_long_tables_are_shortened_unless_all_rows_are_requested() -> None:
    short, full = call("bouncing_ball").output, call("bouncing_ball", "--all").output
    assert "62 impacts" in short and "42 more: --all" in short
    assert "--all" not in full
    assert len(full.splitlines()) == len(short.splitlines()) + 41
    assert "20 more" not in call("vibrating_table", "--duration", "2.1").output  # 21 impacts: nothing is gained by one row less


def test_quiet_and_json_on_standard_output() -> None:
    assert call("bouncing_ball", "--quiet").output == ""
    found = json.loads(call("bouncing_ball", "--json", "-").stdout)
    assert found["robot"] == "ball" and found["status"] == "complete" and len(found["impacts"]) == 62


def test_the_trajectory_comes_back_from_its_file(tmp_path: Path) -> None:
    result = call("branched12", "--out", str(tmp_path / "run.npz"))
    assert result.exit_code == 0
    assert f"written: {tmp_path / 'run.npz'}" in result.output
    found = ug.Trajectory.load(tmp_path / "run.npz")
    again = ug.simulate(**read_scenario("branched12").arguments())
    np.testing.assert_array_equal(found.t, again.t)
    np.testing.assert_array_equal(found.q, again.q)
    assert found.robot.fingerprint == again.robot.fingerprint
    assert [impact.points for impact in found.impacts] == [impact.points for impact in again.impacts]


def test_rows_as_csv(tmp_path: Path) -> None:
    result = call("bouncing_ball", *SHORT, "--csv", str(tmp_path / "run.csv"))
    assert result.exit_code == 0, result.output
    head, *rows = (tmp_path / "run.csv").read_text().splitlines()
    assert head.split(",")[:3] == ["t", "q.height", "v.height"]
    assert float(rows[-1].split(",")[0]) == 0.5


@pytest.mark.parametrize(
    ("torque", "damping", "name"),
    [
        (20.0, "true", "gained by the work of the torques, less damping"),
        (0.1, "true", "lost by damping, less the work of the torques"),
        (20.0, "false", "gained by the work of the torques"),
        (-0.2, "false", "lost by the work of the torques"),
    ],
)
def test_the_remainder_of_the_energy_is_named_by_its_sign(tmp_path: Path, torque: float, damping: str, name: str) -> None:
    text = f'duration = 0.05\n[robot]\nfile = "gripper"\n[start_velocity]\nelbow = 2.0\n[torques]\nelbow = {torque}\n[contacts]\ndamping = {damping}\n'
    result = call(write(tmp_path / "driven.toml", text))
    assert result.exit_code == 0, result.output
    (value,) = re.findall(rf"^ {name} +(\S+) *$", result.output, re.M)
    assert float(value) > 0.0 and "drift" not in result.output
    assert balance(result.output) == pytest.approx(0.0, abs=1e-4)  # six digits of 36 J
    assert "no impacts" in result.output and "no lasting contacts" in result.output


def test_flags_are_shown_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ug.simulate(**read_scenario("cradle").arguments()).impacts[0]
    assert simulate_report.flags(plain) == []
    doubtful = replace(plain, rounds=3, certificate=1e-5, energy_gain=True)
    assert simulate_report.flags(doubtful) == ["energy gain", "3 rounds", "certificate 1e-05"]
    assert simulate_report.flags(replace(plain, certificate=np.nan)) == ["no certificate"]
    assert simulate_report.flagged([plain, doubtful, plain]) == 1
    monkeypatch.setattr(simulate_report, "UNCERTAIN", -1.0)
    output = call("cradle").output
    assert "flags" in output and "6 of 6 impacts have a flag" in output


def test_several_walls_have_a_column(tmp_path: Path) -> None:
    text = """duration = 1.0
[robot]
file = "block"
base = "planar"
[start]
root_joint = [0, 0, "30 deg"]
[start_velocity]
root_joint = [1.0, 0.3, 0.5]
[contacts]
points = "collision"
[[walls]]
kind = "box"
size = [0.5, 0.5, 2]
"""
    result = call(write(tmp_path / "box.toml", text))
    assert result.exit_code == 0, result.output
    assert "walls" in result.output and "box.+x" in result.output


def test_point_names_are_not_markup(tmp_path: Path) -> None:
    text = 'duration = 0.6\ntitle = "[red]x"\n[robot]\nfile = "ball"\n[start]\nheight = 1.0\n[contacts]\npoints = [{link = "ball", name = "[bold]b"}]\n'
    result = call(write(tmp_path / "names.toml", text + '[[walls]]\nkind = "plane"\nname = "[/x]"\nnormal = [0, 0, 1]\n'))
    assert result.exit_code == 0, result.output
    assert "[red]x" in result.output and "[bold]b" in result.output and "[/x]" in result.output


# Errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--duration", "0"], "--duration"),
        (["--duration", "nan"], "--duration"),
        (["--duration", "soon"], "--duration"),
        (["--restitution", "1.5"], "from 0 to 1"),
        (["--rtol", "-1"], "--rtol"),
        (["--law", "hooke"], "newton_equality"),
        (["--out", "/no/such/folder/run.npz"], "folder that exists"),
        (["--json", "/"], "--json"),
    ],
)
def test_bad_options_are_refused_by_name(options: list[str], text: str) -> None:
    result = call("bouncing_ball", *options)
    assert result.exit_code == 2
    assert text in result.output and "Traceback" not in result.output


def test_scenarios_that_cannot_be_used_give_exit_code_2(tmp_path: Path) -> None:
    inside = 'duration = 1\n[robot]\nfile = "ball"\n[[walls]]\nkind = "plane"\nnormal = [0, 0, 1]\npoint = [0, 0, 1]\n'
    write(tmp_path / "bad.urdf", "<robot>")
    cases = {
        "nonsense": "bouncing_ball",
        write(tmp_path / "two.toml", "duration = -1\ncolour = 1\n"): "two.toml:2: colour: unknown key",
        write(tmp_path / "urdf.toml", 'duration = 1\n[robot]\nfile = "bad.urdf"\n'): "bad.urdf",
        write(tmp_path / "inside.toml", inside): "1 m inside plane",
        write(tmp_path / "rigid.toml", 'duration = 1\n[robot]\nfile = "block"\n'): "no joint that moves",
    }
    for file, text in cases.items():
        result = call(file)
        assert result.exit_code == 2, result.output
        assert text in result.output and "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_motion_that_cannot_go_on_is_saved(tmp_path: Path) -> None:
    write(tmp_path / "massless.urdf", MASSLESS)
    file = write(tmp_path / "massless.toml", 'duration = 1\n[robot]\nfile = "massless.urdf"\n')
    result = call(file, "--out", str(tmp_path / "run.npz"))
    assert result.exit_code == 1, result.output
    assert "the simulation stopped at t = 0 s" in result.output and "Traceback" not in result.output
    assert ug.Trajectory.load(tmp_path / "run.npz").status.startswith("failed")


def test_csv_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pandas" else find(name))
    result = call("bouncing_ball", "--csv", "run.csv")
    assert result.exit_code == 2
    assert "pip install 'urdf-gibbs[table]'" in result.output


def test_a_file_that_cannot_be_written_leaves_the_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(self: ug.Trajectory, path: str) -> Path:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(ug.Trajectory, "save", full)
    result = call("bouncing_ball", "--out", str(tmp_path / "run.npz"))
    assert result.exit_code == 1
    assert "62 impacts" in result.output and "No space left on device" in result.output


def test_ctrl_c_while_the_simulator_is_made_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    from urdf_gibbs.simulation import simulate as room

    def interrupted(self: Any, *arguments: Any, **options: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(room.Simulator, "__init__", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest may be started with SIGINT ignored
    try:
        result = call("bouncing_ball")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.exit_code == 130
    assert "interrupted" in result.output and "Traceback" not in result.output


def test_what_takes_long_is_announced_unless_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    from urdf_gibbs.engine.driver_code import BUILDING
    from urdf_gibbs.simulation import simulate as room

    make = room.Simulator.__init__

    def slow(self: Any, *arguments: Any, **options: Any) -> None:
        warnings.warn(BUILDING, stacklevel=2)
        make(self, *arguments, **options)

    monkeypatch.setattr(room.Simulator, "__init__", slow)
    assert "about a minute" in call("bouncing_ball", *SHORT).output
    assert "about a minute" not in call("bouncing_ball", *SHORT, "--quiet").output


def test_progress_is_told_in_lines_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of a run that is over before the first is due; in between they go up, on standard error alone."""
    assert "simulated" not in call("quadruped", "--duration", "0.3").stderr
    monkeypatch.setattr(progress, "REPORTED", 0.0)
    result = call("quadruped", "--duration", "0.5")
    found = re.findall(r"^simulated (\S+) of 0\.5 s \((\d+)%\)", result.stderr, re.M)
    times = [float(t) for t, _ in found]
    assert len(times) > 1 and times == sorted(times) and times[0] > 0.0 and times[-1] < 0.5
    assert [round(100.0 * t / 0.5) for t in times] == pytest.approx([int(percent) for _, percent in found], abs=1)
    assert "simulated" not in result.stdout
    assert "simulated" not in call("quadruped", "--duration", "0.5", "--quiet").stderr


def test_a_missing_value_among_others_is_a_dash_and_round_off_is_nothing() -> None:
    """At once a limit strikes, which has no angle of attack, and points of a wall do; velocities that cancel leave 1e-16."""
    assert simulate_tables._each(np.array([np.nan, 33.123]), ".2f", False) == "-, 33.12"
    assert simulate_tables._each(np.array([np.nan, 3.0, 1.0, 2.0]), ".2f", False) == "1.00 to 3.00"
    assert simulate_tables._each(simulate_tables._plain(np.array([1.6e-16, -2.0]), 2.0), ".3g", False) == "0, -2"
    assert simulate_tables._each(simulate_tables._plain(np.array([-1e-34, 1e-34]), 1.0), ".3g", False) == "0"


def test_a_range_of_numbers_breaks_into_two_lines_at_most(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names, ranges = [f"point number {i}, wall {i}" for i in range(3)], "0.0745 to 0.0699"
    rows = [["0.142784", name, "0.0", "2.1", ranges, ranges, "0.00316"] for name in names]
    heads = ["time\n[s]", "points", "angle\n[deg]", "velocity\nchange\n[m/s]", "impulse\n[N s]", "along\nthe wall", "energy"]
    simulate_tables._show(simulate_tables._table("", heads, rows, ("points",)))
    table = capsys.readouterr().out
    assert max(map(len, table.splitlines())) <= 80 and table.count("0.0745 to") == 6 and len(table.splitlines()) <= 6 + 2 * len(rows)


def test_angles_are_those_of_points_that_approach() -> None:
    """What rests on its wall has a velocity of round-off, and any direction."""
    impact = ug.simulate(**read_scenario("bouncing_ball").arguments()).impacts[0]
    several = {name: np.repeat(getattr(impact, name), 3, axis=0) for name in impact_values.ARRAYS if name not in impact_values.STATES}
    several |= {"points": impact.points * 3, "walls": impact.walls * 3, "angles_of_attack": np.radians([10.0, 20.0, 170.0])}
    for before, told in (([-1.0, -1.0, 1e-13], "10.0 to 20.0"), ([-1.0, -1e-13, 0.0], "10.0"), ([-1e-13, 0.0, 1.0], "")):
        held = replace(impact, **{**several, "normal_velocities_before": np.array(before)})
        assert simulate_tables._angles(held, False) == told


STARTED = """
import sys
from urdf_gibbs.cli import app
from urdf_gibbs.simulation.simulate import Simulator
run = Simulator.run

def told(self, q0, v0, duration, *more):
    if duration:
        print("running", flush=True)
    return run(self, q0, v0, duration, *more)

Simulator.run = told
sys.argv[0] = "urdf-gibbs"
app()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process")
def test_ctrl_c_keeps_what_was_computed(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    words = ["simulate", "vibrating_table", "--duration", "1e7", "--out", str(path)]
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background job may ignore it
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    time.sleep(0.2)  # what is computed meanwhile has to be written and read again
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "Ball on a vibrating table" in output and "at the end" in output
    assert "interrupted at" in errors and "of 1e+07 s" in errors and "Traceback" not in errors
    found = ug.Trajectory.load(path)
    assert found.status == "interrupted"
    assert 0.0 < found.t[-1] < 1e7 and len(found.impacts) > 0
