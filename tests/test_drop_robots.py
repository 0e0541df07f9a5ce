"""A sample of the runs of validation/drop_robots.py: robots of example-robot-data thrown into spheres and onto planes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "validation" / "drop_robots.py"


@pytest.mark.parametrize(("robots", "count", "impacts"), [("a1/a1", 12, 100), pytest.param("", 24, 500, marks=[pytest.mark.nightly])])
def test_robots_neither_penetrate_nor_gain_energy(robots: str, count: int, impacts: int, tmp_path: Path) -> None:
    """One robot in all cases of the script; at night others, whose machine code is the cost."""
    report = tmp_path / "runs.json"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), "--only", robots, "--runs", str(count), "--seed", "7", "--json", str(report)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    runs = json.loads(report.read_text())["runs"]
    assert len(runs) == count
    assert {run["status"] for run in runs} == {"complete"}
    assert max(run["penetration"] for run in runs) < 1e-8  # m
    assert max(run["gain"] for run in runs) < 1e-8  # of the largest kinetic energy
    assert sum(run["impacts"] for run in runs) > impacts


def test_an_arm_with_limits_and_friction_falls_on_a_plane() -> None:
    """Slow sliding, redundant contacts and chatter at joint limits: the runs end in time, penetrate nothing and gain no energy."""
    options = ["--limits", "--friction", "0.7", "--ground", "plane", "--runs", "2", "--only", "ur/ur5_gripper"]
    done = subprocess.run([sys.executable, "-W", "ignore", str(SCRIPT), *options], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout
    assert "PASS: 2 of 2" in done.stdout
