"""Motions with impacts for tests of sensitivities, and central differences of whole simulations as a reference for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from urdf_text import inertial, joint, link, massless, point_mass, robot

from urdf_gibbs import Robot, Trajectory, load, model_path, simulate, walls

Array = NDArray[np.float64]

TIGHT = {"rtol": 1e-12, "atol": 1e-12}  # the noise of a simulation divided by the step of differences is 1e-6 to 1e-7 then
FLOOR = walls.Plane(normal=(0, 0, 1), point=(0, 0, 0))


@dataclass(frozen=True)
class Motion:
    """A robot, its start, how long it moves, and the options of ``simulate``."""

    robot: Robot
    q: Array
    v: Array
    duration: float
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, q: Array | None = None, v: Array | None = None, robot: Robot | None = None, **options: Any) -> Trajectory:
        """The motion, with some of it changed."""
        start = self.q if q is None else q, self.v if v is None else v
        return simulate(robot or self.robot, *start, self.duration, **{**TIGHT, **self.options, **options})

    def changed(self, run: Callable[[float], Trajectory], step: float) -> Array:
        """d(q, v)/d(change) at the end, (2 nv,): differences of the fourth order of ``run``, a function of the change."""
        middle = self.run().q[-1]

        def end(change: float) -> Array:
            found = run(change)
            return np.concatenate([self.robot.difference(middle, found.q[-1]), found.v[-1]])

        return (8.0 * (end(step) - end(-step)) - (end(2.0 * step) - end(-2.0 * step))) / (12.0 * step)

    def start_differences(self, directions: Array, step: float = 1e-5) -> Array:
        """d(q, v)/d(start) at the end, (2 nv, k), along directions (k, 2 nv) of (q, v)."""
        nv = self.robot.nv

        def moved(direction: Array) -> Callable[[float], Trajectory]:
            return lambda h: self.run(self.robot.integrate(self.q, h * direction[:nv]), self.v + h * direction[nv:])

        return np.array([self.changed(moved(direction), step) for direction in directions]).T


def quiet(text: str, **options: Any) -> Robot:
    """The robot of a text; its massless links are meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(text, **options)


def ball(law: str = "newton", **options: Any) -> Motion:
    """A ball that strikes the floor twice."""
    own = {"walls": FLOOR, "points": [("ball", (0, 0, 0), 0.05)], "restitution": 0.8, "law": law, **options}
    return Motion(load(model_path("ball")), np.array([1.0]), np.array([0.3]), 1.2, own)


def pendulum() -> Motion:
    """A pendulum that strikes its stop three times."""
    own = {"joint_limits": True, "restitution": 0.7}
    return Motion(load(model_path("stopped_pendulum")), np.array([np.pi / 3]), np.zeros(1), 2.0, own)


def moving_table() -> Motion:
    """A ball that strikes a vibrating table twice."""
    shaken = walls.Plane(normal=(0, 0, 1), point=(0, 0, 0), motion=walls.Vibration((0, 0, 0.01), 20.0, 0.3))
    return Motion(ball().robot, np.array([0.5]), np.zeros(1), 1.0, {**ball().options, "walls": shaken})


def branched(symmetric: bool = False, duration: float = 0.95) -> Motion:
    """The 12-DOF robot of Shafei 2018 in its circle; five impacts one by one, or from the printed start those of pairs."""
    root = -(1.0 + np.sqrt(3.0)) / 2.0
    q = np.array([root, root, *np.pi * np.array([1 / 6, 1 / 6, -2 / 3, 1 / 6, 1 / 6, -2 / 3, 1 / 3, 0, 2 / 3, -1 / 3])])
    if not symmetric:
        q = q + 0.02 * np.random.default_rng(0).normal(size=12)
    circle = walls.Circle(radius=2.5, centre=(0, 0, 0), axis=(0, 0, 1), side="inside")
    return Motion(
        load(model_path("branched12")), q, np.zeros(12), duration, {"walls": circle, "gravity": (0, -9.81, 0), "restitution": 0.9}
    )


def block() -> Motion:
    """A floating block that tumbles onto three of its corners, one after the other."""
    turn = np.array([0.3, 0.2, 0.1, 1.0])
    q = np.array([0.0, 0.0, 1.0, *(turn / np.linalg.norm(turn))])
    own = {"walls": FLOOR, "points": "collision", "restitution": 0.8}
    return Motion(load(model_path("block"), base="floating"), q, np.array([0.1, 0.2, -0.3, 1.0, -0.5, 0.8]), 0.9, own)


