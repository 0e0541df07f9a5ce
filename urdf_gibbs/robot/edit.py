"""Changes of joint types and topology: the URDF's links and joints are edited as records and assembled again.

Nothing is read from a file, derived or compiled: the formulations take the new robot's constants as they are (WJ: the modelling is a
substitution of parameters). Machine code is made on demand, as for any robot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import finite, text
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.assemble import assemble
from urdf_gibbs.robot.findings import Finding, Findings
from urdf_gibbs.robot.load import BASES, EXTENSION
from urdf_gibbs.robot.meshes import inside, mesh_folders
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import Pose, Vec3, rotation_from_rpy
from urdf_gibbs.robot.tree import ROOT_JOINT, build
from urdf_gibbs.robot.urdf import BOUNDED, INFINITY, JOINT_TYPES, WITH_AXIS, Link, Shape, Urdf, UrdfJoint

UNITS = {"revolute": "rad", "continuous": "rad", "prismatic": "m"}  # of the coordinate, where there is one
NO_LIMITS: dict[str, Any] = {
    "lower": -INFINITY,
    "upper": INFINITY,
    "velocity": INFINITY,
    "effort": INFINITY,
    "damping": 0.0,
    "friction": 0.0,
}
ROTATION_SLACK = 1e-6  # of RᵀR: allowed error of a 4x4 matrix that was printed or multiplied


@dataclass(slots=True)
class Parts:
    """A robot in pieces: links and joints of the URDF, attributes of its <flexible> elements, and the findings so far."""

    links: list[Link]
    joints: list[UrdfJoint]
    flexible: list[dict[str, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def with_joint_type(robot: Robot, joint: str, kind: str, axis: ArrayLike | None) -> Robot:
    """See Robot.with_joint_type."""
    parts = parts_of(robot)
    place = next((i for i, own in enumerate(parts.joints) if own.name == joint), None)
    _check_kind(kind, axis)
    if place is None and joint == ROOT_JOINT:
        if kind not in BASES or axis is not None:
            raise ArgumentError(f"the base cannot be {kind!r} with axis={axis!r}, expected one of {', '.join(BASES)} without an axis")
        return _assembled(robot, parts, f"a {kind} base", base=kind)
    if place is None:
        elastic = any(own.name == joint and own.beam is not None for own in robot.joints)
        if elastic:
            raise ArgumentError(f'joint "{joint}" is an elastic link\'s own, expected a joint of the URDF')
        raise UnknownNameError("joint", joint, [own.name for own in parts.joints])
    old = parts.joints[place]
    if kind in WITH_AXIS and axis is None and old.type not in WITH_AXIS:
        raise ArgumentError(f'joint "{joint}" is {old.type} and has no axis, expected axis=(x, y, z) for a {kind} one')
    new = replace(old, type=kind, axis=old.axis if axis is None else _unit(axis), mimic=None if kind == "fixed" else old.mimic)
    if UNITS.get(old.type) is None or UNITS.get(old.type) != UNITS.get(kind):
        new = replace(new, **NO_LIMITS)
    elif kind not in BOUNDED:
        new = replace(new, lower=-INFINITY, upper=INFINITY)
    parts.joints[place] = new
    return _assembled(robot, parts, f'joint "{joint}" as a {kind} one')


def attach(robot: Robot, link: str, other: Robot, placement: Any, kind: str, axis: ArrayLike, name: str | None, prefix: str) -> Robot:
    """See Robot.attach."""
    if not isinstance(other, Robot):
        raise ArgumentError(f"{other!r} was given to attach, expected a Robot")
    if name is not None:
        text(name, "the name of the new joint, or None", "name")
    text(prefix, "the start of names", "prefix")
    _unit(axis)
    parts, added = parts_of(robot), parts_of(other)
    if all(own.name != link for own in parts.links):
        raise UnknownNameError("link", link, [own.name for own in parts.links])
    _check_kind(kind, axis if kind in WITH_AXIS else None)
    both_tied = all(any(joint.mimic is not None for joint in one.joints) for one in (parts, added))
    if both_tied and robot.mimic != other.mimic:
        raise ArgumentError(f"mimic joints follow in one robot and are free in the other (mimic={robot.mimic} and {other.mimic})")
    readable: list[str] = []
    if other.file != robot.file:
        added, readable = _with_found_meshes(added, other)
    added = _renamed(added, prefix)
    root = prefix + other.root_link
    held = UrdfJoint(name or f"{root}_joint", kind, link, root, _pose(placement), _unit(axis) if kind in WITH_AXIS else (1.0, 0.0, 0.0))
    joints = [held, *added.joints]
    _check_clashes(parts, [one.name for one in added.links], [joint.name for joint in joints])
    merged = Parts([*parts.links, *added.links], [*parts.joints, *joints], parts.flexible + added.flexible, parts.findings + added.findings)
    mimic = other.mimic if any(joint.mimic is not None for joint in added.joints) else robot.mimic
    folders = tuple(dict.fromkeys((*robot.package_dirs, *other.package_dirs, *readable)))
    given = {folder for one in (robot, other) for folder in one.package_dirs if folder not in one._searched_dirs}.union(readable)
    searched = tuple(folder for folder in folders if folder not in given)
    changed = replace(robot, mimic=mimic, package_dirs=folders, _searched_dirs=searched)
    return _assembled(changed, merged, f"{other.name or 'the robot'} attached to {link!r}")


def detach(robot: Robot, name: str, base: str) -> tuple[Robot, Robot]:
    """See Robot.detach."""
    if base not in BASES:
        raise ArgumentError(f"base={base!r}, expected one of {', '.join(BASES)}")
    parts = parts_of(robot)
    cut = _find_joint(robot, parts, name)
    below: dict[str, list[str]] = {}
    for joint in parts.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    gone, stack = set[str](), [cut.child]
    while stack:
        link = stack.pop()
        gone.add(link)
        stack += below.get(link, [])
    rest, removed = _part(parts, cut, gone, inside=False), _part(parts, cut, gone, inside=True)
    if robot.mimic:
        for part in (rest, removed):
            here = {joint.name for joint in part.joints}
            for joint in part.joints:
                if joint.mimic is not None and joint.mimic.joint not in here:
                    raise ArgumentError(
                        f'joint "{joint.name}" follows "{joint.mimic.joint}" across the cut at {name!r}, expected both on one side '
                        "(or a robot loaded with mimic=False)"
                    )
    what = f"the robot cut at {name!r}"
    return _assembled(robot, rest, what), _assembled(replace(robot, name=cut.child), removed, what, base=base)


# Apart and together ------------------------------------------------------------------------------------


def parts_of(robot: Robot) -> Parts:
    """The robot's links with their present inertias, and its joints with their present limits."""
    tips = {joint.child for joint in robot.joints if joint.beam is not None}
    moving = {joint.name: joint for joint in robot.joints if joint.child not in tips}
    joints = []
    for joint in robot._urdf_joints:
        own = moving.get(joint.name)  # a free root has no limits, whatever its name
        if own is not None and own.child == joint.child:
            joint = replace(joint, **{key: getattr(own, key) for key in NO_LIMITS})
        joints.append(joint)
    return Parts([link for link in robot.links if link.name not in tips], joints, _flexible(robot), list(robot.findings))


