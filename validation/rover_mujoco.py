"""The rover on rough ground beside MuJoCo: the same robot, heights, controller and duration; CPU times in turn in one process.

The two sides are not the same: ours has hard contacts of three crowned rims for each wheel with a smooth surface through the heights,
MuJoCo soft contacts of cylinders with triangles between them, and its equality constraint for the differential. Each is stepped from
Python's side only where the controller is asked, 100 times a second. Needs mujoco.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from typing import Any

import mujoco  # type: ignore[import-not-found]
import numpy as np
import own_tree  # noqa: F401

import urdf_gibbs as ug
from urdf_gibbs.reproduce.rover_runs import SETTLED, direction_torques, scenario
from urdf_gibbs.simulation.drive import Drive
from urdf_gibbs.walls import Terrain

ROUNDS = 3
OUR_STEPS = (1e-2, 5e-3, 2.5e-3)
THEIR_STEPS = (5e-3, 2.5e-3, 1.25e-3, 6.25e-4, 3.125e-4)
RATE = 100.0  # calls of the controller per second
COARSE = 0.01  # by which halving the step may change the standard deviations


def text(ground: Terrain, step: float) -> str:
    """The scene as MuJoCo's XML; heights are given later."""
    robot = scenario().robot
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(robot.parent):
        children.setdefault(parent, []).append(i)
    shapes: dict[int, str] = {}
    for link in robot.links:
        for shape in link.collisions:
            radius, length = shape.geometry.size
            x, y, z = shape.pose[1]
            shapes[robot.frame(link.name).body] = (
                f'<geom type="cylinder" size="{radius} {0.5 * length}" pos="{x} {y} {z}" quat="0.70710678 -0.70710678 0 0"/>'
            )

    def body(i: int) -> str:
        joint, P, I = robot.joints[i], robot.placement[i], robot.inertia[i]  # noqa: E741
        full = " ".join(repr(max(float(x), 1e-6)) if k < 3 else "0" for k, x in enumerate((I[0, 0], I[1, 1], I[2, 2], 0, 0, 0)))
        axis = " ".join(map(repr, np.asarray(joint.axis, float).tolist()))
        kind = "<freejoint/>" if joint.type == "floating" else f'<joint name="{joint.name}" type="hinge" axis="{axis}"/>'
        com, place = (" ".join(map(repr, one.tolist())) for one in (robot.centre_of_mass[i], P[:3, 3]))
        inside = f'<inertial pos="{com}" mass="{float(robot.mass[i])!r}" fullinertia="{full}"/>{kind}{shapes.get(i, "")}'
        return f'<body pos="{place}">{inside}{"".join(map(body, children.get(i, [])))}</body>'

    (x0, x1), (y0, y1) = np.asarray(ground.x, dtype=float), np.asarray(ground.y, dtype=float)
    low, high = float(ground.heights.min()), float(ground.heights.max())
    grid = f'nrow="{ground.heights.shape[1]}" ncol="{ground.heights.shape[0]}"'
    field = f'<hfield name="ground" {grid} size="{0.5 * (x1 - x0)} {0.5 * (y1 - y0)} {high - low} 0.5"/>'
    floor = f'<geom type="hfield" hfield="ground" pos="{0.5 * (x0 + x1)} {0.5 * (y0 + y1)} {low}" contype="2" conaffinity="1"/>'
    geoms = '<default><geom friction="0.6 0 0" condim="3" contype="1" conaffinity="2"/></default>'
    tied = '<equality><joint joint1="r_rocker" joint2="l_rocker" polycoef="0 -1 0 0 0"/></equality>'
    options = f'<option timestep="{step}" gravity="0 0 -1.62" cone="elliptic" solver="Newton"/><size memory="100M"/>'
    bodies = "".join(map(body, children[-1]))
    return f"<mujoco>{options}{geoms}<asset>{field}</asset><worldbody>{floor}{bodies}</worldbody>{tied}</mujoco>"


