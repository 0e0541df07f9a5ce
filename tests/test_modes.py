"""Shape functions against fifty digits of mpmath, against boundary conditions, quadrature and a finite-element beam."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, linalg
from scipy.interpolate import CubicSpline

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible import modes
from urdf_gibbs.flexible.modes import (
    FAMILIES,
    Section,
    axial,
    bending,
    hermite_spline,
    sigma,
    spline,
    timoshenko,
    timoshenko_frequency,
    wave_number,
)

L = 1.7
MODES = tuple(family for family in FAMILIES if family != "polynomial")
SECTIONS = {
    "slender": Section(10.0, 1e6, 0.7, 1e-6),
    "no rotary inertia": Section(10.0, 400.0, 0.7),
    "stubby": Section(10.0, 400.0, 0.7, 5e-3),
    "beyond the cut-off": Section(10.0, 90.0, 0.7, 2e-2),
}
# Which derivatives of w vanish at an end.
HELD = {"clamped": (0, 1), "pinned": (0, 2), "free": (2, 3)}


def exact_beta(family: str, k: int) -> mp.mpf:
    """From the textbook's frequency equation in many digits."""
    equation = {
        "clamped-free": lambda b: mp.cos(b) + 1 / mp.cosh(b),
        "clamped-clamped": lambda b: mp.cos(b) - 1 / mp.cosh(b),
        "free-free": lambda b: mp.cos(b) - 1 / mp.cosh(b),
        "pinned-pinned": mp.sin,
        "pinned-free": lambda b: mp.sin(b) - mp.cos(b) * mp.tanh(b),
    }[family]
    middle = {"clamped-free": k - 0.5, "pinned-pinned": k, "pinned-free": k + 0.25}.get(family, k + 0.5)
    start = mp.mpf("1.8751") if (family, k) == ("clamped-free", 1) else mp.mpf(middle) * mp.pi
    return mp.findroot(equation, start)


def exact_shape(family: str, k: int, x: mp.mpf) -> mp.mpf:
    """The textbook's form with cosh and sinh, in digits enough for their cancellation."""
    b = exact_beta(family, k)
    sin, cos, sinh, cosh = mp.sin, mp.cos, mp.sinh, mp.cosh

    def raw(x: mp.mpf) -> mp.mpf:
        if family == "clamped-free":
            s = (cosh(b) + cos(b)) / (sinh(b) + sin(b))
            return cosh(b * x) - cos(b * x) - s * (sinh(b * x) - sin(b * x))
        if family == "pinned-free":
            return sin(b * x) + sin(b) / sinh(b) * sinh(b * x)
        s = (sinh(b) - sin(b)) / (cosh(b) - cos(b))
        if family == "clamped-clamped":
            return sin(b * x) - s * cos(b * x) - sinh(b * x) + s * cosh(b * x)
        return sin(b * x) + sinh(b * x) - s * (cos(b * x) + cosh(b * x))

    if family == "pinned-pinned":
        return sin(b * x)
    return raw(x) if family == "clamped-clamped" else raw(x) / raw(mp.mpf(1))


def quad(f, panels: int = 8) -> float:
    """By scipy, panel by panel."""
    edges = np.linspace(0.0, L, 1 + panels)
    return math.fsum(integrate.quad(f, a, b, epsabs=1e-13, epsrel=1e-11)[0] for a, b in itertools.pairwise(edges))


# Euler-Bernoulli ----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", MODES)
def test_wave_numbers_to_the_last_digit(family: str) -> None:
    with mp.workdps(60):
        for k in range(1, 31):
            assert abs(mp.mpf(wave_number(family, k)) / exact_beta(family, k) - 1) < 4e-16, k


def test_constants_of_the_paper() -> None:
    assert wave_number("clamped-clamped", 1) == pytest.approx(4.730040744862704, rel=2e-16)
    assert sigma("clamped-clamped", 1) == pytest.approx(1.0178094106701925, rel=3e-16)
    assert wave_number("clamped-free", 1) == pytest.approx(1.875104068711961, rel=3e-16)
    with mp.workdps(60):
        for k in range(1, 21):
            b = exact_beta("clamped-free", k)
            assert abs(sigma("clamped-free", k) - (mp.cosh(b) + mp.cos(b)) / (mp.sinh(b) + mp.sin(b))) < 1e-14


