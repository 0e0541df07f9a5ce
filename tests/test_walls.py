"""Walls: gaps, normals and their rates against closed forms, brute-force distances and differences along curved paths."""

import gc
import math
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

from urdf_gibbs import walls
from urdf_gibbs.contact import surfaces
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls import Box, Circle, Corridor, Cylinder, Drift, Ellipsoid, HeightField, Implicit, Plane, Sphere, Vibration

EXACT = 1e-13  # a few roundings of numbers of order 1
RANDOM = np.random.default_rng(5)


def turned(angle: float = 0.7, axis: tuple[float, ...] = (1.0, 2.0, -0.5)) -> np.ndarray:
    """Rotation about an axis, by Rodrigues."""
    k = np.array(axis) / np.linalg.norm(axis)
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


ROTATION = turned()
CENTRE = np.array([0.3, -0.2, 0.4])
AXES = np.array([0.7, 1.1, 1.6])
HILLS = 0.25 * RANDOM.normal(size=(7, 9))
HILL_X, HILL_Y = (-1.0, 2.0), (-2.0, 2.5)
BOWL = 0.3 * RANDOM.normal(size=(3, 3))  # inner knots only at x = 0 and y = 0


def spline_height(heights: np.ndarray, x: tuple[float, float], y: tuple[float, float]):
    """The natural bicubic spline by SciPy, straight beyond the grid."""
    xs, ys = np.linspace(*x, heights.shape[0]), np.linspace(*y, heights.shape[1])

    def along(nodes, values, at):  # values: first axis over the nodes
        spline = CubicSpline(nodes, values, bc_type="natural")
        inside = np.clip(at, nodes[0], nodes[-1])
        beyond = np.reshape(at - inside, np.shape(at) + (1,) * (values.ndim - 1))
        return spline(inside) + beyond * spline(inside, 1)

    def height(u, v):
        """At one point, or on the grid of two vectors."""
        return along(xs, along(ys, heights.T, v).T, u)

    return height


def packed(wall: walls.Wall):
    s, _, _, keep = surfaces.pack([wall])
    return s, keep


def value(s, t, x, radius=0.0, i=0):
    return surfaces.gap_value(s, i, float(t), np.array(x, dtype=float), float(radius))


def motion(s, t, x, xd=(0.0, 0.0, 0.0), xdd=(0.0, 0.0, 0.0), radius=0.0, i=0):
    out = np.empty(6)
    surfaces.gap_motion(s, i, float(t), np.array([*x, *xd, *xdd], dtype=float), float(radius), out)
    return out


# distances ----------------------------------------------------------------------------------------


def test_gap_of_a_plane_is_the_height_above_it() -> None:
    n, p = np.array([1.0, -2.0, 2.0]) / 3.0, np.array([0.1, 0.2, 0.3])
    wall = Plane(normal=7.0 * n, point=p)
    x = RANDOM.normal(size=(4, 5, 3))
    np.testing.assert_allclose(wall.gap(x), (x - p) @ n, atol=EXACT)
    np.testing.assert_allclose(wall.normal(x), np.broadcast_to(n, x.shape), atol=EXACT)
    assert value(packed(wall)[0], 0.0, x[0, 0], 0.25) == pytest.approx((x[0, 0] - p) @ n - 0.25, abs=EXACT)


@pytest.mark.parametrize("kind", [Circle, Cylinder])
@pytest.mark.parametrize("side", ["inside", "outside"])
def test_gap_of_a_circle_is_the_distance_from_its_axis(kind, side) -> None:
    axis = ROTATION[:, 1]
    wall = kind(0.8, centre=CENTRE, axis=3.0 * axis, side=side)
    x = RANDOM.normal(size=(20, 3))
    across = (x - CENTRE) - np.outer((x - CENTRE) @ axis, axis)
    rho = np.linalg.norm(across, axis=1)
    sign = 1.0 if side == "outside" else -1.0
    np.testing.assert_allclose(wall.gap(x), sign * (rho - 0.8), atol=EXACT)
    np.testing.assert_allclose(wall.normal(x), sign * across / rho[:, None], atol=EXACT)


