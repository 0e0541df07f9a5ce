"""Gaps, their derivatives and their rows of the Jacobian, for points on walls, pairs of points and joint limits. Compiled.

The bodies' placements come from the robot's machine code. Velocity and acceleration of a contact point and its normal row (S18, Eq. 43)
follow from the joints' screws in world axes: a column is constant in its body's frame, so its rate is the cross product of the body's
twist with it. The columns of elastic joints change with their coordinates and come from the robot's code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.contact.capsules import capsule_gap, to_nearest
from urdf_gibbs.contact.rims import rim_gap, rim_motion
from urdf_gibbs.contact.surfaces import gap_motion, gap_value
from urdf_gibbs.engine.jit import jit
from urdf_gibbs.engine.struct import Float1, Float2, Int1, Int2, Struct, struct
from urdf_gibbs.robot.model import Robot

Array = Any  # numba sees float64 and int64 arrays

WALL, PAIR, LIMIT, DRY = range(4)


@struct
class Tree(Struct):
    """The bodies and their columns: column j belongs to body i for start[i] <= j < start[i + 1]."""

    parent: Int1  # (nb,) body above, -1: the world
    start: Int1  # (nb + 1,)
    turns: Int1  # (nc,) 1: rotation about, 0: translation along the axis, 2: of an elastic joint
    bends: Int1  # (nb,) where the columns of an elastic joint begin in System.E, -1: it has none
    axis: Float2  # (nc, 3) in the body's frame
    iv: Int1  # (nc,) entry of v
    ratio: Float1  # (nc,) of a mimic joint
    single: Int2  # (ns, 2) iq, iv of joints with one coordinate
    planar: Int2  # (np, 2) iq, iv
    floating: Int2  # (nf, 2) iq, iv
    above: Int1  # (nv,) the next velocity towards the root that M couples with, -1 at the root


@struct
class Contacts(Struct):
    """The contact candidates, one row each."""

    kind: Int1  # (n,) WALL, PAIR, LIMIT; DRY: not a contact, but the dry friction of a joint, after all others
    surface: Int1  # (n,) of a wall
    body: Int2  # (n, 2) bodies of the point, or of the two points
    place: Float2  # (n, 6) positions in their frames [m]
    radius: Float1  # (n,) radius of the point, contact distance of a pair, 0 for a limit [m]
    index: Int2  # (n, 2) iq and iv of a limit, or of dry friction
    limit: Float2  # (n, 2) of a limit: gap = limit[0] q + limit[1]
    restitution: Float1  # (n,)
    friction: Float2  # (n, 2) coefficients of friction at rest and in motion
    share: Float1  # (n,) how far from the first centre the contact is [m]
    reach: Float1  # (n,) the largest force of dry friction [N, N m]
    rim: Float2  # (n, 4) axis of a rim in its body's frame and its radius [m], 0: none; its centre is the place
    half: Float2  # (n, 6) halves of the segments of two capsules in their bodies' frames [m], about the places; 0: spheres


def tree_of(robot: Robot) -> Tree:
    """The robot's tree as arrays for compiled code."""
    columns = [(i, kind, axis, joint, k) for i, joint in enumerate(robot.joints) for k, (kind, axis) in enumerate(joint.columns)]
    free = [joint for joint in robot.joints if not joint.is_mimic]

    def places(*types: str) -> Array:
        own = [joint for joint in free if joint.type in types]
        parts = [(joint.iq + k, joint.iv + k) for joint in own for k in range(joint.nv if joint.type == "elastic" else 1)]
        return np.array(parts, dtype=np.int64).reshape(-1, 2)

    return Tree(
        parent=np.array(robot.parent, dtype=np.int64),
        start=np.cumsum([0, *(joint.nv for joint in robot.joints)]).astype(np.int64),
        turns=np.array([{"P": 0, "R": 1, "E": 2}[kind] for _, kind, *_ in columns], dtype=np.int64),
        bends=_elastic_places(robot),
        axis=np.array([axis for _, _, axis, *_ in columns], dtype=np.float64).reshape(-1, 3),
        iv=np.array([joint.iv + k for *_, joint, k in columns], dtype=np.int64),
        ratio=np.array([joint.ratio for *_, joint, _ in columns], dtype=np.float64),
        single=places("revolute", "continuous", "prismatic", "elastic"),
        planar=places("planar"),
        floating=places("floating"),
        above=_coupled(robot),
    )


