"""Reads SDF by Drake, whose parser knows its frames, nested models and inertias.

What is read is Drake's plant, joint by joint. A model whose root link is not joined to the world stands as a URDF does: ``base`` says what
its root may do. Names that several nested models have are told apart by the models' own, "left::arm". Closed loops are Drake's own refusal;
springs, constraints and what its parser leaves out are named in findings.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
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
ROTORS = "the rotor inertias of its actuators turn about axes that are fixed to the world"
PLACE = re.compile(r"^(?:<literal-string>|.*?)(?::(\d+)(?::\d+)?)?:\s*(?:warning|error):\s*", re.DOTALL)
PACKAGE = re.compile(rb"(?:model|package)://([^/<>\s]+)")
FOLDER = re.compile(
    rb"(<uri>\s*(?:model|package)://[^/<>\s]+)(\s*</uri>)"
)  # Gazebo's way to include a model; Drake wants a slash behind it
NOWHERE = re.compile(r"Unable to find uri\[(.*?)\]")
SEPARATOR = "::"
ROUND_OFF = 1e-15


def read_sdf(text: str | bytes, findings: Findings, package_dirs: Iterable[str] = ()) -> tuple[Urdf, str]:
    """Links and joints of an SDF file; empty text."""
    try:
        with remarks(findings):
            plant = parsed(text, findings.file, package_dirs)
            frames = plant.num_frames()  # those of the file: Drake adds some of its own
            plant.Finalize()
    except (RuntimeError, MemoryError) as problem:  # the latter from a mesh that it cannot integrate over
        words = " ".join(str(problem).split())
        lost = NOWHERE.search(words)
        expected = "a tree of links that Drake can read"
        if lost:
            expected = f"{lost[1]} beside the file, or the folder that holds that model in package_dirs= or --package-dir"
        findings.error("conversion", _line(words), "SDF", PLACE.sub("", words), expected)
        return Urdf("", findings.file, findings), ""
    roots = [plant.get_body(joint.child_body().index()) for joint in joints_of(plant) if is_free(joint)]
    fixed = any(not is_free(joint) and joint.parent_body().index() == plant.world_body().index() for joint in joints_of(plant))
    links = names_of(bodies_of(plant))
    if len(roots) + fixed != 1:
        names = ", ".join(f'"{links[int(body.index())]}"' for body in roots)
        found = f"{len(roots)} links that stand for themselves ({names})" if roots else "no link"
        findings.error("conversion", 0, "SDF", found + (" beside links joined to the world" if fixed else ""), "one robot in a file")
        return Urdf("", findings.file, findings), ""
    root = xml.parse(text, Findings(findings.file), whole=True)
    conversion = _Plant(plant, roots[0] if roots else plant.world_body(), findings, {} if root is None else shapes_of(root, findings))
    conversion.read(frames)
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
    if not data and os.path.isfile(file):
        data = Path(file).read_bytes()
    if os.path.isfile(file) and not FOLDER.search(data):
        parser.AddModels(Path(file).absolute())
    else:
        parser.AddModelsFromString(FOLDER.sub(rb"\1/\2", data).decode("utf-8", "replace"), "sdf")
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


def joints_of(plant: Any) -> list[Any]:
    """All joints of a plant; once it is finished, those of free bodies too."""
    return [plant.get_joint(index) for index in plant.GetJointIndices()]


def bodies_of(plant: Any) -> list[Any]:
    """All bodies of a plant, the world first."""
    from pydrake.multibody.tree import BodyIndex

    return [plant.get_body(BodyIndex(k)) for k in range(plant.num_bodies())]


def names_of(parts: Iterable[Any], taken: Iterable[str] = ()) -> dict[int, str]:
    """Names of bodies, joints or frames, by their numbers; behind those of their models where they are not theirs alone."""
    parts = list(parts)
    seen = Counter(part.name() for part in parts) + Counter(taken)
    return {int(part.index()): part.name() if seen[part.name()] == 1 else SEPARATOR.join((*_models(part), part.name())) for part in parts}


def _models(part: Any) -> list[str]:
    """The names of the models that a part is in, from outside; without the outermost one where that is the whole file."""
    plant = part.GetParentPlant()
    path, outermost = plant.GetModelInstanceName(part.model_instance()).split(SEPARATOR), set()
    for body in bodies_of(plant)[1:]:
        outermost.add(plant.GetModelInstanceName(body.model_instance()).split(SEPARATOR)[0])
    return list(path[1:] if len(outermost) == 1 else path)


def is_free(joint: Any) -> bool:
    """Whether it is what Drake puts below a body that no joint of the file moves."""
    return type(joint).__name__ == "QuaternionFloatingJoint"


class _Plant(Conversion):
    def __init__(self, plant: Any, root: Any, findings: Findings, shapes: dict[str, Shapes]) -> None:
        first = next(iter(bodies_of(plant)[1:]), None)
        self.names = names_of(bodies_of(plant))
        name = "sdf" if first is None else plant.GetModelInstanceName(first.model_instance()).split(SEPARATOR)[0]
        super().__init__(name, self.names[int(root.index())], findings)
        self.plant, self.shapes, self.start = plant, shapes, root
        self.links: dict[int, str] = {}
        self.joints = names_of(joint for joint in joints_of(plant) if not is_free(joint))

    def read(self, frames: int) -> None:
        """All joints below the root, and what is beside the tree."""
        plant, root = self.plant, self.start
        below: dict[int, list[Any]] = {}
        for joint in joints_of(plant):
            if not is_free(joint):
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
        name = self.names[int(body.index())]
        own = (name, _inertia(body), self._shapes(body))
        child = self.add_link(*own) if direct else self.add_link(f"{name}.joint")
        self._make(joint, parent, child, place)
        if not direct:
            moved = self.add_link(*own)
            self.add_joint(f"{name}_fixed", "fixed", child, moved, offset)
            child = moved
        self.links[int(body.index())] = child

    def _shapes(self, body: Any) -> Shapes:
        path = SEPARATOR.join((self.plant.GetModelInstanceName(body.model_instance()), body.name()))
        return self.shapes.get(path, NO_SHAPES)

    def _make(self, joint: Any, parent: str, child: str, place: Pose) -> None:
        """The joint, as those of a URDF."""
        kind, name = type(joint).__name__.partition("_")[0], self.joints[int(joint.index())]
        limits = _limits(joint)
        if kind == "RevoluteJoint":
            self.add_joint(
                name,
                "revolute" if limits[0].keys() & {"lower", "upper"} else "continuous",
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
        taken = {int(frame.index()) for joint in joints_of(plant) for frame in (joint.frame_on_parent(), joint.frame_on_child())}
        with extras_named():
            from pydrake.multibody.tree import FrameIndex
        frames = [plant.get_frame(FrameIndex(k)) for k in range(count) if k not in taken]
        frames = [frame for frame in frames if frame.index() != frame.body().body_frame().index() and frame.name()]
        frames = [frame for frame in frames if not frame.name().startswith("_") and int(frame.body().index()) in self.links]
        names = names_of(frames, self.names.values())
        for frame in frames:
            self.fix(self.links[int(frame.body().index())], names[int(frame.index())], _pose(frame.GetFixedPoseInBodyFrame()))

    def _beside(self) -> None:
        """Reflected inertias become rotors; springs and constraints are named."""
        plant = self.plant
        names = {joint.name for joint in self.urdf.joints}
        for index in plant.GetJointActuatorIndices():
            actuator = plant.get_joint_actuator(index)
            armature = float(actuator.default_rotor_inertia()) * float(actuator.default_gear_ratio()) ** 2
            name = self.joints[int(actuator.joint().index())]
            if armature and name in names:
                self.rotor(name, armature)
                self.urdf.own_base = self.urdf.own_base or ROTORS
        if plant.num_constraints():
            self.lost("SDF", f"{plant.num_constraints()} constraints")
        springs = plant.num_force_elements() - 1  # gravity is one
        if springs > 0:
            self.lost("SDF", f"{springs} springs or other forces")


def _screw_axis(joint: Any) -> Vec3:
    """About which it turns by one radian."""
    plant = joint.GetParentPlant()
    context = plant.CreateDefaultContext()
    q = plant.GetPositions(context)
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
