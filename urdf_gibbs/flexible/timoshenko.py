"""Bending modes of a uniform Timoshenko beam on [0, L]: the rotation psi of the section is a shape of its own, and w' - psi the shear."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.euler_bernoulli import FAMILIES, TIP, check_family, sigma
from urdf_gibbs.flexible.shape import Bending, Decay, Power, Wave, Waves

Array = NDArray[np.float64]


class Section(NamedTuple):
    """What a Timoshenko mode depends on: EI [N m^2], kGA [N], mu [kg/m], and J' [kg m] about the axis of bending (0: no rotary inertia)."""

    EI: float
    kGA: float  # noqa: N815
    mu: float
    J: float = 0.0


@dataclass(frozen=True)
class Slenderness:
    """The dimensionless numbers of Huang (1961): r^2 = J' / (mu L^2) and s^2 = EI / (kGA L^2); b^2 = mu omega^2 L^4 / EI."""

    r2: float
    s2: float

    def roots(self, b2: float) -> tuple[float, float]:
        """(kappa^2, alpha^2): the wave sin(kappa x), and exp(-alpha x); alpha^2 < 0 is a second wave, above the cut-off b r s = 1."""
        total, product = b2 * (self.r2 + self.s2), b2 * (1.0 - b2 * self.r2 * self.s2)
        kappa2 = 0.5 * (total + math.hypot(b2 * (self.r2 - self.s2), 2.0 * math.sqrt(b2)))
        return kappa2, product / kappa2


def timoshenko_frequency(family: str, k: int, length: float, section: Section) -> float:
    """The k-th natural angular frequency [rad/s] of a uniform Timoshenko beam, rigid motions left out."""
    b2 = _timoshenko_b2(family, k, _slenderness(length, section))
    return math.sqrt(b2 * section.EI / section.mu) / length**2


def timoshenko(family: str, k: int, length: float, section: Section) -> Bending:
    """The k-th mode of a uniform Timoshenko beam: kGA (w'' - psi') + mu om^2 w = 0, EI psi'' + kGA (w' - psi) + J' om^2 psi = 0.

    First a Ritz solution that misses no mode and does not lock: psi' and the shear are sums of Legendre polynomials, in which the
    strain energy is the identity matrix, and the eigenvalues of the mass matrix are 1 / b^2 (Huang's b^2 = mu om^2 L^4 / EI; ends that
    are held are projected, rigid motions condensed). Then bisection on the determinant of the four end conditions in sin, cos and two
    decaying exponentials (or a second wave above the cut-off), whose null vector is the mode.

    pinned-pinned: w = sin(k pi x), of its two frequencies the lower. polynomial: the bending part is (eta / L)^(k + 1), with the shear
    of statics -EI psi'' / kGA. Scaled as in Euler-Bernoulli; clamped-clamped such that the mean of w^2 is the same as there.
    """
    check_family(family, k)
    slim = _slenderness(length, section)
    if family == "polynomial":
        return _polynomial_with_shear(k, length, slim.s2)
    b2 = _timoshenko_b2(family, k, slim)
    kappa2, alpha2 = slim.roots(b2)
    kappa, alpha = math.sqrt(kappa2), math.sqrt(abs(alpha2))
    if family == "pinned-pinned":
        deflection: tuple[Wave | Decay, ...] = (Wave(kappa, 1.0, 0.0),)
    else:
        matrix = _end_conditions(family, b2, slim)
        size = np.abs(matrix).max(axis=0)  # near the cut-off one column would dominate the others
        coefficients = (np.linalg.svd(matrix / size)[2][-1] / size).tolist()
        second = Decay(alpha, coefficients[2], coefficients[3]) if alpha2 > 0.0 else Wave(alpha, coefficients[2], coefficients[3])
        deflection = (Wave(kappa, coefficients[0], coefficients[1]), second)
    w = Waves(length, deflection)
    psi = Waves(length, tuple(_rotation(part, b2, slim, length) for part in deflection))
    shear = Waves(length, tuple(_shear(part, b2, slim) for part in psi.of))
    if family in TIP:
        factor = 1.0 / float(w.value(length))
    elif family == "clamped-clamped":
        nodes, weights = np.polynomial.legendre.leggauss(60 + 2 * k)
        mean = 0.5 * float(weights @ w.value(0.5 * length * (nodes + 1.0)) ** 2)
        factor = math.copysign(sigma(family, k) / math.sqrt(mean), float(psi.slope(0.0)))
    else:
        factor = 1.0
    return Bending(w.scaled(factor), psi.scaled(factor), shear.scaled(factor))


