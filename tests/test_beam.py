"""Constants of a beam against scipy's quadrature of their definitions, closed forms, and frequencies known from elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, linalg
from scipy.spatial.transform import Rotation

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.flexible.build import Specification, beam_axes, make_beam, shapes_at, shapes_of
from urdf_gibbs.flexible.modes import FAMILIES, Section, Shape, bending, timoshenko_frequency, wave_number

L, MU, EI_Y, EI_Z, EA, GJ = 1.3, 0.7, 20.0, 10.0, 1e5, 7.0
JX, JY, JZ = 2e-3, 1e-3, 1.5e-3
ALL = (("y", "clamped-free", 2), ("z", "polynomial", 2), ("x", "clamped-free", 1), ("torsion", "clamped-free", 2))
ROOT = np.array([0.1, -0.2, 0.3])
TURN = Rotation.from_rotvec([0.3, -0.7, 1.1]).as_matrix()


def specification(**changes: Any) -> Specification:
    numbers = {"link": "a", "length": L, "mass_per_length": MU, "EI_y": EI_Y, "EI_z": EI_Z, "EA": EA, "GJ": GJ, "rotary": (JX, JY, JZ)}
    return Specification(**(numbers | {"modes": ALL} | changes))


def beam(root: Any = (0, 0, 0), rotation: Any = np.eye(3), **changes: Any) -> Beam:
    return make_beam(specification(**changes), root, rotation)


def C3(one: Beam) -> np.ndarray:
    return np.trace(one.G, axis1=2, axis2=3)[: one.m, : one.m]


# definitions --------------------------------------------------------------------------------------


def test_integrals_by_their_definitions() -> None:
    one = beam(ROOT, TURN, elastic_rotary=True, foreshortening=True)
    found = shapes_of(specification())
    M = len(one.C1)
    assert one.names == ("y1", "y2", "z1", "z2", "x1", "torsion1", "torsion2")
    assert one.pairs == ((0, 0), (0, 1), (1, 1), (2, 2), (2, 3), (3, 3))
    assert len(one.C1) == one.m + 6
    x, y, z = TURN.T
    J = TURN @ np.diag([JX, JY, JZ]) @ TURN.T

    def product(eta: float, first: Shape, second: Shape) -> float:
        return float(first.slope(eta) * second.slope(eta))

    def phi(eta: float) -> np.ndarray:
        """(M, 3), written down once more."""
        rows = []
        for mode in found:
            value = 0.0 if mode.displacement is None else float(mode.displacement.value(eta))
            rows.append(value * {"y": y, "z": z, "x": x, "torsion": x}[mode.direction])
        for j, k in one.pairs:
            rows.append(
                -x * integrate.quad(product, 0.0, eta, (found[j].displacement, found[k].displacement), epsabs=1e-14, epsrel=1e-13)[0]
            )
        return np.array(rows)

    def theta(eta: float, order: int = 0) -> np.ndarray:
        rows = []
        for mode in found:
            shape, about = {
                "y": (mode.displacement, z),
                "z": (mode.displacement, -y),
                "x": (None, x),
                "torsion": (mode.rotation, x),
            }[mode.direction]
            orders = order + (mode.direction != "torsion")
            rows.append((0.0 if shape is None else float(shape.derivative(eta, orders))) * about)
        return np.array(rows)

    def rho0(eta: float) -> np.ndarray:
        return ROOT + eta * x

    def stretched(eta: float) -> np.ndarray:
        return np.array([0.0 if mode.direction != "x" else float(mode.displacement.slope(eta)) for mode in found])

    nodes, weights = np.polynomial.legendre.leggauss(20)
    etas, weights = 0.5 * L * (nodes + 1), 0.5 * L * weights

    def integral(f: Any) -> np.ndarray:
        return sum(weight * f(eta) for eta, weight in zip(etas, weights, strict=True))

    tight = {"rel": 1e-12, "abs": 1e-14}
    assert one.mass == pytest.approx(MU * L)
    assert one.first == pytest.approx(integral(lambda e: MU * rho0(e)), **tight)
    assert one.second == pytest.approx(integral(lambda e: MU * np.outer(rho0(e), rho0(e))), **tight)
    assert one.rotary == pytest.approx(L * J, **tight)
    for name, expected in (
        ("C1", integral(lambda e: MU * phi(e))),
        ("G0", integral(lambda e: MU * np.einsum("i,aj->aij", rho0(e), phi(e)))),
        ("G", integral(lambda e: MU * np.einsum("ai,bj->abij", phi(e), phi(e)))),
    ):
        assert getattr(one, name) == pytest.approx(expected, **tight), name
    assert one.spin == pytest.approx(integral(lambda e: theta(e) @ J), **tight)
    assert one.spins == pytest.approx(integral(lambda e: theta(e) @ J @ theta(e).T), **tight)
    D = TURN @ np.diag([GJ, EI_Y, EI_Z]) @ TURN.T
    strain = integral(lambda e: theta(e, 1) @ D @ theta(e, 1).T + EA * np.outer(stretched(e), stretched(e)))
    assert one.stiffness == pytest.approx(strain, rel=1e-12, abs=1e-10)
    assert one.tip == pytest.approx(phi(L), **tight)
    assert one.tip_rotation == pytest.approx(theta(L), **tight)
    assert one.stations is not None and one.shapes is not None
    assert one.stations[[0, -1]].tolist() == [0.0, L] and one.shapes.shape == (21, M, 3)
    for station, shape in zip(one.stations[::5], one.shapes[::5], strict=True):
        assert shape == pytest.approx(phi(station), **tight)
    assert one.axis == pytest.approx(x) and one.root == pytest.approx(ROOT)


def test_signs_of_the_rotations() -> None:
    one = beam()
    names = list(one.names)
    eps = 1e-3
    for j, name in enumerate(names[:4]):
        # A small rotation theta about the root tilts x by theta cross x: the way the beam's end points.
        w = bending("clamped-free" if name[0] == "y" else "polynomial", int(name[1]), L).deflection
        tilt = np.cross(eps * one.tip_rotation[j], [1, 0, 0])
        assert tilt == pytest.approx(eps * float(w.slope(L)) * np.eye(3)[1 if name[0] == "y" else 2], abs=1e-15)
    assert one.tip_rotation[names.index("x1")].tolist() == [0, 0, 0]
    assert one.tip[names.index("torsion1")].tolist() == [0, 0, 0]
    assert one.tip_rotation[names.index("torsion1")] == pytest.approx([1, 0, 0])


def test_shapes_anywhere() -> None:
    one = beam(ROOT, TURN, foreshortening=True)
    assert one.stations is not None and one.shapes is not None
    phi, theta = shapes_at(one, one.stations)
    assert phi == pytest.approx(one.shapes, rel=1e-13, abs=1e-15) and theta.shape == (21, one.m, 3)
    assert theta[-1] == pytest.approx(one.tip_rotation, rel=1e-14, abs=1e-16)
    assert not phi[0].any() and not np.abs(theta[0]).max() > 1e-15


def test_without_elastic_rotary_and_foreshortening() -> None:
    one = beam()
    assert not one.spin.any() and not one.spins.any() and one.pairs == () and len(one.C1) == one.m
    assert not beam(rotary=None).rotary.any()
    assert not one.damping.any()
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, name


# closed forms -------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "polynomial"])
def test_frequencies_of_euler_bernoulli(family: str) -> None:
    one = beam(modes=(("y", family, 20), ("z", family, 3)))
    mass, K = C3(one), one.stiffness
    beta = np.array([wave_number(family, k) for k in (*range(1, 21), 1, 2, 3)])
    EI = np.array([EI_Z] * 20 + [EI_Y] * 3)
    assert np.diag(K) / np.diag(mass) == pytest.approx(beta**4 * EI / (MU * L**4), rel=1e-13)
    for matrix in (mass, K):
        size = np.sqrt(np.diag(matrix))
        assert np.abs(matrix / np.outer(size, size) - np.eye(23)).max() < 3e-14
    if family in ("clamped-free", "free-free"):
        assert np.diag(mass) == pytest.approx(MU * L / 4, rel=2e-14)


def test_clamped_free_first_integrals() -> None:
    # int w = 2 sigma L / beta and int eta w = 2 L^2 / beta^2 in the scaling with 2 at the tip
    one = beam(modes=(("y", "clamped-free", 20),))
    for k in range(1, 21):
        b = wave_number("clamped-free", k)
        sigma = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))
        sign = -1 if k % 2 == 0 else 1
        assert one.C1[k - 1, 1] == pytest.approx(sign * MU * L * sigma / b, rel=1e-11, abs=1e-15)
        assert one.G0[k - 1, 0, 1] == pytest.approx(sign * MU * L**2 / b**2, rel=1e-11, abs=1e-15)


def test_frequencies_of_stretch_and_torsion() -> None:
    one = beam(modes=(("x", "clamped-free", 3), ("torsion", "clamped-clamped", 3)), elastic_rotary=True)
    k = np.arange(1, 4)
    assert np.diag(one.stiffness)[:3] / np.diag(C3(one))[:3] == pytest.approx(((k - 0.5) * np.pi / L) ** 2 * EA / MU, rel=1e-13)
    assert np.diag(one.stiffness)[3:] / np.diag(one.spins)[3:] == pytest.approx((k * np.pi / L) ** 2 * GJ / JX, rel=1e-13)


def test_polynomials_have_rational_integrals() -> None:
    one = beam(modes=(("y", "polynomial", 6),), foreshortening=True)
    for j in range(1, 7):
        assert one.C1[j - 1, 1] == pytest.approx(MU * L / (j + 2), rel=1e-14)
        for k in range(1, 7):
            assert C3(one)[j - 1, k - 1] == pytest.approx(MU * L / (j + k + 3), rel=1e-13)
            stiffness = EI_Z / L**3 * (j + 1) * j * (k + 1) * k / (j + k - 1)
            assert one.stiffness[j - 1, k - 1] == pytest.approx(stiffness, rel=1e-13)
    for a, (j, k) in enumerate(one.pairs):  # -(j+2)(k+2) / (j+k+3) (eta/L)^(j+k+3) / L with j, k from 0
        n = j + k + 3
        factor = -(j + 2) * (k + 2) / n / L
        assert one.tip[6 + a] == pytest.approx([factor, 0, 0], rel=1e-13)
        assert one.C1[6 + a, 0] == pytest.approx(factor * MU * L / (n + 1), rel=1e-13)
        assert one.G0[6 + a, 0, 0] == pytest.approx(factor * MU * L**2 / (n + 2), rel=1e-13)


def test_foreshortening_of_sines() -> None:
    count = 20
    one = beam(modes=(("z", "pinned-pinned", count),), foreshortening=True)
    eta = one.stations
    p = np.pi / L

    def closed(j: int, k: int) -> np.ndarray:  # int_0^eta (j p)(k p) cos(j p s) cos(k p s) ds
        if j == k:
            return (j * p) ** 2 * (eta / 2 + np.sin(2 * j * p * eta) / (4 * j * p))
        return j * k * p * p * (np.sin((j - k) * p * eta) / (2 * (j - k) * p) + np.sin((j + k) * p * eta) / (2 * (j + k) * p))

    assert len(one.pairs) == count * (count + 1) // 2
    for a, (j, k) in enumerate(one.pairs):
        size = (j + 1) * (k + 1) * p * p * L
        assert one.shapes[:, count + a, 0] == pytest.approx(-closed(j + 1, k + 1), abs=1e-14 * size)
        assert not one.shapes[:, count + a, 1:].any()
    # int eta^2 part of the first: int_0^L (p^2 (eta/2 + sin(2 p eta) / (4 p)))^2
    exact = integrate.quad(lambda s: (p**2 * (s / 2 + np.sin(2 * p * s) / (4 * p))) ** 2, 0, L, epsrel=1e-13)[0]
    assert one.G[count, count, 0, 0] == pytest.approx(MU * exact, rel=1e-13)
    last = integrate.quad(lambda s: ((20 * p) ** 2 * (s / 2 + np.sin(40 * p * s) / (80 * p))) ** 2, 0, L, epsrel=1e-12, limit=400)[0]
    assert one.G[-1, -1, 0, 0] == pytest.approx(MU * last, rel=1e-12)


def test_stiffening_of_a_spinning_beam() -> None:
    # Southwell: omega^2 = omega_1^2 + s Omega^2; for bending out of the plane of rotation and clamped-free 1 the coefficient s of
    # K_geometric / m is known as 1.193 (Rayleigh's quotient with the still beam's mode).
    one = beam(modes=(("z", "clamped-free", 1),), foreshortening=True)
    # centrifugal potential -1/2 Omega^2 int mu x^2 with x = eta + delta^2 / 2 psi: stiffness -int mu eta psi per Omega^2
    assert -one.G0[1, 0, 0] / C3(one)[0, 0] == pytest.approx(1.193, abs=5e-4)


# frequencies from elsewhere -----------------------------------------------------------------------


def free_frequency(one: Beam) -> float:
    """The lowest frequency of a beam that floats in its plane, J' = 0: from place, turn and the elastic coordinates."""
    m = one.m
    M = np.zeros((2 + m, 2 + m))
    M[0, 0], M[0, 1], M[1, 1] = one.mass, one.first[0], one.second[0, 0]
    M[0, 2:], M[1, 2:], M[2:, 2:] = one.C1[:, 1], one.G0[:, 0, 1], C3(one)
    M = np.triu(M) + np.triu(M, 1).T
    K = np.zeros_like(M)
    K[2:, 2:] = one.stiffness
    return float(np.sqrt(linalg.eigh(K, M, eigvals_only=True)[2]))