def _elastic_places(robot: Robot) -> Array:
    """Where each elastic joint begins in System.E: six numbers for each column, then six velocity-product terms (kernel "elastic")."""
    places, at = np.full(len(robot.joints), -1, dtype=np.int64), 0
    for i, joint in enumerate(robot.joints):
        if joint.beam is not None:
            places[i], at = at, at + 6 * (joint.nv + 1)
    return places


def _coupled(robot: Robot) -> Array:
    above = np.arange(-1, robot.nv - 1, dtype=np.int64)  # as in a chain, which is always correct
    if not any(joint.is_mimic for joint in robot.joints):
        for i, joint in enumerate(robot.joints):
            parent = robot.parent[i]
            above[joint.iv] = robot.joints[parent].iv + robot.joints[parent].nv - 1 if parent >= 0 else -1
    return above


# the manifold ----------------------------------------------------------------------------------------


@jit
def velocity_to_rate(tree: Tree, q: Array, v: Array, rate: Array) -> None:
    """dq/dt (nq,) of a velocity v (nv,)."""
    for i in range(tree.single.shape[0]):
        rate[tree.single[i, 0]] = v[tree.single[i, 1]]
    for i in range(tree.planar.shape[0]):
        k, j = tree.planar[i, 0], tree.planar[i, 1]
        c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
        rate[k] = c * v[j] - s * v[j + 1]
        rate[k + 1] = s * v[j] + c * v[j + 1]
        rate[k + 2] = v[j + 2]
    for i in range(tree.floating.shape[0]):
        k, j = tree.floating[i, 0], tree.floating[i, 1]
        x, y, z, w = q[k + 3], q[k + 4], q[k + 5], q[k + 6]
        vx, vy, vz = v[j], v[j + 1], v[j + 2]
        tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
        rate[k] = vx + w * tx + y * tz - z * ty
        rate[k + 1] = vy + w * ty + z * tx - x * tz
        rate[k + 2] = vz + w * tz + x * ty - y * tx
        wx, wy, wz = v[j + 3], v[j + 4], v[j + 5]
        rate[k + 3] = 0.5 * (w * wx + y * wz - z * wy)
        rate[k + 4] = 0.5 * (w * wy + z * wx - x * wz)
        rate[k + 5] = 0.5 * (w * wz + x * wy - y * wx)
        rate[k + 6] = -0.5 * (x * wx + y * wy + z * wz)


@jit
def normalise(tree: Tree, q: Array) -> None:
    """Normalise the quaternions of q in place."""
    for i in range(tree.floating.shape[0]):
        k = tree.floating[i, 0] + 3
        size = np.sqrt(q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3])
        for j in range(k, k + 4):
            q[j] /= size


# bodies and points -----------------------------------------------------------------------------------