@pytest.mark.parametrize("side", ["inside", "outside"])
def test_gap_of_a_sphere_is_the_distance_from_its_centre(side) -> None:
    wall = Sphere(0.8, centre=CENTRE, side=side)
    x = RANDOM.normal(size=(20, 3))
    rho = np.linalg.norm(x - CENTRE, axis=1)
    sign = 1.0 if side == "outside" else -1.0
    np.testing.assert_allclose(wall.gap(x), sign * (rho - 0.8), atol=EXACT)
    np.testing.assert_allclose(wall.normal(x), sign * (x - CENTRE) / rho[:, None], atol=EXACT)


def test_gap_of_a_corridor_is_to_the_nearer_plane() -> None:
    wall = Corridor(0.6, normal=(0.0, 2.0, 0.0), centre=(0.0, 1.0, 0.0))
    np.testing.assert_allclose(wall.gap([[5.0, 1.2, 3.0], [0.0, 0.75, 1.0], [0.0, 1.4, 0.0]]), [0.1, 0.05, -0.1], atol=EXACT)
    np.testing.assert_allclose(wall.normal([[5.0, 1.2, 3.0], [0.0, 0.75, 1.0]]), [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]], atol=EXACT)


def test_gap_inside_a_box_is_to_the_nearest_face() -> None:
    size = np.array([1.0, 2.0, 3.0])
    wall = Box(size, centre=CENTRE, rotation=ROTATION, name="cage")
    y = RANDOM.uniform(-0.5, 0.5, size=(30, 3)) * size
    np.testing.assert_allclose(wall.gap(CENTRE + y @ ROTATION.T), (size / 2 - abs(y)).min(axis=1), atol=EXACT)
    s, names, _, _ = surfaces.pack([wall])
    assert names == ["cage.+x", "cage.-x", "cage.+y", "cage.-y", "cage.+z", "cage.-z"]
    y = np.array([0.3, -0.4, 0.2])
    found = [value(s, 0.0, CENTRE + ROTATION @ y, 0.1, i) for i in range(6)]
    np.testing.assert_allclose(found, np.array([0.2, 0.8, 1.4, 0.6, 1.3, 1.7]) - 0.1, atol=EXACT)


def test_gap_outside_a_box_is_the_distance_to_the_nearest_point_of_it() -> None:
    half = np.array([0.5, 1.0, 1.5])
    wall = Box(2 * half, centre=CENTRE, rotation=ROTATION, side="outside")
    y = RANDOM.uniform(-3.0, 3.0, size=(300, 3))
    inside = (abs(y) <= half).all(axis=1)
    assert 5 < inside.sum() < 100
    distance = np.linalg.norm(y - np.clip(y, -half, half), axis=1)
    np.testing.assert_allclose(wall.gap(CENTRE + y @ ROTATION.T), np.where(inside, (abs(y) - half).max(axis=1), distance), atol=EXACT)


def ellipsoid_distance(y: np.ndarray) -> float:
    """By SLSQP from the best of many points."""
    u = RANDOM.normal(size=(4000, 3))
    points = AXES * u / np.linalg.norm(u, axis=1)[:, None]
    start = points[np.argmin(((points - y) ** 2).sum(axis=1))]
    constraint = {"type": "eq", "fun": lambda p: ((p / AXES) ** 2).sum() - 1.0, "jac": lambda p: 2 * p / AXES**2}
    found = minimize(
        lambda p: ((p - y) ** 2).sum(), start, jac=lambda p: 2 * (p - y), constraints=constraint, method="SLSQP", options={"ftol": 1e-15}
    )
    return float(np.linalg.norm(found.x - y))


@pytest.mark.parametrize("side", ["inside", "outside"])
def test_gap_of_an_ellipsoid_is_the_least_distance(side) -> None:
    wall = Ellipsoid(AXES, centre=CENTRE, rotation=ROTATION, side=side)
    y = np.vstack([RANDOM.normal(size=(25, 3)), [[0.0, 0.3, 0.1], [0.0, 0.0, 0.0], [1e-9, 0.1, 0.2], [0.0, 0.0, 2.0]]])
    sign = np.where(((y / AXES) ** 2).sum(axis=1) > 1.0, 1.0, -1.0) * (1.0 if side == "outside" else -1.0)
    expected = sign * np.array([ellipsoid_distance(point) for point in y])
    # SLSQP stops at about the root of 1e-15.
    np.testing.assert_allclose(wall.gap(CENTRE + y @ ROTATION.T), expected, atol=1e-7)
    s = packed(wall)[0]
    for point, distance in zip(y, expected, strict=True):
        assert value(s, 0.0, CENTRE + ROTATION @ point, 0.1) == pytest.approx(distance - 0.1, abs=1e-7)


