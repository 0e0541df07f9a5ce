"""Ellipsoid, box, height field and implicit surface, compiled as one separate function."""

from __future__ import annotations

from urdf_gibbs.contact.surfaces.distance import signed_distance
from urdf_gibbs.contact.surfaces.layout import DISTANCE, JET, LOWEST, SPOT, Row, Surfaces
from urdf_gibbs.contact.surfaces.level import level_function
from urdf_gibbs.contact.surfaces.sphere import lowest_on_sphere
from urdf_gibbs.engine.jit import entry


@entry(Surfaces, int, part="walls")
def curved(s: Surfaces, i: int) -> int:
    """Read point and question for surface i from scratch[SPOT:], write the jet to scratch[JET:]."""
    row, u = Row(s.values[i], s.integers[i], s.data, s.scratch), s.scratch
    x, y, z, question = u[SPOT], u[SPOT + 1], u[SPOT + 2], int(u[SPOT + 3])
    if question == DISTANCE:
        f = signed_distance(row, x, y, z)
    elif question == LOWEST:
        f = lowest_on_sphere(row, x, y, z, u[SPOT + 4])
    else:
        f = level_function(row, x, y, z, question)
    for k in range(10):
        u[JET + k] = f[k]
    return 0
