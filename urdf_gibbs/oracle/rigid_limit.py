"""Elastic links that do not bend are rods, which Pinocchio can model: the part of such a robot that it can check.

At delta = 0 and delta' = 0 the rows and columns of the rigid coordinates are those of the same URDF without its elastic links, if
the <inertial> of each such link is that of its rod. Where a link has none the rod's is put in; where it has another one nothing
can be compared.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.oracle.pinocchio import Oracle, OracleRefusal, Rod
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.load import read_source
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import Inertia

Array = NDArray[np.float64]

SAME = 1e-6  # relative: files have about six digits


class RigidLimit:
    """Pinocchio's view of a robot whose elastic links stay straight; raises OracleRefusal, with the reason, where there is none.

    ``q`` and ``v`` are the indices of the rigid coordinates in Pinocchio's order (ours has what a tip carries before what a root
    carries), ``bent_q`` and ``bent_v`` those of the elastic ones.
    """

    def __init__(self, robot: Robot, source: str | bytes | os.PathLike[str], mimic: bool, gravity: tuple[float, float, float]) -> None:
        elastic = [joint for joint in robot.joints if joint.beam is not None]
        beams = [joint.beam for joint in elastic if joint.beam is not None]
        self.bent_q, self.bent_v = _indices(elastic)
        if len(self.bent_v) == robot.nv:
            raise OracleRefusal("there are no rigid coordinates")
        links = read_source(source).links
        rods = missing_rods(robot, beams, {link.name: link.inertial for link in links})
        self.oracle = Oracle(source, robot.base, mimic, gravity, rods)
        self.links = {link.name for link in links}
        joints = {joint.name: joint for joint in robot.joints if joint.beam is None and not joint.is_mimic}
        if sorted(joints) != sorted(self.oracle.joint_names):
            raise OracleRefusal(f"our joints are {', '.join(joints)}, and Pinocchio's {', '.join(self.oracle.joint_names)}")
        self.q, self.v = _indices([joints[name] for name in self.oracle.joint_names])
        # What is fixed to the world does not count as moving there, but a beam does move.
        self.all_move = all(robot.frame(beam.link).body >= 0 for beam in beams)


def _indices(joints: list[Joint]) -> tuple[list[int], list[int]]:
    q = [joint.iq + k for joint in joints for k in range(joint.nq)]
    return q, [joint.iv + k for joint in joints for k in range(joint.nv)]


def missing_rods(robot: Robot, beams: list[Beam], inertials: Mapping[str, Inertia | None]) -> dict[str, Rod]:
    """The rods of elastic links without <inertial>; raises OracleRefusal where another one is there."""
    rods: dict[str, Rod] = {}
    for beam in beams:
        rod, given = rod_of(robot, beam), inertials.get(beam.link)
        if given is None:
            rods[beam.link] = rod
            continue
        length, most = beam.length, max(float(np.abs(rod.inertia).max()), 1e-3 * rod.mass * beam.length**2)
        com = float(np.abs(np.subtract(given.centre_of_mass, rod.centre_of_mass)).max()) / length
        inertia = float(np.abs(np.reshape(given.inertia, (3, 3)) - rod.inertia).max()) / most
        mass = abs(given.mass - rod.mass) / rod.mass
        if max(mass, com, inertia) > SAME:
            what = "mass" if mass > SAME else "centre of mass" if com > SAME else "inertia"
            raise OracleRefusal(f'the <inertial> of link "{beam.link}" has not the {what} of its beam')
    return rods


def rod_of(robot: Robot, beam: Beam) -> Rod:
    """The straight beam as a rigid body in its link's frame."""
    where = robot.frame(beam.link).placement
    R, r = where[:3, :3], where[:3, 3]
    com = beam.first / beam.mass
    second = beam.second - beam.mass * np.outer(com, com)
    inertia = np.trace(second) * np.eye(3) - second + beam.rotary
    return Rod(beam.mass, R.T @ (com - r), R.T @ inertia @ R)
