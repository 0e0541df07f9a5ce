"""Triangles of a visual: the URDF's primitives, a stand-in for what cannot be read, and normals for any triangle mesh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.urdf import Geometry

AROUND = 32  # segments of a full turn; a sphere has half as many from pole to pole
CREASE = math.radians(30.0)
# A face flatter than this (twice its area over its longest edge squared) has no direction left in float32.
FLAT = 1e-9
# Surfaces that meet at one vertex and are told apart; what is left after them is shaded flat.
GROUPS = 6


@dataclass(frozen=True, eq=False)
class Solid:
    """A triangle mesh in the frame of its visual; ``colours`` None: the caller's colour applies. The arrays are read-only.

    ``notes`` are sentences on what the mesh's file names and was not read. ``up`` is the axis that the file calls up, "" where it names
    none. A mirror image knows its ``original``, whose coordinates times ``signs`` are its own: pages hold such triangles once.
    """

    vertices: NDArray[np.float32]  # (n, 3) [m]
    faces: NDArray[np.uint32]  # (m, 3), counter-clockwise seen from outside
    normals: NDArray[np.float32]  # (n, 3)
    colours: NDArray[np.uint8] | None = None  # (n, 4) rgba
    notes: tuple[str, ...] = ()
    up: str = ""
    original: Solid | None = None
    signs: tuple[float, ...] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        for name, dtype, width in (
            ("vertices", np.float32, 3),
            ("faces", np.uint32, 3),
            ("normals", np.float32, 3),
            ("colours", np.uint8, 4),
        ):
            given = getattr(self, name)
            if given is None:
                continue
            array = np.ascontiguousarray(given, dtype=dtype).reshape(-1, width)
            # A view, so that locking does not reach the array of a caller who goes on writing to it.
            array = array.view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """The lowest and the highest corner of the bounding box (2, 3) [m]; zeros where there is nothing."""
        if not len(self.vertices):
            return np.zeros((2, 3))
        return np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)], dtype=np.float64)


def mirrored(solid: Solid, signs: tuple[float, ...]) -> Solid:
    """The solid with its coordinates times ``signs`` (3 of 1 or -1); its faces still look outwards."""
    factors = np.array(signs, dtype=np.float32)
    faces = solid.faces[:, ::-1] if float(np.prod(factors)) < 0.0 else solid.faces
    return Solid(solid.vertices * factors, faces, solid.normals * factors, solid.colours, solid.notes, solid.up, solid, signs)


# primitives -----------------------------------------------------------------------------------------


def primitive(geometry: Geometry) -> Solid:
    """The triangles of a box, cylinder, sphere or capsule, centred at the origin with the axis along z as in the URDF."""
    size = geometry.size
    if geometry.kind == "box":
        return _box(size)
    if geometry.kind == "sphere":
        return _revolve([_arc(size[0], 0.0, 0.5 * math.pi, -0.5 * math.pi)])
    if geometry.kind == "cylinder":
        r, h = size[0], 0.5 * size[1]
        return _revolve(
            [[(0.0, h, 0.0, 1.0), (r, h, 0.0, 1.0)], [(r, h, 1.0, 0.0), (r, -h, 1.0, 0.0)], [(r, -h, 0.0, -1.0), (0.0, -h, 0.0, -1.0)]]
        )
    if geometry.kind == "capsule":
        r, h = size[0], 0.5 * size[1]
        return _revolve([_arc(r, h, 0.5 * math.pi, 0.0) + _arc(r, -h, 0.0, -0.5 * math.pi)])
    raise ArgumentError(f"no primitive of kind {geometry.kind!r}; known: box, cylinder, sphere, capsule")


def placeholder(size: float) -> Solid:
    """An octahedron ``size`` [m] from tip to tip: no robot part looks like it, so it stands for a mesh that is missing."""
    half = 0.5 * size
    tips = half * np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], dtype=np.float64)
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    return with_normals(tips, faces)


def _box(size: tuple[float, ...]) -> Solid:
    vertices: list[NDArray[np.float64]] = []
    normals: list[NDArray[np.float64]] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            first, second = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            normal = sign * np.eye(3)[axis]
            start = len(vertices)
            # Counter-clockwise about +axis; the opposite side goes round the other way.
            turn = [(-1, -1), (1, -1), (1, 1), (-1, 1)][:: int(sign)]
            vertices += [(normal + a * first + b * second) * 0.5 * np.asarray(size) for a, b in turn]
            normals += [normal] * 4
            faces += [(start, start + 1, start + 2), (start, start + 2, start + 3)]
    return Solid(np.array(vertices, dtype=np.float32), np.array(faces, dtype=np.uint32), np.array(normals, dtype=np.float32))


_Profile = list[tuple[float, float, float, float]]  # (distance from the axis, height, normal outwards, normal upwards)


def _arc(radius: float, height: float, start: float, stop: float) -> _Profile:
    """A circle's arc about (0, height) from latitude ``start`` down to ``stop`` [rad]."""
    steps = max(1, round(abs(stop - start) / math.pi * AROUND / 2))
    angles = np.linspace(start, stop, steps + 1)
    # The cosine of a pole is exactly zero: triangles there have to close.
    cosines = np.where(np.isclose(np.abs(angles), 0.5 * math.pi), 0.0, np.cos(angles))
    return [(radius * c, height + radius * s, c, s) for c, s in zip(cosines.tolist(), np.sin(angles).tolist(), strict=True)]


