"""Frictional contact problems of robots of example-robot-data: Delassus matrices and velocities at random states.

Robots float. Contacts are points of the feet on a plane, four of each foot where there are more contacts than feet, or points of random
links on walls with random normals, of which many press against each other. Velocities are random, towards the walls. Rows of a contact:
normal, two tangents.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import own_tree  # noqa: F401
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots

Array = NDArray[np.float64]

# file, contacts, links that stand on the ground
ROBOTS = {
    "go2": (4, "go2", ("FL_foot", "FR_foot", "RL_foot", "RR_foot")),
    "go2-16": (16, "go2", ("FL_foot", "FR_foot", "RL_foot", "RR_foot")),
    "talos": (8, "talos_reduced", ("leg_left_6_link", "leg_right_6_link")),
    "talos-16": (16, "talos_reduced", ("leg_left_6_link", "leg_right_6_link", "arm_left_7_link", "arm_right_7_link")),
    "g1": (8, "g1_29dof_rev_1_0", ("left_ankle_roll_link", "right_ankle_roll_link")),
    "romeo": (30, "romeo_small", ("l_ankle", "r_ankle")),
    "pr2": (30, "pr2", ()),
}
IMPACTS = {"impact e=0": (0.0, 0.0), "impact e=.5": (0.5, 0.0), "impact e=.5 all": (0.5, 0.5)}  # restitution: normal, tangential
CASES = (*IMPACTS, "rest")
CORNERS = np.array([[1.0, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
GRAVITY = 9.81
STEP = 5e-3  # s, of the finite difference of J along the motion, of order eight
DIFFERENCE = {m * s: s * w for m, w in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), 1) for s in (1, -1)}


class Problem(NamedTuple):
    """u = K p + b."""

    name: str
    case: str
    K: Array  # (3 k, 3 k) [1/kg]
    b: Array  # (3 k,) [m/s]; at rest [m/s^2]
    mu: Array  # (k,)
    J: Array  # (3 k, nv)
    M: Array  # (nv, nv)


def robot_of(name: str) -> ug.Robot | None:
    """The robot, None where example-robot-data is not installed."""
    wanted = ROBOTS[name][1]
    for path in example_robots().values():
        if path.stem == wanted:
            return ug.load(path, base="floating", mimic=False)
    return None


def frames_at(normals: Array) -> Array:
    """(k, 3, 3): rows normal and two tangents."""
    found = np.empty((len(normals), 3, 3))
    for F, n in zip(found, normals, strict=True):
        F[0] = n / np.linalg.norm(n)
        F[1] = np.cross(F[0], np.eye(3)[np.argmin(abs(n))])
        F[1] /= np.linalg.norm(F[1])
        F[2] = np.cross(F[0], F[1])
    return found


def rows_of(robot: ug.Robot, q: Array, links: list[str], points: Array, frames: Array) -> Array:
    """J (3 k, nv)."""
    rows = []
    for link, point, F in zip(links, points, frames, strict=True):
        J, r = ug.jacobian(robot, q, link), ug.frame_placement(robot, q, link)[:3, :3] @ point
        rows.append(F @ (J[:3] - np.cross(r, J[3:], axisb=0).T))
    return np.concatenate(rows)


def state(robot: ug.Robot, name: str, number: int) -> tuple[Array, list[str], Array, Array, np.random.Generator]:
    """q, links, points and contact frames."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), number])
    k, _, feet = ROBOTS[name]
    q = robot.random(rng)
    if feet and number % 2 == 0:
        each = -(-k // len(feet))
        links = [feet[i // each] for i in range(k)]
        points = np.array([0.05 * CORNERS[i % each % 4] * (1 + i % each // 4) if each > 1 else np.zeros(3) for i in range(k)])
        normals = np.tile([0.0, 0.0, 1.0], (k, 1))
    else:
        links = [str(link) for link in rng.choice([joint.child for joint in robot.joints], k)]
        points = rng.uniform(-0.1, 0.1, (k, 3))
        normals = rng.normal(size=(k, 3))
        if number % 4 == 1 or (not feet and number % 2 == 0):
            normals[:, 2] = abs(normals[:, 2]) + 0.5  # a bowl
    return q, links, points, frames_at(normals), rng


def problems(name: str, states: range) -> Iterator[Problem]:
    """All cases of some states of a robot."""
    robot = robot_of(name)
    if robot is None:
        return
    for number in states:
        q, links, points, frames, rng = state(robot, name, number)
        J, M = rows_of(robot, q, links, points, frames), ug.mass_matrix(robot, q)
        K = J @ np.linalg.solve(M, J.T)
        K = 0.5 * (K + K.T)
        mu = rng.uniform(0.1, 1.2, len(links)) if number % 3 else np.full(len(links), 0.7)
        v = rng.normal(size=robot.nv)
        u = J @ v
        if np.all(frames[:, 0] == [0.0, 0.0, 1.0]):  # falls
            v = v - np.linalg.lstsq(J[::3], u[::3] + 1.0 + 0.3 * rng.normal(size=len(links)), rcond=None)[0]
            u = J @ v
        else:  # towards the walls
            J = J * np.repeat(-np.sign(u[::3]), 3)[:, None]
            K = J @ np.linalg.solve(M, J.T)
            K = 0.5 * (K + K.T)
            u = J @ v
        for case, (normal, tangential) in IMPACTS.items():
            b = (1.0 + tangential) * u
            b[::3] = (1.0 + normal) * u[::3]
            yield Problem(name, case, K, b, mu, J, M)
        v -= np.linalg.lstsq(J, u, rcond=1e-10)[0]
        turned = np.repeat(np.sign(np.sum(J * rows_of(robot, q, links, points, frames), axis=1))[::3], 3)
        rate = np.zeros(len(J))
        for step, weight in DIFFERENCE.items():
            rate += turned * (weight / STEP * rows_of(robot, robot.integrate(q, step * STEP * v), links, points, frames) @ v)
        tau = rng.normal(size=robot.nv) * np.r_[np.zeros(6), np.full(robot.nv - 6, 5.0)]
        a = ug.forward_dynamics(robot, q, v, tau)
        yield Problem(name, "rest", K, J @ a + rate, mu, J, M)
