"""Impact laws with friction against closed forms, Routh's construction in the plane, Keller's equations in space, and the balance of energy."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from examples import ROBOTS
from numpy.typing import NDArray
from urdf_text import inertial, joint, link, robot

import urdf_gibbs as ug
from urdf_gibbs.contact.laws import POISSON
from urdf_gibbs.contact.laws import impulses as smooth_impulses
from urdf_gibbs.contact.rough_laws.given import impulses_by_law
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.names import Law

Array = NDArray[np.float64]

ROUGH: tuple[Law, ...] = ("newton", "poisson", "moreau", "energetic")
NEVER_GAIN: tuple[Law, ...] = ("poisson", "moreau", "energetic")  # with one restitution for all contacts
SOLVED = 1e-10  # what a certificate promises
ROUND_OFF = 1e-11  # some hundred operations, K as badly conditioned as 1e4


def solved(law: Law, K: Array, u: Array, mu: float, e: float) -> Array:
    """Impulses (3,) of one contact by a law, whose certificate is small."""
    found = impulses_by_law(law, K, u, np.array([mu]), np.array([e]))
    assert (found.law, found.rounds) == (law, 1)
    assert found.certificate < SOLVED
    return found.impulses


def change(K: Array, u: Array, p: Array) -> float:
    """The change of the kinetic energy by impulses p [J]."""
    return float(p @ u + 0.5 * p @ K @ p)


def random_spd(rng: np.random.Generator, n: int) -> Array:
    A = rng.normal(size=(n, n))
    return np.asarray(A @ A.T + 0.02 * np.eye(n))


def in_space(K: Array, u: Array) -> tuple[Array, Array]:
    """A planar contact with a second tangent along which nothing happens."""
    wide = np.eye(3)
    wide[:2, :2] = K
    return wide, np.append(u, 0.0)


# closed forms -----------------------------------------------------------------------------------------------

BALL = robot(link("ball", inertial(1.0, moments=(0.004, 0.004, 0.004))))  # 0.4 m R² with R = 0.1 m


@cache
def ball() -> ug.Robot:
    return ug.load(BALL, base="floating")


def bounced(law: Law, mu: float) -> ug.Impact:
    q = ball().neutral()
    spinning = np.array([1.0, 0.5, -3.0, 20.0, -30.0, 10.0])
    return ug.impact(ball(), q, spinning, [("ball", (0, 0, -0.1), (0, 0, 1))], 0.6, friction=mu, law=law)


@pytest.mark.parametrize("law", ROUGH)
def test_a_spinning_ball_that_slips_leaves_alike_by_all_laws(law: Law) -> None:
    """p_n = 1.6 · 3 and 0.2 of it against the slip (1, .5) + ω × r = (4, 2.5), all the time."""
    found = bounced(law, 0.2)
    slip = np.array([1.0 + 3.0, 0.5 + 2.0])
    expected = np.array([1.0, 0.5]) - 0.2 * 4.8 * slip / np.hypot(*slip)
    np.testing.assert_allclose(found.v_after[:3], [*expected, 1.8], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.v_after[:2], [0.18592163, -0.00879898], rtol=0, atol=5e-9)  # as printed
    np.testing.assert_allclose(found.impulses, 4.8, rtol=1e-14)
    np.testing.assert_allclose(found.tangential_impulses, [[*(expected - [1.0, 0.5]), 0.0]], rtol=0, atol=1e-14)
    assert (found.law, found.energy_gain) == (law, False)
    assert found.certificate < SOLVED


@pytest.mark.parametrize("law", ROUGH)
def test_a_spinning_ball_that_stops_slipping(law: Law) -> None:
    """Rolling, v = 5/7 v⁻ + 2/7 ω × n R; Moreau's law turns part of the slip back."""
    expected = (-0.22111756, -0.26319847) if law == "moreau" else (-1 / 7, -3 / 14)
    np.testing.assert_allclose(bounced(law, 0.3).v_after[:3], [*expected, 1.8], rtol=0, atol=5e-9)


# the plane --------------------------------------------------------------------------------------------------


