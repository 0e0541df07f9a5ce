"""A robot whose wheels stand on soil that yields: the wheels as the compiled law of the soil needs them, and what it does in a state.

The soil carries the wheels in the place of rigid contact. The driver computes its forces in every stage of a step, or with time stepping
in the middle of each (simulation/rows.py); ``OnSoil`` tells them for states of a trajectory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.points import ContactPoint, resolve_points
from urdf_gibbs.contact.soil import NODES, SIDES, WEIGHTS, Soil
from urdf_gibbs.contact.soil_forces import FORCE, LOAD, OUT, SINKAGE, SLIP, UP, SoilWheels, soil_forces
from urdf_gibbs.contact.surfaces import Surfaces, pack
from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.names import Cylinders
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.walls import Wall
from urdf_gibbs.walls.arguments import wall_list

Array = NDArray[np.float64]

TANGENT = 4  # of the soil's parameters, the angle of friction: compiled code takes its tangent


class Wheel(NamedTuple):
    """A cylinder on a body: its link, middle and axle (a unit vector) in the body's frame, radius and width [m]."""

    link: str
    body: int
    middle: tuple[float, float, float]
    axis: tuple[float, float, float]
    radius: float
    width: float


def soil_wheels(robot: Robot, cylinders: Cylinders = "auto") -> tuple[Wheel, ...]:
    """The wheels among the collision shapes; ArgumentError where there is none."""
    rims = [point for point in resolve_points(robot, "collision", cylinders) if point.rim > 0.0]
    if not rims:
        raise ArgumentError(f"{robot.name or 'the robot'} has no wheels; expected collision cylinders about the axes of their joints")
    return tuple(_wheel(one, other) for one, other in zip(rims[::2], rims[1::2], strict=True))


def _wheel(one: ContactPoint, other: ContactPoint) -> Wheel:
    x, y, z = (0.5 * (a + b) for a, b in zip(one.position, other.position, strict=True))
    return Wheel(one.link, one.body, (x, y, z), one.axis, one.rim, math.dist(one.position, other.position))


def soil_memory(wheels: Sequence[Wheel], soil: Soil | None, surfaces: Surfaces, nv: int) -> SoilWheels:
    """What compiled code works on; without a soil there are no wheels in it."""
    n = len(wheels) if soil is not None else 0
    parameters = np.array(astuple(soil)) if soil is not None else np.zeros(9)
    parameters[TANGENT] = math.tan(parameters[TANGENT])
    sides, shares = SIDES
    return SoilWheels(
        surfaces=surfaces,
        t=np.zeros(1),
        body=np.array([wheel.body for wheel in wheels[:n]], dtype=np.int64),
        place=np.array([wheel.middle for wheel in wheels[:n]]).reshape(n, 3),
        axis=np.array([wheel.axis for wheel in wheels[:n]]).reshape(n, 3),
        size=np.array([(wheel.radius, wheel.width) for wheel in wheels[:n]]).reshape(n, 2),
        soil=parameters,
        nodes=np.ascontiguousarray(NODES),
        weights=np.ascontiguousarray(WEIGHTS),
        sides=np.ascontiguousarray(sides),
        shares=np.ascontiguousarray(shares),
        **{name: np.zeros((n, 3)) for name in ("middle", "axle", "velocity", "turn")},
        out=np.zeros((n, OUT)),
        tau=np.zeros(nv),
        rows=np.zeros((3 * n, nv)),
        brake=np.zeros(3 * n),
    )


class OnSoil:
    """What the soil does to the wheels of a robot, state by state.

    Args:
        robot: With wheels: collision cylinders about the axes of their joints.
        soil: Under the wheels.
        walls: The ground.
        wheels: Of the robot; None: those of its collision shapes.

    Attributes:
        wheels: The wheels.

    Raises:
        ArgumentError: The robot has no wheel, or there is no wall.
    """

    def __init__(self, robot: Robot, soil: Soil, walls: Wall | Sequence[Wall], wheels: Sequence[Wheel] | None = None) -> None:
        given = wall_list(walls)
        if not given:
            raise ArgumentError("soil without a wall; expected the ground")
        self.robot, self.soil, self.wheels = robot, soil, soil_wheels(robot) if wheels is None else tuple(wheels)
        self._places = kernel(robot, "placements")
        self._jacobians = [self._jacobian(wheel) for wheel in self.wheels]
        self._J = np.zeros((len(self.wheels), 6, robot.nv))
        surfaces, *_, keep = pack(given)
        self._struct = soil_memory(self.wheels, soil, surfaces, robot.nv)
        self._struct.kept = keep

    def _jacobian(self, wheel: Wheel) -> Any:
        frame = self.robot.frame(wheel.link)
        own = frame.placement[:3, :3].T @ (np.array(wheel.middle) - frame.placement[:3, 3])
        return kernel(self.robot, "jacobian", frame=wheel.link, point=tuple(own.tolist()))

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
        placed = self._places(q)[w.body]
        R = placed[:, :9].reshape(-1, 3, 3)
        w.t[0] = t
        w.middle[:] = (R @ w.place[:, :, None])[:, :, 0] + placed[:, 9:]
        w.axle[:] = (R @ w.axis[:, :, None])[:, :, 0]
        for k, jacobian in enumerate(self._jacobians):
            jacobian(q, out=J[k])
        moved = J @ v
        w.velocity[:], w.turn[:] = moved[:, :3], moved[:, 3:]
        soil_forces(w)
        return np.asarray(np.einsum("kij,ki->j", J, w.out[:, :6]))

    def state(self, t: float, q: Array, v: Array) -> dict[str, Array]:
        """Of each of n wheels in a state.

        Args:
            t: [s].
            q: Coordinates (nq,).
            v: Velocities (nv,).

        Returns:
            "sinkage" (n,) [m], at the deepest place of the width, "slip" (n,), "load" (n,) [N]; in world axes "force" (n, 3) [N], and
            "middle" (n, 3) [m] and "axle" (n, 3) of the wheel and "up" (n, 3), in its plane from the ground, zero where it does not touch.
        """
        self.forces(t, q, v)
        w = self._struct
        numbers = {name: w.out[:, k].copy() for name, k in (("sinkage", SINKAGE), ("slip", SLIP), ("load", LOAD))}
        up = w.out[:, UP : UP + 3] / np.maximum(np.linalg.norm(w.out[:, UP : UP + 3], axis=1), 1e-300)[:, None]
        return {**numbers, "force": w.out[:, FORCE : FORCE + 3].copy(), "middle": w.middle.copy(), "axle": w.axle.copy(), "up": up}
