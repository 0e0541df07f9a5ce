"""The hybrid simulation against closed forms: bounces, impacts, rest, sliding, leaving, free flight, and the search for contact."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from random_trees import random_tree
from urdf_text import POINT_IN_PLANE, inertial, joint, link, massless, point_mass, robot

from urdf_gibbs import Robot, Simulator, Trajectory, frame_placement, jacobian, load, simulate, walls
from urdf_gibbs.errors import UrdfWarning
from urdf_gibbs.oracle.pinocchio import Oracle

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
special = pytest.importorskip("scipy.special")
rotation = pytest.importorskip("scipy.spatial.transform").Rotation

Array = NDArray[np.float64]

G = 9.81
WEIGHTLESS = (0.0, 0.0, 0.0)
TOLERANCE = 1e-10  # rtol and atol of the integrator by default
ROUND_OFF = 1e-12  # a few hundred operations on numbers of order one, eps = 2e-16; polynomials are integrated to that
FLIGHT = 1e-8  # what 1e-10 in each of some tens of steps adds up to

BALL = robot(link("w", ""), link("ball"), joint("z", "prismatic", "w", "ball", axis=(0, 0, 1)))
# A point mass in space.
SPACE = robot(
    link("w", ""),
    massless("sx"),
    massless("sy"),
    point_mass("m", 1.0, (0, 0, 0)),
    joint("x", "prismatic", "w", "sx", axis=(1, 0, 0)),
    joint("y", "prismatic", "sx", "sy", axis=(0, 1, 0)),
    joint("z", "prismatic", "sy", "m", axis=(0, 0, 1)),
)
CRADLE = robot(link("w", ""), *(link(f"b{k}") + joint(f"j{k}", "prismatic", "w", f"b{k}", axis=(1, 0, 0)) for k in range(3)), name="cradle")
SPHERES = {"points": [(f"b{k}", (0, 0, 0), 0.5) for k in range(3)], "pairs": [("b0", "b1"), ("b1", "b2")], "gravity": WEIGHTLESS}
ROD = robot(link("rod", inertial(1.0, moments=(1e-3, 1 / 12, 1 / 12))))
TIPS = [("rod", (0.5, 0, 0)), ("rod", (-0.5, 0, 0))]
STOP = 0.5
PENDULUM = robot(
    link("w", ""),
    point_mass("b", 1.0, (0, 0, -1)),
    joint("j", "revolute", "w", "b", axis=(0, 1, 0), limit=f'<limit lower="-2" upper="{STOP}" effort="1" velocity="1"/>'),
)
MASS, SIDE, HEIGHT = 2.0, 1.0, 0.4
BLOCK = robot(link("block", inertial(MASS, moments=(0.2, 0.3, 0.4))))
CORNERS = [("block", (sx * SIDE / 2, sy * SIDE / 2, -HEIGHT / 2)) for sx in (1, -1) for sy in (1, -1)]
# Two links of length 1 with a unit point mass at their ends, in the x-z plane.
ARM = robot(
    link("w", ""),
    point_mass("upper", 1.0, (1, 0, 0)),
    point_mass("lower", 1.0, (1, 0, 0)),
    joint("shoulder", "continuous", "w", "upper", axis=(0, 1, 0)),
    joint("elbow", "continuous", "upper", "lower", axis=(0, 1, 0), xyz=(1, 0, 0)),
)


@cache
def made(text: str, base: Any = "fixed") -> Robot:
    return load(text, base=base)


def run(text: str, q: ArrayLike, v: ArrayLike | None, duration: float, *args: Any, **options: Any) -> Trajectory:
    trajectory = simulate(made(text, options.pop("base", "fixed")), q, v, duration, *args, **options)
    assert trajectory.status == "complete"
    assert trajectory.t[-1] == duration
    return trajectory


def times(trajectory: Trajectory) -> Array:
    return np.array([impact.time for impact in trajectory.impacts])


# bouncing ball ----------------------------------------------------------------------------------------


def bounces(e: float, count: int, height: float = 1.0) -> Array:
    """Times of the impacts of a ball dropped from a height."""
    first = np.sqrt(2.0 * height / G)
    return first * np.array([1.0 + 2.0 * sum(e**j for j in range(1, k + 1)) for k in range(count)])


RESTITUTIONS = pytest.mark.parametrize(("e", "end"), [(0.5, 1.3545709), (0.8, 4.0637128), (0.9, 8.5789492)])


@RESTITUTIONS
def test_bounces_come_in_a_geometric_series(e: float, end: float) -> None:
    found = run(BALL, [1.0], [0.0], 12.0, walls.Plane(), restitution=e)
    count = len(found.impacts)
    assert np.abs(times(found) - bounces(e, count)).max() < ROUND_OFF * count
    before = np.array([impact.v_before[0] for impact in found.impacts])
    after = np.array([impact.v_after[0] for impact in found.impacts])
    assert np.abs(before + np.sqrt(2 * G) * e ** np.arange(count)).max() < ROUND_OFF * count
    assert np.abs(after[:-1] + e * before[:-1]).max() < 1e-15 * np.sqrt(2 * G)
    assert after[-1] == 0.0  # the last bounce is not made
    # The height at an impact is good to 1e-15 m.
    energy = np.array([(impact.energy_before, impact.energy_after) for impact in found.impacts[:-1]])
    assert np.allclose(energy[:, 1], e**2 * energy[:, 0], rtol=1e-12, atol=1e-13)
    assert 2 * abs(before[-1]) * e / G < 1e-6 <= 2 * abs(after[-2]) / G  # shorter than zeno, and the one before was not


@RESTITUTIONS
def test_bounces_accumulate_and_the_ball_rests(e: float, end: float) -> None:
    found = run(BALL, [1.0], [0.0], 12.0, walls.Plane(), restitution=e)
    (phase,) = found.phases
    assert (phase.point, phase.wall, phase.end) == ("ball", "plane", np.inf)
    assert abs(phase.accumulation - end) < 1e-7
    assert abs(phase.accumulation - np.sqrt(2.0 / G) * (1 + e) / (1 - e)) < 1e-10  # a hundred impacts to rounding
    assert phase.start == times(found)[-1] < phase.accumulation
    assert phase.accumulation - phase.start < 1e-6 / (1 - e)
    rest = found.t > phase.start
    assert np.abs(found.q[rest]).max() < 1e-14 and not found.v[rest].any()
    assert np.abs(found.contact_forces[rest] - G).max() < ROUND_OFF
    assert not found.contact_forces[found.t < phase.start].any()
    q, v = found.at(np.linspace(phase.start, 12.0, 50))
    assert np.abs(q).max() < 1e-14 and not v.any()


def test_a_perfect_ball_never_stops() -> None:
    found = run(BALL, [1.0], [0.0], 100.0, walls.Plane(), restitution=1.0)
    count = int((100.0 / np.sqrt(2.0 / G) - 1.0) / 2.0) + 1
    assert len(found.impacts) == count and not found.phases
    assert np.abs(times(found) - bounces(1.0, count)).max() < ROUND_OFF * count**2 / 10  # errors of the speed add up twice
    assert np.abs(found.energies.total - G).max() < ROUND_OFF * count


# several bodies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("e", "after"), [(1.0, (-1 / 3, 2 / 3, 2 / 3)), (0.5, (0.0, 0.5, 0.5))])
def test_a_cradle_that_touches_is_struck_at_once(e: float, after: tuple[float, ...]) -> None:
    found = run(CRADLE, [-0.5, 1.0, 2.0], [1, 0, 0], 1.0, restitution=e, **SPHERES)
    (impact,) = found.impacts
    assert impact.points == ("b0-b1", "b1-b2") and impact.walls == ("", "")
    assert abs(impact.time - 0.5) < ROUND_OFF
    assert np.abs(impact.v_after - after).max() < ROUND_OFF
    assert np.abs(found.v[-1] - after).max() < ROUND_OFF


def test_a_cradle_with_gaps_passes_the_motion_on() -> None:
    found = run(CRADLE, [-0.5, 1.0, 2.0 + 1e-3], [1, 0, 0], 1.0, restitution=1.0, **SPHERES)
    assert [impact.points for impact in found.impacts] == [("b0-b1",), ("b1-b2",)]
    assert np.abs(times(found) - [0.5, 0.501]).max() < ROUND_OFF
    assert np.abs(found.v[-1] - [0, 0, 1]).max() < ROUND_OFF


# From both sides on the ball between them, the second later by less or more than the tie, also at the speed after the first. By hand: one after the other they are
# (1, 0, -1), (1/4, 3/4, -1), (1/4, -9/16, 5/16), (-23/64, 3/64, 5/16).
@pytest.mark.parametrize("tie", [1e-8, 1e-6])
@pytest.mark.parametrize(("share", "after", "count"), [(0.5, (-0.5, 0.0, 0.5), 1), (4.0, (-23 / 64, 3 / 64, 5 / 16), 3)])
def test_contacts_within_the_tie_are_solved_together(tie: float, share: float, after: tuple[float, ...], count: int) -> None:
    found = run(CRADLE, [-0.5, 1.0, 2.5 + share * tie], [1, 0, -1], 1.0, restitution=0.5, tie=tie, **SPHERES)
    assert len(found.impacts) == count
    assert np.abs(found.v[-1] - after).max() < ROUND_OFF


# The gap behind the ball that is struck closes only by the impact itself, at 1 m/s.
@pytest.mark.parametrize("tie", [1e-8, 1e-6])
@pytest.mark.parametrize(("share", "after"), [(0.5, (-1 / 3, 2 / 3, 2 / 3)), (2.0, (0, 0, 1))])
def test_a_gap_that_the_impact_closes_within_the_tie_counts_as_closed(tie: float, share: float, after: tuple[float, ...]) -> None:
    found = run(CRADLE, [-0.5, 1.0, 2.0 + share * tie], [1, 0, 0], 1.0, restitution=1.0, tie=tie, **SPHERES)
    assert np.abs(found.v[-1] - after).max() < ROUND_OFF


@pytest.mark.parametrize("base", ["floating", "planar"])
def test_the_tip_of_a_falling_rod(base: str) -> None:
    """m = L = v = 1, 45 degrees, e = 0.5: the tip's inverse mass is 1 + 12 (L/2 cos 45)^2 = 2.5."""
    rod, a, fall = made(ROD, base), np.pi / 4, 0.3
    centre = 0.5 * np.sin(a) + fall
    if base == "floating":  # the x axis of the rod points down
        q, up = np.array([0, 0, centre, 0, np.sin(a / 2), 0, np.cos(a / 2)]), (0, 0, 1)
        v = np.r_[rotation.from_quat(q[3:]).inv().apply([0, 0, -1]), 0, 0, 0]
    else:
        q, up = np.array([0, centre, -a]), (0, 1, 0)
        v = np.array([np.sin(a), -np.cos(a), 0.0])
    found = simulate(rod, q, v, 0.5, walls.Plane(normal=up), restitution=0.5, points=TIPS, gravity=WEIGHTLESS)
    (impact,) = found.impacts
    assert abs(impact.time - fall) < ROUND_OFF
    assert np.abs(impact.impulses - 0.6).max() < ROUND_OFF
    spin = np.linalg.norm(impact.v_after[3:]) if base == "floating" else abs(impact.v_after[2])
    assert abs(spin - 0.6 * 12 * 0.5 * np.cos(a)) < ROUND_OFF and abs(spin - 2.545584) < 1e-6
    assert abs(impact.normal_velocities_before[0] + 1.0) < ROUND_OFF and abs(impact.normal_velocities_after[0] - 0.5) < ROUND_OFF
    assert abs(impact.energy_loss - 0.5 * (1 - 0.25) / 2.5) < ROUND_OFF
    assert np.abs(impact.positions[0] - np.dot(impact.positions[0], [1, 0, 0]) * np.array([1, 0, 0])).max() < ROUND_OFF
    # The angle between the reversed velocity and the normal: the tip comes straight down.
    assert abs(impact.angles_of_attack[0]) < 1e-7  # an arc cosine near 1 has half the digits


