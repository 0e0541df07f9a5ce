"""Checks elastic links against the links and joints of their file: fills in what the element leaves open, reports contradictions."""

from __future__ import annotations

import math

import numpy as np

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.build import TABLE, Specification, make_beam
from urdf_gibbs.flexible.modes import TIP
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.flexible_attributes import Flexible
from urdf_gibbs.robot.urdf import Link, Urdf, UrdfJoint

MASS_SLACK = 1e-6  # relative: files have about six digits
ROD_SLACK = 0.05  # relative to the length and to a uniform rod's inertia: accepted deviation of a link's own <inertial>


def check_flexible(urdf: Urdf, elements: list[Flexible]) -> dict[str, Specification]:
    """Elastic links by name, with what the links and joints say filled in; those with errors are left out."""
    findings = urdf.findings
    links = {link.name: link for link in reversed(urdf.links)}
    result: dict[str, Specification] = {}
    taken = {f'link "{link.name}"': link.line for link in urdf.links} | {f'joint "{joint.name}"': joint.line for joint in urdf.joints}
    below: dict[str, list[UrdfJoint]] = {}
    for joint in urdf.joints:
        below.setdefault(joint.parent, []).append(joint)
    held = {joint.child for joint in urdf.joints}
    for one in elements:
        before = findings.mistakes
        for own in (f'link "{one.link}.tip"', f'joint "{one.link}.elastic"'):
            if own in taken:
                findings.error("duplicate", taken[own], own, "the name that an elastic link gives to its own", f"another name ({one.what})")
        link = links.get(one.link)
        if link is None:
            findings.error("unknown-link", one.line, one.what, f'link="{one.link}"', "the name of a link in this file")
            continue
        children = below.get(one.link, [])
        specification = _specification(one, link, children, findings)
        if specification is None:
            continue
        _check_places(specification, one, children, one.link in held, findings)
        _check_mass(specification, one, link, findings)
        _check_torsion(specification, one, children, findings)
        if findings.mistakes == before:
            try:
                make_beam(specification, np.zeros(3), specification.frame)
            except ArgumentError as problem:
                findings.error("flexible", one.line, one.what, str(problem), "a beam that can be computed")
                continue
            result[one.link] = specification
    return result


def _specification(one: Flexible, link: Link, children: list[UrdfJoint], findings: Findings) -> Specification | None:
    farthest = max((joint.pose[1] for joint in children), key=lambda place: math.hypot(*place), default=(0.0, 0.0, 0.0))
    reach = math.hypot(*farthest)
    length = one.numbers.get("length", reach)
    if length == 0.0:
        findings.error("missing", one.line, one.what, "no length, and no child joint away from the link's origin", 'length="..." [m]')
        return None
    for axis, tables in one.tables.items():
        for table in tables:
            if abs(table[-1, 0] - length) > 1e-6 * length:
                findings.error(
                    "table", one.line, one.what, f"a table of direction {axis} up to eta = {table[-1, 0]:g}", f"the length {length:g}"
                )
                return None
    density = one.numbers.get("mass_per_length")
    if density is None:
        if link.inertial is None or not link.inertial.mass > 0.0:
            findings.error("missing", one.line, one.what, "no mass_per_length, and no mass of the link", 'mass_per_length="..." [kg/m]')
            return None
        density = link.inertial.mass / length
    x, y, z = farthest
    direction = one.direction or ((x / reach, y / reach, z / reach) if reach > 1e-9 * length else (1.0, 0.0, 0.0))
    return Specification(
        link=one.link,
        length=length,
        mass_per_length=density,
        EI_y=one.numbers.get("EI_y"),
        EI_z=one.numbers.get("EI_z"),
        EA=one.numbers.get("EA"),
        GJ=one.numbers.get("GJ"),
        rotary=one.rotary,
        modes=one.modes,
        theory=one.theory,
        kGA=one.numbers.get("kGA"),
        damping=one.damping,
        foreshortening=one.foreshortening,
        elastic_rotary=one.elastic_rotary,
        direction=direction,
        tables=one.tables,
        line=one.line,
        file=findings.file,
    )


def _check_places(spec: Specification, one: Flexible, children: list[UrdfJoint], is_child: bool, findings: Findings) -> None:
    tip = " ".join(f"{spec.length * d:.9g}" for d in spec.direction)
    at_root = is_child
    for joint in children:
        place = joint.pose[1]
        if spec.holds_at_root(place):
            at_root = True
        elif not spec.holds_at_tip(place):
            findings.error(
                "not-at-tip",
                joint.line,
                f'joint "{joint.name}" on the elastic link "{spec.link}"',
                f"origin {' '.join(f'{x:.9g}' for x in place)}",
                f"the beam's root 0 0 0 or its tip {tip} (<flexible> at line {one.line})",
            )
    loose = [direction for direction, family, _ in spec.modes if family == "free-free"]
    if loose and at_root:
        findings.warning(
            "free-root",
            one.line,
            one.what,
            f"free-free modes ({', '.join(loose)}) on a link that a joint holds at its root",
            "a root that rests in the link's frame, such as clamped-free",
        )


def _check_mass(spec: Specification, one: Flexible, link: Link, findings: Findings) -> None:
    if link.inertial is not None and abs(link.inertial.mass - spec.mass) > MASS_SLACK * spec.mass:
        findings.warning(
            "beam-mass",
            one.line,
            one.what,
            f"mass_per_length times length {spec.mass:.9g} kg, <inertial> {link.inertial.mass:.9g} kg",
            "the same mass; the beam's is used",
        )
        return
    if link.inertial is None:
        return
    x, rest = np.array(spec.direction), spec.mass * spec.length**2 / 12.0
    rod = spec.frame @ np.diag(np.array([0.0, rest, rest]) + spec.length * np.array(spec.rotary or (0.0, 0.0, 0.0))) @ spec.frame.T
    given = np.reshape(link.inertial.inertia, (3, 3))
    com = float(np.linalg.norm(np.array(link.inertial.centre_of_mass) - 0.5 * spec.length * x)) / spec.length
    across = float(np.abs(given - rod).max()) / rest
    about, own = float(x @ given @ x), float(x @ rod @ x)  # about the beam's axis, where a slender beam has little
    if com > ROD_SLACK or across > ROD_SLACK or abs(about - own) > max(ROD_SLACK * max(about, own), 1e-4 * rest):
        middle = " ".join(f"{c:.6g}" for c in link.inertial.centre_of_mass)
        findings.warning(
            "beam-inertia",
            one.line,
            one.what,
            f"<inertial> at {middle}, with {about:.6g} kg m^2 about the beam's axis where the beam has {own:.6g}",
            "that of an even rod (with J for its axis); the beam's is used",
        )


def _check_torsion(spec: Specification, one: Flexible, children: list[UrdfJoint], findings: Findings) -> None:
    """Report torsion without inertia, which has no equation of motion."""
    for direction, family, count in spec.modes:
        if direction != "torsion" or (spec.elastic_rotary and spec.rotary is not None and spec.rotary[0] > 0.0):
            continue
        carries = any(spec.holds_at_tip(joint.pose[1]) for joint in children)
        if not (count == 1 and carries and family in (*TIP, TABLE)):
            findings.error(
                "no-inertia", one.line, one.what, "torsion that meets no inertia", 'J="..." with J\'x > 0 and elastic_rotary="true"'
            )
