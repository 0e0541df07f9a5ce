"""What the rover of models/rover.toml shows, as figures.

Usage: python validation/rover.py [flat] [terrains] [slope] [matrix] [steps] [speed]; without names all of them, which takes some minutes.
Times are CPU times of one process.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import own_tree  # noqa: F401

import urdf_gibbs as ug
from urdf_gibbs.reproduce.rover_runs import (
    PLACES,
    SETTLED,
    circle,
    direction_torques,
    drive_of,
    flat_run,
    matrices,
    rough_run,
    scenario,
    slip_of,
    slope_run,
    torque_work,
)
from urdf_gibbs.simulation.drive import Drive
from urdf_gibbs.simulation.on_soil import OnSoil
from urdf_gibbs.simulation.scenario import parse_scenario

SLOPE = math.radians(15.0)
LIMITER: dict[float | None, str] = {None: "no limiter", 0.05: "limiter"}
LATE = 3.0  # s: from here on slip on a slope is measured


def flat() -> None:
    """Radius, steering, normal forces and power balance on a plane."""
    drive = scenario().controller
    assert isinstance(drive, Drive)
    run = flat_run(step=1e-3)
    _, radius = circle(run.q[run.t > SETTLED, :2])
    wanted = 1.0 / drive.curvature(run.q[0])
    targets = drive.wheels.angles(1.0 / wanted)
    angles = run.q[:, drive.wheels.steering[:, 0]]
    error = np.degrees(np.abs(angles[run.t > SETTLED] - targets).max())
    steered = np.abs(targets) > 0.0
    over = ((angles * np.sign(targets))[:, steered].max(axis=0) / np.abs(targets[steered]) - 1.0).max()
    print(f"radius at 5, 0, -5 degrees: {radius:.6f} m, geometric {wanted:.6f} m: {100 * (radius / wanted - 1):+.5f} %")
    print(f"steering: off by {error:.5f} degrees at most after {SETTLED:g} s, overshoot {100 * over:.2f} %")
    still = flat_run(1.0, controller=None, controller_rate=None)
    weight = 1.62 * float(still.robot.mass.sum())
    print(f"at rest: normal forces {still.contact_forces[-1].sum():.9f} N, weight {weight:.9f} N")
    work = torque_work(run, drive)
    gained = float(run.energies.total[-1] - run.energies.total[0])
    rubbed = float(run.friction_work[-1])
    print(f"power balance: torques gave {work:.6f} J, energy {gained:+.6f} J, friction took {rubbed:.6f} J:", end=" ")
    print(f"off by {abs(work - gained - rubbed):.1e} J, {abs(work - gained - rubbed) / work:.1e} of the work")


def terrains() -> None:
    """Standard deviations of the direction torques on 20 terrains, at two speeds."""
    for speed in (0.5, 0.3):
        rows = []
        drive = replace(drive_of(rough_run(1, duration=0.01)), speed=speed)
        for seed in range(1, 21):
            run = rough_run(seed, controller=drive)
            rows.append(direction_torques(run, drive).fluctuation())
        found = np.array(rows)
        for side, first in (("left", 0), ("right", 3)):
            front, middle, rear = found[:, first : first + 3].T
            counts = [int(one.sum()) for one in (front > middle, front > rear, (front > middle) & (front > rear))]
            mean = ", ".join(f"{value:.3f}" for value in found[:, first : first + 3].mean(axis=0))
            print(f"{speed} m/s, {side}: front > middle {counts[0]}, > rear {counts[1]}, > both {counts[2]} of 20; mean {mean} N m")


def slope() -> None:
    """Slip on a slope of 15 degrees, rigid ground and soil, with and without the limiter."""
    ground = ug.walls.Plane((-math.sin(SLOPE), 0.0, math.cos(SLOPE)), name="ground")
    for friction in (0.28, 0.3, 0.35, 0.4, 0.6):
        for limit in (None, 0.05):
            run = slope_run(SLOPE, limit, friction)
            slip = slip_of(run, ground, LATE)
            way = run.q[-1, :3] - run.q[0, :3]
            climbed = way[0] * math.cos(SLOPE) + way[2] * math.sin(SLOPE)
            print(
                f"friction {friction}, {'limiter' if limit else 'no limiter'}: slip up to {np.abs(slip).max():.3f} after {LATE:g} s,",
                end=" ",
            )
            print(f"mean {slip.mean():.3f}; climbed {climbed:.2f} m in 12 s")
    for limit in (None, 0.05):
        slip, climbed = soil_slope(limit)
        told = f"slip up to {slip.max():.3f}, mean {slip.mean():.3f}; climbed {climbed:.2f} m"
        print(f"lunar soil, {LIMITER[limit]}: {told}")


def soil_slope(limit: float | None) -> tuple[Any, float]:
    """Slip (n, 6) after LATE, and the way up a slope of lunar soil in 12 s."""
    text = ug.scenario_path("rover").read_text(encoding="utf-8").replace('steer = "5 deg"', "steer = 0\nramp = 0.05")
    text = text[: text.index("[[walls]]")] + f'[soil]\n[[walls]]\nkind = "plane"\nnormal = [{-math.sin(SLOPE)}, 0, {math.cos(SLOPE)}]\n'
    text = text.replace("rate = 200.0", "rate = 500.0" + (f"\nslip = {limit}" if limit else "")).replace("step = 5e-3", "step = 2e-3")
    arguments = parse_scenario(text.replace("speed = 0.5", "speed = 0.3"), str(ug.model_path("rover"))).arguments()
    law = OnSoil(arguments["robot"], arguments["soil"], arguments["walls"])
    q = arguments["q0"].copy()
    q[:3] = -1.05 * math.sin(SLOPE), 0.0, 1.05 * math.cos(SLOPE)
    q[3:7] = 0.0, -math.sin(0.5 * SLOPE), 0.0, math.cos(0.5 * SLOPE)
    run = ug.simulate(**{**arguments, "q0": q})
    rows = np.flatnonzero(run.t > LATE)[::20]
    way = run.q[-1, :3] - run.q[0, :3]
    return np.array([law.state(run.t[k], run.q[k], run.v[k])["slip"] for k in rows]), way[0] * math.cos(SLOPE) + way[2] * math.sin(SLOPE)


def matrix() -> None:
    """M along the run."""
    errors = matrices(rough_run())
    print(", ".join(f"{name} {error:.1e}" for name, error in errors.items()), "from Pinocchio's CRBA, of the largest entry, 100 states")


def steps() -> None:
    """Halving the step."""
    coarse, fine = (direction_torques(rough_run(1, step=step)).fluctuation() for step in (5e-3, 2.5e-3))
    print(f"standard deviations at 5 ms: {np.round(coarse, 4).tolist()} N m")
    print(f"halving the step changes them by {100 * np.abs(fine / coarse - 1.0).max():.3f} % at most")


def speed() -> None:
    """Against real time, and against MuJoCo."""
    from rover_mujoco import compare

    compare()


PARTS: dict[str, Callable[[], None]] = {part.__name__: part for part in (flat, terrains, slope, matrix, steps, speed)}


def main(names: list[str]) -> None:
    for name in names or PARTS:
        started = time.process_time()
        print(f"{name}: {PARTS[name].__doc__}")
        PARTS[name]()
        print(f"  {time.process_time() - started:.0f} s of CPU time; {', '.join(PLACES)} is the order of wheels\n", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(sys.argv[1:])
