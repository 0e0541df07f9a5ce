"""A controller for robots on wheels, steered or not: Ackermann's geometry, steering by computed torque, speeds with a slip limiter.

It has no memory: torques are a function of (t, q, v), so that a trajectory tells what they were. Where the robot goes is an angle of its
first wheel, a heading or a path. References rise over ``ramp`` seconds as s³ (10 - 15 s + 6 s²).

    steering    τ = M (a + kd (δ̇_ref - δ̇) + kp (δ_ref - δ)) + h, with M and h (without gravity) of the direction joints alone
    wheels      τ = gain (ω_ref - ω) + r F/n,  r ω_ref = speed of the wheel's middle along its heading in the turn that is asked for,
                F the part of the weight along the body's x axis, against which the n wheels hold the robot
    limiter     τ less FIRM gain (ω - ω_most) where a wheel turns faster than r ω_most = max(v_w / (1 - slip), CREEP), v_w being the speed
                of its middle as it is: slip = (r ω - v_w) / (r ω). It needs a rate of FIRM gain over the wheel's inertia, or more

v_w is computed from the motion of the body and of the direction joint, the rockers being taken as level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.control_geometry import Wheels

Array = NDArray[np.float64]

CREEP = 0.02  # m/s, with which a wheel that the limiter holds may turn at rest
FIRM = 7.0  # times the gain, with which the limiter acts
ARRIVED = 0.05  # m before the end of a path: the robot stops
LARGEST_ERROR = 0.1  # rad: errors of steering count up to this, so that a direction joint turns no faster than kp/kd times it
LARGEST_TURN = 0.5  # rad: no wheel is steered further on a path or to a heading


class Route(NamedTuple):
    """Where to: ``angle`` [rad] of the first wheel, else ``heading`` [rad] from x, else ``path`` (n, 2) [m], seen ``ahead`` [m]."""

    angle: float | None = None
    heading: float | None = None
    path: Array | None = None
    ahead: float = 1.0


@dataclass(frozen=True, eq=False)
class Drive:
    """Drives a robot on wheels, at a rate.

    Attributes:
        robot: What is driven, on a floating base.
        rate: Calls per second [1/s].
        wheels: Its wheels.
        route: Where to.
        speed: Of the body [m/s]; negative: backwards.
        ramp: In which the speed and a given angle are reached [s].
        kp: Of steering [1/s^2].
        kd: Of steering [1/s].
        gain: Of the wheels' speeds [N m s/rad].
        slip: The most that the limiter allows; None: no limiter.
        gravity: (3,) in the world [m/s^2].
    """

    robot: Robot
    rate: float
    wheels: Wheels
    route: Route
    speed: float
    ramp: float
    kp: float
    kd: float
    gain: float
    slip: float | None
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The torques (nv,) [N m, N] in a state."""
        wheels, tau = self.wheels, np.zeros(self.robot.nv)
        turned, turning, spinning = self._entries
        angle, rate, spin = np.zeros(len(wheels.radius)), np.zeros(len(wheels.radius)), wheels.spun * v[spinning]
        angle[wheels.steered], rate[wheels.steered] = wheels.turned * q[turned], wheels.turned * v[turning]
        share, share_rate, share_acceleration = self._rise(t)
        wanted = self.curvature(q)
        reference = wheels.angles(wanted)
        moves = self.route.angle is not None  # else the reference is one of the state, without rates
        references = (reference * share, reference * share_rate, reference * share_acceleration) if moves else (reference, 0.0, 0.0)
        error = np.minimum(np.maximum(references[0] - angle, -LARGEST_ERROR), LARGEST_ERROR)
        acceleration = (references[2] + self.kd * (references[1] - rate) + self.kp * error)[wheels.steered]
        M, h = self._mass_matrix(q), self._bias(q, v)
        # Each in a branch of its own: M has nothing between them.
        tau[turning] = M[turning, turning] * wheels.turned * acceleration + h[turning]
        speed = 0.0 if self._arrived(q) else self.speed * share
        body = np.array([speed, -speed * wanted * wheels.middle, speed * wanted])
        surface = wheels.rolling(body, angle, references[1] * np.ones(len(angle)))
        x, y, z, w = q[3:7]
        ahead = (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y))  # the body's x axis in the world
        g = self.gravity
        held = -self._share * (ahead[0] * g[0] + ahead[1] * g[1] + ahead[2] * g[2])
        driving = self.gain * (surface / wheels.radius - spin)
        if self.slip is not None:
            driving = self._limited(driving, surface, wheels.rolling(v[[0, 1, 5]], angle, rate), spin)
        tau[spinning] = wheels.spun * (driving + wheels.radius * held)
        return np.asarray(np.minimum(np.maximum(tau, -self._efforts), self._efforts))

    def curvature(self, q: Array) -> float:
        """The turn that is asked for in a state [1/m]."""
        if self.route.angle is not None:
            return self._constant
        x, y, z, w = q[3:7]
        heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        way = np.sign(self.speed) or 1.0
        if self.route.path is None:
            assert self.route.heading is not None
            off = (self.route.heading - heading + np.pi) % (2.0 * np.pi) - np.pi
            wanted = 2.0 * np.sin(np.clip(off, -0.5 * np.pi, 0.5 * np.pi)) / self.route.ahead * way
        else:
            to = self._point_ahead(q[:2]) - q[:2]
            along, across = np.cos(heading) * to[0] + np.sin(heading) * to[1], np.cos(heading) * to[1] - np.sin(heading) * to[0]
            wanted = 2.0 * across / max(1e-9, along * along + across * across)  # the arc through the point
        most = self.wheels.sharpest(LARGEST_TURN)
        return float(np.clip(wanted, -most, most))

    def _rise(self, t: float) -> tuple[float, float, float]:
        """The share of a reference that is reached, and its rates."""
        s = min(1.0, t / self.ramp)
        first, second = 30.0 * s * s * (1.0 - s) ** 2 / self.ramp, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / self.ramp**2
        return s**3 * (10.0 - 15.0 * s + 6.0 * s * s), first, second

    def _limited(self, driving: Array, surface: Array, moved: Array, spin: Array) -> Array:
        """Torques (n,) [N m] that leave each wheel within the slip.

        driving: without the limiter. surface, moved: speeds of the treads as wanted, and of the wheels' middles [m/s]. spin: [rad/s].
        """
        assert self.slip is not None
        way = np.sign(surface)
        most = np.maximum(way * moved / (1.0 - self.slip), CREEP) / self.wheels.radius
        return np.asarray(driving - way * FIRM * self.gain * np.maximum(0.0, way * spin - most))

    def _point_ahead(self, place: Array) -> Array:
        """The point of the path that is one look-ahead further along it than the point nearest to a place (2,)."""
        path = self.route.path
        assert path is not None
        at = min(self._progress(place) + self.route.ahead, self._lengths[-1])
        return np.array([np.interp(at, self._lengths, path[:, 0]), np.interp(at, self._lengths, path[:, 1])])

    def _progress(self, place: Array) -> float:
        """How far along the path its point nearest to a place (2,) is [m]."""
        path = self.route.path
        assert path is not None
        legs, lengths = np.diff(path, axis=0), np.diff(self._lengths)
        share = np.clip(((place - path[:-1]) * legs).sum(axis=1) / lengths**2, 0.0, 1.0)
        nearest = int(np.argmin(np.linalg.norm(path[:-1] + share[:, None] * legs - place, axis=1)))
        return float(self._lengths[nearest] + share[nearest] * lengths[nearest])

    def _arrived(self, q: Array) -> bool:
        return self.route.path is not None and self._progress(q[:2]) > self._lengths[-1] - ARRIVED

    @cached_property
    def _lengths(self) -> Array:
        """(n,) along the path to its points [m]."""
        assert self.route.path is not None
        return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.route.path, axis=0), axis=1))])

    @cached_property
    def _share(self) -> float:
        """Of the mass, for each wheel [kg]."""
        return float(self.robot.mass.sum()) / len(self.wheels.radius)

    @cached_property
    def _constant(self) -> float:
        return self.wheels.curvature(self.route.angle or 0.0)

    @cached_property
    def _entries(self) -> tuple[Any, Any, Any]:
        """Entries of steering in q and v, and of the wheels in v."""
        return tuple(np.ascontiguousarray(one) for one in (*self.wheels.steering.T, self.wheels.spin[:, 1]))  # type: ignore[return-value]

    @cached_property
    def _efforts(self) -> Array:
        most = np.full(self.robot.nv, np.inf)
        for joint in self.robot.joints:
            if joint.nv == 1:
                most[joint.iv] = joint.effort
        return most

    @cached_property
    def _mass_matrix(self) -> Any:
        return kernel(self.robot, "mass_matrix")

    @cached_property
    def _bias(self) -> Any:
        return kernel(self.robot, "bias", gravity=(0.0, 0.0, 0.0))
