"""How long loading and importing take, in interleaved runs beside a peer: Pinocchio's own parse, and numpy's import.

python validation/bench_load.py [FILE.urdf]
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

TALOS = "cmeel.prefix/share/example-robot-data/robots/talos_data/robots/talos_reduced.urdf"


def talos() -> Path:
    """The Talos file of the PyPI package example-robot-data."""
    spec = importlib.util.find_spec("cmeel")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install example-robot-data, or name a URDF")
    return Path(spec.origin).parents[1] / TALOS


def interleaved(functions: list[Callable[[], object]], rounds: int) -> list[float]:
    """Median seconds of each function, called in turn so that the machine's moods hit all alike."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, spent in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            spent.append(time.perf_counter() - start)
    return [median(spent) for spent in times]


def load_times(file: Path, rounds: int = 30) -> tuple[float, float]:
    """(ours, Pinocchio's) seconds to load a URDF."""
    import pinocchio

    import urdf_gibbs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = interleaved([lambda: urdf_gibbs.load(file), lambda: pinocchio.buildModelFromUrdf(str(file))], rounds)
    return ours, theirs


def import_times(rounds: int = 7) -> tuple[float, float]:
    """(urdf_gibbs, numpy) seconds of an interpreter that imports it."""

    def importing(module: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    ours, numpy = interleaved([importing("urdf_gibbs"), importing("numpy")], rounds)
    return ours, numpy


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else talos()
    ours, theirs = load_times(file)
    print(f"load {file.name}: urdf_gibbs {1e3 * ours:.2f} ms, Pinocchio {1e3 * theirs:.2f} ms, ratio {ours / theirs:.2f}")
    ours, numpy = import_times()
    print(f"import: urdf_gibbs {ours:.3f} s, numpy {numpy:.3f} s, {ours - numpy:+.3f} s")
