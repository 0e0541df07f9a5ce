"""The elastic joint, from a beam's root to its tip: its motion, its columns and its inertia at given amplitudes, over any scalar.

All vectors are in the axes of the body that holds the root. With theta = sum_j delta_j theta_j(L) the tip turns by exp(theta), exactly;
its angular velocity is T(theta) theta', T = 1 + b theta~ + c theta~ theta~, with b = (1 - cos|theta|)/|theta|^2 and
c = (|theta| - sin|theta|)/|theta|^3. Where all theta_j are parallel, as in the plane, T theta' = theta' and the rotation is about one axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import factorial
from typing import NamedTuple

import numpy as np

from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, cos, mul, scale, sin
from urdf_gibbs.flexible.beam import Array, Beam

TERMS, DOUBLINGS = 12, 4  # of the series in |theta / 2^4|^2, and back to theta: exact to round-off up to six turns


class Tip(NamedTuple):
    """The tip against the root: ``turn`` its rotation, ``shift`` its displacement, and for each coordinate the angular and linear
    velocity that a unit rate gives it; ``turning`` and ``shifting`` are the accelerations that rates alone make."""

    turn: Matrix
    shift: Vector
    angular: list[Vector]
    linear: list[Vector]
    turning: Vector
    shifting: Vector


def amplitudes(beam: Beam, delta: Scalars) -> Vector:
    """p (M): the coordinates, and with foreshortening their products."""
    return Vector([*delta, *(mul(0.5, mul(delta[j], delta[j])) if j == k else mul(delta[j], delta[k]) for j, k in beam.pairs)])


def slopes(beam: Beam, delta: Scalars) -> Matrix:
    """P (M x m), dp/d delta."""
    P = Matrix([[1.0 if i == j else 0.0 for j in range(beam.m)] for i in range(beam.m)])
    for j, k in beam.pairs:
        row: list[Scalar] = [0.0] * beam.m
        row[j] = delta[k]
        row[k] = delta[j] if j != k else delta[k]
        P.append(row)
    return P


def bends(beam: Beam, rate: Scalars) -> Vector:
    """(dP/dt) delta' (M): what rates alone contribute to p''."""
    squares = (mul(rate[j], rate[j]) if j == k else mul(2.0, mul(rate[j], rate[k])) for j, k in beam.pairs)
    return Vector([*[0.0] * beam.m, *squares])


def mixed(factors: Iterable[Scalar], vectors: Iterable[list[Scalar]]) -> Vector:
    """sum_a factors_a vectors_a."""
    total = Vector.zeros(3)
    for factor, vector in zip(factors, vectors, strict=True):
        total += scale(factor, vector)
    return total


def combined(factors: Iterable[Scalar], vectors: Array) -> Vector:
    """The same for constant vectors."""
    return mixed(factors, vectors.tolist())


def projected(P: Matrix, vectors: Sequence[list[Scalar]]) -> list[Vector]:
    """sum_a P_aj vectors_a for each j."""
    return [mixed(P.column(j), vectors) for j in range(len(P[0]) if P else 0)]


def tip_of(beam: Beam, delta: Scalars, rate: Scalars | None = None) -> Tip:
    """The tip at the coordinates delta (m) and their rates."""
    P = slopes(beam, delta)
    shift = combined(amplitudes(beam, delta), beam.tip)
    linear = projected(P, beam.tip.tolist())
    rates = [0.0] * beam.m if rate is None else rate
    shifting = combined(bends(beam, rates), beam.tip)
    turns = beam.tip_rotation
    theta, spin = combined(delta, turns), combined(rates, turns)
    if np.linalg.matrix_rank(turns, tol=1e-14 * max(1.0, float(np.abs(turns).max(initial=0.0)))) < 2:
        return Tip(_about_one_axis(beam, delta), shift, [Vector(own) for own in turns.tolist()], linear, Vector.zeros(3), shifting)
    a, b, c, b_slope, c_slope = _rodrigues(theta @ theta)
    twice = theta.tilde @ theta.tilde
    turn = Matrix.identity(3) + a * theta.tilde + b * twice
    T = Matrix.identity(3) + b * theta.tilde + c * twice
    angular = [T @ Vector(own) for own in turns.tolist()]
    # d/dt of T theta' at constant theta': b' theta x theta' + c' theta x (theta x theta') + c theta' x (theta x theta')
    growth = mul(2.0, theta @ spin)
    across = theta.cross(spin)
    turning = mul(growth, b_slope) * across + mul(growth, c_slope) * theta.cross(across) + c * spin.cross(across)
    return Tip(turn, shift, angular, linear, turning, shifting)


def _about_one_axis(beam: Beam, delta: Scalars) -> Matrix:
    """exp(theta) where all theta_j lie on one axis."""
    sizes = np.linalg.norm(beam.tip_rotation, axis=1)
    if not sizes.any():
        return Matrix.identity(3)
    axis = beam.tip_rotation[int(np.argmax(sizes))] / sizes.max()
    angle: Scalar = 0.0
    for factor, own in zip(delta, (beam.tip_rotation @ axis).tolist(), strict=True):
        angle = add(angle, mul(factor, own))
    s, c = sin(angle), cos(angle)
    outer = np.outer(axis, axis)
    turn = Matrix.zeros(3, 3)
    tilde = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    for i in range(3):
        for j in range(3):
            rest = float((i == j) - outer[i, j])
            turn[i][j] = add(add(float(outer[i, j]), mul(c, rest)), mul(s, float(tilde[i, j])))
    return turn


