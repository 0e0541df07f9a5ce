"""Oracle for robots with elastic links: equations of motion from positions alone, by automatic differentiation.

It owes nothing to the package: plain numbers and callables go in, NumPy is all it needs. There is no recursion over velocities
and no Coriolis term by hand. The robot is a cloud of point masses, each placed by the product of 4x4 matrices from the world to
its body; positions are carried as Taylor polynomials in time, so that their velocities and accelerations are exact. Then

    M = sum m J^T J        h = sum m J^T (x'' - g) + strain,    x'' along the motion with constant v

(d'Alembert's principle, which is Lagrange's equations for coordinates and Boltzmann-Hamel's for quasi-velocities).

- A beam is its Gauss points; 48 of them integrate products of polynomials up to degree 95 exactly and beam modes to round-off.
- A rigid body is seven points with its mass, centre and inertia. Some of their masses may be negative; sums do not care.
- Only elastic rotary inertia (of cross-sections that turn with the deflection) is no cloud of points; see ``_Rotary``.

Conventions. Bodies are given parents first, and own their coordinates in this order. The frame of body i is
T_i = T_parent E_i A_i(q_i), with A_i by joint:

- ``fixed``: no coordinate.
- ``revolute``, ``continuous``, ``prismatic``: one coordinate about or along ``axis`` (normalised here).
- ``floating``: q = x y z and quaternion x y z w, v = linear and angular velocity in the axes of the moved frame.
- ``elastic``: the tip of a beam that sits on the parent, coordinates delta_1 .. delta_m. In the parent's axes
  the tip is at E_i + sum_a p_a phi_a(L) and turned by exp(skew(sum_j delta_j theta_j(L))).

A beam's axis is rho(eta) = root + eta e + sum_j delta_j phi_j(eta) - e sum_jk p_jk psi_jk(eta) in its parent's axes, with the last
sum, the foreshortening, over the given pairs j <= k: p_jk = delta_j delta_k for j < k, delta_j^2 / 2 for j = k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Shape = Callable[[float], ArrayLike]

WORLD = -1
NEAR = 4.0  # squared angle up to which Rodrigues' coefficients are summed as series; beyond, closed forms lose no digits
SERIES = 14  # terms that reach round-off there
NO_GRAVITY = (0.0, 0.0, 0.0)


def skew(a: ArrayLike) -> Array:
    """The matrices with skew(a) b = a x b, over any leading axes."""
    x, y, z = np.moveaxis(np.asarray(a, float), -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)


def vee(S: Array) -> Array:
    """The vector of a matrix's skew-symmetric part."""
    return 0.5 * np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], -1)


class Jet:
    """c0 + c1 t + c2 t^2, cut off there, of arrays; axis 0 of each coefficient runs over the directions of motion.

    Along q(t) = q + t v with constant velocities v, c1 is the velocity and 2 c2 the acceleration: one direction for each unit
    velocity gives Jacobians, the direction v gives the acceleration at v' = 0, that is J' v.
    """

    __array_ufunc__ = None  # let array * Jet come to this class

    def __init__(self, c0: Array, c1: Array, c2: Array) -> None:
        self.c = (c0, c1, c2)

    def __add__(self, other: Jet | Array) -> Jet:
        if isinstance(other, Jet):
            return Jet(*(a + b for a, b in zip(self.c, other.c, strict=True)))
        return Jet(self.c[0] + other, self.c[1], self.c[2])

    def product(self, other: Jet, times: Callable[[Array, Array], Array]) -> Jet:
        """Cauchy's product under any bilinear operation."""
        (a0, a1, a2), (b0, b1, b2) = self.c, other.c
        return Jet(times(a0, b0), times(a0, b1) + times(a1, b0), times(a0, b2) + times(a1, b1) + times(a2, b0))

    def __mul__(self, other: Jet | Array) -> Jet:
        return self.product(other, np.multiply) if isinstance(other, Jet) else self.map(lambda a: a * other)

    def __matmul__(self, other: Jet | Array) -> Jet:
        return self.product(other, np.matmul) if isinstance(other, Jet) else self.map(lambda a: a @ other)

    def map(self, linear: Callable[[Array], Array]) -> Jet:
        """A linear map of every coefficient."""
        return Jet(*(linear(a) for a in self.c))

    def through(self, f: Array, slope: Array, curvature: Array) -> Jet:
        """A function of every entry, from its value and its first two derivatives there."""
        _, a1, a2 = self.c
        return Jet(f, slope * a1, slope * a2 + 0.5 * curvature * a1**2)


