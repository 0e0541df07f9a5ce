"""Elastic links in drawings: visuals that bend with the beam, points of its axis, its inertia and the energy that it stores.

A vertex whose section is at eta (clamped to the beam: what stands out beyond an end moves with that end) goes from rest to
rho(eta) + exp(theta(eta)) (vertex - rho0(eta)), everything in the axes of the link, whose origin is the beam's root.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.dynamics.elastic import amplitudes
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.flexible.build import shapes_at
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import Inertia
from urdf_gibbs.view.solids import Solid

Array = NDArray[np.float64]
Index = NDArray[np.int64]

PIECES = 20  # of a beam's axis,
PIECES_FOR_MODE = 6  # and at least so many for each half wave of the highest mode
SECTIONS = 1000  # of a visual: more different eta than this are put on an even grid
SAME = 1e-7  # of the length: closer eta are one section (vertices are float32)


class OnAxis(NamedTuple):
    """A point of a beam's axis: ``joint`` is the elastic joint; ``rest`` (3,) [m] and phi (M, 3) in the frame of the body at the root."""

    joint: int
    rest: tuple[float, ...]
    phi: tuple[tuple[float, ...], ...]


class Skin(NamedTuple):
    """How the vertices of a visual follow the beam: their sections (n,), and at the sections eta (k,), phi (k, M, 3), theta (k, m, 3).

    ``name`` is that of its node, "visual 0". Everything is in the axes of the link, as are the vertices of the ``solid``.
    """

    joint: int
    name: str
    solid: Solid
    axis: Array
    section: NDArray[np.intp]
    eta: Array
    phi: Array
    theta: Array

    def bent(self, beam: Beam, delta: ArrayLike) -> Array:
        """The vertices (n, 3) [m] at the elastic coordinates delta (m,), in the link's frame."""
        values = np.asarray(delta, dtype=float)
        p = np.array(amplitudes(beam, values.tolist()))
        rho0 = self.eta[:, None] * self.axis
        rho = rho0 + np.einsum("a,kai->ki", p, self.phi)
        turn = rotations(np.einsum("j,kji->ki", values, self.theta))
        arm = self.solid.vertices.astype(float) - rho0[self.section]
        return np.asarray(rho[self.section] + np.einsum("nij,nj->ni", turn[self.section], arm))


def rotations(theta: Array) -> Array:
    """exp of rotation vectors (n, 3) -> (n, 3, 3)."""
    square = (theta * theta).sum(axis=1)
    size = np.sqrt(square)
    small = square < 1e-8
    safe = np.where(small, 1.0, size)
    a = np.where(small, 1.0 - square / 6.0, np.sin(safe) / safe)
    b = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(safe)) / safe**2)
    tilde = np.zeros((len(theta), 3, 3))
    x, y, z = theta.T
    tilde[:, 0, 1], tilde[:, 0, 2], tilde[:, 1, 2] = -z, y, -x
    tilde[:, 1, 0], tilde[:, 2, 0], tilde[:, 2, 1] = z, -y, x
    return np.asarray(np.eye(3) + a[:, None, None] * tilde + b[:, None, None] * (tilde @ tilde))


def elastic_joints(robot: Robot) -> list[tuple[int, Beam]]:
    """(number of the joint, its beam) for each elastic link."""
    return [(i, joint.beam) for i, joint in enumerate(robot.joints) if joint.beam is not None]


def cuts(beam: Beam) -> Array:
    """eta at which a beam is drawn in straight pieces."""
    highest = max(int(name.lstrip("xyztorsin")) for name in beam.names)
    return np.linspace(0.0, beam.length, max(PIECES, PIECES_FOR_MODE * highest) + 1)


def axis_points(joint: int, beam: Beam) -> list[OnAxis]:
    """Points along a beam's axis, from its root to just before its tip."""
    eta = cuts(beam)[:-1]
    phi, _ = shapes_at(beam, eta)
    rest = beam.root + eta[:, None] * beam.axis
    return [OnAxis(joint, tuple(x), tuple(map(tuple, shapes))) for x, shapes in zip(rest.tolist(), phi.tolist(), strict=True)]


