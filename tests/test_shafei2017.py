"""The case studies of Shafei 2017 (elastic links): the converged numbers, closed forms, and the one-link equations written out by hand.

Independent of the package: flight and impacts of the flat link are solved in closed form, those of a tilted one by SciPy from equations of
motion derived here; the shape's integrals are SciPy's. What the numbers owe to the reading of the paper: docs/pages/formulations/elastic-cases.md.
"""

from __future__ import annotations

import warnings
from functools import cache
from itertools import pairwise
from math import cos, cosh, pi, sin, sinh, sqrt, tan, tanh
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq

from urdf_gibbs import Robot, Trajectory, UrdfError, frame_placement, load, mass_matrix, model_path, simulate
from urdf_gibbs.bundled import scenario_path
from urdf_gibbs.flexible.modes import sigma, wave_number
from urdf_gibbs.simulation.scenario import Scenario, ScenarioError, parse_scenario, read_scenario

Array = NDArray[np.float64]

G, HEIGHT, MASS, LENGTH, EI, ROTARY = 9.81, 0.5, 1.0, 1.0, 1000.0, 2.94e-5
BETA, SIGMA = 4.730040744862704, 1.0178094106701925  # printed as 4.731 and 1.017
TIMES = (0.31927543, 0.32116976, 0.32323679, 0.93885308, 0.94034897, 0.94181991)
PAIR_TIMES = (0.47246469, 0.52332562, 0.62441919, 0.93915965, 1.20544903)


def changed(name: str, *added: str) -> Scenario:
    """A bundled scenario with tables before its [start]."""
    text = scenario_path(name).read_text(encoding="utf-8").replace("[start]", "\n".join([*added, "[start]"]))
    return parse_scenario(text, str(scenario_path(name)))


@cache
def run(name: str) -> Trajectory:
    return simulate(**read_scenario(name).arguments())


def frequencies(robot: Robot) -> Array:
    """[rad/s] of the free robot at q = 0, rigid motions left out."""
    K = np.zeros((robot.nv, robot.nv))
    count = 0
    for joint in robot.joints:
        if joint.beam is not None:
            K[joint.iv : joint.iv + joint.nv, joint.iv : joint.iv + joint.nv] = joint.beam.stiffness
            count += joint.nv
    return np.sqrt(eigh(K, mass_matrix(robot, np.zeros(robot.nq)), eigvals_only=True)[-count:])


def free_robot(links: int, family: str, count: int) -> Robot:
    """One link or a hinged pair without J'."""
    name = ("flexible_link", "flexible_two_links")[links - 1]
    tables = [f'[[flexible]]\nlink = "link{i + 1}"\nJ = [0, 0, 0]\nmodes = "y={family}:{count}"' for i in range(links)]
    return changed(name, *tables).robot


# the shape of the paper, integrated here ----------------------------------------------------------------


class Integrals(NamedTuple):
    """Of phi, phi^2, eta phi over the link, with mu = 1 kg/m, and EI times that of phi''^2."""

    first: float
    square: float
    moment: float
    stiffness: float


def phi(eta: float) -> float:
    x = BETA * eta
    return sin(x) - sinh(x) - SIGMA * (cos(x) - cosh(x))


def curvature(eta: float) -> float:
    x = BETA * eta
    return BETA**2 * (-sin(x) - sinh(x) + SIGMA * (cos(x) + cosh(x)))


@cache
def integrals() -> Integrals:
    def over(f: object) -> float:
        return float(quad(f, 0.0, LENGTH, epsabs=1e-14, epsrel=1e-13)[0])

    square = over(lambda x: phi(x) ** 2)
    return Integrals(over(phi), square, over(lambda x: x * phi(x)), EI * over(lambda x: curvature(x) ** 2))


# case study I ------------------------------------------------------------------------------------------


