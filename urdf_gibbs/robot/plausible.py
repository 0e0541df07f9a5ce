"""Plausibility checks of joint axes, joint limits and link inertias."""

from __future__ import annotations

import math

from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import Vec3


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


def check_inertia(findings: Findings, line: int, what: str, mass: float, inertia: tuple[float, ...]) -> None:
    """Physics of one inertia about its centre of mass: positive, and each principal moment at most the sum of the others."""
    xx, xy, xz, _, yy, yz, _, _, zz = inertia
    if xy == xz == yz == 0.0:
        moments = sorted((xx, yy, zz))
    else:
        moments = symmetric_eigenvalues(xx, xy, xz, yy, yz, zz)
    low, mid, high = moments
    slack = 1e-6 * max(abs(low), abs(high))  # files have about six digits
    if low < -slack:
        findings.warning(
            "indefinite-inertia", line, f"{what} <inertia>", f"principal moments {low:.4g}, {mid:.4g}, {high:.4g}", "none of them negative"
        )
    elif high > low + mid + slack:
        findings.warning(
            "triangle-inequality",
            line,
            f"{what} <inertia>",
            f"principal moments {low:.4g}, {mid:.4g}, {high:.4g}",
            "each at most the sum of the other two",
        )
    if mass == 0.0 and high > 0.0:
        findings.warning(
            "massless-inertia",
            line,
            f"{what} <inertia>",
            f"largest moment {high:.4g} with zero mass",
            "a mass; the inertia is used as it is",
        )


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
