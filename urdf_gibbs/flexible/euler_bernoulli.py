"""Bending modes of a uniform Euler-Bernoulli beam on [0, L]: families of sin, cos and two decaying exponentials (S17, Eqs. 2 and 63).

The modes of a beam held as the family says are sin, cos and two exponentials that decay from either end. With cosh and sinh a high mode
would be the difference of huge numbers; written like this every coefficient is of the order of one. The frequency equations
cos(beta) cosh(beta) = -1 (clamped-free) and = 1 (clamped-clamped, free-free) become sin(d) = +-1/cosh(beta) for the small distance
d = beta - (k -+ 1/2) pi, which Newton's method solves to the last digit; tan(beta) = tanh(beta) (pinned-free) likewise.
"""

from __future__ import annotations

import math

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.shape import Decay, Power, Shape, Wave, Waves

FAMILIES = ("clamped-free", "clamped-clamped", "pinned-pinned", "pinned-free", "free-free", "polynomial")
MOST = 20  # modes of one direction: beyond that beam theory does not hold
TIP = ("clamped-free", "pinned-free", "free-free", "polynomial")  # scaled to 1 at the tip


def wave_number(family: str, k: int) -> float:
    """beta_k of a bending family, k = 1, 2, ...: the angular frequency is beta^2 sqrt(EI / (mu L^4))."""
    check_family(family, k)
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


def euler_bernoulli(family: str, k: int, length: float) -> Shape:
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


def check_family(family: str, k: int) -> None:
    if family not in FAMILIES:
        raise ArgumentError(f"family {family!r}, expected one of {', '.join(FAMILIES)}")
    if k < 1:
        raise ArgumentError(f"mode {k}, expected 1, 2, ...")
