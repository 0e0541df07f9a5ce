"""Large robots run in loops over joints: the same answers, for every joint type, base and size."""

from __future__ import annotations

import numpy as np
import pytest
from random_trees import random_tree
from urdf_text import joint, random_link, robot

import urdf_gibbs as ug
from urdf_gibbs.dynamics import local_forward
from urdf_gibbs.dynamics.local_frames import local_model
from urdf_gibbs.engine import quantities
from urdf_gibbs.engine.kernel import Composed
from urdf_gibbs.oracle.compare import validate
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.robot.model import Robot

QUANTITIES = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")


@pytest.fixture
def nothing_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantities, "STRAIGHT", {})
    monkeypatch.setattr(quantities, "STRAIGHT_DEFAULT", 0)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.usefixtures("nothing_straight")
def test_loops_agree_with_pinocchio_for_every_joint_type_base_and_mimic(seed: int) -> None:
    text = random_tree(seed, 1 + seed, mimic=0.3 * (seed % 2))
    robot = ug.load(text, ("fixed", "floating", "planar")[seed % 3])
    report = validate(robot, text, samples=6, methods=("compiled",), derivatives=False)
    assert report.agrees, [(c.quantity, c.error, c.remark) for c in report.comparisons if not c.agrees]


def plain_tree(kind: str, axis: tuple[int, int, int], joints: int = 5) -> str:
    """Joints of one axis whose frames are not turned: nothing but its sign tells -x from x."""
    rng = np.random.default_rng(joints)
    links = "".join(random_link(f"l{i}", rng) for i in range(joints + 1))
    return robot(
        links, *(joint(f"j{i}", kind, f"l{(i - 1) // 2}", f"l{i}", xyz=rng.uniform(-1, 1, 3), axis=axis) for i in range(1, joints + 1))
    )


AXES = [tuple(sign * int(i == k) for i in range(3)) for k in range(3) for sign in (1, -1)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
@pytest.mark.usefixtures("nothing_straight")
def test_loops_know_the_sign_of_an_axis_along_a_frame_that_is_not_turned(kind: str, axis: tuple[int, int, int]) -> None:
    text = plain_tree(kind, axis)
    report = validate(ug.load(text), text, samples=4, methods=("compiled",), derivatives=False)
    assert report.reference == "Pinocchio"
    assert report.agrees, [(c.quantity, c.error, c.remark) for c in report.comparisons if not c.agrees]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_elimination_knows_the_sign_of_an_axis(kind: str, axis: tuple[int, int, int]) -> None:
    """Asked for by its name: for a robot this small, compiled code takes the cheaper factorisation."""
    text, gravity = plain_tree(kind, axis), (0.0, 0.0, -9.81)
    robot, rng = ug.load(text), np.random.default_rng(5)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    expected = Oracle(text, "fixed", mimic=False, gravity=gravity).answers(q, v, np.zeros(robot.nv), tau, {}).acceleration
    found, _ = local_forward.forward_dynamics(local_model(robot), q.tolist(), v.tolist(), tau.tolist(), list(gravity))
    np.testing.assert_allclose(np.array(found, float), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.usefixtures("nothing_straight")
def test_loops_refuse_what_straight_line_code_refuses() -> None:
    robot = ug.load(random_tree(3, 4, ("revolute",)), "floating")
    q, v = robot.random(0, 300), np.ones((300, robot.nv))
    q[7, 3:7] *= 1.01
    with pytest.raises(ug.ArgumentError, match="root_joint"):
        robot.kernel("bias")(q, v)
    with pytest.raises(ug.ArgumentError, match="root_joint"):
        robot.kernel("mass_matrix")(q[7], out=np.zeros((robot.nv, robot.nv)))
    bare = (
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="idle" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    with pytest.raises(ug.SingularMassMatrixError, match="idle"):
        ug.load(bare).kernel("forward_dynamics")([0.1], [0.2], [0.3])


def chain(joints: int) -> str:
    return random_tree(11, joints, ("revolute", "continuous"), branching=1)


def states(robot: Robot) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    return robot.random(rng), *rng.normal(size=(3, robot.nv))


def test_a_chain_of_200_joints_agrees_with_pinocchio() -> None:
    text = chain(200)
    robot = ug.load(text)
    assert robot.nv == 200
    report = validate(robot, text, samples=2, methods=("compiled",), derivatives=False)
    assert report.reference == "Pinocchio"
    assert report.agrees, [(c.quantity, c.error, c.remark) for c in report.comparisons if not c.agrees]
    errors = {c.quantity: c.error for c in report.comparisons}
    assert max(errors["mass matrix"], errors["bias"], errors["inverse dynamics"]) < 1e-11  # round-off of sums along 200 joints


def test_a_tree_of_1000_links_is_consistent() -> None:
    """Pinocchio's data would take gigabytes: M from composite moments, inverse dynamics and elimination check each other."""
    robot = ug.load(random_tree(5, 1000, ("revolute", "continuous", "prismatic", "fixed")), "floating")
    assert robot.nv > 700
    q, v, a, tau = states(robot)
    M, h = robot.kernel("mass_matrix")(q), robot.kernel("bias")(q, v)
    assert np.array_equal(M, M.T)
    scale = np.linalg.norm(M) * np.linalg.norm(a) + np.linalg.norm(h)
    assert np.linalg.norm(robot.kernel("inverse_dynamics")(q, v, a) - M @ a - h) < 1e-13 * scale
    acceleration = robot.kernel("forward_dynamics")(q, v, tau)
    residual = np.linalg.norm(M @ acceleration + h - tau)
    assert residual < 1e-12 * (np.linalg.norm(M) * np.linalg.norm(acceleration) + np.linalg.norm(h) + np.linalg.norm(tau))
    for energy in (ug.kinetic_energy(robot, q, v), robot.kernel("kinetic_energy")(q, v)):  # the first call of all is plain Python
        assert energy == pytest.approx(0.5 * v @ M @ v, rel=1e-12)
    total = ug.mass_matrix(robot, q)[:3, :3]  # of a free base: the whole mass
    assert np.allclose(total, robot.mass.sum() * np.eye(3), rtol=1e-12)


def test_large_robots_with_mimic_joints_are_tied_to_free_ones() -> None:
    text = random_tree(2, 120, ("revolute", "continuous", "prismatic"), mimic=0.2)
    robot = ug.load(text)
    report = validate(robot, text, samples=1, methods=("compiled",), derivatives=False)
    assert report.agrees, [(c.quantity, c.error, c.remark) for c in report.comparisons if not c.agrees]
    assert isinstance(robot.kernel("mass_matrix").__self__, Composed)


@pytest.mark.usefixtures("nothing_straight")
@pytest.mark.parametrize("name", QUANTITIES)
def test_batches_in_loops_equal_their_states(name: str) -> None:
    robot = ug.load(random_tree(9, 6), "floating")
    rng = np.random.default_rng(1)
    q = robot.random(rng, 300)
    rest = rng.normal(size=(3, 300, robot.nv))
    arguments = (q, *rest)[: len(quantities.QUANTITIES[name].inputs)]
    together = robot.kernel(name)(*arguments)
    for i in (0, 1, 150, 299):
        assert np.array_equal(together[i], robot.kernel(name)(*(x[i] for x in arguments)))