def test_clamped_clamped_constants() -> None:
    assert wave_number("clamped-clamped", 1) == pytest.approx(BETA, rel=1e-15)
    assert sigma("clamped-clamped", 1) == pytest.approx(SIGMA, rel=1e-14)
    assert cos(BETA) * cosh(BETA) == pytest.approx(1.0, abs=1e-12)
    beam = load(model_path("flexible_link")).joints[3].beam
    assert beam is not None
    assert abs(beam.tip).max() < 1e-12 and abs(beam.tip_rotation).max() < 1e-12  # the end is clamped
    own = integrals()
    assert beam.C1[0, 1] == pytest.approx(own.first, rel=1e-12)
    assert np.trace(beam.G[0, 0]) == pytest.approx(own.square, rel=1e-12)
    assert beam.stiffness[0, 0] == pytest.approx(own.stiffness, rel=1e-12)


def test_two_bursts_of_three_impacts() -> None:
    impacts = run("flexible_link").impacts
    assert [impact.time for impact in impacts] == pytest.approx(TIMES, abs=1e-8)
    assert [impact.points for impact in impacts] == [("O1", "O2")] * 6


def test_the_paper_names_the_first_impact_of_each_burst() -> None:
    """Its 0.3194 s is 1.2e-4 s later than free fall from 0.5 m takes, which no reading changes; the second is met to its digits."""
    times = [impact.time for impact in run("flexible_link").impacts]
    for published, own in zip((0.3194, 0.9388), (times[0], times[3]), strict=True):
        assert published == pytest.approx(own, abs=1.3e-4)
    reference = read_scenario("flexible_link").reference
    assert reference is not None and [impact.time for impact in reference.impacts] == [0.3194, 0.9388]


def test_first_impact_is_that_of_free_fall() -> None:
    assert run("flexible_link").impacts[0].time == pytest.approx(sqrt(2.0 * HEIGHT / G), abs=1e-12)


def test_impulse_at_each_end() -> None:
    """Both ends at once on a straight link: 2 p = 2 v (m - C1^2 / C3)."""
    impulses = run("flexible_link").impacts[0].impulses
    np.testing.assert_allclose(impulses, 0.96991219, atol=1e-8)
    own = integrals()
    np.testing.assert_allclose(impulses, sqrt(2.0 * G * HEIGHT) * (MASS - own.first**2 / own.square), rtol=1e-10)


def test_frequency_in_flight() -> None:
    (found,) = frequencies(load(model_path("flexible_link")))
    own = integrals()
    assert found == pytest.approx(1271.3959, abs=5e-5)
    assert found == pytest.approx(sqrt(own.stiffness / (own.square - own.first**2 / MASS)), rel=1e-11)


def test_what_vibrates_does_not_rise() -> None:
    """After the burst the mass centre rises to where its energy ends; the rest of the energy, 7.065 %, vibrates."""
    trajectory = run("flexible_link")
    k = int(np.flatnonzero(trajectory.t == trajectory.impacts[2].time)[-1])
    q, v = trajectory.q[k], trajectory.v[k]
    share = integrals().first / MASS
    y, speed = q[1] + share * q[3], v[1] + share * v[3]
    rise = y + speed**2 / (2.0 * G)
    assert rise == pytest.approx(0.46467259, abs=1e-8)
    assert 1.0 - rise / HEIGHT == pytest.approx(0.07065, abs=5e-6)
    t = np.linspace(trajectory.impacts[2].time, trajectory.impacts[3].time, 5001)
    q, _ = trajectory.at(t)
    assert (q[:, 1] + share * q[:, 3]).max() == pytest.approx(rise, abs=1e-7)  # as far as the samples see the top


def test_energy_stays() -> None:
    total = run("flexible_link").energies.total
    assert total[0] == pytest.approx(MASS * G * HEIGHT, rel=1e-14)
    assert np.ptp(total) < 1e-10 * total[0]


def test_no_rotation_and_no_drift() -> None:
    """The paper: almost no rotation, negligible horizontal motion. By symmetry there is none."""
    trajectory = run("flexible_link")
    assert abs(trajectory.q[:, [0, 2]]).max() < 1e-9


def test_rigid_link_comes_back_later() -> None:
    times = [impact.time for impact in run("rigid_link").impacts]
    assert times == pytest.approx([0.31927543, 0.95782629], abs=1e-8)
    assert times == pytest.approx([sqrt(2.0 * HEIGHT / G), 3.0 * sqrt(2.0 * HEIGHT / G)], abs=1e-12)


