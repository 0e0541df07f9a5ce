"""Reads SDF by Drake, whose parser knows its frames, nested models and inertias.

What is read is Drake's plant, joint by joint. A model whose root link is not joined to the world stands as a URDF does: ``base`` says what
its root may do. Closed loops are Drake's own refusal; springs, constraints and what its parser leaves out are named in findings.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from urdf_gibbs.extras import extras_named
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.conversion import NO_SHAPES, Conversion, Shapes, X, Y, Z, bounds, turning
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.meshes import find_package
from urdf_gibbs.robot.sdf_shapes import shapes_of
from urdf_gibbs.robot.spatial import IDENTITY, Inertia, Pose, Vec3
from urdf_gibbs.robot.urdf import Urdf

WORLD = "world"
OWN_BASE = "the file itself joins its links to the world"
PLACE = re.compile(r"^(?:<literal-string>|.*?)(?::(\d+)(?::\d+)?)?:\s*(?:warning|error):\s*", re.DOTALL)
PACKAGE = re.compile(rb"(?:model|package)://([^/<>\s]+)")
ROUND_OFF = 1e-15


def read_sdf(text: str | bytes, findings: Findings, package_dirs: Iterable[str] = ()) -> tuple[Urdf, str]:
    """Links and joints of an SDF file; empty text."""
    try:
        with remarks(findings):
            plant = parsed(text, findings.file, package_dirs)
            frames = plant.num_frames()  # those of the file: Drake adds some of its own
            plant.Finalize()
    except RuntimeError as problem:
        words = " ".join(str(problem).split())
        findings.error("conversion", _line(words), "SDF", PLACE.sub("", words), "a tree of links that Drake can read")
        return Urdf("", findings.file, findings), ""
    roots = [plant.get_body(joint.child_body().index()) for joint in _joints(plant) if _is_free(joint)]
    fixed = any(not _is_free(joint) and joint.parent_body().index() == plant.world_body().index() for joint in _joints(plant))
    if len(roots) + fixed != 1:
        names = ", ".join(f'"{body.name()}"' for body in roots)
        found = f"{len(roots)} links that stand for themselves ({names})" if roots else "no link"
        findings.error("conversion", 0, "SDF", found + (" beside links joined to the world" if fixed else ""), "one robot in a file")
        return Urdf("", findings.file, findings), ""
    root = xml.parse(text, Findings(findings.file), whole=True)
    conversion = _Plant(plant, roots[0].name() if roots else WORLD, findings, {} if root is None else shapes_of(root))
    conversion.read(roots[0] if roots else plant.world_body(), frames)
    return conversion.finished(), ""


def parsed(text: str | bytes, file: str, package_dirs: Iterable[str] = ()) -> Any:
    """Drake's plant of an SDF, to which something may still be added."""
    with extras_named():
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    for name in {match.decode("utf-8", "replace") for match in PACKAGE.findall(data)}:
        folder = find_package(name, [file], package_dirs)
        if folder is not None:
            parser.package_map().Add(name, folder)
    if os.path.isfile(file):
        parser.AddModels(Path(file).absolute())
    else:
        parser.AddModelsFromString(text if isinstance(text, str) else text.decode("utf-8", "replace"), "sdf")
    return plant


@contextmanager
def remarks(findings: Findings) -> Iterator[None]:
    """What Drake logs while it reads, as notes: elements that it leaves out."""
    said: dict[str, int] = {}

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            words = " ".join(record.getMessage().split())
            said.setdefault(PLACE.sub("", words), _line(words))

    logger, handler = logging.getLogger("drake"), Keep()
    before = logger.propagate, logger.handlers
    logger.propagate, logger.handlers = False, [handler]
    try:
        yield
    finally:
        logger.propagate, logger.handlers = before
        for words, line in said.items():
            findings.note("drake", line, "SDF", words, "what Drake reads")


def _line(words: str) -> int:
    match = PLACE.match(words)
    return int(match[1]) if match and match[1] else 0


def _joints(plant: Any) -> list[Any]:
    return [plant.get_joint(index) for index in plant.GetJointIndices()]


def _is_free(joint: Any) -> bool:
    return type(joint).__name__ == "QuaternionFloatingJoint"