# vibrating table --------------------------------------------------------------------------------------

FREQUENCY = 5.0
OMEGA = 2 * np.pi * FREQUENCY


def on_table(gamma: float, periods: int, motion: str = "vibration", push: float = 1.01) -> Trajectory:
    """A ball that takes off from the table near its orbit of period 1, e = 0.5."""
    e, A = 0.5, gamma * G / OMEGA**2
    phase = np.arccos(np.pi * (1 - e) / (gamma * (1 + e)))

    def moved(t: float) -> tuple[float, ...]:
        return 0.0, 0.0, A * np.sin(OMEGA * t + phase)

    table = walls.Plane(motion=walls.Vibration((0, 0, A), OMEGA, phase) if motion == "vibration" else moved)
    return run(BALL, [A * np.sin(phase)], [push * G / FREQUENCY / 2], periods / FREQUENCY, table, restitution=e)


@pytest.mark.parametrize("gamma", [1.1, 1.3, 1.5])
def test_a_ball_on_a_vibrating_table_finds_the_period(gamma: float) -> None:
    found = on_table(gamma, 400)
    at = times(found)
    assert abs(len(at) - 400) <= 1
    assert abs(np.diff(at[:3]) * FREQUENCY - 1).max() > 1e-3  # it was not there from the beginning
    assert np.abs(np.diff(at[-20:]) - 1 / FREQUENCY).max() < 1e-9
    assert np.abs(at[-20:] * FREQUENCY - np.round(at[-20:] * FREQUENCY)).max() < 1e-9  # at the phase of the closed form
    assert not any(impact.energy_gain for impact in found.impacts[-5:])  # the table does the work


@pytest.mark.parametrize("gamma", [1.6, 1.7])
def test_outside_the_window_the_period_is_lost(gamma: float) -> None:
    at = times(on_table(gamma, 400))
    assert np.abs(np.diff(at[-20:]) * FREQUENCY - 1).max() > 1e-3


def test_a_function_moves_a_wall_as_a_vibration_does() -> None:
    at = times(on_table(1.3, 60, "function"))
    # Sixty impacts at velocities that are exact to 1e-11 or so; the orbit attracts.
    assert np.abs(np.diff(at[-5:]) - 1 / FREQUENCY).max() < 1e-7
    assert np.abs(at[-5:] * FREQUENCY - np.round(at[-5:] * FREQUENCY)).max() < 1e-6


def test_a_drifting_wall_is_met_where_it_is() -> None:
    found = run(BALL, [1.0], [-0.5], 2.0, walls.Plane(motion=walls.Drift((0, 0, 0.5))), restitution=0.5, gravity=WEIGHTLESS)
    (impact,) = found.impacts
    assert abs(impact.time - 1.0) < ROUND_OFF and abs(impact.positions[0, 2] - 0.5) < ROUND_OFF
    assert abs(impact.normal_velocities_before[0] + 1) < ROUND_OFF and abs(impact.v_after[0] - 1.0) < ROUND_OFF  # 0.5 + 0.5
    assert impact.energy_after > impact.energy_before and not impact.energy_gain  # the wall does the work


