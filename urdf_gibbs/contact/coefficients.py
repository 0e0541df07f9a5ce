"""Friction of a scene, a wall, a point and a pair: the most specific of them counts, in the order pair, point, wall, scene.

The scene's may come from the URDF (``"urdf"``): then each link has its own, and of two links that touch each other the lower counts, as
it does of two points with coefficients of their own.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from urdf_gibbs.arguments import Coefficients, FrictionLike, coefficients, shown
from urdf_gibbs.contact.points import ContactPoint, Pair
from urdf_gibbs.errors import ArgumentError, UrdfWarning
from urdf_gibbs.robot.link_friction import link_friction
from urdf_gibbs.robot.model import Robot

URDF = "urdf"
SceneFrictionLike = FrictionLike | str | tuple[str, FrictionLike]


class SceneFriction(NamedTuple):
    """What counts where neither pair nor point nor wall has its own: that of the URDF's links, ``default`` for all others."""

    default: Coefficients = Coefficients(0.0, 0.0)
    links: Mapping[str, Coefficients] = MappingProxyType({})

    def of(self, *points: ContactPoint) -> Coefficients:
        """For these points, one of which touches a wall or two of which touch each other."""
        return lower(*(self.links.get(point.link, self.default) for point in points))


def lower(*friction: Coefficients) -> Coefficients:
    return Coefficients(min(one.static for one in friction), min(one.kinetic for one in friction))


def scene_friction(robot: Robot, friction: Any) -> SceneFriction:
    """What an argument ``friction`` says: a coefficient, (static, kinetic), "urdf" or ("urdf", what links without their own have)."""
    if isinstance(friction, str) and friction != URDF:
        raise ArgumentError(f"friction={shown(friction)}, expected a coefficient, (static, kinetic), {URDF!r} or ({URDF!r}, coefficient)")
    if friction == URDF:
        return SceneFriction(links=link_friction(robot))
    if isinstance(friction, Sequence) and len(friction) == 2 and friction[0] == URDF:
        return SceneFriction(coefficients(friction[1], "friction"), link_friction(robot))
    return SceneFriction(coefficients(friction, "friction"))


def warn_of_smooth_links(scene: SceneFriction, friction: Any, points: Sequence[ContactPoint], pairs: Sequence[Pair]) -> None:
    """Warn where the URDF was to tell the friction, says nothing of a link, and no other was given for it."""
    if friction != URDF:
        return
    touching = [point for point in points if point.friction is None] + [
        point for pair in pairs if pair.friction is None for point in pair[:2]
    ]
    smooth = list(dict.fromkeys(point.link for point in touching if point.link not in scene.links))
    if smooth:
        warnings.warn(
            f"no friction in the URDF for {', '.join(smooth)}: 0 there; friction=({URDF!r}, 0.5) gives them another",
            UrdfWarning,
            stacklevel=4,
        )
