"""Serialises a robot: URDF text of what was read, and arrays of every number that enters the dynamics.

The text gives names and structure, the arrays give the numbers exactly: those of a robot changed by ``with_inertia``, and
rotations that roll, pitch and yaw do not give back exactly.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.assemble import assemble
from urdf_gibbs.robot.edit import parts_of
from urdf_gibbs.robot.findings import Finding, Findings
from urdf_gibbs.robot.load import AS_LISTED, EXTENSION, SIBLINGS, read_text
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import Inertia, Mat3, Pose
from urdf_gibbs.robot.tree import build
from urdf_gibbs.robot.urdf import ALWAYS, BOUNDED, FARTHEST, WITH_AXIS, Link, Shape, Urdf, UrdfJoint

# The numbers of a joint, in this order after its axis.
JOINT_NUMBERS = ("ratio", "offset", "lower", "upper", "velocity", "effort", "damping", "friction")
INERTIAL_ARRAYS = ("mass", "centre_of_mass", "inertia")


def pack(robot: Robot) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """(values for JSON, arrays) from which ``unpack`` makes the robot again; ArgumentError where it could not."""
    if not robot.source:
        raise ArgumentError(f"{robot!r} has no source text to be restored from, expected a robot made by load")
    text = robot.source.encode("utf-8", "surrogatepass") if isinstance(robot.source, str) else robot.source
    values = {
        "name": robot.name,
        "file": robot.file,
        "base": robot.base,
        "mimic": robot.mimic,
        "package_dirs": list(robot.package_dirs),
        "is_text": isinstance(robot.source, str),
        "joints": [[joint.name, joint.child, joint.master] for joint in robot.joints],
        "findings": [finding.as_dict() for finding in robot.findings],
        "fingerprint": robot.fingerprint,
    }
    joints = [(*joint.axis, *(getattr(joint, key) for key in JOINT_NUMBERS)) for joint in robot.joints]
    frames = [(*rotation, *translation) for _, (rotation, translation) in robot._frames.values()]
    arrays = {
        "source": np.frombuffer(text, dtype=np.uint8),
        "joints": np.reshape(np.array(joints, dtype=np.float64), (len(joints), 3 + len(JOINT_NUMBERS))),
        "placement": robot.placement,
        **{key: getattr(robot, key) for key in INERTIAL_ARRAYS},
        "links": np.array([_flat(link.inertial) for link in robot.links]),
        "base_inertia": np.array(_flat(robot.base_inertia)),
        "frames": np.array(frames),
    }
    unpack(values, arrays)
    return values, arrays


def unpack(values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Robot:
    """The robot of ``pack``, with the same fingerprint; without warnings."""
    text: str | bytes = arrays["source"].tobytes()
    if values["is_text"] and isinstance(text, bytes):
        text = text.decode("utf-8", "surrogatepass")
    urdf = read_text(text, values["file"])
    tree = build(urdf, values["base"], values["mimic"])
    if tree is None:
        raise ArgumentError(f"the robot's source cannot be read: {urdf.findings.errors[0]}")
    robot = assemble(urdf, tree, values["base"], tuple(values["package_dirs"]), text, values["mimic"])
    joints, links = arrays["joints"], arrays["links"]
    if [[joint.name, joint.child, joint.master] for joint in robot.joints] != values["joints"] or len(links) != len(robot.links):
        raise ArgumentError(f"the source of the robot {robot.name!r} has other joints or links than the robot: it was changed after load")
    frames = zip(robot._frames.items(), arrays["frames"].tolist(), strict=True)
    same_numbers: dict[str, Any] = {
        "joints": tuple(
            replace(joint, axis=tuple(row[:3]), **dict(zip(JOINT_NUMBERS, row[3:], strict=True)))
            for joint, row in zip(robot.joints, joints.tolist(), strict=True)
        ),
        "links": tuple(replace(link, inertial=_inertia(row)) for link, row in zip(robot.links, links.tolist(), strict=True)),
        "base_inertia": _inertia(arrays["base_inertia"].tolist()),
        "_frames": {link: (body, _same(pose, row)) for (link, (body, pose)), row in frames},
        **{key: _frozen(arrays[key]) for key in ("placement", *INERTIAL_ARRAYS)},
    }
    findings = tuple(Finding(**finding) for finding in values["findings"])
    robot = replace(robot, name=values["name"], findings=findings, **same_numbers)
    # Folders that a file names are not folders that the user gives (robot/meshes.py).
    robot = replace(robot, _searched_dirs=robot.package_dirs, _own_file=_is_content(values["file"], text))
    if robot.fingerprint != values["fingerprint"]:
        raise ArgumentError(f"the robot {robot.name!r} made from its source differs from the one saved: it was changed after load")
    return robot


def _is_content(file: str, text: str | bytes) -> bool:
    """Whether the file exists and contains this text: then it is the robot's own file."""
    if not os.path.isfile(file):
        return not os.path.exists(file)
    try:
        content = Path(file).read_bytes()
    except OSError:
        return False
    return content == (text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)


