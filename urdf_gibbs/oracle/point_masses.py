"""A robot with bent links as a cloud of point masses: its momentum, centre of mass, potential energy and Jacobians, written independently.

Nothing here comes from the formulations: places are products of matrices from the world to each body, a beam is its Gauss points,
placed by its shape functions, and velocities are derivatives of places by a complex step, exact to round-off. The shape functions and the
stiffness are the beam's own; the integrals of the formulations are not used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.flexible.build import TABLE, shapes_of
from urdf_gibbs.oracle.pinocchio import OracleRefusal
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import plane_rotation

Array = NDArray[np.float64]
Complex = NDArray[Any]  # of complex numbers, or of real ones where a step has no part in them

GAUSS = 64  # points of a beam: exact for products of polynomials up to degree 127
STEP = 1e-30  # of the complex step: its square vanishes beside one
NEAR = 1e-3  # angles up to which sin x / x is summed; six terms reach round-off


class Bent(NamedTuple):
    """At one state: momentum (6,), about the centre of mass, centre of mass (3,), potential energy, Jacobians (6, nv) by link."""

    momentum: Array
    centre_of_mass: Array
    potential: float
    jacobians: dict[str, Array]


class _Points(NamedTuple):
    """The axis of a beam at its Gauss points, in the axes of the body at its root."""

    mass: Array  # (n,)
    rest: Array  # (n, 3)
    shapes: Array  # (n, M, 3) of the amplitudes
    tip: Array  # (M, 3)
    tip_rotation: Array  # (m, 3)
    pairs: tuple[tuple[int, int], ...]
    rotary: Array  # (3, 3) of all sections
    spin: Array  # (m, 3)


class PointMasses:
    """The cloud of a robot; raises OracleRefusal where a beam's shapes are tables, which Gauss points do not integrate exactly."""

    def __init__(self, robot: Robot, gravity: tuple[float, float, float]) -> None:
        self.robot, self.gravity = robot, np.array(gravity)
        self.beams = {i: _points(joint.beam) for i, joint in enumerate(robot.joints) if joint.beam is not None}

    def answers(self, q: Array, v: Array, points: dict[str, Array]) -> Bent:
        """At q (nq,) and v (nv,); points: link -> point in its frame."""
        robot = self.robot
        directions = np.vstack([np.eye(robot.nv), v])
        R, p = self._placed(q, directions)
        momentum, moment, total, angular = np.zeros(3), np.zeros(3), 0.0, np.zeros(3)
        for i in range(len(robot.joints)):
            at, speed = _place_and_speed((p[i][-1] + R[i][-1] @ robot.centre_of_mass[i])[None])
            turn = R[i][-1].real @ robot.inertia[i] @ R[i][-1].real.T
            angular += turn @ _spin(R[i][-1]) + robot.mass[i] * np.cross(at[0], speed[0])
            momentum += robot.mass[i] * speed[0]
            moment += robot.mass[i] * at[0]
            total += float(robot.mass[i])
        for i, beam in self.beams.items():
            root, place = self._root(R, p, i)
            bend = _amplitudes(q[self._own(i)] + 1j * STEP * v[self._own_v(i)], beam.pairs)
            at, speed = _place_and_speed(place + (beam.rest + np.einsum("a,nai->ni", bend, beam.shapes)) @ root.T)
            momentum += beam.mass @ speed
            moment += beam.mass @ at
            total += float(beam.mass.sum())
            angular += np.cross(at, speed).T @ beam.mass
            own = root.real
            angular += own @ (beam.rotary @ (own.T @ _spin(root)) + v[self._own_v(i)] @ beam.spin)
        com = moment / total
        strain = sum(
            0.5 * float(q[self._own(i)] @ joint.beam.stiffness @ q[self._own(i)])
            for i, joint in enumerate(robot.joints)
            if joint.beam is not None
        )
        jacobians = {link: self._jacobian(R, p, link, point) for link, point in points.items()}
        about = angular - np.cross(com, momentum)
        return Bent(np.concatenate([momentum, about]), com, strain - float(self.gravity @ moment), jacobians)

    def _own(self, i: int) -> slice:
        joint = self.robot.joints[i]
        return slice(joint.iq, joint.iq + joint.nq)

    def _own_v(self, i: int) -> slice:
        joint = self.robot.joints[i]
        return slice(joint.iv, joint.iv + joint.nv)

    def _root(self, R: list[Complex], p: list[Complex], i: int) -> tuple[Complex, Complex]:
        parent = self.robot.parent[i]
        return (R[parent][-1], p[parent][-1]) if parent >= 0 else (np.eye(3, dtype=complex), np.zeros(3, dtype=complex))

    def _jacobian(self, R: list[Complex], p: list[Complex], link: str, point: Array) -> Array:
        frame = self.robot.frame(link)
        if frame.body < 0:
            return np.zeros((6, self.robot.nv))
        own = frame.placement[:3, :3] @ point + frame.placement[:3, 3]
        places = (p[frame.body] + R[frame.body] @ own)[:-1]
        return np.vstack([places.imag.T / STEP, np.array([_spin(turn) for turn in R[frame.body][:-1]]).reshape(-1, 3).T])

    def _placed(self, q: Array, directions: Array) -> tuple[list[Complex], list[Complex]]:
        """Rotations (d, 3, 3) and places (d, 3) of the bodies, moved by a complex step along each of the directions (d, nv)."""
        R: list[Complex] = []
        p: list[Complex] = []
        for i, joint in enumerate(self.robot.joints):
            parent, placement = self.robot.parent[i], self.robot.placement[i]
            above = R[parent] if parent >= 0 else np.eye(3, dtype=complex)
            origin = p[parent] if parent >= 0 else np.zeros(3, dtype=complex)
            turn, shift = self._motion(i, joint, q[self._own(i)], 1j * STEP * directions[:, self._own_v(i)])
            base = above @ placement[:3, :3]
            R.append(base @ turn)
            p.append(origin + above @ placement[:3, 3] + np.einsum("...ij,...j->...i", base, shift))
        return R, p

    def _motion(self, i: int, joint: Joint, own: Array, step: Complex) -> tuple[Complex, Complex]:
        """Rotation (d, 3, 3) and shift (d, 3) of a joint from its zero, at its coordinates and a step (d, nv) away."""
        still, axis = np.zeros((len(step), 3), dtype=complex), np.array(joint.axis)
        if joint.beam is not None:
            beam = self.beams[i]
            delta = own + step
            return _exponential(delta @ beam.tip_rotation), np.array([_amplitudes(one, beam.pairs) for one in delta]) @ beam.tip
        if joint.type == "floating":
            quaternion = _quaternion(own[3:])
            return quaternion @ _exponential(step[:, 3:]), own[:3] + step[:, :3] @ quaternion.T
        if joint.type == "planar":
            plane = np.reshape(plane_rotation(joint.axis), (3, 3))
            turned = _exponential((own[2] + 0.0 * step[:, 2])[:, None] * axis)
            moves = step[:, :2] @ plane[:, :2].T  # in the moved frame
            return _exponential((own[2] + step[:, 2])[:, None] * axis), plane[:, :2] @ own[:2] + np.einsum("dij,dj->di", turned, moves)
        value = joint.ratio * (own[0] + step[:, 0]) + joint.offset
        if joint.type == "prismatic":
            return np.broadcast_to(np.eye(3), (len(step), 3, 3)), value[:, None] * axis
        return _exponential(value[:, None] * axis), still


