"""Plausibility checks of joint axes, joint limits and single inertias."""

from __future__ import annotations

import math
from dataclasses import dataclass

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import Inertia, Vec3


def checked_axis(findings: Findings, line: int, what: str, axis: Vec3) -> Vec3:
    """The unit axis; a zero or non-finite one is an error, any other length a warning."""
    x, y, z = axis
    square = x * x + y * y + z * z
    if square == 1.0:
        return axis
    norm = math.hypot(x, y, z)
    if not math.isfinite(norm) or norm < 1e-9:
        findings.error("zero-axis", line, f"{what} <axis>", f"xyz={x:g} {y:g} {z:g}", "a finite vector of non-zero length")
        return (1.0, 0.0, 0.0)
    if abs(norm - 1.0) > 1e-4:  # a unit vector printed with four digits is accepted silently
        findings.warning("axis-length", line, f"{what} <axis>", f"length {norm:.6g}", "a unit vector; it is normalised")
    return x / norm, y / norm, z / norm


def check_limits(findings: Findings, line: int, what: str, lower: float, upper: float) -> None:
    if lower > upper:
        findings.warning("inverted-limits", line, f"{what} <limit>", f"lower {lower:g} above upper {upper:g}", "lower at most upper")


FULL_TURN = 2.0 * math.pi + 0.01  # rad


def check_angles(findings: Findings, line: int, what: str, rpy: Vec3) -> None:
    """Of angles above a full turn: they are mostly degrees."""
    fits = ", ".join(f"{math.radians(angle):.4g}" for angle in rpy)
    expected = f"radians, a full turn at most; {fits} if they are degrees"
    findings.warning("angle-range", line, f"{what} <origin>", f'rpy="{" ".join(f"{angle:g}" for angle in rpy)}"', expected)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is wrong with the inertia of a link; ``size`` [kg m^2]: by how much."""

    link: str
    line: int
    code: str
    value: str
    expected: str
    size: float


def inertia_doubt(link: str, line: int, body: Inertia) -> Doubt | None:
    """Physics of one inertia about its centre of mass: positive, and each principal moment at most the sum of the others."""
    xx, xy, xz, _, yy, yz, _, _, zz = body.inertia
    if xy == xz == yz == 0.0:
        moments = sorted((xx, yy, zz))
    else:
        moments = symmetric_eigenvalues(xx, xy, xz, yy, yz, zz)
    low, mid, high = moments
    slack = 1e-6 * max(abs(low), abs(high))  # files have about six digits
    told = f"principal moments {low:.4g}, {mid:.4g}, {high:.4g}"
    if low < -slack:
        return Doubt(link, line, "indefinite-inertia", told, "none of them negative", -low)
    if high > low + mid + slack:
        return Doubt(link, line, "triangle-inequality", told, "each at most the sum of the other two", high - low - mid)
    if body.mass == 0.0 and high > 0.0:
        found = f"largest moment {high:.4g} with zero mass"
        return Doubt(link, line, "massless-inertia", found, "a mass; the inertia is used as it is", high)
    return None


def symmetric_eigenvalues(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> list[float]:
    """Eigenvalues of a symmetric 3x3 matrix, ascending, in closed form (trigonometric)."""
    largest = max(abs(x) for x in (xx, xy, xz, yy, yz, zz))
    if largest == 0.0:
        return [0.0, 0.0, 0.0]
    xx, xy, xz, yy, yz, zz = (x / largest for x in (xx, xy, xz, yy, yz, zz))  # no overflow, no underflow
    mean = (xx + yy + zz) / 3.0
    a, b, c = xx - mean, yy - mean, zz - mean
    spread = math.sqrt((a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0)
    if spread < 1e-20:
        return [mean * largest] * 3
    half_determinant = (a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)) / (2.0 * spread**3)
    angle = math.acos(max(-1.0, min(1.0, half_determinant))) / 3.0
    high = mean + 2.0 * spread * math.cos(angle)
    low = mean + 2.0 * spread * math.cos(angle + 2.0 * math.pi / 3.0)
    return [low * largest, (3.0 * mean - high - low) * largest, high * largest]
