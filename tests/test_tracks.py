"""Tracks and slip of wheels: closed forms of a wheel that slides and begins to roll."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.view.tracks import slips, tracks

R, MU, G = 0.25, 0.3, 9.81
FLOOR = ug.walls.Plane((0.0, 0.0, 1.0), name="floor")
WHEEL = f"""<robot name="wheel"><link name="tyre"><inertial><mass value="2"/>
<inertia ixx="0.05" ixy="0" ixz="0" iyy="{2 * R * R / 2}" iyz="0" izz="0.05"/></inertial>
<collision><origin rpy="-1.5707963267948966 0 0"/><geometry><cylinder radius="{R}" length="0.2"/></geometry></collision></link></robot>"""


def thrown(v: float, spin: float) -> ug.Trajectory:
    """A cylinder on the floor along x, upright by its two rims."""
    wheel = ug.load(WHEEL, base="floating")
    q, velocity = np.array([0.0, 0.0, R, 0.0, 0.0, 0.0, 1.0]), np.array([v, 0.0, 0.0, 0.0, spin, 0.0])
    options: dict[str, Any] = {"walls": FLOOR, "points": "collision", "cylinders": "roll", "friction": MU, "restitution": 0.0}
    return ug.simulate(wheel, q, velocity, 0.6, **options)


@pytest.mark.parametrize(("v", "spin"), [(2.0, 0.0), (0.0, 8.0), (1.0, 8.0)])
def test_the_slip_is_that_of_a_wheel_that_slides_and_begins_to_roll(v: float, spin: float) -> None:
    """u = v - s μ g t and R ω = R ω0 + 2 s μ g t, s the sign of v - R ω, until they are equal."""
    run = thrown(v, spin)
    s, rolls = np.sign(v - R * spin), abs(v - R * spin) / (3.0 * MU * G)
    assert rolls < 0.5
    t = np.linspace(0.01, 0.6, 60)
    found = slips(run, FLOOR, t)["tyre"]
    until = np.minimum(t, rolls)
    moved, rolled = v - s * MU * G * until, R * spin + 2.0 * s * MU * G * until
    np.testing.assert_allclose(found, (rolled - moved) / np.maximum(np.abs(rolled), np.abs(moved)), atol=1e-7)
    assert (found[t > rolls + 0.01] == pytest.approx(0.0, abs=1e-8)) and np.abs(found[0]) > 0.4


def unpacked(value: dict[str, Any]) -> Any:
    return np.frombuffer(zlib.decompress(base64.b64decode(value["deflated"])), "<f8").reshape(value["shape"])


def test_a_track_lies_on_the_ground_as_wide_as_the_wheel() -> None:
    run = thrown(2.0, 8.0)
    t = np.linspace(0.0, 0.6, 30)
    (track,) = tracks(run, t, {"floor": FLOOR})
    edges = unpacked(track["edges"])
    assert track["name"] == "tyre" and unpacked(track["touches"])[1:].all()
    np.testing.assert_allclose(edges[:, :, 0], np.stack([2.0 * t] * 2, axis=1), atol=1e-9)  # it rolls
    np.testing.assert_allclose(edges[:, :, 1], [[-0.1, 0.1]] * 30, atol=1e-9)
    np.testing.assert_allclose(edges[:, :, 2], 0.01 * R, atol=1e-9)  # as much above the ground as is drawn
    assert tracks(run, t, {"ceiling": FLOOR}) == []
