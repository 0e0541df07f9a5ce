"""Sensitivities of whole motions with respect to their start, against central differences of ``simulate``, and Liouville's theorem."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import motion_differences as motions
import numpy as np
import pytest
from motion_differences import Motion

from urdf_gibbs import Trajectory, mass_matrix, walls
from urdf_gibbs.errors import ArgumentError, UnknownNameError

SIZE = 1e-6  # of the largest derivative: what differences of simulations with tolerances of 1e-12 are good for
SHAKEN = walls.Vibration((0.05, 0.0, 0.02), 9.0, 0.4)
LAWS = ("newton", "newton_equality", "poisson", "moreau", "energetic")
FREE = {
    **{f"ball, {law}": motions.ball(law) for law in LAWS},
    "pendulum at its stop": motions.pendulum(),
    "moving wall": motions.moving_table(),
    "branched12 up to its fifth impact": motions.branched(),
    "floating block on its corners": motions.block(),
    "planar base": motions.planar(),
    "two balls at one time": motions.two_balls(),
    "damped": motions.arm(damping=0.3, floor=0.9),
}
HELD = {
    "hill and release": motions.hill(),
    "moving hill and release": motions.hill(SHAKEN),
    **{f"arm that slides and strikes, {law}": motions.arm(law) for law in ("newton", "newton_equality", "poisson")},
    "arm that stops and stays": motions.arm(restitution=0.0, damping=0.3),
}


def assert_agrees(found: Any, wanted: Any) -> None:
    assert np.abs(found - wanted).max() <= SIZE * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("name", [*FREE, *HELD])
def test_start_by_differences(name: str) -> None:
    motion = {**FREE, **HELD}[name]
    run = motion.run()
    assert run.impacts and bool(run.phases) == (name in HELD)
    step = 1e-6 if "branched" in name else 1e-5
    assert_agrees(run.sensitivity().values[-1], motion.start_differences(np.eye(2 * motion.robot.nv), step))


def test_held_contacts_are_released_in_these_motions() -> None:
    assert [np.isfinite(phase.end) for phase in motions.hill().run().phases] == [True]
    assert [len(motions.branched().run().impacts), len(motions.block().run().impacts)] == [5, 3]


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_contacts_that_are_held_from_the_start_and_depend_on_each_other(restitution: float) -> None:
    motion = motions.standing(restitution)
    run = motion.run()
    assert len(run.impacts) == (1 if restitution == 0.0 else 2) and len(run.impacts[0].points) == 5
    keeping = np.eye(14)[[0, 1, 5, 6, 7, 8, 12, 13]]  # along the floor, and the arm
    assert_agrees(run.sensitivity().values[-1] @ keeping.T, motion.start_differences(keeping))


@pytest.mark.parametrize("name", [name for name in FREE if name != "damped"])
def test_volume_shrinks_by_the_square_of_restitution_at_each_contact(name: str) -> None:
    """det X det M(T) / det M(0) = product of e^2: flight keeps the canonical volume, and walls that move do so too."""
    motion = FREE[name]
    run = motion.run()
    X = run.sensitivity().values[-1]
    ratio = np.linalg.det(mass_matrix(run.robot, run.q[-1])) / np.linalg.det(mass_matrix(run.robot, run.q[0]))
    expected = np.prod([e**2 for impact in run.impacts for e in impact.restitution])
    assert np.linalg.det(X) * ratio == pytest.approx(expected, abs=1e-8)


def test_a_pendulum_at_rest_has_long_steps_and_a_right_sensitivity() -> None:
    """At the lower equilibrium nothing moves; X is that of a harmonic oscillator with w^2 = g/L."""
    motion = Motion(motions.pendulum().robot, np.zeros(1), np.zeros(1), 3.0)
    run = motion.run()
    pull = float(-_acceleration_slope(run))
    w = np.sqrt(pull)
    expected = [[np.cos(3 * w), np.sin(3 * w) / w], [-w * np.sin(3 * w), np.cos(3 * w)]]
    assert np.abs(run.sensitivity().values[-1] - expected).max() < 1e-9  # tolerance of X, 1e-12 a step


def _acceleration_slope(run: Trajectory) -> float:
    fd, h = run.robot.kernel("forward_dynamics"), 1e-5
    return float((fd([h], [0.0], [0.0]) - fd([-h], [0.0], [0.0]))[0] / (2.0 * h))


def test_rows_and_times_between_them() -> None:
    motion = motions.block()
    run = motion.run()
    S = run.sensitivity(("v", "torque"))
    assert np.array_equal(S.t, run.t) and S.values.shape == (len(run), 12, 12)
    assert S.columns[:6] == tuple(f"v.{name}" for name in run.robot.velocity_names)
    assert np.array_equal(S.q, S.values[:, :6]) and np.array_equal(S.v, S.values[:, 6:])
    assert np.array_equal(S.group("torque"), S.values[:, :, 6:])
    t = run.impacts[0].time
    assert np.array_equal(S.at(t), S.saltations[0].matrix @ S.at(t, side="left") + S.saltations[0].direct)
    middle = 0.5 * (run.impacts[0].time + run.impacts[1].time)
    short = run.sensitivity(("v", "torque"), until=middle)
    assert short.t[-1] == middle and len(short.saltations) == 1
    assert np.abs(short.values[-1] - S.at(middle)).max() < 1e-9 * np.abs(S.at(middle)).max()


def test_saltation_of_a_ball_in_closed_form() -> None:
    """(1, 0; 0, 1) -> (-e, 0; -(1 + e) g/u, -e), with g the acceleration and u the speed before."""
    run = motions.ball().run()
    impact = run.impacts[0]
    expected = [[-0.8, 0.0], [-(1 + 0.8) * 9.81 / impact.v_before[0], -0.8]]
    assert np.abs(run.sensitivity().saltations[0].matrix - expected).max() < 1e-11


def test_what_is_asked_for() -> None:
    run = motions.ball().run()
    with pytest.raises(UnknownNameError, match="start, q, v, parameters, restitution, torque"):
        run.sensitivity("speed")
    with pytest.raises(ArgumentError, match="at most once"):
        run.sensitivity(("start", "q"))
    with pytest.raises(ArgumentError, match="until=9"):
        run.sensitivity(until=9.0)
    S = run.sensitivity("q")
    with pytest.raises(ArgumentError, match="side"):
        S.at(0.1, side="middle")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="known: q"):
        S.group("v")


def test_a_trajectory_from_a_file_does_not_know_its_walls(tmp_path: Path) -> None:
    run = motions.ball().run()
    for other in (Trajectory.load(run.save(tmp_path / "run")), pickle.loads(pickle.dumps(run))):
        with pytest.raises(ArgumentError, match="expected one that simulate"):
            other.sensitivity()
