"""Shape functions of a uniform beam on [0, L]: families of bending, stretch and torsion modes, and tables (S17, Eqs. 1, 2 and 63).

Bending, Euler-Bernoulli: the modes of a beam held as the family says are sin, cos and two exponentials that decay from either end. With
cosh and sinh a high mode would be the difference of huge numbers; written like this every coefficient is of the order of one. The
frequency equations cos(beta) cosh(beta) = -1 (clamped-free) and = 1 (clamped-clamped, free-free) become sin(d) = +-1/cosh(beta) for the
small distance d = beta - (k -+ 1/2) pi, which Newton's method solves to the last digit; tan(beta) = tanh(beta) (pinned-free) likewise.

Bending, Timoshenko: see ``timoshenko``; the rotation psi of the section is a shape of its own, and w' - psi the shear.

Scaling: 1 at the tip where the tip moves; amplitude 1 for pinned-pinned; sin - sigma cos - sinh + sigma cosh for clamped-clamped, as the
paper has it. A root that is not clamped is allowed: the axes of the body are then the chord's (pinned) or the mean ones (free).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.errors import ArgumentError

Array = NDArray[np.float64]

FAMILIES = ("clamped-free", "clamped-clamped", "pinned-pinned", "pinned-free", "free-free", "polynomial")
MOST = 20  # modes of one direction: beyond that no beam theory holds
TIP = ("clamped-free", "pinned-free", "free-free", "polynomial")  # scaled to 1 at the tip


# shapes -----------------------------------------------------------------------------------------


class Shape:
    """A function on [0, length]; eta may be a number or an array of any shape."""

    length: float
    waves: float = 0.0  # largest wave number times the length: how finely a quadrature has to look
    breaks: tuple[float, ...] = ()  # eta inside (0, L) where pieces meet

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        """The derivative of that order with respect to eta [m^-order]; order 0 is the value."""
        raise NotImplementedError

    def value(self, eta: ArrayLike) -> Array:
        return self.derivative(eta, 0)

    def slope(self, eta: ArrayLike) -> Array:
        return self.derivative(eta, 1)

    def curvature(self, eta: ArrayLike) -> Array:
        return self.derivative(eta, 2)


class Wave(NamedTuple):
    """sin sin(number x) + cos cos(number x), x = eta / L."""

    number: float
    sin: float
    cos: float


class Decay(NamedTuple):
    """root exp(-number x) + tip exp(-number (1 - x)), x = eta / L."""

    number: float
    root: float
    tip: float


@dataclass(frozen=True, eq=False)
class Waves(Shape):
    """A sum of waves and decays."""

    length: float
    of: tuple[Wave | Decay, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "waves", max(part.number for part in self.of))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        x = np.asarray(eta, dtype=float) / self.length
        total = np.zeros_like(x)
        for part in self.of:
            if isinstance(part, Wave):
                number, sin, cos = part
                for _ in range(order % 4):
                    sin, cos = -cos, sin
                term = sin * np.sin(number * x) + cos * np.cos(number * x)
            else:
                number, root, tip = part
                term = (-1.0) ** order * root * np.exp(-number * x) + tip * np.exp(-number * (1.0 - x))
            total = total + (number / self.length) ** order * term
        return total

    def scaled(self, factor: float) -> Waves:
        parts = tuple(type(part)(part[0], part[1] * factor, part[2] * factor) for part in self.of)
        return Waves(self.length, parts)


@dataclass(frozen=True, eq=False)
class Power(Shape):
    """A polynomial in x = eta / L, lowest power first."""

    length: float
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "waves", float(len(self.coefficients)))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        x = np.asarray(eta, dtype=float) / self.length
        coefficients = np.array(self.coefficients)
        for _ in range(order):
            coefficients = coefficients[1:] * np.arange(1, coefficients.size) if coefficients.size > 1 else np.zeros(1)
        result = np.zeros_like(x)
        for coefficient in coefficients[::-1]:
            result = result * x + coefficient
        return result / self.length**order


@dataclass(frozen=True, eq=False)
class Derivative(Shape):
    """d(of)/d eta as a shape: the rotation of a section that stays normal to the axis."""

    of: Shape

    def __post_init__(self) -> None:
        for name in ("length", "waves", "breaks"):
            object.__setattr__(self, name, getattr(self.of, name))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        return self.of.derivative(eta, order + 1)


@dataclass(frozen=True, eq=False)
class Pieces(Shape):
    """A spline: polynomials in eta - knot, lowest power first, one row for each interval."""

    knots: Array  # (n,)
    coefficients: Array  # (n - 1, degree + 1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", float(self.knots[-1]))
        object.__setattr__(self, "breaks", tuple(self.knots[1:-1].tolist()))

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        eta = np.asarray(eta, dtype=float)
        piece = np.clip(np.searchsorted(self.knots, eta, side="right") - 1, 0, len(self.knots) - 2)
        t = eta - self.knots[piece]
        result = np.zeros_like(t)
        for power in range(self.coefficients.shape[1] - 1, order - 1, -1):
            result = result * t + math.perm(power, order) * self.coefficients[piece, power]
        return result


class Bending(NamedTuple):
    """A bending mode: deflection w [1], rotation of the section psi [1/m] and shear w' - psi [1/m] (None: no shear)."""

    deflection: Shape
    rotation: Shape
    shear: Shape | None = None


