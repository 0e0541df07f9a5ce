"""Details of other formats, each with its own numbers: references, gears, joints at one place that are turned, turns of followers."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import urdf_gibbs as ug

HEAVY = '<inertial><mass value="1.5"/><origin xyz="0.1 0.02 -0.3"/><inertia ixx="0.3" iyy="0.2" izz="0.4" ixy="0.01" ixz="0" iyz="0.02"/></inertial>'


def test_a_joint_that_follows_does_so_from_the_reference_positions_of_both() -> None:
    """MuJoCo's own residual of the constraint is zero where the mimic joint is."""
    text = """<mujoco><worldbody>
      <body><joint name="a" axis="0 1 0" ref="0.3"/><geom size="0.1" mass="1"/>
        <body pos="0 0 1"><joint name="b" axis="1 0 0" ref="-0.5"/><geom size="0.1" mass="1" pos="0 0.2 0"/></body></body>
      </worldbody><equality><joint joint1="b" joint2="a" polycoef="0.1 2.5 0 0 0"/></equality></mujoco>"""
    joint = ug.load(text).joint("b")
    assert joint.is_mimic and joint.master == "a"
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for a in (-1.0, 0.0, 0.3, 2.0):
        data.qpos[:] = a, joint.ratio * a + joint.offset
        mujoco.mj_forward(model, data)
        assert data.nefc == 1 and abs(data.efc_pos[0]) < 1e-14


def test_the_inertia_of_a_motor_counts_with_the_square_of_its_gear() -> None:
    pytest.importorskip("pydrake")
    motor = "<drake:rotor_inertia>0.0002</drake:rotor_inertia><drake:gear_ratio>50</drake:gear_ratio>"
    text = """<sdf version="1.9" xmlns:drake="drake.mit.edu"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link>
      <joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>
      <link name="b"><inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
      <joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limit><effort>9</effort></limit></axis>{}</joint>
      </model></sdf>"""
    with_motor, without = (ug.mass_matrix(ug.load(text.format(more)), [0.0])[0, 0] for more in (motor, ""))
    assert without == pytest.approx(0.1, abs=1e-15)
    assert with_motor - without == pytest.approx(0.0002 * 50**2, abs=1e-15)


def test_joints_of_one_body_that_are_turned_against_each_other() -> None:
    """Three hinges and a slide with massless links between are four joints of one body of MuJoCo: its M and bias, and those here."""
    rpy = ["0.3 -0.2 1.1", "0.7 0.4 -0.6", "-1.2 0.1 0.5", "0.2 0.9 0.3"]
    links = "".join(f'<link name="l{i}">{HEAVY if i in (0, 4) else ""}</link>' for i in range(5))
    joints = "".join(
        f'<joint name="j{i}" type="{"prismatic" if i == 2 else "continuous"}"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="0.1 {0.2 * i} 0.3" rpy="{turn}"/><axis xyz="{axis}"/>'
        + ('<limit lower="-1" upper="1" effort="9" velocity="9"/>' if i == 2 else "")
        + "</joint>"
        for i, (turn, axis) in enumerate(zip(rpy, ("1 0 0", "0 0.6 0.8", "0 1 0", "0.6 0 0.8"), strict=True))
    )
    robot = ug.load(f'<robot name="r">{links}{joints}</robot>')
    text = robot.to_mjcf()
    assert text.count("<body") == 1 and text.count("<joint") == 4
    model = mujoco.MjModel.from_xml_string(text)
    data, M = mujoco.MjData(model), np.zeros((4, 4))
    for seed in range(5):
        q, v = robot.random(seed), np.random.default_rng(seed).normal(size=4)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        for column, unit in zip(M, np.eye(4), strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        np.testing.assert_allclose(ug.mass_matrix(robot, q), M, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ug.bias(robot, q, v), data.qfrc_bias, rtol=0, atol=1e-11)


@pytest.mark.parametrize("angle", [-20.0, 0.5, 7.0, 100.0])
def test_a_follower_tells_how_often_its_master_has_turned(angle: float) -> None:
    """Pinocchio has cosine and sine of a continuous joint, but the angle of a revolute one that follows it; an offset does not count as turns."""
    joint = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><axis xyz="0 0 1"/>{4}</joint>'
    follows = '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="m" multiplier="0.5" offset="4.0"/>'
    links = "".join(f'<link name="{name}">{HEAVY}</link>' for name in "abc")
    robot = ug.load(
        f'<robot name="r">{links}{joint.format("m", "continuous", "a", "b", "")}{joint.format("f", "revolute", "b", "c", follows)}</robot>'
    )
    q = [np.cos(angle), np.sin(angle), 0.5 * angle + 4.0]
    assert robot.q_from_pinocchio(q) == pytest.approx([angle], abs=1e-12)
