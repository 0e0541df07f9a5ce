"""The same derivatives over numbers, with all axes of a subtree walking side by side: for robots too large for code of their own.

A walker's numbers are arrays with one value for each axis (and, in a batch, for each state), so that Python takes a joint in some hundred
steps, whatever it carries: O(n) of them instead of O(n depth).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.derivatives.inverse_dynamics import (
    Derivatives,
    Walker,
    column_entries,
    cross_joint,
    doubled_velocities,
    row_entries,
    starting_walkers,
)
from urdf_gibbs.derivatives.motion import Carried, carried_bodies
from urdf_gibbs.dynamics.local import Axis, LocalModel
from urdf_gibbs.dynamics.matrices import Scalar, Scalars, Vector

Array = NDArray[np.float64]
Side = tuple[list[Axis], Walker]  # the axes, and a walker with one number for each of them


def derivative_matrices(model: LocalModel, q: Scalars, v: Scalars, a: Scalars, gravity: Scalars) -> Array:
    """dtau/dq, dtau/dv and M (3, nv, nv) at a state of floats, or (3, nv, nv, states) where they are arrays of one value for each state."""
    states = np.broadcast_shapes(*(np.shape(x) for x in (*q, *v, *a, *gravity)))
    found = np.zeros((3, model.nv, model.nv, *states))
    by_q, by_v, by_a = found
    result = Derivatives(by_q, by_v, by_a, Vector.zeros(model.nv))  # entries are added in place
    bodies = carried_bodies(model, q, v, a, gravity)
    doubled = doubled_velocities(bodies)
    waiting: list[list[Side]] = [[] for _ in bodies]
    for i, walkers in starting_walkers(result, bodies):
        axes = bodies[i].body.axes
        sides = [*waiting[i], *(([axis], walker) for axis, walker in zip(axes, walkers, strict=True))]
        parent = bodies[i].body.parent
        if parent >= 0:
            together = joined(sides, states)
            cross_joint(together[1], bodies[i], doubled[i], bodies[parent])
            _add_entries(found, together, bodies[parent])
            waiting[parent].append(together)
        waiting[i] = []
    return found


def joined(sides: list[Side], states: tuple[int, ...]) -> Side:
    """Walkers at the same place as one."""
    axes = [axis for own, _ in sides for axis in own]
    counts = [len(own) for own, _ in sides]

    def stacked(vectors: list[Vector]) -> Vector:
        return Vector([_stacked([x[k] for x in vectors], counts, states) for k in range(3)])

    walkers = [walker for _, walker in sides]
    one = Walker(
        axes[0],
        stacked([walker.N for walker in walkers]),
        stacked([walker.F for walker in walkers]),
        stacked([walker.Q for walker in walkers]),
        (stacked([walker.by_q[0] for walker in walkers]), stacked([walker.by_q[1] for walker in walkers])),
        (stacked([walker.by_v[0] for walker in walkers]), stacked([walker.by_v[1] for walker in walkers])),
    )
    return axes, one


def _stacked(values: list[Scalar], counts: list[int], states: tuple[int, ...]) -> Array:
    parts = [np.broadcast_to(value, (count, *states)) for value, count in zip(values, counts, strict=True)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _add_entries(found: Array, side: Side, above: Carried) -> None:
    """Between all axes of the side and those of a joint above them."""
    axes, walker = side
    indices = np.array([axis.iv for axis in axes])
    ratios = np.array([axis.ratio for axis in axes]).reshape(-1, *[1] * (found.ndim - 3))
    for other, dq, dv in zip(above.body.axes, above.by_q, above.by_v, strict=True):
        columns = column_entries(walker, other)
        rows: tuple[Any, ...] = (*row_entries(walker, dq, dv), columns[2])
        for block in range(3):  # several axes may have one coordinate: mimic joints
            np.add.at(found[block, other.iv], indices, other.ratio * ratios * columns[block])
            np.add.at(found[block, :, other.iv], indices, other.ratio * ratios * rows[block])
