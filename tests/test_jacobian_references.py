"""Jacobians in the references LOCAL, WORLD and LOCAL_WORLD_ALIGNED, and their rates: against Pinocchio's, on all bases and joint types.

Elastic links, which Pinocchio does not know, against central differences of placements and of the Jacobian itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivative_oracle import oracle_of
from flexible_trees import random_flexible
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.names import Reference
from urdf_gibbs.oracle.pinocchio import Oracle

pin = pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
THEIRS: dict[Reference, Any] = {"world_aligned": pin.LOCAL_WORLD_ALIGNED, "world": pin.WORLD, "local": pin.LOCAL}
ROUND_OFF = 1e-12  # of the largest entry: a chain of a few hundred roundings
STEP = 1e-6  # of central differences, whose error is then about 1e-9
DIFFERENCES = 1e-7


def pinocchios(oracle: Oracle, q: Array, v: Array, link: str, point: Array, reference: Reference) -> tuple[Array, Array]:
    """J and its rate (6, nv) of a frame at the point, with the link's axes, which is added to the link's body."""
    model, G, x = oracle.model.copy(), oracle.G, oracle.configuration(q)
    own = model.frames[model.getFrameId(link, pin.BODY)]
    there = own.placement * pin.SE3(np.eye(3), point)
    frame = model.addFrame(pin.Frame("there", own.parentJoint, 0, there, pin.OP_FRAME))
    data = model.createData()
    pin.computeJointJacobiansTimeVariation(model, data, x, G @ v)
    pin.updateFramePlacements(model, data)
    rate = np.reshape(pin.getFrameJacobianTimeVariation(model, data, frame, THEIRS[reference]), (6, model.nv)) @ G
    return np.reshape(pin.computeFrameJacobian(model, data, x, frame, THEIRS[reference]), (6, model.nv)) @ G, rate


@pytest.mark.parametrize("reference", THEIRS)
@pytest.mark.parametrize("seed", range(9))
def test_jacobians_and_their_rates_are_pinocchios(seed: int, reference: Reference) -> None:
    """Every second tree with mimic joints; links merged into others too."""
    base, text = ("fixed", "floating", "planar")[seed % 3], random_tree(seed, 3 + seed, mimic=0.3 if seed % 2 else 0.0)
    robot, oracle = ug.load(text, base), oracle_of(text, base)
    rng = np.random.default_rng(seed)
    q, v, point = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=3)
    for link in {robot.link_names[0], robot.link_names[-1], robot.joints[len(robot.joints) // 2].child}:
        J, rate = pinocchios(oracle, q, v, link, point, reference)
        size = 1.0 + np.max(np.abs(rate)) + np.max(np.abs(J))
        np.testing.assert_allclose(ug.jacobian(robot, q, link, point, reference=reference), J, rtol=0, atol=ROUND_OFF * size)
        np.testing.assert_allclose(ug.jacobian_rate(robot, q, v, link, point, reference=reference), rate, rtol=0, atol=ROUND_OFF * size)
        changes = ug.jacobian_derivatives(robot, q, link, point, reference=reference)
        np.testing.assert_allclose(changes @ v, rate, rtol=0, atol=ROUND_OFF * size)


def test_jacobians_of_elastic_links_have_references_too() -> None:
    robot = ug.load(random_flexible(1, 3), "floating")
    rng = np.random.default_rng(1)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    link = robot.joints[-1].child
    before, behind = (ug.frame_placement(robot, robot.integrate(q, h * v), link) for h in (-STEP, STEP))
    T = ug.frame_placement(robot, q, link)
    R, p, moved = T[:3, :3], T[:3, 3], (behind - before) / (2 * STEP)
    spin = moved[:3, :3] @ R.T
    u, omega = moved[:3, 3], np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    twist = {"world_aligned": [*u, *omega], "world": [*(u + np.cross(p, omega)), *omega], "local": [*(R.T @ u), *(R.T @ omega)]}
    for reference in THEIRS:
        np.testing.assert_allclose(ug.jacobian(robot, q, link, reference=reference) @ v, twist[reference], rtol=0, atol=DIFFERENCES)
        ends = [ug.jacobian(robot, robot.integrate(q, h * v), link, reference=reference) for h in (-STEP, STEP)]
        rate = (ends[1] - ends[0]) / (2 * STEP)
        np.testing.assert_allclose(ug.jacobian_rate(robot, q, v, link, reference=reference), rate, rtol=0, atol=DIFFERENCES)


def test_kernels_batches_and_out_take_references() -> None:
    robot = ug.load(ug.model_path("gripper"), "floating")
    rng = np.random.default_rng(0)
    q, v, link = robot.random(rng, 130), rng.normal(size=(130, robot.nv)), robot.link_names[-1]
    for reference in ("world", "local"):
        J = np.array([ug.jacobian(robot, one, link, reference=reference) for one in q[:3]])
        np.testing.assert_allclose(robot.kernel("jacobian", frame=link, reference=reference)(q)[:3], J, rtol=0, atol=1e-14)
        np.testing.assert_allclose(ug.jacobian(robot, q, link, reference=reference)[:3], J, rtol=0, atol=1e-14)
        rate = ug.jacobian_rate(robot, q[0], v[0], link, reference=reference)
        np.testing.assert_allclose(robot.kernel("jacobian_rate", frame=link, reference=reference)(q[0], v[0]), rate, rtol=0, atol=1e-13)
        out = np.empty((6, robot.nv))
        assert ug.jacobian(robot, q[0], link, reference=reference, out=out) is out
        np.testing.assert_allclose(out, J[0], rtol=0, atol=1e-14)
    aligned = ug.jacobian(robot, q[0], link)
    np.testing.assert_array_equal(ug.jacobian(robot, q[0], link, reference="world-aligned"), aligned)  # type: ignore[arg-type]


def test_an_unknown_reference_is_refused() -> None:
    robot = ug.load(ug.model_path("planar3r"))
    with pytest.raises(ug.UnknownNameError, match="world_aligned"):
        ug.jacobian(robot, [0.0] * 3, "link3", reference="body")  # type: ignore[arg-type]
    with pytest.raises(ug.ArgumentError, match="reference=3"):
        robot.kernel("jacobian", frame="link3", reference=3)  # type: ignore[arg-type]
