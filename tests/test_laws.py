"""Impact laws against closed forms, the energy, SciPy and an enumeration of all supports. K = B Bᵀ, u = B z: B is J M^-½, z is M^½ v."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import nnls
from structs import empty

from urdf_gibbs.contact import names
from urdf_gibbs.contact.complementarity import SOLVED
from urdf_gibbs.contact.laws import LAWS, NEWTON, NEWTON_EQUALITY, POISSON
from urdf_gibbs.simulation import layout
from urdf_gibbs.simulation import rows as compiled_rows

Array = NDArray[np.float64]

CRADLE = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
CORNERS = np.array([[x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)] + [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])


def compiled(problem: int, K: Array, u: Array, e: Array, lam: Array) -> float:
    """As the driver asks: fills lam (k,)."""
    system = empty(layout.System, K=np.array(K, float).ravel(), u=np.array(u, float), e=np.array(e, float), lam=lam)
    return float(compiled_rows.solve(system, problem, len(u)))


def impulses(law: int, K: Array, u: Array, e: Array, lam: Array) -> float:
    return compiled(law, K, u, e, lam)


def solve(K: Array, w: Array, lam: Array) -> float:
    return compiled(layout.LCP, K, w, w, lam)


def least_norm(K: Array, c: Array, lam: Array) -> float:
    return compiled(layout.LEAST_NORM, K, c, c, lam)


def act(law: int, K: Array, u: Array, e: float | Array) -> tuple[Array, float]:
    lam = np.full(len(u), 7.0)
    certificate = impulses(law, np.ascontiguousarray(K), np.ascontiguousarray(u), np.array(np.broadcast_to(e, len(u)), float), lam)
    return lam, certificate


def lcp(K: Array, w: Array) -> tuple[Array, float]:
    lam = np.full(len(w), 7.0)
    return lam, solve(K, w, lam)


def gain(K: Array, u: Array, lam: Array) -> float:
    """ΔT = λᵀu + ½ λᵀ K λ."""
    return float(lam @ u + 0.5 * lam @ K @ lam)


def wrong(K: Array, w: Array, lam: Array) -> float:
    """The worst broken condition, by the definition: each term in √J, relative to the largest of w."""
    root = np.sqrt(np.diag(K))
    y, slack = lam * root, (K @ lam + w) / root
    scale = np.abs(w / root).max()
    return float(max((-y).max(), (-slack).max(), np.minimum(np.abs(y), np.abs(slack)).max()) / scale)


def foot(rng: np.random.Generator, k: int, regular: bool) -> Array:
    """Rows of k points of one rigid plate: vertical, two rotations. Rank 3."""
    points = CORNERS[:k] if regular else rng.normal(size=(k, 2)) + rng.normal(size=2)
    return np.c_[np.ones(k), points * rng.uniform(0.5, 5.0)]


def rows(kind: str, rng: np.random.Generator) -> Array:
    k, n = int(rng.integers(1, 13)), int(rng.integers(1, 13))
    B = rng.normal(size=(k, n))
    match kind:
        case "random":
            return B
        case "duplicated":
            return B[rng.integers(0, max(1, k // 2), size=k)]
        case "plate":
            return foot(rng, int(rng.integers(4, 9)), True)
        case "plate anywhere":
            return foot(rng, int(rng.integers(4, 9)), False)
        case "near-singular":
            return B[rng.integers(0, max(1, k // 2), size=k)] + 10.0 ** rng.uniform(-9, -2) * rng.normal(size=B.shape)
        case "scales":
            return B * 10.0 ** rng.uniform(-6, 6, size=(k, 1))
        case "large":
            return rng.normal(size=(60, int(rng.integers(3, 70))))
    raise AssertionError(kind)


def test_names_are_the_same_without_numba() -> None:
    assert LAWS is names.LAWS
    assert (LAWS[NEWTON], LAWS[NEWTON_EQUALITY], LAWS[POISSON]) == ("newton", "newton_equality", "poisson")


@pytest.mark.parametrize("law", [NEWTON, NEWTON_EQUALITY, POISSON])
@pytest.mark.parametrize(("e", "after"), [(1.0, (-1 / 3, 2 / 3, 2 / 3)), (0.5, (0.0, 0.5, 0.5)), (0.0, (1 / 3, 1 / 3, 1 / 3))])
def test_cradle_of_three_balls_at_once(law: int, e: float, after: tuple[float, ...]) -> None:
    v = np.array([1.0, 0.0, 0.0])
    lam, certificate = act(law, CRADLE @ CRADLE.T, CRADLE @ v, e)
    assert certificate < SOLVED
    np.testing.assert_allclose(v + CRADLE.T @ lam, after, atol=1e-14)


@pytest.mark.parametrize("law", [NEWTON, NEWTON_EQUALITY, POISSON])
def test_cradle_of_three_balls_one_after_the_other(law: int) -> None:
    v = np.array([1.0, 0.0, 0.0])
    for row in (CRADLE[:1], CRADLE[1:]):
        v = v + row.T @ act(law, row @ row.T, row @ v, 1.0)[0]
    np.testing.assert_allclose(v, (0.0, 0.0, 1.0), atol=1e-14)


@pytest.mark.parametrize("law", [NEWTON, NEWTON_EQUALITY, POISSON])
def test_tip_of_a_rod(law: int) -> None:
    K = np.array([[1.0 + (0.5 * np.cos(np.pi / 4)) ** 2 * 12.0]])
    lam, certificate = act(law, K, np.array([-1.0]), 0.5)
    assert certificate < 1e-15
    np.testing.assert_allclose(lam, 0.6, rtol=1e-14)


@pytest.mark.parametrize("law", [NEWTON, POISSON])
def test_block_that_lands_flat_shares_the_impulse_equally(law: int) -> None:
    B = np.c_[np.ones(4), 2.0 * CORNERS[:4]]
    lam, certificate = act(law, B @ B.T, B @ np.array([-1.0, 0.0, 0.0]), 0.5)
    assert certificate < SOLVED
    np.testing.assert_allclose(lam, 1.5 / 4, rtol=1e-13)


@pytest.mark.parametrize("seed", range(40))
def test_energy_lost_has_the_closed_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 7))
    B, e = rng.normal(size=(k, k + 2)), rng.uniform(0, 1)
    K = B @ B.T
    u = B @ rng.normal(size=k + 2)
    lost = -0.5 * (1 - e**2) * u @ np.linalg.solve(K, u)
    lam, residual = act(NEWTON_EQUALITY, K, u, e)
    assert residual < 1e-13
    np.testing.assert_allclose(gain(K, u, lam), lost, rtol=1e-9)  # condition of K
    u = -K @ rng.uniform(0.1, 1.0, size=k)  # all impulses positive
    lam, certificate = act(NEWTON, K, u, e)
    assert certificate < SOLVED
    assert lam.min() > 0
    np.testing.assert_allclose(gain(K, u, lam), -0.5 * (1 - e**2) * u @ np.linalg.solve(K, u), rtol=1e-9)


@st.composite
def contacts(draw: st.DrawFn) -> tuple[Array, Array, Array]:
    """M (n, n), the rows J (k, n) of contacts and velocities v (n,), of tenths: rows may be equal, opposite or zero."""
    k, n = draw(st.integers(1, 10)), draw(st.integers(1, 8))

    def tenths(*shape: int) -> Array:
        count = int(np.prod(shape))
        return np.reshape(draw(st.lists(st.integers(-30, 30), min_size=count, max_size=count)), shape) / 10.0

    J, v, root = tenths(k, n), tenths(n), tenths(n, n) + np.eye(n)
    if draw(st.booleans()):
        J = J[draw(st.lists(st.integers(0, (k + 1) // 2 - 1), min_size=k, max_size=k))]
    return root @ root.T + 0.1 * np.eye(n), J, v


@settings(max_examples=400, deadline=None)
@given(contacts(), st.floats(0, 1))
def test_one_coefficient_never_gains_energy(drawn: tuple[Array, Array, Array], e: float) -> None:
    M, J, v = drawn
    K = J @ np.linalg.solve(M, J.T)
    K, u = (K + K.T) / 2, J @ v
    before = 0.5 * v @ M @ v
    lam, certificate = act(NEWTON, K, u, e)
    after = v + np.linalg.solve(M, J.T @ lam)
    assert certificate < SOLVED
    assert lam.min() >= 0.0
    assert (J @ after + e * u).min() >= -1e-8 * np.abs(u).max()
    assert 0.5 * after @ M @ after <= before * (1 + 1e-9)
    if e == 1.0:
        np.testing.assert_allclose(0.5 * after @ M @ after, before, rtol=1e-6)  # nearly dependent rows


@pytest.mark.parametrize(
    ("kind", "cases", "tolerance"),
    [
        ("random", 1500, SOLVED),
        ("duplicated", 1500, SOLVED),
        ("plate", 500, SOLVED),
        ("plate anywhere", 1000, SOLVED),
        ("scales", 1500, SOLVED),
        ("large", 30, SOLVED),
        ("near-singular", 1000, 1e-7),  # impulses of 1e8 times the approach, each rounded
    ],
)
def test_conditions_hold_and_the_certificate_shows_it(kind: str, cases: int, tolerance: float) -> None:
    rng = np.random.default_rng(len(kind))
    worst, nonzero = 0.0, 0
    for _ in range(cases):
        B = rows(kind, rng)
        K, w = B @ B.T, B @ rng.normal(size=B.shape[1])
        lam, certificate = lcp(K, w)
        found = wrong(K, w, lam)
        assert found <= certificate + 1e-11  # the certificate is relative to the approach alone, so never smaller but for rounding
        worst = max(worst, certificate)
        nonzero += bool(lam.any())
    assert worst < tolerance
    assert nonzero > cases / 2


@pytest.mark.parametrize(
    ("kind", "tolerance"), [("random", 1e-9), ("duplicated", 1e-7), ("plate anywhere", 1e-12), ("scales", 1e-9), ("large", 1e-9)]
)
def test_velocities_agree_with_scipy(kind: str, tolerance: float) -> None:
    """SciPy works on B, so its error is the root of ours where rows nearly depend."""
    rng = np.random.default_rng(1)
    for _ in range(20 if kind == "large" else 150):
        B = rows(kind, rng)
        z = rng.normal(size=B.shape[1])
        lam, _ = lcp(B @ B.T, B @ z)
        expected, _ = nnls(B.T, -z, maxiter=2000)
        np.testing.assert_allclose(B.T @ lam, B.T @ expected, atol=tolerance * np.abs(z).max())


def shortest(K: Array, target: Array) -> Array:
    """The least |λ| with K λ = target, λ >= 0, over all supports."""
    k = len(target)
    best, norm = np.zeros(k), np.inf
    for size in range(k + 1):
        for support in map(list, combinations(range(k), size)):
            x = np.zeros(k)
            x[support] = np.linalg.lstsq(K[:, support], target, rcond=1e-10)[0]
            if np.abs(K @ x - target).max() < 1e-9 * np.abs(target).max() and x.min() > -1e-12 and np.linalg.norm(x) < norm:
                best, norm = x, float(np.linalg.norm(x))
    assert norm < np.inf
    return best


def test_of_all_impulses_the_shortest_is_given() -> None:
    rng = np.random.default_rng(5)
    clipped = 0
    for case in range(150):
        k = int(rng.integers(4, 7))
        B = foot(rng, k, False) if case % 3 else rng.normal(size=(k, 2)) * 10.0 ** rng.uniform(-1, 1, size=(k, 1))
        K = B @ B.T
        target = K @ (rng.uniform(0, 1, size=k) * (rng.uniform(size=k) < 0.6))
        if not target.any():
            continue
        lam, certificate = lcp(K, -target)
        assert certificate < SOLVED
        np.testing.assert_allclose(lam, shortest(K, target), atol=1e-8 * np.abs(lam).max())
        clipped += (np.linalg.pinv(K, rcond=1e-10, hermitian=True) @ target).min() < -1e-6
    assert clipped > 20  # the sign decides often enough to count


def test_a_longer_solution_exists_than_the_one_given() -> None:
    K = np.ones((2, 2))
    lam, _ = lcp(K, np.array([-1.0, -1.0]))
    np.testing.assert_allclose(lam, (0.5, 0.5), rtol=1e-14)


def test_equality_is_the_pseudo_inverse_and_its_residual_shows_contradictions() -> None:
    rng = np.random.default_rng(3)
    for kind in ("random", "duplicated", "plate", "plate anywhere") * 60:
        B = rows(kind, rng)
        K = B @ B.T
        c = B @ rng.normal(size=B.shape[1])
        inverse = np.linalg.pinv(K, rcond=1e-10, hermitian=True)
        if np.linalg.norm(inverse) * np.linalg.norm(K) > 1e5:
            continue
        x = np.empty(len(c))
        assert least_norm(K, c, x) < 1e-12
        np.testing.assert_allclose(x, inverse @ c, atol=1e-9 * np.abs(x).max())
        c = rng.normal(size=len(c))
        residual = least_norm(K, c, x)
        np.testing.assert_allclose(x, inverse @ c, atol=1e-9 * max(np.abs(x).max(), np.linalg.norm(inverse)))
        root = np.sqrt(np.diag(K))
        np.testing.assert_allclose(residual, np.abs((K @ (inverse @ c) - c) / root).max() / np.abs(c / root).max(), atol=1e-8)


def test_forces_of_held_contacts_push_where_they_can_and_are_the_shortest() -> None:
    """Against the conditions of the optimum: B' lam = B' f for some f >= 0, lam = max(0, B w)."""
    rng = np.random.default_rng(4)
    changed = 0
    for _ in range(300):
        n, rank = int(rng.integers(4, 30)), int(rng.integers(1, 5))
        B = rng.normal(size=(n, rank)) * 10.0 ** rng.uniform(-2, 2)
        B[:, 0] = np.abs(B[:, 0])  # some forces >= 0 cannot cancel
        f = np.maximum(0.0, rng.normal(size=n))
        K, c, lam = B @ B.T, B @ (B.T @ f), np.empty(n)
        assert compiled(layout.LEAST_NORM_PUSH, K, c, c, lam) < 1e-10
        changed += bool((np.linalg.pinv(K, rcond=1e-10) @ c < -1e-9 * f.max()).any())
        assert (lam >= 0.0).all()
        np.testing.assert_allclose(B.T @ lam, B.T @ f, atol=1e-9 * np.abs(B.T @ f).max())
        carrying = lam > 0.0
        w = np.linalg.lstsq(B[carrying], lam[carrying], rcond=1e-10)[0]
        np.testing.assert_allclose(B[carrying] @ w, lam[carrying], atol=1e-7 * lam.max())
        if np.linalg.matrix_rank(B[carrying], tol=1e-6 * np.abs(B).max()) == rank:  # then w is unique
            assert (B[~carrying] @ w).max(initial=0.0) <= 1e-7 * lam.max()
    assert changed > 50  # of those, the shortest of either sign pulls somewhere


def test_forces_that_must_pull_are_those_of_the_pseudo_inverse() -> None:
    K = np.array([[2.0, 0.5], [0.5, 1.0]])
    for c in (np.array([1.0, -1.0]), np.array([-1.0, -1.0])):
        lam = np.empty(2)
        compiled(layout.LEAST_NORM_PUSH, K, c, c, lam)
        np.testing.assert_allclose(lam, np.linalg.solve(K, c), rtol=1e-12)


def test_a_contact_that_separates_is_left_alone_by_newton_and_pulled_by_the_equality() -> None:
    K, u = np.array([[2.0, 0.5], [0.5, 2.0]]), np.array([-1.0, 0.7])
    assert act(NEWTON, K, u, 0.5)[0][1] == 0.0
    assert act(POISSON, K, u, 0.5)[0][1] == 0.0
    assert act(NEWTON_EQUALITY, K, u, 0.5)[0][1] < -0.1


@given(st.floats(1e-6, 1e6), st.floats(-10, 10), st.floats(0, 1))
def test_poisson_is_newton_at_one_contact(K: float, u: float, e: float) -> None:
    newton, _ = act(NEWTON, np.array([[K]]), np.array([u]), e)
    poisson, _ = act(POISSON, np.array([[K]]), np.array([u]), e)
    np.testing.assert_allclose(poisson, newton, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(newton, max(0.0, -(1 + e) * u / K), rtol=1e-14, atol=1e-300)


def test_poisson_obeys_its_two_phases_and_never_gains_with_one_coefficient() -> None:
    rng = np.random.default_rng(8)
    differs = 0
    for kind in ("random", "duplicated", "plate", "plate anywhere") * 100:
        B = rows(kind, rng)
        K, u, e = B @ B.T, B @ rng.normal(size=B.shape[1]), rng.uniform(0, 1)
        if u.min() >= 0:
            continue
        compression, _ = lcp(K, u)
        lam, certificate = act(POISSON, K, u, e)
        assert certificate < SOLVED
        extra = lam - (1 + e) * compression
        size = 1e-9 * np.abs(lam).max()
        assert extra.min() > -size
        after = u + K @ lam
        assert after.min() > -1e-9 * np.abs(u).max()
        assert np.minimum(extra, after).max() < 1e-7
        assert gain(K, u, lam) <= 1e-9 * np.abs(lam @ u)
        differs += np.abs(K @ (lam - act(NEWTON, K, u, e)[0])).max() > 1e-3
    assert differs > 20


def test_different_coefficients_can_gain_energy() -> None:
    """A contact that is opening, pressed shut by its neighbour: ΔT = ½ Σ λᵢ (1 - eᵢ) uᵢ counts it as a gain."""
    K, u = np.array([[1.0, -0.5], [-0.5, 1.0]]), np.array([-1.0, 0.5])
    lam, certificate = act(NEWTON, K, u, np.array([1.0, 0.0]))
    assert certificate < SOLVED
    np.testing.assert_allclose(gain(K, u, lam), 1 / 6, rtol=1e-13)


def test_opposing_walls_of_different_coefficients_take_the_smaller() -> None:
    B = np.array([[1.0], [-1.0]])
    K, u = B @ B.T, B @ np.array([-1.0])
    _, infeasible = lcp(K, np.array([1.8, 1.3]) * u)
    assert infeasible > 0.1
    lam, certificate = act(NEWTON, K, u, np.array([0.8, 0.3]))
    assert certificate < SOLVED
    np.testing.assert_allclose(-1.0 + B.T @ lam, 0.3, rtol=1e-13)
    lam, certificate = act(NEWTON, K, u, np.array([0.3, 0.8]))  # this way round there is room
    assert certificate < SOLVED
    np.testing.assert_allclose(-1.0 + B.T @ lam, 0.3, rtol=1e-13)
    assert act(NEWTON_EQUALITY, K, u, np.array([0.8, 0.3]))[1] > 0.1


def test_dependent_rows_of_different_coefficients_are_solved_where_there_is_a_solution() -> None:
    rng = np.random.default_rng(11)
    outside = 0
    for _ in range(400):
        B = np.abs(rng.normal(size=(int(rng.integers(3, 10)), 3)))  # a push along (1, 1, 1) opens them all
        K, u, e = B @ B.T, B @ rng.normal(size=3), rng.uniform(0, 1, size=len(B))
        lam, certificate = act(NEWTON, K, u, e)
        assert certificate < SOLVED
        assert wrong(K, (1 + e) * u, lam) < 1e-9
        outside += np.linalg.matrix_rank(np.c_[K, (1 + e) * u], tol=1e-9) > np.linalg.matrix_rank(K, tol=1e-9)
    assert outside > 100


def test_any_required_velocity_is_solved_where_one_push_opens_all_contacts() -> None:
    """w outside the range of K, where the active set alone fails once in ten."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        B, push = rng.normal(size=(int(rng.integers(3, 9)), int(rng.integers(2, 4)))), rng.normal(size=8)
        B *= np.sign(B @ push[: B.shape[1]])[:, None]
        K, w = B @ B.T, rng.normal(size=len(B)) - 0.5
        lam, certificate = lcp(K, w)
        assert certificate < SOLVED
        assert wrong(K, w, lam) < SOLVED


