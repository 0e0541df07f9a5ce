"""How points of a robot move, for drawings: places and velocities of many states at once, and the times worth a sample.

Evaluated with NumPy over all states, from the same equations that the kernels are compiled from: a picture of a dozen points
should not have to wait for the compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.dynamics.elastic import amplitudes, combined, slopes
from urdf_gibbs.dynamics.kinematics import placements, velocities
from urdf_gibbs.dynamics.model import Body, model_of
from urdf_gibbs.dynamics.scalar import Vector, cross, dot, matvec, vadd
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.elastic import OnAxis

Array = NDArray[np.float64]
Fixed = tuple[int, Sequence[float]]  # body (-1: the world) and the point in its frame [m]
Place = Fixed | OnAxis

CHUNK = 1024  # states at a time: keeps what a robot of a thousand bodies needs below 200 MB
GRID = 2000  # even times
KEPT_JUMPS = 1000  # jumps of which both sides are sampled
KEPT_ROWS = 1000  # rows of the trajectory up to which all are sampled


def positions(robot: Robot, places: Sequence[Place], q: Array) -> Array:
    """(..., n, 3) [m] in the world of n points, for q (..., nq)."""
    return _moved(robot, places, q, np.zeros((*q.shape[:-1], robot.nv)))[0]


def moved_points(robot: Robot, places: Sequence[Place], q: Array, v: Array) -> tuple[Array, Array]:
    """Positions (..., n, 3) [m] and velocities (..., n, 3) [m/s] of n points, in world axes, for q (..., nq) and v (..., nv)."""
    return _moved(robot, places, q, v)


def _moved(robot: Robot, places: Sequence[Place], q: Array, v: Array) -> tuple[Array, Array]:
    """Positions (..., n, 3) [m] and velocities (..., n, 3) [m/s] of n points, in world axes."""
    batch = q.shape[:-1]
    rows = int(np.prod(batch))
    q, v = q.reshape(rows, robot.nq), v.reshape(rows, robot.nv)
    x, u = np.empty((rows, len(places), 3)), np.empty((rows, len(places), 3))
    for start in range(0, rows, CHUNK):
        chunk = slice(start, start + CHUNK)
        columns = ([np.ascontiguousarray(column) for column in state[chunk].T] for state in (q, v))
        for k, (place, velocity) in enumerate(_points(robot, places, *columns)):
            for i in range(3):
                x[chunk, k, i], u[chunk, k, i] = place[i], velocity[i]
    return x.reshape(*batch, len(places), 3), u.reshape(*batch, len(places), 3)


def _points(robot: Robot, places: Sequence[Place], q: Vector, v: Vector) -> list[tuple[Vector, Vector]]:
    """Place and velocity of each point, over any scalar."""
    model = model_of(robot)
    pose = placements(model, q)
    omega, velocity = velocities(model, q, v, pose)
    points: list[tuple[Vector, Vector]] = []
    for place in places:
        if isinstance(place, OnAxis):
            i = model.bodies[place.joint].parent
            point, slip = _on_axis(model.bodies[place.joint], place, q, v)
        else:
            i, point, slip = place[0], [float(entry) for entry in place[1]], [0.0, 0.0, 0.0]
        if i < 0:
            points.append((point, slip))
            continue
        R, p = pose[i]
        lever = matvec(R, point)
        points.append((vadd(p, lever), vadd(vadd(velocity[i], cross(omega[i], lever)), matvec(R, slip))))
    return points


def _on_axis(body: Body, place: OnAxis, q: Vector, v: Vector) -> tuple[Vector, Vector]:
    """A point of a beam's axis in the frame of the body at its root, and its velocity there."""
    beam = body.beam
    assert beam is not None
    delta, phi = q[body.iq : body.iq + beam.m], np.array(place.phi)
    rates = [dot(row, [v[column.iv] for column in body.columns]) for row in slopes(beam, delta)]
    return vadd(list(place.rest), combined(amplitudes(beam, delta), phi)), combined(rates, phi)


class Samples(NamedTuple):
    """States at times in order. A row of NaN stands where velocities jump, so that a line through the rows breaks there.

    ``jumps`` are the times of all jumps; ``broken`` says that not all of them have a row on both sides.
    """

    t: Array
    q: Array
    v: Array
    jumps: Array
    broken: bool

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """The rows that are NaN."""
        return np.isnan(self.t)


def samples(trajectory: Trajectory) -> Samples:
    """The trajectory at even times, at its rows where they are few, and on both sides of its jumps: at most about 5,000 rows."""
    t = trajectory.t
    jumps = np.unique(t[1:][np.diff(t) == 0.0])
    rows = np.unique(t)
    grid = np.linspace(t[0], t[-1], GRID)
    kept = spread(jumps, KEPT_JUMPS)
    if len(kept) < len(jumps):  # even times would beat with the bounces and show waves that are not there
        grid[:-1] += np.random.default_rng(0).random(GRID - 1) * np.diff(grid)
    wanted = np.union1d(grid, rows if len(rows) <= KEPT_ROWS else rows[[0, -1]])
    wanted = np.setdiff1d(wanted, jumps)
    times = np.concatenate([wanted, kept, kept])
    after = np.concatenate([np.ones(len(wanted), bool), np.zeros(len(kept), bool), np.ones(len(kept), bool)])
    order = np.lexsort((after, times))
    times, after = times[order], after[order]
    (q_after, v_after), (q_before, v_before) = trajectory.at(times), trajectory.at(times, "left")
    side = after[:, None]
    q, v = np.where(side, q_after, q_before), np.where(side, v_after, v_before)
    past = np.where(after, np.searchsorted(jumps, times, "right"), np.searchsorted(jumps, times, "left"))
    breaks = np.flatnonzero(np.diff(past) > 0) + 1
    t, q, v = (np.insert(array, breaks, np.nan, axis=0) for array in (times, q, v))
    return Samples(t, q, v, jumps, len(kept) < len(jumps))


def spread(values: Array, count: int) -> Array:
    """Of many values ``count``, evenly spread over the order, with the first and the last."""
    if len(values) <= count:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, count).round().astype(np.intp)])


def moved(robot: Robot, places: Sequence[Place], states: Samples) -> tuple[Array, Array]:
    """Positions and velocities (rows, n, 3) of n points in these samples; NaN where they are."""
    real = ~states.gaps
    x, u = np.full((len(states.t), len(places), 3), np.nan), np.full((len(states.t), len(places), 3), np.nan)
    x[real], u[real] = _moved(robot, places, states.q[real], states.v[real])
    return x, u


def moving_axes(x: Array, flat: float = 1e-9) -> tuple[int, ...]:
    """The world axes along which some of the points x (rows, n, 3) move; where none does, those along which they are apart.

    ``flat`` is what counts as round-off, against the extent of all points.
    """
    x = x[np.isfinite(x).all(axis=(1, 2))] if x.size else x
    if not x.size:
        return ()
    size = max(float(np.ptp(x, axis=(0, 1)).max()), float(np.abs(x).max()))
    moving = np.ptp(x, axis=0).max(axis=0) > flat * size
    chosen = moving if moving.any() else np.ptp(x, axis=(0, 1)) > flat * size
    return tuple(int(axis) for axis in np.flatnonzero(chosen)) or (0,)
