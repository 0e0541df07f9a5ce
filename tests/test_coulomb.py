"""Coulomb's friction: closed forms of one and two contacts, and a certificate that is written again here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from urdf_gibbs.contact import complementarity
from urdf_gibbs.contact.coulomb import contact_certificate, contact_impulses
from urdf_gibbs.contact.coulomb.path import follow
from urdf_gibbs.contact.coulomb.scaled import FRICTION, row_scaling, scaled_law, scaled_problem
from urdf_gibbs.contact.coulomb.shortest import _onto_cone
from urdf_gibbs.errors import ArgumentError, UnknownNameError

Array = NDArray[np.float64]

SOLVED = 1e-10


def rows_of(kinds: Sequence[str]) -> list[slice]:
    ends = np.cumsum([3 if kind in ("friction", "sliding") else 1 for kind in kinds])
    return [slice(end - (3 if kind in ("friction", "sliding") else 1), end) for kind, end in zip(kinds, ends, strict=True)]


def judge(K: Array, b: Array, mu: Array, p: Array, kinds: Sequence[str] | None = None, reach: Array | None = None) -> float:
    """How far p is from Coulomb's law, by its definition: with velocities and impulses each in units of their largest."""
    kinds = ["friction"] * len(mu) if kinds is None else kinds
    u = K @ p + b
    root = np.sqrt(np.diag(K))
    U = np.abs(b / root).max()
    P = max(U, np.abs(p * root).max())
    worst = 0.0
    for i, (kind, rows) in enumerate(zip(kinds, rows_of(kinds), strict=True)):
        y, s = (p * root)[rows] / P, (u / root)[rows] / U
        if kind == "joint":
            assert reach is not None
            most = reach[i] * root[rows][0] / P
            apart = abs(y[0] + most * np.sign(s[0])) if abs(s[0]) > 1e-9 else 0.0
            worst = max(worst, abs(y[0]) - most, apart)
            continue
        worst = max(worst, -y[0], -s[0], abs(y[0] * s[0]))
        if kind == "friction":
            speed, push = np.linalg.norm(u[rows][1:]), np.linalg.norm(p[rows][1:])
            worst = max(worst, (push - mu[i] * p[rows][0]) * root[rows][1] / P / max(1.0, mu[i]))
            if speed * U / np.abs(b).max() > 1e-9 and p[rows][0] * root[rows][0] / P > 1e-9:  # slips: against the velocity, and all of it
                worst = max(worst, np.abs(p[rows][1:] + mu[i] * p[rows][0] * u[rows][1:] / speed).max() * root[rows][1] / P)
    return float(worst)


def spd(rng: np.random.Generator, n: int) -> Array:
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n)


def test_a_contact_that_leaves_gets_no_impulse() -> None:
    found = contact_impulses(np.eye(3), [1.0, 2.0, 3.0], 0.5)
    assert found.certificate == 0.0
    np.testing.assert_array_equal(found.impulses, 0.0)


def test_a_particle_sticks_inside_of_its_cone_and_slips_outside() -> None:
    """A particle of mass 2: p = -m u to stick; else pₙ = -m uₙ and friction against uₜ."""
    stuck = contact_impulses(np.eye(3) / 2.0, [-1.0, 0.3, 0.2], 0.5)
    np.testing.assert_allclose(stuck.impulses, [2.0, -0.6, -0.4], rtol=1e-14)
    slips = contact_impulses(np.eye(3) / 2.0, [-1.0, 3.0, -4.0], 0.5)
    np.testing.assert_allclose(slips.impulses, [2.0, -0.6, 0.8], rtol=1e-14)


def slip_by_angles(K: Array, b: Array, mu: float) -> list[Array]:
    """All impulses of one contact that slips, by the zeros of a function of the angle."""
    optimize = pytest.importorskip("scipy.optimize")

    def impulse(angle: float) -> Array:
        direction = np.array([1.0, mu * np.cos(angle), mu * np.sin(angle)])
        return np.asarray(direction * (-b[0] / (K[0] @ direction)))

    def across(angle: float) -> float:
        """What of the velocity is across the impulse, times K[0] @ direction, so that it has no poles."""
        direction = np.array([1.0, mu * np.cos(angle), mu * np.sin(angle)])
        u = -b[0] * (K @ direction) + (K[0] @ direction) * b
        return float(-np.sin(angle) * u[1] + np.cos(angle) * u[2])

    grid = np.linspace(0.0, 2.0 * np.pi, 721)
    values = [across(angle) for angle in grid]
    found = []
    for low, high, left, right in zip(grid, grid[1:], values, values[1:], strict=False):
        if left * right < 0.0:
            p = impulse(optimize.brentq(across, low, high, xtol=1e-15))
            if p[0] > 0.0 and p[1:] @ (K @ p + b)[1:] < 0.0:
                found.append(p)
    return found


