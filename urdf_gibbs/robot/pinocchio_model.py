"""Reads a pinocchio.Model, whoever built it: by hand, from a URDF, or by Pinocchio from another format.

Only the numbers in the model are read. Joints of several kinds in one (composite, translation, ZYX, universal, helical) become several
joints at one place with massless links between them; a ball joint becomes three hinges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from urdf_gibbs.robot.conversion import Conversion, X, Y, Z, bounds, turning
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import Inertia, Pose, Vec3, compose
from urdf_gibbs.robot.urdf import Mimic, Urdf

UNIVERSE = "universe"
AXES = {"X": X, "Y": Y, "Z": Z}
TOGETHER = ("FreeFlyer", "Planar", "Spherical")  # an armature there is no inertia of one joint
OWN_BASE = "the model itself says how its first joint moves"
Limits = dict[str, float]


def read_pinocchio(model: Any) -> tuple[Urdf, str]:
    """Links and joints of a pinocchio.Model, with its frames as links; empty text, for there is none."""
    findings = Findings(f"<pinocchio.Model {model.name}>" if model.name else "<pinocchio.Model>")
    conversion = _Model(model, findings)
    conversion.read()
    return conversion.finished(), ""


class _Model(Conversion):
    def __init__(self, model: Any, findings: Findings) -> None:
        super().__init__(model.name, UNIVERSE, findings)
        self.model = model
        self.links = {0: UNIVERSE}  # by the joint that moves them
        self.names = {j: model.names[j] for j in range(1, model.njoints)}

    def read(self) -> None:
        """All joints in depth-first order, and the frames."""
        model = self.model
        self.at_root(_inertia(model.inertias[0]))
        frames = _own_frames(model)
        children: dict[int, list[int]] = {}
        for j in range(1, model.njoints):
            children.setdefault(int(model.parents[j]), []).append(j)
        stack, order = children.get(0, [])[::-1], []
        while stack:
            j = stack.pop()
            order.append(j)
            self.joint(j, frames.get(j, ""))
            stack += children.get(j, [])[::-1]
        if order != sorted(order):
            first = next(f'"{model.names[j]}"' for j, k in zip(order, sorted(order), strict=True) if j != k)
            expected = "joints depth first, as q and v of the robot are; compare by the names of joints"
            self.findings.warning("joint-order", 0, "model", f"joints in another order, from {first} on", expected)
        if any(model.joints[j].shortname() == "JointModelFreeFlyer" for j in children.get(0, ())) or np.any(model.armature):
            self.urdf.own_base = OWN_BASE
        self.frames(set(frames.values()))
        self._remark()

    def joint(self, j: int, link: str) -> None:
        """Joint j and the link that it moves."""
        model = self.model
        name = self.names[j]
        parent = self.links[int(model.parents[j])]
        child = self.links[j] = self.add_link(link or f"{name}_link", _inertia(model.inertias[j]))
        place = _pose(model.jointPlacements[j])
        own = model.joints[j]
        if own.shortname() == "JointModelMimic":
            self._mimic(j, parent, child, place)
            return
        limits = self._limits(own.idx_q, own.nq, own.idx_v, own.nv)
        self._convert(name, own.extract(), parent, child, place, limits, slice(own.idx_v, own.idx_v + own.nv))

    def _convert(self, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits], columns: slice) -> None:
        """One joint, or the part of a composite."""
        kind = own.shortname().removeprefix("JointModel")
        if kind == "Composite":
            self._composite(name, own, parent, child, place, limits, columns)
            return
        if kind not in _MAKERS:
            self.refuse(f'joint "{name}"', own.shortname(), "a joint that a URDF can have, or several of them")
            return
        first = len(self.urdf.joints)
        _MAKERS[kind](self, name, own, parent, child, place, limits)
        armature = self.model.armature[columns]
        if kind in TOGETHER and np.any(armature):
            self.lost(f'joint "{name}"', f"armature {float(armature.max()):g} of a joint with several degrees of freedom in one")
        elif np.any(armature):
            moving = [joint.name for joint in self.urdf.joints[first:] if joint.mimic is None]
            for joint, value in zip(moving, armature, strict=True):
                if value:
                    self.rotor(joint, float(value))

    def _composite(self, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits], columns: slice) -> None:
        parts = [part.extract() for part in own.joints]
        iv, it = columns.start, iter(limits)
        for k, (part, step) in enumerate(zip(parts, own.jointPlacements, strict=True)):
            link = child if k == len(parts) - 1 else self.add_link(f"{name}.{k + 1}")
            pose = _pose(step) if k else compose(place, _pose(step))
            mine = [next(it) for _ in range(part.nv)]
            self._convert(f"{name}.{k + 1}", part, parent, link, pose, mine, slice(iv, iv + part.nv))
            parent, iv = link, iv + part.nv

    def _mimic(self, j: int, parent: str, child: str, place: Pose) -> None:
        """A joint that follows another; what it does itself is seen from how it moves."""
        model, own = self.model, self.model.joints[j].extract()
        masters = dict(zip(model.mimicking_joints, model.mimicked_joints, strict=True))
        master, name = int(masters[j]), self.names[j]
        leader = model.joints[master]
        scaling = float(own.scaling)
        if leader.nv != 1 or not scaling:
            self.refuse(
                f'joint "{name}"',
                f'a joint that follows "{model.names[master]}" with scaling {scaling:g}',
                "a master that moves in one way",
            )
            return
        data = model.joints[j].createData()
        q = np.zeros(model.nq)
        if leader.nq == 2:
            q[leader.idx_q] = 1.0
        model.joints[j].calc(data, q)
        twist = np.asarray(data.S, dtype=float).reshape(6) / scaling
        slide, turn = twist[:3], twist[3:]
        tie = Mimic(self.names[master], scaling, float(own.offset))
        if np.any(turn) and np.any(slide):
            self.refuse(f'joint "{name}"', "a helical joint that follows another", "a hinge or a slide")
            return
        kind, axis = ("continuous", turn) if np.any(turn) else ("prismatic", slide)
        self.add_joint(name, kind, parent, child, place, _axis(axis), mimic=tie)

    def frames(self, used: set[str]) -> None:
        """The other frames, as links without inertia: bodies, sensors and points of operation, not joints."""
        pin = __import__("pinocchio")
        for frame in self.model.frames[1:]:
            if frame.type in (pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT) or frame.name in used:
                continue
            parent = self.links.get(int(frame.parentJoint))
            if parent is not None:
                self.fix(parent, frame.name, _pose(frame.placement))

    def _limits(self, iq: int, nq: int, iv: int, nv: int) -> list[Limits]:
        """Of each velocity; positions only where there is one for each."""
        model, result = self.model, []
        for k in range(nv):
            lower, upper = (
                (float(x[iq + k]) for x in (model.lowerPositionLimit, model.upperPositionLimit)) if nq == nv else (-np.inf, np.inf)
            )
            effort, velocity = (float(x[iv + k]) for x in (model.effortLimit, model.velocityLimit))
            more = {"damping": float(model.damping[iv + k]), "friction": float(model.friction[iv + k])}
            result.append(bounds(lower, upper, effort, velocity, **more))
        return result

    def _remark(self) -> None:
        """What a model has beside its tree."""
        gravity = self.model.gravity.linear
        if not np.allclose(gravity, (0.0, 0.0, -9.81)):
            words = " ".join(f"{x:g}" for x in gravity)
            self.findings.note(
                "gravity", 0, "model", f"gravity {words}", f"gravity=({words.replace(' ', ', ')}) given to the functions; a robot has none"
            )


# Joints of one kind ----------------------------------------------------------------------------------

Maker = Callable[[_Model, str, Any, str, str, Pose, list[Limits]], None]


def _hinge(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
    kind = "revolute" if own.nq == 1 else "continuous"  # one angle, or its cosine and sine
    to.add_joint(name, kind, parent, child, place, _axis_of(own), **limits[0])


def _slide(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
    to.add_joint(name, "prismatic", parent, child, place, _axis_of(own), **limits[0])


def _helix(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
    to.helix(name, parent, child, place, _axis_of(own), float(own.pitch), **limits[0])


def _free(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
    to.add_joint(name, "floating", parent, child, place)


def _planar(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
    to.add_joint(name, "planar", parent, child, place, Z)


def _ball(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
    to.ball(name, parent, child, place)


def _several(*parts: tuple[str, str, Vec3]) -> Maker:
    def make(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
        to.chain(name, parts, parent, child, place, limits)

    return make


def _universal(to: _Model, name: str, own: Any, parent: str, child: str, place: Pose, limits: list[Limits]) -> None:
    parts = (("1", "revolute", _axis(own.axis1)), ("2", "revolute", _axis(own.axis2)))
    to.chain(name, parts, parent, child, place, limits)


_MAKERS: dict[str, Maker] = {
    **dict.fromkeys(("RX", "RY", "RZ", "RUBX", "RUBY", "RUBZ", "RevoluteUnaligned", "RevoluteUnboundedUnaligned"), _hinge),
    **dict.fromkeys(("PX", "PY", "PZ", "PrismaticUnaligned"), _slide),
    **dict.fromkeys(("HX", "HY", "HZ", "HelicalUnaligned"), _helix),
    "FreeFlyer": _free,
    "Planar": _planar,
    "Spherical": _ball,
    "SphericalZYX": _several(("z", "revolute", Z), ("y", "revolute", Y), ("x", "revolute", X)),
    "Translation": _several(("x", "prismatic", X), ("y", "prismatic", Y), ("z", "prismatic", Z)),
    "Universal": _universal,
}


def _axis_of(own: Any) -> Vec3:
    """Of a joint with one axis."""
    if hasattr(own, "axis"):
        return _axis(own.axis)
    letter = own.shortname()[-1]
    if letter in AXES:
        return AXES[letter]
    data = own.createData()  # the class has its axis, and does not tell it: see how the joint moves
    own.calc(data, np.eye(1, own.idx_q + own.nq, max(own.idx_q, 0)).ravel())
    return _axis(np.asarray(data.S, dtype=float).reshape(6)[3:])


def _axis(values: Any) -> Vec3:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _pose(placement: Any) -> Pose:
    return turning(placement.rotation, placement.translation)


def _inertia(body: Any) -> Inertia | None:
    """Of a body; None where it has none."""
    tensor = tuple(float(x) for x in np.asarray(body.inertia).ravel())
    if not body.mass and not any(tensor):
        return None
    return Inertia(float(body.mass), _axis(body.lever), tensor)  # type: ignore[arg-type]


def _own_frames(model: Any) -> dict[int, str]:
    """The name of the link that each joint moves: the first body frame at the joint itself."""
    pin = __import__("pinocchio")
    names: dict[int, str] = {}
    for frame in model.frames[1:]:
        j = int(frame.parentJoint)
        if frame.type == pin.FrameType.BODY and j and j not in names and frame.placement.isIdentity(0.0):
            names[j] = frame.name
    return names