def _flexible(robot: Robot) -> list[dict[str, str]]:
    """Attributes of the <flexible> elements; length and direction are written out even where the file derives them from a child joint."""
    beams = {joint.beam.link: joint.beam for joint in robot.joints if joint.beam is not None}
    if not beams:
        return []
    from urdf_gibbs.robot.flexible import merged_elements

    root = xml.parse(robot.source, Findings(robot.file))
    assert root is not None  # the same text has been parsed before
    result = []
    for element in merged_elements(root, Findings(robot.file)):
        given = {key: value for key, value in element.attributes.items() if key != "override"}
        beam = beams[given["link"]]
        rotation = np.reshape(robot._frames[beam.link][1][0], (3, 3))
        direction = rotation.T @ beam.axis
        result.append({"length": repr(beam.length), "direction": " ".join(map(repr, direction.tolist())), **given})
    return result


def _assembled(robot: Robot, parts: Parts, what: str, base: Any = None) -> Robot:
    """The parts as a robot that has the name, file, folders and (unless given) base of ``robot``."""
    findings = Findings(robot.file)
    urdf = Urdf(robot.name, robot.file, findings, links=parts.links, joints=parts.joints, as_listed=robot._as_listed)
    source: str | None = None
    if parts.flexible:
        from urdf_gibbs.robot.flexible import check_flexible, read_flexible, with_elements
        from urdf_gibbs.robot.write import urdf_text

        source = with_elements(urdf_text(urdf), parts.flexible)
        root, holder = xml.Element("robot", {}, 0), xml.Element(EXTENSION, {}, 0)
        holder.children += [xml.Element("flexible", attributes, 0) for attributes in parts.flexible]
        root.children.append(holder)
        urdf.flexible = check_flexible(urdf, read_flexible(root, findings))
    base = base or robot.base
    tree = build(urdf, base, robot.mimic)
    if tree is None:
        listed = "; ".join(f"{error.element}: found {error.value}, expected {error.expected}" for error in findings.errors)
        raise ArgumentError(f"{what} is no robot: {listed}")
    findings.items = list(dict.fromkeys(parts.findings + findings.items))
    edited = assemble(urdf, tree, base, robot.package_dirs, source, robot.mimic)
    return replace(edited, _searched_dirs=robot._searched_dirs, _own_file=robot._own_file)


# Pieces ------------------------------------------------------------------------------------------------


def _find_joint(robot: Robot, parts: Parts, name: str) -> UrdfJoint:
    """The joint of that name, or the one above the link of that name."""
    matches = {joint.name: joint for joint in parts.joints if name in (joint.name, joint.child)}
    if name == robot.root_link and not matches:
        raise ArgumentError(f"{name!r} is the root link: nothing would be left, expected a link or joint below it")
    if not matches:
        raise UnknownNameError("link or joint", name, [*(link.name for link in parts.links), *(joint.name for joint in parts.joints)])
    if len(matches) > 1 or (name == robot.root_link):
        raise ArgumentError(f"{name!r} is a link and, elsewhere, a joint; expected the name of one of them")
    return next(iter(matches.values()))