def test_closed_form_of_the_flat_link() -> None:
    """The mass centre y falls freely, delta swings with one frequency, and the ends are at y - C1 delta / m."""
    own = integrals()
    reduced = own.square - own.first**2 / MASS
    omega = sqrt(own.stiffness / reduced)
    t, y, vy, delta, rate = 0.0, HEIGHT, 0.0, 0.0, 0.0
    found = []
    while True:

        def end(s: float, y: float = y, vy: float = vy, delta: float = delta, rate: float = rate) -> float:
            swing = delta * cos(omega * s) + rate / omega * sin(omega * s)
            return y + vy * s - 0.5 * G * s * s - own.first / MASS * swing

        steps = np.arange(2e-5, 1.0 - t, 2e-5)
        heights = np.array([end(s) for s in steps])
        below = np.flatnonzero(heights < 0.0)
        if not below.size:
            break
        s = brentq(end, steps[below[0] - 1] if below[0] else 1e-9, steps[below[0]], xtol=1e-16)
        y, vy = y + vy * s - 0.5 * G * s * s, vy - G * s
        delta, rate = (
            delta * cos(omega * s) + rate / omega * sin(omega * s),
            rate * cos(omega * s) - delta * omega * sin(omega * s),
        )
        speed = vy - own.first / MASS * rate  # of the ends; it turns, and C1 X2' + C3 delta' stays
        kick = 2.0 * own.first * speed / own.square
        p = -2.0 * MASS * speed + own.first * kick
        rate, vy, t = rate + kick, vy + p / MASS, t + s
        found.append((t, p / 2.0))
    impacts = run("flexible_link").impacts
    assert [time for time, _ in found] == pytest.approx([impact.time for impact in impacts], abs=1e-9)
    for (_, p), impact in zip(found, impacts, strict=True):
        np.testing.assert_allclose(impact.impulses, p, rtol=1e-6)
    assert [time for time, _ in found] == pytest.approx(TIMES, abs=1e-8)


def test_scipy_and_equations_by_hand_give_the_same_motion() -> None:
    """A tilted, spinning link, so that every term of the equations acts, until both ends have struck."""
    own, spin, inertia = integrals(), MASS * LENGTH / 2.0, MASS * LENGTH**2 / 3.0 + ROTARY * LENGTH

    def system(y: Array) -> tuple[Array, Array]:
        """M and the right-hand side for (X1, X2, q, delta): absolute accelerations of the sections, projected."""
        q, delta, w, rate = y[2], y[3], y[6], y[7]
        R = np.array([[cos(q), -sin(q)], [sin(q), cos(q)]])
        across, bend = R @ [-own.first * delta, spin], R @ [0.0, own.first]
        M = np.zeros((4, 4))
        M[0, 0] = M[1, 1] = MASS
        M[:2, 2] = M[2, :2] = across
        M[:2, 3] = M[3, :2] = bend
        M[2, 2], M[3, 3] = inertia + own.square * delta**2, own.square
        M[2, 3] = M[3, 2] = own.moment
        drag = R @ [-(w**2) * spin - 2.0 * w * rate * own.first, -(w**2) * own.first * delta]
        right = np.array([0.0, -MASS * G, -G * across[1], -G * bend[1]])
        right[:2] -= drag
        right[2] -= 2.0 * w * rate * delta * own.square
        right[3] += w**2 * own.square * delta - own.stiffness * delta
        return M, right

    def slope(t: float, y: Array) -> Array:
        return np.concatenate([y[4:], np.linalg.solve(*system(y))])

    def left(t: float, y: Array) -> float:
        return float(y[1])

    def right(t: float, y: Array) -> float:
        return float(y[1] + LENGTH * sin(y[2]))

    for event in (left, right):
        event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
    duration = 0.36
    t, y, found = 0.0, np.array([0.0, 0.5, -0.05, 0.002, 0.3, 0.0, 0.2, 0.0]), []
    while True:
        solution = solve_ivp(slope, (t, duration), y, "DOP853", events=(left, right), rtol=1e-12, atol=1e-12, max_step=1e-3)
        t, y = float(solution.t[-1]), solution.y[:, -1].copy()
        if solution.status != 1:
            break
        which = 0 if len(solution.t_events[0]) else 1
        row = np.array([0.0, 1.0, LENGTH * cos(y[2]) if which else 0.0, 0.0])
        reply = np.linalg.solve(system(y)[0], row)
        impulse = -2.0 * (row @ y[4:]) / (row @ reply)
        y[4:] += reply * impulse
        found.append((t, f"O{which + 1}", impulse))
    scenario = read_scenario("flexible_link")
    arguments = scenario.arguments() | {"q0": [0.0, 0.5, -0.05, 0.002], "v0": [0.3, 0.0, 0.2, 0.0], "duration": duration}
    trajectory = simulate(**arguments)
    assert {name for _, name, _ in found} == {"O1", "O2"} and len(found) == len(trajectory.impacts)
    for (time, name, impulse), impact in zip(found, trajectory.impacts, strict=True):
        assert impact.points == (name,)
        assert impact.time == pytest.approx(time, abs=1e-8)
        assert impact.impulses[0] == pytest.approx(impulse, rel=1e-5)
    np.testing.assert_allclose(trajectory.q[-1], y[:4], atol=1e-8)


