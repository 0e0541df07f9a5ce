"""The rover's bundled run: what halving the step changes, M along it, slip on a slope with the limiter; what the report says of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.reproduce.rover import _angles, _terrains, _torques
from urdf_gibbs.reproduce.rover_runs import (
    circle,
    direction_torques,
    drive_of,
    flat_run,
    matrices,
    rough_run,
    slip_of,
    slope_run,
    torque_work,
)

SLOPE = math.radians(15.0)


def test_halving_the_step_changes_the_fluctuation_of_the_torques_by_less_than_a_per_cent() -> None:
    coarse, fine = (direction_torques(rough_run(1, step=step)).fluctuation() for step in (5e-3, 2.5e-3))
    assert coarse.min() > 0.1 and np.abs(fine / coarse - 1.0).max() < 0.01


def test_explicit_and_compiled_matrices_are_pinocchios_along_the_run() -> None:
    run = rough_run(3)
    errors = matrices(run, 40)
    assert set(errors) == {"explicit", "compiled"} and max(errors.values()) < 1e-13
    torques = direction_torques(run)
    assert np.degrees(np.abs(torques.angle[torques.t > 2.0][:, :3] - np.radians([5.0, 0.0, -5.0])).max()) < 1.0  # bumps turn wheels
    assert "substitute" in _angles(torques).instead
    assert (run.contact_forces[-1] >= 0.0).all() and run.statistics["deepest"] < 1e-4


def test_the_power_balance_of_a_run_closes() -> None:
    """Torques that are kept between two calls, times the angles, against energies and the work of friction."""
    run = flat_run(4.0, step=1e-3)
    work = torque_work(run, drive_of(run))
    left = work - float(run.energies.total[-1] - run.energies.total[0]) - float(run.friction_work[-1])
    assert abs(left) < 1e-6 * work * 2.0  # 7.5e-7 measured; the scheme is of second order: it falls with the square of the step


def test_the_limiter_keeps_the_slip_small_on_a_slope() -> None:
    ground = ug.walls.Plane((-math.sin(SLOPE), 0.0, math.cos(SLOPE)), name="ground")
    most = {}
    for limit in (None, 0.05):
        run = slope_run(SLOPE, limit, 0.3, 5.0)
        most[limit] = float(np.abs(slip_of(run, ground, 3.0)).max())
        climbed = (run.q[-1, 0] - run.q[0, 0]) / math.cos(SLOPE)
        assert climbed > 0.4  # friction of 0.3 leaves 0.05 m/s^2: 0.6 m in 5 s
    assert most[0.05] < 0.2 < 0.5 < most[None]


def test_counts_are_counts() -> None:
    found = np.array([[3.0, 2.0, 1.0, 1.0, 2.0, 0.5], [1.0, 2.0, 3.0, 3.0, 2.0, 1.0], [2.0, 1.0, 3.0, 3.0, 4.0, 1.0]])
    text = _torques(found).instead
    assert "left 1 times of 3 (more than the middle's 2, than the rear's 1)" in text
    assert "right 1 times of 3 (more than the middle's 1, than the rear's 3)" in text
    with pytest.raises(ValueError, match="zip"):
        _terrains(found)  # of 20 seeds


def test_a_circle_through_points_is_found() -> None:
    angle = np.linspace(0.2, 0.9, 30)
    centre, radius = circle(np.array([3.0, -2.0]) + 7.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    assert radius == pytest.approx(7.0, rel=1e-10) and centre == pytest.approx([3.0, -2.0], abs=1e-9)
