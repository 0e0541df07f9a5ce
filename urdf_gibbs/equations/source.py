"""The content of a generated source file, and its header."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from urdf_gibbs import __version__
from urdf_gibbs.equations.assignments import Dialect, Function
from urdf_gibbs.equations.parameters import Parameter, positions, rates
from urdf_gibbs.equations.selftest import Case
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot

WIDTH = 110  # characters of a line of lists


@dataclass(frozen=True, slots=True)
class Source:
    """The functions to write, the named parameters ([]: numbers are written in), and the cases of the self-test."""

    robot: Robot
    functions: list[Function]
    parameters: list[Parameter]
    cases: list[Case]
    gravity: tuple[float, float, float]
    formulation: str

    def header(self) -> list[str]:
        """Lines of a comment: robot, coordinates, units, gravity, version."""
        robot = self.robot
        lines = [
            f"Dynamics of {plain(robot.name) or 'a robot'}, {robot.base} base: nq = {robot.nq}, nv = {robot.nv}.",
            f"Written by urdf-gibbs {__version__}; formulation: {self.formulation}.",
            f"SI units; gravity {self.gravity} m/s^2 in world axes. tau = M(q) a + h(q, v), without the joints' friction and damping.",
            "",
            *(f"{one.name}({', '.join(letter for letter, _ in one.inputs)}): {plain(one.meaning)}" for one in self.functions),
            "",
        ]
        lines += [f"q[{i}]  {plain(one.joint)}{f' [{one.unit}]' if one.unit else ''}" for i, one in enumerate(positions(robot))]
        lines.append("")
        kinds = {joint.type for joint in robot.joints}
        elastic = {joint.iv + k for joint in robot.joints if joint.beam is not None for k in range(joint.nv)}
        for i, one in enumerate(rates(robot)):
            units = f" [{one.unit}], a [{one.unit}^2], tau [{'N m' if one.angle else 'N'}]"
            lines.append(f"v[{i}]  {plain(one.joint)}{'' if i in elastic else units}")
        if elastic:
            lines += ["", "Elastic joints: q is the amplitude of a shape of the link; h holds what strain and damping of the links make."]
        if "floating" in kinds:
            lines += ["", "A floating joint: q = place, unit quaternion (x y z w); v = linear, angular velocity in the moved frame."]
        if "planar" in kinds:
            lines += ["", "A planar joint: q = place in the plane, angle; v in the moved frame."]
        tied = [joint for joint in robot.joints if joint.is_mimic]
        if tied:
            lines.append("")
        lines += [f"{plain(j.name)} follows {plain(j.master)}: {j.ratio!r} times its position, plus {j.offset!r}" for j in tied]
        return lines

    def dialect(self, sin: str, cos: str, entry: str, parameter: str) -> Dialect:
        """How expressions are written; ``entry`` is a format of the array's letter and an index from 0 or 1, ``parameter`` of a name."""

        def written(letter: str, i: int) -> str:
            return parameter.format(self.parameters[i].name) if letter == "parameters" else entry.format(letter, i, i + 1)

        return Dialect(sin, cos, written, number)

    def prefix(self) -> str:
        """An identifier made from the robot's name."""
        name = re.sub(r"[^0-9A-Za-z]+", "_", self.robot.name).strip("_").lower()
        return name if name and not name[0].isdigit() else f"robot_{name}".rstrip("_")


def plain(name: str) -> str:
    """A name fit for a comment of any language."""
    shown = "".join(x if x.isprintable() else " " for x in name)
    for mark in ("/*", "*/", "??"):
        shown = shown.replace(mark, "..")
    return " ".join(shown.split()).rstrip("\\")


def number(x: float) -> str:
    """The shortest digits that read back as x, as Python and C write them."""
    if not math.isfinite(x):
        raise ArgumentError(f"a constant of the robot's equations is {x}, expected a finite number: some motion meets no inertia")
    return repr(x)


def wrapped(items: list[str], indent: str) -> list[str]:
    """Items with commas, in lines of moderate length."""
    lines, current = [], indent
    for item in items:
        if len(current) + len(item) + 2 > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = indent
        current += f"{item}, "
    return [*lines, current.rstrip()] if current.strip() else lines