def _rodrigues(square: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
    """a = sin/|theta|, b = (1 - cos)/|theta|^2, c = (|theta| - sin)/|theta|^3, and db/dx, dc/dx, of x = |theta|^2.

    From series at a small part of the angle, which is then doubled: the series alone fail beyond one turn, which torsion may exceed.
    """
    x = mul(0.25**DOUBLINGS, square)
    b, c, b_slope, c_slope = _series(x, 2), _series(x, 3), _series_slope(x, 2), _series_slope(x, 3)
    a: Scalar = 1.0 - mul(x, c)
    for k in range(DOUBLINGS):
        cosine = 1.0 - mul(x, b)
        # d cosine / dx = -a / 2, da / dx = (c - b) / 2; no difference of numbers that are nearly the same
        c_slope = mul(0.0625, add(add(mul(c_slope, cosine), mul(-0.5, mul(c, a))), b_slope))
        b_slope = mul(0.125, mul(a, c - b))
        c = mul(0.25, add(mul(c, cosine), b))
        a, b = mul(a, cosine), mul(0.5, mul(a, a))
        x = mul(0.25 ** (DOUBLINGS - 1 - k), square)
    return a, b, c, b_slope, c_slope


def _series(square: Scalar, first: int) -> Scalar:
    """sum_k (-1)^k x^k / (2k + first)!, x = |theta|^2: sin/|theta|, (1 - cos)/|theta|^2, (|theta| - sin)/|theta|^3 for first = 1, 2, 3."""
    total: Scalar = 0.0
    for k in range(TERMS - 1, -1, -1):
        total = add(mul(square, total), (-1.0) ** k / factorial(2 * k + first))
    return total


def _series_slope(square: Scalar, first: int) -> Scalar:
    """The derivative of the series with respect to x."""
    total: Scalar = 0.0
    for k in range(TERMS - 1, 0, -1):
        total = add(mul(square, total), (-1.0) ** k * k / factorial(2 * k + first))
    return total


# the beam's own inertia --------------------------------------------------------------------------------


class Inertia(NamedTuple):
    """Integrals over the beam at given amplitudes: ``moment`` of mu rho (B3 is its skew matrix), ``inertia`` about the body's origin
    (B9 + B10), and for each coordinate the linear and angular momentum of a unit rate (C1, alpha) and their kinetic coupling (C3)."""

    moment: Vector
    inertia: Matrix
    linear: list[Vector]
    angular: list[Vector]
    coupling: Matrix


def inertia_of(beam: Beam, delta: Scalars) -> Inertia:
    """Eqs. 6-26 at the coordinates delta, with the momenta projected on them."""
    p, P = amplitudes(beam, delta), slopes(beam, delta)
    moment, inertia = moments_of(beam, p)
    alphas = [vex_of(beam, p, a) for a in range(len(p))]
    angular = [x + spin for x, spin in zip(projected(P, alphas), beam.spin.tolist(), strict=True)]
    C3 = np.trace(beam.G, axis1=2, axis2=3).tolist()
    coupling = Matrix(beam.spins.tolist())
    for j in range(beam.m):
        for k in range(beam.m):
            for a in range(len(p)):
                for b in range(len(p)):
                    coupling[j][k] = add(coupling[j][k], mul(mul(P[a][j], P[b][k]), C3[a][b]))
    return Inertia(moment, inertia, projected(P, beam.C1.tolist()), angular, coupling)


def moments_of(beam: Beam, p: Vector) -> tuple[Vector, Matrix]:
    """``moment`` and ``inertia`` at the amplitudes p."""
    moment = Vector(beam.first.tolist()) + combined(p, beam.C1)
    second = second_moment(beam, p)
    rotary = beam.rotary.tolist()
    inertia = Matrix.zeros(3, 3)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        inertia[i][i] = add(add(second[j][j], second[k][k]), rotary[i][i])
        inertia[i][j] = inertia[j][i] = add(_minus(second[i][j]), rotary[i][j])
    return moment, inertia


def second_moment(beam: Beam, p: Vector) -> Matrix:
    """Integral of mu rho rho^T, symmetric: each entry is made once."""
    total = Matrix(beam.second.tolist())
    terms = [(factor, beam.G0[a] + beam.G0[a].T) for a, factor in enumerate(p)]
    for a, one in enumerate(p):
        for b in range(a + 1):
            both = beam.G[a, b] + (beam.G[b, a] if a != b else 0.0)
            if both.any():
                terms.append((mul(one, p[b]), both))
    for factor, matrix in terms:
        for i in range(3):
            for j in range(i + 1):
                total[i][j] = total[j][i] = add(total[i][j], mul(factor, matrix[i, j].item()))
    return total


def vex_of(beam: Beam, p: Vector, a: int) -> Vector:
    """alpha_a: integral of mu rho x phi_a (Eq. 25)."""
    total = vex(beam.G0[a])
    for b, factor in enumerate(p):
        total += factor * vex(beam.G[b, a])
    return total


def vex(product: Array) -> Vector:
    """x cross y of the outer product x y^T."""
    return Vector([float(product[1, 2] - product[2, 1]), float(product[2, 0] - product[0, 2]), float(product[0, 1] - product[1, 0])])


def _minus(x: Scalar) -> Scalar:
    return -x if type(x) is not float or x != 0.0 else 0.0