@jit
def screws(s: Any) -> None:
    """s.S (nc, 6): the columns in world axes, angular first, linear at the world's origin; s.T (nb, 12) holds rows of R, then p."""
    T, S, axis, start, turns, bends, E = s.T, s.S, s.tree.axis, s.tree.start, s.tree.turns, s.tree.bends, s.E
    for i in range(T.shape[0]):
        px, py, pz = T[i, 9], T[i, 10], T[i, 11]
        for j in range(start[i], start[i + 1]):
            if turns[j] == 2:
                for k in range(6):
                    S[j, k] = E[bends[i] + 6 * (j - start[i]) + k]
                continue
            a, b, c = axis[j, 0], axis[j, 1], axis[j, 2]
            x = T[i, 0] * a + T[i, 1] * b + T[i, 2] * c
            y = T[i, 3] * a + T[i, 4] * b + T[i, 5] * c
            z = T[i, 6] * a + T[i, 7] * b + T[i, 8] * c
            if turns[j] == 1:
                S[j, 0], S[j, 1], S[j, 2] = x, y, z
                S[j, 3], S[j, 4], S[j, 5] = py * z - pz * y, pz * x - px * z, px * y - py * x
            else:
                S[j, 0], S[j, 1], S[j, 2] = 0.0, 0.0, 0.0
                S[j, 3], S[j, 4], S[j, 5] = x, y, z


@jit
def twists(s: Any) -> None:
    """s.V, s.A (nb, 6): twist of each body and its rate, in world axes at the world's origin, for s.v and accelerations s.b."""
    S, V, A, v, b = s.S, s.V, s.A, s.v, s.b
    parent, start, iv, ratio, bends, E = s.tree.parent, s.tree.start, s.tree.iv, s.tree.ratio, s.tree.bends, s.E
    for i in range(V.shape[0]):
        above = parent[i]
        for k in range(6):
            V[i, k] = V[above, k] if above >= 0 else 0.0
            A[i, k] = A[above, k] if above >= 0 else 0.0
        for j in range(start[i], start[i + 1]):
            speed, accel = ratio[j] * v[iv[j]], ratio[j] * b[iv[j]]
            for k in range(6):
                V[i, k] += S[j, k] * speed
                A[i, k] += S[j, k] * accel
        wx, wy, wz, ux, uy, uz = V[i, 0], V[i, 1], V[i, 2], V[i, 3], V[i, 4], V[i, 5]
        if bends[i] >= 0:  # its columns are relative to the parent; E holds the terms from their change
            for k in range(6):
                A[i, k] += E[bends[i] + 6 * (start[i + 1] - start[i]) + k]
            wx, wy, wz, ux, uy, uz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            if above >= 0:
                wx, wy, wz, ux, uy, uz = V[above, 0], V[above, 1], V[above, 2], V[above, 3], V[above, 4], V[above, 5]
        for j in range(start[i], start[i + 1]):
            speed = ratio[j] * v[iv[j]]
            sx, sy, sz, tx, ty, tz = S[j, 0], S[j, 1], S[j, 2], S[j, 3], S[j, 4], S[j, 5]
            A[i, 0] += speed * (wy * sz - wz * sy)
            A[i, 1] += speed * (wz * sx - wx * sz)
            A[i, 2] += speed * (wx * sy - wy * sx)
            A[i, 3] += speed * (wy * tz - wz * ty + uy * sz - uz * sy)
            A[i, 4] += speed * (wz * tx - wx * tz + uz * sx - ux * sz)
            A[i, 5] += speed * (wx * ty - wy * tx + ux * sy - uy * sx)


@jit
def place(T: Array, body: int, r: Array, x: Array) -> None:
    """World position x (3,) of the point at r (3,) in the body's frame."""
    if body < 0:
        x[0], x[1], x[2] = r[0], r[1], r[2]
        return
    for k in range(3):
        x[k] = T[body, 3 * k] * r[0] + T[body, 3 * k + 1] * r[1] + T[body, 3 * k + 2] * r[2] + T[body, 9 + k]


