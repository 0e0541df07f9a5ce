"""The constants of a robot under the names that textbooks give them, and the names of its coordinates.

Bodies are numbered from 1 in the order of the model (depth first, as q and v). Body k has the mass ``mk``, its mass centre at
``lck`` from joint k (``ckx``, ``cky``, ``ckz`` where it lies off the axes of the body's frame) and the inertia ``Ik`` about the mass
centre where only one axis matters, else ``Ikxx``, ``Ikxy``, ... The next joint is at ``lk`` from joint k (``lkx`` ... off the axes), at
``lk_j`` where the joints j on body k are at several places; body 0 is the world.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Vector
from urdf_gibbs.dynamics.model import Body, Model, model_of
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot

ROUND_OFF = 1e-12  # what a rotation by roll, pitch and yaw leaves of a zero, against 1 or the largest entry
EXACT = tuple(sign * value for value in (0.0, 0.5, math.sqrt(2.0) / 2.0, math.sqrt(3.0) / 2.0, 1.0) for sign in (1.0, -1.0))
POSITION_SUFFIXES = {7: ("x", "y", "z", "qx", "qy", "qz", "qw"), 3: ("x", "y", "angle")}
AXES = "xyz"

Name = Callable[[str, float], Scalar]


@dataclass(frozen=True)
class Parameter:
    """A constant of the robot: its name in the equations, its value in ``unit``, and what it is."""

    name: str
    value: float
    meaning: str
    unit: str


@dataclass(frozen=True)
class Coordinate:
    """An entry of q or v: its name in the equations, the joint's (with a suffix where it has several entries), its unit."""

    name: str
    joint: str
    unit: str
    angle: bool


def positions(robot: Robot) -> list[Coordinate]:
    """q1, q2, ...: the entries of q (nq)."""
    coordinates: list[Coordinate] = []
    for joint in robot.joints:
        if not joint.is_mimic:
            units = {"prismatic": ["m"], "floating": ["m"] * 3 + [""] * 4, "planar": ["m", "m", "rad"], "elastic": [""] * joint.nq}.get(
                joint.type, ["rad"]
            )
            for name, unit in zip(joint.named(POSITION_SUFFIXES.get(joint.nq, ())), units, strict=True):
                coordinates.append(Coordinate(f"q{len(coordinates) + 1}", name, unit, unit == "rad"))
    return coordinates


def rates(robot: Robot, letter: str = "v", per: str = "s") -> list[Coordinate]:
    """v1, v2, ...: the entries of v (nv); with letter="a", per="s^2" those of the acceleration."""
    kinds = [kind for joint in robot.joints if not joint.is_mimic for kind, _ in joint.columns]
    named = zip(robot.velocity_names, kinds, strict=True)
    return [
        Coordinate(f"{letter}{i + 1}", name, f"{'rad' if kind == 'R' else 'm'}/{per}", kind == "R") for i, (name, kind) in enumerate(named)
    ]


def named_model(robot: Robot, scalar: Name, tolerance: float = ROUND_OFF) -> tuple[Model, list[Parameter]]:
    """The robot's model with ``scalar(name, value)`` for its constants, and the list of them in the order of the bodies.

    Named are masses, mass centres, inertias and lengths that are not zero. Numbers remain: axes and rotations (zeros, ones, halves
    and the like made exact), ratios of mimic joints, and inertias of a body that only turns about one of its axes, for the others.
    A single length is named without its sign, which stays outside. ``tolerance``: of entries of axes and rotations, for what is
    made exact.
    """
    if robot.is_flexible:
        raise ArgumentError(f"robot {robot.name!r} has elastic links; equations are written for rigid ones")
    model = _cleaned_rotations(model_of(robot), tolerance)
    listed: list[Parameter] = []

    def named(name: str, value: float, meaning: str, unit: str) -> Scalar:
        if not any(parameter.name == name for parameter in listed):
            listed.append(Parameter(name, value, meaning, unit))
        return scalar(name, value)

    def vector(values: Vector, single: str, several: str, meaning: str) -> Vector:
        present = [k for k in range(3) if values[k] != 0.0]
        vector_made = Vector.zeros(3)
        if len(present) == 1:
            k = present[0]
            along = f"{'-' if values[k] < 0.0 else ''}{AXES[k]}"
            value = named(single, abs(values[k]), f"{meaning}, along {along}", "m")
            vector_made[k] = value if values[k] > 0.0 else -value
            return vector_made
        for k in present:
            vector_made[k] = named(f"{several}{AXES[k]}", values[k], f"{meaning}, {AXES[k]}", "m")
        return vector_made

    lengths = _cleaned_lengths(model)
    placed = _placement_names(model, [shift for shift, _ in lengths])
    turning = _turning_axes(model)
    bodies: list[Body] = []
    for i, body in enumerate(model.bodies):
        shift, com = lengths[i]
        joint = robot.joints[i]
        of = f"of {joint.child} (body {i + 1}, on {joint.name})"
        start = "the world's origin" if body.parent < 0 else robot.joints[body.parent].name
        offset = vector(shift, placed[i], placed[i], f"from {start} to {_arrivals(robot, placed, i)}")
        mass = named(f"m{i + 1}", body.mass, f"mass {of}", "kg") if body.mass != 0.0 else 0.0
        centre = (
            vector(com, f"lc{i + 1}", f"c{i + 1}", f"from {joint.name} to the mass centre of {joint.child}") if body.mass != 0.0 else com
        )
        inertia = _cleaned_inertia(body.inertia)
        axis = turning[i]
        for a in range(3):
            for b in range(a, 3):
                matters = axis is None or axis == f"{AXES[a]}{AXES[b]}"
                if inertia[a][b] != 0.0 and matters:
                    suffix = AXES[a] + AXES[b]
                    name = f"I{i + 1}" if axis else f"I{i + 1}{suffix}"
                    value = named(name, inertia[a][b], f"inertia of {joint.child} about its mass centre, {suffix}", "kg m^2")
                    inertia[a][b] = inertia[b][a] = value
        E = Matrix.bordered(body.E.rotation, offset, 1.0)
        bodies.append(replace(body, E=E, mass=mass, com=centre, inertia=inertia))
    return replace(model, bodies=bodies), listed