# what more modes do ------------------------------------------------------------------------------------


def test_clamped_free_modes_approach_the_free_beam() -> None:
    """cos b cosh b = 1 is also the equation of the beam with two free ends: b^2 sqrt(EI / mu L^4)."""
    exact = BETA**2 * sqrt(EI)
    assert exact == pytest.approx(707.505408, abs=5e-7)
    found = [frequencies(free_robot(1, "clamped-free", count))[0] for count in range(1, 9)]
    assert found[:4] == pytest.approx([1136.368, 710.773, 708.332, 707.772], abs=5e-4)
    assert all(exact < b < a for a, b in pairwise(found))
    assert found[-1] == pytest.approx(exact, rel=5e-5)


def test_clamped_clamped_modes_do_not() -> None:
    """Ends that cannot turn against the link leave a beam on sliding clamps: (2 pi)^2 sqrt(EI / mu L^4), 76 % too high."""
    wrong = (2.0 * pi) ** 2 * sqrt(EI)
    found = [frequencies(free_robot(1, "clamped-clamped", count))[0] for count in (1, 3, 5, 7, 9)]
    assert found[0] == pytest.approx(1271.3959, abs=5e-5)
    assert all(wrong < b < a for a, b in pairwise(found))
    assert found[-1] == pytest.approx(wrong, rel=1e-4)


def test_hinged_pair_approaches_its_closed_form() -> None:
    """The lowest mode is antisymmetric about the hinge, each link pinned there and free at the other end: tan b = tanh b."""
    b = brentq(lambda x: tan(x) - tanh(x), 3.8, 4.0, xtol=1e-15)
    exact = b**2 * sqrt(EI)
    assert exact == pytest.approx(487.566475, abs=5e-7)
    found = [frequencies(free_robot(2, "clamped-free", count))[0] for count in range(1, 6)]
    assert all(exact < b < a for a, b in pairwise(found))
    assert found[-1] == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("family", ["clamped-clamped", "clamped-free"])
def test_impulses_shrink_with_more_modes(family: str) -> None:
    """A rigid impact of an elastic link acts on less and less mass: its impact times are those of the model, with no limit."""
    sums = []
    for count in (1, 3, 5):
        scenario = changed("flexible_link", f'[[flexible]]\nlink = "link1"\nmodes = "y={family}:{count}"')
        trajectory = simulate(**scenario.arguments() | {"duration": 0.3193})
        sums.append(float(trajectory.impacts[0].impulses.sum()))
    assert sums[0] > 1.2 * sums[1] > 1.2 * 1.2 * sums[2]


# the substitute for case study II ----------------------------------------------------------------------


