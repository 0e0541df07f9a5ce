"""Rules that each time step keeps, worked out from its rows alone: depths, energies, lengths of steps, coefficients of friction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs import load, simulate, walls
from urdf_gibbs.contact.points import ContactPoint
from urdf_gibbs.simulation.stepping_contacts import push_out, row_velocities

Array = NDArray[np.float64]

G = 9.81
FLOOR = walls.Plane(normal=(0, 0, 1), point=(0, 0, 0))
INERTIA = '<inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'


def stepped(robot: ug.Robot, q: Any, v: Any, duration: float, step: float, **options: Any) -> ug.Trajectory:
    return simulate(robot, q, v, duration, scheme="time_stepping", step=step, restitution=0.0, **options)


def test_a_body_that_is_lifted_keeps_its_energy() -> None:
    """A smooth ball swings at the bottom of a cylinder, like a pendulum of length r = 0.9 m.

    In each step it goes straight ahead, sinks by h² v² / 2r and is lifted by as much, which takes m g h² v² / 2r. The impulse that carries
    its weight does that work already: paid for not at all or twice, energy would grow or fall by exp(g h t / 2r), 72 % here. What is lost
    is what turns the velocity, ½m (h v²/r)² in each step. Heights of rows waver by h² v² / 8r, as gaps are closed half a step from there.
    """
    text = f'<robot name="one"><link name="body"><inertial><mass value="1"/>{INERTIA.format(0.004)}</inertial></link></robot>'
    robot, bowl = load(text, base="floating"), walls.Cylinder(1.0, axis=(0, 1, 0))
    step, speed, r = 0.01, 0.5, 0.9
    run = stepped(robot, [0, 0, -r, 0, 0, 0, 1], [speed, 0, 0, 0, 0, 0], 10.0, step, walls=bowl, points=[("body", (0, 0, 0), 0.1)])
    energy, start = 0.5 * (run.v[:, :3] ** 2).sum(axis=1) + G * (run.q[:, 2] + r), 0.5 * speed**2
    waver = G * step**2 * speed**2 / (8.0 * r)
    lost = 10.0 / step * 0.5 * (step * speed**2 / r) ** 2  # at the largest speed
    assert energy.max() < start + waver
    assert energy[-1] > start - lost - waver
    assert run.statistics["deepest"] > 0.4 * step**2 * speed**2 / r  # it did sink in


LINK = f'<inertial><origin xyz="0 0 -.25"/><mass value="1"/>{INERTIA.format(0.02)}</inertial>'
HINGE = (
    '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 {3}"/><axis xyz="0 1 0"/>'
    '<limit lower="{4}" upper="{5}" effort="1" velocity="1"/></joint>'
)


def test_no_gap_is_negative_where_gaps_are_kept() -> None:
    """A double pendulum stands on its pivot, 0.8 m below a smooth floor, and drags its tip over it, which would move on a circle into it.

    Gaps are kept in the middle of a step, which is q - ½h v of its row. In each step the tip sinks by up to 1e-4 m and more, and its gap is
    not linear: a single motion that opens it leaves a part of 1e-3 of that.
    """
    text = f'<link name="w"/><link name="a">{LINK}</link><link name="b">{LINK}</link>'
    text += HINGE.format("j", "w", "a", 0, -6, 6) + HINGE.format("k", "a", "b", -0.5, -3, 3)
    robot, floor = load(f'<robot name="two">{text}</robot>'), walls.Plane(normal=(0, 0, 1), point=(0, 0, 0.8))

    def height(q: Array) -> Array:
        return -0.5 * np.cos(q[..., 0]) - 0.5 * np.cos(q[..., 0] + q[..., 1])

    first = np.pi - 0.9
    second = np.pi + np.arccos(1.6 - np.cos(0.9))
    q = np.array([first, second - first])
    v = np.array([3.0, -3.0 * np.sin(first) / np.sin(second) - 3.0])
    assert height(q) == pytest.approx(0.8)
    run = stepped(robot, q, v, 0.3, 0.01, walls=floor, points=[("b", (0, 0, -0.5))])
    middle = run.q[1:] - 0.5 * np.diff(run.t)[:, None] * run.v[1:]
    gap = height(middle) - 0.8
    assert gap.min() > -1e-8
    assert run.statistics["deepest"] > 1e-4 and (gap < 1e-7).sum() > 10


def test_a_step_in_which_a_fast_joint_stops_is_short() -> None:
    """300 rad/s, 0.1 rad from its limit: it is there after 1/3 ms, and no step with that speed turns by more than 0.1 rad."""
    text = f'<link name="w"/><link name="a"><inertial><mass value="1"/>{INERTIA.format(0.02)}</inertial></link>'
    robot = load(f'<robot name="one">{text}{HINGE.format("j", "w", "a", 0, -1, 0.1)}</robot>')
    run = stepped(robot, [0.0], [300.0], 0.01, 1e-3, joint_limits=True, gravity=(0, 0, 0))
    lengths, before = np.diff(run.t), np.abs(run.v[:-1, 0])
    assert (lengths * before).max() < 0.1 + 1e-9
    assert run.v[-1, 0] == pytest.approx(0.0, abs=1e-9) and run.q[-1, 0] == pytest.approx(0.1, abs=1e-8)
    stops = int(np.argmax(before < 1e-9))
    assert run.t[stops - 1] - 1e-12 < 0.1 / 300.0 < run.t[stops] + lengths[stops - 1]


@pytest.mark.parametrize(("degrees", "holds", "gap"), [(15.0, True, 0.0), (20.0, True, 0.0), (25.0, False, 0.0), (25.0, False, 1e-5)])
def test_a_block_at_rest_has_the_static_coefficient(degrees: float, holds: bool, gap: float) -> None:
    """Friction (0.4, 0.2) on an incline: what rests stays below 21.8°, though 11.3° would be enough to keep it moving; above that it
    slides with the kinetic coefficient, a = g (sin - 0.2 cos), but for the first step; so does what is let go just above the incline."""
    text = f'<link name="body"><inertial><mass value="2"/>{INERTIA.format(0.04)}</inertial></link>'
    robot, angle, step = load(f'<robot name="one">{text}</robot>', base="floating"), np.radians(degrees), 1e-3
    corners = [("body", (x, y, -0.05)) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    gravity = G * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    options: dict[str, Any] = {"walls": FLOOR, "points": corners, "gravity": gravity}
    run = stepped(robot, [0, 0, 0.05 + gap, 0, 0, 0, 1], None, 0.5, step, friction=(0.4, 0.2), **options)
    if holds:
        assert np.abs(run.v).max() < 1e-11 and np.abs(run.q[-1, 0]) < 1e-11
        assert {phase.mode for phase in run.phases} == {"stick"}
    else:
        late = 2.0 * step + 2.0 * np.sqrt(2.0 * gap / G)
        assert run.v[-1, 0] == pytest.approx(G * (np.sin(angle) - 0.2 * np.cos(angle)) * 0.5, abs=0.2 * G * late + 1e-9)
    moving = stepped(robot, [0, 0, 0.05, 0, 0, 0, 1], [0.1, 0, 0, 0, 0, 0], 0.5, step, friction=(0.4, 0.2), **options)
    assert moving.v[-1, 0] == pytest.approx(0.1 + G * (np.sin(angle) - 0.2 * np.cos(angle)) * 0.5, abs=1e-9)


def test_a_bounce_that_turns_a_motion_around_gives_no_energy() -> None:
    """A double pendulum without gravity, whose elbow bounces off its limit without loss, at up to 20 rad/s.

    Forces of a step are those of the motion before the bounce. Left alone they add up to h ω of the kinetic energy in that step, here a
    hundredth; what a step of the second order may leave is (h ω)². The energy is ½ vᵀM v with the M of two rods.
    """
    text = f'<link name="w"/><link name="a">{LINK}</link><link name="b">{LINK}</link>'
    text += HINGE.format("j", "w", "a", 0, -100, 100) + HINGE.format("k", "a", "b", -0.5, -2.5, 2.5)
    robot, step, rng, struck = load(f'<robot name="two">{text}</robot>'), 1e-3, np.random.default_rng(0), 0
    simulator = ug.Simulator(robot, scheme="time_stepping", step=step, joint_limits=True, restitution=1.0, gravity=(0, 0, 0))
    for _ in range(12):
        q, v = [0.0, rng.uniform(1.5, 2.4)], [rng.uniform(-20.0, 20.0), rng.uniform(5.0, 20.0)]
        run = simulator.run(q, v, 0.08)
        (first, second), bent = run.v.T, 0.5 * 0.25 * np.cos(run.q[:, 1])
        own = 0.02 + 0.25**2
        energy = 0.5 * (own * (first**2 + (first + second) ** 2) + 0.5**2 * first**2) + bent * first * (first + second)
        waver = (step * np.abs(run.v).max()) ** 2
        assert energy.max() < (1.0 + waver) * energy[0]
        struck += int(run.contact_forces.max() > 0.0)
    assert struck > 4


def tower(levels: int) -> tuple[ug.Robot, list[ContactPoint], list[tuple[str, str]], Array]:
    """Boxes of 1 kg on each other, which touch by balls of radius 0.02 at their corners: links, balls, pairs of them, and q."""
    sides = [(x, y, z) for x in (-0.08, 0.08) for y in (-0.08, 0.08) for z in (-0.08, 0.08)]
    text = "".join(
        f'<link name="b{n}"><inertial><mass value="1"/>{INERTIA.format(0.0067)}</inertial></link>'
        f'<joint name="j{n}" type="floating"><parent link="w"/><child link="b{n}"/></joint>'
        for n in range(levels)
    )
    points = [ContactPoint(f"b{n}.{i}", n, place, 0.02) for n in range(levels) for i, place in enumerate(sides)]
    pairs = [(f"b{n + 1}.{i - 1}", f"b{n}.{i}") for n in range(levels - 1) for i in (1, 3, 5, 7)]
    q = np.concatenate([[0.0, 0.0, 0.1 + 0.2 * n, 0, 0, 0, 1] for n in range(levels)])
    return load(f'<robot name="tower"><link name="w"/>{text}</robot>'), points, pairs, q


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_tower_stands(restitution: float) -> None:
    """Five boxes at rest: nothing moves, nothing bounces, every contact sticks for all of the run and carries a quarter of what is above."""
    robot, points, pairs, q = tower(5)
    run = simulate(
        robot,
        q,
        None,
        0.1,
        scheme="time_stepping",
        step=1e-3,
        walls=FLOOR,
        points=points,
        pairs=pairs,
        friction=0.7,
        restitution=restitution,
    )
    assert np.abs(run.v).max() < 1e-12 and np.abs(run.q - q).max() < 1e-12
    assert run.statistics["bounces"] == 0
    assert {(phase.mode, phase.start, phase.end) for phase in run.phases} == {("stick", 0.0, np.inf)} and len(run.phases) == 20
    force = run.contact_forces[1:]
    load_of = sorted(force[-1][force[-1] > 0.0])
    assert load_of == pytest.approx(np.repeat([1, 2, 3, 4, 5], 4) * G / 4, rel=1e-6)  # the shortest of many that carry the same


def test_what_rests_on_a_slope_does_not_bounce_by_rounding() -> None:
    """Velocities are zero to rounding there, of either sign."""
    robot, points, pairs, q = tower(3)
    options: dict[str, Any] = {
        "walls": FLOOR,
        "points": points,
        "pairs": pairs,
        "friction": 0.7,
        "restitution": 0.5,
        "gravity": (0.9, 0.4, -G),
    }
    run = simulate(robot, q, None, 0.2, scheme="time_stepping", step=1e-3, **options)
    assert 0.0 < np.abs(run.v).max() < 1e-12
    assert run.statistics["bounces"] == 0 and {phase.mode for phase in run.phases} == {"stick"}


def test_what_has_pushed_opens_freely() -> None:
    """Lifted with three times its weight from 0.05 s on, the upper of two boxes goes up with 2 g, and the lower one stays."""
    robot, points, pairs, q = tower(2)

    def controller(t: float, q: Array, v: Array) -> Array:
        return np.array([0.0] * 8 + [3.0 * G if t > 0.0495 else 0.0] + [0.0] * 3)

    run = stepped(
        robot, q, None, 0.15, 1e-3, walls=FLOOR, points=points, pairs=pairs, friction=0.7, controller=controller, controller_rate=1000.0
    )
    assert run.v[-1, 8] == pytest.approx(2.0 * G * 0.1, rel=1e-9)
    assert np.abs(np.delete(run.v, 8, axis=1)).max() < 1e-12
    assert (run.contact_forces[51:] > 0.0).sum(axis=1).max() == 4  # those on the floor


def test_what_a_solver_has_left_is_pushed_out() -> None:
    """Two boxes at rest on each other, whose velocities are made wrong after a step: both sink, by 1e-6 and 3e-6 m/s.

    Further impulses stop them, with which momentum is kept: 3e-6 N s between them, 4e-6 N s from the floor, for 1 kg each.
    """
    robot, points, pairs, q = tower(2)
    simulator = ug.Simulator(
        robot, scheme="time_stepping", step=1e-3, walls=FLOOR, points=points, pairs=pairs, friction=0.7, restitution=0.0
    )
    simulator.run(q, None, 3e-3)
    system, state = simulator._program.system, simulator._program.state
    stepping = system.stepping
    v, push, count = stepping.next.copy(), stepping.push.copy(), int(stepping.island[stepping.islands])
    v[2] -= 1e-6
    v[8] -= 3e-6
    row_velocities(system, count, v - state.work[robot.nq :], stepping.after)
    push_out(system, state, 2.5e-3, count, v)
    assert count == 8 and np.abs(v).max() < 3e-12  # 1e-6 of what was wrong, which is what a motion is solved to
    on_floor = np.array(["|" in name for name in simulator._facts.names])
    assert on_floor.any() and not on_floor.all()
    more = stepping.push - push
    assert more.min() >= 0.0
    assert more[~on_floor].sum() == pytest.approx(3e-6, rel=1e-6) and more[on_floor].sum() == pytest.approx(4e-6, rel=1e-6)
    assert np.abs(stepping.after[: system.stepping.rows.at[count]]).max() < 3e-12  # the rows know
