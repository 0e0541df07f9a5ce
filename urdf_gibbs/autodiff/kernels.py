"""The kernels behind a function for JAX or PyTorch, and behind its derivatives."""

from __future__ import annotations

from typing import Any

from urdf_gibbs.arguments import triple
from urdf_gibbs.engine.kernel import kernel_of
from urdf_gibbs.engine.kernel_base import Kernel
from urdf_gibbs.engine.quantities import Options
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

WEIGHTLESS = Options((0.0, 0.0, 0.0))
SECOND = "expected first derivatives; those of these are not there"


def under_gravity(robot: Robot, name: str, gravity: Any) -> tuple[Kernel, tuple[float, ...]]:
    """The kernel of a quantity, and gravity where that is its last input, else ()."""
    check_robot(robot)
    vector = triple(gravity, "gravity")
    if vector == EARTH_GRAVITY:
        return kernel_of(robot, name, Options()), ()
    return kernel_of(robot, name, Options(free_gravity=True)), vector


def of_frame(robot: Robot, name: str, frame: str, point: Any = (0.0, 0.0, 0.0)) -> Kernel:
    check_robot(robot)
    return kernel_of(robot, name, Options(frame=frame, point=triple(point, "point")))


def same_options(kernel: Kernel, name: str) -> Kernel:
    """The kernel of another quantity of the robot, under the same gravity."""
    options = kernel.options
    return kernel_of(kernel.robot, name, Options(options.gravity, options.frame, options.point, free_gravity=options.free_gravity))


def inverse_product(kernel: Kernel, side: str) -> Kernel:
    """Products with the derivatives of inverse dynamics under the gravity of ``kernel``."""
    return same_options(kernel, f"inverse_dynamics_{side}")


def weightless_product(robot: Robot, side: str) -> Kernel:
    return kernel_of(robot, f"inverse_dynamics_{side}", WEIGHTLESS)


def no_second(kernel: Kernel) -> ArgumentError:
    return ArgumentError(f"a derivative of {kernel.name} of {kernel.robot.name or 'a robot'} was asked for, {SECOND}")
