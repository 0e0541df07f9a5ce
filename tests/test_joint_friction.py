"""Dry friction of joints against closed forms, SciPy and conserved quantities, by both schemes.

Times and places are asked for to 1e-7, as the closed forms are; most agree to the integrator's tolerance of 1e-10.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import urdf_gibbs as ug
from urdf_gibbs.simulation.scenario import ScenarioError

G = 9.81
CLOSE = 1e-7


def link(name: str, mass: float = 1.0, x: float = 0.0, inertia: float = 0.01) -> str:
    values = f'ixx="{inertia}" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="{inertia}"'
    return f'<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/><inertia {values}/></inertial></link>'


def joint(name: str, kind: str, parent: str, child: str, axis: str, more: str = "", at: str = "0 0 0") -> str:
    limit = "" if kind == "continuous" else '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{limit}{more}</joint>'


def robot(*parts: str) -> ug.Robot:
    return ug.load(f'<robot name="r">{link("base")}{"".join(parts)}</robot>')


def slider(friction: float = 0.0, mass: float = 1.0) -> ug.Robot:
    return robot(link("b", mass), joint("x", "prismatic", "base", "b", "1 0 0", f'<dynamics friction="{friction}" damping="0.5"/>'))


def pendulum(friction: float = 0.0) -> ug.Robot:
    """1 kg at 1 m, and 0.01 kg m^2, about y; q = 0 points along x."""
    return robot(link("arm", x=1.0), joint("hinge", "continuous", "base", "arm", "0 1 0", f'<dynamics friction="{friction}"/>'))


# one joint ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["urdf", 3.0, {"x": 3.0}, [3.0]])
def test_a_slide_stops_at_the_right_time(given: Any) -> None:
    trajectory = ug.simulate(slider(3.0, 2.0), [0], [1.5], 2.0, joint_friction=given)
    slip, stick = trajectory.phases
    assert (slip.point, slip.wall, slip.mode, stick.mode) == ("x", "joint friction", "slip", "stick")
    assert slip.end == stick.start == pytest.approx(1.5 / (3.0 / 2.0), abs=1e-12)
    assert trajectory.q[-1, 0] == pytest.approx(1.5**2 / (2 * 1.5), abs=1e-12)
    assert trajectory.v[-1, 0] == pytest.approx(0.0, abs=1e-15)
    moving = trajectory.t < 1.0 - 1e-9
    assert (trajectory.joint_friction[moving] == -3.0).all() and np.abs(trajectory.joint_friction[-1]).max() < 1e-12


def test_without_being_asked_for_there_is_none() -> None:
    trajectory = ug.simulate(slider(3.0), [0], [1.5], 1.0)
    assert trajectory.q[-1, 0] == pytest.approx(1.5) and not trajectory.phases and not trajectory.joint_friction.any()


def test_damping_and_friction_together() -> None:
    """m v' = -c v - F: v = (v0 + F/c) exp(-c t / m) - F/c, which vanishes at m/c ln(1 + c v0 / F)."""
    trajectory = ug.simulate(slider(3.0), [0], [1.5], 2.0, joint_friction="urdf", damping=True)
    stop = 1 / 0.5 * math.log(1 + 0.5 * 1.5 / 3.0)
    assert trajectory.phases[-1].start == pytest.approx(stop, abs=1e-10)
    assert trajectory.q[-1, 0] == pytest.approx((1.5 + 6.0) / 0.5 * (1 - math.exp(-0.5 * stop)) - 6.0 * stop, abs=1e-10)


