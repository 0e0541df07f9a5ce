"""Shape functions of a uniform beam on [0, L]: families of bending, stretch and torsion modes, and tables (S17, Eqs. 1, 2 and 63).

Scaling: 1 at the tip where the tip moves; amplitude 1 for pinned-pinned; sin - sigma cos - sinh + sigma cosh for clamped-clamped, as the
paper has it. A root that is not clamped is allowed: the axes of the body are then the chord's (pinned) or the mean ones (free).
"""

from __future__ import annotations

import math

from urdf_gibbs.flexible.euler_bernoulli import FAMILIES, MOST, TIP, check_family, euler_bernoulli, sigma, wave_number
from urdf_gibbs.flexible.shape import Bending, Derivative, Power, Shape, Wave, Waves
from urdf_gibbs.flexible.tables import hermite_spline, spline
from urdf_gibbs.flexible.timoshenko import Section, timoshenko, timoshenko_frequency

__all__ = [
    "FAMILIES",
    "MOST",
    "TIP",
    "Bending",
    "Derivative",
    "Section",
    "Shape",
    "axial",
    "bending",
    "hermite_spline",
    "sigma",
    "spline",
    "timoshenko",
    "timoshenko_frequency",
    "wave_number",
]


def bending(family: str, k: int, length: float, section: Section | None = None) -> Bending:
    """The k-th bending mode of a family; with a section a Timoshenko one."""
    check_family(family, k)
    if section is not None:
        return timoshenko(family, k, length, section)
    w = euler_bernoulli(family, k, length)
    return Bending(w, Derivative(w))


def axial(family: str, k: int, length: float) -> Shape:
    """The k-th mode of stretch or torsion: a held end is a node, whether clamped or pinned; scaled to 1 at a tip that moves."""
    check_family(family, k)
    if family == "polynomial":
        return Power(length, (0.0,) * k + (1.0,))
    if family in ("clamped-free", "pinned-free"):
        return Waves(length, (Wave((k - 0.5) * math.pi, 1.0 if k % 2 else -1.0, 0.0),))
    if family == "free-free":
        return Waves(length, (Wave(k * math.pi, 0.0, -1.0 if k % 2 else 1.0),))
    return Waves(length, (Wave(k * math.pi, 1.0, 0.0),))
