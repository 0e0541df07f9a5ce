"""The motion of a time step without its contacts: on the manifold with a constant velocity, and the velocity at the end. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.complementarity import copy
from urdf_gibbs.contact.kinematics import Tree, factorise, normalise, solve_factorised
from urdf_gibbs.contact.soil_brakes import add_braked, add_brakes, brake_rows
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.simulation.layout import NOT_FINITE, OK, SINGULAR, System
from urdf_gibbs.simulation.rows import bias_force, mass_matrix, soil_torques

Array = Any


# on the manifold --------------------------------------------------------------------------------------


@jit
def turn(q: Array, k: int, x: float, y: float, z: float) -> None:
    """The unit quaternion q[k : k + 4] turned by the rotation vector (x, y, z) in the body's axes."""
    angle = np.sqrt(x * x + y * y + z * z)
    s = np.sin(0.5 * angle) / angle if angle > 1e-4 else 0.5 - angle * angle / 48.0
    c, x, y, z = np.cos(0.5 * angle), s * x, s * y, s * z
    a, b, d, w = q[k], q[k + 1], q[k + 2], q[k + 3]
    q[k] = w * x + a * c + b * z - d * y
    q[k + 1] = w * y - a * z + b * c + d * x
    q[k + 2] = w * z + a * y - b * x + d * c
    q[k + 3] = w * c - a * x - b * y - d * z


@jit
def rotate(q: Array, k: int, sign: float, v: Array, j: int) -> None:
    """v[j : j + 3] turned by the quaternion q[k : k + 4], or with the sign -1 turned back."""
    x, y, z, w = sign * q[k], sign * q[k + 1], sign * q[k + 2], q[k + 3]
    a, b, c = v[j], v[j + 1], v[j + 2]
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    v[j] = a + w * tx + y * tz - z * ty
    v[j + 1] = b + w * ty + z * tx - x * tz
    v[j + 2] = c + w * tz + x * ty - y * tx


@jit
def move(tree: Tree, q: Array, v: Array, h: float) -> None:
    """q (nq,) moves on for h seconds, and v (nv,) comes along: linear velocities stay the same in the axes of the body above."""
    for i in range(tree.single.shape[0]):
        q[tree.single[i, 0]] += h * v[tree.single[i, 1]]
    for i in range(tree.planar.shape[0]):
        k, j = tree.planar[i, 0], tree.planar[i, 1]
        c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
        x, y = c * v[j] - s * v[j + 1], s * v[j] + c * v[j + 1]
        q[k] += h * x
        q[k + 1] += h * y
        q[k + 2] += h * v[j + 2]
        c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
        v[j], v[j + 1] = c * x + s * y, c * y - s * x
    for i in range(tree.floating.shape[0]):
        k, j = tree.floating[i, 0], tree.floating[i, 1]
        rotate(q, k + 3, 1.0, v, j)
        for m in range(3):
            q[k + m] += h * v[j + m]
        turn(q, k + 3, h * v[j + 3], h * v[j + 4], h * v[j + 5])
        rotate(q, k + 3, -1.0, v, j)
    normalise(tree, q)


@jit
def add_turning(tree: Tree, v: Array, a: Array) -> None:
    """a (nv,) += ω × v of the joints whose linear velocity stays the same in the axes of the body above."""
    for i in range(tree.planar.shape[0]):
        j = tree.planar[i, 1]
        a[j] -= v[j + 2] * v[j + 1]
        a[j + 1] += v[j + 2] * v[j]
    for i in range(tree.floating.shape[0]):
        j = tree.floating[i, 1]
        x, y, z = v[j], v[j + 1], v[j + 2]
        a[j] += v[j + 4] * z - v[j + 5] * y
        a[j + 1] += v[j + 5] * x - v[j + 3] * z
        a[j + 2] += v[j + 3] * y - v[j + 4] * x


# a step without contacts ------------------------------------------------------------------------------


@jit
def factorise_damped(s: System, h: float) -> int:
    """M + ½h D of s.q, factorised in s.M, with the roots of its diagonal part; D with what the soil under wheels adds."""
    status = mass_matrix(s)
    for i in range(s.damping.shape[0]):
        s.M[i, i] += 0.5 * h * s.damping[i]
    add_brakes(s.soil, 0.5 * h, s.M)
    if status != 0 or not factorise(s.tree.above, s.M):
        return SINGULAR
    for i in range(s.damping.shape[0]):
        s.stepping.root_inverse[i] = 1.0 / np.sqrt(s.M[i, i])
    return OK


@jit
def free_velocity(s: System, h: float, before: Array, free: Array) -> int:
    """free (nv,): the velocity at the end of the step without contacts; s.q, s.v are those of the middle, with the velocity before."""
    nv, a, g, w = s.v.shape[0], s.a, s.stepping, s.soil
    lag, on_soil = np.zeros(nv), w.body.shape[0] > 0
    if on_soil:
        soil_torques(s, w.t[0])
        brake_rows(w, s.tree, s.S)
    status = factorise_damped(s, h)
    if status != OK:
        return status
    for turns in range(2):  # with the velocity before, then half a step ahead
        for m in range(nv if turns == 1 else 0):
            s.v[m] = before[m] + 0.5 * h * a[m]
        bias_force(s)
        copy(s.h, g.bias[turns])
        if on_soil and turns == 1:
            soil_torques(s, w.t[0])
        for m in range(nv):
            a[m] = s.torque[m] + w.tau[m] + lag[m] - s.damping[m] * before[m] - s.h[m]
        solve_factorised(s.tree.above, s.M, a)
        if turns == 0:  # on soil the second is a step of Newton's method for M a = f(v + ½h a)
            add_braked(w, 0.5 * h, a, lag)
        add_turning(s.tree, s.v, a)
    copy(s.v, g.ahead)
    finite = True
    for m in range(nv):
        free[m] = before[m] + h * a[m]
        finite = finite and np.isfinite(free[m])
    copy(before, s.v)
    return OK if finite else NOT_FINITE


@jit
def add_motion(s: System, z: Array, out: Array) -> None:
    """out (nv,) += L⁻¹ D^-½ z, with M = Lᵀ D L in s.M: the change of velocity for z = Bᵀ p of contact/coulomb/sparse.py."""
    above, inverse, x = s.tree.above, s.stepping.root_inverse, s.h
    for i in range(x.shape[0]):
        x[i] = inverse[i] * z[i]
        j = above[i]
        while j >= 0:
            x[i] -= s.M[i, j] * x[j]
            j = above[j]
        out[i] += x[i]
