"""Robots of example-robot-data, floating, thrown into spheres and onto planes: do they penetrate, do they gain energy, do they end?

python validation/drop_robots.py [--limits] [--runs 200] [--budget 20] [--seconds 1] [--seed 0] [--only NAME] [--json PATH]
python validation/drop_robots.py --limits --friction 0.7 --ground both --runs 100 [--scheme time-stepping] [--step 1e-3]

Poses are random, joint limits are off, the restitution is 0, 0.5 or 1. With --limits robots are dropped on a plane, on hills (a height
field) or on both in turn, with their joint limits on and restitution 0 and 0.5, for 3 s; then none may take 5,000 impacts. Without
--runs that is every robot twice. Gaps are computed here, from ``frame_placement`` and ``wall.gap``, at all rows and at times between
them. A run is set by the seed, its robot and its number among that robot's runs.

By the events penetration must be below 1e-8 m, and energy must not grow, but by 1e-6 of the largest
kinetic energy where implicit steps were needed. Time steps keep gaps as linear functions of the velocity: penetration may be what a gap is
below its tangent over a step, ½ h² times its acceleration, and 1e-8 m; limits of joints, which are linear, 1e-8 rad. Energy may grow by
what a step of the second order leaves: (h ω)², ω being the fastest rate of a joint, of the largest kinetic energy. Both are worked out
here from the rows of each run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import own_tree  # noqa: F401
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.contact.points import ContactPoint, resolve_points
from urdf_gibbs.robot.singular import idle_velocities, joints_of

Array = NDArray[np.float64]

DEEPEST = 1e-8  # m
MOST_IMPACTS = 5000  # of a run with joint limits
SINGULAR = 1e-10  # an eigenvalue of M, scaled to a unit diagonal, where a run has failed
PULL = 1e-9  # of the weight: a contact force below minus this pulls
LARGEST_GAIN = 1e-8  # of the largest kinetic energy
# The same with implicit steps, which are needed where contacts slide slowly. There friction opposes the velocity up to 1e-5 s later
# (sliding.py), not the present one, and may give a little; 4e-7 was the most in 100 runs. Implicit steps leave less: where joints
# turn by 1e-3 rad, the most that is allowed, a twelfth of the cube of that.
ROUGH_GAIN = 1e-6
POSES = 5  # at which M is examined, besides q = 0
GRACE = 5.0  # CPU seconds beyond the budget after which a run is killed
BETWEEN = (0.05, 0.25, 0.5, 0.75, 0.95)  # of each segment
SEGMENTS = 10_000  # at most, evenly among all
MEASURING = 60  # CPU seconds
HILLS = 0.1  # m
TINY = 1e-5  # s, for differences along a motion
NEAR = 1e-3  # m: how far gaps at most are whose curves are examined
CASES = [(scene, e, thrown) for thrown in (False, True) for e in (0.0, 0.5, 1.0) for scene in ("sphere", "plane")]


@dataclass
class Run:
    """One run and what it showed; ``status`` is "complete", "failed: ...", "budget" or "died: ..."."""

    robot: str
    number: int
    scene: str
    restitution: float
    thrown: bool
    seed: int
    limits: bool = False
    friction: float = 0.0
    step: float = 0.0  # s, of time stepping; 0: events
    status: str = ""
    reached: float = 0.0  # s
    penetration: float = 0.0  # m, rows
    between: float = 0.0  # m, between rows, or in the middles of time steps
    gain: float = 0.0  # of the largest kinetic energy
    cpu: float = 0.0  # s
    inertia: float = 1.0  # the least eigenvalue of M, scaled to a unit diagonal, where the run has failed
    force: float = 0.0  # the least contact force, of the weight
    impacts: int = 0
    phases: int = 0
    steps: int = 0
    rows: int = 0
    certificate: float = 0.0  # the worst of all impacts
    rounds: int = 0  # the most
    flagged: int = 0  # impacts with energy_gain
    bound: float = DEEPEST  # m, of the penetration
    beyond: float = 0.0  # rad or m that joints are beyond their limits, in the middles of time steps
    largest_gain: float = LARGEST_GAIN  # of the largest kinetic energy
    outside: float = 0.0  # how far a tangential force leaves its cone, of the weight
    problems: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        how = "thrown" if self.thrown else "dropped"
        rough = f", mu={self.friction:g}" if self.friction else ""
        return f"{self.robot} #{self.number} ({how}, {self.scene}, e={self.restitution:g}{rough})"


# robots -----------------------------------------------------------------------------------------------


def usable_robots(only: str = "") -> tuple[dict[str, ug.Robot], list[tuple[str, str]]]:
    """Robots by name, and (name, why not) of those left out."""
    files = example_robots()
    if not files:
        raise SystemExit("pip install example-robot-data")
    found: dict[str, ug.Robot] = {}
    skipped: list[tuple[str, str]] = []
    known: dict[str, str] = {}
    for path in files.values():
        name = f"{path.parent.parent.name}/{path.stem}".replace("_description", "")
        if only not in name:
            continue
        try:
            robot = _loaded(path)
        except ug.UrdfError as problem:
            first = problem.findings[0]
            skipped.append((name, f"does not load: {first.element}: found {first.value}, expected {first.expected}"))
            continue
        idle = _idle_joints(robot)
        if idle:
            skipped.append((name, f"M is singular: {idle}"))
        elif robot.fingerprint in known:
            skipped.append((name, f"the same mechanism as {known[robot.fingerprint]}"))
        elif not resolve_points(robot):
            skipped.append((name, "no contact points"))
        else:
            found[name] = robot
            known[robot.fingerprint] = name
    return found, skipped


def _loaded(path: Path) -> ug.Robot:
    try:
        return ug.load(path, base="floating")
    except ug.UrdfError as problem:
        if all(finding.code == "mimic-missing" for finding in problem.findings):
            return ug.load(path, base="floating", mimic=False)
        raise


def _idle_joints(robot: ug.Robot) -> str:
    """Which joints meet no inertia, at q = 0 or at a random pose; "" where M is positive definite."""
    poses = np.array([robot.neutral(), *robot.random(np.random.default_rng(0), POSES)])
    matrices = ug.mass_matrix(robot, poses, method="explicit")  # most robots take no part in a short series: nothing to compile for
    for i, (q, M) in enumerate(zip(poses, matrices, strict=True)):
        idle = joints_of(robot, idle_velocities(robot, q, M))
        if idle:
            return f"{', '.join(idle[:6])}{', ...' if len(idle) > 6 else ''} ({'at a random pose' if i else 'at q = 0'})"
    return ""


# one run ----------------------------------------------------------------------------------------------


def positions(robot: ug.Robot, points: Sequence[ContactPoint], q: Array) -> Array:
    """Of the points in the world (n, points, 3) at q (n, nq)."""
    x = np.empty((len(q), len(points), 3))
    for body in {point.body for point in points}:
        own = [i for i, point in enumerate(points) if point.body == body]
        link = robot.joints[body].child
        local = np.linalg.inv(robot.frame(link).placement)
        places = np.array([local[:3, :3] @ points[i].position + local[:3, 3] for i in own])
        T = ug.frame_placement(robot, q, link)
        x[:, own] = np.einsum("nij,pj->npi", T[:, :3, :3], places) + T[:, None, :3, 3]
    return x


def start(robot: ug.Robot, run: Run) -> tuple[Array, Array, ug.walls.Wall]:
    """q0, v0 and the wall of a run."""
    rng = np.random.default_rng([run.seed, zlib.crc32(run.robot.encode()), run.number])
    q, v = robot.random(rng), np.zeros(robot.nv)
    q[:3] = 0.0
    if run.thrown:
        v[:3], v[3:6], v[6:] = rng.normal(size=3), 2.0 * rng.normal(size=3), 2.0 * rng.normal(size=robot.nv - 6)
    x = positions(robot, resolve_points(robot), q[None])[0]
    if run.scene == "sphere":
        reach = max(float(np.linalg.norm(x, axis=1).max()), 0.1)
        return q, v, ug.walls.Sphere(2.0 * reach)
    q[2] = rng.uniform(0.2, 1.0) - float(x[:, 2].min())
    if run.scene == "hills":
        q[2] += HILLS
        return q, v, hills(rng)
    return q, v, ug.walls.Plane()


def hills(rng: np.random.Generator) -> ug.walls.Wall:
    """Random heights, up to HILLS above and below zero, 0.5 m apart."""
    return ug.walls.HeightField(rng.uniform(-HILLS, HILLS, (17, 17)), x=(-4.0, 4.0), y=(-4.0, 4.0))


def gaps(wall: ug.walls.Wall, x: Array) -> Array:
    """Of places x (..., 3); above a height field the vertical distance, from a spline of SciPy's, which is never below the distance."""
    if not isinstance(wall, ug.walls.HeightField):
        return wall.gap(x)
    heights = np.asarray(wall.heights)
    weights = []
    for count, span, place in zip(heights.shape, (wall.x, wall.y), (x[..., 0], x[..., 1]), strict=True):
        first, last = np.asarray(span, float)
        spline = CubicSpline(np.linspace(first, last, count), np.eye(count), bc_type="natural")
        inside = np.clip(place, first, last)
        weights.append(spline(inside) + spline(inside, 1) * (place - inside)[..., None])  # straight ahead beyond the edges
    return x[..., 2] - np.einsum("...i,ij,...j->...", weights[0], heights, weights[1], optimize=True)


