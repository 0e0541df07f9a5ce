"""The parameters of every run of a sweep: lists crossed with each other, distributions sampled.

Run i has point i % G of the G points of the lists, the last list running fastest, and its own draw from the distributions. Draws depend
on (seed, parameter, i) alone: number i of the Philox generator whose key is a hash of seed and parameter. Latin hypercube and Sobol
points are crossed with the lists as the lists are with each other: run i has point i // G.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import one_of, whole
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.sweeps.values import Distribution, Listed, Values

Array = NDArray[np.float64]

SAMPLINGS = ("random", "latin_hypercube", "sobol")
DRAWN = 4  # numbers that Philox makes at once
MOST_RUNS = 2**53
LONGEST_SEED = 10**30


class Design:
    """Which run has which parameters.

    Args:
        over: What each parameter takes, by its key.
        runs: How many runs; None: the points of the lists, where nothing is drawn.
        seed: Of all draws.
        sampling: How distributions are sampled, one of SAMPLINGS.
    """

    def __init__(self, over: Mapping[str, Values], runs: int | None, seed: int, sampling: str) -> None:
        self.over = dict(over)
        self.seed = whole(seed, 0, "seed")
        if self.seed > LONGEST_SEED:
            raise ArgumentError(f"seed={seed}, expected a whole number up to {LONGEST_SEED:g}")
        self.sampling = one_of(sampling, SAMPLINGS, "sampling")
        self._lists = [key for key, values in over.items() if isinstance(values, Listed)]
        self._drawn = [key for key, values in over.items() if isinstance(values, Distribution)]
        self._lengths = [len(over[key].values) for key in self._lists]  # type: ignore[union-attr]
        self.points = math.prod(self._lengths)
        if runs is None:
            if self._drawn:
                raise ArgumentError(f"runs=None, expected how many runs there are: {self._drawn[0]} is drawn from a distribution")
            runs = self.points
        self.runs = whole(runs, 1, "runs")
        if not self._drawn and self.runs != self.points:
            raise ArgumentError(
                f"runs={runs}, expected {self.points}: nothing is drawn, and so many points have the lists; or leave it out"
            )
        if self.runs > MOST_RUNS:
            raise ArgumentError(f"runs={runs}, expected at most {MOST_RUNS}")

    @property
    def keys(self) -> tuple[str, ...]:
        """Of all parameters, in the order given."""
        return tuple(self.over)

    def columns(self, first: int, count: int) -> dict[str, list[Any]]:
        """The values of each parameter in the runs first, first + 1, ...

        Args:
            first: Number of the first run.
            count: How many.

        Returns:
            Lists of ``count`` values by key.
        """
        numbers = np.arange(first, first + count)
        places = np.unravel_index(numbers % self.points, self._lengths) if self._lengths else ()
        columns: dict[str, Any] = {}
        for key, place in zip(self._lists, places, strict=True):
            values = self.over[key].values  # type: ignore[union-attr]
            columns[key] = [values[k] for k in place]
        shares = self._shares(first, count)
        for k, key in enumerate(self._drawn):
            values = self.over[key].at(shares[:, k])  # type: ignore[union-attr]
            columns[key] = values if isinstance(values, list) else values.tolist()
        return {key: columns[key] for key in self.over}

    def extremes(self) -> dict[str, list[Any]]:
        """The values of each parameter that tell whether all can be used: those of lists and choices, the ends of what is drawn."""
        found: dict[str, list[Any]] = {}
        for key, values in self.over.items():
            found[key] = list(values.values if isinstance(values, Listed) else values.arguments if values.name == "choice" else ())
        ranged = [key for key, values in found.items() if not values]
        for first in range(0, self.runs if ranged else 0, 100_000):
            columns = self.columns(first, min(100_000, self.runs - first))
            for key in ranged:
                found[key] = [min(found[key] + columns[key]), max(found[key] + columns[key])]
        return found

    def _shares(self, first: int, count: int) -> Array:
        """(count, drawn) in [0, 1)."""
        if not self._drawn:
            return np.zeros((count, 0))
        if self.sampling == "random":
            return np.stack([uniforms(self.seed, key, first, count) for key in self._drawn], axis=1)
        begin, end = first // self.points, (first + count - 1) // self.points + 1
        made = sobol if self.sampling == "sobol" else latin_hypercube
        points = made(self.seed, len(self._drawn), begin, end, -(-self.runs // self.points))
        return points[np.arange(first, first + count) // self.points - begin]


def uniforms(seed: int, key: str, first: int, count: int) -> Array:
    """Numbers first, first + 1, ... (count,) in [0, 1) of the generator of a parameter."""
    digest = hashlib.blake2b(f"{seed}:{key}".encode(), digest_size=16).digest()
    generator = np.random.Philox(key=np.frombuffer(digest, dtype="<u8"))
    generator.advance(first // DRAWN)
    raw = generator.random_raw(count + first % DRAWN)[first % DRAWN :]
    return np.asarray((raw >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def sobol(seed: int, width: int, begin: int, end: int, total: int) -> Array:
    """Points begin to end of the scrambled Sobol sequence, (end - begin, width)."""
    from scipy.stats import qmc

    engine = _seeded(qmc.Sobol, seed, d=width, scramble=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the number of points is no power of two
        if begin:
            engine.fast_forward(begin)
        return np.asarray(engine.random(end - begin))


def latin_hypercube(seed: int, width: int, begin: int, end: int, total: int) -> Array:
    """Points begin to end of a Latin hypercube of ``total`` points, (end - begin, width)."""
    return _hypercube(seed, width, total)[begin:end]


@lru_cache(maxsize=1)
def _hypercube(seed: int, width: int, total: int) -> Array:
    from scipy.stats import qmc

    return np.asarray(_seeded(qmc.LatinHypercube, seed, d=width).random(total))


def _seeded(kind: Any, seed: int, **options: Any) -> Any:
    """A sampler of SciPy; until 1.14 the generator was called seed."""
    generator = np.random.default_rng(seed)
    try:
        return kind(rng=generator, **options)
    except TypeError:
        return kind(seed=generator, **options)
