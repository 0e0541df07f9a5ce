"""Many runs of one simulation in compiled code, beside a loop over ``simulate`` and the same simulation written by hand, interleaved.

    python validation/bench_many.py [--runs 2000] [--rounds 5]

The 12-DOF robot of Shafei 2018 in its circle, 1.5 s, tolerance 1e-10, from starts that differ a little, so that the pairs of points that
strike together in the paper's case may strike one after the other. Runs for each second of the processor and of the clock, with one and
with two threads; Python's share of the processor's time; the same with inertial parameters and with walls that vary. The peer is that
of bench_simulation.py: SciPy's solve_ivp with Pinocchio, with all gaps computed at once. Runs share SIMD lanes, four at a time; beside
them runs that do not, here and in other cases.
Needs scipy and pin.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import own_tree  # noqa: F401
from bench_simulation import peer_in_circle
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.simulation.many import _Moments
from urdf_gibbs.simulation.scenario import read_scenario

Array = NDArray[np.float64]

SPREAD = 1e-3  # rad, m: standard deviation of the starts
ON_GROUND = {"walls": ug.walls.Plane(), "points": [("ball", (0, 0, 0), 0.1)], "restitution": 0.7}
HASHED = 50_000_000  # bytes
SHORT, MOMENTS = 200, 100  # runs of a short moment, and how many moments


class Timed:
    """A function whose time in its own thread is added up."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.seconds, self.spans = function, 0.0, 0.0  # of the processor and of the clock

    def __call__(self, *arguments: Any) -> Any:
        started, began = time.thread_time(), time.perf_counter()
        try:
            return self.function(*arguments)
        finally:
            self.seconds += time.thread_time() - started
            self.spans += time.perf_counter() - began