def routh(K: Array, u: Array, mu: float, e: float, law: Law) -> tuple[Array, bool]:
    """Impulses (2,) of a contact in the plane by straight pieces of slip and stick in (p_n, p_t), and whether slip has turned back."""
    p, v, work, compressed, taken, turned = np.zeros(2), u.copy(), 0.0, 0.0, 0.0, False
    restitution = False
    while True:
        sticks = abs(K[0, 1]) <= mu * K[1, 1]
        push = -K[0, 1] / K[1, 1] if sticks else -mu * np.sign(K[0, 1])
        if v[1] != 0.0:
            push = -mu * np.sign(v[1])
        elif not sticks:
            turned = turned or u[1] * K[0, 1] < 0.0
        rate = K @ [1.0, push]
        if v[1] == 0.0 and sticks:
            rate[1] = 0.0
        stop = -v[1] / rate[1] if v[1] * rate[1] < 0.0 else np.inf
        if not restitution:
            end = -v[0] / rate[0] if rate[0] > 0.0 else np.inf
        elif law == "poisson":
            end = (1.0 + e) * compressed - p[0]
        elif law == "newton":
            end = (-e * u[0] - v[0]) / rate[0]
        else:
            left = -e * e * taken - (work - taken)
            end = (np.sqrt(v[0] ** 2 + 2.0 * rate[0] * left) - v[0]) / rate[0]
        step = min(stop, end)
        work += v[0] * step + 0.5 * rate[0] * step**2
        p += [step, push * step]
        v += rate * step
        if step == stop:
            v[1] = 0.0
        if step == end:
            if restitution:
                return p, turned
            restitution, v[0], compressed, taken = True, 0.0, p[0], work


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
def test_impacts_in_the_plane_are_those_of_routh(law: Law) -> None:
    """Newton's and Poisson's laws know velocities at the ends of phases only: where slip turns back within one, their impulses differ."""
    rng, modes = np.random.default_rng(3), {"same": 0, "turned": 0}
    for _ in range(500):
        K, mu, e = random_spd(rng, 2), rng.uniform(0.0, 2.0), rng.uniform(0.0, 1.0)
        u = np.array([-abs(rng.normal()), rng.normal()])
        expected, turned = routh(K, u, mu, e, law)
        p = solved(law, *in_space(K, u), mu, e)
        modes["turned" if turned else "same"] += 1
        if law == "energetic" or not turned:
            np.testing.assert_allclose(p[:2], expected, rtol=0, atol=ROUND_OFF * np.abs(expected).max())
            assert abs(p[2]) < ROUND_OFF * np.abs(expected).max()
    assert min(modes.values()) > 20


