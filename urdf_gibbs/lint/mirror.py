"""Left links and joints that are not the mirror images of the right ones.

Everything is compared at q = 0 in the frame of the root link, where the choice of the links' own frames does not matter. Places and
directions are compared in robots many of whose pairs stand as mirror images at q = 0, others are by masses, moments and limits alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.lint.sides import twins
from urdf_gibbs.lint.subject import Subject
from urdf_gibbs.robot.urdf import ONE_DOF, UrdfJoint

Array = NDArray[np.float64]
SAME_PLACE = 2e-3  # of the robot's reach
FEW = 3  # pairs: of fewer, one that differs does not stand out
ALIKE = 0.3  # of the pairs must be mirror images, or the plane between them is not known
OFTEN = 0.25  # of the pairs: what differs as often is how the file is made, and noted
MASS = 0.02
MOMENT = 0.2  # of the largest
TENSOR = 0.25
CENTRE, CENTRE_WARN = 0.02, 0.15  # of the size of the link is noted, and warned of,
CENTRE_FAR = 0.1  # where it is so much of the distance from the link's origin
LIMIT = 0.02  # rad or m
EFFORT = 0.02


@dataclass(frozen=True, slots=True)
class Difference:
    """What one of a pair, which is called by ``element``, has and what its twin lets expect."""

    code: str
    line: int
    element: str
    value: str
    expected: str
    same_part: bool = False  # the numbers are alike in the links' own frames: one part, mounted twice
    slight: bool = False


class Pairs:
    """The pairs of one robot, and the plane between them."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.pairs = [pair for pair in twins([name for name in subject.order]) if self._sensible(*pair)]
        self.twin = {**dict(self.pairs), **{b: a for a, b in self.pairs}}
        self.place_tolerance = SAME_PLACE * subject.reach
        self.mirror = self._plane()

    def _sensible(self, a: str, b: str) -> bool:
        """Whether two links hold anything to compare: mass, or a joint that moves."""
        subject = self.subject
        joints = [subject.above.get(one) for one in (a, b)]
        moving = any(joint is not None and joint.type != "fixed" for joint in joints)
        return moving or any(subject.inertial(one).mass > 0.0 for one in (a, b))

    def _plane(self) -> Array | None:
        """The reflection (3, 3) that takes the most links to their twins; None where none does. One leg of four may stand elsewhere."""
        best, most = None, max(FEW - 1, ALIKE * len(self.pairs))
        for axis in range(3):
            mirror = np.eye(3)
            mirror[axis, axis] = -1.0
            fitting = sum(self._gap(a, b, mirror) < self.place_tolerance for a, b in self.pairs)
            apart = sum(abs(self.subject.place(a)[axis]) > self.place_tolerance for a, _ in self.pairs)
            if min(fitting, 2 * apart) > most:
                best, most = mirror, fitting
        return best

    def _gap(self, a: str, b: str, mirror: Array) -> float:
        return float(np.linalg.norm(mirror @ self.subject.place(a) - self.subject.place(b)))

    def stand_alike(self, a: str, b: str) -> bool:
        """Whether b stands where the mirror shows a."""
        return self.mirror is not None and self._gap(a, b, self.mirror) < self.place_tolerance


def check_mirror(subject: Subject) -> None:
    """Compare each left link and joint with the right one."""
    pairs = Pairs(subject)
    differences: list[Difference] = []
    for a, b in pairs.pairs:
        differences += _bodies(pairs, a, b)
        if a in subject.above and b in subject.above:
            differences += _joints(pairs, a, b)
    for code in dict.fromkeys(one.code for one in differences):
        of_code = [one for one in differences if one.code == code]
        often = len(pairs.pairs) >= FEW and len(of_code) > max(1.0, OFTEN * len(pairs.pairs))
        mounted = sum(one.same_part for one in of_code) > 1
        for one in of_code:
            say = subject.findings.note if often or one.slight or (mounted and one.same_part) else subject.findings.warning
            say(one.code, one.line, one.element, one.value, one.expected)


