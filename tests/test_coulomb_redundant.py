"""Contacts that share a load in many ways: K has far less rank than rows, and b lies in its range but for rounding."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from coulomb_law import Array, lacks

import urdf_gibbs as ug
from urdf_gibbs.contact.coulomb import contact_impulses

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))

from contact_problems import frames_at, rows_of

MOON = (0.0, 0.0, -1.62)


def of_one_body(rng: np.random.Generator, k: int) -> Array:
    """J (3 k, 6) of points of one body on a plane."""
    J = np.empty((3 * k, 6))
    for i in range(k):
        x, y, z = *rng.uniform(-1.0, 1.0, 2), -0.3
        J[3 * i : 3 * i + 3] = [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]]
    return J


def in_cones(rng: np.random.Generator, mu: Array, edge: float) -> Array:
    """Impulses of which some are zero, and a part ``edge`` of the others at the edges of their cones."""
    k = len(mu)
    normal = rng.exponential(size=k) * (rng.random(k) < rng.choice([0.3, 0.7, 1.0]))
    radius, angle = mu * normal * np.where(rng.random(k) < edge, 1.0, rng.random(k)), rng.uniform(0.0, 2.0 * np.pi, k)
    return np.column_stack([normal, radius * np.cos(angle), radius * np.sin(angle)]).ravel()


@pytest.mark.parametrize("edge", [0.0, 0.7, 1.0])
def test_what_some_sticking_contacts_hold_is_held(edge: float) -> None:
    """b = -K p for a p in the cones, which holds everything: with 4 to 24 contacts, of one body or of random rows of rank 3 to 12."""
    rng = np.random.default_rng(int(10 * edge))
    for trial in range(100):
        k = int(rng.integers(4, 25))
        J = of_one_body(rng, k) if trial % 2 else rng.normal(size=(3 * k, int(rng.choice([3, 6, 12]))))
        K, mu = J @ J.T, rng.uniform(0.2, 1.2, k)
        p = in_cones(rng, mu, edge)
        b = -K @ p
        if not p.any():
            continue
        found = contact_impulses(K, b, mu, search=0)
        assert found.verdict == "solved"
        assert lacks(K, b, mu, found.impulses) < 1e-9  # rows differ in size


@pytest.mark.parametrize("sides", [(1.0,), (-1.0, 1.0)])
def test_wheels_of_the_rover_share_its_load(sides: tuple[float, ...]) -> None:
    """Six wheels on a plane, one or both rims, with torques in all joints or without, in random postures.

    In the first one, at rest without torques, rows depend on each other, and the normal forces are its weight.
    """
    robot, rng = ug.load(ug.model_path("rover"), base="floating"), np.random.default_rng(7)
    start = ug.read_scenario("rover").q0
    wheels = [str(joint.child) for joint in robot.joints if str(joint.child).endswith("wheel")]
    assert len(wheels) == 6
    weight = -MOON[2] * float(ug.mass_matrix(robot, start)[0, 0])
    for trial in range(30):
        away = 0.05 * rng.normal(size=robot.nv - 6) * (trial > 0)
        q = robot.integrate(start, np.r_[np.zeros(6), away])
        links, points = [], []
        for wheel in wheels:
            R = ug.frame_placement(robot, q, wheel)[:3, :3]
            axis = R[:, 1]
            down = axis[2] * axis - [0.0, 0.0, 1.0]
            for side in sides:
                links.append(wheel)
                points.append(R.T @ (0.25 * down / np.linalg.norm(down) + 0.1 * side * axis))
        J = rows_of(robot, q, links, np.array(points), frames_at(np.tile([0.0, 0.0, 1.0], (len(links), 1))))
        K = J @ np.linalg.solve(ug.mass_matrix(robot, q), J.T)
        tau = np.r_[np.zeros(6), rng.normal(size=robot.nv - 6)] * rng.choice([0.0, 1.0, 20.0]) * (trial > 0)
        b, mu = J @ ug.forward_dynamics(robot, q, np.zeros(robot.nv), tau, gravity=MOON), np.full(len(links), 0.6)
        found = contact_impulses(0.5 * (K + K.T), b, mu, search=0)
        assert found.verdict == "solved"
        assert lacks(K, b, mu, found.impulses) < 1e-9
        if trial == 0:
            assert np.linalg.matrix_rank(K, tol=1e-9) < 0.8 * len(K)
            np.testing.assert_allclose(found.impulses[::3].sum(), weight, rtol=1e-9)