# skins ------------------------------------------------------------------------------------------


def skinned(robot: Robot, joint: int, beam: Beam, name: str, solid: Solid, pose: Array) -> Skin:
    """A visual of an elastic link, at ``pose`` (4, 4) in its frame: cut across the beam, and tied to its sections."""
    turn = robot.frame(beam.link).placement[:3, :3]
    axis = turn.T @ beam.axis
    rotation = pose[:3, :3].astype(np.float32)
    places = (solid.vertices.astype(float) @ pose[:3, :3].T + pose[:3, 3]).astype(np.float32)
    in_link = Solid(places, solid.faces, solid.normals @ rotation.T, solid.colours)
    in_link = sliced(in_link, axis, cuts(beam))
    along = np.clip(in_link.vertices.astype(float) @ axis, 0.0, beam.length)
    step = SAME * beam.length
    keys, section = np.unique(np.round(along / step), return_inverse=True)
    if len(keys) > SECTIONS:  # a vertex then moves rigidly with the nearest section, which is not visible
        step = beam.length / SECTIONS
        keys, section = np.unique(np.round(along / step), return_inverse=True)
    eta = np.minimum(keys * step, beam.length)
    phi, theta = shapes_at(beam, eta)
    return Skin(joint, name, in_link, axis, section.ravel(), eta, phi @ turn, theta @ turn)


def sliced(solid: Solid, axis: Array, at: Array) -> Solid:
    """The same surface with its triangles cut by the planes axis . x = at (ascending), so that it can bend there."""
    parts = [solid.vertices.astype(float), solid.normals.astype(float)]
    if solid.colours is not None:
        parts.append(solid.colours.astype(float))
    data, faces = np.concatenate(parts, axis=1), solid.faces.astype(np.int64)
    height = data[:, :3] @ axis
    slack = 1e-6 * max(float(np.ptp(at)), 1e-300)
    low, high = height[faces].min(axis=1), height[faces].max(axis=1)
    crossed = np.searchsorted(at, low + slack, "right") < np.searchsorted(at, high - slack, "left")
    if not crossed.any():
        return solid
    data, pieces = _pieces(data, faces[crossed], height, at, slack)
    faces = np.concatenate([faces[~crossed], pieces])
    normals = data[:, 3:6] / np.maximum(np.linalg.norm(data[:, 3:6], axis=1, keepdims=True), 1e-300)
    colours = None if solid.colours is None else data[:, 6:].round().astype(np.uint8)
    return Solid(data[:, :3].astype(np.float32), faces.astype(np.uint32), normals.astype(np.float32), colours)