def _series(offset: int) -> Array:
    """Coefficients of sum (-s)^k / (2k + offset)!, and in further columns of its first two derivatives."""
    f = np.polynomial.Polynomial([(-1.0) ** k / factorial(2 * k + offset) for k in range(SERIES + 2)])
    return np.stack([g.coef[:SERIES] for g in (f, f.deriv(), f.deriv(2))], -1)


_SINE, _VERSINE = _series(1), _series(2)


def _rodrigues(s: Array) -> tuple[Array, Array]:
    """sin(x)/x and (1 - cos x)/x^2 as functions of s = x^2, in which they are entire, each with two derivatives."""
    powers = s[..., None] ** np.arange(SERIES)
    a, b = np.moveaxis(powers @ _SINE, -1, 0), np.moveaxis(powers @ _VERSINE, -1, 0)
    if np.max(s, initial=0.0) > NEAR:
        far = s > NEAR
        t = s[far]
        x = np.sqrt(t)
        A, B = np.sin(x) / x, (1 - np.cos(x)) / t
        A1, B1 = (np.cos(x) - A) / (2 * t), (A / 2 - B) / t
        a[:, far] = A, A1, -(A / 2 + 3 * A1) / (2 * t)
        b[:, far] = B, B1, (A1 / 2 - 2 * B1) / t
    return a, b


def exponential(theta: Jet) -> Jet:
    """Rotation matrices exp(skew(theta)) (Rodrigues)."""
    W = theta.map(skew)
    s = theta.product(theta, lambda a, b: np.sum(a * b, -1)[..., None, None])
    a, b = _rodrigues(s.c[0])
    return s.through(*a) * W + s.through(*b) * (W @ W) + np.eye(3)


def quaternion_matrix(quaternion: ArrayLike) -> Array:
    """The rotation of a quaternion x y z w, normalised first."""
    quaternion = np.asarray(quaternion, float)
    *xyz, w = quaternion / np.linalg.norm(quaternion)
    S = skew(xyz)
    return np.eye(3) + 2 * w * S + 2 * S @ S


def points_of_inertia(mass: float, com: ArrayLike, inertia: ArrayLike) -> tuple[Array, Array]:
    """Masses (7) and places (7, 3) of points with this mass, centre and inertia (3x3 about the centre).

    Two points on each principal axis, 1 m from the centre, carry the second moments tr(I)/2 - I; the centre carries what is
    left. Exact for every symmetric inertia, physical or not.
    """
    com, inertia = np.asarray(com, float), np.asarray(inertia, float)
    moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    masses = np.concatenate([[mass - moments.sum()], moments / 2, moments / 2])
    return masses, np.vstack([com, com + axes.T, com - axes.T])


