"""Pinocchio as an independent oracle: its own reader, its own algorithms, its own bookkeeping of coordinates.

Of our own code only the XML reader is used here, and only to find what Pinocchio's reader is known to lose; each such repair is
listed in ``notes``. Mimic joints are freed in Pinocchio's model and tied again by q = G q_free + o, because its own
mimic mode refuses forward dynamics and masters that come later.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import OracleMissingError, UrdfGibbsError
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.load import is_text, source_text
from urdf_gibbs.robot.urdf import ALWAYS

Array = NDArray[np.float64]

MAX_NV = 250  # createData grows with nv^3: 4 GB at 400
MAX_LINKS = 2500  # its recursive reader overflows the stack on chains of 5,000 links


class OracleRefusal(UrdfGibbsError):
    """Pinocchio cannot read or hold this model."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Pinocchio's results at one state. ``acceleration`` is None where its mass matrix is singular."""

    mass_matrix: Array
    bias: Array
    gravity: Array
    inverse: Array
    acceleration: Array | None
    kinetic: float
    potential: float
    momentum: Array
    centre_of_mass: Array | None
    jacobians: dict[str, Array]


class Rod(NamedTuple):
    """A straight beam as a rigid body: mass, centre (3,) and inertia about it (3, 3), in the link's axes."""

    mass: float
    centre_of_mass: Array
    inertia: Array


def import_pinocchio() -> Any:
    try:
        import pinocchio
    except ImportError as problem:
        raise OracleMissingError from problem
    return pinocchio


