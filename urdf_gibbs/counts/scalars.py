"""As written: a scalar that only counts, and the operations that a formulation carries out with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from urdf_gibbs.dynamics.scalar import Matrix, Vector
from urdf_gibbs.robot.model import Robot

Traced = Callable[[Vector, Vector, Vector], list[Any]]  # q, v, tau -> outputs

OPERATIONS = ("multiplications", "additions", "divisions", "sines", "cosines")


class Counter:
    """A scalar that only counts: each operation carried out, but for those with a constant zero or one; signs are free.

    ``carried_out`` is called with the operation's name.
    """

    __slots__ = ("carried_out",)

    def __init__(self, carried_out: Callable[[str], None]) -> None:
        self.carried_out = carried_out

    def _after(self, operation: str) -> Counter:
        self.carried_out(operation)
        return self

    def __add__(self, other: Any) -> Counter:
        return self if type(other) is float and other == 0.0 else self._after("additions")

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if type(other) is float and abs(other) in (0.0, 1.0):
            return self if other else 0.0
        return NotImplemented if isinstance(other, list) else self._after("multiplications")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Counter:
        return self._after("divisions")

    __rtruediv__ = __truediv__

    def __neg__(self) -> Counter:
        return self

    def sin(self) -> Counter:
        return self._after("sines")

    def cos(self) -> Counter:
        return self._after("cosines")


def as_written(robot: Robot, function: Traced) -> dict[str, int]:
    """The operations that a formulation carries out, nothing folded but constants, also those that fill the upper triangle of M.

    ``total``: without sines and cosines.
    """
    counts = dict.fromkeys(OPERATIONS, 0)

    def carried_out(operation: str) -> None:
        counts[operation] += 1

    one = Counter(carried_out)
    function([one] * robot.nq, [one] * robot.nv, [one] * robot.nv)
    return with_total(counts)


def with_total(counts: dict[str, int]) -> dict[str, int]:
    """The counts in the order in which they are reported."""
    mul, add, div = (counts[key] for key in OPERATIONS[:3])
    parts = {"multiplications": mul, "additions": add, "divisions": div, "total": mul + add + div}
    return {**parts, "sines": counts["sines"], "cosines": counts["cosines"]}


def triangle(M: Matrix) -> list[Any]:
    """The lower triangle of M, row by row."""
    return [M[i][j] for i in range(len(M)) for j in range(i + 1)]
