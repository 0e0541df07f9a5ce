"""Impacts that need several rounds of the law: a point mass in a wedge is a billiard, whose blows can be counted and followed by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from urdf_text import POINT_IN_PLANE, inertial, joint, link, robot

from urdf_gibbs import SimulationError, Simulator, frame_placement, load, simulate, walls
from urdf_gibbs.simulation.trajectory import Impact

Array = NDArray[np.float64]

G = 9.81
ROUND_OFF = 1e-12


def normals_of(cosine: float) -> Array:
    """(2, 3): of two planes through the y axis, open upwards, with this cosine between them."""
    half = np.arccos(cosine) / 2
    return np.array([[np.sin(half), 0, np.cos(half)], [-np.sin(half), 0, np.cos(half)]])


def in_a_wedge(cosine: float, u: ArrayLike, e: float, law: str = "newton") -> Impact:
    """The impact of a unit mass that touches two planes whose normals have this cosine between them; u (2,): its normal velocities."""
    normals = normals_of(cosine)
    return thrown(normals, np.linalg.inv(normals[:, ::2]) @ np.asarray(u, float), e, law)


def thrown(normals: Array, v: ArrayLike, e: float, law: str = "newton") -> Impact:
    """The same for a velocity (x, z)."""
    impact = Simulator(load(POINT_IN_PLANE), walls=[walls.Plane(n) for n in normals], law=law, restitution=e, zeno=1e-300).impact([0, 0], v)
    assert impact is not None
    return impact


def by_supports(K: Array, w: Array) -> Array:
    """0 <= lam ⟂ K lam + w >= 0 by trying all sets of contacts that carry."""
    k = len(w)
    for count in range(k + 1):
        for own in map(list, combinations(range(k), count)):
            lam = np.zeros(k)
            if own:
                lam[own] = np.linalg.solve(K[np.ix_(own, own)], -w[own])
            if lam.min() >= 0.0 and (K @ lam + w).min() >= -1e-13:
                return lam
    raise AssertionError("no solution")


def rounds_by_hand(K: Array, u: Array, e: float) -> tuple[int, Array, Array]:
    """How many rounds of Newton's law with complementarity until nothing approaches, the impulses of all, the velocities after."""
    total, u, turns = np.zeros(len(u)), u.copy(), 0
    while u.min() <= -1e-9 or turns == 0:
        lam = by_supports(K, (1.0 + e) * u)
        total += lam
        u = u + K @ lam
        turns += 1
    return turns, total, u


