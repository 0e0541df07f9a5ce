"""The hybrid simulation against the same simulation written by hand on SciPy's solve_ivp and Pinocchio, interleaved in one run.

    python validation/bench_simulation.py [--rounds 5]

The peer comes in two forms: with one event function for each point, as one writes it down, and with all gaps computed once for each
state that solve_ivp looks at. Two cases: the 12-DOF robot of Shafei 2018 in its circle (1.5 s, five impacts), and a free flight of
Talos with 40 contact candidates above a plane. Both sides integrate by DOP853 with the same tolerances, look for the same events and
apply the same law.
Compilation is outside the measured time. Needs scipy, pin and example-robot-data.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable

import numpy as np
import own_tree  # noqa: F401
import pinocchio as pin
from bench_load import talos as talos_file
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import urdf_gibbs as ug
from urdf_gibbs.contact.points import resolve_points
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.timing import interleaved

Array = NDArray[np.float64]
Gaps = Callable[[Array], tuple[Array, Array]]  # positions (k, 3) -> gaps (k,), normals (k, 3)


class Peer:
    """Flight by solve_ivp with one terminal event for each point, impacts by Pinocchio's mass matrix and frame Jacobians."""

    def __init__(self, model: pin.Model, frames: list[int], gravity: Array, gaps: Gaps, shared: bool) -> None:
        self.model, self.frames, self.gaps, self.shared = model, frames, gaps, shared
        model.gravity.linear = gravity
        self.data = model.createData()
        self.state: Array = np.zeros(0)
        self.values: Array = np.zeros(0)

    def positions(self, q: Array) -> Array:
        pin.framesForwardKinematics(self.model, self.data, q)
        return np.array([self.data.oMf[frame].translation for frame in self.frames])

    def rate(self, t: float, y: Array) -> Array:
        model, nq = self.model, self.model.nq
        q, v = y[:nq], y[nq:]
        a = pin.aba(model, self.data, q, v, np.zeros(model.nv))
        if nq == model.nv:
            return np.concatenate([v, a])
        x, y_, z, w = q[3:7] / np.linalg.norm(q[3:7])
        R = pin.Quaternion(w, x, y_, z).toRotationMatrix()
        wx, wy, wz = v[3:6]
        turn = 0.5 * np.array([w * wx + y_ * wz - z * wy, w * wy + z * wx - x * wz, w * wz + x * wy - y_ * wx, -x * wx - y_ * wy - z * wz])
        return np.concatenate([R @ v[:3], turn, v[6:], a])

    def event(self, i: int) -> Callable[[float, Array], float]:
        def gap(t: float, y: Array) -> float:
            if not self.shared or y is not self.state:
                self.state = y
                self.values = self.gaps(self.positions(y[: self.model.nq]))[0]
            return float(self.values[i])

        gap.terminal = True  # type: ignore[attr-defined]
        gap.direction = -1.0  # type: ignore[attr-defined]
        return gap

    def run(self, q: Array, v: Array, duration: float, tolerance: float, restitution: float) -> list[tuple[float, Array]]:
        """(time, impulses) of each impact."""
        model, nq = self.model, self.model.nq
        events = [self.event(i) for i in range(len(self.frames))]
        t, y, impacts = 0.0, np.concatenate([q, v]), []
        while t < duration:
            solution = solve_ivp(self.rate, (t, duration), y, "DOP853", events=events, rtol=tolerance, atol=tolerance)
            t, y = float(solution.t[-1]), solution.y[:, -1].copy()
            if solution.status != 1:
                break
            gaps, normals = self.gaps(self.positions(y[:nq]))
            closed = np.flatnonzero(gaps < 1e-6)
            q, v = y[:nq], y[nq:]
            pin.computeJointJacobians(model, self.data, q)
            J = np.array([normals[i] @ pin.getFrameJacobian(model, self.data, self.frames[i], pin.LOCAL_WORLD_ALIGNED)[:3] for i in closed])
            M = pin.crba(model, self.data, q)
            M = np.triu(M) + np.triu(M, 1).T
            Y = np.linalg.solve(M, J.T)
            impulse = np.linalg.solve(J @ Y, -(1.0 + restitution) * J @ v)
            y[nq:] += Y @ impulse
            impacts.append((t, impulse))
        return impacts


