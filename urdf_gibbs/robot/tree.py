"""The tree of a URDF: its errors, its depth-first order, and fixed joints merged into moving bodies without loss."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.robot.spatial import EYE3, IDENTITY, NO_INERTIA, ZERO3, Inertia, Pose, compose, joined, moved, rotation_about
from urdf_gibbs.robot.urdf import ONE_DOF, Mimic, Urdf, UrdfJoint

if TYPE_CHECKING:
    from urdf_gibbs.flexible.build import Specification

ROOT_JOINT = "root_joint"
WORLD = -1
HINTS, MOST_NAMES = 20, 5000
UNCONNECTED = (
    "not-xml",
    "not-urdf",
    "entity",
    "xacro",
    "unreadable",
    "conversion",
    "no-link",
    "missing",
    "joint-type",
    "duplicate",
    "two-parents",
    "unknown-parent",
    "unknown-child",
)


@dataclass(frozen=True, slots=True)
class Dependency:
    """Where a one-DOF joint takes its position from: ratio * q(master) + offset (master is the joint itself when it is free)."""

    master: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(slots=True)
class Body:
    """A moving body: its joint, where that sits in the parent body, and the merged inertia."""

    joint: UrdfJoint
    parent: int
    pose: Pose
    dependency: Dependency
    inertia: Inertia = NO_INERTIA
    beam: Beam | None = None  # from the parent body to this one, the beam's tip


@dataclass(slots=True)
class Tree:
    """Bodies in the order of the coordinates; body -1 is the world. ``frames``: link -> (body, pose of the link in it)."""

    root: str
    bodies: list[Body] = field(default_factory=list)
    frames: dict[str, tuple[int, Pose]] = field(default_factory=dict)
    world_inertia: Inertia = NO_INERTIA


def build(urdf: Urdf, base: str, mimic: bool) -> Tree | None:
    """The merged tree, or None with errors in ``urdf.findings``."""
    children = _connect(urdf)
    dependencies = resolve_mimics(urdf, mimic)
    # Links that could not be connected would be reported again as false roots.
    root = None if any(error.code in UNCONNECTED for error in urdf.findings.errors) else _root(urdf)
    if root is None or urdf.findings.errors:
        return None
    tree = _merge(urdf, root, children, base, dependencies)
    _find_cycles(urdf, tree)
    return None if urdf.findings.errors else tree


def _connect(urdf: Urdf) -> dict[str, list[UrdfJoint]]:
    """Joints below each link, siblings in the byte order of their names (as Pinocchio has them) unless their order was given."""
    findings = urdf.findings
    if not urdf.links and not findings.errors:
        findings.error("no-link", urdf.line, "<robot>", "no <link>", "at least one link")
    children: dict[str, list[UrdfJoint]] = {}
    seen_links: dict[str, int] = {}
    for link in urdf.links:
        if link.name in seen_links:
            findings.error(
                "duplicate",
                link.line,
                f'link "{link.name}"',
                f"a second one, the first is at line {seen_links[link.name]}",
                "unique link names",
            )
        else:
            seen_links[link.name] = link.line
            children[link.name] = []
    seen_joints: dict[str, int] = {}
    parent_joint: dict[str, UrdfJoint] = {}
    for joint in urdf.joints:
        what = f'joint "{joint.name}"'
        if joint.name in seen_joints:
            findings.error(
                "duplicate", joint.line, what, f"a second one, the first is at line {seen_joints[joint.name]}", "unique joint names"
            )
            continue
        seen_joints[joint.name] = joint.line
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in children:
                expected = f"the name of a link in this file{_meant(urdf, name, children)}"
                findings.error(f"unknown-{end}", joint.line, f"{what} <{end}>", f'link="{name}"', expected)
        if joint.child in parent_joint:
            first = parent_joint[joint.child]
            value = f'link "{joint.child}", already the child of joint "{first.name}" (line {first.line})'
            findings.error("two-parents", joint.line, f"{what} <child>", value, f"one parent for each link{_exchanged(urdf, first, joint)}")
            continue
        parent_joint[joint.child] = joint
        if joint.parent in children:
            children[joint.parent].append(joint)
    for below in children.values():
        if len(below) > 1 and not urdf.as_listed:
            below.sort(key=lambda joint: joint.name.encode("utf-8", "surrogatepass"))
    return children


def _meant(urdf: Urdf, name: str, names: Collection[str]) -> str:
    """The name that a wrong one was meant to be, if any is like it, for the first few errors: a search through many names takes long."""
    few = len(urdf.findings.errors) < HINTS and len(names) <= MOST_NAMES
    near = difflib.get_close_matches(name, names, 1, 0.8) if few else []
    return f'; did you mean "{near[0]}"?' if near else ""


def _exchanged(urdf: Urdf, *joints: UrdfJoint) -> str:
    """Of two joints that carry one link, the one whose parent hangs on nothing: with its ends exchanged there is a tree."""
    carried = {joint.child for joint in urdf.joints}
    loose = [joint for joint in joints if joint.parent not in carried]
    return f'; are parent and child of joint "{loose[0].name}" exchanged?' if len(loose) == 1 else ""


def _root(urdf: Urdf) -> str | None:
    is_child = {joint.child for joint in urdf.joints}
    roots = [link for link in urdf.links if link.name not in is_child]
    if not roots:
        first = urdf.joints[0]
        urdf.findings.error("cycle", first.line, f'joint "{first.name}"', "every link is some joint's child", "a tree with one root link")
        return None
    for link in roots[1:]:
        urdf.findings.error(
            "two-roots", link.line, f'link "{link.name}"', f'a second root beside "{roots[0].name}"', "one link without a parent"
        )
    return roots[0].name


def _find_cycles(urdf: Urdf, tree: Tree) -> None:
    for joint in urdf.joints:
        if joint.child not in tree.frames:
            urdf.findings.error(
                "cycle",
                joint.line,
                f'joint "{joint.name}"',
                f'link "{joint.child}" hangs on itself',
                f'links reached from the root "{tree.root}"',
            )


def resolve_mimics(urdf: Urdf, follow: bool) -> dict[str, Dependency]:
    """Joint -> the free joint that it finally follows, through mimics of mimics; master "" where the chain ends at a fixed joint."""
    findings = urdf.findings
    joints = {joint.name: joint for joint in urdf.joints}
    resolved = {
        joint.name: Dependency("" if joint.type == "fixed" else joint.name)
        for joint in urdf.joints
        if joint.mimic is None or not (follow or joint.mimic.always)
    }
    for start in urdf.joints:
        chain: dict[str, Mimic] = {}
        name = start.name
        while name not in resolved:
            mimic = joints[name].mimic
            assert mimic is not None
            problem = _mimic_problem(urdf, joints, name, mimic, chain)
            if mimic.joint in urdf.unread:
                resolved[name] = Dependency(name)
            elif problem:
                findings.error(problem[0], mimic.line, f'joint "{name}" <mimic>', problem[1], problem[2])
                resolved[name] = Dependency(name)
            else:
                chain[name] = mimic
                name = mimic.joint
        for name, mimic in reversed(chain.items()):
            if name in resolved:
                continue
            above = resolved[mimic.joint]
            if not above.master:
                findings.warning(
                    "mimic-fixed",
                    mimic.line,
                    f'joint "{name}" <mimic>',
                    f'joint="{mimic.joint}", which cannot move',
                    "a moving joint; this one is locked",
                )
            resolved[name] = Dependency(above.master, mimic.multiplier * above.ratio, mimic.multiplier * above.offset + mimic.offset)
    return resolved


def _mimic_problem(
    urdf: Urdf, joints: dict[str, UrdfJoint], name: str, mimic: Mimic, chain: dict[str, Mimic]
) -> tuple[str, str, str] | None:
    """(code, value, expected) where this mimic cannot be followed."""
    master = joints.get(mimic.joint)
    if master is None:
        expected = f"the name of a joint in this file (or load with mimic=False){_meant(urdf, mimic.joint, joints)}"
        return "mimic-missing", f'joint="{mimic.joint}"', expected
    if name in chain or mimic.joint == name:
        return "mimic-loop", f'joint="{mimic.joint}", which follows "{name}" in turn', "a chain that ends at a free joint"
    if joints[name].type not in ONE_DOF or master.type not in (*ONE_DOF, "fixed"):
        return "mimic-type", f"{joints[name].type} follows {master.type}", "joints of one degree of freedom"
    return None


def _merge(urdf: Urdf, root: str, children: dict[str, list[UrdfJoint]], base: str, dependencies: dict[str, Dependency]) -> Tree:
    tree = Tree(root)
    bodies = tree.bodies
    inertials = {link.name: link.inertial for link in urdf.links}
    start = UrdfJoint(ROOT_JOINT, base, "", root, axis=(0.0, 0.0, 1.0))
    free_root = Dependency(ROOT_JOINT if base != "fixed" else "")
    # (joint, what it follows, body of its parent link, pose of the parent link in that body), depth first
    stack: list[tuple[UrdfJoint, Dependency, int, Pose]] = [(start, free_root, WORLD, IDENTITY)]
    while stack:
        joint, dependency, body, pose = stack.pop()
        pose = compose(pose, joint.pose)
        if dependency.master:
            bodies.append(Body(joint, body, pose, dependency))
            body, pose = len(bodies) - 1, IDENTITY
        elif joint.type != "fixed":
            pose = compose(pose, _displaced(joint, dependency.offset))
        link = joint.child
        tree.frames[link] = (body, pose)
        inertial = inertials[link]
        flexible = urdf.flexible.get(link)
        if flexible is not None:
            _add_beam(tree, flexible, body, pose)
            at_tip: list[UrdfJoint] = []
            at_root: list[UrdfJoint] = []
            for child in children[link]:
                (at_tip if flexible.holds_at_tip(child.pose[1]) else at_root).append(child)
            # The tip's joints come first, so that the bodies it carries stay contiguous.
            stack += [(child, dependencies[child.name], body, pose) for child in reversed(at_root)]
            back = tuple(-flexible.length * x for x in flexible.direction)
            from_tip = compose((pose[0], ZERO3), (EYE3, back))  # type: ignore[arg-type]
            stack += [(child, dependencies[child.name], len(bodies) - 1, from_tip) for child in reversed(at_tip)]
            continue
        if inertial is not None:
            inertial = moved(pose, inertial)
            if body == WORLD:
                tree.world_inertia = joined(tree.world_inertia, inertial)
            else:
                bodies[body].inertia = joined(bodies[body].inertia, inertial)
        for child in reversed(children[link]):
            stack.append((child, dependencies[child.name], body, pose))
    return tree


def _add_beam(tree: Tree, flexible: Specification, body: int, pose: Pose) -> None:
    """The beam of a link at ``pose`` in a body, and its tip as a body of its own, with the body's axes."""
    from urdf_gibbs.flexible.build import make_beam

    turn, root = np.reshape(pose[0], (3, 3)), np.array(pose[1])
    beam = make_beam(flexible, root, turn @ flexible.frame)
    x, y, z = (root + beam.length * beam.axis).tolist()
    joint = UrdfJoint(f"{flexible.link}.elastic", "elastic", flexible.link, f"{flexible.link}.tip", line=flexible.line)
    tree.bodies.append(Body(joint, body, (EYE3, (x, y, z)), Dependency(joint.name), beam=beam))
    tree.frames[joint.child] = (len(tree.bodies) - 1, (pose[0], ZERO3))


def _displaced(joint: UrdfJoint, position: float) -> Pose:
    """The motion of a one-DOF joint that is held at ``position``."""
    if joint.type == "prismatic":
        x, y, z = joint.axis
        return EYE3, (x * position, y * position, z * position)
    return rotation_about(joint.axis, position), ZERO3
