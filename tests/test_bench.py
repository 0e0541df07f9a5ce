"""``urdf-gibbs bench`` from call to report. Seconds are not judged here: they are the machine's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from examples import runner

import urdf_gibbs as ug
from urdf_gibbs import timing
from urdf_gibbs.cli import app

QUICK = ["--rounds", "2", "--batch", "64"]
ONCE = ["--rounds", "1", "--batch", "64"]


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "CHUNK", 1e-5)


def test_bench_reports_every_contender_and_draws_the_ratios(tmp_path: Path) -> None:
    report, picture = tmp_path / "bench.json", tmp_path / "bench.png"
    threads = ug.get_threads()
    result = runner.invoke(app, ["bench", "branched12", *QUICK, "--json", str(report), "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert ug.get_threads() == threads
    content = json.loads(report.read_text())
    assert content["command"] == "urdf-gibbs bench branched12 --base fixed --batch 64 --rounds 2 --no-mimic"
    assert {"CPU", "cores", "Pinocchio", "llvmlite", "numpy"} <= content["machine"].keys()
    (robot,) = content["results"]
    assert (robot["nq"], robot["nv"], robot["states"], robot["rounds"]) == (12, 12, 64, 2)
    for quantity in ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics"):
        assert {"kernel", "function", "pinocchio"} <= robot["single"][quantity].keys()
        assert {"ours_1", "pinocchio_loop"} <= robot["batch"][quantity].keys()
        assert all(seconds > 0.0 for seconds in (*robot["single"][quantity].values(), *robot["batch"][quantity].values()))
        assert robot["difference"][quantity] < 1e-9  # as `validate`: both compute the same
    for kind in ("cold", "warm"):
        assert robot["start"][kind].keys() == {"import_and_load", "mass_matrix", "bias", "forward_dynamics"}
    assert picture.stat().st_size > 10_000
    assert "Mimic joints are free on both sides" in result.output
    assert "MuJoCo left out" in result.output  # S18's robot has massless links: it would refuse them if it is installed


def test_mimic_joints_can_be_tied_on_both_sides(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    result = runner.invoke(app, ["bench", "gripper", "--mimic", *QUICK, "--json", str(report)])
    assert result.exit_code == 0, result.output
    (robot,) = json.loads(report.read_text())["results"]
    assert robot["single"].keys() == {"mass_matrix", "bias", "inverse_dynamics"}
    assert all(error < 1e-9 for error in robot["difference"].values())
    assert "Mimic joints are tied on both sides" in result.output


def test_derivatives_and_the_regressor_are_timed_and_agree(tmp_path: Path) -> None:
    report, picture = tmp_path / "bench.json", tmp_path / "bench.png"
    result = runner.invoke(app, ["bench", "planar3r", "--derivatives", *ONCE, "--json", str(report), "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    content = json.loads(report.read_text())
    assert content["command"].endswith("--no-mimic --derivatives")
    (robot,) = content["results"]
    names = {"inverse_dynamics_derivatives", "forward_dynamics_derivatives", "torque_regressor"}
    assert robot["single"].keys() == robot["batch"].keys() == names
    for quantity in names:
        assert {"kernel", "packed", "function", "pinocchio"} == robot["single"][quantity].keys()
        assert {"ours_1", "packed_1", "pinocchio_loop", "pinocchio_dropped", "zeros"} <= robot["batch"][quantity].keys()
        assert robot["difference"][quantity] < 1e-9
    assert robot["start"]["cold"].keys() == {"import_and_load", *names}
    assert picture.stat().st_size > 10_000
    assert "computeRNEADerivatives" in result.output


def test_derivatives_of_elastic_links_are_timed_alone_and_those_of_tied_mimic_joints_are_refused(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    result = runner.invoke(app, ["bench", "flexible_link", "gripper", "--derivatives", "--mimic", *ONCE, "--json", str(report)])
    assert result.exit_code == 2
    assert "Pinocchio has no derivatives with mimic joints tied" in result.stderr
    (robot,) = json.loads(report.read_text())["results"]
    assert robot["single"].keys() == {"inverse_dynamics_derivatives", "forward_dynamics_derivatives"}
    assert all(row.keys() == {"kernel", "function"} for row in robot["single"].values())


def test_a_robot_without_forward_dynamics_and_a_missing_file_are_said(tmp_path: Path) -> None:
    file = tmp_path / "massless.urdf"
    file.write_text(
        '<robot name="massless"><link name="a"/><link name="b"/>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    result = runner.invoke(app, ["bench", str(file), "no_such_file.urdf", *QUICK])
    assert result.exit_code == 2
    assert "forward left out: the mass matrix is singular" in result.output
    assert "no_such_file.urdf:0: error" in result.output


def test_bench_without_pinocchio_says_what_to_install() -> None:
    code = "import sys; sys.modules['pinocchio'] = None\nfrom urdf_gibbs.cli import app\nsys.argv = ['urdf-gibbs', 'bench', 'branched12']\napp()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "urdf-gibbs[oracle]" in result.stderr