def _revolve(profiles: list[_Profile]) -> Solid:
    """Profiles from the top down turned about z; within a profile the surface is smooth, between two there is an edge."""
    angles = np.arange(AROUND) * (2.0 * math.pi / AROUND)
    cos, sin = np.cos(angles), np.sin(angles)
    vertices, normals, faces = [], [], []
    start = 0
    for profile in profiles:
        for r, z, outwards, upwards in profile:
            vertices.append(np.column_stack([r * cos, r * sin, np.full(AROUND, z)]))
            normals.append(np.column_stack([outwards * cos, outwards * sin, np.full(AROUND, upwards)]))
        here = np.arange(AROUND)
        ahead = (here + 1) % AROUND
        for ring in range(len(profile) - 1):
            upper, lower = start + ring * AROUND, start + (ring + 1) * AROUND
            if profile[ring + 1][0] > 0.0:
                faces.append(np.column_stack([upper + here, lower + here, lower + ahead]))
            if profile[ring][0] > 0.0:
                faces.append(np.column_stack([upper + here, lower + ahead, upper + ahead]))
        start += len(profile) * AROUND
    triangles = np.concatenate(faces) if faces else np.zeros((0, 3), dtype=np.int64)
    return Solid(np.concatenate(vertices).astype(np.float32), triangles.astype(np.uint32), np.concatenate(normals).astype(np.float32))


# normals --------------------------------------------------------------------------------------------


