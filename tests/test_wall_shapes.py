"""Walls as they are drawn: on the wall by its own compiled gap, around the robot, moved as the wall is; and walls out of trajectories."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from urdf_gibbs import Trajectory, load, model_path, simulate
from urdf_gibbs.contact.surfaces import pack
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.simulation.trajectory import plain
from urdf_gibbs.view import implicit_wall
from urdf_gibbs.view.wall_drawing import WallDrawing
from urdf_gibbs.view.wall_settings import names, restored, wall_names
from urdf_gibbs.view.wall_shapes import drawing
from urdf_gibbs.walls import (
    Box,
    Circle,
    Corridor,
    Cylinder,
    Drift,
    Ellipsoid,
    HeightField,
    Implicit,
    Plane,
    Sphere,
    Vibration,
    Wall,
    described,
    wall_from,
)

Array = NDArray[np.float64]
KINDS = ("plane", "circle", "cylinder", "sphere", "ellipsoid", "box", "corridor", "heightfield")


def rotation(random: np.random.Generator) -> Array:
    matrix = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return matrix * np.sign(np.linalg.det(matrix))


def some_wall(kind: str, seed: int, **options: Any) -> Wall:
    random = np.random.default_rng(seed)
    side = "inside" if seed % 2 else "outside"
    turned = rotation(random) if seed % 3 else None
    centre, axis = random.normal(size=3), random.normal(size=3)
    if kind == "plane":
        return Plane(axis, centre, **options)
    if kind in ("circle", "cylinder"):
        return (Circle if kind == "circle" else Cylinder)(random.uniform(0.2, 4.0), centre, axis, side, **options)
    if kind == "sphere":
        return Sphere(random.uniform(0.2, 4.0), centre, side, **options)
    if kind == "ellipsoid":
        return Ellipsoid(random.uniform(0.4, 3.0, 3), centre, turned, side, **options)
    if kind == "box":
        return Box(random.uniform(0.4, 3.0, 3), centre, turned, side, **options)
    if kind == "corridor":
        return Corridor(random.uniform(0.3, 3.0), axis, centre, **options)
    shape = tuple(random.integers(2, 12, 2))
    return HeightField(0.2 * random.normal(size=shape), (-1.0, random.uniform(-0.5, 2.0)), (-2.0, random.uniform(-1.5, 2.0)), **options)


def some_bounds(seed: int) -> Array:
    random = np.random.default_rng(100 + seed)
    return np.sort(random.normal(size=(2, 3)), axis=0)


def everything(drawn: WallDrawing) -> Array:
    parts = [drawn.lines.reshape(-1, 3), drawn.points]
    return np.concatenate([*parts, drawn.surface.vertices] if drawn.surface is not None else parts).astype(float)


def check_triangles(drawn: WallDrawing) -> None:
    solid = drawn.surface
    assert solid is not None
    assert solid.faces.max() < len(solid.vertices)
    assert (solid.vertices.dtype, solid.faces.dtype, drawn.lines.dtype, drawn.points.dtype) == (
        np.float32,
        np.uint32,
        np.float32,
        np.float32,
    )
    np.testing.assert_allclose(np.linalg.norm(solid.normals, axis=1), 1.0, atol=1e-6)
    a, b, c = (solid.vertices[solid.faces[:, k]].astype(float) for k in range(3))
    across = np.cross(b - a, c - a)
    assert (np.einsum("ij,ij->i", across, solid.normals[solid.faces].sum(axis=1)) > 0.0).all()


# on the wall --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_everything_drawn_lies_on_the_wall(kind: str, seed: int) -> None:
    wall = some_wall(kind, seed, motion=Vibration((0.3, -0.2, 0.5), 7.0, 0.4))
    drawn = drawing(wall, some_bounds(seed))
    points = everything(drawn)
    size = np.abs(points).max()
    # The wall itself is elsewhere at t = 0: what is drawn and where it stands belong together.
    assert np.abs(wall.gap(points[::10])).max() > 1e-3
    assert np.abs(wall.gap(points + drawn.displacement(0.0), 0.0)).max() < 1e-6 * size
    assert np.abs(wall.gap(points[::10] + drawn.displacement(0.7), 0.7)).max() < 1e-6 * size
    assert len(drawn.lines) >= 12
    check_triangles(drawn)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_normals_point_to_the_free_side(kind: str, seed: int) -> None:
    wall = some_wall(kind, seed)
    solid = drawing(wall, some_bounds(seed)).surface
    assert solid is not None
    # Inside of the faces: at edges and corners of a box the nearest face is a matter of rounding.
    middles = solid.vertices[solid.faces].astype(float).mean(axis=1)
    normals = solid.normals[solid.faces].astype(float).mean(axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    if isinstance(wall, Box):
        free = middles + 1e-4 * normals
        np.testing.assert_allclose(wall.gap(free), 1e-4, atol=1e-6)
        np.testing.assert_allclose(wall.normal(free), normals, atol=1e-6)
    elif isinstance(wall, Corridor):
        np.testing.assert_allclose(wall.normal(solid.vertices.astype(float)), solid.normals, atol=1e-6)
    else:
        size = np.abs(solid.vertices).max()
        np.testing.assert_allclose(wall.normal(solid.vertices.astype(float)), solid.normals, atol=1e-5 * max(1.0, size))
    assert (wall.gap(solid.vertices[::5] + 1e-3 * solid.normals[::5].astype(float)) > -1e-5).all()


# around the robot ---------------------------------------------------------------------------------


def own_axes(normal: Array, points: Array) -> Array:
    """Coordinates of points across a normal."""
    u = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    u /= np.linalg.norm(u)
    return points @ np.stack([u, np.cross(normal, u)]).T


def corners(bounds: Array) -> Array:
    return np.stack(np.meshgrid(*bounds.T), axis=-1).reshape(-1, 3)


def in_triangles(triangles: Array, point: Array) -> bool:
    """Whether a point (2,) is in one of the triangles (n, 3, 2)."""
    turns = [np.cross(triangles[:, (k + 1) % 3] - triangles[:, k], point - triangles[:, k]) for k in range(3)]
    return bool(((np.min(turns, axis=0) >= -1e-6) | (np.max(turns, axis=0) <= 1e-6)).any())


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["plane", "corridor"])
def test_a_plane_reaches_beyond_the_bounds(kind: str, seed: int) -> None:
    wall, bounds = some_wall(kind, seed), some_bounds(seed)
    drawn = drawing(wall, bounds)
    normal = np.array(wall.direction)
    sheets = drawn.surface.vertices.reshape(-1, 4, 3).astype(float)
    assert len(sheets) == (1 if kind == "plane" else 2)
    middle, reach = bounds.mean(axis=0), np.linalg.norm(bounds[1] - bounds[0])
    wanted = own_axes(normal, np.vstack([corners(bounds), corners(middle + 1.2 * (bounds - middle))]))
    for k in range(len(sheets)):
        triangles = own_axes(normal, drawn.surface.vertices[drawn.surface.faces[2 * k : 2 * k + 2]].astype(float))
        assert all(in_triangles(triangles, point) for point in wanted)
        sides = np.linalg.norm(np.diff(sheets[k][[0, 1, 3, 2, 0]], axis=0), axis=1)
        np.testing.assert_allclose(sides, sides[0], rtol=1e-5)
        assert sides[0] < 4.0 * reach


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [Circle, Cylinder])
def test_a_cylinder_is_as_high_as_the_bounds(make: type, seed: int) -> None:
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    wall, bounds = make(2.0, random.normal(size=3), axis), some_bounds(seed)
    axis = np.array(wall.axis)
    drawn = everything(drawing(wall, bounds)) @ axis
    wanted = corners(bounds) @ axis
    assert drawn.min() < wanted.min() and drawn.max() > wanted.max()
    assert np.ptp(drawn) < np.ptp(wanted) + 0.6 * np.linalg.norm(bounds[1] - bounds[0])


def test_a_circle_about_a_planar_robot_is_a_ring() -> None:
    wall = Circle(2.5, (0.5, 0.0, 7.0), (0.0, 0.0, 1.0))
    drawn = drawing(wall, [[-1.0, -1.0, 0.3], [1.0, 1.0, 0.3]])
    assert drawn.lines.shape == (128, 2, 3)
    np.testing.assert_allclose(drawn.lines[..., 2], 0.3, atol=1e-7)
    np.testing.assert_array_equal(drawn.lines[1:, 0], drawn.lines[:-1, 1])
    height = drawn.surface.bounds[:, 2]
    assert height[0] < 0.3 < height[1] and np.ptp(height) < 0.2
    # A cylinder stays one, and a robot that leaves the plane makes one of a circle.
    assert np.ptp(drawing(Cylinder(2.5), [[-1.0, -1.0, 0.3], [1.0, 1.0, 0.3]]).surface.bounds[:, 2]) > 1.0
    assert np.ptp(drawing(wall, [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]).surface.bounds[:, 2]) > 2.0


@pytest.mark.parametrize("side", ["inside", "outside"])
def test_a_sphere_is_closed_and_has_great_circles(side: Any) -> None:
    drawn = drawing(Sphere(2.0, (1.0, 0.0, 0.0), side), some_bounds(1))
    solid = drawn.surface
    a, b, c = (solid.vertices[solid.faces[:, k]].astype(float) - (1.0, 0.0, 0.0) for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    assert volume == pytest.approx((-1.0 if side == "inside" else 1.0) * 4.0 / 3.0 * np.pi * 8.0, rel=5e-3)
    lines = drawn.lines - np.array([1.0, 0.0, 0.0])
    on = [(np.abs(lines[..., k]) < 1e-6).all(axis=1) for k in range(3)]
    assert np.logical_or.reduce(on).all()
    for flat in on:  # a full turn each
        assert np.linalg.norm(np.diff(lines[flat], axis=1), axis=-1).sum() == pytest.approx(4.0 * np.pi, rel=1e-2)


@pytest.mark.parametrize("kind", ["circle", "sphere", "ellipsoid"])
def test_of_a_wall_that_is_huge_the_part_near_the_robot_is_drawn(kind: str) -> None:
    centre = (0.0, -1000.0, 0.0)
    wall: Wall = {"circle": Circle(1000.0, centre), "sphere": Sphere(1000.0, centre), "ellipsoid": Ellipsoid((900, 1000, 1200), centre)}[
        kind
    ]
    bounds = np.array([[-1.0, -2.0, -1.0], [1.0, 1.0, 1.0]])
    drawn = drawing(wall, bounds)
    points = everything(drawn)
    assert np.abs(wall.gap(points)).max() < 1e-6 * 1000.0
    assert (np.abs(points) < 30.0).all()
    for k in (0, 2):
        assert points[:, k].min() < -1.0 and points[:, k].max() > 1.0
    check_triangles(drawn)


def test_a_box_has_twelve_edges() -> None:
    turned = rotation(np.random.default_rng(3))
    drawn = drawing(Box((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), turned), some_bounds(0))
    own = (drawn.lines - np.array([0.1, 0.2, 0.3])) @ turned
    np.testing.assert_allclose(np.abs(own), np.broadcast_to([0.5, 1.0, 1.5], own.shape), atol=1e-6)
    assert sorted(np.linalg.norm(np.diff(own, axis=1)[:, 0], axis=-1).round(5).tolist()) == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    assert len(drawn.surface.faces) == 12


@pytest.mark.parametrize("seed", range(6))
def test_a_height_field_covers_itself_and_the_bounds(seed: int) -> None:
    wall, bounds = some_wall("heightfield", seed), some_bounds(seed)
    vertices = drawing(wall, bounds).surface.vertices.astype(float)
    heights = np.asarray(wall.heights)
    xs, ys = np.linspace(*wall.x, heights.shape[0]), np.linspace(*wall.y, heights.shape[1])
    for k, span in enumerate((wall.x, wall.y)):
        assert vertices[:, k].min() <= min(span[0], bounds[0, k]) + 1e-6
        assert vertices[:, k].max() >= max(span[1], bounds[1, k]) - 1e-6
    for i, j in np.ndindex(heights.shape):  # every node is a vertex
        assert np.abs(vertices - [xs[i], ys[j], heights[i, j]]).max(axis=1).min() < 1e-5


def test_of_a_large_height_field_the_part_near_the_robot_is_drawn() -> None:
    u = np.linspace(0.0, 100.0, 1001)
    wall = HeightField(np.sin(u)[:, None] * np.cos(u), (0.0, 100.0), (0.0, 100.0))
    bounds = np.array([[40.0, 50.0, 0.0], [42.0, 51.0, 1.0]])
    drawn = drawing(wall, bounds)
    vertices = drawn.surface.vertices.astype(float)
    assert (vertices[:, :2].min(axis=0) < bounds[0, :2]).all() and (vertices[:, :2].max(axis=0) > bounds[1, :2]).all()
    assert len(vertices) < 20_000
    np.testing.assert_allclose(vertices[:, 2], np.sin(vertices[:, 0]) * np.cos(vertices[:, 1]), atol=2e-5)
    whole = drawing(wall, [[0.0, 0.0, 0.0], [100.0, 100.0, 1.0]])
    assert len(whole.surface.vertices) < 200_000 and len(whole.lines) < 50_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_robot_that_is_a_point_or_flat(kind: str) -> None:
    wall = some_wall(kind, 1)
    for bounds in (np.zeros((2, 3)), [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[-1e-6] * 3, [1e-6] * 3], [[-1e3] * 3, [1e3] * 3]):
        drawn = drawing(wall, bounds)
        points = everything(drawn)
        assert np.isfinite(points).all()
        assert np.abs(wall.gap(points)).max() < 2e-6 * max(1.0, np.abs(points).max())


@pytest.mark.parametrize("bounds", [np.zeros(3), [[0, 0, 0], [1, 1, np.nan]], [[1, 0, 0], [0, 1, 1]]])
def test_bounds_that_are_none(bounds: Any) -> None:
    with pytest.raises(ArgumentError, match="bounds="):
        drawing(Plane(), bounds)


# motion -------------------------------------------------------------------------------------------


def moved(t: float) -> tuple[float, float, float]:
    return 0.1 * t, 0.0, np.cos(t)


def test_displacement_is_that_of_the_motion() -> None:
    t, bounds = np.linspace(-1.0, 5.0, 50), some_bounds(0)
    a, w = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -3.0])
    assert (drawing(Plane(), bounds).displacement(t) == np.zeros((50, 3))).all()
    vibrating = drawing(Plane(motion=Vibration(a, 6.0, 0.5)), bounds).displacement(t)
    np.testing.assert_allclose(vibrating, np.sin(6.0 * t + 0.5)[:, None] * a, atol=1e-15)
    np.testing.assert_allclose(drawing(Plane(motion=Drift(w)), bounds).displacement(t), t[:, None] * w, atol=1e-15)
    np.testing.assert_allclose(drawing(Plane(motion=moved), bounds).displacement(t), [moved(s) for s in t], atol=1e-15)
    assert drawing(Plane(motion=moved), bounds).displacement([]).shape == (0, 3)


@pytest.mark.parametrize("motion", [Vibration((0.1, 0.2, 0.3), 5.0, 1.0), Drift((1.0, 0.5, 0.2)), moved])
def test_displacement_agrees_with_the_gap(motion: Any) -> None:
    wall = Sphere(1.0, motion=motion)
    drawn = drawing(wall, some_bounds(0))
    t = np.linspace(0.0, 3.0, 7)
    points = drawn.lines[::7, 0].astype(float) + drawn.displacement(t)[:, None]
    assert np.abs(wall.gap(points, t[:, None])).max() < 1e-6


def test_a_plane_that_drifts_covers_the_robot_at_all_times() -> None:
    wall, bounds, t = Plane(motion=Drift((2.0, 0.0, 0.0))), np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]]), np.linspace(0.0, 10.0, 11)
    drawn = drawing(wall, bounds, t)
    for d in drawn.displacement(t):
        place = drawn.surface.bounds + d
        assert (place[0, :2] < bounds[0, :2]).all() and (place[1, :2] > bounds[1, :2]).all()


# implicit walls -----------------------------------------------------------------------------------


def bowl(x: Array) -> float:
    return 4.0 - x[0] ** 2 - 2.0 * x[1] ** 2 - x[2] ** 2 + 0.3 * np.sin(3.0 * x[0])


def bowl_slope(x: Array) -> Array:
    return np.array([-2.0 * x[0] + 0.9 * np.cos(3.0 * x[0]), -4.0 * x[1], -2.0 * x[2]])


def waves(x: Array) -> float:
    return x[2] + 0.5 - 0.2 * np.sin(4.0 * x[0]) * np.cos(3.0 * x[1])


def tilted(x: Array) -> float:
    return 5.0 * (x[0] + 2.0 * x[1] + 2.0 * x[2])


def only_above(x: Array) -> float:
    if x[0] < 0.0:
        raise ValueError("not meant for this")
    return x[2] - np.sqrt(x[0])


BOX = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])


@pytest.mark.parametrize(
    "wall",
    [Implicit(bowl), Implicit(bowl, bowl_slope), Implicit(waves, motion=Drift((1.0, 0.0, 0.0))), Implicit(tilted), Implicit(only_above)],
    ids=["bowl", "bowl with gradient", "waves", "tilted", "only above"],
)
def test_an_implicit_wall(wall: Implicit) -> None:
    drawn = drawing(wall, BOX)
    check_triangles(drawn)
    solid = drawn.surface
    vertices = solid.vertices.astype(float)
    # By the function for many; by the compiled gap, which takes many values of the function for each, for some.
    h = 1e-5
    for x in np.concatenate([vertices[::50], drawn.lines.reshape(-1, 3)[::20].astype(float)]):
        if x[0] > 0.01:
            slope = np.linalg.norm([wall.function(x + h * e) - wall.function(x - h * e) for e in np.eye(3)]) / (2.0 * h)
            assert abs(wall.function(x)) < 1e-6 * slope
    some = np.flatnonzero(vertices[:, 0] > 0.05)[::100]
    still = Implicit(wall.function, wall.gradient)
    assert np.abs(still.gap(vertices[some])).max() < 1e-6
    np.testing.assert_allclose(still.normal(vertices[some]), solid.normals[some], atol=1e-4)
    # Sections at round coordinates, up to what the triangles are off the wall.
    off = np.abs(drawn.lines / 0.5 - np.round(drawn.lines / 0.5)).max(axis=1).min(axis=-1)
    assert len(drawn.lines) > 100 and off.max() < 0.02
    np.testing.assert_allclose(drawn.displacement(2.0), [[2.0, 0.0, 0.0]] if wall.motion else [[0.0] * 3])


def test_an_implicit_sphere_is_closed() -> None:
    drawn = drawing(Implicit(lambda x: x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 1.0), BOX)
    solid = drawn.surface
    sides = np.sort(np.concatenate([solid.faces[:, [0, 1]], solid.faces[:, [1, 2]], solid.faces[:, [2, 0]]]), axis=1)
    assert (np.unique(sides, axis=0, return_counts=True)[1] == 2).all()
    a, b, c = (solid.vertices[solid.faces[:, k]].astype(float) for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(4.0 / 3.0 * np.pi, rel=1e-2)


def test_an_implicit_wall_beyond_the_bounds_is_found_and_one_that_is_nowhere_is_nothing() -> None:
    drawn = drawing(Implicit(lambda x: x[2] + 3.0), BOX)
    np.testing.assert_allclose(drawn.surface.vertices[:, 2], -3.0, atol=1e-6)
    for function in (lambda x: 1.0, lambda x: -1.0, lambda x: np.nan, lambda x: 1.0 / 0.0):
        drawn = drawing(Implicit(function), BOX)
        assert drawn.surface is None and drawn.lines.shape == (0, 2, 3) and drawn.points.shape == (0, 3)


def test_a_slow_implicit_wall_gets_a_coarse_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = drawing(Implicit(waves), BOX)
    monkeypatch.setattr(implicit_wall, "GRID_SECONDS", 0.0)
    coarse = drawing(Implicit(waves), BOX)
    assert len(coarse.surface.vertices) < 0.3 * len(fine.surface.vertices)
    assert max(abs(waves(x)) for x in coarse.surface.vertices.astype(float)) < 1e-6


# out of a trajectory ------------------------------------------------------------------------------

MOTIONS = (None, Vibration((0.1, 0.2, 0.3), 1 / 3, 0.1), Drift((0.1, 1e-17, 1 / 3)))


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_described_wall_comes_back_to_the_last_digit(kind: str, motion: Any) -> None:
    x, t = np.random.default_rng(1).normal(size=(50, 3)), np.linspace(0.0, 3.0, 50)
    for seed in range(20 if motion is None else 2):
        wall = some_wall(kind, seed, motion=motion, restitution=0.3, name="w" if seed % 2 else "")
        text = json.dumps(plain(described(wall)))
        (back,), notes = restored({"walls": [json.loads(text)]})
        assert notes == [] and type(back) is type(wall)
        if seed < 2:
            np.testing.assert_array_equal(back.gap(x, t), wall.gap(x, t))
        assert plain(described(back)) == plain(described(wall))


@dataclass
class Shaken:
    """A motion that is an object."""

    amplitude: float

    def __call__(self, t: float) -> tuple[float, float, float]:
        return 0.0, 0.0, self.amplitude * np.sin(t)


def test_walls_come_back_out_of_a_file(tmp_path: Any) -> None:
    far = (0.0, 0.0, -50.0)
    given = [
        Plane((0.1, 0.2, 1.0), far),
        Plane((0.1, -0.2, 1.0), far, name="ramp", motion=Vibration((0.0, 0.0, 0.1), 3.0, 0.2), restitution=0.5),
        Plane((0.0, 0.0, 1.0), far, motion=Drift((1 / 3, 0.0, 0.0))),
        Circle(70.0, (0.1, 0.2, 0.3), (1.0, 1.0, 1.0)),
        Cylinder(70.0, axis=(0.3, 0.2, 0.1)),
        Sphere(80.0),
        Ellipsoid((80.0, 70.0, 90.0), (1 / 3, 0.0, 0.0), rotation(np.random.default_rng(1))),
        Box((80.0, 70.0, 90.0), (1 / 3, 0.0, 0.0), rotation(np.random.default_rng(2))),
        Box((1.0, 1.0, 1.0), (0.0, 30.0, 0.0), side="outside"),
        Corridor(100.0, (1.0, 2.0, 3.0)),
        HeightField(np.random.default_rng(3).normal(size=(4, 5)) - 40.0, (-10.0, 10.0), (-10.0, 10.0)),
        Implicit(lambda x: x[2] + 60.0, name="bowl"),
        Plane((0.0, 0.0, 1.0), far, motion=moved, name="lift"),
        Plane((0.0, 0.0, 1.0), far, motion=functools.partial(lambda t: (0.0, 0.0, 0.0)), name="partial"),
        Plane((0.0, 0.0, 1.0), far, motion=Shaken(0.1), name="shaken"),
    ]
    trajectory = simulate(load(model_path("planar3r")), [0.3, 0.2, 0.1], None, 0.02, given)
    loaded = Trajectory.load(trajectory.save(tmp_path / "run"))
    x, t = 5.0 * np.random.default_rng(4).normal(size=(100, 3)), np.linspace(0.0, 2.0, 100)
    for settings in (trajectory.settings, loaded.settings):
        back, notes = restored(settings)
        assert len(back) == len(given)
        for wall, own in zip(given[:11], back[:11], strict=True):
            np.testing.assert_array_equal(own.gap(x, t), wall.gap(x, t))
            np.testing.assert_array_equal(own.normal(x, t), wall.normal(x, t))
            assert (own.name, own.restitution, own.motion) == (wall.name, wall.restitution, wall.motion)
        assert back[11] is None
        for wall, own in zip(given[12:], back[12:], strict=True):
            assert own.motion is None and own.name == wall.name
            np.testing.assert_array_equal(own.gap(x), Plane((0.0, 0.0, 1.0), far).gap(x))
        assert notes[0] == 'wall "bowl" is a Python function that a trajectory does not hold: pass walls= to draw it'
        assert [note.split('"')[1] for note in notes] == ["bowl", "lift", "partial", "shaken"]
        assert "moves by a Python function" in notes[1]
        # Surfaces have the name of their wall, with the face behind a dot.
        assert names(settings) == wall_names(given) == list(dict.fromkeys(name.split(".")[0] for name in pack(given)[1]))
    assert {name.split("|")[1].split(".")[0] for name in trajectory.contact_names} == set(wall_names(given))


def test_names_are_those_of_the_contacts() -> None:
    given = [Plane(), Sphere(9.0), Plane(), Plane(name="plane_3"), Plane(), Box((1, 1, 1)), Sphere(8.0), Corridor(3.0)]
    expected = list(dict.fromkeys(name.split(".")[0] for name in pack(given)[1]))
    assert wall_names(given) == expected
    assert names({"walls": [described(wall) for wall in given]}) == expected


@pytest.mark.parametrize("settings", [{}, {"walls": []}, {"walls": None}, {"rtol": 1e-9}])
def test_no_walls(settings: dict[str, Any]) -> None:
    assert restored(settings) == ([], [])
    assert names(settings) == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "the kind is None"),
        ({"kind": "torus", "radius": 1.0}, "the kind is 'torus'"),
        ({"kind": ["plane"]}, "the kind is"),
        ({"kind": "sphere"}, "radius"),
        ({"kind": "sphere", "radius": "<f>"}, "radius is '<f>'"),
        ({"kind": "sphere", "radius": -1.0}, "radius is -1.0"),
        ({"kind": "sphere", "radius": 1.0, "colour": "red"}, "colour"),
        ({"kind": "plane", "direction": [0, 0, 0]}, "normal is"),
        ({"kind": "plane", "direction": "up"}, "normal is"),
        ({"kind": "plane", "motion": {"kind": "drift"}}, "velocity"),
        ({"kind": "plane", "motion": 3}, "motion is 3"),
        ({"kind": "heightfield", "heights": [[1.0], [2.0, 3.0]], "x": [0, 1], "y": [0, 1]}, "heights"),
        ({"kind": "box", "size": [1, 1, 1], "rotation": [[2, 0, 0], [0, 1, 0], [0, 0, 1]]}, "rotation"),
        ({"kind": "plane", "name": 3}, "name is 3"),
        ({1: 2, "kind": "plane"}, ""),
        ("plane", "not described"),
        (None, "not described"),
        (3.0, "not described"),
    ],
)
def test_a_foreign_description_is_noted(entry: Any, message: str) -> None:
    back, notes = restored({"walls": [described(Plane()), entry]})
    assert isinstance(back[0], Plane) and back[1] is None
    assert len(notes) == 1 and message in notes[0] and "drawn" in notes[0]


@pytest.mark.parametrize("entries", ["plane", 3, {"kind": "plane"}])
def test_walls_that_are_no_list(entries: Any) -> None:
    back, notes = restored({"walls": entries})
    assert back == [] and len(notes) == 1
    assert names({"walls": entries}) == []


def test_what_a_description_leaves_out_is_the_default() -> None:
    (wall,), notes = restored({"walls": [{"kind": "plane", "direction": [0, 0, 2], "motion": "<f>"}]})
    assert wall == Plane() and "moves by" in notes[0]
    with pytest.raises(ArgumentError, match="motion is '<f>'"):
        wall_from({"kind": "plane", "motion": "<f>"})
    with pytest.raises(ArgumentError, match="function is '<f>'"):
        wall_from({"kind": "implicit", "function": "<f>"})
