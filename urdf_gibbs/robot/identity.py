"""What a robot is known by: its source, and a digest of what enters the dynamics."""

from __future__ import annotations

import hashlib

import numpy as np

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.urdf import Urdf

BEAM_ARRAYS = ("root", "first", "second", "rotary", "C1", "G0", "G", "spin", "spins", "stiffness", "damping", "tip", "tip_rotation")


def fingerprint(robot: Robot) -> str:
    """See Robot.fingerprint."""
    digest = hashlib.sha256()
    digest.update(repr([(j.type, j.iq, j.iv) for j in robot.joints]).encode())
    digest.update(repr(robot.parent).encode())
    motion = np.array([(*j.axis, j.ratio, j.offset) for j in robot.joints], dtype="<f8")
    beams = [getattr(j.beam, name) for j in robot.joints if j.beam is not None for name in BEAM_ARRAYS]
    for array in (motion, robot.placement, robot.mass, robot.centre_of_mass, robot.inertia, *beams):
        digest.update((np.asarray(array, dtype="<f8") + 0.0).tobytes())  # + 0.0: minus zero is zero
    return digest.hexdigest()


def source_of(robot: Robot) -> str | bytes:
    """See Robot.source."""
    if robot._source is not None:
        return robot._source
    from urdf_gibbs.robot.write import urdf_text

    links, joints = list(robot.links), list(robot._urdf_joints)
    return urdf_text(Urdf(robot.name, robot.file, Findings(robot.file), links=links, joints=joints, as_listed=robot._as_listed))