def test_two_links_in_a_circle() -> None:
    trajectory = run("flexible_two_links")
    assert [impact.points for impact in trajectory.impacts] == [("O3",), ("O1",), ("O3",), ("O1",), ("O3",)]
    assert [impact.time for impact in trajectory.impacts] == pytest.approx(PAIR_TIMES, abs=1e-6)
    assert trajectory.impacts[0].impulses[0] == pytest.approx(6.65784143, abs=1e-6)
    total = trajectory.energies.total
    assert total[0] == pytest.approx(5.80395318, abs=5e-9)
    assert np.ptp(total) < 1e-9 * total[0]


def test_two_links_start_with_the_energy_of_two_rods() -> None:
    a, b = np.radians(20.0), np.radians(-40.0)
    heights = 0.2 + 0.5 * sin(a), 0.2 + sin(a) + 0.5 * sin(b)
    assert run("flexible_two_links").energies.total[0] == pytest.approx(G * sum(heights), rel=1e-14)


def test_points_of_the_two_links() -> None:
    """A mode of 1 m at the tip: its amplitude moves O2 across the first link, and turns what follows by its slope there."""
    robot = load(model_path("flexible_two_links"))
    q = np.zeros(6)
    q[3] = 0.01
    np.testing.assert_allclose(frame_placement(robot, q, "O2")[:3, 3], (1.0, 0.01, 0.0), atol=1e-14)
    b = brentq(lambda x: cos(x) * cosh(x) + 1.0, 1.8, 1.9, xtol=1e-15)
    s = (cosh(b) + cos(b)) / (sinh(b) + sin(b))
    turn = 0.01 * b * (sinh(b) + sin(b) - s * (cosh(b) - cos(b))) / (cosh(b) - cos(b) - s * (sinh(b) - sin(b)))
    np.testing.assert_allclose(frame_placement(robot, q, "O3")[:3, 3], (1.0 + cos(turn), 0.01 + sin(turn), 0.0), atol=1e-12)


# elastic links from the scenario's file ----------------------------------------------------------------

ELASTIC = """duration = 0.1
[robot]
file = "rigid_link"
[[flexible]]
link = "link1"
EI_z = "10**3"
J = [5.89e-5, 2.94e-5, 2.94e-5]
modes = "y=clamped-clamped:1"
"""


def test_scenario_makes_the_same_robot() -> None:
    assert parse_scenario(ELASTIC).robot.fingerprint == load(model_path("flexible_link")).fingerprint


def test_scenario_overrides_the_urdf() -> None:
    robot = changed("flexible_two_links", '[[flexible]]\nlink = "link2"\nmodes = "y=clamped-free:3"').robot
    assert robot.velocity_names[-3:] == ("link2.elastic.y1", "link2.elastic.y2", "link2.elastic.y3")
    assert robot.nv == 8
    second = robot.joints[-1].beam
    assert second is not None and second.mass == 1.0  # as the URDF has it
    assert robot.findings == ()


def test_elastic_start_by_joint_and_by_coordinate() -> None:
    text = ELASTIC.replace(":1", ":2")
    expected = [0.0, 0.0, 0.0, 0.01, 0.002]
    for lines in ('"link1.elastic" = [0.01, "1/500"]', '"link1.elastic.y1" = 0.01\nlink1.elastic.y2 = 0.002'):
        np.testing.assert_array_equal(parse_scenario(f"{text}[start]\n{lines}\n").q0, expected)
    np.testing.assert_array_equal(parse_scenario(f"{text}[start_velocity]\nlink1.elastic.y2 = 3\n").v0, [0, 0, 0, 0, 3])
    np.testing.assert_array_equal(parse_scenario(f"{ELASTIC}[start]\nlink1.elastic = [0.5]\n").q0, [0, 0, 0, 0.5])
    np.testing.assert_array_equal(parse_scenario(text).q0, np.zeros(5))


