"""Implicit steps, which take over where contacts slide too slowly for explicit ones: asked for here from the start, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.simulation import implicit
from urdf_gibbs.simulation.description import Start
from urdf_gibbs.simulation.friction_layout import SLIDES, STICKS
from urdf_gibbs.simulation.layout import GAP, PAUSED

G, MU, STEP = 9.81, 0.4, 1e-5
BOX = ug.load(
    '<robot name="box"><link name="box"><inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link></robot>',
    base="floating",
)
CORNERS = [("box", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
FLOOR = ug.walls.Plane((0, 0, 1))


def sliding(speed: float, *walls: ug.walls.Wall) -> ug.Simulator:
    """A block of 1 kg that begins to slide along x on the floor."""
    simulator = ug.Simulator(BOX, walls=[FLOOR, *walls], points=CORNERS, friction=MU, restitution=0.0, gravity=(0, 0, -G))
    simulator._start(Start(np.array([0, 0, 0.05, 0, 0, 0, 1.0]), np.array([speed, 0, 0, 0, 0, 0]), 1.0))
    assert simulator._program.advance(1) == PAUSED  # the contacts are found
    assert simulator._program.state.held.sum() == 4
    return simulator


def step(simulator: ug.Simulator, count: int) -> None:
    """Take this many implicit steps."""
    state = simulator._program.state
    state.brief = STEP
    for _ in range(count):
        state.together = 1
        while state.together:  # between two of them the driver chooses the held contacts
            assert simulator._program.advance(1) == PAUSED


def test_a_block_that_slides_loses_speed_and_energy_at_the_rate_of_friction() -> None:
    simulator = sliding(3.0)
    state = simulator._program.state
    begin, x, v, work = state.time, state.y[0], state.y[7], state.friction_work
    step(simulator, 20)
    assert state.time - begin == pytest.approx(20 * STEP, abs=1e-15)
    after = v - MU * G * 20 * STEP
    assert state.y[7] == pytest.approx(after, abs=1e-12)
    assert state.y[0] - x == pytest.approx(0.5 * (v + after) * 20 * STEP, abs=1e-14)
    assert state.friction_work - work == pytest.approx(0.5 * (v * v - after * after), abs=1e-12)
    assert (simulator._program.system.friction.mode == SLIDES).all()


def test_a_block_that_stops_within_a_step_sticks_after_it() -> None:
    simulator = sliding(3.0)
    state, v = simulator._program.state, 0.3 * MU * G * STEP
    state.y[7], state.fresh, work = v, 0, state.friction_work
    step(simulator, 1)
    assert np.abs(state.y[7:]).max() < 1e-15
    assert state.friction_work - work == pytest.approx(0.5 * v * v, rel=1e-6)
    assert (simulator._program.system.friction.mode == STICKS).all()


def test_a_wall_in_the_way_is_not_passed() -> None:
    """The block would reach the wall after a third of the step."""
    simulator = sliding(3.0, ug.walls.Plane((-1, 0, 0), (0.10003, 0, 0)))
    state = simulator._program.state
    near = 0.00003 - state.y[0]
    begin = state.time
    state.brief, state.together = 3.0 * near / state.y[7], 1
    while state.together:
        assert simulator._program.advance(1) == PAUSED
    assert begin < state.time < begin + 0.4 * state.brief
    assert state.gaps[:, GAP].min() > -2e-10


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