@pytest.mark.parametrize("family", MODES)
def test_high_modes_do_not_cancel(family: str) -> None:
    with mp.workdps(90):
        for k in (1, 2, 3, 7, 20):
            x = np.linspace(0.0, 1.0, 14)
            exact = np.array([float(exact_shape(family, k, mp.mpf(one))) for one in x])
            found = bending(family, k, L).deflection.value(x * L)
            assert np.abs(found - exact).max() < 4e-14, k


@pytest.mark.parametrize("family", MODES)
def test_boundary_conditions_and_scaling(family: str) -> None:
    for k in (1, 2, 5, 13, 20):
        w = bending(family, k, L).deflection
        beta = wave_number(family, k) / L
        for end, hold in zip((0.0, L), family.split("-"), strict=True):
            for order in HELD[hold]:
                assert abs(float(w.derivative(end, order))) < 5e-14 * k * beta**order, (k, end, order)
        if family.endswith("free"):
            assert float(w.value(L)) == pytest.approx(1.0, abs=1e-15)
        eta = np.linspace(0, L, 7)
        assert w.derivative(eta, 4) == pytest.approx(beta**4 * w.value(eta), abs=1e-12 * beta**4)


@pytest.mark.parametrize("family", [*FAMILIES])
def test_derivatives_agree_with_differences(family: str) -> None:
    h = 1e-5
    eta = np.array([[0.1, 0.5], [1.0, 1.6]])
    for section in (None, SECTIONS["stubby"]):
        mode = bending(family, 3, L, section)
        for shape in filter(None, (*mode, axial(family, 2, L))):
            for order in range(3):
                difference = (shape.derivative(eta + h, order) - shape.derivative(eta - h, order)) / (2 * h)
                exact = shape.derivative(eta, order + 1)
                assert difference == pytest.approx(exact, rel=1e-6, abs=1e-6 * (1 + np.abs(exact).max()))
            assert shape.value(0.3).shape == () and shape.slope([0.1, 0.2]).shape == (2,)
            assert np.array_equal(shape.curvature(eta), shape.derivative(eta, 2))


@pytest.mark.parametrize("family", MODES)
def test_modes_are_orthogonal(family: str) -> None:
    ws = {k: bending(family, k, L).deflection for k in (1, 2, 5, 6)}
    for j in ws:
        for k in ws:
            mass = quad(lambda eta, j=j, k=k: float(ws[j].value(eta) * ws[k].value(eta)))
            strain = quad(lambda eta, j=j, k=k: float(ws[j].curvature(eta) * ws[k].curvature(eta)))
            if j != k:
                assert abs(mass) < 1e-13 and abs(strain) < 1e-13 * (j * k * math.pi**2) ** 2
            else:
                expected = {
                    "clamped-clamped": L * sigma(family, k) ** 2 if family == "clamped-clamped" else 0,
                    "pinned-pinned": L / 2,
                    "pinned-free": None,
                }
                if family == "pinned-free":
                    # rigid rotation about the pin is left out: no moment of momentum
                    assert abs(quad(lambda eta, k=k: float(eta * ws[k].value(eta)))) < 1e-13
                else:
                    assert mass == pytest.approx(expected.get(family, L / 4), rel=1e-13)
                assert strain / mass == pytest.approx((wave_number(family, k) / L) ** 4, rel=1e-12)
        if family == "free-free":
            assert abs(quad(lambda eta, j=j: float(ws[j].value(eta)))) < 1e-13
            assert abs(quad(lambda eta, j=j: float(eta * ws[j].value(eta)))) < 1e-13


def test_axial_families() -> None:
    eta = np.linspace(0, L, 9)
    for k in (1, 2, 3, 20):
        assert axial("clamped-free", k, L).value(eta) == pytest.approx(
            (-1) ** (k + 1) * np.sin((2 * k - 1) * np.pi * eta / (2 * L)), abs=1e-13
        )
        assert axial("clamped-free", k, L).value(L) == pytest.approx(1.0, abs=1e-14)
        for family in ("clamped-clamped", "pinned-pinned"):
            assert axial(family, k, L).value(eta) == pytest.approx(np.sin(k * np.pi * eta / L), abs=1e-13)
        assert axial("free-free", k, L).value(eta) == pytest.approx((-1) ** k * np.cos(k * np.pi * eta / L), abs=1e-13)
        assert axial("polynomial", k, L).value(eta) == pytest.approx((eta / L) ** k, abs=1e-14)
        assert bending("polynomial", k, L).deflection.value(eta) == pytest.approx((eta / L) ** (k + 1), abs=1e-14)


