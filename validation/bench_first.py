"""What the first simulation on a machine takes: CPU seconds of a process with an empty cache, with the import; then of a second one.

    python validation/bench_first.py [--rounds 3]

A ball with backspin on a plane: without friction, with friction, and by time stepping. The least of several rounds is told, as other work
on the machine only ever adds to it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = {"without friction": "", "with friction": "friction=0.25", "time stepping": "friction=0.25, scheme='time_stepping', step=1e-3"}
SCRIPT = """
import time
import urdf_gibbs as ug
ball = ug.load(ug.model_path("free_ball"), base="floating")
start = [0, 0, 0.1, 0, 0, 0, 1], [3, 0, 0, 0, -40, 0]
ug.simulate(ball, *start, 1.5, walls=ug.walls.Plane(), points=[("ball", (0, 0, 0), 0.1)], restitution=0.0, {options})
print(time.process_time())
"""


def cpu(options: str, cache: str) -> float:
    """Of a process, with everything in it [s]."""
    root = str(Path(__file__).resolve().parents[1])
    environment = os.environ | {"URDF_GIBBS_CACHE": cache, "PYTHONPATH": root}
    script = SCRIPT.format(options=options)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{'':18s}{'first':>8s}{'later':>8s}   [s of CPU]")
    for name, options in KINDS.items():
        first, later = float("inf"), float("inf")
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                first, later = min(first, cpu(options, cache)), min(later, cpu(options, cache))
        print(f"{name:18s}{first:8.2f}{later:8.2f}")


if __name__ == "__main__":
    main()
