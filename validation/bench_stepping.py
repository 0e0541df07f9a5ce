"""Time stepping beside MuJoCo, Drake and Siconos, with the same bodies, contacts and step: how fast, and how well each keeps the laws.

    python validation/bench_stepping.py [--rounds 3] [--python Drake=PATH ...] [--only NAME ...]

Three scenes, with friction 0.7, no restitution and steps of 1 ms: Go2 stands on four spherical feet, held by a PD controller that is called
500 times per second from Python; ten towers of five boxes, whose corners are balls, stand with 200 contacts, 160 of them between boxes; a
chain of six links falls, folds and slides to rest. Engines step in turn, each in a process of its own, and so may have a Python of their
own (--python); those that are absent are named. The median of the rounds is shown, and of what is kept badly the worst of 50 times of
the run, over all contacts: how far a force is from its cone, of the weight; the power that Coulomb's law knows nothing of, per
weight, which is the speed at which the whole weight would creep; the deepest penetration. Needs example-robot-data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import own_tree  # noqa: F401
from numpy.typing import NDArray
from stepping_engines import ENGINES, STANDARD

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots

Array = NDArray[np.float64]

STEP = 1e-3  # s
FRICTION = 0.7


def plain(name: str, urdf: str, base: str, q: Array, spheres: list[tuple[str, str, Any, float]], **more: Any) -> dict[str, Any]:
    """A scene as plain data; spheres: (name, link, place in it, radius)."""
    robot = ug.load(urdf, base=base)  # type: ignore[arg-type]
    links = [robot.joints[i].child for i in range(len(robot.parent))]
    own = [np.asarray(robot.frame(link).placement) for link in links]
    bodies = [
        {
            "parent": int(robot.parent[i]),
            "placement": robot.placement[i].tolist(),
            "axis": None if robot.joints[i].type == "floating" else np.asarray(robot.joints[i].axis, float).tolist(),
            "mass": float(robot.mass[i]),
            "com": robot.centre_of_mass[i].tolist(),
            "inertia": robot.inertia[i].tolist(),
            "iq": robot.joints[i].iq,
            "iv": robot.joints[i].iv,
        }
        for i in range(len(links))
    ]
    balls = []
    for title, link, place, radius in spheres:
        frame = robot.frame(link)
        at = np.asarray(frame.placement) @ [*place, 1.0]
        local = np.linalg.inv(own[frame.body]) @ at
        balls.append({"name": title, "body": frame.body, "place": at[:3].tolist(), "local": local[:3].tolist(), "radius": radius})
    placed = [ug.frame_placement(robot, q, link) @ np.linalg.inv(own[i]) for i, link in enumerate(links)]
    scene = {"name": name, "urdf": urdf, "base": base, "q": q.tolist(), "v": [0.0] * robot.nv, "bodies": bodies, "spheres": balls}
    scene |= {"placed": [T.tolist() for T in placed], "weight": 9.81 * float(sum(robot.mass)), "friction": FRICTION, "step": STEP}
    scene |= {"quaternions": [joint.iq + 3 for joint in robot.joints if joint.type == "floating"], "held": None, "pairs": [], "every": 2}
    return scene | more


def go2() -> dict[str, Any]:
    """On bent legs, its feet on the ground."""
    path = str(example_robots()["go2_description/urdf/go2.urdf"])
    robot = ug.load(path, base="floating")
    q = robot.neutral()
    for joint in robot.joints[1:]:
        q[joint.iq] = 0.0 if "hip" in joint.name else 0.8 if "thigh" in joint.name else -1.6
    feet = [f"{leg}_foot" for leg in ("FL", "FR", "RL", "RR")]
    q[2] = 0.022 - min(ug.frame_placement(robot, q, foot)[2, 3] for foot in feet)
    spheres = [(foot, foot, (0.0, 0.0, 0.0), 0.022) for foot in feet]
    return plain("Go2 stands", path, "floating", q, spheres, held=q[7:].tolist(), duration=2.0)


def towers() -> dict[str, Any]:
    """Boxes of 0.2 m and 1 kg."""
    inertia = '<mass value="1"/><inertia ixx=".0067" iyy=".0067" izz=".0067" ixy="0" ixz="0" iyz="0"/>'
    names = [f"b{tower}{level}" for tower in range(10) for level in range(5)]
    parts = [
        f'<link name="{name}"><inertial>{inertia}</inertial></link>'
        f'<joint name="j{name}" type="floating"><parent link="w"/><child link="{name}"/></joint>'
        for name in names
    ]
    sides = [(x, y, z) for x in (-0.08, 0.08) for y in (-0.08, 0.08) for z in (-0.08, 0.08)]
    spheres = [(f"{name}.{i}", name, place, 0.02) for name in names for i, place in enumerate(sides)]
    pairs = [(f"b{t}{n + 1}.{i - 1}", f"b{t}{n}.{i}") for t in range(10) for n in range(4) for i in (1, 3, 5, 7)]
    q = np.concatenate([[0.5 * t, 0.0, 0.1 + 0.2 * n, 0, 0, 0, 1] for t in range(10) for n in range(5)])
    urdf = f'<robot name="boxes"><link name="w"/>{"".join(parts)}</robot>'
    return plain("towers stand", urdf, "fixed", q, spheres, pairs=pairs, duration=0.5, every=10)


def chain() -> dict[str, Any]:
    """As the scenario falling_chain has it, without damping."""
    path = str(ug.model_path("chain"))
    robot = ug.load(path, base="floating")
    q = robot.neutral()
    q[2], q[4], q[6] = 0.315, np.sin(-np.pi / 6.0), np.cos(np.pi / 6.0)
    spheres = [(link, link, (0.0, 0.0, 0.0), 0.015) for link in (*(f"link{i}" for i in range(1, 7)), "end")]
    return plain("chain falls", path, "floating", q, spheres, duration=2.0, every=10)


class Worker:
    """One engine in a process of its own."""

    def __init__(self, name: str, python: str) -> None:
        self.name, self.why = name, ""
        script = str(Path(__file__).with_name("stepping_engines.py"))
        self.process = subprocess.Popen(
            [python, script, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, **what: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return dict(json.loads(line)) if line else {"failed": f"the process ended with {self.process.wait()}"}


def compare(workers: list[Worker], scene: dict[str, Any], rounds: int) -> None:
    """One table."""
    ready, runs = [], {}
    for worker in workers:
        answer = worker.ask(scene=scene)
        if "ready" in answer:
            ready.append(worker)
            runs[worker.name] = [answer]
        elif "absent" in answer:
            print(f"{scene['name']:14s} {worker.name:11s} absent ({answer['absent']}): {STANDARD[worker.name]}")
        else:
            print(f"{scene['name']:14s} {worker.name:11s} {answer}")
    for _ in range(rounds):  # in turn, as other work on the machine slows down all
        for worker in ready:
            runs[worker.name].append(worker.ask(run=scene["name"]))
    for name, found in runs.items():
        bad = [answer for answer in found[1:] if "seconds" not in answer]
        if bad:
            print(f"{scene['name']:14s} {name:11s} {bad[0]}")
            continue
        one, rate = found[1], median(answer["steps"] / answer["seconds"] for answer in found[1:])
        kept = f"cone {one['cone']:7.1e}   power {one['power']:7.1e} m/s   depth {one['depth']:7.1e} m"
        print(f"{scene['name']:14s} {name:11s} {rate:9.0f} steps/s {one['contacts']:4d} contacts   {kept}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", action="append", default=[], metavar="ENGINE=PATH", help="the Python that has this engine")
    parser.add_argument("--only", action="append", choices=tuple(ENGINES), help="engines")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    pythons = dict(given.split("=", 1) for given in arguments.python)
    workers = [Worker(name, pythons.get(name, sys.executable)) for name in arguments.only or ENGINES]
    for scene in (go2(), towers(), chain()):
        compare(workers, scene, arguments.rounds)
    for worker in workers:
        worker.process.terminate()


if __name__ == "__main__":
    main()
