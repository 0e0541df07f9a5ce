"""Controllers: Python functions of the user's as C functions that the driver calls, and the switches at which they jump."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]
Controller = Callable[..., ArrayLike]  # of (t, q, v), or with switches of (t, q, v, sides)
Switches = Callable[[float, Array, Array], ArrayLike]


class Controlled:
    """A Python controller as a C function ``int64_t f(double *t, double *q, double *v, double *tau)``, and its switches.

    ``sides`` (count,) of a step are 1 and -1, the signs of the switches' values. A switch to which both sides drive the motion back is
    not crossed: the motion slides along it, and the torque between those of both sides is taken that keeps it there.
    """

    STRIDE = 1e-5  # s, of differences along the motion: 1e-16 over this, and its square, are 1e-11 and 1e-10
    ON = 1e-9  # a value below this may be one that has been landed on

    def __init__(self, controller: Controller, robot: Robot, switches: Switches | None, gravity: Array, resistance: Array) -> None:
        self.problem: BaseException | None = None
        self.interrupted: list[int] = []
        self._controller, self._robot, self._switches, self._resistance = controller, robot, switches, resistance
        self._gravity = gravity
        self._sliding = -1
        self.count = 0
        if switches is not None:
            probe = np.asarray(switches(0.0, robot.neutral(), np.zeros(robot.nv)), dtype=float)
            if probe.ndim != 1 or not len(probe):
                raise ArgumentError(f"switches returned shape {probe.shape}, expected (k,), one value for each switch")
            self.count = len(probe)
        self.sides = np.ones(self.count)
        self.function = self._guarded(self._torque, robot.nv)
        self.switch_function = self._guarded(self._left, self.count)
        self.side_function = self._guarded(self._choose, self.count)

    def _guarded(self, function: Callable[[float, Array, Array], Array], width: int) -> Any:
        """As a C function; status 1 where it raised, and the first exception in ``problem``."""
        position, velocity, moment = ctypes.c_double * self._robot.nq, ctypes.c_double * self._robot.nv, ctypes.c_double * 1
        answer = ctypes.c_double * width

        def called(t: int, q: int, v: int, out: int) -> int:
            try:
                if self.interrupted:
                    raise KeyboardInterrupt
                state = np.array(position.from_address(q)), np.array(velocity.from_address(v))
                answer.from_address(out)[:] = function(moment.from_address(t)[0], *state).tolist()
            except BaseException as problem:
                self.problem = self.problem or problem
                return 1
            return 0

        return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(called)

    def _asked(self, t: float, q: Array, v: Array, *sides: Array) -> Array:
        robot = self._robot
        answer = np.asarray(self._controller(t, q, v, *sides), dtype=float)
        if answer.shape != (robot.nv,):
            raise ArgumentError(f"the controller returned shape {answer.shape}, expected ({robot.nv},)")
        if not np.isfinite(answer).all():
            named = ", ".join(f"{robot.velocity_names[i]} {answer[i]}" for i in np.flatnonzero(~np.isfinite(answer))[:5])
            raise ArgumentError(f"the controller returned a torque that is not finite: {named}")
        return answer

    def _torque(self, t: float, q: Array, v: Array) -> Array:
        if not self.count:
            return self._asked(t, q, v)
        if self._sliding < 0:
            return self._asked(t, q, v, self.sides.copy())
        return self._slide(self._sliding, t, q, v)[1]

    def _values(self, t: float, q: Array, v: Array) -> Array:
        assert self._switches is not None
        values = np.asarray(self._switches(t, q, v), dtype=float)
        if values.shape != (self.count,) or not np.isfinite(values).all():
            raise ArgumentError(f"switches returned {values.tolist()} at t = {t}, expected {self.count} finite numbers")
        return values

    @cached_property
    def _forward(self) -> Any:
        return kernel(self._robot, "forward_dynamics", gravity=self._gravity)

    def _rate(self, k: int, t: float, q: Array, v: Array, torque: Array) -> float:
        """How fast the value of switch k changes under a torque."""
        robot, h = self._robot, self.STRIDE
        a = self._forward(q, v, torque - self._resistance * v)
        after, before = (self._values(t + d, robot.integrate(q, d * v), v + d * a)[k] for d in (h, -h))
        return float(after - before) / (2.0 * h)

    def _slide(self, k: int, t: float, q: Array, v: Array) -> tuple[float, Array, float, float]:
        """What is between the sides of switch k (-1 to 1) and keeps its value as it is, the torque there, the rates on both sides."""
        torques, rates = [], []
        for side in (-1.0, 1.0):
            sides = self.sides.copy()
            sides[k] = side
            torques.append(self._asked(t, q, v, sides))
            rates.append(self._rate(k, t, q, v, torques[-1]))
        between = (rates[0] + rates[1]) / (rates[0] - rates[1]) if rates[0] != rates[1] else 0.0
        return between, torques[0] + 0.5 * (1.0 + between) * (torques[1] - torques[0]), rates[0], rates[1]

    def _left(self, t: float, q: Array, v: Array) -> Array:
        """Of each switch what is left until it must be thrown: negative from then on."""
        left = self.sides * self._values(t, q, v)
        if self._sliding >= 0:
            off = abs(float(left[self._sliding]))
            if off > 1e-6:
                raise ArgumentError(
                    f"switch {self._sliding} is slid along, and its value has drifted to {off:.3g}: other forces than the controller's "
                    "and gravity's act on it, such as those of contacts; expected none, or a controller_rate"
                )
            left[self._sliding] = 1.0 - abs(self._slide(self._sliding, t, q, v)[0])
        return left

    def _choose(self, t: float, q: Array, v: Array) -> Array:
        """The sides from here on, from the values and, on a switch, from where both sides drive them."""
        values = self._values(t, q, v)
        far = np.abs(values) > self.ON
        self.sides[far] = np.sign(values[far])
        self._sliding = -1
        for k in np.flatnonzero(~far).tolist():
            between, _, below, above = self._slide(k, t, q, v)
            if above <= 0.0 <= below and abs(between) < 1.0 and above < below:
                if self._sliding >= 0:
                    raise ArgumentError(
                        f"switches {self._sliding} and {k} are slid along at once at t = {t}; expected one at a time, or a controller_rate"
                    )
                self._sliding = k
            else:
                # Both sides drive it one way; or each away, and it goes on to where it was going.
                onwards = -self.sides[k] if above > 0.0 > below else np.sign(above + below)
                self.sides[k] = onwards or self.sides[k]
        return self.sides
