"""A sample of the runs of validation/drop_robots.py: robots of example-robot-data thrown into spheres and onto planes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "validation" / "drop_robots.py"
RUNS = 6


def test_robots_neither_penetrate_nor_gain_energy(tmp_path: Path) -> None:
    report = tmp_path / "runs.json"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), "--runs", str(RUNS), "--seed", "7", "--json", str(report)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    runs = json.loads(report.read_text())["runs"]
    assert len(runs) == RUNS
    assert {run["status"] for run in runs} == {"complete"}
    assert max(run["penetration"] for run in runs) < 1e-8  # m
    assert max(run["gain"] for run in runs) < 1e-8  # of the largest kinetic energy
    assert sum(run["impacts"] for run in runs) > 100