class _Plant(Conversion):
    def __init__(self, plant: Any, root: str, findings: Findings, shapes: dict[str, Shapes]) -> None:
        name = plant.GetModelInstanceName(_joints(plant)[0].model_instance()) if _joints(plant) else "sdf"
        super().__init__(name, root, findings)
        self.plant, self.shapes = plant, shapes
        self.links: dict[int, str] = {}

    def read(self, root: Any, frames: int) -> None:
        """All joints below the root, and what is beside the tree."""
        plant = self.plant
        below: dict[int, list[Any]] = {}
        for joint in _joints(plant):
            if not _is_free(joint):
                below.setdefault(int(joint.parent_body().index()), []).append(joint)
        self.links[int(root.index())] = self.root
        if int(root.index()):
            self.at_root(_inertia(root), self._shapes(root))
        else:
            self.urdf.own_base = OWN_BASE
        stack = below.get(int(root.index()), [])[::-1]
        while stack:
            joint = stack.pop()
            self._joint(joint)
            stack += below.get(int(joint.child_body().index()), [])[::-1]
        self._frames(frames)
        self._beside()

    def _joint(self, joint: Any) -> None:
        parent, body = self.links[int(joint.parent_body().index())], joint.child_body()
        place, offset = (
            _pose(joint.frame_on_parent().GetFixedPoseInBodyFrame()),
            _pose(joint.frame_on_child().GetFixedPoseInBodyFrame().inverse()),
        )
        direct = offset is IDENTITY
        own = (body.name(), _inertia(body), self._shapes(body))
        child = self.add_link(*own) if direct else self.add_link(f"{body.name()}.joint")
        self._make(joint, parent, child, place)
        if not direct:
            moved = self.add_link(*own)
            self.add_joint(f"{body.name()}_fixed", "fixed", child, moved, offset)
            child = moved
        self.links[int(body.index())] = child

    def _shapes(self, body: Any) -> Shapes:
        return self.shapes.get(body.name(), NO_SHAPES)

    def _make(self, joint: Any, parent: str, child: str, place: Pose) -> None:
        """The joint, as those of a URDF."""
        kind, name = type(joint).__name__.partition("_")[0], joint.name()
        limits = _limits(joint)
        if kind == "RevoluteJoint":
            self.add_joint(
                name,
                "revolute" if "lower" in limits[0] else "continuous",
                parent,
                child,
                place,
                _vector(joint.revolute_axis()),
                **limits[0],
            )
        elif kind == "PrismaticJoint":
            self.add_joint(name, "prismatic", parent, child, place, _vector(joint.translation_axis()), **limits[0])
        elif kind == "WeldJoint":
            between = _pose(joint.X_FM())
            if between is not IDENTITY:
                middle = self.add_link(f"{name}.weld")
                self.add_joint(f"{name}.weld", "fixed", parent, middle, place)
                parent, place = middle, between
            self.add_joint(name, "fixed", parent, child, place)
        elif kind == "ScrewJoint":
            pitch = float(joint.screw_pitch()) / (2.0 * np.pi)  # Drake's is a length for each turn
            self.helix(name, parent, child, place, _screw_axis(joint), pitch, **limits[0])
        elif kind == "PlanarJoint":
            self.add_joint(name, "planar", parent, child, place, Z)
        elif kind == "UniversalJoint":
            self.chain(name, (("1", "revolute", X), ("2", "revolute", Y)), parent, child, place, limits)
        elif kind == "BallRpyJoint":
            self.ball(name, parent, child, place)
        else:
            self.refuse(f'joint "{name}"', f"a {kind}", "a revolute, continuous, prismatic, fixed, screw, universal or ball joint")

    def _frames(self, count: int) -> None:
        """Named frames, as links without inertia."""
        plant = self.plant
        taken = {int(frame.index()) for joint in _joints(plant) for frame in (joint.frame_on_parent(), joint.frame_on_child())}
        with extras_named():
            from pydrake.multibody.tree import FrameIndex
        for index in map(FrameIndex, range(count)):
            frame = plant.get_frame(index)
            link = self.links.get(int(frame.body().index()))
            own = int(index) in taken or frame.index() == frame.body().body_frame().index()
            if not own and link is not None and frame.name() and not frame.name().startswith("_"):
                self.fix(link, frame.name(), _pose(frame.GetFixedPoseInBodyFrame()))

    def _beside(self) -> None:
        """Reflected inertias become rotors; springs and constraints are named."""
        plant = self.plant
        names = {joint.name for joint in self.urdf.joints}
        for index in plant.GetJointActuatorIndices():
            actuator = plant.get_joint_actuator(index)
            armature = float(actuator.default_rotor_inertia()) * float(actuator.default_gear_ratio()) ** 2
            if armature and actuator.joint().name() in names:
                self.rotor(actuator.joint().name(), armature)
                self.urdf.own_base = OWN_BASE
        if plant.num_constraints():
            self.lost("SDF", f"{plant.num_constraints()} constraints")
        springs = plant.num_force_elements() - 1  # gravity is one
        if springs > 0:
            self.lost("SDF", f"{springs} springs or other forces")


def _screw_axis(joint: Any) -> Vec3:
    """About which it turns by one radian."""
    plant = joint.GetParentPlant()
    context = plant.CreateDefaultContext()
    q = np.zeros(plant.num_positions())
    q[joint.position_start()] = 1.0
    plant.SetPositions(context, q)
    R = plant.CalcRelativeTransform(context, joint.frame_on_parent(), joint.frame_on_child()).rotation().matrix()
    return _vector(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (2.0 * np.sin(1.0)))


def _limits(joint: Any) -> list[dict[str, float]]:
    """Of each degree of freedom."""
    lower, upper = joint.position_lower_limits(), joint.position_upper_limits()
    velocity, damping = joint.velocity_upper_limits(), joint.default_damping_vector()
    same = len(lower) == len(velocity)
    return [
        bounds(
            float(lower[k]) if same else -np.inf,
            float(upper[k]) if same else np.inf,
            velocity=float(velocity[k]),
            damping=float(damping[k]) if len(damping) else 0.0,
        )
        for k in range(len(velocity))
    ]


def _inertia(body: Any) -> Inertia | None:
    spatial = body.default_spatial_inertia()
    mass = float(spatial.get_mass())
    if not mass:
        return None
    com = np.asarray(spatial.get_com(), dtype=float)
    about_origin = np.asarray(spatial.CalcRotationalInertia().CopyToFullMatrix3(), dtype=float)
    tensor = about_origin - mass * ((com @ com) * np.eye(3) - np.outer(com, com))
    return Inertia(mass, _vector(com), tuple(tensor.ravel().tolist()))


def _pose(transform: Any) -> Pose:
    """Of one frame in another; identity where it is that but for the round-off of Drake's own sums."""
    return IDENTITY if transform.IsNearlyIdentity(ROUND_OFF) else turning(transform.rotation().matrix(), transform.translation())


def _vector(values: Any) -> Vec3:
    x, y, z = (float(value) for value in values)
    return x, y, z
