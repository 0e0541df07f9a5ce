"""Forces of yielding soil on wheels above any wall, compiled: the law of soil.py, which says what is integrated, wheel by wheel.

A wheel is cut across its axle into thin discs, at the nodes of Gauss's rule over its width. The ground under a disc is the plane that
touches the wall below the disc's middle; the disc sinks in as far as that plane cuts it, so that a wheel that leans presses with its lower
edge. Pressure acts towards the axle, shear along the tread and along the axle. A wall's curvature within the contact is left out, and so
the grid of a height field should be no finer than the contact is long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from urdf_gibbs.contact.kinematics import Tree
from urdf_gibbs.contact.surfaces import Surfaces, gap_motion, wall_path
from urdf_gibbs.engine.jit import entry, jit
from urdf_gibbs.engine.struct import Float1, Float2, Int1, Struct, struct

Array = Any

REST = 0.01  # m/s: slower, stresses fall in proportion to the speeds, so that they have no jump at rest
TURNS = 4  # of the search for the point of the wall below a disc
FLAT = 1e-3  # sine of the angle between axle and normal: a disc that lies flatter than this has no tread on the ground
# Columns of SoilWheels.out: force (3) and moment about the middle (3) in world axes, deepest sinkage [m], mean slip, load [N]; up from the
# ground in the plane of the wheel (3); and how fast forces grow with the velocity of the tread and with that of sinking [N s/m].
FORCE, MOMENT, SINKAGE, SLIP, LOAD, UP, DRAG, PRESS, OUT = 0, 3, 6, 7, 8, 9, 12, 13, 14


@struct
class SoilWheels(Struct):
    """n wheels, the soil, where they are and how they move in world axes, and what comes out."""

    surfaces: Surfaces
    t: Float1  # (1,)
    body: Int1  # (n,) that carries the wheel
    place: Float2  # (n, 3) of its middle [m], and its axle (a unit vector to the left), in the body's axes
    axis: Float2  # (n, 3)
    size: Float2  # (n, 2): radius and width [m]
    soil: Float1  # (9,): n, kc, kphi, c, tan φ, K, a0, a1, damping
    nodes: Float1  # of Gauss's rule on (-1, 1) along an arc, and its weights
    weights: Float1
    sides: Float1  # of Gauss's rule on (-1, 1) across the width, and its weights, of which the sum is 1
    shares: Float1
    middle: Float2  # (n, 3) [m]
    axle: Float2  # (n, 3)
    velocity: Float2  # (n, 3) of the middle [m/s]
    turn: Float2  # (n, 3) angular velocity [rad/s]
    out: Float2  # (n, OUT)
    tau: Float1  # (nv,) generalised forces of all wheels [N m, N]
    rows: Float2  # (3 n, nv) of soil_brakes.py
    brake: Float1  # (3 n,)


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
    """out (6,) += the integrals of soil.py over θ from low to high, then those of τ/j times what a slip of u makes j, and of cos θ.

    speeds (6,): v, Rω, across, u, damped pressure, and the way that the wheel goes, from -1 to 1.
    """
    p, half = w.soil, 0.5 * (high - low)
    stiff = p[1] / width + p[2]
    v, tread, across, u = speeds[0], speeds[1], speeds[2], speeds[3]
    drag = max(-1.0, min(1.0, v / REST))
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
        out[0] += weight * (sigma * cosine + speeds[5] * tau * jx * sine)
        out[1] += weight * (tau * jx * cosine - sigma * sine * drag)
        out[2] -= weight * tau * jy
        out[3] += weight * tau * jx
        out[4] += weight * tau * past * radius
        out[5] += weight * cosine


@jit
def disc_speeds(w: Any, k: int, i: int, side: float, frame: Array, speeds: Array) -> None:
    """speeds (6,) of a disc as in ``arc``, its middle being ``side`` [m] along the axle of wheel k, on surface i.

    frame (3, 3): up from the ground in the plane of the disc, along, and the axle.
    """
    d = wall_path(w.surfaces, i, w.t[0])
    turn, axle, sinks, v, across = w.turn[k], frame[2], 0.0, 0.0, 0.0
    for m in range(3):
        n, p = (m + 1) % 3, (m + 2) % 3
        u = w.velocity[k, m] + side * (turn[n] * axle[p] - turn[p] * axle[n]) - d[m]
        sinks -= u * frame[0, m]
        v += u * frame[1, m]
        across += u * axle[m]
    tread = w.size[k, 0] * (turn[0] * axle[0] + turn[1] * axle[1] + turn[2] * axle[2])
    u = max(abs(tread), abs(v), REST)
    speeds[0], speeds[1], speeds[2], speeds[3] = v, tread, across, u
    speeds[4], speeds[5] = w.soil[8] * max(0.0, sinks), max(-1.0, min(1.0, (tread + v) / u))


@jit
def add_disc(w: Any, k: int, i: int, number: int, frame: Array, sinkage: float) -> None:
    """Row k of w.out += what surface i does to a disc that has sunk in; frame (3, 3) as in ``disc_speeds``."""
    radius, width, out, sums, speeds = w.size[k, 0], w.size[k, 1], w.out[k], np.zeros(6), np.empty(6)
    side = 0.5 * width * w.sides[number]
    disc_speeds(w, k, i, side, frame, speeds)
    slip = max(-1.0, min(1.0, speeds[5] * (speeds[1] - speeds[0]) / speeds[3]))
    theta1 = math.acos(1.0 - sinkage / radius)
    largest = max(0.01, min(0.99, w.soil[6] + w.soil[7] * slip)) * theta1
    arc(w, radius, width, largest, theta1, theta1, largest, speeds, sums)
    arc(w, radius, width, 0.0, largest, theta1, largest, speeds, sums)
    patch = w.shares[number] * width * radius
    load, pull, across, force = max(0.0, patch * sums[0]), patch * sums[1], patch * sums[2], np.empty(3)
    for m in range(3):
        force[m] = load * frame[0, m] + pull * frame[1, m] + across * frame[2, m]
    for m in range(3):
        n, p = (m + 1) % 3, (m + 2) % 3
        out[FORCE + m] += force[m]
        # About the axle; by the place of the disc; and the force across acts at the tread.
        out[MOMENT + m] -= patch * radius * sums[3] * frame[2, m]
        out[MOMENT + m] += side * (frame[2, n] * force[p] - frame[2, p] * force[n]) + radius * across * frame[1, m]
        out[UP + m] += load * frame[0, m]
    out[SINKAGE] = max(out[SINKAGE], sinkage)
    out[DRAG] += patch * sums[4] / speeds[3]
    out[PRESS] += patch * sums[5] * w.soil[8] if speeds[4] > 0.0 else 0.0
    out[SLIP] += load * slip
    out[LOAD] += load


@jit
def add_surface(w: Any, k: int, i: int) -> None:
    """Row k of w.out += what surface i does to wheel k, disc by disc."""
    normal, middle, frame, axle = np.empty(3), np.empty(3), np.empty((3, 3)), w.axle[k]
    for number in range(w.sides.shape[0]):
        for m in range(3):
            middle[m] = w.middle[k, m] + 0.5 * w.size[k, 1] * w.sides[number] * axle[m]
        distance = ground_below(w.surfaces, i, w.t[0], middle, normal)
        lean = normal[0] * axle[0] + normal[1] * axle[1] + normal[2] * axle[2]
        upright = math.sqrt(max(0.0, 1.0 - lean * lean))
        if not distance < w.size[k, 0] * upright or upright < FLAT:
            continue
        for m in range(3):
            frame[0, m], frame[2, m] = (normal[m] - lean * axle[m]) / upright, axle[m]
        for m in range(3):
            n, p = (m + 1) % 3, (m + 2) % 3
            frame[1, m] = axle[n] * frame[0, p] - axle[p] * frame[0, n]
        add_disc(w, k, i, number, frame, min(w.size[k, 0] - distance / upright, w.size[k, 0]))


@entry(SoilWheels, part="soil")
def soil_forces(w: SoilWheels) -> int:
    """Compute ``out`` of the wheels, on all surfaces together."""
    for k in range(w.middle.shape[0]):
        for m in range(OUT):
            w.out[k, m] = 0.0
        for i in range(w.surfaces.kind.shape[0]):
            add_surface(w, k, i)
        if w.out[k, LOAD] > 0.0:
            w.out[k, SLIP] /= w.out[k, LOAD]
    return 0


# in the motion of a robot -----------------------------------------------------------------------------------


@jit
def move_wheels(w: SoilWheels, T: Array, V: Array) -> None:
    """Where the wheels are and how they move, by the placements T (nb, 12) and twists V (nb, 6) of the bodies (kinematics.py)."""
    for k in range(w.body.shape[0]):
        body = w.body[k]
        for m in range(3):
            R = T[body, 3 * m : 3 * m + 3]
            w.middle[k, m] = R[0] * w.place[k, 0] + R[1] * w.place[k, 1] + R[2] * w.place[k, 2] + T[body, 9 + m]
            w.axle[k, m] = R[0] * w.axis[k, 0] + R[1] * w.axis[k, 1] + R[2] * w.axis[k, 2]
            w.turn[k, m] = V[body, m]
        for m in range(3):
            n, p = (m + 1) % 3, (m + 2) % 3
            w.velocity[k, m] = V[body, 3 + m] + V[body, n] * w.middle[k, p] - V[body, p] * w.middle[k, n]


@jit
def add_wrenches(w: SoilWheels, tree: Tree, S: Array) -> None:
    """w.tau += the forces and moments of the wheels by the columns S (nc, 6) of the robot in world axes (kinematics.py)."""
    for k in range(w.body.shape[0]):
        f, x = w.out[k], w.middle[k]
        a = f[MOMENT] + x[1] * f[2] - x[2] * f[1]
        b = f[MOMENT + 1] + x[2] * f[0] - x[0] * f[2]
        c = f[MOMENT + 2] + x[0] * f[1] - x[1] * f[0]
        body = w.body[k]
        while body >= 0:
            for j in range(tree.start[body], tree.start[body + 1]):
                value = S[j, 0] * a + S[j, 1] * b + S[j, 2] * c + S[j, 3] * f[0] + S[j, 4] * f[1] + S[j, 5] * f[2]
                w.tau[tree.iv[j]] += tree.ratio[j] * value
            body = tree.parent[body]
