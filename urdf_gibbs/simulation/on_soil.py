"""A robot whose wheels stand on soil that yields: the compiled forces of the soil, beside a controller with a rate of its own.

The soil carries the wheels in the place of rigid contact, for the scheme "time_stepping": forces are those at the start of each step,
and so the step has to be short for stiff soil (a millisecond or two for the rover).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.points import ContactPoint, resolve_points
from urdf_gibbs.contact.soil import NODES, WEIGHTS, Soil
from urdf_gibbs.contact.soil_forces import LOAD, OUT, SINKAGE, SLIP, SoilWheels, soil_forces
from urdf_gibbs.contact.surfaces import pack
from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.controller import Controller
from urdf_gibbs.walls import Wall
from urdf_gibbs.walls.arguments import wall_list

Array = NDArray[np.float64]

TANGENT = 4  # of the soil's parameters, the angle of friction: compiled code takes its tangent


class OnSoil:
    """controller(t, q, v) for ``simulate``, without a rate: torques of the robot's own controller and forces of the soil.

    Args:
        robot: With wheels: collision cylinders about the axes of their joints.
        soil: Under the wheels.
        walls: The ground.
        controller: controller(t, q, v) -> (nv,), asked at its rate; None: no torques.
        rate: Of the controller [1/s].

    Attributes:
        wheels: Names of the links of the wheels.

    Raises:
        ArgumentError: The robot has no wheel, or there is no wall.
    """

    def __init__(
        self,
        robot: Robot,
        soil: Soil,
        walls: Wall | Sequence[Wall],
        controller: Controller | None = None,
        rate: float = 100.0,
    ) -> None:
        given = wall_list(walls)
        if not given:
            raise ArgumentError("soil without a wall; expected the ground")
        rims = [point for point in resolve_points(robot, "collision") if point.rim > 0.0]
        if not rims:
            raise ArgumentError(f"{robot.name or 'the robot'} has no wheels; expected collision cylinders about the axes of their joints")
        pairs = [(one, other) for one, other in zip(rims[::2], rims[1::2], strict=True)]
        self.robot, self.soil, self.wheels = robot, soil, tuple(one.link for one, _ in pairs)
        self._controller, self._period = controller, 1.0 / rate
        self._due, self._held, self._last = 0.0, np.zeros(robot.nv), math.inf
        self._places = kernel(robot, "placements")
        self._bodies = np.array([one.body for one, _ in pairs])
        self._middle = np.array([0.5 * (np.array(one.position) + np.array(other.position)) for one, other in pairs])
        self._axle = np.array([one.axis for one, _ in pairs])
        self._jacobians = [self._jacobian(one, place) for (one, _), place in zip(pairs, self._middle, strict=True)]
        self._J = np.zeros((len(pairs), 6, robot.nv))
        self._struct = self._memory(given, pairs)

    def _memory(self, walls: Sequence[Wall], pairs: list[tuple[ContactPoint, ContactPoint]]) -> SoilWheels:
        n = len(pairs)
        parameters = np.array(astuple(self.soil))
        parameters[TANGENT] = math.tan(parameters[TANGENT])
        surfaces, *_, keep = pack(walls)
        made = SoilWheels(
            surfaces=surfaces,
            t=np.zeros(1),
            **{name: np.zeros((n, 3)) for name in ("middle", "velocity", "axle")},
            spin=np.zeros(n),
            size=np.array([(one.rim, math.dist(one.position, other.position)) for one, other in pairs]),
            soil=parameters,
            nodes=np.ascontiguousarray(NODES),
            weights=np.ascontiguousarray(WEIGHTS),
            out=np.zeros((n, OUT)),
        )
        made.kept = keep
        return made

    def _jacobian(self, point: ContactPoint, place: Array) -> Any:
        frame = self.robot.frame(point.link)
        own = frame.placement[:3, :3].T @ (place - frame.placement[:3, 3])
        return kernel(self.robot, "jacobian", frame=point.link, point=tuple(own.tolist()))

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The torques and the soil's forces (nv,) [N m, N] in a state."""
        return self._torque(t, q, v) + self.forces(t, q, v)

    def _torque(self, t: float, q: Array, v: Array) -> Array:
        """Of the controller, kept between two calls; a time before the last one is that of a new run."""
        if self._controller is None:
            return self._held
        if t < self._last:
            self._due = 0.0
        self._last = t
        if t >= self._due - 1e-9:
            self._held = np.asarray(self._controller(t, q, v), dtype=float)
            self._due += self._period
        return self._held

    def forces(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces (nv,) of the soil in a state.

        Args:
            t: [s].
            q: Coordinates (nq,).
            v: Velocities (nv,).

        Returns:
            [N m, N].
        """
        w, J = self._struct, self._J
        placed = self._places(q)[self._bodies]
        R = placed[:, :9].reshape(-1, 3, 3)
        w.t[0] = t
        w.middle[:] = (R @ self._middle[:, :, None])[:, :, 0] + placed[:, 9:]
        w.axle[:] = (R @ self._axle[:, :, None])[:, :, 0]
        for k, jacobian in enumerate(self._jacobians):
            jacobian(q, out=J[k])
        moved = J @ v
        w.velocity[:] = moved[:, :3]
        w.spin[:] = (moved[:, 3:] * w.axle).sum(axis=1)
        soil_forces(w)
        return np.asarray(np.einsum("kij,ki->j", J, w.out[:, :6]))

    def state(self, t: float, q: Array, v: Array) -> dict[str, Array]:
        """Of each wheel (n,) in a state.

        Args:
            t: [s].
            q: Coordinates (nq,).
            v: Velocities (nv,).

        Returns:
            "sinkage" [m], "slip" and "load" [N].
        """
        self.forces(t, q, v)
        return {name: self._struct.out[:, k].copy() for name, k in (("sinkage", SINKAGE), ("slip", SLIP), ("load", LOAD))}
