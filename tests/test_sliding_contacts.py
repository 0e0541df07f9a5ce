"""Contacts that slide and leave, against closed forms: spheres on spheres, tips of elastic links, walls that move along themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from random_trees import random_tree
from urdf_text import POINT_IN_PLANE, inertial, joint, link, massless, point_mass, robot

import urdf_gibbs as ug
from urdf_gibbs import frame_placement, load, simulate, walls
from urdf_gibbs.simulation import layout, rows

Array = NDArray[np.float64]

G = 9.81
ROUND_OFF = 1e-12  # a few hundred operations on numbers of order one
FLIGHT = 1e-8  # what 1e-10 in each of some tens of steps adds up to

# A point mass in the x-z plane, and a ball that slides along x.
ON_A_BALL = robot(
    link("w", ""),
    link("ball", inertial(3.0)),
    massless("slide"),
    point_mass("m", 1.0, (0, 0, 0)),
    joint("ball_x", "prismatic", "w", "ball", axis=(1, 0, 0)),
    joint("x", "prismatic", "w", "slide", axis=(1, 0, 0)),
    joint("z", "prismatic", "slide", "m", axis=(0, 0, 1)),
)
BODY = inertial(1.0, com=(0.1, 0.05, 0.0), moments=(0.1, 0.12, 0.13))
ELASTIC = f"""<robot name="arm">{link("w", BODY)}{link("root", BODY)}{link("arm", "")}{link("hand", BODY)}
<joint name="j" type="continuous"><parent link="w"/><child link="root"/><origin rpy="0.3 0 0.2"/><axis xyz="0 0 1"/></joint>
<joint name="f" type="fixed"><parent link="root"/><child link="arm"/></joint>
<joint name="k" type="continuous"><parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>
<urdf_gibbs><flexible link="arm" mass_per_length="1" EI_z="10" EI_y="12" GJ="5" modes="clamped-free:1 torsion=clamped-free:1"
 J="0.01 0 0" elastic_rotary="true"/></urdf_gibbs></robot>"""


# leaving ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reach", [1.0, 0.3])
@pytest.mark.parametrize("start", [1e-3, 0.3, 0.8])
def test_a_mass_leaves_a_fixed_sphere_at_two_thirds(reach: float, start: float) -> None:
    """From rest at the angle ``start`` from the top it leaves where cos(theta) = 2/3 cos(start), before 90 degrees."""
    q = reach * np.array([np.sin(start), np.cos(start)])
    at_most = 20.0 * np.sqrt(reach / G)  # from 1e-3 it takes about log(1e3) times sqrt(R / g) to get going
    found = simulate(
        load(POINT_IN_PLANE), q, None, at_most, restitution=0.0, points=[("m", (0, 0, 0), 0.4 * reach)], pairs=[("m", "w", reach)]
    )
    (phase,) = found.phases
    assert phase.start == 0.0 and phase.end < at_most and not found.impacts
    q, v = found.at(phase.end)
    assert abs(q[1] / reach - 2.0 / 3.0 * np.cos(start)) < FLIGHT
    assert abs(0.5 * v @ v - G * reach * np.cos(start) / 3.0) < FLIGHT * G
    held = found.t < phase.end
    force = G * (3.0 * found.q[held, 1] / reach - 2.0 * np.cos(start))  # m g cos - m v^2 / R
    assert np.abs(found.contact_forces[held, 0] - force).max() < 1e-7  # 1e-8 in the height, times 3 g
    assert np.abs(np.hypot(*found.q[held].T) - reach).max() < ROUND_OFF


@pytest.mark.parametrize("start", [0.02, 0.5])
def test_a_mass_leaves_a_ball_that_gives_way(start: float) -> None:
    """On a smooth table: mu c^3 - 3 c + 2 cos(start) = 0 with mu = m / (m + M), from momentum, energy, and R theta'^2 = g c."""
    reach, mu = 0.7, 1.0 / 4.0
    found = simulate(
        load(ON_A_BALL),
        [0.2, 0.2 + reach * np.sin(start), reach * np.cos(start)],
        None,
        3.0,
        restitution=0.0,
        points=[("m", (0, 0, 0), 0.2), ("ball", (0, 0, 0), 0.5)],
        pairs=[("m", "ball")],
    )
    (phase,) = found.phases
    roots = np.roots([mu, 0.0, -3.0, 2.0 * np.cos(start)])
    (cosine,) = [root.real for root in roots if 0.0 < root.real < 1.0]
    q, v = found.at(phase.end)
    assert abs(q[2] / reach - cosine) < FLIGHT
    assert abs(3.0 * v[0] + v[1]) < FLIGHT  # momentum along the table
    after = found.at(phase.end + 0.1)[1]
    np.testing.assert_allclose(after, [v[0], v[1], v[2] - 0.1 * G], atol=FLIGHT)  # both are free


