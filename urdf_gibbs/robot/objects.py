"""Reads loaded urchin and urdfpy objects: one duck-typed adapter for both, which share their API."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.arguments import shown
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.inertias import report_inertias
from urdf_gibbs.robot.plausible import Doubt, check_limits, checked_axis, inertia_doubt
from urdf_gibbs.robot.spatial import IDENTITY, Inertia, Pose, multiply, transpose
from urdf_gibbs.robot.urdf import (
    JOINT_TYPES,
    WITH_AXIS,
    Geometry,
    Link,
    Mimic,
    Shape,
    Urdf,
    UrdfJoint,
)


def read_object(source: Any) -> Urdf:
    """Links and joints of a loaded ``urchin.URDF`` or ``urdfpy.URDF``."""
    if not (hasattr(source, "links") and hasattr(source, "joints") and hasattr(source, "name")):
        found = f"source={shown(source)}, cannot load a {type(source).__name__}"
        raise ArgumentError(f"{found}, expected a path, XML text, or a loaded urchin or urdfpy object")
    findings = Findings(f"<{type(source).__module__.split('.')[0]} object {source.name}>")
    urdf = Urdf(source.name or "", findings.file, findings)
    urdf.links = [_link(link, findings, urdf.doubts) for link in source.links]
    urdf.joints = [_joint(joint, findings) for joint in source.joints if _known(joint, findings)]
    report_inertias(urdf, urdf.doubts)
    return urdf


def _known(joint: Any, findings: Findings) -> bool:
    if joint.joint_type in JOINT_TYPES:
        return True
    findings.error("joint-type", 0, f'joint "{joint.name}"', f'type="{joint.joint_type}"', " or ".join(JOINT_TYPES))
    return False


def _pose(matrix: Any) -> Pose:
    if matrix is None:
        return IDENTITY
    array = np.asarray(matrix, dtype=float)
    return tuple(array[:3, :3].ravel().tolist()), tuple(array[:3, 3].tolist())


def _link(link: Any, findings: Findings, doubts: list[Doubt]) -> Link:
    what = f'link "{link.name}"'
    inertial = None
    if link.inertial is not None:
        mass = float(link.inertial.mass)
        matrix = np.asarray(link.inertial.inertia, dtype=float)
        if not (np.isfinite(mass) and np.isfinite(matrix).all()):
            findings.error("bad-number", 0, f"{what} inertial", f"mass {mass}, inertia {matrix.ravel().tolist()}", "finite numbers")
        elif mass < 0.0:
            findings.error("negative-mass", 0, f"{what} mass", f"{mass:g}", "a mass of zero or more")
        else:
            if mass == 1.0 and np.array_equal(matrix, np.eye(3)):
                findings.warning(
                    "default-inertia",
                    0,
                    f"{what} inertial",
                    "1 kg and a unit inertia, which is what the library puts where the file has no <inertial>",
                    "the file's own inertia",
                )
            R, com = _pose(link.inertial.origin)
            inertia = multiply(multiply(R, tuple(matrix.ravel().tolist())), transpose(R))
            inertial = Inertia(mass, com, inertia)
            doubt = inertia_doubt(link.name, 0, inertial)
            if doubt is not None:
                doubts.append(doubt)
    return Link(link.name, inertial, _shapes(link.visuals), _shapes(link.collisions))


def _shapes(shapes: Any) -> tuple[Shape, ...]:
    result = []
    for shape in shapes or ():
        geometry, material = shape.geometry, getattr(shape, "material", None)
        if geometry.box is not None:
            solid = Geometry("box", tuple(map(float, geometry.box.size)))
        elif geometry.cylinder is not None:
            solid = Geometry("cylinder", (float(geometry.cylinder.radius), float(geometry.cylinder.length)))
        elif geometry.sphere is not None:
            solid = Geometry("sphere", (float(geometry.sphere.radius),))
        elif geometry.mesh is not None:
            scale = (1.0, 1.0, 1.0) if geometry.mesh.scale is None else tuple(map(float, geometry.mesh.scale))
            solid = Geometry("mesh", (), geometry.mesh.filename, scale)  # type: ignore[arg-type]
        else:
            continue
        colour = getattr(material, "color", None)
        rgba = None if colour is None else tuple(map(float, colour))
        result.append(Shape(solid, _pose(shape.origin), shape.name or "", getattr(material, "name", None) or "", rgba))
    return tuple(result)


def _joint(joint: Any, findings: Findings) -> UrdfJoint:
    what = f'joint "{joint.name}"'
    axis = (0.0, 0.0, 1.0)
    if joint.joint_type in WITH_AXIS:
        x, y, z = map(float, joint.axis)
        axis = checked_axis(findings, 0, what, (x, y, z))
    mimic = None
    if joint.mimic is not None and joint.joint_type == "fixed":
        findings.note("mimic-ignored", 0, f"{what} mimic", "a fixed joint that mimics", "a moving joint; the mimic is ignored")
    elif joint.mimic is not None:
        mimic = Mimic(joint.mimic.joint, float(joint.mimic.multiplier), float(joint.mimic.offset))
    bounds: dict[str, float] = {}
    if joint.limit is not None:
        limit = joint.limit
        bounds = {"effort": float(limit.effort), "velocity": float(limit.velocity)}
        if joint.joint_type in ("revolute", "prismatic"):
            lower, upper = (0.0 if x is None else float(x) for x in (limit.lower, limit.upper))
            check_limits(findings, 0, what, lower, upper)
            bounds |= {"lower": lower, "upper": upper}
    if joint.dynamics is not None:
        bounds |= {"damping": float(joint.dynamics.damping or 0.0), "friction": float(joint.dynamics.friction or 0.0)}
    return UrdfJoint(joint.name, joint.joint_type, joint.parent, joint.child, _pose(joint.origin), axis, mimic=mimic, line=0, **bounds)