def height_distance(height, x: np.ndarray) -> float:
    """Least distance of x from a height field: the best of a dense grid, then Nelder-Mead."""
    reach = abs(x[2] - height(x[0], x[1])) * np.linspace(-1.0, 1.0, 201)
    near = reach[:, None] ** 2 + reach**2 + (height(x[0] + reach, x[1] + reach) - x[2]) ** 2
    i, j = np.unravel_index(np.argmin(near), near.shape)
    start = (x[0] + reach[i], x[1] + reach[j])
    square = lambda p: (p[0] - x[0]) ** 2 + (p[1] - x[1]) ** 2 + (height(p[0], p[1]) - x[2]) ** 2  # noqa: E731
    found = minimize(square, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15})
    return math.sqrt(found.fun)


def test_height_field_is_the_natural_bicubic_spline() -> None:
    height = spline_height(HILLS, HILL_X, HILL_Y)
    s = packed(HeightField(HILLS, HILL_X, HILL_Y))[0]
    for u, v in RANDOM.uniform(-4.0, 4.0, size=(60, 2)):  # beyond the grid as well
        assert value(s, 0.0, [u, v, 1.0]) == pytest.approx(1.0 - height(u, v), abs=1e-12)
    nodes = [(x, y, HILLS[i, j]) for i, x in enumerate(np.linspace(*HILL_X, 7)) for j, y in enumerate(np.linspace(*HILL_Y, 9))]
    assert max(abs(value(s, 0.0, node)) for node in nodes) < EXACT


def test_gap_above_a_height_field_is_the_least_distance() -> None:
    height = spline_height(HILLS, HILL_X, HILL_Y)
    wall = HeightField(HILLS, HILL_X, HILL_Y)
    for _ in range(12):
        u, v = RANDOM.uniform(-1.2, 2.2), RANDOM.uniform(-2.2, 2.7)
        x = np.array([u, v, height(u, v) + RANDOM.uniform(0.02, 0.5)])
        assert wall.gap(x) == pytest.approx(height_distance(height, x), abs=1e-7)


@pytest.mark.parametrize("radius", [0.03, 0.1, 0.3])
def test_a_sphere_on_a_height_field_touches_where_its_gap_vanishes(radius) -> None:
    height = spline_height(HILLS, HILL_X, HILL_Y)
    s = packed(HeightField(HILLS, HILL_X, HILL_Y))[0]
    for u, v in RANDOM.uniform((-1.2, -2.2), (2.2, 2.7), size=(10, 2)):
        far = value(s, 0.0, [u, v, 5.0], radius)  # the gap is vertical, so that one step reaches the contact
        x = np.array([u, v, 5.0 - far])
        assert value(s, 0.0, x, radius) == pytest.approx(0.0, abs=1e-12)
        assert height_distance(height, x) == pytest.approx(radius, abs=1e-7)


# rates --------------------------------------------------------------------------------------------

MOTIONS = {
    "still": None,
    "vibration": Vibration((0.05, -0.03, 0.04), omega=5.0, phase=0.3),
    "drift": Drift((0.1, -0.2, 0.15)),
    "function": lambda t: [0.1 * t * t, 0.05 * np.cos(3.0 * t), 0.02 * np.exp(t)],
}
ELLIPSE = np.diag(1.0 / AXES**2)


def implicit_bowl(x: np.ndarray) -> float:
    return 1.0 - x @ ELLIPSE @ x - 0.1 * np.sin(2.0 * x[0]) * x[1]


def implicit_slope(x: np.ndarray) -> np.ndarray:
    s, c = np.sin(2.0 * x[0]), np.cos(2.0 * x[0])
    return -2.0 * ELLIPSE @ x - 0.1 * np.array([2.0 * c * x[1], s, 0.0])