def test_one_contact_of_any_body_agrees_with_a_search_over_angles() -> None:
    rng = np.random.default_rng(1)
    modes = {"stick": 0, "slip": 0, "open": 0}
    for _ in range(300):
        K, b, mu = spd(rng, 3), rng.normal(size=3), float(rng.uniform(0.0, 1.5))
        p, certificate = contact_impulses(K, b, mu)
        assert certificate < 1e-12  # well conditioned
        assert judge(K, b, np.array([mu]), p) < 1e-10
        stick = -np.linalg.solve(K, b)
        if b[0] >= 0.0:
            modes["open"] += 1
            np.testing.assert_array_equal(p, 0.0)
        elif stick[0] > 0.0 and np.hypot(*stick[1:]) < mu * stick[0]:
            modes["stick"] += 1
            np.testing.assert_allclose(p, stick, rtol=0.0, atol=1e-11 * np.abs(stick).max())
        else:
            modes["slip"] += 1
            known = slip_by_angles(K, b, mu)
            assert known
            assert min(float(np.abs(p - one).max()) for one in known) < 1e-9 * np.abs(p).max()
    assert min(modes.values()) > 30


def test_without_friction_it_is_the_linear_complementarity_problem() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        k = int(rng.integers(1, 6))
        K, b = spd(rng, 3 * k), rng.normal(size=3 * k)
        p, certificate = contact_impulses(K, b, 0.0)
        alone, other = contact_impulses(K[::3, ::3], b[::3], 0.0, kinds=["normal"] * k)
        lam = np.empty(k)
        complementarity.solve(np.ascontiguousarray(K[::3, ::3]), b[::3].copy(), lam)
        assert max(certificate, other) < SOLVED
        np.testing.assert_allclose(p[::3], lam, atol=1e-10 * max(1.0, lam.max()))
        np.testing.assert_allclose(alone, lam, atol=1e-10 * max(1.0, lam.max()))
        np.testing.assert_array_equal(p.reshape(-1, 3)[:, 1:], 0.0)


@pytest.mark.parametrize("mu", [1e2, 1e3, 1e4])
def test_with_very_large_friction_what_is_pressed_sticks(mu: float) -> None:
    """Where u = 0 takes impulses that push, they are the solution."""
    rng = np.random.default_rng(3)
    pressed = 0
    for _ in range(40):
        K, b = spd(rng, 9) + 20.0 * np.eye(9), rng.normal(size=9)
        b[::3] = -abs(b[::3]) - 0.5
        p, certificate = contact_impulses(K, b, mu)
        assert certificate < SOLVED
        stick = -np.linalg.solve(K, b)
        if stick[::3].min() > 0.0:
            pressed += 1
            np.testing.assert_allclose(p, stick, atol=1e-9 * np.abs(stick).max())
    assert pressed > 20


def test_random_problems_are_solved() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        k = int(rng.integers(1, 8))
        K, b, mu = spd(rng, 3 * k), rng.normal(size=3 * k), rng.uniform(0.0, 1.0, k)
        p, certificate = contact_impulses(K, b, mu)
        assert certificate < SOLVED
        assert judge(K, b, mu, p) < 10 * SOLVED  # scaled a little otherwise


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"friction": -0.1}, "friction is -0.1, expected numbers >= 0"),
        ({"friction": np.nan}, "friction is nan"),
        ({"friction": np.inf}, "friction is inf"),
        ({"friction": 1e6}, "friction is 1e[+]06, expected at most 10000"),
        ({"friction": [0.1, 0.2]}, "friction has shape"),
        ({"K": np.eye(2)}, "K has shape"),
        ({"b": [np.inf, 0.0, 0.0]}, "b is not finite"),
        ({"kinds": ["normal"]}, "expected 1 for these contacts"),
        ({"start": [0.0]}, "impulses have shape"),
        ({"directions": [0.0, 1.0]}, "directions have shape"),
        ({"reach": -1.0}, "reach is -1.0"),
    ],
)
def test_bad_input_is_reported(change: dict[str, object], expected: str) -> None:
    arguments: dict[str, object] = {"K": np.eye(3), "b": [-1.0, 0.0, 0.0], "friction": 0.5} | change
    with pytest.raises(ArgumentError, match=expected):
        contact_impulses(**arguments)  # type: ignore[arg-type]


