"""Whether meshes are in another unit than metres: next to the distances of the joints they would be far too large or too small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.view.solids import Solid

Array = NDArray[np.float64]

FAR = 100.0  # times the reach of the joints, or a part of it: no link of a robot is that long or that short


def mesh_size_hint(meshes: Sequence[tuple[str, Solid]], origins: Sequence[Array]) -> str:
    """A sentence for a robot whose links stand at ``origins`` with meshes (link, triangles) of a wrong size; "" for all others."""
    if not meshes or not origins:
        return ""
    reach = float(np.ptp(origins, axis=0).max())
    sizes = [float(np.ptp(solid.bounds, axis=0).max()) for _, solid in meshes]
    largest = int(np.argmax(sizes))
    if not reach or not sizes[largest] or reach / FAR <= sizes[largest] <= FAR * reach:
        return ""
    link, size = meshes[largest][0], sizes[largest]
    said = f'The largest mesh, of link "{link}", is {size:.3g} m long and all joints are within {reach:.3g} m'
    if size > reach:
        return said + ': a mesh in millimetres needs scale="0.001 0.001 0.001" in its <mesh>'
    return said + ": its scale may be too small (a mesh in metres needs none)"