# Euler-Bernoulli --------------------------------------------------------------------------------


def wave_number(family: str, k: int) -> float:
    """beta_k of a bending family, k = 1, 2, ...: the angular frequency is beta^2 sqrt(EI / (mu L^4))."""
    _check(family, k)
    if family == "pinned-pinned":
        return k * math.pi
    if family == "pinned-free":
        middle, d = (k + 0.25) * math.pi, 0.0
        for _ in range(20):  # tan(pi/4 + d) = tanh(beta) is tan(d) = -exp(-2 beta), a strong contraction
            d = -math.atan(math.exp(-2.0 * (middle + d)))
        return middle + d
    if family == "polynomial":
        raise ArgumentError("a polynomial is no mode: it has no wave number")
    middle = (k - 0.5 if family == "clamped-free" else k + 0.5) * math.pi
    sign, d = (1.0 if k % 2 else -1.0), 0.0
    for _ in range(30):
        sech = 1.0 / math.cosh(middle + d)
        step = (math.sin(d) - sign * sech) / (math.cos(d) + sign * sech * math.tanh(middle + d))
        d -= step
        if abs(step) < 1e-17:
            break
    return middle + d


def sigma(family: str, k: int) -> float:
    """The paper's sigma_k of clamped-clamped and free-free, (sinh - sin) / (cosh - cos); of clamped-free (cosh + cos) / (sinh + sin)."""
    beta = wave_number(family, k)
    e, sin, cos = math.exp(-beta), math.sin(beta), math.cos(beta)
    if family == "clamped-free":
        return (1.0 + e * e + 2.0 * e * cos) / (1.0 - e * e + 2.0 * e * sin)
    if family in ("clamped-clamped", "free-free"):
        return (1.0 - e * e - 2.0 * e * sin) / (1.0 + e * e - 2.0 * e * cos)
    raise ArgumentError(f"sigma of {family!r}, expected clamped-free, clamped-clamped or free-free")


def _euler_bernoulli(family: str, k: int, length: float) -> Shape:
    if family == "polynomial":
        return Power(length, (0.0,) * (k + 1) + (1.0,))
    beta = wave_number(family, k)
    if family == "pinned-pinned":
        return Waves(length, (Wave(beta, 1.0, 0.0),))
    e, sin, cos = math.exp(-beta), math.sin(beta), math.cos(beta)
    if family == "pinned-free":  # sin(beta x) + sin(beta) sinh(beta x) / sinh(beta)
        tip = sin / (1.0 - e * e)
        return _tip_one(Waves(length, (Wave(beta, 1.0, 0.0), Decay(beta, -tip * e, tip))))
    if family == "clamped-free":  # cosh - cos - sigma (sinh - sin); (1 - sigma) exp(beta) / 2 without cancellation
        tip = (sin - cos - e) / (1.0 - e * e + 2.0 * e * sin)
        return _tip_one(Waves(length, (Wave(beta, sigma(family, k), -1.0), Decay(beta, 1.0 - tip * e, tip))))
    s = sigma(family, k)
    tip = (cos - sin - e) / (1.0 + e * e - 2.0 * e * cos)  # (sigma - 1) exp(beta) / 2
    if family == "clamped-clamped":  # sin - sigma cos - sinh + sigma cosh
        return Waves(length, (Wave(beta, 1.0, -s), Decay(beta, 1.0 + tip * e, tip)))
    return _tip_one(Waves(length, (Wave(beta, -1.0, s), Decay(beta, 1.0 + tip * e, tip))))  # free-free: its second derivative


def _tip_one(shape: Waves) -> Waves:
    return shape.scaled(1.0 / float(shape.value(shape.length)))


# Timoshenko -------------------------------------------------------------------------------------


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
    _check(family, k)
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
        size = np.abs(matrix).max(axis=0)  # near the cut-off one column would drown the others
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
    if f_low * f_high > 0.0:  # two frequencies closer than the Ritz solution can tell: it stands as it is
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


# the way in -------------------------------------------------------------------------------------


def bending(family: str, k: int, length: float, section: Section | None = None) -> Bending:
    """The k-th bending mode of a family; with a section a Timoshenko one."""
    _check(family, k)
    if section is not None:
        return timoshenko(family, k, length, section)
    w = _euler_bernoulli(family, k, length)
    return Bending(w, Derivative(w))


