"""Places the camera so that the scene fills the page and gravity points down."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.view.wall_drawing import WallDrawing

Array = NDArray[np.float64]

FLAT = 1e-3  # of the size: a scene that is thinner is seen face-on
SMALLEST = 1e-6  # m, and of the size for a robot: smaller is a point
DISTANCE, FACE_ON = 1.4, 1.0  # of the size of the scene, at an opening of 45 degrees


def camera(
    scene: Array,
    robot: Array,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    flat: Array | None = None,
    ways: Array | None = None,
    floors: Iterable[WallDrawing] = (),
) -> dict[str, Any]:
    """The camera for what lies within ``scene`` (2, 3), the robot in ``robot`` (2, 3) being what symbols are scaled to.

    ``flat`` (2, 3) is the box of what moves: where it is thin across the vertical, the motion is in a plane and seen face-on.
    The ground is at most as high as all points ``ways`` (n, 3) and as those ``floors`` that face upwards; None where nothing says.
    """
    size = float(np.linalg.norm(scene[1] - scene[0]))
    size = size if size > SMALLEST else 1e-3
    own = float(np.linalg.norm(robot[1] - robot[0]))
    up = -np.asarray(gravity, dtype=float)
    norm = float(np.linalg.norm(up))
    up = up / norm if norm > 0.0 else np.array([0.0, 0.0, 1.0])
    normal = _plane_of_motion(up, flat, size)
    direction = FACE_ON * normal if normal is not None else DISTANCE * _from_a_corner(up)
    target = scene.mean(axis=0)
    return {
        "position": (target + size * direction).tolist(),
        "target": target.tolist(),
        "up": up.tolist(),
        "size": size,
        "robot_size": own if own > SMALLEST * size else 0.1 * size,  # symbols stay visible even if the robot is a point
        "grid": float(10.0 ** np.round(np.log10(size / 10.0))),
        "ground": min([*(() if ways is None else ways @ up), *_floors(floors, up)], default=None),
    }


def _floors(walls: Iterable[WallDrawing], up: Array) -> list[float]:
    """How low those walls go that one can stand on."""
    solids = [wall.surface for wall in walls if wall.surface is not None]
    return [float((solid.vertices @ up).min()) for solid in solids if len(solid.normals) and float((solid.normals @ up).mean()) > 0.5]


def _plane_of_motion(up: Array, flat: Array | None, size: float) -> Array | None:
    """The normal of the vertical coordinate plane in which everything moves, on the side where its axes run to the right and up."""
    if flat is None:
        return None
    extent = flat[1] - flat[0]
    thin = int(np.argmin(extent))
    if extent[thin] > FLAT * size or abs(up[thin]) > 0.1 or sorted(extent)[1] < FLAT * size:
        return None
    normal = np.zeros(3)
    normal[thin] = -1.0 if thin == 1 and up[2] > 0.0 else 1.0
    return normal


def _from_a_corner(up: Array) -> Array:
    """Obliquely from above."""
    aside = np.eye(3)[int(np.argmin(np.abs(up)))]
    aside = aside - (aside @ up) * up
    aside /= np.linalg.norm(aside)
    direction = 0.75 * aside - 0.5 * np.cross(up, aside) + 0.42 * up
    return np.asarray(direction / np.linalg.norm(direction))
