"""Moving joints, and the frames of links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.robot.spatial import plane_rotation

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Joint:
    """A moving joint. A mimic joint shares ``iq`` and ``iv`` with its master: q_joint = ratio * q[iq] + offset.

    ``axis`` is a unit vector in the body's frame (for planar: the normal of the plane); limits in rad, m, rad/s, m/s, N m, N;
    ``damping`` [N s/m, N m s/rad] and ``friction`` [N, N m] are kept as the file gives them and do not enter the bias.
    """

    name: str
    type: str  # JointType, or "elastic"
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


def joint_damping(joints: Sequence[Joint], nv: int) -> Array:
    """Damping (nv,) of the velocities [N s/m, N m s/rad]; a mimic joint's acts on its master."""
    damping = np.zeros(nv)
    for joint in joints:
        damping[joint.iv : joint.iv + joint.nv] += joint.damping * joint.ratio**2
    return damping


@dataclass(frozen=True, slots=True)
class Frame:
    """A link's frame: fixed at ``placement`` (4x4) in the frame of ``body`` (-1: the world)."""

    link: str
    body: int
    placement: Array