def _flat(body: Inertia | None) -> tuple[float, ...]:
    """Thirteen numbers; NaN where there is no inertia."""
    return (math.nan,) * 13 if body is None else (body.mass, *body.centre_of_mass, *body.inertia)


def _inertia(row: list[float]) -> Inertia | None:
    return None if math.isnan(row[0]) else Inertia(row[0], tuple(row[1:4]), tuple(row[4:]))  # type: ignore[arg-type]


def _same(pose: Pose, row: list[float]) -> Pose:
    """The pose of the row; the given one where that is equal, since sharing identity objects speeds up merging."""
    stored = tuple(row[:9]), tuple(row[9:])
    return pose if stored == pose else stored  # type: ignore[return-value]


def _frozen(array: NDArray[Any]) -> NDArray[np.float64]:
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy


# URDF text ----------------------------------------------------------------------------------------


def urdf_text(urdf: Urdf) -> str:
    """The links and joints as URDF text; numbers with all their digits, infinite limits left out."""
    order = [f'  <{EXTENSION} {SIBLINGS}="{AS_LISTED}"/>\n'] if urdf.as_listed else []
    parts = [*order, *(_link(link) for link in urdf.links), *(_joint(joint) for joint in urdf.joints)]
    return f'<?xml version="1.0"?>\n<robot name={quoteattr(urdf.name)}>\n{"".join(parts)}</robot>\n'


def to_urdf(robot: Robot, folder: str = "") -> str:
    """See Robot.to_urdf; meshes with names relative to the robot's file are named by full paths unless that is in ``folder``."""
    parts = parts_of(robot)
    own = os.path.dirname(os.path.abspath(robot.file)) if os.path.isfile(robot.file) else ""
    if own and folder and os.path.abspath(folder) != own:
        parts.links = [_elsewhere(link, own) for link in parts.links]
    joints = [replace(joint, mimic=None) if joint.mimic is not None and not _follows(robot, joint) else joint for joint in parts.joints]
    text = urdf_text(Urdf(robot.name, robot.file, Findings(robot.file), links=parts.links, joints=joints, as_listed=robot._as_listed))
    if not parts.flexible:
        return text
    from urdf_gibbs.robot.flexible import with_elements

    return with_elements(text, parts.flexible)


def _follows(robot: Robot, joint: UrdfJoint) -> bool:
    """Whether a mimic joint is tied in the robot: loaded with mimic=False it is a joint like others."""
    return robot.mimic or (joint.mimic is not None and joint.mimic.always)


def _elsewhere(link: Link, folder: str) -> Link:
    """A link whose meshes and pictures are found from any folder."""

    def found(name: str) -> str:
        path = os.path.join(folder, name)
        return name if not name or "://" in name or not os.path.isfile(path) else path

    def moved(shape: Shape) -> Shape:
        filename = found(shape.geometry.filename) if shape.geometry.kind == "mesh" else shape.geometry.filename
        return replace(shape, geometry=replace(shape.geometry, filename=filename), texture=found(shape.texture))

    return replace(link, visuals=tuple(map(moved, link.visuals)), collisions=tuple(map(moved, link.collisions)))