def test_units_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        B, e = rng.normal(size=(4, 6)), rng.uniform(0, 1)
        units = 2.0 ** rng.integers(-20, 20, size=4)
        z = rng.normal(size=6)
        for law in (NEWTON, NEWTON_EQUALITY, POISSON):
            lam, _ = act(law, B @ B.T, B @ z, e)
            other, _ = act(law, (B * units[:, None]) @ (B * units[:, None]).T, units * (B @ z), e)
            np.testing.assert_allclose(other * units, lam, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("law", [NEWTON, NEWTON_EQUALITY, POISSON])
def test_nothing_and_nonsense(law: int) -> None:
    assert act(law, np.empty((0, 0)), np.empty(0), 0.5)[1] == 0.0
    for where in range(3):
        arguments = [np.eye(3), -np.ones(3), np.full(3, 0.5)]
        for value in (np.nan, np.inf):
            arguments[where] = arguments[where].copy()
            arguments[where].flat[0] = value
            lam, certificate = act(law, arguments[0], arguments[1], arguments[2])
            assert np.isnan(certificate)
            assert np.isnan(lam).all()
    K = np.diag([1.0, 0.0])
    lam, certificate = act(law, K, np.array([-1.0, 0.0]), 0.5)
    np.testing.assert_allclose(lam, (1.5, 0.0))
    assert certificate < SOLVED
    lam, certificate = act(law, K, np.array([-1.0, -1.0]), 0.5)  # approaching, and nothing moves it
    np.testing.assert_allclose(lam, (1.5, 0.0))
    assert certificate > 0.1
    lam, certificate = act(law, np.zeros((2, 2)), -np.ones(2), 0.5)
    assert not lam.any() and certificate > 0.1


def test_a_code_that_is_no_law_gives_nan() -> None:
    assert np.isnan(act(99, np.eye(1), -np.ones(1), 0.5)[1])
