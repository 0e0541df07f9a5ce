"""Parameters that some distribution of mass has: positive definite pseudo-inertias, by semidefinite programming.

A body's ten parameters are those of a mass distribution with positive density if and only if its pseudo-inertia J = [Sigma h; hᵀ m], with
Sigma = tr(I) / 2 - I, is positive definite (Wensing, Kim and Slotine, 2018). J is linear in the parameters: a linear matrix inequality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.identification.least_squares import Triangle
from urdf_gibbs.identification.sizes import natural_sizes, parameter_sizes

WEAK = 10.0  # a parameter may be this many times its natural size away from the prior before that costs as much as one unit of noise
MARGIN = 1e-4  # the least eigenvalue of a pseudo-inertia in natural sizes: no body shrinks to a point or loses its mass
UPPER = tuple((i, j) for j in range(4) for i in range(j + 1))  # the solver's order of a symmetric matrix


class NotSolvedError(UrdfGibbsError, RuntimeError):
    """The solver found no physical parameters."""


@dataclass(frozen=True, slots=True)
class Objective:
    """|R (K pi, friction) - z|^2 / variance, to be as small as possible, near the ``prior`` (nb, 10)."""

    system: Triangle
    K: Array
    prior: Array
    variance: float


def pseudo_inertia(parameters: Array) -> Array:
    """J (..., 4, 4) of parameters (..., 10), about the origin of the body's frame."""
    m, mx, my, mz, xx, xy, yy, xz, yz, zz = np.moveaxis(parameters, -1, 0)
    half = 0.5 * (xx + yy + zz)
    rows = [[half - xx, -xy, -xz, mx], [-xy, half - yy, -yz, my], [-xz, -yz, half - zz, mz], [mx, my, mz, m]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def scaled_eigenvalues(parameters: Array, sizes_of: Array) -> Array:
    """The least eigenvalue (nb,) of each pseudo-inertia, in the natural sizes of other parameters (nb, 10)."""
    return np.asarray(np.linalg.eigvalsh(_scaled(pseudo_inertia(parameters), sizes_of))[:, 0])


def _scaled(J: Array, sizes_of: Array) -> Array:
    """J (..., nb, 4, 4) divided by m L L, m L and m of each body."""
    mass, length = natural_sizes(sizes_of)
    unit = np.stack([length, length, length, np.ones_like(length)], axis=-1)
    return np.asarray(J / (mass[:, None, None] * unit[:, :, None] * unit[:, None, :]))


def feasible_parameters(objective: Objective) -> tuple[Array, Array]:
    """(parameters (nb, 10) with positive definite pseudo-inertias that fit best, friction columns that go with them)."""
    with extras_named():
        import clarabel
        from scipy import sparse
    prior, K, system = objective.prior, objective.K, objective.system
    bodies, width = len(prior), prior.size
    sizes = parameter_sizes(prior)
    others = system.R.shape[1] - len(K)  # columns of friction
    unit = np.sqrt(objective.variance)
    M = np.concatenate([system.R[:, : len(K)] @ (K * sizes.ravel()), system.R[:, len(K) :]], axis=1) / unit
    lengths = np.linalg.norm(M[:, width:], axis=0)
    M[:, width:] /= np.where(lengths > 0.0, lengths, 1.0)
    target = (system.z - system.R[:, : len(K)] @ (K @ prior.ravel())) / unit
    P = M.T @ M + np.diag(np.concatenate([np.full(width, WEAK**-2), np.full(others, 1e-12)]))
    root = np.sqrt(2.0)
    factor = np.array([1.0 if i == j else root for i, j in UPPER])
    rows, columns = [i for i, _ in UPPER], [j for _, j in UPPER]
    start = (_scaled(pseudo_inertia(prior), prior) - MARGIN * np.eye(4))[:, rows, columns] * factor
    G = np.zeros((bodies, len(UPPER), width + others))
    for b in range(bodies):
        for p in range(10):
            one = np.zeros((bodies, 10))
            one[b, p] = sizes[b, p]
            G[b, :, 10 * b + p] = _scaled(pseudo_inertia(one), prior)[b][rows, columns] * factor
    solution = _solved(clarabel, sparse, P, -M.T @ target, -G.reshape(-1, width + others), start.ravel(), bodies)
    friction = solution[width:] / np.where(lengths > 0.0, lengths, 1.0)
    return prior + sizes * solution[:width].reshape(bodies, 10), friction


def _solved(clarabel: Any, sparse: Any, P: Array, q: Array, A: Array, b: Array, bodies: int) -> Array:
    """The x that minimises x . P x / 2 + q . x with b - A x in a product of cones of positive semidefinite 4x4 matrices."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    scale = float(np.abs(np.diag(P)).max())
    cones = [clarabel.PSDTriangleConeT(4)] * bodies
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(P) / scale), q / scale, sparse.csc_matrix(A), b, cones, settings)
    found = solver.solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise NotSolvedError(f"no physical parameters were found: the solver stopped with {found.status} after {found.iterations} steps")
    return np.asarray(found.x)