def test_a_ball_leaves_a_table_that_falls_faster() -> None:
    """Without bounces it rides on A sin(wt) until the table's acceleration is -g: sin(wt) = 1 / Gamma."""
    gamma = 1.5
    A = gamma * G / OMEGA**2
    found = run(BALL, [0.0], [A * OMEGA], 0.08, walls.Plane(motion=walls.Vibration((0, 0, A), OMEGA)), restitution=0.0)
    (phase,) = found.phases
    assert phase.start == 0.0 and abs(phase.end - np.arcsin(1 / gamma) / OMEGA) < 1e-9
    held = found.t < phase.end
    assert np.abs(found.contact_forces[held, 0] - G * (1 - gamma * np.sin(OMEGA * found.t[held]))).max() < FLIGHT
    assert np.abs(found.q[held, 0] - A * np.sin(OMEGA * found.t[held])).max() < ROUND_OFF
    q, v = found.at(phase.end)
    rest = found.t - phase.end
    assert np.abs((found.q[:, 0] - q - v * rest + 0.5 * G * rest**2)[~held]).max() < ROUND_OFF


# pendulum ---------------------------------------------------------------------------------------------


def swing(amplitude: float, angle: float) -> float:
    """Time of a pendulum of length 1 from the bottom to an angle."""
    k = np.sin(amplitude / 2)
    return float(special.ellipkinc(np.arcsin(np.clip(np.sin(angle / 2) / k, -1, 1)), k * k) / np.sqrt(G))


@pytest.mark.parametrize("e", [0.3, 0.8, 1.0])
def test_a_pendulum_strikes_its_stop(e: float) -> None:
    start = -1.0
    first = swing(1.0, 1.0) + swing(1.0, STOP)
    speed = np.sqrt(2 * G * (np.cos(STOP) - np.cos(start)))
    back = np.arccos(np.cos(STOP) - (e * speed) ** 2 / (2 * G))
    second = first + 2 * (swing(back, back) + swing(back, STOP))
    found = run(PENDULUM, [start], [0.0], second + 0.1, joint_limits=True, restitution=e)
    assert [(impact.points, impact.walls) for impact in found.impacts] == [(("j",), ("upper",))] * 2
    assert np.abs(times(found) - [first, second]).max() < FLIGHT
    for impact, before in zip(found.impacts, (speed, e * speed), strict=True):
        assert abs(impact.v_before[0] - before) < FLIGHT
        assert abs(impact.v_after[0] + e * impact.v_before[0]) < ROUND_OFF
        assert abs(impact.impulses[0] - (1 + e) * impact.v_before[0]) < ROUND_OFF  # m L^2 = 1
    assert found.q.max() < STOP + 1e-12


def test_limits_are_off_unless_asked_for() -> None:
    assert run(PENDULUM, [-1.0], [0.0], 1.5).q.max() == pytest.approx(1.0, abs=1e-2)


@pytest.mark.parametrize("law", ["newton_equality", "poisson"])
def test_for_one_contact_the_laws_are_one(law: str) -> None:
    def thrown(law: str) -> Trajectory:
        ground = walls.Plane((0, 1, 0))
        return run(ROD, [0, 1, 0.3], [0.2, 0, 1.0], 0.9, ground, law, 0.7, base="planar", gravity=(0, -G, 0), points=TIPS)

    found, reference = thrown(law), thrown("newton")
    assert len(found.impacts) == len(reference.impacts) >= 3 and all(impact.k == 1 for impact in reference.impacts)
    assert np.abs(times(found) - times(reference)).max() < 1e-10  # rounding, some times larger after each impact
    assert np.abs(found.q[-1] - reference.q[-1]).max() < 1e-9
    assert found.impacts[0].law == law


# lasting contact --------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.3, 1e-2, 1e-4])
def test_a_mass_leaves_a_smooth_cylinder_at_two_thirds(start: float) -> None:
    leaves = np.arccos(2 / 3 * np.cos(start))

    def slow(s: float) -> float:  # d theta / omega with theta = start + s^2, which takes the singularity out
        return 2 * s / np.sqrt(4 * G * np.sin(start + s * s / 2) * np.sin(s * s / 2)) if s else 2 / np.sqrt(2 * G * np.sin(start))

    duration, _ = integrate.quad(slow, 0.0, np.sqrt(leaves - start), epsabs=1e-12, epsrel=1e-12, limit=200)
    found = run(
        POINT_IN_PLANE, [np.sin(start), np.cos(start)], None, 6.0, walls.Cylinder(1.0, axis=(0, 1, 0), side="outside"), restitution=0.0
    )
    (phase,) = found.phases
    assert phase.start == 0.0 and np.isnan(phase.accumulation) and not found.impacts
    # The start is unstable: an error of the angle grows by exp(sqrt(g) t), 1 / start in all.
    assert abs(phase.end - duration) < 1e-10 / start + FLIGHT
    q, v = found.at(phase.end)
    assert abs(q[1] / np.hypot(*q) - np.cos(leaves)) < FLIGHT
    assert abs(0.5 * v @ v - G * (np.cos(start) - np.cos(leaves))) < FLIGHT
    held = found.t <= phase.end
    assert np.abs(np.hypot(*found.q[held].T) - 1).max() < 1e-13  # projected onto the wall after each step
    force = G * (3 * found.q[held, 1] - 2 * np.cos(start))
    assert np.abs(found.contact_forces[held, 0] - force)[:-1].max() < 1e-7
    assert (np.hypot(*found.q[~held].T) > 1).all() and not found.contact_forces[~held].any()


def test_a_ladder_leaves_the_wall_at_two_thirds_of_its_height() -> None:
    """A rod against a smooth wall on a smooth floor, from rest: w^2 = 3 g (sin a - sin theta), and the floor holds on."""
    a = 1.2
    leaves = np.arcsin(2 / 3 * np.sin(a))

    def slow(s: float) -> float:  # d theta / w with theta = a - s^2
        return 2 * s / np.sqrt(6 * G * np.cos(a - s * s / 2) * np.sin(s * s / 2)) if s else 2 / np.sqrt(3 * G * np.cos(a))

    expected, _ = integrate.quad(slow, 0.0, np.sqrt(a - leaves), epsabs=1e-12, epsrel=1e-12)
    q = [0.5 * np.cos(a), 0.5 * np.sin(a), np.pi - a]
    sides = [walls.Plane((0, 1, 0), name="floor"), walls.Plane((1, 0, 0), name="wall")]
    found = run(ROD, q, None, expected + 0.05, sides, restitution=0.0, base="planar", gravity=(0, -G, 0), points=TIPS)
    held = {phase.wall: phase for phase in found.phases}
    assert len(found.phases) == 2 and not found.impacts
    assert (held["floor"].start, held["floor"].end, held["wall"].start) == (0.0, np.inf, 0.0)
    assert abs(held["wall"].end - expected) < FLIGHT
    (_, _, angle), v = found.at(held["wall"].end)
    assert abs(np.pi - angle - leaves) < FLIGHT and abs(v[2] - np.sqrt(G * np.sin(a))) < FLIGHT
    x = found.q[:, 0] - 0.5 * np.abs(np.cos(found.q[:, 2]))
    assert (x[found.t > held["wall"].end] > 0).all()
    foot = found.q[:, 1] - 0.5 * np.sin(found.q[:, 2])
    assert np.abs(foot).max() < 1e-13


def test_a_ball_slides_in_a_bowl_as_a_pendulum() -> None:
    """A sphere of 0.2 m in a smooth trough of 1.2 m: its centre is a pendulum of 1 m."""
    swept = 0.9
    period = 4 * swing(swept, swept)
    start = np.array([np.sin(swept), -np.cos(swept)])
    trough = walls.Cylinder(1.2, axis=(0, 1, 0))
    found = run(POINT_IN_PLANE, start, None, period, trough, restitution=0.0, points=[("m", (0, 0, 0), 0.2)])
    assert [(phase.start, phase.end) for phase in found.phases] == [(0.0, np.inf)] and not found.impacts
    for share, x in ((0.25, 0.0), (0.5, -np.sin(swept)), (0.75, 0.0), (1.0, np.sin(swept))):
        assert abs(found.at(share * period)[0][0] - x) < FLIGHT
    assert np.abs(np.hypot(*found.q.T) - 1).max() < 1e-13
    assert np.abs(found.contact_forces[:, 0] - G * (-3 * found.q[:, 1] - 2 * np.cos(swept))).max() < 1e-7