def with_normals(vertices: ArrayLike, faces: ArrayLike, colours: ArrayLike | None = None, crease: float = CREASE) -> Solid:
    """A Solid with shading normals from vertices (n, 3) [m], faces (m, 3) and, where there are, colours (n, 4) of the vertices.

    Vertices at one place are one vertex, whatever the file said, and faces without area are dropped. A vertex takes the mean
    of the normals around it weighted by area. Faces that turn away from that mean by more than ``crease`` [rad] do not count
    in it and get vertices of their own: those within ``crease`` of the largest of them share their mean, and so on, so that a
    cylinder's side stays round up to its sharp rim; a face alone keeps its own normal.
    """
    # Adding zero turns -0 into 0: they are one place and have different bits.
    points = np.asarray(vertices, dtype=np.float32).reshape(-1, 3) + np.float32(0.0)
    corners = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
    place, of_vertex = _weld(points)
    points64 = points.astype(np.float64)
    a, b, c = (points64[corners[:, k]] for k in range(3))
    doubled = np.cross(b - a, c - a)
    length = np.linalg.norm(doubled, axis=1)
    longest = np.max([np.sum((x - y) ** 2, axis=1) for x, y in ((a, b), (b, c), (c, a))], axis=0) if len(corners) else length
    kept = length > FLAT * longest
    corners, doubled, length = corners[kept], doubled[kept], length[kept]
    face_normals = doubled / length[:, None]

    at = of_vertex[corners].ravel()  # place of each corner
    weight = np.repeat(doubled, 3, axis=0)
    own = np.repeat(face_normals, 3, axis=0)
    normals, group = _shade(at, weight, own, len(place), crease)

    # One output vertex for each (place, group, colour) that a corner has.
    key = at * (int(group.max(initial=0)) + 1) + group
    painted = None
    if colours is not None:
        painted = np.ascontiguousarray(np.asarray(colours, dtype=np.uint8).reshape(-1, 4)[corners.ravel()])
        shades, shade = np.unique(painted.view(np.uint32).ravel(), return_inverse=True)
        _, key = np.unique(key, return_inverse=True)  # small numbers again: the product must not overflow
        key = key * max(1, len(shades)) + shade
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    return Solid(
        points[corners.ravel()[first]],
        index.reshape(-1, 3).astype(np.uint32),
        normals[first].astype(np.float32),
        None if painted is None else painted[first],
    )


def _weld(points: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(a vertex of each place, the place of each vertex): vertices with the same coordinates have one place."""
    bits = np.ascontiguousarray(points).view(np.uint32).astype(np.uint64)
    # Sorting one 64-bit mix of the coordinates is several times faster than sorting rows; collisions are checked for.
    mixed = bits[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) + bits[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ (mixed >> np.uint64(31))) + bits[:, 2] * np.uint64(0x165667B19E3779F9)
    _, first, place = np.unique(mixed, return_index=True, return_inverse=True)
    if not np.array_equal(bits[first[place]], bits):
        _, first, place = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), place.ravel().astype(np.int64)


def _shade(
    at: NDArray[np.int64], weight: NDArray[np.float64], own: NDArray[np.float64], places: int, crease: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(normal, group) of each corner: corners of one place and one group share their normal."""
    limit = math.cos(crease)
    normals = _means(at, weight, places)[at]
    group = np.zeros(len(at), dtype=np.int64)
    away = np.einsum("ij,ij->i", normals, own) < limit
    left = np.flatnonzero(away)
    if len(left):  # they no longer contribute to the mean: a cap must not tilt the shading of a cylinder's side
        stay = np.flatnonzero(~away)
        normals[stay] = _means(at[stay], weight[stay], places)[at[stay]]
    for number in range(1, GROUPS + 1):
        if not len(left):
            break
        # The largest of the faces left at a place leads; those that face its way follow.
        order = left[np.lexsort((-np.einsum("ij,ij->i", weight[left], weight[left]), at[left]))]
        leads = np.ones(len(order), dtype=bool)
        leads[1:] = at[order[1:]] != at[order[:-1]]
        leader = order[leads][np.cumsum(leads) - 1]
        joins = np.einsum("ij,ij->i", own[order], own[leader]) >= limit
        joined = order[joins]
        normals[joined] = _means(at[joined], weight[joined], places)[at[joined]]
        group[joined] = number
        left = order[~joins]
    normals[left] = own[left]
    group[left] = GROUPS + 1 + np.arange(len(left))
    return normals, group


def _means(at: NDArray[np.int64], weight: NDArray[np.float64], places: int) -> NDArray[Any]:
    """The direction of the sum of the weights at each place; zero where they cancel."""
    total = np.column_stack([np.bincount(at, weight[:, k], minlength=places) for k in range(3)])
    length = np.linalg.norm(total, axis=1)
    return total / np.where(length > 0.0, length, 1.0)[:, None]