def test_an_unknown_kind_is_reported() -> None:
    with pytest.raises(UnknownNameError, match="sticky"):
        contact_impulses(np.eye(3), [-1.0, 0.0, 0.0], 0.5, kinds=["sticky"])


def test_the_certificate_rejects_planted_errors() -> None:
    """A right solution, then one thing wrong with it."""
    K, b, mu = np.eye(6) / 2.0, np.array([-1.0, 3.0, -4.0, -1.0, 0.3, 0.2]), 0.5
    p = contact_impulses(K, b, mu).impulses
    assert contact_certificate(K, b, mu, p) < 1e-14
    turned = np.array([0.6, 0.8, -0.8, 0.6])
    for wrong in (
        p * [1, 1, 1, 0, 0, 0],  # approaches
        p * [1.01, 1.01, 1.01, 1, 1, 1],  # leaves with an impulse
        p * [1, 0.9, 0.9, 1, 1, 1],  # slips with too little friction
        p * [1, 1, 1, 1, 0.9, 0.9],  # slips inside of its cone
        p * [1, 1.1, 1.1, 1, 1, 1],  # outside of its cone
        np.r_[p[0], turned[:2] @ p[1:3], turned[2:] @ p[1:3], p[3:]],  # across the velocity
        -p,
    ):
        assert contact_certificate(K, b, mu, wrong) > 1e-3


@pytest.mark.parametrize("mass", [0.25, 4.0])
@pytest.mark.parametrize("reach", [0.1, 3.0])
def test_dry_friction_stops_a_joint_or_takes_what_it_can(mass: float, reach: float) -> None:
    """-m v stops it, if the reach is that large; else all of the reach acts against the motion. In two units of velocity, beside a contact."""
    for v in (1.0, -2.0):
        K, b = np.diag([1.0 / mass, 1.0]), np.array([v, -0.5])
        found = contact_impulses(K, b, 0.0, kinds=["joint", "normal"], reach=[reach, 0.0])
        assert found.certificate < SOLVED
        np.testing.assert_allclose(found.impulses, [-math.copysign(min(mass * abs(v), reach), v), 0.5], rtol=1e-14)


def test_of_equal_contacts_those_share_the_impulse_that_stay_closed() -> None:
    """A mass of 1 kg strikes three floors at 1 m/s at once; a fourth one goes down faster: it opens, and has none."""
    found = contact_impulses(np.ones((4, 4)), [-1.0, -1.0, 0.5, -1.0], 0.0, kinds=["normal"] * 4, shortest=True)
    np.testing.assert_allclose(found.impulses, [1 / 3, 1 / 3, 0.0, 1 / 3], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("mu", "J", "v"),
    [
        # The curve turns back on its way: κ must be let rise for a while.
        (2.0, [[1, 1], [-3, -2], [-3, -2]], [3, 2]),
        (5.0, [[3, -3], [-3, -3], [2, -2]], [2, -2]),
        (5.0, [[3, -2], [-3, -3], [1, -3]], [3, -2]),
        # The modes are known from where the tangent leads only: a velocity vanishes with κ.
        (2.0, [[1, -2, 0, 2, 2], [0, -3, -2, 1, 3], [0, 2, -2, -1, -3], [2, 1, -1, -1, 3], [1, 0, 0, -2, -1], [-3, 1, 3, 0, -1]], [2, -2, -2, 3, 0]),
    ],
)  # fmt: skip
def test_the_curve_alone_leads_to_a_solution(mu: float, J: list[list[int]], v: list[int]) -> None:
    """Contacts of a motion v, drawn from many for which one of the two is needed; without Gauss-Seidel before it."""
    rows = np.array(J, dtype=float)
    K, b, k = rows @ rows.T, rows @ v, len(J) // 3
    kind, at, d, S, c, law, y = np.full(k, FRICTION), 3 * np.arange(k + 1), np.empty(3 * k), K.copy(), b.copy(), np.empty((k, 3)), b * 0.0
    row_scaling(K, kind, at, d)
    size = scaled_problem(K, b, d, S, c)
    scaled_law(kind, at, np.full(k, mu), np.zeros(k), np.zeros((k, 2)), d, size, law)
    assert follow(S, c, kind, at, law, y, 1.0) < 1e-12
    assert judge(K, b, np.full(k, mu), y * d * size) < SOLVED


