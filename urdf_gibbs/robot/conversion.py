"""Links and joints of a model in another format, with what a URDF says in several joints: composites, helices, balls, and rotors.

The records keep the order of the other format. What cannot be carried becomes a finding with its name.
"""

from __future__ import annotations

import math
from typing import Any

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.inertias import report_doubts
from urdf_gibbs.robot.plausible import inertia_doubt
from urdf_gibbs.robot.spatial import EYE3, IDENTITY, ZERO3, Inertia, Pose, Vec3
from urdf_gibbs.robot.urdf import INFINITY, Link, Mimic, Shape, Urdf, UrdfJoint

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
Parts = tuple[tuple[str, str, Vec3], ...]
Shapes = tuple[tuple[Shape, ...], tuple[Shape, ...]]
NO_SHAPES: Shapes = ((), ())
BALL = (("x", X), ("y", Y), ("z", Z))  # three hinges that take the place of a ball joint


class Conversion:
    """A URDF in the making; ``root`` is its root link."""

    def __init__(self, name: str, root: str, findings: Findings) -> None:
        self.findings = findings
        self.root = root
        self.urdf = Urdf(name, findings.file, findings, as_listed=True)
        self._links: set[str] = set()
        self._joints: set[str] = set()
        self.add_link(root)

    def free_name(self, name: str, joint: bool = False) -> str:
        """The name, with a number where it is taken."""
        taken = self._joints if joint else self._links
        name = name or ("joint" if joint else "link")
        count, own = 2, name
        while own in taken:
            own, count = f"{name}_{count}", count + 1
        return own

    def add_link(self, name: str, inertial: Inertia | None = None, shapes: Shapes = NO_SHAPES) -> str:
        """Add a link with shapes (visuals, collisions) under a name of its own, which is returned."""
        name = self.free_name(name)
        self._links.add(name)
        self._check(name, inertial)
        self.urdf.links.append(Link(name, inertial, *shapes))
        return name

    def add_joint(self, name: str, kind: str, parent: str, child: str, pose: Pose = IDENTITY, axis: Vec3 = X, **more: Any) -> str:
        """Add a joint, under a name of its own, which is returned; more: fields of UrdfJoint."""
        name = self.free_name(name, joint=True)
        self._joints.add(name)
        self.urdf.joints.append(UrdfJoint(name, kind, parent, child, pose, axis, **more))
        return name

    def fix(self, parent: str, name: str, pose: Pose, inertial: Inertia | None = None) -> str:
        """Add a link that is fixed to another: a frame."""
        child = self.add_link(name, inertial)
        self.add_joint(f"{child}_fixed", "fixed", parent, child, pose)
        return child

    def at_root(self, inertial: Inertia | None, shapes: Shapes = NO_SHAPES) -> None:
        """What is fixed to the root link."""
        self._check(self.root, inertial)
        self.urdf.links[0] = Link(self.root, inertial, *shapes)

    def _check(self, name: str, inertial: Inertia | None) -> None:
        """Of a body, as of one in a URDF."""
        if inertial is None:
            return
        numbers = (inertial.mass, *inertial.centre_of_mass, *inertial.inertia)
        if not all(map(math.isfinite, numbers)) or inertial.mass < 0.0:
            expected = "finite numbers, and a mass of zero or more"
            self.findings.error("negative-mass", 0, f'link "{name}"', f"mass {inertial.mass:g}, inertia {inertial.inertia}", expected)
        else:
            doubt = inertia_doubt(name, 0, inertial)
            if doubt is not None:
                self.urdf.doubts.append(doubt)

    def finished(self) -> Urdf:
        """With what there is to say about its inertias, now that the joints are known."""
        report_doubts(self.urdf, self.urdf.doubts)
        return self.urdf

    def rotor(self, joint: str, armature: float) -> None:
        """Carry an armature, an inertia that is added to a joint's diagonal entry of M alone.

        A rotor does the same: a body at the world that follows the joint. About its axis it has the armature, and no mass, so that
        it meets no gravity; what it has about other axes, about which it never turns, makes it a disc.
        """
        disc = Inertia(0.0, ZERO3, (0.5 * armature, 0.0, 0.0, 0.0, 0.5 * armature, 0.0, 0.0, 0.0, armature))
        link = self.free_name(f"{joint}.rotor")
        self._links.add(link)
        self.urdf.links.append(Link(link, disc))  # unchecked: it is massless on purpose
        self.add_joint(f"{joint}.rotor", "continuous", self.root, link, axis=Z, mimic=Mimic(joint, always=True))
        self.findings.note("armature", 0, f'joint "{joint}"', f"armature {armature:g}", f'nothing else: link "{link}", a rotor, carries it')

    def helix(self, name: str, parent: str, child: str, pose: Pose, axis: Vec3, pitch: float, **more: Any) -> str:
        """A screw: a hinge, and a slide that follows it by ``pitch`` [m/rad]."""
        between = self.add_link(f"{name}.screw")
        own = self.add_joint(name, "revolute", parent, between, pose, axis, **more)
        self.add_joint(f"{name}.slide", "prismatic", between, child, axis=axis, mimic=Mimic(own, pitch, always=True))
        return own

    def chain(self, name: str, parts: Parts, parent: str, child: str, pose: Pose, limits: list[dict[str, float]]) -> None:
        """Several joints at one place, one after the other, with massless links between: (suffix, type, axis) of each."""
        for k, ((suffix, kind, axis), own) in enumerate(zip(parts, limits, strict=True)):
            last = k == len(parts) - 1
            link = child if last else self.add_link(f"{name}.{suffix}")
            self.add_joint(f"{name}.{suffix}", kind, parent, link, pose if k == 0 else IDENTITY, axis, **own)
            parent = link

    def ball(self, name: str, parent: str, child: str, pose: Pose) -> None:
        """A ball joint as three hinges: the same motions, other coordinates, and a singular position."""
        parts = tuple((suffix, "revolute", axis) for suffix, axis in BALL)
        self.chain(name, parts, parent, child, pose, [{}] * 3)
        hinges = ", ".join(f"{name}.{suffix}" for suffix, _ in BALL)
        self.findings.warning(
            "ball-joint",
            0,
            f'joint "{name}"',
            "a ball joint",
            f"joints of a URDF; hinges {hinges} take its place, with angles as q, singular where the second is at 90 degrees",
        )

    def lost(self, what: str, why: str, serious: bool = True) -> None:
        """Something that is not carried."""
        say = self.findings.warning if serious else self.findings.note
        say("not-carried", 0, what, why, "a tree of rigid links with joints; it is left out")

    def refuse(self, what: str, why: str, expected: str) -> None:
        """Something without which the model would be another."""
        self.findings.error("conversion", 0, what, why, expected)


def bounds(lower: float, upper: float, effort: float = INFINITY, velocity: float = INFINITY, **more: float) -> dict[str, float]:
    """Limits as fields of a joint; huge ones are none."""
    huge = 1e20
    own = {key: value for key, value in (("lower", lower), ("upper", upper)) if -huge < value < huge}
    own |= {key: value for key, value in (("effort", effort), ("velocity", velocity)) if 0.0 <= value < huge}
    return own | {key: value for key, value in more.items() if value}


def turning(R: Any, p: Any) -> Pose:
    """A pose from a rotation (3, 3) and a place (3,), arrays; identity where it is exactly that."""
    rotation = tuple(float(x) for row in R for x in row)
    place = tuple(float(x) for x in p)
    return (EYE3 if rotation == EYE3 else rotation, place)  # type: ignore[return-value]