def hill(motion: walls.Vibration | None = None) -> Motion:
    """A point mass that drops onto a round hill without restitution, slides down and takes off."""
    point = quiet(
        robot(
            link("w", ""),
            massless("sx"),
            point_mass("m", 1.0, (0, 0, 0)),
            joint("x", "prismatic", "w", "sx", axis=(1, 0, 0)),
            joint("z", "prismatic", "sx", "m", axis=(0, 0, 1)),
        )
    )
    round_hill = walls.Circle(radius=1.0, centre=(0, 0, 0), axis=(0, 1, 0), side="outside", restitution=0.0, motion=motion)
    return Motion(point, np.array([0.1, 1.3]), np.array([0.2, 0.0]), 1.2, {"walls": round_hill, "points": [("m", (0, 0, 0))]})


def limit(low: float, high: float) -> str:
    return f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'


def arm(law: str = "newton", restitution: float = 0.6, damping: float = 0.0, floor: float = 0.0) -> Motion:
    """A sliding arm whose tip lands on the floor, with restitution ``floor``; while it slides there the elbow strikes its stop."""
    damped = f'<dynamics damping="{damping}"/>' if damping else ""
    text = robot(
        link("w", ""),
        massless("s"),
        link("u", inertial(1.0, (0.4, 0.02, 0), moments=(0.01, 0.1, 0.1))),
        link("l", inertial(0.7, (0.3, 0, 0.05), moments=(0.02, 0.05, 0.06))),
        joint("x", "prismatic", "w", "s", damped, axis=(1, 0, 0)),
        joint("a", "continuous", "s", "u", damped, axis=(0, 1, 0)),
        joint("b", "revolute", "u", "l", damped, xyz=(1, 0, 0), axis=(0, 1, 0), limit=limit(-2.0, 1.2)),
    )
    own = {
        "walls": walls.Plane(normal=(0, 0, 1), point=(0, 0, -0.8), restitution=floor),
        "points": [("l", (0.8, 0, 0))],
        "joint_limits": True,
        "restitution": restitution,
        "law": law,
        "damping": damping > 0.0,
    }
    return Motion(quiet(text), np.array([0.0, 0.2, 0.5]), np.array([0.1, 0.0, 0.0]), 0.7, own)


def standing(restitution: float) -> Motion:
    """A floating block that slides on four corners, held from the start, which depend on each other; its arm strikes a stop."""
    text = robot(
        link("base", inertial(2.0, moments=(0.2, 0.3, 0.4))),
        link("l", inertial(0.5, (0.3, 0, 0), moments=(0.002, 0.02, 0.02))),
        joint("b", "revolute", "base", "l", xyz=(0.1, 0, 0.2), axis=(0, 1, 0), limit=limit(-1.0, 0.5)),
    )
    own = {
        "walls": walls.Plane(normal=(0, 0, 1), point=(0, 0, 0), restitution=0.0),
        "points": [("base", (sx * 0.5, sy * 0.4, -0.2)) for sx in (1, -1) for sy in (1, -1)],
        "joint_limits": True,
        "restitution": restitution,
        "gravity": (1.0, 0.5, -9.81),
    }
    q, v = np.array([0, 0, 0.2, 0, 0, 0, 1.0, -0.3]), np.array([0.3, 0.1, 0, 0, 0, 0.4, 0.5])
    return Motion(quiet(text, base="floating"), q, v, 0.6, own)


def planar() -> Motion:
    """A planar base with an arm that strikes a circle."""
    text = robot(
        link("base", inertial(1.0, (0.1, 0, 0), moments=(0.1, 0.1, 0.2))),
        link("l", inertial(0.5, (0.3, 0, 0), moments=(0.02, 0.05, 0.06))),
        joint("b", "continuous", "base", "l", xyz=(0.2, 0, 0), axis=(0, 0, 1)),
    )
    own = {
        "walls": walls.Circle(radius=1.0, centre=(0, 0, 0), axis=(0, 0, 1), side="inside"),
        "points": [("base", (-0.2, 0, 0)), ("l", (0.5, 0, 0))],
        "restitution": 0.9,
        "gravity": (0, 0, 0),
    }
    return Motion(quiet(text, base="planar"), np.array([0, 0, 0.3, 0.2]), np.array([0.8, 0.3, 0.5, 1.0]), 1.5, own)


def two_balls() -> Motion:
    """Two balls that reach the floor at the same time and know nothing of each other."""
    text = robot(link("w", ""), *(link(f"b{k}") + joint(f"j{k}", "prismatic", "w", f"b{k}", axis=(0, 0, 1)) for k in range(2)))
    own = {"walls": FLOOR, "points": [("b0", (0, 0, 0)), ("b1", (0, 0, 0))], "restitution": 0.7}
    return Motion(quiet(text), np.ones(2), np.zeros(2), 0.8, own)
