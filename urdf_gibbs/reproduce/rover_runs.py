"""Runs of the rover, a substitute for that of Wang & Ju (Figs. 7-9), on rough ground by seed, on flat ground and on a slope."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import atan2, cos, sin, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.simulation.drive import Drive
from urdf_gibbs.simulation.scenario import Scenario
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.tracks import slips
from urdf_gibbs.walls import Terrain

Array = NDArray[np.float64]

PLACES = ("LF", "LM", "LR", "RF", "RM", "RR")
SETTLED = 2.0  # s: from here on the steering has settled
HEIGHT = 1.05  # m: of the body's origin above level ground


@cache
def scenario() -> Scenario:
    return ug.read_scenario("rover")


def rough_run(seed: int = 1, **options: Any) -> Trajectory:
    """The bundled scenario on the terrain of a seed, with other options of ``simulate``."""
    given = scenario()
    (ground,) = given.walls
    assert isinstance(ground, Terrain)
    return ug.simulate(**{**given.arguments(), "walls": replace(ground, seed=seed), **options})


def drive_of(trajectory: Trajectory) -> Drive:
    """The controller of the scenario."""
    made = scenario().controller
    assert isinstance(made, Drive)
    return made


class Torques(NamedTuple):
    """At the instants t (n,) at which the controller was asked: torques (n, 6) [N m] and angles (n, 6) [rad] of the direction joints."""

    t: Array
    torque: Array
    angle: Array

    def fluctuation(self) -> Array:
        """(6,) [N m]: standard deviation after the steering has settled."""
        return np.asarray(self.torque[self.t > SETTLED].std(axis=0))


def direction_torques(trajectory: Trajectory, drive: Drive | None = None) -> Torques:
    """The controller has no memory: what it answered follows from the states."""
    drive = drive or drive_of(trajectory)
    rate = float(trajectory.settings["controller_rate"])
    ticks = np.arange(round(trajectory.t[-1] * rate)) / rate
    rows = np.searchsorted(trajectory.t, ticks - 1e-9)
    turning, turned = drive.wheels.steering[:, 1], drive.wheels.steering[:, 0]
    torque = np.array([drive(float(trajectory.t[k]), trajectory.q[k], trajectory.v[k])[turning] for k in rows])
    return Torques(trajectory.t[rows], torque, trajectory.q[rows][:, turned])


def torque_work(run: Trajectory, drive: Drive) -> float:
    """Of torques that are kept between two calls of the controller: each times the angle that its joint turns meanwhile [J]."""
    rate = float(run.settings["controller_rate"])
    rows = np.searchsorted(run.t, np.arange(round(run.t[-1] * rate) + 1) / rate - 1e-9)
    joints = np.array([(joint.iq, joint.iv) for joint in run.robot.joints if joint.nv == 1 and not joint.is_mimic])
    total = 0.0
    for a, b in pairwise(rows):
        tau = drive(float(run.t[a]), run.q[a], run.v[a])
        total += float(tau[joints[:, 1]] @ (run.q[b, joints[:, 0]] - run.q[a, joints[:, 0]]))
    return total


def circle(places: Array) -> tuple[Array, float]:
    """Centre (2,) and radius of the circle nearest to points (n, 2), by least squares."""
    fit = np.linalg.lstsq(np.column_stack([2.0 * places, np.ones(len(places))]), (places**2).sum(axis=1), rcond=None)[0]
    return fit[:2], sqrt(fit[2] + fit[0] ** 2 + fit[1] ** 2)


def flat_run(duration: float = 12.0, **options: Any) -> Trajectory:
    """The same on a plane."""
    floor = ug.walls.Plane((0.0, 0.0, 1.0), name="ground")
    return ug.simulate(**{**scenario().arguments(), "walls": floor, "duration": duration, **options})


def slope_run(angle: float, slip: float | None, friction: Any, duration: float = 12.0, speed: float = 0.3) -> Trajectory:
    """Straight up a plane slope of this angle [rad], with a limiter of the slip or without (None); the wheels start within 0.05 s."""
    given = scenario()
    assert isinstance(given.controller, Drive)
    route = given.controller.route._replace(angle=0.0)
    drive = replace(given.controller, route=route, slip=slip, speed=speed, ramp=0.05, rate=500.0)
    ground = ug.walls.Plane((-sin(angle), 0.0, cos(angle)), name="ground")
    q = given.q0.copy()
    q[:3] = -HEIGHT * sin(angle), 0.0, HEIGHT * cos(angle)
    q[3:7] = 0.0, -sin(0.5 * angle), 0.0, cos(0.5 * angle)
    changed = {"walls": ground, "friction": friction, "q0": q, "duration": duration, "step": 1.0 / drive.rate}
    changed |= {"controller": drive, "controller_rate": drive.rate}
    return ug.simulate(**{**given.arguments(), **changed})


def slip_of(trajectory: Trajectory, ground: Any, after: float) -> Array:
    """(n, 6): slip of the wheels at 200 instants from ``after`` [s] on, in the order of PLACES."""
    found = slips(trajectory, ground, np.linspace(after, float(trajectory.t[-1]), 200))
    return np.array([found[f"{place.lower()}_wheel"] for place in PLACES]).T


def matrices(trajectory: Trajectory, count: int = 100) -> dict[str, float]:
    """M along a run: the largest differences of the explicit and the compiled one from Pinocchio's, relative to the largest entry."""
    robot = trajectory.robot
    rows = np.unique(np.linspace(0, len(trajectory) - 1, count).astype(int))
    oracle = Oracle(ug.model_path("rover"), "floating", True, (0.0, 0.0, -1.62))
    zero, errors = np.zeros(robot.nv), {"explicit": 0.0, "compiled": 0.0}
    for q in trajectory.q[rows]:
        reference = oracle.answers(q, zero, zero, zero, {}).mass_matrix
        for name, M in (("explicit", ug.mass_matrix(robot, q, method="explicit")), ("compiled", ug.mass_matrix(robot, q))):
            errors[name] = max(errors[name], float(np.abs(M - reference).max() / np.abs(reference).max()))
    return errors


def heading(q: Array) -> float:
    """Of the body from x [rad]."""
    x, y, z, w = q[3:7]
    return atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
