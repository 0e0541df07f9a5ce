"""Left links and joints that are not the mirror images of the right ones.

Everything is compared at q = 0 in the frame of the root link, where the choice of the links' own frames does not matter. Places and
directions are compared in robots many of whose pairs stand as mirror images at q = 0, others are by masses, moments and limits alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.lint.sides import behind, twins
from urdf_gibbs.lint.subject import Subject
from urdf_gibbs.robot.urdf import ONE_DOF, UrdfJoint

Array = NDArray[np.float64]
SAME_PLACE = 2e-3  # of the robot's reach
FEW = 3  # pairs: of fewer, one that differs does not stand out
ALIKE = 0.3  # of the pairs must be mirror images, or the plane between them is not known
OFTEN = 0.25  # of the pairs: what differs as often is how the file is made, and noted
MASS, MASS_WARN = 0.02, 0.08
MOMENT = 0.2  # of the largest
TENSOR = 0.25
PRODUCT, PRODUCT_SAME = 0.01, 0.02  # of the largest; of itself: a product of inertia with the wrong sign alone
CENTRE, CENTRE_WARN = 0.02, 0.15  # of the size of the link is noted, and warned of,
CENTRE_FAR = 0.1  # where it is so much of the distance from the link's origin
ORIGIN_WARN, SIGN = 0.1, 0.01  # of the length of a joint's origin is warned of; of twice a coordinate: a wrong sign
AXIS, AXIS_WARN = 5.0, 10.0  # degrees
SHAPE, SHAPE_WARN = 1.2, 1.5  # times as long
PLACED = {"unlike-origin", "unlike-axis", "unlike-centre", "unlike-inertia"}  # what a joint above that differs changes
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
        self.off: set[str] = set()  # links below joints that differ
        self.way: dict[
            tuple[str, str], int
        ] = {}  # 1: equal angles are mirror images, -1: opposite ones; of joints whose limits do not tell
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
    """Compare each left link and joint with the right one; what differs only because a joint above does is noted."""
    pairs = Pairs(subject)
    differences: list[Difference] = []
    for a, b in pairs.pairs:  # from the root on
        above = [subject.above[one] for one in (a, b) if one in subject.above]
        of_joints = _joints(pairs, a, b) if len(above) == 2 else []
        if any(joint.parent in pairs.off for joint in above):
            of_joints = [replace(one, slight=one.slight or one.code in PLACED) for one in of_joints]
            pairs.off |= {a, b}
        if any(one.code in PLACED and not one.slight for one in of_joints):
            pairs.off |= {a, b}
        of_bodies = [replace(one, slight=one.slight or bool(one.code in PLACED and {a, b} & pairs.off)) for one in _bodies(pairs, a, b)]
        differences += of_bodies + of_joints
    differences += _legs(pairs)
    for code in dict.fromkeys(one.code for one in differences):
        of_code = [one for one in differences if one.code == code]
        often = len(pairs.pairs) >= FEW and len(of_code) > max(1.0, OFTEN * len(pairs.pairs))
        mounted = sum(one.same_part for one in of_code) > 1
        for one in of_code:
            say = subject.findings.note if often or one.slight or (mounted and one.same_part) else subject.findings.warning
            say(one.code, one.line, one.element, one.value, one.expected)


def _legs(pairs: Pairs) -> list[Difference]:
    """Four legs whose joints turn the same way in front as behind, or the opposite way, or one pair each: one leg alone is odd."""
    found = []
    for (a, b), way in pairs.way.items():
        c, d = behind(a, pairs.subject.links), behind(b, pairs.subject.links)
        other = pairs.way.get((c or "", d or ""), pairs.way.get((d or "", c or "")))
        if other is not None and other != way:
            J, *others = (pairs.subject.above[str(one)].name for one in (a, b, c, d))
            ways = ("equal", "opposite") if way > 0 else ("opposite", "equal")
            value = f'mirrors "{others[0]}" at {ways[0]} angles'
            expected = f'{ways[1]} angles, as "{others[1]}" and "{others[2]}": one of the four axes has a wrong sign'
            found.append(Difference("unlike-axis", pairs.subject.above[a].line, f'joint "{J}" <axis>', value, expected))
    return found


def _bodies(pairs: Pairs, a: str, b: str) -> list[Difference]:
    subject = pairs.subject
    A, B = subject.inertial(a), subject.inertial(b)
    line = subject.links[a].inertial_line or subject.links[a].line

    def differs(code: str, part: str, value: str, expected: str, same: bool = False, slight: bool = False) -> list[Difference]:
        return [Difference(code, line, f'link "{a}" <{part}>', value, f'{expected} of its twin "{b}"', same, slight)]

    found = _shapes(subject, a, b)
    if not (subject.matters(a) or subject.matters(b)):
        return found
    if abs(A.mass - B.mass) > MASS * max(A.mass, B.mass):
        slight = abs(A.mass - B.mass) < MASS_WARN * max(A.mass, B.mass)
        return found + differs("unlike-mass", "mass", f"{A.mass:.4g} kg", f"the {B.mass:.4g} kg", slight=slight)
    if A.mass == 0.0:
        return found
    tensors = [np.reshape(one.inertia, (3, 3)) for one in (A, B)]
    if not all(np.isfinite(tensor).all() for tensor in tensors):
        return found
    moments = [np.linalg.eigvalsh(0.5 * (tensor + tensor.T)) for tensor in tensors]
    largest = max(float(np.abs(x).max()) for x in moments)
    if largest > 0.0 and float(np.abs(moments[0] - moments[1]).max()) > MOMENT * largest:
        shown = [", ".join(f"{x:.3g}" for x in one) for one in moments]
        found += differs("unlike-inertia", "inertia", f"principal moments {shown[0]}", f"the {shown[1]}")
    elif pairs.stand_alike(a, b) and largest > 0.0:
        assert pairs.mirror is not None
        turned = [subject.turn(one) for one in (a, b)]
        one, other = (turn @ tensor @ turn.T for turn, tensor in zip(turned, tensors, strict=True))
        one = pairs.mirror @ one @ pairs.mirror
        same = _alike(*tensors)
        if float(np.abs(one - other).max()) > TENSOR * largest:
            found += differs("unlike-inertia", "inertia", "principal axes that point elsewhere", "the mirror image of those", same)
        elif _is_flipped(one, other, largest):
            found += differs("unlike-inertia", "inertia", "a product of inertia of the other sign", "the mirror image of that", same)
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


def _shapes(subject: Subject, a: str, b: str) -> list[Difference]:
    """Visuals of twins by their longest axes, however they lie."""
    hulls = [subject.shapes.of(subject.links[one], ("visuals",)) for one in (a, b)]
    lengths = [math.sqrt(20.0 * float(np.linalg.eigvalsh(hull.spread).max())) for hull in hulls if hull is not None]
    if len(lengths) < 2 or max(lengths) <= SHAPE * min(lengths):
        return []
    line = subject.links[a].visuals[0].line
    value, expected = (f"a shape about {length:.2g} m long" for length in lengths)
    slight = max(lengths) < SHAPE_WARN * min(lengths)
    return [Difference("unlike-shape", line, f'link "{a}" <visual>', value, f'{expected}, as its twin "{b}"', slight=slight)]


def _is_flipped(one: Array, other: Array, largest: float) -> bool:
    """Whether two tensors differ in nothing but the sign of a product of inertia."""
    differ = np.abs(one - other) > PRODUCT * largest
    flipped = np.abs(one + other) <= PRODUCT_SAME * np.abs(one)
    return bool(differ.any() and flipped[differ].all() and not np.diag(differ).any())


def _alike(one: Array, other: Array) -> bool:
    return bool(np.abs(one - other).max() <= 1e-3 * np.abs(one).max())


def _joints(pairs: Pairs, a: str, b: str) -> list[Difference]:
    subject = pairs.subject
    J, K = subject.above[a], subject.above[b]

    def differs(code: str, part: str, value: str, expected: str, same: bool = False, slight: bool = False) -> list[Difference]:
        element = f'joint "{J.name}"' + (f" <{part}>" if part else "")
        return [Difference(code, J.line, element, value, f'{expected} of its twin "{K.name}"', same, slight)]

    if J.parent != K.parent and pairs.twin.get(J.parent, K.parent) != K.parent:
        return differs(
            "unlike-parent", "parent", f'link "{J.parent}"', f'"{pairs.twin[J.parent]}", or the twin of "{K.parent}", the parent'
        )
    if J.type != K.type:
        return differs("unlike-type", "", f'type="{J.type}"', f'the type "{K.type}"')
    if J.type == "fixed":
        return []
    found, way = [], 0
    before = J.parent == K.parent or pairs.stand_alike(J.parent, K.parent)
    if pairs.mirror is not None and before:
        if not pairs.stand_alike(a, b):
            gap = pairs._gap(a, b, pairs.mirror)
            same = _alike(np.array(J.pose[1]), np.array(K.pose[1]))
            value, expected = f"at q = 0 {gap:.3g} m off", "the mirror image of that"
            found += differs("unlike-origin", "origin", value, expected, same, _is_slight(gap, J, K))
        elif J.type in ONE_DOF:
            axes = [subject.turn(one) @ np.array(joint.axis) for one, joint in ((a, J), (b, K))]
            cosine = float(pairs.mirror @ axes[0] @ axes[1])
            angle = math.degrees(math.acos(min(1.0, abs(cosine))))
            if angle > AXIS:
                value = f"an axis {angle:.0f} degrees off"
                found += differs("unlike-axis", "axis", value, "the mirror image of that", slight=angle < AXIS_WARN)
            else:
                way = int(math.copysign(1.0, cosine if J.type == "prismatic" else -cosine))  # a mirror turns turns around
                if J.type != "prismatic" and not any(math.isfinite(x.lower) and abs(x.lower + x.upper) > LIMIT for x in (J, K)):
                    pairs.way[a, b] = way
    return found + _limits(J, K, way, differs)


def _is_slight(gap: float, J: UrdfJoint, K: UrdfJoint) -> bool:
    """Whether two origins differ by little, and by no wrong sign."""
    numbers = np.abs([*J.pose[1], *K.pose[1]])
    signs = bool((np.abs(gap - 2.0 * numbers) < 2.0 * SIGN * numbers).any())
    return not signs and gap < ORIGIN_WARN * max(float(np.linalg.norm(joint.pose[1])) for joint in (J, K))


def _limits(J: UrdfJoint, K: UrdfJoint, way: int, differs: object) -> list[Difference]:
    """``way``: 1 where equal angles are mirror images, -1 where opposite ones are, 0 where that is not known."""
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
        elif (way > 0 and not same) or (way < 0 and not opposite):
            value = f"{J.lower:.4g} to {J.upper:.4g} about its axis goes to the other side"
            found += differs("unlike-limits", "limit", value, f"the mirror image of the {K.lower:.4g} to {K.upper:.4g}")
    for what, one, other in (("effort", J.effort, K.effort), ("velocity", J.velocity, K.velocity)):
        if one != other and abs(one - other) > EFFORT * max(abs(one), abs(other)):
            found += differs("unlike-limits", "limit", f"{what} {one:.4g}", f"the {other:.4g}")
    return found
