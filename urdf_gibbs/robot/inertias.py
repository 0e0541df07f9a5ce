"""Links without inertia and with one that no body has: warnings where a joint moves it, notes where what it is fixed to makes up for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from urdf_gibbs.robot.plausible import Doubt, inertia_doubt
from urdf_gibbs.robot.spatial import IDENTITY, NO_INERTIA, Inertia, compose, joined, moved

if TYPE_CHECKING:
    from urdf_gibbs.robot.urdf import Link, Urdf, UrdfJoint

ROUND_OFF = 1e-12  # m2, of the mass: a radius of gyration of a micrometre is a zero that a program has computed
MOST_AXES = 6  # of a joint that a file spells as several, with empty links between


def report_inertias(urdf: Urdf, doubts: Iterable[Doubt]) -> None:
    """Findings on the links' inertias, which need the joints: what is fixed to each other moves as one body."""
    bodies = _Bodies(urdf)
    for link in urdf.links:
        if link.inertial is None and not link.inertial_line and link.name not in urdf.flexible:
            _report_missing(urdf, link, bodies)
    report_doubts(urdf, doubts, bodies)


def report_doubts(urdf: Urdf, doubts: Iterable[Doubt], bodies: _Bodies | None = None) -> None:
    """Findings on inertias that no body has."""
    bodies = bodies or _Bodies(urdf)
    for doubt in doubts:
        own, whole = bodies.own(doubt.link), bodies.whole(doubt.link)
        what = f'link "{doubt.link}" <inertia>'
        if doubt.size <= ROUND_OFF * own.mass:
            urdf.findings.note(doubt.code, doubt.line, what, doubt.value, f"{doubt.expected}; by so little it is round-off")
        elif whole is not None and whole is not own and inertia_doubt(doubt.link, doubt.line, whole) is None:
            urdf.findings.note(doubt.code, doubt.line, what, doubt.value, f"{doubt.expected}; with all that is fixed to it, it is")
        else:
            urdf.findings.warning(doubt.code, doubt.line, what, doubt.value, doubt.expected)


def _report_missing(urdf: Urdf, link: Link, bodies: _Bodies) -> None:
    findings, what, value = urdf.findings, f'link "{link.name}"', "no <inertial>"
    joint = bodies.above.get(link.name)
    whole = bodies.whole(link.name)
    heavy = whole is not None and whole.mass > 0.0
    if joint is None and (heavy or not (link.visuals or link.collisions)):
        findings.note("no-inertial", link.line, what, value, "nothing, for a root that is a frame; it counts as zero mass")
    elif joint is not None and joint.type == "fixed":
        findings.note("no-inertial", link.line, what, value, "nothing, for a frame behind a fixed joint; it counts as zero mass")
    elif joint is not None and heavy:
        findings.note("no-inertial", link.line, what, value, "nothing: what is fixed to it has a mass")
    elif joint is not None and not (link.visuals or link.collisions) and bodies.carries(link.name):
        findings.note("no-inertial", link.line, what, value, "nothing, for the middle of a joint of several axes; it counts as zero mass")
    else:
        findings.warning("no-inertial", link.line, what, value, "mass and inertia; it counts as zero mass")


class _Bodies:
    """What is fixed to each other; found when asked for, as most files need none of it."""

    def __init__(self, urdf: Urdf) -> None:
        self.urdf = urdf
        self.above = {joint.child: joint for joint in urdf.joints}
        self._links: dict[str, Link] = {}
        self._below: dict[str, list[UrdfJoint]] | None = None
        self._moving: dict[str, list[str]] | None = None
        self._found: dict[str, Inertia] = {}

    def own(self, name: str) -> Inertia:
        self._links = self._links or {link.name: link for link in self.urdf.links}
        one = self._links.get(name)
        return (one.inertial if one is not None else None) or NO_INERTIA

    def whole(self, name: str) -> Inertia | None:
        """Mass and inertia of all that is fixed to a link, in the frame of one of them; None in a circle of fixed joints."""
        top, passed = name, {name}
        while top in self.above and self.above[top].type == "fixed":
            top = self.above[top].parent
            if top in passed:
                return None
            passed.add(top)
        if top not in self._found:
            self._found[top] = self._sum(top)
        return self._found[top]

    def carries(self, name: str) -> bool:
        """Whether joints that hang on a link itself move some mass, behind at most so many further links as a joint of six axes has."""
        if self._moving is None:
            self._moving = {}
            for joint in self.urdf.joints:
                if joint.type != "fixed":
                    self._moving.setdefault(joint.parent, []).append(joint.child)
        level = [name]
        for _ in range(MOST_AXES - 1):
            level = [child for one in level for child in self._moving.get(one, ())]
            if any((self.whole(child) or NO_INERTIA).mass > 0.0 for child in level):
                return True
        return False

    def _sum(self, top: str) -> Inertia:
        if self._below is None:
            self._below = {}
            for joint in self.urdf.joints:
                if joint.type == "fixed":
                    self._below.setdefault(joint.parent, []).append(joint)
        total = self.own(top)
        stack = [(joint, IDENTITY) for joint in self._below.get(top, ())]
        seen = {top}
        while stack:
            joint, pose = stack.pop()
            if joint.child in seen:
                continue
            seen.add(joint.child)
            pose = compose(pose, joint.pose)
            own = self.own(joint.child)
            if own is not NO_INERTIA:
                total = joined(total, moved(pose, own))
            stack += [(further, pose) for further in self._below.get(joint.child, ())]
        return total