def test_two_balls_come_to_rest_on_each_other() -> None:
    text = robot(link("w", ""), *(link(f"b{k}") + joint(f"j{k}", "prismatic", "w", f"b{k}", axis=(0, 0, 1)) for k in range(2)))
    spheres = {"points": [("b0", (0, 0, 0), 0.1), ("b1", (0, 0, 0), 0.1)], "pairs": [("b0", "b1")]}
    found = run(text, [1.0, 1.7], None, 10.0, walls.Plane(), restitution=0.5, **spheres)
    assert np.abs(found.q[-1] - [0.1, 0.3]).max() < 1e-13 and np.abs(found.v[-1]).max() < 1e-14
    forces = dict(zip(found.contact_names, found.contact_forces[-1], strict=True))
    assert abs(forces["b0|plane"] - 2 * G) < 1e-10 and abs(forces["b0-b1"] - G) < 1e-10 and forces["b1|plane"] == 0.0
    assert (found.q[:, 1] - found.q[:, 0]).min() > 0.2 - 1e-10 and found.q[:, 0].min() > 0.1 - 1e-10
    assert np.diff(found.energies.total).max() < 1e-11


def test_a_force_that_is_switched_on_lifts_a_ball_at_rest() -> None:
    def lift(t: float, q: Array, v: Array) -> list[float]:
        return [0.5 * G if t < 0.45 else 2 * G]

    found = run(BALL, [0.0], None, 1.0, walls.Plane(), restitution=0.5, controller=lift, controller_rate=10.0)
    (phase,) = found.phases
    assert phase.start == 0.0 and abs(phase.end - 0.5) < ROUND_OFF and not found.impacts
    assert np.abs(found.contact_forces[found.t < 0.45, 0] - 0.5 * G).max() < ROUND_OFF
    assert not found.contact_forces[found.t > 0.5 + ROUND_OFF].any()
    assert abs(found.q[-1, 0] - 0.5 * G * 0.25) < ROUND_OFF * 10


def test_after_each_rest_the_table_throws_the_ball_at_the_same_phase() -> None:
    gamma = 1.2
    A = gamma * G / OMEGA**2
    found = run(BALL, [0.3], None, 20.0, walls.Plane(motion=walls.Vibration((0, 0, A), OMEGA)), restitution=0.5)
    ends = np.array([phase.end for phase in found.phases if phase.end < np.inf])
    assert len(ends) > 10
    assert np.abs(np.sin(OMEGA * ends) - 1 / gamma).max() < FLIGHT and (np.cos(OMEGA * ends) > 0).all()


def on_slope(alpha: float, height: float) -> tuple[Array, Array]:
    """q of the block flat above a slope, and the slope's normal."""
    n = np.array([np.sin(alpha), 0, np.cos(alpha)])
    return np.r_[n * (HEIGHT / 2 + height), 0, np.sin(alpha / 2), 0, np.cos(alpha / 2)], n


def test_a_block_slides_down_a_smooth_slope() -> None:
    alpha = 0.3
    q, n = on_slope(alpha, 0.0)
    found = run(BLOCK, q, None, 2.0, walls.Plane(n), restitution=0.3, base="floating", points=CORNERS)
    assert len(found.phases) == 4 and all((p.start, p.end) == (0.0, np.inf) for p in found.phases) and not found.impacts
    speed = np.outer(found.t, [G * np.sin(alpha), 0, 0, 0, 0, 0])  # in the block's axes
    assert np.abs(found.v - speed).max() < ROUND_OFF
    assert np.abs(found.contact_forces - MASS * G * np.cos(alpha) / 4).max() < ROUND_OFF * 10
    assert np.abs(found.q[:, 3:] - q[3:]).max() < ROUND_OFF
    assert np.abs((found.q[:, :3] - q[:3]) @ n).max() < ROUND_OFF


def test_a_block_lands_flat_and_slides_on() -> None:
    alpha, e, height = 0.3, 0.3, 0.5
    q, n = on_slope(alpha, height)
    found = run(BLOCK, q, None, 2.0, walls.Plane(n), restitution=e, base="floating", points=CORNERS)
    across = G * np.cos(alpha)
    first = np.sqrt(2 * height / across)
    count = len(found.impacts)
    expected = first * np.array([1 + 2 * sum(e**j for j in range(1, k + 1)) for k in range(count)])
    assert np.abs(times(found) - expected).max() < 1e-10
    assert all(impact.k == 4 for impact in found.impacts)
    for impact, speed in zip(found.impacts[:3], across * first * e ** np.arange(3), strict=True):
        assert np.abs(impact.impulses - MASS * (1 + e) * speed / 4).max() < 1e-9
    assert len(found.phases) == 4
    assert all(abs(phase.accumulation - first * (1 + e) / (1 - e)) < 1e-7 and phase.end == np.inf for phase in found.phases)
    assert np.abs(found.q[:, 3:] - q[3:]).max() < 1e-10  # rounding of four forces turns the block, slowly
    along = np.array([np.cos(alpha), 0, -np.sin(alpha)])
    assert abs((found.q[-1, :3] - q[:3]) @ along - 0.5 * G * np.sin(alpha) * 4) < 1e-10
    assert np.abs(found.contact_forces[-1] - MASS * across / 4).max() < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_what_is_all_but_at_rest_comes_to_rest(e: float) -> None:
    up, down = 1.04e-9, -4e-10  # m/s of the tips of a rod that lies on the ground; 1e-9 counts as rest
    v = [0, (up + down) / 2, up - down]
    found = run(ROD, [0, 0, 0], v, 0.01, walls.Plane((0, 1, 0)), restitution=e, base="planar", gravity=(0, -G, 0), points=TIPS)
    assert np.abs(found.v).max() < 1e-8


@pytest.mark.parametrize(("seed", "e", "law"), [(91, 0.3, "newton"), (187, 0.5, "poisson")])
def test_a_rocking_block_comes_to_rest(seed: int, e: float, law: str) -> None:
    block, rng = made(BLOCK, "floating"), np.random.default_rng(seed)
    q = block.random(seed)
    q[:3] = rng.uniform(-0.2, 0.2, 3)
    corners = [("block", (x * SIDE / 2, y * SIDE / 2, z * HEIGHT / 2)) for x in (1, -1) for y in (1, -1) for z in (1, -1)]

    def few(t: float, impacts: int) -> None:
        assert impacts < 2000

    simulate(block, q, rng.normal(size=6), 5.0, walls.Box((3, 3, 2.5)), law, e, points=corners, progress=few)


@pytest.mark.parametrize(("q", "v"), [(9.9e-12, 1e-8), (5e-12, 1e-8), (1e-12, 1.1e-9)])
def test_a_hop_from_within_rounding_lands_on_the_ground(q: float, v: float) -> None:
    found = run(BALL, [q], [v], 1e-3, walls.Plane(), restitution=0.3)
    assert found.q.min() > -2e-11  # SINK
    assert np.abs(found.v).max() < 1.01 * np.sqrt(v**2 + 2 * G * (q + 2e-11))


# impact laws ------------------------------------------------------------------------------------------


def wedge(cosine: float) -> tuple[Array, Array]:
    """Normals of two planes through the origin, with this cosine between them: rows, and what turns normal velocities into v."""
    half = np.arccos(cosine) / 2
    normals = np.array([[np.sin(half), 0, np.cos(half)], [-np.sin(half), 0, np.cos(half)]])
    return normals, np.linalg.inv(normals[:, ::2])