# second rates -----------------------------------------------------------------------------------------


def second_differences(motion: Any, h: float) -> tuple[Array, Array, Array]:
    """Value, first and second derivative at 0 of a function, of order 6."""
    values = [np.asarray(motion(k * h)) for k in range(-3, 4)]
    first = sum(c * x for c, x in zip((-1 / 60, 3 / 20, -3 / 4, 0, 3 / 4, -3 / 20, 1 / 60), values, strict=True)) / h
    second = sum(c * x for c, x in zip((1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90), values, strict=True)) / h**2
    return values[3], np.asarray(first), np.asarray(second)


NORMAL = np.array([2.0, -1.0, 2.0]) / 3.0
DRIFT = np.array([0.3, -0.7, 0.4])


def distances(made: ug.Robot, q: Array, v: Array, ends: list[tuple[str, Array]], centre: Array) -> Any:
    """Of a motion with constant v: the gaps to the plane, the moving plane, the sphere, and between the two ends."""

    def at(t: float) -> Array:
        T = [frame_placement(made, made.integrate(q, t * v), name) for name, _ in ends]
        x, y = (T[i][:3, :3] @ ends[i][1] + T[i][:3, 3] for i in range(2))
        return np.array(
            [
                NORMAL @ x + 5.0 - 0.01,
                NORMAL @ (x - t * DRIFT) + 6.0 - 0.01,
                20.0 - np.linalg.norm(x - centre) - 0.01,
                np.linalg.norm(x - y) - 0.02,
            ]
        )

    return at


CASES = {
    "elastic": (ELASTIC, "fixed", [("arm.tip", (0.0, 0.1, -0.2)), ("root", (0.1, 0.2, 0.0))]),
    "beyond an elastic link": (ELASTIC, "fixed", [("hand", (0.2, 0.1, 0.3)), ("root", (0.1, 0.2, 0.0))]),
    "elastic, floating": (ELASTIC, "floating", [("hand", (0.2, 0.1, 0.3)), ("root", (0.1, 0.2, 0.0))]),
    "tree": (random_tree(4, 7), "floating", [("l7", (0.1, -0.2, 0.3)), ("l0", (0.4, 0.0, 0.1))]),
    "tree with mimic joints": (random_tree(2, 8, mimic=0.5), "planar", [("l8", (0.1, -0.2, 0.3)), ("l1", (0.4, 0.0, 0.1))]),
}


