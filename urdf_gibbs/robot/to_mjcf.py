"""A robot as MJCF: its moving bodies, nested, with their merged inertias; joints at one place are several of one body."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.rotors import armatures, is_rotor
from urdf_gibbs.robot.spatial import IDENTITY, Pose, compose
from urdf_gibbs.robot.urdf import Shape

LEAST = 1e-15  # mass and moments of a moving body that MuJoCo takes
BODY = "body"  # an element of MJCF, not of HTML
SIMPLE = ("revolute", "continuous", "prismatic")  # joints of which a body may have several
LARGEST = 1e10  # number that MuJoCo takes: a limit on one side alone
SLACK = 1e-9  # of the triangle inequality, relative
HEAD = """<mujoco model={name}>
  <compiler angle="radian" autolimits="true" inertiafromgeom="false" balanceinertia="false" boundmass="0" boundinertia="0"/>
"""


def to_mjcf(robot: Robot) -> str:
    """See Robot.to_mjcf."""
    wrong = list(_misfits(robot))
    if wrong:
        shown = "; ".join(wrong[:8]) + (f"; and {len(wrong) - 8} more" if len(wrong) > 8 else "")
        raise ArgumentError(f"{robot!r} as MJCF: MuJoCo has nothing like {shown}")
    return _Writer(robot).text()


def _bodies(robot: Robot) -> dict[int, list[int]]:
    """Bodies of MJCF, by the moving body that has their mass: the joints that lead to it, one where the bodies before it have mass too.

    A body without mass that carries one other alone, as joints at one place have between them, is none in MJCF: it has several joints
    in one body.
    """
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(robot.parent):
        children.setdefault(parent, []).append(i)
    result: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for i in range(len(robot.joints)):
        if is_rotor(robot, i):
            continue
        joints = [*above.get(robot.parent[i], []), i]
        empty = not robot.mass[i] and not np.any(robot.inertia[i])
        below = children.get(i, [])
        simple = all(robot.joints[k].type in SIMPLE and robot.joints[k].beam is None for k in (i, *below))
        if empty and len(below) == 1 and simple:
            above[i] = joints
        else:
            result[i] = joints
    return result


def _misfits(robot: Robot) -> Iterable[str]:
    """What cannot be carried."""
    bodies = _bodies(robot)
    for i, joint in enumerate(robot.joints):
        what = f'joint "{joint.name}"'
        if joint.beam is not None:
            yield f'the elastic link "{joint.beam.link}"'
            continue
        if is_rotor(robot, i):
            continue
        if joint.type == "planar":
            yield f"the planar {what}, whose velocities are in the moved frame"
        if joint.type == "floating" and (robot.parent[i] >= 0 or not np.array_equal(robot.placement[i], np.eye(4))):
            yield f"the floating {what} at another place than the world's origin"
        if i not in bodies:
            continue
        moments = np.linalg.eigvalsh(robot.inertia[i])
        if robot.mass[i] < LEAST or moments[0] < LEAST:
            yield f"the moving body of {what} with mass {robot.mass[i]:g} and moments {', '.join(f'{m:.3g}' for m in moments)}"
        elif moments[2] > (moments[0] + moments[1]) * (1.0 + SLACK):
            yield f"the moving body of {what}, whose largest moment {moments[2]:.4g} is above the sum of the others"
        if joint.child == "world":
            yield 'a moving link called "world"'


class _Writer:
    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.armature = armatures(robot)
        self.left_out: list[str] = []
        self.bodies = _bodies(robot)
        self.children: dict[int, list[int]] = {}
        for i, joints in self.bodies.items():
            self.children.setdefault(robot.parent[joints[0]], []).append(i)
        self.links: dict[int, list[str]] = {}
        for link, (body, _) in robot._frames.items():
            self.links.setdefault(body, []).append(link)
        self.shapes = {link.name: link for link in robot.links}

    def text(self) -> str:
        """The file."""
        lines = [HEAD.format(name=quoteattr(self.robot.name or "robot")), "  <worldbody>\n"]
        lines += self._inside(-1, "", 2)
        stack = [(i, 2, False) for i in reversed(self.children.get(-1, []))]
        while stack:
            i, depth, closing = stack.pop()
            if closing:
                lines.append("  " * depth + f"</{BODY}>\n")
                continue
            lines += self._body(i, depth)
            stack.append((i, depth, True))
            stack += [(child, depth + 1, False) for child in reversed(self.children.get(i, []))]
        lines.append("  </worldbody>\n")
        lines += self._equalities()
        if self.left_out:
            names = ", ".join(dict.fromkeys(self.left_out)).replace("--", "- -")
            lines.insert(1, f"  <!-- left out: meshes {names} -->\n")
        return "".join([*lines, "</mujoco>\n"])

    def _body(self, i: int, depth: int) -> list[str]:
        robot, joint = self.robot, self.robot.joints[i]
        indent = "  " * (depth + 1)
        pose, joints = IDENTITY, []
        for k in reversed(self.bodies[i]):  # where the body is at q = 0, as seen from ever farther out
            R, arm = np.reshape(pose[0], (3, 3)), np.array(pose[1])
            joints.append(f"{indent}{self._joint(robot.joints[k], R.T @ robot.joints[k].axis, -R.T @ arm)}\n")
            pose = compose(_pose(robot.placement[k]), pose)
        place = "" if joint.type == "floating" else _place(pose)
        inertia = robot.inertia[i]
        full = _numbers(inertia[a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        inertial = f'<inertial pos="{_numbers(robot.centre_of_mass[i])}" mass="{float(robot.mass[i])!r}" fullinertia="{full}"/>'
        head = "  " * depth + f"<{BODY} name={quoteattr(joint.child)}{place}>\n"
        return [head, f"{indent}{inertial}\n", *reversed(joints), *self._inside(i, joint.child, depth + 1)]

    def _joint(self, joint: Joint, axis: Array, place: Array) -> str:
        """With axis and place (3,) in the frame of its body, as that is at q = 0."""
        name = quoteattr(joint.name)
        if joint.type == "floating":
            return f"<freejoint name={name}/>"
        kind = "slide" if joint.type == "prismatic" else "hinge"
        more = f' pos="{_numbers(place)}"' if kind == "hinge" and np.any(place) else ""
        if joint.type != "continuous" and np.isfinite([joint.lower, joint.upper]).any() and joint.lower < joint.upper:
            more += f' range="{_numbers((max(joint.lower, -LARGEST), min(joint.upper, LARGEST)))}"'
        if np.isfinite(joint.effort) and joint.effort > 0.0:
            more += f' actuatorfrcrange="{_numbers((-joint.effort, joint.effort))}"'
        armature = 0.0 if joint.is_mimic else float(self.armature[joint.iv])
        for key, value in (("damping", joint.damping), ("frictionloss", joint.friction), ("armature", armature)):
            more += f' {key}="{float(value)!r}"' if value else ""
        return f'<joint name={name} type="{kind}" axis="{_numbers(axis)}"{more}/>'

    def _inside(self, body: int, own: str, depth: int) -> list[str]:
        """Sites and geoms of the links that are one with a body."""
        lines, indent = [], "  " * depth
        for link in self.links.get(body, []):
            pose = self.robot._frames[link][1]
            if link != own:
                lines.append(f"{indent}<site name={quoteattr(link)}{_place(pose)}/>\n")
            shapes = self.shapes[link]
            for shape in shapes.visuals:
                lines += self._geom(shape, pose, indent, ' contype="0" conaffinity="0" group="2"')
            for shape in shapes.collisions:
                lines += self._geom(shape, pose, indent, ' group="3"')
        return lines

    def _geom(self, shape: Shape, pose: Pose, indent: str, more: str) -> list[str]:
        solid = shape.geometry
        if solid.kind == "mesh":
            self.left_out.append(solid.filename)
            return []
        size = [0.5 * x for x in solid.size] if solid.kind == "box" else [solid.size[0], *(0.5 * x for x in solid.size[1:])]
        if min(size, default=0.0) <= 0.0:
            return []
        colour = f' rgba="{_numbers(shape.rgba)}"' if shape.rgba else ""
        return [f'{indent}<geom type="{solid.kind}" size="{_numbers(size)}"{_place(compose(pose, shape.pose))}{colour}{more}/>\n']

    def _equalities(self) -> list[str]:
        """Mimic joints."""
        lines = [
            f"    <joint joint1={quoteattr(joint.name)} joint2={quoteattr(joint.master)} "
            f'polycoef="{_numbers((joint.offset, joint.ratio, 0.0, 0.0, 0.0))}"/>\n'
            for i, joint in enumerate(self.robot.joints)
            if joint.is_mimic and not is_rotor(self.robot, i)
        ]
        return ["  <equality>\n", *lines, "  </equality>\n"] if lines else []


def _pose(placement: Array) -> Pose:
    return tuple(placement[:3, :3].ravel().tolist()), tuple(placement[:3, 3].tolist())  # type: ignore[return-value]


def _place(pose: Pose) -> str:
    """Attributes pos and quat (w x y z)."""
    R = np.reshape(pose[0], (3, 3))
    # The eigenvector of the largest eigenvalue of this matrix is the quaternion: exact for all rotations alike.
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], 0.0, 0.0, 0.0],
            [R[1, 0] + R[0, 1], R[1, 1] - R[0, 0] - R[2, 2], 0.0, 0.0],
            [R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], R[2, 2] - R[0, 0] - R[1, 1], 0.0],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    x, y, z, w = np.linalg.eigh(K)[1][:, 3]
    return f' pos="{_numbers(pose[1])}" quat="{_numbers((w, x, y, z))}"'


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