def test_an_oscillator_stops_after_five_half_swings() -> None:
    """m = 1, k = 100, F = 0.981 from 0.1 m: each half swing of 0.1 pi s loses 2 F / k; it sticks where k |x| <= F."""
    trajectory = ug.simulate(slider(), [0.1], None, 3.0, controller=lambda t, q, v: -100 * q, joint_friction=0.1 * G)
    stick = trajectory.phases[-1]
    assert stick.mode == "stick" and stick.start == pytest.approx(math.pi / 2, abs=1e-8)
    assert trajectory.q[-1, 0] == pytest.approx(-0.0019, abs=1e-9)
    assert trajectory.joint_friction[-1, 0] == pytest.approx(-100 * 0.0019, abs=1e-7)
    for k in range(1, 5):
        q, v = trajectory.at(0.1 * math.pi * k)
        assert q[0] == pytest.approx((-1) ** k * (0.1 - 2 * k * 0.1 * G / 100), abs=1e-9) and abs(v[0]) < 1e-7


def test_an_arm_is_held_against_gravity() -> None:
    """The torque of gravity at q is G cos q: friction holds up to its bound, and not beyond."""
    held = ug.simulate(pendulum(G * 1.001), [0.0], None, 2.0, joint_friction="urdf")
    assert (held.q == 0.0).all() and (held.v == 0.0).all()
    assert held.joint_friction[-1, 0] == pytest.approx(-G, abs=1e-12)  # about y, gravity turns it downwards: q grows
    assert [phase.mode for phase in held.phases] == ["stick"]
    falls = ug.simulate(pendulum(G * 0.999), [0.0], None, 2.0, joint_friction="urdf")
    assert [phase.mode for phase in falls.phases] == ["slip"] and falls.q[-1, 0] == pytest.approx(0.001 * G / 1.01 * 2.0, rel=0.03)


def test_a_pendulum_loses_its_amplitude() -> None:
    """Against SciPy, restarted wherever the velocity vanishes, until friction holds it."""
    bound, inertia = 0.8, 1.01
    trajectory = ug.simulate(pendulum(bound), [0.0], None, 12.0, joint_friction="urdf")
    t, q, ends = 0.0, 0.0, []
    while abs(G * math.cos(q)) > bound:
        side = math.copysign(1.0, math.cos(q))

        def rates(_: float, y: Any, side: float = side) -> Any:
            return y[1], (G * math.cos(y[0]) - side * bound) / inertia

        def stops(_: float, y: Any) -> float:
            return float(y[1])

        stops.terminal, stops.direction = True, -side  # type: ignore[attr-defined]
        one = solve_ivp(rates, (0.0, 10.0), (q, side * 1e-14), method="DOP853", rtol=1e-13, atol=1e-13, events=stops)
        t, q = t + one.t[-1], one.y[0, -1]
        ends.append((t, q))
    assert len(ends) > 4
    for time, angle in ends:
        assert trajectory.at(time)[0][0] == pytest.approx(angle, abs=1e-8)
    assert trajectory.phases[-1].mode == "stick" and trajectory.phases[-1].start == pytest.approx(t, abs=CLOSE)
    assert trajectory.q[-1, 0] == pytest.approx(q, abs=1e-8)


def test_it_begins_to_slide_when_the_torque_reaches_the_bound() -> None:
    """A torque that grows with 2 N/s reaches a bound of 3 N at 1.5 s; then x = (t - 1.5)^3 / 3."""
    trajectory = ug.simulate(slider(3.0), [0], None, 2.5, joint_friction="urdf", controller=lambda t, q, v: np.array([2.0 * t]))
    stick, slip = trajectory.phases
    assert (stick.mode, slip.mode) == ("stick", "slip") and slip.start == pytest.approx(1.5, abs=CLOSE)
    assert trajectory.q[-1, 0] == pytest.approx(1 / 3, abs=CLOSE)
    np.testing.assert_allclose(trajectory.joint_friction[:, 0], -np.minimum(2 * trajectory.t, 3.0), atol=1e-7)


# several joints, contacts, limits ----------------------------------------------------------------------------


def two_arms(friction: tuple[float, float]) -> ug.Robot:
    a, b = (f'<dynamics friction="{one}"/>' for one in friction)
    return robot(
        link("one", x=0.5), link("two", x=0.5), joint("a", "continuous", "base", "one", "0 1 0", a),
        joint("b", "continuous", "one", "two", "0 1 0", b, at="1 0 0"),
    )  # fmt: skip


