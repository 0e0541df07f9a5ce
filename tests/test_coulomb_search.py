"""The search through all modes of contacts: what it finds, and its proofs that there is nothing to be found, checked by other means."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from planar_modes import by_modes

from urdf_gibbs.contact.coulomb import branching, contact_certificate, contact_impulses, made_problem, relaxed
from urdf_gibbs.contact.coulomb.problem import decided

Array = NDArray[np.float64]

SOLVED = 1e-10
PROGRAMS = 20_000


def test_what_has_a_solution_is_found_and_never_refuted() -> None:
    """600 problems with b = J v, of which the existence theorem says that they have a solution, by the search alone.

    It ends where its linear program leaves nothing to divide, now and then before Newton's method has the last digits.
    """
    rng, found = np.random.default_rng(20), 0
    for _ in range(600):
        k, m = int(rng.integers(1, 5)), int(rng.integers(2, 9))
        J = rng.normal(size=(3 * k, m))
        K, b, mu = J @ J.T, J @ rng.normal(size=m), rng.uniform(0.0, 1.5, k)
        record = made_problem(K, b, mu)
        certificate = decided(record, PROGRAMS)
        assert certificate < 1e-7
        assert contact_certificate(K, b, mu, record.p) == certificate
        found += certificate <= SOLVED
    assert found > 590


def test_problems_in_a_plane_are_decided_as_all_modes_one_by_one_decide_them() -> None:
    """Velocities that no motion explains: of three contacts of two coordinates many have no solution."""
    rng = np.random.default_rng(21)
    counts = {"solved": 0, "none": 0}
    for _ in range(120):
        J = np.zeros((9, 2))
        J[::3], J[1::3] = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
        b, mu = np.zeros(9), rng.uniform(0.1, 1.5, 3)
        b[::3], b[1::3] = rng.normal(size=3) - 0.5, rng.normal(size=3)
        K = J @ J.T
        verdict = contact_impulses(K, b, mu).verdict
        counts[verdict] += 1
        assert (verdict == "solved") == by_modes(K, b, mu)
        alone = decided(made_problem(K, b, mu), PROGRAMS)  # without the methods before
        assert alone <= SOLVED if verdict == "solved" else alone == np.inf
    assert min(counts.values()) > 20


def leaf_is_empty(K: Array, b: Array, mu: Array, leaf: Array) -> bool:
    """By HiGHS: polygons of 64 sides around cones, impulses as they are and no multiples of rays."""
    optimize = pytest.importorskip("scipy.optimize")
    n = len(b)
    less, bound, equal, right = [], [], [], []
    for i, (mode, low, high) in enumerate(leaf):
        unit = np.eye(n)[3 * i : 3 * i + 3]
        rows, own = K[3 * i : 3 * i + 3], b[3 * i : 3 * i + 3]
        less.append(-rows[0])
        bound.append(own[0])
        for angle in np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False):
            less.append(np.cos(angle) * unit[1] + np.sin(angle) * unit[2] - mu[i] * unit[0])
            bound.append(0.0)
        if mode == relaxed.OPEN:
            equal.append(unit[0])
            right.append(0.0)
        elif mode != relaxed.ANY:
            equal.append(rows[0])
            right.append(-own[0])
        if mode == relaxed.STICK:
            equal += [rows[1], rows[2]]
            right += [-own[1], -own[2]]
        if mode == relaxed.SLIP:
            middle, half = 0.5 * (low + high), 0.5 * (high - low)
            less.append(mu[i] * np.cos(half) * unit[0] - np.cos(middle) * unit[1] - np.sin(middle) * unit[2])
            bound.append(0.0)
            for sign, angle in ((1.0, low), (-1.0, high)):  # -uₜ left of one side and right of the other
                across = sign * np.array([0.0, -np.sin(angle), np.cos(angle)])
                less.append(across @ rows)
                bound.append(-across @ own)
    found = optimize.linprog(np.zeros(n), np.array(less), bound, np.array(equal) if equal else None, right or None, (None, None))
    return bool(found.status == 2)


def holds(leaf: Array, modes: Array, angles: Array) -> bool:
    """Whether a leaf holds a choice of modes (OPEN, STICK, SLIP) and angles of all contacts."""
    for (mode, low, high), chosen, angle in zip(leaf, modes, angles, strict=True):
        inside = {
            relaxed.ANY: True,
            relaxed.OPEN: chosen == relaxed.OPEN,
            relaxed.CLOSED: chosen != relaxed.OPEN,
            relaxed.STICK: chosen == relaxed.STICK,
            relaxed.SLIP: chosen == relaxed.SLIP and low <= angle <= high,
        }[int(mode)]
        if not inside:
            return False
    return True


def test_the_leaves_of_a_proof_are_empty_and_leave_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search as plain Python, its leaves kept: each is empty by another solver of linear programs, and each choice is in one."""
    leaves: list[Array] = []

    def kept(*arguments: Array) -> float:
        found = relaxed.relaxed(*arguments)  # type: ignore[arg-type]
        if found > relaxed.FEASIBLE:
            leaves.append(arguments[5].copy())
        return found

    monkeypatch.setattr(branching, "relaxed", kept)
    monkeypatch.setattr(relaxed, "PLANES", 0)  # HiGHS does not know them
    rng = np.random.default_rng(22)
    proofs = 0
    while proofs < 4:
        J, mu = rng.normal(size=(9, 3)), rng.uniform(0.3, 1.2, 3)
        K, b = J @ J.T, rng.normal(size=9)
        b[::3] = -abs(b[::3])
        if contact_impulses(K, b, mu, search=0).verdict != "open":
            continue
        leaves.clear()
        law = np.c_[mu, np.zeros((3, 2))]
        y = np.zeros(9)
        found = branching.searched(K, b, np.zeros(3, np.int64), np.arange(0, 10, 3), law, 300, y)
        if found == branching.FOUND:
            assert contact_certificate(K, b, mu, y) < SOLVED
        if found != branching.NONE:
            continue
        proofs += 1
        assert len(leaves) > 1
        for leaf in leaves:
            assert leaf_is_empty(K, b, mu, leaf)
        for _ in range(300):
            modes = rng.choice([relaxed.OPEN, relaxed.STICK, relaxed.SLIP], 3)
            angles = rng.uniform(0.0, 2.0 * np.pi, 3)
            assert any(holds(leaf, modes, angles) for leaf in leaves)


def test_walls_that_friction_keeps_from_opening_are_told() -> None:
    """A particle in a wedge of 0.3 rad whose walls close: it must slip out, which friction of more than tan 0.3 prevents.

    Normals (cos, sin), (-cos, sin), tangents (-sin, cos), (sin, cos): out is up by w, uₙ = w sin - 1 = 0; it takes 2 pₙ (sin - μ cos) = w.
    """
    c, s = np.cos(0.3), np.sin(0.3)
    J = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0], [-c, s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    b = [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0]
    smooth = contact_impulses(J @ J.T, b, 0.2)
    assert smooth.verdict == "solved"
    np.testing.assert_allclose(smooth.impulses[::3], 1.0 / s / (2.0 * (s - 0.2 * c)), rtol=1e-10)
    rough = contact_impulses(J @ J.T, b, 0.5)
    assert rough.verdict == "none"
    assert rough.certificate == np.inf
    assert contact_impulses(J @ J.T, b, 0.5, search=0).verdict == "open"
