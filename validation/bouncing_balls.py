"""100,000 bouncing balls, with restitutions from 0 to 1: the time of rest of each against its closed form.

    python validation/bouncing_balls.py [--runs 100000]

A ball that falls from the height h strikes at t = sqrt(2 h / g), bounces ever lower and rests at t (1 + e) / (1 - e). The impacts at
t, t + 2 e t, ... are some 14 / (1 - e) until a bounce takes less than a microsecond (``zeno``); each adds its round-off. The last ones
have a few 1e-6 m/s, at which a landing within 3e-15 m (EXACT_LANDING) is one within 1e-9 s; what is slower than 1e-9 m/s does not bounce
at all. Exits with 1 where a time of rest is off by more than 1e-13 / (1 - e) of it and by more than 1e-9 s, or a ball with e = 1 rests.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import own_tree  # noqa: F401

import urdf_gibbs as ug

HEIGHT, RADIUS, G = 1.0, 0.05, 9.81  # m, m, m/s^2
ALLOWED = 1e-13  # relative error of the time of rest, times 1 - e
SHORT = 1e-9  # s: an error that is always allowed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    robot = ug.load(ug.model_path("ball"))
    simulator = ug.Simulator(robot, walls=ug.walls.Plane(), points=[("ball", (0, 0, 0), RADIUS)], gravity=(0, 0, -G))
    e = np.arange(options.runs + 1) / options.runs
    t = np.sqrt(2.0 * HEIGHT / G)
    with np.errstate(divide="ignore"):
        expected = t * (1.0 + e) / (1.0 - e)
    duration = np.where(e < 1.0, 1.01 * expected, 100.0)
    started, cpu = time.perf_counter(), time.process_time()
    runs = ug.Runs(np.full((len(e), 1), HEIGHT + RADIUS), duration=duration, restitution=e)
    found = ug.Many(simulator, ("restitution",)).run(runs, threads=options.threads)
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    print(f"{len(e)} runs, {found.impacts.sum()} impacts: {cpu:.1f} s of the processor, {wall:.1f} s")
    error = abs(found.rest[:-1] - expected[:-1]) / expected[:-1]
    scaled, off = error * (1.0 - e[:-1]), error * expected[:-1]
    print(f"relative error of the time of rest: median {np.median(error):.1e}, worst {error.max():.1e} at e = {e[error.argmax()]:g};")
    other = scaled > ALLOWED
    print(f"times 1 - e: all but {other.sum()} within {ALLOWED:g}, these within {off[other].max(initial=0.0):.1e} s")
    print(f"deepest penetration {found.deepest.max():.1e} m")
    right = (scaled <= ALLOWED) | (off <= SHORT)
    well = found.complete.all() and bool(right.all()) and bool(np.isnan(found.rest[-1]))
    print("each rests when it should" if well else "NOT as it should be")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
