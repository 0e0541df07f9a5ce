"""What a comparison says: errors of each quantity by each method, and the outcome for one robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.names import Method

Array = NDArray[np.float64]


@dataclass
class Comparison:
    """The outcome for one quantity of one method: largest error, where, and whether it is within tolerance.

    ``errors`` has one for each state, NaN where the quantity does not exist there.
    """

    method: str
    quantity: str
    error: float = 0.0
    state: int = 0
    agrees: bool = True
    remark: str = ""
    link: str = ""  # of a Jacobian
    errors: list[float] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """As plain values; an error that is no number is None, as JSON has neither NaN nor infinity."""
        return {**vars(self), "errors": [error if np.isfinite(error) else None for error in self.errors]}


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

    ``matrices`` are those at the state where M differs most; None where nothing could be compared.
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

    @property
    def agrees(self) -> bool:
        return all(comparison.agrees for comparison in self.comparisons)

    @property
    def worst(self) -> Comparison:
        return max(self.comparisons, key=lambda c: (not c.agrees, c.error), default=Comparison("", "", 0.0))

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "base": self.base,
            "nq": self.nq,
            "nv": self.nv,
            "samples": self.samples,
            "seed": self.seed,
            "reference": self.reference,
            "agrees": self.agrees,
            "worst": {"method": self.worst.method, "quantity": self.worst.quantity, "error": self.worst.error, "state": self.worst_call},
            "quantities": [comparison.as_dict() for comparison in self.comparisons],
            "notes": self.notes,
        }