class Oracle:
    """Pinocchio's view of a URDF. Coordinates are those of Robot: continuous and planar angles as angles, masters only.

    ``rods``: by link, inertias that stand in the place of elastic links. ``order``: names of the independent joints in the order of the
    coordinates, where it is not Pinocchio's own.
    """

    def __init__(
        self,
        source: str | bytes | os.PathLike[str],
        base: str,
        mimic: bool,
        gravity: tuple[float, float, float],
        rods: Mapping[str, Rod] | None = None,
        order: Sequence[str] = (),
    ) -> None:
        self.pin = import_pinocchio()
        self.notes: list[str] = []
        root = _elements(source)
        self.model = self._read(source, root, base, rods or {})
        self.model.gravity.linear = np.array(gravity)
        self._turn_planar_joints(root)
        self.data = self.model.createData()
        self._tie(root, mimic, order)

    # reading ------------------------------------------------------------------------------------

    def _read(self, source: Any, root: xml.Element, base: str, rods: Mapping[str, Rod]) -> Any:
        pin = self.pin
        if len(root.all("link")) > MAX_LINKS:
            raise OracleRefusal(f"Pinocchio's reader overflows the stack on long chains; not asked above {MAX_LINKS} links")
        bases = {"fixed": [], "floating": [pin.JointModelFreeFlyer()], "planar": [pin.JointModelPlanar()]}[base]
        repairs = _repair(root) + _put_in(root, rods)
        self.notes += repairs
        model = None
        if not repairs and not is_text(source):
            try:
                model = pin.buildModelFromUrdf(os.fspath(source), *bases)
            except (ValueError, RuntimeError) as problem:
                self.notes.append(f"Pinocchio refuses the file ({problem}); it was given the links' inertias and joints alone")
        if model is None:
            try:
                model = pin.buildModelFromXML(_mechanics(root), *bases)
            except (ValueError, RuntimeError) as problem:
                raise OracleRefusal(f"Pinocchio refuses the model: {problem}") from problem
        if model.nv > MAX_NV:
            raise OracleRefusal(f"Pinocchio's data needs gigabytes at {model.nv} degrees of freedom; not asked above {MAX_NV}")
        return model

    def _turn_planar_joints(self, root: xml.Element) -> None:
        """Pinocchio's planar joint ignores <axis>: put the rotation that takes z to it before the joint, and take it out behind."""
        pin, model = self.pin, self.model
        for element in root.all("joint"):
            axis = [child for child in element.all("axis") if "xyz" in child.attributes]
            if element.attributes.get("type") != "planar" or not axis:
                continue
            normal = np.array([float(x) for x in axis[0].attributes["xyz"].split()])
            normal /= np.linalg.norm(normal)
            if np.allclose(normal, [0.0, 0.0, 1.0], atol=1e-15):
                continue
            aside = np.cross([0.0, 0.0, 1.0], normal)
            angle = np.arctan2(np.linalg.norm(aside), normal[2])
            aside = np.array([1.0, 0.0, 0.0]) if np.linalg.norm(aside) < 1e-12 else aside / np.linalg.norm(aside)
            turn = pin.AngleAxis(angle, aside).toRotationMatrix()
            before, behind = pin.SE3(turn, np.zeros(3)), pin.SE3(turn.T, np.zeros(3))
            j = model.getJointId(element.attributes["name"])
            model.jointPlacements[j] = model.jointPlacements[j] * before
            model.inertias[j] = behind.act(model.inertias[j])
            for child in range(1, model.njoints):
                if model.parents[child] == j:
                    model.jointPlacements[child] = behind * model.jointPlacements[child]
            for frame in model.frames:
                if frame.parentJoint == j:
                    frame.placement = behind * frame.placement
            self.notes.append(
                f'Pinocchio takes the x-y plane for planar joint "{element.attributes["name"]}"; its <axis> was put in by a rotation'
            )

    def _tie(self, root: xml.Element, mimic_too: bool, order: Sequence[str]) -> None:
        """G and o: velocities of all joints from those of the independent ones, positions of the one-DOF joints likewise."""
        model = self.model
        rules: dict[str, tuple[str, float, float]] = {}
        for element in root.all("joint"):
            for mimic in element.all("mimic"):
                if element.attributes.get("type") != "fixed" and (mimic_too or mimic.attributes.get(ALWAYS) == "true"):
                    numbers = mimic.attributes
                    rules[element.attributes["name"]] = (
                        numbers["joint"],
                        float(numbers.get("multiplier", 1.0)),
                        float(numbers.get("offset", 0.0)),
                    )
        known = {model.names[j]: j for j in range(model.njoints - 1, 0, -1)}
        self.free = [j for j in range(1, model.njoints) if model.names[j] not in rules]
        self.held = {0}  # the world, and what joints that are held fix to it
        own_order = self.free.copy()
        if {model.names[j] for j in self.free} == set(order):
            self.free.sort(key=lambda j: order.index(model.names[j]))
        start = {}
        self.nv = 0
        for j in self.free:
            start[j] = self.nv
            self.nv += model.joints[j].nv
        self.G = np.zeros((model.nv, self.nv))
        self.offset = np.zeros(model.nv)
        for j in range(1, model.njoints):
            row = model.joints[j].idx_v
            if j in start:
                self.G[row : row + model.joints[j].nv, start[j] : start[j] + model.joints[j].nv] = np.eye(model.joints[j].nv)
                continue
            name, ratio, offset = model.names[j], 1.0, 0.0
            while name in rules:
                master, multiplier, shift = rules[name]
                offset += ratio * shift
                ratio *= multiplier
                name = master
            self.offset[row] = offset
            if name in known:
                self.G[row, start[known[name]]] = ratio
            else:
                self._hold(j)
        self.joint_names = [model.names[j] for j in self.free]
        if len(self.free) < model.njoints - 1:
            self.notes.append("mimic joints: Pinocchio's free model, tied by G (its mimic mode has no forward dynamics)")
        self.tied = len(self.free) < model.njoints - 1 or self.free != own_order

    def _hold(self, j: int) -> None:
        """A joint that follows one that cannot move: what it fixes to the world is the world's, and no part of sums over what moves."""
        if self.model.parents[j] in self.held:
            self.held.add(j)
            self.model.inertias[j] = self.pin.Inertia.Zero()

    # answering ----------------------------------------------------------------------------------

    def configuration(self, q: Array) -> Array:
        """Pinocchio's q from ours."""
        model = self.model
        result = np.empty(model.nq)
        i = 0
        for j in self.free:
            joint = model.joints[j]
            own = result[joint.idx_q : joint.idx_q + joint.nq]
            if joint.nq == 7:
                own[:] = q[i : i + 7]
                i += 7
            elif joint.nq == 4:
                own[:] = [q[i], q[i + 1], np.cos(q[i + 2]), np.sin(q[i + 2])]
                i += 3
            else:
                own[:] = [np.cos(q[i]), np.sin(q[i])] if joint.nq == 2 else q[i]
                i += 1
        if self.tied:
            self._place_mimics(q, result)
        return result

    def _place_mimics(self, q: Array, result: Array) -> None:
        model = self.model
        positions = {}  # of the one-DOF joints, by velocity index of the independent coordinates
        i = k = 0
        for j in self.free:
            nq = {7: 7, 4: 3}.get(model.joints[j].nq, 1)
            if nq == 1:
                positions[k] = q[i]
            i += nq
            k += model.joints[j].nv
        for j in range(1, model.njoints):
            if j not in self.free:
                joint = model.joints[j]
                masters = np.flatnonzero(self.G[joint.idx_v])
                value = self.offset[joint.idx_v] + sum(self.G[joint.idx_v, k] * positions[int(k)] for k in masters)
                result[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(value), np.sin(value)] if joint.nq == 2 else value

    def answers(self, q: Array, v: Array, a: Array, tau: Array, points: dict[str, Array]) -> Answers:
        """All quantities at one state; ``points``: link -> point in its frame, for the Jacobians."""
        pin, model, data, G = self.pin, self.model, self.data, self.G
        x = self.configuration(q)
        full_v, full_a = G @ v, G @ a
        upper = np.triu(pin.crba(model, data, x))
        M = G.T @ (upper + np.triu(upper, 1).T) @ G
        bias = G.T @ pin.nonLinearEffects(model, data, x, full_v)
        gravity = G.T @ pin.computeGeneralizedGravity(model, data, x)
        inverse = G.T @ pin.rnea(model, data, x, full_v, full_a)
        acceleration = self._forward(x, v, tau, M, bias)
        kinetic = pin.computeKineticEnergy(model, data, x, full_v)
        potential = pin.computePotentialEnergy(model, data, x)
        com, momentum = self._momentum(x, full_v)
        jacobians = {link: self._jacobian(x, link, point) for link, point in points.items()}
        return Answers(M, bias, gravity, inverse, acceleration, kinetic, potential, momentum, com, jacobians)

    def _momentum(self, x: Array, full_v: Array) -> tuple[Array | None, Array]:
        """Centre of mass and momentum about it. Without mass there is none, and the momentum of spins alone is the same about any point."""
        pin, model, data = self.pin, self.model, self.data
        if sum(inertia.mass for inertia in list(model.inertias)[1:]) > 0.0:
            com = pin.centerOfMass(model, data, x).copy()
            return com, pin.computeCentroidalMomentum(model, data, x, full_v).vector.copy()
        pin.forwardKinematics(model, data, x, full_v)
        momentum = np.zeros(6)
        for j in range(1, model.njoints):
            momentum += data.oMi[j].act(model.inertias[j] * data.v[j]).vector
        return None, momentum

    def _forward(self, x: Array, v: Array, tau: Array, M: Array, bias: Array) -> Array | None:
        if not self.nv:
            return np.zeros(0)
        if self.tied:
            return None if np.linalg.matrix_rank(M) < self.nv else np.asarray(np.linalg.solve(M, tau - bias), dtype=float)
        a = np.array(self.pin.aba(self.model, self.data, x, v, tau))
        return a if np.isfinite(a).all() else None

    def _jacobian(self, x: Array, link: str, point: Array) -> Array:
        pin, model = self.pin, self.model
        frame = model.getFrameId(link, pin.BODY)
        J = np.reshape(pin.computeFrameJacobian(model, self.data, x, frame, pin.LOCAL_WORLD_ALIGNED), (6, model.nv))
        pin.framesForwardKinematics(model, self.data, x)
        arm = self.data.oMf[frame].rotation @ point
        return np.vstack([J[:3] + np.cross(J[3:].T, arm).T, J[3:]]) @ self.G


