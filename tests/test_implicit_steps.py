"""Implicit steps, which take over where contacts slide too slowly for explicit ones: asked for here from the start, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.simulation import implicit
from urdf_gibbs.simulation.description import Start
from urdf_gibbs.simulation.friction import SOFT
from urdf_gibbs.simulation.friction_layout import SLIDES, STICKS
from urdf_gibbs.simulation.layout import GAP, PAUSED

G, MU, STEP = 9.81, 0.4, 1e-5
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


def test_a_wall_that_is_reached_slowly_holds_without_an_impact() -> None:
    """At 0.4 mm/s, in a third of a step; the floor, without friction, goes on to carry the weight."""
    simulator = sliding(0.0004, ug.walls.Plane((-1, 0, 0), (0.11 + 1e-9, 0, 0)), friction=0.0)
    state = simulator._program.state
    state.brief, state.together = 3e-9 / 0.0004, 3
    while state.together:
        assert simulator._program.advance(1) == PAUSED
    assert (state.impacts, state.implicit_steps) == (0, 3)
    # The wall gives way by SOFT of what an impulse at the nose does to it, in each of the three steps, of which the whole way is 3e-9 m.
    assert state.y[0] == pytest.approx(1e-9, abs=3.0 * SOFT * 3e-9)
    assert np.abs(state.y[7:]).max() < 1e-12
    assert state.force.sum() == pytest.approx(G, rel=SOFT)


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
