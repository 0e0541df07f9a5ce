"""An elastic link as the formulations see it: integrals of its shape functions (S17, Eqs. 6-31), in the axes of its root's body.

The points of the beam's axis are rho(eta) = rho0(eta) + sum_a p_a phi_a(eta), rho0 = root + eta x, for a = 1 ... M. The first m amplitudes
are the elastic coordinates delta themselves; with foreshortening M > m, and the others are their products p = delta_j delta_k
(delta_j^2 / 2 for j = k) for the ``pairs``, along -x. The section at eta turns by theta(eta) = sum_j delta_j theta_j(eta), j = 1 ... m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.frozen import read_only

if TYPE_CHECKING:
    from urdf_gibbs.flexible.build import Specification

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Beam:
    """Constants of one elastic link; SI units, arrays read-only, vectors in the axes of the body that holds the root."""

    link: str
    length: float  # m
    root: Array  # (3,) where eta = 0, in the body's frame
    axis: Array  # (3,) unit, from the root to the tip
    names: tuple[str, ...]  # (m,) of the coordinates, such as "y1", "z1", "x1", "torsion1"
    mass: float  # B0
    first: Array  # (3,) integral of mu rho0; its skew matrix is C2
    second: Array  # (3, 3) integral of mu rho0 rho0^T, of which C5 is trace minus it
    rotary: Array  # (3, 3) B10, integral of J'
    C1: Array  # (M, 3) integral of mu phi_a
    G0: Array  # (M, 3, 3) integral of mu rho0 phi_a^T: C6 and C7
    G: Array  # (M, M, 3, 3) integral of mu phi_a phi_b^T: C3, C4 and C8
    spin: Array  # (m, 3) integral of J' theta_j, zero without elastic rotary inertia
    spins: Array  # (m, m) integral of theta_j . J' theta_k, zero without elastic rotary inertia
    stiffness: Array  # (m, m) K, Eq. 31
    damping: Array  # (m, m)
    tip: Array  # (M, 3) phi_a(L)
    tip_rotation: Array  # (m, 3) theta_j(L)
    pairs: tuple[tuple[int, int], ...] = ()  # (j, k), j <= k, of the amplitudes after the first m
    stations: Array | None = None  # (s,) eta, for drawings
    shapes: Array | None = None  # (s, M, 3) phi_a at the stations
    frame: Array | None = None  # (3, 3) the beam's x, y and z as columns
    specification: Specification | None = None  # what it was made from

    @property
    def m(self) -> int:
        """How many elastic coordinates it has."""
        return len(self.names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(read_only(state))
