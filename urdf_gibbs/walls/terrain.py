"""Ground that is generated: roughness by its spectrum, craters, rocks and a slope, as a height field that a seed determines."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import FrictionLike, path_of
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls.arguments import as_length, as_number, as_vector, put
from urdf_gibbs.walls.fields import HeightField
from urdf_gibbs.walls.wall import Surface, Wall

Array = NDArray[np.float64]

MOST_NODES = 4_000_000
RIM_HEIGHT = 0.2  # of a crater's depth: 0.04 D at a depth of 0.2 D (Pike 1977, fresh lunar craters)
SIZES = 2.0  # exponent of the cumulative numbers of craters and rocks, N(> D) ~ D^-2


@dataclass(frozen=True, eq=False)
class Terrain(Wall):
    """Ground that a seed determines, a HeightField: the same arguments give the same heights.

    Args:
        seed: 0 or more. Roughness, craters and rocks have streams of their own: changing one leaves the others.
        x: (first, last) [m].
        y: (first, last) [m].
        spacing: Of the grid, at most [m]; the spans are divided evenly.
        roughness: Root mean square of the height of the random part [m]; 0: none.
        hurst: H of its spectrum: power per area of wave number ~ k^-(2H + 2), in (0, 1].
        wavelengths: (shortest, longest) of the random part [m]; the shortest is four spacings or more.
        craters: Their number for each 100 m^2, on average.
        crater_sizes: (smallest, largest) diameter of their rims [m]; of cumulative numbers ~ D^-2.
        crater_depth: Depth below the ground over the diameter; the rim rises by a fifth of the depth and falls off as 1/r^3.
        rocks: Their number for each 100 m^2, on average.
        rock_sizes: (smallest, largest) diameter [m]; of cumulative numbers ~ D^-2.
        rock_height: Over the diameter: h (1 - (2 r/D)^2)^2.
        slope: Of the whole ground [rad], below 90 degrees.
        uphill: Direction of the slope (2,); the height is zero where (x, y) is across to it from the origin.
        level: (x, y, radius) of a place to start from: only the slope is left within the radius, and all of the rest from one and a half
            times the radius on; None: everywhere the same.
        restitution: In [0, 1]; None: the simulation's.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        motion: A Vibration, a Drift or a function of t [s] that returns d (3,) [m]; None: it stands.
        name: For reports; "": the kind of the wall.

    Raises:
        ArgumentError: A value has a wrong type or is out of its range, or what is to be generated is too fine for the grid.
    """

    seed: int = 0
    x: ArrayLike = (0.0, 10.0)
    y: ArrayLike = (0.0, 10.0)
    spacing: float = 0.1
    roughness: float = 0.0
    hurst: float = 0.8
    wavelengths: ArrayLike = (0.8, 10.0)
    craters: float = 0.0
    crater_sizes: ArrayLike = (0.5, 3.0)
    crater_depth: float = 0.1
    rocks: float = 0.0
    rock_sizes: ArrayLike = (0.2, 0.6)
    rock_height: float = 0.3
    slope: float = 0.0
    uphill: ArrayLike = (1.0, 0.0)
    level: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer | float) or not 0 <= self.seed == int(self.seed):
            raise ArgumentError(f"Terrain: seed is {self.seed!r}; expected a whole number, 0 or more")
        put(self, "seed", int(self.seed))
        for what, value in LIMITS.items():
            put(self, what, _within(what, getattr(self, what), *value))
        for what in ("x", "y", "wavelengths", "crater_sizes", "rock_sizes"):
            put(self, what, _interval(what, getattr(self, what)))
        put(self, "spacing", as_length("Terrain", "spacing", self.spacing))
        put(self, "uphill", as_vector("Terrain", "uphill", self.uphill, 2))
        if not any(self.uphill):  # type: ignore[arg-type]
            raise ArgumentError(f"Terrain: uphill is {self.uphill!r}; expected a vector that is not zero")
        if self.level is not None:
            put(self, "level", as_vector("Terrain", "level", self.level, 3))
            as_length("Terrain", "level[2]", self.level[2])  # type: ignore[index]
        _ = self.heights  # so that what is wrong is said here

    @property
    def field(self) -> HeightField:
        """The ground as a HeightField."""
        options = {key: getattr(self, key) for key in ("restitution", "friction", "motion")}
        return HeightField(self.heights, self.x, self.y, name=self.name or "terrain", **options)

    def surfaces(self) -> tuple[Surface, ...]:
        return self.field.surfaces()

    @cached_property
    def heights(self) -> Array:
        """The heights (nx, ny) [m] at the nodes of the grid."""
        X, Y, cell = _grid(self.x, self.y, self.spacing)
        rough, craters, rocks = (np.random.default_rng([self.seed, number]) for number in range(3))
        heights = np.zeros(X.shape)
        shortest, longest = np.asarray(self.wavelengths, dtype=float)
        if self.roughness > 0.0:
            if shortest < 4.0 * max(cell):
                raise ArgumentError(
                    f"Terrain: wavelengths from {shortest:g} m on a grid of {max(cell):g} m; expected four spacings or more"
                )
            heights += self.roughness * _rough(rough, X.shape, cell, self.hurst, (shortest, longest))
        for at, size in _scattered(craters, X, Y, "crater", self.craters, self.crater_sizes, max(cell)):
            heights += _crater(np.hypot(X - at[0], Y - at[1]), size, self.crater_depth)
        for at, size in _scattered(rocks, X, Y, "rock", self.rocks, self.rock_sizes, max(cell)):
            heights += self.rock_height * size * np.maximum(0.0, 1.0 - 4.0 * ((X - at[0]) ** 2 + (Y - at[1]) ** 2) / size**2) ** 2
        if self.level is not None:
            u, v, radius = np.asarray(self.level, dtype=float)
            far = np.clip(2.0 * np.hypot(X - u, Y - v) / radius - 2.0, 0.0, 1.0)
            heights *= far**3 * (10.0 - 15.0 * far + 6.0 * far * far)
        up = np.asarray(self.uphill, dtype=float) / np.linalg.norm(self.uphill)
        heights += math.tan(self.slope) * (up[0] * X + up[1] * Y)
        heights.flags.writeable = False
        return heights


LIMITS: dict[str, tuple[float, ...]] = {
    "roughness": (0.0,),
    "hurst": (1e-6, 1.0),
    "craters": (0.0,),
    "crater_depth": (0.0, 0.4),
    "rocks": (0.0,),
    "rock_height": (0.0, 1.0),
    "slope": (0.0, 1.5),
}


def save_terrain(field: HeightField | Terrain, path: str | os.PathLike[str]) -> None:
    """Write the heights and the extent of a height field to a compressed NumPy file.

    Args:
        field: The height field, or generated terrain.
        path: Where it goes; without the ending .npz NumPy adds it.

    Raises:
        ArgumentError: The path or the field is none.
    """
    field = field.field if isinstance(field, Terrain) else field
    if not isinstance(field, HeightField):
        raise ArgumentError(f"field={field!r}, expected a HeightField or a Terrain")
    heights, x, y = (np.asarray(value, dtype=float) for value in (field.heights, field.x, field.y))
    np.savez_compressed(path_of(path, "path"), heights=heights, x=x, y=y)


def load_terrain(path: str | os.PathLike[str], friction: FrictionLike | None = None, name: str = "terrain") -> HeightField:
    """Read what ``save_terrain`` wrote.

    Args:
        path: Of the file.
        friction: Coefficient of Coulomb friction, or (static, kinetic); None: the simulation's.
        name: For reports.

    Returns:
        The height field.

    Raises:
        ArgumentError: The file is none of terrain.
    """
    file = path_of(path, "path")
    try:
        with np.load(file, allow_pickle=False) as data:
            heights, x, y = (np.array(data[key], dtype=float) for key in ("heights", "x", "y"))
    except (OSError, ValueError, KeyError) as problem:
        raise ArgumentError(f"{file}: {problem}; expected a file written by save_terrain") from None
    return HeightField(heights, x, y, friction=friction, name=name)


def _grid(x: ArrayLike, y: ArrayLike, spacing: float) -> tuple[Array, Array, tuple[float, float]]:
    """Places of the nodes (nx, ny), and the edges of a cell."""
    spans = [np.asarray(span, dtype=float) for span in (x, y)]
    counts = [math.ceil((last - first) / spacing - 1e-9) + 1 for first, last in spans]
    if math.prod(counts) > MOST_NODES:
        raise ArgumentError(f"Terrain: {counts[0]} x {counts[1]} nodes at a spacing of {spacing:g} m; expected {MOST_NODES} at most")
    axes = [np.linspace(first, last, max(2, count)) for (first, last), count in zip(spans, counts, strict=True)]
    X, Y = np.meshgrid(*axes, indexing="ij")
    return X, Y, (axes[0][1] - axes[0][0], axes[1][1] - axes[1][0])


def _interval(what: str, value: ArrayLike) -> tuple[float, float]:
    first, last = as_vector("Terrain", what, value, 2)
    if not first < last or (what not in ("x", "y") and first <= 0.0):
        raise ArgumentError(
            f"Terrain: {what} is {value!r}; expected (least, most) with least < most" + ("" if what in "xy" else ", above 0")
        )
    return first, last


def _within(what: str, value: Any, least: float, most: float = math.inf) -> float:
    number = as_number("Terrain", what, value)
    if not least <= number <= most:
        bounds = f"{least:g} or more" if most == math.inf else f"from {least:g} to {most:g}"
        raise ArgumentError(f"Terrain: {what} is {value!r}; expected a number {bounds}")
    return number


def _rough(rng: np.random.Generator, shape: tuple[int, ...], cells: Sequence[float], hurst: float, waves: tuple[float, float]) -> Array:
    """(nx, ny) heights of the spectrum, of which the expected mean square is 1: white noise, filtered on a torus twice the size."""
    size = [2 * count for count in shape]
    noise = np.fft.rfft2(rng.standard_normal(size))
    k = np.hypot(
        2.0 * np.pi * np.fft.fftfreq(size[0], cells[0])[:, None],
        2.0 * np.pi * np.fft.rfftfreq(size[1], cells[1])[None, :],
    )
    band = (k >= 2.0 * np.pi / waves[1]) & (k <= 2.0 * np.pi / waves[0])
    gain = np.where(band, np.where(band, k, 1.0) ** -(hurst + 1.0), 0.0)
    doubled = np.full(gain.shape[1], 2.0)  # of rfft2 each column stands for two of fft2, the first and the last for one
    doubled[[0, -1]] = 1.0
    power = float((gain**2 * doubled).sum()) / math.prod(size)
    if power == 0.0:
        raise ArgumentError(f"Terrain: no wave of {waves[0]:g} to {waves[1]:g} m fits the ground; expected longer or shorter wavelengths")
    return np.fft.irfft2(noise * gain, s=size)[: shape[0], : shape[1]] / math.sqrt(power)


def _scattered(
    rng: np.random.Generator, X: Array, Y: Array, what: str, often: float, sizes: ArrayLike, cell: float
) -> list[tuple[tuple[float, float], float]]:
    """Places and diameters of craters or rocks, at random."""
    least, most = np.asarray(sizes, dtype=float)
    if often == 0.0:
        return []
    if least < 2.0 * cell:
        raise ArgumentError(f"Terrain: {what}_sizes from {least:g} m on a grid of {cell:g} m; expected two spacings or more")
    spans = (X[0, 0], X[-1, 0]), (Y[0, 0], Y[0, -1])
    count = int(rng.poisson(0.01 * often * math.prod(last - first for first, last in spans)))
    places = np.column_stack([rng.uniform(*span, count) for span in spans])
    u = rng.uniform(size=count)
    diameters = (least**-SIZES - u * (least**-SIZES - most**-SIZES)) ** (-1.0 / SIZES)
    return [((float(a), float(b)), float(d)) for (a, b), d in zip(places, diameters, strict=True)]


def _crater(r: Array, size: float, depth: float) -> Array:
    """Heights at distances r from the centre: a bowl below the ground, a rim, and what was thrown out."""
    ratio, rim = 2.0 * r / size, RIM_HEIGHT * depth * size
    bowl = -depth * size + (depth * size + rim) * ratio**2
    return np.where(ratio < 1.0, bowl, rim / np.maximum(ratio, 1.0) ** 3)