# A wall and the middle of a path in its free region; the path is 0.3 m about.
CASES = {
    "plane": (lambda **k: Plane((1.0, 2.0, 2.0), CENTRE, **k), (1.0, 1.0, 1.0)),
    "circle inside": (lambda **k: Circle(1.5, CENTRE, (1.0, 0.2, 0.3), **k), (0.6, 0.2, 0.3)),
    "circle outside": (lambda **k: Circle(0.5, CENTRE, (1.0, 0.2, 0.3), "outside", **k), (0.6, 1.2, 0.3)),
    "sphere inside": (lambda **k: Sphere(1.5, CENTRE, **k), (0.6, 0.2, 0.3)),
    "sphere outside": (lambda **k: Sphere(0.5, CENTRE, "outside", **k), (0.6, 1.2, 0.3)),
    "ellipsoid inside": (lambda **k: Ellipsoid(2.0 * AXES, CENTRE, ROTATION, **k), tuple(CENTRE + ROTATION @ [0.8, 0.4, 0.4])),
    "ellipsoid outside": (lambda **k: Ellipsoid(0.6 * AXES, CENTRE, ROTATION, "outside", **k), (1.4, 1.2, 0.3)),
    "box inside": (lambda **k: Box((2.0, 3.0, 4.0), CENTRE, ROTATION, **k), (0.6, 0.2, 0.3)),
    "box face": (lambda **k: Box((2.0, 3.0, 4.0), CENTRE, ROTATION, "outside", **k), tuple(CENTRE + ROTATION @ [2.0, 0.1, 0.2])),
    "box edge": (lambda **k: Box((0.6, 0.6, 4.0), CENTRE, ROTATION, "outside", **k), tuple(CENTRE + ROTATION @ [1.0, -1.1, 0.2])),
    "box corner": (lambda **k: Box((0.6, 0.6, 0.6), CENTRE, ROTATION, "outside", **k), tuple(CENTRE + ROTATION @ [1.0, -1.1, 1.2])),
    "corridor": (lambda **k: Corridor(4.0, (0.2, 1.0, 0.0), CENTRE, **k), (0.6, 0.2, 0.3)),
    "height field": (lambda **k: HeightField(BOWL, (-3.0, 3.0), (-3.0, 3.0), **k), (1.3, 1.4, 1.0)),
    "height field beyond": (lambda **k: HeightField(BOWL, (-3.0, 0.0), (-3.0, 3.0), **k), (2.0, 1.4, 2.0)),
    "implicit": (lambda **k: Implicit(implicit_bowl, **k), (0.25, 0.1, 0.2)),
    "implicit with gradient": (lambda **k: Implicit(implicit_bowl, implicit_slope, **k), (0.25, 0.1, 0.2)),
}


def path(middle, t: float, order: int = 0) -> np.ndarray:
    """A curved path about a middle, or its derivative."""
    amplitude, omega, phase = np.array([0.12, 0.1, 0.11]), np.array([1.7, 2.3, 1.1]), np.array([0.2, 1.0, -0.6])
    return (np.array(middle) if order == 0 else 0.0) + amplitude * omega**order * np.sin(omega * t + phase + order * np.pi / 2)


@pytest.mark.parametrize("radius", [0.0, 0.07])
@pytest.mark.parametrize("moving", MOTIONS)
@pytest.mark.parametrize("case", CASES)
def test_rates_and_gradient_are_those_of_the_gap_by_differences(case, moving, radius) -> None:
    make, middle = CASES[case]
    s, keep = packed(make(motion=MOTIONS[moving]))
    middle = np.array(middle) * (0.6 if case.startswith("implicit") and radius else 1.0)
    h = 2e-3
    for i in range(len(s.kind)):
        for t in (0.1, 0.53, 0.9):
            x = path(middle, t)
            found = motion(s, t, x, path(middle, t, 1), path(middle, t, 2), radius, i)
            a, b, c, d, e = (value(s, t + k * h, path(middle, t + k * h), radius, i) for k in (-2, -1, 0, 1, 2))
            keep.raise_error()
            assert c > 0.0
            assert found[0] == pytest.approx(c, abs=EXACT)
            # Five-point differences: h^4 f'''''/30 is below 1e-9 here, and so is rounding, 1e-16 / h^2.
            assert found[1] == pytest.approx((8 * (d - b) - (e - a)) / (12 * h), abs=1e-8), "rate"
            assert found[2] == pytest.approx((16 * (d + b) - (e + a) - 30 * c) / (12 * h * h), abs=3e-7), "second rate"
            steps = [[value(s, t, x + k * h * axis, radius, i) for k in (-2, -1, 1, 2)] for axis in np.eye(3)]
            gradient = [(8 * (d - b) - (e - a)) / (12 * h) for a, b, d, e in steps]
            np.testing.assert_allclose(found[3:], gradient, atol=1e-8, err_msg="gradient")


