"""Limits, friction and places of joints that few robots have, and what degrees, millimetres or a forgotten number make of them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.lint.bodies import direction
from urdf_gibbs.lint.subject import Subject
from urdf_gibbs.robot.urdf import BOUNDED, ONE_DOF, UrdfJoint

Array = NDArray[np.float64]
TURNS = 2.0 * 2.0 * math.pi + 0.1  # rad: two turns either way
FAST = 100.0  # rad/s or m/s
FASTEST = 1e5
UNBOUNDED = 1e6  # rad or m: a limit that means none,
ROUND = (100.0, 1e3, 1e4, 1e5, 1e6)  # as these do on both sides
STRONGEST = 1e5  # N m or N
FAR = 20.0  # times the usual distance of a joint from its parent,
FAR_LEAST = 3.0  # m
SAME_AXIS = 5  # revolute joints about one axis of their frames, all but one: that one stands out,
TURNED, TURNED_PART = 0.01, 0.5  # rad: where the frames of so many were turned to make it so
TOO_FAST = 20.0  # times the usual velocity limit: degrees per second are 57
MEETS = 0.1  # of the shorter of two ranges: a mimic joint that leaves its own limits
RAIL = 2.0  # times the robot's reach: what a prismatic joint that is carried by others does not go
GAP = 0.5  # of the smaller of two neighbours


def check_joints(subject: Subject) -> None:
    """Each joint by itself, and beside the others."""
    moving = [joint for joint in subject.urdf.joints if joint.type != "fixed"]
    motors = [joint for joint in moving if joint.mimic is None]
    none = len(motors) > 1 and all(joint.effort == 0.0 or joint.velocity == 0.0 for joint in motors)
    usual = _usual_velocities(motors)
    swung = _swung(subject)
    for joint in moving:
        if joint.mimic is None:
            _motor(subject, joint, none)
        _velocity(subject, joint, usual.get(joint.type, math.inf))
        _limits(subject, joint, RAIL * subject.reach if joint.parent in swung else max(10.0, 10.0 * subject.reach))
        _friction(subject, joint)
        _mimic(subject, joint)
    _distances(subject)
    _axes(subject)
    _gaps(subject)


def _usual_velocities(motors: list[UrdfJoint]) -> dict[str, float]:
    """The median of the velocity limits of each type of joint that a robot has three of."""
    given: dict[str, list[float]] = {}
    for joint in motors:
        given.setdefault(joint.type, []).append(joint.velocity)
    return {kind: float(np.median(velocities)) for kind, velocities in given.items() if len(velocities) > 2}


def _swung(subject: Subject) -> set[str]:
    """The links that a turning joint moves: what slides on them is no rail of the whole robot."""
    swung: set[str] = set()
    for name in subject.order:
        joint = subject.above.get(name)
        if joint is not None and (joint.type in ("revolute", "continuous") or joint.parent in swung):
            swung.add(name)
    return swung


def _motor(subject: Subject, joint: UrdfJoint, none: bool) -> None:
    """Effort and velocity of zero or less. none: all joints have them, so that the file tells of no motor."""
    findings, what = subject.findings, f'joint "{joint.name}" <limit>'
    units = ("N", "m/s") if joint.type == "prismatic" else ("N m", "rad/s")
    for name, value, unit in zip(("effort", "velocity"), (joint.effort, joint.velocity), units, strict=True):
        if value == 0.0:
            expected = f"what the motor can do, in {unit}: with zero a controller does nothing"
            (findings.note if none else findings.warning)("zero-limit", joint.line, what, f'{name}="0"', expected)
        elif value < 0.0:
            findings.warning("negative-limit", joint.line, what, f'{name}="{value:g}"', f"a positive number of {unit}")


def _velocity(subject: Subject, joint: UrdfJoint, usual: float) -> None:
    """``usual``: the velocity limit of most motors of its kind."""
    if not FAST < joint.velocity < math.inf:
        return
    unit = "m" if joint.type == "prismatic" else "rad"
    degrees = unit == "rad" and math.radians(joint.velocity) < 30.0
    alone = 0.0 < usual < joint.velocity / TOO_FAST
    expected = f"about {usual:.3g}, as the others" if alone else f"below {FAST:g}"
    hint = f"; is it in degrees, {math.radians(joint.velocity):.3g} rad/s?" if degrees else ""
    say = subject.findings.warning if alone or joint.velocity > FASTEST else subject.findings.note
    value = f"velocity {joint.velocity:g} {unit}/s"
    say("large-limit", joint.line, f'joint "{joint.name}" <limit>', value, f"{expected}{hint}; leave out what is not known")


def _mimic(subject: Subject, joint: UrdfJoint) -> None:
    """Where it goes as the joint that it follows goes through its range, beside its own limits."""
    master = None if joint.mimic is None else subject.joints.get(joint.mimic.joint)
    if master is None or joint.mimic is None or not all(one.type in BOUNDED and one.lower < one.upper for one in (joint, master)):
        return
    low, high = sorted(joint.mimic.multiplier * x + joint.mimic.offset for x in (master.lower, master.upper))
    if not all(map(math.isfinite, (low, high, joint.lower, joint.upper))):
        return
    common = min(high, joint.upper) - max(low, joint.lower)
    if common < MEETS * min(high - low, joint.upper - joint.lower):
        value = f'{low:.4g} to {high:.4g} as "{master.name}" goes from {master.lower:.4g} to {master.upper:.4g}'
        expected = (
            f"within its own limits, {joint.lower:.4g} to {joint.upper:.4g}: has the multiplier, {joint.mimic.multiplier:g}, a wrong sign?"
        )
        subject.findings.warning("mimic-range", joint.mimic.line, f'joint "{joint.name}" <mimic>', value, expected)


def _limits(subject: Subject, joint: UrdfJoint, longest: float) -> None:
    """``longest``: what a joint of this place may slide [m]."""
    findings, what = subject.findings, f'joint "{joint.name}" <limit>'
    line = joint.line
    unit = "m" if joint.type == "prismatic" else "rad"
    if STRONGEST < joint.effort < math.inf:
        findings.note("large-limit", line, what, f"effort {joint.effort:g}", f"below {STRONGEST:g}; leave out what is not known")
    if joint.type not in BOUNDED:
        return
    ends = [x for x in (joint.lower, joint.upper) if math.isfinite(x)]
    largest = max((abs(x) for x in ends), default=0.0)
    if len(ends) == 2 and joint.lower == joint.upper and joint.mimic is None:
        findings.note("no-range", line, what, f"lower and upper {joint.lower:g}", "a range, or a fixed joint")
    if largest > UNBOUNDED or (joint.lower == -joint.upper and largest in ROUND):
        expected = "a continuous joint, where there is no limit" if unit == "rad" else "how far it can go"
        findings.note("limit-range", line, what, f"{joint.lower:g} to {joint.upper:g} {unit}", expected)
    elif joint.type == "revolute" and largest > TURNS:
        degrees = (
            f"; as degrees {math.radians(joint.lower):.3g} to {math.radians(joint.upper):.3g} rad"
            if len(ends) == 2 and largest < 4000.0
            else ""
        )
        expected = f"at most two turns, 12.6 rad, or a continuous joint{degrees}"
        findings.warning("limit-range", line, what, f"{joint.lower:g} to {joint.upper:g} rad", expected)
    elif joint.type == "prismatic" and largest > longest:
        expected = f"metres, of a robot that is {subject.reach:.3g} m long: are they angles, or mm?"
        findings.warning("limit-range", line, what, f"{joint.lower:g} to {joint.upper:g} m", expected)


def _friction(subject: Subject, joint: UrdfJoint) -> None:
    for name, value in (("damping", joint.damping), ("friction", joint.friction)):
        if value < 0.0:
            element = f'joint "{joint.name}" <dynamics>'
            subject.findings.warning(
                "negative-damping", joint.line, element, f'{name}="{value:g}"', "zero or more: a negative one makes energy"
            )


def _distances(subject: Subject) -> None:
    lengths = {joint.name: float(np.linalg.norm(joint.pose[1])) for joint in subject.urdf.joints}
    others = sorted(length for length in lengths.values() if length > 0.0)
    for joint in subject.urdf.joints:
        length = lengths[joint.name]
        if length <= FAR_LEAST or len(others) < 3:
            continue
        usual = others[(len(others) - 1) // 2]
        if length > FAR * usual:
            what = f'joint "{joint.name}" <origin>'
            hint = "; in mm it would fit" if length * 1e-3 < FAR * usual else ""
            subject.findings.warning(
                "far-joint", joint.line, what, f"{length:.4g} m from its parent link", f"about {usual:.2g} m, as the others{hint}"
            )
    if len(others) >= 3 and others[len(others) // 2] > 10.0:
        usual = others[len(others) // 2]
        subject.findings.warning("far-joint", 1, "<robot>", f"joints {usual:.4g} m apart", "lengths in m; in mm they would fit a robot's")


def _axes(subject: Subject) -> None:
    """A robot whose frames are turned so that all joints are about z but one: DH parameters with a slip."""
    turning = [joint for joint in subject.urdf.joints if joint.type in ("revolute", "continuous") and joint.mimic is None]
    lines = {joint.name: _line(joint) for joint in turning}
    common, count = Counter(lines.values()).most_common(1)[0] if turning else ("", 0)
    turned = sum(float(np.trace(np.reshape(joint.pose[0], (3, 3)))) < 1.0 + 2.0 * math.cos(TURNED) for joint in turning)
    if count >= SAME_AXIS and count == len(turning) - 1 and turned >= TURNED_PART * len(turning):
        odd = next(joint for joint in turning if lines[joint.name] != common)
        value = f"an axis along {direction(np.array(odd.axis))} of its frame"
        subject.findings.warning(
            "odd-axis", odd.line, f'joint "{odd.name}" <axis>', value, f"{common}, as of all {count} other joints that turn"
        )


def _line(joint: UrdfJoint) -> str:
    return direction(np.array(joint.axis))


def _gaps(subject: Subject) -> None:
    """Neighbours whose shapes stand apart at q = 0: an origin with a wrong number, or a shape that stands elsewhere."""
    boxes = {body: _box(subject, body) for body in subject.members}
    for joint in subject.urdf.joints:
        if joint.type not in ONE_DOF or joint.parent not in subject.poses:
            continue
        one, other = boxes[subject.body[joint.parent]], boxes[subject.body[joint.child]]
        if one is None or other is None:
            continue
        gap = float(np.linalg.norm(np.maximum(0.0, np.maximum(one[0] - other[1], other[0] - one[1]))))
        size = min(float(np.ptp(box, axis=0).max()) for box in (one, other))
        if gap > GAP * size and gap > 0.01 * subject.reach:
            value = f"the shapes of its two links {gap:.3g} m apart at q = 0"
            subject.findings.warning(
                "gap", joint.line, f'joint "{joint.name}" <origin>', value, "links that meet at their joint: is a sign wrong?"
            )


def _box(subject: Subject, body: str) -> Array | None:
    """The box (2, 3) in the root's axes about all shapes fixed to each other; None where there are none, or one cannot be read."""
    boxes = []
    for name in subject.members[body]:
        hull = subject.shapes.of(subject.links[name])
        if hull is None and not subject.is_bare(name):
            return None
        if hull is not None:
            boxes.append(hull.box_at(subject.poses[name]))
    if not boxes:
        return None
    return np.stack([np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)])
