"""The robot: immutable constants of the moving bodies, names, coordinates and frames.

Body i is what joint i moves. Its frame sits at the joint's origin and moves with the body; at q = 0
it stands at ``placement[i]`` in the frame of body ``parent[i]`` (-1: the world).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.frozen import read_only
from urdf_gibbs.robot import manifold
from urdf_gibbs.robot.branches import Branches
from urdf_gibbs.robot.derived import Derivable
from urdf_gibbs.robot.findings import Finding, Findings
from urdf_gibbs.robot.spatial import NO_INERTIA, Inertia, Pose, joined, moved, plane_rotation
from urdf_gibbs.robot.tree import Body, Tree
from urdf_gibbs.robot.urdf import Link, Urdf, UrdfJoint

if TYPE_CHECKING:
    from urdf_gibbs.view.show import View

Array = NDArray[np.float64]

NQ = {"revolute": 1, "continuous": 1, "prismatic": 1, "floating": 7, "planar": 3}
NV = {"revolute": 1, "continuous": 1, "prismatic": 1, "floating": 6, "planar": 3}
BEAM_ARRAYS = ("root", "first", "second", "rotary", "C1", "G0", "G", "spin", "spins", "stiffness", "damping", "tip", "tip_rotation")
VELOCITY_SUFFIXES = {6: ("vx", "vy", "vz", "wx", "wy", "wz"), 3: ("vx", "vy", "w")}


@dataclass(frozen=True, slots=True)
class Joint:
    """A moving joint. A mimic joint shares ``iq`` and ``iv`` with its master: q_joint = ratio * q[iq] + offset.

    ``axis`` is a unit vector in the body's frame (for planar: the normal of the plane); limits in rad, m, rad/s, m/s, N m, N;
    ``damping`` [N s/m, N m s/rad] and ``friction`` [N, N m] are kept as the file gives them and do not enter the bias.
    """

    name: str
    type: str
    child: str
    axis: tuple[float, float, float]
    iq: int
    iv: int
    nq: int
    nv: int
    ratio: float = 1.0
    offset: float = 0.0
    master: str = ""
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    beam: Beam | None = field(default=None, repr=False)  # of an elastic joint: it leads from the beam's root to its tip

    @property
    def is_mimic(self) -> bool:
        return bool(self.master)

    def named(self, suffixes: tuple[str, ...]) -> list[str]:
        """A name for each coordinate: the joint's, with these suffixes where it has several; an elastic joint has its own."""
        own = self.beam.names if self.beam is not None else suffixes
        return [self.name] if not own or (self.nv == 1 and self.beam is None) else [f"{self.name}.{suffix}" for suffix in own]

    @property
    def columns(self) -> list[tuple[str, tuple[float, float, float]]]:
        """One ("R" or "P", unit axis in the body's frame) for each velocity: rotation about, translation along the axis.

        An elastic joint has ("E", zero) for each of its coordinates: its twists change with them.
        """
        if self.type == "elastic":
            return [("E", (0.0, 0.0, 0.0))] * self.nv
        if self.type == "prismatic":
            return [("P", self.axis)]
        if self.type == "floating":
            x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
            return [("P", x), ("P", y), ("P", z), ("R", x), ("R", y), ("R", z)]
        if self.type == "planar":
            Q = plane_rotation(self.axis)
            return [("P", (Q[0], Q[3], Q[6])), ("P", (Q[1], Q[4], Q[7])), ("R", self.axis)]
        return [("R", self.axis)]


@dataclass(frozen=True, slots=True)
class Frame:
    """A link's frame: fixed at ``placement`` (4x4) in the frame of ``body`` (-1: the world)."""

    link: str
    body: int
    placement: Array