@pytest.mark.parametrize("moving", MOTIONS)
@pytest.mark.parametrize("case", CASES)
def test_rates_of_gap_and_normal_are_those_by_differences(case, moving) -> None:
    make, middle = CASES[case]
    wall = make(motion=MOTIONS[moving])
    middle = np.array(middle) * (0.6 if case.startswith("implicit") else 1.0)
    t, h = 0.53, 2e-3
    k = np.array([-2, -1, 1, 2])
    x = np.array([path(middle, t + j * h) for j in k])
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12 * h)
    here, speed = path(middle, t), path(middle, t, 1)
    assert wall.gap_rate(here, speed, t) == pytest.approx(weights @ wall.gap(x, t + k * h), abs=1e-8)
    np.testing.assert_allclose(wall.normal_rate(here, speed, t), weights @ wall.normal(x, t + k * h), atol=1e-7)
    assert np.linalg.norm(wall.normal(here, t)) == pytest.approx(1.0, abs=EXACT)


@pytest.mark.parametrize("radius", [0.0, 0.1])
@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("implicit") and case != "height field beyond"])
def test_phi_vanishes_on_contact(case, radius) -> None:
    wall = CASES[case][0]()
    for i, s in enumerate(wall.surfaces()):
        one = surfaces.pack([wall])[0]
        x = np.array(CASES[case][1])
        for _ in range(80):  # to the point at distance radius from surface i
            phi, *_, a, b, c = motion(one, 0.0, x, radius=radius, i=i)
            gradient = np.array([a, b, c])
            x = x - phi * gradient / (gradient @ gradient)
        if len(one.kind) == 1:
            assert wall.gap(x) == pytest.approx(radius, abs=1e-12), s.name
        slope = np.linalg.norm(motion(one, 0.0, x, radius=radius, i=i)[3:])
        if not case.startswith("height") and (radius or not case.startswith("ellipsoid")):
            assert slope == pytest.approx(1.0, abs=1e-9), s.name


def test_a_function_of_time_moves_a_wall_as_the_built_in_motion_does() -> None:
    vibration, drift = MOTIONS["vibration"], MOTIONS["drift"]
    sine = lambda t: np.array(vibration.amplitude) * np.sin(vibration.omega * t + vibration.phase)  # noqa: E731
    line = lambda t: t * np.array(drift.velocity)  # noqa: E731
    for built_in, function in ((vibration, sine), (drift, line)):
        one, other = packed(Sphere(2.0, motion=built_in))[0], packed(Sphere(2.0, motion=function))[0]
        for t in (0.0, 1.3, 200.7):
            x = path((0.5, 0.6, 0.2), t)
            # t + h is rounded to 3e-14 at t = 200: over h^2 = 1e-6, times a speed of 0.3.
            np.testing.assert_allclose(
                motion(other, t, x, path(x, t, 1), path(x, t, 2)), motion(one, t, x, path(x, t, 1), path(x, t, 2)), atol=1e-7
            )


