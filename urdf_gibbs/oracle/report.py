"""What a comparison says: errors of each quantity by each method beside what was asked of them, and the outcome for one robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import counted
from urdf_gibbs.names import Method

Array = NDArray[np.float64]
Verdict = Literal["agrees", "disagrees", "nothing to compare"]

TOLERANCE = 1e-9
RESIDUAL = 1e-12


@dataclass
class Comparison:
    """The outcome for one quantity of one method: the error at the state where it is largest beside what was asked there, its ``bound``.

    ``bound`` is 1e-9; for a solution with M what round-off allows at M's condition, where that is more; for the residual of a solution
    1e-12. ``errors`` has one for each state, NaN where the quantity does not exist there.
    """

    method: str
    quantity: str
    error: float = 0.0
    state: int = 0
    agrees: bool = True
    remark: str = ""
    link: str = ""  # of a Jacobian
    errors: list[float] = field(default_factory=list)
    bound: float = TOLERANCE

    @property
    def exists(self) -> bool:
        """Whether the quantity was compared at some state."""
        return not self.errors or not bool(np.isnan(self.errors).all())

    @property
    def ratio(self) -> float:
        """The error over what was asked: 1 and less agrees."""
        return self.error / self.bound

    def as_dict(self) -> dict[str, Any]:
        """As plain values; an error that is no number, or none because nothing was compared, is None: JSON has neither NaN nor infinity."""
        error = self.error if self.exists and np.isfinite(self.error) else None
        return {**vars(self), "error": error, "errors": [error if np.isfinite(error) else None for error in self.errors]}


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """Mass matrices (nv, nv) at one state q (nq,): ours by each method, and the reference's."""

    state: int
    q: Array
    ours: Mapping[Method, Array]
    reference: Array


@dataclass
class Report:
    """The outcome for one file and base. ``reference`` is "Pinocchio", or a method where Pinocchio refuses the model.

    With elastic links it is "each other; rigid limit against Pinocchio", or without the second where that cannot be compared.

    ``matrices`` are those at the state where M differs most; None where nothing could be compared. ``nothing`` says why the dynamics of
    this robot are nothing that could agree: no joint moves, or no link that moves has mass.
    """

    file: str
    base: str
    nq: int
    nv: int
    samples: int
    seed: int
    reference: str = "Pinocchio"
    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    worst_call: str = ""
    matrices: Matrices | None = field(default=None, repr=False)
    nothing: str = ""

    @property
    def verdict(self) -> Verdict:
        """What all comparisons together say."""
        if not all(comparison.agrees for comparison in self.comparisons):
            return "disagrees"
        return "nothing to compare" if self.nothing or not any(c.exists for c in self.comparisons) else "agrees"

    @property
    def agrees(self) -> bool:
        return self.verdict == "agrees"

    @property
    def worst(self) -> Comparison:
        """That with the largest error beside what was asked of it."""
        return max(self.comparisons, key=lambda c: (not c.agrees, c.ratio), default=Comparison("", ""))

    @property
    def summary(self) -> str:
        """What was asked of the errors, and what was found, in a line."""
        return self._disagreement() or self._agreement()

    def _disagreement(self) -> str:
        wrong = [c for c in self.comparisons if not c.agrees]
        if not wrong:
            return ""
        count = f"{len(wrong)} of {counted(len(self.comparisons), 'error')}"
        return f"disagrees with {self.reference}: {_off(self.worst)}; more than was asked: {count}"

    def _agreement(self) -> str:
        if self.verdict == "nothing to compare":
            return f"nothing to compare: {self.nothing or 'no quantity exists at these states'}"
        compared = [c for c in self.comparisons if c.exists]
        plain = [c for c in compared if c.bound == TOLERANCE]
        most = max(plain, key=lambda c: c.error, default=None)
        words = f"agrees with {self.reference}: {counted(len(plain), 'error')} within {TOLERANCE:.0e}"
        if most is not None and most.error > 0.0:
            words += f", the largest {most.error:.1e} ({most.quantity}, {most.method})"
        by_condition: dict[str, Comparison] = {}
        for one in sorted((c for c in compared if c.bound > TOLERANCE), key=lambda c: c.ratio):
            by_condition[one.quantity] = one
        for name, one in by_condition.items():
            words += f"; {name} {one.error:.1e}, within the {one.bound:.1e} that M's condition allows"
        residuals = sum(c.bound < TOLERANCE for c in compared)
        if residuals:
            words += f"; {counted(residuals, 'residual')} within {RESIDUAL:.0e}"
        return words

    def as_dict(self) -> dict[str, Any]:
        worst = self.worst.as_dict()
        return {
            "file": self.file,
            "base": self.base,
            "nq": self.nq,
            "nv": self.nv,
            "samples": self.samples,
            "seed": self.seed,
            "reference": self.reference,
            "agrees": self.agrees,
            "verdict": self.verdict,
            "summary": self.summary,
            "worst": {**{key: worst[key] for key in ("method", "quantity", "error", "bound")}, "state": self.worst_call},
            "quantities": [comparison.as_dict() for comparison in self.comparisons],
            "notes": self.notes,
        }


def _off(one: Comparison) -> str:
    """How far a quantity is off."""
    if not one.errors:
        return f"{one.quantity} differ"
    by = f"is off by {one.error:.1e} where {one.bound:.0e} was asked" if np.isfinite(one.error) else "is no number or does not exist"
    return f"{one.quantity} ({one.method}) {by}"
