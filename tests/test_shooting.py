"""Shooting: closed forms of throws, other root finders on whole simulations, and what is out of reach or has no derivative."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import motion_differences as motions
import numpy as np
import pytest
from motion_differences import FLOOR, TIGHT, Motion
from scipy.optimize import brentq, fsolve

import urdf_gibbs as ug
from urdf_gibbs.sensitivity.arrival import arrival
from urdf_gibbs.sensitivity.columns import contact_name

G, HEIGHT, RADIUS = 9.81, 1.0, 0.1
VX, VZ = "v.root_joint.vx", "v.root_joint.vz"


def throw(vx: float = 1.0, vz: float = 2.0, **options: Any) -> ug.Trajectory:
    """A ball thrown from HEIGHT, its centre, above level ground."""
    ball = ug.load(ug.model_path("free_ball"), base="floating")
    own = {"walls": FLOOR, "points": "collision", "restitution": 0.7, **options}
    return ug.simulate(ball, [0, 0, HEIGHT, 0, 0, 0, 1], [vx, 0, vz, 0, 0, 0], 3.0, **own)


def falling_time(vz: float) -> float:
    return (vz + float(np.sqrt(vz**2 + 2.0 * G * (HEIGHT - RADIUS)))) / G


# closed forms -----------------------------------------------------------------------------------------


def test_a_throw_lands_at_its_target() -> None:
    shot = ug.shoot(throw(), (2.0, None, None), change=VX)
    np.testing.assert_allclose(shot.v[0], 2.0 / falling_time(2.0), rtol=1e-9)
    assert len(shot.attempts) == 2, "the place is linear in this speed: one step"


def test_after_a_bounce_it_lands_at_its_target() -> None:
    """The second impact comes 2 e u / g after the first, u being the speed of the fall."""
    shot = ug.shoot(throw(), (2.0, None, None), change=VX, impact=1)
    u = np.sqrt(2.0**2 + 2.0 * G * (HEIGHT - RADIUS))
    np.testing.assert_allclose(shot.v[0], 2.0 / (falling_time(2.0) + 2.0 * 0.7 * u / G), rtol=1e-8)
    again = ug.simulate(shot.trajectory.robot, shot.q, shot.v, 3.0, FLOOR, restitution=0.7, points="collision")
    np.testing.assert_allclose(again.impacts[1].positions[0], [2.0, 0.0, 0.0], atol=1e-8)


def test_place_and_time_together_give_the_parabola_through_both() -> None:
    shot = ug.shoot(throw(), (2.0, 0.5, None), time=1.2)
    np.testing.assert_allclose(shot.v[:3], [2.0 / 1.2, 0.5 / 1.2, 0.5 * G * 1.2 - (HEIGHT - RADIUS) / 1.2], rtol=1e-7)
    assert shot.goals == ("time", "place.x", "place.y") and np.abs(shot.miss).max() <= 1e-8


def test_the_velocity_of_an_impact_can_be_asked_for() -> None:
    shot = ug.shoot(throw(), velocity=(None, None, -6.0), change=VZ)
    np.testing.assert_allclose(shot.v[2], np.sqrt(36.0 - 2.0 * G * (HEIGHT - RADIUS)), rtol=1e-8)


def test_of_many_solutions_the_first_step_is_the_least() -> None:
    """For a miss r of one number with the slopes g: dx = -r g / |g|^2; the slopes of x = vx T(vz) are T and vx dT/dvz."""
    first = throw()
    one = ug.shoot(first, (2.0, None, None), change=[VX, VZ]).attempts[1]
    time, u = falling_time(2.0), np.sqrt(4.0 + 2.0 * G * (HEIGHT - RADIUS))
    slopes = np.array([time, (1.0 + 2.0 / u) / G])
    np.testing.assert_allclose(one.v[[0, 2]] - first.v[0, [0, 2]], (2.0 - time) * slopes / (slopes @ slopes), rtol=1e-8)


def test_a_constant_force_makes_a_ball_arrive_in_time() -> None:
    motion = motions.ball()
    shot = ug.shoot(motion.run(v=np.zeros(1)), time=0.6, change="torque")
    np.testing.assert_allclose(shot.torque, G - 2.0 * 0.95 / 0.6**2, rtol=1e-7)  # of 1 kg that falls 0.95 m
    assert shot.change == ("torque.height",)
    np.testing.assert_array_equal(shot.q, motion.q)


def test_a_start_of_coordinates_is_moved() -> None:
    shot = ug.shoot(throw(), (2.0, None, None), change="q.root_joint.vx")
    np.testing.assert_allclose(shot.q[:3], [2.0 - falling_time(2.0), 0.0, HEIGHT], atol=1e-9)


# other solvers on whole simulations --------------------------------------------------------------------


def test_a_pendulum_strikes_its_stop_a_second_time_when_it_should() -> None:
    motion = motions.pendulum()
    shot = ug.shoot(motion.run(), time=1.0, change="v", contact="pivot", impact=1)
    speed = brentq(lambda v: motion.run(v=np.array([v])).impacts[1].time - 1.0, 0.0, 2.0 * shot.v[0], xtol=1e-12)
    np.testing.assert_allclose(shot.v, speed, atol=1e-7)


def test_a_torque_lands_the_arm_at_a_place_as_brents_method_does() -> None:
    motion = motions.arm(floor=0.5)
    first = motion.run()
    target = float(first.impacts[0].positions[0, 0]) - 0.05

    def miss(torque: float) -> float:
        return float(motion.run(torque=[torque, 0.0, 0.0]).impacts[0].positions[0, 0]) - target

    shot = ug.shoot(first, (target, None, None), change="torque.x")
    np.testing.assert_allclose(shot.torque, [brentq(miss, -20.0, 20.0, xtol=1e-10), 0.0, 0.0], atol=1e-5)


def test_three_impacts_later_it_finds_what_powells_method_finds() -> None:
    """The 12-DOF robot in its circle: two velocities of the start so that the fourth impact is 0.05 m and 5 ms off where it was."""
    motion = motions.branched()
    first = motion.run()
    struck = first.impacts[3]
    wanted = np.array([struck.time + 0.005, struck.positions[0, 0] + 0.05])

    def miss(x: np.ndarray) -> np.ndarray:
        v = motion.v.copy()
        v[[0, 2]] = x
        found = motion.run(v=v).impacts[3]
        return np.array([found.time, found.positions[0, 0]]) - wanted

    shot = ug.shoot(first, (wanted[1], None, None), time=wanted[0], change=["v.X1", "v.q1"], impact=3)
    np.testing.assert_allclose(miss(shot.v[[0, 2]]), 0.0, atol=1e-7)
    np.testing.assert_allclose(shot.v[[0, 2]], fsolve(miss, shot.v[[0, 2]] + 1e-3, xtol=1e-10), atol=1e-5)


@pytest.mark.parametrize(
    ("motion", "number"),
    [(motions.block(), 1), (motions.moving_table(), 1), (motions.planar(), 0), (motions.arm(floor=0.5), 1), (motions.standing(0.5), 0)],
    ids=["corners of a block", "vibrating table", "planar base", "arm", "held corners"],
)
def test_derivatives_of_an_arrival_are_those_of_differences(motion: Motion, number: int) -> None:
    """Along a change of velocities and torque that keeps what is held; differences of the fourth order of whole simulations."""
    run, nv = motion.run(), motion.robot.nv
    impact = run.impacts[number]
    at = int(np.argmin(impact.normal_velocities_before))  # what strikes, where others are held
    held = (
        [name for name in motion.robot.velocity_names if name.startswith("root_joint")] if run.phases and run.phases[0].start == 0 else []
    )
    free = np.array([name not in held for name in motion.robot.velocity_names], dtype=float)
    rng = np.random.default_rng(1)
    dv, dtau = free * rng.normal(size=nv), free * rng.normal(size=nv)

    def told(h: float) -> np.ndarray:
        found = motion.run(v=motion.v + h * dv, torque=h * dtau).impacts[number]
        return np.concatenate([[found.time], found.positions[at], found.velocities_before[at]])

    h = 1e-4
    differences = (8.0 * (told(h) - told(-h)) - (told(2.0 * h) - told(-2.0 * h))) / (12.0 * h)
    found = arrival(run, ("v", "torque"), number, contact_name(impact.points[at], impact.walls[at]))
    got = np.concatenate([found.time[None], found.place, found.velocity]) @ np.concatenate([dv, dtau])
    np.testing.assert_allclose(got, differences, rtol=1e-6, atol=1e-6 * np.nanmax(np.abs(differences)))  # noise of the runs over h


def test_it_converges_quadratically() -> None:
    motion = motions.branched()
    at = motion.run().impacts[4].positions[0]
    angle = np.arctan2(at[1], at[0]) + 0.1
    shot = ug.shoot(motion.run(), (2.5 * np.cos(angle), 2.5 * np.sin(angle), None), contact="O1", impact=1)
    misses = [attempt.distance for attempt in shot.attempts if attempt.distance > 1e-7]
    assert len(misses) >= 4 and shot.attempts[-1].distance < 1e-8
    assert all(after < 3.0 * before**2 for before, after in pairwise(misses))


# what it refuses --------------------------------------------------------------------------------------


def test_friction_in_the_impact_itself_does_not_matter_but_before_it_does() -> None:
    shot = ug.shoot(throw(friction=0.5), (2.0, None, None), change=VX)
    np.testing.assert_allclose(shot.v[0], 2.0 / falling_time(2.0), rtol=1e-9)
    with pytest.raises(ug.SensitivityError, match="friction"):
        ug.shoot(throw(friction=0.5), (2.0, None, None), change=VX, impact=1)


def test_a_speed_below_that_of_the_fall_is_out_of_reach() -> None:
    with pytest.raises(ug.ShootingError) as found:
        ug.shoot(throw(), velocity=(None, None, -3.0), change=VZ)
    least = np.sqrt(2.0 * G * (HEIGHT - RADIUS))
    assert not found.value.shot.converged
    assert found.value.shot.miss[0] == pytest.approx(3.0 - least, abs=0.01), "it has come as near as can be"


def test_what_nothing_moves_is_named() -> None:
    with pytest.raises(ug.ShootingError, match=r"no small change of v\.root_joint\.vx moves place\.z") as found:
        ug.shoot(throw(), (2.0, None, 0.5), change=VX)
    assert abs(found.value.shot.miss[-1]) == pytest.approx(0.5)


def test_too_few_iterations_are_told() -> None:
    with pytest.raises(ug.ShootingError, match=r"misses by .* after 1 steps: these were all the iterations, 1"):
        ug.shoot(throw(), (2.0, None, None), change=VZ, iterations=1)


def test_a_tie_and_a_controller_have_no_derivative() -> None:
    with pytest.raises(ug.SensitivityError, match="same time"):
        ug.shoot(motions.branched(symmetric=True).run(), time=0.4, contact="O1")
    run = throw(controller=lambda t, q, v: np.zeros(6))
    with pytest.raises(ug.SensitivityError, match="controllers"):
        ug.shoot(run, (2.0, None, None))


def test_contacts_that_are_held_from_the_start_stay() -> None:
    motion = motions.standing(0.5)
    first = motion.run()
    shot = ug.shoot(first, time=first.impacts[0].time - 0.05, change="v.b")
    assert shot.trajectory.impacts[0].time == pytest.approx(first.impacts[0].time - 0.05, abs=1e-8)
    with pytest.raises(ug.ArgumentError, match=r"v\.root_joint\.vz.* held from the start"):
        ug.shoot(first, time=0.3, change="v")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda run: ug.shoot(run), "nothing is asked for"),
        (lambda run: ug.shoot(run, time=9.0), "time=9.0, expected a number from 0 to 3"),
        (lambda run: ug.shoot(run, time=1.0, impact=200), "expected impact 200 to happen"),
        (lambda run: ug.shoot(run, time=1.0, contact="foot"), "no contact named 'foot'"),
        (lambda run: ug.shoot(run, time=1.0, change="vx"), "no entry to change named 'vx'"),
        (lambda run: ug.shoot(motions.pendulum().run(), (0.0, 0.0, 0.0)), "joint limit, which has no place"),
        (lambda run: ug.shoot(motions.branched(symmetric=True).run(), time=0.4), "several contacts strike in impact 0: O1, O5"),
    ],
)
def test_wrong_arguments_are_told(call: Callable[[ug.Trajectory], Any], words: str) -> None:
    with pytest.raises(ug.ArgumentError, match=words):
        call(throw())


def test_a_trial_that_misses_everything_is_halved() -> None:
    """From a gentle guess Newton's first step asks for more than the run's length allows: parts of it lead on."""
    ball = throw(vz=-3.0).robot
    first = ug.simulate(ball, [0, 0, HEIGHT, 0, 0, 0, 1], [1, 0, -3.0, 0, 0, 0], 0.9, FLOOR, restitution=0.7, points="collision", **TIGHT)
    shot = ug.shoot(first, time=0.85, change=VZ)
    np.testing.assert_allclose(shot.v[2], 0.5 * G * 0.85 - (HEIGHT - RADIUS) / 0.85, rtol=1e-7)
    assert min(attempt.part for attempt in shot.attempts[1:]) < 1.0


def test_the_result_tells_what_was_done() -> None:
    shot = ug.shoot(throw(), (2.0, None, None), change=VX)
    assert repr(shot).startswith("<Shot of ball.sphere0|plane: hits by") and shot.contact == "ball.sphere0|plane"
    lines = shot.table().splitlines()
    assert len(lines) == 1 + len(shot.attempts) and "place.x" in lines[0]
    assert not shot.v.flags.writeable and shot.trajectory is shot.attempts[-1].trajectory
