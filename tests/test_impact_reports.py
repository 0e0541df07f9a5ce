"""What an impact tells of its contacts, and what damping does, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from urdf_text import POINT_IN_PLANE, inertial, joint, link, robot

from urdf_gibbs import Simulator, load, simulate, walls

Array = NDArray[np.float64]

ROUND_OFF = 1e-12
WEIGHTLESS = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("angle", [0.3, 0.9, 1.4])
@pytest.mark.parametrize("side", ["inside", "outside"])
def test_an_impact_on_an_ellipsoid_is_reported_in_metres(angle: float, side: str) -> None:
    """The gap's function is not a distance there: its gradient is 1 at the end of the shortest axis only."""
    a, c, e = 2.0, 0.5, 0.6
    x = np.array([a * np.cos(angle), c * np.sin(angle)])
    outwards = x / np.array([a, c]) ** 2
    n = outwards / np.linalg.norm(outwards) * (-1.0 if side == "inside" else 1.0)
    v = -1.5 * n + 0.4 * np.array([n[1], -n[0]])
    wall = walls.Ellipsoid((a, 1.0, c), side=side)  # type: ignore[arg-type]
    impact = Simulator(load(POINT_IN_PLANE), walls=wall, points=["m"], restitution=e).impact(x, v)
    assert impact is not None
    np.testing.assert_allclose(impact.normals[0], [n[0], 0.0, n[1]], atol=ROUND_OFF)
    assert impact.normal_velocities_before[0] == pytest.approx(-1.5, abs=ROUND_OFF)
    assert impact.normal_velocities_after[0] == pytest.approx(1.5 * e, abs=ROUND_OFF)
    assert impact.impulses[0] == pytest.approx(1.5 * (1.0 + e), abs=ROUND_OFF)
    np.testing.assert_allclose(impact.velocities_before[0], [v[0], 0.0, v[1]], atol=ROUND_OFF)
    assert impact.angles_of_attack[0] == pytest.approx(np.arctan2(0.4, 1.5), abs=1e-10)


def test_two_spheres_of_one_size_touch_half_way_between_them() -> None:
    """The normal points from the second to the first; velocities are those of the first against the second."""
    text = robot(
        link("w", ""),
        link("one", inertial(1.0)),
        link("other", inertial(3.0)),
        joint("a", "prismatic", "w", "one", axis=(1, 0, 0)),
        joint("b", "prismatic", "w", "other", xyz=(0, 0, 0.3), axis=(1, 0, 0)),
    )
    points = [("one", (0, 0, 0), 0.25), ("other", (0, 0, 0), 0.25)]
    simulator = Simulator(load(text), points=points, pairs=[("one", "other")], restitution=0.5, gravity=WEIGHTLESS)
    impact = simulator.impact([0.0, 0.4], [2.0, -1.0])
    assert impact is not None
    np.testing.assert_allclose(impact.positions[0], [0.2, 0.0, 0.15], atol=ROUND_OFF)
    np.testing.assert_allclose(impact.normals[0], [-0.8, 0.0, -0.6], atol=ROUND_OFF)
    np.testing.assert_allclose(impact.velocities_before[0], [3.0, 0.0, 0.0], atol=ROUND_OFF)
    assert impact.normal_velocities_before[0] == pytest.approx(-2.4, abs=ROUND_OFF)
    assert impact.normal_velocities_after[0] == pytest.approx(1.2, abs=ROUND_OFF)
    assert impact.v_after @ [1.0, 3.0] == pytest.approx(-1.0, abs=ROUND_OFF)  # momentum


def test_a_sphere_touches_a_wall_at_its_side() -> None:
    impact = Simulator(load(POINT_IN_PLANE), walls=walls.Plane((0.6, 0, 0.8)), points=[("m", (0, 0, 0), 0.5)]).impact(
        [0.3, 0.4], [0.0, -1.0]
    )
    assert impact is not None
    np.testing.assert_allclose(impact.positions[0], [0.0, 0.0, 0.0], atol=ROUND_OFF)


def test_velocities_at_a_wall_that_moves_are_relative_to_it() -> None:
    wall = walls.Plane((0, 0, 1), motion=walls.Drift((0.7, 0.2, 0.5)))
    impact = Simulator(load(POINT_IN_PLANE), walls=wall, points=["m"], restitution=0.5).impact([0.3, 0.0], [0.1, -1.0])
    assert impact is not None
    np.testing.assert_allclose(impact.velocities_before[0], [-0.6, -0.2, -1.5], atol=ROUND_OFF)
    np.testing.assert_allclose(impact.velocities_after[0], [-0.6, -0.2, 0.75], atol=ROUND_OFF)


@pytest.mark.parametrize("ratio", [0.0, -2.0])
def test_damping_slows_a_slide_down_exponentially(ratio: float) -> None:
    """m v' = -c v; a joint that follows ``ratio`` times as fast adds ratio^2 of its own mass and damping."""
    tied = f'<dynamics damping="0.7"/><mimic joint="a" multiplier="{ratio}"/>'
    text = robot(
        link("w", ""),
        link("one", inertial(2.0)),
        joint("a", "prismatic", "w", "one", '<dynamics damping="0.5"/>', axis=(1, 0, 0)),
        link("two", inertial(1.5)),
        joint("b", "prismatic", "w", "two", tied, axis=(0, 1, 0)),
    )
    made = load(text)
    mass, damping = 2.0 + 1.5 * ratio**2, 0.5 + 0.7 * ratio**2
    found = simulate(made, [0.1], [1.5], 4.0, damping=True, gravity=WEIGHTLESS)
    decay = np.exp(-damping / mass * found.t)
    np.testing.assert_allclose(found.v[:, 0], 1.5 * decay, atol=1e-9)
    np.testing.assert_allclose(found.q[:, 0], 0.1 + 1.5 * mass / damping * (1.0 - decay), atol=1e-9)
    np.testing.assert_allclose(simulate(made, [0.1], [1.5], 1.0, gravity=WEIGHTLESS).v[:, 0], 1.5, rtol=1e-15)  # off unless asked for
