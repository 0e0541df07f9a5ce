"""Names of elements and attributes that are nearly those of a URDF: what they say is passed over, as any extension is."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.xml import Element

LIKE, FEW = 0.75, 2  # of the letters in order, and letters more or less: orign and limits, but not contact nor gear_velocity
SHAPE = ("origin", "geometry", "material")
CHILDREN: dict[str, tuple[str, ...]] = {
    "robot": ("link", "joint", "material"),
    "link": ("inertial", "visual", "collision"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": SHAPE,
    "collision": SHAPE,
    "geometry": ("mesh", "box", "cylinder", "sphere", "capsule"),
}
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "link": ("name", "type"),
    "joint": ("name", "type"),
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
    "mesh": ("filename", "scale"),
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
}


def check_spelling(root: Element, findings: Findings) -> None:
    """A warning for each name in the links and joints that is unknown and nearly a known one."""
    if root.tag != "robot":
        return
    _children(root, "<robot>", findings)
    for element in root.children:
        if element.tag in ("link", "joint"):
            _below(element, f'{element.tag} "{element.attributes.get("name", "")}"', findings)


def _below(element: Element, what: str, findings: Findings) -> None:
    """``element`` and all that it holds which a URDF knows; four levels at most."""
    known = ATTRIBUTES.get(element.tag, ())
    for name in element.attributes:
        if known and name not in known:
            meant = _meant(name, known)
            if meant:
                part = what if element.tag in ("link", "joint") else f"{what} <{element.tag}>"
                findings.warning("misspelt", element.line, part, f'{name}="..."', f"{meant}; it is passed over")
    if element.tag in CHILDREN:
        _children(element, what, findings)
        for child in element.children:
            if child.tag in CHILDREN[element.tag]:
                _below(child, what, findings)


def _children(element: Element, what: str, findings: Findings) -> None:
    known = CHILDREN[element.tag]
    for child in element.children:
        if child.tag not in known:
            meant = _meant(child.tag, known)
            if meant:
                findings.warning("misspelt", child.line, what, f"<{child.tag}>", f"<{meant}>; it is passed over")


def _meant(name: str, known: Collection[str]) -> str | None:
    """The known name that a wrong one is like: but for capitals, the order of its letters, or one or two of them."""
    lower = name.lower()
    near = [one for one in known if abs(len(one) - len(name)) <= FEW]
    for one in near:
        if one == lower or (len(one) > 2 and sorted(one) == sorted(lower)):
            return one
    return next(iter(difflib.get_close_matches(lower, near, 1, LIKE)), None)
