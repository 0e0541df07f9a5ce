"""From the numbers of an elastic link to its Beam: shape functions, and the integrals of S17 (Eqs. 6-31) by Gauss-Legendre quadrature.

The axes of the beam: x from root to tip, y and z across. Bending along y turns the section by +dw/deta about z, bending along z by
-dw/deta about y; EI_z is the stiffness about z (of bending along y, the paper's EI_x3), EI_y that of bending along z.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible import modes
from urdf_gibbs.flexible.beam import Array, Beam
from urdf_gibbs.flexible.modes import Derivative, Section, Shape

DIRECTIONS = ("y", "z", "x", "torsion")  # the order of the coordinates
STIFFNESS = {"y": "EI_z", "z": "EI_y", "x": "EA", "torsion": "GJ"}
THEORIES = ("euler-bernoulli", "timoshenko")
TABLE = "table"
STATIONS = 21
AT = 1e-6  # relative to the length: a joint this close to the root or tip counts as being there
NODES = 24  # of a panel
PHASE = 4.0  # rad: phase of the fastest wave within a panel, for which the nodes integrate products of four to round-off


@dataclass(frozen=True)
class Specification:
    """An elastic link as the file gives it, in SI units; None where it gives nothing.

    ``modes``: (direction, family, count) for directions y, z (bending), x (stretch) and torsion; the family "table" takes its shapes from
    ``tables`` (direction -> arrays with columns eta [m], value and perhaps slope; with Timoshenko the third is the section's rotation).
    ``rotary``: J' about x, y and z [kg m]. ``damping``: () none, (zeta,) the ratio of every mode of the link held at its root, or
    (alpha, beta) of Rayleigh's alpha M + beta K. ``direction``: the beam's x in the link's frame. With ``elastic_rotary`` the J' turns
    with the sections (and enters Timoshenko's modes); without it J' turns with the link only, as in the paper.
    """

    link: str
    length: float
    mass_per_length: float
    EI_y: float | None = None
    EI_z: float | None = None
    EA: float | None = None
    GJ: float | None = None
    rotary: tuple[float, float, float] | None = None
    modes: tuple[tuple[str, str, int], ...] = ()
    theory: str = "euler-bernoulli"
    kGA: float | None = None  # noqa: N815
    damping: tuple[float, ...] = ()
    foreshortening: bool = False
    elastic_rotary: bool = False
    direction: tuple[float, float, float] = (1.0, 0.0, 0.0)
    tables: Mapping[str, tuple[Array, ...]] = field(default_factory=dict, compare=False, repr=False)
    line: int = 0
    file: str = ""

    @property
    def mass(self) -> float:
        return self.mass_per_length * self.length

    @property
    def frame(self) -> Array:
        """(3, 3): the beam's x, y and z as columns, in the link's axes."""
        return beam_axes(self.direction)

    def holds_at_root(self, place: Sequence[float]) -> bool:
        """Whether a place in the link's frame is the beam's root, the frame's origin."""
        return math.hypot(*place) <= AT * self.length

    def holds_at_tip(self, place: Sequence[float]) -> bool:
        """Whether a place in the link's frame is the tip of the straight beam."""
        return math.hypot(*(x - self.length * d for x, d in zip(place, self.direction, strict=True))) <= AT * self.length


def beam_axes(direction: ArrayLike) -> Array:
    """The smallest rotation that takes x to the unit vector ``direction``, as a matrix (for -x: half a turn about z)."""
    x, y, z = (float(c) for c in np.asarray(direction, dtype=float))
    aside = y * y + z * z
    if x < 0.0 and aside < 1e-24:
        return np.diag([-1.0, -1.0, 1.0])
    k = (1.0 - x) / aside if x < 0.0 else 1.0 / (1.0 + x)  # the same number, without cancellation
    return np.array([[x, -y, -z], [y, 1.0 - k * y * y, -k * y * z], [z, -k * y * z, 1.0 - k * z * z]])


class Mode(NamedTuple):
    """One coordinate: displacement and rotation of the section, each a shape along or about an axis of the beam (0, 1, 2)."""

    direction: str
    displacement: Shape | None
    along: int
    rotation: Shape | None
    about: int
    sign: float  # of the rotation
    shear: Shape | None = None


def shapes_of(spec: Specification) -> list[Mode]:
    """The modes of a link in the order of its coordinates."""
    result: list[Mode] = []
    given = {direction: (family, count) for direction, family, count in spec.modes}
    unknown = [direction for direction in given if direction not in DIRECTIONS]
    if unknown or len(given) != len(spec.modes):
        raise ArgumentError(f'link "{spec.link}": modes {spec.modes}, expected each of {", ".join(DIRECTIONS)} at most once')
    for direction in DIRECTIONS:
        if direction not in given:
            continue
        if getattr(spec, STIFFNESS[direction]) is None:
            raise ArgumentError(f'link "{spec.link}": modes in direction {direction} without {STIFFNESS[direction]}')
        family, count = given[direction]
        if not 1 <= count <= modes.MOST:
            raise ArgumentError(f'link "{spec.link}": {count} modes, expected 1 to {modes.MOST}')
        for k in range(1, count + 1):
            result.append(_mode(spec, direction, family, k))
    if not result:
        raise ArgumentError(f'link "{spec.link}": no modes')
    return result


def _mode(spec: Specification, direction: str, family: str, k: int) -> Mode:
    if direction in ("y", "z"):
        bent = _table_bending(spec, direction, k) if family == TABLE else modes.bending(family, k, spec.length, _section(spec, direction))
        along, about, sign = (1, 2, 1.0) if direction == "y" else (2, 1, -1.0)
        return Mode(direction, bent.deflection, along, bent.rotation, about, sign, bent.shear)
    shape = _table_shape(_table(spec, direction, k), None) if family == TABLE else modes.axial(family, k, spec.length)
    return Mode(direction, shape, 0, None, 0, 1.0) if direction == "x" else Mode(direction, None, 0, shape, 0, 1.0)


def _section(spec: Specification, direction: str) -> Section | None:
    if spec.theory == "euler-bernoulli":
        return None
    if spec.theory != "timoshenko":
        raise ArgumentError(f'link "{spec.link}": theory {spec.theory!r}, expected {" or ".join(THEORIES)}')
    if spec.kGA is None:
        raise ArgumentError(f'link "{spec.link}": Timoshenko beams need kGA')
    rotary = (spec.rotary or (0.0, 0.0, 0.0)) if spec.elastic_rotary else (0.0, 0.0, 0.0)
    EI = getattr(spec, STIFFNESS[direction])
    return Section(EI, spec.kGA, spec.mass_per_length, rotary[2 if direction == "y" else 1])


def _table(spec: Specification, direction: str, k: int) -> Array:
    tables = spec.tables.get(direction, ())
    if len(tables) < k:
        raise ArgumentError(f'link "{spec.link}": {len(tables)} tables for direction {direction}, expected {k}')
    table = np.array(tables[k - 1], dtype=float)
    if abs(table[-1, 0] - spec.length) > 1e-6 * spec.length:
        raise ArgumentError(f'link "{spec.link}": a table ends at eta = {table[-1, 0]:g}, expected the length {spec.length:g}')
    table[-1, 0] = spec.length
    return table


def _table_shape(table: Array, root_slope: float | None) -> Shape:
    if table.shape[1] == 3:
        return modes.hermite_spline(table[:, 0], table[:, 1], table[:, 2])
    return modes.spline(table[:, 0], table[:, 1], root_slope)


def _table_bending(spec: Specification, direction: str, k: int) -> modes.Bending:
    table = _table(spec, direction, k)
    if spec.theory == "euler-bernoulli":
        w = _table_shape(table, 0.0)
        return modes.Bending(w, Derivative(w))
    if table.shape[1] != 3:
        raise ArgumentError(f'link "{spec.link}": a table of a Timoshenko beam needs a third column, the rotation of the section')
    w, psi = modes.spline(table[:, 0], table[:, 1], None), modes.spline(table[:, 0], table[:, 2], None)
    return modes.Bending(w, psi, _Difference(w, psi))


class _Difference(Shape):
    """The shear w' - psi of two splines over the same knots."""

    def __init__(self, w: Shape, psi: Shape) -> None:
        self.length, self.breaks, self._w, self._psi = w.length, w.breaks, w, psi

    def derivative(self, eta: ArrayLike, order: int) -> Array:
        return self._w.derivative(eta, order + 1) - self._psi.derivative(eta, order)


# quadrature -------------------------------------------------------------------------------------


class Quadrature:
    """Composite Gauss-Legendre on [0, L]: ``eta`` (N,), ``weights`` (N,); panels end at the breaks."""

    def __init__(self, length: float, breaks: set[float], waves: float) -> None:
        panels = max(1, math.ceil(waves / PHASE))
        edges = np.unique(np.concatenate([np.linspace(0.0, length, panels + 1), sorted(breaks)]))
        self.edges = edges[np.concatenate([[True], np.diff(edges) > 1e-12 * length])]
        self.edges[-1] = length
        self._nodes, self._weights = np.polynomial.legendre.leggauss(NODES)
        half = 0.5 * np.diff(self.edges)
        self.eta = (self.edges[:-1, None] + half[:, None] * (self._nodes + 1.0)).ravel()
        self.weights = (half[:, None] * self._weights).ravel()

    def up_to(self, eta: Array) -> Array:
        """(len(eta), N): rows that integrate node values from 0 to eta; within a panel the polynomial through its nodes is integrated."""
        result = np.zeros((eta.size, self.eta.size))
        n = np.arange(NODES)
        to_series = (n[:, None] + 0.5) * np.polynomial.legendre.legvander(self._nodes, NODES - 1).T * self._weights
        panel = np.clip(np.searchsorted(self.edges, eta, side="right") - 1, 0, self.edges.size - 2)
        half = 0.5 * np.diff(self.edges)[panel]
        t = (eta - self.edges[panel]) / half - 1.0
        P = np.polynomial.legendre.legvander(t, NODES)
        integrals = np.empty((eta.size, NODES))
        integrals[:, 0] = t + 1.0
        integrals[:, 1:] = (P[:, 2:] - P[:, :-2]) / (2.0 * n[1:] + 1.0)
        inside = half[:, None] * (integrals @ to_series)
        for row, first in enumerate(panel * NODES):
            result[row, :first] = self.weights[:first]
            result[row, first : first + NODES] = inside[row]
        return result


# the beam ---------------------------------------------------------------------------------------


def make_beam(spec: Specification, root: ArrayLike, rotation: ArrayLike) -> Beam:
    """The Beam of a link. root (3,): where eta = 0, in the body's frame; rotation (3, 3): the beam's x, y, z as columns, in its axes."""
    root, R = np.array(root, dtype=float), np.array(rotation, dtype=float)
    if root.shape != (3,) or R.shape != (3, 3):
        raise ArgumentError(f"root {root.shape} and rotation {R.shape}, expected (3,) and (3, 3)")
    L, mu = float(spec.length), float(spec.mass_per_length)
    if not (L > 0.0 and mu > 0.0):
        raise ArgumentError(f'link "{spec.link}": length {L:g} and mass per length {mu:g}, expected positive numbers')
    try:
        with np.errstate(all="ignore"):
            beam = _integrated(spec, L, mu, root, R)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as problem:
        if isinstance(problem, ArgumentError):
            raise
        raise ArgumentError(f'link "{spec.link}": its numbers are too large or too small to compute with ({problem})') from None
    if not all(np.isfinite(value).all() for value in vars(beam).values() if isinstance(value, np.ndarray)):
        raise ArgumentError(f'link "{spec.link}": its numbers are too large or too small to compute with')
    return beam


def _integrated(spec: Specification, L: float, mu: float, root: Array, R: Array) -> Beam:
    mode_list = shapes_of(spec)
    m = len(mode_list)
    quadrature = _quadrature(L, mode_list)
    eta, weights = quadrature.eta, quadrature.weights
    stations = np.linspace(0.0, L, STATIONS)
    places = np.concatenate([eta, stations])  # the tip is the last station

    # Displacements f_a along e_a, the amplitudes of foreshortening last.
    f, pairs = _displacements(spec, mode_list, quadrature, places)
    e = [R[:, mode.along] for mode in mode_list] + [R[:, 0]] * len(pairs)
    E = np.array(e)
    inside, at_stations = f[:, : eta.size], f[:, eta.size :]
    products = mu * (inside * weights) @ inside.T
    ones, etas = mu * inside @ weights, mu * inside @ (weights * eta)

    # Rotations g_j about the axis ``about``.
    g = np.array([mode.sign * _at(mode.rotation, eta) for mode in mode_list])
    axes = np.array([R[:, mode.about] for mode in mode_list])
    J = np.array(spec.rotary if spec.rotary is not None else (0.0, 0.0, 0.0), dtype=float)
    same = _same_direction(mode_list)
    spin, spins = np.zeros((m, 3)), np.zeros((m, m))
    if spec.elastic_rotary:
        J_of = np.array([J[mode.about] if mode.rotation is not None else 0.0 for mode in mode_list])
        spin = (J_of * (g @ weights))[:, None] * axes
        spins = same * J_of * ((g * weights) @ g.T)

    K = _stiffness(spec, mode_list, eta, weights)
    x, mass = R[:, 0], mu * L
    return Beam(
        link=spec.link,
        length=L,
        root=_frozen(root),
        axis=_frozen(x.copy()),
        names=_names(mode_list),
        mass=mass,
        first=_frozen(mass * (root + 0.5 * L * x)),
        second=_frozen(mass * (np.outer(root, root) + 0.5 * L * (np.outer(root, x) + np.outer(x, root)) + L * L / 3.0 * np.outer(x, x))),
        rotary=_frozen(L * (R * J) @ R.T),
        C1=_frozen(ones[:, None] * E),
        G0=_frozen(ones[:, None, None] * root[:, None] * E[:, None, :] + etas[:, None, None] * x[:, None] * E[:, None, :]),
        G=_frozen(products[:, :, None, None] * (E[:, None, :, None] * E[None, :, None, :])),
        spin=_frozen(spin),
        spins=_frozen(spins),
        stiffness=_frozen(K),
        damping=_frozen(_damping(spec, same * products[:m, :m] + spins, K)),
        tip=_frozen(at_stations[:, -1, None] * E),
        tip_rotation=_frozen(np.array([mode.sign * float(_at(mode.rotation, np.array(L))) for mode in mode_list])[:, None] * axes),
        pairs=pairs,
        stations=_frozen(stations),
        shapes=_frozen(at_stations.T[:, :, None] * E),
        frame=_frozen(R),
        specification=spec,
    )


def _same_direction(mode_list: list[Mode]) -> Array:
    """(m, m): 1 where two modes have the same direction, else 0."""
    return np.array([[float(a.direction == b.direction) for b in mode_list] for a in mode_list])


def _stiffness(spec: Specification, mode_list: list[Mode], eta: Array, weights: Array) -> Array:
    """Eq. 31 (m, m): one strain for each direction, and the shear of Timoshenko's theory."""
    same = _same_direction(mode_list)
    strain = np.array([_at(mode.displacement if mode.direction == "x" else mode.rotation, eta, 1) for mode in mode_list])
    stiffness = np.array([float(getattr(spec, STIFFNESS[mode.direction])) for mode in mode_list])
    K = same * stiffness * ((strain * weights) @ strain.T)
    if any(mode.shear is not None for mode in mode_list):
        assert spec.kGA is not None
        shear = np.array([_at(mode.shear, eta) for mode in mode_list])
        K += same * spec.kGA * ((shear * weights) @ shear.T)
    return np.asarray(0.5 * (K + K.T))


def shapes_at(beam: Beam, eta: ArrayLike) -> tuple[Array, Array]:
    """phi (n, M, 3) and theta (n, m, 3) of a beam at eta (n,), in the axes of the body that holds its root."""
    spec, R = beam.specification, beam.frame
    if spec is None or R is None:
        raise ArgumentError(f'link "{beam.link}": its shapes are known at the stations only')
    places = np.asarray(eta, dtype=float)
    mode_list = shapes_of(spec)
    f, pairs = _displacements(spec, mode_list, _quadrature(spec.length, mode_list), places)
    along = np.array([R[:, mode.along] for mode in mode_list] + [R[:, 0]] * len(pairs))
    g = np.array([mode.sign * _at(mode.rotation, places) for mode in mode_list])
    about = np.array([R[:, mode.about] for mode in mode_list])
    return f.T[:, :, None] * along, g.T[:, :, None] * about


def _quadrature(length: float, mode_list: list[Mode]) -> Quadrature:
    parts = [shape for mode in mode_list for shape in (mode.displacement, mode.rotation) if shape is not None]
    return Quadrature(length, {b for shape in parts for b in shape.breaks}, max(shape.waves for shape in parts))


def _displacements(
    spec: Specification, mode_list: list[Mode], quadrature: Quadrature, places: Array
) -> tuple[Array, tuple[tuple[int, int], ...]]:
    """(M, n): the displacements at places (n,), and the pairs of those that foreshortening adds, which are along x."""
    f = np.array([_at(mode.displacement, places) for mode in mode_list])
    if not spec.foreshortening:
        return f, ()
    bent = [j for j in range(len(mode_list)) if mode_list[j].direction in ("y", "z")]
    pairs = tuple((j, k) for j in bent for k in bent if j <= k and mode_list[j].along == mode_list[k].along)  # others shorten nothing
    if not pairs:
        return f, ()
    slopes = {j: _at(mode_list[j].displacement, quadrature.eta, 1) for j in bent}
    shortening = np.array([slopes[j] * slopes[k] for j, k in pairs]) @ quadrature.up_to(places).T
    return np.concatenate([f, -shortening]), pairs


def _at(shape: Shape | None, eta: Array, order: int = 0) -> Array:
    return np.zeros_like(eta) if shape is None else shape.derivative(eta, order)


def _names(mode_list: list[Mode]) -> tuple[str, ...]:
    count = dict.fromkeys(DIRECTIONS, 0)
    names = []
    for mode in mode_list:
        count[mode.direction] += 1
        names.append(f"{mode.direction}{count[mode.direction]}")
    return tuple(names)


def _damping(spec: Specification, M: Array, K: Array) -> Array:
    if not spec.damping:
        return np.zeros_like(K)
    if len(spec.damping) == 2:
        alpha, beta = spec.damping
        return alpha * M + beta * K
    (zeta,) = spec.damping
    size = np.sqrt(np.diag(M))  # directions differ by many orders of magnitude
    if not (size > 0.0).all():
        raise ArgumentError(f'link "{spec.link}": a damping ratio needs inertia in every direction: torsion needs J and elastic_rotary')
    try:
        C = np.linalg.cholesky(M / np.outer(size, size))
    except np.linalg.LinAlgError:
        raise ArgumentError(f'link "{spec.link}": a damping ratio needs shapes that differ from each other; these do not') from None
    A = np.linalg.solve(C, np.linalg.solve(C, K / np.outer(size, size)).T)
    squares, V = np.linalg.eigh(0.5 * (A + A.T))
    W = size[:, None] * (C @ V)  # M times the modes
    D: Array = (W * (2.0 * zeta * np.sqrt(np.maximum(squares, 0.0)))) @ W.T
    return 0.5 * (D + D.T)


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array
