"""The bundled models that many tests use, and their start positions."""

from __future__ import annotations

from functools import cache
from math import cos, pi, sin, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs import Robot, load

Array = NDArray[np.float64]
MODELS = Path(__file__).parents[1] / "models"
# Shafei 2018, Sect. 6. X1 = X2 is printed as -1.366, the exact value makes the start symmetric.
START = np.array([-(1 + sqrt(3)) / 2] * 2 + [pi / 6, pi / 6, -2 * pi / 3, pi / 6, pi / 6, -2 * pi / 3, pi / 3, 0.0, 2 * pi / 3, -pi / 3])
# link: (parent link, point where it starts, point where it ends), Shafei 2018, Figs. 1 and 4
LINKS = {
    1: (0, 1, 2), 2: (1, 2, 3), 3: (2, 3, 4), 4: (3, 4, 5),
    5: (2, 3, 6), 6: (5, 6, 7), 7: (6, 7, 8),
    8: (5, 6, 9),
    9: (5, 6, 10), 10: (9, 10, 11),
}  # fmt: skip


@cache
def branched12() -> Robot:
    return load(MODELS / "branched12.urdf")


def planar_points(q: Array) -> dict[int, tuple[float, float]]:
    """Points O1 ... O11 by plane trigonometry: links of 1 m, angles relative to the parent link."""
    angle, point = {0: 0.0}, {1: (float(q[0]), float(q[1]))}
    for link, (parent, start, end) in LINKS.items():
        angle[link] = angle[parent] + q[1 + link]
        x, y = point[start]
        point[end] = (x + cos(angle[link]), y + sin(angle[link]))
    return point