def deepest(robot: ug.Robot, points: Sequence[ContactPoint], wall: ug.walls.Wall, q: Array) -> float:
    """The deepest penetration of all points at q (n, nq), 0 where there is none."""
    worst = 0.0
    for first in range(0, len(q), 4096):
        x = positions(robot, points, q[first : first + 4096])
        worst = max(worst, float(-gaps(wall, x).min()))
    return worst


def straight(robot: ug.Robot, q: Array, v: Array, d: Array) -> Array:
    """q (n, nq) after d (n,) seconds with constant velocities v (n, nv), the base going straight ahead in the world, as time steps do."""
    d = d[:, None]
    moved = robot.integrate(q, d * v)
    axis, w, linear = q[:, 3:6], q[:, 6:7], v[:, :3]
    twice = 2.0 * np.cross(axis, linear)
    moved[:, :3] = q[:, :3] + d * (linear + w * twice + np.cross(axis, twice))
    return moved


def sinking(robot: ug.Robot, points: Sequence[ContactPoint], wall: ug.walls.Wall, q: Array, v: Array, h: Array) -> tuple[float, float]:
    """What motions with v (n, nv) through q (n, nq), from h[:, 0] / 2 seconds before to h[:, 1] / 2 after, find at their ends [m].

    The deepest penetration, and the most by which a gap, near zero at one of the ends, is below its tangent at the start.
    """
    depth, worst = 0.0, 0.0
    for first in range(0, len(q), 1024):
        part = slice(first, first + 1024)
        start, end = -0.5 * h[part, 0], 0.5 * h[part, 1]
        times = (start - TINY, start + TINY, start, end)
        before, after, here, there = (gaps(wall, positions(robot, points, straight(robot, q[part], v[part], d))) for d in times)
        tangent = here + (end - start)[:, None] * (after - before) / (2.0 * TINY)
        near = np.minimum(here, there) < NEAR
        worst = max(worst, float((tangent - there)[near].max(initial=0.0)))
        depth = max(depth, float(-there.min()))
    return depth, worst


