"""Links and joints of a URDF as records with their lines, and everything that is wrong with each of them.

What needs the whole tree (roots, cycles, mimic chains) is checked in ``tree.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.plausible import FULL_TURN, Doubt, check_angles, check_limits, checked_axis, inertia_doubt
from urdf_gibbs.robot.spatial import (
    EYE3,
    IDENTITY,
    ZERO3,
    Inertia,
    Pose,
    Vec3,
    multiply,
    rotation_from_rpy,
    transpose,
)
from urdf_gibbs.robot.xml import Element

if TYPE_CHECKING:
    from urdf_gibbs.flexible.build import Specification

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
ONE_DOF = ("revolute", "continuous", "prismatic")
BOUNDED = ("revolute", "prismatic")  # by lower and upper, which default to 0 there and mean nothing elsewhere

SOLIDS = ("box", "cylinder", "sphere", "capsule", "mesh")

INFINITY = math.inf
FARTHEST = 1e300  # of a <limit>: from here on it is none; so a URDF can say effort and velocity of a joint without lower or upper
ALWAYS = "always"  # an attribute of <mimic> in the URDFs that are written here; other tools ignore it


@dataclass(frozen=True, slots=True)
class Geometry:
    """``kind`` box (size), cylinder or capsule (radius, length), sphere (radius) or mesh (filename, scale); lengths in m.

    "unread": one that the file gives wrongly, which is left out of pictures and contacts; ``filename`` is what the file names or calls
    it, ``problem`` a sentence on what is wrong.
    """

    kind: str
    size: tuple[float, ...] = ()
    filename: str = ""
    scale: Vec3 = (1.0, 1.0, 1.0)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A visual or a collision of a link: geometry at ``pose`` in the link's frame, colour as rgba in 0..1."""

    geometry: Geometry
    pose: Pose = IDENTITY
    name: str = ""
    material: str = ""
    rgba: tuple[float, ...] | None = None
    texture: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A ``<link>``. ``inertial`` is in the link's frame, None where the file gives none."""

    name: str
    inertial: Inertia | None = None
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()
    line: int = 0
    inertial_line: int = 0


