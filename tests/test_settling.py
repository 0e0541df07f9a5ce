"""Contacts that come to rest together: what bringing one of them to rest does to the others."""

from __future__ import annotations

import pytest
from urdf_text import inertial, joint, link, massless, robot

from urdf_gibbs import load, simulate, walls

G, MASS, INERTIA = 9.81, 1.0, 0.1
NEAR, FAR = 0.1, 10.0  # m from the centre of mass
ROD = robot(
    link("w", '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'),
    massless("slide"),
    link("rod", inertial(MASS)),  # 0.1 kg m^2
    joint("z", "prismatic", "w", "slide", axis=(0, 0, 1)),
    joint("pitch", "revolute", "slide", "rod", axis=(0, -1, 0)),
)


def test_what_is_pressed_shut_by_a_contact_that_comes_to_rest_is_brought_to_rest_with_it() -> None:
    """The near point opens so slowly that it stays, the far one faster. Stopping the first alone would give the second
    6e-6 - 4e-6 (1/m + near far / I) / (1/m + near^2 / I) = -3.4e-5 m/s, a blow; with both at rest the rod begins to turn about the first.
    """
    points = [("rod", (NEAR, 0, 0)), ("rod", (FAR, 0, 0))]
    turning = 2e-6 / (FAR - NEAR)
    run = simulate(load(ROD), [0, 0], [4e-6 - NEAR * turning, turning], 1e-3, walls=walls.Plane((0, 0, 1)), points=points, restitution=0.0)
    assert len(run.impacts) == 0
    assert run.v[-1, 1] == pytest.approx(MASS * G * NEAR / (INERTIA + MASS * NEAR**2) * 1e-3, rel=1e-6)
