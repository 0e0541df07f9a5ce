"""Constants of the merged bodies against Pinocchio and SciPy: inertial parameters, changed inertias, joints held at an offset."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from urdf_text import inertial, joint, link, pinocchio_model, point_mass, random_link, robot

from urdf_gibbs import SingularMassMatrixError, forward_dynamics, frame_placement, load, mass_matrix
from urdf_gibbs.engine import quantities

Array = NDArray[np.float64]

ROUND_OFF = 1e-12


def arm(hand: str) -> str:
    """Two moving links, the second with another fixed to it at an angle."""
    rng = np.random.default_rng(3)
    return robot(
        link("base", inertial(1.0)),
        random_link("upper", rng),
        random_link("lower", rng),
        hand,
        joint("a", "revolute", "base", "upper", xyz=(0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6), axis=(0, 1, 0)),
        joint("b", "revolute", "upper", "lower", xyz=(0.5, -0.1, 0.2), rpy=(-0.3, 0.2, 1.0), axis=(1, 0, 0)),
        joint("f", "fixed", "lower", "hand", xyz=(0.3, 0.1, -0.2), rpy=(1.0, -0.7, 0.3)),
    )


HAND = link("hand", inertial(0.7, (0.05, 0.1, -0.02), (0.2, 0.1, -0.4), (0.03, 0.02, 0.04)))


def test_inertial_parameters_are_pinocchios_in_their_order() -> None:
    text = arm(HAND)
    model = pinocchio_model(text)
    expected = [model.inertias[number].toDynamicParameters() for number in (1, 2)]
    np.testing.assert_allclose(load(text).parameters, expected, rtol=0.0, atol=ROUND_OFF)


def test_a_link_with_another_inertia_is_merged_as_if_the_file_had_it() -> None:
    """The hand is part of the lower arm's body: the lower arm's own inertia stays."""
    tensor = Rotation.from_euler("xyz", (0.3, 0.1, -0.5)).as_matrix() @ np.diag([0.05, 0.06, 0.07])
    tensor = tensor @ Rotation.from_euler("xyz", (0.3, 0.1, -0.5)).as_matrix().T
    heavier = load(arm(HAND)).with_inertia("hand", mass=2.0, centre_of_mass=(0.1, 0.0, 0.3), inertia=tensor)
    text = arm(link("hand", inertial(2.0, (0.1, 0.0, 0.3), (0.3, 0.1, -0.5), (0.05, 0.06, 0.07))))
    model = pinocchio_model(text)
    np.testing.assert_allclose(
        heavier.parameters, [model.inertias[number].toDynamicParameters() for number in (1, 2)], rtol=0.0, atol=ROUND_OFF
    )
    q = np.array([0.3, -0.8])
    M = pin.crba(model, model.createData(), q)
    np.testing.assert_allclose(mass_matrix(heavier, q), np.triu(M) + np.triu(M, 1).T, rtol=0.0, atol=ROUND_OFF)


@pytest.mark.filterwarnings("ignore::urdf_gibbs.errors.UrdfWarning")
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_that_follows_a_fixed_one_is_held_at_its_offset(kind: str) -> None:
    """About an oblique axis; the rotation is SciPy's."""
    axis, offset = np.array([2.0, -1.0, 2.0]) / 3.0, 0.7
    text = robot(
        link("base", inertial(1.0)),
        link("post", inertial(1.0)),
        link("held", inertial(1.0)),
        link("end", inertial(1.0)),
        joint("rigid", "fixed", "base", "post"),
        joint("tied", kind, "base", "held", f'<mimic joint="rigid" multiplier="3" offset="{offset}"/>', xyz=(0.1, 0.2, 0.3), axis=axis),
        joint("free", "revolute", "held", "end", xyz=(0.4, 0.0, 0.1), axis=(0, 0, 1)),
    )
    made = load(text)
    assert made.joint_names == ("free",)
    turn = Rotation.from_rotvec(offset * axis).as_matrix() if kind == "revolute" else np.eye(3)
    shift = offset * axis if kind == "prismatic" else np.zeros(3)
    T = frame_placement(made, [0.5], "end")
    np.testing.assert_allclose(T[:3, :3], turn @ Rotation.from_rotvec([0, 0, 0.5]).as_matrix(), atol=ROUND_OFF)
    np.testing.assert_allclose(T[:3, 3], np.array([0.1, 0.2, 0.3]) + shift + turn @ [0.4, 0.0, 0.1], atol=ROUND_OFF)


@pytest.mark.parametrize("in_loops", [False, True])
@pytest.mark.parametrize("length", [0.37, 1.0, 123.4])
def test_an_arm_folded_back_onto_its_axis_gives_that_axis_no_inertia(
    length: float, in_loops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point mass at the end of an arm without mass, folded by pi: M is what rounding leaves of m L^2, which must not be taken for an inertia."""
    if in_loops:  # as large robots are
        monkeypatch.setattr(quantities, "STRAIGHT", {})
        monkeypatch.setattr(quantities, "STRAIGHT_DEFAULT", 0)
    axis = np.array([0.2, -0.5, 0.9]) / np.linalg.norm([0.2, -0.5, 0.9])
    across = np.cross(axis, [1.0, 0.0, 0.0])
    along = length * across / np.linalg.norm(across)
    text = robot(
        link("base", inertial(1.0)),
        link("upper", ""),
        link("lower", ""),
        point_mass("bead", 2.0, (0, 0, 0)),
        joint("slide", "prismatic", "lower", "bead", xyz=along, axis=axis),
        joint("shoulder", "continuous", "base", "upper", rpy=(0.3, 0.7, -0.4), axis=axis),
        joint("elbow", "continuous", "upper", "lower", xyz=along, axis=axis),
    )
    made = load(text)
    for angle in (0.0, 0.3, 1.0, 2.0, 4.0):
        for turns in (1.0, -1.0, 3.0):
            with pytest.raises(SingularMassMatrixError, match="shoulder"):
                forward_dynamics(made, [angle, turns * np.pi, 0.1], np.zeros(3), np.zeros(3))
        assert np.isfinite(forward_dynamics(made, [angle, np.pi - 1e-3, 0.1], np.zeros(3), np.zeros(3))).all()  # hard, but well posed