@pytest.mark.filterwarnings("ignore:.*no <inertial>:urdf_gibbs.errors.UrdfWarning")
@pytest.mark.parametrize("name", CASES)
def test_rates_of_gaps_are_differences_of_placements(name: str) -> None:
    """Gap [m], rate and second rate without acceleration, and the row of the Jacobian, of every kind of contact."""
    text, base, ends = CASES[name]
    made = load(text, base=base)  # type: ignore[arg-type]
    rng = np.random.default_rng(1)
    q, v = made.random(1), rng.normal(size=made.nv)
    centre = np.array([0.3, -0.2, 0.1])
    places = [(link_, np.array(x)) for link_, x in ends]
    simulator = ug.Simulator(
        made,
        walls=[
            walls.Plane(NORMAL, -5.0 * NORMAL),
            walls.Plane(NORMAL, -6.0 * NORMAL, motion=walls.Drift(tuple(DRIFT))),
            walls.Sphere(20.0, centre=tuple(centre)),
        ],
        points=[(ends[0][0], ends[0][1], 0.01), (ends[1][0], ends[1][1], 0.01)],
        pairs=[(ends[0][0], ends[1][0])],
    )
    s = simulator._program.system
    chosen = [0, 1, 2, 6]  # the walls of the first point, then the pair
    s.q[:], s.v[:], s.selected[:4] = q, v, chosen
    assert rows.factorise_mass(s, 0) == layout.OK
    rows.contact_rows(s, 0.0, 4)
    gap, rate, accel = second_differences(distances(made, q, v, places, centre), 4e-3)
    pair = 3
    reach = 0.02  # phi of a pair is (d^2 - r^2) / (2 r), over its gradient d / r; away from the wall only its rates over d are geometric
    d = gap[pair] + reach
    gap[pair], accel[pair] = (d * d - reach**2) / (2.0 * d), accel[pair] + rate[pair] ** 2 / d
    d = 20.0 - 0.01 - gap[2]  # the same of the sphere, from inside
    gap[2], accel[2] = (19.99**2 - d * d) / (2.0 * d), accel[2] - rate[2] ** 2 / d
    # Differences of order 6: h^6 times the eighth derivative, and rounding over h^2.
    np.testing.assert_allclose(s.gap[:4], gap, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(s.rate[:4], rate, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(s.accel[:4], accel, rtol=1e-6, atol=1e-7 * max(1.0, float(np.abs(accel).max())))
    for i in range(made.nv):
        step = np.eye(made.nv)[i]
        rates = second_differences(distances(made, q, step, places, centre), 4e-3)[1]
        rates[1] += NORMAL @ DRIFT  # the wall's own share is no part of the row
        np.testing.assert_allclose(s.J[:4, i], rates, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore:.*no <inertial>:urdf_gibbs.errors.UrdfWarning")
def test_the_tip_of_an_elastic_link_slides_on_a_plane_without_loss() -> None:
    """A smooth wall does no work on a tip that it holds."""
    text = """<robot name="beam"><link name="w"/><link name="beam"/>
<joint name="j" type="continuous"><parent link="w"/><child link="beam"/><origin xyz="0 0 0.8"/><axis xyz="0 1 0"/></joint>
<urdf_gibbs><flexible link="beam" length="1" mass_per_length="1" EI_y="20" modes="z=clamped-free:1"/></urdf_gibbs></robot>"""
    made = load(text)

    def height(angle: float) -> float:
        return float(frame_placement(made, [angle, 0.0], "beam.tip")[2, 3])

    low, high = 0.3, 1.5
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if height(middle) > 0.0 else (low, middle)
    found = simulate(made, [low, 0.0], None, 0.5, walls.Plane(), restitution=0.0, points=["beam.tip"])
    assert found.phases[0].start == 0.0 and found.phases[0].end > 0.05
    held = found.t < found.phases[0].end
    total = found.energies.total[held]
    assert np.abs(total - total[0]).max() < 1e-8 * G
    assert np.abs(found.v[held]).max() > 0.1  # it does move


# walls that move along themselves -------------------------------------------------------------------------


@pytest.mark.parametrize("motion", ["drift", "vibration", "function"])
def test_velocities_of_an_impact_are_relative_to_the_wall(motion: str) -> None:
    """A belt: the wall moves along itself as well as up. The law sees the normal part, the report the whole."""
    speed = np.array([0.6, -0.2, 0.5])
    omega, t = 3.0, 0.4
    moves: Any = {
        "drift": walls.Drift(tuple(speed)),
        "vibration": walls.Vibration(tuple(speed), omega),  # speed sin(omega t)
        "function": lambda time: tuple(np.array([0.1, 0.0, 0.2]) + time * speed),
    }[motion]
    wall = speed * (omega * np.cos(omega * t) if motion == "vibration" else 1.0)
    place = {"drift": t * speed, "vibration": speed * np.sin(omega * t), "function": np.array([0.1, 0.0, 0.2]) + t * speed}[motion]
    simulator = ug.Simulator(load(POINT_IN_PLANE), walls=walls.Plane(motion=moves), points=["m"], restitution=0.5)
    v = np.array([1.3, wall[2] - 2.0])
    impact = simulator.impact([0.0, place[2]], v, time=t)
    assert impact is not None
    tolerance = ROUND_OFF if motion != "function" else 1e-8  # which is differentiated by differences
    before, after = np.array([v[0], 0.0, v[1]]) - wall, np.array([v[0], 0.0, wall[2] + 1.0]) - wall
    np.testing.assert_allclose(impact.velocities_before[0], before, atol=tolerance)
    np.testing.assert_allclose(impact.velocities_after[0], after, atol=tolerance)
    assert impact.angles_of_attack[0] == pytest.approx(np.arccos(2.0 / np.linalg.norm(before)), abs=10 * tolerance)
    assert impact.normal_velocities_before[0] == pytest.approx(-2.0, abs=tolerance)
    np.testing.assert_allclose(impact.v_after, [1.3, wall[2] + 1.0], atol=tolerance)
