"""No contact is missed: fast turning near walls, grazes, distant walls, fine ground; walls moved by functions; controllers that switch."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from urdf_text import POINT_IN_PLANE, inertial, joint, link, robot

from urdf_gibbs import Robot, Trajectory, load, simulate, walls
from urdf_gibbs.contact.surfaces import Path
from urdf_gibbs.errors import ArgumentError, SimulationError

first_contacts = pytest.importorskip("first_contacts")  # validation, with SciPy
optimize = pytest.importorskip("scipy.optimize")

Array = NDArray[np.float64]

G = 9.81
WEIGHTLESS = (0.0, 0.0, 0.0)
BALL = robot(link("w", ""), link("ball"), joint("z", "prismatic", "w", "ball", axis=(0, 0, 1)))
SLIDE = robot(link("w", ""), link("block"), joint("x", "prismatic", "w", "block", axis=(1, 0, 0)))
ROTOR = robot(
    link("w", ""),
    link("base"),
    link("rotor", inertial(1.0)),
    joint("x", "prismatic", "w", "base", axis=(1, 0, 0)),
    joint("r", "continuous", "base", "rotor", axis=(0, 0, 1)),
)


@cache
def made(text: str) -> Robot:
    return load(text, base="fixed")


# turning ----------------------------------------------------------------------------------------------


def test_a_balanced_rotor_on_a_sliding_base_is_never_past_a_wall() -> None:
    """The integrator sees no error, however far the rotor turns: its farthest reach at the crests says where the first contact is."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        fast, slow, room, phase = 10 ** rng.uniform(1, 4), 10 ** rng.uniform(-3, 0), rng.uniform(0.01, 1.0), rng.uniform(0.0, 2 * np.pi)
        wall = walls.Plane(normal=(-1, 0, 0), point=(1 + room, 0, 0))
        points = [("rotor", (1, 0, 0))]
        end = room / slow + 4 * np.pi / fast
        run = simulate(made(ROTOR), [0.0, phase], [slow, fast], end, wall, restitution=0.0, points=points, gravity=WEIGHTLESS)
        first = run.impacts[0].time
        crests = (2 * np.pi * np.arange(1, (phase + fast * first) // (2 * np.pi) + 1) - phase) / fast
        before = crests[crests < first * (1 - 1e-9)]
        assert (slow * before < room + 1e-9).all()
        assert abs(slow * first + np.cos(phase + fast * first) - 1 - room) < 1e-9  # an angle of 1e4 t is rounded to that


@pytest.mark.parametrize("kind", ["rotor", "planar", "symmetric", "asymmetric"])
def test_first_contacts_are_those_of_motions_written_apart(kind: str) -> None:
    for number in range(2):  # of the 2,000 that validation/first_contacts.py looks at
        case = first_contacts.some_case(np.random.default_rng([7, number]), kind)
        found, first, deep = first_contacts.looked_at(case)
        assert found, f"{kind} {number}: first impact at {first}, {-deep} m deep before"


def test_turning_far_from_walls_costs_no_steps() -> None:
    wall = walls.Plane(normal=(-1, 0, 0), point=(100.0, 0, 0))
    run = simulate(made(ROTOR), [0.0, 0.0], [0.01, 1e4], 1000.0, wall, points=[("rotor", (1, 0, 0))], gravity=WEIGHTLESS)
    assert run.statistics["steps"] < 30


# landing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("rtol", [1e-10, 1e-5])
def test_a_fall_from_far_lands_in_time(height: float, rtol: float) -> None:
    for radius in (0.0, 0.5):
        run = simulate(
            made(BALL), [height], None, 1.2 * np.sqrt(2 * height / G), walls.Plane(), rtol=rtol, points=[("ball", (0, 0, 0), radius)]
        )
        exact = np.sqrt(2 * (height - radius) / G)
        assert abs(run.impacts[0].time - exact) < 1e-14 * exact  # some ulps
        assert abs(run.impacts[0].v_before[0] + G * exact) < 1e-13 * G * exact


@pytest.mark.parametrize("radius", [1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("depth", [1e-7, 1e-9, 1e-10, 1e-11, -1e-10])
def test_a_graze_of_a_post_is_seen(radius: float, depth: float) -> None:
    """Far from a thin post phi is 1e4 times the distance: what is shallow is still measured in metres at the post."""
    rng = np.random.default_rng(0)
    post = walls.Cylinder(radius, axis=(0, 1, 0), side="outside")
    for _ in range(10):
        angle, away, speed = rng.uniform(0.0, 2 * np.pi), rng.uniform(1.0, 10.0), rng.uniform(0.5, 20.0)
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        start = -away * along + (radius - depth) * across
        run = simulate(made(POINT_IN_PLANE), start, speed * along, 2 * away / speed, post, gravity=WEIGHTLESS)
        assert len(run.impacts) == (depth > 0)


# ground -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "beside"), [(41, 2), (41, 7), (101, 6), (101, 18)])
def test_a_peak_beside_a_sphere_is_seen(nodes: int, beside: int) -> None:
    """A peak of 0.3 m, far narrower than the sphere of 0.5 m."""
    heights = np.zeros((nodes, nodes))
    heights[nodes // 2 + beside, nodes // 2] = 0.3
    ground = walls.HeightField(heights, (-1, 1), (-1, 1))
    run = simulate(made(BALL), [1.5], None, 2.0, ground, restitution=0.0, points=[("ball", (0, 0, 0), 0.5)])
    # Its tip alone is a bound from below; by the sampling of the validation nothing is higher than that by more than its width.
    away = 2.0 * beside / (nodes - 1)
    tip = 0.3 + np.sqrt(0.25 - away**2)
    assert tip - 1e-12 < run.q[-1, 0] < tip + 0.03


def test_rest_on_fine_ground_agrees_with_sampling() -> None:
    for number in range(12):
        rests, expected = first_contacts.ground(np.random.default_rng([5, number]))
        assert abs(rests - expected) < 1e-9, number  # a simplex ends that near


# walls moved by functions -----------------------------------------------------------------------------


def at(path: Path, t: float) -> Array:
    out = [0.0] * 10
    path([t], out)
    return np.array(out)


@pytest.mark.parametrize("omega", [0.1, 1.0, 30.0, 300.0, 3e3, 3e4])
def test_derivatives_of_a_motion_are_exact(omega: float) -> None:
    """To 1e-9 of the velocity and 1e-6 of the acceleration; at t = 10 the sine's own argument is rounded to 1e-16 omega t."""
    path = Path(lambda t: (math.sin(omega * t), 0.0, 2.0 * math.cos(omega * t)), "wall", 1e-3)
    for t in np.concatenate([np.linspace(0.0, 0.02, 60), np.linspace(10.0, 10.002, 40)]).tolist():
        s, c = math.sin(omega * t), math.cos(omega * t)
        found = at(path, t)
        assert np.abs(found[0:3] - [s, 0.0, 2 * c]).max() < 1e-10
        assert np.abs(found[3:6] / omega - [c, 0.0, -2 * s]).max() < 4e-9
        assert np.abs(found[6:9] / omega**2 - [-s, 0.0, -2 * c]).max() < 1e-6


def test_noise_of_a_motion_is_left_out() -> None:
    """Single precision: 6e-8 of noise, which five-point differences over 1 ms make 0.1 m/s^2 and more."""
    path = Path(lambda t: (float(np.float32(math.sin(10.0 * t))), 0.0, 0.0), "wall", 1e-3)
    values = np.array([at(path, t) for t in np.linspace(0.1, 0.2, 300)])
    exact = np.sin(10 * np.linspace(0.1, 0.2, 300))
    assert np.abs(values[:, 0] - exact).max() < 2e-7
    assert np.abs(values[:, 3] - 10 * np.cos(10 * np.linspace(0.1, 0.2, 300))).max() < 2e-3


def test_a_motion_with_a_kink_is_exact_on_both_sides() -> None:
    path = Path(lambda t: (0.0, 0.0, max(0.0, 2.0 * (t - 0.0123))), "wall", 1e-3)
    for t, velocity in ((0.0, 0.0), (0.0122, 0.0), (0.01229, 0.0), (0.01231, 2.0), (0.02, 2.0)):
        assert np.abs(at(path, t)[[5, 8]] - [velocity, 0.0]).max() < 1e-9


def test_a_motion_that_jumps_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"the motion of wall 'lift' jumps from .* to .* expected a continuous function"):
        at(Path(lambda t: (0.0, 0.0, float(t > 0.01)), "lift", 1e-3), 0.01)


@pytest.mark.parametrize(("omega", "amplitude"), [(30.0, 0.0142), (300.0, 1e-3), (3000.0, 1e-4)])
def test_a_table_moved_by_a_function_is_one_that_vibrates(omega: float, amplitude: float) -> None:
    def moved(t: float) -> tuple[float, float, float]:
        return 0.0, 0.0, amplitude * math.sin(omega * t)

    vibration = walls.Vibration((0, 0, amplitude), omega)
    one, other = (simulate(made(BALL), [0.05], None, 0.5, walls.Plane(motion=m), restitution=0.3) for m in (vibration, moved))
    assert len(one.impacts) == len(other.impacts) > 5
    for k, (a, b) in enumerate(zip(one.impacts, other.impacts, strict=True)):
        # An impact that is late by d is thrown (1 + e) A omega^2 d faster, and the flight lasts 2 / g times that longer.
        faster = 1.3 * amplitude * omega**2
        late = min(1e-7, 1e-14 * (1.0 + 2.0 * faster / G) ** k)
        assert abs(a.time - b.time) < late and abs(a.v_after[0] - b.v_after[0]) < faster * late + 1e-9
    assert other.statistics["steps"] < 20 * omega * 0.5 + 1000
    # The first impact in closed form: the fall meets the table, and v_after = u + e (u - v).
    t = optimize.brentq(lambda t: 0.05 - 0.5 * G * t * t - moved(t)[2], one.impacts[0].time - 1e-6, one.impacts[0].time + 1e-6, xtol=1e-16)
    u = amplitude * omega * math.cos(omega * t)
    assert abs(other.impacts[0].time - t) < 1e-12
    assert abs(other.impacts[0].v_after[0] - (u + 0.3 * (u + G * t))) < 1e-8


# controllers that switch ------------------------------------------------------------------------------

Controller = Callable[..., Any]


def pushed(controller: Controller, v0: float, duration: float, q0: float = 0.0, **options: Any) -> Trajectory:
    """A block of 1 kg on a rail."""
    return simulate(made(SLIDE), [q0], [v0], duration, controller=controller, **{"switches": lambda t, q, v: v, **options})


def test_dry_friction_stops_a_block_where_it_must() -> None:
    run = pushed(lambda t, q, v, side: -2.0 * side, 1.0, 2.0)
    assert abs(run.q[-1, 0] - 1.0 / (2.0 * 2.0)) < 1e-12 and abs(run.v[-1, 0]) < 1e-11
    assert np.abs(run.t - 0.5).min() < 1e-12  # a step ends on the switch


@pytest.mark.parametrize(("force", "end"), [(1.0, 0.5), (-1.0, 1.0 / 6.0)])
def test_a_force_below_friction_does_not_move_a_block_at_rest(force: float, end: float) -> None:
    """v0^2 / (2 (2 - force)), and there it stays: a motion along the switch."""
    run = pushed(lambda t, q, v, side: force - 2.0 * side, 1.0, 3.0)
    assert abs(run.q[-1, 0] - end) < 1e-11 and abs(run.v[-1, 0]) < 1e-11


def test_a_force_above_friction_takes_a_block_through_the_switch() -> None:
    run = pushed(lambda t, q, v, side: 3.0 - 2.0 * side, -1.0, 1.0)
    assert abs(run.q[-1, 0] - (-0.1 + 0.5 * 0.8**2)) < 1e-11 and abs(run.v[-1, 0] - 0.8) < 1e-11


def test_a_growing_force_sets_a_block_free_in_time() -> None:
    """4 t - 2 from t = 1/2 on."""
    run = pushed(lambda t, q, v, side: 4.0 * t - 2.0 * side, 0.0, 2.0)
    assert abs(run.q[-1, 0] - 2.0 / 3.0 * 1.5**3) < 1e-9 and abs(run.v[-1, 0] - 2.0 * 1.5**2) < 1e-9
    assert np.abs(run.q[run.t < 0.5]).max() < 1e-12


def test_a_spring_with_dry_friction_loses_as_much_each_half_swing() -> None:
    """By 2 * 2 / 100 of amplitude, until the spring is weaker than friction (7 times from 0.3 m)."""
    run = pushed(lambda t, q, v, side: -100.0 * q - 2.0 * side, 0.0, 4.0, q0=0.3)
    assert abs(run.q[-1, 0] + 0.02) < 1e-8 and abs(run.v[-1, 0]) < 1e-9


def test_a_switch_in_time_is_landed_on() -> None:
    run = pushed(lambda t, q, v, side: 5.0 * side, 0.0, 1.0, switches=lambda t, q, v: [0.3 - t])
    assert abs(run.q[-1, 0] - (0.5 * 5 * 0.09 + 1.5 * 0.7 - 0.5 * 5 * 0.49)) < 1e-12
    assert np.abs(run.t - 0.3).min() < 1e-15


@pytest.mark.parametrize("damping", [0.0, 4.0])
def test_a_motion_along_a_switching_line_decays_as_predicted(damping: float) -> None:
    """q + 0.3 v = 0 from where it is first met: q falls as exp(-t / 0.3), whatever damping does on both sides of the line."""
    damped = robot(link("w", ""), link("block"), joint("x", "prismatic", "w", "block", f'<dynamics damping="{damping}"/>', axis=(1, 0, 0)))
    switch: dict[str, Any] = {"controller": lambda t, q, v, side: -5.0 * side, "switches": lambda t, q, v: q + 0.3 * v}
    run = simulate(made(damped), [0.3], [1.0], 2.0, damping=True, **switch)
    met = run.t[np.abs(run.q[:, 0] + 0.3 * run.v[:, 0]) < 1e-9].min()
    q = float(run.at(met)[0][0])
    late = run.t > met
    assert late.sum() > 3 and np.abs(run.q[late, 0] - q * np.exp(-(run.t[late] - met) / 0.3)).max() < 1e-8


@pytest.mark.parametrize("force", [0.0, 1.0])
def test_a_controller_that_switches_undeclared_is_named_instead_of_crawling(force: float) -> None:
    with pytest.raises(SimulationError, match=r"not continuous here.*controller_rate=.*switches=") as caught:
        pushed(lambda t, q, v: force - 2.0 * np.where(v > 0.0, 1.0, -1.0), 1.0, 2.0, switches=None)
    assert abs(caught.value.time - 1.0 / (2.0 - force)) < 1e-4


def test_a_controller_with_a_rate_need_not_be_continuous() -> None:
    run = pushed(lambda t, q, v: -2.0 * np.sign(v), 1.0, 1.0, switches=None, controller_rate=1000.0)
    assert abs(run.q[-1, 0] - 0.25) < 2e-3  # a call late at most


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"switches": 3}, r"switches=3, expected a function of \(t, q, v\)"),
        ({"controller_rate": 10.0}, "that is called without a rate"),
        ({"switches": lambda t, q, v: 1.0}, r"switches returned shape \(\), expected \(k,\)"),
    ],
)
def test_wrong_switches_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        pushed(lambda t, q, v, side: -side, 1.0, 1.0, **options)


def test_switches_that_fail_stop_the_run() -> None:
    def values(t: float, q: Array, v: Array) -> Any:
        return v if t < 0.2 else [np.nan]

    with pytest.raises(SimulationError, match=r"switches returned \[nan\]"):
        pushed(lambda t, q, v, side: -side, 1.0, 1.0, switches=values)
