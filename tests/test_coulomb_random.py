"""Contact problems drawn at random, from small integers so that failures shrink, judged by Coulomb's law in NumPy alone."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from planar_modes import by_modes

from urdf_gibbs.contact.coulomb import contact_certificate, contact_impulses

Array = NDArray[np.float64]

SOLVED = 1e-10
FRICTIONS = (0.0, 0.25, 0.5, 1.0, 2.0)


class Drawn(NamedTuple):
    """u = J Jᵀ p + b: k contacts of a body with unit inertia, b the velocities of a motion v, and normal ones more by ``opening``."""

    J: Array  # (3 k, m)
    b: Array  # (3 k,)
    mu: Array  # (k,)

    @property
    def K(self) -> Array:
        return self.J @ self.J.T


@st.composite
def drawn_problems(draw: st.DrawFn, largest: int = 4, opening: bool = False) -> Drawn:
    """Small integers in J and v; often fewer columns than rows, so that contacts depend on each other, and rows or contacts twice."""
    k, m = draw(st.integers(1, largest)), draw(st.integers(2, 8))
    entry = st.integers(-2, 2).map(float)
    J = np.array(draw(st.lists(st.lists(entry, min_size=m, max_size=m), min_size=3 * k, max_size=3 * k)))
    if k > 1 and draw(st.booleans()):
        J[3:6] = J[:3]  # the same contact twice
    v = np.array(draw(st.lists(entry, min_size=m, max_size=m)))
    mu = np.array(draw(st.lists(st.sampled_from(FRICTIONS), min_size=k, max_size=k)))
    b = J @ v
    if opening:
        b[::3] += draw(st.sampled_from((0.5, 1.0)))
    return Drawn(J, b, mu)


def cone_errors(K: Array, b: Array, mu: Array, p: Array) -> dict[str, float]:
    """What each line of Coulomb's law lacks, with De Saxcé's velocity w = u + μ |uₜ| n: p in its cone, w in the dual one, p·w = 0.

    Impulses relative to the largest, velocities to the largest of b; every number is >= 0.
    """
    u = (K @ p + b).reshape(-1, 3)
    q = p.reshape(-1, 3)
    large, fast = max(np.abs(p).max(), 1e-300), max(np.abs(b).max(), 1e-300)
    speed, push = np.hypot(u[:, 1], u[:, 2]), np.hypot(q[:, 1], q[:, 2])
    w = u.copy()
    w[:, 0] += mu * speed
    return {
        "cone": float(np.maximum(push - mu * q[:, 0], 0.0).max() / large / (1.0 + mu.max())),
        "pushes": float(np.maximum(-q[:, 0], 0.0).max() / large),
        "approaches": float(np.maximum(-u[:, 0], 0.0).max() / fast),
        "dual cone": float(np.maximum(mu * speed - w[:, 0], 0.0).max() / fast),
        "complementary": float(np.abs(np.sum(q * w, axis=1)).max() / large / fast / (1.0 + mu.max())),
    }


def worst_of(problem: Drawn, p: Array) -> float:
    return max(cone_errors(problem.K, problem.b, problem.mu, p).values())


@given(drawn_problems())
@settings(max_examples=300, deadline=None)
def test_a_motion_that_strikes_has_a_solution_and_it_is_found(problem: Drawn) -> None:
    """b = J v, the velocities of a motion: an opposite motion stops all contacts, u = 0, so there is a solution."""
    p, certificate = contact_impulses(problem.K, problem.b, problem.mu)
    assert certificate < SOLVED
    assert worst_of(problem, p) < 1e-8  # the certificate scales each row by its own mass; entries of J differ by up to 8 in length
    assert contact_certificate(problem.K, problem.b, problem.mu, p) == certificate


@given(drawn_problems(opening=True))
@settings(max_examples=200, deadline=None)
def test_inside_of_the_dual_cones_there_is_always_a_solution(problem: Drawn) -> None:
    """The premise of the existence theorem holds: u = J v' + b with v' = -v has uₙ > 0 and uₜ = 0."""
    p, certificate = contact_impulses(problem.K, problem.b, problem.mu)
    assert certificate < SOLVED
    assert worst_of(problem, p) < 1e-8


@given(drawn_problems(), st.floats(1e2, 1e4))
@settings(max_examples=150, deadline=None)
def test_very_large_friction(problem: Drawn, mu: float) -> None:
    """Coefficients up to 1e4: as accurate as μ pₙ can be, where pₙ is rounded like the largest impulse."""
    rough = problem._replace(mu=np.full(len(problem.mu), mu))
    p, certificate = contact_impulses(rough.K, rough.b, mu)
    assert certificate < max(SOLVED, 100.0 * mu * np.finfo(float).eps)
    assert worst_of(rough, p) < 1e-8


@given(drawn_problems())
@settings(max_examples=150, deadline=None)
def test_without_friction_only_normals_count(problem: Drawn) -> None:
    """μ = 0: no tangential impulse, and 0 <= pₙ ⟂ uₙ >= 0, whose uₙ is unique: that of the least energy, by SciPy."""
    optimize = pytest.importorskip("scipy.optimize")
    p, certificate = contact_impulses(problem.K, problem.b, 0.0)
    assert certificate < SOLVED
    np.testing.assert_array_equal(p.reshape(-1, 3)[:, 1:], 0.0)
    J, b = problem.J[::3], problem.b[::3]
    # min ½ |Jᵀ λ + v|² over λ >= 0 where b = J v; nnls minimises the same norm
    v = np.linalg.lstsq(J, b, rcond=None)[0]
    known, _ = optimize.nnls(J.T, -v, maxiter=1000)
    np.testing.assert_allclose(J @ (J.T @ p[::3]), J @ (J.T @ known), atol=1e-7 * max(1.0, np.abs(b).max()))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_problems_in_a_plane_have_a_solution_exactly_where_modes_tried_one_by_one_find_one(data: st.DataObject) -> None:
    """Any b, also of walls that close: solved where there is a solution; inf only where there is none.

    Without contacts whose normals nothing can move: such a contact carries any load, so that its friction has no bound.
    """
    k, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    entry = st.integers(-2, 2).map(float)
    J = np.zeros((3 * k, m))
    for i in range(k):
        for r in range(2):
            J[3 * i + r] = data.draw(st.lists(entry, min_size=m, max_size=m).filter(lambda row, normal=r == 0: any(row) or not normal))
    b = np.zeros(3 * k)
    b[::3] = data.draw(st.lists(entry, min_size=k, max_size=k))
    b[1::3] = data.draw(st.lists(entry, min_size=k, max_size=k))
    mu = np.array(data.draw(st.lists(st.sampled_from((0.25, 0.5, 1.0)), min_size=k, max_size=k)))
    certificate = contact_impulses(J @ J.T, b, mu).certificate
    exists = by_modes(J @ J.T, b, mu)
    if certificate < SOLVED:
        assert exists
    elif certificate == np.inf:
        assert not exists
    else:
        assert not exists  # no proof was found, but no solution was missed


def between_walls(angle: float) -> Array:
    """K of a particle in a wedge of half ``angle`` between two walls: normals and tangents of both contacts."""
    c, s = np.cos(angle), np.sin(angle)
    J = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0], [-c, s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(J @ J.T)


def test_walls_that_close_on_a_particle_faster_than_it_can_slip_out() -> None:
    """Opposite walls (angle 0) that close: no motion opens both. A wedge of 0.3 rad without friction lets the particle out."""
    K = between_walls(0.0)
    for mu in (0.0, 0.5, 5.0):
        assert contact_impulses(K, [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], mu).certificate == np.inf
    K = between_walls(0.3)
    p, certificate = contact_impulses(K, [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], 0.0)
    assert certificate < 1e-12
    np.testing.assert_allclose(p[::3], 1.0 / (2.0 * np.sin(0.3) ** 2), rtol=1e-12)


def onto_cones(x: Array, mu: float) -> Array:
    """Each contact's impulse onto |pₜ| <= μ pₙ."""
    y = x.reshape(-1, 3).copy()
    for row in y:
        size = np.hypot(row[1], row[2])
        if size > mu * row[0]:
            normal = max(0.0, (row[0] + mu * size) / (1.0 + mu * mu))
            row[:] = np.r_[normal, row[1:] * (mu * normal / size)]
    return y.ravel()