@pytest.mark.parametrize(
    ("declared", "encoding", "before"),
    [("utf-8", "utf-8", ""), ("utf-8", "utf-8-sig", ""), ("utf-8", "utf-8", "\n\n"), ("utf-16", "utf-16", ""), ("cp1252", "cp1252", "")],
)
def test_any_urdf_can_be_made_elastic(declared: str, encoding: str, before: str, tmp_path: Path) -> None:
    """Also one with names that XML has to escape, another encoding, and a comment behind its end that looks like it."""
    text = model_path("rigid_link").read_text(encoding="utf-8").replace('version="1.0"', f'version="1.0" encoding="{declared}"')
    text = before + text.replace('"link1"', '"&lt;ä&gt; &amp; &quot;"') + "<!-- </robot> -->\n"
    (tmp_path / "arm.urdf").write_bytes(text.encode(encoding))
    written = ELASTIC.replace('"rigid_link"', '"arm.urdf"').replace('"link1"', "'<ä> & \"'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of blank lines
        robot = parse_scenario(written, str(tmp_path / "some.toml")).robot
    assert robot.fingerprint == load(model_path("flexible_link")).fingerprint
    assert robot.velocity_names[-1] == '<ä> & ".elastic.y1'


def test_a_second_element_overrides_only_if_it_says_so() -> None:
    text = model_path("flexible_link").read_text(encoding="utf-8")
    second = '<urdf_gibbs><flexible link="link1" modes="y=clamped-free:2"{}/></urdf_gibbs></robot>'
    with pytest.raises(
        UrdfError, match=r'a second one, the first is at line \d+, expected one <flexible> for each link, or override="true"'
    ):
        load(text.replace("</robot>", second.format("")))
    robot = load(text.replace("</robot>", second.format(' override="true"')))
    assert robot.velocity_names[-2:] == ("link1.elastic.y1", "link1.elastic.y2")


def test_saved_trajectory_has_its_elastic_robot(tmp_path: Path) -> None:
    scenario = parse_scenario(ELASTIC + '[start]\n"link1.elastic" = 0.001\n')
    trajectory = simulate(**scenario.arguments())
    again = Trajectory.load(trajectory.save(tmp_path / "run.npz"))
    assert again.robot.fingerprint == scenario.robot.fingerprint
    assert again.robot.velocity_names == scenario.robot.velocity_names
    np.testing.assert_array_equal(again.q, trajectory.q)


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ('"10**3"', "-1", 6, "flexible[0].EI_z: -1, expected a number above 0"),
        ("EI_z", "EI", 6, 'flexible[0].EI: unknown key, expected one of link, direction, J'),
        ("[5.89e-5, 2.94e-5, 2.94e-5]", "[1, 2]", 7, "flexible[0].J: [1, 2], expected a list of 3 numbers"),
        ("[5.89e-5, 2.94e-5, 2.94e-5]", "[0, 0, -1]", 7, 'flexible[0].J: [0, 0, -1], expected three numbers of zero or more'),
        ("clamped-clamped", "clampt", 8, 'flexible[0].modes: "clampt" in modes="y=clampt:1", expected one of clamped-free'),
        ("y=clamped", "z=clamped", 8, "flexible[0].modes: modes in direction z without EI_y, expected EI_y="),
        ("modes =", "length = 0.5\nmodes =", 4, 'flexible[0]: joint "end_of_link1" on the elastic link "link1": origin 1 0 0, expected'),
        ('link = "link1"', "", 4, "flexible[0].link: missing, expected it in flexible[0]"),
        ('"link1"', '"link7"', 5, 'flexible[0].link: link="link7", expected the name of a link'),
        ("modes =", 'theory = "thick"\nmodes =', 8, 'flexible[0].theory: "thick", expected one of euler-bernoulli, timoshenko'),
        ("modes =", 'theory = "timoshenko"\nmodes =', 4, "flexible[0]: a Timoshenko beam without kGA, expected kGA="),
        ("modes =", "foreshortening = 1\nmodes =", 8, "flexible[0].foreshortening: 1, expected true or false"),
        ("[[flexible]]", "[[flexible]]\nlink = 'link1'\nmodes = 'y=clamped-free:1'\nEI_z = 1\n[[flexible]]", 9, "flexible[1].link: a second"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, line: int, expected: str) -> None:
    assert old in ELASTIC
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(ELASTIC.replace(old, new), "some.toml")
    assert str(caught.value.problems[0]).startswith(f"some.toml:{line}: {expected}")