@dataclass(frozen=True, eq=False)
class Robot(Derivable):
    """A robot read from a URDF: pure data. Immutable; arrays are read-only. What is made from it hangs beside it (derived.py).

    Coordinates: q (nq) and v (nv), joints depth first, siblings in the byte order of their names. A floating joint has
    q = (x y z, qx qy qz qw) and v = (linear, angular) in the moved frame; a planar one q = (x, y, angle) and v = (vx, vy, w)
    in the moved frame; a continuous one is a plain angle.

    ``parent`` (nb), ``placement`` (nb, 4, 4), ``mass`` (nb,) [kg], ``com`` (nb, 3) [m] and ``inertia`` (nb, 3, 3) about the
    com [kg m^2], in body axes, describe the nb moving bodies after fixed joints are merged. ``base_inertia`` is what is
    fixed to the world; ``mimic`` says whether mimic joints follow.
    """

    name: str
    file: str
    base: str
    joints: tuple[Joint, ...]
    parent: tuple[int, ...]
    placement: Array = field(repr=False)
    mass: Array = field(repr=False)
    com: Array = field(repr=False)
    inertia: Array = field(repr=False)
    base_inertia: Inertia = field(repr=False)
    links: tuple[Link, ...] = field(repr=False)
    root_link: str
    findings: tuple[Finding, ...] = field(repr=False)
    nq: int
    nv: int
    _frames: dict[str, tuple[int, Pose]] = field(repr=False)
    package_dirs: tuple[str, ...] = ()
    _source: str | bytes | None = field(default="", repr=False)  # None: to be written when it is asked for
    mimic: bool = True
    _urdf_joints: tuple[UrdfJoint, ...] = field(default=(), repr=False)  # all of the URDF, fixed ones too
    _searched_dirs: tuple[str, ...] = field(default=(), repr=False)  # those of package_dirs that a file names, not the user
    _own_file: bool = field(default=True, repr=False)  # False: that ``file`` was the robot's is the word of a trajectory's file

    # names --------------------------------------------------------------------------------------

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """The independent moving joints in the order of the coordinates; a free root first, as ``root_joint``."""
        return tuple(joint.name for joint in self.joints if not joint.is_mimic)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """One name for each entry of v: the joint's, with ``.vx`` ... ``.wz`` where it has several."""
        names: list[str] = []
        for joint in self.joints:
            if not joint.is_mimic:
                names += joint.named(VELOCITY_SUFFIXES.get(joint.nv, ()))
        return tuple(names)

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """All links of the URDF, merged ones included, depth first from the root."""
        return tuple(self._frames)

    @cached_property
    def branches(self) -> Branches:
        """Root-to-leaf chains of moving bodies (S18, Sect. 2); a sequence that makes its members when asked."""
        return Branches(tuple(joint.name for joint in self.joints), self.parent)

    @cached_property
    def is_flexible(self) -> bool:
        """Whether some link is elastic."""
        return any(joint.beam is not None for joint in self.joints)

    def frame(self, link: str) -> Frame:
        """Where a link (also one merged into its parent) sits."""
        if link not in self._frames:
            raise UnknownNameError("link", link, self.link_names)
        body, (rotation, translation) = self._frames[link]
        placement = np.eye(4)
        placement[:3, :3] = np.reshape(rotation, (3, 3))
        placement[:3, 3] = translation
        return Frame(link, body, placement)

    def joint(self, name: str) -> Joint:
        """The moving joint of that name."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise UnknownNameError("moving joint", name, [joint.name for joint in self.joints])

    # coordinates --------------------------------------------------------------------------------

    @cached_property
    def position_limits(self) -> tuple[Array, Array]:
        """Lower and upper position limits (nq,), infinite where there are none."""
        return manifold.position_limits(self.joints, self.nq)

    def neutral(self) -> Array:
        """q with every joint at zero and unit quaternions."""
        return manifold.neutral(self.joints, self.nq)

    def random(self, rng: np.random.Generator | int | None = None, shape: int | tuple[int, ...] = ()) -> Array:
        """Random q (shape + (nq,)): within the limits, angles in [-pi, pi], lengths in [-1, 1] m, uniform orientations."""
        return manifold.random(self.joints, self.nq, self.position_limits, np.random.default_rng(rng), shape)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """q moved by the tangent vector v for unit time: (..., nq), (..., nv) -> (..., nq). Exact on SE(3) and SE(2)."""
        return manifold.integrate(self.joints, self.nq, self.nv, q, v)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The v (..., nv) with integrate(q0, v) = q1; angles are not wrapped."""
        return manifold.difference(self.joints, self.nq, self.nv, q0, q1)

    def q_to_pinocchio(self, q: ArrayLike) -> Array:
        """Pinocchio's configuration: cos and sin for continuous joints and planar angles."""
        return manifold.q_to_pinocchio(self.joints, self.nq, q)

    def q_from_pinocchio(self, q: ArrayLike) -> Array:
        """Our configuration from Pinocchio's; angles come out in (-pi, pi]."""
        return manifold.q_from_pinocchio(self.joints, self.nq, q)

    # machine code -------------------------------------------------------------------------------

    def kernel(self, name: str, **options: Any) -> Callable[..., Array]:
        """The compiled callable of a question: ``M = kernel(q)``, ``kernel(q, out=M)`` or ``kernel(q, M)``, one state or a batch.

        name: "mass_matrix", "mass_matrix_packed" (lower triangle, row by row), "mass_matrix_elements" (of pairs=), "bias",
        "inverse_dynamics", "forward_dynamics", "gravity_force", "kinetic_energy", "potential_energy", "centre_of_mass", "momentum",
        "jacobian", "placement" (of frame=), "placements" (of all bodies, nb x 12: rotation row by row, then place). options: gravity=(3,),
        which is baked in, or None, which makes it the last input: ``kernel(q, v, gravity)``; frame= (a link) for "jacobian" and
        "placement", and point=(3,) for the Jacobian; parameters=True makes inertial parameters, shaped as
        ``robot.parameters.ravel()``, the last input: ``kernel(q, v, parameters)``.
        """
        from urdf_gibbs.engine.kernel import kernel

        return kernel(self, name, **options)

    # pictures -----------------------------------------------------------------------------------

    def view(self, q: ArrayLike | None = None, walls: Any = (), **options: Any) -> View:
        """A page of the robot at q (nq,), None: neutral, in 3-D: ``.save("robot.html")``, ``.open()`` in a browser; shown by notebooks.

        walls: of urdf_gibbs.walls, drawn as well. options: package_dirs= folders of package:// names and other
        meshes, which are read from there and from the robot's own folders only, theme="light" or "dark".
        """
        with extras_named():
            from urdf_gibbs.view.show import view

            return view(self, q, walls, **options)

    def _repr_html_(self) -> str:
        from urdf_gibbs.view.notebook import summary

        return summary(self)

    # inertial parameters ------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> Array:
        """(nb, 10) for the moving bodies: m, m c (3), inertia about the body's origin (xx, xy, yy, xz, yz, zz), as Pinocchio has them."""
        m, c = self.mass[:, None, None], self.com[:, :, None]
        about_origin = self.inertia + m * ((c * c).sum(axis=1, keepdims=True) * np.eye(3) - c * c.transpose(0, 2, 1))
        entries = about_origin[:, [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        return _frozen(np.concatenate([self.mass[:, None], self.mass[:, None] * self.com, entries], axis=1))

    def with_inertia(self, link: str, mass: float | None = None, com: ArrayLike | None = None, inertia: ArrayLike | None = None) -> Robot:
        """A new robot in which a link has another mass [kg], centre of mass (3,) [m] or inertia about it (3, 3) [kg m^2] (link axes)."""
        if link not in self._frames:
            raise UnknownNameError("link", link, self.link_names)
        elastic = {joint.beam.link for joint in self.joints if joint.beam is not None}
        if link in elastic:
            raise ArgumentError(f'link "{link}" is elastic: its inertia is that of its beam, in <urdf_gibbs>')
        changed = []
        for one in self.links:
            old = one.inertial or NO_INERTIA
            if one.name == link:
                new_mass = old.mass if mass is None else float(mass)
                new_com = np.array(old.com if com is None else com, dtype=float)
                new_inertia = np.array(old.inertia if inertia is None else inertia, dtype=float)
                if new_com.shape != (3,) or new_inertia.size != 9 or not new_mass >= 0.0:
                    raise ArgumentError(f"mass {new_mass}, com {new_com.shape}, inertia {new_inertia.shape}; expected >= 0, (3,), (3, 3)")
                if not (np.isfinite(new_mass) and np.isfinite(new_com).all() and np.isfinite(new_inertia).all()):
                    raise ArgumentError("mass, com and inertia must be finite")
                one = replace(one, inertial=Inertia(new_mass, tuple(new_com.tolist()), tuple(new_inertia.ravel().tolist())))
            changed.append(one)
        inertials = {one.name: one.inertial for one in changed}
        body = self._frames[link][0]
        merged = NO_INERTIA
        for name, (owner, pose) in self._frames.items():
            own = inertials[name]
            if owner == body and own is not None and name not in elastic:
                merged = joined(merged, moved(pose, own))
        if body < 0:
            return replace(self, links=tuple(changed), base_inertia=merged)
        mass_, com_, inertia_ = self.mass.copy(), self.com.copy(), self.inertia.copy()
        mass_[body], com_[body] = merged.mass, merged.com
        tensor = np.reshape(merged.inertia, (3, 3))
        inertia_[body] = 0.5 * tensor + 0.5 * tensor.T
        arrays = {"mass": _frozen(mass_), "com": _frozen(com_), "inertia": _frozen(inertia_)}
        return replace(self, links=tuple(changed), **arrays)  # type: ignore[arg-type]

    # joints and topology ------------------------------------------------------------------------

    def with_joint_type(self, joint: str, type: str, axis: ArrayLike | None = None) -> Robot:
        """A new robot in which a joint of the URDF (a fixed one too, or ``root_joint``, the base) is of another type.

        type: "revolute", "continuous", "prismatic", "fixed" (at its zero), "planar" or "floating"; the base may be fixed, planar or
        floating. axis (3,), in the joint's frame: None keeps the joint's own, which fixed and floating joints do not have.
        Limits, damping and friction stay where the unit of the coordinate does; otherwise there are none.
        """
        from urdf_gibbs.robot.edit import with_joint_type

        return with_joint_type(self, joint, type, axis)

    def attach(
        self,
        link: str,
        other: Robot,
        placement: Any = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        joint: str = "fixed",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        name: str | None = None,
        prefix: str = "",
    ) -> Robot:
        """A new robot with another one's tree below a link, held by a new joint in the place of the other's base.

        placement: of the joint in the link's frame, 4x4 or (xyz [m], roll pitch yaw [rad]); joint: its type, axis (3,) in its frame
        where it has one; name: None calls it after the other's root link, with ``_joint``. prefix: put before the names of the
        other's links and joints.
        """
        from urdf_gibbs.robot.edit import attach

        return attach(self, link, other, placement, joint, axis, name, prefix)

    def detach(self, name: str, base: str = "floating") -> tuple[Robot, Robot]:
        """(the rest, what hangs below the joint or the joint of the link ``name`` as a robot of its own); the joint is gone.

        base: what the root of the second may do, "floating", "planar" or "fixed"; it is the link below the joint.
        """
        from urdf_gibbs.robot.edit import detach

        return detach(self, name, base)

    # identity -----------------------------------------------------------------------------------

    @cached_property
    def source(self) -> str | bytes:
        """The XML it was read from; for a loaded object and a robot with edited joints, the same written as XML."""
        if self._source is not None:
            return self._source
        from urdf_gibbs.robot.write import urdf_text

        return urdf_text(Urdf(self.name, self.file, Findings(self.file), links=list(self.links), joints=list(self._urdf_joints)))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what enters the dynamics: topology, joint motions and inertias, not names, limits or shapes."""
        digest = hashlib.sha256()
        digest.update(repr([(j.type, j.iq, j.iv) for j in self.joints]).encode())
        digest.update(repr(self.parent).encode())
        motion = np.array([(*j.axis, j.ratio, j.offset) for j in self.joints], dtype="<f8")
        beams = [getattr(j.beam, name) for j in self.joints if j.beam is not None for name in BEAM_ARRAYS]
        for array in (motion, self.placement, self.mass, self.com, self.inertia, *beams):
            digest.update((np.asarray(array, dtype="<f8") + 0.0).tobytes())  # + 0.0: minus zero is zero
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what is made from them is made again, and machine code belongs to its process."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(read_only(state))

    def __repr__(self) -> str:
        return (
            f"<Robot {self.name!r}: {len(self.links)} links, {len(self.joints)} moving bodies, "
            f"nq={self.nq}, nv={self.nv}, base={self.base}>"
        )


def assemble(
    urdf: Urdf, tree: Tree, base: str, package_dirs: tuple[str, ...] = (), source: str | bytes | None = "", mimic: bool = True
) -> Robot:
    """The robot of a merged tree."""
    bodies = tree.bodies
    index = {body.joint.name: i for i, body in enumerate(bodies) if body.joint.parent}  # the free root has no parent link
    iq = iv = 0
    own: list[tuple[int, int]] = []
    free = [body.dependency.master == body.joint.name for body in bodies]
    for body, is_free in zip(bodies, free, strict=True):
        own.append((iq, iv))
        if is_free:
            nq, nv = _sizes(body)
            iq += nq
            iv += nv
    joints = []
    for i, body in enumerate(bodies):
        j, follows = body.joint, body.dependency
        start = own[i] if free[i] else own[index[follows.master]]
        master = "" if free[i] else follows.master
        tie = (follows.ratio, follows.offset)
        limits = (j.lower, j.upper, j.velocity, j.effort)
        head = (j.name, j.type, j.child, j.axis, *start, *_sizes(body))
        joints.append(Joint(*head, *tie, master, *limits, j.damping, j.friction, body.beam))
    n = len(bodies)
    placement = np.zeros((n, 4, 4))
    placement[:, 3, 3] = 1.0
    if n:
        placement[:, :3, :3] = np.array([body.pose[0] for body in bodies]).reshape(n, 3, 3)
        placement[:, :3, 3] = np.array([body.pose[1] for body in bodies])
    inertia = np.array([body.inertia.inertia for body in bodies]).reshape(n, 3, 3)
    return Robot(
        name=urdf.name,
        file=urdf.file,
        base=base,
        joints=tuple(joints),
        parent=tuple(body.parent for body in bodies),
        placement=_frozen(placement),
        mass=_frozen(np.array([body.inertia.mass for body in bodies])),
        com=_frozen(np.array([body.inertia.com for body in bodies]).reshape(n, 3)),
        inertia=_frozen(0.5 * inertia + 0.5 * inertia.transpose(0, 2, 1)),
        base_inertia=tree.world_inertia,
        links=(*urdf.links, *(Link(body.joint.child, line=body.joint.line) for body in bodies if body.beam is not None)),
        root_link=tree.root,
        findings=tuple(urdf.findings.items),
        nq=iq,
        nv=iv,
        _frames=tree.frames,
        package_dirs=package_dirs,
        _source=source,
        mimic=mimic,
        _urdf_joints=tuple(urdf.joints),
    )


def _sizes(body: Body) -> tuple[int, int]:
    """nq and nv of a body's joint."""
    return (body.beam.m, body.beam.m) if body.beam is not None else (NQ[body.joint.type], NV[body.joint.type])


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array