def test_poisson_without_friction_is_the_smooth_law() -> None:
    """At several contacts with several e; the smooth law is a linear complementarity problem."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        k = 4
        K, u, e = random_spd(rng, k), rng.normal(size=k), rng.uniform(0.0, 1.0, k)
        expected = np.empty(k)
        assert smooth_impulses(POISSON, K, u, e, expected) < SOLVED
        found = impulses_by_law("poisson", K, u, np.zeros(k), e)
        assert found.certificate < SOLVED
        np.testing.assert_allclose(found.impulses, expected, rtol=0, atol=ROUND_OFF * np.abs(expected).max(initial=1.0))


@pytest.mark.parametrize("law", ["newton", "poisson", "moreau"])
def test_each_contact_has_its_own_restitution(law: Law) -> None:
    """Two particles of 1 kg that know nothing of each other: each gives back its own share of its normal velocity."""
    u, e = np.array([-1.0, 0.2, 0.0, -3.0, 0.0, 0.1]), np.array([0.2, 0.9])
    found = impulses_by_law(law, np.eye(6), u, np.full(2, 0.5), e)
    np.testing.assert_allclose((u + found.impulses)[::3], -e * u[::3], rtol=1e-14)


def test_poisson_gives_back_what_was_compressed_and_obeys_coulomb() -> None:
    """Its definition, written again, at contacts that press on each other."""
    rng, more = np.random.default_rng(6), 0
    for _ in range(100):
        k, mu, e = 3, 0.6, 0.5
        K, u = random_spd(rng, 3 * k), rng.normal(size=3 * k)
        first = impulses_by_law("newton", K, u, np.full(k, mu), np.zeros(k))  # plastic
        found = impulses_by_law("poisson", K, u, np.full(k, mu), np.full(k, e))
        assert max(first.certificate, found.certificate) < SOLVED
        if first.rounds > 1:
            continue
        last, after = (found.impulses - first.impulses).reshape(k, 3), (u + K @ found.impulses).reshape(k, 3)
        extra = last[:, 0] - e * first.impulses[::3]
        size, fast = np.abs(found.impulses).max(initial=1e-3), np.abs(u).max()
        assert extra.min() > -ROUND_OFF * size and after[:, 0].min() > -ROUND_OFF * fast
        assert np.abs(extra * after[:, 0]).max() < ROUND_OFF * size * fast
        most, slip = mu * last[:, 0], np.hypot(*after[:, 1:].T)
        assert (np.hypot(*last[:, 1:].T) - most).max() < ROUND_OFF * size
        against = np.einsum("ij,ij->i", last[:, 1:], after[:, 1:]) + most * slip
        assert np.abs(against).max() < ROUND_OFF * size * fast
        more += bool((extra > 1e-6).any())
    assert more > 3  # the second part of restitution is at work


# space ------------------------------------------------------------------------------------------------------

SLOW = 1e-8  # below it slip has stopped, for the integration in p_n


def at_rest(K: Array, mu: float) -> tuple[Array, Array | None]:
    """The force of u_t = 0, and the direction of slip where that cannot be kept: of all angles, the one in which slip grows along itself."""
    keep = -np.linalg.solve(K[1:, 1:], K[1:, 0])
    if np.hypot(*keep) <= mu:
        return keep, None
    optimize = pytest.importorskip("scipy.optimize")

    def rate(angle: float) -> Array:
        return np.asarray(K[1:, 0] - mu * K[1:, 1:] @ [np.cos(angle), np.sin(angle)])

    def across(angle: float) -> float:
        return float(rate(angle) @ [-np.sin(angle), np.cos(angle)])

    grid = np.linspace(0.0, 2.0 * np.pi, 400)
    zeros = [optimize.brentq(across, a, b) for a, b in pairwise(grid) if across(a) * across(b) < 0.0]
    (angle,) = [zero for zero in zeros if rate(zero) @ [np.cos(zero), np.sin(zero)] > 0.0]
    way = np.array([np.cos(angle), np.sin(angle)])
    return -mu * way, way


def keller(K: Array, u: Array, mu: float, until: float) -> tuple[Array, float, float]:
    """(p_t (2,), W_c, W_r) of one contact when p_n has come to ``until``, by integration in p_n; the state is u, p_t, W."""
    integrate = pytest.importorskip("scipy.integrate")
    y, pn, taken, rests = np.concatenate([u, np.zeros(3)]), 0.0, np.nan, bool(np.hypot(*u[1:]) < SLOW)
    while pn < until:
        force, way = at_rest(K, mu) if rests else (np.zeros(2), None)
        sticks = rests and way is None
        if rests:
            y[1:3] = 0.0 if way is None else 1.01 * SLOW * way

        def rate(_: float, y: Array, sticks: bool = sticks, force: Array = force) -> Array:
            f = force if sticks else -mu * y[1:3] / np.hypot(*y[1:3])
            du = K @ [1.0, *f]
            return np.array([du[0], *([0.0, 0.0] if sticks else du[1:]), *f, y[0]])

        def opens(_: float, y: Array, over: bool = not np.isnan(taken)) -> float:
            return 1.0 if over else float(y[0])

        def stops(_: float, y: Array, sticks: bool = sticks) -> float:
            return 1.0 if sticks else float(np.hypot(*y[1:3]) - SLOW)

        opens.terminal, stops.terminal, stops.direction = True, True, -1  # type: ignore[attr-defined]
        run = integrate.solve_ivp(rate, (pn, until), y, "DOP853", events=[opens, stops], rtol=1e-11, atol=1e-13, first_step=1e-9 * until)
        pn, y = float(run.t[-1]), run.y[:, -1].copy()
        rests = sticks or bool(len(run.t_events[1]))
        taken = float(y[5]) if len(run.t_events[0]) else taken
    return y[3:5], taken, float(y[5] - taken)


def test_energetic_impacts_in_space_are_kellers_process() -> None:
    """With the normal impulse found, restitution has done -e² times the work of compression, and friction is what the process gives."""
    rng, stuck = np.random.default_rng(8), 0
    for _ in range(30):
        K, mu, e, u = random_spd(rng, 3), rng.uniform(0.05, 2.0), rng.uniform(0.2, 1.0), rng.normal(size=3)
        u[0] = -abs(u[0])
        p = solved("energetic", K, u, mu, e)
        friction, taken, given = keller(K, u, mu, p[0])
        stuck += bool(np.hypot(*(u + K @ p)[1:]) < 1e-12)
        np.testing.assert_allclose(p[1:], friction, rtol=0, atol=1e-6 * p[0])  # slip stops at SLOW, and K is as bad as 1e4
        assert taken < 0.0 and abs(given + e * e * taken) < 1e-6 * abs(taken)
    assert 4 < stuck < 26


def test_the_energetic_law_never_gains_energy() -> None:
    rng = np.random.default_rng(9)
    for _ in range(500):
        K, mu, e, u = random_spd(rng, 3), rng.uniform(0.0, 2.0), rng.uniform(0.0, 1.0), rng.normal(size=3)
        u[0] = -abs(u[0])
        p = solved("energetic", K, u, mu, e)
        assert change(K, u, p) < ROUND_OFF * 0.5 * u @ np.linalg.solve(K, u)
        assert np.hypot(p[1], p[2]) <= mu * p[0] * (1.0 + ROUND_OFF)
        assert (u + K @ p)[0] > -ROUND_OFF


def test_energetic_restitution_leaves_several_contacts_to_moreau() -> None:
    rng = np.random.default_rng(10)
    K, mu, e = random_spd(rng, 6), np.full(2, 0.5), np.full(2, 0.5)
    both = np.array([-1.0, 0.3, 0.1, -0.8, 0.2, 0.4])
    found, moreau = (impulses_by_law(law, K, both, mu, e) for law in ("energetic", "moreau"))
    assert found.law == "moreau"
    np.testing.assert_array_equal(found.impulses, moreau.impulses)
    one = np.array([-1.0, 0.3, 0.1, 50.0, 0.2, 0.4])  # the other leaves too fast to be met
    alone = impulses_by_law("energetic", K, one, mu, e)
    assert alone.law == "energetic"
    np.testing.assert_array_equal(alone.impulses[3:], 0.0)
    np.testing.assert_allclose(alone.impulses[:3], solved("energetic", K[:3, :3], one[:3], 0.5, 0.5), rtol=1e-14)


# energy -----------------------------------------------------------------------------------------------------

ROD = inertial(1.0, com=(0, 0, -0.5), moments=(1 / 12, 1 / 12, 0.0))
PENDULUM = robot(
    link("w", ""),
    link("upper", ROD),
    link("lower", ROD),
    joint("shoulder", "continuous", "w", "upper", axis=(0, -1, 0)),
    joint("elbow", "continuous", "upper", "lower", xyz=(0, 0, -1), axis=(0, -1, 0)),
)


@cache
def pendulum() -> ug.Robot:
    return ug.load(PENDULUM)


Q = np.radians([20.0, 10.0])  # rods at 20 and 30 degrees from the vertical
V = np.array([-0.1, -0.1])  # which turn with -0.1 and -0.2 rad/s: the tip comes down, and in


@pytest.mark.parametrize("law", ROUGH)
def test_kanes_double_pendulum_gains_energy_by_newtons_law_alone(law: Law) -> None:
    """Kane and Levinson's paradox: equal rods, the tip on a rough floor. Without a robot: M and J of two rods by hand."""
    found = ug.impact(pendulum(), Q, V, [("lower", (0, 0, -1), (0, 0, 1))], 0.5, friction=0.5, law=law)
    a, b = np.radians([20.0, 30.0])
    M = np.array([[4 / 3, np.cos(b - a) / 2], [np.cos(b - a) / 2, 1 / 3]])
    J = np.array([[np.sin(a), np.sin(b)], [np.cos(a), np.cos(b)]])
    w, push = np.array([-0.1, -0.2]), np.array([found.impulses[0], found.tangential_impulses[0, 0]])
    after = w + np.linalg.solve(M, J.T @ push)
    np.testing.assert_allclose(np.cumsum(found.v_after), after, rtol=0, atol=1e-14)
    gain = 0.5 * after @ M @ after - 0.5 * w @ M @ w
    np.testing.assert_allclose(-found.energy_loss, gain, rtol=0, atol=1e-13)
    assert found.certificate < SOLVED
    assert found.energy_gain == (law == "newton")
    if law == "newton":  # it sticks, u_t = 0 and u_n = e |u_n⁻|, with 59 % more than there was
        np.testing.assert_allclose(J @ after, [-0.5 * (J @ w)[0], 0.0], rtol=0, atol=1e-14)
        assert 0.58 < gain / (0.5 * w @ M @ w) < 0.60
    else:
        assert gain < 0.0