def _bodies(pairs: Pairs, a: str, b: str) -> list[Difference]:
    subject = pairs.subject
    A, B = subject.inertial(a), subject.inertial(b)
    line = subject.links[a].inertial_line or subject.links[a].line

    def differs(code: str, part: str, value: str, expected: str, same: bool = False, slight: bool = False) -> list[Difference]:
        return [Difference(code, line, f'link "{a}" <{part}>', value, f'{expected} of its twin "{b}"', same, slight)]

    if not (subject.matters(a) or subject.matters(b)):
        return []
    if abs(A.mass - B.mass) > MASS * max(A.mass, B.mass):
        return differs("unlike-mass", "mass", f"{A.mass:.4g} kg", f"the {B.mass:.4g} kg")
    if A.mass == 0.0:
        return []
    found = []
    tensors = [np.reshape(one.inertia, (3, 3)) for one in (A, B)]
    if not all(np.isfinite(tensor).all() for tensor in tensors):
        return []
    moments = [np.linalg.eigvalsh(0.5 * (tensor + tensor.T)) for tensor in tensors]
    largest = max(float(np.abs(x).max()) for x in moments)
    if largest > 0.0 and float(np.abs(moments[0] - moments[1]).max()) > MOMENT * largest:
        shown = [", ".join(f"{x:.3g}" for x in one) for one in moments]
        found += differs("unlike-inertia", "inertia", f"principal moments {shown[0]}", f"the {shown[1]}")
    elif pairs.stand_alike(a, b) and largest > 0.0:
        assert pairs.mirror is not None
        turned = [subject.turn(one) for one in (a, b)]
        shown_ = [turn @ tensor @ turn.T for turn, tensor in zip(turned, tensors, strict=True)]
        if float(np.abs(pairs.mirror @ shown_[0] @ pairs.mirror - shown_[1]).max()) > TENSOR * largest:
            found += differs(
                "unlike-inertia", "inertia", "principal axes that point elsewhere", "the mirror image of those", _alike(*tensors)
            )
    if pairs.stand_alike(a, b):
        assert pairs.mirror is not None
        places = [subject.turn(one) @ np.array(inertial.centre_of_mass) for one, inertial in ((a, A), (b, B))]
        off = float(np.linalg.norm(pairs.mirror @ places[0] - places[1]))
        length = max(float(np.linalg.norm(x)) for x in places)
        hull = subject.hull(a)
        size = hull.size if hull is not None else subject.reach
        if off > max(CENTRE_FAR * length, CENTRE * size):
            same = _alike(np.array(A.centre_of_mass), np.array(B.centre_of_mass))
            value = f"a centre of mass {off:.3g} m off"
            found += differs("unlike-centre", "inertial", value, "the mirror image of that", same, off < CENTRE_WARN * size)
    return found


def _alike(one: Array, other: Array) -> bool:
    return bool(np.abs(one - other).max() <= 1e-3 * np.abs(one).max())


def _joints(pairs: Pairs, a: str, b: str) -> list[Difference]:
    subject = pairs.subject
    J, K = subject.above[a], subject.above[b]

    def differs(code: str, part: str, value: str, expected: str, same: bool = False) -> list[Difference]:
        element = f'joint "{J.name}"' + (f" <{part}>" if part else "")
        return [Difference(code, J.line, element, value, f'{expected} of its twin "{K.name}"', same)]

    if J.parent != K.parent and pairs.twin.get(J.parent, K.parent) != K.parent:
        return differs(
            "unlike-parent", "parent", f'link "{J.parent}"', f'"{pairs.twin[J.parent]}", or the twin of "{K.parent}", the parent'
        )
    if J.type != K.type:
        return differs("unlike-type", "", f'type="{J.type}"', f'the type "{K.type}"')
    if J.type == "fixed":
        return []
    found = []
    before = J.parent == K.parent or pairs.stand_alike(J.parent, K.parent)
    if pairs.mirror is not None and before:
        if not pairs.stand_alike(a, b):
            gap = pairs._gap(a, b, pairs.mirror)
            same = _alike(np.array(J.pose[1]), np.array(K.pose[1]))
            found += differs("unlike-origin", "origin", f"at q = 0 {gap:.3g} m off", "the mirror image of that", same)
        elif J.type in ONE_DOF:
            axes = [subject.turn(one) @ np.array(joint.axis) for one, joint in ((a, J), (b, K))]
            angle = math.degrees(math.acos(min(1.0, abs(float(pairs.mirror @ axes[0] @ axes[1])))))
            if angle > 5.0:
                found += differs("unlike-axis", "axis", f"an axis {angle:.0f} degrees off", "the mirror image of that")
    return found + _limits(J, K, differs)


def _limits(J: UrdfJoint, K: UrdfJoint, differs: object) -> list[Difference]:
    assert callable(differs)
    found: list[Difference] = []
    if J.mimic is not None or K.mimic is not None:
        return found
    if all(math.isfinite(x) for x in (J.lower, J.upper, K.lower, K.upper)):
        same = max(abs(J.lower - K.lower), abs(J.upper - K.upper)) < LIMIT
        opposite = max(abs(J.lower + K.upper), abs(J.upper + K.lower)) < LIMIT
        if not (same or opposite):
            found += differs(
                "unlike-limits", "limit", f"{J.lower:.4g} to {J.upper:.4g}", f"the {K.lower:.4g} to {K.upper:.4g}, or its negative,"
            )
    for what, one, other in (("effort", J.effort, K.effort), ("velocity", J.velocity, K.velocity)):
        if one != other and abs(one - other) > EFFORT * max(abs(one), abs(other)):
            found += differs("unlike-limits", "limit", f"{what} {one:.4g}", f"the {other:.4g}")
    return found