def _link(link: Link) -> str:
    parts = []
    if link.inertial is not None:
        mass, com, inertia = link.inertial
        entries = _attributes(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (inertia[i] for i in (0, 1, 2, 4, 5, 8)), strict=True))
        parts.append(f'<inertial><origin xyz="{_numbers(com)}"/><mass value="{mass!r}"/><inertia{entries}/></inertial>')
    parts += [_shape(shape, "visual") for shape in link.visuals if shape.geometry.kind != "unread"]
    parts += [_shape(shape, "collision") for shape in link.collisions if shape.geometry.kind != "unread"]
    return f"  <link name={quoteattr(link.name)}>{''.join(parts)}</link>\n"


def _shape(shape: Shape, tag: str) -> str:
    solid = shape.geometry
    if solid.kind == "mesh":
        inner = f'filename={quoteattr(solid.filename)} scale="{_numbers(solid.scale)}"'
    elif solid.kind == "box":
        inner = f'size="{_numbers(solid.size)}"'
    else:
        inner = _attributes(zip(("radius", "length"), solid.size, strict=False)).strip()
    name = f" name={quoteattr(shape.name)}" if shape.name else ""
    material = ""
    if shape.material or shape.rgba or shape.texture:
        colour = f'<color rgba="{_numbers(shape.rgba)}"/>' if shape.rgba else ""
        texture = f"<texture filename={quoteattr(shape.texture)}/>" if shape.texture else ""
        material = f"<material name={quoteattr(shape.material)}>{colour}{texture}</material>"
    return f"<{tag}{name}>{_origin(shape.pose)}<geometry><{solid.kind} {inner}/></geometry>{material}</{tag}>"


def _joint(joint: UrdfJoint) -> str:
    head = f'name={quoteattr(joint.name)} type="{joint.type}"'
    ends = f"<parent link={quoteattr(joint.parent)}/><child link={quoteattr(joint.child)}/>"
    axis = f'<axis xyz="{_numbers(joint.axis)}"/>' if joint.type in WITH_AXIS else ""
    numbers = {key: getattr(joint, key) for key in ("lower", "upper", "effort", "velocity")}
    if joint.type in BOUNDED and any(map(math.isfinite, numbers.values())):  # a missing lower or upper would be read as 0
        numbers |= {"lower": max(joint.lower, -FARTHEST), "upper": min(joint.upper, FARTHEST)}
    limit = _attributes(numbers.items())
    dynamics = _attributes((key, getattr(joint, key)) for key in ("damping", "friction"))
    follows = ""
    if joint.mimic is not None:
        tie = _attributes((key, getattr(joint.mimic, key)) for key in ("multiplier", "offset"))
        always = f' {ALWAYS}="true"' if joint.mimic.always else ""
        follows = f"<mimic joint={quoteattr(joint.mimic.joint)}{tie}{always}/>"
    bounds = f"<limit{limit}/>" if limit else ""
    return f"  <joint {head}>{ends}{_origin(joint.pose)}{axis}{bounds}<dynamics{dynamics}/>{follows}</joint>\n"


def _origin(pose: Pose) -> str:
    rotation, translation = pose
    return f'<origin xyz="{_numbers(translation)}" rpy="{_numbers(rpy_from_rotation(rotation))}"/>'


def rpy_from_rotation(R: Mat3) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] of Rz(yaw) Ry(pitch) Rx(roll); roll is taken after yaw, so that a pitch of 90 degrees costs nothing."""
    yaw = math.atan2(R[3], R[0])
    c, s = math.cos(yaw), math.sin(yaw)
    return math.atan2(s * R[2] - c * R[5], c * R[4] - s * R[1]), math.atan2(-R[6], c * R[0] + s * R[3]), yaw


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)


def _attributes(pairs: Iterable[tuple[str, float]]) -> str:
    return "".join(f' {key}="{float(value)!r}"' for key, value in pairs if math.isfinite(value))