@pytest.mark.parametrize("law", ROUGH)
def test_a_simulation_flags_the_pendulum_as_well(law: Law) -> None:
    """The floor where the tip is; the record names the law."""
    low = -np.cos(np.radians(20.0)) - np.cos(np.radians(30.0))
    floor = ug.walls.Plane(normal=(0, 0, 1), point=(0, 0, low))
    simulator = ug.Simulator(pendulum(), walls=floor, points=[("lower", (0, 0, -1))], law=law, restitution=0.5, friction=0.5)
    found = simulator.impact(Q, V)
    expected = ug.impact(pendulum(), Q, V, [("lower", (0, 0, -1), (0, 0, 1))], 0.5, friction=0.5, law=law)
    assert found is not None
    np.testing.assert_allclose(found.v_after, expected.v_after, rtol=0, atol=1e-13)
    assert (found.law, found.energy_gain) == (law, law == "newton")


def test_a_simulation_says_that_several_contacts_were_left_to_moreau() -> None:
    """A rod that falls flat strikes with both ends; one that falls tilted with one."""
    rod, ground = ug.load(ug.model_path("rigid_link")), ug.walls.Plane(normal=(0, 1, 0), point=(0, 0, 0))
    simulator = ug.Simulator(rod, walls=ground, law="energetic", restitution=0.5, friction=0.4, gravity=(0, -9.81, 0))
    flat, tilted = simulator.impact([0.0, 0.0, 0.0], [0.5, -1.0, 0.0]), simulator.impact([0.0, 0.0, 0.3], [0.5, -1.0, 0.0])
    assert flat is not None and tilted is not None
    assert (flat.k, flat.law, flat.energy_gain) == (2, "moreau", False)
    assert (tilted.k, tilted.law, tilted.energy_gain) == (1, "energetic", False)