def struck(cosine: float, u: ArrayLike, law: str, e: tuple[float, float]) -> Any:
    """The impact of a unit point mass in a wedge; u: its normal velocities."""
    normals, inverse = wedge(cosine)
    planes = [walls.Plane(n, restitution=own) for n, own in zip(normals, e, strict=True)]
    impact = Simulator(made(POINT_IN_PLANE), walls=planes, law=law).impact([0, 0], inverse @ np.asarray(u, float))
    assert impact is not None and impact.walls == ("plane", "plane_2")
    return impact


# u = (-1, 1/2), K = (1 c; c 1) with c = 1/2: the first impulse opens the second contact further.
@pytest.mark.parametrize(("law", "expected"), [("newton", (1.0, 0.0)), ("poisson", (1.0, 0.0)), ("newton_equality", (5 / 3, -4 / 3))])
def test_a_contact_that_separates_is_pulled_by_the_equality_alone(law: str, expected: tuple[float, float]) -> None:
    impact = struck(0.5, (-1, 0.5), law, (0, 0))
    assert np.abs(impact.impulses - expected).max() < ROUND_OFF
    assert impact.restitution.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_a_contact_that_separates_has_no_impulse_at_any_restitution(law: str) -> None:
    impact = struck(0.5, (-1, 0.5), law, (0.5, 0.5))
    assert np.abs(impact.impulses - [1.5, 0]).max() < ROUND_OFF
    assert np.abs(impact.normal_velocities_after - [0.5, 0.5 + 0.75]).max() < ROUND_OFF


def test_nothing_that_separates_is_struck() -> None:
    normals, inverse = wedge(0.5)
    assert Simulator(made(POINT_IN_PLANE), walls=walls.Plane(normals[0])).impact([0, 0], inverse @ [1.0, 0.0]) is None
    assert Simulator(made(POINT_IN_PLANE), walls=walls.Plane(normals[0])).impact([0, 1.0], inverse @ [-1.0, 0.0]) is None


# K = (1 c; c 1); equality: u = (-1, -1) becomes (1, 0), 2/(1 + c) becomes 1/(1 - c^2). newton: c = -1/2, u = (-1, 1/5) becomes (1, 0).
@pytest.mark.parametrize(
    ("law", "cosine", "u", "impulses", "gain"),
    [
        ("newton_equality", 0.8, (-1, -1), (10 / 3, -5 / 3), (1 / 0.36 - 2 / 1.8) / 2),
        ("newton", -0.5, (-1, 0.2), (4 / 3 * 1.9, 4 / 3 * 0.8), 0.5 * 4 / 3 * 0.8 * 0.2),
    ],
)
def test_mixed_restitutions_that_gain_energy_are_flagged(
    law: str, cosine: float, u: tuple[float, ...], impulses: tuple[float, ...], gain: float
) -> None:
    impact = struck(cosine, u, law, (1.0, 0.0))
    assert np.abs(impact.impulses - impulses).max() < ROUND_OFF
    assert abs(impact.energy_after - impact.energy_before - gain) < ROUND_OFF and impact.energy_gain
    assert not struck(cosine, u, law, (1.0, 1.0)).energy_gain


@pytest.mark.parametrize("law", ["newton", "newton_equality", "poisson"])
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=[pytest.mark.nightly]) for seed in range(3, 6))])
def test_the_loss_of_energy_on_branched_robots(law: str, seed: int) -> None:
    """Spheres on three links, all on the ground: impulses chosen, velocities from them; Jacobian ours, mass matrix Pinocchio's."""
    rng = np.random.default_rng(seed)
    e, text = 0.6, random_tree(seed, 7, ("revolute", "prismatic", "continuous"), branching=3)
    tree, oracle = made(text, "floating"), Oracle(text, "floating", True, (0, 0, -G))
    q = tree.random(seed)
    links, ground = rng.choice(tree.link_names, 3, replace=False), -10.0
    places = rng.uniform(-0.5, 0.5, (3, 3))
    heights = [(frame_placement(tree, q, name) @ np.r_[x, 1])[2] for name, x in zip(links, places, strict=True)]
    points = [(str(name), x, z - ground) for name, x, z in zip(links, places, heights, strict=True)]
    J = np.array([jacobian(tree, q, str(name), x)[2] for name, x in zip(links, places, strict=True)])
    zero = np.zeros(tree.nv)
    M = oracle.answers(q, zero, zero, zero, {}).mass_matrix
    Y = np.linalg.solve(M, J.T)
    K = J @ Y
    lam = next(lam for lam in rng.uniform(0.1, 1, (10000, 3)) if (K @ lam > 1e-2).all())
    u = -K @ lam / (1 + e)
    loose = rng.normal(size=tree.nv)
    v = Y @ np.linalg.solve(K, u) + loose - Y @ np.linalg.solve(K, J @ loose)
    impact = Simulator(tree, walls=walls.Plane(point=(0, 0, ground)), points=points, law=law, restitution=e).impact(q, v)
    assert impact is not None and impact.k == 3 and impact.rounds == 1
    rough = ROUND_OFF * np.linalg.cond(K) * max(1.0, np.abs(v).max())  # what the solution of K lam = u amplifies
    if law != "poisson":  # with several contacts it is another law
        assert np.abs(impact.impulses - lam).max() < rough
        assert np.abs(impact.v_after - v - Y @ lam).max() < rough * 10
        lost = 0.5 * (1 - e**2) * u @ np.linalg.solve(K, u)
        assert abs(impact.energy_loss - lost) < rough * max(1.0, 0.5 * v @ M @ v)
    after = impact.v_after
    assert abs(impact.energy_loss - 0.5 * (v @ M @ v - after @ M @ after)) < rough * max(1.0, 0.5 * v @ M @ v)
    assert impact.energy_loss > 0 and not impact.energy_gain
    assert np.abs(impact.normal_velocities_before - u).max() < rough


# free flight ------------------------------------------------------------------------------------------


def test_a_tumbling_body_keeps_what_it_must() -> None:
    moments, v = np.array([0.1, 0.2, 0.25]), np.array([1.0, 0.5, 4.0, 0.1, 5.0, 0.1])
    text = robot(link("body", inertial(MASS, moments=moments)))
    found = run(text, [0, 0, 0, 0, 0, 0, 1], v, 5.0, base="floating")
    turn = rotation.from_quat(found.q[:, 3:].copy())
    linear, spin = turn.apply(found.v[:, :3].copy()), turn.apply(moments * found.v[:, 3:])
    falling = v[:3] + np.outer(found.t, [0, 0, -G])
    drift = TOLERANCE * 100 * len(found)  # the tolerance holds for the rates of a step, 5 rad/s is 2 turns of the body in it
    assert np.abs(linear - falling).max() < drift
    assert np.abs(spin - moments * v[3:]).max() < drift
    energy = 0.5 * MASS * (found.v[:, :3] ** 2).sum(1) + 0.5 * found.v[:, 3:] ** 2 @ moments + MASS * G * found.q[:, 2]
    assert np.abs(energy - energy[0]).max() < drift * 100  # it holds 40 J
    assert np.abs(found.energies.total - energy).max() < 1e-11  # rounding of 400 J
    middle = np.linspace(0, 5, 333)
    for q in (found.q, found.at(middle)[0]):
        assert np.abs(np.linalg.norm(q[:, 3:], axis=1) - 1).max() < 1e-15
    assert np.abs(found.v[:, 5]).max() > 1  # it did tumble: the middle axis is unstable


TREE = random_tree(5, 4, ("revolute", "prismatic"), branching=2)


def test_the_interpolant_agrees_with_a_run_that_ends_there() -> None:
    tree = made(TREE, "floating")
    q, v = tree.random(1), np.random.default_rng(2).normal(size=tree.nv)
    simulator = Simulator(tree)
    found = simulator.run(q, v, 2.0)
    for t in np.random.default_rng(3).uniform(0, 2, 10):
        again = simulator.run(q, v, float(t))
        assert again.t[-1] == t
        for one, other in zip(found.at(t), (again.q[-1], again.v[-1]), strict=True):
            assert np.abs(one - other).max() < FLIGHT


