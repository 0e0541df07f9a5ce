"""Controllers: the user's Python functions as C functions that the driver calls, and the switches at which they jump."""

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


class ControllerCallbacks:
    """A Python controller as a C function ``int64_t f(double *t, double *q, double *v, double *tau)``, and its switches.

    ``sides`` (count,) are 1 or -1 for the whole of a step: the signs of the switches' values. Where both sides drive the motion back to a
    switch, the motion slides along it, under the blend of the two torques that keeps it there (Filippov).
    """

    DIFFERENCE_STEP = 1e-5  # s, for differences along the motion: rounding and truncation give errors of about 1e-11 and 1e-10
    ON_SWITCH = 1e-9  # a smaller value counts as zero: the last step landed on the switch

    def __init__(self, controller: Controller, robot: Robot, switches: Switches | None, gravity: Array, resistance: Array) -> None:
        self.problem: BaseException | None = None
        self.interrupted: list[int] = []
        self._controller, self._robot, self._switches, self._resistance = controller, robot, switches, resistance
        self._gravity, self._zeros = gravity, np.zeros(robot.nv)
        self._sliding_switch = -1
        self.count = 0
        if switches is not None:
            probe = np.asarray(switches(0.0, robot.neutral(), np.zeros(robot.nv)), dtype=float)
            if probe.ndim != 1 or not len(probe):
                raise ArgumentError(f"switches returned shape {probe.shape}, expected (k,), one value for each switch")
            self.count = len(probe)
        self.sides = np.ones(self.count)
        self.function = self._guarded(self._torque, robot.nv)
        self.switch_function = self._guarded(self._distance_to_switch, self.count)
        self.side_function = self._guarded(self._choose_sides, self.count)

    def _guarded(self, function: Callable[[float, Array, Array], Array], width: int) -> Any:
        """The function as a C function. It returns 1 where Python raised; ``problem`` keeps the first exception."""
        widths = (1, self._robot.nq, self._robot.nv, width)
        memory: dict[tuple[int, ...], list[Array]] = {}  # by their addresses, of which the driver has few

        def arrays(*addresses: int) -> list[Array]:
            places = zip(addresses, widths, strict=True)
            return memory.setdefault(addresses, [np.ctypeslib.as_array((ctypes.c_double * n).from_address(at)) for at, n in places])

        def c_function(*addresses: int) -> int:
            try:
                if self.interrupted:
                    raise KeyboardInterrupt
                t, q, v, out = memory.get(addresses) or arrays(*addresses)
                out[:] = function(t.item(), q.copy(), v.copy())
            except BaseException as problem:
                self.problem = self.problem or problem
                return 1
            return 0

        return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(c_function)

    def _call_controller(self, t: float, q: Array, v: Array, *sides: Array) -> Array:
        robot = self._robot
        answer = np.asarray(self._controller(t, q, v, *sides), dtype=float)
        if answer.shape != (robot.nv,):
            raise ArgumentError(f"the controller returned shape {answer.shape}, expected ({robot.nv},)")
        if answer.dot(self._zeros) != 0.0:  # NaN where one of them is not finite
            named = ", ".join(f"{robot.velocity_names[i]} {answer[i]}" for i in np.flatnonzero(~np.isfinite(answer))[:5])
            raise ArgumentError(f"the controller returned a torque that is not finite: {named}")
        return answer

    def _torque(self, t: float, q: Array, v: Array) -> Array:
        if not self.count:
            return self._call_controller(t, q, v)
        if self._sliding_switch < 0:
            return self._call_controller(t, q, v, self.sides.copy())
        return self._sliding_torque(self._sliding_switch, t, q, v)[1]

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
        robot, h = self._robot, self.DIFFERENCE_STEP
        a = self._forward(q, v, torque - self._resistance * v)
        after, before = (self._values(t + d, robot.integrate(q, d * v), v + d * a)[k] for d in (h, -h))
        return float(after - before) / (2.0 * h)

    def _sliding_torque(self, k: int, t: float, q: Array, v: Array) -> tuple[float, Array, float, float]:
        """The blend of the two sides of switch k (-1 to 1) that keeps its value constant, the torque there, and the rates on both sides."""
        torques, rates = [], []
        for side in (-1.0, 1.0):
            sides = self.sides.copy()
            sides[k] = side
            torques.append(self._call_controller(t, q, v, sides))
            rates.append(self._rate(k, t, q, v, torques[-1]))
        blend = (rates[0] + rates[1]) / (rates[0] - rates[1]) if rates[0] != rates[1] else 0.0
        return blend, torques[0] + 0.5 * (1.0 + blend) * (torques[1] - torques[0]), rates[0], rates[1]

    def _distance_to_switch(self, t: float, q: Array, v: Array) -> Array:
        """How far each switch is from being thrown; negative once it has to be."""
        distance = self.sides * self._values(t, q, v)
        if self._sliding_switch >= 0:
            off = abs(float(distance[self._sliding_switch]))
            if off > 1e-6:
                raise ArgumentError(
                    f"the motion slides along switch {self._sliding_switch}, whose value has drifted to {off:.3g}: forces other than the "
                    "controller's and gravity's act on it, such as contact forces; expected none, or a controller_rate"
                )
            distance[self._sliding_switch] = 1.0 - abs(self._sliding_torque(self._sliding_switch, t, q, v)[0])
        return distance

    def _choose_sides(self, t: float, q: Array, v: Array) -> Array:
        """The sides from here on: by the sign of each value or, on a switch, by the direction in which both sides drive it."""
        values = self._values(t, q, v)
        off_switch = np.abs(values) > self.ON_SWITCH
        self.sides[off_switch] = np.sign(values[off_switch])
        self._sliding_switch = -1
        for k in np.flatnonzero(~off_switch).tolist():
            blend, _, below, above = self._sliding_torque(k, t, q, v)
            if above <= 0.0 <= below and abs(blend) < 1.0 and above < below:
                if self._sliding_switch >= 0:
                    raise ArgumentError(
                        f"the motion slides along switches {self._sliding_switch} and {k} at once at t = {t}; expected one at a time, or a "
                        "controller_rate"
                    )
                self._sliding_switch = k
            else:
                # Both sides drive it the same way; or each drives it away, and it continues in its direction.
                onwards = -self.sides[k] if above > 0.0 > below else np.sign(above + below)
                self.sides[k] = onwards or self.sides[k]
        return self.sides
