"""Identify the Panda from noisy data: 51 base parameters from 2,000 states, and forces of motions that were not used.

    python validation/identify_panda.py [--out FOLDER]

The data come from a robot whose inertias differ from those of the URDF by up to 30 %; identification starts from the URDF. The motions are
Fourier series within the joint limits, and each force is measured with noise of 2 % of its rms. Printed are the table of the result and the
error of predictions beside the noise; FOLDER gets the identified robot as a URDF and a figure of parameters and forces.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import own_tree  # noqa: F401
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.robot.inertial import with_parameters

Array = NDArray[np.float64]
PANDA = "panda_description/urdf/panda.urdf"
HARMONICS, PERIOD = 5, 10.0  # of the Fourier series; s
STATES, NOISE, CHANGE = 2000, 0.02, 0.3  # measured states; noise of a force over its rms; how far the true inertias are from the URDF's


def fourier_motion(robot: ug.Robot, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """(Q, V, A) at ``count`` times of one period: sums of harmonics that stay within the position limits of one-DOF joints."""
    lower, upper = robot.position_limits
    lower, upper = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
    t = np.linspace(0.0, PERIOD, count, endpoint=False)[:, None]
    w = 2.0 * np.pi * np.arange(1, HARMONICS + 1) / PERIOD
    a, b = rng.standard_normal((2, HARMONICS, robot.nv))
    S, C = np.sin(w * t), np.cos(w * t)
    Q, V, A = S @ a + C @ b, (w * C) @ a - (w * S) @ b, -(w**2 * S) @ a - (w**2 * C) @ b
    low, high = Q.min(axis=0), Q.max(axis=0)
    scale = 0.95 * (upper - lower) / (high - low)
    return (Q - 0.5 * (low + high)) * scale + 0.5 * (lower + upper), V * scale, A * scale


def changed(robot: ug.Robot, rng: np.random.Generator) -> ug.Robot:
    """The robot with every body stretched along its axes, moved and made lighter or heavier: still a distribution of mass."""
    parameters = np.array(robot.parameters)
    for body in parameters:
        density, stretch = 1.0 + CHANGE * rng.uniform(-1.0, 1.0), np.diag(1.0 + CHANGE * rng.uniform(-1.0, 1.0, 3))
        inertia = body[[4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(3, 3)
        second = density * stretch @ (0.5 * np.trace(inertia) * np.eye(3) - inertia) @ stretch
        body[0] *= density
        body[1:4] = density * stretch @ body[1:4]
        body[4:] = (np.trace(second) * np.eye(3) - second)[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return with_parameters(robot, parameters)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the URDF and the figure")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ug.UrdfWarning)
        robot = ug.load(example_robots()[PANDA], mimic=False)
    truth = changed(robot, rng)
    states, unseen = fourier_motion(robot, STATES, rng), fourier_motion(robot, STATES, rng)
    exact = ug.inverse_dynamics(truth, *states)
    noise = NOISE * np.sqrt(np.mean(exact**2, axis=0))
    result = ug.identify(robot, *states, exact + noise * rng.standard_normal(exact.shape), feasible=True)
    print(result)
    true_forces = ug.inverse_dynamics(truth, *unseen)
    measured = true_forces + noise * rng.standard_normal(true_forces.shape)
    predicted, before = result.predict(*unseen), ug.inverse_dynamics(robot, *unseen)
    print(f"\n{'forces of unseen motions':<28} {'noise':>9} {'measured - predicted':>21} {'predicted - true':>17} {'URDF - true':>12}")
    for j, name in enumerate(robot.velocity_names):
        rms = [np.sqrt(np.mean((one[:, j] - other[:, j]) ** 2)) for one, other in
               ((measured, predicted), (predicted, true_forces), (before, true_forces))]  # fmt: skip
        print(f"{name:<28} {noise[j]:>9.4g} {rms[0]:>21.4g} {rms[1]:>17.2g} {rms[2]:>12.2g}")
    result.save(folder / "panda_identified.urdf")
    found = ug.check(folder / "panda_identified.urdf")
    counts = [sum(one.severity == kind for one in found) for kind in ("error", "warning")]
    print(f"\n{folder / 'panda_identified.urdf'}: {counts[0]} errors, {counts[1]} warnings of check")
    result.plot(folder / "identified_panda.png", measured=(*unseen, measured))


if __name__ == "__main__":
    main()