def _part(parts: Parts, cut: UrdfJoint, gone: set[str], inside: bool) -> Parts:
    """What is among the links ``gone`` (inside) or not, without the joint at the cut."""
    links = [link for link in parts.links if (link.name in gone) is inside]
    joints = [joint for joint in parts.joints if joint is not cut and (joint.child in gone) is inside]
    flexible = [entry for entry in parts.flexible if (entry["link"] in gone) is inside]
    kept = {id(one) for one in (*links, *joints)}
    lost = tuple(f'link "{one.name}"' for one in parts.links if id(one) not in kept)
    lost += tuple(f'joint "{one.name}"' for one in parts.joints if id(one) not in kept)
    return Parts(links, joints, flexible, [finding for finding in parts.findings if not finding.element.startswith(lost)])


def _renamed(parts: Parts, prefix: str) -> Parts:
    if not prefix:
        return parts
    links = [replace(link, name=prefix + link.name) for link in parts.links]
    joints = [
        replace(
            joint,
            name=prefix + joint.name,
            parent=prefix + joint.parent,
            child=prefix + joint.child,
            mimic=joint.mimic and replace(joint.mimic, joint=prefix + joint.mimic.joint),
        )
        for joint in parts.joints
    ]
    return replace(parts, links=links, joints=joints, flexible=[{**entry, "link": prefix + entry["link"]} for entry in parts.flexible])


def _with_found_meshes(parts: Parts, robot: Robot) -> tuple[Parts, list[str]]:
    """Mesh names that do not depend on where the robot's file is, where the meshes are found, and the folders that hold these."""
    tables = [entry["link"] for entry in parts.flexible if "table" in entry]
    if tables:
        raise ArgumentError(f'the elastic link "{tables[0]}" has a table= beside {robot.file}, expected robots of one file, or none')
    meshes = mesh_folders(robot)
    readable: dict[str, None] = {}

    def resolved(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        result = []
        for shape in shapes:
            name = shape.geometry.filename
            path = meshes.find(name) if shape.geometry.kind == "mesh" else None
            if path is not None:
                readable.update({str(folder): None for folder in meshes.folders(name, path) if inside(path, [folder])})
            geometry = shape.geometry if path is None else replace(shape.geometry, filename=str(path.absolute()))
            result.append(replace(shape, geometry=geometry))
        return tuple(result)

    links = [replace(one, visuals=resolved(one.visuals), collisions=resolved(one.collisions)) for one in parts.links]
    return replace(parts, links=links), list(readable)


# Arguments ---------------------------------------------------------------------------------------------


def _check_kind(kind: str, axis: ArrayLike | None) -> None:
    if kind not in JOINT_TYPES:
        raise ArgumentError(f"joint type {kind!r}, expected one of {', '.join(JOINT_TYPES)}")
    if axis is not None and kind not in WITH_AXIS:
        raise ArgumentError(f"axis={axis!r} for a {kind} joint, expected none")


def _check_clashes(parts: Parts, links: Iterable[str], joints: Sequence[str]) -> None:
    taken_links, taken_joints = {link.name for link in parts.links}, {joint.name for joint in parts.joints}
    clashes = [f'link "{name}"' for name in links if name in taken_links] + [f'joint "{name}"' for name in joints if name in taken_joints]
    clashes += [f'joint "{name}" twice' for name in joints[:1] if name in joints[1:]]
    if ROOT_JOINT in joints:
        raise ArgumentError(f'joint "{ROOT_JOINT}" is what a free base is called, expected another name')
    if clashes:
        raise ArgumentError(f"names that both robots have: {', '.join(clashes)}; give prefix= (and name= for the new joint)")


def _unit(axis: ArrayLike) -> Vec3:
    values = finite(axis, (3,))
    norm = 0.0 if values is None else math.hypot(*values.tolist())
    if values is None or not 1e-9 <= norm < math.inf:
        raise ArgumentError(f"axis={axis!r}, expected three finite numbers that are not all zero")
    x, y, z = (values if norm == 1.0 else values / norm).tolist()
    return x, y, z


def _pose(placement: Any) -> Pose:
    """From 4x4 or (xyz, rpy)."""
    expected = "a 4x4 placement, or (xyz, rpy), three finite numbers each"
    angles, matrix = finite(placement, (2, 3)), finite(placement, (4, 4))
    if angles is not None:
        xyz, rpy = angles.tolist()
        return rotation_from_rpy(*rpy), tuple(xyz)
    if matrix is None:
        raise ArgumentError(f"placement={placement!r}, expected {expected}")
    R = matrix[:3, :3]
    off = float(np.abs(R.T @ R - np.eye(3)).max())
    if off > ROTATION_SLACK or np.linalg.det(R) < 0.0 or matrix[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ArgumentError(f"placement={placement!r} is no rigid motion (RᵀR off by {off:.3g}), expected {expected}")
    return tuple(R.ravel().tolist()), tuple(matrix[:3, 3].tolist())  # type: ignore[return-value]
