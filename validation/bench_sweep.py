"""Sweeps of the 12-DOF robot in its circle (1.5 s, starts varied) by threads, processes and a Dask cluster of two workers, in one run.

    python validation/bench_sweep.py [--runs 10000] [--few 20]

Beside them a loop over ``simulate``, and the same simulation written by hand on solve_ivp and Pinocchio (bench_simulation.py), the
latter two on a few of the same runs. CPU seconds are those of all processes that take part, children included; compilation and the
start of processes are outside. The tables of all sweeps are compared, bit by bit. Needs scipy, pin and distributed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import own_tree  # noqa: F401
import pinocchio as pin
from bench_simulation import Peer
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.simulation import many
from urdf_gibbs.sweeps.results import Sweep

Array = NDArray[np.float64]

SPREAD = 0.05  # rad, about the start of the scenario
CENTRES = {"q1": "pi/6", "q2": "pi/6", "q3": "-2*pi/3", "q4": "pi/6", "q5": "pi/6", "q6": "-2*pi/3", "q7": "pi/3"}
OVER = {f"start.{name}": f"uniform({centre}-{SPREAD}, {centre}+{SPREAD})" for name, centre in CENTRES.items()}
TOLERANCE = 1e-10
OVER |= {"tolerances.rtol": TOLERANCE, "tolerances.atol": TOLERANCE}


def cpu_of(processes: Iterable[int]) -> float:
    """CPU seconds of processes (Linux)."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(name: str, action: Callable[[], Any], runs: int, others: Iterable[int] = ()) -> tuple[Any, float]:
    """What an action returns, and its CPU seconds, of this process, its children that end and the others."""
    begun, before = time.perf_counter(), _cpu(others)
    found = action()
    wall, cpu = time.perf_counter() - begun, _cpu(others) - before
    print(f"{name:34s} {runs:6d} runs {cpu:8.2f} s CPU {wall:8.2f} s wall {runs / cpu:9.1f} runs per CPU second", flush=True)
    return found, cpu / runs


def _cpu(others: Iterable[int]) -> float:
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system + cpu_of(others)


def by_simulate(begun: list[Array]) -> list[int]:
    """Impacts of runs with these starts, each by ``simulate``."""
    scenario = replace(ug.read_scenario("branched12"), tolerances={"rtol": TOLERANCE, "atol": TOLERANCE})
    arguments = {**scenario.arguments(), "dense": False}
    return [len(ug.simulate(**{**arguments, "q0": start}).impacts) for start in begun]


def by_hand(begun: list[Array]) -> list[int]:
    """The same by solve_ivp and Pinocchio, with all gaps at once."""
    model = pin.buildModelFromUrdf(str(ug.model_path("branched12")))
    frames = [model.getFrameId(f"O{i}") for i in range(1, 12)]

    def gaps(x: Array) -> tuple[Array, Array]:
        radius = np.hypot(x[:, 0], x[:, 1])
        return 2.5 - radius, -np.column_stack([x[:, :2] / radius[:, None], np.zeros(len(x))])

    peer = Peer(model, frames, np.array([0.0, -9.81, 0.0]), gaps, True)
    return [len(peer.run(start, np.zeros(model.nv), 1.5, TOLERANCE, 1.0)) for start in begun]


def starts(table: dict[str, list[Any]], count: int) -> list[Array]:
    """Of the first runs."""
    scenario, found = ug.read_scenario("branched12"), []
    for run in range(count):
        q = np.array(scenario.q0)
        for name in CENTRES:
            q[scenario.robot.joint(name).iq] = table[f"start.{name}"][run]
        found.append(q)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--few", type=int, default=20, help="runs of the slow ones")
    options = parser.parse_args()
    runs, folder = options.runs, Path(tempfile.mkdtemp())

    def sweep(name: str, **how: Any) -> Callable[[], Sweep]:
        return lambda: ug.sweep("branched12", OVER, runs=runs, seed=1, out=folder / name, **how)

    ug.sweep("branched12", OVER, runs=many.IN_LANES_FROM, seed=1, workers=1)  # compiled
    one, of_one = measured("one thread, in lanes of four runs", sweep("one", workers=1), runs)
    in_lanes_from, many.IN_LANES_FROM = many.IN_LANES_FROM, runs + 1
    alone, _ = measured("one thread, runs alone", sweep("alone", workers=1), runs)
    many.IN_LANES_FROM = in_lanes_from
    two, _ = measured("two threads", sweep("two", workers=2), runs)
    processes, _ = measured("two processes, their start included", sweep("processes", workers=2, processes=True), runs)
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        workers = list(client.run(os.getpid).values())
        warm = {"client": client, "chunk": 1}
        ug.sweep("branched12", OVER, runs=8, seed=2, **warm)  # both have imported and compiled
        dask, of_dask = measured("Dask, two workers", sweep("dask", client=client), runs, workers)
    table = one.table.to_pydict()
    same = [other.table.to_pydict() == table for other in (two, processes, dask, alone)]
    print(f"tables equal bit by bit: two threads {same[0]}, processes {same[1]}, Dask {same[2]}, runs alone {same[3]}")
    print(f"impacts: {min(table['impacts'])} to {max(table['impacts'])}, mean {np.mean(table['impacts']):.2f}")
    few, hands = options.few * 10, options.few
    begun = starts(table, few)
    with redirect_stdout(StringIO()):
        by_simulate(begun[:2]), by_hand(begun[:1])
    ours, of_loop = measured("a loop over simulate", lambda: by_simulate(begun), few)
    theirs, of_hand = measured("solve_ivp and Pinocchio, by hand", lambda: by_hand(begun[:hands]), hands)
    print(f"numbers of impacts as in the table: simulate {ours == table['impacts'][:few]}, by hand {theirs == table['impacts'][:hands]}")
    print(
        f"CPU of a run over that by one thread: Dask {of_dask / of_one:.2f}, simulate {of_loop / of_one:.2f}, "
        f"by hand {of_hand / of_one:.0f}"
    )
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
