"""Elastic links in motion against finite elements, the literature and closed forms: hinged links, a rotating beam."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flexible_beams import HINGE, hinged_links, links_in_motion, rotating_beam, spun_up
from flexible_exudyn import two_hinged_links

import urdf_gibbs as ug

MICROMETRE = 1e-6


@pytest.mark.parametrize("free", [False, True])
def test_two_hinged_links_in_fast_motion_agree_with_finite_elements(free: bool) -> None:
    """exudyn's ANCF elements, 12 to a link, steps of 40 us: itself within some um over these 0.2 s."""
    reference = two_hinged_links(not free, elements=12, steps_per_sample=25, duration=0.2)
    errors = {m: np.abs(links_in_motion(hinged_links(m, free), reference.time) - reference.table).max() for m in (1, 2, 4)}
    assert errors[4] < 10 * MICROMETRE  # asked for: 50
    assert errors[4] < errors[2] < errors[1]


def test_foreshortening_does_not_matter_for_stiff_links() -> None:
    times = np.linspace(0.0, 0.2, 21)
    with_it, without = (links_in_motion(hinged_links(2, foreshortening=on), times) for on in (True, False))
    assert 0.0 < np.abs(with_it - without).max() < 10 * MICROMETRE


def test_a_rotating_beam_spins_up_as_in_the_literature() -> None:
    """Simo and Vu-Quoc's beam: about -0.57 m at mid spin-up; finite elements give -0.5738 m at 6.76 s and +-3.6 mm afterwards."""
    t, tip = spun_up(rotating_beam(2, True))
    assert tip.min() == pytest.approx(-0.573787, rel=5e-3)  # foreshortening to the second order
    assert t[tip.argmin()] == pytest.approx(6.762, abs=0.05)
    assert np.abs(tip[t > 15.0]).max() == pytest.approx(3.64e-3, rel=0.1)


def test_without_foreshortening_it_diverges_once_it_turns_faster_than_it_swings() -> None:
    t, tip = spun_up(rotating_beam(1, False), 12.0)
    assert np.abs(tip[t > 11.9]).max() > 100.0


@pytest.mark.parametrize("speed", [0.5, 3.0, 6.0])
def test_spin_softens_or_stiffens_the_beam_as_theory_says(speed: float) -> None:
    """In the plane of rotation: K/m = w1^2 - W^2 without foreshortening, w1^2 + 0.193 W^2 with it (Southwell's 1.193 - 1)."""
    bending = 3.5160152685**2 * 1.4e4 / (1.2 * 10.0**4)
    for foreshortening, coefficient in ((False, -1.0), (True, 0.193)):
        robot = rotating_beam(1, foreshortening)
        q, v = np.array([0.0, 1e-6]), np.array([speed, 0.0])
        M, h = ug.mass_matrix(robot, q), ug.bias(robot, q, v, gravity=(0.0, 0.0, 0.0))
        assert h[1] / M[1, 1] / q[1] == pytest.approx(bending + coefficient * speed**2, abs=1e-3 * speed**2 + 1e-6)


def lowest_frequencies(text: str, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Of small motions about the straight link at rest, without gravity [rad/s]."""
    robot = ug.load(text)
    rest, step, still = robot.neutral(), 1e-6, (0.0, 0.0, 0.0)
    K = np.array([(ug.bias(robot, rest + step * e, 0.0 * rest, gravity=still) / step) for e in np.eye(robot.nv)])
    return np.sqrt(np.abs(np.sort(np.linalg.eigvals(np.linalg.solve(ug.mass_matrix(robot, rest), K)).real)))[:count]


LINK = '<link name="world"/><link name="beam"/>{0}<urdf_gibbs><flexible link="beam" length="2" direction="1 0 0" mass_per_length="3" EI_z="500" modes="y={1}"/></urdf_gibbs>'
UNIT = np.sqrt(500.0 / (3.0 * 2.0**4))  # sqrt(EI / (mu L^4))


@pytest.mark.parametrize(
    ("joint", "family", "rigid", "exact", "reached"),
    [
        # beta^2 of the exact beam (Blevins): cantilever, pinned-free, and how near five modes come
        ('<joint name="f" type="fixed"><parent link="world"/><child link="beam"/></joint>', "polynomial", 0, 3.5160152685, 1e-7),
        ('<joint name="f" type="fixed"><parent link="world"/><child link="beam"/></joint>', "clamped-free", 0, 3.5160152685, 1e-12),
        (HINGE.format("q", "world", "beam", 0), "polynomial", 1, 15.4182057, 1e-5),
        (HINGE.format("q", "world", "beam", 0), "clamped-free", 1, 15.4182057, 1e-4),
    ],
)
def test_frequencies_come_down_to_the_exact_ones_with_the_number_of_modes(
    joint: str, family: str, rigid: int, exact: float, reached: float
) -> None:
    errors = []
    for modes in range(1, 6):
        found = lowest_frequencies(f'<robot name="one">{LINK.format(joint, f"{family}:{modes}")}</robot>', rigid + 1)[rigid]
        errors.append(found / (exact * UNIT) - 1.0)
    assert errors[-1] == pytest.approx(0.0, abs=max(reached, 1e-8))  # the root of a difference quotient is good to 1e-8
    assert all(later <= earlier + 1e-8 for earlier, later in pairwise(errors)), "from above, as Rayleigh and Ritz have it"
