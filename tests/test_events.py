"""When a gap closes within a step: roots of polynomials that are known, and bodies that spin many times before a wall arrives."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from urdf_text import POINT_IN_PLANE, inertial, joint, link, point_mass, robot

from urdf_gibbs import Trajectory, load, simulate, walls
from urdf_gibbs.simulation import events, layout, roots

optimize = pytest.importorskip("scipy.optimize")

Array = NDArray[np.float64]

WEIGHTLESS = (0.0, 0.0, 0.0)
DEPTH = 1e-12


# polynomials --------------------------------------------------------------------------------------------


def bernstein(p: Polynomial, degree: int = roots.DEGREE) -> Array:
    """Coefficients on [0, 1]: b_j = sum_i C(j, i) / C(n, i) a_i."""
    a = np.zeros(degree + 1)
    a[: len(p.coef)] = p.coef
    return np.array([sum(comb(j, i) / comb(degree, i) * a[i] for i in range(j + 1)) for j in range(degree + 1)])


def with_roots(rng: np.random.Generator, inside: Array) -> Polynomial:
    """A polynomial of degree 10 that is positive at 0, with these roots in (0, 1) and all others far outside of it."""
    p = Polynomial.fromroots(inside) if len(inside) else Polynomial([1.0])
    for _ in range((roots.DEGREE - len(inside)) // 2):
        centre, width = rng.uniform(-1.0, 2.0), rng.uniform(0.4, 1.0)
        p *= Polynomial([centre**2 + width**2, -2.0 * centre, 1.0])
    return p * np.sign(p(0.0)) / np.abs(p(np.linspace(0, 1, 50))).max()


@pytest.mark.parametrize("count", range(6))
def test_the_first_root_is_found_however_many_there_are(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(150):
        inside = np.sort(rng.uniform(0.02, 0.98, count))
        if count > 1 and np.diff(inside).min() < 1e-3:
            continue
        p = with_roots(rng, inside)
        found = roots.first_root(bernstein(p), DEPTH)
        if count == 0:
            assert found == -1.0
        else:
            slope = abs(p.deriv()(inside[0]))
            assert abs(found - inside[0]) < 1e-13 / slope + 1e-12  # coefficients of order one are good to some 1e-15


@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_dip_counts_where_it_goes_below_zero(depth: float, sign: float) -> None:
    """(x - 0.37)^2 - depth times what is positive: two roots, or none."""
    dip = Polynomial([0.37**2 - sign * depth, -0.74, 1.0])
    found = roots.first_root(bernstein(dip * Polynomial([1.0, 0.5, 0.25])), DEPTH)
    if sign < 0:
        assert found == -1.0
    else:
        assert abs(found - (0.37 - np.sqrt(depth))) < 1e-14 / np.sqrt(depth) + 1e-13


def test_what_begins_below_zero_is_there_at_once_and_a_hair_below_is_not() -> None:
    below = bernstein(Polynomial([-1e-3, 1.0]))
    assert roots.first_root(below, DEPTH) == 0.0
    assert roots.first_root(bernstein(Polynomial([-0.5 * DEPTH, 1.0])), DEPTH) == -1.0


def test_a_root_at_the_start_is_divided_out() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        rest = Polynomial(rng.normal(size=roots.DEGREE))
        b = bernstein(Polynomial([0.0, 1.0]) * rest)
        roots.divide_by_x(b, float(rest(0.0)))
        np.testing.assert_allclose(b[: roots.DEGREE], bernstein(rest, roots.DEGREE - 1), atol=1e-12)


def test_halves_are_the_polynomial_on_both_halves() -> None:
    p = Polynomial(np.random.default_rng(1).normal(size=roots.DEGREE + 1))
    b, left, work = bernstein(p), np.zeros(roots.DEGREE + 1), np.zeros(roots.DEGREE + 1)
    right = b.copy()
    roots.halve(b, left, right)
    for x in np.linspace(0, 1, 7):
        assert roots.value_at(left, x, work) == pytest.approx(p(0.5 * x), abs=1e-13)
        assert roots.value_at(right, x, work) == pytest.approx(p(0.5 + 0.5 * x), abs=1e-13)


# bodies that spin -----------------------------------------------------------------------------------------

# A rod about its middle, which spins at a constant rate: the integrator needs no short steps for that.
ROD = robot(link("w", ""), link("rod", inertial(1.0)), joint("spin", "continuous", "w", "rod", axis=(0, 1, 0)))
SLIDE = robot(
    link("w", ""),
    link("cart", inertial(1.0)),
    link("rod", inertial(1.0)),
    joint("go", "prismatic", "w", "cart", axis=(0, 0, -1)),
    joint("spin", "continuous", "cart", "rod", axis=(0, 1, 0)),
)
TIP = [("rod", (0.5, 0.0, 0.0))]


def first_time(gap: object, until: float) -> float:
    """The first root of a function of time, by brute force."""
    t = np.linspace(0.0, until, 400_001)
    values = gap(t)  # type: ignore[operator]
    i = int(np.argmax(values < 0.0))
    assert values[i] < 0.0
    return float(optimize.brentq(gap, t[i - 1], t[i], xtol=1e-14))


def struck(found: Trajectory, expected: float) -> None:
    (impact, *_) = found.impacts
    assert abs(impact.time - expected) < 1e-9


@pytest.mark.parametrize("omega", [30.0, 300.0])
def test_a_wall_that_drifts_towards_a_spinning_rod_is_met(omega: float) -> None:
    """The tip is at -0.5 sin(omega t); the wall comes from far below, where it cannot reach, at 2 m/s."""
    wall = walls.Plane(point=(0, 0, -5.0), motion=walls.Drift((0, 0, 2.0)))
    expected = first_time(lambda t: 5.0 - 2.0 * t - 0.5 * np.sin(omega * t), 2.5)
    found = simulate(load(ROD), [0.0], [omega], 2.5, wall, restitution=1.0, gravity=WEIGHTLESS, points=TIP, zeno=1e-12)
    struck(found, expected)


@pytest.mark.parametrize("omega", [30.0, 300.0])
def test_a_wall_that_swings_towards_a_spinning_rod_is_met(omega: float) -> None:
    """At z = -1.6 - 1.5 sin(t + pi/2): out of reach at first, 3 m higher after half a period."""
    wall = walls.Plane(point=(0, 0, -1.6), motion=walls.Vibration((0, 0, -1.5), 1.0, np.pi / 2))
    expected = first_time(lambda t: 1.6 + 1.5 * np.cos(t) - 0.5 * np.sin(omega * t), np.pi)
    found = simulate(load(ROD), [0.0], [omega], np.pi, wall, restitution=1.0, gravity=WEIGHTLESS, points=TIP, zeno=1e-12)
    struck(found, expected)


@pytest.mark.parametrize("omega", [30.0, 300.0])
def test_a_spinning_rod_that_is_carried_to_a_wall_meets_it(omega: float) -> None:
    expected = first_time(lambda t: 4.0 - 1.5 * t - 0.5 * np.sin(omega * t), 2.5)
    wall = walls.Plane(point=(0, 0, -4.0))
    found = simulate(load(SLIDE), [0.0, 0.0], [1.5, omega], 2.5, wall, restitution=1.0, gravity=WEIGHTLESS, points=TIP, zeno=1e-12)
    struck(found, expected)


@pytest.mark.parametrize("out", [0.2, 3.0])
def test_a_point_that_has_slid_out_on_a_spinning_arm_reaches_the_wall(out: float) -> None:
    """The lever grows with the slide: at r(t) = out + 0.8 t the bead goes round, the wall is at 3.5 m."""
    bead = robot(
        link("w", ""),
        link("arm", inertial(1e3, moments=(1e6, 1e6, 1e6))),
        point_mass("bead", 1e-6, (0, 0, 0)),
        joint("spin", "continuous", "w", "arm", axis=(0, 1, 0)),
        joint("out", "prismatic", "arm", "bead", axis=(1, 0, 0)),
    )
    omega = 40.0
    # On a free slide r'' = omega^2 r: r = out cosh(omega t), until the wall is within reach.
    until = np.arccosh(3.5 / out) / omega
    expected = first_time(lambda t: 3.5 - out * np.cosh(omega * t) * np.sin(omega * t), until + 0.2)
    found = simulate(
        load(bead),
        [0.0, out],
        [omega, 0.0],
        until + 0.2,
        walls.Plane(point=(0, 0, -3.5)),
        restitution=1.0,
        gravity=WEIGHTLESS,
        points=["bead"],
    )
    struck(found, expected)


@pytest.mark.parametrize("omega", [30.0, 300.0])
def test_a_point_that_rests_far_out_on_a_spinning_arm_reaches_a_wall_that_drifts(omega: float) -> None:
    """Its slide is at its limit, 3 m from the axis, so nothing but the length of the slide says how far it reaches."""
    limit = '<limit lower="0" upper="3" effort="1" velocity="1"/>'
    bead = robot(
        link("w", ""),
        link("arm", inertial(1.0)),
        point_mass("bead", 1.0, (0, 0, 0)),
        joint("spin", "continuous", "w", "arm", axis=(0, 1, 0)),
        joint("out", "prismatic", "arm", "bead", axis=(1, 0, 0), limit=limit),
    )
    wall = walls.Plane(point=(0, 0, -5.0), motion=walls.Drift((0, 0, 1.0)))
    expected = first_time(lambda t: 5.0 - t - 3.0 * np.sin(omega * t), 2.5)
    options: dict[str, Any] = {"restitution": 0.0, "gravity": WEIGHTLESS, "points": ["bead"], "joint_limits": True}
    struck(simulate(load(bead), [0.0, 3.0], [omega, 0.0], 2.5, wall, **options), expected)


@pytest.mark.parametrize("turns", [2, 3, 4])
def test_a_wall_that_vibrates_within_a_step_is_met(turns: int) -> None:
    """A mass comes down to half the amplitude and goes up again, within one of the steps that a controller ends every 0.05 s.

    At both ends of that step, over which the wall's phase advances by x = (2 turns - 1) pi - 2 lean, the wall is in its middle and moves
    away from the mass, and the error estimate of a quintic through both ends vanishes, tan(lean) = 2 / x: the ends do not show it.
    """
    h, amplitude = 0.05, 0.01
    x = optimize.brentq(lambda x: x - (2 * turns - 1) * np.pi + 2.0 * np.arctan(2.0 / x), 1.0, 40.0)
    omega = x / h
    phase = np.pi + np.arctan(2.0 / x) - 0.2 * omega
    mass = robot(link("w", ""), point_mass("m", 1.0, (0, 0, 0)), joint("z", "prismatic", "w", "m", axis=(0, 0, 1)))
    wall = walls.Plane(motion=walls.Vibration((0, 0, amplitude), omega, phase))

    def height(t: Any) -> Any:
        return 0.5 * amplitude + 16.0 * (t - 0.225) ** 2

    expected = first_time(lambda t: height(t) - amplitude * np.sin(omega * t + phase), 0.4)
    assert 0.2 < expected < 0.25
    options: dict[str, Any] = {"points": ["m"], "controller": lambda t, q, v: [0.0], "controller_rate": 1.0 / h}
    struck(simulate(load(mass), [height(0.0)], [-32.0 * 0.225], 0.4, wall, restitution=1.0, gravity=(0, 0, 32), **options), expected)


# small and far, edges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [1e-2, 1e-3])
@pytest.mark.parametrize("depth", [1e-7, 1e-9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_small_sphere_far_away_is_hit_or_not(radius: float, depth: float, sign: float) -> None:
    """Half a kilometre from it the gap's polynomial is 1e8 m: its rounding is larger than the hit is deep."""
    height = radius - sign * depth
    ball = walls.Sphere(radius, side="outside")
    found = simulate(load(POINT_IN_PLANE), [-500.0, height], [1000.0, 0.0], 1.0, ball, restitution=1.0, gravity=WEIGHTLESS, points=["m"])
    assert len(found.impacts) == (sign > 0)
    if sign > 0:
        x = -np.sqrt(radius**2 - height**2)
        assert abs(found.impacts[0].time - (500.0 + x) / 1000.0) < 1e-9


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("depth", [1e-3, 1e-5])
def test_the_edge_of_a_box_is_hit_or_not(depth: float, sign: float) -> None:
    """A line at 45 degrees that cuts a corner of the square by ``depth``, or passes it at that distance."""
    box = walls.Box((2.0, 2.0, 2.0), side="outside")
    off = -sign * depth * np.sqrt(2.0)
    start, speed = np.array([-30.0, 1.0 + 31.0 + off]), 50.0
    # x + z = 1 + 1 + off on the way down: through the corner (1, 1) where off = 0
    v = speed * np.array([1.0, -1.0]) / np.sqrt(2.0)
    found = simulate(load(POINT_IN_PLANE), start, v, 1.2, box, restitution=1.0, gravity=WEIGHTLESS, points=["m"])
    assert len(found.impacts) == (sign > 0)