def test_frequencies_of_the_case_study() -> None:
    numbers = {"length": 1.0, "mass_per_length": 1.0, "EI_z": 1000.0}
    for count, frequency in ((1, 1136.368), (2, 710.773), (3, 708.332), (4, 707.772)):
        assert free_frequency(beam(modes=(("y", "clamped-free", count),), **numbers)) == pytest.approx(frequency, abs=6e-4)
    one = beam(modes=(("y", "clamped-clamped", 1),), **numbers)
    assert math.sqrt(one.stiffness[0, 0] / (C3(one)[0, 0] - one.C1[0, 1] ** 2 / one.mass)) == pytest.approx(1271.3959, abs=6e-5)
    assert free_frequency(beam(modes=(("y", "free-free", 1),), **numbers)) == pytest.approx(707.505408, abs=6e-7)
    # with polynomials the same limit from above
    assert free_frequency(beam(modes=(("y", "polynomial", 8),), **numbers)) == pytest.approx(707.505408, rel=1e-7)


@pytest.mark.parametrize("family", ["clamped-free", "clamped-clamped", "pinned-pinned", "pinned-free", "free-free"])
@pytest.mark.parametrize("rotary", [True, False])
def test_frequencies_of_timoshenko(family: str, rotary: bool) -> None:
    kGA = 900.0
    one = beam(modes=(("y", family, 8), ("z", family, 4)), theory="timoshenko", kGA=kGA, elastic_rotary=rotary)
    mass = C3(one) + one.spins
    for i, (EI, J, k) in enumerate([(EI_Z, JZ, k) for k in range(1, 9)] + [(EI_Y, JY, k) for k in range(1, 5)]):
        frequency = timoshenko_frequency(family, k, L, Section(EI, kGA, MU, J if rotary else 0.0))
        assert math.sqrt(one.stiffness[i, i] / mass[i, i]) == pytest.approx(frequency, rel=1e-12)
    for matrix in (mass, one.stiffness):
        size = np.sqrt(np.diag(matrix))
        assert np.abs(matrix / np.outer(size, size) - np.eye(12)).max() < 1e-11