def test_errors_follow_the_tolerance() -> None:
    tree = made(TREE, "floating")
    q, v = tree.random(1), np.random.default_rng(2).normal(size=tree.nv)
    exact = simulate(tree, q, v, 2.0, rtol=1e-13, atol=1e-13).q[-1]
    error = [np.abs(simulate(tree, q, v, 2.0, rtol=tol, atol=tol).q[-1] - exact).max() for tol in (1e-5, 1e-7, 1e-9, 1e-11)]
    assert all(worse > 5 * better for worse, better in pairwise(error))
    assert all(e < 100 * tol for e, tol in zip(error, (1e-5, 1e-7, 1e-9, 1e-11), strict=True))


def test_flight_is_that_of_pinocchio_and_scipy() -> None:
    tree, oracle = made(TREE, "floating"), Oracle(TREE, "floating", True, (0, 0, -G))
    pin, model = oracle.pin, oracle.model
    data = model.createData()
    q, v = tree.random(1), np.random.default_rng(2).normal(size=tree.nv)
    torque = np.random.default_rng(4).normal(size=tree.nv)

    def rate(t: float, y: Array) -> Array:
        q, v = y[: model.nq].copy(), y[model.nq :]
        unit = rotation.from_quat(q[3:7])
        x, y_, z, w = q[3:7]
        spin = 0.5 * np.array([[w, -z, y_], [z, w, -x], [-y_, x, w], [-x, -y_, -z]]) @ v[3:6]
        q[3:7] /= np.linalg.norm(q[3:7])
        return np.r_[unit.apply(v[:3]), spin, v[6:], pin.aba(model, data, q, v, torque)]

    own = integrate.solve_ivp(rate, (0, 2), np.r_[q, v], "DOP853", rtol=1e-12, atol=1e-12, dense_output=True)
    found = simulate(tree, q, v, 2.0, torque=torque)
    at = np.linspace(0, 2, 41)
    mine = np.concatenate(found.at(at), axis=1)
    assert np.abs(mine - own.sol(at).T).max() < 1e-7  # of velocities up to 50, the tolerance is relative


# the search for contact -------------------------------------------------------------------------------

SHAPES = {"cylinder": walls.Cylinder(1.0, axis=(0, 1, 0), side="outside"), "sphere": walls.Sphere(1.0, side="outside")}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1e-9, 1e-10, 1e-11])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_throw_over_the_top_hits_or_not(shape: str, size: float, sign: int) -> None:
    """The parabola through (0, 1 + clearance), flatter than the circle there: its least distance is at the top."""
    clearance, speed, early = sign * size, 5.0, 0.2
    start = [-speed * early, 1 + clearance - 0.5 * G * early**2]
    found = run(POINT_IN_PLANE, start, [speed, G * early], 2 * early, SHAPES[shape], restitution=0.5)
    assert len(found.impacts) == (sign < 0)
    if sign < 0:  # x^2 + (1 + c - g x^2 / (2 v^2))^2 = 1 as a quadratic in x^2
        b, c = G / speed**2, clearance
        squares = np.roots([b * b / 4, 1 - (1 + c) * b, 2 * c + c * c])
        x = -np.sqrt(min(s for s in squares if s > 0))
        # The gap is good to some 1e-15 m, and closes at b x.
        assert abs(found.impacts[0].time - (early + x / speed)) < 1e-14 / abs(x * (1 - b)) / speed + 1e-12


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9])
def test_a_chord_within_one_step_is_seen(shape: str, depth: float) -> None:
    """A kilometre of straight flight, a chord of 90 micrometres in it."""
    height, speed = 1 - depth, 1000.0
    found = run(POINT_IN_PLANE, [-500.0, height], [speed, 0.0], 1.0, SHAPES[shape], restitution=1.0, gravity=WEIGHTLESS)
    x = -np.sqrt(1 - height**2)
    assert len(found.impacts) == 1 and found.statistics["steps"] < 40
    assert abs(found.impacts[0].time - (500 + x) / speed) < 1e-9  # 1e-13 of 500 m, at a slope of sqrt(2 depth)
    n = np.array([x, height])
    v = np.array([speed, 0.0])
    assert np.abs(found.v[-1] - (v - 2 * (v @ n) * n)).max() < 1e-4  # the normal is as good as the place of the hit, times 2 v
    assert not run(POINT_IN_PLANE, [-500.0, 1 + depth], [speed, 0.0], 1.0, SHAPES[shape], gravity=WEIGHTLESS).impacts


@pytest.mark.parametrize("e", [1.0, 0.97])
def test_every_impact_of_a_burst_is_counted(e: float) -> None:
    width, count = 1e-3, 500
    at = width * (0.5 + np.cumsum(np.r_[0, e ** -np.arange(1.0, count)]))
    duration = float(at[-1] + 0.5 * width * e**-count)
    found = run(BALL, [0.0], [1.0], duration, walls.Corridor(width, (0, 0, 1)), restitution=e, gravity=WEIGHTLESS)
    assert len(found.impacts) == count
    assert np.abs(times(found) - at).max() < ROUND_OFF * at[-1] * count
    assert [impact.walls[0] for impact in found.impacts[:4]] == ["corridor.+", "corridor.-"] * 2


def test_contact_at_the_start_strikes_at_once() -> None:
    found = run(BALL, [0.0], [-2.0], 0.1, walls.Plane(), restitution=0.5)
    (impact,) = found.impacts
    assert impact.time == 0.0 and impact.v_after[0] == 1.0
    assert found.v[0, 0] == -2.0 and found.at(0.0)[1][0] == 1.0 and found.at(0.0, "left")[1][0] == -2.0
    assert abs(found.v[-1, 0] - (1 - G * 0.1)) < ROUND_OFF


def test_at_rest_at_the_start_stays_at_rest() -> None:
    found = run(BALL, [0.0], None, 1.0, walls.Plane(), restitution=0.5)
    assert not found.impacts and not found.q.any() and not found.v.any()
    assert [(phase.start, phase.end) for phase in found.phases] == [(0.0, np.inf)] and np.isnan(found.phases[0].accumulation)
    assert np.abs(found.contact_forces - G).max() < ROUND_OFF


def test_leaving_at_the_start_is_no_impact() -> None:
    found = run(BALL, [0.0], [1.0], 0.3, walls.Plane(), restitution=0.5)
    (impact,) = found.impacts
    assert abs(impact.time - 2 / G) < ROUND_OFF and not found.phases


@pytest.mark.parametrize("late", [-1e-9, -1e-13, 0.0, 1e-13, 1e-9])
def test_an_impact_at_the_end_comes_once(late: float) -> None:
    end = float(np.sqrt(2.0 / G))
    simulator = Simulator(made(BALL), walls=walls.Plane(), restitution=0.5)
    first = simulator.run([1.0], [0.0], end + late)
    second = simulator.run(first.q[-1], first.v[-1], 0.1)
    assert len(first.impacts) + len(second.impacts) == 1
    if abs(late) == 1e-9:
        assert len(first.impacts) == (late > 0)
    (impact,) = [*first.impacts, *second.impacts]
    assert abs(impact.time + (first.t[-1] if second.impacts else 0.0) - end) < ROUND_OFF
    assert abs(second.v[-1, 0] - (0.5 * G * end - G * (end + late + 0.1 - end))) < 1e-11


# walls that are the same ------------------------------------------------------------------------------

START, SPEED = (0.1, -0.2, 0.3), (0.7, 0.5, -0.3)


def same(one: Any, other: Any, tolerance: float, count: int, **options: Any) -> None:
    options = {"restitution": 0.9, "points": [("m", (0, 0, 0), 0.05)], **options}
    speed = options.pop("speed", SPEED)
    a, b = (run(SPACE, START, speed, 2.0, wall, **options) for wall in (one, other))
    assert len(a.impacts) == len(b.impacts) >= count
    assert np.abs(times(a) - times(b)).max() < tolerance
    assert np.abs(a.q[-1] - b.q[-1]).max() < tolerance * 10