def exact(value: float, tolerance: float = ROUND_OFF) -> float:
    """Replace a value by 0, 1/2, sqrt(2)/2, sqrt(3)/2 or 1, with either sign, if it is within the tolerance."""
    return next((number for number in EXACT if abs(value - number) < tolerance), value)


def _cleaned_rotations(model: Model, tolerance: float) -> Model:
    """The model with exact entries in axes and rotations where they are within the tolerance."""
    bodies = []
    for body in model.bodies:
        E = Matrix([[*(exact(x, tolerance) for x in row[:3]), row[3]] for row in body.E])
        columns = [replace(column, axis=Vector([exact(x, tolerance) for x in column.axis])) for column in body.columns]
        bodies.append(replace(body, E=E, axis=Vector([exact(x, tolerance) for x in body.axis]), columns=columns))
    return replace(model, bodies=bodies)


def _cleaned_lengths(model: Model) -> list[tuple[Vector, Vector]]:
    """(translation of the joint's placement, mass centre) of each body, without the zeros' round-off."""
    pairs = [(body.E.translation, body.com) for body in model.bodies]
    longest = max((abs(x) for pair in pairs for values in pair for x in values), default=0.0)

    def cleaned(values: Vector) -> Vector:
        return Vector([0.0 if abs(x) <= ROUND_OFF * longest else x for x in values])

    return [(cleaned(shift), cleaned(com)) for shift, com in pairs]


def _cleaned_inertia(inertia: Matrix) -> Matrix:
    largest = max(abs(x) for row in inertia for x in row)
    return Matrix([[0.0 if abs(x) <= ROUND_OFF * largest else x for x in row] for row in inertia])


def _placement_names(model: Model, shifts: list[Vector]) -> list[str]:
    """``lk`` for what leads on from body k, ``lk_j`` for what leads to joint j where those on body k are at several places."""
    names = []
    for i, body in enumerate(model.bodies):
        own = f"l{body.parent + 1}"
        places = [shifts[j] for j, other in enumerate(model.bodies) if other.parent == body.parent]
        names.append(own if all(place == shifts[i] for place in places) else f"{own}_{i + 1}")
    return names


def _arrivals(robot: Robot, placed: list[str], i: int) -> str:
    """The joints that a length leads to."""
    return ", ".join(joint.name for joint, name in zip(robot.joints, placed, strict=True) if name == placed[i])


def _turning_axes(model: Model) -> list[str | None]:
    """For each body "xx", "yy" or "zz" where it only turns about that axis of its own, "none" where it never turns, else None."""
    directions: list[
        list[list[float]]
    ] = []  # of the axes that a body turns about, in its axes, at q = 0; parallel ones stay parallel at any q
    axes_of: list[str | None] = []
    for body in model.bodies:
        R = np.array(body.E)[:3, :3].astype(float)
        above = [] if body.parent < 0 else directions[body.parent]
        own = [column.axis for column in body.columns if column.kind == "R"]
        axes = np.array([*(R.T @ np.array(axis) for axis in above), *own]).reshape(-1, 3)
        directions.append(axes.tolist())
        if not len(axes):
            axes_of.append("none")
            continue
        parallel = np.abs(np.cross(axes, axes[0])).max() < ROUND_OFF
        largest = int(np.argmax(np.abs(axes[0])))
        along = abs(abs(axes[0][largest]) - 1.0) < ROUND_OFF
        axes_of.append(AXES[largest] * 2 if parallel and along else None)
    return axes_of