@pytest.mark.parametrize("gradient", [True, False])
@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_an_implicit_surface_equals_the_built_in_one(gradient, radius) -> None:
    sphere = (lambda x: (4.0 - x @ x) / 4.0, (lambda x: -x / 2.0) if gradient else None)
    half_least = AXES.min() / 2.0
    ellipsoid = (
        lambda x: half_least * (1.0 - x @ ELLIPSE @ x),
        (lambda x: -2.0 * half_least * ELLIPSE @ x) if gradient else None,
    )
    height = spline_height(BOWL, (-3.0, 3.0), (-3.0, 3.0))
    ground = (lambda x: x[2] - height(x[0], x[1]), None)
    pairs = [
        (Sphere(2.0), sphere, (0.6, -0.7, 0.5)),
        (Ellipsoid(AXES), ellipsoid, (0.35, 0.3, 0.4)),
        (HeightField(BOWL, (-3.0, 3.0), (-3.0, 3.0)), ground, (1.3, 1.4, 0.6)),
    ]
    for built_in, (function, slope), x in pairs:
        other = Implicit(function, slope, name="other")
        one = motion(packed(built_in)[0], 0.2, x, path(x, 0.2, 1), path(x, 0.2, 2), radius)
        two = motion(packed(other)[0], 0.2, x, path(x, 0.2, 1), path(x, 0.2, 2), radius)
        if radius and not isinstance(built_in, HeightField):
            # The least phi on the sphere is another function, with the same zero: where the distance is the radius.
            touching = np.array(x)
            for _ in range(50):
                touching = touching - (built_in.gap(touching) - radius) * built_in.normal(touching)
            assert value(packed(built_in)[0], 0.0, touching, radius) == pytest.approx(0.0, abs=1e-12)
            assert value(packed(other)[0], 0.0, touching, radius) == pytest.approx(0.0, abs=1e-12)
            # Along the surface they agree to first order as well, up to the length of the gradient.
            one, two = (motion(packed(wall)[0], 0.0, touching, radius=radius)[3:] for wall in (built_in, other))
            np.testing.assert_allclose(two / np.linalg.norm(two), one / np.linalg.norm(one), atol=1e-9)
        else:
            # Second differences of phi over 1e-3: 1e-16 / 1e-6.
            np.testing.assert_allclose(two, one, atol=1e-8)
        assert other.gap(x) == pytest.approx(built_in.gap(x), abs=1e-10)
        np.testing.assert_allclose(other.normal(x), built_in.normal(x), atol=1e-9)


def test_the_distance_from_the_centre_of_an_implicit_sphere_is_its_radius() -> None:
    assert Implicit(lambda x: 4.0 - x @ x).gap([0.0, 0.0, 0.0]) == pytest.approx(2.0, abs=1e-9)


# packing ------------------------------------------------------------------------------------------


def test_pack_names_surfaces_and_keeps_restitutions() -> None:
    given = [Plane(restitution=0.5), Plane(), Corridor(1.0, restitution=1.0), Plane(name="floor"), Sphere(1.0, name="plane_3"), Plane()]
    s, names, records, _ = surfaces.pack(given)
    assert names == ["plane", "plane_2", "corridor.+", "corridor.-", "floor", "plane_3", "plane_4"]
    assert [record.restitution for record in records] == [0.5, None, 1.0, 1.0, None, None, None]
    assert s.kind.dtype == s.integers.dtype == np.int64
    assert all(array.flags.c_contiguous for array in (s.kind, s.values, s.integers, s.data, s.scratch))
    with pytest.raises(ArgumentError, match="'floor'"):
        surfaces.pack([Plane(name="floor"), Sphere(1.0, name="floor")])
    with pytest.raises(ArgumentError, match="expected Plane"):
        surfaces.pack(["floor"])
    assert len(surfaces.pack([])[0].kind) == 0


def test_a_number_is_never_given_twice() -> None:
    assert walls.labels([("", "plane"), ("plane", "plane"), ("", "plane"), ("", "plane")]) == ["plane_2", "plane", "plane_3", "plane_4"]
    assert walls.labels([("", "plane"), ("plane_2", "box"), ("", "plane")]) == ["plane", "plane_2", "plane_3"]


def test_two_height_fields_keep_their_own_heights() -> None:
    s = surfaces.pack([HeightField(HILLS, HILL_X, HILL_Y), HeightField(BOWL, (-3.0, 3.0), (-3.0, 3.0))])[0]
    for i, (heights, x, y) in enumerate([(HILLS, HILL_X, HILL_Y), (BOWL, (-3.0, 3.0), (-3.0, 3.0))]):
        assert value(s, 0.0, [0.7, 0.8, 1.0], i=i) == pytest.approx(1.0 - spline_height(heights, x, y)(0.7, 0.8), abs=1e-12)