def test_the_derivative_of_a_projection_onto_a_cone() -> None:
    """Against differences, and the projection against its definition: what is taken away is at right angles, and in the polar cone."""
    rng, h, outside = np.random.default_rng(5), 1e-6, 0
    for _ in range(200):
        mu, x, P = rng.uniform(0.1, 2.0), rng.normal(size=3), np.zeros((3, 3))
        near = x.copy()
        _onto_cone(mu, near, 0, P)
        lost = x - near
        assert np.hypot(*near[1:]) <= mu * near[0] + 1e-15 and abs(lost @ near) < 1e-14 and lost[0] + mu * np.hypot(*lost[1:]) < 1e-14
        sides = np.array([x + h * row for row in (*np.eye(3), *-np.eye(3))])
        for side in sides:
            _onto_cone(mu, side, 0, np.zeros((3, 3)))
        np.testing.assert_allclose(P, (sides[:3] - sides[3:]).T / (2 * h), rtol=0.0, atol=1e-6)
        outside += near[0] > 0.0 and np.abs(lost).max() > 0.0
    assert outside > 30


def test_an_approach_counts_by_the_velocities_however_large_other_impulses_are() -> None:
    """Two walls press a mass between them with 1e5 N s; another mass, without an impulse, goes on towards its wall at 1 m/s."""
    K = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert contact_certificate(K, [0.0, 0.0, -1.0], 0.0, [1e5, 1e5, 0.0], kinds=["normal"] * 3) == 1.0
    assert contact_certificate(K, [0.0, 0.0, -1.0], 0.0, [1e5, 1e5, 1.0], kinds=["normal"] * 3) < SOLVED


def test_impulses_on_their_way_to_infinity_solve_nothing() -> None:
    """Two walls close in on a mass: K p is zero for equal impulses, which then only hide b below their rounding."""
    K, b = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0])
    p = np.full(2, 1e17)
    s = [float(b[i] + K[i, 0] * p[0] + K[i, 1] * p[1]) for i in range(2)]
    assert s == [0.0, 0.0]  # in this arithmetic they are at rest, though u = b
    assert contact_certificate(K, b, 0.0, p, kinds=["normal"] * 2) > 1.0


def block_on_a_slope(slope: float) -> tuple[Array, Array]:
    """K and the accelerations of the four corners of a block of 2 kg, half sizes .2, .2, .1 m; 12 rows of rank 6."""
    m, a, h = 2.0, 0.2, 0.1
    M = np.diag([m, m, m, m / 3 * (a * a + h * h), m / 3 * (a * a + h * h), 2 * m / 3 * a * a])
    rows = []
    for x, y in ((a, a), (a, -a), (-a, a), (-a, -a)):
        turning = np.array([[0.0, -h, -y], [h, 0.0, x], [y, -x, 0.0]])  # -[r]x of r = (x, y, -h)
        point = np.c_[np.eye(3), turning]
        rows += [point[2], point[0], point[1]]
    J = np.array(rows)
    g = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope), 0.0, 0.0, 0.0])
    return J @ np.linalg.solve(M, J.T), J @ g


def test_a_block_on_a_slope_rests_or_slides_as_a_whole() -> None:
    """Below atan μ it rests; above it slides with g (sin - μ cos). Forces add up to its weight, and shortest ones are no longer."""
    weight, mu = 2.0 * 9.81, 0.5
    for slope in (0.0, 0.2, 0.4, 0.6):
        K, b = block_on_a_slope(slope)
        plain, short = contact_impulses(K, b, mu), contact_impulses(K, b, mu, shortest=True)
        assert max(plain.certificate, short.certificate) < SOLVED
        down = 9.81 * max(0.0, np.sin(slope) - mu * np.cos(slope))
        np.testing.assert_allclose((K @ short.impulses + b).reshape(-1, 3), np.tile([0.0, down, 0.0], (4, 1)), atol=1e-12 * 9.81)
        p = short.impulses.reshape(-1, 3).sum(axis=0)
        np.testing.assert_allclose(p, [weight * np.cos(slope), -weight * min(np.sin(slope), mu * np.cos(slope)), 0.0], atol=1e-11 * weight)
        assert np.linalg.norm(short.impulses) <= np.linalg.norm(plain.impulses) * (1.0 + 1e-12)