def beyond_limits(robot: ug.Robot, q: Array) -> float:
    """How far joints are beyond their limits at q (n, nq) [rad, m], 0 where they are not."""
    ends = [(joint.iq, joint.lower, joint.upper) for joint in robot.joints if joint.nq == 1 and not joint.is_mimic]
    return max((float(max(low - q[:, i].min(), q[:, i].max() - high)) for i, low, high in ends), default=0.0)


def measure(run: Run, trajectory: ug.Trajectory, points: Sequence[ContactPoint], wall: ug.walls.Wall) -> None:
    """Fill in what the trajectory shows."""
    robot, t = trajectory.robot, trajectory.t
    run.reached, run.rows = float(t[-1]), len(t)
    run.impacts, run.phases = len(trajectory.impacts), len(trajectory.phases)
    run.steps = int(trajectory.statistics.get("steps", 0))
    run.penetration = deepest(robot, points, wall, trajectory.q)
    if not run.step:  # between time steps there is nothing
        some = np.flatnonzero(np.diff(t) > 0.0)
        some = some[:: len(some) // SEGMENTS + 1]
        inside = np.concatenate([t[some] + s * (t[some + 1] - t[some]) for s in BETWEEN])
        times = np.concatenate([inside, np.linspace(t[0], t[-1], 2001)])
        run.between = deepest(robot, points, wall, trajectory.at(np.clip(times, t[0], t[-1]))[0])
    kinetic, _, total = (energy.copy() for energy in trajectory.energies)
    for impact in trajectory.impacts:
        if impact.energy_gain:  # Newton's law may, and has said so
            total[np.searchsorted(t, impact.time, side="right") - 1 :] -= impact.energy_after - impact.energy_before
    rise = float((total - np.minimum.accumulate(total)).max())
    run.gain = rise / max(float(kinetic.max()), 1e-300)
    run.largest_gain = ROUGH_GAIN if trajectory.statistics.get("implicit_steps", 0) else LARGEST_GAIN
    if run.status.startswith("failed"):
        M = ug.mass_matrix(robot, trajectory.q[-1])
        scale = np.sqrt(np.diag(M))
        run.inertia = float(np.linalg.eigvalsh(M / np.outer(scale, scale))[0])
    forces, weight = trajectory.contact_forces, 9.81 * float(sum(robot.mass))
    scale = np.maximum(weight, forces.max(axis=1, initial=0.0))[:, None]  # impulses of time steps exceed the weight by far
    run.force = float((forces / scale).min(initial=0.0))
    run.outside = float(((np.linalg.norm(trajectory.friction_forces, axis=2) - run.friction * forces) / scale).max(initial=0.0))
    if run.step:
        run.certificate = trajectory.statistics["worst_certificate"]
        h = np.diff(t)
        h = np.column_stack([h, [*h[1:], h[-1]]])  # of the step that ends in a row, and of the next
        run.between, curved = sinking(robot, points, wall, trajectory.q[1:], trajectory.v[1:], h)
        run.beyond = beyond_limits(robot, straight(robot, trajectory.q[1:], trajectory.v[1:], 0.5 * h[:, 1]))
        run.bound += curved
        run.largest_gain += float((h[:, :1] * np.abs(trajectory.v[1:, 3:])).max()) ** 2
    for impact in trajectory.impacts[:2000]:
        run.certificate, run.rounds = max(run.certificate, impact.certificate), max(run.rounds, impact.rounds)
        run.flagged += impact.energy_gain


def perform(robot: ug.Robot, run: Run, seconds: float, budget: float, sender: Connection) -> None:
    """The run, in a process of its own; sends (t, impacts) now and then, and the run at the end."""
    q, v, wall = start(robot, run)
    options: dict[str, Any] = {"scheme": "time_stepping", "step": run.step} if run.step else {}
    options |= {"law": "newton", "restitution": run.restitution, "friction": run.friction, "joint_limits": run.limits}
    simulator = ug.Simulator(robot, walls=wall, **options)
    began = time.process_time()
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(began + budget + GRACE) + 1, hard))

    def progress(t: float, impacts: int) -> None:
        sender.send((t, impacts))
        if time.process_time() - began > budget and run.status != "budget":
            run.status = "budget"
            signal.raise_signal(signal.SIGINT)

    try:
        trajectory = simulator.run(q, v, seconds, progress)
        run.status = run.status or trajectory.status
    except ug.SimulationError as problem:
        trajectory, run.status = problem.trajectory, f"failed: {problem.reason} at t = {problem.time:.9g} s"
    run.cpu = time.process_time() - began
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + MEASURING, hard))
    measure(run, trajectory, simulator.points, wall)
    sender.send(run)
    sender.close()