@pytest.mark.parametrize(
    "call",
    [
        lambda: bending("clamped", 1, L),
        lambda: bending("clamped-free", 0, L),
        lambda: wave_number("polynomial", 1),
        lambda: sigma("pinned-free", 1),
        lambda: axial("x", 1, L),
    ],
)
def test_bad_arguments(call) -> None:
    with pytest.raises(ArgumentError):
        call()


# Timoshenko ---------------------------------------------------------------------------------------


def exact_determinant(family: str, section: Section, frequency: mp.mpf) -> mp.mpf:
    """From w and psi as exp(lambda x) with complex roots of the characteristic equation: none of the scaling of the code under test."""
    EI, kGA, mu, J = (mp.mpf(x) for x in section)
    om2, length = frequency**2, mp.mpf(L)
    # kGA (w'' - psi') + mu om2 w = 0 and EI psi'' + kGA (w' - psi) + J om2 psi = 0
    a, b, c = EI * kGA, EI * mu * om2 + kGA * J * om2, mu * om2 * (J * om2 - kGA)
    squares = [(-b + sign * mp.sqrt(b * b - 4 * a * c)) / (2 * a) for sign in (1, -1)]
    lambdas = [sign * mp.sqrt(mp.mpc(square)) for square in squares for sign in (1, -1)]
    rows = []
    for end, hold in enumerate(family.split("-")):
        for what in {"clamped": "wp", "pinned": "wb", "free": "bs"}[hold]:
            row = []
            for lam in lambdas:
                psi = lam + mu * om2 / (kGA * lam)
                e = mp.exp(lam * length * end)
                row.append({"w": 1, "p": psi, "b": psi * lam, "s": lam - psi}[what] * e)
            rows.append(row)
    # Imaginary for decaying parts, real for four waves: one of the two is the determinant.
    determinant = mp.det(mp.matrix(rows))
    return mp.re(determinant) if abs(mp.re(determinant)) > abs(mp.im(determinant)) else mp.im(determinant)


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("family", MODES)
def test_timoshenko_frequencies_are_roots_of_the_determinant(family: str, name: str) -> None:
    section = SECTIONS[name]
    with mp.workdps(60):
        for k in (1, 2, 3, 6, 11):
            found = timoshenko_frequency(family, k, L, section)
            low, high = (exact_determinant(family, section, mp.mpf(found) * (1 + sign * mp.mpf("1e-13"))) for sign in (-1, 1))
            assert low * high < 0, (k, found)


def elements(family: str, section: Section, n: int) -> np.ndarray:
    """Frequencies of n two-node Timoshenko elements, reduced integration of the shear."""
    EI, kGA, mu, J = section
    h = L / n
    K, M = np.zeros((2 * n + 2, 2 * n + 2)), np.zeros((2 * n + 2, 2 * n + 2))
    B, S = np.array([0, -1, 0, 1]) / h, np.array([-1 / h, -0.5, 1 / h, -0.5])
    k = h * (EI * np.outer(B, B) + kGA * np.outer(S, S))
    m = np.kron(np.array([[2, 1], [1, 2]]) * h / 6, np.diag([mu, J]))
    for i in range(n):
        K[2 * i : 2 * i + 4, 2 * i : 2 * i + 4] += k
        M[2 * i : 2 * i + 4, 2 * i : 2 * i + 4] += m
    held = {"clamped": (0, 1), "pinned": (0,), "free": ()}
    root, tip = family.split("-")
    out = [*held[root], *(2 * n + one for one in held[tip])]
    keep = [i for i in range(2 * n + 2) if i not in out]
    K, M = K[np.ix_(keep, keep)], M[np.ix_(keep, keep)]
    rigid = {"pinned-free": 1, "free-free": 2}.get(family, 0)
    return np.sqrt(linalg.eigh(K, M, eigvals_only=True, subset_by_index=[rigid, rigid + 11]))