def _points(beam: Beam) -> _Points:
    spec = beam.specification
    assert spec is not None and beam.frame is not None
    if any(family == TABLE for _, family, _ in spec.modes):
        raise OracleRefusal(f'the shapes of link "{beam.link}" are tables')
    frame, modes = beam.frame, shapes_of(spec)
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS)
    eta, weights = 0.5 * spec.length * (nodes + 1.0), 0.5 * spec.length * weights
    bent = [j for j, mode in enumerate(modes) if mode.direction in ("y", "z")] if spec.foreshortening else []
    pairs = tuple((j, k) for j in bent for k in bent if j <= k and modes[j].along == modes[k].along)

    def shapes(places: Array) -> Array:
        """(n, M, 3) at places (n,)."""
        own = [_values(mode.displacement, places, 0)[:, None] * frame[:, mode.along] for mode in modes]
        for j, k in pairs:  # along -x, by the integral of the product of the slopes
            inner = 0.5 * places[:, None] * (nodes + 1.0)
            slopes = (_values(modes[one].displacement, inner.ravel(), 1).reshape(inner.shape) for one in (j, k))
            product = next(slopes) * next(slopes)
            own.append(-(0.5 * places * (product @ (weights / (0.5 * spec.length))))[:, None] * frame[:, 0])
        return np.stack(own, axis=1)

    def rotations(places: Array) -> Array:
        return np.stack([mode.sign * _values(mode.rotation, places, 0)[:, None] * frame[:, mode.about] for mode in modes], axis=1)

    section = frame @ np.diag(spec.rotary or (0.0, 0.0, 0.0)) @ frame.T
    spin = np.einsum("n,nji,ki->jk", weights, rotations(eta), section) if spec.elastic_rotary else np.zeros((len(modes), 3))
    end = np.array([spec.length])
    return _Points(
        spec.mass_per_length * weights,
        beam.root + eta[:, None] * frame[:, 0],
        shapes(eta),
        shapes(end)[0],
        rotations(end)[0],
        pairs,
        spec.length * section,
        spin,
    )


def _values(shape: Any, places: Array, order: int) -> Array:
    return np.zeros(len(places)) if shape is None else np.asarray(shape.derivative(places, order), dtype=np.float64)


def _amplitudes(delta: Complex, pairs: tuple[tuple[int, int], ...]) -> Complex:
    return np.concatenate([delta, [delta[j] * delta[k] * (0.5 if j == k else 1.0) for j, k in pairs]])


def _place_and_speed(places: Complex) -> tuple[Array, Array]:
    return places.real, places.imag / STEP


def _spin(R: Complex) -> Array:
    """The angular velocity of a rotation with a complex step."""
    rate = (R.imag / STEP) @ R.real.T
    return 0.5 * np.array([rate[2, 1] - rate[1, 2], rate[0, 2] - rate[2, 0], rate[1, 0] - rate[0, 1]])


def _exponential(theta: Complex) -> Complex:
    """Rotations (d, 3, 3) by the vectors theta (d, 3)."""
    square = (theta * theta).sum(axis=1)
    small = np.abs(square) < NEAR**2
    angle = np.sqrt(np.where(small, 1.0, square))
    first = np.where(small, 1.0 - square / 6.0 + square**2 / 120.0 - square**3 / 5040.0, np.sin(angle) / angle)
    second = np.where(small, 0.5 - square / 24.0 + square**2 / 720.0 - square**3 / 40320.0, (1.0 - np.cos(angle)) / angle**2)
    K = np.zeros((len(theta), 3, 3), dtype=complex)
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -theta[:, 2], theta[:, 1], -theta[:, 0]
    K -= K.swapaxes(1, 2)
    turned: Complex = np.eye(3) + first[:, None, None] * K + second[:, None, None] * (K @ K)
    return turned


def _quaternion(q: Array) -> Array:
    """The rotation of a unit quaternion x, y, z, w."""
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