def entry(robot: ug.Robot, run: Run, seconds: float, budget: float, sender: Connection) -> None:
    """The work of one process; errors other than the simulator's own are reported, too."""
    warnings.simplefilter("ignore")
    try:
        perform(robot, run, seconds, budget, sender)
    except Exception as problem:
        run.status = f"died: {type(problem).__name__}: {problem}"
        sender.send(run)


# all runs ---------------------------------------------------------------------------------------------


def problems_of(run: Run) -> list[str]:
    """What is wrong with a run. One that a mass matrix stops which is singular indeed is not: the file lacks inertia."""
    found = [] if run.status == "complete" or run.inertia < SINGULAR else [f"{run.status} (t = {run.reached:.6g} s)"]
    for what, depth in (("rows", run.penetration), ("between rows", run.between)):
        if not depth <= run.bound:
            found.append(f"penetration {depth:.3g} m in {what}, more than {run.bound:.3g} m")
    if not run.beyond <= DEEPEST:
        found.append(f"a joint is {run.beyond:.3g} rad beyond its limit")
    if not run.gain <= run.largest_gain:
        found.append(f"energy gain {run.gain:.3g}, more than {run.largest_gain:.3g}")
    if not run.outside <= PULL:
        found.append(f"a force leaves its cone by {run.outside:.3g} of the weight or the largest force")
    if not run.force >= -PULL:
        found.append(f"a contact pulls with {-run.force:.3g} of the weight or the largest force")
    if run.limits and run.impacts >= MOST_IMPACTS:
        found.append(f"{run.impacts} impacts")
    return found


