"""The commands as a person meets them, and the wheel away from the checkout."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from examples import runner

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.cli import app
from urdf_gibbs.engine.driver_code import SHIPPED
from urdf_gibbs.engine.objects import cache_folder

ROOT = Path(__file__).parents[1]


def test_help_fits_80_columns_and_nothing_of_it_is_cut() -> None:
    listed = runner.invoke(app, ["--help"], env={"COLUMNS": "80"}).output
    commands = [line.split()[0] for line in listed.partition("Commands:")[2].splitlines() if line]
    assert {"check", "view", "validate", "simulate", "sweep"} < set(commands)
    for words in [[], *([command] for command in commands), ["sweep", "run"], ["sweep", "show"]]:
        text = runner.invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).output
        assert max(map(len, text.splitlines())) <= 80, words
        assert "\N{HORIZONTAL ELLIPSIS}" not in text and not re.search(r"\w\.\.\.$", text, re.M), words
    equations = runner.invoke(app, ["equations", "--help"], env={"COLUMNS": "80"}).output
    assert "m/s²" in equations and "compile the C file" in " ".join(equations.split())


def test_info_prints_tree_joints_and_branches(tmp_path: Path) -> None:
    picture = tmp_path / "robot.png"
    result = runner.invoke(app, ["info", "branched12", "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert "  2: (X1) (X2) (q1) (q2) q5 q6 q7" in result.output
    assert "4 branches" in result.output
    assert picture.stat().st_size > 10_000


def test_info_shows_what_a_mimic_joint_follows() -> None:
    result = runner.invoke(app, ["info", "gripper", "--base", "floating"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "root_joint" in result.output and " * " in result.output


def test_a_file_that_cannot_be_loaded_gives_exit_code_2() -> None:
    for command in ("info", "validate"):
        result = runner.invoke(app, [command, "no_such_file.urdf"])
        assert result.exit_code == 2
        assert "no_such_file.urdf:0: error" in result.output


def test_a_wrong_base_is_refused_by_name() -> None:
    result = runner.invoke(app, ["validate", "branched12", "--base", "flying"])
    assert result.exit_code == 2
    assert "fixed, floating, planar" in result.output


def test_validate_without_pinocchio_says_what_to_install() -> None:
    code = "import sys; sys.modules['pinocchio'] = None\nfrom urdf_gibbs.cli import app\nsys.argv = ['urdf-gibbs', 'validate', 'branched12']\napp()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "urdf-gibbs[oracle]" in result.stderr


def test_unknown_model_lists_the_known_ones() -> None:
    with pytest.raises(ug.UnknownNameError, match="branched12"):
        ug.model_path("nonsense")


def test_demo_validates_simulates_and_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "fall.html"
    result = runner.invoke(app, ["demo", "--html", str(page)])
    assert result.exit_code == 0, result.output
    assert "5 impacts" in result.output and page.as_uri() in result.output.replace("\n", "")
    assert page.stat().st_size > 100_000
    refused = runner.invoke(app, ["demo", "--html", str(tmp_path / "nowhere" / "fall.html")])
    assert refused.exit_code == 2 and "cannot be written" in refused.output


def test_a_wheel_simulates_away_from_the_checkout(tmp_path: Path) -> None:
    """Built and unpacked, not installed: the dependencies are this environment's, the package is the wheel's."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = next(tmp_path.glob("*.whl"))
    target = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(target)], check=True)
    code = (
        "import sys, urdf_gibbs as ug; print(ug.__file__); print(ug.load(ug.model_path('branched12')).nv, ug.model_path('branched12'))\n"
        "from urdf_gibbs.simulation.scenario import read_scenario\n"
        "print(len(ug.simulate(**read_scenario('branched12').arguments()).impacts), 'numba' in sys.modules)"
    )
    assert (target / "urdf_gibbs" / "engine" / SHIPPED.name).read_bytes() == SHIPPED.read_bytes()
    # The cache is that of this run: without one, test_driver_code.py.
    environment = {"PYTHONPATH": str(target), "PATH": "", "URDF_GIBBS_CACHE": str(cache_folder() or "")}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert run.stdout.splitlines()[0].startswith(str(target))
    assert run.stdout.splitlines()[1].startswith(f"12 {target}")
    assert run.stdout.splitlines()[2] == "5 False"
    assert (target / "urdf_gibbs" / "py.typed").exists()
    assert not (target / "urdf_gibbs" / "reproduce").exists()  # of the papers alone, and in a clone
    for arguments, code in ((["operations", "planar3r"], 0), (["reproduce"], 2)):
        command = [sys.executable, "-m", "urdf_gibbs", *arguments]
        said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        assert said.returncode == code, said.stderr
    assert "make validation" in said.stderr.replace("\n", " ")
    # With an empty home, the second of the two commands of the README, and the scene of a robot.
    (tmp_path / "home").mkdir()
    panda = str(example_robots()["panda_description/urdf/panda.urdf"])
    for arguments, text in ((["validate", panda], "OK"), (["simulate", "--template", panda], 'points = "collision"')):
        command, own = [sys.executable, "-m", "urdf_gibbs", *arguments], environment | {"HOME": str(tmp_path / "home")}
        said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=own)
        assert said.returncode == 0 and text in said.stdout, said.stdout + said.stderr