def test_timoshenko_polynomials_converge_to_its_modes() -> None:
    one = beam(modes=(("y", "polynomial", 7),), theory="timoshenko", kGA=900.0)
    found = np.sqrt(linalg.eigh(one.stiffness, C3(one), eigvals_only=True))
    for k, rel in ((1, 1e-8), (2, 1e-5), (3, 2e-3)):
        assert found[k - 1] == pytest.approx(timoshenko_frequency("clamped-free", k, L, Section(EI_Z, 900.0, MU)), rel=rel)


# damping, tables, axes ----------------------------------------------------------------------------


def test_damping() -> None:
    one = beam(elastic_rotary=True, damping=(0.3, 1e-4))
    mass = np.where(np.equal.outer([n[0] for n in one.names], [n[0] for n in one.names]), C3(one), 0.0) + one.spins
    assert one.damping == pytest.approx(0.3 * mass + 1e-4 * one.stiffness, rel=1e-14)
    one = beam(elastic_rotary=True, damping=(0.02,))
    squares, V = linalg.eigh(one.stiffness, mass)
    modal = V.T @ one.damping @ V
    size = np.sqrt(np.outer(np.sqrt(squares), np.sqrt(squares)))
    assert np.abs(modal / size - np.diag([0.04] * one.m)).max() < 1e-10
    with pytest.raises(ArgumentError, match="torsion"):
        beam(damping=(0.02,))
    same = (np.stack([np.linspace(0, L, 9), np.linspace(0, L, 9) ** 2], axis=1),) * 2
    with pytest.raises(ArgumentError, match="differ"):
        beam(modes=(("y", "table", 2),), tables={"y": same}, damping=(0.02,))


