"""Implicit steps, which take over where contacts slide too slowly for explicit ones: asked for here from the start, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import nnls

import urdf_gibbs as ug
from urdf_gibbs.simulation import implicit, implicit_walls
from urdf_gibbs.simulation.description import Start
from urdf_gibbs.simulation.friction import SOFT
from urdf_gibbs.simulation.friction_layout import SLIDES, STICKS
from urdf_gibbs.simulation.layout import GAP, OK, PAUSED

G, MU, STEP = 9.81, 0.4, 1e-5
SPIN, FALL = 3.0, 0.04  # rad/s, of a rod that falls, and for how long [s]
BOX = ug.load(
    '<robot name="box"><link name="box"><inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link></robot>',
    base="floating",
)
CORNERS = [("box", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
# Walls give way by SOFT of a contact's mobility. That of a corner is (1/m + (x² + y²) / I) = 3 / kg, and a front corner carries a quarter of
# the weight and, as friction acts 0.05 m below the centre, mu 0.05 / 0.1 of that more: 3 · 0.25 · 1.2 of SOFT is missing in forces.
SOFTER = 0.9 * SOFT
NOSE = ("box", (0.11, 0.0, 0.0))  # in front of the centre of mass


def sliding(speed: float, *walls: ug.walls.Wall, friction: float = MU) -> ug.Simulator:
    """A block of 1 kg that begins to slide along x on the floor."""
    floor = ug.walls.Plane((0, 0, 1), friction=friction)
    simulator = ug.Simulator(BOX, walls=[floor, *walls], points=[*CORNERS, NOSE], friction=MU, restitution=0.0, gravity=(0, 0, -G))
    simulator._start(Start(np.array([0, 0, 0.05, 0, 0, 0, 1.0]), np.array([speed, 0, 0, 0, 0, 0]), 1.0))
    assert simulator._program.advance(1) == PAUSED  # the contacts are found
    assert simulator._program.state.held.sum() == 4
    return simulator


def step(simulator: ug.Simulator, count: int) -> None:
    """Take this many implicit steps."""
    state = simulator._program.state
    for _ in range(count):
        state.brief, state.together = STEP, 1
        while state.together:  # in between contacts are chosen
            assert simulator._program.advance(1) == PAUSED


def test_a_block_that_slides_loses_speed_and_energy_at_the_rate_of_friction() -> None:
    simulator = sliding(3.0)
    state = simulator._program.state
    begin, x, v, work = state.time, state.y[0], state.y[7], state.friction_work
    step(simulator, 20)
    assert state.time - begin == pytest.approx(20 * STEP, abs=1e-15)
    after = v - MU * G * 20 * STEP
    soft = SOFTER * MU * G * 20 * STEP  # m/s
    assert state.y[7] == pytest.approx(after, abs=soft)
    assert state.y[0] - x == pytest.approx(0.5 * (v + after) * 20 * STEP, abs=soft * 20 * STEP)
    assert state.friction_work - work == pytest.approx(0.5 * (v * v - after * after), abs=soft * v)
    assert (simulator._program.system.friction.mode[:4] == SLIDES).all()


def test_a_block_that_stops_within_a_step_sticks_after_it() -> None:
    simulator = sliding(3.0)
    state, v = simulator._program.state, 0.3 * MU * G * STEP
    state.y[7], state.fresh, work = v, 0, state.friction_work
    step(simulator, 1)
    assert np.abs(state.y[7:]).max() < 1e-15
    assert state.friction_work - work == pytest.approx(0.5 * v * v, rel=1e-6)
    assert (simulator._program.system.friction.mode[:4] == STICKS).all()


def test_a_wall_that_is_struck_fast_ends_the_step_with_an_impact() -> None:
    """In a third of a step the block would be there."""
    simulator = sliding(3.0, ug.walls.Plane((-1, 0, 0), (0.11003, 0, 0)))
    state = simulator._program.state
    near, v = 0.00003 - state.y[0], state.y[7]
    begin = state.time
    state.brief, state.together = 3.0 * near / v, 2
    while state.impacts == 0:
        assert simulator._program.advance(1) == PAUSED
        assert state.gaps[:, GAP].min() > -2e-10
    assert state.time - begin == pytest.approx(near / v, rel=MU * G * near / v**2)  # friction slows it down by half of that on the way
    assert abs(state.y[7]) < 1e-12


@pytest.mark.parametrize("part", [1 / 3, 3 / 4])
def test_a_wall_that_is_reached_slowly_holds_without_an_impact(part: float) -> None:
    """At 0.4 mm/s, after this part of a step; the floor, without friction, goes on to carry the weight."""
    simulator = sliding(0.0004, ug.walls.Plane((-1, 0, 0), (0.11 + 1e-9, 0, 0)), friction=0.0)
    state = simulator._program.state
    state.brief, state.together = 1e-9 / part / 0.0004, 3
    while state.together:
        assert simulator._program.advance(1) == PAUSED
    assert (state.impacts, state.implicit_steps) == (0, 3)
    # The wall gives way by SOFT of what an impulse at the nose does to it, in each of the three steps, in which it would go 3e-9 m at most.
    assert state.y[0] == pytest.approx(1e-9, abs=3.0 * SOFT * 3e-9)
    assert np.abs(state.y[7:]).max() < 1e-12
    assert state.force.sum() == pytest.approx(G, rel=2.0 * SOFT)  # the floor, and what is left at the wall


def test_steps_in_a_series_converge() -> None:
    """A block that slides and turns on the floor: friction opposes the velocity after each step, which is of the first order."""
    ends = []
    for count in (8, 16, 32):
        simulator = sliding(3.0)
        state = simulator._program.state
        state.y[12], state.fresh = 20.0, 0  # rad/s about the vertical
        end = state.time + 8e-4
        while state.time < end - 1e-12:
            state.brief, state.together = 8e-4 / count, 2
            assert simulator._program.advance(1) == PAUSED
        ends.append(state.y.copy())
    errors = [np.abs(end - ends[2]).max() for end in ends[:2]]
    assert 2.8 < errors[0] / errors[1] < 3.2  # (1 - 1/4) / (1/2 - 1/4) = 3 at the first order
    assert errors[0] < MU * G * 20.0 * 8e-4 * 1e-4  # acceleration, times how far its direction lags, times the duration


def falling_rod(count: int) -> float:
    """The angle of a rod of 1 kg and 1 m after FALL in this many implicit steps; its end sticks to a rough floor, about which it falls."""
    rod = ug.load(
        '<robot name="rod"><link name="world"/><link name="a"/><link name="b"/><link name="rod"><inertial><mass value="1"/>'
        f'<inertia ixx="{1 / 12}" ixy="0" ixz="0" iyy="{1 / 12}" iyz="0" izz="0.001"/></inertial></link>'
        '<joint name="x" type="prismatic"><parent link="world"/><child link="a"/><axis xyz="1 0 0"/><limit effort="1" velocity="1"/></joint>'
        '<joint name="z" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint>'
        '<joint name="turn" type="continuous"><parent link="b"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>'
    )
    floor = ug.walls.Plane((0, 0, 1))
    simulator = ug.Simulator(
        rod, walls=floor, points=[("rod", (0, 0, -0.5))], friction=5.0, restitution=0.0, gravity=(0, 0, -G), joint_limits=False
    )
    along = np.array([np.sin(0.5), np.cos(0.5)])
    q, v = np.array([*(0.5 * along), 0.5]), np.array([0.5 * SPIN * along[1], -0.5 * SPIN * along[0], SPIN])
    simulator._start(Start(q, v, 1.0))
    program = simulator._program
    assert program.advance(1) == PAUSED
    assert list(program.system.friction.mode) == [STICKS]
    begin = program.state.time
    program.state.together = count  # no choice in between
    while program.state.together:
        program.state.brief = FALL / count
        assert program.advance(1) == PAUSED
        assert abs(program.state.gaps[0, GAP]) < 1e-10
        angle, (x, z, turn) = program.state.y[2], program.state.y[3:]
        slip = x - 0.5 * turn * np.cos(angle), z + 0.5 * turn * np.sin(angle)
        assert np.abs(slip).max() < SPIN * (SPIN * FALL / count) ** 2  # m/s: of the second order, also between the steps of a series
    assert program.state.time - begin == pytest.approx(FALL, abs=1e-14)
    assert list(program.system.friction.mode) == [STICKS]
    return float(program.state.y[2])


def test_where_contacts_stay_steps_are_of_the_second_order() -> None:
    """A rod pivots fast about its end: a pendulum upside down, integrated by SciPy."""
    pendulum = solve_ivp(lambda t, y: [y[1], 1.5 * G * np.sin(y[0])], (0.0, FALL), [0.5, SPIN], rtol=1e-12, atol=1e-14)
    errors = [abs(falling_rod(count) - pendulum.y[0, -1]) for count in (40, 80)]
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert errors[1] < (SPIN * FALL / 80) ** 2 * SPIN * FALL  # of the second order in the angle of a step


@pytest.mark.parametrize("seed", range(4))
def test_only_what_is_inside_of_a_wall_is_moved_and_only_outwards(seed: int) -> None:
    """The least motion, in the metric of M, after which no corner is inside, beside SciPy's optimiser."""
    simulator, rng = sliding(0.0), np.random.default_rng(seed)
    system, state = simulator._program.system, simulator._program.state
    state.y[2] += 1e-8 * rng.uniform(-1.0, 0.5)
    state.y[3:5] = 1e-7 * rng.normal(size=2)
    simulator._program.update_gaps(state.time, 0)
    gaps, before = state.gaps[:4, GAP].copy(), state.y.copy()
    assert gaps.min() < -1e-9
    J = np.array([[0.0, 0.0, 1.0, y, -x, 0.0] for _, (x, y, _) in CORNERS])
    M = np.diag([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    half = J @ np.diag(np.diag(M) ** -0.5)
    lam = nnls(np.vstack([half.T, -1e8 * gaps[None]]), np.array([0.0] * 6 + [1.0]))[0]  # the dual: the nearest point of a polyhedron
    w = half.T @ lam
    least = w / (1.0 + 1e8 * gaps @ lam) * 1e-8  # Lawson and Hanson: least distance programming
    moved = implicit_walls.push_out(system, state)
    assert moved == OK
    motion = np.array([*(state.y[:3] - before[:3]), *(2.0 * (state.y[3:5] - before[3:5])), 0.0])
    assert motion == pytest.approx(np.diag(np.diag(M) ** -0.5) @ least, abs=1e-12)
    assert state.gaps[:4, GAP].min() > -1e-13
    assert np.array_equal(state.y[7:], before[7:])


def test_they_begin_after_a_number_of_very_short_steps_while_something_slides() -> None:
    simulator = sliding(3.0)
    system, state = simulator._program.system, simulator._program.state
    tried = [implicit.makes_no_progress(system, state, 0.5 * implicit.CRAWL) for _ in range(implicit.MOST_CRAWLS + 1)]
    assert tried == [False] * implicit.MOST_CRAWLS + [True]
    state.crawls = 0
    lengths = [0.5 * implicit.CRAWL] * implicit.MOST_CRAWLS
    assert not any(implicit.makes_no_progress(system, state, h) for h in [*lengths, 2.0 * implicit.CRAWL, *lengths])
    state.crawls, system.friction.mode[:] = 0, STICKS
    assert not any(implicit.makes_no_progress(system, state, h) for h in 2 * lengths)
