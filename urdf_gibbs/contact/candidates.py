"""All possible contacts as arrays for compiled code: points on walls, pairs of points, joint limits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from urdf_gibbs.arguments import Coefficients, coefficients
from urdf_gibbs.contact.coefficients import SceneFriction, lower
from urdf_gibbs.contact.kinematics import DRY, LIMIT, PAIR, WALL, Contacts
from urdf_gibbs.contact.points import ContactPoint, Pair
from urdf_gibbs.contact.surfaces import Callbacks, Surfaces, check_radius, pack
from urdf_gibbs.errors import UrdfWarning
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.walls import Wall

LIMITED = ("revolute", "prismatic")


@dataclass(frozen=True)
class Candidates:
    """``points`` and ``walls`` name the contacts: a point and a wall, "a-b" and "", a joint and "lower" or "upper".

    After them comes the dry friction of joints: a joint and "joint friction".
    """

    contacts: Contacts
    surfaces: Surfaces
    callbacks: Callbacks
    points: tuple[str, ...]
    walls: tuple[str, ...]

    @property
    def touching(self) -> int:
        """How many can touch: all but the dry friction of joints."""
        return int((self.contacts.kind != DRY).sum())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{point}|{wall}" if wall else point for point, wall in zip(self.points, self.walls, strict=True))


def _limits_act(robot: Robot, joint: Joint) -> bool:
    """Whether the limits of this joint can stop the robot where no other limits do.

    Those of a mimic joint often repeat its master's. Where the two exclude each other the file contradicts itself: only the master's
    act, with a warning.
    """
    if not joint.is_mimic or joint.ratio == 0.0:
        return not joint.is_mimic
    master = next(other for other in robot.joints if other.iq == joint.iq and not other.is_mimic)
    low, high = sorted((bound - joint.offset) / joint.ratio for bound in (joint.lower, joint.upper))
    if low <= master.lower and master.upper <= high:
        return False
    if min(high, master.upper) - max(low, master.lower) > 0.0 or not master.lower < master.upper:
        return True
    warnings.warn(
        f"the limits of mimic joint {joint.name!r}, {joint.lower:g} to {joint.upper:g}, leave {master.name!r}, which it follows "
        f"{joint.ratio:g} times, nothing of its own, {master.lower:g} to {master.upper:g}: those of {joint.name!r} do not act",
        UrdfWarning,
        stacklevel=2,
    )
    return False


def _of_points(one: ContactPoint, other: ContactPoint, scene: SceneFriction) -> Coefficients:
    """Of a pair without its own: the lower of those that its points have, else the scene's."""
    own = [coefficients(point.friction, "friction") for point in (one, other) if point.friction is not None]
    return lower(*own) if own else scene.of(one, other)


def candidates(
    robot: Robot,
    walls: Sequence[Wall],
    points: Sequence[ContactPoint],
    pairs: Sequence[Pair],
    limits: bool,
    restitution: float,
    resolution: float = 1e-3,
    friction: SceneFriction = SceneFriction(),
    joint_friction: Mapping[tuple[int, int, str], float] = MappingProxyType({}),
) -> Candidates:
    """The candidates in order: all points on all walls, then the pairs, then the joint limits, which have no friction.

    Last the dry friction of joints, by entries of q and v and name: the largest force [N, N m].
    """
    for radius in {point.radius for point in points}:
        check_radius(walls, radius)
    surfaces, names, records, callbacks = pack(walls, resolution)
    rows: list[dict[str, Any]] = []
    for point in points:
        for i, name in enumerate(names):
            row = {"kind": WALL, "surface": i, "body": (point.body, -1), "place": (*point.position, 0.0, 0.0, 0.0), "radius": point.radius}
            row["rim"] = (*point.axis, point.rim)
            own = next((given for given in (point.friction, records[i].friction) if given is not None), friction.of(point))
            row |= {"share": point.radius, "restitution": records[i].restitution, "friction": own}
            rows.append({**row, "names": (point.name, name)})
    for one, other, reach, rough in pairs:
        row = {"kind": PAIR, "body": (one.body, other.body), "place": (*one.position, *other.position), "radius": reach}
        row["half"] = (*one.half, *other.half)
        sizes = one.radius + other.radius
        share = reach * one.radius / sizes if sizes > 0.0 else 0.5 * reach
        rows.append(
            {**row, "share": share, "friction": rough or _of_points(one, other, friction), "names": (f"{one.name}-{other.name}", "")}
        )
    for joint in robot.joints if limits else ():
        if joint.type in LIMITED and joint.lower <= joint.upper and _limits_act(robot, joint):
            for side, bound, sign in (("lower", joint.lower, 1.0), ("upper", joint.upper, -1.0)):
                if np.isfinite(bound):
                    limit = (sign * joint.ratio, sign * (joint.offset - bound))
                    rows.append({"kind": LIMIT, "index": (joint.iq, joint.iv), "limit": limit, "names": (joint.name, side)})
    for (iq, iv, name), most in joint_friction.items():
        rows.append({"kind": DRY, "index": (iq, iv), "restitution": 0.0, "reach": most, "names": (name, "joint friction")})

    def column(name: str, default: Any, dtype: Any) -> Any:
        values = [default if row.get(name) is None else row[name] for row in rows]
        return np.array(values, dtype=dtype).reshape(len(rows), *np.shape(default))

    contacts = Contacts(
        kind=column("kind", 0, np.int64),
        surface=column("surface", 0, np.int64),
        body=column("body", (-1, -1), np.int64),
        place=column("place", (0.0,) * 6, np.float64),
        radius=column("radius", 0.0, np.float64),
        index=column("index", (0, 0), np.int64),
        limit=column("limit", (0.0, 0.0), np.float64),
        restitution=column("restitution", restitution, np.float64),
        friction=column("friction", (0.0, 0.0), np.float64),
        share=column("share", 0.0, np.float64),
        reach=column("reach", 0.0, np.float64),
        half=column("half", (0.0,) * 6, np.float64),
        rim=column("rim", (0.0, 0.0, 1.0, 0.0), np.float64),
    )
    return Candidates(contacts, surfaces, callbacks, tuple(row["names"][0] for row in rows), tuple(row["names"][1] for row in rows))