@dataclass(frozen=True, slots=True)
class Mimic:
    """q = multiplier * q(joint) + offset. ``always``: also where mimic joints are freed, because it is no joint of its own but a rotor."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    line: int = 0
    always: bool = False


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """A ``<joint>``: ``pose`` of the joint frame in the parent link, unit ``axis`` in the joint frame, SI units."""

    name: str
    type: str
    parent: str
    child: str
    pose: Pose = IDENTITY
    axis: Vec3 = (1.0, 0.0, 0.0)
    lower: float = -INFINITY
    upper: float = INFINITY
    velocity: float = INFINITY
    effort: float = INFINITY
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    line: int = 0


@dataclass(slots=True)
class Urdf:
    """A parsed URDF: what could be read, with its findings."""

    name: str
    file: str
    findings: Findings
    line: int = 1
    links: list[Link] = field(default_factory=list)
    joints: list[UrdfJoint] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)  # joints of which only the name could be read
    flexible: dict[str, Specification] = field(default_factory=dict)  # by link
    doubts: list[Doubt] = field(default_factory=list)  # of inertias, until the joints are known
    as_listed: bool = False  # joints below a link in the order of the list, as another format has them, and not in that of their names
    own_base: str = ""  # what tells how the root may move, where the source itself does: then ``base`` must be "fixed"


def read(root: Element, findings: Findings) -> Urdf:
    """All links and joints below ``<robot>``."""
    urdf = Urdf(root.attributes.get("name", ""), findings.file, findings, root.line)
    if root.tag != "robot":
        findings.error("not-urdf", root.line, "root element", f"<{root.tag}>", "<robot>")
        return urdf
    if not root.attributes.get("name"):
        findings.warning("no-robot-name", root.line, "<robot>", "no name", 'name="..."')
    reader = Reader(findings, {e.attributes.get("name", ""): e for e in root.all("material")})
    for element in root.children:
        if element.tag == "link":
            link = reader.link(element)
            if link is not None:
                urdf.links.append(link)
        elif element.tag == "joint":
            joint = reader.joint(element)
            if joint is not None:
                urdf.joints.append(joint)
            else:
                urdf.unread.add(element.attributes.get("name", ""))
    urdf.doubts = reader.doubts
    return urdf


class Reader:
    """Turns elements into records; problems go to the findings."""

    def __init__(self, findings: Findings, materials: dict[str, Element]) -> None:
        self.findings = findings
        self.materials = materials
        self.doubts: list[Doubt] = []
        self.problems: list[str] | None = None  # of the visual or collision that is read, which is then left out

    # numbers ------------------------------------------------------------------------------------

    def number(self, element: Element, what: str, attribute: str, default: float | None = None) -> float:
        text = element.attributes.get(attribute)
        if text is None:
            if default is not None:
                return default
            self._mistake("missing", element, what, f"no {attribute}", f'{attribute}="a number"')
            return 0.0
        try:
            value = float(text)
            if math.isfinite(value) and "_" not in text:
                return value
        except ValueError:
            pass
        self._bad_number(element, what, attribute, text, "a finite number")
        return 0.0

    def vector(self, element: Element, what: str, attribute: str, default: Vec3) -> Vec3:
        text = element.attributes.get(attribute)
        if text is None:
            return default
        try:
            x, y, z = map(float, text.split())
            if math.isfinite(x) and math.isfinite(y) and math.isfinite(z) and "_" not in text:
                return x, y, z
        except ValueError:
            pass
        self._bad_number(element, what, attribute, text, "three finite numbers")
        return default

    def _bad_number(self, element: Element, what: str, attribute: str, text: str, expected: str) -> None:
        if "${" in text or "$(" in text:
            expected += ": an unexpanded xacro expression; expand it with 'xacro FILE.xacro > FILE.urdf'"
        elif "," in text:
            expected += " with a decimal point, separated by blanks"
        self._mistake("bad-number", element, what, f'{attribute}="{text}"', expected)

    def _mistake(self, code: str, element: Element, what: str, value: str, expected: str) -> None:
        """An error; in a visual or a collision, which no dynamics need, a warning, and the shape is left out."""
        if self.problems is None:
            self.findings.error(code, element.line, f"{what} <{element.tag}>", value, expected)
            return
        self.problems.append(f"{value}, expected {expected}")
        self.findings.warning("bad-geometry", element.line, f"{what} <{element.tag}>", value, f"{expected}; the shape is left out")

    def origin(self, parent: Element, what: str) -> Pose:
        element = self.only(parent, "origin", what)
        if element is None or not element.attributes:
            return IDENTITY
        xyz = self.vector(element, what, "xyz", ZERO3)
        rpy = self.vector(element, what, "rpy", ZERO3)
        if max(map(abs, rpy)) > FULL_TURN:
            check_angles(self.findings, element.line, what, rpy)
        if rpy == ZERO3:
            return IDENTITY if xyz == ZERO3 else (EYE3, xyz)
        return rotation_from_rpy(*rpy), xyz

    def only(self, parent: Element, tag: str, what: str) -> Element | None:
        first = None
        for child in parent.children:
            if child.tag == tag:
                if first is None:
                    first = child
                else:
                    self.findings.warning("repeated", child.line, f"{what} <{tag}>", "a second one", "at most one; the first is used")
        return first

    def name(self, element: Element, kind: str) -> str | None:
        name = element.attributes.get("name")
        if not name:
            self.findings.error("missing", element.line, f"<{kind}>", "no name", 'name="..."')
            return None
        return name

    # links --------------------------------------------------------------------------------------

    def link(self, element: Element) -> Link | None:
        name = self.name(element, "link")
        if name is None:
            return None
        what = f'link "{name}"'
        inertial = self.inertial(element, name, what)
        visuals = self.shapes(element, "visual", what)
        line = next((child.line for child in element.children if child.tag == "inertial"), 0)
        return Link(name, inertial, visuals, self.shapes(element, "collision", what), element.line, line)

    def inertial(self, link: Element, name: str, what: str) -> Inertia | None:
        errors = self.findings.mistakes
        element = self.only(link, "inertial", what)
        if element is None:
            return None
        R, com = self.origin(element, what)
        mass_element, inertia_element = self.only(element, "mass", what), self.only(element, "inertia", what)
        if mass_element is None:
            self.findings.warning("no-mass", element.line, f"{what} <inertial>", "no <mass>", "a mass; the whole <inertial> counts as zero")
            return None
        mass = self.number(mass_element, what, "value")
        if mass < 0.0:
            self.findings.error("negative-mass", mass_element.line, f"{what} <mass>", f"{mass:g}", "a mass of zero or more")
        if inertia_element is None:
            self.findings.warning("no-inertia", element.line, f"{what} <inertial>", "no <inertia>", "an inertia; it counts as a point mass")
            return Inertia(mass, com, (0.0,) * 9)
        missing = [key for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz") if key not in inertia_element.attributes]
        if missing:
            self.findings.warning(
                "no-inertia", inertia_element.line, f"{what} <inertia>", f"no {', '.join(missing)}", "all six entries; these count as zero"
            )
        xx, xy, xz, yy, yz, zz = (self.number(inertia_element, what, key, 0.0) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        inertia = (xx, xy, xz, xy, yy, yz, xz, yz, zz)
        if R is not EYE3:
            inertia = multiply(multiply(R, inertia), transpose(R))
        body = Inertia(mass, com, inertia)
        doubt = inertia_doubt(name, inertia_element.line, body) if self.findings.mistakes == errors else None
        if doubt is not None:
            self.doubts.append(doubt)
        return body

    def shapes(self, link: Element, tag: str, what: str) -> tuple[Shape, ...]:
        shapes = []
        for element in link.children:
            if element.tag == tag:
                shape = self.shape(element, f"{what} <{tag}>")
                if shape is not None:
                    shapes.append(shape)
        return tuple(shapes)

    def shape(self, element: Element, what: str) -> Shape | None:
        geometry_element = self.only(element, "geometry", what)
        solid = geometry_element.children[0] if geometry_element is not None and geometry_element.children else None
        if solid is None or solid.tag not in SOLIDS:
            line, value = (element.line, "no geometry") if solid is None else (solid.line, f"<{solid.tag}>")
            self.findings.warning("no-geometry", line, what, value, "<box>, <cylinder>, <sphere>, <capsule> or <mesh>; it is ignored")
            return None
        self.problems = []
        geometry = self.geometry(solid, what)
        pose = self.origin(element, what)
        if self.problems:
            named = solid.attributes.get("filename") or f"<{solid.tag}>"
            geometry = Geometry("unread", (), named, problem="; ".join(self.problems))
        self.problems = None
        material = self.only(element, "material", what)
        name, rgba, texture = self.material(material) if material is not None else ("", None, "")
        return Shape(geometry, pose, element.attributes.get("name", ""), name, rgba, texture, element.line)

    def geometry(self, solid: Element, what: str) -> Geometry:
        if solid.tag == "mesh":
            if "filename" not in solid.attributes:
                self._mistake("missing", solid, what, "no filename", 'filename="..."')
            scale = self.vector(solid, what, "scale", (1.0, 1.0, 1.0))
            if not all(scale):
                self._mistake("bad-number", solid, what, f'scale="{solid.attributes["scale"]}"', "three numbers other than zero")
            return Geometry("mesh", (), solid.attributes.get("filename", ""), scale)
        if solid.tag == "box":
            if "size" not in solid.attributes:
                self._mistake("missing", solid, what, "no size", 'size="three numbers"')
            size: tuple[float, ...] = self.vector(solid, what, "size", ZERO3)
            if min(size) < 0.0:
                self._mistake("bad-number", solid, what, f'size="{solid.attributes["size"]}"', "three numbers, none below zero")
            return Geometry("box", size)
        keys = ("radius",) if solid.tag == "sphere" else ("radius", "length")
        size = tuple(self.number(solid, what, key) for key in keys)
        for key, value in zip(keys, size, strict=True):
            if value < 0.0:
                self._mistake("bad-number", solid, what, f'{key}="{solid.attributes[key]}"', "zero or more")
        return Geometry(solid.tag, size)

    def material(self, element: Element) -> tuple[str, tuple[float, ...] | None, str]:
        name = element.attributes.get("name", "")
        definition = element if element.children else self.materials.get(name, element)
        rgba, texture = None, ""
        for child in definition.children:
            if child.tag == "color":
                try:
                    values = tuple(map(float, child.attributes.get("rgba", "").split()))
                except ValueError:
                    values = ()
                if len(values) == 4:
                    rgba = values
                else:
                    self.findings.warning(
                        "bad-colour",
                        child.line,
                        f'material "{name}"',
                        child.attributes.get("rgba", "nothing"),
                        "four numbers; it is ignored",
                    )
            elif child.tag == "texture":
                texture = child.attributes.get("filename", "")
        return name, rgba, texture

    # joints -------------------------------------------------------------------------------------

    def joint(self, element: Element) -> UrdfJoint | None:
        name = self.name(element, "joint")
        if name is None:
            return None
        what = f'joint "{name}"'
        kind = element.attributes.get("type", "")
        known = kind in JOINT_TYPES
        if not known:
            self.findings.error("joint-type", element.line, what, f'type="{kind}"' if kind else "no type", " or ".join(JOINT_TYPES))
        ends = [self.end(element, tag, what) for tag in ("parent", "child")]
        pose = self.origin(element, what)
        axis = self.axis(element, kind, what)
        limit = self.limit(element, kind, what)
        dynamics = self.only(element, "dynamics", what)
        damping = self.number(dynamics, what, "damping", 0.0) if dynamics else 0.0
        friction = self.number(dynamics, what, "friction", 0.0) if dynamics else 0.0
        mimic = self.mimic(element, kind, what)
        if not known or None in ends:
            return None
        return UrdfJoint(name, kind, ends[0] or "", ends[1] or "", pose, axis, *limit, damping, friction, mimic, element.line)

    def end(self, joint: Element, tag: str, what: str) -> str | None:
        element = self.only(joint, tag, what)
        link = element.attributes.get("link") if element is not None else None
        if not link:
            line = joint.line if element is None else element.line
            self.findings.error("missing", line, what, f"no <{tag} link>", f'<{tag} link="...">')
            return None
        return link

    def axis(self, joint: Element, kind: str, what: str) -> Vec3:
        element = self.only(joint, "axis", what)
        default = (0.0, 0.0, 1.0) if kind == "planar" else (1.0, 0.0, 0.0)
        if kind not in WITH_AXIS:
            return default
        if element is None or "xyz" not in element.attributes:
            if kind == "planar":
                self.findings.warning("no-axis", joint.line, what, "no <axis>", "the plane's normal; z is used")
            elif element is not None:
                self.findings.warning("no-axis", element.line, f"{what} <axis>", "no xyz", "three numbers; x is used")
            return default
        axis = self.vector(element, what, "xyz", default)
        return checked_axis(self.findings, element.line, what, axis)

    def limit(self, joint: Element, kind: str, what: str) -> tuple[float, float, float, float]:
        element = self.only(joint, "limit", what)
        if element is None:
            if kind in BOUNDED:
                self.findings.warning(
                    "no-limit", joint.line, what, "no <limit>", "<limit lower upper effort velocity>; it counts as unlimited"
                )
            return _NO_LIMIT
        bounded = kind in BOUNDED
        lower = self.number(element, what, "lower", 0.0)
        upper = self.number(element, what, "upper", 0.0)
        velocity = self.number(element, what, "velocity", INFINITY)
        effort = self.number(element, what, "effort", INFINITY)
        missing = [key for key in ("effort", "velocity") if key not in element.attributes]
        if missing and bounded:
            self.findings.warning(
                "no-limit", element.line, f"{what} <limit>", f"no {' and no '.join(missing)}", "both; what is missing counts as unlimited"
            )
        if not bounded:
            return -INFINITY, INFINITY, velocity, effort
        check_limits(self.findings, element.line, what, lower, upper)
        lower, upper = lower if lower > -FARTHEST else -INFINITY, upper if upper < FARTHEST else INFINITY
        return lower, upper, velocity, effort

    def mimic(self, joint: Element, kind: str, what: str) -> Mimic | None:
        element = self.only(joint, "mimic", what)
        if element is None:
            return None
        if kind == "fixed":
            self.findings.note(
                "mimic-ignored", element.line, f"{what} <mimic>", "a fixed joint that mimics", "a moving joint; the <mimic> is ignored"
            )
            return None
        master = element.attributes.get("joint")
        if not master:
            self.findings.error("missing", element.line, f"{what} <mimic>", "no joint", 'joint="..."')
            return None
        ratio, offset = self.number(element, what, "multiplier", 1.0), self.number(element, what, "offset", 0.0)
        return Mimic(master, ratio, offset, element.line, element.attributes.get(ALWAYS) == "true")


_NO_LIMIT = (-INFINITY, INFINITY, INFINITY, INFINITY)
