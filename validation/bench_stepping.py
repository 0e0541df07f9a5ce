"""Time stepping beside MuJoCo: steps per second with the same bodies, contacts and step, and how well each keeps to the laws of contact.

    python validation/bench_stepping.py [--seconds 2] [--boxes 50] [--rounds 3]

Two cases. Go2 stands on four spherical feet, held by a PD controller that is called 500 times per second from Python. Boxes slide
on a plane, four corners each. MuJoCo gets its model from the same ``Robot``, elliptic cones, its Newton solver and otherwise its
defaults; its contacts are soft, ours are hard. Compilation is outside the measured time. Needs example-robot-data, and mujoco for its part.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots

try:
    import mujoco  # type: ignore[import-not-found]
except ImportError:
    mujoco = None

Array = NDArray[np.float64]
Controller = Callable[[float, Array, Array], Array]

STEP = 1e-3  # s
RATE = 500.0  # calls of the controller per second
FRICTION = 0.7
FLOOR = ug.walls.Plane(normal=(0, 0, 1), point=(0, 0, 0))


class Scene(NamedTuple):
    """``points``: (link, place, radius), spheres, or without a radius the corners of boxes of half size 0.1."""

    name: str
    robot: ug.Robot
    q: Array
    v: Array
    points: list[tuple[str, tuple[float, float, float], float]]
    controller: Controller | None


def go2() -> Scene:
    """Go2 on bent legs, its feet on the ground."""
    robot = ug.load(example_robots()["go2_description/urdf/go2.urdf"], base="floating")
    q = np.zeros(robot.nq)
    q[6] = 1.0
    for joint in robot.joints[1:]:
        q[joint.iq] = 0.0 if "hip" in joint.name else 0.8 if "thigh" in joint.name else -1.6
    feet = [(f"{leg}_foot", (0.0, 0.0, 0.0), 0.022) for leg in ("FL", "FR", "RL", "RR")]
    q[2] = 0.022 - min(ug.frame_placement(robot, q, foot)[2, 3] for foot, _, _ in feet)
    held = q[7:].copy()

    def controller(t: float, q: Array, v: Array) -> Array:
        return np.concatenate([np.zeros(6), 60.0 * (held - q[7:]) - 1.0 * v[6:]])

    return Scene("go2 stands", robot, q, np.zeros(robot.nv), feet, controller)


def boxes(count: int) -> Scene:
    """Boxes of 1 kg that slide and turn."""
    inertia = '<mass value="1"/><inertia ixx=".0067" iyy=".0067" izz=".0067" ixy="0" ixz="0" iyz="0"/>'
    parts = [
        f'<link name="b{i}"><inertial>{inertia}</inertial></link>'
        f'<joint name="j{i}" type="floating"><parent link="w"/><child link="b{i}"/></joint>'
        for i in range(count)
    ]
    robot = ug.load(f'<robot name="boxes"><link name="w"/>{"".join(parts)}</robot>')
    rng = np.random.default_rng(1)
    q = np.concatenate([[0.5 * i, 0.0, 0.1, 0, 0, 0, 1] for i in range(count)])
    v = np.concatenate([[*rng.uniform(-3, 3, 2), 0, 0, 0, rng.uniform(-5, 5)] for _ in range(count)])
    corners = [(f"b{i}", (x, y, -0.1), 0.0) for i in range(count) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    return Scene(f"{count} boxes slide", robot, q, v, corners, None)


def row(name: str, who: str, steps: int, seconds: float, contacts: int, depth: float, law: str) -> None:
    print(f"{name:18s} {who:12s} {steps / seconds:10.0f} steps/s {contacts:5d} contacts   depth {depth:8.1e} m   {law}")


def ours(scene: Scene, duration: float) -> None:
    options: dict[str, Any] = {"controller": scene.controller, "controller_rate": RATE} if scene.controller else {}
    simulator = ug.Simulator(
        scene.robot, walls=FLOOR, points=scene.points, friction=FRICTION, restitution=0.0, scheme="time_stepping", step=STEP, **options
    )
    simulator.run(scene.q, scene.v, 10 * STEP)
    started = time.perf_counter()
    run = simulator.run(scene.q, scene.v, duration)
    seconds = time.perf_counter() - started
    contacts = int((run.contact_forces > 0.0).sum(axis=1).max())
    told = f"worst certificate {run.statistics['worst_certificate']:.1e}, {crept(scene, run.q[len(run.t) // 2], run.q[-1])}"
    row(scene.name, "urdf_gibbs", run.statistics["steps"], seconds, contacts, run.statistics["deepest"], told)


def crept(scene: Scene, before: Array, after: Array) -> str:
    """How far the feet of one that stands have moved in the second half of the run; before, they roll as the legs give way."""
    if scene.controller is None:
        return f"at rest: x = {after[0]:.6f} m"
    places = np.array([[ug.frame_placement(scene.robot, q, link)[:2, 3] for link, _, _ in scene.points] for q in (before, after)])
    return f"feet have moved by {np.linalg.norm(places[1] - places[0], axis=1).max():.1e} m"


# MuJoCo -----------------------------------------------------------------------------------------------


def mjcf(scene: Scene) -> str:
    """The same bodies, joints and shapes as a model of MuJoCo."""
    robot = scene.robot
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(robot.parent):
        children.setdefault(parent, []).append(i)
    spheres: dict[int, list[str]] = {}
    for link, _, radius in scene.points:
        if radius:
            frame = robot.frame(link)
            place = " ".join(map(repr, np.asarray(frame.placement)[:3, 3].tolist()))
            spheres.setdefault(frame.body, []).append(f'<geom type="sphere" size="{radius}" pos="{place}"/>')

    def body(i: int) -> str:
        joint, P = robot.joints[i], robot.placement[i]
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(P[:3, :3]).ravel())
        I = robot.inertia[i]  # noqa: E741
        full = " ".join(repr(float(x)) for x in (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
        com = " ".join(map(repr, robot.centre_of_mass[i].tolist()))
        place, turn = " ".join(map(repr, P[:3, 3].tolist())), " ".join(map(repr, quaternion.tolist()))
        free = joint.type == "floating"
        kind = "<freejoint/>" if free else f'<joint type="hinge" axis="{" ".join(map(repr, np.asarray(joint.axis, float).tolist()))}"/>'
        shape = "".join(spheres.get(i, [])) if spheres else '<geom type="box" size=".1 .1 .1"/>'
        inside = f'<inertial pos="{com}" mass="{float(robot.mass[i])!r}" fullinertia="{full}"/>{kind}{shape}'
        return f'<body pos="{place}" quat="{turn}">{inside}{"".join(map(body, children.get(i, [])))}</body>'

    default = f'<geom friction="{FRICTION} 0 0" condim="3" contype="1" conaffinity="2"/>'
    floor = '<geom type="plane" size="0 0 1" contype="2" conaffinity="1"/>'
    options = f'<option timestep="{STEP}" cone="elliptic" solver="Newton"/><size memory="100M"/>'
    return f"<mujoco>{options}<default>{default}</default><worldbody>{floor}{''.join(map(body, children[-1]))}</worldbody></mujoco>"


def theirs(scene: Scene, duration: float) -> None:
    model = mujoco.MjModel.from_xml_string(mjcf(scene))
    data = mujoco.MjData(model)
    quaternions = [joint.iq + 3 for joint in scene.robot.joints if joint.type == "floating"]

    def exchanged(q: Array, first: int) -> Array:
        """Quaternions with their real part first, or last."""
        q = q.copy()
        for k in quaternions:
            q[k : k + 4] = np.roll(q[k : k + 4], 1 if first else -1)
        return q

    data.qpos[:], data.qvel[:] = exchanged(scene.q, 1), scene.v  # no body is turned at the start: linear velocities are the same
    every = round(1.0 / (RATE * STEP)) if scene.controller else 100
    contacts, depth, seconds, middle = 0, 0.0, 0.0, scene.q
    for _ in range(round(duration / (STEP * every))):
        started = time.perf_counter()
        if scene.controller is not None:
            data.qfrc_applied[:] = scene.controller(data.time, data.qpos, data.qvel)  # which reads no quaternion
        mujoco.mj_step(model, data, every)
        seconds += time.perf_counter() - started
        contacts = max(contacts, data.ncon)
        middle = exchanged(data.qpos, 0) if data.time <= 0.5 * duration else middle
        depth = max([depth, *(-data.contact.dist[: data.ncon])])
    row(scene.name, "MuJoCo", round(duration / STEP), seconds, contacts, depth, crept(scene, middle, exchanged(data.qpos, 0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--boxes", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if mujoco is None:
        print("MuJoCo is not installed, left out: pip install mujoco")
    for scene in (go2(), boxes(arguments.boxes)):
        for _ in range(arguments.rounds):  # in turn, as other work on the machine slows down both
            ours(scene, arguments.seconds)
            if mujoco is not None:
                theirs(scene, arguments.seconds)


if __name__ == "__main__":
    main()
