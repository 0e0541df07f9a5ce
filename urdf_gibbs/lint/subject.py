"""What the checks by physics look at: the links of a URDF where they stand at q = 0, what is fixed to what, and their hulls."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.lint.hulls import Hull, hull_of
from urdf_gibbs.lint.shapes import Shapes
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import IDENTITY, NO_INERTIA, Inertia, Pose, compose, joined, moved
from urdf_gibbs.robot.urdf import Urdf, UrdfJoint

Array = NDArray[np.float64]
MINOR = 0.02  # of the mass and of the inertia of the body that it is fixed to: what weighs less hardly matters


class Subject:
    """A URDF whose links are a tree.

    poses: of each link in the root link. body: of each link the one that a joint moves it with. elastic links count as without inertia.
    """

    def __init__(self, urdf: Urdf, root: str, shapes: Shapes) -> None:
        self.urdf, self.root, self.shapes = urdf, root, shapes
        self.findings: Findings = urdf.findings
        self.links = {link.name: link for link in urdf.links}
        self.joints = {joint.name: joint for joint in urdf.joints}
        self.above: dict[str, UrdfJoint] = {joint.child: joint for joint in urdf.joints}
        self.below: dict[str, list[UrdfJoint]] = {}
        for joint in urdf.joints:
            self.below.setdefault(joint.parent, []).append(joint)
        self.poses: dict[str, Pose] = {root: IDENTITY}
        self.body: dict[str, str] = {root: root}
        self.order = [root]
        for name in self.order:  # which grows
            for joint in self.below.get(name, ()):
                self.poses[joint.child] = compose(self.poses[name], joint.pose)
                self.body[joint.child] = self.body[name] if joint.type == "fixed" else joint.child
                self.order.append(joint.child)
        self.members: dict[str, list[str]] = {}
        for name, body in self.body.items():
            self.members.setdefault(body, []).append(name)
        self._hulls: dict[str, Hull | None] = {}

    def inertial(self, name: str) -> Inertia:
        one = self.links[name].inertial
        return NO_INERTIA if one is None or name in self.urdf.flexible else one

    def place(self, name: str) -> Array:
        """The origin (3,) of a link in the root link."""
        return np.array(self.poses[name][1])

    def turn(self, name: str) -> Array:
        """The axes (3, 3) of a link in the root link."""
        return np.reshape(self.poses[name][0], (3, 3))

    @cached_property
    def reach(self) -> float:
        """The largest distance of a link from the root [m]."""
        return max(float(np.linalg.norm(pose[1])) for pose in self.poses.values())

    @cached_property
    def of_body(self) -> dict[str, Inertia]:
        """Mass and inertia of all links that are fixed to each other, in the root link."""
        found = {}
        for body, members in self.members.items():
            total = NO_INERTIA
            for name in members:
                total = joined(total, moved(self.poses[name], self.inertial(name)))
            found[body] = total
        return found

    def matters(self, name: str) -> bool:
        """Whether a link is more than a small part of what it is fixed to."""
        own, whole = self.inertial(name), self.of_body[self.body[name]]
        return own.mass > MINOR * whole.mass or trace(own) > MINOR * trace(whole)

    def trace_of_body(self, name: str) -> float:
        """The trace of the inertia of all that a link is fixed to [kg m2]."""
        return trace(self.of_body[self.body[name]])

    def is_foot(self, name: str) -> bool:
        """Whether a link is fixed to the root of a robot that is one chain: most of these are bolted to the ground, and its mass rests."""
        if self.body[name] != self.root:
            return False
        moving = [joint for one in self.members[self.root] for joint in self.below.get(one, ()) if joint.type != "fixed"]
        return len(moving) == 1

    def hull(self, name: str) -> Hull | None:
        """The hull of what the inertia of a link may stand for, in the link's frame: its own shapes and those of links without inertia that
        are fixed to it; where there are none, all shapes that are fixed to it."""
        if name not in self._hulls:
            self._hulls[name] = self._hull(name)
        return self._hulls[name]

    def _hull(self, name: str) -> Hull | None:
        own = self.shapes.of(self.links[name])
        if own is None and not self.is_bare(name):
            return None
        fixed = [one for one in self.members[self.body[name]] if one != name]
        if own is not None:
            fixed = [one for one in fixed if self.inertial(one).mass == 0.0]
        found = [] if own is None else [own]
        back = inverse(self.poses[name])
        for one in fixed:
            hull = self.shapes.of(self.links[one])
            if hull is None and not self.is_bare(one):
                return None
            if hull is not None:
                found.append(hull.moved(compose(back, self.poses[one])))
        if len(found) < 2:
            return found[0] if found else None
        return hull_of(np.concatenate([hull.points for hull in found]))

    def is_bare(self, name: str) -> bool:
        """Whether a link has no shapes, so that its hull is not merely unknown."""
        return not (self.links[name].visuals or self.links[name].collisions)


def trace(inertia: Inertia) -> float:
    return inertia.inertia[0] + inertia.inertia[4] + inertia.inertia[8]


def inverse(pose: Pose) -> Pose:
    turn = np.reshape(pose[0], (3, 3)).T
    return tuple(turn.ravel().tolist()), tuple((-turn @ np.array(pose[1])).tolist())