def _elements(source: Any) -> xml.Element:
    text = source_text(source)
    if isinstance(text, OSError):
        raise OracleRefusal(str(text))
    root = xml.parse(text, Findings("oracle"))
    if root is None:
        raise OracleRefusal("not XML")
    return root


def _repair(root: xml.Element) -> list[str]:
    """Add attributes without which Pinocchio's reader drops a whole element; returns what was added."""
    notes = []
    for joint in root.all("joint"):
        if joint.attributes.get("type") in ("revolute", "prismatic"):
            limits = joint.all("limit")
            if not limits or {"effort", "velocity"} - limits[0].attributes.keys():
                limit = limits[0] if limits else xml.Element("limit", {"lower": "-1e3", "upper": "1e3"}, joint.line)
                if not limits:
                    joint.children.append(limit)
                for key in ("effort", "velocity"):
                    limit.attributes.setdefault(key, "1e9")
                notes.append(f'Pinocchio refuses joint "{joint.attributes.get("name")}" without a complete <limit>; one was put in')
        for axis in joint.all("axis"):
            if "xyz" not in axis.attributes and joint.attributes.get("type") in ("revolute", "continuous", "prismatic"):
                axis.attributes["xyz"] = "1 0 0"
                notes.append(f'Pinocchio does not move joint "{joint.attributes.get("name")}", whose <axis> has no xyz; x was put in')
    for link in root.all("link"):
        for inertial in link.all("inertial"):
            name = link.attributes.get("name")
            spaced = [(one, key) for one in inertial.children for key, text in one.attributes.items() if text != text.strip()]
            if spaced:
                for one, key in spaced:
                    one.attributes[key] = one.attributes[key].strip()
                notes.append(f'Pinocchio drops the mass of link "{name}" because a number has blanks around it; they were taken off')
            if not inertial.all("mass"):
                link.children.remove(inertial)
                notes.append(f'the <inertial> of link "{name}" has no <mass>: it counts as zero')
                continue
            if not inertial.all("inertia"):
                inertial.children.append(xml.Element("inertia", {}, inertial.line))
            entries = inertial.all("inertia")[0].attributes
            missing = [key for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz") if key not in entries]
            if missing:
                entries.update(dict.fromkeys(missing, "0"))
                notes.append(f'Pinocchio drops the mass of link "{name}" because {", ".join(missing)} is missing; zeros were put in')
    return notes


def _put_in(root: xml.Element, rods: Mapping[str, Rod]) -> list[str]:
    """Give links the <inertial> of their rod; returns which."""
    for link in root.all("link"):
        rod = rods.get(link.attributes.get("name", ""))
        if rod is None:
            continue
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        entries = {name: repr(float(x)) for name, x in zip(names, rod.inertia[np.triu_indices(3)], strict=True)}
        inertial = xml.Element("inertial", {}, link.line)
        inertial.children += [
            xml.Element("origin", {"xyz": " ".join(repr(float(x)) for x in rod.centre_of_mass)}, link.line),
            xml.Element("mass", {"value": repr(float(rod.mass))}, link.line),
            xml.Element("inertia", entries, link.line),
        ]
        link.children.append(inertial)
    return [f'link "{name}" has no <inertial>: Pinocchio was given that of its straight beam' for name in rods]


def _mechanics(root: xml.Element) -> str:
    """The URDF with links, inertias and joints alone, as text."""
    lines = [f"<robot name={quoteattr(root.attributes.get('name') or 'robot')}>"]
    keep = {"link": ("inertial",), "joint": ("parent", "child", "origin", "axis", "limit", "dynamics")}
    for element in root.children:
        if element.tag in keep:
            lines += _serialised(element, keep[element.tag])
    return "\n".join([*lines, "</robot>"])


def _serialised(element: xml.Element, keep: tuple[str, ...] = ()) -> list[str]:
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
    inner = [line for child in element.children if not keep or child.tag in keep for line in _serialised(child)]
    return [f"<{element.tag}{attributes}>", *inner, f"</{element.tag}>"]
