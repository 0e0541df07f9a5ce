"""The content of a scenario file: robot, start, walls, laws and tolerances, and published results to compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.points import ContactPoint
from urdf_gibbs.contact.soil import Soil
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario.controller import Driver
from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReferenceImpact:
    """A published impact; what the file does not give is NaN.

    ``time`` [s], ``angle`` of attack [deg], change of the normal ``velocity`` [m/s], ``impulse`` [N s] on each of ``points``.
    """

    time: float
    points: tuple[str, ...]
    angle: float = math.nan
    velocity: float = math.nan
    impulse: float = math.nan


@dataclass(frozen=True, slots=True)
class Reference:
    """Published results to compare with, and their source."""

    source: str
    impacts: tuple[ReferenceImpact, ...]


@dataclass(frozen=True, eq=False)
class Scenario:
    """The content of a scenario file. Arrays are read-only.

    Attributes:
        file: Its path.
        title: In words.
        robot: The robot, with the elastic links of the file.
        q0: Coordinates at the start (nq,).
        v0: Velocities at the start (nv,).
        duration: Of the run [s].
        gravity: (3,) in the world [m/s^2].
        scheme: "events" or "time_stepping".
        step: Length of the steps of "time_stepping" [s].
        law: The impact law's name.
        restitution: Where a wall has none of its own.
        friction: Where neither a pair nor a point nor a wall has its own.
        paradox: What happens where no contact forces obey Coulomb's law.
        walls: What the robot can touch.
        torque: Constant generalised forces (nv,) [N m, N].
        controller: Drives the joints, at its rate; None where there is none.
        points: What can touch; None: the joint origins and tips.
        pairs: Points that can touch each other.
        joint_limits: Whether the URDF's joint limits act.
        damping: Whether the URDF's joint damping acts.
        joint_friction: Bounds of the dry friction of joints [N, N m], or "urdf".
        tolerances: Those that the file gives, by the names of arguments of ``simulate``.
        reference: Published results to compare with; None where there are none.
        soil: Under the wheels, in the place of rigid ground; None: the ground is rigid.
    """

    file: str
    title: str
    robot: Robot
    q0: Array
    v0: Array
    duration: float
    gravity: tuple[float, float, float]
    scheme: str
    step: float
    law: str
    restitution: float
    friction: Any
    paradox: str
    walls: tuple[Wall, ...]
    torque: Array
    controller: Driver | None
    points: tuple[ContactPoint, ...] | None
    pairs: str | tuple[tuple[Any, ...], ...]
    joint_limits: bool
    damping: bool
    joint_friction: Any
    tolerances: Mapping[str, float]
    reference: Reference | None = None
    soil: Soil | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments for ``simulate(**arguments)``, without the tolerances that the file does not give.

        Returns:
            The values by the names of arguments.
        """
        names = ("robot", "q0", "v0", "duration", "walls", "law", "restitution", "friction", "paradox", "gravity", "points", "pairs")
        drive: dict[str, Any] = {"torque": self.torque}
        if self.controller is not None:
            drive = {"controller": self.controller, "controller_rate": self.controller.rate}
        flags = ("joint_limits", "damping", "joint_friction", "scheme", "step")
        found = {name: getattr(self, name) for name in (*names, *flags)} | drive | dict(self.tolerances)
        return found if self.soil is None else found | {"soil": self.soil}