def axial(family: str, k: int, length: float) -> Shape:
    """The k-th mode of stretch or torsion: a held end is a node, whether clamped or pinned; scaled to 1 at a tip that moves."""
    _check(family, k)
    if family == "polynomial":
        return Power(length, (0.0,) * k + (1.0,))
    if family in ("clamped-free", "pinned-free"):
        return Waves(length, (Wave((k - 0.5) * math.pi, 1.0 if k % 2 else -1.0, 0.0),))
    if family == "free-free":
        return Waves(length, (Wave(k * math.pi, 0.0, -1.0 if k % 2 else 1.0),))
    return Waves(length, (Wave(k * math.pi, 1.0, 0.0),))


def _check(family: str, k: int) -> None:
    if family not in FAMILIES:
        raise ArgumentError(f"family {family!r}, expected one of {', '.join(FAMILIES)}")
    if k < 1:
        raise ArgumentError(f"mode {k}, expected 1, 2, ...")


# tables -----------------------------------------------------------------------------------------


def spline(eta: Sequence[float] | Array, values: Sequence[float] | Array, root_slope: float | None = 0.0) -> Pieces:
    """The cubic spline, twice continuously differentiable: this slope at the root (None: not a knot), not a knot at the tip."""
    x, y = np.asarray(eta, dtype=float), np.asarray(values, dtype=float)
    n = x.size
    _check_knots(x, 4)
    h, slope = np.diff(x), np.diff(y) / np.diff(x)
    A, right = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):  # second derivatives that make the slopes meet
        A[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        right[i] = 6.0 * (slope[i] - slope[i - 1])
    if root_slope is None:
        A[0, :3] = -h[1], h[0] + h[1], -h[0]
    else:
        A[0, :2] = 2.0 * h[0], h[0]
        right[0] = 6.0 * (slope[0] - root_slope)
    A[-1, -3:] = -h[-1], h[-1] + h[-2], -h[-2]
    second = np.linalg.solve(A, right)
    linear = slope - h * (2.0 * second[:-1] + second[1:]) / 6.0
    return Pieces(x, np.stack([y[:-1], linear, 0.5 * second[:-1], np.diff(second) / (6.0 * h)], axis=1))


def hermite_spline(eta: Sequence[float] | Array, values: Sequence[float] | Array, slopes: Sequence[float] | Array) -> Pieces:
    """The quintic spline (three times continuously differentiable) through values and slopes.

    The curvature at either end is that of the quintic through the three knots nearest to it.
    """
    x, y, v = (np.asarray(one, dtype=float) for one in (eta, values, slopes))
    n = x.size
    _check_knots(x, 3)
    h, rise = np.diff(x), np.diff(y)
    A, right = np.zeros((n, n)), np.zeros(n)
    A[0, 0] = A[-1, -1] = 1.0
    right[0], right[-1] = _end_curvature(x[:3], y[:3], v[:3]), _end_curvature(x[:-4:-1], y[:-4:-1], v[:-4:-1])
    for i in range(1, n - 1):  # curvatures that make the third derivatives meet
        a, b = h[i - 1], h[i]
        A[i, i - 1 : i + 2] = -3.0 / a, 9.0 / a + 9.0 / b, -3.0 / b
        right[i] = 60.0 * (rise[i] / b**3 - rise[i - 1] / a**3)
        right[i] -= (36.0 * v[i] + 24.0 * v[i + 1]) / b**2 - (24.0 * v[i - 1] + 36.0 * v[i]) / a**2
    c = np.linalg.solve(A, right)
    rest, slope, bend = rise - h * v[:-1] - 0.5 * h**2 * c[:-1], (np.diff(v) - h * c[:-1]) * h, np.diff(c) * h**2
    cubic = (10.0 * rest - 4.0 * slope + 0.5 * bend) / h**3
    quartic = (-15.0 * rest + 7.0 * slope - bend) / h**4
    quintic = (6.0 * rest - 3.0 * slope + 0.5 * bend) / h**5
    return Pieces(x, np.stack([y[:-1], v[:-1], 0.5 * c[:-1], cubic, quartic, quintic], axis=1))


def _end_curvature(x: Array, y: Array, v: Array) -> float:
    unit = float(x[-1] - x[0])
    t = (x - x[0]) / unit
    powers = np.arange(6)
    A = np.concatenate([t[:, None] ** powers, powers * t[:, None] ** np.maximum(powers - 1, 0)])
    return 2.0 * float(np.linalg.solve(A, np.concatenate([y, v * unit]))[2]) / unit**2


def _check_knots(x: Array, least: int) -> None:
    if x.size < least or x[0] != 0.0 or not (np.diff(x) > 0.0).all():
        raise ArgumentError(f"a table needs at least {least} rows with eta from 0 upwards")
