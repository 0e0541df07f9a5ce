"""Whether the links of a robot meet better with their COLLADA files' ``<up_axis>`` honoured or ignored: measured at the joints.

A joint is where two bodies touch. Its origin is therefore in or near the box about some mesh of either body where the meshes stand as
their author had them, and further away where they are turned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.names import UpAxis
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import Vec3
from urdf_gibbs.view.mesh_collada import TURNED
from urdf_gibbs.view.solids import Solid

Array = NDArray[np.float64]
Placed = tuple[str, Solid, Array, Vec3]  # link, triangles, pose (4, 4) in its frame, scale

BETTER = 0.6  # the other way has to bring the distances below this share of what they are,
WORTH = 0.01  # by more than this share of the size of the meshes


def up_axis_hint(robot: Robot, visuals: Sequence[Placed], up_axis: UpAxis) -> str:
    """A sentence for a robot whose links would meet more closely with the other setting; "" for all others."""
    turned = {robot.frame(link).body for link, solid, _, _ in visuals if solid.up in TURNED}
    if not turned:
        return ""
    other: UpAxis = "file" if up_axis == "ignore" else "ignore"
    places = [
        (body, point)
        for i, (parent, placement) in enumerate(zip(robot.parent, robot.placement, strict=True))
        for body, point in ((i, np.zeros(3)), (parent, placement[:3, 3]))
        if body in turned and robot.joints[i].type not in ("floating", "planar", "elastic")
    ]
    now, then = _distances(robot, visuals, places, ""), _distances(robot, visuals, places, other)
    size = max((float(np.ptp(solid.bounds, axis=0).max()) for _, solid, _, _ in visuals), default=0.0)
    if not places or then > BETTER * now or now - then < WORTH * size:
        return ""
    what = "not honoured, as in RViz" if other == "file" else "honoured"
    return (
        f'COLLADA files of this robot say that another axis than z is up, which is {what}. With up_axis="{other}" (--up-axis {other}) its '
        f"links come nearer to their joints: {1e3 * then:.3g} mm instead of {1e3 * now:.3g} mm on average"
    )


def _distances(robot: Robot, visuals: Sequence[Placed], places: Sequence[tuple[int, Array]], change: str) -> float:
    """From points (body, place in it) to the boxes about the body's meshes [m], on average. change: the setting to turn to, or ""."""
    least = [np.inf] * len(places)
    for link, solid, pose, scale in visuals:
        frame = robot.frame(link)
        corners = solid.bounds
        if change and solid.up in TURNED:
            turn = np.array(TURNED[solid.up])
            corners = (corners / scale) @ (turn.T if change == "file" else turn) * scale
        low, high = corners.min(axis=0), corners.max(axis=0)
        world = frame.placement @ pose
        for k, (body, point) in enumerate(places):
            if body == frame.body:
                own = (point - world[:3, 3]) @ world[:3, :3]
                least[k] = min(least[k], float(np.linalg.norm(own - np.clip(own, low, high))))
    return float(np.mean(least or [0.0]))
