"""Sizes and places of shapes beside each other: a mesh in millimetres, a box in centimetres, a collision that is elsewhere."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.lint.hulls import Hull
from urdf_gibbs.lint.subject import Subject
from urdf_gibbs.robot.urdf import Link

UNLIKE, MILLIMETRES = 20.0, 300.0  # times the size of the link's other shapes is noted, and warned of
MARKER = 5e-3  # m: a smaller shape marks a place
FAR = 2.0  # times the size of the larger: a collision so far from the visual is warned of
HUGE = 30.0  # times the robot's reach and the usual size of a shape


def check_sizes(subject: Subject) -> set[str]:
    """Compare the shapes of each link with each other, and with those of the whole robot: the links whose shapes are warned of."""
    doubtful = set()
    hulls: dict[tuple[str, str], Hull] = {}
    for name, link in subject.links.items():
        for kind in ("visuals", "collisions"):
            hull = subject.shapes.of(link, (kind,))
            if hull is not None and name in subject.poses:
                hulls[name, kind] = hull
    sizes = [hull.size for hull in hulls.values()]
    usual = max(float(np.median(sizes)), subject.reach / 30.0) if len(sizes) > 4 else subject.reach
    for (name, kind), hull in hulls.items():
        link = subject.links[name]
        other = hulls.get((name, "collisions" if kind == "visuals" else "visuals"))
        element = f'link "{name}" <{kind[:-1]}>'
        line = getattr(link, kind)[0].line
        if usual > 0.0 and (hull.size > HUGE * max(usual, subject.reach) or hull.size * HUGE**2 < usual):
            value, expected = f"a shape {hull.size:.3g} m long", f"about {usual:.2g} m{_hint(link, kind, hull.size / usual)}"
            subject.findings.warning("shape-size", line, element, value, expected)
            doubtful.add(name)
        elif other is not None and hull.size > UNLIKE * other.size:
            value = f"a shape {hull.size:.3g} m long"
            expected = f"about {other.size:.2g} m, as the other shapes of the link{_hint(link, kind, hull.size / other.size)}"
            warn = hull.size > MILLIMETRES * other.size
            (subject.findings.warning if warn else subject.findings.note)("shape-size", line, element, value, expected)
            doubtful |= {name} if warn else set()
        elif other is not None and kind == "collisions" and _apart(hull, other):
            apart = float(np.linalg.norm(hull.centre - other.centre))
            far = apart > FAR * max(hull.size, other.size) and min(hull.size, other.size) > MARKER
            say = subject.findings.warning if far else subject.findings.note
            say("shapes-apart", line, element, f"a collision {apart:.3g} m from the visual", "shapes in one place")
    return doubtful


def _apart(one: Hull, other: Hull) -> bool:
    return bool(np.any((one.box[0] > other.box[1]) | (other.box[0] > one.box[1])))


def _hint(link: Link, kind: str, ratio: float) -> str:
    meshes = any(shape.geometry.kind == "mesh" for shape in getattr(link, kind))
    if 100.0 < ratio < 10_000.0:
        return '; in mm it would fit: scale="0.001 0.001 0.001"' if meshes else "; in mm it would fit"
    if 1e-4 < ratio < 1e-2:
        return "; it would fit a thousand times as large"
    return ""
