"""Arguments of the functions: what was wrong with a call that found no code, and the array to fill.

A call that is right looks at nothing twice: its code is found by attributes of the robot. What is not a robot has none of them, and only
then is it asked what was given.
"""

from __future__ import annotations

from typing import Any

from urdf_gibbs.arguments import Array, check_out, text
from urdf_gibbs.robot.derived import check_robot


def check_frame(robot: Any, frame: Any) -> None:
    """Raise where the robot or the name of a link is none."""
    check_robot(robot)
    text(frame, "the name of a link", "frame")


def filled(values: Array, out: Array | None) -> Array:
    """The values, in ``out`` where there is one."""
    if out is None:
        return values
    check_out(out, values.shape)
    out[...] = values
    return out
