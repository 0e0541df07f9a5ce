"""Bundled scenarios with friction against closed forms and conserved quantities, and the keys of scenario files that friction adds.

Closed forms are computed here or printed to eight digits; the integrator's tolerance is 1e-10, so that 1e-7 leaves room for the digits.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import cos, pi, sin, sqrt

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.errors import SimulationError
from urdf_gibbs.simulation.scenario import Scenario, ScenarioError, parse_scenario

G = 9.81
CLOSE = 1e-7


@cache
def run(name: str) -> ug.Trajectory:
    return ug.simulate(**ug.read_scenario(name).arguments())


def phases(trajectory: ug.Trajectory, point: str) -> list[tuple[str, float, float]]:
    return [(phase.mode, phase.start, phase.end) for phase in trajectory.phases if phase.point == point]


def test_a_block_thrown_up_an_incline_comes_back() -> None:
    motion = run("block_on_incline")
    up, down = G * (sin(pi / 6) + 0.3 * cos(pi / 6)), G * (sin(pi / 6) - 0.3 * cos(pi / 6))
    turn = 4.0 / up
    back = turn + sqrt(16.0 / up / down)
    assert back == pytest.approx(1.49110930, abs=1e-8)
    q, v = motion.at(back)
    assert np.abs(q[:3] - motion.q[0, :3]).max() < CLOSE
    assert v == pytest.approx([2.24899133, 0.0, 0.0, 0.0, 0.0, 0.0], abs=CLOSE)
    assert np.abs(motion.at(turn)[1]).max() < CLOSE
    rows = np.arange(len(motion)) > 0  # at the turn the force may be either
    ratio = np.linalg.norm(motion.friction_forces, axis=2)[rows].sum(axis=1) / motion.contact_forces[rows].sum(axis=1)
    assert ratio == pytest.approx(np.full(len(ratio), 0.3), abs=1e-9)


def test_with_more_friction_the_block_stays() -> None:
    motion = ug.simulate(**replace(ug.read_scenario("block_on_incline"), friction=0.7).arguments())
    stops = [phase.start for phase in motion.phases if phase.mode == "stick"]
    assert stops == pytest.approx([0.36859577] * 4, abs=CLOSE)
    assert np.linalg.norm(motion.q[-1, :3] - motion.q[0, :3]) == pytest.approx(0.73719154, abs=CLOSE)
    assert np.abs(motion.v[-1]).max() < 1e-12


def test_a_ball_with_backspin_slips_and_then_rolls() -> None:
    motion = run("backspin")
    (first, _, end), (second, start, last) = phases(motion, "ball")
    assert (first, second, last) == ("slip", "stick", np.inf)
    assert end == start == pytest.approx(0.81549439, abs=CLOSE)
    speed = np.hypot(motion.v[:, 0], motion.v[:, 2])  # in the ball's frame, which turns
    assert speed[-1] == pytest.approx(1.0, abs=CLOSE) and motion.v[-1, 4] == pytest.approx(10.0, abs=1e-6)
    along = np.array([ug.momentum(motion.robot, q, v)[0] for q, v in zip(motion.q, motion.v, strict=True)])
    angular = 0.1 * along + 0.004 * motion.v[:, 4]
    assert angular == pytest.approx(np.full(len(angular), 0.14), abs=1e-9)
    assert np.abs(motion.friction_forces[motion.t > end + 1e-6]).max() < 1e-6


def test_a_block_rocks_from_edge_to_edge() -> None:
    motion = run("rocking_block")
    assert [impact.time for impact in motion.impacts][:3] == pytest.approx([0.22380421, 0.55097856, 0.79953140], abs=CLOSE)
    for impact in motion.impacts:
        assert impact.v_after[4] / impact.v_before[4] == pytest.approx(0.79310345, abs=CLOSE)
    assert {phase.mode for phase in motion.phases} == {"stick"}


def test_a_rimless_wheel_keeps_its_gait() -> None:
    motion = run("rimless_wheel")
    ratio = (0.5 + cos(pi / 4)) / 1.5
    speed = sqrt(4.0 * G * sin(pi / 8) * sin(pi / 36) / (0.75 * (1.0 - ratio**2)))
    assert len(motion.impacts) == 6
    for impact in motion.impacts:
        assert impact.v_before[4] == pytest.approx(speed, abs=CLOSE)
        assert impact.v_after[4] == pytest.approx(ratio * speed, abs=CLOSE)
    assert np.diff([impact.time for impact in motion.impacts]) == pytest.approx(np.full(5, motion.impacts[0].time), abs=CLOSE)


def test_painleves_rod_has_an_impact_without_collision() -> None:
    motion = run("painleve_rod")
    (impact,) = motion.impacts
    assert impact.time == 0.0
    assert impact.impulses == pytest.approx([0.32475953], abs=CLOSE)
    assert impact.tangential_impulses[0] == pytest.approx([-0.4375, 0.0, 0.0], abs=CLOSE)
    assert impact.energy_before - impact.energy_after == pytest.approx(0.4375 / 2.0, abs=CLOSE)  # half of the impulse times the slip


def test_painleves_rod_slides_below_the_critical_friction_and_stops_the_run_above() -> None:
    scenario = ug.read_scenario("painleve_rod")
    assert not ug.simulate(**replace(scenario, friction=1.347, duration=0.001).arguments()).impacts
    with pytest.raises(SimulationError, match=r"(?i)painlev|coulomb"):
        ug.simulate(**replace(scenario, friction=1.348, paradox="stop").arguments())


def test_a_tossed_box_loses_energy_and_comes_to_rest_on_a_face() -> None:
    motion = run("box_toss")
    assert len(motion.impacts) > 10
    for impact in motion.impacts:
        assert impact.energy_after <= impact.energy_before + 1e-12
    assert np.diff(motion.energies.total).max() < 1e-9
    assert np.abs(motion.v[-1]).max() < 1e-12
    assert motion.energies.total[-1] == pytest.approx(2.0 * G * 0.05, abs=1e-9)
    assert motion.contact_forces[-1].sum() == pytest.approx(2.0 * G, abs=1e-9)
    assert np.abs(motion.friction_forces[-1].sum(axis=0)).max() < 1e-9


def test_a_chain_falls_as_one_and_the_floor_gives_all_momentum() -> None:
    motion = run("falling_chain")
    first = motion.impacts[0]
    assert first.points == ("link1",) and first.time == pytest.approx(sqrt(0.6 / G), abs=CLOSE)
    assert np.abs(first.v_before[6:]).max() < 1e-9  # no hinge has turned
    for impact in motion.impacts:
        before, after = (ug.momentum(motion.robot, impact.q, v)[:3] for v in (impact.v_before, impact.v_after))
        given = impact.tangential_impulses.sum(axis=0) + impact.impulses @ impact.normals
        assert after - before == pytest.approx(given, abs=1e-9)
        cone = 0.5 * impact.impulses - np.linalg.norm(impact.tangential_impulses, axis=1)
        assert cone.min() > -1e-9
    assert np.abs(motion.q[:, 1]).max() < 1e-9
    assert np.diff(motion.energies.total).max() < 1e-9
    assert (motion.contact_forces[-1] > 0.0).all()
    assert motion.contact_forces[-1].sum() == pytest.approx(1.2 * G, abs=1e-6)


def test_a_quadruped_lands_and_stands() -> None:
    scenario, motion = ug.read_scenario("quadruped"), run("quadruped")
    assert len(scenario.robot.joints) == 13 and scenario.robot.nv == 18
    first = motion.impacts[0]
    assert first.time == pytest.approx(sqrt(0.2 / G), abs=CLOSE)
    assert len(first.points) == 4 and np.ptp(first.impulses) < 1e-9
    assert all(phases(motion, f"{leg}_foot")[-1][::2] == ("stick", np.inf) for leg in ("fl", "fr", "rl", "rr"))
    # It creeps to its rest: m times the acceleration that is left
    assert motion.contact_forces[-1].sum() == pytest.approx(12.2 * G, abs=0.05)
    assert np.abs(motion.v[-1]).max() < 1e-3
    assert motion.q[-1, 2] > 0.25  # it stands: the hips are 0.4 cos(0.8) + 0.02 = 0.299 m high in the pose
    height = np.hypot(motion.friction_forces[-1][:, 0], motion.friction_forces[-1][:, 1])
    assert (height <= 0.8 * motion.contact_forces[-1] + 1e-9).all()


# controllers --------------------------------------------------------------------------------------------

PENDULUM = 'duration = 2.0\n[robot]\nfile = "pendulum"\n'


def controlled(table: str, start: str = "") -> Scenario:
    return parse_scenario(f"{PENDULUM}{start}\n[controller]\n{table}", "test.toml")


def joint_name() -> str:
    return parse_scenario(PENDULUM).robot.joint_names[0]


def test_pd_is_a_spring_and_a_damper_at_a_rate() -> None:
    name = joint_name()
    scenario = controlled(
        f'kind = "pd"\nrate = 250.0\nkp = {{{name} = 30.0}}\nkd = 2.0\npose = {{{name} = "pi/3"}}', f"[start]\n{name} = 0.2"
    )
    arguments = scenario.arguments()
    assert arguments["controller_rate"] == 250.0 and "torque" not in arguments
    assert arguments["controller"](0.0, np.array([0.2]), np.array([0.5])) == pytest.approx([30.0 * (pi / 3 - 0.2) - 2.0 * 0.5])


def test_the_pose_is_that_of_the_start_unless_given() -> None:
    name = joint_name()
    scenario = controlled('kind = "pd"\nkp = 30', f"[start]\n{name} = 0.2")
    assert scenario.arguments()["controller"](0.0, np.array([0.0]), np.zeros(1)) == pytest.approx([6.0])


def test_gravity_compensation_holds_a_pendulum_where_it_is() -> None:
    name = joint_name()
    motion = ug.simulate(**controlled('kind = "gravity_compensation"', f"[start]\n{name} = 0.7").arguments())
    assert np.abs(motion.q - 0.7).max() < 1e-12
    swings = ug.simulate(**parse_scenario(f"{PENDULUM}[start]\n{name} = 0.7").arguments())
    assert np.ptp(swings.q) > 0.5


def test_the_base_is_not_driven() -> None:
    scenario = ug.read_scenario("quadruped")
    assert scenario.controller is not None
    tau = scenario.controller(0.0, scenario.q0 + 0.1, scenario.v0)
    assert tau == pytest.approx([0.0] * 6 + [-10.0] * 12)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("friction = -0.1", "friction: -0.1, expected a number of 0 or more"),
        ("friction = nan", "friction: nan, expected a finite number"),
        ('friction = "rough"', 'friction: "rough", expected a number, [static, kinetic], "urdf"'),
        ("friction = [0.3, 0.4]", "friction: [0.3, 0.4], expected a kinetic friction up to the static one"),
        ("friction = [0.3]", "friction: [0.3], expected a coefficient, or [static, kinetic]"),
        ('friction = ["urdf", -1]', "friction[1]: -1, expected a number of 0 or more"),
        ('paradox = "wait"', 'paradox: "wait", expected one of impact, stop'),
        ('[[walls]]\nkind = "plane"\nfriction = -1', "walls[0].friction: -1, expected a number of 0 or more"),
        ('[contacts]\npoints = [{link = "LINK", friction = -1}]', "contacts.points[0].friction: -1, expected a number of 0 or more"),
        ('[controller]\nkind = "pid"', 'controller.kind: "pid", expected one of pd, gravity_compensation'),
        ("[controller]\nrate = 100", "controller.kind: missing"),
        ('[controller]\nkind = "pd"\nrate = 0', "controller.rate: 0, expected a number above 0"),
        ('[controller]\nkind = "pd"\nkp = -1', "controller.kp: -1, expected a number of 0 or more"),
        ('[controller]\nkind = "pd"\nkd = {elbow = 1}', 'controller.kd.elbow: "elbow", expected a joint that turns or slides: '),
        ('[controller]\nkind = "pd"\npose = {elbow = 1}', "controller.pose.elbow: unknown joint"),
        ('[controller]\nkind = "pd"\n[torques]\nJOINT = 1', "torques: given beside controller, expected one of the two"),
    ],
)
def test_wrong_values_are_told_with_their_line(text: str, complaint: str) -> None:
    robot = parse_scenario(PENDULUM).robot
    text = text.replace("LINK", robot.link_names[-1]).replace("JOINT", robot.joint_names[0])
    top, tables = (text, "") if not text.startswith("[") else ("", text)
    written = f'duration = 1.0\n{top}\n[robot]\nfile = "pendulum"\n{tables}'
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(written, "test.toml")
    (problem,) = caught.value.problems
    assert complaint in str(problem)
    key = complaint.split(":")[0].split(".")[-1].split("[")[0]
    assert "missing" in complaint or key in written.splitlines()[problem.line - 1]


def test_the_frictions_of_a_file_reach_the_simulator() -> None:
    robot = parse_scenario(PENDULUM).robot
    scenario = parse_scenario(
        f'duration = 1.0\nfriction = ["urdf", 0.4]\nparadox = "stop"\n[robot]\nfile = "pendulum"\n'
        f'[contacts]\npoints = ["{robot.link_names[-1]}", {{link = "{robot.link_names[-1]}", position = [0.1, 0, 0], friction = [0.5, 0.3]}}]\n'
        '[[walls]]\nkind = "plane"\npoint = [0, 0, -9]\n[[walls]]\nkind = "plane"\npoint = [0, 0, -8]\nfriction = 0.2\n'
    )
    arguments = scenario.arguments()
    assert arguments["friction"] == ("urdf", 0.4) and arguments["paradox"] == "stop"
    for name in ("q0", "v0", "duration"):
        del arguments[name]
    found = ug.Simulator(**arguments).description.candidates().contacts.friction
    assert found.tolist() == [[0.4, 0.4], [0.2, 0.2], [0.5, 0.3], [0.5, 0.3]]