@pytest.mark.parametrize(("cosine", "u"), [(-0.9, (-1.0, 0.8)), (-0.9, (-1.0, 0.3)), (-0.7, (0.6, -1.0)), (-0.99, (-1.0, 0.95))])
@pytest.mark.parametrize("e", [0.3, 0.5, 0.9, 1.0])
def test_restitution_acts_in_every_round(cosine: float, u: tuple[float, float], e: float) -> None:
    """A contact that opens is pressed shut by its neighbour and leaves at -e u, into the wall: the law acts again, with the same e."""
    K = np.array([[1.0, cosine], [cosine, 1.0]])
    turns, total, after = rounds_by_hand(K, np.array(u), e)
    impact = in_a_wedge(cosine, u, e)
    assert impact.rounds == turns > 1
    np.testing.assert_allclose(impact.impulses, total, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(impact.normal_velocities_after, after, rtol=0.0, atol=1e-11)
    assert (impact.restitution == e).all() and not impact.energy_gain


@pytest.mark.parametrize("angle", [0.3, 0.03, 0.001])
def test_an_elastic_billiard_in_a_narrow_wedge_keeps_its_energy_through_all_reflections(angle: float) -> None:
    """In the first round both contacts carry and the velocity is turned back. From then on each round is a reflection: a straight line
    through unfolded copies of the wedge, whose heading of 45 degrees passes a side for each angle."""
    impact = thrown(normals_of(-np.cos(angle)), (1.0, -1.0), 1.0)
    assert abs(impact.rounds - 1 - 0.25 * np.pi / angle) <= 1.0
    assert impact.normal_velocities_after.min() > -1e-9
    assert impact.energy_after == pytest.approx(impact.energy_before, rel=1e-11 * impact.rounds)  # K is singular but for the angle's square


def test_a_wedge_that_would_reflect_for_too_long_is_left_without_restitution() -> None:
    """15,000 reflections: after 10,000 the restitution is taken to be zero, and told so."""
    impact = thrown(normals_of(-np.cos(5e-5)), (1.0, -1.0), 1.0)
    assert impact.rounds > 10_000 and (impact.restitution == 0.0).all()
    assert impact.normal_velocities_after.min() > -1e-9 and impact.energy_after < impact.energy_before


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_the_equality_is_applied_once_whatever_it_leaves(e: float) -> None:
    """As printed: u⁺ = -e u at both contacts, though one of them then goes into its wall."""
    impact = in_a_wedge(-0.9, (-1.0, 0.8), e, "newton_equality")
    np.testing.assert_allclose(impact.normal_velocities_after, [e, -0.8 * e], atol=1e-11)
    assert impact.rounds == 1


# the last bounce ----------------------------------------------------------------------------------------


BALL = robot(link("w", ""), link("ball"), joint("z", "prismatic", "w", "ball", axis=(0, 0, 1)))


@pytest.mark.parametrize("share", [0.5, 0.999, 1.001, 2.0])
def test_a_bounce_shorter_than_zeno_is_the_last(share: float) -> None:
    """It would last 2 e v / g."""
    zeno, e = 1e-3, 0.5
    v = share * zeno * G / (2 * e)
    impact = Simulator(load(BALL), walls=walls.Plane(), points=["ball"], restitution=e, zeno=zeno).impact([0.0], [-v])
    assert impact is not None
    if share < 1.0:
        assert impact.restitution.tolist() == [0.0] and impact.v_after[0] == 0.0
    else:
        assert impact.restitution.tolist() == [e] and impact.v_after[0] == pytest.approx(e * v, rel=1e-13)


@pytest.mark.parametrize("faster", [0.99, 1.01])
def test_a_closed_contact_that_opens_for_less_than_zeno_is_at_rest(faster: float) -> None:
    """2 v / g against zeno, without an impact: the gap was closed, and opens slowly."""
    zeno = 1e-3
    v = faster * zeno * G / 2
    found = simulate(load(BALL), [0.0], [v], 0.5 * zeno, walls.Plane(), points=["ball"], restitution=0.0, zeno=zeno)
    held = [phase for phase in found.phases if phase.start == 0.0]
    assert len(held) == (faster < 1.0)
    assert found.v[-1, 0] == (0.0 if held else pytest.approx(v - G * 0.5 * zeno, rel=1e-12))


def test_an_end_that_the_force_at_another_lifts_does_not_hold() -> None:
    """A rod of mass 1 and length 2 about its middle, pulled down by g; props at x = -0.2 and at x = -1. The weight turns the rod about the
    prop at -0.2, which lifts the end at -1: that one opens, and must not hold.
    """
    rod = robot(link("rod", inertial(1.0, moments=(1e-3, 1 / 3, 1 / 3))))
    made = load(rod, base="floating")
    points = [("rod", (-0.2, 0, 0)), ("rod", (-1.0, 0, 0))]
    found = simulate(made, made.neutral(), None, 0.05, walls.Plane(), restitution=0.0, points=points)
    forces = found.contact_forces[0]
    # 1 / K = 1 / (1 + 0.2^2 / I): the acceleration of the prop's point without it is g
    assert forces[0] == pytest.approx(G / (1.0 + 3.0 * 0.04), rel=1e-12) and forces[1] == 0.0
    assert [(phase.point, phase.start) for phase in found.phases if phase.start == 0.0] == [("rod", 0.0)]
    T = frame_placement(made, found.q[-1], "rod")
    assert T[2, 3] - T[2, 0] > 0.0  # the height of the end at -1


@pytest.mark.parametrize("e", [0.2, 0.8])
def test_opposing_walls_that_come_together_have_no_solution(e: float) -> None:
    """A unit mass on a slide, the floor rising and the ceiling coming down: no velocity opens one and leaves the other alone."""
    floor = walls.Plane(name="floor", motion=walls.Drift((0, 0, 0.5)))
    ceiling = walls.Plane(normal=(0, 0, -1), name="ceiling", motion=walls.Drift((0, 0, -0.5)))
    with pytest.raises(SimulationError, match=r"no motion exists|jam|ball\|floor"):
        Simulator(load(BALL), walls=[floor, ceiling], points=["ball"], restitution=e).impact([0.0], [0.0])