class TheirRover:
    """MuJoCo's model and how its coordinates belong to ours."""

    def __init__(self, ground: Terrain, step: float) -> None:
        self.model = mujoco.MjModel.from_xml_string(text(ground, step))
        low, high = ground.heights.min(), ground.heights.max()
        self.model.hfield_data[:] = ((ground.heights.T - low) / (high - low)).ravel()
        self.robot, self.step = scenario().robot, step
        own = [joint for joint in self.robot.joints if joint.nv == 1 and not joint.is_mimic]
        ids = [mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, joint.name) for joint in own]
        self.iq, self.iv = [joint.iq for joint in own], [joint.iv for joint in own]
        self.mq, self.mv = self.model.jnt_qposadr[ids], self.model.jnt_dofadr[ids]

    def run(self, drive: Drive, duration: float) -> tuple[Any, float, Any]:
        """Torques of the direction joints at the calls of the controller, CPU time [s], and the last q."""
        data = mujoco.MjData(self.model)
        start = scenario().q0
        data.qpos[:] = 0.0
        data.qpos[:3], data.qpos[3] = start[:3], 1.0
        q, v = start.copy(), np.zeros(self.robot.nv)
        every, torques = round(1.0 / (drive.rate * self.step)), []
        started = time.process_time()
        for _ in range(round(duration * drive.rate)):
            w, x, y, z = data.qpos[3:7]
            q[:3], q[3:7] = data.qpos[:3], (x, y, z, w)
            R = np.empty(9)
            mujoco.mju_quat2Mat(R, data.qpos[3:7])
            v[:3], v[3:6] = R.reshape(3, 3).T @ data.qvel[:3], data.qvel[3:6]
            q[self.iq], v[self.iv] = data.qpos[self.mq], data.qvel[self.mv]
            tau = drive(data.time, q, v)
            data.qfrc_applied[self.mv] = tau[self.iv]
            torques.append(tau[drive.wheels.steering[:, 1]])
            mujoco.mj_step(self.model, data, every)
        return np.array(torques), time.process_time() - started, q


def deviations(torques: Any, rate: float) -> Any:
    return torques[int(SETTLED * rate) + 1 :].std(axis=0)


def changed(coarse: Any, fine: Any) -> float:
    """By how much standard deviations change, at most, of their size."""
    return float(np.abs(fine / coarse - 1.0).max())


class OurRover:
    """Ours, made ready once."""

    def __init__(self, drive: Drive, step: float) -> None:
        given = scenario()
        options = {key: value for key, value in given.arguments().items() if key not in ("robot", "q0", "v0", "duration")}
        self.simulator = ug.Simulator(given.robot, **{**options, "step": step, "controller": drive, "controller_rate": drive.rate})
        self.simulator.run(given.q0, given.v0, 0.05)

    def run(self, drive: Drive, duration: float) -> tuple[Any, float, Any]:
        """As TheirRover.run."""
        given = scenario()
        started = time.process_time()
        run = self.simulator.run(given.q0, given.v0, duration)
        seconds = time.process_time() - started
        return direction_torques(run, drive).torque, seconds, run.q[-1]


def compare() -> None:
    """Print how much halving the step changes the standard deviations of the direction torques, and the times of both at such steps."""
    given = scenario()
    (ground,) = given.walls
    assert isinstance(ground, Terrain) and isinstance(given.controller, Drive)
    drive = replace(given.controller, rate=RATE)
    sides: dict[str, Any] = {"urdf_gibbs": lambda step: OurRover(drive, step), "MuJoCo": lambda step: TheirRover(ground, step)}
    changes: dict[str, dict[float, float]] = {}
    for name, steps in (("urdf_gibbs", OUR_STEPS), ("MuJoCo", THEIR_STEPS)):
        found = {step: deviations(sides[name](step).run(drive, given.duration)[0], RATE) for step in steps}
        changes[name] = {step: changed(found[step], found[half]) for step, half in pairwise(steps)}
        for step, one in changes[name].items():
            print(f"{name} at {1e3 * step:g} ms: {np.round(found[step], 4).tolist()} N m; halving changes them by {100 * one:.3f} %")
    for most in (COARSE, min(changes["urdf_gibbs"].values())):
        steps = {name: max((step for step, one in own.items() if one <= most), default=min(own)) for name, own in changes.items()}
        ready = {name: sides[name](step) for name, step in steps.items()}
        print(f"at steps whose halving changes less than {100 * most:.3f} %, or the shortest tried:")
        for _ in range(ROUNDS):
            runs = {name: one.run(drive, given.duration) for name, one in ready.items()}
            told = []
            for name, (_, seconds, _) in runs.items():
                told.append(f"{name} at {1e3 * steps[name]:g} ms {seconds:.2f} s ({given.duration / seconds:.1f} times real time)")
            print(f"  {', '.join(told)}; they end {apart(runs['urdf_gibbs'][2], runs['MuJoCo'][2]):.4f} m apart")


def apart(one: Any, other: Any) -> float:
    return float(np.linalg.norm(one[:3] - other[:3]))


if __name__ == "__main__":
    compare()