CHAOS = 1e-8  # each bounce inside a sphere multiplies an error of 1e-14 a few times


def ball(x: Array) -> float:
    return float(1 - x @ x) / 2


@pytest.mark.parametrize("gradient", [None, lambda x: -x])
def test_an_implicit_sphere_is_a_sphere(gradient: Any) -> None:
    same(walls.Implicit(ball, gradient), walls.Sphere(1.0), CHAOS, 3, points=["m"])


def test_an_ellipsoid_of_equal_axes_is_a_sphere() -> None:
    same(walls.Ellipsoid((1.0, 1.0, 1.0)), walls.Sphere(1.0), CHAOS, 3)


def test_flat_ground_is_a_plane() -> None:
    same(walls.HeightField(np.full((4, 5), -0.5), (-1, 1), (-2, 1)), walls.Plane(point=(0, 0, -0.5)), 1e-10, 3)


def test_sloping_ground_is_a_plane() -> None:
    x, y = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-2, 1, 5), indexing="ij")
    ground = walls.HeightField(0.1 * x - 0.2 * y - 0.5, (-1, 1), (-2, 1))
    same(ground, walls.Plane((-0.1, 0.2, 1), (0, 0, -0.5)), 1e-9, 3)


def test_a_corridor_is_two_planes() -> None:
    n = np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    planes = [walls.Plane(-n, 0.4 * n), walls.Plane(n, -0.4 * n)]
    same(walls.Corridor(0.8, n), planes, 1e-10, 5, gravity=WEIGHTLESS, speed=n * 5)


def test_a_box_is_six_planes() -> None:
    turn = rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    half = np.array([0.6, 0.5, 0.7])
    planes = [walls.Plane(-way * turn[:, k], way * half[k] * turn[:, k]) for k in range(3) for way in (1, -1)]
    same(walls.Box(2 * half, rotation=turn), planes, 1e-9, 5)


# self contact -----------------------------------------------------------------------------------------


def test_the_tip_of_an_arm_strikes_its_base() -> None:
    """Without gravity and without angular momentum the elbow moves alone: T = mu(q2) w2^2 / 2 by hand."""
    reach, e, bend = 0.6, 0.5, 1.0

    def mass(q: float) -> tuple[float, float]:
        return 3 + 2 * np.cos(q), 1 + np.cos(q)

    def mu(q: float) -> float:
        return 1 - mass(q)[1] ** 2 / mass(q)[0]

    speed = 2.0
    v = [-mass(bend)[1] / mass(bend)[0] * speed, speed]
    closed = 2 * np.arccos(reach / 2)
    expected, _ = integrate.quad(lambda q: np.sqrt(mu(q) / mu(bend)) / speed, bend, closed, epsabs=1e-13, epsrel=1e-13)
    points = [("w", (0, 0, 0), 0.4), ("lower", (1, 0, 0), 0.2)]
    found = run(ARM, [0.2, bend], v, expected + 0.1, restitution=e, gravity=WEIGHTLESS, points=points, pairs=[("w", "lower")])
    (impact,) = found.impacts
    assert impact.points == ("w-lower",)
    assert abs(impact.time - expected) < FLIGHT and abs(impact.q[1] - closed) < ROUND_OFF
    struck = speed * np.sqrt(mu(bend) / mu(closed))
    assert abs(impact.v_before[1] - struck) < FLIGHT and abs(impact.v_after[1] + e * struck) < FLIGHT
    for w in (impact.v_before, impact.v_after):
        assert abs(mass(closed)[0] * w[0] + mass(closed)[1] * w[1]) < FLIGHT
    assert abs(impact.energy_loss - 0.5 * (1 - e**2) * mu(closed) * struck**2) < FLIGHT


def test_limits_of_a_mimic_joint_that_leave_its_master_nothing_do_not_act() -> None:
    """As in PR2's grippers: the follower turns the other way, with the limits of its master."""
    range_ = '<limit lower="0" upper="0.5" effort="1" velocity="1"/>'
    text = robot(
        link("w", ""),
        link("a"),
        link("b"),
        joint("master", "prismatic", "w", "a", axis=(0, 0, 1), limit=range_),
        joint("follower", "prismatic", "w", "b", '<mimic joint="master" multiplier="-1"/>', axis=(0, 1, 0), limit=range_),
    )
    with pytest.warns(UrdfWarning, match=r"mimic joint 'follower', 0 to 0.5, leave 'master'"):
        found = simulate(load(text), [0.3], None, 1.0, restitution=0.0, joint_limits=True)
    assert found.contact_names == ("master|lower", "master|upper")
    assert abs(found.q[-1, 0]) < ROUND_OFF


def test_a_limit_of_a_mimic_joint_stops_its_master() -> None:
    """follower = -2 q + 0.1, limited at -1: q stops at 0.55."""
    text = robot(
        link("w", ""),
        link("a"),
        link("b"),
        joint("master", "prismatic", "w", "a", axis=(1, 0, 0)),
        joint("follower", "prismatic", "w", "b", '<mimic joint="master" multiplier="-2" offset="0.1"/>', axis=(0, 1, 0)),
    )
    found = run(text, [0.05], [1.0], 1.0, joint_limits=True, restitution=0.5, gravity=WEIGHTLESS)
    (impact,) = found.impacts
    assert (impact.points, impact.walls) == (("follower",), ("lower",))
    assert abs(impact.time - 0.5) < ROUND_OFF and abs(impact.v_after[0] + 0.5) < ROUND_OFF
    assert abs(impact.normal_velocities_before[0] + 2) < ROUND_OFF
    assert abs(impact.impulses[0] - 1.5 * 5 / 2) < ROUND_OFF  # (1 + 4) kg of the master, 1.5 m/s, lever 2


# sliding into a corner ----------------------------------------------------------------------------------


def test_a_mass_slides_into_a_corner_and_rests_there() -> None:
    """Down one wall of a right-angled groove and against the other, while the first holds: bounces under g sin(alpha)."""
    alpha, e, way = 0.4, 0.5, 0.7
    along, up = np.array([np.cos(alpha), 0, np.sin(alpha)]), np.array([-np.sin(alpha), 0, np.cos(alpha)])
    groove = [walls.Plane(up, name="ramp"), walls.Plane(along, name="stop")]
    found = run(POINT_IN_PLANE, (way * along)[::2], None, 4.0, groove, restitution=e)
    first = np.sqrt(2 * way / (G * np.sin(alpha)))
    expected = first * np.array([1 + 2 * sum(e**j for j in range(1, k + 1)) for k in range(len(found.impacts))])
    assert np.abs(times(found) - expected).max() < 1e-10
    ramp, stop = sorted(found.phases, key=lambda phase: phase.wall)
    assert (ramp.wall, ramp.start, ramp.end) == ("ramp", 0.0, np.inf)  # an impact across it does not open it
    assert stop.wall == "stop" and stop.end == np.inf and abs(stop.accumulation - first * (1 + e) / (1 - e)) < 1e-7
    assert np.abs(found.q[-1]).max() < 1e-13 and np.abs(found.v[-1]).max() < 1e-14
    assert np.abs(found.contact_forces[-1] - [G * np.cos(alpha), G * np.sin(alpha)]).max() < ROUND_OFF * 10
    for impact in found.impacts:
        assert abs(dict(zip(impact.walls, impact.impulses, strict=True))["ramp"]) < ROUND_OFF