def measured(cases: dict[str, tuple[Callable[[], object], int]], rounds: int) -> dict[str, tuple[float, float]]:
    """Runs for each second of the processor and of the clock, medians; each case is a call and how many runs that is."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, (call, count) in cases.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            found[name].append((count / (time.process_time() - cpu), count / (time.perf_counter() - wall)))
    return {name: (median(x for x, _ in rates), median(y for _, y in rates)) for name, rates in found.items()}


def hash_on(threads: int) -> None:
    """Work of another kind that needs no lock, as much for any number of threads."""
    workers = [threading.Thread(target=hashlib.sha256, args=(bytes(HASHED // threads),)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def gain(work: Callable[..., object]) -> float:
    """How many times as fast two threads are, by the clock: of short moments, of which some are undisturbed on a busy machine."""
    best = {1: np.inf, 2: np.inf}
    for _ in range(MOMENTS):
        for threads in best:
            started = time.perf_counter()
            work(threads=threads)
            best[threads] = min(best[threads], time.perf_counter() - started)
    return best[1] / best[2]


def without_lanes(simulator: ug.Simulator, vary: tuple[str, ...] = ()) -> ug.Many:
    """Runs one after the other on each thread, as few runs are."""
    many = ug.Many(simulator, vary)
    many._prepare_lanes = lambda: None  # type: ignore[method-assign]
    return many


def elsewhere(rounds: int) -> None:
    """What lanes give in other cases: the more of a run is flight, and the larger the robot, the more; bouncing hardly gains."""
    rng = np.random.default_rng(2)
    ball, panda = ug.load(ug.model_path("free_ball"), base="floating"), example_robots().get("panda_description/urdf/panda.urdf")
    balls = np.zeros((1000, 7))
    balls[:, 2], balls[:, 6] = 1.0 + rng.random(1000), 1.0
    cases = {
        "a free ball that bounces 20 times": (ug.Simulator(ball, **ON_GROUND), ug.Runs(balls, rng.normal(size=(1000, 6)), duration=3.0))
    }
    if panda is not None:
        arm = ug.load(panda)
        falls = ug.Runs(np.array([arm.random(i) for i in range(200)]), duration=1.0)
        cases["the Panda, 1 s of free fall"] = ug.Simulator(arm, walls=[], rtol=1e-10, atol=1e-10), falls
    for name, (simulator, runs) in cases.items():
        pair = {"in lanes": ug.Many(simulator), "alone": without_lanes(simulator)}
        outcomes = [many.run(runs) for many in pair.values()]
        rates = measured({how: (partial(many.run, runs), len(runs.q)) for how, many in pair.items()}, rounds)
        same = np.array_equal(outcomes[0].q, outcomes[1].q)
        print(f"{name}: in lanes {rates['in lanes'][0] / rates['alone'][0]:.2f} times as fast as alone, equal bit by bit: {same}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    arguments = read_scenario("branched12").arguments()
    q0, _, duration, robot = (arguments.pop(name) for name in ("q0", "v0", "duration", "robot"))
    exact = {**arguments, "rtol": 1e-10, "atol": 1e-10, "dense": False}
    simulator, rng = ug.Simulator(robot, **exact), np.random.default_rng(1)
    q = np.array(q0) + SPREAD * rng.standard_normal((options.runs, robot.nq))
    runs = ug.Runs(q, duration=duration)
    many = ug.Many(simulator)
    timed = Timed(_Moments.call)
    _Moments.call = lambda *given: timed(*given)  # type: ignore[method-assign]
    alone = without_lanes(simulator)
    first = many.run(runs)
    same = all(np.array_equal(getattr(first, name), getattr(alone.run(runs), name)) for name in ("q", "v", "impacts", "steps"))
    parameters = ug.Runs(q, duration=duration, parameters=robot.parameters * rng.uniform(0.99, 1.01, (options.runs, 1, 1)))
    walls = ug.Runs(q, duration=duration, walls={"circle": {"radius": rng.uniform(2.499, 2.501, options.runs)}})
    with_parameters, with_walls = ug.Many(simulator, ("parameters",)), ug.Many(simulator, ("walls",))
    print(
        f"{options.runs} runs, {first.complete.sum()} complete, {first.impacts.mean():.1f} impacts and {first.steps.mean():.0f} steps "
        f"each; in lanes and alone equal bit by bit: {same}"
    )
    peer, few = peer_in_circle(True), max(1, options.runs // 400)
    rest = np.zeros(robot.nv)
    some = q[: max(1, options.runs // 10)]

    def by_hand() -> None:
        for start in q[:few]:
            peer.run(start, rest, duration, 1e-10, 1.0)

    def loop() -> None:
        for start in some:
            ug.simulate(robot, start, None, duration, **exact)

    cases: dict[str, tuple[Callable[[], object], int]] = {
        "one thread": (lambda: many.run(runs), options.runs),
        "one thread, no lanes": (lambda: alone.run(runs), options.runs),
        "two threads": (lambda: many.run(runs, threads=2), options.runs),
        "parameters vary": (lambda: with_parameters.run(parameters), options.runs),
        "walls vary": (lambda: with_walls.run(walls), options.runs),
        "a loop over simulate": (loop, len(some)),
        "solve_ivp + Pinocchio": (by_hand, few),
    }
    for call, _ in cases.values():  # compiled, and warm
        call()
    rates = measured(cases, options.rounds)
    for name, (by_cpu, by_clock) in rates.items():
        print(f"{name:24} {by_cpu:8.1f} runs for each second of the processor, {by_clock:8.1f} of the clock")
    short = ug.Runs(q[:SHORT], duration=duration)
    gains = [gain(partial(many.run, short)), gain(hash_on)]
    print(f"two threads against one, by the clock: {gains[0]:.2f} times; hashing, which shares nothing: {gains[1]:.2f} times")
    timed.spans, began = 0.0, time.perf_counter()
    many.run(runs, threads=2)
    print(f"of two threads {timed.spans / (time.perf_counter() - began):.2f} are in compiled code at a time, on average")
    timed.seconds, cpu = 0.0, time.thread_time()
    many.run(runs)
    print(f"Python's share, one thread: {100 * (1 - timed.seconds / (time.thread_time() - cpu)):.1f} %")
    elsewhere(options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