@jit
def point_motion(s: Any, c: int, second: int) -> None:
    """Position, velocity and acceleration of the first or second point of contact c, in world axes: s.x[0:9] or s.x[9:18]."""
    x, at = s.x, 9 * second
    body = s.contacts.body[c, second]
    place(s.T, body, s.contacts.place[c, 3 * second : 3 * second + 3], x[at : at + 3])
    if body < 0:
        for k in range(at + 3, at + 9):
            x[k] = 0.0
        return
    V, A = s.V, s.A
    px, py, pz = x[at], x[at + 1], x[at + 2]
    wx, wy, wz = V[body, 0], V[body, 1], V[body, 2]
    ux, uy, uz = V[body, 3] + wy * pz - wz * py, V[body, 4] + wz * px - wx * pz, V[body, 5] + wx * py - wy * px
    bx, by, bz = A[body, 0], A[body, 1], A[body, 2]
    x[at + 3], x[at + 4], x[at + 5] = ux, uy, uz
    x[at + 6] = A[body, 3] + by * pz - bz * py + wy * uz - wz * uy
    x[at + 7] = A[body, 4] + bz * px - bx * pz + wz * ux - wx * uz
    x[at + 8] = A[body, 5] + bx * py - by * px + wx * uy - wy * ux


@jit
def add_row(tree: Tree, S: Array, body: int, x: Array, nx: float, ny: float, nz: float, row: Array) -> None:
    """row (nv,) += n . dx/dv, for the point x of the body."""
    mx, my, mz = x[1] * nz - x[2] * ny, x[2] * nx - x[0] * nz, x[0] * ny - x[1] * nx
    while body >= 0:
        for j in range(tree.start[body], tree.start[body + 1]):
            value = S[j, 0] * mx + S[j, 1] * my + S[j, 2] * mz + S[j, 3] * nx + S[j, 4] * ny + S[j, 5] * nz
            row[tree.iv[j]] += tree.ratio[j] * value
        body = tree.parent[body]


@jit
def is_capsule(contacts: Contacts, c: int) -> bool:
    """Whether a pair has a segment with a length."""
    h = contacts.half[c]
    return bool(h[0] != 0.0 or h[1] != 0.0 or h[2] != 0.0 or h[3] != 0.0 or h[4] != 0.0 or h[5] != 0.0)


# contacts of a system s (simulation/layout.py), with T, S, V, A of its bodies ------------------------------


@jit
def contact_gap(s: Any, c: int, t: float) -> float:
    """phi of contact c at s.q: smooth, positive where free, zero where it touches."""
    contacts, x = s.contacts, s.x
    kind = contacts.kind[c]
    if kind == LIMIT:
        return contacts.limit[c, 0] * s.q[contacts.index[c, 0]] + contacts.limit[c, 1]
    place(s.T, contacts.body[c, 0], contacts.place[c, :3], x[:3])
    if kind == WALL and contacts.rim[c, 3] > 0.0:
        return rim_gap(s, c, t, x[:3])
    if kind == WALL:
        return gap_value(s.surfaces, contacts.surface[c], t, x[:3], contacts.radius[c])
    place(s.T, contacts.body[c, 1], contacts.place[c, 3:], x[3:6])
    if is_capsule(contacts, c):
        return capsule_gap(s, c, x)
    reach = contacts.radius[c]
    square = (x[0] - x[3]) ** 2 + (x[1] - x[4]) ** 2 + (x[2] - x[5]) ** 2
    return (square - reach * reach) / (2.0 * reach)


