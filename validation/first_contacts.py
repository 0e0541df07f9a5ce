"""Is every first contact found? Rotors, propellers and tumbling bodies near walls, and spheres on ground with peaks finer than they are.

python validation/first_contacts.py [--runs 2000] [--grounds 200] [--seed 0] [--only KIND]

The motions are written apart in NumPy: closed forms where there are some (rotors, planar bodies, symmetric bodies without torque),
SciPy's integrator where not; their gaps are sampled every hundredth of a radian and refined at every minimum. A run passes if no point is
deeper in a wall than DEEPEST before the first impact of the simulation, and if that impact is one. Where a sphere rests on the ground is
found by sampling the ground below it and refining every summit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import own_tree  # noqa: F401
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize, minimize_scalar

import urdf_gibbs as ug

Array = NDArray[np.float64]
Motion = Callable[[Array], tuple[Array, Array]]  # times (n,) -> where the hub is (n, 3), how the body is turned (n, 3, 3)
Gap = Callable[[Array], Array]  # points (..., 3) -> distance from the wall (...)

KINDS = ("rotor", "planar", "symmetric", "asymmetric")
DEEPEST = 1e-8  # m: what 1e-10 in each of some tens of steps adds up to,
EACH_RADIAN = 1e-9  # m: and in those of a body that turns for long, one or two for each radian, all with the same sign
GROUND = 1e-9  # m
SAMPLES = 0.01  # rad between two
CHUNK = 20_000  # samples at once
INERTIA = '<inertial><mass value="{m}"/><inertia ixx="{a}" iyy="{b}" izz="{c}" ixy="0" ixz="0" iyz="0"/></inertial>'


@dataclass
class Case:
    """A robot that is thrown, and the same motion written apart."""

    kind: str
    robot: ug.Robot
    q: Array
    v: Array
    points: Array  # (n, 3) in the body
    link: str
    wall: ug.walls.Wall
    gap: Gap
    motion: Motion
    fastest: float  # rad/s
    duration: float


def turned(axis: Array, angle: Array) -> Array:
    """Rotations (..., 3, 3) about a unit vector."""
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.eye(3) + s * K + (1.0 - c) * (K @ K)


def from_quaternion(q: Array) -> Array:
    """Rotation of a quaternion x y z w (..., 4)."""
    x, y, z, w = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def unit(rng: np.random.Generator) -> Array:
    x = rng.normal(size=3)
    return np.asarray(x / np.linalg.norm(x))


def some_wall(rng: np.random.Generator, way: Array, distance: float) -> tuple[ug.walls.Wall, Gap]:
    """A wall whose nearest point to the origin is at way * distance, about, and its gap written apart."""
    choice = rng.integers(4)
    place = distance * way
    if choice == 0:
        n = -way + 0.5 * rng.uniform() * unit(rng)
        n /= np.linalg.norm(n)
        return ug.walls.Plane(normal=n, point=-distance * n), lambda x: x @ n + distance
    if choice == 1:  # a post, often a thin one
        radius = 10.0 ** rng.uniform(-3.0, 0.0)
        axis = np.cross(way, unit(rng))
        axis /= np.linalg.norm(axis)
        middle = place + radius * way

        def post(x: Array) -> Array:
            d = x - middle
            d = d - (d @ axis)[..., None] * axis
            return np.asarray(np.linalg.norm(d, axis=-1) - radius)

        return ug.walls.Cylinder(radius, centre=middle, axis=axis, side="outside"), post
    if choice == 2:
        radius = 10.0 ** rng.uniform(-2.0, 0.0)
        middle = place + radius * way
        return ug.walls.Sphere(radius, centre=middle, side="outside"), lambda x: np.linalg.norm(x - middle, axis=-1) - radius
    radius = 3.0 * distance
    middle = place - radius * way
    return ug.walls.Sphere(radius, centre=middle), lambda x: radius - np.linalg.norm(x - middle, axis=-1)


def some_case(rng: np.random.Generator, kind: str) -> Case:
    """A body with blades that turns fast and travels slowly towards a wall, not within its reach at first."""
    way = unit(rng)
    blades, length = int(rng.integers(1, 6)), rng.uniform(0.1, 1.0)
    fast, slow = 10.0 ** rng.uniform(0.0, 4.0), 10.0 ** rng.uniform(-2.0, 0.5)
    if kind == "asymmetric":  # by SciPy: fewer turns
        fast = 10.0 ** rng.uniform(0.0, 1.5)
        slow = rng.uniform(0.3, 3.0)
    room = length + min(rng.uniform(0.02, 1.0), 3e3 * slow / fast)
    a, b, c = 0.3, 0.3, 0.3
    if kind in ("symmetric", "asymmetric"):
        c = rng.uniform(0.1, 0.55)
        b = a if kind == "symmetric" else 0.5 * (a + c)
    inertia = INERTIA.format(m=1.0, a=a, b=b, c=c)
    around = np.arange(blades) * 2.0 * np.pi / blades
    phase = rng.uniform(0.0, 2.0 * np.pi)
    velocity = slow * (way + 0.3 * unit(rng))
    if kind == "rotor":
        axis, rail = unit(rng), velocity / np.linalg.norm(velocity)
        across = np.cross(axis, unit(rng))
        across /= np.linalg.norm(across)
        points = length * np.stack([turned(axis, np.array(angle)) @ across for angle in around])
        text = (
            f'<robot name="rotor"><link name="world"/><link name="hub">{inertia}</link><link name="rotor">{inertia}</link>'
            f'<joint name="x" type="prismatic"><parent link="world"/><child link="hub"/><axis xyz="{rail[0]} {rail[1]} {rail[2]}"/>'
            '<limit effort="1" velocity="1" lower="-100" upper="100"/></joint><joint name="r" type="continuous"><parent link="hub"/>'
            f'<child link="rotor"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/></joint></robot>'
        )
        robot, link = ug.load(text, base="fixed"), "rotor"
        speed = float(np.linalg.norm(velocity))
        q, v = np.array([0.0, phase]), np.array([speed, fast])

        def motion(t: Array) -> tuple[Array, Array]:
            return t[:, None] * velocity, turned(axis, phase + fast * t)

    elif kind == "planar":
        way[2] = velocity[2] = 0.0
        way /= np.linalg.norm(way)
        axis, link = np.array([0.0, 0.0, 1.0]), "body"
        points = length * np.stack([np.cos(around), np.sin(around), np.zeros(blades)], axis=1)
        robot = ug.load(f'<robot name="body"><link name="body">{inertia}</link></robot>', base="planar")
        own = turned(axis, np.array(-phase)) @ velocity
        q, v = np.array([0.0, 0.0, phase]), np.array([own[0], own[1], fast])

        def motion(t: Array) -> tuple[Array, Array]:
            return t[:, None] * velocity, turned(axis, phase + fast * t)

    else:
        link = "body"
        points = length * np.array([unit(rng) for _ in range(blades)])
        robot = ug.load(f'<robot name="body"><link name="body">{inertia}</link></robot>', base="floating")
        x = rng.normal(size=4)
        quaternion = x / np.linalg.norm(x)
        start = from_quaternion(quaternion)
        omega = fast * unit(rng)
        q, v = np.array([0.0, 0.0, 0.0, *quaternion]), np.array([*(start.T @ velocity), *omega])
        if kind == "symmetric":
            momentum = start @ (np.array([a, a, c]) * omega)
            size = float(np.linalg.norm(momentum))

            def motion(t: Array) -> tuple[Array, Array]:
                own = turned(np.array([0.0, 0.0, 1.0]), omega[2] * (1.0 - c / a) * t)
                return t[:, None] * velocity, turned(momentum / size, size / a * t) @ start @ own

            fast += size / a
        else:
            moments = np.array([a, b, c])
            last = 2.0 * room / slow

            def rate(t: float, y: Array) -> Array:
                w, (x, y_, z, s) = y[4:], y[:4]
                spin = 0.5 * np.array(
                    [
                        s * w[0] + y_ * w[2] - z * w[1],
                        s * w[1] + z * w[0] - x * w[2],
                        s * w[2] + x * w[1] - y_ * w[0],
                        -x * w[0] - y_ * w[1] - z * w[2],
                    ]
                )
                return np.concatenate([spin, np.cross(moments * w, w) / moments])

            answer = solve_ivp(rate, (0.0, last), [*quaternion, *omega], method="DOP853", rtol=1e-13, atol=1e-13, dense_output=True)

            def motion(t: Array) -> tuple[Array, Array]:
                return t[:, None] * velocity, from_quaternion(answer.sol(np.minimum(t, last))[:4].T)

            fast *= 2.0
    wall, gap = some_wall(rng, way, room)
    duration = room / slow if kind == "asymmetric" else 1.5 * (room + length) / slow
    return Case(kind, robot, q, v, points, link, wall, gap, motion, fast, duration)


def gaps(case: Case, t: Array) -> Array:
    """(times, points)"""
    x, R = case.motion(t)
    return case.gap(x[:, None, :] + np.einsum("tij,pj->tpi", R, case.points))


def allowed(case: Case, until: float) -> float:
    return DEEPEST + EACH_RADIAN * case.fastest * until


def deepest(case: Case, until: float) -> float:
    """The least gap of all points at t < until, by sampling and refining; stops at the first that is clearly negative."""
    reach = float(np.linalg.norm(case.points, axis=1).max())
    dt = SAMPLES / case.fastest
    least, t0 = np.inf, 0.0
    # A point cannot come lower between two samples than this below both.
    dip = reach * SAMPLES**2
    while t0 < until:
        # While the hub is further from the wall than any blade is long nothing can touch.
        t0 = _reached(case, t0, until, reach)
        t = t0 + dt * np.arange(CHUNK)
        t = np.append(t[t < until], until) if t[-1] >= until else t
        g = gaps(case, t)
        for p in range(g.shape[1]):
            own = g[:, p]
            inner = np.flatnonzero((own[1:-1] <= own[:-2]) & (own[1:-1] <= own[2:]) & (own[1:-1] < dip)) + 1
            for i in inner[:200]:

                def one(time: float, p: int = p) -> float:
                    return float(gaps(case, np.array([time]))[0, p])

                found = minimize_scalar(one, bounds=(t[i - 1], t[i + 1]), method="bounded", options={"xatol": 1e-12 * t[i]})
                least = min(least, float(found.fun))
            least = min(least, float(own[0]), float(own[-1]))
        if least < -allowed(case, until):
            return least
        t0 = t[-1]
    return least


def _reached(case: Case, t0: float, until: float, reach: float) -> float:
    """The first of coarse times from t0 on from which the hub may come within reach before the next."""
    t = np.linspace(t0, until, 2000)
    hub = case.motion(t)[0]
    step = float(np.linalg.norm(np.diff(hub, axis=0), axis=1).max())
    near = np.flatnonzero(case.gap(hub) < reach + 2.0 * step)
    return float(t[max(0, near[0] - 1)]) if len(near) else until


def looked_at(case: Case) -> tuple[bool, float, float]:
    """Whether the simulation finds the first contact, its time, and the deepest point before it."""
    fall = ug.simulate(
        case.robot,
        case.q,
        case.v,
        case.duration,
        walls=case.wall,
        restitution=0.0,
        gravity=(0, 0, 0),
        points=[(case.link, tuple(p)) for p in case.points],
        dense=False,
    )
    first = fall.impacts[0].time if len(fall.impacts) else np.inf
    last = min(first, case.duration)
    deep = deepest(case, last * (1.0 - 1e-9))
    there = abs(float(gaps(case, np.array([first])).min())) if np.isfinite(first) else 0.0
    return deep > -allowed(case, last) and there < allowed(case, last), first, deep


# ground --------------------------------------------------------------------------------------------


def ground(rng: np.random.Generator) -> tuple[float, float]:
    """Where a sphere rests that falls on ground with peaks finer than it is: by simulation, and by sampling and refining."""
    radius = rng.uniform(0.2, 1.0)
    n = int(rng.integers(6, 40))
    step = radius * 10.0 ** rng.uniform(-1.3, -0.3)
    heights = 0.02 * radius * rng.normal(size=(n, n)) * rng.integers(2)
    for _ in range(rng.integers(1, 5)):
        heights[rng.integers(0, n), rng.integers(0, n)] = rng.uniform(0.1, 0.8) * radius
    half = 0.5 * (n - 1) * step
    x, y = rng.uniform(-half, half, size=2)
    text = (
        f'<robot name="ball"><link name="world"/><link name="ball">{INERTIA.format(m=1, a=1, b=1, c=1)}</link><joint name="z" '
        'type="prismatic"><parent link="world"/><child link="ball"/><axis xyz="0 0 1"/>'
        '<limit effort="1" velocity="1" lower="-9" upper="9"/></joint></robot>'
    )
    wall = ug.walls.HeightField(heights, (-half, half), (-half, half))
    nodes = np.linspace(-half, half, n)

    def along(values: Array, at: Array) -> Array:
        spline, inside = CubicSpline(nodes, values, bc_type="natural"), np.clip(at, -half, half)
        return np.asarray(spline(inside) + (at - inside)[:, None] * spline(inside, 1))

    def height(u: Array, v: Array) -> Array:
        return along(along(heights.T, v).T, u)

    def below(e: Array) -> float:
        left = radius**2 - float(e @ e)
        return -float(height(x + e[:1], y + e[1:])[0, 0]) - left**0.5 if left > 0.0 else 10.0

    grid = np.linspace(-radius, radius, 401)
    left = radius**2 - grid[:, None] ** 2 - grid**2
    F = np.where(left > 0.0, height(x + grid, y + grid) + np.sqrt(np.maximum(left, 0.0)), -np.inf)
    inner, top = F[1:-1, 1:-1], np.ones((399, 399), dtype=bool)
    for i in range(3):
        for j in range(3):
            top &= inner >= F[i : 399 + i, j : 399 + j]
    best, apart = -np.inf, grid[1] - grid[0]
    for i, j in np.argwhere(top & (inner > F.max() - 0.05 * radius)):
        start = np.array([grid[i + 1], grid[j + 1]])
        simplex = start + apart * np.array([[0, 0], [1, 0], [0, 1]])
        found = minimize(below, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15, "initial_simplex": simplex})
        best = max(best, -float(found.fun))
    above = best + rng.uniform(0.2, 2.0)
    fall = ug.simulate(ug.load(text, base="fixed"), [above], None, 2.0, wall, "newton", 0.0, points=[("ball", (x, y, 0.0), radius)])
    return float(fall.q[-1, 0]), best


# ---------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--grounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args()
    kinds = (options.only,) if options.only else KINDS
    failed = False
    print(f"{'':14}{'runs':>6}{'contacts':>10}{'missed':>8}{'deepest before the first [m]':>32}{'CPU [s]':>9}")
    for kind in kinds:
        began, missed, contacts, worst, runs = time.process_time(), [], 0, 0.0, options.runs // len(kinds)
        for number in range(runs):
            found, first, deep = looked_at(some_case(np.random.default_rng([options.seed, KINDS.index(kind), number]), kind))
            contacts += np.isfinite(first)
            worst = max(worst, -deep)
            if not found:
                missed.append(number)
        failed = failed or bool(missed)
        print(f"{kind:14}{runs:6}{contacts:10}{len(missed):8}{worst:32.3g}{time.process_time() - began:9.1f}", *missed[:10], flush=True)
    began, worst, off = time.process_time(), 0.0, []
    for number in range(options.grounds):
        rests, expected = ground(np.random.default_rng([options.seed, 99, number]))
        worst = max(worst, abs(rests - expected))
        if abs(rests - expected) > GROUND:
            off.append(number)
    failed = failed or bool(off)
    print(f"\n{options.grounds} grounds: {len(off)} off, at most {worst:.3g} m, {time.process_time() - began:.1f} s", *off[:10])
    print("FAIL" if failed else "PASS")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
