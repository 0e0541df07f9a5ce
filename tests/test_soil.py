"""Wheels on soil: the integrals by SciPy, Bekker's closed forms of a wheel that only sinks in, limits, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from urdf_gibbs.contact.soil import LIMITS, SOILS, Motion, Soil, soil_named, wheel_forces
from urdf_gibbs.errors import ArgumentError, UnknownNameError

R, B = np.array([0.25]), np.array([0.2])


def motion(z: float, v: float = 0.0, tread: float = 0.0, across: float = 0.0, sinking: float = 0.0) -> Motion:
    return Motion(*(np.array([value]) for value in (z, sinking, v, across, tread)))


def by_quadrature(soil: Soil, z: float, v: float, tread: float) -> tuple[float, float, float]:
    """Load, drawbar pull and torque by the formulas of Wong and Reece, for a wheel that drives: v <= tread, both above REST."""
    slip = 1.0 - v / tread
    first = math.acos(1.0 - z / R[0])
    largest = (soil.a0 + soil.a1 * slip) * first

    def sigma(theta: float) -> float:
        front = theta if theta > largest else first - theta / largest * (first - largest)
        return (soil.kc / B[0] + soil.kphi) * (R[0] * (math.cos(front) - math.cos(first))) ** soil.n

    def tau(theta: float) -> float:
        j = R[0] * ((first - theta) - (1.0 - slip) * (math.sin(first) - math.sin(theta)))
        return (soil.cohesion + sigma(theta) * math.tan(soil.friction_angle)) * (1.0 - math.exp(-j / soil.shear_modulus))

    def total(function: Any) -> float:
        return float(quad(function, 0.0, largest, epsabs=1e-12)[0] + quad(function, largest, first, epsabs=1e-12)[0])

    load = B[0] * R[0] * total(lambda a: sigma(a) * math.cos(a) + tau(a) * math.sin(a))
    pull = B[0] * R[0] * total(lambda a: tau(a) * math.cos(a) - sigma(a) * math.sin(a))
    return load, pull, B[0] * R[0] ** 2 * total(tau)


@pytest.mark.parametrize("name", SOILS)
@pytest.mark.parametrize(("z", "slip"), [(0.002, 0.05), (0.01, 0.2), (0.03, 0.6), (0.06, 1.0)])
def test_the_forces_of_a_driven_wheel_are_the_integrals_of_wong_and_reece(name: str, z: float, slip: float) -> None:
    soil = SOILS[name]
    for n in (1.0, 1.3):
        changed = replace(soil, n=n)
        load, pull, torque = by_quadrature(changed, z, 0.3 * (1.0 - slip), 0.3)
        found = wheel_forces(changed, R, B, motion(z, 0.3 * (1.0 - slip), 0.3))
        # The drag fades below REST; at a slip of 1 the wheel does not move at all.
        if slip < 0.8:
            assert found.forwards[0] == pytest.approx(pull, rel=1e-5, abs=1e-6)
        assert found.normal[0] == pytest.approx(load, rel=1e-5)  # Gauss of order 12 with a power at the end of the arc
        assert found.torque[0] == pytest.approx(-torque, rel=1e-5)
        assert found.across[0] == 0.0


def test_a_wheel_that_rolls_freely_sinks_as_bekker_says() -> None:
    """W = b k sqrt(D) z^(n + 1/2) (3 - n)/3 for small sinkages, and the resistance of compaction b k z^(n+1)/(n + 1)."""
    soil = Soil(1.0, 1400.0, 820e3, 0.0, math.radians(35.0), 0.0178, a0=0.0, a1=0.0)
    k = soil.kc / B[0] + soil.kphi
    for z in (2e-4, 1e-3):
        smooth = replace(soil, shear_modulus=0.2)  # so that next to nothing is left of the shear
        found = wheel_forces(smooth, R, B, motion(z, 0.3, 0.3))
        assert found.normal[0] == pytest.approx(B[0] * k * math.sqrt(2.0 * R[0]) * z**1.5 * 2.0 / 3.0, rel=0.03)
        assert -found.forwards[0] == pytest.approx(B[0] * k * z**2 / 2.0, rel=0.03)


def test_the_pull_grows_with_the_slip_up_to_what_the_soil_holds() -> None:
    soil, z = SOILS["lunar"], 0.01
    pulls = [wheel_forces(soil, R, B, motion(z, 0.3 * (1.0 - slip), 0.3)) for slip in np.linspace(0.0, 0.8, 17)]
    forwards = [float(one.forwards[0]) for one in pulls]
    assert (np.diff(forwards) > 0.0).all() and forwards[0] < 0.0 < forwards[-1]
    for one in pulls:
        assert abs(one.torque[0]) / R[0] < 1.2 * (one.normal[0] * math.tan(soil.friction_angle) + soil.cohesion * 0.2 * 0.08)


def test_directions() -> None:
    """Backwards is the mirror image; sideways the soil holds against the motion; above the ground there is nothing."""
    soil = SOILS["lunar"]
    ahead, back = (wheel_forces(soil, R, B, motion(0.01, way * 0.2, way * 0.3, 0.05)) for way in (1.0, -1.0))
    assert ahead.forwards[0] == pytest.approx(-back.forwards[0], rel=1e-13) and ahead.torque[0] == pytest.approx(-back.torque[0], rel=1e-13)
    assert ahead.across[0] == pytest.approx(back.across[0], rel=1e-13) and ahead.across[0] < 0.0
    free = wheel_forces(soil, R, B, motion(-0.01, 0.2, 0.3, 0.05))
    assert all(one[0] == 0.0 for one in free)
    assert wheel_forces(soil, R, B, motion(0.01, sinking=0.1)).normal[0] > wheel_forces(soil, R, B, motion(0.01)).normal[0]


@pytest.mark.parametrize("name", LIMITS)
def test_parameters_out_of_range_are_errors(name: str) -> None:
    least, most = LIMITS[name]
    for wrong in (least - 1.0, 1.1 * most + 1.0, math.nan, "soft"):
        with pytest.raises(ArgumentError, match=f"Soil: {name} is .*; expected a number from"):
            replace(SOILS["lunar"], **{name: wrong})


def test_soils_have_names() -> None:
    assert soil_named("fjs1").cohesion == 800.0
    with pytest.raises(UnknownNameError, match="no soil named 'mud'"):
        soil_named("mud")