# kinks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6])
def test_a_fast_point_does_not_miss_the_edge_of_a_box(depth: float) -> None:
    """At 45 degrees through the upper edge, which is depth behind the path; the first face it meets is the left one."""
    speed, far, s = 100.0, 50.0, np.sqrt(0.5)
    edge = np.array([-0.5, 0.5])
    start = edge + depth * np.array([s, -s]) - far * np.array([s, s])
    found = run(
        POINT_IN_PLANE, start, speed * np.array([s, s]), 1.0, walls.Box((1, 1, 1), side="outside"), restitution=1.0, gravity=WEIGHTLESS
    )
    assert len(found.impacts) == 1
    assert abs(found.impacts[0].time - (far - depth) / speed) < 1e-10
    assert np.abs(found.v[-1] - speed * np.array([-s, s])).max() < 1e-6


def test_an_ellipsoid_is_hit_where_a_line_meets_it() -> None:
    axes, start, v = np.array([2.0, 1.0, 0.5]), np.array([-5.0, 0.3, 1.0]), np.array([3.0, -0.1, -0.5])
    found = run(SPACE, start, v, 2.0, walls.Ellipsoid(axes, side="outside"), restitution=0.5, gravity=WEIGHTLESS)
    x, w = start / axes, v / axes
    expected = min(np.roots([w @ w, 2 * x @ w, x @ x - 1]))
    (impact,) = found.impacts
    assert abs(impact.time - expected) < ROUND_OFF
    n = (start + expected * v) / axes**2
    n /= np.linalg.norm(n)
    assert np.abs(impact.normals[0] - n).max() < 1e-11
    assert np.abs(impact.v_after - (v - 1.5 * (v @ n) * n)).max() < 1e-10


# one simulator, many runs -------------------------------------------------------------------------------


def test_a_simulator_forgets_its_last_run() -> None:
    simulator = Simulator(made(BLOCK, "floating"), walls=walls.Plane(), points=CORNERS, restitution=0.4)
    q = np.array([0, 0, 1.0, 0.1, 0.2, 0.3, 0.0])
    q[6] = np.sqrt(1 - q[3:6] @ q[3:6])
    one = simulator.run(q, np.ones(6), 1.5)
    simulator.run(on_slope(0.0, 0.0)[0], None, 0.1)
    simulator.impact(q, np.ones(6))
    other = simulator.run(q, np.ones(6), 1.5)
    assert len(one.impacts) >= 3
    for a, b in zip((one.t, one.q, one.v, one.contact_forces), (other.t, other.q, other.v, other.contact_forces), strict=True):
        assert np.array_equal(a, b)
    assert [i.impulses.tolist() for i in one.impacts] == [i.impulses.tolist() for i in other.impacts]


def test_without_the_interpolant_the_rows_are_the_same() -> None:
    one, other = (run(BALL, [1.0], [0.0], 2.0, walls.Plane(), restitution=0.7, dense=dense) for dense in (True, False))
    assert np.array_equal(one.t, other.t) and np.array_equal(one.q, other.q) and other.dense is None


def test_no_step_is_longer_than_asked_for() -> None:
    assert np.diff(run(BALL, [1.0], [0.0], 1.0, max_step=0.01).t).max() < 0.01 * (1 + 1e-12)


def test_progress_is_reported() -> None:
    told: list[tuple[float, int]] = []
    found = run(BALL, [1.0], [0.0], 1000.0, walls.Plane(), progress=lambda t, impacts: told.append((t, impacts)))
    assert told == sorted(told) and len(told) > 2
    assert told[-1] == (1000.0, len(found.impacts))


def test_a_run_can_be_kept(tmp_path: Path) -> None:
    found = run(BALL, [1.0], [0.0], 2.0, walls.Plane(), restitution=0.5)
    again = Trajectory.load(found.save(tmp_path / "run"))
    assert np.array_equal(again.q, found.q) and np.array_equal(again.contact_forces, found.contact_forces)
    assert [vars(phase) for phase in again.phases] == [vars(phase) for phase in found.phases]
    assert [impact.time for impact in again.impacts] == [impact.time for impact in found.impacts]
    at = np.linspace(0, 2, 77)
    assert np.array_equal(again.at(at)[0], found.at(at)[0])


# what must hold always ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=[pytest.mark.nightly]) for seed in (2, 3))])
def test_a_robot_thrown_into_a_box_stays_in_it_and_gains_no_energy(seed: int, e: float, law: str) -> None:
    tree = made(random_tree(100 + seed, 5, ("revolute", "prismatic", "continuous"), branching=3), "floating")
    rng = np.random.default_rng(seed)
    q, v = tree.random(seed), rng.normal(size=tree.nv)
    q[:3] = 0.0
    room = walls.Box((12.0, 12.0, 12.0))
    found = simulate(tree, q, v, 2.0, room, law, e)
    assert found.status == "complete" and len(found.impacts) >= 1
    at = np.linspace(0, 2, 2001)
    between = found.at(at)[0]
    for point in Simulator(tree, walls=room).points:
        places = frame_placement(tree, between, tree.joints[point.body].child)
        x = places[:, :3, :3] @ np.array(point.position) + places[:, :3, 3]
        assert np.abs(x).max() < 6 + 1e-7  # the interpolant is good to the tolerance
    energy = found.energies.total
    assert np.diff(energy).max() < 1e-7 * np.abs(energy).max()  # of a step: the tolerance, times velocities of 10 m/s and 30 kg
    assert not any(impact.energy_gain for impact in found.impacts)
    assert all(impact.impulses.min() > -1e-12 for impact in found.impacts)
    assert all(impact.normal_velocities_after.min() > -1e-8 for impact in found.impacts)
    assert found.contact_forces.min(initial=0.0) > -1e-6 * G * 30  # a force that ends does so within a step


# A wedge of two planes, one approached at 1 m/s, one left at 1 m/s, e = 1/2: K = [[1, 0.8], [0.8, 1]] / kg, u = (-1, 1) m/s.
WEDGE = (
    '<robot name="wedge"><link name="w"/><link name="x"/><joint name="jx" type="prismatic"><parent link="w"/><child link="x"/><axis xyz="1 0 0"/>'
    '<limit effort="1" velocity="1" lower="-9" upper="9"/></joint><link name="m"><inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" '
    'iyz="0" izz="0"/></inertial></link><joint name="jz" type="prismatic"><parent link="x"/><child link="m"/><axis xyz="0 0 1"/>'
    '<limit effort="1" velocity="1" lower="-9" upper="9"/></joint></robot>'
)


@pytest.mark.parametrize(
    ("law", "impulses", "after", "loss"),
    [("newton", (1.5, 0.0), (0.5, 2.2), 0.375), ("newton_equality", (7.5, -7.5), (0.5, -0.5), 3.75)],
)
def test_the_equality_form_pulls_as_it_is_printed(law: str, impulses: tuple[float, ...], after: tuple[float, ...], loss: float) -> None:
    planes = [walls.Plane((0, 0, 1)), walls.Plane((0.6, 0, 0.8))]
    impact = Simulator(made(WEDGE), walls=planes, law=law, restitution=0.5).impact([0, 0], [3, -1])
    assert impact is not None and impact.law == law
    assert np.abs(impact.impulses - impulses).max() < ROUND_OFF
    assert np.abs(impact.normal_velocities_after - after).max() < ROUND_OFF
    assert abs(impact.energy_loss - loss) < ROUND_OFF  # 1/2 (1 - e^2) u K^-1 u = 3.75 J for the equality form


def test_what_the_equality_form_pulls_into_a_wall_is_caught_at_once() -> None:
    planes = [walls.Plane((0, 0, 1)), walls.Plane((0.6, 0, 0.8))]
    found = simulate(made(WEDGE), [0, 0], [3, -1], 0.1, planes, "newton_equality", 0.5)
    assert [impact.law for impact in found.impacts[:2]] == ["newton_equality", "newton"]
    assert found.impacts[0].time == found.impacts[1].time == 0.0
    assert min(wall.gap(np.insert(q, 1, 0.0)) for wall in planes for q in found.q) > -1e-11