def runs_with_limits(robots: dict[str, ug.Robot], options: argparse.Namespace) -> list[Run]:
    """Every robot with each ground and restitution 0 and 0.5, or as many runs as are asked for, in turn over the robots."""
    grounds = {"plane": ["plane"], "hills": ["hills"], "both": ["plane", "hills"]}[options.ground]
    cases = [(ground, e) for e in (0.0, 0.5) for ground in grounds]
    step = options.step if options.scheme == "time_stepping" else 0.0
    runs: list[Run] = []
    for i in range(options.runs or len(cases) * len(robots)):
        name, number = list(robots)[i % len(robots)], i // len(robots)
        ground, e = cases[(number + i % len(robots)) % len(cases)]
        runs.append(Run(name, number, ground, e, False, options.seed, True, options.friction, step))
    return runs


def all_runs(robots: dict[str, ug.Robot], count: int, seed: int) -> list[Run]:
    """In turn over the robots; each goes through all cases, starting at one of its own."""
    runs = []
    for i in range(count if robots else 0):
        name, number = list(robots)[i % len(robots)], i // len(robots)
        scene, e, thrown = CASES[(zlib.crc32(name.encode()) + 5 * number) % len(CASES)]
        runs.append(Run(name, number, scene, e, thrown, seed))
    return runs


def perform_all(robots: dict[str, ug.Robot], runs: list[Run], seconds: float, budget: float, workers: int) -> list[Run]:
    """Some at a time, each in its own process."""
    context = multiprocessing.get_context("fork")
    waiting, done = deque(runs), []
    active: dict[Connection, tuple[Any, Run]] = {}
    began = time.perf_counter()
    while waiting or active:
        while waiting and len(active) < workers:
            run = waiting.popleft()
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=entry, args=(robots[run.robot], run, seconds, budget, sender))
            process.start()
            sender.close()
            active[receiver] = process, run
        for receiver in [ready for ready in wait(list(active)) if isinstance(ready, Connection)]:
            process, run = active[receiver]
            try:
                message = receiver.recv()
            except EOFError:
                process.join()
                run.status = "budget" if process.exitcode == -signal.SIGXCPU else f"died: exit code {process.exitcode}"
                run.cpu = budget if run.status == "budget" else run.cpu
                message = run
            if not isinstance(message, Run):
                run.reached, run.impacts = message
                continue
            process.join()
            del active[receiver]
            receiver.close()
            message.problems = problems_of(message)
            done.append(message)
            verdict = "; ".join(message.problems) or "ok"
            work = f"{message.cpu:6.2f} s CPU, {message.impacts:5d} impacts, {message.phases:4d} phases"
            print(f"[{len(done):3d}/{len(runs)} {time.perf_counter() - began:5.0f} s] {message.name}: {work}: {verdict}", flush=True)
    return done