@pytest.mark.parametrize(
    ("wall", "room"),
    [
        (Circle(0.5), 0.5),
        (Sphere(0.5), 0.5),
        (Ellipsoid((0.5, 1.0, 2.0)), 0.5),
        (Box((1.0, 2.0, 3.0)), 0.5),
        (Corridor(1.0), 0.5),
        (Sphere(0.5, side="outside"), np.inf),
    ],
)
def test_a_sphere_too_large_for_a_wall_is_refused(wall, room) -> None:
    surfaces.check_radius([wall], 0.49)
    if math.isfinite(room):
        with pytest.raises(ArgumentError, match=r"radius 0\.5 m does not fit .*below 0\.5 m"):
            surfaces.check_radius([wall], 0.5)
    else:
        surfaces.check_radius([wall], 50.0)
    with pytest.raises(ArgumentError, match="nan"):
        surfaces.check_radius([wall], float("nan"))


def test_a_radius_without_room_gives_nan() -> None:
    assert math.isnan(value(packed(Circle(0.5))[0], 0.0, [0.0, 0.0, 0.0], 0.5))


def test_a_wall_can_be_pickled_after_use() -> None:
    wall = Box((1.0, 2.0, 3.0), motion=Vibration((0, 0, 1), 2.0))
    before = wall.gap([0.1, 0.2, 0.3], 0.4)
    again = pickle.loads(pickle.dumps(wall))
    assert again == wall
    assert again.gap([0.1, 0.2, 0.3], 0.4) == before


# callbacks ----------------------------------------------------------------------------------------