@pytest.mark.parametrize("family", [family for family in MODES if family != "pinned-pinned"])
@pytest.mark.parametrize("name", ["stubby", "beyond the cut-off"])
def test_no_timoshenko_frequency_is_missed(family: str, name: str) -> None:
    section = SECTIONS[name]
    # Richardson: the elements converge with h^2
    coarse, fine = elements(family, section, 120), elements(family, section, 240)
    expected = np.sqrt((4 * fine**2 - coarse**2) / 3)
    found = [timoshenko_frequency(family, k, L, section) for k in range(1, 12)]
    assert found == pytest.approx(expected[:11], rel=2e-4)


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("family", MODES)
def test_timoshenko_modes_solve_the_equations(family: str, name: str) -> None:
    section = SECTIONS[name]
    EI, kGA, mu, J = section
    eta = np.linspace(0.0, L, 23)
    for k in (1, 2, 4, 9):
        w, psi, shear = timoshenko(family, k, L, section)
        assert shear is not None
        om2 = timoshenko_frequency(family, k, L, section) ** 2
        size = np.abs(w.value(eta)).max()
        assert np.abs(w.slope(eta) - psi.value(eta) - shear.value(eta)).max() < 1e-12 * np.abs(w.slope(eta)).max()
        assert np.abs(kGA * shear.slope(eta) + mu * om2 * w.value(eta)).max() < 1e-11 * mu * om2 * size
        assert (
            np.abs(EI * psi.curvature(eta) + kGA * shear.value(eta) + J * om2 * psi.value(eta)).max()
            < 1e-11 * EI * np.abs(psi.curvature(eta)).max()
        )
        turn, bend = np.abs(psi.value(eta)).max(), np.abs(psi.slope(eta)).max()
        for end, hold in zip((0.0, L), family.split("-"), strict=True):
            if hold != "free":
                assert abs(float(w.value(end))) < 1e-12 * size
            if hold == "clamped":
                assert abs(float(psi.value(end))) < 1e-12 * turn
            else:
                assert abs(float(psi.slope(end))) < 1e-11 * bend
            if hold == "free":
                assert abs(float(shear.value(end))) < 1e-11 * np.abs(shear.value(eta)).max()
        if family.endswith("-free"):
            assert float(w.value(L)) == pytest.approx(1.0, abs=1e-12)
        # Rayleigh's quotient
        V = quad(lambda x, psi=psi, shear=shear: float(EI * psi.slope(x) ** 2 + kGA * shear.value(x) ** 2))
        T = quad(lambda x, w=w, psi=psi: float(mu * w.value(x) ** 2 + J * psi.value(x) ** 2))
        quotient = V / T
        assert quotient == pytest.approx(om2, rel=1e-11)


@pytest.mark.parametrize("family", FAMILIES)
def test_timoshenko_becomes_euler_bernoulli(family: str) -> None:
    eta = np.linspace(0.0, L, 11)
    last = math.inf
    for slender in (1e-2, 1e-3, 1e-4, 1e-6):
        section = Section(10.0, 10.0 / (slender * L) ** 2, 0.7, 0.7 * (0.5 * slender * L) ** 2)
        errors = []
        for k in (1, 2, 3):
            exact, found = bending(family, k, L), bending(family, k, L, section)
            assert found.shear is not None
            errors.append(float(np.abs(found.deflection.value(eta) - exact.deflection.value(eta)).max()))
            errors.append(float(np.abs(found.rotation.value(eta) - exact.rotation.value(eta)).max()))
            if family != "polynomial":
                frequency = wave_number(family, k) ** 2 * math.sqrt(10.0 / 0.7) / L**2
                errors.append(abs(timoshenko_frequency(family, k, L, section) / frequency - 1))
                assert errors[-1] < 200 * slender**2
        assert max(errors) < max(2e3 * slender**2, 2e-11)
        assert max(errors) < max(0.05 * last, 2e-11)
        last = max(errors)


def test_timoshenko_pinned_pinned_in_closed_form() -> None:
    section = SECTIONS["stubby"]
    EI, kGA, mu, J = section
    for k in (1, 2, 5):
        p = k * math.pi / L
        # w = sin(p eta), psi = P cos(p eta): a generalised eigenproblem of two unknowns
        K = np.array([[kGA * p * p, -kGA * p], [-kGA * p, EI * p * p + kGA]])
        low = linalg.eigh(K, np.diag([mu, J]), eigvals_only=True)[0]
        assert timoshenko_frequency("pinned-pinned", k, L, section) == pytest.approx(math.sqrt(low), rel=1e-13)