def table(done: list[Run], robots: dict[str, ug.Robot]) -> None:
    """One line for each robot."""
    print(f"\n{'robot':36s} {'nv':>4s} {'runs':>4s} {'penetr. [m]':>11s} {'between [m]':>11s} {'gain':>9s} {'force':>9s}", end="")
    print(f" {'CPU med':>8s} {'CPU max':>8s} {'impacts':>8s} {'phases':>7s}")
    for name, robot in robots.items():
        own = [run for run in done if run.robot == name]
        if own:
            print(
                f"{name:36s} {robot.nv:4d} {len(own):4d} {max(r.penetration for r in own):11.2g} {max(r.between for r in own):11.2g}"
                f" {max(r.gain for r in own):9.2g} {min(r.force for r in own):9.2g} {median(r.cpu for r in own):8.2f}"
                f" {max(r.cpu for r in own):8.2f}"
                f" {max(r.impacts for r in own):8d} {max(r.phases for r in own):7d}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, help="200, or with --limits each robot in each case")
    parser.add_argument("--budget", type=float, default=20.0, help="CPU seconds for each run")
    parser.add_argument("--seconds", type=float, help="simulated in each run")
    parser.add_argument("--limits", action="store_true", help="every robot, on a plane, with its joint limits")
    parser.add_argument("--friction", type=float, default=0.0, help="with --limits: coefficient of friction")
    parser.add_argument("--ground", choices=("plane", "hills", "both"), default="plane", help="with --limits")
    parser.add_argument("--scheme", type=lambda name: name.replace("-", "_"), choices=("events", "time_stepping"), default="events")
    parser.add_argument("--step", type=float, default=1e-3, help="of time stepping [s]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--only", default="", help="robots whose name contains this")
    parser.add_argument("--json", type=Path, help="write all runs here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    robots, skipped = usable_robots(options.only)
    print(f"{len(robots)} robots with a positive definite M; left out:")
    for name, why in skipped:
        print(f"  {name}: {why}")
    if robots:  # compile before the processes part
        first = next(iter(robots.values()))
        ug.Simulator(first, walls=ug.walls.Plane(point=(0.0, 0.0, -100.0))).run(first.neutral(), None, 1e-3)
    runs = runs_with_limits(robots, options) if options.limits else all_runs(robots, options.runs or 200, options.seed)
    seconds = options.seconds or (3.0 if options.limits else 1.0)
    done = perform_all(robots, runs, seconds, options.budget, options.workers)
    table(done, robots)
    bad = [run for run in done if run.problems]
    if bad:
        print("\nnot right:")
        for run in sorted(bad, key=lambda run: run.name):
            print(f"  {run.name}: {'; '.join(run.problems)} [{run.cpu:.1f} s CPU, {run.impacts} impacts, {run.phases} phases]")
    if options.json:
        settings = {
            "runs": len(runs),
            "budget": options.budget,
            "seconds": seconds,
            "seed": options.seed,
            "limits": options.limits,
            "scheme": options.scheme,
            "friction": options.friction,
        }
        report = {"settings": settings, "skipped": skipped, "runs": [asdict(run) for run in done]}
        options.json.write_text(json.dumps(report, indent=1))
    for run in done:
        if run.status.startswith("failed") and not run.problems:
            print(f"  {run.name}: ended at {run.reached:.6g} s, where M has an eigenvalue of {run.inertia:.1e}: {run.status}")
    passed = bool(done) and not bad
    print(f"\n{'PASS' if passed else 'FAIL'}: {len(done) - len(bad)} of {len(done)} runs are right", end="")
    if options.scheme == "time_stepping":
        worst = max((run.penetration for run in done), default=0.0)
        print(f" (deepest {worst:.2g} m, worst certificate {max((run.certificate for run in done), default=0.0):.2g};", end="")
        print(" penetration and energy within what a step explains, no force pulls or leaves its cone,")
    else:
        print(f" (penetration <= {DEEPEST:g} m, gain <= {LARGEST_GAIN:g} of the largest kinetic energy, no force pulls or leaves its cone,")
    print(f" <= {options.budget:g} s CPU{f', < {MOST_IMPACTS} impacts' if options.limits else ''})")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