def shortest_by_projections(K: Array, p: Array, mu: float) -> Array:
    """Dykstra: projections onto all x with K x = K p and onto the cones in turn, from zero, lead to the shortest that is in both."""
    rows = np.linalg.svd(K)[2][: np.linalg.matrix_rank(K, tol=1e-9)]
    x, rest = np.zeros_like(p), np.zeros_like(p)
    for _ in range(4000):
        y = x + rows.T @ (rows @ (p - x))  # of an affine set no correction is needed
        x = onto_cones(y + rest, mu)
        rest = y + rest - x
    return x


def test_the_shortest_impulses_on_the_sides_of_cones_agree_with_projections() -> None:
    """A block at rest on a slope that its cones only just hold: the pseudo-inverse leaves them."""
    checked, mu = 0, 0.45
    for slope, height in itertools.product((0.30, 0.36, 0.40), (0.1, 0.25)):
        K, b = leaning_block(slope, height)
        p, certificate = contact_impulses(K, b, mu, shortest=True)
        assert certificate < SOLVED
        assert np.abs(K @ p + b).max() < 1e-9  # rests
        pseudo = -np.linalg.pinv(K, rcond=1e-10) @ b
        if (np.hypot(pseudo[1::3], pseudo[2::3]) <= mu * pseudo[::3]).all():
            continue
        checked += 1
        known = shortest_by_projections(K, p, mu)
        assert np.abs(K @ (known - p)).max() < 1e-8
        np.testing.assert_allclose(p, known, atol=1e-7 * np.abs(p).max())
        assert (np.hypot(p[1::3], p[2::3]) > 0.999999 * mu * p[::3]).any()
    assert checked >= 3


def leaning_block(slope: float, height: float) -> tuple[Array, Array]:
    """K and accelerations of the corners of a block at rest on a slope, half sizes .2, .2 and ``height``; lengthwise not symmetric."""
    m, a = 2.0, 0.2
    M = np.diag([m, m, m, m / 3 * (a * a + height**2), m / 3 * (a * a + height**2), 2 * m / 3 * a * a])
    rows = []
    for x, y in ((a, a), (a, -a), (-a, a), (-a, -0.5 * a)):
        point = np.c_[np.eye(3), [[0.0, -height, -y], [height, 0.0, x], [y, -x, 0.0]]]
        rows += [point[2], point[0], point[1]]
    J = np.array(rows)
    g = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope), 0.0, 0.0, 0.0])
    return J @ np.linalg.solve(M, J.T), J @ g


def test_of_contacts_that_are_the_same_each_bears_its_share() -> None:
    """One particle, counted three times: shortest impulses are equal, slipping and sticking, and add up to those of one."""
    for b in ([-1.0, 0.3, 0.2], [-1.0, 3.0, -4.0]):
        one = contact_impulses(np.eye(3) / 2.0, b, 0.5).impulses
        p, certificate = contact_impulses(np.tile(np.eye(3) / 2.0, (3, 3)), np.tile(b, 3), 0.5, shortest=True)
        assert certificate < SOLVED
        np.testing.assert_allclose(p, np.tile(one / 3.0, 3), rtol=1e-10)