def fails(error):
    def function(_):
        raise error

    return function


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), KeyboardInterrupt()])
@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_an_exception_of_a_callback_is_kept_and_gives_nan(error, radius) -> None:
    for wall in (
        Implicit(fails(error)),
        Plane(motion=fails(error)),
        Implicit(implicit_bowl, fails(error)),
        Implicit(implicit_bowl, motion=fails(error)),
    ):
        s, keep = packed(wall)
        out = motion(s, 0.0, [0.1, 0.2, 0.3], radius=radius)
        assert np.isnan(out[:3]).all()
        assert keep.error is error
        with pytest.raises(type(error)):
            keep.raise_error()
        keep.raise_error()  # once only
        if not (isinstance(wall, Implicit) and wall.gradient and not radius):
            assert math.isnan(value(s, 0.0, [0.1, 0.2, 0.3], radius))
        with pytest.raises(type(error)):
            wall.gap([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("wall", "message"),
    [
        (Implicit(lambda x: float("nan"), name="dune"), r"function of wall 'dune' gave nan at x = \[0\.1, 0\.2, 0\.3\]"),
        (Implicit(implicit_bowl, lambda x: [1.0, 2.0], name="dune"), r"gradient of wall 'dune' gave \[1\.0, 2\.0\]"),
        (Plane(motion=lambda t: [t, t], name="lift"), r"motion of wall 'lift' gave \[0\.5, 0\.5\] at t = 0\.5"),
    ],
)
def test_a_callback_that_returns_nonsense_is_named(wall, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        wall.gap([0.1, 0.2, 0.3], 0.5)


# arguments ----------------------------------------------------------------------------------------

WRONG = [
    (lambda: Plane(normal=(0, 0, 0)), r"Plane: normal is \(0, 0, 0\); expected a vector that is not zero"),
    (lambda: Plane(point=(0, 0)), r"Plane: point is \(0, 0\); expected 3 finite numbers"),
    (lambda: Plane(normal=(0, 0, float("nan"))), "Plane: normal is .*nan"),
    (lambda: Plane(restitution=1.5), r"Plane: restitution is 1\.5; expected a number in \[0, 1\]"),
    (lambda: Plane(restitution=-0.1), r"restitution is -0\.1"),
    (lambda: Plane(restitution="half"), "restitution is 'half'"),
    (lambda: Plane(motion=3.0), r"Plane: motion is 3\.0; expected a Vibration"),
    (lambda: Plane(name=3), "Plane: name is 3"),
    (lambda: Circle(0.0), r"Circle: radius is 0\.0; expected a positive number of metres"),
    (lambda: Cylinder(-1.0), r"Cylinder: radius is -1\.0"),
    (lambda: Cylinder(1.0, axis=(0, 0, 0)), r"Cylinder: axis is \(0, 0, 0\)"),
    (lambda: Sphere(float("nan")), "Sphere: radius is nan"),
    (lambda: Sphere(float("inf")), "Sphere: radius is inf"),
    (lambda: Sphere("big"), "Sphere: radius is 'big'"),
    (lambda: Sphere(1.0, side="within"), "Sphere: side is 'within'; expected 'inside' or 'outside'"),
    (lambda: Sphere(1.0, centre=1.0), r"Sphere: centre is 1\.0"),
    (lambda: Ellipsoid((1, 2, 0)), r"Ellipsoid: semi_axes is \(1, 2, 0\); expected 3 positive"),
    (lambda: Ellipsoid((1, 2)), r"Ellipsoid: semi_axes is \(1, 2\)"),
    (lambda: Ellipsoid((1, 2, 3), rotation=2 * np.eye(3)), r"Ellipsoid: rotation is .*expected a rotation matrix \(3, 3\)"),
    (lambda: Box((1, 1, 1), rotation=np.diag([1, 1, -1])), "Box: rotation is"),
    (lambda: Box((1, 1, -1)), r"Box: size is \(1, 1, -1\)"),
    (lambda: Box((1, 1, 1), side=None), "Box: side is None"),
    (lambda: Corridor(-2.0), r"Corridor: width is -2\.0"),
    (lambda: HeightField(np.zeros(4), (0, 1), (0, 1)), r"HeightField: heights has shape \(4,\)"),
    (lambda: HeightField([[0.0, 1.0], [np.nan, 0.0]], (0, 1), (0, 1)), r"heights\[1, 0\] is nan"),
    (lambda: HeightField([["a"]], (0, 1), (0, 1)), r"heights is \[\['a'\]\]"),
    (lambda: HeightField(np.zeros((2, 2)), (1, 0), (0, 1)), r"HeightField: x is \(1, 0\); expected \(first, last\)"),
    (lambda: HeightField(np.zeros((2, 2)), (0, 1), 3), "HeightField: y is 3"),
    (lambda: Implicit(3.0), r"Implicit: function is 3\.0"),
    (lambda: Implicit(implicit_bowl, 3.0), r"Implicit: gradient is 3\.0"),
    (lambda: Implicit(implicit_bowl, scale=0.0), r"Implicit: scale is 0\.0"),
    (lambda: Vibration((1, 2), 3.0), r"Vibration: amplitude is \(1, 2\)"),
    (lambda: Vibration((1, 2, 3), float("nan")), "Vibration: omega is nan"),
    (lambda: Drift(None), "Drift: velocity is None"),
    (lambda: Plane().gap([1.0, 2.0]), r"Plane: x has shape \(2,\), expected \(\.\.\., 3\)"),
    (lambda: Plane().gap_rate([[1.0, 2.0, 3.0]] * 2, [[1.0, 2.0, 3.0]] * 3), "do not broadcast"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_arguments_are_named(make, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


def test_walls_are_described_without_the_compiler() -> None:
    code = "import sys, urdf_gibbs.walls as w; w.Box((1, 1, 1)).surfaces(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_surfaces_keep_the_functions_alive_whose_addresses_they_hold() -> None:
    """Compiled code calls them by address: one that is gone would be a crash."""

    def shape(x: np.ndarray) -> float:
        return 1.0 - float(x @ x)

    s, _, _, callbacks = surfaces.pack([Implicit(shape, motion=lambda t: (t, 0.0, 0.0))])
    alive = weakref.ref(callbacks)
    del callbacks
    s = s.replaced(scratch=np.zeros_like(s.scratch))
    gc.collect()
    assert alive() is not None
    places = surfaces.Places(t=np.array([0.25]), x=np.array([[0.75, 0.0, 0.0]]), xd=np.zeros((1, 3)), out=np.empty((1, 8)))
    surfaces.nearest(s, places)
    assert places.out[0, 0] == pytest.approx(0.5, abs=1e-9)  # to the unit sphere about (0.25, 0, 0), a foot found by differences
    del s
    gc.collect()
    assert alive() is None  # and no longer