def _slenderness(length: float, section: Section) -> Slenderness:
    return Slenderness(section.J / (section.mu * length**2), section.EI / (section.kGA * length**2))


def _rotation(part: Wave | Decay, b2: float, slim: Slenderness, length: float) -> Wave | Decay:
    """psi of a part of w, from w'' - psi' + b^2 s^2 w = 0 [1/m]."""
    number = part.number
    if isinstance(part, Wave):
        factor = (number - b2 * slim.s2 / number) / length
        return Wave(number, -factor * part.cos, factor * part.sin)
    factor = (number + b2 * slim.s2 / number) / length
    return Decay(number, -factor * part.root, factor * part.tip)


def _shear(part: Wave | Decay, b2: float, slim: Slenderness) -> Wave | Decay:
    """w' - psi = -s^2 (psi'' + b^2 r^2 psi): small where the beam is slender, without the difference of equal numbers."""
    square = part.number**2 if isinstance(part, Decay) else -(part.number**2)
    factor = -slim.s2 * (square + b2 * slim.r2)
    return type(part)(part.number, part[1] * factor, part[2] * factor)


def _end_conditions(family: str, b2: float, slim: Slenderness) -> Array:
    """(4, 4) for L = 1: rows are the conditions at root and tip, columns the coefficients of w; rows scaled to the order of one."""
    kappa2, alpha2 = slim.roots(b2)
    columns = _at_ends_wave(math.sqrt(kappa2), b2, slim)
    columns += _at_ends_decay(math.sqrt(alpha2), b2, slim) if alpha2 > 0.0 else _at_ends_wave(math.sqrt(-alpha2), b2, slim)
    ends = np.array(columns)  # (column, end, (w, psi, psi', shear))
    rows = {"clamped": [0, 1], "pinned": [0, 2], "free": [2, 3]}
    root, tip = family.split("-")
    matrix = np.concatenate([ends[:, 0, rows[root]], ends[:, 1, rows[tip]]], axis=1).T
    size: Array = np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
    return matrix / size


Ends = tuple[tuple[float, float, float, float], tuple[float, float, float, float]]  # (w, psi, psi', shear) at root and tip


def _at_ends_wave(number: float, b2: float, slim: Slenderness) -> list[Ends]:
    """Of w = sin and w = cos."""
    sin, cos = math.sin(number), math.cos(number)
    turn = number - b2 * slim.s2 / number
    shear = -slim.s2 * (b2 * slim.r2 - number * number) * turn
    bend = turn * number
    return [
        ((0.0, turn, 0.0, shear), (sin, turn * cos, -bend * sin, shear * cos)),
        ((1.0, 0.0, -bend, 0.0), (cos, -turn * sin, -bend * cos, -shear * sin)),
    ]


def _at_ends_decay(number: float, b2: float, slim: Slenderness) -> list[Ends]:
    """Of w = exp(-number x) and w = exp(-number (1 - x))."""
    e = math.exp(-number)
    turn = number + b2 * slim.s2 / number
    shear = -slim.s2 * (b2 * slim.r2 + number * number) * turn
    bend = turn * number
    return [
        ((1.0, -turn, bend, -shear), (e, -turn * e, bend * e, -shear * e)),
        ((e, turn * e, bend * e, shear * e), (1.0, turn, bend, shear)),
    ]