# gaps at the two ends of a step --------------------------------------------------------------------------


def end_of_step(gap: float, rate: float, accel: float) -> Array:
    """What is known of a gap there."""
    values = np.zeros(8)
    values[layout.GAP], values[layout.RATE], values[layout.ACCEL], values[layout.GRADIENT] = gap, rate, accel, 1.0
    return values


def test_no_dip_of_a_gap_that_swings_within_a_step_is_ruled_out() -> None:
    """Of a cosine over 6 to 7 rad a quintic knows little: without its margin one in forty of these dips would be overlooked."""
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 1.0, 2001)
    asked = 0
    for _ in range(2000):
        omega, phase, depth = rng.uniform(6.0, 7.0), rng.uniform(0.0, 2.0 * np.pi), 10.0 ** rng.uniform(-9, -1)
        curve = np.cos(omega * t + phase)
        gap = curve - curve.min() - depth
        if min(gap[0], gap[-1]) > 0.0:
            asked += 1
            first, last = (
                end_of_step(gap[i], -omega * np.sin(omega * t[i] + phase), -(omega**2) * np.cos(omega * t[i] + phase)) for i in (0, -1)
            )
            assert events.may_close(first, last, 1.0, layout.APART, 0.0, True, 1.0, 0.0), (omega, phase, depth)
    assert asked > 1000


def test_a_gap_that_stays_open_is_ruled_out() -> None:
    """Else every step would be looked at closely: a parabola that ends far above, and one that hardly bends."""
    for gap, rate, accel in ((1.0, -1.0, 2.0), (0.1, 0.01, -0.02), (1e-3, 1e-3, 0.0)):
        last = end_of_step(gap + rate + 0.5 * accel, rate + accel, accel)
        assert not events.may_close(end_of_step(gap, rate, accel), last, 1.0, layout.APART, 0.0, True, 1.0, 0.0)