def test_energy_balance_of_two_joints() -> None:
    """Kinetic and potential energy and what both joints have rubbed away stay the same, through stick and slip of each."""
    trajectory = ug.simulate(two_arms((1.5, 3.0)), [0.0, 0.3], [0.0, -3.0], 6.0, joint_friction="urdf")
    modes = {(phase.point, phase.mode) for phase in trajectory.phases}
    assert modes >= {("b", "stick"), ("b", "slip"), ("a", "slip")}
    # Between two rows a joint that slides moves one way, and its force is constant; one that sticks does not move.
    work = (trajectory.joint_friction[:-1] * np.diff(trajectory.q, axis=0)).sum(axis=1).cumsum()
    np.testing.assert_allclose(trajectory.energies.total[1:] - trajectory.energies.total[0], work, atol=1e-8)
    assert work[-1] < -1.0
    assert np.abs(trajectory.joint_friction).max(axis=0) == pytest.approx([1.5, 3.0], abs=1e-9)


def test_a_joint_that_sticks_while_another_moves() -> None:
    """A very rough elbow makes one rigid body of both arms, whose torque in the elbow SciPy's motion gives."""
    trajectory = ug.simulate(two_arms((0.0, 1e3)), [0.0, 0.0], None, 2.0, joint_friction="urdf")
    assert np.abs(trajectory.q[:, 1]).max() < 1e-14
    inertia, arm = 2 * 0.01 + 0.25 + 2.25, 2.0  # about the shoulder; sum of m x

    def rates(_: float, y: Any) -> Any:
        return y[1], G * arm * math.cos(y[0]) / inertia

    exact = solve_ivp(rates, (0.0, 2.0), (0.0, 0.0), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert trajectory.q[-1, 0] == pytest.approx(exact[0], abs=1e-8)
    angle, faster = exact[0], rates(0.0, exact)[1]
    # About the elbow: (0.01 + 0.25 + 0.5) of the second arm's inertia turns with the shoulder, against gravity at half a metre.
    assert trajectory.joint_friction[-1, 1] == pytest.approx((0.01 + 0.25 + 0.5) * faster - 0.5 * G * math.cos(angle), abs=1e-7)


def test_friction_and_a_joint_limit_hold_together() -> None:
    """A slide pushed against its limit: limit and friction share the force, the shortest way, and nothing moves."""
    xml = joint("x", "prismatic", "base", "b", "1 0 0").replace('upper="9"', 'upper="0.5"')
    slide = robot(link("b"), xml)
    trajectory = ug.simulate(slide, [0.4], [1.0], 2.0, joint_limits=True, joint_friction=2.0, torque=[3.0], restitution=0.0)
    assert trajectory.q[-1, 0] == pytest.approx(0.5, abs=1e-12) and abs(trajectory.v[-1, 0]) < 1e-12
    total = trajectory.joint_friction[-1, 0] - trajectory.contact_forces[-1].sum()
    assert total == pytest.approx(-3.0, abs=1e-9) and -2.0 <= trajectory.joint_friction[-1, 0] <= 0.0


def test_an_impact_knows_nothing_of_bounded_forces() -> None:
    """A ball on a slide hits its limit: e = 0.5 reverses half of the velocity, whatever the joint's friction."""
    slide = robot(link("b"), joint("x", "prismatic", "base", "b", "1 0 0").replace('upper="9"', 'upper="0.5"'))
    trajectory = ug.simulate(slide, [0.0], [2.0], 1.5, joint_limits=True, joint_friction=1.0, restitution=0.5)
    before = math.sqrt(4.0 - 2 * 0.5)
    assert trajectory.impacts[0].v_before[0] == pytest.approx(before, abs=1e-9)
    assert trajectory.impacts[0].v_after[0] == pytest.approx(-0.5 * before, abs=1e-9)
    assert trajectory.impacts[0].impulses.sum() == pytest.approx(1.5 * before, abs=1e-9)
    assert trajectory.phases[-1].mode == "stick" and trajectory.q[-1, 0] == pytest.approx(0.5 - 0.125 * before**2, abs=1e-9)


def test_a_stuck_joint_lets_go_where_a_contact_opens() -> None:
    """The floor sinks away below a leg, which its friction holds, or lets fall until it lands: then both carry the weight."""
    leg = robot(link("b"), joint("z", "prismatic", "base", "b", "0 0 1"))
    floor = ug.walls.Plane((0, 0, 1), motion=ug.walls.Drift((0, 0, -0.5)))
    options: dict[str, Any] = {"walls": floor, "points": [("b", (0, 0, 0))], "restitution": 0.0, "friction": 0.5}
    held = ug.simulate(leg, [0.0], None, 1.0, joint_friction=G + 0.1, **options)
    assert (held.q == 0.0).all() and not held.contact_forces.any()
    falls = ug.simulate(leg, [0.0], None, 1.5, joint_friction=G - 1.0, **options)  # with 1 m/s^2, until 0.5 t = 0.5 t^2
    assert falls.impacts[0].time == pytest.approx(1.0, abs=1e-9)
    assert falls.q[-1, 0] == pytest.approx(-0.75, abs=1e-9) and falls.contact_forces[-1, 0] == pytest.approx(1.0, abs=1e-9)


def test_a_cart_on_rough_ground_with_a_rough_joint() -> None:
    """Contacts that stick, a joint that slides: a slide on a free block, both with friction, against two lines of algebra."""
    block = ug.load(
        f'<robot name="r">{link("base", 2.0)}{link("b")}'
        + joint("x", "prismatic", "base", "b", "1 0 0", '<dynamics friction="1.0"/>')
        + "</robot>",
        base="floating",
    )
    feet = [("base", (x, y, 0)) for x in (-3, 3) for y in (-1, 1)]
    start, v0 = np.zeros(8), np.zeros(7)
    start[6], v0[6] = 1.0, 2.0
    options: dict[str, Any] = {"walls": ug.walls.Plane((0, 0, 1)), "points": feet, "restitution": 0.0, "joint_friction": "urdf"}
    stays = ug.simulate(block, start, v0, 3.0, friction=0.5, **options)  # 1 N drags the block, which friction holds
    assert np.abs(stays.q[:, :3]).max() < 1e-9 and stays.q[-1, 7] == pytest.approx(2.0, abs=1e-9)
    assert stays.friction_forces[1].sum(axis=0)[0] == pytest.approx(-1.0, abs=1e-9)
    joint_stops = [phase for phase in stays.phases if phase.point == "x" and phase.mode == "stick"]
    assert joint_stops[0].start == pytest.approx(2.0, abs=1e-9)
    # On ground with mu (3 g) = 0.4 N the block is dragged along with (1 - 0.4) / 2 m/s^2, the slide loses 1 m/s^2.
    mu = 0.4 / (3 * G)
    slides = ug.simulate(block, start, v0, 3.0, friction=mu, **options)
    together = 2.0 / (1.0 + 0.3)
    joint_stops = [phase for phase in slides.phases if phase.point == "x" and phase.mode == "stick"]
    assert joint_stops[0].start == pytest.approx(together, abs=CLOSE)
    q, v = slides.at(together)
    assert v[0] == pytest.approx(0.3 * together, abs=CLOSE) and q[7] == pytest.approx(2.0 * together - 0.65 * together**2, abs=CLOSE)


def test_a_mimic_joint_rubs_with_the_joint_that_it_follows() -> None:
    """v2 = -2 v1: 1 N of the first and 2 * 0.75 N of the second act on the first, which moves 1 + 4 kg."""
    follows = '<mimic joint="x" multiplier="-2"/><dynamics friction="0.75"/>'
    pair = robot(
        link("b"), link("c"), joint("x", "prismatic", "base", "b", "1 0 0", '<dynamics friction="1"/>'),
        joint("y", "prismatic", "base", "c", "1 0 0", follows),
    )  # fmt: skip
    trajectory = ug.simulate(pair, [0.0], [1.0], 3.0, joint_friction="urdf")
    assert trajectory.settings["joint_friction"] == {"x": 2.5}
    assert trajectory.phases[-1].start == pytest.approx(1.0 / (2.5 / 5.0), abs=1e-10)


# time stepping ------------------------------------------------------------------------------------------


def test_time_stepping_converges_to_the_oscillator() -> None:
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        trajectory = ug.simulate(
            slider(), [0.1], None, 2.0, controller=lambda t, q, v: -100 * q, joint_friction=0.1 * G, scheme="time_stepping", step=step
        )
        assert np.abs(trajectory.joint_friction).max() <= 0.1 * G * (1 + 1e-9)
        errors.append(abs(trajectory.q[-1, 0] + 0.0019))
        assert trajectory.phases[-1].mode == "stick"
    assert errors[1] < 0.6 * errors[0] and errors[2] < 0.6 * errors[1]  # first order; the controller is called once in each step


def test_time_stepping_holds_and_stops() -> None:
    held = ug.simulate(pendulum(G * 1.001), [0.0], None, 1.0, joint_friction="urdf", scheme="time_stepping")
    assert np.abs(held.q).max() < 1e-12 and held.joint_friction[-1, 0] == pytest.approx(-G, abs=1e-6)
    stops = ug.simulate(slider(3.0, 2.0), [0], [1.5], 2.0, joint_friction="urdf", scheme="time_stepping")
    assert stops.q[-1, 0] == pytest.approx(0.75, abs=1e-3)
    assert stops.phases[-1].mode == "stick" and stops.phases[-1].start == pytest.approx(1.0, abs=2e-3)


# input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (-1.0, "joint_friction=-1.0, expected a number from 0"),
        (math.nan, "joint_friction=nan"),
        ("file", "joint_friction='file', expected 'urdf'"),
        ({"x": -2.0}, "joint_friction of 'x'=-2.0"),
        ([1.0, 2.0], "joint_friction has shape (2,)"),
        ([-1.0], "joint_friction[0]=-1.0"),
    ],
)
def test_wrong_bounds_are_named(given: Any, message: str) -> None:
    with pytest.raises(ug.ArgumentError, match=re.escape(message)):
        ug.simulate(slider(), [0], None, 1.0, joint_friction=given)