@lru_cache(maxsize=512)
def _timoshenko_b2(family: str, k: int, slim: Slenderness) -> float:
    r2, s2 = slim.r2, slim.s2
    if family == "pinned-pinned":  # r^2 s^2 b^4 - (1 + (r^2 + s^2) q) b^2 + q^2 = 0 with q = (k pi)^2
        q = (k * math.pi) ** 2
        half = 0.5 * (1.0 + (r2 + s2) * q)
        return q * q / (half + math.sqrt(half * half - r2 * s2 * q * q))
    if family not in FAMILIES or family == "polynomial":
        raise ArgumentError(f"no Timoshenko modes of {family!r}")
    guesses = _ritz(family, 4 + 4 * (k // 4 + 1), slim)  # one solution serves four modes
    b2 = guesses[k - 1]
    neighbours = [abs(other - b2) for i, other in enumerate(guesses) if i != k - 1]
    width = min(1e-6 * b2, 0.25 * min(neighbours))
    low, high = b2 - width, b2 + width
    f_low, f_high = (float(np.linalg.det(_end_conditions(family, x, slim))) for x in (low, high))
    if f_low * f_high > 0.0:  # two frequencies closer than the Ritz solution can tell: the Ritz value is used
        return b2
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        f = float(np.linalg.det(_end_conditions(family, middle, slim)))
        if (f > 0.0) == (f_low > 0.0):
            low = middle
        else:
            high = middle


@lru_cache(maxsize=64)
def _ritz(family: str, count: int, slim: Slenderness) -> tuple[float, ...]:
    """The lowest b^2 of a Timoshenko beam of length 1, rigid motions left out, to some ten digits."""
    root, tip = family.split("-")
    degree = 24 + 4 * count  # of psi'
    nodes, weights = np.polynomial.legendre.leggauss(degree + 4)
    weights = 0.5 * weights
    # Orthonormal polynomials on [0, 1], once integrated and twice, at the nodes and at the tip.
    n = np.arange(degree)
    places = np.concatenate([nodes, [1.0]])
    P = np.polynomial.legendre.legvander(places, degree + 2)
    size = np.sqrt(2.0 * n + 1.0)
    once = _integrated(P)
    first, second = size * once[:, :degree], size * _integrated(once)[:, :degree]
    s = math.sqrt(slim.s2)
    # Columns: the coefficients of psi', then those of the shear / s.
    w = np.concatenate([second, s * first], axis=1)
    psi = np.concatenate([first, np.zeros_like(first)], axis=1)
    rigid_w = {"clamped": [], "pinned": [places * 0.5 + 0.5], "free": [places * 0.5 + 0.5, np.ones_like(places)]}[root]
    rigid_psi = {"clamped": [], "pinned": [np.ones_like(places)], "free": [np.ones_like(places), np.zeros_like(places)]}[root]
    held: list[Array] = []
    if tip == "clamped":
        held += [w[-1], psi[-1]]
    elif tip == "pinned":
        held += [w[-1]]
    if held:
        if rigid_w:
            raise ArgumentError(f"no Timoshenko modes of {family!r}")
        free = np.linalg.svd(np.array(held))[2][len(held) :].T  # a basis of what the tip allows, orthonormal: strain energy stays 1
        w, psi = w @ free, psi @ free
    w, psi = w[:-1], psi[:-1]
    mass = w.T @ (weights[:, None] * w) + slim.r2 * (psi.T @ (weights[:, None] * psi))
    if rigid_w:
        ww, pp = np.array(rigid_w).T[:-1], np.array(rigid_psi).T[:-1]
        both = ww.T @ (weights[:, None] * w) + slim.r2 * (pp.T @ (weights[:, None] * psi))
        own = ww.T @ (weights[:, None] * ww) + slim.r2 * (pp.T @ (weights[:, None] * pp))
        mass = mass - both.T @ np.linalg.solve(own, both)
    eigenvalues = np.linalg.eigvalsh(mass)[::-1][:count]
    return tuple(1.0 / float(value) for value in eigenvalues)


def _integrated(values: Array) -> Array:
    """From rows of f_0, f_1, ... with f_n of the three-term kind P_n: their integrals over x from 0, x = (t + 1) / 2; one column less."""
    # int P_n dt from -1 is (P_(n+1) - P_(n-1)) / (2 n + 1), for P_0 it is P_1 + P_0; a second integration is a sum of the same.
    columns = values.shape[1] - 1
    result = np.empty((values.shape[0], columns))
    result[:, 0] = 0.5 * (values[:, 1] + values[:, 0])
    n = np.arange(1, columns)
    result[:, 1:] = 0.5 * (values[:, 2 : columns + 1] - values[:, : columns - 1]) / (2.0 * n + 1.0)
    return result


def _polynomial_with_shear(k: int, length: float, s2: float) -> Bending:
    n = k + 1
    w = [0.0] * n + [1.0]
    psi = [0.0] * k + [float(n)]
    shear = [0.0]
    if n >= 3:
        third = float(math.perm(n, 3))
        w[n - 2] = -s2 * math.perm(n, 2)
        shear = [0.0] * (n - 3) + [-s2 * third]
    scale = sum(w)
    if abs(scale) < 1e-3:
        raise ArgumentError(f"polynomial {k} with shear EI / (kGA L^2) = {s2:.6g} does not move the tip")
    return Bending(
        Power(length, tuple(c / scale for c in w)),
        Power(length, tuple(c / scale / length for c in psi)),
        Power(length, tuple(c / scale / length for c in shear)),
    )
