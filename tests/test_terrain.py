"""Generated ground, files of it, and wheels with a width on it: statistics, closed forms, and dense samples of the tread."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.contact.wheels import wheel_points
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.simulation.layout import GAP, PRESENT
from urdf_gibbs.walls import HeightField, Terrain, described, load_terrain, save_terrain, wall_from

ROUGH = {"x": (0.0, 25.6), "y": (0.0, 25.6), "spacing": 0.1, "roughness": 0.05, "wavelengths": (0.5, 10.0)}


# what is generated ------------------------------------------------------------------------------------------


def test_a_seed_determines_the_ground_and_each_part_has_its_own_stream() -> None:
    every = {**ROUGH, "craters": 3.0, "rocks": 5.0}
    one, again, other = Terrain(seed=7, **every), Terrain(seed=7, **every), Terrain(seed=8, **every)
    assert (one.heights == again.heights).all() and np.abs(one.heights - other.heights).max() > 0.01
    parts = [Terrain(seed=7, **{**every, **{key: 0.0 for key in without}}).heights for without in (("craters", "rocks"), ("roughness",))]
    np.testing.assert_allclose(one.heights, parts[0] + parts[1], atol=1e-14)  # sums of the same numbers


def test_the_roughness_is_its_root_mean_square() -> None:
    squares = [np.mean(Terrain(seed=seed, **ROUGH).heights ** 2) for seed in range(40)]
    error = np.std(squares) / math.sqrt(len(squares))
    assert abs(np.mean(squares) - 0.05**2) < 4.0 * error  # a normal variable is further out once in 16,000


@pytest.mark.parametrize("hurst", [0.4, 0.9])
def test_the_spectrum_falls_with_the_hurst_exponent(hurst: float) -> None:
    """Power per area of wave number ~ k^-(2H + 2): a line through the logarithms of a windowed periodogram, averaged over rings."""
    k0, power = np.zeros(0), np.zeros(0)
    for seed in range(10):
        heights = Terrain(seed=seed, **{**ROUGH, "hurst": hurst, "wavelengths": (0.5, 20.0)}).heights[:256, :256]
        window = np.hanning(256)
        spectrum = np.abs(np.fft.fft2(heights * window[:, None] * window)) ** 2
        k = np.hypot(*np.meshgrid(*[2 * math.pi * np.fft.fftfreq(256, 0.1)] * 2))
        rings = np.geomspace(2.0, 10.0, 12)
        means = [spectrum[(k >= low) & (k < high)].mean() for low, high in pairwise(rings)]
        k0, power = np.sqrt(rings[1:] * rings[:-1]), power + means if len(power) else np.array(means)
    slope = np.polyfit(np.log(k0), np.log(power), 1)[0]
    assert slope == pytest.approx(-(2.0 * hurst + 2.0), abs=0.15)  # ten fields of some hundred waves in each ring


def test_a_crater_and_a_rock_have_the_shape_that_is_said() -> None:
    """One of each, found as the deepest and the highest point: depth, rim and fall-off, height and edge."""
    space: dict[str, Any] = {"x": (0.0, 10.0), "y": (0.0, 10.0), "spacing": 0.05}
    for seed in range(50):
        crater = Terrain(seed=seed, craters=1.0, crater_sizes=(1.999, 2.0), crater_depth=0.2, **space)
        at = np.unravel_index(np.argmin(crater.heights), crater.heights.shape)
        if abs(crater.heights.min() + 0.4) < 0.01 and 60 < at[0] < 140 and 60 < at[1] < 140:
            break
    along = crater.heights[at[0] :, at[1]]
    r = 0.05 * np.arange(len(along))
    outside = r > 1.1
    assert along[:25].max() == pytest.approx(0.08, abs=0.012)  # the rim lies between nodes
    np.testing.assert_allclose(along[outside], 0.08 / r[outside] ** 3, rtol=0.15)  # and so does the centre
    rock = Terrain(seed=3, rocks=20.0, rock_sizes=(0.6, 0.61), rock_height=0.5, **space).heights
    assert rock.min() == 0.0 and 0.28 < rock.max() < 0.7  # of 20 some overlap


def test_the_slope_is_a_plane_and_a_level_place_has_nothing_else() -> None:
    ground = Terrain(seed=1, slope=math.radians(15.0), uphill=(3.0, 4.0), level=(12.0, 12.0, 3.0), **ROUGH)
    rng = np.random.default_rng(0)
    near = np.column_stack([rng.uniform(10.0, 14.0, 50), rng.uniform(10.5, 13.5, 50), np.zeros(50)])
    plane = ug.walls.Plane((-0.6 * math.tan(math.radians(15.0)), -0.8 * math.tan(math.radians(15.0)), 1.0))
    near[:, 2] = math.tan(math.radians(15.0)) * (0.6 * near[:, 0] + 0.8 * near[:, 1]) + 0.01
    np.testing.assert_allclose(ground.gap(near), plane.gap(near), atol=1e-7)  # what the spline carries over from beyond the place
    far = np.array([[2.0, 2.0, 0.0], [24.0, 3.0, 0.0], [20.0, 22.0, 0.0]])
    assert np.abs(ground.gap(far) - plane.gap(far)).max() > 1e-3


def test_a_file_and_a_description_give_the_ground_back(tmp_path: Path) -> None:
    ground = Terrain(seed=5, craters=2.0, **ROUGH)
    save_terrain(ground, tmp_path / "ground.npz")
    read = load_terrain(tmp_path / "ground.npz", friction=0.6)
    assert isinstance(read, HeightField) and (np.asarray(read.heights) == ground.heights).all() and (read.x, read.y) == (ground.x, ground.y)
    assert read.friction == (0.6, 0.6)
    restored = wall_from(described(ground))
    assert isinstance(restored, Terrain) and (restored.heights == ground.heights).all()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"seed": -1}, "seed is -1"),
    ({"seed": 1.5}, "seed is 1.5"),
    ({"roughness": -0.1}, "roughness is -0.1; expected a number 0 or more"),
    ({"hurst": 1.2}, "hurst is 1.2; expected a number from 1e-06 to 1"),
    ({"crater_depth": 0.9}, "crater_depth is 0.9; expected a number from 0 to 0.4"),
    ({"slope": 1.6}, "slope is 1.6"),
    ({"x": (1.0, 1.0)}, r"x is \(1.0, 1.0\)"),
    ({"wavelengths": (0.0, 1.0)}, "wavelengths is .* above 0"),
    ({"roughness": 0.1, "wavelengths": (0.1, 1.0)}, "wavelengths from 0.1 m on a grid of 0.1 m; expected four spacings"),
    ({"rocks": 1.0, "rock_sizes": (0.1, 1.0)}, "rock_sizes from 0.1 m on a grid of 0.1 m; expected two spacings"),
    ({"spacing": 1e-4}, "nodes at a spacing of 0.0001 m"),
    ({"uphill": (0.0, 0.0)}, "uphill is .* not zero"),
    ({"level": (1.0, 1.0, 0.0)}, r"level\[2\] is 0.0"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_what_cannot_be_generated_is_an_error(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Terrain(**given)


def test_a_file_that_is_none_of_terrain_is_an_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for path in (tmp_path / "other.npz", tmp_path / "missing.npz"):
        with pytest.raises(ArgumentError, match="expected a file written by save_terrain"):
            load_terrain(path)


# wheels -----------------------------------------------------------------------------------------------------

RADIUS, WIDTH = 0.25, 0.2
WHEEL = f"""<robot name="wheel"><link name="axle"><inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial></link><joint name="turn" type="continuous"><parent link="axle"/><child link="tyre"/>
<axis xyz="0 1 0"/></joint><link name="tyre"><inertial><mass value="1"/><inertia ixx=".02" ixy="0" ixz="0" iyy=".03" iyz="0" izz=".02"/>
</inertial><collision><origin rpy="-1.5707963267948966 0 0"/><geometry><cylinder radius="{RADIUS}" length="{WIDTH}"/></geometry></collision>
</link></robot>"""


def wheel() -> ug.Robot:
    return ug.load(WHEEL, base="floating")


def deepest(ground: Terrain, q: Any) -> float:
    """How deep the rims are in the ground along z, by the compiled gaps."""
    robot = wheel()
    simulator = ug.Simulator(robot, walls=ground, points=wheel_points(robot, None, 0.0, [ground]))
    program = simulator._program
    program.state.y[:] = 0.0
    program.state.y[: robot.nq] = q
    assert program.update_gaps(0.0, PRESENT) == 0
    return float(-program.state.gaps[:, GAP].min())


@pytest.mark.parametrize("seed", range(6))
def test_no_bump_passes_between_the_rims_where_the_wheel_is_larger_than_the_grid(seed: int) -> None:
    """Rocks half as wide as the wheel: the deepest point of the whole tread, by 200,000 samples, against that of the rims."""
    ground = Terrain(seed=seed, x=(0.0, 4.0), y=(0.0, 4.0), spacing=0.05, roughness=0.01, wavelengths=(0.5, 2.0), rocks=300.0,
                     rock_sizes=(0.12, 0.2), rock_height=0.4)  # fmt: skip
    rng = np.random.default_rng(seed)
    yaw = rng.uniform(0.0, math.pi)
    x, y = rng.uniform(1.0, 3.0, 2)
    z = 0.2
    q = np.array([x, y, z, 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw), 0.3])
    angle, across = np.meshgrid(np.linspace(math.pi, 2.0 * math.pi, 2000), np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, 101))
    along = RADIUS * np.cos(angle)
    places = np.stack([x + along * math.cos(yaw) - across * math.sin(yaw), y + along * math.sin(yaw) + across * math.cos(yaw)], axis=-1)
    heights = spline(ground, places)
    depth = heights - (z + RADIUS * np.sin(angle))
    found, whole = deepest(ground, q), float(depth.max())
    curvature = max(np.abs(np.diff(ground.heights, 2, axis=axis)).max() for axis in (0, 1)) / 0.05**2
    missed = 0.5 * curvature * 0.025**2  # at most half a cell from the nearest rim
    assert whole > 0.02 and whole - missed - 1e-3 <= found <= whole + 1e-3  # and the samples' own 1e-3: linear over a raster of 1 cm


def spline(ground: Terrain, places: Any) -> Any:
    """Heights of the natural bicubic spline by SciPy."""
    from scipy.interpolate import CubicSpline

    u = np.linspace(*ground.x, ground.heights.shape[0])  # type: ignore[call-overload]
    v = np.linspace(*ground.y, ground.heights.shape[1])  # type: ignore[call-overload]
    shape = places.shape[:-1]
    x, y = places.reshape(-1, 2).T
    fine = 0.01  # rows of the spline along y at a fine raster of x, then linear between them
    rows = np.arange(x.min() - fine, x.max() + 2 * fine, fine)
    table = CubicSpline(v, CubicSpline(u, ground.heights, bc_type="natural")(rows), axis=1, bc_type="natural")
    columns = np.arange(y.min() - fine, y.max() + 2 * fine, fine)
    values = table(columns)
    i, j = (x - rows[0]) / fine, (y - columns[0]) / fine
    a, b = i.astype(int), j.astype(int)
    s, t = i - a, j - b
    mixed = (1 - s) * ((1 - t) * values[a, b] + t * values[a, b + 1]) + s * ((1 - t) * values[a + 1, b] + t * values[a + 1, b + 1])
    return mixed.reshape(shape)


def test_the_tread_has_as_many_rims_as_asked_for_or_as_the_grid_needs() -> None:
    robot = wheel()
    flat = [point.name for point in wheel_points(robot)]
    assert flat == ["tyre.cylinder0.+", "tyre.cylinder0.-"]  # as points="collision" has them
    one = wheel_points(robot, 1, 0.02)
    assert len(one) == 1 and one[0].rim == RADIUS and one[0].position == pytest.approx((0.0, 0.0, 0.0), abs=1e-15)
    five = wheel_points(robot, 5, 0.02)
    assert [point.rim for point in five] == pytest.approx([0.23, 0.245, 0.25, 0.245, 0.23])
    np.testing.assert_allclose([point.position[1] for point in five], [0.1, 0.05, 0.0, -0.05, -0.1], atol=1e-15)
    for spacing, count in ((0.1, 3), (0.05, 5), (0.3, 2)):
        ground = Terrain(seed=0, spacing=spacing, roughness=0.01, wavelengths=(1.5, 5.0))
        assert len(wheel_points(robot, None, 0.0, [ground])) == count
    for rims in (0, 1.5, 65):
        with pytest.raises(ArgumentError, match="whole number from 1 to 64"):
            wheel_points(robot, rims)
    with pytest.raises(ArgumentError, match=r"crown=0\.25, expected 0 or more and less than the radius"):
        wheel_points(robot, 3, 0.25)


def test_a_grid_that_is_too_coarse_for_the_wheels_is_an_error() -> None:
    robot, q = wheel(), np.array([5.0, 5.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    coarse = Terrain(seed=0, spacing=0.6, roughness=0.01, wavelengths=(3.0, 9.0))
    with pytest.raises(ArgumentError, match=r"too coarse for wheel 'tyre.cylinder0.\+': cells of 0.588\d* m under a diameter of 0.5 m"):
        ug.simulate(robot, q, None, 0.1, walls=coarse, points="collision")
    straight = Terrain(seed=0, spacing=0.6, slope=0.2)  # a plane needs no grid
    assert ug.simulate(robot, q, None, 0.1, walls=straight, points="collision").status == "complete"
