"""Derivatives of the dynamics by Pinocchio, in the coordinates of Robot: mimic joints freed in Pinocchio's model and tied again by G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Derivatives:
    """Of a function of q, v and a third argument (nv): three matrices (nv, nv), in tangent space."""

    q: Array
    v: Array
    third: Array

    def along(self, dq: Array, dv: Array, third: Array) -> Array:
        return self.q @ dq + self.v @ dv + self.third @ third

    def weighted(self, w: Array) -> Array:
        return np.array([w @ self.q, w @ self.v, w @ self.third])


def inverse_derivatives(oracle: Oracle, q: Array, v: Array, a: Array) -> Derivatives:
    """Of tau = ID(q, v, a) = Gᵀ ID_free(q_free, G v, G a), with q_free = G q + o in tangent space."""
    pin, G = oracle.pin, oracle.G
    x = oracle.configuration(q)
    by_q, by_v, _ = (np.array(block) for block in pin.computeRNEADerivatives(oracle.model, oracle.data, x, G @ v, G @ a))
    upper = np.triu(pin.crba(oracle.model, oracle.data, x))
    return Derivatives(G.T @ by_q @ G, G.T @ by_v @ G, G.T @ (upper + np.triu(upper, 1).T) @ G)


def forward_derivatives(oracle: Oracle, q: Array, v: Array, tau: Array, a: Array) -> Derivatives:
    """Of a = FD(q, v, tau); ``a`` is its value, for mimic joints, of which Pinocchio has no forward dynamics."""
    if oracle.tied:
        inverse = inverse_derivatives(oracle, q, v, a)
        M = inverse.third
        return Derivatives(-np.linalg.solve(M, inverse.q), -np.linalg.solve(M, inverse.v), np.linalg.inv(M))
    pin = oracle.pin
    by_q, by_v, by_tau = (
        np.array(block) for block in pin.computeABADerivatives(oracle.model, oracle.data, oracle.configuration(q), v, tau)
    )
    return Derivatives(by_q, by_v, np.triu(by_tau) + np.triu(by_tau, 1).T)


def oracle_of(source: Any, base: str, mimic: bool = True) -> Oracle:
    return Oracle(source, base, mimic, EARTH_GRAVITY)