def test_poissons_law_gains_energy_with_friction_and_several_restitutions_only() -> None:
    """It never gains with one restitution for all, or without friction. The contacts are such as can jam: few bodies, large mu."""
    rng, gains = np.random.default_rng(12), {"one": 0, "several": 0, "smooth": 0}
    for _ in range(1500):
        A = rng.normal(size=(6, 5))
        K, u = A @ A.T + 1e-3 * np.eye(6), rng.normal(size=6)
        u[::3] = -np.abs(u[::3])
        tried: dict[str, tuple[slice, float, tuple[float, float]]] = {
            "one": (slice(None), 2.0, (0.8, 0.8)),
            "several": (slice(None), 2.0, (1.0, 0.0)),
            "smooth": (slice(None, None, 3), 0.0, (1.0, 0.0)),
        }
        for name, (rows, mu, e) in tried.items():
            part, before = K[rows, rows], u[rows]
            found = impulses_by_law("poisson", part, before, np.full(2, mu), np.array(e))
            certain = found.certificate < SOLVED
            gains[name] += certain and change(part, before, found.impulses) > 1e-8 * (before @ np.linalg.solve(part, before))
    assert gains["one"] == gains["smooth"] == 0 < gains["several"]


@cache
def example(file: str) -> ug.Robot:
    return ug.load(ROBOTS[file], base="floating")


