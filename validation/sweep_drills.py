"""What may happen to a sweep, done to it: killed workers and clients, a full disk, a million rows; and 100,000 balls against closed forms.

    python validation/sweep_drills.py [--only balls,killed,full,million]

Each drill prints what it found; the exit code is 1 where one of them failed. The full disk is a tmpfs of 400 kB, for which one has to
be allowed to mount. Needs distributed; Linux.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import own_tree  # noqa: F401

import urdf_gibbs as ug

G, HEIGHT, DURATION = 9.81, 1.0, 5.0  # of models/bouncing_ball.toml
OVER = {f"start.q{k}": f"uniform({c} - 0.05, {c} + 0.05)" for k, c in ((1, "pi/6"), (3, "-2*pi/3"), (5, "pi/6"))}
ARM: dict[str, Any] = {"scenario": "branched12", "over": OVER, "runs": 6000, "seed": 3, "chunk": 100}


def balls(folder: Path) -> bool:
    """100,001 restitutions from 0 to 1: t1 (1 + e)/(1 - e) is the time of rest, t1 that of the first impact."""
    begun = time.process_time()
    found = ug.sweep("bouncing_ball", {"restitution": "0:1:100001"}, out=folder / "balls")
    seconds = time.process_time() - begun
    table = found.table
    e, rest = (table[name].to_numpy() for name in ("restitution", "rest"))
    closed = np.sqrt(2 * HEIGHT / G) * (1 + e) / np.maximum(1 - e, 1e-300)
    ends = closed < DURATION
    error = np.abs(rest - closed)[ends].max()
    moving = bool(np.isnan(rest[~ends]).all())
    print(f"balls: {len(e)} runs in {seconds:.1f} s of CPU; {ends.sum()} rest, at most {error:.1e} s from the closed form")
    print(f"       the others, which bounce beyond {DURATION:g} s, are told to move: {moving}")
    return error < 1e-9 and moving


def killed(folder: Path) -> bool:
    """kill -9 of a worker of Dask, then of the client; the same call goes on, and the table is that of an undisturbed sweep."""
    from distributed import Client, LocalCluster

    whole = ug.sweep(**ARM, out=folder / "undisturbed", workers=1)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        first = next(iter(client.run(os.getpid).values()))
        code = f"import sys; sys.argv = ['', {cluster.scheduler_address!r}, {str(folder / 'killed')!r}, '{first}']\n" + CLIENT
        done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True)
        before = _stamps(folder / "killed")
        print(f"killed: client ended by signal {-done.returncode}, {len(before)} of {len(whole.table) // 100} files are there")
        print("       ", done.stdout.strip())
        written: list[int] = []
        found = ug.sweep(**ARM, out=folder / "killed", client=client, progress=lambda ended, failed, runs: written.append(ended))
    same = found.table.equals(whole.table)
    once = before.items() <= _stamps(folder / "killed").items() and len(written) - 1 == 60 - len(before)
    print(f"        gone on with: the table is that of an undisturbed sweep bit by bit: {same}; no file written twice: {once}")
    return done.returncode == -signal.SIGKILL and 0 < len(before) < 60 and same and once


CLIENT = """
import os, signal
import own_tree
import urdf_gibbs as ug
from sweep_drills import ARM
from pathlib import Path
def progress(done, failed, runs):
    if done == 1000:
        os.kill(int(sys.argv[3]), signal.SIGKILL)
        print("a worker killed after", done, "runs;", flush=True)
    if done == 3000:
        print("the client killed after", done, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
ug.sweep(**ARM, out=Path(sys.argv[2]), dask=sys.argv[1], progress=progress)
"""


def full(folder: Path) -> bool:
    """A tmpfs of 400 kB runs full; what is done is kept, and with more room the same call does the rest."""
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], capture_output=True).returncode:
        print("full: a tmpfs cannot be mounted here")
        return True
    try:
        try:
            ug.sweep(**ARM, out=disk / "runs", workers=2)
        except ug.SweepError as problem:
            print(f"full: {problem}")
        else:
            print("full: the disk was large enough")
            return False
        before = _stamps(disk / "runs")
        left = [path.name for path in (disk / "runs").iterdir() if path.name.startswith("_")]
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        found = ug.sweep(**ARM, out=disk / "runs", workers=2)
        same = found.table.equals(ug.sweep(**ARM, out=folder / "roomy", workers=2).table)
        kept = before.items() <= _stamps(disk / "runs").items()
        print(
            f"      with more room the table is that of an undisturbed sweep: {same}; {len(before)} files kept: {kept}; unfinished: {left}"
        )
        return same and kept and not left
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def million(folder: Path) -> bool:
    """A million rows by two threads, in a process of its own; its summary and its page too."""
    done = subprocess.run([sys.executable, __file__, "--million", str(folder / "million")], capture_output=True, text=True)
    print(f"million: {done.stdout.strip() or done.stderr}")
    return done.returncode == 0


def _million(folder: Path) -> int:
    from urdf_gibbs.view.sweep_page import sweep_page

    def peak() -> float:
        """Of this program [MB]: what getrusage tells begins with the memory of the process that started it."""
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    over = {"restitution": "uniform(0, 0.6)", "start.height": "uniform(0.1, 2)", "duration": 1.0}
    found = ug.sweep("bouncing_ball", over, runs=1_000_000, seed=1, out=folder, workers=2)
    of_sweep = peak()
    statuses = dict(found.summary().statuses)
    of_summary = peak()
    sweep_page(found).save(folder.with_suffix(".html"))
    print(
        f"{statuses}, {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.0f} MB of files; largest memory [MB]: the sweep "
        f"{of_sweep:.0f}, with its summary {of_summary:.0f}, with its page {peak():.0f}"
    )
    return 0 if peak() < 1000 and statuses == {"complete": 1_000_000} else 1


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.glob("part-*.parquet")}


DRILLS: dict[str, Callable[[Path], bool]] = {"balls": balls, "killed": killed, "full": full, "million": million}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default=",".join(DRILLS))
    parser.add_argument("--million", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.million:
        return _million(Path(options.million))
    with tempfile.TemporaryDirectory() as folder:
        passed = {name: DRILLS[name](Path(folder)) for name in options.only.split(",")}
    print("; ".join(f"{name}: {'passed' if good else 'FAILED'}" for name, good in passed.items()))
    return 0 if all(passed.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
