"""The motion of a wall, given as a Python function of time, as polynomials with smooth derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebder

from urdf_gibbs.contact.surfaces.layout import Array
from urdf_gibbs.errors import ArgumentError


class Piece(NamedTuple):
    """d(t) for |t - middle| <= half as a Chebyshev series: T_k times (terms, 9), of d, d' and d''. ``error`` is that of the fit."""

    middle: float
    half: float
    terms: Array
    error: float
    size: float
    max_step: float


class Path:
    """The motion d(t) of a wall, given as a Python function, as polynomials, so that its derivatives are smooth and exact as well.

    Time is cut into pieces of about 8 ``resolution``. Where the polynomial of degree 16 through Chebyshev points does not agree with
    the function to rounding, a piece is halved, repeatedly; noise of the function, which halving does not reduce, is filtered out. At a
    kink, the last and shortest piece is a straight line.
    """

    DEGREE = 16
    NODES = -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
    TO_SERIES = np.linalg.inv(np.cos(np.outer(np.arccos(NODES), np.arange(DEGREE + 1))))
    BETWEEN = np.array([-0.7416, 0.1137, 0.5528])  # any places between the nodes
    AT_BETWEEN = np.cos(np.outer(np.arccos(BETWEEN), np.arange(DEGREE + 1)))
    EXACT = 1e-15  # of the largest value
    NOISE = 1e-5  # relative to the largest value: an error below this that halving does not reduce is noise
    SHORTEST = 2.0**-21  # s
    FASTEST = 1e4  # m/s: a faster motion counts as a jump
    KEPT = 4096  # pieces

    def __init__(self, motion: Callable[[float], Any], name: str, resolution: float) -> None:
        self._motion, self._name = motion, name
        self._longest = 2.0 ** math.floor(math.log2(8.0 * resolution))
        self._pieces: dict[tuple[float, float], Piece] = {}
        self._last: Piece | None = None
        self._orders = np.arange(self.DEGREE + 1)

    def __call__(self, given: Any, out: Any) -> None:
        """Reads t; writes d, d', d'' (3 each) and the longest step in which a polynomial of low degree follows."""
        t = given[0]
        piece = self._last
        if piece is None or not abs(t - piece.middle) <= piece.half:
            if not math.isfinite(t):
                self._place(t)
            piece = self._last = self._piece(t)
        terms = piece.terms
        angle = math.acos(min(1.0, max(-1.0, (t - piece.middle) / piece.half)))
        out[0:9] = (np.cos(angle * self._orders[: len(terms)]) @ terms).tolist()
        out[9] = piece.max_step

    def _place(self, t: float) -> Array:
        d = np.asarray(self._motion(t), dtype=float)
        if d.shape != (3,) or not np.isfinite(d).all():
            raise ArgumentError(f"the motion of wall {self._name!r} gave {d.tolist()!r} at t = {t}; expected 3 finite numbers")
        return d

    def _piece(self, t: float) -> Piece:
        """The longest piece about t that fits."""
        if len(self._pieces) > self.KEPT:
            self._pieces.clear()
        length = self._longest
        while True:
            start = math.floor(t / length) * length
            piece = self._fit(start, length)
            if self._fits(piece, t, length):
                return piece
            if length <= max(self.SHORTEST, 64.0 * math.ulp(t)):
                return self._line(start, length)
            length *= 0.5

    def _fits(self, piece: Piece, t: float, length: float) -> bool:
        if piece.error <= self.EXACT * piece.size:
            return True
        if piece.error > self.NOISE * piece.size or length < 8.0 * self.SHORTEST:
            return False
        # A kink of any order is at most a quarter as far off in a piece a quarter as long; noise is not.
        quarter = 0.25 * length
        return self._fit(math.floor(t / quarter) * quarter, quarter).error > 0.5 * piece.error

    def _fit(self, start: float, length: float) -> Piece:
        if (start, length) in self._pieces:
            return self._pieces[start, length]
        half = 0.5 * length
        middle = start + half
        values = np.array([self._place(middle + half * x) for x in self.NODES])
        series = self.TO_SERIES @ values
        between = np.array([self._place(middle + half * x) for x in self.BETWEEN])
        size = float(np.abs(values).max())
        error = float(max(np.abs(self.AT_BETWEEN @ series - between).max(), np.abs(series[-3:]).max()))
        # Differentiation would amplify terms that are below the noise.
        counts = np.flatnonzero(np.abs(series).max(axis=1) > max(error, self.EXACT * size))
        degree = int(counts[-1]) if len(counts) else 0
        terms = np.zeros((degree + 1, 9))
        terms[:, 0:3] = series[: degree + 1]
        for order in (1, 2):
            slope = chebder(series[: degree + 1], order) / half**order if degree >= order else np.zeros((1, 3))
            terms[: len(slope), 3 * order : 3 * order + 3] = slope
        # A sine needs degree 14 for one radian in ``half``, 8 for a tenth, 5 for a hundredth.
        max_step = min(self._longest, length * 2.0 ** max(0.0, 0.65 * (14 - degree)))
        piece = self._pieces[start, length] = Piece(middle, half, terms, error, size, max_step)
        return piece

    def _line(self, start: float, length: float) -> Piece:
        """A straight line over the shortest piece."""
        one, other = self._place(start), self._place(start + length)
        speed = (other - one) / length
        if not np.abs(speed).max() <= self.FASTEST:
            raise ArgumentError(
                f"the motion of wall {self._name!r} jumps from {one.tolist()} to {other.tolist()} between t = {start!r} and "
                f"{start + length!r}; expected a continuous function of t"
            )
        terms = np.zeros((2, 9))
        terms[0, 0:3], terms[1, 0:3], terms[0, 3:6] = 0.5 * (one + other), 0.5 * (other - one), speed
        return Piece(start + 0.5 * length, 0.5 * length, terms, 0.0, float(np.abs(one).max()), self._longest)
