"""Sensitivities with respect to restitution, constant torques and inertial parameters, against central differences of ``simulate``."""

from __future__ import annotations

from typing import Any

import motion_differences as motions
import numpy as np
import pytest
from motion_differences import Motion
from numpy.typing import NDArray

from urdf_gibbs import Robot, walls

SIZE = 1e-6  # of the largest derivative, as for the start

Array = NDArray[np.float64]


def assert_agrees(found: Any, wanted: Any) -> None:
    assert np.abs(found - wanted).max() <= SIZE * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("law", ["newton", "newton_equality", "poisson"])
def test_restitution(law: str) -> None:
    """All contacts have the same e: the sum of their columns. The arm's tip has its own."""
    motion = motions.branched(duration=0.7)
    S = motion.run(law=law).sensitivity("restitution")
    assert S.columns == tuple(f"restitution.O{k}|circle" for k in (1, 2, 4, 5))
    assert_agrees(S.values[-1].sum(axis=1), motion.changed(lambda h: motion.run(law=law, restitution=0.9 + h), 1e-5))


def test_restitution_beside_a_held_contact() -> None:
    motion = motions.arm(restitution=0.6)
    S = motion.run().sensitivity("restitution")
    assert S.columns == ("restitution.b|lower",)  # that of the floor is 0, and could only grow
    assert_agrees(S.values[-1, :, 0], motion.changed(lambda h: motion.run(restitution=0.6 + h), 1e-5))


@pytest.mark.parametrize("motion", [motions.block(), motions.arm(), motions.hill()], ids=["block", "arm", "hill"])
def test_torque(motion: Motion) -> None:
    found, nv = motion.run().sensitivity("torque").values[-1], motion.robot.nv
    for k in range(nv):
        assert_agrees(found[:, k], motion.changed(lambda h, k=k: motion.run(torque=h * np.eye(nv)[k]), 1e-5))  # type: ignore[misc]


def test_torque_where_contacts_are_held_that_depend_on_each_other() -> None:
    """A block on four corners: forces that only press them change nothing, those along the floor and at its arm do."""
    motion = motions.standing(0.5)
    found = motion.run().sensitivity("torque").values[-1]
    for k, name in enumerate(motion.robot.velocity_names):
        assert_agrees(found[:, k], motion.changed(lambda h, k=k: motion.run(torque=h * np.eye(7)[k]), 1e-4))  # type: ignore[misc]
        if name == "root_joint.vz":
            np.testing.assert_allclose(found[:, k], 0.0, atol=1e-12)


def test_torque_on_top_of_one() -> None:
    motion = motions.pendulum()
    found = motion.run(torque=[0.3]).sensitivity("torque").values[-1]
    with_torque = Motion(motion.robot, motion.q, motion.v, motion.duration, {**motion.options, "torque": [0.3]})
    assert_agrees(found[:, 0], with_torque.changed(lambda h: motion.run(torque=[0.3 + h]), 1e-5))


def with_parameters(robot: Robot, link: str, p: Array) -> Robot:
    """The robot with the 10 inertial parameters p of a link whose frame is that of its body."""
    m, c = p[0], p[1:4] / p[0]
    about_origin = np.array([[p[4], p[5], p[7]], [p[5], p[6], p[8]], [p[7], p[8], p[9]]])
    return robot.with_inertia(link, mass=m, centre_of_mass=c, inertia=about_origin - m * (c @ c * np.eye(3) - np.outer(c, c)))


@pytest.mark.parametrize(("floor", "links"), [(0.0, "ul"), (0.9, "l")], ids=["held", "bouncing"])
def test_parameters(floor: float, links: str) -> None:
    """In the plane of the arm m, m x, m z and Iyy matter; derivatives with respect to the others are zero."""
    motion = motions.arm(floor=floor)
    run = motion.run()
    assert bool(run.phases) == (floor == 0.0)
    S, bodies = run.sensitivity("parameters"), [joint.name for joint in motion.robot.joints]
    values = S.values[-1].reshape(6, len(bodies), 10)
    for link in links:
        body = bodies.index({"u": "a", "l": "b"}[link])
        own = motion.robot.parameters[body]
        assert np.abs(values[:, body, [2, 4, 5, 7, 8, 9]]).max() < 1e-9
        for k in (0, 1, 3, 6):

            def run_with(h: float, link: str = link, own: Array = own, k: int = k) -> Any:
                return motion.run(robot=with_parameters(motion.robot, link, own + h * np.eye(10)[k]))

            assert_agrees(values[:, body, k], motion.changed(run_with, 1e-5))
            assert S.columns[10 * body + k] == f"{['m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy'][k]}.{bodies[body]}"


def test_walls_that_move_along_curved_surfaces() -> None:
    """The normal of a round wall changes with time where the wall moves sideways: of impacts with restitution and torque."""
    motion = motions.hill()
    moving = walls.Circle(1.0, (0, 0, 0), (0, 1, 0), "outside", restitution=0.8, motion=walls.Vibration((0.1, 0.0, 0.05), 12.0, 0.2))
    bouncing = Motion(motion.robot, motion.q, motion.v, 0.9, {**motion.options, "walls": moving})
    run = bouncing.run()
    assert run.impacts and not run.phases
    assert_agrees(run.sensitivity().values[-1], bouncing.start_differences(np.eye(4)))
