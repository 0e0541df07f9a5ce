"""Triangles of primitives and shading normals against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.urdf import Geometry
from urdf_gibbs.view.solids import AROUND, Solid, placeholder, primitive, with_normals


def triangles(solid: Solid) -> np.ndarray:
    return solid.vertices.astype(float)[solid.faces.astype(np.int64)]


def volume(solid: Solid) -> float:
    """By the divergence theorem: positive where the faces look outwards."""
    a, b, c = np.moveaxis(triangles(solid), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def area(solid: Solid) -> float:
    a, b, c = np.moveaxis(triangles(solid), 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0)


def closed(solid: Solid) -> bool:
    """Every edge is met once in each direction, by place."""
    _, place = np.unique(np.round(solid.vertices, 6) + 0.0, axis=0, return_inverse=True)
    faces = place.ravel()[solid.faces.astype(np.int64)]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    forth, back = sorted(map(tuple, edges.tolist())), sorted(map(tuple, edges[:, ::-1].tolist()))
    return forth == back and len(set(forth)) == len(forth)


def normals_agree(solid: Solid, degrees: float) -> bool:
    """Unit normals, each within the angle of the faces that use it."""
    a, b, c = np.moveaxis(triangles(solid), 1, 0)
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    used = solid.normals.astype(float)[solid.faces.astype(np.int64)]
    unit = np.allclose(np.linalg.norm(solid.normals, axis=1), 1.0, atol=1e-5)
    return unit and bool((np.einsum("ikj,ij->ik", used, flat) >= math.cos(math.radians(degrees))).all())


POLYGON = 0.5 * AROUND * math.sin(2.0 * math.pi / AROUND)  # area of the polygon in the unit circle


def test_box() -> None:
    solid = primitive(Geometry("box", (1.0, 2.0, 3.0)))
    assert solid.bounds.tolist() == [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]]
    assert volume(solid) == pytest.approx(6.0) and area(solid) == pytest.approx(22.0)
    assert len(solid.faces) == 12 and len(solid.vertices) == 24 and closed(solid)
    assert normals_agree(solid, 0.01)


def test_cylinder() -> None:
    r, length = 0.3, 2.0
    solid = primitive(Geometry("cylinder", (r, length)))
    np.testing.assert_allclose(solid.bounds, [[-r, -r, -1.0], [r, r, 1.0]], atol=1e-6)
    assert volume(solid) == pytest.approx(POLYGON * r**2 * length, rel=1e-6)
    rim = 2.0 * AROUND * r * math.sin(math.pi / AROUND)
    assert area(solid) == pytest.approx(2.0 * POLYGON * r**2 + rim * length, rel=1e-6)
    assert closed(solid) and normals_agree(solid, 180.0 / AROUND + 0.01)
    cap = np.abs(solid.normals[:, 2]) > 0.5
    np.testing.assert_allclose(np.abs(solid.normals[cap]), [[0.0, 0.0, 1.0]] * cap.sum(), atol=1e-6)
    np.testing.assert_allclose(solid.normals[~cap] * r, solid.vertices[~cap] * [1, 1, 0], atol=1e-6)


def test_sphere() -> None:
    solid = primitive(Geometry("sphere", (0.7,)))
    np.testing.assert_allclose(np.linalg.norm(solid.vertices, axis=1), 0.7, rtol=1e-6)
    np.testing.assert_allclose(solid.normals * 0.7, solid.vertices, atol=1e-6)
    np.testing.assert_allclose(solid.bounds, [[-0.7] * 3, [0.7] * 3], atol=1e-6)
    assert 0.98 * 4 / 3 * math.pi * 0.7**3 < volume(solid) < 4 / 3 * math.pi * 0.7**3
    assert closed(solid) and len(solid.faces) == 2 * AROUND * (AROUND // 2 - 1)


def test_capsule_is_a_cylinder_of_the_length_with_half_spheres_on_it() -> None:
    r, length = 0.2, 1.5
    solid = primitive(Geometry("capsule", (r, length)))
    np.testing.assert_allclose(solid.bounds, [[-r, -r, -0.75 - r], [r, r, 0.75 + r]], atol=1e-6)
    ball = volume(primitive(Geometry("sphere", (r,))))
    assert volume(solid) == pytest.approx(POLYGON * r**2 * length + ball, rel=1e-5)
    beyond = np.clip(np.abs(solid.vertices[:, 2]) - 0.75, 0.0, None) * np.sign(solid.vertices[:, 2])
    radial = np.column_stack([solid.vertices[:, :2], beyond])
    np.testing.assert_allclose(solid.normals * r, radial, atol=1e-6)
    assert closed(solid)


def test_capsule_of_no_length_is_a_sphere() -> None:
    assert volume(primitive(Geometry("capsule", (1.0, 0.0)))) == pytest.approx(volume(primitive(Geometry("sphere", (1.0,)))), rel=1e-6)


def test_placeholder_is_an_octahedron() -> None:
    solid = placeholder(0.5)
    assert volume(solid) == pytest.approx(0.5**3 / 6.0) and closed(solid)
    assert len(solid.faces) == 8 and len(solid.vertices) == 24
    assert solid.bounds.tolist() == [[-0.25] * 3, [0.25] * 3]


def test_mesh_is_no_primitive() -> None:
    with pytest.raises(ArgumentError, match="mesh"):
        primitive(Geometry("mesh", filename="a.stl"))


def test_arrays_are_locked_and_typed() -> None:
    given = np.eye(3, dtype=np.float32)
    solid = Solid(given, np.array([[0, 1, 2]]), np.eye(3), np.zeros((3, 4)))
    assert [a.dtype for a in (solid.vertices, solid.faces, solid.normals, solid.colours)] == [np.float32, np.uint32, np.float32, np.uint8]
    assert not any(a.flags.writeable for a in (solid.vertices, solid.faces, solid.normals, solid.colours))
    given[0, 0] = 2.0  # the caller's own array stays writable
    assert Solid(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3))).bounds.tolist() == [[0.0] * 3] * 2


# normals --------------------------------------------------------------------------------------------


def soup(solid: Solid) -> tuple[np.ndarray, np.ndarray]:
    corners = triangles(solid).reshape(-1, 3)
    return corners, np.arange(len(corners)).reshape(-1, 3)


def test_soup_of_a_sphere_is_welded_and_smooth() -> None:
    ball = primitive(Geometry("sphere", (1.0,)))
    solid = with_normals(*soup(ball))
    assert len(solid.vertices) == AROUND * (AROUND // 2 - 1) + 2
    assert np.einsum("ij,ij->i", solid.normals, solid.vertices).min() > math.cos(math.radians(4.0))
    assert volume(solid) == pytest.approx(volume(ball), rel=1e-6)


def test_soup_of_a_box_stays_sharp() -> None:
    solid = with_normals(*soup(primitive(Geometry("box", (1.0, 2.0, 3.0)))))
    assert len(solid.vertices) == 24
    assert normals_agree(solid, 0.01)


@pytest.mark.parametrize("length", [0.05, 0.3, 3.0])
def test_side_of_a_cylinder_is_round_up_to_its_sharp_rim(length: float) -> None:
    solid = with_normals(*soup(primitive(Geometry("cylinder", (1.0, length)))))
    cap = np.abs(solid.normals[:, 2]) > 0.5
    assert cap.sum() == 2 * (AROUND + 1) and (~cap).sum() == 2 * AROUND
    np.testing.assert_allclose(np.abs(solid.normals[cap, 2]), 1.0, atol=1e-6)
    # A vertex has one triangle of one flat and two of the next: the mean is off by a sixth of the turn between flats.
    np.testing.assert_allclose(solid.normals[~cap], solid.vertices[~cap] * [1, 1, 0], atol=math.radians(360.0 / AROUND / 6) * 1.01)


def test_crease_angle_decides() -> None:
    """Two unit squares along x that meet at 40 degrees."""
    lean = math.radians(40.0)
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (-math.cos(lean), 0, -math.sin(lean)), (-math.cos(lean), 1, -math.sin(lean))]
    faces = [(0, 1, 2), (0, 2, 3), (4, 0, 3), (4, 3, 5)]
    assert len(with_normals(points, faces, crease=math.radians(30.0)).vertices) == 6
    assert len(with_normals(points, faces, crease=math.radians(10.0)).vertices) == 8
    assert normals_agree(with_normals(points, faces, crease=math.radians(10.0)), 0.01)


def test_normals_are_weighted_by_area() -> None:
    points = [(0, 0, 0), (3, 0, 0), (0, 1, 0), (0, 0, 1)]
    solid = with_normals(points, [(0, 1, 2), (0, 2, 3)], crease=math.pi)
    at = int(np.flatnonzero((solid.vertices == 0).all(axis=1))[0])
    np.testing.assert_allclose(solid.normals[at], np.array([1.0, 0.0, 3.0]) / math.sqrt(10.0), atol=1e-6)


def test_faces_without_area_are_dropped() -> None:
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0), (0.0, -0.0, 0.0)]
    solid = with_normals(points, [(0, 1, 2), (0, 1, 3), (0, 0, 2), (0, 4, 2)])
    assert len(solid.faces) == 1 and len(solid.vertices) == 3
    none = with_normals(points, [(0, 1, 3)])
    assert none.faces.shape == (0, 3) and none.vertices.shape == (0, 3)


def test_small_and_slender_faces_stay() -> None:
    small = with_normals(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)]) * 1e-9, [(0, 1, 2)])
    slender = with_normals([(0, 0, 0), (1, 0, 0), (0, 1e-5, 0)], [(0, 1, 2)])
    for solid in (small, slender):
        np.testing.assert_allclose(solid.normals, [[0, 0, 1]] * 3, atol=1e-6)


def test_colours_split_vertices_but_not_shading() -> None:
    ball = primitive(Geometry("sphere", (1.0,)))
    points, faces = soup(ball)
    upper = points.reshape(-1, 3, 3).mean(axis=1)[:, 2] > 0.0
    colours = np.repeat(np.where(upper[:, None], [255, 0, 0, 255], [0, 0, 255, 128]), 3, axis=0)
    solid = with_normals(points, faces, colours)
    plain = with_normals(points, faces)
    assert len(solid.vertices) == len(plain.vertices) + AROUND  # the equator twice
    equator = np.abs(solid.vertices[:, 2]) < 1e-6
    np.testing.assert_allclose(solid.normals[equator, 2], 0.0, atol=0.05)
    assert {tuple(c) for c in solid.colours.tolist()} == {(255, 0, 0, 255), (0, 0, 255, 128)}
    means = triangles(solid).mean(axis=1)[:, 2]
    assert (solid.colours[solid.faces[:, 0].astype(int), 0][means > 0] == 255).all()


def test_faces_back_to_back_have_opposite_normals() -> None:
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    solid = with_normals(points, [(0, 1, 2), (0, 2, 1)])
    assert len(solid.vertices) == 6 and normals_agree(solid, 0.01)


def test_many_surfaces_at_one_vertex() -> None:
    """A fan of fins about an edge: more directions at one place than groups, each face still with its own."""
    angles = np.radians(np.arange(0, 360, 36))
    tips = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(10)])
    points = np.vstack([[(0, 0, 0), (0, 0, 1)], tips])
    solid = with_normals(points, [(0, 1, k) for k in range(2, 12)], crease=math.radians(20.0))
    assert len(solid.faces) == 10 and normals_agree(solid, 20.0)


def test_large_mesh() -> None:
    n = 400
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), 0.1 * np.sin(6 * x).ravel()])
    at = np.arange(n * n).reshape(n, n)
    a, b, c, d = (s.ravel() for s in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    solid = with_normals(points, np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])]))
    assert len(solid.faces) == 2 * (n - 1) ** 2 and len(solid.vertices) == n * n
    slope = -0.6 * np.cos(6 * solid.vertices[:, 0])
    exact = np.column_stack([slope, np.zeros(n * n), np.ones(n * n)])
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    assert np.abs(solid.normals - exact).max() < 0.01