@jit
def contact_motion(s: Any, c: int, t: float) -> None:
    """s.out (7,): phi, its first and second rate, |grad phi|, the unit normal, at s.q, s.v, s.b. s.x starts with the point's motion."""
    contacts, x, out = s.contacts, s.x, s.out
    kind = contacts.kind[c]
    if kind == LIMIT:
        slope, at = contacts.limit[c, 0], contacts.index[c, 1]
        out[0] = slope * s.q[contacts.index[c, 0]] + contacts.limit[c, 1]
        out[1], out[2], out[3] = slope * s.v[at], slope * s.b[at], 1.0
        out[4], out[5], out[6] = 0.0, 0.0, 0.0
        return
    if kind == DRY:  # never opens or closes
        out[0], out[1], out[2], out[3] = 1.0, 0.0, 0.0, 1.0
        return
    point_motion(s, c, 0)
    if kind == WALL and contacts.rim[c, 3] > 0.0:
        rim_motion(s, c, t)
        return
    if kind == WALL:
        wall_motion(s, c, t)
        return
    point_motion(s, c, 1)
    reach = contacts.radius[c]
    square, first, second = 0.0, 0.0, 0.0
    if is_capsule(contacts, c):
        to_nearest(s, c)
        second = x[25]
    for k in range(3):
        d, dd, ddd = x[k] - x[9 + k], x[3 + k] - x[12 + k], x[6 + k] - x[15 + k]
        square += d * d
        first += d * dd
        second += dd * dd + d * ddd
    size = np.sqrt(square)
    out[0], out[1], out[2], out[3] = (square - reach * reach) / (2.0 * reach), first / reach, second / reach, size / reach
    for k in range(3):
        out[4 + k] = (x[k] - x[9 + k]) / size


@jit
def wall_motion(s: Any, c: int, t: float) -> None:
    """contact_motion of a point on a wall, whose own motion is in s.x[0:9] already."""
    contacts, x, out = s.contacts, s.x, s.out
    gap_motion(s.surfaces, contacts.surface[c], t, x, contacts.radius[c], x[18:24])
    out[0], out[1], out[2] = x[18], x[19], x[20]
    size = np.sqrt(x[21] * x[21] + x[22] * x[22] + x[23] * x[23])
    out[3], out[4], out[5], out[6] = size, x[21] / size, x[22] / size, x[23] / size


@jit
def contact_row(s: Any, c: int, row: Array) -> None:
    """row (nv,): the gap's rate [m/s] for each velocity, after contact_motion."""
    contacts, x, n = s.contacts, s.x, s.out
    for i in range(row.shape[0]):
        row[i] = 0.0
    if contacts.kind[c] == LIMIT:
        row[contacts.index[c, 1]] = contacts.limit[c, 0]
        return
    add_row(s.tree, s.S, contacts.body[c, 0], x[0:3], n[4], n[5], n[6], row)
    if contacts.kind[c] == PAIR:
        add_row(s.tree, s.S, contacts.body[c, 1], x[9:12], -n[4], -n[5], -n[6], row)


# linear algebra on the tree --------------------------------------------------------------------------


@jit
def factorise(above: Array, M: Array) -> bool:
    """M (nv, nv) = Lᵀ D L in place, along the branches only (no fill-in). False where M is not positive definite."""
    n = above.shape[0]
    for k in range(n - 1, -1, -1):
        if not M[k, k] > 0.0:
            return False
        i = above[k]
        while i >= 0:
            share = M[k, i] / M[k, k]
            j = i
            while j >= 0:
                M[i, j] -= share * M[k, j]
                j = above[j]
            M[k, i] = share
            i = above[i]
    return True


@jit
def half_solve(above: Array, L: Array, x: Array) -> None:
    """x (nv,) = D^-½ L^-ᵀ x, so that xᵀy of two results is xᵀ M^-1 y. Works along the branch of x only: zero entries are skipped."""
    for i in range(above.shape[0] - 1, -1, -1):
        if x[i] != 0.0:
            j = above[i]
            while j >= 0:
                x[j] -= L[i, j] * x[i]
                j = above[j]
            x[i] /= np.sqrt(L[i, i])


@jit
def solve_factorised(above: Array, L: Array, x: Array) -> None:
    """x (nv,) = M^-1 x."""
    n = above.shape[0]
    for i in range(n - 1, -1, -1):
        j = above[i]
        while j >= 0:
            x[j] -= L[i, j] * x[i]
            j = above[j]
    for i in range(n):
        x[i] /= L[i, i]
        j = above[i]
        while j >= 0:
            x[i] -= L[i, j] * x[j]
            j = above[j]
