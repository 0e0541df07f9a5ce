"""Poisson's law with several coefficients, by hand: each contact gives back its own share of its own compression."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from structs import empty

from urdf_gibbs.contact.complementarity import SOLVED
from urdf_gibbs.contact.laws import POISSON
from urdf_gibbs.simulation import flight

Array = NDArray[np.float64]


# u = (-1, -1), K = (1 c; c 1): compression 1 / (1 + c) at both.
@pytest.mark.parametrize(
    ("c", "e", "impulses", "after"),
    [
        (0.25, (0.8, 0.2), (0.8 * 1.8, 0.8 * 1.2), (0.68, 0.32)),  # K (e lc): 0.64 + 0.04, 0.16 + 0.16
        (-0.9, (1.0, 0.0), (20.0, 19.0), (1.9, 0.0)),  # what the first gives back, 10, would press the second shut by 9
        (-0.9, (0.0, 1.0), (19.0, 20.0), (0.0, 1.9)),
    ],
)
def test_each_contact_gives_back_its_own_share(
    c: float, e: tuple[float, ...], impulses: tuple[float, ...], after: tuple[float, ...]
) -> None:
    K, u, lam = np.array([[1.0, c], [c, 1.0]]), np.array([-1.0, -1.0]), np.zeros(2)
    system = empty(flight.System, K=K.ravel().copy(), u=u.copy(), e=np.array(e), lam=lam)
    assert flight.solve(system, POISSON, 2) < SOLVED
    np.testing.assert_allclose(lam, impulses, rtol=1e-12)
    np.testing.assert_allclose(u + K @ lam, after, atol=1e-12)
