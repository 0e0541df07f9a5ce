"""Contacts that slide slowly: the direction of their friction is stiff, and must not set the length of the steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.simulation.sliding import LAG

TOLERANCE = 1e-10  # m/s: that of the integrator
G, MU, HEIGHT = 9.81, 0.4, 0.05
BOX = ug.load(
    '<robot name="box"><link name="box"><inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link></robot>',
    base="floating",
)
CORNERS = [("box", (x, y, -HEIGHT)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]


def slide(velocity: tuple[float, float], pull: float, duration: float) -> ug.Trajectory:
    """A block on the floor that is pulled along x by ``pull`` times its weight."""
    options: dict[str, Any] = {"walls": ug.walls.Plane((0, 0, 1)), "points": CORNERS, "friction": MU, "restitution": 0.0}
    return ug.simulate(BOX, (0, 0, HEIGHT, 0, 0, 0, 1), (*velocity, 0, 0, 0, 0), duration, gravity=(pull * G, 0, -G), **options)


@pytest.mark.parametrize("speed", [1e-6, 1e-7])
def test_a_block_that_creeps_takes_steps_of_its_motion(speed: float) -> None:
    """Pulled as strongly as friction resists, |v| + v_x would not change, and the direction turns to that of the pull.

    Friction that opposes w = v + lag dv/dt, the velocity a moment later, takes some of it away. With the small angles φ of v and ψ of w
    to the pull, d(|v| + v_x)/dt = mu g ψ (ψ - φ), dφ/dt = -mu g ψ / |v| and ψ = φ / (1 + κ), κ = lag mu g / |v|: all together
    |v| φ² κ / (2 (1 + κ)), of which v_x has half at the end. Terms of fourth order in φ = 0.1 are left out.

    Steps are at least as long as the moment; explicit ones in which the direction is stable would be shorter than 3.3 |v| / (mu g), 1e-6 s
    at the most: thousands.
    """
    duration = 3e-3
    run = slide((speed, 0.1 * speed), MU, duration)
    assert run.statistics["steps"] < duration / LAG < 0.1 * duration / (3.3 * speed / (MU * G))
    assert {phase.mode for phase in run.phases} == {"slip"}
    size, angle, kappa = speed * math.hypot(1.0, 0.1), math.atan(0.1), LAG * MU * G / speed
    end = 0.5 * (size + speed) - 0.25 * size * angle**2 * kappa / (1.0 + kappa)
    np.testing.assert_allclose(run.v[-1, :2], [end, 0.0], rtol=0.0, atol=0.1**4 * speed + TOLERANCE)


@pytest.mark.parametrize("aside", [1e-3, 1e-5, 1e-7, 1e-9])
def test_a_block_that_is_pulled_back_passes_by_rest(aside: float) -> None:
    """It moves almost straight, to a turning point and back. Its sideways velocity acts to second order only, and has died out at the end.

    At the turning point its direction reverses within aside / (mu g). That needs short steps, but it must not be taken for a stop. Near
    the turn the time to it is the only scale, of which steps are a fraction: their number grows with the logarithm of how short the turn
    is, by two for each factor e before it and two after it, beside some twenty of the smooth motion. A fixed fraction of the turn would
    be taken millions of times.
    """
    pull, speed = 0.5, 0.5
    run = slide((-speed, aside), pull, speed / ((pull + MU) * G) + 0.3)
    assert {phase.mode for phase in run.phases} == {"slip"}
    assert run.v[-1, 0] == pytest.approx((pull - MU) * G * 0.3, abs=aside**2 + 1e-8)
    assert abs(run.v[-1, 1]) < 1e-9
    assert run.statistics["steps"] < 20 + 4 * math.log(run.t[-1] / (aside / (MU * G)))