GO2 = ("go2_description/urdf/go2.urdf", ("FL_foot", "FR_foot", "RL_foot", "RR_foot"), [(0.0, 0.0, -0.02)])
SOLE = [(0.1, 0.06, -0.1), (0.1, -0.06, -0.1), (-0.1, 0.06, -0.1), (-0.1, -0.06, -0.1)]
TALOS = ("talos_data/robots/talos_reduced.urdf", ("leg_left_6_link", "leg_right_6_link"), SOLE)


@pytest.mark.parametrize("case", [GO2, TALOS], ids=["go2", "talos"])
def test_robots_with_friction_gain_no_energy_by_the_laws_that_promise_it(case: Any) -> None:
    """100 impacts of each; the law that can gain is flagged when it does."""
    file, links, points = case
    machine, rng, flagged = example(file), np.random.default_rng(13), 0
    contacts = [(one, point, (0, 0, 1)) for one in links for point in points]
    for i in range(100):
        q, v, e = machine.random(i), rng.normal(size=machine.nv), (0.0, 0.5, 1.0)[i % 3]
        v[2] -= 1.0
        chosen = [contacts[j] for j in rng.permutation(len(contacts))[: rng.integers(1, len(contacts) + 1)]]
        for law in ROUGH:
            found = ug.impact(machine, q, v, chosen, e, friction=0.7, law=law)
            assert found.certificate < SOLVED, (law, i)
            kinetic = ug.kinetic_energy(machine, q, v)
            gain = ug.kinetic_energy(machine, q, found.v_after) - kinetic
            if law in NEVER_GAIN:
                assert gain < 1e-10 * kinetic, (law, i)
            assert found.energy_gain == (gain > 1e-9 * kinetic)
            flagged += found.energy_gain
    assert flagged > 0


def impact_by_newton(q: Array, v: Array, contacts: Any) -> ug.Impact | None:
    try:
        return ug.impact(ball(), q, v, contacts, 1.0, friction=0.7, law="newton")
    except ArgumentError:
        return None


def test_a_body_between_opposing_contacts_has_impulses_by_all_laws_but_newtons() -> None:
    """Restitution of normal velocities alone may ask for velocities that no motion has; those of the other laws are of the motion itself."""
    rng, none = np.random.default_rng(20), 0
    for _ in range(20):
        normals = rng.normal(size=(5, 3))
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        contacts = [("ball", rng.normal(scale=0.05, size=3) - 0.1 * normal, normal) for normal in normals]
        q, v = ball().neutral(), rng.normal(size=6)
        v[:3] -= normals.sum(axis=0)
        before = ug.kinetic_energy(ball(), q, v)
        for law in NEVER_GAIN:
            found = ug.impact(ball(), q, v, contacts, 1.0, friction=0.7, law=law)
            assert found.certificate < SOLVED
            assert found.normal_velocities_after.min() > -1e-8
            assert ug.kinetic_energy(ball(), q, found.v_after) < before * (1.0 + 1e-10) and not found.energy_gain
        struck = impact_by_newton(q, v, contacts)
        none += struck is None
        assert struck is None or struck.certificate < 1e-6
    assert none > 2


# arguments --------------------------------------------------------------------------------------------------


def test_wrong_arguments_of_impacts_with_friction() -> None:
    q, v, contacts = Q, V, [("lower", (0, 0, -1), (0, 0, 1))]
    for friction in (-0.1, np.nan, "a", None):
        with pytest.raises(ArgumentError, match="friction="):
            ug.impact(pendulum(), q, v, contacts, friction=friction)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="has no form with friction"):
        ug.impact(pendulum(), q, v, contacts, friction=0.1, law="newton_equality")
    with pytest.raises(UnknownNameError):
        ug.impact(pendulum(), q, v, contacts, law="stronge")  # type: ignore[arg-type]
    assert ug.impact(pendulum(), q, v, contacts).law == "newton_equality"
    assert ug.impact(pendulum(), q, v, contacts, friction=0.1).law == "newton"
