"""From the merged tree of a URDF to the robot's constants."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.frozen import frozen
from urdf_gibbs.names import Base
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.tree import Body, Tree
from urdf_gibbs.robot.urdf import Link, Urdf

NQ = {"revolute": 1, "continuous": 1, "prismatic": 1, "floating": 7, "planar": 3}
NV = {"revolute": 1, "continuous": 1, "prismatic": 1, "floating": 6, "planar": 3}


def assemble(
    urdf: Urdf, tree: Tree, base: Base, package_dirs: tuple[str, ...] = (), source: str | bytes | None = "", mimic: bool = True
) -> Robot:
    """The robot of a merged tree."""
    bodies = tree.bodies
    index = {body.joint.name: i for i, body in enumerate(bodies) if body.joint.parent}  # the free root has no parent link
    iq = iv = 0
    own: list[tuple[int, int]] = []
    free = [body.dependency.master == body.joint.name for body in bodies]
    for body, is_free in zip(bodies, free, strict=True):
        own.append((iq, iv))
        if is_free:
            nq, nv = _sizes(body)
            iq += nq
            iv += nv
    joints = []
    for i, body in enumerate(bodies):
        j, follows = body.joint, body.dependency
        start = own[i] if free[i] else own[index[follows.master]]
        master = "" if free[i] else follows.master
        tie = (follows.ratio, follows.offset)
        limits = (j.lower, j.upper, j.velocity, j.effort)
        head = (j.name, j.type, j.child, j.axis, *start, *_sizes(body))
        joints.append(Joint(*head, *tie, master, *limits, j.damping, j.friction, body.beam))
    n = len(bodies)
    placement = np.zeros((n, 4, 4))
    placement[:, 3, 3] = 1.0
    if n:
        placement[:, :3, :3] = np.array([body.pose[0] for body in bodies]).reshape(n, 3, 3)
        placement[:, :3, 3] = np.array([body.pose[1] for body in bodies])
    inertia = np.array([body.inertia.inertia for body in bodies]).reshape(n, 3, 3)
    return Robot(
        name=urdf.name,
        file=urdf.file,
        base=base,
        joints=tuple(joints),
        parent=tuple(body.parent for body in bodies),
        placement=frozen(placement),
        mass=frozen(np.array([body.inertia.mass for body in bodies])),
        centre_of_mass=frozen(np.array([body.inertia.centre_of_mass for body in bodies]).reshape(n, 3)),
        inertia=frozen(0.5 * inertia + 0.5 * inertia.transpose(0, 2, 1)),
        base_inertia=tree.world_inertia,
        links=(*urdf.links, *(Link(body.joint.child, line=body.joint.line) for body in bodies if body.beam is not None)),
        root_link=tree.root,
        findings=tuple(urdf.findings.items),
        nq=iq,
        nv=iv,
        _frames=tree.frames,
        package_dirs=package_dirs,
        _source=source,
        mimic=mimic,
        _urdf_joints=tuple(urdf.joints),
        _as_listed=urdf.as_listed,
    )


def _sizes(body: Body) -> tuple[int, int]:
    """nq and nv of a body's joint."""
    return (body.beam.m, body.beam.m) if body.beam is not None else (NQ[body.joint.type], NV[body.joint.type])