def _pieces(data: Array, faces: Index, height: Array, at: Array, slack: float) -> tuple[Array, Index]:
    """Vertices (rows of position, normal, ...) with new ones behind them, and the faces cut at these heights.

    Every new vertex is where a plane meets an edge of the surface, so that neighbours share it and no gap opens when it bends.
    """
    order = np.argsort(height[faces], axis=1, kind="stable")
    a, b, c = np.take_along_axis(faces, order, axis=1).T  # from low to high
    odd = (order[:, 0] + 1) % 3 != order[:, 1]  # sorted the other way round
    ha, hb, hc = height[a], height[b], height[c]
    corners, cut = [], []
    for number in range(len(at) + 1):  # the slab below plane ``number``
        below = at[number - 1] if number > 0 else -np.inf
        above = at[number] if number < len(at) else np.inf
        own = np.flatnonzero((hc > below + slack) & (ha < above - slack))
        A, B, C, h = a[own], b[own], c[own], hb[own]
        starts, ends = ha[own] >= below - slack, hc[own] <= above + slack
        # Around the piece: up the side of b, down the long side from c to a; (i, i, 0) is a vertex, (i, j, k) an edge and its plane.
        low, high = (np.full(len(own), k) for k in (number, number + 1))
        first, last = np.where(h < below, B, A), np.where(h < below, C, B)
        at_b = np.abs(h - below) <= slack
        up = np.stack([np.where(at_b, B, first), np.where(at_b, B, last), np.where(at_b, 0, low)], axis=1)
        first, last = np.where(h < above, B, A), np.where(h < above, C, B)
        at_b = np.abs(h - above) <= slack
        down = np.stack([np.where(at_b, B, first), np.where(at_b, B, last), np.where(at_b, 0, high)], axis=1)
        start = np.stack([A, np.where(starts, A, C), np.where(starts, 0, low)], axis=1)
        end = np.stack([np.where(ends, C, A), C, np.where(ends, 0, high)], axis=1)
        middle = np.stack([B, B, 0 * B], axis=1)
        inside = (starts | (h > below + slack)) & (ends | (h < above - slack))
        ring = np.stack([start, up, middle, down, end], axis=1)
        keep = np.stack([np.ones_like(starts), ~starts, inside, ~ends, np.ones_like(ends)], axis=1)
        ring[odd[own]], keep[odd[own]] = ring[odd[own]][:, ::-1], keep[odd[own]][:, ::-1]
        corners.append(ring)
        cut.append(keep)
    rings, used = np.concatenate(corners), np.concatenate(cut)
    rings[:, :, :2].sort(axis=2)  # one new vertex for an edge, whichever face asks
    keys, index = np.unique(rings[used], axis=0, return_inverse=True)
    i, j, plane = keys.T
    fresh = i != j
    share = ((at[plane[fresh] - 1] - height[i[fresh]]) / (height[j[fresh]] - height[i[fresh]]))[:, None]
    numbers = i.copy()
    numbers[fresh] = len(data) + np.arange(int(fresh.sum()))
    data = np.concatenate([data, data[i[fresh]] + share * (data[j[fresh]] - data[i[fresh]])])
    polygon = np.full(used.shape, -1)
    polygon[used] = numbers[index.ravel()]
    # A fan of each ring of three to five corners.
    compact = np.take_along_axis(polygon, np.argsort(~used, axis=1, kind="stable"), axis=1)
    fans = [compact[compact[:, k + 1] >= 0][:, [0, k, k + 1]] for k in (1, 2, 3)]
    return data, np.concatenate(fans)


# mass and energy --------------------------------------------------------------------------------


def moving_mass(robot: Robot) -> float:
    """The mass [kg] of all that moves, elastic links included."""
    return float(robot.mass.sum()) + sum(beam.mass for _, beam in elastic_joints(robot))


def beam_inertia(robot: Robot, beam: Beam) -> Inertia:
    """The inertia of a straight elastic link, in the link's frame."""
    turn = robot.frame(beam.link).placement[:3, :3]
    com = beam.first / beam.mass
    second = beam.second - beam.mass * np.outer(com, com)
    tensor = turn.T @ (np.trace(second) * np.eye(3) - second + beam.rotary) @ turn
    return Inertia(beam.mass, tuple((turn.T @ (com - beam.root)).tolist()), tuple(tensor.ravel().tolist()))


def strain_energy(robot: Robot, q: Array) -> Array:
    """(...,) [J], stored in the elastic links, for q (..., nq)."""
    total = np.zeros(q.shape[:-1])
    for i, beam in elastic_joints(robot):
        start = robot.joints[i].iq
        delta = q[..., start : start + beam.m]
        total += 0.5 * np.einsum("...i,ij,...j->...", delta, beam.stiffness, delta)
    return total


def units(beam: Beam) -> list[str]:
    """Of each coordinate: "m", or "rad" for torsion."""
    return ["rad" if name.startswith("torsion") else "m" for name in beam.names]


# for the page -----------------------------------------------------------------------------------


def beam_data(robot: Robot, beam: Beam) -> dict[str, Any]:
    """What the page needs to move the tip and to find the centre of mass, in the axes of the body at the root."""
    turn = robot.frame(beam.link).placement[:3, :3]
    return {
        "link": beam.link,
        "length": beam.length,
        "names": list(beam.names),
        "units": units(beam),
        "pairs": [list(pair) for pair in beam.pairs],
        "tip": beam.tip.tolist(),
        "turn": beam.tip_rotation.tolist(),
        "mass": beam.mass,
        "first": beam.first.tolist(),
        "moments": beam.C1.tolist(),
        "root": beam.root.tolist(),
        "axes": turn.ravel().tolist(),
    }