def test_tables_stand_for_modes() -> None:
    eta = np.linspace(0, L, 41)
    w = bending("clamped-free", 1, L).deflection
    plain, full = np.stack([eta, w.value(eta)], axis=1), np.stack([eta, w.value(eta), w.slope(eta)], axis=1)
    exact = beam(modes=(("z", "clamped-free", 1), ("torsion", "polynomial", 1)), elastic_rotary=True, foreshortening=True)
    twist = np.stack([eta, eta / L], axis=1)
    for table, rel in ((plain, 5e-5), (full, 1e-9)):
        one = beam(
            modes=(("z", "table", 1), ("torsion", "table", 1)),
            tables={"z": (table,), "torsion": (twist,)},
            elastic_rotary=True,
            foreshortening=True,
        )
        for name in ("C1", "G0", "G", "spin", "spins", "stiffness", "tip", "tip_rotation"):
            assert getattr(one, name) == pytest.approx(getattr(exact, name), rel=rel, abs=rel), name


def test_a_table_of_a_timoshenko_beam_has_the_rotation() -> None:
    section = Section(EI_Z, 900.0, MU)
    w, psi, _ = bending("clamped-free", 1, L, section)
    eta = np.linspace(0, L, 81)
    table = np.stack([eta, w.value(eta), psi.value(eta)], axis=1)
    one = beam(modes=(("y", "table", 1),), tables={"y": (table,)}, theory="timoshenko", kGA=900.0)
    exact = beam(modes=(("y", "clamped-free", 1),), theory="timoshenko", kGA=900.0)
    for name in ("C1", "G0", "G", "stiffness", "tip", "tip_rotation"):
        assert getattr(one, name) == pytest.approx(getattr(exact, name), rel=1e-5, abs=1e-9), name
    with pytest.raises(ArgumentError, match="third column"):
        beam(modes=(("y", "table", 1),), tables={"y": (table[:, :2],)}, theory="timoshenko", kGA=900.0)


