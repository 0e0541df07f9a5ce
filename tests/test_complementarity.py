"""The solver of impulses where it is hard: no solution at all, rows that all but depend on each other, many solutions.

Linear programming says whether there is a solution, quadratic programming which is the shortest. The functions run as plain Python.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from structs import empty

from urdf_gibbs.contact import least_norm
from urdf_gibbs.contact.complementarity import SOLVED
from urdf_gibbs.simulation import layout, rows

optimize = pytest.importorskip("scipy.optimize")
sparse = pytest.importorskip("scipy.sparse")

Array = NDArray[np.float64]


def solve(K: Array, w: Array) -> tuple[Array, float]:
    """As the driver does it, compiled: the impulses and their certificate."""
    lam = np.full(len(w), 7.0)
    system = empty(layout.System, K=np.array(K, float).ravel(), u=np.array(w, float), e=np.zeros(len(w)), lam=lam)
    return lam, float(rows.solve(system, layout.LCP, len(w)))


def margins(problems: list[tuple[Array, Array]]) -> list[float]:
    """Of each (B, w) the largest s <= 1 for which some velocity v has B v + w >= s |w|_max: negative where none has B v + w >= 0.

    One linear program for all, whose parts have nothing in common: the largest sum is that of the largest of each.
    """
    parts = [np.hstack([-B, np.full((len(w), 1), np.abs(w).max())]) for B, w in problems]
    last = np.cumsum([part.shape[1] for part in parts]) - 1  # the place of each s
    bounds = np.full((last[-1] + 1, 2), (-np.inf, np.inf))
    bounds[last, 1] = 1.0
    cost = np.zeros(len(bounds))
    cost[last] = -1.0
    found = optimize.linprog(cost, A_ub=sparse.block_diag(parts, "csc"), b_ub=np.concatenate([w for _, w in problems]), bounds=bounds)
    assert found.status == 0
    return [float(s) for s in found.x[last]]


def test_a_problem_without_a_solution_is_reported() -> None:
    """Dependent rows that ask for what contradicts: the certificate is large, and what is given pushes all the same.

    Two of the thousand lead to impulses of 1e15 times the approach, whose rounding leaves nothing of w: these as well.
    """
    rng = np.random.default_rng(4)
    told, problems = 0, []
    for _ in range(2500):
        k, n = int(rng.integers(2, 10)), int(rng.integers(1, 4))
        B = rng.normal(size=(max(1, k // 2), n))[rng.integers(0, max(1, k // 2), size=k)] * rng.choice([-1.0, 1.0], size=(k, 1))
        problems.append((B, rng.normal(size=k)))
    for (B, w), reserve in zip(problems, margins(problems), strict=True):
        if w.min() >= 0.0 or abs(reserve) <= 1e-6:  # too near to tell
            continue
        lam, certificate = solve(B @ B.T, w)
        if reserve > 0.0:
            assert certificate < SOLVED
        else:
            told += 1
            assert np.isfinite(lam).all() and lam.min() >= 0.0
            assert certificate > 1e-6
    assert told > 900


def test_rows_in_very_different_units_are_solved_to_the_last_digits() -> None:
    """Rows over eight decades: without the corrections at the end one in twenty is off by more than 1e-13."""
    rng = np.random.default_rng(1)
    certificates = []
    for _ in range(1000):
        k, n = int(rng.integers(2, 12)), int(rng.integers(1, 9))
        B = rng.normal(size=(k, n)) * 10.0 ** rng.uniform(-4, 4, size=(k, 1))
        certificates.append(solve(B @ B.T, B @ rng.normal(size=n))[1])
    assert max(certificates) < 1e-11
    assert sum(certificate > 1e-13 for certificate in certificates) <= 15


@pytest.mark.parametrize("noise", [1e-3, 1e-5, 1e-6])
def test_rows_that_all_but_depend_on_each_other_are_solved(noise: float) -> None:
    """Pairs of rows that differ by ``noise``: the pivot of the second is its square, and what it asks for is no rounding error."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        k, n = int(rng.integers(2, 7)), int(rng.integers(3, 8))
        B = rng.normal(size=(k, n)).repeat(2, axis=0)
        B += noise * rng.normal(size=B.shape)
        K, w = B @ B.T, B @ rng.normal(size=n)
        lam, certificate = solve(K, w)
        if w.min() >= 0.0:
            continue
        root = np.sqrt(np.diag(K))
        y, s = lam * root, (K @ lam + w) / root
        scale = np.abs(w / root).max()
        assert certificate < SOLVED
        assert y.min() >= 0.0 and s.min() > -1e-9 * scale  # the slack of impulses 1 / noise times as large rounds to that
        assert np.minimum(y, s).max() < 1e-9 * scale


def shortest_push(Q: Array, g: Array) -> Array:
    """The shortest x >= 0 with Qᵀ x = g."""
    start, _ = optimize.nnls(Q.T, g)
    found = optimize.minimize(
        lambda x: x @ x,
        start,
        jac=lambda x: 2.0 * x,
        bounds=[(0.0, None)] * len(Q),
        constraints={"type": "eq", "fun": lambda x: Q.T @ x - g, "jac": lambda x: Q.T},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return np.asarray(found.x)


def test_the_shortest_of_many_pushes_is_found_from_far_away() -> None:
    """From a start with many negative entries a whole step of Newton's method would go too far, back and forth for ever."""
    rng = np.random.default_rng(9)
    for _ in range(12):
        n, rank = int(rng.integers(6, 40)), int(rng.integers(2, 6))
        Q, _ = np.linalg.qr(rng.normal(size=(n, rank)))
        few = np.where(rng.random(n) < 0.25, rng.exponential(size=n), 0.0)
        g = Q.T @ few
        if not g.any():
            continue
        lam = np.empty(n)
        assert least_norm.non_negative(np.ascontiguousarray(Q), rank, g, lam)
        assert lam.min() >= 0.0
        np.testing.assert_allclose(Q.T @ lam, g, atol=1e-12 * np.abs(g).max())
        other = shortest_push(Q, g)
        assert lam @ lam <= (other @ other) * (1.0 + 1e-6)  # of SLSQP
        np.testing.assert_allclose(lam, other, atol=1e-4 * np.abs(other).max())


def test_rows_of_very_different_sizes_need_steps_that_are_held_back() -> None:
    """One in eight of these is not found by whole steps of Newton's method, one in three hundred not at all."""
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(150):
        n, rank = int(rng.integers(8, 30)), int(rng.integers(3, 7))
        Q, _ = np.linalg.qr(rng.normal(size=(n, rank)) * 10.0 ** rng.uniform(-3, 3, size=(n, 1)))
        few = np.where(rng.random(n) < 0.25, rng.exponential(size=n) * 10.0 ** rng.uniform(-3, 3, size=n), 0.0)
        few[0] += 1.0
        lam = np.empty(n)
        if least_norm.non_negative(np.ascontiguousarray(Q), rank, Q.T @ few, lam):
            found += 1
            assert lam.min() >= 0.0
            np.testing.assert_allclose(Q.T @ lam, Q.T @ few, atol=1e-12 * np.abs(Q.T @ few).max())
            assert lam @ lam <= few @ few * (1.0 + 1e-9)
    assert found >= 147


def test_no_push_is_found_where_there_is_none() -> None:
    Q = np.ones((4, 1)) / 2.0
    assert not least_norm.non_negative(Q, 1, np.array([-1.0]), np.empty(4))
