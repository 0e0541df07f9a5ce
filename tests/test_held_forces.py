"""Forces of contacts that depend on each other, of which there are many that hold a body: those that push, and of these the shortest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import urdf_gibbs as ug

G, MU, HEIGHT, HALF = 9.81, 0.4, 0.05, 0.1
SIGNS = np.array([(x, y) for x in (-1, 1) for y in (-1, 1)])
BOX = ug.load(
    '<robot name="box"><link name="box"><inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link></robot>',
    base="floating",
)


def shortest(x: float, y: float) -> NDArray[np.float64]:
    """Forces at the corners of a square that carry a weight at (x, y), in halves of its side.

    All that do are W/4 (1 ± x ± y) + t (1, -1, -1, 1); the shortest that push have the t next to 0 for which none is negative.
    """
    plain, change = 0.25 * G * (1.0 + SIGNS @ (x, y)), np.array([1.0, -1.0, -1.0, 1.0])
    return plain + np.clip(0.0, (-plain[[0, 3]]).max(), plain[[1, 2]].min()) * change


@pytest.mark.parametrize("speed", [0.0, 3.0])
@pytest.mark.parametrize(("x", "y"), [(0.1, 0.2), (0.7, 0.7), (-0.6, 0.8), (0.6, -0.7)])
def test_a_block_with_its_weight_near_a_corner(x: float, y: float, speed: float) -> None:
    """Friction below the centre of mass of a block that slides moves the weight forwards."""
    corners = [("box", (HALF * (a - x), HALF * (b - y), -HEIGHT)) for a, b in SIGNS]
    floor = ug.walls.Plane((0, 0, 1))
    run = ug.simulate(
        BOX, (0, 0, HEIGHT, 0, 0, 0, 1), (speed, 0, 0, 0, 0, 0), 0.1, walls=floor, points=corners, friction=MU, restitution=0.0
    )
    expected = shortest(x + (MU * HEIGHT / HALF if speed else 0.0), y)
    np.testing.assert_allclose(run.contact_forces, np.tile(expected, (len(run.t), 1)), atol=1e-9)
    assert {phase.mode for phase in run.phases} == {"slip" if speed else "stick"} and len(run.phases) == 4
    np.testing.assert_allclose(run.v[-1], [speed - (0.1 * MU * G if speed else 0.0), 0, 0, 0, 0, 0], atol=1e-9)
