"""Coordinates of Pinocchio's own model of a file, as a user builds it: mimic joints free there, continuous joints as (cos, sin)."""

from __future__ import annotations

import numpy as np
import pytest
from examples import FOLDER
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug

pin = pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
ROUND_OFF = 1e-12  # of the largest entry
PANDA = FOLDER / "panda_description/urdf/panda.urdf"
BASES = {"fixed": (), "floating": (pin.JointModelFreeFlyer(),)}


def mass_matrix(model: object, q: Array) -> Array:
    upper = np.triu(pin.crba(model, model.createData(), q))  # type: ignore[attr-defined]
    return np.asarray(upper + np.triu(upper, 1).T)


def test_the_panda_as_pinocchio_builds_it_has_nine_coordinates_and_ours_eight() -> None:
    robot, model = ug.load(PANDA), pin.buildModelFromUrdf(str(PANDA))
    assert (robot.nq, model.nq) == (8, 9)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng), rng.normal(size=8), rng.normal(size=8)
    x, u, b = robot.q_to_pinocchio(q, mimic=False), robot.v_to_pinocchio(v, mimic=False), robot.v_to_pinocchio(a, mimic=False)
    assert (x.shape, u.shape) == ((9,), (9,))
    np.testing.assert_allclose(robot.q_from_pinocchio(x), q, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(robot.v_from_pinocchio(u), v)
    np.testing.assert_array_equal(robot.q_from_pinocchio(robot.q_to_pinocchio(q)), q)
    G = robot.mimic_matrix
    np.testing.assert_allclose(ug.mass_matrix(robot, q), G.T @ mass_matrix(model, x) @ G, rtol=0, atol=ROUND_OFF)
    tau = pin.rnea(model, model.createData(), x, u, b)
    np.testing.assert_allclose(ug.inverse_dynamics(robot, q, v, a), robot.tau_from_pinocchio(tau), rtol=0, atol=100 * ROUND_OFF)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", [3, 11, 27])
def test_either_size_comes_back_in_batches(seed: int, base: str) -> None:
    """Random trees of all joint types with mimic joints; Pinocchio's free model says where each coordinate goes."""
    text = random_tree(seed, 12, mimic=0.5)
    robot, model = ug.load(text, base), pin.buildModelFromXML(text, *BASES[base])
    free = ug.load(text, base, mimic=False)
    assert robot.nv < model.nv == free.nv
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng, (2, 3)), rng.normal(size=(2, 3, robot.nv))
    x = robot.q_to_pinocchio(q, mimic=False)
    assert x.shape == (2, 3, model.nq)
    for joint in robot.joints:  # each entry where Pinocchio looks for it, by its own bookkeeping
        if joint.type in ("revolute", "prismatic"):
            own = model.joints[model.getJointId(joint.name)]
            np.testing.assert_allclose(x[..., own.idx_q], joint.ratio * q[..., joint.iq] + joint.offset, rtol=0, atol=1e-14)
    for theirs in (x, robot.q_to_pinocchio(q)):
        np.testing.assert_allclose(robot.q_to_pinocchio(robot.q_from_pinocchio(theirs)), robot.q_to_pinocchio(q), rtol=0, atol=1e-13)
    for theirs in (robot.v_to_pinocchio(v, mimic=False), robot.v_to_pinocchio(v)):
        np.testing.assert_array_equal(robot.v_from_pinocchio(theirs), v)
    every = free.q_from_pinocchio(x)  # ours with mimic joints free, which the tied robot takes as well
    np.testing.assert_allclose(robot.q_to_pinocchio(every), robot.q_to_pinocchio(q), rtol=0, atol=1e-13)
    np.testing.assert_allclose(robot.q_to_pinocchio(every, mimic=False), x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(robot.v_to_pinocchio(v @ robot.mimic_matrix.T), v, rtol=0, atol=1e-14)


def test_a_joint_that_is_off_is_named_with_the_way_out() -> None:
    robot = ug.load(PANDA)
    with pytest.raises(ug.ArgumentError, match=r"free base: load\(\.\.\., base='floating'\)"):
        robot.q_from_pinocchio(pin.neutral(pin.buildModelFromUrdf(str(PANDA), pin.JointModelFreeFlyer())))
    x = robot.q_to_pinocchio(np.tile(robot.neutral(), (3, 1)), mimic=False)
    x[2, 8] = 0.013
    with pytest.raises(
        ug.ArgumentError, match=r"panda_finger_joint2.*1 \* panda_finger_joint1.*state 2 is 0.013 .*off by 0.013 m.*mimic=False"
    ):
        robot.q_from_pinocchio(x)
    with pytest.raises(ug.ArgumentError, match=r"panda_finger_joint2.*velocity is 1 .*off by 1 m/s.*mimic=False"):
        robot.v_from_pinocchio(np.eye(9)[8])
    with pytest.raises(
        ug.ArgumentError, match=r"\(10,\), expected \(\.\.\., 8\) or \(\.\.\., 9\); panda_finger_joint2 follows.*mimic=False"
    ):
        robot.q_from_pinocchio(np.zeros(10))
    with pytest.raises(
        ug.ArgumentError, match=r"^q has shape \(7,\), expected \(\.\.\., 8\) or \(\.\.\., 9\); panda_finger_joint2.*mimic=False"
    ):
        robot.q_to_pinocchio(np.zeros(7))
    with pytest.raises(ug.ArgumentError, match=r"panda_finger_joint2.*position is 0\.01 where 0 m.*mimic=False"):
        robot.q_to_pinocchio([*robot.neutral(), 0.01])


FOLLOWED = """<robot name="wheel"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="spin" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="rack" type="prismatic"><parent link="a"/><child link="c"/><axis xyz="0 0 1"/>
  <limit lower="-9" upper="9" effort="1" velocity="1"/><mimic joint="spin" multiplier="0.1" offset="0.2"/></joint>
<joint name="other" type="continuous"><parent link="a"/><child link="d"/><axis xyz="0 0 1"/><mimic joint="spin" multiplier="-1"/></joint>
</robot>"""


@pytest.mark.parametrize("angle", [0.5, 5.0, -20.0])
def test_a_rack_tells_how_often_its_continuous_wheel_has_turned(angle: float) -> None:
    robot, model = ug.load(FOLLOWED), pin.buildModelFromXML(FOLLOWED)
    x = robot.q_to_pinocchio([angle], mimic=False)
    assert len(x) == model.nq == 5
    np.testing.assert_allclose(robot.q_from_pinocchio(x), [angle], rtol=0, atol=1e-14)
    x[model.joints[model.getJointId("rack")].idx_q] += 0.01
    with pytest.raises(ug.ArgumentError, match=r"'rack' follows 0\.1 \* spin \+ 0\.2"):
        robot.q_from_pinocchio(x)