def test_the_shortest_impulses_agree_with_quadratic_programming() -> None:
    """A resting block on a slope: inside of all cones the shortest is the pseudo-inverse."""
    K, b = block_on_a_slope(0.2)
    short = contact_impulses(K, b, 0.9, shortest=True).impulses
    pseudo = -np.linalg.pinv(K, rcond=1e-10) @ b
    assert (np.hypot(pseudo[1::3], pseudo[2::3]) < 0.9 * pseudo[::3]).all()
    np.testing.assert_allclose(short, pseudo, atol=1e-11 * np.abs(pseudo).max())


def test_dependent_contacts_are_solved() -> None:
    """More rows than velocities, b of a velocity before: there is a solution."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        k = int(rng.integers(2, 9))
        J = rng.normal(size=(3 * k, int(rng.integers(3, 9))))
        K, b, mu = J @ J.T, J @ rng.normal(size=J.shape[1]), rng.uniform(0.1, 1.0, k)
        p, certificate = contact_impulses(K, b, mu)
        assert certificate < SOLVED
        assert judge(K, b, mu, p) < 1e-8  # sqrt of what the products leave, of the other scaling


def test_units_make_no_difference() -> None:
    """kg to g and m to mm: the same impulses in other units, the same certificate up to rounding."""
    rng = np.random.default_rng(6)
    for mass, length in ((1e3, 1e3), (1e-6, 1.0), (1.0, 1e-9)):
        K, b, mu = spd(rng, 12), rng.normal(size=12), rng.uniform(0.1, 1.0, 4)
        p, certificate = contact_impulses(K, b, mu)
        other, again = contact_impulses(K / mass, b * length, mu)
        assert max(certificate, again) < SOLVED
        np.testing.assert_allclose(other, p * mass * length, atol=1e-10 * np.abs(p).max() * mass * length)


def test_dry_friction_of_a_joint() -> None:
    for speed, expected in ((2.0, -0.5), (-2.0, 0.5), (0.2, -0.2)):
        p, certificate = contact_impulses([[1.0]], [speed], 0.0, kinds=["joint"], reach=0.5)
        assert certificate < 1e-14
        np.testing.assert_allclose(p, [expected], rtol=1e-14)


def test_contacts_that_press_against_each_other_are_told() -> None:
    """A body between two walls that close faster than it can leave; as fast as it leaves is no contradiction.

    Without a search through all modes, as in simulations: the proof is that of infeasible.py.
    """
    K = [[1.0, -1.0], [-1.0, 1.0]]
    assert contact_impulses(K, [-1.0, 0.5], 0.0, kinds=["normal"] * 2, search=0).certificate == np.inf
    assert contact_impulses(K, [-1.0, 1.0], 0.0, kinds=["normal"] * 2, search=0).certificate < SOLVED
    assert contact_impulses(np.zeros((3, 3)), [-1.0, 0.0, 0.0], 0.5, search=0).certificate == np.inf  # nothing moves it


def test_painleves_paradox_is_told() -> None:
    """A contact that slides: uₙ = (Kₙₙ - μ Kₙₜ) pₙ + bₙ cannot rise where the bracket is negative."""
    K = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    inside = {"kinds": ["sliding"], "directions": [[1.0, 0.0]]}
    assert contact_impulses(K, [-1.0, 0.3, 0.0], 1.5, **inside).certificate == np.inf  # type: ignore[arg-type]
    p, certificate = contact_impulses(K, [-1.0, 0.3, 0.0], 1.0, **inside)  # type: ignore[arg-type]
    assert certificate < 1e-14
    np.testing.assert_allclose(p, [5.0, -5.0, 0.0], rtol=1e-13)


def test_many_contacts_are_solved_by_sweeps() -> None:
    """120 particles in a row, each coupled to the next."""
    k, rng = 120, np.random.default_rng(7)
    K = np.eye(3 * k) + 0.3 * (np.eye(3 * k, k=3) + np.eye(3 * k, k=-3))
    b, mu = rng.normal(size=3 * k), rng.uniform(0.0, 1.0, k)
    p, certificate = contact_impulses(K, b, mu)
    assert certificate < 1e-8
    assert judge(K, b, mu, p) < 1e-7
