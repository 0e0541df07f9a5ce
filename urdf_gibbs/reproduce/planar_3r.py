"""WJ's planar 3R (Sect. 7.1): the inertia matrix in closed form, its entries evaluated as printed and after each correction."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.model import Robot

# The second lines of the upper triangle. C1 is cos φ₁ and C12 is cos(φ₁ + φ₂), as the text defines them, and so C2 is cos φ₂; C_3^1 is
# defined nowhere, and read by the paper's marks for start and end: the angle from link 1 to link 3.
PRINTED = {
    "M11": "I1 + I2 + I3 + m1 l1I^2 + m2 (l1I^2 + l1 l2I C1 + l2I^2)"
    " + m3 (l1I^2 + l2I^2 + l3I^2 + 2 l1 l2I C1 + 2 l1 l3I C_3^1 + 2 l2 l3I C2)",
    "M12": "I2 + I3 + m2 (l2I^2 + l1 l2I C1) + m3 (l2I^2 + l3I^2 + l1 l2I C1 + l1 l3I C12 + 2 l2 l3I C2)",
    "M13": "I3 + m3 (l3I^2 + l1 l3I C12 + l2 l3I C2)",
    "M22": "I2 + I3 + m2 l2I^2 + m3 (l2I^2 + l3I^2 + 2 l2 l3I C2)",
    "M23": "I3 + m3 (l3I^2 + l2 l3I C2)",
    "M33": "I3 + m3 l3I^2",
}
TOKEN = re.compile(r"C_\d\^\d|[A-Za-z]\w*|\d+|\^2|[()+]")


# corrections: of the text of one entry --------------------------------------------------------------------


def _cosines(entry: str, text: str) -> str:
    """Of the angles between links, in the marks of C_3^1: C1, C12 and C2 become C_2^1, C_3^1 and C_3^2."""
    between = {"C1": "C_2^1", "C12": "C_3^1", "C2": "C_3^2"}
    return re.sub(r"\bC\d+\b", lambda match: between.get(match[0], match[0]), text)


def _lengths(entry: str, text: str) -> str:
    """Beside m_k only l_kI leads to a mass centre: the joints before are apart by l_1 and l_2."""

    def beside(match: re.Match[str]) -> str:
        mass, inner = match.groups()
        apart = re.sub(rf"l(?!{mass})(\d)I", r"l\1", inner)
        return f"m{mass} ({apart})"

    return re.sub(r"m(\d) \(([^)]*)\)", beside, text)


def _twice(entry: str, text: str) -> str:
    """In M11 the product l_1 l_2I beside m_2 stands twice, as the square of l_1 + l_2I has it."""
    return text.replace("+ l1 l2I", "+ 2 l1 l2I") if entry == "M11" else text


CORRECTIONS: dict[str, Callable[[str, str], str]] = {
    "cosines of the angles between links": _cosines,
    "lengths where joints are apart": _lengths,
    "the factor 2 in M11": _twice,
}


# evaluation -----------------------------------------------------------------------------------------------


def evaluated(text: str, values: Mapping[str, float]) -> float:
    """A sum of products of names, numbers, squares and sums in brackets; NaN where it cannot be read or a name has no value."""
    tokens = TOKEN.findall(text)
    if "".join(tokens) != text.replace(" ", ""):
        return math.nan
    try:
        value = _sum(tokens, values)
    except (KeyError, IndexError):
        return math.nan
    return math.nan if tokens else value


def _sum(tokens: list[str], values: Mapping[str, float]) -> float:
    total = _product(tokens, values)
    while tokens and tokens[0] == "+":
        tokens.pop(0)
        total += _product(tokens, values)
    return total


def _product(tokens: list[str], values: Mapping[str, float]) -> float:
    total = 1.0
    while True:
        token = tokens.pop(0)
        if token == "(":
            factor = _sum(tokens, values)
            tokens.pop(0)  # the bracket at which the sum ended
        else:
            factor = float(token) if token.isdigit() else values[token]
        if tokens and tokens[0] == "^2":
            tokens.pop(0)
            factor *= factor
        total *= factor
        if not tokens or tokens[0] in "+)":
            return total


def values_of(robot: Robot, q: NDArray[np.float64]) -> dict[str, float]:
    """What the printed names stand for, at the angles q: masses, distances to mass centres, lengths, inertias about z, cosines."""
    one, two, three = q
    cosines = {"C1": one, "C2": two, "C12": one + two, "C_2^1": two, "C_3^1": two + three, "C_3^2": three}
    values = {name: math.cos(angle) for name, angle in cosines.items()}
    for k in range(3):
        link = {f"m{k + 1}": robot.mass[k], f"l{k + 1}I": robot.centre_of_mass[k, 0], f"I{k + 1}": robot.inertia[k, 2, 2]}
        values |= {name: float(value) for name, value in link.items()}
    return values | {f"l{k}": float(robot.placement[k, 0, 3]) for k in (1, 2)}
