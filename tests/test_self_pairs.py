"""Spheres and capsules of a robot against each other: which pairs there are, where they touch, and how they slide and roll.

Times and places are asked for to 1e-7, as the closed forms are; rates of gaps to what finite differences give.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import urdf_gibbs as ug
from urdf_gibbs.contact import self_pairs
from urdf_gibbs.contact.self_pairs import find_pairs
from urdf_gibbs.robot import manifold
from urdf_gibbs.simulation.layout import ACCEL, GAP, PRESENT, RATE

G = 9.81
R = 0.1  # m
CLOSE = 1e-7


def capsule(rpy: str = "0 0 0", radius: float = R, length: float = 2.0, at: str = "0 0 0") -> str:
    return f'<collision><origin xyz="{at}" rpy="{rpy}"/><geometry><capsule radius="{radius}" length="{length}"/></geometry></collision>'


def sphere(radius: float = R, at: str = "0 0 0") -> str:
    return f'<collision><origin xyz="{at}"/><geometry><sphere radius="{radius}"/></geometry></collision>'


def link(name: str, shape: str = "", mass: float = 1.0, yy: float = 0.005) -> str:
    values = f'ixx="0.01" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="0.01"'
    return f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {values}/></inertial>{shape}</link>'


def joint(name: str, kind: str, parent: str, child: str, axis: str, at: str = "0 0 0") -> str:
    limit = '<limit lower="-99" upper="99" effort="1" velocity="1"/>' if kind in ("prismatic", "revolute") else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{limit}</joint>'


ALONG_X, ALONG_Y = f"0 {math.pi / 2!r} 0", f"{math.pi / 2!r} 0 0"


def over(fixed: str, moving: str, spins: bool = False) -> ug.Robot:
    """A fixed shape, and 1 kg above it on slides along x and z, with a hinge about y if it ``spins``."""
    parts = link("base", fixed) + link("cart", mass=1e-9, yy=1e-12).replace("0.01", "1e-12")
    joints = joint("x", "prismatic", "base", "cart", "1 0 0")
    if spins:
        parts += link("lift", mass=1e-9, yy=1e-12).replace("0.01", "1e-12") + link("b", moving)
        joints += joint("z", "prismatic", "cart", "lift", "0 0 1") + joint("spin", "continuous", "lift", "b", "0 1 0")
    else:
        parts += link("b", moving)
        joints += joint("z", "prismatic", "cart", "b", "0 0 1")
    return ug.load(f'<robot name="r">{parts}{joints}</robot>')


def order(robot: ug.Robot, **values: float) -> Any:
    return [values.get(name, 0.0) for name in robot.velocity_names]


# which pairs ------------------------------------------------------------------------------------------------


def arm(radius: float) -> ug.Robot:
    """Four links in a row, 0.5 m apart, a sphere at the middle of each; the first is fixed."""
    names = ["base", "one", "two", "three"]
    links = "".join(link(name, sphere(radius, "0.25 0 0")) for name in names)
    turns = "".join(joint(f"j{k}", "continuous", names[k], names[k + 1], "0 0 1", "0.5 0 0") for k in range(3))
    return ug.load(f'<robot name="arm">{links}{turns}</robot>')


def test_links_that_a_joint_joins_do_not_pair() -> None:
    pairs = find_pairs(arm(0.1), ())
    assert {(pair.one.link, pair.other.link) for pair in pairs} == {("base", "two"), ("base", "three"), ("one", "three")}
    assert all(pair.distance == pytest.approx(0.2) for pair in pairs)


def test_what_overlaps_at_the_neutral_pose_is_left_out_and_named() -> None:
    with pytest.warns(ug.UrdfWarning, match="overlaps at the neutral pose: base.sphere0 and two.sphere0, one.sphere0 and three.sphere0"):
        pairs = find_pairs(arm(0.6), ())
    assert [(pair.one.link, pair.other.link) for pair in pairs] == [("base", "three")]
    with pytest.warns(ug.UrdfWarning, match="found no two of 4 spheres"):
        find_pairs(arm(2.0), ())


def test_capsules_that_cross_at_the_neutral_pose_overlap() -> None:
    """Centres 2 m apart, but one capsule reaches to the other: the distance is that of the segments."""
    crossing = over(capsule(ALONG_X, length=5.0), capsule(length=3.0, at="2 0 1.55"))
    with pytest.warns(ug.UrdfWarning, match="base.capsule0 and b.capsule0"):
        assert not find_pairs(crossing, ())
    assert len(find_pairs(over(capsule(ALONG_X, length=5.0), capsule(length=3.0, at="2 0 1.75")), ())) == 1


def test_an_arm_that_folds_strikes_itself() -> None:
    """At the impact the centres of two spheres of radius 0.1 m are 0.2 m apart, at whatever angles that is."""

    def folding(t: float, q: Any, v: Any) -> Any:
        return 5.0 * (np.array([0.0, math.pi, math.pi]) - q) - v

    robot = arm(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = ug.simulate(robot, np.zeros(3), None, 3.0, pairs="auto", gravity=(0, 0, 0), restitution=0.0, controller=folding)
    first = run.impacts[0]
    assert first.points[0] in ("base.sphere0-two.sphere0", "base.sphere0-three.sphere0", "one.sphere0-three.sphere0")
    q = first.q
    centre = {name: ug.frame_placement(robot, q, name) @ np.array([0.25, 0, 0, 1]) for name in ("base", "one", "two", "three")}
    one, other = (name.partition(".")[0] for name in first.points[0].split("-"))
    assert np.linalg.norm(centre[one] - centre[other]) == pytest.approx(0.2, abs=1e-10)


def test_pairs_in_a_scenario_and_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(arm(0.1).source or "")
    text = 'duration = 1.0\ngravity = [0, 0, 0]\n[robot]\nfile = "arm.urdf"\n[start_velocity]\nj1 = 2.0\n[contacts]\npairs = "auto"\n'
    (tmp_path / "run.toml").write_text(text)
    run = ug.simulate(**ug.read_scenario(tmp_path / "run.toml").arguments())
    assert len(run.contact_names) == 3
    with pytest.raises(ug.ArgumentError, match="pairs='some', expected 'auto'"):
        ug.simulate(arm(0.1), np.zeros(3), None, 1.0, pairs="some")


# the gap and its rates ----------------------------------------------------------------------------------------


def two_free(length: float, other: float) -> ug.Robot:
    """Two capsules that move freely against each other."""
    shapes = [capsule(length=size, at="0.02 0.01 -0.03") if size else sphere(at="0.02 0.01 -0.03") for size in (length, other)]
    names = ["a", "c1", "c2", "c3", "c4", "c5", "b"]
    links = "".join(link(name, shapes[0] if name == "a" else shapes[1] if name == "b" else "") for name in names)
    kinds = [("prismatic", "1 0 0"), ("prismatic", "0 1 0"), ("prismatic", "0 0 1")]
    kinds += [("continuous", "1 0 0"), ("continuous", "0 1 0"), ("continuous", "0 0 1")]
    joints = "".join(joint(f"j{k}", kind, names[k], names[k + 1], axis) for k, (kind, axis) in enumerate(kinds))
    return ug.load(f'<robot name="two">{links}{joints}</robot>', base="floating")


@pytest.mark.parametrize(("length", "other"), [(1.0, 0.6), (0.3, 0.0), (0.2, 2.0)])
def test_the_gap_is_that_of_the_segments_and_its_rates_are_its_derivatives(length: float, other: float) -> None:
    """Against a search over both segments, and differences along the motion; near a change of ends the second rate may jump."""
    robot, rng, h, jumps, inside = two_free(length, other), np.random.default_rng(1), 1e-5, 0, 0
    simulator = made(robot)
    nq = robot.nq

    def gaps(q: Any, v: Any, a: Any) -> Any:
        program = simulator._program
        program.state.y[:nq], program.state.y[nq:], program.state.K[0, nq:] = q, v, a
        assert program.update_gaps(0.0, PRESENT) == 0
        return program.state.gaps[0].copy()

    for _ in range(30):
        q = np.concatenate([rng.uniform(-1, 1, 3), rng.normal(size=4), rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3)])
        q[3:7] /= np.linalg.norm(q[3:7])
        v, a = rng.normal(size=12), rng.normal(size=12)
        now = gaps(q, v, a)
        ends = []
        for body, size in (("a", length), ("b", other)):
            place = ug.frame_placement(robot, q, body)
            ends.append([(place @ np.array([0.02, 0.01, -0.03 + side * 0.5 * size, 1.0]))[:3] for side in (-1, 1)])
        along = np.linspace(0, 1, 801)[:, None]
        (p0, p1), (q0, q1) = ends
        points = p0 + along * (p1 - p0)
        u = np.clip((points - q0) @ (q1 - q0) / max((q1 - q0) @ (q1 - q0), 1e-300), 0, 1)[:, None]
        away = np.linalg.norm(points - q0 - u * (q1 - q0), axis=1)
        least, k = away.min(), int(away.argmin())
        inside += 0 < k < 800 and 0 < u[k, 0] < 1
        assert (least**2 - 0.04) / 0.4 - 1e-5 * (1 + least) < now[GAP] <= (least**2 - 0.04) / 0.4 + 1e-12

        def moved(t: float, q: Any = q, v: Any = v, a: Any = a) -> Any:
            y = solve_ivp(lambda s, y: manifold.rates(robot.joints, y[None], (v + a * s)[None])[0], (0.0, t), q, rtol=1e-12, atol=1e-13)
            return gaps(y.y[:, -1], v + a * t, a)

        before, after = moved(-h), moved(h)
        assert (after[GAP] - before[GAP]) / (2 * h) == pytest.approx(now[RATE], rel=1e-6, abs=1e-6)
        jumps += (after[RATE] - before[RATE]) / (2 * h) != pytest.approx(now[ACCEL], rel=1e-4, abs=1e-4)
    assert jumps <= 1 and (inside > 1 or other == 0.0)


def made(robot: ug.Robot) -> ug.Simulator:
    """With the two shapes paired, though they overlap at the neutral pose."""
    kept = self_pairs._distance
    self_pairs._distance = lambda *_: 9.0  # type: ignore[assignment]
    try:
        return ug.Simulator(robot, pairs="auto")
    finally:
        self_pairs._distance = kept


# motion ---------------------------------------------------------------------------------------------------------


def test_a_capsule_falls_across_another_and_slides_to_a_stop() -> None:
    """From 0.5 m above contact it lands after sqrt(2 h / g), rests with its weight, and slides v^2 / (2 mu g) far along itself."""
    above = over(capsule(ALONG_Y), capsule(ALONG_X, at="0 0 3"))  # apart at the neutral pose
    x = above.velocity_names.index("x")
    run = ug.simulate(above, order(above, z=0.7 - 3.0), None, 1.0, pairs="auto", friction=0.4, restitution=0.0)
    assert run.impacts[0].time == pytest.approx(math.sqrt(1.0 / G), abs=1e-9)
    assert run.contact_forces[-1, 0] == pytest.approx(G, abs=1e-6)
    slides = ug.simulate(above, order(above, z=0.2 - 3.0), order(above, x=1.5), 1.0, pairs="auto", friction=0.4, restitution=0.0)
    stop = next(phase for phase in slides.phases if phase.mode == "stick")
    assert stop.start == pytest.approx(1.5 / (0.4 * G), abs=CLOSE)
    assert slides.q[-1, x] == pytest.approx(1.5**2 / (0.8 * G), abs=CLOSE)


def test_a_capsule_rolls_along_another() -> None:
    """Across a fixed one, on an incline: like a cylinder on a plane, g sin / (1 + I / (m r^2)), here 2/3."""
    robot = over(capsule(ALONG_X, length=8.0), capsule(ALONG_Y, at="0 0 0"), spins=True)
    lifted = ug.load((robot.source or "").replace('<origin xyz="0 0 0"/><axis xyz="0 0 1"/>', '<origin xyz="0 0 3"/><axis xyz="0 0 1"/>'))
    angle = 0.5
    run = ug.simulate(
        lifted, order(lifted, z=0.2 - 3.0), None, 1.0, pairs="auto", friction=0.5, restitution=0.0,
        gravity=(G * math.sin(angle), 0, -G * math.cos(angle)),
    )  # fmt: skip
    x, spin = (lifted.velocity_names.index(name) for name in ("x", "spin"))
    assert run.q[-1, x] == pytest.approx(G * math.sin(angle) / 3, abs=CLOSE)
    assert run.v[-1, spin] == pytest.approx(2 / 3 * G * math.sin(angle) / R, abs=1e-6)
    assert {phase.mode for phase in run.phases} == {"stick"}
    stepped = ug.simulate(
        lifted, order(lifted, z=0.2 - 3.0), None, 1.0, pairs="auto", friction=0.5, restitution=0.0,
        gravity=(G * math.sin(angle), 0, -G * math.cos(angle)), scheme="time_stepping", step=1e-3,
    )  # fmt: skip
    assert stepped.q[-1, x] == pytest.approx(G * math.sin(angle) / 3, abs=1e-4)


def test_a_ball_rolls_off_a_capsule() -> None:
    """Over the back of a fixed capsule: smooth, it leaves where cos = 2/3 of the start's, after which it flies."""
    robot = over(capsule(ALONG_Y, radius=0.5), sphere(at="0 0 3"))
    reach, start = 0.6, 0.1
    q0 = order(robot, x=reach * math.sin(start), z=reach * math.cos(start) - 3.0)
    run = ug.simulate(robot, q0, None, 1.0, pairs="auto", restitution=0.0)
    leaves = run.phases[0].end
    q = run.at(leaves)[0]
    assert q[robot.velocity_names.index("z")] + 3.0 == pytest.approx(2 / 3 * reach * math.cos(start), abs=CLOSE)
