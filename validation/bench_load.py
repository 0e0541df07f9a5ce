"""How long loading and importing take, in interleaved runs beside a peer: Pinocchio's own parse, and numpy's import.

python validation/bench_load.py [FILE.urdf]
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import own_tree  # noqa: F401

from urdf_gibbs.bundled import example_robots
from urdf_gibbs.timing import interleaved

TALOS = "talos_data/robots/talos_reduced.urdf"


def talos() -> Path:
    """The Talos file of the PyPI package example-robot-data."""
    found = example_robots()
    if not found:
        raise SystemExit("pip install example-robot-data, or name a URDF")
    return found[TALOS]


def load_times(file: Path, rounds: int = 30) -> tuple[float, float]:
    """(ours, Pinocchio's) seconds to load a URDF."""
    import pinocchio

    import urdf_gibbs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contenders = {"ours": lambda: urdf_gibbs.load(file), "theirs": lambda: pinocchio.buildModelFromUrdf(str(file))}
        times = interleaved(contenders, rounds, chunks=False)
    return times["ours"], times["theirs"]


def import_times(rounds: int = 7) -> tuple[float, float]:
    """(urdf_gibbs, numpy) seconds of an interpreter that imports it."""

    def importing(module: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    times = interleaved({"ours": importing("urdf_gibbs"), "numpy": importing("numpy")}, rounds, chunks=False)
    return times["ours"], times["numpy"]


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else talos()
    ours, theirs = load_times(file)
    print(f"load {file.name}: urdf_gibbs {1e3 * ours:.2f} ms, Pinocchio {1e3 * theirs:.2f} ms, ratio {ours / theirs:.2f}")
    ours, numpy = import_times()
    print(f"import: urdf_gibbs {ours:.3f} s, numpy {numpy:.3f} s, {ours - numpy:+.3f} s")
