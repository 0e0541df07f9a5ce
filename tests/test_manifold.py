"""Configurations as points of a manifold, against Pinocchio and SciPy's rotations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from urdf_text import inertial, joint, link, robot

from urdf_gibbs import load

Array = NDArray[np.float64]

ROUND_OFF = 1e-13
TEXT = robot(
    link("base", inertial(1.0)),
    link("arm", inertial(1.0)),
    link("foot", inertial(1.0)),
    joint("turn", "continuous", "base", "arm", axis=(0, 0, 1)),
    joint("slide", "prismatic", "arm", "foot", axis=(1, 0, 0)),
)


def turned(angle: float, axis: Array) -> Array:
    """Quaternion x y z w."""
    return np.r_[np.sin(0.5 * angle) * axis, np.cos(0.5 * angle)]


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 1.0, 3.0, 3.5, 6.0, 2 * np.pi - 1e-3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("first", [1.0, -1.0])
def test_the_difference_goes_the_shorter_way_round_whatever_the_sign_of_the_quaternions(angle: float, sign: float, first: float) -> None:
    """q and -q are one rotation; an angle of 3.5 is the way back by 2 pi - 3.5."""
    made = load(TEXT, base="floating")
    rng = np.random.default_rng(1)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    q0, q1 = made.random(1), made.random(2)
    start = Rotation.from_quat(q0[3:7])
    q0[3:7] *= first
    q1[3:7] = sign * (start * Rotation.from_quat(turned(angle, axis))).as_quat()
    difference = made.difference(q0, q1)
    shorter = angle if angle <= np.pi else angle - 2 * np.pi
    np.testing.assert_allclose(difference[3:6], shorter * axis, atol=ROUND_OFF)
    model = pin.buildModelFromXML(TEXT, pin.JointModelFreeFlyer())
    expected = pin.difference(model, made.q_to_pinocchio(q0), made.q_to_pinocchio(q1))
    np.testing.assert_allclose(difference[:6], expected[:6], atol=1e-12)
    back = made.integrate(q0, difference)
    np.testing.assert_allclose(back[:3], q1[:3], atol=1e-12)
    np.testing.assert_allclose(np.abs(back[3:7] @ q1[3:7]), 1.0, atol=ROUND_OFF)


def test_the_difference_of_a_continuous_joint_does_not_wrap() -> None:
    """An angle counts its turns: that is what sets it apart from Pinocchio's cosine and sine."""
    made = load(TEXT)
    np.testing.assert_allclose(made.difference([0.5, 0.0], [0.5 + 4 * np.pi, 0.1]), [4 * np.pi, 0.1], rtol=1e-15)


@pytest.mark.parametrize("size", [1e-9, 1e-4, 9e-3, 1.1e-2, 0.3, 2.0])
def test_a_step_on_the_manifold_is_pinocchios(size: float) -> None:
    """On both sides of where a series takes over from the closed form."""
    rng = np.random.default_rng(3)
    for base, root in (("floating", pin.JointModelFreeFlyer()), ("planar", pin.JointModelPlanar())):
        made = load(TEXT, base=base)  # type: ignore[arg-type]
        model = pin.buildModelFromXML(TEXT, root)
        q, v = made.random(4), rng.normal(size=made.nv)
        turns = slice(3, 6) if base == "floating" else slice(2, 3)
        v[turns] *= size / np.linalg.norm(v[turns])
        ahead = made.integrate(q, v)
        # Pinocchio divides 1 - cos(angle) by the angle of a planar joint, which leaves eps / angle.
        np.testing.assert_allclose(
            made.q_to_pinocchio(ahead), pin.integrate(model, made.q_to_pinocchio(q), v), rtol=0.0, atol=ROUND_OFF + 1e-15 / size
        )
        np.testing.assert_allclose(made.difference(q, ahead), v, atol=1e-12)


def test_a_step_leaves_a_quaternion_of_unit_length() -> None:
    """Also where that of the start has drifted a little, as round-off would let it over many steps."""
    made = load(TEXT, base="floating")
    q, v = made.random(5), np.random.default_rng(6).normal(size=made.nv)
    q[3:7] *= 1.0 + 1e-9
    assert abs(np.linalg.norm(made.integrate(q, v)[3:7]) - 1.0) < 5e-16


def test_limits_that_are_the_wrong_way_round_are_put_right() -> None:
    """A warning tells; what is sampled lies between the two."""
    wrong = joint("slide", "prismatic", "arm", "foot", axis=(1, 0, 0), limit='<limit lower="0.7" upper="0.2" effort="1" velocity="1"/>')
    made = load(robot(link("arm", inertial(1.0)), link("foot", inertial(1.0)), wrong))
    lower, upper = made.position_limits
    assert (lower[0], upper[0]) == (0.2, 0.7)
    q = made.random(1, 1000)
    assert 0.2 <= q.min() < 0.21 and 0.69 < q.max() <= 0.7
