"""Where a motion has no derivative: ties, contacts without force, grazing, accumulation, and what is not covered."""

from __future__ import annotations

from typing import Any

import motion_differences as motions
import numpy as np
import pytest
from motion_differences import FLOOR, Motion, quiet
from urdf_text import joint, link, robot

from urdf_gibbs import walls
from urdf_gibbs.errors import SensitivityError

G = 9.81


def refusal(motion: Motion, **options: Any) -> SensitivityError:
    with pytest.raises(SensitivityError) as found:
        motion.run(**options).sensitivity()
    return found.value


def test_the_symmetric_start_of_branched12_is_a_tie() -> None:
    motion = motions.branched(symmetric=True)
    error, run = refusal(motion, restitution=1.0), motion.run(restitution=1.0)
    assert error.time == run.impacts[0].time and error.contacts == ("O1|circle", "O5|circle")
    assert "same time" in error.reason and str(error.contacts[0]) in str(error)
    # The spread is that of motions nearby: one contact earlier, or the other, by 1e-6 s.
    ends = []
    for side in (1.0, -1.0):
        q = motion.q + side * 1e-5 * np.eye(12)[0]
        found = motion.run(q=q, restitution=1.0)
        assert [impact.points for impact in found.impacts[:2]] == [("O1",), ("O5",)][:: int(side)] or len(found.impacts[0].points) == 1
        ends.append(found.impacts[1].v_after)
    apart = np.abs(ends[0] - ends[1]).max()
    assert 0.5 * apart < error.spread < 2.0 * apart and apart > 0.1
    before = error.sensitivity
    assert before is not None and before.t[-1] == error.time and not before.saltations


def test_until_stops_before_a_tie() -> None:
    motion = motions.branched(symmetric=True)
    S = motion.run().sensitivity(until=0.38)
    assert S.t[-1] == 0.38 and S.values.shape[1:] == (24, 24)


def cradle() -> Motion:
    text = robot(link("w", ""), *(link(f"b{k}") + joint(f"j{k}", "prismatic", "w", f"b{k}", axis=(1, 0, 0)) for k in range(3)))
    own = {"points": [(f"b{k}", (0, 0, 0), 0.5) for k in range(3)], "pairs": [("b0", "b1"), ("b1", "b2")], "gravity": (0, 0, 0)}
    return Motion(quiet(text), np.array([0.0, 1.5, 2.5]), np.array([1.0, 0.0, 0.0]), 1.0, own)


def test_balls_that_touch_without_a_force() -> None:
    error = refusal(cradle())
    assert error.time == pytest.approx(0.5) and set(error.contacts) == {"b0-b1", "b1-b2"}


def test_balls_that_are_apart_pass_the_blow_on() -> None:
    motion = Motion(cradle().robot, np.array([0.0, 1.5, 2.6]), cradle().v, 1.0, cradle().options)
    found = motion.run().sensitivity().values[-1]
    assert np.abs(found - motion.start_differences(np.eye(6))).max() < 1e-6


@pytest.mark.parametrize("faster", [0.0, 1e-11, -1e-10], ids=["touches", "strikes", "misses"])
def test_grazing(faster: float) -> None:
    """A ball thrown up to a ceiling that it just reaches."""
    ceiling = walls.Plane(normal=(0, 0, -1), point=(0, 0, 1.05))
    own = {"walls": ceiling, "points": [("ball", (0, 0, 0), 0.05)]}
    error = refusal(Motion(motions.ball().robot, np.zeros(1), np.array([np.sqrt(2.0 * G) + faster]), 0.8, own))
    assert "grazes" in error.reason and error.contacts == ("ball|plane",)
    assert error.time == pytest.approx(np.sqrt(2.0 / G), abs=1e-5) and error.spread < 1e-9


def test_a_ball_that_stays_clear_of_the_ceiling_has_a_derivative() -> None:
    own = {"walls": walls.Plane(normal=(0, 0, -1), point=(0, 0, 1.05)), "points": [("ball", (0, 0, 0), 0.05)]}
    run = Motion(motions.ball().robot, np.zeros(1), np.array([np.sqrt(2.0 * G) - 1e-6]), 0.8, own).run()
    assert np.abs(run.sensitivity().values[-1] - [[1.0, 0.8], [0.0, 1.0]]).max() < 1e-12


def test_the_end_of_bouncing() -> None:
    """A ball with e = 0.5 comes to rest after infinitely many bounces in a finite time."""
    motion = motions.ball(restitution=0.5)
    longer = Motion(motion.robot, np.array([1.05]), np.zeros(1), 3.0, motion.options)
    error, fall = refusal(longer), np.sqrt(2.0 / G)
    assert "Zeno" in error.reason and error.contacts == ("ball|plane",)
    assert error.time == pytest.approx(3.0 * fall, abs=1e-5)
    assert error.sensitivity is not None and len(error.sensitivity.saltations) > 10


def test_what_is_not_covered() -> None:
    motion = motions.ball()
    controlled = refusal(motion, controller=lambda t, q, v: 0.0 * v)
    assert "controllers" in controlled.reason and controlled.sensitivity is None
    assert "time stepping" in refusal(motion, scheme="time_stepping", law="newton").reason
    assert "dry friction" in refusal(motions.pendulum(), joint_friction=0.1).reason
    rough = refusal(motion, friction=0.5)
    assert "friction" in rough.reason and rough.time == pytest.approx(motion.run().impacts[0].time)
    resting = Motion(motion.robot, np.array([0.05]), np.zeros(1), 0.5, {**motion.options, "friction": 0.5, "walls": FLOOR})
    assert "held contacts with friction" in refusal(resting).reason


def test_a_rough_wall_that_nothing_touches_does_not_matter() -> None:
    motion = Motion(motions.ball().robot, np.array([5.0]), np.zeros(1), 0.5, {**motions.ball().options, "friction": 0.5})
    assert np.abs(motion.run().sensitivity().values[-1] - [[1.0, 0.5], [0.0, 1.0]]).max() < 1e-12
