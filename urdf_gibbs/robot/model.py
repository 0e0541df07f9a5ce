"""The robot: immutable constants of the moving bodies, names, coordinates and frames.

Body i is what joint i moves. Its frame sits at the joint's origin and moves with the body; at q = 0
it stands at ``placement[i]`` in the frame of body ``parent[i]`` (-1: the world).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import whole
from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.frozen import read_only
from urdf_gibbs.names import Base, JointType, KernelName, Method, Reference, Theme, UpAxis
from urdf_gibbs.robot import manifold
from urdf_gibbs.robot.beside_pinocchio import BesidePinocchio
from urdf_gibbs.robot.branches import Branches
from urdf_gibbs.robot.derived import Derivable
from urdf_gibbs.robot.findings import Finding
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.joints import Frame, Joint
from urdf_gibbs.robot.spatial import Inertia, Pose
from urdf_gibbs.robot.urdf import Link, UrdfJoint

if TYPE_CHECKING:
    from urdf_gibbs.view.show import View
    from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]

VELOCITY_SUFFIXES = {6: ("vx", "vy", "vz", "wx", "wy", "wz"), 3: ("vx", "vy", "w")}


@dataclass(frozen=True, eq=False)
class Robot(BesidePinocchio, Derivable):
    """A robot read from a URDF by ``load``: pure data. Immutable; arrays are read-only. What is made from it hangs beside it (derived.py).

    Coordinates: q (nq) and v (nv), joints depth first, siblings in the byte order of their names. A floating joint has
    q = (x y z, qx qy qz qw) and v = (linear, angular) in the moved frame; a planar one q = (x, y, angle) and v = (vx, vy, w)
    in the moved frame; a continuous one is a plain angle. There are nb moving bodies after fixed joints are merged.

    Attributes:
        name: Of the URDF.
        file: Path of the URDF, "<text>" for XML text.
        base: What the root link may do: "fixed", "floating" or "planar".
        joints: The moving joint of each body.
        parent: (nb) index of the body that carries each one, -1: the world.
        placement: (nb, 4, 4) of each body's frame at q = 0 in its parent's [m].
        mass: (nb,) [kg].
        centre_of_mass: (nb, 3) in body axes [m].
        inertia: (nb, 3, 3) about the centre of mass, in body axes [kg m^2].
        base_inertia: Of what is fixed to the world, in the world.
        links: Of the URDF, merged ones included.
        root_link: Name of the root link.
        findings: What is questionable in the file.
        nq: Number of coordinates.
        nv: Number of velocities.
        package_dirs: Folders of ``package://`` names and other meshes.
        mimic: Whether mimic joints follow their masters.
    """

    name: str
    file: str
    base: Base
    joints: tuple[Joint, ...]
    parent: tuple[int, ...]
    placement: Array = field(repr=False)
    mass: Array = field(repr=False)
    centre_of_mass: Array = field(repr=False)
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
        """Where a link sits, also one merged into its parent.

        Args:
            link: Its name.

        Returns:
            The body that carries it (-1: the world), and its placement (4, 4) in that body's frame [m].

        Raises:
            UnknownNameError: There is no such link.
        """
        if not isinstance(link, str) or link not in self._frames:
            raise UnknownNameError("link", link, self.link_names)
        body, (rotation, translation) = self._frames[link]
        placement = np.eye(4)
        placement[:3, :3] = np.reshape(rotation, (3, 3))
        placement[:3, 3] = translation
        return Frame(link, body, placement)

    def joint(self, name: str) -> Joint:
        """A moving joint.

        Args:
            name: Its name.

        Returns:
            The joint.

        Raises:
            UnknownNameError: There is no such moving joint.
        """
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
        """The configuration with every joint at zero and unit quaternions.

        Returns:
            q (nq,).
        """
        return manifold.neutral(self.joints, self.nq)

    def random(self, rng: np.random.Generator | int | None = None, shape: int | tuple[int, ...] = ()) -> Array:
        """Random configurations: within the limits, angles in [-pi, pi], lengths in [-1, 1] m, uniform orientations.

        Args:
            rng: A generator, or the seed of one; None: another one each time.
            shape: How many: leading axes of the result.

        Returns:
            q (*shape, nq).

        Raises:
            ArgumentError: There is no generator of this kind, or no such shape.
        """
        if rng is not None and not isinstance(rng, np.random.Generator):
            rng = whole(rng, 0, "rng")
        shape = tuple(whole(n, 0, "shape") for n in (shape if isinstance(shape, tuple | list) else (shape,)))
        return manifold.random(self.joints, self.nq, self.position_limits, np.random.default_rng(rng), shape)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Configurations moved by tangent vectors for unit time, exactly on SE(3) and SE(2).

        Args:
            q: Coordinates (..., nq).
            v: Velocities (..., nv) times 1 s.

        Returns:
            Coordinates (..., nq).

        Raises:
            ArgumentError: An array has a wrong type or shape.
        """
        return manifold.integrate(self.joints, self.nq, self.nv, q, v)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The v with integrate(q0, v) = q1; angles are not wrapped.

        Args:
            q0: Coordinates (..., nq).
            q1: Coordinates (..., nq).

        Returns:
            Tangent vectors (..., nv).

        Raises:
            ArgumentError: An array has a wrong type or shape.
        """
        return manifold.difference(self.joints, self.nq, self.nv, q0, q1)

    def kernel(
        self,
        name: KernelName,
        *,
        gravity: ArrayLike | None = EARTH_GRAVITY,
        frame: str = "",
        point: ArrayLike = (0.0, 0.0, 0.0),
        reference: Reference = "world_aligned",
        parameters: bool = False,
        pairs: Iterable[Sequence[int | str]] = (),
        method: Method = "compiled",
    ) -> Callable[..., Array]:
        """The compiled callable of a question: ``M = kernel(q)``, ``kernel(q, out=M)`` or ``kernel(q, M)``, one state or a batch.

        Args:
            name: "mass_matrix", "mass_matrix_packed" (lower triangle, row by row), "mass_matrix_elements" (of ``pairs``), "bias",
                "inverse_dynamics", "forward_dynamics", "gravity_force", "kinetic_energy", "potential_energy", "centre_of_mass",
                "first_moment" (m, m c), "momentum", "jacobian", "placement" (of ``frame``), "placements" (of all bodies, nb x 12: rotation
                row by row, then place), "torque_regressor" (nv x 10 nb), "torque_regressor_packed" (its blocks that
                are not always zero, see ``torque_regressor_blocks``), "kinetic_energy_regressor", "potential_energy_regressor" (10 nb).
            gravity: (3,) in the world [m/s^2], which is baked in; None makes it the last input: ``kernel(q, v, gravity)``.
            frame: The link of a Jacobian or placement.
            point: (3,) in the link's frame [m], of a Jacobian.
            reference: Of a Jacobian: "world_aligned", "world" or "local", see ``jacobian``.
            parameters: True makes inertial parameters, shaped as ``robot.parameters.ravel()``, the last input:
                ``kernel(q, v, parameters)``.
            pairs: (row, column) of elements of M, indices from 0 or velocity names.
            method: The formulation; all but "compiled" are plain Python.

        Returns:
            The callable, the same one each time; it takes arrays and returns an array, for energies too.

        Raises:
            ArgumentError: An argument has a wrong type, shape or value, or does not go with another.
            UnknownNameError: There is no such kernel, method, link, reference or velocity.
        """
        from urdf_gibbs.engine.kernel import kernel

        options: dict[str, Any] = {"frame": frame, "point": point, "reference": reference, "parameters": parameters, "pairs": pairs}
        return kernel(self, name, gravity=gravity, method=method, **options)

    def view(
        self,
        q: ArrayLike | None = None,
        walls: Wall | Iterable[Wall] = (),
        *,
        package_dirs: Iterable[str | os.PathLike[str]] = (),
        theme: Theme | None = None,
        up_axis: UpAxis = "ignore",
    ) -> View:
        """A page of the robot in 3-D: ``.save("robot.html")``, ``.open()`` in a browser; shown by notebooks.

        Args:
            q: Coordinates (nq,); None: the neutral ones.
            walls: Of ``urdf_gibbs.walls``, one or several, drawn as well.
            package_dirs: Folders of ``package://`` names and other meshes, which are read from there and from the robot's own folders only.
            theme: "light", "dark", or None: as the browser has it.
            up_axis: Of COLLADA meshes: "ignore", as RViz does, or "file": what the file calls up is turned to z.

        Returns:
            The page.

        Raises:
            ArgumentError: An argument has a wrong type, shape or value.
            MissingExtraError: The extra ``view`` is not installed.
        """
        with extras_named():
            from urdf_gibbs.view.show import view

            return view(self, q, walls, package_dirs=package_dirs, theme=theme, up_axis=up_axis)

    def _repr_html_(self) -> str:
        from urdf_gibbs.view.notebook import summary

        return summary(self)

    @cached_property
    def parameters(self) -> Array:
        """(nb, 10) for the moving bodies: m, m c (3), inertia about the body's origin (xx, xy, yy, xz, yz, zz), as Pinocchio has them."""
        from urdf_gibbs.robot.inertial import parameters

        return parameters(self)

    def with_inertia(
        self, link: str, mass: float | None = None, centre_of_mass: ArrayLike | None = None, inertia: ArrayLike | None = None
    ) -> Robot:
        """A new robot in which a link has another inertia; what is None stays.

        Args:
            link: Name of a rigid link.
            mass: [kg].
            centre_of_mass: (3,) in the link's frame [m].
            inertia: (3, 3) about the centre of mass, in the link's axes [kg m^2].

        Returns:
            The new robot.

        Raises:
            ArgumentError: A value has a wrong type or shape or is not finite, the mass is negative, or the link is elastic.
            UnknownNameError: There is no such link.
        """
        from urdf_gibbs.robot.inertial import with_inertia

        return with_inertia(self, link, mass, centre_of_mass, inertia)

    # joints and topology ------------------------------------------------------------------------

    def with_joint_type(self, joint: str, type: JointType, axis: ArrayLike | None = None) -> Robot:
        """A new robot in which a joint is of another type.

        Limits, damping and friction stay where the unit of the coordinate does; otherwise there are none.

        Args:
            joint: Name of a joint of the URDF, a fixed one too, or ``root_joint``, the base.
            type: "revolute", "continuous", "prismatic", "fixed" (at its zero), "planar" or "floating"; the base may be fixed, planar or
                floating.
            axis: (3,) in the joint's frame; None keeps the joint's own, which fixed and floating joints do not have.

        Returns:
            The new robot.

        Raises:
            ArgumentError: There is no such type, the axis is none, or the joint is an elastic link's own.
            UnknownNameError: There is no such joint.
        """
        from urdf_gibbs.robot.edit import with_joint_type

        return with_joint_type(self, joint, type, axis)

    def attach(
        self,
        link: str,
        other: Robot,
        placement: Any = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        joint: JointType = "fixed",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        name: str | None = None,
        prefix: str = "",
    ) -> Robot:
        """A new robot with another one's tree below a link, held by a new joint in the place of the other's base.

        Args:
            link: Name of the link that carries it.
            other: The robot that is attached.
            placement: Of the joint in the link's frame: (4, 4) or (xyz (3,) [m], roll pitch yaw (3,) [rad]).
            joint: Type of the new joint.
            axis: (3,) in the joint's frame, where it has one.
            name: Of the new joint; None calls it after the other's root link, with ``_joint``.
            prefix: Put before the names of the other's links and joints.

        Returns:
            The new robot.

        Raises:
            ArgumentError: An argument has a wrong type, shape or value, or names are there twice.
            UnknownNameError: There is no such link.
        """
        from urdf_gibbs.robot.edit import attach

        return attach(self, link, other, placement, joint, axis, name, prefix)

    def detach(self, name: str, base: Base = "floating") -> tuple[Robot, Robot]:
        """Take what hangs below a joint away, as a robot of its own; the joint is gone.

        Args:
            name: Of the joint, or of the link below it.
            base: What the root of the part, the link below the joint, may do: "floating", "planar" or "fixed".

        Returns:
            (the rest, the part).

        Raises:
            ArgumentError: There is no such base, or mimic joints tie the two together.
            UnknownNameError: There is no such link or joint.
        """
        from urdf_gibbs.robot.edit import detach

        return detach(self, name, base)

    @cached_property
    def source(self) -> str | bytes:
        """The XML it was read from; for a loaded object and a robot with edited joints, the same written as XML."""
        from urdf_gibbs.robot.identity import source_of

        return source_of(self)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what enters the dynamics: topology, joint motions and inertias, not names, limits or shapes."""
        from urdf_gibbs.robot.identity import fingerprint

        return fingerprint(self)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what is made from them is made again, and machine code belongs to its process."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(read_only(state))

    def __repr__(self) -> str:
        size = f"{len(self.links)} links, {len(self.joints)} moving bodies, nq={self.nq}, nv={self.nv}"
        return f"<Robot {self.name!r}: {size}, base={self.base}>"
