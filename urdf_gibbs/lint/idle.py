"""Motions without inertia, which make the mass matrix singular, found by physics and not by mass == 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.functions import mass_matrix
from urdf_gibbs.names import Method
from urdf_gibbs.robot.articulated import is_positive, moving_joints
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of
from urdf_gibbs.robot.urdf import Urdf

UNCOMPILED = 60  # bodies: up to here three matrices in plain Python are faster than compiling one
EXAMINED = 20_000  # bodies: a search at three positions takes seconds for this many
DENSE = 300  # velocities: the singular values of a larger matrix take seconds
COMPILED = 1000  # degrees of freedom: compiled code covers matrices up to this size


def check_idle(urdf: Urdf, robot: Robot) -> None:
    """At generic positions and at q = 0, is there a motion that moves no mass?"""
    lines = {joint.name: joint.line for joint in urdf.joints}
    idle_sets = idle_at(robot, np.concatenate([robot.random(0, 2), robot.neutral()[None]]))
    if idle_sets is None:
        most = f"at most {EXAMINED} moving bodies ({DENSE} velocities of elastic robots, negative inertias and massless joints that follow)"
        what = f"{robot.nv} degrees of freedom, {len(robot.joints)} moving bodies"
        urdf.findings.note("not-examined", 1, "<robot>", what, f"{most} for the search for motions without inertia")
        return
    one, other, at_zero = idle_sets
    always = one & other
    expected = "mass beyond the joint and off its axis; forward dynamics does not exist there"
    for idle, where in ((always, "at every q"), (at_zero - always, "at q = 0")):
        for joint in joints_of(robot, sorted(idle)):
            urdf.findings.warning(
                "singular", lines.get(joint, 1), f'joint "{joint}"', f"part of a motion that meets no inertia {where}", expected
            )


def idle_at(robot: Robot, Q: NDArray[np.float64]) -> list[set[int]] | None:
    """For each state of Q (s, nq) the velocities in motions without inertia; None where the search would take too long."""
    candidates: list[set[int]] | None = None
    if len(robot.joints) > EXAMINED:
        return None
    if is_positive(robot):
        candidates = moving_joints(robot, Q)
        if not any(candidates) or not any(joint.is_mimic for joint in robot.joints):
            return candidates
    # That search does not cover elastic links, negative inertias and mimic joints: use singular values of the candidates.
    among = [sorted(some) for some in candidates] if candidates else [list(range(robot.nv))] * len(Q)
    if max(map(len, among)) > DENSE or robot.nv > COMPILED:
        return None
    plain: Method = "gibbs_appell_flexible" if robot.is_flexible else "gibbs_appell"
    method: Method = plain if len(robot.joints) <= UNCOMPILED else "compiled"
    return [
        set(idle_velocities(robot, q, mass_matrix(robot, q, method=method), some)) if some else set()
        for q, some in zip(Q, among, strict=True)
    ]
