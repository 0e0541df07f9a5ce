"""Points of elastic links: which section they belong to. The sections at the root and at the tip have bodies, those between have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.beam import Array, Beam

if TYPE_CHECKING:
    from urdf_gibbs.robot.model import Robot

SECTION = 1e-6  # of the length: closer than this to an end is at the end
LOOSE = 1e-9  # of the largest displacement (or rotation): what a root at rest may have by rounding


def beam_of(robot: Robot, link: str) -> tuple[int, Beam] | None:
    """The elastic joint of a link, and its beam; None for a rigid one."""
    return next(((i, joint.beam) for i, joint in enumerate(robot.joints) if joint.beam is not None and joint.beam.link == link), None)


def body_point(robot: Robot, link: str, position: Sequence[float] | Array, name: str = "") -> tuple[int, Array]:
    """The body that a point, at ``position`` (3,) [m] in a link's frame, belongs to, and its place (3,) there.

    A point of the section at an elastic link's tip moves with the tip; ArgumentError between root and tip, and beyond them.
    """
    frame = robot.frame(link)
    x = frame.placement[:3, :3] @ np.array(position, dtype=float) + frame.placement[:3, 3]
    elastic = beam_of(robot, link)
    if elastic is not None:
        i, beam = elastic
        along = float(beam.axis @ (x - beam.root))
        if abs(along - beam.length) < SECTION * beam.length:
            return i, x - robot.placement[i][:3, 3]
        if not abs(along) < SECTION * beam.length:
            expected = f"0 (the root) or {beam.length:g} m (the tip)"
            raise ArgumentError(f"point {name or link!r} is {along:g} m along the elastic link {link!r}, expected {expected}")
    return frame.body, x


def root_moves(beam: Beam, aside: float = 0.0) -> bool:
    """Whether the beam's root moves against the link's frame (free-free modes do that), or a point of its section ``aside`` [m] of it."""
    if beam.shapes is None or beam.stations is None:
        return False
    if (np.abs(beam.shapes[0]) > LOOSE * np.abs(beam.shapes).max()).any():
        return True
    if not aside > SECTION * beam.length:
        return False
    from urdf_gibbs.flexible.build import shapes_at

    _, theta = shapes_at(beam, beam.stations)
    return bool((np.abs(theta[0]) > LOOSE * np.abs(theta).max()).any())
