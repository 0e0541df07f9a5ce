"""Forces of yielding soil on wheels above any wall, compiled: the law of soil.py, which says what is integrated, wheel by wheel.

The ground under a wheel is taken as the plane that touches the wall below the wheel's middle: a wall's curvature within the contact, and
rims that touch elsewhere, are left out. So the grid of a height field should be no finer than the contact is long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from urdf_gibbs.contact.surfaces import Surfaces, gap_motion
from urdf_gibbs.engine.jit import entry, jit
from urdf_gibbs.engine.struct import Float1, Float2, Struct, struct

Array = Any

REST = 0.05  # m/s: slower, stresses fall in proportion to the speeds, so that they have no jump at rest
TURNS = 4  # of the search for the point of the wall below a wheel
# Columns of SoilWheels.out: force (3) and moment about the middle (3) in world axes, sinkage [m], slip, load [N].
FORCE, MOMENT, SINKAGE, SLIP, LOAD, OUT = 0, 3, 6, 7, 8, 9


@struct
class SoilWheels(Struct):
    """n wheels in world axes, the soil, and what comes out."""

    surfaces: Surfaces
    t: Float1  # (1,)
    middle: Float2  # (n, 3) [m]
    velocity: Float2  # (n, 3) [m/s], of the middle
    axle: Float2  # (n, 3), unit vectors to the left
    spin: Float1  # (n,) [rad/s] about the axle
    size: Float2  # (n, 2): radius and width [m]
    soil: Float1  # (9,): n, kc, kphi, c, tan φ, K, a0, a1, damping
    nodes: Float1  # of Gauss's rule on (-1, 1), and its weights
    weights: Float1
    out: Float2  # (n, OUT)


@jit
def ground_below(s: Any, i: int, t: float, middle: Array, normal: Array) -> float:
    """Distance of a wheel's middle (3,) from the plane that touches surface i below it, and the unit normal (3,) of that plane."""
    motion, out, foot = np.zeros(9), np.empty(6), np.empty(3)
    distance = 0.0
    for k in range(3):
        foot[k] = middle[k]
    for _ in range(TURNS):
        for k in range(3):
            motion[k] = foot[k]
        gap_motion(s, i, t, motion, 0.0, out)
        size = math.sqrt(out[3] * out[3] + out[4] * out[4] + out[5] * out[5])
        # The plane phi + grad . (x - foot) = 0: the distance of the middle from it, and the point of it below the middle.
        distance = out[0] / size
        for k in range(3):
            normal[k] = out[3 + k] / size
            distance += normal[k] * (middle[k] - foot[k])
        for k in range(3):
            foot[k] = middle[k] - distance * normal[k]
    return distance


@jit
def arc(w: Any, radius: float, width: float, low: float, high: float, theta1: float, largest: float, speeds: Array, out: Array) -> None:
    """out (4,) += the integrals of soil.py over θ from low to high; speeds (5,): v, Rω, across, u, damped pressure."""
    p, half = w.soil, 0.5 * (high - low)
    stiff = p[1] / width + p[2]
    v, tread, across, u = speeds[0], speeds[1], speeds[2], speeds[3]
    fade = min(1.0, abs(v) / REST)
    for k in range(w.nodes.shape[0]):
        theta = 0.5 * (high + low) + half * w.nodes[k]
        front = theta if theta > largest else theta1 - theta / largest * (theta1 - largest)
        depth = max(0.0, radius * (math.cos(front) - math.cos(theta1)))
        sigma = stiff * depth ** p[0] + speeds[4]
        past = theta1 - theta
        jx = (tread * past - v * (math.sin(theta1) - math.sin(theta))) * radius / u
        jy = past * radius * across / u
        j = math.sqrt(jx * jx + jy * jy)
        tau = (p[3] + sigma * p[4]) * -math.expm1(-j / p[5]) / max(j, 1e-12)
        weight, sine, cosine = half * w.weights[k], math.sin(theta), math.cos(theta)
        out[0] += weight * (sigma * cosine + tau * jx * sine)
        out[1] += weight * (tau * jx * cosine - sigma * sine * fade)
        out[2] -= weight * tau * jy
        out[3] += weight * tau * jx


@jit
def add_wheel(w: Any, k: int, normal: Array, distance: float) -> None:
    """Row k of w.out, for ground at a distance below the wheel's middle, with its unit normal (3,)."""
    radius, width, out = w.size[k, 0], w.size[k, 1], w.out[k]
    sinkage = min(radius - distance, radius)
    a, u = w.axle[k], w.velocity[k]
    along, side, sums, speeds = np.empty(3), np.empty(3), np.zeros(4), np.empty(5)
    along[0] = a[1] * normal[2] - a[2] * normal[1]
    along[1] = a[2] * normal[0] - a[0] * normal[2]
    along[2] = a[0] * normal[1] - a[1] * normal[0]
    size = math.sqrt(along[0] ** 2 + along[1] ** 2 + along[2] ** 2)
    if size < 1e-6:
        return  # it lies on its side
    for m in range(3):
        along[m] /= size
    side[0] = normal[1] * along[2] - normal[2] * along[1]
    side[1] = normal[2] * along[0] - normal[0] * along[2]
    side[2] = normal[0] * along[1] - normal[1] * along[0]
    tread, v = radius * w.spin[k], u[0] * along[0] + u[1] * along[1] + u[2] * along[2]
    faster = max(abs(tread), abs(v))
    way = -1.0 if (tread if abs(tread) > abs(v) else v) < 0.0 else 1.0
    speeds[0], speeds[1], speeds[2], speeds[3] = way * v, way * tread, u[0] * side[0] + u[1] * side[1] + u[2] * side[2], max(faster, REST)
    speeds[4] = w.soil[8] * max(0.0, -(u[0] * normal[0] + u[1] * normal[1] + u[2] * normal[2]))
    slip = max(-1.0, min(1.0, way * (tread - v) / speeds[3]))
    theta1 = math.acos(1.0 - sinkage / radius)
    largest = max(0.01, min(0.99, w.soil[6] + w.soil[7] * slip)) * theta1
    arc(w, radius, width, largest, theta1, theta1, largest, speeds, sums)
    arc(w, radius, width, 0.0, largest, theta1, largest, speeds, sums)
    patch = width * radius
    load = max(0.0, patch * sums[0])
    for m in range(3):
        out[FORCE + m] += load * normal[m] + way * patch * sums[1] * along[m] + patch * sums[2] * side[m]
        # About the axle, and the force across acts at the tread.
        out[MOMENT + m] -= way * patch * radius * sums[3] * a[m]
        out[MOMENT + m] += radius * patch * sums[2] * along[m]
    out[SINKAGE], out[SLIP], out[LOAD] = sinkage, slip, out[LOAD] + load


@entry(SoilWheels, part="soil")
def soil_forces(w: SoilWheels) -> int:
    """Compute ``out`` of the wheels, on all surfaces together."""
    normal, middle = np.empty(3), np.empty(3)
    for k in range(w.middle.shape[0]):
        for m in range(OUT):
            w.out[k, m] = 0.0
        for m in range(3):
            middle[m] = w.middle[k, m]
        for i in range(w.surfaces.kind.shape[0]):
            distance = ground_below(w.surfaces, i, w.t[0], middle, normal)
            if distance < w.size[k, 0]:
                add_wheel(w, k, normal, distance)
    return 0