def test_beam_axes() -> None:
    rng = np.random.default_rng(0)
    cases = [*rng.normal(size=(20, 3)), [1, 0, 0], [-1, 0, 0], [-1, 1e-9, 0], [0, 1, 0], [0, 0, -1], [-1, 1e-13, 1e-13]]
    for direction in cases:
        unit = np.array(direction) / np.linalg.norm(direction)
        R = beam_axes(unit)
        product = R.T @ R
        assert product == pytest.approx(np.eye(3), abs=1e-12) and np.linalg.det(R) == pytest.approx(1.0)
        assert R[:, 0] == pytest.approx(unit, abs=1e-12)
        assert np.trace(R) == pytest.approx(1 + 2 * unit[0], abs=1e-12)  # the smallest rotation
    assert np.array_equal(beam_axes([1, 0, 0]), np.eye(3))


def test_places() -> None:
    one = specification(direction=(0.0, 0.6, 0.8))
    assert (
        one.holds_at_tip((0.0, 0.6 * L, 0.8 * L))
        and one.holds_at_tip((1e-7, 0.6 * L, 0.8 * L))
        and not one.holds_at_tip((1e-5, 0.6 * L, 0.8 * L))
    )
    assert one.holds_at_root((0.0, 1e-7, 0.0)) and not one.holds_at_root((0.0, 0.6 * L, 0.8 * L))
    assert one.mass == pytest.approx(MU * L) and one.frame[:, 0] == pytest.approx([0, 0.6, 0.8])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"modes": ()}, "no modes"),
        ({"modes": (("w", "clamped-free", 1),)}, "each of y, z, x, torsion"),
        ({"modes": (("y", "clamped-free", 1), ("y", "free-free", 1))}, "at most once"),
        ({"modes": (("y", "clamped-free", 21),)}, "1 to 20"),
        ({"modes": (("y", "wrong", 1),)}, "clamped-free"),
        ({"EI_z": None}, "without EI_z"),
        ({"theory": "timoshenko"}, "kGA"),
        ({"theory": "rayleigh"}, "euler-bernoulli or timoshenko"),
        ({"length": 0.0}, "positive"),
        ({"mass_per_length": -1.0}, "positive"),
        ({"length": 1e-200}, "too large or too small"),
        ({"EI_z": 1e308, "length": 1e-3}, "too large or too small"),
        ({"length": 1e-200, "theory": "timoshenko", "kGA": 1.0}, "too large or too small"),
        ({"modes": (("y", "table", 1),)}, "0 tables"),
        ({"modes": (("y", "table", 1),), "tables": {"y": (np.ones((5, 2)),)}}, "ends at eta"),
    ],
)  # fmt: skip
def test_bad_specifications(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        beam(**changes)


def test_bad_placement() -> None:
    with pytest.raises(ArgumentError, match="expected"):
        make_beam(specification(), [0, 0], np.eye(3))