def test_polynomial_with_shear_is_the_cantilever_of_statics() -> None:
    # A tip load: EI psi' = P (L - eta) is a combination of the first two polynomials, and its shear is P / kGA.
    section = SECTIONS["stubby"]
    first, second = (timoshenko("polynomial", k, L, section) for k in (1, 2))
    eta = np.linspace(0, L, 9)
    P = 3.0
    basis = np.stack([first.rotation.slope(eta), second.rotation.slope(eta)], axis=1)
    (a, b), *_ = np.linalg.lstsq(basis, P * (L - eta) / section.EI, rcond=None)
    assert first.shear is not None and second.shear is not None
    assert a * first.shear.value(eta) + b * second.shear.value(eta) == pytest.approx(P / section.kGA, rel=1e-12)
    w = a * first.deflection.value(eta) + b * second.deflection.value(eta)
    assert w == pytest.approx(P * (L * eta**2 / 2 - eta**3 / 6) / section.EI + P * eta / section.kGA, rel=1e-12)


# tables -------------------------------------------------------------------------------------------


def test_cubic_spline_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 0.4, 8))])
    y = rng.normal(size=9)
    eta = np.linspace(0, x[-1], 50)
    for slope, kind in ((None, "not-a-knot"), (0.0, ((1, 0.0), "not-a-knot"))):
        ours = spline(x, y, slope)
        if slope is None:
            other = CubicSpline(x, y, bc_type=kind)
            for order in range(4):
                assert ours.derivative(eta, order) == pytest.approx(other(eta, order), rel=1e-9, abs=1e-9)
        else:  # scipy has no mixed ends: clamped at the root, continuous, and a single cubic across the last knot but one
            assert float(ours.slope(0.0)) == pytest.approx(0.0, abs=1e-14)
            assert ours.value(x) == pytest.approx(y, abs=1e-13)
            for order in (1, 2):
                assert ours.derivative(x[1:-1] - 1e-12, order) == pytest.approx(ours.derivative(x[1:-1], order), abs=1e-7)
            assert ours.derivative(x[-2] - 1e-9, 3) == pytest.approx(float(ours.derivative(x[-2], 3)), rel=1e-9)


def test_splines_reproduce_polynomials() -> None:
    x = np.array([0.0, 0.2, 0.5, 0.9, 1.0, 1.7])
    eta = np.linspace(0, 1.7, 40)
    cubic = np.polynomial.Polynomial([0, 0, 1.5, -0.7])
    for ours in (spline(x, cubic(x)), spline(x, cubic(x), None)):
        for order in range(4):
            assert ours.derivative(eta, order) == pytest.approx(cubic.deriv(order)(eta) if order else cubic(eta), abs=1e-11)
    quintic = np.polynomial.Polynomial([0.1, 0.3, 1.5, -0.7, 0.4, -0.25])
    ours = hermite_spline(x, quintic(x), quintic.deriv()(x))
    for order in range(6):
        assert ours.derivative(eta, order) == pytest.approx(quintic.deriv(order)(eta) if order else quintic(eta), abs=1e-8)


def test_tables_converge_to_the_mode() -> None:
    w = bending("clamped-free", 2, L).deflection
    eta = np.linspace(0, L, 301)
    errors = {}
    for n in (20, 40):
        x = np.linspace(0, L, n + 1)
        for name, ours in (("cubic", spline(x, w.value(x))), ("quintic", hermite_spline(x, w.value(x), w.slope(x)))):
            errors[name, n] = np.abs(ours.value(eta) - w.value(eta)).max()
            for order in (0, 1, 2):  # continuous
                assert ours.derivative(x[1:-1] - 1e-13, order) == pytest.approx(ours.derivative(x[1:-1], order), abs=1e-8)
    assert errors["cubic", 40] < errors["cubic", 20] / 12 < 1e-4
    assert errors["quintic", 40] < errors["quintic", 20] / 40 < 1e-8
    assert errors["quintic", 40] < 2e-8


@pytest.mark.parametrize("knots", [[0.0, 1.0], [0.1, 0.2, 0.3, 0.4], [0.0, 0.2, 0.2, 0.4]])
def test_bad_knots(knots: list[float]) -> None:
    with pytest.raises(ArgumentError):
        spline(knots, [0.0] * len(knots))
    with pytest.raises(ArgumentError):
        hermite_spline(knots, [0.0] * len(knots), [0.0] * len(knots))


def test_families_are_all_there() -> None:
    assert set(modes.FAMILIES) >= {"clamped-free", "clamped-clamped", "pinned-pinned", "free-free", "polynomial"}
