"""Wheels on soil that yields: pressure and sinkage by Bekker, stresses under a rigid wheel by Wong and Reece, shear by Janosi and Hanamoto.

A wheel of radius R and width b that has sunk in by z touches from the angle θ1 = acos(1 - z/R) in front of its lowest point to 0, with

    normal stress   σ = (kc/b + kφ) (R (cos θ - cos θ1))^n in front of θm = (a0 + a1 s) θ1, and behind it the same at the angle
                    θ1 - θ/θm (θ1 - θm); with a damping of the sinking
    shear stress    τ = (c + σ tan φ) (1 - exp(-j/K)),  j (jx, jy) what the tread has slipped since it came in, along and across:
                    jx = R (Rω (θ1 - θ) - v (sin θ1 - sin θ)) / u,  jy = R (θ1 - θ) v_y / u,  u = max(|Rω|, |v|, REST)

and forces b R ∫ (σ cos θ + τ sin θ) along the normal, b R ∫ (τ cos θ - σ sin θ) along the heading, b R² ∫ τ about the axle. A wheel that
goes backwards is the mirror image; in between, where Rω + v is below u, both pass into each other without a jump. With Rω > v,
jx is Wong's R ((θ1 - θ) - (1 - s)(sin θ1 - sin θ)). Bulldozing at the sides, grousers and ruts of wheels in front are left out, and soil
that is relieved springs back along the same curve. Below REST the stresses are those of a viscous fluid: on a slope a parked wheel creeps.

J. Y. Wong and A. R. Reece, J. Terramechanics 4 (1967); G. Ishigami et al., J. Field Robotics 24 (2007), for both directions at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import finite
from urdf_gibbs.contact.soil_forces import REST
from urdf_gibbs.errors import ArgumentError, UnknownNameError

Array = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)  # of each of the two parts of the arc
SIDES = np.polynomial.legendre.leggauss(3) * np.array([[1.0], [0.5]])  # of thin discs across the width, and their shares of it


@dataclass(frozen=True)
class Soil:
    """Parameters of a soil.

    Args:
        n: Exponent of the sinkage.
        kc: Cohesive modulus [N/m^(n+1)].
        kphi: Frictional modulus [N/m^(n+2)].
        cohesion: c [Pa].
        friction_angle: φ [rad].
        shear_modulus: K, of the deformation by shear [m].
        a0: Of the angle of the largest stress, over θ1, without slip.
        a1: How much it grows with the slip.
        damping: Pressure for each m/s of sinking [Pa s/m].

    Raises:
        ArgumentError: A value is not a number within its limits.
    """

    n: float
    kc: float
    kphi: float
    cohesion: float
    friction_angle: float
    shear_modulus: float
    a0: float = 0.4
    a1: float = 0.15
    damping: float = 3e4

    def __post_init__(self) -> None:
        for entry in fields(self):
            value, (least, most) = getattr(self, entry.name), LIMITS[entry.name]
            number = finite(value, ())
            if number is None or not least <= number <= most:
                raise ArgumentError(f"Soil: {entry.name} is {value!r}; expected a number from {least:g} to {most:g}")
            object.__setattr__(self, entry.name, float(number))


LIMITS = {
    "n": (0.3, 2.0),
    "kc": (0.0, 1e7),
    "kphi": (1e3, 1e9),
    "cohesion": (0.0, 1e5),
    "friction_angle": (math.radians(5.0), math.radians(60.0)),
    "shear_modulus": (1e-3, 0.2),
    "a0": (0.0, 0.8),
    "a1": (0.0, 0.5),
    "damping": (0.0, 1e7),
}
SOILS = {
    # Lunar soil by the soil mechanics of Apollo, as in Heiken et al., Lunar Sourcebook (1991), and in Wong, Theory of Ground Vehicles.
    "lunar": Soil(1.0, 1400.0, 820e3, 170.0, math.radians(35.0), 0.0178),
    # The simulant FJS-1, as in Ishigami et al. (2007), with K for wheels that go straight ahead.
    "fjs1": Soil(1.0, 1370.0, 814e3, 800.0, math.radians(37.2), 0.036),
}


def soil_of(given: Soil | str | None) -> Soil | None:
    """A soil, or one of SOILS by its name; ArgumentError for what is none, UnknownNameError where there is no such name."""
    if given is None or isinstance(given, Soil):
        return given
    if not isinstance(given, str):
        raise ArgumentError(f"soil={given!r}, expected a Soil, its name or None: {', '.join(SOILS)}")
    if given not in SOILS:
        raise UnknownNameError("soil", given, tuple(SOILS))
    return SOILS[given]


class Forces(NamedTuple):
    """On n wheels: along the normal, the heading and the axle (n,) [N], and about the axle (n,) [N m]."""

    normal: Array
    forwards: Array
    across: Array
    torque: Array


class Motion(NamedTuple):
    """Of n wheels: sinkage (n,) [m] and its rate [m/s], the speeds of the middle along the heading and the axle [m/s], Rω [m/s]."""

    sinkage: Array
    sinking: Array
    forwards: Array
    across: Array
    tread: Array


def wheel_forces(soil: Soil, radius: Array, width: Array, motion: Motion) -> Forces:
    """What the soil does to n wheels of these radii and widths (n,) [m]; nothing where they do not touch it."""
    v, tread = motion.forwards, motion.tread
    u = np.maximum(np.maximum(np.abs(tread), np.abs(v)), REST)
    way = np.clip((tread + v) / u, -1.0, 1.0)
    slip = np.clip(way * (tread - v) / u, -1.0, 1.0)
    theta1 = np.arccos(1.0 - np.clip(motion.sinkage, 0.0, radius) / radius)
    middle = np.clip(soil.a0 + soil.a1 * slip, 0.01, 0.99) * theta1
    stiff, shear, grip = soil.kc / width + soil.kphi, soil.shear_modulus, math.tan(soil.friction_angle)
    damped = soil.damping * np.maximum(motion.sinking, 0.0)
    sums = np.zeros((4, len(theta1)))
    for low, high, behind in ((middle, theta1, False), (np.zeros_like(middle), middle, True)):
        half = 0.5 * (high - low)
        theta = 0.5 * (high + low)[:, None] + half[:, None] * NODES
        ratio = theta / np.maximum(middle, 1e-12)[:, None]
        front = theta1[:, None] - ratio * (theta1 - middle)[:, None] if behind else theta
        depth = radius[:, None] * np.maximum(np.cos(front) - np.cos(theta1)[:, None], 0.0)
        sigma = stiff[:, None] * depth**soil.n + damped[:, None]
        past = theta1[:, None] - theta
        jx = (tread[:, None] * past - v[:, None] * (np.sin(theta1)[:, None] - np.sin(theta))) * (radius / u)[:, None]
        jy = past * (radius * motion.across / u)[:, None]
        j = np.hypot(jx, jy)
        tau = (soil.cohesion + sigma * grip) * -np.expm1(-j / shear) / np.maximum(j, 1e-12)
        weights = half[:, None] * WEIGHTS
        sine, cosine = np.sin(theta), np.cos(theta)
        drag = sine * np.clip(v / REST, -1.0, 1.0)[:, None]  # no resistance at rest, where there is no front
        upwards = sigma * cosine + way[:, None] * tau * jx * sine
        for k, part in enumerate((upwards, tau * jx * cosine - sigma * drag, -tau * jy, tau * jx)):
            sums[k] += (weights * part).sum(axis=1)
    patch = width * radius
    return Forces(np.maximum(patch * sums[0], 0.0), patch * sums[1], patch * sums[2], -patch * radius * sums[3])
