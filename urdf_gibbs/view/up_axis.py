"""Whether the links of a robot meet better with their COLLADA files' ``<up_axis>`` honoured or ignored: measured at the joints.

A joint is where two bodies touch. The distance from its origin to the nearest vertex of either body is therefore small where the meshes
stand as their author had them, and large where they are turned away.
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

MOST = 4000  # vertices of a mesh that are looked at
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
    """From points (body, place in its frame) to the nearest vertex of the body [m], on average. change: the setting to turn to, or ""."""
    bodies: dict[int, list[Array]] = {body: [] for body, _ in places}
    for link, solid, pose, scale in visuals:
        frame = robot.frame(link)
        if frame.body not in bodies:
            continue
        vertices = solid.vertices[:: max(1, len(solid.vertices) // MOST)].astype(float)
        if change and solid.up in TURNED:
            turn = np.array(TURNED[solid.up])
            vertices = (vertices / scale) @ (turn.T if change == "file" else turn) * scale
        world = frame.placement @ pose
        bodies[frame.body].append(vertices @ world[:3, :3].T + world[:3, 3])
    return float(np.mean([np.sqrt(((np.concatenate(bodies[body]) - point) ** 2).sum(axis=1).min()) for body, point in places] or [0.0]))