def test_joints_that_cannot_have_friction_are_named() -> None:
    ball = ug.load(ug.model_path("free_ball"), base="floating")
    with pytest.raises(ug.UnknownNameError, match="knee"):
        ug.simulate(slider(), [0], None, 1.0, joint_friction={"knee": 1.0})
    with pytest.raises(ug.ArgumentError, match="floating"):
        ug.simulate(ball, ball.neutral(), None, 1.0, joint_friction={ball.joints[0].name: 1.0})
    with pytest.raises(ug.ArgumentError, match=r"joint_friction\[2\]=1"):
        ug.simulate(ball, ball.neutral(), None, 1.0, joint_friction=[0, 0, 1, 0, 0, 0])


def test_in_a_scenario_and_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "slide.urdf").write_text(slider(3.0).source or "")
    text = 'duration = 1.0\n[robot]\nfile = "slide.urdf"\n[start_velocity]\nx = 1.5\n[contacts]\njoint_friction = {}\n'
    for given in ('"urdf"', "3.0", "{x = 3.0}"):
        (tmp_path / "run.toml").write_text(text.format(given))
        trajectory = ug.simulate(**ug.read_scenario(tmp_path / "run.toml").arguments())
        assert trajectory.phases[-1].start == pytest.approx(0.5, abs=1e-10)
    for given in ("-1.0", "{y = 3.0}", "{x = -1.0}", "true"):
        (tmp_path / "run.toml").write_text(text.format(given))
        with pytest.raises(ScenarioError, match=r"line 7|:7"):
            ug.read_scenario(tmp_path / "run.toml")
    read = ug.Trajectory.load(trajectory.save(tmp_path / "run"))
    assert (read.joint_friction == trajectory.joint_friction).all() and read.phases[0].wall == "joint friction"
