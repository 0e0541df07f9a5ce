"""Contacts that an impact takes along because they would close within the tie stay where they are."""

from __future__ import annotations

import numpy as np
import pytest
from urdf_text import joint, link, robot

from urdf_gibbs import load, simulate, walls

G = 9.81
TWO = robot(link("w", ""), *(link(f"b{k}") + joint(f"j{k}", "prismatic", "w", f"b{k}", axis=(0, 0, 1)) for k in range(2)))


@pytest.mark.parametrize("behind", [2e-5, 5e-4])
def test_a_ball_that_is_stopped_before_it_touches_falls_the_rest_of_the_way(behind: float) -> None:
    """Two balls come down at 1 m/s, the second ``behind`` the first, less than the tie. Both are stopped at once; the second then falls."""
    speed, tie = 1.0, 1e-3
    found = simulate(
        load(TWO),
        [0.1, 0.1 + behind],
        [-speed, -speed],
        0.3,
        walls.Plane(),
        restitution=0.0,
        tie=tie,
        points=["b0", "b1"],
        gravity=(0, 0, -G),
    )
    first = found.impacts[0]
    assert first.points == ("b0", "b1") and not first.v_after.any()
    at = (np.sqrt(speed**2 + 2 * G * 0.1) - speed) / G
    assert abs(first.time - at) < 1e-12
    fall = np.sqrt(2.0 * behind / G)
    for share in (0.0, 0.3, 0.9):
        t = share * fall
        assert found.at(at + t)[0][1] == pytest.approx(behind - 0.5 * G * t**2, abs=1e-12)
    forces = found.contact_forces[(found.t > first.time) & (found.t < at + 0.9 * fall)]
    assert not forces[:, 1].any() and (forces[:, 0] == pytest.approx(G, rel=1e-12))
    assert found.impacts[1].points == ("b0", "b1") and abs(found.impacts[1].time - at - fall) < 1e-9
    assert abs(found.q[-1]).max() < 1e-13