Case = tuple[Callable[[], object], Callable[[], object], Callable[[], object]]  # ours, peer, peer with shared gaps


def peer_in_circle(shared: bool) -> Peer:
    """Of the 12-DOF robot in its circle, with all gaps computed at once or not."""
    model = pin.buildModelFromUrdf(str(ug.model_path("branched12")))
    frames = [model.getFrameId(f"O{i}") for i in range(1, 12)]

    def gaps(x: Array) -> tuple[Array, Array]:
        radius = np.hypot(x[:, 0], x[:, 1])
        return 2.5 - radius, -np.column_stack([x[:, :2] / radius[:, None], np.zeros(len(x))])

    return Peer(model, frames, np.array([0.0, -9.81, 0.0]), gaps, shared)


def branched12(tolerance: float) -> Case:
    scenario = read_scenario("branched12")
    arguments = scenario.arguments()
    q0, v0, duration, robot = (arguments.pop(name) for name in ("q0", "v0", "duration", "robot"))
    simulator = ug.Simulator(robot, **{**arguments, "rtol": tolerance, "atol": tolerance, "dense": False})

    def ours() -> ug.Trajectory:
        return simulator.run(q0, v0, duration)

    start, rest = np.array(q0), np.zeros(robot.nv)

    def theirs(shared: bool) -> Callable[[], object]:
        peer = peer_in_circle(shared)
        return lambda: [t for t, _ in peer.run(start, rest, duration, tolerance, 1.0)]

    return ours, theirs(False), theirs(True)


def talos(tolerance: float) -> Case:
    path = talos_file()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = ug.load(path, base="floating")
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    chosen = [point.link for point in resolve_points(robot, [name for name in robot.link_names if robot.frame(name).body >= 0])][:40]
    rng = np.random.default_rng(0)
    q0, v0 = robot.neutral(), rng.normal(size=robot.nv)
    q0[2] = 10.0
    plane = ug.walls.Plane(point=(0.0, 0.0, -5.0))
    simulator = ug.Simulator(robot, walls=plane, points=chosen, rtol=tolerance, atol=tolerance, dense=False)
    print(f"Talos: {len(simulator.points)} contact candidates")

    def gaps(x: Array) -> tuple[Array, Array]:
        return x[:, 2] + 5.0, np.tile([0.0, 0.0, 1.0], (len(x), 1))

    frames = [model.getFrameId(name) for name in chosen]

    def theirs(shared: bool) -> Callable[[], object]:
        peer = Peer(model, frames, np.array([0.0, 0.0, -9.81]), gaps, shared)
        return lambda: peer.run(q0, v0, 0.5, tolerance, 1.0)

    return lambda: simulator.run(q0, v0, 0.5), theirs(False), theirs(True)


def measured(name: str, case: Case, rounds: int) -> None:
    for run in case:  # compiled, and warm
        run()
    times = interleaved(dict(zip(("ours", "plain", "shared"), case, strict=True)), rounds)
    ours, plain, shared = times.values()
    print(f"{name}: ours {1e3 * ours:.2f} ms; solve_ivp + Pinocchio {1e3 * plain:.0f} ms: {plain / ours:.0f} times")
    print(f"{'':{len(name)}}  with all gaps at once {1e3 * shared:.0f} ms: {shared / ours:.0f} times")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tolerance", type=float, default=1e-10)
    options = parser.parse_args()
    case = branched12(options.tolerance)
    print("impacts, ours [s]:  ", [impact.time for impact in case[0]().impacts])  # type: ignore[attr-defined]
    print("impacts, theirs [s]:", case[1]())
    measured("branched12, 1.5 s, five impacts", case, options.rounds)
    measured("Talos, free flight of 0.5 s", talos(options.tolerance), options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