def transform(rotation: ArrayLike | None = None, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """A 4x4 placement."""
    T = np.eye(4)
    T[:3, :3] = np.eye(3) if rotation is None else rotation
    T[:3, 3] = translation
    return T


@dataclass
class _Rotary:
    """Elastic rotary inertia of a beam: kinetic energy 1/2 int (w + theta')^T J (w + theta') d eta.

    w is the angular velocity of the carrying body and J the sections' inertia per length, both in the body's axes. With the
    spin H = int J (w + theta') d eta, its equations are H' + w x H for the turning body and int theta_j . J (w + theta')' for
    delta_j, since the energy depends on nothing but w and delta'.
    """

    frame: Array  # int J
    coupling: Array  # column j: int J theta_j
    modes: Array  # int theta_j . J theta_k


class _Beam:
    """A beam with its shapes sampled at the Gauss points and at the tip."""

    def __init__(self, data: Mapping[str, Any], nodes: int) -> None:
        unknown = set(data) - {
            "length", "mu", "phi", "theta", "stiffness", "psi", "root", "direction", "rotary", "section", "elastic_rotary"
        }  # fmt: skip
        if unknown:
            raise ValueError(f"a beam has no {sorted(unknown)}")
        self.length = float(data["length"])
        self.phi: list[Shape] = list(data["phi"])
        self.theta: list[Shape] = list(data["theta"])
        self.psi: dict[tuple[int, int], Callable[[float], float]] = dict(data.get("psi") or {})
        self.m = len(self.phi)
        if len(self.theta) != self.m:
            raise ValueError("a beam needs one theta for each phi")
        if any(not 0 <= j <= k < self.m for j, k in self.psi):
            raise ValueError("psi is given for pairs (j, k) with j <= k, counted from 0")
        self.stiffness = np.asarray(data["stiffness"], float).reshape(self.m, self.m)
        self.root = np.asarray(data.get("root", (0.0, 0.0, 0.0)), float)
        direction = np.asarray(data.get("direction", (1.0, 0.0, 0.0)), float)
        self.direction = direction / np.linalg.norm(direction)

        x, w = np.polynomial.legendre.leggauss(nodes)
        self.eta, weights = 0.5 * self.length * (x + 1), 0.5 * self.length * w
        mu = data["mu"]
        self.masses = weights * np.array([float(mu(eta)) if callable(mu) else float(mu) for eta in self.eta])
        self.rest, self.shapes = self.sampled(self.eta)
        self.tip_shapes = self.sampled(np.array([self.length]))[1][0]
        self.tip_turns = self.turns(np.array([self.length]))[0]

        section = data.get("section")
        J = None if section is None else np.array([np.asarray(section(eta) if callable(section) else section, float) for eta in self.eta])
        self.spin: _Rotary | None = None
        self.rotary = np.asarray(data.get("rotary", np.zeros((3, 3))), float)
        if data.get("elastic_rotary", False):
            if J is None or "rotary" in data:
                raise ValueError("elastic rotary inertia needs the section's inertia per length, and no other rotary inertia")
            turns = self.turns(self.eta)
            self.spin = _Rotary(
                np.einsum("g,gxy->xy", weights, J),
                np.einsum("g,gxy,gjy->xj", weights, J, turns),
                np.einsum("g,gjx,gxy,gky->jk", weights, turns, J, turns),
            )
        elif J is not None:
            if "rotary" in data:
                raise ValueError("a beam has either a rotary inertia or one per length")
            self.rotary = np.einsum("g,gxy->xy", weights, J)
        self.rotary_masses, self.rotary_points = points_of_inertia(0.0, np.zeros(3), self.rotary)

    def sampled(self, eta: Array) -> tuple[Array, Array]:
        """Points at rest (n, 3) and shapes of all amplitudes (n, 3, m + pairs), in the parent's axes."""
        columns = [np.array([np.asarray(shape(x), float) for x in eta]) for shape in self.phi]
        columns += [np.array([-float(shape(x)) * self.direction for x in eta]) for shape in self.psi.values()]
        shapes = np.stack(columns, -1) if columns else np.zeros((len(eta), 3, 0))
        return self.root + np.outer(eta, self.direction), shapes

    def turns(self, eta: Array) -> Array:
        """Rotations of the modes (n, m, 3)."""
        return np.array([[np.asarray(shape(x), float) for shape in self.theta] for x in eta]).reshape(len(eta), self.m, 3)

    def amplitudes(self, delta: Jet) -> Jet:
        """p_a: delta, then the products of the foreshortening."""
        if not self.psi:
            return delta
        first, second = np.array(list(self.psi)).T
        products = delta.map(lambda d: d[..., first]) * delta.map(lambda d: d[..., second])
        products = products * np.where(first == second, 0.5, 1.0)
        return Jet(*(np.concatenate(pair, -1) for pair in zip(delta.c, products.c, strict=True)))


class _Body:
    """A body with its joint and the indices of its coordinates."""

    def __init__(self, data: Mapping[str, Any], index: int, q: int, v: int, nodes: int) -> None:
        unknown = set(data) - {"parent", "joint", "placement", "axis", "mass", "com", "inertia", "beam"}
        if unknown:
            raise ValueError(f"a body has no {sorted(unknown)}")
        self.parent, self.joint = int(data["parent"]), str(data["joint"])
        if not WORLD <= self.parent < index:
            raise ValueError("parents come before their children")
        self.mass = float(data.get("mass", 0.0))
        self.masses, self.points = points_of_inertia(self.mass, data.get("com", np.zeros(3)), data.get("inertia", np.zeros((3, 3))))
        self.beam = _Beam(data["beam"], nodes) if self.joint == "elastic" else None
        if ("beam" in data) != (self.joint == "elastic"):
            raise ValueError("a beam belongs to an elastic joint")
        self.placement = np.array(data["placement"], float) if "placement" in data else np.eye(4)
        if self.beam is not None:
            if "placement" not in data:
                self.placement[:3, 3] = self.beam.root + self.beam.length * self.beam.direction
            elif np.any(self.placement[:3, :3] != np.eye(3)):
                # Its rotations would be in other axes than its shapes; the rotation belongs to the next joint's placement.
                raise ValueError("the tip frame of a beam has the axes of its parent at rest")
        # Generators of the joint's motion, one for each velocity: A(q) exp(t sum v_k G_k) is motion with constant velocity v.
        self.generators = np.zeros((0, 4, 4))
        if self.joint in ("revolute", "continuous", "prismatic"):
            axis = np.asarray(data["axis"], float) / np.linalg.norm(data["axis"])
            self.generators = np.zeros((1, 4, 4))
            if self.joint == "prismatic":
                self.generators[0, :3, 3] = axis
            else:
                self.generators[0, :3, :3] = skew(axis)
        elif self.joint == "floating":
            self.generators = np.zeros((6, 4, 4))
            self.generators[[0, 1, 2], [0, 1, 2], 3] = 1.0
            self.generators[3:, :3, :3] = skew(np.eye(3))
        elif self.joint not in ("fixed", "elastic"):
            raise ValueError(f"unknown joint {self.joint!r}")
        nv = self.beam.m if self.beam else len(self.generators)
        self.q = slice(q, q + (7 if self.joint == "floating" else nv))
        self.v = slice(v, v + nv)

    def at(self, q: Array) -> Array:
        """A(q) of a joint that is no beam."""
        if self.joint == "floating":
            return transform(quaternion_matrix(q[3:]), q[:3])
        if self.joint == "prismatic":
            return np.eye(4) + q[0] * self.generators[0]
        if self.joint == "fixed":
            return np.eye(4)
        G = self.generators[0]
        return np.eye(4) + np.sin(q[0]) * G + (1 - np.cos(q[0])) * (G @ G)

    def motion(self, q: Array, v: Array) -> Jet:
        """E A along the motions with the constant velocities v (directions, nv)."""
        if self.beam is not None:
            delta = Jet(np.broadcast_to(q, v.shape), v, np.zeros_like(v))
            shift = self.beam.amplitudes(delta).map(lambda p: p @ self.beam.tip_shapes.T) + self.placement[:3, 3]
            turn = exponential(delta.map(lambda d: d @ self.beam.tip_turns))
            coefficients = []
            for k, (R, p) in enumerate(zip(turn.c, shift.c, strict=True)):
                T = np.zeros((len(v), 4, 4))
                T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = R, p, float(k == 0)
                coefficients.append(T)
            return Jet(*coefficients)
        A = self.placement @ self.at(q)
        V = np.einsum("dk,kxy->dxy", v, self.generators)
        return Jet(np.broadcast_to(A, V.shape), A @ V, 0.5 * A @ V @ V)


class LagrangianRobot:
    """Equations of motion M(q) a + h(q, v) = 0 of a tree of rigid bodies and beams, without damping.

    Each body is a dict: ``parent`` (-1: the world), ``joint``, ``placement`` (4x4, identity if absent), ``axis``, and if it has
    mass, ``mass``, ``com``, ``inertia`` (3x3, about the centre in the body's axes). An ``elastic`` body has a ``beam``, a dict:

    - ``length``, ``mu``: its length, and mass per length (a number or a callable of eta).
    - ``phi``, ``theta``: for each mode a callable of eta that gives the deflection's and the rotation's three components.
    - ``stiffness``: K (m x m).
    - ``psi``: shapes of the foreshortening, {(j, k): callable}, j <= k counted from 0; acts along -direction. Absent: none.
    - ``root``, ``direction``: where it starts in the parent's frame (0, 0, 0) and where it points (1, 0, 0).
    - ``rotary`` (B10, 3x3) or ``section`` (inertia per length, 3x3 or a callable), whose integral is B10. Absent: none.
    - ``elastic_rotary``: True if the sections turn with the deflection; needs ``section``.

    The tip's placement is root + length * direction if absent. A massless tip is no trouble, the beam has mass enough.
    ``nodes``: Gauss points of each beam.
    """

    def __init__(self, bodies: Sequence[Mapping[str, Any]], nodes: int = 48) -> None:
        self.bodies: list[_Body] = []
        self.nq = self.nv = 0
        for index, data in enumerate(bodies):
            body = _Body(data, index, self.nq, self.nv, nodes)
            self.bodies.append(body)
            self.nq, self.nv = body.q.stop, body.v.stop
        masses: list[Array] = []
        for body in self.bodies:
            masses.append(body.masses)
            if body.beam is not None:
                masses += [body.beam.masses, body.beam.rotary_masses]
        self.masses = np.concatenate(masses) if masses else np.zeros(0)
        self.total_mass = float(self.masses.sum())

    # Kinematics

    def _frames(self, q: Array, v: Array) -> list[Jet]:
        """Frames of all bodies along the motions with the constant velocities v (directions, nv); the last is the world's."""
        world = np.broadcast_to(np.eye(4), (len(v), 4, 4))
        frames: list[Jet] = [Jet(world, np.zeros_like(world), np.zeros_like(world))]
        for body in self.bodies:
            # Parent -1 is the first entry here, so parents shift by one.
            frames.append(frames[body.parent + 1] @ body.motion(q[body.q], v[:, body.v]))
        return [*frames[1:], frames[0]]

    @staticmethod
    def _placed(frame: Jet, points: Jet) -> Jet:
        """Points (directions, n, 3) of a frame, in the world."""
        turned = frame.product(points, lambda T, p: p @ np.swapaxes(T[:, :3, :3], -1, -2))
        return Jet(*(a + T[:, None, :3, 3] for a, T in zip(turned.c, frame.c, strict=True)))

    @staticmethod
    def _constant(points: Array, directions: int) -> Jet:
        p = np.broadcast_to(points, (directions, *points.shape))
        return Jet(p, np.zeros_like(p), np.zeros_like(p))

    def _axis_points(self, body: _Body, rest: Array, shapes: Array, q: Array, v: Array) -> Jet:
        """Points of a beam's axis in its parent's frame."""
        assert body.beam is not None
        v = v[:, body.v]
        delta = Jet(np.broadcast_to(q[body.q], v.shape), v, np.zeros_like(v))
        return body.beam.amplitudes(delta).map(lambda p: np.einsum("gxa,da->dgx", shapes, p)) + rest

    def _cloud(self, frames: list[Jet], q: Array, v: Array) -> Jet:
        """All points of mass (directions, n, 3) in the world, in the order of ``masses``."""
        parts: list[Jet] = []
        for frame, body in zip(frames, self.bodies, strict=False):
            parts.append(self._placed(frame, self._constant(body.points, len(v))))
            if body.beam is not None:
                carrier = frames[body.parent]
                parts.append(self._placed(carrier, self._axis_points(body, body.beam.rest, body.beam.shapes, q, v)))
                parts.append(self._placed(carrier, self._constant(body.beam.rotary_points, len(v))))
        return Jet(*(np.concatenate(c, 1) for c in zip(*(part.c for part in parts), strict=True)))

    def _checked(self, q: ArrayLike, v: ArrayLike | None = None) -> tuple[Array, Array]:
        q = np.asarray(q, float)
        v = np.zeros(self.nv) if v is None else np.asarray(v, float)
        if q.shape != (self.nq,) or v.shape != (self.nv,):
            raise ValueError(f"{self.nq} coordinates and {self.nv} velocities, not {q.shape} and {v.shape}")
        return q, v

    def frame(self, q: ArrayLike, body: int) -> Array:
        """The 4x4 frame of a body in the world; of an elastic body, that of its beam's tip."""
        q, v = self._checked(q)
        return self._frames(q, v[None])[body].c[0][0]

    def jacobian(self, q: ArrayLike, body: int, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """6 x nv, world axes, linear first: velocity of a point of the body (in its frame) and the body's angular velocity."""
        q, _ = self._checked(q)
        frame = self._frames(q, np.eye(self.nv))[body]
        placed = self._placed(frame, self._constant(np.asarray(point, float)[None], self.nv))
        return np.vstack([placed.c[1][:, 0].T, vee(frame.c[1][:, :3, :3] @ np.swapaxes(frame.c[0][:, :3, :3], -1, -2)).T])

    def beam_point(self, q: ArrayLike, body: int, eta: float) -> tuple[Array, Array]:
        """A point of a beam's axis in the world, and its 3 x nv Jacobian; ``body`` is the elastic one, at the beam's tip."""
        q, _ = self._checked(q)
        beam = self.bodies[body].beam
        if beam is None:
            raise ValueError("not an elastic body")
        v = np.eye(self.nv)
        rest, shapes = beam.sampled(np.array([eta]))
        placed = self._placed(self._frames(q, v)[self.bodies[body].parent], self._axis_points(self.bodies[body], rest, shapes, q, v))
        return placed.c[0][0, 0], placed.c[1][:, 0].T

    # Dynamics

    def equations(self, q: ArrayLike, v: ArrayLike, gravity: ArrayLike = NO_GRAVITY) -> tuple[Array, Array]:
        """M(q) and h(q, v) with M a + h = 0 in free motion, from one sweep."""
        q, v = self._checked(q, v)
        # Unit velocities give the Jacobians; the last direction, v itself, the accelerations at a = 0.
        directions = np.vstack([np.eye(self.nv), v])
        frames = self._frames(q, directions)
        _, c1, c2 = self._cloud(frames, q, directions).c
        J = c1[:-1].reshape(self.nv, -1)
        weighted = J * np.repeat(self.masses, 3)
        M = weighted @ J.T
        h = weighted @ (2 * c2[-1] - np.asarray(gravity, float)).ravel()
        for body in self.bodies:
            beam = body.beam
            if beam is None:
                continue
            h[body.v] += beam.stiffness @ q[body.q]
            if beam.spin is not None:
                R, R1, R2 = (c[:, :3, :3] for c in frames[body.parent].c)
                Rt = np.swapaxes(R, -1, -2)
                turn = vee(Rt @ R1)  # angular velocities in the body's axes: one row for each unit velocity, then w
                w, rate = turn[-1], v[body.v]
                dw = vee(Rt[-1] @ (2 * R2[-1]))  # (R^T R')' = R'^T R' + R^T R''; the first is symmetric and drops out
                modes = np.eye(self.nv)[:, body.v]
                Jw, s = turn[:-1], beam.spin
                cross = Jw @ s.coupling @ modes.T
                M += Jw @ s.frame @ Jw.T + cross + cross.T + modes @ s.modes @ modes.T
                spin = s.frame @ w + s.coupling @ rate
                h += Jw @ (s.frame @ dw + np.cross(w, spin)) + modes @ (s.coupling.T @ dw)
        return M, h

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q), nv x nv."""
        return self.equations(q, np.zeros(self.nv))[0]

    def bias(self, q: ArrayLike, v: ArrayLike, gravity: ArrayLike = NO_GRAVITY) -> Array:
        """h(q, v): Coriolis and centrifugal forces, gravity and strain; M a + h = 0 in free motion."""
        return self.equations(q, v, gravity)[1]

    def acceleration(self, q: ArrayLike, v: ArrayLike, gravity: ArrayLike = NO_GRAVITY) -> Array:
        """Derivative of v in free motion."""
        M, h = self.equations(q, v, gravity)
        return np.linalg.solve(M, -h)

    def rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Derivative of q: v itself except at floating joints."""
        q, v = self._checked(q, v)
        rates = np.empty(self.nq)
        for body in self.bodies:
            if body.joint == "floating":
                x, quaternion = v[body.v], q[body.q][3:]
                w = x[3:]
                dq = np.append(quaternion[3] * w + np.cross(quaternion[:3], w), -quaternion[:3] @ w)
                rates[body.q] = np.concatenate([quaternion_matrix(quaternion) @ x[:3], 0.5 * dq])
            else:
                rates[body.q] = v[body.v]
        return rates

    def energies(self, q: ArrayLike, v: ArrayLike, gravity: ArrayLike = NO_GRAVITY) -> tuple[float, float]:
        """Kinetic and potential energy; gravity's part is zero at the world's origin, the strain's at rest."""
        q, v = self._checked(q, v)
        frames = self._frames(q, v[None])
        x, velocity, _ = self._cloud(frames, q, v[None]).c
        kinetic = 0.5 * self.masses @ np.sum(velocity[0] ** 2, -1)
        potential = -self.masses @ (x[0] @ np.asarray(gravity, float))
        for body in self.bodies:
            if body.beam is None:
                continue
            delta, rate = q[body.q], v[body.v]
            potential += 0.5 * delta @ body.beam.stiffness @ delta
            s = body.beam.spin
            if s is not None:
                w = self._angular(frames[body.parent])
                kinetic += 0.5 * (w @ s.frame @ w + rate @ s.modes @ rate) + w @ s.coupling @ rate
        return float(kinetic), float(potential)

    def energy(self, q: ArrayLike, v: ArrayLike, gravity: ArrayLike = NO_GRAVITY) -> float:
        """Total energy."""
        return sum(self.energies(q, v, gravity))

    def momentum(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Linear momentum, and angular momentum about the world's origin, in world axes."""
        q, v = self._checked(q, v)
        frames = self._frames(q, v[None])
        x, velocity, _ = self._cloud(frames, q, v[None]).c
        linear = self.masses @ velocity[0]
        angular = self.masses @ np.cross(x[0], velocity[0])
        for body in self.bodies:
            if body.beam is not None and body.beam.spin is not None:
                s, carrier = body.beam.spin, frames[body.parent]
                angular = angular + carrier.c[0][0, :3, :3] @ (s.frame @ self._angular(carrier) + s.coupling @ v[body.v])
        return linear, angular

    def centre(self, q: ArrayLike) -> Array:
        """Centre of mass."""
        q, v = self._checked(q)
        return self.masses @ self._cloud(self._frames(q, v[None]), q, v[None]).c[0][0] / self.total_mass

    @staticmethod
    def _angular(frame: Jet) -> Array:
        """Angular velocity of the only direction, in the frame's axes."""
        return vee(frame.c[0][0, :3, :3].T @ frame.c[1][0, :3, :3])
